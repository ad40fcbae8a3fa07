"""A training program that is killed and started again: `python -m benchmarks.trainer ENGINE FOLDER`.

It prints the global step after each of its steps, and ends when its standard input does.
"""

import os
import sys
import threading

from benchmarks.worker import LIBRARIES

MEGABYTES = 64


def main(engine: str, folder: str) -> None:
    tf, _ = LIBRARIES[engine]()
    threading.Thread(target=end_with_parent, daemon=True).start()
    step, train = build(tf)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, save_checkpoint_steps=10, save_summaries_steps=None, log_step_count_steps=None
    ) as sess:
        while not sess.should_stop():
            sess.run(train)
            print(sess.run(step), flush=True)


def build(tf):
    """The global step, and an operation that moves it on."""
    step = tf.train.get_or_create_global_step()
    weights = tf.get_variable("w", shape=[MEGABYTES << 18], initializer=tf.zeros_initializer())
    return step, tf.group(step.assign_add(1), weights[:1].op)


def end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
