"""Conditionals and loops: values, gradients, whole graphs, names, and what is refused."""

import collections

from kit import cases, graph, names, normal, raises, run

_STRUCTURE = ("frame_name", "is_constant", "parallel_iterations", "T", "_class")

_Pair = collections.namedtuple("Pair", ["first", "second"])


def _both(tf, build, feeds):
    """What a construct gives for each of several feeds, and its gradients by the placeholder x."""
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    y = build(p, x)
    grads = tf.gradients(y, x)
    with tf.Session() as session:
        return [session.run([y] + [g for g in grads if g is not None], {p: a, x: b}) for a, b in feeds]


_SIDES = [(True, [1.0, 2.0, 3.0]), (False, [1.0, -2.0, 0.5])]

_CONDS = {
    "plain": lambda tf, p, x: tf.cond(p, lambda: x * 2, lambda: x - 1.0),
    "one side only": lambda tf, p, x: tf.cond(p, lambda: x * x, lambda: tf.zeros([3])),
    "neither": lambda tf, p, x: tf.cond(p, lambda: tf.ones([3]), lambda: tf.zeros([3])) + x,
    "from outside": lambda tf, p, x: tf.cond(p, lambda: x, lambda: -x),
    "nested": lambda tf, p, x: tf.cond(
        p,
        lambda: tf.cond(x[0] > 0, lambda: x * 3, lambda: x * 5),
        lambda: tf.cond(p, lambda: x, lambda: x / 2),
    ),
    "in a row": lambda tf, p, x: (
        tf.cond(p, lambda: tf.cond(tf.logical_not(p), lambda: x, lambda: x * 7), lambda: x)
        * tf.cond(p, lambda: x, lambda: x + 1)
    ),
    "assert": lambda tf, p, x: tf.cond(
        p, lambda: _checked(tf, tf.Assert(x[0] > 0, ["x is", x]), x), lambda: x * 2
    ),
    "two results": lambda tf, p, x: tf.add_n(tf.cond(p, lambda: [x, x * 2], lambda: [x * 3, x])),
    "unknown sizes": lambda tf, p, x: tf.reduce_sum(
        tf.cond(p, lambda: tf.boolean_mask(x, x > 1.5), lambda: x)
    ),
    "gather": lambda tf, p, x: tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: tf.gather(x, [1, 1])),
    "loop inside": lambda tf, p, x: tf.cond(
        p, lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1], lambda: x
    ),
}


def _checked(tf, check, x):
    with tf.control_dependencies([check]):
        return tf.identity(x)


@cases({name: build for name, build in _CONDS.items()})
def conds(tf, np, build):
    return _both(tf, lambda p, x: build(tf, p, x), _SIDES)


@cases({name: build for name, build in _CONDS.items() if name not in ("assert",)})
def cond_graphs(tf, np, build):
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    tf.gradients(build(tf, p, x), x)
    return graph(tf, _STRUCTURE)


def cond_of_structures(tf, np):
    p = tf.constant(True)
    result = tf.cond(
        p,
        lambda: {"a": _Pair(tf.constant(1), [tf.constant(2.0)]), "b": (tf.constant("x"),)},
        lambda: {"a": _Pair(tf.constant(3), [tf.constant(4.0)]), "b": (tf.constant("y"),)},
    )
    return run(tf, result)


def cond_of_operations(tf, np):
    v = tf.Variable(1.0)
    p = tf.placeholder(tf.bool, [])
    step = tf.cond(p, lambda: tf.assign_add(v, 10.0).op, lambda: tf.no_op())
    with tf.Session() as session:
        session.run(v.initializer)
        found = []
        for side in (True, False, True):
            session.run(step, {p: side})
            found.append(session.run(v))
        return found


