"""After tf.enable_control_flow_v2: conditionals and loops of graphs are calls of functions."""

from kit import cases, raises, run

_KINDS = ("If", "StatelessIf", "While", "StatelessWhile", "Case", "Switch", "Merge", "Enter", "Exit")


def _functional(tf, build):
    tf.enable_control_flow_v2()
    try:
        return [tf.control_flow_v2_enabled(), build()]
    finally:
        tf.disable_control_flow_v2()


def _kinds(tf):
    found = {op.type for op in tf.get_default_graph().get_operations() if op.type in _KINDS}
    return sorted({kind.replace("StatelessWhile", "While") for kind in found})


def _variable(tf, name="v", value=2.0):
    return tf.get_variable(name, initializer=value, use_resource=True)


@cases({"true": 3.0, "false": -2.0})
def conditionals(tf, np, value):
    def build():
        x = tf.placeholder(tf.float32, [])
        v = _variable(tf)
        y = tf.cond(x > 0, lambda: x * v, lambda: tf.cond(x < -1, lambda: x * x * v, lambda: x))
        grads = tf.gradients(y, [x, v])
        pair = tf.cond(x > 0, lambda: {"a": x, "b": (v + 1.0, 3)}, lambda: {"a": v, "b": (x, 4)})
        return [run(tf, [y, grads, pair], {x: value}), _kinds(tf), y, y.op.type]

    return _functional(tf, build)


@cases({"none": 0, "one": 1, "many": 5})
def loops(tf, np, count):
    def build():
        x = tf.placeholder(tf.float32, [2])
        n = tf.placeholder(tf.int32, [])
        v = _variable(tf)
        i, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + v), [0, tf.ones([2])])
        grads = tf.gradients(y, [x, v])
        second = tf.gradients(grads[0], [x])
        return [run(tf, [i, y, grads, second], {x: [0.5, 2.0], n: count}), _kinds(tf)]

    return _functional(tf, build)


def loops_with_a_limit(tf, np):
    def build():
        found = tf.while_loop(lambda i: i < 100, lambda i: i + 2, [0], maximum_iterations=7)
        grown = tf.while_loop(
            lambda i, a: i < 4,
            lambda i, a: (i + 1, tf.concat([a, [i]], 0)),
            [0, tf.zeros([0], tf.int32)],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )
        return [run(tf, [found, grown]), grown[1].shape, _kinds(tf)]

    return _functional(tf, build)


def functions_of_higher_order(tf, np):
    def build():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        v = _variable(tf)
        mapped = tf.map_fn(lambda row: row * v, x)
        scanned = tf.scan(lambda a, row: a + row * v, x)
        folded = tf.foldl(lambda a, row: a * row + v, x)
        grads = tf.gradients([mapped, scanned, folded], [v, x])
        return [run(tf, [mapped, scanned, folded, grads]), _kinds(tf)]

    return _functional(tf, build)


@cases({"first": 6.0, "second": 3.0, "default": 0.0})
def cases_and_switches(tf, np, value):
    def build():
        x = tf.placeholder(tf.float32, [])
        c = tf.case([(x > 5, lambda: x), (x > 1, lambda: 2.0 * x)], default=lambda: 3.0)
        s = tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: 2 * x], default=lambda: x * 5)
        return run(tf, [c, s, tf.gradients(s, x)], {x: value})

    return _functional(tf, build)


def recurrent_networks(tf, np):
    def build():
        x = tf.constant(np.sin(np.arange(24)).reshape(2, 4, 3), tf.float32)
        cell = tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.constant_initializer(0.1))
        out, state = tf.nn.dynamic_rnn(cell, x, [4, 2], dtype=tf.float32)
        grads = tf.gradients(tf.reduce_sum(out), tf.trainable_variables())
        return [run(tf, [out, state, grads]), _kinds(tf)]

    with tf.variable_scope("net", use_resource=True):
        return _functional(tf, build)


def state_in_branches(tf, np):
    def build():
        v = _variable(tf)
        x = tf.placeholder(tf.bool, [])
        done = tf.cond(x, lambda: v.assign_add(1.0), lambda: v.assign(10.0))
        with tf.Session() as session:
            session.run(v.initializer)
            return [session.run(done, {x: flag}) for flag in (True, True, False, True)]

    return _functional(tf, build)


def what_is_refused(tf, np):
    def build():
        x = tf.placeholder(tf.float32, [])
        return [
            raises(tf.cond, x > 0, lambda: x, lambda: 1),
            raises(tf.while_loop, lambda i: i < 3, lambda i: (i, i), [0]),
        ]

    return _functional(tf, build)


def several_gradients_of_one_graph(tf, np):
    def build():
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        v = _variable(tf)
        found = []
        for number in range(3):
            with tf.name_scope("part_%d" % number):
                y = tf.map_fn(lambda row: row * row * v, x)
                found.append(tf.gradients(y, [v, x]))
        found.append(tf.gradients(y * 2.0, [v, x]))
        return run(tf, found)

    return _functional(tf, build)
