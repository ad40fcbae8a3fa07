"""tf.contrib.grid_rnn: cells that are recurrent along several dimensions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.layers.dense import fully_connected
from tideflow.contrib.layers.scaling import xavier_initializer
from tideflow.export import export
from tideflow.ops.arrays import creation, joining, slicing
from tideflow.ops.linalg import matmul
from tideflow.ops.nn import activations
from tideflow.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, RNNCell
from tideflow.variables import variable_scope as scopes

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _dimensions(given: int | Sequence[int] | None, count: int) -> list[int]:
    """The numbers of some dimensions, in order."""
    listed = given if isinstance(given, (list, tuple)) else [] if given is None else [given]
    found = sorted(set(listed))
    if any(not 0 <= dimension < count for dimension in found):
        raise ValueError(f"Invalid dims: {found}. Must be in [0, {count})")
    return found


@export("contrib.grid_rnn.GridRNNCell")
class GridRNNCell(RNNCell):
    """A cell with a state for each of several dimensions.

    In a step the dimensions without priority are computed first, each from the states of all; then those with
    priority, from what came out.

    Args:
      num_units: The size of a dimension's output.
      num_dims: The number of dimensions.
      input_dims: The dimensions that the input goes to, one or several; it is divided among them.
      output_dims: The dimensions whose outputs the cell gives.
      priority_dims: The dimensions that are computed last.
      non_recurrent_dims: The dimensions that have no state: a layer computes them.
      tied: Whether all dimensions share one cell.
      cell_fn: A function from the size to the cell of a dimension; an LSTMCell if None.
      non_recurrent_fn: The activation of dimensions without state; relu if None.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.

    Raises:
      ValueError: If a dimension does not exist.
      TypeError: If `cell_fn` returns no cell.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: int | Sequence[int] | None = None,
        output_dims: int | Sequence[int] | None = None,
        priority_dims: int | Sequence[int] | None = None,
        non_recurrent_dims: int | Sequence[int] | None = None,
        tied: bool = False,
        cell_fn: Callable[[int], RNNCell] | None = None,
        non_recurrent_fn: Callable | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__()
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._units, self._count, self._tied = num_units, num_dims, tied
        self._inputs = _dimensions(input_dims, num_dims)
        self._outputs = _dimensions(output_dims, num_dims)
        self._priority = _dimensions(priority_dims, num_dims)
        stateless = _dimensions(non_recurrent_dims, num_dims)
        self._recurrent = [i for i in range(num_dims) if i not in stateless]
        self._activation = non_recurrent_fn or activations.relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = cell_fn or (lambda size: LSTMCell(size, state_is_tuple=state_is_tuple))
        self._cells = [make(num_units)] * num_dims if tied else [make(num_units) for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def _whole_state(self) -> int:
        """The size of a dimension's state."""
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    @property
    def output_size(self) -> Any:
        """The sizes of the outputs, or their sum."""
        size = self._cells[0].output_size
        return (size,) * len(self._outputs) if self._output_is_tuple else size * len(self._outputs)

    @property
    def state_size(self) -> Any:
        """The sizes of the states, or their sum."""
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * len(self._recurrent)
        return self._whole_state * len(self._recurrent)

    def __call__(self, inputs: TensorLike, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Computes a step.

        Args:
          inputs: The input, [batch, size].
          state: The state.
          scope: The variable scope; the name of the class if None.

        Returns:
          The output and the next state.

        Raises:
          ValueError: If the state has another number of parts.
        """
        memories, hidden = self._parts_of(state)
        outputs: list[Any] = [None] * self._count
        states: list[Any] = [None] * self._count
        with scopes.variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, hidden)
            first = [i for i in range(self._count) if i not in self._priority]
            for phase in (first, self._priority):
                self._compute(phase, memories, hidden, outputs, states)
            given = [outputs[i] for i in self._outputs]
            kept = [states[i] for i in self._recurrent]
            if not self._state_is_tuple:
                kept = _joined([part for one in kept for part in one], inputs)
            if not self._output_is_tuple:
                given = _joined(given, inputs)
        return (tuple(given) if self._output_is_tuple else given), (
            tuple(kept) if self._state_is_tuple else kept
        )

    def _parts_of(self, state: Any) -> tuple[list[Any], list[Any]]:
        """The memory, if cells have one, and the hidden state of each dimension."""
        memories: list[Any] = [None] * self._count
        hidden: list[Any] = [None] * self._count
        has_memory = self._whole_state > self._units
        if self._state_is_tuple and len(state) != len(self._recurrent):
            raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element")
        for place, i in enumerate(self._recurrent):
            if self._state_is_tuple:
                memories[i], hidden[i] = state[place] if has_memory else (None, state[place])
                continue
            start = place * self._whole_state
            sizes = [self._units, self._whole_state - self._units] if has_memory else [self._units]
            starts = [start, start + self._units]
            parts = [
                slicing.slice(state, [0, at], [-1, size]) for at, size in zip(starts, sizes, strict=False)
            ]
            memories[i], hidden[i] = parts if has_memory else (None, parts[0])
        return memories, hidden

    def _project(self, inputs: Any, memories: list[Any], hidden: list[Any]) -> None:
        """The input in place of the states of those dimensions that it goes to."""
        if inputs is None or not self._inputs or not inputs.shape.with_rank(2).as_list()[1]:
            return
        parts = joining.split(inputs, len(self._inputs), axis=1)
        for part, i in zip(parts, self._inputs, strict=True):
            shape = [part.shape.as_list()[1], self._units]
            hidden[i] = matmul.matmul(part, scopes.get_variable(f"project_m_{i}", shape, inputs.dtype))
            if self._whole_state > self._units:
                memories[i] = matmul.matmul(part, scopes.get_variable(f"project_c_{i}", shape, inputs.dtype))

    def _compute(
        self, phase: list[int], memories: list[Any], hidden: list[Any], outputs: list[Any], states: list[Any]
    ) -> None:
        """The dimensions of a phase, from what there is when it begins."""
        if not phase:
            return
        now = [hidden[i] if outputs[i] is None else outputs[i] for i in range(self._count)]
        *others, last = now
        if others:
            beside = joining.concat(others, 1)
        else:
            beside = creation.zeros([last.shape.as_list()[0], 0], last.dtype)
        for i in phase:
            kind = "recurrent" if i in self._recurrent else "non_recurrent"
            with scopes.variable_scope(kind if self._tied else f"{kind}/cell_{i}"):
                # Dimensions share the variables of the first: that of the first phase, where it is not empty.
                if self._tied and not (i == phase[0] and phase is not self._priority):
                    scopes.get_variable_scope().reuse_variables()
                if i in self._recurrent:
                    before = last if memories[i] is None else (memories[i], last)
                    outputs[i], states[i] = self._cells[i](beside, before)
                else:
                    scope = scopes.get_variable_scope()
                    outputs[i] = fully_connected(
                        joining.concat([beside, last], 1) if others else last,
                        self._units,
                        activation_fn=self._activation,
                        weights_initializer=scope.initializer or xavier_initializer(),
                        weights_regularizer=scope.regularizer,
                    )


def _joined(tensors: list[Any], inputs: Any) -> Any:
    return joining.concat(tensors, 1) if tensors else creation.zeros([0, 0], inputs.dtype)


class _Known(GridRNNCell):
    """A grid whose first dimension has the input, the output and the priority."""

    def __init__(
        self,
        num_units: int,
        num_dims: int,
        cell_fn: Callable[[int], RNNCell],
        state_is_tuple: bool,
        output_is_tuple: bool,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
    ):
        super().__init__(
            num_units,
            num_dims,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


@export("contrib.grid_rnn.Grid1BasicRNNCell")
class Grid1BasicRNNCell(_Known):
    """A grid of one dimension, of cells like BasicRNNCell.

    Args:
      num_units: The size of a dimension's output.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 1, BasicRNNCell, state_is_tuple, output_is_tuple)


@export("contrib.grid_rnn.Grid2BasicRNNCell")
class Grid2BasicRNNCell(_Known):
    """A grid of two dimensions, of cells like BasicRNNCell.

    Args:
      num_units: The size of a dimension's output.
      tied: Whether all dimensions share one cell.
      non_recurrent_fn: The activation of the first dimension, which then has no state; None if it has one.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 2, BasicRNNCell, state_is_tuple, output_is_tuple, tied, non_recurrent_fn)


@export("contrib.grid_rnn.Grid1BasicLSTMCell")
class Grid1BasicLSTMCell(_Known):
    """A grid of one dimension, of cells like BasicLSTMCell.

    Args:
      num_units: The size of a dimension's output.
      forget_bias: What is added to the forget gates.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units,
            1,
            lambda size: BasicLSTMCell(size, forget_bias=forget_bias),
            state_is_tuple,
            output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2BasicLSTMCell")
class Grid2BasicLSTMCell(_Known):
    """A grid of two dimensions, of cells like BasicLSTMCell.

    Args:
      num_units: The size of a dimension's output.
      tied: Whether all dimensions share one cell.
      non_recurrent_fn: The activation of the first dimension, which then has no state; None if it has one.
      forget_bias: What is added to the forget gates.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units,
            2,
            lambda size: BasicLSTMCell(size, forget_bias=forget_bias),
            state_is_tuple,
            output_is_tuple,
            tied,
            non_recurrent_fn,
        )


@export("contrib.grid_rnn.Grid1LSTMCell")
class Grid1LSTMCell(_Known):
    """A grid of one dimension, of cells like LSTMCell.

    Args:
      num_units: The size of a dimension's output.
      use_peepholes: Whether gates see the memory.
      forget_bias: What is added to the forget gates.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units,
            1,
            lambda size: LSTMCell(size, use_peepholes=use_peepholes, forget_bias=forget_bias),
            state_is_tuple,
            output_is_tuple,
        )


@export("contrib.grid_rnn.Grid2LSTMCell")
class Grid2LSTMCell(_Known):
    """A grid of two dimensions, of cells like LSTMCell.

    Args:
      num_units: The size of a dimension's output.
      tied: Whether all dimensions share one cell.
      non_recurrent_fn: The activation of the first dimension, which then has no state; None if it has one.
      use_peepholes: Whether gates see the memory.
      forget_bias: What is added to the forget gates.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units,
            2,
            lambda size: LSTMCell(size, use_peepholes=use_peepholes, forget_bias=forget_bias),
            state_is_tuple,
            output_is_tuple,
            tied,
            non_recurrent_fn,
        )


@export("contrib.grid_rnn.Grid3LSTMCell")
class Grid3LSTMCell(_Known):
    """A grid of three dimensions, of cells like LSTMCell.

    Args:
      num_units: The size of a dimension's output.
      tied: Whether all dimensions share one cell.
      non_recurrent_fn: The activation of the first dimension, which then has no state; None if it has one.
      use_peepholes: Whether gates see the memory.
      forget_bias: What is added to the forget gates.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units,
            3,
            lambda size: LSTMCell(size, use_peepholes=use_peepholes, forget_bias=forget_bias),
            state_is_tuple,
            output_is_tuple,
            tied,
            non_recurrent_fn,
        )


@export("contrib.grid_rnn.Grid2GRUCell")
class Grid2GRUCell(_Known):
    """A grid of two dimensions, of cells like GRUCell.

    Args:
      num_units: The size of a dimension's output.
      tied: Whether all dimensions share one cell.
      non_recurrent_fn: The activation of the first dimension, which then has no state; None if it has one.
      state_is_tuple: Whether the state is a tuple of the dimensions' states, or one tensor.
      output_is_tuple: Whether the output is a tuple, or one tensor.
    """

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 2, GRUCell, state_is_tuple, output_is_tuple, tied, non_recurrent_fn)
