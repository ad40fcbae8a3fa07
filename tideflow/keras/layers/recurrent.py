"""Recurrent layers: a cell that is called for each time step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.graph import nest
from tideflow.keras.backend.recurrence import rnn
from tideflow.keras.layers import serialization
from tideflow.layers import keras_state
from tideflow.layers.argument_docs import described
from tideflow.layers.base import Layer
from tideflow.layers.configured import Configured
from tideflow.layers.input_spec import InputSpec
from tideflow.layers.keras_session import batch_set_value
from tideflow.layers.nodes import is_keras_tensor

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike


def _zeros(batch: Any, sizes: Any, dtype: Any) -> Any:
    def one(size: Any) -> Any:
        inner = tf.TensorShape(size).as_list() if not isinstance(size, int) else [size]
        return tf.zeros([batch, *inner], dtype=dtype)

    return [one(size) for size in sizes] if isinstance(sizes, (list, tuple)) else one(sizes)


@export("keras.layers.AbstractRNNCell")
@described(
    "The base of recurrent cells. A subclass has `call(inputs, states)`, which returns an output and new "
    "states, `state_size` and `output_size`.",
    dtype="The type of the variables; that of the first input if None.",
    dynamic="Whether the cell must run eagerly.",
)
class AbstractRNNCell(Layer):
    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        dynamic: bool = False,
        **kwargs: Any,
    ):
        super().__init__(trainable=trainable, name=name, dtype=dtype, dynamic=dynamic, **kwargs)

    @property
    def state_size(self) -> Any:
        """The sizes of the states without the batch."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output without the batch."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Makes states of zeros.

        Args:
          inputs: An input, whose batch size and type are used.
          batch_size: The batch size, if there is no input.
          dtype: The type, if there is no input.

        Returns:
          The states.
        """
        return initial_state(self, inputs, batch_size, dtype)


def initial_state(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """States of zeros for a cell."""
    if inputs is not None:
        batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )
    return _zeros(batch_size, cell.state_size, dtype)


@export("keras.layers.StackedRNNCells")
@described("A stack of recurrent cells that is one cell.")
class StackedRNNCells(Layer):
    def __init__(self, cells: Sequence[Any], **kwargs: Any):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. received cells:", cells)
            if not hasattr(cell, "state_size"):
                raise ValueError("All cells must have a `state_size` attribute. received cells:", cells)
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        """The sizes of the states of all cells."""
        cells = self.cells[::-1] if self.reverse_state_order else self.cells
        return tuple(cell.state_size for cell in cells)

    @property
    def output_size(self) -> Any:
        """The size of the output of the last cell."""
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        return last.state_size[0] if isinstance(last.state_size, (list, tuple)) else last.state_size

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Makes states of zeros.

        Args:
          inputs: An input, whose batch size and type are used.
          batch_size: The batch size, if there is no input.
          dtype: The type, if there is no input.

        Returns:
          The states.
        """
        cells = self.cells[::-1] if self.reverse_state_order else self.cells
        return tuple(initial_state(cell, inputs, batch_size, dtype) for cell in cells)

    def call(self, inputs: Any, states: Any, constants: Any = None, **kwargs: Any) -> Any:
        sizes = self.state_size[::-1] if self.reverse_state_order else self.state_size
        nested = nest.pack_sequence_as(sizes, nest.flatten(states))
        new = []
        for cell, own in zip(self.cells, nested, strict=True):
            own = own if isinstance(own, (list, tuple)) else [own]
            given = {"constants": constants} if constants is not None and _takes(cell, "constants") else {}
            if "training" in kwargs and _takes(cell, "training"):
                given["training"] = kwargs["training"]
            inputs, own = cell.call(inputs, _of_cell(cell, list(own)), **given)
            new.append(own)
        if self.reverse_state_order:
            new = new[::-1]
        return inputs, nest.pack_sequence_as(self.state_size, nest.flatten(new))

    def build(self, input_shape: Any) -> None:
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(shape)
                cell.built = True
            size = getattr(cell, "output_size", None)
            size = size if size is not None else cell.state_size
            size = size[0] if isinstance(size, (list, tuple)) else size
            shape = (tf.TensorShape(shape).as_list()[0], size)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """The cells."""
        cells = [{"class_name": type(cell).__name__, "config": cell.get_config()} for cell in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        cells = [serialization.deserialize(cell, custom_objects) for cell in config.pop("cells")]
        return cls(cells, **config)


def _of_cell(cell: Any, states: list[Any]) -> Any:
    """The states as a cell takes them: cells of `tf.nn.rnn_cell` take one without a list around it."""
    return states[0] if len(states) == 1 and isinstance(cell, tf.nn.rnn_cell.RNNCell) else states


def _takes(cell: Any, argument: str) -> bool:
    return isinstance(cell, Layer) and cell._expects(argument)


@export("keras.layers.RNN")
@described("A recurrent layer: a cell that is called for each time step.")
class RNN(Configured):
    _config = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
    _untracked = Configured._untracked | {"states_value"}  # they depend on the size of batches
    _built_batch: int | None = None

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("`cell` should have a `call` method. The RNN was passed:", cell)
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one integer per "
                "RNN state)."
            )
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim", None))
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self.input_spec = None
        self.state_spec = None
        self.states_value: Any = None
        self.constants_spec: Any = None
        self._num_constants: int | None = None

    @property
    def states(self) -> list[Any]:
        """The states that are kept from batch to batch."""
        if self.states_value is None:
            sizes = self.cell.state_size
            return [None] * (len(sizes) if isinstance(sizes, (list, tuple)) else 1)
        return self.states_value

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = _first_shape(input_shape)
        time, batch = (shape[0], shape[1]) if self.time_major else (shape[1], shape[0])
        size = getattr(self.cell, "output_size", None)
        if size is None:
            size = self.cell.state_size
            size = size[0] if isinstance(size, (list, tuple)) else size
        front = ([time, batch] if self.time_major else [batch, time]) if self.return_sequences else [batch]
        output = nest.map_structure(lambda size: tf.TensorShape([*front, *_sizes(size)]), size)
        if not self.return_state:
            return output
        states = [tf.TensorShape([batch, *_sizes(size)]) for size in _flat_sizes(self.cell.state_size)]
        return [*nest.flatten(output), *states]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if mask is not None else None
        output = mask if self.return_sequences else None
        return [output, *([None] * len(self.states))] if self.return_state else output

    def build(self, input_shape: Any) -> None:
        shape = _first_shape(input_shape)
        batch = shape[1] if self.time_major else shape[0]
        given = input_shape[0] if isinstance(input_shape, list) else input_shape
        step = _each_shape(given, lambda sizes: tf.TensorShape([batch, *sizes[2:]]))
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(step)
            self.cell.built = True
        if self.stateful:
            self._built_batch = batch
            self.reset_states()
        self.built = True

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Makes states of zeros.

        Args:
          inputs: The sequences.

        Returns:
          A list of states.
        """
        first = nest.flatten(inputs)[0]
        batch = tf.shape(first)[1 if self.time_major else 0]
        make = getattr(self.cell, "get_initial_state", None)
        if make is not None:
            made = make(inputs=None, batch_size=batch, dtype=first.dtype)
        else:
            made = _zeros(batch, self.cell.state_size, first.dtype)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        """Applies the layer.

        Args:
          inputs: The sequences, or a list of the sequences, the first states and the constants.
          initial_state: The first states; zeros, or the last ones of the batch before, if None.
          constants: What the cell is given in each time step.
          **kwargs: `mask` and `training`.

        Returns:
          The output, and the last states if they are asked for.
        """
        inputs, initial_state, constants = separated(inputs, initial_state, constants, self._num_constants)
        further = [*(initial_state or ()), *(constants or ())]
        if constants is not None:
            self._num_constants = len(constants)
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        if initial_state is not None:
            self._check_states(initial_state)
        first = self.input_spec[:1] if isinstance(self.input_spec, list) else None
        if further and all(map(is_keras_tensor, further)):
            if first:
                self.input_spec = [*first, *[None] * len(further)]
            kwargs.pop("initial_state", None)
            kwargs.pop("constants", None)
            self._with_states = len(initial_state or ())
            return super().__call__([inputs, *further], **kwargs)
        if first:
            self.input_spec = first
        return super().__call__(inputs, **kwargs)

    def _check_states(self, states: list[Any]) -> None:
        """ValueError where first states are not as many, or not as large, as the cell says."""
        given, sizes = nest.flatten(states), _flat_sizes(self.cell.state_size)
        fits = len(given) == len(sizes) and all(
            tf.TensorShape(state.shape)[1:].is_compatible_with(tf.TensorShape(size))
            for state, size in zip(given, sizes, strict=True)
        )
        if not fits:
            shapes = [InputSpec(shape=tuple(tf.TensorShape(state.shape).as_list())) for state in given]
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. Received "
                f"`state_spec`={shapes}; however `cell.state_size` is {list(sizes)}"
            )

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        inputs, initial_state, constants = separated(inputs, initial_state, constants, self._num_constants)
        if initial_state is None:
            initial_state = self.states_value if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial states."
            )
        if isinstance(mask, list):
            mask = mask[0]
        first = nest.flatten(inputs)[0]
        steps = first.shape.as_list()[0 if self.time_major else 1]
        if self.unroll and steps is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, "
                "specify the time dimension by passing an `input_shape` or `batch_input_shape` argument to "
                "your first layer. If your first layer is an Embedding, you can also use the `input_length` "
                "argument.\n- If using the functional API, specify the time dimension by passing a `shape` "
                "or `batch_shape` argument to your Input layer."
            )
        given = {"training": training} if _takes(self.cell, "training") else {}
        nested = isinstance(self.cell, StackedRNNCells)

        def step(here: Any, states: list[Any]) -> Any:
            own = dict(given)
            if constants:
                states, own["constants"] = states[: -len(constants)], states[-len(constants) :]
            given_states = tuple(states) if nested else _of_cell(self.cell, list(states))
            output, new = self.cell.call(here, given_states, **own)
            return output, list(new) if isinstance(new, (list, tuple)) else [new]

        self._begin_sequence()
        last, outputs, states = rnn(
            step,
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            for kept, state in zip(nest.flatten(self.states_value), nest.flatten(states), strict=True):
                self.add_update(tf.assign(kept, state))
        output = outputs if self.return_sequences else last
        return [output, *states] if self.return_state else output

    def _begin_sequence(self) -> None:
        """Cells that drop a part of their inputs drop the same in all time steps."""
        cells = self.cell.cells if isinstance(self.cell, StackedRNNCells) else [self.cell]
        for cell in cells:
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def reset_states(self, states: Any = None) -> None:
        """Sets the states that are kept from batch to batch.

        Args:
          states: The states as arrays; zeros if None.

        Raises:
          AttributeError: If the layer is not stateful.
          ValueError: If the batch size is not known.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch = self._batch_size()
        if not batch:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input "
                "tensors: \n- If using a Sequential model, specify the batch size by passing a "
                "`batch_input_shape` argument to your first layer.\n- If using the functional API, specify "
                "the batch size by passing a `batch_shape` argument to your Input layer."
            )
        sizes = self._sizes_of_states()
        if self.states_value is None:
            object.__setattr__(self, "states_value", self._new_states(batch, sizes))
            return
        if states is None:
            states = [np.zeros([batch, *size]) for size in sizes]
        states = list(nest.flatten(states)) if isinstance(states, (list, tuple)) else [states]
        if len(states) != len(sizes):
            raise ValueError(
                f"Layer {self.name} expects {len(sizes)} states, but it received {len(states)} state values. "
                f"Input received: {states}"
            )
        for number, (value, size) in enumerate(zip(states, sizes, strict=True)):
            if np.shape(value) != (batch, *size):
                raise ValueError(
                    f"State {number} is incompatible with layer {self.name}: expected "
                    f"shape={(batch, *size)}, found shape={np.shape(value)}"
                )
        batch_set_value(list(zip(nest.flatten(self.states_value), states, strict=True)))

    def _batch_size(self) -> int | None:
        """The size of a batch, as far as what the layer was built for, its inputs or its arguments say it."""
        if self._built_batch:
            return self._built_batch
        shape = getattr(self, "_batch_input_shape", None)
        if self._inbound_nodes:
            shape = nest.flatten(self._inbound_nodes[0].input_tensors)[0].shape.as_list()
        elif shape is None and keras_state.inputs_of_call() is not None:
            shape = nest.flatten(keras_state.inputs_of_call())[0].shape.as_list()
        return None if shape is None else shape[1 if self.time_major else 0]

    def _new_states(self, batch: int, sizes: list[list[int]]) -> list[Any]:
        """Variables of zeros, nested as the states of the cell are."""
        made = [tf.keras.backend.zeros([batch, *size], self._dtype) for size in sizes]
        nested = isinstance(self.cell.state_size, (list, tuple))
        return list(nest.pack_sequence_as(self.cell.state_size, made)) if nested else made

    def _sizes_of_states(self) -> list[list[int]]:
        return [
            tf.TensorShape(size).as_list() if isinstance(size, tf.TensorShape) else [size]
            for size in _flat_sizes(self.cell.state_size)
        ]

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        config = {**super().get_config(), "cell": cell}
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        cell = serialization.deserialize(config.pop("cell"), custom_objects)
        return cls(cell, **config)


