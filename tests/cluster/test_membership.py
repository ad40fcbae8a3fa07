"""Which tasks are there, which are missing, and when a job is over: events in, instructions out."""

import pytest

from tideflow.cluster import membership as module
from tideflow.cluster.membership import (
    FINISHED,
    HERE,
    LEFT,
    LOST,
    MOVES,
    UNSEEN,
    EndSteps,
    Lease,
    Membership,
    SayGoodbye,
    SendHeartbeat,
)

PS, CHIEF, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"
TASKS = [PS, CHIEF, WORKER]


@pytest.fixture
def ps():
    """The cluster as its parameter server knows it."""
    return Membership(PS, TASKS)


def state(membership, task):
    return membership.machine.state(task)


# --------------------------------------------------------------------------------------------- other tasks


def test_a_task_is_unseen_until_it_sends_or_answers_a_heartbeat(ps):
    assert state(ps, CHIEF) is UNSEEN
    ps.answered(CHIEF)
    assert state(ps, CHIEF) is HERE


def test_a_silent_task_is_lost_and_ends_the_steps_that_need_it(ps):
    ps.answered(CHIEF)
    assert ps.silent(CHIEF, "the connection broke") == [
        EndSteps(CHIEF, f"{CHIEF} is lost: the connection broke")
    ]
    assert state(ps, CHIEF) is LOST
    ps.answered(CHIEF)
    assert state(ps, CHIEF) is HERE


def test_a_task_that_was_never_here_cannot_be_lost(ps):
    ps.silent(WORKER, "nobody answers")
    assert state(ps, WORKER) is UNSEEN and ps.missing() == []


@pytest.mark.parametrize(("finished", "expected"), [(True, FINISHED), (False, LEFT)])
def test_a_task_that_has_said_goodbye_has_ended_until_it_is_started_again(ps, finished, expected):
    ps.answered(WORKER)
    ps.left(WORKER, finished)
    assert state(ps, WORKER) is expected
    ps.silent(WORKER, "nobody answers")
    assert state(ps, WORKER) is expected
    ps.answered(WORKER)
    assert state(ps, WORKER) is HERE


def test_every_event_is_legal_in_every_state():
    """Messages come from other processes: in any order, at any time."""
    assert all(set(events) == {"answer", "silence", "leave", "finish"} for events in MOVES.values())


def test_a_name_that_is_no_task_of_the_cluster_changes_nothing(ps):
    ps.answered("/job:stranger")
    ps.left("/job:stranger", finished=False)
    ps.left(PS, finished=True)
    assert ps.missing() == [] and ps.machine.record.moves() == []


def test_only_changes_are_recorded(ps):
    for _ in range(3):
        ps.answered(CHIEF)
    ps.silent(CHIEF, "late")
    ps.silent(CHIEF, "late again")
    moves = ps.machine.record.moves(CHIEF)
    assert [(move.event, move.state, move.detail) for move in moves] == [
        ("answer", HERE, ""),
        ("silence", LOST, "late"),
    ]
    assert Membership(PS, TASKS).machine.replay(moves) == [HERE, LOST]


# ----------------------------------------------------------------------------------------------- heartbeats


def test_heartbeats_go_to_the_tasks_that_were_here_and_those_with_a_connection(ps):
    assert ps.next_round([]) == []
    assert ps.next_round([WORKER]) == [SendHeartbeat(WORKER)]
    ps.answered(CHIEF)
    assert ps.next_round([]) == [SendHeartbeat(CHIEF)]
    ps.silent(CHIEF, "late")
    assert ps.next_round([]) == [SendHeartbeat(CHIEF)]  # it may come back
    ps.left(CHIEF, finished=False)
    assert ps.next_round([]) == []


def test_missing_tasks_are_those_that_are_lost_or_left_before_their_work_was_done(ps):
    for task in (CHIEF, WORKER):
        ps.answered(task)
    assert ps.missing() == []
    ps.silent(CHIEF, "late")
    ps.left(WORKER, finished=False)
    assert ps.missing() == [CHIEF, WORKER]
    ps.answered(CHIEF)
    ps.left(WORKER, finished=True)
    assert ps.missing() == []


def test_a_worker_learns_from_its_servers_which_other_workers_are_missing():
    chief = Membership(CHIEF, TASKS)
    chief.answered(PS, missing=[WORKER])
    assert chief.missing() == [] and chief.missing_anywhere() == {WORKER}
    chief.answered(PS, missing=[])
    assert chief.missing_anywhere() == set()


# ---------------------------------------------------------------------------------------- the end of the job


def test_a_server_works_until_the_chief_has_finished_and_the_other_workers_have_left(ps):
    ps.answered(CHIEF)
    ps.answered(WORKER)
    ps.left(CHIEF, finished=True)
    assert not ps.is_over()
    ps.left(WORKER, finished=True)
    assert ps.is_over()


def test_a_server_does_not_wait_for_a_worker_that_never_came(ps):
    ps.answered(CHIEF)
    ps.left(CHIEF, finished=True)
    assert ps.is_over()


def test_a_server_does_not_wait_for_a_lost_worker_but_for_a_lost_chief(ps):
    for task in (CHIEF, WORKER):
        ps.answered(task)
        ps.silent(task, "late")
    assert not ps.is_over()
    ps.answered(CHIEF)
    ps.left(CHIEF, finished=True)
    assert ps.is_over()


def test_a_chief_that_crashed_may_be_started_again(ps):
    ps.answered(CHIEF)
    ps.left(CHIEF, finished=False)
    assert not ps.is_over()


@pytest.mark.parametrize("job, task", [("chief", 0), ("master", 0), ("worker", 2)])
def test_the_chief_is_the_first_task_of_the_leading_job(job, task):
    name = f"/job:{job}/replica:0/task:{task}"
    others = ["/job:evaluator/replica:0/task:0", f"/job:worker/replica:0/task:{task + 1}"]
    membership = Membership(PS, [PS, *others, name])
    assert membership.chief == name
    membership.left(name, finished=True)
    assert membership.is_over()


def test_a_cluster_of_servers_alone_has_no_chief_and_is_never_over():
    membership = Membership(PS, [PS, "/job:ps/replica:0/task:1"])
    assert membership.chief is None and not membership.is_over()


def test_the_chief_says_goodbye_to_every_server_and_a_worker_to_those_that_know_it():
    chief, worker = Membership(CHIEF, TASKS), Membership(WORKER, TASKS)
    assert chief.ending([]) == [SayGoodbye(PS)]
    assert worker.ending([]) == [] and worker.ending([PS]) == [SayGoodbye(PS)]
    worker.answered(CHIEF)
    assert worker.ending([]) == [SayGoodbye(CHIEF)]
    worker.left(CHIEF, finished=True)
    assert worker.ending([CHIEF]) == []


# --------------------------------------------------------------------------------------------------- leases


def test_a_lease_runs_out_after_so_many_silent_rounds(monkeypatch):
    monkeypatch.setattr(module, "LEASE_ROUNDS", 2)
    lease = Lease()
    assert not lease.ran_out() and not lease.ran_out()
    lease.renew()
    assert [lease.ran_out() for _ in range(3)] == [False, False, True]
