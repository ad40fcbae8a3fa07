"""Arguments of training that few programs give: savers, sessions that are made, hooks, rates, optimizers."""

import os
import tempfile

from kit import Close, cases, names, normal, product, raises


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


_RATES = {
    "linear_cosine_decay": dict(decay_steps=10, num_periods=1.5, alpha=0.1, beta=0.2),
    "noisy_linear_cosine_decay": dict(
        decay_steps=10, initial_variance=0.0, variance_decay=0.5, num_periods=0.7, alpha=0.1, beta=0.2
    ),
    "cosine_decay": dict(decay_steps=10, alpha=0.1, name="c"),
    "cosine_decay_restarts": dict(first_decay_steps=3, t_mul=1.5, m_mul=0.5, alpha=0.1),
    "polynomial_decay": dict(decay_steps=4, end_learning_rate=0.1, power=2.0, cycle=True),
    "natural_exp_decay": dict(decay_steps=4, decay_rate=0.5, staircase=True),
    "inverse_time_decay": dict(decay_steps=4, decay_rate=0.5, staircase=True),
    "exponential_decay": dict(decay_steps=4, decay_rate=0.5, staircase=True),
}


@cases({name: name for name in _RATES})
def rates(tf, np, name):
    step = tf.placeholder_with_default(tf.constant(0, tf.int64), [])
    rate = getattr(tf.train, name)(learning_rate=0.5, global_step=step, **_RATES[name])
    with tf.Session() as session:
        values = [session.run(rate, {step: n}) for n in (0, 1, 4, 7, 13)]
    return values, rate.dtype, sorted(n for n in dict(names(tf)).values() if "Random" in n)


_OPTIMIZERS = {
    "AdagradDA": lambda t, s: t.AdagradDAOptimizer(
        0.3,
        s,
        initial_gradient_squared_accumulator_value=0.2,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.02,
        use_locking=True,
    ),
    "Adagrad": lambda t, s: t.AdagradOptimizer(0.3, initial_accumulator_value=0.5, use_locking=True),
    "Adadelta": lambda t, s: t.AdadeltaOptimizer(learning_rate=0.3, rho=0.8, epsilon=1e-3, use_locking=True),
    "Adam": lambda t, s: t.AdamOptimizer(0.3, beta1=0.8, beta2=0.9, epsilon=1e-2, use_locking=True),
    "Ftrl": lambda t, s: t.FtrlOptimizer(
        0.3,
        learning_rate_power=-0.6,
        initial_accumulator_value=0.2,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.02,
        accum_name="a",
        linear_name="l",
        l2_shrinkage_regularization_strength=0.03,
    ),
    "ProximalAdagrad": lambda t, s: t.ProximalAdagradOptimizer(
        learning_rate=0.3, initial_accumulator_value=0.2, l1_regularization_strength=0.05, use_locking=True
    ),
    "ProximalGradient": lambda t, s: t.ProximalGradientDescentOptimizer(
        0.3, l1_regularization_strength=0.05, l2_regularization_strength=0.1, use_locking=True
    ),
    "RMSProp": lambda t, s: t.RMSPropOptimizer(
        0.3, decay=0.8, momentum=0.5, epsilon=1e-3, use_locking=True, centered=True
    ),
    "Momentum": lambda t, s: t.MomentumOptimizer(0.3, 0.9, use_locking=True, use_nesterov=True),
}


