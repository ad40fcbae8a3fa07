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
from tideflow.ops.helpers.datasets import STRUCTURE
from tideflow.ops.helpers.session_objects import held
from tideflow.runtime.datasets import Dataset, dataset_in
from tideflow.runtime.iterators import DatasetIterator
from tideflow.runtime.tensor_lists import as_variant
from tideflow.runtime.waiting import StepContext

_NAMED = {"shared_name": attr("string"), "container": attr("string")}
_HANDLE = {"stateful": True, "handle": True, "differentiable": False}
_STATEFUL = {"stateful": True, "on_host": True, "differentiable": False}
_TESTS = "tests/ops/datasets/test_iterators.py"


def _found(resources: Any, container: str, name: str, types: Any, shapes: Any, first: Any) -> DatasetIterator:
    """The session's iterator of that name, made on first use; `first` makes the dataset it begins with."""
    return resources.get_or_create(
        container, "iterator", name, lambda: DatasetIterator(name, types, shapes, resources, first)
    )


def _iterator_op(name: str) -> Op:
    """An op that makes an iterator which MakeIterator starts."""
    op = Op(name, " -> handle: resource", **_HANDLE, **_NAMED, **STRUCTURE)
    op.shape(lambda: [])

    @op.kernel
    def _kernel(*, shared_name, container, output_types, output_shapes, node, resources):
        return _found(resources, container, shared_name or node.name, output_types, output_shapes, None)

    op.samples(covered_by=_TESTS)
    return op


iterator_op = _iterator_op("Iterator")
iterator_v2_op = _iterator_op("IteratorV2")

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


@one_shot_iterator_op.kernel
def _one_shot_iterator_kernel(
    *, shared_name, container, output_types, output_shapes, node, resources, planned
):
    def first(context: StepContext) -> Dataset:
        return dataset_in(planned("dataset_factory")(context)[0])

    return _found(resources, container, shared_name or node.name, output_types, output_shapes, first)


one_shot_iterator_op.samples(covered_by=_TESTS)

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
make_iterator_op.samples(covered_by=_TESTS)


def _get_next_op(name: str) -> Op:
    """An op that takes the next element; it may wait for it."""
    op = Op(
        name,
        "iterator: resource -> components: output_types",
        stateful=True,
        blocking=True,
        on_host=True,
        differentiable=False,
        waits_in_functions=True,
        **STRUCTURE,
    )
    op.shape(lambda iterator, *, output_shapes: output_shapes)
    op.kernel(lambda iterator, *, context: held(iterator).next(context))
    op.samples(covered_by=_TESTS)
    return op


get_next_op = _get_next_op("IteratorGetNext")
get_next_sync_op = _get_next_op("IteratorGetNextSync")

get_next_as_optional_op = Op(
    "IteratorGetNextAsOptional",
    "iterator: resource -> optional: variant",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    **STRUCTURE,
    waits_in_functions=True,
)
get_next_as_optional_op.shape(lambda iterator: [])


@get_next_as_optional_op.kernel
def _get_next_as_optional_kernel(iterator, *, context):
    try:
        return as_variant(Optional(list(held(iterator).next(context))))
    except OutOfRangeError:
        return as_variant(Optional(None))


get_next_as_optional_op.samples(covered_by=_TESTS)

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


to_string_handle_op.samples(covered_by=_TESTS)


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


def _from_string_handle_op(name: str) -> Op:
    """An op that finds the iterator that a string stands for."""
    op = Op(
        name,
        "string_handle: string -> resource_handle: resource",
        host="string_handle",
        output_types=attr("list(type)", [], minimum=0),
        output_shapes=attr("list(shape)", [], minimum=0),
        **_STATEFUL,
    )
    op.shape(lambda string_handle: [])

    @op.kernel
    def _kernel(string_handle, *, output_types, output_shapes, resources):
        try:
            text = base64.b64decode(string_handle, validate=True)
        except ValueError:
            text = b""
        iterator = None
        if text.startswith(_PREFIX):
            iterator = resources.find("", "iterator by handle", text.removeprefix(_PREFIX).decode())
        if iterator is None:
            raise errors.invalid_argument(
                f"Could not parse string_handle as a valid ResourceHandle: {string_handle!r} is no handle of "
                "an iterator of this session."
            )
        _check_types(iterator, output_types)
        _check_shapes(iterator, output_shapes)
        return iterator

    op.samples(covered_by=_TESTS)
    return op


from_string_handle_op = _from_string_handle_op("IteratorFromStringHandle")
from_string_handle_v2_op = _from_string_handle_op("IteratorFromStringHandleV2")


def _get_device_op(name: str) -> Op:
    """An op that tells on which device an iterator is: always this task's CPU."""
    op = Op(name, "resource: resource -> device: string", **_STATEFUL)
    op.shape(lambda resource: [])
    op.kernel(lambda resource: np.array(b"/job:localhost/replica:0/task:0/device:CPU:0", dtype=object))
    op.samples(covered_by=_TESTS)
    return op


get_device_op = _get_device_op("IteratorGetDevice")
experimental_get_device_op = _get_device_op("ExperimentalIteratorGetDevice")

# --------------------------------------------------------------------------------------------------- states


def _state_op(name: str, signature: str, **attrs: Any) -> Op:
    """An op that gives an iterator's place in its dataset."""
    op = Op(name, signature, **_STATEFUL, **attrs)
    op.shape(lambda resource_handle: [1])

    @op.kernel
    def _kernel(resource_handle: Any, *, context: StepContext) -> np.ndarray:
        return np.array([held(resource_handle).state(context)], dtype=object)

    op.samples(covered_by="tests/data/test_checkpoints.py")
    return op


serialize_iterator_op = _state_op(
    "SerializeIterator", "resource_handle: resource -> serialized: variant", external_state_policy=0
)
# The same as a string, which a checkpoint can hold.
iterator_state_op = _state_op("_IteratorState", "resource_handle: resource -> state: string", importable=True)


def _restoring_op(name: str, signature: str, **traits: Any) -> Op:
    """An op that brings an iterator back to a place in its dataset."""
    op = Op(name, signature, **_STATEFUL, **traits)
    op.shape(lambda resource_handle, state: [])

    @op.kernel
    def _kernel(resource_handle: Any, state: np.ndarray, *, context: StepContext) -> None:
        if state.size != 1 or not isinstance(state.item(), bytes):
            raise errors.invalid_argument("What is given is not the state of an iterator.")
        held(resource_handle).restore(state.item(), context)

    op.samples(covered_by="tests/data/test_checkpoints.py")
    return op


deserialize_iterator_op = _restoring_op(
    "DeserializeIterator", "resource_handle: resource, serialized: variant"
)
restore_iterator_op = _restoring_op(
    "_RestoreIterator", "resource_handle: resource, state: string", importable=True
)
