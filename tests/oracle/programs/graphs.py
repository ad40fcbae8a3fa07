"""The graph itself: control dependencies, devices, collections, lookups, seeds, finalizing, colocation."""

from kit import cases, graph, raises, run


def control_dependencies_are_added_to_new_ops(tf, np):
    a, b = tf.no_op(name="a"), tf.constant(1.0, name="b")
    with tf.control_dependencies([a, b]):
        c = tf.constant(2.0, name="c")
        d = tf.identity(b, name="d")
    e = tf.no_op(name="e")
    return [[sorted(i.name for i in op.control_inputs) for op in (c.op, d.op, e)], graph(tf)]


def nested_control_dependencies_accumulate(tf, np):
    a, b, c = (tf.no_op(name=n) for n in "abc")
    with tf.control_dependencies([a]):
        with tf.control_dependencies([b, c]):
            tf.constant(1.0, name="d")
        with tf.control_dependencies(None):
            tf.constant(1.0, name="free")
            with tf.control_dependencies([c]):
                tf.constant(1.0, name="only_c")
    return graph(tf)


def control_dependency_implied_by_a_data_edge_is_left_out(tf, np):
    a = tf.placeholder(tf.float32, [], "a")
    with tf.control_dependencies([a]):
        b = tf.add(a, a, name="b")
        tf.multiply(b, b, name="c")
    return graph(tf)


def control_dependencies_of_variables(tf, np):
    v = tf.Variable(1.0, name="v")
    r = tf.Variable(1.0, name="r", use_resource=True)
    with tf.control_dependencies([v, r]):
        tf.no_op(name="after")
    return graph(tf)


def control_dependencies_refuse_other_things(tf, np):
    def enter(value):
        with tf.control_dependencies(value):
            pass

    return [raises(enter, [3]), raises(enter, ["text"])]


def control_dependency_orders_execution(tf, np):
    v = tf.Variable(1.0, name="v", use_resource=True)
    with tf.control_dependencies([v.assign(5.0)]):
        read = v.read_value()
    with tf.control_dependencies([read]):
        done = v.assign_add(1.0)
    return run(tf, [read, done])


def identity_of_a_fed_tensor_still_runs_control_inputs(tf, np):
    v = tf.Variable(0.0)
    a = tf.constant(1.0)
    with tf.control_dependencies([tf.assign(v, 9.0)]):
        b = tf.identity(a)
    with tf.Session() as session:
        session.run(v.initializer)
        first = session.run(b, {b: 4.0})
        untouched = session.run(v)
        return [first, untouched, session.run(b), session.run(v)]


def operations_know_their_edges(tf, np):
    a = tf.placeholder(tf.float32, [2], "a")
    with tf.control_dependencies([tf.no_op(name="before")]):
        b = tf.split(a, 2, name="b")
    c = tf.add(b[0], b[1], name="c")
    op = c.op
    return {
        "inputs": [t.name for t in op.inputs],
        "outputs": [t.name for t in b[0].op.outputs],
        "consumers": [o.name for o in b[0].consumers()],
        "control": [o.name for o in b[0].op.control_inputs],
        "T": op.get_attr("T"),
        "num_split": b[0].op.get_attr("num_split"),
        "no such attribute": raises(op.get_attr, "nothing"),
        "type": op.type,
        "device": op.device,
        "value_index": [t.value_index for t in b],
        "node_def": op.node_def.op,
        "graph": op.graph is tf.get_default_graph(),
        "values": [t.name for t in op.values()],
    }


def attributes_by_kind(tf, np):
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], "x")
    conv = tf.nn.conv2d(x, tf.zeros([3, 3, 2, 4]), [1, 2, 2, 1], "SAME").op
    const = tf.constant([1, 2], name="k").op
    return {
        "strides": conv.get_attr("strides"),
        "padding": conv.get_attr("padding"),
        "data_format": conv.get_attr("data_format"),
        "use_cudnn_on_gpu": conv.get_attr("use_cudnn_on_gpu"),
        "explicit_paddings": conv.get_attr("explicit_paddings"),
        "T": conv.get_attr("T"),
        "dtype": const.get_attr("dtype"),
        "value": tf.make_ndarray(const.get_attr("value")),
        "shape": tf.TensorShape(x.op.get_attr("shape")),
        "epsilon": tf.nn.fused_batch_norm(x, [1.0, 1.0], [0.0, 0.0])[0].op.get_attr("epsilon"),
    }


