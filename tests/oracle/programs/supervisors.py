"""Scaffold, SessionManager and Supervisor; contrib's loops that train and evaluate."""

import os
import time

from kit import cases, names, product, raises
from supervised import events, files, folder_of_its_own, logged, model, noting_hook, stable_graph

# ---------------------------------------------------------------------------------------------- scaffolds


def scaffolds(tf, np):
    tf.get_variable("v", initializer=1.0)
    tf.get_local_variable("w", initializer=2.0)
    tf.summary.scalar("s", tf.constant(1.0))
    keys = tf.lookup.KeyValueTensorInitializer(["a"], [1], key_dtype=tf.string, value_dtype=tf.int64)
    tf.lookup.StaticHashTable(keys, 0)
    scaffold = tf.train.Scaffold()
    before = [scaffold.init_op, scaffold.saver, scaffold.ready_op]
    scaffold.finalize()
    collections = {k: len(tf.get_collection(k)) for k in tf.get_default_graph().get_all_collection_keys()}
    return [
        before,
        scaffold.init_op,
        scaffold.ready_op,
        scaffold.ready_for_local_init_op,
        scaffold.local_init_op,
        scaffold.summary_op,
        scaffold.init_fn,
        scaffold.saver.saver_def.sharded,
        collections,
        tf.get_default_graph().finalized,
        tf.train.Scaffold().finalize().init_op is scaffold.init_op,
        stable_graph(tf),
    ]


def scaffold_of_nothing(tf, np):
    scaffold = tf.train.Scaffold().finalize()
    return [scaffold.init_op, scaffold.summary_op, stable_graph(tf)]


def copied_scaffolds(tf, np):
    called = []
    v = tf.get_variable("v", initializer=1.0)
    first = tf.train.Scaffold(
        init_op=v.initializer, init_fn=lambda scaffold, session: called.append(scaffold is copy), ready_op=v
    )
    copy = tf.train.Scaffold(copy_from_scaffold=first, local_init_op=tf.no_op("mine"))
    copy.init_fn(None)
    return [
        copy.init_op,
        copy.ready_op,
        copy.local_init_op,
        copy.saver,
        called,
        raises(tf.train.Scaffold, copy_from_scaffold=3),
    ]


@cases("init_op", "ready_op", "local_init_op", "summary_op", "savers")
def ambiguous_scaffolds(tf, np, key):
    tf.get_variable("v", initializer=1.0)
    for _ in range(2):
        tf.add_to_collection(key, tf.train.Saver() if key == "savers" else tf.constant([], tf.string))
    return raises(tf.train.Scaffold().finalize)


@cases("init_op", "init_fn", "feeds")
def initialized_by_a_scaffold(tf, np, how):
    start = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=start if how == "feeds" else 1.0)
    other = tf.assign(v, 5.0)
    scaffold = {
        "init_op": lambda: tf.train.Scaffold(init_op=other),
        "init_fn": lambda: tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(other)),
        "feeds": lambda: tf.train.Scaffold(init_feed_dict={start: 9.0}),
    }[how]()
    with tf.train.SingularMonitoredSession(scaffold=scaffold) as session:
        return [session.run(v), type(session.raw_session()).__name__]


def a_model_that_is_not_ready(tf, np):
    tf.get_variable("v", initializer=1.0)
    tf.get_variable("w", initializer=1.0)
    scaffold = tf.train.Scaffold(init_op=tf.no_op())
    return [
        raises(tf.train.SingularMonitoredSession, scaffold=scaffold),
        raises(tf.train.MonitoredSession, tf.train.ChiefSessionCreator(scaffold)),
    ]


def restored_from_a_path(tf, np):
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=1.0)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.assign(v, 4.0))
            path = saver.save(session, os.path.join(folder, "m"))
        with tf.train.SingularMonitoredSession(checkpoint_filename_with_path=path) as session:
            found = [session.run(v)]
        options = dict(checkpoint_dir=folder, checkpoint_filename_with_path=path)
        return found + [raises(tf.train.SingularMonitoredSession, **options)]


