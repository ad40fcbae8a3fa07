"""Checkpoint files: what goes in comes out; what is damaged is refused by name; old or new is there."""

import errno
import itertools
import os
import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tideflow.graph import dtypes
from tideflow.graph.errors import DataLossError, InvalidArgumentError, NotFoundError, OpError
from tideflow.io import bundle, bundle_writer
from tideflow.io.bundle import BundleReader
from tideflow.io.bundle_format import BundleEntryProto, index_path
from tideflow.io.bundle_writer import BundleWriter, commit, merge_bundles
from tideflow.io.slices import TensorSlice, parse_shape_and_slice
from tideflow.io.tables import read_table, write_table

_NUMPY = [np.float32, np.float16, np.int64, np.uint8, np.bool_, np.complex64, ml_dtypes.bfloat16, object]


def _array(dtype, shape):
    if dtype is object:
        value = np.empty(int(np.prod(shape)), object)
        value[:] = [b"x" * (i % 300) for i in range(value.size)]
        return value.reshape(shape)
    return (np.arange(np.prod(shape)) % 5).astype(dtype).reshape(shape)


def _write(prefix, **tensors):
    with BundleWriter(prefix) as writer:
        for name, value in tensors.items():
            writer.add(name, value)
    return str(prefix)


# -------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("shape", [(), (7,), (3, 4), (0, 2)])
@pytest.mark.parametrize("dtype", _NUMPY)
def test_what_goes_in_comes_out(dtype, shape, tmp_path):
    value = _array(dtype, shape)
    with BundleReader(_write(tmp_path / "m", v=value)) as reader:
        found = reader.read("v")
    assert found.dtype == value.dtype
    assert found.shape == shape
    assert (found == value).all()


def test_quantized_types_are_told_apart(tmp_path):
    with BundleWriter(tmp_path / "m") as writer:
        writer.add("v", np.int8([1, 2]), dtypes.qint8)
    assert BundleReader(tmp_path / "m").entry("v").dtype is dtypes.qint8


def test_arrays_need_not_be_contiguous(tmp_path):
    value = np.arange(12.0).reshape(3, 4).T
    assert (BundleReader(_write(tmp_path / "m", v=value)).read("v") == value).all()


def test_names_are_listed_in_order_without_slices(tmp_path):
    with BundleWriter(tmp_path / "m") as writer:
        writer.add("z", np.float32(1))
        writer.add_slice("b", (4,), TensorSlice(((0, 4),)), np.ones(4))
        writer.add_slice("a", (4,), TensorSlice(((0, 2),)), np.zeros(2))
        writer.add_slice("a", (4,), TensorSlice(((2, 2),)), np.ones(2))
    reader = BundleReader(tmp_path / "m")
    assert list(reader) == ["a", "b", "z"]
    assert reader.read("a").tolist() == [0, 0, 1, 1]
    assert reader.read("a", TensorSlice(((1, 2),))).tolist() == [0, 1]
    assert reader.read("b", TensorSlice(((1, 2),))).tolist() == [1, 1]


