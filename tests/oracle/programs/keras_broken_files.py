"""Models from files that are broken, foreign or of another model, and models that have no weights yet."""

import os
import tempfile

from kit import cases, raises


def _path(name="model.h5"):
    return os.path.join(tempfile.mkdtemp(), name)


def _written(data, name="model.h5"):
    path = _path(name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def _model(tf, units=3, third=False):
    l = tf.keras.layers
    more = [l.Dense(2, name="c")] if third else []
    return tf.keras.Sequential([l.Dense(4, input_shape=(5,), name="a"), l.Dense(units, name="b"), *more])


def _saved(tf):
    model = _model(tf)
    model.compile("sgd", "mse")
    path = _path()
    model.save(path)
    return path


_CONTENTS = {
    "empty": b"",
    "text": b"hello",
    "zeros": b"\0" * 4096,
    "signature alone": b"\x89HDF\r\n\x1a\n",
    "archive": b"PK\x03\x04" + b"\0" * 500,
}


@cases(*_CONTENTS)
def foreign_bytes(tf, np, kind):
    load, model = tf.keras.models.load_model, _model(tf)
    return [
        [raises(load, _written(_CONTENTS[kind], name)) for name in ("m.h5", "m.hdf5", "m", "m.pb")],
        [raises(model.load_weights, _written(_CONTENTS[kind], name)) for name in ("m.h5", "m")],
        raises(model.load_weights, _written(_CONTENTS[kind]), by_name=True),
    ]


@cases(0.02, 0.3, 0.9, 0.999)
def cut_off(tf, np, part):
    with open(_saved(tf), "rb") as file:
        data = file.read()
    path, model = _written(data[: int(part * len(data))]), _model(tf)
    return [
        raises(tf.keras.models.load_model, path),
        raises(model.load_weights, path),
        raises(model.load_weights, path, by_name=True),
    ]


def nothing_there(tf, np):
    load, model, folder = tf.keras.models.load_model, _model(tf), tempfile.mkdtemp()
    return [
        *[raises(load, path) for path in (_path(), _path("m"), folder, None, 3)],
        *[raises(model.load_weights, path) for path in (_path(), _path("m"), folder)],
        raises(model.save, os.path.join(folder, "no", "m.h5")),
    ]


@cases({"more layers": (3, True), "as it was": (3, False)})
def weights_of_another_model(tf, np, units, third):
    model = _model(tf, units, third)
    return [raises(model.load_weights, _saved(tf)), raises(model.load_weights, _saved(tf), by_name=True)]


def weights_of_another_shape(tf, np):
    l = tf.keras.layers
    unlike = tf.keras.Sequential([l.Dense(4, use_bias=False, input_shape=(5,), name="a"), l.Dense(3)])
    path = _saved(tf)
    return [
        raises(_model(tf, 7).load_weights, path, by_name=True),
        raises(unlike.load_weights, path, by_name=True),
        raises(unlike.load_weights, path),
    ]


_TEXTS = (
    "",
    "{",
    "null",
    "3",
    '"x"',
    "[]",
    "{}",
    '{"class_name": "Sequential"}',
    '{"class_name": "Sequential", "config": {}}',
    '{"class_name": "Nope", "config": {}}',
    '{"class_name": "Sequential", "config": [{"class_name": "Dense"}]}',
)


@cases(*range(len(_TEXTS)))
def texts(tf, np, number):
    return raises(tf.keras.models.model_from_json, _TEXTS[number])


@cases("unbuilt", "empty", "built")
def without_weights(tf, np, kind):
    l = tf.keras.layers
    layers = {"unbuilt": [l.Dense(2)], "empty": [], "built": [l.Dense(2, input_shape=(1,))]}[kind]
    model = tf.keras.Sequential(layers, name="model")
    return [
        raises(model.get_weights),
        raises(model.set_weights, []),
        raises(lambda: model.weights),
        raises(model.count_params),
        raises(model.save, _path()) if kind == "unbuilt" else None,
        [] if kind == "built" else model.inputs,
        raises(lambda: model.predict([[1.0]])),
        raises(lambda: model.output_shape),
    ]
