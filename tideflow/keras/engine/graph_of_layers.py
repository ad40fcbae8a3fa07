"""The layers between a model's inputs and outputs: found, put in order, and called again."""

from __future__ import annotations

from typing import Any, NamedTuple

import tideflow as tf
from tideflow.graph import nest
from tideflow.layers import keras_state
from tideflow.layers.base import Layer
from tideflow.layers.nodes import Node


class LayerGraph(NamedTuple):
    """The calls of layers in a model."""

    nodes: set[Node]
    nodes_by_depth: list[list[Node]]  # the deepest first: those next to the inputs
    layers: list[Layer]


def traced(inputs: list[Any], outputs: list[Any]) -> LayerGraph:
    """The calls that lead from inputs to outputs."""
    order, indices = _calls_behind(outputs)
    depths: dict[Node, int] = {}
    layer_depths: dict[Layer, int] = {}
    for node in reversed(order):
        depth = max(depths.setdefault(node, 0), layer_depths.get(node.outbound_layer, 0))
        layer_depths[node.outbound_layer] = depths[node] = depth
        for layer, index, _ in node.sources:
            source = layer._inbound_nodes[index]
            depths[source] = max(depth + 1, depths.get(source, 0))
    for tensor in inputs:  # also those that no output needs
        layer = tensor._keras_history.layer
        if layer not in layer_depths:
            layer_depths[layer] = 0
            indices[layer] = -1
            depths[layer._inbound_nodes[0]] = 0
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], indices[layer]))
    deepest = max(depths.values(), default=0)
    by_depth = [[node for node in depths if depths[node] == depth] for depth in range(deepest, -1, -1)]
    graph = LayerGraph(set(depths), by_depth, layers)
    _check(graph, inputs)
    return graph


def _calls_behind(outputs: list[Any]) -> tuple[list[Node], dict[Layer, int]]:
    """The calls behind outputs, each after those that it needs, and the order in which layers were met."""
    finished: dict[Node, None] = {}
    indices: dict[Layer, int] = {}

    def visit(tensor: Any, in_progress: tuple[Node, ...]) -> None:
        layer, index, _ = tensor._keras_history
        node = layer._inbound_nodes[index]
        if node in in_progress:
            raise ValueError(f'The tensor "{tensor}" at layer "{layer.name}" is part of a cycle.')
        if node in finished:
            return
        indices.setdefault(layer, len(indices))
        for source in node.inputs:
            visit(source, (*in_progress, node))
        finished[node] = None

    for tensor in outputs:
        visit(tensor, ())
    return list(finished), indices


def _check(graph: LayerGraph, inputs: list[Any]) -> None:
    """ValueError where an output needs a tensor that is not given, or two layers have one name."""
    there = {id(tensor) for tensor in inputs}
    passed: list[str] = []
    for nodes in graph.nodes_by_depth:
        for node in nodes:
            for tensor in node.inputs:
                if id(tensor) not in there:
                    maker = tensor._keras_history.layer
                    at = maker if getattr(maker, "is_placeholder", False) else node.outbound_layer
                    raise ValueError(
                        f"Graph disconnected: cannot obtain value for tensor {tensor} at layer "
                        f'"{at.name}". The following previous layers were accessed without '
                        f"issue: {passed}"
                    )
            if node.inputs:
                passed.append(node.outbound_layer.name)
            if node.inputs or any(id(tensor) in there for tensor in node.outputs):
                there.update(id(tensor) for tensor in node.outputs)
    names = [layer.name for layer in graph.layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f'The name "{name}" is used {names.count(name)} times in the model. All layer names '
                "should be "
                "unique."
            )


def called_again(
    graph: LayerGraph,
    inputs: list[Any],
    outputs: Any,
    given: list[Any],
    training: Any,
    masks: list[Any] | None,
) -> Any:
    """What the layers give for other inputs, in the structure of the outputs."""
    values: dict[int, Any] = {}
    for number, (tensor, value) in enumerate(zip(inputs, given, strict=True)):
        if masks is not None:
            value._keras_mask = masks[number]
        values[id(tensor)] = value
    for nodes in graph.nodes_by_depth:
        for node in nodes:
            if not node.inputs or not all(id(tensor) in values for tensor in node.inputs):
                continue
            layer = node.outbound_layer
            taken = nest.map_structure(lambda tensor: values[id(tensor)], node.input_tensors)
            arguments = nest.map_structure(
                lambda x: values.get(id(x), x) if isinstance(x, tf.Tensor) else x, dict(node.arguments)
            )
            if layer._expects("training"):
                given_mode = arguments.setdefault("training", training)
                arguments["training"] = training if keras_state.is_phase(given_mode) else given_mode
            made = nest.flatten(layer(taken, **arguments))
            values.update({id(tensor): value for tensor, value in zip(node.outputs, made, strict=True)})
    missing = [tensor for tensor in nest.flatten(outputs) if id(tensor) not in values]
    if missing:
        raise ValueError(f"Could not compute output {missing[0]}")
    return nest.map_structure(lambda tensor: values[id(tensor)], outputs)
