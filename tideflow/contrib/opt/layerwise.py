"""A rate for each layer: steps in proportion to the weights (You, Gitman, Ginsburg 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import indexing
from tideflow.ops.linalg import norms
from tideflow.ops.math import casting
from tideflow.train.optimizers import MomentumOptimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.LARSOptimizer")
class LARSOptimizer(MomentumOptimizer):
    """Momentum whose rate is scaled, variable by variable, by the norm of weights over that of gradients.

    Variables whose names contain a word of `skip_list` have the rate as it is, and no weight decay.

    Args:
      learning_rate: The learning rate.
      momentum: The share of the last step that the next one keeps.
      weight_decay: How much of the weights is added to gradients.
      eeta: The factor of the ratio of norms.
      epsilon: A small number that keeps divisors from zero.
      name: The name of the optimizer.
      skip_list: Words; variables whose names contain one are not scaled.
      use_nesterov: Whether Nesterov's momentum is used.
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        momentum: TensorLike = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Tensor, var: Variable) -> tuple[Any, Tensor]:
        """The rate of one variable, and its gradient with weight decay.

        Args:
          grad: The gradient.
          var: The variable.

        Returns:
          The rate and the gradient.
        """
        rate = self._learning_rate
        if self._skip_list is not None and any(word in var.name for word in self._skip_list):
            return rate, grad
        weights, slope = norms.norm(var, ord=2), norms.norm(grad, ord=2)
        ratio = self._eeta * weights / (slope + self._weight_decay * weights + self._epsilon)
        trust = indexing.where(weights > 0, indexing.where(slope > 0, ratio, 1.0), 1.0)
        return rate * trust, grad + self._weight_decay * var

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply(self._law.dense, var, **self._scaled(grad, var))

    def _resource_apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply(self._law.resource, var, **self._scaled(grad, var))

    def _scaled(self, grad: Tensor, var: Variable) -> dict[str, Tensor]:
        """Momentum adds up gradients that are scaled already: the rate may be another in each step."""
        rate, grad = self.compute_lr(grad, var)
        return {"lr": casting.cast(1.0, var.dtype.base_dtype), "grad": grad * rate}
