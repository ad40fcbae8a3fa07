"""Eager mode: tensors with values, their operators and words, ops of many kinds, variables, errors."""

from kit import Close, cases, normal, raises

EAGER = True


def what_a_tensor_says_of_itself(tf, np):
    x, words = tf.constant([[1.5, -2.0], [3.0, 4.0]]), tf.constant(["a", "b"])
    scalar = tf.constant(3)
    texts = [repr(t).partition("shape")[2] for t in (x, words, scalar, tf.constant("w"), tf.zeros([0, 2]))]
    return [
        texts,
        [str(t) for t in (x, words, scalar, tf.constant(True), tf.constant("w"))],
        (x.shape, x.dtype, x.device, x.ndim, len(x), x.get_shape()),
        (int(scalar), float(scalar), bool(scalar), range(5)[scalar], [float(v) for v in x[0]]),
        (x.numpy(), np.asarray(x), words.numpy(), scalar.numpy(), tf.constant("w").numpy()),
        tf.executing_eagerly(),
        isinstance(x, tf.Tensor),
        tf.contrib.util.constant_value(x),
    ]


@cases("op", "name", "graph", "value_index")
def what_a_tensor_has_not(tf, np, name):
    error = raises(getattr, tf.constant(1.0), name)
    return error, error.message


@cases(
    {
        "eval": lambda tf: tf.constant(1.0).eval(),
        "consumers": lambda tf: tf.constant(1.0).consumers(),
        "bool of many": lambda tf: bool(tf.constant([1, 2])),
        "int of many": lambda tf: int(tf.constant([1, 2])),
        "len of a scalar": lambda tf: len(tf.constant(1)),
        "iterating a scalar": lambda tf: list(tf.constant(1)),
        "shapes": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        "broadcast": lambda tf: tf.ones([2, 3]) + tf.ones([2, 4]),
        "types": lambda tf: tf.constant(1.0) + tf.constant(1),
        "types of an op": lambda tf: tf.matmul(tf.ones([2, 2]), tf.ones([2, 2], tf.float64)),
        "reshape": lambda tf: tf.reshape(tf.ones([2, 3]), [4]),
        "gather": lambda tf: tf.gather([1, 2], [5]),
        "a fraction as int": lambda tf: tf.add(1, 2.5),
        "numerics": lambda tf: tf.check_numerics(tf.constant(1.0) / 0.0, "bad"),
        "placeholder": lambda tf: tf.placeholder(tf.float32),
        "sparse_placeholder": lambda tf: tf.sparse_placeholder(tf.float32),
        "session": lambda tf: tf.Session().run(tf.constant(1.0)),
        "set_shape": lambda tf: tf.constant(1.0).set_shape([2]),
        "gradients": lambda tf: tf.gradients(tf.constant(1.0), tf.constant(1.0)),
        "metrics": lambda tf: tf.metrics.mean(1.0),
        "saver of all": lambda tf: tf.train.Saver(),
        "initializable": lambda tf: tf.data.Dataset.range(3).make_initializable_iterator(),
        "a loss that is none": lambda tf: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)),
        "gpu": lambda tf: tf.constant(1.0).gpu(),
        "device function": lambda tf: tf.device(lambda op: "/cpu:0").__enter__(),
        "variable op": lambda tf: tf.Variable(1.0).op,
        "variable graph": lambda tf: tf.Variable(1.0).graph,
        "variable eval": lambda tf: tf.Variable(1.0).eval(),
        "variable initial": lambda tf: tf.Variable(1.0).initial_value,
        "variable shape": lambda tf: tf.Variable([1.0, 2.0]).assign([1.0]),
        "assertion": lambda tf: tf.assert_equal(1, 2),
        "out of range": lambda tf: tf.TensorArray(tf.float32, 2).write(2, 1.0),
        "read twice": lambda tf: [tf.TensorArray(tf.float32, 1).write(0, 1.0)] and _read_twice(tf),
        "unknown attr": lambda tf: tf.raw_ops.Add(x=1.0),
    }
)
def refused(tf, np, call):
    return raises(call, tf)


def _read_twice(tf):
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    return array.read(0), array.read(0)


