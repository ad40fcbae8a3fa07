"""`--ops-of tideflow/ops/math/unary.py`: of the sample tests, only those of the ops that this file defines.
Files that samples write are removed in the end.
"""

import glob
import os
from pathlib import Path

import pytest

from tideflow.graph.traceback import file_and_line
from tideflow.ops.helpers.samples import scratch


def pytest_addoption(parser):
    parser.addoption("--ops-of", action="append", default=[], metavar="FILE", help="only samples of its ops")


def pytest_collection_modifyitems(config, items):
    files = {Path(file).resolve() for file in config.getoption("--ops-of")}
    if not files:
        return
    left_out = [item for item in items if (op := _op_of(item)) and _file_of(op) not in files]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def _op_of(item):
    """The op that a generated test is about; None for other tests."""
    given = getattr(getattr(item, "callspec", None), "params", {})
    return given.get("op") or getattr(given.get("case"), "op", None)


def _file_of(op):
    return Path(file_and_line(op._frame)[0]).resolve()


@pytest.fixture(scope="session", autouse=True)
def scratch_files_are_removed():
    yield
    for path in glob.glob(scratch("*")):
        os.remove(path)
