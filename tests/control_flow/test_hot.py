"""The hot tier: a step that is worth it is compiled in the background, and gives the same after as before."""

import logging
import os
import shutil

import numpy as np
import pytest

import tideflow as tf
from tideflow.compile import hot, inductor
from tideflow.compile.ir import walk

pytestmark = pytest.mark.usefixtures("graph")

has_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="the hot tier needs a C++ compiler"
)


@pytest.fixture
def at_once(monkeypatch):
    """Every plan with a loop is hot after its first step."""
    monkeypatch.setattr(hot, "_HOT_STEPS", 1)
    monkeypatch.setattr(hot, "_HOT_SECONDS", 0.0)


def recurrent():
    """A small recurrent network over rows, a branch and a counter beside it, and its gradients."""
    x, w = tf.placeholder(tf.float32, [6, 4], "x"), tf.placeholder(tf.float32, [4, 4], "w")
    rows = tf.TensorArray(tf.float32, 6, element_shape=[4]).unstack(x)

    def body(i, h, made):
        h = tf.tanh(tf.matmul(h, w) + rows.read(i)) * 0.9 + tf.sigmoid(h) * 0.1
        h = tf.cond(tf.equal(i % 2, 0), lambda: h, lambda: h * 0.5)
        return i + 1, h, made.write(i, tf.reduce_sum(h * h))

    made = tf.TensorArray(tf.float32, 6, element_shape=[])
    _, h, made = tf.while_loop(lambda i, *_: i < 6, body, [0, tf.zeros([1, 4]), made])
    loss = tf.reduce_sum(made.stack())
    return [h, loss, *tf.gradients(loss, [x, w])]


def feeds():
    rng = np.random.RandomState(0)
    return {
        "x:0": rng.normal(size=(6, 4)).astype(np.float32),
        "w:0": rng.normal(size=(4, 4)).astype(np.float32),
    }


def plan_of(session):
    (step,) = session._steps.steps.values()
    (plan,) = step.plans.values()
    return plan


@has_compiler
def test_a_compiled_step_gives_the_same_and_is_kept(at_once, monkeypatch):
    monkeypatch.setattr(hot, "_better", lambda on_kernels, compiled, replace: compiled)
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)  # compiles without delay
    config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
    fetches = recurrent()[:2]  # the backward loop takes as long again
    with tf.Session(config=config) as session:
        before = session.run(fetches, feeds())
        assert hot.wait_until_compiled(300)
        assert "compiled" in plan_of(session).applied
        assert "_Compiled" in {node.type for node in walk(plan_of(session).program)}
        for _ in range(2):
            for cold, warm in zip(before, session.run(fetches, feeds()), strict=True):
                np.testing.assert_allclose(warm, cold, rtol=1e-4, atol=1e-6)
    monkeypatch.setattr(hot, "_HOT_STEPS", 1000)  # what follows is loaded, long before it is hot
    monkeypatch.setattr(inductor._worker, "run", lambda *_: pytest.fail("it is compiled again"))
    with tf.Session() as session:
        for _ in range(hot._LOAD_STEPS):
            session.run(fetches, feeds())
        assert hot.wait_until_compiled(300)
        assert "compiled" in plan_of(session).applied
        for cold, warm in zip(before, session.run(fetches, feeds()), strict=True):
            np.testing.assert_allclose(warm, cold, rtol=1e-4, atol=1e-6)


def test_no_compiler_is_said_once_and_is_no_error(at_once, monkeypatch, caplog):
    monkeypatch.setattr(inductor.shutil, "which", lambda name: None)
    monkeypatch.setattr(inductor, "_said_why_not", False)
    fetches = recurrent()
    with caplog.at_level(logging.INFO, "tideflow"), tf.Session() as session, tf.Session() as other:
        first = session.run(fetches, feeds())
        for again in (session.run(fetches, feeds()), other.run(fetches, feeds())):
            for a, b in zip(first, again, strict=True):
                np.testing.assert_array_equal(a, b)
        assert hot.wait_until_compiled(300)
        assert "compiled" not in plan_of(session).applied
    assert sum("No C++ compiler" in record.message for record in caplog.records) == 1
    assert not [record for record in caplog.records if record.levelno > logging.INFO]


def test_a_loop_that_cannot_be_compiled_stays_as_it_is(at_once, monkeypatch, caplog):
    def fails(stretches, arguments):
        raise RuntimeError("the compiler is broken")

    monkeypatch.setattr(inductor, "can_compile", lambda: True)
    monkeypatch.setattr(inductor, "prepare", fails)
    fetches = recurrent()
    with tf.Session() as session:
        first = session.run(fetches, feeds())
        assert hot.wait_until_compiled(300)
        for a, b in zip(first, session.run(fetches, feeds()), strict=True):
            np.testing.assert_array_equal(a, b)
    assert "the compiler is broken" in caplog.text


def test_switched_off(at_once, monkeypatch):
    monkeypatch.setattr(hot._compiler, "submit", lambda *_: pytest.fail("nothing should be compiled"))
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.OFF)
    config = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))
    fetches = recurrent()
    with tf.Session(config=config) as session:
        for _ in range(3):
            session.run(fetches, feeds())


def test_a_cold_plan_is_not_compiled(monkeypatch):
    """Loops that take no time are not worth seconds of compiling."""
    monkeypatch.setattr(hot._compiler, "submit", lambda *_: pytest.fail("nothing should be compiled"))
    monkeypatch.setattr(hot, "_HOT_SECONDS", 3600.0)
    monkeypatch.setattr(inductor, "can_load", lambda: False)
    fetches = recurrent()
    with tf.Session() as session:
        for _ in range(hot._HOT_STEPS + 2):
            session.run(fetches, feeds())


@has_compiler
def test_another_user_s_cache_of_compiled_code_is_not_used(tmp_path, monkeypatch, caplog):
    """Whoever made the folder decides what code is run from it."""
    monkeypatch.setattr(inductor, "_said_why_not", False)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o777)
    assert not inductor.can_compile()
    assert "no safe place" in caplog.text and "open to others" in caplog.text


@has_compiler
def test_compiled_code_is_kept_in_a_folder_of_this_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    assert inductor.can_compile()
    assert os.environ["TORCHINDUCTOR_CACHE_DIR"] == str(tmp_path / "tideflow" / "inductor")
