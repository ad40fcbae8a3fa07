"""Processors, interfaces and messages, against what queueing theory says of them."""

import random

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from tideflow.simulator.network import FairShare, Line, Machine, Network, Processor, Tail, Task, countdown

MACHINE = Machine(message_seconds=0.5, latency=3.0, bytes_per_second=1e6)


def two_tasks(machine=MACHINE):
    env = simpy.Environment()
    return env, Network(env, random.Random(1)), Task(env, machine), Task(env, machine)


def test_a_small_message_is_handled_crosses_and_is_handled():
    env, network, a, b = two_tasks()
    network.send(a, b, 1000, lambda: None)
    env.run()
    assert env.now == pytest.approx(0.5 + 3.0 + 0.001 + 0.5)


def test_a_large_message_takes_its_bytes_longer():
    env, network, a, b = two_tasks()
    network.send(a, b, 7e6, lambda: None)
    env.run()
    assert env.now == pytest.approx(0.5 + 7.0 + 3.0 + 0.5)


def test_the_narrower_interface_counts():
    env = simpy.Environment()
    slow, fast = Machine(0.0, 0.0, 1e6), Machine(0.0, 0.0, 4e6)
    Network(env, random.Random(1)).send(Task(env, fast), Task(env, slow), 8e6, lambda: None)
    env.run()
    assert env.now == pytest.approx(8.0)


def test_many_senders_share_the_receivers_interface():
    env = simpy.Environment()
    network, machine = Network(env, random.Random(1)), Machine(0.0, 0.0, 1e6)
    receiver, came = Task(env, machine), []
    for size in (1e6, 2e6, 3e6):
        network.send(Task(env, machine), receiver, size, lambda: came.append(env.now))
    env.run()
    assert came == pytest.approx([3.0, 5.0, 6.0])  # a third each, then a half each, then alone


def test_a_small_message_does_not_wait_for_large_ones():
    env, network, a, b = two_tasks(Machine(0.0, 0.0, 1e6))
    came = []
    network.send(a, b, 1e9, lambda: came.append("large"))
    network.send(a, b, 100, lambda: came.append("small"))
    env.run()
    assert came == ["small", "large"]


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(1, 1e7)), min_size=1, max_size=30))
def test_every_byte_that_is_sent_is_received(messages):
    env, network, *tasks = two_tasks()
    done = []
    for sender, size in messages:
        network.send(tasks[sender], tasks[1 - sender], size, lambda: done.append(1))
    env.run()
    assert len(done) == len(messages) == sum(task.messages_received for task in tasks)
    assert tasks[0].bytes_sent == pytest.approx(tasks[1].bytes_received)
    assert tasks[1].bytes_sent == pytest.approx(tasks[0].bytes_received)


@given(st.lists(st.floats(1, 1e9), min_size=1, max_size=30))
def test_a_line_is_never_idle_while_somebody_waits(sizes):
    share, now, left = FairShare(1e6), 0.0, []
    for size in sizes:
        share.add(0.0, size, size)
    while share.next_at() < float("inf"):
        now = share.next_at()
        left += share.leaving(now)
    assert left == sorted(sizes)
    assert now == pytest.approx(sum(sizes) / 1e6)


def sojourns_on_a_line(load, arrivals):
    """How long messages are on a line of one byte a second, each of one byte, that come at random."""
    env, rng, taken = simpy.Environment(), random.Random(3), []
    line = Line(env, 1.0)

    def arrive(began):
        line.carry(1.0, lambda: taken.append(env.now - began))

    def source():
        for _ in range(arrivals):
            yield env.timeout(rng.expovariate(load))
            arrive(env.now)

    env.process(source())
    env.run()
    return taken


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_a_shared_line_is_a_queue_with_processor_sharing(load):
    taken = sojourns_on_a_line(load, 6_000)
    assert len(taken) == 6_000
    assert sum(taken) / len(taken) == pytest.approx(1 / (1 - load), rel=0.08)  # M/G/1-PS


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_a_processor_is_a_queue_with_constant_service(load):
    rng, processor, now, waited, count = random.Random(5), Processor(1), 0.0, 0.0, 50_000
    for _ in range(count):
        now += rng.expovariate(load)
        waited += processor.book(now, 1.0) - now - 1.0
    assert waited / count == pytest.approx(load / (2 * (1 - load)), rel=0.06)  # M/D/1
    assert processor.busy == pytest.approx(count)


def test_cores_work_side_by_side():
    processor = Processor(2)
    assert [processor.book(0.0, 1.0) for _ in range(5)] == [1.0, 1.0, 2.0, 2.0, 3.0]
    assert processor.book(10.0, 1.0) == 11.0


def test_a_tail_is_heavy_and_rare():
    rng, tail = random.Random(7), Tail(probability=0.1, scale=2.0, shape=3.0)
    drawn = [tail.draw(rng) for _ in range(40_000)]
    assert sum(value > 0 for value in drawn) / len(drawn) == pytest.approx(0.1, rel=0.06)
    assert min(value for value in drawn if value) >= 2.0
    assert sum(drawn) / len(drawn) == pytest.approx(0.1 * 2.0 * 3 / 2, rel=0.06)  # Pareto's mean
    assert Tail().draw(rng) == 0.0


def test_countdown_calls_once():
    called = []
    one = countdown(2, lambda: called.append(1))
    for _ in range(3):
        one()
    assert called == [1]
