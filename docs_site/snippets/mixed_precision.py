"""Examples of mixed precision."""

import numpy as np

import tideflow as tf

# %% tf.train.experimental.enable_mixed_precision_graph_rewrite
# %% tf.train.experimental.disable_mixed_precision_graph_rewrite
w = tf.get_variable("w", initializer=[[1.0, 2.0]])
optimizer = tf.train.GradientDescentOptimizer(0.1)
optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer, 64.0)
step = optimizer.minimize(tf.reduce_sum(tf.matmul(w, w, transpose_b=True)))
with tf.Session() as sess:  # products are in float16 where this runs on a GPU
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))
tf.train.experimental.disable_mixed_precision_graph_rewrite()

# %% tf.contrib.mixed_precision.LossScaleManager, tf.contrib.mixed_precision.FixedLossScaleManager
manager = tf.contrib.mixed_precision.FixedLossScaleManager(128)
print(isinstance(manager, tf.contrib.mixed_precision.LossScaleManager))
manager.get_loss_scale()

# %% tf.contrib.mixed_precision.LossScaleOptimizer,
# %% tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager
w = tf.get_variable("w", initializer=5.0)
manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(16.0, incr_every_n_steps=1)
optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
step = optimizer.minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run([w, manager.get_loss_scale()]))

# %% tf.keras.mixed_precision.experimental.LossScaleOptimizer
optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), 64.0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
model.compile(optimizer, "mse")
model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
optimizer.loss_scale.get_config()
