"""Examples of tf.keras.losses and tf.keras.metrics."""

import tideflow as tf

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
