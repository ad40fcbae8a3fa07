"""`tf.contrib.mixed_precision`: an optimizer that scales the loss, and managers that say by how much."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import constants, joining
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


@export("contrib.mixed_precision.LossScaleManager")
class LossScaleManager(abc.ABC):
    """The base of loss scale managers: they know the loss scale, and adapt it."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale as a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: TensorLike) -> Any:
        """Adapts the scale after a step.

        Args:
          finite_grads: Whether all gradients of the step were finite, as a bool scalar.

        Returns:
          The operation that does so.
        """


@export("contrib.mixed_precision.FixedLossScaleManager")
class FixedLossScaleManager(LossScaleManager):
    """A loss scale that does not change.

    Args:
      loss_scale: The scale, at least 1.

    Raises:
      ValueError: If the scale is less than 1.
    """

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtypes.float32)

    def get_loss_scale(self) -> Tensor:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: TensorLike) -> Operation:
        return constants.no_operation()


@export("contrib.mixed_precision.ExponentialUpdateLossScaleManager")
class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A loss scale that grows after enough good steps in a row, and falls after enough bad ones.

    A step is bad if a gradient of it is not finite. Bad steps need not follow each other; each of them lets
    the good ones be counted anew. The scale never falls below 1, and stays where it would overflow.

    Args:
      init_loss_scale: The scale at the start.
      incr_every_n_steps: After how many good steps in a row the scale grows.
      decr_every_n_nan_or_inf: After how many bad steps it falls.
      incr_ratio: The factor by which it grows.
      decr_ratio: The factor by which it falls, less than 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        first = convert_to_tensor(init_loss_scale, dtypes.float32)
        self._loss_scale = Variable(first, trainable=False, name="loss_scale", dtype=dtypes.float32)
        self._num_good_steps = Variable(0, trainable=False, name="good_steps", dtype=dtypes.int32)
        self._num_bad_steps = Variable(0, trainable=False, name="bad_steps", dtype=dtypes.int32)

    def get_loss_scale(self) -> Any:
        """The scale, as a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: TensorLike) -> Any:
        scale, good, bad = self._loss_scale, self._num_good_steps, self._num_bad_steps

        def change(value: Any) -> Operation:
            """Gives the scale a value; both counts begin anew."""
            return grouping.group(scale.assign(value), *_zero(good, bad))

        def grow() -> Operation:
            larger = scale * self._incr_ratio
            kept = conditionals.cond(unary.is_finite(larger), lambda: larger, lambda: scale + 0.0)
            return change(kept)

        def after_good() -> Any:
            count: Callable = lambda: grouping.group(good.assign_add(1))
            return conditionals.cond(good + 1 >= self._incr_every_n_steps, grow, count)

        def shrink() -> Operation:
            return change(binary.maximum(1.0, scale * self._decr_ratio))

        def after_bad() -> Any:
            count: Callable = lambda: grouping.group(bad.assign_add(1), *_zero(good))
            return conditionals.cond(bad + 1 >= self._decr_every_n_nan_or_inf, shrink, count)

        return conditionals.cond(finite_grads, after_good, after_bad)


def _zero(*counts: Any) -> list[Any]:
    return [count.assign(0) for count in counts]


@export("contrib.mixed_precision.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """An optimizer that wraps another: it scales the loss up, and the gradients down before they are applied.

    A step whose gradients are not finite does not change the variables.

    Args:
      opt: The other optimizer.
      loss_scale_manager: What knows the scale.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager):
        super().__init__(opt._use_locking, opt.get_name())
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        """Computes the gradients of the scaled loss, and scales them back.

        Args:
          loss: As in `tf.train.Optimizer.compute_gradients`, like all that follow.
          var_list: The variables.
          gate_gradients: How gradients wait for each other.
          aggregation_method: How gradients are summed.
          colocate_gradients_with_ops: Whether gradients are placed with their operations.
          grad_loss: The gradient of the loss.

        Returns:
          A list of pairs of gradient and variable.
        """
        scale = self._loss_scale_manager.get_loss_scale()
        value = convert_to_tensor(loss() if callable(loss) else loss)
        pairs = self._opt.compute_gradients(
            value * casting.cast(scale, value.dtype.base_dtype),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        factor = unary.reciprocal(scale)
        return [
            (None if grad is None else grad * casting.cast(factor, grad.dtype.base_dtype), v)
            for grad, v in pairs
        ]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        """Applies gradients if all of them are finite, and adapts the scale.

        Args:
          grads_and_vars: The pairs that `compute_gradients` has returned.
          global_step: A variable to increment if the gradients are applied.
          name: The name of the operation.

        Returns:
          The operation.
        """
        pairs = list(grads_and_vars)
        finite = [reductions.reduce_all(unary.is_finite(grad)) for grad, _ in pairs]
        are_finite = reductions.reduce_all(joining.stack(finite))
        apply: Callable = lambda: grouping.group(self._opt.apply_gradients(pairs, global_step, name))
        update = conditionals.cond(are_finite, apply, constants.no_operation)
        return grouping.group(update, self._loss_scale_manager.update_loss_scale(are_finite))
