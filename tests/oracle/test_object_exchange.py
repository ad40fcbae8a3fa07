"""Checkpoints of objects (tf.train.Checkpoint) written by TensorFlow are restored here, and ours there."""

import pickle

import object_exchange
import pytest
from runner import ORACLE, SUBJECT, exchange

from tideflow.io.bundle import BundleReader
from tideflow.io.object_graph import read_object_graph


@pytest.fixture(scope="module")
def folder(oracle, tmp_path_factory):
    return exchange("object_exchange.py", tmp_path_factory.mktemp("objects"))


@pytest.mark.parametrize("model", object_exchange.MODELS)
@pytest.mark.parametrize("writer", [ORACLE, SUBJECT])
def test_checkpoint_of_one_is_restored_by_the_other(writer, model, folder):
    written = pickle.loads((folder / writer / model / "values").read_bytes())
    read = pickle.loads((folder / f"{writer}.read").read_bytes())
    assert {name: read[model][name] for name in written} == written
    if model == "tables":
        assert read["extra"] == ["some state", [3, 4, -1]]


@pytest.mark.parametrize("model", object_exchange.MODELS)
def test_objects_keys_and_shapes_are_the_same(model, folder):
    described = []
    for side in (ORACLE, SUBJECT):
        with BundleReader(folder / side / model / "m-1") as reader:
            shapes = {name: (reader.entry(name).dtype, reader.entry(name).shape) for name in reader}
            described.append((read_object_graph(reader), shapes))
    assert described[0] == described[1]
