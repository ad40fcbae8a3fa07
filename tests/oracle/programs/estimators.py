"""Estimators of a user's model function: what they train, evaluate, predict, write, log and refuse."""

import json
import os
import re

from kit import cases, raises
from supervised import events, files, folder_of_its_own, logged


def _model(tf):
    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [1], initializer=tf.constant_initializer(params.get("bias", 0.5)))
        out = tf.add(tf.matmul(features["x"], w), bias, name="out")
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"out": out, "twice": 2 * out})
        loss = tf.losses.mean_squared_error(labels, out)
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(
            mode,
            predictions={"out": out},
            loss=loss,
            train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, step),
            eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, out)},
        )

    return model_fn


def _data(np):
    x = np.random.RandomState(0).randn(12, 2).astype(np.float32)
    return x, (x @ np.array([[1.0], [-2.0]])).astype(np.float32)


def _input_fn(tf, np, repeat=None):
    x, y = _data(np)
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(repeat).batch(4)


def _estimator(tf, folder, params=None, **config):
    config.setdefault("tf_random_seed", 1)
    return tf.estimator.Estimator(
        _model(tf), folder, tf.estimator.RunConfig(**config), params or {"unused": 1}
    )


def _said(lines):
    """The lines of a log, without those of one engine alone, and without the clock."""
    kept = []
    for line in lines:
        text = line[-1] if isinstance(line, (list, tuple)) else line
        if (
            text.startswith(("Using config", "Not using Distribute", "SavedModel written"))
            or "from t" in text
        ):
            continue
        text = re.sub(r"\d{4}-\d\d-\d\d[T-][\d:]+Z?", "TIME", text)
        text = re.sub(r"= -?\d+\.\d+(e-\d+)?|step: -?\d+\.\d+(e-\d+)?\.", "= NUMBER", text)
        kept.append(text)
    return kept


def _signatures(tf, path, tag="serve"):
    with tf.Session(graph=tf.Graph()) as session:
        message = tf.saved_model.loader.load(session, [tag], os.fsdecode(path))
    found = {}
    for key, signature in message.signature_def.items():
        found[key] = [signature.method_name] + [
            sorted((name, info.dtype, str(info.tensor_shape)) for name, info in given.items())
            for given in (signature.inputs, signature.outputs)
        ]
    return found


@cases({"steps": {"steps": 6}, "max_steps": {"max_steps": 6}, "until the end": {}})
def training(tf, np, arguments):
    with folder_of_its_own() as folder:
        with logged(tf, folder) as said:
            estimator = _estimator(tf, folder, save_checkpoints_steps=2, keep_checkpoint_max=2)
            estimator.train(_input_fn(tf, np, None if arguments else 2), **arguments)
            estimator.train(_input_fn(tf, np, 1), **arguments)
            results = estimator.evaluate(_input_fn(tf, np, 1))
            named = estimator.evaluate(_input_fn(tf, np), steps=2, name="some")
        tf.summary.FileWriterCache.clear()
        return {
            "files": files(tf, folder),
            "variables": [(n, estimator.get_variable_value(n)) for n in estimator.get_variable_names()],
            "results": [results, named],
            "directories": [os.path.relpath(estimator.eval_dir(n), folder) for n in (None, "some")],
            "evaluations": [events(tf, os.path.join(folder, n)) for n in ("eval", "eval_some")],
            "log": _said(said),
            "latest": os.path.basename(estimator.latest_checkpoint()),
        }


def predicting(tf, np):
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder)
        untrained = list(estimator.predict(_input_fn(tf, np, 1), predict_keys=["out"]))
        estimator.train(_input_fn(tf, np), steps=3)
        x, y = _data(np)
        from_arrays = tf.estimator.inputs.numpy_input_fn({"x": x}, y, batch_size=5, shuffle=False)
        return [
            untrained,
            list(estimator.predict(from_arrays)),
            list(estimator.predict(from_arrays, "twice", yield_single_examples=False)),
            raises(lambda: next(estimator.predict(from_arrays, ["nothing"]))),
            raises(lambda: next(estimator.predict(from_arrays, hooks=[3]))),
        ]


