"""TensorArrays and stacks: every method, gradients, element shapes, and what is refused."""

from kit import cases, graph, normal, raises, run

_STRUCTURE = ("dtype", "T", "element_shape", "source", "dynamic_size", "identical_element_shapes", "_class")


def _differentiated(tf, np, build, *shape):
    x = tf.placeholder(tf.float32, shape)
    y = build(x)
    outputs = list(y) if isinstance(y, (list, tuple)) else [y]
    grads = [g for g in tf.gradients(outputs, x) if g is not None]
    with tf.Session() as session:
        values = session.run(outputs + grads, {x: normal(np, *shape).astype(np.float32)})
    return values, [t.shape for t in outputs]


_ARRAYS = {
    "write and read": lambda tf, x: tf.TensorArray(tf.float32, 3).write(0, x).write(2, x * 2).read(2),
    "stack": lambda tf, x: tf.TensorArray(tf.float32, 2).write(0, x).write(1, x * 3).stack(),
    "unstack": lambda tf, x: tf.TensorArray(tf.float32, 3).unstack(x).read(1) * 2,
    "gather": lambda tf, x: tf.TensorArray(tf.float32, 3).unstack(x).gather([2, 0]),
    "scatter": lambda tf, x: tf.TensorArray(tf.float32, 5).scatter([4, 1, 0], x).read(4),
    "concat": lambda tf, x: tf.TensorArray(tf.float32, 2).write(0, x).write(1, x * 2).concat(),
    "concat of sizes": lambda tf, x: (
        tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, x[:2]).write(1, x * 2).concat()
    ),
    "split": lambda tf, x: tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 0, 2]).read(2),
    "split evenly": lambda tf, x: tf.TensorArray(tf.float32, 3).split(x, [1, 1, 1]).stack(),
    "read twice": lambda tf, x: _twice(tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)),
    "dynamic": lambda tf, x: tf.TensorArray(tf.float32, 0, dynamic_size=True).write(0, x).write(1, x).stack(),
    "zeros where nothing was written": lambda tf, x: (
        tf.TensorArray(tf.float32, 3, element_shape=[3, 2]).write(1, x).stack()
    ),
    "size": lambda tf, x: tf.cast(tf.TensorArray(tf.float32, 4).size(), tf.float32) * x,
    "identity": lambda tf, x: tf.TensorArray(tf.float32, 3).unstack(x).identity().stack(),
    "some unread": lambda tf, x: tf.TensorArray(tf.float32, 3).unstack(x).read(0),
}


def _twice(array):
    return array.read(1) + array.read(1) * 3


@cases(_ARRAYS)
def arrays(tf, np, build):
    return _differentiated(tf, np, lambda x: build(tf, x), 3, 2)


@cases(_ARRAYS)
def array_graphs(tf, np, build):
    x = tf.placeholder(tf.float32, [3, 2])
    tf.gradients(build(tf, x), x)
    return graph(tf, _STRUCTURE)


def _loop(tf, x, **options):
    given = tf.TensorArray(tf.float32, 3).unstack(x)
    made = tf.TensorArray(tf.float32, 3, **options)

    def body(i, state, made):
        state = tf.tanh(given.read(i) + state)
        return i + 1, state, made.write(i, state)

    start = tf.zeros([2])
    return tf.while_loop(lambda i, *rest: i < 3, body, [0, start, made])[1:]


def arrays_in_loops(tf, np):
    def build(x):
        state, made = _loop(tf, x)
        return [state, made.stack()]

    return _differentiated(tf, np, build, 3, 2)


def graph_of_arrays_in_loops(tf, np):
    x = tf.placeholder(tf.float32, [3, 2])
    _, made = _loop(tf, x)
    tf.gradients(made.stack(), x)
    return graph(tf, _STRUCTURE)


def arrays_in_conds(tf, np):
    x = tf.placeholder(tf.float32, [2])
    array = tf.TensorArray(tf.float32, 2).write(0, x)
    made = tf.cond(x[0] > 0, lambda: array.write(1, x * 2), lambda: array.write(1, x * 3))
    y = made.stack()
    grads = tf.gradients(y, x)
    with tf.Session() as session:
        return [session.run([y] + grads, {x: a}) for a in ([1.0, 2.0], [-1.0, 2.0])]


def two_gradients_of_one_array(tf, np):
    x = tf.placeholder(tf.float32, [3, 2])
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    first = tf.gradients(array.read(0) * 2, x)[0]
    second = tf.gradients(array.read(0) * 5 + array.read(2), x)[0]
    with tf.Session() as session:
        return session.run([first, second], {x: normal(np, 3, 2).astype(np.float32)})


@cases("int32", "float64", "bool", "string", "complex64")
def dtypes_of_arrays(tf, np, dtype):
    values = {"string": [b"a", b"bc"], "bool": [True, False]}.get(dtype, [1, 2])
    array = tf.TensorArray(dtype, 2).unstack(tf.constant(values, dtype))
    return run(tf, [array.read(0), tf.TensorArray(dtype, 2).unstack(tf.constant(values, dtype)).stack()])


def element_shapes(tf, np):
    x = tf.placeholder(tf.float32, [3, None])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    other = tf.TensorArray(tf.float32, 3, element_shape=[2, None]).write(0, tf.ones([2, 4]))
    free = tf.TensorArray(tf.float32, 3, infer_shape=False).write(0, tf.ones([2, 4]))
    return [t.shape for t in (array.read(0), array.stack(), other.read(0), other.stack(), free.read(0))]


def array_mistakes(tf, np):
    x = tf.constant([1.0, 2.0])
    new = lambda **options: tf.TensorArray(tf.float32, 2, **options)
    with tf.Session() as session:
        return [
            raises(tf.TensorArray, tf.float32),
            raises(lambda: new().write(0, x).write(1, tf.ones([3]))),
            raises(lambda: tf.TensorArray(tf.float32, 2, element_shape=[3]).write(0, x)),
            raises(session.run, new().write(0, x).write(0, x).read(0)),
            raises(session.run, new().write(5, x).flow),
            raises(session.run, new().write(-1, x).flow),
            raises(session.run, new().write(0, x).read(3)),
            raises(session.run, new(infer_shape=False).write(0, x).read(1)),
            raises(session.run, tf.TensorArray(tf.float32, 3).unstack(x).flow),
            raises(session.run, tf.TensorArray(tf.float32, 1).split(x, [1, 1]).flow),
            raises(session.run, _two_reads(new().write(0, x))),
            raises(session.run, new(infer_shape=False).write(0, x).write(1, tf.ones([3])).stack()),
        ]


def _two_reads(array):
    return array.read(0) + array.read(0)


def gradients_must_be_called_so(tf, np):
    x = tf.placeholder(tf.float32, [3, 2])
    y = tf.TensorArray(tf.float32, 3).unstack(x).read(0)
    return raises(tf.gradients, y, x, name="backward")
