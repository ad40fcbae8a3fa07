"""Batch norms that are one operation, folded into the layer before them."""

from __future__ import annotations

import dataclasses
from typing import Any

from tideflow.autodiff.registry import RegisterGradient
from tideflow.contrib.graph_editor.reroute import reroute_ts
from tideflow.contrib.quantize.folding import Statistics, back_to_space, clone, corrections
from tideflow.contrib.quantize.patterns import Found, anything, matches, node, one_of
from tideflow.graph import dtypes
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import shapes
from tideflow.ops.math import binary, casting, unary

_LAYERS = "Conv2D|DepthwiseConv2dNative|MatMul"
_FUSED = "FusedBatchNorm|FusedBatchNormV3"

_layer = node("layer", _LAYERS, anything("input"), anything("weights"))
_dilated = node("batch to space", "BatchToSpaceND", _layer, anything(), anything())
_output = one_of(node("", "Identity", one_of(_dilated, _layer)), _layer, _dilated)
_norm = node(
    "norm",
    _FUSED,
    one_of(node("", "Reshape", _output, anything()), _output),
    anything("gamma"),
    anything("beta"),
    anything("mean"),
    anything("variance"),
)
_normalized = one_of(node("reshape", "Reshape", _norm, anything()), _norm)
# How a moving average follows: the difference, times one minus its decay.
_following = node(
    "", "Mul", node("difference", "Sub", anything("average"), anything("batch")), anything("decay")
)


@dataclasses.dataclass
class _BatchNorm:
    """A layer and the batch norm after it."""

    layer: Operation
    norm: Operation
    output: Tensor
    inputs: Tensor
    weights: Tensor
    beta: Tensor
    gamma: Tensor
    mean: Tensor
    variance: Tensor
    batch_to_space: Operation | None
    statistics: Statistics | None  # of one that trains


def fold_fused_batch_norms(graph: Graph, freeze_delay: int | None) -> None:
    """Folds all batch norms of that kind."""
    found: dict[Operation, _BatchNorm] = {}
    for parts in matches(graph, _normalized):
        output = _output_of(parts)
        layer = parts["layer"].op
        if layer not in found and output is not None and output.consumers():
            found[layer] = _batch_norm(graph, parts, output)
    for batch_norm in found.values():
        _fold(graph, batch_norm, freeze_delay)


def _output_of(parts: Found) -> Tensor | None:
    """Where the normalized values are taken; a matrix is normalized as an image and shaped back."""
    if parts["layer"].op.type == "MatMul":
        return parts.get("reshape")
    return parts["norm"].op.outputs[0]


def _batch_norm(graph: Graph, parts: Found, output: Tensor) -> _BatchNorm:
    norm = parts["norm"].op
    mean, variance, statistics = parts["mean"], parts["variance"], None
    if norm.get_attr("is_training"):
        norm._set_attr("_gradient_op_type", "FoldFusedBatchNormGrad")
        mean = norm.outputs[1]
        scope, slash, _ = norm.name.rpartition("/")
        with graph.name_scope(scope + slash):
            n = casting.cast(shapes.size(parts["layer"]) / shapes.size(mean), dtypes.float32)
            variance = binary.multiply(norm.outputs[2], (n - 1) / n, name="Undo_Bessel_Correction")
        statistics = _statistics(graph, norm, parts["gamma"], mean, variance)
    return _BatchNorm(
        layer=parts["layer"].op,
        norm=norm,
        output=output,
        inputs=parts["input"],
        weights=parts["weights"],
        beta=parts["beta"],
        gamma=parts["gamma"],
        mean=mean,
        variance=variance,
        batch_to_space=parts["batch to space"].op if "batch to space" in parts else None,
        statistics=statistics,
    )


def _statistics(graph: Graph, norm: Operation, gamma: Tensor, mean: Tensor, variance: Tensor) -> Statistics:
    averages = {}
    for parts in matches(graph, _following):
        averages[parts["batch"]] = parts["average"], parts["decay"]
    if norm.outputs[1] not in averages or norm.outputs[2] not in averages:
        raise ValueError(f"Batch norm {norm.name} trains, but no operation updates its moving averages.")
    moving_mean, mean_decay = averages[norm.outputs[1]]
    moving_variance, variance_decay = averages[norm.outputs[2]]
    return Statistics(
        gamma=gamma,
        mean=mean,
        variance=variance,
        moving_mean=moving_mean,
        moving_variance=moving_variance,
        mean_decay=mean_decay,
        variance_decay=variance_decay,
        epsilon=norm.get_attr("epsilon"),
    )


def _fold(graph: Graph, found: _BatchNorm, freeze_delay: int | None) -> None:
    scope, slash, _ = found.layer.name.rpartition("/")
    with graph.name_scope(scope + slash):
        with graph.name_scope(f"{scope}{slash}BatchNorm_Fold{slash}"):
            factor = found.gamma * unary.rsqrt(found.variance + found.norm.get_attr("epsilon"))
            bias = binary.subtract(found.beta, found.mean * factor, name="bias")
            correction = None
            if found.statistics is not None:
                correction = corrections(found.statistics, freeze_delay)
            weights, scale = found.weights, None if correction is None else correction.scale
            if found.layer.type == "DepthwiseConv2dNative":
                per_filter = weights.shape.as_list()[2:4]
                factor = shapes.reshape(factor, per_filter, name="scale_reshape")
                if scale is not None:
                    scale = shapes.reshape(scale, per_filter, name="correction_reshape")
        if scale is not None:
            weights = binary.multiply(scale, weights, name="correction_mult")
        weights = binary.multiply(weights, factor, name="mul_fold")
        folded = clone(found.layer, _folded_name(found.layer), found.inputs, weights)
        if found.batch_to_space is not None:
            folded = back_to_space(folded, found.batch_to_space, _folded_name(found.batch_to_space))
        if correction is not None:
            folded = binary.multiply(correction.reciprocal, folded, name="post_conv_mul")
            folded = binary.add(folded, correction.offset, name="correction_add")
        result = binary.add(folded, bias, name="add_fold")
        reroute_ts(result, found.output)


def _folded_name(op: Operation) -> str:
    return op.name.rpartition("/")[2] + "_Fold"


@RegisterGradient("FoldFusedBatchNormGrad")
def _statistics_gradient(op: Operation, _: Any, grad_mean: Tensor, grad_variance: Tensor, *more: Any) -> Any:
    """The gradient of a folded batch norm: nobody takes its output, only its mean and variance."""
    x = op.inputs[0]
    n = casting.cast(shapes.size(x) / shapes.size(grad_mean), dtypes.float32)
    by_mean = grad_mean / n
    by_variance = 2 * grad_variance * (x - op.outputs[1]) / (n - 1)
    return by_mean + by_variance, None, None, None, None
