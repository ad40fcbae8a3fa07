"""Checkpoints of the first format: what goes in comes out, and damage is an error."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tideflow.graph import dtypes
from tideflow.graph.errors import DataLossError, InvalidArgumentError, OpError
from tideflow.io.old_checkpoints import open_checkpoint, write_old_checkpoint
from tideflow.io.slices import TensorSlice
from tideflow.io.tables import read_table, write_table


def _parts():
    whole = np.arange(6, dtype=np.float32).reshape(3, 2)
    yield "whole", (3, 2), TensorSlice.whole(2), whole, dtypes.float32
    yield "cut", (3, 2), TensorSlice(((0, 1), (0, -1))), whole[:1], dtypes.float32
    yield "cut", (3, 2), TensorSlice(((1, 2), (0, -1))), whole[1:], dtypes.float32
    yield "text", (2,), TensorSlice.whole(1), np.array([b"a", b""], object), dtypes.string
    yield "one", (), TensorSlice.whole(0), np.array(3 + 4j), dtypes.complex128
    yield "none", (0,), TensorSlice.whole(1), np.zeros(0, np.int8), dtypes.int8


def test_what_goes_in_comes_out(tmp_path):
    write_old_checkpoint(tmp_path / "m", _parts())
    with open_checkpoint(tmp_path / "m") as reader:
        assert list(reader) == ["cut", "none", "one", "text", "whole"]
        assert (reader.read("cut") == reader.read("whole")).all()
        assert reader.read("cut", TensorSlice(((0, 2), (1, 1)))).tolist() == [[1], [3]]
        assert reader.read("text").tolist() == [b"a", b""]
        assert reader.read("one") == 3 + 4j
        assert reader.read("none").shape == (0,)


def test_shards_are_found_by_a_pattern(tmp_path):
    for i, part in enumerate(list(_parts())[1:3]):
        write_old_checkpoint(tmp_path / f"m-0000{i}-of-00002", [part])
    with open_checkpoint(tmp_path / "m-?????-of-00002") as reader:
        assert reader.read("cut").tolist() == [[0, 1], [2, 3], [4, 5]]


def test_one_slice_twice_is_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="duplicate key"):
        write_old_checkpoint(tmp_path / "m", [*_parts(), *_parts()])


def test_shapes_that_lie_are_refused_before_memory_is_asked_for(tmp_path):
    part = ("v", (1 << 50,), TensorSlice.whole(1), np.zeros(3), dtypes.float64)
    write_old_checkpoint(tmp_path / "m", [part])
    with pytest.raises(DataLossError, match="3 values for shape"):
        open_checkpoint(tmp_path / "m").read("v")


@given(block=st.binary(max_size=100), data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_of_any_bytes_are_an_error_or_harmless(block, data, tmp_path):
    write_old_checkpoint(tmp_path / "m", _parts())
    table = dict(read_table(str(tmp_path / "m")))
    key = data.draw(st.sampled_from(sorted(table)))
    cut = data.draw(st.integers(0, len(table[key])))
    table[key] = table[key][:cut] + block
    with open(tmp_path / "m", "wb") as file:
        write_table(file, sorted(table.items()))
    try:
        with open_checkpoint(tmp_path / "m") as reader:
            for name in reader:
                reader.read(name)
    except OpError:
        pass


def test_what_is_no_table_is_said_to_be_of_another_format(tmp_path):
    (tmp_path / "text").write_text("hello")
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "text", "too short to be an sstable")):
        with pytest.raises(DataLossError, match=f"{reason}.*perhaps your file is in a different file format"):
            open_checkpoint(str(path))
