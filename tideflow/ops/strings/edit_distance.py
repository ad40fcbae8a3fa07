"""The edit distance of sequences: how many insertions, deletions and replacements make one of the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.composite import SparseTensor, SparseTensorValue
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known
from tideflow.ops.helpers.axes import brackets, vector
from tideflow.ops.sparse.index_rows import (
    PartWords,
    check_fit,
    check_inside,
    check_sizes,
    places,
    sparse_rank,
)
from tideflow.runtime.values import to_numpy, to_torch

edit_distance_op = Op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float",
    normalize=True,
    host="hypothesis_shape, truth_shape",
    on_host=True,
    differentiable=False,
)


def _leading_sizes(hypothesis: Sequence[int], truth: Sequence[int]) -> list[int]:
    """The sizes of the array of sequences: large enough for either side."""
    if len(vector(hypothesis)) != len(vector(truth)):
        raise ShapeError(
            f"Num elements of hypothesis_shape does not match truth_shape: {len(hypothesis)} vs. "
            f"{len(truth)}",
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"[{len(truth)}] and [{len(hypothesis)}]",
        )
    return [max(sizes) for sizes in zip(hypothesis[:-1], truth[:-1], strict=True)]


@edit_distance_op.shape
def _edit_distance_shape(
    hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape
):
    for indices, values, sizes in (
        (hypothesis_indices, hypothesis_values, hypothesis_shape),
        (truth_indices, truth_values, truth_shape),
    ):
        sparse_rank(indices, values, None if vector(sizes) is None else len(sizes))
    if hypothesis_shape is None or truth_shape is None:
        return None
    if not fully_known(hypothesis_shape) or not fully_known(truth_shape):
        return None
    return _leading_sizes(hypothesis_shape, truth_shape)


_MANY = 16  # pairs from which on arrays of all of them are quicker than one pair after the other,
_SHORT = 64  # if no sequence is longer than that


def _distance(hypothesis: list, truth: list) -> int:
    """Levenshtein's distance of one pair, by Myers' algorithm.

    Neighbours in his table differ by at most one. A column of it is two integers: their bits say at which
    elements of the truth it goes up and down. One step to the right is arithmetic on these integers.
    """
    if not truth:
        return len(hypothesis)
    positions: dict[Any, int] = {}
    for i, element in enumerate(truth):
        positions[element] = positions.get(element, 0) | 1 << i
    every, last = (1 << len(truth)) - 1, 1 << len(truth) - 1
    up, down, distance = every, 0, len(truth)
    for element in hypothesis:
        equal = positions.get(element, 0) | down
        diagonal = (((equal & up) + up) ^ up) | equal
        right_up, right_down = down | (every & ~(diagonal | up)), diagonal & up
        distance += bool(right_up & last) - bool(right_down & last)
        right_up, right_down = right_up << 1 | 1, right_down << 1
        up, down = (right_down | ~(diagonal | right_up)) & every, right_up & diagonal & every
    return distance


def _by_place(members: list[int], values: list, count: int) -> list[list]:
    sequences: list[list] = [[] for _ in range(count)]
    for place, value in zip(members, values, strict=True):
        sequences[place].append(value)
    return sequences


class _Sequences(NamedTuple):
    """Sequences of different lengths as the rows of a matrix."""

    elements: np.ndarray
    lengths: np.ndarray


def _padded(members: np.ndarray, codes: np.ndarray, count: int) -> _Sequences:
    order = np.argsort(members, kind="stable")
    members, codes = members[order], codes[order]
    lengths = np.bincount(members, minlength=count)
    elements = np.full((count, lengths.max(initial=0)), -1)
    elements[members, np.arange(len(members)) - (np.cumsum(lengths) - lengths)[members]] = codes
    return _Sequences(elements, lengths)


def _distances(hypothesis: _Sequences, truth: _Sequences) -> np.ndarray:
    """Levenshtein's distances, of all pairs at once: row by row of his table."""
    columns = np.arange(truth.elements.shape[1] + 1)
    row = np.broadcast_to(columns, (len(truth.lengths), len(columns)))
    pairs = np.arange(len(truth.lengths))
    result = truth.lengths.copy()
    for step, elements in enumerate(hypothesis.elements.T, start=1):
        replaced = row[:, :-1] + (truth.elements != elements[:, None])
        best = np.concatenate([np.full_like(row[:, :1], step), np.minimum(row[:, 1:] + 1, replaced)], axis=1)
        # An insertion moves one column to the right at a cost of 1: less the column numbers, a running
        # minimum.
        row = np.minimum.accumulate(best - columns, axis=1) + columns
        result = np.where(hypothesis.lengths == step, row[pairs, truth.lengths], result)
    return result


def _coded(hypothesis: tuple, truth: tuple, count: int) -> list[_Sequences]:
    """Both sides as matrices of numbers, equal where the values are."""
    values = np.concatenate([hypothesis[1], truth[1]])
    codes = np.unique(values, return_inverse=True, equal_nan=False)[1].reshape(-1)
    cut = len(hypothesis[1])
    return [_padded(hypothesis[0], codes[:cut], count), _padded(truth[0], codes[cut:], count)]


def _check_side(name: str, indices: torch.Tensor, values: Any, shape: list[int]) -> None:
    words = PartWords(
        indices=f"{name}_indices should be a matrix, but got shape: {{indices}}",
        values=f"{name}_values should be a vector, but got shape: {{values}}",
        sizes=f"{name}_shape should be a vector, but got shape: {{sizes}}",
    )
    check_fit(indices, values, shape, words)
    if indices.shape[1] != len(shape):
        raise ShapeError(
            f"Expected {name}_shape.NumElements == #cols({name}_indices), their shapes are: [{len(shape)}] "
            f"and {brackets(indices.shape)}"
        )


