"""Metrics of segmented images: pixels by the class they are of and the class they were given."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from tideflow.pipeline.evaluation.binary_metrics import Matrices
from tideflow.pipeline.evaluation.computations import Sums
from tideflow.pipeline.evaluation.inputs import Batch, View
from tideflow.pipeline.evaluation.keys import SubKey
from tideflow.pipeline.evaluation.metrics import Metric, key, metric

_OUTCOMES = 4


def _images(view: View, batch: Batch, name: str, of: str, encoded: bool) -> list[np.ndarray]:
    found = view.named(batch, name, of=of)
    if found is None:
        raise ValueError(f"{name} is not found in the {of} nor in the features {sorted(batch.columns)}")
    if not encoded:
        return found
    return [np.array(Image.open(io.BytesIO(each.reshape(-1)[0])), dtype=np.uint8) for each in found]


def _pixels(
    view: View,
    batch: Batch,
    class_ids: tuple[int, ...],
    ground_truth_key: str,
    prediction_key: str,
    decode_ground_truth: bool,
    decode_prediction: bool,
    ignored: int | None,
) -> np.ndarray:
    """Of each image and class: true positives, true negatives, false positives and false negatives."""
    truths = _images(view, batch, ground_truth_key, "labels", decode_ground_truth)
    founds = _images(view, batch, prediction_key, "predictions", decode_prediction)
    rows = []
    for truth, found, weight in zip(truths, founds, view.weight(batch), strict=True):
        if truth.shape != found.shape:
            raise ValueError(
                f"The image size of ground truth {truth.shape} does not match with the image size of "
                f"prediction {found.shape}"
            )
        if truth.ndim != 2:
            raise ValueError(f"The ground truth should be in 2d. But the shape is {truth.shape}")
        counts = truth != ignored
        row = []
        for class_id in class_ids:
            is_of, said = truth == class_id, found == class_id
            outcomes = (is_of & said, ~is_of & ~said & counts, ~is_of & said & counts, is_of & ~said)
            row += [outcome.sum() * weight for outcome in outcomes]
        rows.append(row)
    return np.asarray(rows, float).reshape(-1, len(class_ids) * _OUTCOMES)


def _of_pixels(
    view: View,
    name: str,
    class_ids: Sequence[int],
    ground_truth_key: str,
    prediction_key: str,
    decode_ground_truth: bool = True,
    decode_prediction: bool = False,
    ignore_ground_truth_id: int | None = None,
    *,
    value: Callable[[np.ndarray], Any],
) -> list[Metric]:
    whole = replace(view.without_classes(), output_name="")
    options = (
        tuple(class_ids),
        ground_truth_key,
        prediction_key,
        decode_ground_truth,
        decode_prediction,
        ignore_ground_truth_id,
    )
    needs = (Sums(whole, _pixels, options),)

    def of_class(place: int) -> Callable[[np.ndarray], Any]:
        return lambda sums: value(sums[place * _OUTCOMES : (place + 1) * _OUTCOMES])

    return [
        Metric(key(replace(whole, sub_key=SubKey(class_id=class_id)), name), needs, of_class(place))
        for place, class_id in enumerate(class_ids)
    ]


metric("SemanticSegmentationTruePositive", "semantic_segmentation_true_positives")(
    partial(_of_pixels, value=lambda counts: float(counts[0]))
)
metric("SemanticSegmentationFalsePositive", "semantic_segmentation_false_positives")(
    partial(_of_pixels, value=lambda counts: float(counts[2]))
)
metric("SemanticSegmentationConfusionMatrix")(
    partial(_of_pixels, value=lambda counts: Matrices(np.zeros(1), *(counts[i : i + 1] for i in range(4))))
)
