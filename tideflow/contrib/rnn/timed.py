"""Long short-term memories with groups of units, or with a rhythm; and a wrapper for compilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.contrib.rnn.wrappers import Linear
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import dimension_value
from tideflow.ops.arrays import constants, indexing, joining, shapes, slicing
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.nn import activations
from tideflow.ops.random import distributions
from tideflow.rnn.cells import LSTMStateTuple, RNNCell
from tideflow.variables import initializers
from tideflow.variables import variable_scope as scopes


@export("contrib.rnn.GLSTMCell")
class GLSTMCell(RNNCell):
    """Long short-term memory in groups that do not see each other (Kuchaiev, Ginsburg 2017).

    Args:
      num_units: The size of the state.
      initializer: The initializer of the weights.
      num_proj: The size of the output, if it is projected.
      number_of_groups: How many groups there are.
      forget_bias: What is added to the forget gate.
      activation: The activation of the state.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.

    Raises:
      ValueError: If the groups would not be of one size.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Callable = unary.tanh,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        for word, size in (("num_units", num_units), ("num_proj", num_proj or 0)):
            if size % number_of_groups != 0:
                raise ValueError(f"{word} must be divisible by number_of_groups")
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        self._groups: list[Linear | None] = [None] * number_of_groups
        self._projection: Linear | None = None

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def call(self, inputs: Tensor, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, m = state
        batch = dimension_value(inputs.shape[0]) or shapes.shape(inputs)[0]
        width = dimension_value(inputs.shape[1])
        if width is None:
            raise ValueError("input size must be statically known")
        if width % self._number_of_groups != 0:
            raise ValueError(
                f"input size ({width}) must be divisible by number_of_groups ({self._number_of_groups})"
            )

        def part_of(x: Tensor, group: int, size: int) -> Tensor:
            name = f"GLSTM_group{group}_input_generation"
            return slicing.slice(x, [0, group * size], [batch, size], name=name)

        count = self._number_of_groups
        with scopes.variable_scope(scopes.get_variable_scope(), initializer=self._initializer):
            gates: list[list[Tensor]] = []
            for group in range(count):
                with scopes.variable_scope(f"group{group}"):
                    parts = [part_of(inputs, group, width // count)]
                    parts.append(part_of(m, group, self.output_size // count))
                    x = joining.concat(parts, axis=1)
                    if self._groups[group] is None:
                        self._groups[group] = Linear(x, 4 * self._num_units // count, False)
                    gates.append(joining.split(self._groups[group](x), 4, 1))
            biases = [
                scopes.get_variable(
                    f"bias_{gate}",
                    [self._num_units],
                    dtype=inputs.dtype,
                    initializer=initializers.Constant(0.0, dtype=inputs.dtype),
                )
                for gate in "ijfo"
            ]
            i, j, f, o = (
                activations.bias_add(joining.concat(list(parts), axis=1), bias)
                for parts, bias in zip(zip(*gates), biases, strict=True)
            )
        c = unary.sigmoid(f + self._forget_bias) * c + unary.sigmoid(i) * unary.tanh(j)
        m = unary.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with scopes.variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(m, self._num_proj, False)
                m = self._projection(m)
        return m, LSTMStateTuple(c, m)


@export("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(RNNCell):
    """Long short-term memory whose units are open for a part of a period each (Neil et al., 2016).

    Its input is a pair: the time of each example, [batch, 1], and the features, [batch, size].

    Args:
      num_units: The size of the state.
      use_peepholes: Whether gates see the state.
      leak: How much passes while a unit is closed.
      ratio_on: The part of a period for which a unit is open.
      trainable_ratio_on: Whether that is trained.
      period_init_min: The shortest period at the start.
      period_init_max: The longest period at the start.
      reuse: Whether existing variables are shared, as in `tf.variable_scope`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._linear: dict[str, Linear] = {}

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _of(self, scope: str, inputs: list[Tensor], size: int) -> Tensor:
        if scope not in self._linear:
            self._linear[scope] = Linear(inputs, size, True)
        return self._linear[scope](inputs)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c_before, h_before = state
        time, x = inputs
        seen = [x, h_before]
        units = self._num_units
        with scopes.variable_scope("mask_gates"):
            wide = [*seen, c_before] if self._use_peepholes else seen
            gates = unary.sigmoid(self._of("mask_gates", wide, 2 * units))
            take, keep = joining.split(gates, 2, axis=1)
        with scopes.variable_scope("new_input"):
            new = unary.tanh(self._of("new_input", seen, units))
        c = c_before * keep + take * new
        with scopes.variable_scope("output_gate"):
            wide = [*seen, c] if self._use_peepholes else seen
            gate = unary.sigmoid(self._of("output_gate", wide, units))
        h = unary.tanh(c) * gate
        k = self._openness(time)
        c, h = k * c + (1 - k) * c_before, k * h + (1 - k) * h_before
        return h, LSTMStateTuple(c, h)

    def _openness(self, time: Tensor) -> Tensor:
        """How far each unit is open: it opens and closes within a part of its period."""
        units = [self._num_units]
        spread = _log_uniform(self._period_init_min, self._period_init_max)
        period = scopes.get_variable("period", units, initializer=spread)
        phase = scopes.get_variable(
            "phase", units, initializer=initializers.RandomUniform(0.0, period.initial_value)
        )
        ratio_on = scopes.get_variable(
            "ratio_on",
            units,
            initializer=initializers.Constant(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        start = casting.cast(phase, dtype=time.dtype)
        length = casting.cast(period, dtype=time.dtype)
        since = time - start
        # The slope of the remainder is that of the time: jumps do not count.
        remainder = constants.stop_gradient(binary.mod(since, length) - since) + since
        part = casting.cast(remainder / length, dtype=dtypes.float32)
        opening = 2 * part / ratio_on
        closing, closed = 2 - opening, self._leak * part
        k = indexing.where(part < ratio_on, closing, closed)
        return indexing.where(part < 0.5 * ratio_on, opening, k)


def _log_uniform(low: float, high: float) -> Callable:
    def initializer(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
        return unary.exp(distributions.random_uniform(shape, unary.log(low), unary.log(high), dtype))

    return initializer


@export("contrib.rnn.CompiledWrapper")
class CompiledWrapper(RNNCell):
    """A cell as it is: steps that run often are compiled by themselves.

    Args:
      cell: The cell.
      compile_stateful: Has no effect.
    """

    def __init__(self, cell: Any, compile_stateful: bool = False):
        self._cell = cell
        self._compile_stateful = compile_stateful

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        return self._cell(inputs, state, scope=scope)
