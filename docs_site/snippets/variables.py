"""Examples of variables, their scopes, initializers, regularizers and collections."""

import tideflow as tf

# %% tf.Variable
w = tf.Variable([[1.0, 2.0]], name="w")
step = w.assign_add([[0.5, 0.5]])
with tf.Session() as sess:
    sess.run(w.initializer)
    sess.run(step)
    print(sess.run(w))

# %% tf.get_variable
with tf.variable_scope("layer"):
    w = tf.get_variable("w", shape=[2, 3], initializer=tf.ones_initializer())
print(w.name)
w

# %% tf.get_local_variable
counter = tf.get_local_variable("counter", initializer=0)
print(tf.local_variables() == [counter])


# %% tf.variable_scope
def dense(x):
    return tf.layers.dense(x, 4, name="dense")


with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
    dense(tf.zeros([1, 3]))
    dense(tf.ones([1, 3]))  # the same variables
print([v.name for v in tf.global_variables()])

# %% tf.VariableScope, tf.get_variable_scope
with tf.variable_scope("encoder", initializer=tf.zeros_initializer()):
    scope = tf.get_variable_scope()
    print(scope.name, scope.reuse)
with tf.variable_scope(scope):
    print(tf.get_variable("w", [2]).name)

# %% tf.variable_op_scope
with tf.variable_op_scope([], "layer", "default"):
    print(tf.get_variable("w", [1]).name)


# %% tf.variable_creator_scope
def noted(next_creator, **kwargs):
    print("makes", kwargs["name"])
    return next_creator(**kwargs)


with tf.variable_creator_scope(noted):
    tf.get_variable("w", [2])

# %% tf.make_template
scale = tf.make_template("scale", lambda x: x * tf.get_variable("factor", initializer=3.0))
a, b = scale(tf.constant(1.0)), scale(tf.constant(2.0))  # one variable
print(len(tf.global_variables()))
a, b


# %% tf.Module
class Scale(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        with self.name_scope:
            self.factor = tf.Variable(2.0, name="factor")

    def __call__(self, x):
        return self.factor * x


scale = Scale(name="scale")
print([v.name for v in scale.variables])
scale(tf.constant(4.0))

# %% tf.VariableSynchronization, tf.VariableAggregation
v = tf.get_variable(
    "v",
    initializer=1.0,
    synchronization=tf.VariableSynchronization.AUTO,
    aggregation=tf.VariableAggregation.NONE,
)
print(v.synchronization, v.aggregation)

# %% tf.create_partitioned_variables
parts = tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros_initializer())
print([part.shape for part in parts])

# %% tf.fixed_size_partitioner
with tf.variable_scope("shards", partitioner=tf.fixed_size_partitioner(2)):
    table = tf.get_variable("table", [6, 2], initializer=tf.zeros_initializer())
print([part.name for part in table])

# %% tf.min_max_variable_partitioner
partitioner = tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=64)
print(partitioner(shape=tf.TensorShape([100, 10]), dtype=tf.float32))

# %% tf.variable_axis_size_partitioner
partitioner = tf.variable_axis_size_partitioner(max_shard_bytes=1000)
print(partitioner(shape=tf.TensorShape([100, 10]), dtype=tf.float32))

# %% tf.global_variables, tf.all_variables, tf.trainable_variables
tf.get_variable("w", initializer=1.0)
tf.get_variable("steps", initializer=0, trainable=False)
print([v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()])

# %% tf.local_variables, tf.local_variables_initializer, tf.initialize_local_variables
counter = tf.get_local_variable("counter", initializer=5)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print(sess.run(tf.local_variables()))

# %% tf.model_variables
keys = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
w = tf.get_variable("w", initializer=1.0, collections=keys)
print(tf.model_variables() == [w])

# %% tf.moving_average_variables
w = tf.get_variable("w", initializer=1.0)
tf.train.ExponentialMovingAverage(0.9).apply([w])
print(tf.moving_average_variables() == [w])

# %% tf.global_variables_initializer, tf.initialize_all_variables
w = tf.get_variable("w", initializer=[1.0, 2.0])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(w))

# %% tf.variables_initializer, tf.initialize_variables
w, b = tf.get_variable("w", initializer=1.0), tf.get_variable("b", initializer=2.0)
with tf.Session() as sess:
    sess.run(tf.variables_initializer([w]))
    print(sess.run(w), sess.run(tf.report_uninitialized_variables()))

# %% tf.report_uninitialized_variables
tf.get_variable("w", initializer=1.0)
with tf.Session() as sess:
    print(sess.run(tf.report_uninitialized_variables()))

# %% tf.assert_variables_initialized
tf.get_variable("w", initializer=1.0)
check = tf.assert_variables_initialized()
with tf.Session() as sess:
    try:
        sess.run(check)
    except tf.errors.FailedPreconditionError as error:
        print(type(error).__name__)

# %% tf.tables_initializer, tf.initialize_all_tables
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
with tf.Session() as sess:
    sess.run(tf.tables_initializer())
    print(sess.run(table.lookup(tf.constant(["b", "c"]))))

# %% tf.batch_scatter_update
v = tf.get_variable("v", initializer=[[1, 2, 3], [4, 5, 6]])
update = tf.batch_scatter_update(v, [[0], [2]], [[10], [60]])
with tf.Session() as sess:
    sess.run(v.initializer)
    print(sess.run(update))

