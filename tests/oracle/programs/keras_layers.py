"""tf.keras layers: values with fixed weights, names and order of weights, shapes, configs, masks."""

from kit import Close, cases, normal, raises


def _weights(np, layer):
    """Sets weights that are the same in every engine."""
    made = []
    for number, value in enumerate(layer.get_weights()):
        size = int(np.prod(value.shape))
        made.append((np.sin(np.arange(size) + number) * 0.5).reshape(value.shape).astype(value.dtype))
    layer.set_weights(made)


def _plain(config):
    """A config without what differs by engine: nothing but lists for tuples."""
    if isinstance(config, dict):
        return {str(key): _plain(value) for key, value in config.items()}
    if isinstance(config, (list, tuple)):
        return [_plain(value) for value in config]
    return config


def _applied(tf, np, make, *arrays):
    inputs = [tf.keras.Input(a.shape[1:], dtype=str(a.dtype)) for a in arrays]
    layer = make(tf.keras.layers)
    outputs = layer(inputs[0] if len(inputs) == 1 else inputs)
    flat = outputs if isinstance(outputs, list) else [outputs]
    _weights(np, layer)
    model = tf.keras.Model(inputs, outputs)
    again = type(layer).from_config(layer.get_config())
    return {
        "value": Close(model.predict(list(arrays)), 2e-4, 2e-5),
        "weights": [w.name for w in layer.weights],
        "trainable": [w.name for w in layer.trainable_weights],
        "shapes": [y.shape.as_list() for y in flat],
        "config": _plain(layer.get_config()),
        "same config": _plain(again.get_config()) == _plain(layer.get_config()),
        "params": layer.count_params(),
    }