@cases(True, False)
def what_is_made_outside_always_runs(tf, np, resource):
    with tf.variable_scope("s", use_resource=resource):
        v = tf.get_variable("v", initializer=1.0)
    p = tf.placeholder(tf.bool, [])
    outside = tf.assign_add(v, 1.0)

    def inside():
        with tf.control_dependencies([outside]):
            return tf.constant(1.0)

    y = tf.cond(p, inside, lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(v.initializer)
        return [session.run(y, {p: side}) for side in (True, False)] + [session.run(v)]


@cases(True, False)
def assignments_in_branches(tf, np, resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.identity(tf.assign_add(v, [1.0, 1.0])), lambda: tf.identity(v * 10.0))
    with tf.Session() as session:
        session.run(v.initializer)
        found = [session.run(y, {p: side}) for side in (True, False, True)]
        return found + [session.run(v)]


def cond_mistakes(tf, np):
    p = tf.placeholder(tf.bool, [])
    one, half, name = tf.constant(1), tf.constant(0.5), lambda: tf.constant(1.0)
    return [
        raises(tf.cond, True, lambda: one, lambda: one),
        raises(tf.cond, p, lambda: one, lambda: half),
        raises(tf.cond, p, lambda: [one, one], lambda: [one]),
        raises(tf.cond, p, lambda: (one, one), lambda: [one, one]),
        raises(tf.cond, p, lambda: None, lambda: one),
        raises(tf.cond, p, one, lambda: one),
        raises(tf.cond, p, name),
        raises(tf.cond, tf.constant([True, False]), name, name),
        raises(tf.cond, tf.constant(1.0), name, name),
    ]


def case_and_defaults(tf, np):
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 1, lambda: tf.constant(10)), (x < 5, lambda: x * 2), (x < 9, lambda: tf.constant(-1))]
    made = [
        tf.case(pairs, default=lambda: tf.constant(99)),
        tf.case(pairs),
        tf.case(pairs[:1], default=lambda: x, exclusive=True),
        tf.case(collections.OrderedDict(pairs), default=lambda: x),
    ]
    with tf.Session() as session:
        found = [session.run(made, {x: i}) for i in (0, 3, 8)]
        return found + [session.run(made[0], {x: 20}), raises(session.run, made[1], {x: 20})]


def exclusive_cases(tf, np):
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 5, lambda: tf.constant(1)), (x < 9, lambda: tf.constant(2))]
    y = tf.case(pairs, default=lambda: tf.constant(3), exclusive=True)
    with tf.Session() as session:
        return [session.run(y, {x: 7}), raises(session.run, y, {x: 1})]


def case_mistakes(tf, np):
    one = tf.constant(1)
    return [
        raises(tf.case, one),
        raises(tf.case, [one]),
        raises(tf.case, [(one, lambda: one, 3)]),
        raises(tf.case, [(one, lambda: one)]),
        raises(tf.case, [(tf.constant(True), one)]),
        raises(tf.case, [(3, lambda: one)]),
    ]


@cases(-1, 0, 1, 2, 7)
def switch_cases(tf, np, i):
    x = tf.constant(3.0)
    functions = [lambda: x, lambda: x * 10, lambda: x * 100]
    return run(
        tf,
        [
            tf.switch_case(tf.constant(i), functions),
            tf.switch_case(tf.constant(i), dict(enumerate(functions)), default=lambda: -x),
        ],
    )


# ------------------------------------------------------------------------------------------------ loops


def _count(tf, limit, step=lambda a: a * 2):
    return lambda x: tf.while_loop(lambda i, a: i < limit, lambda i, a: (i + 1, step(a)), [0, x])[1]


def _lines(tf, name):
    """Loops of one vector x."""

    def nested(x):
        def outer(i, a):
            inner = tf.while_loop(lambda j, b: j <= i, lambda j, b: (j + 1, b * 1.1 + a), [0, a])
            return i + 1, inner[1]

        return tf.while_loop(lambda i, a: i < 3, outer, [0, x])[1]

    def deep(x):
        def level(depth, a):
            if depth == 0:
                return a * 1.5
            return tf.while_loop(
                lambda i, b: i < 2, lambda i, b: (i + 1, level(depth - 1, b) + a * 0.1), [0, a]
            )[1]

        return level(3, x)

    def cond_inside(x):
        def body(i, a):
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * a, lambda: a + x)

        return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]

    def early_exit(x):
        return tf.while_loop(
            lambda i, a: tf.logical_and(i < 100, tf.reduce_sum(a) < 50.0),
            lambda i, a: (i + 1, a * 1.5 + 1.0),
            [0, x],
        )[1]

    def several(x):
        return tf.add_n(
            tf.while_loop(
                lambda i, a, b, c: i < 3, lambda i, a, b, c: (i + 1, b, a + b, c * x), [0, x, x * 2, x]
            )[1:]
        )

    def swapped(x):
        return tf.while_loop(lambda i, a, b: i < 5, lambda i, a, b: (i + 1, b, a * 2), [0, x, -x])[2]

    def independent(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, x * 3), [0, x])[1]

    def limited(x):
        return tf.while_loop(lambda a: tf.constant(True), lambda a: a * 2, [x], maximum_iterations=3)

    def invariant_matrix(x):
        w = tf.constant([[0.5, 0.1, 0.0], [0.0, 0.5, 0.1], [0.2, 0.0, 0.5]])
        row = tf.reshape(x, [1, 3])
        return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, row])[1]

    def growing(x):
        return tf.while_loop(
            lambda i, a: i < 3,
            lambda i, a: (i + 1, tf.concat([a, a[:1] * 2], 0)),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]

    def loop_in_cond_in_loop(x):
        def body(i, a):
            looped = lambda: _count(tf, 2, lambda b: b + a)(a)
            return i + 1, tf.cond(i < 2, looped, lambda: a * 0.5)

        return tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]

    def gathered(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(x, [i])), [0, x[:1]])[1]

    def stopped(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.stop_gradient(a) * x + a), [0, x])[1]

    def no_iterations(x):
        return tf.while_loop(lambda i, a: i < 0, lambda i, a: (i + 1, a * x), [0, x * 2])[1]

    def one_at_a_time(x):
        return tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * x), [0, x], parallel_iterations=1
        )[1]

    def swapping_memory(x):
        return tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * x), [0, x], swap_memory=True
        )[1]

    return dict(locals(), simple=_count(tf, 5))[name]


