"""What a step refuses, and in which words: variables without a value, predicates, sparse shapes, parts of
strings, Python functions.
"""

from kit import cases, graph, names, raises, run

# ---------------------------------------------------------------------------------- variables without a value


def _sparse(tf):
    return tf.IndexedSlices(tf.ones([1]), tf.constant([0]), tf.constant([2]))


@cases(
    {
        "read": lambda tf, v: v.read_value(),
        "slice": lambda tf, v: v[0:1],
        "add": lambda tf, v: v.assign_add([1.0, 1.0]),
        "scatter": lambda tf, v: tf.scatter_add(v, [0], [1.0]),
        "scatter_nd": lambda tf, v: tf.scatter_nd_update(v, [[0]], [1.0]),
        "slice assigned": lambda tf, v: v[0:1].assign([1.0]),
        "gather": lambda tf, v: tf.gather(v, [0]),
        "gather_nd": lambda tf, v: tf.gather_nd(v, [[0]]),
        "shape": lambda tf, v: tf.raw_ops.VariableShape(input=v.handle),
        "descent": lambda tf, v: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.ones([2]), v)]),
        "momentum": lambda tf, v: tf.train.MomentumOptimizer(0.1, 0.9).apply_gradients([(tf.ones([2]), v)]),
        "sparse": lambda tf, v: tf.train.AdagradOptimizer(0.1).apply_gradients([(_sparse(tf), v)]),
    }
)
def without_a_value(tf, np, use):
    v = tf.get_variable("v", [2], use_resource=True)
    tf.get_variable("other", [2], use_resource=True)
    step = use(tf, v)
    with tf.Session() as session:
        session.run([other.initializer for other in tf.global_variables() if other is not v])
        return raises(session.run, step)


# ---------------------------------------------------------------------------------- conditionals


@cases({"scalar": (True,), "of one": ([True],), "of two": ([True, False],), "of none": ([],)})
def predicate(tf, np, value):
    p = tf.placeholder(tf.bool)
    steps = [
        tf.cond(p, lambda: 1, lambda: 2),
        tf.while_loop(lambda i: tf.logical_and(p, i < 2), lambda i: i + 1, [0]),
    ]
    with tf.Session() as session:
        return [raises(session.run, step, {p: value}) for step in steps]


@cases(True, False)
def switch_case_nodes(tf, np, default):
    x = tf.placeholder_with_default(1, [])
    branches = [lambda: tf.constant(1.0), lambda: tf.constant(2.0), lambda: tf.constant(3.0)]
    chosen = tf.switch_case(x, branches, default=(lambda: tf.constant(9.0)) if default else None)
    return [graph(tf), names(tf), run(tf, chosen)]


def switch_case_values(tf, np):
    x = tf.placeholder(tf.int32, [])
    y = tf.placeholder(tf.float32, [None, 2])
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    r = tf.get_variable("r", [2], use_resource=True, initializer=tf.ones_initializer())
    chosen = tf.switch_case(
        x, {0: lambda: y + 1, 1: lambda: y * v, 2: lambda: y * r * 3}, default=lambda: tf.zeros([1, 2])
    )
    slopes = tf.gradients(chosen, [y, v, r])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = [{x: k, y: [[1.0, 2.0], [3.0, 4.0]]} for k in (-3, 0, 1, 2, 3)]
        return [chosen, [session.run([chosen] + slopes, feed) for feed in feeds]]


def switch_case_in_a_loop(tf, np):
    x = tf.constant(1.5)

    def body(i, a):
        return i + 1, tf.switch_case(i % 3, [lambda: a + x, lambda: a * x, lambda: a - 5])

    last = tf.while_loop(lambda i, a: i < 7, body, [0, x])[1]
    return run(tf, [last, tf.gradients(last, x)[0]])


def switch_case_refused(tf, np):
    def one():
        return tf.constant(1)

    index = tf.constant(0)
    return [
        raises(tf.switch_case, *arguments)
        for arguments in [
            (index, []),
            (0, [one]),
            (index, {0: one, 2: one}),
            (tf.constant(0.0), [one]),
            (index, [one, 3]),
            (index, [one, lambda: 2.0]),
        ]
    ]


