"""Examples of tf.contrib.opt and tf.contrib.image that came later, and of some small parts of tf.contrib."""

import numpy as np

import tideflow as tf

# %% tf.contrib.image.rotate
image = tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
tf.contrib.image.rotate(image, np.pi / 2)

# %% tf.contrib.image.translate
image = tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
tf.contrib.image.translate(image, [1, 0])

# %% tf.contrib.image.transform
image = tf.constant([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
every_other = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]
tf.contrib.image.transform(image, every_other, output_shape=[2, 2])

# %% tf.contrib.image.angles_to_projective_transforms
transforms = tf.contrib.image.angles_to_projective_transforms(np.pi / 2, image_height=3.0, image_width=3.0)
with tf.Session() as sess:
    print(sess.run(transforms).round(3) + 0)

# %% tf.contrib.image.translations_to_projective_transforms
tf.contrib.image.translations_to_projective_transforms([[1, 0], [0, 2]])

# %% tf.contrib.image.compose_transforms
right = tf.contrib.image.translations_to_projective_transforms([1, 0])
down = tf.contrib.image.translations_to_projective_transforms([0, 2])
both = tf.contrib.image.compose_transforms(right, down)
tf.contrib.image.transform(tf.constant([[1, 2], [3, 4]]), both, output_shape=[4, 3])

# %% tf.contrib.image.flat_transforms_to_matrices, tf.contrib.image.matrices_to_flat_transforms
matrices = tf.contrib.image.flat_transforms_to_matrices([[1.0, 0.0, -1.0, 0.0, 1.0, -2.0, 0.0, 0.0]])
back = tf.contrib.image.matrices_to_flat_transforms(tf.matrix_inverse(matrices))
with tf.Session() as sess:
    print(sess.run(matrices))
    print(sess.run(back))

# %% tf.contrib.image.connected_components
tf.contrib.image.connected_components([[1, 1, 0], [0, 0, 0], [2, 0, 1]])

# %% tf.contrib.image.bipartite_match
distances = [[0.5, 0.1, 0.9], [0.3, 0.2, 0.8]]
of_rows, of_columns = tf.contrib.image.bipartite_match(distances, num_valid_rows=-1.0)
with tf.Session() as sess:
    print(sess.run(of_rows), sess.run(of_columns))

# %% tf.contrib.image.interpolate_spline
points = tf.constant([[[0.0], [1.0], [3.0]]])
values = tf.constant([[[0.0], [2.0], [6.0]]])
queries = tf.constant([[[0.5], [2.0]]])
found = tf.contrib.image.interpolate_spline(points, values, queries, order=1)
with tf.Session() as sess:
    print(sess.run(found).round(3).tolist())

# %% tf.contrib.image.dense_image_warp
image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
flow = tf.tile([[[[0.0, 0.5]]]], [1, 3, 3, 1])  # half a pixel to the right
tf.contrib.image.dense_image_warp(image, flow)[0, :, :, 0]

# %% tf.contrib.image.sparse_image_warp
image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
old, new = tf.constant([[[1.0, 1.0]]]), tf.constant([[[1.0, 2.0]]])
warped, flow = tf.contrib.image.sparse_image_warp(image, old, new, num_boundary_points=1)
with tf.Session() as sess:
    print(sess.run(flow)[0, 1].round(2) + 0)
    print(sess.run(warped)[0, 1, :, 0].round(2))

# %% tf.contrib.resampler.resampler
image = tf.reshape(tf.range(6.0), [1, 2, 3, 1])
places = [[[0.0, 0.0], [1.5, 0.5], [9.0, 9.0]]]  # x and y of each; the last is outside
tf.contrib.resampler.resampler(image, places)

# %% tf.contrib.periodic_resample.periodic_resample
tf.contrib.periodic_resample.periodic_resample([[0, 1, 2, 3], [4, 5, 6, 7]], [4, None])

# %% tf.contrib.memory_stats.BytesInUse, tf.contrib.memory_stats.MaxBytesInUse,
# %% tf.contrib.memory_stats.BytesLimit
with tf.device("/gpu:0"):
    used = tf.contrib.memory_stats.BytesInUse()
    most = tf.contrib.memory_stats.MaxBytesInUse()
    limit = tf.contrib.memory_stats.BytesLimit()
if tf.test.is_gpu_available():
    with tf.Session() as sess:
        now, peak, all_there_is = sess.run([used, most, limit])
    print(now <= peak <= all_there_is)
else:
    print("only a GPU counts:", used.op.device)

# %% tf.contrib.opt.AdamGSOptimizer
global_step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.contrib.opt.AdamGSOptimizer(global_step, learning_rate=0.1)
step = optimizer.minimize(tf.square(w), global_step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(*sess.run([w, global_step]))

# %% tf.contrib.opt.LazyAdamGSOptimizer
global_step = tf.train.get_or_create_global_step()
rows = tf.get_variable("rows", initializer=[[1.0], [2.0], [3.0]])
loss = tf.reduce_sum(tf.gather(rows, [2]))
step = tf.contrib.opt.LazyAdamGSOptimizer(global_step, learning_rate=0.1).minimize(loss, global_step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(rows))

# %% tf.contrib.opt.GGTOptimizer
w = tf.get_variable("w", initializer=[5.0, -3.0])
loss = tf.reduce_sum(tf.square(w))
step = tf.contrib.opt.GGTOptimizer(learning_rate=0.1, window=3).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    before = sess.run(loss)
    for _ in range(5):
        sess.run(step)
    print(sess.run(loss) < before)

# %% tf.contrib.opt.ShampooOptimizer
global_step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=[[2.0, 0.0], [0.0, 1.0]])
loss = tf.reduce_sum(tf.square(w))
step = tf.contrib.opt.ShampooOptimizer(global_step, learning_rate=0.1).minimize(loss, global_step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w).round(2) + 0)

