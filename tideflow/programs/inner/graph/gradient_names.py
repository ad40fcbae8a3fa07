"""Names of `tensorflow.python.ops`'s `custom_gradient` and `gradients_util` that are not public."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.autodiff.custom import custom_gradient
from tideflow.graph import dtypes


def _graph_mode_decorator(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function that returns a gradient function beside it: a call, not a decorator."""
    return custom_gradient(f)(*args, **kwargs)


_eager_mode_decorator = _graph_mode_decorator  # the mode at the call decides


_TRAINABLE = frozenset(
    getattr(dtypes, name) for name in "float16 float32 float64 complex64 complex128 resource variant".split()
)


def IsTrainable(tensor_or_dtype: Any) -> bool:
    """Whether tensors of a type have gradients.

    Args:
      tensor_or_dtype: The type, or a tensor of it.
    """
    return dtypes.as_dtype(getattr(tensor_or_dtype, "dtype", tensor_or_dtype)).base_dtype in _TRAINABLE


def _IsBackpropagatable(tensor: Any) -> bool:
    """Whether gradients go through a tensor."""
    return IsTrainable(tensor) or dtypes.as_dtype(tensor.dtype).base_dtype == dtypes.bfloat16
