"""tf.contrib.opt: some steps of each optimizer, on reference and resource variables, dense and sparse."""

from kit import Close, cases, names, normal, product, raises, run

_OPTIMIZERS = {
    "adam gs": lambda o, tf: o.AdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1),
    "lazy adam gs": lambda o, tf: o.LazyAdamGSOptimizer(tf.train.get_or_create_global_step(), 0.1),
    "lazy adam": lambda o, tf: o.LazyAdamOptimizer(0.1, beta1=lambda: 0.8),
    "nadam": lambda o, tf: o.NadamOptimizer(0.1),
    "adamax": lambda o, tf: o.AdaMaxOptimizer(0.1),
    "add sign": lambda o, tf: o.AddSignOptimizer(0.1),
    "power sign": lambda o, tf: o.PowerSignOptimizer(0.1, base=2.0, beta=0.5),
    "lars": lambda o, tf: o.LARSOptimizer(0.5, momentum=0.5, weight_decay=0.01),
    "lars skipping": lambda o, tf: o.LARSOptimizer(0.1, skip_list=["u"], use_nesterov=True, eeta=0.1),
    "reg adagrad": lambda o, tf: o.RegAdagradOptimizer(0.3),
    "adamw": lambda o, tf: o.AdamWOptimizer(0.01, 0.1),
    "momentumw": lambda o, tf: o.MomentumWOptimizer(0.01, 0.1, 0.9),
    "averaged": lambda o, tf: o.MovingAverageOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 0.5),
    "ggt": lambda o, tf: o.GGTOptimizer(0.1, window=3),
    "shampoo": lambda o, tf: o.ShampooOptimizer(learning_rate=0.3),
    "shampoo mean": lambda o, tf: o.ShampooOptimizer(
        gbar_decay=0.5, gbar_weight=0.5, mat_gbar_decay=0.9, mat_gbar_weight=0.1, learning_rate=0.3
    ),
    "shampoo diagonal": lambda o, tf: o.ShampooOptimizer(max_matrix_size=2, learning_rate=0.3),
    "shampoo intervals": lambda o, tf: o.ShampooOptimizer(
        tf.train.get_or_create_global_step(), svd_interval=2, precond_update_interval=2, learning_rate=0.3
    ),
    "shampoo iterative": lambda o, tf: o.ShampooOptimizer(use_iterative_root=True, learning_rate=0.3),
}
_OTHER_NODES = ("ggt", "shampoo", "lars", "adamw", "momentumw")


def _variables(tf, np, resource):
    v = tf.get_variable("v", initializer=normal(np, 3, 2).astype("float32"), use_resource=resource)
    u = tf.get_variable("u", initializer=normal(np, 4).astype("float32"), use_resource=resource)
    return v, u


def _steps(tf, train, count=4):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(count):
            session.run(train)
        return session.run(tf.global_variables())


@cases(*product(sorted(_OPTIMIZERS), [False, True]))
def dense(tf, np, which, resource):
    v, u = _variables(tf, np, resource)
    optimizer = _OPTIMIZERS[which](tf.contrib.opt, tf)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.square(v - 0.3)) + tf.reduce_sum(tf.sin(u))
    train = optimizer.minimize(loss, global_step=step)
    found = [train.name, [] if which == "averaged" else sorted(optimizer.get_slot_names())]
    if not which.startswith(_OTHER_NODES):
        found.append(sorted(n for n, _ in names(tf) if "gradients" not in n))
    made = [found, [(x.name, x.shape) for x in tf.global_variables()]]
    if which in ("adamw", "momentumw") and not resource:
        return made  # TensorFlow's gradient may read the variable before it shrinks, or after
    loose = 2e-2 if which.startswith(("shampoo", "ggt")) else 2e-4
    return made + [Close(_steps(tf, train), loose, loose)]


_SPARSE = ["adam gs", "lazy adam gs", "lazy adam", "nadam", "adamax", "reg adagrad", "averaged", "lars"]
_SPARSE += ["shampoo", "shampoo diagonal"]


@cases(*(product(_SPARSE, [False, True]) + [("add sign", False), ("power sign", False)]))
def sparse(tf, np, which, resource):
    v, _ = _variables(tf, np, resource)
    optimizer = _OPTIMIZERS[which](tf.contrib.opt, tf)
    loss = tf.reduce_sum(tf.square(tf.gather(v, [2, 0, 2])))
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return [[(x.name, x.shape) for x in tf.global_variables()], Close(_steps(tf, train), 2e-4, 2e-4)]


