"""What surrounds an optimizer: moving averages, decays, clipping, and the programs of the talks."""

from kit import cases, differentiated, graph, normal, product, raises, run


@cases(*product([None, 3], ["reference", "resource"], [False, True]))
def moving_average(tf, np, steps, kind, zero_debias):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=kind == "resource")
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=steps, zero_debias=zero_debias)
    update = ema.apply([v])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for i in range(3):
            session.run(v.assign([10.0 * (i + 1), -1.0]))
            session.run(update)
            seen.append(session.run(ema.average(v)))
        return [
            seen,
            ema.average_name(v),
            [x.name for x in tf.global_variables()],
            [x.name for x in tf.moving_average_variables()],
        ]


def moving_average_graph(tf, np):
    v, w = tf.Variable(1.0, name="v"), tf.Variable([2.0], name="w", use_resource=True)
    with tf.name_scope("s"):
        t = tf.multiply(v, 2.0, name="t")
    ema = tf.train.ExponentialMovingAverage(0.5, name="EMA")
    return [ema.apply([v, w, t]), ema.average(t).name, ema.name, graph(tf)]


def moving_average_of_tensors(tf, np):
    x = tf.placeholder(tf.float32, [2], "x")
    y = tf.multiply(x, 2.0, name="y")
    ema = tf.train.ExponentialMovingAverage(0.5)
    update = ema.apply([y])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for value in ([1.0, 2.0], [3.0, 4.0]):
            session.run(update, {x: value})
            seen.append(session.run(ema.average(y)))
        return [seen, ema.average_name(y)]


def moving_averages_to_restore(tf, np):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    found = ema.variables_to_restore()
    return [sorted((k, x.name) for k, x in found.items()), ema.average(w)]


def moving_average_of_all_trainables(tf, np):
    tf.Variable(1.0, name="v")
    tf.Variable(2.0, name="w", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9)
    return [ema.apply().name, [x.name for x in tf.global_variables()]]


def moving_average_mistakes(tf, np):
    ema = tf.train.ExponentialMovingAverage(0.9)
    v = tf.Variable(1, name="v")
    return raises(ema.apply, [v])


_DECAYS = {
    "exponential": lambda t, s: t.exponential_decay(0.1, s, 10, 0.5),
    "exponential stairs": lambda t, s: t.exponential_decay(0.1, s, 10, 0.5, staircase=True),
    "polynomial": lambda t, s: t.polynomial_decay(0.1, s, 20, 0.01),
    "polynomial square": lambda t, s: t.polynomial_decay(0.1, s, 20, 0.01, power=2.0),
    "polynomial cycle": lambda t, s: t.polynomial_decay(0.1, s, 20, 0.01, cycle=True),
    "natural": lambda t, s: t.natural_exp_decay(0.1, s, 10, 0.5),
    "natural stairs": lambda t, s: t.natural_exp_decay(0.1, s, 10, 0.5, staircase=True),
    "inverse time": lambda t, s: t.inverse_time_decay(0.1, s, 10, 0.5),
    "inverse time stairs": lambda t, s: t.inverse_time_decay(0.1, s, 10, 0.5, staircase=True),
    "cosine": lambda t, s: t.cosine_decay(0.1, s, 30, alpha=0.1),
    "cosine restarts": lambda t, s: t.cosine_decay_restarts(0.1, s, 10, t_mul=2.0, m_mul=0.9),
    "linear cosine": lambda t, s: t.linear_cosine_decay(0.1, s, 30),
    "piecewise": lambda t, s: t.piecewise_constant(s, [10, 20], [0.1, 0.05, 0.01]),
    "piecewise alias": lambda t, s: t.piecewise_constant_decay(s, [5, 15], [1.0, 0.5, 0.1]),
}


@cases(*_DECAYS)
def decays(tf, np, key):
    step = tf.placeholder(tf.int64 if key.startswith("piecewise") else tf.int32, [], "step")
    rate = _DECAYS[key](tf.train, step)
    with tf.Session() as session:
        return [rate.dtype, [session.run(rate, {step: s}) for s in (0, 1, 5, 10, 11, 20, 25, 47)]]


@cases("exponential", "exponential stairs", "polynomial", "natural", "inverse time", "cosine")
def decay_graphs(tf, np, key):
    step = tf.train.get_or_create_global_step()
    _DECAYS[key](tf.train, step)
    return graph(tf)


def decay_mistakes(tf, np):
    t = tf.train
    return [
        raises(t.exponential_decay, 0.1, None, 10, 0.5),
        raises(t.piecewise_constant, tf.constant(1), [1.5], [1.0, 2.0]),
        raises(t.polynomial_decay, 0.1, None, 10),
        raises(t.cosine_decay, 0.1, None, 10),
    ]


