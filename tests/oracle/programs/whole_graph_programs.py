"""Whole programs as people wrote them in 2019, in graph mode: Keras, estimators, feature columns, hooks."""

import os
import tempfile

from keras_models import close, recorded
from kit import Close


def _seeded(tf, np):
    tf.set_random_seed(11)
    np.random.seed(5)


def _points(np, samples=32, inputs=4):
    x = np.random.RandomState(8).normal(size=(samples, inputs)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64)


def _numbers(found):
    return {key: Close(float(value), 5e-4, 1e-5) for key, value in sorted(found.items())}


def digits_with_a_convnet(tf, np):
    _seeded(tf, np)
    k, l = tf.keras, tf.keras.layers
    model = k.models.Sequential()
    model.add(l.Conv2D(4, kernel_size=(3, 3), activation="relu", input_shape=(8, 8, 1)))
    model.add(l.Conv2D(6, (3, 3), activation="relu"))
    model.add(l.MaxPooling2D(pool_size=(2, 2)))
    model.add(l.Dropout(0.0))
    model.add(l.Flatten())
    model.add(l.Dense(8, activation="relu"))
    model.add(l.Dense(3, activation="softmax"))
    model.compile(
        loss=k.losses.categorical_crossentropy, optimizer=k.optimizers.Adadelta(), metrics=["accuracy"]
    )
    x = np.random.RandomState(1).rand(24, 8, 8, 1).astype("float32")
    y = k.utils.to_categorical(np.arange(24) % 3, 3)
    history = model.fit(x, y, batch_size=8, epochs=3, verbose=0, shuffle=False, validation_data=(x, y))
    score = model.evaluate(x, y, verbose=0)
    lines = []
    model.summary(print_fn=lines.append)
    return [
        recorded(history),
        close(score),
        lines,
        close(model.predict_proba(x[:2])),
        model.predict_classes(x),
    ]


def an_autoencoder_shares_its_layers(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    given = tf.keras.Input((6,))
    code = l.Dense(2, activation="relu", name="code")(given)
    restored = l.Dense(6, activation="sigmoid", name="restored")(code)
    autoencoder, encoder = tf.keras.Model(given, restored), tf.keras.Model(given, code)
    short = tf.keras.Input((2,))
    decoder = tf.keras.Model(short, autoencoder.layers[-1](short))
    autoencoder.compile("adadelta", "binary_crossentropy")
    x = np.random.RandomState(1).rand(16, 6)
    history = autoencoder.fit(x, x, epochs=3, batch_size=4, shuffle=False, verbose=0)
    codes = encoder.predict(x)
    return [recorded(history), close(codes), close(decoder.predict(codes)), close(autoencoder.predict(x))]


def siamese_with_a_contrastive_loss(tf, np):
    _seeded(tf, np)
    k, l = tf.keras.backend, tf.keras.layers
    base = tf.keras.Sequential([l.Dense(6, activation="relu", input_shape=(4,)), l.Dense(3)])
    a, b = tf.keras.Input((4,)), tf.keras.Input((4,))

    def distance(pair):
        return k.sqrt(k.maximum(k.sum(k.square(pair[0] - pair[1]), axis=1, keepdims=True), k.epsilon()))

    def loss(y_true, y_pred):
        return k.mean(y_true * k.square(y_pred) + (1 - y_true) * k.square(k.maximum(1 - y_pred, 0)))

    def accuracy(y_true, y_pred):
        return k.mean(k.equal(y_true, k.cast(y_pred < 0.5, y_true.dtype)))

    out = l.Lambda(distance, output_shape=lambda shapes: (shapes[0][0], 1))([base(a), base(b)])
    model = tf.keras.Model([a, b], out)
    model.compile(loss=loss, optimizer=tf.keras.optimizers.RMSprop(), metrics=[accuracy])
    x, y = _points(np)
    history = model.fit([x, x[::-1]], y, batch_size=8, epochs=3, shuffle=False, verbose=0)
    return [recorded(history), close(model.predict([x[:3], x[3:6]]))]


def a_gan_that_freezes(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    adam = tf.keras.optimizers.Adam
    generator = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(3,)), l.Dense(4, activation="tanh")]
    )
    discriminator = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(4,)), l.Dense(1, activation="sigmoid")]
    )
    discriminator.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    discriminator.trainable = False
    z = tf.keras.Input((3,))
    combined = tf.keras.Model(z, discriminator(generator(z)))
    combined.compile(adam(0.01, 0.5), "binary_crossentropy")
    real, _ = _points(np)
    found = []
    for step in range(3):
        noise = np.random.RandomState(step).normal(size=(8, 3))
        made = generator.predict(noise)
        d_real = discriminator.train_on_batch(real[:8], np.ones((8, 1)))
        d_fake = discriminator.train_on_batch(made, np.zeros((8, 1)))
        g = combined.train_on_batch(noise, np.ones((8, 1)))
        found.append([float(v) for v in list(d_real) + list(d_fake) + [g]])
    return [close(found), close(generator.predict(np.ones((1, 3))))]


