"""`tideflow launch`: its options, and the launcher that each of them selects."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tideflow.launch.plan import FLAGS, Plan, Resources, flags_of

USAGE = "tideflow launch [--ps N] [--workers N] [OPTIONS] SCRIPT [ARGS ...]"
_RESTARTS_ELSEWHERE = 3  # a cluster may lose machines; on one machine, a failure is usually the program's own


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command to its parser."""
    parser.usage = USAGE
    cluster = parser.add_argument_group("the cluster")
    cluster.add_argument("--ps", type=_count, default=1, metavar="N", help="parameter servers (default: 1)")
    cluster.add_argument("--workers", type=_positive, default=1, metavar="N", help="workers (default: 1)")
    cluster.add_argument(
        "--chief", action="store_true", help="a chief as a job of its own, beside the workers"
    )
    cluster.add_argument(
        "--evaluator", action="store_true", help="an evaluator, for programs with tf.estimator"
    )
    cluster.add_argument(
        "--restarts",
        type=_count,
        metavar="N",
        help=f"how often a task that fails is started again (default: 0; elsewhere {_RESTARTS_ELSEWHERE})",
    )
    cluster.add_argument(
        "--grace",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="what the others have to leave when the chief has finished (default: 30)",
    )
    cluster.add_argument(
        "--flags",
        choices=("auto", "always", "never"),
        default="auto",
        help=f"give the program {', '.join(f'--{name}' for name in FLAGS)} besides TF_CONFIG: those that "
        "its text defines (auto, the default), all, or none",
    )
    secret = cluster.add_mutually_exclusive_group()
    secret.add_argument(
        "--key",
        metavar="FILE",
        help="the cluster key of the tasks; 'new' makes one for this job alone (default: on this machine the "
        "user's own, elsewhere a new one)",
    )
    secret.add_argument(
        "--insecure",
        action="store_true",
        help="no key: every user of this machine is trusted, and can run steps in the tasks",
    )
    for job, what in (("worker", "a worker"), ("ps", "a parameter server")):
        cluster.add_argument(f"--{job}-cpus", type=_amount, metavar="N", help=f"the CPUs of {what}")
        cluster.add_argument(f"--{job}-gpus", type=_amount, metavar="N", help=f"the GPUs of {what}")
    _add_places(parser)
    parser.add_argument("script", metavar="SCRIPT", help="the program, which every task runs")
    parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _add_places(parser: argparse.ArgumentParser) -> None:
    here = parser.add_argument_group("on this machine (where no other place is given)")
    here.add_argument("--port", type=_positive, metavar="N", help="the first port (default: free ones)")
    parser.add_argument("--plain", action="store_true", help="lines only, no live view")
    elsewhere = parser.add_argument_group("elsewhere")
    place = elsewhere.add_mutually_exclusive_group()
    place.add_argument(
        "--ray", metavar="ADDRESS", help="run on a Ray cluster: host:port of its head, or auto"
    )
    place.add_argument("--kubernetes", action="store_true", help="print manifests for kubectl apply")
    place.add_argument("--slurm", action="store_true", help="print a script for sbatch")
    elsewhere.add_argument(
        "--min-workers",
        type=_positive,
        metavar="N",
        help="Ray: begin with so many, and take in the others as machines come (default: all)",
    )
    elsewhere.add_argument(
        "--ship", metavar="FOLDER", help="Ray: send this folder, and the program in it, to the machines"
    )
    elsewhere.add_argument("--name", default="tideflow", help="manifests: the job's name (default: tideflow)")
    elsewhere.add_argument("--image", default="tideflow:latest", help="Kubernetes: the container image")


def launch(arguments: argparse.Namespace) -> int:
    """Runs the job, or prints its manifest; returns the exit code. Raises ValueError for invalid options."""
    _check(arguments)
    plan = plan_of(arguments)
    if arguments.kubernetes:
        from tideflow.launch.manifests import kubernetes  # loaded when asked for

        sys.stdout.write(kubernetes(plan, arguments.name, arguments.key, arguments.image))
        return 0
    if arguments.slurm:
        from tideflow.launch.manifests import slurm  # loaded when asked for

        sys.stdout.write(slurm(plan, arguments.name, arguments.key))
        return 0
    if arguments.ray is not None:
        from tideflow.launch import ray_cluster  # loaded when asked for

        return ray_cluster.launch(
            plan,
            arguments.ray,
            min_workers=arguments.min_workers,
            key=arguments.key,
            ship=arguments.ship,
            plain=arguments.plain,
        )
    from tideflow.launch import local  # loaded when asked for

    return local.launch(
        plan,
        port=arguments.port,
        key=arguments.key,
        insecure=arguments.insecure,
        plain=arguments.plain,
    )


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The plan that the options describe."""
    here = arguments.ray is None and not arguments.kubernetes and not arguments.slurm
    flags = {"always": FLAGS, "never": ()}.get(arguments.flags)
    default_restarts = 0 if here else _RESTARTS_ELSEWHERE
    return Plan(
        arguments.script,
        arguments.arguments,
        arguments.ps,
        arguments.workers,
        arguments.chief,
        flags_of(_file_of(arguments)) if flags is None else flags,
        default_restarts if arguments.restarts is None else arguments.restarts,
        arguments.grace,
        {
            "ps": Resources(arguments.ps_cpus, arguments.ps_gpus),
            "worker": Resources(arguments.worker_cpus, arguments.worker_gpus),
        },
        arguments.evaluator,
    )


def _file_of(arguments: argparse.Namespace) -> Path:
    return Path(arguments.ship or "", arguments.script)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.ray is None and arguments.ship is not None:
        raise ValueError("--ship FOLDER is for --ray")
    if arguments.ray is None and arguments.min_workers is not None:
        raise ValueError("--min-workers is for --ray")
    if arguments.insecure and (arguments.ray is not None or arguments.kubernetes or arguments.slurm):
        raise ValueError("--insecure is for tasks on this machine; elsewhere they always have a key")
    if not _file_of(arguments).is_file():
        raise ValueError(f"there is no file {_file_of(arguments)}")
    if arguments.min_workers is not None and arguments.min_workers > arguments.workers:
        raise ValueError(f"--min-workers {arguments.min_workers} is more than --workers {arguments.workers}")


# --------------------------------------------------------------------------------------------------- numbers


def _count(text: str) -> int:
    return int(_at_least(0, int, text))


def _positive(text: str) -> int:
    return int(_at_least(1, int, text))


def _amount(text: str) -> float:
    return _at_least(0.0, float, text)


def _seconds(text: str) -> float:
    return _at_least(0.0, float, text)


def _at_least(least: float, kind: type[int] | type[float], text: str) -> float:
    try:
        value = kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not value >= least:
        raise argparse.ArgumentTypeError(f"must be {least:g} or more, not {text}")
    return value
