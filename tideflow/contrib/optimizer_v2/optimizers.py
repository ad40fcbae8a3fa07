"""The optimizers of `tf.contrib.optimizer_v2`: their laws are those of `tf.train`'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.optimizer_v2.base import OptimizerV2, State
from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.arrays import creation, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.helpers.update_laws import Law
from tideflow.ops.math import casting, unary
from tideflow.ops.state import reference_variables, training, variable_rows
from tideflow.variables.base import Variable
from tideflow.variables.initializers import Constant
from tideflow.variables.resource import BaseResourceVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

    Hyperparameter = TensorLike | Callable[[], TensorLike]


def _handle(variable: Any) -> Tensor:
    return variable.handle if isinstance(variable, BaseResourceVariable) else variable._ref()


class _LawOptimizer(OptimizerV2):
    """An optimizer whose updates are the ops of one law.

    `_hypers` and `_slots_of` say where an op's inputs come from: hyperparameters and slots, by input name.
    """

    _law: Law
    _hypers: dict[str, str] = {}
    _slots_of: dict[str, str] = {}

    def _attributes(self) -> dict[str, Any]:
        """Attributes of the update ops, beside `use_locking`."""
        return {}

    def _input(self, name: str, var: Any, state: State) -> Any:
        if name == "var":
            return _handle(var)
        if name in self._slots_of:
            return _handle(state.get_slot(var, self._slots_of[name]))
        return state.get_hyper(self._hypers[name], var.dtype.base_dtype)

    def _apply(self, op: Op, var: Any, state: State, **given: Any) -> Any:
        inputs = [given[a.name] if a.name in given else self._input(a.name, var, state) for a in op.inputs]
        return op(*inputs, use_locking=self._use_locking, **self._attributes())

    def _create_vars(self, var_list: list[Any], state: State) -> None:
        for variable in var_list:
            for slot in self._slots_of.values():
                state.zeros_slot(variable, slot)

    def _apply_dense(self, grad: Tensor, var: Any, state: State) -> Any:  # type: ignore[override]
        return self._apply(self._law.dense, var, state, grad=grad, delta=grad)

    def _resource_apply_dense(self, grad: Tensor, handle: Any, state: State) -> Any:  # type: ignore[override]
        return self._apply(self._law.resource, handle, state, grad=grad, delta=grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any, state: State) -> Any:  # type: ignore[override]
        return self._apply(self._law.sparse, var, state, grad=grad.values, indices=grad.indices)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Tensor, handle: Any, indices: Tensor, state: State
    ) -> Any:
        return self._apply(self._law.resource_sparse, handle, state, grad=grad, indices=indices)


@export("contrib.optimizer_v2.GradientDescentOptimizer")
class GradientDescentOptimizer(_LawOptimizer):
    """Gradient descent: `var -= learning_rate * gradient`.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.gradient_descent
    _hypers = {"alpha": "learning_rate"}

    def __init__(
        self, learning_rate: Hyperparameter, use_locking: bool = False, name: str = "GradientDescent"
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)

    # Rows that come twice are subtracted twice: none has to be summed first.

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: IndexedSlices, var: Any, state: State
    ) -> Any:
        step = grad.values * state.get_hyper("learning_rate", var.dtype.base_dtype)
        return var.scatter_sub(IndexedSlices(step, grad.indices, grad.dense_shape), self._use_locking)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Tensor, handle: Any, indices: Tensor, state: State
    ) -> Any:
        rate = state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return variable_rows.resource_scatter_add_op(handle.handle, indices, -grad * rate)


