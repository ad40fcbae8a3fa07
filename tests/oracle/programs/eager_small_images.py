"""Convolutions and pools, in eager mode, of images that are smaller than the window: they have no places."""

from kit import cases, product, raises

EAGER = True

_LAYERS = {
    "Conv2D": lambda l: l.Conv2D(2, 3, kernel_initializer="ones"),
    "DepthwiseConv2D": lambda l: l.DepthwiseConv2D(3, depthwise_initializer="ones"),
    "SeparableConv2D": lambda l: l.SeparableConv2D(
        2, 3, depthwise_initializer="ones", pointwise_initializer="ones"
    ),
    "MaxPool2D": lambda l: l.MaxPool2D(3, strides=1),
    "AveragePooling2D": lambda l: l.AveragePooling2D(3, strides=1),
}


@cases(*product(sorted(_LAYERS), [(1, 2, 2, 1), (1, 1, 3, 1), (1, 2, 5, 1), (0, 4, 4, 1)]))
def layers(tf, np, name, shape):
    image, layer = tf.constant(np.zeros(shape, np.float32)), _LAYERS[name](tf.keras.layers)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(image)
            result = layer(image)
        return result, tape.gradient(result, image)

    try:
        return run()
    except tf.errors.InvalidArgumentError:
        return raises(run)
