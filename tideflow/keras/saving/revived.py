"""Models out of SavedModels whose classes are not there: they call the functions that were saved."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.keras.engine.training import Model
from tideflow.layers.base import Layer
from tideflow.saved_model.objects import load_v2


class RevivedLayer(Layer):
    """The variables, the call and the losses of what was saved."""

    def __init__(self, loaded: Any, name: str | None) -> None:
        super().__init__(name=name)
        self._loaded = loaded
        self._saved_call = loaded.keras_api.call_and_return_conditional_losses
        for variable in loaded.variables:
            known = any(variable is other for other in loaded.trainable_variables)
            (self._trainable_weights if known else self._non_trainable_weights).append(variable)
        for loss in getattr(loaded, "regularization_losses", []):
            self.add_loss(loss)
        self.built = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The outputs, by the function that was saved. Its losses are the layer's."""
        outputs, losses = self._called(inputs, training)
        self.add_loss(losses, inputs)
        return outputs

    def _called(self, inputs: Any, training: Any) -> Any:
        if "training" not in self._saved_call.function_spec.fullargspec.parameters:
            return self._saved_call(inputs)
        if isinstance(training, tf.Tensor):
            return tf.cond(
                tf.cast(training, tf.bool),
                lambda: self._saved_call(inputs, training=True),
                lambda: self._saved_call(inputs, training=False),
            )
        return self._saved_call(inputs, training=bool(training))


class RevivedModel(Model):
    """A model that answers as the one that was saved, and can be trained on."""

    def __init__(self, loaded: Any, name: str | None) -> None:
        super().__init__(name=name)
        self.saved = RevivedLayer(loaded, name)

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The outputs, by the function that was saved."""
        return self.saved(inputs, training=training)


def revived(path: str, metadata: dict[str, Any]) -> RevivedModel:
    """The model of a directory, made of its functions."""
    loaded = load_v2(path)
    if not hasattr(getattr(loaded, "keras_api", None), "call_and_return_conditional_losses"):
        raise ValueError(
            f"The SavedModel at {path} has no functions of its Keras model: make the model by its class and "
            "read its weights by `load_weights`."
        )
    kind = type(str(metadata.get("class_name", "RevivedModel")), (RevivedModel,), {})
    model: RevivedModel = kind(loaded, metadata.get("name"))
    return model
