"""variable_scope and get_variable: names, sharing, getters, regularizers, partitioners, sure initializers."""

from kit import cases, graph, names, product, raises, run


def graph_of_get_variable(tf, np):
    tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer())
    return graph(tf)


@cases(False, True)
def graph_of_default_initializer(tf, np, resource):
    tf.get_variable("v", [2, 3], use_resource=resource)
    return graph(tf, ["dtype", "shape", "T", "seed", "_class", "value"])


_INITIALIZERS = {
    "zeros": lambda tf, np: tf.zeros_initializer(),
    "ones": lambda tf, np: tf.ones_initializer(),
    "constant": lambda tf, np: tf.constant_initializer(3.5),
    "constant list": lambda tf, np: tf.constant_initializer([1, 2, 3, 4, 5, 6]),
    "constant array": lambda tf, np: tf.constant_initializer(np.arange(6.0).reshape(2, 3)),
    "constant short list": lambda tf, np: tf.constant_initializer([1, 2]),
    "identity": lambda tf, np: tf.initializers.identity(gain=2.0),
    "class": lambda tf, np: tf.zeros_initializer,
    "function": lambda tf, np: lambda shape, dtype, partition_info: tf.fill(shape, tf.constant(7, dtype)),
    "keras zeros": lambda tf, np: tf.keras.initializers.Zeros(),
    "keras ones": lambda tf, np: tf.keras.initializers.Ones(),
    "keras constant": lambda tf, np: tf.keras.initializers.Constant(2.0),
    "keras identity": lambda tf, np: tf.keras.initializers.Identity(),
    "initializers namespace": lambda tf, np: tf.initializers.constant(1.25),
}


@cases(*product(_INITIALIZERS, [False, True]))
def initializers(tf, np, key, resource):
    v = tf.get_variable("v", [2, 3], initializer=_INITIALIZERS[key](tf, np), use_resource=resource)
    return [v, run(tf, v), graph(tf)]


@cases(
    "zeros_initializer",
    "ones_initializer",
    "constant_initializer",
    "random_uniform_initializer",
    "variance_scaling_initializer",
)
def initializer_configs(tf, np, name):
    made = getattr(tf, name)()
    config = made.get_config()
    again = type(made).from_config(config)
    return [{k: getattr(v, "name", v) for k, v in config.items()}, again.get_config() == config]


@cases("int32", "bool", "float64")
def default_initializer_by_dtype(tf, np, dtype):
    v = tf.get_variable("v", [2], dtype=dtype)
    return [v, [o.type for o in v.graph.get_operations()], run(tf, v) if dtype != "float64" else None]


def initializer_given_as_a_value(tf, np):
    a = tf.get_variable("a", initializer=[1.0, 2.0])
    b = tf.get_variable("b", initializer=tf.constant(5))
    c = tf.get_variable("c", initializer=np.ones([2, 2]))
    d = tf.get_variable("d", initializer=3.0, dtype=tf.float32)
    return [[a, b, c, d], run(tf, [a, b, c, d]), graph(tf)]


def scopes_name_variables_and_ops(tf, np):
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [1])
        x = tf.add(1.0, 1.0, name="x")
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [1])
            y = tf.add(1.0, 1.0, name="y")
    with tf.variable_scope("a", reuse=True):
        again = tf.get_variable("v")
        z = tf.add(1.0, 1.0, name="x")
    return [v.name, x.name, w.name, y.name, again is v, z.name]


def scope_object_is_entered_again(tf, np):
    with tf.variable_scope("a") as a:
        tf.get_variable("v", [1])
    with tf.variable_scope("b"):
        with tf.variable_scope(a):
            w = tf.get_variable("w", [1])
            x = tf.no_op(name="x")
    with tf.variable_scope(a, reuse=True):
        v = tf.get_variable("v", [1])
        y = tf.no_op(name="y")
    return [a.name, a.original_name_scope, w.name, x.name, v.name, y.name]


def scope_object_with_auxiliary_name_scope_off(tf, np):
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope(a, auxiliary_name_scope=False):
        with tf.name_scope(a.original_name_scope):
            x = tf.no_op(name="x")
        y = tf.no_op(name="y")
        v = tf.get_variable("v", [1])
    return [x.name, y.name, v.name]


def default_names_are_unique(tf, np):
    seen = []
    for _ in range(3):
        with tf.variable_scope(None, default_name="layer") as scope:
            seen += [scope.name, tf.get_variable("w", [1]).name]
    with tf.variable_scope("outer"):
        for _ in range(2):
            with tf.variable_scope(None, "layer") as scope:
                seen.append(scope.name)
    with tf.variable_scope("given", default_name="layer") as scope:
        seen.append(scope.name)
    return seen


def name_scopes_do_not_touch_get_variable(tf, np):
    with tf.name_scope("n"):
        v = tf.get_variable("v", [1])
        w = tf.Variable(1.0, name="w")
        with tf.variable_scope("s"):
            u = tf.get_variable("u", [1])
            x = tf.no_op(name="x")
    return [v.name, w.name, u.name, x.name]


