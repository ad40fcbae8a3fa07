"""Examples of tf.data, of readers, queues, parsing of records, and lookup tables."""

import sqlite3

import numpy as np

import tideflow as tf

# %% tf.data.Dataset
dataset = tf.data.Dataset.range(10).filter(lambda x: tf.equal(x % 2, 0)).map(lambda x: x * x).batch(3)
batch = dataset.make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(batch), sess.run(batch))
    try:
        sess.run(batch)
    except tf.errors.OutOfRangeError:
        print("that was all")

# %% tf.data.Iterator, tf.data.make_initializable_iterator
top = tf.placeholder(tf.int64)
iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(top).batch(10))
with tf.Session() as sess:
    for size in (2, 4):
        sess.run(iterator.initializer, {top: size})
        print(sess.run(iterator.get_next()))

# %% tf.data.make_one_shot_iterator
tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])).get_next()

# %% tf.data.get_output_types, tf.data.get_output_shapes, tf.data.get_output_classes,
# %% tf.data.experimental.get_structure
dataset = tf.data.Dataset.from_tensor_slices({"x": tf.zeros([5, 3]), "y": [1, 2, 3, 4, 5]})
print(tf.data.get_output_types(dataset))
print(tf.data.get_output_shapes(dataset))
print(tf.data.experimental.get_structure(dataset))

# %% tf.data.DatasetSpec
spec = tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
print(spec.value_type.__name__)

# %% tf.data.Options, tf.data.experimental.OptimizationOptions, tf.data.experimental.ThreadingOptions,
# %% tf.data.experimental.StatsOptions, tf.data.experimental.DistributeOptions,
# %% tf.data.experimental.MapVectorizationOptions
options = tf.data.Options()
options.experimental_deterministic = False
options.experimental_threading.private_threadpool_size = 2
dataset = tf.data.Dataset.range(3).with_options(options)
print(dataset.options().experimental_threading.private_threadpool_size)

# %% tf.data.TextLineDataset
with open("words.txt", "w") as file:
    file.write("ebb\nflow\n")
words = tf.data.TextLineDataset("words.txt").make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(words), sess.run(words))

# %% tf.data.TFRecordDataset
with tf.io.TFRecordWriter("data.tfrecord") as writer:
    writer.write(b"first")
    writer.write(b"second")
tf.data.TFRecordDataset("data.tfrecord").batch(2).make_one_shot_iterator().get_next()

# %% tf.data.FixedLengthRecordDataset
with open("bytes", "wb") as file:
    file.write(b"aabbcc")
tf.data.FixedLengthRecordDataset("bytes", record_bytes=2).batch(3).make_one_shot_iterator().get_next()

# %% tf.data.experimental.CsvDataset
with open("table.csv", "w") as file:
    file.write("name,size\nebb,1.5\nflow,2.5\n")
rows = tf.data.experimental.CsvDataset("table.csv", [tf.string, tf.float32], header=True)
rows.batch(2).make_one_shot_iterator().get_next()

# %% tf.data.experimental.make_csv_dataset
with open("table.csv", "w") as file:
    file.write("name,size\nebb,1.5\nflow,2.5\n")
rows = tf.data.experimental.make_csv_dataset("table.csv", batch_size=2, num_epochs=1, shuffle=False)
with tf.Session() as sess:
    print(dict(sess.run(rows.make_one_shot_iterator().get_next())))

# %% tf.data.experimental.SqlDataset
with sqlite3.connect("tides.db") as database:
    database.execute("create table tides (name text, size integer)")
    database.execute("insert into tides values ('spring', 5), ('neap', 2)")
dataset = tf.data.experimental.SqlDataset("sqlite", "tides.db", "select * from tides", (tf.string, tf.int32))
dataset.batch(2).make_one_shot_iterator().get_next()

# %% tf.data.experimental.TFRecordWriter
dataset = tf.data.Dataset.from_tensor_slices(["a", "b"])
with tf.Session() as sess:
    sess.run(tf.data.experimental.TFRecordWriter("out.tfrecord").write(dataset))
