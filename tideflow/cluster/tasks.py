"""The tasks of a cluster as a master sees them: this process itself, or somebody at an address."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from tensorboard.compat.proto.config_pb2 import RunMetadata

from tideflow.cluster.part import Spec
from tideflow.cluster.transport import Peer, Pending
from tideflow.cluster.wire import Message, error_message, size_of
from tideflow.cluster.worker import RunRequest, Worker
from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.devices import CPU, Device
from tideflow.runtime.rendezvous import DEAD, Parcel, Send, Wait
from tideflow.runtime.waiting import Limits


def task_name(job: str, index: int) -> str:
    """The name of a task, as device names begin."""
    return f"/job:{job}/replica:0/task:{index}"


def as_tensor(data: bytes) -> torch.Tensor:
    """Bytes as a message carries them."""
    return torch.from_numpy(np.frombuffer(bytearray(data), np.uint8))


def as_bytes(tensor: torch.Tensor) -> bytes:
    """The bytes that `as_tensor` has wrapped."""
    return tensor.numpy().tobytes()


def devices_message(devices: Sequence[Device]) -> Message:
    """Devices, for another process."""
    facts = [
        [d.name, d.device_type, d.index, d.memory_limit_bytes, d.incarnation, d.description] for d in devices
    ]
    return Message("devices", {"devices": facts})


def devices_of(message: Message) -> list[Device]:
    """The devices that another process tells of: they have names here, and no memory."""
    return [Device(*facts[:3], CPU, *facts[3:]) for facts in message.fields["devices"]]


class LocalTask:
    """The task that this process is."""

    is_local = True
    life = 0

    def __init__(self, worker: Worker):
        self.name = worker.task
        self.worker = worker

    def devices(self) -> Sequence[Device]:
        return self.worker.placement.devices

    def register(self, session: str, isolated: bool, spec: Spec, life: int) -> str:
        return self.worker.register(session, isolated, spec)

    def is_suspendable(self, session: str, part: str) -> bool:
        """Whether a part, where it waits, has its own thread wait."""
        return self.worker.part(session, part).is_suspendable

    def run(
        self, session: str, part: str, step: str, feeds: Sequence[Any], limits: Limits, send: Send, wait: Wait
    ) -> Sequence[Any]:
        """The values of a part; `send` takes what leaves for other tasks, `wait` waits for what they send."""
        own = limits.inner()
        own.trace = RunMetadata() if limits.trace is not None else None
        try:
            found = self.worker.part(session, part)
            values = self.worker.run(RunRequest(session, found, step, feeds, own, send, wait))
            own.rendezvous.flush()
            return values
        finally:
            if own.trace is not None:
                limits.trace.step_stats.MergeFrom(own.trace.step_stats)

    def close_session(self, session: str) -> None:
        self.worker.close_session(session)

    def reset(self, containers: Sequence[str]) -> None:
        self.worker.reset(containers)


class RemoteTask:
    """A task in another process."""

    is_local = False

    def __init__(self, name: str, peer: Peer):
        self.name = name
        self.peer = peer

    def devices(self) -> Sequence[Device]:
        return devices_of(self.peer.call(Message("devices")))

    @property
    def life(self) -> int:
        """Which of its lives was last met: a restarted task has another."""
        return self.peer.incarnation

    def register(self, session: str, isolated: bool, spec: Spec, life: int) -> str:
        fields = {
            "session": session,
            "isolated": isolated,
            "feeds": spec.feeds,
            "fetches": spec.fetches,
            "targets": spec.targets,
            "rules_off": spec.rules_off,
            "tasks": spec.tasks,
            "compress": spec.compress,
        }
        message = Message("register", fields, [as_tensor(spec.graph_def)])
        return self.peer.call(message, incarnation=life).fields["part"]

    def start(
        self,
        session: str,
        part: str,
        step: str,
        feeds: Sequence[Any],
        limits: Limits,
        life: int,
        home: str,
        on_message: Callable[[Message], None],
    ) -> Pending:
        """Begins a part; `result` of what it gives has the values. What the part sends to the task `home` may
        come ahead of them or with them: `on_message` takes it.
        """
        fields = {"session": session, "part": part, "step": step, "home": home, **fields_of(limits)}
        return self.peer.start(
            Message("run", fields, list(feeds)), limits, incarnation=life, on_message=on_message
        )

    def send(self, step: str, parcel: Parcel, compress: bool) -> None:
        """Sends values to the step's part there."""
        self.peer.post(tensors_message(step, parcel), compress=compress)

    def send_at_once(self, step: str, parcel: Parcel, compress: bool) -> bool:
        """The same for who must not wait; whether it was sent."""
        return is_little(parcel) and self.peer.post_at_once(tensors_message(step, parcel), compress=compress)

    def end_step(self, step: str, error: OpError) -> None:
        """Tells the task that a step has failed."""
        self.peer.post(Message("abort", {"step": step, "error": error_message(error).fields}))

    def stop_step(self, step: str, error: OpError) -> Pending:
        """The same, from its master; answered when nothing of it runs there any more."""
        fields = {"step": step, "error": error_message(error).fields}
        return self.peer.start(Message("stop_step", fields), Limits())

    def close_session(self, session: str) -> None:
        self.peer.post(Message("close_session", {"session": session}))

    def reset(self, containers: Sequence[str]) -> None:
        self.peer.call(Message("reset", {"containers": list(containers)}))


