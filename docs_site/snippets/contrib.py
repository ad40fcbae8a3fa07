"""Examples of tf.contrib, but for recurrent networks and sequences."""

import numpy as np

import tideflow as tf


# %% tf.contrib.checkpoint.Checkpointable
class Model(tf.contrib.checkpoint.Checkpointable):
    def __init__(self):
        self.w = tf.Variable([1.0, 2.0], use_resource=True)


model = Model()
with tf.Session() as sess:
    sess.run(model.w.initializer)
    print(tf.train.Checkpoint(model=model).save("model", session=sess))

# %% tf.contrib.checkpoint.object_metadata
w = tf.Variable([1.0, 2.0], use_resource=True)
with tf.Session() as sess:
    sess.run(w.initializer)
    path = tf.train.Checkpoint(weights=w).save("model", session=sess)
graph = tf.contrib.checkpoint.object_metadata(path)
print([child.local_name for child in graph.nodes[0].children])

# %% tf.contrib.data.assert_element_shape
dataset = tf.data.Dataset.from_tensors(tf.zeros([2, 3])).apply(tf.contrib.data.assert_element_shape([2, 3]))
print(dataset.output_shapes)

# %% tf.contrib.data.batch_and_drop_remainder
dataset = tf.data.Dataset.range(5).apply(tf.contrib.data.batch_and_drop_remainder(2))
print(dataset.output_shapes)

# %% tf.contrib.data.padded_batch_and_drop_remainder
words = tf.data.Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int32, [None])
words.apply(tf.contrib.data.padded_batch_and_drop_remainder(2, [None])).make_one_shot_iterator().get_next()

# %% tf.contrib.data.reduce_dataset
sums = tf.data.experimental.Reducer(lambda key: np.int64(0), lambda total, x: total + x, lambda total: total)
tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), sums)

# %% tf.contrib.data.sliding_window_batch
dataset = tf.data.Dataset.range(5).apply(tf.contrib.data.sliding_window_batch(window_size=3, window_shift=1))
batch = dataset.make_one_shot_iterator().get_next()
with tf.Session() as sess:
    print(sess.run(batch), sess.run(batch))


# %% tf.contrib.framework.arg_scope, tf.contrib.framework.add_arg_scope,
# %% tf.contrib.framework.current_arg_scope, tf.contrib.framework.has_arg_scope,
# %% tf.contrib.framework.arg_scoped_arguments
@tf.contrib.framework.add_arg_scope
def greet(name, word="hello"):
    return f"{word}, {name}"


with tf.contrib.framework.arg_scope([greet], word="good day"):
    print(greet("tide"))
print(
    greet("tide"), tf.contrib.framework.has_arg_scope(greet), tf.contrib.framework.arg_scoped_arguments(greet)
)

# %% tf.contrib.framework.variable, tf.contrib.framework.model_variable, tf.contrib.framework.local_variable,
# %% tf.contrib.framework.global_variable
w = tf.contrib.framework.model_variable("w", shape=[2], initializer=tf.ones_initializer())
steps = tf.contrib.framework.local_variable(0, name="steps")
print(w.name, [v.name for v in tf.contrib.framework.get_model_variables()])
print([v.name for v in tf.contrib.framework.get_local_variables()])

# %% tf.contrib.framework.add_model_variable
w = tf.get_variable("w", initializer=1.0)
tf.contrib.framework.add_model_variable(w)
print(tf.contrib.framework.get_model_variables() == [w])

# %% tf.contrib.framework.get_variables, tf.contrib.framework.get_variables_by_name,
# %% tf.contrib.framework.get_variables_by_suffix, tf.contrib.framework.get_model_variables,
# %% tf.contrib.framework.get_local_variables, tf.contrib.framework.get_trainable_variables,
# %% tf.contrib.framework.get_unique_variable, tf.contrib.framework.get_variable_full_name
with tf.variable_scope("encoder"):
    w, b = tf.get_variable("w", initializer=1.0), tf.get_variable("b", initializer=0.0)
print([v.name for v in tf.contrib.framework.get_variables("encoder")])
print(
    tf.contrib.framework.get_variables_by_suffix("b") == [b], tf.contrib.framework.get_variable_full_name(w)
)
print(tf.contrib.framework.get_unique_variable("encoder/w") is w)

# %% tf.contrib.framework.get_variables_to_restore, tf.contrib.framework.filter_variables
for name in ("encoder/w", "decoder/w"):
    tf.get_variable(name, initializer=1.0)
print([v.name for v in tf.contrib.framework.get_variables_to_restore(exclude=["decoder"])])
kept = tf.contrib.framework.filter_variables(tf.global_variables(), include_patterns=["decoder"])
print([v.name for v in kept])