def lookups(tf, np):
    g = tf.get_default_graph()
    a = tf.constant(1.0, name="s/a")
    return {
        "operation": g.get_operation_by_name("s/a"),
        "tensor": g.get_tensor_by_name("s/a:0"),
        "same tensor": g.get_tensor_by_name("s/a:0") is a,
        "element": [g.as_graph_element(x) for x in ("s/a", "s/a:0", a, a.op)],
        "no such op": raises(g.get_operation_by_name, "b"),
        "no such tensor": raises(g.get_tensor_by_name, "b:0"),
        "no such output": raises(g.get_tensor_by_name, "s/a:1"),
        "op name as tensor": raises(g.get_tensor_by_name, "s/a"),
        "tensor name as op": raises(g.get_operation_by_name, "s/a:0"),
        "not a name": raises(g.get_tensor_by_name, 3),
        "op not a name": raises(g.get_operation_by_name, 3),
        "element not allowed": raises(g.as_graph_element, a, allow_tensor=False),
        "op not allowed": raises(g.as_graph_element, "s/a", allow_operation=False),
        "of another type": raises(g.as_graph_element, 1.5),
        "bad tensor name": raises(g.as_graph_element, "s/a:x"),
    }


def element_of_another_graph_is_refused(tf, np):
    a = tf.constant(1.0)
    with tf.Graph().as_default() as other:
        return [raises(other.as_graph_element, a), raises(tf.add, a, tf.constant(1.0))]


def variables_are_graph_elements(tf, np):
    v = tf.Variable(1.0, name="v")
    return tf.get_default_graph().as_graph_element(v)


def default_graph_stack(tf, np):
    outer, inner = tf.get_default_graph(), tf.Graph()
    with inner.as_default():
        a = tf.constant(1.0)
        with outer.as_default():
            b = tf.constant(2.0)
    c = tf.constant(3.0)
    return [a.graph is inner, b.graph is outer, c.graph is outer, [t.name for t in (a, b, c)]]


def reset_inside_a_graph_is_refused(tf, np):
    with tf.Graph().as_default():
        return raises(tf.reset_default_graph)


def finalize_forbids_new_ops(tf, np):
    g = tf.get_default_graph()
    a = tf.constant(1.0)
    g.finalize()
    with tf.Session() as session:
        return [g.finalized, raises(tf.constant, 2.0), session.run(a)]


def versions_count_and_producer(tf, np):
    g = tf.get_default_graph()
    before = g.version
    tf.constant(1.0)
    tf.no_op()
    return [before, g.version, g.graph_def_versions.producer, g.as_graph_def().versions.producer]


def as_graph_def_with_shapes(tf, np):
    a = tf.placeholder(tf.float32, [None, 3], "a")
    tf.split(a, 3, axis=1, name="s")
    tf.placeholder(tf.float32, name="u")
    found = {}
    for node in tf.get_default_graph().as_graph_def(add_shapes=True).node:
        found[node.name] = [tf.TensorShape(s) for s in node.attr["_output_shapes"].list.shape]
    return found


def device_strings_nest_and_merge(tf, np):
    seen = []
    with tf.device("/job:worker"):
        seen.append(tf.no_op().device)
        with tf.device("/device:CPU:0"):
            seen.append(tf.no_op().device)
            with tf.device("/job:ps/task:1"):
                seen.append(tf.no_op().device)
            with tf.device(None):
                seen.append(tf.no_op().device)
        with tf.device("/task:3/gpu:2"):
            seen.append(tf.no_op().device)
    return seen + [tf.no_op().device]


