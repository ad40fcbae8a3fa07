"""Dilation and erosion of images, with gradients."""

from kit import cases, differentiated, graph, normal, product, raises, run


def _call(function, strides, rates, padding):
    full = [1, strides[0], strides[1], 1], [1, rates[0], rates[1], 1]
    return lambda x, k: function(x, k, full[0], full[1], padding)


_FUNCTIONS = ["dilation2d", "erosion2d"]


@cases(
    *product(
        _FUNCTIONS, ["SAME", "VALID"], [(1, 1), (2, 1), (2, 3)], [(1, 1), (2, 1), (3, 2)], [(1, 1), (2, 3)]
    )
)
def windows(tf, np, function, padding, strides, rates, size):
    x, k = normal(np, 2, 7, 8, 3).astype(np.float32), normal(np, *size, 3).astype(np.float32)
    return differentiated(tf, np, _call(getattr(tf.nn, function), strides, rates, padding), x, k)


@cases(*product(_FUNCTIONS, ["float16", "float64"]))
def floats(tf, np, function, dtype):
    x, k = normal(np, 1, 4, 4, 2).astype(dtype), normal(np, 2, 2, 2).astype(dtype)
    return differentiated(tf, np, _call(getattr(tf.nn, function), (1, 1), (1, 1), "SAME"), x, k)


@cases("int8", "uint8", "int16", "uint16", "int32", "int64")
def integers(tf, np, dtype):
    info = np.iinfo(dtype)
    numbers = np.random.RandomState(1).randint(
        max(info.min, -(2**40)), min(info.max, 2**40), [1, 4, 5, 2], "int64"
    )
    x, k = numbers.astype(dtype), numbers[0, :2, :2].astype(dtype)
    window = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    y = tf.nn.dilation2d(x, k, **window)
    grads = [
        tf.raw_ops.Dilation2DBackpropInput(input=x, filter=k, out_backprop=x, **window),
        tf.raw_ops.Dilation2DBackpropFilter(input=x, filter=k, out_backprop=x, **window),
    ]
    return run(tf, [y] + grads)


@cases("SAME", "VALID")
def ties_and_special_numbers(tf, np, padding):
    x = normal(np, 1, 5, 5, 1).astype(np.float32)
    x[0, 1, 1], x[0, 2, 3], x[0, 0], x[0, 4, 1:4] = np.nan, np.inf, -np.inf, 1.0
    k = np.zeros([3, 2, 1], np.float32)
    return differentiated(tf, np, _call(tf.nn.dilation2d, (1, 1), (1, 1), padding), x, k)


@cases(*product([(0, 4, 4, 2), (1, 4, 4, 0)], ["SAME", "VALID"]))
def empty(tf, np, shape, padding):
    x, k = np.zeros(shape, np.float32), np.zeros([2, 2, shape[3]], np.float32)
    return differentiated(tf, np, _call(tf.nn.dilation2d, (1, 1), (1, 1), padding), x, k)


@cases("positional", "filters", "named", "erosion")
def nodes(tf, np, how):
    x, k, ones = tf.ones([1, 4, 4, 2]), tf.ones([2, 2, 2]), [1, 1, 1, 1]
    if how == "positional":
        y = tf.nn.dilation2d(x, k, ones, ones, "SAME")
    elif how == "filters":
        y = tf.nn.dilation2d(x, filters=k, strides=ones, dilations=ones, padding="SAME")
    elif how == "named":
        y = tf.nn.dilation2d(x, k, ones, ones, "SAME", name="grow")
    else:
        y = tf.nn.erosion2d(x, k, ones, ones, "SAME", name="shrink")
    tf.gradients(y, [x, k])
    return graph(tf)


@cases(
    {
        "strides": ([1, 4, 4, 2], [2, 2, 2], [1, 1, 1], [1, 1, 1, 1], "SAME"),
        "zero stride": ([1, 4, 4, 2], [2, 2, 2], [1, 0, 1, 1], [1, 1, 1, 1], "SAME"),
        "window": ([1, 4, 4, 2], [2, 2, 2], [1, 1, 1, 1], [1, 9, 1, 1], "VALID"),
        "depth": ([1, 4, 4, 2], [2, 2, 3], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        "filter's rank": ([1, 4, 4, 2], [2, 2], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        "image's rank": ([4, 4, 2], [2, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
        "padding": ([1, 4, 4, 2], [2, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1], "EXPLICIT"),
    }
)
def refused(tf, np, image, filter, strides, rates, padding):
    return raises(tf.nn.dilation2d, tf.ones(image), tf.ones(filter), strides, rates, padding)


@cases((None, None), (None, [2, 2, 2]), ([None, 4, 5, 2], [2, 2, 2]))
def static_shapes(tf, np, image, filter):
    x, k = tf.placeholder(tf.float32, image), tf.placeholder(tf.float32, filter)
    y = tf.nn.dilation2d(x, k, [1, 2, 1, 1], [1, 1, 1, 1], "VALID")
    return [y.shape] + [g.shape for g in tf.gradients(y, [x, k])]
