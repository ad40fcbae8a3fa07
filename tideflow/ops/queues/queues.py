"""Queues as ops: made in the graph, filled and emptied by steps, shared by name.

Each op type comes in two generations, with a reference to a string and with a resource as the handle; they
are the same otherwise. Enqueuing and dequeuing may wait: such an op is `blocking`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.session_objects import NAMED, REFERENCE, RESOURCE, found, held
from tideflow.runtime.queues import PaddingQueue, PriorityQueue, Queue, RandomShuffleQueue

_QUEUE = {
    "component_types": attr("list(type)", minimum=1),
    "shapes": attr("list(shape)", [], minimum=0),
    "capacity": -1,
    **NAMED,
}


def _alike(queue: Queue) -> dict[str, Any]:
    """What queues of one name have in common."""
    return {
        "type": queue.kind,
        "capacity": queue.capacity,
        "component types": [t.name for t in queue.dtypes],
        "component shapes": [str(s) for s in queue.shapes],
    }


OPS: dict[str, Op] = {}


def _maker(name: str, kind: type[Queue], attrs: dict[str, Any], options: tuple[str, ...] = ()) -> None:
    """Both generations of an op that makes a queue."""
    for handle, suffix in ((REFERENCE, ""), (RESOURCE, "V2")):
        op = Op(
            f"{name}{suffix}",
            f" -> handle: {handle}",
            stateful=True,
            handle=True,
            differentiable=False,
            **attrs,
        )
        op.shape(lambda handle=handle: [2] if handle == REFERENCE else [])

        def kernel(
            *,
            component_types,
            shapes,
            capacity,
            container,
            shared_name,
            resources,
            node,
            kind=kind,
            options=options,
        ):
            types = ([dtypes.int64] if kind is PriorityQueue else []) + list(component_types)
            sizes = ([TensorShape([])] if kind is PriorityQueue else []) + list(shapes)
            more = {key: node.attrs[key] for key in options}

            def make(name: str) -> Queue:
                return kind(name, types, sizes, capacity, resources.store.is_closed, **more)

            return found("queue", make, resources, node, _alike)

        op.kernel(kernel)
        op.samples(covered_by="tests/queues/test_queues.py")
        OPS[op.name] = op


_maker("FIFOQueue", Queue, _QUEUE)
_maker("PaddingFIFOQueue", PaddingQueue, _QUEUE)
_PRIORITY = {
    **_QUEUE,
    "component_types": attr("list(type)", [], minimum=0),
    "shapes": attr("list(shape)", minimum=0),
}
_maker("PriorityQueue", PriorityQueue, _PRIORITY)
_SHUFFLE = {"min_after_dequeue": 0, "seed": 0, "seed2": 0}
_maker("RandomShuffleQueue", RandomShuffleQueue, {**_QUEUE, **_SHUFFLE}, tuple(_SHUFFLE))


def _method(name: str, rest: str, shape: Callable, kernel: Callable, **options: Any) -> None:
    """Both generations of an op that does something with a queue."""
    takes, _, gives = rest.partition("->")
    for handle, suffix in ((REFERENCE, ""), (RESOURCE, "V2")):
        signature = f"handle: {handle}{', ' + takes.strip() if takes.strip() else ''}" + (
            f" -> {gives}" if gives else ""
        )
        op = Op(f"{name}{suffix}", signature, stateful=suffix == "V2", differentiable=False, **options)
        op.shape(shape)
        op.kernel(kernel)
        op.samples(covered_by="tests/queues/test_queues.py")
        OPS[op.name] = op


def _check_types(queue: Queue, types: list[dtypes.DType]) -> None:
    if tuple(types) != queue.dtypes:
        raise errors.invalid_argument(
            f"Expected component types {[t.name for t in queue.dtypes]} of queue '{queue.name}', but got "
            f"{[t.name for t in types]}",
        )


def _enqueue(handle, components, *, Tcomponents):
    queue = held(handle)
    _check_types(queue, Tcomponents)
    return queue.enqueue(components)


_TIMEOUT = {"timeout_ms": -1}
_PUT = {"Tcomponents": attr("list(type)", minimum=1), **_TIMEOUT, "suspendable": True}
_method("QueueEnqueue", "components: Tcomponents", lambda handle, components: [], _enqueue, **_PUT)


def _enqueue_many(handle, components, *, Tcomponents):
    queue = held(handle)
    _check_types(queue, Tcomponents)
    return queue.enqueue_many(components)


_method("QueueEnqueueMany", "components: Tcomponents", lambda handle, components: [], _enqueue_many, **_PUT)


def _dequeue(handle, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue()


_TAKE = {"component_types": attr("list(type)", minimum=1), **_TIMEOUT, "suspendable": True}
_method(
    "QueueDequeue",
    "-> components: component_types",
    lambda handle, *, component_types: [None] * len(component_types),
    _dequeue,
    **_TAKE,
)


def _dequeue_many(handle, n, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue_many(n)


def _batch_shape(handle, n, *, component_types):
    if n is not None and n < 0:
        raise ShapeError(f"Input 'n' must be >= 0, but is {n}")
    return [None] * len(component_types)


_method(
    "QueueDequeueMany",
    "n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_many,
    host="n",
    **_TAKE,
)


def _dequeue_up_to(handle, n, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue_many(n, up_to=True)


_method(
    "QueueDequeueUpTo",
    "n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_up_to,
    host="n",
    **_TAKE,
)


def _close(handle, *, cancel_pending_enqueues):
    held(handle).close(cancel_pending_enqueues)


_method("QueueClose", "", lambda handle: [], _close, cancel_pending_enqueues=False)

# A queue of the second generation for an op of the first.
fake_queue_op = Op(
    "FakeQueue",
    f"resource: resource -> handle: {REFERENCE}",
    stateful=True,
    on_host=True,
    differentiable=False,
)
fake_queue_op.shape(lambda resource: [2])
fake_queue_op.kernel(held)
fake_queue_op.samples(covered_by="tests/queues/test_queues.py")

_method(
    "QueueIsClosed",
    "-> is_closed: bool",
    lambda handle: [],
    lambda handle: torch.tensor(held(handle).closed),
)
_method(
    "QueueSize",
    "-> size: int32",
    lambda handle: [],
    lambda handle: torch.tensor(held(handle).size(), dtype=torch.int32),
)