Task = LocalTask | RemoteTask


def fields_of(limits: Limits) -> dict[str, Any]:
    """What a message tells of the limits of a step: how long it may take, and whether it is traced."""
    traced = limits.trace is not None
    if limits.deadline is None:
        return {"seconds": None, "traced": traced}
    left = limits.deadline - time.monotonic()
    if left <= 0:
        raise errors.deadline_exceeded(f"The step was given {limits.seconds:g} s, which are over.")
    return {"seconds": left, "traced": traced}


def limits_of(message: Message) -> Limits:
    """The limits of the step that a message asks for."""
    seconds = message.fields["seconds"]
    trace = RunMetadata() if message.fields["traced"] else None
    if seconds is None:
        return Limits(trace=trace)
    return Limits(time.monotonic() + seconds, seconds, trace=trace)


def values_message(values: Sequence[Any], limits: Limits, parcel: Parcel = ()) -> Message:
    """The values that a step gave, its trace where it was asked for one, and what it sends to the asker."""
    trace = [] if limits.trace is None else [as_tensor(limits.trace.SerializeToString())]
    keys, sent = _packed(parcel)
    return Message("values", {"keys": keys} if keys else {}, [*values, *trace, *sent])


def values_of(message: Message, limits: Limits) -> list[Any]:
    """The values in the answer to a step; a trace goes where it was asked for."""
    if limits.trace is None:
        return message.tensors
    *values, trace = message.tensors
    limits.trace.MergeFrom(RunMetadata.FromString(as_bytes(trace)))
    return values


# ------------------------------------------------------------------------------------------------- parcels

_LITTLE_BYTES = 128 << 10


def is_little(parcel: Parcel) -> bool:
    """Whether a parcel may travel beside a request, where nobody counts what is under way."""
    return sum(0 if value is DEAD else size_of(value) for _, value in parcel) <= _LITTLE_BYTES


def tensors_message(step: str, parcel: Parcel, kind: str = "tensors") -> Message:
    """What a part of a step sends to another task."""
    keys, tensors = _packed(parcel)
    return Message(kind, {"step": step, "keys": keys}, tensors)


def unpack(message: Message) -> Parcel:
    """Takes what a message carries for the step's part on the task that it came to."""
    keys = message.fields.get("keys", ())
    first = len(message.tensors) - len(keys)
    tensors, message.tensors = message.tensors[first:], message.tensors[:first]
    return [(key, DEAD if value is None else value) for key, value in zip(keys, tensors, strict=True)]


def _packed(parcel: Parcel) -> tuple[list[str], list[Any]]:
    return [key for key, _ in parcel], [None if value is DEAD else value for _, value in parcel]
