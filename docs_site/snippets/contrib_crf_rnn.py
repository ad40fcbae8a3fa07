"""Examples of tf.contrib.crf, tf.contrib.legacy_seq2seq, the rarer cells of tf.contrib.rnn, and GDN."""

import numpy as np

import tideflow as tf

# %% tf.contrib.crf.crf_log_likelihood
scores = tf.constant([[[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]])  # one example of three steps, two tags
transitions = tf.constant([[1.0, 0.0], [0.0, 1.0]])  # tags like to stay
tags, lengths = tf.constant([[0, 0, 0]]), tf.constant([3])
likelihood, _ = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths, transitions)
tf.exp(likelihood)

# %% tf.contrib.crf.crf_decode
scores = tf.constant([[[2.0, 0.0], [0.0, 0.5], [3.0, 0.0]]])
transitions = tf.constant([[1.0, 0.0], [0.0, 1.0]])
tags, score = tf.contrib.crf.crf_decode(scores, transitions, tf.constant([3]))
with tf.Session() as sess:
    print(*sess.run([tags, score]))  # staying is worth more than the better score of the second step

# %% tf.contrib.crf.viterbi_decode
scores = np.array([[2.0, 0.0], [0.0, 0.5], [3.0, 0.0]])
tags, score = tf.contrib.crf.viterbi_decode(scores, transition_params=np.eye(2))
print([int(tag) for tag in tags], float(score))

# %% tf.contrib.crf.crf_sequence_score, tf.contrib.crf.crf_unary_score, tf.contrib.crf.crf_binary_score
scores = tf.constant([[[2.0, 0.0], [0.0, 0.5], [3.0, 0.0]]])
transitions = tf.constant([[1.0, 0.0], [0.0, 1.0]])
tags, lengths = tf.constant([[0, 0, 0]]), tf.constant([3])
unary = tf.contrib.crf.crf_unary_score(tags, lengths, scores)
binary = tf.contrib.crf.crf_binary_score(tags, lengths, transitions)
total = tf.contrib.crf.crf_sequence_score(scores, tags, lengths, transitions)
with tf.Session() as sess:
    print(*sess.run([unary, binary, total]))

# %% tf.contrib.crf.crf_log_norm, tf.contrib.crf.crf_multitag_sequence_score
scores, transitions, lengths = tf.zeros([1, 3, 2]), tf.zeros([2, 2]), tf.constant([3])
everything = tf.contrib.crf.crf_log_norm(scores, lengths, transitions)
allowed = tf.constant([[[True, True], [True, False], [True, True]]])  # one tag only in the second step
some = tf.contrib.crf.crf_multitag_sequence_score(scores, allowed, lengths, transitions)
with tf.Session() as sess:
    print(*sess.run([tf.exp(everything), tf.exp(some)]))  # how many sequences there are, and are allowed

# %% tf.contrib.crf.CrfForwardRnnCell
cell = tf.contrib.crf.CrfForwardRnnCell(tf.zeros([2, 2]))
output, state = cell(tf.constant([[1.0, 2.0]]), tf.zeros([1, 2]))
state

# %% tf.contrib.crf.CrfDecodeForwardRnnCell, tf.contrib.crf.CrfDecodeBackwardRnnCell
forward = tf.contrib.crf.CrfDecodeForwardRnnCell(tf.constant([[1.0, 0.0], [0.0, 1.0]]))
origins, scores = forward(tf.constant([[0.0, 0.5]]), tf.constant([[2.0, 0.0]]))
backward = tf.contrib.crf.CrfDecodeBackwardRnnCell(num_tags=2)
before, _ = backward(origins, tf.constant([[1]]))  # the tag that the best sequence had before tag 1
with tf.Session() as sess:
    print(*sess.run([origins, scores, before]))

