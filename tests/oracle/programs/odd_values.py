"""Values at the edges: halves, ends, NaN, nothing, negative unsigned numbers, and messages of tensors."""

from kit import Close, cases, product, raises, run


def leaky_relu_of_halves(tf, np):
    x = tf.constant(np.array([-5, -0.3, -0.001, 0.5, -60000, -np.inf], np.float16))
    made = [tf.nn.leaky_relu(x, alpha) for alpha in (0.2, 0.01, 1.5)]
    return Close(run(tf, made + tf.gradients(made, x)), 0, 0)


def the_end_of_linspace(tf, np):
    start, stop, num = (
        tf.placeholder(tf.float32, []),
        tf.placeholder(tf.float32, []),
        tf.placeholder(tf.int32, []),
    )
    y = tf.linspace(start, stop, num)
    ends = [(0.0, 0.1), (0.0, 0.7), (0.1, 1 / 3.0), (-1.0, 10.1), (2.0, -3.3)]
    with tf.Session() as session:
        made = [session.run(y, {start: a, stop: b, num: n}) for n in (2, 3, 7, 49, 107) for a, b in ends]
    return Close([[each[0], each[-1]] for each in made], 0, 0)


@cases(*product(["float32", "float64"], [2, 3, 5]))
def linspace_to_and_from_infinity(tf, np, dtype, num):
    inf, nan = np.inf, np.nan
    ends = [
        (inf, 1),
        (-inf, 1),
        (1, inf),
        (1, -inf),
        (inf, inf),
        (-inf, inf),
        (inf, -inf),
        (nan, 1),
        (1, nan),
    ]
    return run(tf, [tf.linspace(tf.constant(a, dtype), tf.constant(b, dtype), num) for a, b in ends])


_AROUND_ZERO = [5.5, -5.5, 1.0, -1.0, 0.0, -0.0, float("inf"), float("-inf"), float("nan")]


def _fed(tf, values, dtype):
    """A tensor of these values that no optimizer folds."""
    return tf.placeholder_with_default(tf.constant(values, dtype), [None] * len(tf.constant(values).shape))


@cases("float16", "float32", "float64")
def floormod_of_and_by_infinity(tf, np, dtype):
    x, y = np.meshgrid(_AROUND_ZERO, _AROUND_ZERO)
    made = run(tf, tf.floormod(_fed(tf, x, dtype), _fed(tf, y, dtype)))
    return [made, np.signbit(made) & ~np.isnan(made)]


@cases("float16", "float32", "float64")
def digamma_at_its_poles(tf, np, dtype):
    x = _fed(tf, _AROUND_ZERO + [-2.0, -100.0, -0.5, 1e-3], dtype)
    return Close(run(tf, tf.digamma(x)), 1e-2 if dtype == "float16" else 1e-5)


def polygamma_at_the_poles(tf, np):
    x = _fed(tf, _AROUND_ZERO + [-2.0, -100.0], "float32")
    return Close(run(tf, tf.polygamma(tf.zeros_like(x), x)), 1e-5)


def running_sums_of_halves(tf, np):
    small = np.full(1000000, 1 / 1024.0, np.float16)
    mixed = np.random.RandomState(0).rand(30, 100).astype(np.float16)
    return Close(
        [
            run(tf, tf.cumsum(small))[::100000],
            run(tf, tf.cumsum(mixed, axis=1, reverse=True, exclusive=True)),
            run(tf, tf.cumprod(mixed + np.float16(0.5), axis=0)),
        ],
        0,
        0,
    )


@cases("first", "inside", "all")
def gradients_of_max_pool_at_nan(tf, np, where):
    image = np.random.RandomState(1).rand(2, 6, 6, 3).astype(np.float32)
    if where == "all":
        image[:] = np.nan
    elif where == "first":
        image[:, ::2, ::2] = np.nan
    else:
        image[np.random.RandomState(2).rand(2, 6, 6, 3) < 0.2] = np.nan
    x = tf.constant(image)
    windows = [(2, 2, "VALID"), (3, 2, "SAME"), (3, 1, "VALID"), (2, 1, "SAME")]
    pools = [tf.nn.max_pool(x, [1, k, k, 1], [1, s, s, 1], p) for k, s, p in windows]
    return run(tf, [tf.gradients(y, x)[0] for y in pools])


