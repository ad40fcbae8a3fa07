"""Inner modules of TensorFlow that libraries of its time import, and what they do with them."""

import importlib
import itertools
import tempfile

from kit import Close, cases, product, raises


def _module(tf, name):
    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow." + name)


def _normalized(tf, np, depthwise, by_hand):
    """A frozen convolution with batch normalization, as graphs from before TensorFlow 1.15 have it."""
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    size = 4
    shape = [3, 3, 2, size // 2 if depthwise else size]
    weights = tf.constant(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape), tf.float32, name="w")
    convolve = tf.nn.depthwise_conv2d_native if depthwise else tf.nn.conv2d
    y = convolve(x, weights, strides=[1, 1, 1, 1], padding="SAME", name="conv")
    mean, variance, beta, gamma = [
        tf.constant(np.linspace(low, low + 1, size), tf.float32, name=name)
        for low, name in ((-0.5, "mean"), (0.25, "variance"), (2.0, "beta"), (-1.0, "gamma"))
    ]
    y = tf.raw_ops.FusedBatchNorm(
        x=y, scale=gamma, offset=beta, mean=mean, variance=variance, is_training=False, name="bn"
    ).y
    tf.identity(y, name="y")
    made = tf.get_default_graph().as_graph_def()
    if by_hand:
        _as_older_op(next(node for node in made.node if node.name == "bn"), by_hand == "scaled")
    return made


def _as_older_op(node, scaled):
    """Writes a node as graphs had it before FusedBatchNorm; no graph of today has such a one."""
    convolution, gamma, beta, mean, variance = node.input
    del node.input[:]
    node.input.extend([convolution, mean, variance, beta, gamma])
    node.op = "BatchNormWithGlobalNormalization"
    for name in ("epsilon", "is_training", "data_format"):
        del node.attr[name]
    node.attr["variance_epsilon"].f = 0.001
    node.attr["scale_after_normalization"].b = scaled


def _ran(tf, np, nodes, outputs="y:0"):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(nodes, name="")
        return sess.run(outputs, {"x:0": np.linspace(0, 1, 32).reshape(1, 4, 4, 2)})


@cases(*product([False, True], ["", "scaled", "unscaled"]))
def normalization_is_folded(tf, np, depthwise, by_hand):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    given = _normalized(tf, np, depthwise, by_hand)
    made = lib.optimize_for_inference(given, ["x"], ["y"], tf.float32.as_datatype_enum)
    names = [(node.name, node.op, list(node.input)) for node in made.node]
    values = [lib.values_from_const(node) for node in made.node if node.op == "Const"]
    folded = [node.name for node in lib.fold_batch_norms(given).node]
    return names, folded, Close(values, 1e-6), Close(_ran(tf, np, made), 1e-5, 1e-5)


@cases(*product([False, True], [False, True], [False, True]))
def resizing_is_fused(tf, np, resize, pad, lite):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    x = y = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    if resize:
        y = tf.image.resize_bilinear(x, [8, 8], align_corners=True, name="r")
    if pad:
        y = tf.pad(y, [[0, 0], [1, 1], [2, 2], [0, 0]], mode="SYMMETRIC", name="p")
    kernel = tf.constant(np.linspace(-1, 1, 54).reshape(3, 3, 2, 3), tf.float32, name="w")
    y = tf.nn.conv2d(y, kernel, strides=[1, 2, 2, 1], padding="VALID", name="y")
    given = tf.get_default_graph().as_graph_def()
    made = lib.optimize_for_inference(given, ["x"], ["y"], [tf.float32.as_datatype_enum], lite)
    return sorted((node.name, node.op, list(node.input)) for node in made.node), Close(
        _ran(tf, np, made), 1e-5, 1e-5
    )


def graphs_are_checked(tf, np):
    lib = _module(tf, "python.tools.optimize_for_inference_lib")
    twice, without = tf.GraphDef(), tf.GraphDef()
    for _ in range(2):
        twice.node.add(name="a", op="NoOp")
    without.node.add(name="a", op="Identity", input=["b:0"])
    return (
        [
            raises(lambda: check(given))
            for check in (lib.ensure_graph_is_valid, lib.fold_batch_norms)
            for given in (twice,)
        ],
        raises(lambda: lib.ensure_graph_is_valid(without)),
        raises(lambda: lib.node_from_map({}, "^c:1")),
        raises(lambda: lib.values_from_const(without.node[0])),
        [lib.node_name_from_input(name) for name in ("a", "^a", "a:1", "b/c:10")],
    )