# --------------------------------------------------------------------------------------- session managers


@cases("init_op", "init_fn", "feeds", "local", "nothing", "not ready", "not ready for local", "old ready op")
def preparing(tf, np, how):
    start = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=start if how == "feeds" else 1.0)
    w = tf.get_local_variable("w", initializer=v + 1.0 if how == "local" else 0.0)
    options, manager = {"init_op": tf.global_variables_initializer()}, {}
    if how == "init_fn":
        options = {"init_fn": lambda session: session.run(v.initializer)}
    elif how == "feeds":
        options["init_feed_dict"] = {start: 3.0}
    elif how == "local":
        manager = {
            "local_init_op": tf.local_variables_initializer(),
            "ready_for_local_init_op": tf.report_uninitialized_variables(tf.global_variables()),
            "ready_op": tf.report_uninitialized_variables(),
        }
    elif how == "nothing":
        options = {}
    elif how == "not ready":
        manager = {"ready_op": tf.report_uninitialized_variables()}
    elif how == "not ready for local":
        options["init_op"] = tf.no_op()
        manager = {
            "local_init_op": w.initializer,
            "ready_for_local_init_op": tf.report_uninitialized_variables(tf.global_variables()),
        }
    elif how == "old ready op":
        manager = {"ready_op": tf.assert_variables_initialized([v])}

    def prepare():
        with logged(tf) as said:
            session = tf.train.SessionManager(**manager).prepare_session("", **options)
        with session:
            return [session.run(v), said] + ([session.run(w)] if how == "local" else [])

    error = raises(prepare)
    return error if error != "no error" else prepare()


def managers_refuse(tf, np):
    ready = tf.constant([], tf.string)
    manager = tf.train.SessionManager()
    return [
        raises(tf.train.SessionManager, ready_for_local_init_op=ready),
        raises(manager.prepare_session, "", checkpoint_dir="a", checkpoint_filename_with_path="b"),
    ]


@cases("nothing", "checkpoint", "half", "path")
def recovering(tf, np, which):
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=1.0)
        tf.get_variable("w", initializer=2.0)
        half = tf.train.Saver([v])
        saver = half if which == "half" else tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(tf.assign(v, 7.0))
            path = None if which == "nothing" else saver.save(session, os.path.join(folder, "m"), 3)
        manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
        with logged(tf, folder) as said:
            where = {"checkpoint_filename_with_path": path} if which == "path" else {"checkpoint_dir": folder}
            session, ready = manager.recover_session("", saver=saver, **where)
        with session:
            return [
                ready,
                said,
                raises(session.run, v),
                [os.path.basename(p) for p in saver.last_checkpoints],
            ]


@cases("ready", "never")
def waiting_for_a_session(tf, np, which):
    v = tf.get_variable("v", initializer=1.0)
    local = v.initializer if which == "ready" else tf.no_op()
    manager = tf.train.SessionManager(
        local_init_op=local, ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01
    )
    if which == "ready":
        with manager.wait_for_session("") as session:
            return session.run(v)
    return raises(manager.wait_for_session, "", max_wait_secs=0)


def waiting_for_a_checkpoint(tf, np):
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=1.0)
        manager = tf.train.SessionManager(recovery_wait_secs=0.01)
        with manager.prepare_session(
            "",
            init_op=v.initializer,
            saver=tf.train.Saver(),
            checkpoint_dir=folder,
            wait_for_checkpoint=True,
            max_wait_secs=0.02,
        ) as session:
            return session.run(v)


# -------------------------------------------------------------------------------------------- supervisors


