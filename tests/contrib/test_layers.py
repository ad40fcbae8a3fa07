"""contrib.layers against NumPy, without TensorFlow: what each layer computes and where its variables go."""

import numpy as np
import pytest

import tideflow as tf

layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(list(fetches))
        return found[0] if len(fetches) == 1 else found


def x_of(*shape):
    return np.random.RandomState(0).normal(size=shape).astype(np.float32)


def names(variables):
    return [v.op.name for v in variables]


def test_fully_connected_is_a_product_a_sum_and_a_relu():
    x = x_of(3, 4)
    y = layers.fully_connected(x, 2, biases_initializer=tf.constant_initializer(0.5), scope="fc")
    value, weights = run(y, tf.trainable_variables()[0])
    np.testing.assert_allclose(value, np.maximum(x @ weights + 0.5, 0), rtol=1e-5)
    assert names(tf.model_variables()) == ["fc/weights", "fc/biases"]


def test_a_normalizer_stands_in_for_the_biases():
    layers.conv2d(x_of(2, 5, 5, 3), 4, 3, normalizer_fn=layers.batch_norm, normalizer_params={"scale": True})
    assert names(tf.trainable_variables()) == ["Conv/weights", "Conv/BatchNorm/gamma", "Conv/BatchNorm/beta"]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_reuse_shares_the_variables():
    a = layers.fully_connected(x_of(2, 3), 2, scope="shared")
    b = layers.fully_connected(x_of(2, 3), 2, scope="shared", reuse=True)
    assert len(tf.global_variables()) == 2
    np.testing.assert_array_equal(*run(a, b))


def test_collections_by_name():
    y = layers.fully_connected(
        x_of(2, 3), 2, variables_collections={"weights": ["w"]}, outputs_collections="outs", scope="fc"
    )
    assert names(tf.get_collection("w")) == ["fc/weights"] and tf.get_collection("outs") == [y]
    assert layers.utils.convert_collection_to_dict("outs") == {"fc": y}


@pytest.mark.parametrize(
    "shape, options", [((6, 4), {}), ((2, 3, 3, 4), {}), ((2, 3, 3, 4), {"fused": False})]
)
def test_batch_norm_at_once_moves_its_averages(shape, options):
    x = x_of(*shape)
    y = layers.batch_norm(x, decay=0.5, updates_collections=None, scope="bn", **options)
    mean, variance = tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)[-2:]
    axes = tuple(range(x.ndim - 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(y)
        moved = session.run([mean, variance])
    expected = (x - x.mean(axes)) / np.sqrt(x.var(axes) + 0.001)
    np.testing.assert_allclose(value, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(moved[0], 0.5 * x.mean(axes), rtol=1e-3, atol=1e-5)


def test_layer_instance_and_group_norm():
    x = x_of(2, 4, 4, 6)

    def standard(value, axes):
        mean, variance = value.mean(axes, keepdims=True), value.var(axes, keepdims=True)
        return (value - mean) / np.sqrt(variance + 1e-6)

    np.testing.assert_allclose(run(layers.layer_norm(x)), standard(x, (1, 2, 3)), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(run(layers.instance_norm(x)), standard(x, (1, 2)), rtol=1e-3, atol=1e-4)
    groups = standard(x.reshape(2, 4, 4, 3, 2), (1, 2, 4)).reshape(x.shape)
    np.testing.assert_allclose(run(layers.group_norm(x, groups=3)), groups, rtol=1e-3, atol=1e-4)


def test_repeat_and_stack_number_their_scopes():
    layers.repeat(x_of(2, 3), 2, layers.linear, 3, scope="r")
    layers.stack(x_of(2, 3), layers.fully_connected, [4, 5])
    scopes = [name for name in names(tf.global_variables()) if name.endswith("weights")]
    assert scopes == [
        "r/r_1/weights",
        "r/r_2/weights",
        "Stack/fully_connected_1/weights",
        "Stack/fully_connected_2/weights",
    ]


def test_argument_scopes_reach_layers():
    with tf.contrib.framework.arg_scope([layers.conv2d], padding="VALID", activation_fn=None):
        assert layers.conv2d(x_of(1, 5, 5, 1), 2, 3).shape.as_list() == [1, 3, 3, 2]
        assert layers.conv2d(x_of(1, 5, 5, 1), 2, 3, padding="SAME").shape.as_list() == [1, 5, 5, 2]


def test_initial_weights_have_the_promised_variance():
    tf.set_random_seed(0)
    weights = run(layers.variance_scaling_initializer(seed=1)([400, 100]))
    assert abs(weights.var() * 400 - 2.0) < 0.1
    uniform = run(layers.xavier_initializer(seed=1)([400, 100]))
    assert np.abs(uniform).max() <= np.sqrt(6 / 500) and abs(uniform.var() * 500 - 2.0) < 0.1


def test_penalties():
    w = tf.constant([3.0, -4.0])
    assert run(layers.l1_regularizer(0.5)(w)) == 3.5
    assert run(layers.l2_regularizer(0.5)(w)) == 6.25
    assert run(layers.l1_l2_regularizer(0.5, 0.5)(w)) == 9.75
    assert layers.l2_regularizer(0.0)(w) is None
    with pytest.raises(ValueError, match="cannot be an integer"):
        layers.l1_regularizer(1)


@pytest.mark.parametrize(
    "optimizer", ["SGD", tf.train.GradientDescentOptimizer, lambda r: tf.train.AdamOptimizer(r)]
)
def test_optimize_loss_takes_a_step_and_returns_the_loss(optimizer):
    v = tf.get_variable("v", initializer=[2.0])
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(tf.reduce_sum(v * v), step, 0.1, optimizer, clip_gradients=10.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(3)]
        assert losses[0] == 4.0 and losses[2] < losses[1] < losses[0]
        assert session.run(step) == 3


def test_noise_on_gradients_changes_the_step():
    v = tf.get_variable("v", initializer=tf.zeros([100]))
    train = layers.optimize_loss(
        tf.reduce_sum(v), tf.train.get_or_create_global_step(), 1.0, "SGD", gradient_noise_scale=0.1
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert 0.01 < session.run(v).std() < 0.2


def test_safe_embeddings_are_of_one_type():
    ids = tf.SparseTensor([[0, 0], [1, 0]], [0, 1], [2, 2])
    parts = [np.ones([2, 3], np.float32), np.ones([2, 3], np.float64)]
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.contrib.layers.safe_embedding_lookup_sparse(parts, ids)
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.contrib.layers.safe_embedding_lookup_sparse([np.ones([2, 3], np.int32)], ids)