print(list(tf.io.tf_record_iterator("out.tfrecord")))

# %% tf.data.experimental.make_batched_features_dataset, tf.contrib.data.read_batch_features
with tf.io.TFRecordWriter("data.tfrecord") as writer:
    for x in (1.0, 2.0):
        feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[x]))}
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
dataset = tf.data.experimental.make_batched_features_dataset(
    "data.tfrecord", 2, {"x": tf.io.FixedLenFeature([], tf.float32)}, num_epochs=1, shuffle=False
)
dataset.make_one_shot_iterator().get_next()

# %% tf.data.experimental.parse_example_dataset
feature = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[3.0]))}
record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
dataset = tf.data.Dataset.from_tensors([record, record])
parse = tf.data.experimental.parse_example_dataset({"x": tf.io.FixedLenFeature([], tf.float32)})
dataset.apply(parse).make_one_shot_iterator().get_next()

# %% tf.data.experimental.Counter
tf.data.experimental.Counter(start=5, step=2).batch(3).make_one_shot_iterator().get_next()

# %% tf.data.experimental.RandomDataset
numbers = tf.data.experimental.RandomDataset(seed=1).batch(2).make_one_shot_iterator().get_next()
tf.shape(numbers)

# %% tf.data.experimental.cardinality
tf.data.experimental.cardinality(tf.data.Dataset.range(10).batch(3))

# %% tf.data.experimental.bucket_by_sequence_length
words = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 2], [3, 3, 3], [4]]), tf.int32, [None])
buckets = tf.data.experimental.bucket_by_sequence_length(
    tf.size, bucket_boundaries=[2], bucket_batch_sizes=[2, 2]
)
batch = words.apply(buckets).make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(batch))
    print(sess.run(batch))

# %% tf.data.experimental.choose_from_datasets, tf.data.experimental.sample_from_datasets
a, b = tf.data.Dataset.from_tensors("a").repeat(), tf.data.Dataset.from_tensors("b").repeat()
choices = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1], np.int64))
tf.data.experimental.choose_from_datasets([a, b], choices).batch(3).make_one_shot_iterator().get_next()

# %% tf.data.experimental.dense_to_sparse_batch
words = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int32, [None])
batch = (
    words.apply(tf.data.experimental.dense_to_sparse_batch(2, row_shape=[4]))
    .make_one_shot_iterator()
    .get_next()
)
tf.sparse.to_dense(batch)

# %% tf.data.experimental.enumerate_dataset
dataset = tf.data.Dataset.from_tensor_slices(["a", "b"]).apply(
    tf.data.experimental.enumerate_dataset(start=10)
)
dataset.batch(2).make_one_shot_iterator().get_next()

# %% tf.data.experimental.get_next_as_optional, tf.data.experimental.Optional
iterator = tf.data.Dataset.range(1).make_one_shot_iterator()
item = tf.data.experimental.get_next_as_optional(iterator)
is_there = item.has_value()
value = tf.cond(is_there, item.get_value, lambda: tf.constant(-1, tf.int64))
with tf.Session() as sess:
    print(sess.run([is_there, value]), sess.run([is_there, value]))

# %% tf.data.experimental.get_single_element
tf.data.experimental.get_single_element(tf.data.Dataset.range(5).batch(10))

# %% tf.data.experimental.group_by_reducer, tf.data.experimental.Reducer
sums = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda total, x: total + x, lambda total: total)
dataset = tf.data.Dataset.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, sums))
dataset.batch(2).make_one_shot_iterator().get_next()

# %% tf.data.experimental.group_by_window
group = tf.data.experimental.group_by_window(
    lambda x: x % 2, lambda key, window: window.batch(3), window_size=3
)
batch = tf.data.Dataset.range(6).apply(group).make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(batch), sess.run(batch))

