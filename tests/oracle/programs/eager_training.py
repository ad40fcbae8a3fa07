"""Eager mode: tapes and gradients, layers, optimizers, custom training loops, checkpoints, summaries."""

import os
import tempfile

from kit import Close, cases, normal, raises

EAGER = True


def _points(tf, np, *shape):
    return tf.constant(normal(np, *shape), tf.float32)


@cases(
    {
        "products": lambda tf, x, v: tf.reduce_sum(x * x * v),
        "matmul": lambda tf, x, v: tf.matmul(x, x, transpose_b=True) * v,
        "reductions": lambda tf, x, v: tf.reduce_max(x, 1) + tf.reduce_mean(x * v) + tf.norm(x),
        "shapes": lambda tf, x, v: tf.concat([tf.transpose(x), tf.reshape(x * v, [3, 2])], 1)[1:, ::2],
        "rows": lambda tf, x, v: tf.gather(x * v, [1, 1, 0]) * tf.sigmoid(v),
        "variable rows": lambda tf, x, v: tf.nn.softmax(x) * v + tf.nn.relu(x - 0.1),
        "losses": lambda tf, x, v: tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.one_hot([2, 0], 3), logits=x * v
        ),
        "branches": lambda tf, x, v: tf.where(x > 0, x * v, tf.exp(x)),
        "mapped": lambda tf, x, v: tf.map_fn(lambda row: tf.reduce_sum(row * row) * v, x),
        "looped": lambda tf, x, v: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * v), (0, x))[
            1
        ],
        "custom": lambda tf, x, v: _clipped(tf)(x * v) * x,
        "nothing": lambda tf, x, v: tf.stop_gradient(x * v),
        "integers": lambda tf, x, v: tf.cast(tf.cast(x, tf.int32), tf.float32),
    }
)
def gradients(tf, np, function):
    x, v = _points(tf, np, 2, 3), tf.Variable(0.7)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(tf, x, v)
        slopes = tape.gradient(y, [x, v])
        zeros = tape.gradient(y, [x, v], unconnected_gradients=tf.UnconnectedGradients.ZERO)
        weighted = tape.gradient(y, x, output_gradients=tf.ones_like(y) * 2.0)
        total = 0.0 if slopes[0] is None else tf.reduce_sum(slopes[0] * slopes[0])
    second = None if slopes[0] is None else outer.gradient(total, [x, v])
    return Close([y, slopes, zeros, weighted, second], 1e-4, 1e-5)


def _clipped(tf):
    @tf.custom_gradient
    def clipped(x):
        return tf.identity(x), lambda dy: tf.clip_by_value(dy, -0.1, 0.1)

    return clipped


def tapes(tf, np):
    x, v, frozen = _points(tf, np, 2, 2), tf.Variable([1.0, 2.0]), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * v * frozen
    watched = [variable.name for variable in tape.watched_variables()]
    first = tape.gradient(y, {"x": x, "v": v, "f": [frozen]})
    again = raises(tape.gradient, y, x)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(frozen)
        with tape.stop_recording():
            outside = v * 2.0
        y = frozen * frozen * v * outside
    unwatched = tape.gradient(y, [v, frozen])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x * 3.0
    after_reset = tape.gradient([y, z], x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = tape.gradient(y, x)
    inside = tape.gradient(z, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.matmul(x, x)
    return [
        (watched, first, again, again.message, unwatched, after_reset, inside),
        (tape.jacobian(y, x), tape.batch_jacobian(x * x, x), tape.jacobian(y, [x, v])),
        raises(tape.watch, 1.0),
        raises(lambda: tf.GradientTape().gradient(y, x, unconnected_gradients="some")),
        raises(lambda: tf.GradientTape().stop_recording().__enter__()),
    ]


def python_functions(tf, np):
    x = _points(tf, np, 2, 3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a * a, [x * 2.0], tf.float32)
    return y, tape.gradient(y, x)


def sparse_gradients(tf, np):
    table = tf.Variable(normal(np, 5, 2).astype("f"))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3, 1]) ** 2)
    return tape.gradient(y, table)


