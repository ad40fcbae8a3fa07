"""The backup-worker experiment with real processes, as small as it gets."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FLAGS = ["--need=1", "--backups=1", "--steps=12", "--compute=0.01", "--straggles=0.3", "--delay=0.1"]


def test_one_backup_is_measured_simulated_and_drawn(tmp_path):
    picture = tmp_path / "made" / "backups.png"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "backup_workers.py", *FLAGS, "--out", picture],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    measured = re.findall(r"1 workers and (\d) backups: .* t\(0\)/t\(b\) ([\d.]+)", done.stdout)
    assert [int(backups) for backups, _ in measured] == [0, 1]
    alone, helped = map(float, re.search(r"0: ([\d.]+) ms +1: ([\d.]+) ms", done.stdout).groups())
    assert 10 < helped < alone < 10 + 150 * 2  # computing, and at most as long as many stragglers in a row
    assert picture.read_bytes().startswith(b"\x89PNG")
