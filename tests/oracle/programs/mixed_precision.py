"""Loss scaling: what scales, counts and variables become over steps with good and bad gradients."""

from kit import cases, raises

# Factors of the loss in each step: at infinity, gradients are not finite.
_RUNS = {
    "good": [1.0] * 6,
    "bad": [1.0, float("inf"), float("inf"), 1.0, 1.0, 1.0],
    "mixed": [1.0, float("inf"), 1.0, 1.0, float("nan"), 1.0, 1.0, 1.0, float("inf"), float("inf")],
}


def _history(tf, optimizer, watched, factors, **keywords):
    """The watched values after each step of gradient descent on a loss times a factor."""
    w = tf.get_variable("w", initializer=[4.0, -3.0])
    factor = tf.placeholder(tf.float32, [])
    step = tf.train.get_or_create_global_step()
    update = optimizer.minimize(tf.reduce_sum(tf.square(w)) * factor, global_step=step, **keywords)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows = []
        for value in factors:
            session.run(update, {factor: value})
            rows.append(session.run([w, step] + watched))
    return rows


@cases(*_RUNS)
def dynamic_scale(tf, np, name):
    scale = tf.train.experimental.DynamicLossScale(8.0, increment_period=2, multiplier=2.0)
    optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.1), scale
    )
    watched = [scale(), scale._num_good_steps.read_value()]
    return _history(tf, optimizer, watched, _RUNS[name])


@cases(*_RUNS)
def exponential_manager(tf, np, name):
    contrib = tf.contrib.mixed_precision
    manager = contrib.ExponentialUpdateLossScaleManager(4.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=2)
    optimizer = contrib.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    watched = [manager.get_loss_scale(), manager._num_good_steps, manager._num_bad_steps]
    return _history(tf, optimizer, watched, _RUNS[name])


def exponential_limits(tf, np):
    """The scale stays where it would overflow, and at 1."""
    contrib, inf = tf.contrib.mixed_precision, float("inf")
    found = []
    for first, ratio, factors in ((2e38, 4.0, [1e-30] * 3), (1.1, 2.0, [inf] * 3)):
        with tf.Graph().as_default():
            manager = contrib.ExponentialUpdateLossScaleManager(first, 1, 1, incr_ratio=ratio, decr_ratio=0.5)
            optimizer = contrib.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
            found.append(_history(tf, optimizer, [manager.get_loss_scale()], factors))
    return found


def fixed_manager(tf, np):
    contrib = tf.contrib.mixed_precision
    manager = contrib.FixedLossScaleManager(16)
    optimizer = contrib.LossScaleOptimizer(tf.train.AdamOptimizer(0.1), manager)
    refused = raises(lambda: contrib.FixedLossScaleManager(0.5))
    rows = _history(tf, optimizer, [manager.get_loss_scale()], _RUNS["mixed"][:4])
    return rows, refused, isinstance(manager, contrib.LossScaleManager)


def graph_rewrite_switch(tf, np):
    experimental = tf.train.experimental
    optimizer = experimental.enable_mixed_precision_graph_rewrite(
        tf.train.GradientDescentOptimizer(0.1), 32.0
    )
    options = tf.config.optimizer.get_experimental_options()
    rows = _history(tf, optimizer, [], _RUNS["good"])
    refused = raises(lambda: experimental.enable_mixed_precision_graph_rewrite(optimizer))
    refused_too = raises(lambda: experimental.enable_mixed_precision_graph_rewrite("sgd"))
    experimental.disable_mixed_precision_graph_rewrite()
    after = tf.config.optimizer.get_experimental_options()
    names = type(optimizer).__name__, options.get("auto_mixed_precision"), after.get("auto_mixed_precision")
    return names, rows, refused, refused_too


@cases(*_RUNS)
def keras_optimizer(tf, np, name):
    """A Keras optimizer with a scaled loss, as the graph rewrite wraps it and models use it."""
    w = tf.Variable([4.0, -3.0], use_resource=True)
    factor = tf.placeholder(tf.float32, [])
    scale = tf.train.experimental.DynamicLossScale(8.0, increment_period=2)
    optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(
        tf.keras.optimizers.SGD(0.1, momentum=0.5), scale
    )
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    (update,) = optimizer.get_updates(tf.reduce_sum(tf.square(w)) * factor, [w])[-1:]
    rows = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in _RUNS[name]:
            session.run(update, {factor: value})
            rows.append(session.run([w, scale(), optimizer.iterations]))
    bounded = tf.keras.optimizers.SGD(0.1, clipnorm=1.0)
    make = tf.keras.mixed_precision.experimental.LossScaleOptimizer
    refused = [raises(lambda: make(opt, 1.0)) for opt in (bounded, "sgd")]
    return rows, type(optimizer).__name__, refused, optimizer.get_slot_names()
