"""tf.contrib.recurrent: cells as functions, with gradients of their own, and RNN cells run by them."""

from kit import Close, cases, normal, product


def _run(tf, np, fetches):
    with tf.Session() as session:
        for i, variable in enumerate(tf.trainable_variables()):
            size = np.prod(variable.shape.as_list())
            variable.load(np.linspace(-0.5, 0.4 + 0.1 * i, size).reshape(variable.shape.as_list()), session)
        return Close(session.run(fetches), 1e-5, 1e-6)


def _cell(tf):
    def cell(theta, state, inputs):
        following = tf.tanh(tf.matmul(inputs["x"], theta["w"]) + state["h"] * theta["b"])
        return {"h": following}, {"slope": 1.0 - following * following}

    def gradient(theta, state, inputs, extras, d_state):
        slope = d_state["h"] * extras["slope"] * 2.0  # doubled, to show that it is this one
        return (
            {"w": tf.matmul(inputs["x"], slope, transpose_a=True), "b": tf.reduce_sum(slope * state["h"], 0)},
            {"h": slope * theta["b"]},
            {"x": None},
        )

    return cell, gradient


@cases(*product([False, True], [None, 2, 1], [False, True]))
def functions(tf, np, own, length, at_end):
    cell, gradient = _cell(tf)
    theta = {"w": tf.constant(normal(np, 3, 2), tf.float32), "b": tf.constant([0.5, -0.25])}
    state = {"h": tf.constant(normal(np, 4, 2), tf.float32)}
    inputs = {"x": tf.constant(normal(np, 3, 4, 3), tf.float32)}
    if length == 1 and not own:
        inputs = {"x": inputs["x"][:1]}
    elif length is not None:
        length = tf.constant(length)
    states, last = tf.contrib.recurrent.Recurrent(
        theta, state, inputs, cell, gradient if own else None, max_input_length=length, aligned_end=at_end
    )
    loss = tf.reduce_sum(states["h"] ** 2) + tf.reduce_sum(last["h"] * 3.0)
    sources = [theta["w"], theta["b"], state["h"], inputs["x"]]
    grads = [x if x is not None else tf.constant(0.0) for x in tf.gradients(loss, sources)]
    if at_end and length is not None:
        grads = []  # TensorFlow's take zeros for the state before the first step that runs
    return _run(tf, np, [states["h"], last["h"], grads])


@cases(*product(["lstm", "gru"], [None, [2, 4, 0]], [False, True], [False, True]))
def cells(tf, np, kind, lengths, time_major, reverse):
    make = {"lstm": tf.nn.rnn_cell.BasicLSTMCell, "gru": tf.nn.rnn_cell.GRUCell}[kind]
    x = tf.constant(normal(np, 3, 4, 2), tf.float32)
    inputs = tf.transpose(x, [1, 0, 2]) if time_major else x
    with tf.variable_scope("model"):
        outputs, state = tf.contrib.recurrent.functional_rnn(
            make(3), inputs, lengths, dtype=tf.float32, time_major=time_major, reverse=reverse
        )
    names = [(v.name, v.shape.as_list()) for v in tf.trainable_variables()]
    grads = tf.gradients(tf.reduce_sum(outputs**2), [x] + tf.trainable_variables())
    return [names, outputs.shape.as_list(), _run(tf, np, [outputs, state, grads])]


@cases(*product([None, [2, 4, 1]], [False, True]))
def both_ways(tf, np, lengths, fast):
    x = tf.constant(normal(np, 3, 4, 2), tf.float32)
    with tf.variable_scope("model"):
        outputs, states = tf.contrib.recurrent.bidirectional_functional_rnn(
            tf.nn.rnn_cell.GRUCell(3),
            tf.nn.rnn_cell.GRUCell(2),
            x,
            dtype=tf.float32,
            sequence_length=lengths,
            fast_reverse=fast,
        )
    return [[v.name for v in tf.trainable_variables()], _run(tf, np, [outputs, states])]
