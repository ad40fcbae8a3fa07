"""Examples of the old feature columns of tf.contrib.layers, and of sequences in pieces."""

import tideflow as tf

# %% tf.contrib.layers.real_valued_column, tf.contrib.layers.bucketized_column
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
size = tf.contrib.layers.real_valued_column("size")
buckets = tf.contrib.layers.bucketized_column(size, boundaries=[1.0, 2.0])
made = tf.contrib.layers.input_from_feature_columns(features, [size, buckets])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.sparse_column_with_keys, tf.contrib.layers.one_hot_column
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = tf.contrib.layers.sparse_column_with_keys("word", ["blue", "green", "red"])
made = tf.contrib.layers.input_from_feature_columns(features, [tf.contrib.layers.one_hot_column(word)])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.input_from_feature_columns, tf.contrib.layers.embedding_column
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = layers.sparse_column_with_keys("word", ["blue", "green", "red"])
vectors = tf.contrib.layers.embedding_column(word, dimension=4)
print(tf.contrib.layers.input_from_feature_columns(features, [vectors]).shape)

# %% tf.contrib.layers.sparse_column_with_hash_bucket, tf.contrib.layers.transform_features
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = tf.contrib.layers.sparse_column_with_hash_bucket("word", hash_bucket_size=10)
made = tf.contrib.layers.transform_features(features, [word])[word].values
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.sparse_column_with_integerized_feature
layers = tf.contrib.layers
ids = tf.contrib.layers.sparse_column_with_integerized_feature("id", bucket_size=5)
made = layers.transform_features({"id": tf.constant([[3], [7]])}, [ids])[ids].values
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.sparse_column_with_vocabulary_file
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
with open("words.txt", "w") as file:
    file.write("red\nblue\n")
word = tf.contrib.layers.sparse_column_with_vocabulary_file("word", "words.txt", vocab_size=2)
made = layers.transform_features(features, [word])[word].values
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.crossed_column, tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = layers.sparse_column_with_hash_bucket("word", 10)
buckets = layers.bucketized_column(layers.real_valued_column("size"), [1.0, 2.0])
key = tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
cross = tf.contrib.layers.crossed_column([word, buckets], hash_bucket_size=100, hash_key=key)
made = layers.transform_features({**features, "word": layers.dense_to_sparse(features["word"], "")}, [cross])[
    cross
]
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.weighted_sparse_column
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = layers.sparse_column_with_keys("word", ["blue", "red"])
weighted = tf.contrib.layers.weighted_sparse_column(word, "weight")
rows = {**features, "weight": tf.constant([[2.0], [0.5]])}
made = layers.input_from_feature_columns(rows, [layers.one_hot_column(weighted)])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.shared_embedding_columns
layers = tf.contrib.layers
query = layers.sparse_column_with_hash_bucket("query", 10)
title = layers.sparse_column_with_hash_bucket("title", 10)
print([column.name for column in tf.contrib.layers.shared_embedding_columns([query, title], dimension=3)])

# %% tf.contrib.layers.scattered_embedding_column
layers = tf.contrib.layers
column = tf.contrib.layers.scattered_embedding_column("word", size=50, dimension=4, hash_key=7)
sparse = {"word": tf.SparseTensor([[0, 0], [1, 0]], ["red", "blue"], [2, 1])}
print(layers.input_from_feature_columns(sparse, [column]).shape)

# %% tf.contrib.layers.weighted_sum_from_feature_columns
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
size = layers.real_valued_column("size")
sums, weights, bias = tf.contrib.layers.weighted_sum_from_feature_columns(features, [size], num_outputs=1)
print(weights[size][0].name, bias.name)

# %% tf.contrib.layers.joint_weighted_sum_from_feature_columns
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}
word = layers.sparse_column_with_hash_bucket("word", 10)
size = layers.bucketized_column(layers.real_valued_column("size"), [1.0])
other = layers.sparse_column_with_keys("word", ["red", "blue"])
sums, weights, bias = tf.contrib.layers.joint_weighted_sum_from_feature_columns(features, [word, other], 1)
print(weights[0].shape)

