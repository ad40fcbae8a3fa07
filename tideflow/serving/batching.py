"""Which calls a replica computes together, and when. Events in, batches out: no clocks, threads or sockets.

One queue stands before each replica. It is ordered by deadline, and holds calls that may share a batch in
one lane. The server adds calls, takes batches until there is none to take, answers the calls that `late`
names, and looks again at `wake_at`, or when it adds a call or a batch has finished.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.serving.batch_sizes import BatchSizes, FixedSize
from tideflow.serving.calls import Array, Arrays, Call, Signature


class Reason(enum.Enum):
    """Why a batch was closed."""

    FULL = "it had as many rows as a batch may have"
    IDLE = "the replica was idle, and batches are not delayed"
    TIMEOUT = "its first call had waited for as long as batches are delayed"
    DEADLINE = "its first call would have been late after more waiting"
    ALONE = "calls of this signature are not computed together"


@dataclass(frozen=True)
class BatchingOptions:
    """What a queue does beside limiting batches. `from_parameters` reads TensorFlow Serving's parameters."""

    delay: float = 0.0  # seconds that a batch which is not full waits for more calls
    max_queued_rows: int = 100_000
    max_running: int = 1  # batches that the replica gets at once
    max_call_rows: int | None = None  # larger calls are refused
    splits: bool = False  # whether a call above the limit is computed in pieces
    allowed_sizes: tuple[int, ...] = ()  # a batch is padded to the next of these
    pads_inputs: bool = False  # whether inputs of several lengths share a batch, padded to the longest
    max_tries: int = 2  # how often a call is given to a replica that dies of it

    def padded(self, rows: int) -> int:
        """The rows that a batch of so many is padded to."""
        return next((size for size in self.allowed_sizes if size >= rows), rows) if rows else 0


def from_parameters(
    *,
    max_batch_size: int = 1000,
    batch_timeout_micros: int = 0,
    max_enqueued_batches: int = 10,
    num_batch_threads: int = 1,
    allowed_batch_sizes: Iterable[int] = (),
    enable_large_batch_splitting: bool = False,
    max_execution_batch_size: int | None = None,
    pad_variable_length_inputs: bool = False,
) -> tuple[FixedSize, BatchingOptions]:
    """The fixed size and the options that TensorFlow Serving's BatchingParameters mean."""
    sizes = tuple(allowed_batch_sizes)
    limit = max_execution_batch_size or max_batch_size if enable_large_batch_splitting else max_batch_size
    counts = (max_batch_size, limit, max_enqueued_batches, num_batch_threads)
    if min(counts) < 1 or batch_timeout_micros < 0:
        raise errors.invalid_argument(
            "max_batch_size, max_execution_batch_size, max_enqueued_batches and num_batch_threads must be "
            "positive, batch_timeout_micros must not be negative"
        )
    if limit > max_batch_size:
        raise errors.invalid_argument(
            f"max_execution_batch_size ({limit}) must not be above max_batch_size ({max_batch_size})"
        )
    if any(after <= before for before, after in itertools.pairwise(sizes)):
        raise errors.invalid_argument("allowed_batch_sizes entries must be monotonically increasing")
    if sizes and (sizes[0] < 1 or sizes[-1] != limit):
        name = "max_execution_batch_size" if enable_large_batch_splitting else "max_batch_size"
        raise errors.invalid_argument(f"final entry in allowed_batch_sizes must equal {name} ({limit})")
    return FixedSize(limit), BatchingOptions(
        delay=batch_timeout_micros / 1e6,
        max_queued_rows=max_enqueued_batches * limit,
        max_running=num_batch_threads,
        max_call_rows=max_batch_size,
        splits=enable_large_batch_splitting,
        allowed_sizes=sizes,
        pads_inputs=pad_variable_length_inputs,
    )


# --------------------------------------------------------------------------------------------- what is queued


@dataclass(slots=True)
class _Parts:
    """The outputs of the pieces that a large call was cut into."""

    missing: int
    outputs: list[tuple[int, Arrays]] = field(default_factory=list)


