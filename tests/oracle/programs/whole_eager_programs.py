"""Whole programs as people wrote them in 2019, in eager mode: training, functions, checkpoints, data."""

import os
import tempfile

from keras_models import close, points, recorded, seeded

EAGER = True


def several_inputs_and_outputs(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    title = tf.keras.Input(shape=(None,), name="title")
    tags = tf.keras.Input(shape=(5,), name="tags")
    features = l.LSTM(4)(l.Embedding(20, 6)(title))
    x = l.concatenate([features, tags])
    priority = l.Dense(1, activation="sigmoid", name="priority")(x)
    department = l.Dense(3, activation="softmax", name="department")(x)
    model = tf.keras.Model(inputs=[title, tags], outputs=[priority, department])
    model.compile(
        optimizer=tf.keras.optimizers.RMSprop(1e-3),
        loss={"priority": "binary_crossentropy", "department": "categorical_crossentropy"},
        loss_weights=[1.0, 0.2],
        metrics={"priority": ["mae"], "department": ["accuracy"]},
    )
    r = np.random.RandomState(1)
    inputs = {"title": r.randint(20, size=(12, 6)), "tags": r.randint(2, size=(12, 5)).astype("float32")}
    targets = {"priority": r.rand(12, 1), "department": np.eye(3)[r.randint(3, size=12)]}
    history = model.fit(inputs, targets, epochs=2, batch_size=4, shuffle=False, verbose=0, class_weight=None)
    weighted = model.fit(
        inputs,
        targets,
        batch_size=4,
        shuffle=False,
        verbose=0,
        sample_weight={"priority": np.linspace(0, 1, 12), "department": np.ones(12)},
    )
    found = model.evaluate(inputs, targets, batch_size=6, verbose=0)
    return [recorded(history), recorded(weighted), close(found), model.metrics_names]


def a_layer_with_build_and_config(tf, np):
    seeded(tf, np)

    class Linear(tf.keras.layers.Layer):
        def __init__(self, units=4, activation=None, **kwargs):
            super(Linear, self).__init__(**kwargs)
            self.units = units
            self.activation = tf.keras.activations.get(activation)

        def build(self, input_shape):
            self.w = self.add_weight(
                name="w",
                shape=(input_shape[-1], self.units),
                initializer="random_normal",
                regularizer=tf.keras.regularizers.l2(1e-2),
                trainable=True,
            )
            self.b = self.add_weight(name="b", shape=(self.units,), initializer="zeros", trainable=True)
            super(Linear, self).build(input_shape)

        def call(self, inputs):
            return self.activation(tf.matmul(inputs, self.w) + self.b)

        def compute_output_shape(self, input_shape):
            return tf.TensorShape(input_shape).as_list()[:-1] + [self.units]

        def get_config(self):
            config = super(Linear, self).get_config()
            config.update(
                {"units": self.units, "activation": tf.keras.activations.serialize(self.activation)}
            )
            return config

    x, y = points(np)
    model = tf.keras.Sequential([Linear(5, "tanh", input_shape=(4,)), Linear(2)])
    model.compile(
        "adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
    )
    history = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    config = model.get_config()
    with tf.keras.utils.custom_object_scope({"Linear": Linear}):
        other = tf.keras.Sequential.from_config(config)
    other.set_weights(model.get_weights())
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    model.save(path)
    loaded = tf.keras.models.load_model(path, custom_objects={"Linear": Linear})
    further = loaded.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0)
    return [recorded(history), close(other.predict(x[:2])), recorded(further), close(model.losses), config]


