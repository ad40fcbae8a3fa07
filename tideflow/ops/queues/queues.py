"""Queues as ops: made in the graph, filled and emptied by steps, shared by name.

Each op type comes in two generations, with a reference to a string and with a resource as the handle; they
are the same otherwise. Enqueuing and dequeuing may wait: such an op is `suspendable`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.session_objects import NAMED, REFERENCE, RESOURCE, component_facts, found, held
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
        **component_facts(queue.dtypes, queue.shapes),
        **queue.own_facts(),
    }


def _queue_op(name: str, handle: str, kind: type[Queue], options: tuple[str, ...] = (), **attrs: Any) -> Op:
    """An op that makes a queue; `options` are the attributes that this kind of queue takes beyond the common
    ones.
    """
    op = Op(name, f" -> handle: {handle}", stateful=True, handle=True, differentiable=False, **attrs)
    op.shape(lambda: [2] if handle == REFERENCE else [])

    @op.kernel
    def _kernel(*, component_types, shapes, capacity, container, shared_name, resources, node):
        types = ([dtypes.int64] if kind is PriorityQueue else []) + list(component_types)
        sizes = ([TensorShape([])] if kind is PriorityQueue else []) + list(shapes)
        more = {key: node.attrs[key] for key in options}

        def make(name: str) -> Queue:
            return kind(name, types, sizes, capacity, resources.store.is_closed, **more)

        return found("queue", make, resources, node, _alike)

    op.samples(covered_by="tests/ops/queues/test_queues.py")
    return op


fifo_queue_op = _queue_op("FIFOQueue", REFERENCE, Queue, **_QUEUE)
fifo_queue_v2_op = _queue_op("FIFOQueueV2", RESOURCE, Queue, **_QUEUE)

padding_fifo_queue_op = _queue_op("PaddingFIFOQueue", REFERENCE, PaddingQueue, **_QUEUE)
padding_fifo_queue_v2_op = _queue_op("PaddingFIFOQueueV2", RESOURCE, PaddingQueue, **_QUEUE)

_PRIORITY = {
    **_QUEUE,
    "component_types": attr("list(type)", [], minimum=0),
    "shapes": attr("list(shape)", minimum=0),
}
priority_queue_op = _queue_op("PriorityQueue", REFERENCE, PriorityQueue, **_PRIORITY)
priority_queue_v2_op = _queue_op("PriorityQueueV2", RESOURCE, PriorityQueue, **_PRIORITY)

_SHUFFLE = {"min_after_dequeue": 0, "seed": 0, "seed2": 0}
random_shuffle_queue_op = _queue_op(
    "RandomShuffleQueue", REFERENCE, RandomShuffleQueue, tuple(_SHUFFLE), **_QUEUE, **_SHUFFLE
)
random_shuffle_queue_v2_op = _queue_op(
    "RandomShuffleQueueV2", RESOURCE, RandomShuffleQueue, tuple(_SHUFFLE), **_QUEUE, **_SHUFFLE
)

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
fake_queue_op.samples(covered_by="tests/queues/test_readers.py")


def _on_queue(name: str, signature: str, shape: Callable, kernel: Callable, **options: Any) -> Op:
    """An op that does something with a queue; like TensorFlow's list of op types, it calls only ops of the
    second generation stateful.
    """
    is_second = signature.startswith("handle: resource")
    op = Op(name, signature, stateful=is_second, differentiable=False, **options)
    op.shape(shape)
    op.kernel(kernel)
    op.samples(covered_by="tests/ops/queues/test_queues.py")
    return op


def _check_types(queue: Queue, types: list[dtypes.DType]) -> None:
    if tuple(types) != queue.dtypes:
        raise errors.invalid_argument(
            f"Expected component types {[t.name for t in queue.dtypes]} of queue '{queue.name}', but got "
            f"{[t.name for t in types]}",
        )


_TIMEOUT = {"timeout_ms": -1}
_PUT = {"Tcomponents": attr("list(type)", minimum=1), **_TIMEOUT, "suspendable": True}
_TAKE = {"component_types": attr("list(type)", minimum=1), **_TIMEOUT, "suspendable": True}


def _nothing(*inputs: Any) -> list:
    return []


def _enqueue(handle, components, *, Tcomponents):
    queue = held(handle)
    _check_types(queue, Tcomponents)
    return queue.enqueue(components)


enqueue_op = _on_queue(
    "QueueEnqueue", "handle: Ref(string), components: Tcomponents", _nothing, _enqueue, **_PUT
)
enqueue_v2_op = _on_queue(
    "QueueEnqueueV2", "handle: resource, components: Tcomponents", _nothing, _enqueue, **_PUT
)


def _enqueue_many(handle, components, *, Tcomponents):
    queue = held(handle)
    _check_types(queue, Tcomponents)
    return queue.enqueue_many(components)


enqueue_many_op = _on_queue(
    "QueueEnqueueMany", "handle: Ref(string), components: Tcomponents", _nothing, _enqueue_many, **_PUT
)
enqueue_many_v2_op = _on_queue(
    "QueueEnqueueManyV2", "handle: resource, components: Tcomponents", _nothing, _enqueue_many, **_PUT
)


def _dequeue_shape(handle, *, component_types):
    return [None] * len(component_types)


def _dequeue(handle, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue()


dequeue_op = _on_queue(
    "QueueDequeue", "handle: Ref(string) -> components: component_types", _dequeue_shape, _dequeue, **_TAKE
)
dequeue_v2_op = _on_queue(
    "QueueDequeueV2", "handle: resource -> components: component_types", _dequeue_shape, _dequeue, **_TAKE
)


def _batch_shape(handle, n, *, component_types):
    if n is not None and n < 0:
        raise ShapeError(f"Input 'n' must be >= 0, but is {n}")
    return [None] * len(component_types)


def _dequeue_many(handle, n, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue_many(n)


dequeue_many_op = _on_queue(
    "QueueDequeueMany",
    "handle: Ref(string), n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_many,
    host="n",
    **_TAKE,
)
dequeue_many_v2_op = _on_queue(
    "QueueDequeueManyV2",
    "handle: resource, n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_many,
    host="n",
    **_TAKE,
)


def _dequeue_up_to(handle, n, *, component_types):
    queue = held(handle)
    _check_types(queue, component_types)
    return queue.dequeue_many(n, up_to=True)


dequeue_up_to_op = _on_queue(
    "QueueDequeueUpTo",
    "handle: Ref(string), n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_up_to,
    host="n",
    **_TAKE,
)
dequeue_up_to_v2_op = _on_queue(
    "QueueDequeueUpToV2",
    "handle: resource, n: int32 -> components: component_types",
    _batch_shape,
    _dequeue_up_to,
    host="n",
    **_TAKE,
)


def _close(handle, *, cancel_pending_enqueues):
    held(handle).close(cancel_pending_enqueues)


close_op = _on_queue("QueueClose", "handle: Ref(string)", _nothing, _close, cancel_pending_enqueues=False)
close_v2_op = _on_queue("QueueCloseV2", "handle: resource", _nothing, _close, cancel_pending_enqueues=False)


def _is_closed(handle):
    return torch.tensor(held(handle).closed)


is_closed_op = _on_queue("QueueIsClosed", "handle: Ref(string) -> is_closed: bool", _nothing, _is_closed)
is_closed_v2_op = _on_queue("QueueIsClosedV2", "handle: resource -> is_closed: bool", _nothing, _is_closed)


def _size(handle):
    return torch.tensor(held(handle).size(), dtype=torch.int32)


size_op = _on_queue("QueueSize", "handle: Ref(string) -> size: int32", _nothing, _size)
size_v2_op = _on_queue("QueueSizeV2", "handle: resource -> size: int32", _nothing, _size)
