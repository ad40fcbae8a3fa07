"""Examples of the estimators of tf.contrib.learn, and of what is around them."""

import numpy as np

import tideflow as tf

# %% tf.contrib.learn.LinearClassifier, tf.contrib.learn.infer_real_valued_columns_from_input,
# %% tf.contrib.learn.RunConfig
learn = tf.contrib.learn
x = np.random.RandomState(0).randn(40, 2).astype(np.float32)
y = (x[:, 0] > x[:, 1]).astype(np.int64)
columns = learn.infer_real_valued_columns_from_input(x)
classifier = learn.LinearClassifier(columns, config=learn.RunConfig(tf_random_seed=1))
classifier.fit(x, y, steps=50)
print(classifier.evaluate(x, y)["accuracy"])

# %% tf.contrib.learn.LinearRegressor, tf.contrib.learn.LinearEstimator, tf.contrib.learn.Head,
# %% tf.contrib.learn.infer_real_valued_columns_from_input_fn, tf.contrib.learn.head.Head
learn = tf.contrib.learn


def input_fn():
    return {"x": tf.constant([[1.0], [2.0], [3.0]])}, tf.constant([[2.0], [4.0], [6.0]])


columns = learn.infer_real_valued_columns_from_input_fn(input_fn)
regressor = learn.LinearRegressor(columns, optimizer="SGD")
regressor.fit(input_fn=input_fn, steps=5)
other = learn.LinearEstimator(columns, head=learn.poisson_regression_head())
print(
    regressor.evaluate(input_fn=input_fn, steps=1)["global_step"],
    isinstance(learn.regression_head(), learn.Head),
)

# %% tf.contrib.learn.DNNClassifier, tf.contrib.learn.DNNRegressor, tf.contrib.learn.DNNEstimator
learn = tf.contrib.learn
x = np.random.RandomState(0).randn(30, 2).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int64)
columns = learn.infer_real_valued_columns_from_input(x)
classifier = learn.DNNClassifier([8], columns, config=learn.RunConfig(tf_random_seed=1))
classifier.fit(x, y, steps=20)
regressor = learn.DNNRegressor([4], columns)
estimator = learn.DNNEstimator(learn.regression_head(), [4], columns)
print(sorted(classifier.evaluate(x, y))[:3], list(classifier.predict(x[:2])))

# %% tf.contrib.learn.DNNLinearCombinedClassifier, tf.contrib.learn.DNNLinearCombinedRegressor,
# %% tf.contrib.learn.DNNLinearCombinedEstimator
learn = tf.contrib.learn
wide = [tf.contrib.layers.sparse_column_with_keys("word", ["a", "b"])]
deep = [tf.contrib.layers.real_valued_column("x")]


def input_fn():
    words = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
    return {"word": words, "x": tf.constant([[1.0], [2.0]])}, tf.constant([0, 1])


model = learn.DNNLinearCombinedClassifier(
    linear_feature_columns=wide,
    dnn_feature_columns=deep,
    dnn_hidden_units=[2],
    fix_global_step_increment_bug=True,
)
model.fit(input_fn=input_fn, steps=3)
parts = dict(dnn_feature_columns=deep, dnn_hidden_units=[2])
others = (
    learn.DNNLinearCombinedRegressor(**parts),
    learn.DNNLinearCombinedEstimator(learn.regression_head(), **parts),
)
print(model.get_variable_value("global_step"), len(others))

# %% tf.contrib.learn.Estimator, tf.contrib.learn.BaseEstimator, tf.contrib.learn.ModelFnOps,
# %% tf.contrib.learn.MetricSpec, tf.contrib.learn.Trainable, tf.contrib.learn.Evaluable,
# %% tf.contrib.learn.NotFittedError
learn = tf.contrib.learn


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"y": predictions}, loss, train_op)


def input_fn():
    return tf.constant([[1.0], [2.0]]), tf.constant([[2.0], [4.0]])


estimator = learn.Estimator(model_fn)
try:
    estimator.evaluate(input_fn=input_fn)
except learn.NotFittedError:
    estimator.fit(input_fn=input_fn, steps=100)
metrics = {"mae": learn.MetricSpec(tf.metrics.mean_absolute_error, prediction_key="y")}
print(sorted(estimator.evaluate(input_fn=input_fn, steps=1, metrics=metrics)))
print([issubclass(learn.BaseEstimator, kind) for kind in (learn.Trainable, learn.Evaluable)])

