"""Evaluations of SavedModels on files, their results on disk, and the command."""

import math

import numpy as np
import pyarrow as pa
import pytest
from google.protobuf import text_format

import tideflow as tf
from tideflow.cli import main
from tideflow.io.records import TFRecordWriter
from tideflow.pipeline import evaluation as tfma
from tideflow.pipeline.data.examples import serialize_examples
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.data.writing import write_blocks
from tideflow.pipeline.evaluation.models import ModelPredictions
from tideflow.pipeline.evaluation.promise import promise
from tideflow.pipeline.messages.evaluation import EvalConfig

CONFIG = """
model_specs { label_key: "label" }
slicing_specs {} slicing_specs { feature_keys: "side" }
metrics_specs {
  metrics { class_name: "ExampleCount" }
  metrics { class_name: "AUC" threshold {
    value_threshold { lower_bound { value: 0.6 } }
    change_threshold { absolute { value: -0.01 } direction: HIGHER_IS_BETTER } } }
  metrics { class_name: "ConfusionMatrixPlot" config: '"num_thresholds": 5' }
}
"""


def config(text=CONFIG):
    return text_format.Parse(text, EvalConfig())


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(1)
    x = chance.normal(size=200)
    label = (x + chance.normal(size=200) > 0).astype(int)
    columns = {
        "x": pa.array([[float(each)] for each in x], pa.list_(pa.float32())),
        "label": pa.array([[int(each)] for each in label]),
        "side": pa.array([[b"left"] if each < 0 else [b"right"] for each in x]),
    }
    return pa.RecordBatch.from_pydict(columns)


def save(path, weight):
    """Saves a SavedModel of serialized Examples."""
    with tf.Graph().as_default(), tf.Session() as session:
        examples = tf.placeholder(tf.string, [None], name="examples")
        x = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})["x"]
        outputs = {"logistic": tf.sigmoid(weight * x), "logits": weight * x}
        tf.saved_model.simple_save(session, str(path), {"examples": examples}, outputs)
    return str(path)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "good": save(folder / "good", 2.0),
        "bad": save(folder / "bad", -1.0),
        "nan": save(folder / "nan", math.nan),
    }


def test_a_model_beside_its_baseline(models, rows, tmp_path):
    given = {"candidate": models["bad"], "baseline": models["good"]}
    results = tfma.run_model_analysis(given, config(), [Blocks([rows])], tmp_path / "out")
    assert [each.model_location for each in results.get_results()] == [models["bad"], models["good"]]
    candidate, baseline = (each.get_metrics_for_slice() for each in results.get_results())
    bad, good = (each["auc"]["doubleValue"] for each in (candidate, baseline))
    assert good > 0.7 and bad == pytest.approx(1 - good, abs=1e-3)
    assert candidate["auc_diff"]["doubleValue"] == pytest.approx(bad - good)
    assert candidate["example_count"] == {"doubleValue": 200.0}
    validation = tfma.load_validation_result(tmp_path / "out")
    assert not validation.validation_ok and len(validation.metric_validations_per_slice) == 3
    reasons = tfma.reasons(validation)
    assert reasons[0].startswith("Overall: auc of candidate is 0.") and reasons[0].endswith(
        "not at least 0.6"
    )
    assert "at least -0.01 is asked" in reasons[1]
    (left,) = [each for each in results.get_results()[0].plots if each[0] == (("side", "left"),)]
    assert len(left[1][""][""]["confusionMatrixAtThresholds"]["matrices"]) == 7
    found = promise(tfma.load_metrics(tmp_path / "out"), validation, results.get_results()[0].config)
    assert not found.is_promising and found.verdicts["Overall", "auc"] == "worse"


def test_a_better_model_is_promising_and_a_first_one_passes(models, rows, tmp_path):
    given = {"candidate": models["good"], "baseline": models["bad"]}
    text = CONFIG.replace("0.6", "0.5").replace('slicing_specs { feature_keys: "side" }', "")
    asked = config(text + "options { compute_confidence_intervals { value: true } }")
    results = tfma.run_model_analysis(given, asked, [Blocks([rows])], tmp_path / "out")
    validation = tfma.load_validation_result(tmp_path / "out")
    assert validation.validation_ok
    found = promise(tfma.load_metrics(tmp_path / "out"), validation, results.get_results()[0].config)
    assert found.is_promising and found.verdicts == {("Overall", "auc"): "better"}
    with pytest.raises(RuntimeError, match="baseline is missing"):
        tfma.run_model_analysis(models["good"], config(), [Blocks([rows])], tmp_path / "first")
    tfma.run_model_analysis(
        {"candidate": models["good"]}, config(), [Blocks([rows])], tmp_path / "first", rubber_stamp=True
    )
    first = tfma.load_validation_result(tmp_path / "first")
    assert first.rubber_stamp and not any(
        failure.metric_key.is_diff for each in first.metric_validations_per_slice for failure in each.failures
    )


def test_a_model_that_answers_nan_does_not_pass(models, rows, tmp_path):
    tfma.run_model_analysis(models["nan"], config(), [Blocks([rows])], tmp_path / "out", rubber_stamp=True)
    validation = tfma.load_validation_result(tmp_path / "out")
    assert not validation.validation_ok and "auc is nan, not at least 0.6" in tfma.reasons(validation)[0]


def test_no_rows_are_no_reason_to_pass(models, rows, tmp_path):
    for number, empty in enumerate(([Blocks([rows.slice(0, 0)])], [Blocks([])])):
        path = tmp_path / str(number)
        result = tfma.run_model_analysis(models["good"], config(), empty, path, rubber_stamp=True)
        assert result.slicing_metrics == [] and result.get_metric_names() == []
        validation = tfma.load_validation_result(path)
        assert not validation.validation_ok
        assert tfma.reasons(validation) == ["A threshold is for a slice that the data do not have: all rows"]