def transfer_learning(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    base = tf.keras.Sequential(
        [
            l.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 3)),
            l.BatchNormalization(),
            l.MaxPooling2D(),
            l.Conv2D(6, 3, activation="relu"),
        ],
        name="base",
    )
    base.trainable = False
    model = tf.keras.Sequential([base, l.GlobalAveragePooling2D(), l.Dense(1)])
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.RMSprop(1e-2), loss, metrics=["accuracy"])
    x = np.random.RandomState(1).rand(12, 8, 8, 3).astype(np.float32)
    y = (np.arange(12) % 2).astype(np.float32)
    first = model.fit(x, y, epochs=2, batch_size=6, shuffle=False, verbose=0)
    counts = [len(model.trainable_variables)]
    base.trainable = True
    for layer in base.layers[:2]:
        layer.trainable = False
    model.compile(tf.keras.optimizers.RMSprop(1e-3), loss, metrics=["accuracy"])
    counts.append(len(model.trainable_variables))
    second = model.fit(
        x, y, epochs=4, initial_epoch=first.epoch[-1] + 1, batch_size=6, shuffle=False, verbose=0
    )
    return [recorded(first), counts, recorded(second), second.epoch, close(model.predict(x[:2]))]


def checkpoints_and_their_manager(tf, np):
    seeded(tf, np)

    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.l1 = tf.keras.layers.Dense(5)

        def call(self, x):
            return self.l1(x)

    def dataset():
        inputs = tf.range(10.0)[:, None]
        labels = inputs * 5.0 + tf.range(5.0)[None, :]
        return tf.data.Dataset.from_tensor_slices(dict(x=inputs, y=labels)).repeat(10).batch(2)

    def step(net, example, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(net(example["x"]) - example["y"]))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    folder = os.path.join(tempfile.mkdtemp(), "ckpts")

    def train(steps):
        net, opt = Net(), tf.keras.optimizers.Adam(0.1)
        ckpt = tf.train.Checkpoint(step=tf.Variable(1), optimizer=opt, net=net)
        manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=3)
        status = ckpt.restore(manager.latest_checkpoint)
        said, losses = [manager.latest_checkpoint and os.path.basename(manager.latest_checkpoint)], []
        for example in dataset().take(steps):
            losses.append(float(step(net, example, opt)))
            ckpt.step.assign_add(1)
            if int(ckpt.step) % 5 == 0:
                said.append(os.path.basename(manager.save()))
        if said[0]:
            status.assert_consumed()
        return [said, close(losses), [os.path.basename(p) for p in manager.checkpoints], int(ckpt.step)]

    first, second = train(18), train(12)
    kept = sorted(os.listdir(folder))
    listed = tf.train.list_variables(tf.train.latest_checkpoint(folder))
    bias = tf.Variable(tf.zeros([5]))
    fake_layer = tf.train.Checkpoint(bias=bias)
    tf.train.Checkpoint(net=tf.train.Checkpoint(l1=fake_layer)).restore(
        tf.train.latest_checkpoint(folder)
    ).expect_partial()
    return [first, second, kept, listed, close(bias)]


def class_and_sample_weights(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    x, y = points(np)
    model = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(4,)), l.Dense(2, activation="softmax")]
    )
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["acc"])
    one = model.fit(x, y, class_weight={0: 1.0, 1: 3.0}, epochs=2, shuffle=False, verbose=0)
    two = model.fit(x, y, sample_weight=np.linspace(0.1, 2, 32), epochs=2, shuffle=False, verbose=0)
    data = tf.data.Dataset.from_tensor_slices((x, y, np.linspace(0.1, 2, 32).astype("float32"))).batch(8)
    three = model.fit(data, epochs=1, verbose=0)
    split = model.fit(x, y, validation_split=0.25, batch_size=8, epochs=1, shuffle=False, verbose=0)
    return [recorded(h) for h in (one, two, three, split)]


