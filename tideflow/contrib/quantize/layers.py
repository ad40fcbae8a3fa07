"""Layers found in a graph, and FakeQuant operations put behind their weights and activations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tideflow.contrib.graph_editor.reroute import reroute_ts
from tideflow.contrib.quantize.fake_quants import Rounding, fake_quant
from tideflow.contrib.quantize.patterns import (
    Consumers,
    Found,
    anything,
    matches,
    node,
    one_of,
    outer_scope,
)
from tideflow.contrib.quantize.steps import quantization_step
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.math import binary
from tideflow.platform import logging

_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_RELUS = ("Relu", "Relu6")
_ACTIVATIONS = "Relu|Relu6|Identity"
_ADDITIONS = "Add|AddV2"

_variable = node("", "Variable|VariableV2")
_part = node("", "Identity", _variable)
_joined = node("", "ConcatV2", _part, anything(), anything())
_weights = one_of(
    node("weights read", "Identity", one_of(_part, _joined, _variable)),
    node("resource read", "ReadVariableOp"),
    node("folded weights", "Mul"),
)
_layer = node("layer", _LAYERS, anything(), _weights, in_any_order=True)
_output = one_of(node("", "BatchToSpaceND", _layer, anything(), anything()), _layer)
_separable = node("", _LAYERS, _output, anything(), in_any_order=True)
_corrected = node(
    "", _ADDITIONS, node("", "Mul", anything(), _output, in_any_order=True), anything(), in_any_order=True
)
_folded_bias = node("folded bias", _ADDITIONS, _corrected, anything(), in_any_order=True)
_normalized = node("", "Identity", _folded_bias)
_bias = node("bias", f"{_ADDITIONS}|BiasAdd", _output, anything(), in_any_order=True)
_bypass = node("bypass", _ADDITIONS, one_of(_bias, _folded_bias, _normalized), anything(), in_any_order=True)
_activation = node("activation", _ACTIVATIONS, one_of(_bias, _folded_bias, _normalized, _bypass, _layer))
_later_bypass = node("later bypass", _ADDITIONS, anything(), _activation, in_any_order=True)


@dataclasses.dataclass
class _Layer:
    """A layer, and what of it is rounded."""

    layer: Operation
    weights: Tensor | None
    activation: Operation
    bias: Operation | None = None
    bypass: Operation | None = None  # an addition before the activation
    later_bypass: Operation | None = None  # one after it


def _op(parts: Found, *names: str) -> Operation | None:
    """The operation of the first of these parts that is there."""
    return next((parts[name].op for name in names if name in parts), None)


def _layers(graph: Graph) -> Iterator[_Layer]:
    """The layers, those with an addition behind their activation first: others would take it for the end."""
    seen: set[Operation] = set()

    def new(parts: Found, activation: str, *others: str, with_bypass: bool = True) -> Iterator[_Layer]:
        layer = parts["layer"].op
        if layer not in seen:
            seen.add(layer)
            weights = next((parts[name] for name in _WEIGHTS if name in parts), None)
            found = _Layer(layer, weights, _op(parts, activation, *others))
            if with_bypass:
                found.bias = _op(parts, "bias", "folded bias")
                found.bypass = _op(parts, "bypass")
                found.later_bypass = _op(parts, "later bypass")
            yield found

    for parts in matches(graph, _later_bypass):
        yield from new(parts, "activation")
    for parts in matches(graph, _activation):
        if not _feeds_batch_norm(parts["activation"].op):
            yield from new(parts, "activation")
    for parts in matches(graph, one_of(_bias, _folded_bias)):
        yield from new(parts, "bias", "folded bias", with_bypass=False)
    for parts in matches(graph, _separable):
        parts.pop("folded weights", None)
        yield from new(parts, "layer", with_bypass=False)


_WEIGHTS = ("weights read", "resource read", "folded weights")


def _feeds_batch_norm(op: Operation) -> bool:
    """Whether an Identity only passes a layer's output on to a batch norm."""
    if op.type != "Identity":
        return False
    consumers = op.outputs[0].consumers()
    return len(consumers) == 1 and consumers[0].type in ("FusedBatchNorm", "FusedBatchNormV3")


