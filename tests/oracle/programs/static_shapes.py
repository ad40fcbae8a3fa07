"""Shapes inferred from partly known inputs, before anything runs."""

from kit import cases, product

_INPUTS = {
    "unknown": None,
    "rows unknown": [None, 3],
    "columns unknown": [2, None],
    "rank only": [None, None],
    "known": [2, 3],
}

_ON_MATRIX = {
    "abs": lambda tf, x: tf.abs(x),
    "add scalar": lambda tf, x: x + 1.0,
    "add row": lambda tf, x: x + [1.0, 2.0, 3.0],
    "add column": lambda tf, x: x + [[1.0], [2.0]],
    "add itself": lambda tf, x: x + x,
    "less": lambda tf, x: x < [1.0, 2.0, 3.0],
    "squared_difference": lambda tf, x: tf.squared_difference(x, tf.zeros([2, 1])),
    "sum": lambda tf, x: tf.reduce_sum(x),
    "sum rows": lambda tf, x: tf.reduce_sum(x, 0),
    "sum columns kept": lambda tf, x: tf.reduce_sum(x, [1], keepdims=True),
    "sum of unknown axis": lambda tf, x: tf.reduce_sum(x, tf.placeholder(tf.int32, [1])),
    "argmax": lambda tf, x: tf.argmax(x, 1),
    "cumsum": lambda tf, x: tf.cumsum(x),
    "transpose": lambda tf, x: tf.transpose(x),
    "transpose perm": lambda tf, x: tf.transpose(x, [1, 0]),
    "reshape flat": lambda tf, x: tf.reshape(x, [-1]),
    "reshape": lambda tf, x: tf.reshape(x, [3, -1]),
    "reshape by shape": lambda tf, x: tf.reshape(x, tf.shape(x)),
    "reshape by parts": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], 1, -1]),
    "reshape unknown": lambda tf, x: tf.reshape(x, tf.placeholder(tf.int32, [2])),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 1),
    "expand_dims last": lambda tf, x: tf.expand_dims(x, -1),
    "squeeze": lambda tf, x: tf.squeeze(tf.expand_dims(x, 0), [0]),
    "concat rows": lambda tf, x: tf.concat([x, tf.zeros([4, 3])], 0),
    "concat columns": lambda tf, x: tf.concat([x, x], 1),
    "stack": lambda tf, x: tf.stack([x, x], 1),
    "split": lambda tf, x: tf.split(x, 1, 1)[0],
    "split sizes": lambda tf, x: tf.split(x, [1, -1], 1),
    "pad": lambda tf, x: tf.pad(x, [[1, 1], [0, 2]]),
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "tile unknown": lambda tf, x: tf.tile(x, tf.placeholder(tf.int32, [2])),
    "slice": lambda tf, x: x[:, 1:],
    "slice one": lambda tf, x: x[0],
    "slice new": lambda tf, x: x[..., None],
    "slice backward": lambda tf, x: x[::-1],
    "slice strided": lambda tf, x: x[::2, 0],
    "slice function": lambda tf, x: tf.slice(x, [0, 1], [-1, 1]),
    "gather": lambda tf, x: tf.gather(x, [0, 1, 0]),
    "gather unknown": lambda tf, x: tf.gather(x, tf.placeholder(tf.int32, [None]), axis=1),
    "gather_nd": lambda tf, x: tf.gather_nd(x, [[0], [1]]),
    "where": lambda tf, x: tf.where(x > 0.0, x, tf.zeros_like(x)),
    "where one": lambda tf, x: tf.where(x > 0.0),
    "one_hot": lambda tf, x: tf.one_hot(tf.cast(x, tf.int32), 5),
    "matmul": lambda tf, x: tf.matmul(x, tf.zeros([3, 4])),
    "matmul transposed": lambda tf, x: tf.matmul(x, x, transpose_b=True),
    "matmul itself": lambda tf, x: tf.matmul(x, x, transpose_a=True),
    "tensordot": lambda tf, x: tf.tensordot(x, tf.zeros([3, 4]), 1),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "softmax first": lambda tf, x: tf.nn.softmax(x, axis=0),
    "top_k": lambda tf, x: tf.nn.top_k(x, 1).values,
    "bias_add": lambda tf, x: tf.nn.bias_add(x, tf.zeros([3])),
    "cross entropy": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=x),
    "sparse cross entropy": lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.placeholder(tf.int32, [None]), logits=x
    ),
    "in_top_k": lambda tf, x: tf.nn.in_top_k(x, tf.placeholder(tf.int32, [None]), 1),
    "moments": lambda tf, x: tf.nn.moments(x, [0]),
    "l2_loss": lambda tf, x: tf.nn.l2_loss(x),
    "shape": lambda tf, x: tf.shape(x),
    "rank": lambda tf, x: tf.rank(x),
    "zeros_like": lambda tf, x: tf.zeros_like(x),
    "fill by shape": lambda tf, x: tf.fill(tf.shape(x), 1.0),
    "random by shape": lambda tf, x: tf.random_uniform(tf.shape(x)),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x, [4, 2, 3]),
    "reverse": lambda tf, x: tf.reverse(x, [0]),
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, tf.placeholder(tf.bool, [None])),
    "dropout": lambda tf, x: tf.nn.dropout(x, rate=0.5),
    "range of size": lambda tf, x: tf.range(tf.size(x)),
    "gradient": lambda tf, x: tf.gradients(tf.reduce_sum(x * x), x)[0],
    "placeholder_with_default": lambda tf, x: tf.placeholder_with_default(tf.zeros([2, 3]), x.shape),
    "identity_n": lambda tf, x: tf.identity_n([x, tf.zeros([1])]),
    "add_n": lambda tf, x: tf.add_n([x, tf.placeholder(tf.float32, [2, 3])]),
    "cast": lambda tf, x: tf.cast(x, tf.int32),
    "py_func": lambda tf, x: tf.py_func(lambda a: a, [x], tf.float32),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [2, None]),
    "clip_by_norm": lambda tf, x: tf.clip_by_norm(x, 1.0),
    "norm": lambda tf, x: tf.norm(x, axis=1),
    "dense": lambda tf, x: tf.layers.dense(tf.ensure_shape(x, [None, 3]), 4),
    "flatten": lambda tf, x: tf.layers.flatten(x),
    "scatter_nd": lambda tf, x: tf.scatter_nd(tf.placeholder(tf.int32, [None, 1]), x, [5, 3]),
}

