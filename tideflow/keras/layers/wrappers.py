"""Layers that apply another layer: to each time step, or in both directions."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.keras.backend.recurrence import rnn
from tideflow.keras.layers import serialization
from tideflow.keras.layers.recurrent import separated
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.nodes import is_keras_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tideflow.graph.typing import ShapeLike


@export("keras.layers.Wrapper")
@described("The base of layers that apply another layer.")
class Wrapper(Layer):
    def __init__(self, layer: Layer, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise AssertionError(f"A wrapper takes a layer, not {layer!r}.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property
    def activity_regularizer(self) -> Any:
        """The regularizer of the wrapped layer's output."""
        return getattr(self.__dict__.get("layer"), "activity_regularizer", None)

    @activity_regularizer.setter
    def activity_regularizer(self, value: Any) -> None:
        """The wrapped layer has it."""

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        """The wrapped layer does so."""

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        inner = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": inner}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = copy.deepcopy(config)
        layer = serialization.deserialize(config.pop("layer"), custom_objects)
        return cls(layer, **config)


# Layers that are others in TensorFlow 2: these are called for each time step, where the batch size is known.
_OF_VERSION_1 = ("BatchNormalization", "GRU", "LSTM", "GRUCell", "LSTMCell", "CuDNNGRU", "CuDNNLSTM")


