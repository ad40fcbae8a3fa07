"""A version of a model that answers calls: queues before replicas, in this process or in workers.

`submit` only queues. What one turn of the event loop brought goes into a batch together, because the queue is
looked at in the next turn. Then the queue's machine (`batching.py`) says which calls go together, and the
replica computes them: at once, on the loop, where the model is tiny; otherwise in its process.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from tideflow.graph import errors
from tideflow.graph.errors import OpError, UnavailableError
from tideflow.process import return_freed_memory
from tideflow.serving.batch_sizes import AIMD, BatchSizes
from tideflow.serving.batching import Batch, BatchingOptions, BatchQueue, lanes
from tideflow.serving.calls import Arrays, Call, Signature
from tideflow.serving.models import Model
from tideflow.serving.saved_model_servable import compute

RECENT_CALLS = 16  # kept of a version, to warm up the next one
_RECENT_EVERY = 64
_RECENT_BYTES = 1 << 20  # of a call that is kept

_log = logging.getLogger("tideflow.serving")

Computed: TypeAlias = "Callable[[Arrays | OpError], None]"
Compute: TypeAlias = Callable[[Batch, Computed], None]


@dataclass(frozen=True)
class Batching:
    """How the queues of a version batch: a maker of sizes, one for each replica, and options."""

    sizes: Callable[[], BatchSizes] = lambda: AIMD(objective=0.010)
    options: BatchingOptions = field(default_factory=BatchingOptions)

    def queue(self, signatures: Mapping[str, Signature], running: int) -> BatchQueue:
        """A queue for a replica that gets up to `running` batches at a time, or what the options say."""
        options = replace(self.options, max_running=max(running, self.options.max_running))
        return BatchQueue(self.sizes(), options, lanes(signatures, options.pads_inputs))


Measured: TypeAlias = Callable[[Batch, float], None]  # called with each batch and the seconds that it took


class Replica:
    """A queue, and the function that computes its batches and calls back, on the loop's thread."""

    def __init__(self, queue: BatchQueue, compute: Compute, measured: Measured):
        self.queue, self._compute, self._measured = queue, compute, measured
        self._loop = asyncio.get_running_loop()
        self._now = time.monotonic  # the loop's own clock, but uvloop's shows whole milliseconds alone
        self._will_look = False
        self._timer: asyncio.Handle | None = None
        self._timer_at = math.inf
        self._last_end = 0.0
        self._alone = 0  # calls that are computed again, one by one
        self.is_up = True
        self.on_idle: Callable[[], None] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or is being computed."""
        return not (self.queue.load or self._alone or self.queue.running)

    def add(self, call: Call) -> None:
        """Queues a call, or refuses it."""
        try:
            self.queue.add(call, self._now())
        except OpError as error:
            call.done(error)
            return
        self.look_soon()

    def look_soon(self) -> None:
        """Has the loop look at the queue in its next turn."""
        if not self._will_look:
            self._will_look = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        self._will_look = False
        if not self.is_up:
            return
        queue, now = self.queue, self._now()
        batch = queue.take(now)
        for piece in queue.late():
            piece.fail(errors.deadline_exceeded("The deadline came before the call's turn in its queue."))
        if batch is not None:
            self._compute(batch, partial(self._computed, batch))
            self.look_soon()
        elif queue.rows_queued:
            self._look_at(max(now, queue.wake_at()))
        elif self.on_idle is not None and self.is_idle:
            self.on_idle()

    def _look_at(self, when: float) -> None:
        if when < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            # The time is kept here: uvloop's handle of a time that has come does not know it.
            self._timer_at, self._timer = when, self._loop.call_at(when, self._look_again)

    def _look_again(self) -> None:
        self._timer, self._timer_at = None, math.inf
        self._look()

    def _computed(self, batch: Batch, outcome: Arrays | OpError) -> None:
        now = self._now()
        # Where two batches are under way, the second one's time begins when the first one's has ended.
        seconds, self._last_end = now - max(batch.taken_at, self._last_end), now
        if isinstance(outcome, UnavailableError):  # the replica has died
            self.is_up = False
            for piece in self.queue.put_back(batch):
                piece.fail(outcome)
        else:
            self.queue.finished(batch, seconds)
            self._measured(batch, seconds)
            if not isinstance(outcome, OpError):
                batch.deliver(outcome)
            elif len(batch.pieces) == 1:
                batch.fail(outcome)
            else:
                self._compute_alone(batch)
        self.look_soon()

    def _compute_alone(self, batch: Batch) -> None:
        """Computes the calls of a failed batch one by one: one client's mistake is nobody else's error."""
        for piece in batch.pieces:
            if not piece.call.is_cancelled:
                rows = piece.end - piece.begin
                padded = self.queue.options.padded(rows)
                alone = replace(
                    batch, pieces=[piece], rows=rows, padded_rows=padded, outputs=piece.call.outputs
                )
                self._alone += 1
                self._compute(alone, partial(self._computed_alone, alone))

    def _computed_alone(self, batch: Batch, outcome: Arrays | OpError) -> None:
        self._alone -= 1
        if isinstance(outcome, OpError):
            batch.fail(outcome)
        else:
            batch.deliver(outcome)
        self.look_soon()

    def give_up(self, error: OpError) -> None:
        """Answers all that waits with an error."""
        for piece in self.queue.drain():
            piece.fail(error)


class BatchedServable:
    """A version whose calls go to the replica with the least to do."""

    def __init__(self, name: str, version: int, signatures: Mapping[str, Signature]):
        self.name, self.version, self.signatures = name, version, signatures
        self.replicas: list[Replica] = []
        self.recent: deque[tuple[str, Arrays, tuple[str, ...]]] = deque(maxlen=RECENT_CALLS)
        self._calls = 0

    def submit(self, call: Call) -> None:
        """Queues the call."""
        self._calls += 1
        if self._calls % _RECENT_EVERY == 1:
            self._keep(call)
        replicas = self.replicas
        if len(replicas) == 1:
            replicas[0].add(call)
        else:
            min(replicas, key=_load).add(call)

    def _keep(self, call: Call) -> None:
        if call.signature and sum(array.nbytes for array in call.inputs.values()) <= _RECENT_BYTES:
            self.recent.append((call.signature, call.inputs, call.outputs))

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or is being computed."""
        return all(replica.is_idle for replica in self.replicas)

    def when_idle(self, call: Callable[[], None]) -> None:
        """Calls a function once, as soon as no call waits or is being computed; none may come since."""

        def check() -> None:
            if self.is_idle and self.replicas:
                for replica in self.replicas:
                    replica.on_idle = None
                call()

        for replica in self.replicas:
            replica.on_idle = check
        asyncio.get_running_loop().call_soon(lambda: check() if self.replicas[0].on_idle is check else None)


