"""Every kind of queue beside a plain Python model of it: after random operations both must agree on what was
done at once, what waits, what fails, and what comes out.
"""

from __future__ import annotations

import collections

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.queues import PaddingQueue, PriorityQueue, Queue, RandomShuffleQueue
from tideflow.runtime.waiting import ABSENT, PendingValue

CAPACITY = 6
MOVES = st.lists(
    st.tuples(
        st.sampled_from(["put", "put many", "take", "take many", "take up to", "close"]), st.integers(1, 5)
    ),
    max_size=30,
)


class Model:
    """What a queue holds, and what it does when nobody else is in line."""

    def __init__(self, kept: int, by_priority: bool):
        self.held: list[int] = []
        self.closed = False
        self.kept = kept  # that stay inside until the queue is closed
        self.by_priority = by_priority

    def put(self, numbers: list[int]) -> str:
        if self.closed:
            return "cancelled"
        if len(self.held) + len(numbers) > CAPACITY:
            return "waits"
        self.held += numbers
        if self.by_priority:
            self.held.sort()
        return "done"

    def available(self) -> int:
        return max(0, len(self.held) - (0 if self.closed else self.kept))

    def take(self, count: int, up_to: bool = False) -> str | int:
        """How many come out, or what happens instead."""
        if count <= self.available():
            return count
        if not self.closed:
            return "waits"
        return self.available() if up_to and self.available() else "out of range"

    def remove(self, numbers: list[int]) -> None:
        left = collections.Counter(self.held)
        left.subtract(numbers)
        assert min(left.values(), default=0) >= 0, f"{numbers} came out of {self.held}"
        self.held = [number for number in self.held if left[number] > 0 and not left.subtract([number])]


def outcome(action, *arguments, **options):
    """What the queue does at once: "done", its values, "waits" (and is taken back) or the kind of error."""
    try:
        found = action(*arguments, **options)
        if isinstance(found, PendingValue):
            found = found.get(lambda: None)
            if found is ABSENT:
                assert action.__self__ is not None
                return "waits"
    except tf.errors.CancelledError:
        return "cancelled"
    except tf.errors.OutOfRangeError:
        return "out of range"
    return "done" if found is None else found


KINDS = {
    "FIFO": (Queue, {}, Model(0, False)),
    "padding": (PaddingQueue, {}, Model(0, False)),
    "priority": (PriorityQueue, {}, Model(0, True)),
    "shuffle": (RandomShuffleQueue, {"min_after_dequeue": 0, "seed": 1, "seed2": 2}, Model(0, False)),
    "shuffle, 3 kept": (RandomShuffleQueue, {"min_after_dequeue": 3, "seed": 1, "seed2": 2}, Model(3, False)),
}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60)
@given(moves=MOVES)
def test_a_queue_does_what_its_model_does(name, moves):
    kind, options, pattern = KINDS[name]
    queue = kind("q", [tf.int64], [TensorShape([])], CAPACITY, lambda: False, **options)
    model = Model(pattern.kept, pattern.by_priority)
    is_random = kind is RandomShuffleQueue
    following = 0
    for move, count in moves:
        if move.startswith("put"):
            count = count if move == "put many" else 1
            numbers = list(range(following, following + count))
            following += count
            wanted = model.put(numbers)
            if wanted == "waits":  # another step would have to make room: not part of this test
                continue
            value = torch.tensor(numbers if move == "put many" else numbers[0])
            action = queue.enqueue_many if move == "put many" else queue.enqueue
            assert outcome(action, [value]) == wanted
        elif move == "close":
            if not model.closed:
                queue.close()
                model.closed = True
        else:
            count = 1 if move == "take" else count
            wanted = model.take(count, up_to=move == "take up to")
            if wanted == "waits":
                pending = queue.dequeue() if move == "take" else queue.dequeue_many(count)
                assert isinstance(pending, PendingValue) and pending.get(lambda: None) is ABSENT
                assert pending.cancel() is ABSENT
            elif move == "take":
                check_taken(outcome(queue.dequeue), wanted, model, is_random)
            else:
                check_taken(
                    outcome(queue.dequeue_many, count, up_to=move == "take up to"), wanted, model, is_random
                )
        assert queue.size() == len(model.held)


def check_taken(found, wanted, model: Model, is_random: bool) -> None:
    if wanted == "out of range":
        assert found == wanted
        return
    numbers = found[0].reshape(-1).tolist()
    assert len(numbers) == wanted
    if not is_random:
        assert numbers == model.held[:wanted]
    model.remove(numbers)


def test_a_batch_that_waits_has_the_least_elements_of_all_that_come():
    queue = PriorityQueue("q", [tf.int64], [TensorShape([])], CAPACITY, lambda: False)
    queue.enqueue_many([torch.tensor([5, 6])])
    pending = queue.dequeue_many(3)
    assert isinstance(pending, PendingValue) and pending.get(lambda: None) is ABSENT and queue.size() == 2
    queue.enqueue([torch.tensor(1)])
    (batch,) = pending.get(lambda: None)
    assert batch.tolist() == [1, 5, 6] and queue.size() == 0


def test_a_closed_queue_gives_a_batch_that_waits_what_is_there():
    queue = PriorityQueue("q", [tf.int64], [TensorShape([])], CAPACITY, lambda: False)
    queue.enqueue_many([torch.tensor([6, 5])])
    pending = queue.dequeue_many(3, up_to=True)
    queue.close()
    (batch,) = pending.get(lambda: None)
    assert batch.tolist() == [5, 6]
