"""tf.nn.rnn_cell and tf.nn's recurrent networks: values, gradients, graphs, names, seeds, training."""

from kit import Close, cases, graph, names, normal, product, raises, run, upstream


def _fill(np):
    """An initializer whose values are the same in every engine."""

    def initial(shape, dtype=None, partition_info=None):
        size = int(np.prod(shape))
        values = np.sin(np.arange(size, dtype=np.float64)).reshape([int(n) for n in shape])
        return (0.6 * values).astype(dtype.as_numpy_dtype)

    return initial


def _nodes(tf):
    """The names and types of all nodes; an Enter or a Switch may be made before or after what takes it."""
    return sorted(names(tf))


def _flat(tf, structure):
    return tf.nest.flatten(structure)


def _input(np, *shape, **options):
    return normal(np, *shape).astype(options.get("dtype", "float32"))


def _loss(tf, np, tensors):
    """One number that depends on every element of the tensors in its own way."""
    total = 0.0
    for tensor in tensors:
        weights = upstream(np, [n or 1 for n in tensor.shape.as_list()])
        total += tf.reduce_sum(tensor * tf.constant(weights, tensor.dtype))
    return total


def _all(tf, np, results, sources=(), feeds=None, rtol=2e-4):
    """Values, tensors, variables, and gradients by sources and variables."""
    flat = _flat(tf, results)
    wanted = list(sources) + tf.trainable_variables()
    slopes = tf.gradients(_loss(tf, np, flat), wanted)
    values, made = run(tf, [flat, [s for s in slopes if s is not None]], feeds)
    return [
        Close([values, made], rtol, rtol / 10),
        flat,
        [s is None for s in slopes],
        [(v.name, v.shape.as_list(), v.dtype.name) for v in tf.global_variables()],
    ]


# ---------------------------------------------------------------------------- cells


_CELLS = {
    "basic": lambda c: c.BasicRNNCell(4),
    "basic relu": lambda c: c.BasicRNNCell(4, activation="relu"),
    "basic named": lambda c: c.BasicRNNCell(4, name="mine"),
    "gru": lambda c: c.GRUCell(4),
    "gru sigmoid": lambda c: c.GRUCell(4, activation="sigmoid", bias_initializer="zeros"),
    "gru ones": lambda c: c.GRUCell(4, kernel_initializer="ones", bias_initializer="ones"),
    "basic lstm": lambda c: c.BasicLSTMCell(4),
    "basic lstm bias": lambda c: c.BasicLSTMCell(4, forget_bias=0.0, activation="softsign"),
    "basic lstm joined": lambda c: c.BasicLSTMCell(4, state_is_tuple=False),
    "lstm": lambda c: c.LSTMCell(4),
    "lstm peepholes": lambda c: c.LSTMCell(4, use_peepholes=True, forget_bias=0.5),
    "lstm clip": lambda c: c.LSTMCell(4, cell_clip=0.2),
    "lstm projected": lambda c: c.LSTMCell(4, num_proj=3),
    "lstm all": lambda c: c.LSTMCell(4, True, 0.5, None, 3, 0.1, forget_bias=2.0),
    "lstm joined": lambda c: c.LSTMCell(4, state_is_tuple=False),
    "lstm joined projected": lambda c: c.LSTMCell(4, True, num_proj=3, state_is_tuple=False),
    "lstm shards": lambda c: c.LSTMCell(4, num_unit_shards=2, num_proj=3, num_proj_shards=2),
    "lstm activation": lambda c: c.LSTMCell(4, activation="elu"),
    "lstm initializer": lambda c: c.LSTMCell(4, initializer="zeros"),
    "multi": lambda c: c.MultiRNNCell([c.BasicLSTMCell(4), c.GRUCell(3)]),
    "multi deep": lambda c: c.MultiRNNCell([c.LSTMCell(4), c.MultiRNNCell([c.GRUCell(3), c.LSTMCell(2)])]),
    "multi joined": lambda c: c.MultiRNNCell([c.GRUCell(4), c.BasicRNNCell(3)], state_is_tuple=False),
    "residual": lambda c: c.ResidualWrapper(c.LSTMCell(3)),
    "residual own": lambda c: c.ResidualWrapper(c.GRUCell(3), lambda i, o: 2.0 * i - o),
    "device": lambda c: c.DeviceWrapper(c.LSTMCell(4), "/cpu:0"),
    "no dropout": lambda c: c.DropoutWrapper(c.LSTMCell(4)),
    "dropout": lambda c: c.DropoutWrapper(c.LSTMCell(4), 0.7, 0.6, 0.5, seed=3),
    "dropout of many": lambda c: c.DropoutWrapper(
        c.MultiRNNCell([c.LSTMCell(4), c.GRUCell(3)]), output_keep_prob=0.6, state_keep_prob=0.5, seed=3
    ),
    "variational": lambda c: c.DropoutWrapper(
        c.LSTMCell(4), 0.7, 0.6, 0.5, variational_recurrent=True, input_size=3, dtype="float32", seed=5
    ),
    "variational output": lambda c: c.DropoutWrapper(
        c.GRUCell(4), output_keep_prob=0.6, variational_recurrent=True, dtype="float32", seed=5
    ),
    "dropout chosen": lambda c: c.DropoutWrapper(
        c.LSTMCell(4),
        state_keep_prob=0.5,
        seed=1,
        dropout_state_filter_visitor=lambda s: (
            c.LSTMStateTuple(True, False) if isinstance(s, tuple) else True
        ),
    ),
    "dropped residual": lambda c: c.ResidualWrapper(c.DropoutWrapper(c.GRUCell(3), 0.5, seed=2)),
}