# %% tf.data.experimental.ignore_errors
dataset = tf.data.Dataset.from_tensor_slices(["1", "two", "3"]).map(tf.strings.to_number)
dataset.apply(tf.data.experimental.ignore_errors()).batch(3).make_one_shot_iterator().get_next()

# %% tf.data.experimental.map_and_batch
dataset = tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch(lambda x: x * x, batch_size=4))
dataset.make_one_shot_iterator().get_next()

# %% tf.data.experimental.parallel_interleave, tf.contrib.data.sloppy_interleave
dataset = tf.data.Dataset.range(2).apply(
    tf.data.experimental.parallel_interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2
    )
)
dataset.batch(4).make_one_shot_iterator().get_next()

# %% tf.data.experimental.copy_to_device, tf.data.experimental.prefetch_to_device
dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.copy_to_device("/cpu:0"))
tf.data.make_initializable_iterator(dataset).get_next().dtype

# %% tf.data.experimental.rejection_resample
labels = tf.data.Dataset.from_tensor_slices([0, 0, 0, 1]).repeat(50)
even = tf.data.experimental.rejection_resample(lambda x: x, target_dist=[0.5, 0.5], seed=1)
chosen = labels.apply(even).batch(20).make_one_shot_iterator().get_next()
tf.shape(chosen)

# %% tf.data.experimental.scan
total = tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x))
tf.data.Dataset.range(5).apply(total).batch(5).make_one_shot_iterator().get_next()

# %% tf.data.experimental.shuffle_and_repeat
dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(3, count=2, seed=1))
tf.shape(dataset.batch(10).make_one_shot_iterator().get_next())

# %% tf.data.experimental.take_while
small = tf.data.experimental.take_while(lambda x: x < 3)
tf.data.Dataset.range(10).apply(small).batch(10).make_one_shot_iterator().get_next()

# %% tf.data.experimental.unbatch
dataset = tf.data.Dataset.from_tensors([1, 2, 3]).apply(tf.data.experimental.unbatch())
dataset.batch(2).make_one_shot_iterator().get_next()

# %% tf.data.experimental.unique
dataset = tf.data.Dataset.from_tensor_slices(["a", "b", "a"]).apply(tf.data.experimental.unique())
dataset.batch(3).make_one_shot_iterator().get_next()

# %% tf.data.experimental.to_variant, tf.data.experimental.from_variant
variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
dataset = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
tf.data.experimental.get_single_element(dataset.batch(3))

# %% tf.data.experimental.TensorStructure, tf.data.experimental.SparseTensorStructure,
# %% tf.data.experimental.RaggedTensorStructure, tf.data.experimental.TensorArrayStructure
print(tf.data.experimental.TensorStructure(tf.float32, [3]))
print(tf.data.experimental.SparseTensorStructure(tf.float32, [3]))

# %% tf.data.experimental.StatsAggregator, tf.data.experimental.latency_stats,
# %% tf.data.experimental.bytes_produced_stats
aggregator = tf.data.experimental.StatsAggregator()
options = tf.data.Options()
options.experimental_stats.aggregator = aggregator
dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("range")).with_options(options)
iterator = tf.data.make_initializable_iterator(dataset)
element = iterator.get_next()
with tf.Session() as sess:
    sess.run(iterator.initializer)
    sess.run(element)
    summary = tf.Summary.FromString(sess.run(aggregator.get_summary()))
print("range" in {value.tag for value in summary.value})

# %% tf.data.experimental.make_saveable_from_iterator
iterator = tf.data.Dataset.range(10).make_one_shot_iterator()
element = iterator.get_next()
saver = tf.train.Saver({"input": tf.data.experimental.make_saveable_from_iterator(iterator)})
with tf.Session() as sess:
    print(sess.run(element), sess.run(element))
    path = saver.save(sess, "place.ckpt")
with tf.Session() as sess:
    saver.restore(sess, path)
    print(sess.run(element))

