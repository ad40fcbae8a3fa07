"""What a task does for the masters of other tasks: it runs its parts of their steps, and answers."""

from __future__ import annotations

from functools import partial
from typing import Any

from tideflow.cluster.dispatch import Dispatch
from tideflow.cluster.listener import Reply
from tideflow.cluster.messages import (
    AbortStep,
    CloseSession,
    Done,
    GetDevices,
    Message,
    PartRegistered,
    RegisterPart,
    RenewLease,
    Reset,
    RunPart,
    SendTensors,
    StopStep,
)
from tideflow.cluster.packing import (
    as_bytes,
    context_of,
    devices_message,
    is_small,
    parcel_of,
    tensors_ahead,
    values_message,
)
from tideflow.cluster.part import OnEnd, RegisteredPart
from tideflow.cluster.protocol import Sender
from tideflow.cluster.wire import error_of, failure_of
from tideflow.cluster.worker import STOP_SECONDS, RunRequest, Worker
from tideflow.cluster.worker_threads import WorkerThreads
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.rendezvous import Parcel
from tideflow.runtime.waiting import StepContext

_MAX_AHEAD = 16  # messages that a part sends to its master's task before its answer


class PartService:
    """Runs parts on a worker: quick ones on the listener's thread, the others on worker threads."""

    def __init__(self, worker: Worker, threads: WorkerThreads):
        self._worker, self._threads = worker, threads

    def serve(self, dispatch: Dispatch) -> None:
        """Registers the handlers of the messages that masters, and parts on other tasks, send."""
        dispatch.on_request(RunPart, self._run_part)
        dispatch.on_request(GetDevices, self._get_devices)
        dispatch.on_post(SendTensors, self._take_tensors)
        dispatch.on_post(AbortStep, self._abort_step)
        dispatch.on_post(CloseSession, self._close_session)
        dispatch.on_post(RenewLease, self._renew_lease)
        dispatch.on_slow_request(RegisterPart, self._register_part)
        dispatch.on_slow_request(StopStep, self._stop_step)
        dispatch.on_slow_request(Reset, self._reset)

    # ------------------------------------------------------------------ runs

    def _run_part(self, message: RunPart, reply: Reply) -> None:
        part = self._worker.part(message.session, message.part)
        whole = context_of(message.seconds, message.traced)
        router = _ReplyRouter(self, part, message.step, message.home, reply, whole)
        context = whole.inner()
        request = RunRequest(message.session, part, message.step, message.tensors, context, router.send)
        on_end = partial(router.end, context)
        if context.trace is None and part.is_quick(message.tensors):
            router.may_block = False
            self._worker.start(request, reply.call_soon, on_end)
        else:
            self._threads.submit(self._run_to_end, request, on_end)

    def _run_to_end(self, request: RunRequest, on_end: OnEnd) -> None:
        try:
            values = self._worker.run(request)
        except Exception as error:
            on_end((), error)
        else:
            on_end(values, None)

    def send(self, step: str, part: RegisteredPart, task: str, parcel: Parcel, context: StepContext) -> None:
        """Sends values of a step to its part on another task."""
        part.others[task].send(step, parcel, part.compress, context)

    def send_without_blocking(
        self, step: str, part: RegisteredPart, task: str, parcel: Parcel, context: StepContext
    ) -> None:
        """Sends values on a worker thread, unless they can leave without waiting."""
        if not part.others[task].try_send(step, parcel, part.compress):
            self._threads.submit(self._send_or_abort, step, part, task, parcel, context)

    def _send_or_abort(
        self, step: str, part: RegisteredPart, task: str, parcel: Parcel, context: StepContext
    ) -> None:
        """Sends values. No caller is left to which an error could be raised: the step is aborted with it."""
        try:
            self.send(step, part, task, parcel, context)
        except OpError as error:
            self._worker.abort_step(step, error)
            self.abort_elsewhere(step, part, error)

    def abort_elsewhere(self, step: str, part: RegisteredPart, error: Exception) -> None:
        """A part has failed: the parts on other tasks, which may wait for its values, are told why."""
        if not isinstance(error, OpError):
            error = errors.aborted(f"{self._worker.task} failed: {error!r}")
        for name in part.tasks:
            task = part.others.get(name)
            if task is not None:
                try:
                    task.abort_step(step, error)
                except OpError:
                    continue  # the task does not answer: nothing of the step waits there

    # ------------------------------------------------------------------ other messages

    def _get_devices(self, message: GetDevices, reply: Reply) -> None:
        reply(devices_message(self._worker.placement.devices))

    def _take_tensors(self, message: SendTensors, sender: Sender) -> None:
        self._worker.deliver(message.step, parcel_of(message), sender)

    def _abort_step(self, message: AbortStep, sender: Sender) -> None:
        self._worker.abort_step(message.step, error_of(message.error))

    def _stop_step(self, message: StopStep) -> Message:
        self._worker.abort_step(message.step, error_of(message.error))
        self._worker.wait_until_returned(message.step, STOP_SECONDS)
        return Done()

    def _close_session(self, message: CloseSession, sender: Sender) -> None:
        self._worker.close_session(message.session)

    def _renew_lease(self, message: RenewLease, sender: Sender) -> None:
        self._worker.renew_lease(message.session)

    def _register_part(self, message: RegisterPart) -> Message:
        (graph_def,) = message.tensors
        name = self._worker.register(
            message.session, message.isolated, message.part, as_bytes(graph_def), message.cluster
        )
        return PartRegistered(part=name)

    def _reset(self, message: Reset) -> Message:
        self._worker.reset(message.containers)
        return Done()


class _ReplyRouter:
    """Sends what one run of a part makes to where it belongs. Values for `home`, the task of the master that
    asked, go with the answer or ahead of it: the thread that waits for the answer takes them. Values for
    other tasks are posted.
    """

    def __init__(
        self,
        service: PartService,
        part: RegisteredPart,
        step: str,
        home: str,
        reply: Reply,
        context: StepContext,
    ):
        self._service, self._part, self._step, self._home, self._reply = service, part, step, home, reply
        self._context = context  # the whole step's: the part's has the rendezvous, which sends through this
        self._ahead = _MAX_AHEAD
        self.may_block = True  # whether the thread that runs the part may wait here

    def send(self, task: str, parcel: Parcel) -> None:
        """Sends values to the step's part on another task."""
        if task == self._home and self._ahead and is_small(parcel):
            self._ahead -= 1
            self._reply.ahead(tensors_ahead(parcel), compress=self._part.compress)
        elif self.may_block:
            self._service.send(self._step, self._part, task, parcel, self._context)
        else:
            self._service.send_without_blocking(self._step, self._part, task, parcel, self._context)

    def end(self, context: StepContext, values: tuple[Any, ...], error: Exception | None) -> None:
        """Answers, with the values or the error."""
        answer: Message
        try:
            if error is not None:
                raise error
            rendezvous = context.rendezvous
            assert rendezvous is not None
            # Fetched values are not compressed. Values that are to be compressed go ahead of the answer.
            rendezvous.flush(but="" if self._part.compress else self._home)
            answer = values_message(values, context, rendezvous.parcel_for(self._home))
        except Exception as failure:
            self._service.abort_elsewhere(self._step, self._part, failure)
            answer = failure_of(failure)
        self._reply(answer)
