"""Examples of estimators: model functions, canned models, heads, exports."""

import numpy as np

import tideflow as tf


# %% tf.estimator.Estimator, tf.estimator.EstimatorSpec, tf.estimator.ModeKeys, tf.estimator.RunConfig
def model_fn(features, labels, mode):
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    line = slope * features
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=line)
    loss = tf.losses.mean_squared_error(labels, line)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(([1.0, 2.0], [3.0, 6.0])).repeat(20)


estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(tf_random_seed=1))
estimator.train(input_fn)
print(estimator.get_variable_value("slope").round(2), sorted(estimator.evaluate(input_fn)))

# %% tf.estimator.inputs.numpy_input_fn, tf.estimator.inputs.pandas_input_fn
features, labels = tf.estimator.inputs.numpy_input_fn(np.arange(6), np.arange(6), 3, shuffle=False)()
with tf.train.MonitoredSession() as session:
    print(session.run(features), session.run(features))

# %% tf.estimator.WarmStartSettings, tf.estimator.VocabInfo
settings = tf.estimator.WarmStartSettings("/models/first", vars_to_warm_start="dense.*")
print(settings.vars_to_warm_start, settings.var_name_to_prev_var_name)


# %% tf.estimator.TrainSpec, tf.estimator.EvalSpec, tf.estimator.train_and_evaluate
def batches():
    return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[1], [0]])).repeat()


metrics, exports = tf.estimator.train_and_evaluate(
    tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")]),
    tf.estimator.TrainSpec(batches, max_steps=5),
    tf.estimator.EvalSpec(batches, steps=2),
)
print(metrics["global_step"], exports)

# %% tf.estimator.Exporter, tf.estimator.FinalExporter, tf.estimator.LatestExporter, tf.estimator.BestExporter
serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None])})
exporters = [
    tf.estimator.FinalExporter("final", serving),
    tf.estimator.LatestExporter("latest", serving, exports_to_keep=2),
    tf.estimator.BestExporter("best", serving),
]
print([exporter.name for exporter in exporters])

# %% tf.estimator.export.build_raw_serving_input_receiver_fn, tf.estimator.export.ServingInputReceiver
serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None])})
print(serving().features)

# %% tf.estimator.export.build_parsing_serving_input_receiver_fn
features = {"x": tf.FixedLenFeature([], tf.float32)}
serving = tf.estimator.export.build_parsing_serving_input_receiver_fn(features)
print(sorted(serving().receiver_tensors), sorted(serving().features))

# %% tf.estimator.export.TensorServingInputReceiver
given = tf.placeholder(tf.float32, [None, 2])
print(tf.estimator.export.TensorServingInputReceiver(given * 2, given).features.shape)

# %% tf.estimator.experimental.build_raw_supervised_input_receiver_fn
supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(
    {"x": tf.placeholder(tf.float32, [None])}, tf.placeholder(tf.float32, [None])
)
print(sorted(supervised().receiver_tensors))

# %% tf.estimator.export.ExportOutput, tf.estimator.export.PredictOutput, tf.estimator.export.RegressionOutput
value, examples = tf.constant([0.5]), tf.placeholder(tf.string, [None])
print(tf.estimator.export.PredictOutput({"y": value}).as_signature_def({"x": value}).method_name)
print(tf.estimator.export.RegressionOutput(value).as_signature_def({"x": examples}).method_name)

# %% tf.estimator.export.ClassificationOutput
scores, classes = tf.constant([[0.2, 0.8]]), tf.constant([["no", "yes"]])
print(tf.estimator.export.ClassificationOutput(scores, classes).scores.shape)

# %% tf.estimator.CheckpointSaverHook, tf.estimator.CheckpointSaverListener, tf.estimator.SummarySaverHook
listener = tf.estimator.CheckpointSaverListener()
hook = tf.estimator.CheckpointSaverHook("/models/first", save_steps=50, listeners=[listener])
print(isinstance(hook, tf.estimator.SessionRunHook))

# %% tf.estimator.LoggingTensorHook, tf.estimator.StepCounterHook, tf.estimator.ProfilerHook
hook = tf.estimator.StepCounterHook(every_n_steps=10)
print(isinstance(hook, tf.estimator.SessionRunHook))

# %% tf.estimator.StopAtStepHook, tf.estimator.NanTensorHook, tf.estimator.NanLossDuringTrainingError
count = tf.train.get_or_create_global_step().assign_add(1)
with tf.train.MonitoredSession(hooks=[tf.estimator.StopAtStepHook(num_steps=3)]) as session:
    while not session.should_stop():
        print(session.run(count))


