"""SyncReplicasOptimizer: its graph, and what its steps do when nobody has to wait."""

import threading

from kit import Close, cases, graph, names, product, raises

_OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.1),
    "adam": lambda t: t.AdamOptimizer(0.1),
}


def _model(tf, np, kind, resource=False):
    """A loss of two variables, one of them looked up by row, and of one that it does not depend on."""
    with tf.variable_scope("model", use_resource=resource):
        table = tf.get_variable("table", initializer=np.ones([5, 2], np.float32))
        scale = tf.get_variable("scale", initializer=np.float32(2))
        tf.get_variable("apart", initializer=np.float32(3))
    rows = tf.placeholder(tf.int32, [None], name="rows")
    looked_up = tf.nn.embedding_lookup(table, rows) if kind == "sparse" else table * 1.5
    return rows, tf.reduce_sum(looked_up) * scale


def _sync(tf, key="sgd", need=2, total=None, **more):
    return tf.train.SyncReplicasOptimizer(
        _OPTIMIZERS[key](tf.train), replicas_to_aggregate=need, total_num_replicas=total, **more
    )


@cases(*product(["dense", "sparse"], [False, True], _OPTIMIZERS))
def the_graph(tf, np, kind, resource, key):
    step = tf.train.get_or_create_global_step()
    _, loss = _model(tf, np, kind, resource)
    optimizer = _sync(tf, key, 2, 3)
    train = optimizer.minimize(loss, global_step=step)
    tokens = [
        optimizer.get_init_tokens_op(),
        optimizer.get_init_tokens_op(5),
        optimizer.get_init_tokens_op(0),
    ]
    runner = optimizer.get_chief_queue_runner()
    return [
        train,
        [op.name for op in tokens],
        runner.name,
        [op.name for op in runner.enqueue_ops],
        optimizer.chief_init_op.name,
        optimizer.local_step_init_op,
        optimizer.ready_for_local_init_op,
        [v.name for v in tf.local_variables()],
        [v.name for v in optimizer.variables()],
        optimizer.get_slot_names(),
        graph(tf),
    ]


def placed_by_variables(tf, np):
    """State on parameter servers: accumulators and the token queue go there too, the local step does not."""

    def place(op):
        kinds = ("Variable", "VariableV2", "VarHandleOp")
        return "/job:ps/task:1" if op.type in kinds else "/job:worker/task:2"

    with tf.device(place):
        step = tf.train.get_or_create_global_step()
        _, loss = _model(tf, np, "sparse")
        optimizer = _sync(tf)
        optimizer.minimize(loss, global_step=step)
    optimizer.get_init_tokens_op()
    return [(op.name, op.device) for op in tf.get_default_graph().get_operations()]


def _together(session, optimizer, train, feeds):
    """One step of as many replicas as there are feeds: each in a thread, the chief in this one."""
    replicas = [threading.Thread(target=session.run, args=(train, feed)) for feed in feeds]
    for replica in replicas:
        replica.start()
    session.run(optimizer.get_chief_queue_runner().enqueue_ops)
    for replica in replicas:
        replica.join()


def averages(tf, np):
    step = tf.train.get_or_create_global_step()
    _, loss = _model(tf, np, "dense")
    average = tf.train.ExponentialMovingAverage(0.5)
    optimizer = _sync(tf, variable_averages=average, variables_to_average=tf.trainable_variables()[:1])
    train = optimizer.minimize(loss, global_step=step)
    shadow = average.average(tf.trainable_variables()[0])
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(optimizer.chief_init_op)
        for _ in range(2):
            _together(session, optimizer, train, [{}, {}])
            seen.append(session.run([step, shadow, tf.trainable_variables()]))
    return [graph(tf), Close(seen, 1e-5)]


@cases(*product(["dense", "sparse"], [False, True], _OPTIMIZERS, [(1, 1), (2, 2), (3, 1)]))
def steps(tf, np, kind, resource, key, counts):
    """Gradients of one step are averaged, the step is counted, and everyone gets a token."""
    need, total = counts
    step = tf.train.get_or_create_global_step()
    rows, loss = _model(tf, np, kind, resource)
    optimizer = _sync(tf, key, need, total)
    train = optimizer.minimize(loss, global_step=step)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        missing = session.run(optimizer.ready_for_local_init_op)
        session.run([tf.local_variables_initializer(), optimizer.chief_init_op])
        for turn in range(3):
            _together(session, optimizer, train, [{rows: [turn, turn + 1 + r % 2]} for r in range(need)])
            seen.append(session.run([step, optimizer._sync_token_queue.size()]))
            seen.append(session.run(tf.local_variables() + tf.trainable_variables()))
    return [missing, Close(seen, 1e-5, 1e-6)]


def stale_gradients(tf, np):
    """What was computed for a step that has ended is dropped."""
    step = tf.train.get_or_create_global_step()
    _, loss = _model(tf, np, "dense")
    optimizer = _sync(tf, need=1)
    train = optimizer.minimize(loss, global_step=step)
    counts = [accumulator.num_accumulated() for accumulator, _ in optimizer._accumulator_list]
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(optimizer.chief_init_op)
        session.run(optimizer.get_init_tokens_op(3))
        for _ in range(3):
            session.run(train)
            seen.append(session.run([step, counts, tf.local_variables()]))
            if seen[-1][1][0]:
                session.run(optimizer.get_chief_queue_runner().enqueue_ops)
    return seen


def refused(tf, np):
    step = tf.train.get_or_create_global_step()
    _, loss = _model(tf, np, "dense")
    optimizer = _sync(tf, need=4, total=1)
    before = [
        raises(optimizer.get_chief_queue_runner),
        raises(optimizer.get_init_tokens_op),
        raises(optimizer.make_session_run_hook(True).begin),
        raises(optimizer.apply_gradients, []),
        raises(optimizer.apply_gradients, [], step),
        raises(optimizer.minimize, loss),
        raises(optimizer.apply_gradients, [("text", tf.trainable_variables()[0])], step),
    ]
    again = _sync(tf, need=4, total=1)
    again.minimize(loss, global_step=step)
    return before + [raises(again.get_init_tokens_op, 2), raises(again.get_init_tokens_op, 3)]


@cases(True, False)
def the_hook(tf, np, chief):
    step = tf.train.get_or_create_global_step()
    _, loss = _model(tf, np, "dense")
    optimizer = _sync(tf, need=1)
    train = optimizer.minimize(loss, global_step=step)
    hook = optimizer.make_session_run_hook(chief, num_tokens=0)
    hook.begin()
    # Tideflow's hook has a farewell besides: TensorFlow's replicas wait for ever for one that has left.
    before = [(name, kind) for name, kind in names(tf) if not name.startswith("farewell/")]
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        not_ready = raises(hook.after_create_session, session, coordinator)
        session.run(tf.global_variables_initializer())
        hook.after_create_session(session, coordinator)
        if not chief:
            return [before, not_ready, session.run(tf.local_variables())]
        for _ in range(3):
            session.run(train)
        found = session.run([step, tf.local_variables(), tf.trainable_variables()])
        coordinator.request_stop()
        session.run(optimizer.get_chief_queue_runner().cancel_op)
    return [before, not_ready, Close(found, 1e-5)]
