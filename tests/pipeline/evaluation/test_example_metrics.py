"""Metrics of examples that have many labels and predictions: boxes, sets, segments, texts, attributions.

`tests/oracle_pipeline/programs/evaluation_examples.py` compares their values with TFMA's.
"""

import io

import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image

from tideflow.pipeline import evaluation as tfma
from tideflow.pipeline.evaluation.matching import overlaps
from tideflow.pipeline.evaluation.stemming import stem
from tideflow.pipeline.messages.evaluation import EvalConfig

BOX = (
    '"class_id": 1, "labels_to_stack": ["left", "top", "right", "bottom", "kind"], '
    '"predictions_to_stack": ["left", "top", "right", "bottom", "kind", "score"]'
)
PAIRS = 'model_specs { label_key: "label" prediction_key: "prediction" }'


def metric(class_name, config=""):
    return f"metrics {{ class_name: '{class_name}' config: '{config}' }}"


def evaluated(table, specs):
    return tfma.analyze_raw_data(table, text_format.Parse(specs, EvalConfig()))


def values_of(table, specs, sub_key=""):
    """The numbers of all rows, by name."""
    metrics = evaluated(table, specs).slicing_metrics[0][1][""][sub_key]
    return {name: value.get("doubleValue", value.get("arrayValue")) for name, value in metrics.items()}


def boxes(*rows):
    """A table of images with boxes of (left, top, right, bottom, kind, score)."""
    columns = ("left", "top", "right", "bottom", "kind", "score")
    return {name: [[float(box[at]) for box in row] for row in rows] for at, name in enumerate(columns)}


def test_boxes_that_are_their_own_detections_are_all_found():
    table = boxes([(0, 0, 10, 10, 1, 0.9), (20, 20, 30, 30, 1, 0.8)], [(5, 5, 9, 9, 1, 0.7)], [])
    both = metric("ObjectDetectionMaxRecall", BOX) + metric("ObjectDetectionPrecision", BOX)
    assert values_of(table, f"model_specs {{}} metrics_specs {{ {both} }}", "classId:1") == {
        "object_detection_max_recall": 1.0,
        "object_detection_precision": 1.0,
    }
    found = values_of(table, f"model_specs {{}} metrics_specs {{ {metric('COCOAveragePrecision', BOX)} }}")
    assert found == {"average_precision": 1.0}


def test_overlap_of_boxes():
    one = np.array([[0.0, 0, 10, 10], [3, 3, 3, 3]])
    other = np.array([[0.0, 5, 10, 15], [20, 20, 30, 30]])
    np.testing.assert_allclose(overlaps(one, other), [[1 / 3, 0], [0, 0]])


def test_boxes_that_do_not_fit():
    table = boxes([(10, 0, 0, 10, 1, 0.9)])
    specs = "model_specs {} metrics_specs { %s }"
    with pytest.raises(ValueError, match="boundary is less than"):
        evaluated(table, specs % metric("ObjectDetectionRecall", BOX))
    with pytest.raises(KeyError, match="Key nowhere is not found under labels"):
        evaluated(table, specs % metric("ObjectDetectionRecall", BOX.replace('"left"', '"nowhere"', 1)))
    with pytest.raises(ValueError, match="class_id must be provided"):
        evaluated(table, specs % metric("ObjectDetectionRecall"))
    with pytest.raises(ValueError, match="must be a valid interval"):
        evaluated(table, specs % metric("ObjectDetectionRecall", f'"area_range": [9, 1], {BOX}'))


def test_ragged_labels_are_refused_by_metrics_that_need_one_each():
    table = {"label": [[1.0], [1.0, 0.0]], "prediction": [0.5, 0.6]}
    with pytest.raises(ValueError, match="label has 1 values in some examples and 2 in others"):
        evaluated(table, f"{PAIRS} metrics_specs {{ {metric('AUC')} }}")


def test_sets():
    table = {"label": [["a", "b"]], "found": [["b", "c"]], "score": [[0.9, 0.2]]}
    specs = """model_specs { label_key: "label" prediction_keys { key: "classes" value: "found" }
        prediction_keys { key: "scores" value: "score" } } metrics_specs { %s }"""
    both = metric("SetMatchPrecision") + metric("SetMatchRecall")
    assert values_of(table, specs % both) == {"set_match_precision": 1.0, "set_match_recall": 0.5}


