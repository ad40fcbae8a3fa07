"""Sessions of a cluster and what they share, servers, and training over parameter servers."""

import os
import shutil
import tempfile
import threading

from kit import Raised, raises
from local_tasks import fresh, on, servers, setter


def containers_and_reset(tf, np):
    target = fresh(tf)
    r = []
    with tf.device(on("ps")):
        with tf.container("c1"):
            a = tf.Variable(1.0)
        b = tf.Variable(2.0)
        with tf.container("c1"):
            q = tf.FIFOQueue(3, tf.float32, shared_name="qq")
    with tf.Session(target) as s:
        s.run([a.initializer, b.initializer, q.enqueue(5.0)])
    with tf.Session(target) as s:
        r.append(s.run([a, b, q.size()]))
    tf.Session.reset(target, ["c1"])
    with tf.Session(target) as s:
        r.append([raises(s.run, a), s.run(b), s.run(q.size())])
    s = tf.Session(target)
    r.append(s.run(b))
    tf.Session.reset(target)
    r.append(raises(s.run, b))
    with tf.Session(target) as s:
        r.append(raises(s.run, b))
    r.append(raises(tf.Session.reset, ""))
    r.append(raises(tf.Session.reset, "grpc://bad"))
    return r


def isolated(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(1.0)
    with tf.Session(target) as a, tf.Session(target, config=tf.ConfigProto(isolate_session_state=True)) as b:
        a.run(v.initializer)
        r = [raises(b.run, v)]
        b.run(v.initializer)
        b.run(v.assign_add(5.0))
        return r + [a.run(v), b.run(v)]


def shared_queue_between_graphs(tf, np):
    target = fresh(tf)
    r = []
    for i in range(2):
        with tf.Graph().as_default(), tf.Session(target) as s:
            with tf.device(on("ps")):
                q = tf.FIFOQueue(10, [tf.int32], shapes=[[]], shared_name="done")
            s.run(q.enqueue(i))
            r.append(s.run(q.size()))
    with tf.Graph().as_default(), tf.Session(servers(tf)["worker", 1].target) as s:
        with tf.device(on("ps")):
            q = tf.FIFOQueue(10, [tf.int32], shapes=[[]], shared_name="done")
            bad = tf.FIFOQueue(11, [tf.int32], shapes=[[]], shared_name="done")
            bad2 = tf.FIFOQueue(10, [tf.float32], shapes=[[]], shared_name="done")
        r += [s.run(q.dequeue_many(2)), raises(s.run, bad.size()), raises(s.run, bad2.size())]
    return r


def server_arguments(tf, np):
    C = {"a": ["localhost:0"]}
    r = []
    for args, kw in [
        ((C,), {}),
        ((C, "a"), {}),
        ((C, "b"), {}),
        ((C, "a", 1), {}),
        ((5,), {}),
        ((None,), {}),
        ((C,), dict(protocol="nope")),
        (({"a": ["localhost:0"], "b": ["localhost:1"]},), {}),
        (({"a": ["localhost:0", "localhost:0"]}, "a"), {}),
        (({"a": {3: "localhost:0"}}, "a"), {}),
        (({"a": {3: "localhost:0"}}, "a", 3), {}),
        (({},), {}),
        (({"a": ["nowhere"]},), {}),
        (({"a": ["localhost:x"]},), {}),
        ((C, "a", -1), {}),
        ((C, "a", "x"), {}),
        ((C, 5), {}),
    ]:
        try:
            s = tf.train.Server(*args, start=False, **kw)
            r.append([s.server_def.job_name, s.server_def.task_index, s.server_def.protocol])
        except Exception as e:
            r.append(Raised(e))
    return r


def server_facts(tf, np):
    server = servers(tf)["worker", 1]
    d = server.server_def
    return [
        d.job_name,
        d.task_index,
        d.protocol,
        len(d.cluster.job),
        server.target.startswith("grpc://localhost:"),
        type(d).__name__,
    ]


def local_server(tf, np):
    s = tf.train.Server.create_local_server(config=tf.ConfigProto(device_count={"CPU": 2}))
    with tf.device("/job:local/task:0/cpu:1"):
        x = tf.identity(3.0)
    with tf.Session(s.target) as session:
        r = [session.run(x), [d.name for d in session.list_devices() if "XLA" not in d.name]]
    return r + [s.server_def.default_session_config.device_count["CPU"], s.server_def.job_name]


def devices_listed(tf, np):
    target = fresh(tf)
    with tf.Session(target) as session:
        a = [(d.name, d.device_type) for d in session.list_devices() if "XLA" not in d.device_type]
    with tf.Session(target, config=tf.ConfigProto(device_filters=["/job:ps/task:1"])) as session:
        b = [d.name for d in session.list_devices() if "XLA" not in d.device_type]
    return [sorted(a), sorted(b)]


def finalized_and_closed(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        x = tf.constant(1.0)
    tf.get_default_graph().finalize()
    s = tf.Session(target)
    r = [s.run(x)]
    s.close()
    r += [raises(s.run, x), raises(s.close), raises(s.list_devices)]
    return r


def bad_targets(tf, np):
    return [raises(tf.Session, t) for t in ("foo", "foo://bar", 5)]


def interactive(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(4.0)
    s = tf.InteractiveSession(target)
    v.initializer.run()
    r = [v.eval(), (v + 1).eval(), s.sess_str == target or s.sess_str == target.encode()]
    s.close()
    return r


def many_sessions(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        v = tf.Variable(0, name="v")
        up = tf.assign_add(v, 1, use_locking=True)
    with tf.Session(target) as s:
        s.run(v.initializer)

    def go(i):
        with tf.Session(servers(tf)["worker", i % 2].target, graph=v.graph) as s:
            for _ in range(25):
                s.run(up)

    ts = [threading.Thread(target=go, args=(i,)) for i in range(4)]
    for t in ts:
        t.start()
    for t in ts:
        t.join(60)
    with tf.Session(target, graph=v.graph) as s:
        return s.run(v)


def barrier_of_three(tf, np):
    fresh(tf)
    out = []

    def task(i):
        with tf.Graph().as_default(), tf.Session(servers(tf)["worker", i % 2].target) as s:
            with tf.device(on("ps")):
                q = [tf.FIFOQueue(3, tf.bool, shapes=[[]], shared_name="b%d" % k) for k in range(3)]
            s.run([q[k].enqueue(True) for k in range(3) if k != i])
            s.run(q[i].dequeue_many(2))
            out.append(i)

    ts = [threading.Thread(target=task, args=(i,)) for i in range(3)]
    for t in ts:
        t.start()
    for t in ts:
        t.join(30)
    return sorted(out)


def in_graph_replication(tf, np):
    target = fresh(tf)
    with tf.device(on("ps")):
        w = tf.get_variable("w", initializer=[[0.0], [0.0]])
    x = np.random.RandomState(0).normal(size=(8, 2)).astype(np.float32)
    y = x.dot(np.array([[2.0], [-1.0]], np.float32))
    opt = tf.train.GradientDescentOptimizer(0.1)
    towers = []
    for t in (0, 1):
        with tf.device(on("worker", t)), tf.name_scope("t%d" % t):
            xx, yy = tf.constant(x[t * 4 : t * 4 + 4]), tf.constant(y[t * 4 : t * 4 + 4])
            towers.append(
                opt.compute_gradients(
                    tf.reduce_mean(tf.square(tf.matmul(xx, w) - yy)), colocate_gradients_with_ops=True
                )
            )
    with tf.device(on("ps", 1)):
        g = tf.add_n([t[0][0] for t in towers]) / 2
    train = opt.apply_gradients([(g, w)])
    with tf.Session(target) as s:
        s.run(w.initializer)
        for _ in range(10):
            s.run(train)
        return s.run(w)


def embedding_partitioned(tf, np):
    target = fresh(tf)
    with tf.device(setter(tf)):
        emb = tf.get_variable(
            "emb",
            [10, 4],
            partitioner=tf.fixed_size_partitioner(2),
            initializer=tf.constant_initializer(np.arange(20.0).reshape(5, 4) / 10),
        )
        w = tf.get_variable(
            "w", [10, 4], partitioner=tf.fixed_size_partitioner(2), initializer=tf.constant_initializer(0.5)
        )
        b = tf.get_variable(
            "b", [10], partitioner=tf.fixed_size_partitioner(2), initializer=tf.zeros_initializer()
        )
        ids = tf.placeholder(tf.int64, [None])
        h = tf.nn.embedding_lookup(emb, ids, partition_strategy="div")
        loss = tf.reduce_mean(
            tf.nn.sampled_softmax_loss(
                w,
                b,
                tf.reshape(ids, [-1, 1]),
                h,
                num_sampled=3,
                num_classes=10,
                partition_strategy="div",
                seed=7,
            )
        )
        nce = tf.reduce_mean(
            tf.nn.nce_loss(
                w,
                b,
                tf.reshape(ids, [-1, 1]),
                h,
                num_sampled=3,
                num_classes=10,
                partition_strategy="mod",
                sampled_values=(
                    tf.constant([1, 2, 3], tf.int64),
                    tf.constant([[0.1], [0.2], [0.1]]),
                    tf.constant([0.1, 0.2, 0.3]),
                ),
            )
        )
        train = tf.train.AdagradOptimizer(0.1).minimize(loss + nce)
    with tf.Session(target) as s:
        s.run(tf.global_variables_initializer())
        f = {ids: [1, 7, 1]}
        r = [s.run([loss, nce, h], f)]
        s.run(train, f)
        return r + [s.run(nce, f), s.run(list(emb)), [v.device for v in tf.global_variables()]]


def sparse_gradients(tf, np):
    target = fresh(tf)
    with tf.device(on("ps", 1)):
        e = tf.Variable(np.ones((6, 2), np.float32))
    with tf.device(on("worker", 1)):
        i = tf.placeholder(tf.int32, [None])
        l = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(e, i)))
    r = []
    for o in (tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9), tf.train.FtrlOptimizer(0.1)):
        t = o.minimize(l)
        with tf.Session(target) as s:
            s.run(tf.global_variables_initializer())
            for _ in range(3):
                s.run(t, {i: [1, 1, 4]})
            r.append(s.run(e))
    return r


def dynamic_rnn_over_tasks(tf, np):
    target = fresh(tf)
    with tf.device(setter(tf)):
        x = tf.placeholder(tf.float32, [None, 3, 2])
        cell = tf.nn.rnn_cell.BasicLSTMCell(3)
        with tf.variable_scope("r", initializer=tf.constant_initializer(0.1)):
            out, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=[2, 3], dtype=tf.float32)
        loss = tf.reduce_sum(out)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        f = {x: np.arange(12.0).reshape(2, 3, 2) / 10}
        r = []
        for _ in range(3):
            r.append(session.run([loss, train], f)[0])
        return r + [session.run(tf.trainable_variables()), [v.device for v in tf.trainable_variables()]]


