"""Graphs made by chance, the same in every engine: values, gradients, feeds anywhere, state, training."""

from kit import Close, GraphNodes, cases, raises

_SEEDS = range(60)


class _Builder:
    """Makes random tensors of small known shapes from earlier ones."""

    def __init__(self, tf, np, seed):
        self.tf, self.np, self.rng = tf, np, np.random.RandomState(seed)
        self.pool = []

    def pick(self, items):
        return items[self.rng.randint(len(items))]

    def start(self):
        """Placeholders, constants and variables, with the feeds of the first."""
        tf, feeds = self.tf, {}
        for i in range(4):
            shape = self.pick([[], [3], [2, 3], [2, 3], [3, 3], [1, 3]])
            value = self.rng.uniform(0.5, 2.0, size=shape)
            kind = self.pick(["placeholder", "constant", "variable", "placeholder"])
            if kind == "placeholder":
                tensor = tf.placeholder(tf.float64, shape if self.rng.rand() < 0.7 else None)
                feeds[tensor] = value
                if tensor.shape.ndims is None:
                    tensor = tf.identity(tensor)
                    tensor.set_shape(shape)
            elif kind == "constant":
                tensor = tf.constant(value)
            else:
                tensor = tf.Variable(value, use_resource=bool(self.rng.randint(2)), name="v%d" % i) * 1.0
            self.pool.append(tensor)
        return feeds

    def grow(self):
        """One more tensor, or none if the chosen op does not fit the chosen inputs."""
        tf, a, b = self.tf, self.pick(self.pool), self.pick(self.pool)
        unary = [
            tf.tanh,
            tf.sigmoid,
            tf.square,
            tf.negative,
            tf.nn.softplus,
            tf.abs,
            tf.exp,
            tf.nn.relu,
            tf.identity,
        ]
        binary = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.squared_difference]
        kind = self.rng.randint(14)
        if kind < 3:
            return self.pick(unary)(tf.clip_by_value(a, -3.0, 3.0))
        if kind < 7:
            return self.pick(binary)(a, b)
        if kind == 7:
            return a / (1.0 + tf.square(b))
        if kind == 8 and a.shape.ndims:
            axis = int(self.rng.randint(a.shape.ndims))
            reduce = self.pick([tf.reduce_sum, tf.reduce_mean, tf.reduce_max])
            return reduce(a, axis, keepdims=bool(self.rng.randint(2)))
        if kind == 9 and a.shape.ndims == 2:
            return self.pick(
                [
                    tf.transpose,
                    lambda t: t[::-1],
                    lambda t: t[:, 1:],
                    lambda t: tf.reshape(t, [-1]),
                    lambda t: t[0],
                ]
            )(a)
        if kind == 10 and a.shape.ndims == 2 and b.shape.ndims == 2 and a.shape[1] == b.shape[0]:
            return tf.matmul(a, b)
        if kind == 11 and a.shape.ndims:
            return self.pick(
                [tf.nn.softmax, tf.nn.log_softmax, tf.cumsum, lambda t: tf.concat([t, t * 2.0], 0)]
            )(a)
        if kind == 12:
            return self.pick(
                [
                    lambda t: t * 1.0,
                    lambda t: t + 0.0,
                    lambda t: 0.0 - (0.0 - t),
                    lambda t: t - t,
                    lambda t: tf.stop_gradient(t),
                ]
            )(a)
        if kind == 13:
            return tf.where(tf.greater(a, 1.0), a, tf.zeros_like(a))
        return None

    def build(self, count):
        feeds = self.start()
        self.fill(count)
        return feeds

    def fill(self, count):
        """Grows until there are so many tensors; what cannot be built is tried again otherwise."""
        while len(self.pool) < count:
            try:
                made = self.grow()
            except ValueError:
                continue
            if made is not None:
                self.pool.append(made)


def _scalar(tf, tensors):
    return tf.add_n([tf.reduce_sum(t) for t in tensors])


@cases(*_SEEDS)
def values_and_gradients(tf, np, seed):
    builder = _Builder(tf, np, seed)
    feeds = builder.build(25)
    targets = [builder.pick(builder.pool) for _ in range(4)] + builder.pool[-2:]
    sources = list(feeds) + tf.trainable_variables()
    slopes = [g for g in tf.gradients(_scalar(tf, targets), sources) if g is not None]
    definition = tf.get_default_graph().as_graph_def()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [Close(session.run([targets, slopes], feeds), 1e-7, 1e-8), GraphNodes(definition)]