# %% tf.contrib.learn.SKCompat
learn = tf.contrib.learn
x = np.arange(6, dtype=np.float32).reshape(6, 1)
regressor = learn.SKCompat(
    learn.LinearRegressor(learn.infer_real_valued_columns_from_input(x), optimizer="SGD")
)
regressor.fit(x, x[:, 0], steps=20, batch_size=3)
print(regressor.predict(x)["scores"].shape, sorted(regressor.score(x, x[:, 0])))


# %% tf.contrib.learn.LogisticRegressor
def logistic_model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 1, kernel_initializer=tf.ones_initializer())
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.sigmoid(logits), loss, train_op


def input_fn():
    return tf.constant([[1.0], [-1.0]]), tf.constant([[1.0], [0.0]])


estimator = tf.contrib.learn.LogisticRegressor(logistic_model_fn, thresholds=[0.5])
estimator.fit(input_fn=input_fn, steps=2)
print(estimator.evaluate(input_fn=input_fn, steps=1)["auc"])

# %% tf.contrib.learn.KMeansClustering
points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]], np.float32)
model = tf.contrib.learn.KMeansClustering(2, initial_clusters=points[::2], use_mini_batch=False)
model.fit(input_fn=lambda: (tf.constant(points), None), steps=5)
print(model.clusters(), list(model.predict_cluster_idx(input_fn=lambda: (tf.constant(points), None))))

# %% tf.contrib.learn.DynamicRnnEstimator
learn = tf.contrib.learn
columns = [tf.contrib.layers.real_valued_column("steps")]
model = learn.DynamicRnnEstimator(learn.ProblemType.CLASSIFICATION, 1, columns, num_classes=2, num_units=3)


def input_fn():
    return {"steps": tf.constant([[[1.0], [2.0]], [[-1.0], [0.0]]])}, tf.constant([1, 0])


model.fit(input_fn=input_fn, steps=2)
print(sorted(model.evaluate(input_fn=input_fn, steps=1)))

# %% tf.contrib.learn.regression_head, tf.contrib.learn.poisson_regression_head,
# %% tf.contrib.learn.multi_class_head, tf.contrib.learn.multi_label_head, tf.contrib.learn.binary_svm_head,
# %% tf.contrib.learn.multi_head, tf.contrib.learn.no_op_train_fn, tf.contrib.learn.head.mkey,
# %% tf.contrib.learn.head.loss_only_head, tf.contrib.learn.head.regression_head,
# %% tf.contrib.learn.head.poisson_regression_head, tf.contrib.learn.head.multi_class_head,
# %% tf.contrib.learn.head.multi_label_head, tf.contrib.learn.head.binary_svm_head,
# %% tf.contrib.learn.head.multi_head, tf.contrib.learn.head.no_op_train_fn
learn = tf.contrib.learn
single = [learn.regression_head(), learn.poisson_regression_head(), learn.binary_svm_head()]
several = [learn.multi_class_head(3), learn.multi_label_head(4)]
both = learn.multi_head(
    [learn.regression_head(head_name="a"), learn.head.loss_only_head(lambda: tf.constant(1.0), "b")]
)
print([head.logits_dimension for head in (*single, *several, both)], learn.head.mkey.ACCURACY)
logits, labels = tf.constant([[1.0], [2.0]]), tf.constant([[1.0], [4.0]])
ops = single[0].create_model_fn_ops({}, "train", labels, learn.no_op_train_fn, logits=logits)
with tf.Session() as session:
    print(session.run(ops.loss))

# %% tf.contrib.learn.InputFnOps, tf.contrib.learn.build_parsing_serving_input_fn,
# %% tf.contrib.learn.make_export_strategy, tf.contrib.learn.utils.InputFnOps,
# %% tf.contrib.learn.utils.build_parsing_serving_input_fn, tf.contrib.learn.utils.make_export_strategy,
# %% tf.contrib.learn.utils.build_default_serving_input_fn, tf.contrib.learn.ExportStrategy
learn = tf.contrib.learn
parsing = learn.build_parsing_serving_input_fn({"x": tf.FixedLenFeature([1], tf.float32)})
raw = learn.utils.build_default_serving_input_fn({"x": tf.zeros([1, 1])})
print(sorted(parsing().default_inputs), sorted(raw().features), learn.InputFnOps({}, None, {}).labels)
strategy = learn.make_export_strategy(parsing)
print(strategy.name, learn.ExportStrategy("mine", lambda estimator, path: path).export(None, "folder"))