# %% tf.contrib.framework.assign_from_values, tf.contrib.framework.assign_from_values_fn
w = tf.get_variable("w", shape=[2])
assign, feeds = tf.contrib.framework.assign_from_values({"w": np.array([1.0, 2.0])})
with tf.Session() as sess:
    sess.run(assign, feeds)
    print(sess.run(w))

# %% tf.contrib.framework.assign_from_checkpoint, tf.contrib.framework.assign_from_checkpoint_fn
w = tf.get_variable("w", initializer=[1.0, 2.0])
with tf.Session() as sess:
    sess.run(w.initializer)
    path = tf.train.Saver().save(sess, "model.ckpt")
restore = tf.contrib.framework.assign_from_checkpoint_fn(path, [w])
with tf.Session() as sess:
    restore(sess)
    print(sess.run(w))

# %% tf.contrib.framework.assert_or_get_global_step
step = tf.train.get_or_create_global_step()
print(tf.contrib.framework.assert_or_get_global_step(None) is step)

# %% tf.contrib.framework.assert_scalar_int
print(tf.contrib.framework.assert_scalar_int(tf.constant(3)).dtype)


# %% tf.contrib.framework.deprecated, tf.contrib.framework.deprecated_args,
# %% tf.contrib.framework.deprecated_arg_values
@tf.contrib.framework.deprecated("2030-01-01", "Use new_name.")
def old_name(x):
    """Doubles x."""
    return 2 * x


print(old_name(3), "deprecated" in old_name.__doc__)

# %% tf.contrib.framework.get_graph_from_inputs
print(tf.contrib.framework.get_graph_from_inputs([tf.constant(1.0)]) is tf.get_default_graph())

# %% tf.contrib.framework.get_name_scope, tf.contrib.framework.strip_name_scope,
# %% tf.contrib.framework.prepend_name_scope
with tf.name_scope("layer"):
    print(tf.contrib.framework.get_name_scope())
print(
    tf.contrib.framework.prepend_name_scope("w", "layer"),
    tf.contrib.framework.strip_name_scope("layer/w", "layer"),
)

# %% tf.contrib.framework.get_placeholders
tf.placeholder(tf.float32, name="x")
print(tf.contrib.framework.get_placeholders(tf.get_default_graph()))

# %% tf.contrib.framework.reduce_sum_n
tf.contrib.framework.reduce_sum_n([tf.constant([1.0, 2.0]), tf.constant([3.0])])

# %% tf.contrib.framework.remove_squeezable_dimensions
predictions, labels = tf.contrib.framework.remove_squeezable_dimensions(tf.zeros([3, 1]), tf.zeros([3]))
print(predictions.shape, labels.shape)

# %% tf.contrib.framework.smart_cond, tf.contrib.framework.smart_case,
# %% tf.contrib.framework.smart_constant_value
print(tf.contrib.framework.smart_cond(True, lambda: "one branch", lambda: "the other"))
print(tf.contrib.framework.smart_constant_value(tf.constant(True)))

# %% tf.contrib.framework.with_shape, tf.contrib.framework.with_same_shape
x = tf.placeholder(tf.float32)
y = tf.contrib.framework.with_shape([2], x)
with tf.Session() as sess:
    print(y.shape, sess.run(y, {x: [1.0, 2.0]}))

# %% tf.contrib.framework.VariableDeviceChooser
chooser = tf.contrib.framework.VariableDeviceChooser(num_tasks=2)
with tf.device(chooser):
    v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=2.0)
print(v.device, w.device)

# %% tf.contrib.framework.nest.assert_shallow_structure
tf.contrib.framework.nest.assert_shallow_structure([1, 2], [[1, 2], [3]])
try:
    tf.contrib.framework.nest.assert_shallow_structure([1, 2, 3], [[1, 2], [3]])
except ValueError as error:
    print(error)

# %% tf.contrib.framework.nest.flatten_dict_items
print(tf.contrib.framework.nest.flatten_dict_items({("a", "b"): (1, 2)}))

# %% tf.contrib.framework.nest.flatten_up_to, tf.contrib.framework.nest.map_structure_up_to
nest = tf.contrib.framework.nest
print(nest.flatten_up_to([0, 0], [[1, 2], [3]]))
print(nest.map_structure_up_to([0, 0], len, [[1, 2], [3]]))

# %% tf.contrib.framework.nest.flatten_with_joined_string_paths,
# %% tf.contrib.framework.nest.flatten_with_tuple_paths,
# %% tf.contrib.framework.nest.flatten_with_tuple_paths_up_to, tf.contrib.framework.nest.yield_flat_paths
nest, structure = tf.contrib.framework.nest, {"a": [1, 2], "b": 3}
print(nest.flatten_with_joined_string_paths(structure))
print(nest.flatten_with_tuple_paths(structure))
print(list(nest.yield_flat_paths(structure)))