def variable_scopes_enter_name_scopes_once_more(tf, np):
    seen = []
    for _ in range(2):
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE) as scope:
            seen += [
                scope.name,
                tf.get_variable("v", [1]).name,
                tf.no_op(name="x").name,
                scope.original_name_scope,
            ]
    return seen


def reuse_rules(tf, np):
    with tf.variable_scope("s"):
        v = tf.get_variable("v", [1])
        first = raises(tf.get_variable, "v", [1])
        tf.get_variable_scope().reuse_variables()
        again = tf.get_variable("v", [1]) is v
        second = raises(tf.get_variable, "w", [1])
    with tf.variable_scope("s", reuse=True):
        third = raises(tf.get_variable, "v", [2])
        fourth = raises(tf.get_variable, "v", [1], dtype=tf.float64)
        with tf.variable_scope("inner"):
            inherited = bool(tf.get_variable_scope().reuse)
    return [first, again, second, third, fourth, inherited]


def auto_reuse(tf, np):
    def layer():
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            return tf.get_variable("v", [1])

    return [layer() is layer(), len(tf.global_variables())]


def reuse_none_inside_reuse(tf, np):
    with tf.variable_scope("a"):
        tf.get_variable("v", [1])
    with tf.variable_scope("a", reuse=True):
        with tf.variable_scope("b", reuse=False):
            reuse = bool(tf.get_variable_scope().reuse)
    return [reuse, tf.get_variable_scope().reuse, tf.get_variable_scope().name]


def scope_defaults_are_inherited(tf, np):
    with tf.variable_scope(
        "s", initializer=tf.constant_initializer(4.0), dtype=tf.float64, use_resource=True
    ):
        a = tf.get_variable("a", [2])
        with tf.variable_scope("t"):
            b = tf.get_variable("b", [2])
            c = tf.get_variable("c", [2], initializer=tf.zeros_initializer(), dtype=tf.float32)
        tf.get_variable_scope().set_initializer(tf.constant_initializer(5.0))
        d = tf.get_variable("d", [2])
    return [[a, b, c, d], run(tf, [a, b, c, d]), [v.op.type for v in (a, b, c, d)]]


def scope_properties(tf, np):
    regularizer, getter = (lambda v: tf.nn.l2_loss(v)), (lambda g, *a, **k: g(*a, **k))
    with tf.variable_scope(
        "s",
        regularizer=regularizer,
        custom_getter=getter,
        dtype=tf.float16,
        caching_device="/cpu:0",
        constraint=abs,
    ) as s:
        facts = [
            s.name,
            s.reuse,
            s.dtype,
            s.caching_device,
            s.regularizer is regularizer,
            s.use_resource,
            s.constraint is abs,
        ]
        with tf.variable_scope("t") as t:
            facts += [t.name, t.dtype, t.regularizer is regularizer]
    return facts


def regularizers_fill_a_collection(tf, np):
    with tf.variable_scope("s", regularizer=lambda v: 0.5 * tf.reduce_sum(v)):
        tf.get_variable("a", initializer=[1.0, 2.0])
        tf.get_variable("b", initializer=[3.0], regularizer=tf.nn.l2_loss)
        tf.get_variable("c", initializer=[9.0], regularizer=lambda v: None)
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("a", [2])
    found = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    total = tf.losses.get_regularization_loss()
    return [found, run(tf, found + [total]), graph(tf, [])]


def keras_and_contrib_regularizers(tf, np):
    tf.get_variable("a", initializer=[1.0, -2.0], regularizer=tf.keras.regularizers.l2(0.5))
    tf.get_variable("b", initializer=[3.0, -1.0], regularizer=tf.keras.regularizers.l1(0.1))
    tf.get_variable("c", initializer=[3.0], regularizer=tf.keras.regularizers.l1_l2(0.1, 0.2))
    return run(tf, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


def custom_getters_nest(tf, np):
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name))
        return getter(name + "_renamed", *args, **kwargs) * 2.0

    with tf.variable_scope("a", custom_getter=outer):
        with tf.variable_scope("b", custom_getter=inner):
            v = tf.get_variable("v", initializer=3.0)
    return [seen, v.op.type, run(tf, v), [x.name for x in tf.global_variables()]]


def variable_creator_scopes(tf, np):
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(sorted(k for k in kwargs if k in ("name", "trainable", "initial_value")))
        kwargs["name"] = "changed"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
    return [seen, v.name]


def partitioned_scope(tf, np):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer()):
        v = tf.get_variable("v", [5, 2])
        w = tf.get_variable("w", [4])
    with tf.variable_scope("s", reuse=True, partitioner=tf.fixed_size_partitioner(2)):
        again = tf.get_variable("v", [5, 2])
    parts = [(p.name, p.shape) for p in list(v) + list(w)]
    return [
        parts,
        type(v).__name__,
        again is v,
        run(tf, [tf.convert_to_tensor(v), tf.add(v, 1.0)]),
        v.as_tensor().name,
        graph(tf, ["shape", "value"]),
    ]


