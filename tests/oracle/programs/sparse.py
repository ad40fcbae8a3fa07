"""Sparse tensors: every function of tf.sparse, its graph, static shapes, values, gradients and errors."""

from kit import cases, differentiated, graph, normal, product, raises, run

_A = [[0, 1], [0, 2], [1, 0]]
_B = [[0, 0], [0, 2], [1, 1], [1, 2]]


def _a(tf, values=(0.5, -2.0, 3.0), dtype="float32", fed=False):
    return _made(tf, _A, values, [2, 3], dtype, fed)


def _b(tf, values=(1.0, 2.0, 0.25, -1.0), dtype="float32", fed=False):
    return _made(tf, _B, values, [2, 3], dtype, fed)


def _made(tf, indices, values, shape, dtype="float32", fed=False):
    """A sparse tensor; where it is "fed", nothing is known of it before the step."""
    if not fed:
        return tf.SparseTensor(indices, tf.constant(values, dtype), shape)
    fed = [
        tf.placeholder_with_default(tf.constant(p, "int64"), [None] * r)
        for p, r in ((indices, 2), (shape, 1))
    ]
    return tf.SparseTensor(fed[0], tf.placeholder_with_default(tf.constant(values, dtype), [None]), fed[1])


def _cube(tf, dtype="float32", fed=False):
    indices = [[0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 1, 0]]
    return _made(tf, indices, [1.0, -2.0, 3.0, 4.0], [2, 2, 3], dtype, fed)


def _told(tf, made):
    """Values, static shapes and the graph of what was made."""
    parts = []
    for value in made if isinstance(made, (list, tuple)) else [made]:
        is_sparse = isinstance(value, (tf.SparseTensor,))
        parts += [value.indices, value.values, value.dense_shape] if is_sparse else [value]
    statics = [
        (v.shape if isinstance(v, tf.SparseTensor) else None)
        for v in (made if isinstance(made, list) else [made])
    ]
    return [run(tf, parts), [(p.name, p.dtype, p.shape) for p in parts], statics, graph(tf)]


# ------------------------------------------------------------------------------------ one function

