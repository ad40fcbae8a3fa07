"""Copies of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.keras.engine.input_layer import Input, InputLayer
from tideflow.keras.engine.sequential import Sequential
from tideflow.keras.engine.training import Model
from tideflow.layers.base import Layer
from tideflow.layers.nodes import is_keras_tensor


@export("keras.models.clone_model")
def clone_model(model: Any, input_tensors: Any = None, clone_function: Callable | None = None) -> Any:
    """Makes a model of the same layers, with weights of its own.

    Args:
      model: The model: functional, or Sequential.
      input_tensors: What the copy takes; new inputs if None.
      clone_function: A function that copies a layer; by its config if None.

    Returns:
      The copy.

    Raises:
      ValueError: If the model is a subclass.
    """
    if not (clone_function is None or callable(clone_function)):
        raise ValueError("Expected `clone_function` argument to be a callable.")
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    copy = copied if clone_function is None else clone_function
    if isinstance(model, Sequential):
        layers = [copy(layer) for layer in model.layers]
        if input_tensors is None:
            first = model._inner_layers().__next__()
            given = [_new_input(first)] if isinstance(first, InputLayer) else []
        else:
            tensor = nest.flatten(input_tensors)[0]
            given = [tensor if is_keras_tensor(tensor) else Input(tensor=tensor)]
        return Sequential([*(tensor._keras_history.layer for tensor in given), *layers], name=model.name)
    if not getattr(model, "_is_graph_network", False):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass model instead."
        )
    if input_tensors is None:
        tensors = [_new_input(tensor._keras_history.layer) for tensor in model.inputs]
    else:
        tensors = [t if is_keras_tensor(t) else Input(tensor=t) for t in nest.flatten(input_tensors)]
    values = {id(old): new for old, new in zip(model.inputs, tensors, strict=True)}
    copies: dict[Layer, Layer] = {}
    for nodes in model._layer_graph.nodes_by_depth:
        for node in nodes:
            if not node.inputs:
                continue
            layer = copies.setdefault(node.outbound_layer, None) or copy(node.outbound_layer)
            copies[node.outbound_layer] = layer
            taken = nest.map_structure(lambda tensor: values[id(tensor)], node.input_tensors)
            made = nest.flatten(layer(taken, **node.arguments))
            values.update({id(old): new for old, new in zip(node.outputs, made, strict=True)})
    outputs = nest.map_structure(lambda tensor: values[id(tensor)], model._nested_outputs)
    inputs = nest.map_structure(lambda tensor: values[id(tensor)], model._nested_inputs)
    clone = Model(inputs, outputs, name=model.name)
    clone._take_also([values[id(tensor)] for tensor in model._further_outputs])
    return clone


def copied(layer: Any) -> Any:
    """A layer of the same config."""
    return type(layer).from_config(layer.get_config())


def _new_input(layer: Any) -> Any:
    return Input(
        batch_shape=layer._batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, name=layer.name
    )
