"""Variables of both kinds, assignment, scattering, counting and initialization."""

from kit import cases, graph, names, product, raises, run

_KINDS = [False, True]


def _kind(use_resource):
    return "resource" if use_resource else "reference"


def _kinds(*columns):
    return {"-".join([_kind(row[0])] + [str(c) for c in row[1:]]): row for row in product(_KINDS, *columns)}


@cases(_kinds())
def graph_of_a_variable(tf, np, resource):
    tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    return graph(tf)


@cases(_kinds(["constant", "callable", "tensor", "random"]))
def graph_by_initial_value(tf, np, resource, kind):
    initial = {
        "constant": lambda: 1.5,
        "callable": lambda: lambda: tf.ones([2]),
        "tensor": lambda: tf.fill([2], 3.0),
        "random": lambda: tf.random_uniform([2], seed=1),
    }[kind]()
    v = tf.Variable(initial, name="v", use_resource=resource, dtype=tf.float32)
    return [v, graph(tf)]


@cases(_kinds())
def facts(tf, np, resource):
    v = tf.Variable(np.ones([2, 3], np.float32), name="v", use_resource=resource, trainable=False)
    return {
        "variable": v,
        "name": [v.name, v.op.name, v.op.type, v.initializer.name, v.initial_value.name],
        "value": [v.value().dtype, v.value().shape, v.value().name],
        "shape": [v.shape, v.get_shape()],
        "dtype": v.dtype,
        "graph": v.graph is tf.get_default_graph(),
        "device": v.device,
        "text": repr(v),
        "trainable": v.trainable,
        "list": [x.name for x in tf.global_variables()],
        "tensor": tf.convert_to_tensor(v).name,
        "read": v.read_value().op.type,
    }


@cases(_kinds())
def names_are_unique(tf, np, resource):
    made = [tf.Variable(1.0, use_resource=resource), tf.Variable(1.0, use_resource=resource)]
    with tf.name_scope("s"):
        made += [tf.Variable(1.0, use_resource=resource), tf.Variable(1.0, name="n", use_resource=resource)]
    with tf.variable_scope("vs"):
        made += [
            tf.Variable(1.0, name="n", use_resource=resource),
            tf.Variable(1.0, name="n", use_resource=resource),
        ]
    return [v.name for v in made]


@cases(_kinds())
def constructor_arguments(tf, np, resource):
    made = [
        tf.Variable(1, dtype=tf.float64, name="a", use_resource=resource),
        tf.Variable(1.0, trainable=False, name="b", use_resource=resource),
        tf.Variable(1.0, collections=["c"], name="c", use_resource=resource),
        tf.Variable(1.0, constraint=lambda x: tf.clip_by_value(x, 0.0, 0.5), name="d", use_resource=resource),
        tf.Variable(
            tf.placeholder_with_default([1.0], None), validate_shape=False, name="e", use_resource=resource
        ),
        tf.Variable(2.0, name="f", use_resource=resource, expected_shape=None),
        tf.Variable([3, 4], name="g", use_resource=resource),
    ]
    return [
        made,
        [v.name for v in tf.trainable_variables()],
        [v.constraint is None for v in made],
        run(tf, made[:2]),
    ]


@cases(_kinds())
def mistakes_of_construction(tf, np, resource):
    mistakes = [
        raises(tf.Variable, use_resource=resource),
        raises(tf.Variable, "text", dtype=tf.float32, use_resource=resource),
        raises(tf.Variable, 1.0, collections="text", use_resource=resource),
        raises(tf.Variable, 1.0, constraint=3, use_resource=resource),
    ]
    return mistakes if resource else mistakes + [raises(tf.Variable, tf.placeholder(tf.float32))]


@cases(_kinds(["assign", "assign_add", "assign_sub"]))
def assign_methods(tf, np, resource, name):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        update = getattr(v, name)([10.0, 20.0])
        first = session.run(update)
        session.run(getattr(v, name)([1.0, 1.0], read_value=False))
        return [first, session.run(v), graph(tf)]


@cases(_kinds(["assign", "assign_add", "assign_sub"]))
def assign_functions(tf, np, resource, name):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(getattr(tf, name)(v, [10.0, 20.0])), session.run(v), graph(tf)]


@cases(_kinds())
def assign_of_other_shapes(tf, np, resource):
    v = tf.Variable([1.0, 2.0], use_resource=resource)
    late = tf.placeholder(tf.float32)

    def assign(value):
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(v.assign(late), {late: value})

    early = [raises(v.assign, [1.0, 2.0, 3.0]), raises(v.assign, tf.constant([1, 2]))]
    return early if resource else early + [raises(assign, [1.0, 2.0, 3.0])]


def assign_without_validating_shape(tf, np):
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as session:
        session.run(v.initializer)
        grown = tf.assign(v, [1.0, 2.0, 3.0], validate_shape=False)
        return [session.run(grown), session.run(v), grown.shape]


