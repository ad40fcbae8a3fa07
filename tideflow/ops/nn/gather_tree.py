"""GatherTree: from what each step of a beam search chose, whole sequences.

Step by step every beam names a word and the beam that it continues. Read from the last step back to the
first, following the parents, that is one sequence a beam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.types import types

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

gather_tree_op = Op(
    "GatherTree",
    "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T",
    T=types("int32"),
    differentiable=False,
)


@gather_tree_op.shape
def _gather_tree_shape(step_ids, parent_ids, max_sequence_lengths, end_token):
    of_rank(step_ids, 3)
    of_rank(parent_ids, 3)
    of_rank(max_sequence_lengths, 1)
    of_rank(end_token, 0)
    if not step_ids.is_compatible_with(parent_ids):
        raise ShapeError(f"step_ids and parent_ids must have one shape, but are {step_ids} and {parent_ids}")
    beams = step_ids.merge_with(parent_ids)
    rows = TensorShape([None, *(max_sequence_lengths.tuple or [None]), None])
    if not beams.is_compatible_with(rows):
        raise ShapeError(f"each row of the batch needs a length, but they are {max_sequence_lengths}")
    return beams.merge_with(rows)


@gather_tree_op.kernel
def _gather_tree_kernel(step_ids, parent_ids, max_sequence_lengths, end_token):
    steps, batch, beams = step_ids.shape
    lengths = max_sequence_lengths.unsqueeze(1)
    result = torch.empty_like(step_ids)
    beam = torch.arange(beams, device=step_ids.device).expand(batch, beams)
    for step in range(steps - 1, -1, -1):
        begun = step < lengths
        there = (beam >= 0) & (beam < beams)
        # Only the CPU kernel raises, as in TensorFlow: a GPU kernel would have to wait for the device to
        # check. There the word becomes -1.
        if step_ids.device.type == "cpu" and not bool((there | ~begun).all()):
            row, place = ((~there) & begun).nonzero()[0].tolist()
            raise errors.invalid_argument(
                f"Saw invalid parent id {int(beam[row, place])} at (batch, time, beam) == ({row}, "
                f"{step + 1}, {place})"
            )
        parent = beam.clamp(0, beams - 1)
        words = torch.where(there, step_ids[step].gather(1, parent), -1)
        result[step] = torch.where(begun, words, end_token)
        parents = torch.where(there, parent_ids[step].gather(1, parent), -1)
        beam = torch.where(begun, parents.long(), beam)
    ended = (result == end_token).cumsum(0) > 0
    return torch.where(ended, end_token, result)


def _gather_tree_reference(
    step_ids: np.ndarray, parent_ids: np.ndarray, max_sequence_lengths: np.ndarray, end_token: Any
) -> np.ndarray:
    """One beam after another, read backwards."""
    result = np.full_like(step_ids, end_token)
    steps, batch, beams = step_ids.shape
    for row in range(batch):
        for beam in range(beams):
            place, words = beam, []
            for step in reversed(range(min(steps, max_sequence_lengths[row]))):
                words.insert(0, step_ids[step, row, place])
                place = parent_ids[step, row, place]
            whole = words[: words.index(end_token)] if end_token in words else words
            result[: len(whole), row, beam] = whole
    return result


_WORDS = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]], np.int32)
_PARENTS = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]], np.int32)
_LENGTHS = np.array([3], np.int32)
_END = np.array(10, np.int32)
gather_tree_op.samples(
    (_WORDS, _PARENTS, _LENGTHS, _END),
    (_WORDS, _PARENTS, _LENGTHS, np.array(5, np.int32)),
    (_WORDS[:3], _PARENTS[:3], np.array([9], np.int32), _END),
    (_WORDS, _PARENTS, np.array([0], np.int32), _END),
    (np.zeros([0, 2, 3], np.int32), np.zeros([0, 2, 3], np.int32), np.zeros(2, np.int32), _END),
    (np.zeros([2, 0, 3], np.int32), np.zeros([2, 0, 3], np.int32), np.zeros(0, np.int32), _END),
    against=_gather_tree_reference,
)
gather_tree_op.refuses((_WORDS, _PARENTS[:2], _LENGTHS, _END), "must have one shape")
gather_tree_op.refuses(
    (_WORDS, _PARENTS, np.array([3, 3], np.int32), _END), "each row of the batch needs a length"
)


@export("contrib.seq2seq.gather_tree")
def gather_tree(
    step_ids: TensorLike,
    parent_ids: TensorLike,
    max_sequence_lengths: TensorLike,
    end_token: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Reads the whole sequence that ends in each beam of a beam search.

    Args:
      step_ids: An int32 tensor [steps, batch, beams]: the word that each beam chose at each step.
      parent_ids: A tensor of the same shape: which beam of the step before each beam continues.
      max_sequence_lengths: An int32 vector: how many steps each row of the batch has.
      end_token: The word that ends a sequence; it also fills what comes after.
      name: A name for the operation.

    Returns:
      An int32 tensor [steps, batch, beams]: along its first axis the words of each sequence.

    Raises:
      InvalidArgumentError: In a step on the CPU with a parent that is no beam; on a GPU the word is -1 there.
    """
    return gather_tree_op(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)
