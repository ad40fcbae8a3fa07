"""contrib.learn's utilities of exports, and the names of features of time series, where tests import them."""

import os
import tempfile

from kit import raises


def _module(tf, name):
    import importlib

    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib." + name)


def _utils(tf):
    return _module(tf, "learn.python.learn.utils.saved_model_export_utils")


def _facts(signature):
    sides = [signature.inputs, signature.outputs]
    return [signature.method_name] + [[(key, side[key].name) for key in sorted(side)] for side in sides]


def signatures(tf, np):
    utils, learn = _utils(tf), tf.contrib.learn
    make = utils.build_standardized_signature_def
    kinds = _module(tf, "learn.python.learn.estimators.constants").ProblemType
    x, y = tf.placeholder(tf.string, [1], name="x"), tf.placeholder(tf.float32, [1], name="y")
    names = tf.placeholder(tf.string, [1], name="names")
    made = [
        make({"in": x}, {"out": y}, kinds.LINEAR_REGRESSION),
        make({"in": x}, {"out": y}, kinds.CLASSIFICATION),
        make({"in": x}, {"out": names}, kinds.CLASSIFICATION),
        make({"in": x}, {"classes": names, "scores": y}, kinds.CLASSIFICATION),
        make({"in": x, "more": y}, {"out": y}, kinds.CLASSIFICATION),
        make({"in": x}, {"out": y}, kinds.UNSPECIFIED),
    ]
    ops = learn.InputFnOps({"f": y}, None, {"in": x})
    inputs, features = utils.get_input_alternatives(ops)
    alternatives = {"a": (kinds.LINEAR_REGRESSION, {"out": y}), "b": (kinds.UNSPECIFIED, {"out": y})}
    both = utils.build_all_signature_defs(inputs, alternatives, "a")
    return [
        [_facts(signature) for signature in made],
        [sorted(inputs), sorted(features)],
        [(key, both[key].method_name) for key in sorted(both)],
        raises(make, {}, {"out": y}, kinds.UNSPECIFIED),
        raises(make, {"in": x}, {}, kinds.UNSPECIFIED),
        raises(utils.build_all_signature_defs, {}, alternatives, "a"),
    ]


def outputs(tf, np):
    utils, learn = _utils(tf), tf.contrib.learn
    y = tf.placeholder(tf.float32, [1], name="y")
    found = []
    for alternatives, key in (
        (None, None),
        (None, "a"),
        ({"a": (1, {})}, None),
        ({"a": (1, {}), "b": (2, {})}, "b"),
        ({"a": (1, {}), "b": (2, {})}, "c"),
        ({"a": (1, {}), "b": (2, {})}, None),
    ):
        model = learn.ModelFnOps(learn.ModeKeys.INFER, predictions=y, output_alternatives=alternatives)
        try:
            known, default = utils.get_output_alternatives(model, key)
            found.append([sorted(known), default])
        except ValueError as error:
            found.append(str(error))
    return found


def directories(tf, np):
    utils, base = _utils(tf), tempfile.mkdtemp()
    for name in ("1000000001", "1000000003", "1000000002", "temp-1000000009", "12"):
        os.mkdir(os.path.join(base, name))
    newest = utils.get_most_recent_export(base)
    utils.garbage_collect_exports(base, None)
    utils.garbage_collect_exports(base, 1)
    stamped = utils.get_timestamped_export_dir(base)
    return [
        [os.path.basename(newest.path), newest.export_version],
        sorted(os.listdir(base)),
        utils.get_most_recent_export(tempfile.mkdtemp()),
        [type(stamped).__name__, len(os.path.basename(stamped))],
        utils.get_temp_export_dir("/a/b/123"),
    ]


def best_models(tf, np):
    utils = _utils(tf)
    selector = utils.BestModelSelector()
    found = [selector.update(path, {"loss": loss}) for path, loss in (("a", 3.0), ("b", 4.0), ("c", 2.0))]
    larger = utils.BestModelSelector(compare_fn=lambda best, new: best["score"] < new["score"])
    found += [larger.update(path, {"score": score}) for path, score in (("a", 3.0), ("b", 4.0), ("c", 2.0))]
    return [
        found,
        raises(selector.update, "", {"loss": 1.0}),
        raises(selector.update, "d", None),
        raises(selector.update, "d", {"other": 1.0}),
    ]


def extended_exports(tf, np):
    utils, learn = _utils(tf), tf.contrib.learn
    base = tempfile.mkdtemp()

    def export(estimator, export_path, checkpoint_path=None):
        os.mkdir(os.path.join(export_path, "1"))
        return os.path.join(export_path, "1")

    def after(path, directory):
        os.mkdir(os.path.join(directory, "2"))
        return os.path.join(directory, "2")

    strategy = utils.extend_export_strategy(learn.ExportStrategy("first", export), after, "second")
    same = utils.extend_export_strategy(learn.ExportStrategy("first", export), lambda *_: "/elsewhere")
    made = strategy.export(None, base)
    return [
        strategy.name,
        same.name,
        os.path.relpath(made, base),
        os.listdir(base),
        raises(same.export, None, tempfile.mkdtemp()),
    ]


def names_of_features(tf, np):
    keys = _module(tf, "timeseries.python.timeseries.feature_keys")
    found = []
    for name in "Times Values State TrainEvalFeatures PredictionFeatures FilteringFeatures".split() + [
        "PredictionResults",
        "FilteringResults",
        "SavedModelLabels",
    ]:
        made = getattr(keys, name)
        found.append([name, sorted((k, getattr(made, k)) for k in dir(made) if k.isupper())])
    return found
