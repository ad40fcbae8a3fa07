"""An optimizer that scales the loss, so that small gradients do not vanish in float16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.layers.keras_session import track_variable
from tideflow.ops.control_flow.conditionals import smart_cond
from tideflow.train.loss_scale import LossScale, loss_scale_of

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("keras.mixed_precision.experimental.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """An optimizer that multiplies the loss and divides the gradients, and leaves out steps that overflow.

    Args:
      opt: The optimizer of Keras that updates the variables.
      loss_scale: The loss scale, a number, or `"dynamic"`.

    Raises:
      ValueError: If `opt` is no optimizer of Keras, or bounds gradients.
    """

    def __init__(self, opt: Optimizer, loss_scale: LossScale | float | str):
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for bound in ("clipnorm", "clipvalue"):
            if hasattr(opt, bound):
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {bound}. Optimizer "
                    f"{opt} has {bound} {getattr(opt, bound)}"
                )
        object.__setattr__(self, "_hyper", {})
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)
        for _, variable in self._loss_scale._checkpoint_dependencies:
            track_variable(variable)

    @property
    def loss_scale(self) -> LossScale:
        """The loss scale."""
        return self._loss_scale

    def get_scaled_loss(self, loss: Any) -> Any:
        """Multiplies a loss by the scale.

        Args:
          loss: The loss, or a function without arguments that computes it.

        Returns:
          The scaled loss, or a function that computes it.
        """
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * tf.cast(self._loss_scale(), loss.dtype)

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """Divides gradients by the scale.

        Args:
          grads: The gradients of a scaled loss; None where there is none.

        Returns:
          The gradients.
        """
        factor = 1.0 / self._loss_scale()

        def divided(grad: Any) -> Any:
            if isinstance(grad, IndexedSlices):
                return IndexedSlices(divided(grad.values), grad.indices, grad.dense_shape)
            return None if grad is None else grad * tf.cast(factor, grad.dtype)

        return [divided(grad) for grad in grads]

    def get_gradients(self, loss: TensorLike, params: Sequence[Any]) -> list[Any]:
        """Computes the gradients of a loss.

        Args:
          loss: The loss.
          params: The variables.

        Returns:
          The gradients.
        """
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def minimize(self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None) -> Any:
        """Makes the operation that changes variables so that a loss gets smaller.

        Args:
          loss: A function without arguments that computes the loss.
          var_list: The variables, or a function that gives them.
          grad_loss: The gradient of the loss itself; one if None.
          name: The name of the operation.

        Returns:
          The operation.
        """
        with tf.GradientTape() as tape:
            value = self.get_scaled_loss(loss)()
        params = list(var_list() if callable(var_list) else var_list)
        grads = self.get_unscaled_gradients(tape.gradient(value, params, output_gradients=grad_loss))
        return self.apply_gradients(zip(grads, params, strict=True), name=name)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Makes the operation that applies gradients, if none of them has overflowed, and adapts the scale.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          name: The name of the operation.

        Returns:
          The operation.
        """
        pairs, inner = list(grads_and_vars), self._optimizer
        adapt, finite = self._loss_scale.update([grad for grad, _ in pairs])
        with tf.name_scope(inner._name):  # variables cannot be made inside of a branch
            inner.iterations  # noqa: B018
            inner._create_hypers()
            inner._create_slots([variable for grad, variable in pairs if grad is not None])
        if tf.executing_eagerly():
            return inner.apply_gradients(pairs, name=name) if bool(finite) else None
        applied = smart_cond(finite, lambda: inner.apply_gradients(pairs, name=name), tf.no_op)
        return tf.group(applied, adapt)

    @property
    def iterations(self) -> Any:
        """The count of updates."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the optimizer inside."""
        return self._optimizer.learning_rate

    @property
    def lr(self) -> Any:
        """The learning rate of the optimizer inside."""
        return self._optimizer.lr

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("lr", "learning_rate"):
            self._optimizer.learning_rate = value
        else:
            object.__setattr__(self, name, value)

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot of a variable.

        Args:
          var: The variable.
          slot_name: The name of the slot.

        Returns:
          The slot's variable, or None.
        """
        return self._optimizer.get_slot(var, slot_name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._optimizer.get_slot_names()

    @property
    def weights(self) -> list[Any]:
        """The variables of the optimizer inside."""
        return self._optimizer.weights

    def variables(self) -> list[Any]:
        """The variables of the optimizer inside."""
        return self._optimizer.weights

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    def get_config(self) -> dict[str, Any]:
        """It has no config in TensorFlow 1.15 either.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("get_config() is not yet implemented for LossScaleOptimizers")

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """It has no config in TensorFlow 1.15 either.

        Args:
          config: Not used.
          custom_objects: Not used.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("from_config() is not yet implemented for LossScaleOptimizers")
