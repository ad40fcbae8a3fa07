"""Seeded random operations in the functions of datasets: what begins anew with an iterator, what goes on."""

from kit import cases, raises


def _random(tf, *shape):
    return tf.random_uniform(shape, seed=5)


_DATASETS = {
    "map": lambda tf, n: n(3).map(lambda x: _random(tf)),
    "map twice": lambda tf, n: n(3).map(lambda x: _random(tf)).map(lambda x: x + 10 * _random(tf)),
    "parallel map": lambda tf, n: n(3).map(lambda x: _random(tf), num_parallel_calls=1),
    "graph's seed": lambda tf, n: n(3).map(lambda x: tf.random_normal([2])),
    "other kinds": lambda tf, n: n(3).map(
        lambda x: (
            tf.cast(tf.random_shuffle(tf.range(4), seed=5), tf.float32)
            + tf.truncated_normal([4], seed=6)
            + tf.cast(tf.multinomial([[0.0, 0.0, 0.0]], 4, seed=7)[0], tf.float32)
            + tf.random_poisson(3.0, [4], seed=8)
        )
    ),
    "filter": lambda tf, n: n(8).filter(lambda x: _random(tf) > 0.5),
    "take_while": lambda tf, n: n(8).apply(tf.data.experimental.take_while(lambda x: _random(tf) < 0.7)),
    "flat_map": lambda tf, n: n(2).flat_map(lambda x: tf.data.Dataset.from_tensors(_random(tf)).repeat(2)),
    "map in flat_map": lambda tf, n: n(2).flat_map(lambda x: n(2).map(lambda y: _random(tf))),
    "map in interleave": lambda tf, n: n(2).interleave(lambda x: n(2).map(lambda y: _random(tf)), 2),
    "repeat": lambda tf, n: n(2).map(lambda x: _random(tf)).repeat(2),
    "batch": lambda tf, n: n(4).map(lambda x: _random(tf)).batch(3),
    "cache": lambda tf, n: n(3).map(lambda x: _random(tf)).cache().repeat(2),
    "scan": lambda tf, n: n(3).apply(
        tf.data.experimental.scan(0.0, lambda s, x: (s + _random(tf), s + _random(tf)))
    ),
    "reduce": lambda tf, n: n(2).map(lambda x: n(3).reduce(0.0, lambda s, y: s + _random(tf))),
    "groups": lambda tf, n: n(4).apply(
        tf.data.experimental.group_by_window(
            lambda x: x % 2, lambda k, d: d.map(lambda x: _random(tf)).batch(2), 2
        )
    ),
    "cond": lambda tf, n: n(4).map(lambda x: tf.cond(x > 1, lambda: _random(tf), lambda: -_random(tf))),
    "shuffle": lambda tf, n: n(5).shuffle(5, seed=3),
    "shuffle once": lambda tf, n: n(5).shuffle(5, seed=3, reshuffle_each_iteration=False).repeat(2),
    "sample": lambda tf, n: tf.data.experimental.sample_from_datasets([n(3), n(4)], [0.5, 0.5], seed=7),
}


def _all_of(tf, session, following):
    found = []
    while True:
        try:
            found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found


@cases({key: (key,) for key in _DATASETS})
def initialized_again(tf, np, key):
    tf.set_random_seed(11)
    iterator = tf.data.make_initializable_iterator(_DATASETS[key](tf, tf.data.Dataset.range))
    following = iterator.get_next()
    with tf.Session() as session:
        out = []
        for _ in range(3):
            session.run(iterator.initializer)
            out.append(_all_of(tf, session, following))
        session.run(iterator.initializer)
        session.run(following)
        session.run(iterator.initializer)  # in the middle of a pass
        return out + [session.run(following)]


def two_iterators_of_one_dataset(tf, np):
    dataset = tf.data.Dataset.range(4).map(lambda x: _random(tf))
    one, two = (tf.data.make_initializable_iterator(dataset) for _ in range(2))
    once = tf.data.make_one_shot_iterator(dataset).get_next()
    a, b = one.get_next(), two.get_next()
    with tf.Session() as session:
        session.run([one.initializer, two.initializer])
        out = [session.run(a), session.run(a), session.run(b), session.run(once)]
        session.run(two.initializer)
        return out + [session.run(a), session.run(b), session.run(once), session.run(once)]


def iterators_of_sessions(tf, np):
    iterator = tf.data.Iterator.from_structure(tf.float32, [])
    first = iterator.make_initializer(tf.data.Dataset.range(3).map(lambda x: _random(tf)))
    second = iterator.make_initializer(tf.data.Dataset.range(3).map(lambda x: -_random(tf)))
    following, out = iterator.get_next(), []
    for _ in range(2):
        with tf.Session() as session:
            for initializer in (first, second, first):
                session.run(initializer)
                out.append([session.run(following) for _ in range(2)])
            out.append([session.run(following), raises(session.run, following)])
    return out