# %% tf.enable_resource_variables, tf.disable_resource_variables, tf.resource_variables_enabled
tf.enable_resource_variables()
print(tf.resource_variables_enabled(), tf.get_variable("v", initializer=1.0).op.type)
tf.disable_resource_variables()
print(tf.resource_variables_enabled(), tf.get_variable("w", initializer=1.0).op.type)

# %% tf.no_regularizer
with tf.variable_scope("layer", regularizer=tf.keras.regularizers.l2(0.1)):
    tf.get_variable("w", initializer=1.0)
    tf.get_variable("b", initializer=1.0, regularizer=tf.no_regularizer)
print(len(tf.losses.get_regularization_losses()))

# %% tf.zeros_initializer, tf.ones_initializer, tf.constant_initializer
a = tf.get_variable("a", [2], initializer=tf.zeros_initializer())
b = tf.get_variable("b", [2], initializer=tf.ones_initializer())
c = tf.get_variable("c", [2, 2], initializer=tf.constant_initializer([[1.0, 2.0], [3.0, 4.0]]))
a, b, c

# %% tf.random_normal_initializer, tf.truncated_normal_initializer
a = tf.get_variable("a", [3], initializer=tf.random_normal_initializer(mean=1.0, stddev=0.1, seed=1))
b = tf.get_variable("b", [3], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
a, b

# %% tf.random_uniform_initializer
tf.get_variable("w", [3], initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=1))

# %% tf.uniform_unit_scaling_initializer
tf.get_variable("w", [2, 2], initializer=tf.uniform_unit_scaling_initializer(seed=1))

# %% tf.variance_scaling_initializer
initializer = tf.variance_scaling_initializer(scale=2.0, mode="fan_in", distribution="uniform", seed=1)
tf.get_variable("w", [2, 2], initializer=initializer)

# %% tf.orthogonal_initializer
w = tf.get_variable("w", [3, 3], initializer=tf.orthogonal_initializer(seed=1))
tf.round(tf.matmul(w, w, transpose_a=True))

# %% tf.glorot_uniform_initializer, tf.glorot_normal_initializer
tf.get_variable("w", [2, 2], initializer=tf.glorot_uniform_initializer(seed=1))

# %% tf.initializers.he_normal, tf.initializers.he_uniform, tf.initializers.lecun_normal,
# %% tf.initializers.lecun_uniform
a = tf.get_variable("a", [2, 2], initializer=tf.initializers.he_normal(seed=1))
b = tf.get_variable("b", [2, 2], initializer=tf.initializers.lecun_uniform(seed=1))
a, b

# %% tf.initializers.identity
tf.get_variable("w", [2, 3], initializer=tf.initializers.identity(gain=2.0))


# %% tf.keras.initializers.Initializer
class Diagonal(tf.keras.initializers.Initializer):
    def __call__(self, shape, dtype=tf.float32, partition_info=None):
        return tf.eye(shape[0], shape[1], dtype=dtype)


tf.get_variable("w", [2, 2], initializer=Diagonal())

# %% tf.keras.initializers.RandomNormal, tf.keras.initializers.TruncatedNormal,
# %% tf.keras.initializers.RandomUniform
a = tf.get_variable("a", [2], initializer=tf.keras.initializers.RandomNormal(stddev=0.1, seed=1))
b = tf.get_variable("b", [2], initializer=tf.keras.initializers.TruncatedNormal(stddev=0.1, seed=1))
c = tf.get_variable("c", [2], initializer=tf.keras.initializers.RandomUniform(-1.0, 1.0, seed=1))
a, b, c

# %% tf.keras.initializers.get
tf.keras.initializers.get("ones")([2, 2])

# %% tf.keras.initializers.serialize, tf.keras.initializers.deserialize
config = tf.keras.initializers.serialize(tf.zeros_initializer())
print(config)
print(tf.keras.initializers.deserialize(config)([2]).shape)

# %% tf.keras.regularizers.l1, tf.keras.regularizers.l2, tf.keras.regularizers.l1_l2
w = tf.constant([1.0, -2.0])
l1, l2 = tf.keras.regularizers.l1(0.1), tf.keras.regularizers.l2(0.1)
l1(w), l2(w), tf.keras.regularizers.l1_l2(0.1, 0.1)(w)

# %% tf.keras.regularizers.L1L2, tf.keras.regularizers.Regularizer
regularizer = tf.keras.regularizers.L1L2(l1=0.1, l2=0.0)
print(regularizer.get_config(), isinstance(regularizer, tf.keras.regularizers.Regularizer))
regularizer(tf.constant([3.0]))

# %% tf.keras.regularizers.get
tf.keras.regularizers.get({"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.5}})(tf.constant([2.0]))

# %% tf.keras.regularizers.serialize, tf.keras.regularizers.deserialize
config = tf.keras.regularizers.serialize(tf.keras.regularizers.l2(0.1))
print(config["class_name"])
tf.keras.regularizers.deserialize(config)(tf.constant([2.0]))

# %% tf.random.experimental.Generator, tf.random.experimental.create_rng_state
generator = tf.random.experimental.Generator.from_seed(1)
numbers = generator.normal([3])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(numbers).shape)

# %% tf.random.experimental.get_global_generator, tf.random.experimental.set_global_generator
tf.random.experimental.set_global_generator(tf.random.experimental.Generator.from_seed(1))
generator = tf.random.experimental.get_global_generator()
tf.shape(generator.uniform([4]))
