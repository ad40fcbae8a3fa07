"""GPT-2: a language model of transformer blocks, with attention written out in matrix products."""

import numpy as np

import tideflow as tf

SMALL = {"words": 50257, "length": 1024, "width": 768, "heads": 12, "layers": 12}  # 124 million parameters


def logits(tokens, words, length, width, heads, layers):
    """The scores of the next word at each position of `tokens` [batch, positions]."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        embeddings = variable("wte", [words, width], 0.02)
        places = variable("wpe", [length, width], 0.01)
        batch, positions = tokens.shape.as_list()
        x = tf.gather(embeddings, tokens) + tf.gather(places, tf.range(positions))
        for layer in range(layers):
            with tf.variable_scope(f"h{layer}"):
                x += attention(normalized(x, "ln_1"), heads)
                x += perceptron(normalized(x, "ln_2"))
        x = tf.reshape(normalized(x, "ln_f"), [batch * positions, width])
        return tf.reshape(tf.matmul(x, embeddings, transpose_b=True), [batch, positions, words])


def variable(name, shape, deviation):
    return tf.get_variable(name, shape, initializer=tf.random_normal_initializer(stddev=deviation))


def dense(x, size, scope):
    """A product with a matrix, at each position."""
    with tf.variable_scope(scope):
        *before, inputs = x.shape.as_list()
        weights = variable("w", [inputs, size], 0.02)
        bias = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        return tf.reshape(tf.matmul(tf.reshape(x, [-1, inputs]), weights) + bias, [*before, size])


def normalized(x, scope, epsilon=1e-5):
    """Layer normalization over the last axis."""
    with tf.variable_scope(scope):
        gain = tf.get_variable("g", [x.shape[-1].value], initializer=tf.ones_initializer())
        bias = tf.get_variable("b", [x.shape[-1].value], initializer=tf.zeros_initializer())
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * tf.rsqrt(variance + epsilon) * gain + bias


def attention(x, heads):
    """Every position looks at itself and at those before it."""
    with tf.variable_scope("attn"):
        batch, positions, size = x.shape.as_list()
        query, key, value = (
            tf.transpose(tf.reshape(part, [batch, positions, heads, size // heads]), [0, 2, 1, 3])
            for part in tf.split(dense(x, 3 * size, "c_attn"), 3, axis=2)
        )
        scores = tf.matmul(query, key, transpose_b=True) * (size // heads) ** -0.5
        visible = tf.constant(np.tril(np.ones([positions, positions], np.float32)))
        weights = tf.nn.softmax(scores * visible - 1e10 * (1 - visible))
        seen = tf.transpose(tf.matmul(weights, value), [0, 2, 1, 3])
        return dense(tf.reshape(seen, [batch, positions, size]), size, "c_proj")


def perceptron(x):
    """Two layers with the smooth rectifier of the paper (GELU) between them."""
    with tf.variable_scope("mlp"):
        size = x.shape[-1].value
        x = dense(x, 4 * size, "c_fc")
        x = 0.5 * x * (1 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))
        return dense(x, size, "c_proj")
