"""Examples of functions that run as graphs."""

import tideflow as tf


# %% tf.function, tf.contrib.eager.function
@tf.function(autograph=False)
def distance(x, y):
    print("traced")
    return tf.sqrt(tf.reduce_sum(tf.square(x - y)))


tf.enable_eager_execution()
print(distance(tf.constant([0.0, 0.0]), tf.constant([3.0, 4.0])).numpy())
print(distance(tf.constant([1.0, 1.0]), tf.constant([1.0, 2.0])).numpy())

# %% tf.contrib.eager.defun
tf.enable_eager_execution()
double = tf.contrib.eager.defun(lambda x: x * 2.0, autograph=False)
print(double(tf.constant(21.0)).numpy())

# %% tf.config.experimental_run_functions_eagerly
tf.enable_eager_execution()
seen = []
noted = tf.function(lambda x: (seen.append(1), x)[1], autograph=False)
tf.config.experimental_run_functions_eagerly(True)
noted(tf.constant(1.0)), noted(tf.constant(1.0))
tf.config.experimental_run_functions_eagerly(False)
print(len(seen))

# %% tf.wrap_function
tf.enable_eager_execution()


def model(x):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    return tf.reduce_sum(w * x)


wrapped = tf.wrap_function(model, [tf.TensorSpec([2], tf.float32)])
print(wrapped(tf.constant([1.0, 2.0])).numpy(), [v.name for v in wrapped.variables])
