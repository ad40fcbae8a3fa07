"""Examples of tf.nn: convolutions, normalization, losses, embeddings and recurrent networks."""

import numpy as np

import tideflow as tf

# %% tf.nn.convolution
x = tf.reshape(tf.range(6.0), [1, 6, 1])
tf.squeeze(tf.nn.convolution(x, tf.ones([3, 1, 1]), padding="VALID"))

# %% tf.nn.conv1d
x = tf.reshape(tf.range(6.0), [1, 6, 1])
tf.squeeze(tf.nn.conv1d(x, tf.ones([2, 1, 1]), stride=1, padding="VALID"))

# %% tf.nn.conv1d_transpose
x = tf.ones([1, 3, 1])
tf.squeeze(tf.nn.conv1d_transpose(x, tf.ones([2, 1, 1]), output_shape=[1, 6, 1], strides=2))

# %% tf.nn.conv2d_transpose, tf.nn.conv_transpose
x = tf.ones([1, 2, 2, 1])
y = tf.nn.conv2d_transpose(x, tf.ones([2, 2, 1, 1]), output_shape=[1, 4, 4, 1], strides=[1, 2, 2, 1])
tf.squeeze(y)

# %% tf.nn.conv3d_transpose
x = tf.ones([1, 1, 2, 2, 1])
y = tf.nn.conv3d_transpose(x, tf.ones([1, 2, 2, 1, 1]), output_shape=[1, 1, 4, 4, 1], strides=[1, 1, 2, 2, 1])
tf.squeeze(y)

# %% tf.nn.atrous_conv2d, tf.nn.atrous_conv2d_transpose
x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
tf.squeeze(tf.nn.atrous_conv2d(x, tf.ones([2, 2, 1, 1]), rate=2, padding="VALID"))

# %% tf.nn.depthwise_conv2d
x = tf.ones([1, 3, 3, 2])
tf.squeeze(tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 2, 1]), strides=[1, 1, 1, 1], padding="VALID"))

# %% tf.nn.separable_conv2d
x = tf.ones([1, 3, 3, 2])
y = tf.nn.separable_conv2d(
    x, tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 1]), strides=[1, 1, 1, 1], padding="VALID"
)
tf.squeeze(y)

# %% tf.nn.with_space_to_batch
x = tf.reshape(tf.range(6.0), [1, 6, 1])
y = tf.nn.with_space_to_batch(
    x,
    [2],
    "VALID",
    lambda x, blocks, padding: tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, "VALID"),
    filter_shape=[2],
)
tf.squeeze(y)

