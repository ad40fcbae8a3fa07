"""tf.contrib.layers.rev_block and recompute_grad: values and gradients of what is computed again."""

from kit import Close, cases, product, raises


def _load(tf, np, session):
    for i, v in enumerate(tf.global_variables()):
        count = int(np.prod(v.shape.as_list()))
        v.load(np.sin(np.arange(count) * 0.7 + i).reshape(v.shape.as_list()) * 0.5, session)


def _found(tf, np, results, sources):
    loss = tf.add_n([tf.reduce_sum(tf.square(r)) for r in results])
    slopes = tf.gradients(loss, sources + tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        values = session.run([list(results), [s for s in slopes if s is not None]])
    missing = [s is None for s in slopes]
    return [Close(values, 1e-4, 1e-4), missing, [v.name for v in tf.global_variables()]]


def _inputs(tf, np):
    return [tf.constant(np.cos(np.arange(12) + i).reshape(3, 4), tf.float32) for i in range(2)]


@cases(*product([1, 3], [True, False]))
def blocks(tf, np, layers, is_training):
    x1, x2 = _inputs(tf, np)

    def f(x):
        return tf.layers.dense(x, 4, tf.nn.tanh)

    def g(x):
        return tf.layers.dense(tf.layers.dense(x, 3, tf.nn.relu), 4)

    results = tf.contrib.layers.rev_block(x1, x2, f, g, num_layers=layers, is_training=is_training)
    return _found(tf, np, results, [x1, x2])


def with_side_inputs(tf, np):
    x1, x2 = _inputs(tf, np)
    side = tf.constant(np.sin(np.arange(12)).reshape(3, 4), tf.float32)
    other = tf.constant([[1.0, 2.0, 3.0, 4.0]])

    def f(x, sides):
        return tf.layers.dense(x, 4, use_bias=False) * sides[0]

    def g(x, sides):
        return x * sides[0] + sides[1]

    results = tf.contrib.layers.rev_block(
        x1, x2, f, g, num_layers=2, f_side_input=[side], g_side_input=[other, tf.square(other)]
    )
    return _found(tf, np, results, [x1, x2, side, other])


def there_and_back(tf, np):
    x1, x2 = _inputs(tf, np)
    functions = [lambda x: tf.layers.dense(x, 4), lambda x: tf.nn.relu(x)]
    block = tf.contrib.layers.RevBlock(functions, functions[::-1], num_layers=2)
    results = block.forward(x1, x2)
    back = block.backward(*results)
    bad = raises(tf.contrib.layers.RevBlock, functions, functions, num_layers=3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _load(tf, np, session)
        values = session.run([list(results), list(back)])
    names = [[v.name for v in block.trainable_weights], [v.name for v in tf.global_variables()]]
    return [Close(values, 1e-4, 1e-5), names, bad]


@cases("plain", "tupled", "told")
def recomputed(tf, np, kind):
    x1, x2 = _inputs(tf, np)
    calls = []

    def fn(a, b, is_recomputing=None):
        calls.append(is_recomputing if kind == "told" else None)
        hidden = tf.layers.dense(a, 5, tf.nn.tanh)
        return tf.layers.dense(hidden, 4) * b, tf.reduce_sum(b)

    def untold(a, b):
        return fn(a, b)

    wrap = tf.contrib.layers.recompute_grad
    wrapped = (
        wrap(tupleize_grads=True)(untold) if kind == "tupled" else wrap(fn if kind == "told" else untold)
    )
    with tf.variable_scope("scope", use_resource=True):
        results = wrapped(x1, x2)
    return [_found(tf, np, results, [x1, x2]), calls]


def without_variables(tf, np):
    x1, x2 = _inputs(tf, np)
    y = tf.contrib.layers.recompute_grad(lambda x: tf.square(tf.sin(x)))(x1)
    return _found(tf, np, [y, y * x2], [x1, x2])


def refused(tf, np):
    x1, x2 = _inputs(tf, np)
    recompute = tf.contrib.layers.recompute_grad

    def closed(x):
        return x * x2

    def scoped(x):
        with tf.variable_scope(None, default_name="mine"):
            return tf.layers.dense(x, 4, name="d")

    with tf.variable_scope("outer", use_resource=True):
        wrapped = recompute(scoped)
        y = wrapped(wrapped(x1))
    return [
        raises(recompute, closed),
        raises(recompute(lambda x: x), 3.0),
        raises(tf.gradients, y, [x1]),
    ]