def variables_are_operations(tf, np):
    state_ops = _module(tf, "python.ops.state_ops")
    v = state_ops.variable_op([2, 3], tf.float32, name="old")
    free = state_ops.variable_op([2, 3], tf.float32, set_shape=False)
    new = state_ops.variable_op_v2([2], tf.int64, shared_name="shared")
    assigned = [
        state_ops.init_variable(v, tf.zeros_initializer()),
        state_ops.init_variable(new, np.array([1, 2])),
        tf.assign(free, [[7.0]], validate_shape=False),
    ]
    with tf.Session() as sess:
        values = sess.run(assigned)
        again = sess.run([v, new, free, state_ops.is_variable_initialized(new)])
    nodes = [(op.name, op.type, op.get_attr("shape")) for op in (v.op, free.op, new.op)]
    return values, again, [str(node) for node in nodes], [x.name for x in assigned], [v, free, new]


def a_head_by_its_older_name(tf, np):
    heads = _module(tf, "contrib.learn.python.learn.estimators.head")
    head = heads._multi_class_head(n_classes=3, head_name="h")
    labels = heads.multi_label_head(n_classes=3)
    labels._logits_dimension = 1
    sparse = tf.SparseTensorValue(indices=((0, 0),), values=(2,), dense_shape=(1, 1))
    train = tf.contrib.learn.ModeKeys.TRAIN
    options = dict(features={}, labels=sparse, mode=train, train_op_fn=heads.no_op_train_fn, logits=[[0.0]])
    return (
        type(head).__name__.strip("_"),
        head.logits_dimension,
        raises(lambda: labels.create_model_fn_ops(**options)),
        sorted(n for n in dir(_module(tf, "contrib.batching.python.ops.batch_ops")) if n == "batch_function"),
    )


# ------------------------------------------------------------------------- what TensorFlow Probability takes


def sizes_are_known_inside_loops_and_branches(tf, np):
    outer = tf.concat([[3], tf.shape(tf.zeros([2]))], axis=0)
    part = tf.concat([tf.reshape(tf.constant(3), [1]), tf.placeholder(tf.int32, [1])], axis=0)
    found = []

    def made():
        return [
            tf.random.uniform(outer),
            tf.random_normal(part),
            tf.zeros(outer),
            tf.fill(part, 1.0),
            tf.reshape(tf.range(6), outer),
            tf.broadcast_to(1.0, outer),
            tf.random_gamma(outer, 1.0),
            tf.tile([[1.0]], part),
        ]

    def shapes():
        found.append([str(x.shape) for x in made()])

    tf.while_loop(lambda i: i < 3, lambda i: (shapes(), i + 1)[1], [0])
    tf.cond(tf.placeholder(tf.bool, []), lambda: (shapes(), tf.constant(1))[1], lambda: tf.constant(2))
    kept = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: [i + 1, tf.random.uniform(outer)], [0, tf.zeros(outer)]
    )
    return found, kept


def arrays_prefer_their_own_type(tf, np):
    rows = np.array([1, 2, 3])
    arrays = [tf.TensorArray(tf.int32, 3), tf.TensorArray(tf.float32, 3), tf.TensorArray(tf.float32, 3)]
    made = [arrays[0].unstack(rows), arrays[1].unstack([1, 2, 3]), arrays[2].scatter([0, 1, 2], [1, 2, 3])]
    wrong = tf.TensorArray(tf.int32, 3)
    with tf.Session() as sess:
        return sess.run([array.stack() for array in made]), raises(lambda: wrong.unstack(tf.constant([1.5])))


def anything_with_a_type_is_checked(tf, np):
    normal = tf.distributions.Normal(0.0, 1.0)
    check = tf.debugging.assert_same_float_dtype
    return (
        check([normal, tf.constant(1.0)]).name,
        raises(lambda: check([normal, tf.constant(1.0, tf.float64)])),
        raises(lambda: check([tf.constant(1.0, tf.float64), normal])),
    )