_ONE = {
    "add": lambda tf, x: tf.sparse.add(x, _b(tf)),
    "add threshold": lambda tf, x: tf.sparse.add(x, _b(tf), 0.2),
    "add thresh": lambda tf, x: tf.sparse_add(x, _b(tf), thresh=4.0),
    "add dense": lambda tf, x: tf.sparse.add(x, tf.ones([2, 3])),
    "add to dense": lambda tf, x: tf.sparse.add(tf.ones([2, 3]), x),
    "concat": lambda tf, x: tf.sparse.concat(0, [x, _b(tf)]),
    "concat wide": lambda tf, x: tf.sparse.concat(1, [x, _b(tf)], expand_nonconcat_dim=True),
    "expand_dims": lambda tf, x: (
        tf.sparse.expand_dims(x) if x.dense_shape.shape.ndims and x.dense_shape.shape[0].value else x
    ),
    "fill_empty_rows": lambda tf, x: list(tf.sparse.fill_empty_rows(tf.sparse.reset_shape(x, [4, 3]), 9.0)),
    "matmul": lambda tf, x: tf.sparse.matmul(x, tf.ones([3, 2])),
    "matmul adjoint": lambda tf, x: tf.sparse.sparse_dense_matmul(
        x, tf.ones([4, 2]), True, True, name="mine"
    ),
    "maximum": lambda tf, x: tf.sparse.maximum(x, _b(tf)),
    "minimum": lambda tf, x: tf.sparse_minimum(x, _b(tf), name="mine"),
    "merge": lambda tf, x: tf.sparse_merge(_made(tf, _A, [7, 0, 2], [2, 3], "int32"), x, 8),
    "merge two": lambda tf, x: tf.sparse_merge(
        [_made(tf, _A, [7, 0, 2], [2, 3], "int64"), _made(tf, _A, [1, 1, 0], [2, 3], "int64")], x, [8, 2]
    ),
    "merge sorted": lambda tf, x: tf.sparse_merge(
        _made(tf, _A, [0, 7, 2], [2, 3], "int64"), x, 8, name="mine", already_sorted=True
    ),
    "reduce_sum": lambda tf, x: tf.sparse.reduce_sum(x),
    "reduce_max": lambda tf, x: tf.sparse.reduce_max(x, 1),
    "reduce_sum_sparse": lambda tf, x: tf.sparse.reduce_sum_sparse(x, 0),
    "reduce_max_sparse": lambda tf, x: tf.sparse_reduce_max_sparse(x, [0], keep_dims=True),
    "reorder": lambda tf, x: tf.sparse.reorder(x),
    "reorder named": lambda tf, x: tf.sparse_reorder(x, name="mine"),
    "reset_shape": lambda tf, x: tf.sparse.reset_shape(x),
    "reset_shape larger": lambda tf, x: tf.sparse_reset_shape(x, [5, 4]),
    "reshape": lambda tf, x: tf.sparse.reshape(x, [3, -1]),
    "reshape named": lambda tf, x: tf.sparse_reshape(x, [6], name="mine"),
    "retain": lambda tf, x: tf.sparse.retain(x, [True, False, True]),
    "slice": lambda tf, x: tf.sparse.slice(x, [0, 1], [2, 1]),
    "slice beyond": lambda tf, x: tf.sparse_slice(x, [1, 0], [9, 9], name="mine"),
    "softmax": lambda tf, x: tf.sparse.softmax(x),
    "split": lambda tf, x: tf.sparse.split(sp_input=x, num_split=2, axis=1),
    "split named": lambda tf, x: tf.sparse_split(sp_input=x, num_split=2, axis=0, name="mine"),
    "to_dense": lambda tf, x: tf.sparse.to_dense(x),
    "to_dense default": lambda tf, x: tf.sparse_tensor_to_dense(x, -1.0, name="mine"),
    "transpose": lambda tf, x: tf.sparse.transpose(x),
    "transpose by": lambda tf, x: tf.sparse_transpose(x, [1, 0], name="mine"),
    "times": lambda tf, x: x * [1.0, 2.0, 3.0],
    "times column": lambda tf, x: x * tf.constant([[2.0], [3.0]]),
    "dense times": lambda tf, x: tf.constant([1.0, 2.0, 3.0]) * x,
    "divided": lambda tf, x: x / 2.0,
    "divided by": lambda tf, x: x / tf.constant([[2.0], [4.0]]),
    "abs": lambda tf, x: tf.abs(x),
    "negative": lambda tf, x: tf.negative(x),
    "square": lambda tf, x: tf.square(x),
    "cast": lambda tf, x: tf.cast(x, tf.int32),
    "shape": lambda tf, x: [tf.shape(x), tf.size(x), tf.rank(x)],
    "identity of parts": lambda tf, x: tf.SparseTensor(
        tf.identity(x.indices), x.values, tf.identity(x.dense_shape)
    ),
    "serialize": lambda tf, x: tf.serialize_sparse(x),
    "serialize many": lambda tf, x: tf.io.serialize_many_sparse(x, name="mine"),
    "there and back": lambda tf, x: tf.deserialize_many_sparse(
        tf.serialize_many_sparse(x), tf.float32, rank=2
    ),
    "retain none": lambda tf, x: tf.sparse.retain(x, [False, False, False]),
    "sparse_to_dense": lambda tf, x: tf.sparse_to_dense(x.indices, x.dense_shape, x.values, -1.0),
    "indicator": lambda tf, x: tf.sparse.to_indicator(
        tf.SparseTensor(x.indices, tf.constant([4, 0, 2]), x.dense_shape), 5
    ),
}


@cases(*product(_ONE, ["known", "fed"]))
def one_function(tf, np, key, how):
    return _told(tf, _ONE[key](tf, _a(tf, fed=how == "fed")))


@cases(*sorted(_ONE))
def one_function_of_nothing(tf, np, key):
    if key in ("retain", "retain none", "indicator", "merge", "merge two", "merge sorted"):
        return None
    x = _made(tf, np.zeros([0, 2], np.int64), [], [2, 3])
    made = _ONE[key](tf, x)
    return _told(tf, made)[:2]


@cases(*product([None, 0, 1, 2, -1, [0, 2], [-1, 0], [], [0, 1, 2]], [False, True], ["sum", "max"]))
def reductions(tf, np, axis, keep, what):
    x = _cube(tf)
    dense = getattr(tf.sparse, "reduce_" + what)(x, axis, keep)
    sparse = getattr(tf.sparse, "reduce_%s_sparse" % what)(x, axis, keep)
    known = dense.shape if axis is not None else None
    return [run(tf, [dense, sparse]), known, sparse.indices.shape]


_DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "complex64"]


@cases(
    *product(
        ["add", "times", "divided", "reduce_sum", "reduce_max", "maximum", "to_dense", "concat", "reorder"],
        _DTYPES,
    )
)
def dtypes(tf, np, key, dtype):
    if dtype == "complex64" and key in ("reduce_max", "maximum"):
        return None
    if dtype in ("float16", "uint8") and key == "add":
        return None
    if dtype in ("float16", "int8", "int16", "uint8", "complex64") and key in ("divided", "times"):
        dtype = {"complex64": "float64"}.get(dtype, "float32")
    a, b = _a(tf, [4, 6, 1], dtype), _b(tf, [3, 1, 5, 7], dtype)
    made = {
        "add": lambda: tf.sparse.add(a, b),
        "times": lambda: a * tf.constant([1, 2, 3], dtype),
        "divided": lambda: a / tf.constant([3, 2, 4], dtype),
        "reduce_sum": lambda: tf.sparse.reduce_sum(b, 1),
        "reduce_max": lambda: tf.sparse.reduce_max(b, 0),
        "maximum": lambda: tf.sparse.maximum(a, b),
        "to_dense": lambda: tf.sparse.to_dense(a),
        "concat": lambda: tf.sparse.concat(1, [a, b]),
        "reorder": lambda: tf.sparse.reorder(_made(tf, _B[::-1], [1, 2, 3, 4], [2, 3], dtype)),
    }[key]()
    return run(tf, made)


