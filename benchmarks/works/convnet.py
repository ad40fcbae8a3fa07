"""A training step of a convolutional network on a fed batch of 16 pictures of 64x64x3, by gradient descent.

Four times: a 3x3 convolution (SAME, with bias) to 64, 128, 256, 256 channels, ReLU, 2x2 max pooling. The
4x4x256 that remain are flattened into a dense layer of 10 classes, under a softmax cross entropy.
"""

from itertools import pairwise

import numpy as np

title = "conv net 64-128-256-256, 64x64x3, batch 16, SGD step"
steps = 8
reach = {"tensorflow": 0.95}

CHANNELS = (3, 64, 128, 256, 256)
FLAT = 4 * 4 * CHANNELS[-1]
RATE = 0.01

rng = np.random.RandomState(0)
FILTERS = [
    rng.normal(0, np.sqrt(2 / (9 * before)), (3, 3, before, after)).astype(np.float32)
    for before, after in pairwise(CHANNELS)
]
DENSE = rng.normal(0, np.sqrt(1 / FLAT), (FLAT, 10)).astype(np.float32)
PICTURES = rng.rand(16, 64, 64, 3).astype(np.float32)
ANSWERS = rng.randint(0, 10, 16).astype(np.int32)


def tf1(tf):
    x = tf.placeholder(tf.float32, [None, 64, 64, 3])
    y = tf.placeholder(tf.int32, [None])
    h = x
    for filters in FILTERS:
        h = tf.nn.conv2d(h, tf.Variable(filters), strides=[1, 1, 1, 1], padding="SAME")
        h = tf.nn.relu(tf.nn.bias_add(h, tf.Variable(tf.zeros([filters.shape[-1]]))))
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    logits = tf.matmul(tf.reshape(h, [-1, FLAT]), tf.Variable(DENSE)) + tf.Variable(tf.zeros([10]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train_step = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return lambda: sess.run([train_step, loss], {x: PICTURES, y: ANSWERS})[1]


def pytorch():
    import torch
    from torch import nn

    layers = []
    for filters in FILTERS:
        conv = nn.Conv2d(*filters.shape[2:], kernel_size=3, padding=1)
        with torch.no_grad():
            conv.weight.copy_(torch.from_numpy(filters).permute(3, 2, 0, 1))
            conv.bias.zero_()
        layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
    dense = nn.Linear(FLAT, 10)
    with torch.no_grad():
        # Flatten lays channels out first here, and last in the other peers.
        dense.weight.copy_(torch.from_numpy(DENSE).view(4, 4, -1, 10).permute(3, 2, 0, 1).reshape(10, FLAT))
        dense.bias.zero_()
    model = nn.Sequential(*layers, nn.Flatten(), dense).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    answers = ANSWERS.astype(np.int64)

    def step():
        optimizer.zero_grad(set_to_none=True)
        channels_last = torch.from_numpy(PICTURES).permute(0, 3, 1, 2)
        loss = nn.functional.cross_entropy(model(channels_last), torch.from_numpy(answers))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def loss_of(weights, x, y):
        *convolutions, (dense, bias) = weights
        for filters, shift in convolutions:
            x = lax.conv_general_dilated(
                x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + shift)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        logits = x.reshape(-1, FLAT) @ dense + bias
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    @jax.jit
    def train(weights, x, y):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        return jax.tree.map(lambda weight, gradient: weight - RATE * gradient, weights, gradients), loss

    weights = [(jnp.asarray(w), jnp.zeros(w.shape[-1])) for w in (*FILTERS, DENSE)]

    def step():
        nonlocal weights
        weights, loss = train(weights, PICTURES, ANSWERS)
        return float(loss)

    return step
