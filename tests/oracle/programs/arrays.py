"""Shaping, joining, cutting and filling tensors."""

from kit import cases, differentiated, normal, product, raises, run

_RESHAPES = {
    "flat": ([2, 3], [6]),
    "minus one": ([2, 3, 4], [4, -1]),
    "only minus one": ([2, 3], [-1]),
    "to scalar": ([1, 1], []),
    "from scalar": ([], [1, 1]),
    "empty": ([0, 3], [3, 0]),
    "empty minus one": ([0, 3], [-1, 3]),
}


@cases(*_RESHAPES)
def reshape(tf, np, key):
    source, target = _RESHAPES[key]
    return differentiated(tf, np, lambda x: tf.reshape(x, target), normal(np, *source))


@cases({"too few": ([2, 3], [5]), "not divisible": ([2, 3], [4, -1]), "negative": ([4], [-2, 2])})
def reshape_mistakes(tf, np, source, target):
    late = tf.placeholder(tf.int32, name="late")
    error = raises(run, tf, tf.reshape(tf.zeros(source), late), {late: target})
    return [raises(tf.reshape, tf.zeros(source), target), error]


def reshape_keeps_what_is_known(tf, np):
    x, n = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.int32, [])
    return [
        tf.reshape(x, [-1, 2, 3]),
        tf.reshape(x, [n, 6]),
        tf.reshape(x, tf.stack([tf.shape(x)[0], 3, 2])),
        tf.reshape(x, tf.placeholder(tf.int32, [3])),
    ]


@cases(
    {"default": (None,), "012": ([0, 1, 2],), "201": ([2, 0, 1],), "021": ([0, 2, 1],), "210": ([2, 1, 0],)}
)
def transpose(tf, np, perm):
    return differentiated(tf, np, lambda x: tf.transpose(x, perm), normal(np, 2, 3, 4))


@cases("int32", "bool", "string", "complex64", "float16", "uint8")
def transpose_of_dtypes(tf, np, dtype):
    x = np.array([["a", "b"], ["c", "d"]]) if dtype == "string" else np.array([[1, 0], [3, 4]]).astype(dtype)
    return run(tf, tf.transpose(tf.constant(x)))


def transpose_conjugates(tf, np):
    x = np.array([[1 + 1j, 2], [3, 4 - 2j]]).astype(np.complex64)
    return [
        differentiated(tf, np, lambda x: tf.transpose(x, conjugate=True), x),
        differentiated(tf, np, tf.linalg.adjoint, x),
    ]


def transpose_mistakes(tf, np):
    x = tf.zeros([2, 3])
    return [raises(tf.transpose, x, [0]), raises(tf.transpose, x, [0, 2]), raises(tf.transpose, x, [[0, 1]])]


@cases(*product([0, 1, 2, -1], [1, 2, 3]))
def concat(tf, np, axis, count):
    parts = [normal(np, 2, 3, 4) + i for i in range(count)]
    return differentiated(tf, np, lambda *xs: tf.concat(list(xs), axis), *parts)


@cases("int32", "string", "bool", "int64", "float16", "complex64", "uint8")
def concat_of_dtypes(tf, np, dtype):
    x = np.array([["a", "b"]]) if dtype == "string" else np.array([[1, 0]]).astype(dtype)
    return run(tf, tf.concat([tf.constant(x), tf.constant(x)], 0))


def concat_with_empty_parts(tf, np):
    return differentiated(
        tf, np, lambda a, b, c: tf.concat([a, b, c], 0), np.zeros([0, 2]), np.ones([1, 2]), np.zeros([0, 2])
    )


def concat_mistakes(tf, np):
    a, b = tf.zeros([2, 3]), tf.placeholder(tf.float32)
    return [
        raises(tf.concat, [a, tf.zeros([3, 2])], 0),
        raises(tf.concat, [a, a], 2),
        raises(tf.concat, [a, tf.zeros([3])], 0),
        raises(tf.concat, [a, tf.zeros([2, 3], tf.int32)], 0),
        raises(tf.concat, [tf.constant(1.0), tf.constant(2.0)], 0),
        raises(run, tf, tf.concat([a, b], 0), {b: np.zeros([2, 2])}),
        raises(run, tf, tf.concat([a, b], 1), {b: np.zeros([3])}),
    ]


