"""Synchronous steps that compute nothing: 4 workers, 2 parameter servers, one scalar on each."""

import threading

from benchmarks.clusters import chief_of

title = "cluster: null synchronous step, 4 workers, 2 parameter servers"
steps = 100
shared = False
reach = {"tensorflow": 1 / 2}

WORKERS, SERVERS = 4, 2


def graph(tf, index):
    """A worker's step: read the parameters, hand gradients in, wait for a token; and the chief's own."""
    worker = f"/job:worker/task:{index}"
    with tf.device(worker):
        gradients = [tf.constant(1.0) for _ in range(SERVERS)]
    pushes, parameters, updates = [], [], []
    for i in range(SERVERS):
        with tf.device(f"/job:ps/task:{i}"):
            parameters.append(tf.get_variable(f"parameter_{i}", [], initializer=tf.zeros_initializer()))
            gathered = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name=f"gathered_{i}")
            updates.append(tf.assign_add(parameters[-1], gathered.take_grad(WORKERS)))
        with tf.device(worker):
            gradient = gradients[i] + 0.0 * parameters[-1]
        pushes.append(gathered.apply_grad(gradient, local_step=1 << 40))
    with tf.device("/job:ps/task:0"):
        tokens = tf.FIFOQueue(-1, tf.int64, shapes=[], shared_name="tokens")
        with tf.control_dependencies(pushes):
            step = tokens.dequeue()
        with tf.control_dependencies([update.op for update in updates]):
            release = tokens.enqueue_many([tf.zeros([WORKERS], tf.int64)])
    return parameters, step, release


def tf1(tf):
    server = chief_of(tf, __name__, SERVERS, WORKERS)
    parameters, step, release = graph(tf, 0)
    sess = tf.Session(server.target)
    sess.run([parameter.initializer for parameter in parameters])

    def lead():
        while True:
            sess.run(release)

    threading.Thread(target=lead, daemon=True).start()
    return lambda: float(sess.run(step))


def worker(tf, server, index):
    _, step, _ = graph(tf, index)
    sess = tf.Session(server.target)
    while True:
        try:
            sess.run(step)
        except tf.errors.FailedPreconditionError:
            continue  # the chief has not made the variables yet
