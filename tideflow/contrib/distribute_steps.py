"""`tf.contrib.distribute`: training steps as objects, what runs them, and what strategies are told."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import ConfigProto

from tideflow.cluster.cluster_spec import ClusterSpec
from tideflow.cluster.server import Server
from tideflow.distribute import context
from tideflow.distribute.reductions import AllReduceCrossDeviceOps
from tideflow.distribute.strategy import Strategy
from tideflow.eager.gradient_functions import implicit_gradients
from tideflow.export import export
from tideflow.graph.errors import OutOfRangeError
from tideflow.graph.scopes import executing_eagerly
from tideflow.variables.collections import global_variables_initializer


@export("contrib.distribute.Step")
class Step:
    """A step of training: an object that is called for each.

    Args:
      distribution: The strategy.
    """

    def __init__(self, distribution: Strategy):
        self._distribution = distribution

    @property
    def distribution(self) -> Strategy:
        """The strategy."""
        return self._distribution

    def initialize(self) -> Any:
        """What has to run before the first step: a list of operations."""
        return []

    def __call__(self) -> Any:
        """Runs a step, in a graph: makes the operation that does."""
        raise NotImplementedError("must be implemented in descendants")


@export("contrib.distribute.StandardInputStep")
class StandardInputStep(Step):
    """A step that takes its input from a dataset.

    Args:
      dataset_fn: A function without arguments that returns the dataset.
      distribution: The strategy.
    """

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Strategy):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        """What begins with the first element of the dataset."""
        return self._iterator.initialize()


@export("contrib.distribute.StandardSingleLossStep")
class StandardSingleLossStep(StandardInputStep):
    """A step that lowers one loss.

    Args:
      dataset_fn: A function without arguments that returns the dataset.
      loss_fn: A function of a context and of a replica's input that returns the loss.
      optimizer: The optimizer.
      distribution: The strategy.
      iterations_per_step: How many batches a step takes.
    """

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[[Any, Any], Any],
        optimizer: Any,
        distribution: Strategy,
        iterations_per_step: int = 1,
    ):
        super().__init__(dataset_fn, distribution)
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        """Runs a step, in a graph: makes the operation that does."""
        gradients = implicit_gradients(self._loss_fn)

        def on_replica(steps: Any, inputs: Any) -> Any:
            pairs = gradients(steps, inputs)
            return self._optimizer.apply_gradients([pair for pair in pairs if pair[0] is not None])

        def step(steps: Any, inputs: Any) -> Any:
            return self.distribution.extended.call_for_each_replica(on_replica, args=(steps, inputs))

        with self.distribution.scope():
            steps = self.distribution.extended.experimental_run_steps_on_iterator(
                step, self._iterator, self._iterations_per_step
            )
        return steps.run_op


@export("contrib.distribute.Monitor")
class Monitor:
    """Runs steps.

    Args:
      step_callable: The `tf.contrib.distribute.Step`.
      session: The session, in graph mode.

    Raises:
      ValueError: If a session is missing in graph mode, or is given in eager mode.
    """

    def __init__(self, step_callable: Any, session: Any = None):
        if executing_eagerly():
            if session is not None:
                raise ValueError("Should not provide a `session` in Eager mode.")
            self._run_step = step_callable
            return
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        self._run_step = session.make_callable(step_callable())
        session.run(global_variables_initializer())

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs steps until the input ends.

        Args:
          num_steps: How many at most; no limit if None.
        """
        done = 0
        with contextlib.suppress(OutOfRangeError):
            while num_steps is None or done < num_steps:
                self._run_step()
                done += 1


@export("contrib.distribute.DistributeConfig")
class DistributeConfig(NamedTuple):
    """The strategies of an estimator, for `experimental_distribute` of `tf.estimator.RunConfig`.

    Attributes:
      train_distribute: The strategy of the training.
      eval_distribute: The strategy of the evaluation.
      remote_cluster: The cluster, if this process is not one of its tasks.
    """

    train_distribute: Strategy | None = None
    eval_distribute: Strategy | None = None
    remote_cluster: Any = None


@export("contrib.distribute.UpdateContext")
class UpdateContext:
    """Context manager: code changes the copy of a variable, as in `update` of a strategy.

    Args:
      device: The device of the copy.
    """

    def __init__(self, device: Any):
        self._device = device
        self._entered: Any = None

    def __enter__(self) -> None:
        mode = context.current()
        self._entered = context.entered(mode._replace(replica=None, updated=0))
        self._entered.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._entered.__exit__(*error)


@export("contrib.distribute.MultiWorkerAllReduce")
class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """Reduces values so that all devices of several workers have the result.

    Args:
      worker_devices: The devices of the workers.
      num_gpus_per_worker: How many GPUs a worker has.
      all_reduce_spec: Which algorithm sums tensors up to which size: a name, or a tuple of a name, of a
        number of shards and of a size, or a list of such tuples. Sums do not depend on it.
      num_packs: Into how many packs gradients are put together; accepted for TensorFlow's sake.
      agg_small_grads_max_bytes: Accepted for TensorFlow's sake.
      agg_small_grads_max_group: Accepted for TensorFlow's sake.

    Raises:
      ValueError: If a tuple has another number of elements.
    """

    def __init__(
        self,
        worker_devices: Sequence[str],
        num_gpus_per_worker: int,
        all_reduce_spec: Any = ("pscpu/pscpu", 2, -1),
        num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):
        super().__init__("nccl", num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group)
        self._worker_devices = worker_devices
        self._num_gpus_per_worker = num_gpus_per_worker
        if not isinstance(all_reduce_spec, str):
            for spec in all_reduce_spec if isinstance(all_reduce_spec, list) else [all_reduce_spec]:
                _check_spec(spec)
        self._all_reduce_spec = all_reduce_spec


def _check_spec(spec: Any) -> None:
    if not isinstance(spec, tuple):
        raise ValueError(f"A tuple is expected for all-reduce spec: {spec!r}")
    if not spec or len(spec) > 3:
        raise ValueError(f"Too many elements in the all-reduce spec tuple: {spec!r}")


@export("contrib.distribute.run_standard_tensorflow_server")
def run_standard_tensorflow_server(session_config: ConfigProto | None = None) -> Server:
    """Starts the server of this task, as the environment's TF_CONFIG says.

    Args:
      session_config: The configuration of the server's devices.

    Returns:
      The `tf.distribute.Server`, started.

    Raises:
      ValueError: If TF_CONFIG lacks the cluster or the task.
    """
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "cluster" not in told:
        raise ValueError('"cluster" is not found in TF_CONFIG.')
    cluster = ClusterSpec(told["cluster"])
    if "task" not in told:
        raise ValueError('"task" is not found in TF_CONFIG.')
    if "type" not in told["task"]:
        raise ValueError('"task_type" is not found in the `task` part of TF_CONFIG.')
    if not {"chief", "worker"}.intersection(cluster.jobs):
        raise ValueError("You must have `chief` or `worker` jobs in the `cluster_spec`.")
    config = ConfigProto()
    if session_config is not None:
        config.CopyFrom(session_config)
    leader = "chief" if "chief" in cluster.jobs else "worker"
    config.experimental.collective_group_leader = f"/job:{leader}/replica:0/task:0"
    kind, index = told["task"]["type"], int(told["task"].get("index", 0))
    return Server(cluster, kind, index, told.get("rpc_layer", "grpc"), config)