def callbacks_of_all_kinds(tf, np):
    seeded(tf, np)
    l, c = tf.keras.layers, tf.keras.callbacks
    x, y = points(np)
    folder = tempfile.mkdtemp()
    model = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(4,)), l.Dense(2, activation="softmax")]
    )
    model.compile(tf.keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])

    class Seen(c.Callback):
        def __init__(self):
            super(Seen, self).__init__()
            self.rates, self.events = [], []

        def on_train_begin(self, logs=None):
            self.events.append(("train", sorted(self.params)))

        def on_epoch_end(self, epoch, logs=None):
            self.rates.append(float(tf.keras.backend.get_value(self.model.optimizer.lr)))
            self.events.append((epoch, sorted(logs)))

        def on_train_batch_end(self, batch, logs=None):
            self.events.append((batch, sorted(logs)))

        def on_test_end(self, logs=None):
            self.events.append("tested")

    seen = Seen()
    printed = []
    history = model.fit(
        x,
        y,
        validation_data=(x[:8], y[:8]),
        epochs=6,
        batch_size=16,
        shuffle=False,
        verbose=0,
        callbacks=[
            seen,
            c.ModelCheckpoint(os.path.join(folder, "w.{epoch:02d}.h5"), save_weights_only=True, period=2),
            c.ModelCheckpoint(os.path.join(folder, "best.h5"), save_best_only=True, monitor="val_loss"),
            c.EarlyStopping(monitor="val_loss", min_delta=10.0, patience=3, restore_best_weights=True),
            c.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, min_delta=10.0, min_lr=0.001),
            c.CSVLogger(os.path.join(folder, "log.csv")),
            c.LambdaCallback(on_epoch_begin=lambda epoch, logs: printed.append(epoch)),
            c.TerminateOnNaN(),
            c.TensorBoard(os.path.join(folder, "logs"), histogram_freq=1, profile_batch=0),
        ],
    )
    with open(os.path.join(folder, "log.csv")) as stream:
        header = stream.readline()
    best = tf.keras.models.load_model(os.path.join(folder, "best.h5"))
    files = sorted(f for f in os.listdir(folder))
    return [
        recorded(history),
        close(seen.rates),
        seen.events,
        printed,
        header,
        files,
        [f.split(".")[0] + "." + f.split(".")[-1] for f in os.listdir(os.path.join(folder, "logs"))],
        close(best.evaluate(x, y, verbose=0)),
    ]


def a_stateful_text_generator(tf, np):
    seeded(tf, np)
    l = tf.keras.layers

    def build(n):
        return tf.keras.Sequential(
            [
                l.Embedding(11, 5, batch_input_shape=[n, None]),
                l.GRU(7, return_sequences=True, stateful=True, recurrent_initializer="glorot_uniform"),
                l.Dense(11),
            ]
        )

    text = np.random.RandomState(1).randint(0, 11, 61)
    chunks = tf.data.Dataset.from_tensor_slices(text).batch(6, drop_remainder=True)
    data = chunks.map(lambda c: (c[:-1], c[1:])).batch(2, drop_remainder=True)
    model = build(2)

    def loss(labels, logits):
        return tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)

    model.compile(tf.keras.optimizers.SGD(0.5), loss=loss)
    prefix = os.path.join(tempfile.mkdtemp(), "ckpt_{epoch}")
    saved = tf.keras.callbacks.ModelCheckpoint(filepath=prefix, save_weights_only=True)
    history = model.fit(data, epochs=3, callbacks=[saved], verbose=0)
    single = build(1)
    single.load_weights(tf.train.latest_checkpoint(os.path.dirname(prefix)))
    single.build(tf.TensorShape([1, None]))
    given, made = tf.expand_dims([3, 1, 4], 0), []
    single.reset_states()
    for _ in range(5):
        predictions = tf.squeeze(single(given), 0)
        chosen = int(tf.argmax(predictions[-1]))
        given = tf.expand_dims([chosen], 0)
        made.append(chosen)
    return [recorded(history), made, close(predictions)]