@cases("linear", "cosine", "restart")
def decays(tf, np, kind):
    from importlib import import_module

    step = tf.train.get_or_create_global_step()
    path = {"tensorflow": "tensorflow.contrib.opt.python.training.sign_decay"}
    decay = import_module(path.get(tf.__name__, "tideflow.contrib.opt.signs"))
    made = {
        "linear": lambda: [decay.get_linear_decay_fn(5)],
        "cosine": lambda: [decay.get_cosine_decay_fn(6), decay.get_cosine_decay_fn(6, 1.5, zero_after=1)],
        "restart": lambda: [decay.get_restart_decay_fn(6), decay.get_restart_decay_fn(6, 3, zero_after=2)],
    }[kind]()
    v, _ = _variables(tf, np, False)
    optimizer = tf.contrib.opt.AddSignOptimizer(0.1, sign_decay_fn=made[0])
    train = optimizer.minimize(tf.reduce_sum(tf.square(v)), global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        decayed = [fn(step) for fn in made]
        for _ in range(8):
            seen.append(session.run(decayed))
            session.run(train)
        return [seen, session.run(v), raises(made[0], None)]


@cases(False, True)
def clipped_variables(tf, np, resource):
    v, u = _variables(tf, np, resource)
    inner = tf.train.GradientDescentOptimizer(0.1)
    optimizer = tf.contrib.opt.VariableClippingOptimizer(inner, {v: [1], u: [0]}, 0.5)
    loss = tf.reduce_sum(tf.gather(v, [0, 2])) + tf.reduce_sum(u)
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    kept = sorted(n for n, _ in names(tf) if n.startswith("VariableClipping"))
    return [train.name, kept, _steps(tf, train, 2), optimizer.get_slot_names()]


@cases("momentum", "adam", "gradient descent")
def many_tasks(tf, np, which):
    v, u = _variables(tf, np, False)
    inner = {
        "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        "adam": lambda: tf.train.AdamOptimizer(0.1),
        "gradient descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    }[which]()
    optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(inner)
    zero, one = tf.zeros([3, 2]), tf.ones([4])
    first = optimizer.apply_gradients([(tf.ones([3, 2]), v), (one, u)])
    second = optimizer.apply_gradients([(zero, v), (one * 2, u)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for train in (first, second, second):
            session.run(train)
        values = session.run(tf.global_variables())
    clipped, norm = tf.contrib.opt.clip_gradients_by_global_norm([(zero, v), (one * 30, u), (None, u)], 5.0)
    return [values, run(tf, [clipped[0][0], clipped[1][0], norm]), clipped[2][0] is None]


def many_tasks_refuse(tf, np):
    return raises(tf.contrib.opt.MultitaskOptimizerWrapper, 3)


@cases(0, 5)
def stale(tf, np, allowed):
    v, _ = _variables(tf, np, False)
    step = tf.train.get_or_create_global_step()
    inner = tf.train.GradientDescentOptimizer(0.1)
    optimizer = tf.contrib.opt.DropStaleGradientOptimizer(inner, allowed)
    pairs = optimizer.compute_gradients(tf.reduce_sum(v), [v])
    with tf.control_dependencies([pairs[0][0]]):
        overtaken = tf.assign_add(step, 2)
    with tf.control_dependencies([overtaken]):
        pairs = [(tf.identity(pairs[0][0]), v)]
    train = optimizer.apply_gradients(pairs, global_step=step)
    return [_steps(tf, train, 2), [x.name for x in tf.global_variables()]]


def without_slots(tf, np):
    v, _ = _variables(tf, np, False)
    optimizer = tf.contrib.opt.RegAdagradOptimizer(0.5)
    full = optimizer.minimize(tf.reduce_sum(v * v), var_list=[v])
    with optimizer.avoid_updating_slots():
        light = optimizer.minimize(tf.reduce_sum(v), var_list=[v])
    return _steps(tf, [full], 2) + _steps(tf, [light], 2)


def agn(tf, np):
    getter = tf.contrib.opt.AGNCustomGetter("/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        w = tf.get_variable("w", initializer=3.0)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.contrib.opt.AGNOptimizer(tf.train.AdamOptimizer(0.1), 1, getter, communication_period=2)
    train = optimizer.apply_gradients([(tf.constant([0.5, 0.1]), v), (tf.constant(2.0), w)], step)
    start = optimizer.get_init_op(0)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(start)
        seen = []
        for _ in range(5):
            session.run(train)
            seen.append(session.run([v, w] + getter_values(getter) + [step]))
    kinds = [[x.name for x in tf.global_variables()], [x.name for x in tf.local_variables()]]
    return [seen, kinds]


def getter_values(getter):
    return sorted(list(getter._global_map.values()) + list(getter._grad_map.values()), key=lambda v: v.name)


getter_values.cases = {}  # not a program


def swapped(tf, np):
    import tempfile

    v, u = _variables(tf, np, False)
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
    early = raises(optimizer.swapping_saver)
    train = optimizer.minimize(tf.reduce_sum(v) + tf.reduce_sum(u))
    saver = optimizer.swapping_saver()
    part = raises(optimizer.swapping_saver, [v])
    folder = tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        path = saver.save(session, folder + "/model")
        trained = session.run(tf.global_variables())
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        return [early, part, trained, session.run(tf.global_variables())]