# %% tf.contrib.learn.utils.export_estimator
learn = tf.contrib.learn
columns = [tf.contrib.layers.real_valued_column("x")]
model = learn.LinearRegressor(columns)
model.fit(input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)
learn.utils.export_estimator(model, "exports")
print(tf.gfile.ListDirectory("exports"))

# %% tf.contrib.learn.Experiment, tf.contrib.learn.learn_runner.run, tf.contrib.learn.learn_runner.tune
learn = tf.contrib.learn


def input_fn():
    return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[2.0], [4.0]])


def experiment_fn(run_config, hparams):
    columns = [tf.contrib.layers.real_valued_column("x")]
    estimator = learn.LinearRegressor(columns, config=run_config)
    return learn.Experiment(estimator, input_fn, input_fn, train_steps=hparams.steps, eval_steps=1)


class Tuner:
    trials = [1, 2]

    def next_trial(self):
        return bool(self.trials)

    def run_experiment(self, make):
        steps = self.trials.pop()
        config = learn.RunConfig(model_dir=f"trial_{steps}")
        print(make(config, tf.contrib.training.HParams(steps=steps)).train_and_evaluate()[0]["global_step"])


learn.learn_runner.tune(experiment_fn, Tuner())
config = learn.RunConfig(model_dir="run")
results, exports = learn.learn_runner.run(
    experiment_fn, run_config=config, hparams=tf.contrib.training.HParams(steps=3)
)
print(results["global_step"], exports)

# %% tf.contrib.learn.monitors.BaseMonitor, tf.contrib.learn.monitors.EveryN,
# %% tf.contrib.learn.monitors.StopAtStep, tf.contrib.learn.monitors.PrintTensor,
# %% tf.contrib.learn.monitors.CaptureVariable, tf.contrib.learn.monitors.LoggingTrainable,
# %% tf.contrib.learn.monitors.GraphDump, tf.contrib.learn.monitors.NanLoss,
# %% tf.contrib.learn.monitors.replace_monitors_with_hooks,
# %% tf.contrib.learn.monitors.RunHookAdapterForMonitors, tf.contrib.learn.NanLossDuringTrainingError
learn = tf.contrib.learn


def model_fn(features, labels):
    v = tf.get_variable("v", initializer=1.0)
    loss = tf.reduce_mean(tf.square(v * features - labels), name="loss")
    return features, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())


class Mine(learn.monitors.EveryN):
    def every_n_step_end(self, step, outputs):
        print("step", step)


capture = learn.monitors.CaptureVariable("v", every_n=2)
dump = learn.monitors.GraphDump()
watching = [
    Mine(every_n_steps=2),
    capture,
    learn.monitors.PrintTensor(["loss"]),
    learn.monitors.LoggingTrainable(),
    learn.monitors.StopAtStep(num_steps=4),
]
estimator = learn.Estimator(model_fn)
estimator.fit(input_fn=lambda: (tf.constant([1.0]), tf.constant([3.0])), monitors=watching, steps=9)
print(sorted(capture.values), isinstance(dump, learn.monitors.BaseMonitor))
print(
    issubclass(learn.NanLossDuringTrainingError, RuntimeError),
    learn.monitors.NanLoss(None).run_on_all_workers,
)
(hook,) = learn.monitors.replace_monitors_with_hooks([Mine(every_n_steps=2)], estimator)
print(isinstance(hook, learn.monitors.RunHookAdapterForMonitors))

# %% tf.contrib.learn.monitors.ValidationMonitor, tf.contrib.learn.monitors.CheckpointSaver,
# %% tf.contrib.learn.monitors.SummarySaver, tf.contrib.learn.monitors.StepCounter,
# %% tf.contrib.learn.monitors.ExportMonitor, tf.contrib.learn.monitors.get_default_monitors
learn = tf.contrib.learn
x = np.arange(4, dtype=np.float32).reshape(4, 1)
config = learn.RunConfig(save_checkpoints_steps=1, model_dir="validated")
model = learn.LinearRegressor(learn.infer_real_valued_columns_from_input(x), config=config, optimizer="SGD")
validation = learn.monitors.ValidationMonitor(x, x[:, 0], every_n_steps=1, early_stopping_rounds=50)
export = learn.monitors.ExportMonitor(100, "monitored")
others = [
    learn.monitors.StepCounter(output_dir="events"),
    learn.monitors.SummarySaver(None, output_dir="events"),
    learn.monitors.CheckpointSaver("events", save_steps=5),
]
model.fit(x, x[:, 0], steps=5, monitors=[validation, export])
print(validation.best_step, export.exports_to_keep, len(others), learn.monitors.get_default_monitors())

