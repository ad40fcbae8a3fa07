"""A few interrupts of every kind of `tests/runtime/interrupts.py`, the same in every run."""

import signal
import subprocess
import sys
import threading
import time

import pytest

import tideflow as tf
from tests.runtime.interrupts import KINDS, At, interrupted
from tideflow.interrupts import deferred, deliver, held
from tideflow.runtime.conditions import Condition, Event

GROUPS = {
    "steps": "Variables Loop LoopOnTokens Compiling Building Scopes".split(),
    "queues": "Queues QueuesOnTokens BlockedQueue BlockedQueueOnTokens Crowd".split(),
    "state": "Datasets NewIterators Containers Savers OldSavers".split(),
    "training": "Coordinators Monitored Writers".split(),
    "eager": "EagerSteps EagerFunctions".split(),
    "clusters": "Clusters Clients BlockedClients".split(),
}


def test_the_groups_have_all_kinds():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(KINDS)


@pytest.mark.parametrize("group", GROUPS)
def test_interrupts_leave_nothing_waiting_and_state_whole(group):
    command = [sys.executable, "-m", "tests.runtime.interrupts", "--few", "3", *GROUPS[group]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "no hang, state whole" in done.stdout, done.stdout + done.stderr


@pytest.fixture
def sigint():
    """The handler of Ctrl-C as Python has it, whatever the process inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "a handler was left behind"
    signal.signal(signal.SIGINT, before)


def test_a_signal_in_a_block_is_handled_after_it(sigint):
    done = []
    with pytest.raises(KeyboardInterrupt):
        with deferred:
            with deferred:
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")
    assert done == ["inner", "outer"]


def test_a_signal_is_handled_where_the_block_delivers_it_unless_it_is_held(sigint):
    done = []
    with pytest.raises(KeyboardInterrupt):
        with deferred:
            signal.raise_signal(signal.SIGINT)
            with held:
                deliver()
                done.append("held")
            deliver()
            done.append("never")
    assert done == ["held"]


def test_a_signal_that_comes_again_after_a_while_is_handled_at_once(sigint, monkeypatch):
    now = time.monotonic()
    done = []
    with pytest.raises(KeyboardInterrupt):
        with deferred:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("patient")
            monkeypatch.setattr(time, "monotonic", lambda: now + 100)
            signal.raise_signal(signal.SIGINT)
            done.append("never")
    assert done == ["patient"]


def test_other_threads_defer_nothing(sigint):
    found = []

    def work():
        with deferred, held:
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [sigint]


def test_the_handler_of_the_program_is_called_with_its_signal(sigint):
    noted = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: noted.append(number))
    try:
        with deferred:
            signal.raise_signal(signal.SIGALRM)
            assert not noted
        assert noted == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("wait", [lambda: Event().wait(20), lambda: wait_for_nothing(Condition())])
def test_an_interrupt_ends_a_wait_and_leaves_no_lock(sigint, wait):
    threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
    began = time.monotonic()
    assert interrupted(wait) and time.monotonic() - began < 15


def wait_for_nothing(condition):
    try:
        with condition:
            condition.wait(20)
    finally:
        found = []
        thread = threading.Thread(target=lambda: condition.__enter__() or found.append(condition.__exit__()))
        thread.start()
        thread.join(10)
        assert found


def test_an_interrupt_while_a_table_is_replaced_keeps_the_checkpoint(sigint, tmp_path):
    """Not even the old one was left, where the new table was in place and its data were removed again."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0)
        saver = tf.train.Saver()
        session.run(v.initializer)
        path = saver.save(session, str(tmp_path / "model"), write_meta_graph=False)
        for at in range(0, 4000, 23):
            with At(at) as place:
                interrupted(lambda: saver.save(session, str(tmp_path / "model"), write_meta_graph=False))
            assert tf.train.load_variable(path, "Variable") == 1.0
            if not place.sent:
                break