# %% tf.data.experimental.CheckpointInputPipelineHook
print(tf.data.experimental.CheckpointInputPipelineHook.__mro__[1].__name__)

# %% tf.QueueBase, tf.FIFOQueue
queue = tf.FIFOQueue(capacity=3, dtypes=[tf.float32], shapes=[[]])
put, take = queue.enqueue_many([[1.0, 2.0]]), queue.dequeue()
with tf.Session() as sess:
    sess.run(put)
    print(sess.run(take), sess.run(queue.size()), isinstance(queue, tf.QueueBase))

# %% tf.PaddingFIFOQueue
queue = tf.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
with tf.Session() as sess:
    for row in ([1], [2, 3]):
        sess.run(queue.enqueue([row]))
    print(sess.run(queue.dequeue_many(2)))

# %% tf.PriorityQueue
queue = tf.PriorityQueue(10, [tf.string], shapes=[[]])
with tf.Session() as sess:
    for priority, word in ((2, "later"), (1, "first")):
        sess.run(queue.enqueue([tf.constant(priority, tf.int64), word]))
    print(sess.run(queue.dequeue()))

# %% tf.RandomShuffleQueue
queue = tf.RandomShuffleQueue(10, min_after_dequeue=0, dtypes=[tf.int32], shapes=[[]], seed=1)
with tf.Session() as sess:
    sess.run(queue.enqueue_many([list(range(5))]))
    print(sorted(sess.run(queue.dequeue_many(5))))

# %% tf.ConditionalAccumulator, tf.ConditionalAccumulatorBase
gradients = tf.ConditionalAccumulator(tf.float32, shape=[2])
give, mean = gradients.apply_grad(tf.constant([1.0, 3.0])), gradients.take_grad(num_required=2)
with tf.Session() as sess:
    sess.run(give)
    sess.run(give)
    print(sess.run(gradients.num_accumulated()), sess.run(mean))

# %% tf.SparseConditionalAccumulator
gradients = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 1])
give = gradients.apply_grad(grad_indices=[0, 2], grad_values=[[1.0], [3.0]])
with tf.Session() as sess:
    sess.run(give)
    print(sess.run(gradients.take_indexed_slices_grad(1)))

# %% tf.ReaderBase, tf.TextLineReader
with open("words.txt", "w") as file:
    file.write("ebb\nflow\n")
reader = tf.TextLineReader()
key, line = reader.read(tf.train.string_input_producer(["words.txt"]))
with tf.train.MonitoredSession() as sess:
    print(sess.run([key, line]), isinstance(reader, tf.ReaderBase))

# %% tf.WholeFileReader
with open("text", "w") as file:
    file.write("all of it")
key, text = tf.WholeFileReader().read(tf.train.string_input_producer(["text"]))
with tf.train.MonitoredSession() as sess:
    print(sess.run([key, text]))

# %% tf.TFRecordReader
with tf.io.TFRecordWriter("data.tfrecord") as writer:
    writer.write(b"a record")
key, record = tf.TFRecordReader().read(tf.train.string_input_producer(["data.tfrecord"]))
with tf.train.MonitoredSession() as sess:
    print(sess.run(record))

# %% tf.FixedLengthRecordReader
with open("bytes", "wb") as file:
    file.write(b"aabbcc")
key, record = tf.FixedLengthRecordReader(record_bytes=2).read(tf.train.string_input_producer(["bytes"]))
with tf.train.MonitoredSession() as sess:
    print(sess.run(record), sess.run(record))

# %% tf.IdentityReader
key, value = tf.IdentityReader().read(tf.train.string_input_producer(["work"]))
with tf.train.MonitoredSession() as sess:
    print(sess.run([key, value]))

# %% tf.LMDBReader, tf.contrib.data.LMDBDataset
key, value = tf.LMDBReader().read(tf.train.string_input_producer(["data.mdb"]))
print(key.dtype, value.dtype)