def _each_shape(shapes: Any, function: Callable[[list[Any]], Any]) -> Any:
    """A structure like that of the inputs, with what a function gives for the sizes of each."""
    if isinstance(shapes, dict):
        return {key: _each_shape(shape, function) for key, shape in shapes.items()}
    if isinstance(shapes, tuple) and any(isinstance(part, (tuple, list, tf.TensorShape)) for part in shapes):
        parts = [_each_shape(shape, function) for shape in shapes]
        return type(shapes)(*parts) if hasattr(shapes, "_fields") else tuple(parts)
    return function(tf.TensorShape(shapes).as_list())


def _first_shape(input_shape: Any) -> list[Any]:
    """The sizes of the sequences, or of the first of several."""
    found: list[list[Any]] = []
    _each_shape(input_shape[0] if isinstance(input_shape, list) else input_shape, found.append)
    return found[0]


def _sizes(size: Any) -> list[Any]:
    return list(tf.TensorShape(size).as_list()) if isinstance(size, tf.TensorShape) else [size]


def _flat_sizes(sizes: Any) -> list[Any]:
    if isinstance(sizes, (list, tuple)):
        return [leaf for size in sizes for leaf in _flat_sizes(size)]
    return [sizes]


def separated(inputs: Any, states: Any, constants: Any, number: int | None) -> tuple[Any, Any, Any]:
    """Sequences, first states and constants, of which a list may hold all."""
    if isinstance(inputs, list) and states is None and constants is None:
        inputs, *rest = inputs
        if number:
            rest, constants = rest[:-number], rest[-number:]
        states = rest or None
    if states is not None and not isinstance(states, (list, tuple)):
        states = [states]
    if constants is not None and not isinstance(constants, (list, tuple)):
        constants = [constants]
    return inputs, None if states is None else list(states), None if constants is None else list(constants)
