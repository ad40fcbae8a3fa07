"""How cuDNN lays the weights of a stack of recurrent layers into one buffer: all weights, then all biases.

Layer after layer, forward before backward, stand the weights of the inputs, one matrix for each gate, then
those of the state, then those of a projection. Biases follow in the same order, two vectors for each gate.
The gates of an LSTM are input, forget, new memory, output; those of a GRU reset, update, new memory.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TypeAlias

import torch

from tideflow.graph import errors

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}

Shape: TypeAlias = tuple[int, ...]
MOST_LAYERS = 1024


@dataclasses.dataclass(frozen=True)
class Layout:
    """The sizes of a stack of recurrent layers."""

    mode: str
    layers: int
    units: int
    inputs: int
    directions: int
    projection: int = 0  # the size to which the outputs of an LSTM are projected; 0 for none
    skips_inputs: bool = False  # whether the first layer adds its inputs to the gates without weights

    @classmethod
    def of(cls, layers: int, units: int, inputs: int, num_proj: int | None = 0, **attrs: str) -> Layout:
        """The layout that the attributes of an op describe."""
        mode, input_mode = attrs["rnn_mode"], attrs["input_mode"]
        projection = num_proj or 0
        if layers > MOST_LAYERS:
            raise errors.invalid_argument(f"A stack has at most {MOST_LAYERS} recurrent layers, not {layers}")
        if projection and mode != "lstm":
            raise errors.invalid_argument(f"Only an LSTM can be projected, not {mode} (num_proj={num_proj})")
        skips = input_mode == "skip_input" or input_mode == "auto_select" and inputs == units
        if skips and inputs != units:
            raise errors.invalid_argument(
                f"input_mode 'skip_input' needs inputs of the size of the state, but these are {inputs} and "
                f"{units}"
            )
        directions = 2 if attrs["direction"] == "bidirectional" else 1
        return cls(mode, layers, units, inputs, directions, projection, skips)

    @property
    def gates(self) -> int:
        return GATES[self.mode]

    @property
    def state(self) -> int:
        """The size of the state that a layer gives on, in one direction."""
        return self.projection or self.units

    def input_width(self, layer: int) -> int:
        """The number of columns of a layer's weights of its inputs."""
        if layer:
            return self.directions * self.state
        return 0 if self.skips_inputs else self.inputs

    @functools.cached_property
    def weights(self) -> list[Shape]:
        """The shapes of all weights, one for each gate."""
        gates, found = range(self.gates), []
        projected = [(self.projection, self.units)] if self.projection else []
        for layer in range(self.layers):
            one = [(self.units, width) for width in (self.input_width(layer), self.state) for _ in gates]
            found += (one + projected) * self.directions
        return found

    @functools.cached_property
    def biases(self) -> list[Shape]:
        """The shapes of all biases, two for each gate."""
        return [(self.units,)] * (2 * self.gates * self.layers * self.directions)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(rows * columns for rows, columns in self.weights) + self.units * len(self.biases)

    def check(self, params: torch.Tensor) -> None:
        if params.numel() != self.size:
            raise errors.invalid_argument(
                f"params must have {self.size} elements for {self.layers} layers of {self.units} units on "
                f"{self.inputs} inputs, but has {params.numel()}"
            )

    def split(self, params: torch.Tensor) -> list[torch.Tensor]:
        """The weights of each gate, then the biases, as views of the buffer."""
        self.check(params)
        shapes = [*self.weights, *self.biases]
        parts = params.reshape(-1).split([_elements(shape) for shape in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes)]

    def by_layer(self, params: torch.Tensor) -> list[list[torch.Tensor]]:
        """What ATen takes, layer by layer and direction by direction: the weights of inputs and of the state
        and both biases with all gates in one, then the weights of a projection.
        """
        self.check(params)
        flat, at = params.reshape(-1), 0

        def take(rows: int, *columns: int) -> torch.Tensor:
            nonlocal at
            shape = (rows, *columns)
            part = flat[at : at + _elements(shape)].view(shape)
            at += _elements(shape)
            return part

        rows, found = self.gates * self.units, []
        for layer in range(self.layers):
            for _ in range(self.directions):
                weights = [take(rows, self.input_width(layer)), take(rows, self.state)]
                if self.projection:
                    weights.append(take(self.projection, self.units))
                found.append(weights)
        for i, weights in enumerate(found):
            weights[2:2] = [take(rows), take(rows)]
            if self.skips_inputs and i < self.directions:
                one = torch.eye(self.units, dtype=params.dtype, device=params.device)
                weights[0] = one.repeat(self.gates, 1)
        return found


def _elements(shape: Shape) -> int:
    return functools.reduce(lambda a, b: a * b, shape, 1)
