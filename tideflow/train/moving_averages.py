"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    get_default_graph,
    init_scope,
    name_scope,
)
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, powers
from tideflow.ops.state import reference_variables
from tideflow.train import slot_creator
from tideflow.variables.base import Variable
from tideflow.variables.collections import (
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable, get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

_FLOATING = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(
    variable: Variable, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """variable = variable * decay + value * (1 - decay); `zero_debias` corrects for a start at zero."""
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        share = convert_to_tensor(1.0 - decay, name="decay")
        if share.dtype is not variable.dtype.base_dtype:
            share = casting.cast(share, variable.dtype.base_dtype)
        if zero_debias:
            return _assign_unbiased(variable, value, share, scope)
        return reference_variables.assign_sub(variable, (variable - value) * share, name=scope)


def weighted_moving_average(
    value: Tensor,
    decay: Any,
    weight: Tensor,
    truediv: bool = True,
    collections: Sequence[Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The moving average of a value in which each step counts by a weight.

    Args:
      value: The value.
      decay: How much of the average stays at each step.
      weight: The weight of this step's value.
      truediv: Whether integers are divided into floating-point numbers.
      collections: The collections of the two variables; by default GLOBAL_VARIABLES.
      name: The scope of the variables.

    Returns:
      The average after this step.
    """
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        sums = []
        for part, given in (("value_x_weight", value), ("weight", weight)):
            held = get_variable(part, given.shape, given.dtype, Zeros(), trainable=False, collections=keys)
            sums.append((held, value * weight if given is value else weight))
        above, below = [assign_moving_average(held, new, decay, zero_debias=False) for held, new in sums]
        divide = binary.truediv if truediv else binary.divide
        return divide(above, below, name=scope.name)


def _assign_unbiased(variable: Variable, value: Any, share: Tensor, scope: str) -> Any:
    """The average is kept in a variable `biased` that starts at zero, and divided by the weight gathered
    so far (Kingma, Ba 2014, section 3).
    """
    with variable_scope(variable.name.removesuffix(":0"), values=[variable, value, share]):
        with colocate_with(variable), init_scope():
            biased = _made_beside(variable, "biased", variable.shape)
            local_step = _made_beside(variable, "local_step", [])
    total = biased.assign_sub((biased - value) * share)
    count = local_step.assign_add(1)
    return reference_variables.assign(variable, total / (1 - powers.pow(1.0 - share, count)), name=scope)


def _made_beside(variable: Variable, name: str, shape: Any) -> Variable:
    dtype = variable.dtype.base_dtype
    initializer = Zeros(dtype=dtype)
    return get_variable(_unused(name), shape=shape, dtype=dtype, initializer=initializer, trainable=False)


def _unused(name: str) -> str:
    """The name, numbered where the scope has such a variable and does not share it."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable.name.removesuffix(":0") for variable in scope.global_variables()}
    chosen, count = name, 0
    while f"{scope.name}/{chosen}" in taken:
        count += 1
        chosen = f"{name}_{count}"
    return chosen


@export("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Maintains moving averages of variables: `average -= (1 - decay) * (average - value)`.

    Args:
      decay: The decay, usually close to 1.
      num_updates: The number of updates so far, usually the global step. If given, the decay is at most `(1 +
        num_updates) / (10 + num_updates)`, so that averages adapt faster at first.
      zero_debias: Whether the averages of tensors are corrected for their start at zero.
      name: The suffix of the averages' names.
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The suffix of the averages' names."""
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> Operation:
        """Makes the averages, and an operation that updates them.

        Args:
          var_list: Variables or tensors; all trainable variables if None. The average of a variable starts at
            the variable's initial value, that of a tensor at zero.

        Returns:
          The operation.

        Raises:
          TypeError: If the type is not a floating-point type.
          ValueError: If a variable has an average of this object already.
        """
        variables = trainable_variables() if var_list is None else var_list
        for variable in variables:
            if variable.dtype.base_dtype not in _FLOATING:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            if variable not in self._averages:
                with init_scope():
                    self._averages[variable] = self._make_average(variable)
        with name_scope(self.name) as scope:
            decay = self._current_decay()
            updates = [
                # A variable's average starts with its value and needs no correction.
                assign_moving_average(
                    self._averages[v], v, decay, zero_debias=self._zero_debias and not isinstance(v, Variable)
                )
                for v in variables
            ]
            return grouping.group(*updates, name=scope)

    def _make_average(self, variable: Any) -> Variable:
        if isinstance(variable, Variable):
            average = slot_creator.create_slot(variable, variable.initialized_value(), self.name)
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
            return average
        beside = variable.op.definition.role in ("variable", "variable handle")
        return slot_creator.create_zeros_slot(variable, self.name, colocate_with_primary=beside)

    def _current_decay(self) -> Tensor:
        """The decay; with `num_updates` a smaller one at first, so that the average moves faster."""
        decay = convert_to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        updates = casting.cast(self._num_updates, dtypes.float32, name="num_updates")
        return binary.minimum(decay, (1.0 + updates) / (10.0 + updates))

    def average(self, var: VariableLike | Tensor) -> Variable | None:
        """Gets the average of a variable.

        Args:
          var: The variable or tensor.

        Returns:
          The variable with the average, or None if `apply` was not called for it.
        """
        return self._averages.get(var)

    def average_name(self, var: VariableLike | Tensor) -> str:
        """Gets the name of the average of a variable.

        Args:
          var: The variable or tensor.

        Returns:
          The name that the average has, or will have after `apply`.
        """
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """Maps names in a checkpoint to variables, so that averages are restored into the variables.

        Args:
          moving_avg_variables: The variables to restore from their averages; all trainable variables and
            those with an average if None.

        Returns:
          A dictionary for the `var_list` of `tf.train.Saver`.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = dict.fromkeys(moving_avg_variables)
        found = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for v in dict.fromkeys(global_variables()):
            if v.name not in names and v.op.name not in found:
                found[v.op.name] = v
        return found
