"""Static shapes, known in full, in part or not at all: `Dimension` and `TensorShape`.

A shape keeps its sizes as one tuple of ints, `None` for an unknown size; the tuple itself is `None` where the
rank is unknown. Code inside Tideflow works on that tuple (`shape.tuple`); `Dimension` objects are made when a
program asks for them.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator
from operator import add, floordiv, ge, gt, le, lt, mod, mul, sub
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

from tideflow.export import export
from tideflow.graph.dtypes import DType

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, SizeLike

Sizes: TypeAlias = tuple[int | None, ...]


def _size(value: Any) -> int | None:
    """The checked size of an int, None, a Dimension, or any other value that equals an int."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        raise TypeError(f"Cannot convert {value} to Dimension")
    size = int(value)
    if getattr(value, "is_eager", False):
        value = value.numpy()
    if not isinstance(value, (str, bytes)) and size != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _arithmetic(
    operation: Callable[[int, int], int], reflected: bool = False, defers: bool = True
) -> Callable[[Dimension, Any], Dimension]:
    """An operator of Dimension; its result is unknown where an operand is. One that `defers` leaves an
    operand that is no size to the operand's own operator, as TensorFlow's do but for some.
    """

    def method(self: Dimension, other: Any) -> Dimension:
        try:
            theirs = _size(other)
        except (TypeError, ValueError):
            if not defers:
                raise
            return NotImplemented  # type: ignore[no-any-return]
        if self.value is None or theirs is None:
            return Dimension(None)
        return Dimension(operation(theirs, self.value) if reflected else operation(self.value, theirs))

    return method


def _ordering(compare: Callable[[int, int], bool]) -> Callable[[Dimension, Any], bool | None]:
    """A comparison of Dimension; its result is None, neither true nor false, where an operand is unknown."""

    def method(self: Dimension, other: Any) -> bool | None:
        theirs = _size(other)
        return None if self.value is None or theirs is None else compare(self.value, theirs)

    return method


