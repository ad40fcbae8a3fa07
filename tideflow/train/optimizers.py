"""The optimizers of tf.train. Their laws stand in `ops/state/training.py`, their slots and numbers here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    get_default_graph,
)
from tideflow.ops.arrays import constants, creation, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.helpers.update_laws import Law
from tideflow.ops.math import casting, unary
from tideflow.ops.state import reference_variables, training, variable_rows
from tideflow.ops.state.grouped_training import apply_together, can_run_together
from tideflow.train.optimizer import GradientsAndVariables, Optimizer, Updates
from tideflow.variables.base import Variable
from tideflow.variables.initializers import Constant, Ones
from tideflow.variables.resource import BaseResourceVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


class LawUpdates(Updates):
    """Updates that are the ops of one law: ApplyX, SparseApplyX, and resource variables' own.

    `_numbers` and `_states` say where an op's inputs come from: hyperparameters and slots, by input name.
    """

    _law: Law
    _states: dict[str, str] = {}
    _numbers: dict[str, str] = {}
    _tensor_suffix = "_tensor"

    def _attributes(self) -> dict[str, Any]:
        """Attributes of the update ops, beside `use_locking`."""
        return {}

    def _prepare(self) -> None:
        for number in self._numbers.values():
            self._make_tensor(number, number)

    def _make_tensor(self, number: str, name: str) -> None:
        value = self._call_if_callable(getattr(self, f"_{number}"))
        setattr(self, f"_{number}{self._tensor_suffix}", convert_to_tensor(value, name=name))

    def _number(self, name: str, var: Variable) -> Tensor:
        """The hyperparameter of this name in the type of `var`."""
        return casting.cast(getattr(self, f"_{name}{self._tensor_suffix}"), var.dtype.base_dtype)

    def _input(self, name: str, var: Variable) -> Any:
        """The input of an update op for `var`: the variable, one of its slots, or a number."""
        if name == "var":
            return _handle(var)
        if name in self._states:
            return _handle(self.get_slot(var, self._states[name]))
        return self._number(self._numbers[name], var)

    def _apply(self, op: Op, var: Variable, **given: Any) -> Operation:
        inputs = [given[a.name] if a.name in given else self._input(a.name, var) for a in op.inputs]
        return op(*inputs, use_locking=self._use_locking, **self._attributes())

    def _updates(self, pairs: GradientsAndVariables) -> list[Any]:
        if not self._runs_together():
            return super()._updates(pairs)
        together: dict[Any, list[tuple[Any, Any]]] = {}  # by what the updates have in common
        alone = []
        has_places = get_default_graph().accelerated
        for pair in pairs:
            grad, var = pair
            if isinstance(grad, Tensor) and isinstance(var, BaseResourceVariable) and var.constraint is None:
                common = var.dtype, grad.dtype, has_places and var.device
                together.setdefault(common, []).append(pair)
            else:
                alone.append(pair)
        for members in together.values():
            apply_together(self._law.resource, members, self._input)
        return super()._updates(alone)

    def _runs_together(self) -> bool:
        """Whether eager mode runs all updates of a kind as one: in graphs, the compiler sees to that."""
        kind = type(self)
        return (
            executing_eagerly()
            and can_run_together(self._law.resource, self._attributes())
            and kind._update_variable is Optimizer._update_variable
            and kind._resource_apply_dense is LawUpdates._resource_apply_dense
            and kind._apply is LawUpdates._apply
        )

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply(self._law.dense, var, grad=grad, delta=grad)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return self._apply(self._law.resource, handle, grad=grad, delta=grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._apply(self._law.sparse, var, grad=grad.values, indices=grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply(self._law.resource_sparse, handle, grad=grad, indices=indices)


def _handle(variable: Variable) -> Tensor:
    """What an update op takes for a variable."""
    return variable.handle if isinstance(variable, BaseResourceVariable) else variable._ref()


def _resource_scatter_add(variable: Variable, indices: Tensor, values: Tensor) -> Operation:
    return variable_rows.resource_scatter_add_op(variable.handle, indices, values)


def _filled(variable: Variable, value: float) -> Tensor:
    """A constant of the variable's shape and type, beside it."""
    with colocate_with(variable):
        return constants.constant(value, shape=variable.shape, dtype=variable.dtype.base_dtype)