@cases(*product(sorted(_OPTIMIZERS), ["dense", "rows", "resource"]))
def optimizers(tf, np, name, kind):
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=_one(np, 4, 2), use_resource=kind == "resource")
    loss = tf.reduce_sum((v if kind == "dense" else tf.gather(v, [1, 3, 1])) ** 2)
    optimizer = _OPTIMIZERS[name](tf.train, step)
    train = optimizer.minimize(
        loss,
        global_step=step,
        var_list=[v],
        gate_gradients=optimizer.GATE_GRAPH,
        aggregation_method=tf.AggregationMethod.ADD_N,
        colocate_gradients_with_ops=True,
        name="training",
        grad_loss=tf.constant(0.5),
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        values = session.run(tf.global_variables())
    slots = optimizer.get_slot_names()
    return [
        Close(values, 1e-4, 1e-6),
        [w.name for w in tf.global_variables()],
        slots,
        [optimizer.get_slot(v, slot).name for slot in slots],
        [w.name for w in optimizer.variables()],
        [optimizer.get_name(), train.name, train.type],
    ]


@cases("FtrlOptimizer", "AdagradOptimizer", "ProximalAdagradOptimizer", "AdagradDAOptimizer")
def optimizers_refuse(tf, np, name):
    kind = getattr(tf.train, name)
    more = (tf.train.get_or_create_global_step(),) if name == "AdagradDAOptimizer" else ()
    key = "initial_gradient_squared_accumulator_value" if more else "initial_accumulator_value"
    return [
        raises(kind, 0.1, *more, **{key: -1.0}),
        raises(tf.train.FtrlOptimizer, 0.1, learning_rate_power=1.0),
        raises(tf.train.FtrlOptimizer, 0.1, l2_shrinkage_regularization_strength=-1.0),
    ]


# ----------------------------------------------------------------------------------------------------- savers


_SAVERS = {
    "kept": dict(max_to_keep=2, keep_checkpoint_every_n_hours=1e-9),
    "all": dict(max_to_keep=None),
    "none": dict(max_to_keep=0),
    "sharded": dict(sharded=True, restore_sequentially=True),
    "old": dict(write_version=1),
    "padded": dict(pad_step_number=True, save_relative_paths=True),
    "named": dict(name="mine", filename="given"),
    "deferred": dict(defer_build=True),
    "reshaping": dict(reshape=True),
    "dictionary": dict(var_list="renamed"),
}


@cases({name: name for name in _SAVERS})
def savers(tf, np, name):
    folder = tempfile.mkdtemp()
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    w = tf.get_variable("w", initializer=3.0)
    options = dict(_SAVERS[name])
    if options.get("var_list") == "renamed":
        options["var_list"] = {"a": v, "b": w}
    saver = tf.train.Saver(**options)
    if name == "deferred":
        saver.build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = []
        for step in (1, 2, 3):
            paths.append(
                saver.save(
                    session,
                    os.path.join(folder, "m"),
                    global_step=step,
                    latest_filename="latest",
                    meta_graph_suffix="graph",
                    write_meta_graph=step > 1,
                    write_state=True,
                    strip_default_attrs=True,
                )
            )
        session.run(v.assign([5.0, 6.0]))
        if paths[-1]:
            saver.restore(session, paths[-1])
        values = session.run([v, w])
    found = sorted(f for f in os.listdir(folder))
    found = [f for f in found if ".tempstate" not in f]
    latest = tf.train.latest_checkpoint(folder, latest_filename="latest")
    state = tf.train.get_checkpoint_state(folder, "latest")
    return [
        found,
        values,
        [os.path.basename(p) if p else p for p in paths],
        os.path.basename(latest) if latest else latest,
        [os.path.basename(p) for p in state.all_model_checkpoint_paths] if state else None,
        len(saver.last_checkpoints),
        saver.saver_def.sharded,
        saver.saver_def.version,
        [n for n in dict(names(tf)) if "save" in n or "mine" in n],
    ]


def savers_refuse(tf, np):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    saver = tf.train.Saver([v])
    folder = tempfile.mkdtemp()
    with tf.Session() as session:
        session.run(v.initializer)
        return [
            raises(tf.train.Saver, var_list=[]),
            raises(tf.train.Saver, [v, v]),
            raises(tf.train.Saver, [3]),
            raises(tf.train.Saver, {"a": 3}),
            raises(tf.train.Saver, defer_build=True, var_list=[v]),
            raises(saver.save, session, os.path.join(folder, "m"), latest_filename="m"),
            raises(saver.save, session, os.path.join(folder, "m"), latest_filename="a/b"),
            raises(saver.save, None, os.path.join(folder, "m")),
            raises(saver.restore, session, None),
            raises(saver.restore, session, os.path.join(folder, "none")),
            raises(saver.save, session, os.path.join(folder, "none", "m")),
            raises(saver.save, session, ""),
        ]


def states_of_checkpoints(tf, np):
    t, folder = tf.train, tempfile.mkdtemp()
    paths = [os.path.join(folder, n) for n in ("a-1", "a-2")]
    t.update_checkpoint_state(
        folder,
        paths[1],
        all_model_checkpoint_paths=[paths[0]],
        latest_filename="state",
        all_model_checkpoint_timestamps=[1.5, 2.5],
        last_preserved_timestamp=0.5,
    )
    state = t.get_checkpoint_state(folder, latest_filename="state")
    for suffix in (".index", ".data-00000-of-00001", ".meta", ".graph"):
        with open(paths[0] + suffix, "w") as f:
            f.write("x")
    t.remove_checkpoint(paths[0], meta_graph_suffix="graph")
    with open(paths[1], "w") as f:
        f.write("x")
    found = sorted(os.listdir(folder))
    t.remove_checkpoint(checkpoint_prefix=paths[1], checkpoint_format_version=1)
    return [
        [os.path.basename(p) for p in state.all_model_checkpoint_paths],
        list(state.all_model_checkpoint_timestamps),
        state.last_preserved_timestamp,
        found,
        sorted(os.listdir(folder)),
        t.checkpoint_exists(paths[0]),
        t.get_checkpoint_mtimes([paths[0]]),
        raises(t.update_checkpoint_state, folder, paths[1], all_model_checkpoint_timestamps=[1.0, 2.0, 3.0]),
        list(t.checkpoints_iterator(folder, min_interval_secs=0, timeout=0.01, timeout_fn=lambda: True)),
        list(t.checkpoints_iterator(folder, timeout=0.01)),
    ]


def checkpoint_managers(tf, np):
    folder = tempfile.mkdtemp()
    v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(
        checkpoint, folder, max_to_keep=1, keep_checkpoint_every_n_hours=1e-9, checkpoint_name="mine"
    )
    with tf.Session() as session:
        session.run(v.initializer)
        with session.as_default():
            paths = [manager.save(), manager.save(checkpoint_number=7)]
    again = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=None)
    return [
        [os.path.basename(p) for p in paths],
        [os.path.basename(p) for p in manager.checkpoints],
        os.path.basename(manager.latest_checkpoint),
        [os.path.basename(p) for p in again.checkpoints],
        sorted(f for f in os.listdir(folder) if f.endswith(".index")),
        raises(tf.train.CheckpointManager, checkpoint, folder, max_to_keep=0),
    ]


