"""`tf.contrib.seq2seq`: attention, helpers, decoders, beam search and the loss, with fixed weights."""

from kit import cases, graph, normal, product, raises, run


def _fixed(tf, np):
    """Gives every variable a value that both engines make alike."""
    ops = []
    for place, variable in enumerate(tf.global_variables()):
        shape = variable.shape.as_list()
        count = int(np.prod(shape))
        values = np.sin(np.arange(count) * 1.7 + place).reshape(shape) * 0.7
        ops.append(variable.assign(values.astype(variable.dtype.base_dtype.as_numpy_dtype)))
    return tf.group(*ops)


def _answers(tf, np, fetches, feeds=None, gradients_of=None):
    """The graph, values, and gradients of a scalar by all variables, with fixed weights."""
    nodes = graph(tf, ())
    variables = tf.trainable_variables()
    grads = []
    if gradients_of is not None:
        grads = [g for g in tf.gradients(gradients_of, variables) if g is not None]
        grads = [tf.convert_to_tensor(g) for g in grads]
    fixed = _fixed(tf, np)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fixed)
        values = session.run([fetches, grads], feeds)
    return {
        "graph": nodes,
        "values": values,
        "variables": [(v.name, v.shape.as_list(), v.dtype.base_dtype.name) for v in tf.global_variables()],
    }


def _plain(outputs):
    """Nested results without their classes: these are not the same in both engines."""
    if isinstance(outputs, dict):
        return {key: _plain(value) for key, value in outputs.items()}
    if isinstance(outputs, (list, tuple)):
        return [_plain(value) for value in outputs]
    return outputs


def _tensors(tf, structure):
    """The tensors of a result, in order, arrays stacked."""
    if isinstance(structure, (list, tuple)):
        return [tensor for part in structure for tensor in _tensors(tf, part)]
    return [structure.stack() if isinstance(structure, tf.TensorArray) else structure]


def _floats(np, *shape):
    return normal(np, *shape).astype(np.float32)


# ---------------------------------------------------------------------------------------- loss


_LOSSES = {
    "both averages": (True, True, False, False),
    "over time": (True, False, False, False),
    "over batch": (False, True, False, False),
    "neither": (False, False, False, False),
    "both sums": (False, False, True, True),
    "sum of time": (False, False, True, False),
    "sum of batch": (False, False, False, True),
    "average of time, sum of batch": (True, False, False, True),
}


@cases(_LOSSES)
def losses(tf, np, *ways):
    logits = tf.constant(_floats(np, 2, 3, 4))
    targets = tf.constant([[0, 3, 1], [2, 2, 0]])
    weights = tf.constant([[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]])
    loss = tf.contrib.seq2seq.sequence_loss(logits, targets, weights, *ways)
    nodes = graph(tf, ())
    return run(tf, [loss, tf.gradients(loss, [logits, weights])]), loss.shape, nodes


def loss_of_nothing(tf, np):
    logits = tf.placeholder(tf.float32, [None, None, 4])
    loss = tf.contrib.seq2seq.sequence_loss(logits, tf.zeros([2, 0], tf.int32), tf.zeros([2, 0]), name="mine")
    return run(tf, loss, {logits: np.zeros([2, 0, 4])}), loss.name


def loss_with_a_function(tf, np):
    def squares(labels, logits):
        return tf.reduce_sum(tf.square(logits - tf.one_hot(labels, 4)), 1)

    return run(
        tf,
        tf.contrib.seq2seq.sequence_loss(
            tf.constant(_floats(np, 2, 3, 4)),
            tf.ones([2, 3], tf.int32),
            tf.ones([2, 3]),
            softmax_loss_function=squares,
        ),
    )


def losses_refused(tf, np):
    loss = tf.contrib.seq2seq.sequence_loss
    logits, targets, weights = tf.zeros([2, 3, 4]), tf.zeros([2, 3], tf.int32), tf.ones([2, 3])
    return [
        raises(loss, logits[0], targets, weights),
        raises(loss, logits, targets[0], weights),
        raises(loss, logits, targets, weights[0]),
        raises(loss, logits, targets, weights, sum_over_batch=True),
        raises(loss, logits, targets, weights, sum_over_timesteps=True),
    ]


# ---------------------------------------------------------------------------------------- probabilities


