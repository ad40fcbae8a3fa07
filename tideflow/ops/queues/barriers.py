"""Barriers as ops."""

from __future__ import annotations

import torch

from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import merged, of_rank, of_rank_at_least
from tideflow.ops.helpers.session_objects import NAMED, REFERENCE, component_facts, found, held
from tideflow.runtime.barriers import Barrier

barrier_op = Op(
    "Barrier",
    f" -> handle: {REFERENCE}",
    stateful=True,
    handle=True,
    differentiable=False,
    component_types=attr("list(type)", minimum=1),
    shapes=attr("list(shape)", [], minimum=0),
    capacity=-1,
    **NAMED,
)
barrier_op.shape(lambda: [2])


@barrier_op.kernel
def _barrier_kernel(*, component_types, shapes, resources, node):
    return found(
        "barrier",
        lambda name: Barrier(name, component_types, shapes, resources.store.is_closed),
        resources,
        node,
        lambda made: component_facts(made.dtypes, made.shapes),
    )


barrier_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")

insert_many_op = Op(
    "BarrierInsertMany",
    f"handle: {REFERENCE}, keys: string, values: T",
    T=attr("type"),
    component_index=attr("int"),
    differentiable=False,
)


@insert_many_op.shape
def _insert_many_shape(handle, keys, values):
    merged(of_rank(keys, 1), of_rank_at_least(values, 1)[:1])
    return []


def _insert(handle, keys, values, *, component_index, T):
    barrier = held(handle)
    expected = barrier.dtypes[component_index : component_index + 1]
    if expected and expected[0] is not T:
        raise errors.invalid_argument(
            f"Expected component {component_index} of barrier '{barrier.name}' to be {expected[0].name}, "
            f"but got {T.name}",
        )
    barrier.insert(component_index, keys, values)


insert_many_op.kernel(_insert)
insert_many_op.kernel("string")(_insert)
insert_many_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")

take_many_op = Op(
    "BarrierTakeMany",
    f"handle: {REFERENCE}, num_elements: int32 -> indices: int64, keys: string, values: component_types",
    host="num_elements",
    component_types=attr("list(type)", minimum=1),
    allow_small_batch=False,
    wait_for_incomplete=False,
    timeout_ms=-1,
    suspendable=True,
    differentiable=False,
)
take_many_op.shape(lambda handle, num_elements, *, component_types: [None] * (2 + len(component_types)))


@take_many_op.kernel
def _take_many_kernel(handle, num_elements, *, allow_small_batch):
    return held(handle).take(num_elements, allow_small_batch)


take_many_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")

close_op = Op("BarrierClose", f"handle: {REFERENCE}", cancel_pending_enqueues=False, differentiable=False)
close_op.shape(lambda handle: [])


@close_op.kernel
def _close_kernel(handle, *, cancel_pending_enqueues):
    held(handle).close(cancel_pending_enqueues)


close_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")

ready_size_op = Op("BarrierReadySize", f"handle: {REFERENCE} -> size: int32", differentiable=False)
ready_size_op.shape(lambda handle: [])
ready_size_op.kernel(lambda handle: torch.tensor(held(handle).ready.size(), dtype=torch.int32))
ready_size_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")

incomplete_size_op = Op("BarrierIncompleteSize", f"handle: {REFERENCE} -> size: int32", differentiable=False)
incomplete_size_op.shape(lambda handle: [])
incomplete_size_op.kernel(lambda handle: torch.tensor(held(handle).incomplete_size(), dtype=torch.int32))
incomplete_size_op.samples(covered_by="tests/queues/test_barriers_and_staging.py")
