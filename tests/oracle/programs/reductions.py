"""Reductions, arg-reductions, cumulative sums and matrix products."""

from kit import cases, differentiated, graph, normal, product, raises, run

_REDUCE = "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp".split()
_MORE = ["reduce_std", "reduce_variance"]
_AXES = {
    "all": None,
    "0": 0,
    "1": 1,
    "-1": -1,
    "list": [0, 2],
    "negative list": [-1, 0],
    "empty list": [],
    "tuple": (1, 2),
}


@cases(*product(_REDUCE, _AXES))
def over_axes(tf, np, name, key):
    axis = _AXES[key]
    x = normal(np, 2, 3, 4)
    return [
        differentiated(tf, np, lambda x: getattr(tf, name)(x, axis, keepdims=k), x) for k in (False, True)
    ]


@cases(*product(_MORE, ["all", "0", "-1", "list"]))
def over_axes_of_more(tf, np, name, key):
    x = normal(np, 2, 3, 4)
    return [
        differentiated(tf, np, lambda x: getattr(tf.math, name)(x, _AXES[key], keepdims=k), x)
        for k in (False, True)
    ]


@cases(
    *product(
        ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"],
        ["float16", "float32", "int32", "int64", "uint8", "int8"],
    ),
    ("reduce_sum", "complex64"),
    ("reduce_prod", "complex64"),
)
def of_dtypes(tf, np, name, dtype):
    x = tf.constant(np.array([[1, 2, 3], [4, 5, 7]]).astype(dtype))
    made = [getattr(tf, name)(x), getattr(tf, name)(x, 1)]
    return [made, run(tf, made)]


@cases(*product(["reduce_all", "reduce_any"], _AXES))
def of_flags(tf, np, name, key):
    x = np.arange(24).reshape(2, 3, 4) % 5 > 0
    return [
        differentiated(tf, np, lambda x: getattr(tf, name)(x, _AXES[key], keepdims=k), x)
        for k in (False, True)
    ]


@cases(*product(_REDUCE, [[0], [0, 3], [2, 0]]))
def of_empty(tf, np, name, shape):
    x = np.zeros(shape, np.float32)
    return [differentiated(tf, np, lambda x: getattr(tf, name)(x, axis), x) for axis in (None, 0)]


@cases(*_REDUCE)
def of_scalar(tf, np, name):
    return differentiated(tf, np, getattr(tf, name), np.array(2.5, np.float32))


@cases("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_logsumexp", "reduce_mean")
def of_infinities(tf, np, name):
    inf = float("inf")
    x = np.array([[1.0, inf], [-inf, 2.0], [-inf, -inf]])
    return run(tf, getattr(tf, name)(tf.constant(x), 1))


@cases("reduce_max", "reduce_min")
def gradient_is_shared_by_ties(tf, np, name):
    x = np.array([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0]], np.float32)
    return [differentiated(tf, np, lambda x: getattr(tf, name)(x, axis), x) for axis in (0, 1, None)]


def gradient_of_product_with_zeros(tf, np):
    x = np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 0.0]], np.float32)
    return [differentiated(tf, np, lambda x: tf.reduce_prod(x, axis), x) for axis in (0, 1, None)]


@cases("reduce_sum", "reduce_mean", "reduce_max", "reduce_prod")
def gradient_with_unknown_shape(tf, np, name):
    x = tf.placeholder(tf.float32, [None, 3])
    made = [getattr(tf, name)(x, axis) for axis in (None, 0, 1)]
    feeds = {x: np.arange(6.0).reshape(2, 3) + 1}
    return [made, run(tf, [tf.gradients(y, x)[0] for y in made], feeds)]


def axis_given_as_a_tensor(tf, np):
    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))
    axis = tf.placeholder(tf.int32, [None], "axis")
    made = [
        tf.reduce_sum(x, axis),
        tf.reduce_sum(x, axis, keepdims=True),
        tf.reduce_mean(x, tf.constant(1, tf.int64)),
    ]
    return [made, run(tf, made, {axis: [0, -1]})]


def old_argument_names(tf, np):
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    return run(
        tf,
        [
            tf.reduce_sum(x, reduction_indices=[1]),
            tf.reduce_sum(x, 1, keep_dims=True),
            tf.reduce_max(x, keep_dims=True),
        ],
    )


