"""Connectionist temporal classification: losses, gradients, decoders."""

from kit import Close, cases, graph, product, raises, run


def _logits(np, seed, steps, batch, classes, scale=1.0, dtype="float32"):
    return (scale * np.random.RandomState(seed).normal(size=[steps, batch, classes])).astype(dtype)


def _sparse(tf, np, rows):
    places = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [label for row in rows for label in row]
    shape = [len(rows), max(map(len, rows))]
    return tf.SparseTensor(np.array(places, np.int64).reshape([-1, 2]), np.array(values, np.int32), shape)


def _labels(np, seed, classes, lengths):
    random = np.random.RandomState(seed)
    return [list(random.randint(0, classes - 1, size=length)) for length in lengths]


def _slope(tf, loss, logits):
    weights = tf.cos(tf.cast(tf.range(tf.size(loss)), loss.dtype))
    return tf.gradients(loss, logits, weights)[0]


_FLAGS = product([False, True], [False, True], [False, True])


@cases(*product(_FLAGS, [0, 1, 2], ["float32", "float64"]))
def losses(tf, np, flags, seed, dtype):
    logits = tf.constant(_logits(np, seed, 9, 4, 5, 2.0, dtype))
    labels = _sparse(tf, np, _labels(np, seed, 5, [1, 4, 3, 4]))
    loss = tf.nn.ctc_loss(labels, logits, [9, 9, 5, 4], *flags)
    return Close(run(tf, [loss, _slope(tf, loss, logits)]), 1e-4, 1e-5)


@cases(*_FLAGS)
def op(tf, np, collapse, merge, ignore):
    labels = _sparse(tf, np, [[1, 1, 2], [3, 3, 3, 0, 1], [2]])
    y = tf.raw_ops.CTCLoss(
        inputs=_logits(np, 3, 7, 3, 6),
        labels_indices=labels.indices,
        labels_values=labels.values,
        sequence_length=[7, 6, 2],
        preprocess_collapse_repeated=collapse,
        ctc_merge_repeated=merge,
        ignore_longer_outputs_than_inputs=ignore,
    )
    return Close(run(tf, list(y)), 1e-4, 1e-5), y._fields


@cases(
    {
        "no time for repeats": ([[1, 1], [3, 3, 3]], [4, 4], {}),
        "no repeats to merge": ([[1, 1], [3, 3, 3]], [4, 4], {"ctc_merge_repeated": False}),
        "longer": ([[1, 1], [3, 2, 3, 1, 2]], [4, 4], {"ignore_longer_outputs_than_inputs": True}),
        "all skipped": ([[1, 1], [3, 2, 3]], [0, 2], {"ignore_longer_outputs_than_inputs": True}),
        "nulls": ([[1, 4], [3, 5, 9]], [4, 3], {}),
        "one step": ([[1], [3]], [1, 1], {}),
        "full": ([[1, 2, 3, 2], [3, 2, 1, 0]], [4, 4], {}),
        "full, not merged": ([[1, 2, 2, 2], [3, 2, 1, 0]], [4, 4], {"ctc_merge_repeated": False}),
    }
)
def unusual(tf, np, rows, lengths, flags):
    logits = tf.constant(_logits(np, 4, 4, 2, 5))
    loss = tf.nn.ctc_loss(_sparse(tf, np, rows), logits, lengths, **flags)
    return Close(run(tf, [loss, tf.gradients(loss, logits)[0]]), 1e-4, 1e-5)


@cases(False, True)
def impossible_classes(tf, np, merge):
    x = _logits(np, 5, 4, 2, 5)
    x[:, 0, 1] = -300
    logits = tf.constant(x)
    loss = tf.nn.ctc_loss(_sparse(tf, np, [[1, 2], [3]]), logits, [4, 4], ctc_merge_repeated=merge)
    return Close(run(tf, [loss, tf.gradients(loss, logits)[0]]), 1e-4, 1e-5)


def batch_major(tf, np):
    logits = tf.constant(_logits(np, 6, 3, 8, 5))
    loss = tf.nn.ctc_loss(_sparse(tf, np, [[1], [2, 3], [0, 0]]), logits, [8, 7, 6], time_major=False)
    return Close(run(tf, [loss, tf.gradients(loss, logits)[0]]), 1e-4, 1e-5)


