"""Monitored sessions: when hooks are called and with what, how training ends, and what is recovered from."""

from kit import cases, names, product, raises
from supervised import events, files, folder_of_its_own, logged, model, noting_hook, sessions

# --------------------------------------------------------------------------------------- hooks are called


@cases("monitored", "singular", "training")
def order_of_calls(tf, np, kind):
    calls = []
    count = tf.get_variable("count", initializer=0)
    add = tf.assign_add(count, 1)
    fed = tf.placeholder(tf.float32, [], name="fed")
    hooks = [
        noting_hook(tf, "plain", calls),
        noting_hook(tf, "greedy", calls, fetches={"sum": fed + 1.0, "list": [fed]}, feeds={fed: 2.0}),
        noting_hook(tf, "last", calls, fetches=fed * 3.0, stop_at=3),
    ]
    with sessions(tf)[kind](hooks) as session:
        while not session.should_stop():
            calls.append(session.run({"a": add}))
        calls += [session.graph is tf.get_default_graph(), tf.get_default_graph().finalized]
    return [calls, session.should_stop(), session.graph, tf.get_default_graph().finalized, names(tf)]


@cases(*product(["monitored", "singular"], ["out of range", "stop iteration", "value", "cancelled", "own"]))
def how_a_block_ends(tf, np, kind, ending):
    class OwnOutOfRange(tf.errors.OutOfRangeError):
        pass

    errors = {
        "out of range": tf.errors.OutOfRangeError(None, None, "the end"),
        "stop iteration": StopIteration("enough"),
        "value": ValueError("wrong"),
        "cancelled": tf.errors.CancelledError(None, None, "cancelled"),
        "own": OwnOutOfRange(None, None, "the end"),
    }
    calls = []
    tf.get_variable("v", initializer=1.0)

    def block():
        with sessions(tf)[kind]([noting_hook(tf, "h", calls)]):
            raise errors[ending]

    return [raises(block), calls, tf.get_default_graph().finalized]


@cases(
    *product(["monitored", "singular"], ["begin", "after_create_session", "before_run", "after_run", "end"])
)
def a_hook_fails(tf, np, kind, moment):
    calls = []
    v = tf.get_variable("v", initializer=1.0)
    failing = noting_hook(
        tf, "bad", calls, fail=lambda now, _: ValueError("bad hook") if now == moment else None
    )

    def train():
        with sessions(tf)[kind](
            [noting_hook(tf, "first", calls), failing, noting_hook(tf, "after", calls)]
        ) as session:
            calls.append(session.run(v))

    return [raises(train), calls]


@cases("two hooks", "hook and user")
def a_tensor_is_fed_twice(tf, np, who):
    fed = tf.placeholder(tf.float32, [], name="fed")
    hooks = [noting_hook(tf, str(i), [], feeds={fed: 1.0}) for i in range(2 if who == "two hooks" else 1)]
    feeds = {fed: 2.0} if who == "hook and user" else None
    more = fed + 1.0
    with tf.train.MonitoredSession(hooks=hooks) as session:
        return raises(session.run, more, feeds)


def feeds_are_joined(tf, np):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    difference = a - b
    with tf.train.MonitoredSession(hooks=[tf.train.FeedFnHook(lambda: {a: 5.0})]) as session:
        return session.run(difference, {b: 2.0})


def use_after_the_end(tf, np):
    v = tf.get_variable("v", initializer=1.0)
    with tf.train.MonitoredSession(hooks=[noting_hook(tf, "h", [], stop_at=1)]) as session:
        found = [session.run(v), session.should_stop(), raises(session.run, v)]
    return found + [session.should_stop(), raises(session.close)]


def closed_by_hand(tf, np):
    calls = []
    v = tf.get_variable("v", initializer=1.0)
    session = tf.train.MonitoredSession(hooks=[noting_hook(tf, "h", calls)])
    found = [session.run(v), session.should_stop()]
    session.close()
    return [found, session.should_stop(), raises(session.close), calls[:5]]


