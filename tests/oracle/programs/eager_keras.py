"""Eager mode: tf.keras models, made, called, trained and evaluated, with losses, metrics and weights."""

from keras_models import (
    close,
    data,
    deferred,
    filled,
    functional,
    recorded,
    sequential,
    subclassed,
    two_headed,
    two_headed_data,
)
from kit import cases, normal, raises

EAGER = True


_MODELS = {
    "functional": functional,
    "sequential": sequential,
    "deferred": deferred,
    "subclassed": subclassed,
}


@cases(_MODELS)
def models_are_called(tf, np, make):
    tf.keras.backend.clear_session()
    model = filled(np, make(tf))
    x, _ = data(np)
    with tf.GradientTape() as tape:
        y = model(x)
        loss = tf.reduce_mean(y * y)
    slopes = tape.gradient(loss, model.trainable_variables)
    return {
        "outputs": close([y, model(tf.constant(x[:2])), model.predict(x, batch_size=5)]),
        "slopes": close(slopes),
        "variables": [v.name for v in model.variables],
        "layers": [layer.name for layer in model.layers],
        "built": model.built,
        "params": model.count_params(),
    }


@cases(
    {
        "{} {}".format(name, how): (make, how)
        for name, make in _MODELS.items()
        for how in ("compiled", "eager")
    }
)
def models_are_trained(tf, np, make, how):
    tf.keras.backend.clear_session()
    model = filled(np, make(tf))
    x, y = data(np)
    model.compile("adam", "binary_crossentropy", metrics=["accuracy", "mae"], run_eagerly=how == "eager")
    first = model.fit(x, y, epochs=2, batch_size=5, shuffle=False, verbose=0, validation_data=(x[:4], y[:4]))
    return {
        "history": recorded(first),
        "names": model.metrics_names,
        "evaluated": close([float(v) for v in model.evaluate(x, y, batch_size=5, verbose=0)]),
        "trained": close([float(v) for v in model.train_on_batch(x, y)]),
        "tested": close([float(v) for v in model.test_on_batch(x, y)]),
        "predicted": close(model.predict(x, batch_size=5)),
        "weights": close(model.get_weights()),
        "optimizer": [w.shape for w in model.optimizer.weights],
        "epochs": first.epoch,
        "params": sorted(first.params),
    }


def what_steps_return(tf, np):
    model = filled(np, sequential(tf))
    x, y = data(np)
    model.compile("sgd", "mse")
    single = [model.train_on_batch(x, y), model.test_on_batch(x, y), model.evaluate(x, y, verbose=0)]
    model.compile("sgd", "mse", metrics=["mae"])
    several = [model.train_on_batch(x, y), model.test_on_batch(x, y), model.evaluate(x, y, verbose=0)]
    kinds = [type(v).__name__ in ("float32", "float64", "float") for v in single]
    kinds += [[type(v).__name__ in ("float32", "float64", "float") for v in row] for row in several]
    predicted = model.predict_on_batch(x)
    return [kinds, isinstance(predicted, tf.Tensor), predicted.shape, type(model.predict(x)).__name__]


@cases(
    {
        "sgd": lambda tf: "sgd",
        "momentum": lambda tf: tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True, decay=0.1),
        "rmsprop": lambda tf: tf.keras.optimizers.RMSprop(0.01, centered=True),
        "adagrad": lambda tf: tf.keras.optimizers.Adagrad(0.1),
        "adadelta": lambda tf: tf.keras.optimizers.Adadelta(1.0),
        "amsgrad": lambda tf: tf.keras.optimizers.Adam(0.05, amsgrad=True),
        "adamax": lambda tf: tf.keras.optimizers.Adamax(0.05),
        "nadam": lambda tf: tf.keras.optimizers.Nadam(0.05),
        "ftrl": lambda tf: tf.keras.optimizers.Ftrl(0.1),
        "schedule": lambda tf: tf.keras.optimizers.SGD(
            tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, 0.5)
        ),
        "clipped": lambda tf: tf.keras.optimizers.SGD(1.0, clipnorm=0.01),
        "tf.train sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
        "tf.train adam": lambda tf: tf.train.AdamOptimizer(0.05),
        "tf.train momentum": lambda tf: tf.train.MomentumOptimizer(0.05, 0.9),
    }
)
def optimizers(tf, np, make):
    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile(make(tf), "mse")
    history = model.fit(x, y, epochs=3, batch_size=6, shuffle=False, verbose=0)
    return [recorded(history), close(model.get_weights())]


