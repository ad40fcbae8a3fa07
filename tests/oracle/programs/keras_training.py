"""tf.keras models: losses of fit, history, names, configs, metrics, optimizers, callbacks, errors."""

import json

from kit import Close, cases, normal, raises


def _data(np, samples=20, inputs=3, classes=2):
    x = np.random.RandomState(1).rand(samples, inputs).astype(np.float32)
    y = (x.sum(axis=1) * 7).astype(np.int64) % classes
    return x, y


def _dense(tf, units, **kwargs):
    return tf.keras.layers.Dense(units, kernel_initializer=_fill(tf), **kwargs)


def _fill(tf):
    return tf.keras.initializers.glorot_uniform(seed=3)


def _mlp(tf, outputs=1, activation="sigmoid", **kwargs):
    return tf.keras.Sequential(
        [
            _dense(tf, 4, activation="tanh", input_shape=(3,)),
            _dense(tf, outputs, activation=activation, **kwargs),
        ]
    )


def _close(history):
    return {name: Close([float(v) for v in values], 2e-4, 1e-5) for name, values in history.items()}


_OPTIMIZERS = {
    "sgd": lambda o: "sgd",
    "momentum": lambda o: o.SGD(0.1, momentum=0.9),
    "nesterov": lambda o: o.SGD(0.1, momentum=0.9, nesterov=True, decay=0.01),
    "rmsprop": lambda o: "rmsprop",
    "rmsprop centered": lambda o: o.RMSprop(0.01, centered=True, momentum=0.5),
    "rmsprop centered plain": lambda o: o.RMSprop(0.01, centered=True),
    "adagrad": lambda o: o.Adagrad(0.1),
    "adadelta": lambda o: o.Adadelta(1.0),
    "adam": lambda o: o.Adam(0.05),
    "amsgrad": lambda o: o.Adam(0.05, amsgrad=True),
    "adamax": lambda o: o.Adamax(0.05),
    "nadam": lambda o: o.Nadam(0.05),
    "ftrl": lambda o: o.Ftrl(0.1),
    "clipped": lambda o: o.SGD(1.0, clipnorm=0.01),
    "clipped values": lambda o: o.SGD(1.0, clipvalue=0.01),
}


@cases({name: name for name in _OPTIMIZERS})
def optimizers(tf, np, name):
    model = _mlp(tf)
    model.compile(_OPTIMIZERS[name](tf.keras.optimizers), "binary_crossentropy")
    x, y = _data(np)
    history = model.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
    config = {
        k: Close(v, 1e-6) if isinstance(v, float) else v for k, v in model.optimizer.get_config().items()
    }
    return {
        "history": _close(history.history),
        "weights": [w.name for w in model.optimizer.weights],
        "values": Close(model.get_weights(), 2e-4, 1e-5),
        "config": {
            k: (Close(float(v.value), 1e-6) if isinstance(v, Close) else v)
            for k, v in config.items()
            if not hasattr(v, "dtype")
        },
    }


@cases({name: name for name in ("sgd", "rmsprop", "adagrad", "adam", "adamax", "nadam", "adadelta")})
def optimizers_of_embeddings(tf, np, name):
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(7, 3, input_length=4, embeddings_initializer=_fill(tf)),
            tf.keras.layers.Flatten(),
            _dense(tf, 1),
        ]
    )
    model.compile(name, "mse")
    x = np.arange(24).reshape(6, 4) % 7
    history = model.fit(x, np.ones(6), epochs=2, batch_size=3, shuffle=False, verbose=0)
    return [_close(history.history), Close(model.get_weights(), 5e-4, 1e-5)]


_LOSSES = [
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_logarithmic_error",
    "squared_hinge",
    "hinge",
    "categorical_hinge",
    "logcosh",
    "categorical_crossentropy",
    "binary_crossentropy",
    "kullback_leibler_divergence",
    "poisson",
    "cosine_proximity",
]


@cases(*_LOSSES)
def losses_of_models(tf, np, loss):
    x, y = _data(np, classes=3)
    model = _mlp(tf, 3, "softmax")
    model.compile("sgd", loss, metrics=["acc", "mae"])
    targets = tf.keras.utils.to_categorical(y, 3)
    weights = np.linspace(0.1, 2.0, len(x))
    history = model.fit(x, targets, epochs=2, batch_size=8, shuffle=False, verbose=0, sample_weight=weights)
    return [_close(history.history), model.metrics_names, Close(model.evaluate(x, targets, verbose=0), 2e-4)]