@cases(*product(["float32", "float64", "int32", "complex64"], [False, True], [False, True]))
def products(tf, np, dtype, adjoint_a, adjoint_b):
    values = (normal(np, 3) * 5 + (2j if dtype == "complex64" and not adjoint_a else 0)).astype(dtype)
    shape = (2, 4) if adjoint_a else (3, 4)
    b = (normal(np, *shape) * 5 + (1j if dtype == "complex64" else 0)).astype(dtype)
    b = np.conj(b.T) if adjoint_b else b
    made = tf.sparse.matmul(_made(tf, _A, values, [2, 3], dtype), b, adjoint_a, adjoint_b)
    return [run(tf, made), made.shape]


def product_shapes(tf, np):
    x = tf.sparse_placeholder(tf.float32)
    y = tf.sparse_placeholder(tf.float32, [None, 3])
    z = tf.sparse_placeholder(tf.float32, [2, 3])
    b, u = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32)
    pairs = [(x, b), (y, b), (z, b), (z, u), (x, u)]
    made = [tf.sparse.matmul(*pair) for pair in pairs]
    return [m.shape for m in made] + [raises(tf.sparse.matmul, z, tf.ones([2, 2]))]


# ------------------------------------------------------------------------------------ gradients

_SMOOTH = {
    "add": lambda tf, v, w: (
        tf.sparse.add(tf.SparseTensor(_A, v, [2, 3]), tf.SparseTensor(_A[:2], w[0], [2, 3])).values
    ),
    "add threshold": lambda tf, v, w: (
        tf.sparse.add(tf.SparseTensor(_A, v, [2, 3]), tf.SparseTensor(_A[:2], w[0], [2, 3]), 1.0).values
    ),
    "add dense": lambda tf, v, w: tf.sparse.add(tf.SparseTensor(_A, v, [2, 3]), tf.transpose(w)),
    "matmul": lambda tf, v, w: tf.sparse.matmul(tf.SparseTensor(_A, v, [2, 3]), w),
    "matmul adjoint a": lambda tf, v, w: tf.sparse.matmul(
        tf.SparseTensor(_A, v, [2, 3]), tf.transpose(w), adjoint_a=True
    ),
    "matmul adjoint b": lambda tf, v, w: tf.sparse.matmul(
        tf.SparseTensor(_A, v, [2, 3]), tf.transpose(w), adjoint_b=True
    ),
    "matmul adjoint both": lambda tf, v, w: tf.sparse.matmul(tf.SparseTensor(_A, v, [2, 3]), w, True, True),
    "times": lambda tf, v, w: (tf.SparseTensor(_A, v, [2, 3]) * tf.transpose(w)).values,
    "times row": lambda tf, v, w: (tf.SparseTensor(_A, v, [2, 3]) * w[:, 0]).values,
    "times column": lambda tf, v, w: (tf.SparseTensor(_A, v, [2, 3]) * tf.expand_dims(w[0], 1)).values,
    "divided": lambda tf, v, w: (tf.SparseTensor(_A, v, [2, 3]) / tf.transpose(w)).values,
    "reduce_sum": lambda tf, v, w: tf.sparse.reduce_sum(tf.SparseTensor(_A, v, [2, 3])),
    "reduce_sum axis": lambda tf, v, w: tf.sparse.reduce_sum(tf.SparseTensor(_A, v, [2, 3]), -1),
    "reduce_sum kept": lambda tf, v, w: tf.sparse.reduce_sum(tf.SparseTensor(_A, v, [2, 3]), 0, True),
    "softmax": lambda tf, v, w: tf.sparse.softmax(tf.SparseTensor(_A, v, [2, 3])).values,
    "reorder": lambda tf, v, w: tf.sparse.reorder(tf.SparseTensor(_A[::-1], v, [2, 3])).values,
    "transpose": lambda tf, v, w: tf.sparse.transpose(tf.SparseTensor(_A, v, [2, 3])).values,
    "slice": lambda tf, v, w: tf.sparse.slice(tf.SparseTensor(_A, v, [2, 3]), [0, 1], [1, 2]).values,
    "to_dense": lambda tf, v, w: tf.sparse.to_dense(tf.SparseTensor(_A, v, [2, 3]), w[0, 0]),
    "fill_empty_rows": lambda tf, v, w: (
        tf.sparse.fill_empty_rows(tf.SparseTensor(_A, v, [4, 3]), w[0, 0])[0].values
    ),
    "retain": lambda tf, v, w: tf.sparse.retain(tf.SparseTensor(_A, v, [2, 3]), [True, False, True]).values,
    "reshape": lambda tf, v, w: tf.sparse.reshape(tf.SparseTensor(_A, v, [2, 3]), [3, 2]).values,
    "expand_dims": lambda tf, v, w: tf.sparse.expand_dims(tf.SparseTensor(_A, v, [2, 3]), 0).values,
    "from_dense": lambda tf, v, w: tf.sparse.from_dense(w).values,
    "concat": lambda tf, v, w: tf.sparse.concat(0, [tf.SparseTensor(_A, v, [2, 3])] * 2).values,
    "dense times": lambda tf, v, w: (tf.transpose(w) * tf.SparseTensor(_A, v, [2, 3])).values,
    "several": lambda tf, v, w: tf.sparse.reduce_sum(
        tf.sparse.softmax(tf.SparseTensor(_A, v, [2, 3]) * w[:, 0]), 0
    ),
}