def hardmax(tf, np):
    x = tf.placeholder(tf.float32, [None, None])
    known = tf.contrib.seq2seq.hardmax(tf.constant(_floats(np, 2, 3, 4)), name="hard")
    return (
        run(tf, [tf.contrib.seq2seq.hardmax(x), known], {x: [[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]]}),
        known,
    )


@cases(
    {
        "plain": {},
        "along 1": {"axis": 1},
        "exclusive": {"axis": 1, "exclusive": True},
        "reverse": {"reverse": True},
    }
)
def cumprods(tf, np, options):
    x = tf.constant([[0.5, 0.0, 1.0, 0.25], [1.0, 0.9, 0.1, 0.0]])
    y = tf.contrib.seq2seq.safe_cumprod(x, **options)
    return run(tf, [y, tf.gradients(y, x)])


@cases(*product(["recursive", "parallel", "hard"], [True, False]))
def monotonic(tf, np, mode, known):
    p = np.array([[0.1, 0.9, 0.5, 0.0], [1.0, 0.2, 0.3, 0.4]], np.float32)
    previous = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.5, 0.0]], np.float32)
    if mode == "hard":
        p = np.round(p)
    inputs = [tf.placeholder(tf.float32, [2, 4] if known else [None, None]) for _ in range(2)]
    y = tf.contrib.seq2seq.monotonic_attention(inputs[0], inputs[1], mode)
    nodes = graph(tf, ())
    feeds = dict(zip(inputs, [p, previous]))
    return run(tf, [y, tf.gradients(y, inputs)], feeds), y.shape, nodes


def no_other_mode(tf, np):
    return raises(tf.contrib.seq2seq.monotonic_attention, tf.zeros([1, 2]), tf.zeros([1, 2]), "soft")


# ---------------------------------------------------------------------------------------- trees


@cases({"ends": 10, "inside": 5, "at once": 1})
def trees(tf, np, end_token):
    ids = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]], np.int32)
    parents = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]], np.int32)
    beams = tf.contrib.seq2seq.gather_tree(ids, parents, [3], end_token)
    return run(tf, beams), beams


def trees_of_random_parents(tf, np):
    rng = np.random.RandomState(3)
    ids = rng.randint(0, 6, [7, 4, 5]).astype(np.int32)
    parents = rng.randint(0, 5, [7, 4, 5]).astype(np.int32)
    return run(tf, tf.contrib.seq2seq.gather_tree(ids, parents, [7, 3, 0, 12], 2))


def trees_refused(tf, np):
    tree = tf.contrib.seq2seq.gather_tree
    ids = np.zeros([3, 1, 2], np.int32)
    bad = tree(ids, ids - 1, [3], 9)
    return [
        raises(run, tf, bad),
        raises(tree, ids, ids[:2], [3], 9),
        raises(tree, ids, ids, [3, 3], 9),
        raises(tree, ids, ids, 3, 9),
        raises(tree, ids, ids, [3], [9]),
        raises(tree, ids[0], ids[0], [3], 9),
    ]


@cases({"vector": [3], "matrix": [2, 3], "cube": [2, 3, 2]})
def tiled_batches(tf, np, shape):
    x = tf.placeholder(tf.float32, [None] + shape[1:])
    tiled = tf.contrib.seq2seq.tile_batch((tf.constant(_floats(np, *shape)), {"a": x}), 3)
    return run(tf, tiled, {x: _floats(np, *shape)}), tiled[0].shape, tiled[1]["a"].shape


def tiling_refused(tf, np):
    tile = tf.contrib.seq2seq.tile_batch
    return raises(tile, tf.constant(1.0), 2), raises(tile, tf.placeholder(tf.float32), 2)


# ---------------------------------------------------------------------------------------- mechanisms


_MECHANISMS = {
    "luong": ("LuongAttention", {}),
    "luong scaled": ("LuongAttention", {"scale": True}),
    "bahdanau": ("BahdanauAttention", {}),
    "bahdanau normed": ("BahdanauAttention", {"normalize": True}),
    "bahdanau masked with numbers": ("BahdanauAttention", {"score_mask_value": -2.0}),
    "luong monotonic": ("LuongMonotonicAttention", {"scale": True, "score_bias_init": -1.0}),
    "luong monotonic recursive": ("LuongMonotonicAttention", {"mode": "recursive"}),
    "luong monotonic hard": ("LuongMonotonicAttention", {"mode": "hard"}),
    "bahdanau monotonic": ("BahdanauMonotonicAttention", {"normalize": True, "score_bias_init": 0.5}),
    "bahdanau monotonic noisy": (
        "BahdanauMonotonicAttention",
        {"sigmoid_noise": 1.0, "sigmoid_noise_seed": 7},
    ),
}


