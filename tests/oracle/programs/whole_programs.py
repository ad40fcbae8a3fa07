"""Programs as people write them, seeded once and initialized by default: TensorFlow's numbers to the end."""

from kit import Close, names, run

_LOOSE = 2e-3, 2e-4


def _digits(np, count=32, size=8, classes=4):
    rng = np.random.RandomState(0)
    return rng.uniform(size=(count, size * size)).astype(np.float32), rng.randint(0, classes, count)


def _train(tf, train, watched, feeds, steps=5):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        first = session.run(tf.trainable_variables())
        seen = []
        for _ in range(steps):
            seen.append(session.run(watched, feeds))
            session.run(train, feeds)
        return [first, Close([seen, session.run(tf.trainable_variables())], *_LOOSE)]


def convolutional_classifier(tf, np):
    tf.set_random_seed(1)
    pixels, labels = _digits(np)
    x, y = tf.placeholder(tf.float32, [None, 64], "x"), tf.placeholder(tf.int64, [None], "y")
    keep = tf.placeholder_with_default(1.0, [])
    h = tf.reshape(x, [-1, 8, 8, 1])
    h = tf.layers.conv2d(h, 8, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 16, [3, 3], activation=tf.nn.relu)
    h = tf.layers.flatten(h)
    h = tf.nn.dropout(tf.layers.dense(h, 32, tf.nn.relu), keep)
    logits = tf.layers.dense(h, 4)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    train = tf.train.AdamOptimizer(1e-2).minimize(loss)
    return _train(tf, train, [loss, accuracy], {x: pixels, y: labels, keep: 0.8})


def variables_by_hand(tf, np):
    tf.set_random_seed(2)
    pixels, labels = _digits(np)

    def weight(shape):
        return tf.Variable(tf.truncated_normal(shape, stddev=0.1))

    def bias(shape):
        return tf.Variable(tf.constant(0.1, shape=shape))

    x, y = tf.placeholder(tf.float32, shape=[None, 64]), tf.placeholder(tf.float32, shape=[None, 4])
    image = tf.reshape(x, [-1, 8, 8, 1])
    h = tf.nn.relu(
        tf.nn.conv2d(image, weight([5, 5, 1, 8]), strides=[1, 1, 1, 1], padding="SAME") + bias([8])
    )
    h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    h = tf.nn.relu(tf.matmul(tf.reshape(h, [-1, 4 * 4 * 8]), weight([4 * 4 * 8, 16])) + bias([16]))
    logits = tf.matmul(h, weight([16, 4])) + bias([4])
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return _train(tf, train, loss, {x: pixels, y: np.eye(4)[labels]})


def autoencoder_with_shared_scopes(tf, np):
    tf.set_random_seed(3)
    pixels, _ = _digits(np)
    x = tf.placeholder(tf.float32, [None, 64])
    with tf.variable_scope("encoder", initializer=tf.glorot_uniform_initializer()):
        w = tf.get_variable("w", [64, 10])
        code = tf.nn.sigmoid(tf.matmul(x, w) + tf.get_variable("b", [10], initializer=tf.zeros_initializer()))
    with tf.variable_scope("decoder"):
        again = tf.matmul(code, w, transpose_b=True) + tf.get_variable(
            "b", [64], initializer=tf.zeros_initializer()
        )
    loss = tf.reduce_mean(tf.square(again - x)) + 1e-3 * tf.nn.l2_loss(w)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    return _train(tf, train, loss, {x: pixels})


