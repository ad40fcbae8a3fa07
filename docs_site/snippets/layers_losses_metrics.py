"""Examples of tf.layers, tf.losses, tf.metrics, tf.distributions and feature columns."""

import tideflow as tf


# %% tf.layers.Layer
class Scale(tf.layers.Layer):
    def build(self, shape):
        self.factor = self.add_variable("factor", [shape[-1].value], initializer=tf.ones_initializer())

    def call(self, x):
        return self.factor * x


layer = Scale(name="scale")
print(layer(tf.zeros([2, 3])).shape, [v.name for v in layer.trainable_variables])

# %% tf.layers.InputSpec
spec = tf.layers.InputSpec(ndim=2, axes={-1: 3})
print(spec.ndim, spec.axes)

# %% tf.layers.dense, tf.layers.Dense
x = tf.ones([2, 3])
y = tf.layers.dense(x, 4, activation=tf.nn.relu, name="hidden")
layer = tf.layers.Dense(4, kernel_initializer=tf.ones_initializer())
print(y.shape, [v.name for v in tf.trainable_variables()])
layer(x)

# %% tf.layers.dropout, tf.layers.Dropout
x = tf.ones([6])
tf.layers.dropout(x, rate=0.5, training=True, seed=1), tf.layers.Dropout(0.5)(x)

# %% tf.layers.flatten, tf.layers.Flatten
x = tf.zeros([2, 3, 4])
print(tf.layers.flatten(x).shape, tf.layers.Flatten()(x).shape)

# %% tf.layers.batch_normalization, tf.layers.BatchNormalization
x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
y = tf.layers.batch_normalization(x, training=True)
print([op.name for op in tf.get_collection(tf.GraphKeys.UPDATE_OPS)])  # to be run with each training step
y

# %% tf.layers.conv1d, tf.layers.Conv1D
x = tf.ones([2, 10, 3])
print(tf.layers.conv1d(x, filters=4, kernel_size=3).shape, tf.layers.Conv1D(4, 3, padding="same")(x).shape)

# %% tf.layers.conv2d, tf.layers.Conv2D
x = tf.ones([2, 28, 28, 1])
y = tf.layers.conv2d(x, filters=8, kernel_size=5, strides=2, padding="same", activation=tf.nn.relu)
print(y.shape, tf.layers.Conv2D(8, [3, 3])(x).shape)

# %% tf.layers.conv3d, tf.layers.Conv3D
x = tf.ones([1, 4, 4, 4, 1])
print(tf.layers.conv3d(x, filters=2, kernel_size=3).shape, tf.layers.Conv3D(2, 3, padding="same")(x).shape)

# %% tf.layers.conv2d_transpose, tf.layers.Conv2DTranspose
x = tf.ones([2, 7, 7, 4])
y = tf.layers.conv2d_transpose(x, filters=1, kernel_size=4, strides=2, padding="same")
print(y.shape, tf.layers.Conv2DTranspose(1, 4, 2)(x).shape)

# %% tf.layers.conv3d_transpose, tf.layers.Conv3DTranspose
x = tf.ones([1, 2, 2, 2, 1])
print(tf.layers.conv3d_transpose(x, 2, 3, 2).shape, tf.layers.Conv3DTranspose(2, 3, 2, "same")(x).shape)

# %% tf.layers.separable_conv1d, tf.layers.SeparableConv1D
x = tf.ones([2, 10, 3])
print(tf.layers.separable_conv1d(x, 4, 3).shape, tf.layers.SeparableConv1D(4, 3, padding="same")(x).shape)

# %% tf.layers.separable_conv2d, tf.layers.SeparableConv2D
x = tf.ones([2, 10, 10, 3])
print(tf.layers.separable_conv2d(x, 4, 3).shape, tf.layers.SeparableConv2D(4, 3, padding="same")(x).shape)

# %% tf.layers.average_pooling1d, tf.layers.AveragePooling1D, tf.layers.max_pooling1d, tf.layers.MaxPooling1D
x = tf.reshape(tf.range(4.0), [1, 4, 1])
tf.squeeze(tf.layers.average_pooling1d(x, 2, 2)), tf.squeeze(tf.layers.MaxPooling1D(2, 2)(x))