def _mechanism(tf, np, kind, options, lengths=(5, 2), known=True, units=3):
    memory = _floats(np, 2, 5, 4)
    if not known:
        memory = tf.placeholder_with_default(memory, [None, None, 4])
    lengths = None if lengths is None else tf.constant(lengths)
    return getattr(tf.contrib.seq2seq, kind)(units, memory, lengths, **options)


@cases(
    {
        "%s, %s, %s" % (name, "lengths" if lengths else "all", "known" if known else "unknown"): (
            kind,
            options,
            lengths,
            known,
        )
        for name, (kind, options) in _MECHANISMS.items()
        for lengths in [(5, 2), None]
        for known in [True, False]
    }
)
def mechanisms(tf, np, kind, options, lengths, known):
    mechanism = _mechanism(tf, np, kind, options, lengths, known)
    query = tf.constant(_floats(np, 2, 3))
    state = mechanism.initial_state(2, tf.float32)
    first, state = mechanism(query, state)
    second, _ = mechanism(query * 2.0, state)
    weighed = tf.reduce_sum(second * tf.constant(_floats(np, 2, 5)))
    described = [mechanism.keys.shape, mechanism.values.shape, first.shape]
    if known:
        described += [mechanism.batch_size, mechanism.alignments_size, mechanism.state_size]
    return (
        _answers(tf, np, [first, second, mechanism.keys, mechanism.values], None, weighed),
        described,
    )


def mechanisms_of_doubles(tf, np):
    memory = tf.constant(normal(np, 2, 5, 4))
    mechanism = tf.contrib.seq2seq.BahdanauAttention(3, memory, [5, 1], dtype=tf.float64)
    found, _ = mechanism(tf.constant(normal(np, 2, 3)), mechanism.initial_state(2, tf.float64))
    return _answers(tf, np, found, None, found)


def mechanisms_with_functions(tf, np):
    seq2seq = tf.contrib.seq2seq
    memory, query = tf.constant(_floats(np, 2, 5, 4)), tf.constant(_floats(np, 2, 3))
    hard = seq2seq.LuongAttention(3, memory, [5, 2], probability_fn=seq2seq.hardmax)
    changed = seq2seq.BahdanauAttention(
        3, memory, custom_key_value_fn=lambda keys, values: (tf.tanh(keys), values * 2.0)
    )
    state = tf.zeros([2, 5])
    return _answers(tf, np, [hard(query, state), changed(query, state), changed.keys, changed.values])


def mechanisms_refused(tf, np):
    seq2seq = tf.contrib.seq2seq
    memory, query = tf.zeros([2, 5, 4]), tf.zeros([2, 3])
    mechanism = seq2seq.LuongAttention(4, memory)
    empty = seq2seq.LuongAttention(3, memory, [5, 0])
    return [
        raises(mechanism, query, tf.zeros([2, 5])),
        raises(seq2seq.LuongAttention, 4, tf.placeholder(tf.float32, [2, 5, None])),
        raises(seq2seq.LuongAttention, 4, memory, probability_fn=3),
        raises(lambda: _answers(tf, np, empty(query, tf.zeros([2, 5])))),
    ]


# ---------------------------------------------------------------------------------------- the wrapper


_WRAPPERS = {
    "plain": {},
    "layer": {"attention_layer_size": 6},
    "history": {"attention_layer_size": 6, "alignment_history": True},
    "cell output": {"output_attention": False},
    "named": {"attention_layer_size": 2, "name": "mine"},
}


def _cells(tf):
    cell = tf.nn.rnn_cell
    return {
        "gru": lambda: cell.GRUCell(3),
        "lstm": lambda: cell.LSTMCell(3),
        "multi": lambda: cell.MultiRNNCell([cell.BasicLSTMCell(4), cell.GRUCell(3)]),
    }


def _steps(tf, cell, state, inputs):
    outputs = []
    for step in inputs:
        output, state = cell(step, state)
        outputs.append(output)
    return outputs, state