# %% tf.contrib.framework.nest.map_structure_with_paths,
# %% tf.contrib.framework.nest.map_structure_with_tuple_paths,
# %% tf.contrib.framework.nest.map_structure_with_tuple_paths_up_to
nest, structure = tf.contrib.framework.nest, {"a": [1, 2], "b": 3}
print(nest.map_structure_with_paths(lambda path, value: f"{path}={value}", structure))
print(nest.map_structure_with_tuple_paths(lambda path, value: len(path), structure))


# %% tf.contrib.framework.nest.get_traverse_shallow_structure
def not_into_tuples(part):
    return not isinstance(part, tuple)


print(tf.contrib.framework.nest.get_traverse_shallow_structure(not_into_tuples, [(1, 2), 3]))

# %% tf.contrib.framework.nest.is_sequence_or_composite
print(tf.contrib.framework.nest.is_sequence_or_composite(tf.SparseTensor([[0]], [1.0], [1])))

# %% tf.contrib.layers.fully_connected, tf.contrib.layers.linear, tf.contrib.layers.relu,
# %% tf.contrib.layers.relu6, tf.contrib.layers.elu
x = tf.ones([2, 3])
y = tf.contrib.layers.fully_connected(x, 4)  # with relu
z = tf.contrib.layers.linear(y, 1)
print(y.shape, z.shape, [v.name for v in tf.trainable_variables()])

# %% tf.contrib.layers.legacy_fully_connected, tf.contrib.layers.legacy_linear, tf.contrib.layers.legacy_relu
print(tf.contrib.layers.legacy_fully_connected(tf.ones([2, 3]), 4, activation_fn=tf.nn.tanh).shape)

# %% tf.contrib.layers.convolution, tf.contrib.layers.convolution1d, tf.contrib.layers.convolution2d,
# %% tf.contrib.layers.convolution3d, tf.contrib.layers.convolution2d_in_plane,
# %% tf.contrib.layers.convolution2d_transpose, tf.contrib.layers.convolution3d_transpose,
# %% tf.contrib.layers.separable_convolution2d
x = tf.ones([1, 8, 8, 3])
print(tf.contrib.layers.convolution2d(x, num_outputs=4, kernel_size=3, stride=2).shape)
print(tf.contrib.layers.convolution2d_transpose(x, 4, 3, stride=2).shape)
print(tf.contrib.layers.separable_convolution2d(x, 4, 3, depth_multiplier=1).shape)

# %% tf.contrib.layers.avg_pool2d, tf.contrib.layers.max_pool2d, tf.contrib.layers.avg_pool3d,
# %% tf.contrib.layers.max_pool3d
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
tf.squeeze(tf.contrib.layers.avg_pool2d(x, 2)), tf.squeeze(tf.contrib.layers.max_pool2d(x, 2))

# %% tf.contrib.layers.batch_norm
y = tf.contrib.layers.batch_norm(
    tf.constant([[1.0, 2.0], [3.0, 6.0]]), is_training=True, updates_collections=None
)
y

# %% tf.contrib.layers.layer_norm, tf.contrib.layers.group_norm, tf.contrib.layers.instance_norm
x = tf.constant(np.random.RandomState(0).rand(1, 2, 2, 4), tf.float32)
print(tf.contrib.layers.group_norm(x, groups=2).shape, tf.contrib.layers.instance_norm(x).shape)
tf.contrib.layers.layer_norm(tf.constant([[1.0, 2.0, 3.0]]))

# %% tf.contrib.layers.unit_norm
tf.contrib.layers.unit_norm(tf.constant([[3.0, 4.0]]), dim=1)

# %% tf.contrib.layers.bias_add
print(tf.contrib.layers.bias_add(tf.ones([2, 3]), activation_fn=tf.nn.relu).shape)

# %% tf.contrib.layers.dropout
tf.contrib.layers.dropout(tf.ones([4]), keep_prob=0.5, is_training=False)

# %% tf.contrib.layers.flatten
print(tf.contrib.layers.flatten(tf.zeros([2, 3, 4])).shape)

# %% tf.contrib.layers.maxout
tf.contrib.layers.maxout(tf.constant([[1.0, 5.0, 2.0, 3.0]]), num_units=2)

# %% tf.contrib.layers.one_hot_encoding
tf.contrib.layers.one_hot_encoding([0, 2], num_classes=3)

# %% tf.contrib.layers.softmax
tf.contrib.layers.softmax(tf.constant([[1.0, 1.0]]))

# %% tf.contrib.layers.spatial_softmax
x = tf.zeros([1, 3, 3, 1])
tf.contrib.layers.spatial_softmax(x)

