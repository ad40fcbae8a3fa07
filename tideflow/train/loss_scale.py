"""Loss scales: in half precision small gradients vanish, unless the loss is multiplied before and they are
divided after. The scale is fixed, or grows until gradients overflow.
"""

from __future__ import annotations

import abc
import numbers
from collections.abc import Callable, Iterable
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.arrays import constants, joining
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Trackable


@export("train.experimental.LossScale")
class LossScale(Trackable, abc.ABC):
    """The base of loss scales: called it is the scale, and `update` says what gradients make of it."""

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """The current scale, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Operation, Any]:
        """An operation that adapts the scale, and whether the gradients are fit to be applied."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        return cls(**config)


@export("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A scale that does not change."""

    def __init__(self, loss_scale_value: float):
        if not isinstance(loss_scale_value, numbers.Real):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Operation, bool]:
        return constants.no_operation(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}


@export("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A scale that grows after `increment_period` steps with finite gradients, and shrinks after others."""

    def __init__(
        self, initial_loss_scale: float = 2**15, increment_period: int = 2000, multiplier: float = 2.0
    ):
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = _state("current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = _state("good_steps", 0, dtypes.int64)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("current_loss_scale", self._current_loss_scale), ("good_steps", self._num_good_steps)]

    @property
    def initial_loss_scale(self) -> float:
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        return self._increment_period

    @property
    def multiplier(self) -> float:
        return self._multiplier

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Operation, Tensor]:
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


def _loss_scale(identifier: Any) -> LossScale:
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
    """Another optimizer with the loss scaled up, and the gradients scaled down before they are applied."""

    def __init__(self, opt: Optimizer, loss_scale: Any):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = _loss_scale(loss_scale)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """The other optimizer's gradients, of the scaled loss and scaled back."""
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
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None, name: str | None = None
    ) -> Operation:
        """The other optimizer's step, unless a gradient is not finite; then only the scale is adapted."""
        pairs = list(grads_and_vars)
        update, should_apply = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Operation:
            return self._optimizer.apply_gradients(pairs, global_step, name)

        if should_apply is True:
            return grouping.group(apply(), update)
        self._optimizer._create_slots([variable for grad, variable in pairs if grad is not None])
        step: Callable = lambda: grouping.group(apply())
        return grouping.group(conditionals.cond(should_apply, step, constants.no_operation), update)

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Variable]:
        return self._optimizer.variables()


def _times(grad: Any, factor: Tensor) -> Any:
    if grad is None:
        return None
    scaled = _values(grad) * casting.cast(factor, _values(grad).dtype)
    return (
        IndexedSlices(scaled, grad.indices, grad.dense_shape) if isinstance(grad, IndexedSlices) else scaled
    )