@cases(
    {
        "longer": ([[1, 1], [3, 2, 3, 1, 2]], [4, 4]),
        "no labels": ([[], [3]], [4, 4]),
        "after null": ([[4, 1], [3]], [4, 4]),
        "negative": ([[-1, 1], [3]], [4, 4]),
        "no time": ([[1], [3]], [0, 4]),
        "more time": ([[1], [3]], [5, 4]),
        "negative time": ([[1], [3]], [-1, 4]),
        "more rows": ([[1], [3], [2]], [4, 4]),
        "fewer rows": ([[1]], [4, 4]),
    }
)
def refused(tf, np, rows, lengths):
    loss = tf.nn.ctc_loss(_sparse(tf, np, rows), _logits(np, 4, 4, 2, 5), lengths)
    return raises(run, tf, loss)


def refused_at_once(tf, np):
    labels, x = _sparse(tf, np, [[1], [2]]), _logits(np, 4, 4, 2, 5)
    call = tf.raw_ops.CTCLoss
    return [
        raises(tf.nn.ctc_loss, tf.zeros([2, 2], tf.int32), x, [4, 4]),
        raises(tf.nn.ctc_loss, labels, x, [4, 4, 4]),
        raises(tf.nn.ctc_loss, labels, x[0], [4, 4]),
        raises(tf.nn.ctc_loss, labels, x, [[4, 4]]),
        raises(call, inputs=x, labels_indices=[[0, 0]], labels_values=[1, 2], sequence_length=[4, 4]),
        raises(tf.nn.ctc_loss_v2, labels, x, [1, 1], [4, 4]),
        raises(tf.nn.ctc_greedy_decoder, x, [4, 4, 4]),
        raises(tf.nn.ctc_beam_search_decoder, x, [4, 4], beam_width=0),
        raises(run, tf, tf.nn.ctc_beam_search_decoder(x, [4, 4], 2, 3)[1]),
    ]


def nodes(tf, np):
    logits = tf.constant(_logits(np, 6, 4, 2, 5))
    loss = tf.nn.ctc_loss(_sparse(tf, np, [[1], [2]]), logits, [4, 4])
    tf.gradients(loss, logits)
    decoded, score = tf.nn.ctc_greedy_decoder(logits, [4, 4])
    paths, scores = tf.nn.ctc_beam_search_decoder(logits, [4, 4], 10, 2)
    return [
        graph(tf, attrs=["merge_repeated", "beam_width"]),
        loss,
        decoded[0].values,
        score,
        paths[1].indices,
        scores,
    ]


def second_derivative(tf, np):
    logits = tf.constant(_logits(np, 6, 4, 2, 5))
    loss = tf.nn.ctc_loss(_sparse(tf, np, [[1], [2]]), logits, [4, 4])
    return raises(tf.gradients, tf.gradients(loss, logits), logits)


@cases(None, [None, 3, None], [7, None, 5])
def static_shapes(tf, np, shape):
    logits, lengths = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32)
    labels = tf.sparse_placeholder(tf.int32)
    decoded, score = tf.nn.ctc_greedy_decoder(logits, lengths)
    paths, scores = tf.nn.ctc_beam_search_decoder(logits, lengths, top_paths=2)
    sparse = [part for path in decoded + paths for part in (path.indices, path.values, path.dense_shape)]
    return [t.shape for t in [tf.nn.ctc_loss(labels, logits, lengths), score, scores] + sparse]


# ---------------------------------------------------------------------------------- version 2


def _loss_and_slope(tf, loss, logits, lengths, batch_axis=1):
    """TensorFlow's gradient of dense labels is not 0 behind a sequence's end: only what is before counts."""
    steps = tf.shape(logits)[1 - batch_axis]
    inside = tf.cast(tf.sequence_mask(lengths, steps), logits.dtype)
    inside = tf.transpose(inside) if batch_axis else inside
    return Close(run(tf, [loss, _slope(tf, loss, logits) * tf.expand_dims(inside, 2)]), 1e-4, 1e-5)


@cases(*product([None, 0, 2, -1], [False, True], ["float32"]))
def dense_labels(tf, np, blank, time_major, dtype):
    x = _logits(np, 8, 7, 3, 5, 1.5, dtype)
    classes = [c for c in range(5) if c != (blank or 0) % 5]
    labels = np.array(classes)[np.random.RandomState(1).randint(0, 4, [3, 3])]
    logits = tf.constant(x if time_major else x.transpose([1, 0, 2]))
    loss = tf.nn.ctc_loss_v2(labels, logits, [3, 1, 2], [7, 4, 6], time_major, blank_index=blank)
    return _loss_and_slope(tf, loss, logits, [7, 4, 6], int(time_major))


def dense_labels_none(tf, np):
    logits = tf.constant(_logits(np, 8, 5, 2, 4))
    loss = tf.nn.ctc_loss_v2(np.array([[1, 2], [0, 0]]), logits, [2, 0], [5, 4])
    return _loss_and_slope(tf, loss, logits, [5, 4])


