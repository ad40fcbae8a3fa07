"""The nodes that Keras adds to a graph, in number and name: seeds of what comes later depend on them."""

from kit import cases, names


def _nodes(tf):
    """All nodes by name: within branches and loops, Switch and Enter come earlier here."""
    return sorted(names(tf))


def the_graph_after_clear_session(tf, np):
    tf.keras.backend.clear_session()
    before = names(tf)
    tf.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    return before, model.get_weights(), names(tf)


@cases(
    {
        "selu": ("Activation", (4,), ("selu",), {}),
        "identity": ("Dense", (4,), (4,), {"kernel_initializer": "identity"}),
        "noise": ("GaussianNoise", (4,), (0.5,), {}),
        "gaussian dropout": ("GaussianDropout", (4,), (0.5,), {}),
        "alpha dropout": ("AlphaDropout", (4,), (0.5,), {}),
        "nearest": ("UpSampling2D", (4, 3, 2), (2,), {}),
        "bilinear": ("UpSampling2D", (4, 3, 2), (2,), {"interpolation": "bilinear"}),
        "GRU": ("GRU", (5, 4), (3,), {"dropout": 0.1, "recurrent_dropout": 0.2}),
        "GRU with one product": ("GRU", (5, 4), (3,), {"implementation": 2}),
        "GRU that resets after": ("GRU", (5, 4), (3,), {"reset_after": True}),
        "GRU that resets after, one product": (
            "GRU",
            (5, 4),
            (3,),
            {"reset_after": True, "implementation": 2},
        ),
        "a stateful GRU": ("GRU", (5, 4), (3,), {"stateful": True}),
        "a stateful LSTM": ("LSTM", (5, 4), (3,), {"stateful": True}),
    }
)
def layers(tf, np, kind, shape, args, given):
    inputs = tf.keras.Input(shape, batch_size=2 if given.get("stateful") else None)
    output = getattr(tf.keras.layers, kind)(*args, **given)(inputs)
    return output, _nodes(tf)


def a_layer_of_time_steps(tf, np):
    inputs = tf.keras.Input((3, 4))
    output = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3))(tf.keras.layers.Masking()(inputs))
    return output, _nodes(tf)


def _trained(tf, np, epochs=1, **arguments):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,))])
    model.compile(**arguments)
    model.fit(np.ones((4, 4)), np.ones((4, 3)), epochs=epochs, verbose=0)
    return model


@cases("sgd", "rmsprop", "adagrad", "adadelta", "adam", "adamax", "nadam", "ftrl")
def steps_of_optimizers(tf, np, name):
    tf.keras.backend.clear_session()
    _trained(tf, np, optimizer=name, loss="mse")
    return _nodes(tf)


@cases("mape", "msle", "kld", "poisson", "logcosh")
def losses(tf, np, name):
    tf.keras.backend.clear_session()
    _trained(tf, np, optimizer="sgd", loss=name)
    return _nodes(tf)


def metrics(tf, np):
    tf.keras.backend.clear_session()
    model = _trained(
        tf, np, epochs=2, optimizer="sgd", loss="mse", metrics=["mae"], weighted_metrics=["mse", "accuracy"]
    )
    model.evaluate(np.ones((4, 4)), np.ones((4, 3)), sample_weight=np.ones(4), verbose=0)
    model.predict(np.ones((4, 4)))
    return model.metrics_names, _nodes(tf)


def weights_of_a_second_model(tf, np):
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    _trained(tf, np, optimizer="adam", loss="mse", metrics=["mae"])
    second = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    return second.get_weights()


@cases("GaussianNoise", "GaussianDropout", "AlphaDropout")
def numpy_says_the_seed_of_noise(tf, np, kind):
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(5)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer((4,)), getattr(tf.keras.layers, kind)(0.5)])
    model.compile("sgd", "mse")
    x = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    return model.fit(x, x, epochs=2, verbose=0, shuffle=False).history["loss"], np.random.rand()


@cases(*[(kind, implementation) for kind in ("SimpleRNN", "GRU", "LSTM") for implementation in (1, 2)])
def numpy_says_the_seeds_of_recurrent_dropout(tf, np, kind, implementation):
    tf.keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(5)
    given = {} if kind == "SimpleRNN" else {"implementation": implementation}
    layer = getattr(tf.keras.layers, kind)(2, dropout=0.4, recurrent_dropout=0.5, **given)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer((3, 2)), layer])
    model.compile("sgd", "mse")
    x = np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2)
    return np.float32(model.fit(x, x[:, 0], epochs=2, verbose=0, shuffle=False).history["loss"])


def numbers_of_the_backend(tf, np):
    backend = tf.keras.backend
    np.random.seed(5)
    tf.set_random_seed(3)
    made = [
        backend.random_uniform_variable((2,), 0, 1),
        backend.random_normal_variable((2,), 0, 1),
        backend.random_uniform((2,)),
        backend.truncated_normal((2,)),
        backend.dropout(tf.ones((4,)), 0.5),
    ]
    return [backend.eval(each) for each in made], np.random.rand()


@cases("Dense", "SimpleRNN")
def penalties_of_outputs_inside_of_wrappers(tf, np, kind):
    ones = {"kernel_initializer": "ones", "activity_regularizer": "l2", "kernel_regularizer": "l1"}
    if kind == "Dense":
        layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2, **ones), input_shape=(3, 2))
    else:
        inner = tf.keras.layers.SimpleRNN(2, recurrent_initializer="ones", **ones)
        layer = tf.keras.layers.Bidirectional(inner, merge_mode="sum", input_shape=(3, 2))
    model = tf.keras.Sequential([layer])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    x = np.linspace(-1.0, 1.0, 24).reshape(4, 3, 2)
    y = x if kind == "Dense" else x[:, 0]
    found = [model.evaluate(x, y, verbose=0), *model.fit(x, y, 2, verbose=0).history["loss"]]
    return len(model.losses), np.float32(found)


def numbers_that_updates_look_up(tf, np):
    variable = tf.Variable([1.0, 2.0], use_resource=True)
    found = {}
    for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"):
        optimizer = getattr(tf.keras.optimizers, name)()
        optimizer.iterations = tf.Variable(0, dtype=tf.int64, use_resource=True)
        optimizer._create_hypers()
        optimizer._create_slots([variable])
        found[name] = [sorted(numbers) for numbers in optimizer._prepare([variable]).values()]
    return found
