"""tf.keras.mixed_precision.experimental: policies, and optimizers that scale the loss."""

from kit import Close, cases, raises

_NAMES = {
    name: name
    for name in (
        "float32",
        "float16",
        "infer",
        "infer_with_float32_vars",
        "infer_float32_vars",
        "float16_with_float32_vars",
        "float32_with_float32_vars",
        "mixed_float16",
        "mixed_bfloat16",
    )
}


@cases(_NAMES)
def policies(tf, np, name):
    policy = tf.keras.mixed_precision.experimental.Policy(name)
    kinds = type(policy.loss_scale).__name__
    return policy.name, policy.compute_dtype, policy.variable_dtype, policy.should_cast_variables, kinds


def the_global_policy(tf, np):
    m = tf.keras.mixed_precision.experimental
    before = m.global_policy().name
    m.set_policy("infer")
    named = m.global_policy().name
    m.set_policy(None)
    return before, named, m.global_policy().name


_BAD = {
    "dtype": lambda m, tf: m.Policy(tf.float16),
    "number": lambda m, tf: m.Policy(3),
    "unknown": lambda m, tf: m.Policy("abc"),
    "unknown with": lambda m, tf: m.Policy("abc_with_float32_vars"),
    "global": lambda m, tf: m.set_policy("mixed_float16"),
    "scale": lambda m, tf: m.Policy("mixed_float16", loss_scale="strong"),
    "optimizer": lambda m, tf: m.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), 2.0),
    "clipnorm": lambda m, tf: m.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1, clipnorm=1.0), 2.0),
}


@cases({name: name for name in _BAD})
def bad_calls(tf, np, name):
    return raises(_BAD[name], tf.keras.mixed_precision.experimental, tf)


@cases({"fixed": 128.0, "dynamic": "dynamic"})
def a_scaled_loss(tf, np, scale):
    m = tf.keras.mixed_precision.experimental
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    optimizer = m.LossScaleOptimizer(tf.keras.optimizers.Adam(0.1), scale)
    model.compile(optimizer, "mse")
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([[1.0], [2.0]], np.float32)
    losses = model.fit(x, y, epochs=3, verbose=0, shuffle=False).history["loss"]
    good = model.get_weights()
    model.train_on_batch(x * np.float32(1e30), y)
    weights = model.get_weights() if scale == "dynamic" else []
    rate = tf.keras.backend.get_value(optimizer.lr)
    steps = tf.keras.backend.get_value(optimizer.iterations) if scale == "dynamic" else 0
    current = tf.keras.backend.get_value(optimizer.loss_scale())
    return (
        Close([losses, good, weights, rate], 1e-4, 1e-5),
        int(steps),
        float(current),
        optimizer.get_slot_names(),
    )


_LAYERS = (
    "mixed_float16",
    "float16",
    "float16_with_float32_vars",
    "infer_with_float32_vars",
    "mixed_bfloat16",
)


@cases({name: name for name in _LAYERS})
def layers_with_a_policy(tf, np, name):
    def facts(layer, dtype):
        output = layer(tf.zeros([2, 3], dtype))
        return [output.dtype, layer.dtype, [weight.dtype for weight in layer.weights], layer._compute_dtype]

    policy = tf.keras.mixed_precision.experimental.Policy(name)
    return [
        facts(tf.keras.layers.Dense(2, dtype=policy, autocast=autocast), dtype)
        for autocast in (False, True)
        for dtype in (tf.float32, tf.float16)
    ]


def variables_cast_themselves(tf, np):
    class Layer(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight("w", (2,), initializer="ones")
            self.kept = self.add_weight("kept", (2,), initializer="ones", experimental_autocast=False)

        def call(self, x):
            weights = (self.w, self.kept, self.w * 2, self.w.read_value(), tf.convert_to_tensor(self.w))
            self.seen = [x.dtype.name] + [weight.dtype.name for weight in weights]
            return tf.cast(x, tf.float16) * self.w * 1.0009765625

    policy = tf.keras.mixed_precision.experimental.Policy("mixed_float16")
    layer = Layer(dtype=policy)
    y = layer(tf.constant([[1.0, 3.0]]))
    (grad,) = tf.gradients(y, layer.w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [layer.seen, layer.w.dtype, sess.run(y), sess.run(grad)]


def a_model_of_layers_with_a_policy(tf, np):
    m, l = tf.keras.mixed_precision.experimental, tf.keras.layers
    policy = m.Policy("mixed_float16", loss_scale=8.0)
    x = l.Input((2,))
    y = l.Dense(4, "relu", dtype=policy, kernel_initializer="ones")(x)
    y = l.Dense(1, dtype=policy, kernel_initializer="ones")(l.BatchNormalization(dtype=policy)(y))
    y = l.Lambda(lambda z: tf.cast(z, tf.float32))(y)
    model = tf.keras.Model(x, y)
    model.compile(m.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01), 8.0), "mse")
    data = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    history = model.fit(data, np.ones((2, 1)), epochs=3, shuffle=False, verbose=0)
    return [layer.output.dtype for layer in model.layers], Close(history.history["loss"], 2e-2)
