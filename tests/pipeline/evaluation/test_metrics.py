"""Metrics of tables: against tf.metrics, against their definitions, and however the rows are divided."""

import pickle

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.pipeline import evaluation as tfma
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.engine.run import accumulate
from tideflow.pipeline.evaluation.analysis import as_block
from tideflow.pipeline.evaluation.evaluator import plan_of
from tideflow.pipeline.evaluation.metrics import METRICS
from tideflow.pipeline.evaluation.specs import complete
from tideflow.pipeline.evaluation.values import Interval
from tideflow.pipeline.messages.evaluation import EvalConfig

MODEL = 'model_specs { label_key: "label" prediction_key: "prediction" }'


def config(text):
    return text_format.Parse(text, EvalConfig())


def metric(name, arguments=""):
    return f"metrics {{ class_name: '{name}' config: '{arguments}' }}"


def values_of(table, text, blocks=1):
    """The metrics by slice and name, of a table that is divided into blocks."""
    plan = plan_of(complete(config(text)))
    block = as_block(table)
    size = -(-block.num_rows // blocks)
    sources = [Blocks([block.slice(begin, size)]) for begin in range(0, block.num_rows, size)]
    accumulator = pickle.loads(pickle.dumps(plan.accumulator({})))  # as for a worker
    found = accumulate(sources, {"": accumulator}, workers=1)[""]
    return {
        slice_key: {key.name: value for key, value in each.items()} for slice_key, each in plan.values(found)
    }


def table_of(rows, seed=0):
    chance = np.random.default_rng(seed)
    label = chance.integers(0, 2, rows).astype(float)
    return {
        "label": label,
        "prediction": np.clip(label * 0.3 + chance.random(rows) * 0.7, 0, 1),
        "weight": chance.choice([0.5, 1.0, 2.0], rows),
        "color": chance.choice(["red", "green"], rows),
    }


def test_values_are_those_of_tf_metrics():
    table = table_of(500)
    names = (
        "BinaryAccuracy",
        "Precision",
        "Recall",
        "MeanSquaredError",
        "MeanAbsoluteError",
        "AUC",
        "TruePositives",
    )
    found = values_of(table, f"{MODEL} metrics_specs {{ {' '.join(map(metric, names))} }}")[()]
    with tf.Graph().as_default(), tf.Session() as session:
        label, prediction = tf.constant(table["label"]), tf.constant(table["prediction"])
        said = prediction > 0.5
        updates = {
            "binary_accuracy": tf.metrics.accuracy(label, tf.to_double(said)),
            "precision": tf.metrics.precision(label, said),
            "recall": tf.metrics.recall(label, said),
            "mean_squared_error": tf.metrics.mean_squared_error(label, prediction),
            "mean_absolute_error": tf.metrics.mean_absolute_error(label, prediction),
            "true_positives": tf.metrics.true_positives(label, said),
            "auc": tf.metrics.auc(label, prediction, num_thresholds=10000),
        }
        session.run(tf.local_variables_initializer())
        session.run([update for _, update in updates.values()])
        expected = session.run({name: value for name, (value, _) in updates.items()})
    # The area comes from a histogram, whose edges are not quite tf.metrics's thresholds.
    assert found.pop("auc") == pytest.approx(expected.pop("auc"), abs=1e-4)
    assert found == {name: pytest.approx(value, rel=1e-6, abs=1e-6) for name, value in expected.items()}


@settings(max_examples=15)
@given(st.integers(1, 7), st.integers(1, 40))
def test_values_do_not_depend_on_the_partition(blocks, rows):
    table = table_of(rows, seed=rows)
    text = f"""model_specs {{ label_key: "label" prediction_key: "prediction" example_weight_key: "weight" }}
      slicing_specs {{}} slicing_specs {{ feature_keys: "color" }}
      metrics_specs {{ {metric("AUC")} {metric("F1Score")} {metric("MeanLabel")} {metric("ExampleCount")}
        {metric("ConfusionMatrixAtThresholds", '"thresholds": [0.3, 0.6]')} }}"""
    whole, parts = values_of(table, text), values_of(table, text, blocks)
    assert whole.keys() == parts.keys()
    for slice_key, values in whole.items():
        for name, value in values.items():
            np.testing.assert_allclose(parts[slice_key][name], value, rtol=1e-12, atol=1e-12)


def test_a_prediction_that_is_nan_makes_every_metric_nan():
    table = table_of(30)
    table["prediction"][3] = np.nan
    of_scores = [name for name in METRICS if name not in _NOT_OF_SCORES and not name.startswith("Multi")]
    metrics = " ".join(metric(name, _ARGUMENTS.get(name, "")) for name in of_scores)
    found = values_of(table, f"{MODEL} metrics_specs {{ {metrics} }}")[()]
    numbers = {name: value for name, value in found.items() if isinstance(value, float)}
    assert len(numbers) > 40 and {name for name, value in numbers.items() if not np.isnan(value)} == {
        "accuracy",
        "exact_match",
    }


_ARGUMENTS = {
    "SensitivityAtSpecificity": '"specificity": 0.5',
    "SpecificityAtSensitivity": '"sensitivity": 0.5',
    "PrecisionAtRecall": '"recall": 0.5',
    "RecallAtPrecision": '"precision": 0.5',
    "RecallAtFalsePositiveRate": '"false_positive_rate": 0.5',
    "ThresholdAtRecall": '"recall": 0.5',
    "ConfusionMatrixAtThresholds": '"thresholds": [0.5]',
}
_NOT_OF_SCORES = (
    *(
        "ExampleCount",
        "WeightedExampleCount",
        "MeanLabel",
        "Mean",
        "NDCG",
        "MinLabelPosition",
        "QueryStatistics",
    ),
    *("SparseTopKCategoricalAccuracy", "TopKCategoricalAccuracy", "CategoricalHinge"),
    *("BooleanFlipRates", "ModelCosineSimilarity", "SymmetricPredictionDifference"),
    *(name for name in METRICS if name.endswith("FlipRate")),
    *(name for name in METRICS if name.startswith(("ObjectDetection", "COCO", "SetMatch", "SemanticSeg"))),
    *(name for name in METRICS if name.endswith(("Attributions", "FeatureSampler"))),
    *("Bleu", "Rouge"),
)


@pytest.mark.parametrize("method", ["JACKKNIFE", "POISSON_BOOTSTRAP"])
def test_intervals_have_the_width_that_theory_gives(method):
    table = table_of(4000, seed=5)
    text = f"""{MODEL} metrics_specs {{ {metric("MeanPrediction")} {metric("ExampleCount")}
        {metric("ConfusionMatrixAtThresholds", '"thresholds": [0.5]')} }}
      options {{ compute_confidence_intervals {{ value: true }}
        confidence_intervals {{ method: {method} }} }}"""
    found = values_of(table, text)[()]
    interval = found["mean_prediction"]
    assert isinstance(interval, Interval) and interval.value == pytest.approx(table["prediction"].mean())
    theory = table["prediction"].std() / 4000**0.5
    assert theory / 2 < interval.standard_error < theory * 2  # 20 samples
    lower, upper = interval.bounds()
    assert lower < interval.value < upper
    assert found["example_count"] == 4000  # a count has no interval
    assert isinstance(found["confusion_matrix_at_thresholds"], Interval)
    assert found["mean_prediction"] == values_of(table, text)[()]["mean_prediction"]  # the same again


@pytest.mark.parametrize(
    "text, words",
    [
        (metric("Nothing"), "unknown metric 'Nothing'; known are AUC,"),
        (metric("AUC", '"thresholdz": 3'), "metric AUC: got an unexpected keyword argument 'thresholdz'"),
        (metric("Hinge", '"k": 3'), "metric Hinge: got an unexpected keyword argument 'k'"),
        (metric("AUC", '"curve": "X"'), "'X' is not a valid AUCCurve"),
        (metric("PrecisionAtRecall", '"recall": 3'), r"must be in the range \[0, 1\]"),
        (metric("NDCG", '"gain_key": "weight"'), "a query_key is required to use NDCG"),
        (metric("BooleanFlipRates"), "compares a model with a baseline"),
        (f"{metric('AUC')} binarize {{ class_ids {{ values: 3 }} }}", 'class_id "3" out of range'),
        (f"{metric('AUC')} binarize {{ top_k_list {{ values: 3 }} }}", "not enough values were provided"),
        (f"{metric('AUC')} aggregate {{ macro_average: true }}", "class_weights are required"),
        (f"{metric('AUC')} output_weights {{ key: 'a' value: 1 }}", "output_names used in output_weights"),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        values_of(table_of(4), f"{MODEL} metrics_specs {{ {text} }}")


def test_data_that_do_not_fit():
    table = table_of(3)
    auc = f"{MODEL} metrics_specs {{ {metric('AUC')} }}"
    with pytest.raises(ValueError, match=r"label must be within \[0, 1\]: label=2.0"):
        values_of({**table, "label": [0.0, 2.0, 1.0]}, auc)
    with pytest.raises(ValueError, match="no value provided for label in 1 examples"):
        values_of({**table, "label": [0.0, None, 1.0]}, auc)
    with pytest.raises(ValueError, match="the data have no feature 'label' for the label; they have color"):
        values_of({"color": table["color"], "prediction": table["prediction"]}, auc)
    with pytest.raises(KeyError, match="prediction_key column was not found"):
        tfma.analyze_raw_data(table, config('model_specs { prediction_key: "none" }'))
    with pytest.raises(ValueError, match="Found non-UTF8 feature value"):
        values_of(
            {**table, "color": [b"\xff", b"a", b"b"]}, f"{auc} slicing_specs {{ feature_keys: 'color' }}"
        )


def test_configurations_are_built_of_messages_as_in_tfma():
    change = tfma.GenericChangeThreshold(direction=tfma.MetricDirection.HIGHER_IS_BETTER)
    change.absolute.value = -0.1
    made = tfma.EvalConfig(
        model_specs=[tfma.ModelSpec(label_key="label")],
        slicing_specs=[tfma.SlicingSpec(), tfma.SlicingSpec(feature_keys=["color"])],
        metrics_specs=[
            tfma.MetricsSpec(
                metrics=[
                    tfma.MetricConfig(
                        class_name="AUC", threshold=tfma.MetricThreshold(change_threshold=change)
                    )
                ]
            )
        ],
    )
    assert made == config(
        """model_specs { label_key: "label" } slicing_specs {} slicing_specs { feature_keys: "color" }
        metrics_specs { metrics { class_name: "AUC" threshold { change_threshold {
          absolute { value: -0.1 } direction: HIGHER_IS_BETTER } } } }"""
    )
