"""Families of element-wise ops: makers of an op with its public function, and values known ahead of a run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import partial_value
from tideflow.graph.scopes import graph_of
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.looking import has_symbols, of_symbols
from tideflow.ops.helpers.samples import SampleArray, f32, i32
from tideflow.ops.helpers.types import FLOATS_COMPLEX
from tideflow.ops.helpers.unsigned import add_kernel
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorOrRagged

NAME_ARGUMENT = "name: A name for the operation."
MISMATCH = (f32(2, 3), f32(2, 2)), "Dimensions must be equal, but are 3 and 2 along axis -1"


def unary(
    op_type: str,
    paths: str,
    doc: str,
    kernel: Callable,
    gradient: Any,
    *,
    types: tuple = FLOATS_COMPLEX,
    gives: str = "T",
    sparse: bool = False,
    sized: bool = False,
    domain: tuple[float, float] = (-1.0, 1.0),
    against: Callable | None = None,
    flops: Callable | None = None,
    ragged: str | None = None,
) -> Callable[..., Any]:
    """Defines an op `y = kernel(x)` and makes its public function, found under `paths`.

    A `sparse` function takes SparseTensors too. A `sized` op has a value rule: sizes computed with it are
    known while the graph is built. `ragged` is `export`'s.
    """
    op = Op(op_type, f"x: T -> y: {gives}", T=types)
    op.shape(same_shape)
    if sized:
        op.value(of_known_elements)
    add_kernel(op, kernel)
    op.gradient(gradient)
    if flops is not None:
        op.flops(flops)
    op.samples(*unary_samples(types, domain), against=against)

    if sparse:

        def function(x: TensorOrRagged | SparseTensor, name: str | None = None) -> Any:
            return of_values(op, op_type, x, name) if isinstance(x, SparseTensor) else op.apply((x,), name)
    else:

        def function(x: TensorOrRagged, name: str | None = None) -> Tensor:
            return op.apply((x,), name)

    operand = "A tensor or SparseTensor" if sparse else "A tensor"
    arguments = {"x": f"{operand} of type {type_names(types)}."}
    result = "of the shape and type of `x`" if gives == "T" else f"of type {gives} and the shape of `x`"
    return published(function, op, paths, doc, arguments, f"{operand} {result}.", ragged)


def binary(
    op_type: str,
    paths: str,
    doc: str,
    kernel: Callable,
    gradient: Any,
    *,
    types: tuple,
    uint64: Callable | None = None,
    specialize: Callable | None = None,
    gives: str = "T",
    commutative: bool = False,
    sized: bool = False,
    domain: tuple[float, float] | None = (-1.0, 1.0),
    against: Callable | None = None,
    flops: Callable | None = None,
    ragged: str | None = None,
    **traits: Any,
) -> Callable[..., Tensor]:
    """Defines an op `z = kernel(x, y)` that broadcasts, and makes its public function, found under `paths`.

    `uint64` is the kernel on uint64's bits, where it is another; `specialize` is the op's shortcut. A `sized`
    op has a value rule: sizes computed with it are known while the graph is built. `ragged` is `export`'s,
    `traits` are `Op`'s.
    """
    op = Op(op_type, f"x: T, y: T -> z: {gives}", T=types, commutative=commutative, **traits)
    op.shape(broadcast_shapes)
    if sized:
        op.value(of_known_elements)
    add_kernel(op, kernel, uint64)
    if specialize is not None:
        op.specialize(specialize)
    op.gradient(gradient)
    if flops is not None:
        op.flops(flops)
    add_binary_samples(op, domain, against)

    def function(x: TensorOrRagged, y: TensorOrRagged, name: str | None = None) -> Tensor:
        return op.apply((x, y), name)

    arguments = {
        "x": f"A tensor of type {type_names(types)}.",
        "y": "A tensor of the type of `x`, of a shape that broadcasts with that of `x`.",
    }
    result = "the type of `x`" if gives == "T" else f"type {gives}"
    result = f"A tensor of {result} and of the broadcast shape."
    return published(function, op, paths, doc, arguments, result, ragged)


def published(
    function: Callable,
    op: Op,
    paths: str,
    doc: str,
    arguments: dict[str, str],
    result: str,
    ragged: str | None = None,
) -> Callable:
    """Exports a function under `paths`, with its name and docstring; its op is kept as `function.op`."""
    function.__name__ = function.__qualname__ = (paths.split() or [op.name])[0].rpartition(".")[2]
    function.__module__ = _module_at_work()
    function.__doc__ = described(doc, arguments, result)
    function.op = op
    return export(*paths.split(), ragged=ragged)(function)


def _module_at_work() -> str:
    """The module whose line makes a function of a family."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame.f_globals["__name__"]