def constants_are_evaluated(tf, np):
    wrap = _module(tf, "python.pywrap_tensorflow")
    graph = tf.get_default_graph()
    tensors = [
        tf.constant([1, 2]) + 1,
        tf.shape(tf.zeros([2, 3]))[1],
        tf.placeholder(tf.int32, [2]),
        tf.shape(tf.placeholder(tf.float32, [2, None])),
    ]
    return [wrap.TF_TryEvaluateConstant_wrapper(graph._c_graph, x._as_tf_output()) for x in tensors]


@cases({"lower": {}, "adjoint": {"adjoint": True}, "upper": {"lower": False}})
def triangles_are_solved_in_broadcast_batches(tf, np, options):
    util = _module(tf, "python.ops.linalg.linear_operator_util")
    matrix = np.tril(np.arange(1.0, 10.0).reshape(3, 3)) + np.triu(np.ones([3, 3]), 1)
    sides = np.linspace(-1, 1, 12).reshape(2, 3, 2)
    free = tf.placeholder_with_default(sides, None) if not options else tf.constant(sides)
    found = [util.matrix_triangular_solve_with_broadcast(tf.constant(matrix), free, **options)]
    if not options:
        found += [
            util.matrix_solve_with_broadcast(tf.constant(matrix), sides),
            util.cholesky_solve_with_broadcast(tf.constant(np.tril(matrix)), sides),
        ]
    else:
        found += util.broadcast_matrix_batch_dims([tf.constant(matrix), tf.constant(sides)])
    with tf.Session() as sess:
        return [Close(value, 1e-8, 1e-10) for value in sess.run(found)], [
            x.shape.as_list() for x in found[1:]
        ]


def normals_between_bounds(tf, np):
    random_ops = _module(tf, "python.ops.random_ops")
    found = [
        random_ops.parameterized_truncated_normal([2, 5], seed=3),
        random_ops.parameterized_truncated_normal(
            shape=[2, 50], means=[0.0, 9.0], stddevs=[1.0, 2.0], minvals=[-1.0, 8.0], maxvals=[1.0, 12.0]
        ),
    ]
    with tf.Session() as sess:
        first, values = sess.run(found)
    inside = (
        (values[0] > -1).all() and (values[0] < 1).all() and (values[1] > 8).all() and (values[1] < 12).all()
    )
    return bool(inside), bool((abs(first) < 2).all()), found


def properties_may_be_set_to_what_they_are(tf, np):
    class Fixed(tf.Module):
        found = tf.TensorShape([2])

        @property
        def shape(self):
            return self.found

    fixed = Fixed()
    fixed.shape = fixed.found
    return raises(lambda: setattr(fixed, "shape", tf.TensorShape([2]))), fixed.shape.as_list()


def configuration_of_an_example_parser(tf, np):
    configurations = _module(tf, "python.util.example_parser_configuration")
    features = {
        "fixed": tf.FixedLenFeature([1], tf.float32, 33.0),
        "matrix": tf.FixedLenFeature([2, 2], tf.int64, [[1, 2], [3, 4]]),
        "needed": tf.FixedLenFeature([3], tf.string),
        "words": tf.VarLenFeature(tf.string),
        "numbers": tf.VarLenFeature(tf.int64),
    }
    tf.parse_example(tf.placeholder(tf.string, [None]), features, name="parse")
    graph = tf.get_default_graph()
    (parser,) = (op for op in graph.get_operations() if op.type == "ParseExample")
    with tf.Session() as session:
        found = configurations.extract_example_parser_configuration(parser, session).feature_map
    return [
        [name, feature.WhichOneof("config"), feature.SerializeToString(deterministic=True)]
        for name, feature in sorted(found.items())
    ]


def datasets_of_arrays_in_variables(tf, np):
    arrays = _module(tf, "python.distribute.numpy_dataset")
    rows = {"a": np.arange(4.0), "b": (np.ones((4, 2), np.int32),)}
    variable = tf.get_variable("v", [5, 2], tf.int64, use_resource=True)
    with tf.Session() as session:
        arrays.init_var_from_numpy(variable, np.arange(10).reshape(5, 2), session)
        dataset = arrays.one_host_numpy_dataset(rows, arrays.SingleDevice("/cpu:0"), session)
        iterator = tf.data.make_initializable_iterator(dataset)
        session.run(iterator.initializer)
        following = iterator.get_next()
        names = [one.name for one in tf.global_variables()]
        return [session.run(variable), names, [session.run(following) for _ in range(4)]]


