"""tf.contrib.legacy_seq2seq: decoders, models, losses, buckets."""

from kit import Close, cases, names, normal, product, raises, run


def _fill(np):
    """An initializer whose values are the same in every engine."""

    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return (0.6 * values).astype(dtype.as_numpy_dtype)

    return initial


_CELLS = {
    "gru": lambda c: c.GRUCell(2),
    "lstm": lambda c: c.BasicLSTMCell(2),
    "two": lambda c: c.MultiRNNCell([c.GRUCell(2), c.GRUCell(2)]),
}


def _symbols(tf, np, steps, known=True):
    values = np.random.RandomState(steps).randint(0, 4, [steps, 2]).astype("int32")
    if known:
        return [tf.constant(each) for each in values]
    return [tf.placeholder_with_default(each, [None]) for each in values]


def _vectors(tf, np, steps):
    return [tf.constant(normal(np, 2, 2 + i)[:, :2].astype("float32")) for i in range(steps)]


def _checked(tf, np, results):
    flat = tf.nest.flatten(results)
    loss = sum(tf.reduce_sum(tf.square(t)) for t in flat)
    slopes = tf.gradients(loss, tf.trainable_variables())
    present = [tf.convert_to_tensor(s) for s in slopes if s is not None]
    return [
        [(t.dtype.name, t.shape) for t in flat],
        Close(run(tf, [flat, present]), 2e-4, 2e-5),
        [s is None for s in slopes],
        [(v.name, v.shape.as_list()) for v in tf.global_variables()],
        sorted(names(tf)),
    ]


def _back(tf, feed_previous):
    if feed_previous == "tensor":
        return tf.placeholder_with_default(True, [])
    if feed_previous == "false tensor":
        return tf.constant(False)
    return feed_previous


_BACK = [False, True, "tensor", "false tensor"]


@cases("gru", "lstm", "two")
def basic(tf, np, cell):
    with tf.variable_scope("root", initializer=_fill(np)):
        made = tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(
            _vectors(tf, np, 2), _vectors(tf, np, 3), _CELLS[cell](tf.nn.rnn_cell)
        )
    return _checked(tf, np, made)


@cases("gru", "lstm", "two")
def tied(tf, np, cell):
    with tf.variable_scope("root", initializer=_fill(np)):
        made = tf.contrib.legacy_seq2seq.tied_rnn_seq2seq(
            _vectors(tf, np, 2), _vectors(tf, np, 3), _CELLS[cell](tf.nn.rnn_cell)
        )
    return _checked(tf, np, made)


def decoder(tf, np):
    with tf.variable_scope("root", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.GRUCell(2)
        state = cell.zero_state(2, tf.float32)
        seen = []
        made = tf.contrib.legacy_seq2seq.rnn_decoder(
            _vectors(tf, np, 3), state, cell, lambda output, i: seen.append(i) or output * 2.0, scope="mine"
        )
    return [seen, _checked(tf, np, made)]


@cases(*product(["gru", "lstm"], _BACK, [False, True]))
def embedding(tf, np, cell, back, projected):
    with tf.variable_scope("root", initializer=_fill(np)):
        projection = None
        if projected:
            projection = (tf.get_variable("w", [2, 4]), tf.get_variable("b", [4]))
        made = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
            _symbols(tf, np, 2),
            _symbols(tf, np, 3),
            _CELLS[cell](tf.nn.rnn_cell),
            4,
            4,
            embedding_size=2,
            output_projection=projection,
            feed_previous=_back(tf, back),
        )
    return _checked(tf, np, made)


@cases(*product(["gru", "lstm"], [False, True, "false tensor"], [None, 3]))
def embedding_tied(tf, np, cell, back, made_symbols):
    with tf.variable_scope("root", initializer=_fill(np)):
        made = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
            _symbols(tf, np, 2),
            _symbols(tf, np, 3),
            _CELLS[cell](tf.nn.rnn_cell),
            4,
            embedding_size=2,
            num_decoder_symbols=made_symbols,
            feed_previous=_back(tf, back),
        )
    return [[t.shape for t in tf.nest.flatten(made)], _checked(tf, np, made)[1:4]]


@cases(*product(["gru", "lstm"], _BACK, [1, 2], [False, True]))
def attention(tf, np, cell, back, heads, at_once):
    with tf.variable_scope("root", initializer=_fill(np)):
        made = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
            _symbols(tf, np, 3, known=heads == 1),
            _symbols(tf, np, 2, known=heads == 1),
            _CELLS[cell](tf.nn.rnn_cell),
            4,
            4,
            embedding_size=2,
            num_heads=heads,
            feed_previous=_back(tf, back),
            initial_state_attention=at_once,
        )
    return _checked(tf, np, made)


