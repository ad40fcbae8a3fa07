"""Cells around cells: dropout, residual connections, a device."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import device as on_device
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.nn import dropouts
from tideflow.ops.arrays import joining
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.math import binary, unary
from tideflow.ops.random import distributions
from tideflow.rnn.cells import LSTMStateTuple, RNNCell, assert_like_rnncell

if TYPE_CHECKING:
    from tideflow.graph.typing import DeviceLike, DTypeLike, TensorLike


class _Wrapper(RNNCell):
    """A cell that hands its inputs to another, `self.cell`, with something done before or after."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [*super()._checkpoint_dependencies, ("cell", self.cell)]

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        return self._wrapped(inputs, state, scope)

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        inner = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return self._configured(cell=inner)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> _Wrapper:
        """A wrapper of the cell that the config holds: a cell, not a config of one.

        Args:
          config: The configuration, with a cell as its item `"cell"`.
          custom_objects: Not used.

        Returns:
          The wrapper.
        """
        config = dict(config)
        cell = config.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in the config "
                "with a RNNCell instance."
            ) from None
        return cls(cell, **config)


# -------------------------------------------------------------------------------------------------- dropout


def _dropped_parts(state: Any) -> Any:
    """By default all of a state is dropped but the memory of an LSTM and TensorArrays."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


def _map_numbered(shallow: Any, function: Callable, *structures: Any) -> Any:
    """`function` of a number and the parts of the structures where `shallow` has leaves."""
    parts = [nest.flatten_up_to(shallow, each) for each in structures]
    results = [function(number, *row) for number, row in enumerate(zip(*parts, strict=True))]
    return nest.pack_sequence_as(shallow, results)


@export("nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper")
class DropoutWrapper(_Wrapper):
    """A cell whose inputs, outputs and states have random elements set to zero.

    Args:
      cell: The cell.
      input_keep_prob: The probability that an element of the input is kept.
      output_keep_prob: The probability that an element of the output is kept.
      state_keep_prob: The probability that an element of the state is kept.
      variational_recurrent: Whether the same elements are dropped at every time step (Gal and Ghahramani,
        2015).
      input_size: The size of the input, needed for variational dropout of it.
      dtype: The type of the input, output and state, needed for variational dropout.
      seed: The seed of the random numbers.
      dropout_state_filter_visitor: A function that says which parts of the state have dropout; all but an
        LSTM's memory if None.
      **kwargs: Arguments of the layer.

    Raises:
      TypeError: If `cell` is not a cell.
      ValueError: If a probability is not in [0, 1].
    """

    def __init__(
        self,
        cell: RNNCell,
        input_keep_prob: TensorLike = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: TensorLike = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: DTypeLike | None = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable | None = None,
        **kwargs: Any,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._visitor = dropout_state_filter_visitor or _dropped_parts
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, Any] = {"input": None, "state": None, "output": None}
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            self._make_noise(dtype)

    def _make_noise(self, dtype: Any) -> None:
        """One row of noise for each part, made once and used at every step."""

        def noise(part: str, sizes: Any) -> Any:
            def row(number: int, size: Any) -> Tensor:
                shape = joining.concat(([1], TensorShape(size).as_list()), 0)
                return distributions.random_uniform(shape, seed=self._seed_of(part, number), dtype=dtype)

            return _map_numbered(sizes, row, sizes)

        if _drops(self._input_keep_prob):
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size "
                    "must be provided"
                )
            self._noise["input"] = noise("input", self._input_size)
        self._noise["state"] = noise("state", self.cell.state_size)
        self._noise["output"] = noise("output", self.cell.output_size)

    def _seed_of(self, part: str, number: int) -> int | None:
        """A seed for each tensor, so that not all of them lose the same places."""
        if self._seed is None:
            return None
        salted = f"{self._seed}{part}_{number}".encode()
        return int(hashlib.md5(salted).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        if _drops(self._input_keep_prob):
            inputs = self._dropout("input", inputs, self._input_keep_prob)
        output, new_state = self.cell(inputs, state, scope=scope)
        if _drops(self._state_keep_prob):
            chosen = nest.get_traverse_shallow_structure(self._visitor, new_state)
            new_state = self._dropout("state", new_state, self._state_keep_prob, chosen)
        if _drops(self._output_keep_prob):
            output = self._dropout("output", output, self._output_keep_prob)
        return output, new_state

    def _dropout(self, part: str, values: Any, keep_prob: Any, chosen: Any = None) -> Any:
        chosen = nest.map_structure(lambda _: True, values) if chosen is None else chosen
        if self._variational_recurrent:
            return _map_numbered(
                chosen,
                lambda _, drops, value, noise: _masked(value, noise, keep_prob) if drops else value,
                *(chosen, values, self._noise[part]),
            )

        def dropped(number: int, drops: bool, value: Any) -> Any:
            seed = self._seed_of(part, number)
            return dropouts.dropout(value, rate=1.0 - keep_prob, seed=seed) if drops else value

        return _map_numbered(chosen, dropped, chosen, values)

    def get_config(self) -> dict[str, Any]:
        kept = "input_keep_prob output_keep_prob state_keep_prob variational_recurrent input_size seed"
        config = {**super().get_config(), **{name: getattr(self, f"_{name}") for name in kept.split()}}
        if self._visitor is not _dropped_parts:
            config["dropout_state_filter_visitor"] = self._visitor
        return config


def _probability(name: str, given: Any) -> Any:
    """A number where it is known, else a tensor."""
    tensor = convert_to_tensor(given)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, numbers.Real) or keep_prob < 1


def _masked(value: Tensor, noise: Tensor, keep_prob: Any) -> Tensor:
    """`value` where noise + keep_prob reaches 1, scaled so that its mean stays; else 0."""
    kept = unary.floor(keep_prob + noise)
    result = binary.div(value, keep_prob) * kept
    result.set_shape(value.shape)
    return result


# -------------------------------------------------------------------------------------------------- others


@export("nn.rnn_cell.ResidualWrapper", "contrib.rnn.ResidualWrapper")
class ResidualWrapper(_Wrapper):
    """A cell whose input is added to its output.

    Args:
      cell: The cell.
      residual_fn: A function `residual_fn(inputs, outputs)` that combines them; their sum if None.
      **kwargs: Arguments of the layer.
    """

    def __init__(self, cell: RNNCell, residual_fn: Callable | None = None, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        outputs, new_state = self.cell(inputs, state, scope=scope)
        return (self._residual_fn or _sum_alike)(inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        own = {} if self._residual_fn is None else {"residual_fn": self._residual_fn}
        return {**super().get_config(), **own}


def assert_alike(inputs: Any, outputs: Any) -> None:
    """ValueError unless inputs and outputs have one structure and shapes that agree."""
    nest.assert_same_structure(inputs, outputs)
    nest.map_structure(lambda i, o: i.shape.assert_is_compatible_with(o.shape), inputs, outputs)


def _sum_alike(inputs: Any, outputs: Any) -> Any:
    assert_alike(inputs, outputs)
    return nest.map_structure(lambda i, o: i + o, inputs, outputs)


@export("nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper")
class DeviceWrapper(_Wrapper):
    """A cell that is placed on a device.

    Args:
      cell: The cell.
      device: The device, as in `tf.device`.
      **kwargs: Arguments of the layer.
    """

    def __init__(self, cell: RNNCell, device: DeviceLike, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]), on_device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _wrapped(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        with on_device(self._device):
            return self.cell(inputs, state, scope=scope)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "device": self._device}