def functions_of_contrib(tf, np):
    tfe = tf.contrib.eager
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    f = lambda x, y: x * x * y
    return [
        tfe.gradients_function(f)(2.0, 3.0),
        tfe.gradients_function(f, params=[1])(2.0, 3.0),
        tfe.gradients_function(f, params=["x"])(2.0, 3.0, dy=tf.constant(5.0)),
        tfe.value_and_gradients_function(f)(2.0, 3.0),
        tfe.gradients_function(tfe.gradients_function(lambda x: x * x * x))(2.0),
        [(g, u.numpy()) for g, u in tfe.implicit_gradients(lambda x: x * v * w)(2.0)],
        tfe.implicit_value_and_gradients(lambda: v * v)()[0],
        raises(tfe.implicit_gradients(lambda: tf.constant(1.0))),
        raises(tfe.gradients_function(lambda x: None), 1.0),
        tfe.in_eager_mode(),
        tfe.num_gpus(),
        tfe.list_devices()[:1],
    ]


_OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.1),
    "decayed": lambda t: t.MomentumOptimizer(
        t.exponential_decay(0.1, t.get_or_create_global_step(), 2, 0.5), 0.9
    ),
    "momentum": lambda t: t.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda t: t.AdagradOptimizer(0.5),
    "adadelta": lambda t: t.AdadeltaOptimizer(1.0, 0.9, 1e-4),
    "adam": lambda t: t.AdamOptimizer(0.1),
    "rmsprop": lambda t: t.RMSPropOptimizer(0.05, centered=True),
    "ftrl": lambda t: t.FtrlOptimizer(0.5),
}


@cases(*_OPTIMIZERS)
def optimizers(tf, np, key):
    step = tf.train.get_or_create_global_step()
    step.assign(0)
    optimizer = _OPTIMIZERS[key](tf.train)
    v, table = tf.Variable([1.0, -2.0], name="v"), tf.Variable(tf.ones([4, 2]), name="table")
    loss = lambda: tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(table, [1, 1, 2]) ** 2)
    seen = []
    for _ in range(2):
        optimizer.minimize(loss, global_step=step)
        seen.append((v.numpy(), table.numpy()))
    with tf.GradientTape() as tape:
        value = loss()
    nothing = optimizer.apply_gradients(zip(tape.gradient(value, [v, table]), [v, table]), global_step=step)
    seen.append((v.numpy(), table.numpy(), nothing, step.numpy()))
    names = [slot.name for slot in optimizer.variables()]
    return Close([seen, names, optimizer.get_slot_names()], 1e-4, 1e-6)


def layers(tf, np):
    x = _points(tf, np, 4, 3)
    dense = tf.layers.Dense(
        2,
        activation=tf.nn.relu,
        kernel_initializer=tf.ones_initializer(),
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1),
    )
    y = dense(x)
    dense.kernel.assign(dense.kernel * 2.0)
    norm = tf.layers.BatchNormalization(momentum=0.5)
    trained, inferred = norm(x, training=True), norm(x, training=False)
    image = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
    conv = tf.layers.Conv2D(3, 2, kernel_initializer=tf.ones_initializer())
    return Close(
        [
            (y, dense(x), len(dense.variables), dense.losses),
            (trained, inferred, [v.numpy() for v in norm.variables], len(norm.trainable_variables)),
            (conv(image), tf.layers.flatten(image).shape, tf.layers.max_pooling2d(image, 2, 2)),
            (tf.layers.dropout(x, 0.5, training=False), tf.layers.dense(x, 2).shape),
        ],
        1e-4,
        1e-5,
    )


def a_taped_perceptron(tf, np):
    xs, ys = normal(np, 64, 4).astype("f"), (normal(np, 64) > 0).astype("i4")
    tf.set_random_seed(7)
    weights = [
        tf.Variable(tf.random_normal([4, 8], stddev=0.5)),
        tf.Variable(tf.zeros([8])),
        tf.Variable(tf.random_normal([8, 2], stddev=0.5)),
        tf.Variable(tf.zeros([2])),
    ]
    optimizer = tf.train.AdamOptimizer(0.05)
    losses = []
    for x, y in tf.data.Dataset.from_tensor_slices((xs, ys)).repeat(3).batch(16):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
            logits = tf.matmul(hidden, weights[2]) + weights[3]
            loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        losses.append(loss.numpy())
    return Close([losses, [w.numpy() for w in weights]], 1e-3, 1e-4)


