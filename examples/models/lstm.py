"""LSTM-512-512: a language model of two LSTM layers, with the full softmax over all words or a sampled one.

The full softmax multiplies each state by a matrix of all words; the sampled one by the right word and a few
hundred others that are drawn anew in each step, which is enough to train.
"""

import tideflow as tf

SIZES = {"words": 40_000, "width": 512, "layers": 2}
POSITIONS = 50


def loss(text, words, width, layers, samples=None):
    """The mean loss of predicting each word of `text` [batch, positions + 1] from those before it; with the
    full softmax, or with that many samples.
    """
    with tf.variable_scope("lstm", reuse=tf.AUTO_REUSE):
        embeddings = tf.get_variable("embeddings", [words, width], initializer=_uniform(0.1))
        x = tf.nn.embedding_lookup(embeddings, text[:, :-1])
        if layers:
            cells = [tf.nn.rnn_cell.LSTMCell(width, initializer=_uniform(0.05)) for _ in range(layers)]
            x, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), x, dtype=tf.float32)
        weights = tf.get_variable("softmax_w", [words, width], initializer=_uniform(0.05))
        biases = tf.get_variable("softmax_b", [words], initializer=tf.zeros_initializer())
        states, following = tf.reshape(x, [-1, width]), tf.reshape(text[:, 1:], [-1])
        if samples is None:
            scores = tf.matmul(states, weights, transpose_b=True) + biases
            each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=following, logits=scores)
        else:
            right = tf.cast(following[:, None], tf.int64)
            each = tf.nn.sampled_softmax_loss(weights, biases, right, states, samples, words)
        return tf.reduce_mean(each)


def _uniform(limit):
    return tf.random_uniform_initializer(-limit, limit)
