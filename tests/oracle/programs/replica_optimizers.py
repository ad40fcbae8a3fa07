"""contrib.opt's optimizers for replicas that meet now and then: graphs, devices, and steps of one or two."""

from kit import Close, cases, graph, product, raises

_WORKER = "/job:worker/task:1"


def _place(op):
    return "/job:ps" if op.type in ("VariableV2", "VarHandleOp") else _WORKER


def _loss(tf, np):
    table = tf.get_variable("table", initializer=np.ones([3, 2], np.float32))
    scale = tf.get_variable("scale", initializer=np.float32(2))
    for key in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES):
        tf.get_variable("fixed_" + key, initializer=np.float32(1), trainable=False, collections=[key])
    return tf.reduce_sum((table * scale - 1.0) ** 2)


def _elastic(tf, np, key, device, **options):
    getter = tf.contrib.opt.ElasticAverageCustomGetter(device)
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        loss = _loss(tf, np)
    inner = tf.train.AdamOptimizer(0.1) if key == "adam" else tf.train.GradientDescentOptimizer(0.1)
    options.setdefault("rho", 0.5)
    optimizer = tf.contrib.opt.ElasticAverageOptimizer(
        inner, num_worker=1, ea_custom_getter=getter, communication_period=2, **options
    )
    return step, optimizer, optimizer.minimize(loss, global_step=step)


@cases("sgd", "adam")
def elastic_graph(tf, np, key):
    with tf.device(_place):
        _, optimizer, _ = _elastic(tf, np, key, _WORKER)
        optimizer.get_init_op(0)
    return [
        graph(tf),
        [v.name for v in tf.global_variables()],
        [v.name for v in tf.local_variables()],
        [v.name for v in tf.trainable_variables()],
    ]


@cases(*product(["sgd", "adam"], [0.0, 0.5, None], [None, 0.3]))
def elastic_steps(tf, np, key, rho, rate):
    if key == "adam" and rho is None:
        return "Adam's rate has another name: no default"
    step, optimizer, train = _elastic(tf, np, key, "", rho=rho, moving_rate=rate)
    begin, seen = optimizer.get_init_op(0), []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(begin)
        for _ in range(5):
            session.run(train)
            seen.append(session.run([step] + tf.local_variables() + tf.global_variables()))
    return Close(seen, 1e-4, 1e-5)


def elastic_partitions(tf, np):
    getter = tf.contrib.opt.ElasticAverageCustomGetter("")
    with tf.variable_scope("", custom_getter=getter, partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("parts", [4, 2])
    pairs = [
        (v.name, getter._local_map[v].name, getter._global_map[v].name) for v in tf.trainable_variables()
    ]
    return [pairs, [v.name for v in tf.global_variables()]]


def elastic_saver(tf, np):
    _, optimizer, _ = _elastic(tf, np, "sgd", "")
    optimizer.swapping_saver()
    found = {v.op.name: v.op.name for v in tf.global_variables()}
    return [sorted(found), [op.type for op in tf.get_default_graph().get_operations() if "swap" in op.name]]


def _average(tf, np, device, chief=True, workers=1, interval=2):
    getter = tf.contrib.opt.ModelAverageCustomGetter(device)
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("", custom_getter=getter):
        loss = _loss(tf, np)
    optimizer = tf.contrib.opt.ModelAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), workers, chief, getter, interval_steps=interval
    )
    return step, optimizer, optimizer.minimize(loss, global_step=step)


@cases(True, False)
def average_graph(tf, np, chief):
    with tf.device(_place):
        _, optimizer, _ = _average(tf, np, _WORKER, chief, workers=2)
        optimizer.get_init_op()
    return [graph(tf), [v.name for v in tf.global_variables()], [v.name for v in tf.local_variables()]]


def average_steps(tf, np):
    step, optimizer, train = _average(tf, np, "", workers=1)
    begin, seen = optimizer.get_init_op(), []
    with tf.Session() as session:
        session.run([tf.local_variables_initializer()])
        session.run([tf.global_variables_initializer()])
        session.run(begin)
        for _ in range(5):
            session.run(train)
            seen.append(session.run([step] + tf.local_variables() + tf.global_variables()))
    return Close(seen, 1e-4, 1e-5)


def refused(tf, np):
    step, optimizer, _ = _average(tf, np, "")
    return [
        raises(optimizer.apply_gradients, [], step),
        raises(optimizer.apply_gradients, [(1.0, tf.trainable_variables()[0])]),
    ]
