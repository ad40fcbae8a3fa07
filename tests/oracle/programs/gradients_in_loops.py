"""`tf.gradients` called in the body of a loop or in a branch, as meta-learning and Jacobians do it."""

from kit import cases, normal, run

_VARIABLES = {
    "reference": lambda tf, value: tf.Variable(value),
    "resource": lambda tf, value: tf.get_variable("w", initializer=value, use_resource=True),
}


@cases(*_VARIABLES)
def by_an_element_or_an_outer_variable(tf, np, kind):
    x, w = tf.constant([1.0, 2.0, 3.0]), _VARIABLES[kind](tf, 2.0)
    by_element = tf.map_fn(lambda e: tf.gradients(e * e * w * w, e)[0], x)
    by_variable = tf.map_fn(lambda e: tf.gradients(e * e * w * w, w)[0], x)
    second = [tf.gradients(by_element, [x, w]), tf.gradients(by_variable, [x, w])]
    return run(tf, [by_element, by_variable, second])


@cases("map_fn", "while_loop", "scan", "cond")
def a_step_of_descent(tf, np, construct):
    w, x = tf.Variable([2.0, 3.0]), tf.constant([1.0, 5.0])

    def descended(value):
        return value - 0.01 * tf.add_n(tf.gradients(tf.reduce_sum(value * value * w * x), [value, w]))

    if construct == "map_fn":
        y = tf.map_fn(descended, tf.stack([x, 2 * x]))
    elif construct == "while_loop":
        y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, descended(v)), [0, tf.ones([2])])[1]
    elif construct == "scan":
        y = tf.scan(lambda v, e: descended(v * e), tf.ones([3, 2]), initializer=x)
    else:
        y = tf.cond(x[0] > 0, lambda: descended(tf.exp(x)), lambda: x)
    return run(tf, [y, tf.gradients(y, w)])


def _linear(tf, np):
    w, b = tf.Variable([[0.5], [0.25]]), tf.Variable([0.1])
    return [w, b], lambda x, w, b: tf.reduce_mean(tf.square(tf.nn.tanh(tf.matmul(x[0, :, :2, 0], w) + b) - 1))


def _convolutional(tf, np):
    w, b = tf.Variable(normal(np, 3, 3, 1, 2).astype(np.float32)), tf.Variable([0.1, 0.2])

    def loss(x, w, b):
        hidden = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME") + b)
        return tf.reduce_mean(tf.square(tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")))

    return [w, b], loss


@cases({"linear": _linear, "convolutional": _convolutional})
def meta_learning(tf, np, model):
    weights, loss = model(tf, np)
    tasks = tf.constant(normal(np, 2, 1, 5, 5, 1).astype(np.float32))

    def adapted(x):
        fast = weights
        for _ in range(2):
            fast = [w - 0.1 * g for w, g in zip(fast, tf.gradients(loss(x, *fast), fast))]
        return loss(x, *fast)

    losses = tf.map_fn(adapted, tasks, dtype=tf.float32, parallel_iterations=2)
    return run(tf, [losses, tf.gradients(tf.reduce_mean(losses), weights)])


def jacobian_and_hessian_by_loops(tf, np):
    x = tf.Variable([1.0, 2.0, 3.0])
    y = x * x * tf.reduce_sum(x)
    slope = tf.gradients(y, x)[0]
    rows = tf.while_loop(
        lambda j, _: j < 3,
        lambda j, rows: (j + 1, rows.write(j, tf.gradients(y[j], x)[0])),
        [0, tf.TensorArray(tf.float32, 3)],
    )[1].stack()
    return run(tf, [rows, tf.map_fn(lambda j: tf.gradients(slope[j], x)[0], tf.range(3), dtype=tf.float32)])


def through_a_loop_inside_the_body(tf, np):
    w = tf.Variable([2.0, 1.0])

    def task(e):
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w * e), [0, tf.ones([2])])[1]
        return tf.gradients(y, w)[0]

    return run(tf, tf.map_fn(task, tf.constant([1.0, 2.0])))


@cases(*_VARIABLES)
def of_rows_of_an_outer_table(tf, np, kind):
    table = _VARIABLES[kind](tf, np.arange(12.0).reshape(6, 2))

    def task(i):
        return tf.convert_to_tensor(tf.gradients(tf.reduce_sum(tf.gather(table, [i, i + 1]) ** 2), table)[0])

    return run(tf, tf.map_fn(task, tf.range(3), dtype=tf.float64))


def a_conditional_inside_and_around(tf, np):
    x, w = tf.constant([1.0, -2.0]), tf.Variable(3.0)
    inside = tf.map_fn(
        lambda e: tf.gradients(tf.cond(e > 0, lambda: e * e * w, lambda: e * w * w), [e, w]),
        x,
        dtype=[tf.float32, tf.float32],
    )
    around = tf.map_fn(
        lambda e: tf.cond(
            e > 0, lambda: tf.gradients(e * e * w, e)[0], lambda: tf.gradients(e * w * w, w)[0]
        ),
        x,
    )
    return run(tf, [inside, around])


def training_in_a_loop(tf, np):
    w = tf.get_variable("w", initializer=[2.0, 3.0], use_resource=True)
    optimizer = tf.train.GradientDescentOptimizer(0.1)

    def body(i):
        with tf.control_dependencies([optimizer.minimize(tf.reduce_sum(tf.square(w)))]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(loop)
        return session.run(w)


def _stated(tensor, shape):
    tensor.set_shape(shape)
    return tensor


def reductions_of_unknown_rank_in_loops(tf, np):
    x = tf.placeholder(tf.float32)
    reduced = [
        tf.map_fn(lambda e: reduce(e, axis=axis), x)
        for reduce in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod, tf.norm)
        for axis in (None, 0, -1)
    ]
    total = tf.scan(lambda a, e: 0.5 * a + tf.reduce_sum(e), x, initializer=1.0)
    stated = tf.scan(lambda a, e: a + _stated(tf.reduce_sum(e, axis=[0, 1]), []), x, initializer=0.0)
    grads = tf.gradients(reduced + [total], x)
    return run(tf, [reduced, total, stated, grads], {x: np.arange(12.0).reshape(3, 2, 2) + 1})
