"""Stochastic dual coordinate ascent: the op types, models made of them, linear estimators."""

from kit import Close, cases, product, raises
from supervised import folder_of_its_own

_LOSSES = ["logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"]


def _optimize(tf, np, loss, **given):
    """One step on examples that share no features, so that their order does not matter."""
    inputs = {
        "sparse_example_indices": [[0, 0, 1], [1, 2]],
        "sparse_feature_indices": [[3, 5, 9], [0, 4]],
        "sparse_feature_values": [[1.0, 2.0, 0.5]],
        "dense_features": [np.array([[1, 0, 0], [0, 2, 0], [0, 0, 0.5]], "f")],
        "example_weights": [1.0, 2.0, 0.5],
        "example_labels": [1.0, 0.0, 1.0],
        "sparse_indices": [[3, 5, 9], [0, 4]],
        "sparse_weights": [[0.1, -0.2, 0.3], [0.25, -0.5]],
        "dense_weights": [[0.5, -0.25, 1.0]],
        "example_state_data": np.zeros((3, 4), "f"),
        "l1": 0.0,
        "l2": 1.0,
        "num_loss_partitions": 1,
        "num_inner_iterations": 1,
    }
    inputs.update(given)
    return tf.raw_ops.SdcaOptimizerV2(loss_type=loss, adaptive=False, **inputs)


@cases(*product(_LOSSES, [(0.0, 1.0, 1), (0.25, 2.0, 1), (0.0, 0.5, 3)]))
def steps(tf, np, loss, settings):
    l1, l2, partitions = settings
    state, found = np.zeros((3, 4), "f"), []
    with tf.Session() as session:
        for _ in range(2):
            step = _optimize(
                tf, np, loss, l1=l1, l2=l2, num_loss_partitions=partitions, example_state_data=state
            )
            state, sparse, dense = session.run([step[0], list(step[1]), list(step[2])])
            found.append([state, sparse, dense])
    return Close(found, 1e-4, 1e-6)


_BAD = {
    "labels": {"example_labels": [1.0, 0.5, 0.0]},
    "few labels": {"example_labels": [1.0, 0.5]},
    "state": {"example_state_data": [[0.0] * 4]},
    "unknown feature": {"sparse_indices": [[3, 5, 8], [0, 4]]},
    "duplicate": {"sparse_feature_indices": [[3, 3, 9], [0, 4]]},
    "too many": {"dense_weights": [[0.5, 0.25]]},
    "indices": {"sparse_feature_indices": [[3, 5], [0, 4]]},
}


@cases(*sorted(_BAD))
def refused(tf, np, what):
    with tf.Session() as session:
        return raises(lambda: session.run(_optimize(tf, np, "hinge_loss", **_BAD[what])[0]))


def negative_counts(tf, np):
    with tf.Session() as session:
        step = _optimize(tf, np, "poisson_loss", example_labels=[1.0, -1.0, 0.0])
        return raises(session.run, step[0])


def fingerprints(tf, np):
    texts = [bytes((i * 7 + n) % 251 for i in range(n)) for n in range(0, 300, 7)]
    with tf.Session() as session:
        return session.run(
            [tf.train.sdca_fprint(texts), tf.train.sdca_fprint(np.array([], object).astype(str))]
        )


