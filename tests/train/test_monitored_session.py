"""Monitored sessions: what TensorFlow leaves to chance, or does not do; tests/oracle compares the rest."""

import threading

import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def _counter():
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


class _Noting(tf.train.SessionRunHook):
    """Keeps the sessions and coordinators that it is told of."""

    def __init__(self):
        self.sessions, self.coords = [], []

    def after_create_session(self, session, coord):
        self.sessions.append(session)
        self.coords.append(coord)


# -------------------------------------------------------------------------------------------- the quick path


def test_steps_with_hooks_are_compiled_once():
    add = _counter()
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(100)]) as session:
        for _ in range(3):
            session.run(add)
        known = len(session._tf_sess()._steps.steps)
        for _ in range(20):
            session.run(add)
        assert len(session._tf_sess()._steps.steps) == known


def test_options_of_the_caller_and_of_hooks_are_joined():
    v = tf.get_variable("v", initializer=1.0)
    seen = []

    class Tracing(tf.train.SessionRunHook):
        def before_run(self, run_context):
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=5000)
            return tf.train.SessionRunArgs(None, options=options)

        def after_run(self, run_context, run_values):
            seen.append((run_values.options, run_values.run_metadata))

    metadata, given = tf.RunMetadata(), tf.RunOptions(timeout_in_ms=9000)
    with tf.train.MonitoredSession(hooks=[Tracing()]) as session:
        session.run(v, options=given, run_metadata=metadata)
        session.run(v)
    (options, noted), (_, own) = seen
    assert (options.trace_level, options.timeout_in_ms) == (tf.RunOptions.FULL_TRACE, 9000)
    assert given == tf.RunOptions(timeout_in_ms=9000), "the caller's own are left alone"
    assert noted is metadata and metadata.step_stats.dev_stats
    assert own.step_stats.dev_stats, "a hook that traces has its trace, whatever the caller asked for"


def test_the_session_below_is_found_as_programs_find_it():
    tf.get_variable("v", initializer=1.0)
    with tf.train.MonitoredSession() as session:
        assert session._sess._sess._sess._sess is session._tf_sess()
    with tf.train.SingularMonitoredSession() as session:
        assert session._sess._sess._sess is session.raw_session()


# ---------------------------------------------------------------------------------- the step is read exactly


@pytest.mark.parametrize("every, expected", [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [1, 4, 7]), (5, [1, 6])])
def test_summaries_come_every_so_many_steps(tmp_path, every, expected):
    """Though nothing orders reading the step and counting it up."""
    add = _counter()
    summary = tf.summary.scalar("s", tf.constant(1.0))
    hook = tf.train.SummarySaverHook(save_steps=every, output_dir=str(tmp_path), summary_op=summary)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(7):
            session.run(add)
    tf.summary.FileWriterCache.clear()
    (path,) = tmp_path.glob("events*")
    assert [e.step for e in tf.train.summary_iterator(str(path)) if e.summary.value] == expected


def test_timelines_come_every_so_many_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where they are written unless another folder is named
    add = _counter()
    with tf.train.MonitoredSession(hooks=[tf.train.ProfilerHook(3)]) as session:
        for _ in range(8):
            session.run(add)
    tf.summary.FileWriterCache.clear()
    assert sorted(p.name for p in tmp_path.glob("*.json")) == ["timeline-3.json", "timeline-6.json"]


def test_several_steps_in_one_run_do_not_go_past_the_end():
    from tideflow.train.step_hooks import MultiStepStopAtStepHook, get_or_create_steps_per_run_variable

    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, tf.cast(get_or_create_steps_per_run_variable(), tf.int64))
    steps = []
    with tf.train.MonitoredSession(hooks=[MultiStepStopAtStepHook(num_steps=10, steps_per_run=4)]) as session:
        while not session.should_stop():
            steps.append(session.run(add))
    assert steps == [4, 8, 10]


# ------------------------------------------------------------------------------------------ everything joins


def _endless_input():
    queue = tf.FIFOQueue(2, tf.float32, [[]])
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3)
    tf.train.add_queue_runner(runner)
    return queue.dequeue()


def test_threads_that_wait_to_enqueue_end_with_the_session():
    item, before = _endless_input(), set(threading.enumerate())
    with tf.train.MonitoredSession(hooks=[_Noting()]) as session:
        assert session.run(item) == 1.0
        assert set(threading.enumerate()) - before
    assert not set(threading.enumerate()) - before


def test_the_end_of_the_data_is_the_end_of_the_loop_and_nothing_is_printed(capfd):
    item = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
    queue = tf.FIFOQueue(10, tf.int64, [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(item)]))
    number, got = queue.dequeue(), []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            got.append(session.run(number))
    assert got == [0, 1, 2]
    assert capfd.readouterr() == ("", "")