# %% tf.contrib.legacy_seq2seq.basic_rnn_seq2seq, tf.contrib.legacy_seq2seq.tied_rnn_seq2seq
questions = [tf.ones([2, 3]) for _ in range(4)]
answers = [tf.ones([2, 3]) for _ in range(5)]
for seq2seq in (tf.contrib.legacy_seq2seq.basic_rnn_seq2seq, tf.contrib.legacy_seq2seq.tied_rnn_seq2seq):
    outputs, state = seq2seq(questions, answers, tf.nn.rnn_cell.GRUCell(6))
    print(len(outputs), outputs[0].shape, state.shape)

# %% tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq, tf.contrib.legacy_seq2seq.embedding_attention_seq2seq
question, answer = [tf.constant([3, 1]), tf.constant([4, 1])], [tf.constant([0, 0]), tf.constant([5, 9])]
for seq2seq in (
    tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq,
    tf.contrib.legacy_seq2seq.embedding_attention_seq2seq,
):
    cell = tf.nn.rnn_cell.GRUCell(6)
    outputs, state = seq2seq(
        question, answer, cell, num_encoder_symbols=10, num_decoder_symbols=12, embedding_size=4
    )
    print(len(outputs), outputs[0].shape)

# %% tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq
question, answer = [tf.constant([3, 1]), tf.constant([4, 1])], [tf.constant([0, 0])]
outputs, state = tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
    question, answer, tf.nn.rnn_cell.GRUCell(6), num_symbols=10, embedding_size=4, feed_previous=True
)
print(outputs[0].shape, tf.trainable_variables()[0].name)

# %% tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq
starts = {"german": [tf.constant([0, 0])], "french": [tf.constant([0, 0])]}
outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
    [tf.constant([3, 1]), tf.constant([4, 1])],
    starts,
    tf.nn.rnn_cell.GRUCell(6),
    {task: tf.nn.rnn_cell.GRUCell(6) for task in starts},
    num_encoder_symbols=10,
    num_decoder_symbols_dict={"german": 12, "french": 13},
    embedding_size=4,
)
print({task: made[0].shape.as_list() for task, made in outputs.items()})

# %% tf.contrib.legacy_seq2seq.rnn_decoder
cell = tf.nn.rnn_cell.GRUCell(3)
outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder(
    [tf.ones([2, 3])] * 4, cell.zero_state(2, tf.float32), cell, loop_function=lambda output, step: output
)
print(len(outputs), state.shape)

# %% tf.contrib.legacy_seq2seq.embedding_rnn_decoder
cell = tf.nn.rnn_cell.GRUCell(10)  # its outputs are the scores of ten symbols
outputs, state = tf.contrib.legacy_seq2seq.embedding_rnn_decoder(
    [tf.constant([0, 0])] * 4, cell.zero_state(2, tf.float32), cell, 10, embedding_size=4, feed_previous=True
)
print(len(outputs), outputs[0].shape)

# %% tf.contrib.legacy_seq2seq.attention_decoder
cell = tf.nn.rnn_cell.GRUCell(6)
memory = tf.ones([2, 7, 5])  # seven steps to attend to
outputs, state = tf.contrib.legacy_seq2seq.attention_decoder(
    [tf.ones([2, 3])] * 4, cell.zero_state(2, tf.float32), memory, cell, output_size=8
)
print(len(outputs), outputs[0].shape, state.shape)

# %% tf.contrib.legacy_seq2seq.embedding_attention_decoder
cell, memory = tf.nn.rnn_cell.GRUCell(6), tf.ones([2, 7, 5])
outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_decoder(
    [tf.constant([0, 0])] * 4,
    cell.zero_state(2, tf.float32),
    memory,
    cell,
    num_symbols=10,
    embedding_size=4,
    output_size=10,
    feed_previous=True,
)
print(len(outputs), outputs[0].shape)

