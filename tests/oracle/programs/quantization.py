"""Quantized types: conversions, arithmetic, layers, fake quantization."""

from kit import cases, differentiated, graph, normal, product, raises, run

_TYPES = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
_RANGES = [
    (-1.0, 1.0),
    (0.0, 255.0),
    (-3.7, 12.3),
    (0.0, 0.0),
    (2.0, 5.0),
    (-7.0, -2.0),
    (-0.001, 0.001),
    (-1e4, 2e3),
]
_PROPER = [(-1.0, 1.0), (0.0, 255.0), (-3.7, 12.3)]


def _numbers(np, low, high):
    inside = np.random.RandomState(1).uniform(low - 1, high + 1, [5, 8])
    inside[0, :5] = low, high, 0, (low + high) / 2, 1e9
    return inside.astype(np.float32)


def _integers(np, kind, *shape):
    info = np.iinfo(_TYPES[kind])
    return np.random.RandomState(sum(shape)).randint(info.min, info.max, shape, "int64").astype(_TYPES[kind])


def _held(tf, array, kind):
    """A tensor of a quantized type."""
    return tf.constant(array, getattr(tf, kind))


def _random(tf, np, kind, *shape):
    return _held(tf, _integers(np, kind, *shape), kind)


# ---------------------------------------------------------------------------------- conversions


@cases(*product(_TYPES, ["MIN_COMBINED", "MIN_FIRST", "SCALED"], _RANGES))
def quantize(tf, np, kind, mode, ends):
    y = tf.quantization.quantize(_numbers(np, *ends), ends[0], ends[1], getattr(tf, kind), mode)
    return [run(tf, list(y)), list(y), y._fields]


@cases(*product(_TYPES, ["HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"]))
def quantize_halves(tf, np, kind, round_mode):
    top = np.iinfo(_TYPES[kind]).max
    x = (np.arange(-20, 20) / 2).astype(np.float32)
    y = tf.quantization.quantize(x, -float(top), float(top), getattr(tf, kind), "SCALED", round_mode)
    return run(tf, list(y))


@cases(*product(_TYPES, ["MIN_COMBINED", "MIN_FIRST", "SCALED"], _RANGES))
def dequantize(tf, np, kind, mode, ends):
    y = tf.quantization.dequantize(_random(tf, np, kind, 4, 9), ends[0], ends[1], mode)
    return [run(tf, y), y]


@cases(*product(_TYPES, ["MIN_COMBINED", "MIN_FIRST", "SCALED"]))
def there_and_back(tf, np, kind, mode):
    q = tf.quantize_v2(_numbers(np, -2.0, 3.0), -2.0, 3.0, getattr(tf, kind), mode)
    return run(tf, tf.dequantize(q.output, q.output_min, q.output_max, mode))


@cases(
    *product(
        ["float32", "float64"], _RANGES, [True, False], [True, False], [3, 8, 16], ["HALF_TO_EVEN", "HALF_UP"]
    )
)
def quantize_and_dequantize(tf, np, dtype, ends, signed, given, bits, round_mode):
    x = _numbers(np, *ends).astype(dtype)
    low, high = np.asarray(ends[0], dtype), np.asarray(ends[1], dtype)
    return differentiated(
        tf,
        np,
        lambda x: tf.quantization.quantize_and_dequantize(x, low, high, signed, bits, given, round_mode),
        x,
    )


@cases(*product([True, False], [True, False]))
def quantize_and_dequantize_narrow(tf, np, signed, given):
    call = tf.quantization.quantize_and_dequantize
    x = _numbers(np, -2.0, 3.0)
    return run(tf, [call(x, -2.0, 3.0, signed, 4, given, narrow_range=narrow) for narrow in (False, True)])


@cases(*product([2, 8, 13], [True, False]))
def quantize_and_dequantize_v3(tf, np, bits, given):
    build = lambda x: tf.raw_ops.QuantizeAndDequantizeV3(
        input=x, input_min=-1.0, input_max=2.0, num_bits=bits, range_given=given
    )
    return differentiated(tf, np, build, _numbers(np, -1.0, 2.0))


def special_numbers(tf, np):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    return run(
        tf,
        [
            tf.quantization.quantize(x, -2.0, 1.0, tf.quint8).output,
            tf.quantization.quantize_and_dequantize(x, -2.0, 1.0, range_given=True),
            tf.quantization.fake_quant_with_min_max_args(x),
            tf.quantization.fake_quant_with_min_max_vars(x, -1.0, 1.0),
        ],
    )