_LOSS_OBJECTS = {
    "mse": lambda l: l.MeanSquaredError(),
    "sum": lambda l: l.MeanSquaredError(reduction="sum"),
    "huber": lambda l: l.Huber(0.1),
    "logits": lambda l: l.BinaryCrossentropy(from_logits=True, label_smoothing=0.1),
    "smoothed": lambda l: l.CategoricalCrossentropy(label_smoothing=0.2),
    "cosine": lambda l: l.CosineSimilarity(),
    "none": lambda l: l.MeanAbsoluteError(reduction="none"),
}


@cases({name: name for name in _LOSS_OBJECTS})
def loss_objects(tf, np, name):
    loss = _LOSS_OBJECTS[name](tf.keras.losses)
    y = tf.constant(np.eye(3, dtype=np.float32))
    p = tf.nn.softmax(tf.constant(normal(np, 3, 3).astype(np.float32)))
    found = [loss(y, p), loss(y, p, sample_weight=tf.constant([0.5, 1.0, 2.0]))]
    return [Close(tf.keras.backend.get_session().run(found), 1e-5), loss.get_config()]


_METRICS = {
    "accuracy": lambda m: m.Accuracy(),
    "binary": lambda m: m.BinaryAccuracy(threshold=0.4),
    "categorical": lambda m: m.CategoricalAccuracy(),
    "top": lambda m: m.TopKCategoricalAccuracy(k=2),
    "mean absolute": lambda m: m.MeanAbsoluteError(),
    "rmse": lambda m: m.RootMeanSquaredError(),
    "auc": lambda m: m.AUC(num_thresholds=20),
    "auc pr": lambda m: m.AUC(num_thresholds=20, curve="PR"),
    "auc minoring": lambda m: m.AUC(num_thresholds=20, summation_method="minoring"),
    "precision": lambda m: m.Precision(),
    "recall": lambda m: m.Recall(thresholds=[0.2, 0.6]),
    "precision top": lambda m: m.Precision(top_k=1),
    "false positives": lambda m: m.FalsePositives(),
    "true negatives": lambda m: m.TrueNegatives(thresholds=[0.1, 0.5]),
    "sensitivity": lambda m: m.SensitivityAtSpecificity(0.5, num_thresholds=10),
    "specificity": lambda m: m.SpecificityAtSensitivity(0.5, num_thresholds=10),
    "cosine": lambda m: m.CosineSimilarity(),
    "kld": lambda m: m.KLDivergence(),
    "crossentropy": lambda m: m.CategoricalCrossentropy(),
    "hinge": lambda m: m.SquaredHinge(),
}


@cases({name: name for name in _METRICS})
def metric_objects(tf, np, name):
    metric = _METRICS[name](tf.keras.metrics)
    y = np.eye(3, dtype=np.float32)[[0, 1, 2, 1]]
    p = 1 / (1 + np.exp(-normal(np, 4, 3))).astype(np.float32)
    weights = np.array([0.5, 1.0, 2.0, 1.5], np.float32)
    session = tf.keras.backend.get_session()
    updates = [metric.update_state(y, p), metric.update_state(y, p[::-1].copy(), sample_weight=weights)]
    result = metric.result()
    session = tf.keras.backend.get_session()
    found = []
    for update in updates:
        session.run(update)
        found.append(session.run(result))
    metric.reset_states()
    found.append(session.run(result))
    config = {k: v for k, v in metric.get_config().items() if k != "thresholds"}
    return [Close(found, 2e-5, 1e-6), config, [v.name for v in metric.variables]]


def several_outputs(tf, np):
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((2,), name="b")
    h = tf.keras.layers.concatenate([_dense(tf, 4)(a), _dense(tf, 4)(b)])
    one, two = (
        _dense(tf, 1, name="one", activation="sigmoid")(h),
        _dense(tf, 3, name="two", activation="softmax")(h),
    )
    model = tf.keras.Model([a, b], [one, two])
    model.compile(
        "sgd",
        {"one": "binary_crossentropy", "two": "sparse_categorical_crossentropy"},
        loss_weights={"one": 0.5, "two": 2.0},
        metrics={"one": ["acc"], "two": ["accuracy", "mse"]},
    )
    x, y = _data(np, classes=3)
    given = {"a": x, "b": x[:, :2]}
    history = model.fit(given, {"one": y % 2, "two": y}, batch_size=5, epochs=2, shuffle=False, verbose=0)
    text = []
    model.summary(print_fn=text.append)
    return {
        "history": _close(history.history),
        "names": model.metrics_names,
        "evaluated": Close(model.evaluate(given, [y % 2, y], verbose=0), 2e-4),
        "batch": Close(model.train_on_batch([x, x[:, :2]], [y % 2, y]), 2e-4),
        "predicted": Close(model.predict_on_batch([x, x[:, :2]]), 2e-4),
        "summary": text,
        "config": json.loads(json.dumps(model.get_config())),
        "layers": [layer.name for layer in model.layers],
        "outputs": model.output_names,
    }