@cases(*product([None, 3], [1, 2], [None, "float64"]))
def attending(tf, np, size, heads, dtype):
    with tf.variable_scope("root", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.GRUCell(2)
        states = tf.constant(normal(np, 2, 4, 3), dtype or "float32")
        made = tf.contrib.legacy_seq2seq.attention_decoder(
            [tf.cast(v, dtype or "float32") for v in _vectors(tf, np, 3)],
            tf.zeros([2, 2], dtype or "float32"),
            states,
            cell,
            output_size=size,
            num_heads=heads,
            dtype=dtype,
        )
    return _checked(tf, np, made)


@cases(False, True, "tensor")
def one_to_many(tf, np, back):
    c = tf.nn.rnn_cell
    with tf.variable_scope("root", initializer=_fill(np)):
        made = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
            _symbols(tf, np, 2),
            {"0": _symbols(tf, np, 3), "1": _symbols(tf, np, 2)},
            c.BasicLSTMCell(2),
            {"0": c.BasicLSTMCell(2), "1": c.BasicLSTMCell(2)},
            4,
            {"0": 4, "1": 5},
            embedding_size=2,
            feed_previous=_back(tf, back),
        )
    return _checked(tf, np, made)


def _lists(tf, np):
    logits = [tf.constant(normal(np, 2, 4 + i)[:, :4].astype("float32")) for i in range(3)]
    weights = [tf.constant(w, tf.float32) for w in ([1, 0.5], [0, 0], [2, 0])]
    return logits, _symbols(tf, np, 3), weights


@cases(*product([False, True], [False, True], [False, True]))
def losses(tf, np, over_time, over_batch, own):
    s = tf.contrib.legacy_seq2seq
    function = (
        (lambda labels, logits: tf.reduce_sum(logits, 1) * tf.cast(labels, tf.float32)) if own else None
    )
    made = [
        s.sequence_loss(*_lists(tf, np), over_time, over_batch, softmax_loss_function=function),
        s.sequence_loss_by_example(*_lists(tf, np), over_time, softmax_loss_function=function, name="mine"),
    ]
    return [made, run(tf, made), names(tf)]


@cases(False, True)
def buckets(tf, np, by_example):
    s = tf.contrib.legacy_seq2seq

    def model(sources, inputs):
        cell = tf.nn.rnn_cell.GRUCell(2)
        return s.embedding_rnn_seq2seq(sources, inputs, cell, 4, 4, 2)

    with tf.variable_scope("root", initializer=_fill(np)):
        outputs, made = s.model_with_buckets(
            _symbols(tf, np, 4),
            _symbols(tf, np, 4),
            _symbols(tf, np, 4),
            [tf.ones([2]) for _ in range(4)],
            [(2, 2), (4, 3)],
            model,
            per_example_loss=by_example,
        )
    return [[len(o) for o in outputs], _checked(tf, np, made)]


def refused(tf, np):
    s, c = tf.contrib.legacy_seq2seq, tf.nn.rnn_cell
    x, y = _vectors(tf, np, 2), _symbols(tf, np, 2)
    states, state = tf.zeros([2, 4, 3]), tf.zeros([2, 2])
    wide = tf.placeholder(tf.float32, [2, None])
    return [
        raises(s.sequence_loss, x, y, [tf.ones([2])]),
        raises(s.attention_decoder, [], state, states, c.GRUCell(2)),
        raises(s.attention_decoder, x, state, states, c.GRUCell(2), num_heads=0),
        raises(s.attention_decoder, x, state, tf.placeholder(tf.float32, [2, 4, None]), c.GRUCell(2)),
        raises(s.attention_decoder, [wide], state, states, c.GRUCell(2)),
        raises(s.one2many_rnn_seq2seq, y, {"a": y}, 3, {"a": c.GRUCell(2)}, 4, {"a": 4}, 2),
        raises(s.one2many_rnn_seq2seq, y, {"a": y}, c.GRUCell(2), {"b": c.GRUCell(2)}, 4, {"a": 4}, 2),
        raises(s.one2many_rnn_seq2seq, y, {"a": y}, c.GRUCell(2), {"a": 3}, 4, {"a": 4}, 2),
        raises(s.model_with_buckets, y, y, y, x, [(3, 2)], None),
        raises(s.model_with_buckets, y, y, y, x, [(2, 3)], None),
        raises(s.embedding_rnn_decoder, y, state, c.GRUCell(2), 4, 2, (tf.zeros([2, 3]), tf.zeros([3]))),
        raises(
            s.embedding_attention_decoder, y, state, states, c.GRUCell(2), 4, 2, output_projection=(0, [1.0])
        ),
    ]
