"""Ctrl-C: a running step ends at once, the interrupt reaches the program, and state is whole."""

import itertools
import select
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import tideflow as tf

LONG_STEP = """
    import signal, threading
    import numpy as np
    import tideflow as tf

    # A parent that runs in the background ignores Ctrl-C, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    v = tf.Variable(tf.zeros([50_000]))
    x = y = tf.placeholder(tf.float32, [700, 700])
    value = np.full((700, 700), 1 / 700, np.float32)
    running = tf.py_func(lambda: print("running", flush=True) or np.float32(0), [], tf.float32)
    for _ in range(2000):  # minutes of work, were it let
        with tf.control_dependencies([running]):
            x = tf.matmul(x, y)
        with tf.control_dependencies([x]):
            running = v.assign_add(tf.ones([50_000])).op
    read = v.read_value()
    add = v.assign_add(tf.ones([50_000]))
    with tf.Session() as session:
        session.run(v.initializer)
        try:
            session.run([x, running], {y: value})
            print("finished")
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            print("interrupted", flush=True)
        found = []
        reader = threading.Thread(target=lambda: found.append(session.run(read)))
        reader.start()
        reader.join(60)
        print("whole" if found and found[0].min() == found[0].max() else "torn")
        print("next" if session.run(add).min() == found[0].min() + 1 else "lost")
"""


def test_an_interrupt_ends_a_long_step_and_leaves_state_whole():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LONG_STEP)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "running\n", process.stderr.read()
        for _ in range(20):  # an interrupt that lands inside a finalizer is lost: a person presses again
            process.send_signal(signal.SIGINT)
            if select.select([process.stdout], [], [], 2)[0]:
                break
        out, err = process.communicate(timeout=60)  # a step takes minutes: it was ended, not awaited
    finally:
        process.kill()
        process.wait()
    assert out.split() == ["interrupted", "whole", "next"], err


class Alarm(BaseException):
    """What the alarm raises, as Ctrl-C raises KeyboardInterrupt."""


@pytest.fixture
def alarm():
    """Runs a function again and again until a real signal interrupts it, wherever it then is."""

    def for_ever(work):
        while True:
            work()

    def ring(_, frame):
        while frame is not None and frame.f_code is not for_ever.__code__:
            frame = frame.f_back
        if frame is not None:  # else the work has been interrupted already, or has not begun
            raise Alarm

    before = signal.signal(signal.SIGALRM, ring)

    def interrupted(work, after):
        # It rings again: an exception raised inside a finalizer is lost, and the work would go on for ever.
        with pytest.raises(Alarm):
            signal.setitimer(signal.ITIMER_REAL, after, 0.5)
            for_ever(work)
        signal.setitimer(signal.ITIMER_REAL, 0)

    yield interrupted
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("kind", ["assign", "grouped updates", "scatter"])
def test_signals_at_any_instant_leave_every_variable_whole_and_free(alarm, kind):
    with tf.Graph().as_default():
        made = [tf.Variable(np.zeros(2000, np.float32), use_resource=r) for r in (False, True)]
        ones = tf.ones([2000])
        step = {
            "assign": lambda: [v.assign_add(ones).op for v in made],
            "grouped updates": lambda: tf.train.GradientDescentOptimizer(-1.0).apply_gradients(
                [(ones, v) for v in made]
            ),
            "scatter": lambda: [tf.scatter_add(v, tf.range(2000), ones).op for v in made],
        }[kind]()
        reads = [v.read_value() for v in made]
        with tf.Session() as session:
            session.run([v.initializer for v in made])
            session.run([step, reads])
            for k in range(24):
                alarm(lambda: session.run(step), 0.0005 + 0.00003 * k)
                found = []
                reader = threading.Thread(target=lambda: found.append(session.run(reads)), daemon=True)
                reader.start()
                reader.join(30)
                assert found, "a variable is still locked"
                for value in found[0]:
                    assert value.min() == value.max()


def test_an_interrupt_while_compiling_leaves_the_session_usable(alarm):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        y = x
        for _ in range(200):
            y = tf.exp(-y)
        fetches = [y * float(k) for k in range(200)]
        with tf.Session() as session:
            turns = itertools.cycle(fetches)
            for k in range(20):
                alarm(lambda: session.run(next(turns), {x: np.ones(3)}), 0.002 + 0.0007 * k)
                assert session.run(y, {x: np.ones(3)}).shape == (3,)
