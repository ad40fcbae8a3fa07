"""Rewrites of layers: convolutions with bias and relu in one kernel, and pools that keep the places of their
maxima for the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Node, Value
from tideflow.compile.kernels import Kernel
from tideflow.compile.rewrite import Sweep, rule
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.nn.candidate_sampling import (
    CHANCES,
    accidental_hits_op,
    drawn_classes_op,
    expected_counts_op,
)
from tideflow.ops.nn.conv_kernels import convolution_arguments, convolve, known_shapes, padded_image
from tideflow.ops.nn.convolution import conv2d_op
from tideflow.ops.nn.pixel_convolution import convolve_pixels, is_by_pixels, strides_of
from tideflow.ops.nn.pooling import max_pool_grad_indices_op, max_pool_indices_op
from tideflow.ops.nn.windows import channels, from_channels_first, out_in_first, out_in_last
from tideflow.runtime.devices import CPU

# ---------------------------------------------------------------------------- pools

_SHARED = ("ksize", "strides", "padding", "explicit_paddings", "data_format")


@rule("MaxPool", phase="fuse")
def pool_keeps_places(node: Node, sweep: Sweep) -> Any:
    """y = MaxPool(x), whose MaxPoolGrad is in the program -> y, places = _MaxPoolIndices(x)"""
    pooled, allowed = node.outputs[0], max_pool_indices_op.attrs
    is_plain = (
        node.inputs[0].shape.is_fully_defined()
        and node.attrs["data_format"] in (allowed["data_format"].allowed or ())
        and node.attrs["T"] in (allowed["T"].allowed or ())
        and channels(node.attrs["ksize"], node.attrs["data_format"]) == 1
    )
    if not is_plain or not any(
        n.type == "MaxPoolGrad" and n.inputs[1] is pooled for n in sweep.program.nodes
    ):
        return None
    return sweep.make(max_pool_indices_op, node.inputs, node.attrs, node)[:1]


@rule("MaxPoolGrad", phase="fuse")
def pool_gradient_by_places(node: Node, sweep: Sweep) -> Any:
    """y, places = _MaxPoolIndices(x); MaxPoolGrad(x, y, g) -> _MaxPoolGradIndices(places, g)"""
    image, pooled, grad = node.inputs
    pool = pooled.op
    if pool.type != "_MaxPoolIndices" or pooled.value_index != 0 or pool.inputs[0] is not image:
        return None
    if any(pool.attrs[name] != node.attrs[name] for name in _SHARED):
        return None
    attrs = {**node.attrs, "input_sizes": image.shape.as_list()}
    return sweep.make(max_pool_grad_indices_op, [pool.outputs[1], grad], attrs, node)


@rule("ReluGrad", phase="fuse")
def relu_gradient_before_pools(node: Node, sweep: Sweep) -> Any:
    """y, places = _MaxPoolIndices(x); ReluGrad(_MaxPoolGradIndices(places, g), x)
    -> _MaxPoolGradIndices(places, ReluGrad(g, y)): at its place, x is y
    """
    spread, features = node.inputs
    back = spread.op
    if back.type != "_MaxPoolGradIndices" or back.guards != node.guards:
        return None
    places, grad = back.inputs
    pool = places.op
    if pool.type != "_MaxPoolIndices" or pool.inputs[0] is not features:
        return None
    (masked,) = sweep.make("ReluGrad", [grad, pool.outputs[0]], node.attrs, node)
    return sweep.make(max_pool_grad_indices_op, [places, masked], back.attrs, node)


@rule("BiasAddGrad", phase="fuse")
def bias_gradient_before_pools(node: Node, sweep: Sweep) -> Any:
    """BiasAddGrad(_MaxPoolGradIndices(places, g)) -> BiasAddGrad(g): every element of g has one place"""
    back = node.inputs[0].op
    if (
        back.type != "_MaxPoolGradIndices"
        or back.attrs["padding"] == "EXPLICIT"
        or back.guards != node.guards
    ):
        return None
    if back.attrs["data_format"] != node.attrs["data_format"]:
        return None
    return sweep.make("BiasAddGrad", [back.inputs[1]], node.attrs, node)


# ---------------------------------------------------------------------------- dilation


@rule("BatchToSpaceND", phase="simplify")
def dilated_convolution(node: Node, sweep: Sweep) -> Any:
    """BatchToSpaceND(Conv2D(SpaceToBatchND(x, d, p), w), d, c)
    -> Conv2D(x, w, dilations=d, paddings=p - c)
    """
    product = node.inputs[0].op
    if product.type not in ("Conv2D", "DepthwiseConv2dNative"):
        return None
    image, filter = product.inputs
    if image.op.type != "SpaceToBatchND":
        return None
    attrs = _dilated(product, image.op, node)
    return None if attrs is None else sweep.make(product.type, [image.op.inputs[0], filter], attrs, node)


@rule("BatchToSpaceND", phase="simplify")
def dilated_gradient_by_input(node: Node, sweep: Sweep) -> Any:
    """BatchToSpaceND(Conv2DBackpropInput(sizes, w, SpaceToBatchND(g, d, c)), d, p)
    -> Conv2DBackpropInput(its own sizes, w, g, dilations=d, paddings=p - c)
    """
    product, sizes = node.inputs[0].op, node.outputs[0].shape
    if product.type not in _BY_INPUT or not sizes.is_fully_defined():
        return None
    _, filter, grad = product.inputs
    attrs = _dilated(product, node, grad.op) if grad.op.type == "SpaceToBatchND" else None
    if attrs is None:
        return None
    shape = sweep.constant(np.array(sizes.tuple, np.int32), node)
    return sweep.make(product.type, [shape, filter, grad.op.inputs[0]], attrs, node)


@rule("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter", phase="simplify")
def dilated_gradient_by_filter(node: Node, sweep: Sweep) -> Any:
    """Conv2DBackpropFilter(SpaceToBatchND(x, d, p), sizes, SpaceToBatchND(g, d, c))
    -> Conv2DBackpropFilter(x, sizes, g, dilations=d, paddings=p - c)
    """
    image, sizes, grad = node.inputs
    if image.op.type != "SpaceToBatchND" or grad.op.type != "SpaceToBatchND":
        return None
    attrs = _dilated(node, image.op, grad.op)
    if attrs is None:
        return None
    return sweep.make(node.type, [image.op.inputs[0], sizes, grad.op.inputs[0]], attrs, node)


_BY_INPUT = ("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput")


def _dilated(product: Node, padded: Node, cropped: Node) -> dict[str, Any] | None:
    """The attributes of a dilated convolution, from one between SpaceToBatchND and BatchToSpaceND: `padded`
    is the node on the side of its input, `cropped` that on the side of its output.
    """
    attrs = product.attrs
    if padded.guards != cropped.guards or attrs["padding"] != "VALID" or attrs["data_format"] != "NHWC":
        return None
    if any(number != 1 for number in (*attrs["strides"], *attrs["dilations"])):
        return None
    constants = [value.constant for value in (*padded.inputs[1:], *cropped.inputs[1:])]
    if any(constant is None for constant in constants):
        return None
    rates, paddings, other_rates, crops = (constant.tolist() for constant in constants)
    pairs = [(p - c, q - d) for (p, q), (c, d) in zip(paddings, crops)]
    if rates != other_rates or len(rates) != 2 or min(min(pair) for pair in pairs) < 0:
        return None
    explicit = [0, 0, *pairs[0], *pairs[1], 0, 0]
    return {**attrs, "padding": "EXPLICIT", "explicit_paddings": explicit, "dilations": [1, *rates, 1]}


# ---------------------------------------------------------------------------- convolutions

filter_layout_op = Op("_FilterLayout", "filter: T -> laid_out: T", differentiable=False)
filter_layout_op.shape(lambda filter: filter)


@filter_layout_op.kernel
def _filter_layout_kernel(filter: torch.Tensor) -> torch.Tensor:
    """The same filter, in the memory layout that ATen's channels-last convolutions use."""
    laid_out: torch.Tensor = out_in_last(out_in_first(filter).contiguous(memory_format=torch.channels_last))
    return laid_out


