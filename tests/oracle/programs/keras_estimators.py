"""tf.keras.estimator, and Keras's models as SavedModels."""

import glob
import os
import shutil
import tempfile

from kit import Close, cases, raises


def _model(tf, np, kind):
    l = tf.keras.layers
    if kind == "sequential":
        model = tf.keras.Sequential(
            [l.Dense(3, activation="tanh", input_shape=(2,)), l.Dropout(0.0), l.Dense(1)]
        )
    else:
        x = tf.keras.Input((2,), name="x")
        model = tf.keras.Model(x, l.Dense(1, name="y")(l.Dense(3, activation="tanh")(x)))
    model.set_weights([(np.sin(np.arange(v.size)) * 0.5).reshape(v.shape) for v in model.get_weights()])
    return model


def _data(np):
    x = np.sin(np.arange(8)).reshape(4, 2).astype(np.float32)
    return x, (x.sum(axis=1, keepdims=True) * 2).astype(np.float32)


def _input_fn(tf, np, key, with_labels=True):
    x, y = _data(np)

    def made():
        features = {key: x} if key else x
        data = tf.data.Dataset.from_tensor_slices((features, y) if with_labels else features)
        return data.batch(4).repeat(3)

    return made


@cases(
    {
        "sequential sgd": ("sequential", "sgd", "saver"),
        "functional adam": ("functional", "adam", "saver"),
        "by objects": ("functional", "rmsprop", "checkpoint"),
    }
)
def estimators(tf, np, kind, optimizer, checkpoint_format):
    folder = tempfile.mkdtemp()
    model = _model(tf, np, kind)
    model.compile(optimizer, "mse", metrics=["mae"])
    estimator = tf.keras.estimator.model_to_estimator(
        model, model_dir=folder, checkpoint_format=checkpoint_format
    )
    key = model.input_names[0]
    before = estimator.evaluate(_input_fn(tf, np, key), steps=1) if checkpoint_format == "never" else {}
    estimator.train(_input_fn(tf, np, key), steps=3)
    after = estimator.evaluate(_input_fn(tf, np, key), steps=1)
    found = [each for each in estimator.predict(_input_fn(tf, np, key, False))][:2]
    names = sorted(estimator.get_variable_names())
    kept = sorted(os.path.basename(p) for p in glob.glob(folder + "/keras/*.index"))
    shutil.rmtree(folder)
    return (
        Close([sorted(before.items()), sorted(after.items())], 1e-4, 1e-5),
        Close(found, 1e-4, 1e-5),
        names,
        kept,
    )


def a_saved_model(tf, np):
    folder = os.path.join(tempfile.mkdtemp(), "model")
    model = _model(tf, np, "functional")
    model.compile("adam", "mse", metrics=["mae"])
    x, y = _data(np)
    model.fit(x, y, verbose=0, shuffle=False, epochs=2)
    tf.keras.experimental.export_saved_model(model, folder)
    files = sorted(
        os.path.relpath(os.path.join(root, n), folder) for root, _, ns in os.walk(folder) for n in ns
    )
    again = tf.keras.experimental.load_from_saved_model(folder)
    signatures = {}
    for tag in ("serve", "train", "eval"):
        with tf.Session(graph=tf.Graph()) as session:
            meta = tf.saved_model.load(session, [tag], folder)
            for name, signature in meta.signature_def.items():
                signatures[tag, name] = [
                    sorted((key, info.dtype) for key, info in part.items())
                    for part in (signature.inputs, signature.outputs)
                ] + [signature.method_name]
            if tag == "serve":
                made = meta.signature_def["serving_default"]
                value = session.run(made.outputs["y"].name, {made.inputs["x"].name: x})
    names = sorted(name for name, _ in tf.train.list_variables(folder + "/variables/variables"))
    return (
        Close([value, again.predict(x), model.predict(x)], 1e-4, 1e-5),
        files,
        sorted(signatures.items()),
        names,
    )


_BAD = {
    "nothing": lambda tf, m: tf.keras.estimator.model_to_estimator(),
    "two": lambda tf, m: tf.keras.estimator.model_to_estimator(m, "path"),
    "not compiled": lambda tf, m: tf.keras.estimator.model_to_estimator(m),
    "format": lambda tf, m: tf.keras.estimator.model_to_estimator(m, checkpoint_format="zip"),
    "no file": lambda tf, m: tf.keras.experimental.load_from_saved_model("/no/such/folder"),
}


@cases({name: name for name in _BAD})
def bad_calls(tf, np, name):
    return raises(_BAD[name], tf, _model(tf, np, "functional"))