def a_vae_with_add_loss(tf, np):
    _seeded(tf, np)
    k, l = tf.keras.backend, tf.keras.layers
    given = tf.keras.Input((6,))
    h = l.Dense(5, activation="relu")(given)
    mean, log_var = l.Dense(2)(h), l.Dense(2)(h)
    z = l.Lambda(lambda args: args[0] + k.exp(0.5 * args[1]) * 0.2)([mean, log_var])
    out = l.Dense(6, activation="sigmoid")(l.Dense(5, activation="relu")(z))
    vae = tf.keras.Model(given, out)
    reconstruction = tf.keras.losses.binary_crossentropy(given, out) * 6
    divergence = -0.5 * k.sum(1 + log_var - k.square(mean) - k.exp(log_var), axis=-1)
    vae.add_loss(k.mean(reconstruction + divergence))
    vae.add_metric(k.mean(divergence), name="kl", aggregation="mean")
    vae.compile(optimizer="rmsprop")
    x = np.random.RandomState(1).rand(16, 6)
    history = vae.fit(x, epochs=3, batch_size=4, shuffle=False, verbose=0, validation_data=(x, None))
    return [recorded(history), close(vae.predict(x[:2]))]


def visualized_gradients(tf, np):
    """Saliency by the backend's functions."""
    _seeded(tf, np)
    k, l = tf.keras.backend, tf.keras.layers
    model = tf.keras.Sequential(
        [l.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 1), name="conv"), l.Flatten(), l.Dense(2)]
    )
    loss = k.mean(model.get_layer("conv").output[:, :, :, 1])
    grads = k.gradients(loss, model.input)[0]
    grads = grads / (k.sqrt(k.mean(k.square(grads))) + 1e-5)
    iterate = k.function([model.input], [loss, grads])
    image = np.random.RandomState(1).rand(1, 6, 6, 1)
    values = []
    for _ in range(3):
        value, slope = iterate([image])
        image = image + slope
        values.append(float(value))
    intermediate = tf.keras.Model(model.input, model.get_layer("conv").output).predict(image)
    return [close(values), close(intermediate)]


def masked_sequences_with_sample_weights(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [
            l.Masking(mask_value=-1.0, input_shape=(5, 2)),
            l.GRU(4, return_sequences=True),
            l.TimeDistributed(l.Dense(1)),
        ]
    )
    model.compile("sgd", "mse", sample_weight_mode="temporal", metrics=["mae"])
    x = np.random.RandomState(1).rand(8, 5, 2)
    for row in range(8):
        x[row, 5 - row % 3 :] = -1.0
    y, weights = x.sum(axis=2, keepdims=True), np.random.RandomState(2).rand(8, 5)
    history = model.fit(x, y, sample_weight=weights, epochs=3, batch_size=4, shuffle=False, verbose=0)
    return [recorded(history), close(model.predict(x)), close(model.evaluate(x, y, verbose=0))]


