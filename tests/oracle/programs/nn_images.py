"""Convolutions, pooling and their gradients: formats, paddings, strides, dilations."""

from kit import Close, cases, differentiated, normal, product, raises, run

_LOOSE = 1e-4, 2e-5


def _close(result):
    return Close(result, *_LOOSE)


def _image(np, *shape):
    return normal(np, *shape).astype(np.float32)


@cases(*product(["SAME", "VALID"], [1, 2, 3], [1, 2, 3, 5], ["float32", "float64"]))
def conv2d(tf, np, padding, stride, size, dtype):
    x, w = normal(np, 2, 7, 6, 3).astype(dtype), normal(np, size, size, 3, 4).astype(dtype)
    return _close(
        differentiated(tf, np, lambda x, w: tf.nn.conv2d(x, w, [1, stride, stride, 1], padding), x, w)
    )


@cases(*product(["SAME", "VALID"], [(1, 2), (2, 1), (3, 1)]))
def conv2d_with_uneven_strides(tf, np, padding, strides):
    x, w = _image(np, 1, 8, 9, 2), _image(np, 3, 2, 2, 3)
    return _close(
        differentiated(tf, np, lambda x, w: tf.nn.conv2d(x, w, [1, strides[0], strides[1], 1], padding), x, w)
    )


@cases(*product([[[0, 0], [1, 2], [0, 3], [0, 0]], [[0, 0], [0, 0], [2, 0], [0, 0]]], [1, 2]))
def conv2d_with_explicit_padding(tf, np, padding, stride):
    x, w = _image(np, 1, 5, 6, 2), _image(np, 3, 3, 2, 3)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv2d(x, w, stride, padding), x, w))


@cases(*product(["SAME", "VALID"], [2, 3]))
def conv2d_dilated(tf, np, padding, rate):
    x, w = tf.constant(_image(np, 1, 9, 8, 2)), tf.constant(_image(np, 3, 3, 2, 3))
    return _close(run(tf, tf.nn.conv2d(x, w, [1, 1, 1, 1], padding, dilations=[1, rate, rate, 1])))


@cases(*product(["SAME", "VALID"], [1, 2, 3]))
def atrous_conv2d(tf, np, padding, rate):
    x, w = _image(np, 1, 9, 8, 2), _image(np, 3, 3, 2, 3)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.atrous_conv2d(x, w, rate, padding), x, w))


_CONVOLUTIONS = {
    "1d": ([2, 9, 3], [3, 3, 4], {"padding": "SAME"}),
    "1d strided": ([2, 9, 3], [3, 3, 4], {"padding": "VALID", "strides": [2]}),
    "1d dilated": ([2, 9, 3], [3, 3, 4], {"padding": "SAME", "dilation_rate": [2]}),
    "2d": ([1, 6, 5, 2], [3, 2, 2, 3], {"padding": "VALID"}),
    "2d strided": ([1, 6, 5, 2], [3, 2, 2, 3], {"padding": "SAME", "strides": [2, 1]}),
    "2d dilated": ([1, 8, 7, 2], [3, 3, 2, 3], {"padding": "SAME", "dilation_rate": [2, 2]}),
    "2d dilated valid": ([1, 8, 7, 2], [3, 3, 2, 3], {"padding": "VALID", "dilation_rate": [2, 1]}),
    "3d": ([1, 4, 5, 4, 2], [2, 3, 2, 2, 3], {"padding": "SAME"}),
    "3d strided": ([1, 4, 5, 4, 2], [2, 3, 2, 2, 3], {"padding": "VALID", "strides": [1, 2, 2]}),
}


@cases(*_CONVOLUTIONS)
def convolution(tf, np, key):
    x, w, options = _CONVOLUTIONS[key]
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.convolution(x, w, **options), _image(np, *x), _image(np, *w)
        )
    )


@cases(*product(["SAME", "VALID"], [1, 2]))
def conv1d(tf, np, padding, stride):
    x, w = _image(np, 2, 8, 3), _image(np, 3, 3, 4)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv1d(x, w, stride, padding), x, w))