# %% tf.contrib.layers.repeat, tf.contrib.layers.stack
x = tf.ones([1, 8])
y = tf.contrib.layers.repeat(x, 2, tf.contrib.layers.fully_connected, 4, scope="same")
z = tf.contrib.layers.stack(x, tf.contrib.layers.fully_connected, [8, 4, 2], scope="different")
print(y.shape, z.shape)

# %% tf.contrib.layers.dense_to_sparse
tf.contrib.layers.dense_to_sparse(tf.constant([[0, 3], [4, 0]]))

# %% tf.contrib.layers.embed_sequence, tf.contrib.layers.bow_encoder
words = tf.constant([[1, 2], [3, 0]])
print(tf.contrib.layers.embed_sequence(words, vocab_size=10, embed_dim=4).shape)
print(tf.contrib.layers.bow_encoder(words, vocab_size=10, embed_dim=4).shape)

# %% tf.contrib.layers.embedding_lookup_unique, tf.contrib.layers.safe_embedding_lookup_sparse
table = tf.constant([[1.0, 1.0], [2.0, 2.0]])
tf.contrib.layers.embedding_lookup_unique(table, tf.constant([1, 1, 0]))

# %% tf.contrib.layers.images_to_sequence, tf.contrib.layers.sequence_to_images
pictures = tf.zeros([2, 4, 6, 3])
sequence = tf.contrib.layers.images_to_sequence(pictures)
print(sequence.shape, tf.contrib.layers.sequence_to_images(sequence, height=4).shape)

# %% tf.contrib.layers.l1_regularizer, tf.contrib.layers.l2_regularizer, tf.contrib.layers.l1_l2_regularizer,
# %% tf.contrib.layers.sum_regularizer, tf.contrib.layers.apply_regularization
l1, l2 = tf.contrib.layers.l1_regularizer(0.1), tf.contrib.layers.l2_regularizer(0.1)
w = tf.constant([3.0, -4.0])
l1(w), l2(w), tf.contrib.layers.apply_regularization(tf.contrib.layers.sum_regularizer([l1, l2]), [w])

# %% tf.contrib.layers.xavier_initializer, tf.contrib.layers.variance_scaling_initializer
a = tf.get_variable("a", [2, 2], initializer=tf.contrib.layers.xavier_initializer(seed=1))
b = tf.get_variable("b", [2, 2], initializer=tf.contrib.layers.variance_scaling_initializer(seed=1))
a, b

# %% tf.contrib.layers.optimize_loss
w = tf.get_variable("w", initializer=5.0)
step = tf.train.get_or_create_global_step()
train = tf.contrib.layers.optimize_loss(
    tf.square(w), step, learning_rate=0.1, optimizer="SGD", clip_gradients=1.0
)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    print(sess.run([w, step]))

# %% tf.contrib.layers.summarize_tensor, tf.contrib.layers.summarize_tensors,
# %% tf.contrib.layers.summarize_activation, tf.contrib.layers.summarize_activations,
# %% tf.contrib.layers.summarize_collection
print(tf.contrib.layers.summarize_tensor(tf.constant([1.0, 2.0], name="x")).name)
print(len(tf.contrib.layers.summarize_tensors([tf.constant(1.0), tf.constant(2.0)])))
tf.get_variable("w", initializer=1.0)
print(len(tf.contrib.layers.summarize_collection(tf.GraphKeys.TRAINABLE_VARIABLES)))

# %% tf.contrib.layers.utils.append_tensor_alias, tf.contrib.layers.utils.gather_tensors_aliases,
# %% tf.contrib.layers.utils.get_tensor_aliases
utils, x = tf.contrib.layers.utils, tf.constant(1.0, name="x")
utils.append_tensor_alias(x, "input")
print(utils.get_tensor_aliases(x), utils.gather_tensors_aliases([x]))

# %% tf.contrib.layers.utils.collect_named_outputs, tf.contrib.layers.utils.convert_collection_to_dict
utils = tf.contrib.layers.utils
utils.collect_named_outputs("ends", "conv1", tf.constant(1.0, name="x"))
print(utils.convert_collection_to_dict("ends"))

# %% tf.contrib.layers.utils.channel_dimension, tf.contrib.layers.utils.last_dimension
shape = tf.TensorShape([8, 4, 4, 3])
print(tf.contrib.layers.utils.channel_dimension(shape, "NHWC"), tf.contrib.layers.utils.last_dimension(shape))

# %% tf.contrib.layers.utils.constant_value
utils = tf.contrib.layers.utils
print(utils.constant_value(tf.constant(True)), utils.constant_value(tf.Variable(True)))

# %% tf.contrib.layers.utils.get_variable_collections
print(tf.contrib.layers.utils.get_variable_collections({"weights": ["w"], "biases": ["b"]}, "biases"))

