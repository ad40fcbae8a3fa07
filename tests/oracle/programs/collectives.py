"""Collective ops between logical devices: values, shapes, nodes, and what the functions refuse."""

from kit import cases, graph, product, raises


def _functions():
    """TensorFlow's collective_ops, where the engine keeps them."""
    try:
        from tensorflow.python.ops import collective_ops as functions
    except ImportError:
        from tideflow.ops.distributed import collectives as functions
    return functions


def _on(tf, device):
    return tf.device("/cpu:%d" % device)


def _run(tf, fetches, count):
    options = tf.RunOptions()
    options.experimental.collective_graph_key = 1
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as session:
        return session.run(fetches, options=options)


@cases(*product(["Add", "Mul"], ["Id", "Div"], ["float32", "float64", "int32", "int64"], [2, 3]))
def reduce(tf, np, merge, final, dtype, count):
    made = []
    for device in range(count):
        with _on(tf, device):
            value = tf.constant(np.arange(1, 7).reshape(2, 3) * (device + 2), dtype)
            made.append(_functions().all_reduce(value, count, 1, 1, merge, final))
    return [_run(tf, made, count), made, graph(tf)]


@cases((2,), (2, 3), (4, 0))
def gather(tf, np, *shape):
    made = []
    for device in range(2):
        with _on(tf, device):
            value = tf.constant(np.full(shape, device + 0.5, np.float32))
            made.append(_functions().all_gather(value, 2, 1, 1))
    if 0 in shape:
        return made  # TensorFlow does not run on nothing
    return [_run(tf, made, 2), made, graph(tf)]


@cases("float32", "int64")
def broadcast(tf, np, dtype):
    with _on(tf, 0):
        value = tf.constant([1, 0, 2], dtype)
        made = [_functions().broadcast_send(value, value.shape, value.dtype, 3, 1, 1)]
    for device in (1, 2):
        with _on(tf, device):
            made.append(_functions().broadcast_recv(value.shape, value.dtype, 3, 1, 1))
    return [_run(tf, made, 3), made, graph(tf)]


def shapes(tf, np):
    with _on(tf, 0):
        rows, anything = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32)
        return [
            _functions().all_gather(rows, 2, 1, 1),
            _functions().all_gather(anything, 2, 1, 2),
            _functions().all_reduce(rows, 2, 1, 3, "Add", "Id"),
        ]


def refused(tf, np):
    functions, apart = _functions(), tf.constant([1.0])
    with _on(tf, 0):
        value, scalar = tf.constant([1.0, 2.0]), tf.constant(1.0)
    reduced = functions.all_reduce(value, 2, 1, 1, "Add", "Id")
    return [
        raises(functions.all_reduce, apart, 2, 1, 1, "Add", "Id"),
        raises(functions.all_reduce, value, 1, 1, 1, "Add", "Id"),
        raises(functions.all_reduce, value, 2, 1, 1, "Sub", "Id"),
        raises(functions.all_reduce, value, 2, 1, 1, "Add", "Sqrt"),
        raises(functions.all_gather, apart, 2, 1, 1),
        raises(functions.all_gather, value, 1, 1, 1),
        raises(functions.all_gather, scalar, 2, 1, 1),
        raises(functions.broadcast_send, apart, [1], tf.float32, 2, 1, 1),
        raises(functions.broadcast_send, value, [3], tf.float32, 2, 1, 1),
        raises(functions.broadcast_send, value, [2], tf.float64, 2, 1, 1),
        raises(functions.broadcast_send, value, [2], tf.float32, 1, 1, 1),
        raises(functions.broadcast_recv, [2], tf.float32, 1, 1, 1),
        raises(tf.gradients, reduced, [value]),
    ]