def time_series_by_a_generator(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    series = np.sin(np.arange(60) * 0.3).reshape(-1, 1)
    made = tf.keras.preprocessing.sequence.TimeseriesGenerator(series, series, length=5, batch_size=8)
    model = tf.keras.Sequential([l.SimpleRNN(6, input_shape=(5, 1)), l.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit_generator(made, epochs=3, shuffle=False, verbose=0)
    return [recorded(history), len(made), close(model.predict_generator(made)[:3])]


def a_graph_model_with_a_keras_body(tf, np):
    """Keras layers in a program with sessions of its own."""
    _seeded(tf, np)
    l = tf.keras.layers
    images = tf.placeholder(tf.float32, [None, 4])
    labels = tf.placeholder(tf.int64, [None])
    hidden = l.Dense(6, activation="relu")(images)
    hidden = l.BatchNormalization()(hidden, training=tf.keras.backend.learning_phase())
    logits = l.Dense(2)(l.Dropout(0.0)(hidden))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_or_create_global_step())
    x, y = _points(np)
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        session.run(tf.global_variables_initializer())
        feeds = {images: x, labels: y, tf.keras.backend.learning_phase(): 1}
        found = [session.run([loss, step], feeds)[0] for _ in range(4)]
        feeds[tf.keras.backend.learning_phase()] = 0
        return [close([float(v) for v in found]), close(session.run(logits, feeds)[:2])]


def _input_fn(tf, np, batch=8, epochs=2, shuffle=False):
    r = np.random.RandomState(1)
    features = {
        "age": r.randint(18, 70, 32).astype(np.float32),
        "hours": r.randint(1, 60, 32).astype(np.float32),
        "work": np.array(["private", "gov", "self", "none"])[r.randint(4, size=32)],
        "school": np.array(["HS", "BSc", "MSc"])[r.randint(3, size=32)],
    }
    labels = ((features["age"] > 40) & (features["hours"] > 20)).astype(np.int64)

    def given():
        data = tf.data.Dataset.from_tensor_slices((features, labels))
        if shuffle:
            data = data.shuffle(32, seed=3)
        return data.repeat(epochs).batch(batch)

    return given


def _columns(tf):
    fc = tf.feature_column
    age = fc.numeric_column("age")
    work = fc.categorical_column_with_hash_bucket("work", 10)
    school = fc.categorical_column_with_vocabulary_list("school", ["HS", "BSc", "MSc"])
    buckets = fc.bucketized_column(age, [25, 40, 55])
    wide = [buckets, work, school, fc.crossed_column([buckets, "school"], 20)]
    deep = [age, fc.numeric_column("hours"), fc.indicator_column(work), fc.embedding_column(school, 2)]
    return wide, deep


def census_by_wide_and_deep(tf, np):
    _seeded(tf, np)
    wide, deep = _columns(tf)
    folder = tempfile.mkdtemp()
    model = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=folder,
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[8, 4],
        config=tf.estimator.RunConfig(tf_random_seed=3, save_checkpoints_steps=4, keep_checkpoint_max=2),
    )
    model.train(_input_fn(tf, np))
    found = model.evaluate(_input_fn(tf, np, epochs=1))
    predicted = [p["probabilities"] for p in model.predict(_input_fn(tf, np, epochs=1))]
    spec = tf.feature_column.make_parse_example_spec(wide + deep)
    path = model.export_saved_model(
        os.path.join(folder, "export"), tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    )
    kept = sorted(f for f in os.listdir(folder) if f.endswith(".index"))
    return [_numbers(found), Close(predicted[:4], 1e-3, 1e-5), kept, sorted(os.listdir(path))]


def an_estimator_with_a_model_fn(tf, np):
    _seeded(tf, np)
    seen = []

    class Hook(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("created")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, run_context, run_values):
            seen.append(int(run_values.results))

        def end(self, session):
            seen.append("end")

    def model_fn(features, labels, mode, params):
        net = tf.feature_column.input_layer(features, params["columns"])
        for units in params["hidden"]:
            net = tf.layers.dense(net, units, activation=tf.nn.relu)
        logits = tf.layers.dense(net, 2)
        classes = tf.argmax(logits, 1)
        predictions = {"class": classes, "probabilities": tf.nn.softmax(logits)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes), "auc": tf.metrics.auc(labels, classes)}
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        rate = tf.train.exponential_decay(0.05, tf.train.get_global_step(), 4, 0.5)
        train = tf.train.AdagradOptimizer(rate).minimize(loss, tf.train.get_global_step())
        logged = tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=2)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=[logged])

    model = tf.estimator.Estimator(
        model_fn,
        config=tf.estimator.RunConfig(tempfile.mkdtemp(), tf_random_seed=3),
        params={"columns": _columns(tf)[1], "hidden": [6]},
    )
    hook = Hook()
    train = tf.estimator.TrainSpec(_input_fn(tf, np, epochs=4, shuffle=True), max_steps=12, hooks=[hook])
    final = tf.estimator.EvalSpec(_input_fn(tf, np, epochs=1), steps=None, throttle_secs=0)
    result, exported = tf.estimator.train_and_evaluate(model, train, final)
    again = model.train(_input_fn(tf, np), max_steps=12)
    first = next(model.predict(_input_fn(tf, np, epochs=1)))
    return [_numbers(result), exported, seen, again is model, close(first["probabilities"])]


