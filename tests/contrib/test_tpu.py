"""tf.contrib.tpu on machines without TPUs: what TensorFlow cannot run there."""

import threading

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.tpu.streaming import StreamingFilesDataset


def _train(optimizer):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(v, [0])), global_step=step)
    return v, step, train


def _values(build, *fetches):
    with tf.Graph().as_default(), tf.Session() as session:
        built = build()
        session.run(tf.global_variables_initializer())
        return session.run(built)


def test_one_replica_is_the_optimizer_itself():
    def trained(wrap):
        def build():
            optimizer = wrap(tf.train.MomentumOptimizer(0.1, 0.9))
            v, _, train = _train(optimizer)
            assert optimizer.get_slot_names() == ["momentum"]
            assert optimizer.get_slot(v, "momentum") in optimizer.variables()
            with tf.control_dependencies([train]):
                return tf.identity(v.read_value())

        return _values(build)

    plain = trained(lambda optimizer: optimizer)
    np.testing.assert_array_equal(trained(tf.contrib.tpu.CrossShardOptimizer), plain)


def test_replicas_share_variables_and_their_parts_are_joined():
    def model(x):
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        return tf.matmul(x, w), tf.reduce_sum(x)

    def build():
        built = tf.tpu.shard(model, [tf.reshape(tf.range(8.0), [4, 2])], 2)
        assert [v.name for v in tf.global_variables()] == ["w:0"]
        return built

    products, sums = _values(build)
    np.testing.assert_array_equal(products, [[1], [5], [9], [13]])
    np.testing.assert_array_equal(sums, [6, 22])


def test_operations_run_with_the_tensors_of_their_replica():
    def build():
        v = tf.get_variable("v", initializer=1.0)
        (first,) = tf.tpu.rewrite(lambda: (tf.constant(3.0), v.assign_add(4.0).op))
        with tf.control_dependencies([first]):
            return tf.identity(v.read_value())

    assert _values(build) == 5.0


def test_sums_over_several_replicas_say_what_to_use():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="MirroredStrategy"):
        tf.tpu.replicate(tf.tpu.cross_replica_sum, [[1.0], [2.0]])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="iterator"):
        tf.tpu.rewrite(lambda: None, infeed_queue=object())
    with pytest.raises(ValueError, match="MirroredStrategy"):
        tf.contrib.tpu.keras_to_tpu_model(None, strategy=object())


class _Listener(tf.train.CheckpointSaverListener):
    """Notes what is saved; holds the second checkpoint back until it is let go."""

    def __init__(self, fails=False):
        self.saved, self.released, self.fails = [], threading.Event(), fails

    def before_save(self, session, step):
        if self.saved:
            assert self.released.wait(60)
        if self.fails:
            raise OSError("no space left")
        self.saved.append((int(step), threading.current_thread() is threading.main_thread()))


def _run(directory, listener, steps):
    with tf.Graph().as_default():
        _, _, train = _train(tf.train.GradientDescentOptimizer(0.1))
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=None))
        hook = tf.contrib.tpu.AsyncCheckpointSaverHook(
            directory, save_steps=1, scaffold=scaffold, listeners=[listener]
        )
        creator = tf.train.ChiefSessionCreator(scaffold)
        with tf.train.MonitoredSession(creator, hooks=[hook]) as session:
            hook._thread.join()  # the first checkpoint is whole before a step changes anything
            for _ in range(steps):
                session.run(train)
            listener.released.set()


def test_checkpoints_are_written_beside_the_training(tmp_path):
    listener = _Listener()
    _run(str(tmp_path), listener, 3)
    steps = [step for step, _ in listener.saved]
    assert steps[0] == 0 and steps[-1] == 3 and len(steps) == 3  # step 2 was left out: 1 was being written
    assert not listener.saved[1][1] and listener.saved[-1][1]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-3")


def test_a_checkpoint_that_fails_ends_the_training(tmp_path):
    with pytest.raises(OSError, match="no space left"):
        _run(str(tmp_path), _Listener(fails=True), 1)


def test_models_stay_where_they_are(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    assert tf.contrib.tpu.keras_to_tpu_model(model) is model

    def model_fn(features, labels, mode):
        tf.get_variable("v", initializer=2.0)
        loss = tf.reduce_sum(features["x"])
        train = tf.train.get_global_step().assign_add(1)
        return tf.estimator.EstimatorSpec(mode, predictions=features["x"], loss=loss, train_op=train)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "model"))
    estimator.train(lambda: ({"x": tf.ones([1])}, None), steps=1)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.ones([1])})
    path = tf.contrib.tpu.export_estimator_savedmodel(estimator, str(tmp_path / "out"), receiver)
    assert tf.saved_model.loader.maybe_saved_model_directory(path)


def test_streamed_files_are_read_several_at_a_time(tmp_path):
    for number in range(3):
        (tmp_path / f"part{number}.txt").write_text(f"{number}a\n{number}b\n")
    pattern = str(tmp_path / "part*.txt")
    with tf.Graph().as_default(), tf.Session() as session:
        lines = StreamingFilesDataset(pattern, filetype="text", num_epochs=2)
        mapped = StreamingFilesDataset(
            tf.data.Dataset.list_files(pattern, shuffle=False),
            filetype=lambda path: tf.data.TextLineDataset(path).take(1),
            num_epochs=1,
            filename_shuffle_buffer_size=False,
            sloppy=False,
        )
        elements = [tf.data.make_one_shot_iterator(each).get_next() for each in (lines, mapped)]
        assert sorted(session.run(elements[0]) for _ in range(12)) == sorted(
            2 * [b"0a", b"0b", b"1a", b"1b", b"2a", b"2b"]
        )
        assert [session.run(elements[1]) for _ in range(3)] == [b"0a", b"1a", b"2a"]
    with pytest.raises(ValueError, match="Unexpected filetype: tables"):
        StreamingFilesDataset(pattern, filetype="tables")
    with pytest.raises(ValueError, match="filetype should be a string or a callable"):
        StreamingFilesDataset(pattern, filetype=3)
    with pytest.raises(ValueError, match="files was not a string or a dataset"):
        StreamingFilesDataset(files=3)
