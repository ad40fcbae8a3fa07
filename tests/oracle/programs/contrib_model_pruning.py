"""tf.contrib.model_pruning: masked layers and cells, and masks that are updated by a schedule."""

from kit import cases, graph, names, product, raises


def _collected(tf):
    p = tf.contrib.model_pruning
    lists = [p.get_masks(), p.get_thresholds(), p.get_weights(), p.get_masked_weights()]
    return [[item.name for item in items] for items in lists]


def _load(tf, np, session):
    for i, v in enumerate(tf.trainable_variables()):
        count = int(np.prod(v.shape.as_list()))
        v.load(np.sin(np.arange(count) * 1.7 + i).reshape(v.shape.as_list()), session)


def _variables(tf):
    return [[v.name for v in found] for found in (tf.global_variables(), tf.model_variables())]


@cases(*product(["SAME", "VALID"], [None, "NHWC"], [1, 2]))
def convolutions(tf, np, padding, data_format, stride):
    x = tf.constant(np.cos(np.arange(2 * 6 * 6 * 3)).reshape(2, 6, 6, 3), tf.float32)
    p = tf.contrib.model_pruning
    y = p.masked_conv2d(x, 4, [3, 3], stride, padding, data_format, outputs_collections="out")
    z = p.masked_convolution(y, 2, 2, activation_fn=None, biases_initializer=None, scope="mine")
    made = [y, z, _collected(tf), _variables(tf), sorted(names(tf))]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        return made + [session.run([y, z]), [t.name for t in tf.get_collection("out")]]


@cases(2, 3)
def dense_layers(tf, np, rank):
    x = tf.constant(np.cos(np.arange(2 * 3 ** (rank - 1))).reshape([2] + [3] * (rank - 1)), tf.float32)
    p = tf.contrib.model_pruning
    y = p.masked_fully_connected(
        x, 4, weights_regularizer=tf.nn.l2_loss, variables_collections={"weights": ["w"], "biases": ["b"]}
    )
    norm = tf.contrib.layers.batch_norm
    z = p.masked_fully_connected(y, 2, tf.nn.tanh, norm, {"is_training": False}, scope="top")
    made = [y, z, _collected(tf), _variables(tf), [v.name for v in tf.get_collection("w")]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        return made + [session.run([y, z]), session.run(tf.losses.get_regularization_loss())]


def layers_refused(tf, np):
    p = tf.contrib.model_pruning
    return [
        raises(p.masked_convolution, tf.zeros([2, 3, 3]), 3, 3),
        raises(p.masked_convolution, tf.zeros([2, 3, 3, 1]), 3, 3, data_format="CHWN"),
        raises(p.masked_convolution, tf.zeros([2, 3, 3, 1]), 3, 3, data_format="NCW"),
        raises(p.masked_fully_connected, tf.zeros([2, 3]), "3"),
    ]


@cases("basic", "plain", "peepholes", "joined", "clipped")
def cells(tf, np, kind):
    p = tf.contrib.model_pruning
    cell = {
        "basic": lambda: p.MaskedBasicLSTMCell(4, name="c"),
        "plain": lambda: p.MaskedLSTMCell(4, forget_bias=0.5),
        "peepholes": lambda: p.MaskedLSTMCell(4, use_peepholes=True),
        "joined": lambda: p.MaskedBasicLSTMCell(4, state_is_tuple=False, activation=tf.nn.relu),
        "clipped": lambda: p.MaskedLSTMCell(4, cell_clip=0.1, initializer=tf.zeros_initializer()),
    }[kind]()
    x = tf.constant(np.cos(np.arange(24)).reshape(2, 4, 3), tf.float32)
    y, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    made = [y, _collected(tf), _variables(tf), [v.name for v in cell.trainable_variables]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        before = session.run([y, state])
        mask = p.get_masks()[0]
        mask.load((np.arange(int(np.prod(mask.shape.as_list()))) % 3 > 0).reshape(mask.shape), session)
        return made + [before, session.run([y, state])]


def hparams(tf, np):
    return sorted(tf.contrib.model_pruning.get_pruning_hparams().values().items())


@cases(
    {
        "default": "",
        "all at once": "initial_sparsity=0.6,target_sparsity=0.6",
        "smoothed": "threshold_decay=0.5,target_sparsity=0.9",
        "late": "begin_pruning_step=3,pruning_frequency=2",
        "ended": "end_pruning_step=4,pruning_frequency=1",
        "linear": "sparsity_function_exponent=1.0,pruning_frequency=1,sparsity_function_end_step=5",
        "blocks": "block_height=2,block_width=2,pruning_frequency=1",
        "highest": "block_height=2,block_width=3,block_pooling_function=MAX,pruning_frequency=1",
        "rows": "block_dims_map=[a/weights:1x-1],pruning_frequency=1",
        "some": "weight_sparsity_map=[a/weights:0.9],pruning_frequency=1",
    }
)
def schedules(tf, np, text):
    p = tf.contrib.model_pruning
    step = tf.train.get_or_create_global_step()
    y = p.masked_fully_connected(tf.ones([1, 5]), 7, scope="a")
    y = p.masked_fully_connected(y, 4, scope="b")
    w = tf.get_variable("w", initializer=tf.constant(np.sin(np.arange(12)).reshape(3, 4), tf.float32))
    y += tf.reduce_sum(p.apply_mask(w, "w_mask"))
    spec = p.get_pruning_hparams().parse("sparsity_function_end_step=8").parse(text)
    pruning = p.Pruning(spec, step)
    update, sparsity = pruning.conditional_mask_update_op(), p.get_weight_sparsity()
    masks, thresholds, made = p.get_masks(), p.get_thresholds(), []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        for i in range(7):
            session.run(step.assign(i))
            session.run(update)
            made.append(session.run([masks, thresholds, sparsity, pruning._sparsity, y]))
    return [made, _collected(tf), [v.name for v in tf.global_variables()]]


def updated_at_once(tf, np):
    p = tf.contrib.model_pruning
    tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=tf.constant(np.sin(np.arange(12)).reshape(3, 4), tf.float32))
    y = p.apply_mask(w)
    pruning = p.Pruning(sparsity=0.75)
    again = p.Pruning(sparsity=0.25)
    update = pruning.mask_update_op()
    pruning.add_pruning_summaries()
    found = [update.name, sorted(t.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES))]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        values = session.run([y, pruning._last_update_step, again._last_update_step])
        return [found, values, graph(tf)]


