"""Interrupts of `tideflow launch`, for `tests/runtime/interrupts.py`."""

from __future__ import annotations

import faulthandler
import random
import re
import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from tests.launch.launched import ROOT, is_gone, launched

LAUNCHERS = 3  # at a time
HANG_SECONDS = 300


def launches(chance: random.Random, until: float) -> int:
    """Interrupts launchers, some at a time, each at a random instant of its job. How many."""

    def in_turn(seed: int) -> int:
        own, count = random.Random(seed), 0
        while time.monotonic() < until:
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            launch_and_interrupt(own)
            count += 1
        return count

    with ThreadPoolExecutor(LAUNCHERS) as pool:
        counts = list(pool.map(in_turn, [chance.randrange(1 << 30) for _ in range(LAUNCHERS)]))
    faulthandler.cancel_dump_traceback_later()
    return sum(counts)


def launch_and_interrupt(chance: random.Random) -> None:
    """Interrupts a launcher: it ends, and all tasks with it."""
    with tempfile.TemporaryDirectory() as folder:
        script = ROOT / "tests" / "launch" / "train_until.py"
        with launched("--ps", 1, "--workers", 1, "--plain", script, folder, OMP_NUM_THREADS="1") as job:
            time.sleep(chance.random() * chance.choice([4, 12, 30]))
            job.process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
            code = job.ends()
        ends = (130, 143, -signal.SIGINT, -signal.SIGTERM)
        # Before the first task there is only the launcher's own import, which fails as imports do.
        assert code in ends or (code and "runs (pid" not in job.text), (code, job.text)
        assert "killed" not in job.text, job.text
        assert all(is_gone(int(pid)) for pid in re.findall(r"runs \(pid (\d+)", job.text)), job.text
