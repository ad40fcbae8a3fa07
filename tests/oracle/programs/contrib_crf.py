"""tf.contrib.crf: scores, likelihoods and decoding of linear chains."""

from kit import cases, graph, names, normal, product, raises, run, upstream


def _fed(tf, np, batch, time, tags, known, integers="int32"):
    inputs = normal(np, batch, time, tags).astype("float32")
    chosen = np.random.RandomState(3).randint(0, tags, [batch, time]).astype(integers)
    lengths = np.array([time, max(time - 1, 0), 0, 1][:batch], "int32")
    transitions = normal(np, tags, tags).astype("float32")
    shapes = {
        "known": [[batch, time, tags], [batch, time], [batch]],
        "open": [[None, None, tags], [None, None], [None]],
    }[known]
    x, t, n = [tf.placeholder(d, s) for d, s in zip(("float32", integers, "int32"), shapes)]
    return (x, t, n, tf.constant(transitions)), {x: inputs, t: chosen, n: lengths}


_ROWS = product([1, 2, 4], ["known", "open"], ["int32", "int64"])


@cases(*_ROWS)
def scores(tf, np, time, known, integers):
    (x, t, n, p), feeds = _fed(tf, np, 4, time, 3, known, integers)
    crf = tf.contrib.crf
    made = [crf.crf_sequence_score(x, t, n, p), crf.crf_unary_score(t, n, x), crf.crf_log_norm(x, n, p)]
    if time > 1:
        made.append(crf.crf_binary_score(t, n, p))
    likelihood, same = crf.crf_log_likelihood(x, t, n, p)
    slopes = tf.gradients(tf.reduce_sum(likelihood * upstream(np, [4]).astype("float32")), [x, p])
    present = [s for s in slopes if s is not None]
    return [made, likelihood, same is p, run(tf, [made, likelihood, present], feeds)]


@cases(*product([1, 2, 4], ["known", "open"]))
def graphs(tf, np, time, known):
    (x, t, n, p), _ = _fed(tf, np, 4, time, 3, known)
    with tf.variable_scope("model"):
        tf.contrib.crf.crf_log_likelihood(x, t, n)
        tf.contrib.crf.crf_decode(x, p, n)
    found = [(v.name, v.shape.as_list()) for v in tf.global_variables()]
    return [found, graph(tf, attrs=["T", "dtype", "seq_dim"]) if known == "known" else sorted(names(tf))]


@cases(*product([1, 2, 4], ["known", "open"]))
def decoding(tf, np, time, known):
    (x, _, n, p), feeds = _fed(tf, np, 4, time, 3, known)
    made = tf.contrib.crf.crf_decode(x, p, n)
    return [made, run(tf, made, feeds)]


@cases(*product([1, 3], ["known", "open"]))
def many_tags(tf, np, time, known):
    (x, _, n, p), feeds = _fed(tf, np, 4, time, 3, known)
    allowed = np.random.RandomState(5).uniform(size=[4, time, 3]) < 0.5
    allowed[..., 0] = True
    made = tf.contrib.crf.crf_multitag_sequence_score(x, tf.constant(allowed), n, p)
    return [made, run(tf, made, feeds)]


def viterbi(tf, np):
    rows = [tf.contrib.crf.viterbi_decode(normal(np, time, 4), normal(np, 4, 4)) for time in (1, 2, 5)]
    return [([int(tag) for tag in tags], score) for tags, score in rows]


def cells(tf, np):
    crf = tf.contrib.crf
    p = tf.constant(normal(np, 3, 3).astype("float32"))
    x, state = (
        tf.constant(normal(np, 2, 3).astype("float32")),
        tf.constant(normal(np, 3, 2).T.astype("float32")),
    )
    forward, decode, back = (
        crf.CrfForwardRnnCell(p),
        crf.CrfDecodeForwardRnnCell(p),
        crf.CrfDecodeBackwardRnnCell(3),
    )
    made = [
        forward(x, state),
        decode(x, state),
        back(tf.constant([[0, 2, 1], [1, 1, 0]]), tf.constant([[1], [2]])),
    ]
    sizes = [(c.state_size, c.output_size) for c in (forward, decode, back)]
    return [made, sizes, run(tf, made)]


def refused(tf, np):
    crf = tf.contrib.crf
    n = tf.constant([2, 2])
    return [
        raises(crf.crf_log_likelihood, tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32), n),
        raises(crf.crf_sequence_score, tf.zeros([2, 3, 4]), tf.zeros([3, 3], tf.int32), n, tf.zeros([4, 4])),
        raises(crf.crf_decode, tf.zeros([2, 3, 4]), tf.zeros([5, 5]), n),
    ]
