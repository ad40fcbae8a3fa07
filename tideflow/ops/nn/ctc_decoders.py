"""Labels out of class probabilities: the likeliest class of each step, or the likeliest paths of a search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.composite import SparseTensor
from tideflow.graph.errors import FailedPreconditionError, InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import of_rank, same_size
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import REAL_PARTS
from tideflow.ops.nn import ctc_beam_search
from tideflow.ops.nn.ctc import checked_lengths, labels_of
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_TYPE = attr("type", "float", allowed=REAL_PARTS)


def _batch(inputs: TensorShape, sequence_length: TensorShape) -> int | None:
    batch = of_rank(inputs, 3, "inputs is not a 3-Tensor").tuple[1]
    return same_size(batch, of_rank(sequence_length, 1, "sequence_length is not a vector").tuple[0])


def _decodable_lengths(sequence_length: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """The length of each sequence, on the host. A batch may be empty; time may not."""
    if len(inputs) == 0:
        raise ShapeError("max_time is 0")
    return checked_lengths(sequence_length, *inputs.shape)


_LENGTHS = np.array([6, 4], np.int32)
_NO_LENGTHS = np.zeros(0, np.int32)


def _as_sparse(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of different lengths as indices, values and shape."""
    places = [(row, place) for row, labels in enumerate(rows) for place in range(len(labels))]
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array([label for labels in rows for label in labels], np.int64),
        np.array([len(rows), max(map(len, rows), default=0)], np.int64),
    )


ctc_greedy_decoder_op = Op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 "
    "-> decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
    T=_TYPE,
    merge_repeated=False,
    blank_index=-1,
    differentiable=False,
)


@ctc_greedy_decoder_op.shape
def _ctc_greedy_decoder_shape(inputs, sequence_length):
    return [[None, 2], [None], [2], [_batch(inputs, sequence_length), 1]]


@ctc_greedy_decoder_op.kernel
def _ctc_greedy_decoder_kernel(inputs, sequence_length, *, merge_repeated, blank_index):
    steps, batch, classes = inputs.shape
    lengths = _decodable_lengths(sequence_length, inputs).to(inputs.device)
    blank = blank_index % classes
    inside = torch.arange(steps, device=inputs.device)[:, None] < lengths
    best = inputs.amax(2)
    chosen = inputs.argmax(2)
    kept = inside & (chosen != blank)
    if merge_repeated:
        kept[1:] &= chosen[1:] != chosen[:-1]
    kept, chosen = kept.T, chosen.T
    rows = kept.nonzero()[:, 0]
    indices = torch.stack([rows, kept.cumsum(1)[kept] - 1], 1)
    longest = kept.sum(1).amax() if batch else rows.new_zeros(())
    shape = torch.stack([torch.full_like(longest, batch), longest])
    return indices, chosen[kept], shape, -torch.where(inside, best, 0).sum(0)[:, None]


def _ctc_greedy_decoder_reference(inputs, sequence_length, *, merge_repeated, blank_index):
    blank = blank_index % inputs.shape[2]
    best = [inputs[:length, row].argmax(1).tolist() for row, length in enumerate(sequence_length)]
    scores = [-inputs[:length, row].max(1).sum() for row, length in enumerate(sequence_length)]
    return *_as_sparse([labels_of(path, blank, merge_repeated) for path in best]), np.array(scores)[:, None]


ctc_greedy_decoder_op.samples(
    (f32(6, 2, 4), _LENGTHS),
    (f32(6, 2, 4), _LENGTHS, {"merge_repeated": True}),
    (f32(6, 2, 4), _LENGTHS, {"blank_index": 0}),
    (f32(6, 0, 4), _NO_LENGTHS),
    against=_ctc_greedy_decoder_reference,
)
ctc_greedy_decoder_op.refuses((f32(6, 4), _LENGTHS), "Shape must be rank 3 but is rank 2")
ctc_greedy_decoder_op.refuses((f32(3, 2, 4), _LENGTHS), "sequence_length(0) <= 3", FailedPreconditionError)
ctc_greedy_decoder_op.refuses((f32(0, 2, 4), _LENGTHS), "max_time is 0", InvalidArgumentError)