@cases(*product(_SMOOTH, ["float32", "float64"]))
def gradients(tf, np, key, dtype):
    if key == "concat":  # it has none
        v = tf.placeholder(dtype, [3])
        return tf.gradients(_SMOOTH[key](tf, v, None), v)
    v, w = normal(np, 3).astype(dtype), (normal(np, 3, 2) + 3).astype(dtype)
    return differentiated(tf, np, lambda v, w: _SMOOTH[key](tf, v, w), v, w)


@cases(*[key for key in _SMOOTH if key not in ("concat", "from_dense", "retain")])
def gradient_graphs(tf, np, key):
    v, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3, 2])
    y = _SMOOTH[key](tf, v, w)
    grads = tf.gradients(y, [v, w])
    return [[None if g is None else (g.name, g.shape) for g in grads], graph(tf)]


def no_gradient(tf, np):
    x = _a(tf)
    made = [
        tf.sparse.reduce_max(x),
        tf.sparse.reduce_sum_sparse(x).values,
        tf.sparse.split(sp_input=x, num_split=2, axis=0)[0].values,
    ]
    return [raises(tf.gradients, y, x.values) for y in made]


# ------------------------------------------------------------------------------------ making and words


def eyes(tf, np):
    made = [
        tf.sparse.eye(3),
        tf.sparse.eye(2, 4, tf.int32, name="mine"),
        tf.sparse.eye(tf.constant(3), tf.constant(2)),
        tf.sparse.eye(0),
    ]
    return _told(tf, made) + [raises(tf.sparse.eye, 2.0)]


@cases("unknown", "rank", "known", "partly", "tensor")
def placeholders(tf, np, how):
    shape = {
        "unknown": None,
        "rank": [None, None],
        "known": [2, 3],
        "partly": [None, 3],
        "tensor": tf.constant([2, 3], tf.int64),
    }[how]
    made = tf.sparse_placeholder(tf.float32, shape)
    named = tf.sparse.placeholder(tf.int32, shape, name="mine")
    value = tf.SparseTensorValue(np.array(_A), np.array([1.0, 2.0, 3.0]), np.array([2, 3]))
    parts = [made.indices, made.values, made.dense_shape, named.indices, named.values, named.dense_shape]
    fed = tf.Session().run(tf.sparse.to_dense(made), {made: value})
    return [[(p.name, p.shape) for p in parts], made.shape, named.shape, fed, graph(tf)]


@cases("float32", "float64", "int64", "uint8", "complex64")
def from_dense(tf, np, dtype):
    x = np.array([[0, 1, 2], [3, 0, 0]]).astype(dtype)
    return _told(tf, tf.sparse.from_dense(x)) + [run(tf, tf.sparse.from_dense(np.zeros([2, 0], dtype)))]


@cases(*product([0, 1, 2, -1, -2, -3], ["int", "tensor"]))
def expanded(tf, np, axis, kind):
    made = tf.sparse.expand_dims(_a(tf), axis if kind == "int" else tf.constant(axis))
    return _told(tf, made)


@cases([0, 1, 2], [2, 1, 0], [1, 2, 0])
def transposed(tf, np, perm):
    return _told(tf, tf.sparse.transpose(_cube(tf), list(perm)))


@cases(*product([1, 2, 3], [0, 1, 2]))
def splits(tf, np, count, axis):
    return (
        raises(lambda: run(tf, tf.sparse.split(sp_input=_cube(tf), num_split=count, axis=axis)))
        if (count > [2, 2, 3][axis])
        else run(tf, tf.sparse.split(sp_input=_cube(tf), num_split=count, axis=axis))
    )


