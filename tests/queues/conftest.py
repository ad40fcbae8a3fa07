"""A session on a graph of its own, and steps of it that run beside the test."""

import threading

import pytest

import tideflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def in_thread(session):
    """Runs a step in a thread; the thread, and the list that its result comes into."""

    def run(fetch):
        found: list = []
        thread = threading.Thread(target=lambda: found.append(session.run(fetch)))
        thread.start()
        return thread, found

    return run
