"""How a model is trained, as a config, and back."""

from __future__ import annotations

import json
from typing import Any

from tideflow.keras import losses, metrics, optimizers
from tideflow.keras.engine.plain_values import plain_value
from tideflow.platform import logging


def _serialized(given: Any, module: Any) -> Any:
    """Losses or metrics as `compile` was given them, with names and configs in the place of objects."""
    if isinstance(given, dict):
        return {key: _serialized(value, module) for key, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_serialized(value, module) for value in given]
    if given is None or isinstance(given, str):
        return given
    return module.serialize(given)


def config_of(model: Any) -> dict[str, Any] | None:
    """How a model was compiled; None where its optimizer has no config."""
    if isinstance(model.optimizer, optimizers.TFOptimizer):
        logging.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state "
            "after instantiation. As a result, we cannot save the optimizer as part of the model save file. "
            "You will have to compile your model again after loading it. Prefer using a Keras optimizer "
            "instead (see keras.io/optimizers)."
        )
        return None
    return {
        "optimizer_config": {
            "class_name": type(model.optimizer).__name__,
            "config": json.loads(json.dumps(model.optimizer.get_config(), default=plain_value)),
        },
        "loss": json.loads(json.dumps(_serialized(model.loss, losses), default=plain_value)),
        "metrics": json.loads(json.dumps(_serialized(model._compile_metrics, metrics), default=plain_value)),
        "weighted_metrics": json.loads(
            json.dumps(_serialized(model._compile_weighted_metrics, metrics), default=plain_value)
        ),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
    }


def _deserialized(given: Any, module: Any) -> Any:
    """Losses or metrics of a config: names stay names, which `compile` understands."""
    if isinstance(given, dict):
        if "class_name" in given:
            return module.deserialize(given)
        return {key: _deserialized(value, module) for key, value in given.items()}
    if isinstance(given, list):
        return [_deserialized(value, module) for value in given]
    return given


def arguments_of(config: dict[str, Any], custom_objects: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `compile` that a config describes."""

    def named(given: Any) -> Any:
        if isinstance(given, str):
            return custom_objects.get(given, given)
        if isinstance(given, dict) and "class_name" not in given:
            return {key: named(value) for key, value in given.items()}
        return [named(value) for value in given] if isinstance(given, list) else given

    return {
        "optimizer": optimizers.deserialize(config["optimizer_config"], custom_objects),
        "loss": named(_deserialized(config["loss"], losses)),
        "metrics": named(_deserialized(config.get("metrics"), metrics)),
        "weighted_metrics": named(_deserialized(config.get("weighted_metrics"), metrics)),
        "sample_weight_mode": config.get("sample_weight_mode"),
        "loss_weights": config.get("loss_weights"),
    }