@cases("monitored", "singular")
def step_functions(tf, np, kind):
    calls = []
    v = tf.get_variable("v", initializer=1.0)
    c = tf.placeholder(tf.float32, [])
    product_, sum_ = v * c, v + c

    def step_fn(step_context):
        first = step_context.session.run(product_, {c: 3.0})
        if len(calls) > 4:
            step_context.request_stop()
        return [first, step_context.run_with_hooks(sum_, feed_dict={c: 1.0})]

    class Owner:
        def method(self, step_context):
            return step_context.run_with_hooks(v)

    found = []
    with sessions(tf)[kind]([noting_hook(tf, "h", calls)]) as session:
        found += [session.run_step_fn(step_fn), session.run_step_fn(Owner().method)]
        found.append([raises(session.run_step_fn, f) for f in (lambda: 1, lambda a: 1, lambda a, b: 1)])
        session.run_step_fn(step_fn)
        found.append("not reached")
    return [found, calls]


def what_a_hook_gets(tf, np):
    found = []
    v = tf.get_variable("v", initializer=2.0)
    twice = v * 2.0

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs([v, {"twice": twice}])

        def after_run(self, run_context, run_values):
            found.extend([run_values.results, run_values.options.trace_level])
            found.append(len(run_values.run_metadata.step_stats.dev_stats))
            found.extend([run_context.session.run(v), run_context.original_args])

    with tf.train.MonitoredSession(hooks=[Hook()]) as session:
        found.append(session.run([v]))
    args = tf.train.SessionRunArgs(v)
    return [found, args.feed_dict, args.options, tf.train.SessionRunArgs._fields]


# ----------------------------------------------------------------------------------------------- failures


def _stop(coord, error):
    """As a thread does that fails."""
    with coord.stop_on_exception():
        raise error


@cases("AbortedError", "UnavailableError", "InternalError")
def a_step_is_lost(tf, np, kind):
    """Only where a task is lost is there a new session, from the last checkpoint."""
    calls = []
    lost = []

    def fail(moment, runs):
        if moment == "before_run" and runs == 3 and not lost:
            lost.append(1)
            return getattr(tf.errors, kind)(None, None, "gone")

    with folder_of_its_own() as folder:
        train, _loss, step = model(tf, np)
        saver = tf.train.CheckpointSaverHook(folder, save_steps=2)
        hooks = [saver, noting_hook(tf, "h", calls, fail=fail), tf.train.StopAtStepHook(last_step=5)]

        def run():
            creator = tf.train.ChiefSessionCreator(checkpoint_dir=folder)
            with tf.train.MonitoredSession(creator, hooks) as session:
                while not session.should_stop():
                    session.run(train)
                    calls.append(session.run_step_fn(lambda step_context: step_context.session.run(step)))

        error = raises(run)
        return [error, calls, files(tf, folder)]


@cases(
    *product(["AbortedError", "UnavailableError"], ["create_session", "after_create_session", "should_stop"])
)
def other_losses(tf, np, kind, where):
    calls = []
    v = tf.get_variable("v", initializer=1.0)
    error = getattr(tf.errors, kind)(None, None, "gone")

    class Creator(tf.train.ChiefSessionCreator):
        def create_session(self):
            calls.append("create")
            if where == "create_session" and calls.count("create") < 3:
                raise error
            return tf.train.ChiefSessionCreator.create_session(self)

    coords = []

    class Hook(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            calls.append("created")
            coords.append(coord)
            if where == "after_create_session" and calls.count("created") < 3:
                raise error

    with tf.train.MonitoredSession(Creator(), [Hook()]) as session:
        calls.append(session.run(v))
        if where == "should_stop":
            _stop(coords[-1], error)
        calls += [session.should_stop(), session.run(v)]
    return calls


@cases(*product(["monitored", "singular"], ["should_stop", "run", "close"]))
def a_thread_fails(tf, np, kind, moment):
    coords = []
    v = tf.get_variable("v", initializer=1.0)

    class Hook(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            coords.append(coord)

    session = sessions(tf)[kind]([Hook()])
    _stop(coords[0], ValueError("of a thread"))
    found = []
    if moment == "should_stop":
        found.append(raises(session.should_stop))
    elif moment == "run":
        found += [session.run(v), raises(session.run, tf.errors)]
    found.append(raises(session.close))
    return found


@cases(*product(["monitored", "singular"], [0, 5]))
def queues_end(tf, np, kind, wrong):
    """The end of the data ends the loop; an error of the pipeline is raised at the end."""
    numbers = tf.train.limit_epochs(tf.constant([1.0, 2.0, 3.0]), num_epochs=2)
    queue = tf.FIFOQueue(10, tf.float32, [[]])
    checked = tf.check_numerics(tf.log(numbers - float(wrong)), "bad number") if wrong else numbers
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue_many([checked])]))
    item = queue.dequeue()
    got = []

    def train():
        with sessions(tf)[kind](None) as session:
            while not session.should_stop():
                got.append(session.run(item))

    error = raises(train)
    return [error, got]


