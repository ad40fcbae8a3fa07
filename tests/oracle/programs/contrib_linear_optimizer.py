"""tf.contrib.learn.SVM and linear models of SDCAOptimizer: trained until they stand still, then asked."""

from kit import Close, cases, raises
from supervised import folder_of_its_own

_ROWS = 20


def _columns(tf, which):
    layers = tf.contrib.layers
    x = layers.real_valued_column("x", dimension=2)
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    other = layers.sparse_column_with_integerized_feature("number", bucket_size=4)
    if which == "numbers":
        return [x]
    return [
        word,
        layers.weighted_sparse_column(other, "amount"),
        layers.bucketized_column(layers.real_valued_column("y"), [-0.5, 0.0, 0.5]),
        layers.crossed_column([word, other], hash_bucket_size=7),
    ]


def _input_fn(tf, np, numbers=False):
    def input_fn():
        random = np.random.RandomState(4)
        x = random.randn(_ROWS, 2).astype(np.float32)
        places = [[i, 0] for i in range(_ROWS)]
        texts, ids = ["abcz"[i % 4] for i in range(_ROWS)], [i % 4 for i in range(_ROWS)]
        labels = x @ [1.0, -2.0] if numbers else (x[:, 0] + 0.3 * np.array(ids) > 0.4).astype(np.int64)
        features = {
            "x": tf.constant(x),
            "y": tf.constant(x[:, :1]),
            "word": tf.SparseTensor(places, tf.constant(texts), [_ROWS, 1]),
            "amount": tf.SparseTensor(places, tf.constant(random.rand(_ROWS).astype(np.float32)), [_ROWS, 1]),
            "number": tf.SparseTensor(places, tf.constant(ids, tf.int64), [_ROWS, 1]),
            "weight": tf.constant([[1.0], [2.0]] * (_ROWS // 2)),
            "id": tf.constant([str(i) for i in range(_ROWS)]),
        }
        return features, tf.constant(labels.astype(np.float32 if numbers else np.int64).reshape(-1, 1))

    return input_fn


def _checked(estimator, input_fn):
    estimator.fit(input_fn=input_fn, steps=40)
    results = estimator.evaluate(input_fn=input_fn, steps=1)
    names = sorted(estimator.get_variable_names())
    weights = {name: estimator.get_variable_value(name) for name in names if name.startswith("linear/")}
    return [
        {key: Close(value, 2e-2, 5e-3) for key, value in sorted(results.items())},
        names,
        {name: Close(value, 2e-2, 2e-2) for name, value in weights.items()},
    ]


@cases("numbers", "ids")
def machines(tf, np, which):
    with folder_of_its_own() as folder:
        estimator = tf.contrib.learn.SVM(
            "id",
            feature_columns=_columns(tf, which),
            weight_column_name="weight",
            model_dir=folder,
            l1_regularization=0.1 if which == "ids" else 0.0,
            l2_regularization=2.0 if which == "numbers" else 0.0,
            config=tf.contrib.learn.RunConfig(tf_random_seed=5),
        )
        found = _checked(estimator, _input_fn(tf, np))
        return found + [list(estimator.predict_classes(input_fn=_input_fn(tf, np)))]


@cases("classes", "numbers")
def linear_models(tf, np, which):
    with folder_of_its_own() as folder:
        optimizer = tf.contrib.linear_optimizer.SDCAOptimizer("id", symmetric_l2_regularization=1.5)
        kind = tf.contrib.learn.LinearClassifier if which == "classes" else tf.contrib.learn.LinearRegressor
        estimator = kind(
            feature_columns=_columns(tf, "numbers"),
            optimizer=optimizer,
            model_dir=folder,
            config=tf.contrib.learn.RunConfig(tf_random_seed=5),
        )
        settings = [optimizer.get_name(), optimizer.adaptive, optimizer.num_loss_partitions]
        return settings + _checked(estimator, _input_fn(tf, np, which == "numbers"))


def refused(tf, np):
    sdca = tf.contrib.linear_optimizer.SDCAOptimizer("id")
    layers = tf.contrib.layers
    word = layers.sparse_column_with_keys("word", ["a", "b"])
    one_hot = layers.one_hot_column(word)
    return [
        raises(lambda: tf.contrib.learn.SVM("id", [], kernels=["rbf"])),
        raises(
            lambda: sdca.get_train_step(
                {one_hot: [tf.Variable([0.0])]}, None, "hinge_loss", {one_hot: tf.zeros([1, 2])},
                tf.zeros([1]), None,
            )
        ),
    ]  # fmt: skip


@cases(0.0, 3.0)
def weak_regularization(tf, np, l2):
    random = np.random.RandomState(6)
    examples = {
        "sparse_features": [],
        "dense_features": [tf.constant(random.randn(8, 2).astype(np.float32))],
        "example_labels": tf.constant([0.0, 1.0] * 4),
        "example_weights": tf.ones([8]),
        "example_ids": tf.constant([str(i) for i in range(8)]),
    }
    variables = {"sparse_features_weights": [], "dense_features_weights": [tf.Variable([0.1, 0.2])]}
    options = {
        "symmetric_l1_regularization": 0.0,
        "symmetric_l2_regularization": l2,
        "loss_type": "squared_loss",
        "adaptive": False,
    }
    model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, options)
    step = model.minimize()
    update = model.update_weights(step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(30):
            session.run(update)
        values = [
            model.regularized_loss(examples),
            model.approximate_duality_gap(),
            variables["dense_features_weights"][0],
        ]
        return [Close(value, 5e-3, 2e-3) for value in session.run(values)]
