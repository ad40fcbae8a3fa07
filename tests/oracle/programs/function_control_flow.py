"""Conditionals and loops inside of `tf.function`, and gradients through them."""

from kit import Close, cases, raises

EAGER = True


def _function(tf, f, **options):
    return tf.function(f, autograph=False, **options)


def _slopes(tf, f, x, others=()):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x] + list(others))


@cases(1.0, 3.0)
def a_conditional(tf, np, start):
    v = tf.Variable(2.0)
    f = _function(tf, lambda x: tf.cond(x > 2.0, lambda: x * x * v, lambda: tf.sin(x)))
    return _slopes(tf, f, tf.constant(start), [v])


@cases(1.0, 3.0)
def second_derivatives_of_a_conditional(tf, np, start):
    v, x = tf.Variable(2.0), tf.constant(start)
    f = _function(tf, lambda x: tf.cond(x > 2.0, lambda: x * x * v, lambda: tf.sin(x)))
    return _slopes(tf, lambda x: _slopes(tf, f, x, [v])[1][0], x, [v])


@cases(0, 1, 2, 7)
def a_choice_of_many(tf, np, which):
    f = _function(
        tf,
        lambda i, x: tf.switch_case(i, [lambda: x * x, lambda: tf.exp(x), lambda: x * 5.0]),
    )
    return _slopes(tf, lambda x: f(tf.constant(which), x), tf.constant(1.5))


@cases(0, 1, 3)
def a_loop(tf, np, count):
    v = tf.Variable(2.0)
    f = _function(
        tf,
        lambda x: tf.while_loop(lambda i, y: i < count, lambda i, y: (i + 1, tf.sin(y) * v * x), [0, x])[1],
    )
    return Close(_slopes(tf, f, tf.constant(3.0), [v]), 1e-5)


def second_derivatives_of_a_loop(tf, np):
    v, x = tf.Variable(0.5), tf.constant(3.0)
    f = _function(tf, lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y * v), [0, x])[1])
    return Close(_slopes(tf, lambda x: _slopes(tf, f, x, [v])[1][0], x, [v]), 1e-5)


def loops_in_loops(tf, np):
    def f(x):
        def inner(j, y):
            return j + 1, y * tf.cos(x)

        def outer(i, y):
            return i + 1, tf.while_loop(lambda j, y: j < i, inner, [0, y])[1] + x

        return tf.while_loop(lambda i, y: i < 3, outer, [0, x])[1]

    return Close(_slopes(tf, _function(tf, f), tf.constant(0.7)), 1e-5)


def a_conditional_in_a_loop(tf, np):
    def f(x):
        def step(i, y):
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: y + tf.square(x))

        return tf.while_loop(lambda i, y: i < 4, step, [0, x])[1]

    return Close(_slopes(tf, _function(tf, f), tf.constant(1.3)), 1e-5)


def arrays_in_loops(tf, np):
    v = tf.Variable(2.0)

    def f(x):
        array = tf.TensorArray(tf.float32, 3)
        _, array = tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32) * v)), [0, array]
        )
        return tf.reduce_sum(tf.square(array.stack()))

    return _slopes(tf, _function(tf, f), tf.constant(3.0), [v])


def variables_that_branches_change(tf, np):
    v = tf.Variable(1.0)

    def f(x):
        tf.cond(x > 0.0, lambda: v.assign_add(x).op, lambda: v.assign(0.0).op)
        return v.read_value()

    g = _function(tf, f)
    return [g(tf.constant(n)) for n in (2.0, 3.0, -1.0, 5.0)], v


def variables_that_loops_change(tf, np):
    v = tf.Variable(1.0)

    def f(n):
        def step(i):
            with tf.control_dependencies([v.assign(v * 2.0)]):
                return i + 1

        tf.while_loop(lambda i: i < n, step, [0])
        return v.read_value()

    g = _function(tf, f)
    return g(tf.constant(3)), g(tf.constant(0)), v


def structures_of_branches(tf, np):
    f = _function(
        tf,
        lambda x: tf.cond(
            x > 0.0,
            lambda: {"a": x, "b": (tf.constant([1, 2]), tf.SparseTensor([[0]], [1.0], [2]))},
            lambda: {"a": -x, "b": (tf.constant([3]), tf.SparseTensor([[1]], [2.0], [2]))},
        ),
    )
    result = f(tf.constant(-2.0))
    return result["a"], result["b"][0], result["b"][1].values, result["b"][1].indices


def what_a_loop_returns(tf, np):
    f = _function(
        tf,
        lambda n: (
            tf.while_loop(lambda i, j: i < n, lambda i, j: (i + 1, j + i), [0, 0]),
            tf.while_loop(lambda i: i < n, lambda i: i + 2, [0]),
            tf.while_loop(lambda i: i < n, lambda i: [i + 2], [0], return_same_structure=True),
            tf.while_loop(lambda i: True, lambda i: i + 1, [0], maximum_iterations=4),
            tf.while_loop(lambda p, j: p["i"] < n, lambda p, j: ({"i": p["i"] + 1}, j), [{"i": 0}, 1]),
        ),
    )
    return f(tf.constant(3))


def shapes_that_change(tf, np):
    def f(x, **options):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y], 0)), [0, x], **options
        )[1]

    open_shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    wide = _function(tf, lambda x: f(x, shape_invariants=open_shapes))
    x = tf.constant([1.0, 2.0])
    return wide(x), raises(_function(tf, f), x), _slopes(tf, lambda x: tf.reduce_sum(wide(x) ** 2), x)[1]


@cases(
    {
        "types": lambda tf, x: tf.cond(x > 0.0, lambda: x, lambda: 1),
        "other structure": lambda tf, x: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [0]),
    }
)
def refusals(tf, np, build):
    return raises(_function(tf, lambda x: build(tf, x)), tf.constant(1.0))


def map_and_scan(tf, np):
    def f(x):
        return tf.reduce_sum(tf.map_fn(lambda r: r * r, x)), tf.scan(lambda a, b: a * b, x)

    g = _function(tf, f)
    x = tf.constant([1.0, 2.0, 3.0])
    return g(x), _slopes(tf, lambda x: g(x)[0], x)[1], Close(_slopes(tf, lambda x: g(x)[1], x)[1], 1e-5)


def recurrent_layers(tf, np):
    cell = tf.nn.rnn_cell.BasicRNNCell(3, dtype=tf.float32)
    cell.build([None, 2])
    for v, number in zip(cell.variables, (0.1, 0.0)):
        v.assign(np.full(v.shape.as_list(), number, np.float32))
    f = _function(tf, lambda x: tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0])
    x = tf.constant(np.arange(12.0).reshape(2, 3, 2).astype(np.float32) / 12.0)
    return Close(_slopes(tf, f, x, cell.trainable_variables), 1e-5)
