"""What hooks write as training goes on: checkpoints, event files, timelines; and where it resumes."""

import os

from kit import cases, product, raises
from supervised import events, files, folder_of_its_own, logged, model, noting_hook, stable_graph

# ---------------------------------------------------------------------------------------- what is written


def _listener(tf, name, calls, stop_at=None):
    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            calls.append((name, "begin"))

        def before_save(self, session, global_step_value):
            calls.append((name, "before_save", global_step_value, type(session).__name__))

        def after_save(self, session, global_step_value):
            calls.append((name, "after_save", global_step_value))
            return global_step_value == stop_at

        def end(self, session, global_step_value):
            calls.append((name, "end", global_step_value))

    return Listener()


@cases(*product([1, 2, 4], [None, 4]))
def saving_checkpoints(tf, np, every, stop_at):
    calls = []
    with folder_of_its_own() as folder:
        train, loss, _step = model(tf, np)
        scaffold = tf.train.Scaffold()
        hook = tf.train.CheckpointSaverHook(
            folder,
            save_steps=every,
            scaffold=scaffold,
            checkpoint_basename="m",
            listeners=[_listener(tf, "a", calls, stop_at), _listener(tf, "b", calls)],
        )
        creator = tf.train.ChiefSessionCreator(scaffold)
        with tf.train.MonitoredSession(creator, [hook]) as session:
            for _ in range(5):
                if not session.should_stop():
                    calls.append(session.run([train, loss])[1])
        tf.summary.FileWriterCache.clear()
        return [calls, files(tf, folder), events(tf, folder), stable_graph(tf)]


@cases("none", "two", "both")
def saver_of_a_hook(tf, np, which):
    with folder_of_its_own() as folder:
        model(tf, np)
        if which == "both":
            saver = tf.train.Saver()
            return raises(tf.train.CheckpointSaverHook, folder, 1, None, saver, "m", tf.train.Scaffold())
        for _ in range(2 if which == "two" else 0):
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        hook = tf.train.CheckpointSaverHook(folder, save_steps=1)
        hook.begin()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return raises(hook.after_create_session, session, None)


@cases(*product([1, 3, 4], [None, "own"]))
def saving_summaries(tf, np, every, writer):
    with folder_of_its_own() as folder:
        train, loss, _step = model(tf, np)
        both = [tf.summary.scalar("a", loss), tf.summary.scalar("b", loss * 2.0)]
        own = tf.summary.FileWriter(folder) if writer else None
        hook = tf.train.SummarySaverHook(every, None, None if own else folder, own, summary_op=both)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(8):
                session.run(train)
        if own:
            own.close()
        tf.summary.FileWriterCache.clear()
        return events(tf, folder)


@cases("neither", "both", "no time", "two times")
def summaries_refuse(tf, np, which):
    op, scaffold = tf.constant(""), tf.train.Scaffold()
    options = {
        "neither": dict(save_steps=1),
        "both": dict(save_steps=1, scaffold=scaffold, summary_op=op),
        "no time": dict(summary_op=op),
        "two times": dict(save_steps=1, save_secs=1, summary_op=op),
    }
    return raises(tf.train.SummarySaverHook, **options[which])


def profiling(tf, np):
    with folder_of_its_own() as folder:
        train, _loss, _step = model(tf, np)
        with logged(tf, folder) as said:
            hook = tf.train.ProfilerHook(save_steps=3, output_dir=folder, show_memory=True)
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for _ in range(8):
                    session.run(train)
        tf.summary.FileWriterCache.clear()
        timelines = [n for n in files(tf, folder)[0] if n.endswith("json")]
        return [said, timelines, events(tf, folder)]


_TRAINING = {
    "defaults": {},
    "often": dict(save_checkpoint_steps=2, save_summaries_steps=2, log_step_count_steps=3),
    "seconds": dict(save_checkpoint_secs=1e6, save_summaries_secs=1e6),
    "nothing": dict(
        save_checkpoint_secs=None,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
    ),
    "zero": dict(save_checkpoint_secs=0, save_summaries_steps=0, log_step_count_steps=0),
    "other folder": dict(summary_dir="other", save_checkpoint_steps=3),
}


@cases(*_TRAINING)
def training(tf, np, which):
    with folder_of_its_own() as folder:
        options = dict(_TRAINING[which])
        if "summary_dir" in options:
            options["summary_dir"] = os.path.join(folder, options["summary_dir"])
        train, loss, _step = model(tf, np)
        losses = []
        with logged(tf, folder) as said:
            hooks = [tf.train.StopAtStepHook(last_step=7)]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, hooks=hooks, chief_only_hooks=[noting_hook(tf, "c", [])], **options
            ) as session:
                while not session.should_stop():
                    losses.append(session.run([train, loss])[1])
        tf.summary.FileWriterCache.clear()
        other = os.path.join(folder, "other")
        more = events(tf, other) if os.path.isdir(other) else None
        return [losses, said, files(tf, folder), events(tf, folder), more, stable_graph(tf)]


def training_that_goes_on(tf, np):
    """Three processes, one after the other, each continuing where the last one ended."""
    found = []
    with folder_of_its_own() as folder:
        for last in (3, 5, 5):
            with tf.Graph().as_default():
                train, loss, _step = model(tf, np)
                with logged(tf, folder) as said:
                    with tf.train.MonitoredTrainingSession(
                        checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(last_step=last)]
                    ) as session:
                        while not session.should_stop():
                            session.run(train)
                            found.append(
                                session.run_step_fn(lambda step_context: step_context.session.run(loss))
                            )
                found += [said, files(tf, folder)]
                tf.summary.FileWriterCache.clear()
    return found


def a_worker(tf, np):
    """Nobody makes its model ready."""
    model(tf, np)
    with logged(tf):
        return raises(tf.train.MonitoredTrainingSession, is_chief=False, max_wait_secs=0)
