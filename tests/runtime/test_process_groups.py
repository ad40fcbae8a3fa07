"""Collectives between processes: real ones, over the loopback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tideflow.cluster.collectives import StoreKeeper
from tideflow.cluster.ports import reserved
from tideflow.runtime.process_groups import ProcessGroups

_MEMBER = Path(__file__).with_name("collective_member.py")
_ROOT = Path(__file__).parents[2]


def run_members(scenario: str, size: int = 3) -> list:
    """What each of `size` processes got in a scenario; None of one that said nothing."""
    with reserved(1) as (port,):
        return _said_by_members(scenario, size, str(port))


def _said_by_members(scenario: str, size: int, port: str) -> list:
    members = [
        subprocess.Popen(
            [sys.executable, str(_MEMBER), str(rank), str(size), port, scenario],
            cwd=_ROOT,
            env={"PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1", "PATH": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    try:
        said = [member.stdout.readline() for member in members]  # none waits long: see there
    finally:
        for member in members:
            member.kill()
            member.communicate()
    return [json.loads(text) if text else None for text in said]


def test_every_kind_and_many_rounds():
    for rank, made in enumerate(run_members("rounds")):
        assert made == {
            "Add": [6.0, 30.0],
            "Mul": [6.0, 1000.0],
            "Min": [1.0, 10.0],
            "Max": [3.0, 10.0],
            "mean": [[0.0, 0.0], [2.0, 10.0], [4.0, 20.0]],
            "gather": [1.0, 10.0, 2.0, 10.0, 3.0, 10.0],
            "broadcast": [3.0, 10.0],
            "mine": [rank + 1.0, 10.0],
        }


def test_a_task_with_several_members():
    together = [[4.0, 1.0], [1.0, 0.0, 1.0, 1.0, 2.0, 0.0]]
    assert run_members("several_devices", size=2) == [[together, together], [together]]


def test_a_lost_member_ends_the_wait_of_the_others():
    first, second, lost = run_members("lost_member")
    assert lost is None
    for seen in (first, second):
        assert [kind for kind, _ in seen] == ["UnavailableError", "UnavailableError"]
        assert "between tasks [0, 1, 2]" in seen[0][1]
        assert "it has failed before" in seen[1][1]


def test_a_member_that_does_not_come_is_named():
    first, late = run_members("late_member", size=2)
    assert late is None
    assert first == [
        "DeadlineExceededError",
        "Timed out waiting for notification. Task 0 waits for tasks [0, 1] to begin the reduce of group 1, "
        "instance second: it did not happen in the 1 s that the step was given.",
    ]


@pytest.mark.parametrize("host", ["192.168.1.2", "ps0", "0.0.0.0"])
def test_off_the_loopback_insecure_has_to_be_said(host):
    with pytest.raises(ValueError, match="neither authenticated nor encrypted"):
        ProcessGroups(0, StoreKeeper(), host)
    ProcessGroups(0, StoreKeeper(), host, insecure=True)