def concat_of_unknown_shapes(tf, np):
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [2, None])
    return [
        tf.concat([a, b], 0),
        tf.concat([a, b], 1),
        tf.concat([a, tf.placeholder(tf.float32)], 0),
        tf.concat([a, b], tf.placeholder(tf.int32, [])),
    ]


@cases(
    {
        "three": (3, 1),
        "one": (1, 0),
        "negative axis": (2, -1),
        "sizes": ([1, 2, 3], 1),
        "inferred": ([2, -1], 1),
        "zero size": ([0, 6], 1),
    }
)
def split(tf, np, pieces, axis):
    return differentiated(tf, np, lambda x: tf.split(x, pieces, axis), normal(np, 2, 6))


def split_by_tensor_sizes(tf, np):
    sizes = tf.placeholder(tf.int32, [2])
    made = tf.split(tf.constant([1, 2, 3, 4, 5]), sizes, num=2)
    return [made, run(tf, made, {sizes: [2, 3]})]


def split_mistakes(tf, np):
    x = tf.zeros([2, 6])
    sizes = tf.placeholder(tf.int32, [None])
    return [
        raises(tf.split, x, 4, 1),
        raises(tf.split, x, 2, 2),
        raises(tf.split, x, [1, 2], 1),
        raises(tf.split, x, [7, -1], 1),
        raises(tf.split, x, sizes, 1),
        raises(tf.split, x, tf.placeholder(tf.int32, []), 1),
    ]


@cases(*product([0, 1, -1, -2], [1, 3]))
def stack(tf, np, axis, count):
    parts = [normal(np, 2, 3) + i for i in range(count)]
    return differentiated(tf, np, lambda *xs: tf.stack(list(xs), axis), *parts)


@cases(0, 1, -1)
def unstack(tf, np, axis):
    return differentiated(tf, np, lambda x: tf.unstack(x, axis=axis), normal(np, 3, 2))


def stack_of_python_values(tf, np):
    made = [
        tf.stack([1, 2]),
        tf.stack([[1.0], [2.0]], axis=1),
        tf.stack([np.ones(2, np.float32), [3.0, 4.0]]),
        tf.stack(["a", "b"]),
    ]
    return [made, run(tf, made), tf.stack([tf.placeholder(tf.float32), tf.zeros([2])])]


def unstack_of_unknown_length(tf, np):
    x = tf.placeholder(tf.float32, [None, 2])
    made = tf.unstack(x, num=3)
    return [
        made,
        run(tf, made, {x: np.ones([3, 2])}),
        raises(run, tf, made, {x: np.ones([2, 2])}),
        raises(tf.unstack, x),
    ]


def stack_mistakes(tf, np):
    return [
        raises(tf.stack, [tf.zeros([2]), tf.zeros([3])]),
        raises(tf.stack, [tf.zeros([2]), tf.zeros([2])], 2),
        raises(tf.stack, [tf.zeros([2]), tf.zeros([2], tf.int32)]),
        raises(tf.unstack, tf.zeros([2]), axis=1),
        raises(tf.unstack, tf.zeros([])),
    ]


@cases(
    {
        "middle": ([1, 0], [2, 2]),
        "to the end": ([0, 1], [-1, -1]),
        "nothing": ([0, 0], [0, 2]),
        "whole": ([0, 0], [4, 3]),
    }
)
def slice_(tf, np, begin, size):
    return differentiated(tf, np, lambda x: tf.slice(x, begin, size), normal(np, 4, 3))


def slice_mistakes(tf, np):
    x, b = tf.zeros([4, 3]), tf.placeholder(tf.int32, [2])
    return [
        raises(tf.slice, x, [5, 0], [-1, 1]),
        raises(tf.slice, x, [0], [1]),
        raises(run, tf, tf.slice(x, b, [2, 2]), {b: [3, 0]}),
        tf.slice(x, b, [2, 2]).shape,
        tf.slice(x, b, [-1, 2]).shape,
    ]


