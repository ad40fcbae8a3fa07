"""tf.contrib.layers: the old feature columns, what models take of them, and targets."""

from kit import Close, cases, raises


def _columns(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 7)
    keys = layers.sparse_column_with_keys("keys", ["a", "b", "c"])
    ids = layers.sparse_column_with_integerized_feature("ids", 5)
    age = layers.real_valued_column("age", dimension=2)
    buckets = layers.bucketized_column(age, [1.0, 1.0, 2.5])
    return {
        "words": words,
        "keys": keys,
        "ids": ids,
        "numbers": layers.sparse_column_with_hash_bucket("ids", 11, dtype=tf.int64),
        "strong": layers.sparse_column_with_hash_bucket("words", 7, hash_keys=[[1, 2], [3, 4]]),
        "weighted": layers.weighted_sparse_column(keys, "weight"),
        "age": age,
        "halves": layers.real_valued_column("age", dimension=2, normalizer=lambda x: x / 2.0),
        "buckets": buckets,
        "cross": layers.crossed_column([words, keys], 13),
        "deep_cross": layers.crossed_column(
            [layers.crossed_column([words, keys], 5), buckets], 17, hash_key=1234
        ),
        "one_hot": layers.one_hot_column(ids),
        "weighted_one_hot": layers.one_hot_column(layers.weighted_sparse_column(keys, "weight")),
        "embedded": layers.embedding_column(words, 3, initializer=_stairs(tf)),
        "embedded_weights": layers.embedding_column(
            layers.weighted_sparse_column(keys, "weight"), 2, combiner="sum", initializer=_stairs(tf)
        ),
        "embedded_norm": layers.embedding_column(ids, 2, "sqrtn", _stairs(tf), max_norm=0.5),
        "scattered": layers.scattered_embedding_column("words", 20, 3, 5, initializer=_stairs(tf)),
    }


def _stairs(tf):
    def initializer(shape, dtype=None, partition_info=None):
        count = 1
        for size in shape:
            count *= int(size)
        return tf.reshape(tf.range(float(count)) / 10.0, shape)

    return initializer


def _features(tf):
    return {
        "words": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["one", "two", "one"], [3, 2]),
        "keys": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "c", "z"], [3, 2]),
        "ids": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([3, 8, 3], tf.int64), [3, 2]),
        "weight": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 3.0], [3, 2]),
        "age": tf.constant([[0.5, 1.0], [2.0, 9.0], [2.5, -1.0]]),
    }


