"""tf.contrib.rnn: cells in one op, fused networks, more cells and wrappers, stacks in both directions."""

from kit import Close, cases, graph, names, normal, product, raises, run, upstream


def _fill(np):
    """An initializer whose values are the same in every engine."""

    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return (0.6 * values).astype(dtype.as_numpy_dtype)

    return initial


def _input(np, *shape):
    return normal(np, *shape).astype("float32")


def _nodes(tf):
    return sorted(names(tf))


def _all(tf, np, results, sources=()):
    """Values, tensors, variables, and gradients by sources and variables."""
    flat = tf.nest.flatten(results)
    wanted = list(sources) + tf.trainable_variables()
    loss = sum(tf.reduce_sum(t * tf.constant(upstream(np, t.shape.as_list()), t.dtype)) for t in flat)
    slopes = tf.gradients(loss, wanted)
    values = run(tf, [flat, [s for s in slopes if s is not None]])
    return [
        Close(values, 2e-4, 1e-4),  # gradients of normalized sums are differences of numbers up to 20
        flat,
        [s is None for s in slopes],
        [(v.name, v.shape.as_list()) for v in tf.global_variables()],
    ]


_CELLS = {
    "lstm block": lambda c: c.LSTMBlockCell(4),
    "lstm block peephole": lambda c: c.LSTMBlockCell(4, 0.5, 0.3, True),
    "lstm block named": lambda c: c.LSTMBlockCell(4, name="mine"),
    "gru block": lambda c: c.GRUBlockCell(4),
    "gru block old": lambda c: c.GRUBlockCell(cell_size=4),
    "gru block 2": lambda c: c.GRUBlockCellV2(4),
    "layer norm": lambda c: c.LayerNormBasicLSTMCell(4),
    "layer norm off": lambda c: c.LayerNormBasicLSTMCell(4, layer_norm=False, forget_bias=0.5),
    "layer norm gain": lambda c: c.LayerNormBasicLSTMCell(4, norm_gain=0.5, norm_shift=0.1),
    "layer norm dropout": lambda c: c.LayerNormBasicLSTMCell(4, dropout_keep_prob=0.5, dropout_prob_seed=3),
    "coupled": lambda c: c.CoupledInputForgetGateLSTMCell(4),
    "coupled peepholes": lambda c: c.CoupledInputForgetGateLSTMCell(4, True, num_proj=3, proj_clip=0.1),
    "coupled shards": lambda c: c.CoupledInputForgetGateLSTMCell(
        4, num_unit_shards=2, num_proj=3, num_proj_shards=3
    ),
    "coupled norm": lambda c: c.CoupledInputForgetGateLSTMCell(4, layer_norm=True, norm_gain=0.7),
    "coupled joined": lambda c: c.CoupledInputForgetGateLSTMCell(4, state_is_tuple=False),
    "nas": lambda c: c.NASCell(4),
    "nas all": lambda c: c.NASCell(4, num_proj=3, use_bias=True),
    "ugrnn": lambda c: c.UGRNNCell(4),
    "intersection": lambda c: c.IntersectionRNNCell(3),
    "intersection projected": lambda c: c.IntersectionRNNCell(4, num_in_proj=4),
    "input projection": lambda c: c.InputProjectionWrapper(c.GRUCell(4), 5),
    "output projection": lambda c: c.OutputProjectionWrapper(c.LSTMCell(4), 2),
    "highway": lambda c: c.HighwayWrapper(c.GRUCell(3)),
    "highway apart": lambda c: c.HighwayWrapper(c.LSTMCell(3), False, 0.5),
    "attention": lambda c: c.AttentionCellWrapper(c.GRUCell(4), 3),
    "attention lstm": lambda c: c.AttentionCellWrapper(c.LSTMCell(4), 2, attn_size=3, attn_vec_size=5),
    "attention joined": lambda c: c.AttentionCellWrapper(c.GRUCell(4), 3, state_is_tuple=False),
    "core": lambda c: c.MultiRNNCell([c.ResidualWrapper(c.BasicLSTMCell(3)), c.GRUBlockCellV2(2)]),
}


def _made(tf, np, cell, build):
    tf.set_random_seed(11)
    with tf.variable_scope("model", initializer=_fill(np)):
        return build(_CELLS[cell](tf.contrib.rnn))


@cases(*[cell for cell in _CELLS if "highway" not in cell])  # which shares nothing between calls
def steps(tf, np, cell):
    def build(made):
        x = tf.constant(_input(np, 2, 3) + 0.3)
        first, state = made(tf.constant(_input(np, 2, 3)), made.zero_state(2, tf.float32))
        second, state = made(x, state)
        sizes = [made.state_size, made.output_size]
        return [first, second, state], x, sizes

    results, x, sizes = _made(tf, np, cell, build)
    return _all(tf, np, results, [x]) + [sizes, _nodes(tf)]