# %% tf.layers.average_pooling2d, tf.layers.AveragePooling2D, tf.layers.max_pooling2d, tf.layers.MaxPooling2D
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
tf.squeeze(tf.layers.max_pooling2d(x, 2, 2)), tf.squeeze(tf.layers.AveragePooling2D(2, 2)(x))

# %% tf.layers.average_pooling3d, tf.layers.AveragePooling3D, tf.layers.max_pooling3d, tf.layers.MaxPooling3D
x = tf.ones([1, 4, 4, 4, 1])
print(tf.layers.max_pooling3d(x, 2, 2).shape, tf.layers.AveragePooling3D(2, 2)(x).shape)

# %% tf.layers.experimental.keras_style_scope, tf.layers.experimental.set_keras_style
with tf.layers.experimental.keras_style_scope():
    a, b = tf.layers.Dense(2), tf.layers.Dense(2)
    a(tf.ones([1, 2])), b(tf.ones([1, 2]))
print([v.name for v in tf.global_variables()])

# %% tf.losses.absolute_difference
tf.losses.absolute_difference(labels=[1.0, 2.0], predictions=[1.5, 4.0])

# %% tf.losses.mean_squared_error
tf.losses.mean_squared_error(labels=[1.0, 2.0], predictions=[1.5, 4.0])

# %% tf.losses.mean_pairwise_squared_error
tf.losses.mean_pairwise_squared_error(labels=[[1.0, 2.0]], predictions=[[1.5, 4.0]])

# %% tf.losses.huber_loss
tf.losses.huber_loss(labels=[1.0, 2.0], predictions=[1.5, 4.0], delta=1.0)

# %% tf.losses.hinge_loss
tf.losses.hinge_loss(labels=[[1.0], [0.0]], logits=[[0.5], [-2.0]])

# %% tf.losses.log_loss
tf.losses.log_loss(labels=[1.0, 0.0], predictions=[0.9, 0.2])

# %% tf.losses.cosine_distance
tf.losses.cosine_distance(labels=[[1.0, 0.0]], predictions=[[0.6, 0.8]], axis=1)

# %% tf.losses.sigmoid_cross_entropy
tf.losses.sigmoid_cross_entropy(multi_class_labels=[[1.0, 0.0]], logits=[[2.0, -1.0]], label_smoothing=0.1)

# %% tf.losses.softmax_cross_entropy
tf.losses.softmax_cross_entropy(onehot_labels=[[0, 1]], logits=[[1.0, 3.0]])

# %% tf.losses.sparse_softmax_cross_entropy
tf.losses.sparse_softmax_cross_entropy(labels=[1, 0], logits=[[1.0, 3.0], [1.0, 3.0]], weights=[1.0, 0.5])

# %% tf.losses.compute_weighted_loss, tf.losses.Reduction
per_example = tf.constant([1.0, 2.0, 3.0])
tf.losses.compute_weighted_loss(per_example, weights=[1.0, 0.0, 1.0], reduction=tf.losses.Reduction.SUM)

# %% tf.losses.add_loss, tf.losses.get_losses, tf.losses.get_total_loss
tf.losses.add_loss(tf.constant(0.25))
tf.losses.mean_squared_error([1.0], [2.0])
print(len(tf.losses.get_losses()))
tf.losses.get_total_loss()

# %% tf.losses.get_regularization_loss, tf.losses.get_regularization_losses
tf.get_variable("w", initializer=[3.0, 4.0], regularizer=tf.keras.regularizers.l2(0.1))
print(len(tf.losses.get_regularization_losses()))
tf.losses.get_regularization_loss()

# %% tf.metrics.accuracy
labels, guesses = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
accuracy, update = tf.metrics.accuracy(labels, guesses)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    for batch in ({labels: [1, 2], guesses: [1, 0]}, {labels: [3, 4], guesses: [3, 4]}):
        sess.run(update, batch)
    print(sess.run(accuracy))

# %% tf.metrics.auc
tf.metrics.auc(labels=[0, 0, 1, 1], predictions=[0.1, 0.4, 0.35, 0.8])

# %% tf.metrics.mean
tf.metrics.mean([1.0, 2.0, 6.0])