@cases(*product(["SAME", "VALID"], [1, 2]))
def conv3d(tf, np, padding, stride):
    x, w = _image(np, 1, 4, 5, 4, 2), _image(np, 2, 3, 2, 2, 3)
    return _close(
        differentiated(tf, np, lambda x, w: tf.nn.conv3d(x, w, [1, stride, stride, stride, 1], padding), x, w)
    )


@cases(*product(["SAME", "VALID"], [1, 2, 3]))
def conv2d_transpose(tf, np, padding, stride):
    x, w = _image(np, 1, 4, 3, 2), _image(np, 3, 3, 5, 2)
    grow = (lambda n: n * stride) if padding == "SAME" else (lambda n: (n - 1) * stride + 3)
    shape = [1, grow(4), grow(3), 5]
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.conv2d_transpose(x, w, shape, [1, stride, stride, 1], padding), x, w
        )
    )


def conv3d_transpose(tf, np):
    x, w = _image(np, 1, 2, 3, 2, 2), _image(np, 2, 2, 2, 3, 2)
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 6, 4, 3], [1, 2, 2, 2, 1]), x, w
        )
    )


@cases(*product(["SAME", "VALID"], [1, 2], [1, 2]))
def depthwise_conv2d(tf, np, padding, stride, multiplier):
    x, w = _image(np, 1, 6, 5, 3), _image(np, 3, 3, 3, multiplier)
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding), x, w
        )
    )


def depthwise_conv2d_dilated(tf, np):
    x, w = _image(np, 1, 8, 8, 2), _image(np, 3, 3, 2, 2)
    return _close(
        differentiated(
            tf, np, lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME", rate=[2, 2]), x, w
        )
    )


def separable_conv2d(tf, np):
    x, d, p = _image(np, 1, 6, 5, 3), _image(np, 3, 3, 3, 2), _image(np, 1, 1, 6, 4)
    return _close(
        differentiated(tf, np, lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], "SAME"), x, d, p)
    )


@cases(*product(["SAME", "VALID"], [1, 2]))
def conv2d_backprops(tf, np, padding, stride):
    x, w = _image(np, 2, 6, 6, 3), _image(np, 3, 3, 3, 4)
    shape = run(tf, tf.nn.conv2d(tf.constant(x), tf.constant(w), [1, stride, stride, 1], padding)).shape
    g, strides = _image(np, *shape), [1, stride, stride, 1]
    to_input = differentiated(
        tf, np, lambda w, g: tf.nn.conv2d_backprop_input(x.shape, w, g, strides, padding), w, g
    )
    to_filter = differentiated(
        tf, np, lambda x, g: tf.nn.conv2d_backprop_filter(x, w.shape, g, strides, padding), x, g
    )
    return _close([to_input, to_filter])


_EMPTY_CONVS = {"no batch": [0, 4, 4, 2], "plain": [1, 4, 4, 2]}


@cases(*_EMPTY_CONVS)
def conv2d_of_odd_batches(tf, np, key):
    x, w = np.ones(_EMPTY_CONVS[key], np.float32), _image(np, 3, 3, 2, 3)
    return _close(differentiated(tf, np, lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), x, w))


def conv2d_of_unknown_shapes(tf, np):
    x, w = tf.placeholder(tf.float32, [None, None, None, 3]), tf.placeholder(tf.float32, [3, 3, 3, 8])
    made = [tf.nn.conv2d(x, w, [1, 2, 2, 1], p) for p in ("SAME", "VALID")]
    made += [
        tf.nn.conv2d(tf.placeholder(tf.float32, [None, 28, 28, 3]), w, [1, 2, 2, 1], "SAME"),
        tf.nn.conv2d(tf.placeholder(tf.float32), w, [1, 1, 1, 1], "SAME"),
    ]
    made += [
        tf.nn.conv2d(
            tf.placeholder(tf.float32, [None, 3, 28, 20]), w, [1, 1, 3, 2], "VALID", data_format="NCHW"
        )
    ]
    return [m.shape for m in made]


