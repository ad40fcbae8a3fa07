"""Long sequences in pieces: a batch has one piece of each of some sequences, and the states they end with.

A barrier collects what belongs to a piece, by its key: its place in the sequence, its data and the state
before it. A piece is complete, and can be part of a batch, once the state after the piece before it is saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies, name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes, slicing, tiling
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.math import binary, casting, checks, reductions, unary
from tideflow.ops.strings import joined, numbers
from tideflow.queues.barriers import Barrier
from tideflow.queues.base import FIFOQueue

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_PLACES = ("length", "total_length", "next_key", "sequence", "sequence_count")
_TOKEN = 0  # what the queue of running sequences holds for each: only their number counts


def check_names(kind: str, given: Any) -> None:
    """Refuses what is no dictionary from names without colons."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{kind} must be a dict")
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")


def _tensors(kind: str, given: Mapping[str, Any], first_axis: int) -> dict[str, Tensor]:
    """Tensors in the order of their names, whose shapes are known from an axis on."""
    made = {name: convert_to_tensor(given[name], name=f"{kind}_{name}") for name in sorted(given)}
    for name, tensor in made.items():
        if not tensor.shape[first_axis:].is_fully_defined():
            ignoring = "(ignoring first dimension)" if first_axis else ""
            raise ValueError(f"Shape for {kind} {name} is not fully defined {ignoring}: {tensor.shape}")
    return made


def _scalar(value: Any, name: str, dtype: dtypes.DType) -> Tensor:
    value = convert_to_tensor(value, name=name)
    if value.dtype != dtype:
        raise TypeError(f"{name} dtype must be {dtype.name}, but received: {value.dtype}")
    if value.shape.ndims not in (0, None):
        raise ValueError(f"Rank check failed for {value.name}: Shape {value.shape} must have rank 0")
    is_scalar = debugging.Assert(
        binary.equal(0, shapes.rank(value)),
        [f"Rank of tensor {value.name} should be: 0, shape received:", shapes.shape(value)],
    )
    with control_dependencies([is_scalar]):
        value = constants.identity(value, name="rank_checked")
    value.set_shape([])
    return value


def whole_pieces(length: Tensor, num_unroll: Any, what: str) -> Operation:
    """An assertion that a length is a number of whole pieces."""
    steps = casting.cast(num_unroll, length.dtype)
    whole = binary.logical_and(binary.equal(length % steps, 0), binary.not_equal(length, 0))
    message = joined.string_join(
        [
            f"{what} should be a multiple of: ",
            numbers.as_string(steps),
            ", but saw value: ",
            numbers.as_string(length),
            ". Consider setting pad=True.",
        ]
    )
    return debugging.Assert(whole, [message])