def _made(tf, np, cell, build=None):
    """The cell in a scope that gives its variables known values, after a seed for all else."""
    tf.set_random_seed(11)
    with tf.variable_scope("model", initializer=_fill(np)):
        made = _CELLS[cell](tf.nn.rnn_cell)
        return made if build is None else build(made)


@cases(*_CELLS)
def steps(tf, np, cell):
    """Two steps of a cell."""

    def build(made):
        state = made.zero_state(2, tf.float32)
        first, state = made(tf.constant(_input(np, 2, 3)), state)
        x = tf.constant(_input(np, 2, 3) + 0.3)
        second, state = made(x, state)
        return [first, second, state], x

    results, x = _made(tf, np, cell, build)
    return _all(tf, np, results, [x])


@cases(*_CELLS)
def graph_of_steps(tf, np, cell):
    def build(made):
        state = made.get_initial_state(batch_size=2, dtype=tf.float32)
        _, state = made(tf.placeholder(tf.float32, [2, 3]), state)
        made(tf.placeholder(tf.float32, [2, 3]), state)
        return [made.state_size, made.output_size, [v.name for v in made.variables], made.name, made.dtype]

    facts = _made(tf, np, cell, build)
    return [facts, graph(tf)]


@cases(*_CELLS)
def graph_of_dynamic_rnn(tf, np, cell):
    def build(made):
        x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
        return tf.nn.dynamic_rnn(made, x, [3, 5], dtype=tf.float32), [v.name for v in made.weights]

    return [_made(tf, np, cell, build), graph(tf)]


@cases(*_CELLS)
def along_time(tf, np, cell):
    """One iteration at a time: TensorFlow draws random numbers in the order in which iterations run ahead."""

    def build(made):
        x = tf.constant(_input(np, 2, 5, 3))
        return tf.nn.dynamic_rnn(made, x, [3, 5], dtype=tf.float32, parallel_iterations=1), x

    results, x = _made(tf, np, cell, build)
    return _all(tf, np, results, [x])


@cases(*product(["basic", "gru", "basic lstm", "lstm all", "multi"], ["float64", "float16"]))
def dtypes(tf, np, cell, dtype):
    def build(made):
        x = tf.constant(_input(np, 2, 4, 3, dtype=dtype))
        return tf.nn.dynamic_rnn(made, x, dtype=dtype), x

    results, x = _made(tf, np, cell, build)
    return _all(tf, np, results, [x], rtol=1e-5 if dtype == "float64" else 3e-2)


