"""Around Keras's models: callbacks and their arguments, copies of models, configurations, utilities."""

import io
import json
import os
import tempfile

from kit import Close, cases, normal, raises


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _model(tf, **kwargs):
    l = tf.keras.layers
    first = l.Dense(
        4,
        activation="tanh",
        kernel_initializer=tf.keras.initializers.glorot_uniform(seed=3),
        input_shape=(3,),
    )
    model = tf.keras.Sequential([first, l.Dense(1, kernel_initializer="ones", name="last")], name="it")
    if kwargs:
        model.compile(**kwargs)
    return model


def _fitted(tf, np, callbacks, **options):
    model = _model(tf, optimizer=tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    x = _one(np, 8, 3)
    given = dict(batch_size=4, epochs=4, shuffle=False, verbose=0, validation_data=(x[:4], x[:4, :1]))
    given.update(options)
    return model, model.fit(x, x[:, :1], callbacks=callbacks, **given)


def _rounded(history):
    return {key: Close([float(v) for v in values], 1e-3, 1e-5) for key, values in sorted(history.items())}


_PLATEAUS = {
    "cooldown": dict(monitor="loss", factor=0.5, patience=1, cooldown=2, min_delta=10.0),
    "least": dict(monitor="loss", factor=0.1, patience=1, min_lr=0.05, min_delta=10.0),
    "mode": dict(monitor="val_mae", factor=0.5, patience=1, mode="max", min_delta=10.0),
    "epsilon": dict(monitor="loss", factor=0.5, patience=2, epsilon=10.0),
}


@cases({name: name for name in _PLATEAUS})
def plateaus(tf, np, name):
    callback = tf.keras.callbacks.ReduceLROnPlateau(**_PLATEAUS[name])
    _, history = _fitted(tf, np, [callback], epochs=6)
    return _rounded(history.history), history.epoch, callback.in_cooldown()


_STOPS = {
    "baseline": dict(monitor="loss", baseline=0.001),
    "patience": dict(monitor="val_loss", patience=1, min_delta=5.0),
    "mode": dict(monitor="val_mae", mode="max"),
    "restored": dict(monitor="loss", min_delta=9.0, patience=2, restore_best_weights=True),
    "auto": dict(monitor="acc", patience=1),
}


@cases({name: name for name in _STOPS})
def early_stops(tf, np, name):
    callback = tf.keras.callbacks.EarlyStopping(**_STOPS[name])
    model, history = _fitted(tf, np, [callback], epochs=6)
    return [
        _rounded(history.history),
        callback.stopped_epoch,
        Close(float(callback.best), 1e-3),
        Close(model.get_weights(), 1e-3, 1e-5),
        raises(tf.keras.callbacks.ReduceLROnPlateau, factor=1.5),
    ]


@cases({"append": True, "anew": False})
def csv_logs(tf, np, append):
    path = os.path.join(tempfile.mkdtemp(), "log.csv")
    for _ in range(2):
        _fitted(tf, np, [tf.keras.callbacks.CSVLogger(path, separator=";", append=append)], epochs=2)
    with open(path) as f:
        lines = f.read().splitlines()
    return [line.split(";")[0] for line in lines], lines[0], [len(line.split(";")) for line in lines]


def lambda_callbacks(tf, np):
    said = []

    def sayer(what):
        return lambda number=None, logs=None: said.append((what, number, sorted(logs or {})))

    moments = ["epoch_begin", "epoch_end", "batch_begin", "batch_end", "train_begin", "train_end"]
    _fitted(tf, np, [tf.keras.callbacks.LambdaCallback(**{"on_" + m: sayer(m) for m in moments})], epochs=2)
    return said


def callbacks_of_the_program(tf, np):
    said = []

    class Mine(tf.keras.callbacks.Callback):
        def __getattribute__(self, name):
            found = object.__getattribute__(self, name)
            if not name.startswith("on_"):
                return found

            def told(*args, **kwargs):
                plain = [sorted(a) if isinstance(a, dict) else a for a in args]
                said.append((name, plain, sorted(kwargs)))
                return found(*args, **kwargs)

            return told

    mine = Mine()
    model, _ = _fitted(tf, np, [mine], epochs=1)
    count = len(said)
    x = _one(np, 8, 3)
    model.evaluate(x, x[:, :1], batch_size=4, verbose=0, callbacks=[mine])
    model.predict(x, batch_size=4, callbacks=[mine])
    return said, count, sorted(mine.params), mine.model is model


def learning_rates(tf, np):
    rates = []

    class Rates(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            rates.append(float(tf.keras.backend.get_value(self.model.optimizer.lr)))

    c = tf.keras.callbacks
    _, history = _fitted(tf, np, [c.LearningRateScheduler(lambda e, lr: lr * 0.5), Rates()])
    _fitted(tf, np, [c.LearningRateScheduler(schedule=lambda e: 0.1 / (e + 1), verbose=0), Rates()])
    return [
        Close(rates, 1e-6),
        Close([float(v) for v in history.history["lr"]], 1e-6),
        raises(_fitted, tf, np, [c.LearningRateScheduler(lambda e: "high")]),
        raises(_fitted, tf, np, [c.LearningRateScheduler(3)]),
    ]


_CHECKPOINTS = {
    "epochs": ("{epoch:02d}.h5", dict()),
    "best": ("best-{val_loss:.3f}.h5", dict(save_best_only=True)),
    "weights": ("w{epoch}", dict(save_weights_only=True)),
    "period": ("p{epoch}.h5", dict(period=2)),
    "frequency": ("f{epoch}.h5", dict(save_freq=12, save_weights_only=True)),
    "max": ("m.h5", dict(monitor="mae", mode="max", save_best_only=True)),
    "missing": ("x.h5", dict(monitor="nothing", save_best_only=True)),
}


@cases({name: name for name in _CHECKPOINTS})
def checkpoints(tf, np, name):
    folder = tempfile.mkdtemp()
    pattern, options = _CHECKPOINTS[name]
    _fitted(tf, np, [tf.keras.callbacks.ModelCheckpoint(os.path.join(folder, pattern), **options)])
    return sorted(os.listdir(folder))


def checkpoints_refused(tf, np):
    made = tf.keras.callbacks.ModelCheckpoint
    return [
        raises(made, "x", save_freq="batch"),
        raises(made, "x", bad=3),
        made("x", mode="odd").monitor_op is np.less,
    ]


@cases({"steps": "steps", "samples": "samples"})
def progress(tf, np, mode):
    callback = tf.keras.callbacks.ProgbarLogger(count_mode=mode, stateful_metrics=["mae"])
    _, history = _fitted(tf, np, [callback], epochs=2)
    return _rounded(history.history), sorted(callback.stateful_metrics)


def progress_of_nothing(tf, np):
    return raises(tf.keras.callbacks.ProgbarLogger, count_mode="other")


def tensorboards(tf, np):
    folder = tempfile.mkdtemp()
    callback = tf.keras.callbacks.TensorBoard(
        log_dir=folder,
        histogram_freq=1,
        write_graph=False,
        write_images=True,
        update_freq="batch",
        profile_batch=0,
    )
    _fitted(tf, np, [callback], epochs=2)
    found = set()
    for path in tf.gfile.Glob(folder + "/*tfevents*") + tf.gfile.Glob(folder + "/*/*tfevents*"):
        for event in tf.train.summary_iterator(path):
            found |= {(v.tag, v.WhichOneof("value")) for v in event.summary.value}
    return sorted(found), raises(tf.keras.callbacks.TensorBoard, folder, update_freq="never")


def nothing_is_not_a_number(tf, np):
    model = _model(tf, optimizer="sgd", loss="mse")
    x = np.full((8, 3), np.nan, np.float32)
    history = model.fit(x, x[:, :1], batch_size=2, verbose=0, callbacks=[tf.keras.callbacks.TerminateOnNaN()])
    return len(history.epoch), model.stop_training


def base_loggers(tf, np):
    base = tf.keras.callbacks.BaseLogger(stateful_metrics=["kept"])
    base.set_params({"metrics": ["loss", "kept"]})
    base.on_epoch_begin(0)
    base.on_batch_end(0, {"size": 2, "loss": 1.0, "kept": 5.0})
    base.on_batch_end(1, {"size": 1, "loss": 4.0, "kept": 7.0})
    logs, history = {}, tf.keras.callbacks.History()
    base.on_epoch_end(0, logs)
    logs = {key: float(v) for key, v in logs.items()}
    history.on_train_begin()
    history.on_epoch_end(0, {"loss": 3.0})
    history.on_epoch_end(1, {"loss": 2.0})
    return logs, history.history, history.epoch


# ---------------------------------------------------------------------------------------------- models again


def cloned_models(tf, np):
    model = _model(tf)
    k, given = tf.keras, _one(np, 2, 3)
    x = k.Input((3,), name="x")
    on = k.models.clone_model(model, input_tensors=[x])

    def wider(layer):
        config = layer.get_config()
        if "units" in config and layer.name != "last":
            config["units"] = 7
        return type(layer).from_config(config)

    wide = k.models.clone_model(model, clone_function=wider)
    functional = k.Model(x, model(x), name="outer")
    again = k.models.clone_model(functional)
    plain = k.models.clone_model(model)
    plain.set_weights(model.get_weights())
    return [
        [w.shape for w in wide.weights],
        [layer.name for layer in wide.layers],
        wide.name,
        [type(m).__name__ for m in (on, wide, again)],
        [t.name for t in on.inputs],
        np.allclose(plain.predict(given), model.predict(given)),
        [layer.name for layer in again.layers],
        raises(k.models.clone_model, 3),
        raises(k.models.clone_model, functional, clone_function=3),
    ]


def models_of_configurations(tf, np):
    m, model = tf.keras.models, _model(tf)
    config = {"class_name": "Sequential", "config": model.get_config()}
    text = json.loads(model.to_json())

    class Mine(tf.keras.layers.Dense):
        pass

    mine = tf.keras.Sequential([Mine(2, input_shape=(3,))])
    given = {"Mine": Mine}
    return [
        [layer.name for layer in m.model_from_config(config).layers],
        sorted(text),
        [text["class_name"], text["backend"]],
        m.model_from_json(mine.to_json(indent=1), custom_objects=given).layers[0].units,
        raises(m.model_from_json, mine.to_json()),
        type(m.model_from_config(json.loads(mine.to_json()), custom_objects=given).layers[0]).__name__,
        raises(m.model_from_config, [config]),
        raises(m.model_from_config, {"class_name": "Nothing", "config": {}}),
        type(tf.keras.layers.deserialize(tf.keras.layers.serialize(mine.layers[0]), given)).__name__,
        tf.keras.layers.serialize(tf.keras.layers.Dropout(0.5, name="d")),
    ]


def saved_models(tf, np):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "model.h5")
    model, given = _model(tf, optimizer="adam", loss="mse"), _one(np, 4, 3)
    model.train_on_batch(given, given[:, :1])
    tf.keras.models.save_model(model, path, overwrite=True, include_optimizer=True, save_format="h5")
    with open(os.path.join(folder, "text"), "w") as f:
        f.write("no model")
    again = tf.keras.models.load_model(path, compile=True)
    plain = tf.keras.models.load_model(path, compile=False)
    return [
        np.allclose(again.predict(given), model.predict(given), atol=1e-6),
        np.allclose(plain.predict(given), model.predict(given), atol=1e-6),
        type(again.optimizer).__name__,
        [w.name for w in again.weights],
        raises(tf.keras.models.load_model, os.path.join(folder, "nothing")),
        raises(tf.keras.models.load_model, os.path.join(folder, "text")),
        raises(plain.evaluate, given, given[:, :1]),
    ]


def weights_by_name(tf, np):
    path = os.path.join(tempfile.mkdtemp(), "w.h5")
    model = _model(tf)
    model.save_weights(path)
    l = tf.keras.layers
    other = tf.keras.Sequential(
        [l.Dense(2, input_shape=(4,)), l.Dense(1, name="last", kernel_initializer="zeros")]
    )
    same = tf.keras.Sequential(
        [l.Dense(4, input_shape=(3,)), l.Dense(1, name="last", kernel_initializer="zeros")]
    )
    same.load_weights(path, by_name=True)
    return [
        [float(w.sum()) for w in same.get_weights()[2:]],
        raises(other.load_weights, path, by_name=True),
        raises(tf.keras.Sequential([l.Dense(1, input_shape=(3,))]).load_weights, path),
        raises(model.load_weights, path + ".none"),
        raises(tf.keras.Sequential([l.Dense(3)]).save_weights, path),
    ]


# ------------------------------------------------------------------------------------------------- utilities


def objects_of_the_program(tf, np):
    u = tf.keras.utils

    def mine(x):
        return x * 3.0

    class Thing:
        def __init__(self, a=1):
            self.a = a

        def get_config(self):
            return {"a": self.a}

        @classmethod
        def from_config(cls, config):
            return cls(**config)

    found = [
        u.serialize_keras_object(mine),
        u.serialize_keras_object(Thing(2)),
        u.serialize_keras_object(None),
    ]
    with u.CustomObjectScope({"mine": mine}, {"Thing": Thing}):
        found += [sorted(u.get_custom_objects()), tf.keras.activations.get("mine") is mine]
        found.append(u.deserialize_keras_object({"class_name": "Thing", "config": {"a": 5}}).a)
    u.get_custom_objects()["mine"] = mine
    found.append(tf.keras.activations.get("mine") is mine)
    u.get_custom_objects().clear()
    return found + [
        u.deserialize_keras_object("mine", module_objects={"mine": mine}) is mine,
        u.deserialize_keras_object("mine", custom_objects={"mine": mine}) is mine,
        raises(u.deserialize_keras_object, "mine", module_objects={}, printable_module_name="thing"),
        raises(u.deserialize_keras_object, {"class_name": "Thing", "config": {}}, module_objects={}),
        raises(u.deserialize_keras_object, {"wrong": 3}, module_objects={}),
        raises(u.serialize_keras_object, 3),
    ]


def sources_of_tensors(tf, np):
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((3,), name="b")
    layer = tf.keras.layers.Dense(2)
    c, d = layer(a), layer(b)
    e = tf.keras.layers.concatenate([c, d])
    sources = tf.keras.utils.get_source_inputs
    return [
        [x.name for x in sources(e)],
        [x.name for x in sources(d, layer=layer, node_index=1)],
        [x.name for x in sources(c, layer, 0)],
        [x.name for x in sources(a)],
        raises(sources, tf.constant(1.0)),
    ]


def categories(tf, np):
    u = tf.keras.utils
    return [
        u.to_categorical([0, 2, 1]),
        u.to_categorical([[0], [2]], num_classes=4, dtype="int32"),
        u.to_categorical(np.array([[0, 1], [2, 0]])),
        u.to_categorical(3, 5),
        raises(u.to_categorical, [5], 3),
        u.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])),
        u.normalize(np.array([[3.0, 4.0], [1.0, 1.0]]), axis=0, order=1),
        u.normalize(x=np.array([3.0, 4.0]), order=np.inf),
    ]