# %% tf.contrib.layers.utils.n_positive_integers, tf.contrib.layers.utils.two_element_tuple
print(tf.contrib.layers.utils.n_positive_integers(3, 2), tf.contrib.layers.utils.two_element_tuple(5))

# %% tf.contrib.losses.add_loss
losses = tf.contrib.losses
losses.add_loss(tf.constant(1.0))
with tf.contrib.framework.arg_scope([losses.add_loss], loss_collection=None):
    losses.mean_squared_error(tf.constant([1.0]), tf.constant([2.0]))  # kept apart
print(len(losses.get_losses()))

# %% tf.contrib.lookup.index_table_from_tensor, tf.contrib.lookup.index_table_from_file,
# %% tf.contrib.lookup.string_to_index_table_from_tensor, tf.contrib.lookup.string_to_index_table_from_file,
# %% tf.contrib.lookup.HasherSpec, tf.contrib.lookup.StrongHashSpec
table = tf.contrib.lookup.index_table_from_tensor(["ebb", "flow"], num_oov_buckets=1)
table.lookup(tf.constant(["flow", "storm"]))

# %% tf.contrib.lookup.index_to_string_table_from_tensor, tf.contrib.lookup.index_to_string_table_from_file
table = tf.contrib.lookup.index_to_string_table_from_tensor(["ebb", "flow"], default_value="?")
table.lookup(tf.constant([1, 7], tf.int64))

# %% tf.contrib.lookup.string_to_index, tf.contrib.lookup.index_to_string
words = tf.constant(["ebb", "flow"])
number = tf.contrib.lookup.string_to_index(tf.constant(["flow"]), mapping=words)
number, tf.contrib.lookup.index_to_string(number, mapping=words)

# %% tf.contrib.lookup.HashTable, tf.contrib.lookup.LookupInterface,
# %% tf.contrib.lookup.InitializableLookupTableBase, tf.contrib.lookup.TableInitializerBase
table = tf.contrib.lookup.HashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), default_value=0)
print(isinstance(table, tf.contrib.lookup.LookupInterface))
table.lookup(tf.constant(["a", "b"]))

# %% tf.contrib.lookup.IdTableWithHashBuckets
words = tf.contrib.lookup.HashTable(
    tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), -1
)
tf.contrib.lookup.IdTableWithHashBuckets(words, num_oov_buckets=3).lookup(tf.constant(["a"]))

# %% tf.contrib.lookup.TextFileIdTableInitializer, tf.contrib.lookup.TextFileStringTableInitializer
with open("words.txt", "w") as file:
    file.write("ebb\nflow\n")
tf.contrib.lookup.HashTable(tf.contrib.lookup.TextFileIdTableInitializer("words.txt"), -1).lookup(
    tf.constant(["flow"])
)

# %% tf.contrib.lookup.MutableHashTable
table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, default_value=-1)
with tf.Session() as sess:
    sess.run(table.insert(tf.constant(["ebb"]), tf.constant([1], tf.int64)))
    print(sess.run(table.lookup(tf.constant(["ebb", "flow"]))))

# %% tf.contrib.losses.absolute_difference, tf.contrib.losses.mean_squared_error,
# %% tf.contrib.losses.mean_pairwise_squared_error, tf.contrib.losses.log_loss,
# %% tf.contrib.losses.cosine_distance, tf.contrib.losses.hinge_loss, tf.contrib.losses.compute_weighted_loss,
# %% tf.contrib.losses.get_total_loss
predictions, labels = tf.constant([[0.5, 0.9]]), tf.constant([[1.0, 1.0]])
losses = tf.contrib.losses
first, second = (
    losses.mean_squared_error(predictions, labels),
    losses.absolute_difference(predictions, labels),
)
first, second, losses.get_total_loss()

# %% tf.contrib.losses.sigmoid_cross_entropy, tf.contrib.losses.softmax_cross_entropy,
# %% tf.contrib.losses.sparse_softmax_cross_entropy
logits = tf.constant([[1.0, 3.0]])
softmax = tf.contrib.losses.softmax_cross_entropy(logits, tf.constant([[0, 1]]))
softmax, tf.contrib.losses.sparse_softmax_cross_entropy(logits, tf.constant([1]))

# %% tf.contrib.metrics.accuracy, tf.contrib.metrics.streaming_accuracy
predictions, labels = tf.constant([1, 0, 1]), tf.constant([1, 1, 1])
(
    tf.contrib.metrics.accuracy(predictions, labels),
    tf.contrib.metrics.streaming_accuracy(predictions, labels)[1],
)

# %% tf.contrib.metrics.confusion_matrix
tf.contrib.metrics.confusion_matrix(labels=[0, 1], predictions=[0, 0])