@cases("BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell")
def random_weights(tf, np, cell):
    """What the default initializers give, by seed and by the numbers of ops."""
    tf.set_random_seed(4)
    made = getattr(tf.nn.rnn_cell, cell)(3)
    results = tf.nn.dynamic_rnn(made, tf.constant(_input(np, 2, 4, 5)), dtype=tf.float32)
    values = run(tf, [_flat(tf, results), [v.read_value() for v in tf.global_variables()]])
    return Close(values, 1e-4, 1e-5)


# ---------------------------------------------------------------------------- sharing and scopes


def shared_cell(tf, np):
    """A cell that is called in two places has one set of variables."""
    with tf.variable_scope("model", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.GRUCell(3)
        a, _ = tf.nn.dynamic_rnn(cell, tf.constant(_input(np, 2, 4, 3)), dtype=tf.float32, scope="one")
        b, _ = tf.nn.dynamic_rnn(cell, a, dtype=tf.float32, scope="two")
        c, _ = cell(b[:, 0], b[:, 1])
    return _all(tf, np, [a, b, c]) + [_nodes(tf)]


def reused_scope(tf, np):
    for reuse in (None, True):
        with tf.variable_scope("model", initializer=_fill(np), reuse=reuse):
            cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3) for _ in range(2)])
            last = tf.nn.dynamic_rnn(cell, tf.constant(_input(np, 2, 4, 3)), dtype=tf.float32)
    return _all(tf, np, last) + [_nodes(tf)]


def reuse_of_a_cell(tf, np):
    x = tf.constant(_input(np, 2, 3))
    with tf.variable_scope("s", initializer=_fill(np)):
        tf.nn.rnn_cell.GRUCell(3, name="g")(x, x)
        y = tf.nn.rnn_cell.GRUCell(3, name="g", reuse=True)(x, x)
        error = raises(lambda: tf.nn.rnn_cell.GRUCell(3, name="g", reuse=False)(x, x))
    return _all(tf, np, y) + [error, _nodes(tf)]


def auto_reuse(tf, np):
    outputs = []
    for _ in range(2):
        with tf.variable_scope("model", initializer=_fill(np), reuse=tf.AUTO_REUSE):
            cell = tf.nn.rnn_cell.BasicLSTMCell(3)
            outputs.append(tf.nn.dynamic_rnn(cell, tf.constant(_input(np, 2, 4, 3)), dtype=tf.float32))
    return _all(tf, np, outputs) + [_nodes(tf)]


@cases("text", "scope", None)
def scopes_of_calls(tf, np, how):
    x = tf.constant(_input(np, 2, 3))
    cell = tf.nn.rnn_cell.GRUCell(3)
    with tf.variable_scope("outer", initializer=_fill(np)) as outer:
        cell(x, x, scope={"text": "inner", "scope": outer, None: None}[how])
        cell(x, x)
    many = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicRNNCell(3)])
    many(x, (x,), scope="many" if how else None)
    many(x, (x,))
    return [cell.scope_name, many.scope_name, graph(tf)]


def a_cell_of_ones_own(tf, np):
    """A subclass that makes its variables as it is called."""

    class Decay(tf.nn.rnn_cell.RNNCell):
        state_size = 3
        output_size = 3

        def call(self, inputs, state):
            rate = tf.get_variable("rate", [3], initializer=_fill(np))
            tf.get_variable("other", [1], trainable=False, initializer=tf.zeros_initializer())
            new = rate * state + inputs
            return tf.tanh(new), new

    cell = Decay()
    x = tf.constant(_input(np, 2, 4, 3))
    results = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    own = [[v.name for v in w] for w in (cell.trainable_weights, cell.non_trainable_weights, cell.variables)]
    return _all(tf, np, results, [x]) + [own, cell.name, graph(tf)]


