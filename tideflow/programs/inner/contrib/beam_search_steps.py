"""`tensorflow.contrib.seq2seq.python.ops.beam_search_decoder`: one step of the search, and its parts."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.contrib.seq2seq import beam_search, beams

_mask_probs = beam_search.only_end_where_finished
_check_batch_beam = beams.assert_beams
_check_ndims = beams.check_rank
_check_static_batch_beam_maybe = beams.may_have_beams
_tensor_gather_helper = beams.gather_beams
get_attention_probs = beam_search.attention_probs


def _beam_search_step(
    time: Any,
    logits: tf.Tensor,
    next_cell_state: Any,
    beam_state: Any,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[Any, Any]:
    """The best beams after one more word, with their words and parents, and the state that follows."""
    size = tf.convert_to_tensor(batch_size, tf.int32)
    search = beam_search.Search(
        beam_state, logits, next_cell_state, size, beam_width, tf.convert_to_tensor(end_token, tf.int32)
    )
    return search.step(beam_search.Penalties(length_penalty_weight, coverage_penalty_weight))


def _length_penalty(sequence_lengths: tf.Tensor, penalty_factor: Any) -> Any:
    """By what the scores of beams of these lengths are divided."""
    return beam_search.Penalties(penalty_factor, 0.0).of_lengths(sequence_lengths)


def _get_scores(
    log_probs: tf.Tensor,
    sequence_lengths: tf.Tensor,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: tf.Tensor,
    accumulated_attention_probs: tf.Tensor | None,
) -> tf.Tensor:
    """The scores of beams: their probabilities with what is taken off for lengths and for coverage."""
    penalties = beam_search.Penalties(length_penalty_weight, coverage_penalty_weight)
    return penalties.scores(log_probs, sequence_lengths, finished, accumulated_attention_probs)
