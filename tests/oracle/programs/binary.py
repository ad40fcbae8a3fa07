"""Element-wise functions of two tensors: dtypes, broadcasting, integer rules, special values, gradients."""

from kit import cases, differentiated, product, raises, run

_X = [-3.5, -1.25, 0.5, 2.0, 4.5, 7.0]
_Y = [2.0, -0.75, 1.5, -2.0, 0.5, 3.0]


def _function(tf, path):
    for part in path.split("."):
        tf = getattr(tf, part)
    return tf


_FLOAT = (
    "add subtract multiply divide truediv div floordiv floormod mod realdiv maximum minimum "
    "squared_difference math.divide_no_nan math.multiply_no_nan math.atan2 math.xlogy math.xdivy truncatediv "
    "floor_div div_no_nan"
).split()
_NO_HALF = ("math.divide_no_nan", "div_no_nan", "math.multiply_no_nan", "math.atan2")


@cases(
    *[
        r
        for r in product(_FLOAT, ["float16", "float32", "float64"])
        if r[1] != "float16" or r[0] not in _NO_HALF
    ]
)
def real(tf, np, path, dtype):
    y = np.abs(_Y) if path in ("math.xlogy",) else np.array(_Y)
    return differentiated(tf, np, _function(tf, path), np.array(_X, dtype), y.astype(dtype))


_INTEGER = (
    "add subtract multiply floordiv floormod mod div truncatediv truncatemod maximum minimum "
    "squared_difference"
).split()


@cases(*product(_INTEGER, ["int32", "int64"]))
def integer(tf, np, path, dtype):
    x, y = np.array([-7, -7, 7, 7, 6, 0, -6], dtype), np.array([2, -2, 2, -2, 3, 5, 3], dtype)
    made = _function(tf, path)(tf.constant(x), tf.constant(y))
    return [made, run(tf, made)]


@cases(
    ("add", "int8"),
    ("add", "int16"),
    ("add", "uint8"),
    ("multiply", "int8"),
    ("multiply", "uint8"),
    ("multiply", "uint16"),
)
def narrow_integers_wrap(tf, np, path, dtype):
    x, y = tf.constant(np.array([100, 7], dtype)), tf.constant(np.array([100, 200]).astype(dtype))
    made = getattr(tf, path)(x, y)
    return [made, run(tf, made)]


def truncatemod_of_floats(tf, np):
    return run(tf, tf.truncatemod(tf.constant(_X), tf.constant(_Y)))


@cases(*product(["floordiv", "floormod", "div", "mod"], ["int32", "int64"]))
def integer_division_by_zero(tf, np, path, dtype):
    made = _function(tf, path)(tf.constant([1, 2], dtype), tf.placeholder(dtype, [2], "y"))
    return raises(run, tf, made, {"y:0": np.array([1, 0])})


@cases(*product(["int8", "int16", "uint8", "uint16", "int32", "int64"]))
def truediv_of_integers(tf, np, dtype):
    made = tf.truediv(tf.constant([7, 6], dtype), tf.constant([2, 4], dtype))
    return [made, run(tf, made)]


@cases(
    *product(
        ["bitwise_and", "bitwise_or", "bitwise_xor"], ["int8", "int16", "int32", "int64", "uint8", "uint16"]
    )
)
def bits(tf, np, name, dtype):
    x, y = np.array([0, 5, 12, 127], dtype), np.array([3, 3, 10, 85], dtype)
    return run(tf, getattr(tf.bitwise, name)(tf.constant(x), tf.constant(y)))


@cases(*product(["left_shift", "right_shift"], ["int8", "int32", "int64", "uint8"]))
def shifts(tf, np, name, dtype):
    x, y = np.array([1, 5, 64, 100], dtype), np.array([0, 1, 2, 3], dtype)
    return run(tf, getattr(tf.bitwise, name)(tf.constant(x), tf.constant(y)))


@cases(
    *product(
        ["add", "subtract", "multiply", "divide", "pow", "squared_difference"], ["complex64", "complex128"]
    )
)
def complex_(tf, np, path, dtype):
    x, y = np.array([1 + 2j, -0.5 + 1j]).astype(dtype), np.array([0.5 - 1j, 2 + 0.25j]).astype(dtype)
    return differentiated(tf, np, _function(tf, path), x, y)


@cases(
    *product(
        ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"],
        ["float32", "float64", "int32", "int64", "uint8", "float16"],
    )
)
def compared(tf, np, name, dtype):
    x, y = np.array([1, 2, 3, 4], dtype), np.array([1, 3, 2, 4], dtype)
    return differentiated(tf, np, getattr(tf, name), x, y)


