"""Steps of workers and servers, against what can be counted by hand."""

import statistics
from dataclasses import replace

import pytest

from tideflow.simulator.network import Machine, Tail
from tideflow.simulator.training import Job, Training

HOP = 1.0  # seconds, of a message: there is nothing else
QUIET = Machine(message_seconds=0.0, latency=HOP, bytes_per_second=1e12)


def steps_of(job, steps=4):
    done = Training(job).run(steps)
    return done, done.step_seconds[1:]


def test_a_synchronous_step_is_four_messages_long():
    _, seconds = steps_of(Job(1, 1, QUIET, QUIET))
    assert seconds == pytest.approx([4 * HOP] * 3)  # run, parameters, gradient, token


def test_several_servers_must_tell_the_first():
    _, seconds = steps_of(Job(3, 2, QUIET, QUIET))
    assert seconds == pytest.approx(
        [5 * HOP] * 3
    )  # one more: that the gradient is in, as that the mean is taken


def test_an_asynchronous_step_ends_with_the_answer():
    _, seconds = steps_of(Job(1, 2, QUIET, QUIET, synchronous=False))
    assert seconds == pytest.approx([4 * HOP] * 3)  # run, parameters, gradient, answer


def test_rows_are_asked_for_beside_run():
    _, seconds = steps_of(Job(1, 1, QUIET, QUIET, index_bytes=64))
    assert seconds == pytest.approx([4 * HOP] * 3)


@pytest.mark.parametrize(
    "workers, expected",
    [(1, 4.0), (2, 4.0), (8, 8.0)],  # what the worker's interface takes in; what the servers' give out
)
def test_dense_steps_are_bound_by_the_narrower_side(workers, expected):
    machine = Machine(message_seconds=0.0, latency=0.0, bytes_per_second=1e6)
    _, seconds = steps_of(Job(workers, 4, machine, machine, fetch_bytes=1e6))
    assert statistics.median(seconds) == pytest.approx(expected, rel=0.01)


def test_handling_messages_bounds_the_server_with_the_tokens():
    machine, workers, servers = replace(QUIET, latency=0.0), 20, 4
    _, seconds = steps_of(Job(workers, servers, machine, replace(machine, message_seconds=1.0)))
    ends_a_worker = 5 + (servers - 1)  # run, parameters, gradient, answer, token; what the others report
    assert statistics.median(seconds) == pytest.approx(workers * ends_a_worker, rel=0.2)


def test_computing_overlaps_with_what_is_sent():
    machine = Machine(message_seconds=0.0, latency=0.0, bytes_per_second=1e6)
    job = Job(1, 10, machine, machine, fetch_bytes=1.0, push_bytes=1e5, compute=30.0)
    _, seconds = steps_of(job)
    assert seconds == pytest.approx([30.0 + 0.1] * 3, rel=1e-3)  # only the last gradient is waited for


def test_nobody_waits_for_the_slow_where_each_goes_its_own_way():
    slow = Tail(probability=0.1, scale=100.0)
    job = Job(10, 1, QUIET, QUIET, compute=1.0, straggling=slow)
    _, together = steps_of(job, 10)
    _, apart = steps_of(replace(job, synchronous=False), 10)
    assert statistics.median(apart) == pytest.approx(5 * HOP)
    assert statistics.mean(together) > 50


def test_backups_take_the_place_of_the_slow_and_late_gradients_are_dropped():
    slow = Tail(probability=0.05, scale=100.0)
    alone, without = steps_of(Job(10, 2, QUIET, QUIET, compute=1.0, straggling=slow), 30)
    backed, with_them = steps_of(Job(13, 2, QUIET, QUIET, compute=1.0, straggling=slow, backups=3), 30)
    assert alone.dropped == 0 < backed.dropped
    assert statistics.mean(with_them) < statistics.mean(without) / 2


def test_a_token_that_a_straggler_left_behind_is_old_for_whoever_takes_it():
    times = [iter([1.0] * 20), iter([1.0] * 20), iter([50.0] * 20)]
    job = Job(3, 1, QUIET, QUIET, backups=1, computing=lambda worker: next(times[worker]))
    done = Training(job).run(6)
    assert done.dropped > 0  # in every other step, one of the quick two first computes in vain
    assert done.step_seconds == pytest.approx([5.0, 5.0, 10.0, 5.0, 10.0, 5.0])


def test_known_times_are_taken_in_turn():
    times = [iter([1.0, 2.0, 3.0, 4.0]), iter([4.0, 1.0, 1.0, 4.0])]
    done = Training(Job(2, 1, QUIET, QUIET, computing=lambda worker: next(times[worker]))).run(3)
    assert done.step_seconds == pytest.approx([4 + 4, 4 + 2, 4 + 3])


def test_the_seed_decides():
    job = Job(4, 2, QUIET, QUIET, compute=1.0, spread=0.2, straggling=Tail(0.1, 1.0))
    first, again, other = (steps_of(one, 10)[1] for one in (job, job, replace(job, seed=2)))
    assert first == again != other


def test_each_step_costs_a_server_as_many_messages_as_it_should():
    done = Training(Job(3, 4, QUIET, QUIET, synchronous=False)).run(5)
    for server in done.servers:
        assert server.messages_received == pytest.approx(
            2 * 3 * 5, abs=6
        )  # run and gradient; some are under way
