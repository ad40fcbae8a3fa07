"""Views in which an example has many pairs of a label and a score: its boxes, or the classes of a set.

What was found of an example is matched with what is there. A match is a pair of label 1 and the score of what
was found, something missed has label 1 and the lowest score, and something that is not there has label 0.
Every metric of confusion matrices can be computed of such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tideflow.pipeline.evaluation.inputs import Arrays, Batch, View

_CLASS, _SCORE = 4, 5  # of a box: left, top, right, bottom, class, score
_NEARLY_ONE = 1 - 1e-10
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # labels, scores and weights of an example


def _padded(pairs: Sequence[Pairs]) -> Arrays:
    """The pairs of all examples as arrays of (examples, pairs). What fills them up has no weight."""
    most = max((len(label) for label, _, _ in pairs), default=0)
    arrays = np.zeros((3, len(pairs), most))
    for row, each in enumerate(pairs):
        arrays[:, row, : len(each[0])] = each
    return arrays[0], arrays[1], arrays[2]


# ---------------------------------------------------------------------------------------------------- boxes


@dataclass(frozen=True)
class BoxView(View):
    """The boxes of one class, matched with those that were detected.

    Args:
      class_id: The class.
      iou_threshold: The least share of two boxes' union that their intersection has, if they match.
      area_range: The least and the largest area of boxes that count.
      max_num_detections: How many detections of an image count, the surest first; None for all.
      class_weight: The weight of the class.
      labels_to_stack: What left, top, right, bottom and class are called; empty if labels are boxes.
      predictions_to_stack: Likewise of detections, and their scores.
      num_detections_key: What says how many of an image's detections are no padding.
      allow_missing_key: Whether names that are not there mean that there are no boxes.
    """

    class_id: int = 0
    iou_threshold: float = 0.5
    area_range: tuple[float, float] = (0.0, float("inf"))
    max_num_detections: int | None = None
    class_weight: float = 1.0
    labels_to_stack: tuple[str, ...] = ()
    predictions_to_stack: tuple[str, ...] = ()
    num_detections_key: str | None = None
    allow_missing_key: bool = field(default=False, kw_only=True)

    def _flat(self, batch: Batch) -> Arrays:
        truth = self._boxes(batch, "labels", self.labels_to_stack, _CLASS + 1)
        found = self._boxes(batch, "predictions", self.predictions_to_stack, _SCORE + 1)
        if self.num_detections_key:
            found = self._without_padding(batch, found)
        weights = self.weight(batch) * (self.class_weight if self.example_weighted else 1.0)
        return _padded([self._pairs(*each) for each in zip(truth, found, weights, strict=True)])

    def _boxes(self, batch: Batch, of: str, names: tuple[str, ...], width: int) -> list[np.ndarray]:
        """The boxes of each image, a row each."""
        key = ("boxes", self.model_name, self.output_name, of, names)
        return batch.cached(key, lambda: self._stacked(batch, of, names, width))

    def _stacked(self, batch: Batch, of: str, names: tuple[str, ...], width: int) -> list[np.ndarray]:
        if not names:
            boxes = [
                row.reshape(-1, width) if row.ndim == 1 and row.size % width == 0 else row
                for row in self.examples(batch, of)
            ]
        else:
            columns = [self.named(batch, name, of=of) for name in names]
            if None in columns:
                if self.allow_missing_key:
                    return [np.zeros((0, width))] * batch.rows
                missing = names[columns.index(None)]
                raise KeyError(
                    f"Key {missing} is not found under {of}, features, or transformed features of the "
                    "extracts. Please set allow_missing_key to True, if you want to return empty array "
                    "instead."
                )
            parts = ([_as_columns(values) for values in column or ()] for column in columns)
            boxes = [np.hstack(row).astype(float) for row in zip(*parts, strict=True)]
        for box in boxes:
            if box.ndim != 2 or box.shape[1] != width:
                raise ValueError(
                    f"boxes of an image are rows of {width} numbers; {of} have the shape {list(box.shape)}"
                )
        return boxes

    def _without_padding(self, batch: Batch, found: list[np.ndarray]) -> list[np.ndarray]:
        counts = self.named(batch, self.num_detections_key or "", of="predictions")
        if counts is None:
            if self.allow_missing_key:
                return found
            raise KeyError(f"Key {self.num_detections_key} is not found under predictions or features")
        numbers = [int(np.asarray(count).reshape(-1)[0]) for count in counts]
        return [boxes[:count] if count > 0 else boxes for boxes, count in zip(found, numbers, strict=True)]

    def _pairs(self, truth: np.ndarray, found: np.ndarray, weight: float) -> Pairs:
        truth = truth[truth[:, _CLASS] == self.class_id]
        truth = truth[self._counts(truth)]
        found = found[found[:, _CLASS] == self.class_id]
        found = found[np.argsort(-found[:, _SCORE], kind="stable")][: self.max_num_detections]
        match = _matches(overlaps(found, truth), self.iou_threshold)
        wrong = (match < 0) & self._counts(found)
        score = np.zeros(len(truth))
        score[match[match >= 0]] = found[match >= 0, _SCORE]
        labels = np.concatenate([np.ones(len(truth)), np.zeros(wrong.sum())])
        scores = np.concatenate([score, found[wrong, _SCORE]])
        return labels, scores, np.full(len(labels), weight)

    def _counts(self, boxes: np.ndarray) -> np.ndarray:
        area = _areas(boxes)
        return (self.area_range[0] <= area) & (area <= self.area_range[1])


def _as_columns(values: np.ndarray) -> np.ndarray:
    """Numbers of boxes, one or several of each, as columns."""
    return values[:, None] if values.ndim == 1 else values


def _areas(boxes: np.ndarray) -> np.ndarray:
    sides = boxes[:, 2:4] - boxes[:, :2]
    if (sides < 0).any():
        raise ValueError(
            f"The right or bottom boundary is less than the left or top boundary: {boxes[:, :4]}"
        )
    return sides.prod(axis=1)


def overlaps(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of each detection with each true box, the area of the intersection by that of the union."""
    low = np.maximum(found[:, None, :2], truth[None, :, :2])
    high = np.minimum(found[:, None, 2:4], truth[None, :, 2:4])
    both = np.maximum(high - low, 0).prod(axis=2)
    union = _areas(found)[:, None] + _areas(truth) - both
    return np.divide(both, union, out=np.zeros_like(both), where=union != 0)