@cases(
    {
        "add": lambda x, y: x + y,
        "numbers": lambda x, y: (x + 1, 2.0 * y, 1 - x, x**2, 3.0 / y, x // 2, x % 0.7, -x, abs(x), 2**y),
        "comparisons": lambda x, y: (x < y, x <= 0.1, x > y, x <= 0.2),
        "matmul": lambda x, y: x @ y,
        "index": lambda x, y: (x[0], x[:, 1], x[0, 1], x[..., :1], x[::-1], x[:, None].shape, x[-1:]),
        "arrays": lambda x, y: (x + y.numpy(), y.numpy() + x, x * [1.0, 2.0, 3.0]),
    }
)
def operators(tf, np, function):
    x, y = tf.constant(normal(np, 3, 3)), tf.constant(normal(np, 3, 3) + 2)
    return Close(function(x, y), 1e-5, 1e-6)


def ops_of_many_kinds(tf, np):
    x = tf.constant(normal(np, 2, 3), tf.float32)
    values, indices = tf.nn.top_k(x, 2)
    return Close(
        [
            tf.concat([x, x], 0),
            tf.split(x, 3, axis=1),
            tf.stack([x, x], 1),
            tf.unstack(x),
            tf.where(x > 0),
            tf.boolean_mask(x, x > 0),
            tf.one_hot([1, 2], 3),
            tf.argmax(x, 1),
            values,
            indices,
            tf.cast(x, tf.int32),
            tf.transpose(x),
            tf.string_join(["a", "b"], "-"),
            tf.linspace(0.0, 1.0, 3),
            tf.range(5),
            tf.nn.softmax(x),
            tf.nn.moments(x, [0]),
            tf.einsum("ij,kj->ik", x, x),
            tf.clip_by_value(x, -0.5, 0.5),
            tf.clip_by_global_norm([x, x], 1.0),
            tf.unique([1, 1, 2]).idx,
            tf.reduce_logsumexp(x),
            tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "SAME"),
            tf.nn.max_pool(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
            tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [1.0], [2, 2])),
            tf.ragged.constant([[1, 2], [3]]).to_list(),
            tf.losses.mean_squared_error(x, x + 1.0),
            tf.py_func(lambda a: a * 2, [x], tf.float32),
            tf.py_function(lambda a: a * 2, [x], tf.float32),
            tf.norm(x),
            tf.image.resize_images(tf.ones([1, 4, 4, 1]), [2, 2]),
        ],
        1e-5,
        1e-6,
    )


def random_numbers(tf, np):
    tf.set_random_seed(3)
    first = [tf.random_uniform([3]), tf.random_uniform([3]), tf.random_normal([2], seed=1)]
    again = [tf.random_normal([2], seed=1), tf.random_normal([2], seed=2), tf.truncated_normal([2])]
    tf.set_random_seed(3)
    return first, again, tf.random_uniform([3]), tf.random_shuffle(tf.range(6), seed=5)


def control_flow(tf, np):
    x = tf.constant(3.0)
    array = tf.TensorArray(tf.float32, 3).write(0, 1.0).write(2, 5.0)
    return [
        tf.cond(x > 2, lambda: x * 2, lambda: x),
        tf.cond(False, lambda: [1], lambda: [2]),
        tf.case([(x < 1, lambda: 1.0), (x > 2, lambda: 2.0)], default=lambda: 3.0),
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
        tf.while_loop(lambda i, j: i < 9, lambda i, j: (i + 1, j * 2), (0, x), maximum_iterations=2),
        tf.map_fn(lambda v: v * v, tf.range(4)),
        tf.map_fn(lambda v: (v, -v), tf.range(4), dtype=(tf.int32, tf.int32)),
        tf.scan(lambda a, v: a + v, tf.range(4)),
        tf.foldl(lambda a, v: a - v, tf.range(4)),
        tf.foldr(lambda a, v: a - v, tf.range(4)),
        array.stack(),
        array.size(),
        tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack([1.0, 2.0]).stack(),
        tf.group(x) is None,
        tf.no_op() is None,
    ]


def variables(tf, np):
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    names = [v.name, tf.Variable(1.0).name, tf.get_variable("w", [2]).name, tf.get_variable("w", [2]).name]
    with tf.variable_scope("a"), tf.name_scope("b") as scope:
        names += [tf.get_variable("w", [2]).name, tf.Variable(0).name, scope]
    seen = [v.numpy(), v.assign_add([1.0, 1.0, 1.0]).numpy(), v.assign([5.0, 6.0, 7.0]).numpy()]
    v[1].assign(9.0)
    tf.scatter_add(v, [2], [1.0])
    tf.assign_sub(v, [1.0, 1.0, 1.0])
    texts = [repr(v), str(v), repr(tf.Variable(2)), repr(v.assign(v * 2))]
    return [
        names,
        seen,
        texts,
        [v + 1, v[0], v.sparse_read([0, 2]), tf.gather(v, [1]), v.read_value(), v.value()],
        [v.shape, v.dtype, v.device, v.trainable, v.initializer, v.is_initialized()],
        tf.global_variables(),
        tf.global_variables_initializer() is None,
    ]


