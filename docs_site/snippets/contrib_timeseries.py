"""Examples of tf.contrib.timeseries."""

import numpy as np

import tideflow as tf

# %% tf.contrib.timeseries.NumpyReader, tf.contrib.timeseries.WholeDatasetInputFn
series = {"times": np.arange(5), "values": np.sin(np.arange(5))}
whole = tf.contrib.timeseries.WholeDatasetInputFn(tf.contrib.timeseries.NumpyReader(series))
features, _ = whole()
with tf.train.MonitoredSession() as sess:
    print(sess.run(features)["times"])

# %% tf.contrib.timeseries.CSVReader, tf.contrib.timeseries.TrainEvalFeatures
path = tf.test.get_temp_dir() + "/series.csv"
with tf.gfile.GFile(path, "w") as file:
    file.write("0,1.5\n1,2.5\n2,3.5\n")
keys = tf.contrib.timeseries.TrainEvalFeatures
features = tf.contrib.timeseries.CSVReader(path, (keys.TIMES, keys.VALUES)).read_full()
with tf.train.MonitoredSession() as sess:
    print(sess.run(features[keys.VALUES]).tolist())

# %% tf.contrib.timeseries.RandomWindowInputFn
series = {"times": np.arange(50), "values": np.arange(50.0)}
reader = tf.contrib.timeseries.NumpyReader(series)
features, _ = tf.contrib.timeseries.RandomWindowInputFn(reader, window_size=4, batch_size=2)()
with tf.train.MonitoredSession() as sess:
    print(sess.run(features)["values"].shape)

# %% tf.contrib.timeseries.ARRegressor, tf.contrib.timeseries.predict_continuation_input_fn
ts = tf.contrib.timeseries
times = np.arange(60)
reader = ts.NumpyReader({"times": times, "values": np.sin(times / 2)})
regressor = ts.ARRegressor(12, 12, 4, 1)
regressor.train(ts.RandomWindowInputFn(reader, window_size=16, batch_size=4), steps=20)
evaluation = regressor.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
(predicted,) = regressor.predict(ts.predict_continuation_input_fn(evaluation, steps=3))
print(predicted["times"], predicted["mean"].shape)

# %% tf.contrib.timeseries.StructuralEnsembleRegressor, tf.contrib.timeseries.FilteringResults
ts = tf.contrib.timeseries
reader = ts.NumpyReader({"times": np.arange(30), "values": 0.5 * np.arange(30)})
regressor = ts.StructuralEnsembleRegressor(None, 1, moving_average_order=0)
regressor.train(ts.WholeDatasetInputFn(reader), steps=1)
evaluation = regressor.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
print(evaluation[ts.FilteringResults.TIMES].shape, len(evaluation[ts.FilteringResults.STATE_TUPLE]))

# %% tf.contrib.timeseries.TimeSeriesRegressor, tf.contrib.timeseries.ARModel,
# %% tf.contrib.timeseries.OneShotPredictionHead
ts = tf.contrib.timeseries
model = ts.ARModel(periodicities=12, input_window_size=4, output_window_size=2, num_features=1)
reader = ts.NumpyReader({"times": np.arange(6), "values": np.arange(6.0)})
regressor = ts.TimeSeriesRegressor(model, head_type=ts.OneShotPredictionHead)
regressor.train(ts.WholeDatasetInputFn(reader), steps=2)
print(sorted(regressor.get_variable_names())[:2])

# %% tf.contrib.timeseries.saved_model_utils.cold_start_filter,
# %% tf.contrib.timeseries.saved_model_utils.filter_continuation,
# %% tf.contrib.timeseries.saved_model_utils.predict_continuation
ts = tf.contrib.timeseries
reader = ts.NumpyReader({"times": np.arange(6), "values": np.arange(6.0)})
regressor = ts.ARRegressor(12, 4, 2, 1)
regressor.train(ts.WholeDatasetInputFn(reader), steps=2)
receiver = regressor.build_raw_serving_input_receiver_fn()
exported = regressor.export_saved_model(tf.test.get_temp_dir(), receiver)
with tf.Graph().as_default(), tf.Session() as sess:
    signatures = tf.saved_model.load(sess, ["serve"], exported)
    utils = ts.saved_model_utils
    state = utils.cold_start_filter(signatures, sess, {"times": np.arange(8), "values": np.arange(8.0)})
    more = {"times": np.arange(8, 14), "values": np.arange(8.0, 14)}
    state = utils.filter_continuation(state, signatures, sess, more)
    print(utils.predict_continuation(state, signatures, sess, steps=2)["mean"].shape)
