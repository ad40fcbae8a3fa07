"""tf.contrib.quantize: rounded models learn, and are what a graph for evaluation computes."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.quantize import patterns

quantize = tf.contrib.quantize


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def network(x, training):
    norm = {"is_training": training, "scale": True, "decay": 0.8}
    hidden = tf.contrib.layers.conv2d(
        x, 4, 3, normalizer_fn=tf.contrib.layers.batch_norm, normalizer_params=norm, scope="conv"
    )
    return tf.contrib.layers.fully_connected(tf.layers.flatten(hidden), 2, activation_fn=None, scope="top")


LABELS = np.arange(8) % 2
IMAGES = (np.cos(np.arange(8 * 5 * 5 * 2)).reshape(8, 5, 5, 2) + LABELS[:, None, None, None]).astype(
    np.float32
)


def test_what_is_trained_rounded_is_evaluated_rounded(tmp_path):
    tf.set_random_seed(1)
    loss = tf.losses.sparse_softmax_cross_entropy(LABELS, network(tf.constant(IMAGES), True))
    quantize.create_training_graph(quant_delay=3)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        step = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(30)]
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert losses[-1] < losses[0] / 2
    with tf.Graph().as_default() as evaluated:
        logits = network(tf.constant(IMAGES), False)
        quantize.create_eval_graph(evaluated)
        kinds = [op.type for op in evaluated.get_operations()]
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            folded, scale = session.run(
                ["conv/weights_quant/FakeQuantWithMinMaxVars:0", "conv/weights_quant/max:0"]
            )
            found = session.run(logits).argmax(1)
    assert kinds.count("FakeQuantWithMinMaxVars") == 4
    assert len(np.unique(folded)) < folded.size <= 255 and np.abs(folded).max() <= scale * 1.1
    assert (found == LABELS).mean() > 0.5


def test_a_batch_norm_that_nobody_updates_is_refused():
    x = tf.contrib.layers.conv2d(tf.constant(IMAGES), 4, 3, activation_fn=None, biases_initializer=None)
    y, _, _ = tf.nn.fused_batch_norm(x, tf.ones([4]), tf.zeros([4]))
    tf.nn.relu(y)
    with pytest.raises(ValueError, match="no operation updates its moving averages"):
        quantize.create_training_graph()


def test_dilated_layers_keep_their_dilation():
    norm = {"is_training": False}
    layer = tf.contrib.layers.conv2d(
        tf.constant(IMAGES), 4, 3, rate=2, normalizer_fn=tf.contrib.layers.batch_norm, normalizer_params=norm
    )
    y = tf.identity(layer)
    with tf.Session() as session:
        weights = tf.get_default_graph().get_tensor_by_name("Conv/weights:0")
        session.run(tf.global_variables_initializer())
        kept, before = session.run([weights, y])
        quantize.experimental_create_eval_graph(weight_bits=16, activation_bits=16)
        session.run(tf.global_variables_initializer())
        tf.trainable_variables("Conv/weights")[0].load(kept, session)
        after = session.run(y)
    assert after.shape == before.shape
    assert np.abs(after - before).max() < 0.01


def test_a_pattern_matches_inputs_in_any_order():
    a, b = tf.constant(1.0), tf.constant(2.0)
    sums = [tf.nn.relu(a) + b, b + tf.nn.relu(a), a + b]
    pattern = patterns.node(
        "sum", "AddV2", patterns.node("relu", "Relu"), patterns.anything("other"), in_any_order=True
    )
    found = list(patterns.matches(tf.get_default_graph(), pattern))
    assert [match["sum"] for match in found] == sums[:2]
    assert {match["relu"].op.type for match in found} == {"Relu"} and found[1]["other"] is b
