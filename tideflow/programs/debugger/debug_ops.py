"""What is kept of a value: the value itself, how many NaNs it has, or a summary of its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.graph import errors
from tideflow.graph.dtypes import DType, float64, int64
from tideflow.programs.debugger.values import Uninitialized

_SPEC = re.compile(r"^(?P<op>\w+)(\((?P<attrs>[^()]*)\))?$")
_GATED = "gated_grpc"  # an attribute of all: whether a debug server may switch the watch off


@dataclass(frozen=True)
class DebugOp:
    """What is kept of values: a name with attributes, `DebugNumericSummary(lower_bound=-1.0)`."""

    name: str
    attrs: dict[str, str]

    def __call__(self, value: Any, dtype: DType) -> tuple[Any, DType] | None:
        """What is kept of a value, and its type; None where nothing is kept."""
        kept = _KINDS[self.name].apply(value, dtype, self.attrs)
        return None if kept is _NOTHING else (kept, _KINDS[self.name].dtype or dtype)

    def check(self, tensor: str, number: int, dtype: DType) -> None:
        """FailedPreconditionError for values that it cannot look at, or attributes that it has not."""
        node = f"__dbg_{tensor}_{number}_{self.name}"
        wrong = sorted(self.attrs.keys() - _KINDS[self.name].attrs - {_GATED})
        if wrong:
            raise errors.failed_precondition(
                f"{len(wrong)} attribute key(s) were not valid for debug node {node}: {', '.join(wrong)}"
            )
        is_number = dtype.is_floating or dtype.is_integer or dtype.is_bool
        if self.name != "DebugIdentity" and not is_number:
            raise errors.failed_precondition(
                f"Failed to create debug node {self.name} for tensor {tensor}: it looks at numbers, not at "
                f"{dtype.base_dtype.name}"
            )


def parse(spec: str) -> DebugOp:
    """The debug op of a name with attributes.

    Args:
      spec: The name, and `(key=value; key=value)`.

    Returns:
      The debug op.
    """
    found = _SPEC.match(spec.strip())
    if found is None or found["op"] not in _KINDS:
        raise errors.failed_precondition(f"There is no debug op {spec!r}. There are: {', '.join(_KINDS)}")
    attrs = dict(part.strip().split("=", 1) for part in (found["attrs"] or "").split(";") if "=" in part)
    return DebugOp(found["op"], attrs)


_NOTHING = object()


def _nan_count(value: Any, dtype: DType, attrs: dict[str, str]) -> Any:
    if isinstance(value, Uninitialized):
        return _NOTHING
    return np.array([np.sum(np.isnan(value.astype(np.float64)))], np.int64)


def _numeric_summary(value: Any, dtype: DType, attrs: dict[str, str]) -> Any:
    """Whether there is a value, its counts, its least, greatest, mean and variance, its type and shape."""
    there = not isinstance(value, Uninitialized)
    numbers = value.astype(np.float64).reshape(-1) if there else np.zeros([0])
    low, high = float(attrs.get("lower_bound", "-inf")), float(attrs.get("upper_bound", "inf"))
    nans, too_low, too_high = np.isnan(numbers), numbers <= low, numbers >= high
    if attrs.get("mute_if_healthy", "").lower() == "true" and not np.any(nans | too_low | too_high):
        return _NOTHING
    inside = ~(nans | too_low | too_high)
    counts = [
        nans,
        too_low,
        inside & (numbers < 0),
        inside & (numbers == 0),
        inside & (numbers > 0),
        too_high,
    ]
    finite = numbers[np.isfinite(numbers)]
    known = [finite.min(), finite.max(), finite.mean(), finite.var()] if finite.size else None
    return np.array(
        [
            float(there),
            numbers.size,
            *map(np.sum, counts),
            *(known or [np.inf, -np.inf, np.nan, np.nan]),
            dtype.base_dtype.as_datatype_enum,
            len(value.shape),
            *value.shape,
        ],
        np.float64,
    )


@dataclass(frozen=True)
class _Kind:
    apply: Callable[[Any, DType, dict[str, str]], Any]
    dtype: DType | None = None  # of what is kept; that of the value if None
    attrs: frozenset[str] = frozenset()


_KINDS = {
    "DebugIdentity": _Kind(lambda value, dtype, attrs: value),
    "DebugNanCount": _Kind(_nan_count, int64),
    "DebugNumericSummary": _Kind(
        _numeric_summary, float64, frozenset(["lower_bound", "upper_bound", "mute_if_healthy"])
    ),
}
