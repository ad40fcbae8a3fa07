"""Where operations run: devices asked for, colocation, state, soft placement, and what cannot be placed."""

from kit import Raised, cases, product, raises

_CPUS = 4


def _config(tf, soft=False):
    config = tf.ConfigProto(device_count={"CPU": _CPUS}, allow_soft_placement=soft)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def _devices(tf, fetches, soft=False, before=()):
    """The device of every operation that a step runs, by name."""
    with tf.Session(config=_config(tf, soft)) as session:
        session.run(before)
        metadata = tf.RunMetadata()
        session.run(fetches, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    nodes = [node for part in metadata.partition_graphs for node in part.node]
    return {n.name: n.device for n in nodes if not n.op.startswith("_") and "/_" not in n.name}


def _said(error):
    """An expected error and the first words of what it says, without the places."""
    if not isinstance(error, Raised):
        return error
    words = error.message.split("(defined")[0].replace("node node", "node")
    return [error, words.strip()]


def _colocated(tf, op, *names):
    from_list = tf.AttrValue.ListValue(s=[("loc:@" + name).encode() for name in names])
    op._set_attr("_class", tf.AttrValue(list=from_list))


def _exp(tf, name, device=None, value=1.0):
    with tf.device(device):
        return tf.exp(value, name=name)


def _handle(tf, name, device=None):
    with tf.device(device):
        return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=name, name=name)


def _write(tf, handle, name, device=None):
    with tf.device(device):
        return tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(1.0), name=name)


# ---------------------------------------------------------------------------------------------- what is asked


@cases(
    "/cpu:0",
    "/cpu:3",
    "/device:CPU:2",
    "/device:CPU:*",
    "/job:localhost",
    "/job:localhost/task:0/cpu:1",
    "/replica:0/cpu:2",
    "/task:0",
)
def asked_for(tf, np, device):
    a = _exp(tf, "a", device)
    return _devices(tf, [a, _exp(tf, "b")])


def one_after_the_other(tf, np):
    a = _exp(tf, "a", "/cpu:1")
    b = tf.exp(a, name="b")
    c = _exp(tf, "c", "/cpu:2", b)
    with tf.device("/cpu:3"):
        with tf.device(None):
            d = tf.exp(c, name="d")
        with tf.device("/job:localhost"):
            e = tf.exp(c, name="e")
    return _devices(tf, [d, e])


def metadata_is_beside_its_input(tf, np):
    with tf.device("/cpu:2"):
        x = tf.placeholder_with_default([1.0, 2.0], [None], name="x")
        y = tf.placeholder_with_default([1.0, 2.0], None, name="y")
    fetches = [
        tf.shape(x, name="s"),
        tf.size(x, name="z"),
        tf.rank(y, name="r"),
        tf.shape_n([x, x], name="n")[0],
    ]
    with tf.device("/cpu:3"):
        fetches.append(tf.shape(x, name="elsewhere"))
    return _devices(tf, fetches)


def constants_are_beside_their_consumers(tf, np):
    alone, shared, waited = (tf.constant([1.0, 2.0], name=n) for n in ("alone", "shared", "waited"))
    fetches = [
        _exp(tf, "a", "/cpu:3", alone),
        _exp(tf, "b", "/cpu:3", shared),
        _exp(tf, "c", "/cpu:2", shared),
    ]
    with tf.control_dependencies([waited]), tf.device("/cpu:1"):
        fetches.append(tf.negative(fetches[0], name="after"))
    fetches += [_exp(tf, "d", "/cpu:1", tf.random_uniform([2], name="random"))]
    return _devices(tf, fetches)


def device_functions(tf, np):
    def by_type(op):
        return "/cpu:2" if op.type == "Exp" else "/cpu:1"

    with tf.device(by_type):
        a = tf.exp(tf.constant(1.0, name="k"), name="a")
        with tf.device("/cpu:3"):
            b = tf.negative(a, name="b")
    return _devices(tf, b)


def branches(tf, np):
    pred = tf.placeholder_with_default(True, [], name="pred")
    x = _exp(tf, "x", "/cpu:1")
    y = tf.cond(pred, lambda: _exp(tf, "inside", "/cpu:2", x), lambda: x + 1.0)
    return _devices(tf, tf.identity(y, name="y"))


def loops(tf, np):
    with tf.device("/cpu:2"):
        i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0, name="zero")], name="loop")
    return _devices(tf, tf.identity(i, name="out"))


# ------------------------------------------------------------------------------------------------- colocation


def colocated_with(tf, np):
    a = _exp(tf, "a", "/cpu:2")
    with tf.colocate_with(a):
        b = tf.exp(2.0, name="b")
        with tf.device("/cpu:1"):
            c = tf.exp(3.0, name="c")
    return _devices(tf, [a, b, c])


def a_group_whose_name_nobody_has(tf, np):
    a, b = _exp(tf, "a", "/cpu:2"), _exp(tf, "b")
    _colocated(tf, a.op, "nowhere")
    _colocated(tf, b.op, "nowhere")
    return _devices(tf, [a, b])


