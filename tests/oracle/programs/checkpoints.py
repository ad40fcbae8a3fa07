"""Savers: their nodes, what they keep and delete, the state file, readers, and what they refuse."""

import os

from kit import cases, graph, raises
from saved_files import Folder, message_text


def _read(path):
    with open(path, "rb") as stream:
        return stream.read()


def _variables(tf, np):
    tf.get_variable("a", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
    tf.get_variable("b", initializer=np.arange(3, dtype=np.int64), use_resource=True)
    tf.get_variable(
        "p",
        shape=[5, 2],
        partitioner=tf.fixed_size_partitioner(3),
        initializer=tf.ones_initializer(),
    )


_SAVERS = {
    "plain": {},
    "sequential": {"restore_sequentially": True},
    "reshape": {"reshape": True},
    "named": {"name": "mine"},
    "file": {"filename": "elsewhere"},
    "old": {"write_version": 1},
    "old sharded": {"write_version": 1, "sharded": True},
}


@cases({name: (options,) for name, options in _SAVERS.items()})
def nodes(tf, np, options):
    _variables(tf, np)
    saver = tf.train.Saver(**options)
    return [graph(tf), message_text(saver.as_saver_def())]


def nodes_of_a_second_saver(tf, np):
    _variables(tf, np)
    tf.train.Saver()
    saver = tf.train.Saver([tf.global_variables()[0]], max_to_keep=None)
    return [
        graph(tf),
        message_text(saver.to_proto()),
        message_text(saver.to_proto("save_1")),
        saver.to_proto("other"),
    ]


def nodes_of_tables(tf, np):
    tf.get_variable("a", shape=[2])
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)
    table.insert([1], [2.0])
    tf.train.Saver()
    return [n.name for n in tf.get_default_graph().as_graph_def().node]


def names_in_the_checkpoint(tf, np):
    with Folder() as folder, tf.Session() as sess:
        a = tf.get_variable("a", initializer=np.float32(3))
        with tf.variable_scope("s"):
            b = tf.get_variable("b", initializer=np.ones([2], np.float32))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver({"one": a, "x/two": b}).save(sess, folder("m"))
        return tf.train.list_variables(path)


@cases(0, 1, 2, 5, None)
def kept(tf, np, count):
    with Folder() as folder, tf.Session() as sess:
        step = tf.get_variable("step", initializer=np.int64(10), use_resource=True)
        saver = tf.train.Saver(max_to_keep=count)
        sess.run(tf.global_variables_initializer())
        saved = []
        for number in (1, 2, np.int64(3), step):
            saved.append(saver.save(sess, folder("m"), global_step=number))
        saved.append(saver.save(sess, folder("m"), global_step=2))
        state = _read(folder("checkpoint")).decode()
        return {
            "saved": folder.shown(saved),
            "last": folder.shown(saver.last_checkpoints),
            "files": folder.files(),
            "state": folder.shown(state),
            "latest": folder.shown(tf.train.latest_checkpoint(folder())),
            "parsed": folder.shown(message_text(tf.train.get_checkpoint_state(folder()))),
        }


@cases(
    {
        "padded": ({"pad_step_number": True}, {"global_step": 7}),
        "relative": ({"save_relative_paths": True}, {"global_step": 7}),
        "other state": ({}, {"latest_filename": "mine"}),
        "no state": ({}, {"write_state": False}),
        "no graph": ({}, {"write_meta_graph": False}),
        "other suffix": ({}, {"meta_graph_suffix": "graph"}),
        "sharded": ({"sharded": True}, {}),
        "old": ({"write_version": 1}, {}),
        "old sharded": ({"write_version": 1, "sharded": True}, {"global_step": 3}),
        "empty": ({"allow_empty": True, "var_list": []}, {}),
    }
)
def files(tf, np, options, how):
    with Folder() as folder, tf.Session() as sess:
        _variables(tf, np)
        saver = tf.train.Saver(**options)
        sess.run(tf.global_variables_initializer())
        os.mkdir(folder("deep"))
        path = saver.save(sess, folder("deep", "m"), **how)
        if path is None:
            return None
        found = sorted(os.listdir(folder("deep")))
        states = [_read(folder("deep", name)).decode() for name in found if name in ("checkpoint", "mine")]
        return [folder.shown(path), found, folder.shown(states), folder.shown(saver.last_checkpoints)]