def boosted_trees_and_importances(tf, np):
    _seeded(tf, np)
    fc = tf.feature_column
    columns = [
        fc.bucketized_column(fc.numeric_column("age"), [25, 40, 55]),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("school", ["HS", "BSc", "MSc"])),
    ]
    model = tf.estimator.BoostedTreesClassifier(
        columns, n_batches_per_layer=1, n_trees=5, max_depth=2, model_dir=tempfile.mkdtemp()
    )
    model.train(_input_fn(tf, np, batch=32, epochs=None), max_steps=10)
    found = model.evaluate(_input_fn(tf, np, batch=32, epochs=1))
    names, values = model.experimental_feature_importances(normalize=True)
    return [
        _numbers(found),
        [n if isinstance(n, str) else n.decode() for n in names],
        Close(values, 1e-3, 1e-5),
    ]


def an_estimator_of_a_keras_model(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(4,), name="a"), l.Dense(2, activation="softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    estimator = tf.keras.estimator.model_to_estimator(
        model, config=tf.estimator.RunConfig(tempfile.mkdtemp(), tf_random_seed=3)
    )
    x, y = _points(np)

    def given():
        return tf.data.Dataset.from_tensor_slices(({"a_input": x}, y)).repeat(2).batch(8)

    estimator.train(given, steps=6)
    found = estimator.evaluate(given, steps=2)
    first = next(estimator.predict(lambda: tf.data.Dataset.from_tensor_slices({"a_input": x}).batch(4)))
    return [_numbers(found), {k: close(v) for k, v in first.items()}, estimator.get_variable_names()]


def stopped_early_with_the_best_weights(tf, np):
    _seeded(tf, np)
    l, c = tf.keras.layers, tf.keras.callbacks
    x, y = _points(np)
    model = tf.keras.Sequential(
        [l.Dense(8, activation="relu", input_dim=4), l.Dense(1, activation="sigmoid")]
    )
    model.compile(
        tf.keras.optimizers.SGD(2.0, momentum=0.9),
        "binary_crossentropy",
        metrics=["acc", tf.keras.metrics.AUC(name="auc")],
    )
    stop = c.EarlyStopping("val_loss", patience=2, restore_best_weights=True)
    rates = c.LearningRateScheduler(lambda epoch, lr: lr * 0.9)
    history = model.fit(
        x,
        y,
        validation_split=0.25,
        epochs=12,
        batch_size=6,
        shuffle=False,
        verbose=0,
        callbacks=[stop, rates],
    )
    return [recorded(history), stop.stopped_epoch, close(model.evaluate(x, y, verbose=0))]


def models_in_files(tf, np):
    _seeded(tf, np)
    l = tf.keras.layers
    x, y = _points(np)
    folder = tempfile.mkdtemp()
    model = tf.keras.Sequential(
        [l.Dense(6, activation="relu", input_shape=(4,)), l.Dense(2, activation="softmax")]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    expected = model.predict(x)
    model.save(os.path.join(folder, "model.h5"))
    model.save_weights(os.path.join(folder, "weights.h5"))
    model.save_weights(os.path.join(folder, "ckpt", "w"))
    text = model.to_json()
    further = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    tf.keras.backend.clear_session()
    loaded = tf.keras.models.load_model(os.path.join(folder, "model.h5"))
    same = [float(np.abs(loaded.predict(x) - expected).max()) < 1e-6]
    again = loaded.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    for name in ("weights.h5", os.path.join("ckpt", "w")):
        other = tf.keras.models.model_from_json(text)
        other.load_weights(os.path.join(folder, name))
        same.append(float(np.abs(other.predict(x) - expected).max()) < 1e-6)
    return [same, recorded(further), recorded(again), text]


def a_function_in_a_graph(tf, np):
    """tf.function, its gradients and control flow in sessions."""
    _seeded(tf, np)

    @tf.function
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    w = tf.get_variable("w", initializer=np.float32([1.0, -2.0]))

    @tf.function
    def scaled(x):
        if tf.reduce_sum(x) > 0:
            return tf.reduce_sum(x * w)
        return tf.reduce_sum(tf.square(w) * x)

    x = tf.placeholder(tf.float32, [2])
    y = scaled(x)
    grads = tf.gradients(y, [x, w])
    n = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steps = [session.run(collatz(n), {n: value}) for value in (1, 6, 7)]
        values = [session.run([y] + grads, {x: value}) for value in ([1.0, 2.0], [-1.0, -3.0])]
    return [steps, values]
