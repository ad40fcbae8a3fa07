"""`batch_sequences_with_states`: pieces of sequences in batches, read by threads."""

from __future__ import annotations

import numbers as number_kinds
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.training.sequence_states import (
    NextQueuedSequenceBatch,
    SequenceQueueingStateSaver,
    copied_to_pieces,
    in_pieces,
    whole_pieces,
)
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import CancelledError, OutOfRangeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.random.distributions import random_uniform
from tideflow.ops.sparse.construction import sparse_reshape
from tideflow.ops.sparse.serialization import (
    add_many_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from tideflow.ops.strings import joined, numbers
from tideflow.summary import functions as summaries
from tideflow.train.queue_runner import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

CONTEXT = "_context_in_seq_"  # the prefix of a context that travels as a sequence, as sparse ones do


def as_tensors(sequences: Any) -> dict[str, Any]:
    """Sequences as tensors, sparse or not, in the order of their names."""
    if not isinstance(sequences, Mapping):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for name in sequences:
        if not isinstance(name, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {name}")
    return {name: convert_to_tensor_or_sparse_tensor(sequences[name]) for name in sorted(sequences)}


def _length_of(sequence: Any) -> Tensor:
    if isinstance(sequence, SparseTensor):
        return casting.cast(sequence.dense_shape[0], dtypes.int32)
    return shapes.shape(sequence)[0]


def padded(sequences: dict[str, Any], num_unroll: Any) -> tuple[Any, dict[str, Any]]:
    """The length of sequences, and the sequences with so many empty steps more that all pieces are whole."""
    if not isinstance(num_unroll, number_kinds.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not sequences:
        return 0, {}
    dense = [_length_of(s) for s in sequences.values() if not isinstance(s, SparseTensor)]
    if dense:
        message = joined.string_join(
            [
                "All sequence lengths must match, but received lengths: ",
                numbers.as_string(joining.stack(dense)),
            ]
        )
        equal = [debugging.Assert(binary.equal(length, dense[0]), [message]) for length in dense]
        length = grouping.with_dependencies(equal, dense[0])
    else:
        length = reductions.reduce_max([_length_of(s) for s in sequences.values()])
    whole = length + (num_unroll - length % num_unroll) % num_unroll
    return length, {name: _lengthened(sequence, whole) for name, sequence in sequences.items()}


def _lengthened(sequence: Any, length: Tensor) -> Any:
    if isinstance(sequence, SparseTensor):
        sizes = joining.concat([[casting.cast(length, dtypes.int64)], sequence.dense_shape[1:]], 0)
        return SparseTensor(sequence.indices, sequence.values, sizes)
    nothing = constants.constant("" if sequence.dtype == dtypes.string else 0, dtype=sequence.dtype)
    sizes = joining.concat([[length - shapes.shape(sequence)[0]], shapes.shape(sequence)[1:]], 0)
    made = joining.concat([sequence, creation.fill(sizes, nothing)], 0)
    made.set_shape([None, *sequence.shape[1:]])
    return made


def _checked(name: str, sequence: Any, num_unroll: Any) -> Any:
    """A sequence of whole pieces."""
    kind = "SparseTensor" if isinstance(sequence, SparseTensor) else "Tensor"
    what = f"{kind} {name} first dimension"
    with control_dependencies([whole_pieces(_length_of(sequence), num_unroll, what)]):
        if isinstance(sequence, SparseTensor):
            parts = (sequence.indices, sequence.values, sequence.dense_shape)
            return SparseTensor(*(constants.identity(part, name="multiple_of_checked") for part in parts))
        return constants.identity(sequence, name="multiple_of_checked")


@export("contrib.training.batch_sequences_with_states")
def batch_sequences_with_states(
    input_key: TensorLike,
    input_sequences: Mapping[str, Any],
    input_context: Mapping[str, Any],
    input_length: TensorLike | None,
    initial_states: Mapping[str, TensorLike],
    num_unroll: int,
    batch_size: int,
    num_threads: int = 3,
    capacity: int | None = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Makes batches of pieces of sequences, each with the state that the piece before it ended with.

    Args:
      input_key: The key of the sequence, a scalar string, which no other has.
      input_sequences: What belongs to steps: a dictionary of tensors or SparseTensors [steps, ...].
      input_context: What belongs to the whole sequence: a dictionary of tensors or SparseTensors.
      input_length: The length of the sequence, a scalar int32; that of the sequences if None and `pad`.
      initial_states: The states before the first piece: a dictionary of tensors.
      num_unroll: The number of steps in a piece.
      batch_size: The number of pieces in a batch.
      num_threads: How many threads read sequences.
      capacity: How many sequences may be under way.
      allow_small_batch: Whether the last batches may have fewer pieces.
      pad: Whether sequences are padded to whole pieces; otherwise their lengths must be multiples of
        `num_unroll`.
      make_keys_unique: Whether a random number is put behind keys.
      make_keys_unique_seed: The seed of these numbers.
      name: The name scope of the operations.

    Returns:
      A `NextQueuedSequenceBatch`. A queue runner for the threads is in the graph's collection.

    Raises:
      TypeError: If something is not a dictionary, or of another type.
      ValueError: If a shape is not known.
    """
    given = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with name_scope(name, "batch_sequences_with_states", given):
        sequences = as_tensors(input_sequences)
        if pad:
            length, sequences = padded(sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {key: _checked(key, value, num_unroll) for key, value in sequences.items()}
        contexts = {key: convert_to_tensor_or_sparse_tensor(v) for key, v in input_context.items()}
        move_contexts_out(contexts, sequences, num_unroll)
        kept = kept_sparse(sequences)
        if make_keys_unique:
            number = random_uniform((), 0, 100000000, dtypes.int32, seed=make_keys_unique_seed)
            input_key = joined.string_join([input_key, numbers.as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size,
            num_unroll,
            input_length=input_length,
            input_key=input_key,
            input_sequences={**sequences, **kept},
            input_context=contexts,
            initial_states=initial_states,
            capacity=capacity,
            allow_small_batch=allow_small_batch,
        )
        ready = casting.cast(saver.barrier.ready_size(), dtypes.float32)
        summaries.scalar(f"queue/{saver.barrier.name}/ready_segment_batches_", ready)
        ends = (OutOfRangeError, CancelledError)
        runner = QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=ends)
        add_queue_runner(runner)
        batch = saver.next_batch
        handles = [each.op for each in kept.values()]
        make_sparse_again(batch.sequences, list(kept), handles, batch_size, num_unroll)
        move_contexts_back(batch.context, batch.sequences)
        return batch


def move_contexts_out(contexts: dict[str, Any], sequences: dict[str, Any], num_unroll: int) -> None:
    """Makes sparse contexts sequences: the first step of each piece has the context."""
    sparse = [key for key in sorted(contexts) if isinstance(contexts[key], SparseTensor)]
    if not sparse:
        return
    length = _length_of(next(iter(sequences.values()))) if sequences else constants.constant(1)
    steps = casting.cast(length, dtypes.int64)
    for key in sparse:
        sequences[CONTEXT + key] = copied_to_pieces(contexts.pop(key), steps, num_unroll)


def move_contexts_back(contexts: dict[str, Any], sequences: dict[str, Any]) -> None:
    """Makes contexts again of the sequences that `move_contexts_out` made, of a batch of pieces."""
    for key in sorted(key for key in sequences if key.startswith(CONTEXT)):
        found = sequences.pop(key)
        sizes = found.dense_shape
        first = SparseTensor(found.indices, found.values, joining.concat([sizes[:1], [1], sizes[2:]], 0))
        shape = joining.concat([sizes[:1], sizes[2:]], 0)
        contexts[key.removeprefix(CONTEXT)] = sparse_reshape(first, shape)


def kept_sparse(sequences: Mapping[str, Any], shared_name: str | None = None) -> dict[str, Tensor]:
    """Numbers for the steps of sparse sequences, which are kept until their piece is in a batch."""
    return {
        key: add_many_sparse_to_tensors_map(sequences[key], shared_name=shared_name)
        for key in sorted(sequences)
        if isinstance(sequences[key], SparseTensor)
    }


def make_sparse_again(
    sequences: dict[str, Any],
    keys: Sequence[str] | None,
    kept: Sequence[Operation],
    batch_size: Any,
    num_unroll: int,
) -> None:
    """Puts what is kept in the place of the numbers of steps, in a batch of pieces."""
    if not keys:
        return
    steps = convert_to_tensor(num_unroll, dtype=dtypes.int64, name="num_unroll_int64")
    for key, op in zip(keys, kept, strict=True):
        flat = shapes.reshape(sequences[key], [-1])
        sequences[key] = in_pieces(take_many_sparse_from_tensors_map(op, flat), batch_size, steps)