filter_layout_op.samples(f32(3, 2, 2, 3))


@rule("Conv2D", phase="fuse")
def filter_laid_out(node: Node, sweep: Sweep) -> Any:
    """Conv2D(x, w), whose Conv2DBackpropInput is in the program -> Conv2D(x, _FilterLayout(w))"""
    image, filter = node.inputs
    users = [n for n in sweep.program.nodes if n.type == "Conv2DBackpropInput" and n.inputs[1] is filter]
    if not users or node.guards or node.attrs["data_format"] != "NHWC":
        return None
    if known_shapes(image, filter) and is_by_pixels(node, image.sizes, filter.sizes):
        return None
    (laid_out,) = sweep.make(filter_layout_op, [filter], {"T": filter.dtype.base_dtype}, node)
    return sweep.make(conv2d_op, [image, laid_out], node.attrs, node)


@rule("Conv2DBackpropInput", phase="fuse")
def filter_laid_out_once(node: Node, sweep: Sweep) -> Any:
    """w' = _FilterLayout(w); Conv2DBackpropInput(s, w, g) -> Conv2DBackpropInput(s, w', g)"""
    sizes, filter, grad = node.inputs
    for other in sweep.nodes:
        if other.type == "_FilterLayout" and other.inputs[0] is filter:
            return sweep.make("Conv2DBackpropInput", [sizes, other.outputs[0], grad], node.attrs, node)
    return None