@cases({"dataset": "dataset", "tensors": "tensors", "three": "three", "none": "none"})
def input_functions(tf, np, kind):
    x, y = _data(np)
    given = {
        "dataset": lambda: tf.data.Dataset.from_tensors(({"x": x}, y)),
        "tensors": lambda mode, params, config: ({"x": tf.constant(x)}, tf.constant(y)),
        "three": lambda: (x, y, y),
        "none": lambda: {"x": tf.constant(x)},
    }[kind]
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder)
        if kind in ("three", "none"):
            return raises(estimator.train, given, steps=2)
        estimator.train(given, steps=2)
        return estimator.get_variable_value("w")


@cases({"plain": False, "text": True})
def exporting(tf, np, as_text):
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder)
        estimator.train(_input_fn(tf, np), steps=3)
        raw = tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 2], name="given")}
        )
        extra = os.path.join(folder, "note.txt")
        with open(extra, "w") as file:
            file.write("words")
        path = estimator.export_saved_model(
            os.path.join(folder, "out"), raw, assets_extra={"sub/note.txt": extra}, as_text=as_text
        )
        supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 2])}, tf.placeholder(tf.float32, [None, 1])
        )
        everything = estimator.experimental_export_all_saved_models(
            os.path.join(folder, "all"), {"train": supervised, "eval": supervised, "infer": raw}
        )
        return [
            re.sub(r"\d{10}", "TIME", os.path.relpath(os.fsdecode(path), folder)),
            sorted(
                os.path.relpath(os.path.join(d, f), os.fsdecode(path))
                for d, _, fs in os.walk(os.fsdecode(path))
                for f in fs
            ),
            _signatures(tf, path),
            [_signatures(tf, everything, tag) for tag in ("serve", "train", "eval")],
            raises(estimator.export_saved_model, folder, None),
            raises(estimator.experimental_export_all_saved_models, folder, {}),
        ]


@cases({"all": ".*", "some": "w", "renamed": "renamed", "checkpoint": "path"})
def warm_starting(tf, np, which):
    with folder_of_its_own() as first, folder_of_its_own() as folder:
        earlier = _estimator(tf, first, {"bias": 3.0})
        earlier.train(_input_fn(tf, np), steps=3)
        settings = tf.estimator.WarmStartSettings
        start = {
            ".*": settings(first),
            "w": settings(first, "w"),
            "renamed": settings(first, "w", var_name_to_prev_var_name={"w": "w"}),
            "path": earlier.latest_checkpoint(),
        }[which]
        estimator = tf.estimator.Estimator(_model(tf), folder, params={"bias": 1.0}, warm_start_from=start)
        before = estimator.evaluate(_input_fn(tf, np, 1))
        estimator.train(_input_fn(tf, np), steps=1)
        return [before, [estimator.get_variable_value(n) for n in ("bias", "w", "global_step")]]


# ------------------------------------------------------------------------------------------------ refusals


def refused(tf, np):
    def without_features(labels):
        pass

    def with_more(features, something):
        pass

    def with_params(features, params):
        pass

    def nothing(features, labels):
        return 3

    class Overriding(tf.estimator.Estimator):
        def train(self):
            pass

    make, model_fn = tf.estimator.Estimator, _model(tf)
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder, save_checkpoints_secs=None)
        other = tf.estimator.RunConfig(model_dir="/another")
        listener = tf.train.CheckpointSaverListener()
        calls = {
            "no function": lambda: make(None),
            "no features": lambda: make(without_features),
            "unknown argument": lambda: make(with_more),
            "no params": lambda: make(lambda features: None, params={"a": 1}),
            "params": lambda: make(with_params, folder) and "made",
            "config": lambda: make(model_fn, config={"a": 1}),
            "directories": lambda: make(model_fn, folder, other),
            "warm start": lambda: make(model_fn, folder, warm_start_from=3),
            "overriding": lambda: Overriding(model_fn),
            "both": lambda: estimator.train(_input_fn(tf, np), steps=1, max_steps=1),
            "steps": lambda: estimator.train(_input_fn(tf, np), steps=0),
            "max_steps": lambda: estimator.train(_input_fn(tf, np), max_steps=-1),
            "hooks": lambda: estimator.train(_input_fn(tf, np), hooks=[1]),
            "listeners": lambda: estimator.train(_input_fn(tf, np), steps=1, saving_listeners=[1]),
            "no saver": lambda: estimator.train(_input_fn(tf, np), steps=1, saving_listeners=[listener]),
            "eval steps": lambda: estimator.evaluate(_input_fn(tf, np), steps=0),
            "no checkpoint": lambda: estimator.get_variable_names(),
            "no value": lambda: estimator.get_variable_value("w"),
            "export": lambda: estimator.export_saved_model(folder, lambda: None),
            "no spec": lambda: make(nothing, folder).train(_input_fn(tf, np), steps=1),
            "settings": lambda: tf.estimator.WarmStartSettings(""),
        }
        return {name: raises(call) for name, call in sorted(calls.items())}


