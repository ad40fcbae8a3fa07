"""Loss scales: in half precision small gradients vanish, unless the loss is multiplied before and they are
divided after. The scale is fixed, or grows until gradients overflow.
"""

from __future__ import annotations

import abc
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import executing_eagerly
from tideflow.ops.arrays import constants, joining
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import Gradient, TensorLike, VariableLike


@export("train.experimental.LossScale")
class LossScale(Trackable, abc.ABC):
    """The base of loss scales.

    A loss is multiplied by the scale, so that small gradients do not vanish in float16.
    """

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """The current scale as a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads: Sequence[Gradient | None]) -> tuple[Operation, Any]:
        """Adapts the scale to the gradients of a step.

        Args:
          grads: The gradients.

        Returns:
          An operation that adapts the scale, and whether the gradients may be applied, as a bool or a tensor.
        """

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """Makes a loss scale from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The loss scale.
        """
        return cls(**config)


@export("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A loss scale that does not change.

    Args:
      loss_scale_value: The scale, at least 1.

    Raises:
      ValueError: If the scale is less than 1.
    """

    def __init__(self, loss_scale_value: float):
        if not isinstance(loss_scale_value, numbers.Real):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Sequence[Gradient | None]) -> tuple[Operation, bool]:
        return constants.no_operation(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}


@export("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A loss scale that adapts to the gradients.

    A gradient that is not finite divides the scale by `multiplier`, and its step is skipped. After
    `increment_period` steps without such gradients the scale is multiplied by `multiplier`.

    Args:
      initial_loss_scale: The scale at the start.
      increment_period: The number of steps after which the scale grows.
      multiplier: The factor.
    """

    def __init__(
        self, initial_loss_scale: float = 2**15, increment_period: int = 2000, multiplier: float = 2.0
    ):
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = _state("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = _state("good_steps", 0, dtypes.int64)

    def __repr__(self) -> str:
        given = {name: str(value) for name, value in self.get_config().items()}
        if executing_eagerly():
            state = zip(("current_loss_scale", "num_good_steps"), self._states(), strict=True)
            given = {**{name: str(value.numpy()) for name, value in state}, **given}
        return f"DynamicLossScale({', '.join(map('='.join, given.items()))})"

    def _states(self) -> list[Any]:
        return [self._current_loss_scale, self._num_good_steps]

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("current_loss_scale", self._current_loss_scale), ("good_steps", self._num_good_steps)]

    @property
    def initial_loss_scale(self) -> float:
        """The scale at the start."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """The number of steps after which the scale grows."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """The factor by which the scale changes."""
        return self._multiplier

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Sequence[Gradient | None]) -> tuple[Operation, Tensor]:
        is_finite = _all_finite(nest.flatten(grads))
        scale, good = self._current_loss_scale, self._num_good_steps

        def grow() -> Operation:
            larger = scale * self._multiplier
            kept = conditionals.cond(
                unary.is_finite(larger), lambda: larger, lambda: convert_to_tensor(scale)
            )
            return grouping.group(scale.assign(kept), good.assign(0))

        def count() -> Operation:
            return conditionals.cond(
                good + 1 >= self._increment_period, grow, lambda: grouping.group(good.assign_add(1))
            )

        def shrink() -> Operation:
            return grouping.group(good.assign(0), scale.assign(binary.maximum(scale / self._multiplier, 1.0)))

        return conditionals.cond(is_finite, count, shrink), is_finite

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }


def _state(name: str, value: Any, dtype: Any) -> Variable:
    return Variable(value, name=name, dtype=dtype, trainable=False, use_resource=True)


def _all_finite(grads: Iterable[Any]) -> Tensor:
    found = [reductions.reduce_all(unary.is_finite(_values(g))) for g in grads if g is not None]
    return reductions.reduce_all(joining.stack(found))


def _values(grad: Any) -> Tensor:
    return grad.values if isinstance(grad, IndexedSlices) else grad


def loss_scale_of(identifier: Any) -> LossScale:
    """A loss scale from itself, a number, or the word "dynamic"."""
    if isinstance(identifier, numbers.Real):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")


@export("train.experimental.MixedPrecisionLossScaleOptimizer")
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that wraps another: it scales the loss up, and the gradients down before they are applied.

    A step whose gradients are not finite does not change the variables.

    Args:
      opt: The other optimizer.
      loss_scale: A LossScale, a number for a fixed scale, or `"dynamic"`.

    Raises:
      ValueError: If `opt` is not an optimizer.
    """

    def __init__(self, opt: Optimizer, loss_scale: LossScale | float | str):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

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
        pairs = self._optimizer.compute_gradients(
            self._scaled(loss),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        factor = 1 / self._loss_scale()
        return [(_times(grad, factor), variable) for grad, variable in pairs]

    def _scaled(self, loss: Any) -> Any:
        def scaled(value: Tensor) -> Tensor:
            return value * casting.cast(self._loss_scale(), value.dtype)

        return (lambda: scaled(loss())) if callable(loss) else scaled(loss)

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
        update, should_apply = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Operation:
            return self._optimizer.apply_gradients(pairs, global_step, name)

        if should_apply is True:
            return grouping.group(apply(), update)
        self._optimizer._create_slots([variable for grad, variable in pairs if grad is not None])
        step: Callable = lambda: grouping.group(apply())
        return grouping.group(conditionals.cond(should_apply, step, constants.no_operation), update)

    def get_slot(self, var: VariableLike, name: str) -> Any:
        """The slot of the other optimizer for a variable.

        Args:
          var: The variable.
          name: The name of the slot.

        Returns:
          The slot, or None.
        """
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the other optimizer's slots."""
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Variable]:
        """The variables of the other optimizer."""
        return self._optimizer.variables()


def _times(grad: Any, factor: Tensor) -> Any:
    if grad is None:
        return None
    scaled = _values(grad) * casting.cast(factor, _values(grad).dtype)
    return (
        IndexedSlices(scaled, grad.indices, grad.dense_shape) if isinstance(grad, IndexedSlices) else scaled
    )