@cases(
    {
        "%s, %s, %s" % (kind, inner, name): (kind, inner, options)
        for kind in ("luong", "bahdanau")
        for inner in ("gru", "multi")
        for name, options in _WRAPPERS.items()
    }
)
def wrappers(tf, np, kind, inner, options):
    mechanism = _mechanism(tf, np, *_MECHANISMS[kind])
    cell = tf.contrib.seq2seq.AttentionWrapper(_cells(tf)[inner](), mechanism, **options)
    outputs, state = _steps(
        tf, cell, cell.zero_state(2, tf.float32), [tf.constant(_floats(np, 2, 5)) for _ in range(2)]
    )
    found = _answers(tf, np, [outputs, _tensors(tf, state)], None, tf.reduce_sum(tf.square(outputs[-1])))
    return found, cell.output_size, [t.shape for t in _tensors(tf, state)]


def several_mechanisms(tf, np):
    seq2seq = tf.contrib.seq2seq
    both = [_mechanism(tf, np, *_MECHANISMS["luong"]), _mechanism(tf, np, *_MECHANISMS["bahdanau monotonic"])]
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(3), both, attention_layer_size=[2, 5], alignment_history=True
    )
    outputs, state = _steps(
        tf, cell, cell.zero_state(2, tf.float32), [tf.constant(_floats(np, 2, 5)) for _ in range(3)]
    )
    return (
        _answers(tf, np, [outputs, _tensors(tf, state)], None, outputs[-1]),
        cell.output_size,
        _plain(cell.state_size),
    )


def wrapper_with_everything_given(tf, np):
    seq2seq = tf.contrib.seq2seq
    mechanism = _mechanism(tf, np, *_MECHANISMS["luong"])
    cell = seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(3),
        mechanism,
        attention_layer=tf.layers.Dense(4, activation=tf.tanh, name="look"),
        cell_input_fn=lambda inputs, attention: inputs + attention,
        initial_cell_state=tf.constant(_floats(np, 2, 3)),
    )
    outputs, state = _steps(tf, cell, cell.zero_state(2, tf.float32), [tf.constant(_floats(np, 2, 4))] * 2)
    return _answers(tf, np, [outputs, _tensors(tf, state)], None, outputs[-1]), cell.output_size


def wrappers_refused(tf, np):
    seq2seq = tf.contrib.seq2seq
    mechanism = _mechanism(tf, np, *_MECHANISMS["luong"])
    cell = tf.nn.rnn_cell.GRUCell(3)
    wrapper = seq2seq.AttentionWrapper(cell, mechanism)
    unknown = seq2seq.AttentionWrapper(cell, _mechanism(tf, np, *_MECHANISMS["luong"], known=False))
    return [
        raises(seq2seq.AttentionWrapper, 3, mechanism),
        raises(seq2seq.AttentionWrapper, cell, 3),
        raises(seq2seq.AttentionWrapper, cell, [mechanism, 3]),
        raises(seq2seq.AttentionWrapper, cell, mechanism, cell_input_fn=3),
        raises(seq2seq.AttentionWrapper, cell, mechanism, attention_layer_size=[3, 4]),
        raises(seq2seq.AttentionWrapper, cell, mechanism, 3, attention_layer=tf.layers.Dense(3)),
        raises(seq2seq.AttentionWrapper, cell, mechanism, attention_layer=[tf.layers.Dense(3)] * 2),
        raises(wrapper, tf.zeros([2, 3]), tf.zeros([2, 3])),
        raises(wrapper.zero_state, 3, tf.float32),
        raises(seq2seq.AttentionWrapper, cell, mechanism, initial_cell_state=tf.zeros([3, 3])),
        raises(lambda: run(tf, unknown.zero_state(3, tf.float32).cell_state)),
    ]


def cloned_states(tf, np):
    state = tf.contrib.seq2seq.AttentionWrapperState(
        cell_state=(tf.zeros([2, 3]), tf.zeros([2, 3])),
        attention=tf.zeros([2, 4]),
        time=tf.constant(0),
        alignments=tf.zeros([2, 5]),
        alignment_history=(),
        attention_state=tf.zeros([2, 5]),
    )
    x = tf.placeholder(tf.float32, [None, 4])
    other = state.clone(attention=x, time=tf.constant(3))
    with tf.Session() as session:
        value = session.run(other, {x: np.ones([2, 4])})
        wrong = raises(session.run, other, {x: np.ones([3, 4])})
    return [
        _plain(value),
        other.attention.shape,
        wrong,
        raises(state.clone, attention=tf.zeros([2, 5])),
        raises(state.clone, cell_state=tf.zeros([2, 3])),
        raises(state.clone, other=1),
    ]