def sharded_saver(tf, np):
    target = fresh(tf)
    folder = tempfile.mkdtemp()
    vs = []
    for t in (0, 1):
        with tf.device(on("ps", t)):
            vs.append(tf.Variable(float(t), name="v%d" % t))
            vs.append(tf.Variable([1.0 + t] * 5, name="u%d" % t))
    try:
        saver = tf.train.Saver(sharded=True, max_to_keep=2)
        with tf.Session(target) as s:
            s.run(tf.global_variables_initializer())
            path = saver.save(s, folder + "/m", global_step=3)
            names = sorted(os.listdir(folder))
            s.run([tf.assign(v, tf.zeros_like(v)) for v in vs])
            saver.restore(s, path)
            r = [os.path.basename(path), names, s.run(vs), raises(saver.restore, s, folder + "/none")]
            one = tf.train.Saver()
            p = one.save(s, folder + "/one")
            r += [sorted(os.listdir(folder)), tf.train.list_variables(p)]
            ops = [
                (o.name, o.type, o.device)
                for o in tf.get_default_graph().get_operations()
                if "save" in o.name
                and o.type in ("SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename")
            ]
            return r + [ops]
    finally:
        shutil.rmtree(folder)


def input_queues(tf, np):
    target = fresh(tf)
    with tf.device(on("worker", 1)):
        p = tf.train.input_producer(tf.range(6), shuffle=False, num_epochs=1)
        b = tf.train.batch([p.dequeue()], 2)
    with tf.device(on("ps")):
        y = b * 10
    out = []
    with tf.Session(target) as s:
        s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        c = tf.train.Coordinator()
        t = tf.train.start_queue_runners(s, c)
        try:
            while True:
                out.append(s.run(y))
        except tf.errors.OutOfRangeError as e:
            out.append(Raised(e))
        c.request_stop()
        c.join(t, stop_grace_period_secs=20)
    return out