@cases(*product(["CONSTANT", "REFLECT", "SYMMETRIC"], ["float32", "int32"]))
def pad(tf, np, mode, dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    return differentiated(tf, np, lambda x: tf.pad(x, [[1, 2], [0, 3]], mode), x)


@cases({"value": ([[1, 1]], 5.0), "none": ([[0, 0]], 1.0), "left": ([[2, 0]], -1.0)})
def pad_with_value(tf, np, paddings, value):
    return differentiated(tf, np, lambda x: tf.pad(x, paddings, constant_values=value), np.array([1.0, 2.0]))


def pad_of_odd_shapes(tf, np):
    made = [
        tf.pad(tf.zeros([0, 2]), [[1, 0], [0, 0]]),
        tf.pad(tf.constant(7), tf.zeros([0, 2], tf.int32)),
        tf.pad(tf.placeholder(tf.float32, [None, 2]), [[1, 1], [2, 0]]),
    ]
    return [made, run(tf, made[:2])]


def pad_mistakes(tf, np):
    x, p = tf.zeros([2, 3]), tf.placeholder(tf.int32)
    return [
        raises(tf.pad, x, [[1, 1]]),
        raises(tf.pad, x, [[-1, 0], [0, 0]]),
        raises(tf.pad, x, [[0, 0], [0, 0]], "OTHER"),
        raises(run, tf, tf.pad(x, p, "REFLECT"), {p: [[2, 0], [0, 0]]}),
        raises(run, tf, tf.pad(x, p, "SYMMETRIC"), {p: [[3, 0], [0, 0]]}),
        raises(run, tf, tf.pad(x, p), {p: [[-1, 0], [0, 0]]}),
    ]


@cases({"rows": ([2, 1],), "both": ([2, 3],), "none": ([0, 1],), "once": ([1, 1],)})
def tile(tf, np, multiples):
    return differentiated(tf, np, lambda x: tf.tile(x, multiples), normal(np, 2, 3))


def tile_of_others(tf, np):
    made = [tf.tile(tf.constant(["a", "b"]), [2]), tf.tile(tf.constant(3), []), tf.tile([[True]], [2, 2])]
    return [
        made,
        run(tf, made),
        raises(tf.tile, tf.zeros([2]), [1, 1]),
        tf.tile(tf.placeholder(tf.float32, [None, 2]), [2, 3]),
    ]


_GATHERS = {
    "scalar": (1, 0),
    "vector": ([2, 0, 2], 0),
    "matrix": ([[0, 1], [2, 2]], 0),
    "empty": ([], 0),
    "axis 1": ([1, 0, 1], 1),
    "axis 1 matrix": ([[0], [1]], 1),
    "negative axis": ([1, 1], -1),
    "scalar axis 1": (0, 1),
}


@cases(*product(_GATHERS, ["int32", "int64"]))
def gather(tf, np, key, dtype):
    indices, axis = _GATHERS[key]
    return differentiated(
        tf, np, lambda x: tf.gather(x, np.array(indices, dtype), axis=axis), normal(np, 3, 2, 2)
    )


@cases(*product([1, 2], [None, 2]))
def gather_in_batches(tf, np, batch_dims, axis):
    x, indices = (
        normal(np, 2, 3, 4),
        np.array([[0, 2], [1, 1]]) if batch_dims == 1 else np.array([[0], [2]])[:, :, None].repeat(3, 1),
    )
    return run(tf, tf.gather(tf.constant(x), tf.constant(indices), axis=axis, batch_dims=batch_dims))


@cases("string", "bool", "int32", "float16", "complex64")
def gather_of_dtypes(tf, np, dtype):
    x = np.array(["a", "b", "c"]) if dtype == "string" else np.array([1, 0, 3]).astype(dtype)
    return run(tf, tf.gather(tf.constant(x), [2, 0]))


def gather_mistakes(tf, np):
    x, i = tf.zeros([3, 2]), tf.placeholder(tf.int32)
    return [
        raises(run, tf, tf.gather(x, i), {i: [3]}),
        raises(run, tf, tf.gather(x, i), {i: [-1]}),
        raises(run, tf, tf.gather(x, i, axis=1), {i: [2]}),
        raises(tf.gather, tf.constant(1.0), 0),
        raises(tf.gather, x, 0, axis=2),
        raises(tf.gather, x, [0.5]),
    ]


_GATHER_ND = {
    "points": [[0, 1], [2, 0]],
    "rows": [[1], [0]],
    "one": [1, 1],
    "nested": [[[0, 0]], [[1, 1]]],
    "repeated": [[0, 1], [0, 1]],
}


@cases(*_GATHER_ND)
def gather_nd(tf, np, key):
    indices = np.array(_GATHER_ND[key], np.int32)
    if key == "one":
        return run(tf, tf.gather_nd(tf.constant(normal(np, 3, 2)), indices))
    return differentiated(tf, np, lambda x: tf.gather_nd(x, indices), normal(np, 3, 2))


def gather_nd_mistakes(tf, np):
    i = tf.placeholder(tf.int32)
    return [
        raises(tf.gather_nd, tf.zeros([2, 2]), [[0, 0, 0]]),
        raises(run, tf, tf.gather_nd(tf.zeros([2, 2]), i), {i: [[2, 0]]}),
    ]


@cases("int32", "float32")
def scatter_nd(tf, np, dtype):
    made = [
        tf.scatter_nd([[1], [3], [1]], tf.constant([1, 2, 3], dtype), [5]),
        tf.scatter_nd([[0], [2]], tf.constant([[1, 2], [3, 4]], dtype), [3, 2]),
        tf.scatter_nd([[0, 1], [1, 0]], tf.constant([5, 6], dtype), [2, 2]),
    ]
    return [made, run(tf, made)]


def scatter_nd_gradient(tf, np):
    return differentiated(tf, np, lambda u: tf.scatter_nd([[1], [3], [1]], u, [5]), np.array([1.0, 2.0, 3.0]))


@cases("tensor_scatter_update", "tensor_scatter_add", "tensor_scatter_sub")
def tensor_scatter(tf, np, name):
    x, u = np.arange(6.0), np.array([9.0, 8.0])
    return differentiated(tf, np, lambda x, u: getattr(tf, name)(x, [[4], [1]], u), x, u)


def where_of_three(tf, np):
    x, y, c = normal(np, 2, 3), normal(np, 2, 3) + 5, np.array([[True, False, True], [False, False, True]])
    whole = differentiated(tf, np, lambda c, x, y: tf.where(c, x, y), c, x, y)
    rows = differentiated(tf, np, lambda c, x, y: tf.where(c, x, y), c[:, 0], x, y)
    scalar = differentiated(tf, np, lambda c, x, y: tf.where(c, x, y), np.array(True), x, y)
    return [whole, rows, scalar]


def where_of_one(tf, np):
    made = [
        tf.where([[True, False], [True, True]]),
        tf.where([0, 3, 0, 1]),
        tf.where(tf.constant([], tf.bool)),
        tf.where([[0.0, 1.5]]),
    ]
    return [made, run(tf, made)]


def where_version_two_broadcasts(tf, np):
    x, y, c = normal(np, 2, 3), normal(np, 3), np.array([[True], [False]])
    return differentiated(tf, np, lambda c, x, y: tf.where_v2(c, x, y), c, x, y)


def where_mistakes(tf, np):
    a = tf.zeros([2, 3])
    return [
        raises(tf.where, tf.zeros([2, 3], tf.bool), a, tf.zeros([3, 2])),
        raises(tf.where, a > 0, a),
        raises(tf.where, a, a, a),
        raises(tf.where, tf.zeros([3], tf.bool), a, a),
        raises(tf.where, a > 0, a, tf.zeros([2, 3], tf.int32)),
    ]


_ONE_HOTS = {
    "vector": (lambda tf: tf.one_hot([0, 2, -1, 1], 3)),
    "scalar": (lambda tf: tf.one_hot(1, 3)),
    "matrix": (lambda tf: tf.one_hot([[0, 1], [2, 5]], 3)),
    "on and off": (lambda tf: tf.one_hot([0, 2], 3, on_value=5.0, off_value=-1.0)),
    "axis 0": (lambda tf: tf.one_hot([0, 2], 3, axis=0)),
    "ints": (lambda tf: tf.one_hot([0, 2], 3, dtype=tf.int32)),
    "bools": (lambda tf: tf.one_hot([0, 2], 3, True, False)),
    "strings": (lambda tf: tf.one_hot([0, 2], 3, "on", "off")),
    "uint8 indices": (lambda tf: tf.one_hot(tf.constant([0, 2], tf.uint8), 3)),
    "int64 indices": (lambda tf: tf.one_hot(tf.constant([0, 2], tf.int64), 3, dtype=tf.float64)),
    "no depth": (lambda tf: tf.one_hot([0, 2], 0)),
    "no indices": (lambda tf: tf.one_hot(tf.zeros([0], tf.int32), 3)),
}


@cases(*_ONE_HOTS)
def one_hot(tf, np, key):
    made = _ONE_HOTS[key](tf)
    return [made, run(tf, made)]


def one_hot_mistakes(tf, np):
    depth = tf.placeholder(tf.int32, [])
    return [
        raises(tf.one_hot, [0], 3, on_value=1.0, dtype=tf.int32),
        raises(tf.one_hot, [0], 3, on_value=1.0, off_value=0),
        raises(run, tf, tf.one_hot([0], depth), {depth: -1}),
        tf.one_hot([0], depth).shape,
    ]


_FILLS = {
    "zeros": lambda tf: tf.zeros([2, 3]),
    "zeros int": lambda tf: tf.zeros([2], tf.int32),
    "zeros string": lambda tf: tf.zeros([2], tf.string),
    "zeros bool": lambda tf: tf.zeros([2], tf.bool),
    "zeros scalar": lambda tf: tf.zeros([]),
    "zeros of a number": lambda tf: tf.zeros(3),
    "zeros of a shape": lambda tf: tf.zeros(tf.TensorShape([2, 1])),
    "zeros of a tensor": lambda tf: tf.zeros(tf.constant([2, 2])),
    "ones": lambda tf: tf.ones([2, 0]),
    "ones complex": lambda tf: tf.ones([2], tf.complex64),
    "fill": lambda tf: tf.fill([2, 2], 7),
    "fill string": lambda tf: tf.fill([2], "a"),
    "fill scalar": lambda tf: tf.fill([], 1.5),
    "zeros_like": lambda tf: tf.zeros_like([[1, 2], [3, 4]]),
    "zeros_like string": lambda tf: tf.zeros_like(["a", "b"]),
    "ones_like dtype": lambda tf: tf.ones_like([1.5, 2.5], dtype=tf.int64),
    "ones_like bool": lambda tf: tf.ones_like([True, False]),
    "range": lambda tf: tf.range(5),
    "range from to": lambda tf: tf.range(2, 9, 3),
    "range down": lambda tf: tf.range(5, 0, -2),
    "range floats": lambda tf: tf.range(0.0, 1.0, 0.3),
    "range mixed": lambda tf: tf.range(1, 3.5),
    "range empty": lambda tf: tf.range(3, 3),
    "range dtype": lambda tf: tf.range(3, dtype=tf.float64),
    "range int64": lambda tf: tf.range(tf.constant(3, tf.int64)),
    "linspace": lambda tf: tf.linspace(1.0, 2.0, 5),
    "linspace one": lambda tf: tf.lin_space(1.0, 2.0, 1),
    "eye": lambda tf: tf.eye(3),
    "eye wide": lambda tf: tf.eye(2, 3, batch_shape=[2], dtype=tf.int32),
    "meshgrid": lambda tf: tf.meshgrid([1, 2, 3], [4, 5], indexing="ij"),
    "sequence_mask": lambda tf: tf.sequence_mask([1, 3, 2], 4),
    "sequence_mask free": lambda tf: tf.sequence_mask([[1, 2]], dtype=tf.int32),
    "shape": lambda tf: tf.shape(tf.zeros([2, 3])),
    "size": lambda tf: tf.size(tf.zeros([2, 3]), out_type=tf.int64),
    "rank": lambda tf: tf.rank(tf.zeros([2, 3])),
    "shape of unknown": lambda tf: tf.shape(tf.placeholder_with_default([[1, 2]], None)),
    "size of unknown": lambda tf: tf.size(tf.placeholder_with_default([[1, 2]], None)),
    "rank of unknown": lambda tf: tf.rank(tf.placeholder_with_default([[1, 2]], None)),
    "shape_n": lambda tf: tf.shape_n([tf.zeros([2]), tf.zeros([])]),
    "broadcast_dynamic_shape": lambda tf: tf.broadcast_dynamic_shape([2, 1], [1, 3]),
    "ensure_shape": lambda tf: tf.ensure_shape(tf.placeholder_with_default([1, 2], None), [2]),
    "guarantee_const": lambda tf: tf.guarantee_const(tf.constant([1.0])),
}


@cases(*_FILLS)
def made(tf, np, key):
    value = _FILLS[key](tf)
    return [value, run(tf, value)]


def fill_mistakes(tf, np):
    late = tf.placeholder(tf.int32, [None])
    return [
        raises(tf.fill, [-1], 0),
        raises(run, tf, tf.fill(late, 0), {late: [-1]}),
        raises(tf.fill, [2], [1, 2]),
        raises(tf.zeros, [-1]),
        raises(tf.range, 0, 5, 0),
        raises(tf.linspace, 0, 1, 3),
        raises(run, tf, tf.ensure_shape(tf.placeholder_with_default([1, 2], None), [3])),
    ]


def fill_gradient(tf, np):
    return differentiated(tf, np, lambda x: tf.fill([2, 3], x), np.array(2.0))


@cases(0, 1, -1, -3)
def expand_dims(tf, np, axis):
    return differentiated(tf, np, lambda x: tf.expand_dims(x, axis), normal(np, 2, 3))


@cases({"all": (None,), "first": ([0],), "number": (2,), "negative": ([-1],), "both": ([0, 2],)})
def squeeze(tf, np, axis):
    return differentiated(tf, np, lambda x: tf.squeeze(x, axis), normal(np, 1, 3, 1))


def squeeze_and_expand_mistakes(tf, np):
    u = tf.placeholder(tf.float32)
    return [
        raises(tf.squeeze, tf.zeros([2, 1]), [0]),
        raises(tf.squeeze, tf.zeros([2, 1]), [2]),
        raises(tf.expand_dims, tf.zeros([2]), 3),
        raises(run, tf, tf.squeeze(u, [0]), {u: np.zeros([2])}),
        tf.squeeze(tf.placeholder(tf.float32, [None, 1])).shape,
        tf.squeeze(tf.placeholder(tf.float32, [None, 1]), [1]).shape,
        tf.expand_dims(u, 0).shape,
    ]


@cases({"one": ([0],), "two": ([0, 1],), "negative": ([-1],), "none": ([],)})
def reverse(tf, np, axes):
    return differentiated(tf, np, lambda x: tf.reverse(x, axes), normal(np, 2, 3))


@cases("string", "bool", "int32", "complex64", "uint8")
def reverse_of_dtypes(tf, np, dtype):
    x = np.array([["a", "b"]]) if dtype == "string" else np.array([[1, 0]]).astype(dtype)
    return run(tf, tf.reverse(tf.constant(x), [1]))


def reverse_mistakes(tf, np):
    x, a = tf.zeros([2, 3]), tf.placeholder(tf.int32, [None])
    return [
        raises(tf.reverse, x, [2]),
        raises(tf.reverse, x, [0, 0]),
        raises(run, tf, tf.reverse(x, a), {a: [1, -1]}),
    ]


@cases({"rows": ([3], [2, 3]), "scalar": ([], [2, 2]), "ones": ([2, 1], [2, 3]), "same": ([2, 3], [2, 3])})
def broadcast_to(tf, np, source, target):
    return differentiated(tf, np, lambda x: tf.broadcast_to(x, target), normal(np, *source))


def broadcast_to_mistakes(tf, np):
    return [
        raises(tf.broadcast_to, tf.zeros([3]), [2]),
        raises(tf.broadcast_to, tf.zeros([2, 2]), [2]),
        raises(tf.broadcast_static_shape, tf.TensorShape([2]), tf.TensorShape([3])),
    ]


def boolean_mask(tf, np):
    x, m = normal(np, 3, 2), np.array([True, False, True])
    return [
        differentiated(tf, np, lambda x: tf.boolean_mask(x, m), x),
        run(tf, tf.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])),
        run(tf, tf.boolean_mask([[1, 2], [3, 4]], [True, False], axis=1)),
    ]


def identity_n_and_tuple(tf, np):
    a, b = np.array([1.0, 2.0]), np.array([3.0])
    return [
        differentiated(tf, np, lambda a, b: tf.identity_n([a, b]), a, b),
        differentiated(tf, np, lambda a, b: tf.tuple([a, b]), a, b),
    ]


def batch_and_space(tf, np):
    x = normal(np, 2, 4, 4, 1)
    there = differentiated(tf, np, lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 0], [2, 0]]), x)
    back = differentiated(
        tf, np, lambda x: tf.batch_to_space_nd(x, [2, 2], [[0, 1], [0, 0]]), normal(np, 4, 2, 2, 1)
    )
    return [there, back]
