"""Optimizers around another one: that drop what comes late, skip what is zero, clip what was changed."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, control_dependencies, name_scope
from tideflow.ops.arrays import constants, indexing, shapes
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary, casting, clipping, reductions
from tideflow.platform import logging
from tideflow.summary import functions as summary
from tideflow.train.optimizer import Optimizer
from tideflow.variables.base import Variable
from tideflow.variables.global_step import get_global_step
from tideflow.variables.initializers import Zeros
from tideflow.variables.variable_scope import get_variable


class Around(Optimizer):
    """An optimizer whose gradients and slots are another's, `self._opt`."""

    def __init__(self, opt: Optimizer, use_locking: bool, name: str):
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The other optimizer's."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        return self._opt.get_slot_names(*args, **kwargs)


@export("contrib.opt.DropStaleGradientOptimizer")
class DropStaleGradientOptimizer(Around):
    """Another optimizer, without the gradients that too many other steps have overtaken.

    The variable `stale_counter` counts what was dropped.

    Args:
      opt: The optimizer.
      staleness: By how much the global step may have grown since a gradient's computation began.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    def __init__(
        self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"
    ):
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss: Tensor, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The other optimizer's; the global step is read before.

        Args:
          loss: What is to become small.
          *args: Further arguments of the other optimizer's `compute_gradients`.
          **kwargs: The same, by name.

        Returns:
          Pairs of gradient and variable.
        """
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            return self._opt.compute_gradients(constants.identity(loss), *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The other optimizer's step where the gradients are not stale.

        Args:
          grads_and_vars: Pairs of gradient and variable, of `compute_gradients`.
          global_step: The variable that counts the steps of all workers.
          name: A name for the operation of the other optimizer's step.

        Returns:
          How many times gradients were dropped so far; the step is made where this is computed.
        """
        pairs = list(grads_and_vars)
        with colocate_with(global_step):
            dropped = get_variable("stale_counter", [], initializer=Zeros(), trainable=False)

        def accept() -> Tensor:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return constants.identity(0.0)

        computed = [grad if isinstance(grad, Tensor) else grad.op for grad, _ in pairs if grad is not None]
        with control_dependencies(computed), colocate_with(global_step):
            staleness = shapes.reshape(global_step - self._local_step, shape=())
        is_fresh = binary.less_equal(staleness, self._staleness)
        update = dropped.assign_add(conditionals.cond(is_fresh, accept, lambda: constants.identity(1.0)))
        share = dropped / casting.cast(global_step + 1, dtypes.float32)
        summary.scalar("Gradient staleness percentage", share)
        return update


@export("contrib.opt.MultitaskOptimizerWrapper")
class MultitaskOptimizerWrapper:
    """Makes an optimizer leave variables and slots alone in steps where their gradient is zero.

    For models in which a step trains one of several tasks: momentum does not go on for the others.

    Args:
      opt: The optimizer.

    Raises:
      TypeError: If `opt` is not an optimizer.
    """

    def __init__(self, opt: Optimizer):
        if not isinstance(opt, Optimizer):
            raise TypeError(
                f"Supplied optimizer must be an instance of tf.train.Optimizer, but is {type(opt)}"
            )
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, types.MethodType(_unless_zero(getattr(opt, name)), opt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def _unless_zero(apply: Callable) -> Callable:
    def wrapper(self: Optimizer, grad: Any, *args: Any, **kwargs: Any) -> Any:
        def applied() -> Operation:
            with control_dependencies([apply(grad, *args, **kwargs)]):
                return constants.no_operation()

        return conditionals.cond(is_all_zeros(grad), constants.no_operation, applied)

    return wrapper


def is_all_zeros(grad: Any) -> Tensor:
    """Whether no element of a gradient differs from zero."""
    return binary.equal(reductions.count_nonzero(grad), 0)


@export("contrib.opt.VariableClippingOptimizer")
class VariableClippingOptimizer(Around):
    """Another optimizer, after each of whose steps variables are scaled to a norm of at most `max_norm`.

    Args:
      opt: The optimizer.
      vars_to_clip_dims: Which variables are clipped, and for each the axes whose norm counts.
      max_norm: The largest norm.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      colocate_clip_ops_with_vars: Whether the norms are computed where the variables are.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: dict[Any, list[int]],
        max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ):
        super().__init__(opt, use_locking, name)
        self._vars_to_clip_dims = {var: dims[:] for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """The other optimizer's step, then the clipping.

        Args:
          grads_and_vars: Pairs of gradient, or None, and variable.
          global_step: A variable to increment, if any.
          name: A name for the operation.

        Returns:
          The operation.
        """
        pairs = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            updates = [self._opt.apply_gradients(pairs, global_step=global_step)]
            with control_dependencies(updates[:]):
                for grad, var in pairs:
                    if grad is not None and var in self._vars_to_clip_dims:
                        with name_scope(f"clip_{var.op.name}"):
                            updates.append(self._clipped(grad, var))
            return grouping.group(*updates, name=scope)

    def _clipped(self, grad: Any, var: Variable) -> Any:
        dims = self._vars_to_clip_dims[var]
        if isinstance(grad, Tensor):
            return self._clip_all(var, dims)
        if 0 in dims:
            logging.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.",
                dims,
                var.op.name,
            )
            return self._clip_all(var, dims)
        with colocate_with(var):
            rows = indexing.gather(var, grad.indices)
        with self._perhaps_beside(var):
            excess = rows - clipping.clip_by_norm(rows, self._max_norm, dims)
            delta = IndexedSlices(excess, grad.indices, grad.dense_shape)
        with colocate_with(var):
            return var.scatter_sub(delta, use_locking=self._use_locking)

    def _clip_all(self, var: Variable, dims: list[int]) -> Any:
        with self._perhaps_beside(var):
            value = var.read_value()
            excess = value - clipping.clip_by_norm(value, self._max_norm, dims)
        with colocate_with(var):
            return var.assign_sub(excess, use_locking=self._use_locking)

    @contextlib.contextmanager
    def _perhaps_beside(self, var: Variable) -> Iterator[None]:
        with colocate_with(var) if self._colocate_clip_ops_with_vars else contextlib.nullcontext():
            yield