@cases("chief", "no logdir", "no services", "none of it")
def supervisors(tf, np, how):
    with folder_of_its_own() as folder:
        train, loss, _step = model(tf, np)
        options = {"logdir": None if how == "no logdir" else folder, "save_summaries_secs": 0}
        if how == "none of it":
            options.update(summary_op=None, saver=None, global_step=None, ready_op=None, local_init_op=None)
        found = []
        with logged(tf, folder) as said:
            supervisor = tf.train.Supervisor(**options)
            with supervisor.managed_session(start_standard_services=how != "no services") as session:
                for _ in range(3):
                    session.run(train)
                found.append(session.run(loss))
                if supervisor.summary_writer and supervisor.summary_op is not None:
                    supervisor.summary_computed(session, session.run(supervisor.summary_op))
                if how in ("chief", "no services"):
                    supervisor.saver.save(session, supervisor.save_path, supervisor.global_step)
        found += [supervisor.is_chief, supervisor.should_stop(), supervisor.save_model_secs]
        found += [supervisor.save_path and os.path.relpath(supervisor.save_path, folder)]
        said = [line for line in said if "Saving checkpoint" not in line[1]]
        seen = [event for event in events(tf, folder) if not (event[0] == "session_log" and event[2][0] == 3)]
        return [found, sorted(said), seen, stable_graph(tf)]


@cases("block", "thread", "end", "aborted")
def supervised_failures(tf, np, where):
    v = tf.get_variable("v", initializer=1.0)
    supervisor = tf.train.Supervisor()
    error = tf.errors.AbortedError(None, None, "a") if where == "aborted" else ValueError("wrong")

    def fail():
        raise error

    def train():
        with supervisor.managed_session() as session:
            if where in ("block", "aborted"):
                fail()
            if where == "thread":
                supervisor.loop(None, fail)
                supervisor.wait_for_stop()
            if where == "end":
                raise tf.errors.OutOfRangeError(None, None, "end")
            session.run(v)

    with logged(tf) as said:
        failed = raises(train)
    said = [] if where == "aborted" else said  # the class is named by its module
    return [failed, supervisor.should_stop(), said]


def supervisors_refuse(tf, np):
    v = tf.get_variable("v", initializer=1.0)
    supervisor = tf.train.Supervisor()
    worker = raises(tf.train.Supervisor, is_chief=False)
    with tf.Session() as session:
        session.run(v.initializer)
        found = [raises(supervisor.summary_computed, session, b""), worker]
        with tf.Graph().as_default(), tf.device("/cpu:0"):
            tf.get_variable("w", initializer=1.0)
            other = tf.train.Supervisor(is_chief=False)
            found.append(raises(other.start_standard_services, session))
            found += [other.save_path, other.summary_writer, other.save_model_secs]
    return found


def a_basic_loop(tf, np):
    calls = []
    train, _loss, step = model(tf, np)
    with folder_of_its_own() as folder:
        supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0)

        def step_fn(session, name, factor):
            session.run(train)
            calls.append((name, factor, session.run(step)))
            if len(calls) == 2:
                supervisor.saver.save(session, supervisor.save_path, global_step=step)
                raise tf.errors.AbortedError(None, None, "restarted")
            if len(calls) == 5:
                supervisor.request_stop()

        tf.train.basic_train_loop(supervisor, step_fn, args=["n"], kwargs={"factor": 2})
    return calls


def start_and_stop(tf, np):
    _train, _loss, step = model(tf, np)
    with folder_of_its_own() as folder:
        supervisor = tf.train.Supervisor(logdir=folder, save_model_secs=0, save_summaries_secs=0)
        session = supervisor.PrepareSession()
        found = [supervisor.StartStandardServices(session), session.run(step), supervisor.ShouldStop()]
        supervisor.RequestStop()
        found.append(supervisor.ShouldStop())
        supervisor.Stop()
        session.close()
        return [found, events(tf, folder)]


# ---------------------------------------------------------------------------------------- contrib's loops