def conv2d_mistakes(tf, np):
    x, w, u = tf.zeros([1, 4, 4, 3]), tf.zeros([3, 3, 3, 2]), tf.placeholder(tf.float32)
    conv = tf.nn.conv2d
    return {
        "rank": raises(conv, tf.zeros([4, 4, 3]), w, [1, 1, 1, 1], "SAME"),
        "channels": raises(conv, x, tf.zeros([3, 3, 4, 2]), [1, 1, 1, 1], "SAME"),
        "padding": raises(conv, x, w, [1, 1, 1, 1], "WHAT"),
        "too large": raises(conv, x, tf.zeros([5, 5, 3, 2]), [1, 1, 1, 1], "VALID"),
        "dtype": raises(conv, x, tf.zeros([3, 3, 3, 2], tf.float64), [1, 1, 1, 1], "SAME"),
        "format": raises(conv, x, w, [1, 1, 1, 1], "SAME", data_format="WHCN"),
        "late channels": raises(run, tf, conv(x, u, [1, 1, 1, 1], "SAME"), {u: np.zeros([3, 3, 4, 2])}),
        "late rank": raises(run, tf, conv(x, u, [1, 1, 1, 1], "SAME"), {u: np.zeros([3, 3])}),
    }


_POOLS = {
    "2x2": ([1, 2, 2, 1], [1, 2, 2, 1]),
    "3x3 stride 2": ([1, 3, 3, 1], [1, 2, 2, 1]),
    "3x3 stride 1": ([1, 3, 3, 1], [1, 1, 1, 1]),
    "2x3 stride 1x2": ([1, 2, 3, 1], [1, 1, 2, 1]),
    "1x1 stride 2": ([1, 1, 1, 1], [1, 2, 2, 1]),
}


@cases(*product(["max_pool", "avg_pool"], _POOLS, ["SAME", "VALID"], ["float32", "float64"]))
def pool2d(tf, np, name, key, padding, dtype):
    size, strides = _POOLS[key]
    return differentiated(
        tf,
        np,
        lambda x: getattr(tf.nn, name)(x, size, strides, padding),
        normal(np, 2, 5, 6, 3).astype(dtype),
    )


