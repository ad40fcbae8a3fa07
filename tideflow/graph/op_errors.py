"""What is said where inputs do not fit an op."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.types_pb2 import DataType

from tideflow.graph import errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import OpError
from tideflow.graph.partial import partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.graph.traceback import Frame, user_frames, user_line

if TYPE_CHECKING:
    from tideflow.graph.op import Op
    from tideflow.graph.operation import Tensor
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


def no_kernel(op: Op, attr: str, wrong: DType | str | int) -> OpError:
    """The error of an attribute that may not be `wrong`, in eager mode, where TensorFlow says it while it
    looks for a kernel.
    """
    spec = op.attrs[attr]
    if isinstance(wrong, DType) and attr not in _types_of_any_kernel().get(op.name, ()):
        allowed = ", ".join(DataType.Name(dtype.as_datatype_enum) for dtype in spec.allowed or ())
        return errors.not_found(
            f"Could not find valid device for node.\nNode:{{{{node {op.name}}}}}\n"
            f"All kernels registered for op {op.name} :\n  device='CPU'; {attr} in [{allowed}]\n"
            f"but {attr} is {wrong.name} [Op:{op.name}]"
        )
    if isinstance(wrong, int):
        what = "Length" if spec.kind.startswith("list(") else "Value"
        fault = f"{what} for attr '{attr}' of {wrong} must be at least minimum {spec.minimum}"
    else:
        allowed = ", ".join(map(_in_text, spec.allowed or ()))
        fault = (
            f"Value for attr '{attr}' of {_in_text(wrong)} is not in the list of allowed values: {allowed}"
        )
    return errors.invalid_argument(f"{fault}\n\t; NodeDef: {{{{node {op.name}}}}} [Op:{op.name}]")


@functools.cache
def _types_of_any_kernel() -> dict[str, list[str]]:
    """By op type, the attributes that TensorFlow chooses no kernel by: it looks at them once it has one."""
    text = resources.files("tideflow.graph").joinpath("data/types_of_any_kernel.txt").read_text()
    return {op_type: attrs for op_type, *attrs in map(str.split, text.splitlines())}


def _in_text(value: Any) -> str:
    """An attribute's value as in the text of a message."""
    return type_word(value) if isinstance(value, DType) else f'"{value}"'


def passed_another_type(op: Op, arg: Arg, value: Any, wanted: DType, error: TypeError) -> TypeError:
    """The error of a value that cannot become a tensor of the type that an input must have."""
    return TypeError(
        f"Expected {wanted.base_dtype.name} passed to parameter '{arg.name}' of op '{op.name}', got "
        f"{value!r} of type '{type(value).__name__}' instead. Error: {error}\n    made at "
        f"{user_line(user_frames())}"
    )


def type_mismatch(op: Op, arg: Arg, tensor: Tensor, wanted: DType) -> TypeError:
    """The error of a tensor that has another type than an input must have."""
    found = f"Input '{arg.name}' of '{op.name}' Op has type {tensor.dtype.base_dtype.name}"
    first = next((a for a in op.inputs if a.type_attr == arg.type_attr), arg)
    if arg.type_attr is None:
        against = f"expected type of {wanted.name}"
    elif first is arg:
        against = f"type {wanted.name} of attribute '{arg.type_attr}'"
    else:
        against = f"type {wanted.name} of argument '{first.name}'"
    return TypeError(f"{found} that does not match {against}.\n    made at {user_line(user_frames())}")


def of_another_graph(op: Op, name: str, tensor: Tensor, first: Tensor) -> ValueError:
    """The error of inputs that are of different graphs."""
    other = "the graph that is the default one" if first is tensor else str(first)
    return ValueError(f"{tensor} must be from the same graph as {other}. (inputs of '{name}', op {op.name})")


def passed_another_count(op: Op, arg: Arg, count: int, wanted: int) -> ValueError:
    """The error of a list that has another length than one before it."""
    first = next(a for a in op.inputs if a.number_attr == arg.number_attr)
    return ValueError(
        f"List argument '{arg.name}' to '{op.name}' Op with length {count} must match length {wanted} of "
        f"argument '{arg.number_attr if first is arg else first.name}'."
    )


def passed_other_types(
    op: Op, arg: Arg, values: Sequence[Any], wanted: DType | None, error: Exception
) -> TypeError:
    """The error of a list whose elements cannot all have the type that they must have, or one type."""
    if wanted is None:
        against = "don't all match"
    elif arg.type_attr is None:
        against = f"do not match expected type {wanted.base_dtype.name}"
    else:
        against = f"do not match type {wanted.base_dtype.name} inferred from earlier arguments"
    return TypeError(f"{_list_of(op, arg, values)} that {against}. {error}")


def passed_mixed_types(
    op: Op, arg: Arg, values: Sequence[Any], wanted: Sequence[DType] | None, error: Exception
) -> TypeError:
    """The error of a list whose elements cannot be tensors, or not of the types that an earlier list has."""
    first = next(a for a in op.inputs if a.type_list_attr == arg.type_list_attr)
    if wanted is None or first is arg or len(wanted) != len(values):
        return TypeError(f"{_list_of(op, arg, values)} that are invalid. Tensors: {values}. {error}")
    types = ", ".join(map(_type_as_tensor, values))
    return TypeError(
        f"Input '{arg.name}' of '{op.name}' Op has type list of {types} that does not match type list "
        f"{', '.join(dtype.name for dtype in wanted)} of argument '{first.name}'. {error}"
    )


def _list_of(op: Op, arg: Arg, values: Sequence[Any]) -> str:
    types = ", ".join(map(_type_as_tensor, values))
    return f"Tensors in list passed to '{arg.name}' of '{op.name}' Op have types [{types}]"


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