_LOOPS = [
    "simple",
    "nested",
    "deep",
    "cond_inside",
    "early_exit",
    "several",
    "swapped",
    "independent",
    "limited",
    "invariant_matrix",
    "growing",
    "loop_in_cond_in_loop",
    "gathered",
    "stopped",
    "no_iterations",
    "one_at_a_time",
    "swapping_memory",
]


@cases(*_LOOPS)
def loops(tf, np, name):
    x = tf.placeholder(tf.float32, [3])
    y = _lines(tf, name)(x)
    grads = tf.gradients(y, x)
    feed = {x: np.array([0.5, -1.0, 0.25], np.float32)}
    with tf.Session() as session:
        return session.run([y] + grads, feed), y.shape


@cases(*[name for name in _LOOPS if name not in ("independent", "growing")])
def loops_of_unknown_size(tf, np, name):
    x = tf.placeholder(tf.float32, [None] if name != "invariant_matrix" else [3])
    y = _lines(tf, name)(x)
    grads = tf.gradients(y, x)
    with tf.Session() as session:
        return [session.run([y] + grads, {x: a}) for a in ([0.5, -1.0, 0.25], [2.0, 1.0, -1.0])]


@cases(*_LOOPS)
def loop_graphs(tf, np, name):
    x = tf.placeholder(tf.float32, [3])
    tf.gradients(_lines(tf, name)(x), x)
    return graph(tf, _STRUCTURE)


@cases(*_LOOPS)
def loop_graphs_of_unknown_size(tf, np, name):
    x = tf.placeholder(tf.float32, [None] if name != "invariant_matrix" else [3])
    y = _lines(tf, name)(x)
    if name not in ("independent",):
        tf.gradients(y, x)
    return graph(tf, _STRUCTURE)


def loops_of_structures(tf, np):
    start = {"i": tf.constant(0), "rest": _Pair(tf.constant([1.0, 2.0]), (tf.constant(3.0),))}

    def body(s):
        return [{"i": s["i"] + 1, "rest": _Pair(s["rest"].first * 2, (s["rest"].second[0] + 1,))}]

    made = tf.while_loop(lambda s: s["i"] < 4, body, [start])
    return run(tf, made)


@cases(True, False)
def same_structure(tf, np, same):
    one = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=same)
    two = tf.while_loop(lambda i, j: i < 3, lambda i, j: [i + 1, j], (0, 1), return_same_structure=same)
    return [type(one).__name__, type(two).__name__, run(tf, [one, two])]


def sparse_loop_variables(tf, np):
    s = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
    made = tf.while_loop(
        lambda i, s: i < 3,
        lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2, s.dense_shape)),
        [0, s],
    )
    return run(tf, made)


@cases(True, False)
def variables_in_loops(tf, np, resource):
    v = tf.get_variable("v", initializer=1.0, use_resource=resource)
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=resource)

    def body(i, a):
        with tf.control_dependencies([tf.assign_add(v, 2.0)]):
            return i + 1, a * w

    _, y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.ones([2])])
    grads = tf.gradients(y, w)
    with tf.Session() as session:
        session.run([v.initializer, w.initializer])
        first = session.run([y] + [tf.convert_to_tensor(g) for g in grads])
        return first, session.run(v)


def a_read_in_a_loop_sees_the_last_write(tf, np):
    v = tf.get_variable("v", initializer=0, use_resource=True)

    def body(i, total):
        with tf.control_dependencies([v.assign_add(i)]):
            return i + 1, total + v.read_value()

    _, total = tf.while_loop(lambda i, t: i < 5, body, [0, 0], parallel_iterations=1)
    with tf.Session() as session:
        session.run(v.initializer)
        return session.run(total), session.run(v)


def training_through_a_loop(tf, np):
    x = tf.constant(normal(np, 4, 3).astype(np.float32))
    w = tf.Variable(np.eye(3, dtype=np.float32) * 0.5)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), [0, x])
    loss = tf.reduce_mean(tf.square(y - 0.3))
    step = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([step, loss])[1] for _ in range(5)] + [session.run(w)]