def described(doc: str, arguments: dict[str, str], result: str) -> str:
    """The docstring of a function: what it does, its arguments (`name` is added) and its result."""
    lines = [f"  {name}: {text}" for name, text in arguments.items()]
    return "\n".join([doc, "", "Args:", *lines, f"  {NAME_ARGUMENT}", "", "Returns:", f"  {result}", ""])


def type_names(types: tuple) -> str:
    """Types in words: `float32, float64 or int32`."""
    *others, last = dict.fromkeys(dtype.name for dtype in types)
    return f"{', '.join(others)} or {last}" if others else last


def same_shape(x: TensorShape) -> TensorShape:
    """The shape rule of ops of one tensor."""
    return x


def of_values(function: Callable, default_name: str, x: SparseTensor, name: str | None) -> SparseTensor:
    """The function of the values of a sparse tensor."""
    # TensorFlow takes the name once before it finds that x is sparse, so the next one is used.
    graph_of([x.values]).unique_name(name or default_name)
    return SparseTensor(x.indices, function(x.values, name=name), x.dense_shape)


def unary_samples(types: tuple, domain: tuple[float, float]) -> list[SampleArray]:
    """A matrix, a scalar and nothing, of the first of the types."""
    if types[0].is_floating:
        return [f32(*shape, low=domain[0], high=domain[1]) for shape in ((2, 3), (), (0, 2))]
    return [i32(2, 3), i32(), i32(0, 2)]


def add_binary_samples(op: Op, domain: tuple[float, float] | None, against: Callable | None) -> None:
    """Pairs of equal shapes, of shapes that broadcast, of no elements; without a domain, integers only."""
    allowed = op.attrs["T"].allowed or (dtypes.float32, dtypes.int32)
    if domain and dtypes.float32 in allowed:
        low, high = domain
        for left, right in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), (2,)), ((0, 3), (1, 3))):
            op.samples((f32(*left, low=low, high=high), f32(*right, low=low, high=high)))
        op.refuses(*MISMATCH)
    if dtypes.int32 in allowed:
        op.samples((i32(2, 3, low=1), i32(3, low=1)))
    op.samples(against=against)


class _Nesting(threading.local):
    depth = 0


_nesting = _Nesting()
_DEEPEST = 16  # ops in a row; a longer computation is about data, not about sizes


def of_known_elements(op: Any) -> Any:
    """The value rule of an element-wise op: its kernel, unknown wherever an input's element is unknown."""
    if _nesting.depth == _DEEPEST:
        return None
    _nesting.depth += 1
    try:
        return _computed(op)
    finally:
        _nesting.depth -= 1


def _computed(op: Any) -> Any:
    elements: dict[Any, np.ndarray] = {}
    for tensor in op.inputs:
        if tensor not in elements:
            value = partial_value(tensor)
            if value is None or tensor.dtype.torch is None:
                return None
            elements[tensor] = np.array(value, dtype=object)
    known = {tensor: np.not_equal(array, None) for tensor, array in elements.items()}
    if not all(is_known.any() for is_known in known.values()):
        return None
    filled = [np.where(known[x], elements[x], 1) for x in op.inputs]
    if any(map(has_symbols, filled)):
        return of_symbols(op, filled)
    filled = [array.astype(x.dtype.numpy) for array, x in zip(filled, op.inputs, strict=True)]
    kernel = op.definition.kernels[""]
    try:
        result = kernel(
            *map(to_torch, filled), **{name: op.attrs[name] for name in op.definition.wants(kernel)}
        )
    except (RuntimeError, ValueError):  # the error belongs to the step, where it is reported with the op
        return None
    is_known = reduce(np.logical_and, known.values())
    return np.where(is_known, to_numpy(result).astype(object), None).tolist()
