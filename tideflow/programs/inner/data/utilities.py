"""`tensorflow.python.data.util`: arguments of datasets as tensors, and what a dataset is made of."""

from __future__ import annotations

from collections import deque
from typing import Any

from tideflow.data.dataset import Dataset
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_seed as operation_seeds
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import as_shape
from tideflow.ops.arrays.constants import constant
from tideflow.ops.arrays.indexing import where
from tideflow.ops.math import binary

_LAST_SEED = 2**31 - 1


def optional_param_to_tensor(
    argument_name: str, argument_value: Any, argument_default: Any = 0, argument_dtype: DType = dtypes.int64
) -> Tensor:
    """An argument as a tensor.

    Args:
      argument_name: Its name.
      argument_value: Its value, or None.
      argument_default: What stands for None.
      argument_dtype: The type of the tensor.

    Returns:
      The tensor.
    """
    value = argument_default if argument_value is None else argument_value
    return convert_to_tensor(value, argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Tensor:
    """A shape as a tensor, in which -1 is a size that is not known.

    Args:
      shape_like: The shape, or a tensor of its sizes.

    Returns:
      A vector of int64.

    Raises:
      ValueError: If a tensor is no vector.
      TypeError: If it is not of int64.
    """
    try:
        sizes = as_shape(shape_like).as_list()
        return convert_to_tensor([-1 if size is None else size for size in sizes], dtypes.int64)
    except (TypeError, ValueError):
        tensor = convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
    must = f"The given shape {shape_like} must be a 1-D tensor of tf.int64 values, but"
    if tensor.shape.ndims not in (None, 1):
        raise ValueError(f"{must} the shape was {tensor.shape}.")
    if tensor.dtype != dtypes.int64:
        raise TypeError(f"{must} the element type was {tensor.dtype.name}.")
    return tensor


def get_seed(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset, as tensors.

    Args:
      seed: The seed that it was given, a number, a tensor or None.

    Returns:
      Two scalars of int64, which are 0 where there is no seed.
    """
    first, second = operation_seeds(seed)
    one = optional_param_to_tensor("seed", first)
    if second is None:
        return one, optional_param_to_tensor("seed2", None)
    with name_scope("seed2") as scope:
        two = convert_to_tensor(second, dtypes.int64)
        both_zero = binary.logical_and(binary.equal(one, 0), binary.equal(two, 0))
        return one, where(both_zero, constant(_LAST_SEED, dtypes.int64), two, name=scope)


def obtain_all_variant_tensor_ops(dataset: Dataset) -> list[Operation]:
    """The operations that made a dataset, and those whose datasets these took, the nearest first."""
    waiting, seen = deque([dataset._variant_tensor.op]), [dataset._variant_tensor.op]
    found = []
    while waiting:
        op = waiting.popleft()
        if op.outputs[0].dtype == dtypes.variant:
            found.append(op)
        for given in op.inputs:
            if given.op not in seen:
                seen.append(given.op)
                waiting.append(given.op)
    return found
