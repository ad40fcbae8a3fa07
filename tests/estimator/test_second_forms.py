"""Canned estimators of `tf.compat.v2.estimator`, which optimizers of Keras train."""

import pytest

import tideflow as tf
from tideflow.programs.inner.train import estimator_names

v2 = tf.compat.v2.estimator
SIZE = tf.feature_column.numeric_column("size")


def inputs(labels=((1,), (0,))):
    return lambda: ({"size": tf.constant([[0.5], [-1.0]])}, tf.constant(labels))


def names_in(folder):
    return {name for name, _ in tf.train.list_variables(str(folder))}


def test_a_linear_model_counts_steps_and_has_slots_of_keras(tmp_path):
    estimator = v2.LinearClassifier([SIZE], model_dir=str(tmp_path))
    estimator.train(inputs(), steps=2)
    assert {name for name in names_in(tmp_path) if "Ftrl" not in name} == {
        "global_step",
        "linear/linear_model/bias_weights",
        "linear/linear_model/size/weights",
    }
    assert {
        "training/Ftrl/learning_rate",
        "training/Ftrl/linear/linear_model/size/weights/accumulator",
        "training/Ftrl/linear/linear_model/size/weights/linear",
    } <= names_in(tmp_path)
    assert estimator.get_variable_value("global_step") == 2
    assert estimator.evaluate(inputs(), steps=1)["accuracy"] == 1.0


def test_a_deep_model_is_a_model_of_keras(tmp_path):
    estimator = v2.DNNRegressor([2], [SIZE], model_dir=str(tmp_path), batch_norm=True, dropout=0.5)
    estimator.train(inputs([[1.0], [0.0]]), steps=1)
    assert {
        "dnn/hiddenlayer_0/kernel",
        "dnn/hiddenlayer_0/batchnorm_0/moving_mean",
        "dnn/logits/bias",
        "training/Adagrad/dnn/logits/kernel/accumulator",
    } <= names_in(tmp_path)


def test_both_models_together(tmp_path):
    estimator = v2.DNNLinearCombinedRegressor(
        model_dir=str(tmp_path),
        linear_feature_columns=[SIZE],
        dnn_feature_columns=[SIZE],
        dnn_hidden_units=[2],
    )
    estimator.train(inputs([[1.0], [0.0]]), steps=3)
    assert estimator.get_variable_value("global_step") == 3
    assert {"dnn/logits/bias", "linear/linear_model/size/weights"} <= names_in(tmp_path)


def test_baselines_learn_the_frequencies(tmp_path):
    estimator = v2.BaselineRegressor(model_dir=str(tmp_path), optimizer=tf.keras.optimizers.SGD(0.5))
    estimator.train(inputs([[3.0], [1.0]]), steps=20)
    assert estimator.evaluate(inputs([[3.0], [1.0]]), steps=1)["prediction/mean"] == pytest.approx(2, 1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: v2.LinearClassifier([SIZE], optimizer="Best"), "Unsupported optimizer name: Best"),
        (
            lambda: v2.DNNClassifier([2], [SIZE], optimizer=tf.train.AdamOptimizer()),
            "not a tf.keras.optimizers.Optimizer instance",
        ),
        (lambda: v2.DNNLinearCombinedClassifier(dnn_feature_columns=[SIZE]), "dnn_hidden_units must be"),
        (lambda: v2.LinearRegressor(["size"]), "Received a feature column from TensorFlow v1"),
    ],
)
def test_what_is_refused_in_training(make, message):
    with pytest.raises(ValueError, match=message):
        make().train(inputs(), steps=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_classes": 3}, "cannot be used in a multi-class setting"),
        ({"sparse_combiner": "mean"}, 'sparse_combiner must be "sum"'),
    ],
)
def test_dual_ascent_has_two_classes(options, message):
    ascent = tf.estimator.experimental.LinearSDCA("size")
    with pytest.raises(ValueError, match=message):
        v2.LinearClassifier([SIZE], optimizer=ascent, **options)


def test_logits_of_a_deep_model():
    logits = estimator_names.dnn_logit_fn_builder_v2(2, [3], [SIZE], tf.nn.relu, None, False)
    with tf.Graph().as_default():
        found = logits({"size": tf.constant([[0.5], [-1.0]])}, tf.estimator.ModeKeys.EVAL)
        assert found.shape.as_list() == [2, 2]
        assert tf.trainable_variables()[0].name == "dnn/hiddenlayer_0/kernel:0"
    with pytest.raises(ValueError, match="units must be an int"):
        estimator_names.dnn_logit_fn_builder_v2([2], [3], [SIZE], tf.nn.relu, None, False)


def test_metrics_of_keras_are_metrics_of_evaluations():
    class Largest(tf.keras.metrics.Mean):
        def update_state(self, values, sample_weight=None):
            return super().update_state(tf.reduce_max(values), sample_weight)

    def model_fn(features, labels, mode):
        mean, largest = tf.keras.metrics.Mean(), Largest()
        mean.update_state(features["size"])
        largest.update_state(features["size"])
        assert len(largest.updates) == 1
        return tf.estimator.EstimatorSpec(
            mode, loss=tf.constant(1.0), eval_metric_ops={"mean": mean, "largest": largest}
        )

    found = tf.estimator.Estimator(model_fn).evaluate(inputs(), steps=2)
    assert (found["mean"], found["largest"]) == (-0.25, 0.5)