def _run(tf, fetches):
    with tf.Session() as session:
        session.run(
            [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
        )
        return session.run(fetches)


@cases(
    "words", "keys", "ids", "numbers", "strong", "weighted", "age", "halves", "buckets", "cross", "deep_cross"
)
def transformed(tf, np, name):
    column = _columns(tf)[name]
    made = tf.contrib.layers.transform_features(_features(tf), [column])
    key = column.key if name != "halves" else ""
    return [column.name, key, _run(tf, made[column]), len(made), repr(column.config)]


@cases(
    "age",
    "buckets",
    "one_hot",
    "weighted_one_hot",
    "embedded",
    "embedded_weights",
    "embedded_norm",
    "scattered",
)
def input_layers(tf, np, name):
    column = _columns(tf)[name]
    made = tf.contrib.layers.input_from_feature_columns(_features(tf), [column])
    return [made.name, Close(_run(tf, made), 1e-5), [(v.name, v.shape) for v in tf.global_variables()]]


def all_side_by_side(tf, np):
    names = ["age", "buckets", "one_hot", "weighted_one_hot", "embedded", "embedded_weights", "scattered"]
    columns = _columns(tf)
    outputs = {}
    made = tf.contrib.layers.input_from_feature_columns(
        _features(tf),
        [columns[n] for n in names],
        weight_collections=["mine"],
        scope="net",
        cols_to_outs=outputs,
    )
    return [
        made.shape,
        Close(_run(tf, made), 1e-5),
        [v.name for v in tf.get_collection("mine")],
        sorted(c.name for c in outputs),
        [v.name for v in tf.contrib.framework.get_model_variables()],
    ]


@cases("words", "keys", "ids", "strong", "weighted", "age", "buckets", "cross", "deep_cross")
def weighted_sums(tf, np, name):
    column = _columns(tf)[name]
    made, variables, bias = tf.contrib.layers.weighted_sum_from_feature_columns(_features(tf), [column], 2)
    weights = variables[column][0]
    slopes = tf.gradients(tf.reduce_sum(made * [1.0, 2.0]), [weights, bias])
    slopes = [tf.convert_to_tensor(s) for s in slopes]
    filled = tf.assign(weights, _stairs(tf)([int(n) for n in weights.shape]))
    with tf.control_dependencies([filled]):
        again = tf.identity(weights)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(again)
        return [weights.name, bias.name, weights.shape, Close(session.run([made, slopes]), 1e-5)]


def joint_sums(tf, np):
    columns = _columns(tf)
    chosen = [columns[n] for n in ("words", "keys", "ids", "cross")]
    made, variables, bias = tf.contrib.layers.joint_weighted_sum_from_feature_columns(
        _features(tf), chosen, num_outputs=2
    )
    slope = tf.convert_to_tensor(tf.gradients(made, variables[0])[0])
    return [variables[0].name, variables[0].shape, bias.name, _run(tf, [made, slope])]


def shared(tf, np):
    layers = tf.contrib.layers
    first = layers.sparse_column_with_keys("keys", ["one", "two", "a"])
    second = layers.sparse_column_with_keys("words", ["one", "two", "a"])
    pair = layers.shared_embedding_columns([second, first], 2, initializer=_stairs(tf))
    made = layers.input_from_feature_columns(_features(tf), pair)
    again = layers.input_from_feature_columns(_features(tf), pair, scope="again")
    named = layers.shared_embedding_columns(
        [first, layers.weighted_sparse_column(second, "weight")], 4, shared_embedding_name="both"
    )
    return [
        [c.name for c in pair],
        pair[0].shared_embedding_name,
        [c.key for c in named],
        [v.name for v in tf.global_variables()],
        Close(_run(tf, [made, again]), 1e-5),
    ]


def sequences(tf, np):
    layers = tf.contrib.layers
    tokens = layers.sparse_column_with_keys("tokens", ["a", "b", "c"])
    columns = [
        layers.real_valued_column("level"),
        layers.one_hot_column(tokens),
        layers.embedding_column(tokens, 2, initializer=_stairs(tf)),
    ]
    features = {
        "level": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "tokens": tf.SparseTensor([[0, 0], [0, 1], [1, 1]], ["a", "b", "c"], [2, 2]),
    }
    made = layers.sequence_input_from_feature_columns(features, columns)
    buckets = layers.bucketized_column(columns[0], [1.0])
    return [
        made.shape,
        Close(_run(tf, made), 1e-5),
        raises(layers.sequence_input_from_feature_columns, features, [buckets]),
        raises(
            layers.sequence_input_from_feature_columns,
            features,
            [layers.embedding_column(layers.crossed_column([tokens, buckets], 9), 2)],
        ),
    ]


def _example(tf, **features):
    made = tf.train.Example()
    for name, values in features.items():
        feature = made.features.feature[name]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            feature.float_list.value.extend(values)
    return made.SerializeToString()


def parsed(tf, np):
    columns = _columns(tf)
    chosen = [columns[n] for n in ("words", "age", "buckets", "weighted", "cross")]
    layers = tf.contrib.layers
    examples = [
        _example(tf, words=[b"one", b"two"], age=[1.5, 2.0], keys=[b"a"], weight=[2.0]),
        _example(tf, age=[0.0, 3.0], keys=[b"c"], weight=[1.0]),
    ]
    made = layers.parse_feature_columns_from_examples(tf.constant(examples), chosen)
    spec = layers.create_feature_spec_for_parsing(chosen)
    placeholders = layers.make_place_holder_tensors_for_base_features(chosen)
    return [
        sorted(k if isinstance(k, str) else k.name for k in made),
        _run(tf, [made[c] for c in chosen]),
        [repr(spec[k]) for k in sorted(spec)],
        [str(placeholders[k].dtype) for k in sorted(placeholders)],
        [placeholders[k].shape.ndims for k in sorted(placeholders)],
    ]


def parsed_sequences(tf, np):
    layers = tf.contrib.layers
    made = tf.train.SequenceExample()
    made.context.feature["length"].int64_list.value.append(2)
    for word in (b"a", b"b"):
        made.feature_lists.feature_list["tokens"].feature.add().bytes_list.value.append(word)
        made.feature_lists.feature_list["level"].feature.add().float_list.value.append(0.5)
    columns = [
        layers.one_hot_column(layers.sparse_column_with_keys("tokens", ["a", "b", "c"])),
        layers.real_valued_column("level", default_value=2.0),
    ]
    context = [layers.real_valued_column("length", dtype=tf.int64)]
    parse = layers.parse_feature_columns_from_sequence_examples
    first, steps = parse(tf.constant(made.SerializeToString()), context, columns)
    return [_run(tf, [first, steps]), raises(parse, tf.constant([b"a", b"b"]), context, columns)]


def inferred(tf, np):
    layers = tf.contrib.layers
    columns = layers.infer_real_valued_columns({"a": tf.zeros([3, 2, 2]), "b": tf.zeros([3], tf.int32)})
    return [
        [(c.name, c.dimension, c.dtype) for c in columns],
        [(c.name, c.dimension) for c in layers.infer_real_valued_columns(tf.zeros([2, 3]))],
        raises(layers.infer_real_valued_columns, tf.constant(["a"])),
        raises(layers.infer_real_valued_columns, tf.SparseTensor([[0, 0]], [1.0], [1, 1])),
    ]


def vocabulary_files(tf, np):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(path, "w") as lines:
        lines.write("two\none\n")
    column = tf.contrib.layers.sparse_column_with_vocabulary_file(
        "words", path, num_oov_buckets=2, vocab_size=2
    )
    return [column.length, _run(tf, tf.contrib.layers.transform_features(_features(tf), [column])[column])]


def in_core_models(tf, np):
    columns = _columns(tf)
    features = _features(tf)
    dense = [columns[n] for n in ("age", "buckets", "one_hot", "embedded")]
    made = tf.feature_column.input_layer(features, dense)
    sums = tf.feature_column.linear_model(
        features, [columns[n] for n in ("words", "weighted", "age", "cross")]
    )
    spec = tf.feature_column.make_parse_example_spec([columns["cross"], columns["age"]])
    return [made.shape, Close(_run(tf, [made, sums]), 1e-5), sorted(spec)]


def refusals(tf, np):
    layers = tf.contrib.layers
    columns = _columns(tf)
    features = _features(tf)
    keys = columns["keys"]
    return [
        raises(layers.sparse_column_with_hash_bucket, "a", 0),
        raises(layers.sparse_column_with_hash_bucket, "a", 5, dtype=tf.float32),
        raises(layers.sparse_column_with_hash_bucket, "a", 5, hash_keys=[[1]]),
        raises(layers.sparse_column_with_integerized_feature, "a", 5, dtype=tf.string),
        raises(layers.sparse_column_with_integerized_feature, "a", None),
        raises(layers.sparse_column_with_vocabulary_file, "a", "file"),
        raises(layers.weighted_sparse_column, keys, "w", dtype=tf.string),
        raises(layers.real_valued_column, "a", dimension=None),
        raises(layers.real_valued_column, "a", dimension=0),
        raises(layers.real_valued_column, "a", dimension=2, default_value=[1.0]),
        raises(layers.real_valued_column, "a", default_value=1.5, dtype=tf.int32),
        raises(layers.real_valued_column, "a", dtype=tf.string),
        raises(layers.bucketized_column, keys, [1.0]),
        raises(layers.bucketized_column, columns["age"], []),
        raises(layers.bucketized_column, columns["age"], [2.0, 1.0]),
        raises(layers.crossed_column, [keys], 5),
        raises(layers.crossed_column, [keys, columns["age"]], 5),
        raises(layers.crossed_column, [keys, columns["words"]], 1),
        raises(layers.embedding_column, keys, 2, initializer=3),
        raises(layers.embedding_column, keys, 2, ckpt_to_load_from="a"),
        raises(layers.shared_embedding_columns, "ab", 2),
        raises(layers.shared_embedding_columns, [], 2),
        raises(layers.shared_embedding_columns, [keys, columns["words"]], 2),
        raises(layers.scattered_embedding_column, "a", 0, 2, None),
        raises(layers.scattered_embedding_column, "a", 2, 2, None, combiner="max"),
        raises(layers.input_from_feature_columns, features, [keys]),
        raises(layers.input_from_feature_columns, features, [columns["weighted"]]),
        raises(layers.input_from_feature_columns, features, [columns["cross"]]),
        raises(layers.input_from_feature_columns, features, [columns["age"], columns["halves"]]),
        raises(layers.weighted_sum_from_feature_columns, features, [columns["embedded"]], 1),
        raises(layers.weighted_sum_from_feature_columns, features, [columns["one_hot"]], 1),
        raises(layers.weighted_sum_from_feature_columns, {}, [keys], 1),
        raises(layers.weighted_sum_from_feature_columns, {}, [columns["cross"]], 1),
        raises(layers.joint_weighted_sum_from_feature_columns, features, [columns["age"]], 1),
        raises(layers.joint_weighted_sum_from_feature_columns, features, [columns["weighted"]], 1),
        raises(layers.check_feature_columns, {"a": keys}),
        raises(layers.create_feature_spec_for_parsing, [3]),
        raises(layers.multi_class_target, 1),
    ]


@cases({"numbers": 1, "vectors": 2})
def regression(tf, np, size):
    target = tf.contrib.layers.regression_target(weight_column_name="w", label_dimension=size)
    logits = tf.constant(np.arange(3 * size).reshape(3, size).astype("float32"))
    labels = tf.constant(np.ones((3, size), "float32"))
    features = {"w": tf.constant([1.0, 0.5, 2.0])} if size == 1 else {"w": tf.ones([6])}
    evaluated = target.get_eval_ops(features, logits, labels)
    predictions = target.logits_to_predictions(logits)
    losses = [target.loss(logits, labels, features), target.training_loss(logits, labels, features)]
    return [target.num_label_columns, _run(tf, [predictions, losses, evaluated["loss"][1]])]


@cases(2, 3)
def classification(tf, np, classes):
    target = tf.contrib.layers.multi_class_target(classes)
    width = 1 if classes == 2 else classes
    logits = tf.constant(np.linspace(-1, 2, 4 * width).reshape(4, width).astype("float32"))
    labels = tf.constant([[0], [1], [1], [0]], tf.int64)
    found = target.get_eval_ops({}, logits, labels)
    return [
        target.num_label_columns,
        sorted(found),
        Close(
            _run(
                tf,
                [
                    target.loss(logits, labels, {}),
                    target.logits_to_predictions(logits),
                    target.logits_to_predictions(logits, proba=True),
                    [found[k][1] for k in sorted(found)],
                ],
            ),
            1e-5,
        ),
        raises(target.get_eval_ops, {}, logits, labels, {("a", "b"): None}),
    ]


def checkpointed(tf, np):
    import os
    import tempfile

    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default():
        tf.get_variable("table", initializer=tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, path)
    column = tf.contrib.layers.embedding_column(
        _columns(tf)["keys"], 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table"
    )
    made = tf.contrib.layers.input_from_feature_columns(_features(tf), [column])
    return _run(tf, made)