# %% tf.metrics.mean_tensor
tf.metrics.mean_tensor([[1.0, 2.0], [3.0, 4.0]])

# %% tf.metrics.mean_absolute_error, tf.metrics.mean_squared_error, tf.metrics.root_mean_squared_error
labels, guesses = [1.0, 2.0], [1.5, 4.0]
absolute = tf.metrics.mean_absolute_error(labels, guesses)
(
    absolute[1],
    tf.metrics.mean_squared_error(labels, guesses)[1],
    tf.metrics.root_mean_squared_error(labels, guesses)[1],
)

# %% tf.metrics.mean_relative_error
tf.metrics.mean_relative_error(labels=[1.0, 2.0], predictions=[1.5, 4.0], normalizer=[1.0, 2.0])

# %% tf.metrics.mean_cosine_distance
tf.metrics.mean_cosine_distance(labels=[[1.0, 0.0]], predictions=[[0.6, 0.8]], dim=1)

# %% tf.metrics.mean_iou
tf.metrics.mean_iou(labels=[0, 1, 1], predictions=[0, 1, 0], num_classes=2)

# %% tf.metrics.mean_per_class_accuracy
tf.metrics.mean_per_class_accuracy(labels=[0, 1, 1], predictions=[0, 1, 0], num_classes=2)

# %% tf.metrics.percentage_below
tf.metrics.percentage_below([1.0, 2.0, 3.0, 4.0], threshold=3.0)

# %% tf.metrics.precision, tf.metrics.recall
labels, guesses = [1, 1, 0, 1], [1, 0, 1, 1]
tf.metrics.precision(labels, guesses)[1], tf.metrics.recall(labels, guesses)[1]

# %% tf.metrics.true_positives, tf.metrics.true_negatives, tf.metrics.false_positives,
# %% tf.metrics.false_negatives
labels, guesses = [1, 1, 0, 0], [1, 0, 1, 0]
counts = [
    tf.metrics.true_positives,
    tf.metrics.true_negatives,
    tf.metrics.false_positives,
    tf.metrics.false_negatives,
]
tuple(count(labels, guesses)[1] for count in counts)

# %% tf.metrics.true_positives_at_thresholds, tf.metrics.true_negatives_at_thresholds
labels, scores = [1, 1, 0], [0.9, 0.4, 0.6]
found = tf.metrics.true_positives_at_thresholds(labels, scores, [0.3, 0.5])
found[1], tf.metrics.true_negatives_at_thresholds(labels, scores, [0.3, 0.7])[1]

# %% tf.metrics.false_positives_at_thresholds, tf.metrics.false_negatives_at_thresholds
labels, scores = [1, 1, 0], [0.9, 0.4, 0.6]
found = tf.metrics.false_positives_at_thresholds(labels, scores, [0.3, 0.7])
found[1], tf.metrics.false_negatives_at_thresholds(labels, scores, [0.3, 0.5])[1]

# %% tf.metrics.precision_at_thresholds, tf.metrics.recall_at_thresholds
labels, scores = [1, 1, 0], [0.9, 0.4, 0.6]
found = tf.metrics.precision_at_thresholds(labels, scores, [0.3, 0.5])
found[1], tf.metrics.recall_at_thresholds(labels, scores, [0.3, 0.5])[1]

# %% tf.metrics.sensitivity_at_specificity, tf.metrics.specificity_at_sensitivity
labels, scores = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
found = tf.metrics.sensitivity_at_specificity(labels, scores, specificity=0.5)
found[1], tf.metrics.specificity_at_sensitivity(labels, scores, sensitivity=0.5)[1]

