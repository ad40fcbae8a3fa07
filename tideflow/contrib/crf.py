"""`tf.contrib.crf`: linear-chain conditional random fields.

A sequence of tags has a score: what each step gives its tag (unary), and what each pair of neighbours gives
(binary, `transition_params[from, to]`). Sums over all sequences, and the best of them, are recurrent networks
along time whose state has one number for each tag. Sequences of one step have neither transitions nor loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, slicing, tiling
from tideflow.ops.control_flow import conditionals
from tideflow.ops.math import binary, casting, positions, reductions
from tideflow.rnn import loops
from tideflow.rnn.cells import RNNCell
from tideflow.variables import variable_scope as scopes


@export("contrib.crf.crf_sequence_score")
def crf_sequence_score(
    inputs: Tensor, tag_indices: Tensor, sequence_lengths: Tensor, transition_params: Tensor
) -> Tensor:
    """The score of one sequence of tags for each example.

    Args:
      inputs: The scores of each tag at each step, [batch, time, tags].
      tag_indices: The tags, [batch, time].
      sequence_lengths: How many steps of each example count, [batch].
      transition_params: The score of each pair of neighbours, [tags, tags].

    Returns:
      A vector, [batch].
    """

    def of_one_step() -> Tensor:
        batch = shapes.shape(inputs, out_type=tag_indices.dtype)[0]
        rows = shapes.reshape(creation.range(batch, dtype=tag_indices.dtype), [-1, 1])
        places = joining.concat([rows, tag_indices], axis=1)
        scores = indexing.gather_nd(shapes.squeeze(inputs, [1]), places)
        return _zero_where_empty(scores, sequence_lengths)

    def of_many_steps() -> Tensor:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _by_length(inputs, of_one_step, of_many_steps)


@export("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(
    inputs: Tensor, tag_bitmap: Tensor, sequence_lengths: Tensor, transition_params: Tensor
) -> Tensor:
    """The log of the summed exponential scores of all sequences that use allowed tags only.

    Args:
      inputs: The scores of each tag at each step, [batch, time, tags].
      tag_bitmap: Which tags each step may have, bool, [batch, time, tags].
      sequence_lengths: How many steps of each example count, [batch].
      transition_params: The score of each pair of neighbours, [tags, tags].

    Returns:
      A vector, [batch].
    """

    def allowed() -> Tensor:
        return indexing.where(tag_bitmap, inputs, creation.fill(shapes.shape(inputs), float("-inf")))

    return _by_length(
        inputs,
        lambda: reductions.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )


@export("contrib.crf.crf_log_norm")
def crf_log_norm(inputs: Tensor, sequence_lengths: Tensor, transition_params: Tensor) -> Tensor:
    """The log of the summed exponential scores of all sequences of tags.

    Args:
      inputs: The scores of each tag at each step, [batch, time, tags].
      sequence_lengths: How many steps of each example count, [batch].
      transition_params: The score of each pair of neighbours, [tags, tags].

    Returns:
      A vector, [batch].
    """
    first = _first_step(inputs)

    def of_many_steps() -> Tensor:
        rest = slicing.slice(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        _, alphas = loops.dynamic_rnn(
            cell=cell,
            inputs=rest,
            sequence_length=_after_the_first(sequence_lengths),
            initial_state=first,
            dtype=dtypes.float32,
        )
        return _zero_where_empty(reductions.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _by_length(
        inputs,
        lambda: _zero_where_empty(reductions.reduce_logsumexp(first, [1]), sequence_lengths),
        of_many_steps,
    )


@export("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(
    inputs: Tensor, tag_indices: Tensor, sequence_lengths: Tensor, transition_params: Any = None
) -> tuple[Tensor, Any]:
    """The log-likelihood of a sequence of tags for each example.

    Args:
      inputs: The scores of each tag at each step, [batch, time, tags].
      tag_indices: The tags, [batch, time].
      sequence_lengths: How many steps of each example count, [batch].
      transition_params: The score of each pair of neighbours, [tags, tags]; the variable `transitions` of the
        current scope if None.

    Returns:
      A vector, [batch], and the transition parameters.
    """
    tags = inputs.shape.as_list()[2]
    if transition_params is None:
        transition_params = scopes.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


@export("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices: Tensor, sequence_lengths: Tensor, inputs: Tensor) -> Tensor:
    """The summed scores that the steps of each example give their tags.

    Args:
      tag_indices: The tags, [batch, time].
      sequence_lengths: How many steps of each example count, [batch].
      inputs: The scores of each tag at each step, [batch, time, tags].

    Returns:
      A vector, [batch].
    """
    batch, steps, tags = (shapes.shape(inputs)[axis] for axis in range(3))
    flat_inputs = shapes.reshape(inputs, [-1])
    places = shapes.expand_dims(creation.range(batch) * steps * tags, 1)
    places += shapes.expand_dims(creation.range(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        places = casting.cast(places, dtypes.int64)
    places = shapes.reshape(places + tag_indices, [-1])
    scores = shapes.reshape(indexing.gather(flat_inputs, places), [batch, steps])
    return reductions.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


@export("contrib.crf.crf_binary_score")
def crf_binary_score(tag_indices: Tensor, sequence_lengths: Tensor, transition_params: Tensor) -> Tensor:
    """The summed scores of the transitions between the neighbours of each example.

    Args:
      tag_indices: The tags, [batch, time].
      sequence_lengths: How many steps of each example count, [batch].
      transition_params: The score of each pair of neighbours, [tags, tags].

    Returns:
      A vector, [batch].
    """
    tags = transition_params.get_shape()[0]
    transitions = shapes.shape(tag_indices)[1] - 1
    sources = slicing.slice(tag_indices, [0, 0], [-1, transitions])
    targets = slicing.slice(tag_indices, [0, 1], [-1, transitions])
    places = sources * tags + targets
    scores = indexing.gather(shapes.reshape(transition_params, [-1]), places)
    mask = slicing.slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return reductions.reduce_sum(scores * mask, 1)


class _TagCell(RNNCell):
    """A cell whose state has one score for each tag; it adds those of the transitions."""

    def __init__(self, transition_params: Any):
        # No base class's: the cell has no variables, and is not a layer.
        self._transition_params = shapes.expand_dims(transition_params, 0)
        self._num_tags = transition_params.shape.as_list()[0]

    @property
    def state_size(self) -> Any:
        return self._num_tags

    @property
    def output_size(self) -> Any:
        return self._num_tags

    def _arrivals(self, state: Tensor) -> Tensor:
        """The scores of having each tag and then each other one, [batch, from, to]."""
        return shapes.expand_dims(state, 2) + self._transition_params


@export("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(_TagCell):
    """One step forward: the log of the summed exponential scores of all sequences that end in each tag.

    Args:
      transition_params: The score of each pair of neighbours, [tags, tags].
    """

    def __call__(self, inputs: Tensor, state: Tensor, scope: Any = None) -> tuple[Tensor, Tensor]:
        alphas = inputs + reductions.reduce_logsumexp(self._arrivals(state), [1])
        return alphas, alphas


@export("contrib.crf.viterbi_decode")
def viterbi_decode(score: np.ndarray, transition_params: np.ndarray) -> tuple[list, Any]:
    """The best sequence of tags of one example, computed by NumPy, outside of the graph.

    Args:
      score: The scores of each tag at each step, [time, tags].
      transition_params: The score of each pair of neighbours, [tags, tags].

    Returns:
      A list of tags, and the score of that sequence.
    """
    best = np.zeros_like(score)
    best[0] = score[0]
    origins = np.zeros_like(score, dtype=np.int32)
    for step in range(1, score.shape[0]):
        arrivals = best[step - 1][:, np.newaxis] + transition_params
        best[step] = score[step] + arrivals.max(axis=0)
        origins[step] = arrivals.argmax(axis=0)
    tags = [np.argmax(best[-1])]
    for origin in origins[:0:-1]:
        tags.append(origin[tags[-1]])
    return tags[::-1], np.max(best[-1])


@export("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(_TagCell):
    """One step forward: the score of the best sequence that ends in each tag, and the tag it came from.

    Args:
      transition_params: The score of each pair of neighbours, [tags, tags].
    """

    def __call__(self, inputs: Tensor, state: Tensor, scope: Any = None) -> tuple[Tensor, Tensor]:
        arrivals = self._arrivals(state)
        scores = inputs + reductions.reduce_max(arrivals, [1])
        return casting.cast(positions.argmax(arrivals, 1), dtype=dtypes.int32), scores


@export("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """One step backward: from a tag to the one that the best sequence had before it.

    Args:
      num_tags: How many tags there are.
    """

    def __init__(self, num_tags: int):
        self._num_tags = num_tags

    @property
    def state_size(self) -> Any:
        return 1

    @property
    def output_size(self) -> Any:
        return 1

    def __call__(self, inputs: Tensor, state: Tensor, scope: Any = None) -> tuple[Tensor, Tensor]:
        state = shapes.squeeze(state, axis=[1])
        rows = creation.range(shapes.shape(inputs)[0])
        origins = indexing.gather_nd(inputs, joining.stack([rows, state], axis=1))
        tags = shapes.expand_dims(origins, axis=-1)
        return tags, tags


@export("contrib.crf.crf_decode")
def crf_decode(
    potentials: Tensor, transition_params: Tensor, sequence_length: Tensor
) -> tuple[Tensor, Tensor]:
    """The best sequence of tags for each example.

    Args:
      potentials: The scores of each tag at each step, [batch, time, tags].
      transition_params: The score of each pair of neighbours, [tags, tags].
      sequence_length: How many steps of each example count, [batch].

    Returns:
      The tags, int32, [batch, time], and the score of each sequence, [batch].
    """

    def of_one_step() -> tuple[Tensor, Tensor]:
        scores = shapes.squeeze(potentials, [1])
        tags = shapes.expand_dims(positions.argmax(scores, axis=1), 1)
        best = reductions.reduce_max(scores, axis=1)
        return casting.cast(tags, dtype=dtypes.int32), best

    def of_many_steps() -> tuple[Tensor, Tensor]:
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = _first_step(potentials)
        rest = slicing.slice(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = _after_the_first(sequence_length)
        origins, scores = loops.dynamic_rnn(
            forward, inputs=rest, sequence_length=lengths, initial_state=first, dtype=dtypes.int32
        )
        origins = tiling.reverse_sequence(origins, lengths, seq_dim=1)
        backward = CrfDecodeBackwardRnnCell(potentials.shape.as_list()[2])
        last = casting.cast(positions.argmax(scores, axis=1), dtype=dtypes.int32)
        last = shapes.expand_dims(last, axis=-1)
        tags, _ = loops.dynamic_rnn(
            backward, inputs=origins, sequence_length=lengths, initial_state=last, dtype=dtypes.int32
        )
        tags = joining.concat([last, shapes.squeeze(tags, axis=[2])], axis=1)
        tags = tiling.reverse_sequence(tags, sequence_length, seq_dim=1)
        return tags, reductions.reduce_max(scores, axis=1)

    return _by_length(potentials, of_one_step, of_many_steps)


def _by_length(inputs: Tensor, of_one_step: Callable[[], Any], of_many_steps: Callable[[], Any]) -> Any:
    """What one of two functions returns: for sequences of one step, or longer ones."""
    steps = dimension_value(inputs.shape[1]) or shapes.shape(inputs)[1]
    return conditionals.smart_cond(binary.equal(steps, 1), of_one_step, of_many_steps)


def _first_step(inputs: Tensor) -> Tensor:
    return shapes.squeeze(slicing.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])


def _after_the_first(lengths: Tensor) -> Tensor:
    return binary.maximum(constants.constant(0, dtype=lengths.dtype), lengths - 1)


def _zero_where_empty(scores: Tensor, lengths: Tensor) -> Tensor:
    return indexing.where(binary.less_equal(lengths, 0), creation.zeros_like(scores), scores)


def _mask(tag_indices: Tensor, lengths: Tensor) -> Tensor:
    steps = shapes.shape(tag_indices)[1]
    return creation.sequence_mask(lengths, maxlen=steps, dtype=dtypes.float32)