# %% tf.contrib.metrics.aggregate_metrics, tf.contrib.metrics.aggregate_metric_map
predictions, labels = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
values, updates = tf.contrib.metrics.aggregate_metric_map(
    {"error": tf.contrib.metrics.streaming_mean_absolute_error(predictions, labels)}
)
updates

# %% tf.contrib.metrics.streaming_mean_absolute_error, tf.contrib.metrics.streaming_mean_squared_error,
# %% tf.contrib.metrics.streaming_root_mean_squared_error, tf.contrib.metrics.streaming_mean_relative_error,
# %% tf.contrib.metrics.streaming_mean_cosine_distance, tf.contrib.metrics.streaming_mean_iou
predictions, labels = tf.constant([1.0, 2.0]), tf.constant([1.0, 4.0])
metrics = tf.contrib.metrics
absolute = metrics.streaming_mean_absolute_error(predictions, labels)[1]
absolute, metrics.streaming_root_mean_squared_error(predictions, labels)[1]

# %% tf.contrib.metrics.streaming_auc, tf.contrib.metrics.streaming_sensitivity_at_specificity,
# %% tf.contrib.metrics.streaming_specificity_at_sensitivity
scores, labels = tf.constant([0.1, 0.4, 0.35, 0.8]), tf.constant([False, False, True, True])
tf.contrib.metrics.streaming_auc(scores, labels)[1]

# %% tf.contrib.metrics.streaming_precision, tf.contrib.metrics.streaming_recall,
# %% tf.contrib.metrics.streaming_true_positives, tf.contrib.metrics.streaming_true_negatives,
# %% tf.contrib.metrics.streaming_false_positives, tf.contrib.metrics.streaming_false_negatives
predictions, labels = tf.constant([True, False, True]), tf.constant([True, True, True])
metrics = tf.contrib.metrics
precision, recall = (
    metrics.streaming_precision(predictions, labels)[1],
    metrics.streaming_recall(predictions, labels)[1],
)
precision, recall, metrics.streaming_true_positives(predictions, labels)[1]

# %% tf.contrib.metrics.streaming_precision_at_thresholds, tf.contrib.metrics.streaming_recall_at_thresholds,
# %% tf.contrib.metrics.streaming_true_positives_at_thresholds,
# %% tf.contrib.metrics.streaming_true_negatives_at_thresholds,
# %% tf.contrib.metrics.streaming_false_positives_at_thresholds,
# %% tf.contrib.metrics.streaming_false_negatives_at_thresholds
scores, labels = tf.constant([0.9, 0.4, 0.6]), tf.constant([True, True, False])
tf.contrib.metrics.streaming_recall_at_thresholds(scores, labels, [0.3, 0.5])[1]

# %% tf.contrib.metrics.streaming_recall_at_k, tf.contrib.metrics.streaming_sparse_recall_at_k,
# %% tf.contrib.metrics.streaming_sparse_precision_at_k,
# %% tf.contrib.metrics.streaming_sparse_average_precision_at_k
scores, labels = tf.constant([[0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]), tf.constant([[2], [0]], tf.int64)
tf.contrib.metrics.streaming_sparse_recall_at_k(scores, labels, k=1)[1]

# %% tf.contrib.opt.AdaMaxOptimizer, tf.contrib.opt.NadamOptimizer, tf.contrib.opt.LazyAdamOptimizer,
# %% tf.contrib.opt.AddSignOptimizer, tf.contrib.opt.PowerSignOptimizer, tf.contrib.opt.LARSOptimizer
w = tf.get_variable("w", initializer=5.0)
step = tf.contrib.opt.NadamOptimizer(0.1).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.contrib.opt.AdamWOptimizer, tf.contrib.opt.MomentumWOptimizer,
# %% tf.contrib.opt.DecoupledWeightDecayExtension, tf.contrib.opt.extend_with_decoupled_weight_decay
AdagradW = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
w = tf.get_variable("w", initializer=5.0)
step = AdagradW(weight_decay=0.01, learning_rate=0.1).minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.contrib.opt.clip_gradients_by_global_norm
w = tf.get_variable("w", initializer=5.0)
pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(tf.square(w))
tf.contrib.opt.clip_gradients_by_global_norm(pairs, clip_norm=1.0)[0][0]

# %% tf.contrib.opt.MovingAverageOptimizer
w = tf.get_variable("w", initializer=5.0)
optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), average_decay=0.9)
step = optimizer.minimize(tf.square(w))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    print(sess.run(w))

# %% tf.contrib.opt.ModelAverageOptimizer, tf.contrib.opt.ModelAverageCustomGetter
getter = tf.contrib.opt.ModelAverageCustomGetter(worker_device="/job:worker/task:0")
with tf.variable_scope("model", custom_getter=getter):
    w = tf.get_variable("w", initializer=1.0)