def contrib_training(tf, np):
    with folder_of_its_own() as folder:
        train, loss, _step = model(tf, np)
        with tf.control_dependencies([train]):
            value = tf.identity(loss)
        hooks = [tf.train.StopAtStepHook(4)]
        training = tf.contrib.training
        found = [training.train(value, folder, hooks=hooks, save_summaries_steps=2)]
        found += [
            raises(training.train, value, None),
            raises(training.train, value, None, save_summaries_steps=None),
        ]
        tf.summary.FileWriterCache.clear()
        return [found, files(tf, folder), events(tf, folder)]


@cases(*product([1, 3, 25], ["list", "dict", "one", "none"]))
def contrib_evaluation(tf, np, num_evals, form):
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=2.0)
        with tf.Session() as session:
            session.run(v.initializer)
            path = tf.train.Saver().save(session, os.path.join(folder, "m"))
        mean, update = tf.metrics.mean(v)
        hook = tf.contrib.training.StopAfterNEvalsHook(num_evals)
        ops = {"list": [update], "dict": {"u": update}, "one": update, "none": None}[form]
        count = tf.contrib.training.get_or_create_eval_step()
        with logged(tf, folder) as said:
            final = tf.contrib.training.evaluate_once(
                path,
                eval_ops=ops,
                final_ops={"m": mean, "n": count},
                hooks=[hook] if form != "none" else None,
            )
        return [final, said, stable_graph(tf)]


def contrib_evaluation_of_a_folder(tf, np):
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=2.0)
        step = tf.train.get_or_create_global_step()
        tf.summary.scalar("v", v)
        seen = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, os.path.join(folder, "m"), step)
        mean, update = tf.metrics.mean(v)
        training = tf.contrib.training
        hooks = [training.StopAfterNEvalsHook(2), training.SummaryAtEndHook(os.path.join(folder, "s"))]
        found = training.evaluate_repeatedly(
            folder,
            eval_ops=[update],
            final_ops=mean,
            hooks=hooks,
            eval_interval_secs=0,
            timeout=0,
            timeout_fn=lambda: seen.append(1) or len(seen) > 1,
        )
        tf.summary.FileWriterCache.clear()
        waited = training.wait_for_new_checkpoint(folder, os.path.join(folder, "m-0"), 0, 0)
        first = next(training.checkpoints_iterator(folder, timeout=0))
        return [found, seen, waited, os.path.basename(first), events(tf, os.path.join(folder, "s"))]


def slim_training(tf, np):
    slim = tf.contrib.slim
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=np.float32([1.0, 2.0]), use_resource=True)
        loss = tf.reduce_sum(v * v)
        train = slim.learning.create_train_op(
            loss, tf.train.GradientDescentOptimizer(0.1), summarize_gradients=True
        )
        with logged(tf, folder) as said:
            last = slim.learning.train(
                train,
                folder,
                number_of_steps=4,
                log_every_n_steps=2,
                save_summaries_secs=0,
                save_interval_secs=0,
            )
        said = [line for line in said if "global step" not in line[1]]
        return [last, said, files(tf, folder), events(tf, folder), stable_graph(tf)]


def slim_training_refuses(tf, np):
    train = tf.contrib.slim.learning.train
    op = tf.no_op()
    return [
        raises(train, None, "x"),
        raises(train, op, None, summary_op=op),
        raises(train, op, None, saver=3),
        raises(train, op, None, trace_every_n_steps=1),
        raises(train, op, "x", number_of_steps=0),
        raises(train, op, "x", sync_optimizer=[3]),
        raises(tf.contrib.slim.learning.train_step, None, op, None, {"should_trace": op}),
    ]


