"""Fetching 100 MB from a parameter server."""

from benchmarks.clusters import chief_of

title = "cluster: fetching 100 MB from a parameter server"
steps = 10
shared = False
reach = {"tensorflow": 1 / 1.3}


def tf1(tf):
    server = chief_of(tf, __name__)
    with tf.device("/job:ps/task:0"):
        value = tf.Variable(tf.ones([25_000_000]))
    sess = tf.Session(server.target)
    sess.run(value.initializer)
    return lambda: sess.run(value)[0]