def _check_positive(name: str, value: float) -> None:
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")


# -------------------------------------------------------------------------------- gradient descent


@export("train.GradientDescentOptimizer")
class GradientDescentOptimizer(Optimizer, LawUpdates):
    """Gradient descent: `var -= learning_rate * gradient`.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.gradient_descent
    _numbers = {"alpha": "learning_rate"}

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        use_locking: bool = False,
        name: str = "GradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    # Subtraction needs no row summed first: rows that come twice are subtracted twice.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        step = grad.values * self._number("learning_rate", var)
        return var.scatter_sub(IndexedSlices(step, grad.indices, grad.dense_shape), self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Any:
        step = -grad * self._call_if_callable(self._learning_rate)
        return _resource_scatter_add(handle, indices, step)


@export("train.ProximalGradientDescentOptimizer")
class ProximalGradientDescentOptimizer(Optimizer, LawUpdates):
    """Gradient descent with a proximal step for l1 and l2 penalties after each update.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      l1_regularization_strength: The factor of the sum of absolute values.
      l2_regularization_strength: The factor of the sum of squares.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.proximal_gradient_descent
    _numbers = {
        "alpha": "learning_rate",
        "l1": "l1_regularization_strength",
        "l2": "l2_regularization_strength",
    }

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength


@export("train.MomentumOptimizer")
class MomentumOptimizer(Optimizer, LawUpdates):
    """Gradient descent with momentum.

    The update is `accumulation = momentum * accumulation + gradient; var -= learning_rate * accumulation`.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      momentum: The momentum: a number, a tensor, or a function that returns one of these.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
      use_nesterov: Whether the update uses the gradient at the point that the momentum would reach (Sutskever
        and others, 2013).
    """

    _law = training.momentum
    _states = {"accum": "momentum"}
    _numbers = {"lr": "learning_rate", "momentum": "momentum"}

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        momentum: TensorLike,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _attributes(self) -> dict[str, Any]:
        return {"use_nesterov": self._use_nesterov}

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)


# -------------------------------------------------------------------------------- the Adagrad family


@export("train.AdagradOptimizer")
class AdagradOptimizer(Optimizer, LawUpdates):
    """Adagrad: each step is divided by the root of the sum of squared gradients (Duchi and others, 2011).

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      initial_accumulator_value: The value at which the sums start, above 0.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.

    Raises:
      ValueError: If `initial_accumulator_value` is not positive.
    """

    _law = training.adagrad
    _states = {"accum": "accumulator"}
    _numbers = {"lr": "learning_rate"}

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            start = Constant(self._initial_accumulator_value, dtype=dtype)
            if not v.shape.is_fully_defined():
                start = self._dynamic_start(v)
            self._get_or_make_slot_with_initializer(v, start, v.shape, dtype, "accumulator", self._name)

    def _dynamic_start(self, v: Variable) -> Callable[..., Tensor]:
        """An initializer for a variable whose shape only the step knows."""

        def start(*args: Any, **kwargs: Any) -> Tensor:
            filled = creation.fill(shapes.shape(v), self._initial_accumulator_value)
            return casting.cast(filled, v.dtype.base_dtype)

        return start


@export("train.ProximalAdagradOptimizer")
class ProximalAdagradOptimizer(Optimizer, LawUpdates):
    """Adagrad with a proximal step for l1 and l2 penalties after each update.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      initial_accumulator_value: The value at which the sums start, above 0.
      l1_regularization_strength: The factor of the sum of absolute values.
      l2_regularization_strength: The factor of the sum of squares.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.

    Raises:
      ValueError: If `initial_accumulator_value` is not positive.
    """

    _law = training.proximal_adagrad
    _states = {"accum": "accumulator"}
    _numbers = {
        "lr": "learning_rate",
        "l1": "l1_regularization_strength",
        "l2": "l2_regularization_strength",
    }

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            start = _filled(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, start, "accumulator", self._name)