def weights_of_classes(tf, np):
    x, y = _data(np)
    model = _mlp(tf)
    model.compile("sgd", "binary_crossentropy", metrics=["acc"], weighted_metrics=["acc"])
    history = model.fit(x, y, epochs=2, shuffle=False, verbose=0, class_weight={0: 1.0, 1: 3.0})
    return [_close(history.history), model.metrics_names]


def validation(tf, np):
    np.random.seed(4)
    x, y = _data(np)
    model = _mlp(tf)
    model.compile("adam", "mse", metrics=["accuracy"])
    first = model.fit(x, y, epochs=3, batch_size=4, validation_split=0.25, verbose=0)
    second = model.fit(
        x,
        y,
        epochs=5,
        initial_epoch=3,
        batch_size=4,
        validation_data=(x[:5], y[:5]),
        verbose=0,
        validation_freq=2,
    )
    return [_close(first.history), first.epoch, second.epoch, _close(second.history), sorted(first.params)]


def generators_and_sequences(tf, np):
    x, y = _data(np)

    class Batches(tf.keras.utils.Sequence):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return x[i * 5 : i * 5 + 5], y[i * 5 : i * 5 + 5]

    def forever():
        while True:
            for i in range(4):
                yield x[i * 5 : i * 5 + 5], y[i * 5 : i * 5 + 5]

    model = _mlp(tf)
    model.compile("sgd", "mse", metrics=["acc"])
    first = model.fit_generator(forever(), steps_per_epoch=4, epochs=2, verbose=0)
    second = model.fit_generator(Batches(), epochs=2, verbose=0, shuffle=False, validation_data=Batches())
    return [
        _close(first.history),
        _close(second.history),
        Close(model.evaluate_generator(Batches()), 2e-4),
        Close(model.predict_generator(Batches()), 2e-4),
    ]


def datasets(tf, np):
    x, y = _data(np)
    dataset = tf.data.Dataset.from_tensor_slices((x, y.astype(np.float32).reshape(-1, 1))).batch(5)
    model = _mlp(tf)
    model.compile("sgd", "mse", metrics=["acc"])
    history = model.fit(dataset.repeat(), steps_per_epoch=4, epochs=2, verbose=0)
    return [
        _close(history.history),
        Close(model.evaluate(dataset, steps=4, verbose=0), 2e-4),
        Close(model.predict(dataset, steps=4), 2e-4),
    ]


def a_subclassed_model(tf, np):
    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__(name="net")
            self.first = _dense(tf, 4, activation="relu")
            self.rest = [_dense(tf, 3), _dense(tf, 2, activation="softmax")]
            self.drop = tf.keras.layers.Dropout(0.5)

        def call(self, inputs, training=None):
            x = self.drop(self.first(inputs), training=False)
            for layer in self.rest:
                x = layer(x)
            return x

    x, y = _data(np)
    model = Net()
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["acc"])
    history = model.fit(x, y, epochs=2, batch_size=5, shuffle=False, verbose=0)
    return [
        _close(history.history),
        [w.name for w in model.weights],
        [layer.name for layer in model.layers],
        Close(model.predict(x[:2]), 2e-4),
        model.output_names,
        model.count_params(),
    ]


def models_of_models(tf, np):
    inner = _mlp(tf, 2, "relu")
    x = tf.keras.Input((3,))
    y = _dense(tf, 1)(inner(x))
    model = tf.keras.Model(x, y)
    model.layers[1].trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    data, target = _data(np)
    model.fit(data, target, epochs=1, verbose=0, shuffle=False)
    after = model.get_weights()
    text = []
    model.summary(print_fn=text.append)
    again = tf.keras.Model.from_config(model.get_config())
    return [
        [bool(np.all(a == b)) for a, b in zip(before, after)],
        [w.name for w in model.weights],
        [w.name for w in model.trainable_weights],
        text,
        [layer.name for layer in again.layers],
        len(json.loads(model.to_json())["config"]["layers"]),
    ]


def learning_rates(tf, np):
    x, y = _data(np)
    model = _mlp(tf)
    model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    callbacks = [
        tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.5 / (epoch + 1)),
        tf.keras.callbacks.ReduceLROnPlateau("loss", patience=1, min_delta=10.0),
        tf.keras.callbacks.EarlyStopping("loss", patience=2, min_delta=10.0, restore_best_weights=True),
    ]
    history = model.fit(x, y, epochs=9, shuffle=False, verbose=0, callbacks=callbacks)
    return [_close(history.history), history.epoch, Close(model.get_weights(), 2e-4, 1e-5)]


