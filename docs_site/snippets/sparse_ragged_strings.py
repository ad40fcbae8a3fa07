"""Examples of sparse and ragged tensors, and of strings."""

import tideflow as tf

# %% tf.sparse.add
a = tf.SparseTensor([[0], [2]], [1.0, 3.0], [3])
b = tf.SparseTensor([[1], [2]], [5.0, 4.0], [3])
tf.sparse.to_dense(tf.sparse.add(a, b))

# %% tf.sparse.concat
a = tf.SparseTensor([[0, 0]], [1], [1, 2])
tf.sparse.to_dense(tf.sparse.concat(axis=0, sp_inputs=[a, a]))

# %% tf.sparse.cross, tf.sparse.cross_hashed
colors, sizes = tf.constant([["red"], ["blue"]]), tf.constant([["small"], ["large"]])
tf.sparse.cross([colors, sizes]).values, tf.sparse.cross_hashed([colors, sizes], num_buckets=100).values

# %% tf.sparse.expand_dims
x = tf.SparseTensor([[1]], [5], [3])
tf.sparse.expand_dims(x, axis=0).dense_shape

# %% tf.sparse.eye
tf.sparse.to_dense(tf.sparse.eye(2, 3))

# %% tf.sparse.fill_empty_rows
x = tf.SparseTensor([[1, 0]], [5], [3, 1])
filled, was_empty = tf.sparse.fill_empty_rows(x, default_value=-1)
filled.values, was_empty

# %% tf.sparse.from_dense
tf.sparse.from_dense(tf.constant([[0, 3], [4, 0]]))

# %% tf.sparse.mask
rows = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 7]))
tf.sparse.mask(rows, [3]).values

# %% tf.sparse.maximum, tf.sparse.minimum
a = tf.SparseTensor([[0], [1]], [1.0, -2.0], [3])
b = tf.SparseTensor([[0]], [5.0], [3])
tf.sparse.maximum(a, b).values, tf.sparse.minimum(a, b).values

# %% tf.sparse.merge
ids = tf.SparseTensor([[0, 0], [1, 0]], tf.constant([2, 0], tf.int64), [2, 1])
weights = tf.SparseTensor([[0, 0], [1, 0]], [0.5, 0.25], [2, 1])
tf.sparse.to_dense(tf.sparse.merge(ids, weights, vocab_size=3))

# %% tf.sparse.reduce_max, tf.sparse.reduce_sum
x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, 3], [2, 3])
tf.sparse.reduce_max(x, axis=1), tf.sparse.reduce_sum(x, axis=1)

# %% tf.sparse.reduce_max_sparse, tf.sparse.reduce_sum_sparse
x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, 3], [2, 3])
tf.sparse.reduce_max_sparse(x, axis=1).values, tf.sparse.reduce_sum_sparse(x, axis=1).values

# %% tf.sparse.reorder
tf.sparse.reorder(tf.SparseTensor([[1, 0], [0, 1]], [10, 20], [2, 2])).indices

# %% tf.sparse.reset_shape
tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [5], [4, 4])).dense_shape

# %% tf.sparse.reshape
tf.sparse.reshape(tf.SparseTensor([[0, 1]], [5], [2, 2]), [4]).indices

# %% tf.sparse.retain
tf.sparse.retain(tf.SparseTensor([[0], [1]], [5, 6], [2]), [False, True]).values

# %% tf.sparse.slice
x = tf.SparseTensor([[0, 0], [1, 2]], [5, 6], [2, 3])
tf.sparse.to_dense(tf.sparse.slice(x, start=[1, 1], size=[1, 2]))

# %% tf.sparse.softmax
tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])).values

# %% tf.sparse.sparse_dense_matmul
a = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
tf.sparse.sparse_dense_matmul(a, tf.constant([[1.0], [10.0]]))

# %% tf.sparse.split
x = tf.SparseTensor([[0, 0], [0, 3]], [1, 4], [1, 4])
left, right = tf.sparse.split(sp_input=x, num_split=2, axis=1)
tf.sparse.to_dense(left), tf.sparse.to_dense(right)

# %% tf.sparse.to_dense
tf.sparse.to_dense(tf.SparseTensor([[0, 1]], [5], [2, 2]), default_value=-1)

# %% tf.sparse.to_indicator
tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], tf.constant([2, 0], tf.int64), [2, 1]), vocab_size=3)

# %% tf.sparse.transpose
tf.sparse.transpose(tf.SparseTensor([[0, 1]], [5], [1, 2])).dense_shape

# %% tf.RaggedTensor
rows = tf.RaggedTensor.from_row_lengths(values=[1, 2, 3, 4], row_lengths=[3, 0, 1])
print(rows.shape)
rows, rows.to_tensor(), tf.reduce_sum(rows, axis=1)

# %% tf.ragged.constant
tf.ragged.constant([["a"], [], ["b", "c"]])

# %% tf.ragged.constant_value, tf.ragged.RaggedTensorValue
value = tf.ragged.constant_value([[1], [2, 3]])
print(value.to_list(), isinstance(value, tf.ragged.RaggedTensorValue))

# %% tf.ragged.boolean_mask
tf.ragged.boolean_mask(tf.constant([[1, 2, 3], [4, 5, 6]]), [[True, False, True], [False, False, True]])

# %% tf.ragged.map_flat_values
tf.ragged.map_flat_values(tf.negative, tf.ragged.constant([[1, 2], [3]]))

# %% tf.ragged.placeholder
x = tf.ragged.placeholder(tf.int32, ragged_rank=1)
with tf.Session() as sess:
    print(sess.run(tf.reduce_max(x, axis=1), {x: tf.ragged.constant_value([[1, 5], [2]], dtype="int32")}))

# %% tf.ragged.row_splits_to_segment_ids, tf.ragged.segment_ids_to_row_splits
ids = tf.ragged.row_splits_to_segment_ids([0, 2, 3])
ids, tf.ragged.segment_ids_to_row_splits(ids)

# %% tf.ragged.stack
tf.ragged.stack([tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4, 5], []], dtype=tf.int32)])

# %% tf.ragged.stack_dynamic_partitions
tf.ragged.stack_dynamic_partitions(tf.constant(["a", "b", "c"]), partitions=[0, 1, 0], num_partitions=2)

# %% tf.strings.bytes_split
tf.strings.bytes_split(tf.constant(["abc", "d"]))

# %% tf.strings.ngrams
tf.strings.ngrams(tf.constant(["a", "b", "c"]), ngram_width=2)

# %% tf.strings.split
tf.strings.split(tf.constant(["the tide goes out", "and in"]), result_type="RaggedTensor")

# %% tf.strings.unicode_decode, tf.strings.unicode_encode
points = tf.strings.unicode_decode(tf.constant(["ebb", "Flut"]), "UTF-8")
points, tf.strings.unicode_encode(points, "UTF-8")

# %% tf.strings.unicode_decode_with_offsets
tf.strings.unicode_decode_with_offsets(tf.constant(["né"]), "UTF-8")

# %% tf.strings.unicode_split
tf.strings.unicode_split(tf.constant(["né"]), "UTF-8")

# %% tf.strings.unicode_split_with_offsets
tf.strings.unicode_split_with_offsets(tf.constant(["né"]), "UTF-8")
