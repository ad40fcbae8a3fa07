"""Running a training function, in this process or in the tasks of a cluster."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tideflow.graph import errors
from tideflow.graph.fresh_names import repeatable_ids
from tideflow.pipeline.trainer.arguments import FnArgs


@dataclass(frozen=True)
class Cluster:
    """Where a training function runs, as `tideflow launch` starts it.

    Every task calls the function; `tf.estimator.train_and_evaluate` and `tf.train.Server` find their part in
    TF_CONFIG, which says what the cluster is. The chief exports the model.

    Args:
      ps: The number of parameter servers.
      workers: The number of workers, the chief among them.
      evaluator: Whether another task evaluates checkpoints.
      ray: The address of a Ray cluster to run on; this machine if None.
      restarts: How often a task that fails is started again.
    """

    ps: int = 1
    workers: int = 1
    evaluator: bool = False
    ray: str | None = None
    restarts: int = 0


def run_trainer(run_fn: Callable[[FnArgs], Any], fn_args: FnArgs, cluster: Cluster | None = None) -> Any:
    """Calls a training function.

    Args:
      run_fn: The function. It trains and exports a SavedModel to `serving_model_dir`.
      fn_args: What it is told.
      cluster: Calls it in every task of a cluster instead, where the function must be one of a file.

    Returns:
      What the function returned; None if it ran on a cluster.

    Raises:
      AbortedError: If training on a cluster has failed.
    """
    for folder in (fn_args.model_run_dir, fn_args.serving_model_dir):
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
    if cluster is None:
        return _call(run_fn, fn_args)
    from tideflow.launch import local, ray_cluster  # loaded when asked for
    from tideflow.launch.plan import Plan  # loaded when asked for

    with tempfile.TemporaryDirectory(prefix="trainer-", dir=fn_args.model_run_dir) as folder:
        arguments = Path(folder, "arguments.json")
        arguments.write_text(fn_args.to_json())
        plan = Plan(
            str(Path(__file__).with_name("task.py")),
            [*_place_of(run_fn), str(arguments)],
            cluster.ps,
            cluster.workers - 1,
            has_chief=True,
            restarts=cluster.restarts,
            has_evaluator=cluster.evaluator,
        )
        if cluster.ray is None:
            code = local.launch(plan, key=local.NEW_KEY, plain=True)
        else:
            code = ray_cluster.launch(plan, cluster.ray, plain=True)
    if code:
        raise errors.aborted(f"Training on a cluster ended with exit code {code}")
    return None


def _place_of(run_fn: Callable[..., Any]) -> tuple[str, str]:
    """The file and the name of a function, by which other processes find it."""
    file = inspect.getsourcefile(run_fn)
    if file is None or "<" in run_fn.__qualname__ or "." in run_fn.__qualname__:
        raise ValueError(f"{run_fn!r} is no function of a file's top level: other processes cannot find it")
    return os.path.abspath(file), run_fn.__qualname__


def run_function_of_file(file: str, name: str, arguments: str) -> Any:
    """What a task of a cluster does: calls the function of a file with the arguments that another file has.

    Args:
      file: The file of the function.
      name: Its name.
      arguments: The file of the arguments.
    """
    sys.path.insert(0, os.path.dirname(file))  # where the file's own imports are, as of a script
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None:
        raise errors.invalid_argument(f"{file} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return _call(getattr(module, name), FnArgs.from_json(Path(arguments).read_text()))


def _call(run_fn: Callable[[FnArgs], Any], fn_args: FnArgs) -> Any:
    """Calls it so that equal trainings write equal graphs: savers and tables get the same names again.

    Elsewhere those are new names, so that programs that write the same place or share a server do not meet. A
    training has its folder for itself, and tasks of a cluster have names of their own.
    """
    task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task")
    with repeatable_ids(f"trainer {json.dumps(task)}"):
        return run_fn(fn_args)