# ---------------------------------------------------------------------------------------- decoders


def _inputs(tf, np, known=True):
    inputs = _floats(np, 3, 5, 4)
    return inputs if known else tf.placeholder_with_default(inputs, [None, None, 4])


def _embedding(tf, np):
    return tf.constant(_floats(np, 7, 4))


def _helpers(tf, np, known=True):
    seq2seq = tf.contrib.seq2seq
    lengths = tf.constant([5, 0, 2])
    inputs = _inputs(tf, np, known)
    embedding = _embedding(tf, np)
    return {
        "training": lambda: seq2seq.TrainingHelper(inputs, lengths),
        "training, time major": lambda: seq2seq.TrainingHelper(
            np.swapaxes(_floats(np, 3, 5, 4), 0, 1), lengths, time_major=True, name="mine"
        ),
        "greedy": lambda: seq2seq.GreedyEmbeddingHelper(embedding, [1, 2, 3], 6),
        "greedy with a function": lambda: seq2seq.GreedyEmbeddingHelper(
            lambda ids: tf.one_hot(ids, 4), [1, 2, 3], 6
        ),
        "sampled": lambda: seq2seq.SampleEmbeddingHelper(embedding, [1, 2, 3], 6, seed=3),
        "sampled, cool": lambda: seq2seq.SampleEmbeddingHelper(embedding, [1, 2, 3], 6, 0.3, seed=3),
        "scheduled": lambda: seq2seq.ScheduledEmbeddingTrainingHelper(
            inputs, lengths, embedding, 0.5, seed=5, scheduling_seed=8
        ),
        "scheduled by row": lambda: seq2seq.ScheduledEmbeddingTrainingHelper(
            inputs, lengths, embedding, 1.0, seed=5, scheduling_seed=8
        ),
        "scheduled never": lambda: seq2seq.ScheduledEmbeddingTrainingHelper(
            inputs, lengths, embedding, 0.0, seed=5
        ),
        "inference": lambda: seq2seq.InferenceHelper(
            sample_fn=tf.tanh,
            sample_shape=[4],
            sample_dtype=tf.float32,
            start_inputs=np.ones([3, 4], np.float32),
            end_fn=lambda sample: tf.reduce_sum(sample, 1) < -0.5,
        ),
        "inference, changed": lambda: seq2seq.InferenceHelper(
            sample_fn=lambda outputs: tf.argmax(outputs, 1, output_type=tf.int32),
            sample_shape=[],
            sample_dtype=tf.int32,
            start_inputs=np.ones([3, 4], np.float32),
            end_fn=lambda sample: sample > 5,
            next_inputs_fn=lambda sample: tf.gather(embedding, sample),
        ),
        "custom": lambda: seq2seq.CustomHelper(
            initialize_fn=lambda: (tf.fill([3], False), tf.ones([3, 4])),
            sample_fn=lambda time, outputs, state: tf.argmax(outputs, 1, output_type=tf.int32),
            next_inputs_fn=lambda time, outputs, state, sample_ids: (
                tf.equal(sample_ids, 6),
                tf.gather(embedding, sample_ids),
                state,
            ),
        ),
    }


_HELPERS = [
    "training",
    "training, time major",
    "greedy",
    "greedy with a function",
    "sampled",
    "sampled, cool",
    "scheduled",
    "scheduled by row",
    "scheduled never",
    "inference",
    "inference, changed",
    "custom",
]


def _decoded(tf, np, decoder, gradients=True, feeds=None, **options):
    """What a decoder gives. Iterations do not overlap, lest draws of one be made before those of another."""
    options["parallel_iterations"] = 1
    outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, **options)
    floats = [t for t in _tensors(tf, outputs) if t.dtype.is_floating]
    loss = tf.add_n([tf.reduce_sum(tf.square(t)) for t in floats]) if gradients else None
    return {
        "answers": _answers(tf, np, [_tensors(tf, outputs), _tensors(tf, state), lengths], feeds, loss),
        "shapes": [t.shape for t in _tensors(tf, outputs) + _tensors(tf, state) + [lengths]],
    }