def test_a_model_makes_labels_and_slices_of_raw_features(rows, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        examples = tf.placeholder(tf.string, [None], name="examples")
        x = tf.parse_example(examples, {"x": tf.FixedLenFeature([], tf.float32)})["x"]
        positive = tf.cast(x > 0, tf.int64)
        size = tf.where(tf.abs(x) > 1, tf.fill(tf.shape(x), "large"), tf.fill(tf.shape(x), "small"))
        answers = {
            "serving_default": {"scores": tf.sigmoid(x)},
            "transformed_labels": {"positive": positive},
            "features": {"side": size, "negative": 1 - positive},
        }
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            {
                name: tf.saved_model.predict_signature_def({"examples": examples}, outputs)
                for name, outputs in answers.items()
            },
        )
        builder.save()

    def accuracies(label, more=""):
        asked = config(
            f"""model_specs {{ label_key: "{label}" signature_name: "serving_default" {more} }}
            slicing_specs {{ feature_keys: "side" }}
            metrics_specs {{ metrics {{ class_name: "BinaryAccuracy" }} }}"""
        )
        result = tfma.run_model_analysis(str(tmp_path / "model"), asked, [Blocks([rows])])
        return {
            slice_key[0][1]: values["binary_accuracy"]["doubleValue"]
            for slice_key, values in result.get_metrics_for_all_slices().items()
        }

    assert accuracies("positive") == {"left": 1.0, "right": 1.0}
    named = 'preprocessing_function_names: "features"'
    assert accuracies("negative", named) == {"large": 0.0, "small": 0.0}
    with pytest.raises(ValueError, match="has no signature 'other'"):
        accuracies("positive", 'preprocessing_function_names: "other"')


def test_what_a_model_is_asked(models, rows, tmp_path):
    answers = ModelPredictions(models["good"], batch_size=64)(rows)
    assert answers["logistic"].shape == (200, 1)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.saved_model.simple_save(session, str(tmp_path / "by_name"), {"x": x}, {"y": 2 * x})
    doubled = ModelPredictions(str(tmp_path / "by_name"))(rows)["y"]
    np.testing.assert_array_equal(doubled, 2 * rows.column("x").flatten().to_numpy())
    with pytest.raises(ValueError, match="has no signature 'other'; it has serving_default"):
        ModelPredictions(models["good"], "other")(rows)
    with pytest.raises(ValueError, match="the model asks for 'x', which the data do not have"):
        ModelPredictions(str(tmp_path / "by_name"))(rows.select(["label"]))
    with pytest.raises(ValueError, match="outputs logistic, logits: name one"):
        wrong = config(
            'model_specs { label_key: "label" prediction_key: "p" }'
            'metrics_specs { metrics { class_name: "AUC" } }'
        )
        tfma.run_model_analysis(models["good"], wrong, [Blocks([rows])], tmp_path / "out")


def test_the_command(models, rows, tmp_path, capsys):
    with TFRecordWriter(str(tmp_path / "data.tfrecord")) as writer:
        for record in serialize_examples(rows):
            writer.write(record)
    (tmp_path / "eval.pbtxt").write_text(CONFIG)
    data = str(tmp_path / "data.tfrecord")
    compared = [
        "evaluate",
        models["bad"],
        data,
        f"--config={tmp_path / 'eval.pbtxt'}",
        f"--baseline={models['good']}",
    ]
    assert main([*compared, f"--output={tmp_path / 'out'}"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("slice") and "side:left" in said and "candidate/auc_diff" in said
    assert "not passed: Overall: auc of candidate is" in said and "no experiment:" in said
    assert len(list(tfma.load_metrics(tmp_path / "out"))) == 3
    simple = ["--label=label", "--metrics=AUC", "--slices=side", "--prediction=logistic", "--intervals"]
    assert main(["evaluate", models["good"], data, *simple]) == 0
    assert "[0." in capsys.readouterr().out
    (tmp_path / "wrong.pbtxt").write_text("metrics_specs { nothing: 1 }")
    assert main(["evaluate", models["good"], data, f"--config={tmp_path / 'wrong.pbtxt'}"]) == 2
    assert "is no EvalConfig" in capsys.readouterr().err


def test_results_that_are_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="is no result of an evaluation"):
        tfma.load_eval_result(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="0 validation results"):
        tfma.load_validation_result(tmp_path)
    assert list(tfma.load_metrics(tmp_path)) == []


def test_the_command_takes_the_probability_of_a_classifier(rows, tmp_path, capsys):
    """An estimator's classifier serves the scores of both classes; their AUC is not the classifier's."""
    with tf.Graph().as_default(), tf.Session() as session:
        examples = tf.placeholder(tf.string, [None])
        x = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})["x"]
        probability = tf.sigmoid(2 * x)
        signatures = {
            "serving_default": tf.saved_model.predict_signature_def(
                {"inputs": examples}, {"scores": tf.concat([1 - probability, probability], 1)}
            ),
            "predict": tf.saved_model.predict_signature_def(
                {"examples": examples}, {"logistic": probability, "logits": 2 * x}
            ),
        }
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    write_blocks(tmp_path / "rows.arrow", [rows], "arrow")
    command = ["evaluate", str(tmp_path / "model"), str(tmp_path / "rows.arrow"), "--label=label"]
    assert main(command) == 0
    chosen = capsys.readouterr().out
    assert main([*command, "--signature=predict", "--prediction=logistic"]) == 0
    assert capsys.readouterr().out == chosen
    assert main([*command, "--signature=serving_default"]) == 0
    assert capsys.readouterr().out != chosen
