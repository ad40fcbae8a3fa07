"""tf.contrib.constrained_optimization: a loss that falls while constraints hold.

Two players play: one changes the model's variables, the other the weights of the constraints in the loss.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export
from tideflow.train.optimizer import Optimizer

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


@export("contrib.constrained_optimization.ConstrainedMinimizationProblem")
class ConstrainedMinimizationProblem(abc.ABC):
    """What is to be minimized, and constraints that must not be positive. Subclasses define them."""

    @property
    @abc.abstractmethod
    def objective(self) -> Any:
        """The loss, a scalar."""

    @property
    @abc.abstractmethod
    def constraints(self) -> Any:
        """The constraints, a tensor of known shape whose elements must not be positive."""

    @property
    def num_constraints(self) -> int:
        """The number of constraints."""
        shapes = [tensor.shape for tensor in (self.constraints, self.proxy_constraints) if tensor is not None]
        if not all(shape.is_fully_defined() for shape in shapes):
            raise ValueError("constraints and proxy_constraints must have fully-known shapes")
        if shapes[0] != shapes[-1]:
            raise ValueError("constraints and proxy_constraints must have the same shape")
        return math.prod(shapes[0].as_list())

    @property
    def proxy_constraints(self) -> Any:
        """Constraints with gradients, for the player of the model; None if `constraints` have some."""
        return None

    @property
    def pre_train_ops(self) -> Any:
        """Operations that run before a step; None if there are none."""
        return None


@export("contrib.constrained_optimization.ConstrainedOptimizer")
class ConstrainedOptimizer(abc.ABC):
    """The base of optimizers of constrained problems. Subclasses define `_minimize_constrained`.

    Args:
      optimizer: The optimizer of the model's variables.
    """

    def __init__(self, optimizer: Optimizer):
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer of the model's variables."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: VariableLike | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Any:
        """Makes the operation of a step that heeds the constraints."""

    def minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: VariableLike | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Any:
        """Makes the operation of a step that heeds the constraints.

        Args:
          minimization_problem: The problem.
          global_step: A variable to add 1 to.
          var_list: The variables of the model; all trainable ones if None.
          gate_gradients: See `tf.train.Optimizer.minimize`.
          aggregation_method: See `tf.train.Optimizer.minimize`.
          colocate_gradients_with_ops: See `tf.train.Optimizer.minimize`.
          name: A name for the operation.
          grad_loss: The gradient of the loss; 1 if None.

        Returns:
          The operation.
        """
        with tf.control_dependencies(minimization_problem.pre_train_ops or []):
            return self._minimize_constrained(
                minimization_problem,
                global_step,
                var_list,
                gate_gradients,
                aggregation_method,
                colocate_gradients_with_ops,
                name,
                grad_loss,
            )

    def minimize_unconstrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: VariableLike | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Any:
        """Makes the operation of a step that looks at the loss alone.

        Args:
          minimization_problem: The problem.
          global_step: A variable to add 1 to.
          var_list: The variables of the model; all trainable ones if None.
          gate_gradients: See `tf.train.Optimizer.minimize`.
          aggregation_method: See `tf.train.Optimizer.minimize`.
          colocate_gradients_with_ops: See `tf.train.Optimizer.minimize`.
          name: A name for the operation.
          grad_loss: The gradient of the loss; 1 if None.

        Returns:
          The operation.
        """
        with tf.control_dependencies(minimization_problem.pre_train_ops or []):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step,
                var_list,
                gate_gradients,
                aggregation_method,
                colocate_gradients_with_ops,
                name,
                grad_loss,
            )

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: TensorLike | None = None,
        global_step: VariableLike | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Any:
        """Makes the operation of a step; the first steps may look at the loss alone.

        Args:
          minimization_problem: The problem.
          unconstrained_steps: How many steps do not heed the constraints; none if None.
          global_step: A variable to add 1 to.
          var_list: The variables of the model; all trainable ones if None.
          gate_gradients: See `tf.train.Optimizer.minimize`.
          aggregation_method: See `tf.train.Optimizer.minimize`.
          colocate_gradients_with_ops: See `tf.train.Optimizer.minimize`.
          name: A name for the operation.
          grad_loss: The gradient of the loss; 1 if None.

        Returns:
          The operation.

        Raises:
          ValueError: If there are such first steps, and no global step that counts them.
        """
        options = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **options)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        first_steps = tf.convert_to_tensor(unconstrained_steps)
        return tf.cond(
            tf.cast(global_step, first_steps.dtype) < first_steps,
            lambda: self.minimize_unconstrained(minimization_problem, **options),
            lambda: self.minimize_constrained(minimization_problem, **options),
        )


class _TwoPlayers(ConstrainedOptimizer):
    """What optimizers with a state for the constraints have in common."""

    _state_name: str

    def __init__(self, optimizer: Optimizer, constraint_optimizer: Optimizer | None = None):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Optimizer | None:
        """The optimizer of the constraints' weights; None if it is that of the model."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Any:
        """The first state of the constraints' player."""

    @abc.abstractmethod
    def _loss_and_gain(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        """The loss of the model's player, and the gradient by which the other one's state grows."""

    @abc.abstractmethod
    def _projected(self, state: Any) -> Any:
        """The state that is allowed and nearest."""

    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: VariableLike | None = None,
        var_list: Sequence[Any] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Any:
        objective, constraints = minimization_problem.objective, minimization_problem.constraints
        proxies = minimization_problem.proxy_constraints
        proxies = constraints if proxies is None else proxies
        if len({tensor.dtype.base_dtype for tensor in (objective, constraints, proxies)}) > 1:
            raise ValueError("objective, constraints and proxy_constraints must have the same dtype")
        count = minimization_problem.num_constraints
        constraints, proxies = tf.reshape(constraints, [count]), tf.reshape(proxies, [count])
        state = tf.Variable(
            lambda: self._initial_state(count), trainable=False, name=self._state_name, use_resource=True
        )
        loss, gain = self._loss_and_gain(state, objective, constraints, proxies)
        pairs = self.optimizer.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        of_state = [(-gain, state)]
        if self.constraint_optimizer is None:
            updates = [self.optimizer.apply_gradients([*pairs, *of_state], name="update")]
        else:
            with tf.control_dependencies(
                [gradient for gradient, _ in pairs + of_state if gradient is not None]
            ):
                updates = [
                    self.optimizer.apply_gradients(pairs, name="update"),
                    self.constraint_optimizer.apply_gradients(of_state, name="optimizer_state_update"),
                ]
        with tf.control_dependencies(updates):
            if global_step is None:
                return tf.assign(state, self._projected(state), name=name)
            projection = tf.assign(state, self._projected(state), name="project")
            counted = tf.assign_add(global_step, 1, name="global_step_increment")
            return tf.group(projection, counted, name=name)


def on_simplex(values: Any, total: Any, at_most: bool) -> Any:
    """The nearest point whose elements, by the first axis, are not negative and add up to `total`, or less.

    What is too much is taken from all elements that are above zero, until none falls below it.
    """
    count = values.shape.as_list()[0]

    def shift(step: Any, values: Any, above: Any, before: Any) -> tuple[Any, ...]:
        missing = total - tf.reduce_sum(values, axis=0, keepdims=True)
        share = missing / tf.maximum(1.0, tf.reduce_sum(above, axis=0, keepdims=True))
        values += (tf.minimum(0.0, share) if at_most else share) * above
        still = tf.cast(values > 0, values.dtype)
        return step + 1, values * still, still, above

    def goes_on(step: Any, values: Any, above: Any, before: Any) -> Any:
        return tf.logical_and(step < count, tf.reduce_any(tf.not_equal(above, before)))

    all_of_them = tf.ones_like(values)
    first = shift(tf.constant(0), tf.convert_to_tensor(values), all_of_them, all_of_them)
    return tf.while_loop(goes_on, shift, first, name="euclidean_projection")[1]


@export("contrib.constrained_optimization.AdditiveExternalRegretOptimizer")
class AdditiveExternalRegretOptimizer(_TwoPlayers):
    """Lagrange multipliers: weights of the constraints that grow by what the constraints exceed.

    Args:
      optimizer: The optimizer of the model's variables.
      constraint_optimizer: The optimizer of the multipliers; the same if None.
      maximum_multiplier_radius: The greatest sum of all multipliers; None for any.

    Raises:
      ValueError: If that sum is not positive.
    """

    _state_name = "external_regret_optimizer_state"

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        maximum_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        return tf.zeros([num_constraints])

    def _loss_and_gain(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        loss = objective + tf.tensordot(tf.cast(state, proxies.dtype), proxies, 1)
        return loss, tf.cast(constraints, tf.float32)

    def _projected(self, state: Any) -> Any:
        return on_simplex(state, self._radius, at_most=True) if self._radius else tf.maximum(state, 0.0)


class _SwapRegret(_TwoPlayers):
    """The weights of loss and constraints are the distribution that a stochastic matrix does not change."""

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any:
        """The matrix, whose columns add up to 1."""

    def _distribution(self, state: Any) -> Any:
        found = tf.abs(first_eigenvector(tf.convert_to_tensor(self._stochastic_matrix(state))))
        return found / tf.reduce_sum(found)

    def _loss_and_gain(self, state: Any, objective: Any, constraints: Any, proxies: Any) -> tuple[Any, Any]:
        distribution = self._distribution(state)
        losses = tf.concat([tf.expand_dims(objective, 0), proxies], 0)
        exceeding = tf.concat([tf.zeros([1], constraints.dtype), constraints], 0)
        loss = tf.tensordot(tf.cast(distribution, losses.dtype), losses, 1)
        return loss, tf.expand_dims(tf.cast(exceeding, distribution.dtype), 1) * distribution


def first_eigenvector(matrix: Any, epsilon: float = 1e-6, most: int = 100) -> Any:
    """The eigenvector of the greatest eigenvalue, by the power method."""

    def multiply(step: Any, vector: Any, before: Any) -> tuple[Any, ...]:
        longer = tf.matmul(matrix, tf.expand_dims(vector, 1))[:, 0]
        return step + 1, longer / tf.norm(longer), vector

    def goes_on(step: Any, vector: Any, before: Any) -> Any:
        return tf.logical_and(step < most, tf.norm(vector - before) > epsilon)

    start = tf.ones_like(matrix[:, 0])
    start /= tf.norm(start)
    return tf.while_loop(goes_on, multiply, multiply(tf.constant(0), start, start), name="power_method")[1]


@export("contrib.constrained_optimization.AdditiveSwapRegretOptimizer")
class AdditiveSwapRegretOptimizer(_SwapRegret):
    """Plays for proxy constraints: the matrix of the constraints' player changes by addition.

    Args:
      optimizer: The optimizer of the model's variables.
      constraint_optimizer: The optimizer of the matrix; the same if None.
    """

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        return tf.concat([tf.ones([1, size]), tf.zeros([size - 1, size])], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _projected(self, state: Any) -> Any:
        return on_simplex(state, 1.0, at_most=False)


@export("contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer")
class MultiplicativeSwapRegretOptimizer(_SwapRegret):
    """Plays for proxy constraints: the matrix of the constraints' player changes by multiplication.

    Args:
      optimizer: The optimizer of the model's variables.
      constraint_optimizer: The optimizer of the matrix's logarithm; the same if None.
      minimum_multiplier_radius: The least part of a column that belongs to the constraints, in (0, 1).
      initial_multiplier_radius: The part at first; the least if None.

    Raises:
      ValueError: If a part is out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        constraint_optimizer: Optimizer | None = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif not minimum_multiplier_radius <= initial_multiplier_radius <= 1.0:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._least, self._first = minimum_multiplier_radius, initial_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Any:
        size = num_constraints + 1
        of_loss = math.log(1.0 - self._first * (size - 1) / size)
        of_constraints = math.log(self._first / size)
        return tf.concat([tf.fill([1, size], of_loss), tf.fill([size - 1, size], of_constraints)], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.exp(state)

    def _projected(self, state: Any) -> Any:
        least = tf.log(self._least / float(state.shape.as_list()[0]))
        return tf.maximum(tf.nn.log_softmax(state, axis=0), least)


# ---------------------------------------------------------------------------------- choosing among candidates


def _checked(objectives: Any, constraints: Any) -> tuple[np.ndarray, np.ndarray]:
    objectives, constraints = np.asarray(objectives), np.asarray(constraints)
    if constraints.shape[1:] != objectives.shape:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of "
            "candidates, and m is the number of constraints"
        )
    return objectives, constraints


@export("contrib.constrained_optimization.find_best_candidate_index")
def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> int:
    """Chooses the candidate whose worst rank over the constraints is best; of several that of least loss.

    Args:
      objective_vector: The losses of the candidates.
      constraints_matrix: The constraints' values, [constraints, candidates]; those below 0 are all alike.
      rank_objectives: Whether the rank of the loss counts as those of constraints.

    Returns:
      The number of the candidate.

    Raises:
      ValueError: If the shapes do not fit.
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    rows = [np.maximum(0.0, row) for row in constraints] + [objectives] * rank_objectives
    ranks = [np.searchsorted(np.sort(row), row) + 1 for row in rows]
    worst = np.max([np.zeros(len(objectives), np.int64), *ranks], axis=0)
    best = np.flatnonzero(worst == worst.min())
    least = objectives[best].min()
    return int(best[objectives[best] == least][-1])


@export("contrib.constrained_optimization.find_best_candidate_distribution")
def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> np.ndarray:
    """Chooses candidates at random: the distribution of least expected loss for which the constraints hold.

    If they cannot hold, the least excess is allowed. It needs SciPy.

    Args:
      objective_vector: The losses of the candidates.
      constraints_matrix: The constraints' values, [constraints, candidates].
      epsilon: How near the allowed excess comes to the least one.

    Returns:
      The probability of each candidate.

    Raises:
      ValueError: If the shapes do not fit, or `epsilon` is negative.
      ImportError: If SciPy is not installed.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    solve = _solver(objectives, constraints)
    found = solve(0.0)
    if found is not None:
        return found
    lower, upper = 0.0, float(np.min(np.amax(constraints, axis=0)))
    best = solve(upper)
    while True:
        middle = 0.5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found = solve(middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def _solver(objectives: np.ndarray, constraints: np.ndarray) -> Callable[[float], np.ndarray | None]:
    """A function from the allowed excess to the best distribution, or None where there is none."""
    from scipy.optimize import linprog  # loaded when asked for: it is no dependency

    def solve(excess: float) -> np.ndarray | None:
        ones = np.ones((1, len(objectives)))
        bounds = np.full(len(constraints), excess)
        found = linprog(objectives, constraints, bounds, ones, np.ones(1), bounds=(0, None))
        return found.x if found.success else None

    return solve