def regularized(tf, np):
    with tf.variable_scope("m", regularizer=tf.contrib.layers.l2_regularizer(0.1), initializer=_fill(np)):
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.zeros([2, 4, 3]), dtype=tf.float32)
    return [run(tf, tf.losses.get_regularization_losses()), graph(tf)]


def resource_variables(tf, np):
    with tf.variable_scope("m", use_resource=True, initializer=_fill(np)):
        x = tf.constant(_input(np, 2, 4, 3))
        y = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(3), x, [4, 2], dtype=tf.float32)
    return _all(tf, np, y, [x]) + [_nodes(tf)]


@cases("basic", "gru", "basic lstm", "lstm all")
def configs(tf, np, cell):
    made = _CELLS[cell](tf.nn.rnn_cell)
    config = made.get_config()
    again = type(made).from_config(config)
    keys = sorted(k for k in config if k != "dtype")
    return [[(k, config[k]) for k in keys], again.state_size, again.output_size]


# ---------------------------------------------------------------------------- initial states


@cases("number", "tensor", "unknown", "float64")
def zero_states(tf, np, batch):
    size = {
        "number": 2,
        "tensor": tf.constant(2),
        "unknown": tf.shape(tf.placeholder_with_default([1.0, 2.0], [None]))[0],
        "float64": 2,
    }[batch]
    dtype = tf.float64 if batch == "float64" else tf.float32
    c = tf.nn.rnn_cell
    cell = c.DropoutWrapper(c.ResidualWrapper(c.MultiRNNCell([c.LSTMCell(3, num_proj=2), c.GRUCell(4)])))
    state = cell.zero_state(size, dtype)
    return [
        _flat(tf, state),
        type(state).__name__,
        type(state[0]).__name__,
        run(tf, _flat(tf, state)),
        graph(tf),
    ]


def state_sizes_by_shape(tf, np):
    class Matrices(tf.nn.rnn_cell.RNNCell):
        state_size = tf.TensorShape([2, 3])
        output_size = tf.TensorShape([2, 3])

        def call(self, inputs, state):
            return inputs + state, state + 1.0

    cell = Matrices()
    x = tf.constant(_input(np, 4, 5, 2, 3))
    results = tf.nn.dynamic_rnn(cell, x, [1, 5, 3, 2], dtype=tf.float32)
    return _all(tf, np, results, [x]) + [_nodes(tf)]


def initial_states_from_inputs(tf, np):
    cell = tf.nn.rnn_cell.LSTMCell(3)
    known = cell.get_initial_state(inputs=tf.zeros([2, 5]))
    unknown = cell.get_initial_state(inputs=tf.placeholder_with_default(tf.zeros([2, 5]), [None, 5]))
    return [
        _flat(tf, [known, unknown]),
        run(tf, _flat(tf, [known, unknown])),
        raises(cell.get_initial_state),
        raises(cell.get_initial_state, batch_size=3),
        raises(cell.get_initial_state, inputs=tf.zeros([2, 5]), batch_size=3),
        raises(cell.get_initial_state, inputs=tf.zeros([2, 5]), dtype=tf.float64),
        graph(tf),
    ]


# ---------------------------------------------------------------------------- dynamic_rnn


_SHAPES = {
    "known": [2, 5, 3],
    "batch": [None, 5, 3],
    "time": [2, None, 3],
    "neither": [None, None, 3],
}
_LENGTHS = {
    "none": None,
    "all": [5, 5],
    "some": [2, 4],
    "zero": [0, 3],
    "zeros": [0, 0],
}