@cases(
    ([1, 2, 2, 4], [1, 1, 1, 2], [1, 1, 1, 2]),
    ([1, 1, 1, 10], [1, 1, 1, 10], [1, 1, 1, 10]),
    ([1, 2, 2, 4], [1, 2, 2, 2], [1, 1, 1, 2]),
    ([1, 2, 2, 4], [1, 1, 1, 2], [1, 1, 1, 1]),
    ([1, 2, 2, 4], [1, 1, 1, 3], [1, 1, 1, 3]),
)
def max_pool_across_depth(tf, np, shape, ksize, strides):
    x = tf.constant(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    y = tf.nn.max_pool(x, ksize, strides, "SAME")
    try:
        value = run(tf, y)
    except tf.errors.UnimplementedError:
        value = "unimplemented"
    return [value, raises(run, tf, tf.gradients(y, x))]


def _changed(tf, np, name, shape, indices, updates):
    variable = tf.Variable(tf.zeros(shape))
    change = getattr(tf, name)(variable, np.array(indices, np.int32), np.zeros(updates, np.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(change)
        return session.run(variable)


@cases("scatter_update", "scatter_add", "scatter_nd_update", "scatter_nd_add")
def scatter_of_nothing(tf, np, name):
    flat, found = "nd" not in name, []
    arguments = [
        ([3, 2], np.zeros([0] if flat else [0, 1]), [0, 2]),
        ([0, 2], np.zeros([0] if flat else [0, 1]), [0, 2]),
        ([0, 2], [0] if flat else [[0]], [1, 2]),
        ([3, 0], [0, 1] if flat else [[0], [1]], [2, 0]),
    ]
    for each in arguments:
        try:
            found.append(_changed(tf, np, name, *each))
        except (ValueError, tf.errors.InvalidArgumentError) as error:
            found.append(type(error).__name__)
    return found


def gather_of_nothing(tf, np):
    none = np.zeros([3, 0])
    return [
        run(tf, [tf.gather(none, [0, 2]), tf.gather(none.T, [7], axis=1)]),
        run(tf, tf.gather_nd(np.zeros([3, 2]), np.zeros([0, 2], np.int32))),
        raises(run, tf, tf.gather_nd(none, [[0], [2]])),
        raises(run, tf, tf.gather_nd(np.zeros([0, 3]), [[0, 0]])),
        raises(tf.scatter_nd, [[0]], [[1.0, 1.0]], [0, 2]),
    ]


@cases("uint8", "uint16", "uint32", "uint64")
def negative_numbers_of_unsigned_types(tf, np, name):
    dtype = tf.as_dtype(name)
    padded = tf.pad(tf.constant([1], dtype), [[1, 0]], constant_values=-1)
    return run(tf, [tf.constant(-1, dtype), tf.constant([-1, 2], dtype), padded])


_SLICES = {
    "empty": (lambda v: v[1:1], [0, 4]),
    "behind the end": (lambda v: v[5:], [0, 4]),
    "empty, of a scalar": (lambda v: v[1:1], []),
    "empty, of a row": (lambda v: v[1:1], [1, 4]),
    "reversed": (lambda v: v[::-1], [3, 4]),
    "one row": (lambda v: v[1], [4]),
}


@cases(*[(key, resource) for key in _SLICES for resource in (False, True)])
def assignment_to_a_slice(tf, np, key, resource):
    take, shape = _SLICES[key]
    v = tf.get_variable("v", initializer=np.arange(12.0).reshape(3, 4), use_resource=resource)
    change = take(v).assign(np.ones(shape))
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(change), session.run(v)]


_PROTOS = {
    "repeated": (10.0, "float32", [3, 4]),
    "repeated integers": ([1], "int64", [5]),
    "some": ([1, 2], "int32", [4]),
    "many": ([1.0, 2.0], "float64", None),
    "halves": ([1.0, 2.0], "float16", None),
    "complex": ([1 + 2j, 3 - 4j], "complex64", None),
    "a complex": (1 + 2j, "complex128", [3]),
    "bools": ([True, False], "bool", None),
    "strings": ("s", "string", [2]),
    "uint16": ([1, 2], "uint16", None),
    "uint64": ([1, 2], "uint64", None),
}


@cases(*_PROTOS)
def layout_of_a_tensor_proto(tf, np, key):
    value, dtype, shape = _PROTOS[key]
    proto = tf.make_tensor_proto(value, tf.as_dtype(dtype), shape)
    return [proto.SerializeToString(), tf.make_ndarray(proto)]