# %% tf.contrib.learn.train, tf.contrib.learn.evaluate, tf.contrib.learn.infer, tf.contrib.learn.run_n,
# %% tf.contrib.learn.run_feeds, tf.contrib.learn.graph_actions.train,
# %% tf.contrib.learn.graph_actions.evaluate, tf.contrib.learn.graph_actions.infer,
# %% tf.contrib.learn.graph_actions.run_n, tf.contrib.learn.graph_actions.run_feeds,
# %% tf.contrib.learn.graph_actions.run_feeds_iter, tf.contrib.learn.graph_actions.get_summary_writer,
# %% tf.contrib.learn.graph_actions.clear_summary_writers
learn = tf.contrib.learn


def build():
    step = tf.train.create_global_step()
    v = tf.get_variable("v", initializer=4.0)
    x = tf.placeholder_with_default(1.0, [])
    loss = tf.square(v * x, name="loss")
    return x, v, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)


with tf.Graph().as_default() as graph:
    _, _, loss, train_op = build()
    print(learn.train(graph, "trained", train_op, loss, steps=3))
with tf.Graph().as_default() as graph:
    _, _, loss, _ = build()
    print(learn.evaluate(graph, "trained", "trained", {"loss": loss}, max_steps=1))
with tf.Graph().as_default():
    x, v, loss, _ = build()
    path = tf.train.latest_checkpoint("trained")
    print(learn.infer(path, {"loss": loss}), learn.run_n({"loss": loss}, n=2))
    print(list(learn.graph_actions.run_feeds_iter({"loss": loss}, [{x: 2.0}], path)))
    print(learn.run_feeds({"v": v.value()}, [None]))
print(learn.graph_actions.get_summary_writer("trained").get_logdir())
learn.graph_actions.clear_summary_writers()

# %% tf.contrib.learn.io.numpy_input_fn, tf.contrib.learn.io.generator_input_fn,
# %% tf.contrib.learn.io.pandas_input_fn
learn = tf.contrib.learn


def rows():
    for number in range(4):
        yield {"x": np.array([number]), "label": np.array([2 * number])}


features, labels = learn.io.generator_input_fn(rows, "label", batch_size=2, shuffle=False)()
more, _ = learn.io.numpy_input_fn({"x": np.arange(4)}, np.arange(4), batch_size=2, shuffle=False)()
with tf.train.MonitoredSession() as session:
    print(session.run([features, labels, more]))
try:
    import pandas

    print(learn.io.pandas_input_fn(pandas.DataFrame({"x": [1, 2]}), shuffle=False)())
except ImportError:
    print("pandas is not installed")

# %% tf.contrib.learn.extract_pandas_data, tf.contrib.learn.extract_pandas_labels,
# %% tf.contrib.learn.extract_pandas_matrix, tf.contrib.learn.extract_dask_data,
# %% tf.contrib.learn.extract_dask_labels, tf.contrib.learn.io.extract_pandas_data,
# %% tf.contrib.learn.io.extract_pandas_labels, tf.contrib.learn.io.extract_pandas_matrix,
# %% tf.contrib.learn.io.extract_dask_data, tf.contrib.learn.io.extract_dask_labels,
# %% tf.contrib.learn.preprocessing.setup_processor_data_feeder
learn = tf.contrib.learn
table = [[1.0, 2.0]]  # what is no table of pandas or dask stays what it is
print(
    learn.extract_pandas_data(table), learn.extract_pandas_labels(table), learn.extract_pandas_matrix(table)
)
print(learn.extract_dask_data(table), learn.extract_dask_labels(table))
print(learn.preprocessing.setup_processor_data_feeder(table))