_PARTITIONERS = {
    "fixed": (lambda tf: tf.fixed_size_partitioner(3), [7, 2]),
    "fixed axis": (lambda tf: tf.fixed_size_partitioner(2, axis=1), [3, 4]),
    "variable": (lambda tf: tf.variable_axis_size_partitioner(64), [10, 4]),
    "variable capped": (lambda tf: tf.variable_axis_size_partitioner(16, max_shards=3), [10, 4]),
    "min max": (lambda tf: tf.min_max_variable_partitioner(4, min_slice_size=32), [16, 4]),
}


@cases(*_PARTITIONERS)
def partitioners(tf, np, key):
    make, shape = _PARTITIONERS[key]
    return [int(n) for n in make(tf)(shape=tf.TensorShape(shape), dtype=tf.float32)]


def caching_device(tf, np):
    tf.get_variable("v", [2], initializer=tf.zeros_initializer(), caching_device="/cpu:0")
    tf.Variable(1.0, name="w", caching_device="/cpu:0")
    return graph(tf)


def devices_of_variables(tf, np):
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    with tf.device("/job:ps/task:1"):
        w = tf.Variable(1.0, name="w")
    return [v.device, w.device, v.initializer.device, graph(tf)]


def get_variable_arguments(tf, np):
    made = [
        tf.get_variable("a", 3, initializer=tf.zeros_initializer()),
        tf.get_variable("b", [], initializer=tf.zeros_initializer()),
        tf.get_variable("c", [2], trainable=False, initializer=tf.zeros_initializer()),
        tf.get_variable("d", tf.TensorShape([2]), collections=["mine"], initializer=tf.zeros_initializer()),
        tf.get_variable("e", [2], dtype=tf.int32, initializer=tf.zeros_initializer()),
        tf.get_variable("f/g", [2], initializer=tf.zeros_initializer()),
        tf.get_variable("h", initializer=lambda: tf.ones([2])),
    ]
    lists = [tf.global_variables(), tf.trainable_variables(), tf.get_collection("mine")]
    return [made, [[v.name for v in row] for row in lists]]


def get_variable_mistakes(tf, np):
    return {
        "no shape": raises(tf.get_variable, "a"),
        "shape and value": raises(tf.get_variable, "b", [2], initializer=tf.constant([1.0, 2.0])),
        "unknown shape": raises(tf.get_variable, "c", [None]),
        "bad initializer": raises(tf.get_variable, "d", [2], initializer="nonsense"),
        "bad name": raises(tf.get_variable, "e f", [2]),
        "empty name": raises(tf.get_variable, "", [2]),
        "no name": raises(lambda: tf.variable_scope(None).__enter__()),
        "reuse text": raises(lambda: tf.variable_scope("s", reuse="maybe").__enter__()),
        "identity shape": raises(tf.get_variable, "g", [2], initializer=tf.initializers.identity()),
    }


def get_local_variable(tf, np):
    v = tf.get_local_variable("v", [2], initializer=tf.ones_initializer())
    return [v, [x.name for x in tf.local_variables()], [x.name for x in tf.global_variables()], run(tf, v)]


def variable_op_scope_of_old(tf, np):
    x = tf.constant(1.0)
    with tf.variable_op_scope([x], None, "old") as scope:
        v = tf.get_variable("v", [1])
        y = tf.identity(x)
    return [scope.name, v.name, y.name]


def templates_share_variables(tf, np):
    def layer(x):
        return x * tf.get_variable("w", initializer=2.0)

    shared = tf.make_template("shared", layer)
    a, b = shared(tf.constant(1.0)), shared(tf.constant(10.0))
    return [run(tf, [a, b]), [v.name for v in tf.global_variables()], shared.name, names(tf)]


def scopes_in_threads_and_graphs_are_apart(tf, np):
    with tf.variable_scope("s"):
        tf.get_variable("v", [1])
        with tf.Graph().as_default():
            inside = tf.get_variable("v", [1]).name
    return inside


def get_variable_scope_at_the_top(tf, np):
    scope = tf.get_variable_scope()
    return [scope.name, scope.reuse, scope.original_name_scope, scope.dtype]


def global_step(tf, np):
    before = tf.train.get_global_step()
    made = tf.train.create_global_step()
    return [
        before,
        made,
        tf.train.get_global_step() is made,
        tf.train.get_or_create_global_step() is made,
        raises(tf.train.create_global_step),
        [v.name for v in tf.get_collection("global_step")],
        graph(tf),
    ]


def global_step_values(tf, np):
    step = tf.train.get_or_create_global_step()
    with tf.Session() as session:
        session.run(step.initializer)
        session.run(step.assign_add(3))
        return [tf.train.global_step(session, step), session.run(step)]


def global_step_mistakes(tf, np):
    v = tf.Variable(1.0, name="global_step")
    return [raises(tf.train.assert_global_step, v), raises(tf.train.get_global_step)]
