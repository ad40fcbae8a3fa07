"""Both generations of every kind of reader: the records of its files, counts, state."""

import pytest

import tideflow as tf
from tests.ops.renaming import op_types, with_op_types

LINES = b"head\none\ntwo\nthree\n"
KINDS = {
    "IdentityReader": lambda: tf.IdentityReader(),
    "WholeFileReader": lambda: tf.WholeFileReader(),
    "TextLineReader": lambda: tf.TextLineReader(skip_header_lines=1),
    "FixedLengthRecordReader": lambda: tf.FixedLengthRecordReader(4, header_bytes=3, footer_bytes=1),
    "TFRecordReader": lambda: tf.TFRecordReader(),
}
RECORDS = {
    "WholeFileReader": [LINES],
    "TextLineReader": [b"one", b"two", b"three"],
    "FixedLengthRecordReader": [LINES[i : i + 4] for i in (3, 7, 11)],
    "TFRecordReader": [b"a", b"b"],
}


def of_first_generation(op_type):
    return op_type.removesuffix("V2") if "Reader" in op_type or "Queue" in op_type else op_type


@pytest.fixture
def path(tmp_path, kind):
    path = tmp_path / "file"
    if kind == "TFRecordReader":
        with tf.io.TFRecordWriter(str(path), None) as writer:
            for record in RECORDS[kind]:
                writer.write(record)
    else:
        path.write_bytes(LINES)
    return str(path)


def readable(kind, generation):
    """A graph that reads the files of a queue."""
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(10, [tf.string], [[]])
        queue.enqueue([tf.placeholder(tf.string, [], name="path")], name="put")
        reader = KINDS[kind]()
        reader.read(queue, name="read")
        reader.read_up_to(queue, 100, name="read_up_to")
        reader.num_records_produced(name="produced")
        reader.num_work_units_completed(name="completed")
        reader.reset(name="reset")
        reader.serialize_state(name="state")
        reader.restore_state(tf.placeholder(tf.string, [], name="known"), name="restore")
    if generation == "first":
        graph = with_op_types(graph, of_first_generation)
        assert kind in op_types(graph)
        assert not [op_type for op_type in op_types(graph) if op_type.endswith("V2")]
    return graph


@pytest.mark.parametrize("generation", ["first", "second"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_records_of_a_file(kind, generation, path):
    with tf.Session(graph=readable(kind, generation)) as session:
        session.run("put", {"path:0": path})
        first = session.run(["read:0", "read:1"])
        records = RECORDS.get(kind, [path.encode()])
        assert first[1] == records[0]
        if len(records) > 1:
            assert session.run("read_up_to:1").tolist() == records[1:]
        assert session.run("produced:0") == len(records)
        session.run("reset")
        assert session.run(["produced:0", "completed:0"]) == [0, 0]


@pytest.mark.parametrize("generation", ["first", "second"])
@pytest.mark.parametrize("kind", ["IdentityReader", "WholeFileReader"])
def test_a_reader_goes_on_where_its_state_was_taken(kind, generation, path):
    with tf.Session(graph=readable(kind, generation)) as session:
        session.run("put", {"path:0": path})
        session.run("read:0")
        state = session.run("state:0")
        session.run("reset")
        session.run("restore", {"known:0": state})
        assert session.run(["produced:0", "completed:0"]) == [1, 1]
