"""What is said where inputs do not fit an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.partial import partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.graph.traceback import Frame, user_frames, user_line

if TYPE_CHECKING:
    from tideflow.graph.op import Op
    from tideflow.graph.schema import Arg


class ShapeError(ValueError):
    """The error of shape rules.

    `Op.infer` adds the op, its input shapes and the user's line to the message. `in_step` is how a kernel of
    TensorFlow says the same: in a step the message begins with it. NODE in it stands for the node's name.
    """

    NODE = "{node}"

    def __init__(self, message: str, in_step: str = ""):
        super().__init__(message)
        self.in_step = in_step

    @property
    def step_message(self) -> str:
        """What a step says."""
        return f"{self.in_step}: {self}" if self.in_step else str(self)


def type_word(dtype: DType) -> str:
    """TensorFlow's word for a type in errors of kernels: that of its protocol message."""
    name: str = DataType.Name(dtype.base_dtype.as_datatype_enum)
    return name.removeprefix("DT_").lower()


def passed_another_type(op: Op, arg: Arg, value: Any, wanted: DType, error: TypeError) -> TypeError:
    """The error of a value that cannot become a tensor of the type that an input must have."""
    return TypeError(
        f"Expected {wanted.base_dtype.name} passed to parameter '{arg.name}' of op '{op.name}', got "
        f"{value!r} of type '{type(value).__name__}' instead. Error: {error}\n    made at "
        f"{user_line(user_frames())}"
    )


def passed_other_types(
    op: Op, arg: Arg, values: Sequence[Any], wanted: DType | None, error: TypeError
) -> TypeError:
    """The error of a list whose elements cannot all have the type that they must have, or one type."""
    if arg.type_attr is None and wanted is not None:
        against = f"do not match expected type {wanted.base_dtype.name}"
    else:
        against = "don't all match"
    types = ", ".join(map(_type_as_tensor, values))
    return TypeError(
        f"Tensors in list passed to '{arg.name}' of '{op.name}' Op have types [{types}] that {against}. "
        f"{error}"
    )


def _type_as_tensor(value: Any) -> str:
    try:
        return convert_to_tensor(value).dtype.base_dtype.name
    except (TypeError, ValueError):
        return "<NOT CONVERTIBLE TO TENSOR>"


def shape_message(said: str, op: Op, name: str, inputs: list[Any], frames: tuple[Frame, ...]) -> str:
    """What a shape rule said, with the op, the shapes and known values of its inputs, and the user's line."""
    pairs = zip(op.inputs, inputs, strict=True)
    flat = [(arg, v) for arg, value in pairs for v in (value if isinstance(value, list) else [value])]
    shapes = ", ".join(_show_shape(value.shape) for _, value in flat)
    known = [(i, partial_value(value)) for i, (arg, value) in enumerate(flat) if arg.name in op.host]
    computed = ", ".join(f"input[{i}] = {value}" for i, value in known if value is not None)
    tail = f" and with computed input tensors: {computed}" if computed else ""
    line = f"\n    made at {user_line(frames)}" if frames else ""
    return f"{said} for '{name}' (op: '{op.name}') with input shapes: {shapes}{tail}.{line}"


def _show_shape(shape: TensorShape) -> str:
    dims = shape.tuple
    return "<unknown>" if dims is None else "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"
