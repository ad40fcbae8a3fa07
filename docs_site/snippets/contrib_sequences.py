"""Examples of tf.contrib.rnn and tf.contrib.seq2seq."""

import tideflow as tf

# %% tf.contrib.rnn.LayerRNNCell, tf.contrib.rnn.NASCell, tf.contrib.rnn.UGRNNCell,
# %% tf.contrib.rnn.IntersectionRNNCell, tf.contrib.rnn.CoupledInputForgetGateLSTMCell,
# %% tf.contrib.rnn.LayerNormBasicLSTMCell
for cell in (
    tf.contrib.rnn.NASCell(4),
    tf.contrib.rnn.UGRNNCell(4),
    tf.contrib.rnn.LayerNormBasicLSTMCell(4),
):
    output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 4]), dtype=tf.float32, scope=type(cell).__name__)
    print(type(cell).__name__, output.shape)

# %% tf.contrib.rnn.GRUBlockCell, tf.contrib.rnn.GRUBlockCellV2, tf.contrib.rnn.LSTMBlockCell
cell = tf.contrib.rnn.LSTMBlockCell(4)
output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
print(output.shape, state.c.shape)

# %% tf.contrib.rnn.LSTMBlockFusedCell, tf.contrib.rnn.LSTMBlockWrapper, tf.contrib.rnn.FusedRNNCell,
# %% tf.contrib.rnn.FusedRNNCellAdaptor, tf.contrib.rnn.TimeReversedFusedRNN
lstm = tf.contrib.rnn.LSTMBlockFusedCell(4)
backward = tf.contrib.rnn.TimeReversedFusedRNN(lstm)
output, state = backward(tf.ones([5, 2, 3]), dtype=tf.float32)  # time first
print(output.shape)

# %% tf.contrib.rnn.ConvLSTMCell, tf.contrib.rnn.Conv1DLSTMCell, tf.contrib.rnn.Conv2DLSTMCell,
# %% tf.contrib.rnn.Conv3DLSTMCell
cell = tf.contrib.rnn.Conv2DLSTMCell(input_shape=[8, 8, 1], output_channels=4, kernel_shape=[3, 3])
output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 8, 8, 1]), dtype=tf.float32)
print(output.shape)

# %% tf.contrib.rnn.AttentionCellWrapper, tf.contrib.rnn.HighwayWrapper,
# %% tf.contrib.rnn.InputProjectionWrapper, tf.contrib.rnn.OutputProjectionWrapper
cell = tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(4), attn_length=3, state_is_tuple=True)
cell = tf.contrib.rnn.OutputProjectionWrapper(cell, 2)
output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
print(output.shape)

# %% tf.contrib.rnn.EmbeddingWrapper
cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(4), embedding_classes=10, embedding_size=3)
output, state = cell(tf.constant([[1], [2]]), cell.zero_state(2, tf.float32))
print(output.shape)

# %% tf.contrib.rnn.stack_bidirectional_dynamic_rnn, tf.contrib.rnn.stack_bidirectional_rnn
forward, backward = ([tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2))
output, first, last = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
    forward, backward, tf.ones([2, 5, 3]), dtype=tf.float32
)
print(output.shape)

# %% tf.contrib.rnn.best_effort_input_batch_size, tf.contrib.rnn.transpose_batch_time
x = tf.zeros([2, 5, 3])
turned = tf.contrib.rnn.transpose_batch_time(x)
print(turned.shape, tf.contrib.rnn.best_effort_input_batch_size([turned]))

# %% tf.contrib.seq2seq.BasicDecoder, tf.contrib.seq2seq.BasicDecoderOutput, tf.contrib.seq2seq.Decoder,
# %% tf.contrib.seq2seq.dynamic_decode, tf.contrib.seq2seq.TrainingHelper, tf.contrib.seq2seq.Helper
cell = tf.nn.rnn_cell.GRUCell(4)
helper = tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 5, 3]), sequence_length=[5, 3])
decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(10))
outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(outputs).rnn_output.shape, sess.run(lengths))

# %% tf.contrib.seq2seq.GreedyEmbeddingHelper, tf.contrib.seq2seq.SampleEmbeddingHelper,
# %% tf.contrib.seq2seq.InferenceHelper, tf.contrib.seq2seq.CustomHelper
cell, table = tf.nn.rnn_cell.GRUCell(4), tf.get_variable("table", [10, 3])
helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, start_tokens=[1, 1], end_token=0)
decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(10))
outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(outputs.sample_id).shape[0])

# %% tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper, tf.contrib.seq2seq.ScheduledOutputTrainingHelper
table = tf.get_variable("table", [10, 3])
helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
    tf.ones([2, 5, 3]), sequence_length=[5, 3], embedding=table, sampling_probability=0.1
)
print(helper.sample_ids_dtype)

# %% tf.contrib.seq2seq.AttentionMechanism, tf.contrib.seq2seq.AttentionWrapper,
# %% tf.contrib.seq2seq.AttentionWrapperState, tf.contrib.seq2seq.LuongAttention,
# %% tf.contrib.seq2seq.BahdanauAttention, tf.contrib.seq2seq.LuongMonotonicAttention,
# %% tf.contrib.seq2seq.BahdanauMonotonicAttention
memory = tf.ones([2, 7, 4])  # what an encoder gave
attention = tf.contrib.seq2seq.LuongAttention(num_units=4, memory=memory, memory_sequence_length=[7, 3])
cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=5)
output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
print(output.shape, state.alignments.shape)

# %% tf.contrib.seq2seq.BeamSearchDecoder, tf.contrib.seq2seq.BeamSearchDecoderOutput,
# %% tf.contrib.seq2seq.BeamSearchDecoderState, tf.contrib.seq2seq.FinalBeamSearchDecoderOutput,
# %% tf.contrib.seq2seq.tile_batch
cell, table = tf.nn.rnn_cell.GRUCell(4), tf.get_variable("table", [10, 3])
state = tf.contrib.seq2seq.tile_batch(tf.zeros([2, 4]), multiplier=3)
decoder = tf.contrib.seq2seq.BeamSearchDecoder(
    cell,
    table,
    start_tokens=[1, 1],
    end_token=0,
    initial_state=state,
    beam_width=3,
    output_layer=tf.layers.Dense(10),
)
outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(outputs.predicted_ids).shape[::2])

# %% tf.contrib.seq2seq.hardmax
tf.contrib.seq2seq.hardmax(tf.constant([[1.0, 5.0, 2.0]]))

# %% tf.contrib.seq2seq.monotonic_attention
choose, previous = tf.constant([[0.5, 0.5, 1.0]]), tf.constant([[1.0, 0.0, 0.0]])
tf.contrib.seq2seq.monotonic_attention(choose, previous, mode="recursive")

# %% tf.contrib.seq2seq.safe_cumprod
tf.contrib.seq2seq.safe_cumprod(tf.constant([0.5, 0.5, 0.5]))

# %% tf.contrib.seq2seq.sequence_loss
logits, words = tf.zeros([1, 3, 10]), tf.constant([[1, 2, 3]])
tf.contrib.seq2seq.sequence_loss(logits, words, weights=tf.constant([[1.0, 1.0, 0.0]]))
