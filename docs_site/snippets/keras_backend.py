"""Examples of tf.keras.backend."""

import numpy as np

import tideflow as tf

# %% tf.keras.backend.floatx, tf.keras.backend.set_floatx, tf.keras.backend.epsilon
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.floatx())
print(K.set_floatx("float32"))
print(K.epsilon())

# %% tf.keras.backend.set_epsilon, tf.keras.backend.image_data_format
K = tf.keras.backend
print(K.set_epsilon(1e-7))
print(K.image_data_format())

# %% tf.keras.backend.set_image_data_format, tf.keras.backend.get_uid, tf.keras.backend.reset_uids
K = tf.keras.backend
print(K.set_image_data_format("channels_last"))
print(K.get_uid("word"))
print(K.reset_uids())

# %% tf.keras.backend.learning_phase, tf.keras.backend.set_learning_phase
K = tf.keras.backend
print(K.learning_phase())
print(K.set_learning_phase(0))

# %% tf.keras.backend.get_session, tf.keras.backend.set_session, tf.keras.backend.clear_session
K = tf.keras.backend
print(type(K.get_session()).__name__)
print(K.set_session(tf.Session()))
print(K.clear_session())

# %% tf.keras.backend.manual_variable_initialization, tf.keras.backend.get_value
K = tf.keras.backend
v = K.variable([1.0])
print(K.manual_variable_initialization(False))
print(K.get_value(v))

# %% tf.keras.backend.batch_get_value, tf.keras.backend.set_value, tf.keras.backend.batch_set_value
K = tf.keras.backend
v = K.variable([1.0])
print(K.batch_get_value([v]))
print(K.set_value(v, [2.0]))
print(K.batch_set_value([(v, [2.0])]))

# %% tf.keras.backend.categorical_crossentropy, tf.keras.backend.sparse_categorical_crossentropy
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.categorical_crossentropy(x, x))
print(K.sparse_categorical_crossentropy(tf.constant([0, 1]), x))

# %% tf.keras.backend.binary_crossentropy, tf.keras.backend.backend, tf.keras.backend.cast
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.binary_crossentropy(x, x))
print(K.backend())
print(K.cast(x, "int32"))

# %% tf.keras.backend.cast_to_floatx, tf.keras.backend.dtype, tf.keras.backend.shape
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.cast_to_floatx(x))
print(K.dtype(x))
print(K.shape(x))

# %% tf.keras.backend.int_shape, tf.keras.backend.ndim, tf.keras.backend.count_params
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.int_shape(x))
print(K.ndim(x))
print(K.count_params(x))

# %% tf.keras.backend.is_sparse, tf.keras.backend.to_dense, tf.keras.backend.constant
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.is_sparse(x))
print(K.to_dense(x))
print(K.constant([1.0]))

# %% tf.keras.backend.placeholder, tf.keras.backend.variable, tf.keras.backend.zeros
K = tf.keras.backend
print(K.placeholder((2,)).shape)
print(K.eval(K.variable([1.0])))
print(K.eval(K.zeros((2,))))

# %% tf.keras.backend.zeros_like, tf.keras.backend.ones, tf.keras.backend.ones_like
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.zeros_like(x))
print(K.eval(K.ones((2,))))
print(K.ones_like(x))

# %% tf.keras.backend.eye, tf.keras.backend.random_uniform_variable
K = tf.keras.backend
print(K.eval(K.eye(2)))
print(K.random_uniform_variable((2,), 0.0, 1.0).shape)

# %% tf.keras.backend.random_normal_variable, tf.keras.backend.random_normal
K = tf.keras.backend
print(K.random_normal_variable((2,), 0.0, 1.0).shape)
print(K.random_normal((2,)).shape)

# %% tf.keras.backend.random_uniform, tf.keras.backend.random_binomial
K = tf.keras.backend
print(K.random_uniform((2,)).shape)
print(K.random_binomial((2,)).shape)

# %% tf.keras.backend.truncated_normal, tf.keras.backend.update, tf.keras.backend.update_add
K = tf.keras.backend
v = K.variable([1.0])
print(K.truncated_normal((2,)).shape)
print(K.eval(K.update(v, [2.0])))
print(K.eval(K.update_add(v, [2.0])))