# %% tf.estimator.SessionRunHook, tf.estimator.SessionRunArgs, tf.estimator.SessionRunContext
class Printing(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(seven)

    def after_run(self, run_context, run_values):
        print(run_values.results)


seven = tf.constant(7)
with tf.train.MonitoredSession(hooks=[Printing()]) as session:
    session.run(seven)

# %% tf.estimator.SessionRunValues, tf.estimator.SecondOrStepTimer, tf.estimator.FeedFnHook
timer = tf.estimator.SecondOrStepTimer(every_steps=10)
timer.update_last_triggered_step(0)
print(timer.should_trigger_for_step(5), timer.should_trigger_for_step(10))

# %% tf.estimator.FinalOpsHook, tf.estimator.GlobalStepWaiterHook
final = tf.estimator.FinalOpsHook(tf.constant(3))
with tf.train.MonitoredSession(hooks=[final]) as session:
    pass
print(final.final_ops_values)

# %% tf.estimator.experimental.make_early_stopping_hook, tf.estimator.experimental.stop_if_higher_hook
estimator = tf.estimator.BaselineRegressor()
stop = tf.estimator.experimental.make_early_stopping_hook(
    estimator, lambda: True, run_every_secs=None, run_every_steps=1
)
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])).repeat(), hooks=[stop])
print(estimator.get_variable_value("global_step") < 3)

# %% tf.estimator.experimental.stop_if_lower_hook, tf.estimator.experimental.stop_if_no_decrease_hook
estimator = tf.estimator.BaselineRegressor()
hook = tf.estimator.experimental.stop_if_lower_hook(estimator, "loss", threshold=0.5)
print(isinstance(hook, tf.estimator.SessionRunHook))

# %% tf.estimator.experimental.stop_if_no_increase_hook
estimator = tf.estimator.BaselineClassifier()
hook = tf.estimator.experimental.stop_if_no_increase_hook(estimator, "accuracy", 1000)
print(isinstance(hook, tf.estimator.SessionRunHook))

# %% tf.estimator.experimental.make_stop_at_checkpoint_step_hook
hook = tf.estimator.experimental.make_stop_at_checkpoint_step_hook(tf.estimator.BaselineClassifier(), 10)
print(type(hook).__name__)


# %% tf.estimator.experimental.InMemoryEvaluatorHook
def one_batch():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0]))


estimator = tf.estimator.BaselineRegressor()
evaluator = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, one_batch, every_n_iter=10)
estimator.train(one_batch, hooks=[evaluator])
print(sorted(tf.io.gfile.listdir(estimator.model_dir))[-1])


# %% tf.estimator.add_metrics
def largest_label(labels):
    return {"largest": tf.metrics.mean(tf.reduce_max(labels))}


estimator = tf.estimator.add_metrics(tf.estimator.BaselineRegressor(), largest_label)
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])))
print(estimator.evaluate(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])))["largest"])

# %% tf.estimator.LinearClassifier, tf.estimator.LinearRegressor, tf.estimator.LinearEstimator
estimator = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 6.0])).repeat(5))
print(estimator.get_variable_names())

# %% tf.estimator.DNNClassifier, tf.estimator.DNNRegressor, tf.estimator.DNNEstimator
estimator = tf.estimator.DNNClassifier([4], [tf.feature_column.numeric_column("x")])
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [0, 1])).repeat(5))
print(estimator.get_variable_value("dnn/hiddenlayer_0/kernel").shape)

# %% tf.estimator.DNNLinearCombinedClassifier, tf.estimator.DNNLinearCombinedRegressor
x = tf.feature_column.numeric_column("x")
estimator = tf.estimator.DNNLinearCombinedClassifier(
    linear_feature_columns=[x], dnn_feature_columns=[x], dnn_hidden_units=[4]
)
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [0, 1])).repeat(5))
print(estimator.get_variable_value("global_step"))

# %% tf.estimator.DNNLinearCombinedEstimator
estimator = tf.estimator.DNNLinearCombinedEstimator(
    tf.estimator.RegressionHead(), linear_feature_columns=[tf.feature_column.numeric_column("x")]
)
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [0.0, 1.0])))
print(estimator.get_variable_value("global_step"))

# %% tf.estimator.BaselineClassifier, tf.estimator.BaselineRegressor, tf.estimator.BaselineEstimator
estimator = tf.estimator.BaselineClassifier()
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0, 2.0, 3.0]}, [1, 0, 1])).repeat(50))
print(next(estimator.predict(lambda: tf.data.Dataset.from_tensors({"x": [0.0]})))["class_ids"])

