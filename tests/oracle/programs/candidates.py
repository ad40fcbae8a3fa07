"""Candidate samplers, and the losses that are made with them."""

from kit import Close, cases, graph, names, normal, product, raises


def _runs(tf, tensors, times=3, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [list(session.run(tensors, feeds)) for _ in range(times)]


_TRUE = [[1, 2], [3, 4], [0, 9]]
_RANGED = ["uniform", "log_uniform", "learned_unigram"]


def _ranged(tf, name, classes, sampled, unique, range_max, seed=1):
    make = getattr(tf.random, name + "_candidate_sampler")
    return make(classes, len(classes[0]), sampled, unique, range_max, seed=seed)


@cases(*product(_RANGED, [True, False], [1, 5, 10], [10, 16, 1000]))
def ranged(tf, np, name, unique, sampled, range_max):
    made = _ranged(tf, name, _TRUE, sampled, unique, range_max)
    return [list(made), _runs(tf, made)]


@cases(*product(_RANGED, [3, 99999]))
def seeds(tf, np, name, seed):
    tf.set_random_seed(seed)
    made = [_ranged(tf, name, _TRUE, 4, True, 20, s) for s in (None, None, 7)]
    return _runs(tf, [x for sample in made for x in sample])


@cases(*product(_RANGED, [True, False]))
def many(tf, np, name, unique):
    made = _ranged(tf, name, [[5], [70000]], 600, unique, 100000)
    return _runs(tf, made, 2)


@cases(*product([True, False], [2, 5]))
def all_classes(tf, np, unique, sampled):
    made = tf.random.all_candidate_sampler(_TRUE, 2, sampled, unique, seed=1)
    return [list(made), _runs(tf, made, 2)]


@cases(*product([True, False], [1.0, 0.75, 0.0], [[1.0, 2.0, 3.0, 4.0, 5.0], [7.0, 0.0, 1e-3, 2.0, 2.0]]))
def fixed(tf, np, unique, distortion, unigrams):
    made = tf.random.fixed_unigram_candidate_sampler(
        [[1], [4]], 1, 3, unique, 5, distortion=distortion, unigrams=unigrams, seed=3
    )
    return [list(made), _runs(tf, made)]


@cases(*product([0, 1, 2, 3], [(1, 0), (2, 0), (2, 1), (3, 1)]))
def fixed_with_shards(tf, np, reserved, shards):
    total, shard = shards
    mine = len([i for i in range(reserved) if i % total == shard])
    mine += len([i for i in range(mine, mine + 12) if i % total == shard])
    made = tf.random.fixed_unigram_candidate_sampler(
        [list(range(mine))],
        mine,
        3,
        False,
        mine,
        num_reserved_ids=reserved,
        num_shards=total,
        shard=shard,
        unigrams=[float(i) for i in range(1, 13)],
        seed=3,
    )
    return _runs(tf, made)


def fixed_of_a_file(tf, np):
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
        file.write("the,10\na,7\nof,x,4\n3\n")
    made = tf.random.fixed_unigram_candidate_sampler([[1], [3]], 1, 3, True, 4, file.name, seed=3)
    return _runs(tf, made)


def fixed_with_many_classes(tf, np):
    unigrams = (1.0 + np.arange(3000) % 37).tolist()
    made = tf.random.fixed_unigram_candidate_sampler([[1]], 1, 500, False, 3000, unigrams=unigrams, seed=3)
    return _runs(tf, made, 2)


def thread_unsafe(tf, np):
    made = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(
        true_classes=np.array(_TRUE), num_true=2, num_sampled=5, unique=True, range_max=10, seed=1, seed2=5
    )
    return _runs(tf, made)


def samplers_of_the_unknown(tf, np):
    classes = tf.placeholder(tf.int64, [None, 2])
    made = tf.nn.uniform_candidate_sampler(classes, 2, 4, True, 9, seed=4)
    return [list(made), _runs(tf, made, 2, {classes: _TRUE})]


def refusals(tf, np):
    uniform, fixed_sampler = tf.nn.uniform_candidate_sampler, tf.nn.fixed_unigram_candidate_sampler
    return [
        raises(uniform, [1, 2], 2, 3, True, 10),
        raises(uniform, _TRUE, 0, 3, True, 10),
        raises(uniform, _TRUE, 2, 0, True, 10),
        raises(uniform, _TRUE, 2, 3, True, 0),
        raises(lambda: _runs(tf, uniform(_TRUE, 1, 3, True, 10))),
        raises(lambda: _runs(tf, uniform(_TRUE, 2, 11, True, 10))),
        raises(lambda: _runs(tf, fixed_sampler(_TRUE, 2, 3, True, 10))),
        raises(lambda: _runs(tf, fixed_sampler(_TRUE, 2, 3, True, 10, "file", unigrams=[1.0]))),
        raises(fixed_sampler, _TRUE, 2, 3, True, 10, num_shards=0),
    ]


@cases(
    {
        "some": ([[1, 2], [3, 4]], [3, 1, 7, 4]),
        "twice": ([[1, 2], [3, 4]], [3, 3, 1, 3]),
        "none": ([[1, 2], [3, 4]], [9]),
        "the same in a row": ([[1, 1], [2, 1]], [1, 2]),
        "of nothing": ([[1, 2]], []),
    }
)
def accidental_hits(tf, np, classes, sampled):
    made = tf.nn.compute_accidental_hits(classes, np.array(sampled, "int64"), 2)
    return [list(made), _runs(tf, made, 1)]


def accidental_refusals(tf, np):
    return [
        raises(tf.nn.compute_accidental_hits, _TRUE, [1], 1),
        raises(tf.nn.compute_accidental_hits, _TRUE, [[1]], 2),
        raises(tf.nn.compute_accidental_hits, [1, 2], [1], 2),
    ]


# -------------------------------------------------------------------------------- losses


def _tables(tf, np, classes, width, parts, resource):
    rows, offsets = normal(np, classes, width), normal(np, classes)
    if parts == 1:
        return (
            tf.Variable(rows.astype("float32"), use_resource=resource, name="w"),
            tf.Variable(offsets.astype("float32"), use_resource=resource, name="b"),
        )
    partitioner = tf.fixed_size_partitioner(parts)
    with tf.variable_scope("tables", partitioner=partitioner, use_resource=resource):
        initial = tf.random_normal_initializer(seed=3)
        return [tf.get_variable(n, x.shape, initializer=initial) for n, x in (("w", rows), ("b", offsets))]


_LOSSES = ["nce_loss", "sampled_softmax_loss"]


@cases(*product(_LOSSES, [1, 2], [True, False], [1, 3], ["mod", "div"]))
def loss(tf, np, name, num_true, remove_hits, parts, strategy):
    weights, biases = _tables(tf, np, 12, 4, parts, False)
    labels = tf.constant((np.arange(5 * num_true).reshape(5, num_true) * 5) % 12)
    inputs = tf.constant(normal(np, 5, 4).astype("float32"))
    sample = tf.random.uniform_candidate_sampler(labels, num_true, 4, True, 12, seed=3)
    losses = getattr(tf.nn, name)(
        weights,
        biases,
        labels,
        inputs,
        4,
        12,
        num_true,
        sampled_values=sample,
        remove_accidental_hits=remove_hits,
        partition_strategy=strategy,
    )
    slopes = tf.gradients(losses, [inputs] + list(weights if parts > 1 else [weights]))
    dense = [tf.convert_to_tensor(slope) for slope in slopes]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [losses, [session.run([losses] + dense)]]


@cases(*product(_LOSSES, [False, True]))
def loss_graph(tf, np, name, resource):
    weights, biases = _tables(tf, np, 12, 4, 1, resource)
    labels = tf.placeholder(tf.int64, [5, 1])
    inputs = tf.placeholder(tf.float32, [5, 4])
    tf.set_random_seed(5)
    losses = getattr(tf.nn, name)(weights, biases, labels, inputs, 3, 12, remove_accidental_hits=True)
    return [losses, names(tf)] if resource else [losses, graph(tf)]


@cases(*_LOSSES)
def loss_gradient_graph(tf, np, name):
    weights, biases = _tables(tf, np, 12, 4, 1, False)
    inputs = tf.placeholder(tf.float32, [5, 4])
    tf.set_random_seed(5)
    losses = getattr(tf.nn, name)(weights, biases, tf.ones([5, 1], "int64"), inputs, 3, 12)
    slopes = tf.gradients(losses, [weights, biases, inputs])
    return [[type(slope).__name__ for slope in slopes], names(tf)]


def softmax_seed(tf, np):
    weights, biases = _tables(tf, np, 30, 4, 1, False)
    labels, inputs = tf.constant([[3], [7]]), tf.constant(normal(np, 2, 4).astype("float32"))
    losses = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 5, 30, seed=11)
    return _runs(tf, [losses])


