"""Event files: what is written, by which thread, and who can read it."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import tideflow as tf
from tideflow.summary.writer import EventFileWriter


def events(folder):
    paths = sorted(path for path in folder.iterdir() if "tfevents" in path.name)
    return [event for path in paths for event in tf.train.summary_iterator(path)]


def steps(folder):
    return [event.step for event in events(folder) if event.WhichOneof("what") != "file_version"]


def writing_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("tideflow-events")}


def value(number):
    return tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=number)])


def test_tensorboard_reads_all_kinds(tmp_path):
    with tf.Graph().as_default():
        number = tf.placeholder(tf.float32, [], name="number")
        tf.summary.scalar("scalar", number)
        tf.summary.histogram("histogram", number * [1.0, -2.0])
        tf.summary.image("image", tf.zeros([1, 2, 3, 1]))
        tf.summary.audio("audio", tf.zeros([1, 5]), 8000)
        tf.summary.text("text", tf.as_string(number, precision=1))
        summary = tf.summary.merge_all()
        with tf.Session() as session, tf.summary.FileWriter(tmp_path, session.graph) as writer:
            for step in range(5):
                writer.add_summary(session.run(summary, {number: step / 2}), step)
            writer.add_run_metadata(tf.RunMetadata(), "last", 5)
    seen = EventAccumulator(str(tmp_path))
    seen.Reload()
    assert seen.Tags() == {
        "scalars": ["scalar"],
        "histograms": ["histogram"],
        "distributions": ["histogram"],
        "images": ["image/image/0"],
        "audio": ["audio/audio/0"],
        "tensors": ["text"],
        "graph": True,
        "meta_graph": True,
        "run_metadata": ["last"],
    }
    assert [(event.step, event.value) for event in seen.Scalars("scalar")] == [(i, i / 2) for i in range(5)]
    assert seen.Histograms("histogram")[-1].histogram_value.sum == -2.0
    assert (seen.Images("image/image/0")[0].height, seen.Images("image/image/0")[0].width) == (2, 3)
    assert seen.Audio("audio/audio/0")[0].length_frames == 5
    assert seen.Tensors("text")[2].tensor_proto.string_val == [b"1.0"]
    assert seen.SummaryMetadata("text").plugin_data.plugin_name == "text"
    assert "number" in [node.name for node in seen.Graph().node]


def test_the_graph_carries_shapes(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.zeros([2, 3], name="zeros")
        tf.summary.FileWriter(tmp_path, graph).close()
    _, first, second = events(tmp_path)
    nodes = tf.GraphDef.FromString(first.graph_def).node
    assert [dim.size for dim in nodes[-1].attr["_output_shapes"].list.shape[0].dim] == [2, 3]
    assert len(tf.MetaGraphDef.FromString(second.meta_graph_def).graph_def.node) == len(nodes)


def test_metadata_stay_with_the_first_value_of_a_tag(tmp_path):
    described = tf.Summary.Value(tag="t", metadata=tf.SummaryMetadata(display_name="shown"), simple_value=1)
    with tf.summary.FileWriter(tmp_path) as writer:
        for _ in range(2):
            writer.add_summary(tf.Summary(value=[described]).SerializeToString())
    assert [e.summary.value[0].HasField("metadata") for e in events(tmp_path)[1:]] == [True, False]


def test_the_first_event_is_there_soon_and_the_rest_when_flushed(tmp_path):
    writer = tf.summary.FileWriter(tmp_path, flush_secs=1000)
    for step in range(3):
        writer.add_summary(value(1.0), step)
    writer.flush()
    assert steps(tmp_path) == [0, 1, 2]
    writer.close()


def test_a_file_is_made_by_the_first_event(tmp_path):
    writer = tf.summary.FileWriter(tmp_path / "a" / "b")
    writer.flush()
    assert list((tmp_path / "a" / "b").iterdir()) == []
    writer.close()


def test_closing_ends_the_thread_and_adding_then_warns(tmp_path):
    before = writing_threads()
    writer = tf.summary.FileWriter(tmp_path)
    assert len(writing_threads() - before) == 1
    writer.add_summary(value(1.0), 1)
    writer.close()
    writer.close()
    assert not writing_threads() - before
    with pytest.warns(UserWarning, match="closed FileWriter"):
        writer.add_summary(value(1.0), 2)
    assert steps(tmp_path) == [1]


def test_reopened_in_the_same_second_nothing_is_lost(tmp_path):
    writer = tf.summary.FileWriter(tmp_path)
    for step in range(4):
        writer.add_summary(value(1.0), step)
        writer.close()
        writer.reopen()
    writer.reopen()
    writer.close()
    assert sorted(steps(tmp_path)) == [0, 1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_writer_nobody_holds_writes_what_is_pending_and_ends(tmp_path):
    before = writing_threads()
    writer = EventFileWriter(tmp_path, flush_secs=1000)
    for step in range(5):
        writer.add_event(tf.Event(step=step))
    del writer
    gc.collect()
    assert steps(tmp_path) == [0, 1, 2, 3, 4]
    assert not writing_threads() - before


def test_a_process_that_does_not_close_loses_nothing(tmp_path):
    program = (
        "import tideflow as tf\n"
        f"writer = tf.summary.FileWriter({str(tmp_path)!r}, flush_secs=1000)\n"
        "for step in range(50):\n"
        "    writer.add_event(tf.Event(step=step))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    assert steps(tmp_path) == list(range(50))


def test_many_threads_write_one_file(tmp_path):
    with tf.summary.FileWriter(tmp_path, max_queue=2) as writer:

        def add(number):
            for i in range(20):
                writer.add_summary(value(1.0), number * 20 + i)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(steps(tmp_path)) == list(range(80))


def test_a_failure_is_raised_and_blocks_nobody(tmp_path):
    folder = tmp_path / "gone"
    writer = tf.summary.FileWriter(folder, max_queue=1)
    folder.rmdir()
    for step in range(5):
        writer.add_event(tf.Event(step=step))
    with pytest.raises(tf.errors.NotFoundError, match="gone"):
        writer.flush()
    writer.close()


def test_writers_of_a_session_share_a_file(tmp_path):
    with tf.Session() as session:
        first, second = (tf.summary.FileWriter(tmp_path, session=session) for _ in range(2))
        first.add_summary(value(1.0), 1)
        second.add_summary(value(1.0), 2)
        second.close()
        third = tf.summary.FileWriter(tmp_path, session=session)
        third.add_summary(value(1.0), 3)
        third.close()
    assert steps(tmp_path) == [1, 2, 3]


def test_the_directory_may_be_a_file_address_or_bytes(tmp_path):
    for logdir in (f"file://{tmp_path}", os.fsencode(tmp_path)):
        with tf.summary.FileWriter(logdir) as writer:
            writer.add_event(tf.Event(step=1))
    assert steps(tmp_path) == [1, 1]


def test_steps_may_be_numpy_numbers_and_wall_time_is_now(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(value(1.0), np.int64(3))
    event = events(tmp_path)[-1]
    assert event.step == 3
    assert abs(event.wall_time - time.time()) < 60


@pytest.mark.parametrize("cut", [1, 20])
def test_a_damaged_file_says_where(tmp_path, cut):
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_summary(value(1.0), 1)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(tf.errors.DataLossError, match=f"truncated record at .* of {path}"):
        list(tf.train.summary_iterator(path))


def test_a_record_that_is_no_event_says_which(tmp_path):
    with tf.python_io.TFRecordWriter(tmp_path / "records") as writer:
        writer.write(b"\xff\xff\xff")
    with pytest.raises(tf.errors.DataLossError, match="the record at byte 0 is not an Event"):
        list(tf.train.summary_iterator(tmp_path / "records"))
