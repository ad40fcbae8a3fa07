"""Keras's layers and optimizers in eager mode: the same numbers as in a graph."""

import numpy as np
import pytest

import tideflow as tf

pytestmark = pytest.mark.usefixtures("eagerly")

ROWS = np.random.RandomState(0).rand(2, 3).astype(np.float32)


def parts(optimizer):
    """A layer, an embedding, an optimizer, and their loss."""
    layer = tf.keras.layers.Dense(1, kernel_initializer=tf.keras.initializers.glorot_uniform(seed=1))
    rows = tf.Variable(np.ones([4, 2], np.float32), use_resource=True)

    def loss():
        looked_up = tf.nn.embedding_lookup(rows, [1, 1, 3])
        return tf.reduce_sum(tf.square(layer(ROWS))) + tf.reduce_sum(tf.square(looked_up))

    return getattr(tf.keras.optimizers, optimizer)(), loss, lambda: [*layer.trainable_variables, rows]


@pytest.mark.parametrize("optimizer", "SGD Adam RMSprop Adagrad Adadelta Adamax Nadam Ftrl".split())
def test_an_optimizer_takes_the_same_steps(optimizer):
    used, loss, variables = parts(optimizer)
    for _ in range(3):
        used.minimize(loss, variables)
    assert int(used.iterations) == 3
    with tf.Graph().as_default(), tf.Session() as session:
        other, other_loss, other_variables = parts(optimizer)
        step = other.minimize(other_loss, other_variables)
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        expected = session.run(other_variables())
    for variable, value in zip(variables(), expected, strict=True):
        np.testing.assert_allclose(variable.numpy(), value, rtol=1e-6)


def test_a_model_of_layers_learns():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.norm = tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.BatchNormalization()
            self.last = tf.keras.layers.Dense(1)

        def call(self, inputs, training=False):
            return self.last(self.norm(self.hidden(inputs), training=training))

    model, optimizer = Model(), tf.keras.optimizers.SGD(0.1)
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            losses.append(tf.reduce_mean(tf.square(model(ROWS, training=True) - [[1.0], [-1.0]])))
        gradients = tape.gradient(losses[-1], model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    assert float(losses[-1]) < 0.5 * float(losses[0]) and len(model.variables) == 8
