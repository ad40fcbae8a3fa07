"""Convolutions and pools of images that are smaller than the window: steps give nothing, graphs refuse."""

from kit import cases, product, raises

_OPS = {
    "max_pool": lambda tf, x, step: tf.nn.max_pool(x, [1, 3, 3, 1], [1, step, step, 1], "VALID"),
    "avg_pool": lambda tf, x, step: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, step, step, 1], "VALID"),
    "max_pool_v2": lambda tf, x, step: tf.nn.max_pool_v2(x, 3, step, "VALID"),
    "argmax": lambda tf, x, step: tf.nn.max_pool_with_argmax(x, [1, 3, 3, 1], [1, step, step, 1], "VALID")[0],
    "depthwise": lambda tf, x, step: tf.nn.depthwise_conv2d(
        x, tf.ones([3, 3, 1, 2]), [1, step, step, 1], "VALID"
    ),
    "dilation2d": lambda tf, x, step: tf.nn.dilation2d(
        x, tf.ones([3, 3, 1]), [1, step, step, 1], [1, 1, 1, 1], "VALID"
    ),
    "patches": lambda tf, x, step: tf.image.extract_image_patches(
        x, [1, 3, 3, 1], [1, step, step, 1], [1, 1, 1, 1], "VALID"
    ),
    "conv2d": lambda tf, x, step: tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], "VALID"),
    "explicit": lambda tf, x, step: tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], [[0, 0]] * 4),
    "conv3d": lambda tf, x, step: tf.nn.conv3d(
        x[..., None], tf.ones([3, 3, 1, 1, 2]), [1, 1, 1, 1, 1], "VALID"
    ),
}
# Of strides above 1, some of TensorFlow's kernels divide by zero.
_STRIDES = {"conv2d": [1], "explicit": [1], "conv3d": [1]}


@cases(
    *(
        (name, shape, step)
        for name, shape in product(sorted(_OPS), [(1, 2, 2, 1), (1, 1, 3, 1), (1, 2, 5, 1)])
        for step in _STRIDES.get(name, [1, 2])
        if (name, shape[1], step) != ("dilation2d", 1, 1)  # TensorFlow ends the process
    )
)
def in_a_step(tf, np, name, shape, step):
    given = tf.placeholder(tf.float32, [None] * 4)
    result = _OPS[name](tf, given, step)
    fetches = [result, tf.shape(result)]
    if name != "patches":  # their gradient asks for a size in the graph
        fetches += tf.gradients(result, given)

    def step_of_zeros():
        with tf.Session() as session:
            return session.run(fetches, {given: np.zeros(shape, np.float32)})

    try:
        return step_of_zeros()
    except tf.errors.InvalidArgumentError:
        return raises(step_of_zeros)


@cases(*sorted(_OPS))
def in_a_graph(tf, np, name):
    call = lambda: _OPS[name](tf, tf.zeros([1, 2, 2, 1]), 1)
    return call().shape if name in ("dilation2d", "patches") else raises(call)
