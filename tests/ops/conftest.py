"""What samples of ops write to files is removed in the end."""

import glob
import os

import pytest

from tideflow.ops.helpers.samples import scratch


@pytest.fixture(scope="session", autouse=True)
def scratch_files_are_removed():
    yield
    for path in glob.glob(scratch("*")):
        os.remove(path)
