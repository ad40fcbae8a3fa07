"""The configs of functional models: layers, and the calls that connect them."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

from tideflow.graph import nest
from tideflow.keras.layers import serialization
from tideflow.layers.nodes import Node


def config_of(model: Any) -> dict[str, Any]:
    """The config of a functional model."""
    kept: dict[Node, int] = {}  # the number of a call among the layer's calls in this model
    for layer in model.layers:
        for node in layer._inbound_nodes:
            if node in model._layer_graph.nodes:
                # A model has a call of its own, the one that it was made of.
                own = 1 if hasattr(layer, "_layer_graph") else 0
                kept[node] = own + sum(1 for other in kept if other.outbound_layer is layer)
    layers = []
    for layer in model.layers:
        calls = [node for node in layer._inbound_nodes if node in kept and node.inputs]
        layers.append(
            {
                "name": layer.name,
                "class_name": type(layer).__name__,
                "config": layer.get_config(),
                "inbound_nodes": [_call_config(node, kept) for node in calls],
            }
        )
    return {
        "name": model.name,
        "layers": layers,
        "input_layers": _end_config(model._nested_inputs, kept),
        "output_layers": _end_config(model._nested_outputs, kept),
    }


def _place(tensor: Any, kept: dict[Node, int]) -> list[Any]:
    layer, index, position = tensor._keras_history
    return [layer.name, kept.get(layer._inbound_nodes[index], 0), position]


def _call_config(node: Node, kept: dict[Node, int]) -> Any:
    arguments = node.serialized_arguments()
    if not nest.is_nested(node.input_tensors):
        return [[*_place(node.input_tensors, kept), arguments]]
    return _mapped(node.input_tensors, lambda tensor: [*_place(tensor, kept), arguments])


def _end_config(tensors: Any, kept: dict[Node, int]) -> Any:
    if not nest.is_nested(tensors):
        return [_place(tensors, kept)]
    return _mapped(tensors, lambda tensor: _place(tensor, kept))


def _mapped(structure: Any, function: Any) -> Any:
    """`function` of each tensor of a structure of lists, tuples and dictionaries, which may return a list."""
    if isinstance(structure, dict):
        return {key: _mapped(value, function) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return [_mapped(value, function) for value in structure]
    return function(structure)


def _is_place(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) >= 3 and isinstance(value[0], str)


def _mapped_places(structure: Any, function: Any) -> Any:
    if _is_place(structure):
        return function(structure)
    if isinstance(structure, dict):
        return {key: _mapped_places(value, function) for key, value in structure.items()}
    return [_mapped_places(value, function) for value in structure]


def _places(structure: Any) -> list[Any]:
    found: list[Any] = []
    _mapped_places(structure, found.append)
    return found


def rebuilt(config: dict[str, Any], custom_objects: dict[str, Any] | None) -> tuple[Any, Any, dict[str, Any]]:
    """The inputs, the outputs and the layers by name that a config describes."""
    layers: dict[str, Any] = {}
    waiting: dict[str, list[Any]] = defaultdict(list)
    for layer_config in config["layers"]:
        layer = serialization.deserialize(copy.deepcopy(layer_config), custom_objects)
        layers[layer_config["name"]] = layer
        waiting[layer_config["name"]] += layer_config["inbound_nodes"]

    def ready(place: Any) -> bool:
        return len(layers[place[0]]._inbound_nodes) > place[1]

    def tensor_at(place: Any) -> Any:
        return layers[place[0]]._inbound_nodes[place[1]].outputs[place[2]]

    while any(waiting.values()):
        before = sum(map(len, waiting.values()))
        for name, calls in waiting.items():
            while calls and all(ready(place) for place in _places(calls[0])):
                call = calls.pop(0)
                places = _places(call)
                arguments = places[0][3] if len(places[0]) > 3 else {}
                inputs = _mapped_places(call, tensor_at)
                single = isinstance(inputs, list) and len(inputs) == 1
                layers[name](inputs[0] if single else inputs, **arguments)
        if sum(map(len, waiting.values())) == before:
            raise ValueError(f"The config of model {config.get('name')} has calls that depend on each other.")

    def end(places: Any) -> Any:
        found = _mapped_places(places, tensor_at)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    return end(config["input_layers"]), end(config["output_layers"]), layers
