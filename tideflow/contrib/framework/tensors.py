"""Checks of tensors, and shapes that are asserted on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.framework.nests import assert_shallow_structure
from tideflow.export import export, expose
from tideflow.graph import composite, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.arrays import constants, shapes, sorting
from tideflow.ops.control_flow import debugging, python_functions
from tideflow.ops.math import adding, binary, checks, confusion, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

expose(checks.assert_same_float_dtype, "contrib.framework.assert_same_float_dtype")
expose(checks.assert_scalar, "contrib.framework.assert_scalar")
expose(composite.convert_to_tensor_or_sparse_tensor, "contrib.framework.convert_to_tensor_or_sparse_tensor")
expose(checks.is_non_decreasing, "contrib.framework.is_non_decreasing")
expose(checks.is_numeric_tensor, "contrib.framework.is_numeric_tensor")
expose(checks.is_strictly_increasing, "contrib.framework.is_strictly_increasing")
expose(TensorSpec, "contrib.framework.TensorSpec")
expose(sorting.sort, "contrib.framework.sort")
expose(sorting.argsort, "contrib.framework.argsort")


@export("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Checks that a tensor is one integer.

    Args:
      tensor: The tensor.
      name: The name scope of the operations.

    Returns:
      The tensor.

    Raises:
      ValueError: If it is not a scalar of an integer type.
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(
                f"Expected integer type for {tensor.name}, received type: {tensor.dtype.base_dtype}."
            )
        return checks.assert_scalar(tensor, name=scope)


@export("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions(
    predictions: TensorLike, labels: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Brings predictions and labels to one rank: takes away a last axis of size 1 that only one of them has.

    Args:
      predictions: The predictions.
      labels: The labels, whose rank may be one more or less.
      name: The name scope of the operations.

    Returns:
      The predictions and the labels.
    """
    labels, predictions = confusion.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


@export("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors: Sequence[Any], name: str | None = None) -> Tensor:
    """Adds up all elements of all tensors.

    Args:
      tensors: The tensors, at least one.
      name: The name scope of the operations.

    Returns:
      A scalar.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [reductions.reduce_sum(t, name=f"{t.op.name}/sum") for t in map(convert_to_tensor, tensors)]
        return sums[0] if len(sums) == 1 else adding.add_n(sums, name=scope)


@export("contrib.framework.with_shape")
def with_shape(expected_shape: TensorLike, tensor: TensorLike) -> Tensor:
    """Checks that a tensor has a shape: now where both are known, else when it is computed.

    Args:
      expected_shape: The shape: a list of integers, a TensorShape or a vector.
      tensor: The tensor.

    Returns:
      The tensor, which fails to compute where its shape is another.

    Raises:
      ValueError: If the shapes are known and differ.
    """
    if isinstance(tensor, composite.SparseTensor):
        raise TypeError("SparseTensor not supported.")
    expected = constant_shape(expected_shape)
    if expected is None:
        return _checked(tensor, expected_shape)
    if any(not isinstance(size, (int, np.integer)) or size < 0 for size in expected):
        raise ValueError(f"expected_shape has negative or unknown sizes: {expected}")
    actual = tensor.shape
    if not actual.is_compatible_with(expected):
        raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {actual}.")
    if actual.is_fully_defined():
        return tensor
    checked = _checked(tensor, expected)
    checked.set_shape(expected)
    return checked


@export("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor: Tensor, tensor: Tensor) -> Tensor:
    """Checks that a tensor has the shape of another.

    Args:
      expected_tensor: The tensor that has the shape.
      tensor: The tensor.

    Returns:
      The tensor, which fails to compute where the shapes differ.
    """
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        known = expected_tensor.shape
        shape = known.as_list() if known.is_fully_defined() else shapes.shape(expected_tensor)
        return with_shape(shape, tensor)


def constant_shape(shape: Any) -> list[int] | None:
    """A shape's sizes; None where they are a tensor."""
    if isinstance(shape, Tensor):
        return None
    return [int(size) for size in np.asarray(shape, dtype=np.int64).tolist()]


def _checked(tensor: Tensor, expected: Any) -> Tensor:
    with name_scope(f"{tensor.op.name}/"):
        is_equal = reductions.reduce_all(
            binary.equal(expected, shapes.shape(tensor)), name="is_correct_shape"
        )
        data = [f"Wrong shape for {tensor.name} [expected] [actual].", expected, shapes.shape(tensor)]
        with control_dependencies([debugging.Assert(is_equal, data, name="shape_assert")]):
            return constants.identity(tensor)


@export("contrib.framework.py_func")
def py_func(
    func: Callable,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function in each step; its arguments are structures of tensors, by keywords too.

    Args:
      func: The function; it returns a structure of arrays like `output_types`.
      args: The arguments, a list or tuple of structures of tensors.
      kwargs: Arguments by keyword.
      output_types: A structure of types; or a function of the arguments that returns it.
      output_shapes: A structure of shapes; or a function of the arguments that returns it; None if unknown.
      stateful: Whether the function may return something else, or do something, in another call.
      name: A name for the operation.

    Returns:
      A structure of tensors like `output_types`.

    Raises:
      TypeError: If the arguments are in no list, or those by keyword in no dictionary.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    given = (args, kwargs)

    def call(*arrays: Any) -> list[Any]:
        by_place, by_keyword = nest.pack_sequence_as(given, arrays)
        found = func(*by_place, **by_keyword)
        assert_shallow_structure(types, found)
        return nest.flatten(found)

    made = python_functions.py_func(call, nest.flatten(given), nest.flatten(types), stateful, name)
    if shapes is not None:
        for tensor, shape in zip(made, nest.flatten_up_to(types, shapes), strict=True):
            tensor.set_shape(shape)
    return nest.pack_sequence_as(types, made)