@cases("/cpu:0", "/gpu:1", "/device:GPU:0", "/job:ps/replica:1/task:2/cpu:0", "/CPU:0", "cpu:0", "/job:a", "")
def device_strings_are_normalized(tf, np, text):
    with tf.device(text):
        return tf.no_op().device


@cases("/nonsense:0", "/job", "/cpu:x", "/task:a", "/cpu:0/gpu:0")
def bad_device_strings_are_refused(tf, np, text):
    def enter():
        with tf.device(text):
            tf.no_op()

    return raises(enter)


def device_functions(tf, np):
    def choose(op):
        return "/gpu:1" if op.type == "MatMul" else "/cpu:0"

    with tf.device(choose):
        a = tf.ones([2, 2])
        b = tf.matmul(a, a)
        with tf.device("/job:ps"):
            c = tf.matmul(a, a)
        with tf.device(lambda op: "/job:worker" + op.device):
            d = tf.no_op()
    with tf.device("/gpu:0"):
        with tf.device(choose):
            e = tf.no_op()
    return [tf.DeviceSpec.from_string(x.device).to_string() for x in (a, b, c, d, e)]


def device_of_graph_method_and_tensor(tf, np):
    with tf.get_default_graph().device("/cpu:1"):
        a = tf.constant(1.0)
    return [a.device, a.op.device, graph(tf)]


def device_spec(tf, np):
    spec = tf.DeviceSpec(job="ps", task=2, device_type="GPU", device_index=1)
    other = tf.DeviceSpec.from_string("/job:worker/device:CPU:0")
    text = [spec.to_string(), other.to_string(), tf.DeviceSpec().to_string()]
    other.merge_from(tf.DeviceSpec(task=5, device_type="GPU"))
    return text + [other.to_string(), other.job, other.task, other.device_type, other.device_index]


def colocation(tf, np):
    with tf.device("/gpu:0"):
        a = tf.constant(1.0, name="a")
    b = tf.constant(2.0, name="b")
    with tf.colocate_with(a):
        c = tf.constant(3.0, name="c")
        with tf.colocate_with(b):
            d = tf.constant(4.0, name="d")
        with tf.colocate_with(b, ignore_existing=True):
            e = tf.constant(5.0, name="e")
        with tf.device("/cpu:0"):
            tf.constant(6.0, name="f")
    groups = [x.op.colocation_groups() for x in (a, b, c, d, e)]
    return [groups, graph(tf)]


def colocate_with_a_variable(tf, np):
    v = tf.Variable(1.0, name="v")
    with tf.colocate_with(v):
        return [tf.constant(1.0).op.colocation_groups(), graph(tf)]


def collections(tf, np):
    tf.add_to_collection("a", 1)
    tf.add_to_collection("a", "scope/x")
    g = tf.get_default_graph()
    g.add_to_collections(["a", "b"], 3)
    g.get_collection_ref("c").append(4)
    copy = tf.get_collection("a")
    copy.append("lost")
    seen = {
        "a": tf.get_collection("a"),
        "b": tf.get_collection("b"),
        "c": tf.get_collection("c"),
        "none": tf.get_collection("nothing"),
        "keys": sorted(g.get_all_collection_keys()),
        "ref": tf.get_collection_ref("a"),
    }
    g.clear_collection("a")
    return dict(seen, cleared=tf.get_collection("a"))


def collections_filtered_by_scope(tf, np):
    with tf.name_scope("one"):
        tf.add_to_collection("k", tf.constant(1.0, name="x"))
    with tf.name_scope("two"):
        tf.add_to_collection("k", tf.constant(2.0, name="x"))
    tf.add_to_collection("k", 7)
    found = [tf.get_collection("k", scope=s) for s in ("one", "two/", "t", ".*/x", "nothing")]
    return [[getattr(x, "name", x) for x in row] for row in found]


def graph_keys(tf, np):
    keys = [k for k in dir(tf.GraphKeys) if k.isupper() and not k.startswith("_")]
    return {k: getattr(tf.GraphKeys, k) for k in keys if isinstance(getattr(tf.GraphKeys, k), str)}