def png(rows):
    file = io.BytesIO()
    Image.fromarray(np.array(rows, np.uint8)).save(file, "PNG")
    return file.getvalue()


def test_pixels_of_segmented_images():
    table = {"truth": [png([[0, 1], [1, 1]])], "found": [png([[1, 1], [0, 1]])]}
    config = (
        '"class_ids": [1], "ground_truth_key": "truth", "prediction_key": "found", "decode_prediction": true'
    )
    specs = f"model_specs {{}} metrics_specs {{ {metric('SemanticSegmentationFalsePositive', config)} }}"
    assert values_of(table, specs, "classId:1") == {"semantic_segmentation_false_positives": 1.0}
    table["found"] = [png([[1, 1]])]
    with pytest.raises(ValueError, match=r"ground truth \(2, 2\) does not match"):
        evaluated(table, specs)


def test_samples_are_the_first_wrong_examples():
    table = {"label": [0.0, 1.0, 0.0, 0.0], "prediction": [0.9, 0.9, 0.8, 0.7], "id": ["a", "b", "c", "d"]}
    config = '"feature_key": "id", "sample_size": 2'
    found = values_of(table, f"{PAIRS} metrics_specs {{ {metric('FalsePositiveFeatureSampler', config)} }}")
    assert found["false_positive_feature_sampler"]["bytesValues"] == ["YQ==", "Yw=="]


def test_texts():
    table = {"label": [["the cat sat on the mat"]], "prediction": ["the cat sat on the mat"]}
    rouge = metric("Rouge", '"rouge_type": "rougeLsum"')
    found = values_of(table, f"{PAIRS} metrics_specs {{ {metric('Bleu')} {rouge} }}")
    assert found["BLEU"] == pytest.approx(100) and found["rougeLsum"]["float64Values"] == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="Bleu does not support example weights"):
        specs = f"{PAIRS} metrics_specs {{ {metric('Bleu')} example_weights {{ weighted: true }} }}"
        evaluated(table, specs)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("running", "run"), ("flies", "fli"), ("dies", "die"), ("generously", "gener"), ("hopping", "hop")]
    + [("relational", "relat"), ("skies", "sky"), ("controlling", "control"), ("geology", "geolog")],
)
def test_stems(word, expected):
    assert stem(word) == expected


def test_attributions_are_kept_beside_the_metrics():
    table = {"label": [0.0, 1.0], "prediction": [0.2, 0.9], "attributions/age": [0.5, -1.5]}
    both = metric("MeanAbsoluteAttributions") + metric("TotalAttributions")
    result = evaluated(table, f"{PAIRS} metrics_specs {{ {both} }}")
    ((_, by_output),) = result.attributions
    assert by_output[""][""] == {
        "mean_absolute_attributions": {"age": {"doubleValue": 1.0}},
        "total_attributions": {"age": {"doubleValue": -1.0}},
    }
    with pytest.raises(ValueError, match="attributions missing from extracts"):
        evaluated(
            {name: table[name] for name in ("label", "prediction")}, f"{PAIRS} metrics_specs {{ {both} }}"
        )


def test_fairness_indicators():
    table = {"label": [0.0, 0.0, 1.0], "prediction": [0.7, 0.1, 0.9]}
    found = values_of(table, f"{PAIRS} metrics_specs {{ {metric('FairnessIndicators')} }}")
    assert found["fairness_indicators_metrics/false_positive_rate@0.5"] == 0.5
    assert len(found) == 90


@pytest.mark.parametrize("method", ["JACKKNIFE", "POISSON_BOOTSTRAP"])
def test_metrics_of_boxes_have_confidence_intervals(method):
    rows = [[(0, 0, 10, 10, 1, 0.1 + 0.8 * (number % 3 > 0))] for number in range(60)]
    wanted = f"compute_confidence_intervals {{ value: true }} confidence_intervals {{ method: {method} }}"
    options = f"options {{ {wanted} }}"
    specs = f"model_specs {{}} metrics_specs {{ {metric('ObjectDetectionRecall', BOX)} }} {options}"
    (found,) = evaluated(boxes(*rows), specs).slicing_metrics[0][1][""]["classId:1"].values()
    bounds = found["boundedValue"]
    assert bounds["lowerBound"] < bounds["value"] < bounds["upperBound"]
    assert bounds["value"] == pytest.approx(2 / 3)
