"""tf.train.Checkpoint, CheckpointManager and warm starts: keys, files, status objects, errors."""

import os
import tempfile

from kit import cases, raises


def _shapes(tf, path):
    return sorted(tf.train.NewCheckpointReader(path).get_variable_to_shape_map().items())


def _outcome(call, *arguments):
    try:
        call(*arguments)
    except AssertionError as error:
        return str(error).split("<")[0].split("{")[0].split("[")[0]
    return "fine"


def _trained(tf, units=2):
    layer = tf.layers.Dense(units, name="d", kernel_initializer=tf.ones_initializer())
    loss = tf.reduce_sum(layer(tf.ones([2, 3])))
    optimizer = tf.train.AdamOptimizer(0.1)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, step)
    return train, tf.train.Checkpoint(model=layer, optimizer=optimizer, step=step)


def saved_and_restored(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        train, checkpoint = _trained(tf)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = checkpoint.save(os.path.join(folder, "m"), session=sess)
        before = sess.run(sorted(tf.global_variables(), key=lambda v: v.name))
        sess.run(train)
        status = checkpoint.restore(path)
        checks = [
            _outcome(getattr(status, name))
            for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")
        ]
        status.initialize_or_restore(sess)
        after = sess.run(sorted(tf.global_variables(), key=lambda v: v.name))
        with open(os.path.join(folder, "checkpoint")) as state:
            text = state.read()
        again = checkpoint.save(os.path.join(folder, "m"), session=sess)
        return [
            _shapes(tf, path),
            before,
            after,
            checks,
            text,
            os.path.basename(path),
            os.path.basename(again),
            sorted(os.listdir(folder)),
            sess.run(checkpoint.save_counter),
        ]


def made_after_the_call(tf, np):
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            train, checkpoint = _trained(tf)
            sess.run(tf.global_variables_initializer())
            sess.run(train)
            path = checkpoint.save(os.path.join(folder, "m"), session=sess)
        with tf.Graph().as_default(), tf.Session() as sess:
            layer, optimizer = tf.layers.Dense(2, name="other"), tf.train.AdamOptimizer(0.1)
            checkpoint = tf.train.Checkpoint(model=layer, optimizer=optimizer)
            status = checkpoint.restore(path)
            early = [_outcome(status.assert_consumed), _outcome(status.assert_nontrivial_match)]
            train = optimizer.minimize(tf.reduce_sum(layer(tf.ones([2, 3]))))
            checkpoint.step = tf.train.get_or_create_global_step()
            late = [_outcome(status.assert_consumed)]
            status.run_restore_ops(sess)
            return [early, late, sess.run(sorted(tf.global_variables(), key=lambda v: v.name))]


def partly_there(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(a=a).save(os.path.join(folder, "m"), session=sess)
        both = tf.train.Checkpoint(a=a, b=b)
        status = both.restore(path)
        checks = [_outcome(status.assert_consumed), _outcome(status.assert_existing_objects_matched)]
        sess.run([a.assign(5.0), b.assign(6.0)])
        status.initialize_or_restore(sess)
        values = sess.run([a, b])
        none = tf.train.Checkpoint(other=b)
        status = none.restore(path)
        checks += [_outcome(status.assert_existing_objects_matched), _outcome(status.assert_consumed)]
        return [checks, values, type(status.expect_partial()).__name__]


def nothing_to_restore(tf, np):
    with tf.Session() as sess:
        v = tf.Variable(3.0)
        status = tf.train.Checkpoint(v=v).restore(None)
        checks = [_outcome(status.assert_consumed), _outcome(status.run_restore_ops, sess)]
        status.initialize_or_restore(sess)
        return [checks, sess.run(v), type(status).__name__]


def what_is_no_object(tf, np):
    nowhere = os.path.join(tempfile.gettempdir(), "none")
    return [
        raises(lambda: tf.train.Checkpoint(v=3)),
        raises(lambda: tf.train.Checkpoint(v=[tf.Variable(1.0)])),
        raises(lambda: tf.train.Checkpoint(v=tf.Variable(1.0)).restore(nowhere)),
    ]


def by_names_from_objects(tf, np):
    """tf.train.Saver reads checkpoints of objects by the variables' names."""
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        train, checkpoint = _trained(tf)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        saver = tf.train.Saver()
        path = checkpoint.save(os.path.join(folder, "m"), session=sess)
        before = sess.run(sorted(tf.global_variables(), key=lambda v: v.name))
        sess.run(train)
        saver.restore(sess, path)
        return [before, sess.run(sorted(tf.global_variables(), key=lambda v: v.name))]


def manager(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        v = tf.Variable(1.0)
        checkpoint = tf.train.Checkpoint(v=v)
        sess.run(v.initializer)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        out = [manager.latest_checkpoint, manager.checkpoints]
        for _ in range(4):
            manager.save()
        manager.save(checkpoint_number=17)
        out += [[os.path.basename(path) for path in manager.checkpoints], sorted(os.listdir(folder))]
        again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
        out += [os.path.basename(again.latest_checkpoint), [os.path.basename(p) for p in again.checkpoints]]
        again.save()
        return [*out, sorted(os.listdir(folder)), sess.run(checkpoint.save_counter)]


def manager_refuses(tf, np):
    checkpoint = tf.train.Checkpoint()
    return raises(lambda: tf.train.CheckpointManager(checkpoint, "x", max_to_keep=0))


def python_state(tf, np):
    class State(tf.train.experimental.PythonState):
        value = "first"

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value

    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        state = State()
        checkpoint = tf.train.Checkpoint(state=state)
        first = checkpoint.save(os.path.join(folder, "m"), session=sess)
        state.value = "second"
        second = checkpoint.save(os.path.join(folder, "m"), session=sess)
        checkpoint.restore(first).assert_consumed()
        out = [state.value]
        checkpoint.restore(second)
        return [*out, state.value, _shapes(tf, first)]


# ------------------------------------------------------------------------------------------------ warm starts


def _earlier(tf, folder, **values):
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in sorted(values.items()):
            tf.get_variable(name, initializer=value)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, os.path.join(folder, "m"))


def _vocabulary(folder, name, *words):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("\n".join(words) + "\n")
    return path


def _numbers(tf):
    """An initializer of natural numbers, from a hundred on."""

    def initializer(shape, dtype=tf.float32, partition_info=None):
        count = tf.reduce_prod(shape)
        return tf.reshape(tf.cast(tf.range(100, 100 + count), dtype), shape)

    return initializer


def warm_start_by_name(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        path = _earlier(tf, folder, a=np.float32([1, 2]), b=np.float32([3]), c=np.float32(4))
        a = tf.get_variable("a", shape=[2])
        b = tf.get_variable("renamed", shape=[1])
        c = tf.get_variable("c", initializer=np.float32(0), trainable=False)
        tf.train.warm_start(path, var_name_to_prev_var_name={"renamed": "b"})
        sess.run(tf.global_variables_initializer())
        out = sess.run([a, b, c])
        tf.train.warm_start(folder, vars_to_warm_start=["c"])
        sess.run(c.initializer)
        return [out, sess.run(c)]


@cases((0, 0, 1), (0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 2, 1))
def warm_start_by_word(tf, np, axis, buckets, parts):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        old = np.arange(12, dtype=np.float32).reshape(3, 4)
        old = old if axis == 0 else old.T
        path = _earlier(tf, folder, w=old)
        before = _vocabulary(folder, "old", "mercury", "venus", "mars")
        after = _vocabulary(folder, "new", "venus", "jupiter", "mercury", "pluto")
        shape = [4 + buckets, 4] if axis == 0 else [4, 4 + buckets]
        partitioner = tf.fixed_size_partitioner(parts) if parts > 1 else None
        w = tf.get_variable("w", shape=shape, partitioner=partitioner)
        info = tf.train.VocabInfo(after, 4, buckets, before, backup_initializer=_numbers(tf), axis=axis)
        tf.train.warm_start(path, var_name_to_vocab_info={"w": info})
        sess.run(tf.global_variables_initializer())
        return sess.run(tf.convert_to_tensor(w))


def part_of_an_old_vocabulary(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        path = _earlier(tf, folder, w=np.float32([[1, 2], [3, 4]]))
        words = _vocabulary(folder, "words", "a", "b", "c")
        w = tf.get_variable("w", shape=[3, 2])
        info = tf.train.VocabInfo(words, 3, 0, words, old_vocab_size=2)
        tf.train.warm_start(path, vars_to_warm_start=None, var_name_to_vocab_info={"w": info})
        sess.run(w.initializer)
        return [sess.run(w), info.new_vocab_size, info.old_vocab_size, info.axis, len(info)]


def warm_start_from_objects(tf, np):
    with tempfile.TemporaryDirectory() as folder, tf.Session() as sess:
        v = tf.get_variable("v", initializer=np.float32([1, 2]))
        sess.run(v.initializer)
        path = tf.train.Checkpoint(x=v).save(os.path.join(folder, "m"), session=sess)
        with tf.Graph().as_default(), tf.Session() as other:
            v = tf.get_variable("v", shape=[2])
            tf.train.warm_start(path)
            other.run(v.initializer)
            value = other.run(v)
            tf.get_variable("w", shape=[2])
            return [value, raises(lambda: tf.train.warm_start(path))]


def warm_start_refuses(tf, np):
    with tempfile.TemporaryDirectory() as folder:
        path = _earlier(tf, folder, a=np.float32([1, 2]))
        tf.get_variable("a", shape=[2])
        return [
            raises(lambda: tf.train.warm_start(path, var_name_to_prev_var_name={"typo": "a"})),
            raises(lambda: tf.train.warm_start(path, vars_to_warm_start=3)),
            raises(lambda: tf.train.warm_start(path, vars_to_warm_start=["a", 3])),
            raises(lambda: tf.train.VocabInfo("a", 1, 0, "b", axis=2)),
        ]