def _load(replica: Replica) -> tuple[bool, int]:
    return not replica.is_up, replica.queue.load


class LocalServable(BatchedServable):
    """A tiny model, computed on the loop itself: no thread and no process stands between."""

    def __init__(self, name: str, version: int, model: Model, batching: Batching, measured: Measured):
        super().__init__(name, version, model.signatures)
        self._model = model
        self.replicas.append(Replica(batching.queue(model.signatures, 1), self._compute, measured))

    def _compute(self, batch: Batch, computed: Computed) -> None:
        try:
            outcome: Arrays | OpError = compute(self._model, batch.signature, batch.inputs(), batch.outputs)
        except UnavailableError as error:  # the model's own
            outcome = errors.internal(error.message)
        except OpError as error:
            outcome = error
        except Exception as error:
            _log.exception("%s:%d failed", self.name, self.version)
            outcome = errors.internal(f"{type(error).__name__}: {error}")
        computed(outcome)

    def warm_up(self, calls: Iterable[tuple[str, Arrays, tuple[str, ...]]]) -> None:
        """Computes recent calls of another version, as far as this one takes them."""
        for signature, inputs, outputs in calls:
            if takes(self.signatures, signature, inputs, outputs):
                try:
                    self._model.run(signature, inputs, outputs)
                except OpError:
                    continue

    def close(self) -> None:
        """Closes the model, and gives its memory back to the system."""
        self._model.close()
        return_freed_memory()


def takes(signatures: Mapping[str, Signature], key: str, inputs: Arrays, outputs: tuple[str, ...]) -> bool:
    """Whether a call of another version can be one of a model with these signatures."""
    signature = signatures.get(key)
    return (
        signature is not None
        and inputs.keys() == signature.inputs.keys()
        and set(outputs) <= signature.outputs.keys()
        and all(_fits(array, signature.inputs[name]) for name, array in inputs.items())
    )


def _fits(array: Any, spec: Any) -> bool:
    if array.dtype != spec.dtype.numpy:
        return False
    shape = spec.shape
    return shape is None or (
        len(shape) == array.ndim and all(want in (None, have) for want, have in zip(shape, array.shape))
    )
