"""Keras in eager mode: what runs operation by operation, what layers are told, ranks that losses take."""

from kit import cases, raises

EAGER = True


class _Noted(list):
    def note(self, tf, training):
        name = getattr(training, "name", None) if isinstance(training, tf.Tensor) else training
        self.append((tf.executing_eagerly(), name))

    def taken(self):
        found = list(self)
        del self[:]
        return found


def _model(tf, calls):
    class Told(tf.keras.layers.Layer):
        def call(self, inputs, training=None):
            calls.note(tf, training)
            return inputs

    inputs = tf.keras.Input((3,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(Told()(inputs)))
    model.compile("sgd", "mse")
    return model


def single_batches_run_eagerly(tf, np):
    calls = _Noted()
    model = _model(tf, calls)
    x, y = np.ones((4, 3), np.float32), np.ones((4, 2), np.float32)
    found = [calls.taken()]
    for step in (
        lambda: model.train_on_batch(x, y),
        lambda: model.train_on_batch(x, y),
        lambda: model.test_on_batch(x, y),
        lambda: model.predict_on_batch(x),
        lambda: model(x),
        lambda: model(x, training=True),
        lambda: model.fit(x, y, verbose=0),
        lambda: model.predict(x),
    ):
        step()
        found.append(calls.taken())
    return found


def noise_of_single_batches(tf, np):
    tf.set_random_seed(3)
    np.random.seed(5)
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.InputLayer((4,)), layers.GaussianNoise(0.5), layers.Dropout(0.5)])
    model.compile("sgd", "mse")
    x, y = np.linspace(-1.0, 1.0, 12).reshape(3, 4), np.ones((3, 4))
    return [model.train_on_batch(x, y) for _ in range(3)], np.random.rand()


def outputs_have_an_operation_of_their_own(tf, np):
    inputs = tf.keras.Input((3,))
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.ReLU()])
    return tf.keras.layers.Dense(2)(inputs).name, model.output.name, model(inputs).name


@cases("MeanSquaredError", "MeanAbsoluteError", "BinaryCrossentropy", "Hinge", "Huber", "LogCosh", "Poisson")
def losses_of_two_ranks(tf, np, name):
    loss = getattr(tf.keras.losses, name)()
    column, row = np.array([[0.2], [0.7], [0.9]], np.float32), np.array([0.1, 0.6, 0.8], np.float32)
    pairs = [(column, row), (row, column), (column, column)]
    return [loss(tf.constant(a), tf.constant(b)).numpy() for a, b in pairs]


@cases("Accuracy", "AUC", "Precision", "Recall", "TruePositives")
def metrics_refuse_other_shapes(tf, np, name):
    metric = getattr(tf.keras.metrics, name)()
    column = np.array([[0.0], [1.0], [1.0]], np.float32)
    return [
        raises(metric.update_state, column, column[:, 0]),
        raises(metric.update_state, column[:2], column),
    ]


def weights_of_samples_that_do_not_fit(tf, np):
    loss = tf.keras.losses.MeanSquaredError()
    ones = tf.ones((3, 2))
    return [raises(loss, ones, ones, sample_weight=np.ones(shape)) for shape in ((1, 3), (3, 2))]


def rates_of_schedules(tf, np):
    schedules = tf.keras.optimizers.schedules
    made = [
        schedules.ExponentialDecay(0.1, 3, 0.5),
        schedules.InverseTimeDecay(0.1, 3, 0.5, staircase=True),
        schedules.PiecewiseConstantDecay([1, 3], [0.3, 0.2, 0.1]),
        schedules.PolynomialDecay(0.1, 3, 0.01, cycle=True),
    ]
    return [[float(schedule(step)) for step in range(5)] for schedule in made]


def updates_count(tf, np):
    variable = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.1)
    counted = [optimizer.apply_gradients([(tf.ones(2), variable)]) for _ in range(2)]
    return [int(number) for number in counted], variable.numpy()


def weights_without_the_number_of_updates(tf, np):
    found = {}
    for name in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Ftrl"):
        optimizer = getattr(tf.keras.optimizers, name)(0.1)
        optimizer.apply_gradients([(tf.ones(2), tf.Variable([1.0, 2.0]))])
        weights = optimizer.get_weights()[1:]
        found[name] = raises(optimizer.set_weights, weights), int(optimizer.iterations.numpy())
    return found


def arguments_that_are_refused(tf, np):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    x, y = np.ones((4, 3)), np.ones((4, 2))
    model.compile("sgd", "mse")
    inputs = tf.keras.Input((3,))
    layer = tf.keras.layers.Dense(2)
    return [
        raises(model.compile, "sgd", "mse", metrics=("mae",)),
        raises(model.fit, x, y, batch_size=0),
        raises(setattr, model, "layers", []),
        raises(tf.keras.Model, inputs, layer(inputs), wrong=3),
        raises(tf.keras.Model, inputs=inputs),
        raises(layer, [inputs, inputs]),
        raises(layer.add_weight, "text", (2,), dtype="string"),
        [type(tf.keras.constraints.get(name)).__name__ for name in ("maxnorm", "nonneg", "unitnorm")],
    ]


def names_stand_first_in_configs(tf, np):
    inputs = tf.keras.Input((3,), name="x")
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, name="y")(inputs), name="m")
    return model.to_json()


def a_batch_of_a_model_that_is_not_compiled(tf, np):
    k = tf.keras

    class Doubled(k.Model):
        def call(self, inputs):
            return inputs * 2

    given = k.Input((3,))
    dense = lambda: k.layers.Dense(2, kernel_initializer="ones")
    models = [k.Sequential([dense(), k.layers.ReLU()]), k.Model(given, dense()(given)), Doubled()]
    ones = np.ones((2, 3), np.float32)
    return [(model.predict_on_batch(ones), model.predict(ones)) for model in models]
