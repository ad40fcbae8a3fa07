"""Calls of several steps as one, of a function that computes rows."""

from __future__ import annotations

from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.runtime.batching import Batcher

batch_function_op = Op(
    "BatchFunction",
    "in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout",
    on_host=True,
    blocking=True,
    f=attr("func"),
    num_batch_threads=attr("int"),
    max_batch_size=attr("int"),
    batch_timeout_micros=attr("int"),
    max_enqueued_batches=10,
    allowed_batch_sizes=attr("list(int)", []),
    container="",
    shared_name="",
    batching_queue="",
    low_priority_max_batch_size=0,
    low_priority_batch_timeout_micros=0,
    low_priority_allowed_batch_sizes=attr("list(int)", []),
    low_priority_max_enqueued_batches=0,
    mixed_priority_policy=attr(
        "string",
        "low_priority_padding_with_max_batch_size",
        allowed=(
            "low_priority_padding_with_max_batch_size",
            "low_priority_padding_with_next_allowed_batch_size",
            "priority_isolation",
            "priority_merge",
        ),
    ),
    batch_padding_policy=attr(
        "string", "PAD_UP", allowed=("PAD_UP", "BATCH_DOWN", "MINIMIZE_TPU_COST_PER_REQUEST")
    ),
    Tin=attr("list(type)", minimum=1),
    Tcaptured=attr("list(type)", minimum=0),
    Tout=attr("list(type)", minimum=1),
    enable_large_batch_splitting=False,
)
batch_function_op.shape(lambda values, captured, *, Tout: [None for _ in Tout])


@batch_function_op.kernel
def _batch_function_kernel(
    in_tensors,
    captured_tensors,
    *,
    max_batch_size,
    batch_timeout_micros,
    allowed_batch_sizes,
    max_enqueued_batches,
    container,
    shared_name,
    planned,
    node,
    resources,
    context,
):
    batcher = resources.get_or_create(
        container,
        "batcher",
        shared_name or node.name,
        lambda: Batcher(
            max_batch_size, batch_timeout_micros / 1e6, allowed_batch_sizes, max_enqueued_batches
        ),
    )
    function = planned("f", captured_tensors)
    return list(batcher.call(function, in_tensors, context, lambda: resources.closed))


batch_function_op.gradient(undefined_gradient)
batch_function_op.samples(covered_by="tests/functions/test_batching.py")