class Piece(NamedTuple):
    """Rows of a call, most often all of them. Pieces are ordered by deadline, then by arrival."""

    deadline: float
    order: int
    arrived: float
    call: Call
    begin: int
    end: int
    tries: int = 0
    parts: _Parts | None = None

    def deliver(self, outputs: Arrays) -> None:
        """Gives the call its outputs, once those of all its pieces are there."""
        call = self.call
        if call.is_cancelled:
            return
        if self.parts is not None:
            parts = self.parts
            parts.outputs.append((self.begin, outputs))
            parts.missing -= self.end - self.begin
            if parts.missing:
                return
            pieces = [each for _, each in sorted(parts.outputs, key=lambda part: part[0])]
            outputs = {name: np.concatenate([piece[name] for piece in pieces]) for name in outputs}
        call.done(outputs)

    def fail(self, error: OpError) -> None:
        """Gives the call an error. Its other pieces are not computed any more, nor answered."""
        if not self.call.is_cancelled:
            if self.parts is not None:
                self.call.is_cancelled = True
            self.call.done(error)


@dataclass(slots=True, eq=False)
class Batch:
    """Pieces of calls of one signature, to be computed together."""

    signature: str
    pieces: list[Piece]
    rows: int
    padded_rows: int
    limit: int
    reason: Reason
    taken_at: float
    outputs: tuple[str, ...]  # all that any of the calls wants

    @property
    def waited(self) -> float:
        """The seconds that the first of its calls to come has waited."""
        return self.taken_at - min(piece.arrived for piece in self.pieces)

    def explained(self) -> str:
        """Why this batch has the size that it has."""
        return f"{self.rows} of at most {self.limit} rows: {self.reason.value}"

    def inputs(self) -> Arrays:
        """The inputs of all rows, padded. Those of one whole call are its own arrays, not copied."""
        inputs = self.pieces[0].call.inputs
        if self.reason is Reason.ALONE:
            return inputs
        return {
            name: _joined([_rows_of(piece, name) for piece in self.pieces], self.padded_rows)
            for name in inputs
        }

    def deliver(self, outputs: Arrays) -> None:
        """Gives each call its rows of the outputs. Where one's `done` raises, the others still get theirs."""
        wrong = self._wrong(outputs)
        if wrong is not None:
            self.fail(wrong)
            return
        if self.reason is Reason.ALONE:
            piece = self.pieces[0]
            piece.deliver({name: outputs[name] for name in piece.call.outputs})
            return
        trouble: Exception | None = None
        begin = 0
        for piece in self.pieces:
            end = begin + piece.end - piece.begin
            try:
                piece.deliver({name: outputs[name][begin:end] for name in piece.call.outputs})
            except Exception as error:
                trouble = error
            begin = end
        if trouble is not None:
            raise trouble

    def _wrong(self, outputs: Arrays) -> OpError | None:
        for name in self.outputs:
            array = outputs.get(name)
            if array is None:
                return errors.internal(f"the model gave no output '{name}'")
            if self.reason is Reason.ALONE:
                continue
            if array.ndim == 0:
                return errors.failed_precondition("Batched output tensor has 0 dimensions")
            if array.shape[0] != self.padded_rows:
                return errors.failed_precondition(
                    "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes "
                    f"of the input tensors: '{name}' has {array.shape[0]} rows, the inputs {self.padded_rows}"
                )
        return None

    def fail(self, error: OpError) -> None:
        """Gives each call the error."""
        for piece in self.pieces:
            piece.fail(error)


def _rows_of(piece: Piece, name: str) -> Array:
    array = piece.call.inputs[name]
    return array if piece.parts is None else array[piece.begin : piece.end]


def _joined(arrays: list[Array], rows: int) -> Array:
    """The arrays one below the other. A shorter one is padded by its first value, too few rows by a row."""
    if any(array.shape[1:] != arrays[0].shape[1:] for array in arrays):
        sizes = np.max([array.shape[1:] for array in arrays], axis=0)
        arrays = [_padded(array, sizes) for array in arrays]
    missing = rows - sum(array.shape[0] for array in arrays)
    if missing:
        row = next(array[:1] for array in arrays if len(array))
        arrays = [*arrays, np.repeat(row, missing, axis=0)]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _padded(array: Array, sizes: Array) -> Array:
    if array.size == 0:
        return np.zeros((array.shape[0], *sizes), array.dtype)
    result = np.full((array.shape[0], *sizes), array.flat[0], array.dtype)
    result[tuple(map(slice, array.shape))] = array
    return result


