"""Every op that writes to a writer of events, and what is in the file then."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
STEP = np.int64(7)
SUMMARY = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=2.5)])


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def written(session, folder, make):
    """The events that an op has written, but for the one that begins the file."""
    writer = raw.SummaryWriter()
    session.run(
        raw.CreateSummaryFileWriter(
            writer=writer,
            logdir=str(folder),
            max_queue=np.int32(10),
            flush_millis=np.int32(1000),
            filename_suffix=".sample",
        )
    )
    session.run(make(writer))
    session.run(raw.FlushSummaryWriter(writer=writer))
    (path,) = folder.iterdir()
    assert path.name.endswith(".sample")
    events = list(tf.train.summary_iterator(str(path)))
    session.run(raw.CloseSummaryWriter(writer=writer))
    return events[1:]


CASES = {
    "WriteScalarSummary": (
        lambda writer: raw.WriteScalarSummary(writer=writer, step=STEP, tag="t", value=1.5),
        lambda value: value.tag == "t" and value.simple_value == 1.5,
    ),
    "WriteHistogramSummary": (
        lambda writer: raw.WriteHistogramSummary(writer=writer, step=STEP, tag="t", values=[1.0, 3.0]),
        lambda value: (value.histo.num, value.histo.sum) == (2, 4),
    ),
    "WriteImageSummary": (
        lambda writer: raw.WriteImageSummary(
            writer=writer,
            step=STEP,
            tag="t",
            tensor=np.zeros((1, 2, 3, 1), np.uint8),
            bad_color=np.uint8([255, 0, 0, 255]),
        ),
        lambda value: (value.image.height, value.image.width) == (2, 3),
    ),
    "WriteAudioSummary": (
        lambda writer: raw.WriteAudioSummary(
            writer=writer, step=STEP, tag="t", tensor=np.zeros((1, 5, 2), np.float32), sample_rate=8000.0
        ),
        lambda value: (value.audio.length_frames, value.audio.num_channels) == (5, 2),
    ),
    "WriteSummary": (
        lambda writer: raw.WriteSummary(
            writer=writer, step=STEP, tensor=[1, 2], tag="t", summary_metadata=""
        ),
        lambda value: value.tag == "t" and tf.make_ndarray(value.tensor).tolist() == [1, 2],
    ),
    "WriteRawProtoSummary": (
        lambda writer: raw.WriteRawProtoSummary(
            writer=writer, step=STEP, tensor=np.array([SUMMARY.SerializeToString()], object)
        ),
        lambda value: (value.tag, value.simple_value) == ("raw", 2.5),
    ),
}


@pytest.mark.parametrize("op_type", CASES)
def test_a_summary_in_a_file(session, tmp_path, op_type):
    make, is_as_promised = CASES[op_type]
    (event,) = written(session, tmp_path, make)
    assert event.step == STEP
    (value,) = event.summary.value
    assert is_as_promised(value)


def test_a_graph_in_a_file(session, tmp_path):
    graph = session.graph.as_graph_def().SerializeToString()
    (event,) = written(
        session, tmp_path, lambda writer: raw.WriteGraphSummary(writer=writer, step=STEP, tensor=graph)
    )
    assert (event.step, event.graph_def) == (STEP, graph)


def test_an_event_as_it_is(session, tmp_path):
    given = tf.Event(step=3, wall_time=1.25, summary=SUMMARY)
    message = given.SerializeToString()
    (event,) = written(session, tmp_path, lambda writer: raw.ImportEvent(writer=writer, event=message))
    assert event == given
