"""Objects in checkpoints, and variables that start with what a checkpoint holds."""

import os

from kit import cases, graph, product, raises
from supervised import folder_of_its_own, logged


def lists_and_dictionaries(tf, np):
    with folder_of_its_own() as folder, tf.Session() as session:
        a, b, c = (tf.Variable(float(i), name="v%d" % i) for i in range(3))
        whole = tf.train.Checkpoint()
        whole.seq = [a, [b, {"c": c}]]
        whole.table = {"a": a}
        session.run(tf.global_variables_initializer())
        path = whole.save(folder + "/deep/down/x", session)
        half = tf.train.Checkpoint()
        half.seq = [a]
        half.table = {"other": b}
        status = half.restore(path)
        status.run_restore_ops(session)
        stranger = tf.train.Checkpoint(q=tf.Variable(0.0, name="q"))
        return [
            tf.train.list_variables(path),
            sorted(os.listdir(folder + "/deep/down")),
            raises(status.assert_consumed),
            raises(status.assert_existing_objects_matched),
            raises(stranger.restore(path).assert_nontrivial_match),
            raises(stranger.restore, folder + "/none"),
            raises(stranger.restore(None).assert_consumed),
            raises(tf.train.Checkpoint, x=3),
        ]


def a_manager_over_another(tf, np):
    with folder_of_its_own() as folder, tf.Session() as session:
        v = tf.Variable(0.0, name="v")
        checkpoint = tf.train.Checkpoint(v=v)
        session.run(tf.global_variables_initializer())
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        saved = [manager.latest_checkpoint]
        with session.as_default():
            for i in range(4):
                session.run(v.assign(i))
                saved.append(os.path.basename(manager.save()))
            saved.append(os.path.basename(manager.save(checkpoint_number=77)))
            other = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1, checkpoint_name="other")
            saved += [os.path.basename(path) for path in other.checkpoints]
            saved.append(os.path.basename(other.save()))
        checkpoint.restore(other.latest_checkpoint).initialize_or_restore(session)
        return [saved, sorted(os.listdir(folder)), session.run(v)]


def _old_model(tf, np, folder):
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("old"):
            tf.get_variable("w", initializer=np.arange(6.0).reshape(3, 2).astype("f"))
            tf.get_variable("b", initializer=[5.0, 6.0])
            tf.get_variable("sub/w", initializer=[9.0])
        tf.get_variable("top", initializer=1.5)
        cut = tf.fixed_size_partitioner(2)
        tf.get_variable("parts", [4, 2], initializer=tf.ones_initializer(), partitioner=cut)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, folder + "/m", 3)


_STARTS = {
    "scope to scope": ({"old/": "new/"}, {"new/w": [3, 2], "new/b": [2], "new/sub/w": [1]}),
    "all to all": ({"/": "/"}, {"old/w": [3, 2], "top": []}),
    "all to a scope": ({"/": "new/"}, {"new/top": [], "new/old/b": [2]}),
    "a scope to all": ({"old/": "/"}, {"w": [3, 2], "b": [2]}),
    "an inner scope to all": ({"old/sub/": "/"}, {"w": [1]}),
    "names": ({"old/w": "x", "top": "y"}, {"x": [3, 2], "y": []}),
    "both": ({"old/sub/": "in/", "old/b": "bias"}, {"in/w": [1], "bias": [2]}),
    "parts": ({"parts": "p"}, {"p": [4, 2]}),
}


@cases(*product(_STARTS, [False, True]))
def started_from_a_checkpoint(tf, np, name, resource):
    assignments, shapes = _STARTS[name]
    cut = tf.fixed_size_partitioner(2) if name == "parts" else None
    with folder_of_its_own() as folder:
        _old_model(tf, np, folder)
        with tf.variable_scope("", use_resource=resource, partitioner=cut):
            for variable in sorted(shapes):
                tf.get_variable(variable, shapes[variable])
        tf.train.init_from_checkpoint(folder, assignments)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [session.run(tf.global_variables()), graph(tf, ["dtype", "T"])]


def what_warm_starts_say(tf, np):
    with folder_of_its_own() as folder:
        path = _old_model(tf, np, folder)
        tf.get_variable("top", [])
        tf.get_variable("old/b", [2])
        with logged(tf, folder) as said:
            tf.train.warm_start(path)
            tf.train.warm_start(path, ["top"], var_name_to_prev_var_name={"top": "top"})
        return said


@cases("contrib", "layers", "convolution")
def statistics_are_not_cut(tf, np, kind):
    """Batch normalization under a partitioner: what is learned is cut, what is averaged is not."""
    x = tf.ones([2, 8, 8, 4])
    with tf.variable_scope("net", partitioner=tf.fixed_size_partitioner(2), use_resource=True):
        if kind == "contrib":
            tf.contrib.layers.batch_norm(x)
        elif kind == "layers":
            tf.layers.batch_normalization(x, training=True)
        else:
            tf.contrib.layers.conv2d(x, 4, 3, normalizer_fn=tf.contrib.layers.batch_norm)
    with folder_of_its_own() as folder, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saved = tf.train.list_variables(tf.train.Saver().save(session, folder + "/m"))
        return [saved, graph(tf, ["dtype", "shape"])]
