"""How many threads a plan uses, on machines that are only durations: no clock, no kernel."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

import tideflow as tf
from tideflow.runtime import kernel_threads
from tideflow.runtime.kernel_threads import ThreadChoice, sharing_cores

Machine = Callable[[int, float], float]  # the duration of a step, by its number of threads and its beginning


def idle(work: float, overhead: float = 0.0) -> Machine:
    """A machine where threads share the work, and each of them costs something."""
    return lambda threads, now: work / threads + overhead * (threads - 1)


def busy_between(first: float, last: float, machine: Machine, late: float = 0.015) -> Machine:
    """The machine with a neighbour on one of its cores for a time: all but single threads come late."""
    return lambda threads, now: machine(threads, now) + (late if first <= now < last and threads > 1 else 0.0)


def run(choice: ThreadChoice, machine: Machine, now: float, until: float) -> tuple[list[int], float]:
    """The numbers of threads of the steps between two times, and the time at the end."""
    counts = []
    while now < until:
        counts.append(choice.count)
        seconds = machine(choice.count, now)
        now += seconds
        choice.note(seconds, now)
    return counts, now


@pytest.mark.parametrize("most", [2, 6, 64])
def test_work_that_pays_keeps_all_threads(most: int) -> None:
    counts, _ = run(ThreadChoice(most), idle(0.1), 0.0, 20.0)
    assert set(counts[100:]) == {most}


@pytest.mark.parametrize("most", [2, 6, 64])
def test_small_steps_run_on_one_thread(most: int) -> None:
    choice = ThreadChoice(most)
    _, now = run(choice, idle(100e-6, overhead=100e-6), 0.0, 0.5)
    counts, _ = run(choice, idle(100e-6, overhead=100e-6), now, now + 10)
    assert counts.count(1) > 0.95 * len(counts)


def test_threads_are_as_many_as_pay() -> None:
    choice = ThreadChoice(64)
    counts, _ = run(choice, idle(1e-3, overhead=20e-6), 0.0, 3.0)  # quickest with about seven
    assert counts[-1] in (4, 8)


def test_a_neighbour_takes_threads_away_within_a_second_and_gives_them_back() -> None:
    choice = ThreadChoice(2)
    machine = busy_between(5.0, 10.0, idle(1e-3))
    counts, now = run(choice, machine, 0.0, 5.0)
    assert set(counts[100:]) == {2}
    _, now = run(choice, machine, now, 5.5)
    counts, now = run(choice, machine, now, 10.0)
    assert counts.count(1) > 0.95 * len(counts)
    _, now = run(choice, machine, now, 11.5)
    counts, _ = run(choice, machine, now, 15.0)
    assert set(counts) == {2}


def test_trials_cost_little_while_the_neighbour_stays() -> None:
    choice = ThreadChoice(2)
    machine = busy_between(0.0, 60.0, idle(1e-3))
    counts, end = run(choice, machine, 0.0, 60.0)
    assert end / len(counts) < 1.1e-3


def test_one_slow_step_changes_nothing_for_long() -> None:
    chance = random.Random(7)
    choice = ThreadChoice(2)
    counts, _ = run(choice, lambda threads, now: 1e-3 / threads + (chance.random() < 0.001) * 0.01, 0.0, 30.0)
    assert counts.count(2) > 0.8 * len(counts)


def test_a_step_uses_the_chosen_threads_and_leaves_the_users_number() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        choice = ThreadChoice(2)
        choice.count = 1
        assert sharing_cores(torch.get_num_threads, choice)() == 1
        assert torch.get_num_threads() == 2
        with pytest.raises(ZeroDivisionError):
            sharing_cores(lambda: 1 / 0, choice)()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_only_plans_that_compute_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_threads, "_most", 2)
    x = tf.placeholder(tf.float32, [1000])
    with tf.device("/cpu:0"), tf.Session() as session:
        assert _choice_of(session, x + 1.0, {x: [0.0] * 1000}) is not None
        assert _choice_of(session, tf.constant(1) + 1, {}) is None


def _choice_of(session: tf.Session, fetch: tf.Tensor, feeds: dict) -> ThreadChoice | None:
    session.run(fetch, feeds)
    (step,) = [step for step in session._steps.steps.values() if step._fetches.tensors == [fetch]]
    (plan,) = step.plans.values()
    return plan.threads
