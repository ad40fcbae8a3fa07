"""tf.contrib.cudnn_rnn, as far as TensorFlow has it without a GPU: names, shapes, cells, conversions."""

from kit import cases, product, raises

_KINDS = ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"]
_DIRECTIONS = ["unidirectional", "bidirectional"]


@cases(*product(_KINDS, _DIRECTIONS))
def layers(tf, np, kind, direction):
    layer = getattr(tf.contrib.cudnn_rnn, kind)(2, 3, direction=direction, dropout=0.2)
    with tf.variable_scope("outer"):
        outputs, states = layer(tf.zeros([4, 2, 5]))
    again = layer(tf.zeros([4, 2, 5]), initial_state=states, training=False)[0]
    found = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    return [
        [v.name for v in tf.trainable_variables()],
        [[spec.name for spec in saveable.specs] for saveable in found],
        [saveable.name for saveable in found],
        outputs,
        [state.name for state in states],
        again.name,
        layer.canonical_weight_shapes,
        layer.canonical_bias_shapes,
        [layer.num_layers, layer.num_units, layer.input_size, layer.num_dirs, layer.rnn_mode],
        [layer.input_mode, layer.direction],
        list(layer.state_shape(7)),
        outputs.op.type,
        sorted((k, str(outputs.op.get_attr(k))) for k in ("rnn_mode", "direction", "is_training")),
    ]


def lengths(tf, np):
    layer = tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)
    outputs, _ = layer(tf.zeros([4, 2, 5]), sequence_lengths=[4, 3])
    return [outputs, outputs.op.type, [v.name for v in tf.global_variables()]]


def reused(tf, np):
    with tf.variable_scope("a"):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 3, name="g")(tf.zeros([4, 2, 5]))
    with tf.variable_scope("a", reuse=True):
        tf.contrib.cudnn_rnn.CudnnGRU(1, 3, name="g")(tf.zeros([4, 2, 5]))
    return [[v.name for v in tf.global_variables()], len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS))]


def refused(tf, np):
    c = tf.contrib.cudnn_rnn
    layer = c.CudnnLSTM(1, 3)
    return [
        raises(c.CudnnLSTM, 1, 3, direction="sideways"),
        raises(c.CudnnLSTM, 1, 3, input_mode="none"),
        raises(c.CudnnLSTM, 1, 3, dtype=tf.int32),
        raises(lambda: layer.input_size),
        raises(lambda: layer.canonical_weight_shapes),
        raises(layer, tf.zeros([2, 3])),
        raises(layer, tf.placeholder(tf.float32, [2, 3, None])),
        raises(layer, tf.zeros([2, 3, 4]), initial_state=[tf.zeros([1, 3, 3])] * 2),
    ]


@cases("lstm", "gru")
def cells(tf, np, kind):
    c = tf.contrib.cudnn_rnn
    cell = c.CudnnCompatibleLSTMCell(3) if kind == "lstm" else c.CudnnCompatibleGRUCell(3)
    x = tf.constant(np.cos(np.arange(24)).reshape(2, 4, 3), tf.float32)
    y, state = tf.nn.dynamic_rnn(cell, x, [4, 2], dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(tf.trainable_variables()):
            count = int(np.prod(v.shape.as_list()))
            v.load(np.sin(np.arange(count) + i).reshape(v.shape.as_list()), session)
        return [y, session.run([y, state]), [v.name for v in tf.global_variables()]]


@cases(*product(["LSTM", "GRU", "Tanh", "Relu"], _DIRECTIONS))
def converters(tf, np, kind, direction):
    """What is split and joined around the ops that only a GPU has in TensorFlow."""
    convert = getattr(tf.contrib.cudnn_rnn, "CudnnParamsFormatConverter" + kind)(2, 3, 5, direction=direction)
    params = tf.placeholder(tf.float32, [None])
    weights, biases = convert.opaque_to_tf_canonical(params)
    opaque = convert.tf_canonical_to_opaque(weights + biases)
    return [len(weights), len(biases), opaque.op.type, weights[0].op.type, opaque.dtype]