def collections_of_variables(tf, np):
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    tf.Variable(1.0, name="c", collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    tf.get_variable("d", [], collections=["mine"])
    keys = [k for k in tf.get_default_graph().get_all_collection_keys() if isinstance(k, str)]
    return {k: [v.name for v in tf.get_collection(k)] for k in keys}


def all_ways_to_list_variables(tf, np):
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    with tf.variable_scope("s"):
        tf.get_variable("c", [2])
        tf.get_variable("d", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES])
    lists = (tf.global_variables(), tf.trainable_variables(), tf.local_variables(), tf.all_variables())
    scoped = (
        tf.global_variables("s"),
        tf.trainable_variables("s"),
        tf.model_variables(),
        tf.moving_average_variables(),
    )
    return [[v.name for v in row] for row in lists + scoped]


def seeds_of_ops_without_graph_seed(tf, np):
    ops = [tf.random_uniform([1], seed=s).op.inputs[0].op.inputs[0].op for s in (1, 2, 1)]
    return [(op.get_attr("seed"), op.get_attr("seed2")) for op in ops]


def seeds_of_ops_with_graph_seed(tf, np):
    tf.set_random_seed(42)
    tf.constant(1.0)
    made = [tf.random_normal([1]), tf.random_normal([1], seed=5), tf.random_normal([1])]
    with tf.name_scope("s"):
        made.append(tf.random_normal([1]))
    ops = [t.op.inputs[0].op.inputs[0].op for t in made]
    return [(op.get_attr("seed"), op.get_attr("seed2")) for op in ops]


def get_seed_rules(tf, np):
    before = [tf.get_seed(None), tf.get_seed(7), tf.get_seed(0)]
    tf.set_random_seed(0)
    between = [tf.get_seed(7), tf.get_seed(0), tf.get_default_graph().seed]
    tf.set_random_seed(2**31 - 1)
    return before + between + [tf.get_seed(None), tf.get_seed(2**33)]


def container_scopes(tf, np):
    with tf.container("box"):
        tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b")
    return graph(tf, ["container", "shared_name", "dtype", "shape"])


def feedable_and_fetchable(tf, np):
    g = tf.get_default_graph()
    a, b = tf.constant(1.0), tf.constant(2.0)
    g.prevent_feeding(a)
    g.prevent_fetching(b.op)
    return [g.is_feedable(a), g.is_feedable(b), g.is_fetchable(a), g.is_fetchable(b.op)]


def create_op_by_hand(tf, np):
    g = tf.get_default_graph()
    a = tf.constant([1.0, 2.0])
    op = g.create_op("Sub", [a, a], [tf.float32], name="by_hand", attrs={})
    return [op, op.outputs[0], run(tf, op.outputs[0])]


def with_dependencies_helper(tf, np):
    v = tf.Variable(0.0)
    after = tf.tuple([tf.constant(3.0)], control_inputs=[tf.assign(v, 1.0)])[0]
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(after), session.run(v)]


def gradient_override_map_marks_ops(tf, np):
    g = tf.get_default_graph()

    @tf.RegisterGradient("OracleTenfold")
    def _tenfold(op, grad):
        return 10.0 * grad

    x = tf.constant(3.0, name="x")
    with g.gradient_override_map({"Square": "OracleTenfold"}):
        y = tf.square(x)
    z = tf.square(x)
    return [run(tf, tf.gradients(y, x) + tf.gradients(z, x)), y.op.get_attr("_gradient_op_type")]


def constants_are_immutable_copies(tf, np):
    array = np.ones(3, np.float32)
    c = tf.constant(array)
    array[:] = 7
    return run(tf, c)


def an_operation_that_is_refused_consumes_nothing(tf, np):
    x = tf.placeholder(tf.float32, [2, 3])
    return [raises(lambda: tf.matmul(x, x)), [op.name for op in x.consumers()]]
