"""Measuring, on a real server in another process."""

import json

import pytest

from tideflow.cluster import shared_memory
from tideflow.simulator import calibrate, machines


def test_a_short_calibration_is_one_that_the_simulator_takes(monkeypatch, tmp_path):
    monkeypatch.setattr(calibrate, "LARGE", 1_000_000)
    worth = shared_memory.WORTH_BYTES
    found = calibrate.write(tmp_path / "calibration.json", steps=20)
    assert found == json.loads((tmp_path / "calibration.json").read_text())
    assert found["synchronous_step_seconds"] == pytest.approx(11 * found["message_seconds"])  # ends in a row
    assert 0 < found["fetch_seconds"] < found["synchronous_step_seconds"]
    assert machines.tideflow_machine(found).bytes_per_second > 0
    assert worth == shared_memory.WORTH_BYTES