# %% tf.contrib.learn.read_batch_examples, tf.contrib.learn.read_batch_features,
# %% tf.contrib.learn.read_batch_record_features, tf.contrib.learn.read_keyed_batch_examples,
# %% tf.contrib.learn.read_keyed_batch_features, tf.contrib.learn.read_keyed_batch_examples_shared_queue,
# %% tf.contrib.learn.read_keyed_batch_features_shared_queue, tf.contrib.learn.io.read_batch_examples,
# %% tf.contrib.learn.io.read_batch_features, tf.contrib.learn.io.read_batch_record_features,
# %% tf.contrib.learn.io.read_keyed_batch_examples, tf.contrib.learn.io.read_keyed_batch_features,
# %% tf.contrib.learn.io.read_keyed_batch_examples_shared_queue,
# %% tf.contrib.learn.io.read_keyed_batch_features_shared_queue, tf.contrib.learn.io.queue_parsed_features
learn = tf.contrib.learn
with tf.python_io.TFRecordWriter("examples.tfrecord") as writer:
    for number in range(4):
        example = tf.train.Example()
        example.features.feature["x"].int64_list.value.append(number)
        writer.write(example.SerializeToString())
spec = {"x": tf.FixedLenFeature([], tf.int64)}
files = dict(file_pattern="examples.tfrecord", batch_size=2, randomize_input=False)
reader = tf.TFRecordReader
parsed = [
    learn.read_batch_features(features=spec, reader=reader, **files),
    learn.read_batch_record_features(features=spec, **files),
    learn.read_keyed_batch_features(features=spec, reader=reader, **files)[1],
    tf.parse_example(learn.read_batch_examples(reader=reader, **files), spec),
    tf.parse_example(learn.read_keyed_batch_examples(reader=reader, **files)[1], spec),
    tf.parse_example(learn.read_keyed_batch_examples_shared_queue(reader=reader, **files)[1], spec),
]
parsed.append(learn.io.queue_parsed_features(parsed[3])[1])
print(callable(learn.read_keyed_batch_features_shared_queue))
with tf.train.MonitoredSession() as session:
    print([batch["x"].tolist() for batch in session.run(parsed)])

# %% tf.contrib.learn.datasets.load_iris, tf.contrib.learn.datasets.load_boston,
# %% tf.contrib.learn.datasets.base.load_iris, tf.contrib.learn.datasets.base.load_boston,
# %% tf.contrib.learn.datasets.load_dataset, tf.contrib.learn.datasets.make_dataset
datasets = tf.contrib.learn.datasets
with open("iris.csv", "w") as file:
    file.write("2,4,setosa,versicolor\n5.1,3.5,1.4,0.2,0\n7.0,3.2,4.7,1.4,1\n")
print(datasets.load_iris("iris.csv").target, datasets.load_boston("iris.csv").data.shape)
print(datasets.load_dataset("dbpedia", test_with_fake_data=True).train.data[0])
print(datasets.make_dataset("circles", 6).data.shape)

# %% tf.contrib.learn.ops.embedding_lookup, tf.contrib.learn.ops.categorical_variable,
# %% tf.contrib.learn.ops.mean_squared_error_regressor, tf.contrib.learn.ops.softmax_classifier,
# %% tf.contrib.learn.ops.sequence_classifier, tf.contrib.learn.ops.seq2seq_inputs,
# %% tf.contrib.learn.ops.rnn_decoder, tf.contrib.learn.ops.rnn_seq2seq
ops = tf.contrib.learn.ops
x, y = tf.ones([2, 3, 4]), tf.ones([2, 2, 4])
encoder, decoder, outputs = ops.seq2seq_inputs(x, y, 3, 2)
decoded, states, sampled, _ = ops.rnn_seq2seq(encoder, decoder, tf.nn.rnn_cell.GRUCell(4))
probabilities, loss = ops.sequence_classifier(decoded, outputs)
again = ops.rnn_decoder(decoder, states[0], tf.nn.rnn_cell.GRUCell(4))
predictions, error = ops.mean_squared_error_regressor(x[0], tf.ones([3]), tf.ones([4, 1]), tf.zeros([1]))
classes, _ = ops.softmax_classifier(x[0], tf.one_hot([0, 1, 0], 2), tf.ones([4, 2]), tf.zeros([2]))
words = ops.categorical_variable([[1], [0]], 2, 3, "words")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run([error, classes, tf.shape(words), tf.shape(probabilities), tf.shape(again[0])]))
    print(session.run(ops.embedding_lookup([[1.0], [2.0]], [[1, 0]])))

