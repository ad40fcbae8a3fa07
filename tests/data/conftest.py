import threading

import pytest


@pytest.fixture
def meet():
    """A slow function of numbers from 0 on, of which later calls return only two by two."""
    meeting = threading.Barrier(2, timeout=20)

    def meet(x):
        if x >= 16:  # by then the function is known to be slow
            meeting.wait()
        else:
            threading.Event().wait(0.001)
        return x

    return meet
