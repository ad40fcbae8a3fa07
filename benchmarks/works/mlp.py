"""A training step of a small network, 784-100-10 with ReLU, on a fed batch of 100, by Adam."""

import numpy as np

title = "MLP 784-100-10, batch 100, Adam step"
steps = 300
reach = {"tensorflow": 0.5, "pytorch": 0.9, "jax": 0.9}

rng = np.random.RandomState(0)
W1 = rng.normal(0, 0.05, (784, 100)).astype(np.float32)
W2 = rng.normal(0, 0.1, (100, 10)).astype(np.float32)
PICTURES = rng.rand(100, 784).astype(np.float32)
ANSWERS = rng.randint(0, 10, 100).astype(np.int32)
RATE = 1e-3


def tf1(tf, session=None):
    x = tf.placeholder(tf.float32, [None, 784])
    y = tf.placeholder(tf.int32, [None])
    h = tf.nn.relu(tf.matmul(x, tf.Variable(W1)) + tf.Variable(tf.zeros([100])))
    logits = tf.matmul(h, tf.Variable(W2)) + tf.Variable(tf.zeros([10]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train_step = tf.train.AdamOptimizer(RATE).minimize(loss)
    sess = (session or tf.Session)()
    sess.run(tf.global_variables_initializer())
    return lambda: sess.run([train_step, loss], {x: PICTURES, y: ANSWERS})[1]


def pytorch():
    import torch

    hidden, output = torch.nn.Linear(784, 100), torch.nn.Linear(100, 10)
    with torch.no_grad():
        for layer, weights in ((hidden, W1), (output, W2)):
            layer.weight.copy_(torch.from_numpy(weights.T))
            layer.bias.zero_()
    model = torch.nn.Sequential(hidden, torch.nn.ReLU(), output)
    optimizer = torch.optim.Adam(model.parameters(), RATE, fused=True)
    answers = ANSWERS.astype(np.int64)

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(torch.from_numpy(PICTURES))
        loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(answers))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def jax():
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x, y):
        w1, b1, w2, b2 = weights
        logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))

    def adam(weight, mean, square, gradient, rate):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        return weight - rate * mean / (jnp.sqrt(square) + 1e-8), mean, square

    @jax.jit
    def train(weights, means, squares, count, x, y):
        count = count + 1
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
        rate = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        updated = [adam(*each, rate) for each in zip(weights, means, squares, gradients)]
        weights, means, squares = map(list, zip(*updated))
        return (weights, means, squares, count), loss

    weights = [jnp.asarray(w) for w in (W1, np.zeros(100, np.float32), W2, np.zeros(10, np.float32))]
    zeros = [jnp.zeros_like(w) for w in weights]
    state = weights, zeros, zeros, 0.0

    def step():
        nonlocal state
        state, loss = train(*state, PICTURES, ANSWERS)
        return float(loss)

    return step