_LAYERS = {
    "dense": ([3, 4], lambda l: l.Dense(5, activation="relu")),
    "dense rank 3": ([2, 3, 4], lambda l: l.Dense(5, use_bias=False, activation="softmax")),
    "activation": ([3, 4], lambda l: l.Activation("tanh")),
    "flatten": ([2, 3, 4], lambda l: l.Flatten()),
    "reshape": ([2, 3, 4], lambda l: l.Reshape((4, -1))),
    "permute": ([2, 3, 4], lambda l: l.Permute((2, 1))),
    "repeat": ([2, 3], lambda l: l.RepeatVector(4)),
    "dropout": ([2, 3], lambda l: l.Dropout(0.5)),
    "spatial dropout": ([2, 3, 4], lambda l: l.SpatialDropout1D(0.5)),
    "masking": ([2, 3, 4], lambda l: l.Masking(0.0)),
    "activity": ([2, 3], lambda l: l.ActivityRegularization(0.1, 0.2)),
    "conv1d": ([2, 7, 3], lambda l: l.Conv1D(4, 3)),
    "conv1d causal": ([2, 7, 3], lambda l: l.Conv1D(4, 3, padding="causal", dilation_rate=2)),
    "conv2d": ([2, 6, 5, 3], lambda l: l.Conv2D(4, 3, strides=2, padding="same", activation="elu")),
    "conv2d dilated": ([2, 8, 8, 3], lambda l: l.Conv2D(4, (3, 2), dilation_rate=(2, 1))),
    "conv3d": ([1, 4, 5, 4, 2], lambda l: l.Conv3D(3, 2)),
    "conv2d transpose": ([1, 4, 3, 2], lambda l: l.Conv2DTranspose(3, 3, strides=2, padding="same")),
    "conv2d transpose padded": (
        [1, 4, 3, 2],
        lambda l: l.Conv2DTranspose(3, 3, strides=2, output_padding=1),
    ),
    "conv3d transpose": ([1, 2, 3, 2, 2], lambda l: l.Conv3DTranspose(3, 2, strides=2)),
    "separable 1d": ([2, 7, 3], lambda l: l.SeparableConv1D(4, 3)),
    "separable 2d": ([2, 6, 5, 3], lambda l: l.SeparableConv2D(4, 3, depth_multiplier=2)),
    "depthwise": ([2, 6, 5, 3], lambda l: l.DepthwiseConv2D(3, depth_multiplier=2, padding="same")),
    "max pool 1d": ([2, 7, 3], lambda l: l.MaxPooling1D(2)),
    "max pool 2d": ([2, 6, 5, 3], lambda l: l.MaxPooling2D()),
    "average pool 2d": ([2, 6, 5, 3], lambda l: l.AveragePooling2D((2, 3), strides=1, padding="same")),
    "average pool 3d": ([1, 4, 4, 4, 2], lambda l: l.AveragePooling3D(2)),
    "global average 1d": ([2, 7, 3], lambda l: l.GlobalAveragePooling1D()),
    "global max 2d": ([2, 6, 5, 3], lambda l: l.GlobalMaxPooling2D()),
    "global average 3d": ([1, 4, 4, 4, 2], lambda l: l.GlobalAveragePooling3D()),
    "batch normalization": ([4, 3], lambda l: l.BatchNormalization()),
    "batch normalization 4d": ([2, 3, 4, 2], lambda l: l.BatchNormalization(epsilon=0.01, scale=False)),
    "layer normalization": ([4, 3, 2], lambda l: l.LayerNormalization()),
    "leaky relu": ([3, 4], lambda l: l.LeakyReLU(0.1)),
    "prelu": ([3, 4, 2], lambda l: l.PReLU(shared_axes=[1])),
    "elu": ([3, 4], lambda l: l.ELU(0.5)),
    "thresholded relu": ([3, 4], lambda l: l.ThresholdedReLU(0.5)),
    "softmax": ([3, 4, 2], lambda l: l.Softmax(axis=1)),
    "relu": ([3, 4], lambda l: l.ReLU(1.0, 0.2, 0.1)),
    "zero padding 1d": ([2, 3, 4], lambda l: l.ZeroPadding1D((1, 2))),
    "zero padding 2d": ([2, 3, 4, 2], lambda l: l.ZeroPadding2D(((1, 0), (2, 1)))),
    "zero padding 3d": ([1, 2, 3, 4, 2], lambda l: l.ZeroPadding3D(1)),
    "cropping 1d": ([2, 6, 4], lambda l: l.Cropping1D((1, 2))),
    "cropping 2d": ([2, 6, 5, 2], lambda l: l.Cropping2D(((1, 0), (2, 1)))),
    "cropping 3d": ([1, 4, 5, 4, 2], lambda l: l.Cropping3D(1)),
    "up sampling 1d": ([2, 3, 4], lambda l: l.UpSampling1D(3)),
    "up sampling 2d": ([2, 3, 4, 2], lambda l: l.UpSampling2D((2, 3))),
    "up sampling 3d": ([1, 2, 3, 2, 2], lambda l: l.UpSampling3D(2)),
    "gaussian noise": ([2, 3], lambda l: l.GaussianNoise(0.5)),
    "gaussian dropout": ([2, 3], lambda l: l.GaussianDropout(0.5)),
    "alpha dropout": ([2, 3], lambda l: l.AlphaDropout(0.5)),
    "simple rnn": ([2, 5, 3], lambda l: l.SimpleRNN(4)),
    "simple rnn backwards": ([2, 5, 3], lambda l: l.SimpleRNN(4, go_backwards=True, return_sequences=True)),
    "lstm": ([2, 5, 3], lambda l: l.LSTM(4, return_sequences=True)),
    "lstm state": ([2, 5, 3], lambda l: l.LSTM(4, return_state=True, implementation=2)),
    "lstm unrolled": ([2, 5, 3], lambda l: l.LSTM(4, unroll=True, unit_forget_bias=False)),
    "gru": ([2, 5, 3], lambda l: l.GRU(4)),
    "gru reset after": ([2, 5, 3], lambda l: l.GRU(4, reset_after=True, implementation=2)),
    "gru sequences": ([2, 5, 3], lambda l: l.GRU(4, return_sequences=True, use_bias=False)),
    "time distributed": ([2, 5, 3], lambda l: l.TimeDistributed(l.Dense(4))),
    "bidirectional": ([2, 5, 3], lambda l: l.Bidirectional(l.LSTM(4, return_sequences=True))),
    "bidirectional sum": ([2, 5, 3], lambda l: l.Bidirectional(l.GRU(4), merge_mode="sum")),
    "conv lstm": ([2, 3, 5, 4, 2], lambda l: l.ConvLSTM2D(3, 3, padding="same", return_sequences=True)),
    "conv lstm valid": ([1, 3, 5, 5, 2], lambda l: l.ConvLSTM2D(2, (2, 3), strides=2, use_bias=False)),
    "conv lstm state": (
        [2, 2, 4, 4, 2],
        lambda l: l.ConvLSTM2D(
            2, 3, dilation_rate=1, unit_forget_bias=False, return_state=True, go_backwards=True
        ),
    ),
    "local 1d": ([2, 7, 3], lambda l: l.LocallyConnected1D(4, 3, strides=2, activation="relu")),
    "local 1d matrix": ([2, 7, 3], lambda l: l.LocallyConnected1D(4, 3, padding="same", implementation=2)),
    "local 1d sparse": ([2, 7, 3], lambda l: l.LocallyConnected1D(4, 4, padding="same", implementation=3)),
    "local 1d channels first": (
        [2, 3, 7],
        lambda l: l.LocallyConnected1D(4, 3, data_format="channels_first", implementation=3),
    ),
    "local 2d": ([2, 5, 6, 2], lambda l: l.LocallyConnected2D(3, (2, 3), strides=(1, 2))),
    "local 2d matrix": (
        [2, 5, 6, 2],
        lambda l: l.LocallyConnected2D(3, (2, 3), strides=(2, 1), padding="same", implementation=2),
    ),
    "local 2d sparse": (
        [2, 5, 6, 2],
        lambda l: l.LocallyConnected2D(3, 3, padding="same", implementation=3, use_bias=False),
    ),
    "local 2d matrix first": (
        [2, 2, 5, 6],
        lambda l: l.LocallyConnected2D(3, 3, data_format="channels_first", implementation=2),
    ),
    "rnn of cells": ([2, 5, 3], lambda l: l.RNN([l.LSTMCell(4), l.GRUCell(3)])),
}


