"""What all optimizers share: gradients, updates, the train op, its errors, and optimizers of users' own."""

import warnings

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def after(train, fetches, steps=1, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(train, feeds)
        return session.run(fetches)


def sgd(rate=0.1, **kwargs):
    return tf.train.GradientDescentOptimizer(rate, **kwargs)


# -------------------------------------------------------------------------------- the train op


def test_minimize_returns_an_operation_and_collects_it():
    v = tf.Variable(1.0)
    train = sgd().minimize(v * v)
    assert isinstance(train, tf.Operation)
    assert (train.name, train.type) == ("GradientDescent", "NoOp")
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train]
    np.testing.assert_allclose(after(train, v), 0.8)


def test_names_of_updates():
    v = tf.Variable([1.0], name="v")
    with tf.variable_scope("s"):
        w = tf.get_variable("w", initializer=[2.0], use_resource=True)
    train = sgd().minimize(tf.reduce_sum(v * w), name="train")
    assert [op.name for op in train.control_inputs] == [
        "train/update_v/ApplyGradientDescent",
        "train/update_s/w/ResourceApplyGradientDescent",
    ]


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_global_step_counts_after_the_updates(use_resource):
    v = tf.Variable(1.0)
    step = tf.Variable(0, trainable=False, name="step", use_resource=use_resource)
    train = sgd().minimize(v * v, global_step=step)
    assert train.name == "GradientDescent"
    assert train.type == ("AssignAddVariableOp" if use_resource else "AssignAdd")
    waited = {c.name for t in train.inputs for c in t.op.control_inputs} | {
        c.name for c in train.control_inputs
    }
    assert "GradientDescent/update" in waited
    assert after(train, step, 3) == 3


def test_only_the_variables_asked_for_change():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    train = sgd().minimize(v * w, var_list=[w])
    np.testing.assert_allclose(after(train, [v, w]), [1.0, 1.9])


def test_variables_that_are_not_trainable_stay():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    np.testing.assert_allclose(after(sgd().minimize(v * w), [v, w]), [0.8, 2.0])


@pytest.mark.parametrize("rate", [lambda: tf.constant(0.25), lambda: lambda: 0.25, lambda: np.float32(0.25)])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_learning_rate_may_be_a_tensor_or_a_function(rate, use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    dense = after(sgd(rate()).minimize(tf.reduce_sum(v * v)), v)
    np.testing.assert_allclose(dense, [0.5, 1.0])
    sparse = after(sgd(rate()).minimize(tf.reduce_sum(tf.gather(v, [1]) ** 2)), v)
    np.testing.assert_allclose(sparse, [1.0, 1.0])


def test_a_learning_rate_may_be_fed():
    v, rate = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    train = tf.train.AdamOptimizer(rate).minimize(v)
    np.testing.assert_allclose(after(train, v, 1, {rate: 0.5}), 0.5, 1e-5)


def test_constraints_are_applied_after_the_update():
    for use_resource in (False, True):
        v = tf.Variable([0.5, -0.5], constraint=tf.nn.relu, use_resource=use_resource)
        np.testing.assert_allclose(after(sgd().minimize(tf.reduce_sum(v), var_list=[v]), v), [0.4, 0.0])
        with pytest.raises(RuntimeError, match="constraint function on a sparse variable"):
            sgd().minimize(tf.reduce_sum(tf.gather(v, [0])), var_list=[v])


# -------------------------------------------------------------------------------- gradients


def test_compute_gradients_pairs_them_with_variables():
    v, w, u = tf.Variable([1.0, 2.0]), tf.Variable(3.0), tf.Variable(5.0)
    pairs = sgd().compute_gradients(tf.reduce_sum(v * w), [v, w, u])
    assert [x for _, x in pairs] == [v, w, u]
    assert pairs[2][0] is None
    train = sgd().apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), x) for g, x in pairs if g is not None])
    np.testing.assert_allclose(after(train, v), [0.9, 1.9])