@edit_distance_op.kernel
def _edit_distance_kernel(
    hypothesis_indices,
    hypothesis_values,
    hypothesis_shape,
    truth_indices,
    truth_values,
    truth_shape,
    *,
    normalize,
):
    _check_side("hypothesis", hypothesis_indices, hypothesis_values, hypothesis_shape)
    _check_side("truth", truth_indices, truth_values, truth_shape)
    sizes = _leading_sizes(hypothesis_shape, truth_shape)
    if len(truth_shape) < 2:
        raise ShapeError(
            f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {len(truth_shape)}"
        )
    groups = []
    for indices, shape in ((hypothesis_indices, hypothesis_shape), (truth_indices, truth_shape)):
        check_sizes(shape)
        check_inside(indices, shape)
        groups.append(to_numpy(places(indices[:, :-1], sizes)))
    present, members = np.unique(np.concatenate(groups), return_inverse=True)
    cut = len(groups[0])
    sides = (members[:cut], to_numpy(hypothesis_values)), (members[cut:], to_numpy(truth_values))
    lengths = np.bincount(members[cut:], minlength=len(present))
    if len(present) < _MANY or lengths.max() > _SHORT:
        pairs = zip(*(_by_place(at.tolist(), values.tolist(), len(present)) for at, values in sides))
        distances = np.array([_distance(*pair) for pair in pairs], np.int64)
    else:
        distances = _distances(*_coded(*sides, len(present)))
    if normalize:
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(distances == 0, 0.0, distances / lengths)
    result = np.zeros(math.prod(sizes), np.float32)
    result[present] = distances
    return to_torch(result.reshape(sizes))


def _levenshtein(hypothesis: list, truth: list) -> int:
    """By the last elements: they are equal, or one of them is inserted, deleted or replaced."""
    if not hypothesis or not truth:
        return max(len(hypothesis), len(truth))
    replaced = _levenshtein(hypothesis[:-1], truth[:-1]) + (hypothesis[-1] != truth[-1])
    return min(replaced, _levenshtein(hypothesis[:-1], truth) + 1, _levenshtein(hypothesis, truth[:-1]) + 1)


def _edit_distance_reference(
    hypothesis_indices,
    hypothesis_values,
    hypothesis_shape,
    truth_indices,
    truth_values,
    truth_shape,
    normalize,
):
    result = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1])
    for place in np.ndindex(result.shape):
        hypothesis, truth = (
            [value for index, value in zip(indices, values) if tuple(index[:-1]) == place]
            for indices, values in ((hypothesis_indices, hypothesis_values), (truth_indices, truth_values))
        )
        distance = _levenshtein(hypothesis, truth)
        result[place] = distance / np.float64(len(truth)) if normalize and distance else distance
    return result


_HYPOTHESIS = np.array([[0, 0, 0], [1, 0, 0]]), np.array([2, 1, 1])
_TRUTH = np.array([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]]), np.array([2, 2, 2])
_WORDS = np.array([b"a", b"b", b"c", b"a"], dtype=object)
edit_distance_op.samples(
    (_HYPOTHESIS[0], _WORDS[:2], _HYPOTHESIS[1], _TRUTH[0], _WORDS, _TRUTH[1]),
    (_HYPOTHESIS[0], _WORDS[:2], _HYPOTHESIS[1], _TRUTH[0], _WORDS, _TRUTH[1], {"normalize": False}),
    (
        np.array([[0, 0], [0, 1], [0, 2]]),
        np.array([1, 2, 3]),
        np.array([1, 3]),
        np.array([[0, 0], [0, 1]]),
        np.array([2, 3]),
        np.array([2, 2]),
    ),
    (
        np.zeros((0, 2), np.int64),
        np.zeros(0, np.int32),
        np.array([0, 2]),
        np.zeros((0, 2), np.int64),
        np.zeros(0, np.int32),
        np.array([0, 2]),
    ),
    against=_edit_distance_reference,
)
edit_distance_op.refuses(
    (_HYPOTHESIS[0][:, :1], _WORDS[:2], _HYPOTHESIS[1][:1], _TRUTH[0], _WORDS, _TRUTH[1]),
    "Num elements of hypothesis_shape does not match truth_shape: 1 vs. 3",
)
edit_distance_op.refuses(
    (_HYPOTHESIS[0] + 1, _WORDS[:2], _HYPOTHESIS[1], _TRUTH[0], _WORDS, _TRUTH[1]),
    "indices[0] = [1,1,1] is out of bounds",
    InvalidArgumentError,
)


@export("edit_distance")
def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str | None = "edit_distance"
) -> Tensor:
    """Computes Levenshtein's distance between sequences: how many insertions, deletions and replacements make
    one of the other.

    Args:
      hypothesis: A SparseTensor whose last axis is that of the sequences.
      truth: A SparseTensor of the same type and rank.
      normalize: Whether distances are divided by the length of the truth; they are infinite where that is 0.
      name: A name for the operation.

    Returns:
      A float32 tensor of the rank of `hypothesis` less 1: the distance of each pair of sequences.

    Raises:
      TypeError: Where an argument is not a SparseTensor.
      ValueError: Where the two differ in rank.
    """
    for word, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"{word} must be a SparseTensor.")
    return edit_distance_op(
        hypothesis.indices,
        hypothesis.values,
        hypothesis.dense_shape,
        truth.indices,
        truth.values,
        truth.dense_shape,
        normalize=normalize,
        name=name,
    )