@export("keras.layers.TimeDistributed")
@described("Applies a layer to each time step.")
class TimeDistributed(Wrapper):
    def __init__(self, layer: Layer, **kwargs: Any):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        own = type(layer).__module__.startswith("tideflow.") and type(layer).__name__ not in _OF_VERSION_1
        self._always_use_reshape = own and not getattr(layer, "stateful", False)

    def build(self, input_shape: ShapeLike) -> None:
        sizes = tf.TensorShape(input_shape).as_list()
        if len(sizes) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, "
                "received: " + str(sizes)
            )
        self.input_spec = InputSpec(shape=[None, None, *sizes[2:]])
        super().build(tf.TensorShape([sizes[0], *sizes[2:]]))

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        inner = tf.TensorShape(
            self.layer.compute_output_shape(tf.TensorShape([sizes[0], *sizes[2:]]))
        ).as_list()
        return tf.TensorShape([inner[0], sizes[1], *inner[1:]])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        given: dict[str, Any] = {"training": training} if self.layer._expects("training") else {}
        sizes = inputs.shape.as_list()
        if sizes[0] and not self._always_use_reshape:
            return rnn(lambda x, _: (self.layer(x, **given), []), inputs, [], input_length=sizes[1])[1]
        steps = sizes[1] if sizes[1] is not None else tf.shape(inputs)[1]
        flat = tf.reshape(inputs, [-1, *_open_sizes(inputs, 2)])
        if mask is not None and self.layer._expects("mask"):
            given["mask"] = tf.reshape(mask, [-1, *_open_sizes(mask, 2)])
        self.__dict__["_flattened"] = inputs, flat
        output = self.layer(flat, **given)
        inner = self.compute_output_shape(inputs.shape).as_list()[2:]
        return tf.reshape(output, [-1, steps, *_open_sizes(output, 1, inner)])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Which time steps are there: what the layer says of each of them."""
        sizes = inputs.shape.as_list()
        if sizes[0]:
            return mask
        inner = None if mask is None else tf.reshape(mask, [-1, *_open_sizes(mask, 2)])
        called_with, flat = self.__dict__.get("_flattened", (None, None))
        found = self.layer.compute_mask(flat if inputs is called_with else inputs, inner)
        if found is not None:
            steps = sizes[1] or tf.shape(inputs)[1]
            return tf.reshape(found, [-1, steps, *_open_sizes(found, 1)])
        if mask is None:
            return None
        for _ in range(2, mask.shape.ndims):
            mask = tf.reduce_any(mask, axis=-1)
        return mask


def _open_sizes(x: Any, first: int, sizes: Sequence[int | None] | None = None) -> list[Any]:
    """The sizes of the axes from one on, as far as they are known; computed where they are not."""
    full = None
    known = x.shape.as_list()[first:] if sizes is None else sizes
    sizes = []
    for axis, size in enumerate(known, first):
        if size is None:
            full = tf.shape(x) if full is None else full
            size = full[axis]
        sizes.append(size)
    return sizes


@export("keras.layers.Bidirectional")
@described("Reads sequences in both directions.")
class Bidirectional(Wrapper):
    def __init__(
        self,
        layer: Layer,
        merge_mode: str | None = "concat",
        weights: Sequence[Any] | None = None,
        backward_layer: Layer | None = None,
        **kwargs: Any,
    ):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `Bidirectional` layer with a `Layer` instance. You passed: {layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}")
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(layer, **kwargs)
        del self.__dict__["_layers"][:]
        self.__dict__["layer"] = layer
        self.forward_layer = _made_anew(layer)
        if backward_layer is None:
            self.backward_layer = _made_anew(layer, turned=True)
            self._backward_config: Any = None
        else:
            self.backward_layer = backward_layer
            self._backward_config = serialization.serialize(backward_layer)
        self.forward_layer._name = f"forward_{self.forward_layer.name}"
        self.backward_layer._name = f"backward_{self.backward_layer.name}"
        _check_alike(self.forward_layer, self.backward_layer)
        self._num_constants = 0
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = None
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]

    def build(self, input_shape: Any = None) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            with tf.name_scope(layer.name):
                layer.build(input_shape)
                layer.built = True
        self.built = True

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        """Applies the layer.

        Args:
          inputs: The sequences, or a list of the sequences, the first states and the constants.
          initial_state: The first states, those of the forward layer first.
          constants: What the cells are given in each time step.
          **kwargs: `mask` and `training`.

        Returns:
          The output, and the last states if they are asked for.
        """
        inputs, initial_state, constants = separated(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        if initial_state is not None and len(initial_state) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing "
                f"the states of the underlying RNNs. Found: {initial_state}"
            )
        if constants is not None:
            for layer in (self, self.forward_layer, self.backward_layer):
                layer._num_constants = len(constants)
        further = [*(initial_state or ()), *(constants or ())]
        if all(map(is_keras_tensor, further)):
            return super().__call__([inputs, *further], **kwargs)
        return super().__call__(inputs, initial_state=initial_state, constants=constants, **kwargs)

    def call(
        self,
        inputs: Any,
        training: Any = None,
        mask: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        if isinstance(inputs, list):
            inputs, initial_state, constants = separated(
                inputs, initial_state, constants, self._num_constants
            )
            mask = mask[0] if isinstance(mask, list) else mask
        given: dict[str, Any] = {}
        if self.layer._expects("training"):
            given["training"] = training
        if self.layer._expects("mask"):
            given["mask"] = mask
        if constants is not None:
            given["constants"] = constants
        half = len(initial_state) // 2 if initial_state else 0
        firsts = (initial_state[:half], initial_state[half:]) if initial_state else (None, None)
        made = []
        for layer, first in zip((self.forward_layer, self.backward_layer), firsts, strict=True):
            own = {**given, "initial_state": first} if first else given
            made.append(layer(inputs, **own))
        states: list[Any] = []
        if self.return_state:
            states = [state for output in made for state in output[1:]]
            made = [output[0] for output in made]
        forward, backward = made
        if self.return_sequences:
            time = 0 if getattr(self.forward_layer, "time_major", False) else 1
            backward = tf.reverse(backward, [time])
        joined = {
            "concat": lambda: tf.concat([forward, backward], axis=-1),
            "sum": lambda: forward + backward,
            "ave": lambda: (forward + backward) / 2,
            "mul": lambda: forward * backward,
            None: lambda: [forward, backward],
        }[self.merge_mode]()
        if not self.return_state:
            return joined
        return [*(joined if self.merge_mode is None else [joined]), *states]

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = self.forward_layer.compute_output_shape(input_shape)
        states: list[Any] = []
        if self.return_state:
            shape, *states = shape
        if self.merge_mode == "concat":
            sizes = shape.as_list()
            shape = tf.TensorShape([*sizes[:-1], sizes[-1] * 2])
        found = [shape, copy.copy(shape)] if self.merge_mode is None else [shape]
        found += states + states
        return found if len(found) > 1 else found[0]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if mask is not None else None
        number = 2 if self.merge_mode is None else 1
        masks = [mask if self.return_sequences else None] * number
        if self.return_state:
            masks += [None] * len(self.forward_layer.states) * 2
        return masks if len(masks) > 1 else masks[0]

    @property
    def constraints(self) -> dict[Any, Any]:
        """The constraints of the weights of both directions, by weight."""
        weights = [*self.forward_layer.weights, *self.backward_layer.weights]
        return {weight: weight.constraint for weight in weights if weight.constraint is not None}

    def reset_states(self) -> None:
        """Resets the states of both directions."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self._backward_config is not None:
            config["backward_layer"] = self._backward_config
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = copy.deepcopy(config)
        if config.get("backward_layer"):
            config["backward_layer"] = serialization.deserialize(config["backward_layer"], custom_objects)
        layer = serialization.deserialize(config.pop("layer"), custom_objects)
        number = config.pop("num_constants", 0)
        made = cls(layer, **config)
        made._num_constants = number
        return made


def _made_anew(layer: Any, turned: bool = False) -> Any:
    """A layer with the arguments of another, and with its classes of cells; turned, it reads backwards."""
    config = layer.get_config()
    if turned:
        config["go_backwards"] = not config["go_backwards"]
    if "custom_objects" not in inspect.signature(layer.from_config).parameters:
        return type(layer).from_config(config)
    cell = getattr(layer, "cell", None)
    cells = [] if cell is None else [cell, *getattr(cell, "cells", ())]
    known = {type(each).__name__: type(each) for each in cells}
    return type(layer).from_config(config, custom_objects=known)


def _check_alike(forward: Any, backward: Any) -> None:
    if forward.go_backwards == backward.go_backwards:
        raise ValueError("Forward layer and backward layer should have different `go_backwards` value.")
    for name in ("stateful", "return_sequences", "return_state"):
        values = getattr(forward, name), getattr(backward, name)
        if values[0] != values[1]:
            raise ValueError(
                "Forward layer and backward layer are expected to have the same value for attribute "
                f"{name}, got {values[0]} and {values[1]}"
            )
