"""Resources of a graph besides variables and tables: each says how it is made and whether it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, device, get_collection, name_scope
from tideflow.ops.arrays import constants, indexing, joining
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import unary


class Resource(NamedTuple):
    """A resource's handle, the operation that makes it, and the tensor that says whether it is made."""

    handle: Tensor
    create: Operation
    is_initialized: Tensor


def register_resource(
    handle: Tensor, create_op: Operation, is_initialized_op: Tensor, is_shared: bool = True
) -> None:
    """Adds a resource to those that a session is prepared with: by the chief, a local one by every task."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    add_to_collection(key, Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Resource]:
    """The resources that the tasks of a cluster share."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Resource]:
    """The resources that each task has of its own."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def report_uninitialized_resources(
    resource_list: Sequence[Resource] | None = None, name: str = "report_uninitialized_resources"
) -> Tensor:
    """The names of the resources that are not made yet."""
    resources = shared_resources() + local_resources() if resource_list is None else resource_list
    place = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name), device(place):
        if not resources:
            return constants.constant([], dtype=dtypes.string)
        missing = unary.logical_not(joining.stack([resource.is_initialized for resource in resources]))
        names = constants.constant([resource.handle.name for resource in resources])
        return indexing.boolean_mask(names, missing)


def initialize_resources(resource_list: Sequence[Resource], name: str = "init") -> Operation:
    """The operation that makes the resources."""
    if resource_list:
        return grouping.group(*[resource.create for resource in resource_list], name=name)
    return constants.no_operation(name=name)
