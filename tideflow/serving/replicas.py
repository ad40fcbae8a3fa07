"""A version of a model in worker processes, which are started, loaded, and started again when they die."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from tideflow.cluster.messages import Message, expect
from tideflow.graph import errors
from tideflow.graph.errors import DeadlineExceededError, OpError, UnavailableError
from tideflow.runtime.values import to_torch
from tideflow.serving.autoscaling import Autoscaling
from tideflow.serving.batching import Batch
from tideflow.serving.calls import Arrays, Signature
from tideflow.serving.servables import BatchedServable, Batching, Computed, Measured, Replica, takes
from tideflow.serving.worker_messages import BatchDone, LoadModel, ModelLoaded, RunBatch, arrays, from_wire
from tideflow.serving.worker_process import COURIERS, Starter, WorkerProcess

# Seconds before a worker that died is started again: longer each time, where it dies before it has answered.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0

_log = logging.getLogger("tideflow.serving")


class WorkerReplica:
    """One process with the model of a version, whichever process that is by now.

    `loaded` is called after the first load only, with the worker's answer or with the error.
    """

    def __init__(self, workers: Starter, load: LoadModel, loaded: Callable[[ModelLoaded | OpError], None]):
        self._workers, self._load, self._first_loaded = workers, load, loaded
        self._label = f"{load.name}:{load.version}"
        self._loop = asyncio.get_running_loop()
        self._pause = 0.0
        self._has_answered = False  # the process that it is now
        self._is_closed = False
        self._has_loaded = False
        self._retry: asyncio.TimerHandle | None = None
        self.shell: Replica | None = None  # once the version serves
        self.went_down: Callable[[Replica], None] = lambda shell: None
        self._start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def where(self) -> str:
        """The process, in words; nothing for one on another machine."""
        return f", in process {self.pid}" if self.pid else ""

    def compute(self, batch: Batch, computed: Computed) -> None:
        """Sends a batch to the worker."""
        inputs, outputs = batch.inputs(), batch.outputs
        message = _run_batch(batch.signature, inputs, outputs)
        self._process.request(message, partial(self._answered, outputs, computed))

    def _answered(self, outputs: tuple[str, ...], computed: Computed, answer: Message | OpError) -> None:
        if not isinstance(answer, OpError):
            self._has_answered = True
            try:
                computed(arrays(outputs, expect(answer, BatchDone).tensors))
                return
            except OpError as error:
                answer = error
        computed(answer)

    def warm_up(self, calls: Iterable[tuple[str, Arrays, tuple[str, ...]]], done: Callable[[], None]) -> None:
        """Has the worker compute calls, whose answers are dropped."""
        messages = [_run_batch(*call) for call in calls]
        one_done = _after(len(messages), done)
        for message in messages:
            self._process.request(message, one_done)
        if not messages:
            done()

    def close(self) -> None:
        """Ends the process for good."""
        self._is_closed = True
        if self._retry is not None:
            self._retry.cancel()
        self._process.stop()

    # ---- its life

    def _start(self) -> None:
        self._has_answered = False
        self._process = process = self._workers.start(self._label, lambda code: self._ended(process, code))
        process.request(self._load, partial(self._loaded, process))

    def _loaded(self, process: WorkerProcess, answer: Message | OpError) -> None:
        if process is not self._process:
            return
        if isinstance(answer, DeadlineExceededError) and self._load.compile_seconds:
            _log.warning("%s is not compiled ahead: %s", self._label, answer.message)
            self._load = msgspec.structs.replace(self._load, compile_seconds=0.0)
            process.stop()
            self._start()
            return
        # If this worker dies, calls wait for the next one.
        self._load = msgspec.structs.replace(self._load, in_background=False)
        try:
            if isinstance(answer, OpError):
                raise answer
            outcome: ModelLoaded | OpError = expect(answer, ModelLoaded)
        except OpError as error:
            outcome = error
        if not self._has_loaded:
            self._has_loaded = not isinstance(outcome, OpError)
            self._is_closed |= not self._has_loaded
            if not self._has_loaded:
                self._process.stop()
            self._first_loaded(outcome)
        elif isinstance(outcome, OpError):
            _log.error("%s does not load again: %s", self._label, outcome.message)
            self._process.stop()
        elif self.shell is not None:
            _log.info("%s serves again%s", self._label, self.where)
            self.shell.is_up = True
            self.shell.look_soon()

    def _ended(self, process: WorkerProcess, code: int) -> None:
        if self._is_closed or process is not self._process:
            return
        how = f"by signal {code - 128}" if code > 128 else f"with exit code {code}"
        again = 0.0 if self._has_answered else 2 * self._pause
        self._pause = min(max(FIRST_PAUSE, again), LONGEST_PAUSE)
        _log.error("the worker of %s ended %s; another one starts in %g s", self._label, how, self._pause)
        if self.shell is not None:
            self.shell.is_up = False
            self.went_down(self.shell)
        self._retry = self._loop.call_later(self._pause, self._start)


def _run_batch(signature: str, inputs: Arrays, outputs: tuple[str, ...]) -> RunBatch:
    tensors = [to_torch(array) for array in inputs.values()]
    return RunBatch(signature=signature, inputs=list(inputs), outputs=list(outputs), tensors=tensors)


class WorkerServable(BatchedServable):
    """A version in worker processes. `ready` is called once all of them have loaded, or one could not."""

    def __init__(
        self,
        workers: Starter,
        load: LoadModel,
        batching: Batching,
        measured: Measured,
        ready: Callable[[ModelLoaded | OpError], None],
        count: int = 1,
    ):
        super().__init__(load.name, load.version, {})
        self._workers, self._load = workers, load
        self._batching, self._measured, self._ready = batching, measured, ready
        self._missing = count
        self._is_growing = False
        self.workers = [WorkerReplica(workers, load, self._one_loaded) for _ in range(count)]

    def _one_loaded(self, outcome: ModelLoaded | OpError) -> None:
        if isinstance(outcome, OpError):
            if self._missing > 0:
                self._missing = 0
                self.close()
                self._ready(_named(outcome, self.workers[0]))
            return
        self._missing -= 1
        if self._missing == 0:
            self._serve(from_wire(outcome.signatures))
            self._ready(outcome)

    def _serve(self, signatures: dict[str, Signature]) -> None:
        self.signatures = signatures
        for worker in self.workers:
            self._put_to_work(worker)

    def _put_to_work(self, worker: WorkerReplica) -> None:
        shell = Replica(self._batching.queue(self.signatures, COURIERS), worker.compute, self._measured)
        worker.shell, worker.went_down = shell, self._hand_over
        self.replicas.append(shell)

    # ---- more and fewer

    def scale(self, scaling: Autoscaling, now: float) -> None:
        """Has as many replicas as the queues need. One is added, or taken away, at a time."""
        if self._is_growing or not self.replicas:
            return
        waiting = sum(replica.queue.rows_queued for replica in self.replicas)
        limit = max(replica.queue.sizes.limit for replica in self.replicas)
        wanted = scaling.wanted(len(self.replicas), waiting, limit, now)
        if wanted > len(self.replicas):
            self._is_growing = True
            self.workers.append(WorkerReplica(self._workers, self._load, self._grown))
        elif wanted < len(self.replicas):
            self._shrink()

    def _grown(self, outcome: ModelLoaded | OpError) -> None:
        self._is_growing = False
        if isinstance(outcome, OpError):
            self.workers.pop()
            _log.error("%s:%d has no further replica: %s", self.name, self.version, outcome.message)
            return
        self._put_to_work(self.workers[-1])
        _log.info("%s:%d has %d replicas", self.name, self.version, len(self.replicas))

    def _shrink(self) -> None:
        worker, shell = self.workers.pop(), self.replicas.pop()
        _log.info("%s:%d has %d replicas", self.name, self.version, len(self.replicas))
        self._hand_over(shell)
        shell.on_idle = worker.close
        shell.look_soon()

    def _hand_over(self, down: Replica) -> None:
        """What waits for a worker that died goes to one that is alive."""
        alive = [replica for replica in self.replicas if replica.is_up]
        if alive:
            other = min(alive, key=lambda replica: replica.queue.load)
            other.queue.adopt(down.queue.drain())
            other.look_soon()

    def warm_up(self, calls: Iterable[tuple[str, Arrays, tuple[str, ...]]], done: Callable[[], None]) -> None:
        """Has every worker compute recent calls of another version, as far as this one takes them."""
        fitting = [call for call in calls if takes(self.signatures, *call)]
        one_done = _after(len(self.workers), done)
        for worker in self.workers:
            worker.warm_up(fitting, one_done)

    def close(self) -> None:
        """Ends the processes; calls that still wait are answered by an error."""
        for worker in self.workers:
            worker.close()
        for replica in self.replicas:
            replica.is_up = False
            replica.give_up(errors.unavailable(f"{self.name}:{self.version} has been unloaded."))


def _after(calls: int, done: Callable[[], None]) -> Callable[..., None]:
    """A function whose last call of so many calls `done`."""
    left = calls

    def one_done(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            done()

    return one_done


def _named(error: OpError, worker: WorkerReplica) -> OpError:
    """An error of loading; of a worker that ended, it says so."""
    if isinstance(error, UnavailableError):
        return errors.unavailable(f"The worker ended while it loaded the model{worker.where}.")
    return error
