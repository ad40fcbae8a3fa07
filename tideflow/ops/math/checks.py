"""Assertions about tensors: what the graph knows is checked at once, the rest by Assert operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import colocate_with, control_dependencies, get_default_graph, name_scope
from tideflow.ops.arrays import constants, shapes, slicing
from tideflow.ops.control_flow import conditionals, debugging, grouping
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.failed_checks import comparison_error, label, name_or
from tideflow.ops.math import binary, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike


# What TensorFlow's builder of graphs computes of constants. More is known here, but programs and tests expect
# the rest to fail in the step, as it does there.
_COMPUTED_AT_ONCE = frozenset(["Cast", "ConcatV2", "Equal", "Fill", "NotEqual", "Pack", "Range"])
_KNOWN_BY_SHAPE = frozenset(["Rank", "Shape", "Size"])


def _known_now(tensor: Tensor) -> Any:
    """The value of a tensor that is checked while the graph is built; None for one that a step checks."""
    return constant_value(tensor) if tensor.is_eager or _is_checked_now(tensor.op) else None


def _is_checked_now(op: Operation) -> bool:
    if op.definition.role == "constant" or op.type in _KNOWN_BY_SHAPE:
        return True
    return op.type in _COMPUTED_AT_ONCE and all(_is_checked_now(source.op) for source in op.inputs)


def _check_now(holds: Any, data: Sequence[Any]) -> None:
    """Fails while the graph is built, with the values that are known."""
    if holds:
        return
    lines = [constant_value(item) if isinstance(item, Tensor) else item for item in data]
    known = [item if line is None else line for item, line in zip(data, lines, strict=True)]
    raise errors.invalid_argument("\n".join(map(str, known)))


# ----------------------------------------------------------------------------------- comparing all elements

# What the docstrings of the checks below say after their own arguments.
ARGUMENTS = """\
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away.\
"""


def _comparison(name: str, symbol: str, word: str) -> Callable:
    """`assert_<name>(x, y)`; `word` names the comparison, here of tensors and in NumPy of arrays."""

    def check(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, check.__name__, [x, y, *(data or ())]):
            x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
            holds = getattr(binary, word)(x, y)
            if getattr(holds, "is_eager", False):
                if not reductions.reduce_all(holds):
                    raise comparison_error(symbol, x, y, holds, data, summarize, message)
                return None
            if data is None:
                rule = f"Condition x {symbol} y did not hold element-wise:"
                data = [rule, f"x ({label(x)}) = ", x, f"y ({label(y)}) = ", y]
            if message is not None:
                data = [message, *data]
            condition = reductions.reduce_all(holds)
            known = _known_now(x), _known_now(y)
            if known[0] is not None and known[1] is not None:
                _check_now(np.all(getattr(np, word)(*known)), data)
            return debugging.Assert(condition, data, summarize=summarize)

    check.__name__ = check.__qualname__ = f"assert_{name}"
    check.__doc__ = f"""Makes an operation that fails unless x {symbol} y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
{ARGUMENTS}
    """
    return check


def _public(check: Callable) -> Callable:
    return export(check.__name__, f"debugging.{check.__name__}")(check)


_assert_equal = _comparison("equal", "==", "equal")


@export("assert_equal", "debugging.assert_equal")
def assert_equal(
    x: TensorLike,
    y: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Makes an operation that fails unless x == y in every element.

    Args:
      x: A tensor.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError. Where the values are known already, that is raised
      right away.
    """
    with name_scope(name, "assert_equal", [x, y, *(data or ())]):
        if x is y:
            return constants.no_operation()
    return _assert_equal(x, y, data, summarize, message, name)


assert_none_equal = _public(_comparison("none_equal", "!=", "not_equal"))
assert_less = _public(_comparison("less", "<", "less"))
assert_less_equal = _public(_comparison("less_equal", "<=", "less_equal"))
assert_greater = _public(_comparison("greater", ">", "greater"))
assert_greater_equal = _public(_comparison("greater_equal", ">=", "greater_equal"))


