"""The table of a model's layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def count_params(weights: list[Any]) -> int:
    """The number of elements of variables, each counted once."""
    unique = {id(weight): weight for weight in weights}.values()
    return sum(weight.shape.num_elements() for weight in unique)


def _is_chain(model: Any) -> bool:
    """Whether each layer has one input and one output."""
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    nodes = [node for level in model._layer_graph.nodes_by_depth for node in level]
    if any(len(level) > 1 for level in model._layer_graph.nodes_by_depth):
        return False
    if any(isinstance(node.input_tensors, list) and len(node.input_tensors) > 1 for node in nodes):
        return False
    for layer in model.layers:
        if sum(1 for node in layer._inbound_nodes if node in model._layer_graph.nodes) > 1:
            return False
    return True


def _output_shape(layer: Any) -> Any:
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"
    except RuntimeError:
        return "?"


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: list[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Prints the layers of a model, the shapes of their outputs, and how many parameters they have."""
    show = print if print_fn is None else print_fn
    chain = _is_chain(model)
    line_length = line_length or (65 if chain else 98)
    positions = positions or ([0.45, 0.85, 1.0] if chain else [0.33, 0.55, 0.67, 1.0])
    ends = (
        [int(line_length * p) if p <= 1 else int(p) for p in positions] if positions[-1] <= 1 else positions
    )
    ends = [int(end) for end in ends]
    titles = ["Layer (type)", "Output Shape", "Param #"] + ([] if chain else ["Connected to"])

    def row(fields: list[Any]) -> None:
        line = ""
        for number, (field, end) in enumerate(zip(fields, ends, strict=True)):
            line = (line[:-1] + " " if number else line) + str(field)
            line = line[:end]
            line += " " * (end - len(line))
        show(line)

    def sources(layer: Any) -> list[str]:
        relevant = model._layer_graph.nodes
        return [
            f"{source.layer.name}[{source.node_index}][{source.tensor_index}]"
            for node in layer._inbound_nodes
            if node in relevant
            for source in node.sources
        ]

    show(f'Model: "{model.name}"')
    show("_" * line_length)
    row(titles)
    show("=" * line_length)
    layers = model.layers
    for number, layer in enumerate(layers):
        name = f"{layer.name} ({type(layer).__name__})"
        params = layer.count_params() if layer.built else "0 (unused)"
        if chain:
            row([name, _output_shape(layer), params])
        else:
            connected = sources(layer)
            row([name, _output_shape(layer), params, connected[0] if connected else ""])
            for further in connected[1:]:
                row(["", "", "", further])
        show(("=" if number == len(layers) - 1 else "_") * line_length)
    collected = getattr(model, "_collected_trainable_weights", None)
    trainable = count_params(model.trainable_weights if collected is None else collected)
    frozen = count_params(model.non_trainable_weights)
    show(f"Total params: {trainable + frozen:,}")
    show(f"Trainable params: {trainable:,}")
    show(f"Non-trainable params: {frozen:,}")
    show("_" * line_length)
