"""Sessions on servers: clusters that a session's configuration gives, resets, and what closing cancels."""

import threading

from kit import cases, raises

_servers = []


def _addresses(tf):
    """The addresses of two servers, neither of which knows the other; TensorFlow's cannot be stopped."""
    while len(_servers) < 2:
        _servers.append(tf.train.Server.create_local_server())
    for server in _servers:
        tf.Session.reset(server.target)
    return [server.target[len("grpc://") :] for server in _servers]


def _target(tf):
    return "grpc://" + _addresses(tf)[0]


def _config(tf, jobs, share=False, **options):
    config = tf.ConfigProto(cluster_def=tf.train.ClusterSpec(jobs).as_cluster_def(), **options)
    config.experimental.share_session_state_in_clusterspec_propagation = share
    return config


def _names(session):
    return sorted(device.name for device in session.list_devices() if device.device_type == "CPU")


def given_cluster(tf, np):
    """Values go back and forth between tasks that know each other from the session alone."""
    a, b = _addresses(tf)
    with tf.device("/job:ps/task:7"):
        v = tf.Variable([1.0, 2.0])
        d = v * 2
    with tf.device("/job:worker/task:3"):
        e = d + 1
        loss = tf.reduce_sum(e * e)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    _, total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.reduce_sum(d)), [0, 0.0])
    with tf.Session("grpc://" + a, config=_config(tf, {"worker": {3: a}, "ps": {7: b}})) as session:
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        found = [session.run([d, e, loss, total], options=options, run_metadata=metadata)]
        devices = {stats.device for stats in metadata.step_stats.dev_stats}
        session.run(train)
        return found + [session.run(v), _names(session), sorted(d for d in devices if "/job" in d)]


@cases(
    {
        "alone": ({}, {}),
        "isolated": ({}, {"isolate_session_state": True}),
        "sharing": ({"share": True}, {"share": True}),
        "sharing and isolated": ({"share": True}, {"share": True, "isolate_session_state": True}),
        "not with one that shares": ({"share": True}, {}),
    }
)
def state_in_given_clusters(tf, np, first, second):
    a, b = _addresses(tf)
    jobs = {"worker": [a, b]}
    with tf.device("/job:worker/task:1"):
        v = tf.Variable(1.0, name="v")
    with tf.device("/job:worker/task:0"):
        w = tf.get_variable("w", initializer=2.0, use_resource=True)
    out = []
    with tf.Session("grpc://" + a, config=_config(tf, jobs, **first)) as session:
        session.run([v.initializer, w.initializer])
        with tf.Session("grpc://" + a, config=_config(tf, jobs, **second)) as other:
            out.append([raises(other.run, v), raises(other.run, w)])
            other.run([v.assign(5.0), w.assign(6.0)])
        out.append(session.run([v, w]))
    with tf.Graph().as_default(), tf.Session("grpc://" + b) as plain:  # by its own server's names
        out.append([raises(plain.run, tf.Variable(0.0, name="v")), _names(plain)])
    return out


def refused_clusters(tf, np):
    a, b = _addresses(tf)

    def make(jobs):
        with tf.Session("grpc://" + a, config=_config(tf, jobs)) as session:
            session.run(tf.constant(1))

    return [
        raises(make, {"worker": [b]}),
        raises(make, {}),
        raises(make, {"worker": [a], "ps": [a]}),
        raises(make, {"worker": [a], "ps": [b]}),
    ]


def resets(tf, np):
    target = _target(tf)
    v = tf.Variable(1.0)
    with tf.container("box"):
        b = tf.get_variable("b", initializer=2.0, use_resource=True)
    init = tf.global_variables_initializer()
    out = []
    for containers in (None, [], ["box"], ["nosuch"]):
        old, fresh, local = tf.Session(target), tf.Session(target), tf.Session()
        isolated = tf.Session(target, config=tf.ConfigProto(isolate_session_state=True))
        for session in (old, isolated, local):
            session.run(init)
        tf.Session.reset(target, containers)
        out.append([raises(old.run, v), raises(old.run, v), raises(isolated.run, v), local.run([v, b])])
        out.append([raises(fresh.run, v), raises(fresh.run, b), "is not found" in raises(old.run, v).message])
    return out


# ------------------------------------------------------------------------------------------------- closing


def _dequeue(tf):
    return tf.FIFOQueue(2, tf.float32, shared_name="dequeue").dequeue()


def _dequeue_many(tf):
    return tf.RandomShuffleQueue(3, 0, tf.float32, [[]], shared_name="many").dequeue_many(2)


def _dequeue_up_to(tf):
    return tf.PaddingFIFOQueue(2, [tf.float32], [[]], shared_name="up to").dequeue_up_to(2)


def _enqueue(tf):
    return tf.FIFOQueue(1, tf.float32, [[]], shared_name="enqueue").enqueue_many([[1.0, 2.0]])


def _take_grad(tf):
    return tf.ConditionalAccumulator(tf.float32, [], shared_name="take").take_grad(1)


def _take_indexed(tf):
    return tf.SparseConditionalAccumulator(tf.float32, [2, 2], shared_name="indexed").take_grad(1).values


def _read(tf):
    return tf.TextLineReader().read(tf.FIFOQueue(2, tf.string, shared_name="files")).value


def _endless_loop(tf):
    return tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [0])


_PHRASES = (
    "Dequeue operation was cancelled",
    "Enqueue operation was cancelled",
    "TakeGrad operation was cancelled",
    "Loop execution was cancelled",
    "Step was cancelled by an explicit call to `Session::Close()`",
)
_WAITS = (
    _dequeue,
    _dequeue_many,
    _dequeue_up_to,
    _enqueue,
    _take_grad,
    _take_indexed,
    _read,
    _endless_loop,
)


@cases("here", "on a server")
def closing_cancels(tf, np, where):
    out = []
    for wait in _WAITS:
        with tf.Graph().as_default():
            began, found = threading.Event(), []
            with tf.control_dependencies([tf.py_func(began.set, [], [])]):
                waiting = wait(tf)
            session = tf.Session("" if where == "here" else _target(tf))
            thread = threading.Thread(target=lambda: found.append(raises(session.run, waiting)))
            thread.start()
            began.wait()
            session.close()
            thread.join()
            phrases = [phrase for phrase in _PHRASES if phrase in found[0].message]
            out.append([wait.__name__, found[0], phrases, raises(session.run, waiting)])
    return out
