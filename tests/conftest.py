"""For all tests: properties are tried on the same examples every time, however long a busy machine takes, and
compiled code that this user has from elsewhere is not loaded.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "tideflow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tideflow")


@pytest.fixture(autouse=True, scope="session")
def cache_of_their_own(tmp_path_factory):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
