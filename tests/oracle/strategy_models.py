"""Models under strategies, for programs in graph mode and in eager mode."""

from kit import Close

KINDS = {
    "mirrored": lambda tf: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    "mirrored three": lambda tf: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1", "/cpu:2"]),
    "one device": lambda tf: tf.distribute.OneDeviceStrategy("/cpu:1"),
    "servers": lambda tf: tf.distribute.experimental.ParameterServerStrategy(),
}
OPTIMIZERS = {
    "sgd": lambda tf: tf.keras.optimizers.SGD(0.1, momentum=0.9),
    "adam": lambda tf: tf.keras.optimizers.Adam(0.05),
    "ftrl": lambda tf: tf.keras.optimizers.Ftrl(0.1),
    "clipped": lambda tf: tf.keras.optimizers.RMSprop(0.05, clipvalue=0.1),
}


def strategy_of(tf, kind):
    """A strategy on logical CPUs."""
    cpu = tf.config.experimental.list_physical_devices("CPU")[0]
    part = tf.config.experimental.VirtualDeviceConfiguration()
    tf.config.experimental.set_virtual_device_configuration(cpu, [part, part, part])
    tf.keras.backend.clear_session()
    return KINDS[kind](tf)


def samples(np, number):
    rng = np.random.RandomState(0)
    x = rng.randn(number, 3).astype("float32")
    return x, (x.dot([[1.0], [2.0], [-1.0]]) + 0.1 * rng.randn(number, 1)).astype("float32")


def fill(np, model):
    """Gives a model weights that are the same everywhere."""
    shapes = [weight.shape for weight in model.get_weights()]
    model.set_weights([0.5 + 0.3 * np.random.RandomState(i).rand(*shape) for i, shape in enumerate(shapes)])
    return model


def network(tf, normalized=False):
    keras = tf.keras
    layers = [
        keras.layers.Dense(
            4, activation="tanh", input_shape=(3,), kernel_regularizer=keras.regularizers.l2(0.1)
        )
    ]
    layers += [keras.layers.BatchNormalization(momentum=0.5)] if normalized else []
    return keras.Sequential([*layers, keras.layers.Dense(1)])


def compiled(tf, np, strategy, optimizer="sgd", normalized=False):
    with strategy.scope():
        model = network(tf, normalized)
        metrics = ["mae", tf.keras.metrics.RootMeanSquaredError()]
        model.compile(OPTIMIZERS[optimizer](tf), "mse", metrics=metrics)
    return fill(np, model)


def close(values):
    return Close([list(value) if isinstance(value, (list, tuple)) else value for value in values], 2e-4)


def learned(model, history):
    """What training has made of a model."""
    found = [history.history[name] for name in sorted(history.history)]
    return [sorted(history.history), close([*found, *model.get_weights(), *model.optimizer.get_weights()])]


def trained_heads(tf, np):
    """What a model with two outputs learns on two replicas."""
    model = _two_headed(tf, np, strategy_of(tf, "mirrored"))
    x, y = samples(np, 8)
    history = model.fit(x, {"first": y, "second": y}, batch_size=4, shuffle=False, verbose=0)
    return learned(model, history)


def _two_headed(tf, np, strategy):
    keras = tf.keras
    with strategy.scope():
        inputs = keras.Input((3,), name="x")
        hidden = keras.layers.Dense(4, activity_regularizer=keras.regularizers.l2(0.01))(inputs)
        heads = [keras.layers.Dense(1, name="first")(hidden), keras.layers.Dense(1, name="second")(hidden)]
        model = keras.Model(inputs, heads)
        losses = {"first": "mse", "second": keras.losses.MeanAbsoluteError(reduction="sum")}
        model.compile("sgd", losses, metrics={"first": ["mae"]}, loss_weights={"first": 1.0, "second": 0.5})
    return fill(np, model)


def replica_step(tf, model, optimizer, metric):
    """A step of a program that trains by itself."""

    def step(x, y):
        with tf.GradientTape() as tape:
            outputs = model(x)
            loss = tf.reduce_sum(tf.square(outputs - y)) / 8.0
        slopes = tape.gradient(loss, model.trainable_variables)
        done = optimizer.apply_gradients(zip(slopes, model.trainable_variables))
        counted = metric.update_state(y, outputs)
        with tf.control_dependencies([op for op in (done, counted) if op is not None]):
            return tf.identity(loss)

    return step
