"""What a step costs that asks a parameter server for one number."""

from benchmarks.clusters import chief_of

title = "cluster: fetching a scalar from a parameter server"
steps = 500
shared = False
reach = {"tensorflow": 1 / 2.5}


def tf1(tf):
    server = chief_of(tf, __name__)
    with tf.device("/job:ps/task:0"):
        value = tf.Variable(1.0)
    sess = tf.Session(server.target)
    sess.run(value.initializer)
    return lambda: sess.run(value)