@cases(*product(list(_SHAPES), list(_LENGTHS), [False, True]))
def dynamic(tf, np, shape, lengths, time_major):
    x = _input(np, 2, 5, 3)
    sizes = list(_SHAPES[shape])
    if time_major:
        x, sizes = x.transpose(1, 0, 2), [sizes[1], sizes[0], 3]
    inputs = tf.placeholder(tf.float32, sizes)
    with tf.variable_scope("m", initializer=_fill(np)):
        y, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(3, num_proj=2),
            inputs,
            _LENGTHS[lengths],
            dtype=tf.float32,
            time_major=time_major,
        )
    sums = [tf.reduce_sum(y, axis=[0, 1]), tf.reduce_sum(state.c), tf.reduce_sum(state.h)]
    found = _all(tf, np, sums, [inputs], {inputs: x})
    return found + [run(tf, [y, state], {inputs: x}), y, state.c, state.h, graph(tf)]


@cases("int32", "int64", "unknown", "numpy")
def lengths_of(tf, np, kind):
    lengths = {
        "int32": tf.constant([2, 4]),
        "int64": tf.constant([2, 4], tf.int64),
        "unknown": tf.placeholder_with_default([2, 4], None),
        "numpy": np.array([2, 4], np.int64),
    }[kind]
    with tf.variable_scope("m", initializer=_fill(np)):
        x = tf.constant(_input(np, 2, 5, 3))
        y = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, lengths, dtype=tf.float32)
    return _all(tf, np, y, [x]) + [graph(tf)]


def lengths_of_another_batch(tf, np):
    lengths = tf.placeholder(tf.int32, [None])
    x = tf.zeros([2, 5, 3])
    y = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, lengths, dtype=tf.float32)
    return [run(tf, y, {lengths: [1, 2]})[0].shape, raises(run, tf, y, {lengths: [1, 2, 3]})]


@cases("state", "dtype", "both")
def given_states(tf, np, how):
    x = tf.constant(_input(np, 2, 5, 3))
    cell = tf.nn.rnn_cell.LSTMCell(3)
    state = tf.nn.rnn_cell.LSTMStateTuple(*[tf.constant(_input(np, 2, 3) * k) for k in (0.5, 0.2)])
    with tf.variable_scope("m", initializer=_fill(np)):
        options = {"state": dict(initial_state=state), "dtype": dict(dtype=tf.float32)}
        options["both"] = dict(options["state"], **options["dtype"])
        y = tf.nn.dynamic_rnn(cell, x, [2, 4], **options[how])
    return _all(tf, np, y, [x] + list(state)) + [graph(tf)]


def iterations_and_swapping(tf, np):
    x = tf.constant(_input(np, 2, 5, 3))
    with tf.variable_scope("m", initializer=_fill(np)):
        y = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32, parallel_iterations=1, swap_memory=True
        )
    return _all(tf, np, y, [x]) + [graph(tf)]


def nested_inputs(tf, np):
    class Both(tf.nn.rnn_cell.RNNCell):
        state_size = {"a": 2, "b": (3, 2)}
        output_size = (3, [2])

        def call(self, inputs, state):
            a, (b, c) = state["a"] + inputs[1], state["b"]
            b = tf.tanh(b * inputs[0] + 0.1)
            return (b, [a * c]), {"a": a, "b": (b, c - a)}

    inputs = (tf.constant(_input(np, 2, 5, 3)), tf.constant(_input(np, 2, 5, 2)))
    results = tf.nn.dynamic_rnn(Both(), inputs, [3, 5], dtype=tf.float32)
    kinds = [type(results[0]).__name__, type(results[0][1]).__name__, sorted(results[1])]
    return _all(tf, np, results, inputs) + [kinds, _nodes(tf)]


def in_a_loop(tf, np):
    """A network in the body of a loop: its variables are made outside."""
    x = tf.constant(_input(np, 2, 5, 3))
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.BasicRNNCell(3)

        def body(i, x):
            return i + 1, tf.nn.dynamic_rnn(cell, x, [3, 5], dtype=tf.float32)[0]

        _, y = tf.while_loop(lambda i, _: i < 3, body, (0, x))
    return _all(tf, np, [y], [x]) + [_nodes(tf)]


