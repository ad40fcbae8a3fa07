"""Layers that compute in another type than their variables have, as a policy says.

A policy is anything with `compute_dtype`, `variable_dtype` and `loss_scale`
(`keras/mixed_precision/policies.py`).
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tideflow.graph import dtypes, nest
from tideflow.graph.operation import Tensor
from tideflow.graph.stacks import replaced
from tideflow.ops.math import casting
from tideflow.variables.behavior import v2_behavior_enabled

if TYPE_CHECKING:
    from tideflow.variables.base import Variable


class _Global:
    policy: Any = None  # of layers that are given neither a policy nor a type
    v2_dtypes: bool | None = None  # whether layers treat types as in TensorFlow 2; as the program if None


def set_global_policy(policy: Any) -> None:
    """Sets the policy of layers that are given none; None for no policy."""
    _Global.policy = policy


def set_v2_dtypes(enabled: bool | None) -> None:
    """Sets whether new layers have Keras's type and cast inputs to it; None to do as the program does."""
    _Global.v2_dtypes = enabled


def v2_dtypes() -> bool:
    """Whether new layers have Keras's type and cast inputs to it, as in TensorFlow 2."""
    return v2_behavior_enabled() if _Global.v2_dtypes is None else _Global.v2_dtypes


def policy_of(dtype: Any) -> Any:
    """The policy that a layer's argument `dtype` stands for; None where it is a type, or nothing is said."""
    if hasattr(dtype, "compute_dtype"):
        return dtype
    return _Global.policy if dtype is None else None


class _Computing(threading.local):
    dtype: dtypes.DType | None = None


_computing = _Computing()


@contextlib.contextmanager
def computing_in(dtype: str | None) -> Iterator[None]:
    """Inside, variables that cast themselves have this type; their own if None."""
    with replaced(_computing, "dtype", None if dtype is None else dtypes.as_dtype(dtype)):
        yield


def cast_inputs(inputs: Any, dtype: str | None) -> Any:
    """Inputs with those that are floating-point in another type cast to it."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None or not wanted.is_floating:
        return inputs

    def cast(value: Any) -> Any:
        floating = isinstance(value, Tensor) and value.dtype.is_floating
        return casting.cast(value, wanted) if floating and value.dtype.base_dtype is not wanted else value

    return nest.map_structure(cast, inputs)


class _CastsItself:
    """What a variable does that is read in the type in which a layer computes."""

    @property
    def dtype(self) -> dtypes.DType:
        own = super().dtype  # type: ignore[misc]
        return own if _computing.dtype is None or not own.is_floating else _computing.dtype

    @property
    def true_dtype(self) -> dtypes.DType:
        """The type in which the values are kept."""
        return super().dtype  # type: ignore[misc, no-any-return]

    def _cast(self, value: Tensor) -> Tensor:
        return value if value.dtype.base_dtype is self.dtype.base_dtype else casting.cast(value, self.dtype)

    def value(self) -> Tensor:
        return self._cast(super().value())  # type: ignore[misc]

    def read_value(self) -> Tensor:
        return self._cast(super().read_value())  # type: ignore[misc]

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        return self._cast(super().sparse_read(indices, name))  # type: ignore[misc]

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        return self._cast(super().gather_nd(indices, name))  # type: ignore[misc]


@functools.cache
def _casting_class(cls: type) -> type:
    return type(f"AutoCast{cls.__name__}", (_CastsItself, cls), {"__doc__": cls.__doc__})


def casts_itself(variable: Variable) -> Variable:
    """The variable, which from here on is read in the type that a layer computes in."""
    variable.__class__ = _casting_class(type(variable))
    return variable