@given(
    rows=st.integers(1, 12),
    cuts=st.sets(st.integers(1, 11), max_size=4),
    start=st.integers(0, 11),
    data=st.data(),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_part_of_any_partition(rows, cuts, start, data, tmp_path):
    edges = [0, *sorted(cut for cut in cuts if cut < rows), rows]
    start = min(start, rows - 1)
    length = data.draw(st.integers(1, rows - start))
    value = np.arange(rows * 3).reshape(rows, 3)
    with BundleWriter(tmp_path / "m") as writer:
        for low, high in itertools.pairwise(edges):
            writer.add_slice("v", value.shape, TensorSlice(((low, high - low), (0, -1))), value[low:high])
    with BundleReader(tmp_path / "m") as reader:
        assert (reader.read("v") == value).all()
        part = TensorSlice(((start, length), (1, 2)))
        assert (reader.read("v", part) == value[start : start + length, 1:]).all()


def test_a_write_takes_no_second_copy_of_the_model(tmp_path):
    values = {f"v{i}": np.ones(1 << 18, np.float64) for i in range(8)}  # 2 MiB each
    tracemalloc.start()
    prefix = _write(tmp_path / "m", **values)
    written = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    with BundleReader(prefix) as reader:
        for name in reader:
            reader.read(name)
    read = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert written < 3 << 20
    assert read < 6 << 20


# --------------------------------------------------------------------------------------------------- refusals


def test_missing_keys_name_the_nearest_with_their_shapes(tmp_path):
    prefix = _write(tmp_path / "m", **{"layer/weights": np.ones((2, 3)), "other": np.ones(1)})
    with pytest.raises(NotFoundError, match=r"Key layer/weight not found.*layer/weights \[2, 3\]"):
        BundleReader(prefix).read("layer/weight")


def test_missing_files_are_not_found(tmp_path):
    with pytest.raises(NotFoundError, match="Failed to find any matching files"):
        BundleReader(tmp_path / "none")
    prefix = _write(tmp_path / "m", v=np.ones(3))
    os.remove(f"{prefix}.data-00000-of-00001")
    with pytest.raises(NotFoundError, match="data-00000-of-00001"):
        BundleReader(prefix).read("v")


@pytest.mark.parametrize("value", [np.ones(100), np.array([b"abc"] * 100, object)])
def test_a_changed_byte_is_found_and_placed(value, tmp_path):
    prefix = _write(tmp_path / "m", before=np.ones(3), v=value)
    data = Path(f"{prefix}.data-00000-of-00001")
    damaged = bytearray(data.read_bytes())
    damaged[-1] ^= 1
    data.write_bytes(damaged)
    with pytest.raises(DataLossError, match=r"data-00000-of-00001: key 'v'.*checksum.*at byte \d+"):
        BundleReader(prefix).read("v")
    assert BundleReader(prefix).read("before").tolist() == [1, 1, 1]


def test_truncated_data_is_refused_before_memory_is_asked_for(tmp_path):
    prefix = _write(tmp_path / "m", v=np.ones(100))
    os.truncate(f"{prefix}.data-00000-of-00001", 10)
    with pytest.raises(DataLossError, match="reach beyond the end of the file, 10"):
        BundleReader(prefix).read("v")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: e.shape.dim[0].__setattr__("size", 1 << 50), "bytes for float64"),
        (lambda e: e.shape.dim[0].__setattr__("size", -1), "shape"),
        (lambda e: setattr(e, "size", 1 << 60), "reach beyond the end"),
        (lambda e: setattr(e, "offset", -8), "offset -8"),
        (lambda e: setattr(e, "shard_id", 5), "shard 5"),
        (lambda e: setattr(e, "dtype", 99), "unknown type 99"),
        (lambda e: setattr(e, "dtype", dtypes.string.as_datatype_enum), "strings"),
        (lambda e: setattr(e, "crc32c", 1), "checksum"),
        (lambda e: e.slices.add().extent.add(start=0, length=1 << 40), "does not fit"),
        (lambda e: e.slices.add().extent.add(start=0, length=3), "no data for the slice"),
    ],
)
def test_entries_that_lie(change, said, tmp_path):
    prefix = _write(tmp_path / "m", v=np.ones(3))
    entry = BundleEntryProto.FromString(dict(read_table(index_path(prefix)))[b"v"])
    change(entry)
    os.rename(f"{prefix}.data-00000-of-00001", tmp_path / "data")
    commit(prefix, [str(tmp_path / "data")], {b"v": entry})
    with pytest.raises(DataLossError, match=said):
        BundleReader(prefix).read("v")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A bundle's files, by the end of their names."""
    prefix = tmp_path_factory.mktemp("whole") / "m"
    with BundleWriter(prefix) as writer:
        for i in range(20):
            writer.add(f"name{i}", np.arange(i, dtype=np.float32))
        writer.add("text", np.array([b"a", b"bc"], object))
        writer.add("flags", np.array([True, False]))
        writer.add_slice("cut", (4,), TensorSlice(((0, 2),)), np.zeros(2))
        writer.add_slice("cut", (4,), TensorSlice(((2, 2),)), np.ones(2))
    return {path.name: path.read_bytes() for path in prefix.parent.iterdir()}


