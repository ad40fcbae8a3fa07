"""Element-wise functions of two tensors: arithmetic, comparison, logic. They broadcast within one type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import tideflow as tf
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError, definition, not_differentiable, undefined_gradient
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.helpers import cpu_functions, unbroadcast, unsigned
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.elementwise import add_binary_samples, binary, of_known_elements, published
from tideflow.ops.helpers.flops import per_output_element
from tideflow.ops.helpers.integers import truncated_quotient
from tideflow.ops.helpers.samples import boolean, f32
from tideflow.ops.helpers.types import (
    COMPLEX,
    FLOATS,
    FLOATS_COMPLEX,
    REAL,
    SIGNED,
    UNSIGNED,
    types,
)
from tideflow.ops.math import casting

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, TensorOrRagged

# -------------------------------------------------------------------------------- sums and products


def sum_gradient(op: Operation, grad: Any) -> list[Tensor]:
    """The gradient of Add and AddV2."""
    x, y = op.inputs
    if unbroadcast.known_and_equal(x, y, grad):
        return [grad, grad]
    to_x, to_y = unbroadcast.short_ways_back(x, y, grad)
    return [to_x(grad), to_y(grad)]


add = binary(
    "Add",
    "math.add add",
    "The sum x + y; strings are joined.",
    torch.add,
    sum_gradient,
    types=FLOATS + types("uint8") + SIGNED + COMPLEX + types("string"),
    sized=True,
    against=np.add,
    as_number="{} + {}",
    may_overflow=True,
    sums_inputs=2,
    flops=per_output_element(),
    ragged="broadcast_values",
)


@add.op.kernel("string")
def _add_string_kernel(x, y):
    return np.asarray(np.add(x, y), dtype=object)


add.op.samples((np.array([b"a", b"b"], object), np.array(b"c", object)))

add_v2 = binary(
    "AddV2",
    "",
    "x + y, of numbers.",
    torch.add,
    sum_gradient,
    types=FLOATS + UNSIGNED + SIGNED + COMPLEX,
    commutative=True,
    sized=True,
    against=np.add,
    as_number="{} + {}",
    may_overflow=True,
    sums_inputs=2,
)


def _subtract_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    if unbroadcast.known_and_equal(x, y, grad):
        return [grad, -grad]
    to_x, to_y = unbroadcast.short_ways_back(x, y, grad)
    return [to_x(grad), to_y(-grad)]


subtract = binary(
    "Sub",
    "math.subtract subtract",
    "The difference x - y.",
    torch.sub,
    _subtract_gradient,
    types=FLOATS + types("uint8 int8 uint16 int16 int32 int64 complex64 complex128 uint32 uint64"),
    sized=True,
    against=np.subtract,
    as_number="{} - {}",
    may_overflow=True,
    flops=per_output_element(),
    ragged="broadcast_values",
)

# The types that are multiplied and divided.
DIVISIBLE = FLOATS + types("uint8 int8 uint16 int16 int32 uint32 uint64 int64 complex64 complex128")


def _multiply_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    if unbroadcast.known_and_equal(x, y, grad) and grad.dtype.base_dtype in (dtypes.int32, dtypes.float32):
        return [multiply(grad, y), multiply(grad, x)]
    to_x, to_y = unbroadcast.short_ways_back(x, y, grad)
    x, y = tf.conj(x), tf.conj(y)
    return [to_x(multiply(grad, y)), to_y(multiply(x, grad))]


multiply = binary(
    "Mul",
    "math.multiply multiply",
    "The product x * y.",
    torch.mul,
    _multiply_gradient,
    types=DIVISIBLE,
    commutative=True,
    sized=True,
    against=np.multiply,
    as_number="{} * {}",
    may_overflow=True,
    flops=per_output_element(),
    ragged="broadcast_values",
)


def zero_where(condition: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value`, and 0 where the condition holds, whatever the value is there."""
    return torch.where(condition, torch.zeros((), dtype=value.dtype, device=value.device), value)


def _multiply_no_nan_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    if unbroadcast.known_and_equal(x, y, grad):
        return [mul_no_nan(grad, y), mul_no_nan(x, grad)]
    to_x, to_y = unbroadcast.ways_back(shapes.shape(x), shapes.shape(y))
    return [to_x(mul_no_nan(grad, y)), to_y(mul_no_nan(x, grad))]


