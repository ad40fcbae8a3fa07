# Written by `python -m tideflow.programs.stubs`.

from builtins import str as _str
from tideflow.graph.operation import Tensor as _Tensor
from typing import Any as _Any

def bitwise_and(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """The bits that both have."""

def bitwise_or(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """The bits that one has, or both."""

def bitwise_xor(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """The bits that exactly one has."""

def invert(x: _Any, name: _str | None = None) -> _Tensor:
    """Every bit flipped."""

def left_shift(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x shifted left by y bits."""

def right_shift(x: _Any, y: _Any, name: _str | None = None) -> _Tensor:
    """x shifted right by y bits; negative numbers stay negative."""
