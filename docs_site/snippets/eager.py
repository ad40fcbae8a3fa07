"""Examples of eager mode."""

import tideflow as tf

# %% tf.enable_eager_execution, tf.executing_eagerly
tf.enable_eager_execution()
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.executing_eagerly(), tf.matmul(x, x).numpy())

# %% tf.disable_eager_execution
tf.enable_eager_execution()
tf.disable_eager_execution()
print(tf.executing_eagerly())

# %% tf.GradientTape, tf.contrib.eager.GradientTape
tf.enable_eager_execution()
x = tf.constant(3.0)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
    slope = tape.gradient(y, x)
print(float(slope), float(outer.gradient(slope, x)))

# %% tf.py_function, tf.contrib.eager.py_func
x = tf.constant([1.0, 2.0])
doubled = tf.py_function(lambda v: v * 2.0 if v[0] > 0 else v, [x], tf.float32)
doubled, tf.gradients(doubled, x)[0]

# %% tf.contrib.eager.gradients_function, tf.contrib.eager.value_and_gradients_function
tf.enable_eager_execution()
square = tf.contrib.eager.gradients_function(lambda x: x * x)
value, slopes = tf.contrib.eager.value_and_gradients_function(lambda x, y: x * y)(2.0, 5.0)
print(float(square(3.0)[0]), float(value), [float(slope) for slope in slopes])

# %% tf.contrib.eager.implicit_gradients, tf.contrib.eager.implicit_value_and_gradients
# %% tf.contrib.eager.Variable
tf.enable_eager_execution()
v = tf.contrib.eager.Variable(3.0, name="v")
((slope, variable),) = tf.contrib.eager.implicit_gradients(lambda x: x * v)(2.0)
value, _ = tf.contrib.eager.implicit_value_and_gradients(lambda: v * v)()
print(float(slope), variable.name, float(value))

# %% tf.contrib.eager.custom_gradient
tf.enable_eager_execution()


@tf.contrib.eager.custom_gradient
def doubled(x):
    return x * 2.0, lambda dy: dy * 10.0


print(float(tf.contrib.eager.gradients_function(doubled)(1.0)[0]))

# %% tf.contrib.eager.EagerVariableStore
tf.enable_eager_execution()
store = tf.contrib.eager.EagerVariableStore()
for _ in range(2):
    with store.as_default():
        tf.get_variable("w", [2], initializer=tf.ones_initializer())
print([v.name for v in store.variables()])

# %% tf.contrib.eager.Iterator
tf.enable_eager_execution()
print([int(x) for x in tf.contrib.eager.Iterator(tf.data.Dataset.range(3))])

# %% tf.contrib.eager.metrics.Mean, tf.contrib.eager.metrics.Metric
tf.enable_eager_execution()
mean = tf.contrib.eager.metrics.Mean()
mean([1.0, 2.0])
mean(6.0)
print(float(mean.result()), isinstance(mean, tf.contrib.eager.metrics.Metric))

# %% tf.contrib.eager.metrics.Accuracy, tf.contrib.eager.metrics.BinaryAccuracy
# %% tf.contrib.eager.metrics.CategoricalAccuracy, tf.contrib.eager.metrics.SparseAccuracy
tf.enable_eager_execution()
made = tf.contrib.eager.metrics
exact, sides, rows, labels = (
    made.Accuracy(),
    made.BinaryAccuracy(0.5),
    made.CategoricalAccuracy(),
    made.SparseAccuracy(),
)
exact([1, 2], [1, 3])
sides([1.0, 0.0], [0.8, 0.3])
rows([[0.0, 1.0]], [[0.2, 0.8]])
labels([1], [[0.9, 0.1]])
print([float(metric.result()) for metric in (exact, sides, rows, labels)])

# %% tf.contrib.eager.in_eager_mode, tf.contrib.eager.executing_eagerly
# %% tf.contrib.eager.enable_eager_execution
tf.contrib.eager.enable_eager_execution()
print(tf.contrib.eager.in_eager_mode(), tf.contrib.eager.executing_eagerly())

# %% tf.contrib.eager.num_gpus, tf.contrib.eager.list_devices
print(tf.contrib.eager.num_gpus() >= 0, tf.contrib.eager.list_devices()[0])

# %% tf.contrib.eager.Saver
tf.enable_eager_execution()
v = tf.Variable([1.0, 2.0], name="v")
saver = tf.contrib.eager.Saver([v])
path = saver.save("model")
v.assign([0.0, 0.0])
saver.restore(path)
print(v.numpy())

# %% tf.contrib.eager.Checkpoint
tf.enable_eager_execution()
v = tf.Variable(1.0)
checkpoint = tf.contrib.eager.Checkpoint(v=v)
path = checkpoint.save("model")
v.assign(5.0)
checkpoint.restore(path).assert_consumed()
print(v.numpy())

# %% tf.contrib.eager.get_optimizer_variables
tf.enable_eager_execution()
v, optimizer = tf.Variable(1.0, name="v"), tf.train.AdamOptimizer(0.1)
optimizer.minimize(lambda: v * v)
print([state.name for state in tf.contrib.eager.get_optimizer_variables(optimizer)])

# %% tf.contrib.eager.make_template
tf.enable_eager_execution()
scale = tf.contrib.eager.make_template(
    "scale", lambda x: x * tf.get_variable("w", [], initializer=tf.ones_initializer())
)
print(float(scale(2.0)), float(scale(3.0)), len(scale.variables))

# %% tf.contrib.eager.TensorSpec
print(tf.contrib.eager.TensorSpec([None, 2], tf.float32))

# %% tf.contrib.eager.run
try:
    tf.contrib.eager.run(lambda argv: print(tf.executing_eagerly()), ["program"])
except SystemExit:
    pass