@cases({"plain": ({},), "sharded": ({"sharded": True},), "reshape": ({"reshape": True},)})
def there_and_back(tf, np, options):
    with Folder() as folder, tf.Session() as sess:
        _variables(tf, np)
        values = tf.global_variables()
        saver = tf.train.Saver(**options)
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, folder("m"))
        sess.run([v.assign(v + tf.cast(1, v.dtype.base_dtype)) for v in values])
        changed = sess.run(values)
        saver.restore(sess, path)
        return [changed, sess.run(values)]


def restored_without_initialization(tf, np):
    with Folder() as folder:
        with tf.Session() as sess:
            _variables(tf, np)
            saver = tf.train.Saver()
            sess.run(tf.global_variables_initializer())
            path = saver.save(sess, folder("m"))
        with tf.Session() as sess:
            saver.restore(sess, path)
            return sess.run([tf.report_uninitialized_variables()] + tf.global_variables())


def reshaped(tf, np):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=np.arange(6, dtype=np.float32).reshape(2, 3))
            sess.run(v.initializer)
            path = tf.train.Saver().save(sess, folder("m"))
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", shape=[3, 2])
            tf.train.Saver(reshape=True).restore(sess, path)
            return sess.run(v)


def partitioned_otherwise(tf, np):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable(
                "v",
                shape=[7, 2],
                initializer=tf.random_uniform_initializer(seed=1),
                partitioner=tf.fixed_size_partitioner(3),
            )
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, folder("m"))
            saved = sess.run(v.as_tensor())
        again = []
        for parts in (1, 2, 4):
            with tf.Graph().as_default(), tf.Session() as sess:
                v = tf.get_variable("v", shape=[7, 2], partitioner=tf.fixed_size_partitioner(parts))
                tf.train.Saver().restore(sess, path)
                again.append(bool((sess.run(tf.convert_to_tensor(v)) == saved).all()))
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", shape=[7, 2])
            tf.train.Saver().restore(sess, path)
            again.append(bool((sess.run(v) == saved).all()))
        return again


def bad_savers(tf, np):
    nothing = raises(tf.train.Saver)
    v = tf.get_variable("v", shape=[2])
    w = tf.get_variable("w", shape=[2], use_resource=True)
    return [
        nothing,
        raises(tf.train.Saver, [v, v]),
        raises(tf.train.Saver, {"a": v, "b": v}),
        raises(tf.train.Saver, {"a": w, "b": w}),
        raises(tf.train.Saver, 3),
        raises(tf.train.Saver, [tf.constant(1)]),
        raises(tf.train.Saver, {"a": tf.constant(1)}),
        raises(tf.train.Saver, {3: v}),
        raises(tf.train.Saver, [v], defer_build=True),
        raises(tf.train.Saver(defer_build=True).save, tf.Session(), "x"),
        raises(tf.train.Saver, saver_def=tf.train.SaverDef()),
    ]


def bad_saves(tf, np):
    with Folder() as folder, tf.Session() as sess:
        v = tf.get_variable("v", shape=[2])
        saver = tf.train.Saver()
        found = [raises(saver.save, sess, folder("m")), folder.files()]
        sess.run(v.initializer)
        return found + [
            raises(saver.save, 3, folder("m")),
            raises(saver.save, sess, folder("m"), latest_filename="a/b"),
            raises(saver.save, sess, folder("checkpoint")),
            raises(saver.restore, sess, None),
            raises(saver.restore, sess, folder("none")),
        ]