def test_a_hook_that_fails_at_the_start_leaves_no_threads():
    _endless_input()
    before = set(threading.enumerate())

    class Bad(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            raise ValueError("bad hook")

    noting = _Noting()
    with pytest.raises(ValueError, match="bad hook"):
        tf.train.MonitoredSession(hooks=[noting, Bad()])
    assert not set(threading.enumerate()) - before
    assert noting.sessions[0]._closed


def test_an_error_of_the_input_is_raised_at_the_end():
    bad = tf.check_numerics(tf.log(tf.placeholder_with_default(-1.0, [])), "not a number")
    queue = tf.FIFOQueue(2, tf.float32, [[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
    item = queue.dequeue()
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a number"):
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                session.run(item)


# -------------------------------------------------------------------------------------------------- recovery


class _LostAt(tf.train.SessionRunHook):
    """A hook that fails once, as if another task were gone, at its so-manieth step."""

    def __init__(self, step):
        self._left = step

    def before_run(self, run_context):
        self._left -= 1
        if not self._left:
            raise tf.errors.UnavailableError(None, None, "a task is gone")


def test_a_lost_step_is_made_again_from_the_last_checkpoint(tmp_path):
    step = tf.train.get_or_create_global_step()
    add = tf.assign_add(step, 1)
    noting, made = _Noting(), []
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path),
        save_checkpoint_steps=2,
        hooks=[noting, _LostAt(6), tf.train.StopAtStepHook(last_step=8)],
    ) as session:
        while not session.should_stop():
            made.append(int(session.run(add)))
    tf.summary.FileWriterCache.clear()
    assert made == [1, 2, 3, 4, 5, 5, 6, 7, 8]
    assert len(noting.sessions) == 2 and noting.coords[0].joined


def test_a_step_function_is_called_again_with_the_new_session():
    v = tf.get_variable("v", initializer=1.0)
    noting, seen = _Noting(), []

    def step_fn(step_context):
        seen.append(step_context.session)
        if len(seen) == 1:
            raise tf.errors.AbortedError(None, None, "restarted")
        return step_context.session.run(v)

    with tf.train.MonitoredSession(hooks=[noting]) as session:
        assert session.run_step_fn(step_fn) == 1.0
    assert seen == noting.sessions and seen[0] is not seen[1]


def test_a_singular_session_does_not_recover():
    v = tf.get_variable("v", initializer=1.0)
    with pytest.raises(tf.errors.UnavailableError):
        with tf.train.SingularMonitoredSession(hooks=[_LostAt(1)]) as session:
            session.run(v)


def test_a_closed_session_says_so():
    v = tf.get_variable("v", initializer=1.0)
    with tf.train.MonitoredSession() as session:
        pass
    for use in (lambda: session.run(v), lambda: session.run_step_fn(lambda step_context: 1), session.close):
        with pytest.raises(RuntimeError, match="already closed"):
            use()


# ------------------------------------------------------------------------------------------------- scaffolds


def test_a_scaffold_saves_by_objects(tmp_path):
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=2.0)
    add = tf.group(tf.assign_add(step, 1), tf.assign_add(v, 1.0))
    scaffold = tf.train.Scaffold(saver=tf.train.Checkpoint(number=v, step=step))
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), scaffold=scaffold, hooks=[tf.train.StopAtStepHook(3)]
    ) as session:
        while not session.should_stop():
            session.run(add)
    tf.summary.FileWriterCache.clear()
    with tf.Graph().as_default(), tf.Session() as session:
        other = tf.get_variable("other", initializer=0.0)
        newest = tf.train.latest_checkpoint(str(tmp_path))
        tf.train.Checkpoint(number=other).restore(newest).initialize_or_restore(session)
        assert session.run(other) == 5.0


def test_resources_of_other_kinds_are_made_and_reported():
    from tideflow.train import resource_registry

    made = [tf.get_variable(name, initializer=0.0, collections=["own"]) for name in ("shared", "local")]
    for variable, is_shared in zip(made, (True, False)):
        initialized = tf.is_variable_initialized(variable)
        resource_registry.register_resource(
            tf.convert_to_tensor(variable), variable.initializer, initialized, is_shared
        )
    with tf.Session() as session:
        missing = resource_registry.report_uninitialized_resources()
        assert session.run(missing).tolist() == [b"shared/read:0", b"local/read:0"]
    with tf.train.MonitoredSession() as session:
        assert session.run(made) == [0.0, 0.0]