@cases(*product([[0, 0, 0], [1, 0, 0], [0, 1, 1]], [[2, 2, 3], [1, 1, 1], [1, 9, 2], [2, 0, 3]]))
def slices(tf, np, start, size):
    return run(tf, tf.sparse.slice(_cube(tf), list(start), list(size)))


@cases([4, 3], [-1], [2, -1, 1], [1, 12], [12, 1, 1], [3, 2, 2])
def reshapes(tf, np, shape):
    fed = tf.sparse.reshape(_cube(tf, fed=True), list(shape))
    made = tf.sparse.reshape(_cube(tf), list(shape))
    return [run(tf, [made, fed]), made.shape, fed.shape]


def reshape_partly_known(tf, np):
    n = tf.placeholder_with_default(tf.constant(4, tf.int64), [])
    made = [
        tf.sparse.reshape(_cube(tf), tf.stack([n, tf.constant(3, tf.int64)])),
        tf.sparse.reshape(_cube(tf, fed=True), tf.stack([n, tf.constant(3, tf.int64)])),
        tf.sparse.reshape(_cube(tf), tf.stack([n, tf.constant(-1, tf.int64)])),
    ]
    return [[m.shape for m in made], run(tf, made)]


@cases(*product([True, False], ["in order", "mixed"], ["some empty", "all full", "no rows", "no elements"]))
def filled(tf, np, words, order, which):
    indices = {
        "some empty": ([[1, 0], [1, 2], [3, 1]], [5, 3]),
        "all full": ([[0, 0], [1, 2], [2, 1]], [3, 3]),
        "no rows": ([], [0, 3]),
        "no elements": ([], [2, 3]),
    }[which]
    places = np.array(indices[0], np.int64).reshape(-1, 2)
    places = places[::-1] if order == "mixed" else places
    values = np.array(["a", "b", "c"] if words else [1, 2, 3])[: len(places)]
    values = tf.constant(values.tolist(), tf.string if words else tf.int64)
    x = tf.SparseTensor(places, values, indices[1])
    made, empty = tf.sparse.fill_empty_rows(x, "z" if words else 9)
    raw = tf.raw_ops.SparseFillEmptyRows(
        indices=places,
        values=values,
        dense_shape=tf.constant(indices[1], tf.int64),
        default_value="z" if words else tf.constant(9, tf.int64),
    )
    return [run(tf, [made, empty, raw[3]]), [r.shape for r in raw]]


def strings(tf, np):
    x = tf.SparseTensor(_A, ["a", "b", "c"], [2, 3])
    made = [
        tf.sparse.to_dense(x),
        tf.sparse.to_dense(x, "z"),
        tf.sparse.reorder(tf.SparseTensor(_A[::-1], ["a", "b", "c"], [2, 3])),
        tf.sparse.concat(1, [x, x]),
        tf.sparse.slice(x, [0, 1], [1, 2]),
        tf.sparse.split(sp_input=x, num_split=3, axis=1),
        tf.sparse.retain(x, [True, False, True]),
        tf.sparse.reshape(x, [3, 2]),
        tf.sparse.transpose(x),
        tf.sparse.expand_dims(x, 0),
        tf.sparse.reset_shape(x, [4, 4]),
        tf.sparse_to_dense([[1]], [3], ["q"], "r"),
    ]
    return run(tf, made)


@cases("scalar", "vector", "matrix")
def sparse_to_dense(tf, np, rank):
    indices = {"scalar": 2, "vector": [1, 3], "matrix": [[1], [3]]}[rank]
    values = 7.0 if rank == "scalar" else [7.0, 8.0]
    made = [
        tf.sparse_to_dense(indices, [5], values),
        tf.sparse_to_dense(indices, [5], 3.0, -1.0, name="mine"),
        tf.sparse_to_dense(tf.constant(indices, tf.int64), tf.constant([5], tf.int64), True, False),
    ]
    return [run(tf, made), [m.shape for m in made], graph(tf)]


def masks(tf, np):
    rows = tf.IndexedSlices(tf.constant(normal(np, 4, 2)), tf.constant([3, 0, 5, 0]), tf.constant([9, 2]))
    made = tf.sparse.mask(rows, [0, 7])
    named = tf.sparse_mask(rows, tf.constant([3]), name="mine")
    return [run(tf, [made, named]), made.values.shape, made.indices.shape, graph(tf)]


def static_operators(tf, np):
    x = _a(tf)
    ints = _made(tf, _A, [7, -7, 2], [2, 3], "int32")
    return [
        run(tf, [x * 2.0, x / np.float32(2), ints / 2, ints * [1, 2, 3], ints / [[2], [3]]]),
        (ints / 2).dtype,
        raises(lambda: x + 1.0),
        raises(lambda: x - x),
        raises(lambda: -x),
        raises(lambda: 2.0 * x),
        raises(lambda: x * ints),
        raises(lambda: tf.ones([2, 3]) + x),
        raises(lambda: x * tf.ones([2, 3], tf.float64)),
    ]