def _sign_check(name: str, symbol: str, check_sides: Callable, zero_first: bool) -> Callable:
    """`assert_<name>(x)`: how every element compares with zero."""

    def check(
        x: TensorLike,
        data: Sequence[Any] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, check.__name__, [x, *(data or ())]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                rule, value = f"Condition x {symbol} 0 did not hold element-wise:", f"x ({label(x)}) = "
                # TensorFlow shows these two as one for `<=`; the constants' names follow from that.
                texts = [rule + value] if symbol == "<=" else [rule, value]
                data = [message or "", *texts, x]
            zero = convert_to_tensor(0, dtype=x.dtype.base_dtype)
            sides = (zero, x) if zero_first else (x, zero)
            return check_sides(*sides, data=data, summarize=summarize)

    check.__name__ = check.__qualname__ = f"assert_{name}"
    check.__doc__ = f"""Makes an operation that fails unless x {symbol} 0 in every element.

    Args:
      x: A tensor of numbers.
{ARGUMENTS}
    """
    return check


assert_negative = _public(_sign_check("negative", "<", assert_less, zero_first=False))
assert_positive = _public(_sign_check("positive", ">", assert_less, zero_first=True))
assert_non_negative = _public(_sign_check("non_negative", ">=", assert_less_equal, zero_first=True))
assert_non_positive = _public(_sign_check("non_positive", "<=", assert_less_equal, zero_first=False))


@export("assert_near", "debugging.assert_near")
def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Makes an operation that fails unless abs(x - y) < atol + rtol * abs(y) in every element.

    Args:
      x: A tensor of floating-point or complex numbers.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      rtol: The relative tolerance; by default ten times the distance from 1 to the next number of the type.
      atol: The absolute tolerance; by default the same.
      data: The tensors and strings to print on failure, instead of the operands.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, *(data or ())]):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype.base_dtype
        y = convert_to_tensor(y, name="y", dtype=dtype)
        rtol = convert_to_tensor(_ten_units(dtype) if rtol is None else rtol, name="rtol", dtype=dtype)
        atol = convert_to_tensor(_ten_units(dtype) if atol is None else atol, name="atol", dtype=dtype)
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({label(x)}) = ",
                x,
                f"y ({label(y)}) = ",
                y,
            ]
        tolerance = atol + rtol * unary.abs(y)
        condition = reductions.reduce_all(binary.less(unary.abs(x - y), tolerance))
        return debugging.Assert(condition, data, summarize=summarize)


def _ten_units(dtype: dtypes.DType) -> float:
    """Ten times the distance from 1 to the next number of a type."""
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"assert_near has no default tolerance for {dtype.name}: give rtol and atol.")
    return 10 * float(ml_dtypes.finfo(dtype.real_dtype.as_numpy_dtype).eps)


# ---------------------------------------------------------------------------------------------------- types


@export("assert_type", "debugging.assert_type")
def assert_type(
    tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None
) -> Operation:
    """Checks the type of a tensor while the graph is built.

    Args:
      tensor: A tensor.
      tf_type: The type that it must have.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that does nothing.

    Raises:
      TypeError: If the tensor has another type.
    """
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            subject = " tensor" if tensor.is_eager else f"  {tensor.name}"
            raise TypeError(f"{message or ''}{subject} must be of type {tf_type}")
        return constants.no_operation("statically_determined_correct_type")


@export("assert_integer", "debugging.assert_integer")
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """Checks while the graph is built that a tensor holds integers.

    Args:
      x: A tensor.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that does nothing.

    Raises:
      TypeError: If the tensor holds something else.
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            found = f"{name_or(x, 'tensor')} of dtype {x.dtype}"
            raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {found}')
        return constants.no_operation("statically_determined_was_integer")


@export("assert_same_float_dtype", "debugging.assert_same_float_dtype")
def assert_same_float_dtype(
    tensors: Sequence[Any] | None = None, dtype: DTypeLike | None = None
) -> dtypes.DType:
    """Finds the floating-point type that tensors share.

    Args:
      tensors: Tensors; None among them is skipped.
      dtype: The type that they must have, where it is known.

    Returns:
      The type; float32 where there are no tensors and no `dtype`.

    Raises:
      ValueError: If types differ, or are not floating-point.
    """
    found, where = dtype, ""
    for tensor in tensors or ():
        if tensor is None:
            continue
        kind = tensor.dtype.base_dtype
        if not found:
            found, where = kind, f" as {label(tensor)}"
        elif found != kind:
            raise ValueError(f"{label(tensor)}, type={kind}, must be of the same type ({found}){where}.")
    if not found:
        return dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


_NUMERIC = frozenset(
    map(dtypes.as_dtype, "float32 float64 int8 int16 int32 int64 uint8 qint8 qint32 quint8 complex64".split())
)


@export("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Tells whether this is a tensor of numbers.

    Args:
      tensor: Any object.

    Returns:
      A bool.
    """
    return isinstance(tensor, Tensor) and tensor.dtype in _NUMERIC


