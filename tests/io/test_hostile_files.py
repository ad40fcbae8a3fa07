"""Files that are cut, changed or lie about lengths: tf.errors say so; no crash, no hang, no gigantic memory.

The seeds are files that TensorFlow wrote (tests/corpus). Changes are drawn from a seeded stream, so that a
failure comes again.
"""

import gzip
import random
import shutil
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.errors import OpError
from tideflow.graph.varints import encode_varint
from tideflow.inspect import report_of
from tideflow.io import old_checkpoints, records, tables
from tideflow.io.bundle import BundleReader
from tideflow.io.bundle_format import BundleEntryProto, slice_message
from tideflow.io.bundle_writer import BundleWriter, merge_bundles
from tideflow.io.checksums import masked_crc32c
from tideflow.io.events import summary_iterator
from tideflow.io.object_graph import GRAPH_KEY
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.io.records import RecordFile, framed, tf_record_iterator
from tideflow.io.slices import TensorSlice
from tideflow.io.tables import read_table, write_table
from tideflow.ops.files import decoding
from tideflow.runtime import dataset_files, readers

CORPUS = Path(__file__).parent.parent / "corpus"
MOST_MEMORY = 48 << 20  # of all that reading a file of a few kB may ever ask for
HUGE = [(1 << 63) - 1, (1 << 62) + 3, 1 << 40, (1 << 32) - 1, 1 << 31, 255]


def _read_checkpoint(folder):
    with open_checkpoint(str(folder / "m")) as reader:
        for name in reader:
            reader.read(name)


def _read_events(path):
    list(summary_iterator(path))


def _read_records(path):
    with RecordFile(path) as file:
        list(file)


def _read_packed_records(path):
    list(tf_record_iterator(str(path), "GZIP"))


READERS = {
    "second": _read_checkpoint,
    "first": _read_checkpoint,
    "objects": _read_checkpoint,
    "events.out.tfevents.1": _read_events,
    "examples.tfrecord": _read_records,
    "examples.gz.tfrecord": _read_packed_records,
    "graph.pb": report_of,
    "model": report_of,
}


def _files(name):
    """The files of a seed."""
    path = CORPUS / name
    return [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())


SEEDS = [(name, file.relative_to(CORPUS)) for name in READERS for file in _files(name)]
IDS = [str(file) for _, file in SEEDS]


@pytest.fixture
def copy(tmp_path):
    """A copy of the corpus to be damaged."""
    return Path(shutil.copytree(CORPUS, tmp_path / "corpus"))


@pytest.fixture
def little_memory():
    """The test asks for no more memory than it should."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST_MEMORY


def _attempt(read, path):
    """Reads, and looks at it; only errors of TensorFlow's kinds, with words, may come of it."""
    shown = path / "m" if read is _read_checkpoint else path
    for function, place in ((read, path), (report_of, shown)):
        try:
            function(place)
        except OpError as error:
            assert error.message