# ---------------------------------------------------------------------------------- gathering in batches


@cases({"2": ([2, 3], [2, 1]), "3": ([2, 3, 4], [2, 3, 1]), "less": ([2, 3, 4], [2, 1]), "1": ([4], [2])})
def batch_gather(tf, np, params, indices):
    x = tf.constant(np.arange(np.prod(params), dtype=np.float32).reshape(params))
    taken = tf.batch_gather(x, tf.ones(indices, tf.int64))
    return [graph(tf), run(tf, [taken, tf.gradients(taken, x)[0]])]


@cases({"known": ([2, 3], [2, 1]), "partly": ([None, 4], [None, 2]), "params unknown": (None, [2, 1])})
def batch_gather_nodes(tf, np, params, indices):
    tf.batch_gather(tf.placeholder(tf.float32, params), tf.placeholder(tf.int32, indices))
    return graph(tf)


@cases(1, 2)
def gather_nd_in_batches(tf, np, batch_dims):
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    taken = tf.gather_nd(x, tf.ones([2, 3, 1], tf.int64), batch_dims=batch_dims)
    return [graph(tf), run(tf, taken)]


def gather_gradient_in_batches(tf, np):
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    taken = tf.gather(x, [[0, 2, 1], [1, 1, 1]], batch_dims=1)
    slope = tf.gradients(taken, x)[0]
    return [graph(tf), run(tf, [taken, slope])]


# ---------------------------------------------------------------------------------- sparse tensors, strings


def _open(tf, np, value, dtype):
    return tf.placeholder_with_default(np.array(value, dtype), None)


def _of_step(tf, build):
    """What a step computes, or the error."""
    made = []
    error = raises(lambda: made.append(run(tf, build())))
    return made[0] if made else error


@cases(
    {
        "negative": [-2, 3],
        "two open": [-1, -1],
        "other size": [5],
        "no multiple": [4, -1],
        "nothing": [],
        "zero": [0, -1],
        "right": [3, -1],
    }
)
def sparse_reshape(tf, np, shape):
    def build(given, sizes):
        return tf.sparse_reshape(tf.SparseTensor([[0, 1]], [1.0], given), sizes)

    return [
        _of_step(tf, lambda: build([2, 3], shape)),
        _of_step(tf, lambda: build(_open(tf, np, [2, 3], np.int64), _open(tf, np, shape, np.int64))),
    ]


@cases(
    {
        "index": ([[0, 5]], [2, 3], [2, 3]),
        "negative index": ([[0, 0], [-1, 0]], [2, 3], [2, 3]),
        "size": ([[0, 1]], [2, 4], [2, 3]),
        "rank": ([[0, 1]], [2, 3], [6]),
    }
)
def sparse_and_dense_added(tf, np, indices, shape, dense):
    values = np.ones([len(indices)], np.float32)
    return _of_step(tf, lambda: tf.sparse_add(tf.SparseTensor(indices, values, shape), tf.ones(dense)))


@cases(
    {
        "after": ("hello", 9, 1),
        "before": ("hello", -9, 1),
        "second": (["abc", "b"], [2, 2], [1, 1]),
        "matrix": ([["a", "bb"]], [[0, 5]], [[1, 1]]),
        "sizes": (["a", "b"], [1, 2, 3], [1, 2, 3]),
    }
)
def substr(tf, np, text, pos, size):
    given = [_open(tf, np, text, object), _open(tf, np, pos, np.int32), _open(tf, np, size, np.int32)]
    return [
        _of_step(tf, lambda: tf.strings.substr(*arguments, unit=unit))
        for unit in ("BYTE", "UTF8_CHAR")
        for arguments in ((text, pos, size), given)
    ]


# ---------------------------------------------------------------------------------- Python functions


