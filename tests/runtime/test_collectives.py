"""Members that meet in one process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from tideflow.graph.errors import CancelledError, DeadlineExceededError, InvalidArgumentError
from tideflow.runtime.collectives import Collectives, Member, Terms
from tideflow.runtime.waiting import StepContext

SUM = Terms("reduce", 1, 7, 2, torch.float32, (2,), "Add", "Id")


def open_forever() -> bool:
    return False


def meet(here, device, value, terms=SUM, operation=None, closed=open_forever, seconds=20):
    value = None if value is None else torch.tensor(value)
    member = Member(device, operation or f"op {device}", value, StepContext(seconds), closed)
    return here.meet(member, terms).tolist()


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.fixture
def here():
    return Collectives()


def waits(here, terms=SUM, count=1) -> None:
    """Returns when so many members are in the current round."""
    instance = here._instances[terms.group_key, terms.instance_key]
    with instance._changed:
        StepContext(20).wait(
            instance._changed, lambda: len(instance._round.members) >= count, open_forever, "members"
        )


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (SUM, [4.0, 12.0]),
        (replace(SUM, merge_op="Mul"), [3.0, 32.0]),
        (replace(SUM, merge_op="Min"), [1.0, 4.0]),
        (replace(SUM, merge_op="Max"), [3.0, 8.0]),
        (replace(SUM, final_op="Div"), [2.0, 6.0]),
        (replace(SUM, kind="gather"), [1.0, 8.0, 3.0, 4.0]),
    ],
    ids=["sum", "product", "least", "greatest", "mean", "gather"],
)
def test_all_leave_with_the_same(here, threads, terms, expected):
    other = threads.submit(meet, here, "b", [3.0, 4.0], terms)
    assert meet(here, "a", [1.0, 8.0], terms) == expected == other.result()


def test_one_sends_to_all(here, threads):
    terms = replace(SUM, kind="broadcast", group_size=3)
    receivers = [threads.submit(meet, here, device, None, terms) for device in "bc"]
    assert [meet(here, "a", [1.0, 2.0], terms)] * 2 == [receiver.result() for receiver in receivers]


@pytest.mark.parametrize(("senders", "message"), [(0, "Nobody sends"), (2, "2 members send")])
def test_there_is_one_sender(here, threads, senders, message):
    terms = replace(SUM, kind="broadcast")
    values = [[1.0, 2.0]] * senders + [None] * (2 - senders)
    other = threads.submit(meet, here, "b", values[1], terms)
    for call in (lambda: meet(here, "a", values[0], terms), other.result):
        with pytest.raises(InvalidArgumentError, match=message):
            call()


def test_rounds_follow_each_other(here, threads):
    def member(device, factor):
        return [meet(here, device, [factor * turn, 1.0]) for turn in range(50)]

    found = list(threads.map(member, "ab", (1.0, 10.0)))
    assert found[0] == found[1] == [[11.0 * turn, 2.0] for turn in range(50)]


def test_a_second_step_waits_for_the_next_round(here, threads):
    calls = [threads.submit(meet, here, "a", [1.0, 1.0]) for _ in range(2)]
    for _ in range(2):
        assert meet(here, "b", [2.0, 2.0]) == [3.0, 3.0]
    assert [call.result() for call in calls] == [[3.0, 3.0]] * 2


def test_two_operations_on_one_device_are_refused(here, threads):
    first = threads.submit(meet, here, "a", [1.0, 1.0])
    while not here._instances:
        pass
    waits(here)
    with pytest.raises(InvalidArgumentError, match=r"'other' and 'op a' both take part .* on device 'a'"):
        meet(here, "a", [1.0, 1.0], operation="other")
    meet(here, "b", [1.0, 1.0])
    first.result()


@pytest.mark.parametrize(
    "other",
    [
        replace(SUM, merge_op="Mul"),
        replace(SUM, shape=(3,)),
        replace(SUM, kind="gather"),
        replace(SUM, dtype=torch.int32),
        replace(SUM, group_size=3),
    ],
)
def test_members_agree(here, threads, other):
    first = threads.submit(meet, here, "a", [1.0, 1.0])
    while not here._instances:
        pass
    waits(here)
    with pytest.raises(InvalidArgumentError, match="disagree"):
        meet(here, "b", [1.0] * other.shape[0], other)
    assert meet(here, "b", [1.0, 1.0]) == [2.0, 2.0] == first.result()  # the first one waits on


def test_who_gives_up_is_not_counted(here, threads):
    with pytest.raises(DeadlineExceededError, match="where 1 of 2 members are"):
        meet(here, "a", [5.0, 5.0], seconds=0.01)
    again = threads.submit(meet, here, "a", [1.0, 1.0])
    assert meet(here, "b", [2.0, 2.0]) == [3.0, 3.0] == again.result()


def test_the_end_of_the_session_ends_the_wait(here, threads):
    ended = threading.Event()
    member = threads.submit(meet, here, "a", [1.0, 1.0], closed=ended.is_set)
    ended.set()
    with pytest.raises(CancelledError, match="session was closed"):
        member.result()