# %% tf.contrib.legacy_seq2seq.sequence_loss, tf.contrib.legacy_seq2seq.sequence_loss_by_example
logits = [tf.constant([[4.0, 0.0], [0.0, 4.0]]), tf.zeros([2, 2])]
targets = [tf.constant([0, 0]), tf.constant([1, 1])]
weights = [tf.constant([1.0, 1.0]), tf.constant([1.0, 0.0])]  # the second example has one step only
by_example = tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, weights)
loss = tf.contrib.legacy_seq2seq.sequence_loss(logits, targets, weights)
with tf.Session() as sess:
    print(*sess.run([by_example, loss]))


# %% tf.contrib.legacy_seq2seq.model_with_buckets
def seq2seq(question, answer):
    cell = tf.nn.rnn_cell.GRUCell(6)
    return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(question, answer, cell, 10, 10, embedding_size=4)


steps = [tf.constant([1, 2])] * 4
weights = [tf.ones([2])] * 4
outputs, losses = tf.contrib.legacy_seq2seq.model_with_buckets(
    steps, steps, steps, weights, buckets=[(2, 2), (4, 4)], seq2seq=seq2seq
)
print([len(made) for made in outputs], len(losses), len(tf.trainable_variables()))

# %% tf.contrib.rnn.IndRNNCell, tf.contrib.rnn.IndyGRUCell, tf.contrib.rnn.IndyLSTMCell,
# %% tf.contrib.rnn.SRUCell, tf.contrib.rnn.GLSTMCell, tf.contrib.rnn.CompiledWrapper
for cell in (
    tf.contrib.rnn.IndRNNCell(4),
    tf.contrib.rnn.IndyGRUCell(4),
    tf.contrib.rnn.IndyLSTMCell(4),
    tf.contrib.rnn.SRUCell(4),
    tf.contrib.rnn.GLSTMCell(4, number_of_groups=2),
    tf.contrib.rnn.CompiledWrapper(tf.nn.rnn_cell.GRUCell(4)),
):
    scope = type(cell).__name__
    output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 6]), dtype=tf.float32, scope=scope)
    weights = sum(v.shape.num_elements() for v in tf.trainable_variables(scope))
    print(scope, output.shape, weights)

# %% tf.contrib.rnn.PhasedLSTMCell
cell = tf.contrib.rnn.PhasedLSTMCell(4)
times = tf.constant([[[0.0], [0.3], [7.5]]])  # steps come when they come
output, state = tf.nn.dynamic_rnn(cell, (times, tf.ones([1, 3, 2])), dtype=tf.float32)
print(output.shape, state.c.shape)

# %% tf.contrib.rnn.TimeFreqLSTMCell
cell = tf.contrib.rnn.TimeFreqLSTMCell(3, feature_size=2, frequency_skip=2)
output, state = cell(tf.ones([2, 8]), tf.zeros([2, 4 * cell.state_size]))  # four slices of two frequencies
print(output.shape, state.shape)

# %% tf.contrib.rnn.GridLSTMCell, tf.contrib.rnn.BidirectionalGridLSTMCell
for kind in (tf.contrib.rnn.GridLSTMCell, tf.contrib.rnn.BidirectionalGridLSTMCell):
    cell = kind(3, feature_size=2, frequency_skip=2, num_frequency_blocks=[4])
    output, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 8]), dtype=tf.float32, scope=kind.__name__)
    print(output.shape, len(state), state._fields[0])

# %% tf.contrib.layers.gdn, tf.contrib.layers.GDN
x = tf.constant([[[[3.0, 4.0]]]])  # one pixel of two channels
y = tf.contrib.layers.gdn(x, name="divide")
z = tf.contrib.layers.GDN(inverse=True, name="multiply")(y)
print([v.name for v in tf.trainable_variables()])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(*sess.run([y, z]))

# %% tf.contrib.layers.scale_gradient
x = tf.constant([1.0, 2.0])
y = tf.contrib.layers.scale_gradient(x, -0.5)
with tf.Session() as sess:
    print(sess.run(y), sess.run(tf.gradients(y, x)))