# %% tf.nn.erosion2d
x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
y = tf.nn.erosion2d(x, tf.zeros([2, 2, 1]), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
tf.squeeze(y)

# %% tf.nn.max_pool
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
tf.squeeze(tf.nn.max_pool(x, ksize=2, strides=2, padding="VALID"))

# %% tf.nn.max_pool1d, tf.nn.avg_pool1d
x = tf.reshape(tf.range(4.0), [1, 4, 1])
tf.squeeze(tf.nn.max_pool1d(x, 2, 2, "VALID")), tf.squeeze(tf.nn.avg_pool1d(x, 2, 2, "VALID"))

# %% tf.nn.max_pool_v2, tf.nn.avg_pool_v2, tf.nn.pool
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
highest, mean = tf.nn.max_pool_v2(x, 2, 2, "VALID"), tf.nn.avg_pool_v2(x, 2, 2, "VALID")
tf.squeeze(highest), tf.squeeze(mean), tf.squeeze(tf.nn.pool(x, [2, 2], "AVG", "VALID", strides=[2, 2]))

# %% tf.nn.quantized_conv2d, tf.nn.quantized_max_pool, tf.nn.quantized_avg_pool, tf.nn.quantized_relu_x
steps = tf.bitcast(tf.constant(np.arange(16).reshape(1, 4, 4, 1), tf.uint8), tf.quint8)
pooled, low, high = tf.nn.quantized_max_pool(steps, 0.0, 255.0, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
tf.squeeze(tf.dequantize(pooled, low, high))

# %% tf.nn.batch_normalization, tf.nn.batch_norm_with_global_normalization
x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
mean, variance = tf.nn.moments(x, axes=[0])
tf.nn.batch_normalization(x, mean, variance, offset=0.0, scale=1.0, variance_epsilon=1e-5)

# %% tf.nn.moments
tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axes=[0])

# %% tf.nn.weighted_moments
tf.nn.weighted_moments(tf.constant([1.0, 2.0, 9.0]), axes=[0], frequency_weights=tf.constant([1.0, 1.0, 0.0]))

# %% tf.nn.sufficient_statistics, tf.nn.normalize_moments
count, total, squares, shift = tf.nn.sufficient_statistics(tf.constant([1.0, 2.0, 3.0]), axes=[0])
tf.nn.normalize_moments(count, total, squares, shift)

# %% tf.nn.l2_normalize
tf.nn.l2_normalize(tf.constant([3.0, 4.0]), axis=0)

# %% tf.nn.dropout
tf.nn.dropout(tf.ones([6]), rate=0.5, seed=1)

# %% tf.nn.relu_layer, tf.nn.xw_plus_b
x, w, b = tf.constant([[1.0, 2.0]]), tf.constant([[1.0], [-3.0]]), tf.constant([1.0])
tf.nn.xw_plus_b(x, w, b), tf.nn.relu_layer(x, w, b)

# %% tf.nn.swish
tf.nn.swish(tf.constant([-1.0, 0.0, 1.0]))

# %% tf.nn.zero_fraction
tf.nn.zero_fraction(tf.constant([0.0, 1.0, 0.0, 2.0]))

# %% tf.nn.sigmoid_cross_entropy_with_logits
tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[2.0, 2.0])

# %% tf.nn.weighted_cross_entropy_with_logits
tf.nn.weighted_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[2.0, 2.0], pos_weight=3.0)

# %% tf.nn.softmax_cross_entropy_with_logits, tf.nn.softmax_cross_entropy_with_logits_v2
tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[1.0, 3.0]])

# %% tf.nn.sparse_softmax_cross_entropy_with_logits
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=[[1.0, 3.0], [1.0, 3.0]])

# %% tf.nn.log_poisson_loss
tf.nn.log_poisson_loss(targets=[1.0, 2.0], log_input=[0.0, 0.5])

# %% tf.nn.compute_average_loss, tf.nn.scale_regularization_loss
loss = tf.nn.compute_average_loss(tf.constant([1.0, 2.0, 3.0]), global_batch_size=6)
loss, tf.nn.scale_regularization_loss(tf.constant(4.0))

# %% tf.nn.ctc_loss
labels = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, 1]), [1, 2])
tf.nn.ctc_loss(labels, tf.zeros([4, 1, 3]), sequence_length=[4])

# %% tf.nn.ctc_loss_v2
tf.nn.ctc_loss_v2(
    labels=[[1, 2]], logits=tf.zeros([4, 1, 3]), label_length=[2], logit_length=[4], blank_index=0
)

# %% tf.nn.ctc_beam_search_decoder_v2
logits = tf.constant([[[0.1, 3.0, 0.1]], [[0.1, 0.1, 3.0]], [[3.0, 0.1, 0.1]]])
(decoded,), log_probability = tf.nn.ctc_beam_search_decoder_v2(logits, sequence_length=[3])
tf.sparse.to_dense(decoded), log_probability

# %% tf.nn.collapse_repeated
tf.nn.collapse_repeated(tf.constant([[1, 1, 2, 2, 1]]), seq_length=[5])

# %% tf.nn.ctc_unique_labels
tf.nn.ctc_unique_labels(tf.constant([[3, 3, 5]]))

# %% tf.nn.embedding_lookup
table = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
tf.nn.embedding_lookup(table, [2, 0])