def shrinking(tf, np):
    weights = [
        tf.Variable([0.5, -0.1, 2.0], use_resource=False),
        tf.Variable([[-3.0, 0.2]], use_resource=False),
    ]
    shrink = tf.train.sdca_shrink_l1(weights, l1=0.5, l2=2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        return session.run(weights)


@cases(*product(_LOSSES, [(0.0, 1.0), (0.25, 2.0)]))
def models(tf, np, loss, regularization):
    chance = np.random.RandomState(3)
    rows = chance.randn(30, 2).astype("f")
    labels = (rows[:, 0] > 0.2).astype("f")
    column = tf.contrib.linear_optimizer.SparseFeatureColumn(
        np.arange(30), np.arange(30) % 4, np.ones(30, "f")
    )
    examples = {
        "sparse_features": [column],
        "dense_features": [tf.constant(rows)],
        "example_labels": labels,
        "example_weights": np.ones(30, "f"),
        "example_ids": [str(i) for i in range(30)],
    }
    variables = {
        "sparse_features_weights": [tf.Variable(tf.zeros([4]), name="sparse")],
        "dense_features_weights": [tf.Variable(tf.zeros([2]), name="dense")],
    }
    l1, l2 = regularization
    options = {
        "symmetric_l1_regularization": l1,
        "symmetric_l2_regularization": l2,
        "loss_type": loss,
        "adaptive": False,
    }
    model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, options)
    train = model.minimize()
    update = model.update_weights(train)
    told = [
        model.regularized_loss(examples),
        model.unregularized_loss(examples),
        model.predictions(examples),
        variables["sparse_features_weights"],
        variables["dense_features_weights"],
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(told)
        for _ in range(60):
            session.run(update)
        gap = session.run(model.approximate_duality_gap())
        return [Close(before, 1e-5, 1e-6), Close(session.run(told), 2e-2, 2e-2), bool(gap < 0.02)]


def bad_options(tf, np):
    model = tf.contrib.linear_optimizer.SdcaModel
    examples = {
        "sparse_features": [],
        "dense_features": [[[1.0]]],
        "example_labels": [1.0],
        "example_weights": [1.0],
        "example_ids": ["a"],
    }
    variables = {"sparse_features_weights": [], "dense_features_weights": [tf.Variable([0.0])]}
    options = {"symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0}
    return [
        raises(model, examples, variables, None),
        raises(model, examples, variables, dict(options, loss_type="other")),
        raises(
            model, examples, variables, dict(options, loss_type="hinge_loss", symmetric_l2_regularization=0)
        ),
        raises(
            model, examples, variables, dict(options, loss_type="hinge_loss", symmetric_l1_regularization=-1)
        ),
        raises(model, dict(examples, sparse_features=()), variables, dict(options, loss_type="hinge_loss")),
    ]


@cases("classes", "numbers", "shards", "weights")
def estimators(tf, np, kind):
    chance = np.random.RandomState(0)
    count = 40
    features = {
        "id": np.array([str(i) for i in range(count)]),
        "x": chance.randn(count, 2).astype("f"),
        "kind": np.array(["a", "b", "c"])[np.arange(count) % 3],
        "w": (1 + np.arange(count) % 2).astype("f"),
    }
    value = features["x"][:, 0] + (features["kind"] == "a")
    labels = (value > 0.3).astype("i") if kind != "numbers" else value.astype("f")[:, None]
    column = tf.feature_column
    columns = [
        column.numeric_column("x", shape=(2,)),
        column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"]),
    ]
    optimizer = tf.estimator.experimental.LinearSDCA(
        "id", symmetric_l2_regularization=2.0, num_table_shards=3 if kind == "shards" else None
    )
    make = tf.estimator.LinearRegressor if kind == "numbers" else tf.estimator.LinearClassifier

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((features, labels)).repeat(40).batch(count)

    def once():
        return tf.data.Dataset.from_tensor_slices((features, labels)).batch(count)

    with folder_of_its_own() as folder:
        estimator = make(
            columns, folder, optimizer=optimizer, weight_column="w" if kind == "weights" else None
        )
        estimator.train(input_fn)
        told = estimator.evaluate(once)
        names = [(name, list(shape)) for name, shape in tf.train.list_variables(folder)]
        weights = [estimator.get_variable_value(n) for n, _ in names if n.endswith("weights")]
        return [Close(told["loss"], 2e-2, 2e-2), sorted(told), names, Close(weights, 3e-2, 3e-2)]


def wrong_estimators(tf, np):
    column = tf.feature_column.numeric_column("x", shape=(2, 2))
    optimizer = tf.estimator.experimental.LinearSDCA("id")

    def input_fn():
        return {"x": tf.zeros([3, 2, 2]), "id": tf.constant(["a", "b", "c"])}, tf.constant([0, 1, 2])

    with folder_of_its_own() as folder:
        classifier = tf.estimator.LinearClassifier
        return [
            raises(classifier, [column], optimizer=optimizer, sparse_combiner="mean"),
            raises(classifier([column], folder, optimizer=optimizer).train, input_fn, steps=1),
            raises(classifier, [column], folder, 3, optimizer=optimizer),
        ]