def test_gradients_may_be_weighed():
    v = tf.Variable([1.0, 2.0])
    ((gradient, _),) = sgd().compute_gradients(v * v, grad_loss=tf.constant([10.0, 100.0]))
    np.testing.assert_allclose(after([], gradient), [20.0, 400.0])


@pytest.mark.parametrize(
    "gate", [tf.train.Optimizer.GATE_NONE, tf.train.Optimizer.GATE_OP, tf.train.Optimizer.GATE_GRAPH]
)
def test_gates_change_no_value(gate):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    np.testing.assert_allclose(after(sgd().minimize(v * w, gate_gradients=gate), [v, w]), [1.7, 2.8])


def test_gate_graph_makes_every_gradient_wait_for_all():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    pairs = sgd().compute_gradients(v * w, gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    assert [g.op.name for g, _ in pairs] == ["tuple/control_dependency", "tuple/control_dependency_1"]
    u, rows = tf.Variable(1.0), tf.Variable([[1.0], [2.0]])
    loss = tf.reduce_sum(tf.gather(rows, [1])) * v
    pairs = sgd().compute_gradients(loss, [v, u, rows], gate_gradients=tf.train.Optimizer.GATE_GRAPH)
    assert pairs[1][0] is None
    np.testing.assert_allclose(after(sgd().apply_gradients(pairs), [v, rows[1, 0]]), [1.8, 1.8])


def test_the_loss_may_be_a_function():
    v, w = tf.Variable(2.0, use_resource=True), tf.Variable(3.0)
    pairs = sgd().compute_gradients(lambda: v * v)
    assert [x for _, x in pairs] == [v]
    np.testing.assert_allclose(after(sgd().minimize(lambda: v * v), [v, w]), [1.6, 3.0])


def test_half_of_the_gradients_dense_half_sparse():
    """A variable used whole and by rows has one gradient for both uses."""
    for use_resource in (False, True):
        v = tf.Variable(np.ones([3, 2], np.float32), use_resource=use_resource)
        train = sgd().minimize(tf.reduce_sum(v) + tf.reduce_sum(tf.gather(v, [1, 1])), var_list=[v])
        np.testing.assert_allclose(after(train, v), [[0.9, 0.9], [0.7, 0.7], [0.9, 0.9]], 1e-6)


# -------------------------------------------------------------------------------- mistakes


def test_mistakes():
    v, i = tf.Variable(1.0, name="v"), tf.Variable(1, name="i")
    c = v * 1.0
    cases = [
        (
            lambda: sgd().minimize(tf.constant(1.0), var_list=[v]),
            ValueError,
            "No gradients provided for any variable, check",
        ),
        (lambda: sgd().minimize(c, var_list=[]), ValueError, "No variables to optimize"),
        (lambda: sgd().minimize(i * 2), ValueError, "Invalid type tf.int32 for"),
        (lambda: sgd().apply_gradients([]), ValueError, "No variables provided"),
        (
            lambda: sgd().apply_gradients([(None, v)]),
            ValueError,
            "No gradients provided for any variable: .*v:0",
        ),
        (lambda: sgd().apply_gradients([("text", v)]), TypeError, "string"),
        (lambda: sgd().compute_gradients(c, gate_gradients=7), ValueError, "gate_gradients must be one of"),
        (lambda: sgd().minimize(c * 2.0, var_list=[c]), NotImplementedError, "Trying to update a Tensor"),
        (lambda: sgd().minimize(c, var_list=[object()]), NotImplementedError, "unsupported type"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_a_gradient_of_the_wrong_shape_changes_nothing():
    v = tf.Variable(np.ones([2, 3], np.float32))
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal, but are 3 and 4"):
        sgd().apply_gradients([(tf.ones([2, 4]), v)])
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients(
        [(tf.placeholder_with_default(tf.ones([2, 4]), None), v)]
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"do not have the same shape \[2,3\] \[2,4\]"
        ):
            session.run(train)
        np.testing.assert_array_equal(session.run(v), np.ones([2, 3]))


def test_an_index_out_of_range_changes_nothing():
    v = tf.Variable(np.ones([2, 3], np.float32))
    gradient = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 5]), tf.constant([2, 3]))
    train = tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(gradient, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Index 5 at offset 1 in indices is out of range"
        ):
            session.run(train)
        np.testing.assert_array_equal(session.run(v), np.ones([2, 3]))