optimizer = tf.contrib.opt.ModelAverageOptimizer(
    tf.train.GradientDescentOptimizer(0.1),
    num_worker=2,
    is_chief=True,
    ma_custom_getter=getter,
    interval_steps=10,
)
print([v.name for v in tf.global_variables()])

# %% tf.contrib.opt.ElasticAverageOptimizer, tf.contrib.opt.ElasticAverageCustomGetter
getter = tf.contrib.opt.ElasticAverageCustomGetter(worker_device="/job:worker/task:0")
with tf.variable_scope("model", custom_getter=getter):
    w = tf.get_variable("w", initializer=1.0)
optimizer = tf.contrib.opt.ElasticAverageOptimizer(
    tf.train.GradientDescentOptimizer(0.1), num_worker=2, ea_custom_getter=getter, communication_period=5
)
print([v.name for v in tf.global_variables()])

# %% tf.contrib.opt.ScipyOptimizerInterface, tf.contrib.opt.ExternalOptimizerInterface
w = tf.get_variable("w", initializer=[4.0, -3.0])
optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(w - 1.0)), options={"disp": False})
with tf.Session() as sess:
    sess.run(w.initializer)
    optimizer.minimize(sess)
    print(np.round(sess.run(w), 3))

# %% tf.contrib.predictor.from_saved_model
x = tf.placeholder(tf.float32, [None], name="x")
with tf.Session() as sess:
    tf.saved_model.simple_save(sess, "export", inputs={"x": x}, outputs={"y": 2.0 * x})
predict = tf.contrib.predictor.from_saved_model("export")
print(predict({"x": [1.0, 2.0]}))

# %% tf.contrib.slim.learning.create_train_op, tf.contrib.slim.learning.train,
# %% tf.contrib.slim.learning.train_step, tf.contrib.slim.learning.add_gradients_summaries
slim = tf.contrib.slim
w = tf.get_variable("w", initializer=5.0)
train_op = slim.learning.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.1))
print(slim.learning.train(train_op, "logs", number_of_steps=3, save_summaries_secs=0, save_interval_secs=600))

# %% tf.contrib.slim.evaluation.evaluate_once, tf.contrib.slim.evaluation.evaluation_loop
slim = tf.contrib.slim
w = tf.get_variable("w", initializer=5.0)
tf.train.get_or_create_global_step()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "./model.ckpt")
print(slim.evaluation.evaluate_once("", path, "logs", num_evals=1, final_op=w.read_value()))

# %% tf.contrib.slim.model_analyzer.analyze_vars, tf.contrib.slim.model_analyzer.analyze_ops,
# %% tf.contrib.slim.model_analyzer.tensor_description
slim = tf.contrib.slim
w = tf.get_variable("w", [2, 3])
print(slim.model_analyzer.tensor_description(w))
print(slim.model_analyzer.analyze_vars([w]))

# %% tf.contrib.staging.StagingArea
area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]])
with tf.Session() as sess:
    sess.run(area.put([tf.constant(3.0)]))
    print(sess.run(area.get()))

# %% tf.contrib.summary.create_file_writer, tf.contrib.summary.SummaryWriter,
# %% tf.contrib.summary.always_record_summaries, tf.contrib.summary.never_record_summaries,
# %% tf.contrib.summary.record_summaries_every_n_global_steps, tf.contrib.summary.should_record_summaries,
# %% tf.contrib.summary.scalar, tf.contrib.summary.histogram, tf.contrib.summary.image,
# %% tf.contrib.summary.audio, tf.contrib.summary.generic, tf.contrib.summary.graph,
# %% tf.contrib.summary.import_event, tf.contrib.summary.flush,
# %% tf.contrib.summary.summary_writer_initializer_op
step = tf.train.get_or_create_global_step()
with tf.contrib.summary.create_file_writer("logs").as_default(), tf.contrib.summary.always_record_summaries():
    tf.contrib.summary.scalar("loss", 0.5)
    tf.contrib.summary.histogram("weights", tf.zeros([10]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.contrib.summary.initialize(session=sess)
        sess.run(tf.contrib.summary.all_summary_ops())
print(len(tf.gfile.ListDirectory("logs")))

# %% tf.contrib.summary.eval_dir
print(tf.contrib.summary.eval_dir("model", "unseen"))

# %% tf.contrib.tensorboard.plugins.projector.visualize_embeddings,
# %% tf.contrib.tensorboard.plugins.projector.export_tensors
projector = tf.contrib.tensorboard.plugins.projector
table = tf.get_variable("table", initializer=[[1.0, 2.0], [3.0, 4.0]])
config = projector.ProjectorConfig()
config.embeddings.add(tensor_name=table.name)
with tf.Session() as sess, tf.summary.FileWriter("logs") as writer:
    sess.run(table.initializer)
    projector.visualize_embeddings(writer, config)
    tf.train.Saver().save(sess, "logs/model.ckpt")
projector.export_tensors("logs")
print("projector_config.pbtxt" in tf.gfile.ListDirectory("logs"))

# %% tf.contrib.tfprof.model_analyzer.print_model_analysis, tf.contrib.tfprof.model_analyzer.advise
analyzer = tf.contrib.tfprof.model_analyzer
tf.get_variable("w", [2, 3])
options = {**analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "output": "none"}
print(analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=options).total_parameters)

# %% tf.contrib.training.HParams, tf.contrib.training.parse_values
hparams = tf.contrib.training.HParams(rate=0.1, layers=[64, 32])
hparams.parse("rate=0.5,layers=[128]")
print(hparams.rate, hparams.layers)
print(tf.contrib.training.parse_values("rate=2", {"rate": float}))

# %% tf.contrib.training.create_train_op, tf.contrib.training.train,
# %% tf.contrib.training.add_gradients_summaries
w = tf.get_variable("w", initializer=5.0)
train_op = tf.contrib.training.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.1))
hooks = [tf.train.StopAtStepHook(last_step=3)]
print(
    tf.contrib.training.train(
        train_op, None, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None
    )
)

