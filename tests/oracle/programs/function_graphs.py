"""`tf.function` in graph mode: calls as nodes, functions in the library, gradients, variables."""

from kit import Close, cases, raises


def _function(tf, f, **options):
    return tf.function(f, autograph=False, **options)


def _kinds(tf):
    return sorted(op.type for op in tf.get_default_graph().get_operations())


def a_call_is_a_node(tf, np):
    f = _function(tf, lambda x, y: x * y + 1.0)
    x = tf.placeholder(tf.float32, [None])
    z = f(x, tf.constant(2.0))
    library = tf.get_default_graph().as_graph_def().library
    with tf.Session() as session:
        return (
            _kinds(tf),
            z.shape,
            z.dtype,
            session.run(z, {x: [1.0, 2.0]}),
            [(len(d.signature.input_arg), sorted(n.op for n in d.node_def)) for d in library.function],
        )


def a_function_with_effects(tf, np):
    v = tf.Variable(1.0, use_resource=True)

    def f(x):
        v.assign_add(x)
        return v * 2.0

    y = _function(tf, f)(tf.constant(3.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kinds = [op.type for op in tf.get_default_graph().get_operations() if "PartitionedCall" in op.type]
        return session.run(y), session.run(v), kinds


@cases(1, 2)
def gradients_through_calls(tf, np, order):
    v = tf.Variable(2.0, use_resource=True)
    f = _function(tf, lambda x: tf.sin(x) * v * x)
    x = tf.constant(3.0)
    y = f(x)
    for _ in range(order):
        y, slope = tf.gradients(y, [x, v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return Close(session.run([y, slope]), 1e-5)


def gradients_with_random_numbers(tf, np):
    tf.set_random_seed(3)
    f = _function(tf, lambda x: x * tf.random.uniform([2], seed=5))
    x = tf.constant([1.0, 1.0])
    y = f(x)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        a, b = session.run([y, slope])
        return np.allclose(a, b)


def gradients_of_nested_calls(tf, np):
    inner = _function(tf, lambda x: x * x * x)
    outer = _function(tf, lambda x: inner(x) + inner(2.0 * x))
    x = tf.constant(2.0)
    y = outer(x)
    with tf.Session() as session:
        return session.run([y, tf.gradients(y, x)[0], tf.gradients(tf.gradients(y, x), x)[0]])


def tapes_in_graphs(tf, np):
    v = tf.Variable(2.0, use_resource=True)
    f = _function(tf, lambda x: x * v * v)
    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    slope = tape.gradient(y, v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run([y, slope])


def variables_of_the_first_call(tf, np):
    made = []

    def f(x):
        if not made:
            made.append(tf.Variable(tf.ones([2]) * 3.0, name="w"))
        return made[0] * x

    g = _function(tf, f)
    y, z = g(tf.constant(2.0)), g(tf.constant(5.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run([y, z]), len(tf.global_variables())


def get_variable_in_a_function(tf, np):
    def f(x):
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2], initializer=tf.ones_initializer()) * x

    y = _function(tf, f)(tf.constant(2.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(y), [v.name for v in tf.global_variables()]


def tensors_of_the_graph_are_captured(tf, np):
    x = tf.placeholder(tf.float32, [])
    f = _function(tf, lambda y: x * y)
    z = f(tf.constant(2.0)) + f(tf.constant(3.0))
    with tf.Session() as session:
        return session.run(z, {x: 2.0})


def each_graph_has_its_trace(tf, np):
    traces = []

    def f(x):
        traces.append(1)
        return x + 1.0

    g, values = _function(tf, f), []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as session:
            values += [session.run(g(tf.constant(1.0))), session.run(g(tf.constant(2.0)))]
    return values, len(traces)


def shapes_of_concrete_functions(tf, np):
    concrete = _function(tf, lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    y = concrete(tf.ones([3, 2]))
    with tf.Session() as session:
        return session.run(y), raises(concrete, tf.ones([3, 3]))


def conditionals_and_loops(tf, np):
    def f(x):
        y = tf.cond(x > 0.0, lambda: x * x, lambda: -x)
        return tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), [0, y])[1]

    x = tf.placeholder(tf.float32, [])
    y = _function(tf, f)(x)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        return [session.run([y, slope], {x: n}) for n in (2.0, -3.0)]


def training(tf, np):
    w = tf.Variable([[1.0], [2.0]], use_resource=True)
    model = _function(tf, lambda x: tf.tanh(tf.matmul(x, w)))
    loss = tf.reduce_mean(tf.square(model(tf.constant([[1.0, 2.0], [3.0, 4.0]])) - 0.5))
    step = tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(3):
            values.append(session.run([loss, step])[0])
        return Close([values, session.run(w)], 1e-5)


def functions_in_datasets(tf, np):
    f = _function(tf, lambda x: x * x + 1)
    element = tf.data.Dataset.range(4).map(f).batch(4).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        return session.run(element)
