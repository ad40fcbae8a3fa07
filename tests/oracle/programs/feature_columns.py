"""Feature columns: their values, variables, names of nodes and scopes, and what they refuse."""

import os
import tempfile

from kit import cases, names, product, raises, upstream


def _file(contents=b"a\nb\nc\n"):
    handle, path = tempfile.mkstemp()
    with os.fdopen(handle, "wb") as file:
        file.write(contents)
    return path


_VALUES = {
    "number": [[1.0], [-2.5], [30.0]],
    "vector": [[1.0, 2.0], [3.0, 4.0], [-5.0, 60.0]],
    "flat": [4, 5, 6],
    "word": [["a"], ["zz"], ["c"]],
    "dense_words": [["a", "", "b"], ["", "", ""], ["c", "c", ""]],
    "id": [[1], [0], [4]],
    "dense_ids": [[1, -1], [-1, -1], [3, 3]],
}
_SPARSE_VALUES = {
    "words": ([[0, 0], [0, 1], [2, 0]], ["b", "a", "q"], [3, 2]),
    "ids": ([[0, 0], [1, 0], [1, 1]], [2, 1, 2], [3, 2]),
    "weight": ([[0, 0], [1, 0], [1, 1]], [0.5, 2.0, 1.5], [3, 2]),
    "integer_weight": ([[0, 0], [1, 0], [1, 1]], [2, 3, 4], [3, 2]),
}


def _open(tf, np, values, shape=None):
    """A tensor of which nothing can be computed while the graph is built."""
    array = np.array(values)
    array = array.astype(np.float32) if array.dtype.kind == "f" else array
    return tf.placeholder_with_default(array, (None,) + array.shape[1:] if shape is None else shape)


def _open_sparse(tf, np, indices, values, shape):
    return tf.SparseTensor(
        _open(tf, np, indices, [None, 2]), _open(tf, np, values, [None]), _open(tf, np, shape, [2])
    )


def _features(tf, np):
    made = {key: _open(tf, np, values) for key, values in sorted(_VALUES.items())}
    made.update({key: _open_sparse(tf, np, *parts) for key, parts in sorted(_SPARSE_VALUES.items())})
    return made


def _numbered(tf, np):
    """An initializer that gives every place a number of its own."""

    def initial(shape, dtype=None, partition_info=None):
        sizes = [int(size) for size in shape]
        return tf.constant(0.25 * np.arange(np.prod(sizes)).reshape(sizes) - 1, dtype)

    return initial


def _embedding(tf, np, column, **keywords):
    keywords.setdefault("initializer", _numbered(tf, np))
    return tf.feature_column.embedding_column(column, 2, **keywords)


def _categorical(tf, np):
    fc = tf.feature_column
    return {
        "hash": fc.categorical_column_with_hash_bucket("word", 5),
        "hash of several": fc.categorical_column_with_hash_bucket("words", 7),
        "hash of dense": fc.categorical_column_with_hash_bucket("dense_words", 7),
        "hash of integers": fc.categorical_column_with_hash_bucket("id", 5, tf.int64),
        "list": fc.categorical_column_with_vocabulary_list("words", ["a", "b", "c"]),
        "list with default": fc.categorical_column_with_vocabulary_list("word", ["a", "b"], default_value=1),
        "list with buckets": fc.categorical_column_with_vocabulary_list(
            "words", ["a", "b"], num_oov_buckets=3
        ),
        "list of integers": fc.categorical_column_with_vocabulary_list("dense_ids", [3, 1]),
        "file": fc.categorical_column_with_vocabulary_file("words", _file()),
        "file with size": fc.categorical_column_with_vocabulary_file("words", _file(), 2, num_oov_buckets=2),
        "file of integers": fc.categorical_column_with_vocabulary_file(
            "id", _file(b"4\n1\n"), 2, default_value=0, dtype=tf.int64
        ),
        "identity": fc.categorical_column_with_identity("id", 5),
        "identity of several": fc.categorical_column_with_identity("ids", 3),
        "identity of dense": fc.categorical_column_with_identity("dense_ids", 4),
        "identity with default": fc.categorical_column_with_identity("id", 3, default_value=2),
        "weighted": fc.weighted_categorical_column(fc.categorical_column_with_identity("ids", 3), "weight"),
        "weighted by integers": fc.weighted_categorical_column(
            fc.categorical_column_with_identity("ids", 3), "integer_weight", tf.int64
        ),
        "crossed": fc.crossed_column(["word", "words"], 10),
        "crossed with a key": fc.crossed_column(["word", "dense_words"], 10, hash_key=5),
        "crossed with columns": fc.crossed_column([fc.categorical_column_with_identity("id", 5), "word"], 10),
        "crossed with buckets": fc.crossed_column(
            [fc.bucketized_column(fc.numeric_column("number"), [0.0, 10.0]), "word"], 10
        ),
        "crossed twice": fc.crossed_column([fc.crossed_column(["word", "words"], 10), "dense_words"], 20),
        "bucketized": fc.bucketized_column(fc.numeric_column("vector", 2), [0.0, 3.0, 50.0]),
    }


