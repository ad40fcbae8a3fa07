"""What an iteration of a loop costs beside its body: counting to 100,000."""

title = "while_loop of 100,000 scalar iterations"
steps = 5
reach = {"tensorflow": 1 / 3}

COUNT = 100_000


def tf1(tf):
    count = tf.placeholder(tf.int32, [])
    end = tf.while_loop(lambda i: i < count, lambda i: i + 1, [tf.constant(0)])
    sess = tf.Session()
    return lambda: sess.run(end, {count: COUNT})


def jax():
    import jax

    run = jax.jit(lambda n: jax.lax.while_loop(lambda i: i < n, lambda i: i + 1, 0))
    return lambda: int(run(COUNT))
