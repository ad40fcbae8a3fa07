"""The part of a recovery that is the library's: a session restored from a checkpoint, and its first step."""

import atexit
import shutil
import tempfile

from benchmarks import trainer
from benchmarks.works import Step

title = "resume: a session restored from 64 MB, and its first step"
steps = 2
shared = False
reach = {"tensorflow": 1.0}


def tf1(tf):
    folder = tempfile.mkdtemp(prefix="resume")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    def session(**saving):
        return tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, save_summaries_steps=None, log_step_count_steps=None, **saving
        )

    def prepare():
        graph = tf.Graph()
        with graph.as_default():
            return graph, *trainer.build(tf)

    def resume(graph, step, train):
        with graph.as_default(), session(save_checkpoint_secs=None, save_checkpoint_steps=None) as sess:
            sess.run(train)
            return sess.run(step)

    graph, _, train = prepare()
    with graph.as_default(), session(save_checkpoint_steps=10) as sess:  # saves when it ends
        sess.run(train)
    return Step(resume, prepare)
