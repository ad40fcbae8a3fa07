"""Element-wise functions of one tensor: ordinary, special and no values, each dtype, and their gradients."""

from kit import cases, differentiated, product, raises, run

_ANYWHERE = [-3.5, -1.5, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 1.5, 2.5, 4.25]
_POSITIVE = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.5, 10.0]
_INSIDE_ONE = [-0.9, -0.5, -0.1, 0.1, 0.5, 0.9]
_SPECIAL = [0.0, float("inf"), -float("inf"), float("nan")]

_REAL = {
    "math.abs": _ANYWHERE,
    "math.negative": _ANYWHERE,
    "math.sign": _ANYWHERE,
    "math.reciprocal": _ANYWHERE,
    "math.square": _ANYWHERE,
    "math.sqrt": _POSITIVE,
    "math.rsqrt": _POSITIVE,
    "math.exp": _ANYWHERE,
    "math.expm1": _ANYWHERE,
    "math.log": _POSITIVE,
    "math.log1p": _POSITIVE,
    "math.sin": _ANYWHERE,
    "math.cos": _ANYWHERE,
    "math.tan": _INSIDE_ONE,
    "math.asin": _INSIDE_ONE,
    "math.acos": _INSIDE_ONE,
    "math.atan": _ANYWHERE,
    "math.sinh": _ANYWHERE,
    "math.cosh": _ANYWHERE,
    "math.tanh": _ANYWHERE,
    "math.asinh": _ANYWHERE,
    "math.acosh": [1.1, 1.5, 2.0, 5.0],
    "math.atanh": _INSIDE_ONE,
    "math.erf": _ANYWHERE,
    "math.erfc": _ANYWHERE,
    "math.lgamma": _POSITIVE,
    "math.digamma": _POSITIVE,
    "math.sigmoid": _ANYWHERE,
    "math.log_sigmoid": _ANYWHERE,
    "math.softplus": _ANYWHERE,
    "math.softsign": _ANYWHERE,
    "math.floor": _ANYWHERE,
    "math.ceil": _ANYWHERE,
    "math.rint": _ANYWHERE,
    "math.round": _ANYWHERE,
    "math.bessel_i0e": _ANYWHERE,
    "math.bessel_i1e": _ANYWHERE,
    "math.reciprocal_no_nan": _ANYWHERE,
    "nn.relu": _ANYWHERE,
    "nn.relu6": [-1.0, 0.5, 3.0, 5.9, 6.1, 8.0],
    "nn.elu": _ANYWHERE,
    "nn.selu": _ANYWHERE,
    "nn.leaky_relu": _ANYWHERE,
    "nn.swish": _ANYWHERE,
    "nn.l2_loss": _ANYWHERE,
    "identity": _ANYWHERE,
    "stop_gradient": _ANYWHERE,
    "zeros_like": _ANYWHERE,
    "ones_like": _ANYWHERE,
}

# Where a kernel has no half: TensorFlow computes these in float32 and float64 only.
_NO_HALF = ("math.digamma", "math.bessel_i0e", "math.bessel_i1e", "math.reciprocal_no_nan")


def _function(tf, path):
    for part in path.split("."):
        tf = getattr(tf, part)
    return tf


def _half_is_fine(row):
    return row[1] != "float16" or row[0] not in _NO_HALF


@cases(*filter(_half_is_fine, product(_REAL, ["float16", "float32", "float64"])))
def real(tf, np, path, dtype):
    return differentiated(tf, np, _function(tf, path), np.array(_REAL[path], dtype))


# Functions whose poles TensorFlow itself answers differently from build to build.
_SPECIAL_SKIP = (
    "math.lgamma",
    "math.digamma",
    "math.bessel_i0e",
    "math.bessel_i1e",
    "nn.l2_loss",
    "math.erf",
    "math.erfc",
)


@cases(*product([p for p in _REAL if p not in _SPECIAL_SKIP], ["float32", "float64"]))
def special(tf, np, path, dtype):
    return differentiated(tf, np, _function(tf, path), np.array(_SPECIAL, dtype))["values"]


@cases(
    *product(
        ["math.abs", "math.sqrt", "math.exp", "math.tanh", "nn.relu", "nn.elu", "math.square", "math.log1p"],
        [[0], [0, 3], [], [1, 1]],
    )
)
def odd_shapes(tf, np, path, shape):
    return differentiated(tf, np, _function(tf, path), np.full(shape, 0.75, np.float32))