# %% tf.keras.backend.update_sub, tf.keras.backend.moving_average_update, tf.keras.backend.gather
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
v = K.variable([1.0])
print(K.eval(K.update_sub(v, [2.0])))
average = K.moving_average_update(v, [2.0], 0.5)
K.get_session().run(tf.global_variables_initializer())
print(K.eval(average))
print(K.gather(x, [1]))

# %% tf.keras.backend.concatenate, tf.keras.backend.reshape, tf.keras.backend.permute_dimensions
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.concatenate([x, x]))
print(K.reshape(x, (4,)))
print(K.permute_dimensions(x, (1, 0)))

# %% tf.keras.backend.flatten, tf.keras.backend.batch_flatten, tf.keras.backend.expand_dims
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.flatten(x))
print(K.batch_flatten(x))
print(K.expand_dims(x))

# %% tf.keras.backend.squeeze, tf.keras.backend.stack, tf.keras.backend.one_hot
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.squeeze(x[:1], 0))
print(K.stack([x, x]))
print(K.one_hot(tf.constant([1]), 3))

# %% tf.keras.backend.reverse, tf.keras.backend.tile, tf.keras.backend.repeat
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.reverse(x, 0))
print(K.tile(x, [1, 2]))
print(K.repeat(x, 2))

# %% tf.keras.backend.repeat_elements, tf.keras.backend.arange, tf.keras.backend.stop_gradient
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.repeat_elements(x, 2, 0))
print(K.arange(3))
print(K.stop_gradient(x))

# %% tf.keras.backend.gradients, tf.keras.backend.eval, tf.keras.backend.print_tensor
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.gradients(tf.reduce_sum(x * x), [x]))
print(K.eval(x))
print(K.print_tensor(x))

# %% tf.keras.backend.map_fn, tf.keras.backend.foldl, tf.keras.backend.foldr
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.map_fn(lambda row: row * 2.0, x))
print(K.foldl(lambda a, b: a + b, x))
print(K.foldr(lambda a, b: a + b, x))

# %% tf.keras.backend.in_train_phase, tf.keras.backend.in_test_phase, tf.keras.backend.switch
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.in_train_phase(x, x * 2.0, training=True))
print(K.in_test_phase(x, x * 2.0, training=True))
print(K.switch(tf.constant(True), x, x * 2.0))

# %% tf.keras.backend.abs, tf.keras.backend.sqrt, tf.keras.backend.exp, tf.keras.backend.log
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.abs(x))
print(K.sqrt(x))
print(K.exp(x))
print(K.log(x))

# %% tf.keras.backend.square, tf.keras.backend.sign, tf.keras.backend.sin, tf.keras.backend.cos
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.square(x))
print(K.sign(x))
print(K.sin(x))
print(K.cos(x))

# %% tf.keras.backend.round, tf.keras.backend.transpose, tf.keras.backend.pow, tf.keras.backend.equal
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.round(x))
print(K.transpose(x))
print(K.pow(x, 2.0))
print(K.equal(x, x))

# %% tf.keras.backend.not_equal, tf.keras.backend.greater, tf.keras.backend.greater_equal
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.not_equal(x, x))
print(K.greater(x, x))
print(K.greater_equal(x, x))

# %% tf.keras.backend.less, tf.keras.backend.less_equal, tf.keras.backend.maximum
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.less(x, x))
print(K.less_equal(x, x))
print(K.maximum(x, x))

# %% tf.keras.backend.minimum, tf.keras.backend.clip, tf.keras.backend.max, tf.keras.backend.min
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.minimum(x, x))
print(K.clip(x, 2.0, 3.0))
print(K.max(x))
print(K.min(x))

# %% tf.keras.backend.sum, tf.keras.backend.prod, tf.keras.backend.mean, tf.keras.backend.var
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.sum(x))
print(K.prod(x))
print(K.mean(x))
print(K.var(x))

# %% tf.keras.backend.std, tf.keras.backend.any, tf.keras.backend.all, tf.keras.backend.cumsum
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.std(x))
print(K.any(x > 3.0))
print(K.all(x > 3.0))
print(K.cumsum(x))

