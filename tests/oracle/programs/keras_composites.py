"""Models of sparse and ragged tensors, and what datasets and generators are refused with, in a graph."""

from kit import raises

_ROWS = [[1], [2, 3], [], [4, 5, 6]]


def _dense(tf):
    class Dense(tf.keras.layers.Layer):
        def call(self, inputs):
            if isinstance(inputs, tf.SparseTensor):
                return tf.cast(tf.sparse.to_dense(inputs, default_value=-1), tf.float32)
            return tf.cast(inputs.to_tensor(default_value=-1), tf.float32)

    return Dense()


def _sparse(tf):
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 2, 3], [2, 3])


def _plain(np, value):
    if isinstance(value, tuple):
        return [type(value).__name__] + [np.asarray(part).tolist() for part in value]
    return [type(value).__name__, value.to_list()] if hasattr(value, "to_list") else value.tolist()


def inputs(tf, np):
    k = tf.keras
    found = []
    ragged = tf.ragged.constant(_ROWS, tf.int32)
    for tensor, kind, shape in ((_sparse(tf), "sparse", (3,)), (ragged, "ragged", (None,))):
        given = k.Input(shape, dtype=tf.int32, name=kind, **{kind: True})
        model = k.Model(given, _dense(tf)(given))
        model.compile("sgd", "mse", metrics=["acc"])
        expected = model.predict(tensor, steps=1)
        batches = tf.data.Dataset.from_tensors((tensor, expected))
        found += [
            expected.tolist(),
            model.predict({kind: tensor}, steps=1).tolist(),
            model.predict(tf.data.Dataset.from_tensors(tensor)).tolist(),
            model.evaluate(tensor, expected, steps=1, verbose=0),
            model.fit(batches, verbose=0).history,
        ]
    return found


def outputs(tf, np):
    class Ragged(tf.keras.layers.Layer):
        def call(self, inputs):
            return tf.RaggedTensor.from_tensor(inputs, padding=0)

    class Sparse(tf.keras.layers.Layer):
        def call(self, inputs):
            where = tf.where(tf.not_equal(inputs, 0))
            return tf.SparseTensor(where, tf.gather_nd(inputs, where), tf.shape(inputs, out_type=tf.int64))

    data = np.array([[1, 0, 0], [2, 3, 0], [0, 0, 4]])
    models = [tf.keras.Sequential([layer()]) for layer in (Ragged, Sparse)]
    return [_plain(np, model.predict(data, batch_size=size)) for model in models for size in (2, 32)]


def placeholders(tf, np):
    k = tf.keras
    shapes = [(None,), (None, 2), (None, None, 3)]
    return [
        [k.Input(shape, ragged=True, name="r%d" % i).shape.as_list() for i, shape in enumerate(shapes)],
        k.Input((None, 2), sparse=True).shape.as_list(),
        raises(k.backend.placeholder, (2, 3), sparse=True, ragged=True),
    ]


def undeclared(tf, np):
    model = tf.keras.Sequential([_dense(tf)])
    return raises(model.predict, _sparse(tf), steps=1)


def _net(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")
    return model


def what_batches_are_refused_with(tf, np):
    model, x, y = _net(tf), np.ones((10, 3), np.float32), np.ones((10, 1), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
    endless = data.repeat()

    def generated():
        while True:
            yield x, y

    return [
        raises(model.fit, endless),
        raises(model.evaluate, endless),
        raises(model.predict, endless),
        raises(model.fit, data, validation_data=endless, verbose=0),
        raises(model.fit, data, y),
        raises(model.fit, data, validation_split=0.5),
        raises(model.fit, data, batch_size=2),
        raises(model.fit, generated()),
        raises(model.evaluate, generated()),
        raises(model.fit_generator, generated()),
        raises(model.fit, generated(), y, steps_per_epoch=1),
        raises(model.fit, generated(), validation_split=0.5, steps_per_epoch=1),
        int(model.fit(data, epochs=2, verbose=0).params["steps"]),
        model.fit(endless, steps_per_epoch=3, verbose=0).params["steps"],
    ]