@export("contrib.optimizer_v2.MomentumOptimizer")
class MomentumOptimizer(_LawOptimizer):
    """Gradient descent with momentum.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      momentum: The momentum, likewise.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
      use_nesterov: Whether the gradient counts as that of the point that the momentum would reach.
    """

    _law = training.momentum
    _hypers = {"lr": "learning_rate", "momentum": "momentum"}
    _slots_of = {"accum": "momentum"}

    def __init__(
        self,
        learning_rate: Hyperparameter,
        momentum: Hyperparameter,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._use_nesterov = use_nesterov

    def _attributes(self) -> dict[str, Any]:
        return {"use_nesterov": self._use_nesterov}


@export("contrib.optimizer_v2.AdagradOptimizer")
class AdagradOptimizer(_LawOptimizer):
    """Adagrad: each step is divided by the root of the sum of squared gradients.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      initial_accumulator_value: The value at which the sums start, above 0.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.

    Raises:
      ValueError: If `initial_accumulator_value` is not positive.
    """

    _law = training.adagrad
    _hypers = {"lr": "learning_rate"}
    _slots_of = {"accum": "accumulator"}

    def __init__(
        self,
        learning_rate: Hyperparameter,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_vars(self, var_list: list[Any], state: State) -> None:
        for variable in var_list:
            dtype, shape = variable.dtype.base_dtype, variable.get_shape()
            initializer: Any = Constant(self._initial_accumulator_value, dtype=dtype)
            if not shape.is_fully_defined():
                initializer = self._filled_like(variable)
            state.create_slot_with_initializer(variable, initializer, shape, dtype, "accumulator")

    def _filled_like(self, variable: Any) -> Callable[[], Tensor]:
        def filled() -> Tensor:
            value = creation.fill(shapes.shape(variable), self._initial_accumulator_value)
            return casting.cast(value, variable.dtype.base_dtype)

        return filled


@export("contrib.optimizer_v2.AdadeltaOptimizer")
class AdadeltaOptimizer(_LawOptimizer):
    """Adadelta: steps in the units of the variable, from running means of squares.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      rho: The decay of the means, likewise.
      epsilon: A small number under the roots, likewise.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.adadelta
    _hypers = {"lr": "learning_rate", "rho": "rho", "epsilon": "epsilon"}
    _slots_of = {"accum": "accum", "accum_update": "accum_update"}

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        rho: Hyperparameter = 0.95,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("rho", rho)
        self._set_hyper("epsilon", epsilon)


@export("contrib.optimizer_v2.RMSPropOptimizer")
class RMSPropOptimizer(_LawOptimizer):
    """RMSProp: steps divided by the root of a running mean of squared gradients.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      decay: The decay of the mean, likewise.
      momentum: The momentum, likewise.
      epsilon: What the mean of squares begins with, likewise; it is not added anywhere.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      centered: Whether the square of the mean is subtracted, which makes the mean of squares a variance.
      name: The name of the optimizer.
    """

    _hypers = {"lr": "learning_rate", "rho": "decay", "momentum": "momentum"}

    def __init__(
        self,
        learning_rate: Hyperparameter,
        decay: Hyperparameter = 0.9,
        momentum: Hyperparameter = 0.0,
        epsilon: Hyperparameter = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", decay)
        self._set_hyper("momentum", momentum)
        self._set_hyper("epsilon", epsilon)
        self._centered = centered
        self._law = training.centered_rms_prop if centered else training.rms_prop
        self._slots_of = {"ms": "rms", **({"mg": "mg"} if centered else {}), "mom": "momentum"}

    def _create_vars(self, var_list: list[Any], state: State) -> None:
        for variable in var_list:
            dtype = variable.dtype.base_dtype
            first = state.get_hyper("epsilon", dtype) * creation.ones_like(variable)
            state.create_slot_with_initializer(variable, first, variable.get_shape(), dtype, "rms")
            super()._create_vars([variable], state)

    def _input(self, name: str, var: Any, state: State) -> Any:
        return 0 if name == "epsilon" else super()._input(name, var, state)


@export("contrib.optimizer_v2.AdamOptimizer")
class AdamOptimizer(_LawOptimizer):
    """Adam: steps from running means of gradients and of their squares.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that every update calls.
      beta1: The decay of the mean of gradients, likewise.
      beta2: The decay of the mean of squares, likewise.
      epsilon: A small number that is added to the denominator, likewise.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.adam
    _hypers = {"lr": "learning_rate", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
    _slots_of = {"m": "m", "v": "v"}

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("beta2", beta2)
        self._set_hyper("epsilon", epsilon)

    def _create_vars(self, var_list: list[Any], state: State) -> None:
        for beta in ("beta1", "beta2"):
            state.create_non_slot(lambda beta=beta: state.get_hyper(beta), f"{beta}_power")
        super()._create_vars(var_list, state)

    def _input(self, name: str, var: Any, state: State) -> Any:
        if name in ("beta1_power", "beta2_power"):
            return casting.cast(state.get_non_slot(name), var.dtype.base_dtype)
        return super()._input(name, var, state)

    def _apply_sparse(self, grad: IndexedSlices, var: Any, state: State) -> Any:  # type: ignore[override]
        def scatter_add(variable: Variable, indices: Tensor, values: Tensor) -> Tensor:
            return variable_rows.scatter_add(variable, indices, values, use_locking=self._use_locking)

        return self._decay_and_move(grad.values, var, grad.indices, scatter_add, state)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Tensor, handle: Any, indices: Tensor, state: State
    ) -> Any:
        def scatter_add(variable: Any, indices: Tensor, values: Tensor) -> Tensor:
            with control_dependencies(
                [variable_rows.resource_scatter_add_op(variable.handle, indices, values)]
            ):
                return variable.value()

        return self._decay_and_move(grad, handle, indices, scatter_add, state)

    def _decay_and_move(
        self, grad: Tensor, var: Any, indices: Tensor, scatter_add: Callable[..., Tensor], state: State
    ) -> Operation:
        """Not the law on some rows: all running means decay, and every row of the variable moves."""
        beta1_power, beta2_power, rate, beta1, beta2, epsilon = (
            self._input(name, var, state)
            for name in ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")
        )
        rate = rate * unary.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = state.get_slot(var, "m"), state.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        with control_dependencies([self._assign(m, m * beta1)]):
            mean = scatter_add(m, indices, scaled)
        squared = grad * grad * (1 - beta2)
        with control_dependencies([self._assign(v, v * beta2)]):
            square = scatter_add(v, indices, squared)
        step = rate * mean / (unary.sqrt(square) + epsilon)
        moved = reference_variables.assign_sub(var, step, use_locking=self._use_locking)
        return grouping.group(moved, mean, square)

    def _assign(self, variable: Any, value: Tensor) -> Any:
        return reference_variables.assign(variable, value, use_locking=self._use_locking)

    def _finish(self, state: State) -> Operation:  # type: ignore[override]
        powers = [(state.get_non_slot(f"{beta}_power"), state.get_hyper(beta)) for beta in ("beta1", "beta2")]
        return grouping.group(
            *(power.assign(power * beta, use_locking=self._use_locking) for power, beta in powers)
        )
