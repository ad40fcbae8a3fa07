"""These tests run in eager mode."""

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def eagerly():
    """Makes eager mode the mode of the test, and of the threads and children that it starts."""
    tf.reset_default_graph()  # which other tests may have filled
    tf.enable_eager_execution()
    yield
    tf.disable_eager_execution()
