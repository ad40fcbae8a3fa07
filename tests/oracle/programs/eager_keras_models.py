"""Eager mode: what tf.keras models are made of: phases, states, files, configs, callbacks and errors."""

import os
import tempfile

from keras_models import (
    close,
    data,
    filled,
    functional,
    recorded,
    sequential,
    subclassed,
    two_headed,
    two_headed_data,
)
from kit import cases, normal, raises

EAGER = True


def masks(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.Embedding(6, 3, mask_zero=True, input_length=4), l.LSTM(2, return_sequences=True), l.Dense(1)]
    )
    filled(np, model)
    words = np.array([[1, 2, 0, 0], [3, 4, 5, 1]])
    y = model(tf.constant(words))
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(words, np.ones((2, 4, 1)), epochs=2, shuffle=False, verbose=0)
    return [close(y), y._keras_mask, recorded(history), close(model.predict(words))]


@cases({name: name for name in ("SimpleRNN", "GRU", "LSTM")})
def recurrent_layers(tf, np, name):
    l = tf.keras.layers
    kind = getattr(l, name)
    model = tf.keras.Sequential(
        [
            l.Bidirectional(kind(3, return_sequences=True), input_shape=(4, 2)),
            kind(2, dropout=0.0, recurrent_dropout=0.0),
            l.Dense(1),
        ]
    )
    filled(np, model)
    x, y = normal(np, 6, 4, 2).astype(np.float32), normal(np, 6, 1).astype(np.float32)
    model.compile("sgd", "mse")
    history = model.fit(x, y, epochs=2, batch_size=3, shuffle=False, verbose=0)
    return [close(model(x)), recorded(history), close(model.get_weights())]


