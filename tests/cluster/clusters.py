"""Clusters for tests: several servers in this process, or each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tideflow as tf
from tideflow.cluster.ports import number_of, reserve

_TASK = Path(__file__).with_name("task.py")
_kept: list[socket.socket] = []


def free_addresses(count: int) -> list[str]:
    """Addresses of the loopback on which no process listens. They are kept for as long as this process runs,
    so that no other process of the machine takes them before a task listens there, or while one is started
    again.
    """
    sockets = [reserve() for _ in range(count)]
    _kept.extend(sockets)
    return [f"127.0.0.1:{number_of(one)}" for one in sockets]


def cluster_of(**jobs: int) -> dict[str, list[str]]:
    """A cluster with so many tasks of each job."""
    addresses = iter(free_addresses(sum(jobs.values())))
    return {job: [next(addresses) for _ in range(count)] for job, count in jobs.items()}


@contextlib.contextmanager
def servers(**jobs: int) -> Iterator[dict[tuple[str, int], tf.train.Server]]:
    """A server for each task, all in this process."""
    cluster = cluster_of(**jobs)
    made = {}
    try:
        for job, addresses in cluster.items():
            for index in range(len(addresses)):
                made[job, index] = tf.train.Server(cluster, job_name=job, task_index=index)
        yield made
    finally:
        for server in made.values():
            server.stop()


class TaskProcess:
    """A task in a process of its own, which serves until its input ends."""

    def __init__(self, cluster: dict[str, list[str]], job: str, index: int, *libraries: str):
        self.job, self.index, self._cluster, self._libraries = job, index, cluster, libraries
        self.start()

    def start(self) -> None:
        """Starts it, again if it has ended; returns when it listens."""
        arguments = [sys.executable, str(_TASK), json.dumps(self._cluster), self.job, str(self.index)]
        arguments += self._libraries
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> int:
        """Ends it in good order; its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@contextlib.contextmanager
def processes(
    cluster: dict[str, list[str]], *tasks: tuple[str, int], libraries: Sequence[str] = ()
) -> Iterator[list[TaskProcess]]:
    """Processes for these tasks of a cluster, which load these libraries of ops."""
    made: list[TaskProcess] = []
    try:
        for job, index in tasks:
            made.append(TaskProcess(cluster, job, index, *libraries))
        yield made
    finally:
        for one in made:
            one.stop()