# ------------------------------------------------------------------------------------ not numbers


@cases(
    "maximum", "minimum", "reduce_max", "reduce_max_sparse", "softmax", "add", "add threshold", "reduce_sum"
)
def of_nan_and_infinity(tf, np, key):
    nan, inf = np.nan, np.inf
    a, b = _a(tf, [nan, nan, inf]), _b(tf, [nan, 1.0, nan, -inf])
    made = {
        "maximum": lambda: [tf.sparse.maximum(a, b), tf.sparse.maximum(b, a)],
        "minimum": lambda: [tf.sparse.minimum(a, b), tf.sparse.minimum(b, a)],
        "reduce_max": lambda: [tf.sparse.reduce_max(v, k) for v in (a, b) for k in (0, 1)],
        "reduce_max_sparse": lambda: [tf.sparse.reduce_max_sparse(v, k) for v in (a, b) for k in (0, 1)],
        "softmax": lambda: [tf.sparse.softmax(a), tf.sparse.softmax(b)],
        "add": lambda: tf.sparse.add(a, b),
        "add threshold": lambda: tf.sparse.add(a, b, 0.5),
        "reduce_sum": lambda: [tf.sparse.reduce_sum(a, 0), tf.sparse.reduce_sum(b, 1)],
    }[key]()
    return run(tf, made)


# ------------------------------------------------------------------------------------ crossing


def _columns(tf):
    x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c" * 40], [2, 2])
    y = tf.SparseTensor([[0, 0], [1, 0], [1, 2]], ["d", "", "f"], [2, 3])
    n = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([1, -2, 3], tf.int64), [2, 2])
    return {"x": x, "y": y, "n": n, "z": tf.constant([["g"], ["h"]]), "m": tf.constant([[1, 2], [3, 4]])}


@cases("x", "xy", "xyz", "xn", "nn", "mx", "zxm", "n", "z", "zz")
def crosses(tf, np, which):
    columns = _columns(tf)
    inputs = [columns[letter] for letter in which]
    made = [
        tf.sparse.cross(inputs),
        tf.sparse.cross_hashed(inputs),
        tf.sparse.cross_hashed(inputs, num_buckets=17, name="mine"),
        tf.sparse.cross_hashed(inputs, num_buckets=1000, hash_key=12345),
    ]
    return [run(tf, made), [(m.indices.shape, m.values.shape, m.dense_shape.shape) for m in made], graph(tf)]


def crosses_of_few(tf, np):
    x = _columns(tf)["x"]
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros(0, np.int64), [2, 0])
    row = tf.SparseTensor([[1, 0]], ["q"], [2, 1])
    return [
        run(tf, [tf.sparse.cross([x, empty]), tf.sparse.cross_hashed([row, x]), tf.sparse.cross([])]),
        raises(tf.sparse.cross, (x, x)),
        raises(tf.sparse.cross, [x, 1]),
        raises(run, tf, tf.sparse.cross([x, tf.SparseTensor([[1, 0]], ["q"], [3, 1])])),
        raises(run, tf, tf.sparse.cross([x, tf.SparseTensor([[1]], ["q"], [3])])),
    ]


# ------------------------------------------------------------------------------------ edit distances


def _ragged(tf, np, rows, width, dtype):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [v for row in rows for v in row]
    places = np.array(indices, np.int64).reshape(-1, 2)
    return tf.SparseTensor(places, tf.constant(values, dtype), [len(rows), width])


@cases(*product(["int32", "int64", "string", "float32"], [True, False]))
def edit_distances(tf, np, dtype, normalize):
    rng = np.random.RandomState(3)
    sides = []
    for _ in range(2):
        rows = [rng.randint(0, 3, size=rng.randint(0, 9)).tolist() for _ in range(12)]
        rows = [[str(v) for v in row] if dtype == "string" else row for row in rows]
        sides.append(_ragged(tf, np, rows, 9, dtype))
    made = tf.edit_distance(*sides, normalize=normalize)
    return [run(tf, made), made, graph(tf)]


def edit_distance_shapes(tf, np):
    h = tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ["a", "b"], [2, 1, 1])
    t = tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ["a", "b", "c", "a"], [2, 2, 2])
    u = tf.sparse_placeholder(tf.string)
    none = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros(0, np.int64), [2, 2])
    made = [tf.edit_distance(h, t), tf.edit_distance(h, t, False), tf.edit_distance(none, none, name="none")]
    return [
        run(tf, made),
        made,
        tf.edit_distance(u, t).shape,
        raises(tf.edit_distance, tf.SparseTensor([[0]], ["a"], [1]), t),
        raises(tf.edit_distance, [1], t),
        raises(tf.edit_distance, t, [1]),
        raises(run, tf, tf.edit_distance(tf.SparseTensor([[0]], [1], [1]), tf.SparseTensor([[0]], [1], [1]))),
        raises(tf.edit_distance, t, none),
    ]


