"""`tf.contrib.summary`: what is on the disk, and when. What is written is compared with TensorFlow's own in
tests/oracle/programs/files_recorded.py.
"""

import gc
import threading

import pytest

import tideflow as tf

contrib = tf.contrib.summary


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def _steps(folder):
    """The steps of the scalars in a directory's files, in order."""
    return [
        event.step
        for path in sorted(folder.iterdir())
        for event in tf.train.summary_iterator(str(path))
        if event.HasField("summary")
    ]


def _written_at(step):
    with contrib.always_record_summaries():
        return contrib.scalar("number", 1.0, step=step)


def test_a_queue_that_is_full_is_written(tmp_path):
    step = tf.placeholder(tf.int64, [])
    writer = contrib.create_file_writer(tmp_path, max_queue=2)
    with writer.as_default(), tf.Session() as session:
        written = _written_at(step)
        tf.summary.initialize(session=session)
        for i in range(5):
            session.run(written, {step: i})
        assert _steps(tmp_path) == [0, 1, 2]
        session.run(contrib.flush())
        assert _steps(tmp_path) == [0, 1, 2, 3, 4]


def test_what_a_session_leaves_is_written_when_it_is_gone(tmp_path):
    writer = contrib.create_file_writer(tmp_path)
    with writer.as_default():
        written = _written_at(3)
        with tf.Session() as session:
            tf.summary.initialize()
            session.run(written)
            assert _steps(tmp_path) == []
        del session
        gc.collect()
        assert _steps(tmp_path) == [3]


def test_a_writer_is_opened_once_and_again_after_it_was_closed(tmp_path):
    writer = contrib.create_file_writer(tmp_path, filename_suffix=".x")
    with writer.as_default(), tf.Session() as session:
        written, closed = _written_at(1), writer.close()
        for _ in range(2):
            tf.summary.initialize()
        session.run(written)
        session.run(closed)
        with pytest.raises(tf.errors.NotFoundError, match=r"'logdir:.*' is not open: run tf.contrib.summary"):
            session.run(written)
        session.run(writer.init())
        session.run(written)
        session.run(closed)
    assert _steps(tmp_path) == [1, 1]
    assert len(list(tmp_path.iterdir())) == 2


def test_writers_of_the_same_name_are_one(tmp_path):
    one, two = (contrib.create_file_writer(tmp_path, name="both", max_queue=0) for _ in range(2))
    with tf.Session() as session:
        session.run(contrib.summary_writer_initializer_op())
        for step, writer in ((1, one), (2, two)):
            with writer.as_default():
                session.run(_written_at(step))
    assert _steps(tmp_path) == [1, 2]
    assert len(list(tmp_path.iterdir())) == 1


def test_another_thread_has_no_writer(tmp_path):
    made = []
    graph = tf.get_default_graph()

    def build():
        with graph.as_default():
            made.append(_written_at(1))

    with contrib.create_file_writer(tmp_path).as_default():
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        assert made[0].type == "NoOp"
        assert _written_at(1).op.type == "Const"


def test_what_is_no_message_is_refused(tmp_path):
    with contrib.create_file_writer(tmp_path).as_default(), tf.Session() as session:
        imported = contrib.import_event(b"\xff\xff")
        tf.summary.initialize()
        with pytest.raises(tf.errors.InvalidArgumentError, match="is no Event"):
            session.run(imported)


def test_initializing_needs_a_writer_and_a_session(tmp_path):
    with pytest.raises(RuntimeError, match=r"No default tf\.contrib\.summary\.SummaryWriter"):
        tf.summary.initialize()
    with contrib.create_file_writer(tmp_path).as_default(), pytest.raises(ValueError, match="session must"):
        tf.summary.initialize()
