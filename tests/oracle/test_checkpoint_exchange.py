"""Checkpoints written by TensorFlow are read here, and ours there: by savers, by imported graphs, by name."""

import pickle

import checkpoint_exchange
import pytest
from runner import ORACLE, SUBJECT, exchange


@pytest.fixture(scope="module")
def folder(oracle, tmp_path_factory):
    return exchange("checkpoint_exchange.py", tmp_path_factory.mktemp("checkpoints"))


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
