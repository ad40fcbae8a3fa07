"""One cache of steps, by fetches, feeds and kind; three executors behind one protocol."""

import inspect

import numpy as np
import pytest

import tideflow as tf
from tideflow.cluster.client import RemoteMaster
from tideflow.cluster.master import Master
from tideflow.session import step_cache
from tideflow.session.executor import Executor, LocalExecutor

TRACE = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
TIMEOUT = tf.RunOptions(timeout_in_ms=60_000)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def kinds(session):
    return sorted(kind for _, _, kind in session._steps.steps)


def test_a_step_has_one_entry_for_each_kind(session):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    for _ in range(2):
        assert session.run(y, {x: 1.0}) == 2.0
        assert session.run(y, {x: 1.0}, TIMEOUT) == 2.0
        assert session.run(y, {x: 1.0}, TRACE, tf.RunMetadata()) == 2.0
        assert session.run(y, {(x,): (1.0,)}) == 2.0
    assert kinds(session) == sorted([step_cache.QUICK, step_cache.FLAT, step_cache.TIMED, step_cache.TRACED])


def test_keys_of_several_tensors_are_never_taken_for_quick_ones(session):
    x = tf.sparse_placeholder(tf.float32)
    total = tf.reduce_sum(x.values)
    value = tf.SparseTensorValue([[0]], [3.0], [2])
    for _ in range(2):
        assert session.run(total, {x: value}) == 3.0
    assert kinds(session) == [step_cache.FLAT]


def test_a_session_with_a_timeout_has_timed_steps_alone():
    config = tf.ConfigProto(operation_timeout_in_ms=60_000)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        y = tf.constant(1.0) + 1.0
        assert session.run(y) == session.run(y) == 2.0
        assert kinds(session) == [step_cache.TIMED]


def test_a_changed_graph_drops_the_steps(session):
    a, b = tf.constant(1.0), tf.constant(2.0)
    y = tf.identity(a)
    assert session.run(y) == 1.0
    assert not session._steps.is_stale
    y.op._update_input(0, b)
    assert session._steps.is_stale and session.run(y) == 2.0
    assert len(session._steps.steps) == 1


def test_closing_a_session_forgets_its_steps(session):
    session.run(tf.constant(np.ones(3)))
    session.close()
    assert not session._steps.steps


@pytest.mark.parametrize("kind", [LocalExecutor, Master, RemoteMaster])
def test_executors_have_every_member_of_the_protocol(kind):
    wanted = {name for name in vars(Executor) if not name.startswith("_")}
    assert "compile" in wanted and "fills_traces" in wanted
    source = inspect.getsource(kind)
    for name in wanted:
        assert hasattr(kind, name) or f"self.{name} = " in source, name
