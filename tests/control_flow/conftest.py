"""A graph of its own for a test, and both ways to run it."""

import pytest

import tideflow as tf

EXECUTORS = {"plan": "", "tokens": "TOKENS"}


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture(params=EXECUTORS)
def config(request):
    """A session's configuration that compiles its steps, then one that runs them on the token executor."""
    return tf.ConfigProto(experimental=tf.ConfigProto.Experimental(executor_type=EXECUTORS[request.param]))


@pytest.fixture
def session(graph, config):
    with tf.Session(config=config) as session:
        yield session