def _bar_text(text):
    """What a bar shows, without times."""
    import re

    return re.sub(r"\d+[mu]?s(?:/\w+)?|\d+:\d+(:\d+)?", "T", text).replace("\x08", "")


_BARS = {
    "plain": dict(target=3, interval=0),
    "narrow": dict(target=3, width=10, interval=0),
    "lines": dict(target=3, verbose=2),
    "silent": dict(target=3, verbose=0),
    "unknown": dict(target=None, interval=0),
    "unit": dict(target=3, interval=0, unit_name="thing"),
    "kept": dict(target=3, interval=0, stateful_metrics=["a"]),
}


@cases({name: name for name in _BARS})
def bars(tf, np, name):
    import sys

    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        bar = tf.keras.utils.Progbar(**_BARS[name])
        bar.update(1, values=[("a", 1.0), ("b", 0.0001)])
        bar.update(2, [("a", 3.0)])
        bar.add(1, values=[("a", 8.0)])
        text = sys.stdout.getvalue()
    finally:
        sys.stdout = out
    return _bar_text(text)


class _Squares:
    def __init__(self, np, sequence):
        class Squares(sequence):
            def __len__(self):
                return 3

            def __getitem__(self, index):
                return np.full((2,), index * index), np.full((2,), index)

        self.made = Squares()