# %% tf.metrics.recall_at_k, tf.metrics.precision_at_k, tf.metrics.sparse_precision_at_k
labels, scores = tf.constant([[2], [0]], tf.int64), tf.constant([[0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
tf.metrics.recall_at_k(labels, scores, k=1)[1], tf.metrics.precision_at_k(labels, scores, k=2)[1]

# %% tf.metrics.recall_at_top_k, tf.metrics.precision_at_top_k
labels, chosen = tf.constant([[2], [0]], tf.int64), tf.constant([[2, 1], [1, 2]], tf.int64)
tf.metrics.recall_at_top_k(labels, chosen, k=2)[1], tf.metrics.precision_at_top_k(labels, chosen, k=2)[1]

# %% tf.metrics.average_precision_at_k, tf.metrics.sparse_average_precision_at_k
labels, scores = tf.constant([[2], [0]], tf.int64), tf.constant([[0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
tf.metrics.average_precision_at_k(labels, scores, k=2)

# %% tf.distributions.Distribution, tf.distributions.Normal
normal = tf.distributions.Normal(loc=[0.0, 1.0], scale=2.0)
print(normal, isinstance(normal, tf.distributions.Distribution))
normal.prob(1.0), normal.log_prob(1.0), normal.cdf(1.0), normal.sample(2, seed=1)

# %% tf.distributions.Bernoulli
coin = tf.distributions.Bernoulli(probs=0.7)
coin.prob(1), coin.entropy(), coin.sample(5, seed=1)

# %% tf.distributions.Beta
beta = tf.distributions.Beta(2.0, 3.0)
beta.mean(), beta.prob(0.4)

# %% tf.distributions.Categorical
die = tf.distributions.Categorical(probs=[0.2, 0.3, 0.5])
die.prob(2), die.mode(), die.sample(4, seed=1)

# %% tf.distributions.Dirichlet
dirichlet = tf.distributions.Dirichlet([1.0, 2.0, 3.0])
dirichlet.mean(), dirichlet.log_prob([0.2, 0.3, 0.5])

# %% tf.distributions.DirichletMultinomial
counts = tf.distributions.DirichletMultinomial(total_count=3.0, concentration=[1.0, 2.0])
counts.mean(), counts.prob([1.0, 2.0])

# %% tf.distributions.Exponential
wait = tf.distributions.Exponential(rate=2.0)
wait.mean(), wait.cdf(1.0)

# %% tf.distributions.Gamma
gamma = tf.distributions.Gamma(concentration=2.0, rate=1.0)
gamma.mean(), gamma.variance(), gamma.prob(1.0)

# %% tf.distributions.Laplace
laplace = tf.distributions.Laplace(0.0, 1.0)
laplace.prob([0.0, 1.0]), laplace.stddev()

# %% tf.distributions.Multinomial
throws = tf.distributions.Multinomial(total_count=4.0, probs=[0.25, 0.75])
throws.mean(), throws.prob([1.0, 3.0])

# %% tf.distributions.StudentT
t = tf.distributions.StudentT(df=3.0, loc=0.0, scale=1.0)
t.prob(0.0), t.variance()

# %% tf.distributions.Uniform
uniform = tf.distributions.Uniform(low=-1.0, high=3.0)
uniform.mean(), uniform.prob(0.0), uniform.cdf(2.0)

# %% tf.distributions.kl_divergence
a, b = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(1.0, 1.0)
tf.distributions.kl_divergence(a, b)


# %% tf.distributions.RegisterKL
class Point(tf.distributions.Normal):
    """A distribution of one's own."""


@tf.distributions.RegisterKL(Point, Point)
def between_points(a, b, name=None):
    return tf.abs(a.loc - b.loc)


tf.distributions.kl_divergence(Point(0.0, 1.0), Point(3.0, 1.0))

# %% tf.distributions.ReparameterizationType
print(tf.distributions.Normal(0.0, 1.0).reparameterization_type)

# %% tf.feature_column.input_layer, tf.feature_column.numeric_column
columns = [tf.feature_column.numeric_column("age"), tf.feature_column.numeric_column("size", shape=[2])]
tf.feature_column.input_layer({"age": [[30.0], [40.0]], "size": [[1.0, 2.0], [3.0, 4.0]]}, columns)

# %% tf.feature_column.bucketized_column
age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), boundaries=[18, 65])
tf.feature_column.input_layer({"age": [[10.0], [30.0], [70.0]]}, [age])

# %% tf.feature_column.categorical_column_with_vocabulary_list, tf.feature_column.indicator_column
color = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"])
tf.feature_column.input_layer({"color": [["blue"], ["red"]]}, [tf.feature_column.indicator_column(color)])

# %% tf.feature_column.categorical_column_with_vocabulary_file
with open("colors.txt", "w") as file:
    file.write("red\ngreen\n")
color = tf.feature_column.categorical_column_with_vocabulary_file("color", "colors.txt")
tf.feature_column.input_layer({"color": [["green"]]}, [tf.feature_column.indicator_column(color)])

# %% tf.feature_column.categorical_column_with_identity
weekday = tf.feature_column.categorical_column_with_identity("weekday", num_buckets=7)
tf.feature_column.input_layer({"weekday": [[2]]}, [tf.feature_column.indicator_column(weekday)])

# %% tf.feature_column.categorical_column_with_hash_bucket
word = tf.feature_column.categorical_column_with_hash_bucket("word", hash_bucket_size=4)
tf.feature_column.input_layer({"word": [["tide"]]}, [tf.feature_column.indicator_column(word)])

# %% tf.feature_column.crossed_column
cross = tf.feature_column.crossed_column(["color", "size"], hash_bucket_size=5)
features = {"color": [["red"]], "size": [["small"]]}
tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(cross)])

# %% tf.feature_column.weighted_categorical_column
word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
weighted = tf.feature_column.weighted_categorical_column(word, "count")
features = {"word": [["b"]], "count": [[3.0]]}
tf.feature_column.input_layer(features, [tf.feature_column.indicator_column(weighted)])

# %% tf.feature_column.embedding_column
word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
embedded = tf.feature_column.embedding_column(word, dimension=2, initializer=tf.ones_initializer())
tf.feature_column.input_layer({"word": [["b"], ["unknown"]]}, [embedded])

# %% tf.feature_column.shared_embedding_columns
columns = [tf.feature_column.categorical_column_with_identity(name, 5) for name in ("watched", "liked")]
shared = tf.feature_column.shared_embedding_columns(columns, dimension=2)
tf.shape(tf.feature_column.input_layer({"watched": [[1]], "liked": [[4]]}, shared))

# %% tf.feature_column.linear_model
price = tf.feature_column.numeric_column("price")
tf.feature_column.linear_model({"price": [[1.0], [5.0]]}, [price])

# %% tf.feature_column.make_parse_example_spec
columns = [
    tf.feature_column.numeric_column("age"),
    tf.feature_column.categorical_column_with_identity("day", 7),
]
print(tf.feature_column.make_parse_example_spec(columns))

# %% tf.feature_column.sequence_numeric_column, tf.contrib.feature_column.sequence_input_layer
prices = tf.feature_column.sequence_numeric_column("prices")
features = {"prices": tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [1, 2])}
inputs, lengths = tf.contrib.feature_column.sequence_input_layer(features, [prices])
inputs, lengths

# %% tf.contrib.feature_column.concatenate_context_input
of_each_step = tf.ones([1, 2, 1])
tf.contrib.feature_column.concatenate_context_input(tf.constant([[7.0]]), of_each_step)

# %% tf.feature_column.sequence_categorical_column_with_identity
days = tf.feature_column.sequence_categorical_column_with_identity("days", num_buckets=3)
features = {"days": tf.SparseTensor([[0, 0], [0, 1]], tf.constant([2, 0], tf.int64), [1, 2])}
tf.contrib.feature_column.sequence_input_layer(features, [tf.feature_column.indicator_column(days)])[0]

# %% tf.feature_column.sequence_categorical_column_with_vocabulary_list,
# %% tf.feature_column.sequence_categorical_column_with_hash_bucket
words = tf.feature_column.sequence_categorical_column_with_vocabulary_list("words", ["a", "b"])
features = {"words": tf.SparseTensor([[0, 0], [0, 1]], ["b", "a"], [1, 2])}
tf.contrib.feature_column.sequence_input_layer(features, [tf.feature_column.indicator_column(words)])[0]

# %% tf.feature_column.sequence_categorical_column_with_vocabulary_file
with open("words.txt", "w") as file:
    file.write("a\nb\n")
words = tf.feature_column.sequence_categorical_column_with_vocabulary_file(
    "words", "words.txt", vocabulary_size=2
)
features = {"words": tf.SparseTensor([[0, 0]], ["b"], [1, 1])}
tf.contrib.feature_column.sequence_input_layer(features, [tf.feature_column.indicator_column(words)])[0]
