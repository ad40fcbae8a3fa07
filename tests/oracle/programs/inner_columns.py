"""TensorFlow's inner modules of feature columns, model exports and tools, where its own tests import them."""

from kit import cases, names, raises


def _module(tf, name):
    import importlib

    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.python." + name)


def _columns(tf, second):
    return _module(tf, "feature_column.feature_column_v2" if second else "feature_column.feature_column")


def _features(tf):
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0, 2, 1], [2, 2])
    return {"price": tf.constant([[-1.0], [5.0]]), "id": ids}


def _values(tf, fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def protocols(tf, np):
    """Columns asked in both protocols, and what they say of themselves."""
    first, second = _columns(tf, False), _columns(tf, True)
    found = []
    price = tf.feature_column.numeric_column("price")
    buckets = tf.feature_column.bucketized_column(price, [0.0, 2.0])
    ids = tf.feature_column.categorical_column_with_identity("id", 3)
    counted = tf.feature_column.indicator_column(ids)
    for column in (price, buckets, counted):
        asked = column._get_dense_tensor(first._LazyBuilder(_features(tf)))
        again = column.get_dense_tensor(second.FeatureTransformationCache(_features(tf)), None)
        found += [asked, again]
        found_about = [
            column.name,
            column._variable_shape.as_list(),
            len(column.parents),
            column._is_v2_column,
        ]
        found.append(tf.constant(str(found_about)))
    sparse = buckets._get_sparse_tensors(first._LazyBuilder(_features(tf))).id_tensor
    again = buckets.get_sparse_tensors(second.FeatureTransformationCache(_features(tf)), None).id_tensor
    transformed = first._transform_features(_features(tf), [buckets])[buckets]
    return _values(tf, [found, sparse, again, transformed]) + [sorted(names(tf))]


def configs(tf, np):
    """Columns as plain values, and what cannot be read."""
    columns, serialization = _columns(tf, True), _module(tf, "feature_column.serialization")
    price = tf.feature_column.numeric_column("price", shape=(2,))
    ids = tf.feature_column.categorical_column_with_vocabulary_list("id", ["a", "b"], num_oov_buckets=1)
    made = [
        price,
        tf.feature_column.crossed_column(["a", ids], 10),
        tf.feature_column.weighted_categorical_column(ids, "w"),
        tf.feature_column.indicator_column(ids),
        tf.feature_column.embedding_column(ids, 2, initializer=tf.ones_initializer()),
    ]
    written = serialization.serialize_feature_columns(made)
    read = serialization.deserialize_feature_columns(written)
    return [
        [each["class_name"] for each in written],
        [written[index]["config"] for index in range(4)],
        [one.name == other.name for one, other in zip(made, read)],
        raises(serialization.deserialize_feature_column, {"class_name": "Nope", "config": {}}),
        raises(serialization.serialize_feature_column, 3),
        raises(columns.NumericColumn._from_config, {"key": "a"}),
    ]


@cases("first", "second", "function")
def linear_models(tf, np, kind):
    """Variables and names of nodes of the three linear models."""
    columns = [
        tf.feature_column.numeric_column("price"),
        tf.feature_column.categorical_column_with_identity("id", 3),
    ]
    if kind == "first":
        sums = _columns(tf, False)._LinearModel(columns, units=2, name="linear_model")(_features(tf))
    elif kind == "second":
        sums = _columns(tf, True).LinearModel(columns, units=2)(_features(tf))
    else:
        sums = tf.feature_column.linear_model(_features(tf), columns, units=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(tf.global_variables()):
            shape = variable.shape.as_list()
            size = int(np.prod(shape))
            variable.load((np.arange(size, dtype=np.float32) + index).reshape(shape), session)
        return [session.run(sums), [v.name for v in tf.global_variables()], sums.name]


def composites(tf, np):
    """Nests that expand sparse and ragged tensors."""
    sparse, ragged = tf.SparseTensor([[0]], [1], [3]), tf.ragged.constant([[[1, 2], [3]], [[4]]])
    leaves = tf.nest.flatten([sparse, {"r": ragged}], expand_composites=True)
    packed = tf.nest.pack_sequence_as([sparse, {"r": ragged}], leaves, expand_composites=True)
    doubled = tf.nest.map_structure(lambda leaf: leaf * 2, sparse, expand_composites=True)
    same = tf.nest.assert_same_structure
    return [
        [leaf.dtype.name for leaf in leaves],
        [type(packed[0]).__name__, type(packed[1]["r"]).__name__],
        _values(tf, doubled),
        raises(same, [sparse], [3], expand_composites=True),
        raises(same, [sparse], [tf.SparseTensor([[0]], [1.0], [3])], expand_composites=True),
        len(tf.nest.flatten([tf.SparseTensorSpec([3], tf.int32)], expand_composites=True)),
    ]


def model_exports(tf, np):
    """Outputs and signatures of each mode."""
    utils = _module(tf, "saved_model.model_utils.export_utils")
    outputs = _module(tf, "saved_model.model_utils.export_output")
    x, loss = tf.placeholder(tf.string, [None], name="x"), tf.constant(1.0, name="loss")
    given = {"serving_default": outputs.RegressionOutput(loss), "train": outputs.TrainOutput(loss=loss)}
    metrics = {"m": (loss, loss.op)}
    return [
        sorted((key, made.method_name) for key, made in utils.build_all_signature_defs(x, given).items()),
        sorted(utils.build_all_signature_defs({"r": x}, given, {"alt": x}, serving_only=False)),
        sorted(utils.export_outputs_for_mode("eval", loss=loss, metrics=metrics)["eval"].metrics),
        [utils.EXPORT_TAG_MAP["infer"], utils.SIGNATURE_KEY_MAP["test"]],
        raises(utils.build_all_signature_defs, x, 3),
        raises(utils.get_export_outputs, {"a": 3}, None),
    ]


def folded(tf, np):
    """A convolution with the normalization behind it in its weights."""
    tool = _module(tf, "tools.optimize_for_inference_lib")
    x = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2) / 32, name="x")
    weights = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3) / 24, name="w")
    made = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME", name="conv")
    statistics = [tf.constant([0.5, 1.0, 1.5 + index], name="s%d" % index) for index in range(4)]
    tf.nn.fused_batch_norm(made, *statistics, is_training=False, name="out")
    graph = tf.get_default_graph().as_graph_def()
    for node in graph.node:
        if node.op == "FusedBatchNormV3":
            node.op = "FusedBatchNorm"
            node.attr.pop("U", None)
    result = tool.fold_batch_norms(graph)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(result, name="")
        return [session.run("out:0"), [[node.name, node.op, list(node.input)] for node in result.node]]