@cases("missing", "shape", "dtype", "slice")
def bad_restores(tf, np, kind):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", initializer=np.ones([4], np.float32))
            sess.run(v.initializer)
            path = tf.train.Saver().save(sess, folder("m"))
        with tf.Graph().as_default(), tf.Session() as sess:
            name, shape, dtype, parts = {
                "missing": ("w", [4], tf.float32, None),
                "shape": ("v", [5], tf.float32, None),
                "dtype": ("v", [4], tf.float64, None),
                "slice": ("v", [6], tf.float32, tf.fixed_size_partitioner(2)),
            }[kind]
            tf.get_variable(name, shape=shape, dtype=dtype, partitioner=parts)
            return raises(tf.train.Saver().restore, sess, path)


def recovered(tf, np):
    with Folder() as folder, tf.Session() as sess:
        v = tf.get_variable("v", initializer=np.float32(1))
        saver = tf.train.Saver(max_to_keep=2)
        sess.run(v.initializer)
        for step in (1, 2):
            saver.save(sess, folder("m"), global_step=step)
        state = tf.train.get_checkpoint_state(folder())
        other = tf.train.Saver(max_to_keep=2)
        other.recover_last_checkpoints(list(state.all_model_checkpoint_paths) + [folder("gone")])
        before = folder.shown(other.last_checkpoints)
        other.save(sess, folder("m"), global_step=3)
        other.set_last_checkpoints_with_time([(folder("m-2"), 1.0)])
        after = folder.shown(other.last_checkpoints)
        return [
            before,
            after,
            folder.files(),
            len(tf.train.get_checkpoint_mtimes([folder("m-3"), folder("x")])),
        ]


def states(tf, np):
    make = tf.train.generate_checkpoint_state_proto
    return [
        message_text(make("/d", "/d/a")),
        message_text(make("/d", "/d/a", ["/d/b", "/d/a"], [1.5, 2.5], 0.5)),
        message_text(make("rel", "rel/a", ["rel/b"])),
        message_text(make("rel", "/d/a")),
        raises(make, "/d", "/d/a", ["/d/b"], [1.0]),
        tf.train.get_checkpoint_state("/nonexistent"),
        tf.train.latest_checkpoint("/nonexistent"),
        tf.train.checkpoint_exists("/tmp/nonexistent"),
    ]


def bad_states(tf, np):
    with Folder() as folder:
        found = []
        for text in ("nonsense", 'model_checkpoint_path: "gone"\n'):
            with open(folder("checkpoint"), "w") as stream:
                stream.write(text)
            found.append(folder.shown(message_text(tf.train.get_checkpoint_state(folder()))))
            found.append(tf.train.latest_checkpoint(folder()))
        return found


def readers(tf, np):
    with Folder() as folder, tf.Session() as sess:
        _variables(tf, np)
        tf.get_variable("t", initializer=np.array([b"x", b""], object))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, folder("m"), global_step=1)
        reader = tf.train.NewCheckpointReader(path)
        return [
            sorted(reader.get_variable_to_shape_map().items()),
            sorted((k, v.name) for k, v in reader.get_variable_to_dtype_map().items()),
            [reader.has_tensor(n) for n in ("a", "p", "zz")],
            [reader.get_tensor(n) for n in ("a", "b", "p", "t")],
            raises(reader.get_tensor, "zz"),
            tf.train.list_variables(folder()),
            tf.train.load_variable(folder(), "a:0"),
            raises(tf.train.load_checkpoint, folder("nothing")),
            raises(tf.train.NewCheckpointReader, folder("nothing")),
            folder.shown(list(tf.train.checkpoints_iterator(folder(), timeout=0.01))),
        ]


