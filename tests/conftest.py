"""For all tests: properties are tried on the same examples every time, however long a busy machine takes;
compiled code that this user has from elsewhere is not loaded; a module begins with an empty default graph.
"""

import gc
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tideflow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tideflow")

# A shell has what it runs in the background ignore Ctrl-C, and the processes of tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def cache_of_their_own(tmp_path_factory):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True, scope="module")
def default_graph_of_their_own():
    if "tideflow.graph.scopes" in sys.modules:
        sys.modules["tideflow.graph.scopes"].reset_default_graph()


@pytest.fixture
def without_collector():
    """What refers to itself stays while the test runs."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