def specs(tf, np):
    spec, modes = tf.estimator.EstimatorSpec, tf.estimator.ModeKeys
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    loss, many, op = tf.constant(1.0), tf.constant([1.0, 2.0]), tf.no_op()
    output = tf.estimator.export.PredictOutput
    given = {
        "nothing to train": (modes.TRAIN, {}),
        "no train_op": (modes.TRAIN, {"loss": loss}),
        "no loss": (modes.EVAL, {}),
        "no predictions": (modes.PREDICT, {}),
        "losses": (modes.EVAL, {"loss": many}),
        "number": (modes.EVAL, {"loss": 1.0}),
        "foreign loss": (modes.EVAL, {"loss": foreign}),
        "foreign prediction": (modes.PREDICT, {"predictions": {"a": foreign}}),
        "prediction": (modes.PREDICT, {"predictions": {"a": 1}}),
        "train_op": (modes.TRAIN, {"loss": loss, "train_op": 3}),
        "hook": (modes.TRAIN, {"loss": loss, "train_op": op, "training_hooks": [1]}),
        "scaffold": (modes.TRAIN, {"loss": loss, "train_op": op, "scaffold": 1}),
        "metrics": (modes.EVAL, {"loss": loss, "eval_metric_ops": [1]}),
        "metric": (modes.EVAL, {"loss": loss, "eval_metric_ops": {"a": loss}}),
        "outputs": (modes.PREDICT, {"predictions": loss, "export_outputs": 3}),
        "output": (modes.PREDICT, {"predictions": loss, "export_outputs": {"a": loss}}),
        "no default": (
            modes.PREDICT,
            {"predictions": loss, "export_outputs": {"a": output(loss), "b": output(loss)}},
        ),
        "good": (modes.PREDICT, {"predictions": loss, "export_outputs": {"a": output(loss)}}),
    }
    found = {name: raises(spec, mode, **fields) for name, (mode, fields) in sorted(given.items())}
    good = spec(modes.EVAL, loss=tf.reshape(loss, [1]))
    keys = sorted(spec(modes.PREDICT, predictions={"a": loss}).export_outputs)
    return [found, good.loss.shape, keys, raises(good._replace, mode="train"), good._fields]


def outputs_and_receivers(tf, np):
    export = tf.estimator.export
    floats, words = tf.constant([[0.5]]), tf.constant(["a"])
    calls = {
        "nothing": lambda: export.ClassificationOutput(),
        "scores": lambda: export.ClassificationOutput(scores=words),
        "classes": lambda: export.ClassificationOutput(classes=floats),
        "value": lambda: export.RegressionOutput(words),
        "predictions": lambda: export.PredictOutput({1: floats}),
        "prediction": lambda: export.PredictOutput(3),
        "abstract": lambda: export.RegressionOutput(floats).as_signature_def({"a": floats}),
        "features": lambda: export.ServingInputReceiver(None, floats),
        "feature": lambda: export.ServingInputReceiver({"a": 1}, floats),
        "key": lambda: export.ServingInputReceiver({(1, 2): floats}, floats),
        "receivers": lambda: export.ServingInputReceiver({"a": floats}, None),
        "alternatives": lambda: export.ServingInputReceiver({"a": floats}, floats, 3),
        "tensor": lambda: export.TensorServingInputReceiver(3, floats),
    }
    receiver = export.ServingInputReceiver(floats, words, {"other": floats})
    tensor = export.TensorServingInputReceiver(floats, words)
    return [
        {name: raises(call) for name, call in sorted(calls.items())},
        sorted(receiver.features),
        sorted(receiver.receiver_tensors),
        sorted(receiver.receiver_tensors_alternatives["other"]),
        tensor.features.shape,
        sorted(export.PredictOutput({("a", "b"): floats}).outputs),
        export.RegressionOutput(floats).as_signature_def({"a": words}).method_name,
    ]