def in_a_branch(tf, np):
    x = tf.constant(_input(np, 2, 5, 3))
    pred = tf.placeholder(tf.bool, [])
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.GRUCell(3)
        y = tf.cond(pred, lambda: tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0], lambda: 2.0 * x)
    slope = tf.gradients(tf.reduce_sum(y * y), [x] + tf.trainable_variables())
    return [[Close(run(tf, [y, slope], {pred: p}), 2e-4, 2e-5) for p in (True, False)], _nodes(tf)]


def second_derivatives(tf, np):
    x = tf.constant(_input(np, 2, 3))
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.GRUCell(2)
        outputs, _ = tf.nn.static_rnn(cell, [x, 2.0 * x, x - 0.5], dtype=tf.float32)
    slope = tf.gradients(tf.reduce_sum(outputs[-1] ** 2), x)[0]
    return Close(run(tf, [slope, tf.gradients(tf.reduce_sum(slope**2), x)[0]]), 2e-3, 1e-4)


@cases("gru", "lstm all", "multi", "dropout")
def gradient_graph(tf, np, cell):
    def build(made):
        x = tf.placeholder(tf.float32, [2, 5, 3])
        y, _ = tf.nn.dynamic_rnn(made, x, [3, 5], dtype=tf.float32)
        return tf.gradients(tf.reduce_sum(y), [x] + tf.trainable_variables())

    return [_made(tf, np, cell, build), _nodes(tf)]


# ---------------------------------------------------------------------------- both directions


@cases(*product(["none", "some", "zero"], [False, True], ["known", "neither"]))
def bidirectional(tf, np, lengths, time_major, shape):
    x = _input(np, 2, 5, 3)
    sizes = list(_SHAPES[shape])
    if time_major:
        x, sizes = x.transpose(1, 0, 2), [sizes[1], sizes[0], 3]
    inputs = tf.placeholder(tf.float32, sizes)
    c = tf.nn.rnn_cell
    with tf.variable_scope("m", initializer=_fill(np)):
        y, states = tf.nn.bidirectional_dynamic_rnn(
            c.GRUCell(3), c.LSTMCell(2), inputs, _LENGTHS[lengths], dtype=tf.float32, time_major=time_major
        )
    facts = [y, states, [v.name for v in tf.global_variables()], run(tf, [y, states], {inputs: x})]
    losses = [tf.reduce_sum(t * t) for t in _flat(tf, [y, states])]
    slopes = tf.gradients(losses, [inputs] + tf.trainable_variables())
    return facts + [Close(run(tf, slopes, {inputs: x}), 2e-4, 2e-5), _nodes(tf)]


def bidirectional_states(tf, np):
    c = tf.nn.rnn_cell
    x = tf.constant(_input(np, 2, 5, 3))
    s = tf.constant(_input(np, 2, 3))
    with tf.variable_scope("m", initializer=_fill(np)):
        y = tf.nn.bidirectional_dynamic_rnn(
            c.GRUCell(3), c.GRUCell(3), x, initial_state_fw=s, initial_state_bw=s * 0.3, scope="mine"
        )
    return _all(tf, np, y, [x, s]) + [graph(tf)]


# ---------------------------------------------------------------------------- static networks


@cases(*product(["none", "some", "zero", "zeros"], ["known", "batch"], ["gru", "lstm all", "multi"]))
def static(tf, np, lengths, shape, cell):
    x = [_input(np, 2, 3) * k for k in (1.0, 0.5, -0.3, 0.8, -1.0)]
    inputs = [tf.placeholder(tf.float32, [_SHAPES[shape][0], 3]) for _ in x]
    y, state = _made(
        tf,
        np,
        cell,
        lambda made: tf.nn.static_rnn(made, inputs, dtype=tf.float32, sequence_length=_LENGTHS[lengths]),
    )
    feeds = dict(zip(inputs, x))
    losses = [tf.reduce_sum(t * t) for t in _flat(tf, [y, state])]
    slopes = tf.gradients(losses, inputs + tf.trainable_variables())
    values = run(tf, [_flat(tf, [y, state]), slopes], feeds)
    return [_flat(tf, [y, state]), Close(values, 2e-4, 2e-5), _nodes(tf)]


