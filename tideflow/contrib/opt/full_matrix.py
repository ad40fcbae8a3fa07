"""GGT: gradients divided by the root of their covariance over a window of steps (Agarwal et al., 2018)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies
from tideflow.ops.arrays import creation, diagonals, shapes
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.linalg import matmul, spectra
from tideflow.ops.math import binary, casting, powers, reductions, unary
from tideflow.ops.state import reference_variables, variable_rows
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.opt.GGTOptimizer")
class GGTOptimizer(Optimizer):
    """Full-matrix adaptive regularization, made cheap by keeping the gradients of a few steps only.

    Args:
      learning_rate: The learning rate: a number, a tensor, or a function that returns one of these.
      beta1: The decay of the mean of gradients.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
      window: How many steps are kept.
      eps: Directions count beside those of the window only where its least root is above this.
      svd_eps: Added to the diagonal before the decomposition.
      sigma_eps: Added to the roots before they divide.
    """

    def __init__(
        self,
        learning_rate: TensorLike | Callable[[], TensorLike] = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: Any = 1e-4,
        svd_eps: Any = 1e-6,
        sigma_eps: Any = 1e-2,
    ):
        super().__init__(use_locking, name)
        self._hyper = {
            "lr": learning_rate,
            "beta1": beta1,
            "eps": eps,
            "svd_eps": svd_eps,
            "sigma_eps": sigma_eps,
        }
        self._window = window
        self._places: dict[str, tuple[int, int]] = {}  # of a variable's elements among those of all

    def _create_slots(self, var_list: list[Variable]) -> None:
        start = 0
        for var in sorted(var_list, key=lambda v: v.name):
            stop = start + math.prod(var.shape.as_list())
            self._places[var.name] = start, stop
            start = stop
        first = min(var_list, key=lambda v: v.name)
        dtype = first.dtype.base_dtype
        starts = {
            "global_step": casting.cast(0.0, dtype),
            "grad_buffer": creation.zeros([self._window, start], dtype),
            "moment1": creation.zeros((start,), dtype),
            "flat_grad": creation.zeros((start,), dtype),
        }
        for name, value in starts.items():
            self._create_non_slot_variable(value, name, first)

    def _prepare(self) -> None:
        self._updated: list[Variable] = []

    def _flat(self, name: str) -> Any:
        return self._get_non_slot_variable(name)

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        self._updated.append(var)
        places = creation.range(*self._places[var.name])
        return variable_rows.scatter_update(self._flat("flat_grad"), places, shapes.reshape(grad, [-1]))

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _number(self, name: str) -> Tensor:
        value = self._call_if_callable(self._hyper[name])
        return casting.cast(convert_to_tensor(value), self._updated[0].dtype.base_dtype)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        """All gradients are there: one step for all variables together."""
        with control_dependencies(update_ops):
            step = self._step()
            rate = self._number("lr")
            updates = []
            for var in self._updated:
                start, stop = self._places[var.name]
                change = rate * shapes.reshape(step[start:stop], var.shape)
                updates.append(reference_variables.assign_sub(var, change))
        return grouping.group(*updates, name=name_scope)

    def _step(self) -> Tensor:
        dtype = self._updated[0].dtype.base_dtype
        count = self._flat("global_step").assign_add(1.0)
        beta1, moment = self._number("beta1"), self._flat("moment1")
        moment = moment.assign(beta1 * moment + (1.0 - beta1) * self._flat("flat_grad"))
        row = binary.floormod(casting.cast(count - 1.0, dtypes.int32), self._window)
        rows = variable_rows.scatter_update(self._flat("grad_buffer"), row, moment)
        seen = binary.minimum(convert_to_tensor(count), casting.cast(self._window, dtype))
        window = shapes.transpose(rows / unary.sqrt(seen))
        gram = matmul.matmul(window, window, transpose_a=True)
        damping = casting.cast(creation.eye(self._window), dtype) * self._number("svd_eps")
        sigma, u, _ = spectra.svd(gram + damping)
        root = unary.sqrt(sigma)
        least = reductions.reduce_min(root)
        moment = shapes.expand_dims(moment, -1)

        def scaled(factors: Tensor) -> Tensor:
            """The part of the moment in the window's directions, each times a factor."""
            inside = matmul.matmul(u, matmul.matmul(window, moment, transpose_a=True), transpose_a=True)
            return matmul.matmul(window, matmul.matmul(u, matmul.matmul(diagonals.diag(factors), inside)))

        one = casting.cast(1.0, dtype)
        head = scaled(one / powers.pow(root + self._number("sigma_eps"), 3))
        tail = (moment - scaled(one / sigma)) / least
        return conditionals.cond(least > self._number("eps"), lambda: head + tail, lambda: head + 0)