@cases(*_SEEDS)
def feeds_anywhere(tf, np, seed):
    builder = _Builder(tf, np, seed + 1000)
    feeds = builder.build(25)
    fixed = {}
    for _ in range(3):
        tensor = builder.pick(builder.pool)
        if tensor not in feeds and tensor.op.type != "Const":
            fixed[tensor] = builder.rng.uniform(0.5, 2.0, size=tensor.shape.as_list())
    targets = builder.pool[-5:] + list(fixed)
    slopes = [g for g in tf.gradients(_scalar(tf, builder.pool[-3:]), list(feeds)) if g is not None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = session.run(targets, feeds)
        feeds.update(fixed)
        return Close([seen, session.run(targets, feeds), session.run(slopes, feeds)], 1e-7, 1e-8)


@cases(*_SEEDS)
def shapes_unknown_until_run(tf, np, seed):
    """Sizes are hidden from the graph, so that some ops do not fit when they run."""
    builder = _Builder(tf, np, seed + 4000)
    rng, feeds = builder.rng, {}
    for _ in range(4):
        shape = builder.pick([[3], [2, 3], [3, 3], [1, 3], [3, 1]])
        tensor = tf.placeholder(tf.float64, [None if rng.rand() < 0.6 else n for n in shape])
        feeds[tensor] = rng.uniform(0.5, 2.0, size=shape)
        builder.pool.append(tensor)
    builder.fill(25)
    found = []
    with tf.Session() as session:
        for tensor in builder.pool:
            error = raises(session.run, tensor, feeds)
            found.append((tensor.shape, error if error != "no error" else session.run(tensor, feeds)))
    return Close(found, 1e-7, 1e-8)


@cases(*_SEEDS)
def state_in_order(tf, np, seed):
    rng = np.random.RandomState(seed + 2000)
    variables = [tf.Variable(rng.uniform(size=[2, 2]), use_resource=True, name="v%d" % i) for i in range(3)]
    before, reads = [], []
    for _ in range(14):
        i = rng.randint(3)
        # Never itself: TensorFlow was seen to wait for ever for a variable written from its own memory.
        v, w = variables[i], variables[(i + 1 + rng.randint(2)) % 3]
        with tf.control_dependencies(before):
            kind = rng.randint(7)
            if kind == 0:
                done = v.assign(w.read_value() * 0.5, read_value=False)
            elif kind == 1:
                done = v.assign_add(w.read_value(), read_value=False)
            elif kind == 2:
                done = v.assign_sub(rng.uniform(size=[2, 2]), read_value=False)
            elif kind == 3:
                done = tf.scatter_update(v, [int(rng.randint(2))], rng.uniform(size=[1, 2])).op
            elif kind == 4:
                done = v[0].assign(w.read_value()[1]).op
            else:
                reads.append(tf.identity(v.read_value()) if rng.randint(2) else v.read_value() + 1.0)
                done = reads[-1].op
        before = [done]
    final = [v.read_value() for v in variables]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [[session.run(reads + [before[0]])[:-1], session.run(final)] for _ in range(3)]


@cases(*range(30))
def training_with_chance(tf, np, seed):
    """A small random network, trained: its layers, optimizer and loss are drawn."""
    rng = np.random.RandomState(seed + 3000)

    def pick(items):
        return items[rng.randint(len(items))]

    tf.set_random_seed(seed)
    t, n = tf.train, tf.nn
    # A bias before a batch normalization has no slope but noise, which an adaptive optimizer would blow up.
    normalized = rng.rand() < 0.4
    adaptive = [
        t.AdamOptimizer(0.01),
        t.RMSPropOptimizer(0.01),
        t.AdagradOptimizer(0.1),
        t.FtrlOptimizer(0.1),
    ]
    optimizer = t.MomentumOptimizer(0.05, 0.9) if normalized else pick(adaptive)
    x = tf.placeholder(tf.float32, [None, 6], "x")
    y = tf.placeholder(tf.float32, [None, 2], "y")
    h = x
    for _ in range(1 + rng.randint(3)):
        h = tf.layers.dense(h, int(2 + rng.randint(6)), pick([None, n.relu, n.tanh, n.sigmoid, n.elu]))
        if rng.rand() < 0.3:
            h = tf.layers.dropout(h, 0.3, training=True)
        if normalized and rng.rand() < 0.6:
            h = tf.layers.batch_normalization(h, training=True)
    p = tf.layers.dense(h, 2, kernel_regularizer=pick([None, n.l2_loss]))
    losses = tf.losses
    pick(
        [
            losses.mean_squared_error,
            losses.absolute_difference,
            losses.huber_loss,
            losses.sigmoid_cross_entropy,
        ]
    )(y, p)
    loss = losses.get_total_loss()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.minimize(loss, global_step=t.get_or_create_global_step())
    feeds = {x: rng.normal(size=(8, 6)), y: rng.uniform(size=(8, 2))}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(5):
            seen.append(session.run(loss, feeds))
            session.run(train, feeds)
        return Close([seen, session.run(tf.global_variables())], 2e-3, 2e-4)
