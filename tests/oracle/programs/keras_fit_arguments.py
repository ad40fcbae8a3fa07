"""What `fit` and its relatives take, and what callbacks are told, in graph mode."""

from keras_models import close, recorded
from kit import cases, normal, raises


def _net(tf, np, outputs=1, activation=None):
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.Dense(4, "tanh", input_shape=(3,)), l.Dense(outputs, activation, name="out")]
    )
    random = np.random.RandomState(1)
    model.set_weights([random.rand(*weight.shape) - 0.5 for weight in model.get_weights()])
    return model


def _batches(np, weights=False):
    x, y = normal(np, 4, 3), normal(np, 4, 1)
    while True:
        yield (x, y, np.arange(4.0)) if weights else (x, y)


def _fitted(tf, np, model=None, loss="mse", x=None, y=None, compiled=None, **arguments):
    model = model or _net(tf, np)
    model.compile("sgd", loss, **(compiled or {}))
    x = normal(np, 8, 3) if x is None else x
    y = normal(np, 8, 1) if y is None and not hasattr(x, "__next__") else y
    history = model.fit(x, y, shuffle=False, verbose=0, **arguments)
    known = {name: history.params[name] for name in ("samples", "steps", "do_validation", "epochs")}
    return [recorded(history), known, close(model.get_weights())]


_GOOD = {
    "weights of validation": lambda tf, np: {
        "validation_data": (normal(np, 2, 3), normal(np, 2, 1), np.array([1.0, 3.0]))
    },
    "whole arrays in each step": lambda tf, np: {"steps_per_epoch": 3, "batch_size": 2, "epochs": 2},
    "a generator": lambda tf, np: {"x": _batches(np), "steps_per_epoch": 2, "epochs": 2},
    "a generator of weights": lambda tf, np: {"x": _batches(np, True), "steps_per_epoch": 2},
    "weights of classes": lambda tf, np: {"y": np.arange(8) % 2, "class_weight": {0: 1.0, 1: 3.0}},
    "some epochs": lambda tf, np: {"initial_epoch": 2, "epochs": 4, "batch_size": 3},
}


@cases({name: name for name in _GOOD})
def fits(tf, np, name):
    return _fitted(tf, np, **_GOOD[name](tf, np))


_BAD = {
    "a generator and targets": lambda tf, np: {
        "x": _batches(np),
        "y": np.ones((8, 1)),
        "steps_per_epoch": 1,
    },
    "a generator and a split": lambda tf, np: {
        "x": _batches(np),
        "validation_split": 0.5,
        "steps_per_epoch": 1,
    },
    "validation steps of nothing": lambda tf, np: {"validation_steps": 1},
    "classes for categories": lambda tf, np: {
        "model": _net(tf, np, 3, "softmax"),
        "loss": "categorical_crossentropy",
        "y": np.arange(8) % 3,
    },
    "a wrong target": lambda tf, np: {"y": np.ones((8, 2))},
    "categories for classes": lambda tf, np: {
        "model": _net(tf, np, 3, "softmax"),
        "loss": "sparse_categorical_crossentropy",
        "y": np.ones((8, 3)),
    },
    "two losses": lambda tf, np: {"loss": ["mse", "mae"]},
    "two weights": lambda tf, np: {"compiled": {"loss_weights": [1.0, 2.0]}},
}


@cases({name: name for name in _BAD})
def refused(tf, np, name):
    return raises(_fitted, tf, np, **_BAD[name](tf, np))


def no_data(tf, np):
    model = _net(tf, np)
    model.compile("sgd", "mse")
    return raises(model.fit, None, np.ones((8, 1)))


def what_callbacks_are_told(tf, np):
    told = []

    class Told(tf.keras.callbacks.Callback):
        def __getattribute__(self, name):
            if not name.startswith("on_"):
                return super(Told, self).__getattribute__(name)
            return lambda *args: told.append([name] + [sorted(a) if isinstance(a, dict) else a for a in args])

    _fitted(tf, np, batch_size=5, validation_split=0.25, epochs=2, callbacks=[Told()])
    return told


def steps_of_evaluation(tf, np):
    model = _net(tf, np)
    model.compile("sgd", "mse")
    x, y = normal(np, 8, 3), normal(np, 8, 1)
    found = [model.evaluate(x, y, steps=2, batch_size=3, verbose=0), model.evaluate(x, y, verbose=0)]
    return [close(found), model.predict(x, steps=2).shape]


def enlarged_images(tf, np):
    x = tf.keras.Input((3, 4, 1))
    layers = [tf.keras.layers.UpSampling2D((2, 3), interpolation=how)(x) for how in ("nearest", "bilinear")]
    return close(tf.keras.Model(x, layers).predict(normal(np, 2, 3, 4, 1)))