@cases(*product(["equal", "not_equal"], ["bool", "string", "complex64"]))
def equality_of_other_dtypes(tf, np, name, dtype):
    given = {
        "bool": ([True, False], [True, True]),
        "string": (["a", "b"], ["a", "c"]),
        "complex64": ([1j, 2], [1j, 2j]),
    }
    x, y = given[dtype]
    return run(tf, getattr(tf, name)(tf.constant(x, dtype), tf.constant(y, dtype)))


@cases("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "maximum", "minimum")
def compared_with_nan(tf, np, name):
    inf, nan = float("inf"), float("nan")
    x, y = np.array([nan, 1.0, inf, -inf, nan]), np.array([1.0, nan, inf, inf, nan])
    if name in ("maximum", "minimum"):
        x, y = x[2:4], y[2:4]
    return run(tf, getattr(tf, name)(tf.constant(x), tf.constant(y)))


@cases("logical_and", "logical_or", "logical_xor")
def logical(tf, np, name):
    x, y = np.array([[True, False], [True, False]]), np.array([True, False])
    return differentiated(tf, np, getattr(tf, name), x, y)


_PAIRS = {
    "scalar right": ([2, 3], []),
    "scalar left": ([], [2, 3]),
    "row": ([2, 3], [3]),
    "column": ([2, 3], [2, 1]),
    "outer": ([3, 1], [1, 4]),
    "more dims": ([2, 1, 3], [4, 1]),
    "ones": ([1], [2, 3]),
    "empty": ([0, 3], [3]),
    "empty by one": ([2, 0], [2, 1]),
    "both scalars": ([], []),
    "both sides grow": ([2, 1, 1, 3], [5, 4, 1]),
}


def _spread(np, shape, start):
    size = int(np.prod(shape))
    return (np.arange(size, dtype=np.float64) * 0.5 + start).reshape(shape)


@cases(
    *product(
        _PAIRS,
        [
            "add",
            "subtract",
            "multiply",
            "divide",
            "maximum",
            "squared_difference",
            "pow",
            "floormod",
            "minimum",
        ],
    )
)
def broadcast(tf, np, pair, path):
    left, right = _PAIRS[pair]
    return differentiated(tf, np, _function(tf, path), _spread(np, left, 1.25), _spread(np, right, 0.75))


@cases(*product(_PAIRS, ["less", "equal", "logical_and"]))
def broadcast_of_flags(tf, np, pair, name):
    left, right = (_spread(np, s, 1.0) for s in _PAIRS[pair])
    if name == "logical_and":
        left, right = left > 1.5, right > 1.5
    return differentiated(tf, np, getattr(tf, name), left, right)


@cases(
    *product(
        ["add", "multiply", "less", "maximum", "pow"],
        [([2, 3], [2]), ([2, 3], [3, 2]), ([0], [2]), ([2, 3, 4], [3])],
    )
)
def shapes_that_do_not_match(tf, np, name, shapes):
    made = getattr(tf, name)
    known = raises(made, tf.zeros(shapes[0]), tf.zeros(shapes[1]))
    a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
    late = raises(run, tf, made(a, b), {a: np.zeros(shapes[0]), b: np.zeros(shapes[1])})
    return [known, late]


@cases(
    {
        "rows": ([None, 3], [None, 1]),
        "rank": (None, [3]),
        "both": ([None], [None]),
        "one": ([1], [None]),
        "two": ([2], [None]),
    }
)
def broadcast_of_unknown_shapes(tf, np, left, right):
    a, b = tf.placeholder(tf.float32, left), tf.placeholder(tf.float32, right)
    made = [a + b, tf.less(a, b), tf.maximum(a, b), tf.squared_difference(a, b)]
    return [made, tf.broadcast_static_shape(a.shape, b.shape)]


@cases(*product(["float32", "float64", "int32", "int64"]))
def powers(tf, np, dtype):
    x, y = np.array([2, 3, 1, 0, 5], dtype), np.array([3, 2, 7, 2, 0], dtype)
    return differentiated(tf, np, tf.pow, x, y)


def powers_of_special_values(tf, np):
    inf, nan = float("inf"), float("nan")
    x, y = np.array([0.0, 0.0, -8.0, 2.0, inf, nan, 1.0]), np.array([0.0, -1.0, 2.0, -inf, -2.0, 0.0, nan])
    return differentiated(tf, np, tf.pow, x, y)


def negative_integer_powers_are_refused(tf, np):
    return raises(run, tf, tf.pow(tf.constant([2]), tf.placeholder(tf.int32, [1], "y")), {"y:0": [-1]})


def division_of_special_values(tf, np):
    inf, nan = float("inf"), float("nan")
    x, y = np.array([1.0, -1.0, 0.0, inf, 0.0, nan]), np.array([0.0, 0.0, 0.0, inf, 5.0, 0.0])
    names = [
        "divide",
        "floordiv",
        "floormod",
        "math.divide_no_nan",
        "math.multiply_no_nan",
        "math.xdivy",
        "math.xlogy",
    ]
    return {n: run(tf, _function(tf, n)(tf.constant(x), tf.constant(y))) for n in names}


@cases(*product(["maximum", "minimum"], ["float32", "float64"]))
def gradient_of_ties(tf, np, name, dtype):
    x = np.array([1.0, 2.0, 3.0], dtype)
    return differentiated(tf, np, getattr(tf, name), x, x.copy())


@cases("xlogy", "xdivy", "divide_no_nan", "multiply_no_nan")
def gradients_at_zero(tf, np, name):
    x, y = np.array([0.0, 1.0, 0.0, 2.0]), np.array([0.0, 2.0, 3.0, 4.0])
    return differentiated(tf, np, getattr(tf.math, name), x, y)


def igamma_family(tf, np):
    a, x = np.array([0.5, 1.0, 3.5, 2.0]), np.array([0.3, 2.0, 1.5, 4.0])
    return {
        "igamma": differentiated(tf, np, lambda x: tf.igamma(tf.constant(a), x), x),
        "igammac": differentiated(tf, np, lambda x: tf.igammac(tf.constant(a), x), x),
        "zeta": run(tf, tf.zeta(tf.constant(a + 1.5), tf.constant(x))),
        "polygamma": run(tf, tf.polygamma(tf.constant([1.0, 2.0, 0.0, 3.0], tf.float64), tf.constant(x))),
        "betainc": differentiated(
            tf, np, lambda z: tf.betainc(tf.constant(a), tf.constant(x), z), np.array([0.2, 0.5, 0.7, 0.9])
        ),
    }


def strings_add(tf, np):
    return run(tf, [tf.add(tf.constant(["a", "b"]), "c"), tf.constant("x") + "y"])


def mixed_dtypes_are_refused(tf, np):
    f, d, i, s, b = (tf.constant(v) for v in ([1.0], np.array([1.0]), [1], ["a"], [True]))
    return {
        "float and double": raises(tf.add, f, d),
        "float and int": raises(tf.multiply, f, i),
        "int and float": raises(lambda: i * f),
        "string minus": raises(tf.subtract, s, s),
        "bool plus": raises(tf.add, b, b),
        "logical of ints": raises(tf.logical_and, i, i),
        "less of strings": raises(tf.less, s, s),
        "truediv": raises(lambda: f / i),
        "bit and": raises(lambda: i & f),
        "int and 1.5": raises(lambda: i + 1.5),
    }


def add_n_sums_many(tf, np):
    x = np.arange(3, dtype=np.float32)
    many = differentiated(tf, np, lambda *xs: tf.add_n(list(xs)), *[x + i for i in range(10)])
    bad = [
        raises(tf.add_n, []),
        raises(tf.add_n, [tf.zeros([2]), tf.zeros([3])]),
        raises(tf.add_n, [tf.zeros([2]), tf.zeros([2], tf.int32)]),
    ]
    return [many, bad]


def accumulate_n_sums_many(tf, np):
    x = np.arange(3, dtype=np.float32)
    return differentiated(tf, np, lambda *xs: tf.accumulate_n(list(xs)), *[x + i for i in range(4)])


def polyval_and_scalar_mul(tf, np):
    return run(
        tf,
        [
            tf.math.polyval([1.0, -2.0, 3.0], tf.constant([0.5, 2.0])),
            tf.scalar_mul(2.0, tf.constant([1.0, 2.0])),
        ],
    )


def approximate_equal(tf, np):
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 2.000001, 3.1])
    return run(
        tf, [tf.raw_ops.ApproximateEqual(x=x, y=y), tf.raw_ops.ApproximateEqual(x=x, y=y, tolerance=0.2)]
    )


@cases("left known", "right known", "none known")
def gradient_of_broadcast_with_unknown_shapes(tf, np, which):
    a = tf.placeholder(tf.float32, [2, 3] if which == "left known" else None)
    b = tf.placeholder(tf.float32, [3] if which == "right known" else None)
    feeds = {a: np.arange(6.0).reshape(2, 3), b: np.array([1.0, 2.0, 3.0])}
    return run(tf, tf.gradients(a * b + a, [a, b]), feeds)


@cases(
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "squared_difference",
    "less",
    "equal",
    "matmul",
)
def bfloat16(tf, np, name):
    x, y = (
        tf.constant([[1.5, 2.25], [-3.0, 0.1]], tf.bfloat16),
        tf.constant([[2.0, 0.5], [1.0, 7.0]], tf.bfloat16),
    )
    made = getattr(tf, name)(x, y)
    return [made, run(tf, made)]


@cases("equal", "less", "less_equal", "greater", "not_equal")
def denormals_are_compared_as_zero(tf, np, name):
    tiny = np.full(1000, 1e-40, np.float32)
    x = tf.placeholder(tf.float32, [1000])
    with tf.Session() as session:
        return session.run(getattr(tf, name)(x, [0.0]), {x: tiny})