def names_and_stores(tf, np):
    store = tf.contrib.eager.EagerVariableStore()
    for _ in range(2):
        with store.as_default():
            with tf.variable_scope("b", reuse=tf.AUTO_REUSE):
                tf.get_variable("w", [2], initializer=tf.ones_initializer())
                tf.get_variable("n", [1], trainable=False, initializer=tf.zeros_initializer())
    with tf.name_scope("s") as first:
        pass
    with tf.name_scope("s") as second:
        pass
    return [
        [v.name for v in store.variables()],
        [v.name for v in store.trainable_variables()],
        [v.numpy() for v in store.copy().variables()],
        (first, second),
        tf.get_variable_scope().use_resource,
        str(tf.get_variable_scope().reuse),
    ]


def graphs_inside(tf, np):
    outside = tf.constant(2.0)
    with tf.Graph().as_default():
        inside = tf.constant(1.0, name="c")
        mode = tf.executing_eagerly()
        mixed = raises(lambda: inside + outside)
        with tf.Session() as session:
            value = session.run(inside * 3.0)
        with tf.init_scope():
            still = tf.executing_eagerly()
    return (
        inside,
        mode,
        mixed,
        mixed.message,
        value,
        still,
        raises(lambda: inside + 1.0),
        tf.executing_eagerly(),
    )


def datasets(tf, np):
    x, v = tf.constant(10), tf.Variable(2)
    numbers = tf.data.Dataset.range(5)
    pairs = tf.data.Dataset.from_tensor_slices((np.arange(4), {"q": np.ones([4, 2])}))
    iterator = numbers.make_one_shot_iterator()
    return [
        [e.numpy() for e in numbers.map(lambda e: e * 2).batch(2)],
        [e.numpy() for e in numbers.map(lambda e: tf.cast(e, tf.int32) + x)],
        [e.numpy() for e in numbers.map(lambda e: tf.cast(e, tf.int32) * v)],
        [(a.numpy(), b["q"].numpy()) for a, b in pairs.repeat(2).batch(3)],
        [e.numpy() for e in tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int32)],
        [iterator.get_next(), next(iterator), [e.numpy() for e in iterator]],
        raises(iterator.get_next),
        [e.numpy() for e in numbers.shuffle(5, seed=1)],
        [e.numpy() for e in numbers.filter(lambda e: e > 2)],
    ]


def tables_and_queues(tf, np):
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    table = tf.lookup.StaticHashTable(initializer, -1)
    mutable = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    mutable.insert(["a"], tf.constant([5], tf.int64))
    queue = tf.FIFOQueue(3, tf.float32)
    queue.enqueue(1.0)
    queue.enqueue(2.0)
    words = tf.constant(["b", "z"])
    return [
        table.lookup(words),
        table.size(),
        mutable.lookup(tf.constant(["a", "z"])),
        mutable.size(),
        queue.dequeue(),
        queue.size(),
        tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1).lookup(words),
    ]


_MATCHED = (
    "maximum minimum add subtract multiply divide floordiv floormod pow squared_difference equal not_equal "
    "less greater_equal"
).split()


@cases({name: name for name in _MATCHED})
def python_values_before_tensors(tf, np, name):
    """They get the type of the first tensor, wherever it stands."""
    function = getattr(tf, name)
    values = (
        2.0,
        2,
        True,
        np.float32(2),
        np.int32(2),
        [1, 2],
        [1.0, 2.0],
        np.array([1, 2]),
        np.array([1.0, 2]),
    )
    results = []
    for dtype in (tf.float32, tf.float64, tf.float16):
        tensor = tf.constant([1.0, 3.0], dtype)
        results += [(function(value, tensor), function(tensor, value)) for value in values]
    whole = tf.constant([1, 3], tf.int64)
    results += [(function(value, whole), function(whole, value)) for value in (2, np.int32(2), [1, 2])]
    return results, raises(tf.maximum, 1.5, whole), raises(tf.maximum, "a", whole)


def python_values_beside_tensors(tf, np):
    results = []
    for dtype in (tf.float32, tf.float64, tf.float16):
        x = tf.constant([1.0, 3.0], dtype)
        results += [
            tf.where([True, False], [2, 2], x),
            tf.compat.v2.where([True, False], 2, x),
            tf.clip_by_value(x, 1, 2),
            tf.stack([[1, 2], x]),
            tf.concat([[1], x], 0),
            tf.nn.bias_add([[1, 2]], x),
            tf.cross([1, 2, 3], [x[0], x[1], x[0]]),
        ]
    variable = tf.Variable([1.0, 2.0], dtype=tf.float64)
    return results, tf.maximum(0.0, variable), tf.subtract(1, variable), tf.pow(2, variable)