# -------------------------------------------------------------------------------- optimizers of users' own


class SignOptimizer(tf.train.Optimizer):
    """As TensorFlow programs write them: steps of one size against the sign of the running gradient."""

    def __init__(self, rate):
        super().__init__(False, "Sign")
        self._rate = rate

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "mean", self._name)

    def _prepare(self):
        self._rate_t = tf.convert_to_tensor(self._call_if_callable(self._rate), name="rate")

    def _apply_dense(self, grad, var):
        mean = self.get_slot(var, "mean")
        kept = mean.assign(0.5 * mean + grad)
        return tf.group(tf.assign_sub(var, self._rate_t * tf.sign(kept)), kept)

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad, var):
        return self._apply_dense(tf.convert_to_tensor(grad), var)


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_optimizer_of_the_users_own(use_resource):
    v = tf.Variable([1.0, -2.0], name="v", use_resource=use_resource)
    optimizer = SignOptimizer(0.25)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    np.testing.assert_allclose(after(train, v, 2), [0.5, -1.5])
    assert optimizer.get_slot(v, "mean").op.name == "v/Sign"


def test_a_subclass_of_adam_finds_what_it_expects():
    class Halved(tf.train.AdamOptimizer):
        def _apply_dense(self, grad, var):
            assert self._lr_t.op.name == "Adam/learning_rate"
            assert [p.op.name for p in self._get_beta_accumulators()] == ["beta1_power", "beta2_power"]
            return super()._apply_dense(grad / 2, var)

    v = tf.Variable(1.0)
    np.testing.assert_allclose(after(Halved(0.1).minimize(v), v), 0.9, 1e-5)


# -------------------------------------------------------------------------------- forgotten updates


def moving_mean():
    with tf.name_scope("layer"):
        mean = tf.Variable(0.0, trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, mean.assign_add(1.0, name="follow"))
    return mean


def test_updates_that_nobody_runs_are_said_once():
    moving_mean()
    v = tf.Variable(1.0)
    with pytest.warns(UserWarning, match=r"'layer'.*\n.*tf.control_dependencies\(tf.get_collection") as seen:
        sgd().minimize(v)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sgd().minimize(v)


def test_updates_that_the_step_runs_are_not_worth_a_word():
    mean = moving_mean()
    v = tf.Variable(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = sgd().minimize(v)
    assert after(train, mean, 2) == 2.0


@pytest.mark.parametrize("kind", [dict.values, lambda d: iter(d.values()), lambda d: set(d.values()), dict])
def test_any_iterable_is_a_list_of_variables(kind):
    named = {"a": tf.Variable(1.0), "b": tf.Variable(2.0), "c": tf.Variable(3.0)}
    loss = named["a"] * named["b"]
    del named["c"]
    assert after(sgd().minimize(loss, var_list=kind(named)), [named["a"], named["b"]]) == pytest.approx(
        [0.8, 1.9]
    )


def test_an_optimizer_says_what_it_is():
    assert repr(tf.train.AdamOptimizer(0.01)) == "<AdamOptimizer 'Adam', learning rate 0.01>"
    with tf.Graph().as_default():
        rate = tf.placeholder_with_default(0.1, [], name="rate")
        descent = tf.train.GradientDescentOptimizer(rate)
    assert repr(descent) == "<GradientDescentOptimizer 'GradientDescent', learning rate rate:0>"
