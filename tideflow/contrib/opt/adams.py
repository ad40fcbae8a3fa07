"""Relatives of Adam: with Nesterov's momentum, with the largest gradient, with rows that rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies
from tideflow.ops.arrays import indexing
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, unary
from tideflow.ops.state import reference_variables, training
from tideflow.train.optimizers import AdamOptimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016).

    Args:
      learning_rate: The learning rate.
      beta1: The decay of the running mean of gradients.
      beta2: The decay of the second running mean.
      epsilon: A small number that keeps divisors from zero.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    def _attributes(self) -> dict[str, Any]:
        return {"use_nesterov": True}

    def _apply_sparse_shared(
        self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: Callable[..., Tensor]
    ) -> Operation:
        """All running means decay; the rows that have a gradient move."""
        powers = (self._input(name, var) for name in ("beta1_power", "beta2_power"))
        rate, beta1, beta2, epsilon = (self._number(n, var) for n in ("lr", "beta1", "beta2", "epsilon"))
        beta1_power, beta2_power = (convert_to_tensor(power) for power in powers)
        rate = rate * unary.sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        with control_dependencies([reference_variables.assign(m, m * beta1, use_locking=self._use_locking)]):
            mean = scatter_add(m, indices, scaled)
            ahead = scaled + beta1 * indexing.gather(mean, indices)
        squares = (grad * grad) * (1 - beta2)
        with control_dependencies([reference_variables.assign(v, v * beta2, use_locking=self._use_locking)]):
            square = scatter_add(v, indices, squares)
        root = unary.sqrt(indexing.gather(square, indices))
        return grouping.group(scatter_add(var, indices, -rate * ahead / (root + epsilon)), ahead, square)


def _set_rows(variable: Variable, indices: Tensor, rows: Tensor) -> Any:
    return variable.scatter_update(IndexedSlices(rows, indices))


class _RowwiseAdam(AdamOptimizer):
    """An Adam that touches, for a sparse gradient, nothing but the rows that it has."""

    def _row_step(self, grad: Tensor, var: Variable, indices: Tensor) -> tuple[Tensor, list[Any]]:
        """What is added to the rows of the variable, and the updates of the slots."""
        raise NotImplementedError

    def _apply_rows(self, grad: Tensor, var: Variable, indices: Tensor) -> Operation:
        step, slots = self._row_step(grad, var, indices)
        return grouping.group(var.scatter_add(IndexedSlices(step, indices)), *slots)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_rows(grad, handle, indices)

    def _power(self, name: str, var: Variable) -> Tensor:
        return self._input(name, var) * 1


@export("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(_RowwiseAdam):
    """Adam whose running means, too, change only in the rows that a sparse gradient has.

    Args:
      learning_rate: The learning rate.
      beta1: The decay of the running mean of gradients.
      beta2: The decay of the second running mean.
      epsilon: A small number that keeps divisors from zero.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    def _row_step(self, grad: Tensor, var: Variable, indices: Tensor) -> tuple[Tensor, list[Any]]:
        rate, beta1, beta2, epsilon = (self._number(n, var) for n in ("lr", "beta1", "beta2", "epsilon"))
        rate = rate * unary.sqrt(1 - self._power("beta2_power", var)) / (1 - self._power("beta1_power", var))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = beta1 * indexing.gather(m, indices) + (1 - beta1) * grad
        square = beta2 * indexing.gather(v, indices) + (1 - beta2) * unary.square(grad)
        slots = [_set_rows(m, indices, mean), _set_rows(v, indices, square)]
        return -rate * mean / (unary.sqrt(square) + epsilon), slots


@export("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(_RowwiseAdam):
    """Adam with the largest recent gradient in place of the mean square (Kingma, Ba 2014, section 7).

    Args:
      learning_rate: The learning rate.
      beta1: The decay of the running mean of gradients.
      beta2: The decay of the second running mean.
      epsilon: A small number that keeps divisors from zero.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    _law = training.ada_max

    def __init__(
        self,
        learning_rate: TensorLike = 0.001,
        beta1: TensorLike = 0.9,
        beta2: TensorLike = 0.999,
        epsilon: TensorLike = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> tuple[Variable | None, None]:
        return super()._get_beta_accumulators()[0], None

    def _create_slots(self, var_list: list[Variable]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _row_step(self, grad: Tensor, var: Variable, indices: Tensor) -> tuple[Tensor, list[Any]]:
        rate, beta1, beta2, epsilon = (self._number(n, var) for n in ("lr", "beta1", "beta2", "epsilon"))
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = indexing.gather(m, indices) * beta1 + grad * (1 - beta1)
        largest = binary.maximum(indexing.gather(v, indices) * beta2, unary.abs(grad))
        slots = [_set_rows(m, indices, mean), _set_rows(v, indices, largest)]
        return -rate / (1 - self._power("beta1_power", var)) * (mean / (largest + epsilon)), slots

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            power, _ = self._get_beta_accumulators()
            with colocate_with(power):
                update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return grouping.group(*update_ops, update, name=name_scope)
