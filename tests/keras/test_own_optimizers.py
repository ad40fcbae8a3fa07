"""Optimizers that programs derive from Keras's."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.eager import context


class Plain(tf.keras.optimizers.Optimizer):
    """One whose updates take nothing that is prepared, as Keras's did before TensorFlow 1.15."""

    def __init__(self):
        super().__init__("Plain")
        self._set_hyper("learning_rate", 0.5)

    def _resource_apply_dense(self, grad, var):
        return tf.assign_sub(
            var, self._decayed_lr(var.dtype.base_dtype) * grad, use_locking=self._use_locking
        )

    def _resource_apply_sparse(self, grad, var, indices):
        return self._resource_scatter_update(var, indices, self._call_if_callable(lambda: -grad))


class Prepared(tf.keras.optimizers.SGD):
    """One with a number of its own among those that are prepared; it counts how often that is done."""

    prepared = 0

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype]["factor"] = tf.constant(2.0, var_dtype)
        self.prepared += 1

    def _resource_apply_dense(self, grad, var, apply_state=None):
        found = (apply_state or {}).get((var.device, var.dtype.base_dtype))
        assert found is not None
        return super()._resource_apply_dense(grad * found["factor"], var)


def _stepped(optimizer, loss, variables):
    if tf.executing_eagerly():
        optimizer.minimize(loss, variables)
        return [v.numpy().tolist() for v in variables]
    train = optimizer.minimize(loss, variables)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        return [value.tolist() for value in sess.run(variables)]


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    with tf.Graph().as_default() if request.param == "graph" else context.eager_mode():
        yield request.param


def test_updates_need_not_take_what_is_prepared(mode):
    v = tf.Variable([1.0, 2.0], use_resource=True)
    table = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    found = _stepped(Plain(), lambda: tf.reduce_sum(v) + tf.reduce_sum(tf.gather(table, [0, 0])), [v, table])
    assert found == [[0.5, 1.5], [-2.0, 2.0, 3.0]]


def test_numbers_are_prepared_once_for_variables_of_a_type_on_a_device(mode):
    variables = [tf.Variable(1.0, use_resource=True) for _ in range(3)]
    optimizer = Prepared(0.25)
    assert _stepped(optimizer, lambda: tf.add_n([v * 1.0 for v in variables]), variables) == [0.5, 0.5, 0.5]
    # Once in advance, and once for each call of the base's update without what is prepared.
    assert optimizer.prepared == 4


def test_gradients_are_computed_where_a_subclass_can_change_them(mode):
    class Doubled(tf.keras.optimizers.SGD):
        def _compute_gradients(self, loss, var_list, grad_loss=None):
            return [(grad * 2.0, var) for grad, var in super()._compute_gradients(loss, var_list, grad_loss)]

    v = tf.Variable(1.0, use_resource=True)
    assert _stepped(Doubled(0.25), lambda: v * 1.0, [v]) == [0.5]


def test_rows_that_come_twice_are_the_subclass_s_affair(mode):
    class Rows(tf.keras.optimizers.SGD):
        def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
            assert indices.shape.as_list() == [2] and "apply_state" in kwargs
            return self._resource_scatter_add(handle, indices, grad)

    table = tf.Variable([0.0, 0.0], use_resource=True)
    assert _stepped(Rows(), lambda: tf.reduce_sum(tf.gather(table, [1, 1])), [table]) == [[0.0, 2.0]]


def test_the_functions_of_a_model_can_be_made_in_advance():
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
        model._make_predict_function()
        model.compile("sgd", "mse")
        model._make_train_function()
        model._make_test_function()
        assert model.predict(np.ones([1, 2])).tolist() == [[2.0]]
