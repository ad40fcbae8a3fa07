"""An LSTM of 128 units over 50 steps of a batch of 32, by a loop: what the LSTM works share."""

import numpy as np

from benchmarks.works import hot

BATCH, TIME, UNITS = 32, 50, 128
RATE = 0.1

rng = np.random.RandomState(0)
KERNEL = rng.normal(0, 0.05, (2 * UNITS, 4 * UNITS)).astype(np.float32)
BIAS = np.zeros(4 * UNITS, np.float32)
SEQUENCES = rng.normal(0, 1, (TIME, BATCH, UNITS)).astype(np.float32)


def tf1(tf, train, compiled):
    """The step of `while_loop` with TensorArrays, in TensorFlow's words."""
    x = tf.placeholder(tf.float32, [TIME, BATCH, UNITS])
    kernel, bias = tf.Variable(KERNEL), tf.Variable(BIAS)
    inputs = tf.TensorArray(tf.float32, TIME).unstack(x)

    def body(t, c, h, outputs):
        z = tf.nn.bias_add(tf.matmul(tf.concat([inputs.read(t), h], 1), kernel), bias)
        i, j, f, o = tf.split(z, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return t + 1, c, h, outputs.write(t, h)

    zeros = tf.zeros([BATCH, UNITS])
    start = [tf.constant(0), zeros, zeros, tf.TensorArray(tf.float32, TIME)]
    outputs = tf.while_loop(lambda t, *_: t < TIME, body, start)[-1].stack()
    loss = tf.reduce_mean(tf.square(outputs))
    fetches = [loss] + ([tf.train.GradientDescentOptimizer(RATE).minimize(loss)] if train else [])
    sess = hot.session(tf, compiled)
    sess.run(tf.global_variables_initializer())

    def step():
        return sess.run(fetches, {x: SEQUENCES})[0]

    hot.wait_for_compilation(tf, step, compiled)
    sess.run(tf.global_variables_initializer())
    return step


def pytorch(train):
    import torch

    kernel = torch.from_numpy(KERNEL.copy()).requires_grad_(train)
    bias = torch.from_numpy(BIAS.copy()).requires_grad_(train)

    def loss_of(x):
        c = h = torch.zeros(BATCH, UNITS)
        outputs = []
        for t in range(TIME):
            i, j, f, o = torch.addmm(bias, torch.cat([x[t], h], 1), kernel).chunk(4, 1)
            c = c * torch.sigmoid(f + 1.0) + torch.sigmoid(i) * torch.tanh(j)
            h = torch.tanh(c) * torch.sigmoid(o)
            outputs.append(h)
        return torch.stack(outputs).square().mean()

    def step():
        loss = loss_of(torch.from_numpy(SEQUENCES))
        if train:
            loss.backward()
            with torch.no_grad():
                for weight in (kernel, bias):
                    weight -= RATE * weight.grad
                    weight.grad = None
        return loss.item()

    return step


def jax(train):
    import jax
    import jax.numpy as jnp

    def loss_of(weights, x):
        kernel, bias = weights

        def body(state, x_t):
            c, h = state
            i, j, f, o = jnp.split(jnp.concatenate([x_t, h], 1) @ kernel + bias, 4, 1)
            c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jnp.tanh(c) * jax.nn.sigmoid(o)
            return (c, h), h

        zeros = jnp.zeros((BATCH, UNITS))
        return jnp.mean(jax.lax.scan(body, (zeros, zeros), x)[1] ** 2)

    @jax.jit
    def trained(weights, x):
        loss, grads = jax.value_and_grad(loss_of)(weights, x)
        return [w - RATE * g for w, g in zip(weights, grads)], loss

    weights = [jnp.asarray(KERNEL), jnp.asarray(BIAS)]
    forward = jax.jit(loss_of)

    def step():
        nonlocal weights
        if not train:
            return float(forward(weights, SEQUENCES))
        weights, loss = trained(weights, SEQUENCES)
        return float(loss)

    return step
