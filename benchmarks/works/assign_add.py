"""What a `run` costs when nothing goes in: one addition to a variable."""

title = "`run` of an assign_add, no feed"
steps = 2000
reach = {"tensorflow": 1 / 4}


def tf1(tf):
    counter = tf.Variable(0.0)
    count = tf.assign_add(counter, 1.0)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    return lambda: sess.run(count)