def generators_and_sequences(tf, np):
    seeded(tf, np)
    x, y = points(np)

    class Batches(tf.keras.utils.Sequence):
        def __init__(self, n):
            self.n, self.ends = n, 0

        def __len__(self):
            return len(x) // self.n

        def __getitem__(self, i):
            return x[i * self.n : (i + 1) * self.n], y[i * self.n : (i + 1) * self.n]

        def on_epoch_end(self):
            self.ends += 1

    def endless():
        while True:
            for start in range(0, 32, 8):
                yield x[start : start + 8], y[start : start + 8]

    l = tf.keras.layers
    model = tf.keras.Sequential([l.Dense(6, activation="relu"), l.Dense(2, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    first = model.fit_generator(endless(), steps_per_epoch=4, epochs=2, verbose=0)
    second = model.fit_generator(Batches(10), epochs=2, shuffle=False, verbose=0, workers=2)
    third = model.fit(Batches(8), epochs=1, shuffle=False, verbose=0)
    scores = model.evaluate_generator(Batches(10))
    return [
        [recorded(h) for h in (first, second, third)],
        close(scores),
        close(model.predict_generator(Batches(10))[:2]),
        close(model.predict(endless(), steps=2).shape),
    ]


def a_custom_loop_with_metrics(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    x, y = points(np)
    model = tf.keras.Sequential([l.Dense(8, activation="relu", kernel_regularizer="l2"), l.Dense(2)])
    optimizer = tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5))
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    train_loss = tf.keras.metrics.Mean()
    traces = []

    @tf.function
    def train(data):
        traces.append(1)
        step, loss = 0, 0.0
        for xs, ys in data:
            step += 1
            with tf.GradientTape() as tape:
                logits = model(xs, training=True)
                loss = loss_fn(ys, logits) + tf.add_n(model.losses)
            grads = tape.gradient(loss, model.trainable_variables)
            clipped, norm = tf.clip_by_global_norm(grads, 1.0)
            optimizer.apply_gradients(zip(clipped, model.trainable_variables))
            train_loss(loss)
            accuracy.update_state(ys, logits)
            if tf.equal(step % 2, 0):
                tf.debugging.assert_greater(norm, 0.0)
        return step, loss, accuracy.result()

    model(x[:1])
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).prefetch(1)
    found = [[float(v) for v in train(data)] for _ in range(3)]
    return [close(found), len(traces), close(train_loss.result()), int(optimizer.iterations)]


def higher_gradients_for_meta_learning(tf, np):
    seeded(tf, np)
    w = tf.Variable(tf.random.normal([3, 1], seed=2))
    optimizer = tf.train.AdamOptimizer(0.05)
    x = tf.constant(np.random.RandomState(1).normal(size=(6, 3)), tf.float32)
    y = tf.reduce_sum(x, axis=1, keepdims=True)
    losses = []
    for _ in range(3):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                first = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
            grad = inner.gradient(first, w)
            second = tf.reduce_mean(tf.square(tf.matmul(x, w - 0.1 * grad) - y))
        optimizer.apply_gradients([(outer.gradient(second, w), w)])
        losses.append(float(second))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = tf.nn.sigmoid(tf.matmul(x, w)) * x
    return [close(losses), close(tape.batch_jacobian(z, x)), close(tape.jacobian(z, w))]


def gradient_penalty(tf, np):
    seeded(tf, np)
    l = tf.keras.layers
    critic = tf.keras.Sequential([l.Dense(6, activation="tanh", input_shape=(3,)), l.Dense(1)])
    x = tf.constant(np.random.RandomState(1).normal(size=(5, 3)), tf.float32)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = critic(x)
            slopes = tf.norm(inner.gradient(score, x), axis=1)
            loss = tf.reduce_mean(score) + 10.0 * tf.reduce_mean((slopes - 1.0) ** 2)
        return loss, tape.gradient(loss, critic.trainable_variables)

    loss, grads = step(x)
    return [close(loss), close([g for g in grads if g is not None]), [g is None for g in grads]]


def reinforcement_learning(tf, np):
    """REINFORCE on a made-up world: a loop over a TensorArray in a tf.function."""
    seeded(tf, np)
    l = tf.keras.layers
    policy = tf.keras.Sequential([l.Dense(6, activation="relu", input_shape=(2,)), l.Dense(2)])
    optimizer = tf.keras.optimizers.Adam(0.01)

    @tf.function
    def episode(state, steps):
        rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        chosen = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for t in tf.range(steps):
            logits = policy(tf.expand_dims(state, 0))
            action = tf.argmax(logits, axis=1)[0]
            chosen = chosen.write(t, tf.nn.log_softmax(logits)[0, action])
            state = state + tf.cond(tf.equal(action, 0), lambda: 0.1, lambda: -0.1)
            rewards = rewards.write(t, -tf.reduce_sum(tf.abs(state)))
            if tf.reduce_sum(tf.abs(state)) > 3.0:
                break
        return rewards.stack(), chosen.stack()

    found = []
    for start in ([0.5, -0.2], [1.5, 1.0], [-1.0, 0.3]):
        with tf.GradientTape() as tape:
            rewards, chosen = episode(tf.constant(start), tf.constant(6))
            returns = tf.cumsum(rewards, reverse=True)
            loss = -tf.reduce_sum(chosen * returns)
        grads = tape.gradient(loss, policy.trainable_variables)
        optimizer.apply_gradients(zip(grads, policy.trainable_variables))
        found.append([float(loss), float(tf.linalg.global_norm(grads)), int(tf.size(rewards))])
    return close(found)


def mirrored_training(tf, np):
    seeded(tf, np)
    x, y = points(np)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        l = tf.keras.layers
        model = tf.keras.Sequential([l.Dense(4, activation="relu", input_shape=(4,)), l.Dense(2)])
        model.compile(
            tf.keras.optimizers.SGD(0.1),
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    history = model.fit(data, epochs=2, verbose=0)
    return [strategy.num_replicas_in_sync, recorded(history), close(model.evaluate(data, verbose=0))]


def structured_data(tf, np):
    seeded(tf, np)
    fc = tf.feature_column
    r = np.random.RandomState(1)
    frame = {
        "age": r.randint(20, 70, 16).astype(np.float32),
        "thal": np.array(["fixed", "normal", "reversible", "other"])[r.randint(4, size=16)],
    }
    labels = r.randint(2, size=16)
    age = fc.numeric_column("age", normalizer_fn=lambda v: v / 70.0)
    thal = fc.categorical_column_with_vocabulary_list("thal", ["fixed", "normal", "reversible"])
    buckets = fc.bucketized_column(fc.numeric_column("age"), boundaries=[30, 45, 60])
    columns = [
        age,
        buckets,
        fc.indicator_column(thal),
        fc.embedding_column(thal, dimension=3),
        fc.indicator_column(fc.crossed_column([buckets, thal], hash_bucket_size=10)),
    ]
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.DenseFeatures(columns), l.Dense(8, activation="relu"), l.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    data = tf.data.Dataset.from_tensor_slices((frame, labels)).batch(8)
    history = model.fit(data, epochs=2, verbose=0, validation_data=data)
    return [recorded(history), close(model.evaluate(data, verbose=0)), [w.name for w in model.weights]]


def records_of_images(tf, np):
    seeded(tf, np)
    path = os.path.join(tempfile.mkdtemp(), "images.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(12):
            image = np.random.RandomState(i).randint(0, 255, (6, 6, 3)).astype(np.uint8)
            feature = {
                "image": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[tf.image.encode_png(image).numpy()])
                ),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 3])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

    def parse(record):
        parsed = tf.io.parse_single_example(
            record,
            {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)},
        )
        image = tf.image.convert_image_dtype(tf.image.decode_png(parsed["image"], channels=3), tf.float32)
        image = tf.image.resize(image, [4, 4])
        return tf.image.per_image_standardization(tf.image.flip_left_right(image)), parsed["label"]

    data = tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=tf.data.experimental.AUTOTUNE)
    data = data.cache().shuffle(12, seed=4).repeat(2).batch(5).prefetch(tf.data.experimental.AUTOTUNE)
    l = tf.keras.layers
    model = tf.keras.Sequential([l.Flatten(input_shape=(4, 4, 3)), l.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(data, epochs=2, verbose=0)
    labels = [batch.numpy().tolist() for _, batch in data.map(lambda i, b: (i, b))]
    return [recorded(history), len(labels), sorted(n for batch in labels for n in batch)]


def a_model_with_a_train_function(tf, np):
    """model.train_on_batch in a loop, with metrics carried over and reset."""
    seeded(tf, np)
    x, y = points(np)
    l = tf.keras.layers
    model = tf.keras.Sequential([l.Dense(5, activation="selu"), l.Dense(2, activation="softmax")])
    model.compile("nadam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = []
    for epoch in range(2):
        model.reset_metrics()
        for i in range(0, 32, 8):
            found.append(model.train_on_batch(x[i : i + 8], y[i : i + 8], reset_metrics=False))
        found.append(model.test_on_batch(x[:8], y[:8], reset_metrics=epoch == 0))
    return [close([[float(v) for v in row] for row in found]), close(model.predict_on_batch(x[:2]))]


def ragged_and_sparse_text(tf, np):
    seeded(tf, np)
    texts = tf.constant(["the cat sat", "a dog", "the dog and the cat"])
    words = tf.strings.split(texts).to_sparse() if hasattr(tf.strings.split(texts), "to_sparse") else None
    ragged = tf.compat.v2.strings.split(texts)
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(["the", "cat", "dog"]), tf.constant([0, 1, 2], tf.int64)
        ),
        2,
    )
    ids = tf.ragged.map_flat_values(table.lookup, ragged)
    embedding = tf.Variable(tf.random.normal([5, 3], seed=3))
    with tf.GradientTape() as tape:
        vectors = tf.ragged.map_flat_values(tf.nn.embedding_lookup, embedding, ids)
        loss = tf.reduce_sum(tf.square(tf.reduce_mean(vectors, axis=1)))
    grad = tape.gradient(loss, embedding)
    return [words is None, ids.to_list(), close(float(loss)), close(tf.convert_to_tensor(grad))]


def quantities_in_summaries(tf, np):
    seeded(tf, np)
    folder = tempfile.mkdtemp()
    writer = tf.compat.v2.summary.create_file_writer(folder)
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def log(x):
        with writer.as_default():
            tf.compat.v2.summary.scalar("loss", tf.reduce_sum(x), step=step)
            tf.compat.v2.summary.histogram("x", x, step=step)
        step.assign_add(1)

    for i in range(3):
        log(tf.ones([4]) * i)
    writer.close()
    found = []
    for name in os.listdir(folder):
        for event in tf.compat.v1.train.summary_iterator(os.path.join(folder, name)):
            for value in event.summary.value:
                found.append((event.step, value.tag, value.metadata.plugin_data.plugin_name))
    return found


def modules_and_saved_functions(tf, np):
    seeded(tf, np)

    class Dense(tf.Module):
        def __init__(self, n, m, name=None):
            super(Dense, self).__init__(name=name)
            self.w = tf.Variable(tf.random.normal([n, m], seed=1), name="w")
            self.b = tf.Variable(tf.zeros([m]), name="b")

        def __call__(self, x):
            return tf.nn.relu(tf.matmul(x, self.w) + self.b)

    class Mlp(tf.Module):
        def __init__(self, name=None):
            super(Mlp, self).__init__(name=name)
            self.layers = [Dense(3, 4), Dense(4, 2)]

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    net = Mlp()
    x = tf.ones([2, 3])
    before = net(x)
    path = os.path.join(tempfile.mkdtemp(), "m")
    tf.saved_model.save(net, path, signatures=net.__call__.get_concrete_function())
    loaded = tf.compat.v2.saved_model.load(path)
    served = loaded.signatures["serving_default"](x)
    names = [v.name for v in net.trainable_variables], [m.name for m in net.submodules]
    return [close(before), close(loaded(x)), sorted(served), close(next(iter(served.values()))), names]