def _changed(data, chance):
    """Bytes with a few of them changed, doubled, left out, or with a length that lies put in."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and at < len(data):
            data[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            del data[at : at + chance.randint(1, 8)]
        elif kind == 3:
            data[at:at] = data[at : at + chance.randint(1, 16)]
        else:
            lie = encode_varint(chance.choice(HUGE))
            data[at : at + len(lie)] = lie
    return bytes(data)


# ------------------------------------------------------------------------------------------------ as they are


def test_what_tensorflow_wrote_is_read():
    with open_checkpoint(str(CORPUS / "second/m")) as reader:
        assert reader.read("w").tolist() == [[1, 2], [3, 4]]
        assert reader.read("words").tolist() == [b"", b"abc"]
        assert reader.read("flag").tolist() == [True, False]
        assert reader.read("cut").tolist() == [[1, 1]] * 4
        assert reader.read("b").astype(float).tolist() == [1.5, 2]
    with open_checkpoint(str(CORPUS / "first/m")) as reader:
        assert reader.read("w").tolist() == [[1, 2], [3, 4]]
    events = list(summary_iterator(CORPUS / "events.out.tfevents.1"))
    assert [event.step for event in events] == [0, 0, 1, 2]
    assert report_of(CORPUS / "model").parts[0].facts["written by"] == "TensorFlow 1.15.5"


# ----------------------------------------------------------------------------------------------------- damage


@pytest.mark.parametrize(("name", "file"), SEEDS, ids=IDS)
def test_cut_anywhere(name, file, copy, little_memory):
    data = (copy / file).read_bytes()
    step = max(1, len(data) // 150)
    for end in {*range(0, len(data), step), *range(min(40, len(data))), *range(len(data) - 40, len(data))}:
        if 0 <= end < len(data):
            (copy / file).write_bytes(data[:end])
            _attempt(READERS[name], copy / name)


@pytest.mark.parametrize(("name", "file"), SEEDS, ids=IDS)
def test_changed_anywhere(name, file, copy, little_memory):
    data = (copy / file).read_bytes()
    chance = random.Random(str(file))
    for _ in range(80):
        (copy / file).write_bytes(_changed(data, chance))
        _attempt(READERS[name], copy / name)


@pytest.mark.parametrize("name", ["second", "first", "objects"])
def test_changed_behind_the_checksums_of_tables(name, copy, little_memory):
    """A table whose checksums are right, and whose entries are not."""
    path = copy / name / ("m" if name == "first" else "m.index")
    table = dict(read_table(str(path)))
    chance = random.Random(name)
    for _ in range(80):
        key = chance.choice(sorted(table))
        with open(path, "wb") as file:
            write_table(file, sorted({**table, key: _changed(table[key], chance)}.items()))
        _attempt(READERS[name], copy / name)


def test_changed_behind_the_checksums_of_records(copy, little_memory):
    """Records whose checksums are right: Events and Examples that are not."""
    chance = random.Random(3)
    for name in ("events.out.tfevents.1", "examples.tfrecord"):
        with RecordFile(CORPUS / name) as file:
            whole = [record for _, record in file]
        for _ in range(80):
            data = b"".join(framed(_changed(record, chance)) for record in whole if record)
            (copy / name).write_bytes(data)
            _attempt(READERS[name], copy / name)


def test_text_that_nests_deeper_than_any_graph(tmp_path):
    levels = 5000
    inner = 'attr { key: "x" value { func { ' * levels + "} } }" * levels
    (tmp_path / "g.pbtxt").write_text('node { name: "a" op: "B" ' + inner + "}")
    with pytest.raises(tf.errors.DataLossError, match="none of these"):
        report_of(tmp_path / "g.pbtxt")


def test_a_changed_graph_of_objects_restores_or_is_refused(copy, tmp_path):
    with BundleReader(copy / "objects/m") as reader:
        values = {name: reader.read(name) for name in reader}
    chance = random.Random(5)
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable([8.0, 9.0])
        checkpoint = tf.train.Checkpoint(v=v, o=tf.train.Checkpoint(same=v))
        sess.run(tf.global_variables_initializer())
        for number in range(60):
            with BundleWriter(tmp_path / f"m{number}") as writer:
                for name, value in values.items():
                    changed = _changed(value[()], chance) if name == GRAPH_KEY else value
                    writer.add(name, np.array(changed, object) if name == GRAPH_KEY else changed)
            try:
                checkpoint.restore(tmp_path / f"m{number}").expect_partial().run_restore_ops(sess)
            except OpError as error:
                assert error.message
            assert sess.run(v).tolist() in ([8, 9], [1, 2])


def test_changed_examples_are_parsed_or_refused():
    with RecordFile(CORPUS / "examples.tfrecord") as file:
        whole = [record for _, record in file]
    features = {
        "a": tf.io.FixedLenFeature([2], tf.int64, default_value=[0, 0]),
        "f": tf.io.VarLenFeature(tf.float32),
        "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    chance = random.Random(4)
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.placeholder(tf.string, [None])
        single = tf.placeholder(tf.string, [])
        parsed = [tf.io.parse_example(given, features), tf.io.parse_single_example(single, features)]
        for _ in range(80):
            changed = [_changed(record, chance) for record in whole]
            for fetches, feeds in zip(parsed, ({given: changed}, {single: changed[-1]})):
                try:
                    sess.run(fetches, feeds)
                except tf.errors.InvalidArgumentError as error:
                    assert error.message


# -------------------------------------------------------------------------------------------- amplification


def _packed(path, *pieces):
    """A GZIP file of these pieces, each a byte string and how often it comes."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for data, count in pieces:
            for _ in range(count):
                file.write(data)
    return str(path)


def _header(length):
    data = length.to_bytes(8, "little")
    return data + masked_crc32c(data).to_bytes(4, "little")


@pytest.fixture
def small_limit(monkeypatch):
    """Lets compressed data unfold to 1 MB."""
    for module in (records, dataset_files, readers, decoding):
        monkeypatch.setattr(module, "LARGEST_INFLATED", 1 << 20)


MEGABYTE = b"a" * (1 << 20)


def test_a_packed_record_beyond_the_limit(tmp_path, small_limit, little_memory):
    path = _packed(tmp_path / "r", (_header(40 << 20), 1), (MEGABYTE, 40))
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"record at 0 of .*LARGEST_INFLATED"):
        list(tf_record_iterator(path, "GZIP"))


def test_a_packed_record_that_the_file_cannot_hold(tmp_path, little_memory):
    path = _packed(tmp_path / "r", (_header(1 << 40), 1), (b"a", 100))
    with pytest.raises(tf.errors.DataLossError, match="cannot hold its 1099511627776 bytes"):
        list(tf_record_iterator(path, "GZIP"))


def _elements(dataset):
    with tf.Session() as sess:
        following = tf.data.make_one_shot_iterator(dataset).get_next()
        while True:
            sess.run(following)