def lanes(signatures: Mapping[str, Signature], pads_inputs: bool = False) -> Callable[[Call], Hashable]:
    """The function that says which calls may share a batch: those with equal keys, but for None."""
    keys: dict[str, Callable[[Call], Hashable]] = {}

    def by_shapes(call: Call) -> Hashable:
        return (call.signature, *(array.shape[1:] for array in call.inputs.values()))

    def by_ranks(call: Call) -> Hashable:
        return (call.signature, *(array.ndim for array in call.inputs.values()))

    for name, signature in signatures.items():
        if not signature.is_batchable or not signature.inputs:
            keys[name] = lambda call: None
        elif all(spec.shape is not None and None not in spec.shape[1:] for spec in signature.inputs.values()):
            keys[name] = lambda call: call.signature
        else:
            keys[name] = by_ranks if pads_inputs else by_shapes

    def lane(call: Call) -> Hashable:
        key = keys.get(call.signature)
        return key and key(call)  # a call of the graph's own tensors has no signature

    return lane


# ------------------------------------------------------------------------------------------------ the machine


@dataclass(slots=True, eq=False)
class _Lane:
    """Pieces that may share a batch, as a heap."""

    key: Hashable
    since: float  # when the oldest call came
    rows: int = 0
    heap: list[Piece] = field(default_factory=list)