_CONV2D_ATTRS: dict[str, Any] = {name: spec for name, spec in conv2d_op.attrs.items() if name != "T"}
_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_convolution_pointwise")

conv2d_bias_op = Op(
    "_Conv2DBias",
    "input: T, filter: T, bias: T -> output: T",
    relu=False,
    differentiable=False,
    **_CONV2D_ATTRS,
    T=types("half bfloat16 float double"),
)


@conv2d_bias_op.shape
def _conv2d_bias_shape(
    input: TensorShape,
    filter: TensorShape,
    bias: TensorShape,
    *,
    data_format: str,
    strides: list[int],
    padding: str,
    dilations: list[int],
    explicit_paddings: list[int],
) -> Any:
    assert conv2d_op.shape_rule is not None, "every op has one"
    return conv2d_op.shape_rule(
        input,
        filter,
        data_format=data_format,
        strides=strides,
        padding=padding,
        dilations=dilations,
        explicit_paddings=explicit_paddings,
    )


def convolve_relu(
    input: torch.Tensor,
    filter: torch.Tensor,
    data_format: str,
    groups: int,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    margin: Any,
    bias: torch.Tensor,
) -> Any:
    """relu(convolution + bias) in one pass over the result, where oneDNN does it."""
    image, filter = padded_image(input, data_format, margin), out_in_first(filter)
    if _ONEDNN and image.dtype is torch.float32 and image.device.type == "cpu":
        result = torch.ops.mkldnn._convolution_pointwise.default(
            image, filter, bias, padding, stride, dilation, groups, "relu", [], ""
        )
    else:
        none = [0] * len(stride)
        result = torch.convolution(
            image, filter, bias, stride, padding, dilation, False, none, groups
        ).relu_()
    return from_channels_first(result, data_format)


def _convolution(node: Node) -> Kernel:
    return convolve_relu if node.attrs["relu"] else convolve


@conv2d_bias_op.kernel
def _conv2d_bias_kernel(
    input: torch.Tensor, filter: torch.Tensor, bias: torch.Tensor, *, node: Node
) -> torch.Tensor:
    if not input.numel() or not filter.numel():
        result: torch.Tensor = conv2d_op.kernels[""](input, filter, node=node)
        result = result + (bias if node.attrs["data_format"] == "NHWC" else bias.view(-1, 1, 1))
    else:
        result = _convolution(node)(
            input, filter, *convolution_arguments(node, input.shape, filter.shape), bias
        )
    return result


@conv2d_bias_op.specialize
def _conv2d_bias_specialized(node: Node) -> tuple[Kernel, list[Any]] | None:
    image, filter, bias = node.inputs
    if not known_shapes(image, filter):
        return None
    sizes: list[Any] = [image.shape.tuple, filter.shape.tuple]
    if is_by_pixels(node, *sizes):
        return convolve_pixels, [
            image,
            filter,
            strides_of(node),
            bias,
            "relu" if node.attrs["relu"] else "none",
        ]
    return _convolution(node), [image, filter, *convolution_arguments(node, *sizes), bias]


_SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
conv2d_bias_op.samples(
    (f32(2, 4, 5, 2), f32(3, 2, 2, 3), f32(3), _SAME),
    (f32(1, 4, 4, 1), f32(3, 3, 1, 2), f32(2), {**_SAME, "relu": True}),
)


@rule("BiasAdd", "Add", "AddV2", phase="fuse")
def convolution_with_bias(node: Node, sweep: Sweep) -> Any:
    """BiasAdd(Conv2D(x, w), b) -> _Conv2DBias(x, w, b)"""
    for product, bias in (node.inputs, node.inputs[::-1]):
        if product.op.type == "Conv2D" and _is_bias(bias, product, node) and _is_own(product, node, sweep):
            attrs = {name: product.op.attrs[name] for name in conv2d_op.attrs}
            return sweep.make(conv2d_bias_op, [*product.op.inputs, bias], attrs, node)
    return None


def _is_bias(bias: Value, product: Value, node: Node) -> bool:
    """Whether a value is a vector that is added to the channels of the product."""
    data_format = product.op.attrs["data_format"]
    meant = node.attrs["data_format"] if node.type == "BiasAdd" else "NHWC"
    count = None if product.shape.tuple is None else channels(product.shape.tuple, data_format)
    return (
        product.dtype.is_floating
        and meant == data_format
        and count is not None
        and bias.shape.tuple == (count,)
    )


def _is_own(value: Value, node: Node, sweep: Sweep) -> bool:
    """Whether only this node uses the value, under the same conditions as it is made."""
    return sweep.only_use(value) and value.op.guards == node.guards


@rule("Relu", phase="fuse")
def convolution_with_relu(node: Node, sweep: Sweep) -> Any:
    """Relu(_Conv2DBias(x, w, b)) -> _Conv2DBias(x, w, b, relu=True)"""
    product = node.inputs[0]
    made_by = product.op
    if made_by.type != "_Conv2DBias" or made_by.attrs["relu"] or not _is_own(product, node, sweep):
        return None
    return sweep.make(conv2d_bias_op, made_by.inputs, {**made_by.attrs, "relu": True}, node)


# ---------------------------------------------------------------------------- sampled classes


@rule(*CHANCES, phase="fuse")
def draws_apart_from_classes(node: Node, sweep: Sweep) -> Any:
    """LogUniformCandidateSampler(c) -> s, _ExpectedCounts(c, t), e with s, t, e = _DrawnClasses(): so what is
    drawn does not wait for the classes of the batch
    """
    attrs = {**node.attrs, "sampler": node.type}
    drawn, tries, expected = sweep.make(drawn_classes_op, [], attrs, node)
    drawn.op.device = CPU
    (counts,) = sweep.make(expected_counts_op, [node.inputs[0], tries], attrs, node)
    return [drawn, counts, expected]


@rule("SparseToDense", phase="fuse")
def hits_in_a_matrix(node: Node, sweep: Sweep) -> Any:
    """SparseToDense(concat([rows, places], 1), [n, s], weights, 0), rows, places, weights of
    ComputeAccidentalHits(c, s) -> _AccidentalHits(c, s): sizes do not depend on how many hits there are
    """
    indices, sizes, weights, default = node.inputs
    hits, *parts = (_origin(value) for value in (weights, *indices.op.inputs[:-1]))
    if (
        hits.op.type != "ComputeAccidentalHits"
        or [*parts, hits] != hits.op.outputs
        or hits.op.guards != node.guards
        or indices.op.type != "ConcatV2"
        or indices.op.inputs[-1].constant != 1
        or node.attrs["validate_indices"]
        or sizes.constant is None
        or default.constant is None
        or default.constant.item() != 0
    ):
        return None
    classes, sampled = hits.op.inputs
    if classes.shape[:1].concatenate(sampled.shape).tuple != tuple(sizes.constant.tolist()):
        return None
    return sweep.make(accidental_hits_op, [classes, sampled], {"T": weights.dtype}, node)


def _origin(value: Value) -> Value:
    """The value that others are only other forms of."""
    while value.op.type in ("Reshape", "Cast"):
        value = value.op.inputs[0]
    return value