@cases(2, -3, [0, 5])
def bad_axes(tf, np, axis):
    x = tf.ones([2, 3])
    late = tf.placeholder(tf.int32, name="axis")
    return [raises(tf.reduce_sum, x, axis), raises(run, tf, tf.reduce_sum(x, late), {late: axis})]


def bad_dtypes(tf, np):
    text = tf.constant(["a"])
    return [
        raises(tf.reduce_sum, text),
        raises(tf.reduce_all, tf.constant([1])),
        raises(tf.reduce_mean, tf.constant([True])),
    ]


@cases(*product(["argmax", "argmin"], [None, 0, 1, -1], ["float32", "int32"]))
def arg(tf, np, name, axis, dtype):
    x = np.array([[3, 1, 3, 0], [2, 7, 2, 7], [3, 0, 5, 0]], dtype)
    made = [
        getattr(tf, name)(tf.constant(x), axis),
        getattr(tf, name)(tf.constant(x), axis, output_type=tf.int32),
    ]
    return [made, run(tf, made)]


def arg_of_old_argument_names(tf, np):
    x = tf.constant([[1.0, 5.0], [3.0, 2.0]])
    return run(tf, [tf.argmax(x, dimension=1), tf.arg_max(x, 0), tf.arg_min(x, 0)])


def arg_mistakes(tf, np):
    return [raises(tf.argmax, tf.ones([2, 2]), 2), raises(run, tf, tf.argmax(tf.zeros([2, 0]), 1))]


def arg_of_nan_and_ties(tf, np):
    return run(tf, [tf.argmax(tf.constant([2.0, 9.0, 9.0])), tf.argmin(tf.constant([4.0, 1.0, 1.0]))])


@cases(*product(["cumsum", "cumprod"], [0, 1, -1], [False, True], [False, True]))
def cumulative(tf, np, name, axis, exclusive, reverse):
    return differentiated(tf, np, lambda x: getattr(tf, name)(x, axis, exclusive, reverse), normal(np, 3, 4))


@cases(*product(["cumsum", "cumprod"], ["int32", "float16", "complex64"]))
def cumulative_of_dtypes(tf, np, name, dtype):
    return run(tf, getattr(tf, name)(tf.constant(np.array([[1, 2, 3], [4, 5, 2]]).astype(dtype)), 1))


def cumulative_of_odd_shapes(tf, np):
    empty, scalar = tf.zeros([0, 2]), tf.placeholder(tf.float32)
    return [
        run(tf, [tf.cumsum(empty), tf.cumsum(empty, 1)]),
        raises(run, tf, tf.cumsum(scalar), {scalar: 1.0}),
        raises(run, tf, tf.cumsum(tf.zeros([2]), 1)),
    ]


@cases(*product([None, 0, 1], ["float32", "int32", "bool"]))
def count_nonzero(tf, np, axis, dtype):
    made = tf.count_nonzero(tf.constant(np.array([[0, 1, 2], [3, 0, 0]]).astype(dtype)), axis)
    return [made, run(tf, made)]


def euclidean_norms(tf, np):
    x = tf.constant(normal(np, 2, 3, 4))
    return run(
        tf,
        [tf.math.reduce_euclidean_norm(x, a, keepdims=k) for a in (None, 0, [-1, 0]) for k in (False, True)],
    )


def norms(tf, np):
    x = normal(np, 3, 4)
    kinds = [
        ("euclidean", None),
        ("euclidean", 1),
        (1, 0),
        (2, -1),
        (float("inf"), 1),
        (3, None),
        ("fro", [0, 1]),
    ]
    return [differentiated(tf, np, lambda x: tf.norm(x, ord=o, axis=a), x) for o, a in kinds]


@cases(*product([[0], [1], [0, 1], [-1]], [False, True]))
def moments(tf, np, axes, keep):
    return differentiated(tf, np, lambda x: tf.nn.moments(x, axes, keep_dims=keep), normal(np, 3, 4))


def weighted_moments_and_statistics(tf, np):
    x, w = normal(np, 3, 4).astype(np.float32), np.array([[1.0], [2.0], [0.5]], np.float32)
    weighted = differentiated(tf, np, lambda x, w: tf.nn.weighted_moments(x, [0], w), x, w)
    parts = tf.nn.sufficient_statistics(tf.constant(x), [0], shift=1.0)
    return [weighted, run(tf, parts), run(tf, tf.nn.normalize_moments(*parts))]


