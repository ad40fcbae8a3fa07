"""Adding 100 MB, made on the worker, to a variable of a parameter server."""

from benchmarks.clusters import chief_of

title = "cluster: pushing an update of 100 MB to a parameter server"
steps = 10
shared = False
reach = {"tensorflow": 1 / 1.3}


def tf1(tf):
    server = chief_of(tf, __name__)
    with tf.device("/job:ps/task:0"):
        value = tf.Variable(tf.zeros([25_000_000]))
    with tf.device("/job:worker/task:0"):
        update = tf.Variable(tf.ones([25_000_000]), name="update")
        push = tf.assign_add(value, update * 1.0)
    with tf.device("/job:ps/task:0"), tf.control_dependencies([push.op]):
        done = tf.constant(1.0) * 1.0
    sess = tf.Session(server.target)
    sess.run([value.initializer, update.initializer])
    return lambda: sess.run(done)