# ------------------------------------------------------------------------------------ serialization


@cases("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool", "complex64", "string")
def serialized(tf, np, dtype):
    values = tf.constant(["a", "", "ccc"]) if dtype == "string" else tf.cast(tf.constant([1, 0, 3]), dtype)
    x = tf.SparseTensor([[0, 1], [2, 0], [2, 2]], values, [3, 4])
    many = tf.serialize_many_sparse(x)
    back = tf.deserialize_many_sparse(many, x.dtype)
    variants = tf.raw_ops.DeserializeSparse(
        serialized_sparse=tf.serialize_many_sparse(x, out_type=tf.variant), dtype=x.dtype
    )
    single = tf.raw_ops.DeserializeSparse(serialized_sparse=tf.serialize_sparse(x), dtype=x.dtype)
    parts = [back.indices, back.values, back.dense_shape]
    return [
        run(tf, [tf.serialize_sparse(x), many, back, list(variants), list(single)]),
        many.shape,
        [p.shape for p in parts],
    ]


def deserialized(tf, np):
    a, b = _a(tf), tf.SparseTensor([[4, 0]], [1.0], [5, 1])
    rows = tf.stack([tf.serialize_sparse(v) for v in (a, b)])
    block = tf.reshape(tf.stack([tf.serialize_sparse(v) for v in (a, b, b, a)]), [2, 2, 3])
    flat = tf.SparseTensor([[4]], [1.0], [5])
    return [
        run(tf, tf.deserialize_many_sparse(rows, tf.float32, rank=3)),
        run(tf, list(tf.raw_ops.DeserializeSparse(serialized_sparse=block, dtype=tf.float32))),
        tf.deserialize_many_sparse(rows, tf.float32, rank=3).indices.shape,
        raises(run, tf, tf.deserialize_many_sparse(rows, tf.int32)),
        raises(
            run, tf, tf.deserialize_many_sparse(tf.stack([rows[0], tf.serialize_sparse(flat)]), tf.float32)
        ),
        raises(run, tf, tf.deserialize_many_sparse([["a", "b", "c"]], tf.float32)),
        raises(tf.deserialize_many_sparse, ["a", "b", "c"], tf.float32),
        raises(tf.deserialize_many_sparse, [["a", "b"]], tf.float32),
        raises(run, tf, tf.serialize_many_sparse(flat)),
        raises(run, tf, tf.serialize_many_sparse(tf.SparseTensor(_A[::-1], [1, 2, 3], [2, 3]))),
    ]


def kept_in_a_map(tf, np):
    a, b = _a(tf), _b(tf)
    add = lambda v: tf.raw_ops.AddSparseToTensorsMap(
        sparse_indices=v.indices, sparse_values=v.values, sparse_shape=v.dense_shape, shared_name="kept"
    )
    first = add(a)
    with tf.control_dependencies([first]):
        second = add(b)
    taken = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=tf.stack([second, first]), dtype=tf.float32, shared_name="kept"
    )
    many = tf.raw_ops.AddManySparseToTensorsMap(
        sparse_indices=b.indices, sparse_values=b.values, sparse_shape=b.dense_shape, shared_name="many"
    )
    back = tf.raw_ops.TakeManySparseFromTensorsMap(sparse_handles=many, dtype=tf.float32, shared_name="many")
    missing = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=[9], dtype=tf.float32, shared_name="kept"
    )
    statics = [first.shape, many.shape] + [t.shape for t in taken]
    return [run(tf, [list(taken), list(back)]), statics, raises(run, tf, list(missing))]


# ------------------------------------------------------------------------------------ errors


@cases("to_dense", "to_dense unchecked", "matmul", "times", "fill_empty_rows", "serialize many", "dense add")
def out_of_bounds(tf, np, key):
    x = tf.SparseTensor([[0, 1], [0, 7]], [1.0, 4.0], [2, 3])
    y = tf.SparseTensor([[0, 1], [7, 1]], [1.0, 4.0], [2, 3])
    make = {
        "to_dense": lambda v: tf.sparse.to_dense(v),
        "to_dense unchecked": lambda v: tf.sparse.to_dense(v, validate_indices=False),
        "matmul": lambda v: tf.sparse.matmul(v, tf.ones([3, 2])),
        "times": lambda v: v * tf.ones([2, 3]),
        "fill_empty_rows": lambda v: tf.sparse.fill_empty_rows(v, 0.0)[0],
        "serialize many": lambda v: tf.serialize_many_sparse(v),
        "dense add": lambda v: tf.sparse.add(v, tf.ones([2, 3])),
    }[key]
    return [raises(run, tf, make(y))] + ([] if key == "fill_empty_rows" else [raises(run, tf, make(x))])


