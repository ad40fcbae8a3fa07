"""Replicas that train on variables of their own and meet now and then: model averaging, elastic averaging.

A custom getter makes each trainable variable local to its worker, and a global one beside it, the center, on
the parameter servers. The optimizers take local steps; every so many of them a worker and the center meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    control_dependencies,
    device,
    get_collection_ref,
    name_scope,
)
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow import conditionals, grouping
from tideflow.ops.math import adding, binary
from tideflow.ops.nn import normalization
from tideflow.ops.state import reference_variables
from tideflow.queues.accumulators import ConditionalAccumulator
from tideflow.queues.base import FIFOQueue
from tideflow.train.optimizer import GradientsAndVariables, Optimizer
from tideflow.train.saveables import names_of
from tideflow.train.saver import Saver
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.variables.base import Variable
from tideflow.variables.collections import global_variables, trainable_variables
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

GLOBAL_CENTER = "global_center_variable"
LOCAL_CENTER = "local_center_variable"


def _local_step() -> Variable:
    """Counts the steps of this worker."""
    return get_variable(
        initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="local_step"
    )


def _on_device_of_collection(
    getter: Callable, worker_device: str, name: str, collections: Any, args: tuple, kwargs: dict
) -> Any:
    """A variable that is not trained: a local one is the worker's."""
    if GraphKeys.LOCAL_VARIABLES not in (collections or ()):
        return getter(name, *args, trainable=False, collections=collections, **kwargs)
    with device(worker_device):
        return getter(name, *args, trainable=False, collections=collections, **kwargs)


def _at_every(local_step: Variable, interval: int, meet: Callable[[], Operation]) -> Any:
    """`meet` where the local step is a multiple of the interval."""
    is_time = binary.equal(binary.mod(local_step, interval), 0)
    return conditionals.cond(is_time, meet, constants.no_operation)


# ------------------------------------------------------------------------------------------ model averaging