def graphs_are_exported(tf, np):
    t = tf.train
    with tf.name_scope("scope"):
        x = tf.constant(1.0, name="x")
    y = tf.add(x, 1.0, name="y")
    tf.add_to_collection("mine", y)
    info = tf.MetaGraphDef.MetaInfoDef(meta_graph_version="mine", tags=["a"])
    path = os.path.join(tempfile.mkdtemp(), "graph.meta")
    given = t.export_meta_graph(
        filename=path,
        meta_info_def=info,
        graph_def=tf.get_default_graph().as_graph_def(),
        collection_list=["mine"],
        as_text=True,
        clear_devices=True,
        clear_extraneous_savers=True,
        strip_default_attrs=True,
        save_debug_info=False,
    )
    scoped = t.export_meta_graph(export_scope="scope", graph=tf.get_default_graph())
    return [
        given.meta_info_def.meta_graph_version,
        list(given.meta_info_def.tags),
        [n.name for n in given.graph_def.node],
        sorted(given.collection_def),
        [n.name for n in scoped.graph_def.node],
        open(path).read().startswith("meta_info_def"),
        raises(t.export_meta_graph, bad=3),
    ]


# --------------------------------------------------------------------------------------------------- sessions


def sessions_are_made(tf, np):
    t, folder = tf.train, tempfile.mkdtemp()
    v = tf.get_variable("v", initializer=1.0)
    step = t.get_or_create_global_step()
    forward = tf.assign_add(step, 1)
    scaffold = t.Scaffold(
        init_op=tf.global_variables_initializer(), init_fn=lambda s, session: v.load(3.0, session)
    )
    creator = t.ChiefSessionCreator(
        scaffold, master="", config=tf.ConfigProto(allow_soft_placement=True), checkpoint_dir=folder
    )
    found = []
    with t.MonitoredSession(
        creator, hooks=[t.StepCounterHook(every_n_steps=2, output_dir=folder)]
    ) as session:
        found.append(session.run([v, forward]))
        found.append([session.graph is tf.get_default_graph(), session.should_stop()])
    worker = t.WorkerSessionCreator(scaffold, master="", config=None, max_wait_secs=5)
    found.append([type(worker).__name__, isinstance(worker, t.SessionCreator)])
    with tf.Graph().as_default():
        u = tf.get_variable("u", initializer=2.0)
        with t.SingularMonitoredSession(
            hooks=[],
            scaffold=None,
            master="",
            config=tf.ConfigProto(),
            checkpoint_dir=None,
            stop_grace_period_secs=5,
        ) as session:
            found.append(session.run(u))
            found.append(session.raw_session().run(u))
    return found