# --------------------------------------------------------------------------------------------- RunConfig

_CLUSTER = {"chief": ["h0:1"], "worker": ["h1:1", "h2:1"], "ps": ["h3:1"]}
_MASTERS = {"master": ["h0:1"], "worker": ["h1:1"], "ps": ["h3:1"]}
_CONFIGS = {
    "none": {},
    "chief": {"cluster": _CLUSTER, "task": {"type": "chief", "index": 0}},
    "worker": {"cluster": _CLUSTER, "task": {"type": "worker", "index": 1}},
    "ps": {"cluster": _CLUSTER, "task": {"type": "ps", "index": "0"}},
    "evaluator": {"cluster": _CLUSTER, "task": {"type": "evaluator", "index": 0}, "eval_session_master": "e"},
    "master": {"cluster": _MASTERS, "task": {"type": "master", "index": 0}, "session_master": "grpc://m"},
    "alone": {"cluster": {"chief": ["h0:1"]}, "task": {"type": "chief", "index": 0}},
    "masters": {"session_master": "a", "eval_session_master": "b", "model_dir": "/d", "service": {"a": 1}},
    "no chief": {"cluster": {"worker": ["h1:1"]}, "task": {"type": "worker", "index": 0}},
    "two chiefs": {"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}},
    "no type": {"cluster": _CLUSTER, "task": {"index": 0}},
    "no index": {"cluster": _CLUSTER, "task": {"type": "chief"}},
    "negative": {"cluster": _CLUSTER, "task": {"type": "worker", "index": -1}},
    "too large": {"cluster": _CLUSTER, "task": {"type": "worker", "index": 7}},
    "unknown": {"cluster": _CLUSTER, "task": {"type": "cook", "index": 0}},
    "both": {"cluster": dict(_CLUSTER, master=["m:1"]), "task": {"type": "chief", "index": 0}},
    "master's evaluator": {"cluster": _MASTERS, "task": {"type": "evaluator", "index": 0}},
    "lonely ps": {"task": {"type": "ps", "index": 0}},
    "lonely one": {"task": {"type": "worker", "index": 1}},
    "service": {"service": 3},
    "empty": {"model_dir": ""},
}


def _properties(config):
    told = {}
    for name in dir(type(config)):
        if isinstance(getattr(type(config), name), property):
            value = getattr(config, name)
            told[name] = value.as_dict() if name == "cluster_spec" else value
    filters = told.pop("session_config")
    told["filters"] = None if filters is None else list(filters.device_filters)
    return told


@cases({name: (config,) for name, config in _CONFIGS.items()})
def configurations(tf, np, config):
    os.environ["TF_CONFIG"] = json.dumps(config)
    try:
        error = raises(tf.estimator.RunConfig)
        return error if error != "no error" else _properties(tf.estimator.RunConfig())
    finally:
        del os.environ["TF_CONFIG"]


def configuration_arguments(tf, np):
    make = tf.estimator.RunConfig
    bad = [
        {"model_dir": ""},
        {"save_summary_steps": -1},
        {"save_checkpoints_steps": -1},
        {"save_checkpoints_secs": -1},
        {"save_checkpoints_secs": 1, "save_checkpoints_steps": 1},
        {"session_config": 3},
        {"keep_checkpoint_max": -1},
        {"keep_checkpoint_every_n_hours": 0},
        {"log_step_count_steps": 0},
        {"tf_random_seed": 1.0},
        {"device_fn": 3},
        {"device_fn": lambda node: "/cpu:0"},
        {"protocol": "smoke"},
        {"session_creation_timeout_secs": 0},
        {"experimental_max_worker_delay_secs": 1.5},
    ]
    config = make(save_checkpoints_steps=3)
    return [
        [raises(make, **arguments) for arguments in bad],
        _properties(config.replace(save_checkpoints_secs=5)),
        _properties(config.replace(model_dir="/tmp/m", save_summary_steps=None)),
        raises(config.replace, master="a"),
        raises(config.replace, save_checkpoints_secs=1, save_checkpoints_steps=2),
        _properties(make(save_checkpoints_secs=None)),
    ]


# ------------------------------------------------------------------------------------------------- arrays


def arrays_as_input(tf, np):
    make = tf.estimator.inputs.numpy_input_fn
    x, y = np.arange(7.0), np.arange(7)

    def batches(input_fn):
        found = []
        with tf.Graph().as_default():
            tensors = input_fn()
            with tf.train.MonitoredSession() as session:
                while not session.should_stop() and len(found) < 6:
                    found.append(session.run(tensors))
        return found

    return [
        batches(make(x, y, 3, shuffle=False)),
        batches(make({"b": x, "a": y}, None, 4, 2, shuffle=False)),
        batches(make({"b": x}, {"l": y, "k": y}, 4, None, shuffle=False)),
        sorted(batches(make(x, batch_size=7, shuffle=True))[0]),
        raises(make, x),
        [
            raises(make(a, b, shuffle=False))
            for a, b in [({}, None), (np.array([]), None), ([1], None), (x, {})]
        ],
        [
            raises(make(a, b, shuffle=False))
            for a, b in [({"a": x}, {"a": x}), (x, y[:3]), ({"a": x}, {"b": y[:2]})]
        ],
        raises(tf.estimator.inputs.pandas_input_fn, x, shuffle=False),
    ]


# ------------------------------------------------------------------------------------- train and evaluate


def _receiver(tf):
    return tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2], name="given")}
    )