_CATEGORICAL = (
    "hash;hash of several;hash of dense;hash of integers;list;list with default;list with buckets;"
    "list of integers;file;file with size;file of integers;identity;identity of several;identity of dense;"
    "identity with default;weighted;weighted by integers;crossed;crossed with a key;crossed with columns;"
    "crossed with buckets;crossed twice;bucketized"
).split(";")


def _dense(tf, np):
    fc, chosen = tf.feature_column, _categorical(tf, np)
    return {
        "number": fc.numeric_column("number"),
        "vector": fc.numeric_column("vector", shape=2),
        "flat": fc.numeric_column("flat", dtype=tf.int32),
        "normalized": fc.numeric_column("vector", shape=[2], normalizer_fn=lambda x: x / 2.0),
        "bucketized": chosen["bucketized"],
        "sum": _embedding(tf, np, chosen["hash of several"], combiner="sum"),
        "square root": _embedding(tf, np, chosen["weighted"], combiner="sqrtn"),
        "clipped": _embedding(tf, np, chosen["identity of several"], max_norm=0.5),
        "fixed": _embedding(tf, np, chosen["list"], trainable=False),
        "embedded buckets": _embedding(tf, np, chosen["bucketized"]),
    }


_DENSE = ("number;vector;flat;normalized;bucketized;sum;square root;clipped;fixed;embedded buckets").split(
    ";"
)


def _outcome(tf, np, output, feeds=None):
    """Everything about a layer: its graph, variables, value and gradients."""
    trainable = tf.trainable_variables()
    collections = {
        key: [v.name for v in tf.get_collection(key)]
        for key in ("variables", "trainable_variables", "model_variables", "mine")
    }
    nodes = sorted(names(tf))
    start = tf.constant(np.asarray(upstream(np, (64, 64)), np.float32))
    outputs = output if isinstance(output, (list, tuple)) else [output]
    loss = tf.add_n([tf.reduce_sum(o * start[: tf.shape(o)[0], : o.shape[1]]) for o in outputs])
    grads = [g for g in tf.gradients(loss, trainable) if g is not None] if trainable else []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return [outputs, collections, nodes, session.run([outputs, grads], feeds)]


@cases(*_DENSE)
def dense_columns(tf, np, kind):
    column = _dense(tf, np)[kind]
    variables, tensors = {}, {}
    output = tf.feature_column.input_layer(
        _features(tf, np), [column], cols_to_vars=variables, cols_to_output_tensors=tensors
    )
    return [
        column.name,
        list(variables.values()),
        list(tensors.values()),
        _outcome(tf, np, output),
    ]


@cases(*product(_CATEGORICAL, ["embedding", "indicator"]))
def categorical_columns(tf, np, kind, how):
    column = _categorical(tf, np)[kind]
    dense = _embedding(tf, np, column) if how == "embedding" else tf.feature_column.indicator_column(column)
    output = tf.feature_column.input_layer(_features(tf, np), dense)
    return [column.name, dense.name, _outcome(tf, np, output)]


@cases(*product(_CATEGORICAL, [1, 3], ["sum", "mean"]))
def linear_models_of_categories(tf, np, kind, units, combiner):
    column = _categorical(tf, np)[kind]
    output = tf.feature_column.linear_model(_features(tf, np), [column], units, combiner)
    return _outcome(tf, np, output)


@cases(*_DENSE)
def linear_models_of_numbers(tf, np, kind):
    return _outcome(tf, np, tf.feature_column.linear_model(_features(tf, np), _dense(tf, np)[kind]))


def _several(tf, np):
    chosen = _categorical(tf, np)
    return [
        tf.feature_column.numeric_column("vector", 2),
        chosen["hash"],
        chosen["weighted"],
        tf.feature_column.numeric_column("number"),
    ]