@cases(*product(["gru", "lstm", "dropout"], ["none", "some"]))
def graph_of_static_rnn(tf, np, cell, lengths):
    inputs = [tf.placeholder(tf.float32, [2, 3]) for _ in range(3)]
    y = _made(
        tf,
        np,
        cell,
        lambda made: tf.nn.static_rnn(made, inputs, dtype=tf.float32, sequence_length=_LENGTHS[lengths]),
    )
    return [y, graph(tf)]


@cases("none", "some", "zero")
def static_both_ways(tf, np, lengths):
    c = tf.nn.rnn_cell
    x = [tf.constant(_input(np, 2, 3) * k) for k in (1.0, 0.5, -0.3, 0.8, -1.0)]
    with tf.variable_scope("m", initializer=_fill(np)):
        y = tf.nn.static_bidirectional_rnn(
            c.LSTMCell(2), c.GRUCell(3), x, dtype=tf.float32, sequence_length=_LENGTHS[lengths]
        )
    return _all(tf, np, y, x) + [_nodes(tf)]


def static_vectors(tf, np):
    """Inputs without an axis of their own."""

    class Count(tf.nn.rnn_cell.RNNCell):
        state_size = 1
        output_size = 1

        def call(self, inputs, state):
            state = state + tf.expand_dims(inputs, 1)
            return 2.0 * state, state

    y = tf.nn.static_rnn(Count(), [tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])], dtype=tf.float32)
    return [y, run(tf, y), graph(tf)]


class _Saver(object):
    """States in variables, as `static_state_saving_rnn` wants them."""

    def __init__(self, tf, sizes):
        self.tf = tf
        self.states = {name: tf.Variable(tf.ones([2, n]), name=name) for name, n in sizes.items()}

    def state(self, name):
        return self.states[name].read_value()

    def save_state(self, name, value):
        return self.tf.assign(self.states[name], value).op


@cases("one", "tuple")
def saved_states(tf, np, kind):
    x = [tf.constant(_input(np, 2, 3) * k) for k in (1.0, 0.5)]
    with tf.variable_scope("m", initializer=_fill(np)):
        if kind == "one":
            cell, name, saver = tf.nn.rnn_cell.GRUCell(3), "s", _Saver(tf, {"s": 3})
        else:
            cell, name, saver = (
                tf.nn.rnn_cell.LSTMCell(3, num_proj=2),
                ("c", "h"),
                _Saver(tf, {"c": 3, "h": 2}),
            )
        y, state = tf.nn.static_state_saving_rnn(cell, x, saver, name)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run([y, state]) for _ in range(3)]
    error = raises(tf.nn.static_state_saving_rnn, cell, x, saver, ("s",) if kind == "one" else "c")
    return [_flat(tf, [y, state]), Close(values, 2e-4, 2e-5), error, _nodes(tf)]


# ---------------------------------------------------------------------------- raw_rnn


def _reader(tf, np, x, lengths, cell, loop_state=None, emit=None):
    """A loop_fn that reads inputs as dynamic_rnn does."""
    array = tf.TensorArray(tf.float32, size=x.shape[0]).unstack(tf.constant(x))

    def loop_fn(time, output, state, previous):
        if output is None:
            following, emitted, kept = cell.zero_state(x.shape[1], tf.float32), emit, loop_state
        else:
            following = state
            emitted = output if emit is None else tf.reduce_sum(output, axis=1, keepdims=True)
            kept = None if loop_state is None else previous + tf.reduce_sum(output)
        finished = time >= lengths
        past = tf.reduce_all(finished)
        now = tf.cond(past, lambda: tf.zeros(x.shape[1:]), lambda: array.read(time))
        return finished, now, following, emitted, kept

    return loop_fn


