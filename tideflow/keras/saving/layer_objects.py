"""What a SavedModel has of Keras layers and models: functions for their calls and losses, and their configs,
in the form in which TensorFlow's Keras reads them.

The calls of a model are traced once, to see what each layer in it is called with; the layers' functions are
traced for the same.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import tideflow as tf
from tideflow.functions.def_function import Function
from tideflow.graph import nest
from tideflow.graph.errors import OpError
from tideflow.graph.type_spec import TensorSpec
from tideflow.keras.engine.input_layer import InputLayer
from tideflow.keras.engine.network import Network
from tideflow.keras.engine.plain_values import plain_value
from tideflow.keras.engine.sequential import Sequential
from tideflow.keras.engine.training import Model
from tideflow.keras.metrics.metric import Metric
from tideflow.keras.saving.training_config import config_of
from tideflow.layers.base import Layer
from tideflow.platform import logging
from tideflow.saved_model.export_view import Described, describe_with
from tideflow.variables.trackable import AutoTrackable

_IDENTIFIERS = (
    (Sequential, "_tf_keras_sequential"),
    (Model, "_tf_keras_model"),
    (Network, "_tf_keras_network"),
    (Layer, "_tf_keras_layer"),
)
_OF_ONE_CALL = {"_losses": list, "_losses_of_calls": dict, "_updates": list}
_FOR_ALL = ("variables", "trainable_variables", "regularization_losses")
_CALLS = ("__call__", "call_and_return_all_conditional_losses", "_default_save_signature")

Call = tuple[tuple[Any, ...], dict[str, Any]]


def _added(layer: Any) -> list[Any]:
    """The losses that a layer's call has added."""
    return [*layer._losses, *(loss for losses in layer._losses_of_calls.values() for loss in losses)]


def describe_layer(layer: Any, shared: dict[str, Any]) -> Described:
    """The functions, lists and metadata of a layer. What its calls are is known from the model around it."""
    calls: dict[int, list[Call]] = shared.setdefault("keras calls", {})
    known: dict[int, Described] = shared.setdefault("keras layers", {})
    losses: dict[int, Function] = shared.setdefault("keras losses", {})
    is_root = not known and isinstance(layer, Model)
    if id(layer) in known:
        return known[id(layer)]
    if id(layer) not in calls:
        _record_calls(layer, calls)
    functions = _functions(layer, calls.get(id(layer), []), is_root)
    own = [losses.setdefault(id(loss), _loss_function(loss, len(losses))) for loss in layer._callable_losses]
    inner = [inner for inner in layer._inner_layers() if not isinstance(inner, Metric)]
    all_losses = own + [
        losses.setdefault(id(loss), _loss_function(loss, len(losses)))
        for one in inner
        for part in _with_inner(one)
        for loss in part._callable_losses
    ]
    lists: dict[str, Any] = {
        "variables": list(layer.variables),
        "trainable_variables": list(layer.trainable_variables),
        "non_trainable_variables": list(layer.non_trainable_variables),
        "layers": inner,
        "metrics": [],
        "regularization_losses": all_losses,
        "layer_regularization_losses": own,
    }
    api = AutoTrackable()
    for name, value in (*lists.items(), *functions.items()):
        setattr(api, name, value)
    children = {name: lists[name] for name in _FOR_ALL} | {"keras_api": api}
    described = known[id(layer)] = Described(
        children,
        {name: functions[name] for name in _CALLS if name in functions},
        next(identifier for kind, identifier in _IDENTIFIERS if isinstance(layer, kind)),
        json.dumps(_metadata(layer), default=plain_value),
    )
    return described


def _loss_function(loss: Callable[[], Any], number: int) -> Function:
    return Function(loss, f"loss_fn_{number}", input_signature=[], autograph=False)


def _with_inner(layer: Any) -> Iterator[Any]:
    """A layer and all layers in it."""
    yield layer
    for inner in layer._inner_layers():
        yield from _with_inner(inner)


# ------------------------------------------------------------------------------------------------ calls


