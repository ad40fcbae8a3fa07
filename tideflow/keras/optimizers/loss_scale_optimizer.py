"""Keras's optimizers with a scaled loss, for mixed precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.keras.optimizers.optimizer import Optimizer
from tideflow.layers.keras_session import track_variable
from tideflow.train.loss_scale import LossScale, loss_scale_of
from tideflow.train.mixed_precision import scale_losses_of

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("keras.mixed_precision.experimental.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """An optimizer that wraps another: it scales the loss up, and the gradients down before they are applied.

    A step whose gradients are not finite does not change the variables. Who computes gradients with a
    `tf.GradientTape` scales the loss by `get_scaled_loss` and the gradients by `get_unscaled_gradients`.

    Args:
      opt: The other optimizer, one of `tf.keras.optimizers` without `clipnorm` and `clipvalue`.
      loss_scale: A `tf.train.experimental.LossScale`, a number for a fixed scale, or `"dynamic"`.

    Raises:
      ValueError: If `opt` is not such an optimizer.
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
        super().__init__(opt._name)
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)
        for _, weight in self._loss_scale._checkpoint_dependencies:
            track_variable(weight)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    @property
    def loss_scale(self) -> LossScale:
        """The loss scale."""
        return self._loss_scale

    def get_scaled_loss(self, loss: TensorLike | Callable[[], TensorLike]) -> Any:
        """Multiplies a loss by the scale.

        Args:
          loss: The loss, or a function that computes it.

        Returns:
          The scaled loss, or a function that computes it.
        """

        def scaled(value: Any) -> Any:
            return value * tf.cast(self._loss_scale(), value.dtype)

        return (lambda: scaled(loss())) if callable(loss) else scaled(loss)

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """Divides gradients of a scaled loss by the scale.

        Args:
          grads: The gradients; None where there is none.

        Returns:
          A list of gradients.
        """
        factor = 1.0 / self._loss_scale()

        def unscaled(grad: Any) -> Any:
            if isinstance(grad, IndexedSlices):
                return IndexedSlices(unscaled(grad.values), grad.indices, grad.dense_shape)
            return None if grad is None else grad * tf.cast(factor, grad.dtype)

        return [unscaled(grad) for grad in grads]

    def get_gradients(self, loss: TensorLike, params: Sequence[Any]) -> list[Any]:
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def _compute_gradients(
        self,
        loss: Callable[[], Any],
        var_list: Sequence[Any] | Callable[[], Sequence[Any]],
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        grads, variables = [grad for grad, _ in pairs], [var for _, var in pairs]
        return list(zip(self.get_unscaled_gradients(grads), variables, strict=True))

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Applies gradients if all of them are finite, and adapts the scale.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          name: The name of the operation.

        Returns:
          The operation.
        """
        pairs = list(grads_and_vars)
        with tf.name_scope(self._name):  # variables are made here: the branch below cannot make any
            self.iterations  # noqa: B018 - the count is the first variable of an optimizer
            self._optimizer._create_hypers()
            self._optimizer._create_slots([var for grad, var in pairs if grad is not None])
        update, may_apply = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Any:
            return self._optimizer.apply_gradients(pairs, name)

        if tf.executing_eagerly():
            return apply() if bool(may_apply) else None
        if may_apply is True:
            return tf.group(apply(), update)
        return tf.group(tf.cond(may_apply, lambda: tf.group(apply()), tf.no_op), update)

    @property
    def iterations(self) -> Any:
        """The number of updates of the other optimizer, a variable."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the other optimizer."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._optimizer.learning_rate = value

    @property
    def lr(self) -> Any:
        """Another name of `learning_rate`."""
        return self._optimizer.learning_rate

    def get_slot(self, var: Any, slot_name: str) -> Any:
        return self._optimizer.get_slot(var, slot_name)

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        return self._optimizer.variables()

    @property
    def weights(self) -> list[Any]:
        """The weights of the other optimizer."""
        return self._optimizer.weights

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name, as dictionaries."""
        scale = self._loss_scale
        return {
            "optimizer": tf.keras.optimizers.serialize(self._optimizer),
            "loss_scale": {"class_name": type(scale).__name__, "config": scale.get_config()},
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> LossScaleOptimizer:
        """Makes an optimizer from the result of `get_config`.

        Args:
          config: The arguments by name.
          custom_objects: The program's own optimizers and loss scales, by class name.

        Returns:
          The optimizer.
        """
        scale, experimental = config["loss_scale"], tf.train.experimental
        kind = (custom_objects or {}).get(scale["class_name"]) or getattr(experimental, scale["class_name"])
        optimizer = tf.keras.optimizers.deserialize(config["optimizer"], custom_objects)
        return cls(optimizer, kind.from_config(scale["config"]))


scale_losses_of(Optimizer, LossScaleOptimizer)