@export("Dimension")
class Dimension:
    """One size of a shape, which may be unknown.

    Arithmetic with an unknown size gives an unknown size. Comparing an unknown size gives None.

    Args:
      value: The size: an int, another Dimension, or None where it is unknown.

    Attributes:
      value: The size as an int, or None.

    Raises:
      ValueError: If the size is negative or not whole.
    """

    __slots__ = ("__weakref__", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: SizeLike) -> None:
        self.value = _size(value)

    def is_compatible_with(self, other: SizeLike) -> bool:
        """Whether both could be the same size: they are equal, or one of them is unknown.

        Args:
          other: Another Dimension, an int or None.

        Returns:
          Whether they could be.
        """
        theirs = _size(other)
        return self.value is None or theirs is None or self.value == theirs

    def assert_is_compatible_with(self, other: SizeLike) -> None:
        """Checks that both could be the same size.

        Args:
          other: Another Dimension, an int or None.

        Raises:
          ValueError: If the two sizes are known and differ.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: SizeLike) -> Dimension:
        """Combines what is known of two sizes that must be equal.

        Args:
          other: The other size.

        Returns:
          The known one of the two sizes, or an unknown size where neither is known.

        Raises:
          ValueError: If both are known and differ.
        """
        self.assert_is_compatible_with(other)
        return Dimension(other if self.value is None else self.value)

    __add__ = __radd__ = _arithmetic(add)
    __mul__ = __rmul__ = _arithmetic(mul)
    __sub__ = _arithmetic(sub)
    __rsub__ = _arithmetic(sub, reflected=True, defers=False)
    __floordiv__ = __div__ = _arithmetic(floordiv)
    __rfloordiv__ = __rdiv__ = _arithmetic(floordiv, reflected=True, defers=False)
    __mod__ = _arithmetic(mod, defers=False)
    __rmod__ = _arithmetic(mod, reflected=True, defers=False)

    def __truediv__(self, other: Any) -> Dimension:
        raise TypeError(_no_true_division(self, other))

    def __rtruediv__(self, other: Any) -> Dimension:
        raise TypeError(_no_true_division(other, self))

    __lt__ = _ordering(lt)
    __le__ = _ordering(le)
    __gt__ = _ordering(gt)
    __ge__ = _ordering(ge)

    def __eq__(self, other: Any) -> bool | None:  # type: ignore[override]
        try:
            theirs = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self.value is None or theirs is None else self.value == theirs

    def __ne__(self, other: Any) -> bool | None:  # type: ignore[override]
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __int__(self) -> int:
        return self.value  # type: ignore[return-value]  # Python raises TypeError for None

    __index__ = __int__

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


def _no_true_division(left: Any, right: Any) -> str:
    return (
        f"unsupported operand type(s) for /: '{type(left).__name__}' and '{type(right).__name__}', "
        "please use // instead"
    )


@export("TensorShape")
class TensorShape:
    """The static shape of a tensor.

    `TensorShape([2, None])` has rank 2 and one unknown size; `TensorShape(None)` has unknown rank.

    Args:
      dims: The sizes: an iterable of ints, Dimensions and None, a TensorShapeProto, another shape, one int
        for a vector, or None where the rank is unknown.

    Attributes:
      tuple: The sizes as a tuple of ints and None, or None where the rank is unknown; read-only.

    Raises:
      ValueError: If a size is negative or not whole.
      TypeError: If a size is not a number.
    """

    __slots__ = ("__weakref__", "tuple")
    __hash__ = None  # type: ignore[assignment]

    tuple: Sizes | None

    def __init__(self, dims: ShapeLike | None) -> None:
        if type(dims) is list or type(dims) is tuple:
            self.tuple = _checked(dims)
        else:
            self.tuple = _sizes_of(dims)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self.tuple is None else len(self.tuple)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """A list of Dimensions, or None when the rank is unknown."""
        return None if self.tuple is None else [Dimension(size) for size in self.tuple]

    _dims = dims  # packages beside TensorFlow ask for it

    def as_list(self) -> list[int | None]:
        """The sizes as a list of ints, with None for each unknown size.

        Raises:
          ValueError: If the rank is unknown.
        """
        if self.tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self.tuple)

    def as_proto(self) -> TensorShapeProto:
        """The shape as a TensorShapeProto, -1 for each unknown size."""
        if self.tuple is None:
            return TensorShapeProto(unknown_rank=True)
        sizes = (-1 if size is None else size for size in self.tuple)
        return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])

    def num_elements(self) -> int | None:
        """The number of elements of such a tensor, or None where the shape is not fully known."""
        sizes = self.tuple
        if sizes is None or None in sizes:
            return None
        return math.prod(sizes)  # type: ignore[arg-type]  # no size is None

    def is_fully_defined(self) -> bool:
        """Whether the rank and every size are known."""
        return self.tuple is not None and None not in self.tuple

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless the rank and every size are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: ShapeLike | None) -> bool:
        """Whether a tensor could have both shapes: the ranks agree, and all sizes known in both.

        Args:
          other: Another shape.

        Returns:
          Whether a tensor could.
        """
        mine, theirs = self.tuple, as_shape(other).tuple
        if mine is None or theirs is None:
            return True
        if len(mine) != len(theirs):
            return False
        return all(a is None or b is None or a == b for a, b in zip(mine, theirs, strict=True))

    def assert_is_compatible_with(self, other: ShapeLike | None) -> None:
        """Checks that a tensor could have both shapes.

        Args:
          other: Another shape.

        Raises:
          ValueError: If no tensor could have both shapes.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def merge_with(self, other: ShapeLike | None) -> TensorShape:
        """Combines what is known of one shape in two places.

        Args:
          other: The other shape.

        Returns:
          A shape in which every size is known that is known in either of the two.

        Raises:
          ValueError: If the two contradict each other.
        """
        other = as_shape(other)
        mine, theirs = self.tuple, other.tuple
        if mine is None:
            return other
        if theirs is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return from_sizes(tuple(b if a is None else a for a, b in zip(mine, theirs, strict=True)))

    def most_specific_compatible_shape(self, other: ShapeLike | None) -> TensorShape:
        """Generalizes two shapes.

        Args:
          other: The other shape.

        Returns:
          The shape with the sizes that both have in common, and unknown sizes elsewhere. Its rank is unknown
          where the ranks differ.
        """
        mine, theirs = self.tuple, as_shape(other).tuple
        if mine is None or theirs is None or len(mine) != len(theirs):
            return unknown_shape()
        return from_sizes(tuple(a if a == b else None for a, b in zip(mine, theirs, strict=True)))

    def concatenate(self, other: ShapeLike | None) -> TensorShape:
        """Makes a shape of this one's dimensions followed by those of another.

        Args:
          other: Another shape.

        Returns:
          The new shape; its rank is unknown if either rank is.
        """
        mine, theirs = self.tuple, as_shape(other).tuple
        return unknown_shape() if mine is None or theirs is None else from_sizes(mine + theirs)

    def assert_same_rank(self, other: ShapeLike | None) -> None:
        """Checks that two shapes could have one rank.

        Args:
          other: Another shape.

        Raises:
          ValueError: If both ranks are known and differ.
        """
        other = as_shape(other)
        if self.tuple is not None and other.tuple is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Checks the rank.

        Args:
          rank: The rank.

        Raises:
          ValueError: If the rank is known and is another.
        """
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int | None) -> TensorShape:
        """Asserts the rank.

        Args:
          rank: The number of dimensions, or None to assert nothing.

        Returns:
          This shape; where its rank was unknown, a shape of `rank` unknown sizes.

        Raises:
          ValueError: If the shape has another rank.
        """
        if rank is not None:
            self.assert_has_rank(rank)
        return unknown_shape(rank) if self.tuple is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Checks that the shape has no fewer dimensions.

        Args:
          rank: The rank.

        Returns:
          This shape itself.

        Raises:
          ValueError: If it is known to have fewer dimensions.
        """
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Checks that the shape has no more dimensions.

        Args:
          rank: The rank.

        Returns:
          This shape itself.

        Raises:
          ValueError: If it is known to have more dimensions.
        """
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    @overload
    def __getitem__(self, key: int) -> Dimension: ...

    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...

    def __getitem__(self, key: int | slice) -> Dimension | TensorShape:
        if isinstance(key, slice):
            return _slice_of_unknown(key) if self.tuple is None else from_sizes(self.tuple[key])
        return _Elements.made_of(None if self.tuple is None else self.tuple[key])  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Dimension]:
        if self.tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return map(_Elements.made_of, self.tuple)

    def __len__(self) -> int:
        if self.tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self.tuple)

    def __bool__(self) -> bool:
        return self.tuple is not None

    def __add__(self, other: ShapeLike | None) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike | None) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: Any) -> bool:
        """Whether the shapes are known to be equal.

        Two unknown sizes are not, unless one shape was made from the other.
        """
        try:
            theirs = as_shape(other).tuple
        except TypeError:
            return NotImplemented
        return self.tuple is theirs or (self.tuple == theirs and self.is_fully_defined())

    def __ne__(self, other: Any) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self.tuple is None or other.tuple is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __reduce__(self) -> builtins.tuple[Any, ...]:
        return TensorShape, (self.tuple,)

    def __str__(self) -> str:
        if self.tuple is None:
            return "<unknown>"
        sizes = [str(_Elements.made_of(size)) for size in self.tuple]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self.tuple is None else list(self)})"


def _checked(sizes: Iterable[Any]) -> Sizes:
    return tuple([size if type(size) is int and size >= 0 else _size(size) for size in sizes])


def _sizes_of(dims: Any) -> Sizes | None:
    """The sizes that a value other than a plain list or tuple stands for."""
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims.tuple
    if isinstance(dims, (str, bytes)):
        raise TypeError(
            f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {dims!s}"
        )
    if hasattr(dims, "unknown_rank"):  # a TensorShapeProto, of whichever protobuf package
        return None if dims.unknown_rank else _checked(None if d.size == -1 else d.size for d in dims.dim)
    try:
        dims = iter(dims)
    except TypeError:
        return (_size(dims),)
    return _checked(dims)


def _slice_of_unknown(key: slice) -> TensorShape:
    """A slice of a shape of unknown rank. The slice's rank is known if both ends count from the front."""
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    start = 0 if key.start is None else key.start
    if key.stop is None or start < 0 or key.stop < 0:
        return unknown_shape()
    return unknown_shape(int(key.stop) - int(start))


