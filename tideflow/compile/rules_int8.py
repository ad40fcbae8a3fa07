"""Rewrites of networks that were trained with fake quantization: their products compute with 8-bit integers.

Fake quantization rounds numbers to levels that bytes hold. Where both factors of a product are such numbers,
and the weights and all ranges follow from constants and from variables that the step does not write, the
product is one of bytes, by oneDNN. Weights are brought into its layout once, and again when a variable that
they follow from has got a new value. Between such products numbers stay bytes.

A weight becomes a multiple of its level's distance, from -127 to 127. Where a range is so far from symmetric
that this is not enough, the weights of a channel are rounded once more, to 127 levels a side.

TIDEFLOW_INT8=off leaves all as it is, `on` rewrites where it can, `auto` (the default) where it pays: in
large products, on CPUs that have instructions for it. A session's
`rewrite_options.experimental_disable_folding_quantization_emulation` switches it off, too.
"""

from __future__ import annotations

import math
import operator
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Loop, Node, Program, Value, states, walk
from tideflow.compile.kernels import kernel_for
from tideflow.compile.rewrite import FOLDED, Sweep, rule, run_kernel
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.samples import f32
from tideflow.ops.nn.conv_kernels import convolution_arguments
from tideflow.ops.nn.windows import channels, out_in_first
from tideflow.ops.quantization.fake_quant import FAKE_QUANTS, clamped, nudged
from tideflow.runtime.values import to_torch

_FAKE_QUANTS = (
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
)
_OF_ACTIVATIONS = _FAKE_QUANTS[:2]
_PRODUCTS = ("Conv2D", "MatMul")
_MOVING = ("MaxPool", "Reshape", "Squeeze")  # they give bytes for bytes, as they do numbers for numbers
_WORTH = 1 << 20  # multiplications: a smaller product is as quick in floats
_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.onednn, "qconv2d_pointwise")
_HAS_INSTRUCTIONS = _ONEDNN and torch.cpu._is_vnni_supported()
_ZERO_RANGE = (1.0, 0)

# --------------------------------------------------------------------------------------------- bytes and back

quantized_op = Op("_Quantized", "x: float, low: float, high: float -> bytes: uint8", differentiable=False)
quantized_op.shape(lambda x, low, high: x)


