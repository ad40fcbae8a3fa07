"""Critical sections, and maps by vectorized_map: graphs, values, and what is refused."""

from kit import cases, graph, raises, run


def _sections(tf, np):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    return v, tf.CriticalSection(name="section")


def execute_graph(tf, np):
    v, section = _sections(tf, np)
    x = tf.constant(2.0, name="x")

    def body():
        return tf.assign_add(v, tf.constant(3.0, name="arg") * x), v.read_value()

    section.execute(body)
    section.execute(lambda: v.read_value(), name="second")
    with tf.name_scope("scope"):
        tf.CriticalSection(name="section")
        tf.CriticalSection(shared_name="shared")
    return graph(tf, ("T", "dtype", "shared_name"))


def execute_in_a_branch_graph(tf, np):
    _, section = _sections(tf, np)
    r, p = tf.Variable(1.0, name="r"), tf.placeholder(tf.float32, [])
    section.execute(lambda: tf.cond(p > 0, lambda: tf.assign_add(r, p), lambda: tf.identity(r)))
    section.execute(lambda: tf.no_op())
    section.execute(lambda: [tf.no_op(name="q"), p])
    return graph(tf, ("T", "shared_name"))


def execute_in_a_loop_graph(tf, np):
    _, section = _sections(tf, np)
    r = tf.Variable(1.0, name="r")

    def body(i, a):
        with tf.control_dependencies([a]):
            return i + 1, section.execute(lambda: tf.identity(tf.assign_add(r, 1.0)))

    tf.while_loop(lambda i, a: i < 3, body, [0, 0.0])
    return graph(tf, ("frame_name", "is_constant", "parallel_iterations"))


def results(tf, np):
    v, section = _sections(tf, np)

    def grown():
        old = v.read_value()
        with tf.control_dependencies([old]):
            return {"new": v.assign(old * 2.0 + 1.0, read_value=True), "more": [tf.constant(1), old]}

    made = section.execute(grown)
    with tf.Session() as session:
        session.run(v.initializer)
        found = [session.run(made)["more"][1] for _ in range(3)]
        return found + [session.run(v), section.name]


def mistakes(tf, np):
    v, section = _sections(tf, np)
    other = tf.CriticalSection(name="other")
    section.execute(lambda: v.read_value())
    return [
        raises(section.execute, lambda: section.execute(lambda: tf.constant(1))),
        raises(other.execute, lambda: v.read_value()),
        raises(other.execute, lambda: v.read_value(), exclusive_resource_access=False),
        raises(section.execute, lambda: None),
        raises(section.execute, 3),
    ]


_MAPS = {
    "one": lambda tf, x: tf.vectorized_map(lambda a: a * 2, x),
    "two": lambda tf, x: tf.vectorized_map(lambda a: (a[0] + a[1], tf.cast(a[0], tf.int32)), (x, x)),
    "dictionary": lambda tf, x: tf.vectorized_map(lambda a: {"sum": tf.reduce_sum(a["x"])}, {"x": x}),
    "number": lambda tf, x: tf.vectorized_map(lambda a: 1.0, x),
    "other type": lambda tf, x: tf.vectorized_map(lambda a: a > 1, x),
    "from outside": lambda tf, x: tf.vectorized_map(lambda a: a * x[0], x),
    "matrices": lambda tf, x: tf.vectorized_map(lambda a: tf.matmul(a[:, None], a[None, :]), x),
}


@cases(_MAPS)
def vectorized(tf, np, build):
    x = tf.constant(np.arange(6.0).reshape(3, 2).astype(np.float32))
    made = build(tf, x)
    found = {"values": run(tf, made)}
    if not isinstance(made, (tuple, dict)) and made.dtype == tf.float32:
        slope = tf.gradients(made, x)[0]
        found["slope"] = None if slope is None else run(tf, slope)
    return found
