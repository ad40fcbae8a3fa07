"""AGN: workers train on variables of their own, and now and then apply their mean gradient to a shared center
(accumulated gradient normalization, Hermans et al., 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.graph.scopes import GraphKeys, colocate_with, control_dependencies, device
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import binary
from tideflow.ops.state import reference_variables
from tideflow.train.optimizer import Optimizer
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.variables.base import Variable
from tideflow.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
    trainable_variables,
)
from tideflow.variables.variable_scope import get_variable, variable_creator_scope

CENTER = "global_center_variable"
GRADIENT = "grad_variable"


@export("contrib.opt.AGNCustomGetter")
class AGNCustomGetter:
    """For `variable_scope`: a trained variable is the worker's; it has a sum of gradients, a shared center.

    Args:
      worker_device: The device of the worker's variables.
    """

    def __init__(self, worker_device: str):
        self._worker_device = worker_device
        self._global_map: dict[Variable, Variable] = {}
        self._grad_map: dict[Variable, Variable] = {}

    def __call__(
        self, getter: Callable, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not trainable:
            return getter(name, *args, trainable=trainable, collections=collections, **kwargs)

        def made(name: str, trainable: bool, collection: str) -> Any:
            return getter(name, *args, trainable=trainable, collections=[collection], **kwargs)

        with device(self._worker_device):
            local = made(name, True, GraphKeys.LOCAL_VARIABLES)
        if kwargs["reuse"] is True:
            return local
        center = made(f"{CENTER}/{name}", False, GraphKeys.GLOBAL_VARIABLES)
        with device(self._worker_device):
            gradient = made(f"{GRADIENT}/{name}", False, GraphKeys.LOCAL_VARIABLES)
        parts = [
            [each] if kwargs["partitioner"] is None else list(each) for each in (local, center, gradient)
        ]
        for part, part_center, part_gradient in zip(*parts, strict=True):
            self._global_map[part] = part_center
            self._grad_map[part] = part_gradient
        return local


@export("contrib.opt.AGNOptimizer")
class AGNOptimizer(Optimizer):
    """Another optimizer on the worker's variables; its mean gradient goes to the center every few steps.

    Args:
      optimizer: The optimizer.
      num_worker: How many workers there are.
      custom_getter: The `AGNCustomGetter` that made the variables.
      communication_period: In every how many steps of a worker it meets the center.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map
        self._local_step = get_variable(
            initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="local_step"
        )
        self._opt._prepare()

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """A step of the worker, and a meeting with the center when it is time.

        Args:
          grads_and_vars: Pairs of gradient and variable.
          global_step: A variable to increment at each meeting.
          name: Unused.

        Returns:
          The operation.
        """
        pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
        with variable_creator_scope(_made_local):
            updates = [self._opt.apply_gradients(pairs)]
        sums = [self._grad_map[var] for _, var in pairs]
        updates += [reference_variables.assign_add(total, grad) for total, (grad, _) in zip(sums, pairs)]

        def meet() -> Operation:
            return self._meet([var for _, var in pairs], sums, global_step)

        counted = reference_variables.assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([counted]):
            is_time = binary.equal(binary.mod(self._local_step, self._period), 0)
        with control_dependencies(updates):
            return conditionals.cond(is_time, meet, constants.no_operation)

    def _meet(self, local: list[Variable], sums: list[Variable], global_step: Any) -> Operation:
        centers = [self._global_map[var] for var in local]
        means = [reference_variables.assign(total, total / self._period) for total in sums]
        with control_dependencies(means):
            applied = self._opt.apply_gradients(zip(sums, centers))
        with control_dependencies([applied]):
            updates = []
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(reference_variables.assign_add(global_step, 1))
            updates += [
                reference_variables.assign(var, center.read_value()) for var, center in zip(local, centers)
            ]
            updates += [reference_variables.assign(total, creation.zeros_like(total)) for total in sums]
            return grouping.group(*updates)

    def get_init_op(self, task_index: int) -> Operation:
        """The operation that makes the worker's variables equal to their centers, and the sums zero.

        Args:
          task_index: The number of the worker.

        Returns:
          The operation.

        Raises:
          ValueError: If there are no variables.
        """
        local = trainable_variables()
        if not local:
            raise ValueError("there are no trainable variables made by AGNCustomGetter")
        starts = [reference_variables.assign(var, self._global_map[var]) for var in local]
        sums = [self._grad_map[var] for var in local]
        starts += [reference_variables.assign(total, creation.zeros_like(total)) for total in sums]
        return grouping.group(*starts)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """The hook that runs `get_init_op` where a session is made.

        Args:
          is_chief: Whether this worker is the chief.
          task_index: The number of the worker.

        Returns:
          The hook.
        """
        return _AGNOptimizerHook(self, is_chief, task_index)


def _made_local(next_creator: Callable, collections: Any = None, **kwargs: Any) -> Any:
    """Slots of the worker's variables are the worker's."""
    names = list(collections or ()) or [GraphKeys.LOCAL_VARIABLES]
    if GraphKeys.GLOBAL_VARIABLES in names:
        names.append(GraphKeys.LOCAL_VARIABLES)
        names.remove(GraphKeys.GLOBAL_VARIABLES)
    return next_creator(collections=names, **kwargs)


class _AGNOptimizerHook(SessionRunHook):
    def __init__(self, optimizer: AGNOptimizer, is_chief: bool, task_index: int):
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._task_index = task_index

    def begin(self) -> None:
        self._local_init_op = local_variables_initializer()
        self._global_init_op = global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._variable_init_op)
