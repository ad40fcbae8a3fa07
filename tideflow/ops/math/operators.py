"""Python's operators on tensors. `==` and `!=` stay identity, as TensorFlow 1.15 has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import string
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, powers, unary
from tideflow.ops.sparse import with_dense

_PLAIN = (bool, int, float, complex, list, tuple, np.ndarray, np.generic)


def binary_operator(name: str, function: Callable, op: Op | None = None) -> None:
    """Gives tensors `__name__` and `__rname__`: `function(x, y, name)`, both of the tensor's type.

    For floating tensors that may be a single `op`. A Python number then goes straight to it: the graph is the
    same, and made faster.
    """

    def forward(x: Tensor, y: Any) -> Any:
        if isinstance(y, Tensor):
            return function(x, y, name)
        if op is not None and x.dtype.is_floating and type(y) in (int, float):
            return op(x, y, name=name)
        with name_scope(None, name, [x]) as scope:
            if isinstance(y, SparseTensor):
                return function(x, y, scope)
            try:
                y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
            except TypeError:
                if isinstance(y, _PLAIN) or not hasattr(type(y), f"__r{name}__"):
                    raise
                return NotImplemented  # the other operand's class may know how
            return function(x, y, scope)

    def reflected(y: Tensor, x: Any) -> Tensor:
        if op is not None and y.dtype.is_floating and type(x) in (int, float):
            return op(x, y, T=y.dtype.base_dtype, name=name)
        with name_scope(None, name, [y]) as scope:
            return function(convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x"), y, scope)

    forward.float_op = op  # type: ignore[attr-defined]
    Tensor._override_operator(f"__{name}__", forward)
    Tensor._override_operator(f"__r{name}__", reflected)


def _add(x: Tensor, y: Tensor, name: str) -> Tensor:
    return (binary.add if x.dtype.base_dtype is string else binary.add_v2)(x, y, name)


def _mul(x: Tensor, y: Any, name: str) -> Any:
    if isinstance(y, SparseTensor):
        return with_dense.scaled(y, x, name)
    return binary.multiply(x, y, name)


def _xor(x: Tensor, y: Tensor, name: str) -> Tensor:
    with name_scope(name, None, [x, y]) as scope:
        return binary.logical_xor(x, y, scope)


binary_operator("add", _add, binary.add_v2.op)
binary_operator("sub", binary.subtract, binary.subtract.op)
binary_operator("mul", _mul, binary.multiply.op)
binary_operator("truediv", binary.truediv, binary.realdiv.op)
binary_operator("div", binary.div, binary.realdiv.op)
binary_operator("floordiv", binary.floordiv, binary.floor_div.op)
binary_operator("mod", binary.floormod, binary.floormod.op)
binary_operator("pow", powers.pow, powers.raw_pow.op)
binary_operator("matmul", lambda x, y, name: matmul.matmul(x, y, name=name))
binary_operator("and", binary.logical_and)
binary_operator("or", binary.logical_or)
binary_operator("xor", _xor)

for _name, _function in {
    "lt": binary.less,
    "le": binary.less_equal,
    "gt": binary.greater,
    "ge": binary.greater_equal,
    "neg": unary.negative,
    "abs": unary.abs,
    "invert": unary.logical_not,
}.items():
    Tensor._override_operator(f"__{_name}__", _function)
