"""tf.contrib.grid_rnn: cells with several dimensions, by themselves and in networks."""

import importlib

from kit import Close, cases, raises

_CELLS = {
    "1 rnn": lambda g, tf, **o: g.Grid1BasicRNNCell(3, **o),
    "2 rnn": lambda g, tf, **o: g.Grid2BasicRNNCell(3, **o),
    "2 rnn tied": lambda g, tf, **o: g.Grid2BasicRNNCell(3, tied=True, **o),
    "1 basic": lambda g, tf, **o: g.Grid1BasicLSTMCell(3, forget_bias=0.5, **o),
    "2 basic": lambda g, tf, **o: g.Grid2BasicLSTMCell(3, **o),
    "2 relu": lambda g, tf, **o: g.Grid2BasicLSTMCell(3, non_recurrent_fn=tf.nn.relu, **o),
    "1 lstm": lambda g, tf, **o: g.Grid1LSTMCell(3, use_peepholes=True, **o),
    "2 lstm": lambda g, tf, **o: g.Grid2LSTMCell(3, use_peepholes=True, forget_bias=2.0, **o),
    "2 lstm tied": lambda g, tf, **o: g.Grid2LSTMCell(3, tied=True, **o),
    "3 lstm": lambda g, tf, **o: g.Grid3LSTMCell(2, **o),
    "2 gru": lambda g, tf, **o: g.Grid2GRUCell(3, **o),
    "own": lambda g, tf, **o: g.GridRNNCell(
        3,
        num_dims=3,
        input_dims=[0, 2],
        output_dims=[0, 1],
        priority_dims=[0, 2],
        non_recurrent_dims=[2],
        cell_fn=tf.nn.rnn_cell.GRUCell,
        **o,
    ),
}


def _module(tf):
    return (
        importlib.import_module("tensorflow.contrib.grid_rnn")
        if tf.__name__ == "tensorflow"
        else tf.contrib.grid_rnn
    )


def _run(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return Close(session.run(fetches), 1e-5)


@cases(*sorted(_CELLS))
def steps(tf, np, which):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.3)):
        cell = _CELLS[which](_module(tf), tf)
        state = tf.contrib.framework.nest.map_structure(
            lambda size: tf.constant(np.linspace(-1, 1, 2 * size).reshape(2, size), tf.float32),
            cell.state_size,
        )
        x = tf.constant([[1.0, 2.0], [-0.5, 0.25]])
        outputs, state = cell(x, state)
        tf.get_variable_scope().reuse_variables()
        outputs, state = cell(x, state)
    sizes = [cell.output_size, tf.contrib.framework.nest.flatten(cell.state_size)]
    return [sizes, [v.name for v in tf.global_variables()], _run(tf, [outputs, state])]


@cases("1 basic", "2 lstm", "3 lstm")
def joined(tf, np, which):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.3)):
        options = {"state_is_tuple": False, "output_is_tuple": False}
        cell = _CELLS[which](_module(tf), tf, **options)
        size = cell.state_size
        state = tf.constant(np.linspace(-1, 1, 2 * size).reshape(2, size), tf.float32)
        outputs, state = cell(tf.constant([[1.0, 2.0], [-0.5, 0.25]]), state)
    return [cell.output_size, size, outputs.shape, state.shape, _run(tf, [outputs, state])]


@cases("1 lstm", "2 lstm tied", "2 gru", "own")
def networks(tf, np, which):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.2)):
        cell = _CELLS[which](_module(tf), tf)
        inputs = [tf.constant(np.full((2, 2), 0.1 * i), tf.float32) for i in range(4)]
        outputs, state = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
        loss = tf.add_n([tf.reduce_sum(part) for step in outputs for part in step])
        gradients = [g for g in tf.gradients(loss, tf.trainable_variables()) if g is not None]
    return [[v.name for v in tf.global_variables()], _run(tf, [outputs, state, gradients])]


def refused(tf, np):
    grid = _module(tf).GridRNNCell
    return [
        raises(lambda: grid(3, num_dims=0)),
        raises(lambda: grid(3, num_dims=2, input_dims=2)),
        raises(lambda: grid(3, num_dims=2, cell_fn=lambda size: size)),
        raises(lambda: grid(3, num_dims=2, input_dims=0)(tf.zeros([1, 2]), (tf.zeros([1, 3]),))),
    ]