@export("train.AdagradDAOptimizer")
class AdagradDAOptimizer(Optimizer, LawUpdates):
    """Adagrad with dual averaging: variables follow from the sums of all gradients.

    With an l1 penalty many variables are exactly zero.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      global_step: The current step, from which the averages follow.
      initial_gradient_squared_accumulator_value: The value at which the sums of squares start, above 0.
      l1_regularization_strength: The factor of the sum of absolute values.
      l2_regularization_strength: The factor of the sum of squares.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.

    Raises:
      ValueError: If the initial value is not positive.
    """

    _law = training.adagrad_da
    _states = {
        "gradient_accumulator": "gradient_accumulator",
        "gradient_squared_accumulator": "gradient_squared_accumulator",
    }
    _numbers = {"lr": "learning_rate"}

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        global_step: TensorLike,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ):
        _check_positive(
            "initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value
        )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_gradient_squared_accumulator_value = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            sums, squares = _filled(v, 0.0), _filled(v, self._initial_gradient_squared_accumulator_value)
            self._get_or_make_slot(v, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = constants.identity(self._global_step) + 1

    def _apply(self, op: Op, var: Variable, **given: Any) -> Operation:
        dtype = var.dtype.base_dtype
        with device(var.device):
            global_step = constants.identity(self._global_step_on_worker)
        return super()._apply(
            op,
            var,
            l1=casting.cast(self._l1_regularization_strength, dtype),
            l2=casting.cast(self._l2_regularization_strength, dtype),
            global_step=global_step,
            **given,
        )


@export("train.AdadeltaOptimizer")
class AdadeltaOptimizer(Optimizer, LawUpdates):
    """Adadelta: steps scaled by running means of squared gradients and of squared steps (Zeiler, 2012).

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      rho: The decay of the means.
      epsilon: A small number that is added to the means.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.adadelta
    _states = {"accum": "accum", "accum_update": "accum_update"}
    _numbers = {"lr": "lr", "rho": "rho", "epsilon": "epsilon"}
    _tensor_suffix = "_t"

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        rho: TensorLike = 0.95,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)


@export("train.RMSPropOptimizer")
class RMSPropOptimizer(Optimizer, LawUpdates):
    """RMSProp: each step is divided by the root of a running mean of squared gradients.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      decay: The decay of the mean.
      momentum: The momentum of the steps.
      epsilon: A small number that is added to the mean.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      centered: Whether the variance of the gradients is used instead of their mean square.
      name: The name of the optimizer.
    """

    _states = {"ms": "rms", "mg": "mg", "mom": "momentum"}
    _numbers = {"lr": "learning_rate", "rho": "decay", "momentum": "momentum", "epsilon": "epsilon"}

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        decay: TensorLike = 0.9,
        momentum: TensorLike = 0.0,
        epsilon: TensorLike = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    @property
    def _law(self) -> Law:
        return training.centered_rms_prop if self._centered else training.rms_prop

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            start = Ones(dtype=dtype) if v.shape.is_fully_defined() else creation.ones_like(v)
            self._get_or_make_slot_with_initializer(v, start, v.shape, dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)


# -------------------------------------------------------------------------------- Adam


def _in_type_of(var: Variable, number: Variable) -> Any:
    """A variable as it is, or a tensor of its value in the type of `var`."""
    dtype = var.dtype.base_dtype
    return number if number.dtype.base_dtype is dtype else casting.cast(number, dtype)


@export("train.AdamOptimizer")
class AdamOptimizer(Optimizer, LawUpdates):
    """Adam: steps from running means of gradients and of their squares (Kingma and Ba, 2014).

    Both means are corrected for their start at zero.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      beta1: The decay of the mean of gradients.
      beta2: The decay of the mean of squares.
      epsilon: A small number that is added to the denominator.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    _law = training.adam
    _states = {"m": "m", "v": "v"}
    _numbers = {"lr": "lr", "beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
    _tensor_suffix = "_t"

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self) -> tuple[Variable | None, Variable | None]:
        graph = get_default_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph=graph),
            self._get_non_slot_variable("beta2_power", graph=graph),
        )

    def _create_slots(self, var_list: list[Variable]) -> None:
        # The powers live beside one of the variables: always the same, whatever the order of the list.
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        self._create_non_slot_variable(initial_value=self._beta2, name="beta2_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        for number, name in zip(self._numbers.values(), ("learning_rate", "beta1", "beta2", "epsilon")):
            self._make_tensor(number, name)

    def _input(self, name: str, var: Variable) -> Any:
        if name in ("beta1_power", "beta2_power"):
            power = self._get_beta_accumulators()[name == "beta2_power"]
            return _in_type_of(var, power)
        return super()._input(name, var)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        def scatter_add(variable: Variable, indices: Tensor, values: Tensor) -> Tensor:
            return variable_rows.scatter_add(variable, indices, values, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter_add)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Variable, i: Tensor, v: Tensor) -> Tensor:
        with control_dependencies([_resource_scatter_add(x, i, v)]):
            return x.value()

    def _apply_sparse_shared(
        self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: Callable[..., Tensor]
    ) -> Operation:
        """Not the law on some rows: all running means decay, and every row of the variable moves."""
        lock = self._use_locking
        beta1_power, beta2_power = (_in_type_of(var, power) for power in self._get_beta_accumulators())
        rate, beta1, beta2, epsilon = (self._number(n, var) for n in ("lr", "beta1", "beta2", "epsilon"))
        rate = rate * unary.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        with control_dependencies([reference_variables.assign(m, m * beta1, use_locking=lock)]):
            mean = scatter_add(m, indices, scaled)
        squared = (grad * grad) * (1 - beta2)
        with control_dependencies([reference_variables.assign(v, v * beta2, use_locking=lock)]):
            square = scatter_add(v, indices, squared)
        root = unary.sqrt(square)
        update = reference_variables.assign_sub(var, rate * mean / (root + epsilon), use_locking=lock)
        return grouping.group(update, mean, square)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                powers = [
                    beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking),
                    beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking),
                ]
        return grouping.group(*update_ops, *powers, name=name_scope)