# ---------------------------------------------------------------------------------------------- the hooks


@cases(
    {"3 more": (3, None), "until 5": (None, 5), "until 2": (None, 2), "none": (None, None), "both": (1, 2)}
)
def stopping(tf, np, num_steps, last_step):
    with folder_of_its_own() as folder:
        train, _loss, _step = model(tf, np)
        found = [raises(tf.train.StopAtStepHook, num_steps, last_step)]
        if (num_steps is None) == (last_step is None):
            return found
        for _ in range(2):  # the second begins where the first ended
            hook = tf.train.StopAtStepHook(num_steps, last_step)
            runs = 0
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=[hook]) as session:
                while not session.should_stop():
                    session.run(train)
                    runs += 1
            found.append([runs, files(tf, folder)[1]])
        return found


@cases(
    {
        "steps": dict(every_steps=3),
        "never again": dict(every_secs=1e6),
        "always": dict(every_secs=0.0),
        "none": {},
        "both": dict(every_secs=1, every_steps=1),
    }
)
def timers(tf, np, options):
    error = raises(tf.train.SecondOrStepTimer, **options)
    if len(options) != 1:
        return error
    timer = tf.train.SecondOrStepTimer(**options)
    found = []
    for step in [0, 0, 1, 2, 3, 3, 5, 6, 4, 9]:
        due = timer.should_trigger_for_step(step)
        since = timer.update_last_triggered_step(step) if due else (None, None)
        found.append([due, since[0] is None, since[1], timer.last_triggered_step()])
    timer.reset()
    return [found, timer.last_triggered_step(), timer.should_trigger_for_step(7)]


_LOGGING = {
    "by tag": (lambda tf, v: {"b": v, "a": v * 2.0}, dict(every_n_iter=2)),
    "list": (lambda tf, v: [v, v.name], dict(every_n_iter=3)),
    "names": (lambda tf, v: ["v/read", "v:0"], dict(every_n_iter=1)),
    "at the end too": (lambda tf, v: {"v": v}, dict(every_n_iter=10, at_end=True)),
    "at the end": (lambda tf, v: {"v": v}, dict(at_end=True)),
    "seconds": (lambda tf, v: {"v": v}, dict(every_n_secs=1e6)),
    "formatted": (lambda tf, v: {"v": v}, dict(every_n_iter=2, formatter=lambda d: "<%.2f>" % d["v"][0])),
    "arrays": (lambda tf, v: {"v": v * 1e-6, "m": tf.ones([2, 2])}, dict(every_n_iter=2)),
}


@cases(*_LOGGING)
def logging_tensors(tf, np, which):
    tensors, options = _LOGGING[which]
    v = tf.get_variable("v", initializer=np.float32([1.5, 1e-7]))
    add = tf.assign_add(v, [1.0, 0.0])
    with logged(tf) as said:
        with tf.train.MonitoredSession(hooks=[tf.train.LoggingTensorHook(tensors(tf, v), **options)]) as s:
            for _ in range(4):
                s.run(add if which == "at the end" else v)
    return said


