"""A graph of layers that is a layer itself: made of inputs and outputs, or by a subclass."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.graph import nest
from tideflow.keras.engine import functional_config
from tideflow.keras.engine.added import AddLoss, AddMetric
from tideflow.keras.engine.graph_of_layers import called_again, traced
from tideflow.keras.engine.legacy import refuse_legacy_layers
from tideflow.keras.engine.plain_values import plain_value
from tideflow.keras.utils.layer_utils import print_summary
from tideflow.keras.utils.optional import require_yaml
from tideflow.layers import keras_state
from tideflow.layers.base import Layer, _default, snake_case
from tideflow.layers.keras_graph import BesideEager, is_symbolic, runs_as_function
from tideflow.layers.nodes import Node, behind, comes_from_keras, is_keras_tensor
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike


class Network(Layer):
    """A graph of layers."""

    _further_outputs: tuple[Any, ...] = ()  # of layers that no output needs

    def __init__(self, *args: Any, **kwargs: Any):
        functional = (
            len(args) >= 2
            or (len(args) == 1 and "outputs" in kwargs)
            or ("inputs" in kwargs and "outputs" in kwargs)
        )
        if functional:
            self._init_functional(*args, **kwargs)
        else:
            self._init_subclassed(**kwargs)

    def _set_name(self, name: str | None) -> None:
        name = name or keras_state.unique_object_name(snake_case(type(self).__name__))
        super()._set_name(name)

    def _init_base(self, name: str | None, **kwargs: Any) -> None:
        self.__dict__.setdefault("_is_graph_network", False)
        Layer.__init__(self, name=name, **kwargs)
        self.inputs: Any = []
        self.outputs: Any = []
        self.input_names: Any = None
        self.output_names: Any = None
        self._nested_inputs: Any = None
        self._nested_outputs: Any = None
        self._layer_graph: Any = None
        self.supports_masking = False
        self.optimizer: Any = None

    def _init_subclassed(self, name: str | None = None, **kwargs: Any) -> None:
        for key in kwargs:
            if key not in ("trainable", "dtype", "dynamic", "autocast"):
                raise TypeError("Keyword argument not understood:", key)
        self._init_base(name, **kwargs)
        self.supports_masking = True

    def _init_functional(
        self, inputs: Any, outputs: Any, name: str | None = None, trainable: bool = True, **kwargs: Any
    ) -> None:
        for key in kwargs:
            raise TypeError(
                "Functional models may only specify `name` and `trainable` keyword arguments during "
                "initialization. Got an unexpected argument:",
                key,
            )
        self._init_base(name, trainable=trainable)
        self._take_graph(inputs, outputs)

    def _take_graph(self, inputs: Any, outputs: Any) -> None:
        flat_in, flat_out = nest.flatten(inputs), nest.flatten(outputs)
        for tensor in flat_in:
            if not is_keras_tensor(tensor):
                raise ValueError(
                    f"Input tensors to a {type(self).__name__} must come from `tf.keras.Input`. Received: "
                    f"{tensor} (missing previous layer metadata)."
                )
        if len({id(tensor) for tensor in flat_in}) < len(flat_in):
            raise ValueError(
                "The list of inputs passed to the model is redundant. All inputs should only appear once. "
                f"Found: {flat_in}"
            )
        for tensor in flat_out:
            if not is_keras_tensor(tensor) and comes_from_keras(tensor):
                from tideflow.layers.op_layers import wrap_operations  # loaded when asked for

                wrap_operations(tensor)
            if not is_keras_tensor(tensor):
                raise ValueError(
                    f"Output tensors to a {type(self).__name__} must be the output of a TensorFlow `Layer` "
                    f"(thus holding past layer metadata). Found: {tensor}"
                )
        graph = traced(flat_in, flat_out)
        refuse_legacy_layers(graph.layers)
        self._layer_graph = graph
        self._nested_inputs, self._nested_outputs = inputs, outputs
        self.inputs, self.outputs = flat_in, flat_out
        self.__dict__["_layers"] = list(graph.layers)
        self.input_names = [tensor._keras_history.layer.name for tensor in flat_in]
        self.output_names = _unique([tensor._keras_history.layer.name for tensor in flat_out])
        self.built = True
        self._compute_output_and_mask_jointly = True  # the layers set the masks of their outputs
        self._is_graph_network = True
        if not self._inbound_nodes:
            self._add_own_node()

    def _add_own_node(self) -> None:
        """The first call of a functional model is the one that it was made of; tensors keep their history."""
        Node(self, self._nested_inputs, self._nested_outputs)
        for tensor in self.inputs:
            tensor._keras_history.layer._outbound_nodes.pop()

    # ------------------------------------------------------------------ layers and weights

    @property
    def layers(self) -> list[Layer]:
        """The layers of the model."""
        return list(self._inner_layers())

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Gets a layer by its name or its number.

        Args:
          name: The name.
          index: The number, from 0.

        Returns:
          The layer.

        Raises:
          ValueError: If there is none.
        """
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} "
                    "layers."
                )
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    def _require_weights(self) -> None:
        made = self._is_graph_network or self.built or self.dynamic
        if "build" in type(self).__dict__ and not made:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created when the "
                "Model is first called on inputs or `build()` is called with an `input_shape`."
            )

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables."""
        self._require_weights()
        if not self.trainable:
            return []
        return _once(self._of_inner_layers("trainable_weights") + self._trainable_weights)

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trainable."""
        self._require_weights()
        frozen = self._of_inner_layers("non_trainable_weights")
        if self.trainable:
            return _once(frozen + self._non_trainable_weights)
        trained = self._of_inner_layers("trainable_weights") + self._trainable_weights
        return _once(trained + frozen + self._non_trainable_weights)

    @property
    def weights(self) -> list[Any]:
        """All variables, layer by layer."""
        self._require_weights()
        inner = [weight for layer in self.layers for weight in layer.weights]
        return _once([*inner, *self._trainable_weights, *self._non_trainable_weights])

    @property
    def stateful(self) -> bool:
        """Whether a layer keeps its state from batch to batch."""
        return any(getattr(layer, "stateful", False) for layer in self._inner_layers())

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """The layers decide."""

    def reset_states(self) -> None:
        """Resets the state of the layers that keep one."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of the layers that keep their state from batch to batch."""
        return [
            update for layer in self.layers if getattr(layer, "stateful", False) for update in layer.updates
        ]

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers, those that the model's inputs do not lead to left out."""
        losses = _once(Layer.losses.fget(self))
        if not self.inputs or runs_as_function():
            return losses
        free = [loss for loss in losses if getattr(loss, "_unconditional_loss", False)]
        bound = [loss for loss in losses if not getattr(loss, "_unconditional_loss", False)]
        return behind(bound, self.inputs) + free

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers, those that the model's inputs do not lead to left out."""
        if not self.trainable and not self.stateful:
            return []
        if not self.inputs:
            return [update for update, _ in self._marked_updates()]
        return _once(self.get_updates_for(self.inputs) + self.get_updates_for(None))

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses of the model.

        Args:
          losses: A loss, a list of losses, or functions without arguments that compute one.
          inputs: The inputs on which the losses depend; found out if None.
        """
        for loss in nest.flatten(losses):
            if self._is_graph_network and is_symbolic(loss) and comes_from_keras(loss):
                self._insert(AddLoss(unconditional=False), loss)
                continue
            bound = is_symbolic(loss) and self.inputs and behind([loss], self.inputs)
            super().add_loss(loss, self.inputs if bound else inputs)

    def add_metric(self, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
        """Adds a metric, which is reported beside those of `compile`.

        Args:
          value: The metric: a value that is averaged over samples, or the result of a metric object.
          aggregation: `"mean"`; None where a metric object has aggregated the value.
          name: The name of the metric.
        """
        if self._is_graph_network and hasattr(value, "_metric_obj"):
            if tf.executing_eagerly():
                raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a Functional "
                "Model is not supported. Please pass the Tensor to monitor directly."
            )
        of_model = self._is_graph_network and is_symbolic(value) and comes_from_keras(value)
        if of_model and aggregation is not None and name is not None:
            self._insert(AddMetric(aggregation, name), value)
        else:
            super().add_metric(value, aggregation, name)

    def _insert(self, layer: Layer, tensor: Any) -> None:
        """Adds a layer that no output needs to a functional model, called with a tensor of the model."""
        self._take_also([layer(tensor)])

    def _take_also(self, tensors: list[Any]) -> None:
        """Makes the layers that lead to tensors a part of a functional model, after those that it has."""
        self._further_outputs = (*self._further_outputs, *tensors)
        self._layer_graph = traced(self.inputs, [*self.outputs, *self._further_outputs])
        known = self.__dict__["_layers"]
        new = [layer for layer in self._layer_graph.layers if all(layer is not other for other in known)]
        self.__dict__["_layers"] = [*known, *new]

    # ------------------------------------------------------------------ calling

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Layer) and "_is_graph_network" not in self.__dict__:
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call `super(YourClass, "
                "self).__init__()`. Always start with this line."
            )
        super().__setattr__(name, value)

    @_default
    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variables of a subclassed model for inputs of a shape.

        Args:
          input_shape: The shape with the batch, or a list of shapes.

        Raises:
          ValueError: If the model cannot be called with such inputs.
        """
        if self._is_graph_network:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("Input shape must be defined when calling build on a model subclass network.")
        if not isinstance(input_shape, (tuple, list, tf.TensorShape)):
            raise ValueError(
                "Specified input shape is not one of the valid types. Please specify a batch input shape of "
                f"type tuple or list of input shapes. User provided input type: {type(input_shape)}"
            )
        many = (
            isinstance(input_shape, list)
            and input_shape
            and not isinstance(input_shape[0], (int, type(None)))
        )
        shapes = [tf.TensorShape(shape) for shape in input_shape] if many else tf.TensorShape(input_shape)
        # In eager mode the operations are of no use after this: they have a graph of their own.
        graph = BesideEager() if tf.executing_eagerly() else tf.get_default_graph()
        scope = tf.get_default_graph().get_name_scope()
        with graph.as_default(), tf.name_scope(f"{scope}/" if scope else None):
            inputs = nest.map_structure(lambda shape: tf.placeholder(keras_state.floatx(), shape), shapes)
            with keras_state.inside_call(None, inputs):
                self.call(inputs, **({"training": False} if self._expects("training") else {}))
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Calls the layers with other inputs.

        Args:
          inputs: The inputs.
          training: The training mode.
          mask: The masks of the inputs.

        Returns:
          The outputs.
        """
        if not self._is_graph_network:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        given = self._in_order(inputs)
        masks = None if mask is None else nest.flatten(mask)
        return called_again(self._layer_graph, self.inputs, self._nested_outputs, given, training, masks)

    def _in_order(self, inputs: Any) -> list[Any]:
        by_name = isinstance(inputs, dict) and not isinstance(self._nested_inputs, dict)
        if by_name and all(name in inputs for name in self.input_names):
            return [inputs[name] for name in self.input_names]
        return nest.flatten(inputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if not self._is_graph_network:
            return None
        outputs = self.call(inputs, mask=mask)
        return nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        many = isinstance(input_shape, list) and isinstance(input_shape[0], (list, tuple, tf.TensorShape))
        shapes = {
            id(tensor): tf.TensorShape(shape)
            for tensor, shape in zip(self.inputs, input_shape if many else [input_shape], strict=True)
        }
        for nodes in self._layer_graph.nodes_by_depth:
            for node in nodes:
                if node.inputs:
                    taken = nest.map_structure(lambda tensor: shapes[id(tensor)], node.input_tensors)
                    made = node.outbound_layer.compute_output_shape(taken)
                    flat = made if isinstance(made, list) and len(node.outputs) > 1 else [made]
                    shapes.update({id(t): tf.TensorShape(s) for t, s in zip(node.outputs, flat, strict=True)})
        return nest.map_structure(lambda tensor: shapes[id(tensor)], self._nested_outputs)

    # ------------------------------------------------------------------ configs

    @_default
    def get_config(self) -> dict[str, Any]:
        """The layers and how they are connected."""
        if not self._is_graph_network:
            raise NotImplementedError
        return functional_config.config_of(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """Makes a model from the result of `get_config`.

        Args:
          config: The layers and how they are connected.
          custom_objects: The program's own layers, by class name.

        Returns:
          The model.
        """
        inputs, outputs, layers = functional_config.rebuilt(config, custom_objects)
        model = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        missing = [layer for layer in layers.values() if layer not in model.layers]
        model._take_also([tensor for layer in missing for tensor in layer._inbound_nodes[-1].outputs])
        return model

    def _updated_config(self) -> dict[str, Any]:
        return {
            "class_name": type(self).__name__,
            "config": self.get_config(),
            "keras_version": "2.2.4-tf",
            "backend": "tensorflow",
        }

    def to_json(self, **kwargs: Any) -> str:
        """The model's config as JSON.

        Args:
          **kwargs: Arguments of `json.dumps`.

        Returns:
          A string.
        """
        return json.dumps(self._updated_config(), default=plain_value, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The model's config as YAML.

        Args:
          **kwargs: Arguments of `yaml.dump`.

        Returns:
          A string.

        Raises:
          ImportError: If PyYAML is not installed.
        """
        yaml = require_yaml()
        return yaml.dump(json.loads(self.to_json()), **kwargs)

    def summary(
        self,
        line_length: int | None = None,
        positions: list[float] | None = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:
        """Prints the layers, the shapes of their outputs, and how many parameters they have.

        Args:
          line_length: The length of the lines.
          positions: The ends of the columns, as parts of the line.
          print_fn: The function that prints a line; `print` if None.

        Raises:
          ValueError: If the model has not been built.
        """
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or calling "
                "`fit()` with some data, or specify an `input_shape` argument in the first layer(s) for "
                "automatic build."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The layers by number, and those with weights by number too."""
        if not self._is_graph_network:
            return super()._checkpoint_dependencies
        found: list[tuple[str, Any]] = []
        if isinstance(self.optimizer, Trackable):
            found.append(("optimizer", self.optimizer))
        weighty = 0
        for number, layer in enumerate(self.layers):
            if layer.weights:
                found.append((f"layer_with_weights-{weighty}", layer))
                weighty += 1
            found.append((f"layer-{number}", layer))
        return found


def _once(items: list[Any]) -> list[Any]:
    return list({id(item): item for item in items}.values())


def _unique(names: list[str]) -> list[str]:
    """Names of outputs: those of layers, with numbers where one layer gives several."""
    made: list[str] = []
    for name in names:
        number, found = 1, name
        while found in made:
            found = f"{name}_{number}"
            number += 1
        made.append(found)
    return made