@given(
    file=st.sampled_from([0, 1]),
    edits=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=4),
    cut=st.none() | st.integers(0, 2000),
    grown=st.binary(max_size=20),
)
@example(file=1, edits=[], cut=0, grown=b"")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_anywhere_is_an_error_or_harmless(whole, file, edits, cut, grown, tmp_path):
    names = sorted(whole)
    for name in names:
        data = bytearray(whole[name])
        if name == names[file]:
            for at, byte in edits:
                data[at % len(data)] = byte
            data = data[:cut] + grown
        (tmp_path / name).write_bytes(data)
    try:
        with BundleReader(tmp_path / "m") as reader:
            for name in reader:
                assert reader.read(name).nbytes < 1 << 20
    except OpError:
        pass


@given(block=st.binary(max_size=200), data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_of_any_bytes_are_an_error_or_harmless(block, data, tmp_path, whole):
    """Past the checksums: entries whose bytes are anything at all."""
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content)
    table = dict(read_table(str(tmp_path / "m.index")))
    table[data.draw(st.sampled_from(sorted(table)))] = block
    with open(tmp_path / "m.index", "wb") as file:
        write_table(file, sorted(table.items()))
    try:
        with BundleReader(tmp_path / "m") as reader:
            for name in reader:
                reader.read(name)
    except OpError:
        pass


# ----------------------------------------------------------------------------------------- old one or new one


def test_an_error_leaves_nothing_behind(tmp_path):
    prefix = _write(tmp_path / "m", v=np.ones(3))
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ZeroDivisionError), BundleWriter(prefix) as writer:
        writer.add("v", np.zeros(3))
        _ = 1 / 0
    assert sorted(os.listdir(tmp_path)) == before
    assert BundleReader(prefix).read("v").tolist() == [1, 1, 1]


def _watched(monkeypatch, prefix, *names):
    """What the bundle holds before each call of these functions of `os`, as (function, first number)."""
    seen = []

    def watched(name, call):
        def instead(*paths):
            seen.append((name, BundleReader(prefix).read("v")[0]))
            return call(*paths)

        return instead

    for name in names:
        monkeypatch.setattr(os, name, watched(name, getattr(os, name)))
    return seen


def test_at_every_instant_the_old_one_or_the_new_one_is_whole(tmp_path, monkeypatch):
    prefix = _write(tmp_path / "m", v=np.ones(3))
    before = sorted(os.listdir(tmp_path))
    seen = _watched(monkeypatch, prefix, "replace", "link")
    _write(prefix, v=np.zeros(3))
    assert seen == [("replace", 1), ("replace", 1), ("link", 0), ("replace", 0)]
    assert BundleReader(prefix).read("v").tolist() == [0, 0, 0]
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("moment", range(2))
def test_a_bundle_that_is_replaced_while_it_is_opened_is_opened_again(moment, tmp_path, monkeypatch):
    """Before its table is read, or before its data is opened: what is read is all of the new one."""
    prefix = _write(tmp_path / "m", v=np.ones(3), w=np.ones(3))
    replaced = []

    def replacing(call, at):
        def instead(*arguments):
            if at == moment and not replaced:
                replaced.append(True)
                _write(prefix, v=np.zeros(5), w=np.zeros(5))
            return call(*arguments)

        return instead

    monkeypatch.setattr(bundle, "read_table", replacing(read_table, 0))
    monkeypatch.setattr(bundle, "shard_path", replacing(bundle.shard_path, 1))
    with BundleReader(prefix) as reader:
        _write(prefix, v=np.full(3, 7), w=np.full(3, 7))  # too late: what is open stays
        assert [reader.read(name).tolist() for name in reader] == [[0] * 5] * 2
    assert replaced