@cases("int32", "int64")
def label_types(tf, np, dtype):
    weights, biases = _tables(tf, np, 30, 4, 1, False)
    labels, inputs = tf.constant([[3], [7]], dtype), tf.constant(normal(np, 2, 4).astype("float32"))
    losses = tf.nn.nce_loss(weights, biases, labels, inputs, 5, 30, sampled_values=None)
    return losses


def word2vec(tf, np):
    """Fifty steps of skip-grams with negative sampling."""
    tf.set_random_seed(7)
    text = (np.arange(400) * np.arange(400)) % 23
    embeddings = tf.Variable(tf.random_uniform([23, 8], -1.0, 1.0, seed=1))
    weights = tf.Variable(tf.truncated_normal([23, 8], stddev=0.3, seed=2))
    biases = tf.Variable(tf.zeros([23]))
    words, contexts = tf.placeholder(tf.int32, [16]), tf.placeholder(tf.int32, [16, 1])
    embedded = tf.nn.embedding_lookup(embeddings, words)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, contexts, embedded, 6, 23))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(50):
            begin = (step * 7) % 380
            feeds = {words: text[begin : begin + 16], contexts: text[begin + 1 : begin + 17, None]}
            found.append(session.run([loss, train], feeds)[0])
        table = session.run(embeddings)
    return [Close(np.array(found), 1e-3), Close(table, 1e-3, 1e-3)]