def empty(tf, np):
    x = np.zeros([0, 3], np.float32)
    q = tf.quantization.quantize(x, -2.0, 1.0, tf.quint8)
    return run(
        tf,
        [
            q.output,
            tf.quantization.dequantize(q.output, 0.0, 1.0),
            tf.quantization.quantize_and_dequantize(x, -2.0, 1.0),
            tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0] * 3, [1.0] * 3),
        ],
    )


# ---------------------------------------------------------------------------------- fake quantization


@cases(*product(_RANGES + [(-0.1, 63.65), (0.3, 0.9)], [2, 4, 8, 16], [False, True]))
def fake_quant(tf, np, ends, bits, narrow):
    x = _numbers(np, *ends)
    low, high = np.float32(ends[0]), np.float32(ends[1])
    by_tensors = lambda x, a, b: tf.quantization.fake_quant_with_min_max_vars(x, a, b, bits, narrow)
    found = [differentiated(tf, np, by_tensors, x, low, high)]
    if low < high:
        by_numbers = lambda x: tf.quantization.fake_quant_with_min_max_args(x, ends[0], ends[1], bits, narrow)
        found.append(differentiated(tf, np, by_numbers, x))
    return found


@cases(*product([(5, 4), (4,), (2, 3, 3, 4)], [2, 8], [False, True]))
def fake_quant_per_channel(tf, np, shape, bits, narrow):
    x = (3 * normal(np, *shape)).astype(np.float32)
    low, high = np.array([-1, -2.5, 0, -0.3], np.float32), np.array([1, 0.7, 0, 6], np.float32)
    build = lambda x, a, b: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, a, b, bits, narrow)
    return differentiated(tf, np, build, x, low, high)


def fake_quant_gradients(tf, np):
    x, g = _numbers(np, -2.0, 2.0), _numbers(np, -1.0, 1.0)
    q = tf.quantization
    return run(
        tf,
        [
            q.fake_quant_with_min_max_args_gradient(g, x, -1.0, 1.0, 4),
            list(q.fake_quant_with_min_max_vars_gradient(g, x, -1.0, 1.0, 4, True)),
            list(q.fake_quant_with_min_max_vars_per_channel_gradient(g, x, [-1.0] * 8, [1.0] * 8)),
        ],
    )


# ---------------------------------------------------------------------------------- ranges


@cases(*product(_PROPER + [(-1e7, 1e7), (1.0, 1.0)], [2**31 - 1, 90000]))
def shrinking(tf, np, ends, largest):
    x = _held(
        tf, np.random.RandomState(0).randint(-largest, largest, [60], "int64").astype("int32"), "qint32"
    )
    ops = tf.raw_ops
    used = ops.RequantizationRange(input=x, input_min=ends[0], input_max=ends[1])
    down = ops.QuantizeDownAndShrinkRange(input=x, input_min=ends[0], input_max=ends[1], out_type=tf.quint8)
    return run(tf, [list(used), list(down)])


@cases(*product(["quint8", "qint8"], _PROPER, [(-1.0, 1.0), (0.0, 6.0), (-100.0, 20.0), (0.0, 0.0)]))
def requantize(tf, np, kind, ends, new):
    y = tf.raw_ops.Requantize(
        input=_random(tf, np, "qint32", 60),
        input_min=ends[0],
        input_max=ends[1],
        requested_output_min=new[0],
        requested_output_max=new[1],
        out_type=getattr(tf, kind),
    )
    return run(tf, list(y))


@cases(*product(["quint8", "qint32"], _PROPER, _PROPER, [0, 1]))
def concat(tf, np, kind, ends, others, axis):
    x = _random(tf, np, kind, 4, 4)
    y = tf.quantized_concat(axis, [x, x], [ends[0], others[0]], [ends[1], others[1]])
    return run(tf, list(y))


def reshape(tf, np):
    y = tf.raw_ops.QuantizedReshape(
        tensor=_random(tf, np, "quint8", 2, 6), shape=[3, -1], input_min=-1.0, input_max=2.0
    )
    return [run(tf, list(y)), list(y)]


# ---------------------------------------------------------------------------------- arithmetic


@cases(*product(["QuantizedAdd", "QuantizedMul"], _PROPER, _PROPER, [(5, 6), (6,), ()]))
def sums_and_products(tf, np, op, ends, others, shape):
    y = getattr(tf.raw_ops, op)(
        x=_random(tf, np, "quint8", 5, 6),
        y=_random(tf, np, "quint8", *shape),
        min_x=ends[0],
        max_x=ends[1],
        min_y=others[0],
        max_y=others[1],
    )
    return [run(tf, list(y)), list(y)]


