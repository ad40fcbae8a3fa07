"""What the programs about monitored sessions share: a model, hooks that take notes, and what files hold."""

import contextlib
import glob
import logging
import os
import re
import tempfile

from kit import GraphNodes


@contextlib.contextmanager
def folder_of_its_own():
    with tempfile.TemporaryDirectory() as folder:
        yield folder


class _Log(logging.Handler):
    """What is logged at level INFO and above, but for what TensorFlow says of its own names."""

    def __init__(self):
        logging.Handler.__init__(self)
        self.lines = []

    def emit(self, record):
        text = record.getMessage()
        if "deprecated" not in text and "will be removed" not in text:
            self.lines.append((record.levelname, text))


@contextlib.contextmanager
def logged(tf, folder=None):
    """Lines of the log, with numbers that depend on the clock, and the folder's name, taken out."""
    handler, logger, before = _Log(), logging.getLogger("tensorflow"), tf.logging.get_verbosity()
    said = []
    logger.addHandler(handler)
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        yield said
    finally:
        tf.logging.set_verbosity(before)
        logger.removeHandler(handler)
    for level, text in handler.lines:
        text = text.replace(folder, "FOLDER") if folder else text
        text = re.sub(r"\(\d+\.\d+ sec(/step)?\)", "(TIME)", text)
        text = re.sub(r"/sec: [\d.e+-]+", "/sec: RATE", text)
        text = re.sub(r"at \d{4}-\d\d-\d\d.*", "at DATE", text)
        said.append((level, text))


def step_read(tf):
    """The tensor by which hooks read the global step; made first, so that all of a step can follow it."""
    try:
        from tensorflow.python.training.training_util import _get_or_create_global_step_read as read
    except ImportError:
        from tideflow.variables.global_step import get_or_create_global_step_read as read
    return read()


def model(tf, np):
    """A model whose training counts the global step; the step is read before."""
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([step_read(tf)]):
        x = tf.get_variable("x", initializer=np.float32([3, 4]), use_resource=True)
        loss = tf.reduce_sum(x * x, name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    return train, loss, step


def noting_hook(tf, name, calls, fetches=None, feeds=None, stop_at=None, fail=None):
    """A hook that notes its calls; it may stop at a call of `run`, or raise `fail()` at some moments."""

    class Hook(tf.train.SessionRunHook):
        runs = 0

        def note(self, moment, *more):
            calls.append((name, moment) + more)
            error = fail and fail(moment, self.runs)
            if error:
                raise error

        def begin(self):
            self.note("begin", tf.get_default_graph().finalized)

        def after_create_session(self, session, coord):
            self.note(
                "after_create_session",
                type(session).__name__,
                coord.should_stop(),
                tf.get_default_graph().finalized,
            )

        def before_run(self, run_context):
            args = run_context.original_args
            self.note(
                "before_run",
                args.fetches,
                sorted(t.name for t in args.feed_dict or {}),
                type(run_context.session).__name__,
            )
            if fetches is not None or feeds:
                return tf.train.SessionRunArgs(fetches, feeds)

        def after_run(self, run_context, run_values):
            self.runs += 1
            self.note("after_run", run_values.results, run_context.stop_requested)
            if stop_at == self.runs:
                run_context.request_stop()

        def end(self, session):
            self.note("end", type(session).__name__)

    return Hook()


def events(tf, folder):
    """What the event files of a folder hold, in order."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "events*"))):
        for event in tf.train.summary_iterator(path):
            kind = event.WhichOneof("what")
            tags = [value.tag for value in event.summary.value]
            if kind == "session_log":
                log = event.session_log
                tags = [log.status, log.checkpoint_path.replace(folder, "FOLDER")]
            elif kind == "meta_graph_def":
                message = tf.MetaGraphDef.FromString(event.meta_graph_def)
                tags = [len(message.graph_def.node), sorted(message.collection_def)]
                tags += [message.saver_def.save_tensor_name, message.saver_def.sharded]
            elif kind == "graph_def":
                tags = [len(tf.GraphDef.FromString(event.graph_def).node)]
            elif kind == "tagged_run_metadata":
                tags = [event.tagged_run_metadata.tag]
            found.append((kind, event.step, tags))
    return found


def files(tf, folder):
    """The files of a folder, without their times, and what its state says."""
    listed = sorted({re.sub(r"(tfevents|data-00000-of-).*", r"\1", name) for name in os.listdir(folder)})
    state = tf.train.get_checkpoint_state(folder)
    paths = [] if state is None else [os.path.relpath(p, folder) for p in state.all_model_checkpoint_paths]
    return [listed, paths]


def sessions(tf, folder=None, **options):
    return {
        "monitored": lambda hooks: tf.train.MonitoredSession(hooks=hooks, **options),
        "singular": lambda hooks: tf.train.SingularMonitoredSession(hooks=hooks, **options),
        "training": lambda hooks: tf.train.MonitoredTrainingSession(
            hooks=hooks, checkpoint_dir=folder, **options
        ),
    }


def stable_graph(tf):
    """The nodes of the default graph, without attributes that are different each time."""
    return GraphNodes(
        tf.get_default_graph().as_graph_def(), ["T", "dtype", "shape", "N", "_class", "use_locking"]
    )