def whole_linear_model(tf, np):
    variables = {}
    with tf.variable_scope("outer"):
        first = tf.feature_column.linear_model(
            _features(tf, np), _several(tf, np), 2, weight_collections=["mine"], cols_to_vars=variables
        )
    second = tf.feature_column.linear_model(_features(tf, np), _several(tf, np), 2, trainable=False)
    by_name = sorted((getattr(c, "name", c), [v.name for v in vs]) for c, vs in variables.items())
    return [by_name, _outcome(tf, np, [first, second])]


def whole_input_layer(tf, np):
    chosen = _categorical(tf, np)
    columns = [
        tf.feature_column.numeric_column("vector", 2),
        _embedding(tf, np, chosen["hash"]),
        tf.feature_column.indicator_column(chosen["list"]),
        tf.feature_column.numeric_column("number"),
    ]
    with tf.variable_scope("outer"):
        first = tf.feature_column.input_layer(_features(tf, np), columns, ["mine"])
    second = tf.feature_column.input_layer(_features(tf, np), iter(columns), trainable=False)
    return _outcome(tf, np, [first, second])


def partitioned_tables(tf, np):
    chosen = _categorical(tf, np)
    with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
        layer = tf.feature_column.input_layer(
            _features(tf, np),
            [tf.feature_column.embedding_column(chosen["hash"], 2, initializer=tf.initializers.ones())],
        )
        model = tf.feature_column.linear_model(_features(tf, np), [chosen["crossed"]])
    return _outcome(tf, np, [layer, model])


def default_initializer(tf, np):
    column = tf.feature_column.embedding_column(_categorical(tf, np)["identity"], 4)
    tf.set_random_seed(3)
    return _outcome(tf, np, tf.feature_column.input_layer(_features(tf, np), [column]))


@cases("", "named")
def shared_tables(tf, np, name):
    fc = tf.feature_column
    columns = [fc.categorical_column_with_identity(key, 5) for key in ("ids", "id")]
    shared = fc.shared_embedding_columns(
        columns,
        2,
        initializer=_numbered(tf, np),
        shared_embedding_collection_name=name or None,
    )
    weighted = fc.weighted_categorical_column(columns[0], "weight")
    output = fc.input_layer(_features(tf, np), shared)
    again = fc.input_layer(_features(tf, np), shared[:1])
    return [
        [c.name for c in shared],
        raises(fc.shared_embedding_columns, [weighted, fc.categorical_column_with_identity("id", 4)], 2),
        _outcome(tf, np, [output, again]),
    ]


def parsed_features(tf, np):
    fc = tf.feature_column
    chosen = _categorical(tf, np)
    columns = [
        fc.numeric_column("one", default_value=1.5),
        fc.numeric_column("pair", 2),
        fc.indicator_column(chosen["list"]),
        chosen["weighted"],
        chosen["crossed with buckets"],
    ]
    spec = fc.make_parse_example_spec(columns)
    return [
        [(key, type(value).__name__, list(map(str, value))) for key, value in sorted(spec.items())],
        raises(fc.make_parse_example_spec, [fc.numeric_column("x"), fc.numeric_column("x", 2)]),
        raises(fc.make_parse_example_spec, ["x"]),
        raises(
            fc.make_parse_example_spec,
            [fc.weighted_categorical_column(fc.categorical_column_with_identity("x", 3), "x")],
        ),
    ]


def from_examples(tf, np):
    fc = tf.feature_column
    columns = [
        fc.numeric_column("x", 2, default_value=0.5),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("w", ["a", "b"])),
    ]

    def example(x, w):
        message = tf.train.Example()
        if x:
            message.features.feature["x"].float_list.value.extend(x)
        message.features.feature["w"].bytes_list.value.extend(w)
        return message.SerializeToString()

    serialized = [example([1.0, 2.0], [b"a", b"b", b"b"]), example([], [b"z"])]
    serialized = _open(tf, np, serialized)
    features = tf.parse_example(serialized, fc.make_parse_example_spec(columns))
    return _outcome(tf, np, fc.input_layer(features, columns))


def unknown_shapes(tf, np):
    fc = tf.feature_column
    x = tf.placeholder(tf.float32)
    rows = tf.placeholder(tf.float32, [None, 2])
    made = fc.input_layer({"x": rows}, [fc.numeric_column("x", 2)])
    unranked = fc.input_layer({"x": x}, [fc.numeric_column("x")])
    with tf.Session() as session:
        values = session.run([made, unranked], {rows: [[1, 2], [3, 4]], x: [5, 6]})
        again = session.run(unranked, {x: [[5], [6]]})
    return [made, unranked, values, again]


# ----------------------------------------------------------------------------------------------- sequences


