# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from tideflow.graph.typing import TensorOrRagged as _TensorOrRagged

def bitwise_and(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The bits that both have.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def bitwise_or(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The bits that one has, or both.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def bitwise_xor(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """The bits that exactly one has.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def invert(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """Every bit flipped.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`."""

def left_shift(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """x shifted left by y bits.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""

def right_shift(x: _TensorOrRagged, y: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    """x shifted right by y bits; negative numbers stay negative.

    Args:
      x: A tensor of type int8, int16, int32, int64, uint8, uint16, uint32 or uint64.
      y: A tensor of the type of `x`, of a shape that broadcasts with that of `x`.
      name: A name for the operation.

    Returns:
      A tensor of the type of `x` and of the broadcast shape."""