# -------------------------------------------------------------------------------- FTRL


def _check_not_negative(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"{name} {value:f} needs to be positive or zero")


@export("train.FtrlOptimizer")
class FtrlOptimizer(Optimizer, LawUpdates):
    """Follow the regularized leader, with l1, l2 and shrinkage penalties (McMahan and others, 2013).

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      learning_rate_power: The exponent of the accumulated squares, at most 0; 0 is a fixed learning rate.
      initial_accumulator_value: The value at which the sums of squares start, not negative.
      l1_regularization_strength: The factor of the sum of absolute values.
      l2_regularization_strength: The factor of the sum of squares.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
      accum_name: A suffix for the name of the slot with the squares.
      linear_name: A suffix for the name of the slot with the linear terms.
      l2_shrinkage_regularization_strength: The factor of an l2 penalty that acts on the gradients only.

    Raises:
      ValueError: If an argument is out of its range.
    """

    _states = {"accum": "accum", "linear": "linear"}
    _numbers = {
        "lr": "learning_rate",
        "l1": "l1_regularization_strength",
        "l2": "l2_regularization_strength",
        "l2_shrinkage": "l2_shrinkage_regularization_strength",
        "lr_power": "learning_rate_power",
    }

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike],
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ):
        super().__init__(use_locking, name)
        _check_not_negative("initial_accumulator_value", initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        _check_not_negative("l1_regularization_strength", l1_regularization_strength)
        _check_not_negative("l2_regularization_strength", l2_regularization_strength)
        _check_not_negative("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength)
        self._learning_rate = learning_rate
        self._learning_rate_power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self._accum_name = accum_name
        self._linear_name = linear_name

    @property
    def _law(self) -> Law:
        return training.ftrl_v2 if self._l2_shrinkage_regularization_strength > 0.0 else training.ftrl

    def _create_slots(self, var_list: list[Variable]) -> None:
        for v in var_list:
            start = _filled(v, self._initial_accumulator_value)
            self._get_or_make_slot(v, start, "accum", self._accum_name or self._name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)