@cases(_kinds(["int32", "int64", "float64", "float16", "complex64"]))
def assign_add_of_dtypes(tf, np, resource, dtype):
    v = tf.Variable(np.array([1, 2]).astype(dtype), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(v.assign_add(np.array([3, 4]).astype(dtype))), session.run(v)]


@cases(_kinds(["string", "bool", "uint8"]))
def assign_of_dtypes(tf, np, resource, dtype):
    first, second = {"string": (["a"], ["b"]), "bool": ([True], [False]), "uint8": ([1], [2])}[dtype]
    v = tf.Variable(first, dtype=dtype, use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(v), session.run(v.assign(second)), session.run(v)]


@cases(_kinds())
def load_eval_and_initialized_value(tf, np, resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    w = tf.Variable(v.initialized_value() * 2.0, name="w", use_resource=resource)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = [v.eval(), w.eval(session)]
        v.load([5.0, 6.0], session)
        return seen + [session.run(v)]


@cases(_kinds())
def uninitialized_is_a_failed_precondition(tf, np, resource):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=resource)
    with tf.Session() as session:
        uses = [v, v + 1.0] if resource else [v, v + 1.0, v.assign_add([1.0, 1.0])]
        errors = [raises(session.run, x) for x in uses]
        session.run(v.initializer)
        return errors + [session.run(v)]


@cases(_kinds())
def initialized_or_not(tf, np, resource):
    v, w = (
        tf.Variable(1.0, name="v", use_resource=resource),
        tf.Variable(2.0, name="w", use_resource=resource),
    )
    flags = [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]
    report, check = (
        tf.report_uninitialized_variables(),
        tf.assert_variables_initialized() if not resource else tf.no_op(),
    )
    with tf.Session() as session:
        seen = [session.run(flags), session.run(report)]
        session.run(v.initializer)
        seen += [session.run(flags), session.run(report)]
        if not resource:
            seen.append(raises(session.run, check))
        session.run(tf.variables_initializer([w]))
        return seen + [session.run(flags), session.run(report)]