_SCHEDULES = {
    "exponential": lambda s, e: s.ExponentialDecay(0.5, 2, 0.5),
    "stairs": lambda s, e: s.ExponentialDecay(0.5, 2, 0.5, staircase=True),
    "inverse": lambda s, e: s.InverseTimeDecay(0.5, 2, 0.5),
    "polynomial": lambda s, e: s.PolynomialDecay(0.5, 4, 0.1),
    "pieces": lambda s, e: s.PiecewiseConstantDecay([1, 3], [0.5, 0.2, 0.1]),
    "cosine": lambda s, e: e.CosineDecay(0.5, 4),
    "restarts": lambda s, e: e.CosineDecayRestarts(0.5, 2),
    "linear cosine": lambda s, e: e.LinearCosineDecay(0.5, 4),
}


@cases({name: name for name in _SCHEDULES})
def schedules(tf, np, name):
    x, y = _data(np)
    schedule = _SCHEDULES[name](tf.keras.optimizers.schedules, tf.keras.experimental)
    model = _mlp(tf)
    model.compile(tf.keras.optimizers.SGD(schedule), "mse")
    history = model.fit(x, y, epochs=3, batch_size=10, shuffle=False, verbose=0)
    return [_close(history.history), schedule.get_config(), model.optimizer.get_config()["learning_rate"]]


def what_callbacks_see(tf, np):
    seen = []

    class Watch(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(
                ("train begins", sorted(k for k in self.params if k != "metrics"), self.params["metrics"])
            )

        def on_epoch_begin(self, epoch, logs=None):
            seen.append(("epoch", epoch))

        def on_batch_end(self, batch, logs=None):
            seen.append((batch, sorted(logs), int(logs["size"])))

        def on_epoch_end(self, epoch, logs=None):
            seen.append(("ends", epoch, sorted(logs)))

        def on_test_begin(self, logs=None):
            seen.append("test")

        def on_train_end(self, logs=None):
            seen.append("train ends")

    x, y = _data(np)
    model = _mlp(tf)
    model.compile("sgd", "mse", metrics=["acc"])
    model.fit(x, y, epochs=2, batch_size=8, verbose=0, callbacks=[Watch()], validation_data=(x, y))
    return seen


def constraints_and_regularizers(tf, np):
    k = tf.keras
    x, y = _data(np)
    model = _mlp(
        tf,
        kernel_constraint=k.constraints.MaxNorm(0.1),
        kernel_regularizer=k.regularizers.l1_l2(0.01, 0.02),
        bias_constraint="non_neg",
        activity_regularizer="l2",
    )
    model.compile(k.optimizers.SGD(1.0), "mse")
    history = model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    return [_close(history.history), Close(model.get_weights(), 2e-4, 1e-5), len(model.losses)]


_BAD = {
    "no compile": lambda tf, np, m: m.fit(np.ones((2, 3)), np.ones(2)),
    "input rank": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3, 1)), np.ones(2)),
    "input shape": lambda tf, np, m: _compiled(m).fit(np.ones((2, 4)), np.ones(2)),
    "target shape": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3)), np.ones((2, 2))),
    "samples": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3)), np.ones(3)),
    "optimizer": lambda tf, np, m: m.compile("nothing", "mse"),
    "loss": lambda tf, np, m: m.compile("sgd", "nothing"),
    "metric": lambda tf, np, m: m.compile("sgd", "mse", metrics=["nothing"]),
    "no layer": lambda tf, np, m: m.get_layer("nothing"),
    "layer index": lambda tf, np, m: m.get_layer(index=9),
    "add": lambda tf, np, m: m.add(3),
    "disconnected": lambda tf, np, m: tf.keras.Model(tf.keras.Input((3,)), m.output),
    "not keras": lambda tf, np, m: tf.keras.Model(tf.zeros([2, 3]), m.output),
    "same names": lambda tf, np, m: tf.keras.Sequential(
        [tf.keras.layers.Dense(2, name="d", input_shape=(2,)), tf.keras.layers.Dense(2, name="d")]
    ),
    "crossentropy": lambda tf, np, m: _compiled(_mlp(tf, 3), "categorical_crossentropy").fit(
        np.ones((2, 3)), np.ones((2, 1))
    ),
    "weights": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3)), np.ones(2), sample_weight=np.ones((2, 2))),
    "unbuilt": lambda tf, np, m: tf.keras.Sequential([tf.keras.layers.Dense(2)]).summary(),
    "clip": lambda tf, np, m: tf.keras.optimizers.SGD(clipnorm=-1.0),
    "optimizer keyword": lambda tf, np, m: tf.keras.optimizers.SGD(colour=1.0),
}


def _compiled(model, loss="mse"):
    model.compile("sgd", loss)
    return model


@cases({name: name for name in _BAD})
def bad_models(tf, np, name):
    return raises(_BAD[name], tf, np, _mlp(tf))