def initialized(tf, np):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            with tf.variable_scope("m"):
                _variables(tf, np)
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, folder("m"))
        with tf.Session() as sess:
            with tf.variable_scope("other"):
                a = tf.get_variable("a", shape=[2, 3])
                b = tf.get_variable("b", shape=[3], dtype=tf.int64, use_resource=True)
                p = tf.get_variable("p", shape=[5, 2], partitioner=tf.fixed_size_partitioner(2))
            c = tf.get_variable("c", shape=[2, 3])
            tf.train.init_from_checkpoint(path, {"m/": "other/"})
            tf.train.init_from_checkpoint(path, {"m/a": c})
            tf.train.init_from_checkpoint(folder(), {"m/p": list(p)})
            sess.run(tf.global_variables_initializer())
            return [
                sess.run([a, b, c] + list(p)),
                [n.name for n in tf.get_default_graph().as_graph_def().node],
                raises(tf.train.init_from_checkpoint, path, {"none": a}),
                raises(tf.train.init_from_checkpoint, path, {"m/a": "nowhere"}),
                raises(tf.train.init_from_checkpoint, path, {"m/b": a}),
                raises(tf.train.init_from_checkpoint, path, {"": "other/"}),
                raises(tf.train.init_from_checkpoint, path, {"zz/": "other/"}),
            ]


def meta_graphs(tf, np):
    with Folder() as folder:
        with tf.Graph().as_default(), tf.Session() as sess:
            _variables(tf, np)
            x = tf.placeholder(tf.float32, [None, 2], name="x")
            y = tf.identity(tf.matmul(x, tf.global_variables()[0]), name="y")
            for key, value in (
                ("tensors", y),
                ("numbers", 3),
                ("texts", "t"),
                ("floats", 1.5),
                ("ops", y.op),
            ):
                tf.add_to_collection(key, value)
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, folder("m"))
        found = []
        for scope in (None, "in"):
            with tf.Graph().as_default() as g, tf.Session() as sess:
                saver = tf.train.import_meta_graph(path + ".meta", import_scope=scope)
                saver.restore(sess, path)
                prefix = scope + "/" if scope else ""
                found += [
                    sess.run(prefix + "y:0", {prefix + "x:0": [[1, 2]]}),
                    sorted(g.get_all_collection_keys()),
                    [v.name for v in tf.global_variables()],
                    [v is w for v, w in zip(tf.global_variables(), tf.trainable_variables())],
                    [tf.get_collection(k) for k in ("numbers", "texts", "floats")],
                    [tf.get_collection(k)[0].name for k in ("tensors", "ops")],
                    message_text(saver.as_saver_def()),
                ]
        return found


def meta_graph_messages(tf, np):
    _variables(tf, np)
    tf.train.Saver()
    message = tf.train.export_meta_graph()
    cleared = tf.train.export_meta_graph(clear_devices=True, strip_default_attrs=True)
    return [
        sorted(message.collection_def),
        [len(message.collection_def[k].bytes_list.value) for k in sorted(message.collection_def)],
        [op.name for op in message.meta_info_def.stripped_op_list.op],
        message.meta_info_def.stripped_default_attrs,
        cleared.meta_info_def.stripped_default_attrs,
        [(n.name, n.device, sorted(n.attr)) for n in cleared.graph_def.node],
        raises(tf.train.import_meta_graph, "/nonexistent"),
    ]


@cases(True, False)
def written_graphs(tf, np, as_text):
    with Folder() as folder:
        tf.constant(3, name="c")
        path = tf.train.write_graph(tf.get_default_graph(), folder("deep"), "g", as_text=as_text)
        data = _read(path)
        again = tf.GraphDef()
        if not as_text:
            again.ParseFromString(data)
        return [folder.shown(path), len(again.node), b'name: "c"' in data]


def sharded_names(tf, np):
    with tf.Session() as sess:
        return sess.run(
            [
                tf.raw_ops.ShardedFilename(basename="a", shard=3, num_shards=10),
                tf.raw_ops.ShardedFilespec(basename="a", num_shards=10),
            ]
        )