@cases(*_CELLS)
def along_time(tf, np, cell):
    def build(made):
        x = tf.constant(_input(np, 2, 5, 3))
        return tf.nn.dynamic_rnn(made, x, [3, 5], dtype=tf.float32, parallel_iterations=1), x

    results, x = _made(tf, np, cell, build)
    kept = graph(tf)
    return _all(tf, np, results, [x]) + [kept]


@cases(*_CELLS)
def unrolled(tf, np, cell):
    def build(made):
        x = [tf.constant(_input(np, 2, 3) * k) for k in (1.0, 0.5, -0.7)]
        return tf.contrib.rnn.static_rnn(made, x, dtype=tf.float32), x

    results, x = _made(tf, np, cell, build)
    return _all(tf, np, results, x) + [_nodes(tf)]


@cases("one", "tuple")
def embedding(tf, np, kind):
    c = tf.contrib.rnn
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = c.EmbeddingWrapper(c.GRUCell(4) if kind == "one" else c.LSTMCell(4), 7, 3)
        x = tf.constant([[[1], [2], [6]], [[0], [0], [3]]])
        results = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return _all(tf, np, results) + [_nodes(tf)]


def embedding_at_random(tf, np):
    tf.set_random_seed(3)
    c = tf.contrib.rnn
    results = c.EmbeddingWrapper(c.GRUCell(4), 7, 3)(tf.constant([[1], [2]]), tf.zeros([2, 4]))
    return [Close(run(tf, results), 1e-4, 1e-5), graph(tf)]


@cases(*product(["1", "2", "3"], [False, True], [2, 3]))
def convolutional(tf, np, rank, use_bias, channels):
    sizes = [4, 3, 2][: int(rank)] + [2]
    make = getattr(tf.contrib.rnn, "Conv%sDLSTMCell" % rank)
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = make(
            input_shape=sizes,
            output_channels=channels,
            kernel_shape=[3] * int(rank),
            use_bias=use_bias,
        )
        x = tf.constant(_input(np, *([2, 3] + sizes)))
        results = tf.nn.dynamic_rnn(cell, x, [3, 2], dtype=tf.float32)
    return _all(tf, np, results, [x]) + [cell.state_size, cell.output_size, _nodes(tf)]


# ---------------------------------------------------------------------------- fused networks


@cases(*product([None, [2, 5], [0, 3]], [False, True], [False, True], [False, True]))
def fused_lstm(tf, np, lengths, peephole, given, reverse):
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.contrib.rnn.LSTMBlockFusedCell(3, 0.5, 0.4, peephole)
        x = tf.constant(_input(np, 5, 2, 4))
        start = (tf.constant(_input(np, 2, 3)), tf.constant(_input(np, 2, 3) * 0.5)) if given else None
        run_it = tf.contrib.rnn.TimeReversedFusedRNN(cell) if reverse else cell
        results = run_it(x, initial_state=start, dtype=tf.float32, sequence_length=lengths)
    return _all(tf, np, results, [x]) + [_nodes(tf)]


def fused_lstm_of_unknown_sizes(tf, np):
    x = tf.placeholder(tf.float32, [None, None, 4])
    lengths = tf.placeholder(tf.int32, [None])
    with tf.variable_scope("m", initializer=_fill(np)):
        results = tf.contrib.rnn.LSTMBlockFusedCell(3)(x, dtype=tf.float32, sequence_length=lengths)
    return [results, run(tf, results, {x: _input(np, 5, 2, 4), lengths: [2, 4]}), graph(tf)]


@cases(*product([False, True], [False, True], [None, [2, 4]]))
def adapted(tf, np, dynamic, as_list, lengths):
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.contrib.rnn.FusedRNNCellAdaptor(tf.contrib.rnn.GRUCell(3), use_dynamic_rnn=dynamic)
        x = tf.constant(_input(np, 5, 2, 4))
        results = cell(tf.unstack(x) if as_list else x, dtype=tf.float32, sequence_length=lengths)
        again = tf.contrib.rnn.TimeReversedFusedRNN(cell)(
            tf.unstack(x) if as_list else x, dtype=tf.float32, sequence_length=lengths, scope="again"
        )
    return _all(tf, np, [results, again], [x]) + [_nodes(tf)]


# ---------------------------------------------------------------------------- stacks in both directions


@cases(*product([None, [2, 5]], [False, True], [False, True]))
def stacked(tf, np, lengths, given, time_major):
    c = tf.contrib.rnn
    x = tf.constant(_input(np, 5, 2, 3) if time_major else _input(np, 2, 5, 3))
    states = [tf.constant(_input(np, 2, n)) for n in (4, 3)]
    with tf.variable_scope("m", initializer=_fill(np)):
        results = c.stack_bidirectional_dynamic_rnn(
            [c.GRUCell(4), c.GRUCell(3)],
            [c.GRUCell(2), c.LSTMCell(3)],
            x,
            initial_states_fw=states if given else None,
            dtype=tf.float32,
            sequence_length=lengths,
            time_major=time_major,
        )
    return _all(tf, np, results, [x]) + [_nodes(tf)]