def a_recurrent_cell(tf, np):
    cell = tf.nn.rnn_cell.LSTMCell(3, initializer=tf.constant_initializer(0.1))
    x = _points(tf, np, 2, 4, 3)
    with tf.GradientTape() as tape:
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        loss = tf.reduce_sum(outputs)
    return Close([outputs, state, tape.gradient(loss, cell.trainable_variables)], 1e-4, 1e-5)


def checkpoints(tf, np):
    with tempfile.TemporaryDirectory() as folder:
        v, optimizer = tf.Variable([1.0, 2.0]), tf.train.AdamOptimizer(0.1)
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
        checkpoint = tf.train.Checkpoint(v=v, optimizer=optimizer)
        path = checkpoint.save(os.path.join(folder, "m"))
        saved = v.numpy()
        v.assign([7.0, 7.0])
        checkpoint.restore(path).assert_consumed()
        restored = v.numpy()
        later, other = tf.Variable([0.0, 0.0]), tf.train.AdamOptimizer(0.1)
        second = tf.train.Checkpoint(v=later, optimizer=other)
        status = second.restore(path)
        before = raises(status.assert_consumed)
        other.minimize(lambda: tf.reduce_sum(later * later))
        status.assert_consumed()
        optimizer.minimize(lambda: tf.reduce_sum(v * v))
        saver = tf.train.Saver({"w": v})
        name = saver.save(None, os.path.join(folder, "s"), global_step=3)
        kept = v.numpy()
        v.assign([0.0, 0.0])
        saver.restore(None, name)
        return [
            (saved, restored, os.path.basename(path), os.path.basename(name)),
            (before, later.numpy(), v.numpy(), kept, checkpoint.save_counter.numpy()),
            sorted(tf.train.list_variables(path)),
            sorted(tf.train.list_variables(name)),
        ]


def summaries(tf, np):
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.contrib.summary.create_file_writer(folder)
        step = tf.train.get_or_create_global_step()
        step.assign(4)
        with writer.as_default(), tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("a", 1.5)
            tf.contrib.summary.scalar("b", 2.5, step=step + 1)
        writer.flush()
        (name,) = os.listdir(folder)
        events = list(tf.train.summary_iterator(os.path.join(folder, name)))
        return [(event.step, [value.tag for value in event.summary.value]) for event in events]


def graph_mode_tapes(tf, np):
    with tf.Graph().as_default():
        x, before = tf.constant(3.0), tf.constant(2.0)
        squared = before * before
        v = tf.Variable(5.0, use_resource=True)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, before])
            y = x * x * squared * v
        slopes = tape.gradient(y, [x, v])
        unconnected = tape.gradient(y, before)
        doubled = tf.py_function(lambda a: a * a, [x], tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run([y, slopes, doubled, tf.gradients(doubled, x)[0]]), unconnected


def metrics_of_contrib(tf, np):
    made = tf.contrib.eager.metrics
    mean, plain, exact = made.Mean("m"), made.Mean(dtype=tf.float32), made.Accuracy()
    mean(1.0)
    mean([2.0, 3.0], weights=[1.0, 0.0])
    plain(2)
    exact(tf.constant([1, 2]), tf.constant([1, 3]), weights=[1.0, 3.0])
    binary, sparse, rows = made.BinaryAccuracy(0.5), made.SparseAccuracy(), made.CategoricalAccuracy()
    binary(tf.constant([1.0, 0.0]), tf.constant([0.8, 0.9]))
    sparse(tf.constant([1]), tf.constant([[0.2, 0.8]]))
    rows(tf.constant([[0.0, 1.0], [1.0, 0.0]]), tf.constant([[0.2, 0.8], [0.2, 0.8]]))
    results = [metric.result() for metric in (mean, plain, exact, binary, sparse, rows)]
    mean.init_variables()
    mean(7.0)
    return [results, mean.result(), mean.name, [v.name for v in mean.variables]]
