"""`tensorflow.contrib.training.python.training.sequence_queueing_state_saver`: how sequences are batched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.contrib.training import sequence_batches, sequence_states

_SPARSE_CONTEXT_PREFIX_KEY = sequence_batches.CONTEXT
_reconstruct_sparse_tensor_seq = sequence_batches.make_sparse_again
_move_sparse_tensor_in_context = sequence_batches.move_contexts_back
_move_sparse_tensor_out_context = sequence_batches.move_contexts_out


def _padding(sequences: Any, num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """The length of sequences, and the sequences with empty steps until all pieces are whole."""
    return sequence_batches.padded(sequence_batches.as_tensors(sequences), num_unroll)


def _deconstruct_sparse_tensor_seq(
    input_sequence: Mapping[str, Any], shared_name: str | None = None
) -> tuple[Any, list[str] | None, list[tf.Operation]]:
    """Sequences with numbers for what is sparse, the keys of these, and the operations that keep them."""
    kept = sequence_batches.kept_sparse(input_sequence, shared_name)
    if not kept:
        return input_sequence, None, []
    return {**input_sequence, **kept}, list(kept), [handles.op for handles in kept.values()]


class _SequenceInputWrapper:
    """The inputs of a saver of states as tensors."""

    def __init__(self, length: Any, key: Any, sequences: Any, context: Any):
        self.length = tf.convert_to_tensor(length, name="length")
        self.key = tf.convert_to_tensor(key, name="key")
        sequence_states.check_names("sequences", sequences)
        sequence_states.check_names("context", context)
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        self.sequences = {k: tf.convert_to_tensor(v, name=f"sequence_{k}") for k, v in sequences.items()}
        self.context = {k: tf.convert_to_tensor(v, name=f"context_{k}") for k, v in context.items()}