def enqueuers(tf, np):
    u = tf.keras.utils
    squares = _Squares(np, u.Sequence).made
    found = []
    ordered = u.OrderedEnqueuer(squares, use_multiprocessing=False, shuffle=False)
    found.append([ordered.is_running(), ordered.use_multiprocessing])
    ordered.start(workers=1, max_queue_size=4)
    batches = ordered.get()
    found.append([next(batches)[0] for _ in range(5)])
    found.append(ordered.is_running())
    ordered.stop(timeout=5)
    found.append(ordered.is_running())
    generated = u.GeneratorEnqueuer((n for n in (3, 1, 2)), use_multiprocessing=False, random_seed=3)
    generated.start(1, 4)
    found.append(list(generated.get()))
    generated.stop()
    found.append([list(item[0]) for item in squares])
    return found


def failing_generators(tf, np):
    def broken():
        yield 1
        raise ValueError("mine")

    enqueuer = tf.keras.utils.GeneratorEnqueuer(broken())
    enqueuer.start(1, 2)
    values = enqueuer.get()
    first = next(values)
    return first, raises(next, values)


def matrices_of_files(tf, np):
    import h5py

    path = os.path.join(tempfile.mkdtemp(), "m.h5")
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(12.0).reshape(6, 2)
    x = tf.keras.utils.HDF5Matrix(path, "x", start=1, end=5, normalizer=lambda v: v * 2.0)
    whole = tf.keras.utils.HDF5Matrix(path, "x")
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    return [
        [len(x), x.shape, x.ndim, x.size, str(x.dtype)],
        [x[0], x[1:3], x[np.array([0, 2])], x[[1, 2]]],
        raises(lambda: x[9]),
        raises(lambda: x[2:9]),
        raises(lambda: x[np.array([0, 9])]),
        [len(whole), whole[5]],
        model.predict(whole, batch_size=2),
    ]


def gradients_of_optimizers(tf, np):
    k, o = tf.keras.backend, tf.keras.optimizers
    v, w = k.variable([1.0, 2.0], name="v"), k.variable([3.0], name="w")
    loss = tf.reduce_sum(v * v) + 0.0
    clipped = o.SGD(1.0, clipvalue=1.5)
    opt = o.SGD(1.0, clipnorm=1.0)
    session = k.get_session()
    slot = opt.add_slot(v, "mine", initializer="ones") if hasattr(opt, "_create_slots") else None
    weight = opt.add_weight("number", (), initializer="zeros", trainable=False)
    return [
        session.run(clipped.get_gradients(loss, [v])),
        session.run(opt.get_gradients(loss, [v])),
        raises(opt.get_gradients, loss, [w]),
        [slot.name, slot.shape, weight.name],
        opt.get_slot(v, "mine") is slot,
        k.get_value(slot),
        [x.name for x in opt.weights],
        opt.get_slot_names(),
    ]