@cases(
    {
        "out of range": lambda tf: tf.errors.OutOfRangeError(None, None, "the end"),
        "invalid": lambda tf: tf.errors.InvalidArgumentError(None, None, "bad"),
        "cancelled": lambda tf: tf.errors.CancelledError(None, None, "stopped"),
        "ValueError": lambda tf: ValueError("v"),
        "StopIteration": lambda tf: StopIteration(),
        "KeyError": lambda tf: KeyError("v"),
        "MemoryError": lambda tf: MemoryError("v"),
        "NotImplementedError": lambda tf: NotImplementedError("v"),
    }
)
def python_function(tf, np, make):
    def function():
        raise make(tf)

    calls = [call(function, [], tf.float32) for call in (tf.py_func, tf.py_function, tf.numpy_function)]
    with tf.Session() as session:
        return [raises(session.run, call) for call in calls]


# ---------------------------------------------------------------------------------- maxima beside NaN


def _with_nan(np, shape):
    x = np.random.RandomState(0).normal(size=shape).astype(np.float32)
    x.reshape(-1)[[0, 5, 7, 13]] = np.nan
    return x


@cases({"1": ([1, 3, 3, 3, 1], 2, 1, "VALID"), "2": ([1, 4, 4, 4, 2], 2, 2, "SAME")})
def max_pool3d_beside_nan(tf, np, shape, size, stride, padding):
    x = tf.constant(_with_nan(np, shape))
    y = tf.nn.max_pool3d(x, [1, size, size, size, 1], [1, stride, stride, stride, 1], padding)
    z = tf.placeholder_with_default(tf.ones(y.shape), y.shape)
    slope = tf.gradients(y, x, grad_ys=z)[0]
    return run(tf, [y, slope, tf.gradients(slope, z)[0]])


@cases({"1": ([1, 5, 5, 1], 2, 1, "VALID"), "2": ([1, 5, 4, 2], 3, 2, "SAME")})
def max_pool_beside_nan(tf, np, shape, size, stride, padding):
    x = tf.constant(_with_nan(np, shape))
    window = [1, size, size, 1], [1, stride, stride, 1], padding
    y, (found, places) = tf.nn.max_pool(x, *window), tf.nn.max_pool_with_argmax(x, *window)
    return run(tf, [y, tf.gradients(y, x)[0], found, places, tf.gradients(found, x)[0]])


# ---------------------------------------------------------------------------------- values that were taken


@cases(True, False)
def fetched_values_stay(tf, np, use_resource):
    v = tf.get_variable("v", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]), use_resource=use_resource)
    views = [
        tf.reshape(v, [4]),
        tf.transpose(v),
        tf.identity(v),
        v[0],
        tf.bitcast(v, tf.int32),
        tf.split(v, 2),
    ]
    changes = [
        v.assign_add(tf.ones([2, 2])),
        tf.scatter_add(v, [0], [[5.0, 5.0]]),
        v.assign(tf.zeros([2, 2])),
    ]
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(views)
        for change in changes:
            session.run(change)
        return found


def values_in_arrays_stay(tf, np):
    v = tf.get_variable("v", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]), use_resource=True)

    def body(i, array):
        array = array.write(i, tf.reshape(v.read_value(), [-1]))
        with tf.control_dependencies([array.flow]):
            change = v.assign_add(tf.ones([2, 2]))
        with tf.control_dependencies([change]):
            return i + 1, array

    rows = tf.while_loop(lambda i, _: i < 4, body, [0, tf.TensorArray(tf.float32, 4)])[1].stack()
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(rows), session.run(rows)]


def values_in_queues_stay(tf, np):
    v = tf.get_variable("v", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0]]), use_resource=True)
    queue = tf.FIFOQueue(3, tf.float32, [[4]])
    put, take, change = queue.enqueue(tf.reshape(v, [4])), queue.dequeue(), v.assign_add(tf.ones([2, 2]))
    with tf.Session() as session:
        for step in (v.initializer, put, change, put, change):
            session.run(step)
        return [session.run(take), session.run(take)]
