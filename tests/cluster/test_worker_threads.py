"""Threads that do what they are handed."""

import queue
import threading

import pytest

import tideflow as tf
from tideflow.cluster.worker_threads import WorkerThreads


def test_nothing_waits_for_a_thread():
    threads, open_door, seen = WorkerThreads(8, "test"), threading.Event(), queue.SimpleQueue()

    def wait(i):
        open_door.wait(10)
        seen.put(i)

    for i in range(8):
        threads.submit(wait, i)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="8 steps"):
        threads.submit(wait, 8)
    open_door.set()
    assert {seen.get(timeout=10) for _ in range(8)} == set(range(8))
    threads.shutdown()


def test_threads_are_kept():
    threads, seen = WorkerThreads(8, "test"), queue.SimpleQueue()
    for _ in range(20):
        threads.submit(lambda: seen.put(threading.get_ident()))
        first = seen.get(timeout=10)
        while not threads._idle:
            pass
    assert threads._started == 1 and first
    threads.shutdown()