@cases(
    _kinds(
        [
            "scatter_add",
            "scatter_sub",
            "scatter_update",
            "scatter_mul",
            "scatter_div",
            "scatter_max",
            "scatter_min",
        ]
    )
)
def scatter_functions(tf, np, resource, name):
    v = tf.Variable(np.arange(1.0, 9.0).reshape(4, 2).astype(np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        made = getattr(tf, name)(v, [2, 0], [[2.0, 3.0], [4.0, 0.5]])
        return [session.run(made), session.run(v)]


@cases(_kinds(["scatter_add", "scatter_sub"]))
def scatter_adds_repeated_indices(tf, np, resource, name):
    v = tf.Variable(np.zeros([4, 2], np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(getattr(tf, name)(v, [1, 3, 1], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        return session.run(v)


@cases(_kinds())
def scatter_of_scalars_and_matrices(tf, np, resource):
    v = tf.Variable(np.zeros([4, 2], np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        seen = []
        for indices, updates in [(2, [1.0, 1.0]), ([[0, 1]], [[[5.0, 6.0], [7.0, 8.0]]]), ([1, 3], 9.0)]:
            session.run(tf.scatter_add(v, indices, updates))
            seen.append(session.run(v))
        return seen


@cases(_kinds(["scatter_add", "scatter_update"]))
def scatter_out_of_range(tf, np, resource, name):
    v = tf.Variable(np.zeros([4], np.float32), use_resource=resource)
    i = tf.placeholder(tf.int32, [1])
    with tf.Session() as session:
        session.run(v.initializer)
        errors = [raises(session.run, getattr(tf, name)(v, i, [1.0]), {i: [k]}) for k in (4, -1)]
        return errors + [session.run(v)]


@cases(_kinds(["scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"]))
def scatter_nd_functions(tf, np, resource, name):
    v = tf.Variable(np.ones([3, 2], np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(getattr(tf, name)(v, [[0, 1], [2, 0]], [5.0, 6.0]))
        session.run(getattr(tf, name)(v, [[1]], [[7.0, 8.0]]))
        return session.run(v)


_SLICED = ["scatter_add", "scatter_sub", "scatter_update"]


@cases(_kinds(_SLICED))
def scatter_methods(tf, np, resource, name):
    v = tf.Variable(np.ones([3, 2], np.float32), use_resource=resource)
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 0]))
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(getattr(v, name)(slices)), session.run(v), raises(getattr(v, name), 3)]


@cases(_kinds(["batch_scatter_update"]))
def batch_scatter(tf, np, resource, name):
    v = tf.Variable(np.zeros([2, 3], np.float32), use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(tf.batch_scatter_update(v, [[0], [2]], [[5.0], [6.0]]))
        return session.run(v)


@cases(_kinds())
def count_up_to(tf, np, resource):
    v = tf.Variable(0, use_resource=resource)
    count = tf.count_up_to(v, 3)
    with tf.Session() as session:
        session.run(v.initializer)
        seen = [session.run(count) for _ in range(3)]
        return [seen, raises(session.run, count), session.run(v)]


@cases(_kinds())
def operators_on_variables(tf, np, resource):
    v = tf.Variable([4.0, 9.0], name="v", use_resource=resource)
    made = [
        v + 1.0,
        2.0 * v,
        v - v,
        v / 2.0,
        -v,
        v[0],
        v**2.0,
        v > 5.0,
        abs(v),
        1.0 - v,
        v // 2.0,
        v % 3.0,
        tf.sqrt(v),
        v[::-1],
    ]
    return [made, run(tf, made)]


@cases(_kinds())
def reads_before_and_after_a_write(tf, np, resource):
    v = tf.Variable(1.0, use_resource=resource)
    with tf.control_dependencies([tf.identity(v) * 1.0]):
        update = v.assign_add(1.0)
    with tf.control_dependencies([update]):
        after = v.read_value() * 1.0
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(after), session.run(v)]


@cases(_kinds())
def a_fetched_value_is_a_copy(tf, np, resource):
    v = tf.Variable([1.0, 2.0], use_resource=resource)
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        session.run(v.assign_add([1.0, 1.0]))
        middle = before.copy()
        changed = session.run(v)
        changed[:] = -1.0
        return [before, middle, session.run(v)]


def a_fed_array_is_a_copy(tf, np):
    # Of a resource variable, TensorFlow itself may take the fed array's memory.
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [2])
    array = np.array([1.0, 2.0], np.float32)
    with tf.Session() as session:
        session.run(v.assign(x), {x: array})
        array[:] = 9.0
        seen = session.run(v)
        session.run(v.assign_add([1.0, 1.0]))
        return [seen, array, session.run(v)]


@cases(_kinds())
def sessions_do_not_share_state(tf, np, resource):
    v = tf.Variable(1.0, use_resource=resource)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        two.run(v.initializer)
        one.run(v.assign_add(5.0))
        return [one.run(v), two.run(v)]


def variables_of_another_graph(tf, np):
    v = tf.Variable(1.0)
    with tf.Graph().as_default():
        return raises(lambda: tf.constant(1.0) + v)


def initializers_run_once_in_order(tf, np):
    a = tf.Variable(2.0, name="a")
    b = tf.Variable(a.initialized_value() + 1.0, name="b")
    c = tf.Variable(b.initialized_value() * 10.0, name="c")
    init = tf.global_variables_initializer()
    with tf.Session() as session:
        session.run(init)
        return session.run([a, b, c])


def all_initializers_of_old(tf, np):
    v = tf.Variable(1.0)
    w = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    with tf.Session() as session:
        session.run(tf.initialize_all_variables())
        session.run(tf.initialize_local_variables())
        seen = session.run([v, w])
        session.run(tf.initialize_variables([v]))
        return [seen, session.run(v), names(tf)]


def variable_protos(tf, np):
    v = tf.Variable(1.0, name="v")
    proto = v.to_proto()
    again = tf.Variable.from_proto(proto)
    fields = [
        proto.variable_name,
        proto.initializer_name,
        proto.snapshot_name,
        proto.initial_value_name,
        proto.is_resource,
    ]
    return [fields, again.name, again.trainable]


def state_ops_of_old(tf, np):
    v = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32)
    t = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    final = tf.raw_ops.DestroyTemporaryVariable(ref=tf.assign(t, [1.0, 2.0]), var_name="t")
    with tf.Session() as session:
        session.run(tf.assign(v, [3.0, 4.0]))
        return [session.run(v), session.run(final), v.dtype]


def resource_handles(tf, np):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    raw = tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32)
    shape = tf.raw_ops.VariableShape(input=v.handle)
    return [v.handle.dtype, v.handle.shape, raw, run(tf, [raw, shape])]


def use_locking_and_groups(tf, np):
    v, w = tf.Variable(0.0), tf.Variable(0.0)
    both = tf.group(tf.assign_add(v, 1.0, use_locking=True), tf.assign_add(w, 2.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(both)
        return session.run([v, w])


@cases(_kinds())
def partitioned_variables(tf, np, resource):
    def initial(shape, dtype, partition_info):
        return tf.fill(shape, tf.constant(partition_info.var_offset[0], dtype))

    partitioner = tf.fixed_size_partitioner(3)
    v = tf.get_variable("v", [6, 2], initializer=initial, partitioner=partitioner, use_resource=resource)
    return [
        [p.name for p in v],
        v.name,
        v.get_shape(),
        run(tf, tf.convert_to_tensor(v)),
        [p.name for p in tf.global_variables()],
        graph(tf),
    ]