def creators_that_add_arguments(tf, np):
    def adding(next_creator, **arguments):
        return next_creator(colocate_with=None, of_the_program=3, **arguments)

    with tf.variable_creator_scope(adding):
        made = [tf.Variable([1.0, 2.0], use_resource=resource) for resource in (False, True)]
        found = [[one.name for one in made], raises(tf.Variable, 1.0, of_the_program=3)]
    with tf.variable_creator_scope(lambda create, **given: create(initial_value=given["initial_value"])):
        return [*found, tf.Variable([1.0], name="named").name]


def values_of_composite_tensors_joined(tf, np):
    utilities = _module(tf, "python.framework.composite_tensor_utils")
    append, ragged = utilities.append_composite_tensor, tf.ragged.constant_value

    def sparse(rows, sizes=(3,)):
        return tf.SparseTensorValue(np.array([[0, 1], [rows - 1, 0]]), np.array([1, 2]), (rows, *sizes))

    deep = ragged([[[1]], [[2, 3], []]])
    values = [sparse(2), ragged([[1]]), tf.SparseTensor(*sparse(2)), tf.constant(1), np.ones(1)]
    return [
        [np.array(part) for part in append(sparse(2), sparse(3))],
        raises(append, sparse(2), sparse(3, (4,))),
        raises(append, sparse(2), sparse(3, (3, 4))),
        raises(append, sparse(2), tf.SparseTensor(*sparse(2))),
        append(ragged([[1], [2, 3]]), ragged([[], [4]], dtype=np.int64)).to_list(),
        append(deep, ragged([[], [[4]]], dtype=np.int64, ragged_rank=2)).to_list(),
        raises(append, deep, ragged([[2, 3]], dtype=np.int64)),
        raises(append, np.ones(2), np.ones(2)),
        [utilities.is_composite_or_composite_value(value) for value in values],
        [list(utilities.get_shape(value)) for value in values],
    ]


def checkpoints_of_saveable_objects(tf, np):
    savers = _module(tf, "python.training.saving.functional_saver")
    saveables = _module(tf, "python.training.saving.saveable_object_util")
    path = tempfile.mkdtemp() + "/x"
    variables = []
    for number in range(3):
        with tf.device(f"cpu:{number}"):
            variables.append(tf.get_variable(f"v{number}", initializer=float(number), use_resource=True))
    parts = [list(saveables.saveable_objects_for_op(one, one.op.name)) for one in variables]
    alone, whole = savers._SingleDeviceSaver(parts[2]), savers.MultiDeviceSaver(itertools.chain(*parts))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        session.run([one.initializer for one in variables])
        session.run([alone.save(path + "alone"), whole.save(path + "whole")])
        session.run([one.assign(9.0) for one in variables])
        session.run(alone.restore(path + "alone"))
        found = [session.run(variables)]
        session.run(whole.restore(path + "whole"))
        found.append(session.run(variables))
        message = whole.to_proto()
        session.run([one.assign(5.0) for one in variables])
        saver = tf.train.Saver(variables, saver_def=message)
        saver.save(session, path + "more")
        session.run([one.assign(7.0) for one in variables])
        saver.restore(session, path + "more")
        found.append(session.run(variables))
    return [
        found,
        sorted(name.partition("/x")[2] for name in tf.gfile.Glob(path + "*")),
        [message.filename_tensor_name, message.version],
        [raises(kind, [3]) for kind in (savers._SingleDeviceSaver, savers.MultiDeviceSaver)],
    ]


def nodes_of_a_sharded_saver(tf, np):
    variables = []
    for number in range(2):
        with tf.device(f"cpu:{number}"):
            variables.append(tf.get_variable(f"v{number}", initializer=float(number)))
    tf.train.Saver(variables, sharded=True)
    tf.train.Saver(variables, sharded=True, write_version=1)
    return [
        [op.name, op.type, op.device, [one.name for one in op.control_inputs]]
        for op in tf.get_default_graph().get_operations()
        if op.name.startswith("save")
    ]
