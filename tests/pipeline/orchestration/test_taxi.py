"""The pipeline of taxi trips, from records to a pushed model, with few trips and little training."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[3]


def run(root, *settings):
    """Exit code, and how each component ended."""
    settings = (f"root={root}", "rows=3000", "steps=120", *settings)
    command = [sys.executable, "-m", "tideflow", "pipeline", "run", TREE / "examples/pipeline/taxi.py"]
    done = subprocess.run(
        [*command, *(part for each in settings for part in ("--set", each))],
        env={**os.environ, "PYTHONPATH": str(TREE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return done.returncode, dict(re.findall(r"^  (\w+) +(done|as before|REFUSED|skipped)", done.stdout, re.M))


@pytest.mark.slow(reason="nine components run, one of which trains and one starts a server's worker")
def test_trips_become_a_pushed_model_and_a_broken_week_does_not(tmp_path):
    code, states = run(tmp_path)
    assert code == 0 and set(states.values()) == {"done"} and len(states) == 9
    version = tmp_path / "serving" / "taxi" / "1"
    saved = (version / "saved_model.pb").read_bytes()
    assert b"company" in saved and bytes(tmp_path) not in saved, "it says nothing of where it was trained"
    assert sorted(path.name for path in (version / "assets").iterdir()) == ["company", "payment_type"]

    code, states = run(tmp_path)
    assert code == 0 and set(states.values()) == {"as before"}
    code, states = run(tmp_path, "spans=2", "broken=True")
    assert code == 3 and states["ExampleValidator"] == "REFUSED" and states["Pusher"] == "skipped"
    assert [path.name for path in version.parent.iterdir()] == ["1"]
