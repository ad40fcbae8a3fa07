"""Tests of eager mode run in it, whatever the process is in."""

import pytest

from tideflow.eager.context import eager_graph, eager_mode


@pytest.fixture
def eagerly():
    with eager_mode():
        eager_graph().forget()
        eager_graph().seed = None
        yield