@cases(*product(["quint8", "qint8"], _PROPER, _PROPER))
def bias_add(tf, np, kind, ends, others):
    y = tf.raw_ops.QuantizedBiasAdd(
        input=_random(tf, np, kind, 5, 6),
        bias=_random(tf, np, kind, 6),
        min_input=ends[0],
        max_input=ends[1],
        min_bias=others[0],
        max_bias=others[1],
        out_type=tf.qint32,
    )
    return [run(tf, list(y)), list(y)]


@cases(*product(_PROPER, _PROPER, [False, True], [False, True]))
def matmul(tf, np, ends, others, transpose_a, transpose_b):
    y = tf.raw_ops.QuantizedMatMul(
        a=_random(tf, np, "quint8", *((4, 3) if transpose_a else (3, 4))),
        b=_random(tf, np, "quint8", *((5, 4) if transpose_b else (4, 5))),
        min_a=ends[0],
        max_a=ends[1],
        min_b=others[0],
        max_b=others[1],
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )
    return [run(tf, list(y)), list(y)]


@cases(
    *product(["QuantizedRelu", "QuantizedRelu6"], ["quint8", "qint32"], _PROPER + [(0.0, 0.0), (2.0, 5.0)])
)
def rectifiers(tf, np, op, kind, ends):
    y = getattr(tf.raw_ops, op)(
        features=_random(tf, np, kind, 40),
        min_features=ends[0],
        max_features=ends[1],
        out_type=getattr(tf, kind),
    )
    return [run(tf, list(y)), list(y)]


# ---------------------------------------------------------------------------------- layers


@cases(*product(_PROPER, _PROPER, [1, 2, 3], ["SAME", "VALID"]))
def conv2d(tf, np, ends, others, stride, padding):
    x, w = _random(tf, np, "quint8", 2, 6, 5, 3), _random(tf, np, "quint8", 3, 2, 3, 4)
    y = tf.nn.quantized_conv2d(x, w, ends[0], ends[1], others[0], others[1], [1, stride, stride, 1], padding)
    return [run(tf, list(y)), list(y)]


@cases(*product(["quantized_avg_pool", "quantized_max_pool"], [1, 2], ["SAME", "VALID"], [(2, 2), (3, 1)]))
def pools(tf, np, pool, stride, padding, size):
    x = _random(tf, np, "quint8", 2, 6, 5, 3)
    window = [1, size[0], size[1], 1]
    y = getattr(tf.nn, pool)(x, -1.0, 2.0, window, [1, stride, stride, 1], padding)
    return [run(tf, list(y)), list(y)]


@cases(*product(_PROPER, [True, False]))
def batch_norm(tf, np, ends, scaled):
    vector = _random(tf, np, "quint8", 3)
    y = tf.raw_ops.QuantizedBatchNormWithGlobalNormalization(
        t=_random(tf, np, "quint8", 2, 3, 4, 3),
        t_min=ends[0],
        t_max=ends[1],
        m=vector,
        m_min=-1.0,
        m_max=1.0,
        v=vector,
        v_min=0.0,
        v_max=4.0,
        beta=vector,
        beta_min=-1.0,
        beta_max=3.0,
        gamma=vector,
        gamma_min=0.0,
        gamma_max=2.0,
        out_type=tf.qint32,
        variance_epsilon=0.001,
        scale_after_normalization=scaled,
    )
    return [run(tf, list(y)), list(y)]


@cases(*product(_PROPER, [False, True], [1e-3, 5.0]))
def instance_norm(tf, np, ends, given, separation):
    y = tf.raw_ops.QuantizedInstanceNorm(
        x=_random(tf, np, "quint8", 2, 5, 4, 3),
        x_min=ends[0],
        x_max=ends[1],
        output_range_given=given,
        given_y_min=-1.5,
        given_y_max=1.2,
        min_separation=separation,
    )
    return [run(tf, list(y)), list(y)]


# ---------------------------------------------------------------------------------- types


@cases(*_TYPES)
def types(tf, np, kind):
    dtype = getattr(tf, kind)
    return [
        str(dtype.as_numpy_dtype),
        tf.as_dtype(dtype.as_numpy_dtype).name,
        dtype.is_quantized,
        dtype.is_integer,
        dtype.size,
        raises(lambda: dtype.min),
        raises(lambda: dtype.max),
    ]


