"""Session managers and supervisors: waiting has an end, what fails is closed, services do their work."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import tideflow as tf
from tests.patience import PATIENCE, eventually
from tideflow.train import session_manager


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def sessions(monkeypatch):
    """The sessions that managers make."""
    made = []

    class Kept(tf.Session):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr(session_manager, "Session", Kept)
    return made


def _ready_after(looks):
    """An op that says so many times that something is missing."""
    count = itertools.count(1)

    def missing():
        return np.array([b"v"] if next(count) <= looks else [], dtype=object)

    return tf.py_func(missing, [], tf.string)


def test_a_worker_looks_again_until_the_model_is_ready(sessions):
    manager = tf.train.SessionManager(ready_op=_ready_after(3), recovery_wait_secs=0.01)
    with manager.wait_for_session("", max_wait_secs=PATIENCE) as session:
        assert session is sessions[-1]
    assert len(sessions) == 4 and all(session._closed for session in sessions[:-1])


def test_a_worker_gives_up_in_time(sessions, monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.append(now.pop() + seconds))
    monkeypatch.setattr(session_manager, "time", clock)
    manager = tf.train.SessionManager(ready_op=_ready_after(1000))
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting 20 secs"):
        manager.wait_for_session("", max_wait_secs=20)
    assert len(sessions) > 1, "it looks more often than every 30 seconds at first"
    assert all(session._closed for session in sessions)


@pytest.mark.parametrize(
    "options",
    [{}, {"init_fn": lambda session: session.run("nothing:0")}, {"init_op": tf.no_op}],
    ids=["nothing to initialize with", "a function that fails", "an op that does not initialize"],
)
def test_a_session_that_cannot_be_prepared_is_closed(sessions, options):
    tf.get_variable("v", initializer=1.0)
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with pytest.raises((RuntimeError, ValueError, KeyError)):
        manager.prepare_session("", **{k: v() if k == "init_op" else v for k, v in options.items()})
    assert [session._closed for session in sessions] == [True]


def test_a_checkpoint_of_another_graph_is_refused_and_the_session_closed(sessions, tmp_path):
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default():
        tf.get_variable("other", initializer=1.0)
        with pytest.raises(tf.errors.NotFoundError, match="other"):
            tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path)
    assert sessions[-1]._closed


def test_services_save_summarize_and_count(tmp_path):
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    tf.summary.scalar("s", tf.constant(2.0))
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0.01, save_summaries_secs=0.01)
    with supervisor.managed_session() as session:
        session.run(add)
        eventually(lambda: str(tf.train.latest_checkpoint(str(tmp_path))).endswith("-1"))
        writer = supervisor.summary_writer

        def tags():
            writer.flush()
            events = [e for p in tmp_path.glob("events*") for e in tf.train.summary_iterator(str(p))]
            return {value.tag for event in events for value in event.summary.value}

        eventually(lambda: tags() >= {"s", "global_step/sec"})
    assert supervisor.should_stop()
    assert (tmp_path / "graph.pbtxt").exists()


def test_a_service_that_fails_ends_the_training(tmp_path):
    trouble = tf.check_numerics(tf.log(tf.placeholder_with_default(-1.0, [])), "not a number")
    v = tf.get_variable("v", initializer=1.0)
    supervisor = tf.train.Supervisor(
        logdir=str(tmp_path), summary_op=tf.summary.scalar("bad", trouble), save_summaries_secs=0.01
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
        with supervisor.managed_session() as session:
            while not supervisor.should_stop():
                session.run(v)


def test_a_supervisor_whose_session_cannot_be_made_says_why():
    tf.get_variable("v", initializer=1.0)
    supervisor = tf.train.Supervisor(init_op=None, local_init_op=None)
    with pytest.raises(RuntimeError, match="no init_op or init_fn"):
        with supervisor.managed_session():
            pass