@pytest.mark.parametrize(
    "dataset",
    [
        lambda path: tf.data.TextLineDataset(path, "GZIP"),
        lambda path: tf.data.experimental.CsvDataset(path, [tf.string], "GZIP"),
        lambda path: tf.data.FixedLengthRecordDataset(path, 40 << 20, compression_type="GZIP"),
        lambda path: tf.data.FixedLengthRecordDataset(path, 1, 40 << 20, compression_type="GZIP"),
        lambda path: tf.data.FixedLengthRecordDataset(path, 1, 0, 40 << 20, compression_type="GZIP"),
    ],
    ids=["lines", "csv", "records", "header", "footer"],
)
def test_packed_data_of_datasets_beyond_the_limit(dataset, tmp_path, small_limit, little_memory):
    path = _packed(tmp_path / "t", (b'"', 1), (MEGABYTE, 40))
    with tf.Graph().as_default(), pytest.raises(tf.errors.ResourceExhaustedError, match="LARGEST_INFLATED"):
        _elements(dataset(path))


def test_a_quoted_field_beyond_the_limit(tmp_path, small_limit, little_memory):
    path = _packed(tmp_path / "t", (b'"', 1), (b"a\n" * (1 << 16), 40))
    with tf.Graph().as_default(), pytest.raises(tf.errors.ResourceExhaustedError, match="A record of"):
        _elements(tf.data.experimental.CsvDataset(path, [tf.string], "GZIP"))


def test_packed_fixed_records_are_read_in_pieces(tmp_path, little_memory):
    path = _packed(tmp_path / "t", (b"head", 1), (MEGABYTE, 100), (b"foot", 1))
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.FixedLengthRecordDataset(path, 1 << 20, 4, 4, compression_type="GZIP")
        count = dataset.reduce(0, lambda count, _: count + 1)
        assert sess.run(count) == 100


def test_records_of_a_size_beyond_every_file(tmp_path):
    (tmp_path / "t").write_bytes(b"abc")
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(3, tf.string)
        sess.run([queue.enqueue(str(tmp_path / "t")), queue.close()])
        reader = tf.FixedLengthRecordReader(1 << 60, header_bytes=1 << 60)
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(reader.read(queue))


def test_a_packed_string_beyond_the_limit(small_limit, little_memory):
    data = zlib.compress(bytes(600 << 10))
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.placeholder(tf.string, [None])
        unpacked = tf.io.decode_compressed(given, "ZLIB")
        assert len(sess.run(unpacked, {given: [data]})[0]) == 600 << 10
        with pytest.raises(tf.errors.ResourceExhaustedError, match="LARGEST_INFLATED"):
            sess.run(unpacked, {given: [data, data]})


@pytest.mark.parametrize("name", ["second", "first"])
@pytest.mark.parametrize("shape", [[1 << 62, 0], [0, 1 << 62, 1 << 62], [1] * 65])
def test_shapes_that_no_array_has(name, shape, copy):
    path = copy / name / ("m" if name == "first" else "m.index")
    table = dict(read_table(str(path)))
    if name == "first":
        header = old_checkpoints._SavedTensorSlices.FromString(table[b""])
        (tensor,) = [tensor for tensor in header.meta.tensor if tensor.name == "w"]
    else:
        tensor = BundleEntryProto.FromString(table[b"w"])
    del tensor.shape.dim[:]
    for size in shape:
        tensor.shape.dim.add(size=size)
    if name == "first":
        table[b""] = header.SerializeToString()
    else:
        tensor.size = 0
        table[b"w"] = tensor.SerializeToString()
    with open(path, "wb") as file:
        write_table(file, sorted(table.items()))
    with (
        open_checkpoint(str(copy / name / "m")) as reader,
        pytest.raises(tf.errors.DataLossError, match="shape"),
    ):
        reader.read("w")
    with pytest.raises(tf.errors.DataLossError, match="shape"):
        report_of(copy / name / "m")


def test_slices_that_share_their_bytes(tmp_path, little_memory):
    """A thousand slices of 1 MB, all of them the same place of the file."""
    prefix, rows = str(tmp_path / "m"), 1000
    whole = (rows, 1 << 18)
    parts = [TensorSlice(((row, 1), (0, -1))) for row in range(rows)]
    with BundleWriter(prefix) as writer:
        writer.add_slice("w", whole, parts[0], np.zeros((1, 1 << 18), np.float32))
        first = writer._entries[parts[0].key("w")]
        for part in parts[1:]:
            writer._entries[part.key("w")] = first
            writer._entries[b"w"].slices.append(slice_message(part))
    with (
        BundleReader(prefix) as reader,
        pytest.raises(tf.errors.DataLossError, match="overlap in their file"),
    ):
        reader.read("w")


def test_keys_that_are_far_longer_than_their_table(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_RESTART_INTERVAL", 1 << 20)
    with open(tmp_path / "t", "wb") as file:
        write_table(file, ((b"a" * length, b"") for length in range(1200)))
    with pytest.raises(tf.errors.DataLossError, match="keys are far longer"):
        for _ in read_table(str(tmp_path / "t")):
            pass


def test_a_merge_of_no_checkpoints_is_an_empty_one(tmp_path):
    prefix = tmp_path / "m"
    merge_bundles([], prefix)
    with open_checkpoint(prefix) as reader:
        assert list(reader) == []
    merge_bundles([prefix], tmp_path / "n")
    with open_checkpoint(tmp_path / "n") as reader:
        assert list(reader) == []
