"""Boosted trees, dual ascent and clusters: estimators beyond linear models and networks."""

import numpy as np

import tideflow as tf

# %% tf.estimator.BoostedTreesClassifier
sizes = np.linspace(-2, 2, 40).astype("float32")
labels = (sizes > 0.5).astype("float32")


def everything():
    return {"size": tf.constant(sizes)}, tf.constant(labels)


def once():
    return tf.data.Dataset.from_tensors(({"size": sizes}, labels))


column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("size"), [-1.0, 0.0, 0.5, 1.0])
classifier = tf.estimator.BoostedTreesClassifier([column], 1, n_trees=2, max_depth=2, train_in_memory=True)
classifier.train(everything, steps=10)
print(classifier.evaluate(once)["accuracy"])

# %% tf.estimator.BoostedTreesRegressor
sizes = np.linspace(-2, 2, 40).astype("float32")
labels = (sizes > 0.5).astype("float32")


def everything():
    return {"size": tf.constant(sizes)}, tf.constant(labels)


column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("size"), [-1.0, 0.0, 0.5, 1.0])
regressor = tf.estimator.BoostedTreesRegressor([column], 1, n_trees=2, max_depth=2)
regressor.train(everything, steps=10)
print(list(regressor.experimental_feature_importances(normalize=True)))

# %% tf.estimator.BoostedTreesEstimator
sizes = np.linspace(-2, 2, 40).astype("float32")
labels = (sizes > 0.5).astype("float32")


def everything():
    return {"size": tf.constant(sizes)}, tf.constant(labels)


column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("size"), [-1.0, 0.0, 0.5, 1.0])
trees = tf.estimator.BoostedTreesEstimator([column], 1, tf.estimator.RegressionHead(), n_trees=1, max_depth=2)
trees.train(everything, steps=10)
print(trees.get_variable_value("global_step"))

# %% tf.contrib.estimator.boosted_trees_classifier_train_in_memory
sizes = np.linspace(-2, 2, 40).astype("float32")
labels = (sizes > 0.5).astype("float32")


def once():
    return tf.data.Dataset.from_tensors(({"size": sizes}, labels))


column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("size"), [-1.0, 0.0, 0.5, 1.0])
trained = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
    once, [column], n_trees=1, max_depth=1
)
print(trained.evaluate(once)["accuracy"])

# %% tf.contrib.estimator.boosted_trees_regressor_train_in_memory
sizes = np.linspace(-2, 2, 40).astype("float32")
labels = (sizes > 0.5).astype("float32")


def once():
    return tf.data.Dataset.from_tensors(({"size": sizes}, labels))


column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("size"), [-1.0, 0.0, 0.5, 1.0])
trained = tf.contrib.estimator.boosted_trees_regressor_train_in_memory(once, [column], n_trees=1, max_depth=1)
print(trained.get_variable_value("global_step"))

# %% tf.estimator.experimental.LinearSDCA
features = {"x": np.float32([[1.0], [-1.0]]), "id": np.array(["a", "b"])}
classifier = tf.estimator.LinearClassifier(
    [tf.feature_column.numeric_column("x")],
    optimizer=tf.estimator.experimental.LinearSDCA("id"),
)
classifier.train(lambda: tf.data.Dataset.from_tensors((features, [1, 0])).repeat(5))
print(classifier.get_variable_value("linear/linear_model/x/weights").shape)

# %% tf.contrib.linear_optimizer.SdcaModel, tf.contrib.linear_optimizer.SparseFeatureColumn
weights = tf.Variable([0.0, 0.0])
examples = {
    "sparse_features": [tf.contrib.linear_optimizer.SparseFeatureColumn([0, 1], [0, 1], [1.0, 1.0])],
    "dense_features": [],
    "example_labels": [1.0, 3.0],
    "example_weights": [1.0, 1.0],
    "example_ids": ["a", "b"],
}
model = tf.contrib.linear_optimizer.SdcaModel(
    examples,
    {"sparse_features_weights": [weights], "dense_features_weights": []},
    {"loss_type": "squared_loss", "symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0},
)
update = model.update_weights(model.minimize())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(update)
    print(sess.run(weights))

# %% tf.train.sdca_optimizer
state, sparse, dense = tf.train.sdca_optimizer(
    [],
    [],
    [],
    [tf.constant([[1.0]])],
    [1.0],
    [2.0],
    [],
    [],
    [tf.constant([0.0])],
    tf.zeros([1, 4]),
    loss_type="squared_loss",
    l1=0.0,
    l2=1.0,
    num_loss_partitions=1,
    num_inner_iterations=1,
)
with tf.Session() as sess:
    print(sess.run(dense))

# %% tf.train.sdca_shrink_l1
weights = tf.Variable([0.5, -0.1, 2.0], use_resource=False)
shrink = tf.train.sdca_shrink_l1([weights], l1=0.5, l2=2.0)
with tf.Session() as sess:
    sess.run(weights.initializer)
    sess.run(shrink)
    print(sess.run(weights))

# %% tf.train.sdca_fprint
with tf.Session() as sess:
    print(sess.run(tf.train.sdca_fprint(["a", "b"])).shape)

# %% tf.estimator.experimental.KMeans, tf.contrib.factorization.KMeansClustering
points = np.float32([[0, 0], [0, 1], [9, 9], [9, 8]])
kmeans = tf.estimator.experimental.KMeans(2, None, points[[0, 2]], use_mini_batch=False)
kmeans.train(lambda: tf.data.Dataset.from_tensors(points).repeat(3))
print(kmeans.cluster_centers().tolist())
