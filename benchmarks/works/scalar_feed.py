"""What a `run` costs when there is nothing to compute: a + 1 with one scalar fed."""

title = "`run` of a + 1, one scalar fed"
steps = 2000
reach = {"tensorflow": 1 / 10}


def tf1(tf):
    a = tf.placeholder(tf.float32, [])
    b = a + 1
    sess = tf.Session()
    return lambda: sess.run(b, {a: 2.0})
