"""Examples of computations written for TPUs, of towers, and of names of tf.contrib that few use."""

import tideflow as tf

# %% tf.tpu.rewrite
(doubled,) = tf.tpu.rewrite(lambda x: x * 2, [tf.constant([1.0, 2.0])])
with tf.Session() as session:
    print(session.run(doubled))

# %% tf.tpu.replicate
replicas = tf.tpu.replicate(lambda x: x + 1, [[tf.constant(1)], [tf.constant(5)]])
with tf.Session() as session:
    print(session.run(replicas))

# %% tf.tpu.shard
(joined,) = tf.tpu.shard(lambda x: x * 10, [tf.constant([1, 2, 3, 4])], num_shards=2)
with tf.Session() as session:
    print(session.run(joined))

# %% tf.tpu.batch_parallel
(sums,) = tf.tpu.batch_parallel(tf.reduce_sum, [tf.constant([1, 2, 3, 4])], num_shards=2)
with tf.Session() as session:
    print(session.run(sums))

# %% tf.tpu.outside_compilation
print(tf.tpu.outside_compilation(lambda x: x + 1, 2))

# %% tf.tpu.core
print(tf.tpu.core(0))

# %% tf.tpu.cross_replica_sum
total = tf.tpu.cross_replica_sum(tf.constant(3.0))
with tf.Session() as session:
    print(session.run(total))

# %% tf.tpu.bfloat16_scope
with tf.tpu.bfloat16_scope():
    weights = tf.get_variable("weights", [2], dtype=tf.bfloat16)
print(weights.dtype, tf.global_variables()[-1].dtype)

# %% tf.tpu.CrossShardOptimizer
v = tf.get_variable("v", initializer=1.0)
train = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1)).minimize(v * v)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
    print(session.run(v))

# %% tf.contrib.tpu.repeat
powers = tf.contrib.tpu.repeat(10, lambda x: x * 2, [tf.constant(1)])
with tf.Session() as session:
    print(session.run(powers))

# %% tf.contrib.tpu.while_loop
last = tf.contrib.tpu.while_loop(lambda i: i < 7, lambda i: i + 2, [tf.constant(0)])
with tf.Session() as session:
    print(session.run(last))

# %% tf.contrib.tpu.keras_to_tpu_model
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
print(tf.contrib.tpu.keras_to_tpu_model(model) is model)

# %% tf.contrib.tpu.AsyncCheckpointSaverHook
step = tf.train.get_or_create_global_step()
hook = tf.contrib.tpu.AsyncCheckpointSaverHook("checkpoints", save_steps=100)
with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(), hooks=[hook]) as session:
    session.run(step)
print(tf.train.latest_checkpoint("checkpoints"))


# %% tf.contrib.tpu.export_estimator_savedmodel
def sum_fn(features, labels, mode):
    train = tf.train.get_global_step().assign_add(1)
    loss = tf.reduce_sum(features["x"])
    return tf.estimator.EstimatorSpec(mode, predictions=features["x"], loss=loss, train_op=train)


estimator = tf.estimator.Estimator(sum_fn, "sums")
estimator.train(lambda: ({"x": tf.ones([1])}, None), steps=1)
receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.ones([1])})
path = tf.contrib.tpu.export_estimator_savedmodel(estimator, "exported", receiver)
print(tf.saved_model.loader.maybe_saved_model_directory(path))

# %% tf.contrib.estimator.TowerOptimizer
w = tf.get_variable("w", initializer=1.0)
towers = tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
towers.minimize(w * w)
print(towers.has_been_used())


# %% tf.contrib.estimator.replicate_model_fn
def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.squared_difference(features, labels))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.no_op())


replicated = tf.contrib.estimator.replicate_model_fn(model_fn, devices=["/cpu:0"])
with tf.Session() as session:
    print(session.run(replicated(tf.constant([1.0]), tf.constant([3.0]), "train").loss))

# %% tf.contrib.estimator.RNNClassifier
sizes = tf.contrib.feature_column.sequence_numeric_column("sizes")
print(tf.contrib.estimator.RNNClassifier([sizes], num_units=[4], cell_type="lstm").params)

# %% tf.contrib.estimator.RNNEstimator
sizes = tf.contrib.feature_column.sequence_numeric_column("sizes")
head = tf.contrib.estimator.regression_head()
print(tf.contrib.estimator.RNNEstimator(head, [sizes], num_units=[4]).params)

# %% tf.contrib.framework.fuse_op
graph = tf.GraphDef()
for name, inputs in (("a", []), ("b", ["a"]), ("c", ["b"])):
    graph.node.add(name=name, op="Identity", input=inputs)
fused = tf.contrib.framework.fuse_op(graph, ["a"], ["c"], [1], False, "fused", "Fused")
print([node.name for node in fused.node])

# %% tf.contrib.framework.zero_initializer
u = tf.get_variable("u", [2])
with tf.Session() as session:
    print(session.run(tf.contrib.framework.zero_initializer(u)))

# %% tf.contrib.layers.utils.static_cond
print(tf.contrib.layers.utils.static_cond(True, lambda: "first", lambda: "second"))

# %% tf.contrib.slim.binary_svm_target
target = tf.contrib.slim.binary_svm_target()
with tf.Session() as session:
    print(session.run(target.loss(tf.constant([[0.5], [-2.0]]), tf.constant([1, 0]), {})))

# %% tf.contrib.slim.DataFrameColumn
print(tf.contrib.slim.DataFrameColumn("age", None).name)

# %% tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation
ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, 1], tf.int64), [1, 2])
mean = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation(
    tf.constant([[1.0], [3.0]]), ids, None, combiner="mean"
)
with tf.Session() as session:
    print(session.run(mean))

# %% tf.contrib.slim.get_default_binary_metrics_for_eval
print(sorted(tf.contrib.slim.get_default_binary_metrics_for_eval([0.5])))

# %% tf.contrib.util.stripped_op_list_for_graph
tf.constant(1)
listed = tf.contrib.util.stripped_op_list_for_graph(tf.get_default_graph().as_graph_def())
print([op.name for op in listed.op][:1])
