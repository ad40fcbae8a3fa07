"""Every optimizer of tf.train: values over several steps, dense and sparse, slots, names and graphs."""

from kit import Close, cases, graph, normal, product, raises, run

_OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.1),
    "momentum": lambda t: t.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda t: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda t: t.AdagradOptimizer(0.5),
    "adagrad start": lambda t: t.AdagradOptimizer(0.5, initial_accumulator_value=1.0),
    "adadelta": lambda t: t.AdadeltaOptimizer(1.0, 0.9, 1e-4),
    "adam": lambda t: t.AdamOptimizer(0.1),
    "adam betas": lambda t: t.AdamOptimizer(0.1, 0.8, 0.95, 1e-3),
    "rmsprop": lambda t: t.RMSPropOptimizer(0.05),
    "rmsprop momentum": lambda t: t.RMSPropOptimizer(0.05, 0.8, 0.5, 1e-3),
    "rmsprop centered": lambda t: t.RMSPropOptimizer(0.05, 0.8, 0.5, 1e-3, centered=True),
    "ftrl": lambda t: t.FtrlOptimizer(0.5),
    "ftrl regularized": lambda t: t.FtrlOptimizer(0.5, -0.4, 0.2, 0.05, 0.1),
    "ftrl shrunk": lambda t: t.FtrlOptimizer(0.5, l2_shrinkage_regularization_strength=0.1),
    "proximal sgd": lambda t: t.ProximalGradientDescentOptimizer(0.1),
    "proximal sgd regularized": lambda t: t.ProximalGradientDescentOptimizer(0.1, 0.02, 0.05),
    "proximal adagrad": lambda t: t.ProximalAdagradOptimizer(0.5),
    "proximal adagrad regularized": lambda t: t.ProximalAdagradOptimizer(0.5, 0.2, 0.02, 0.05),
}
_LOOSE = 1e-4, 1e-5


def _target(np, dtype):
    return normal(np, 4, 3).astype(dtype)


def _steps(tf, train, fetches, count=4):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(count):
            session.run(train)
            seen.append(session.run(fetches))
        return seen


# The proximal ones take float32 alone: their rates are made before the variables are seen.
_DOUBLE = [key for key in _OPTIMIZERS if "proximal" not in key]


@cases(
    *product(_OPTIMIZERS, ["reference", "resource"], ["float32"]),
    *product(_DOUBLE, ["reference", "resource"], ["float64"]),
)
def dense(tf, np, key, kind, dtype):
    v = tf.Variable(
        np.linspace(-1, 1, 12).reshape(4, 3).astype(dtype), name="v", use_resource=kind == "resource"
    )
    loss = tf.reduce_sum((v - _target(np, dtype)) ** 2)
    train = _OPTIMIZERS[key](tf.train).minimize(loss)
    return Close(_steps(tf, train, tf.global_variables()), *_LOOSE)


@cases(*product(_OPTIMIZERS, ["reference", "resource"], ["once", "repeated"]))
def sparse(tf, np, key, kind, indices):
    v = tf.Variable(
        np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32), name="v", use_resource=kind == "resource"
    )
    picked = tf.gather(v, [2, 0] if indices == "once" else [2, 0, 2])
    loss = tf.reduce_sum((picked - 0.5) ** 2)
    train = _OPTIMIZERS[key](tf.train).minimize(loss)
    return Close(_steps(tf, train, tf.global_variables()), *_LOOSE)


@cases(*product(_OPTIMIZERS, ["reference", "resource"]))
def scalar_and_vector(tf, np, key, kind):
    a = tf.Variable(2.0, name="a", use_resource=kind == "resource")
    b = tf.Variable([1.0, -1.0], name="b", use_resource=kind == "resource")
    loss = a * a + tf.reduce_sum(b * b * a)
    return Close(_steps(tf, _OPTIMIZERS[key](tf.train).minimize(loss), [a, b], 3), *_LOOSE)


