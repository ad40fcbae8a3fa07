"""Batch norms made of plain operations, which are found by the names that tf.contrib.layers gives them."""

from __future__ import annotations

import re

from tideflow.contrib.graph_editor.reroute import reroute_ts
from tideflow.contrib.quantize.folding import Statistics, back_to_space, clone, corrections
from tideflow.contrib.quantize.patterns import Consumers, is_in_a_layer, outer_scope
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import device
from tideflow.ops.arrays import shapes
from tideflow.ops.arrays.creation import ones
from tideflow.ops.math import binary
from tideflow.variables.variable_scope import get_variable_scope

_NORM = re.compile(r"^(.*)BatchNorm/batchnorm")


def fold_plain_batch_norms(graph: Graph, is_training: bool, freeze_delay: int | None) -> None:
    """Folds all batch norms of that kind."""
    consumers = Consumers(graph)
    found = (_NORM.search(op.name) for op in graph.get_operations())
    prefixes = dict.fromkeys(match.group(1) for match in found if match)
    for prefix in prefixes:
        shift = _part(graph, prefix, "add_1") if is_in_a_layer(prefix) else None
        if shift is not None and shift.outputs[0].consumers():
            rsqrt = consumers.of(_part(graph, prefix, "Rsqrt"))
            has_scaling = sum(op.type == "Mul" for op in rsqrt) == 1
            folded = _folded(graph, prefix, shift, has_scaling, is_training, freeze_delay)
            follower = _follower(graph, prefix)
            if reroute_ts(folded, shift.outputs[0], can_modify=[follower]) != 1:
                raise ValueError(f"Unexpected inputs to op: {follower.name}")


def _part(graph: Graph, prefix: str, name: str) -> Operation:
    return graph.get_operation_by_name(f"{prefix}BatchNorm/batchnorm_1/{name}")


def _follower(graph: Graph, prefix: str) -> Operation:
    """What takes the normalized values: the layer's activation, or an addition around the layer."""
    for name in ("Relu6", "Relu", "Identity"):
        op = graph._by_name.get(prefix + name)
        if op is not None:
            return op
    around = outer_scope(prefix.removesuffix("/"))
    return graph.get_operation_by_name(f"{around}/AddV2" if around else "AddV2")


def _folded(
    graph: Graph,
    prefix: str,
    shift: Operation,
    has_scaling: bool,
    is_training: bool,
    freeze_delay: int | None,
) -> Tensor:
    multiply = _part(graph, prefix, "mul_1" if has_scaling else "mul")
    layer, batch_to_space = multiply.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, batch_to_space = layer.inputs[0].op, layer
    if layer.type not in ("Conv2D", "MatMul", "DepthwiseConv2dNative"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    inputs, weights = layer.inputs
    values = _statistics(graph, prefix, has_scaling)
    correction = corrections(values, freeze_delay, prefix) if is_training else None
    factor = multiply.inputs[1]
    scale = None if correction is None else correction.scale
    if layer.type == "DepthwiseConv2dNative":
        per_filter = weights.shape.as_list()[2:4]
        source = _part(graph, prefix, "mul" if has_scaling else "Rsqrt").outputs[0]
        factor = shapes.reshape(source, per_filter, name=f"{prefix}scale_reshape")
        if scale is not None:
            scale = shapes.reshape(scale, per_filter, name=f"{prefix}correction_reshape")
    if scale is not None:
        with device(multiply.device):
            weights = binary.multiply(scale, weights, name=f"{prefix}correction_mult")
    weights = binary.multiply(weights, factor, name=f"{prefix}mul_fold")
    result = clone(layer, f"{layer.name}_Fold", inputs, weights)
    if batch_to_space is not None:
        result = back_to_space(result, batch_to_space, f"{batch_to_space.name}_Fold")
    if correction is not None:
        with device(layer.device):
            result = binary.multiply(correction.reciprocal, result, name=f"{prefix}post_conv_mul")
            result = binary.add(result, correction.offset, name=f"{prefix}correction_add")
    return binary.add(result, shift.inputs[1], name=f"{prefix}add_fold")


def _statistics(graph: Graph, prefix: str, has_scaling: bool) -> Statistics:
    read = "/Read/ReadVariableOp" if get_variable_scope().use_resource else "/read"
    gamma_read = read if read != "/read" else ""
    names = {
        "mean": "moments/Squeeze",
        "variance": "moments/Squeeze_1",
        "moving_mean": f"moving_mean{read}",
        "moving_variance": f"moving_variance{read}",
        "epsilon": "batchnorm_1/add/y",
        "mean_decay": "AssignMovingAvg/decay",
        "variance_decay": "AssignMovingAvg_1/decay",
    }
    found = {key: _nearest(graph, f"BatchNorm/{name}", prefix) for key, name in names.items()}
    if has_scaling:
        gamma = _nearest(graph, f"BatchNorm/gamma{gamma_read}", prefix)
    else:
        gamma = ones(found["moving_mean"].shape)
    return Statistics(gamma=gamma, **found)


def _nearest(graph: Graph, ending: str, prefix: str) -> Tensor | None:
    """The output of the operation with that ending whose name shares most parts with a scope: layers that
    are used twice have their variables in one scope and their operations in another.
    """
    wanted = set(prefix.split("/"))
    best, most = None, 0 if prefix else -1
    for op in graph.get_operations():
        if op.name.endswith(ending):
            shared = len(wanted.intersection(op.name.split("/")))
            if shared > most:
                best, most = op, shared
    return None if best is None else best.outputs[0]