@export("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """Decodes logits by taking the likeliest class of each step and removing blanks.

    Args:
      inputs: Logits [steps, batch, classes], of float32 or float64; the last class is the blank.
      sequence_length: An int32 vector: how many steps each sequence has.
      merge_repeated: Whether a run of steps with the same class is one label.

    Returns:
      A list of one int64 SparseTensor [batch, longest] with the labels of each sequence, and a tensor [batch,
      1] of the negated sum of each sequence's largest logits.

    Raises:
      FailedPreconditionError: In a step in which a sequence is longer than the logits.
    """
    indices, values, shape, log_probability = ctc_greedy_decoder_op(
        inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], log_probability


ctc_beam_search_decoder_op = Op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, "
    "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T",
    T=_TYPE,
    beam_width=attr("int", minimum=1),
    top_paths=attr("int", minimum=1),
    merge_repeated=True,
    differentiable=False,
)


@ctc_beam_search_decoder_op.shape
def _ctc_beam_search_decoder_shape(inputs, sequence_length, *, top_paths):
    parts = [[None, 2]] * top_paths + [[None]] * top_paths + [[2]] * top_paths
    return [*parts, [_batch(inputs, sequence_length), top_paths]]


def _best(
    logits: np.ndarray, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[list[list[int]], np.ndarray]:
    """The likeliest paths of one sequence, and their log probabilities."""
    tree, beams = ctc_beam_search.search(logits, beam_width)
    if len(beams.node) < top_paths:
        raise ShapeError("Less leaves in the beam search than requested.")
    paths = [tree.path(node, merge_repeated) for node in beams.node[:top_paths].tolist()]
    return paths, beams.total[:top_paths].astype(logits.dtype)


@ctc_beam_search_decoder_op.kernel
def _ctc_beam_search_decoder_kernel(
    inputs, sequence_length, *, beam_width, top_paths, merge_repeated, device
):
    if top_paths > beam_width:
        raise ShapeError("requested more paths than the beam width.")
    lengths = _decodable_lengths(sequence_length, inputs).tolist()
    logits = to_numpy(inputs)
    found = [
        _best(logits[:length, row], beam_width, top_paths, merge_repeated)
        for row, length in enumerate(lengths)
    ]
    decoded = [_as_sparse([paths[i] for paths, _ in found]) for i in range(top_paths)]
    parts = [torch.from_numpy(part).to(device) for kind in zip(*decoded) for part in kind]
    scores = np.array([scores for _, scores in found], logits.dtype).reshape(len(lengths), top_paths)
    return *parts, torch.from_numpy(scores).to(device)


def _ctc_beam_search_decoder_law(inputs, sequence_length, *outputs, beam_width, top_paths, merge_repeated):
    """The paths come with falling scores, and a score is at most the probability of all that reads the same:
    exactly that in a search so wide that no prefix is dropped.
    """
    *decoded, scores = outputs
    indices, values, shapes = (decoded[i : i + top_paths] for i in range(0, len(decoded), top_paths))
    steps, _, classes = inputs.shape
    is_exhaustive = beam_width >= classes**steps
    claims = [np.diff(scores, axis=1) <= 0]
    paths = [
        [tuple(values[i][indices[i][:, 0] == row]) for row in range(len(sequence_length))]
        for i in range(top_paths)
    ]
    for given in zip(paths, indices, values, shapes):
        claims += [np.array_equal(*pair) for pair in zip(_as_sparse(given[0]), given[1:])]
    for row, length in enumerate(sequence_length):
        logits = inputs[:length, row].astype(np.float64)
        chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        likelihoods = defaultdict(float)
        for path in product(range(classes), repeat=length):
            likelihoods[labels_of(path, classes - 1, True)] += chances[np.arange(length), path].prod()
        found = [rows[row] for rows in paths]
        if merge_repeated:
            claims += [all(np.diff(labels)) for labels in found]
            continue
        wanted = [np.log(likelihoods[labels]) for labels in found]
        claims.append(scores[row] <= np.array(wanted) + 1e-5)
        if is_exhaustive:
            best = np.log(sorted(likelihoods.values())[-top_paths:][::-1])
            claims += [(scores[row], np.float32(best)), (np.float32(wanted), np.float32(best))]
    return claims


ctc_beam_search_decoder_op.samples(
    (f32(6, 2, 4), _LENGTHS, {"beam_width": 10, "top_paths": 1}),
    (f32(6, 2, 4), _LENGTHS, {"beam_width": 3, "top_paths": 3, "merge_repeated": False}),
    (f32(6, 0, 4), _NO_LENGTHS, {"beam_width": 3, "top_paths": 2}),
    (f32(4, 2, 3), np.array([4, 3], np.int32), {"beam_width": 81, "top_paths": 2, "merge_repeated": False}),
    law=_ctc_beam_search_decoder_law,
)
ctc_beam_search_decoder_op.refuses(
    (f32(6, 2, 4), _LENGTHS, {"beam_width": 1, "top_paths": 2}), "more paths than", InvalidArgumentError
)
ctc_beam_search_decoder_op.refuses(
    (f32(0, 2, 4), _LENGTHS, {"beam_width": 1, "top_paths": 1}), "max_time is 0", InvalidArgumentError
)


@export("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: TensorLike,
    sequence_length: TensorLike,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Tensor]:
    """Decodes logits by a search for the likeliest labels, which keeps the best prefixes at each step.

    Args:
      inputs: Logits [steps, batch, classes], of float32 or float64; the last class is the blank.
      sequence_length: An int32 vector: how many steps each sequence has.
      beam_width: How many prefixes are kept.
      top_paths: How many results are given, at most `beam_width`.
      merge_repeated: Whether equal neighbours in a result are made one; correct results may well have such.

    Returns:
      A list of `top_paths` int64 SparseTensors [batch, longest] with the labels of each sequence, likeliest
      first, and a tensor [batch, top_paths] of their log probabilities.

    Raises:
      InvalidArgumentError: In a step, where `top_paths` exceeds `beam_width`, or a sequence is longer than
        the logits.
    """
    found = ctc_beam_search_decoder_op(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    decoded = [SparseTensor(*parts) for parts in zip(*found[:3], strict=True)]
    return decoded, found.log_probability


@export("nn.ctc_beam_search_decoder_v2")
def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """Decodes logits by a search for the likeliest labels; equal neighbours in a result stay.

    Args:
      inputs: Logits [steps, batch, classes], of float32 or float64; the last class is the blank.
      sequence_length: An int32 vector: how many steps each sequence has.
      beam_width: How many prefixes are kept.
      top_paths: How many results are given, at most `beam_width`.

    Returns:
      A list of `top_paths` int64 SparseTensors [batch, longest] with the labels of each sequence, likeliest
      first, and a tensor [batch, top_paths] of their log probabilities.
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)
