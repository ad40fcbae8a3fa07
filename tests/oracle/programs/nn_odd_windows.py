"""Convolutions and pools where their windows fit badly: odd strides, paddings, dilations; all gradients."""

from kit import Close, cases, differentiated, normal, product, raises, run


def _image(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _close(result):
    return Close(result, 1e-4, 3e-5)


_PADDINGS = ["SAME", "VALID"]


# ---------------------------------------------------------------------------------- convolutions


@cases(*product([0, 1], [(1, 1), (2, 3), (3, 2)], [1, 2], [(3, 2), (1, 4)]))
def conv2d_explicit(tf, np, which, strides, rate, size):
    paddings = [[[0, 0], [2, 0], [1, 3], [0, 0]], [[0, 0], [0, 1], [0, 0], [0, 0]]][which]
    x, w = _image(np, 2, 7, 8, 2), _image(np, *size, 2, 3)
    if rate > 1:  # TensorFlow's gradients of these are for devices other than the CPU
        return _close(run(tf, tf.nn.conv2d(x, w, list(strides), paddings, dilations=[rate, rate])))
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv2d(x, w, list(strides), paddings), x, w))


@cases(*product(_PADDINGS, [(1, 1, 1), (2, 1, 3), (3, 3, 2)], [(1, 1, 1), (2, 3, 2)]))
def conv3d(tf, np, padding, strides, size):
    x, w = _image(np, 1, 5, 6, 7, 2), _image(np, *size, 2, 3)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv3d(x, w, [1, *strides, 1], padding), x, w))


@cases(*product(_PADDINGS, [(1, 1), (2, 3), (3, 1)], [(3, 3), (2, 1)], [1, 2]))
def depthwise(tf, np, padding, strides, size, multiplier):
    if strides[0] != strides[1]:
        strides = strides[:1] * 2  # the CPU wants them equal
    x, w = _image(np, 2, 7, 8, 3), _image(np, *size, 3, multiplier)
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, strides[0], strides[1], 1], padding), x, w
        )
    )


@cases(*product(_PADDINGS, [[1, 1], [2, 2], [2, 3]], [1, 2]))
def depthwise_dilated(tf, np, padding, rate, multiplier):
    x, w = _image(np, 1, 9, 8, 2), _image(np, 2, 3, 2, multiplier)
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], padding, rate=rate), x, w
        )
    )


@cases(*product(_PADDINGS, [1, 2], [(5, 6), (6, 5)]))
def depthwise_backprops(tf, np, padding, stride, sizes):
    x, w = _image(np, 2, *sizes, 3), _image(np, 3, 2, 3, 2)
    strides = [1, stride, stride, 1]
    y = tf.nn.depthwise_conv2d_native(x, w, strides, padding)
    by_input = tf.nn.depthwise_conv2d_native_backprop_input([2, *sizes, 3], w, y, strides, padding)
    by_filter = tf.nn.depthwise_conv2d_native_backprop_filter(x, [3, 2, 3, 2], y, strides, padding)
    return _close(run(tf, [y, by_input, by_filter]))


@cases(*product(_PADDINGS, [1, 2], [[1, 1], [2, 2]]))
def separable(tf, np, padding, stride, rate):
    if stride > 1 and rate != [1, 1]:
        rate = [1, 1]
    x, d, p = _image(np, 2, 7, 6, 3), _image(np, 3, 2, 3, 2), _image(np, 1, 1, 6, 4)
    build = lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, stride, stride, 1], padding, rate=rate)
    return _close(differentiated(tf, np, build, x, d, p))


@cases(*product(_PADDINGS, [1, 2, 3]))
def atrous(tf, np, padding, rate):
    x, w = _image(np, 1, 9, 10, 2), _image(np, 2, 3, 2, 3)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.atrous_conv2d(x, w, rate, padding), x, w))


@cases(*product(_PADDINGS, [1, 2, 3]))
def atrous_transpose(tf, np, padding, rate):
    w = _image(np, 3, 3, 4, 2)
    reach = 0 if padding == "SAME" else 2 * rate
    x, sizes = _image(np, 1, 9 - reach, 8 - reach, 2), [1, 9, 8, 4]
    build = lambda x, w: tf.nn.atrous_conv2d_transpose(x, w, sizes, rate, padding)
    return _close(differentiated(tf, np, build, x, w))