@cases({name: name for name in _LAYERS})
def one_input(tf, np, name):
    shape, make = _LAYERS[name]
    return _applied(tf, np, make, normal(np, *shape).astype(np.float32))


_MERGES = {
    "add": lambda l: l.Add(),
    "subtract": lambda l: l.Subtract(),
    "multiply": lambda l: l.Multiply(),
    "average": lambda l: l.Average(),
    "maximum": lambda l: l.Maximum(),
    "minimum": lambda l: l.Minimum(),
    "concatenate": lambda l: l.Concatenate(),
    "concatenate first": lambda l: l.Concatenate(axis=1),
    "dot": lambda l: l.Dot(axes=2),
    "dot normalized": lambda l: l.Dot(axes=1, normalize=True),
    "attention": lambda l: l.Attention(),
    "additive attention": lambda l: l.AdditiveAttention(),
}


@cases({name: name for name in _MERGES})
def two_inputs(tf, np, name):
    first, second = normal(np, 2, 3, 4), normal(np, 2, 3, 4) * 0.5 + 1
    return _applied(tf, np, _MERGES[name], first.astype(np.float32), second.astype(np.float32))


def embedding(tf, np):
    words = np.array([[1, 2, 0], [3, 0, 0]], np.int32)
    return _applied(tf, np, lambda l: l.Embedding(5, 2, mask_zero=True), words)


def masks_reach_the_recurrent_layer(tf, np):
    l = tf.keras.layers
    found = {}
    for kind in (l.LSTM, l.GRU, l.SimpleRNN):
        model = tf.keras.Sequential(
            [l.Embedding(6, 3, mask_zero=True, input_length=4), kind(2, return_sequences=True), l.Dense(1)]
        )
        for layer in model.layers:
            _weights(np, layer)
        found[kind.__name__] = Close(model.predict(np.array([[1, 2, 0, 0], [3, 4, 5, 1]])), 1e-4, 1e-5)
    return found


def states_stay_from_batch_to_batch(tf, np):
    l = tf.keras.layers
    model = tf.keras.Sequential([l.LSTM(3, stateful=True, batch_input_shape=(2, 4, 2)), l.Dense(1)])
    for layer in model.layers:
        _weights(np, layer)
    x = normal(np, 2, 4, 2).astype(np.float32)
    first, second = model.predict(x, batch_size=2), model.predict(x, batch_size=2)
    model.reset_states()
    return Close([first, second, model.predict(x, batch_size=2)], 1e-4, 1e-5)


def first_states_are_given(tf, np):
    l = tf.keras.layers
    x, h, c = tf.keras.Input((4, 2)), tf.keras.Input((3,)), tf.keras.Input((3,))
    layer = l.LSTM(3)
    model = tf.keras.Model([x, h, c], layer(x, initial_state=[h, c]))
    _weights(np, layer)
    arrays = [normal(np, 2, 4, 2), normal(np, 2, 3), normal(np, 2, 3) * 0.1]
    return [Close(model.predict(arrays), 1e-4, 1e-5), model.count_params()]


def a_lambda(tf, np):
    x = tf.keras.Input((3,))
    y = tf.keras.layers.Lambda(lambda v, k: v * k + 1.0, arguments={"k": 2.0})(x)
    return Close(tf.keras.Model(x, y).predict(np.ones((2, 3))), 1e-6)


def operations_between_layers(tf, np):
    x = tf.keras.Input((3,))
    y = tf.keras.layers.Dense(2, kernel_initializer="ones")(x * 2.0 + 1.0)
    model = tf.keras.Model(x, tf.nn.relu(y) - 1.0)
    names = [layer.name for layer in model.layers]
    return [Close(model.predict(np.ones((2, 3))), 1e-6), len(names), model.count_params()]


def _cudnn(tf, np, layer):
    """Its weights and its config: TensorFlow computes it on GPUs alone."""
    outputs = layer(tf.keras.Input((4, 3)))
    flat = outputs if isinstance(outputs, list) else [outputs]
    return {
        "weights": [(w.name, w.shape.as_list()) for w in layer.weights],
        "shapes": [y.shape.as_list() for y in flat],
        "config": _plain(layer.get_config()),
        "params": layer.count_params(),
    }


