"""Functions run as the tasks of a cluster, by threads of one client or by a process for each task."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.contrib.distribute_steps import run_standard_tensorflow_server as run_standard_tensorflow_server
from tideflow.platform import logging
from tideflow.programs.inner.train.cluster_tasks import normalize_cluster_spec
from tideflow.train.monitored_session import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from tideflow.train.worker_context import _worker_context, get_current_worker_context


class _TaskType:
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
    CLIENT = "client"


class CoordinatorMode:
    """Who calls the worker function: one client for all tasks, or each task for itself."""

    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


class _Barrier:
    """Holds threads until so many are there, again and again."""

    def __init__(self, num_participants: int):
        self._barrier = threading.Barrier(num_participants) if num_participants else None

    def wait(self) -> None:
        if self._barrier is not None:
            self._barrier.wait()


def _get_num_workers(cluster_spec: Any) -> int:
    if not cluster_spec:
        return 0
    return sum(len(cluster_spec.as_dict().get(job, ())) for job in (_TaskType.WORKER, _TaskType.CHIEF))


class _WorkerContext:
    """What one task is and does, while its thread runs the worker function."""

    def __init__(
        self,
        strategy: Any,
        cluster_spec: Any,
        task_type: str | None,
        task_id: int | None,
        session_config: Any = None,
        rpc_layer: str = "grpc",
        worker_barrier: _Barrier | None = None,
    ):
        self._strategy, self._cluster_spec = strategy, cluster_spec
        self.task_type, self.task_id = task_type, task_id
        self._session_config, self._rpc_layer = session_config, rpc_layer
        self._worker_barrier = worker_barrier
        self.master_target = self._get_master_target()
        self.num_workers = _get_num_workers(cluster_spec)
        self.is_chief = self._is_chief()

    def _debug_message(self) -> str:
        if not self._cluster_spec:
            return "[local]"
        task = f"task_type: {self.task_type!r}, task_id: {self.task_id!r}"
        return f"[cluster_spec: {self._cluster_spec!r}, {task}]"

    def __enter__(self) -> None:
        if get_current_worker_context():
            raise ValueError(
                f"You cannot run distribute coordinator in a `worker_fn`.\t{self._debug_message()}"
            )
        _worker_context.current = self

    def __exit__(self, *error: Any) -> None:
        _worker_context.current = None

    def _get_master_target(self) -> str:
        if not self._cluster_spec:
            return ""
        job, task = self.task_type, self.task_id
        if not job:
            job, task = _TaskType.CHIEF if _TaskType.CHIEF in self._cluster_spec.jobs else _TaskType.WORKER, 0
        prefix = f"{self._rpc_layer}://" if self._rpc_layer else ""
        return prefix + self._cluster_spec.job_tasks(job)[task or 0]

    def _is_chief(self) -> bool:
        if not self._cluster_spec or self.task_type in (_TaskType.CHIEF, _TaskType.EVALUATOR, None):
            return True
        first_worker = self.task_type == _TaskType.WORKER and self.task_id == 0
        return first_worker and _TaskType.CHIEF not in self._cluster_spec.jobs

    def wait_for_other_workers(self) -> None:
        """Returns when all workers have come here."""
        if self._worker_barrier is not None:
            self._worker_barrier.wait()

    def session_creator(
        self,
        scaffold: Any = None,
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        max_wait_secs: float = 7200,
    ) -> SessionCreator:
        """Who makes the sessions of this task: it initializes the model, or waits for the one that does."""
        merged = self._session_config
        if config:
            merged = copy.deepcopy(config)
            if self._session_config is not None:
                merged.MergeFrom(self._session_config)
        if not self._strategy or self._strategy.extended.experimental_should_init:
            return ChiefSessionCreator(
                scaffold, self.master_target, merged, checkpoint_dir, checkpoint_filename_with_path
            )
        return WorkerSessionCreator(scaffold, self.master_target, merged, max_wait_secs)

    @property
    def session_config(self) -> Any:
        """A copy of the configuration of the task's sessions."""
        return copy.deepcopy(self._session_config)

    @property
    def has_barrier(self) -> bool:
        """Whether workers can wait for each other."""
        return self._worker_barrier is not None

    @property
    def distributed_mode(self) -> bool:
        """Whether the task trains in a cluster."""
        return bool(self._cluster_spec) and self.task_type != _TaskType.EVALUATOR

    @property
    def cluster_spec(self) -> Any:
        """A copy of the cluster's description."""
        return copy.deepcopy(self._cluster_spec)

    @property
    def experimental_should_init(self) -> bool:
        """Whether the task initializes the model."""
        return self._strategy.extended.experimental_should_init

    @property
    def should_checkpoint(self) -> bool:
        """Whether the task writes checkpoints."""
        return self._strategy.extended.should_checkpoint

    @property
    def should_save_summary(self) -> bool:
        """Whether the task writes summaries."""
        return self._strategy.extended.should_save_summary