@cases(*product(_OPTIMIZERS, ["reference", "resource"]))
def graphs(tf, np, key, kind):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=kind == "resource")
    with tf.variable_scope("s"):
        w = tf.get_variable("w", initializer=[3.0], use_resource=kind == "resource")
    loss = tf.reduce_sum(v * w, name="loss")
    train = _OPTIMIZERS[key](tf.train).minimize(loss)
    return [train, graph(tf)]


@cases(*product(_OPTIMIZERS, ["reference", "resource"]))
def sparse_graphs(tf, np, key, kind):
    v = tf.Variable(np.zeros([4, 2], np.float32), name="v", use_resource=kind == "resource")
    loss = tf.reduce_sum(tf.gather(v, [1, 0], name="picked"), name="loss")
    train = _OPTIMIZERS[key](tf.train).minimize(loss, name="train")
    return [train, graph(tf)]


@cases(*_OPTIMIZERS)
def slots(tf, np, key):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable([[3.0]], name="w", use_resource=True)
    optimizer = _OPTIMIZERS[key](tf.train)
    train = optimizer.minimize(tf.reduce_sum(v) * tf.reduce_sum(w))
    found = {n: [optimizer.get_slot(x, n) for x in (v, w)] for n in optimizer.get_slot_names()}
    return [
        optimizer.get_slot_names(),
        found,
        [x.name for x in optimizer.variables()],
        optimizer.get_name(),
        train.name,
    ]


@cases(*product(["reference", "resource"]))
def adagrad_da(tf, np, kind):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=kind == "resource")
    step = tf.Variable(0, dtype=tf.int64, trainable=False, name="step")
    optimizer = tf.train.AdagradDAOptimizer(
        0.5, step, l1_regularization_strength=0.01, l2_regularization_strength=0.02
    )
    train = optimizer.minimize(tf.reduce_sum(v * v), global_step=step)
    return [Close(_steps(tf, train, tf.global_variables()), *_LOOSE), graph(tf)]


def adagrad_da_sparse(tf, np):
    v = tf.Variable(np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32), name="v")
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum((tf.gather(v, [2, 0]) - 0.5) ** 2)
    train = tf.train.AdagradDAOptimizer(0.5, step).minimize(loss, global_step=step)
    return Close(_steps(tf, train, tf.global_variables()), *_LOOSE)


@cases("tensor", "callable", "placeholder")
def learning_rates(tf, np, kind):
    v = tf.Variable([1.0, 2.0], name="v")
    rate = {
        "tensor": tf.constant(0.25),
        "callable": lambda: 0.25,
        "placeholder": tf.placeholder_with_default(0.25, []),
    }[kind]
    train = tf.train.GradientDescentOptimizer(rate).minimize(tf.reduce_sum(v * v))
    adam = tf.train.AdamOptimizer(rate).minimize(tf.reduce_sum(v * v))
    return [_steps(tf, train, v, 2), _steps(tf, adam, v, 2)]


def global_step_is_incremented(tf, np):
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v), global_step=step)
    return [_steps(tf, train, step, 3), train, graph(tf)]


def compute_then_apply(tf, np):
    v, w, u = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w"), tf.Variable(5.0, name="u")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(tf.reduce_sum(v * w), [v, w, u])
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), x) for g, x in pairs if g is not None]
    train = optimizer.apply_gradients(clipped, name="apply")
    return [
        [None if g is None else g.shape for g, _ in pairs],
        [x.name for _, x in pairs],
        train,
        _steps(tf, train, [v, w, u], 2),
    ]


def compute_gradients_options(tf, np):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    ((g, _),) = optimizer.compute_gradients(tf.reduce_sum(v * v), grad_loss=tf.constant(10.0))
    seen = run(tf, g)
    gated = [
        optimizer.compute_gradients(tf.reduce_sum(v * v), gate_gradients=k)[0][0].name for k in (0, 1, 2)
    ]
    return [seen, gated, optimizer.GATE_NONE, optimizer.GATE_OP, optimizer.GATE_GRAPH]


