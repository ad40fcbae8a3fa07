"""Measuring, on a real server in another process."""

import json

import pytest

from tideflow.cluster import shared_memory
from tideflow.simulator import calibrate, machines

SCALAR, TENSOR, SYNCHRONOUS = 0.001, 0.005, 0.0022  # seconds, in the order they are measured


@pytest.fixture
def measured(monkeypatch):
    """What is measured runs for real; the seconds are these, however busy the machine is."""
    measure, seconds = calibrate._measure, iter((SCALAR, TENSOR, SYNCHRONOUS))

    def told(step, steps):
        assert measure(step, steps) > 0
        return next(seconds)

    monkeypatch.setattr(calibrate, "_measure", told)


def test_a_short_calibration_is_one_that_the_simulator_takes(measured, monkeypatch, tmp_path):
    monkeypatch.setattr(calibrate, "LARGE", 1_000_000)
    worth = shared_memory.WORTH_BYTES
    found = calibrate.write(tmp_path / "calibration.json", steps=20)
    assert found == json.loads((tmp_path / "calibration.json").read_text())
    assert (found["fetch_seconds"], found["synchronous_step_seconds"]) == (SCALAR, SYNCHRONOUS)
    assert found["message_seconds"] == pytest.approx(SYNCHRONOUS / 11)  # ends in a row
    assert found["socket_bytes_per_second"] == pytest.approx(4_000_000 / (TENSOR - SCALAR))
    assert machines.tideflow_machine(found).bytes_per_second > 0
    assert worth == shared_memory.WORTH_BYTES