@cases(
    {
        "%s, %s, %s" % (name, "impute" if impute else "as it is", "known" if known else "unknown"): (
            name,
            impute,
            known,
        )
        for name in _HELPERS
        for impute, known in ((True, True), (False, False))
    }
)
def decoders(tf, np, name, impute, known):
    helper = _helpers(tf, np, known)[name]()
    cell = tf.nn.rnn_cell.LSTMCell(4 if name == "inference" else 3)
    layer = None if name == "inference" else tf.layers.Dense(7)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), layer)
    return _decoded(tf, np, decoder, impute_finished=impute, maximum_iterations=6)


@cases(*product(["gru", "multi"], [True, False], [None, 0, 3]))
def training_decoders(tf, np, inner, time_major, limit):
    cell = _cells(tf)[inner]()
    helper = tf.contrib.seq2seq.TrainingHelper(_inputs(tf, np), [5, 1, 2])
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32))
    return _decoded(
        tf,
        np,
        decoder,
        limit != 0,
        output_time_major=time_major,
        maximum_iterations=limit,
        impute_finished=True,
    )


@cases(
    {"nothing fed back": None, "as they are": "identity", "changed": "function"}, {"auxiliary": "auxiliary"}
)
def scheduled_outputs(tf, np, kind):
    seq2seq = tf.contrib.seq2seq
    options = {}
    if kind == "function":
        options["next_inputs_fn"] = lambda outputs: tf.tanh(outputs) * 2.0
    if kind == "auxiliary":
        options["auxiliary_inputs"] = _floats(np, 3, 5, 2)
        options["next_inputs_fn"] = lambda outputs: outputs * 0.5
    helper = seq2seq.ScheduledOutputTrainingHelper(
        _inputs(tf, np), [5, 4, 2], 0.0 if kind is None else 0.6, seed=4, **options
    )
    cell = tf.nn.rnn_cell.GRUCell(4)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32))
    return _decoded(tf, np, decoder)


def auxiliary_inputs_beside_outputs(tf, np):
    seq2seq = tf.contrib.seq2seq
    helper = seq2seq.ScheduledOutputTrainingHelper(
        _inputs(tf, np), [5, 4, 2], 1.0, seed=4, auxiliary_inputs=_floats(np, 3, 5, 2)
    )
    cell = tf.nn.rnn_cell.GRUCell(4)
    return _decoded(tf, np, seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32)))


def graphs_of_decoders(tf, np):
    cell = tf.nn.rnn_cell.GRUCell(3)
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(_embedding(tf, np), [1, 2, 3], 6)
    decoder = tf.contrib.seq2seq.BasicDecoder(
        cell, helper, cell.zero_state(3, tf.float32), tf.layers.Dense(7)
    )
    tf.contrib.seq2seq.dynamic_decode(decoder, impute_finished=True, maximum_iterations=5)
    return graph(
        tf, ("frame_name", "is_constant", "parallel_iterations", "T", "dynamic_size", "element_shape")
    )


def two_decodings_and_a_scope(tf, np):
    embedding = _embedding(tf, np)
    cell, layer = tf.nn.rnn_cell.GRUCell(3), tf.layers.Dense(7)
    seq2seq = tf.contrib.seq2seq
    helpers = [
        seq2seq.TrainingHelper(_inputs(tf, np), [5, 1, 2]),
        seq2seq.GreedyEmbeddingHelper(embedding, [1, 2, 3], 6),
    ]
    for helper in helpers:
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), layer)
        seq2seq.dynamic_decode(decoder, maximum_iterations=4, scope="mine" if helper is helpers[0] else None)
    other = seq2seq.BasicDecoder(
        tf.nn.rnn_cell.GRUCell(3), helpers[0], cell.zero_state(3, tf.float32), tf.layers.Dense(2)
    )
    seq2seq.dynamic_decode(other)
    return [v.name for v in tf.global_variables()], graph(tf, ())


def shared_weights(tf, np):
    seq2seq = tf.contrib.seq2seq
    results = []
    for reuse in (False, True):
        with tf.variable_scope("model", reuse=reuse):
            mechanism = seq2seq.BahdanauAttention(3, _floats(np, 3, 5, 4), [5, 2, 1])
            cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), mechanism, 3)
            helper = (
                seq2seq.GreedyEmbeddingHelper(_embedding(tf, np), [1, 2, 3], 6)
                if reuse
                else seq2seq.TrainingHelper(_inputs(tf, np), [5, 1, 2])
            )
            decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), tf.layers.Dense(7))
            outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=4)
            results.append([_tensors(tf, outputs), lengths])
    return _answers(tf, np, results)


