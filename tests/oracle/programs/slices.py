"""Strided slices: values, static shapes, gradients, and assignment to a slice of a variable."""

from kit import cases, differentiated, normal, product, raises, run

_TAKES = {
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "point": lambda x: x[1, 2, 3],
    "range": lambda x: x[1:3],
    "open start": lambda x: x[:2],
    "open end": lambda x: x[2:],
    "negative range": lambda x: x[-3:-1],
    "step": lambda x: x[::2],
    "backward": lambda x: x[::-1],
    "backward range": lambda x: x[3:0:-2],
    "two axes": lambda x: x[1:, ::-1],
    "ellipsis first": lambda x: x[..., 1],
    "ellipsis middle": lambda x: x[0, ..., 1],
    "ellipsis last": lambda x: x[1, ...],
    "ellipsis alone": lambda x: x[...],
    "new axis first": lambda x: x[None],
    "new axis middle": lambda x: x[:, None, 1],
    "new axis with ellipsis": lambda x: x[..., None, 0],
    "two new axes": lambda x: x[None, :, None],
    "empty range": lambda x: x[2:2],
    "backward empty": lambda x: x[0:3:-1],
    "beyond the end": lambda x: x[2:99],
    "before the start": lambda x: x[-99:2],
    "mixed": lambda x: x[1, ::2, -1:],
    "all": lambda x: x[:, :, :],
}


@cases(*product(_TAKES, ["float64", "int32"]))
def taken(tf, np, key, dtype):
    return differentiated(tf, np, _TAKES[key], (normal(np, 4, 3, 5) * 10).astype(dtype))


@cases(*_TAKES)
def same_as_numpy(tf, np, key):
    x = normal(np, 4, 3, 5)
    return bool(np.array_equal(run(tf, _TAKES[key](tf.constant(x))), _TAKES[key](x)))


def by_tensors(tf, np):
    x, i, j = (
        tf.constant(np.arange(20).reshape(4, 5)),
        tf.placeholder(tf.int32, []),
        tf.placeholder(tf.int32, []),
    )
    made = [x[i], x[i:j], x[i, j], x[:, i:], x[::i], x[i : i + 1, ::-1], x[tf.constant(1)], x[i:j:1, None]]
    return [[m.shape for m in made], run(tf, made, {i: 1, j: 3})]


def by_int64_tensors(tf, np):
    x, i = tf.constant(np.arange(5)), tf.constant(2, tf.int64)
    return [x[i:], run(tf, [x[i:], x[i]])]


def of_unknown_shapes(tf, np):
    u, p = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 4, None])
    made = [
        u[0],
        u[1:],
        u[..., 0],
        u[None],
        p[0],
        p[:, 1],
        p[:, 1:3],
        p[1:],
        p[..., 0],
        p[:, :, 1:2],
        p[-1, ..., -1],
    ]
    return [m.shape for m in made]


def gradient_with_unknown_shape(tf, np):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(x[1:, ::2] ** 2)
    return run(tf, tf.gradients(y, x), {x: np.arange(12.0).reshape(3, 4)})


def second_gradient(tf, np):
    return differentiated(tf, np, lambda x: tf.gradients(x[::2] ** 3, x)[0], np.array([1.0, 2.0, 3.0]))


def of_strings_and_bools(tf, np):
    return run(tf, [tf.constant(["a", "b", "c"])[::-1], tf.constant([True, False])[1]])


def mistakes(tf, np):
    x, i = tf.zeros([4, 5]), tf.placeholder(tf.int32, [])
    return {
        "too many": raises(lambda: x[0, 0, 0]),
        "out of range": raises(lambda: x[4]),
        "out of range negative": raises(lambda: x[-5]),
        "two ellipses": raises(lambda: x[..., ...]),
        "float": raises(lambda: x[1.5]),
        "float in slice": raises(lambda: x[1.5:]),
        "string": raises(lambda: x["a"]),
        "zero step": raises(lambda: x[::0]),
        "float tensor": raises(lambda: x[tf.constant(1.0)]),
        "late": raises(run, tf, x[i], {i: 9}),
    }


def strided_slice_function(tf, np):
    x = normal(np, 4, 3, 5)
    return [
        differentiated(tf, np, lambda x: tf.strided_slice(x, [1, 0, 0], [3, 3, 5], [1, 2, 2]), x),
        differentiated(tf, np, lambda x: tf.strided_slice(x, [1, 0], [3, 3]), x),
        differentiated(
            tf, np, lambda x: tf.strided_slice(x, [1, 0, 0], [0, 3, 0], begin_mask=4, end_mask=5), x
        ),
        differentiated(tf, np, lambda x: tf.strided_slice(x, [1, 2, 0], [2, 3, 5], shrink_axis_mask=3), x),
        differentiated(tf, np, lambda x: tf.strided_slice(x, [0, 1], [0, 2], ellipsis_mask=1), x),
        differentiated(tf, np, lambda x: tf.strided_slice(x, [0, 1], [0, 2], new_axis_mask=1), x),
    ]


_ASSIGNS = {
    "range": lambda v: v[1:3].assign([[10.0, 11.0, 12.0], [13.0, 14.0, 15.0]]),
    "row": lambda v: v[0].assign([7.0, 8.0, 9.0]),
    "column": lambda v: v[:, 1].assign([5.0, 6.0, 7.0, 8.0]),
    "point": lambda v: v[2, 2].assign(99.0),
    "backward": lambda v: v[::-2].assign([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]),
    "all": lambda v: v[:].assign([[4.0] * 3] * 4),
}


@cases(*product(_ASSIGNS, [False, True]))
def assigned(tf, np, key, resource):
    v = tf.Variable(np.arange(12.0).reshape(4, 3).astype(np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(_ASSIGNS[key](v))
        return session.run(v)


@cases(False, True)
def assigned_wrongly(tf, np, resource):
    v = tf.Variable(np.zeros([4, 3], np.float32), use_resource=resource)

    def assign(take, value):
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(take(v).assign(value))

    return [
        raises(assign, lambda v: v[0:2], [[1.0, 2.0, 3.0]] * 3),
        raises(assign, lambda v: v[9], [1.0, 2.0, 3.0]),
    ]


def slice_of_tensor_has_no_assign(tf, np):
    return raises(lambda: tf.zeros([3])[0].assign(1.0))