def session_managers(tf, np):
    t, graph = tf.train, tf.get_default_graph()
    v = tf.get_variable("v", initializer=1.0)
    local = tf.Variable(2.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    manager = t.SessionManager(
        local_init_op=tf.local_variables_initializer(),
        ready_op=tf.report_uninitialized_variables(),
        ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables()),
        graph=graph,
        recovery_wait_secs=1,
        local_init_run_options=tf.RunOptions(timeout_in_ms=5000),
    )
    session = manager.prepare_session(
        "", init_op=v.initializer, config=tf.ConfigProto(), wait_for_checkpoint=False
    )
    values = session.run([v, local])
    recovered, ok = manager.recover_session("", saver=t.Saver(), checkpoint_dir=tempfile.mkdtemp())
    return [
        values,
        ok,
        raises(recovered.run, v),
        raises(manager.prepare_session, "", saver=None, checkpoint_dir=None, init_op=None),
        raises(manager.prepare_session, "", init_op=tf.no_op()),
        raises(manager.wait_for_session, "", max_wait_secs=0.1),
    ]


def hooks_with_arguments(tf, np):
    t, folder = tf.train, tempfile.mkdtemp()
    step = t.get_or_create_global_step()
    forward = tf.assign_add(step, 1)
    with tf.control_dependencies([forward]):
        x = tf.cast(step.read_value(), tf.float32, name="x")
    said = []

    def formatter(values):
        said.append(sorted(values.items()))
        return "text"

    writer = tf.summary.FileWriter(folder + "/own")
    tf.summary.scalar("x", x)
    hooks = [
        t.LoggingTensorHook({"x": x}, every_n_iter=2, at_end=True, formatter=formatter),
        t.NanTensorHook(x, fail_on_nan_loss=False),
        t.StepCounterHook(every_n_steps=2, summary_writer=writer),
        t.SummarySaverHook(save_steps=2, summary_writer=writer, summary_op=tf.summary.merge_all()),
        t.StopAtStepHook(last_step=5),
        t.ProfilerHook(save_steps=3, output_dir=folder, show_dataflow=False, show_memory=True),
        t.CheckpointSaverHook(
            folder, save_steps=3, checkpoint_basename="mine", saver=t.Saver(), scaffold=None
        ),
    ]
    with t.MonitoredSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(forward)
    writer.flush()
    found = [f for f in os.listdir(folder) if not f.startswith(("events", "timeline"))]
    tags = set()
    for path in tf.gfile.Glob(folder + "/own/events*"):
        for event in t.summary_iterator(path):
            tags |= {(v.tag, event.step) for v in event.summary.value if v.tag != "global_step/sec"}
    return [
        said,
        sorted(found),
        sorted(tags),
        raises(t.LoggingTensorHook, ["x"]),
        raises(t.LoggingTensorHook, ["x"], every_n_iter=1, every_n_secs=1),
        raises(t.LoggingTensorHook, ["x"], every_n_iter=0),
        raises(t.StopAtStepHook),
        raises(t.StopAtStepHook, 3, 4),
        raises(t.SummarySaverHook, save_steps=1),
        raises(t.SummarySaverHook, save_steps=1, summary_op=3, scaffold=3),
        raises(t.CheckpointSaverHook, folder, save_steps=1, saver=3, scaffold=3),
        raises(t.StepCounterHook, every_n_steps=1, every_n_secs=1),
    ]


def supervisors_with_arguments(tf, np):
    t, folder = tf.train, tempfile.mkdtemp()
    v = tf.get_variable("v", initializer=1.0)
    x = tf.placeholder(tf.float32, [])
    w = tf.get_variable("w", initializer=x)
    done = []
    supervisor = t.Supervisor(
        graph=tf.get_default_graph(),
        is_chief=True,
        init_feed_dict={x: 7.0},
        logdir=folder,
        summary_op=None,
        save_model_secs=0,
        stop_grace_secs=5,
        checkpoint_basename="mine",
        session_manager=t.SessionManager(),
        summary_writer=None,
        init_fn=lambda session: done.append(session.run(v)),
        local_init_run_options=tf.RunOptions(timeout_in_ms=5000),
    )
    steps = []

    def train(session, a, b=None):
        steps.append((session.run(w), a, b))
        if len(steps) == 3:
            supervisor.request_stop()

    t.basic_train_loop(supervisor, train, args=(1,), kwargs={"b": 2}, master="")
    return [
        done,
        steps,
        os.path.basename(supervisor.save_path),
        supervisor.summary_writer,
        supervisor.is_chief,
        raises(t.basic_train_loop, None, train),
    ]
