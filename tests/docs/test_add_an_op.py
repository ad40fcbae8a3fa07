"""docs/add_an_op.md, literally: from an empty file, by the errors that it shows, to an op of the package."""

import shutil
from pathlib import Path

import pytest

import tideflow as tf
from tests.docs.pages import Run, blocks
from tideflow.graph.op import definitions

ROOT = Path(__file__).parents[2]
PAGE = "add_an_op.md"
MODULE = next(i for i, block in enumerate(blocks(PAGE)) if block.title)  # what follows is about the package


@pytest.fixture
def vocabulary():
    """The op types as they were: the page's op is registered for this test alone."""
    before = set(definitions())
    yield
    for name in definitions().keys() - before:
        del definitions()[name]


def test_an_op_of_a_program(tmp_path, vocabulary):
    with tf.Graph().as_default():
        Run(PAGE, tmp_path).run(blocks(PAGE)[:MODULE])


@pytest.mark.slow(reason="the op is put into a copy of the package, which two processes then import")
def test_an_op_of_the_package(tmp_path):
    for part in ("tideflow", "tests/ops", "tests/conftest.py", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        (tmp_path / part).parent.mkdir(exist_ok=True)
        copy(ROOT / part, tmp_path / part)
    Run(PAGE, tmp_path).run(blocks(PAGE)[MODULE:])
