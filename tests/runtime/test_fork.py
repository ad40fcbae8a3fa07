"""Fork: importing starts no thread, and a child process computes whatever its parent did before."""

import subprocess
import sys
import textwrap

import pytest


def run(program: str) -> str:
    """What the program prints in a process of its own, with two kernel threads; it must end in time."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={"OMP_NUM_THREADS": "2", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
    )
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
    assert run(before_and_after) == "0\n"


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


@pytest.mark.parametrize("before", ["", "step()\n"], ids=["after import", "after a session"])
def test_a_process_pool_of_forks_computes(before):
    pool = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.apply_async(step).get(60)
"""
    assert run(f"{STEP}\n{before}{pool}").split() == ["360000"] * (2 if before else 1)