@cases(*product(["math.is_nan", "math.is_inf", "math.is_finite"], ["float16", "float32", "float64"]))
def classified(tf, np, path, dtype):
    return differentiated(tf, np, _function(tf, path), np.array(_SPECIAL + [1.0], dtype))


_INTEGER = product(["math.abs", "math.negative", "math.sign", "math.square"], ["int32", "int64"])
_INVERT = product(["bitwise.invert"], ["int8", "int16", "int32", "int64", "uint8", "uint16"])


@cases(*(_INTEGER + _INVERT))
def integer(tf, np, path, dtype):
    x = np.array([-3, -1, 0, 2, 7]).astype(dtype)
    return differentiated(tf, np, _function(tf, path), x)


@cases(*product(["math.floor", "math.ceil", "math.round", "math.rint"], ["float32", "float64"]))
def halves(tf, np, path, dtype):
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 1e8], dtype)
    return run(tf, _function(tf, path)(tf.constant(x)))


def round_of_integers_is_identity(tf, np):
    x = tf.constant([1, -2, 3])
    return [tf.round(x), run(tf, tf.round(x))]


_COMPLEX = (
    "negative square sqrt rsqrt exp log sin cos tan sinh cosh tanh sigmoid reciprocal conj "
    "expm1 log1p asinh acosh atanh sign"
).split()


@cases(*product(_COMPLEX, ["complex64", "complex128"]))
def complex_(tf, np, name, dtype):
    x = np.array([1 + 2j, -0.5 + 0.25j, 0.3 - 1.5j, -1.2 - 0.7j]).astype(dtype)
    return differentiated(tf, np, getattr(tf.math, name), x)


@cases(*product(["real", "imag", "abs", "angle"], ["complex64", "complex128"]))
def parts_of_complex(tf, np, name, dtype):
    x = np.array([1 + 2j, -0.5 + 0.25j, 0.3 - 1.5j]).astype(dtype)
    return differentiated(tf, np, getattr(tf.math, name), x)


@cases("real", "imag", "conj", "angle")
def parts_of_real(tf, np, name):
    x = tf.constant([-1.5, 2.0])
    made = getattr(tf.math, name)(x)
    return [made.dtype, run(tf, made)]


@cases("float32", "float64")
def complex_of_parts(tf, np, dtype):
    return differentiated(tf, np, tf.complex, np.array([1.0, 2.0], dtype), np.array([3.0, -4.0], dtype))


@cases(*product(["logical_not"], [[0], [2], []]))
def logical(tf, np, name, shape):
    return differentiated(tf, np, getattr(tf, name), np.ones(shape, bool))


_CASTS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "int64",
    "bool",
    "complex64",
    "bfloat16",
]


@cases(*product(_CASTS, _CASTS))
def cast(tf, np, source, target):
    x = tf.constant(
        np.array([0, 1, 2, 5]).astype(source) if source != "bfloat16" else [0.0, 1.0, 2.0, 5.0], source
    )
    made = tf.cast(x, target)
    return [made, run(tf, made)]


def cast_truncates_toward_zero(tf, np):
    x = tf.constant([-2.7, -0.5, 0.5, 2.7])
    return run(tf, [tf.cast(x, t) for t in ("int32", "int64", "int16", "bool")])


def cast_wraps_integers(tf, np):
    x = tf.constant([-1, 255, 256, 70000, -129])
    return run(tf, [tf.cast(x, t) for t in ("uint8", "int8", "int16", "uint16")])


def cast_of_lists_slices_and_sparse(tf, np):
    slices = tf.cast(tf.IndexedSlices(tf.constant([1.5]), tf.constant([2])), tf.int32)
    sparse = tf.cast(tf.SparseTensor([[0]], [1.5], [3]), tf.int64)
    return [tf.cast([1.5, 2.5], tf.int32), tf.cast(3, tf.float64), slices, run(tf, sparse)]


@cases("float64", "float16", "complex64", "int32")
def gradient_through_a_cast(tf, np, target):
    return differentiated(tf, np, lambda x: tf.cast(x, target), np.array([1.5, 2.5], np.float32))