mul_no_nan = binary(
    "MulNoNan",
    "",
    "x * y, 0 where y is 0.",
    lambda x, y: zero_where(y == 0, x * y),
    _multiply_no_nan_gradient,
    types=FLOATS_COMPLEX,
    against=np.multiply,
)


@export("math.multiply_no_nan")
def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The product x * y, 0 where y is 0, even if x is infinite or not a number there.

    Args:
      x: A tensor of floating-point or complex numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return mul_no_nan(x, convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype), name=scope)


@export("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """The product of a scalar and a tensor or IndexedSlices.

    Args:
      scalar: A scalar of the type of `x`.
      x: A tensor, or IndexedSlices whose values are multiplied.
      name: A name for the operation.

    Returns:
      A tensor, or IndexedSlices, like `x`.

    Raises:
      ValueError: If `scalar` is not a scalar.
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(multiply(scalar, x.values, name), x.indices, x.dense_shape)
    return multiply(scalar, x, name)


def _squared_difference_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    with control_dependencies([grad]):
        slope = scalar_mul(2.0, grad) * (x - y)
    if unbroadcast.known_and_equal(x, y, grad):
        return [slope, -slope]
    to_x, to_y = unbroadcast.short_ways_back(x, y, grad)
    grad_x = to_x(slope)
    return [grad_x, -to_y(slope)]


def _squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    difference = torch.sub(x, y)
    return difference * difference.conj()


squared_difference = binary(
    "SquaredDifference",
    "math.squared_difference squared_difference",
    "The squared difference (x - y) * (x - y).",
    _squared_difference,
    _squared_difference_gradient,
    types=FLOATS + types("int32 int64") + COMPLEX,
    commutative=True,
    against=lambda x, y: (x - y) ** 2,
    flops=per_output_element(2),
    ragged="broadcast_values",
)


# -------------------------------------------------------------------------------- division


def is_integer(x: torch.Tensor) -> bool:
    """Whether the elements are integers or truth values."""
    return not (x.dtype.is_floating_point or x.dtype.is_complex)


def unless_integer(function: Callable) -> Callable:
    """The shortcut of an op that is one ATen function of all numbers but integers."""

    def _specialized(node: Any) -> Any:
        dtype = node.inputs[0].dtype
        return (function, node.inputs) if dtype.is_floating or dtype.is_complex else None

    return _specialized


def quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The kernel of divisions that round the quotients of integers toward zero."""
    return truncated_quotient(x, y) if is_integer(x) else torch.true_divide(x, y)


def _quotient_gradient(divide: Callable) -> Callable:
    """The gradient of a division, built from the division itself."""

    def _gradient(op: Operation, grad: Any) -> list[Tensor]:
        x, y = op.inputs
        to_x, to_y = unbroadcast.ways_back(shapes.shape(x), shapes.shape(y))
        x, y = tf.conj(x), tf.conj(y)
        grad_x = to_x(divide(grad, y))
        return [grad_x, to_y(grad * divide(divide(-x, y), y))]

    return _gradient


def _quotient_of_arrays(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.trunc(x / y).astype(x.dtype) if x.dtype.kind == "i" else x / y


realdiv = binary(
    "RealDiv",
    "realdiv",
    "The quotient x / y; of integers, rounded toward zero.",
    quotient,
    _quotient_gradient(lambda x, y: realdiv(x, y)),
    types=DIVISIBLE,
    uint64=unsigned.quotient,
    specialize=unless_integer(torch.true_divide),
    sized=True,
    domain=(0.5, 2.0),
    against=_quotient_of_arrays,
    flops=per_output_element(),
    ragged="broadcast_values",
)

# The floating type in which integers are divided; other types divide in their own.
_QUOTIENT_TYPES = {dtype: dtypes.float32 for dtype in types("uint8 int8 uint16 int16")} | {
    dtype: dtypes.float64 for dtype in types("int32 int64")
}


@export("truediv", "math.truediv", ragged="broadcast_values")
def truediv(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """The quotient x / y as Python 3 has it: integers are divided as floating-point numbers.

    Args:
      x: A tensor of numbers. Of 8 or 16 bits, integers are divided in float32, of 32 or 64 bits in float64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of floating-point or complex numbers and of the broadcast shape.

    Raises:
      TypeError: If `x` and `y` have different types.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x, y = as_quotient(convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y"))
        return realdiv(x, y, name=scope)


def as_quotient(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the type in which Python divides them."""
    dtype = _common_dtype(x, y)
    if dtype in _QUOTIENT_TYPES:
        return casting.cast(x, _QUOTIENT_TYPES[dtype]), casting.cast(y, _QUOTIENT_TYPES[dtype])
    if not (dtype.is_floating or dtype.is_complex):
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__")
    return x, y


def _common_dtype(x: Tensor, y: Tensor) -> dtypes.DType:
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise TypeError(
            f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}"
        )
    return x.dtype.base_dtype


@export("divide", "math.divide", ragged="broadcast_values")
def divide(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Any:
    """The quotient x / y by Python's operator: whatever `/` means for `x` and `y`.

    Args:
      x: A tensor, or a value that divides one.
      y: A tensor, or a value that a tensor is divided by.
      name: A name for the operation; with one, the two are divided by `tf.truediv`.

    Returns:
      `x / y`.
    """
    return x / y if name is None else truediv(x, y, name)


old_div = binary(
    "Div",
    "",
    "x / y; of integers, rounded toward zero.",
    quotient,
    _quotient_gradient(lambda x, y: x / y),
    types=DIVISIBLE,
    uint64=unsigned.quotient,
    specialize=unless_integer(torch.true_divide),
    sized=True,
    domain=(0.5, 2.0),
    against=_quotient_of_arrays,
)


@export("div")
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient x / y as Python 2 has it: of integers, rounded down.

    Args:
      x: A tensor of numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        dtype = _common_dtype(x, y)
        divide_them = realdiv if dtype.is_floating or dtype.is_complex else floor_div
        return divide_them(x, y, name=scope)


def flat(op: Operation, grad: Any) -> list[None]:
    """The gradient of a step function: none passes."""
    return [None, None]


truncatediv = binary(
    "TruncateDiv",
    "truncatediv",
    "The quotient x / y, of integers rounded toward zero.",
    quotient,
    flat,
    types=DIVISIBLE,
    uint64=unsigned.quotient,
    specialize=unless_integer(torch.true_divide),
    sized=True,
    domain=None,
    against=_quotient_of_arrays,
    ragged="broadcast_values",
)


def _floor_divided(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of floats this is floor(x / y), which ATen's own floor division is not: there 1 // 0.1 is 9."""
    return torch.floor_divide(x, y) if is_integer(x) else torch.floor(x / y)


floor_div = binary(
    "FloorDiv",
    "floor_div",
    "The quotient x / y, rounded down.",
    _floor_divided,
    flat,
    types=DIVISIBLE,
    uint64=unsigned.quotient,
    sized=True,
    domain=(0.5, 2.0),
    against=np.floor_divide,
)


@export("floordiv", "math.floordiv", ragged="broadcast_values")
def floordiv(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """The quotient x / y, rounded down.

    Args:
      x: A tensor of real numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    return floor_div(x, y, name=name or "floordiv")


def _floor_remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if is_integer(x):
        return torch.remainder(x, y)
    rest = torch.fmod(x, y)
    return torch.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _floormod_gradient(op: Operation, grad: Any) -> list[Tensor]:
    x, y = op.inputs
    to_x, to_y = unbroadcast.ways_back(shapes.shape(x), shapes.shape(y))
    whole = floor_div(x, y)
    grad_x = to_x(grad)
    return [grad_x, to_y(grad * tf.negative(whole))]


floormod = binary(
    "FloorMod",
    "math.floormod floormod math.mod mod",
    "The remainder of x / y rounded down; it has the sign of y.",
    _floor_remainder,
    _floormod_gradient,
    types=SIGNED + UNSIGNED + FLOATS,
    uint64=unsigned.remainder,
    sized=True,
    domain=(0.5, 2.0),
    against=np.mod,
    ragged="broadcast_values",
)
mod = floormod

truncatemod = binary(
    "TruncateMod",
    "truncatemod",
    "The remainder of x / y rounded toward zero; it has the sign of x.",
    torch.fmod,
    undefined_gradient,
    types=types("int32 int64") + FLOATS,
    domain=(0.5, 2.0),
    against=np.fmod,
    ragged="broadcast_values",
)
old_mod = binary(
    "Mod",
    "",
    "The older name of truncatemod.",
    torch.fmod,
    undefined_gradient,
    types=types("int32 int64 half half bfloat16 float double"),
    domain=(0.5, 2.0),
    against=np.fmod,
)

raw_div_no_nan = binary(
    "DivNoNan",
    "",
    "x / y, 0 where y is 0.",
    lambda x, y: zero_where(y == 0, x / y) if cpu_functions.has_zeros(y) else x / y,
    _quotient_gradient(lambda x, y: div_no_nan(x, y)),
    types=types("half float bfloat16 double complex64 complex128"),
    domain=(0.5, 2.0),
    against=np.divide,
)


@export("div_no_nan", "math.divide_no_nan", ragged="broadcast_values")
def div_no_nan(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """The quotient x / y, 0 where y is 0.

    Args:
      x: A tensor of floating-point or complex numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape.
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw_div_no_nan(x, convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype), name=scope)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """The reciprocal of each element, 1 / x, and 0 where x is 0.

    Args:
      x: A tensor of floating-point or complex numbers.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw_div_no_nan(constants.constant(1, dtype=x.dtype.base_dtype, name="one"), x, name=scope)


# -------------------------------------------------------------------------------- larger and smaller


def _selecting_gradient(keeps_x: Callable) -> Callable:
    """The gradient goes to x where `keeps_x(x, y)`, elsewhere to y."""

    def _gradient(op: Operation, grad: Any) -> list[Tensor]:
        x, y = op.inputs
        shape_x, shape_y = shapes.shape(x), shapes.shape(y)
        zeros = tf.zeros(shapes.shape(grad), dtype=grad.dtype.base_dtype)
        of_x = keeps_x(x, y)
        to_x, to_y = unbroadcast.ways_back(shape_x, shape_y)
        grad_x = to_x(definition("Select")(of_x, grad, zeros))
        return [grad_x, to_y(definition("Select")(of_x, zeros, grad))]

    return _gradient


ORDERED = FLOATS + types("int8 uint8 int16 uint16 int32 uint32 int64 uint64")
maximum = binary(
    "Maximum",
    "math.maximum maximum",
    "The larger of x and y.",
    torch.maximum,
    _selecting_gradient(lambda x, y: greater_equal(x, y)),
    types=ORDERED,
    uint64=unsigned.by_order(torch.maximum),
    sized=True,
    against=np.maximum,
    as_number="max({}, {})",
    flops=per_output_element(),
    ragged="broadcast_values",
)
minimum = binary(
    "Minimum",
    "math.minimum minimum",
    "The smaller of x and y.",
    torch.minimum,
    _selecting_gradient(lambda x, y: less_equal(x, y)),
    types=ORDERED,
    uint64=unsigned.by_order(torch.minimum),
    sized=True,
    against=np.minimum,
    as_number="min({}, {})",
    flops=per_output_element(),
    ragged="broadcast_values",
)

# -------------------------------------------------------------------------------- comparison


def comparison(
    op_type: str, word: str, doc: str, kernel: Callable, against: Callable, as_number: str
) -> Callable[..., Tensor]:
    """Defines an op that orders two tensors."""
    return binary(
        op_type,
        f"math.{word} {word}",
        doc,
        kernel,
        not_differentiable,
        types=REAL,
        uint64=unsigned.by_order(kernel),
        specialize=cpu_functions.by_numpy(cpu_functions.TESTS[kernel], cpu_functions.TESTED),
        gives="bool",
        against=against,
        flops=per_output_element(),
        ragged="broadcast_values",
        as_number=as_number,
    )


less = comparison("Less", "less", "Tells where x < y.", torch.lt, np.less, as_number="{} < {}")
less_equal = comparison(
    "LessEqual", "less_equal", "Tells where x <= y.", torch.le, np.less_equal, as_number="{} <= {}"
)
greater = comparison("Greater", "greater", "Tells where x > y.", torch.gt, np.greater, as_number="{} > {}")
greater_equal = comparison(
    "GreaterEqual", "greater_equal", "Tells where x >= y.", torch.ge, np.greater_equal, as_number="{} >= {}"
)


def equality(op_type: str, kernel: Callable, of_strings: Callable, of_misfits: bool, as_number: str) -> Op:
    """Defines Equal or NotEqual; `of_misfits` is the answer for shapes that do not broadcast, if allowed."""
    op = Op(
        op_type,
        "x: T, y: T -> z: bool",
        incompatible_shape_error=True,
        commutative=True,
        differentiable=False,
        as_number=as_number,
        has_static_value=True,
    )

    @op.shape
    def _shape(x, y, *, incompatible_shape_error):
        try:
            return broadcast_shapes(x, y)
        except ShapeError:
            if incompatible_shape_error:
                raise
            return []

    op.value(of_known_elements)

    @op.kernel
    def _kernel(x, y, *, incompatible_shape_error):
        if not incompatible_shape_error and not _broadcast(x.shape, y.shape):
            return torch.tensor(of_misfits, device=x.device)
        return kernel(x, y)

    @op.kernel("string")
    def _string_kernel(x, y, *, incompatible_shape_error):
        if not incompatible_shape_error and not _broadcast(x.shape, y.shape):
            return torch.tensor(of_misfits)
        return torch.as_tensor(of_strings(x, y), dtype=torch.bool)

    @op.specialize
    def _specialized(node):
        if not node.attrs["incompatible_shape_error"]:
            return None
        is_quick = cpu_functions.is_for_numpy(node, cpu_functions.TESTED)
        return (cpu_functions.TESTS[kernel] if is_quick else kernel), node.inputs

    add_binary_samples(
        op,
        (-1.0, 1.0),
        lambda x, y: of_strings(x, y) if _broadcast(x.shape, y.shape) else np.bool_(of_misfits),
    )
    op.samples((np.array([b"a", b"b"], object), np.array(b"b", object)), (boolean(3), boolean(3)))
    op.samples((f32(2), f32(3), {"incompatible_shape_error": False}))
    return op


def _broadcast(left: tuple, right: tuple) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))


equal_op = equality("Equal", torch.eq, np.equal, of_misfits=False, as_number="{} == {}")
equal_op.flops(per_output_element())


@export("equal", "math.equal", ragged="broadcast_values")
def equal(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """Tells where x == y, element by element.

    Args:
      x: A tensor of any type.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape.
    """
    return equal_op(x, y, name=name)


not_equal_op = equality("NotEqual", torch.ne, np.not_equal, of_misfits=True, as_number="{} != {}")
not_equal_op.flops(per_output_element())


@export("not_equal", "math.not_equal", ragged="broadcast_values")
def not_equal(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
    """Tells where x != y, element by element.

    Args:
      x: A tensor of any type.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape.
    """
    return not_equal_op(x, y, name=name)


# -------------------------------------------------------------------------------- logic


def logical(
    op_type: str, word: str, doc: str, kernel: Callable, against: Callable, as_number: str
) -> Callable[..., Tensor]:
    """Defines an op of two truth values."""
    op = Op(
        op_type, "x: bool, y: bool -> z: bool", commutative=True, differentiable=False, as_number=as_number
    )
    op.shape(broadcast_shapes)
    op.kernel(kernel)
    op.samples(
        (boolean(2, 3), boolean(3)), (boolean(), boolean()), (boolean(0, 2), boolean(2)), against=against
    )

    def function(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
        return op(x, y, name=name)

    arguments = {
        "x": "A tensor of type bool.",
        "y": "A tensor of type bool, of a shape that broadcasts with that of `x`.",
    }
    result = "A tensor of type bool and of the broadcast shape."
    return published(function, op, f"math.{word} {word}", doc, arguments, result, ragged="broadcast_values")


logical_and = logical(
    "LogicalAnd",
    "logical_and",
    "Tells where x and y are both True.",
    torch.logical_and,
    np.logical_and,
    as_number="{} and {}",
)
logical_or = logical(
    "LogicalOr",
    "logical_or",
    "Tells where x or y is True, or both.",
    torch.logical_or,
    np.logical_or,
    as_number="{} or {}",
)


@export("logical_xor", "math.logical_xor", ragged="broadcast_values")
def logical_xor(x: TensorOrRagged, y: TensorOrRagged, name: str = "LogicalXor") -> Tensor:
    """Tells where exactly one of x and y is True.

    Args:
      x: A tensor of type bool.
      y: A tensor of type bool, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of type bool and of the broadcast shape.
    """
    return logical_and(logical_or(x, y), tf.logical_not(logical_and(x, y)), name=name)