def _steps(tf, np):
    places = [[0, 0], [0, 1], [2, 0], [2, 2]]
    pairs = [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1]]
    return {
        "ids": _open_sparse(tf, np, places, [2, 1, 2, 0], [3, 3]),
        "numbers": _open_sparse(tf, np, places, [1.0, 2.0, 3.0, 4.0], [3, 3]),
        "pairs": _open_sparse(tf, np, pairs, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 6]),
        "words": _open_sparse(tf, np, places, ["b", "a", "q", "b"], [3, 3]),
    }


def _sequence_columns(tf, np):
    fc = tf.contrib.feature_column
    return {
        "identity": _embedding(tf, np, fc.sequence_categorical_column_with_identity("ids", 3)),
        "hash": _embedding(tf, np, fc.sequence_categorical_column_with_hash_bucket("words", 4)),
        "list": tf.feature_column.indicator_column(
            fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"], num_oov_buckets=1)
        ),
        "file": tf.feature_column.indicator_column(
            fc.sequence_categorical_column_with_vocabulary_file("words", _file())
        ),
        "number": fc.sequence_numeric_column("numbers", default_value=-1.0),
        "pairs": fc.sequence_numeric_column("pairs", 2),
        "normalized": fc.sequence_numeric_column(
            "numbers", normalizer_fn=lambda x: tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape)
        ),
    }


@cases("identity", "hash", "list", "file", "number", "pairs", "normalized")
def sequence_columns(tf, np, kind):
    column = _sequence_columns(tf, np)[kind]
    tensor, lengths = tf.contrib.feature_column.sequence_input_layer(_steps(tf, np), [column])
    nodes = sorted(names(tf))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return [tensor, lengths, nodes, session.run([tensor, lengths])]


def several_sequence_columns(tf, np):
    columns = [_sequence_columns(tf, np)[kind] for kind in ("identity", "list", "number")]
    tensor, lengths = tf.contrib.feature_column.sequence_input_layer(_steps(tf, np), columns)
    nodes = sorted(names(tf))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return [tensor, lengths, nodes, session.run([tensor, lengths])]


def bad_sequences(tf, np):
    fc, sequences = tf.feature_column, tf.contrib.feature_column
    plain = fc.categorical_column_with_identity("ids", 3)
    steps = sequences.sequence_categorical_column_with_identity("ids", 3)
    return [
        raises(sequences.sequence_input_layer, _steps(tf, np), [fc.indicator_column(plain)]),
        raises(sequences.sequence_input_layer, _steps(tf, np), [fc.embedding_column(plain, 2)]),
        raises(sequences.sequence_input_layer, _steps(tf, np), [plain]),
        raises(fc.input_layer, _steps(tf, np), [fc.indicator_column(steps)]),
        raises(fc.input_layer, _steps(tf, np), [fc.embedding_column(steps, 2)]),
        raises(sequences.sequence_numeric_column, "x", 0),
        raises(sequences.sequence_numeric_column, "x", dtype=tf.string),
        raises(sequences.sequence_numeric_column, "x", normalizer_fn=3),
    ]


# --------------------------------------------------------------------------------------------------- errors