@cases(0.5, 5.0, 100.0)
def clip_by_norm(tf, np, limit):
    return differentiated(tf, np, lambda x: tf.clip_by_norm(x, limit), normal(np, 3, 4))


def clip_by_norm_of_axes_and_zeros(tf, np):
    rows = differentiated(tf, np, lambda x: tf.clip_by_norm(x, 1.0, axes=[1]), normal(np, 3, 4))
    zeros = differentiated(tf, np, lambda x: tf.clip_by_norm(x, 1.0), np.zeros([3], np.float32))
    slices = tf.clip_by_norm(tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1])), 1.0)
    return [rows, zeros, run(tf, slices)]


@cases(0.5, 100.0)
def clip_by_average_norm(tf, np, limit):
    return differentiated(
        tf, np, lambda x: tf.clip_by_average_norm(x, limit), normal(np, 3, 4).astype(np.float32)
    )


@cases(0.5, 5.0, 100.0)
def clip_by_global_norm(tf, np, limit):
    a, b = normal(np, 3, 2).astype(np.float32), normal(np, 4).astype(np.float32)
    clipped, norm = tf.clip_by_global_norm([tf.constant(a), None, tf.constant(b)], limit)
    return [run(tf, [clipped[0], clipped[2], norm]), clipped[1] is None]


def clip_by_global_norm_more(tf, np):
    slices = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([4, 2]))
    clipped, norm = tf.clip_by_global_norm([tf.constant([12.0]), slices], 1.3)
    given, _ = tf.clip_by_global_norm([tf.constant([2.0])], 1.0, use_norm=tf.constant(4.0))
    bad, _ = tf.clip_by_global_norm([tf.constant([float("inf")]), tf.constant([1.0])], 1.0)
    return [run(tf, clipped + [norm] + given + bad), raises(tf.clip_by_global_norm, tf.constant(1.0), 1.0)]


def global_norm(tf, np):
    return run(tf, tf.global_norm([tf.constant([3.0]), None, tf.constant([[4.0]])]))


def global_step_in_training(tf, np):
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(1.0)
    rate = tf.train.exponential_decay(0.1, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(v * v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(4):
            session.run(train)
            seen.append(session.run([step, v, rate]))
        return seen


def linear_regression_of_the_talk(tf, np):
    x_data = np.random.RandomState(0).rand(200).astype(np.float32)
    y_data = x_data * 0.1 + 0.3
    x, y_ = tf.placeholder(tf.float32, shape=[]), tf.placeholder(tf.float32, shape=[])
    w = tf.get_variable(shape=[], name="W", initializer=tf.zeros_initializer())
    b = tf.get_variable(shape=[], name="b", initializer=tf.zeros_initializer())
    y = w * x + b
    loss = tf.square(y - y_)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.initialize_all_variables())
        for i in range(200):
            session.run(train, feed_dict={x: x_data[i], y_: y_data[i]})
        return session.run([w, b])


def relu_layer_of_the_talk(tf, np):
    b = tf.Variable(tf.zeros((100,)))
    w = tf.Variable(tf.random_uniform((784, 100), -1, 1, seed=3))
    x = tf.placeholder(tf.float32, (1, 784))
    h = tf.nn.relu(tf.matmul(x, w) + b)
    return [run(tf, h, {x: np.linspace(0, 1, 784).reshape(1, 784)}), graph(tf)]


def softmax_classifier_of_the_talk(tf, np):
    rng = np.random.RandomState(1)
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.float32, [None, 3])
    w, b = tf.Variable(tf.zeros([5, 3])), tf.Variable(tf.zeros([3]))
    prediction = tf.nn.softmax(tf.matmul(x, w) + b)
    cross_entropy = tf.reduce_mean(-tf.reduce_sum(y * tf.log(prediction), axis=1))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(prediction, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    inputs, labels = rng.normal(size=(50, 5)), np.eye(3)[rng.randint(0, 3, 50)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(10):
            seen.append(session.run([train, cross_entropy], {x: inputs, y: labels})[1])
        return [seen, session.run([w, b, accuracy], {x: inputs, y: labels})]


def dense_layer_of_the_talk(tf, np):
    x = tf.constant([[1.0], [2.0], [3.0], [4.0]], dtype=tf.float32)
    y_true = tf.constant([[0.0], [-1.0], [-2.0], [-3.0]], dtype=tf.float32)
    linear_model = tf.layers.Dense(units=1, kernel_initializer=tf.constant_initializer(0.5))
    y_pred = linear_model(x)
    loss = tf.losses.mean_squared_error(labels=y_true, predictions=y_pred)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run((train, loss))[1] for _ in range(100)]
        return [losses, session.run(y_pred), graph(tf)]
