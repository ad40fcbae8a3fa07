"""What tests of TensorFlow 1's libraries of layers, losses and metrics found to differ."""

from kit import raises


def fused_is_used_where_it_can_be(tf, np):
    # Asked for with three axes, with an adjustment or in virtual batches, the plain form is taken.
    tf.set_random_seed(3)
    image = tf.reshape(tf.range(48.0), [2, 2, 3, 4])
    found = []
    for inputs, options in (
        (image, {}),
        (tf.reshape(image, [2, 6, 4]), {}),
        (image, {"axis": 2}),
        (image, {"virtual_batch_size": 1}),
        (tf.reshape(image, [6, 2, 2, 2]), {"virtual_batch_size": 3}),
        (image, {"adjustment": lambda shape: (tf.fill([1, 1, 1, 4], 2.0), tf.fill([1, 1, 1, 4], 1.0))}),
    ):
        layer = tf.layers.BatchNormalization(fused=True, **options)
        found.append((layer(inputs, training=True), layer.fused))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [(tensor.shape.as_list(), fused, sess.run(tensor)) for tensor, fused in found]


def virtual_batches_are_checked(tf, np):
    image = tf.ones([2, 2, 3, 4])
    same = lambda shape: (1.0, 0.0)
    return [
        raises(lambda: tf.layers.batch_normalization(image, **options))
        for options in (
            {"virtual_batch_size": -1},
            {"virtual_batch_size": 1, "axis": [0, 3]},
            {"virtual_batch_size": 1, "adjustment": same},
        )
    ]


def normalizers_need_sizes(tf, np):
    layers = tf.contrib.layers
    open_channels = tf.placeholder(tf.float32, [4, 5, 6, None])
    open_height = tf.placeholder(tf.float32, [4, None, 6, 64])
    image = tf.ones([2, 3, 4, 64])
    return [
        raises(lambda: layers.instance_norm(open_channels)),
        raises(lambda: layers.group_norm(open_channels)),
        raises(lambda: layers.group_norm(open_height)),
        raises(lambda: layers.group_norm(image, channels_axis=5)),
        raises(lambda: layers.group_norm(image, reduction_axes=[1, 5])),
        raises(lambda: layers.group_norm(image, reduction_axes=[1, 3])),
    ]


def losses_are_kept_apart_by_a_scope(tf, np):
    losses = tf.contrib.losses
    x, y = tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])
    with tf.contrib.framework.arg_scope([losses.add_loss], loss_collection=None):
        kept = losses.mean_squared_error(x, y)
        pairs = losses.mean_pairwise_squared_error(x[None], y[None])
        losses.softmax_cross_entropy(x[None], y[None])
        losses.sparse_softmax_cross_entropy(x[None], [1])
    before = len(losses.get_losses())
    losses.absolute_difference(x, y)
    losses.compute_weighted_loss(x)
    with tf.Session() as sess:
        return before, len(losses.get_losses()), sess.run([kept, pairs, losses.get_losses()])


def losses_need_ranks(tf, np):
    losses = tf.contrib.losses
    anything = tf.placeholder(tf.float32)
    known = tf.ones([3, 2])
    return [
        raises(lambda: losses.cosine_distance(anything, known, axis=1)),
        raises(lambda: losses.cosine_distance(known, anything, axis=1)),
        raises(lambda: losses.absolute_difference(known, known, weights=anything)),
        raises(lambda: losses.compute_weighted_loss(anything)),
        raises(lambda: losses.sparse_softmax_cross_entropy(known, tf.constant([[0, 1], [2, 3]]))),
    ]
