"""tf.contrib.timeseries: readers and windows, losses, training, evaluation, predictions, exported models."""

import os

from kit import Close, cases, raises
from supervised import folder_of_its_own
from time_series import batch_of, evaluated, fill, series, trained

_AUTOREGRESSIONS = {
    "one period": (dict(periodicities=7, input_window_size=5, output_window_size=3, num_features=1),),
    "squared": (
        dict(
            periodicities=[7, 12],
            input_window_size=2,
            output_window_size=6,
            num_features=2,
            loss="squared_loss",
            num_time_buckets=3,
        ),
    ),
    "times only": (dict(periodicities=(5,), input_window_size=0, output_window_size=8, num_features=1),),
    "values only": (dict(periodicities=None, input_window_size=6, output_window_size=2, num_features=1),),
    "hidden": (
        dict(
            periodicities=7,
            input_window_size=5,
            output_window_size=3,
            num_features=1,
            hidden_layer_sizes=[4, 3],
        ),
    ),
    "gaussian anomalies": (
        dict(
            periodicities=7,
            input_window_size=5,
            output_window_size=3,
            num_features=1,
            anomaly_prior_probability=0.1,
            anomaly_distribution="gaussian",
        ),
    ),
    "cauchy anomalies": (
        dict(
            periodicities=7,
            input_window_size=5,
            output_window_size=3,
            num_features=2,
            anomaly_prior_probability=0.2,
            anomaly_distribution="cauchy",
        ),
    ),
}


@cases(_AUTOREGRESSIONS)
def autoregression(tf, np, options):
    with folder_of_its_own() as folder:
        regressor = tf.contrib.timeseries.ARRegressor(model_dir=folder, **options)
        found = []
        with tf.Graph().as_default():
            batch = batch_of(tf, np, options["num_features"])
            found.append(trained(tf, np, regressor, batch))
        with tf.Graph().as_default():
            batch = batch_of(tf, np, options["num_features"], window=20)
            found.append(evaluated(tf, np, regressor, batch))
        return found


def autoregression_beside(tf, np):
    with folder_of_its_own() as folder:
        regressor = tf.contrib.timeseries.ARRegressor(
            7, 5, 3, 1, [tf.feature_column.numeric_column("beside")], model_dir=folder
        )
        with tf.Graph().as_default():
            found = trained(tf, np, regressor, batch_of(tf, np, beside=True))
        with tf.Graph().as_default():
            return [found, evaluated(tf, np, regressor, batch_of(tf, np, window=17, beside=True))]