def quantize_layers(
    graph: Graph,
    is_training: bool,
    weight_bits: int,
    activation_bits: int,
    symmetric: bool,
    delay: int | None,
    scope: str | None,
    decay: float = 0.999,
    collection: str | None = None,
) -> None:
    """Rounds the weights and activations of the layers, then those of what stands between them."""
    inserted = _Quantizer(graph, delay, f"{scope}/" if scope and not scope.endswith("/") else scope or "")
    values = Rounding(activation_bits, is_training, symmetric, decay=decay, collection=collection)
    weights = dataclasses.replace(values, bits=weight_bits, narrow_range=True, is_moving=False)
    quantized: set[Operation] = set()
    for found in list(_layers(graph)):
        scope_of_layer = outer_scope(found.layer.name)
        if found.weights is not None:
            inserted.after(found.weights.op, scope_of_layer, "weights_quant", weights, here=False, there=True)
        around = outer_scope(scope_of_layer) if found.bypass is not None else scope_of_layer
        inserted.after(found.activation, around, "act_quant", dataclasses.replace(values, first_min=0.0))
        quantized.add(found.activation)
        if found.bypass is not None:
            inserted.after(found.bias, scope_of_layer, "conv_quant", values, there=True)
            quantized.add(found.bias)
            if not inserted.is_followed(found.bypass, _ACTIVATIONS.split("|")):
                inserted.after(found.bypass, around, "add_quant", values, there=True)
                quantized.add(found.bypass)
        later = found.later_bypass
        if later is not None and not inserted.is_followed(later, _RELUS):
            inserted.after(later, outer_scope(later.name), "post_activation_bypass_quant", values)
            quantized.add(later)
    between = dataclasses.replace(values, symmetric=False)
    inserted.consumers = Consumers(graph)
    for op in graph.get_operations():
        if _is_between(op, quantized):
            inserted.after(op, op.name, f"activation_{op.type}_quant", between)


class _Quantizer:
    """Puts FakeQuant operations into a graph."""

    def __init__(self, graph: Graph, delay: int | None, scope: str):
        self.graph = graph
        self.delay = delay
        self.scope = scope
        self.consumers = Consumers(graph)

    def is_followed(self, op: Operation, types: Iterator[str]) -> bool:
        """Whether an operation of one of these types takes an output."""
        found = any(consumer.type in types for consumer in self.consumers.of(op))
        if found:
            logging.info("Skipping %s, because its followed by an activation.", op.name)
        return found

    def after(
        self,
        op: Operation,
        context: str,
        name: str,
        how: Rounding,
        here: bool = True,
        there: bool = False,
    ) -> None:
        """Lets what takes an operation's output take it rounded.

        With a scope, the operation itself must stand in it (`here`), and all that take its output (`there`).
        """
        consumers = self.consumers.of(op)
        concerned = ([op] if here else []) + (consumers if there else [])
        outside = [other.name for other in concerned if not other.name.startswith(self.scope)]
        if outside:
            logging.info("%s of %s is not rounded: %s is not in %s", name, op.name, outside[0], self.scope)
            return
        values = op.outputs[0]
        if _is_rounded(values):
            return
        prefix = f"{context}/{name}" if context else name
        inner = self.graph.get_name_scope()
        if inner:
            prefix = prefix.removeprefix(f"{inner}/")
        rounded = fake_quant(values, how, prefix)
        if self.delay:
            begun = binary.greater_equal(quantization_step(), self.delay, name=f"{prefix}/activate_quant")
            rounded = cond(begun, lambda: rounded, lambda: values, name=f"{prefix}/delayed_quant")
        if consumers and reroute_ts(rounded, values, can_modify=consumers) < len(consumers):
            names = ", ".join(consumer.name for consumer in consumers)
            raise ValueError(f"No inputs quantized for ops: [{names}]")


def _is_rounded(tensor: Tensor) -> bool:
    """Whether a FakeQuant takes the tensor, directly or through operations that do not change values."""
    waiting = tensor.consumers()
    while waiting:
        op = waiting.pop()
        if op.type.startswith("FakeQuantWithMinMax") and not op.type.endswith("Gradient"):
            return True
        if op.type in ("Reshape", "Identity"):
            waiting += [other for output in op.outputs for other in output.consumers()]
    return False


_PASSING = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")
_ARITHMETIC = ("Add", "AddV2", "Mul")


def _is_between(op: Operation, quantized: set[Operation]) -> bool:
    """Whether this is a sum or a product of rounded values that is not rounded itself."""
    if op in quantized or op.type not in _ARITHMETIC:
        return False
    consumers = op.outputs[0].consumers()
    if len(consumers) == 1 and consumers[0].type in _RELUS:
        return False
    for tensor in op.inputs:
        source = tensor.op
        while source.type in _PASSING:
            source = source.inputs[0].op
        if source.type == "FakeQuantWithMinMaxVars" or source.name.find("delayed_quant/Merge") > 0:
            return True
        if source.type in _ARITHMETIC and any(_is_between(t.op, quantized) for t in source.inputs):
            return True
    return False