def _run_single_worker(
    worker_fn: Callable,
    strategy: Any,
    cluster_spec: Any,
    task_type: str | None,
    task_id: int | None,
    session_config: Any,
    rpc_layer: str = "",
    worker_barrier: _Barrier | None = None,
    coord: Any = None,
) -> Any:
    """What the function returns as this task, with a strategy that knows the task."""
    session_config, strategy = copy.deepcopy(session_config), copy.deepcopy(strategy)
    if task_type != _TaskType.EVALUATOR:
        strategy.configure(session_config, cluster_spec, task_type, task_id)
    elif strategy:
        strategy.configure(session_config)
    context = _WorkerContext(
        strategy, cluster_spec, task_type, task_id, session_config, rpc_layer, worker_barrier
    )
    with context:
        if coord is None:
            return worker_fn(strategy)
        with coord.stop_on_exception():
            return worker_fn(strategy)


def _split_cluster_for_evaluator(cluster_spec: Any, task_type: str | None) -> Any:
    """The evaluator is a cluster of its own, and no part of the others'."""
    jobs = normalize_cluster_spec(cluster_spec).as_dict()
    alone = task_type == _TaskType.EVALUATOR
    return normalize_cluster_spec(
        {job: tasks for job, tasks in jobs.items() if (job == _TaskType.EVALUATOR) == alone}
    )


_thread_local = threading.local()


def _run_std_server(
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = None,
    environment: str | None = None,
) -> Any:
    """The server of a task, started; of one thread, always the same."""
    asked = (cluster_spec, task_type, task_id, repr(session_config), rpc_layer, environment)
    if getattr(_thread_local, "server", None) is not None:
        if _thread_local.asked != asked:
            raise ValueError(f"This thread has a server of another task: {_thread_local.asked}, not {asked}.")
        return _thread_local.server
    server = tf.train.Server(
        _split_cluster_for_evaluator(cluster_spec, task_type),
        job_name=task_type,
        task_index=task_id,
        config=session_config,
        protocol=rpc_layer,
    )
    server.start()
    _thread_local.asked, _thread_local.server = asked, server
    return server


def _run_between_graph_client(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: Any,
    rpc_layer: str,
) -> None:
    """A thread for each task, each with a graph of its own."""
    coord = tf.train.Coordinator()
    barrier = _Barrier(_get_num_workers(cluster_spec))
    threads = _evaluator_threads(eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer, coord)
    for task_type in (_TaskType.CHIEF, _TaskType.WORKER):
        for task_id in range(len(cluster_spec.as_dict().get(task_type, ()))):
            task = (worker_fn, strategy, cluster_spec, task_type, task_id, session_config)
            threads.append(
                threading.Thread(target=_run_single_worker, args=(*task, rpc_layer, barrier, coord))
            )
            threads[-1].start()
    coord.join(threads)


def _run_in_graph_client(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable,
    eval_strategy: Any,
    cluster_spec: Any,
    session_config: Any,
    rpc_layer: str,
) -> Any:
    """One graph for all workers, made here."""
    coord = tf.train.Coordinator()
    threads = _evaluator_threads(eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer, coord)
    result = _run_single_worker(
        worker_fn, strategy, cluster_spec, None, None, session_config, rpc_layer, coord=coord
    )
    if threads:
        coord.join(threads)
    return result


def _evaluator_threads(
    eval_fn: Callable, eval_strategy: Any, cluster_spec: Any, session_config: Any, rpc_layer: str, coord: Any
) -> list[threading.Thread]:
    """The thread of the evaluator, where the cluster has one."""
    if _TaskType.EVALUATOR not in cluster_spec.jobs:
        return []
    task = (eval_fn, eval_strategy, cluster_spec, _TaskType.EVALUATOR, 0, session_config, rpc_layer)
    thread = threading.Thread(target=_run_single_worker, args=task, kwargs={"coord": coord})
    thread.start()
    return [thread]