# %% tf.contrib.learn.models.linear_regression, tf.contrib.learn.models.linear_regression_zero_init,
# %% tf.contrib.learn.models.logistic_regression, tf.contrib.learn.models.logistic_regression_zero_init,
# %% tf.contrib.learn.models.get_rnn_model, tf.contrib.learn.models.bidirectional_rnn
models = tf.contrib.learn.models
x, labels = tf.ones([2, 4]), tf.one_hot([0, 1], 2)
made = []
for number, model in enumerate((models.linear_regression_zero_init, models.linear_regression)):
    with tf.variable_scope(f"linear_{number}"):
        made.append(model(x, tf.ones([2])))
for number, model in enumerate((models.logistic_regression_zero_init, models.logistic_regression)):
    with tf.variable_scope(f"logistic_{number}"):
        made.append(model(x, labels))
steps = [x, x]
cells = [tf.nn.rnn_cell.GRUCell(3) for _ in range(2)]
_, state = models.bidirectional_rnn(*cells, steps, dtype=tf.float32)
model = models.get_rnn_model(
    3, "gru", 1, lambda x: [x, x], False, models.logistic_regression, None, None, None, None, None
)
with tf.Session() as session:
    output = model(x, labels)
    session.run(tf.global_variables_initializer())
    print(session.run([made[0], made[2], tf.shape(state), tf.shape(output[0])]))

# %% tf.contrib.input_pipeline.seek_next, tf.contrib.input_pipeline.obtain_next
following = tf.contrib.input_pipeline.seek_next(["a", "b"])
counter = tf.Variable(-1, dtype=tf.int64)
taken = tf.contrib.input_pipeline.obtain_next(tf.constant(["c", "d"]), counter)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print([session.run([following, taken]) for _ in range(3)])

# %% tf.contrib.session_bundle.exporter.Exporter, tf.contrib.session_bundle.exporter.generic_signature,
# %% tf.contrib.session_bundle.exporter.classification_signature,
# %% tf.contrib.session_bundle.exporter.regression_signature,
# %% tf.contrib.session_bundle.exporter.gfile_copy_callback,
# %% tf.contrib.session_bundle.manifest_pb2.Signatures, tf.contrib.session_bundle.manifest_pb2.Signature,
# %% tf.contrib.session_bundle.manifest_pb2.AssetFile, tf.contrib.session_bundle.manifest_pb2.TensorBinding,
# %% tf.contrib.session_bundle.manifest_pb2.RegressionSignature,
# %% tf.contrib.session_bundle.manifest_pb2.ClassificationSignature,
# %% tf.contrib.session_bundle.manifest_pb2.GenericSignature
bundle = tf.contrib.session_bundle
x = tf.placeholder(tf.float32, [None], name="x")
v = tf.Variable(2.0)
y = tf.multiply(x, v, name="y")
step = tf.train.create_global_step()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    exporter = bundle.exporter.Exporter(tf.train.Saver())
    named = {
        "g": bundle.exporter.generic_signature({"x": x}),
        "c": bundle.exporter.classification_signature(x, y),
    }
    exporter.init(
        default_graph_signature=bundle.exporter.regression_signature(x, y), named_graph_signatures=named
    )
    path = exporter.export("bundles", step, session)
print(path, named["g"].generic_signature.map["x"])
open("words.txt", "w").close()
bundle.exporter.gfile_copy_callback({"words.txt": "copied.txt"}, "assets")
print(tf.gfile.ListDirectory("assets"), bundle.manifest_pb2.AssetFile(filename="words.txt"))

# %% tf.contrib.session_bundle.gc.Path, tf.contrib.session_bundle.gc.get_paths,
# %% tf.contrib.session_bundle.gc.negation, tf.contrib.session_bundle.gc.largest_export_versions,
# %% tf.contrib.session_bundle.gc.mod_export_version,
# %% tf.contrib.session_bundle.gc.one_of_every_n_export_versions, tf.contrib.session_bundle.gc.union
gc = tf.contrib.session_bundle.gc
paths = [gc.Path(f"/{number}", number) for number in (1, 2, 4, 5)]
newest = gc.union(gc.largest_export_versions(1), gc.mod_export_version(2))
print(newest(paths), gc.negation(newest)(paths), gc.one_of_every_n_export_versions(3)(paths))
tf.gfile.MakeDirs("versions/7")
print(gc.get_paths("versions", lambda path: path._replace(export_version=7)))
