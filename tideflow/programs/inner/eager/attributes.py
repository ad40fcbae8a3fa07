"""Attributes as `eager.execute` takes them: checked as TensorFlow's C API does, before an op runs."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.graph.shapes import Dimension, TensorShape


def check(op: Op, attrs: dict[str, Any], inputs: Sequence[Any]) -> None:
    """Refuses what an op does not take.

    Args:
      op: The op.
      attrs: The attributes by name.
      inputs: The inputs, flat.

    Raises:
      tf.errors.InvalidArgumentError: If an attribute has another kind or is unknown, or inputs are missing.
    """
    for name, value in attrs.items():
        if name not in op.attrs:
            _refuse(op, f"Attribute '{name}' does not exist for this operation")
        kind = op.attrs[name].kind
        if kind.startswith("list("):
            _check_list(op, name, kind[5:-1], value)
        else:
            _check_one(op, name, kind, value)
    fixed = [arg for arg in op.inputs if not arg.is_list]
    if len(inputs) < len(fixed):
        expected = ", ".join(arg.dtype.name if arg.dtype else str(arg.type_attr) for arg in fixed)
        _refuse(op, f"NodeDef expected inputs '{expected}' do not match {len(inputs)} inputs specified")


def _check_list(op: Op, name: str, kind: str, values: Any) -> None:
    if kind == "type" and isinstance(values, str):
        _refuse(op, f"Expecting a DType.dtype for attr {name}, got str")
    if not isinstance(values, (list, tuple)):
        _refuse(op, f"Expecting sequence value for attr {name}, got {type(values).__name__}")
    for number, value in enumerate(values):
        if kind == "shape" and not _is_shape(value):
            _refuse(
                op,
                f"Expecting None or sequence value for element{number} of attr {name}, got "
                f"{type(value).__name__}",
            )
        _check_one(op, name, kind, value)


_WORDS = {
    "string": "Expecting a string value for attr",
    "int": "Expecting int64_t value for attr",
    "float": "Expecting float value for attr",
    "type": "Expecting a DType.dtype for attr",
    "shape": "Expecting None or sequence value for attr",
}


def _check_one(op: Op, name: str, kind: str, value: Any) -> None:
    fits = {"string": _is_text, "int": _is_int, "float": _is_float, "type": _is_type, "shape": _is_shape}
    if kind in fits and not fits[kind](value):
        _refuse(op, f"{_WORDS[kind]} {name}, got {type(value).__name__}")


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))


def _is_int(value: Any) -> bool:
    return isinstance(value, (Integral, Dimension))


def _is_float(value: Any) -> bool:
    return isinstance(value, Real)


def _is_type(value: Any) -> bool:
    return isinstance(value, (Integral, dtypes.DType))


def _is_shape(value: Any) -> bool:
    return value is None or isinstance(value, (list, tuple, TensorShape))


def _refuse(op: Op, words: str) -> None:
    raise errors.InvalidArgumentError(None, None, f"{words} [Op:{op.name}]")
