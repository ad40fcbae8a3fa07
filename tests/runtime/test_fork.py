"""Fork: importing starts no thread, and a child process computes whatever its parent did before."""

import subprocess
import sys
import textwrap

import pytest

from tests import starter

ENVIRONMENT = {"OMP_NUM_THREADS": "2", "PATH": "", "PYTHONPATH": ":".join(sys.path)}


def run(program: str) -> str:
    """What the program prints in a process of its own, with two kernel threads; it must end in time."""
    return printed(starter.run(["-c", textwrap.dedent(program)], env=ENVIRONMENT, timeout=120))


def printed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


# A product and a sum that are large enough for several threads.
STEP = """
import os, tideflow as tf
def step():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([600, 600])
        print(int(session.run(tf.reduce_sum(tf.exp(tf.matmul(x, x) * 0.0)))), flush=True)
"""


def test_import_starts_no_thread_of_its_own():
    before_and_after = """
        import os
        def threads():
            return len(os.listdir("/proc/self/task"))
        import numpy, torch  # NumPy's own threads know about forks
        before = threads()
        import tideflow
        print(threads() - before)
        """
    command = [sys.executable, "-c", textwrap.dedent(before_and_after)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    assert printed(done) == "0\n"


FORK = """
child = os.fork()
if child == 0:
    step()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("before", ["", "step()\n"], ids=["after import", "after a session"])
def test_a_forked_child_computes(before):
    assert run(f"{STEP}\n{before}{FORK}").split() == ["360000"] * (2 if before else 1)


def test_the_child_of_a_process_with_kernel_threads_computes_on_one():
    """A fed matrix, so that steps compute it: the threads that they choose from are the parent's no more."""
    steps = """
        import os, numpy as np, torch, tideflow as tf
        x = tf.placeholder(tf.float32, [600, 600])
        total = tf.reduce_sum(tf.matmul(x, x))
        def run():
            with tf.Session() as session:
                for _ in range(5):
                    result = session.run(total, {x: np.ones([600, 600])})
            print(int(result), torch.get_num_threads(), flush=True)
        run()
        child = os.fork()
        if child == 0:
            run()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    assert run(steps).split() == ["216000000", "2", "216000000", "1"]


@pytest.mark.parametrize("before", ["", "step()\n"], ids=["after import", "after a session"])
def test_a_process_pool_of_forks_computes(before):
    pool = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.apply_async(step).get(60)
"""
    assert run(f"{STEP}\n{before}{pool}").split() == ["360000"] * (2 if before else 1)


REFUSAL = "A session does not survive a fork"

# What each of these makes in the parent is used in the child, which prints what it meets there.
IN_CHILD = {
    "a session": ("session = tf.Session(); out = tf.constant(1.0) + 1; session.run(out)", "session.run(out)"),
    "a session that did not run": ("session = tf.Session(); out = tf.constant(1.0)", "session.run(out)"),
    "a callable": ("session = tf.Session(); run = session.make_callable(tf.constant(1.0)); run()", "run()"),
    "a queue": (
        "session = tf.Session(); q = tf.FIFOQueue(9, tf.float32); put = q.enqueue(1.0); session.run(put)",
        "session.run(put)",
    ),
    "a step that waits in another thread": (
        "session = tf.Session(); q = tf.FIFOQueue(9, tf.float32); out = q.dequeue(); put = q.enqueue(1.0)\n"
        "import threading; waiting = threading.Thread(target=lambda: session.run(out), daemon=True)\n"
        "waiting.start()\n"
        "while not any(queue._dequeues for queue in session._resources.all('queue')): pass",
        "session.run(put); waiting.join()",
    ),
    "an iterator with threads": (
        "session = tf.Session(); it = tf.data.Dataset.range(99).prefetch(3).make_one_shot_iterator()\n"
        "following = it.get_next(); session.run(following)",
        "session.run(following)",
    ),
    "the token executor": (
        "config = tf.ConfigProto(); config.experimental.executor_type = 'TOKENS'\n"
        "session = tf.Session(config=config); out = tf.constant(1.0) + 1; session.run(out)",
        "session.run(out)",
    ),
    "a server": (
        "server = tf.train.Server.create_local_server(); out = tf.constant(1.0)\n"
        "session = tf.Session(server.target); session.run(out)",
        "server.join(); server.stop(); session.run(out)",
    ),
    "a monitored session": (
        "out = tf.constant(1.0); session = tf.train.MonitoredSession(); session.run(out)",
        "session.run(out)",
    ),
}


@pytest.mark.parametrize("name", IN_CHILD)
def test_what_the_parent_made_is_refused_in_the_child_and_goes_on_in_the_parent(name):
    make, use = IN_CHILD[name]
    program = f"""
import os, sys, tideflow as tf
{make}
child = os.fork()
if child == 0:
    try:
        {use}
    except tf.errors.FailedPreconditionError as error:
        print(error.message, flush=True)
    session.close()
    with tf.Graph().as_default(), tf.Session() as own:
        print(own.run(tf.constant(5)), flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
{use if name != "a server" else "session.run(out)"}
print("parent", flush=True)
"""
    found = run(program)
    assert REFUSAL in found and found.split()[-2:] == ["5", "parent"]


def test_a_child_writes_no_events_of_its_parent(tmp_path):
    program = f"""
import os, sys, tideflow as tf
writer = tf.summary.FileWriter({str(tmp_path)!r})
writer.add_summary(tf.Summary(), 1)
writer.flush()
writer.event_writer._file.write(tf.Event(step=2))  # it is in the buffer at the fork
child = os.fork()
if child == 0:
    for step in range(100):
        writer.event_writer.add_event(tf.Event(step=100 + step))
    writer.flush()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
writer.close()
(name,) = os.listdir({str(tmp_path)!r})
print([event.step for event in tf.train.summary_iterator({str(tmp_path)!r} + "/" + name)])
"""
    assert run(program) == "[0, 1, 2]\n"


def test_a_graph_that_another_thread_was_changing_can_be_used_in_the_child():
    program = """
import os, threading, tideflow as tf
graph = tf.get_default_graph()
held, let_go = threading.Event(), threading.Event()
def hold():
    with graph._lock:
        held.set()
        let_go.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    with tf.Session() as session:
        print(session.run(tf.constant(1) + 1), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
let_go.set()
"""
    assert run(program) == "2\n"
