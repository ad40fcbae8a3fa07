"""Iterators for several devices as ops: each takes every n-th element of a dataset."""

from __future__ import annotations

import base64

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.datasets.kept_state import anonymous_op, delete_op
from tideflow.ops.helpers.datasets import STRUCTURE
from tideflow.ops.helpers.session_objects import held
from tideflow.runtime.datasets import as_cell, dataset_in
from tideflow.runtime.multi_device import MultiDeviceIterator

_STATEFUL = {"stateful": True, "on_host": True, "differentiable": False}
_TESTS = "tests/ops/datasets/test_kept_state.py"
_DEVICES = {"devices": attr("list(string)", minimum=1)}
_PREFIX = b"tideflow multi-device iterator "

multi_device_iterator_op = Op(
    "MultiDeviceIterator",
    " -> handle: resource",
    stateful=True,
    handle=True,
    differentiable=False,
    shared_name=attr("string"),
    container=attr("string"),
    **_DEVICES,
    **STRUCTURE,
)
multi_device_iterator_op.shape(lambda: [])


@multi_device_iterator_op.kernel
def _multi_device_iterator_kernel(
    *, devices, shared_name, container, output_types, output_shapes, node, resources
):
    name = shared_name or node.name
    return resources.get_or_create(
        container,
        "multi-device iterator",
        name,
        lambda: MultiDeviceIterator(name, len(devices), output_types, output_shapes, resources),
    )


multi_device_iterator_op.samples(covered_by=_TESTS)


def _anonymous(*, devices, output_types, output_shapes, resources):
    made = MultiDeviceIterator("anonymous", len(devices), output_types, output_shapes, resources)
    return as_cell(made), as_cell(made)


anonymous_multi_device_iterator_op = anonymous_op(
    "AnonymousMultiDeviceIterator", "", _anonymous, **_DEVICES, **STRUCTURE
)
delete_multi_device_iterator_op = delete_op(
    "DeleteMultiDeviceIterator",
    "multi_device_iterator: resource, iterators: N * resource, deleter: variant",
    N=attr("int", minimum=0),
)

init_op = Op(
    "MultiDeviceIteratorInit",
    "dataset: variant, multi_device_iterator: resource, max_buffer_size: int64 -> incarnation_id: int64",
    host="max_buffer_size",
    **_STATEFUL,
)
init_op.shape(lambda dataset, iterator, size: [])
init_op.kernel(
    lambda dataset, iterator, size, *, context: torch.tensor(
        held(iterator).start(dataset_in(dataset), context)
    )
)
init_op.samples(covered_by=_TESTS)

get_next_op = Op(
    "MultiDeviceIteratorGetNextFromShard",
    "multi_device_iterator: resource, shard_num: int32, incarnation_id: int64 -> components: output_types",
    host="shard_num incarnation_id",
    blocking=True,
    waits_in_functions=True,
    **_STATEFUL,
    **STRUCTURE,
)
get_next_op.shape(lambda iterator, shard, incarnation, *, output_shapes: output_shapes)
get_next_op.kernel(
    lambda iterator, shard, incarnation, *, context: held(iterator).next_of(shard, incarnation, context)
)
get_next_op.samples(covered_by=_TESTS)

to_string_handle_op = Op(
    "MultiDeviceIteratorToStringHandle",
    "multi_device_iterator: resource -> string_handle: string",
    **_STATEFUL,
)
to_string_handle_op.shape(lambda iterator: [])


@to_string_handle_op.kernel
def _to_string_handle_kernel(multi_device_iterator, *, resources):
    made = held(multi_device_iterator)
    resources.get_or_create("", "multi-device iterator by handle", made.name, lambda: made)
    return np.array(base64.b64encode(_PREFIX + made.name.encode()), dtype=object)


to_string_handle_op.samples(covered_by=_TESTS)

from_string_handle_op = Op(
    "MultiDeviceIteratorFromStringHandle",
    "string_handle: string -> multi_device_iterator: resource",
    host="string_handle",
    output_types=attr("list(type)", [], minimum=0),
    output_shapes=attr("list(shape)", [], minimum=0),
    **_STATEFUL,
)
from_string_handle_op.shape(lambda string_handle: [])


@from_string_handle_op.kernel
def _from_string_handle_kernel(string_handle, *, resources):
    try:
        text = base64.b64decode(string_handle, validate=True)
    except ValueError:
        text = b""
    found = None
    if text.startswith(_PREFIX):
        name = text.removeprefix(_PREFIX).decode()
        found = resources.find("", "multi-device iterator by handle", name)
    if found is None:
        raise errors.invalid_argument(
            f"Could not parse string_handle as a valid ResourceHandle: {string_handle!r} is no handle of a "
            "multi-device iterator of this session."
        )
    return as_cell(found)


from_string_handle_op.samples(covered_by=_TESTS)
