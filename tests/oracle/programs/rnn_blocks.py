"""Recurrent cells in one op: the LSTM's step and sequence, the GRU's step, with their gradients."""

from kit import Close, cases, graph, normal, product, raises, upstream

_LSTM = ("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
_GRU = ("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c")
_SIZES = {"plain": (3, 2, 4), "one": (1, 1, 1), "wide": (2, 7, 3)}


def _with_gradients(tf):
    """TensorFlow registers the cells' gradients when contrib is first used."""
    getattr(tf.contrib, "rnn", None)


def _lstm_inputs(np, dtype, batch, inputs, cells, steps=()):
    shapes = [steps + (batch, inputs), (batch, cells), (batch, cells), (inputs + cells, 4 * cells)]
    shapes += [(cells,)] * 3 + [(4 * cells,)]
    return [(normal(np, *shape) * (0.5 + 0.1 * i)).astype(dtype) for i, shape in enumerate(shapes)]


def _gru_inputs(np, batch, inputs, cells):
    both = inputs + cells
    shapes = [(batch, inputs), (batch, cells), (both, 2 * cells), (both, cells), (2 * cells,), (cells,)]
    return [(normal(np, *shape) * (0.5 + 0.1 * i)).astype(np.float32) for i, shape in enumerate(shapes)]


def _run(tf, np, outputs, followed, inputs):
    """All outputs, and the gradients of those followed by every input."""
    weights = [tf.constant(upstream(np, y.shape.as_list()).astype(y.dtype.as_numpy_dtype)) for y in followed]
    grads = tf.gradients(followed, inputs, weights) if followed else []
    with tf.Session() as session:
        found = session.run([list(outputs), [g for g in grads if g is not None]])
    shapes = [[t.shape for t in outputs], [None if g is None else g.shape for g in grads]]
    return [Close(found, 2e-2, 2e-2) if outputs[0].dtype == tf.float16 else Close(found, 1e-4, 1e-5), shapes]


@cases(*product(["float32", "float16"], list(_SIZES), [False, True], [0.0, 0.5, 3.0, -1.0], [1.0, 0.0]))
def lstm_block_cell(tf, np, dtype, sizes, use_peephole, cell_clip, forget_bias):
    _with_gradients(tf)
    inputs = [tf.constant(a) for a in _lstm_inputs(np, dtype, *_SIZES[sizes])]
    y = tf.raw_ops.LSTMBlockCell(
        use_peephole=use_peephole, cell_clip=cell_clip, forget_bias=forget_bias, **dict(zip(_LSTM, inputs))
    )
    return _run(tf, np, y, [y.cs, y.h], inputs)


@cases(
    *product(["BlockLSTM", "BlockLSTMV2"], ["float32", "float16"], [False, True], [0.0, 0.7], [0, 1, 3, 5])
)
def block_lstm(tf, np, op, dtype, use_peephole, cell_clip, steps):
    inputs = [tf.constant(a) for a in _lstm_inputs(np, dtype, 3, 2, 4, (5,))]
    y = getattr(tf.raw_ops, op)(
        seq_len_max=tf.constant(steps, tf.int64),
        use_peephole=use_peephole,
        cell_clip=cell_clip,
        **dict(zip(_LSTM, inputs)),
    )
    defined = [y.cs, y.h] + [t[:steps] for t in (y.i, y.f, y.o, y.ci, y.co)]
    if op == "BlockLSTM":
        return _run(tf, np, defined, [y.cs, y.h], inputs)
    # TensorFlow's gradient of the second version mistakes the order of the gates; its gradient op does not.
    named = dict(zip(_LSTM, inputs), cs_grad=tf.cos(y.cs), h_grad=tf.sin(y.h), **y._asdict())
    length = tf.constant(steps, tf.int64)
    grads = tf.raw_ops.BlockLSTMGradV2(seq_len_max=length, use_peephole=use_peephole, **named)
    return _run(tf, np, defined + list(grads), [], [])


@cases(*_SIZES)
def gru_block_cell(tf, np, sizes):
    _with_gradients(tf)
    inputs = [tf.constant(a) for a in _gru_inputs(np, *_SIZES[sizes])]
    y = tf.raw_ops.GRUBlockCell(**dict(zip(_GRU, inputs)))
    return _run(tf, np, y, [y.h], inputs)


@cases("LSTMBlockCell", "GRUBlockCell", "BlockLSTM")
def nodes(tf, np, op):
    _with_gradients(tf)
    if op == "GRUBlockCell":
        inputs = dict(zip(_GRU, [tf.constant(a) for a in _gru_inputs(np, 3, 2, 4)]))
    else:
        steps = (5,) if op.startswith("Block") else ()
        inputs = dict(zip(_LSTM, [tf.constant(a) for a in _lstm_inputs(np, "float32", 3, 2, 4, steps)]))
        if steps:
            inputs["seq_len_max"] = tf.constant(5, tf.int64)
    y = getattr(tf.raw_ops, op)(**inputs)
    tf.gradients(y.h, [t for name, t in sorted(inputs.items()) if name != "seq_len_max"])
    return graph(tf)


@cases("LSTMBlockCell", "GRUBlockCell", "BlockLSTM", "BlockLSTMV2")
def unknown_shapes(tf, np, op):
    names = _GRU if op == "GRUBlockCell" else _LSTM
    inputs = {name: tf.placeholder(tf.float32) for name in names}
    if op.startswith("Block"):
        inputs["seq_len_max"] = tf.placeholder(tf.int64)
    return [t.shape for t in getattr(tf.raw_ops, op)(**inputs)]


@cases("x", "cs_prev", "h_prev", "w", "b")
def wrong_sizes(tf, np, wrong):
    arrays = dict(zip(_LSTM, _lstm_inputs(np, "float32", 3, 2, 4)))
    feeds = {name: tf.placeholder(tf.float32) for name in _LSTM}
    arrays[wrong] = np.zeros([n + 1 for n in arrays[wrong].shape], np.float32)
    y = tf.raw_ops.LSTMBlockCell(**feeds)
    with tf.Session() as session:
        return raises(session.run, y.h, {feeds[name]: array for name, array in arrays.items()})