def casting_functions_of_old(tf, np):
    x = tf.constant([1.7, -1.7])
    made = [
        tf.to_float(x),
        tf.to_double(x),
        tf.to_int32(x),
        tf.to_int64(x),
        tf.to_bfloat16(x),
        tf.to_complex64(x),
        tf.to_complex128(x),
    ]
    return [made, run(tf, made)]


def saturating_cast(tf, np):
    x = tf.constant([-1000.0, -1.5, 1.5, 1000.0])
    return run(tf, [tf.saturate_cast(x, t) for t in ("int8", "uint8", "int16")])


def bitcast(tf, np):
    x = tf.constant([1.0, -2.0])
    made = [tf.bitcast(x, tf.int32), tf.bitcast(x, tf.uint8), tf.bitcast(tf.constant([[1, 2]]), tf.int64)]
    return [made, run(tf, made), raises(tf.bitcast, tf.constant([1, 2, 3]), tf.int64)]


@cases(*product(["relu", "relu6", "elu", "selu", "softplus", "leaky_relu", "tanh", "sigmoid"], ["float32"]))
def second_derivative(tf, np, name, dtype):
    function = getattr(tf.nn, name)
    return differentiated(
        tf, np, lambda x: tf.gradients(function(x), x)[0], np.array([-1.5, -0.5, 0.5, 2.0], dtype)
    )


_TWICE = (
    "square sqrt rsqrt exp log log1p sin cos tan asin acos atan sinh cosh reciprocal erf expm1 asinh atanh"
).split()


@cases(*_TWICE)
def second_derivative_of_math(tf, np, name):
    function = getattr(tf.math, name)
    return differentiated(
        tf, np, lambda x: tf.gradients(function(x), x)[0], np.array([0.2, 0.5, 0.8], np.float64)
    )


@cases(*product([0.0, 0.1, 0.5], ["float32", "float64"]))
def leaky_relu_slopes(tf, np, alpha, dtype):
    return differentiated(tf, np, lambda x: tf.nn.leaky_relu(x, alpha), np.array([-2.0, 0.0, 3.0], dtype))


@cases("relu", "relu6", "nn.relu ints")
def relu_of_integers(tf, np, name):
    function = tf.nn.relu6 if name == "relu6" else tf.nn.relu
    return run(tf, function(tf.constant([-3, 2, 9])))


def crelu_both_axes(tf, np):
    x = np.array([[-1.0, 2.0], [3.0, -4.0]], np.float32)
    return [differentiated(tf, np, lambda x: tf.nn.crelu(x, axis=a), x) for a in (-1, 0)]


def functions_refuse_dtypes(tf, np):
    ints, text = tf.constant([1, 2]), tf.constant(["a"])
    names = ["sqrt", "exp", "log", "tanh", "sin", "floor", "is_nan", "erf", "lgamma"]
    return {n: [raises(getattr(tf.math, n), ints), raises(getattr(tf.math, n), text)] for n in names}


def functions_of_sparse_tensors(tf, np):
    s = tf.SparseTensor([[0, 1], [1, 0]], [-4.0, 9.0], [2, 2])
    return run(tf, [tf.abs(s), tf.square(s), tf.negative(s), tf.sign(s), tf.tanh(s)])


def clip_by_value_edges(tf, np):
    x = np.array([-3.0, -1.0, 0.0, 1.0, 3.0, float("nan")], np.float32)
    bounds = np.array([-2.0, -2.0, -2.0, 0.5, 0.5, 0.5], np.float32)
    return [
        differentiated(tf, np, lambda x: tf.clip_by_value(x, -1.0, 1.0), x),
        differentiated(tf, np, lambda x, b: tf.clip_by_value(x, b, 2.0), x[:5], bounds[:5]),
        run(tf, tf.clip_by_value(tf.constant([1, 5, 9]), 2, 6)),
    ]


def lgamma_of_negatives(tf, np):
    return run(tf, tf.lgamma(tf.constant([-0.5, -1.5, -2.25], tf.float64)))


def check_numerics_passes_finite_values(tf, np):
    return differentiated(tf, np, lambda x: tf.check_numerics(x, "fine"), np.array([1.0, -2.0], np.float32))


@cases("exp", "tanh", "sqrt", "negative", "abs", "square", "log", "sigmoid", "floor")
def bfloat16(tf, np, name):
    made = getattr(tf.math, name)(tf.constant([0.5, 1.5, 4.0, 10.0], tf.bfloat16))
    return [made, run(tf, made)]