def _record_calls(root: Any, calls: dict[int, list[Call]]) -> None:
    """Notes what a layer that stands in no other, and each layer in it, is called with."""
    given = _first_call(root)
    if given is None:
        return
    layers = {id(layer): layer for layer in _with_inner(root) if not isinstance(layer, Metric)}

    def recording(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(call)

        @functools.wraps(call)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            _note(calls.setdefault(id(layer), []), signature.bind(*args, **kwargs))
            return call(*args, **kwargs)

        recorded.__signature__ = signature  # type: ignore[attr-defined]
        return recorded

    before = {id(layer): layer.__dict__.get("call") for layer in layers.values()}
    try:
        for layer in layers.values():
            layer.__dict__["call"] = recording(layer, layer.call)
        _trace(Function(_caller(root), root.name, autograph=False), [given], _uses_training(root))
    except (ValueError, TypeError, OpError) as error:
        _skipped(root, error)
    finally:
        for layer in layers.values():
            layer.__dict__.pop("call")
            if before[id(layer)] is not None:
                layer.__dict__["call"] = before[id(layer)]


def _first_call(layer: Any) -> Call | None:
    """What a layer is called with, as specs; None where that is not known."""
    if isinstance(layer, (InputLayer, Metric)):
        return None
    if isinstance(layer, Model):
        return None if not layer.inputs else ((_input_specs(layer),), {})
    if layer._inbound_nodes:
        tensors = layer._inbound_nodes[0].input_tensors
        return (nest.map_structure(lambda x: TensorSpec(x.shape, x.dtype), tensors),), {}
    specs = nest.flatten(layer.input_spec) if layer.input_spec is not None else []
    if layer.built and len(specs) == 1 and (specs[0].shape is not None or specs[0].ndim):
        sizes = list(specs[0].shape or [None] * specs[0].ndim)
        for axis, size in (specs[0].axes or {}).items():
            sizes[axis] = size
        return (TensorSpec([None, *sizes[1:]], layer.dtype or "float32"),), {}
    return None


def _input_specs(model: Any) -> Any:
    """The specs of a model's inputs, for batches of any size."""
    names = iter(model.input_names)

    def spec(tensor: Any) -> TensorSpec:
        sizes = tensor.shape.as_list()
        return TensorSpec([None, *sizes[1:]] if sizes else sizes, tensor.dtype, next(names))

    specs = [spec(tensor) for tensor in model.inputs]
    nested = model._nested_inputs
    if isinstance(nested, dict):
        return dict(zip(nested, specs, strict=True))
    return specs if isinstance(nested, (list, tuple)) or len(specs) > 1 else specs[0]


def _note(known: list[Call], bound: inspect.BoundArguments) -> None:
    """Adds a call's arguments to those that are known, with specs in the place of tensors."""

    def spec(leaf: Any) -> Any:
        return TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, tf.Tensor) else leaf

    args, kwargs = _first_and_others(bound)
    call = nest.map_structure(spec, args), nest.map_structure(spec, kwargs)
    if not any(repr(call) == repr(other) for other in known):
        known.append(call)


def _first_and_others(bound: inspect.BoundArguments) -> Call:
    """The inputs of a call, and its other arguments by name: a layer may have them in another order."""
    named = dict(bound.arguments)
    kinds = {name: parameter.kind for name, parameter in bound.signature.parameters.items()}
    for name, kind in kinds.items():
        if kind is inspect.Parameter.VAR_KEYWORD:
            named |= named.pop(name, {})
    rest = next((named.pop(n, ()) for n, k in kinds.items() if k is inspect.Parameter.VAR_POSITIONAL), ())
    first = next(iter(kinds))
    return ((named.pop(first), *rest) if first in named else tuple(rest)), named


# ------------------------------------------------------------------------------------------------ functions


def _uses_training(layer: Any) -> bool:
    return any(inner._expects("training") for inner in _with_inner(layer))


def _parameters(layer: Any) -> inspect.Signature:
    """The parameters of a layer's call, where `training` is False if it is not given."""
    signature = inspect.signature(layer.call)
    parameters = []
    for parameter in signature.parameters.values():
        known = parameter.default is None or parameter.default is parameter.empty
        if parameter.name == "training" and known:
            parameter = parameter.replace(default=False)
        parameters.append(parameter.replace(annotation=parameter.empty))
    if _uses_training(layer) and "training" not in signature.parameters:
        after = next((i for i, p in enumerate(parameters) if p.kind is p.VAR_KEYWORD), len(parameters))
        parameters.insert(after, inspect.Parameter("training", inspect.Parameter.KEYWORD_ONLY, default=False))
    return inspect.Signature(parameters)


def _caller(layer: Any) -> Callable[..., Any]:
    """A function that calls a layer and leaves no trace in it."""

    signature = _parameters(layer)

    def call(*args: Any, **kwargs: Any) -> Any:
        first, others = _first_and_others(signature.bind(*args, **kwargs))
        with _as_before(layer):
            outputs = layer(*first, **others)
            losses = [loss for part in _with_inner(layer) for loss in _added(part)]
        return outputs, losses

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