_MATMULS = {
    "plain": ([2, 3], [3, 4], {}),
    "transpose a": ([3, 2], [3, 4], {"transpose_a": True}),
    "transpose b": ([2, 3], [4, 3], {"transpose_b": True}),
    "transpose both": ([3, 2], [4, 3], {"transpose_a": True, "transpose_b": True}),
    "vector like": ([1, 3], [3, 1], {}),
    "no rows": ([0, 3], [3, 4], {}),
    "no inner": ([2, 0], [0, 4], {}),
    "batch": ([5, 2, 3], [5, 3, 4], {}),
    "batch transpose a": ([5, 3, 2], [5, 3, 4], {"transpose_a": True}),
    "batch transpose b": ([5, 2, 3], [5, 4, 3], {"transpose_b": True}),
    "batch of batch": ([2, 3, 2, 2], [2, 3, 2, 2], {}),
    "broadcast batch": ([5, 2, 3], [1, 3, 4], {}),
    "broadcast rank": ([2, 3], [5, 3, 4], {}),
    "empty batch": ([0, 2, 3], [0, 3, 4], {}),
}


@cases(*product(_MATMULS, ["float32", "float64"]))
def matmul(tf, np, key, dtype):
    left, right, options = _MATMULS[key]
    a, b = normal(np, *left).astype(dtype), (normal(np, *right) + 0.25).astype(dtype)
    return differentiated(tf, np, lambda a, b: tf.matmul(a, b, **options), a, b)


@cases(*product(["int32", "int64", "float16", "complex64", "complex128"], [2, 3]))
def matmul_of_dtypes(tf, np, dtype, rank):
    a = np.arange(4).reshape([1] * (rank - 2) + [2, 2]).astype(dtype)
    return run(tf, tf.matmul(tf.constant(a), tf.constant(a)))


@cases("adjoint_a", "adjoint_b")
def matmul_of_adjoint(tf, np, option):
    a = np.array([[1 + 1j, 2], [3, 4 - 2j]]).astype(np.complex64)
    return differentiated(tf, np, lambda a, b: tf.matmul(a, b, **{option: True}), a, a + 1)


def matmul_sparse_hints(tf, np):
    a, b = normal(np, 3, 4).astype(np.float32), normal(np, 4, 2).astype(np.float32)
    return differentiated(tf, np, lambda a, b: tf.matmul(a, b, a_is_sparse=True), a, b)


def matmul_mistakes(tf, np):
    a, b = tf.ones([2, 3]), tf.placeholder(tf.float32)
    return {
        "inner": raises(tf.matmul, a, a),
        "rank": raises(tf.matmul, a, tf.ones([3])),
        "batch": raises(tf.matmul, tf.ones([2, 3, 4]), tf.ones([3, 4, 5])),
        "dtype": raises(tf.matmul, a, tf.ones([3, 2], tf.float64)),
        "both transposed and adjoint": raises(tf.matmul, a, a, transpose_a=True, adjoint_a=True),
        "late inner": raises(run, tf, tf.matmul(a, b), {b: np.ones([2, 2])}),
        "late rank": raises(run, tf, tf.raw_ops.MatMul(a=a, b=b), {b: np.ones(3)}),
        "string": raises(tf.matmul, tf.constant([["a"]]), tf.constant([["b"]])),
    }


def matmul_of_unknown_shapes(tf, np):
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3, None])
    u, batch = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 2, 3])
    return [
        tf.matmul(a, b),
        tf.matmul(u, b),
        tf.matmul(batch, batch, transpose_b=True),
        tf.matmul(a, a, transpose_a=True),
        tf.matmul(u, u),
    ]


def matmul_graphs_by_rank(tf, np):
    a, b = tf.placeholder(tf.float32, [2, 2], "a"), tf.placeholder(tf.float32, [3, 2, 2], "b")
    tf.matmul(a, a)
    tf.matmul(b, b, adjoint_b=True)
    tf.matmul(a, a, name="mine")
    tf.gradients(tf.matmul(b, b), b)
    return graph(tf)


_DOTS = {
    "0": 0,
    "1": 1,
    "2": 2,
    "lists": [[0, 1], [1, 0]],
    "one": [[1], [0]],
    "negative": [[-1], [0]],
    "tuple": (0, 1),
}


@cases(*_DOTS)
def tensordot(tf, np, key):
    a, b = normal(np, 3, 3), normal(np, 3, 3) + 1
    return differentiated(tf, np, lambda a, b: tf.tensordot(a, b, _DOTS[key]), a, b)
