"""Small Keras models with known weights, for programs of eager mode."""

from kit import Close


def filled(np, model):
    """Gives the weights values that depend on their shapes alone."""
    values = [np.cos(np.arange(w.size) * 0.7 + i).reshape(w.shape) for i, w in enumerate(model.get_weights())]
    model.set_weights([0.5 * value.astype(np.float32) for value in values])
    return model


def data(np, samples=12, inputs=3):
    x = np.sin(np.arange(samples * inputs)).reshape(samples, inputs).astype(np.float32)
    return x, (x.sum(axis=1, keepdims=True) > 0).astype(np.float32)


def close(value):
    return Close(value, 2e-4, 1e-5)


def recorded(history):
    return {name: close([float(v) for v in values]) for name, values in history.history.items()}


def functional(tf):
    l = tf.keras.layers
    x = tf.keras.Input((3,), name="x")
    hidden = l.Dense(4, activation="tanh", name="hidden")(x)
    return tf.keras.Model(x, l.Dense(1, activation="sigmoid", name="out")(hidden), name="net")


def sequential(tf):
    l = tf.keras.layers
    return tf.keras.Sequential(
        [l.Dense(4, activation="tanh", input_shape=(3,)), l.Dense(1, activation="sigmoid")]
    )


def deferred(tf):
    l = tf.keras.layers
    model = tf.keras.Sequential([l.Dense(4, activation="tanh"), l.Dense(1, activation="sigmoid")])
    model(tf.zeros([2, 3]))
    return model


def subclassed(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.hidden = tf.keras.layers.Dense(4, activation="tanh")
            self.out = tf.keras.layers.Dense(1, activation="sigmoid")

        def call(self, inputs, training=None):
            hidden = self.hidden(inputs)
            if training:
                hidden = hidden * 0.5
            return self.out(hidden)

    model = Net()
    model(tf.zeros([2, 3]))
    return model


def two_headed(tf):
    l = tf.keras.layers
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b")
    joined = l.concatenate([l.Dense(3, name="left")(a), l.Dense(2, name="right")(b)])
    first = l.Dense(1, activation="sigmoid", name="first")(joined)
    second = l.Dense(3, activation="softmax", name="second")(joined)
    return tf.keras.Model([a, b], [first, second])


def two_headed_data(np):
    x, y = data(np)
    return [x, x[:, :2] * 2], [y, (np.arange(len(x)) % 3)]


def seeded(tf, np):
    """The same random numbers from here on, in both engines."""
    tf.set_random_seed(11)
    np.random.seed(5)


def sentences(np, samples=24, length=7, vocabulary=20):
    """Sentences of numbers, filled up with zeros, and a label of each."""
    words = np.random.RandomState(3).randint(1, vocabulary, (samples, length))
    for row, cut in enumerate(np.random.RandomState(4).randint(2, length + 1, samples)):
        words[row, cut:] = 0
    return words, (words.sum(axis=1) % 2).astype(np.float32)


def points(np, samples=32, inputs=4):
    """Points, and on which side of a cross they lie."""
    x = np.random.RandomState(8).normal(size=(samples, inputs)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64)
