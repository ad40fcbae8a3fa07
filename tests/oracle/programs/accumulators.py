"""Conditional accumulators: means and sums of gradients, staleness, and what they refuse."""

from kit import cases, graph, names, product, raises


@cases(
    *product(["float32", "float64", "float16"], ["MEAN", "SUM"], [(), (3,), (2, 2), (0, 3)], [True, False])
)
def dense(tf, np, dtype, reduction, shape, known):
    accumulator = tf.ConditionalAccumulator(
        tf.as_dtype(dtype), shape=shape if known else None, reduction_type=reduction
    )
    gradient, step = tf.placeholder(dtype, shape), tf.placeholder(tf.int64, [])
    apply, take = accumulator.apply_grad(gradient, step), accumulator.take_grad(2)
    count = accumulator.num_accumulated()
    found = []
    with tf.Session() as session:
        for turn in range(3):
            for number, local in enumerate([turn, 0, turn + 5]):
                value = np.full(shape, number + turn + 0.5, dtype)
                session.run(apply, {gradient: value, step: local})
                found.append(session.run(count))
            found.append(session.run(take))
        found.append(session.run(count))
    return [found, take, count, names(tf)]


@cases(*product(["MEAN", "SUM"], [None, (5, 2), (None, 2), (None, None)], [None, (5, 2)]))
def sparse(tf, np, reduction, shape, given):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=shape, reduction_type=reduction)
    indices, values = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 2])
    apply = accumulator.apply_grad(indices, values, given, local_step=0)
    take = accumulator.take_grad(1)
    found = []
    with tf.Session() as session:
        for rows in ([0, 2], [1, 2, 4], [2], [0, 1, 2, 3, 4]):
            data = np.arange(len(rows) * 2, dtype=np.float32).reshape([-1, 2]) + len(rows)
            session.run(apply, {indices: rows, values: data})
            found.append(session.run(accumulator.num_accumulated()))
        found.append(list(session.run(take)))
        session.run(accumulator.set_global_step(0))
        session.run(apply, {indices: [3, 4], values: [[1.0, 2.0], [3.0, 4.0]]})
        found.append(list(session.run(take)))
    return [found, list(take)]


@cases(*product(["MEAN", "SUM"], [1, 3, 7], [0, 1, 2, 3]))
def random_rows(tf, np, reduction, count, seed):
    rng = np.random.RandomState(seed)
    accumulator = tf.sparse.SparseConditionalAccumulator(tf.float64, shape=[20, 3], reduction_type=reduction)
    indices, values = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float64, [None, 3])
    apply = accumulator.apply_grad(indices, values)
    take = accumulator.take_indexed_slices_grad(count)
    with tf.Session() as session:
        for _ in range(count):
            rows = np.sort(rng.permutation(20)[: rng.randint(1, 12)])
            session.run(apply, {indices: rows, values: rng.randint(-50, 50, [len(rows), 3]).astype(float)})
        return [session.run(take), take.values, take.indices, take.dense_shape]


def slices(tf, np):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2], name="acc")
    gradient = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]), tf.constant([4, 2]))
    apply = accumulator.apply_indexed_slices_grad(gradient, local_step=tf.constant(0))
    again = accumulator.apply_indexed_slices_grad(gradient, local_step=2, name="again")
    take = accumulator.take_indexed_slices_grad(2, name="taken")
    with tf.Session() as session:
        session.run([apply])
        session.run([again])
        return [
            session.run(take),
            accumulator.name,
            accumulator.dtype,
            accumulator.accumulator_ref,
            graph(tf),
        ]


def nodes(tf, np):
    with tf.name_scope("outer"):
        accumulator = tf.ConditionalAccumulator(tf.float32, [2], shared_name="shared", reduction_type="SUM")
        accumulator.apply_grad([1.0, 2.0])
        accumulator.apply_grad([1.0, 2.0], local_step=tf.constant(3), name="applied")
        accumulator.set_global_step(7)
        accumulator.set_global_step(tf.constant(7), name="set")
        accumulator.num_accumulated()
        taken = accumulator.take_grad(2)
    return [taken, accumulator.name, accumulator.dtype, accumulator.accumulator_ref, graph(tf)]