@cases(
    "begin_pruning_step=-1",
    "begin_pruning_step=5,end_pruning_step=4",
    "sparsity_function_begin_step=-1",
    "sparsity_function_begin_step=100",
    "threshold_decay=1.0",
    "initial_sparsity=-0.1",
    "target_sparsity=1.0",
    "weight_sparsity_map=[w:1.5]",
    "block_dims_map=[w:2]",
)
def refused(tf, np, text):
    p = tf.contrib.model_pruning
    tf.train.get_or_create_global_step()
    return raises(p.Pruning, p.get_pruning_hparams().parse(text))


def refused_later(tf, np):
    p = tf.contrib.model_pruning
    tf.train.get_or_create_global_step()
    p.apply_mask(tf.get_variable("w", [4, 4]))
    twice = p.get_pruning_hparams().parse("weight_sparsity_map=[w:0.5,w:0.6]")
    pooled = p.get_pruning_hparams().parse("block_height=2,block_pooling_function=SUM")
    return [raises(p.Pruning(spec).mask_update_op) for spec in (twice, pooled)]


def partitioned(tf, np):
    p = tf.contrib.model_pruning
    tf.train.get_or_create_global_step()
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [6, 4], initializer=tf.ones_initializer())
        y = p.apply_mask(w, "m")
    update = p.Pruning(sparsity=0.5).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, part in enumerate(w):
            part.load(np.sin(np.arange(12) + i).reshape(3, 4), session)
        session.run(update)
        return [y, session.run(y), [v.name for v in tf.global_variables()]]


def stripped(tf, np):
    p = tf.contrib.model_pruning
    tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.identity(p.masked_fully_connected(x, 4, activation_fn=None), name="y")
    update = p.Pruning(sparsity=0.5).mask_update_op()
    feed = np.arange(6.0).reshape(2, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        session.run(update)
        before = session.run(y, {x: feed})
        directory = tf.test.get_temp_dir() + "/pruned"
        tf.gfile.MakeDirs(directory)
        tf.train.Saver().save(session, directory + "/model")
    empty = raises(p.graph_def_from_checkpoint, directory + "/none", ["y"])
    with tf.Graph().as_default():
        frozen = p.graph_def_from_checkpoint(directory, ["y"])
    small = p.strip_pruning_vars_fn(frozen, ["y"])
    with tf.Graph().as_default():
        tf.import_graph_def(small, name="")
        with tf.Session() as session:
            after = session.run("y:0", {"x:0": feed})
        return [before, after, empty, sorted(n.name for n in frozen.node), graph(tf)]