class _Elements:
    """What a program gets for a size that it takes out of a shape."""

    made_of: Callable[[int | None], Any] = Dimension


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Makes the elements of shapes ints, and None where a size is unknown, as in TensorFlow 2."""
    _Elements.made_of = staticmethod(lambda size: size)


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """Makes the elements of shapes Dimensions, as in TensorFlow 1."""
    _Elements.made_of = Dimension


def from_sizes(sizes: Sizes | None) -> TensorShape:
    """The shape with these sizes, which are taken without a check."""
    shape = object.__new__(TensorShape)
    shape.tuple = sizes
    return shape


def as_shape(shape: ShapeLike | None) -> TensorShape:
    """`shape` itself if it is a TensorShape, else a new one made from it."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def as_dimension(value: SizeLike) -> Dimension:
    """`value` itself if it is a Dimension, else a new one made from it."""
    return value if isinstance(value, Dimension) else Dimension(value)


def unknown_shape(rank: int | None = None, **ndims: int | None) -> TensorShape:
    """A shape of unknown sizes; its rank, or `ndims` as it was once called, may be unknown too."""
    if rank is None and "ndims" in ndims:
        rank = ndims.pop("ndims")
    if ndims:
        raise TypeError(f"Unknown argument: {next(iter(ndims))}. It takes rank, or ndims.")
    return from_sizes(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return from_sizes(())


def vector(length: SizeLike) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: SizeLike, cols: SizeLike) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: Dimension | int | None) -> int | None:
    """Converts a Dimension to a plain int.

    Args:
      dimension: A Dimension, an int or None.

    Returns:
      The Dimension's value, None where it is unknown; any other argument unchanged.
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Gets one dimension of a shape.

    Args:
      shape: The shape.
      index: The position of the dimension.

    Returns:
      The Dimension, unknown where the shape's rank is.
    """
    return Dimension(None if shape.tuple is None else shape.tuple[index])


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: ShapeLike | None, shape_y: ShapeLike | None) -> TensorShape:
    """Computes the static shape of an element-wise operation on two tensors.

    Args:
      shape_x: The shape of the first tensor.
      shape_y: The shape of the second tensor.

    Returns:
      The broadcast shape. A size is unknown where an unknown size meets another or meets 1.

    Raises:
      ValueError: If the shapes do not broadcast.
    """
    shape_x, shape_y = as_shape(shape_x), as_shape(shape_y)
    x, y = shape_x.tuple, shape_y.tuple
    if x is None or y is None:
        return unknown_shape()
    rank = max(len(x), len(y))
    x, y = (1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y
    if any(a != b and a not in (None, 1) and b not in (None, 1) for a, b in zip(x, y, strict=True)):
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}")
    return from_sizes(tuple(_broadcast_size(a, b) for a, b in zip(x, y, strict=True)))


def _broadcast_size(a: int | None, b: int | None) -> int | None:
    """The larger of two sizes known to broadcast; an unknown one is settled only by a size above 1."""
    if a is None or b is None:
        known = b if a is None else a
        return known if known is not None and known > 1 else None
    return b if a == 1 else a


def mismatch(a: TensorShape, b: TensorShape) -> str:
    """Why two shapes cannot be equal, in TensorFlow's words; "" where they can."""
    first, second = a.tuple, b.tuple
    if first is None or second is None:
        return ""
    if len(first) != len(second):
        return f"Shapes must be equal rank, but are {len(first)} and {len(second)}"
    for axis, (x, y) in enumerate(zip(first, second, strict=True)):
        if x is not None and y is not None and x != y:
            return (
                f"Dimension {axis} in both shapes must be equal, but are {x} and {y}. Shapes are "
                f"{brackets(first)} and {brackets(second)}."
            )
    return ""


def brackets(sizes: Iterable[int | None]) -> str:
    """A shape as TensorFlow's kernels write it: [2,3]."""
    return "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"
