"""What things cost: the paper's cluster, as far as its text tells, and this runtime in a data centre."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tideflow.simulator.network import Machine, Tail

CALIBRATION = Path(__file__).with_name("calibration.json")
GIGABIT = 1e9 / 8
DATA_CENTRE_LATENCY = 50e-6  # one way, through a few switches

# Three numbers are fitted to three of the paper's: `message_seconds` and `latency` to the scalar step with
# 1 and with 100 workers, `bytes_per_second` to 1 GB fetched by one worker (8 of 10 Gb/s). It tells of 8
# cores.
PAPER = Machine(message_seconds=34e-6, latency=265e-6, bytes_per_second=0.992e9, cores=8)

# Two more are fitted to the paper's backup workers: a worker's computing, so that a step with four backups
# takes 1.93 s, and how much longer stragglers take, so that three backups bring 9.5%. The tail's shape is a
# guess.
INCEPTION_BYTES = 100e6  # of parameters: 25 million floats
INCEPTION_BATCH = 32
INCEPTION_COMPUTE = 1.62
INCEPTION_SPREAD = 0.015
INCEPTION_STRAGGLING = Tail(probability=0.06, scale=0.20, shape=3.0)


def calibration() -> dict[str, Any]:
    """What was measured of this runtime (`tideflow simulate --calibrate`)."""
    return json.loads(CALIBRATION.read_text(encoding="utf-8"))


def tideflow_machine(measured: dict[str, Any], gigabits: float = 10.0) -> Machine:
    """This runtime in a data centre: messages cost what they cost here, and the network is another. One
    thread handles the messages of a task.
    """
    return Machine(
        message_seconds=measured["message_seconds"],
        latency=DATA_CENTRE_LATENCY,
        bytes_per_second=min(gigabits * GIGABIT, measured["socket_bytes_per_second"]),
        sum_bytes_per_second=measured["sum_bytes_per_second"],
    )


def several(machine: Machine, count: float) -> Machine:
    """So many machines that share their part of the parameters evenly, as one."""
    cores = max(1, round(count * machine.cores))
    return replace(machine, bytes_per_second=count * machine.bytes_per_second, cores=cores)