@export("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Checks that `values` is a collection; tensors, arrays and strings do not count.

    Args:
      values: Any object.

    Raises:
      TypeError: If it is not.
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


# ---------------------------------------------------------------------------------------------------- ranks


@export("assert_scalar", "debugging.assert_scalar")
def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Tensor:
    """Checks while the graph is built that a tensor is a scalar.

    Args:
      tensor: A tensor.
      name: A name for the operation.
      message: What to say first on failure.

    Returns:
      The tensor.

    Raises:
      ValueError: If it is not known to have no dimensions.
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            subject = "" if tensor.is_eager else f" for {tensor.name}"
            raise ValueError(f"{message or ''}Expected scalar shape{subject}, saw shape: {tensor.shape}.")
        return tensor


def _assert_rank(
    x: Any,
    ranks: Sequence[Any],
    rule: str,
    holds: Callable[[int, list[int]], bool],
    condition: Callable[[Tensor, Sequence[Tensor]], Tensor],
    data: Sequence[Any] | None,
    summarize: int | None,
    message: str | None,
) -> Operation:
    """The rank of `x` against `ranks`: by `holds` now where all is known, else by `condition` in the step."""
    x = convert_to_tensor(x, name="x")
    ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
    message = message or ""
    if data is None:
        data = [
            message,
            f"Tensor {name_or(x, '')} must have {rule}",
            *ranks,
            "Received shape: ",
            shapes.shape(x),
        ]
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [constant_value(rank) for rank in ranks]
    if any(rank is not None and rank.ndim for rank in known):
        raise ValueError("Rank must be a scalar.")
    if x.shape.ndims is not None and all(rank is not None for rank in known):
        wanted = [int(rank) for rank in known]
        if not holds(x.shape.ndims, wanted):
            raise ValueError(
                f"{message}.  Tensor {name_or(x, '')} must have {rule} "
                f"{wanted[0] if len(wanted) == 1 else wanted}.  "
                f"Received rank {x.shape.ndims}, shape {x.shape}"
            )
        return constants.no_operation("static_checks_determined_all_ok")
    found = condition(shapes.rank(x), ranks)
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            is_scalar = assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
            found = grouping.with_dependencies([is_scalar], found)
    return debugging.Assert(found, data, summarize=summarize)


@export("assert_rank", "debugging.assert_rank")
def assert_rank(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Checks the rank of a tensor, while the graph is built or in the step.

    Args:
      x: A tensor.
      rank: The rank that it must have, a scalar of type int32.
      data: The tensors and strings to print on failure, instead of the shape.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError where the rank is another.

    Raises:
      ValueError: If the rank is known to be another.
    """
    with name_scope(name, "assert_rank", [x, rank, *(data or ())]):
        return _assert_rank(
            x,
            [rank],
            "rank",
            lambda found, wanted: found == wanted[0],
            lambda found, wanted: binary.equal(found, wanted[0]),
            data,
            summarize,
            message,
        )


@export("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Checks that a tensor has at least this rank, while the graph is built or in the step.

    Args:
      x: A tensor.
      rank: The lowest rank that it may have, a scalar of type int32.
      data: The tensors and strings to print on failure, instead of the shape.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError where the rank is lower.

    Raises:
      ValueError: If the rank is known to be lower.
    """
    with name_scope(name, "assert_rank_at_least", [x, rank, *(data or ())]):
        return _assert_rank(
            x,
            [rank],
            "rank at least",
            lambda found, wanted: found >= wanted[0],
            lambda found, wanted: binary.greater_equal(found, wanted[0]),
            data,
            summarize,
            message,
        )


@export("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: TensorLike,
    ranks: Iterable[Any],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Checks that a tensor has one of these ranks, while the graph is built or in the step.

    Args:
      x: A tensor.
      ranks: The ranks that it may have, scalars of type int32.
      data: The tensors and strings to print on failure, instead of the shape.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError where the rank is another.

    Raises:
      ValueError: If the rank is known to be another.
    """
    ranks = list(ranks)
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or ())]):
        return _assert_rank(
            x,
            ranks,
            "rank in",
            lambda found, wanted: found in wanted,
            _is_one_of,
            data,
            summarize,
            message,
        )


