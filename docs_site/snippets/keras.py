"""Examples of tf.keras."""

import numpy as np

import tideflow as tf

# %% tf.keras.layers.Conv1D, tf.keras.layers.SeparableConv1D, tf.keras.layers.Flatten
layers = [
    tf.keras.layers.Conv1D(2, 3),
    tf.keras.layers.SeparableConv1D(2, 3),
    tf.keras.layers.Flatten(),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.MaxPooling1D, tf.keras.layers.AveragePooling1D
layers = [
    tf.keras.layers.MaxPooling1D(2),
    tf.keras.layers.AveragePooling1D(2),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalAveragePooling1D, tf.keras.layers.GlobalMaxPooling1D
layers = [
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.GlobalMaxPooling1D(),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SimpleRNN, tf.keras.layers.LSTM, tf.keras.layers.GRU, tf.keras.layers.Masking
layers = [
    tf.keras.layers.SimpleRNN(2),
    tf.keras.layers.LSTM(2),
    tf.keras.layers.GRU(2),
    tf.keras.layers.Masking(0.0),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SpatialDropout1D, tf.keras.layers.Permute, tf.keras.layers.ZeroPadding1D
layers = [
    tf.keras.layers.SpatialDropout1D(0.5),
    tf.keras.layers.Permute((2, 1)),
    tf.keras.layers.ZeroPadding1D(1),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Cropping1D, tf.keras.layers.UpSampling1D
layers = [
    tf.keras.layers.Cropping1D(1),
    tf.keras.layers.UpSampling1D(2),
]
x = tf.keras.Input((6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Conv2D, tf.keras.layers.Conv2DTranspose, tf.keras.layers.SeparableConv2D
layers = [
    tf.keras.layers.Conv2D(2, 3),
    tf.keras.layers.Conv2DTranspose(2, 3),
    tf.keras.layers.SeparableConv2D(2, 3),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.DepthwiseConv2D, tf.keras.layers.MaxPooling2D, tf.keras.layers.AveragePooling2D
layers = [
    tf.keras.layers.DepthwiseConv2D(3),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.AveragePooling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalMaxPooling2D, tf.keras.layers.GlobalAveragePooling2D
layers = [
    tf.keras.layers.GlobalMaxPooling2D(),
    tf.keras.layers.GlobalAveragePooling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.SpatialDropout2D, tf.keras.layers.ZeroPadding2D, tf.keras.layers.Cropping2D
layers = [
    tf.keras.layers.SpatialDropout2D(0.5),
    tf.keras.layers.ZeroPadding2D(),
    tf.keras.layers.Cropping2D(1),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.UpSampling2D
layers = [
    tf.keras.layers.UpSampling2D(),
]
x = tf.keras.Input((6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Conv3D, tf.keras.layers.Conv3DTranspose, tf.keras.layers.MaxPooling3D
layers = [
    tf.keras.layers.Conv3D(2, 3),
    tf.keras.layers.Conv3DTranspose(2, 3),
    tf.keras.layers.MaxPooling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.AveragePooling3D, tf.keras.layers.GlobalMaxPooling3D
layers = [
    tf.keras.layers.AveragePooling3D(),
    tf.keras.layers.GlobalMaxPooling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GlobalAveragePooling3D, tf.keras.layers.SpatialDropout3D
layers = [
    tf.keras.layers.GlobalAveragePooling3D(),
    tf.keras.layers.SpatialDropout3D(0.5),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.ZeroPadding3D, tf.keras.layers.Cropping3D, tf.keras.layers.UpSampling3D
layers = [
    tf.keras.layers.ZeroPadding3D(),
    tf.keras.layers.Cropping3D(),
    tf.keras.layers.UpSampling3D(),
]
x = tf.keras.Input((6, 6, 6, 3))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Dense, tf.keras.layers.Dropout, tf.keras.layers.BatchNormalization
layers = [
    tf.keras.layers.Dense(2),
    tf.keras.layers.Dropout(0.5),
    tf.keras.layers.BatchNormalization(),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.LeakyReLU, tf.keras.layers.PReLU, tf.keras.layers.ELU
layers = [
    tf.keras.layers.LeakyReLU(0.1),
    tf.keras.layers.PReLU(),
    tf.keras.layers.ELU(),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.ThresholdedReLU, tf.keras.layers.Softmax, tf.keras.layers.ReLU
layers = [
    tf.keras.layers.ThresholdedReLU(0.5),
    tf.keras.layers.Softmax(),
    tf.keras.layers.ReLU(6.0),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.GaussianNoise, tf.keras.layers.GaussianDropout, tf.keras.layers.AlphaDropout
layers = [
    tf.keras.layers.GaussianNoise(0.1),
    tf.keras.layers.GaussianDropout(0.5),
    tf.keras.layers.AlphaDropout(0.5),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.LayerNormalization, tf.keras.layers.Activation, tf.keras.layers.Reshape
layers = [
    tf.keras.layers.LayerNormalization(),
    tf.keras.layers.Activation("relu"),
    tf.keras.layers.Reshape((3, 1)),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.RepeatVector, tf.keras.layers.ActivityRegularization, tf.keras.layers.Lambda
layers = [
    tf.keras.layers.RepeatVector(2),
    tf.keras.layers.ActivityRegularization(0.1),
    tf.keras.layers.Lambda(tf.square),
]
x = tf.keras.Input((3,))
for layer in layers:
    print(layer.name, layer(x).shape)

# %% tf.keras.layers.Attention, tf.keras.layers.AdditiveAttention, tf.keras.layers.Add
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Attention(),
    tf.keras.layers.AdditiveAttention(),
    tf.keras.layers.Add(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.Subtract, tf.keras.layers.Multiply, tf.keras.layers.Average
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Subtract(),
    tf.keras.layers.Multiply(),
    tf.keras.layers.Average(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.Maximum, tf.keras.layers.Minimum, tf.keras.layers.Concatenate
a, b = tf.keras.Input((2, 3)), tf.keras.Input((2, 3))
layers = [
    tf.keras.layers.Maximum(),
    tf.keras.layers.Minimum(),
    tf.keras.layers.Concatenate(),
]
for layer in layers:
    print(layer.name, layer([a, b]).shape)

# %% tf.keras.layers.add, tf.keras.layers.subtract, tf.keras.layers.multiply, tf.keras.layers.average
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.add([a, b]).shape)
print(tf.keras.layers.subtract([a, b]).shape)
print(tf.keras.layers.multiply([a, b]).shape)
print(tf.keras.layers.average([a, b]).shape)

# %% tf.keras.layers.maximum, tf.keras.layers.minimum, tf.keras.layers.concatenate
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.maximum([a, b]).shape)
print(tf.keras.layers.minimum([a, b]).shape)
print(tf.keras.layers.concatenate([a, b]).shape)


# %% tf.keras.layers.Layer
class Scale(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.factor = self.add_weight("factor", shape=[input_shape[-1]], initializer="ones")

    def call(self, inputs):
        return inputs * self.factor


layer = Scale()
layer(tf.keras.Input((3,)))
print([weight.name for weight in layer.weights])

# %% tf.keras.layers.InputLayer
print(tf.keras.layers.InputLayer((3,)).output.shape)

# %% tf.keras.layers.serialize
config = tf.keras.layers.serialize(tf.keras.layers.Dense(2, name="d"))
print(config["class_name"], config["config"]["units"])

# %% tf.keras.layers.deserialize
config = tf.keras.layers.serialize(tf.keras.layers.Dense(2, name="d"))
print(tf.keras.layers.deserialize(config).units)

# %% tf.keras.layers.Embedding
words = tf.keras.Input((5,), dtype="int32")
print(tf.keras.layers.Embedding(100, 8, mask_zero=True)(words).shape)


# %% tf.keras.layers.AbstractRNNCell
class Sum(tf.keras.layers.AbstractRNNCell):
    state_size = output_size = 3

    def call(self, inputs, states):
        total = inputs + states[0]
        return total, [total]


print(tf.keras.layers.RNN(Sum())(tf.keras.Input((5, 3))).shape)

# %% tf.keras.layers.StackedRNNCells
cells = tf.keras.layers.StackedRNNCells([tf.keras.layers.LSTMCell(4), tf.keras.layers.LSTMCell(2)])
print(tf.keras.layers.RNN(cells)(tf.keras.Input((5, 3))).shape)

# %% tf.keras.layers.RNN
x = tf.keras.Input((5, 3))
print(tf.keras.layers.RNN(tf.keras.layers.GRUCell(4), return_sequences=True)(x).shape)

# %% tf.keras.layers.SimpleRNNCell
print(tf.keras.layers.SimpleRNNCell(4).state_size)

# %% tf.keras.layers.LSTMCell
print(tf.keras.layers.LSTMCell(4).state_size)

# %% tf.keras.layers.GRUCell
print(tf.keras.layers.GRUCell(4).state_size)

# %% tf.keras.layers.Dot
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.Dot(axes=1)([a, b]).shape)

# %% tf.keras.layers.dot
a, b = tf.keras.Input((3,)), tf.keras.Input((3,))
print(tf.keras.layers.dot([a, b], axes=1).shape)

# %% tf.keras.layers.Wrapper
wrapper = tf.keras.layers.Wrapper(tf.keras.layers.Dense(2))
print(wrapper.layer.units)

# %% tf.keras.layers.TimeDistributed
x = tf.keras.Input((5, 3))
print(tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2))(x).shape)

# %% tf.keras.layers.Bidirectional
x = tf.keras.Input((5, 3))
print(tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(x).shape)

# %% tf.keras.metrics.MeanRelativeError, tf.keras.metrics.Accuracy
metrics = [
    tf.keras.metrics.MeanRelativeError(normalizer=[1.0, 2.0]),
    tf.keras.metrics.Accuracy(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.CategoricalAccuracy, tf.keras.metrics.SparseCategoricalAccuracy
metrics = [
    tf.keras.metrics.CategoricalAccuracy(),
    tf.keras.metrics.SparseCategoricalAccuracy(),
]
for metric in metrics:
    labels = [[1.0]] if "sparse" in metric.name else [[0.0, 1.0]]
    value = metric(labels, [[0.25, 0.75]])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.MeanSquaredError, tf.keras.metrics.MeanAbsoluteError
metrics = [
    tf.keras.metrics.MeanSquaredError(),
    tf.keras.metrics.MeanAbsoluteError(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.MeanAbsolutePercentageError, tf.keras.metrics.MeanSquaredLogarithmicError
metrics = [
    tf.keras.metrics.MeanAbsolutePercentageError(),
    tf.keras.metrics.MeanSquaredLogarithmicError(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.Hinge, tf.keras.metrics.SquaredHinge, tf.keras.metrics.CategoricalHinge
metrics = [
    tf.keras.metrics.Hinge(),
    tf.keras.metrics.SquaredHinge(),
    tf.keras.metrics.CategoricalHinge(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.LogCoshError, tf.keras.metrics.Poisson, tf.keras.metrics.KLDivergence
metrics = [
    tf.keras.metrics.LogCoshError(),
    tf.keras.metrics.Poisson(),
    tf.keras.metrics.KLDivergence(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.BinaryAccuracy, tf.keras.metrics.TopKCategoricalAccuracy
metrics = [
    tf.keras.metrics.BinaryAccuracy(),
    tf.keras.metrics.TopKCategoricalAccuracy(),
]
for metric in metrics:
    labels = [[1.0]] if "sparse" in metric.name else [[0.0, 1.0]]
    value = metric(labels, [[0.25, 0.75]])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.SparseTopKCategoricalAccuracy, tf.keras.metrics.CosineSimilarity
metrics = [
    tf.keras.metrics.SparseTopKCategoricalAccuracy(),
    tf.keras.metrics.CosineSimilarity(),
]
for metric in metrics:
    labels = [[1.0]] if "sparse" in metric.name else [[0.0, 1.0]]
    value = metric(labels, [[0.25, 0.75]])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.BinaryCrossentropy, tf.keras.metrics.CategoricalCrossentropy
metrics = [
    tf.keras.metrics.BinaryCrossentropy(),
    tf.keras.metrics.CategoricalCrossentropy(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.SparseCategoricalCrossentropy, tf.keras.metrics.RootMeanSquaredError
metrics = [
    tf.keras.metrics.SparseCategoricalCrossentropy(),
    tf.keras.metrics.RootMeanSquaredError(),
]
for metric in metrics:
    labels = [[1.0]] if "sparse" in metric.name else [[0.0, 1.0]]
    value = metric(labels, [[0.25, 0.75]])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.MeanIoU, tf.keras.metrics.FalsePositives, tf.keras.metrics.FalseNegatives
metrics = [
    tf.keras.metrics.MeanIoU(num_classes=2),
    tf.keras.metrics.FalsePositives(),
    tf.keras.metrics.FalseNegatives(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.TruePositives, tf.keras.metrics.TrueNegatives, tf.keras.metrics.Precision
metrics = [
    tf.keras.metrics.TruePositives(),
    tf.keras.metrics.TrueNegatives(),
    tf.keras.metrics.Precision(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.Recall, tf.keras.metrics.SensitivityAtSpecificity
metrics = [
    tf.keras.metrics.Recall(),
    tf.keras.metrics.SensitivityAtSpecificity(0.5),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.SpecificityAtSensitivity, tf.keras.metrics.AUC
metrics = [
    tf.keras.metrics.SpecificityAtSensitivity(0.5),
    tf.keras.metrics.AUC(),
]
for metric in metrics:
    value = metric([0.0, 1.0], [0.25, 0.75])
    print(metric.name, tf.keras.backend.eval(value))

# %% tf.keras.metrics.binary_accuracy, tf.keras.metrics.categorical_accuracy
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
print(tf.keras.backend.eval(tf.keras.metrics.binary_accuracy(labels, scores)))
print(tf.keras.backend.eval(tf.keras.metrics.categorical_accuracy(labels, scores)))

# %% tf.keras.metrics.sparse_categorical_accuracy, tf.keras.metrics.top_k_categorical_accuracy
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
print(tf.keras.backend.eval(tf.keras.metrics.sparse_categorical_accuracy(tf.constant([[1.0]]), scores)))
print(tf.keras.backend.eval(tf.keras.metrics.top_k_categorical_accuracy(labels, scores, k=1)))

# %% tf.keras.metrics.sparse_top_k_categorical_accuracy
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
print(
    tf.keras.backend.eval(
        tf.keras.metrics.sparse_top_k_categorical_accuracy(tf.constant([[1.0]]), scores, k=1)
    )
)


# %% tf.keras.metrics.Metric
class Largest(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__("largest")
        self.value = self.add_weight("value", initializer="zeros")

    def update_state(self, values):
        return self.value.assign(tf.maximum(self.value, tf.reduce_max(values)))

    def result(self):
        return tf.identity(self.value)


print(tf.keras.backend.eval(Largest()([1.0, 3.0, 2.0])))

# %% tf.keras.metrics.Sum
print(tf.keras.backend.eval(tf.keras.metrics.Sum()([1.0, 2.0])))

# %% tf.keras.metrics.Mean
print(tf.keras.backend.eval(tf.keras.metrics.Mean()([1.0, 2.0])))

# %% tf.keras.metrics.MeanTensor
print(tf.keras.backend.eval(tf.keras.metrics.MeanTensor()([1.0, 2.0])))

# %% tf.keras.metrics.serialize
print(tf.keras.metrics.serialize(tf.keras.metrics.Mean()))

# %% tf.keras.metrics.deserialize
print(tf.keras.metrics.deserialize("mae").__name__)

# %% tf.keras.metrics.get
print(tf.keras.metrics.get("mse").__name__)

# %% tf.keras.losses.MeanSquaredError, tf.keras.losses.MeanAbsoluteError
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.MeanSquaredError(),
    tf.keras.losses.MeanAbsoluteError(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.MeanAbsolutePercentageError, tf.keras.losses.MeanSquaredLogarithmicError
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.MeanAbsolutePercentageError(),
    tf.keras.losses.MeanSquaredLogarithmicError(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.Hinge, tf.keras.losses.SquaredHinge, tf.keras.losses.CategoricalHinge
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.Hinge(),
    tf.keras.losses.SquaredHinge(),
    tf.keras.losses.CategoricalHinge(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.Poisson, tf.keras.losses.LogCosh, tf.keras.losses.KLDivergence
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.Poisson(),
    tf.keras.losses.LogCosh(),
    tf.keras.losses.KLDivergence(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.BinaryCrossentropy, tf.keras.losses.CategoricalCrossentropy
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.BinaryCrossentropy(),
    tf.keras.losses.CategoricalCrossentropy(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.SparseCategoricalCrossentropy, tf.keras.losses.CosineSimilarity
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.SparseCategoricalCrossentropy(),
    tf.keras.losses.CosineSimilarity(),
]
for loss in losses:
    sparse = isinstance(loss, tf.keras.losses.SparseCategoricalCrossentropy)
    print(loss.name, tf.keras.backend.eval(loss(tf.constant([[1.0]]) if sparse else labels, scores)))

# %% tf.keras.losses.Huber
labels, scores = tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]])
losses = [
    tf.keras.losses.Huber(),
]
for loss in losses:
    print(loss.name, tf.keras.backend.eval(loss(labels, scores)))

# %% tf.keras.losses.mean_squared_error
loss = tf.keras.losses.mean_squared_error(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.mean_absolute_error
loss = tf.keras.losses.mean_absolute_error(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.mean_absolute_percentage_error
loss = tf.keras.losses.mean_absolute_percentage_error(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.mean_squared_logarithmic_error
loss = tf.keras.losses.mean_squared_logarithmic_error(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.squared_hinge
loss = tf.keras.losses.squared_hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.hinge
loss = tf.keras.losses.hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.categorical_hinge
loss = tf.keras.losses.categorical_hinge(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.logcosh
loss = tf.keras.losses.logcosh(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.categorical_crossentropy
loss = tf.keras.losses.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.sparse_categorical_crossentropy
loss = tf.keras.losses.sparse_categorical_crossentropy(tf.constant([[1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.binary_crossentropy
loss = tf.keras.losses.binary_crossentropy(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.kullback_leibler_divergence
loss = tf.keras.losses.kullback_leibler_divergence(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.poisson
loss = tf.keras.losses.poisson(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))

# %% tf.keras.losses.cosine_proximity
loss = tf.keras.losses.cosine_proximity(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
print(tf.keras.backend.eval(loss))


# %% tf.keras.losses.Loss
class Off(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.abs(y_true - y_pred)


print(tf.keras.backend.eval(Off()(tf.constant([1.0, 2.0]), tf.constant([1.0, 4.0]))))

# %% tf.keras.losses.serialize
print(tf.keras.losses.serialize(tf.keras.losses.Hinge()))

# %% tf.keras.losses.deserialize
print(tf.keras.losses.deserialize("mae").__name__)

# %% tf.keras.losses.get
print(tf.keras.losses.get("mse").__name__)

# %% tf.keras.backend.floatx, tf.keras.backend.set_floatx, tf.keras.backend.epsilon
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.floatx())
print(K.set_floatx("float32"))
print(K.epsilon())

# %% tf.keras.backend.set_epsilon, tf.keras.backend.image_data_format
K = tf.keras.backend
print(K.set_epsilon(1e-7))
print(K.image_data_format())

# %% tf.keras.backend.set_image_data_format, tf.keras.backend.get_uid, tf.keras.backend.reset_uids
K = tf.keras.backend
print(K.set_image_data_format("channels_last"))
print(K.get_uid("word"))
print(K.reset_uids())

# %% tf.keras.backend.learning_phase, tf.keras.backend.set_learning_phase
K = tf.keras.backend
print(K.learning_phase())
print(K.set_learning_phase(0))

# %% tf.keras.backend.get_session, tf.keras.backend.set_session, tf.keras.backend.clear_session
K = tf.keras.backend
print(type(K.get_session()).__name__)
print(K.set_session(tf.Session()))
print(K.clear_session())

# %% tf.keras.backend.manual_variable_initialization, tf.keras.backend.get_value
K = tf.keras.backend
v = K.variable([1.0])
print(K.manual_variable_initialization(False))
print(K.get_value(v))

# %% tf.keras.backend.batch_get_value, tf.keras.backend.set_value, tf.keras.backend.batch_set_value
K = tf.keras.backend
v = K.variable([1.0])
print(K.batch_get_value([v]))
print(K.set_value(v, [2.0]))
print(K.batch_set_value([(v, [2.0])]))

# %% tf.keras.backend.categorical_crossentropy, tf.keras.backend.sparse_categorical_crossentropy
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.categorical_crossentropy(x, x))
print(K.sparse_categorical_crossentropy(tf.constant([0, 1]), x))

# %% tf.keras.backend.binary_crossentropy, tf.keras.backend.backend, tf.keras.backend.cast
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.binary_crossentropy(x, x))
print(K.backend())
print(K.cast(x, "int32"))

# %% tf.keras.backend.cast_to_floatx, tf.keras.backend.dtype, tf.keras.backend.shape
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.cast_to_floatx(x))
print(K.dtype(x))
print(K.shape(x))

# %% tf.keras.backend.int_shape, tf.keras.backend.ndim, tf.keras.backend.count_params
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.int_shape(x))
print(K.ndim(x))
print(K.count_params(x))

# %% tf.keras.backend.is_sparse, tf.keras.backend.to_dense, tf.keras.backend.constant
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.is_sparse(x))
print(K.to_dense(x))
print(K.constant([1.0]))

# %% tf.keras.backend.placeholder, tf.keras.backend.variable, tf.keras.backend.zeros
K = tf.keras.backend
print(K.placeholder((2,)).shape)
print(K.eval(K.variable([1.0])))
print(K.eval(K.zeros((2,))))

# %% tf.keras.backend.zeros_like, tf.keras.backend.ones, tf.keras.backend.ones_like
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.zeros_like(x))
print(K.eval(K.ones((2,))))
print(K.ones_like(x))

# %% tf.keras.backend.eye, tf.keras.backend.random_uniform_variable
K = tf.keras.backend
print(K.eval(K.eye(2)))
print(K.random_uniform_variable((2,), 0.0, 1.0).shape)

# %% tf.keras.backend.random_normal_variable, tf.keras.backend.random_normal
K = tf.keras.backend
print(K.random_normal_variable((2,), 0.0, 1.0).shape)
print(K.random_normal((2,)).shape)

# %% tf.keras.backend.random_uniform, tf.keras.backend.random_binomial
K = tf.keras.backend
print(K.random_uniform((2,)).shape)
print(K.random_binomial((2,)).shape)

# %% tf.keras.backend.truncated_normal, tf.keras.backend.update, tf.keras.backend.update_add
K = tf.keras.backend
v = K.variable([1.0])
print(K.truncated_normal((2,)).shape)
print(K.eval(K.update(v, [2.0])))
print(K.eval(K.update_add(v, [2.0])))

# %% tf.keras.backend.update_sub, tf.keras.backend.moving_average_update, tf.keras.backend.gather
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
v = K.variable([1.0])
print(K.eval(K.update_sub(v, [2.0])))
print(K.eval(K.moving_average_update(v, [2.0], 0.5)))
print(K.gather(x, [1]))

# %% tf.keras.backend.concatenate, tf.keras.backend.reshape, tf.keras.backend.permute_dimensions
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.concatenate([x, x]))
print(K.reshape(x, (4,)))
print(K.permute_dimensions(x, (1, 0)))

# %% tf.keras.backend.flatten, tf.keras.backend.batch_flatten, tf.keras.backend.expand_dims
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.flatten(x))
print(K.batch_flatten(x))
print(K.expand_dims(x))

# %% tf.keras.backend.squeeze, tf.keras.backend.stack, tf.keras.backend.one_hot
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.squeeze(x[:1], 0))
print(K.stack([x, x]))
print(K.one_hot(tf.constant([1]), 3))

# %% tf.keras.backend.reverse, tf.keras.backend.tile, tf.keras.backend.repeat
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.reverse(x, 0))
print(K.tile(x, [1, 2]))
print(K.repeat(x, 2))

# %% tf.keras.backend.repeat_elements, tf.keras.backend.arange, tf.keras.backend.stop_gradient
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.repeat_elements(x, 2, 0))
print(K.arange(3))
print(K.stop_gradient(x))

# %% tf.keras.backend.gradients, tf.keras.backend.eval, tf.keras.backend.print_tensor
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.gradients(tf.reduce_sum(x * x), [x]))
print(K.eval(x))
print(K.print_tensor(x))

# %% tf.keras.backend.map_fn, tf.keras.backend.foldl, tf.keras.backend.foldr
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.map_fn(lambda row: row * 2.0, x))
print(K.foldl(lambda a, b: a + b, x))
print(K.foldr(lambda a, b: a + b, x))

# %% tf.keras.backend.in_train_phase, tf.keras.backend.in_test_phase, tf.keras.backend.switch
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.in_train_phase(x, x * 2.0, training=True))
print(K.in_test_phase(x, x * 2.0, training=True))
print(K.switch(tf.constant(True), x, x * 2.0))

# %% tf.keras.backend.abs, tf.keras.backend.sqrt, tf.keras.backend.exp, tf.keras.backend.log
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.abs(x))
print(K.sqrt(x))
print(K.exp(x))
print(K.log(x))

# %% tf.keras.backend.square, tf.keras.backend.sign, tf.keras.backend.sin, tf.keras.backend.cos
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.square(x))
print(K.sign(x))
print(K.sin(x))
print(K.cos(x))

# %% tf.keras.backend.round, tf.keras.backend.transpose, tf.keras.backend.pow, tf.keras.backend.equal
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.round(x))
print(K.transpose(x))
print(K.pow(x, 2.0))
print(K.equal(x, x))

# %% tf.keras.backend.not_equal, tf.keras.backend.greater, tf.keras.backend.greater_equal
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.not_equal(x, x))
print(K.greater(x, x))
print(K.greater_equal(x, x))

# %% tf.keras.backend.less, tf.keras.backend.less_equal, tf.keras.backend.maximum
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.less(x, x))
print(K.less_equal(x, x))
print(K.maximum(x, x))

# %% tf.keras.backend.minimum, tf.keras.backend.clip, tf.keras.backend.max, tf.keras.backend.min
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.minimum(x, x))
print(K.clip(x, 2.0, 3.0))
print(K.max(x))
print(K.min(x))

# %% tf.keras.backend.sum, tf.keras.backend.prod, tf.keras.backend.mean, tf.keras.backend.var
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.sum(x))
print(K.prod(x))
print(K.mean(x))
print(K.var(x))

# %% tf.keras.backend.std, tf.keras.backend.any, tf.keras.backend.all, tf.keras.backend.cumsum
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.std(x))
print(K.any(x > 3.0))
print(K.all(x > 3.0))
print(K.cumsum(x))

# %% tf.keras.backend.cumprod, tf.keras.backend.argmax, tf.keras.backend.argmin, tf.keras.backend.dot
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.cumprod(x))
print(K.argmax(x))
print(K.argmin(x))
print(K.dot(x, x))

# %% tf.keras.backend.batch_dot, tf.keras.backend.softmax, tf.keras.backend.l2_normalize
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.batch_dot(x, x))
print(K.softmax(x))
print(K.l2_normalize(x))

# %% tf.keras.backend.in_top_k, tf.keras.backend.dropout, tf.keras.backend.bias_add
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.in_top_k(x, [1, 1], 1))
print(K.dropout(x, 0.5).shape)
print(K.bias_add(x, tf.constant([1.0, 2.0])))

# %% tf.keras.backend.temporal_padding, tf.keras.backend.batch_normalization
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.temporal_padding(tf.ones([1, 2, 2])).shape)
print(K.batch_normalization(x, 1.0, 1.0, None, None))

# %% tf.keras.backend.normalize_batch_in_training
K = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(K.normalize_batch_in_training(x, None, None, [0])[1])

# %% tf.keras.backend.conv1d, tf.keras.backend.conv2d, tf.keras.backend.conv3d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.conv1d(tf.ones([1, 4, 2]), tf.ones([2, 2, 3])).shape)
print(K.conv2d(image, tf.ones([2, 2, 2, 3])).shape)
print(K.conv3d(tf.ones([1, 4, 4, 4, 2]), tf.ones([2, 2, 2, 2, 3])).shape)

# %% tf.keras.backend.conv2d_transpose, tf.keras.backend.separable_conv2d, tf.keras.backend.pool2d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.conv2d_transpose(image, tf.ones([2, 2, 3, 2]), (1, 5, 5, 3)).shape)
print(K.separable_conv2d(image, tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 3])).shape)
print(K.pool2d(image, (2, 2)).shape)

# %% tf.keras.backend.pool3d, tf.keras.backend.spatial_2d_padding, tf.keras.backend.spatial_3d_padding
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.pool3d(tf.ones([1, 4, 4, 4, 2]), (2, 2, 2)).shape)
print(K.spatial_2d_padding(image).shape)
print(K.spatial_3d_padding(tf.ones([1, 2, 2, 2, 1])).shape)

# %% tf.keras.backend.resize_images, tf.keras.backend.resize_volumes, tf.keras.backend.local_conv1d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.resize_images(image, 2, 2, "channels_last").shape)
print(K.resize_volumes(tf.ones([1, 2, 2, 2, 1]), 2, 2, 2, "channels_last").shape)
print(K.local_conv1d(tf.ones([1, 4, 2]), tf.ones([3, 4, 5]), (2,), (1,)).shape)

# %% tf.keras.backend.local_conv2d
K = tf.keras.backend
image = tf.ones([1, 4, 4, 2])
print(K.local_conv2d(image, tf.ones([9, 8, 5]), (2, 2), (1, 1), (3, 3)).shape)

# %% tf.keras.backend.learning_phase_scope
with tf.keras.backend.learning_phase_scope(1):
    print(tf.keras.backend.learning_phase())

# %% tf.keras.backend.function
x = tf.keras.backend.placeholder((None, 2))
double = tf.keras.backend.function([x], [x * 2.0])
print(double([np.ones((1, 2))])[0])

# %% tf.keras.backend.ctc_label_dense_to_sparse
labels = tf.keras.backend.ctc_label_dense_to_sparse(tf.constant([[1, 2, 0]]), tf.constant([2]))
print(tf.keras.backend.eval(labels).values)

# %% tf.keras.backend.ctc_batch_cost
K = tf.keras.backend
scores = tf.nn.softmax(tf.ones([1, 4, 3]))
print(K.eval(K.ctc_batch_cost(tf.constant([[0, 1]]), scores, tf.constant([[4]]), tf.constant([[2]]))))

# %% tf.keras.backend.ctc_decode
K = tf.keras.backend
scores = tf.constant([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]])
paths, _ = K.ctc_decode(scores, tf.constant([2]))
print(K.eval(paths[0]))


# %% tf.keras.backend.rnn
def step(inputs, states):
    total = inputs + states[0]
    return total, [total]


last, _, _ = tf.keras.backend.rnn(step, tf.ones([1, 4, 2]), [tf.zeros([1, 2])])
print(tf.keras.backend.eval(last))

# %% tf.keras.Input
x = tf.keras.Input((3,))
y = tf.keras.layers.Dense(2)(x)
print(tf.keras.Model(x, y).count_params())

# %% tf.keras.Sequential
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse", metrics=["mae"])
history = model.fit(x, y, epochs=2, verbose=0)
print(sorted(history.history))

# %% tf.keras.Model
x = tf.keras.Input((3,))
h = tf.keras.layers.Dense(4, activation="relu")(x)
model = tf.keras.Model(x, tf.keras.layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(np.ones((8, 3)), np.ones(8), verbose=0)
print(model.predict(np.ones((2, 3))).shape)

# %% tf.keras.models.clone_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print([w.name for w in tf.keras.models.clone_model(model).weights])

# %% tf.keras.models.model_from_json
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print(tf.keras.models.model_from_json(model.to_json()).count_params())

# %% tf.keras.models.model_from_yaml
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
print(tf.keras.models.model_from_yaml(model.to_yaml()).count_params())

# %% tf.keras.models.model_from_config
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
config = {"class_name": "Sequential", "config": model.get_config()}
print(tf.keras.models.model_from_config(config).count_params())

# %% tf.keras.models.save_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
try:
    tf.keras.models.save_model(model, "model.h5")
    print(tf.keras.models.load_model("model.h5").count_params())
except ImportError as error:
    print(error)

# %% tf.keras.models.load_model
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
try:
    tf.keras.models.save_model(model, "model.h5")
    print(tf.keras.models.load_model("model.h5").count_params())
except ImportError as error:
    print(error)

# %% tf.keras.utils.HDF5Matrix
try:
    print(tf.keras.utils.HDF5Matrix("rows.h5", "x").shape)
except (ImportError, OSError) as error:
    print(type(error).__name__)

# %% tf.keras.utils.get_file
try:
    tf.keras.utils.get_file("words.txt", "http://example.org/words.txt")
except OSError as error:
    print("nothing is downloaded" in str(error))

# %% tf.keras.utils.get_source_inputs
x = tf.keras.Input((3,))
y = tf.keras.layers.Dense(2)(x)
print(tf.keras.utils.get_source_inputs(y)[0] is x)

# %% tf.keras.optimizers.SGD, tf.keras.optimizers.RMSprop, tf.keras.optimizers.Adagrad
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.SGD(0.01),
    tf.keras.optimizers.RMSprop(0.01),
    tf.keras.optimizers.Adagrad(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Adadelta, tf.keras.optimizers.Adam, tf.keras.optimizers.Adamax
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.Adadelta(0.01),
    tf.keras.optimizers.Adam(0.01),
    tf.keras.optimizers.Adamax(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Nadam, tf.keras.optimizers.Ftrl
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
for optimizer in [
    tf.keras.optimizers.Nadam(0.01),
    tf.keras.optimizers.Ftrl(0.01),
]:
    model.compile(optimizer, "mse")
    model.fit(x, y, verbose=0)
    print(optimizer.get_config()["name"])

# %% tf.keras.optimizers.Optimizer
print(isinstance(tf.keras.optimizers.SGD(), tf.keras.optimizers.Optimizer))

# %% tf.keras.optimizers.serialize
print(tf.keras.optimizers.serialize(tf.keras.optimizers.SGD())["class_name"])

# %% tf.keras.optimizers.deserialize
config = tf.keras.optimizers.serialize(tf.keras.optimizers.SGD(0.1))
print(tf.keras.optimizers.deserialize(config).get_config()["learning_rate"])

# %% tf.keras.optimizers.get
print(type(tf.keras.optimizers.get("adam")).__name__)

# %% tf.keras.optimizers.schedules.ExponentialDecay
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.InverseTimeDecay
rate = tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 10, 0.5)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.PolynomialDecay
rate = tf.keras.optimizers.schedules.PolynomialDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.optimizers.schedules.PiecewiseConstantDecay
rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([5], [0.1, 0.01])
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.CosineDecay
rate = tf.keras.experimental.CosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.CosineDecayRestarts
rate = tf.keras.experimental.CosineDecayRestarts(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.LinearCosineDecay
rate = tf.keras.experimental.LinearCosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))

# %% tf.keras.experimental.NoisyLinearCosineDecay
rate = tf.keras.experimental.NoisyLinearCosineDecay(0.1, 10)
print(tf.keras.backend.eval(rate(tf.constant(7.0))))


# %% tf.keras.optimizers.schedules.LearningRateSchedule
class Halved(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.5**step


print(tf.keras.backend.eval(Halved()(tf.constant(2.0))))

# %% tf.keras.optimizers.schedules.serialize
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
print(tf.keras.optimizers.schedules.serialize(rate)["class_name"])

# %% tf.keras.optimizers.schedules.deserialize
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
config = tf.keras.optimizers.schedules.serialize(rate)
print(tf.keras.optimizers.schedules.deserialize(config).decay_steps)

# %% tf.keras.experimental.PeepholeLSTMCell
x = tf.keras.Input((5, 3))
print(tf.keras.layers.RNN(tf.keras.experimental.PeepholeLSTMCell(4))(x).shape)

# %% tf.keras.callbacks.EarlyStopping
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.EarlyStopping("loss")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.LearningRateScheduler
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.ReduceLROnPlateau
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.ReduceLROnPlateau("loss")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.TerminateOnNaN
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.TerminateOnNaN()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.LambdaCallback
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch))
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.BaseLogger
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.BaseLogger()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.History
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.History()
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.RemoteMonitor
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.RemoteMonitor("http://localhost:1")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.CSVLogger
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.CSVLogger("log.csv")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.TensorBoard
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.TensorBoard("logs")
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))

# %% tf.keras.callbacks.ModelCheckpoint
x, y = np.random.rand(20, 3), np.random.rand(20)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
callback = tf.keras.callbacks.ModelCheckpoint("weights-{epoch}", save_weights_only=True)
print(len(model.fit(x, y, verbose=0, callbacks=[callback]).epoch))


# %% tf.keras.callbacks.Callback
class Say(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, sorted(logs))


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse")
model.fit(np.ones((4, 3)), np.ones(4), verbose=0, callbacks=[Say()])

# %% tf.keras.callbacks.ProgbarLogger
print(tf.keras.callbacks.ProgbarLogger("steps").use_steps)

# %% tf.keras.utils.Progbar
bar = tf.keras.utils.Progbar(4)
bar.update(4, [("loss", 0.5)])

# %% tf.keras.utils.to_categorical
print(tf.keras.utils.to_categorical([0, 2], 3))

# %% tf.keras.utils.normalize
print(tf.keras.utils.normalize(np.array([[3.0, 4.0]])))


# %% tf.keras.utils.Sequence
class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return np.ones((4, 3)) * index, np.ones(4)


print(len(list(Batches())))


# %% tf.keras.utils.OrderedEnqueuer
class Batches(tf.keras.utils.Sequence):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return np.ones((4, 3)) * index, np.ones(4)


queue = tf.keras.utils.OrderedEnqueuer(Batches())
queue.start()
print(next(queue.get())[0].shape)
queue.stop()

# %% tf.keras.utils.GeneratorEnqueuer
queue = tf.keras.utils.GeneratorEnqueuer(iter([1, 2, 3]))
queue.start()
print(list(queue.get()))
queue.stop()

# %% tf.keras.utils.SequenceEnqueuer
print(issubclass(tf.keras.utils.OrderedEnqueuer, tf.keras.utils.SequenceEnqueuer))

# %% tf.keras.utils.get_custom_objects
tf.keras.utils.get_custom_objects()["double"] = lambda x: x * 2.0
print(tf.keras.backend.eval(tf.keras.activations.get("double")(tf.constant(1.0))))

# %% tf.keras.utils.CustomObjectScope
with tf.keras.utils.CustomObjectScope({"double": lambda x: x * 2.0}):
    print(tf.keras.layers.Dense(2, activation="double").units)

# %% tf.keras.utils.custom_object_scope
with tf.keras.utils.custom_object_scope({"double": lambda x: x * 2.0}):
    print(tf.keras.layers.Dense(2, activation="double").units)

# %% tf.keras.utils.serialize_keras_object
print(tf.keras.utils.serialize_keras_object(tf.keras.regularizers.l2(0.5)))

# %% tf.keras.utils.deserialize_keras_object
print(tf.keras.utils.deserialize_keras_object("add", {"add": max}))

# %% tf.keras.constraints.MaxNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.MaxNorm(1.0)(w)))

# %% tf.keras.constraints.NonNeg
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.NonNeg()(w)))

# %% tf.keras.constraints.UnitNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.UnitNorm()(w)))

# %% tf.keras.constraints.MinMaxNorm
w = tf.constant([[-3.0], [4.0]])
print(tf.keras.backend.eval(tf.keras.constraints.MinMaxNorm()(w)))

# %% tf.keras.constraints.RadialConstraint
w = tf.reshape(tf.range(9.0), [3, 3, 1, 1])
print(tf.keras.backend.eval(tf.keras.constraints.RadialConstraint()(w))[:, :, 0, 0])


# %% tf.keras.constraints.Constraint
class Small(tf.keras.constraints.Constraint):
    def __call__(self, w):
        return tf.clip_by_value(w, -0.1, 0.1)


print(tf.keras.backend.eval(Small()(tf.constant([1.0]))))

# %% tf.keras.constraints.serialize
print(tf.keras.constraints.serialize(tf.keras.constraints.MaxNorm(1.0)))

# %% tf.keras.constraints.deserialize
print(tf.keras.constraints.deserialize({"class_name": "MaxNorm", "config": {"axis": 1}}).axis)

# %% tf.keras.constraints.get
print(type(tf.keras.constraints.get("non_neg")).__name__)

# %% tf.keras.activations.softmax
print(tf.keras.backend.eval(tf.keras.activations.softmax(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.selu
print(tf.keras.backend.eval(tf.keras.activations.selu(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.exponential
print(tf.keras.backend.eval(tf.keras.activations.exponential(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.linear
print(tf.keras.backend.eval(tf.keras.activations.linear(tf.constant([[0.0, 1.0]]))))

# %% tf.keras.activations.serialize
print(tf.keras.activations.serialize(tf.keras.activations.relu))

# %% tf.keras.activations.deserialize
print(tf.keras.activations.deserialize("relu").__name__)

# %% tf.keras.activations.get
print(tf.keras.activations.get(None).__name__)

# %% tf.keras.preprocessing.sequence.pad_sequences
print(tf.keras.preprocessing.sequence.pad_sequences([[1], [2, 3]], maxlen=3))

# %% tf.keras.preprocessing.sequence.make_sampling_table
print(tf.keras.preprocessing.sequence.make_sampling_table(3))

# %% tf.keras.preprocessing.sequence.skipgrams
pairs, labels = tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 4, window_size=1)
print(sum(labels), len(pairs))

# %% tf.keras.preprocessing.sequence.TimeseriesGenerator
series = np.arange(10)
x, y = tf.keras.preprocessing.sequence.TimeseriesGenerator(series, series, 3, batch_size=2)[0]
print(x, y)

# %% tf.keras.preprocessing.text.text_to_word_sequence
print(tf.keras.preprocessing.text.text_to_word_sequence("The tide comes."))

# %% tf.keras.preprocessing.text.hashing_trick
print(tf.keras.preprocessing.text.hashing_trick("the tide", 50, "md5"))

# %% tf.keras.preprocessing.text.one_hot
print(len(tf.keras.preprocessing.text.one_hot("the tide", 50)))

# %% tf.keras.preprocessing.text.Tokenizer
tokens = tf.keras.preprocessing.text.Tokenizer()
tokens.fit_on_texts(["the tide", "the sea"])
print(tokens.texts_to_sequences(["the sea"]))

# %% tf.keras.preprocessing.text.tokenizer_from_json
text = tf.keras.preprocessing.text
tokens = text.Tokenizer()
tokens.fit_on_texts(["the tide"])
print(text.tokenizer_from_json(tokens.to_json()).word_index)

# %% tf.keras.activations.elu, tf.keras.activations.softplus, tf.keras.activations.softsign
x = tf.constant([-1.0, 0.0, 1.0])
for function in (tf.keras.activations.elu, tf.keras.activations.softplus, tf.keras.activations.softsign):
    print(tf.keras.backend.eval(function(x)))

# %% tf.keras.activations.relu, tf.keras.activations.tanh, tf.keras.activations.sigmoid
x = tf.constant([-1.0, 0.0, 1.0])
for function in (tf.keras.activations.relu, tf.keras.activations.tanh, tf.keras.activations.sigmoid):
    print(tf.keras.backend.eval(function(x)))

# %% tf.keras.activations.hard_sigmoid
print(tf.keras.backend.eval(tf.keras.activations.hard_sigmoid(tf.constant([-1.0, 0.0, 1.0]))))
