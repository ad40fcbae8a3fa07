"""tf.keras: layers of feature columns, ready models, wrappers, utilities."""

from kit import Close, cases, raises


def _plain(config):
    if isinstance(config, dict):
        return {str(key): _plain(value) for key, value in config.items()}
    if isinstance(config, (list, tuple)):
        return [_plain(value) for value in config]
    return config


def _weights(np, layer):
    made = []
    for number, value in enumerate(layer.get_weights()):
        wave = np.sin(np.arange(value.size) + number) * 0.5
        made.append(wave.reshape(value.shape).astype(value.dtype))
    layer.set_weights(made)


_COLUMNS = {
    "numeric": lambda c: [c.numeric_column("age", shape=(2,)), c.numeric_column("price", default_value=1.0)],
    "bucketized": lambda c: [c.bucketized_column(c.numeric_column("price"), [1.0, 2.0])],
    "indicator": lambda c: [
        c.indicator_column(c.categorical_column_with_vocabulary_list("word", ["a", "b", "c"]))
    ],
    "embedding": lambda c: [
        c.embedding_column(c.categorical_column_with_identity("id", 5), 3, combiner="sum"),
        c.numeric_column("price"),
    ],
    "two embeddings": lambda c: [
        c.embedding_column(c.categorical_column_with_hash_bucket("word", 6), 2, trainable=False),
        c.embedding_column(c.categorical_column_with_identity("id", 5), 3),
    ],
    "crossed": lambda c: [c.indicator_column(c.crossed_column(["word", "id"], 7))],
    "weighted": lambda c: [
        c.indicator_column(
            c.weighted_categorical_column(c.categorical_column_with_identity("id", 5), "price")
        )
    ],
}


@cases({name: name for name in _COLUMNS})
def dense_features(tf, np, name):
    layer = tf.keras.layers.DenseFeatures(_COLUMNS[name](tf.feature_column))
    features = {
        "age": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
        "price": tf.constant([[0.5], [1.5]]),
        "word": tf.constant([["a"], ["c"]]),
        "id": tf.constant([[1], [4]], tf.int64),
    }
    made = layer(features)
    config = layer.get_config()
    again = tf.keras.layers.DenseFeatures.from_config(config)
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        _weights(np, layer)
        value = session.run(made)
    return {
        "value": Close(value, 1e-5),
        "elements": made.shape.as_list()[1:],
        "weights": [(w.name, w.shape.as_list()) for w in layer.weights],
        "trainable": [w.name for w in layer.trainable_weights],
        "config": _plain(config),
        "same": _plain(again.get_config()) == _plain(config),
    }


def sequence_features(tf, np):
    c = tf.feature_column
    word = c.sequence_categorical_column_with_identity("id", 5)
    layer = tf.keras.experimental.SequenceFeatures(
        [c.embedding_column(word, 2), c.sequence_numeric_column("price")]
    )
    sparse = {
        "id": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], np.array([1, 2, 3], np.int64), [2, 2]),
        "price": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),
    }
    made, lengths = layer(sparse)
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        session.run(tf.global_variables_initializer())
        _weights(np, layer)
        values = session.run([made, lengths])
    return Close(values, 1e-5), [w.name for w in layer.weights], _plain(layer.get_config())


def a_model_of_features_is_trained(tf, np):
    c = tf.feature_column
    columns = [
        c.numeric_column("price"),
        c.indicator_column(c.categorical_column_with_identity("id", 3)),
    ]
    inputs = {
        "price": tf.keras.Input((1,), name="price"),
        "id": tf.keras.Input((1,), name="id", dtype="int64"),
    }
    x = tf.keras.layers.DenseFeatures(columns)(inputs)
    y = tf.keras.layers.Dense(1, kernel_initializer="ones")(x)
    model = tf.keras.Model(inputs, y)
    model.compile("sgd", "mse")
    data = {"price": np.array([[1.0], [2.0]], np.float32), "id": np.array([[0], [2]])}
    losses = model.fit(data, np.array([[3.0], [1.0]]), epochs=3, verbose=0, shuffle=False).history["loss"]
    return Close([losses, model.predict(data)], 1e-4), [layer.name for layer in model.layers]


_BAD = {
    "categorical": lambda tf: tf.keras.layers.DenseFeatures(
        [tf.feature_column.categorical_column_with_identity("id", 3)]
    ),
    "not a dictionary": lambda tf: tf.keras.layers.DenseFeatures([tf.feature_column.numeric_column("a")])(
        tf.ones([2, 1])
    ),
    "twice": lambda tf: tf.keras.layers.DenseFeatures([tf.feature_column.numeric_column("a")] * 2),
    "missing": lambda tf: tf.keras.layers.DenseFeatures([tf.feature_column.numeric_column("a")])(
        {"b": tf.ones([2, 1])}
    ),
    "gpus": lambda tf: tf.keras.utils.multi_gpu_model(None, 1),
    "list of gpus": lambda tf: tf.keras.utils.multi_gpu_model(None, [0]),
    "no gpus": lambda tf: tf.keras.utils.multi_gpu_model(None, 4),
    "parameter": lambda tf: tf.keras.wrappers.scikit_learn.KerasClassifier(
        lambda units=2: None, colour="red"
    ),
    "classes": lambda tf: tf.keras.wrappers.scikit_learn.KerasClassifier(lambda: None).fit(None, [[[1.0]]]),
}