@quantized_op.kernel
def _quantized_kernel(x: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """The numbers of the levels that fake quantization rounds to."""
    first, last, scale = nudged(low, high, 8, False)
    if not scale:
        return torch.zeros_like(x, dtype=torch.uint8)
    return ((clamped(x, first, last) - first) / scale + 0.5).to(torch.uint8)


quantized_op.samples((f32(2, 3), -0.7, 0.5), (f32(4), 0.0, 0.0))

dequantized_op = Op("_Dequantized", "bytes: uint8, low: float, high: float -> x: float", differentiable=False)
dequantized_op.shape(lambda bytes, low, high: bytes)


@dequantized_op.kernel
def _dequantized_kernel(bytes: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    """The levels with these numbers."""
    first, _, scale = nudged(low, high, 8, False)
    return bytes.to(torch.float32) * scale + first if scale else torch.zeros_like(bytes, dtype=torch.float32)


dequantized_op.samples((np.arange(6, dtype=np.uint8), -0.7, 0.5), (np.arange(3, dtype=np.uint8), 0.0, 0.0))


# --------------------------------------------------------------------------------------------------- products


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a product of bytes needs beside its bytes, as values of the program that follow from `leaves`:
    reads of variables. `arguments` are those of a convolution, None for a product of matrices.
    """

    weights: Node  # the fake quantization
    low: Value  # of the bytes' range
    high: Value
    arguments: tuple[Any, ...] | None
    sizes: list[int]  # of the bytes
    is_transposed: bool = False
    bias: Value | None = None
    activation: tuple[str, tuple[float, ...]] = ("none", ())
    result: tuple[Value, Value] | None = None  # the range of the result, where that is bytes
    nodes: list[Node] = field(default_factory=list)  # that compute these values, in order
    leaves: list[Value] = field(default_factory=list)

    def complete(self, written: set[Any]) -> Prepared | None:
        """The same with nodes and leaves; None where a value follows from something else."""
        nodes: list[Node] = []
        leaves: dict[Value, None] = {}
        for value in self._wanted:
            if not _collect(value.op, value, nodes, leaves, written):
                return None
        return replace(self, nodes=nodes, leaves=list(leaves))

    @property
    def _wanted(self) -> list[Value]:
        bias = [] if self.bias is None else [self.bias]
        return [*self.weights.inputs, self.low, self.high, *(self.result or ()), *bias]

    def packed(self, values: Sequence[torch.Tensor]) -> Packed:
        """The product for these values of the leaves."""
        known = {value: to_torch(value.constant) for value in self._wanted if value.constant is not None}
        known.update(zip(self.leaves, values, strict=True))
        for node in self.nodes:
            known.update(zip(node.outputs, run_kernel(node, known), strict=True))
        return Packed(self, known)


def _collect(
    node: Node, value: Value, nodes: list[Node], leaves: dict[Value, None], written: set[Any]
) -> bool:
    """Collects what computes a value; whether all of it only computes, from constants and from variables that
    are not written.
    """
    if value in leaves or node in nodes or value.constant is not None:
        return True
    if (
        isinstance(node, Loop)
        or node.guards
        or node.choices
        or node.device is None
        or node.device.type != "cpu"
    ):
        return False
    if node.definition.role == "read":
        leaves[value] = None
        return not states(node.inputs) & written
    if node.effects or node.definition.handle or node.definition.touches:
        return False
    if not node.inputs:
        return False
    wants = set(node.definition.wants(kernel_for(node))) - set(node.attrs)
    if not wants <= {"device", "node"}:
        return False
    if not all(_collect(taken.op, taken, nodes, leaves, written) for taken in node.inputs):
        return False
    nodes.append(node)
    return True


class Packed:
    """A product whose weights are integers in oneDNN's layout."""

    def __init__(self, prepared: Prepared, known: dict[Value, torch.Tensor]):
        self.arguments, self.activation = prepared.arguments, prepared.activation
        self.scale, self.zero = _numbers(known[prepared.low], known[prepared.high])
        self.bias = None if prepared.bias is None else known[prepared.bias].to(torch.float32).contiguous()
        self.result = None
        if prepared.result is not None:
            self.result = _numbers(*[known[end] for end in prepared.result])
        whole, scales = _integers(prepared, known)  # first the axis of the results
        self.scales, self.zeros = scales, torch.zeros(len(scales), dtype=torch.int64)
        self.whole = whole.to(torch.int8).contiguous()
        if not _HAS_INSTRUCTIONS:
            return
        if self.arguments is None:
            self.whole = torch.ops.onednn.qlinear_prepack(self.whole, prepared.sizes)
        else:
            data_format, groups, stride, padding, dilation, margin = self.arguments
            sizes = None if margin else _channels_first(prepared.sizes, data_format)
            self.whole = torch.ops.onednn.qconv_prepack(
                self.whole, scales, self.scale, self.zero, stride, padding, dilation, groups, sizes
            )

    def __call__(self, bytes: torch.Tensor) -> torch.Tensor:
        if not _HAS_INSTRUCTIONS:
            return self._in_floats(bytes)
        name, numbers = self.activation
        scale, zero = self.result or _ZERO_RANGE
        dtype = torch.float32 if self.result is None else torch.uint8
        given = (self.scale, self.zero, self.whole, self.scales, self.zeros, self.bias)
        end = (scale, zero, dtype, name, list(numbers), "")
        if self.arguments is None:
            product: torch.Tensor = torch.ops.onednn.qlinear_pointwise.default(bytes, *given, *end)
            return product
        data_format, groups, stride, padding, dilation, _ = self.arguments
        made: torch.Tensor = torch.ops.onednn.qconv2d_pointwise.default(
            self._image(bytes), *given, stride, padding, dilation, groups, *end
        )
        return made.permute(0, 2, 3, 1) if data_format == "NHWC" else made

    def _image(self, bytes: torch.Tensor) -> torch.Tensor:
        """The bytes with their channels first, padded by the byte of 0 where both sides are not alike."""
        data_format, _, _, _, _, margin = self.arguments or ()
        image = bytes.permute(0, 3, 1, 2) if data_format == "NHWC" else bytes
        return torch.nn.functional.pad(image, margin, value=self.zero) if margin else image

    def _in_floats(self, bytes: torch.Tensor) -> torch.Tensor:
        """The same on a CPU that has no instructions for it."""
        weights = self.whole.to(torch.float32) * self.scales.view(-1, *[1] * (self.whole.dim() - 1))
        if self.arguments is None:
            made = torch.nn.functional.linear((bytes - float(self.zero)) * self.scale, weights, self.bias)
        else:
            data_format, groups, stride, padding, dilation, _ = self.arguments
            image = (self._image(bytes) - float(self.zero)) * self.scale
            made = torch.conv2d(image, weights, self.bias, stride, padding, dilation, groups)
            made = made.permute(0, 2, 3, 1) if data_format == "NHWC" else made
        if self.activation[0] == "relu":
            made = made.relu_()
        elif self.activation[0] == "hardtanh":
            made = made.clamp_(*self.activation[1])
        if self.result is None:
            return made
        scale, zero = self.result
        return (made / scale).round_().add_(zero).clamp_(0, 255).to(torch.uint8)


def _numbers(low: torch.Tensor, high: torch.Tensor) -> tuple[float, int]:
    """The distance of a range's levels, and the byte that stands for 0."""
    first, _, scale = nudged(low, high, 8, False)
    return (float(scale), round(float(-first / scale))) if scale else _ZERO_RANGE


def _integers(prepared: Prepared, known: dict[Value, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Fake-quantized weights as integers from -127 to 127, and what 1 stands for, by channel of the
    result.
    """
    node = prepared.weights
    (rounded,) = run_kernel(node, known)
    ends = [known[value] for value in node.inputs[1:]]
    if not ends:
        ends = [torch.tensor(node.attrs[name]) for name in ("min", "max")]
    low, high = ends
    _, _, scale = nudged(low, high, node.attrs["num_bits"], node.attrs["narrow_range"])
    scale = torch.where(scale > 0, scale, 1.0)
    levels = torch.round(rounded / scale)
    if prepared.arguments is not None:
        levels = out_in_first(levels)
    elif not prepared.is_transposed:
        levels = levels.t()
    peaks = levels.abs().reshape(len(levels), -1).amax(1)
    wider = torch.clamp(peaks / 127, min=1.0)
    whole = torch.round(levels / wider.view(-1, *[1] * (levels.dim() - 1)))
    return whole, (scale * wider).to(torch.float32)


def _channels_first(sizes: list[int], data_format: str) -> list[int]:
    return [sizes[0], sizes[3], *sizes[1:3]] if data_format == "NHWC" else sizes


def _int8_op(name: str) -> Op:
    op = Op(
        name,
        "bytes: uint8, leaves: Tleaves -> product: T",
        T=attr("type", allowed=(dtypes.float32, dtypes.uint8)),
        Tleaves=attr("list(type)"),
        prepared=attr("string"),
        sizes=attr("list(int)"),
        differentiable=False,
    )
    op.shape(lambda bytes, leaves, *, sizes: sizes)

    @op.kernel
    def kernel(
        bytes: torch.Tensor, leaves: list[torch.Tensor], *, prepared: Prepared, state: dict[str, Any]
    ) -> torch.Tensor:
        """The product. It keeps the packed weights as long as the variables have the values they were made
        of: a writer does not change a value that is held here, but makes a new one.
        """
        kept_by_plan = state.setdefault("int8", weakref.WeakKeyDictionary())
        kept = kept_by_plan.get(prepared)
        if kept is None or any(map(operator.is_not, kept[0], leaves)):
            kept = kept_by_plan[prepared] = leaves, prepared.packed(leaves)
        packed: Packed = kept[1]
        return packed(bytes)

    op.samples(covered_by="tests/compile/test_rules_int8.py")
    return op


int8_conv2d_op = _int8_op("_Int8Conv2D")
int8_matmul_op = _int8_op("_Int8MatMul")
_INT8 = (int8_conv2d_op, int8_matmul_op)


# ------------------------------------------------------------------------------------------------------ rules


@rule(*_OF_ACTIVATIONS, phase="fuse")
def bytes_for_products(node: Node, sweep: Sweep) -> Any:
    """FakeQuantWithMinMaxVars(x, a, b) of a product -> _Dequantized(_Quantized(x, a, b), a, b)"""
    if not _can_be_bytes(node) or not _leads_to_product(node.outputs[0], sweep.program):
        return None
    low, high = _range(node, sweep)
    made = _with_result(node, low, high, sweep)
    if made is None:
        (made,) = sweep.make(quantized_op, [node.inputs[0], low, high], {}, node)
    return sweep.make(dequantized_op, [made, low, high], {}, node)


@rule(*_MOVING, phase="fuse")
def bytes_moved(node: Node, sweep: Sweep) -> Any:
    """Reshape(_Dequantized(x, a, b), s) -> _Dequantized(Reshape(x, s), a, b); likewise MaxPool, Squeeze"""
    maker = node.inputs[0].op
    if maker.definition is not dequantized_op or maker.guards != node.guards:
        return None
    bytes, low, high = maker.inputs
    (moved,) = sweep.make(node.type, [bytes, *node.inputs[1:]], {**node.attrs, "T": dtypes.uint8}, node)
    return sweep.make(dequantized_op, [moved, low, high], {}, node)


@rule("Conv2D", phase="fuse")
def convolution_of_bytes(node: Node, sweep: Sweep) -> Any:
    """Conv2D(_Dequantized(x, a, b), FakeQuantWithMinMaxVars(w, c, d)) -> _Int8Conv2D(x, a, b, w, c, d)"""
    return _product_of_bytes(node, sweep, int8_conv2d_op)


@rule("MatMul", phase="fuse")
def matmul_of_bytes(node: Node, sweep: Sweep) -> Any:
    """MatMul(_Dequantized(x, a, b), FakeQuantWithMinMaxVars(w, c, d)) -> _Int8MatMul(x, a, b, w, c, d)"""
    return _product_of_bytes(node, sweep, int8_matmul_op)


@rule("BiasAdd", "Add", "AddV2", phase="fuse")
def bytes_with_bias(node: Node, sweep: Sweep) -> Any:
    """BiasAdd(_Int8MatMul(x), c) -> _Int8MatMul(x, c)"""
    for product, bias in (node.inputs, node.inputs[::-1]):
        prepared = _own_product(product, node, sweep)
        if prepared is None or prepared.bias is not None or prepared.activation[0] != "none":
            continue
        if bias.shape.tuple != (prepared_channels(prepared, product),) or not _adds_to_channels(
            node, prepared
        ):
            continue
        return _changed(product.op, replace(prepared, bias=bias), node, sweep)
    return None


@rule("Relu", "Relu6", phase="fuse")
def bytes_with_relu(node: Node, sweep: Sweep) -> Any:
    """Relu(_Int8MatMul(x)) -> _Int8MatMul(x, activation=relu)"""
    prepared = _own_product(node.inputs[0], node, sweep)
    if prepared is None or prepared.activation[0] != "none":
        return None
    activation = ("relu", ()) if node.type == "Relu" else ("hardtanh", (0.0, 6.0))
    return _changed(node.inputs[0].op, replace(prepared, activation=activation), node, sweep)


def _wherever_it_can() -> bool:
    return os.environ.get("TIDEFLOW_INT8") == "on"


def _can_be_bytes(node: Node) -> bool:
    return (
        (_HAS_INSTRUCTIONS or _wherever_it_can())
        and node.attrs["num_bits"] == 8
        and not node.attrs["narrow_range"]
        and not node.guards
        and node.device is not None
        and node.device.type == "cpu"
    )


def _leads_to_product(value: Value, program: Program) -> bool:
    """Whether a product that pays takes the value, itself or moved."""
    for node in program.nodes:
        if not node.inputs or node.inputs[0] is not value:
            continue
        if node.type in _PRODUCTS and _pays(node) and _weights(node) is not None:
            return True
        if node.type in _MOVING and _leads_to_product(node.outputs[0], program):
            return True
    return False


def _pays(product: Node) -> bool:
    known = [value.shape for value in (*product.inputs, *product.outputs)]
    if product.guards or not all(shape.is_fully_defined() for shape in known):
        return False
    taken, weights, result = (list(value.sizes) for value in (*product.inputs, *product.outputs))
    if product.type == "MatMul":
        inside = taken[1]
        fits = not product.attrs["transpose_a"]
    else:
        inside, fits = math.prod(weights[:-1]), _is_one_group(product)
    return fits and 0 not in result and (inside * math.prod(result) >= _WORTH or _wherever_it_can())


def _is_one_group(product: Node) -> bool:
    depth = channels(product.inputs[0].shape.as_list(), product.attrs["data_format"])
    return bool(depth == product.inputs[1].shape.as_list()[2])


def _weights(product: Node) -> Node | None:
    """The fake quantization that makes the weights of a product; the node, if it was folded."""
    maker = product.inputs[1].op
    maker = maker.attrs.get(FOLDED, maker)
    if maker.definition not in FAKE_QUANTS or maker.attrs["num_bits"] > 8:
        return None
    by_channel = len(maker.inputs) > 1 and maker.inputs[1].shape.ndims == 1
    return None if by_channel and product.attrs.get("transpose_b") else maker


def _range(node: Node, sweep: Sweep) -> list[Value]:
    """The ends of the range of a fake quantization."""
    if len(node.inputs) > 1:
        return node.inputs[1:]
    return [sweep.constant(np.array(node.attrs[name], np.float32), node) for name in ("min", "max")]


def _product_of_bytes(node: Node, sweep: Sweep, op: Op) -> Any:
    maker, weights = node.inputs[0].op, _weights(node)
    if maker.definition is not dequantized_op or weights is None or not _pays(node):
        return None
    bytes, low, high = maker.inputs
    sizes, arguments = list(bytes.sizes), None
    if op is int8_conv2d_op:
        arguments = convolution_arguments(node, sizes, list(node.inputs[1].sizes))
    prepared = Prepared(weights, low, high, arguments, sizes, bool(node.attrs.get("transpose_b")))
    return _made(op, bytes, prepared, list(node.outputs[0].sizes), node, sweep)


def _made(op: Op, bytes: Value, prepared: Prepared, sizes: list[int], like: Node, sweep: Sweep) -> Any:
    """A product of bytes, if what it needs only follows from what the step does not write."""
    complete = prepared.complete(_written(sweep.program))
    if complete is None:
        return None
    attrs = {
        "T": dtypes.float32 if complete.result is None else dtypes.uint8,
        "Tleaves": [leaf.dtype.base_dtype for leaf in complete.leaves],
        "prepared": complete,
        "sizes": sizes,
    }
    return sweep.make(op, [bytes, *complete.leaves], attrs, like)


def _written(program: Program) -> set[Any]:
    """The variables that a step writes."""
    writers = (node for node in walk(program) if node.effects and node.definition.role != "read")
    return {state for node in writers if not isinstance(node, Loop) for state in states(node.inputs)}


def _own_product(value: Value, node: Node, sweep: Sweep) -> Prepared | None:
    """What a product of bytes was prepared with, where only this node uses its numbers."""
    if value.op.definition not in _INT8 or value.dtype is not dtypes.float32 or not sweep.only_use(value):
        return None
    prepared: Prepared = value.op.attrs["prepared"]
    return prepared if value.op.guards == node.guards else None


def _changed(product: Node, prepared: Prepared, like: Node, sweep: Sweep) -> Any:
    return _made(product.definition, product.inputs[0], prepared, product.attrs["sizes"], like, sweep)


def _with_result(node: Node, low: Value, high: Value, sweep: Sweep) -> Value | None:
    """The product behind a fake quantization, made to give bytes."""
    prepared = _own_product(node.inputs[0], node, sweep)
    if prepared is None:
        return None
    made = _changed(node.inputs[0].op, replace(prepared, result=(low, high)), node, sweep)
    return None if made is None else made[0]


def prepared_channels(prepared: Prepared, product: Value) -> int:
    """The number of channels of a product."""
    sizes = product.op.attrs["sizes"]
    return int(channels(sizes, prepared.arguments[0]) if prepared.arguments else sizes[-1])


def _adds_to_channels(node: Node, prepared: Prepared) -> bool:
    """Whether what a node adds is added by channel of the product."""
    data_format = prepared.arguments[0] if prepared.arguments else "NHWC"
    meant = node.attrs["data_format"] if node.type == "BiasAdd" else "NHWC"
    return prepared.arguments is None or meant == data_format