@cases(*product(["gru", "lstm", "multi"], ["plain", "state", "emits"]))
def raw(tf, np, cell, kind):
    def build(made):
        fn = _reader(
            tf,
            np,
            _input(np, 5, 2, 3),
            tf.constant([3, 5]),
            made,
            tf.constant(0.5) if kind == "state" else None,
            tf.zeros([1]) if kind == "emits" else None,
        )
        arrays, state, kept = tf.nn.raw_rnn(made, fn)
        return [arrays.stack(), state] + ([] if kept is None else [kept])

    return _all(tf, np, _made(tf, np, cell, build)) + [graph(tf)]


def raw_with_unknown_batch(tf, np):
    x = tf.placeholder(tf.float32, [None, 3])
    cell = tf.nn.rnn_cell.GRUCell(3)

    def loop_fn(time, output, state, _):
        start = cell.zero_state(tf.shape(x)[0], tf.float32)
        return tf.fill(tf.shape(x)[:1], time >= 4), x, start if output is None else state, output, None

    with tf.variable_scope("m", initializer=_fill(np)):
        arrays, state, kept = tf.nn.raw_rnn(cell, loop_fn, scope="raw")
    return [arrays.stack(), state, kept, run(tf, [arrays.stack(), state], {x: _input(np, 2, 3)}), graph(tf)]


# ---------------------------------------------------------------------------- training


@cases(*product(["basic", "gru", "basic lstm", "lstm all", "multi", "residual"], ["sgd", "adam"]))
def trained(tf, np, cell, optimizer):
    """A few steps of learning, and what comes of it."""

    def build(made):
        x = tf.constant(_input(np, 4, 6, 3))
        y, _ = tf.nn.dynamic_rnn(made, x, [6, 3, 5, 1], dtype=tf.float32)
        target = tf.constant(_input(np, 4, 6, int(made.output_size)))
        loss = tf.reduce_mean((y - target) ** 2)
        chosen = {"sgd": tf.train.GradientDescentOptimizer(0.5), "adam": tf.train.AdamOptimizer(0.05)}
        return loss, chosen[optimizer].minimize(loss)

    loss, step = _made(tf, np, cell, build)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(8)]
        weights = session.run(tf.trainable_variables())
    return [Close(losses, 1e-3), Close(weights, 5e-3, 5e-4), [v.name for v in tf.global_variables()]]


def truncated_backpropagation(tf, np):
    """The state of one piece of text is fed to the next."""
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3) for _ in range(2)])
    x = tf.placeholder(tf.float32, [2, 4, 3])
    start = cell.zero_state(2, tf.float32)
    with tf.variable_scope("m", initializer=_fill(np)):
        y, end = tf.nn.dynamic_rnn(cell, x, initial_state=start)
    loss = tf.reduce_mean(tf.square(y - x))
    step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state, losses = session.run(start), []
        for k in range(5):
            found, state, _ = session.run([loss, end, step], {x: _input(np, 2, 4, 3) * (k + 1), start: state})
            losses.append(found)
    return [Close(losses, 1e-3), Close(state, 5e-3, 5e-4)]


@cases(*product([0.3, 1.0], [False, True]))
def keep_probs_by_tensor(tf, np, keep, variational):
    tf.set_random_seed(7)
    prob = tf.placeholder(tf.float32, [])
    x = tf.constant(_input(np, 2, 5, 3))
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.LSTMCell(4),
            prob,
            prob,
            prob,
            variational_recurrent=variational,
            input_size=tf.TensorShape([3]),
            dtype=tf.float32,
            seed=3,
        )
        y = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, parallel_iterations=1)
    values = run(tf, y, {prob: keep})
    return [_flat(tf, y), Close(_flat(tf, values), 2e-4, 2e-5), graph(tf)]


def dropout_without_seeds(tf, np):
    tf.set_random_seed(9)
    c = tf.nn.rnn_cell
    with tf.variable_scope("m", initializer=_fill(np)):
        cell = c.MultiRNNCell([c.DropoutWrapper(c.GRUCell(3), 0.5, 0.5, 0.5) for _ in range(2)])
        y = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32, parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(_flat(tf, y)) for _ in range(2)]
    return [Close(values, 2e-4, 2e-5), graph(tf)]