def dense_labels_with_unique(tf, np):
    logits, labels = tf.constant(_logits(np, 8, 6, 2, 4)), np.array([[1, 2, 1], [3, 3, 0]])
    unique = tf.nn.ctc_unique_labels(labels)
    loss = tf.nn.ctc_loss_v2(labels, logits, [3, 2], [6, 6], unique=unique)
    return Close(run(tf, [loss, _slope(tf, loss, logits)]), 1e-4, 1e-5)


@cases(0, 2, 4, -1, -3)
def sparse_labels(tf, np, blank):
    rows = [[1, 3], [3, 1, 1]]
    logits = tf.constant(_logits(np, 8, 7, 2, 5))
    loss = tf.nn.ctc_loss_v2(_sparse(tf, np, rows), logits, None, [7, 6], blank_index=blank)
    return Close(run(tf, [loss, _slope(tf, loss, logits)]), 1e-4, 1e-5)


@cases(*product([[5, 3, 4], [1, 1, 1], [5, 0, 2]], ["int32", "int64"]))
def collapse_repeated(tf, np, lengths, dtype):
    labels = np.array([[1, 1, 2, 2, 1], [1, 2, 3, 4, 5], [3, 3, 3, 3, 3]], dtype)
    return run(tf, tf.nn.collapse_repeated(labels, tf.constant(lengths, dtype)))


@cases("int32", "int64")
def ctc_unique_labels(tf, np, dtype):
    labels = np.array([[3, 4, 4, 3], [1, 2, 3, 4], [5, 5, 5, 5], [7, 0, 7, 0]], dtype)
    return run(tf, list(tf.nn.ctc_unique_labels(labels)))


# ---------------------------------------------------------------------------------- decoders


def _parts(decoded):
    return [[d.indices, d.values, d.dense_shape] for d in decoded]


@cases(*product([False, True], [0, 1, 2], ["float32", "float64"]))
def greedy(tf, np, merge, seed, dtype):
    x = _logits(np, seed, 12, 3, 4, 2.0, dtype)
    decoded, score = tf.nn.ctc_greedy_decoder(x, [12, 9, 0], merge)
    return run(tf, [_parts(decoded), score])


def greedy_ties(tf, np):
    x = np.round(_logits(np, 3, 12, 3, 4))
    decoded, score = tf.nn.ctc_greedy_decoder(x, [12, 9, 0])
    return run(tf, [_parts(decoded), score])


def greedy_only_blanks(tf, np):
    x = _logits(np, 3, 5, 2, 4)
    x[:, :, 3] = 9
    decoded, score = tf.nn.ctc_greedy_decoder(x, [5, 5])
    return run(tf, [_parts(decoded), score])


_SEARCHES = [(1, 1), (2, 2), (3, 1), (5, 3), (10, 10), (100, 4)]


@cases(*product(_SEARCHES, [(6, 3), (15, 5), (30, 12)], [0.5, 2.0, 5.0], range(4)))
def beam_search(tf, np, search, sizes, scale, seed):
    x = _logits(np, seed, sizes[0], 3, sizes[1], scale)
    decoded, scores = tf.nn.ctc_beam_search_decoder_v2(x, [sizes[0], sizes[0] - 2, 4], *search)
    return run(tf, [_parts(decoded), scores])


@cases(*product([True, False], ["float32", "float64"], range(3)))
def beam_search_merging(tf, np, merge, dtype, seed):
    x = _logits(np, seed, 20, 2, 3, 1.0, dtype)
    decoded, scores = tf.nn.ctc_beam_search_decoder(x, [20, 20], 20, 3, merge)
    return run(tf, [_parts(decoded), scores])


def beam_search_of_nothing(tf, np):
    decoded, scores = tf.nn.ctc_beam_search_decoder(_logits(np, 1, 5, 2, 4), [0, 5], 20, 1)
    return run(tf, [_parts(decoded), scores])


def beam_search_with_too_few_beams(tf, np):
    return raises(run, tf, tf.nn.ctc_beam_search_decoder(_logits(np, 1, 5, 2, 4), [0, 5], 20, 3)[1])


@cases(*product(["greedy", "beam_search"], [(5, 0), (0, 2), (0, 0)]))
def decoding_of_nothing(tf, np, which, sizes):
    steps, batch = sizes
    decode = getattr(tf.nn, "ctc_%s_decoder" % which)
    decoded, scores = decode(tf.zeros([steps, batch, 4]), tf.zeros([batch], tf.int32))
    fetches = [_parts(decoded), scores]
    return run(tf, fetches) if steps else raises(run, tf, fetches)