def moving_averages(tf, np):
    target = fresh(tf)
    with tf.device(setter(tf)):
        v = tf.Variable([1.0, 2.0], name="v")
        ema = tf.train.ExponentialMovingAverage(0.5)
        m = ema.apply([v])
        a = ema.average(v)
        up = v.assign_add([1.0, 1.0])
    with tf.Session(target) as s:
        s.run(tf.global_variables_initializer())
        s.run(up)
        s.run(m)
        return [s.run(a), a.device, v.device]


def hash_table_on_worker(tf, np):
    target = fresh(tf)
    with tf.device(setter(tf)):
        t = tf.contrib.lookup.index_table_from_tensor(tf.constant(["a", "b"]), num_oov_buckets=1)
        y = t.lookup(tf.constant(["b", "zz"]))
    with tf.Session(target) as s:
        s.run(tf.tables_initializer())
        return s.run(y)


def unplaced_everything(tf, np):
    """A program that says nothing of devices, at a cluster's worker."""
    target = fresh(tf)
    x = tf.placeholder(tf.float32, [None, 3])
    w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    q = tf.FIFOQueue(3, tf.float32)
    e, d = q.enqueue(1.0), q.dequeue()
    it = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    with tf.Session(target) as s:
        s.run(tf.global_variables_initializer())
        r = [s.run([loss, train], {x: np.ones((2, 3))})[0] for _ in range(3)]
        s.run(e)
        return r + [s.run(d), s.run(it), s.run(it)]


def monitored(tf, np):
    target = fresh(tf)
    folder = tempfile.mkdtemp()
    try:
        with tf.device(setter(tf)):
            gs = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            loss = tf.reduce_sum(w * w)
            train = tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss, gs)
            tf.summary.scalar("loss", loss)
        r = []
        for last in (5, 8):
            hooks = [
                tf.train.StopAtStepHook(last_step=last),
                tf.train.NanTensorHook(loss),
                tf.train.FinalOpsHook(w),
            ]
            with tf.train.MonitoredTrainingSession(
                target,
                True,
                folder,
                hooks=hooks,
                save_checkpoint_steps=2,
                save_checkpoint_secs=None,
                save_summaries_steps=1,
            ) as s:
                while not s.should_stop():
                    r.append(s.run([loss, gs, train])[:1])
            r.append(hooks[2].final_ops_values)
            tf.Session.reset(target)
        r.append(sorted(f for f in os.listdir(folder) if f.endswith("index") or f == "checkpoint"))
        r.append(tf.train.latest_checkpoint(folder)[len(folder) :])
        r.append(tf.train.list_variables(folder))
        return r
    finally:
        shutil.rmtree(folder)
