"""Layers that apply others, and recurrent layers of cells with states of any kind."""

import numpy as np
import pytest

import tideflow as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def graph():
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


class Adder(layers.Layer):
    """A cell whose output is its state, to which it adds its inputs and a constant."""

    state_size = 2

    def call(self, inputs, states, constants):
        output = states[0] + tf.reduce_sum(inputs, 1, keepdims=True) + constants[0]
        return output, [output]


def test_both_directions_take_constants():
    x, constant = keras.Input((3, 4)), keras.Input((2,))
    layer = layers.Bidirectional(layers.RNN(Adder()), merge_mode="sum")
    model = keras.Model([x, constant], layer(x, constants=constant))
    assert model.predict([np.ones((1, 3, 4)), np.ones((1, 2))]).tolist() == [[30.0, 30.0]]
    with keras.utils.CustomObjectScope({"Adder": Adder}):
        again = layers.Bidirectional.from_config(layer.get_config())
    assert again([x, constant]).shape.as_list() == [None, 2] and again._num_constants == 1


def test_directions_are_alike():
    for backward, words in (
        (layers.LSTM(3), "different `go_backwards`"),
        (layers.GRU(3, go_backwards=True, return_state=True), "same value for attribute return_state"),
        (3, "`backward_layer` need to be a `Layer`"),
    ):
        with pytest.raises(ValueError, match=words):
            layers.Bidirectional(layers.LSTM(3), backward_layer=backward)


def test_penalties_of_both_directions_count():
    layer = layers.Bidirectional(layers.SimpleRNN(3, activity_regularizer="l1"))
    layer(keras.Input((2, 3)))
    assert len(layer.losses) == 2


def test_masks_of_a_layer_for_each_time_step():
    inner = layers.TimeDistributed(layers.Embedding(5, 2, mask_zero=True), input_shape=(None, None))
    outer = layers.TimeDistributed(layers.SimpleRNN(3))
    model = keras.Sequential([inner, outer])
    mask = outer.compute_mask(outer.input, inner.compute_mask(model.input))
    data = np.array([[[1, 2], [3, 0]], [[0, 0], [4, 0]]])
    found = keras.backend.function([model.input], [mask])([data])[0]
    assert found.tolist() == [[True, True], [False, True]]


def test_a_layer_of_the_program_is_called_for_each_time_step_of_a_fixed_batch():
    class Double(layers.Layer):
        def call(self, inputs):
            assert inputs.shape.as_list() == [2, 4]
            return inputs * 2.0

    model = keras.Sequential([layers.TimeDistributed(Double(), batch_input_shape=(2, 3, 4))])
    assert model.predict(np.ones((2, 3, 4))).tolist() == np.full((2, 3, 4), 2.0).tolist()


def test_a_layer_reads_several_sequences():
    class Pair(layers.Layer):
        state_size = (tf.TensorShape([3]), tf.TensorShape([2, 2]))
        output_size = (tf.TensorShape([3]), tf.TensorShape([2, 2]))

        def call(self, inputs, states):
            outputs = inputs[0] + states[0], inputs[1] + states[1]
            return outputs, outputs

    layer = layers.RNN(Pair(), return_state=True)
    a, b = keras.Input((5, 3)), keras.Input((5, 2, 2))
    outputs = tf.nest.flatten(layer((a, b)))
    shapes = layer.compute_output_shape([(None, 5, 3), (None, 5, 2, 2)])
    assert [shape.as_list() for shape in shapes] == [output.shape.as_list() for output in outputs]
    found = keras.Model([a, b], outputs).predict([np.ones((1, 5, 3)), np.ones((1, 5, 2, 2))])
    assert all((value == 5.0).all() for value in found)


def test_a_layer_takes_a_dictionary_of_sequences_and_gives_one():
    class Named(layers.Layer):
        state_size = 3
        output_size = {"sum": 3}

        def call(self, inputs, states):
            output = inputs["x"] + states[0]
            return {"sum": output}, [output]

    made = layers.RNN(Named())({"x": keras.Input((5, 3))})
    assert made["sum"].shape.as_list() == [None, 3]


def test_first_states_have_the_sizes_of_the_cell():
    for sizes in ((3,), (2, 2, 2)):
        states = [keras.Input((size,)) for size in sizes]
        with pytest.raises(ValueError, match=r"not compatible with `cell\.state_size`"):
            layers.LSTM(2)(keras.Input((3, 4)), initial_state=states)


def test_merges_have_a_mask_for_each_input():
    x, mask = tf.ones([2, 3]), tf.ones([2, 3], tf.bool)
    for layer in (layers.Add(), layers.Concatenate()):
        for given, words in (
            (([x, x], [mask]), "should have the same length"),
            (([x, x], mask), "`mask` should be a list"),
            ((x, [mask, mask]), "`inputs` should be a list"),
        ):
            with pytest.raises(ValueError, match=words):
                layer.compute_mask(*given)


def test_axes_of_layer_normalization_are_there_and_differ():
    for axis, words in ((3, "Invalid axis: 3"), ([-1, 2], "Duplicate axis")):
        with pytest.raises(ValueError, match=words):
            layers.LayerNormalization(axis=axis)(keras.Input((2, 3)))
