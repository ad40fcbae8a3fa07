"""The process of one version of a model, started by the server (`fork_server.py`).

It loads the model that the server names, and answers batches, one at a time, on its main thread: the
listener's thread only queues them.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from functools import partial, singledispatchmethod
from typing import TypeVar

import numpy as np

from tideflow.cluster import keys
from tideflow.cluster.listener import Listener, Reply
from tideflow.cluster.messages import Message
from tideflow.cluster.protocol import Sender
from tideflow.cluster.wire import failure_of
from tideflow.graph import errors
from tideflow.process import run_last
from tideflow.runtime.values import to_torch
from tideflow.serving import worker_messages
from tideflow.serving.model_kinds import load_model, needs_main_thread
from tideflow.serving.models import Model, compile_ahead
from tideflow.serving.saved_model_servable import SavedModel, compute
from tideflow.serving.warmup import warm_up
from tideflow.serving.worker_messages import BatchDone, LoadModel, ModelLoaded, RunBatch, arrays, to_wire

Loaded = TypeVar("Loaded")


class Worker:
    """Answers the messages of one server, in their order."""

    def __init__(self) -> None:
        self._model: Model | None = None

    @singledispatchmethod
    def answer(self, message: Message) -> Message:
        """The answer to a request."""
        raise errors.invalid_argument(f"'{message.kind}' is nothing that a worker is asked for.")

    @answer.register
    def _load(self, message: LoadModel) -> Message:
        in_thread = message.in_background and not needs_main_thread(message.path, message.platform)
        self._model, loaded = _in_background(partial(_load, message)) if in_thread else _load(message)
        return loaded

    @answer.register
    def _run(self, message: RunBatch) -> Message:
        outputs = tuple(message.outputs)
        begin = time.perf_counter()
        found = compute(self._loaded(), message.signature, arrays(message.inputs, message.tensors), outputs)
        seconds = time.perf_counter() - begin
        tensors = [to_torch(np.asarray(found[name])) if name in found else None for name in outputs]
        return BatchDone(seconds=seconds, tensors=tensors)

    def _loaded(self) -> Model:
        if self._model is None:
            raise errors.failed_precondition("The worker has no model yet.")
        return self._model


def _load(message: LoadModel) -> tuple[Model, ModelLoaded]:
    """The model of a version, compiled and warmed up, and what that was measured to cost."""
    before, begin = resident_bytes(), time.process_time()
    model = load_model(message.path, message.platform, tags=message.tags, trusted=message.trusted)
    load_seconds = time.process_time() - begin
    is_steady = isinstance(model, SavedModel) and model.is_steady()
    may_hang = isinstance(model, SavedModel) and not is_steady
    batch_seconds = _compiled(model, message.compile_seconds) if may_hang else compile_ahead(model)
    warmed_up, begin = 0, time.perf_counter()
    if message.warm_up:
        iterations, checks_names = message.warm_up_iterations, message.checks_method_names
        warmed_up = warm_up(model, message.warm_up, iterations, checks_names=checks_names)
    return model, ModelLoaded(
        signatures=to_wire(model.signatures),
        load_seconds=load_seconds,
        batch_seconds=batch_seconds,
        memory=max(0, resident_bytes() - before),
        is_steady=is_steady,
        warmed_up=warmed_up,
        warm_up_seconds=time.perf_counter() - begin,
    )


def _compiled(model: Model, seconds: float) -> float | None:
    """What `compile_ahead` returns; None at once if it has no time. A loop, or an operation that waits, may
    have no end for values that are made up: this process, where it goes on, is of no use then.
    """
    if not seconds:
        return None
    thread = ThreadPoolExecutor(1, "compile")
    compiling = thread.submit(compile_ahead, model)
    thread.shutdown(wait=False)
    try:
        return compiling.result(seconds)
    except TimeoutError:
        raise errors.deadline_exceeded(f"A batch of zeros took more than {seconds:g} s.") from None


def _in_background(work: Callable[[], Loaded]) -> Loaded:
    """What a function returns, called in a thread of the lowest priority.

    That is the thread's own affair, on Linux. A whole process could not have its old priority back.
    """
    with ThreadPoolExecutor(1, "load", run_last) as thread:
        return thread.submit(work).result()


def resident_bytes() -> int:
    """The memory of this process that no other process shares, as far as the system tells."""
    with open("/proc/self/statm") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    return (resident - shared) * 4096


def main(listening: Callable[[str], None], host: str = "127.0.0.1") -> None:
    """Serves until the process is ended; `listening` is called with its address."""
    requests: queue.SimpleQueue[tuple[Message, Reply]] = queue.SimpleQueue()

    def receive(message: Message, reply: Reply | None, sender: Sender) -> None:
        if reply is not None:
            requests.put((message, reply))

    worker = Worker()
    listener = Listener(f"{host}:0", receive, kinds=worker_messages.KINDS, key=keys.from_environment())
    listening(listener.address)
    while True:
        message, reply = requests.get()
        try:
            answer = worker.answer(message)
        except (
            errors.UnavailableError
        ) as error:  # a model's own; the transport's means that this process ended
            answer = failure_of(errors.internal(error.message))
        except Exception as error:
            answer = failure_of(error)
        reply(answer)
        del message, reply, answer  # no batch is kept while the worker waits for the next