# %% tf.contrib.layers.sequence_input_from_feature_columns
layers = tf.contrib.layers
level = layers.real_valued_column("level")
steps = {"level": tf.constant([[1.0, 2.0], [3.0, 4.0]])}
print(tf.contrib.layers.sequence_input_from_feature_columns(steps, [level]).shape)

# %% tf.contrib.layers.create_feature_spec_for_parsing
layers = tf.contrib.layers
columns = [layers.real_valued_column("size"), layers.sparse_column_with_hash_bucket("word", 10)]
print(tf.contrib.layers.create_feature_spec_for_parsing(columns))

# %% tf.contrib.layers.make_place_holder_tensors_for_base_features
layers = tf.contrib.layers
columns = [layers.real_valued_column("size", dimension=3)]
print(tf.contrib.layers.make_place_holder_tensors_for_base_features(columns)["size"].shape)

# %% tf.contrib.layers.parse_feature_columns_from_examples
layers = tf.contrib.layers
example = tf.train.Example()
example.features.feature["size"].float_list.value.append(1.5)
size = layers.real_valued_column("size")
parsed = tf.contrib.layers.parse_feature_columns_from_examples([example.SerializeToString()], [size])
made = parsed[size]
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.parse_feature_columns_from_sequence_examples
layers = tf.contrib.layers
example = tf.train.SequenceExample()
example.feature_lists.feature_list["level"].feature.add().float_list.value.append(1.5)
level = layers.real_valued_column("level")
context, steps = tf.contrib.layers.parse_feature_columns_from_sequence_examples(
    example.SerializeToString(), None, [level]
)
made = steps["level"]
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.infer_real_valued_columns, tf.contrib.layers.check_feature_columns
columns = tf.contrib.layers.infer_real_valued_columns({"x": tf.zeros([5, 3])})
tf.contrib.layers.check_feature_columns(columns)  # no two have one key
print([(column.name, column.dimension) for column in columns])

# %% tf.contrib.layers.feature_column.DataFrameColumn
layers = tf.contrib.layers
features = {"word": tf.constant([["red"], ["blue"]]), "size": tf.constant([[0.5], [2.5]])}


class Doubled:
    def required_base_features(self):
        return {"size": tf.FixedLenFeature([1], tf.float32)}

    def build(self, tensors):
        return tensors["size"] * 2.0


column = tf.contrib.layers.feature_column.DataFrameColumn("doubled", Doubled())
made = layers.input_from_feature_columns(features, [column])
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.regression_target
target = tf.contrib.layers.regression_target()
made = target.loss(tf.constant([[1.0], [2.0]]), tf.constant([1.0, 4.0]), {})
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.layers.multi_class_target
target = tf.contrib.layers.multi_class_target(n_classes=3)
made = target.logits_to_predictions(tf.constant([[0.0, 2.0, 1.0]]))
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    print(sess.run(made))

# %% tf.contrib.training.SequenceQueueingStateSaver, tf.contrib.training.NextQueuedSequenceBatch
saver = tf.contrib.training.SequenceQueueingStateSaver(
    batch_size=1,
    num_unroll=2,
    input_length=tf.constant(4),
    input_key=tf.constant("a sequence"),
    input_sequences={"x": tf.range(4.0)},
    input_context={},
    initial_states={"sum": tf.constant(0.0)},
)
batch = saver.next_batch  # a NextQueuedSequenceBatch
total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
save = batch.save_state("sum", total)
with tf.Session() as sess:
    sess.run(saver.prefetch_op)
    for _ in range(2):
        print(sess.run([batch.key, total, save])[:2])

# %% tf.contrib.training.batch_sequences_with_states
batch = tf.contrib.training.batch_sequences_with_states(
    input_key=tf.constant("a sequence"),
    input_sequences={"x": tf.range(5.0)},
    input_context={},
    input_length=None,
    initial_states={"sum": tf.constant(0.0)},
    num_unroll=2,
    batch_size=1,
)
print(batch.sequences["x"].shape, batch.length.shape)