# %% tf.estimator.classifier_parse_example_spec, tf.estimator.regressor_parse_example_spec
x = tf.feature_column.numeric_column("x")
print(sorted(tf.estimator.classifier_parse_example_spec([x], "label", weight_column="w")))

# %% tf.estimator.Head, tf.estimator.BinaryClassHead, tf.estimator.MultiClassHead, tf.estimator.MultiLabelHead
head = tf.estimator.BinaryClassHead()
logits = tf.constant([[1.0], [-2.0]])
head.predictions(logits)["probabilities"], head.loss(tf.constant([[1], [0]]), logits)

# %% tf.estimator.RegressionHead, tf.estimator.PoissonRegressionHead, tf.estimator.LogisticRegressionHead
head = tf.estimator.PoissonRegressionHead()
head.predictions(tf.constant([[0.0], [1.0]]))["predictions"]

# %% tf.estimator.MultiHead
heads = [tf.estimator.BinaryClassHead(name="a"), tf.estimator.RegressionHead(name="b")]
print(tf.estimator.MultiHead(heads).logits_dimension)

# %% tf.estimator.experimental.linear_logit_fn_builder, tf.estimator.experimental.dnn_logit_fn_builder
x = tf.feature_column.numeric_column("x")
logit_fn = tf.estimator.experimental.linear_logit_fn_builder(2, [x])
print(logit_fn({"x": tf.constant([1.0, 2.0])}).shape)


# %% tf.estimator.experimental.call_logit_fn
def logit_fn(features, mode):
    return 2 * features["x"]


tf.estimator.experimental.call_logit_fn(logit_fn, {"x": tf.constant([1.0])}, "train", None, None)


# %% tf.estimator.tpu.TPUEstimator, tf.estimator.tpu.TPUEstimatorSpec, tf.estimator.tpu.RunConfig
def model_fn(features, labels, mode, params):
    loss = tf.square(tf.get_variable("w", []) - labels)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    return tf.data.Dataset.from_tensors((1.0, float(params["batch_size"]))).repeat(4)


estimator = tf.estimator.tpu.TPUEstimator(
    model_fn, config=tf.estimator.tpu.RunConfig(), use_tpu=False, train_batch_size=8
)
estimator.train(input_fn)
print(estimator.get_variable_value("global_step"))

# %% tf.estimator.tpu.TPUConfig, tf.estimator.tpu.InputPipelineConfig
print(tf.estimator.tpu.TPUConfig(iterations_per_loop=100).per_host_input_for_training)

# %% tf.contrib.estimator.binary_classification_head, tf.contrib.estimator.multi_class_head
head = tf.contrib.estimator.binary_classification_head(loss_reduction=tf.losses.Reduction.SUM)
head.loss(tf.constant([[1], [0]]), tf.constant([[1.0], [-2.0]]))

# %% tf.contrib.estimator.multi_label_head, tf.contrib.estimator.regression_head
print(tf.contrib.estimator.multi_label_head(3).logits_dimension)

# %% tf.contrib.estimator.poisson_regression_head, tf.contrib.estimator.logistic_regression_head
tf.contrib.estimator.logistic_regression_head().predictions(tf.constant([[0.0]]))["predictions"]

# %% tf.contrib.estimator.multi_head
heads = [tf.contrib.estimator.regression_head(name="a"), tf.contrib.estimator.multi_class_head(3, name="b")]
print(tf.contrib.estimator.multi_head(heads).logits_dimension)

# %% tf.contrib.estimator.clip_gradients_by_norm
optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.1), 1.0)
print(optimizer.get_name())


# %% tf.contrib.estimator.forward_features
def people():
    return tf.data.Dataset.from_tensors(({"x": [1.0], "id": [7]}, [2.0]))


estimator = tf.contrib.estimator.forward_features(tf.estimator.BaselineRegressor(), "id")
estimator.train(people)
print(next(estimator.predict(people))["id"])

# %% tf.contrib.estimator.read_eval_metrics
print(tf.contrib.estimator.read_eval_metrics("/models/first/eval"))

# %% tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn
supervised = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(
    lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0]))
)
print(sorted(supervised().receiver_tensors))

# %% tf.contrib.estimator.export_saved_model_for_mode, tf.contrib.estimator.export_all_saved_models
estimator = tf.estimator.BaselineRegressor()
estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [2.0])))
serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None])})
path = tf.contrib.estimator.export_saved_model_for_mode(estimator, "exported", serving)
print(sorted(tf.io.gfile.listdir(path)))