@cases(
    {
        "one loss each": dict(loss=["mse", "sparse_categorical_crossentropy"], metrics=["acc"]),
        "by names": dict(
            loss={"first": "binary_crossentropy", "second": "sparse_categorical_crossentropy"},
            loss_weights={"first": 0.3, "second": 2.0},
            metrics={"first": ["mae"], "second": "accuracy"},
        ),
        "weights in a list": dict(
            loss=["mae", "sparse_categorical_crossentropy"], loss_weights=[1.0, 0.1], weighted_metrics=["acc"]
        ),
        "one untrained": dict(loss=["mse", None]),
    }
)
def several_outputs(tf, np, arguments):
    model = filled(np, two_headed(tf))
    x, y = two_headed_data(np)
    model.compile("sgd", **arguments)
    if None in list(arguments["loss"]):
        y = y[:1]
    history = model.fit(x, y, epochs=2, batch_size=5, shuffle=False, verbose=0)
    found = [recorded(history), model.metrics_names, close(model.evaluate(x, y, verbose=0))]
    return [*found, close(model.predict(x)), model.input_names, model.output_names]


def data_by_names(tf, np):
    model = filled(np, two_headed(tf))
    x, y = two_headed_data(np)
    model.compile("sgd", ["mse", "sparse_categorical_crossentropy"])
    history = model.fit(
        {"b": x[1], "a": x[0]},
        {"second": y[1], "first": y[0]},
        sample_weight={"first": np.linspace(0, 1, 12), "second": np.linspace(1, 2, 12)},
        shuffle=False,
        verbose=0,
    )
    return [recorded(history), close(model.predict({"a": x[0], "b": x[1]}))]


@cases(
    {
        "samples": dict(sample_weight=[0.0, 1.0, 2.0, 0.5] * 3),
        "classes": dict(class_weight={0: 1.0, 1: 4.0}),
        "both": dict(sample_weight=[0.0, 1.0, 2.0, 0.5] * 3, class_weight={0: 1.0, 1: 4.0}),
        "none": dict(),
    }
)
def weights_of_samples(tf, np, given):
    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile("sgd", "binary_crossentropy", metrics=["acc"], weighted_metrics=["acc"])
    if "sample_weight" in given:
        given = dict(given, sample_weight=np.array(given["sample_weight"]))
    history = model.fit(x, y, epochs=2, batch_size=5, shuffle=False, verbose=0, **given)
    weights = given.get("sample_weight")
    evaluated = model.evaluate(x, y, verbose=0, sample_weight=weights)
    return [recorded(history), close(evaluated), model.metrics_names]


