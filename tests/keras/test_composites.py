"""Sparse and ragged data of models: inputs, outputs, datasets, and samples of them."""

import numpy as np
import pytest
import scipy.sparse

import tideflow as tf
from tideflow.eager.context import eager_graph, eager_mode
from tideflow.keras.engine import composites
from tideflow.layers import keras_state

keras = tf.keras
SPARSE = tf.SparseTensorValue(
    np.array([[0, 0], [1, 0], [1, 1]]), np.array([1, 2, 3], "int32"), np.array([2, 3])
)
DENSE = [[1, -1, -1], [2, 3, -1]]
ROWS = [[1], [2, 3], [], [4, 5, 6]]


class Dense(keras.layers.Layer):
    def call(self, inputs):
        if isinstance(inputs, tf.SparseTensor):
            return tf.cast(tf.sparse.to_dense(inputs, default_value=-1), tf.float32)
        return tf.cast(inputs.to_tensor(default_value=-1), tf.float32)


class Ragged(keras.layers.Layer):
    def call(self, inputs):
        return tf.RaggedTensor.from_tensor(inputs, padding=0)


class Sparse(keras.layers.Layer):
    def call(self, inputs):
        return tf.sparse.from_dense(inputs)


@pytest.fixture(autouse=True, params=["graph", "eager"])
def mode(request):
    keras.backend.clear_session()
    if request.param == "eager":
        with eager_mode():
            eager_graph().forget()
            keras_state.forget_graphs()
            yield
        keras_state.forget_graphs()
    else:
        with tf.Graph().as_default(), tf.Session():
            yield
    keras.backend.clear_session()


def network(shape, dtype="int32", **kind):
    given = keras.Input(shape, dtype=dtype, name="given", **kind)
    model = keras.Model(given, Dense()(given))
    model.compile("sgd", "mse", metrics=["accuracy"])
    return model


def test_sparse_values_tensors_matrices_and_datasets_are_inputs():
    model = network((3,), sparse=True)
    tensor = tf.SparseTensor(*SPARSE)
    assert model.predict(SPARSE).tolist() == DENSE
    assert model.predict({"given": tensor}, steps=1).tolist() == DENSE
    assert model.predict(scipy.sparse.coo_matrix((SPARSE.values, SPARSE.indices.T), (2, 3))).tolist() == DENSE
    assert model.predict(tf.data.Dataset.from_tensors(tensor)).tolist() == DENSE
    assert model.evaluate(SPARSE, np.array(DENSE), verbose=0)[-1] == 1.0
    batches = tf.data.Dataset.from_tensors((tensor, np.array(DENSE)))
    assert model.fit(batches, verbose=0).history["loss"] == [0.0]


def test_ragged_values_tensors_and_datasets_are_inputs():
    model = network((None,), ragged=True)
    value = tf.ragged.constant_value(ROWS, np.int32)
    expected = [[1, -1, -1], [2, 3, -1], [-1, -1, -1], [4, 5, 6]]
    assert model.predict(value).tolist() == expected
    assert model.predict(tf.ragged.constant(ROWS, tf.int32), steps=1).tolist() == expected
    assert (
        model.predict(tf.data.Dataset.from_tensors(tf.ragged.constant(ROWS, tf.int32))).tolist() == expected
    )
    assert keras.Input((None, 2), ragged=True).shape.as_list() == [None, None, 2]


def test_outputs_of_batches_are_joined():
    data = np.array([[1, 0, 0], [2, 3, 0], [0, 0, 4]])
    ragged = keras.Sequential([Ragged()]).predict(data, batch_size=2)
    assert ragged.to_list() == [[1], [2, 3], [0, 0, 4]]
    sparse = keras.Sequential([Sparse()]).predict(data, batch_size=2)
    assert sparse.indices.tolist() == [[0, 0], [1, 0], [1, 1], [2, 2]]
    assert sparse.values.tolist() == [1, 2, 3, 4] and sparse.dense_shape.tolist() == [3, 3]


def test_a_model_learns_from_samples_in_another_order():
    given = keras.Input((3,), sparse=True)
    out = keras.layers.Lambda(lambda x: tf.sparse.reduce_sum(x, axis=1, keepdims=True))(given)
    model = keras.Model(given, keras.layers.Dense(1)(keras.layers.Reshape((1,))(out)))
    model.compile(keras.optimizers.SGD(0.05), "mse")
    dense = np.random.RandomState(0).rand(16, 3) * (np.arange(48).reshape(16, 3) % 2)
    data = scipy.sparse.csr_matrix(dense.astype(np.float32))
    losses = model.fit(data, dense.sum(axis=1) * 2, 4, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 5


def test_inputs_that_are_not_declared_are_refused():
    model = keras.Sequential([Dense()])
    for data in (SPARSE, {"input_1": tf.ragged.constant_value(ROWS)}):
        with pytest.raises(
            ValueError, match="SparseTensor and RaggedTensor inputs must be explicitly declared"
        ):
            model.predict(data, steps=1)
    with pytest.raises(ValueError, match="Cannot set both sparse and ragged"):
        keras.Input((3,), sparse=True, ragged=True)


def test_a_subclassed_model_is_told_of_its_inputs():
    class Net(keras.Model):
        def __init__(self, given):
            super().__init__()
            self.last = Dense()
            self._set_inputs(given)

        def call(self, inputs):
            return self.last(inputs)

    model = Net(keras.Input((None,), ragged=True, dtype="int32"))
    assert model.predict(tf.ragged.constant_value([[1], [2, 3]], np.int32)).tolist() == [[1, -1], [2, 3]]


@pytest.mark.parametrize("chosen", [slice(1, 3), [3, 0, 2], []])
def test_samples_are_taken_like_rows_of_arrays(chosen):
    rows = composites.samples(tf.ragged.constant_value(ROWS))[chosen].value
    expected = np.array(ROWS, dtype=object)[chosen].tolist()
    assert rows.to_list() == expected
    dense = np.array([[0, 1], [2, 0], [0, 0], [3, 4]])
    taken = composites.of_matrix(scipy.sparse.csr_matrix(dense))[chosen]
    found = np.zeros(taken.shape, int)
    found[tuple(taken.value.indices.T)] = taken.value.values
    assert found.tolist() == dense[chosen].tolist()
    assert taken.value.indices.tolist() == sorted(taken.value.indices.tolist())