def _started(tf, regressor, np):
    """Leaves a checkpoint whose variables have values of their own."""

    class Fill(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            fill(tf, np, session)

    reader = tf.contrib.timeseries.NumpyReader(series(np))
    window = tf.contrib.timeseries.WholeDatasetInputFn(reader)

    def input_fn():
        features, labels = window()
        return {name: value[:, :8] for name, value in features.items()}, labels

    regressor.train(input_fn, hooks=[Fill()], steps=2)
    return window


@cases("autoregression", "ensemble")
def continued(tf, np, kind):
    ts = tf.contrib.timeseries
    with folder_of_its_own() as folder:
        if kind == "ensemble":
            regressor = ts.StructuralEnsembleRegressor(None, 1, 3, 1, model_dir=folder + "/model")
        else:
            regressor = ts.ARRegressor(7, 5, 3, 1, model_dir=folder + "/model")
        window = _started(tf, regressor, np)
        evaluation = regressor.evaluate(window, steps=1)
        asked = ts.predict_continuation_input_fn(evaluation, steps=7)
        predicted = list(regressor.predict(asked))
        found = [sorted(evaluation), int(evaluation["global_step"]), Close(predicted, 2e-3, 1e-3)]
        exported = regressor.export_saved_model(folder, regressor.build_raw_serving_input_receiver_fn())
        with tf.Graph().as_default(), tf.Session() as session:
            signatures = tf.saved_model.load(session, ["serve"], exported)
            utils = ts.saved_model_utils
            found.append(
                {
                    name: (sorted(signature.inputs), sorted(signature.outputs))
                    for name, signature in signatures.signature_def.items()
                }
            )
            found.append(
                Close(utils.predict_continuation(evaluation, signatures, session, steps=4), 2e-3, 1e-3)
            )
            whole = series(np)
            begin = {name: values[:20] for name, values in whole.items()}
            cold = utils.cold_start_filter(signatures, session, begin)
            found.append(Close(cold, 2e-3, 1e-3))
            more = {name: values[20:40] for name, values in whole.items()}
            warm = utils.filter_continuation(cold, signatures, session, more)
            found.append(Close(warm, 2e-3, 1e-3))
            found.append(
                Close(utils.predict_continuation(warm, signatures, session, times=[41, 43]), 2e-3, 1e-3)
            )
        return found


def one_shot(tf, np):
    ts = tf.contrib.timeseries
    with folder_of_its_own() as folder:
        model = ts.ARModel(7, 5, 3, 1)
        regressor = ts.TimeSeriesRegressor(model, model_dir=folder + "/m", head_type=ts.OneShotPredictionHead)
        window = _started(tf, regressor, np)
        evaluation = regressor.evaluate(window, steps=1)
        receiver = regressor.build_one_shot_parsing_serving_input_receiver_fn(12, 4)
        exported = regressor.export_saved_model(folder, receiver)
        whole = series(np)
        example = tf.train.Example()
        example.features.feature["times"].int64_list.value.extend(whole["times"][:16])
        example.features.feature["values"].float_list.value.extend(whole["values"][:12, 0])
        with tf.Graph().as_default(), tf.Session() as session:
            signature = tf.saved_model.load(session, ["serve"], exported).signature_def["serving_default"]
            fetches = {name: info.name for name, info in signature.outputs.items()}
            feeds = {signature.inputs["examples"].name: [example.SerializeToString()]}
            return [
                sorted(evaluation),
                sorted(signature.inputs),
                Close(session.run(fetches, feeds), 2e-3, 1e-3),
            ]


def readers(tf, np):
    ts = tf.contrib.timeseries
    with folder_of_its_own() as folder:
        path = os.path.join(folder, "series.csv")
        with open(path, "w") as file:
            file.write("time,a,b,label\n" + "".join("%d,%f,%f,x%d\n" % (i, i / 2, -i, i) for i in range(7)))
        columns = ("times", "values", "values", "label")
        types = (tf.int64, tf.float32, tf.float32, tf.string)
        made = [
            ts.NumpyReader(series(np, 2, 7), read_num_records_hint=3),
            ts.CSVReader([path], columns, types, skip_header_lines=1, read_num_records_hint=3),
        ]
        found = []
        for reader in made:
            for read in (reader.read, reader.read_full):
                with tf.Graph().as_default():
                    features = read()
                    found.append(sorted((name, value.dtype.name) for name, value in features.items()))
                    with tf.train.MonitoredSession() as session:
                        found.append([session.run(features) for _ in range(3)])
        return found


@cases(True, False)
def windows(tf, np, jitter):
    reader = tf.contrib.timeseries.NumpyReader(series(np, 1, 20))
    made = tf.contrib.timeseries.RandomWindowInputFn(
        reader, window_size=4, batch_size=3, jitter=jitter, num_threads=1, shuffle_seed=2
    )
    features, labels = made()
    found = []
    with tf.train.MonitoredSession() as session:
        for _ in range(5):
            batch = session.run(features)
            steps = np.diff(batch["times"], axis=1)
            found.append([bool((steps == 1).all()), batch["values"].shape])
    return [sorted((name, value.shape.as_list()) for name, value in features.items()), labels, found]


def keys(tf, np):
    ts = tf.contrib.timeseries
    return [
        (kind.TIMES, getattr(kind, "VALUES", None), getattr(kind, "STATE_TUPLE", None))
        for kind in (ts.TrainEvalFeatures, ts.FilteringResults)
    ]


def refused(tf, np):
    ts = tf.contrib.timeseries
    evaluation = {"times": np.array([[1, 2]]), "start_tuple": ()}
    times = np.arange(5)
    with folder_of_its_own() as folder:
        regressor = ts.ARRegressor(7, 5, 3, 1, model_dir=folder)

        def built(mode, features, labels=None):
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                regressor.model_fn(features(), labels, mode, None)

        modes = tf.estimator.ModeKeys
        return [
            raises(ts.predict_continuation_input_fn, evaluation),
            raises(ts.predict_continuation_input_fn, evaluation, steps=2, times=[3]),
            raises(ts.predict_continuation_input_fn, evaluation, times=[2, 3]),
            raises(ts.predict_continuation_input_fn, evaluation, times=[[3], [3]]),
            raises(ts.NumpyReader, {"times": times}),
            raises(ts.NumpyReader, {"times": times, "values": times[1:]}),
            raises(ts.NumpyReader, {"times": times, "values": np.zeros([5, 1, 1])}),
            raises(ts.NumpyReader, {"times": np.zeros([2, 5]), "values": np.zeros([2, 5, 1])}),
            raises(ts.NumpyReader, {"times": np.zeros([1, 2, 5]), "values": np.zeros([1, 2, 5])}),
            raises(ts.RandomWindowInputFn, ts.NumpyReader({"times": times, "values": times}), 6, 1),
            raises(ts.CSVReader, "x", ("values",)),
            raises(ts.CSVReader, "x", ("times",)),
            raises(ts.CSVReader, "x", ("times", "times", "values")),
            raises(ts.CSVReader, "x", ("times", "values"), (tf.int64,)),
            raises(ts.ARRegressor, 7, 5, 3, 1, anomaly_distribution="cauchy"),
            raises(ts.ARRegressor, 7, 5, 3, 1, anomaly_prior_probability=0.1, loss="squared_loss"),
            raises(ts.ARRegressor, None, 0, 3, 1),
            raises(ts.StructuralEnsembleRegressor, 7, 1, 4),
            raises(ts.StructuralEnsembleRegressor, [7, 8], 1, [3, 3, 3]),
            raises(built, modes.TRAIN, lambda: {"times": tf.zeros([1, 8])}),
            raises(built, modes.TRAIN, lambda: {"values": tf.zeros([1, 8, 1])}),
            raises(built, modes.TRAIN, lambda: {"times": tf.zeros([8]), "values": tf.zeros([1, 8, 1])}),
            raises(built, modes.TRAIN, lambda: {"times": tf.zeros([1, 8]), "values": tf.zeros([1, 8, 2])}),
            raises(built, modes.TRAIN, lambda: {"times": tf.zeros([1, 7]), "values": tf.zeros([1, 7, 1])}),
            raises(built, modes.TRAIN, lambda: {"times": tf.zeros([1, 8]), "values": tf.zeros([2, 8, 1])}),
            raises(built, modes.EVAL, lambda: {"times": tf.zeros([1, 7]), "values": tf.zeros([1, 7, 1])}),
            raises(built, modes.PREDICT, lambda: {"times": tf.zeros([1, 7])}),
            raises(built, modes.TRAIN, lambda: {}, tf.zeros([1])),
        ]