def partial_names_add_up(tf, np):
    a, b = _exp(tf, "a", "/job:localhost"), _exp(tf, "b", "/cpu:2")
    _colocated(tf, b.op, "a")
    return _devices(tf, [a, b])


_TOGETHER = {
    "ids": ("/cpu:1", "/cpu:2"),
    "types": ("/cpu:1", "/gpu:1"),
    "jobs": ("/job:a", "/job:b"),
    "tasks": ("/task:0", "/task:1"),
    "replicas": ("/replica:0", "/replica:1"),
    "one of them is not there": ("/cpu:7", None),
    "the other is not there": (None, "/cpu:7"),
}


@cases(*_TOGETHER)
def impossible_together(tf, np, what):
    first, second = _TOGETHER[what]
    a, b = _exp(tf, "a", first), _exp(tf, "b", second)
    _colocated(tf, b.op, "a")
    return _said(raises(_devices, tf, [a, b]))


@cases("ids", "types", "one of them is not there")
def impossible_together_but_soft(tf, np, what):
    first, second = _TOGETHER[what]
    a, b = _exp(tf, "a", first), _exp(tf, "b", second)
    _colocated(tf, b.op, "a")
    return _devices(tf, [a, b], soft=True)


@cases("jobs", "tasks")
def still_impossible_when_soft(tf, np, what):
    first, second = _TOGETHER[what]
    a, b = _exp(tf, "a", first), _exp(tf, "b", second)
    _colocated(tf, b.op, "a")
    return raises(_devices, tf, [a, b], soft=True)


# ------------------------------------------------------------------------------------------------------ state


@cases(False, True)
def variables(tf, np, use_resource):
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    with tf.device("/cpu:2"):
        changed = v.assign_add([1.0, 1.0])
        y = tf.exp(changed, name="y")
    return [_devices(tf, [y, changed], before=[v.initializer]), _devices(tf, v.initializer)]


@cases(False, True)
def training(tf, np, use_resource):
    with tf.device("/cpu:1"):
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    with tf.device("/cpu:2"):
        loss = tf.reduce_sum(tf.square(w), name="loss")
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    found = _devices(tf, step, before=[tf.global_variables_initializer()])
    return {
        name: device for name, device in found.items() if name.startswith(("w", "Momentum", "loss", "Square"))
    }


def gradients_beside_their_ops(tf, np):
    with tf.device("/cpu:2"):
        x = tf.placeholder_with_default(2.0, [], name="x")
    y = _exp(tf, "y", "/cpu:1", x)
    [grad] = tf.gradients(y, x, colocate_gradients_with_ops=True)
    return _devices(tf, grad)


def a_queue(tf, np):
    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(2, tf.float32, name="q")
    enqueue = queue.enqueue(1.0)
    with tf.control_dependencies([enqueue]), tf.device("/cpu:3"):
        got = queue.dequeue(name="got")
    return _devices(tf, [tf.exp(got, name="y"), queue.size("size")])


_PARTIAL = [
    None,
    "/job:localhost",
    "/cpu:2",
    "/device:CPU:*",
    "/task:0",
    "/job:localhost/cpu:1",
    "/task:0/cpu:3",
]


@cases(*product(_PARTIAL, _PARTIAL))
def who_touches_state_follows_it(tf, np, home, wish):
    return _devices(tf, _write(tf, _handle(tf, "h", home), "w", wish))


def two_writers(tf, np):
    handle = _handle(tf, "h")
    return _devices(tf, [_write(tf, handle, "w", "/cpu:2"), _write(tf, handle, "w2", "/cpu:3")])


@cases(False, True)
def state_that_belongs_elsewhere(tf, np, soft):
    write = _write(tf, _handle(tf, "h", "/cpu:1"), "w")
    other = _handle(tf, "g", "/cpu:2")
    _colocated(tf, write, "g")
    return _said(raises(_devices, tf, [write, other.op], soft)) if not soft else _devices(tf, write, soft)


@cases(False, True)
def beside_what_touches_state(tf, np, soft):
    write = _write(tf, _handle(tf, "h", "/cpu:1"), "w", "/cpu:2")
    near, far = _exp(tf, "near"), _exp(tf, "far", "/cpu:3")
    _colocated(tf, near.op, "w")
    _colocated(tf, far.op, "w")
    fetches = [write, near, far]
    return _devices(tf, fetches, soft) if soft else _said(raises(_devices, tf, fetches))


@cases(False, True)
def state_on_a_device_that_is_not_there(tf, np, soft):
    write = _write(tf, _handle(tf, "h", "/cpu:9"), "w", "/cpu:2")
    return _devices(tf, write, soft) if soft else raises(_devices, tf, write)


