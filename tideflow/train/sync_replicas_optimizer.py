"""`tf.train.SyncReplicasOptimizer`: replicas that take every step together.

Each variable has an accumulator beside it, and there is one queue of tokens beside the global step. A replica
puts its gradients into the accumulators, then waits for a token, which is the number of the next step. The
chief takes the mean of each accumulator once `replicas_to_aggregate` gradients are in it, updates the
variables, adds 1 to the global step, and puts out a token for every replica. A gradient that was computed at
an earlier step is dropped by its accumulator: with more replicas than a step needs, the slowest ones of each
step are backups, for whom nobody waits.

A replica that leaves puts a token into the queue for every replica: the others compute its share of this step
and, since each step puts out as many tokens as before, of every later one. For a replica that was killed the
chief does so.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.device import DeviceSpec
from tideflow.graph.errors import OpError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import GraphKeys, colocate_with, control_dependencies, device, name_scope
from tideflow.interrupts import deferred
from tideflow.ops.arrays import constants, creation
from tideflow.ops.control_flow import grouping
from tideflow.ops.state import reference_variables
from tideflow.platform import logging
from tideflow.queues.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from tideflow.queues.base import FIFOQueue
from tideflow.train.coordinator import Coordinator
from tideflow.train.moving_averages import ExponentialMovingAverage
from tideflow.train.optimizer import GradientsAndVariables, Optimizer
from tideflow.train.queue_runner import QueueRunner
from tideflow.train.session_run_hook import SessionRunHook
from tideflow.variables.base import Variable
from tideflow.variables.collections import global_variables, report_uninitialized_variables

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

ALL_THAT_A_STEP_NEEDS = -1  # a value of `num_tokens`: as many as there are gradients to aggregate
_REPLICAS = ("chief", "master", "worker")  # the jobs whose tasks train
_ROUND_SECONDS = 1.0  # how often the chief looks for replicas that are gone
_PATIENCE_ROUNDS = 3  # how often a replica may be away: it may be started again


@export("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """An optimizer that wraps another for synchronous training.

    Each step applies the mean of the gradients of several replicas.

    If `total_num_replicas` is above `replicas_to_aggregate`, the remaining replicas are backup workers, whose
    late gradients are dropped; if it is below, replicas compute several batches in a step.

    Args:
      opt: The other optimizer.
      replicas_to_aggregate: The number of gradients in a step.
      total_num_replicas: The number of replicas; `replicas_to_aggregate` if None.
      variable_averages: Moving averages to maintain.
      variables_to_average: The variables to average.
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: ExponentialMovingAverage | None = None,
        variables_to_average: Sequence[VariableLike] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ):
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        super().__init__(use_locking, name)
        logging.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s", replicas_to_aggregate, total
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._accumulator_list: list[tuple[Any, str]] = []

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Computes the gradients of this replica, with the other optimizer.

        Args:
          *args: The arguments of `tf.train.Optimizer.compute_gradients`.
          **kwargs: Its keyword arguments.

        Returns:
          A list of pairs of gradient and variable.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    # -------------------------------------------------------------------------------- the graph

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """Adds the step of a replica: it sends its gradients and waits until they are applied.

        Args:
          grads_and_vars: Pairs of gradient and variable.
          global_step: The variable that counts steps, which is required.
          name: The name of the operation.

        Returns:
          A tensor with the number of the next step.

        Raises:
          ValueError: If there are no gradients, or no global step.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._make_local_step()
        with name_scope(None, self._name):
            pushes, means = self._accumulate(grads_and_vars)
            with device(global_step.device), name_scope(""):
                train_op = self._step_together(pushes, means)
            begin = [self._set_step(accumulator, place) for accumulator, place in self._accumulator_list]
            self.chief_init_op = grouping.group(self.local_step_init_op, *begin)
        self._gradients_applied = True
        return train_op

    def _make_local_step(self) -> None:
        """The step that this replica computes gradients for. It stays with the replica: the anchor is on
        its device, whatever device is in force for variables.
        """
        anchor = constants.no_operation()
        with colocate_with(anchor):
            self._local_step = Variable(
                initial_value=0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=self._global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = reference_variables.assign(self._local_step, self._global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())

    def _accumulate(self, grads_and_vars: GradientsAndVariables) -> tuple[list, list]:
        """What puts a replica's gradients into accumulators, and (mean, variable) pairs taken out of them."""
        pushes, means = [], []
        for grad, variable in grads_and_vars:
            if grad is None:
                means.append((None, variable))
                continue
            with device(variable.device):
                accumulator, push, mean = self._accumulated(grad, variable)
            pushes.append(push)
            means.append((mean, variable))
            self._accumulator_list.append((accumulator, variable.device))
        return pushes, means

    def _accumulated(self, grad: Any, variable: Any) -> tuple[Any, Operation, Any]:
        shared_name = f"{variable.name}/grad_accum"
        if isinstance(grad, Tensor):
            dense = ConditionalAccumulator(grad.dtype, shape=variable.shape, shared_name=shared_name)
            push = dense.apply_grad(grad, local_step=self._local_step)
            return dense, push, dense.take_grad(self._replicas_to_aggregate)
        if isinstance(grad, IndexedSlices):
            sparse = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared_name)
            push = sparse.apply_indexed_slices_grad(grad, local_step=self._local_step)
            return sparse, push, sparse.take_indexed_slices_grad(self._replicas_to_aggregate)
        raise ValueError(
            f"Unknown grad type! The gradient of {variable.name} is {type(grad).__name__}, not a Tensor or "
            "IndexedSlices."
        )

    def _step_together(self, pushes: list[Operation], means: list[tuple[Any, Any]]) -> Tensor:
        """The replica's step, returned, and the chief's, which goes to a queue runner."""
        update = self._opt.apply_gradients(means, self._global_step)
        self._sync_token_queue = FIFOQueue(
            -1,
            self._global_step.dtype.base_dtype,
            shapes=(),
            name="sync_token_q",
            shared_name="sync_token_q",
        )
        # A runner closes its queue when it ends. Tokens must outlive that, so it is given another queue.
        runners_queue = FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")
        with control_dependencies(pushes):
            token = self._sync_token_queue.dequeue()
        train_op = reference_variables.assign(self._local_step, token)
        with control_dependencies([update]):
            sync_op = self._put_out_tokens(self._tokens_per_step)
        if self._variable_averages is not None:
            with control_dependencies([sync_op]):
                sync_op = self._variable_averages.apply(self._variables_to_average)
        self._chief_queue_runner = _ChiefQueueRunner(runners_queue, [sync_op])
        return train_op

    def _put_out_tokens(self, count: int) -> Operation:
        return self._sync_token_queue.enqueue_many((creation.fill([count], self._global_step),))

    def _set_step(self, accumulator: Any, place: str) -> Operation:
        with device(place):
            return accumulator.set_global_step(self._global_step, name="SetGlobalStep")

    # -------------------------------------------------------------------------------- what the chief runs

    def get_chief_queue_runner(self) -> QueueRunner:
        """The queue runner of the chief, which applies the mean gradients and lets the replicas continue.

        Raises:
          ValueError: If `apply_gradients` was not called.
        """
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = ALL_THAT_A_STEP_NEEDS) -> Operation:
        """The operation that puts the first tokens into the queue, which the chief runs once.

        Args:
          num_tokens: The number of tokens; as many as a step needs by default.

        Returns:
          The operation.

        Raises:
          ValueError: If there are too few tokens, or `apply_gradients` was not called.
        """
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == ALL_THAT_A_STEP_NEEDS:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)"
            )
        if num_tokens <= 0:
            return constants.no_operation(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._put_out_tokens(num_tokens)

    def _farewell_op(self) -> Operation:
        """An operation that puts out the tokens of a step, so that all replicas that wait for one go on."""
        with device(self._global_step.device), name_scope("farewell"):
            return self._put_out_tokens(self._tokens_per_step)

    def make_session_run_hook(
        self, is_chief: bool, num_tokens: int = ALL_THAT_A_STEP_NEEDS
    ) -> SessionRunHook:
        """Makes the hook that a MonitoredSession needs for this optimizer.

        Args:
          is_chief: Whether the hook is for the chief, whose part of each step it runs in a thread.
          num_tokens: The number of tokens at the start.

        Returns:
          The hook.
        """
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)

    # -------------------------------------------------------------------------------- the other optimizer's

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | None:
        """The slot of the other optimizer for a variable.

        Args:
          *args: The arguments of `tf.train.Optimizer.get_slot`.
          **kwargs: Its keyword arguments.

        Returns:
          The slot, or None.
        """
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the other optimizer's slots.

        Args:
          *args: Ignored.
          **kwargs: Ignored.

        Returns:
          The names.
        """
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """The variables of the other optimizer, without the local step."""
        return self._opt.variables()


class _ChiefQueueRunner(QueueRunner):
    """Runs the chief's step until training stops. Nobody waits for it then: it waits for gradients itself, of
    which none come any more, until the session ends.
    """

    _is_awaited = False


class _SyncReplicasOptimizerHook(SessionRunHook):
    """Sets the local step (the chief: those of the accumulators too), and starts the chief's part."""

    def __init__(self, sync_optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int):
        self._sync_optimizer = sync_optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._local_init_op = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._init_tokens_op = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None
        self._farewell_op = optimizer._farewell_op()

    def after_create_session(self, session: Any, coord: Coordinator) -> None:
        missing = session.run(self._sync_optimizer.ready_for_local_init_op)
        if missing.size:
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: Variables not initialized: {names}"
            )
        session.run(self._local_init_op)
        if self._is_chief:
            session.run(self._init_tokens_op)
            runner = self._sync_optimizer.get_chief_queue_runner()
            runner.create_threads(session, coord=coord, daemon=True, start=True)
            with deferred:
                threading.Thread(target=self._stand_in, args=(session, coord), daemon=True).start()

    def end(self, session: Any) -> None:
        """Releases the replicas that wait for the next step: this one gives no gradients for it any more."""
        with contextlib.suppress(OpError):  # the servers may have left first
            session.run(self._farewell_op)

    def _stand_in(self, session: Any, coord: Coordinator) -> None:
        """Says farewell for replicas that have gone without: then the others compute their share, too."""
        absences = Absences(_PATIENCE_ROUNDS)
        while not coord.wait_for_stop(_ROUND_SECONDS):
            for task in absences.noticed(filter(_is_replica, session._gone_tasks())):
                logging.warning("%s is gone: the other replicas train on without it.", task)
                with contextlib.suppress(OpError, RuntimeError):  # the session may end meanwhile
                    session.run(self._farewell_op)


class Absences:
    """Who is missed: those that were gone in so many rounds, each told of once for each time it goes."""

    def __init__(self, patience: int):
        self._patience = patience
        self._rounds: dict[str, int] = {}

    def noticed(self, gone: Iterable[str]) -> list[str]:
        """Who is missed from this round on."""
        self._rounds = {task: self._rounds.get(task, 0) + 1 for task in gone}
        return [task for task, rounds in self._rounds.items() if rounds == self._patience]


def _is_replica(task: str) -> bool:
    return DeviceSpec.from_string(task).job in _REPLICAS
