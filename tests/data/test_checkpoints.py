"""Iterators in checkpoints, and what pipelines tell of themselves."""

from types import SimpleNamespace

import pytest

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.ops.datasets.iterators import restore_iterator_op


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def shuffled():
    return tf.data.Dataset.range(20).shuffle(20, seed=3).map(lambda x: x * 10).batch(2)


@pytest.mark.parametrize("kind", ["initializable", "one shot"])
def test_training_goes_on_behind_the_last_element(tmp_path, kind):
    dataset = shuffled()
    if kind == "initializable":
        iterator = dataset.make_initializable_iterator()
        start = iterator.initializer
    else:
        iterator, start = dataset.make_one_shot_iterator(), tf.no_op()
    element = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(start)
        for _ in range(3):
            session.run(element)
        path = saver.save(session, str(tmp_path / "input"))
        rest = [session.run(element).tolist() for _ in range(7)]
    with tf.Session() as session:
        saver.restore(session, path)
        assert [session.run(element).tolist() for _ in range(7)] == rest
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_an_end_is_restored(tmp_path):
    iterator = tf.data.Dataset.range(1).make_initializable_iterator()
    element = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        path = saver.save(session, str(tmp_path / "input"))
        session.run(iterator.initializer)
        saver.restore(session, path)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_a_state_as_a_variant():
    iterator = tf.data.Dataset.range(9).make_initializable_iterator()
    element = iterator.get_next()
    state = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    restore = tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=state)
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        session.run(restore)
        assert session.run(element) == 1


def test_an_iterator_without_a_dataset_has_no_state(tmp_path):
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"),
    ):
        saver.save(session, str(tmp_path / "input"))


def test_a_hook_saves_and_restores_all_iterators(tmp_path):
    config = SimpleNamespace(
        save_checkpoints_secs=None, save_checkpoints_steps=2, num_worker_replicas=1, task_type="", task_id=0
    )
    estimator = SimpleNamespace(model_dir=str(tmp_path), _config=config)

    def run(steps):
        with tf.Graph().as_default():
            iterator = tf.data.Dataset.range(100).make_one_shot_iterator()
            element, step = iterator.get_next(), tf.train.get_or_create_global_step()
            train = tf.assign_add(step, 1)
            hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
            with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
                return [session.run([element, train])[0] for _ in range(steps)]

    assert run(4) == [0, 1, 2, 3]
    assert (tmp_path / "checkpoint_input").exists()
    assert run(3) == [4, 5, 6]


def test_a_hook_without_iterators_says_so(tmp_path):
    config = SimpleNamespace(save_checkpoints_secs=None, save_checkpoints_steps=2)
    hook = tf.data.experimental.CheckpointInputPipelineHook(
        SimpleNamespace(model_dir=str(tmp_path), _config=config)
    )
    with pytest.raises(ValueError, match="no iterators"):
        hook.begin()


def test_an_aggregator_is_told_of_every_element():
    aggregator = tf.data.experimental.StatsAggregator()
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = "input"
    dataset = tf.data.Dataset.range(5).repeat(2).apply(tf.data.experimental.latency_stats("wait"))
    dataset = dataset.batch(2).apply(tf.data.experimental.bytes_produced_stats("bytes")).with_options(options)
    iterator = dataset.make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(element)
        found = tf.Summary.FromString(session.run(summary))
    tags = {value.tag: value.histo for value in found.value}
    assert set(tags) == {"input::wait", "input::bytes"}
    assert (tags["input::bytes"].num, tags["input::bytes"].sum) == (4, 64)
    assert tags["input::wait"].num == 8 and tags["input::wait"].min > 0


def test_nobody_is_told_where_nobody_asks():
    element = tf.data.Dataset.range(2).apply(tf.data.experimental.latency_stats("t"))
    element = element.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(element), session.run(element)] == [0, 1]


def test_options_refuse_what_they_are_not_for():
    options = tf.data.Options()
    with pytest.raises(TypeError, match='"experimental_slack" must be of type'):
        options.experimental_slack = "yes"
    with pytest.raises(AttributeError, match="Cannot set the property speed on Options"):
        options.speed = 3
    other = tf.data.Options()
    options.experimental_optimization.autotune, other.experimental_optimization.autotune = True, False
    with pytest.raises(ValueError, match="incompatible values"):
        options.merge(other)


# ----------------------------------------------------------------------------------- counts that are believed


def _restored(dataset, state, timeout_in_ms=200):
    iterator = dataset.make_initializable_iterator()
    restore = restore_iterator_op(iterator._iterator_resource, state, name="restore")
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(restore, options=tf.RunOptions(timeout_in_ms=timeout_in_ms))
        return session.run(iterator.get_next())


def test_a_position_that_is_no_number_of_elements():
    for digits in ("9" * 20, "9" * 5000):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not the state"):
            _restored(tf.data.Dataset.range(3), f"tideflow iterator at {digits}")


def test_a_position_far_behind_the_end_is_the_end():
    with pytest.raises(tf.errors.OutOfRangeError):
        _restored(tf.data.Dataset.range(3), "tideflow iterator at " + "9" * 19, 60_000)


@pytest.mark.parametrize(
    "dataset",
    [
        lambda: tf.data.Dataset.range(1).repeat().skip(1 << 60),
        lambda: tf.data.Dataset.range(1).repeat().filter(lambda x: x > 0),
        lambda: tf.data.Dataset.range(1).repeat().shard(1 << 60, (1 << 60) - 1),
        lambda: tf.data.Dataset.range(0).repeat(1 << 60),
    ],
    ids=["skip", "filter", "shard", "repeat"],
)
def test_the_deadline_holds_while_elements_are_passed_over(dataset):
    element = dataset().make_one_shot_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(element, options=tf.RunOptions(timeout_in_ms=200))


def test_the_deadline_holds_while_a_position_is_restored():
    with pytest.raises(tf.errors.DeadlineExceededError, match="restoring"):
        _restored(tf.data.Dataset.range(1).repeat(), "tideflow iterator at " + "9" * 18)


def test_eagerly_a_checkpoint_follows_an_iterator(tmp_path):
    with eager_mode():
        iterator = iter(shuffled())
        next(iterator)
        path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "c"))
        rest = [element.numpy().tolist() for element in iterator]
        other = iter(shuffled())
        tf.train.Checkpoint(iterator=other).restore(path).assert_consumed()
        assert [element.numpy().tolist() for element in other] == rest


def test_a_checkpoint_follows_an_iterator_of_a_graph(tmp_path):
    iterator = shuffled().make_initializable_iterator()
    element = iterator.get_next()
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        path = checkpoint.save(str(tmp_path / "c"), session=session)
        rest = session.run(element).tolist()
    with tf.Session() as session:
        checkpoint.restore(path).run_restore_ops(session)
        assert session.run(element).tolist() == rest