def train_and_evaluate(tf, np):
    with folder_of_its_own() as folder:
        with logged(tf, folder) as said:
            estimator = _estimator(tf, folder, save_checkpoints_steps=2)
            receiver = _receiver(tf)
            exporters = [
                tf.estimator.FinalExporter("final", receiver),
                tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1),
                tf.estimator.BestExporter("best", receiver),
            ]
            found = tf.estimator.train_and_evaluate(
                estimator,
                tf.estimator.TrainSpec(_input_fn(tf, np), max_steps=5),
                tf.estimator.EvalSpec(_input_fn(tf, np), 2, exporters=exporters, throttle_secs=0),
            )
            again = tf.estimator.train_and_evaluate(
                estimator,
                tf.estimator.TrainSpec(_input_fn(tf, np), max_steps=5),
                tf.estimator.EvalSpec(_input_fn(tf, np), 2, throttle_secs=0),
            )
        tf.summary.FileWriterCache.clear()
        exports = {
            name: len(os.listdir(os.path.join(folder, "export", name))) for name in ("final", "latest")
        }
        words = [line for line in _said(said) if "already exists" not in line]
        return [found[0], [e is None for e in found[1]], again, exports, files(tf, folder), words]


def specs_of_training(tf, np):
    train, evaluate, receiver = tf.estimator.TrainSpec, tf.estimator.EvalSpec, _receiver(tf)
    final = tf.estimator.FinalExporter

    def one():
        pass

    calls = {
        "train function": lambda: train(3),
        "train steps": lambda: train(one, 0),
        "train hooks": lambda: train(one, 1, [1]),
        "function": lambda: evaluate(3),
        "steps": lambda: evaluate(one, 0),
        "name": lambda: evaluate(one, name=3),
        "hooks": lambda: evaluate(one, hooks=[1]),
        "exporters": lambda: evaluate(one, exporters=3),
        "exporter": lambda: evaluate(one, exporters=[3]),
        "no name": lambda: evaluate(one, exporters=final(None, receiver)),
        "names": lambda: evaluate(one, exporters=[final(3, receiver)]),
        "twice": lambda: evaluate(one, exporters=[final("a", receiver), final("a", receiver)]),
        "delay": lambda: evaluate(one, start_delay_secs=-1),
        "throttle": lambda: evaluate(one, throttle_secs=-1),
        "no estimator": lambda: tf.estimator.train_and_evaluate(3, train(one), evaluate(one)),
        "no eval": lambda: tf.estimator.train_and_evaluate(3, train(one), 3),
        "keep": lambda: tf.estimator.LatestExporter("a", receiver, exports_to_keep=0),
        "keep best": lambda: tf.estimator.BestExporter("a", receiver, exports_to_keep=0),
        "compare": lambda: tf.estimator.BestExporter("a", receiver, compare_fn=lambda a, b: True),
        "no compare": lambda: tf.estimator.BestExporter("a", receiver, compare_fn=None),
    }
    spec = evaluate(one, exporters=final("a", receiver))
    return [
        {name: raises(call) for name, call in sorted(calls.items())},
        (spec.steps, spec.name, len(spec.exporters), spec.start_delay_secs, spec.throttle_secs),
        tuple(train(one))[1:],
    ]


