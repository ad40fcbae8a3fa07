"""Who is started again, and when a job is over: events in, instructions out."""

import signal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tideflow.launch.supervision import Alarm, Phase, Report, Send, Start, State, Supervision, Task

PS, CHIEF, WORKER = Task("ps", 0), Task("worker", 0), Task("worker", 1)
TASKS = [PS, CHIEF, WORKER]


def running(**options) -> Supervision:
    made = Supervision(TASKS, CHIEF, **options)
    for start in made.begin():
        assert made.is_due(start.task)
        made.started(start.task, "pid 1")
    return made


def acts(instructions) -> list:
    return [one for one in instructions if not isinstance(one, Report)]


def told(instructions) -> str:
    return "\n".join(one.text for one in instructions if isinstance(one, Report))


def test_servers_are_started_first():
    assert Supervision([CHIEF, WORKER, PS], CHIEF).begin() == [Start(PS), Start(CHIEF), Start(WORKER)]


def test_when_the_chief_has_finished_the_others_leave_by_themselves():
    job = running(grace=7.0)
    assert acts(job.ended(WORKER, 0)) == []
    assert acts(job.ended(CHIEF, 0)) == [Alarm(Phase.LEAVING, 7.0)]
    assert not job.is_over()
    job.ended(PS, 0)
    assert job.is_over() and job.code == 0
    assert job.alarm(Phase.LEAVING) == []


def test_who_does_not_leave_is_asked_to_and_then_killed():
    job = running(patience=3.0)
    job.ended(CHIEF, 0)
    asked = [Send(PS, signal.SIGTERM), Send(WORKER, signal.SIGTERM), Alarm(Phase.STOPPING, 3.0)]
    assert acts(job.alarm(Phase.LEAVING)) == asked
    job.ended(PS, 128 + signal.SIGTERM)
    killed = job.alarm(Phase.STOPPING)
    assert acts(killed) == [Send(WORKER, signal.SIGKILL)] and "worker 1" in told(killed)
    job.ended(WORKER, 128 + signal.SIGKILL)
    assert job.is_over() and job.code == 0


def test_a_task_that_fails_is_started_again_later_and_later():
    job = running(restarts=3)
    for wait in (1.0, 2.0, 4.0):
        assert acts(job.ended(WORKER, 1)) == [Start(WORKER, wait)]
        assert job.is_due(WORKER) and not job.is_due(WORKER)
        job.started(WORKER, "pid 2")
    gone = job.ended(WORKER, 1)
    assert acts(gone) == [] and "the others go on" in told(gone)
    assert job.records[WORKER].state is State.FAILED and not job.is_over()


@pytest.mark.parametrize("task", [PS, CHIEF])
def test_a_chief_or_server_that_fails_for_good_ends_the_job_with_its_code(task):
    job = running()
    others = [one for one in TASKS if one != task]
    assert acts(job.ended(task, 3))[:2] == [Send(one, signal.SIGTERM) for one in others]
    for one in others:
        job.ended(one, 143)
    assert job.is_over() and job.code == 3


def test_servers_that_took_the_chiefs_end_for_the_jobs_come_back_with_it():
    job = running(restarts=1)
    job.ended(PS, 0)
    assert acts(job.ended(CHIEF, 1)) == [Start(CHIEF, 1.0), Start(PS, 1.0)]
    assert job.records[PS].restarts == 0


def test_a_restart_that_is_put_off_is_dropped_when_the_job_ends_meanwhile():
    job = running(restarts=1)
    job.ended(WORKER, 1)
    job.ended(CHIEF, 0)
    assert not job.is_due(WORKER)
    assert job.records[WORKER].state is State.STOPPED


def test_an_interrupt_asks_and_a_second_one_kills():
    job = running()
    first = job.interrupted(signal.SIGINT)
    assert [one.signal for one in acts(first)[:3]] == [signal.SIGTERM] * 3
    assert acts(job.interrupted(signal.SIGINT)) == [Send(task, signal.SIGKILL) for task in TASKS]
    for task in TASKS:
        job.ended(task, 137)
    assert job.is_over() and job.code == 130


def test_a_task_that_was_being_started_when_the_job_was_stopped_is_stopped_too():
    job = Supervision(TASKS, CHIEF)
    assert job.is_due(PS)
    job.interrupted(signal.SIGTERM)
    assert not job.is_over()
    assert acts(job.started(PS, "pid 1")) == [Send(PS, signal.SIGTERM)]


def test_a_job_whose_cluster_has_changed_stops_to_begin_again():
    job = running()
    assert acts(job.regroup("a further worker is there"))[:3] == [
        Send(task, signal.SIGTERM) for task in TASKS
    ]
    for task in TASKS:
        job.ended(task, 143)
    assert job.is_over() and job.is_regrouping and job.code == 0


def test_a_job_that_is_interrupted_while_it_regroups_ends():
    job = running()
    job.regroup("a further worker is there")
    job.interrupted(signal.SIGINT)
    assert not job.is_regrouping and job.code == 130


def test_a_job_that_is_about_to_end_does_not_regroup():
    job = running()
    job.ended(CHIEF, 0)
    assert job.regroup("a further worker is there") == [] and not job.is_regrouping


def test_restarts_of_earlier_lives_count():
    job = running(restarts=2, restarted={WORKER: 2})
    assert "the others go on" in told(job.ended(WORKER, 1))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TASKS), st.integers(0, 255)), max_size=30), st.integers(0, 3))
def test_whatever_ends_the_job_ends_once_everybody_has_left(ends, restarts):
    job = running(restarts=restarts)
    for task, code in ends:
        if job.records[task].state is State.RUNNING:
            for one in acts(job.ended(task, code)):
                if isinstance(one, Start) and job.is_due(one.task):
                    job.started(one.task, "again")
    job.interrupted(signal.SIGINT)
    for task in job.alive():
        job.ended(task, 143)
    assert job.is_over()
    assert all(record.restarts <= restarts for record in job.records.values())