def out_of_order(tf, np):
    mixed = tf.SparseTensor([[1, 1], [0, 1]], [1.0, 4.0], [2, 3])
    twice = tf.SparseTensor([[0, 1], [0, 1]], [1.0, 4.0], [2, 3])
    return [
        raises(run, tf, tf.sparse.to_dense(mixed)),
        raises(run, tf, tf.sparse.to_dense(twice)),
        run(tf, tf.sparse.to_dense(mixed, validate_indices=False)),
        run(tf, tf.sparse.to_dense(twice, validate_indices=False)),
        run(tf, tf.sparse.reduce_sum(twice, 0)),
        run(tf, tf.sparse.reduce_sum_sparse(mixed, 1)),
        run(tf, tf.sparse.matmul(mixed, tf.ones([3, 1]))),
        run(tf, tf.sparse.matmul(twice, tf.ones([3, 1]))),
    ]


def wrong_arguments(tf, np):
    x, b = _a(tf), tf.ones([2, 3])
    return {
        "add dense": raises(tf.sparse.add, b, b),
        "add shapes": raises(tf.sparse.add, x, tf.SparseTensor([[0, 0]], [1.0], [2, 2])),
        "add types": raises(tf.sparse.add, x, _b(tf, dtype="float64")),
        "reorder": raises(tf.sparse.reorder, b),
        "retain": raises(tf.sparse.retain, x, [True]),
        "retain rank": raises(tf.sparse.retain, x, [[True]]),
        "split by position": raises(tf.sparse.split, x, 2, 0),
        "split nothing": raises(tf.sparse.split),
        "split no axis": raises(tf.sparse.split, sp_input=x, num_split=2),
        "split too many": raises(run, tf, tf.sparse.split(sp_input=x, num_split=3, axis=0)),
        "split axis": raises(run, tf, tf.sparse.split(sp_input=x, num_split=2, axis=2)),
        "slice": raises(run, tf, tf.sparse.slice(x, [0], [1])),
        "reset": raises(tf.sparse.reset_shape, x, [1, 1]),
        "reset rank": raises(tf.sparse.reset_shape, x, [5]),
        "reset late": raises(run, tf, tf.sparse.reset_shape(_a(tf, fed=True), [1, 1])),
        "reshape": raises(tf.sparse.reshape, x, [4]),
        "reshape twice": raises(tf.sparse.reshape, x, [-1, -1]),
        "reshape late": raises(run, tf, tf.sparse.reshape(_a(tf, fed=True), [4])),
        "reduce": raises(run, tf, tf.sparse.reduce_sum(_a(tf, fed=True), 2)),
        "reduce both": raises(tf.sparse.reduce_sum, x, 0, reduction_axes=1),
        "reduce keep both": raises(tf.sparse.reduce_sum, x, 0, True, keep_dims=True),
        "softmax": raises(run, tf, tf.sparse.softmax(tf.SparseTensor([[0]], [1.0], [2]))),
        "maximum": raises(run, tf, tf.sparse.maximum(x, tf.SparseTensor([[0, 0]], [1.0], [2, 2]))),
        "maximum rank": raises(run, tf, tf.sparse.maximum(x, tf.SparseTensor([[0]], [1.0], [2]))),
        "merge": raises(tf.sparse_merge, x, x, 2.5),
        "merge lengths": raises(tf.sparse_merge, [x, x], x, [3]),
        "merge sizes": raises(tf.sparse_merge, [x, x], x, 3),
        "expand": raises(tf.sparse.expand_dims, x, 1.5),
        "concat": raises(tf.sparse.concat, 0, x),
        "concat late": raises(run, tf, tf.sparse.concat(0, [x, tf.SparseTensor([[0, 0]], [1.0], [2, 2])])),
        "matmul": raises(tf.sparse.matmul, x, tf.ones([4, 2])),
        "matmul late": raises(run, tf, tf.sparse.matmul(_a(tf, fed=True), tf.ones([4, 2]))),
        "times shape": raises(run, tf, x * tf.ones([3, 3])),
        "times rank": raises(run, tf, x * tf.ones([1, 2, 3])),
        "to_dense default": raises(run, tf, tf.sparse.to_dense(x, tf.placeholder_with_default([1.0], None))),
        "sparse_to_dense rank": raises(run, tf, tf.sparse_to_dense([[1, 3]], [5], [7.0])),
        "sparse_to_dense values": raises(run, tf, tf.sparse_to_dense([[1], [2]], [5], [7.0])),
        "fill": raises(tf.sparse.fill_empty_rows, x, "z"),
        "parts": raises(tf.SparseTensor, [[0]], [1.0, 2.0], [3]),
        "parts rank": raises(tf.SparseTensor, [0], [1.0], [3]),
        "parts shape": raises(tf.SparseTensor, [[0, 1]], [1.0], [3]),
        "from value": raises(tf.SparseTensor.from_value, 3),
    }