@export("contrib.opt.ModelAverageCustomGetter")
class ModelAverageCustomGetter:
    """For `variable_scope`: what is trained is local to the worker, and has a center on parameter servers.

    Args:
      worker_device: The device of the local variables.
    """

    def __init__(self, worker_device: str):
        self._worker_device = worker_device
        self._local_2_global: dict[Variable, Variable] = {}

    def __call__(
        self, getter: Callable, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not trainable:
            return _on_device_of_collection(getter, self._worker_device, name, collections, args, kwargs)
        with device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        self._local_2_global[local] = Variable(
            name=f"{GLOBAL_CENTER}/{name}",
            initial_value=local.initialized_value(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )
        return local


@export("contrib.opt.ModelAverageOptimizer")
class ModelAverageOptimizer(Optimizer):
    """Another optimizer on local variables; every `interval_steps` steps all workers wait for each other, and
    go on from the mean of their variables.

    Args:
      opt: The optimizer of the local variables.
      num_worker: The number of workers.
      is_chief: Whether this worker is the chief.
      ma_custom_getter: The ModelAverageCustomGetter that the variables were made with.
      interval_steps: The number of steps between two averages.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._accumulator_list: list[tuple[ConditionalAccumulator, str]] = []
        self._chief_init_op: Operation | None = None
        self._local_step = _local_step()
        self._opt._prepare()

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """The other optimizer's.

        Args:
          args: Arguments of the other optimizer's.
          kwargs: Its keyword arguments.

        Returns:
          Pairs of a gradient and its variable.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Any:
        """Makes a local step and, when it is time, the meeting of all workers.

        Args:
          grads_and_vars: Pairs of a gradient and its variable.
          global_step: The global step, which counts the meetings.
          name: The name scope of the operations.

        Returns:
          The operation.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        with control_dependencies([self._opt.apply_gradients(grads_and_vars)]):
            counted = reference_variables.assign_add(self._local_step, 1, name="local_step_update").op
        trained = [variable for grad, variable in grads_and_vars if grad is not None]
        with control_dependencies([counted]):
            update = _at_every(
                self._local_step, self._interval_steps, lambda: self._meet(trained, global_step)
            )
        begin = []
        for accumulator, place in self._accumulator_list:
            with device(place):
                begin.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = grouping.group(*begin)
        return update

    def _meet(self, local_variables: list[Variable], global_step: Any) -> Operation:
        """The chief takes the mean of what all bring, and lets the others go; all go on from the center."""
        centers = [self._local_2_global[variable] for variable in local_variables]
        with colocate_with(global_step):
            queue = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        with name_scope(None, f"{self._name}/global"):
            brought = [self._bring(*pair, global_step) for pair in zip(local_variables, centers)]
        pushes, means = [push for push, _ in brought], [mean for _, mean in brought]
        if self._is_chief:
            with control_dependencies(pushes):
                updates = [_assign_on_its_device(center, mean) for center, mean in zip(centers, means)]
                with device(global_step.device):
                    updates.append(reference_variables.assign_add(global_step, 1))
            with control_dependencies(updates), device(global_step.device):
                tokens = creation.fill([self._num_worker - 1], constants.constant(False))
                met = queue.enqueue_many(tokens)
        else:
            with control_dependencies(pushes), device(global_step.device):
                met = queue.dequeue()
        with control_dependencies([met]):
            return self._local_vars_update(local_variables)

    def _bring(self, variable: Variable, center: Variable, global_step: Any) -> tuple[Operation, Tensor]:
        with device(center.device):
            accumulator = ConditionalAccumulator(
                variable.dtype.base_dtype, shape=variable.shape, shared_name=f"{center.name}/var_accum"
            )
            push = accumulator.apply_grad(variable._ref(), local_step=global_step)
            mean = accumulator.take_grad(self._num_worker)
        self._accumulator_list.append((accumulator, center.device))
        return push, mean

    def _local_vars_update(self, var_list: Sequence[Variable]) -> Operation:
        """Local variables become what their centers are."""
        if not var_list:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for variable in var_list:
            with device(variable.device):
                updates.append(
                    reference_variables.assign(variable, self._local_2_global[variable].read_value())
                )
        return grouping.group(*updates)

    def get_init_op(self) -> Operation:
        """Local variables begin as their centers."""
        return self._local_vars_update(trainable_variables())

    def make_session_run_hook(self) -> SessionRunHook:
        """The hook that makes a session ready."""
        return _ModelAverageHook(self, self._is_chief)


class _ModelAverageHook(SessionRunHook):
    """Begins with the center; the chief sets the accumulators' step too."""

    def __init__(self, optimizer: ModelAverageOptimizer, is_chief: bool):
        self._optimizer, self._is_chief = optimizer, is_chief

    def begin(self) -> None:
        self._begin_op = self._optimizer.get_init_op()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._is_chief and self._optimizer._chief_init_op is not None:
            session.run(self._optimizer._chief_init_op)
        session.run(self._begin_op)


def _assign_on_its_device(variable: Variable, value: Tensor) -> Any:
    with device(variable.device):
        return reference_variables.assign(variable, value)


# ---------------------------------------------------------------------------------------- elastic averaging


@export("contrib.opt.ElasticAverageCustomGetter")
class ElasticAverageCustomGetter:
    """For `variable_scope`: what is trained is local to the worker, and has a center on parameter servers and
    a local copy of that.

    Args:
      worker_device: The device of the local variables.
    """

    def __init__(self, worker_device: str):
        self._worker_device = worker_device
        self._local_map: dict[Variable, Variable] = {}
        self._global_map: dict[Variable, Variable] = {}

    def __call__(
        self, getter: Callable, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if not trainable:
            return _on_device_of_collection(getter, self._worker_device, name, collections, args, kwargs)
        mine = [GraphKeys.LOCAL_VARIABLES]
        with device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=mine, **kwargs)
        if kwargs["reuse"] is True:
            return local
        center = getter(
            f"{GLOBAL_CENTER}/{name}",
            *args,
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            **kwargs,
        )
        with device(self._worker_device):
            copy = getter(f"{LOCAL_CENTER}/{name}", *args, trainable=False, collections=mine, **kwargs)
        is_whole = kwargs["partitioner"] is None
        parts = [[variable] if is_whole else list(variable) for variable in (local, copy, center)]
        for part, its_copy, its_center in zip(*parts):
            self._local_map[part], self._global_map[part] = its_copy, its_center
        return local


@export("contrib.opt.ElasticAverageOptimizer")
class ElasticAverageOptimizer(Optimizer):
    """Another optimizer on local variables, tied to a center: every `communication_period` steps a worker and
    the center move towards each other by `moving_rate` of their difference (Zhang, Choromanska, LeCun 2015).

    Args:
      opt: The optimizer of the local variables.
      num_worker: The number of workers.
      ea_custom_getter: The ElasticAverageCustomGetter that the variables were made with.
      communication_period: The number of steps between two meetings of a worker and the center.
      moving_rate: The share of the difference by which both move; `0.9 / num_worker / communication_period`
        if None.
      rho: The factor of the distance from the center in the loss; `moving_rate` over the learning rate if
        None.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      synchronous: Whether all workers meet the center at the same time.
      name: The name of the optimizer.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._synchronous = synchronous
        self._moving_rate = (
            self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        )
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = _local_step()
        self._opt._prepare()

    def compute_gradients(
        self,
        loss: TensorLike,
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        """The gradients of the loss and of the distance from the center.

        Args:
          loss: The loss, a scalar.
          var_list: The variables; all trainable ones if None.
          gate_gradients: As of `Optimizer.compute_gradients`.
          aggregation_method: As of `Optimizer.compute_gradients`.
          colocate_gradients_with_ops: Whether gradients are computed where their operations are.
          grad_loss: The gradient by the loss; 1 if None.

        Returns:
          Pairs of a gradient and its variable.
        """
        trained = var_list or trainable_variables()
        copies = [self._local_map[variable] for variable in trained]
        away = [binary.subtract(*pair) for pair in zip(trainable_variables(), copies)]
        distance = self._rho * adding.add_n([normalization.l2_loss(difference) for difference in away])
        return self._opt.compute_gradients(
            loss + distance,
            trained,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Any:
        """Makes a local step and, when it is time, the meeting with the center.

        Args:
          grads_and_vars: Pairs of a gradient and its variable.
          global_step: The global step, which counts the meetings.
          name: The name scope of the operations.

        Returns:
          The operation.
        """
        before = set(global_variables())
        applied = self._opt.apply_gradients(grads_and_vars)
        _make_local([variable for variable in global_variables() if variable not in before])
        with control_dependencies([applied]):
            counted = reference_variables.assign_add(self._local_step, 1, name="local_step_update").op
        trained = [variable for grad, variable in grads_and_vars if grad is not None]
        with control_dependencies([counted]):
            return _at_every(self._local_step, self._period, lambda: self._meet(trained, global_step))

    def _meet(self, local_variables: list[Variable], global_step: Any) -> Operation:
        centers = [self._global_map[variable] for variable in local_variables]
        copies = [self._local_map[variable] for variable in local_variables]
        fetched = [copy.assign(center) for copy, center in zip(copies, centers)]
        away, updates = [], []
        with control_dependencies(fetched):
            for variable, copy in zip(local_variables, copies):
                with device(variable.device):
                    away.append(binary.subtract(variable, copy))
            for move, variables in (
                (reference_variables.assign_sub, local_variables),
                (reference_variables.assign_add, centers),
            ):
                for variable, difference in zip(variables, away):
                    with device(variable.device):
                        updates.append(move(variable, binary.multiply(self._moving_rate, difference)))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(reference_variables.assign_add(global_step, 1))
        return grouping.group(*updates)

    def get_init_op(self, task_index: int) -> Operation:
        """Makes the operation with which local variables begin as their centers; if `synchronous`, when all
        workers do.

        Args:
          task_index: The index of this worker.

        Returns:
          The operation.
        """
        local = trainable_variables()
        if not local:
            raise ValueError(
                "The lists of local_variables, global_center_variables, local_center_variables should not be "
                "empty  "
            )
        begin = []
        for variable in local:
            center = self._global_map[variable]
            begin += [
                reference_variables.assign(variable, center),
                reference_variables.assign(self._local_map[variable], center),
            ]
        begun = grouping.group(*begin)
        return self._wait_for_all(begun, task_index) if self._synchronous else begun

    def _wait_for_all(self, begun: Operation, task_index: int) -> Operation:
        """Each worker has a queue, into which every other puts a word when it has begun."""
        queues = [
            FIFOQueue(
                self._num_worker, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{worker}"
            )
            for worker in range(self._num_worker)
        ]
        word = constants.constant(False)
        with control_dependencies([begun]):
            said = [
                constants.no_operation() if worker == task_index else queue.enqueue(word)
                for worker, queue in enumerate(queues)
            ]
        return grouping.group(*said, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """The hook that makes a session ready.

        Args:
          is_chief: Whether this worker is the chief.
          task_index: The index of this worker.

        Returns:
          The hook.
        """
        return _ElasticAverageOptimizerHook(self, task_index)

    def swapping_saver(
        self, var_list: Sequence[VariableLike] | None = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Saver:
        """A saver that saves the centers under the names of the variables they belong to.

        Args:
          var_list: The variables; all if None.
          name: The name scope of the saver.
          kwargs: Arguments of `tf.train.Saver`.

        Returns:
          The Saver.
        """
        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model created and "
                "ElasticAverageCustomGetter is used when declaring you model"
            )
        named = names_of(trainable_variables() if var_list is None else var_list)
        return Saver({key: self._center(value) for key, value in named.items()}, name=name, **kwargs)

    def _center(self, value: Any) -> Any:
        if isinstance(value, list):  # the parts of a variable
            return [self._global_map.get(part, part) for part in value]
        return self._global_map.get(value, value)


class _ElasticAverageOptimizerHook(SessionRunHook):
    """Begins with the center."""

    def __init__(self, optimizer: ElasticAverageOptimizer, task_index: int):
        self._optimizer, self._task_index = optimizer, task_index

    def begin(self) -> None:
        self._begin_op = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._begin_op)


def _make_local(variables: Sequence[Variable]) -> None:
    """What the other optimizer made for itself (Adam's powers) is the worker's own."""
    kept = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    for variable in variables:
        add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
        kept.remove(variable)