def minimize_chosen_variables(tf, np):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(v * w, var_list=[w])
    return _steps(tf, train, [v, w], 2)


def loss_may_be_a_function(tf, np):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(lambda: tf.reduce_sum(v * v))
    return _steps(tf, train, v, 2)


def optimizer_mistakes(tf, np):
    v = tf.Variable(1.0, name="v")
    i = tf.Variable(1, name="i")
    sgd = tf.train.GradientDescentOptimizer(0.1)
    return {
        "no gradients": raises(sgd.minimize, tf.constant(1.0), var_list=[v]),
        "empty apply": raises(sgd.apply_gradients, []),
        "none apply": raises(sgd.apply_gradients, [(None, v)]),
        "not a variable": raises(sgd.minimize, v * 1.0, var_list=[tf.constant(1.0)]),
        "no variables": raises(sgd.minimize, v * 1.0, var_list=[]),
        "text for a gradient": raises(sgd.apply_gradients, [("text", v)]),
        "integer loss": raises(sgd.minimize, i * 2),
        "name": raises(tf.train.Optimizer, False, None),
        "ftrl power": raises(tf.train.FtrlOptimizer, 0.1, 0.5),
        "gate": raises(sgd.compute_gradients, v * 1.0, gate_gradients=7),
    }


def two_optimizers_share_nothing(tf, np):
    v = tf.Variable([1.0], name="v")
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(v))
    tf.train.AdamOptimizer().minimize(tf.reduce_sum(v))
    tf.train.MomentumOptimizer(0.1, 0.9, name="Mine").minimize(tf.reduce_sum(v))
    return [x.name for x in tf.global_variables()]


def slots_of_scoped_variables(tf, np):
    with tf.variable_scope("model"):
        w = tf.get_variable("w", initializer=[1.0])
    with tf.variable_scope("train"):
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(w))
    with tf.name_scope("other"):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w))
    return [x.name for x in tf.global_variables()]


def constraints_are_applied_after_the_step(tf, np):
    v = tf.Variable([0.5, -0.5], constraint=lambda x: tf.clip_by_value(x, 0.0, 0.4), use_resource=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v))
    return _steps(tf, train, v, 2)


def gradients_of_partitioned_variables(tf, np):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [4, 2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.nn.embedding_lookup(w, [0, 3, 3], partition_strategy="div") ** 2) + tf.reduce_sum(
        tf.convert_to_tensor(w)
    )
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    return [_steps(tf, train, [tf.convert_to_tensor(w)], 2), [x.name for x in tf.global_variables()]]


@cases("mlp", "conv")
def whole_models(tf, np, key):
    rng = np.random.RandomState(5)
    if key == "mlp":
        x, y = rng.normal(size=(20, 6)).astype(np.float32), rng.randint(0, 3, 20)
        h = tf.constant(x)
    else:
        x, y = rng.normal(size=(8, 6, 6, 2)).astype(np.float32), rng.randint(0, 3, 8)
        w = tf.Variable(rng.normal(0, 0.3, size=(3, 3, 2, 4)).astype(np.float32))
        h = tf.nn.relu(tf.nn.conv2d(tf.constant(x), w, [1, 1, 1, 1], "SAME"))
        h = tf.reshape(tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [8, 36])
    size = int(h.shape[1])
    w1 = tf.Variable(rng.normal(0, 0.3, size=(size, 8)).astype(np.float32))
    w2 = tf.Variable(rng.normal(0, 0.3, size=(8, 3)).astype(np.float32))
    logits = tf.matmul(tf.nn.tanh(tf.matmul(h, w1) + tf.Variable(np.zeros(8, np.float32))), w2)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    return Close(_steps(tf, train, [loss] + tf.trainable_variables(), 20), 2e-3, 2e-4)