def _configure_session_config_for_std_servers(
    strategy: Any, eval_strategy: Any, session_config: Any, cluster_spec: Any, task_type: Any, task_id: Any
) -> None:
    """A server is configured as the task's sessions are, but sees all devices."""
    if task_type != _TaskType.EVALUATOR:
        copy.deepcopy(strategy).configure(session_config, cluster_spec, task_type, task_id)
    elif eval_strategy:
        eval_strategy.configure(session_config=session_config)
    del session_config.device_filters[:]


def run_distribute_coordinator(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None = None,
    eval_strategy: Any = None,
    mode: str = CoordinatorMode.STANDALONE_CLIENT,
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str = "grpc",
) -> Any:
    """Runs a function as the tasks of the cluster that is given, or that TF_CONFIG names, or here alone.

    Args:
      worker_fn: A function of a strategy, which trains.
      strategy: The strategy; each task gets a copy that is configured for it.
      eval_fn: The function of the evaluator; `worker_fn` if None.
      eval_strategy: The evaluator's strategy.
      mode: A `CoordinatorMode`.
      cluster_spec: The cluster; that of TF_CONFIG if None.
      task_type: The job of this process.
      task_id: Its number in the job.
      session_config: The configuration of sessions and servers.
      rpc_layer: How tasks speak with each other.

    Returns:
      What the function of this task returns, where one is run here.

    Raises:
      ValueError: If the mode or the task is none that there is.
    """
    told = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not cluster_spec:
        cluster_spec = told.get("cluster", {})
        task = told.get("task", {})
        task_type = task.get("type", task_type)
        task_id = int(task["index"]) if "index" in task else task_id
    if cluster_spec:
        cluster_spec = normalize_cluster_spec(cluster_spec)
    rpc_layer = told.get("rpc_layer", rpc_layer)
    session_config = session_config or tf.ConfigProto(allow_soft_placement=True)
    if not cluster_spec:
        _run_here(worker_fn, strategy, eval_fn, eval_strategy, session_config, rpc_layer)
        return None
    if mode not in (CoordinatorMode.STANDALONE_CLIENT, CoordinatorMode.INDEPENDENT_WORKER):
        raise ValueError(f"Unexpected coordinator mode: {mode!r}")
    if not eval_fn:
        logging.warning(
            '`eval_fn` is not passed in. The `worker_fn` will be used if an "evaluator" task exists in the '
            "cluster."
        )
    if not eval_strategy:
        logging.warning(
            "`eval_strategy` is not passed in. No distribution strategy will be used for evaluation."
        )
    eval_fn = eval_fn or worker_fn
    if mode == CoordinatorMode.STANDALONE_CLIENT and task_type in (_TaskType.CLIENT, None):
        between = strategy.extended.experimental_between_graph
        client = _run_between_graph_client if between else _run_in_graph_client
        return client(worker_fn, strategy, eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer)
    _configure_session_config_for_std_servers(
        strategy, eval_strategy, session_config, cluster_spec, task_type, task_id
    )
    server = _run_std_server(
        cluster_spec=cluster_spec,
        task_type=task_type,
        task_id=task_id,
        session_config=session_config,
        rpc_layer=rpc_layer,
        environment=told.get("environment"),
    )
    if mode == CoordinatorMode.STANDALONE_CLIENT:
        return server.join()
    task_of = (cluster_spec, task_type, task_id, session_config, rpc_layer)
    if task_type == _TaskType.EVALUATOR:
        return _run_single_worker(eval_fn, eval_strategy, *task_of)
    if task_type in (_TaskType.CHIEF, _TaskType.WORKER):
        if strategy.extended.experimental_between_graph:
            return _run_single_worker(worker_fn, strategy, *task_of)
        if _WorkerContext(strategy, cluster_spec, task_type, task_id).is_chief:
            return _run_single_worker(
                worker_fn, strategy, cluster_spec, None, None, session_config, rpc_layer
            )
    elif task_type != _TaskType.PS:
        raise ValueError(f"Unexpected task_type: {task_type!r}")
    return server.join()


def _run_here(
    worker_fn: Callable,
    strategy: Any,
    eval_fn: Callable | None,
    eval_strategy: Any,
    session_config: Any,
    rpc_layer: str,
) -> None:
    """Trains, then evaluates, without a cluster."""
    logging.info("Running local Distribute Coordinator.")
    _run_single_worker(worker_fn, strategy, None, None, None, session_config, rpc_layer)
    if eval_fn:
        _run_single_worker(eval_fn, eval_strategy, None, None, None, session_config, rpc_layer)
    else:
        logging.warning("Skipped evaluation since `eval_fn` is not passed in.")