def adversarial_pair(tf, np):
    tf.set_random_seed(4)

    def generator(z):
        with tf.variable_scope("G"):
            return tf.layers.dense(tf.layers.dense(z, 8, tf.nn.relu), 2)

    def critic(x, reuse=None):
        with tf.variable_scope("D", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(x, 8, tf.nn.leaky_relu), 1)

    real = tf.placeholder(tf.float32, [None, 2])
    fake = generator(tf.random_normal([16, 3]))
    yes, no = critic(real), critic(fake, reuse=True)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    loss_d = tf.reduce_mean(
        entropy(labels=tf.ones_like(yes), logits=yes) + entropy(labels=tf.zeros_like(no), logits=no)
    )
    loss_g = tf.reduce_mean(entropy(labels=tf.ones_like(no), logits=no))
    of_d, of_g = (tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=s) for s in ("D", "G"))
    train_d = tf.train.AdamOptimizer(1e-2, beta1=0.5).minimize(loss_d, var_list=of_d)
    train_g = tf.train.AdamOptimizer(1e-2, beta1=0.5).minimize(loss_g, var_list=of_g)
    data = np.random.RandomState(5).normal(size=(16, 2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(4):
            session.run(train_d, {real: data})
            session.run(train_g, {real: data})
            seen.append(session.run([loss_d, loss_g], {real: data}))
        return [Close([seen, session.run(of_d + of_g)], *_LOOSE), [v.name for v in tf.global_variables()]]


def towers_with_averaged_gradients(tf, np):
    tf.set_random_seed(5)
    pixels, labels = _digits(np)
    optimizer, gradients, losses = tf.train.MomentumOptimizer(0.1, 0.9), [], []
    for i in range(2):
        with tf.device("/cpu:0"), tf.name_scope("tower_%d" % i), tf.variable_scope(
            "model", reuse=tf.AUTO_REUSE
        ):
            part = slice(16 * i, 16 * i + 16)
            h = tf.layers.dense(tf.constant(pixels[part]), 8, tf.nn.tanh, name="h")
            logits = tf.layers.dense(h, 4, name="logits")
            loss = tf.losses.sparse_softmax_cross_entropy(labels[part], logits)
            losses.append(loss)
            gradients.append(optimizer.compute_gradients(loss))
    averaged = []
    for pairs in zip(*gradients):
        averaged.append((tf.reduce_mean(tf.stack([g for g, _ in pairs]), 0), pairs[0][1]))
    train = optimizer.apply_gradients(averaged, global_step=tf.train.get_or_create_global_step())
    return [_train(tf, train, losses, {}), names(tf)]


def averages_decay_and_clipping(tf, np):
    tf.set_random_seed(6)
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    step = tf.train.get_or_create_global_step()
    p = tf.layers.dense(tf.layers.dense(x, 5, tf.nn.relu), 1)
    loss = tf.losses.huber_loss(y, p)
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    optimizer = tf.train.AdagradOptimizer(rate)
    slopes, variables = zip(*optimizer.compute_gradients(loss))
    clipped, norm = tf.clip_by_global_norm(slopes, 0.5)
    apply = optimizer.apply_gradients(zip(clipped, variables), global_step=step)
    average = tf.train.ExponentialMovingAverage(0.9, step)
    with tf.control_dependencies([apply]):
        train = average.apply(tf.trainable_variables())
    rng = np.random.RandomState(6)
    feeds = {x: rng.normal(size=(10, 3)), y: rng.normal(size=(10, 1))}
    result = _train(tf, train, [loss, rate, norm, step], feeds)
    return [result, [average.average(v).name for v in tf.trainable_variables()]]


def embedding_model(tf, np):
    tf.set_random_seed(7)
    words, labels = tf.placeholder(tf.int32, [None, 5]), tf.placeholder(tf.float32, [None])
    table = tf.get_variable("table", [20, 4], initializer=tf.random_uniform_initializer(-1.0, 1.0))
    mean = tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1)
    logits = tf.squeeze(tf.layers.dense(mean, 1), 1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    rng = np.random.RandomState(7)
    return _train(tf, train, loss, {words: rng.randint(0, 20, size=(6, 5)), labels: rng.randint(0, 2, 6)})


def evaluation_with_metrics(tf, np):
    tf.set_random_seed(8)
    pixels, labels = _digits(np)
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(x, 4)
    accuracy, update = tf.metrics.accuracy(y, tf.argmax(logits, 1))
    mean, more = tf.metrics.mean(tf.reduce_max(tf.nn.softmax(logits), 1))
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for i in range(0, 32, 8):
            session.run([update, more], {x: pixels[i : i + 8], y: labels[i : i + 8]})
        return session.run([accuracy, mean])


def frozen_for_inference(tf, np):
    tf.set_random_seed(9)
    pixels, _ = _digits(np)
    x = tf.placeholder(tf.float32, [None, 64], "x")
    h = tf.layers.batch_normalization(tf.layers.dense(x, 6, tf.nn.relu), training=False)
    tf.nn.softmax(tf.layers.dense(h, 4), name="probabilities")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run("probabilities:0", {x: pixels})
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), ["probabilities"]
        )
    with tf.Graph().as_default():
        inputs, outputs = tf.import_graph_def(frozen, return_elements=["x:0", "probabilities:0"])
        with tf.Session() as session:
            after = session.run(outputs, {inputs: pixels})
    return [before, bool(np.allclose(before, after)), sorted(n.op for n in frozen.node)]


def layers_with_positional_arguments(tf, np):
    tf.set_random_seed(10)
    x = tf.constant(np.random.RandomState(1).normal(size=(2, 8, 8, 3)).astype(np.float32))
    h = tf.layers.conv2d(x, 4, 3, 2, "same", "channels_last", 1, tf.nn.relu, False)
    h = tf.layers.conv2d_transpose(h, 3, 3, 2, "same", "channels_last", tf.nn.tanh)
    h = tf.layers.separable_conv2d(h, 4, 3, 1, "same")
    h = tf.layers.average_pooling2d(h, 2, 2, "valid", "channels_last", "pooled")
    h = tf.layers.dense(tf.layers.flatten(h), 3, tf.nn.softmax, True, tf.zeros_initializer())
    return [h, run(tf, h), [v.name for v in tf.global_variables()]]


def half_precision_model(tf, np):
    x = tf.constant(np.random.RandomState(2).normal(size=(4, 3)).astype(np.float16))
    w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float16))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(3):
            session.run(train)
            seen.append(session.run([loss, w]))
        return Close(seen, 2e-2, 5e-3)


def logistic_regression_in_doubles(tf, np):
    rng = np.random.RandomState(3)
    x, y = (
        tf.constant(rng.normal(size=(20, 3))),
        tf.constant(rng.randint(0, 2, size=(20, 1)).astype(np.float64)),
    )
    w, b = tf.Variable(np.zeros([3, 1])), tf.Variable(np.float64(0.0))
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
    ) + 0.01 * tf.nn.l2_loss(w)
    newton = [tf.assign_sub(v, 0.5 * g) for v, g in zip([w, b], tf.gradients(loss, [w, b]))]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(30):
            session.run(newton)
        return session.run([w, b, loss, tf.hessians(loss, b)[0]])


def game_of_life_without_training(tf, np):
    board = tf.Variable(
        np.random.RandomState(4).randint(0, 2, size=(1, 8, 8, 1)).astype(np.float32), trainable=False
    )
    ring = np.ones([3, 3, 1, 1], np.float32)
    ring[1, 1] = 0.0
    neighbours = tf.nn.conv2d(board, ring, [1, 1, 1, 1], "SAME")
    alive = tf.logical_or(tf.equal(neighbours, 3.0), tf.logical_and(tf.equal(neighbours, 2.0), board > 0.5))
    step = tf.assign(board, tf.cast(alive, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(tf.reduce_sum(session.run(step))) for _ in range(6)] + [session.run(board)]