def states_of_recurrent_layers(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential([l.GRU(3, stateful=True, batch_input_shape=(2, 4, 2)), l.Dense(1)])
    filled(np, model)
    x = normal(np, 4, 4, 2).astype(np.float32)
    found = [model.predict(x, batch_size=2), model.predict(x, batch_size=2), model(x[:2])]
    model.reset_states()
    found += [model(x[:2]), model.predict(x[:2], batch_size=2)]
    model.compile("sgd", "mse")
    history = model.fit(x, np.ones((4, 1)), batch_size=2, epochs=2, shuffle=False, verbose=0)
    bad = raises(model.predict, x[:3], batch_size=2)
    return [close(found), recorded(history), close(model.layers[0].states[0]), model.stateful, bad]


def encoder_and_decoder(tf, np):
    l = tf.keras.layers
    source, target = tf.keras.Input((None, 2)), tf.keras.Input((None, 3))
    _, h, c = l.LSTM(4, return_state=True)(source)
    made = l.LSTM(4, return_sequences=True)(target, initial_state=[h, c])
    model = tf.keras.Model([source, target], l.Dense(1)(made))
    filled(np, model)
    x = [normal(np, 4, 5, 2).astype(np.float32), normal(np, 4, 3, 3).astype(np.float32)]
    model.compile("rmsprop", "mse")
    history = model.fit(x, np.ones((4, 3, 1)), epochs=2, shuffle=False, verbose=0)
    return [recorded(history), close(model.predict(x)), close(model(x))]


@cases({"trainable": True, "frozen": False})
def batch_normalization(tf, np, trainable):
    l = tf.keras.layers
    norm = l.BatchNormalization(momentum=0.8, trainable=trainable)
    model = tf.keras.Sequential([l.Dense(2, input_shape=(3,)), norm, l.Dense(1)])
    filled(np, model)
    norm.set_weights([np.ones(2), np.zeros(2), np.zeros(2), np.ones(2)])
    x, y = data(np)
    before = [model(x), model(x, training=True), norm.moving_mean.numpy()]
    model.compile("sgd", "mse")
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    after = [norm.get_weights(), model.predict(x), model(x, training=False)]
    return [close(before), recorded(history), close(after), len(model.updates), len(norm.trainable_weights)]


def dropout_and_the_learning_phase(tf, np):
    k = tf.keras.backend
    l = tf.keras.layers
    x = tf.ones([50, 20])
    layer = l.Dropout(0.5)
    kinds = [
        bool(tf.reduce_all(tf.equal(layer(x), x))),
        bool(tf.reduce_all(tf.equal(layer(x, training=False), x))),
        bool(tf.reduce_any(tf.equal(layer(x, training=True), 0.0))),
        int(k.learning_phase()),
    ]
    k.set_learning_phase(1)
    kinds += [bool(tf.reduce_any(tf.equal(layer(x), 0.0))), int(k.learning_phase())]
    k.set_learning_phase(0)
    kinds += [bool(tf.reduce_all(tf.equal(layer(x), x))), int(k.learning_phase())]
    inside = k.in_train_phase(lambda: 1.0, lambda: 2.0, training=True)
    k.clear_session()
    return [kinds, inside]


def phases_of_steps(tf, np):
    l = tf.keras.layers

    class Phase(l.Layer):
        def call(self, inputs, training=None):
            return inputs * 0.0 + (2.0 if training else 1.0)

    model = tf.keras.Sequential([Phase(input_shape=(3,)), l.Lambda(lambda x: x * 2.0)])
    model.compile("sgd", "mse")
    x, _ = data(np)
    y = np.zeros((12, 3), np.float32)
    return [
        float(model.train_on_batch(x, y)) if model.trainable_weights else None,
        float(model.test_on_batch(x, y)),
        model.predict(x)[:1],
        model(x)[:1],
        model(x, training=True)[:1],
    ]


def weights_in_files(tf, np):
    x, y = data(np)
    model = filled(np, functional(tf))
    model.compile("adam", "mse")
    model.fit(x, y, epochs=2, shuffle=False, verbose=0)
    path = os.path.join(tempfile.mkdtemp(), "weights")
    model.save_weights(path)
    other = functional(tf)
    other.compile("adam", "mse")
    status = other.load_weights(path)
    equal = [bool(np.array_equal(a, b)) for a, b in zip(model.get_weights(), other.get_weights())]
    files = sorted(os.listdir(os.path.dirname(path)))
    further = other.fit(x, y, shuffle=False, verbose=0)
    return [equal, files, status is None, recorded(further)]


def weights_of_a_subclassed_model(tf, np):
    x, _ = data(np)
    model = filled(np, subclassed(tf))
    path = os.path.join(tempfile.mkdtemp(), "weights")
    model.save_weights(path)
    names = sorted(name for name, _ in tf.train.list_variables(path))
    other = subclassed(tf)
    other.load_weights(path)
    return [names, close(other(x)), bool(np.allclose(other(x), model(x)))]


@cases({"functional": functional, "sequential": sequential, "two-headed": two_headed})
def configs_and_clones(tf, np, make):
    model = filled(np, make(tf))
    config = model.get_config()
    again = type(model).from_config(config)
    again.set_weights(model.get_weights())
    from_json = tf.keras.models.model_from_json(model.to_json())
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    x = two_headed_data(np)[0] if len(model.inputs) > 1 else data(np)[0]
    return [
        again.get_config() == config,
        from_json.get_config() == config,
        close([again.predict(x), clone.predict(x)]),
        clone.get_config() == config,
    ]


def operations_between_layers(tf, np):
    x = tf.keras.Input((3,))
    y = tf.keras.layers.Dense(2)(tf.square(x) * 2.0 + 1.0)
    z = tf.concat([y, tf.reduce_sum(x, axis=1, keepdims=True)], axis=1)
    model = filled(np, tf.keras.Model(x, z[:, 1:]))
    a, _ = data(np)
    model.compile("sgd", "mse")
    history = model.fit(a, np.zeros((12, 2)), epochs=2, shuffle=False, verbose=0)
    return [
        recorded(history),
        close([model(a), model.predict(a)]),
        [type(layer).__name__ for layer in model.layers],
        close(tf.keras.Model.from_config(model.get_config()).count_params()),
    ]


def symbolic_tensors(tf, np):
    x = tf.keras.Input((3,), batch_size=2, dtype="float64", name="given")
    y = tf.keras.layers.Dense(2, dtype="float64")(x)
    k = tf.keras.backend
    return [
        (x.shape, x.dtype, x.name, isinstance(x, tf.Tensor)),
        (y.shape, y.dtype, k.int_shape(y)),
        raises(lambda: x.numpy()),
        raises(lambda: bool(x)),
        raises(tf.gradients, y, x),
        raises(k.gradients, y, [x]),
        tf.executing_eagerly(),
        k.placeholder((2, None)).shape,
        raises(tf.placeholder, tf.float32),
    ]


def functions_of_the_backend(tf, np):
    k = tf.keras.backend
    x, _ = data(np)
    model = filled(np, functional(tf))
    hidden = k.function([model.input], [model.get_layer("hidden").output])
    scalar = k.function([model.input], model.output)
    v = k.variable([1.0, 2.0], name="v")
    a, b = k.placeholder((2,)), k.placeholder((2,))
    add = k.function([a, b], [a + b, a * b * 2.0])
    k.set_value(v, [3.0, 5.0])
    made = add([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    k.update_add(v, k.constant([1.0, 1.0]))
    return [
        close([hidden([x]), scalar([x])]),
        close(made),
        close([k.get_value(v), k.eval(v * 2.0), k.batch_get_value([v, v])]),
        close(k.dot(k.ones((2, 3)), k.constant(x[:3, :2]))),
        k.count_params(v),
    ]


def dynamic_layers(tf, np):
    class Positive(tf.keras.layers.Layer):
        def __init__(self, **kwargs):
            super(Positive, self).__init__(dynamic=True, **kwargs)

        def build(self, input_shape):
            self.scale = self.add_weight("scale", shape=(), initializer="ones")

        def call(self, inputs):
            if tf.reduce_sum(inputs).numpy() > 0:
                return inputs * self.scale
            return inputs * self.scale * 2.0

        def compute_output_shape(self, input_shape):
            return input_shape

    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(2, input_shape=(3,)), Positive(), tf.keras.layers.Dense(1)]
    )
    filled(np, model)
    x, y = data(np)
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    refused = raises(lambda: model.compile("sgd", "mse", run_eagerly=False) or model.fit(x, y, verbose=0))
    return [recorded(history), model.run_eagerly if not refused else None, model.dynamic, close(model(x))]


def running_eagerly(tf, np):
    seen = []

    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.out = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            seen.append(tf.executing_eagerly())
            return self.out(inputs)

    x, y = data(np)
    model = Net()
    model.compile("sgd", "mse", run_eagerly=True)
    first = recorded(model.fit(x, y, batch_size=4, shuffle=False, verbose=0))
    eager = [any(seen), model.run_eagerly]
    del seen[:]
    model = Net()
    model.compile("sgd", "mse")
    second = recorded(model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0))
    return [first, eager, second, any(seen), len(seen) < 6, model.run_eagerly]