def helpers_described(tf, np):
    found = []
    for name, make in sorted(_helpers(tf, np).items()):
        helper = make()
        size = raises(lambda: helper.batch_size)
        finished, first = helper.initialize()
        found.append((name, size, helper.sample_ids_shape, helper.sample_ids_dtype, finished, first))
    return found


def helpers_refused(tf, np):
    seq2seq = tf.contrib.seq2seq
    embedding, inputs = _embedding(tf, np), _inputs(tf, np)
    cell = tf.nn.rnn_cell.GRUCell(3)
    helper = seq2seq.TrainingHelper(inputs, [5, 1, 2])
    state = cell.zero_state(3, tf.float32)
    greedy = seq2seq.GreedyEmbeddingHelper(embedding, [1, 2], 3)
    decoder = seq2seq.BasicDecoder(cell, helper, state)
    return [
        raises(seq2seq.TrainingHelper, inputs, 5),
        raises(seq2seq.GreedyEmbeddingHelper, embedding, 1, 3),
        raises(seq2seq.GreedyEmbeddingHelper, embedding, [1], [3]),
        raises(seq2seq.ScheduledEmbeddingTrainingHelper, inputs, [5, 1, 2], embedding, [[0.5]]),
        raises(seq2seq.ScheduledOutputTrainingHelper, inputs, [5, 1, 2], [[0.5]]),
        raises(greedy.sample, 0, (tf.zeros([2, 3]),), None),
        raises(seq2seq.BasicDecoder, 3, helper, state),
        raises(seq2seq.BasicDecoder, cell, 3, state),
        raises(seq2seq.BasicDecoder, cell, helper, state, tf.nn.relu),
        raises(seq2seq.dynamic_decode, 3),
        raises(seq2seq.dynamic_decode, decoder, maximum_iterations=[3]),
        raises(lambda: seq2seq.Helper().batch_size),
        raises(lambda: seq2seq.Helper().initialize()),
        raises(lambda: seq2seq.Decoder().batch_size),
        raises(lambda: seq2seq.Decoder().step(0, None, None)),
        raises(lambda: seq2seq.AttentionMechanism().state_size),
    ]


def a_decoder_of_ones_own(tf, np):
    class Counting(tf.contrib.seq2seq.Decoder):
        batch_size = 2
        output_size = {"count": tf.TensorShape([]), "twice": tf.TensorShape([2])}
        output_dtype = {"count": tf.int32, "twice": tf.float32}

        def initialize(self, name=None):
            return tf.constant([False, False]), tf.zeros([2, 2]), tf.constant([0, 2])

        def step(self, time, inputs, state, name=None):
            outputs = {"count": state + 1, "twice": inputs}
            return outputs, state + 1, inputs + 1.0, state + 1 >= 4

    outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(Counting(), impute_finished=True)
    return run(tf, [outputs, state, lengths]), outputs["count"].shape, outputs["twice"].shape


@cases({"%s, %s" % (k, w): (k, w) for k in _MECHANISMS for w in ("history", "layer")})
def attentive_decoders(tf, np, kind, options):
    memory = tf.constant(_floats(np, 3, 5, 4))
    name, extra = _MECHANISMS[kind]
    mechanism = getattr(tf.contrib.seq2seq, name)(3, memory, [5, 2, 4], **extra)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), mechanism, **_WRAPPERS[options])
    helper = tf.contrib.seq2seq.TrainingHelper(_inputs(tf, np), [5, 1, 2])
    decoder = tf.contrib.seq2seq.BasicDecoder(
        cell, helper, cell.zero_state(3, tf.float32), tf.layers.Dense(7)
    )
    return _decoded(tf, np, decoder, impute_finished=options == "layer")


# ---------------------------------------------------------------------------------------- beam search


def _beam_decoder(tf, np, cell, width=3, known=True, batch=2, **options):
    start = np.arange(1, batch + 1)
    if not known:
        start = tf.placeholder_with_default(start.astype(np.int32), [None])
    state = cell.zero_state(batch * width, tf.float32)
    options.setdefault("output_layer", tf.layers.Dense(7))
    return tf.contrib.seq2seq.BeamSearchDecoder(cell, _embedding(tf, np), start, 5, state, width, **options)