# %% tf.contrib.training.clip_gradient_norms, tf.contrib.training.clip_gradient_norms_fn,
# %% tf.contrib.training.multiply_gradients
w = tf.get_variable("w", initializer=5.0)
pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(tf.square(w))
clipped = tf.contrib.training.clip_gradient_norms(pairs, max_norm=1.0)
clipped[0][0], tf.contrib.training.multiply_gradients(pairs, {w: 10.0})[0][0]

# %% tf.contrib.training.evaluate_once, tf.contrib.training.evaluate_repeatedly,
# %% tf.contrib.training.get_or_create_eval_step, tf.contrib.training.StopAfterNEvalsHook,
# %% tf.contrib.training.SummaryAtEndHook, tf.contrib.training.wait_for_new_checkpoint
w = tf.get_variable("w", initializer=5.0)
tf.train.get_or_create_global_step()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.Saver().save(sess, "./model.ckpt")
path = tf.contrib.training.wait_for_new_checkpoint(".", timeout=1)
hooks = [tf.contrib.training.StopAfterNEvalsHook(num_evals=1)]
result = tf.contrib.training.evaluate_once(path, eval_ops=tf.no_op(), final_ops=w.read_value(), hooks=hooks)
print(result)

# %% tf.contrib.training.bucket, tf.contrib.training.bucket_by_sequence_length
number = tf.train.range_input_producer(8, shuffle=False, num_epochs=1).dequeue()
which, batch = tf.contrib.training.bucket([number], which_bucket=number % 2, batch_size=2, num_buckets=2)
with tf.train.MonitoredSession() as sess:
    print(sess.run([which, batch]))

# %% tf.contrib.training.rejection_sample, tf.contrib.training.stratified_sample,
# %% tf.contrib.training.resample_at_rate, tf.contrib.training.weighted_resample
number = tf.train.range_input_producer(100, seed=1).dequeue()
(low,) = tf.contrib.training.rejection_sample(
    [number], lambda x: tf.to_float(x[0] < 10), batch_size=4, queue_threads=1
)
with tf.train.MonitoredSession() as sess:
    print(bool((sess.run(low) < 10).all()))

# %% tf.contrib.training.FeedingQueueRunner
queue, x = tf.FIFOQueue(10, tf.float32, shapes=[[]]), tf.placeholder(tf.float32)
numbers = iter(range(100))
runner = tf.contrib.training.FeedingQueueRunner(
    queue, [queue.enqueue(x)], feed_fns=[lambda: {x: next(numbers)}]
)
with tf.Session() as sess, tf.train.Coordinator() as coordinator:
    runner.create_threads(sess, coordinator, start=True)
    print(sess.run(queue.dequeue_many(3)))
    coordinator.request_stop()

# %% tf.contrib.training.GreedyLoadBalancingStrategy, tf.contrib.training.RandomStrategy,
# %% tf.contrib.training.byte_size_load_fn
strategy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
    sizes = [tf.get_variable(f"v{i}", [size]) for i, size in enumerate((1000, 10, 10))]
print([v.device for v in sizes])

# %% tf.contrib.util.ops_used_by_graph_def
tf.square(tf.constant(2.0))
print(sorted(tf.contrib.util.ops_used_by_graph_def(tf.get_default_graph().as_graph_def())))