@cases({"lstm": "CuDNNLSTM", "gru": "CuDNNGRU"})
def cudnn_layers(tf, np, name):
    kind = getattr(tf.keras.layers, name)
    return [_cudnn(tf, np, kind(5)), _cudnn(tf, np, kind(5, return_sequences=True, return_state=True))]


def images_stay_from_batch_to_batch(tf, np):
    l = tf.keras.layers
    layer = l.ConvLSTM2D(2, 3, padding="same", stateful=True, batch_input_shape=(1, 2, 4, 4, 2))
    model = tf.keras.Sequential([layer])
    _weights(np, layer)
    x = normal(np, 1, 2, 4, 4, 2).astype(np.float32)
    first, second = model.predict(x, batch_size=1), model.predict(x, batch_size=1)
    model.reset_states()
    return Close([first, second, model.predict(x, batch_size=1)], 1e-4, 1e-5)


_BAD = {
    "local same": lambda l, tf: l.LocallyConnected1D(3, 3, padding="same"),
    "local open": lambda l, tf: l.LocallyConnected2D(3, 3)(tf.keras.Input((None, 4, 2))),
    "local implementation": lambda l, tf: l.LocallyConnected1D(3, 3, implementation=4)(
        tf.keras.Input((5, 2))
    ),
    "conv lstm unrolled": lambda l, tf: l.ConvLSTM2D(3, 3, unroll=True),
    "conv lstm rank": lambda l, tf: l.ConvLSTM2D(3, 3)(tf.keras.Input((5, 4, 2))),
    "cudnn mask": lambda l, tf: l.CuDNNLSTM(3)(l.Masking()(tf.keras.Input((5, 4)))),
    "units": lambda l, tf: l.Dense(3)(tf.keras.Input((None,))),
    "rank": lambda l, tf: l.Conv2D(3, 3)(tf.keras.Input((3, 4))),
    "keyword": lambda l, tf: l.Dense(3, colour="red"),
    "merge of one": lambda l, tf: l.Add()(tf.keras.Input((3,))),
    "shapes": lambda l, tf: l.Concatenate()([tf.keras.Input((3, 2)), tf.keras.Input((4, 2))]),
    "broadcast": lambda l, tf: l.Add()([tf.keras.Input((3,)), tf.keras.Input((4,))]),
    "activation": lambda l, tf: l.Dense(3, activation="nothing"),
    "initializer": lambda l, tf: l.Dense(3, kernel_initializer="nothing"),
    "data format": lambda l, tf: l.Conv2D(3, 3, data_format="sideways"),
    "permutation": lambda l, tf: l.Permute((0, 1)),
    "weights": lambda l, tf: l.Dense(3).set_weights([1]),
    "never called": lambda l, tf: l.Dense(3).output,
    "count": lambda l, tf: l.Dense(3).count_params(),
    "stateful": lambda l, tf: l.LSTM(3, stateful=True)(tf.keras.Input((4, 2))),
    "unrolled": lambda l, tf: l.LSTM(3, unroll=True)(tf.keras.Input((None, 2))),
    "merge mode": lambda l, tf: l.Bidirectional(l.LSTM(3), merge_mode="glue"),
}


@cases({name: name for name in _BAD})
def bad_layers(tf, np, name):
    return raises(_BAD[name], tf.keras.layers, tf)


def a_layer_of_the_program(tf, np):
    class Scale(tf.keras.layers.Layer):
        def __init__(self, factor, **kwargs):
            super(Scale, self).__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape):
            self.w = self.add_weight(shape=(int(input_shape[-1]),), initializer="ones", name="w")
            self.v = self.add_weight(
                shape=(2,), initializer="zeros", trainable=False, name="v", regularizer="l2"
            )

        def call(self, inputs):
            self.add_loss(tf.reduce_sum(inputs), inputs=True)
            return inputs * self.w * self.factor

        def get_config(self):
            config = super(Scale, self).get_config()
            config["factor"] = self.factor
            return config

    layer = Scale(3.0)
    x = tf.keras.Input((4,))
    y = layer(x)
    return {
        "weights": [w.name for w in layer.weights],
        "trainable": [w.name for w in layer.trainable_weights],
        "frozen": [w.name for w in layer.non_trainable_weights],
        "losses": [loss.name for loss in layer.losses],
        "config": _plain(layer.get_config()),
        "value": Close(tf.keras.Model(x, y).predict(np.ones((1, 4))), 1e-6),
        "shape": layer.output_shape,
        "conditional": len(layer.get_losses_for(x)),
    }