# These need a rank, or at least a last size, to be built at all.
_NOT_OF_UNKNOWN = ("softmax first", "moments", "boolean_mask", "flatten")


# Here more is known than TensorFlow finds out.
_INFERRED_WEAKLY = ("reshape by parts", "columns unknown")


def _comparable(row):
    return row != _INFERRED_WEAKLY and (row[1] != "unknown" or row[0] not in _NOT_OF_UNKNOWN)


@cases(*filter(_comparable, product(_ON_MATRIX, _INPUTS)))
def of_matrix(tf, np, key, which):
    made = _ON_MATRIX[key](tf, tf.placeholder(tf.float32, _INPUTS[which]))
    made = list(made) if isinstance(made, (list, tuple)) else [made]
    return [(t.dtype, t.shape) for t in made]


_IMAGES = {
    "unknown": None,
    "rank only": [None] * 4,
    "batch unknown": [None, 8, 9, 3],
    "size unknown": [2, None, None, 3],
}
_ON_IMAGE = {
    "conv same": lambda tf, x: tf.nn.conv2d(x, tf.zeros([3, 3, 3, 5]), [1, 2, 2, 1], "SAME"),
    "conv valid": lambda tf, x: tf.nn.conv2d(x, tf.zeros([3, 3, 3, 5]), [1, 2, 1, 1], "VALID"),
    "conv explicit": lambda tf, x: tf.nn.conv2d(
        x, tf.zeros([3, 3, 3, 5]), 1, [[0, 0], [1, 1], [2, 0], [0, 0]]
    ),
    "conv unknown filter": lambda tf, x: tf.nn.conv2d(x, tf.placeholder(tf.float32), [1, 1, 1, 1], "SAME"),
    "depthwise": lambda tf, x: tf.nn.depthwise_conv2d_native(
        x, tf.zeros([3, 3, 3, 2]), [1, 1, 1, 1], "VALID"
    ),
    "max pool": lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    "avg pool": lambda tf, x: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID"),
    "fused norm": lambda tf, x: tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[0],
    "fused norm mean": lambda tf, x: tf.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[1],
    "lrn": lambda tf, x: tf.nn.lrn(x),
    "bias": lambda tf, x: tf.nn.bias_add(x, tf.zeros([3])),
    "conv gradient": lambda tf, x: tf.gradients(
        tf.nn.conv2d(x, tf.zeros([3, 3, 3, 5]), [1, 1, 1, 1], "SAME"), x
    )[0],
    "pool gradient": lambda tf, x: tf.gradients(tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), x)[0],
    "conv transpose": lambda tf, x: tf.nn.conv2d_transpose(
        x, tf.zeros([3, 3, 5, 3]), [2, 16, 18, 5], [1, 2, 2, 1]
    ),
    "backprop input": lambda tf, x: tf.nn.conv2d_backprop_input(
        [2, 8, 9, 3], tf.zeros([3, 3, 3, 3]), x, [1, 1, 1, 1], "SAME"
    ),
    "backprop filter": lambda tf, x: tf.nn.conv2d_backprop_filter(
        tf.zeros([2, 8, 9, 3]), [3, 3, 3, 3], x, [1, 1, 1, 1], "SAME"
    ),
    "mean over places": lambda tf, x: tf.reduce_mean(x, [1, 2]),
}


@cases(*product(_ON_IMAGE, _IMAGES))
def of_images(tf, np, key, which):
    made = _ON_IMAGE[key](tf, tf.placeholder(tf.float32, _IMAGES[which]))
    return (made.dtype, made.shape)


def _shape_in_loop(tf, make):
    found = []

    def body(i):
        found.append(make(i).shape)
        return i + 1

    tf.while_loop(lambda i: i < 2, body, [tf.constant(0)])
    return found


def of_constants_that_enter_loops(tf, np):
    sizes = tf.shape(tf.zeros([1, 5]))
    number, several = sizes[1], tf.stack([sizes[1], 1])
    return [
        _shape_in_loop(tf, lambda i: tf.range(number)),
        _shape_in_loop(tf, lambda i: tf.fill(several, i)),
        _shape_in_loop(tf, lambda i: tf.reshape(tf.zeros([5]), several)),
        _shape_in_loop(tf, lambda i: tf.expand_dims(tf.range(number), 0) < tf.fill([number], i)),
    ]
