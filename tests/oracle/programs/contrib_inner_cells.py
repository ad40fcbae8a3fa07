"""Cells that programs import from contrib.rnn.python.ops.rnn_cell."""

from kit import cases, names, normal, raises

_CELLS = {
    "layer norm": ("LayerNormLSTMCell", dict(num_units=3, layer_norm=True)),
    "layer norm off": ("LayerNormLSTMCell", dict(num_units=3)),
    "layer norm, projected": (
        "LayerNormLSTMCell",
        dict(num_units=3, use_peepholes=True, cell_clip=0.3, num_proj=2, proj_clip=0.2, layer_norm=True),
    ),
    "weight norm": ("WeightNormLSTMCell", dict(num_units=3)),
    "weight norm off": ("WeightNormLSTMCell", dict(num_units=3, norm=False)),
    "weight norm, projected": (
        "WeightNormLSTMCell",
        dict(num_units=3, use_peepholes=True, cell_clip=0.3, num_proj=2, proj_clip=0.2),
    ),
    "minimal": ("MinimalRNNCell", dict(units=3)),
    "minimal in 64 bits": ("MinimalRNNCell", dict(units=3, dtype="float64")),
    "chaos-free": ("CFNCell", dict(units=3)),
}


def _module(tf):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    from tensorflow.contrib.rnn.python.ops import rnn_cell

    return rnn_cell


def _variables(tf, np, session):
    """Gives all variables known values; says their names and shapes."""
    for v in tf.global_variables():
        shape = v.shape.as_list()
        session.run(v.assign(np.cos(np.arange(int(np.prod(shape)))).reshape(shape)))
    return [(v.name, v.shape) for v in tf.global_variables()]


@cases(*sorted(_CELLS))
def cell(tf, np, which):
    name, arguments = _CELLS[which]
    made = getattr(_module(tf), name)(**arguments)
    dtype = arguments.get("dtype", "float32")
    with tf.variable_scope("root"):
        output, state = made(tf.constant(normal(np, 2, 4).astype(dtype)), made.zero_state(2, dtype))
        unrolled, _ = tf.nn.dynamic_rnn(made, tf.constant(normal(np, 2, 3, 4).astype(dtype)), dtype=dtype)
    refused = raises(made, tf.placeholder(tf.float32, [2, None]), made.zero_state(2, tf.float32))
    with tf.Session() as session:
        variables = _variables(tf, np, session)
        values = session.run([output, state, unrolled])
    return variables, made.state_size, made.output_size, values, refused


@cases((1, 1), (2, 1), (1, 2))
def turing_machine(tf, np, readers, writers):
    machine = _module(tf).NTMCell(tf.nn.rnn_cell.LSTMCell(4), 6, 3, readers, writers, output_dim=5)
    state, outputs = machine.zero_state(2, tf.float32), []
    for step in range(3):
        output, state = machine(tf.constant((normal(np, 2, 4) * (step + 1)).astype("float32")), state)
        outputs.append(output)
    with tf.Session() as session:
        variables = _variables(tf, np, session)
        values = session.run([outputs, state.M, state.w_list, state.read_vector_list])
    sizes = machine.state_size
    return variables, sizes.w_list, sizes.M, values, state.time, raises(_module(tf).NTMCell, 3, 1, 1, 1, 1)


_NAMED = {
    "phased": lambda tf: tf.contrib.rnn.PhasedLSTMCell(2),
    "time and frequency": lambda tf: tf.contrib.rnn.TimeFreqLSTMCell(2, feature_size=2, frequency_skip=1),
}


@cases(*sorted(_NAMED))
def operations_stand_in_tensorflows_order(tf, np, which):
    tf.set_random_seed(7)
    cell = _NAMED[which](tf)
    x = tf.zeros([3, 4])
    inputs = (tf.zeros([3, 1], tf.float64), x) if which == "phased" else x
    state = cell.zero_state(3, tf.float32) if which == "phased" else tf.zeros([3, 12])
    cell(inputs, state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [names(tf), session.run(tf.global_variables()) if which == "phased" else []]
