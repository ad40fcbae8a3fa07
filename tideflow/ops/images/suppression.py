"""Overlapping boxes thinned out: non-maximum suppression. A box is [top, left, bottom, right].

Of boxes with equal scores the first is preferred, as in TensorFlow 2; in 1.15 their order is left to a heap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import brackets, of_rank, same_size, scalar
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_ON_HOST = {"on_host": True, "differentiable": False}


_BLOCK = 64  # boxes that are compared with each other at once
Overlaps = Callable[[Any, slice], np.ndarray]  # of these boxes with those, by place in their order: a matrix


def overlaps_of(boxes: np.ndarray) -> Overlaps:
    """Intersection over union of boxes, by place; 0 for boxes without an area."""
    corners = boxes.T.copy()
    starts, stops = np.minimum(corners[:2], corners[2:]), np.maximum(corners[:2], corners[2:])
    heights, widths = stops - starts
    areas = heights * widths
    solid = areas > 0
    all_solid = bool(solid.all())

    def extent(axis: int, these: Any, those: slice) -> np.ndarray:
        stop = np.minimum(stops[axis, these, None], stops[axis, those])
        stop -= np.maximum(starts[axis, these, None], starts[axis, those])
        return np.maximum(stop, np.zeros_like(stop), out=stop)

    def overlaps(these: Any, those: slice) -> np.ndarray:
        shared = extent(0, these, those)
        shared *= extent(1, these, those)
        both = areas[these, None] + areas[those]
        both -= shared
        with np.errstate(invalid="ignore", divide="ignore"):
            shared /= both
        return shared if all_solid else np.where(solid[these, None] & solid[those], shared, np.float32(0))

    return overlaps


def best_first(scores: np.ndarray, score_threshold: float) -> np.ndarray:
    """The places of the scores above a threshold, highest first; of equal ones, the first."""
    left = np.flatnonzero(scores > score_threshold)
    return left.take(np.argsort(-scores.take(left), kind="stable"))


def select(
    count: int,
    overlaps: Overlaps,
    limit: int,
    overlap_threshold: float,
    too_much: Callable = np.greater_equal,
) -> list[int]:
    """The first of so many boxes, then the first of those that do not overlap it too much, and so on."""
    chosen: list[int] = []
    for start in range(0, count, _BLOCK):
        block = slice(start, min(start + _BLOCK, count))
        # A number of Python has a bit for each box of the block: what is left, and what a box rules out.
        left = (1 << (block.stop - start)) - 1
        if chosen:
            left &= ~_bits(too_much(overlaps(chosen, block), overlap_threshold).any(0, keepdims=True))[0]
        ruled_out = _bits(too_much(overlaps(block, block), overlap_threshold))
        while left:
            if len(chosen) >= limit:
                return chosen
            first = left & -left
            place = first.bit_length() - 1
            chosen.append(start + place)
            left &= ~(ruled_out[place] | first)
    return chosen


def _bits(rows: np.ndarray) -> list[int]:
    """Each row of at most 64 truth values as one number, the first value its lowest bit."""
    packed = np.zeros((len(rows), 8), np.uint8)
    packed[:, : (rows.shape[1] + 7) // 8] = np.packbits(rows, axis=1, bitorder="little")
    return packed.view("<u8")[:, 0].tolist()


def select_softly(
    scores: np.ndarray,
    overlaps: Overlaps,
    limit: int,
    overlap_threshold: float,
    score_threshold: float,
    sigma: float,
) -> tuple[list[int], list[float]]:
    """As `select`, but boxes that overlap a little lose some of their score: boxes and their scores.

    The boxes come best first. A score above 0 only falls, so those behind the block wait until a score of the
    block falls to theirs.
    """
    count = len(scores)
    size = count if count and scores[-1] < 0 else min(_BLOCK, count)
    left = scores[:0]  # of the block, as they are now
    chosen: list[int] = []
    chosen_scores: list[float] = []
    while len(chosen) < limit:
        best = int(left.argmax()) if len(left) else 0
        if len(left) < count and (not len(left) or left[best] <= scores[len(left)]):
            shared = overlaps(slice(0, size), slice(0, size))
            weights, too_much = (
                np.exp(np.float32(-0.5 / sigma) * shared * shared),
                shared >= overlap_threshold,
            )
            added = scores[len(left) : size].copy()
            for box in chosen:
                _weaken(added, weights[box, len(left) :], too_much[box, len(left) :])
            left = np.concatenate([left, added])
            size = min(2 * size, count)
            continue
        if not len(left) or not left[best] > score_threshold:
            break
        chosen.append(best)
        chosen_scores.append(left[best])
        _weaken(left, weights[best], too_much[best])
        left[best] = -np.inf
    return chosen, chosen_scores


def _weaken(scores: np.ndarray, weights: np.ndarray, too_much: np.ndarray) -> None:
    """Scores after a box was chosen; minus infinity for those that are no longer there."""
    np.multiply(scores, weights, out=scores)
    np.copyto(scores, -np.inf, where=too_much)
    np.fmax(scores, -np.inf, out=scores)  # what is not there, times a weight of 0, is no number


def _check_pair(boxes: TensorShape, scores: TensorShape, columns: int | None = 4) -> None:
    count, width = of_rank(boxes, 2).tuple
    (given,) = of_rank(scores, 1).tuple
    same_size(count, given)
    if columns is not None and width not in (None, columns):
        raise ShapeError(f"Dimension must be {columns} but is {width}")


def _selected_shape(boxes, scores, *limits):
    _check_pair(boxes, scores)
    for limit in limits:
        scalar(limit)
    return [None]


def _checked_arrays(boxes: torch.Tensor, scores: torch.Tensor) -> Iterator[np.ndarray]:
    if boxes.ndim != 2:
        raise ShapeError(f"boxes must be 2-D{brackets(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise ShapeError(
            f"boxes must have 4 columns: [number of boxes, 4], got shape {brackets(boxes.shape)}"
        )
    return _with_scores(boxes, scores)


def _with_scores(boxes: torch.Tensor, scores: torch.Tensor) -> Iterator[np.ndarray]:
    if scores.ndim != 1:
        raise ShapeError(f"scores must be 1-D{brackets(scores.shape)}")
    if len(scores) != len(boxes):
        raise ShapeError(f"scores has incompatible shape {brackets(scores.shape)} for {len(boxes)} boxes")
    return (to_numpy(value.float()) for value in (boxes, scores))


def _check_limits(limit: int, overlap_threshold: float, name: str = "iou_threshold") -> None:
    scalar(limit, "max_output_size must be 0-D, got shape ")
    if limit < 0:
        raise ShapeError(f"max_output_size must be a non-negative scalar, got {limit}")
    scalar(overlap_threshold, f"{name} must be 0-D, got shape ")
    if name == "iou_threshold" and not 0 <= overlap_threshold <= 1:
        raise ShapeError(f"iou_threshold must be in [0, 1], got {overlap_threshold}")


def _of_boxes(
    boxes: torch.Tensor,
    scores: torch.Tensor,
    limit: Any,
    threshold: Any,
    least: Any = -np.inf,
    sigma: Any = 0.0,
) -> tuple[list[int], list[float]]:
    _check_limits(limit, threshold)
    for name, value in (("score_threshold", least), ("soft_nms_sigma", sigma)):
        scalar(value, f"{name} must be 0-D, got shape ")
    if sigma < 0:
        raise ShapeError(f"soft_nms_sigma must be >= 0, got {sigma}")
    corners, numbers = _checked_arrays(boxes, scores)
    order = best_first(numbers, least)
    overlaps, sorted_scores = overlaps_of(corners.take(order, 0)), numbers.take(order)
    if sigma:
        places, left = select_softly(sorted_scores, overlaps, limit, threshold, least, sigma)
        return order[places].tolist(), left
    places = select(len(order), overlaps, limit, threshold)
    return order.take(places).tolist(), sorted_scores.take(places).tolist()


def _indices(chosen: list[int], length: int | None = None) -> torch.Tensor:
    padding = [0] * ((length or 0) - len(chosen))
    return torch.tensor(chosen + padding, dtype=torch.int32)


_BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [1, 101, 0, 100]],
    np.float32,
)
_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)


def _overlap(box: np.ndarray, other: np.ndarray) -> float:
    """What two boxes share, by what they cover together."""
    (a, b), (c, d) = (np.sort(np.reshape(each, [2, 2]), 0) for each in (box, other))
    shared = np.prod(np.maximum(np.minimum(b, d) - np.maximum(a, c), 0))
    both = np.prod(b - a) + np.prod(d - c) - shared
    return shared / both if both > 0 else 0.0


def _suppressed(
    boxes, scores, limit, iou_threshold=0.5, score_threshold=-np.inf, sigma=0.0, overlap=_overlap
):
    """Box after box, the best first: (number, score) of those that no chosen one overlaps too much."""
    scores, chosen = np.array(scores, np.float64), []
    left = [number for number in range(len(scores)) if scores[number] > score_threshold]
    while left and len(chosen) < limit:
        best = max(left, key=lambda number: scores[number])
        chosen.append((best, scores[best]))
        left.remove(best)
        for number in list(left):
            shared = overlap(boxes[number], boxes[best])
            scores[number] *= np.exp(-0.5 * shared**2 / sigma) if sigma else 1.0
            if shared >= iou_threshold or scores[number] <= score_threshold:
                left.remove(number)
    return chosen


def _selected_reference(*inputs, iou_threshold=0.5):
    thresholds = inputs[3:] or [iou_threshold]
    return np.array([number for number, _ in _suppressed(*inputs[:3], *thresholds)], int)


def _padded(values: list, limit: int, pad: bool) -> np.ndarray:
    return np.array(values + [0] * (limit - len(values) if pad else 0))


def _add_refusals(op: Op, *thresholds: float) -> None:
    op.refuses((_BOXES, _SCORES[:3], 3, *thresholds), "Dimensions must be equal, but are 6 and 3")
    op.refuses((_BOXES, _SCORES, -1, *thresholds), "must be a non-negative scalar", InvalidArgumentError)


nms_op = Op(
    "NonMaxSuppression",
    "boxes: float, scores: float, max_output_size: int32 -> selected_indices: int32",
    host="max_output_size",
    iou_threshold=0.5,
    **_ON_HOST,
)
nms_op.shape(_selected_shape)


@nms_op.kernel
def _nms_kernel(boxes, scores, max_output_size, *, iou_threshold):
    return _indices(_of_boxes(boxes, scores, max_output_size, iou_threshold)[0])


nms_op.samples(
    (_BOXES, _SCORES, 3), (_BOXES, _SCORES, 30), (_BOXES[:0], _SCORES[:0], 3), against=_selected_reference
)
_add_refusals(nms_op)

_T = attr("type", dtypes.float32, allowed=types("half float"))


def _selected(boxes, scores, max_output_size, *thresholds):
    return _indices(_of_boxes(boxes, scores, max_output_size, *thresholds)[0])


nms_v2_op = Op(
    "NonMaxSuppressionV2",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32",
    host="max_output_size iou_threshold",
    T=_T,
    T_threshold=_T,
    **_ON_HOST,
)
nms_v2_op.shape(_selected_shape)
nms_v2_op.kernel(_selected)
nms_v2_op.samples((_BOXES, _SCORES, 3, 0.5), (_BOXES, _SCORES, 0, 0.5), against=_selected_reference)
_add_refusals(nms_v2_op, 0.5)

_LIMITS = "max_output_size iou_threshold score_threshold"
_NO_LIMIT = float("-inf")

nms_v3_op = Op(
    "NonMaxSuppressionV3",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold "
    "-> selected_indices: int32",
    host=_LIMITS,
    T=_T,
    T_threshold=_T,
    **_ON_HOST,
)
nms_v3_op.shape(_selected_shape)
nms_v3_op.kernel(_selected)
nms_v3_op.samples(
    (_BOXES, _SCORES, 3, 0.5, 0.0), (_BOXES, _SCORES, 30, 0.9, 0.55), against=_selected_reference
)
_add_refusals(nms_v3_op, 0.5, 0.0)
nms_v3_op.refuses((_BOXES, _SCORES, 3, 1.5, 0.0), "iou_threshold must be in [0, 1]", InvalidArgumentError)


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NO_LIMIT,
    name: str | None = None,
) -> Tensor:
    """Selects the best boxes, none of which overlaps a better one too much.

    Args:
      boxes: A float32 or half tensor [boxes, 4] of [top, left, bottom, right]; corners may be swapped.
      scores: A vector of the same type with the score of each box.
      max_output_size: How many boxes are selected at most, an int32 scalar.
      iou_threshold: By how much a box may overlap a better one, as what they share by what they cover
        together: between 0 and 1.
      score_threshold: Boxes with scores up to this one are left out.
      name: A name for the operation.

    Returns:
      An int32 vector of the selected boxes' places in `boxes`, best first.

    Raises:
      ValueError: Where shapes do not fit.
      InvalidArgumentError: In a step with a negative size, or a threshold that is not between 0 and 1.
    """
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return nms_v3_op(boxes, scores, max_output_size, iou_threshold, score_threshold)


nms_v4_op = Op(
    "NonMaxSuppressionV4",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: T_threshold "
    "-> selected_indices: int32, valid_outputs: int32",
    host=_LIMITS,
    T=_T,
    T_threshold=_T,
    pad_to_max_output_size=False,
    **_ON_HOST,
)


@nms_v4_op.shape
def _nms_v4_shape(boxes, scores, max_output_size, *limits, pad_to_max_output_size):
    nms_v3_op.shape_rule(boxes, scores, max_output_size, *limits)
    return [[max_output_size if pad_to_max_output_size else None], []]


@nms_v4_op.kernel
def _nms_v4_kernel(boxes, scores, max_output_size, iou_threshold, score_threshold, *, pad_to_max_output_size):
    chosen, _ = _of_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold)
    length = max_output_size if pad_to_max_output_size else None
    return [_indices(chosen, length), torch.tensor(len(chosen), dtype=torch.int32)]


def _nms_v4_reference(*inputs, pad_to_max_output_size):
    chosen = [number for number, _ in _suppressed(*inputs)]
    return _padded(chosen, inputs[2], pad_to_max_output_size), len(chosen)


nms_v4_op.samples(
    (_BOXES, _SCORES, 2, 0.5, 0.0),
    (_BOXES, _SCORES, 9, 0.5, 0.4, {"pad_to_max_output_size": True}),
    against=_nms_v4_reference,
)
_add_refusals(nms_v4_op, 0.5, 0.0)


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NO_LIMIT,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Selects the best boxes, none of which overlaps a better one too much, to a result of a known size.

    Args:
      boxes: A float32 or half tensor [boxes, 4] of [top, left, bottom, right]; corners may be swapped.
      scores: A vector of the same type with the score of each box.
      max_output_size: How many boxes are selected at most, an int32 scalar.
      iou_threshold: By how much a box may overlap a better one, as what they share by what they cover
        together: between 0 and 1.
      score_threshold: Boxes with scores up to this one are left out.
      pad_to_max_output_size: Whether the result is filled up with zeros to `max_output_size`.
      name: A name for the operation.

    Returns:
      An int32 vector of the selected boxes' places in `boxes`, best first, and how many were selected.

    Raises:
      ValueError: Where shapes do not fit.
      InvalidArgumentError: In a step with a negative size, or a threshold that is not between 0 and 1.
    """
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return nms_v4_op(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


nms_v5_op = Op(
    "NonMaxSuppressionV5",
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: T "
    "-> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    host=f"{_LIMITS} soft_nms_sigma",
    T=_T,
    pad_to_max_output_size=False,
    **_ON_HOST | {"differentiable": None},
)


@nms_v5_op.shape
def _nms_v5_shape(boxes, scores, max_output_size, *limits, pad_to_max_output_size):
    nms_v3_op.shape_rule(boxes, scores, max_output_size, *limits)
    selected = [max_output_size if pad_to_max_output_size else None]
    return [selected, selected, []]


@nms_v5_op.kernel
def _nms_v5_kernel(boxes, scores, max_output_size, *thresholds, pad_to_max_output_size):
    chosen, chosen_scores = _of_boxes(boxes, scores, max_output_size, *thresholds)
    length = max_output_size if pad_to_max_output_size else len(chosen)
    best = torch.zeros(length, dtype=scores.dtype)
    best[: len(chosen)] = torch.tensor(np.array(chosen_scores, np.float32))
    return [_indices(chosen, length), best, torch.tensor(len(chosen), dtype=torch.int32)]


def _nms_v5_reference(*inputs, pad_to_max_output_size):
    chosen = _suppressed(*inputs)
    numbers, scores = [number for number, _ in chosen], [score for _, score in chosen]
    padding = inputs[2], pad_to_max_output_size
    return _padded(numbers, *padding), _padded(scores, *padding), len(chosen)


nms_v5_op.samples(
    (_BOXES, _SCORES, 9, 0.5, 0.0, 0.0),
    (_BOXES, _SCORES, 9, 1.0, 0.0, 0.5),
    (_BOXES, _SCORES, 9, 0.5, 0.4, 0.5, {"pad_to_max_output_size": True}),
    against=_nms_v5_reference,
)
_add_refusals(nms_v5_op, 0.5, 0.0, 0.0)


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NO_LIMIT,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Selects the best boxes, where overlapping ones may lose score instead of being left out.

    Args:
      boxes: A float32 or half tensor [boxes, 4] of [top, left, bottom, right]; corners may be swapped.
      scores: A vector of the same type with the score of each box.
      max_output_size: How many boxes are selected at most, an int32 scalar.
      iou_threshold: By how much a box may overlap a better one, as what they share by what they cover
        together: between 0 and 1.
      score_threshold: Boxes with scores up to this one are left out.
      soft_nms_sigma: If not 0, a box that overlaps a selected one by s has its score multiplied by exp(-s * s
        / (2 * soft_nms_sigma)).
      name: A name for the operation.

    Returns:
      An int32 vector of the selected boxes' places in `boxes`, best first, and a vector of their scores.

    Raises:
      ValueError: Where shapes do not fit.
      InvalidArgumentError: In a step with a negative size, or a threshold that is not between 0 and 1.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        made = nms_v5_op(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
        return made.selected_indices, made.selected_scores


nms_overlaps_op = Op(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float -> selected_indices: int32",
    host="max_output_size overlap_threshold score_threshold",
    **_ON_HOST,
)


@nms_overlaps_op.shape
def _nms_overlaps_shape(overlaps, scores, *limits):
    _check_pair(overlaps, scores, None)
    same_size(*of_rank(overlaps, 2).tuple)
    for limit in limits:
        scalar(limit)
    return [None]


@nms_overlaps_op.kernel
def _nms_overlaps_kernel(overlaps, scores, max_output_size, overlap_threshold, score_threshold):
    _check_limits(max_output_size, overlap_threshold, "overlap_threshold")
    scalar(score_threshold, "score_threshold must be 0-D, got shape ")
    if overlaps.ndim != 2:
        raise ShapeError(f"overlaps must be 2-D{brackets(overlaps.shape)}")
    if overlaps.shape[0] != overlaps.shape[1]:
        raise ShapeError(f"overlaps must be square{brackets(overlaps.shape)}")
    table, numbers = _with_scores(overlaps, scores)
    order = best_first(numbers, score_threshold)
    overlap = lambda these, those: table.T[np.ix_(order[these], order[those])]
    return _indices(order[select(len(order), overlap, max_output_size, overlap_threshold)].tolist())


def _nms_overlaps_reference(overlaps, scores, *limits):
    chosen = _suppressed(
        np.arange(len(scores)), scores, *limits, overlap=lambda box, better: overlaps[box, better]
    )
    return [np.array([number for number, _ in chosen])]


nms_overlaps_op.samples((f32(6, 6, low=0.0), _SCORES, 3, 0.5, 0.0), against=_nms_overlaps_reference)
nms_overlaps_op.refuses((f32(6, 6), _SCORES[:3], 3, 0.5, 0.0), "Dimensions must be equal, but are 6 and 3")


@export("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NO_LIMIT,
    name: str | None = None,
) -> Tensor:
    """Selects the best of things of which a table says by how much each two overlap.

    Args:
      overlaps: A float32 tensor [things, things].
      scores: A float32 vector with the score of each thing.
      max_output_size: How many things are selected at most, an int32 scalar.
      overlap_threshold: By how much a thing may overlap a better one.
      score_threshold: Things with scores up to this one are left out.
      name: A name for the operation.

    Returns:
      An int32 vector of the selected things' places, best first.

    Raises:
      ValueError: Where shapes do not fit.
    """
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return nms_overlaps_op(overlaps, scores, max_output_size, overlap_threshold, score_threshold)


combined_nms_op = Op(
    "CombinedNonMaxSuppression",
    "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float, score_threshold: float -> nmsed_boxes: float, nmsed_scores: float, "
    "nmsed_classes: float, valid_detections: int32",
    host="max_output_size_per_class max_total_size iou_threshold score_threshold",
    pad_per_class=False,
    clip_boxes=True,
    **_ON_HOST | {"differentiable": None},
)


_LIMITS = ("max_size_per_class", "max_total_size", "iou_threshold", "score_threshold")


@combined_nms_op.shape
def _combined_nms_shape(boxes, scores, max_output_size_per_class, max_total_size, *thresholds, pad_per_class):
    batch, count, variants, corners = of_rank(boxes, 4).tuple
    score_batch, score_count, classes = of_rank(scores, 3).tuple
    if corners not in (None, 4):
        raise ShapeError(f"Dimension must be 4 but is {corners}")
    batch = same_size(batch, score_batch)
    same_size(count, score_count)
    if variants not in (None, 1) and classes is not None and variants != classes:
        raise ShapeError(
            f"third dimension of boxes must be either 1 or equal to the number of classes ({classes})"
        )
    per_class, total = scalar(max_output_size_per_class), scalar(max_total_size)
    for threshold in thresholds:
        scalar(threshold)
    for position, size in ((2, per_class), (3, total)):
        if size is not None and size < 0:
            raise ShapeError(
                f"Dimension size, given by scalar input {position}, must be non-negative but is {size}",
                f"{_LIMITS[position - 2]} must be > 0",
            )
    if total is not None and total <= 0:
        raise ShapeError("max_total_size should be > 0 ")
    if pad_per_class:
        known = per_class is not None and classes is not None and total is not None
        total = min(total, per_class * classes) if known else None
    return [[batch, total, 4], [batch, total], [batch, total], [batch]]


def _best_of_classes(
    boxes: np.ndarray, scores: np.ndarray, limit: int, overlap_threshold: float, score_threshold: float
) -> list[tuple]:
    """(score, class, box) of what is selected in any class, the best first."""
    best = []
    for category in range(scores.shape[1]):
        order = best_first(np.ascontiguousarray(scores[:, category]), score_threshold)
        of_class = boxes[order, min(category, boxes.shape[1] - 1)]
        places = select(len(order), overlaps_of(of_class), limit, overlap_threshold, np.greater)
        best += zip(
            scores[order[places], category].tolist(), repeat(category), of_class[places], strict=False
        )
    return sorted(best, key=lambda entry: -entry[0])


def _check_combined(boxes: torch.Tensor, scores: torch.Tensor, limits: tuple) -> None:
    if boxes.shape[:1] != scores.shape[:1]:
        raise ShapeError("boxes and scores must have same batch size")
    if boxes.ndim != 4 or boxes.shape[3] != 4:
        raise ShapeError(
            f"boxes must have 4 columns: [batch, boxes, 1 or classes, 4], got shape {brackets(boxes.shape)}"
        )
    if scores.ndim != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise ShapeError(f"scores has incompatible shape {brackets(scores.shape)}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise ShapeError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    for name, limit in zip(_LIMITS, limits, strict=True):
        scalar(limit, f"{name} must be 0-D, got shape ")
    per_class, total, overlap_threshold, _ = limits
    if per_class <= 0 or total <= 0:
        raise ShapeError(f"max_size_per_class and max_total_size must be > 0, got {per_class} and {total}")
    if not 0 <= overlap_threshold <= 1:
        raise ShapeError(f"iou_threshold must be in [0, 1], got {overlap_threshold}")


@combined_nms_op.kernel
def _combined_nms_kernel(
    boxes, scores, max_output_size_per_class, max_total_size, *thresholds, pad_per_class, clip_boxes
):
    limits = max_output_size_per_class, max_total_size, *thresholds
    _check_combined(boxes, scores, limits)
    per_class, total = limits[:2]
    classes = scores.shape[2]
    length = min(total, per_class * classes) if pad_per_class else total
    found_boxes = np.zeros((len(boxes), length, 4), np.float32)
    found = np.zeros((2, len(boxes), length), np.float32)
    counts = np.zeros(len(boxes), np.int32)
    for number, (image_boxes, image_scores) in enumerate(zip(to_numpy(boxes), to_numpy(scores), strict=True)):
        best = _best_of_classes(image_boxes, image_scores, per_class, *thresholds)[:length]
        counts[number] = count = len(best)
        for place, (score, category, box) in enumerate(best):
            found[:, number, place] = score, category
            found_boxes[number, place] = box
        if clip_boxes:
            found_boxes[number, :count] = found_boxes[number, :count].clip(0, 1)
    return [torch.from_numpy(part) for part in (found_boxes, found[0], found[1], counts)]


def _combined_nms_reference(boxes, scores, per_class, total, iou, least, pad_per_class, clip_boxes):
    """Class after class of each image; then the best of all."""
    batch, _, classes = scores.shape
    length = min(total, per_class * classes) if pad_per_class else total
    found, counts = np.zeros([batch, length, 6]), np.zeros(batch)
    for row in range(batch):
        best = []
        for category in range(classes):
            of_class = boxes[row, :, category if boxes.shape[2] > 1 else 0]
            chosen = _suppressed(of_class, scores[row, :, category], per_class, iou, least)
            best += [(*of_class[box], score, category) for box, score in chosen]
        best = sorted(best, key=lambda entry: -entry[4])[:length]
        counts[row] = len(best)
        found[row, : len(best)] = np.reshape(best, [-1, 6])
    corners = found[..., :4].clip(0, 1) if clip_boxes else found[..., :4]
    return corners, found[..., 4], found[..., 5], counts


_COMBINED = (f32(2, 6, 1, 4, low=0.0), f32(2, 6, 3, low=0.0), 2, 5, 0.5, 0.1)
combined_nms_op.samples(
    _COMBINED,
    (*_COMBINED, {"pad_per_class": True}),
    (f32(1, 6, 3, 4), f32(1, 6, 3), 3, 7, 0.3, -9.0, {"clip_boxes": False}),
    against=_combined_nms_reference,
)
combined_nms_op.refuses((f32(6, 1, 4), *_COMBINED[1:]), "Shape must be rank 4 but is rank 3")
combined_nms_op.refuses((*_COMBINED[:4], 1.5, 0.1), "iou_threshold must be in [0, 1]", InvalidArgumentError)


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _NO_LIMIT,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Selects the best boxes of each class in each image of a batch, and of these the best of all.

    Args:
      boxes: A float32 tensor [batch, boxes, 1 or classes, 4] of [top, left, bottom, right]: the same for all
        classes, or others for each.
      scores: A float32 tensor [batch, boxes, classes].
      max_output_size_per_class: How many boxes of a class are selected at most, an int32 scalar.
      max_total_size: How many boxes of an image are given, an int32 scalar.
      iou_threshold: By how much a box may overlap a better one of its class, between 0 and 1.
      score_threshold: Boxes with scores up to this one are left out.
      pad_per_class: Whether results are filled up to `max_output_size_per_class` times the number of classes,
        if that is less than `max_total_size`.
      clip_boxes: Whether the boxes given are cut off at 0 and 1.
      name: A name for the operation.

    Returns:
      Boxes [batch, size, 4], scores [batch, size] and classes [batch, size], all float32, filled up with
      zeros; and an int32 vector of how many were selected in each image.

    Raises:
      ValueError: Where shapes do not fit.
      InvalidArgumentError: In a step with sizes or thresholds out of range.
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return combined_nms_op(
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
