"""tf.contrib.optimizer_v2: some steps of each optimizer, its graph, its state, and a kind of one's own."""

from importlib import import_module

from kit import Close, cases, graph, names, normal, product, raises

_OPTIMIZERS = {
    "descent": lambda o: o.GradientDescentOptimizer(0.1),
    "called": lambda o: o.GradientDescentOptimizer(lambda: 0.1, name="Mine"),
    "momentum": lambda o: o.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda o: o.MomentumOptimizer(0.1, lambda: 0.9, use_nesterov=True),
    "adagrad": lambda o: o.AdagradOptimizer(0.1),
    "adadelta": lambda o: o.AdadeltaOptimizer(0.5),
    "rmsprop": lambda o: o.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda o: o.RMSPropOptimizer(0.1, centered=True),
    "adam": lambda o: o.AdamOptimizer(0.1),
    "called adam": lambda o: o.AdamOptimizer(lambda: 0.1, beta1=lambda: 0.8),
}


def _part(tf):
    """TensorFlow has these names only for who imports the module."""
    path = (
        "contrib.optimizer_v2.optimizer_v2_symbols" if tf.__name__ == "tensorflow" else "contrib.optimizer_v2"
    )
    return import_module(tf.__name__ + "." + path)


def _variables(tf, np, resource):
    v = tf.get_variable("v", initializer=normal(np, 3, 2).astype("float32"), use_resource=resource)
    u = tf.get_variable("u", initializer=normal(np, 4).astype("float32"), use_resource=resource)
    return v, u


def _steps(tf, train, count=4):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(count):
            for op in train if isinstance(train, list) else [train]:
                session.run(op)
        return session.run(tf.global_variables())


@cases(*product(sorted(_OPTIMIZERS), [False, True]))
def dense(tf, np, which, resource):
    v, u = _variables(tf, np, resource)
    optimizer = _OPTIMIZERS[which](_part(tf))
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.square(v - 0.3)) + tf.reduce_sum(tf.sin(u))
    train = optimizer.minimize(loss, global_step=step)
    return [
        train.name,
        optimizer.get_slot_names(),
        [each.name for each in optimizer.variables()],
        [(x.name, x.shape) for x in tf.global_variables()],
        sorted(name for name, _ in names(tf) if "gradients" not in name),
        [each.name for each in tf.get_collection(tf.GraphKeys.TRAIN_OP)],
        Close(_steps(tf, train), 2e-4, 2e-4),
    ]


@cases(*product(sorted(_OPTIMIZERS), [False, True]))
def sparse(tf, np, which, resource):
    v, _ = _variables(tf, np, resource)
    loss = tf.reduce_sum(tf.square(tf.gather(v, [2, 0, 2])))
    optimizer = _OPTIMIZERS[which](_part(tf))
    train = optimizer.minimize(loss, name="train")
    return [
        train.name,
        [(x.name, x.shape) for x in tf.global_variables()],
        Close(_steps(tf, train), 2e-4, 2e-4),
    ]


@cases("descent", "adam", "momentum", "adagrad")
def nodes(tf, np, which):
    v, u = _variables(tf, np, True)
    optimizer = _OPTIMIZERS[which](_part(tf))
    optimizer.apply_gradients([(tf.ones([3, 2]), v), (tf.ones([4]), u)])
    return graph(tf, ["dtype", "shape", "T"])


def twice(tf, np):
    v, u = _variables(tf, np, True)
    optimizer = _part(tf).AdamOptimizer(0.1)
    first = optimizer.minimize(tf.reduce_sum(v * v))
    second = optimizer.minimize(tf.reduce_sum(u * u), var_list=[u])
    return [
        [each.name for each in optimizer.variables()],
        [first.name, second.name, optimizer.get_slot(v, "m").name, optimizer.get_slot(v, "x")],
        sorted(name for name, _ in names(tf) if "gradients" not in name),
        Close(_steps(tf, [first, second]), 2e-4, 2e-4),
    ]


def options(tf, np):
    part = _part(tf)
    v, u = _variables(tf, np, True)
    kept = tf.square(v)
    loss = tf.reduce_sum(kept * v)
    optimizer = part.GradientDescentOptimizer(0.1)
    stopped = optimizer.compute_gradients(loss, [v], stop_gradients=[kept])
    scaled = optimizer.compute_gradients(
        loss, [v], scale_loss_by_num_replicas=True, grad_loss=tf.constant(2.0)
    )
    called = optimizer.compute_gradients(lambda: tf.reduce_sum(u * u))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([[grad for grad, _ in each] for each in (stopped, scaled, called)])
    return [
        Close(values, 1e-5),
        [variable.name for _, variable in called],
        raises(optimizer.compute_gradients, loss, gate_gradients=7),
        raises(optimizer.compute_gradients, loss, var_list=[]),
        raises(optimizer.minimize, tf.constant(1.0), var_list=[v]),
        raises(optimizer.apply_gradients, []),
        raises(optimizer.apply_gradients, [(None, v)]),
        raises(optimizer.apply_gradients, [(object(), v)]),
        raises(part.GradientDescentOptimizer, 0.1, name=""),
        raises(part.AdagradOptimizer, 0.1, -1.0),
    ]


def own(tf, np):
    part = _part(tf)

    class Signs(part.OptimizerV2):
        def __init__(self, rate):
            super(Signs, self).__init__(False, "Signs")
            self._set_hyper("rate", rate)

        def _create_vars(self, var_list, state):
            state.create_non_slot(3.0, "total")
            for var in var_list:
                state.create_slot(var, tf.ones([2]), "ones", "Other")
                state.zeros_slot(var, "count")

        def _prepare(self, state):
            self._doubled = 2 * state.get_hyper("rate")

        def _resource_apply_dense(self, grad, var, state):
            count = state.get_slot(var, "count").assign_add(tf.ones([2]), read_value=False)
            with tf.control_dependencies([count]):
                return var.assign_sub(
                    tf.sign(grad) * self._doubled * state.get_slot(var, "ones"), read_value=False
                )

        def _finish(self, state):
            return state.get_non_slot("total").assign_add(1.0)

    class Wrong(Signs):
        def _create_slots(self, var_list):
            pass

    v = tf.get_variable("v", initializer=np.float32([3.0, -2.0]), use_resource=True)
    plain = tf.get_variable("w", initializer=np.float32([3.0, -2.0]), use_resource=False)
    optimizer = Signs(lambda: 0.25)
    train = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
    return [
        _steps(tf, train),
        optimizer.get_slot_names(),
        [each.name for each in optimizer.variables()],
        raises(Wrong, 0.1),
        raises(optimizer.minimize, tf.reduce_sum(plain * plain), var_list=[plain]),
    ]


def constrained(tf, np):
    v = tf.get_variable("v", initializer=np.float32([3.0, -2.0]), constraint=tf.nn.relu, use_resource=True)
    train = _part(tf).GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v))
    sparse = raises(_part(tf).AdamOptimizer(0.1).minimize, tf.reduce_sum(tf.gather(v, [0])))
    return _steps(tf, train), sparse
