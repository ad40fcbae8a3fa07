"""Metrics of detected objects and of predicted sets: those of confusion matrices, of matched pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tideflow.pipeline.evaluation import binary_metrics, class_metrics
from tideflow.pipeline.evaluation.inputs import View
from tideflow.pipeline.evaluation.keys import MetricKey, SubKey
from tideflow.pipeline.evaluation.matching import BoxView, SetView
from tideflow.pipeline.evaluation.metrics import METRICS, Metric, key, metric

_IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
_RECALLS = 101
_SCORES = 10000
_LEAST = 1e-12


def _base(class_name: str) -> Callable[..., Sequence[Metric]]:
    """The maker of a metric of pairs; these are registered by the modules that define them."""
    assert binary_metrics and class_metrics
    return METRICS[class_name][0]


# ------------------------------------------------------------------------------------------------- detections


def box_view(
    view: View,
    *,
    class_id: int | None = None,
    iou_threshold: float | None = None,
    class_weight: float | None = None,
    area_range: Sequence[float] | None = None,
    max_num_detections: int | None = None,
    labels_to_stack: Sequence[str] | None = None,
    predictions_to_stack: Sequence[str] | None = None,
    num_detections_key: str | None = None,
    allow_missing_key: bool = False,
) -> BoxView:
    """The boxes that a metric of detections is of, by the arguments of its configuration."""
    if class_id is None:
        raise ValueError("class_id must be provided if use object detection.")
    if class_weight is not None and class_weight < 0:
        raise ValueError(f"class_weight = {class_weight} must not be negative.")
    if area_range is not None and (len(area_range) != 2 or area_range[0] > area_range[1]):
        raise ValueError(f"area_range = {area_range} must be a valid interval.")
    if max_num_detections is not None and max_num_detections <= 0:
        raise ValueError(f"max_num_detections = {max_num_detections} must be positive.")
    if view.output_name and (labels_to_stack or predictions_to_stack):
        raise ValueError(
            "The metric does not support specifying the output name when there are keys/outputs specified to "
            "be stacked."
        )
    low, high = area_range or (0.0, np.inf)
    return BoxView(
        model_name=view.model_name,
        output_name=view.output_name,
        sub_key=SubKey(class_id=class_id),
        example_weighted=view.example_weighted,
        class_id=class_id,
        iou_threshold=0.5 if iou_threshold is None else iou_threshold,
        area_range=(float(low), float(high)),
        max_num_detections=max_num_detections,
        class_weight=1.0 if class_weight is None else class_weight,
        labels_to_stack=tuple(labels_to_stack or ()),
        predictions_to_stack=tuple(predictions_to_stack or ()),
        num_detections_key=num_detections_key,
        allow_missing_key=allow_missing_key,
    )


_OF_MATRICES = ("recall", "thresholds", "num_thresholds")  # arguments that are not of boxes


def _of_boxes(view: View, name: str, *, class_name: str, **arguments: Any) -> Sequence[Metric]:
    own = {each: arguments.pop(each) for each in _OF_MATRICES if each in arguments}
    return _base(class_name)(box_view(view, **arguments), name, **own)


for _class_name in ("Precision", "Recall", "MaxRecall", "PrecisionAtRecall", "ThresholdAtRecall"):
    metric(f"ObjectDetection{_class_name}")(partial(_of_boxes, class_name=_class_name))
metric("ObjectDetectionConfusionMatrixPlot", "confusion_matrix_plot")(
    partial(_of_boxes, class_name="ConfusionMatrixPlot")
)


# ------------------------------------------------------------------------------------ averages, as of COCO


def _mean(of: MetricKey, parts: Sequence[Metric]) -> Metric:
    """The mean of metrics, or of their means where they have several values. What is NaN does not count."""

    def value(*results: Any) -> float:
        means, place = [], 0
        for part in parts:
            means.append(_known_mean(part.value(*results[place : place + len(part.needs)])))
            place += len(part.needs)
        return _known_mean(means)

    return Metric(of, tuple(need for part in parts for need in part.needs), value)


def _known_mean(values: Any) -> float:
    known = np.atleast_1d(values)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else float("nan")


def _precisions(
    view: View,
    *,
    num_thresholds: int | None = None,
    recalls: Sequence[float] | None = None,
    num_recalls: int | None = None,
    **boxes: Any,
) -> Metric:
    """The precisions at all recalls. TFMA does not weight them."""
    count = num_thresholds or _SCORES
    levels = [_LEAST, *((i + 1) / (count - 1) for i in range(count - 2)), 1 - _LEAST]
    wanted = list(recalls) if recalls is not None else np.linspace(0, 1, num_recalls or _RECALLS).tolist()
    plain = replace(view, example_weighted=False)
    (made,) = _of_boxes(plain, "", class_name="PrecisionAtRecall", recall=wanted, thresholds=levels, **boxes)
    return made


def _most_recalled(view: View, **boxes: Any) -> Metric:
    (made,) = _of_boxes(replace(view, example_weighted=False), "", class_name="MaxRecall", **boxes)
    return made


def _key(view: View, name: str) -> MetricKey:
    return key(view.without_classes(), name)


@metric("COCOAveragePrecision", "average_precision")
def _average_precision(view: View, name: str, **arguments: Any) -> list[Metric]:
    return [_mean(_key(view, name), [_precisions(view, **arguments)])]


@metric("COCOMeanAveragePrecision", "mean_average_precision")
def _mean_average_precision(
    view: View,
    name: str,
    class_ids: Sequence[int] | None = None,
    class_weights: Sequence[float] | None = None,
    iou_thresholds: Sequence[float] | None = None,
    **arguments: Any,
) -> list[Metric]:
    parts = [
        _precisions(view, class_id=class_id, class_weight=weight, iou_threshold=float(share), **arguments)
        for share in (_IOU_THRESHOLDS if iou_thresholds is None else iou_thresholds)
        for class_id, weight in _weighted(class_ids, class_weights)
    ]
    return [_mean(_key(view, name), parts)]


def _weighted(
    class_ids: Sequence[int] | None, class_weights: Sequence[float] | None
) -> list[tuple[int, float]]:
    if class_ids is None:
        raise ValueError("class_id must be provided if use object detection.")
    if class_weights is not None and len(class_ids) != len(class_weights):
        raise ValueError(
            f"Mismatch of length between class_id = {class_ids} and class_weight = {class_weights}."
        )
    return list(zip(class_ids, class_weights or [1.0] * len(class_ids), strict=True))


@metric("COCOAverageRecall", "average_recall")
def _average_recall(
    view: View, name: str, iou_thresholds: Sequence[float] | None = None, **arguments: Any
) -> list[Metric]:
    shares = _IOU_THRESHOLDS if iou_thresholds is None else iou_thresholds
    parts = [_most_recalled(view, iou_threshold=float(share), **arguments) for share in shares]
    return [_mean(_key(view, name), parts)]


@metric("COCOMeanAverageRecall", "mean_average_recall")
def _mean_average_recall(
    view: View,
    name: str,
    class_ids: Sequence[int] | None = None,
    class_weights: Sequence[float] | None = None,
    iou_thresholds: Sequence[float] | None = None,
    **arguments: Any,
) -> list[Metric]:
    by_class = [
        _average_recall(
            view, "", iou_thresholds=iou_thresholds, class_id=class_id, class_weight=weight, **arguments
        )[0]
        for class_id, weight in _weighted(class_ids, class_weights)
    ]
    return [_mean(_key(view, name), by_class)]


# ------------------------------------------------------------------------------------------------------- sets


def _of_sets(
    view: View,
    name: str,
    thresholds: float | Sequence[float] | None = None,
    top_k: int | None = None,
    prediction_class_key: str = "classes",
    prediction_score_key: str = "scores",
    class_key: str | None = None,
    weight_key: str | None = None,
    *,
    class_name: str,
) -> Sequence[Metric]:
    sets = SetView(
        model_name=view.model_name,
        output_name=view.output_name,
        sub_key=view.sub_key,
        aggregation_type=view.aggregation_type,
        example_weighted=view.example_weighted or bool(weight_key),
        prediction_class_key=prediction_class_key,
        prediction_score_key=prediction_score_key,
        class_key=class_key,
        weight_key=weight_key,
        best=top_k,
    )
    levels = -np.inf if top_k is not None and thresholds is None else thresholds
    return _base(class_name)(sets, name, thresholds=levels)


for _class_name in ("Precision", "Recall"):
    metric(f"SetMatch{_class_name}")(partial(_of_sets, class_name=_class_name))
