"""Files that are cut, changed or lie about lengths: tf.errors say so; no crash, no hang, no gigantic memory.

The seeds are files that TensorFlow wrote (tests/corpus). Changes are drawn from a seeded stream, so that a
failure comes again.
"""

import random
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph.errors import OpError
from tideflow.inspect import report_of
from tideflow.io.bundle import BundleReader
from tideflow.io.bundle_writer import BundleWriter
from tideflow.io.events import summary_iterator
from tideflow.io.object_graph import GRAPH_KEY
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.io.records import RecordFile, framed, tf_record_iterator
from tideflow.io.tables import read_table, write_table
from tideflow.io.varints import encode_varint

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
            records = [record for _, record in file]
        for _ in range(80):
            data = b"".join(framed(_changed(record, chance)) for record in records if record)
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
        records = [record for _, record in file]
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
            changed = [_changed(record, chance) for record in records]
            for fetches, feeds in zip(parsed, ({given: changed}, {single: changed[-1]})):
                try:
                    sess.run(fetches, feeds)
                except tf.errors.InvalidArgumentError as error:
                    assert error.message
