"""Calls of several steps as one: of a function that computes rows, or of what lies between two operations."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.schema import attr
from tideflow.runtime.batching import Batcher, Parts, concatenated

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


# ---------------------------------------------------------------------------------- between two operations

_TESTS = "tests/functions/test_batching.py"

batch_op = Op(
    "Batch",
    "in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64",
    on_host=True,
    blocking=True,
    num_batch_threads=attr("int"),
    max_batch_size=attr("int"),
    max_enqueued_batches=10,
    batch_timeout_micros=attr("int"),
    allowed_batch_sizes=attr("list(int)", []),
    grad_timeout_micros=attr("int"),
    container="",
    shared_name="",
    batching_queue="",
    T=attr("list(type)", minimum=1),
)


@batch_op.shape
def _batch_shape(in_tensors):
    unknown = [None if x.ndims is None else [None, *x.as_list()[1:]] for x in in_tensors]
    return [*unknown, [None, 3], []]


@batch_op.kernel
def _batch_kernel(
    in_tensors,
    *,
    max_batch_size,
    batch_timeout_micros,
    allowed_batch_sizes,
    max_enqueued_batches,
    container,
    shared_name,
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
    rows, index, number = batcher.gather(in_tensors, context, lambda: resources.closed)
    return [*rows, torch.as_tensor(index), torch.tensor(number)]


@batch_op.gradient
def _batch_gradient(op, *grads):
    """The rows of the gradient go back to the steps that the rows came from."""
    index, number = op.outputs[-2:]
    return [
        unbatch_op(
            grad,
            index,
            number,
            timeout_micros=op.attrs["grad_timeout_micros"],
            shared_name=f"batch_gradient_{op.name}_{i}",
        )
        for i, grad in enumerate(grads[:-2])
    ]


batch_op.samples(covered_by=_TESTS)

unbatch_op = Op(
    "Unbatch",
    "batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T",
    on_host=True,
    blocking=True,
    timeout_micros=attr("int"),
    container="",
    shared_name="",
)
unbatch_op.shape(lambda rows, index, number: None if rows.ndims is None else [None, *rows.as_list()[1:]])


def _parts_of(resources, container, shared_name, node):
    return resources.get_or_create(container, "batch parts", shared_name or node.name, Parts)


@unbatch_op.kernel
def _unbatch_kernel(
    batched_tensor, batch_index, id, *, timeout_micros, container, shared_name, node, resources, context
):
    parts = _parts_of(resources, container, shared_name, node)
    parts.leave({number: batched_tensor[start:end] for number, start, end in batch_index.tolist()})
    return parts.take([int(id)], context, lambda: resources.closed, timeout_micros / 1e6)[0]


@unbatch_op.gradient
def _unbatch_gradient(op, grad):
    """The gradients of all steps are the gradient of the batch."""
    rows, index, number = op.inputs
    return [unbatch_grad_op(rows, index, grad, number, shared_name=f"unbatch_gradient_{op.name}"), None, None]


unbatch_op.samples(covered_by=_TESTS)

unbatch_grad_op = Op(
    "UnbatchGrad",
    "original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T",
    on_host=True,
    blocking=True,
    container="",
    shared_name="",
    differentiable=False,
)
unbatch_grad_op.shape(
    lambda rows, index, grad, number: None if rows.ndims is None else [None, *rows.as_list()[1:]]
)


@unbatch_grad_op.kernel
def _unbatch_grad_kernel(
    original_input, batch_index, grad, id, *, container, shared_name, node, resources, context
):
    parts = _parts_of(resources, container, shared_name, node)
    parts.leave({int(id): grad})
    numbers = np.asarray(batch_index)[:, 0].tolist()
    if not numbers:
        return grad[:0]
    return concatenated(parts.take(numbers, context, lambda: resources.closed, None))


unbatch_grad_op.samples(covered_by=_TESTS)
