"""Layers that apply others, recurrent cells of every kind of state, and merges: shapes, masks, errors."""

from kit import raises


def _cell(tf, np):
    class Cell(tf.keras.layers.Layer):
        def __init__(self, units, **kwargs):
            self.units = self.state_size = units
            super(Cell, self).__init__(**kwargs)

        def call(self, inputs, states, constants):
            output = states[0] + tf.reduce_sum(inputs, 1, keepdims=True) + constants[0]
            return output, [output]

        def get_config(self):
            return dict(super(Cell, self).get_config(), units=self.units)

    return Cell(2)


def constants_in_both_directions(tf, np):
    k = tf.keras
    x, c, f, b = [k.Input(shape) for shape in ((3, 4), (2,), (2,), (2,))]
    layer = k.layers.Bidirectional(k.layers.RNN(_cell(tf, np)), name="both")
    model = k.Model([x, f, b, c], layer(x, initial_state=[f, b], constants=c))
    ones = [np.ones((1,) + shape) for shape in ((3, 4), (2,), (2,), (2,))]
    return [model.predict(ones).tolist(), model.predict_on_batch([ones[0], *ones[1:]]).tolist()]


def directions_that_do_not_fit(tf, np):
    l = tf.keras.layers
    both = l.Bidirectional
    return [
        raises(both, l.LSTM(3, go_backwards=True), backward_layer=l.LSTM(3, go_backwards=True)),
        raises(both, l.LSTM(3), backward_layer=l.GRU(4, go_backwards=True, return_sequences=True)),
        raises(both, l.LSTM(3), backward_layer=l.GRU(4, go_backwards=True, return_state=True)),
        raises(both, l.LSTM(3), backward_layer=3),
        raises(both, l.LSTM(3), merge_mode="product"),
    ]


def names_and_penalties_of_directions(tf, np):
    l = tf.keras.layers
    backward = l.GRU(4, go_backwards=True, name="own")
    layer = l.Bidirectional(l.LSTM(3, name="lstm"), backward_layer=backward, name="both")
    layer(l.Input((2, 3)))
    plain = l.Bidirectional(l.SimpleRNN(3, kernel_regularizer="l2", activity_regularizer="l1"))
    plain(l.Input((2, 3)))
    return [layer.forward_layer.name, layer.backward_layer.name, len(plain.losses)]


def masks_of_each_time_step(tf, np):
    k = tf.keras
    layers = [
        k.layers.TimeDistributed(k.layers.Embedding(5, 6, mask_zero=True), input_shape=(None, None)),
        k.layers.TimeDistributed(k.layers.SimpleRNN(7, return_sequences=True)),
        k.layers.TimeDistributed(k.layers.SimpleRNN(8)),
        k.layers.SimpleRNN(1),
    ]
    model = k.Sequential(layers)
    masks = [layers[0].compute_mask(model.input)]
    for layer in layers[1:]:
        masks.append(layer.compute_mask(layer.input, masks[-1]))
    data = np.array([[[1, 2], [3, 0]], [[0, 0], [4, 0]]])
    found = k.backend.function([model.input], masks[:-1])([data])
    return [masks[-1] is None] + [mask.tolist() for mask in found]


def layers_of_time_steps(tf, np):
    k = tf.keras

    class Own(k.layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

    over = k.layers.TimeDistributed
    ways = [over(layer)._always_use_reshape for layer in (k.layers.Dense(2), Own())]
    x = k.backend.placeholder((2, 3, 4))
    dense = over(k.layers.Dense(5), name="dense")
    dense(k.backend.placeholder((None, 10, 13)))
    return [
        ways,
        k.backend.function([x], [over(Own())(x)])([np.ones((2, 3, 4))])[0].tolist(),
        raises(dense, k.backend.placeholder((None, 1, 18))),
    ]


def several_sequences(tf, np):
    k = tf.keras

    class Cell(k.layers.Layer):
        state_size = (tf.TensorShape([3]), tf.TensorShape([2, 2]))
        output_size = (tf.TensorShape([3]), tf.TensorShape([2, 2]))

        def call(self, inputs, states):
            outputs = inputs[0] + states[0], inputs[1] + states[1]
            return outputs, outputs

    layer = k.layers.RNN(Cell(), return_sequences=True, return_state=True)
    a, b = k.Input((5, 3)), k.Input((5, 2, 2))
    outputs = tf.nest.flatten(layer((a, b)))
    model = k.Model([a, b], outputs)
    shapes = layer.compute_output_shape([(None, 5, 3), (None, 5, 2, 2)])
    data = [np.ones((1, 5, 3)), np.ones((1, 5, 2, 2))]
    return [
        [shape.as_list() for shape in shapes],
        [output.shape.as_list() for output in outputs],
        [found.tolist() for found in model.predict(data)],
    ]


def cells_of_the_core(tf, np):
    cell = tf.nn.rnn_cell
    layer = tf.keras.layers.RNN([cell.BasicLSTMCell(4), cell.GRUCell(3)])
    return layer(tf.keras.Input((5, 2))).shape.as_list()


def states_that_do_not_fit(tf, np):
    l = tf.keras.layers
    x = l.Input((3, 4))
    return [
        raises(layer(2), x, initial_state=[l.Input((size,)) for size in sizes])
        for layer in (l.SimpleRNN, l.GRU, l.LSTM)
        for sizes in ((3,), (2, 2, 2))
    ]


def masks_of_merges(tf, np):
    l = tf.keras.layers
    x, mask = tf.ones([2, 3]), tf.ones([2, 3], tf.bool)
    found = []
    for layer in (l.Add(), l.Maximum(), l.Concatenate()):
        given = ([x, x], [mask]), ([x, x], mask), (x, [mask, mask])
        found += [raises(layer.compute_mask, *both) for both in given]
    return found + [
        raises(l.Add(), [l.Input((3,), batch_size=2), l.Input((3,), batch_size=4)]),
        raises(l.Concatenate().compute_output_shape, (None, 3)),
        raises(l.Dot(1).compute_output_shape, [(None, 3)]),
    ]


def axes_of_layer_normalization(tf, np):
    l = tf.keras.layers
    return [raises(l.LayerNormalization(axis=axis), l.Input((2, 3))) for axis in (3, [-1, 2])]
