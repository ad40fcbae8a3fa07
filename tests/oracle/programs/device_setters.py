"""replica_device_setter and its strategies: which task each operation is given."""

from kit import cases, names, raises

_SIZES = [[10, 10], [5], [3, 3], [200], [1], [40], [40], [2, 2, 2]]


def _devices(tf):
    return [(op.name, op.type, op.device) for op in tf.get_default_graph().get_operations()]


def _model(tf, use_resource=False):
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.get_variable("w", [4, 3], use_resource=use_resource)
    b = tf.get_variable("b", [3], use_resource=use_resource, initializer=tf.zeros_initializer())
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b))
    tf.train.AdamOptimizer().minimize(loss, global_step=step)


@cases(False, True)
def a_model(tf, np, use_resource):
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        _model(tf, use_resource)
    return _devices(tf)


_OPTIONS = {
    "devices in full": dict(ps_tasks=3, ps_device="/job:ps/cpu:0", worker_device="/job:worker/task:3/gpu:0"),
    "no merging": dict(ps_tasks=3, merge_devices=False),
    "cluster": dict(cluster={"ps": ["a:1", "b:1"], "worker": ["c:1"]}),
    "cluster of gaps": dict(cluster={"ps": {3: "a:1", 7: "b:1"}}),
    "other job": dict(cluster={"params": ["a:1", "b:1"]}, ps_device="/job:params"),
    "no job": dict(ps_tasks=2, ps_device="/cpu:0"),
    "no ps device": dict(ps_tasks=2, ps_device=""),
    "no worker device": dict(ps_tasks=2, worker_device=""),
    "task given": dict(ps_tasks=2, ps_device="/job:ps/task:9"),
    "other ops": dict(ps_tasks=2, ps_ops=["Const"]),
    "no ops": dict(ps_tasks=2, ps_ops=[]),
    "strategy": dict(ps_tasks=2, ps_strategy=lambda op: len(op.name)),
}


@cases(*_OPTIONS)
def options(tf, np, key):
    with tf.device("/cpu:1"), tf.device(tf.train.replica_device_setter(**_OPTIONS[key])):
        tf.Variable(1.0, name="v")
        tf.constant(1.0)
        with tf.device("/job:x/task:2"):
            tf.Variable(1.0)
        with tf.device("/job:ps"):
            tf.Variable(1.0)
        with tf.device("/task:7/gpu:1"):
            tf.constant(1.0)
            tf.Variable(1.0, use_resource=True)
        with tf.device(None):
            tf.Variable(1.0)
        tf.Variable(1.0)
    return [row for row in _devices(tf) if row[1] in ("VariableV2", "VarHandleOp", "Const")]


_NOTHING = {
    "by default": {},
    "cluster without": dict(cluster={"worker": ["a:1"]}),
    "cluster, device without job": dict(cluster={"ps": ["a:1"]}, ps_device="/cpu:0"),
}


@cases(*_NOTHING)
def no_servers(tf, np, key):
    return tf.train.replica_device_setter(**_NOTHING[key]) is None


def clusters_in_every_form(tf, np):
    plain = {"ps": ["a:1", "b:1"], "worker": ["c:1"]}
    spec = tf.train.ClusterSpec(plain)
    found = []
    for cluster in (plain, spec, spec.as_cluster_def()):
        with tf.Graph().as_default():
            with tf.device(tf.train.replica_device_setter(cluster=cluster)):
                found.append([tf.Variable(1.0).device for _ in range(3)])
    return found


@cases({"cluster": (dict(cluster=3),), "strategy": (dict(ps_tasks=2, ps_strategy=3),)})
def refused(tf, np, keywords):
    return raises(tf.train.replica_device_setter, **keywords)


@cases("bytes", "count", "random", "random seeded")
def strategies(tf, np, kind):
    training = tf.contrib.training
    strategy = {
        "bytes": lambda: training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn),
        "count": lambda: training.GreedyLoadBalancingStrategy(3, lambda op: 1),
        "random": lambda: training.RandomStrategy(3),
        "random seeded": lambda: training.RandomStrategy(3, 8),
    }[kind]()
    with tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)):
        return [tf.get_variable("v%d" % i, size).device for i, size in enumerate(_SIZES)]


def loads(tf, np):
    load = tf.contrib.training.byte_size_load_fn
    with tf.Graph().as_default():
        found = [load(tf.zeros([3, 2], kind).op) for kind in (tf.float32, tf.int64, tf.bool, tf.complex128)]
        found.append(raises(load, tf.placeholder(tf.float32, [None]).op))
        found.append(raises(load, tf.no_op()))
        found.append(raises(load, tf.split([1.0, 2.0], 2)[0].op))
    return found


def names_are_the_same(tf, np):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        _model(tf)
    return names(tf)