# %% tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse
table = tf.get_variable("table", initializer=[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
words = tf.SparseTensor(
    [[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2]
)  # two bags of words
(
    tf.nn.embedding_lookup_sparse(table, words, None, combiner="mean"),
    tf.nn.safe_embedding_lookup_sparse([table], words),
)

# %% tf.nn.nce_loss, tf.nn.sampled_softmax_loss
weights, biases = tf.random_normal([100, 4], seed=1), tf.zeros([100])
inputs, labels = tf.ones([2, 4]), tf.constant([[3], [7]], tf.int64)
candidates = tf.nn.uniform_candidate_sampler(labels, 1, 10, True, 100, seed=1)
nce = tf.nn.nce_loss(weights, biases, labels, inputs, 10, 100, sampled_values=candidates)
softmax = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 10, 100, sampled_values=candidates)
tf.shape(nce), tf.shape(softmax)

# %% tf.nn.dynamic_rnn
cell = tf.nn.rnn_cell.GRUCell(4)
outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), sequence_length=[5, 2], dtype=tf.float32)
print(outputs.shape, state.shape)

# %% tf.nn.bidirectional_dynamic_rnn
forward, backward = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
outputs, states = tf.nn.bidirectional_dynamic_rnn(forward, backward, tf.ones([2, 5, 3]), dtype=tf.float32)
print(tf.concat(outputs, axis=2).shape)

# %% tf.nn.static_rnn
outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(4), [tf.ones([2, 3])] * 5, dtype=tf.float32)
print(len(outputs), outputs[0].shape)

# %% tf.nn.static_bidirectional_rnn
forward, backward = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
outputs, last, first = tf.nn.static_bidirectional_rnn(
    forward, backward, [tf.ones([2, 3])] * 5, dtype=tf.float32
)
print(outputs[0].shape)


# %% tf.nn.static_state_saving_rnn
class Saver:
    """Keeps the state of a sequence between the steps of training."""

    def state(self, name):
        return tf.zeros([2, 4])

    def save_state(self, name, value):
        return tf.no_op()


outputs, state = tf.nn.static_state_saving_rnn(
    tf.nn.rnn_cell.GRUCell(4), [tf.ones([2, 3])] * 5, Saver(), "state"
)
print(len(outputs), state.shape)

# %% tf.nn.raw_rnn
cell = tf.nn.rnn_cell.BasicRNNCell(4)
inputs = tf.ones([5, 2, 3])


def step(time, output, state, loop_state):
    done = time >= 5
    following = tf.cond(done, lambda: tf.zeros([2, 3]), lambda: inputs[time])
    state = cell.zero_state(2, tf.float32) if output is None else state
    return tf.fill([2], done), following, state, output, None


outputs, state, _ = tf.nn.raw_rnn(cell, step)
tf.shape(outputs.stack())

# %% tf.nn.rnn_cell.RNNCell, tf.nn.rnn_cell.BasicRNNCell
cell = tf.nn.rnn_cell.BasicRNNCell(4)
output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
print(isinstance(cell, tf.nn.rnn_cell.RNNCell), cell.output_size, output.shape)

# %% tf.nn.rnn_cell.GRUCell
cell = tf.nn.rnn_cell.GRUCell(4)
output, state = cell(tf.ones([2, 3]), tf.zeros([2, 4]))
print([v.name for v in cell.variables])

# %% tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.BasicLSTMCell, tf.nn.rnn_cell.LSTMStateTuple
cell = tf.nn.rnn_cell.LSTMCell(4)
state = tf.nn.rnn_cell.LSTMStateTuple(c=tf.zeros([2, 4]), h=tf.zeros([2, 4]))
output, state = cell(tf.ones([2, 3]), state)
print(output.shape, state.c.shape)

# %% tf.nn.rnn_cell.MultiRNNCell
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(size) for size in (8, 4)])
print(cell.state_size, cell.output_size)

# %% tf.nn.rnn_cell.DropoutWrapper, tf.nn.rnn_cell.ResidualWrapper, tf.nn.rnn_cell.DeviceWrapper
cell = tf.nn.rnn_cell.GRUCell(3)
cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5)
cell = tf.nn.rnn_cell.ResidualWrapper(cell)
cell = tf.nn.rnn_cell.DeviceWrapper(cell, "/cpu:0")
output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
print(output.shape)
