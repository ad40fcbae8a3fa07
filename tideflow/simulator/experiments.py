"""The paper's experiments, as jobs to simulate; and beyond its numbers of workers."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from tideflow.simulator import machines, paper
from tideflow.simulator.network import Machine
from tideflow.simulator.training import Job, Training

ROW_BYTES = 4096  # of an embedding; the paper does not say
SPARSE_ROWS = 32
CURVES = {  # what a null step fetches from all servers together, and what it tells them first
    "scalar": {},
    "dense 100 MB": {"fetch_bytes": 100e6 / paper.NULL_STEP_SERVERS},
    "dense 1 GB": {"fetch_bytes": 1e9 / paper.NULL_STEP_SERVERS},
    "sparse": {
        "fetch_bytes": SPARSE_ROWS * ROW_BYTES / paper.NULL_STEP_SERVERS,
        "push_bytes": SPARSE_ROWS * ROW_BYTES / paper.NULL_STEP_SERVERS,
        "index_bytes": SPARSE_ROWS * 8 / paper.NULL_STEP_SERVERS,
    },
}
NULL_WORKERS = (1, 5, 10, 25, 50, 100)
INCEPTION_WORKERS = (1, 25, 50, 100, 200)
BACKUPS = (0, 1, 2, 3, 4, 5)
WORKERS_PER_SERVER = 12  # about what the paper has, 200 on 17

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """The steps of a job: of all workers together, or where each goes its own way, of single ones."""

    seconds: tuple[float, ...]
    gradients_per_second: float  # applied, of all workers
    dropped: int

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    def percentile(self, percent: float) -> float:
        """The seconds that so many percent of the steps do not exceed."""
        return float(np.percentile(self.seconds, percent))


def simulate(job: Job, steps: int) -> Outcome:
    """Runs a job. The first step is left out where there are others: nobody is in another's way yet."""
    done = Training(job).run(steps)
    first = 0 if steps == 1 else 1 if job.synchronous else job.workers
    seconds = tuple(done.step_seconds[first:])
    together = job.need if job.synchronous else job.workers
    return Outcome(seconds, together / float(np.mean(seconds)), done.dropped)


def run_all(jobs: Mapping[Key, tuple[Job, int]], processes: int | None = None) -> dict[Key, Outcome]:
    """Simulates many jobs, the longest first, several at a time."""
    order = sorted(jobs, key=lambda key: -jobs[key][0].workers * jobs[key][1])
    if processes == 1:
        return {key: simulate(*jobs[key]) for key in order}
    context = multiprocessing.get_context("spawn")  # a fork would take torch's threads along, half
    with ProcessPoolExecutor(processes or os.cpu_count(), context) as pool:
        under_way = {key: pool.submit(simulate, *jobs[key]) for key in order}
        return {key: future.result() for key, future in under_way.items()}


def null_job(curve: str, workers: int, machine: Machine) -> Job:
    """A synchronous step that computes nothing: fetch, a trivial update, wait for the others."""
    return Job(workers, paper.NULL_STEP_SERVERS, machine, machine, **CURVES[curve])


def inception_job(
    workers: int,
    *,
    synchronous: bool = True,
    backups: int = 0,
    servers: int = paper.INCEPTION_SERVERS,
    groups: int = paper.INCEPTION_SERVERS,
) -> Job:
    """Inception-v3 on the paper's machines, its parameters evenly on the servers. Many servers are
    simulated as fewer `groups` that have all their bandwidth: fewer messages, and the same bytes.
    """
    share = machines.INCEPTION_BYTES / groups
    return Job(
        workers=workers + backups,
        servers=groups,
        worker=machines.PAPER,
        server=machines.several(machines.PAPER, servers / groups),
        fetch_bytes=share,
        push_bytes=share,
        synchronous=synchronous,
        backups=backups,
        compute=machines.INCEPTION_COMPUTE,
        spread=machines.INCEPTION_SPREAD,
        straggling=machines.INCEPTION_STRAGGLING,
    )


def jobs(here: Machine, largest: int = 10_000) -> dict[Key, tuple[Job, int]]:
    """Every job, with how many steps of it are simulated."""
    found: dict[Key, tuple[Job, int]] = {}
    for curve in CURVES:
        for workers in NULL_WORKERS:
            found["null", "paper", curve, workers] = null_job(curve, workers, machines.PAPER), 3
    for curve in ("scalar", "dense 100 MB", "sparse"):
        for workers in (*NULL_WORKERS, 1000):
            found["null", "here", curve, workers] = null_job(curve, workers, here), 3 if workers < 1000 else 2
    found["null", "here", "scalar", largest] = null_job("scalar", largest, here), 2
    for workers in INCEPTION_WORKERS:
        for synchronous in (True, False):
            job = inception_job(workers, synchronous=synchronous)
            found["inception", synchronous, workers] = job, 10 if workers > 1 else 50
    for backups in BACKUPS:
        found["backups", backups] = inception_job(paper.BACKUP_WORKERS_NEEDED, backups=backups), 60
    for workers, steps in ((1000, 6), (largest, 4)):
        found["inception", True, workers] = inception_job(workers, groups=4), steps
        servers = round(workers / WORKERS_PER_SERVER)
        found["more servers", workers] = inception_job(workers, servers=servers, groups=4), steps
    return found


def normalized_speedup(outcomes: Mapping[Key, Outcome], backups: int) -> float:
    """t(0)/t(b) x n/(n+b): what backups bring, less what they cost."""
    n = paper.BACKUP_WORKERS_NEEDED
    alone, with_them = outcomes["backups", 0].median, outcomes["backups", backups].median
    return alone / with_them * n / (n + backups)
