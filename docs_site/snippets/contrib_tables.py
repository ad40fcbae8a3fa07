"""Examples of contrib's tables of data, of steps in tables, and of what is drawn of depths."""

import numpy as np

import tideflow as tf

# %% tf.contrib.learn.datasets.base.Dataset, tf.contrib.learn.datasets.base.Datasets
base = tf.contrib.learn.datasets.base
train = base.Dataset(data=np.zeros([3, 2]), target=np.array([0, 1, 0]))
print(base.Datasets(train=train, validation=None, test=train).test.target)

# %% tf.contrib.learn.datasets.base.maybe_download, tf.contrib.learn.datasets.base.urlretrieve_with_retry
base = tf.contrib.learn.datasets.base
with open("words.txt", "w") as file:
    file.write("some words")
print(base.maybe_download("words.txt", ".", "https://example.com/words.txt"))  # it is there already
print(base.urlretrieve_with_retry.__name__)

# %% tf.contrib.learn.datasets.base.retry
calls = []


@tf.contrib.learn.datasets.base.retry(initial_delay=0.1, max_delay=0.2)
def fails_once():
    calls.append("called")
    if len(calls) == 1:
        raise OSError("not now")
    return calls


print(fails_once())

# %% tf.contrib.learn.datasets.base.shrink_csv
with open("table.csv", "w") as file:
    file.write("1,a\n2,b\n3,c\n")
tf.contrib.learn.datasets.base.shrink_csv("table.csv", 2)
print(open("table_small.csv").read().split())

# %% tf.contrib.learn.datasets.synthetic.circles, tf.contrib.learn.datasets.synthetic.spirals
synthetic = tf.contrib.learn.datasets.synthetic
print(synthetic.circles(6, seed=1).target, synthetic.spirals(6, seed=1).data.shape)

# %% tf.contrib.learn.datasets.text_datasets.load_dbpedia
print(tf.contrib.learn.datasets.text_datasets.load_dbpedia(test_with_fake_data=True).train.data[0])

# %% tf.contrib.estimator.DNNClassifierWithLayerAnnotations
columns = [tf.feature_column.numeric_column("x")]
estimator = tf.contrib.estimator.DNNClassifierWithLayerAnnotations([4], columns)
estimator.train(lambda: ({"x": tf.constant([[1.0], [2.0]])}, tf.constant([[0], [1]])), steps=1)
print(estimator.get_variable_names()[0])

# %% tf.contrib.estimator.DNNRegressorWithLayerAnnotations
columns = [tf.feature_column.numeric_column("x")]
estimator = tf.contrib.estimator.DNNRegressorWithLayerAnnotations([4], columns)
estimator.train(lambda: ({"x": tf.constant([[1.0], [2.0]])}, tf.constant([[0.5], [1.0]])), steps=1)
print(estimator.get_variable_names()[0])

# %% tf.contrib.stat_summarizer.NewStatSummarizer, tf.contrib.stat_summarizer.StatSummarizer,
# %% tf.contrib.stat_summarizer.DeleteStatSummarizer
summarizer = tf.contrib.stat_summarizer.NewStatSummarizer(b"")
metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
with tf.Session() as session:
    session.run(tf.matmul(tf.random_uniform([2, 2]), tf.ones([2, 2])), None, options, metadata)
summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
print(
    "MatMul" in summarizer.GetOutputString(),
    isinstance(summarizer, tf.contrib.stat_summarizer.StatSummarizer),
)
tf.contrib.stat_summarizer.DeleteStatSummarizer(summarizer)

# %% tf.contrib.image.single_image_random_dot_stereograms
depths = [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]
print(tf.contrib.image.single_image_random_dot_stereograms(depths, number_colors=512).shape)
