"""What programs met in Keras in eager mode: batches of a fixed size, progress bars, configs."""

import contextlib
import io
import re

from keras_models import close
from kit import normal, raises

EAGER = True


def _model(tf, **kwargs):
    k = tf.keras
    same = k.initializers.Constant(0.1)
    return k.Sequential([k.layers.Dense(2, "tanh", kernel_initializer=same, **kwargs), k.layers.Dense(1)])


def batches_of_a_fixed_size(tf, np):
    model = _model(tf, batch_input_shape=(2, 3))
    model.set_weights([np.full(weight.shape, 0.1) for weight in model.get_weights()])
    model.compile("sgd", "mse")
    x, y = normal(np, 4, 3), normal(np, 4, 1)
    return [
        close(model.predict(x)),
        close(model.predict(x[:3], batch_size=2)),
        raises(model.predict, x, batch_size=3),
        raises(model.fit, x, y, batch_size=4, verbose=0),
        raises(model.evaluate, x, y, batch_size=1, verbose=0),
        close(model.fit(x, y, shuffle=False, verbose=0).history["loss"]),
        close(model.train_on_batch(x, y)),
    ]


def a_stateful_layer_of_a_fixed_batch(tf, np):
    l = tf.keras.layers
    layer = l.SimpleRNN(2, stateful=True, kernel_initializer="ones", recurrent_initializer="ones")
    model = tf.keras.Sequential([l.InputLayer(batch_input_shape=(2, 3, 1)), layer])
    x = 0.1 * normal(np, 4, 3, 1)
    return [close(model.predict(x)), close(model.predict(x)), raises(model.predict, x, batch_size=4)]


def the_last_loss_of_a_progress_bar(tf, np):
    model = _model(tf, input_shape=(3,))
    model.set_weights([np.full(weight.shape, 0.1) for weight in model.get_weights()])
    model.compile("sgd", "mse", metrics=["mae"])
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        model.fit(normal(np, 6, 3), normal(np, 6, 1), batch_size=4, shuffle=False, verbose=1)
    text = re.sub(r"\d+[mu]?s", "T", out.getvalue())
    return [
        len(re.findall("\r", text)),
        re.findall("/sample - loss: (\\d.\\d\\d)\\d+ - (\\w+): (\\d.\\d\\d)", text),
    ]


def configs_of_layers_that_are_not_built(tf, np):
    l = tf.keras.layers
    norm, leaky = l.BatchNormalization(), l.LeakyReLU(0.3)
    before = norm.get_config()["axis"]
    norm.build((None, 3))
    return [before, list(norm.get_config()["axis"]), float(leaky.get_config()["alpha"])]


def sparse_features_of_sequences(tf, np):
    column = tf.feature_column
    ids = column.sequence_categorical_column_with_identity("s", 4)
    table = tf.constant_initializer([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    columns = [column.embedding_column(ids, 2, initializer=table), column.sequence_numeric_column("n")]
    places = [[0, 0], [0, 1], [1, 0]]
    features = {
        "s": tf.SparseTensor(places, tf.constant([1, 2, 3], tf.int64), [2, 2]),
        "n": tf.SparseTensor(places, [1.0, 2.0, 3.0], [2, 2]),
    }
    return [
        tf.keras.experimental.SequenceFeatures(columns)(features),
        raises(column.shared_embedding_columns, [column.categorical_column_with_identity("k", 3)], 2),
    ]


def gradients_of_nothing(tf, np):
    optimizer, v = tf.keras.optimizers.SGD(0.1), tf.Variable(1.0)
    optimizer.apply_gradients([])
    return [optimizer.iterations, raises(optimizer.apply_gradients, [(None, v)])]