def slim_evaluation(tf, np):
    slim = tf.contrib.slim
    with folder_of_its_own() as folder:
        v = tf.get_variable("v", initializer=3.0)
        w = tf.get_variable("w", initializer=4.0)
        tf.summary.scalar("v", v)
        tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(folder, "m"))
        mean, update = tf.metrics.mean(v * w)
        logs = os.path.join(folder, "logs")
        found = [
            slim.evaluation.evaluate_once("", path, logs, num_evals=3, eval_op=update, final_op=mean),
            slim.evaluation.evaluation_loop(
                "",
                folder,
                logs,
                num_evals=2,
                eval_op=update,
                final_op=mean,
                max_number_of_evaluations=1,
                eval_interval_secs=0,
            ),
        ]
        tf.summary.FileWriterCache.clear()
        return [found, events(tf, logs)]


def a_file_reader_never_waits_here(tf, np):
    """The parts of an input pipeline with queues join by themselves when training stops in the middle."""
    with folder_of_its_own() as folder:
        path = os.path.join(folder, "numbers.txt")
        with open(path, "w") as stream:
            stream.write("\n".join(str(i) for i in range(50)))
        names_queue = tf.train.string_input_producer([path], shuffle=False)
        _, line = tf.TextLineReader().read(names_queue)
        batch = tf.train.batch([tf.string_to_number(line)], 4, capacity=8)
        started = time.time()
        with tf.train.MonitoredSession(hooks=[noting_hook(tf, "h", [], stop_at=3)]) as session:
            got = []
            while not session.should_stop():
                got.append(session.run(batch))
        return [got, time.time() - started < 60]


# --------------------------------------------------------------------------------- variables from checkpoints


@cases("list", "names", "several", "missing", "ignored", "shape", "parts")
def assigned_from_a_checkpoint(tf, np, how):
    framework = tf.contrib.framework
    with folder_of_its_own() as folder:
        a = tf.get_variable("a", initializer=np.float32([1, 2]))
        b = tf.get_variable(
            "b", [4], initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(2)
        )
        other = tf.get_variable("other", initializer=np.float32([0, 0]))
        wide = tf.get_variable("wide", initializer=np.float32([0, 0, 0]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run([tf.assign(part, part + 3.0) for part in list(b)])
            saver = tf.train.Saver({"a": a, "b": b})
            path = saver.save(session, os.path.join(folder, "m"))
        wanted = {
            "list": [a],
            "names": {"a": other},
            "several": {"a": [a, other]},
            "missing": {"c": other},
            "ignored": [a, other],
            "shape": {"a": wide},
            "parts": list(b),
        }[how]
        ignore = how == "ignored"
        failed = raises(framework.assign_from_checkpoint, path, wanted, ignore)
        found = []
        if failed == "no error":
            op, feeds = framework.assign_from_checkpoint(path, wanted, ignore)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(op, feeds)
                found = session.run([a, other, wide] + list(b))
        return [failed, found, names(tf)]


@cases("list", "names", "missing", "ignored", "all missing", "none", "reshaped")
def restored_by_a_function(tf, np, how):
    framework = tf.contrib.framework
    with folder_of_its_own() as folder:
        a = tf.get_variable("a", initializer=np.float32([1, 2]))
        other = tf.get_variable("other", initializer=np.float32([0, 0]))
        tall = tf.get_variable("tall", initializer=np.float32([[0], [0]]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver({"a": a}).save(session, os.path.join(folder, "m"))
        wanted, options = {
            "list": ([a], {}),
            "names": ({"a": other}, {}),
            "missing": ([a, other], {}),
            "ignored": ([a, other], {"ignore_missing_vars": True}),
            "all missing": ([other], {"ignore_missing_vars": True}),
            "none": ([], {}),
            "reshaped": ({"a": tall}, {"reshape_variables": True}),
        }[how]
        if how == "none":
            return raises(framework.assign_from_checkpoint_fn, path, wanted)
        restore = framework.assign_from_checkpoint_fn(path, wanted, **options)
        if restore is None:
            return None
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(tf.assign(a, [9, 9]))
            return [raises(restore, session), session.run([a, other, tall]), names(tf)]