def steps(tf, np):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    step, value = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [])
    apply, move = accumulator.apply_grad(value, step), accumulator.set_global_step(step)
    count, take = accumulator.num_accumulated(), accumulator.take_grad(1)
    found = []
    with tf.Session() as session:
        for number, local in enumerate([0, 5, -1, 3]):
            session.run(apply, {step: local, value: number})
            found.append(session.run(count))
        session.run(move, {step: 4})
        for number, local in enumerate([3, 4, 5]):
            session.run(apply, {step: local, value: number})
            found.append(session.run(count))
        found.append(session.run(take))
        session.run(apply, {step: 4, value: 9.0})
        found.append(session.run(count))
        session.run(move, {step: 1})
        session.run(apply, {step: 1, value: 9.0})
        found.append([session.run(count), session.run(take)])
    return found


def sums_of_all(tf, np):
    accumulator = tf.ConditionalAccumulator(tf.float32, [2])
    applied = [accumulator.apply_grad([float(i), 1.0]) for i in range(10)]
    take = accumulator.take_grad(10)
    with tf.Session() as session:
        session.run(applied)
        return session.run(take)


def together(tf, np):
    """One step applies and takes: the take waits for what the same step brings."""
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    applied = [accumulator.apply_grad(float(i)) for i in range(3)]
    take = accumulator.take_grad(3)
    with tf.Session() as session:
        return session.run([take] + applied)[0]


def refusals(tf, np):
    accumulator = tf.ConditionalAccumulator(tf.float32, [2])
    loose = tf.ConditionalAccumulator(tf.float32)
    value = tf.placeholder(tf.float32)
    with tf.Session() as session:

        def ran(op, feeds=None):
            return raises(session.run, op, feeds)

        apply, apply_loose = accumulator.apply_grad(value), loose.apply_grad(value)
        session.run(apply_loose, {value: [1.0, 2.0]})
        return [
            raises(accumulator.apply_grad, [1.0, 2.0, 3.0]),
            raises(accumulator.apply_grad, ["a", "b"]),
            raises(accumulator.apply_grad, [1.0, 2.0], [1, 2]),
            raises(accumulator.take_grad, [1]),
            raises(tf.ConditionalAccumulator, tf.string),
            raises(tf.ConditionalAccumulator, tf.float32, reduction_type="MAX"),
            ran(apply, {value: [1.0]}),
            ran(apply, {value: [[1.0, 2.0]]}),
            ran(apply_loose, {value: [1.0]}),
            ran(apply_loose, {value: 3.0}),
            ran(accumulator.take_grad(0)),
            ran(accumulator.take_grad(-2)),
            session.run([accumulator.num_accumulated(), loose.num_accumulated()]),
        ]


def sparse_refusals(tf, np):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [3, 2])
    indices, values = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    shape = tf.placeholder(tf.int64)
    plain = accumulator.apply_grad(indices, values)
    shaped = accumulator.apply_grad(indices, values, shape)
    with tf.Session() as session:

        def tried(rows, data, sizes=None):
            feeds = {indices: rows, values: data}
            if sizes is None:
                return raises(session.run, plain, feeds)
            feeds[shape] = sizes
            return raises(session.run, shaped, feeds)

        return [
            tried([[0]], [[1.0, 2.0]]),
            tried(0, [[1.0, 2.0]]),
            tried([0], 1.0),
            tried([0, 1], [[1.0, 2.0]]),
            tried([0], [[1.0, 2.0, 3.0]]),
            tried([0], [[1.0, 2.0]], [4, 2]),
            tried([0], [[1.0, 2.0]], [3, 3]),
            tried([0], [[1.0, 2.0]], [3, 2]),
            raises(session.run, accumulator.take_grad(0)),
            session.run(accumulator.num_accumulated()),
        ]


def shared_names(tf, np):
    first = tf.ConditionalAccumulator(tf.float32, [2], shared_name="one")
    second = tf.ConditionalAccumulator(tf.float32, [2], shared_name="one")
    with tf.Session() as session:
        session.run(first.apply_grad([1.0, 2.0]))
        return session.run(second.take_grad(1))