def _is_one_of(found: Tensor, wanted: Sequence[Tensor]) -> Tensor:
    condition = binary.equal(wanted[0], found)
    for rank in wanted[1:]:
        condition = binary.logical_or(condition, binary.equal(rank, found))
    return condition


# --------------------------------------------------------------------------------------------------- shapes


@export("debugging.assert_shapes")
def assert_shapes(
    shapes: Mapping[Any, Any] | Sequence[tuple[Any, Any]],
    data: Sequence[Any] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Checks tensors against shapes of numbers and symbols: `{x: ("N", 3), y: ("N", None), z: ("*", "N")}`.

    A symbol stands for one size everywhere; None or "." for any size; a leading "*" or ... for any number of
    dimensions. A scalar passes as a vector of one element.

    Args:
      shapes: A dict, or pairs, of tensors and their shapes.
      data: The tensors and strings to print on failure, instead of the shapes.
      summarize: How many elements of each tensor to print.
      message: What to say first on failure.
      name: A name for the operation.

    Returns:
      An operation that fails with InvalidArgumentError where a shape is another.

    Raises:
      ValueError: If a shape is known to be another.
    """
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    message = message or ""
    with name_scope(name, "assert_shapes", list(data or ())):
        wanted = [(convert_to_tensor(x), shape) for x, shape in pairs if shape is not None]
        specs = [_ShapeSpec(x, shape, message) for x, shape in wanted]
        rank_checks = [spec.assert_rank(data, summarize, message, name) for spec in specs]
        sizes: dict[Any, tuple[Any, str]] = {}
        size_checks = [
            check for spec in specs for check in spec.assert_sizes(sizes, data, summarize, message)
        ]
        with control_dependencies([check for check in rank_checks if check is not None]):
            return grouping.group(size_checks)


class _ShapeSpec:
    """One tensor and the shape it should have."""

    def __init__(self, x: Tensor, shape: Any, message: str):
        if not hasattr(shape, "__iter__"):
            raise ValueError(
                f"{message}.  Tensor {label(x)}.  Specified shape must be an iterable.  An "
                f"iterable has the attribute `__iter__` or `__getitem__`.  Received specified shape: {shape}"
            )
        symbols = tuple(shape)
        for i, symbol in enumerate(symbols[1:], start=1):
            if symbol is Ellipsis or symbol == "*":
                raise ValueError(
                    f"{message}.  Tensor {label(x)} specified shape index {i}.  Symbol `...` or `*` for a "
                    "variable number of unspecified dimensions is only allowed as the first entry"
                )
        self.x = x
        self.open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
        self.symbols = (symbols[1:] if self.open else symbols) or (1,)
        self.sizes = _sizes(x)

    def assert_rank(
        self, data: Sequence[Any] | None, summarize: int | None, message: str, name: str | None
    ) -> Operation | None:
        rank = len(self.symbols)
        if rank > 1:
            check = assert_rank_at_least if self.open else assert_rank
            return check(self.x, rank, data, summarize, message, name)
        return None if self.open else assert_rank_in(self.x, [0, 1], data, summarize, message, name)

    def assert_sizes(
        self,
        sizes: dict[Any, tuple[Any, str]],
        data: Sequence[Any] | None,
        summarize: int | None,
        message: str,
    ) -> list[Operation]:
        """Operations for the sizes that only a step knows; `sizes` is what each symbol stands for so far."""
        checks = []
        for i, symbol in enumerate(self.symbols):
            axis = i - len(self.symbols) if self.open else i
            if symbol is None or symbol == ".":
                continue
            if _as_int(symbol) is None and symbol not in sizes:
                sizes[symbol] = self.sizes[axis], f"Specified by tensor {label(self.x)} dimension {axis}"
                continue
            wanted, source = sizes.get(symbol, (_as_int(symbol), "Specified explicitly"))
            found = self.sizes[axis]
            if _as_int(found) is None or _as_int(wanted) is None:
                checks.append(self._assert_size(axis, found, wanted, source, data, summarize, message))
            elif int(found) != int(wanted):
                raise ValueError(
                    f"{message}.  {source}.  Tensor {label(self.x)} dimension {axis} must have size "
                    f"{wanted}.  Received size {found}, shape {self.x.shape}"
                )
        return checks

    def _assert_size(
        self,
        axis: int,
        found: Any,
        wanted: Any,
        source: str,
        data: Sequence[Any] | None,
        summarize: int | None,
        message: str,
    ) -> Operation:
        condition = binary.equal(convert_to_tensor(found), convert_to_tensor(wanted))
        if data is None:
            subject = f"Tensor {label(self.x)} dimension"
            shape = shapes.shape(self.x)
            data = [message, source, subject, axis, "must have size", wanted, "Received shape: ", shape]
        return debugging.Assert(condition, data, summarize=summarize)


def _sizes(x: Tensor) -> Any:
    """What can be indexed by axis: numbers where the sizes are known, else scalar tensors."""
    dynamic = shapes.shape(x)
    sizes = x.shape.tuple
    if sizes is not None:
        return [dynamic[i] if size is None else size for i, size in enumerate(sizes)] or [1]
    is_scalar = binary.equal(shapes.rank(x), 0)
    return conditionals.cond(is_scalar, lambda: constants.constant([1]), lambda: dynamic)


def _as_int(size: Any) -> int | None:
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


# ---------------------------------------------------------------------------------------------------- order


def _steps(x: Any) -> Tensor:
    """The differences of neighbours in the flattened tensor; none where there are fewer than two elements."""
    x = shapes.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    is_short = binary.less(shapes.size(x), 2)
    count = shapes.shape(x) - 1

    def differences() -> Tensor:
        return slicing.strided_slice(x, [1], [1] + count) - slicing.strided_slice(x, [0], count)

    return conditionals.cond(is_short, lambda: convert_to_tensor([], dtype=x.dtype), differences)


@export("is_non_decreasing", "math.is_non_decreasing", "debugging.is_non_decreasing")
def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Tells whether no element is smaller than the one before it, in row-major order.

    Args:
      x: A tensor of real numbers.
      name: A name for the operation.

    Returns:
      A scalar of type bool; True where there are fewer than two elements.
    """
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _steps(x)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return reductions.reduce_all(binary.less_equal(zero, steps))


@export("is_strictly_increasing", "math.is_strictly_increasing", "debugging.is_strictly_increasing")
def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Tells whether every element is greater than the one before it, in row-major order.

    Args:
      x: A tensor of real numbers.
      name: A name for the operation.

    Returns:
      A scalar of type bool; True where there are fewer than two elements.
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _steps(x)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return reductions.reduce_all(binary.less(zero, steps))


# ------------------------------------------------------------------------------------ not NaN, not infinite


@export("verify_tensor_all_finite", "debugging.assert_all_finite")
def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """Passes a tensor on; the step fails with the message where an element is NaN or infinite.

    Args:
      t: The tensor of floating-point numbers, by its deprecated name.
      msg: The message, by its deprecated name.
      name: A name for the operation.
      x: The tensor of floating-point numbers.
      message: What to say on failure.

    Returns:
      The tensor, after the check.
    """
    x = renamed("x", x, "t", t)
    message = renamed("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            checked = debugging.check_numerics(x, message=message)
            return grouping.with_dependencies([checked], x)


_CHECKED = (dtypes.half, dtypes.float32, dtypes.float64)


@export("add_check_numerics_ops")
def add_check_numerics_ops() -> Operation:
    """Makes an operation that fails where any floating-point tensor of the graph, so far, is NaN or infinite.

    Returns:
      An operation that runs all checks, in the order in which the tensors were made.

    Raises:
      ValueError: If the graph has a conditional or a loop.
    """
    checks: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in _CHECKED:
                continue
            if op._control_flow_context is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations "
                    f"such as `tf.cond()` or `tf.while_loop()`. '{op.name}' is inside one."
                )
            with control_dependencies(checks[-1:]):
                checks.append(debugging.check_numerics(output, message=output.name))
    return grouping.group(*checks[-1:])