@contextlib.contextmanager
def _as_before(layer: Any) -> Iterator[None]:
    """Losses and updates that calls add inside are forgotten; activities are not regularized."""
    parts = list(_with_inner(layer))
    kept = [{name: getattr(part, name) for name in _OF_ONE_CALL} for part in parts]
    regularizer, layer.__dict__["activity_regularizer"] = layer.activity_regularizer, None
    try:
        for part in parts:
            part.__dict__.update({name: empty() for name, empty in _OF_ONE_CALL.items()})
        yield
    finally:
        layer.__dict__["activity_regularizer"] = regularizer
        for part, values in zip(parts, kept, strict=True):
            part.__dict__.update(values)


def _functions(layer: Any, calls: list[Call], is_root: bool) -> dict[str, Function]:
    if isinstance(layer, (InputLayer, Metric)) or not calls:
        return {}
    regularizer = layer.activity_regularizer
    conditional = _caller(layer)
    found = {"call_and_return_conditional_losses": _named(layer, conditional, "conditional_losses")}
    traced = found["call_and_return_conditional_losses"]

    def call(*args: Any, **kwargs: Any) -> Any:
        return traced(*args, **kwargs)[0]

    def with_activity(*args: Any, **kwargs: Any) -> Any:
        outputs, losses = traced(*args, **kwargs)
        return outputs, [*losses, *map(regularizer, nest.flatten(outputs))]

    found["__call__"] = _named(layer, call, "call_fn")
    found["call_and_return_all_conditional_losses"] = traced
    if regularizer is not None:
        found["call_and_return_all_conditional_losses"] = _named(layer, with_activity, "all_losses")
        spec = TensorSpec(None, layer.dtype or "float32")
        name = f"{layer.name}_activity_regularizer"
        found["activity_regularizer_fn"] = Function(regularizer, name, [spec], autograph=False)
    try:
        for function in {id(function): function for function in found.values()}.values():
            if function.input_signature is None:
                _trace(function, calls, _uses_training(layer))
        if is_root:
            found["_default_save_signature"] = _default_signature(layer)
    except (ValueError, TypeError, OpError) as error:
        _skipped(layer, error)
        return {}
    return found


def _named(layer: Any, call: Callable[..., Any], what: str) -> Function:
    call.__signature__ = _parameters(layer)  # type: ignore[attr-defined]
    return Function(call, f"{layer.name}_layer_call_{what}", autograph=False)


def _trace(function: Function, calls: list[Call], with_training: bool) -> None:
    for args, kwargs in calls:
        for training in (True, False) if with_training else (None,):
            mode = {} if training is None else {"training": training}
            function.get_concrete_function(*args, **{**kwargs, **mode})


def _default_signature(model: Any) -> Function:
    def _wrapped_model(inputs: Any) -> dict[str, Any]:
        with _as_before(model):
            outputs = model(inputs, training=False)
        return dict(zip(model.output_names, nest.flatten(outputs), strict=True))

    signature = [_input_specs(model)]
    function = Function(_wrapped_model, "_wrapped_model", signature, autograph=False)
    function.get_concrete_function()
    return function


def _skipped(layer: Any, error: Exception) -> None:
    logging.warning(
        "Skipping full serialization of object %s, because an error occurred while tracing layer functions. "
        "Error message: %s",
        layer,
        error,
    )


# ------------------------------------------------------------------------------------------------ metadata


def _metadata(layer: Any) -> dict[str, Any]:
    shape = getattr(layer, "_batch_input_shape", None)
    found: dict[str, Any] = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": bool(layer.trainable),
        "expects_training_arg": layer._expects("training"),
        "dtype": layer.dtype,
        "batch_input_shape": None if shape is None else list(shape),
    }
    with contextlib.suppress(NotImplementedError):
        found["config"] = layer.get_config()
    if layer.activity_regularizer is not None and hasattr(layer.activity_regularizer, "get_config"):
        found["activity_regularizer"] = plain_value(layer.activity_regularizer)
    if isinstance(layer, Model):
        found |= {"keras_version": "2.2.4-tf", "backend": "tensorflow"}
        if "config" in found:
            found["model_config"] = {"class_name": type(layer).__name__, "config": found["config"]}
        training = config_of(layer) if layer.optimizer is not None else None
        if training is not None:
            found["training_config"] = training
    return found


describe_with(Layer, describe_layer)
