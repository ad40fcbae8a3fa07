"""What is known before a step runs: values of tensors, shapes made of them, sizes and their arithmetic."""

import itertools
import operator

from kit import cases, graph, raises

_VALUES = {
    "cast": lambda tf, q: tf.cast([1.5, 2.5], tf.int32),
    "cast of a shape": lambda tf, q: tf.cast(tf.shape(q), tf.float32),
    "equal": lambda tf, q: tf.equal([1, 2], 1),
    "not equal": lambda tf, q: tf.not_equal([1, 2], [1, 3]),
    "equal to what is fed": lambda tf, q: tf.equal(tf.placeholder(tf.int32, []), 1),
    "range": lambda tf, q: tf.range(1, 10, 2),
    "concat": lambda tf, q: tf.concat([tf.shape(q), [4]], 0),
    "fill": lambda tf, q: tf.fill(tf.shape(q), 3),
    "rank": lambda tf, q: tf.rank(q),
    "an array": lambda tf, q: [1, 2],
    "a number": lambda tf, q: 3,
    "nothing": lambda tf, q: None,
}


@cases(*_VALUES)
def constant_value_of(tf, np, key):
    q = tf.placeholder(tf.float32, [2, 3])
    value = tf.contrib.util.constant_value(_VALUES[key](tf, q))
    return None if value is None else np.asarray(value)


def constant_value_in_part(tf, np):
    packed = tf.stack([1, tf.placeholder(tf.int32, []), 2])
    value = tf.contrib.util.constant_value(packed, partial=True)
    return [None if item is None else int(item) for item in value]


_AXES = {
    "lists": lambda tf, np: [[1], [0]],
    "arrays": lambda tf, np: [np.array([1]), np.array([0])],
    "an array": lambda tf, np: np.array([[1], [0]]),
    "numbers": lambda tf, np: (1, 0),
    "a tensor": lambda tf, np: tf.constant([[1], [0]]),
}


@cases(*_AXES)
def tensordot_of_axes(tf, np, key):
    x, y = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(2, 4)
    found = []
    for shapes in itertools.product(
        ([3, 2], [None, 2], [3, None], None), ([2, 4], [2, None], [None, 4], None)
    ):
        a, b = [tf.placeholder(tf.float64, shape) for shape in shapes]
        product = tf.tensordot(a, b, _AXES[key](tf, np))
        with tf.Session() as session:
            found.append(session.run([product] + tf.gradients(product, [a, b]), {a: x, b: y}))
    return [found, tf.tensordot(x, y, _AXES[key](tf, np)).shape]


def tensordot_graph_of_axes_in_an_array(tf, np):
    tf.tensordot(tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [2, 4]), np.array([[1], [0]]))
    return graph(tf)


@cases("add", "sub", "mul", "floordiv", "mod", "truediv", "lt", "le", "gt", "ge", "eq", "ne")
def arithmetic_of_dimensions(tf, np, name):
    values = [tf.Dimension(None), tf.Dimension(1), tf.Dimension(5), None, 0, 5, -3, 2.5, "a"]
    found = []
    for a, b in itertools.product(values, values):
        if isinstance(a, tf.Dimension) or isinstance(b, tf.Dimension):
            try:
                found.append(getattr(operator, name)(a, b))
            except (TypeError, ValueError, ZeroDivisionError) as error:
                found.append(type(error).__name__)
    return found


def output_shapes_of_layers(tf, np):
    layers = [
        (tf.layers.Dense(3), [[None, 4], [2, None, 4]], [[None, None], None]),
        (tf.layers.Conv2D(3, 2), [[None, 5, 5, 2], [None, None, 5, 2]], []),
        (tf.layers.MaxPooling2D(2, 2), [[None, 5, 5, 2], [None, None, None, None]], []),
        (tf.layers.Flatten(), [[None, 4, 5], [None, None, 3], [2, 3]], []),
        (tf.layers.Dropout(0.5), [[None, 4]], []),
        (tf.layers.BatchNormalization(), [[None, 4]], []),
    ]
    return [
        [
            [layer.compute_output_shape(tf.TensorShape(shape)) for shape in good],
            layer.compute_output_shape(good[0]),
        ]
        + [raises(layer.compute_output_shape, tf.TensorShape(shape)) for shape in bad]
        for layer, good, bad in layers
    ]
