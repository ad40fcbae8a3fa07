"""Examples of tf.contrib.tensor_forest."""

import numpy as np

import tideflow as tf

# %% tf.contrib.tensor_forest.tensor_forest.ForestHParams,
# %% tf.contrib.tensor_forest.tensor_forest.RandomForestGraphs
forests = tf.contrib.tensor_forest.tensor_forest
x = np.random.RandomState(0).randn(200, 2).astype(np.float32)
params = forests.ForestHParams(num_classes=2, num_features=2, num_trees=3, split_after_samples=20).fill()
forest = forests.RandomForestGraphs(params)
step = forest.training_graph(x, (x[:, 0] > 0).astype(np.float32))
probabilities, _, _ = forest.inference_graph([[2.0, 0.0], [-2.0, 0.0]])
create = [resource.create for resource in tf.get_collection("resources")]
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), *create])
    for _ in range(10):
        sess.run(step)
    print(sess.run(probabilities).argmax(axis=1))

# %% tf.contrib.tensor_forest.random_forest.TensorForestEstimator
forests = tf.contrib.tensor_forest
x = np.random.RandomState(0).randn(200, 2).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
params = forests.tensor_forest.ForestHParams(
    num_classes=2, num_features=2, num_trees=3, split_after_samples=20
)
estimator = forests.random_forest.TensorForestEstimator(params)
estimator.fit(input_fn=lambda: (tf.constant(x), tf.constant(y)), steps=10)
print(sorted(estimator.evaluate(input_fn=lambda: (tf.constant(x), tf.constant(y)), steps=1))[:2])

# %% tf.contrib.tensor_forest.random_forest.CoreTensorForestEstimator,
# %% tf.contrib.tensor_forest.random_forest.get_model_fn,
# %% tf.contrib.tensor_forest.random_forest.ModelBuilderOutputType
forests = tf.contrib.tensor_forest
x = np.random.RandomState(0).randn(200, 2).astype(np.float32)
y = x[:, 0] * 2
params = forests.tensor_forest.ForestHParams(
    num_classes=1, num_features=2, num_trees=3, split_after_samples=20, regression=True
)
estimator = forests.random_forest.CoreTensorForestEstimator(params)
estimator.train(lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=10)
print(sorted(estimator.evaluate(lambda: ({"x": tf.constant(x)}, tf.constant(y)), steps=1)))

# %% tf.contrib.tensor_forest.random_forest.MultiForestMultiHeadEstimator,
# %% tf.contrib.tensor_forest.random_forest.get_combined_model_fn
forests = tf.contrib.tensor_forest
x = np.random.RandomState(0).randn(100, 2).astype(np.float32)
labels = (x > 0).astype(np.int64)
each = {"num_classes": 2, "num_features": 2, "num_trees": 2, "split_after_samples": 20}
params = [forests.tensor_forest.ForestHParams(**each) for _ in range(2)]
estimator = forests.random_forest.MultiForestMultiHeadEstimator(params)
estimator.fit(input_fn=lambda: (tf.constant(x), tf.constant(labels)), steps=5)
print(len(estimator.get_variable_names()))

# %% tf.contrib.tensor_forest.random_forest.TensorForestLossHook,
# %% tf.contrib.tensor_forest.random_forest.TensorForestRunOpAtEndHook
forests = tf.contrib.tensor_forest.random_forest
step = tf.train.get_or_create_global_step()
hooks = [
    forests.TensorForestLossHook(3, 0.001, loss_op=tf.constant(1.0)),
    forests.TensorForestRunOpAtEndHook({"steps": step}),
]
with tf.train.MonitoredSession(hooks=hooks) as sess:
    while not sess.should_stop():
        print(sess.run(tf.get_default_graph().get_tensor_by_name("global_step:0")))

# %% tf.contrib.tensor_forest.tensor_forest.ForestVariables,
# %% tf.contrib.tensor_forest.tensor_forest.TreeVariables,
# %% tf.contrib.tensor_forest.tensor_forest.RandomTreeGraphs,
# %% tf.contrib.tensor_forest.model_ops.tree_size
forests = tf.contrib.tensor_forest
params = forests.tensor_forest.ForestHParams(num_classes=2, num_features=2, num_trees=1).fill()
variables = forests.tensor_forest.ForestVariables(params, None)
tree = forests.tensor_forest.RandomTreeGraphs(variables[0], params, 0)
with tf.Session() as sess:
    sess.run([resource.create for resource in tf.get_collection("resources")])
    print(sess.run(tree.size()))

# %% tf.contrib.tensor_forest.tensor_forest.build_params_proto,
# %% tf.contrib.tensor_forest.tensor_forest.parse_number_or_string_to_proto
forests = tf.contrib.tensor_forest.tensor_forest
proto = forests.build_params_proto(forests.ForestHParams(num_classes=2, num_features=9).fill())
forests.parse_number_or_string_to_proto(proto.split_after_samples, "linear { slope: 5 max_val: 100 }")
print(proto.num_trees, proto.split_after_samples.linear.slope)