@cases(*product(_PADDINGS, [1, 2, 3], [5, 6]))
def transposed_1d(tf, np, padding, stride, size):
    w, y = _image(np, 3, 4, 2), -(-size // stride) if padding == "SAME" else (size - 3) // stride + 1
    build = lambda x, w: tf.nn.conv1d_transpose(x, w, [2, size, 4], stride, padding)
    return _close(differentiated(tf, np, build, _image(np, 2, y, 2), w))


@cases(*product(_PADDINGS, [(1, 2), (3, 2)], [(5, 8), (6, 7)]))
def transposed_2d(tf, np, padding, strides, sizes):
    places = [-(-n // s) if padding == "SAME" else (n - 3) // s + 1 for n, s in zip(sizes, strides)]
    build = lambda x, w: tf.nn.conv2d_transpose(x, w, [2, *sizes, 4], [1, *strides, 1], padding)
    return _close(differentiated(tf, np, build, _image(np, 2, *places, 2), _image(np, 3, 3, 4, 2)))


@cases(*product(_PADDINGS, [(1, 2, 3), (2, 2, 1)]))
def transposed_3d(tf, np, padding, strides):
    sizes = (5, 6, 7)
    places = [-(-n // s) if padding == "SAME" else (n - 2) // s + 1 for n, s in zip(sizes, strides)]
    build = lambda x, w: tf.nn.conv3d_transpose(x, w, [1, *sizes, 3], [1, *strides, 1], padding)
    return _close(differentiated(tf, np, build, _image(np, 1, *places, 2), _image(np, 2, 2, 2, 3, 2)))


@cases(1, 2, 3)
def transposed_of_any_rank(tf, np, rank):
    x, w = _image(np, 1, *[3] * rank, 2), _image(np, *[2] * rank, 3, 2)
    build = lambda x, w: tf.nn.conv_transpose(x, w, [1, *[6] * rank, 3], 2)
    return _close(differentiated(tf, np, build, x, w))


@cases(*product(_PADDINGS, [1, 2], [1, 2, 3]))
def conv1d(tf, np, padding, stride, size):
    x, w = _image(np, 2, 9, 3), _image(np, size, 3, 4)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv1d(x, w, stride, padding), x, w))


@cases(*product(_PADDINGS, [(2, 3), (1, 2)], [(1, 1), (2, 2)]))
def backprops_differentiated(tf, np, padding, strides, size):
    """Second derivatives of a convolution."""
    x, w = _image(np, 1, 6, 7, 2), _image(np, *size, 2, 3)
    build = lambda x, w: tf.gradients(tf.sin(tf.nn.conv2d(x, w, [1, *strides, 1], padding)), [x, w])
    return _close(differentiated(tf, np, build, x, w))


# ---------------------------------------------------------------------------------- pools

_WINDOWS = [((2, 3), (1, 1)), ((3, 3), (2, 2)), ((2, 2), (3, 2)), ((1, 2), (2, 3)), ((4, 3), (3, 1))]


@cases(*product(["max_pool", "avg_pool"], _PADDINGS, _WINDOWS, ["float32", "float64"]))
def pool2d(tf, np, pool, padding, window, dtype):
    size, strides = window
    x = normal(np, 2, 7, 8, 3).astype(dtype)
    build = lambda x: getattr(tf.nn, pool)(x, [1, *size, 1], [1, *strides, 1], padding)
    return _close(differentiated(tf, np, build, x))


@cases(*product(["max_pool3d", "avg_pool3d"], _PADDINGS, [((2, 1, 3), (1, 2, 1)), ((3, 2, 2), (2, 3, 3))]))
def pool3d(tf, np, pool, padding, window):
    size, strides = window
    build = lambda x: getattr(tf.nn, pool)(x, [1, *size, 1], [1, *strides, 1], padding)
    return _close(differentiated(tf, np, build, _image(np, 1, 5, 6, 7, 2)))


@cases(*product(["max_pool", "avg_pool"], _PADDINGS, _WINDOWS[:3]))
def pools_differentiated_twice(tf, np, pool, padding, window):
    size, strides = window
    build = lambda x: tf.gradients(
        tf.square(getattr(tf.nn, pool)(x, [1, *size, 1], [1, *strides, 1], padding)), x
    )
    return _close(differentiated(tf, np, build, _image(np, 1, 6, 7, 2)))


@cases(*product(_PADDINGS, _WINDOWS, [False, True]))
def argmax(tf, np, padding, window, batch):
    size, strides = window
    x = _image(np, 2, 7, 8, 3)
    build = lambda x: tf.nn.max_pool_with_argmax(
        x, [1, *size, 1], [1, *strides, 1], padding, include_batch_in_index=batch
    )
    if batch:  # the gradient of 1.15 takes such places for those of the first image
        return run(tf, list(build(tf.constant(x))))
    return differentiated(tf, np, build, x)


@cases(*product(["MAX", "AVG"], [[1, 1], [2, 2], [2, 3]]))
def pool_dilated(tf, np, kind, rate):
    build = lambda x: tf.nn.pool(x, [2, 3], kind, "VALID", dilation_rate=rate)
    return _close(differentiated(tf, np, build, _image(np, 1, 9, 8, 2)))


@cases(*product(["MAX", "AVG"], _PADDINGS, [1, 2, 3]))
def pool1d(tf, np, kind, padding, stride):
    function = tf.nn.max_pool1d if kind == "MAX" else tf.nn.avg_pool1d
    return differentiated(tf, np, lambda x: function(x, 3, stride, padding), _image(np, 2, 8, 3))


@cases("int32", "int64", "uint8", "int16", "int8", "uint16")
def max_pool_of_integers(tf, np, dtype):
    x = (100 * np.abs(normal(np, 1, 5, 6, 2))).astype(dtype)
    return run(tf, tf.nn.max_pool(tf.constant(x), [1, 2, 3, 1], [1, 2, 1, 1], "SAME"))


# ---------------------------------------------------------------------------------- other functions

_NUMBERS = [
    -100.0,
    -20.0,
    -6.0,
    -1.0,
    -1e-4,
    0.0,
    1e-4,
    0.5,
    3.0,
    6.0,
    6.5,
    20.0,
    100.0,
    float("inf"),
    float("-inf"),
]


@cases(*product("relu relu6 elu selu softplus softsign leaky_relu crelu".split(), ["float32", "float64"]))
def activations(tf, np, name, dtype):
    x = np.array([_NUMBERS], dtype)
    return differentiated(tf, np, getattr(tf.nn, name), x)


@cases(*product([0, -1, 2, -3], ["float32", "int32"]))
def crelu(tf, np, axis, dtype):
    x = (3 * normal(np, 2, 3, 4)).astype(dtype)
    return run(tf, tf.nn.crelu(tf.constant(x), axis=axis))


@cases(*product([[0], [0, 1], [0, 1, 2], []], [False, True], ["same", "rows", "one"]))
def weighted_moments(tf, np, axes, keep, weights):
    x = normal(np, 3, 4, 2)
    shape = {"same": (3, 4, 2), "rows": (3, 1, 1), "one": ()}[weights]
    w = np.abs(normal(np, *shape)) + 0.1
    return differentiated(
        tf, np, lambda x, w: tf.nn.weighted_moments(x, axes, w, keep_dims=keep), x, np.asarray(w)
    )


@cases(*product([None, 0.5], [False, True], [[0], [0, 2]]))
def statistics(tf, np, shift, keep, axes):
    shift = None if shift is None else np.float64(shift)

    def build(x):
        count, mean, variance, offset = tf.nn.sufficient_statistics(x, axes, shift, keep)
        return tf.nn.normalize_moments(count, mean, variance, offset)

    return differentiated(tf, np, build, normal(np, 3, 4, 2))


@cases(*product([False, True], ["float32", "float64"]))
def log_poisson(tf, np, full, dtype):
    targets = np.array([0.0, 0.5, 1.0, 2.0, 7.0], dtype)
    logs = np.array([-1.0, 0.3, 0.0, 2.0, 1.5], dtype)
    return differentiated(tf, np, lambda t, z: tf.nn.log_poisson_loss(t, z, full), targets, logs)


@cases((), (1,), (3,), (2, 1), (2, 3))
def weighted_cross_entropy(tf, np, *shape):
    labels, logits = np.abs(np.sin(normal(np, 2, 3))), 30 * normal(np, 2, 3)
    build = lambda labels, logits, w: tf.nn.weighted_cross_entropy_with_logits(labels, logits, w)
    return differentiated(tf, np, build, labels, logits, np.asarray(np.abs(normal(np, *shape)) + 0.5))


@cases("xw_plus_b", "relu_layer")
def linear(tf, np, name):
    return differentiated(tf, np, getattr(tf.nn, name), normal(np, 3, 4), normal(np, 4, 2), normal(np, 2))


def linear_mistakes(tf, np):
    x, w, b = tf.ones([3, 4]), tf.ones([4, 2]), tf.ones([2])
    return [
        raises(tf.nn.xw_plus_b, x, tf.ones([3, 2]), b),
        raises(tf.nn.xw_plus_b, x, w, tf.ones([3])),
        raises(tf.nn.crelu, tf.ones([2]), axis=3),
        raises(tf.nn.atrous_conv2d, tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2, 3]), 0, "SAME"),
        raises(
            tf.nn.separable_conv2d,
            tf.ones([1, 4, 4, 2]),
            tf.ones([2, 2, 2, 3]),
            tf.ones([1, 1, 5, 3]),
            [1, 1, 1, 1],
            "SAME",
        ),
        raises(tf.nn.pool, tf.ones([1, 4, 4, 2]), [2, 2], "MEDIAN", "SAME"),
        raises(
            tf.nn.pool, tf.ones([1, 4, 4, 2]), [2, 2], "MAX", "SAME", dilation_rate=[2, 2], strides=[2, 2]
        ),
    ]
