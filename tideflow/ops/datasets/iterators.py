"""Iterators as ops: handles of a session's places in datasets, and the steps they take."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.control_flow.optionals import Optional
from tideflow.ops.datasets.datasets import STRUCTURE
from tideflow.ops.helpers.session_objects import held
from tideflow.runtime.datasets import Dataset, dataset_in
from tideflow.runtime.iterators import DatasetIterator
from tideflow.runtime.tensor_lists import as_variant
from tideflow.runtime.waiting import StepContext

_NAMED = {"shared_name": attr("string"), "container": attr("string")}
_HANDLE = {"stateful": True, "handle": True, "differentiable": False}
KIND = "iterator"


def _found(resources: Any, container: str, name: str, types: Any, shapes: Any, first: Any) -> DatasetIterator:
    return resources.get_or_create(
        container, KIND, name, lambda: DatasetIterator(name, types, shapes, resources, first)
    )


def _iterator(*, shared_name, container, output_types, output_shapes, node, resources):
    return _found(resources, container, shared_name or node.name, output_types, output_shapes, None)


def _add_shape_and_kernel_of_iterator_family(op: Op) -> None:
    op.shape(lambda: [])
    op.kernel(_iterator)


iterator_op = Op("Iterator", " -> handle: resource", **_HANDLE, **_NAMED, **STRUCTURE)
_add_shape_and_kernel_of_iterator_family(iterator_op)
iterator_op.samples(covered_by="tests/data/test_datasets.py")

iterator_v2_op = Op("IteratorV2", " -> handle: resource", **_HANDLE, **_NAMED, **STRUCTURE)
_add_shape_and_kernel_of_iterator_family(iterator_v2_op)
iterator_v2_op.samples(covered_by="tests/data/test_datasets.py")

one_shot_iterator_op = Op(
    "OneShotIterator",
    " -> handle: resource",
    dataset_factory=attr("func"),
    container="",
    shared_name="",
    **_HANDLE,
    **STRUCTURE,
)
one_shot_iterator_op.shape(lambda: [])


def _one_shot(*, shared_name, container, output_types, output_shapes, node, resources, planned):
    def first(context: StepContext) -> Dataset:
        return dataset_in(planned("dataset_factory")(context)[0])

    return _found(resources, container, shared_name or node.name, output_types, output_shapes, first)


one_shot_iterator_op.kernel(_one_shot)
one_shot_iterator_op.samples(covered_by="tests/data/test_datasets.py")

make_iterator_op = Op(
    "MakeIterator",
    "dataset: variant, iterator: resource",
    stateful=True,
    on_host=True,
    differentiable=False,
)
make_iterator_op.shape(lambda dataset, iterator: [])
make_iterator_op.kernel(
    lambda dataset, iterator, *, context: held(iterator).start(dataset_in(dataset), context)
)
make_iterator_op.samples(covered_by="tests/data/test_datasets.py")


def _add_shape_and_kernel_of_get_next_family(op: Op) -> None:
    op.shape(lambda iterator, *, output_shapes: output_shapes)
    op.kernel(lambda iterator, *, context: held(iterator).next(context))


get_next_op = Op(
    "IteratorGetNext",
    "iterator: resource -> components: output_types",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    **STRUCTURE,
)
_add_shape_and_kernel_of_get_next_family(get_next_op)
get_next_op.samples(covered_by="tests/data/test_datasets.py")

get_next_sync_op = Op(
    "IteratorGetNextSync",
    "iterator: resource -> components: output_types",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    **STRUCTURE,
)
_add_shape_and_kernel_of_get_next_family(get_next_sync_op)
get_next_sync_op.samples(covered_by="tests/data/test_datasets.py")

get_next_as_optional_op = Op(
    "IteratorGetNextAsOptional",
    "iterator: resource -> optional: variant",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    **STRUCTURE,
)
get_next_as_optional_op.shape(lambda iterator: [])


@get_next_as_optional_op.kernel
def _get_next_as_optional_kernel(iterator, *, context):
    try:
        return as_variant(Optional(list(held(iterator).next(context))))
    except OutOfRangeError:
        return as_variant(Optional(None))


get_next_as_optional_op.samples(covered_by="tests/data/test_datasets.py")

# ---------------------------------------------------------------------------------------- handles as strings

_PREFIX = b"tideflow iterator "

to_string_handle_op = Op(
    "IteratorToStringHandle",
    "resource_handle: resource -> string_handle: string",
    stateful=True,
    on_host=True,
    differentiable=False,
)
to_string_handle_op.shape(lambda handle: [])


@to_string_handle_op.kernel
def _to_string_handle_kernel(resource_handle, *, resources):
    iterator = held(resource_handle)
    resources.get_or_create("", "iterator by handle", iterator.name, lambda: iterator)
    return np.array(base64.b64encode(_PREFIX + iterator.name.encode()), dtype=object)


to_string_handle_op.samples(covered_by="tests/data/test_datasets.py")

_MAYBE = {
    "output_types": attr("list(type)", [], minimum=0),
    "output_shapes": attr("list(shape)", [], minimum=0),
}
from_string_handle_op, from_string_handle_v2_op = (
    Op(
        name,
        "string_handle: string -> resource_handle: resource",
        host="string_handle",
        stateful=True,
        on_host=True,
        differentiable=False,
        **_MAYBE,
    )
    for name in ("IteratorFromStringHandle", "IteratorFromStringHandleV2")
)
get_device_op, _old_get_device_op = (
    Op(name, "resource: resource -> device: string", stateful=True, on_host=True, differentiable=False)
    for name in ("IteratorGetDevice", "ExperimentalIteratorGetDevice")
)
_STATEFUL = {"stateful": True, "on_host": True, "differentiable": False}

# --------------------------------------------------------------------------------------------------- states


def _state(resource_handle: Any, *, context: StepContext) -> np.ndarray:
    return np.array([held(resource_handle).state(context)], dtype=object)


def _add_shape_and_kernel_and_samples_of_serialize_iterator_family(op: Op) -> None:
    op.shape(lambda resource_handle: [1])
    op.kernel(_state)
    op.samples(covered_by="tests/data/test_datasets.py")


serialize_iterator_op = Op(
    "SerializeIterator",
    "resource_handle: resource -> serialized: variant",
    external_state_policy=0,
    **_STATEFUL,
)
_add_shape_and_kernel_and_samples_of_serialize_iterator_family(serialize_iterator_op)


def _restore(resource_handle: Any, state: np.ndarray, *, context: StepContext) -> None:
    if state.size != 1 or not isinstance(state.item(), bytes):
        raise errors.invalid_argument("What is given is not the state of an iterator.")
    held(resource_handle).restore(state.item(), context)


def _add_shape_and_kernel_and_samples_of_deserialize_iterator_family(op: Op) -> None:
    op.shape(lambda resource_handle, state: [])
    op.kernel(_restore)
    op.samples(covered_by="tests/data/test_datasets.py")


deserialize_iterator_op = Op(
    "DeserializeIterator", "resource_handle: resource, serialized: variant", **_STATEFUL
)
_add_shape_and_kernel_and_samples_of_deserialize_iterator_family(deserialize_iterator_op)

# The same with a string, which a checkpoint can hold.
iterator_state_op = Op("_IteratorState", "resource_handle: resource -> state: string", **_STATEFUL)
_add_shape_and_kernel_and_samples_of_serialize_iterator_family(iterator_state_op)

restore_iterator_op = Op("_RestoreIterator", "resource_handle: resource, state: string", **_STATEFUL)
_add_shape_and_kernel_and_samples_of_deserialize_iterator_family(restore_iterator_op)


def _check_types(iterator: DatasetIterator, types: list[Any]) -> None:
    if types and list(types) != iterator.types:
        if len(types) != len(iterator.types):
            raise errors.invalid_argument(
                f"Number of components does not match: expected {len(types)} types but got "
                f"{len(iterator.types)}.",
            )
        for i, (wanted, found) in enumerate(zip(types, iterator.types, strict=True)):
            if wanted is not found:
                raise errors.invalid_argument(
                    f"Data type mismatch at component {i}: expected {wanted.name} but got {found.name}.",
                )


def _check_shapes(iterator: DatasetIterator, shapes: list[TensorShape]) -> None:
    for i, (wanted, found) in enumerate(zip(shapes, iterator.shapes)):
        if not wanted.is_compatible_with(found):
            raise errors.invalid_argument(
                f"Incompatible shapes at component {i}: expected {wanted} but got {found}."
            )


def _from_string_handle(string_handle, *, output_types, output_shapes, resources):
    try:
        text = base64.b64decode(string_handle, validate=True)
    except ValueError:
        text = b""
    iterator = None
    if text.startswith(_PREFIX):
        iterator = resources.find("", "iterator by handle", text.removeprefix(_PREFIX).decode())
    if iterator is None:
        raise errors.invalid_argument(
            f"string_handle {string_handle!r} is not the handle of an iterator of this session."
        )
    _check_types(iterator, output_types)
    _check_shapes(iterator, output_shapes)
    return iterator


def _add_shape_and_kernel_of_from_string_handle_family(op: Op) -> None:
    op.shape(lambda string_handle: [])
    op.kernel(_from_string_handle)


_add_shape_and_kernel_of_from_string_handle_family(from_string_handle_op)
_add_shape_and_kernel_of_from_string_handle_family(from_string_handle_v2_op)


def _add_shape_and_kernel_of_get_device_family(op: Op) -> None:
    op.shape(lambda resource: [])
    op.kernel(lambda resource: np.array(b"/job:localhost/replica:0/task:0/device:CPU:0", dtype=object))


_add_shape_and_kernel_of_get_device_family(get_device_op)
_add_shape_and_kernel_of_get_device_family(_old_get_device_op)
from_string_handle_op.samples(covered_by="tests/data/test_datasets.py")
from_string_handle_v2_op.samples(covered_by="tests/data/test_datasets.py")
get_device_op.samples(covered_by="tests/data/test_datasets.py")
_old_get_device_op.samples(covered_by="tests/data/test_datasets.py")