# %% tf.keras.backend.cumprod, tf.keras.backend.argmax, tf.keras.backend.argmin, tf.keras.backend.dot
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.cumprod(x))
print(K.argmax(x))
print(K.argmin(x))
print(K.dot(x, x))

# %% tf.keras.backend.batch_dot, tf.keras.backend.softmax, tf.keras.backend.l2_normalize
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.batch_dot(x, x))
print(K.softmax(x))
print(K.l2_normalize(x))

# %% tf.keras.backend.in_top_k, tf.keras.backend.dropout, tf.keras.backend.bias_add
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.in_top_k(x, [1, 1], 1))
print(K.dropout(x, 0.5).shape)
print(K.bias_add(x, tf.constant([1.0, 2.0])))

# %% tf.keras.backend.temporal_padding, tf.keras.backend.batch_normalization
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.temporal_padding(tf.ones([1, 2, 2])).shape)
print(K.batch_normalization(x, 1.0, 1.0, None, None))

# %% tf.keras.backend.normalize_batch_in_training
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.normalize_batch_in_training(x, None, None, [0])[1])

# %% tf.keras.backend.conv1d, tf.keras.backend.conv2d, tf.keras.backend.conv3d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.conv1d(tf.ones([1, 4, 2]), tf.ones([2, 2, 3])).shape)
print(K.conv2d(image, tf.ones([2, 2, 2, 3])).shape)
print(K.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([2, 2, 2, 2, 3])).shape)

# %% tf.keras.backend.conv2d_transpose, tf.keras.backend.separable_conv2d, tf.keras.backend.pool2d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.conv2d_transpose(image, tf.ones([2, 2, 3, 2]), (1, 5, 5, 3)).shape)
print(K.separable_conv2d(image, tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 3])).shape)
print(K.pool2d(image, (2, 2)).shape)

# %% tf.keras.backend.pool3d, tf.keras.backend.spatial_2d_padding, tf.keras.backend.spatial_3d_padding
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.pool3d(tf.ones([1, 4, 4, 4, 2]), (2, 2, 2)).shape)
print(K.spatial_2d_padding(image).shape)
print(K.spatial_3d_padding(tf.ones([1, 2, 2, 2, 1])).shape)

# %% tf.keras.backend.resize_images, tf.keras.backend.resize_volumes, tf.keras.backend.local_conv1d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.resize_images(image, 2, 2, "channels_last").shape)
print(K.resize_volumes(tf.ones([1, 2, 2, 2, 1]), 2, 2, 2, "channels_last").shape)
print(K.local_conv1d(tf.ones([1, 4, 2]), tf.ones([3, 4, 5]), (2,), (1,)).shape)

# %% tf.keras.backend.local_conv2d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.local_conv2d(image, tf.ones([9, 8, 5]), (2, 2), (1, 1), (3, 3)).shape)

# %% tf.keras.backend.learning_phase_scope
with tf.keras.backend.learning_phase_scope(1):
    print(tf.keras.backend.learning_phase())

# %% tf.keras.backend.function
x = tf.keras.backend.placeholder((None, 2))
double = tf.keras.backend.function([x], [x * 2.0])
print(double([np.ones((1, 2))])[0])

# %% tf.keras.backend.ctc_label_dense_to_sparse
labels = tf.keras.backend.ctc_label_dense_to_sparse(tf.constant([[1, 2, 0]]), tf.constant([2]))
print(tf.keras.backend.eval(labels).values)

# %% tf.keras.backend.ctc_batch_cost
K = tf.keras.backend
scores = tf.nn.softmax(tf.ones([1, 4, 3]))
print(K.eval(K.ctc_batch_cost(tf.constant([[0, 1]]), scores, tf.constant([[4]]), tf.constant([[2]]))))

# %% tf.keras.backend.ctc_decode
K = tf.keras.backend
scores = tf.constant([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]])
paths, _ = K.ctc_decode(scores, tf.constant([2]))
print(K.eval(paths[0]))


# %% tf.keras.backend.rnn
def step(inputs, states):
    total = inputs + states[0]
    return total, [total]


last, _, _ = tf.keras.backend.rnn(step, tf.ones([1, 4, 2]), [tf.zeros([1, 2])])
print(tf.keras.backend.eval(last))