@cases(None, [2, 3])
def stacked_static(tf, np, lengths):
    c = tf.contrib.rnn
    x = [tf.constant(_input(np, 2, 3) * k) for k in (1.0, 0.5, -0.7)]
    with tf.variable_scope("m", initializer=_fill(np)):
        results = c.stack_bidirectional_rnn(
            [c.GRUCell(4), c.GRUCell(3)],
            [c.GRUCell(2), c.LSTMCell(3)],
            x,
            dtype=tf.float32,
            sequence_length=lengths,
        )
    return _all(tf, np, results, x) + [_nodes(tf)]


@cases([], [2], [2, 3], [2, None, 3], [2, 3, 4, 5])
def transposed(tf, np, shape):
    y = tf.contrib.rnn.transpose_batch_time(tf.placeholder(tf.float32, shape))
    return [y, graph(tf)]


def batch_sizes(tf, np):
    p = tf.placeholder
    best = tf.contrib.rnn.best_effort_input_batch_size
    return [
        best([p(tf.float32, [3, 2])]),
        best([p(tf.float32, [3, None]), p(tf.float32, [3, 2])]),
        best([p(tf.float32), p(tf.float32, [3, 2])]),
        best([p(tf.float32, [3, None])]),
        raises(best, [p(tf.float32, [3])]),
        graph(tf),
    ]


_ERRORS = {
    "gru both": lambda tf, c: c.GRUBlockCell(3, 3),
    "gru neither": lambda tf, c: c.GRUBlockCell(),
    "gru state": lambda tf, c: c.GRUBlockCell(3)(tf.zeros([2, 3]), tf.zeros([2, 4])),
    "gru depth": lambda tf, c: c.GRUBlockCell(3)(tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3])),
    "lstm depth": lambda tf, c: c.LSTMBlockCell(3)(
        tf.placeholder(tf.float32, [2, None]), (tf.zeros([2, 3]),) * 2
    ),
    "lstm state": lambda tf, c: c.LSTMBlockCell(3)(tf.zeros([2, 3]), (tf.zeros([2, 3]),) * 3),
    "fused rank": lambda tf, c: c.LSTMBlockFusedCell(3)(tf.zeros([2, 3]), dtype=tf.float32),
    "fused dtype": lambda tf, c: c.LSTMBlockFusedCell(3)(tf.zeros([4, 2, 3])),
    "fused state": lambda tf, c: c.LSTMBlockFusedCell(3)(tf.zeros([4, 2, 3]), (tf.zeros([2, 3]),)),
    "embedding": lambda tf, c: c.EmbeddingWrapper(c.GRUCell(3), 0, 3),
    "projection": lambda tf, c: c.OutputProjectionWrapper(c.GRUCell(3), 0),
    "projection of number": lambda tf, c: c.InputProjectionWrapper(3, 3),
    "projection rank": lambda tf, c: c.InputProjectionWrapper(c.GRUCell(3), 3)(
        tf.zeros([2, 3, 3]), tf.zeros([2, 3])
    ),
    "projection depth": lambda tf, c: c.InputProjectionWrapper(c.GRUCell(3), 3)(
        tf.placeholder(tf.float32, [2, None]), tf.zeros([2, 3])
    ),
    "attention length": lambda tf, c: c.AttentionCellWrapper(c.GRUCell(3), 0),
    "attention joined": lambda tf, c: c.AttentionCellWrapper(c.LSTMCell(3), 3, state_is_tuple=False),
    "highway": lambda tf, c: c.HighwayWrapper(c.GRUCell(3))(tf.zeros([2, 4]), tf.zeros([2, 3])),
    "intersection": lambda tf, c: c.IntersectionRNNCell(3)(tf.zeros([2, 4]), tf.zeros([2, 3])),
    "shards": lambda tf, c: c.CoupledInputForgetGateLSTMCell(3, num_unit_shards=20)(
        tf.zeros([2, 4]), (tf.zeros([2, 3]),) * 2
    ),
    "conv rank": lambda tf, c: c.ConvLSTMCell(2, [4, 2], 3, [3, 3]),
    "stack none": lambda tf, c: c.stack_bidirectional_rnn([], [], []),
    "stack tuple": lambda tf, c: c.stack_bidirectional_rnn((c.GRUCell(3),), [c.GRUCell(3)], []),
    "stack depth": lambda tf, c: c.stack_bidirectional_dynamic_rnn([c.GRUCell(3)], [c.GRUCell(3)] * 2, []),
    "stack states": lambda tf, c: c.stack_bidirectional_dynamic_rnn(
        [c.GRUCell(3)], [c.GRUCell(3)], tf.zeros([2, 3, 4]), initial_states_fw=[1, 2]
    ),
}


@cases(*_ERRORS)
def errors(tf, np, case):
    return raises(_ERRORS[case], tf, tf.contrib.rnn)


def same_objects(tf, np):
    """What is in both places is one thing."""
    c = tf.contrib.rnn
    both = [n for n in dir(tf.nn.rnn_cell) if not n.startswith("_")]
    return [
        both,
        [getattr(c, n) is getattr(tf.nn.rnn_cell, n) for n in both],
        c.static_rnn is tf.nn.static_rnn,
    ]
