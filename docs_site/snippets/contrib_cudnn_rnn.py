"""Examples of tf.contrib.cudnn_rnn."""

import tideflow as tf

# %% tf.contrib.cudnn_rnn.CudnnLSTM, tf.contrib.cudnn_rnn.CudnnGRU, tf.contrib.cudnn_rnn.CudnnRNNTanh
# %% tf.contrib.cudnn_rnn.CudnnRNNRelu
x = tf.random_normal([7, 2, 3])  # seven steps of two sequences
lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=2, num_units=4, direction="bidirectional")
outputs, (h, c) = lstm(x, sequence_lengths=[7, 4])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(outputs).shape, sess.run(h).shape)

# %% tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell, tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell
cells = [tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4) for _ in range(2)]
with tf.variable_scope("cudnn_lstm"):  # it reads the checkpoint of a CudnnLSTM(2, 4)
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.zeros([2, 7, 3]), dtype=tf.float32)
print(tf.global_variables()[0].name)

# %% tf.contrib.cudnn_rnn.CudnnLSTMSaveable, tf.contrib.cudnn_rnn.CudnnGRUSaveable
# %% tf.contrib.cudnn_rnn.CudnnRNNTanhSaveable, tf.contrib.cudnn_rnn.CudnnRNNReluSaveable
lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=1, num_units=4)
lstm(tf.zeros([7, 2, 3]))
for spec in lstm.saveable.specs:
    print(spec.name, spec.tensor.shape)

# %% tf.contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM, tf.contrib.cudnn_rnn.CudnnParamsFormatConverterGRU
# %% tf.contrib.cudnn_rnn.CudnnParamsFormatConverterTanh
# %% tf.contrib.cudnn_rnn.CudnnParamsFormatConverterRelu
convert = tf.contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM(num_layers=1, num_units=4, input_size=3)
opaque = convert.tf_canonical_to_opaque([tf.zeros([7, 16]), tf.zeros([16])])
weights, biases = convert.opaque_to_tf_canonical(opaque)
print(opaque.shape, weights[0].shape, biases[0].shape)
