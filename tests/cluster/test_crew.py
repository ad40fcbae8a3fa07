"""Threads that do what they are handed."""

import queue
import threading

import pytest

import tideflow as tf
from tideflow.cluster.crew import Crew


def test_nothing_waits_for_a_thread():
    crew, open_door, seen = Crew(8, "test"), threading.Event(), queue.SimpleQueue()

    def wait(i):
        open_door.wait(10)
        seen.put(i)

    for i in range(8):
        crew.do(wait, i)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="8 steps"):
        crew.do(wait, 8)
    open_door.set()
    assert {seen.get(timeout=10) for _ in range(8)} == set(range(8))
    crew.dismiss()


def test_threads_are_kept():
    crew, seen = Crew(8, "test"), queue.SimpleQueue()
    for _ in range(20):
        crew.do(lambda: seen.put(threading.get_ident()))
        first = seen.get(timeout=10)
        while not crew._idle:
            pass
    assert crew._hired == 1 and first
    crew.dismiss()