def logging_refuses(tf, np):
    v = tf.get_variable("v", initializer=1.0)
    tf.split(tf.ones([2]), 2, name="two")
    hook = tf.train.LoggingTensorHook
    begin = [hook(t, every_n_iter=1) for t in (["two"], ["nothing"], ["x:0"], [3.0])]
    with tf.Graph().as_default():
        begin.append(hook([tf.constant(1.0, name="other")], every_n_iter=1))
    return [
        raises(hook, [v]),
        raises(hook, [v], 1, 1),
        raises(hook, [v], 0),
        raises(hook, [v], -1),
        raises(hook, [v], 1, None, True),
    ] + [raises(h.begin) for h in begin]


@cases(True, False)
def not_a_number(tf, np, fail):
    v = tf.get_variable("v", initializer=4.0)
    loss = tf.sqrt(tf.assign_sub(v, 3.0))
    runs = []

    def train():
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, fail)]) as session:
            while not session.should_stop():
                runs.append(session.run(loss))

    with logged(tf) as said:
        error = raises(train)
    return [error, runs, said, str(tf.train.NanLossDuringTrainingError())]


@cases(
    {
        "10": dict(every_n_steps=10),
        "3": dict(every_n_steps=3),
        "secs": dict(every_n_steps=None, every_n_secs=1e6),
    }
)
def counting_steps(tf, np, options):
    with folder_of_its_own() as folder:
        train, _loss, _step = model(tf, np)
        hook = tf.train.StepCounterHook(output_dir=folder, **options)
        with logged(tf) as said:
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for _ in range(25):
                    session.run(train)
        tf.summary.FileWriterCache.clear()
        return [said, events(tf, folder)]


def a_step_that_stands_still(tf, np):
    model(tf, np)
    with logged(tf) as said:
        with tf.train.MonitoredSession(hooks=[tf.train.StepCounterHook(every_n_steps=2)]) as session:
            for _ in range(4):
                session.run("loss:0")
    return said


_NEED_A_STEP = {
    "StopAtStepHook": lambda tf, folder: tf.train.StopAtStepHook(1),
    "StepCounterHook": lambda tf, folder: tf.train.StepCounterHook(),
    "CheckpointSaverHook": lambda tf, folder: tf.train.CheckpointSaverHook(folder, save_steps=1),
    "SummarySaverHook": lambda tf, folder: tf.train.SummarySaverHook(1, summary_op=tf.constant("")),
    "GlobalStepWaiterHook": lambda tf, folder: tf.train.GlobalStepWaiterHook(1),
    "ProfilerHook": lambda tf, folder: tf.train.ProfilerHook(1, output_dir=folder),
}


@cases(*_NEED_A_STEP)
def no_global_step(tf, np, which):
    with folder_of_its_own() as folder:
        return raises(_NEED_A_STEP[which](tf, folder).begin)


@cases(0, 2, -1)
def waiting_for_a_step(tf, np, until):
    train, _loss, step = model(tf, np)
    calls = []

    class Others(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            for _ in range(2):
                session.run(train)

    with logged(tf) as said:
        hooks = [Others(), tf.train.GlobalStepWaiterHook(until)]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            calls += [session.run(step), session.run(step)]
    return [calls, said]


def final_ops(tf, np):
    v = tf.get_variable("v", initializer=1.0)
    add = tf.assign_add(v, 1.0)
    fed = tf.placeholder(tf.float32, [])
    hooks = [tf.train.FinalOpsHook({"v": v, "fed": fed}, {fed: 7.0}), tf.train.FinalOpsHook(None)]
    found = [hook.final_ops_values for hook in hooks]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(add)
    return found + [hook.final_ops_values for hook in hooks]


def final_ops_that_read(tf, np):
    item = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()

    def run():
        with tf.train.MonitoredSession(hooks=[tf.train.FinalOpsHook(item)]) as session:
            session.run(item)

    return raises(run)