@cases({name: name for name in _BAD})
def bad_calls(tf, np, name):
    return raises(_BAD[name], tf)


def a_linear_model(tf, np):
    found = []
    for inputs in (np.arange(6.0).reshape(2, 3), [np.arange(6.0).reshape(2, 3), np.ones((2, 2))]):
        model = tf.keras.experimental.LinearModel(
            units=2, kernel_initializer="ones", activation="tanh", bias_initializer="ones"
        )
        model.compile("sgd", "mse")
        losses = model.fit(inputs, np.ones((2, 2)), epochs=2, verbose=0, shuffle=False).history["loss"]
        found.append([losses, model.predict(inputs)])
        found.append(model.count_params())
    config = model.get_config()
    again = type(model).from_config(config)
    return (
        Close(found, 1e-4, 1e-5),
        _plain(again.get_config()),
        [w.name.split("/")[-1] for w in model.weights],
    )


def a_wide_and_deep_model(tf, np):
    l = tf.keras.layers
    found = []
    for optimizer in ("sgd", ["sgd", "adam"]):
        wide = tf.keras.experimental.LinearModel(kernel_initializer="ones")
        deep = tf.keras.Sequential(
            [l.Dense(2, kernel_initializer="ones"), l.Dense(1, kernel_initializer="ones")]
        )
        model = tf.keras.experimental.WideDeepModel(wide, deep, activation="sigmoid")
        model.compile(optimizer, "mse", metrics=["mae"])
        inputs = [np.arange(6.0).reshape(2, 3) - 3, np.ones((2, 2))]
        history = model.fit(inputs, np.ones((2, 1)), epochs=3, verbose=0, shuffle=False).history
        found.append([history["loss"], model.predict(inputs)])
    return Close(found, 1e-4, 1e-5)


def wrappers(tf, np):
    def build(units=3, loss="categorical_crossentropy", last="softmax", outputs=2):
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(units, activation="tanh", kernel_initializer="ones", input_shape=(2,)),
                tf.keras.layers.Dense(outputs, activation=last, kernel_initializer="glorot_uniform"),
            ]
        )
        _weights(np, model)
        model.compile("sgd", loss, metrics=["acc"] if last == "softmax" else [])
        return model

    x = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
    kit = tf.keras.wrappers.scikit_learn
    classifier = kit.KerasClassifier(build, units=4, epochs=2, verbose=0, shuffle=False)
    history = classifier.fit(x, [5, 9, 9, 5])
    regressor = kit.KerasRegressor(
        build, loss="mse", last="linear", outputs=1, epochs=2, verbose=0, shuffle=False
    )
    regressor.fit(x, np.array([1.0, 2.0, 3.0, 4.0]))
    numbers = [
        history.history["loss"],
        classifier.predict_proba(x),
        classifier.score(x, [5, 9, 9, 5]),
        regressor.predict(x),
        regressor.score(x, np.array([1.0, 2.0, 3.0, 4.0])),
    ]
    names = sorted(name for name in classifier.get_params() if name != "build_fn")
    classifier.set_params(units=5)
    return Close(numbers, 1e-4), classifier.predict(x), names, classifier.get_params()["units"]


def kernels_turn_around(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.Conv2D(2, 3, input_shape=(6, 6, 1)), l.Conv2DTranspose(1, 2), l.Reshape((-1, 1)), l.Conv1D(2, 3)]
    )
    _weights(np, model)
    tf.keras.utils.convert_all_kernels_in_model(model)
    return Close(model.get_weights(), 1e-6)


def an_operator_is_a_module(tf, np):
    with tf.variable_scope("v", use_resource=True):
        diagonal = tf.get_variable("d", [2])
    inner = tf.linalg.LinearOperatorDiag(diagonal)
    outer = tf.linalg.LinearOperatorComposition([inner, tf.linalg.LinearOperatorIdentity(2)])
    return (
        [v.name for v in inner.trainable_variables],
        [v.name for v in outer.variables],
        len(outer.submodules),
    )


def members_of_models(tf, np):
    l = tf.keras.layers
    layer = l.Bidirectional(l.LSTM(2, kernel_constraint="non_neg"))
    model = tf.keras.Sequential([l.Dense(1, input_shape=(2,)), l.Reshape((1, 1)), layer])
    model.compile("sgd", "mse", sample_weight_mode=None)
    stop = tf.keras.callbacks.EarlyStopping(monitor="loss")
    return (
        [weight is None for weight in model.sample_weights],
        stop.get_monitor_value({"loss": 2.0}),
        stop.get_monitor_value({}),
    )