class BatchQueue:
    """The calls that wait for one replica.

    `sizes` limits the rows of a batch, and `lane` says which calls may share one (`lanes` makes it).
    """

    def __init__(
        self,
        sizes: BatchSizes,
        options: BatchingOptions = BatchingOptions(),
        lane: Callable[[Call], Hashable] = lambda call: call.signature,
    ) -> None:
        self.sizes = sizes
        self.options = options
        self.rows_queued = 0
        self.rows_running = 0
        self.running = 0
        self._lane_of = lane
        self._lanes: dict[Hashable, _Lane] = {}
        self._late: list[Piece] = []
        self._order = 0
        self._batch_seconds = 0.0  # of the latest batch
        self._may_purge = True  # whether a batch was taken since the queue was purged

    @property
    def load(self) -> int:
        """The rows that wait or are being computed: a call goes to the replica with the least."""
        return self.rows_queued + self.rows_running

    def add(self, call: Call, now: float) -> None:
        """Queues a call. Raises ResourceExhaustedError where the queue is full."""
        options = self.options
        if options.max_call_rows is not None and call.rows > options.max_call_rows:
            raise errors.invalid_argument(
                f"Task size {call.rows} is larger than maximum input batch size {options.max_call_rows}"
            )
        if self.rows_queued + call.rows > options.max_queued_rows and self.rows_queued:
            self._purge()
            if self.rows_queued + call.rows > options.max_queued_rows and self.rows_queued:
                raise errors.resource_exhausted(
                    "The batch scheduling queue to which this task was submitted is full; "
                    f"{self.rows_queued} rows wait, and it may hold {options.max_queued_rows}"
                )
        self._order += 1
        self._push(Piece(call.deadline, self._order, now, call, 0, call.rows))

    def _push(self, piece: Piece) -> None:
        key = self._lane_of(piece.call)
        if piece.tries and key is not None:
            key = (key, piece.order, piece.begin)  # a lane of its own: it may be what killed the replica
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(key, piece.arrived)
        heappush(lane.heap, piece)
        rows = piece.end - piece.begin
        lane.rows += rows
        self.rows_queued += rows

    def take(self, now: float) -> Batch | None:
        """The next batch, or None where the replica has enough to do or no batch is to be closed yet."""
        for lane in tuple(self._lanes.values()):
            self._skim(lane, now)
        if self.running >= self.options.max_running:
            return None
        ready = [lane for lane in self._lanes.values() if self._ready_at(lane) <= now]
        if not ready:
            return None
        batch = self._closed(min(ready, key=lambda lane: lane.heap[0]) if len(ready) > 1 else ready[0], now)
        self.running += 1
        self.rows_running += batch.rows
        self._may_purge = True
        return batch

    def _skim(self, lane: _Lane, now: float) -> None:
        """Takes cancelled calls and those that are too late from the head of a lane."""
        heap = lane.heap
        while heap and (heap[0].call.is_cancelled or heap[0].deadline <= now):
            piece = self._pop(lane)
            if not piece.call.is_cancelled:
                self._late.append(piece)
        if not heap:
            del self._lanes[lane.key]

    def _pop(self, lane: _Lane) -> Piece:
        piece = heappop(lane.heap)
        rows = piece.end - piece.begin
        lane.rows -= rows
        self.rows_queued -= rows
        return piece

    def _ready_at(self, lane: _Lane) -> float:
        """When a batch of this lane is to be closed, if nothing happens before."""
        if not self.options.delay or lane.key is None or lane.rows >= self.sizes.limit:
            return -math.inf
        return min(lane.since + self.options.delay, lane.heap[0].deadline - 2 * self._batch_seconds)

    def _closed(self, lane: _Lane, now: float) -> Batch:
        """The batch of the lane whose turn it is. Its head is not cancelled."""
        limit, options, heap = self.sizes.limit, self.options, lane.heap
        reason = self._reason(lane, now)
        pieces: list[Piece] = []
        rows = 0
        while heap and rows < limit:
            piece = self._pop(lane)
            size = piece.end - piece.begin
            if piece.call.is_cancelled:
                continue
            if rows + size > limit and lane.key is not None and (rows or options.splits):
                reason = Reason.FULL
                if not options.splits:
                    self._push(piece)
                    break
                piece, rest = _cut(piece, limit - rows)
                size = limit - rows
                self._push(rest)
            pieces.append(piece)
            rows += size
            if lane.key is None:
                break
        if not heap:
            del self._lanes[lane.key]
        elif options.delay:
            lane.since = min(piece.arrived for piece in heap)
        if rows >= limit and lane.key is not None:
            reason = Reason.FULL
        padded = rows if lane.key is None else options.padded(rows)
        return Batch(pieces[0].call.signature, pieces, rows, padded, limit, reason, now, _all_outputs(pieces))

    def _reason(self, lane: _Lane, now: float) -> Reason:
        if lane.key is None:
            return Reason.ALONE
        if not self.options.delay:
            return Reason.IDLE
        return Reason.TIMEOUT if lane.since + self.options.delay <= now else Reason.DEADLINE

    def late(self) -> list[Piece]:
        """What the latest `take` found too late to be computed, and queued no more: to `fail`."""
        late, self._late = self._late, []
        return late

    def wake_at(self) -> float:
        """When to `take` again, if nothing happens before: a delay or a deadline ends. Never is infinity."""
        times = [lane.heap[0].deadline for lane in self._lanes.values()]
        if self.running < self.options.max_running:
            times += [self._ready_at(lane) for lane in self._lanes.values()]
        return min(times, default=math.inf)

    def finished(self, batch: Batch, seconds: float) -> None:
        """The replica has computed the batch, in so many seconds."""
        self._left(batch)
        self._batch_seconds = seconds
        if batch.reason is not Reason.ALONE:
            self.sizes.measured(batch.padded_rows, seconds, batch.reason is Reason.FULL)

    def _left(self, batch: Batch) -> None:
        self.running -= 1
        self.rows_running -= batch.rows

    def put_back(self, batch: Batch) -> list[Piece]:
        """The replica died with the batch. Its calls are queued again, but for those returned, to `fail`.

        Each is tried alone from now on. Those returned have been tried as often as they may be.
        """
        self._left(batch)
        given_up = []
        for piece in batch.pieces:
            if piece.tries + 1 < self.options.max_tries:
                self._push(piece._replace(tries=piece.tries + 1))
            else:
                given_up.append(piece)
        return given_up

    def drain(self) -> list[Piece]:
        """Takes all that waits, for the queue of another replica to `adopt`."""
        pieces = [piece for lane in self._lanes.values() for piece in lane.heap]
        self._lanes.clear()
        self.rows_queued = 0
        return pieces

    def adopt(self, pieces: Iterable[Piece]) -> None:
        """Queues what waited for another replica."""
        for piece in pieces:
            self._order += 1
            self._push(piece._replace(order=self._order))

    def _purge(self) -> None:
        """Drops cancelled calls, so that they do not fill the queue; at most once between batches."""
        if not self._may_purge:
            return
        self._may_purge = False
        for lane in tuple(self._lanes.values()):
            lane.heap = [piece for piece in lane.heap if not piece.call.is_cancelled]
            heapify(lane.heap)
            lane.rows = sum(piece.end - piece.begin for piece in lane.heap)
            if not lane.heap:
                del self._lanes[lane.key]
        self.rows_queued = sum(lane.rows for lane in self._lanes.values())


def _cut(piece: Piece, rows: int) -> tuple[Piece, Piece]:
    """The first rows of a piece, and the others."""
    parts = piece.parts or _Parts(missing=piece.call.rows)
    middle = piece.begin + rows
    return piece._replace(end=middle, parts=parts), piece._replace(begin=middle, parts=parts)


def _all_outputs(pieces: list[Piece]) -> tuple[str, ...]:
    first = pieces[0].call.outputs
    if all(piece.call.outputs == first for piece in pieces):
        return first
    return tuple(dict.fromkeys(name for piece in pieces for name in piece.call.outputs))