def test_a_disk_without_second_names_will_do(tmp_path, monkeypatch):
    def refused(*paths):
        raise PermissionError(errno.EPERM, "no links here")

    prefix = _write(tmp_path / "m", v=np.ones(3))
    monkeypatch.setattr(os, "link", refused)
    for value in (2, 3):
        _write(prefix, v=np.full(3, value))
        assert BundleReader(prefix).read("v").tolist() == [value] * 3
        assert len(os.listdir(tmp_path)) == 2


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    prefix = _write(tmp_path / "m", v=np.ones(3))
    before = sorted(os.listdir(tmp_path))
    monkeypatch.setattr(bundle_writer, "write_table", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        _write(prefix, v=np.zeros(3))
    assert sorted(os.listdir(tmp_path)) == before
    assert BundleReader(prefix).read("v").tolist() == [1, 1, 1]


def test_a_directory_is_made_but_not_those_around_it(tmp_path):
    assert BundleReader(_write(tmp_path / "new" / "m", v=np.ones(1))).read("v").tolist() == [1]
    with pytest.raises(NotFoundError, match="No such file or directory"):
        _write(tmp_path / "not" / "there" / "m", v=np.ones(1))


def test_bundles_are_merged_slices_included(tmp_path):
    for i in (0, 1):
        with BundleWriter(tmp_path / f"part{i}") as writer:
            writer.add(f"v{i}", np.full(2, i))
            writer.add_slice("cut", (4,), TensorSlice(((2 * i, 2),)), np.full(2, i))
    merge_bundles([tmp_path / "part0", tmp_path / "part1"], tmp_path / "m")
    with BundleReader(tmp_path / "m") as reader:
        assert [reader.read(name).tolist() for name in reader] == [[0, 0, 1, 1], [0, 0], [1, 1]]
    assert len(os.listdir(tmp_path)) == 3


def test_merging_refuses_one_key_twice_and_what_is_not_there(tmp_path):
    parts = [_write(tmp_path / f"part{i}", v=np.ones(1)) for i in (0, 1)]
    with pytest.raises(InvalidArgumentError, match="have the key 'v'"):
        merge_bundles(parts, tmp_path / "m")
    with pytest.raises(NotFoundError):
        merge_bundles([tmp_path / "none"], tmp_path / "m")
    merge_bundles([tmp_path / "none", parts[0]], tmp_path / "m", allow_missing=True)
    assert list(BundleReader(tmp_path / "m")) == ["v"]


# ------------------------------------------------------------------------------------------ tables and slices


@given(entries=st.dictionaries(st.binary(max_size=30), st.binary(max_size=30), max_size=60))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tables_keep_any_keys(entries, tmp_path):
    with open(tmp_path / "t", "wb") as file:
        write_table(file, sorted(entries.items()))
    assert dict(read_table(str(tmp_path / "t"))) == entries


def test_tables_of_many_blocks(tmp_path):
    entries = [(b"%06d" % i, bytes(i % 100) * 10) for i in range(3000)]
    with open(tmp_path / "t", "wb") as file:
        write_table(file, entries)
    assert list(read_table(str(tmp_path / "t"))) == entries


@pytest.mark.parametrize("spec", ["", "4", "4 5,x", "4 0,5", "4 5 0,2", "x 0,1", "4 -1,2", "4 0,2:-"])
def test_bad_slices_are_refused(spec):
    with pytest.raises(InvalidArgumentError, match="shape_and_slice"):
        parse_shape_and_slice(spec)


def test_slices_as_programs_spell_them():
    shape, part = parse_shape_and_slice("4 5 0,2:-")
    assert (shape, part.extents, str(part)) == ((4, 5), ((0, 2), (0, -1)), "0,2:-")


_NUMBERS = st.integers(-1, 2**40)


@given(st.tuples(_NUMBERS, _NUMBERS), st.tuples(_NUMBERS, _NUMBERS))
def test_keys_of_slices_sort_as_slices(a, b):
    a, b = (tuple(0 if n < 0 else s for s, n in [pair]) + pair[1:] for pair in (a, b))
    keys = [TensorSlice((pair,)).key("n") for pair in (a, b)]
    assert (keys[0] < keys[1]) == (a < b)
