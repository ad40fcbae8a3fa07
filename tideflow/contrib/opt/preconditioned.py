"""Shampoo: gradients preconditioned along each of their axes (Gupta, Koren, Singer 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.contrib.opt import matrix_functions
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import colocate_with, name_scope
from tideflow.ops.arrays import creation, indexing, scatter, shapes
from tideflow.ops.control_flow import conditionals
from tideflow.ops.linalg import contraction, matmul, spectra
from tideflow.ops.math import binary, casting, powers, reductions
from tideflow.ops.state import reference_variables, variable_rows
from tideflow.platform import logging
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.ShampooOptimizer")
class ShampooOptimizer(Optimizer):
    """Steps along gradients that are multiplied, on each axis, by a power of the sum of their outer products.

    An axis longer than `max_matrix_size` has the diagonal of that matrix only. Decays, weights, intervals,
    `alpha` and the learning rate may be functions of the step.

    Args:
      global_step: How many steps were made: a variable, a tensor or a number.
      max_matrix_size: The longest axis that has a whole matrix.
      gbar_decay: The decay of the mean of gradients.
      gbar_weight: What a new gradient counts in it.
      mat_gbar_decay: The decay of the sums of outer products.
      mat_gbar_weight: What a new outer product counts in them.
      learning_rate: The learning rate.
      svd_interval: In every how many steps the powers are computed.
      precond_update_interval: In every how many steps the sums are added to.
      epsilon: Added to the diagonals.
      alpha: The sum of the exponents of all axes, with the sign changed.
      use_iterative_root: Whether powers are computed by iteration instead of decomposition.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        global_step: TensorLike = 0,
        max_matrix_size: int = 768,
        gbar_decay: Any = 0.0,
        gbar_weight: Any = 1.0,
        mat_gbar_decay: Any = 1.0,
        mat_gbar_weight: Any = 1.0,
        learning_rate: Any = 1.0,
        svd_interval: Any = 1,
        precond_update_interval: Any = 1,
        epsilon: float = 1e-4,
        alpha: Any = 0.5,
        use_iterative_root: bool = False,
        use_locking: bool = False,
        name: str = "Shampoo",
    ):
        super().__init__(use_locking, name)
        self._global_step = casting.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list[Variable]) -> None:
        for var in var_list:
            with colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for axis, size in enumerate(var.shape.as_list()):
                    length = convert_to_tensor(size)
                    if size > self._max_matrix_size:
                        start = creation.zeros([length])
                    else:
                        start = creation.zeros_like(creation.eye(length))
                        if self._svd_interval > 1:
                            self._get_or_make_slot(var, creation.eye(length), f"H_{axis}", self._name)
                    self._get_or_make_slot(var, start, f"Gbar_{axis}", self._name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return self._apply_gradient(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad: Tensor, var: Variable, indices: Tensor) -> Any:
        if var.shape.as_list()[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            sizes = shapes.shape(var, out_type=indices.dtype)
            return self._apply_gradient(scatter.scatter_nd(shapes.expand_dims(indices, 1), grad, sizes), var)
        return self._apply_gradient(grad, var, indices)

    def _apply_gradient(self, grad: Tensor, var: Variable, indices: Tensor | None = None) -> Any:
        step = self._global_step + 1
        at_step = {
            name: value(step) if callable(value) else value
            for name, value in vars(self).items()
            if name in _OF_THE_STEP
        }
        if indices is None:
            mean = self.get_slot(var, "gbar")
            weighted = at_step["_gbar_weight"] * grad
            result = _mixed(mean, self._gbar_decay, at_step["_gbar_decay"], weighted)
        else:
            if self._gbar_decay != 0.0:
                logging.warning("Not applying momentum for variable: %s", var.name)
            result = grad
        sizes = var.shape.as_list()
        exponent = -at_step["_alpha"] / len(sizes)
        for axis, size in enumerate(sizes):
            if size <= self._max_matrix_size:
                power = self._matrix_power(grad, var, axis, exponent, step, at_step)
                result = contraction.tensordot(result, power, axes=([0], [0]), name=f"precond_{axis}")
            else:
                factors = self._diagonal_power(grad, var, axis, exponent, at_step, indices)
                result = shapes.transpose(result, perm=[*range(1, len(sizes)), 0]) * factors
        rate = at_step["_learning_rate"]
        if indices is not None:
            return variable_rows.scatter_add(var, indices, -rate * result)
        return reference_variables.assign_sub(var, rate * result)

    def _matrix_power(
        self, grad: Tensor, var: Variable, axis: int, exponent: Any, step: Tensor, at_step: dict[str, Any]
    ) -> Tensor:
        """The power of the mean outer product along an axis; the gradient's is added when it is time."""
        total, sizes = self.get_slot(var, f"Gbar_{axis}"), var.shape.as_list()
        interval = at_step["_precond_update_interval"]
        others = [other for other in range(len(sizes)) if other != axis]

        def added() -> Tensor:
            outer = contraction.tensordot(grad, grad, axes=(others, others), name=f"grad_outer_{axis}")
            weighted = at_step["_mat_gbar_weight"] * interval * outer
            return _mixed(total, self._mat_gbar_decay, at_step["_mat_gbar_decay"], weighted)

        is_time = binary.mod(step, interval) < 1
        mean = conditionals.cond(is_time, added, lambda: convert_to_tensor(total)) / float(sizes[axis])
        if self._svd_interval == 1:
            return self._power(mean, sizes[axis], exponent)
        kept = self.get_slot(var, f"H_{axis}")

        def computed() -> Tensor:
            return convert_to_tensor(
                reference_variables.assign(kept, self._power(mean, sizes[axis], exponent))
            )

        is_time = binary.mod(step, at_step["_svd_interval"]) < 1
        return conditionals.cond(is_time, computed, lambda: convert_to_tensor(kept))

    def _power(self, matrix: Tensor, size: int, exponent: Any) -> Tensor:
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_functions.matrix_square_root(matrix, size, 100, self._epsilon)
                return matrix_functions.matrix_inverse_pth_root(root, size, 2 * exponent, ridge_epsilon=0.0)
            if size == 1:
                return powers.pow(matrix + self._epsilon, exponent)
            damping = self._epsilon * creation.eye(casting.cast(size, dtypes.int32))
            values, u, v = spectra.svd(matrix + damping, full_matrices=True)
            scaled = v * powers.pow(binary.maximum(values, self._epsilon), exponent)
            return matmul.matmul(scaled, shapes.transpose(u))

    def _diagonal_power(
        self,
        grad: Tensor,
        var: Variable,
        axis: int,
        exponent: Any,
        at_step: dict[str, Any],
        indices: Tensor | None,
    ) -> Tensor:
        """The same for an axis of which only the diagonal is kept; of its rows `indices` alone, if given."""
        total, sizes = self.get_slot(var, f"Gbar_{axis}"), var.shape.as_list()
        others = [other for other in range(len(sizes)) if other != axis]
        squares = grad * grad
        if others:
            count = 1.0 if indices is not None else float(sizes[axis])
            squares = reductions.reduce_sum(squares, axis=others) / count
        weighted = at_step["_mat_gbar_weight"] * squares
        if axis == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise ValueError("mat_gbar_decay must be 1 for sparse gradients of a long first axis")
            sums = indexing.gather(variable_rows.scatter_add(total, indices, weighted), indices)
        else:
            sums = _mixed(total, self._mat_gbar_decay, at_step["_mat_gbar_decay"], weighted)
        return indexing.where(binary.greater(sums, 0), powers.pow(sums, exponent), creation.zeros_like(sums))


_OF_THE_STEP = {
    "_gbar_decay",
    "_gbar_weight",
    "_mat_gbar_decay",
    "_mat_gbar_weight",
    "_learning_rate",
    "_svd_interval",
    "_precond_update_interval",
    "_alpha",
}


def _mixed(var: Variable, decay: Any, decay_now: Any, new: Tensor) -> Tensor:
    """`decay * var + new`, which becomes the variable's value, unless nothing of it stays."""
    if decay == 0.0:
        return new
    if decay == 1.0:
        return convert_to_tensor(reference_variables.assign_add(var, new))
    return convert_to_tensor(var.assign_add((decay_now - 1) * var + new))
