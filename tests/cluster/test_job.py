"""When a job is over."""

import pytest

from tideflow.cluster.job import Job

PS, CHIEF, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"
TASKS = [PS, CHIEF, WORKER]


def test_a_server_works_until_the_chief_has_finished_and_the_others_have_left():
    job = Job(PS, TASKS)
    job.heard(CHIEF)
    job.heard(WORKER)
    job.left(CHIEF, finished=True)
    assert not job.is_over()
    job.left(WORKER, finished=True)
    assert job.is_over()


def test_who_never_came_is_not_waited_for():
    job = Job(PS, TASKS)
    job.heard(CHIEF)
    job.left(CHIEF, finished=True)
    assert job.is_over()


def test_who_is_lost_is_not_waited_for_unless_it_is_the_chief():
    job = Job(PS, TASKS)
    for task in (CHIEF, WORKER):
        job.heard(task)
        job.lost(task)
    assert not job.is_over()
    job.heard(CHIEF)
    job.left(CHIEF, finished=True)
    assert job.is_over()


def test_a_chief_that_crashed_may_be_back():
    job = Job(PS, TASKS)
    job.heard(CHIEF)
    job.left(CHIEF, finished=False)
    assert not job.is_over()


@pytest.mark.parametrize("job, task", [("chief", 0), ("master", 0), ("worker", 2)])
def test_who_leads(job, task):
    name = f"/job:{job}/replica:0/task:{task}"
    there = Job(PS, [PS, "/job:evaluator/replica:0/task:0", name, f"/job:worker/replica:0/task:{task + 1}"])
    there.heard(name)
    there.left(name, finished=True)
    assert there.is_over()


def test_only_the_chief_is_awaited_and_only_by_servers():
    chief, worker = Job(CHIEF, TASKS), Job(WORKER, TASKS)
    assert chief.is_awaited_by(PS) and not chief.is_awaited_by(WORKER)
    assert not worker.is_awaited_by(PS)


@pytest.mark.parametrize("finished", [True, False])
def test_who_has_said_goodbye_has_left(finished):
    job = Job(PS, TASKS)
    job.heard(WORKER)
    assert not job.has_left(WORKER)
    job.left(WORKER, finished)
    assert job.has_left(WORKER) and not job.has_left(CHIEF)