@cases("max_pool", "avg_pool")
def pool2d_of_half(tf, np, name):
    x = tf.constant(normal(np, 1, 4, 4, 2).astype(np.float16))
    return run(tf, getattr(tf.nn, name)(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"))


def max_pool_of_ties(tf, np):
    x = np.ones([1, 4, 4, 1], np.float32)
    return differentiated(tf, np, lambda x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), x)


def max_pool_of_special_values(tf, np):
    inf = float("inf")
    x = np.array([-inf, -inf, 1.0, -5.0, -inf, -7.0, inf, 2.0], np.float32).reshape(1, 2, 4, 1)
    return run(tf, tf.nn.max_pool(tf.constant(x), [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))


def max_pool_over_depth(tf, np):
    x = _image(np, 1, 2, 2, 4)
    return run(tf, tf.nn.max_pool(tf.constant(x), [1, 1, 1, 2], [1, 1, 1, 2], "VALID"))


@cases(*product(["max_pool3d", "avg_pool3d"], ["SAME", "VALID"]))
def pool3d(tf, np, name, padding):
    x = _image(np, 1, 4, 5, 4, 2)
    return differentiated(
        tf, np, lambda x: getattr(tf.nn, name)(x, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], padding), x
    )


@cases(*product(["max_pool1d", "avg_pool1d"], ["SAME", "VALID"]))
def pool1d(tf, np, name, padding):
    return differentiated(tf, np, lambda x: getattr(tf.nn, name)(x, 3, 2, padding), _image(np, 2, 7, 3))


@cases(*product(["MAX", "AVG"], ["SAME", "VALID"], [1]), ("MAX", "VALID", 2), ("AVG", "VALID", 2))
def pool_general(tf, np, kind, padding, rate):
    x = _image(np, 1, 7, 6, 2)
    return differentiated(
        tf, np, lambda x: tf.nn.pool(x, [2, 3], kind, padding, dilation_rate=[rate, rate]), x
    )


@cases(*product(["SAME", "VALID"], [False, True]))
def max_pool_with_argmax(tf, np, padding, batch):
    x = _image(np, 2, 4, 5, 3)
    made = tf.nn.max_pool_with_argmax(
        tf.constant(x), [1, 2, 2, 1], [1, 2, 2, 1], padding, include_batch_in_index=batch
    )
    return [made, run(tf, made)]


def pools_of_unknown_shapes(tf, np):
    x = tf.placeholder(tf.float32, [None, None, 9, 3])
    return [
        getattr(tf.nn, n)(x, [1, 2, 2, 1], [1, 2, 2, 1], p).shape
        for n in ("max_pool", "avg_pool")
        for p in ("SAME", "VALID")
    ]


def pool_mistakes(tf, np):
    x = tf.zeros([1, 4, 4, 3])
    return {
        "rank": raises(tf.nn.max_pool, tf.zeros([4, 4, 3]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
        "too large": raises(tf.nn.max_pool, x, [1, 5, 5, 1], [1, 1, 1, 1], "VALID"),
        "padding": raises(tf.nn.avg_pool, x, [1, 2, 2, 1], [1, 2, 2, 1], "WHAT"),
        "ints": raises(tf.nn.avg_pool, tf.zeros([1, 4, 4, 3], tf.int32), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    }


@cases(*product([1, 2, 5], [0.5, 1.0], [1.0, 2.0]))
def local_response_normalization(tf, np, radius, beta, bias):
    x = _image(np, 1, 2, 2, 7)
    return differentiated(
        tf, np, lambda x: tf.nn.lrn(x, depth_radius=radius, bias=bias, alpha=0.5, beta=beta), x
    )


_NCHW = {
    "conv2d": lambda tf: tf.nn.conv2d(
        tf.placeholder(tf.float32, [2, 3, 8, 6]),
        tf.zeros([3, 3, 3, 5]),
        [1, 1, 2, 2],
        "SAME",
        data_format="NCHW",
    ),
    "max_pool": lambda tf: tf.nn.max_pool(
        tf.placeholder(tf.float32, [2, 3, 8, 6]), [1, 1, 2, 2], [1, 1, 2, 2], "VALID", data_format="NCHW"
    ),
    "bias_add": lambda tf: tf.nn.bias_add(
        tf.placeholder(tf.float32, [2, 3, 8, 6]), tf.zeros([3]), data_format="NCHW"
    ),
    "fused": lambda tf: tf.nn.fused_batch_norm(
        tf.placeholder(tf.float32, [2, 3, 8, 6]), tf.ones([3]), tf.zeros([3]), data_format="NCHW"
    )[0],
}


@cases(*_NCHW)
def channels_first_shapes(tf, np, key):
    """TensorFlow's CPU has no such kernels, so only the graph can be compared."""
    return _NCHW[key](tf)


def bias_add_channels_first(tf, np):
    x, b = _image(np, 2, 3, 4, 2), np.array([1.0, 2.0, 3.0], np.float32)
    return differentiated(tf, np, lambda x, b: tf.nn.bias_add(x, b, data_format="NCHW"), x, b)


@cases([2, 3], [2, 4, 3], [2, 2, 4, 3], [0, 3])
def bias_add(tf, np, shape):
    b = np.array([1.0, -2.0, 3.0], np.float32)
    return differentiated(tf, np, tf.nn.bias_add, _image(np, *shape), b)


def bias_add_mistakes(tf, np):
    return [
        raises(tf.nn.bias_add, tf.zeros([2, 3]), tf.zeros([4])),
        raises(tf.nn.bias_add, tf.zeros([3]), tf.zeros([3])),
        raises(tf.nn.bias_add, tf.zeros([2, 3]), tf.zeros([1, 3])),
        raises(tf.nn.bias_add, tf.zeros([2, 3]), tf.zeros([3]), data_format="WHAT"),
    ]
