"""`tideflow server`: a task of a cluster as a command, for clients of this package and of TensorFlow."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from tideflow.cluster.server import Server
from tideflow.graph import errors


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tideflow server", description="Run a task of a cluster, for sessions of other programs."
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        default="localhost:0",
        help="where the only task of a cluster listens (default: a free port of the loopback)",
    )
    parser.add_argument(
        "--cluster",
        metavar="SPEC",
        help="the tasks of the cluster, as in 'ps|host:2222,worker|host:2223;host:2224'",
    )
    parser.add_argument("--job-name", metavar="JOB", help="the job of this task, in a cluster of several")
    parser.add_argument("--task-index", metavar="N", type=int, help="the index of this task in its job")
    parser.add_argument(
        "--tensorflow-clients",
        metavar="HOST:PORT",
        nargs="?",
        const="localhost:2222",
        help="answer programs of an installed TensorFlow too, at this address (default: %(const)s)",
    )
    parser.add_argument("--tls-certificate", metavar="FILE", help="the certificate chain for those, in PEM")
    parser.add_argument("--tls-key", metavar="FILE", help="its private key")
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="tasks and clients need no key: everybody who can reach the addresses is trusted",
    )
    return parser


def main(given: Sequence[str]) -> int:
    """Serves until a signal comes, or the job of the cluster is over; the exit status."""
    arguments = _parser().parse_args(given)
    files = arguments.tls_certificate, arguments.tls_key
    if any(files) and not all(files):
        raise errors.invalid_argument("TLS needs both --tls-certificate and --tls-key.")
    server = Server(
        parse_cluster(arguments.cluster) if arguments.cluster else {"local": [arguments.address]},
        job_name=arguments.job_name,
        task_index=arguments.task_index,
        insecure=arguments.insecure,
        tensorflow_clients=arguments.tensorflow_clients,
        tls=files if all(files) else None,
    )
    signal.signal(signal.SIGTERM, _leave)
    print(f"Sessions of Tideflow: {server.target}", flush=True)
    if server.tensorflow_target:
        print(f"Sessions of TensorFlow: {server.tensorflow_target}", flush=True)
    try:
        server.join()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
    return 0


def parse_cluster(text: str) -> dict[str, list[str]]:
    """The addresses of a cluster's tasks by job, of text in TensorFlow's notation."""
    cluster: dict[str, list[str]] = {}
    for part in text.split(","):
        job, bar, addresses = part.partition("|")
        if not bar or not job or not all(addresses.split(";")) or job in cluster:
            raise errors.invalid_argument(
                f"A cluster is 'job|host:port;host:port,job|host:port', each job once; found '{text}'."
            )
        cluster[job] = addresses.split(";")
    return cluster


def _leave(number: int, frame: object) -> NoReturn:
    sys.exit(0)
