"""Reference variables: what was read before a write shares the variable's memory, in loops and without."""

from kit import cases


def _variable(tf, value, **keywords):
    return tf.Variable(value, use_resource=False, **keywords)


def _run(tf, variable, fetches, times=2):
    with tf.Session() as session:
        session.run(variable.initializer)
        return [session.run(fetches) for _ in range(times)]


_WRITES = {
    "assign": lambda tf, v: tf.assign(v, [5.0, 6.0]),
    "assign of a temporary": lambda tf, v: tf.assign(v, v.read_value() * 3.0),
    "assign_add": lambda tf, v: tf.assign_add(v, [5.0, 6.0]),
    "scatter_update": lambda tf, v: tf.scatter_update(v, [0], [9.0]),
    "as many in another shape": lambda tf, v: tf.assign(v, [[7.0], [8.0]], validate_shape=False),
    "more": lambda tf, v: tf.assign(v, [7.0, 8.0, 9.0], validate_shape=False),
}


@cases({key: (key,) for key in _WRITES})
def read_before_a_write(tf, np, key):
    v = _variable(tf, [1.0, 2.0], validate_shape=False)
    before, kept = v.read_value(), tf.stop_gradient(tf.identity(v))
    with tf.control_dependencies([before, kept]):
        write = _WRITES[key](tf, v)
    with tf.control_dependencies([write]):
        after = [before + 0, tf.shape(before), kept * 2, tf.identity(kept), tf.shape(v), v.read_value()]
    return _run(tf, v, [after, before, kept, write])


def two_writes(tf, np):
    v = _variable(tf, [1.0, 2.0], validate_shape=False)
    before = v.read_value()
    with tf.control_dependencies([before]):
        first = tf.assign(v, [7.0, 8.0, 9.0], validate_shape=False)
    with tf.control_dependencies([first]):
        second = tf.assign_add(v, [1.0, 1.0, 1.0])
    with tf.control_dependencies([second]):
        return _run(tf, v, [before + 0, first + 0, v.read_value()])


def _reads_after(tf, v, i, total):
    with tf.control_dependencies([total]):
        write = tf.assign_add(v, 1.0)
    with tf.control_dependencies([write]):
        return i + 1, total + v.read_value()


def _reads_before(tf, v, i, total):
    read = v.read_value()
    with tf.control_dependencies([read]):
        write = tf.assign_add(v, 10.0)
    with tf.control_dependencies([write]):
        return i + 1, total + read


_BODIES = {
    "reads after": _reads_after,
    "reads before": _reads_before,
    "carries what it assigns": lambda tf, v, i, total: (i + 1, tf.assign(v, total * 2.0)),
    "carries what it adds to": lambda tf, v, i, total: (i + 1, tf.assign_add(v, total)),
}


@cases({key: (key,) for key in _BODIES})
def written_in_a_loop(tf, np, key):
    v = _variable(tf, 1.0)
    body = lambda i, total: _BODIES[key](tf, v, i, total)
    i, total = tf.while_loop(lambda i, total: i < 4, body, [0, 1.0], parallel_iterations=1)
    with tf.control_dependencies([total]):
        return _run(tf, v, [i, total, v.read_value()])


def _trained(tf, v):
    return tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(v - 3.0))


_WRITES_OF_LOOPS = {
    "assigned": lambda tf, v: tf.assign(v, v * 2.0),
    "assigned in a branch": lambda tf, v: tf.cond(
        tf.constant(True), lambda: tf.assign(v, v * 2.0), lambda: v
    ),
    "trained": _trained,
}


@cases({key: (key,) for key in _WRITES_OF_LOOPS})
def read_outside_of_the_loop_that_writes(tf, np, key):
    v = _variable(tf, 1.0)

    def body(i):
        with tf.control_dependencies([_WRITES_OF_LOOPS[key](tf, v)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])
    with tf.control_dependencies([loop]):
        return _run(tf, v, [loop, v.read_value()])