def bad_columns(tf, np):
    fc = tf.feature_column
    number, ids = fc.numeric_column("x"), fc.categorical_column_with_identity("id", 5)
    hashed = fc.categorical_column_with_hash_bucket("h", 5)
    return [
        raises(fc.numeric_column, "x", 0),
        raises(fc.numeric_column, "x", 1.5),
        raises(fc.numeric_column, "x", dtype=tf.string),
        raises(fc.numeric_column, "x", 2, default_value=[1.0]),
        raises(fc.numeric_column, "x", 2, default_value="x"),
        raises(fc.numeric_column, "x", dtype=tf.int32, default_value=1.5),
        raises(fc.numeric_column, "x", normalizer_fn=3),
        raises(fc.numeric_column, 3),
        raises(fc.bucketized_column, ids, [0]),
        raises(fc.bucketized_column, fc.numeric_column("x", [2, 2]), [0]),
        raises(fc.bucketized_column, number, []),
        raises(fc.bucketized_column, number, [1, 0]),
        raises(fc.bucketized_column, number, (x for x in [1])),
        raises(fc.categorical_column_with_hash_bucket, "x", None),
        raises(fc.categorical_column_with_hash_bucket, "x", 0),
        raises(fc.categorical_column_with_hash_bucket, 3, 2),
        raises(fc.categorical_column_with_hash_bucket, "x", 2, tf.float32),
        raises(fc.categorical_column_with_vocabulary_list, "x", []),
        raises(fc.categorical_column_with_vocabulary_list, "x", ["a", "a"]),
        raises(fc.categorical_column_with_vocabulary_list, "x", [0.5]),
        raises(fc.categorical_column_with_vocabulary_list, "x", ["a"], tf.int64),
        raises(fc.categorical_column_with_vocabulary_list, "x", ["a"], default_value=0, num_oov_buckets=1),
        raises(fc.categorical_column_with_vocabulary_list, "x", ["a"], num_oov_buckets=-1),
        raises(fc.categorical_column_with_vocabulary_file, "x", ""),
        raises(fc.categorical_column_with_vocabulary_file, "x", "/nowhere"),
        raises(fc.categorical_column_with_vocabulary_file, "x", "f", 0),
        raises(fc.categorical_column_with_vocabulary_file, "x", "f", 2, 1, 1),
        raises(fc.categorical_column_with_vocabulary_file, "x", "f", 2, -1),
        raises(fc.categorical_column_with_vocabulary_file, "x", "f", 2, dtype=tf.float32),
        raises(fc.categorical_column_with_identity, "x", 0),
        raises(fc.categorical_column_with_identity, "x", 2, 2),
        raises(fc.weighted_categorical_column, ids, "w", None),
        raises(fc.weighted_categorical_column, ids, "w", tf.string),
        raises(fc.crossed_column, ["a"], 5),
        raises(fc.crossed_column, ["a", "b"], 0),
        raises(fc.crossed_column, ["a", 3], 5),
        raises(fc.crossed_column, ["a", hashed], 5),
        raises(fc.embedding_column, ids, 0),
        raises(fc.embedding_column, ids, None),
        raises(fc.embedding_column, ids, 2, initializer=3),
        raises(fc.embedding_column, ids, 2, ckpt_to_load_from="x"),
        raises(fc.shared_embedding_columns, [ids, hashed], 2),
        raises(fc.shared_embedding_columns, [ids], 0),
    ]


def bad_layers(tf, np):
    fc = tf.feature_column
    features = _features(tf, np)
    number = fc.numeric_column("number")

    def layer(columns, given=None):
        return raises(fc.input_layer, given or features, columns)

    def indicated(column, given=None):
        return layer([fc.indicator_column(column)], given)

    identity = fc.categorical_column_with_identity
    return [
        layer([]),
        layer({"a": number}),
        layer(["number"]),
        layer([fc.categorical_column_with_identity("id", 5)]),
        layer([number, fc.numeric_column("number")]),
        layer([fc.numeric_column("nothing")]),
        layer([number], {"number": tf.constant(3.0)}),
        layer([number], {"number": tf.SparseTensor([[0, 0]], [1.0], [1, 1])}),
        layer([number, fc.numeric_column("y")], dict(features, y=tf.constant([[1.0]]))),
        indicated(identity("word", 5)),
        indicated(fc.categorical_column_with_hash_bucket("id", 5)),
        indicated(fc.categorical_column_with_hash_bucket("number", 5)),
        indicated(fc.categorical_column_with_vocabulary_list("id", ["a"])),
        indicated(fc.weighted_categorical_column(identity("ids", 3), "integer_weight")),
        indicated(
            fc.crossed_column([fc.weighted_categorical_column(identity("ids", 3), "weight"), "word"], 5)
        ),
        raises(fc.linear_model, features, [fc.sequence_numeric_column("number")]),
        raises(fc.linear_model, features, []),
    ]


@cases(5, -2)
def ids_out_of_range(tf, np, bad):
    fc = tf.feature_column
    column = fc.indicator_column(fc.categorical_column_with_identity("id", 5))
    output = fc.input_layer({"id": _open_sparse(tf, np, [[0, 0]], [bad], [1, 1])}, [column])
    with tf.Session() as session:
        return raises(session.run, output)


def equal_columns(tf, np):
    fc = tf.feature_column
    a, b = fc.numeric_column("x"), fc.numeric_column("x")
    ids = fc.categorical_column_with_identity("x", 3)
    return [
        a == b,
        hash(a) == hash(b),
        a != fc.numeric_column("y"),
        sorted([fc.numeric_column("y"), a])[0].key,
        a.key,
        list(a.shape),
        a.default_value,
        a.dtype,
        ids.num_buckets,
        fc.indicator_column(ids).categorical_column == ids,
        fc.indicator_column(ids).variable_shape,
        fc.embedding_column(ids, 3).dimension,
    ]