@cases(*product(["gru", "multi"], [1, 3], [True, False], [0.0, 0.7]))
def beams(tf, np, inner, width, known, penalty):
    decoder = _beam_decoder(tf, np, _cells(tf)[inner](), width, known, length_penalty_weight=penalty)
    return _decoded(tf, np, decoder, False, maximum_iterations=6)


def beams_until_the_end(tf, np):
    layer = tf.layers.Dense(7, bias_initializer=tf.constant_initializer(0.1))
    decoder = _beam_decoder(tf, np, tf.nn.rnn_cell.GRUCell(3), output_layer=layer, length_penalty_weight=1.0)
    return _decoded(tf, np, decoder, False, maximum_iterations=30, output_time_major=True)


@cases(*product([0.0, 0.4], [True, False], [True, False], ["luong", "bahdanau normed"]))
def attentive_beams(tf, np, coverage, reorder, known, kind):
    seq2seq = tf.contrib.seq2seq
    width = 3
    memory = _floats(np, 2, 5, 4)
    if not known:
        memory = tf.placeholder_with_default(memory, [None, None, 4])
    name, options = _MECHANISMS[kind]
    mechanism = getattr(seq2seq, name)(
        3, seq2seq.tile_batch(memory, width), seq2seq.tile_batch(tf.constant([5, 3]), width), **options
    )
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, 4, alignment_history=True)
    decoder = _beam_decoder(
        tf, np, cell, width, known, coverage_penalty_weight=coverage, reorder_tensor_arrays=reorder
    )
    return _decoded(tf, np, decoder, False, maximum_iterations=5)


def coverage_of_several(tf, np):
    seq2seq = tf.contrib.seq2seq
    memory = seq2seq.tile_batch(tf.constant(_floats(np, 2, 5, 4)), 2)
    both = [seq2seq.LuongAttention(3, memory), seq2seq.BahdanauAttention(3, memory)]
    wrapped = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), both, [4, 2])
    cell = tf.nn.rnn_cell.MultiRNNCell([wrapped, tf.nn.rnn_cell.GRUCell(3)])
    decoder = _beam_decoder(tf, np, cell, 2, coverage_penalty_weight=0.3, length_penalty_weight=0.2)
    return _decoded(tf, np, decoder, False, maximum_iterations=5)


def beams_refused(tf, np):
    seq2seq = tf.contrib.seq2seq
    embedding, cell = _embedding(tf, np), tf.nn.rnn_cell.GRUCell(3)
    state = cell.zero_state(4, tf.float32)
    make = seq2seq.BeamSearchDecoder
    return [
        raises(make, 3, embedding, [1, 2], 5, state, 2),
        raises(make, cell, embedding, 1, 5, state, 2),
        raises(make, cell, embedding, [1, 2], [5], state, 2),
        raises(make, cell, embedding, [1, 2], 5, state, 2, output_layer=tf.nn.relu),
        raises(make, cell, embedding, [1, 2], 5, state, 3),
        raises(
            seq2seq.dynamic_decode, make(cell, embedding, [1, 2], 5, state, 2, coverage_penalty_weight=0.5)
        ),
    ]


# ---------------------------------------------------------------------------------------- a model


def a_trained_model(tf, np):
    """An encoder, a decoder with attention, and some steps of training."""
    seq2seq = tf.contrib.seq2seq
    rng = np.random.RandomState(0)
    words = rng.randint(2, 7, [8, 4])
    lengths = np.array([4, 3, 2, 4, 1, 2, 3, 4], np.int32)
    embedding = tf.get_variable("embedding", [7, 5])
    outputs, state = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(6), tf.gather(embedding, words), lengths, dtype=tf.float32
    )
    mechanism = seq2seq.BahdanauAttention(6, outputs, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(6), mechanism, 6, initial_cell_state=state)
    helper = seq2seq.TrainingHelper(tf.gather(embedding, words), lengths)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(8, tf.float32), tf.layers.Dense(7))
    decoded, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
    weights = tf.sequence_mask(lengths, 4, dtype=tf.float32)
    loss = seq2seq.sequence_loss(decoded.rnn_output, tf.constant(words[:, ::-1].copy()), weights)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    fixed = _fixed(tf, np)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fixed)
        return [session.run([loss, step])[0] for _ in range(8)], [v.name for v in tf.trainable_variables()]