# %% tf.contrib.opt.RegAdagradOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.contrib.opt.RegAdagradOptimizer(0.1)
step = optimizer.minimize(tf.square(w))
with optimizer.avoid_updating_slots():
    penalty_step = optimizer.minimize(tf.abs(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for each in (step, penalty_step):
        sess.run(each)
        print(*sess.run([w, optimizer.get_slot(w, "accumulator")]))

# %% tf.contrib.opt.DropStaleGradientOptimizer
global_step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.contrib.opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.1), staleness=0)
dropped = optimizer.minimize(tf.square(w), global_step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(dropped), sess.run(w))

# %% tf.contrib.opt.MultitaskOptimizerWrapper
w = tf.get_variable("w", initializer=5.0)
trains_this_task = tf.placeholder(tf.float32, [])
optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, momentum=0.9))
step = optimizer.minimize(trains_this_task * tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for turn in (1.0, 0.0):
        sess.run(step, {trains_this_task: turn})
        print(sess.run(w))  # without the wrapper, momentum moves it in the second step as well

# %% tf.contrib.opt.VariableClippingOptimizer
rows = tf.get_variable("rows", initializer=[[3.0, 4.0], [0.3, 0.4]])
optimizer = tf.contrib.opt.VariableClippingOptimizer(
    tf.train.GradientDescentOptimizer(0.0), vars_to_clip_dims={rows: [1]}, max_norm=1.0
)
step = optimizer.minimize(tf.reduce_sum(rows))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(rows))

# %% tf.contrib.opt.AGNOptimizer, tf.contrib.opt.AGNCustomGetter
getter = tf.contrib.opt.AGNCustomGetter(worker_device="/cpu:0")
with tf.variable_scope("model", custom_getter=getter):
    w = tf.get_variable("w", initializer=5.0)
optimizer = tf.contrib.opt.AGNOptimizer(
    tf.train.GradientDescentOptimizer(0.1), num_worker=1, custom_getter=getter, communication_period=2
)
step = optimizer.minimize(tf.square(w))
(center,) = tf.global_variables()
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    sess.run(optimizer.get_init_op(task_index=0))
    for _ in range(2):
        sess.run(step)
        print(*sess.run([w, center]))