def weights_of_time_steps(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential([l.SimpleRNN(3, return_sequences=True, input_shape=(4, 2)), l.Dense(1)])
    filled(np, model)
    x, y = normal(np, 6, 4, 2).astype(np.float32), normal(np, 6, 4, 1).astype(np.float32)
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    weights = np.cos(np.arange(24)).reshape(6, 4) ** 2
    return recorded(model.fit(x, y, sample_weight=weights, epochs=2, shuffle=False, verbose=0))


@cases(["tensors", "dataset", "repeated", "weighted", "generator", "sequence", "iterator"])
def kinds_of_data(tf, np, kind):
    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile("sgd", "mse", metrics=["mae"])
    whole = tf.data.Dataset.from_tensor_slices((x, y)).batch(5)

    def batches():
        while True:
            for start in (0, 4, 8):
                yield x[start : start + 4], y[start : start + 4]

    class Batches(tf.keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return x[4 * i : 4 * i + 4], y[4 * i : 4 * i + 4]

    rest = dict(verbose=0, epochs=2, shuffle=False)
    if kind == "tensors":
        found = model.fit(tf.constant(x), tf.constant(y), batch_size=5, **rest)
        extra = [model.evaluate(tf.constant(x), tf.constant(y), verbose=0), model.predict(tf.constant(x))]
    elif kind == "dataset":
        found = model.fit(whole, validation_data=whole, **rest)
        extra = [model.evaluate(whole, verbose=0), model.predict(whole)]
    elif kind == "repeated":
        found = model.fit(
            whole.repeat(), steps_per_epoch=4, validation_data=whole.repeat(), validation_steps=2, **rest
        )
        extra = [model.evaluate(whole.repeat(), steps=2, verbose=0), model.predict(whole, steps=2)]
    elif kind == "weighted":
        weighted = tf.data.Dataset.from_tensor_slices((x, y, np.linspace(0, 2, 12))).batch(4)
        found = model.fit(weighted, **rest)
        extra = [model.evaluate(weighted, verbose=0)]
    elif kind == "generator":
        found = model.fit_generator(batches(), steps_per_epoch=3, epochs=2, verbose=0)
        extra = [model.evaluate_generator(batches(), 3), model.predict_generator(batches(), 2)]
    elif kind == "sequence":
        found = model.fit_generator(Batches(), epochs=2, shuffle=False, verbose=0, validation_data=Batches())
        extra = [model.evaluate_generator(Batches()), model.predict_generator(Batches())]
    else:
        found = model.fit(whole.repeat(), steps_per_epoch=2, verbose=0, epochs=2)
        extra = []
    return [recorded(found), close(extra)]


def a_model_learns_its_inputs_from_data(tf, np):
    tf.keras.backend.clear_session()
    l = tf.keras.layers
    x, y = data(np)

    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.out = l.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            return self.out(inputs)

    found = {}
    for name, model in (
        ("stack", tf.keras.Sequential([l.Dense(1, kernel_initializer="ones")])),
        ("net", Net()),
    ):
        before = [model.built, len(model.weights) if model.built else None]
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(x, y, shuffle=False, verbose=0)
        found[name] = [
            before,
            recorded(history),
            model.built,
            [w.name for w in model.weights],
            model.input_names,
            model.output_names,
        ]
    return found


def building_by_shape(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential([l.Dense(2), l.Dense(1)])
    unbuilt = [raises(model.summary), raises(lambda: model.count_params())]
    model.build((None, 3))
    return [unbuilt, [w.shape for w in model.weights], model.built, model.get_config()["build_input_shape"]]


def metrics_are_stateful(tf, np):
    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile("sgd", "mse", metrics=[tf.keras.metrics.MeanAbsoluteError(name="mae"), "acc"])
    kept = [model.test_on_batch(x[i : i + 3], y[i : i + 3], reset_metrics=False) for i in (0, 3, 6)]
    model.reset_metrics()
    again = model.test_on_batch(x[:3], y[:3])
    return [close(kept), close(again), [m.name for m in model.metrics], len(model.metrics[0].variables)]


@cases(
    {
        "mean": lambda m: m.Mean(),
        "accuracy": lambda m: m.BinaryAccuracy(),
        "auc": lambda m: m.AUC(num_thresholds=10),
        "precision": lambda m: m.Precision(),
        "recall": lambda m: m.Recall(0.3),
        "rmse": lambda m: m.RootMeanSquaredError(),
        "cosine": lambda m: m.CosineSimilarity(),
        "positives": lambda m: m.TruePositives([0.2, 0.6]),
    }
)
def metric_objects(tf, np, make):
    metric = make(tf.keras.metrics)
    truth, guess = np.array([[0.0], [1.0], [1.0], [0.0]]), np.array([[0.1], [0.4], [0.9], [0.5]])
    arguments = (guess,) if metric.name == "mean" else (truth, guess)
    first = metric(*arguments)
    metric.update_state(*arguments, sample_weight=np.array([[1.0], [0.0], [2.0], [1.0]]))
    second = metric.result()
    variables = [v.name for v in metric.variables]
    metric.reset_states()
    return [close([first, second, metric.result()]), variables]


def losses_of_layers(tf, np):
    l, k = tf.keras.layers, tf.keras

    class Penalty(l.Layer):
        def call(self, inputs):
            self.add_loss(tf.reduce_sum(tf.abs(inputs)) * 0.01)
            self.add_metric(tf.reduce_sum(inputs), aggregation="mean", name="sum")
            return inputs

    model = k.Sequential(
        [
            l.Dense(
                2, input_shape=(3,), kernel_regularizer="l2", activity_regularizer=k.regularizers.l1(0.1)
            ),
            Penalty(),
            l.Dense(1),
        ]
    )
    filled(np, model)
    x, y = data(np)
    model(tf.constant(x))
    called = close(list(model.losses))
    model(tf.constant(x[:1]))
    again = close(list(model.losses))
    model.compile("sgd", "mse")
    history = model.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    return [called, again, recorded(history), model.metrics_names, close(model.evaluate(x, y, verbose=0))]


def losses_of_models(tf, np):
    x = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(2, name="hidden")(x)
    y = tf.keras.layers.Dense(1, name="out")(hidden)
    model = tf.keras.Model(x, y)
    filled(np, model)
    model.add_loss(tf.reduce_mean(tf.square(hidden)))
    model.add_metric(tf.reduce_sum(y), name="total", aggregation="mean")
    a, b = data(np)
    model.compile("sgd", "mse")
    history = model.fit(a, b, epochs=2, batch_size=6, shuffle=False, verbose=0)
    return [recorded(history), model.metrics_names, close(model.get_weights())]


def a_loss_without_targets(tf, np):
    x = tf.keras.Input((3,))
    y = tf.keras.layers.Dense(2)(x)
    model = tf.keras.Model(x, y)
    filled(np, model)
    model.add_loss(tf.reduce_mean(tf.square(y)))
    model.compile("sgd")
    a, _ = data(np)
    return recorded(model.fit(a, epochs=2, shuffle=False, verbose=0))


def own_losses_and_metrics(tf, np):
    def loss(y_true, y_pred):
        return tf.reduce_mean(tf.abs(y_true - y_pred) ** 1.5, axis=-1)

    def half(y_true, y_pred):
        return 0.5 * tf.reduce_mean(y_pred)

    class Loss(tf.keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1) * 3.0

    found = []
    x, y = data(np)
    for each in (loss, Loss(), tf.keras.losses.Huber(0.3), tf.losses.mean_squared_error):
        model = filled(np, functional(tf))
        model.compile("sgd", each, metrics=[half])
        found.append(recorded(model.fit(x, y, epochs=2, batch_size=5, shuffle=False, verbose=0)))
    return found