@cases({"higher": "higher", "lower": "lower", "no increase": "increase", "no decrease": "decrease"})
def early_stopping(tf, np, kind):
    experimental = tf.estimator.experimental
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder, save_checkpoints_steps=2)
        hook = {
            "higher": lambda: experimental.stop_if_higher_hook(
                estimator, "loss", 0.0, run_every_secs=None, run_every_steps=1
            ),
            "lower": lambda: experimental.stop_if_lower_hook(
                estimator, "loss", 1.0, run_every_secs=None, run_every_steps=2
            ),
            "increase": lambda: experimental.stop_if_no_increase_hook(
                estimator, "loss", 3, run_every_secs=None, run_every_steps=1
            ),
            "decrease": lambda: experimental.stop_if_no_decrease_hook(
                estimator, "loss", 3, run_every_secs=None, run_every_steps=1
            ),
        }[kind]()
        with logged(tf, folder) as said:
            metrics, _ = tf.estimator.train_and_evaluate(
                estimator,
                tf.estimator.TrainSpec(_input_fn(tf, np), max_steps=9, hooks=[hook]),
                tf.estimator.EvalSpec(_input_fn(tf, np, 1), None, throttle_secs=0),
            )
        stops = [re.sub(r"value [\d.]+ ", "", line) for line in _said(said) if "stopping" in line]
        make = experimental.make_early_stopping_hook
        refusals = [
            raises(make, 3, lambda: True),
            raises(make, estimator, lambda: True, 1, 1),
            raises(make, estimator, 3),
        ]
        return [metrics["global_step"], stops, refusals, sorted(estimator.get_variable_names())]


def evaluating_in_memory(tf, np):
    with folder_of_its_own() as folder:
        estimator = _estimator(tf, folder)
        hook = tf.estimator.experimental.InMemoryEvaluatorHook(
            estimator, _input_fn(tf, np, 1), every_n_iter=2
        )
        estimator.train(_input_fn(tf, np), hooks=[hook], steps=3)
        tf.summary.FileWriterCache.clear()
        make = tf.estimator.experimental.InMemoryEvaluatorHook
        return [events(tf, os.path.join(folder, "eval")), raises(make, estimator, None, every_n_iter=0)]


def more_metrics(tf, np):
    def metric_fn(labels, predictions):
        return {"mse": tf.metrics.mean_squared_error(labels, predictions["out"])}

    with folder_of_its_own() as folder:
        estimator = tf.estimator.add_metrics(_estimator(tf, folder), metric_fn)
        estimator.train(_input_fn(tf, np), steps=2)
        return [
            estimator.evaluate(_input_fn(tf, np, 1)),
            raises(tf.estimator.add_metrics, estimator, lambda words: None),
        ]
