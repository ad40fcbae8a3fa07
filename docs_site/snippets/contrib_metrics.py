"""Examples of the metrics that only tf.contrib.metrics has."""

import tideflow as tf

# %% tf.contrib.metrics.auc_using_histogram
labels, scores = tf.constant([True, False, True, False]), tf.constant([0.9, 0.1, 0.6, 0.7])
auc, update = tf.contrib.metrics.auc_using_histogram(labels, scores, score_range=[0.0, 1.0], nbins=10)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    print(sess.run(auc))

# %% tf.contrib.metrics.auc_with_confidence_intervals
labels = tf.constant([1, 0, 1, 0, 1, 0])
predictions = tf.constant([0.9, 0.1, 0.6, 0.7, 0.8, 0.3])
found, update = tf.contrib.metrics.auc_with_confidence_intervals(labels, predictions)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    for part, value in zip(found._fields, sess.run(found)):
        print(f"{part}: {value:.3f}")

# %% tf.contrib.metrics.streaming_dynamic_auc
labels, predictions = tf.constant([1, 0, 1, 0]), tf.constant([3.5, -2.0, 1.0, 2.0])
auc, update = tf.contrib.metrics.streaming_dynamic_auc(labels, predictions)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    print(sess.run(auc))

# %% tf.contrib.metrics.cohen_kappa
labels, predicted = tf.constant([0, 1, 2, 1]), tf.constant([0, 1, 2, 2])
tf.contrib.metrics.cohen_kappa(labels, predicted, num_classes=3)[1]

# %% tf.contrib.metrics.count
number, update = tf.contrib.metrics.count(tf.constant([5.0, 6.0, 7.0]))
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    for _ in range(2):
        sess.run(update)
    print(sess.run(number))

# %% tf.contrib.metrics.streaming_concat
batch = tf.placeholder(tf.int32, [None])
joined, update = tf.contrib.metrics.streaming_concat(batch)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update, {batch: [1, 2, 3]})
    sess.run(update, {batch: [4, 5]})
    print(sess.run(joined))

# %% tf.contrib.metrics.streaming_covariance, tf.contrib.metrics.streaming_pearson_correlation
predictions, labels = tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0, 4.0, 6.0])
_, covariance = tf.contrib.metrics.streaming_covariance(predictions, labels)
_, correlation = tf.contrib.metrics.streaming_pearson_correlation(predictions, labels)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print("covariance", sess.run(covariance))
    print(f"correlation {sess.run(correlation):.3f}")

# %% tf.contrib.metrics.f1_score
labels, predictions = tf.constant([1, 0, 1, 0]), tf.constant([0.9, 0.1, 0.6, 0.7])
tf.contrib.metrics.f1_score(labels, predictions)[1]

# %% tf.contrib.metrics.precision_at_recall, tf.contrib.metrics.recall_at_precision
labels, predictions = tf.constant([1, 0, 1, 0]), tf.constant([0.9, 0.1, 0.6, 0.7])
_, precision = tf.contrib.metrics.precision_at_recall(labels, predictions, target_recall=1.0)
_, recall = tf.contrib.metrics.recall_at_precision(labels, predictions, precision=1.0)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print(f"precision {sess.run(precision):.2f}")
    print(f"recall {sess.run(recall):.2f}")

# %% tf.contrib.metrics.precision_recall_at_equal_thresholds
labels = tf.constant([True, False, True, False])
predictions = tf.constant([0.9, 0.1, 0.6, 0.7])
found, update = tf.contrib.metrics.precision_recall_at_equal_thresholds(labels, predictions, num_thresholds=3)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    print("thresholds", sess.run(found.thresholds))
    print("precision", sess.run(found.precision))
    print("recall", sess.run(found.recall))

# %% tf.contrib.metrics.streaming_curve_points
labels, predictions = tf.constant([1, 0, 1, 0]), tf.constant([0.9, 0.1, 0.6, 0.7])
points, update = tf.contrib.metrics.streaming_curve_points(labels, predictions, num_thresholds=5)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    sess.run(update)
    print(sess.run(points).round(2))

# %% tf.contrib.metrics.streaming_false_negative_rate, tf.contrib.metrics.streaming_false_positive_rate
predictions, labels = tf.constant([True, False, False, True]), tf.constant([True, True, False, False])
_, missed = tf.contrib.metrics.streaming_false_negative_rate(predictions, labels)
_, false_alarms = tf.contrib.metrics.streaming_false_positive_rate(predictions, labels)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print("missed", sess.run(missed))
    print("false alarms", sess.run(false_alarms))

# %% tf.contrib.metrics.streaming_false_negative_rate_at_thresholds,
# %% tf.contrib.metrics.streaming_false_positive_rate_at_thresholds
predictions, labels = tf.constant([0.9, 0.1, 0.6, 0.7]), tf.constant([True, False, True, False])
limits = [0.3, 0.65, 0.8]
_, missed = tf.contrib.metrics.streaming_false_negative_rate_at_thresholds(predictions, labels, limits)
_, false_alarms = tf.contrib.metrics.streaming_false_positive_rate_at_thresholds(predictions, labels, limits)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print("missed", sess.run(missed))
    print("false alarms", sess.run(false_alarms))

# %% tf.contrib.metrics.sparse_recall_at_top_k, tf.contrib.metrics.streaming_sparse_precision_at_top_k,
# %% tf.contrib.metrics.streaming_sparse_average_precision_at_top_k
predicted = tf.constant([[3, 1], [0, 2]], tf.int64)  # the two likeliest classes of each example
labels = tf.constant([[1], [2]], tf.int64)
metrics = tf.contrib.metrics
_, recall = metrics.sparse_recall_at_top_k(labels, predicted)
_, precision = metrics.streaming_sparse_precision_at_top_k(predicted, labels)
_, average = metrics.streaming_sparse_average_precision_at_top_k(predicted, labels)
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    print("recall", sess.run(recall))
    print("precision", sess.run(precision))
    print("average precision", sess.run(average))