@export("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """A batch of pieces of sequences: what `SequenceQueueingStateSaver.next_batch` gives.

    Args:
      state_saver: The `SequenceQueueingStateSaver` that it comes from.
    """

    def __init__(self, state_saver: SequenceQueueingStateSaver):
        self._state_saver = state_saver
        self._received = state_saver._receive()

    @property
    def total_length(self) -> Tensor:
        """The length of the whole sequence of each piece."""
        return self._received["total_length"]

    @property
    def length(self) -> Tensor:
        """How many steps of each piece are not padding."""
        return self._received["length"]

    @property
    def batch_size(self) -> Tensor:
        """The number of pieces."""
        return self._received["batch_size"]

    @property
    def insertion_index(self) -> Tensor:
        """A number for each piece, which grows in the order in which pieces came."""
        return self._received["indices"]

    @property
    def key(self) -> Tensor:
        """The key of each piece: its place, the number of pieces, and the key of its sequence."""
        return self._received["key"]

    @property
    def next_key(self) -> Tensor:
        """The key of the piece after each; `STOP:` and the key of the sequence after the last."""
        return self._received["next_key"]

    @property
    def sequence(self) -> Tensor:
        """The place of each piece in its sequence, from 0 on."""
        return self._received["sequence"]

    @property
    def sequence_count(self) -> Tensor:
        """The number of pieces of each sequence."""
        return self._received["sequence_count"]

    @property
    def context(self) -> dict[str, Any]:
        """What belongs to whole sequences, by name."""
        return self._received["contexts"]

    @property
    def sequences(self) -> dict[str, Any]:
        """The steps of the pieces, by name: tensors [batch, num_unroll, ...]."""
        return self._received["sequences"]

    def state(self, state_name: str) -> Tensor:
        """Gives the state before each piece.

        Args:
          state_name: The name of the state.

        Returns:
          A tensor [batch, ...].
        """
        return self._received["states"][state_name]

    def save_state(self, state_name: str, value: TensorLike, name: str | None = None) -> Operation:
        """Saves the state after each piece, for the next piece.

        Args:
          state_name: The name of the state.
          value: A tensor [batch, ...].
          name: The name scope of the operations.

        Returns:
          An operation that must run in every step that takes a batch.

        Raises:
          KeyError: If there is no such state.
        """
        if state_name not in self._received["states"]:
            raise KeyError(f"state was not declared: {state_name}")
        saver, before = self._state_saver, self._received["states"][state_name]
        with (
            name_scope(name, "InputQueueingStateSaver_SaveState", [value]),
            colocate_with(saver._running.queue_ref),
        ):
            value = constants.identity(value, name=f"convert_{state_name}")
            fits = debugging.Assert(
                reductions.reduce_all(binary.equal(shapes.shape(before), shapes.shape(value))),
                [f"Shape of tensor {value.name} should be: ", shapes.shape(before), shapes.shape(value)],
            )
            with control_dependencies([fits]):
                value = constants.identity(value, name="shape_checked")
            going_on = shapes.reshape(
                indexing.where_v2(binary.less(self.sequence + 1, self.sequence_count)), [-1]
            )
            return saver.barrier.insert_many(
                saver._component[f"state {state_name}"],
                indexing.gather(self.next_key, going_on),
                indexing.gather(value, going_on),
                name=f"BarrierInsertState_{state_name}",
            )


@export("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Divides sequences into pieces, and makes batches of pieces with the states before them.

    Args:
      batch_size: The number of pieces in a batch.
      num_unroll: The number of steps in a piece.
      input_length: The length of the sequence, a scalar int32.
      input_key: The key of the sequence, a scalar string, which no other has.
      input_sequences: What belongs to steps: a dictionary of tensors [steps, ...]; the number of steps,
        padding included, is a multiple of `num_unroll`.
      input_context: What belongs to the whole sequence: a dictionary of tensors.
      initial_states: The states before the first piece: a dictionary of tensors.
      capacity: How many sequences may be under way; any number if None.
      allow_small_batch: Whether the last batches may have fewer pieces.
      name: The name scope of the operations.

    Raises:
      TypeError: If something is not a dictionary, or of another type.
      ValueError: If there are no states or sequences, a shape is not known, or the capacity too small.
    """

    def __init__(
        self,
        batch_size: TensorLike,
        num_unroll: TensorLike,
        input_length: TensorLike,
        input_key: TensorLike,
        input_sequences: Mapping[str, TensorLike],
        input_context: Mapping[str, TensorLike],
        initial_states: Mapping[str, TensorLike],
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ):
        if capacity is not None and isinstance(batch_size, Tensor):
            room = checks.assert_greater_equal(
                casting.cast(capacity, dtypes.int64),
                casting.cast(batch_size, dtypes.int64),
                message="capacity needs to be >= batch_size.",
            )
            with control_dependencies([room]):
                input_key = constants.identity(input_key)
        elif capacity is not None and capacity < batch_size:
            raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
        if not isinstance(initial_states, Mapping):
            raise TypeError("initial_states must be a dictionary")
        if not initial_states:
            raise ValueError(
                "initial_states may not be empty: at least one state variable is required to properly "
                "enqueue split sequences to run in separate iterations"
            )
        check_names("state", initial_states)
        check_names("sequences", input_sequences)
        check_names("context", input_context)
        if not input_sequences:
            raise ValueError("must have at least one sequence tensor")
        self._batch_size, self._num_unroll = batch_size, num_unroll
        self._allow_small_batch = allow_small_batch
        self._prefetch_op: Operation | None = None
        self._next_batch: NextQueuedSequenceBatch | None = None
        self._running = FIFOQueue(capacity, dtypes=[dtypes.int32], shapes=[[]])
        given = [input_length, input_key, *input_sequences.values(), *input_context.values()]
        with (
            colocate_with(self._running.queue_ref),
            name_scope(name, "InputQueueingStateSaver", given) as self._scope,
        ):
            self._length = _scalar(input_length, "length", dtypes.int32)
            self._key = _scalar(input_key, "key", dtypes.string)
            self._states = _tensors("state", initial_states, 0)
            self._contexts = _tensors("context", input_context, 0)
            self._sequences = self._checked_sequences(_tensors("sequence", input_sequences, 1))
            self._make_barrier()

    def _checked_sequences(self, sequences: dict[str, Tensor]) -> dict[str, Tensor]:
        """Sequences of one length, of whole pieces, which is not less than that without padding."""
        padded = constants.identity(shapes.shape(next(iter(sequences.values())))[0], name="padded_length")
        with control_dependencies([whole_pieces(padded, self._num_unroll, f"Tensor {padded.name}")]):
            self._padded_length = constants.identity(padded, name="multiple_of_checked")
        long_enough = debugging.Assert(
            binary.less_equal(self._length, self._padded_length),
            [
                "Input length should be <= than length from sequences:",
                self._length,
                " vs. ",
                self._padded_length,
            ],
        )
        with control_dependencies([long_enough]):
            self._length = constants.identity(self._length)
        checked = {}
        for name, tensor in sequences.items():
            same = debugging.Assert(
                binary.equal(self._padded_length, shapes.shape(tensor)[0]),
                [
                    f"Dimension 0 of tensor labeled sorted_sequences_{name} should be: ",
                    self._padded_length,
                    ", shape received: ",
                    shapes.shape(tensor),
                ],
            )
            with control_dependencies([same]):
                checked[name] = constants.identity(tensor, name=f"dims_checked_sorted_sequences_{name}")
        return checked

    def _make_barrier(self) -> None:
        """The barrier has a component for each fact about a piece, each sequence, context and state."""
        components = {name: (dtypes.int32, []) for name in _PLACES} | {"next_key": (dtypes.string, [])}
        for name, tensor in self._sequences.items():
            components[f"sequence {name}"] = (tensor.dtype, [self._num_unroll, *tensor.shape.as_list()[1:]])
        for kind, tensors in (("context", self._contexts), ("state", self._states)):
            for name, tensor in tensors.items():
                components[f"{kind} {name}"] = (tensor.dtype, tensor.shape.as_list())
        self._component = {name: i for i, name in enumerate(components)}
        types, sizes = zip(*components.values(), strict=True)
        self._barrier = Barrier(types=list(types), shapes=list(sizes))

    @property
    def name(self) -> str:
        """The name scope of the operations."""
        return self._scope

    @property
    def barrier(self) -> Any:
        """The barrier that collects pieces."""
        return self._barrier

    @property
    def batch_size(self) -> Any:
        """The number of pieces in a batch."""
        return self._batch_size

    @property
    def num_unroll(self) -> Any:
        """The number of steps in a piece."""
        return self._num_unroll

    @property
    def prefetch_op(self) -> Operation:
        """The operation that takes in a sequence; for a `tf.train.QueueRunner`."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._scope, values=[self._barrier.barrier_ref]):
                self._prefetch_op = self._make_prefetch_op()
        return self._prefetch_op

    @property
    def next_batch(self) -> NextQueuedSequenceBatch:
        """The next batch; the same tensors each time."""
        _ = self.prefetch_op
        if self._next_batch is None:
            with name_scope(None), name_scope(self._scope, values=[self._barrier.barrier_ref]):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """Makes the operation after which no sequence is taken in.

        Args:
          cancel_pending_enqueues: Whether sequences that wait to be taken in are given up.
          name: The name of the operation.

        Returns:
          The operation.
        """
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            queue = self._running.close(cancel_pending_enqueues, "FIFOClose")
            return grouping.group(barrier, queue, name=scope)

    def _make_prefetch_op(self) -> Operation:
        count = self._padded_length // self._num_unroll
        place = creation.range(count)
        ones = creation.ones([count], dtype=dtypes.int32)
        left = binary.maximum(0, self._length - self._num_unroll * place)
        parts = [
            numbers.as_string(place, width=5, fill="0"),
            "_of_",
            numbers.as_string(count, width=5, fill="0"),
            ":",
            self._key,
        ]
        keys = joined.string_join(parts, name="StringJoinCurrentKeys")
        stop = joined.string_join(["STOP:", self._key], name="StringJoinStop")
        values = {
            "sequence": place,
            "sequence_count": count * ones,
            "next_key": joining.concat([slicing.slice(keys, [1], [-1]), [stop]], 0, name="concat_next_keys"),
            "length": binary.minimum(self._num_unroll, left),
            "total_length": self._length * ones,
        }
        for name, tensor in self._contexts.items():
            copies = joining.concat([[count], [1] * tensor.shape.ndims], 0)
            values[f"context {name}"] = tiling.tile(shapes.expand_dims(tensor, 0), copies)
        for name, tensor in self._sequences.items():
            sizes = joining.concat([[count], [self._num_unroll], tensor.shape.as_list()[1:]], 0)
            values[f"sequence {name}"] = shapes.reshape(tensor, sizes)

        def insert(component: str, keys: Tensor, value: Tensor) -> Operation:
            return self._barrier.insert_many(self._component[component], keys, value)

        inserts = {name: insert(name, keys, value) for name, value in values.items()}
        token = self._running.enqueue((_TOKEN,))
        # The first piece is complete with its state: not before there is room for the sequence.
        with control_dependencies([inserts["sequence"], token]):
            started = [
                insert(f"state {name}", joining.stack([keys[0]]), joining.stack([value]))
                for name, value in self._states.items()
            ]
        return grouping.group(token, *inserts.values(), *started, name="StateSaverPrefetchGroup")

    def _receive(self) -> dict[str, Any]:
        """The tensors of a batch, by what they are."""
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        found: dict[str, Any] = {"indices": indices, "key": keys}
        found.update({name: values[self._component[name]] for name in _PLACES})
        found["batch_size"] = shapes.squeeze(shapes.shape(found["length"]))
        for kind, tensors in (("context", self._contexts), ("sequence", self._sequences)):
            found[f"{kind}s"] = {name: values[self._component[f"{kind} {name}"]] for name in tensors}
        done = found["sequence"] + 1 >= found["sequence_count"]
        ended = self._running.dequeue_many(reductions.reduce_sum(casting.cast(done, dtypes.int32)))
        with control_dependencies([ended]):
            found["states"] = {
                name: constants.identity(values[self._component[f"state {name}"]]) for name in self._states
            }
        return found


# -------------------------------------------------------------------------------------- sparse sequences


def copied_to_pieces(context: SparseTensor, length: Tensor, num_unroll: int) -> SparseTensor:
    """A sparse context as a sparse sequence: the first step of each piece has it."""
    count = casting.cast(length // num_unroll, dtypes.int32)
    entries, rank = shapes.shape(context.indices)[0], shapes.shape(context.indices)[1]
    first = shapes.reshape(creation.range(0, length, num_unroll), [-1, 1, 1])
    indices = joining.concat(
        [
            tiling.tile(first, [1, entries, 1]),
            tiling.tile(shapes.expand_dims(context.indices, 0), [count, 1, 1]),
        ],
        2,
    )
    return SparseTensor(
        shapes.reshape(indices, [entries * count, rank + 1]),
        tiling.tile(context.values, [count]),
        joining.concat([[length], context.dense_shape], 0),
    )


def in_pieces(steps: SparseTensor, batch_size: Any, num_unroll: Tensor) -> SparseTensor:
    """The steps of a batch, one after the other, with an axis of pieces before that of their steps."""
    at = steps.indices[:, :1]
    piece = casting.cast(unary.floor(at / num_unroll), dtypes.int64)
    return SparseTensor(
        joining.concat([piece, at % num_unroll, steps.indices[:, 1:]], 1),
        steps.values,
        joining.concat([[casting.cast(batch_size, dtypes.int64)], [num_unroll], steps.dense_shape[1:]], 0),
    )