def _matches(overlap: np.ndarray, threshold: float) -> np.ndarray:
    """The true box of each detection, -1 if it has none: in the order of detections, the best that is left.

    Of two that are equally good the later one is taken, as by the COCO evaluation.
    """
    if threshold < 0:
        raise ValueError(f"Invalid input of threshold = {threshold}, should be greater than or equal to 0")
    match = np.full(len(overlap), -1)
    left = np.ones(overlap.shape[1], bool)
    for detection, shares in enumerate(overlap):
        candidates = np.flatnonzero(left & (shares >= min(threshold, _NEARLY_ONE)))
        if len(candidates):
            best = candidates[shares[candidates] == shares[candidates].max()][-1]
            match[detection], left[best] = best, False
    return match


# ----------------------------------------------------------------------------------------------------- sets


@dataclass(frozen=True)
class SetView(View):
    """The classes that an example is of, matched with those that were predicted.

    Args:
      prediction_class_key: What the predicted classes are called.
      prediction_score_key: What their scores are called.
      class_key: The feature with the classes that have weights; None for the labels.
      weight_key: The feature with the weights of those classes.
      best: How many of the predicted classes count, the first ones; None for all.
    """

    prediction_class_key: str = "classes"
    prediction_score_key: str = "scores"
    class_key: str | None = None
    weight_key: str | None = None
    best: int | None = field(default=None, kw_only=True)

    def _flat(self, batch: Batch) -> Arrays:
        classes, scores = (
            self._required(batch, name, "predictions")
            for name in (self.prediction_class_key, self.prediction_score_key)
        )
        truth = self.examples(batch, "labels")
        weights = self._class_weights(batch, truth)
        return _padded(
            [
                self._pairs(*each)
                for each in zip(truth, classes, scores, weights, self.weight(batch), strict=True)
            ]
        )

    def _required(self, batch: Batch, name: str, of: str) -> list[np.ndarray]:
        found = self.named(batch, name, of=of)
        if found is None:
            raise KeyError(f"Key {name} is not found under {of} of the extracts.")
        return found

    def _class_weights(self, batch: Batch, truth: list[np.ndarray]) -> list[dict[object, float]]:
        if not self.weight_key:
            return [{}] * len(truth)
        weights = self._required(batch, self.weight_key, "labels")
        classes = self._required(batch, self.class_key, "labels") if self.class_key else truth
        for names, values in zip(classes, weights, strict=True):
            if len(names) != len(values):
                raise ValueError(
                    "Classes and weights must be of the same shape. "
                    f"Classes and weights are {names} and {values}."
                )
        return [
            dict(zip(names.tolist(), values.tolist(), strict=True))
            for names, values in zip(classes, weights, strict=True)
        ]

    def _pairs(
        self,
        truth: np.ndarray,
        classes: np.ndarray,
        scores: np.ndarray,
        weights: dict[object, float],
        weight: float,
    ) -> Pairs:
        if len(classes) != len(scores):
            raise ValueError(
                "Classes and scores must be of the same shape. "
                f"Classes and scores are {classes} and {scores}."
            )
        found = dict(zip(classes[: self.best].tolist(), scores[: self.best].tolist(), strict=True))
        there = set(truth.tolist())
        names = [*there, *(name for name in found if name not in there)]
        labels = np.array([float(name in there) for name in names])
        values = np.array([float(found.get(name, -np.inf)) for name in names])
        return labels, values, np.array([weight * weights.get(name, 1.0) for name in names])
