"""tf.contrib.slim as networks use it: argument scopes, end points, train ops."""

from kit import Close, cases, normal, raises, run


def _network(tf, images, training, reuse=None):
    slim = tf.contrib.slim
    with tf.variable_scope("net", reuse=reuse) as scope:
        end_points = scope.original_name_scope + "_end_points"
        with slim.arg_scope(
            [slim.conv2d, slim.fully_connected, slim.max_pool2d], outputs_collections=end_points
        ):
            with slim.arg_scope(
                [slim.conv2d, slim.fully_connected],
                weights_initializer=tf.constant_initializer(0.05),
                weights_regularizer=slim.l2_regularizer(0.01),
            ):
                with slim.arg_scope([slim.dropout, slim.batch_norm], is_training=training):
                    net = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="conv1")
                    net = slim.max_pool2d(net, [2, 2], scope="pool1")
                    net = slim.conv2d(net, 3, [1, 1], normalizer_fn=slim.batch_norm, scope="conv2")
                    net = slim.flatten(net)
                    net = slim.dropout(net, 1.0)
                    logits = slim.fully_connected(net, 3, activation_fn=None, scope="logits")
        return logits, slim.utils.convert_collection_to_dict(end_points)


def _images(np):
    return normal(np, 2, 6, 6, 2).astype(np.float32)


@cases(True, False)
def network(tf, np, training):
    logits, end_points = _network(tf, tf.constant(_images(np)), training)
    _network(tf, tf.constant(_images(np)), training, reuse=True)
    values = run(tf, [logits, tf.losses.get_regularization_losses()])
    return {
        "values": Close(values, 2e-4, 1e-5),
        "end points": list(end_points.items()),
        "variables": [v.name for v in tf.global_variables()],
        "model": [v.name for v in tf.contrib.slim.get_model_variables()],
        "conv1": [v.name for v in tf.contrib.slim.get_variables("net/conv1")],
        "weights": [v.name for v in tf.contrib.slim.get_variables_by_name("weights")],
        "updates": [op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)],
        "losses": [loss.name for loss in tf.losses.get_regularization_losses()],
    }


@cases(
    ("plain", {}),
    ("clipped", {"clip_gradient_norm": 0.01}),
    ("multiplied", {"gradient_multipliers": {"net/logits/weights": 3.0}}),
    ("no updates", {"update_ops": []}),
    ("no step", {"global_step": None}),
    ("unchecked", {"check_numerics": False}),
)
def training(tf, np, label, options):
    slim = tf.contrib.slim
    logits, _ = _network(tf, tf.constant(_images(np)), True)
    slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding([0, 2], 3))
    total = slim.losses.get_total_loss()
    train = slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.1), **options)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(3)]
        state = session.run(["net/logits/weights:0", "net/conv2/BatchNorm/moving_mean:0"])
        step = tf.train.get_global_step()
        return [Close([losses, state], 5e-4, 5e-5), train, step and session.run(step)]


def not_finite(tf, np):
    v = tf.get_variable("v", initializer=-1.0)
    train = tf.contrib.slim.learning.create_train_op(tf.log(v), tf.train.GradientDescentOptimizer(0.1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return raises(session.run, train)


def transformed(tf, np):
    v = tf.get_variable("v", initializer=[3.0, 4.0])
    clip = tf.contrib.training.clip_gradient_norms_fn(1.0)
    train = tf.contrib.training.create_train_op(
        tf.reduce_sum(v * v), tf.train.GradientDescentOptimizer(1.0), transform_grads_fn=clip
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return session.run(v)


def refusals(tf, np):
    learning = tf.contrib.slim.learning
    pairs = [(tf.constant(1.0), tf.get_variable("v", initializer=1.0))]
    return [
        raises(learning.multiply_gradients, tuple(pairs), {"v": 1.0}),
        raises(learning.multiply_gradients, pairs, {}),
        raises(learning.multiply_gradients, pairs, [1.0]),
        raises(learning.multiply_gradients, [(None, pairs[0][1])], {"v": 2.0}),
    ]


def utilities(tf, np):
    utils = tf.contrib.layers.utils if hasattr(tf.contrib.layers, "utils") else tf.contrib.slim.utils
    t = tf.constant(1.0, name="t")
    u = tf.constant(2.0, name="u")
    utils.collect_named_outputs("c", "a/b/", t)
    utils.collect_named_outputs("c", "z", t)
    tf.add_to_collection("c", u)
    found = utils.convert_collection_to_dict("c", clear_collection=True)
    return [
        list(found.items()),
        tf.get_collection("c"),
        utils.get_variable_collections({"weights": ["x"]}, "weights"),
        utils.get_variable_collections({"weights": ["x"]}, "biases"),
        utils.get_variable_collections(["y"], "biases"),
        utils.two_element_tuple(3),
        utils.two_element_tuple([1, 2]),
        raises(utils.two_element_tuple, [1, 2, 3]),
        utils.n_positive_integers(3, 2),
        raises(utils.n_positive_integers, 2, -1),
        utils.last_dimension(tf.TensorShape([None, 4])),
        raises(utils.last_dimension, tf.TensorShape([4, None])),
        utils.channel_dimension(tf.TensorShape([2, 3, 4, 5]), "NCHW"),
    ]


def sizes(tf, np):
    _network(tf, tf.zeros([1, 4, 4, 2]), False)
    return list(tf.contrib.slim.model_analyzer.analyze_vars(tf.contrib.slim.get_model_variables()))
