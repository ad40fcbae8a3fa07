"""tf.contrib.model_pruning: a model is trained while more and more of its weights are pruned."""

import numpy as np
import pytest

import tideflow as tf

pruning = tf.contrib.model_pruning


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def model(sparsity="target_sparsity=0.75"):
    tf.train.get_or_create_global_step()
    x = tf.constant(np.cos(np.arange(12)).reshape(4, 3), tf.float32)
    y = pruning.masked_fully_connected(x, 4, activation_fn=None)
    tf.losses.mean_squared_error(np.sin(np.arange(16)).reshape(4, 4), y)
    spec = (
        pruning.get_pruning_hparams()
        .parse("pruning_frequency=1,sparsity_function_end_step=4")
        .parse(sparsity)
    )
    return y, pruning.Pruning(spec)


def test_the_training_loop_updates_masks_after_each_step(tmp_path):
    _, made = model()
    step = tf.contrib.slim.learning.create_train_op(
        tf.losses.get_total_loss(), tf.train.GradientDescentOptimizer(0.1)
    )
    update = made.conditional_mask_update_op()
    loss = pruning.train(step, str(tmp_path), update, number_of_steps=6)
    assert np.isfinite(loss)
    kept = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "fully_connected/mask")
    assert kept.sum() == 3  # a quarter of twelve


def test_pruned_weights_get_no_gradient():
    y, made = model("initial_sparsity=0.75,target_sparsity=0.75")
    (mask,), (weights,) = pruning.get_masks(), pruning.get_weights()
    (slope,) = tf.gradients(y, [weights])
    update = made.mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        kept, slope, sparsity = session.run([mask, slope, pruning.get_weight_sparsity()])
        assert (kept == 0).sum() == 9 and sparsity == [0.75]
        assert (slope[kept == 0] == 0).all() and (slope[kept == 1] != 0).all()


def test_hyperparameters_are_logged(caplog):
    tf.logging.set_verbosity(tf.logging.INFO)
    _, made = model()
    with caplog.at_level("INFO", logger="tensorflow"):
        made.print_hparams()
    assert '"target_sparsity": 0.75' in caplog.text


def test_a_masked_kernel_is_still_a_weight_of_its_cell():
    cell = pruning.MaskedBasicLSTMCell(4, name="cell")
    cell(tf.ones([2, 5]), cell.zero_state(2, tf.float32))
    assert [weight.op.name for weight in cell.trainable_weights] == ["cell/kernel", "cell/bias"]


def test_a_projected_cell_has_a_mask_of_its_kernel():
    cell = pruning.MaskedLSTMCell(4, num_proj=2)
    output, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 5]), dtype=tf.float32)
    (mask,) = pruning.get_masks()
    assert mask.shape == [7, 16] and output.shape == [2, 3, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.abs(session.run(output)).max() > 0
        mask.load(np.zeros([7, 16]), session)
        assert not session.run(output).any()