# %% tf.io.TFRecordWriter, tf.io.tf_record_iterator
with tf.io.TFRecordWriter("data.tfrecord") as writer:
    writer.write(b"first")
    writer.write(b"second")
print(list(tf.io.tf_record_iterator("data.tfrecord")))

# %% tf.io.TFRecordOptions, tf.io.TFRecordCompressionType
options = tf.io.TFRecordOptions(tf.io.TFRecordCompressionType.GZIP)
with tf.io.TFRecordWriter("data.gz", options) as writer:
    writer.write(b"packed")
print(list(tf.io.tf_record_iterator("data.gz", options)))

# %% tf.io.parse_example, tf.io.FixedLenFeature, tf.io.VarLenFeature
feature = {
    "x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0])),
    "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"ebb", b"flow"])),
}
record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
parsed = tf.io.parse_example(
    [record], {"x": tf.io.FixedLenFeature([2], tf.float32), "words": tf.io.VarLenFeature(tf.string)}
)
parsed["x"], parsed["words"].values

# %% tf.io.parse_single_example
feature = {"x": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))}
record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
tf.io.parse_single_example(
    record, {"x": tf.io.FixedLenFeature([], tf.int64), "y": tf.io.FixedLenFeature([], tf.int64, 0)}
)

# %% tf.io.SparseFeature
feature = {
    "at": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 3])),
    "values": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 0.7])),
}
record = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
tf.sparse.to_dense(
    tf.io.parse_single_example(record, {"x": tf.io.SparseFeature("at", "values", tf.float32, 4)})["x"]
)

# %% tf.io.parse_single_sequence_example, tf.io.parse_sequence_example, tf.io.FixedLenSequenceFeature
steps = tf.train.FeatureList(
    feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[n])) for n in (1, 2, 3)]
)
record = tf.train.SequenceExample(
    feature_lists=tf.train.FeatureLists(feature_list={"steps": steps})
).SerializeToString()
features = {"steps": tf.io.FixedLenSequenceFeature([], tf.int64)}
context, sequence = tf.io.parse_single_sequence_example(record, sequence_features=features)
sequence["steps"]

# %% tf.io.serialize_sparse, tf.io.serialize_many_sparse
x = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
many = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(x), tf.float32)
tf.shape(tf.io.serialize_sparse(x)), tf.sparse.to_dense(many)

# %% tf.io.write_file
write = tf.io.write_file("folder/text", tf.constant("written by a step"))
with tf.Session() as sess:
    sess.run(write)
print(open("folder/text").read())

# %% tf.lookup.StaticHashTable, tf.lookup.KeyValueTensorInitializer
values = tf.lookup.KeyValueTensorInitializer(["ebb", "flow"], [1, 2])
table = tf.lookup.StaticHashTable(values, default_value=-1)
table.lookup(tf.constant(["flow", "storm"]))

# %% tf.lookup.StaticVocabularyTable
values = tf.lookup.KeyValueTensorInitializer(["ebb", "flow"], tf.constant([0, 1], tf.int64))
table = tf.lookup.StaticVocabularyTable(values, num_oov_buckets=2)
table.lookup(tf.constant(["flow", "storm"]))

# %% tf.lookup.TextFileInitializer, tf.lookup.TextFileIndex
with open("words.txt", "w") as file:
    file.write("ebb\nflow\n")
lines = tf.lookup.TextFileInitializer(
    "words.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
)
tf.lookup.StaticHashTable(lines, default_value=-1).lookup(tf.constant(["flow"]))

# %% tf.lookup.experimental.DenseHashTable
table = tf.lookup.experimental.DenseHashTable(
    tf.int64, tf.float32, default_value=0.0, empty_key=-1, deleted_key=-2
)
keys = tf.constant([1, 2], tf.int64)
with tf.Session() as sess:
    sess.run(table.insert(keys, tf.constant([10.0, 20.0])))
    print(sess.run(table.lookup(keys)), sess.run(table.size()))
