"""Sequential: a stack of layers."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.keras.engine.input_layer import Input, InputLayer
from tideflow.keras.engine.legacy import refuse_legacy_layers
from tideflow.keras.engine.training import Model
from tideflow.keras.layers import serialization
from tideflow.layers.base import Layer, _default

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike


@export("keras.Sequential", "keras.models.Sequential")
class Sequential(Model):
    """A stack of layers, each with one input and one output.

    Args:
      layers: The layers, or one.
      name: The name of the model.
    """

    def __init__(self, layers: list[Layer] | Layer | None = None, name: str | None = None):
        super().__init__(name=name)
        self.supports_masking = True
        self._compute_output_and_mask_jointly = True
        self._build_input_shape: Any = None
        for layer in layers if isinstance(layers, (list, tuple)) else [layers] if layers else ():
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers, without the one of the input."""
        layers = list(self._inner_layers())
        return layers[1:] if layers and isinstance(layers[0], InputLayer) else layers

    def __setattr__(self, name: str, value: Any) -> None:
        """Attributes are not layers of the stack."""
        object.__setattr__(self, name, value)

    def add(self, layer: Layer) -> None:
        """Adds a layer on top of the stack.

        Args:
          layer: The layer.

        Raises:
          TypeError: If it is no layer.
          ValueError: If it has several inputs or outputs.
        """
        if hasattr(layer, "_keras_history"):  # a tensor of Input()
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        refuse_legacy_layers([layer])
        self.built = False
        if not self.__dict__["_layers"]:
            self._add_first(layer)
        else:
            self.__dict__["_layers"].append(layer)
            if self.outputs:
                self.outputs = [layer(self.outputs[0])]
                if len(nest.flatten(self.outputs)) != 1:
                    raise TypeError(
                        "All layers in a Sequential model should have a single output tensor. For "
                        "multi-output layers, use the functional API."
                    )
        if self.outputs and isinstance(self.__dict__["_layers"][0], InputLayer):
            self._take_stack()
        elif self.outputs:  # the first data has told the inputs
            self.built = True

    def _add_first(self, layer: Layer) -> None:
        own = self.__dict__["_layers"]
        if isinstance(layer, InputLayer):
            own.append(layer)
            self.outputs = layer._inbound_nodes[-1].outputs
            return
        shape, dtype = _first_shape(layer)
        if shape is None:
            own.append(layer)
            return
        x = Input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input")
        layer(x)
        if len(layer._inbound_nodes[-1].outputs) != 1:
            raise TypeError(
                "All layers in a Sequential model should have a single output tensor. For multi-output "
                "layers, use the functional API."
            )
        own += [x._keras_history.layer, layer]
        self.outputs = [layer._inbound_nodes[-1].outputs[0]]

    def _set_inputs(self, inputs: Any, outputs: Any = None) -> None:
        super()._set_inputs(inputs, outputs)
        if outputs is None:
            return
        if self._build_input_shape is None and self.inputs[0].shape.ndims:
            self._build_input_shape = (None, *self.inputs[0].shape.as_list()[1:])

    def _take_stack(self) -> None:
        own = list(self.__dict__["_layers"])
        first = own[0] if isinstance(own[0], InputLayer) else None
        inputs = first._inbound_nodes[-1].outputs[0]
        output = self.outputs[0]
        self.__dict__["_is_graph_network"] = False
        self._inbound_nodes = []
        self._take_graph(inputs, output)
        self.__dict__["_layers"] = own

    def pop(self) -> None:
        """Takes the last layer off the stack.

        Raises:
          TypeError: If there is none.
        """
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self.__dict__["_layers"].pop()
        if not self.layers:
            self.outputs = self.inputs = None
            self.built = False
            self.__dict__["_is_graph_network"] = False
        elif self.outputs:
            self.outputs = [self.layers[-1].output]
            self._take_stack()
        del layer

    @_default
    def build(self, input_shape: ShapeLike | None = None) -> None:
        """Makes the variables for inputs of a shape.

        Args:
          input_shape: The shape with the batch.

        Raises:
          ValueError: If the shape is missing.
        """
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        self._build_input_shape = tuple(input_shape)
        super().build(input_shape)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        if self._is_graph_network:
            return super().call(inputs, training=training, mask=mask)
        outputs = inputs
        for layer in self.layers:
            given: dict[str, Any] = {}
            if layer._expects("training") and training is not None:
                given["training"] = training
            outputs = layer(outputs, **given)
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        shape: Any = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """Computes the classes of samples.

        Args:
          x: The inputs.
          batch_size: The size of a batch.
          verbose: 0 for silence, 1 for a progress bar.

        Returns:
          An array of the numbers of classes.
        """
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """Computes the probabilities of classes.

        Args:
          x: The inputs.
          batch_size: The size of a batch.
          verbose: 0 for silence, 1 for a progress bar.

        Returns:
          An array.
        """
        return self.predict(x, batch_size, verbose)

    def get_config(self) -> dict[str, Any]:
        """The layers, and the shape of the input where it is only known from a call."""
        layers = [{"class_name": type(layer).__name__, "config": layer.get_config()} for layer in self.layers]
        config: dict[str, Any] = {"name": self.name, "layers": copy.deepcopy(layers)}
        if self._build_input_shape:
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Sequential:
        """Makes a model from the result of `get_config`.

        Args:
          config: The layers.
          custom_objects: The program's own layers, by class name.

        Returns:
          The model.
        """
        is_named = "name" in config  # files of old have the layers alone
        model = cls(name=config["name"] if is_named else None)
        for layer in config["layers"] if is_named else config:
            model.add(serialization.deserialize(layer, custom_objects))
        if not model.inputs and is_named and config.get("build_input_shape"):
            model.build(config["build_input_shape"])
        return model


def _first_shape(layer: Any) -> tuple[Any, Any]:
    """The shape and the type of the input of a stack's first layer, which may be a model itself."""
    while isinstance(layer, Model) and layer.layers and not hasattr(layer, "_batch_input_shape"):
        if layer.inputs:
            tensor = layer.inputs[0]
            return tuple(tensor.shape.as_list()), tensor.dtype.name
        layer = layer.layers[0]
    return getattr(layer, "_batch_input_shape", None), layer.dtype
