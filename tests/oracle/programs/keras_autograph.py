"""AutoGraph converts `call` of the layers and models that a program defines, wherever it builds graph."""

from kit import cases, raises

X = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]


def _layer(tf, cls=None):
    class Layer(cls or tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", (3,), initializer="ones")
            self.built = True

        def call(self, x, training=None):
            if training:
                x = x * 3.0
            if tf.reduce_sum(x) > 0.0:
                y = x + self.w
            else:
                y = x - self.w
            while tf.reduce_sum(tf.abs(y)) < 30.0:
                y = y * 2.0
            for row in tf.range(2):
                if row > 0:
                    break
                y += 1.0
            return y

    return Layer


def _model(tf):
    class Model(tf.keras.Model):
        def __init__(self):
            super(Model, self).__init__()
            self.own = _layer(tf)()
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            total = self.helper(x)
            if total > 3.0:
                x = x / 2.0
            return self.dense(self.own(x))

        def helper(self, x):
            total = 0.0
            for row in x:
                total += tf.reduce_sum(row)
            return total

    return Model()


def functional(tf, np):
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, _layer(tf)()(x))
    return [model.predict(np.array(X) * scale) for scale in (1.0, -1.0, 0.1)]


def subclassed(tf, np):
    model = _model(tf)
    model.compile("sgd", "mse")
    x = np.array(X, np.float32)
    model.predict(x)
    loss = model.train_on_batch(x, np.ones((2, 1), np.float32))
    return [float(loss) > 0, model.predict(x * 0), model.get_weights()]


def in_a_graph(tf, np):
    model, x = _model(tf), tf.placeholder(tf.float32, [None, 3])
    y = model(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(y, {x: np.array(X) * scale}) for scale in (1.0, -1.0)]


def layers_of_tf_layers(tf, np):
    x = tf.placeholder(tf.float32, [None, 3])
    y = _layer(tf, tf.layers.Layer)()(x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(y, {x: np.array(X) * scale}) for scale in (1.0, -1.0)]


def training_modes(tf, np):
    x = tf.constant(X)
    layer = _layer(tf)()
    ys = [layer(x), layer(x, training=True), layer(x, training=False)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(ys)


@cases({name: name for name in ("not converted", "comprehension", "lambda")})
def refused(tf, np, how):
    class Layer(tf.keras.layers.Layer):
        def call(self, x):
            return [row for row in x]

    class NotConverted(tf.keras.layers.Layer):
        @tf.autograph.experimental.do_not_convert
        def call(self, x):
            return x if tf.reduce_sum(x) > 0 else -x

    of_lambda = tf.keras.layers.Lambda(lambda x: x if tf.reduce_sum(x) > 0 else -x)
    layer = {"not converted": NotConverted(), "comprehension": Layer(), "lambda": of_lambda}[how]
    return raises(layer, tf.keras.Input((3,)))
