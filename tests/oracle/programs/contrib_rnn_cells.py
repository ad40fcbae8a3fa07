"""tf.contrib.rnn: cells of independent units, groups, rhythms and grids."""

from kit import Close, cases, normal, raises, run


def _fill(np):
    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return (0.6 * values).astype(dtype.as_numpy_dtype)

    return initial


_GRID = dict(feature_size=2, frequency_skip=1, num_frequency_blocks=[3])
_BLOCKS = dict(
    feature_size=2,
    frequency_skip=1,
    num_frequency_blocks=[1, 2],
    start_freqindex_list=[0, 1],
    end_freqindex_list=[2, 4],
)
_CELLS = {
    "sru": lambda c, np: c.SRUCell(4),
    "indrnn": lambda c, np: c.IndRNNCell(4),
    "indy gru": lambda c, np: c.IndyGRUCell(4, kernel_initializer=_fill(np)),
    "indy lstm": lambda c, np: c.IndyLSTMCell(4, forget_bias=0.5, bias_initializer=_fill(np)),
    "glstm": lambda c, np: c.GLSTMCell(4, number_of_groups=2),
    "glstm projected": lambda c, np: c.GLSTMCell(4, num_proj=2, number_of_groups=2, initializer=_fill(np)),
    "compiled": lambda c, np: c.CompiledWrapper(c.GRUCell(4)),
    "grid": lambda c, np: c.GridLSTMCell(2, **_GRID),
    "grid peepholes": lambda c, np: c.GridLSTMCell(2, True, cell_clip=0.1, num_unit_shards=2, **_GRID),
    "grid shared": lambda c, np: c.GridLSTMCell(2, True, True, **_GRID),
    "grid coupled": lambda c, np: c.GridLSTMCell(2, True, couple_input_forget_gates=True, **_BLOCKS),
    "grid joined": lambda c, np: c.GridLSTMCell(2, state_is_tuple=False, **_GRID),
    "both": lambda c, np: c.BidirectionalGridLSTMCell(2, **_BLOCKS),
    "both moved": lambda c, np: c.BidirectionalGridLSTMCell(2, True, backward_slice_offset=1, **_GRID),
    "both back": lambda c, np: c.BidirectionalGridLSTMCell(2, backward_slice_offset=-1, **_GRID),
}
_RANDOM = ("indrnn", "indy")  # recurrent weights start at random


@cases(*sorted(_CELLS))
def steps(tf, np, which):
    x = tf.constant(normal(np, 3, 4).astype("float32"))
    with tf.variable_scope("model", initializer=_fill(np)):
        cell = _CELLS[which](tf.contrib.rnn, np)
        state = cell.zero_state(3, tf.float32)
        with tf.variable_scope("cell"):
            output, state = cell(x, state)
        with tf.variable_scope("cell", reuse=True):
            output, state = cell(x * 0.5, state)
    assign = [
        v.assign(0.3 * tf.ones(v.shape)) for v in tf.global_variables() if v.op.name.endswith("kernel_u")
    ]
    flat = [output] + tf.nest.flatten(state)
    slopes = [s for s in tf.gradients(output, tf.trainable_variables()) if s is not None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assign)
        values = session.run([flat, slopes])
    return [
        Close(values, 1e-4, 1e-5),
        [(t.name if which.startswith(_RANDOM) else None, t.shape) for t in flat],
        [(v.name, v.shape.as_list()) for v in tf.global_variables()],
        tf.nest.flatten(cell.state_size),
        cell.output_size,
    ]


@cases(False, True)
def time_and_frequency(tf, np, peepholes):
    with tf.variable_scope("model", initializer=_fill(np)):
        cell = tf.contrib.rnn.TimeFreqLSTMCell(2, peepholes, 0.2 if peepholes else None, feature_size=2)
        made = cell(
            tf.constant(normal(np, 3, 4).astype("float32")), tf.constant(normal(np, 12, 3).T, tf.float32)
        )
    shapes = [t.shape for t in made]
    return [shapes, Close(run(tf, made), 1e-4, 1e-5), [v.name for v in tf.global_variables()]]


@cases(False, True)
def phased(tf, np, peepholes):
    cell = tf.contrib.rnn.PhasedLSTMCell(3, peepholes, trainable_ratio_on=False)
    time = tf.constant([[1.0], [5.0], [400.0]])
    x = tf.constant(normal(np, 3, 2).astype("float32"))
    with tf.variable_scope("model"):
        output, state = cell((time, x), cell.zero_state(3, tf.float32))
    starts = {"period": [2.0, 7.0, 100.0], "phase": [0.5, 1.0, 30.0], "ratio_on": [0.5, 0.9, 0.3]}
    assign = []
    for v in tf.global_variables():
        value = starts.get(v.op.name.split("/")[-1])
        shape = v.shape.as_list()
        assign.append(v.assign(_fill(np)(shape, tf.float32) if value is None else value))
    slopes = tf.gradients(output, tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assign)
        values = session.run([output, state.c, state.h, slopes])
    return [Close(values, 1e-4, 1e-5), [(v.name, v.shape) for v in tf.global_variables()], len(slopes)]


def refused(tf, np):
    c = tf.contrib.rnn
    x, wide = tf.zeros([3, 4]), tf.placeholder(tf.float32, [3, None])

    def called(cell, x):
        return cell(x, cell.zero_state(3, tf.float32))

    return [
        raises(c.GLSTMCell, 5, number_of_groups=2),
        raises(c.GLSTMCell, 4, num_proj=3, number_of_groups=2),
        raises(called, c.GLSTMCell(6, number_of_groups=3), x),
        raises(called, c.GLSTMCell(4), wide),
        raises(called, c.SRUCell(4), wide),
        raises(called, c.IndRNNCell(4), wide),
        raises(c.GridLSTMCell, 2),
        raises(called, c.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]), x),
        raises(called, c.GridLSTMCell(2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2, 1]), x),
        raises(called, c.GridLSTMCell(2, **_GRID), wide),
    ]
