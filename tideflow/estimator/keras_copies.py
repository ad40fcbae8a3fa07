"""Copies of Keras's models in other graphs, built on given tensors and compiled as the originals are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.keras.engine import compiling
from tideflow.keras.engine.sequential import Sequential
from tideflow.keras.models import clone_model
from tideflow.keras.optimizers import TFOptimizer
from tideflow.layers.base import Layer
from tideflow.variables.custom_objects import CustomObjectScope


def is_stack_or_graph(model: Any) -> bool:
    """Whether a model can be copied by its layers."""
    return bool(model._is_graph_network) or isinstance(model, Sequential)


def copied(
    model: Any,
    inputs: Any = None,
    targets: Any = None,
    custom_objects: Mapping[str, Any] | None = None,
    compiles: bool = True,
    iterations: Any = None,
) -> Any:
    """A copy with weights of its own, in the default graph.

    Args:
      model: The model.
      inputs: The tensors that the copy takes; new placeholders if None.
      targets: The tensors of the true values; placeholders if None.
      custom_objects: The program's own classes and functions, by name.
      compiles: Whether the copy is compiled as the model is.
      iterations: The variable that counts the optimizer's updates; its own if None.
    """
    with CustomObjectScope(dict(custom_objects or {})):
        if is_stack_or_graph(model):
            copy = clone_model(model, input_tensors=inputs)
            if not copy.inputs:
                sizes = model.inputs[0].shape if model.inputs else None
                given = inputs if inputs is not None else tf.placeholder(model.inputs[0].dtype, sizes)
                copy(_single(given))
        else:
            copy = _fresh(model)
            copy(_single(inputs))
    if compiles:
        copy.compile(
            _optimizers(model.optimizer, iterations),
            model.loss,
            metrics=_fresh_metrics(model._compile_metrics),
            loss_weights=model.loss_weights,
            sample_weight_mode=model.sample_weight_mode,
            weighted_metrics=_fresh_metrics(model._compile_weighted_metrics),
            target_tensors=targets,
        )
    return copy


def function_of(model: Any, mode: str) -> Any:
    """What runs one step of `"train"`, `"test"` or `"predict"`, with its operation of updates."""
    model._function(mode)
    return model._functions[mode][0]


def weigh_samples(model: Any, weights: list[Any]) -> None:
    """Gives the samples of each output weights that are tensors."""
    for end, weight in zip(model._endpoints, weights, strict=True):
        end.sample_weight = weight
        for _, metric, _ in end.metrics:
            metric._updates.clear()
    compiling.add_metrics(model._endpoints, weighted=False)
    compiling.add_metrics(model._endpoints, weighted=True)
    model.total_loss = compiling.total_loss(model, model._endpoints)
    model._functions = {}


def _single(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, (list, tuple)) and len(tensors) == 1 else tensors


def _optimizers(given: Any, iterations: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [_optimizers(each, iterations) for each in given]
    if isinstance(given, TFOptimizer):
        return TFOptimizer(given.optimizer, iterations)
    made = type(given).from_config(given.get_config())
    if iterations is not None:
        made.iterations = iterations
    return made


def _fresh_metrics(metrics: Any) -> Any:
    def fresh(metric: Any) -> Any:
        if hasattr(metric, "get_config") and hasattr(metric, "result"):
            return type(metric).from_config(metric.get_config())
        return metric

    return None if metrics is None else nest.map_structure(fresh, metrics)


_AS_MADE = {
    **dict.fromkeys(("inputs", "outputs", "_nested_inputs", "_nested_outputs", "optimizer", "history")),
    "_is_compiled": False,
}


def _fresh(model: Any) -> Any:
    """A copy of a model that is a subclass: by its config, or with copies of the layers it holds."""
    try:
        return type(model).from_config(model.get_config())
    except NotImplementedError:
        twin = model._unbuilt()
    twin.__dict__.update(_AS_MADE, _layers=[], _functions={}, _endpoints=[])
    for name in ("_collected_trainable_weights", "total_loss"):
        twin.__dict__.pop(name, None)
    for name, value in vars(model).items():
        if name not in ("_layers", *_AS_MADE) and any(
            isinstance(leaf, Layer) for leaf in nest.flatten(value)
        ):
            setattr(twin, name, nest.map_structure(_fresh_layer, value))
    return twin


def _fresh_layer(layer: Any) -> Any:
    if not isinstance(layer, Layer):
        return layer
    made = type(layer).from_config(layer.get_config())
    made._name = layer.name
    return made
