"""Names of `tensorflow.python.ops.random_ops` that are not public."""

from __future__ import annotations

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.typing import DTypeLike, ShapeLike, TensorLike
from tideflow.ops.random.distributions import parameterized_truncated_normal_op, shape_tensor
from tideflow.ops.random.sources import seed_attrs


def parameterized_truncated_normal(
    shape: ShapeLike | TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws from normal distributions between bounds, one distribution for each row.

    Args:
      shape: The shape of the result.
      means: The means of the distributions, a number or a vector.
      stddevs: The standard deviations.
      minvals: The lower bounds.
      maxvals: The upper bounds.
      dtype: The type of the result.
      seed: The seed of the operation.
      name: A name for the operation.

    Returns:
      A tensor of that shape.
    """
    parameters = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
    with name_scope(name, "parameterized_truncated_normal", [shape, *parameters.values()]):
        sizes = shape_tensor(shape)
        tensors = [convert_to_tensor(value, dtype=dtype, name=key) for key, value in parameters.items()]
        return parameterized_truncated_normal_op(sizes, *tensors, dtype=as_dtype(dtype), **seed_attrs(seed))
