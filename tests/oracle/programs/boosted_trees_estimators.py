"""Estimators of boosted trees: whole trainings, what they predict, explain, evaluate, write and refuse."""

import os

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _data(np, count=60):
    chance = np.random.RandomState(1)
    features = {
        "size": chance.randn(count).astype("f"),
        "pair": chance.rand(count, 2).astype("f"),
        "kind": np.array(["red", "green", "blue"])[chance.randint(0, 3, count)],
        "weight": (chance.randint(1, 4, count) / 2.0).astype("f"),
    }
    value = 2 * features["size"] + 3 * (features["kind"] == "red") - features["pair"][:, 0]
    return features, value.astype("f"), (value > 1.0).astype("i")


def _columns(tf, which):
    column = tf.feature_column
    size = column.numeric_column("size")
    kinds = column.categorical_column_with_vocabulary_list("kind", ["red", "green", "blue"])
    return {
        "buckets": [
            column.bucketized_column(size, [-1.0, -0.25, 0.0, 0.5, 1.5]),
            column.indicator_column(kinds),
        ],
        "numbers": [size, column.numeric_column("pair", shape=(2,))],
        "all": [
            column.bucketized_column(size, [-0.5, 0.5]),
            column.numeric_column("pair", shape=(2,)),
            column.indicator_column(kinds),
        ],
    }[which]


def _input(tf, np, labels, batch=60, repeat=None):
    features, values, classes = _data(np)
    target = {"values": values[:, None], "classes": classes, "words": np.array(["no", "yes"])[classes]}[
        labels
    ]

    def input_fn():
        if not batch:  # everything at once, without an iterator that is initialized with the model
            return {key: tf.constant(value) for key, value in features.items()}, tf.constant(target)
        return tf.data.Dataset.from_tensor_slices((features, target)).repeat(repeat).batch(batch)

    return input_fn


def _told(tf, np, estimator, labels, folder):
    evaluated = estimator.evaluate(_input(tf, np, labels, 20, 1))
    predicted = list(estimator.predict(_input(tf, np, labels, 25, 1)))
    keys = sorted(set(predicted[0]) & {"predictions", "logits", "probabilities", "class_ids"})
    return [
        Close({key: evaluated[key] for key in sorted(evaluated)}, 1e-4, 1e-5),
        Close([[each[key] for key in keys] for each in predicted], 1e-4, 1e-5),
        Close(list(estimator.experimental_feature_importances().items()), 1e-4, 1e-5),
        [(name, list(shape)) for name, shape in tf.train.list_variables(folder)],
    ]


@cases(
    ("buckets", "memory", "plain"),
    ("numbers", "memory", "center"),
    ("numbers", "batches", "plain"),
    ("all", "batches", "center"),
)
def regression(tf, np, which, how, bias):
    with folder_of_its_own() as folder:
        estimator = tf.estimator.BoostedTreesRegressor(
            _columns(tf, which),
            n_batches_per_layer=1 if how == "memory" else 3,
            model_dir=folder,
            n_trees=3,
            max_depth=3,
            learning_rate=0.5,
            l2_regularization=0.01,
            center_bias=bias == "center",
            quantile_sketch_epsilon=0.01,
            train_in_memory=how == "memory",
        )
        estimator.train(_input(tf, np, "values", 0 if how == "memory" else 20), steps=100)
        return _told(tf, np, estimator, "values", folder)


@cases(
    ("buckets", "pre", "memory"),
    ("buckets", "post", "memory"),
    ("all", "none", "batches"),
    ("all", "post", "batches"),
)
def pruned(tf, np, which, pruning, how):
    with folder_of_its_own() as folder:
        estimator = tf.estimator.BoostedTreesClassifier(
            _columns(tf, which),
            n_batches_per_layer=1 if how == "memory" else 2,
            model_dir=folder,
            n_trees=4,
            max_depth=3,
            tree_complexity=0.0 if pruning == "none" else 0.01,
            pruning_mode=pruning,
            quantile_sketch_epsilon=0.01,
            train_in_memory=how == "memory",
        )
        estimator.train(_input(tf, np, "classes", 0 if how == "memory" else 30), steps=60)
        return _told(tf, np, estimator, "classes", folder)


@cases("weights", "words", "least weight")
def settings(tf, np, what):
    labels = "words" if what == "words" else "classes"
    with folder_of_its_own() as folder:
        estimator = tf.estimator.BoostedTreesClassifier(
            _columns(tf, "all"),
            n_batches_per_layer=1,
            model_dir=folder,
            weight_column="weight" if what == "weights" else None,
            label_vocabulary=["no", "yes"] if what == "words" else None,
            n_trees=2,
            max_depth=4,
            l1_regularization=0.001,
            min_node_weight=0.3 if what == "least weight" else 0.0,  # at 0.03, splits of two features tie
            center_bias=True,
        )
        estimator.train(_input(tf, np, labels), steps=50)
        return _told(tf, np, estimator, labels, folder)