def sparse_gradients_of_loops(tf, np):
    table = tf.Variable(normal(np, 5, 2).astype(np.float32))
    ids = tf.constant([[0, 3], [3, 1], [4, 4]])
    _, total = tf.while_loop(
        lambda i, t: i < 3,
        lambda i, t: (i + 1, t + tf.gather(table, ids[i]) * tf.cast(i + 1, tf.float32)),
        [0, tf.zeros([2, 2])],
    )
    grad = tf.gradients(total, table)[0]
    return run(tf, [total, tf.convert_to_tensor(grad)])


def no_back_prop(tf, np):
    x = tf.constant([1.0, 2.0])
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x], back_prop=False)[1]
    return tf.gradients(y, x)[0] is None


def second_order_is_refused(tf, np):
    x = tf.constant([1.0, 2.0])
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x])[1]
    first = tf.gradients(y, x)[0]
    return raises(tf.gradients, first, x)


def control_edges_into_loops(tf, np):
    v = tf.Variable(0)
    with tf.control_dependencies([tf.assign_add(v, 1)]):
        i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    with tf.control_dependencies([i]):
        after = tf.assign_add(v, 10)
    return run(tf, [i, after]), sorted(names(tf))


def loop_names(tf, np):
    with tf.name_scope("outer"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="turns")
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0, name="start")], maximum_iterations=2)
    return sorted(names(tf))


def strings_in_loops(tf, np):
    return run(
        tf, tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.strings.join([s, "x"])), [0, "a"])
    )


def loop_mistakes(tf, np):
    x = tf.constant([1.0, 2.0])
    less = lambda i, *rest: i < 3
    return [
        raises(tf.while_loop, 1, lambda i: i, [0]),
        raises(tf.while_loop, less, 1, [0]),
        raises(tf.while_loop, less, lambda i: i + 1, []),
        raises(tf.while_loop, less, lambda i: i + 1, [0], parallel_iterations=0),
        raises(tf.while_loop, less, lambda i: (i + 1, i), [0]),
        raises(tf.while_loop, less, lambda i, a: (i + 1,), [0, x]),
        raises(tf.while_loop, less, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, x]),
        raises(tf.while_loop, less, lambda i: i + 1, [0, 1]),
        raises(
            tf.while_loop,
            less,
            lambda i, a: (i + 1, a),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3])],
        ),
        raises(tf.while_loop, less, lambda i: i + 1, [0], maximum_iterations=[1, 2]),
    ]


def values_from_inside(tf, np):
    kept = []

    def body(i):
        kept.append(i * 2)
        return i + 1

    end = tf.while_loop(lambda i: i < 3, body, [0])
    inner = lambda i: i + kept[0]
    with tf.Session() as session:
        return [
            raises(session.run, kept[0]),
            raises(lambda: kept[0] + 1),
            raises(tf.while_loop, lambda i: i < 3, inner, [0]),
            session.run(end),
        ]


@cases("map", "nested", "int", "scan", "scan reverse", "scan start", "foldl", "foldr", "foldr start")
def functional(tf, np, kind):
    x = tf.placeholder(tf.float32, [3, 2])
    builders = {
        "map": lambda: tf.map_fn(lambda a: tf.reduce_sum(a * a), x),
        "nested": lambda: tf.map_fn(lambda a: tf.map_fn(lambda b: b * 2, a), x),
        "int": lambda: tf.cast(tf.map_fn(lambda a: a[0] > 0, x, dtype=tf.bool), tf.float32) + x[:, 0],
        "scan": lambda: tf.scan(lambda a, b: a * b + 1, x),
        "scan reverse": lambda: tf.scan(lambda a, b: a * b + 1, x, reverse=True),
        "scan start": lambda: tf.scan(lambda a, b: a + b, x, initializer=tf.ones([2])),
        "foldl": lambda: tf.foldl(lambda a, b: a * b, x),
        "foldr": lambda: tf.foldr(lambda a, b: a * b + a, x),
        "foldr start": lambda: tf.foldr(lambda a, b: a * b, x, initializer=tf.constant([2.0, 3.0])),
    }
    y = builders[kind]()
    grads = tf.gradients(y, x)
    with tf.Session() as session:
        values = session.run([y] + grads, {x: np.array([[1, 2], [3, -4], [0.5, 6]], np.float32)})
    return values, y.shape, graph(tf, _STRUCTURE)


def functional_mistakes(tf, np):
    x = tf.constant([1.0, 2.0])
    return [
        raises(tf.map_fn, 1, x),
        raises(tf.map_fn, lambda a: a, tf.constant(1.0)),
        raises(tf.map_fn, lambda a: (a, a), x),
        raises(tf.scan, lambda a, b: (a, b), x),
        raises(tf.foldl, 1, x),
    ]
