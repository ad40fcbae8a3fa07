"""tf.contrib.layers: divisive normalization, scaled gradients, summaries of collections."""

from kit import Close, cases, normal, product, raises, run


@cases(*product([3, 4, 5], [False, True]))
def divided(tf, np, rank, inverse):
    x = tf.constant(normal(np, *[2, 3, 2, 2, 4][:rank]).astype("float32"))
    made = tf.contrib.layers.gdn(x, inverse=inverse, gamma_init=0.3, name="norm")
    slopes = tf.gradients(tf.reduce_sum(tf.square(made) * 0.5 + made), [x] + tf.trainable_variables())
    return [
        made.shape,
        Close(run(tf, [made, slopes]), 1e-4, 1e-3),
        [(v.name, v.shape) for v in tf.global_variables()],
    ]


def divided_refuses(tf, np):
    layers = tf.contrib.layers
    return [
        raises(layers.GDN, data_format="NHWC"),
        raises(layers.gdn, tf.placeholder(tf.float32, [2, 3, None])),
        raises(layers.gdn, tf.zeros([2, 3])),
    ]


def scaled(tf, np):
    x = tf.constant([1.0, 2.0])
    made = tf.contrib.layers.scale_gradient(x, 3.0)
    return run(tf, [made, tf.gradients(made * made, x)])


def summarized(tf, np):
    slim = tf.contrib.slim
    slim.fully_connected(slim.fully_connected(tf.ones([2, 3]), 4, scope="a"), 2, scope="b")
    made = slim.summarize_weights() + slim.summarize_biases("a/") + slim.summarize_variables("b/w")
    return [m.name for m in made]