def references_without_classes(tf, np):
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:1"):
            v = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, name="v")
        with tf.device("/cpu:2"):
            tf.raw_ops.Assign(ref=v, value=tf.constant(1.0), name="a")
    graph_def = graph.as_graph_def()
    for node in graph_def.node:
        node.attr.pop("_class", None)
        if node.name == "a":
            node.device = "/device:CPU:2"
    tf.import_graph_def(graph_def, name="")
    return _devices(tf, tf.get_default_graph().get_operation_by_name("a"))


# ------------------------------------------------------------------------------------------ what is not there


@cases("/cpu:7", "/gpu:0", "/job:worker/task:1", "/task:3/cpu:0", "/replica:2", "/device:TPU:0")
def not_there(tf, np, device):
    return _said(raises(_devices, tf, _exp(tf, "a", device)))


@cases("/cpu:7", "/gpu:0", "/device:TPU:0", "/job:localhost/gpu:3")
def not_there_but_soft(tf, np, device):
    return _devices(tf, _exp(tf, "a", device), soft=True)


@cases("/job:worker/task:1", "/task:3/cpu:0", "/replica:2")
def not_there_and_soft_does_not_help(tf, np, device):
    return raises(_devices, tf, _exp(tf, "a", device), soft=True)


# ------------------------------------------------------------------------------------ devices of this process


def listed(tf, np):
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        found = [d for d in session.list_devices() if d.device_type == "CPU"]
    shown = [
        repr(d) == "_DeviceAttributes(%s, CPU, %d, %d)" % (d.name, d.memory_limit_bytes, d.incarnation)
        for d in found
    ]
    return [[d.name for d in found], len({d.incarnation for d in found}), shown]


def results_are_the_same_everywhere(tf, np):
    x = tf.placeholder(tf.float32, [2, 2])
    y = tf.matmul(x, x)
    for i in range(_CPUS):
        with tf.device("/cpu:%d" % i):
            y = tf.tanh(y) + x
    with tf.Session(config=_config(tf)) as session:
        return session.run(y, {x: [[0.1, 0.2], [0.3, 0.4]]})


def logical_devices(tf, np):
    experimental = tf.config.experimental
    [cpu] = experimental.list_physical_devices("CPU")
    found = [cpu, experimental.get_virtual_device_configuration(cpu)]
    limited = experimental.VirtualDeviceConfiguration(memory_limit=10)
    found.append(raises(experimental.set_virtual_device_configuration, cpu, [limited]))
    found.append(raises(experimental.set_virtual_device_configuration, "x", [limited]))
    found.append([experimental.get_device_policy(), experimental.get_synchronous_execution()])
    found.append(raises(experimental.set_device_policy, "x"))
    found.append(
        [limited.memory_limit, experimental.VirtualDeviceConfiguration().memory_limit, repr(limited)]
    )
    return found


# ------------------------------------------------------------------------------------------------ at random

_SOME = [None, None, None, "/cpu:0", "/cpu:1", "/cpu:2", "/job:localhost", "/device:CPU:*", "/task:0/cpu:3"]


def _random_graph(tf, rng, devices):
    """Operations of all kinds that placement knows, some of them colocated by force."""

    def device():
        return tf.device(devices[rng.randint(len(devices))])

    values, handles, ops = [], [], []
    for i in range(rng.randint(8, 16)):
        kind = rng.randint(8)
        with device():
            if kind == 0 or not values:
                made = tf.constant(1.0, name="c%d" % i)
                values.append(made)
            elif kind == 1:
                made = tf.raw_ops.VarHandleOp(
                    dtype=tf.float32, shape=[], shared_name="h%d" % i, name="h%d" % i
                )
                handles.append(made)
            elif kind == 2:
                made = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, name="v%d" % i)
                ops.append(made.op)
                with device():
                    made = tf.raw_ops.Assign(ref=made, value=values[-1], name="a%d" % i)
            elif kind in (3, 4) and handles:
                handle = handles[rng.randint(len(handles))]
                if kind == 3:
                    made = tf.raw_ops.VarIsInitializedOp(resource=handle, name="i%d" % i)
                else:
                    value = values[rng.randint(len(values))]
                    made = tf.raw_ops.AssignVariableOp(resource=handle, value=value, name="w%d" % i)
            elif kind == 5:
                made = tf.shape(tf.placeholder_with_default(values[-1], None, name="p%d" % i), name="s%d" % i)
            else:
                picked = [values[rng.randint(len(values))] for _ in range(2)]
                made = tf.add(*picked, name="x%d" % i)
                values.append(made)
            ops.append(getattr(made, "op", made))
    for op in ops:
        if rng.rand() < 0.3:
            _colocated(tf, op, *[ops[rng.randint(len(ops))].name for _ in range(rng.randint(1, 3))])
    return ops


@cases(*range(60))
def random_graphs(tf, np, seed):
    rng = np.random.RandomState(seed)
    ops = _random_graph(tf, rng, _SOME + ["/cpu:7"] * (seed % 3 == 0))
    soft = bool(seed % 2)
    error = raises(_devices, tf, ops, soft)
    return _said(error) if isinstance(error, Raised) else _devices(tf, ops, soft)