@cases(*_TYPES)
def values(tf, np, kind):
    """Arrays and written elements in, plain integers out."""
    dtype = getattr(tf, kind)
    plain = np.array([1, 2, 3], _TYPES[kind])
    named = plain.view(dtype.as_numpy_dtype)
    fed = tf.placeholder(dtype, [3])
    with tf.Session() as session:
        return [
            session.run([tf.constant(plain, dtype), tf.constant(named), tf.constant([(1,), (2,)], dtype)]),
            [tf.constant(named), tf.constant([(7,), (8,)], dtype)],
            [session.run(tf.dequantize(fed, 0.0, 9.0), {fed: value}) for value in (plain, named, [1, 2, 3])],
            raises(tf.constant, [1, 2], dtype),
            session.run([tf.cast(tf.constant(named), tf.int32), tf.bitcast(plain, dtype)]),
        ]


# ---------------------------------------------------------------------------------- graphs and refusals


def nodes(tf, np):
    x = tf.placeholder(tf.float32, [2, 3])
    low = tf.placeholder(tf.float32, [])
    q = tf.quantization.quantize(x, -1.0, 1.0, tf.quint8, name="held")
    tf.quantization.dequantize(q.output, q.output_min, q.output_max)
    y = tf.quantization.quantize_and_dequantize(x, -1.0, 1.0)
    tf.gradients(y, x)
    tf.gradients(tf.quantization.fake_quant_with_min_max_vars(x, low, 2.0), [x, low])
    tf.gradients(tf.quantization.fake_quant_with_min_max_args(x), x)
    tf.gradients(tf.quantization.fake_quant_with_min_max_vars_per_channel(x, [-1.0] * 3, [1.0] * 3), x)
    tf.nn.quantized_relu_x(q.output, 1.0, q.output_min, q.output_max)
    return graph(tf)


def no_gradients(tf, np):
    x = tf.placeholder(tf.float32, [2, 3])
    q = tf.quantization.quantize(x, -1.0, 1.0, tf.quint8)
    fake = tf.gradients(tf.quantization.fake_quant_with_min_max_args(x), x)
    return [
        raises(tf.gradients, q.output_min, x),
        raises(tf.gradients, tf.quantization.dequantize(q.output, -1.0, 1.0), x),
        raises(tf.gradients, fake, x),
    ]


def refused_at_once(tf, np):
    x, q = tf.ones([2, 3]), tf.quantization
    held = tf.placeholder(tf.quint8, [2, 3])
    return [
        raises(q.quantize, x, [0.0], 1.0, tf.quint8),
        raises(q.quantize, x, 0.0, 1.0, tf.uint8),
        raises(q.quantize, x, 0.0, 1.0, tf.quint8, "MIN"),
        raises(q.dequantize, held, 0.0, [1.0]),
        raises(q.dequantize, x, 0.0, 1.0),
        raises(q.fake_quant_with_min_max_vars, x, [0.0], 1.0),
        raises(q.fake_quant_with_min_max_vars_per_channel, x, [0.0] * 2, [1.0] * 2),
        raises(q.fake_quant_with_min_max_vars_per_channel, 1.0, [0.0] * 2, [1.0] * 2),
        raises(tf.quantized_concat, 0, [held, tf.placeholder(tf.quint8, [2, 4])], [0.0] * 2, [1.0] * 2),
        raises(tf.nn.quantized_relu_x, held, 1.0, [0.0], 1.0),
        raises(tf.nn.quantized_max_pool, held, 0.0, 1.0, [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    ]


@cases("range", "round mode", "no range", "bits", "fake range", "fake bits", "requested", "add")
def refused_by_the_step(tf, np, what):
    q, x = tf.quantization, tf.ones([2, 3])
    held = _random(tf, np, "quint8", 2, 3)
    build = {
        "range": lambda: q.quantize(x, 2.0, 1.0, tf.quint8).output,
        "round mode": lambda: q.quantize(x, 0.0, 1.0, tf.quint8, round_mode="HALF_TO_EVEN").output,
        "no range": lambda: q.quantize_and_dequantize(x, 2.0, 1.0, range_given=True),
        "bits": lambda: q.quantize_and_dequantize(x, 0.0, 1.0, num_bits=63),
        "fake range": lambda: q.fake_quant_with_min_max_args(x, 1.0, 1.0),
        "fake bits": lambda: q.fake_quant_with_min_max_args(x, num_bits=17),
        "requested": lambda: (
            tf.raw_ops.Requantize(
                input=_random(tf, np, "qint32", 3),
                input_min=0.0,
                input_max=1.0,
                requested_output_min=1.0,
                requested_output_max=2.0,
                out_type=tf.quint8,
            ).output
        ),
        "add": lambda: tf.raw_ops.QuantizedAdd(x=held, y=held, min_x=1.0, max_x=1.0, min_y=0.0, max_y=1.0).z,
    }[what]
    return raises(run, tf, build())
