"""How soon a step learns that the parameter server it waits for was killed."""

import subprocess
import threading
import time

from benchmarks import clusters
from benchmarks.works import Step

title = "cluster: from the kill of a parameter server to the error in a step that waits for it"
steps = 1
shared = False
reach = {"seconds": 2.0}


def tf1(tf):
    def prepare():
        """A cluster of its own, and a step on it that waits."""
        tf.reset_default_graph()
        server, children = clusters.chief_and_children(tf, __name__)
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(1, tf.float32)
            taken, size = queue.dequeue(), queue.size()
        with tf.device("/job:worker/task:0"):
            result = taken + 1.0
        sess = tf.Session(server.target)
        sess.run(size)
        ended = threading.Event()
        waiting = threading.Thread(target=wait_for, args=(tf, sess, result, ended), daemon=True)
        waiting.start()
        time.sleep(0.5)  # so that the step waits there
        return children[0], ended

    def run(child: subprocess.Popen, ended: threading.Event) -> float:
        child.kill()
        return float(ended.wait(120))

    return Step(run, prepare)


def wait_for(tf, sess, result, ended):
    try:
        sess.run(result)
    except tf.errors.OpError:
        ended.set()