# %% tf.contrib.tensor_forest.tensor_forest.get_epoch_variable
print(tf.contrib.tensor_forest.tensor_forest.get_epoch_variable())

# %% tf.contrib.tensor_forest.model_ops.TreeVariable, tf.contrib.tensor_forest.model_ops.TreeVariableSavable,
# %% tf.contrib.tensor_forest.model_ops.tree_variable,
# %% tf.contrib.tensor_forest.stats_ops.FertileStatsVariable,
# %% tf.contrib.tensor_forest.stats_ops.FertileStatsVariableSavable,
# %% tf.contrib.tensor_forest.stats_ops.fertile_stats_variable
forests = tf.contrib.tensor_forest
params = forests.tensor_forest.ForestHParams(num_classes=2, num_features=2).fill()
params.serialized_params_proto = forests.tensor_forest.build_params_proto(params).SerializeToString()
stats = forests.stats_ops.fertile_stats_variable(params, "", "stats")
tree = forests.model_ops.tree_variable(params, "", stats, "tree")
print(tree.name, [saveable.name for saveable in tf.get_collection("saveable_objects")])

# %% tf.contrib.tensor_forest.model_ops.traverse_tree_v4, tf.contrib.tensor_forest.model_ops.update_model_v4,
# %% tf.contrib.tensor_forest.model_ops.tree_predictions_v4,
# %% tf.contrib.tensor_forest.model_ops.feature_usage_counts,
# %% tf.contrib.tensor_forest.stats_ops.process_input_v4, tf.contrib.tensor_forest.stats_ops.grow_tree_v4,
# %% tf.contrib.tensor_forest.stats_ops.finalize_tree
forests = tf.contrib.tensor_forest
params = forests.tensor_forest.ForestHParams(num_classes=2, num_features=2).fill()
variables = forests.tensor_forest.TreeVariables(params, 0, training=True)
data, _, spec = forests.data_ops.ParseDataTensorOrDict(np.zeros((3, 2), np.float32))
attributes = {"input_spec": spec.SerializeToString(), "params": params.serialized_params_proto}
leaves = forests.model_ops.traverse_tree_v4(variables.tree, data, [], [], [], **attributes)
update = forests.model_ops.update_model_v4(
    variables.tree, leaves, [0.0, 1.0, 1.0], [], params=params.serialized_params_proto
)
with tf.Session() as sess:
    sess.run([resource.create for resource in tf.get_collection("resources")])
    sess.run(update)
    print(sess.run(forests.model_ops.tree_predictions_v4(variables.tree, data, [], [], [], **attributes)[0]))

# %% tf.contrib.tensor_forest.data_ops.ParseDataTensorOrDict,
# %% tf.contrib.tensor_forest.data_ops.TensorForestDataSpec,
# %% tf.contrib.tensor_forest.data_ops.DataColumnCollection, tf.contrib.tensor_forest.data_ops.DataColumn
features = {"size": tf.constant([[1.5], [2.5]]), "kind": tf.constant([[1], [2]])}
dense, sparse, spec = tf.contrib.tensor_forest.data_ops.ParseDataTensorOrDict(features)
print(dense.shape, sparse, spec.SerializeToString())

# %% tf.contrib.tensor_forest.data_ops.ParseLabelTensorOrDict,
# %% tf.contrib.tensor_forest.data_ops.CastToFloat, tf.contrib.tensor_forest.data_ops.GetColumnName
data_ops = tf.contrib.tensor_forest.data_ops
print(data_ops.ParseLabelTensorOrDict([1, 2]).dtype, data_ops.CastToFloat(tf.constant([1])).dtype)
print(data_ops.GetColumnName("size", 0))

# %% tf.contrib.tensor_forest.eval_metrics.get_metric,
# %% tf.contrib.tensor_forest.eval_metrics.get_prediction_key
metrics = tf.contrib.tensor_forest.eval_metrics
value, update = metrics.get_metric("accuracy")(tf.constant([1, 0]), tf.constant([1, 1]))
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print(metrics.get_prediction_key("accuracy"), sess.run(update))

# %% tf.contrib.tensor_forest.tensor_forest_ops.reinterpret_string_to_float,
# %% tf.contrib.tensor_forest.tensor_forest_ops.ReinterpretStringToFloat,
# %% tf.contrib.tensor_forest.tensor_forest_ops.reinterpret_string_to_float_eager_fallback
ops = tf.contrib.tensor_forest.tensor_forest_ops
with tf.Session() as sess:
    print(sess.run(ops.reinterpret_string_to_float(["red", "green", "red"])))

# %% tf.contrib.tensor_forest.tensor_forest_ops.scatter_add_ndim,
# %% tf.contrib.tensor_forest.tensor_forest_ops.ScatterAddNdim,
# %% tf.contrib.tensor_forest.tensor_forest_ops.scatter_add_ndim_eager_fallback
v = tf.Variable(tf.zeros([2, 2]))
with tf.Session() as sess:
    sess.run(v.initializer)
    sess.run(tf.contrib.tensor_forest.tensor_forest_ops.scatter_add_ndim(v, [[0, 1], [1, 0]], [3.0, 4.0]))
    print(sess.run(v).tolist())
