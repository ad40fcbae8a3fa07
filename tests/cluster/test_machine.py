"""State machines and the record of their moves: without threads, sockets or clocks."""

import itertools

import pytest

from tideflow.cluster.machine import Machine, Record, story
from tideflow.graph.errors import InternalError

MOVES = {"idle": {"start": "busy"}, "busy": {"work": "busy", "stop": "idle"}}


@pytest.fixture
def machine():
    return Machine("Engine", "idle", MOVES, Record(clock=itertools.count().__next__))


def test_a_legal_move_gives_the_new_state(machine):
    assert machine.state("a") == "idle"
    assert machine.move("a", "start") == "busy"
    assert machine.state("a") == "busy" and machine.state("b") == "idle"


def test_an_illegal_move_tells_the_story(machine):
    machine.move("a", "start", "by hand")
    machine.move("b", "start")
    with pytest.raises(InternalError, match="Engine a is busy, where 'start' is not a legal move") as caught:
        machine.move("a", "start")
    assert "a: start -> busy  (by hand)" in caught.value.message and "b:" not in caught.value.message
    assert machine.state("a") == "busy"


def test_a_story_is_in_order_of_time(machine):
    for subject, event in (("a", "start"), ("b", "start"), ("a", "work"), ("a", "stop")):
        machine.move(subject, event)
    lines = story(reversed(machine.record.moves("a"))).splitlines()
    assert [line.split(" ms  ")[1] for line in lines] == [
        "a: start -> busy",
        "a: work -> busy",
        "a: stop -> idle",
    ]
    assert [float(line.split()[0]) for line in lines] == [0.0, 2000.0, 3000.0]
    assert len(machine.record.moves()) == 4


def test_a_record_keeps_the_last_moves():
    machine = Machine("Engine", "idle", MOVES, Record(length=2))
    for event in ("start", "work", "stop"):
        machine.move("a", event)
    assert [move.event for move in machine.record.moves("a")] == ["work", "stop"]


def test_recorded_moves_can_be_made_again(machine):
    for event in ("start", "work", "work", "stop", "start"):
        machine.move("a", event)
    moves = machine.record.moves("a")
    again = Machine("Engine", "idle", MOVES, Record())
    assert again.replay(moves) == [move.state for move in moves]
    assert again.state("a") == machine.state("a") == "busy"
