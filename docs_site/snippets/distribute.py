"""Examples of tf.distribute: strategies, replicas, reductions."""

import tideflow as tf

# %% tf.distribute.MirroredStrategy, tf.distribute.Strategy, tf.distribute.StrategyExtended
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    v = tf.Variable(1.0)
    train = strategy.experimental_run_v2(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(v * v))
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    session.run(tf.global_variables_initializer())
    session.run(strategy.group(train))
    print(session.run(list(strategy.unwrap(v))))

# %% tf.distribute.OneDeviceStrategy
strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
with strategy.scope():
    print(tf.get_variable("on_one_device", []).device)

# %% tf.distribute.experimental.CentralStorageStrategy
strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
print(strategy.num_replicas_in_sync, strategy.extended.parameter_devices)

# %% tf.distribute.experimental.ParameterServerStrategy
cluster = tf.train.ClusterSpec({"worker": ["a:2222"], "ps": ["b:2222"]})
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=0)
strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
with strategy.scope():
    print(tf.get_variable("on_a_server", []).device)

# %% tf.distribute.experimental.CollectiveCommunication
print([way.name for way in tf.distribute.experimental.CollectiveCommunication])

# %% tf.distribute.experimental.MultiWorkerMirroredStrategy
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy(
    tf.distribute.experimental.CollectiveCommunication.RING
)
strategy.configure(cluster_spec={"worker": ["a:2222", "b:2222"]}, task_type="worker", task_id=0)
print(strategy.num_replicas_in_sync, strategy.extended.should_checkpoint)

# %% tf.distribute.ReplicaContext, tf.distribute.get_replica_context
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    ids = strategy.experimental_run_v2(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    print(session.run(list(strategy.unwrap(ids))))

# %% tf.distribute.ReduceOp
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    ids = strategy.experimental_run_v2(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, ids)
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    print(session.run(total))

# %% tf.distribute.CrossDeviceOps, tf.distribute.HierarchicalCopyAllReduce, tf.distribute.NcclAllReduce
strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()
)
with strategy.scope():
    ids = strategy.experimental_run_v2(lambda: tf.distribute.get_replica_context().replica_id_in_sync_group)
    on_both = strategy.extended.reduce_to(tf.distribute.ReduceOp.SUM, ids, ["/cpu:0", "/cpu:1"])
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    print(session.run(list(on_both.values)))

# %% tf.distribute.InputContext, tf.distribute.InputReplicationMode
context = tf.distribute.InputContext(num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=2)
print(context.get_per_replica_batch_size(64), tf.distribute.InputReplicationMode.PER_WORKER)

# %% tf.distribute.get_strategy, tf.distribute.has_strategy, tf.distribute.in_cross_replica_context
print(tf.distribute.has_strategy(), tf.distribute.in_cross_replica_context())
with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
    print(tf.distribute.get_strategy(), tf.distribute.in_cross_replica_context())

# %% tf.contrib.distribute.get_cross_replica_context, tf.contrib.distribute.require_replica_context
with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
    print(tf.contrib.distribute.get_cross_replica_context())
tf.contrib.distribute.require_replica_context(tf.distribute.get_replica_context())

# %% tf.distribute.experimental_set_strategy
tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("/cpu:0"))
print(tf.distribute.get_strategy())
tf.distribute.experimental_set_strategy(None)

# %% tf.distribute.get_loss_reduction
print(tf.distribute.get_loss_reduction())

# %% tf.distribute.ReductionToOneDevice
reduction = tf.distribute.ReductionToOneDevice()
total = reduction.reduce(tf.distribute.ReduceOp.SUM, tf.constant(3.0), "/cpu:0")
with tf.Session() as session:
    print(session.run(total))

# %% tf.contrib.distribute.MirroredStrategy, tf.contrib.distribute.AllReduceCrossDeviceOps
reduction = tf.contrib.distribute.AllReduceCrossDeviceOps("hierarchical_copy")
print(tf.contrib.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=reduction))

# %% tf.contrib.distribute.CollectiveAllReduceStrategy, tf.contrib.distribute.ParameterServerStrategy
print(tf.contrib.distribute.CollectiveAllReduceStrategy(), tf.contrib.distribute.ParameterServerStrategy())