@cases("regression", "classes")
def explanations(tf, np, kind):
    make = tf.estimator.BoostedTreesRegressor if kind == "regression" else tf.estimator.BoostedTreesClassifier
    labels = "values" if kind == "regression" else "classes"
    with folder_of_its_own() as folder:
        estimator = make(_columns(tf, "all"), 1, folder, n_trees=3, max_depth=2, center_bias=True)
        estimator.train(_input(tf, np, labels), steps=40)
        found = list(estimator.experimental_predict_with_explanations(_input(tf, np, labels, 20, 1)))
        few = next(
            estimator.experimental_predict_with_explanations(
                _input(tf, np, labels, 20, 1), predict_keys=["logits" if kind == "classes" else "predictions"]
            )
        )
        return [
            Close([[float(p["bias"]), list(p["dfc"].items())] for p in found[:8]], 1e-4, 1e-5),
            sorted(found[0]),
            sorted(few),
            Close(list(estimator.experimental_feature_importances(normalize=True).items()), 1e-4, 1e-5),
        ]


def with_a_head(tf, np):
    with folder_of_its_own() as folder:
        estimator = tf.estimator.BoostedTreesEstimator(
            _columns(tf, "all"), 1, tf.estimator.RegressionHead(), folder, n_trees=2, max_depth=2
        )
        estimator.train(_input(tf, np, "values"), steps=20)
        return _told(tf, np, estimator, "values", folder)


@cases("classifier", "regressor")
def in_memory(tf, np, kind):
    features, values, classes = _data(np)
    labels = classes if kind == "classifier" else values[:, None]
    train = getattr(tf.contrib.estimator, "boosted_trees_%s_train_in_memory" % kind)

    def input_fn():
        return tf.data.Dataset.from_tensors((features, labels))

    with folder_of_its_own() as folder:
        estimator = train(input_fn, _columns(tf, "buckets"), model_dir=folder, n_trees=2, max_depth=2)
        told = "classes" if kind == "classifier" else "values"
        return _told(tf, np, estimator, told, folder)


def going_on(tf, np):
    with folder_of_its_own() as folder:
        steps = []
        for trees in (1, 3):
            estimator = tf.estimator.BoostedTreesRegressor(
                _columns(tf, "numbers"), 1, folder, n_trees=trees, max_depth=2
            )
            estimator.train(_input(tf, np, "values"), steps=50)
            steps.append(int(estimator.get_variable_value("global_step")))
        return [steps, _told(tf, np, estimator, "values", folder)]


def exported(tf, np):
    with folder_of_its_own() as folder:
        columns = _columns(tf, "all")
        estimator = tf.estimator.BoostedTreesClassifier(columns, 1, folder, n_trees=2, max_depth=2)
        estimator.train(_input(tf, np, "classes"), steps=20)
        spec = tf.feature_column.make_parse_example_spec(columns)
        receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
        path = os.fsdecode(estimator.export_saved_model(os.path.join(folder, "export"), receiver))
        features, _, _ = _data(np)

        def feature(value):
            kind = "bytes_list" if value.dtype.kind in "US" else "float_list"
            values = [v.encode() if kind == "bytes_list" else float(v) for v in np.ravel(value)]
            message = tf.train.BytesList if kind == "bytes_list" else tf.train.FloatList
            return tf.train.Feature(**{kind: message(value=values)})

        examples = [
            tf.train.Example(
                features=tf.train.Features(
                    feature={key: feature(np.asarray(features[key][i])) for key in ("size", "pair", "kind")}
                )
            ).SerializeToString()
            for i in range(4)
        ]
        predict = tf.contrib.predictor.from_saved_model(path, signature_def_key="predict")
        found = predict({"examples": examples})
        return [sorted(found), Close([found["probabilities"], found["logits"]], 1e-4, 1e-5)]


def refused(tf, np):
    column = tf.feature_column
    kinds = column.categorical_column_with_vocabulary_list("kind", ["red"])
    columns = _columns(tf, "buckets")
    classifier, regressor = tf.estimator.BoostedTreesClassifier, tf.estimator.BoostedTreesRegressor

    def train(estimator, labels="classes"):
        estimator.train(_input(tf, np, labels), steps=1)

    with folder_of_its_own() as folder:
        return [
            raises(classifier, columns, 1, folder, n_classes=3),
            raises(regressor, columns, 1, folder, label_dimension=2),
            raises(classifier, [kinds], 1, folder),
            raises(lambda: train(classifier(columns, 1, folder, pruning_mode="some"))),
            raises(lambda: train(classifier(columns, 1, folder, pruning_mode="pre"))),
            raises(lambda: train(classifier(columns, 1, folder, tree_complexity=0.5))),
            raises(lambda: train(classifier(columns, 2, folder, train_in_memory=True))),
            raises(
                lambda: next(
                    classifier(columns, 1, folder).experimental_predict_with_explanations(
                        _input(tf, np, "classes")
                    )
                )
            ),
        ]