def a_custom_loop(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [l.Dense(4, activation="relu", kernel_regularizer="l2"), l.BatchNormalization(), l.Dense(1)]
    )
    model.build((None, 3))
    filled(np, model)
    model.layers[1].set_weights([np.ones(4), np.zeros(4), np.zeros(4), np.ones(4)])
    x, y = data(np)
    optimizer, metric = tf.keras.optimizers.SGD(0.1, momentum=0.5), tf.keras.metrics.Mean()
    loss_of = tf.keras.losses.MeanSquaredError()
    found = []
    for _ in range(2):
        for xs, ys in tf.data.Dataset.from_tensor_slices((x, y)).batch(4):
            with tf.GradientTape() as tape:
                loss = loss_of(ys, model(xs, training=True)) + sum(model.losses)
            slopes = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(slopes, model.trainable_variables))
            metric(loss)
        found.append(metric.result())
        metric.reset_states()
    return [close(found), close(model.get_weights()), int(optimizer.iterations)]


def what_callbacks_see(tf, np):
    seen = []

    class Watch(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(("begin", sorted(self.params), sorted(logs or {})))

        def on_epoch_begin(self, epoch, logs=None):
            seen.append(("epoch", epoch))

        def on_batch_end(self, batch, logs=None):
            seen.append(("batch", batch, sorted(logs)))

        def on_epoch_end(self, epoch, logs=None):
            seen.append(("end", epoch, sorted(logs), self.model.optimizer.iterations.numpy() > 0))

        def on_test_batch_end(self, batch, logs=None):
            seen.append(("test", batch))

        def on_train_end(self, logs=None):
            seen.append(("done",))

    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile("sgd", "mse", metrics=["mae"])
    model.fit(x, y, batch_size=6, epochs=2, verbose=0, validation_data=(x, y), callbacks=[Watch()])
    return seen


def callbacks(tf, np):
    c = tf.keras.callbacks
    model = filled(np, functional(tf))
    x, y = data(np)
    model.compile(tf.keras.optimizers.SGD(0.5), "mse", metrics=["mae"])
    folder = tempfile.mkdtemp()
    history = model.fit(
        x,
        y,
        epochs=6,
        shuffle=False,
        verbose=0,
        validation_data=(x, 1 - y),
        callbacks=[
            c.EarlyStopping(patience=2),
            c.LearningRateScheduler(lambda epoch: 0.5 / (epoch + 1)),
            c.ModelCheckpoint(os.path.join(folder, "best"), save_best_only=True, save_weights_only=True),
            c.CSVLogger(os.path.join(folder, "log.csv")),
            c.ReduceLROnPlateau(patience=1),
            c.LambdaCallback(on_epoch_end=lambda epoch, logs: None),
            c.TerminateOnNaN(),
        ],
    )
    with open(os.path.join(folder, "log.csv")) as file:
        head = file.readline().strip()
    return [recorded(history), sorted(os.listdir(folder)), head]


def models_of_models(tf, np):
    inner = filled(np, sequential(tf))
    x = tf.keras.Input((3,))
    outer = tf.keras.Model(x, tf.keras.layers.Dense(1, name="last")(inner(x)))
    filled(np, outer)
    inner.trainable = False
    a, b = data(np)
    outer.compile("sgd", "mse")
    before = inner.get_weights()
    history = outer.fit(a, b, epochs=2, batch_size=5, shuffle=False, verbose=0)
    kept = [bool(np.array_equal(p, q)) for p, q in zip(before, inner.get_weights())]
    part = tf.keras.Model(x, inner(x))
    return [
        recorded(history),
        kept,
        len(outer.trainable_weights),
        len(outer.non_trainable_weights),
        close([part.predict(a), outer(a)]),
    ]


def shared_layers(tf, np):
    l = tf.keras.layers
    a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
    shared = l.Dense(2, name="shared")
    model = tf.keras.Model([a, b], l.dot([shared(a), shared(b)], axes=1))
    filled(np, model)
    x, y = data(np)
    model.compile("sgd", "mse")
    history = model.fit([x, x[::-1]], y, epochs=2, shuffle=False, verbose=0)
    return [
        recorded(history),
        raises(lambda: shared.output),
        shared.get_output_at(1).shape,
        len(model.layers),
        close(model([x, x])),
    ]


def images(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential(
        [
            l.Conv2D(3, 3, activation="relu", input_shape=(8, 8, 1)),
            l.BatchNormalization(),
            l.MaxPooling2D(),
            l.Flatten(),
            l.Dense(4, activation="softmax"),
        ]
    )
    filled(np, model)
    model.layers[1].set_weights([np.ones(3), np.zeros(3), np.zeros(3), np.ones(3)])
    x = np.sin(np.arange(6 * 64)).reshape(6, 8, 8, 1)
    y = np.arange(6) % 4
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0)
    return [recorded(history), close(model.predict(x)), close(model.layers[1].get_weights())]


def seeds_of_weights(tf, np):
    tf.set_random_seed(3)
    first = [sequential(tf).get_weights() for _ in range(2)]
    tf.set_random_seed(3)
    second = [sequential(tf).get_weights() for _ in range(2)]
    return all(np.array_equal(a, b) for p, q in zip(first, second) for a, b in zip(p, q))


def summaries_and_names(tf, np):
    tf.keras.backend.clear_session()
    lines = []
    for make in (functional, sequential, two_headed):
        make(tf).summary(print_fn=lines.append)
    return lines


_BAD = {
    "no compile": lambda tf, np, m: m.fit(np.ones((2, 3)), np.ones(2)),
    "input rank": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3, 1)), np.ones(2)),
    "input shape": lambda tf, np, m: _compiled(m).fit(np.ones((2, 4)), np.ones(2)),
    "target shape": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3)), np.ones((2, 2))),
    "samples": lambda tf, np, m: _compiled(m).fit(np.ones((2, 3)), np.ones(3)),
    "called with another shape": lambda tf, np, m: m(np.ones((2, 4), np.float32)),
    "eager input": lambda tf, np, m: tf.keras.Model(tf.zeros([2, 3]), m.output),
    "loss": lambda tf, np, m: m.compile("sgd", "nothing"),
    "dataset and y": lambda tf, np, m: _compiled(m).fit(
        tf.data.Dataset.from_tensors((np.ones((2, 3)), np.ones(2))), np.ones(2)
    ),
    "target tensors": lambda tf, np, m: m.compile(
        "sgd", "mse", target_tensors=[tf.ones([2, 1])], run_eagerly=True
    ),
    "no call": lambda tf, np, m: tf.keras.Model()(tf.ones([2, 3])),
    "save subclassed": lambda tf, np, m: subclassed(tf).save(os.path.join(tempfile.mkdtemp(), "m.h5")),
}


def _compiled(model):
    model.compile("sgd", "mse")
    return model


@cases({name: name for name in _BAD})
def bad_models(tf, np, name):
    return raises(_BAD[name], tf, np, functional(tf))
