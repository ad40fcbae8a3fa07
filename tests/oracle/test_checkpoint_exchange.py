"""Checkpoints written by TensorFlow are read here, and ours there: by savers, by imported graphs, by name."""

import pickle
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import checkpoint_exchange
from runner import ORACLE, SUBJECT, start


def _run(side, *arguments):
    status, said = start(side, "checkpoint_exchange.py", *arguments)
    assert status == 0, f"{side} could not {arguments[0]}:\n{said}"


@pytest.fixture(scope="module")
def folder(oracle, tmp_path_factory):
    home = tmp_path_factory.mktemp("checkpoints")
    for side in (ORACLE, SUBJECT):
        _run(side, "write", home / side)
    for writer, reader in ((ORACLE, SUBJECT), (SUBJECT, ORACLE)):
        _run(reader, "read", home / writer, home / f"{writer}.read")
    return home


@pytest.mark.parametrize("model", checkpoint_exchange.MODELS)
@pytest.mark.parametrize("writer", [ORACLE, SUBJECT])
def test_checkpoint_of_one_is_read_by_the_other(writer, model, folder):
    written = pickle.loads((folder / writer / model / "values").read_bytes())
    read = pickle.loads((folder / f"{writer}.read").read_bytes())[model]
    assert read["restored"] == written
    assert read["imported"] == written
    if model == "old":
        return
    whole = {name.removesuffix(":0"): value for name, value in written.items() if "/part_" not in name}
    assert {name: read["listed"][name] for name in whole} == whole


@pytest.mark.parametrize("model", ["numbers", "strings", "kinds", "partitioned", "many"])
def test_files_are_the_same_byte_for_byte(model, folder):
    for suffix in ("index", "data-00000-of-00001"):
        ours, theirs = ((folder / side / model / f"m-1.{suffix}").read_bytes() for side in (SUBJECT, ORACLE))
        assert ours == theirs
