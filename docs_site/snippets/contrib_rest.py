"""Examples of tf.contrib: pairs of words, checkpoints, grids of cells, factors, machines, test modes."""

import numpy as np

import tideflow as tf

# %% tf.contrib.text.skip_gram_sample
words = tf.constant(["the", "cat", "sat"])
tokens, labels = tf.contrib.text.skip_gram_sample(words, min_skips=1, max_skips=1)
print(tf.Session().run([tokens, labels]))

# %% tf.contrib.text.skip_gram_sample_with_text_vocab
with open("frequencies.csv", "w") as file:
    file.write("the,9\ncat,3\n")
tokens, labels = tf.contrib.text.skip_gram_sample_with_text_vocab(
    tf.constant(["the", "dog", "cat"]), "frequencies.csv", min_skips=1, max_skips=1
)
with tf.Session() as sess:
    sess.run(tf.tables_initializer())
    print(sess.run([tokens, labels]))

# %% tf.contrib.libsvm.decode_libsvm
features, labels = tf.contrib.libsvm.decode_libsvm(tf.constant(["1 0:0.5 2:3", "0 1:2"]), num_features=3)
print(tf.Session().run([tf.sparse.to_dense(features), labels]))

# %% tf.contrib.nearest_neighbor.hyperplane_lsh_probes
products = tf.constant([[1.0, -0.2, 3.0, 0.5]])
print(tf.Session().run(tf.contrib.nearest_neighbor.hyperplane_lsh_probes(products, 2, 2, 4)))

# %% tf.contrib.checkpoint.List, tf.contrib.checkpoint.Mapping, tf.contrib.checkpoint.NoDependency
layers = tf.contrib.checkpoint.List([tf.keras.layers.Dense(2)])
layers.append(tf.keras.layers.Dense(1))
root = tf.train.Checkpoint(parts=tf.contrib.checkpoint.Mapping(layers=layers))
root.cache = tf.contrib.checkpoint.NoDependency(tf.Variable(0.0))
print(len(tf.contrib.checkpoint.list_objects(root)))

# %% tf.contrib.checkpoint.NumpyState, tf.contrib.checkpoint.UniqueNameTracker
root = tf.train.Checkpoint(arrays=tf.contrib.checkpoint.NumpyState())
root.arrays.history = np.arange(3)
root.slots = tf.contrib.checkpoint.UniqueNameTracker()
root.slots.track(tf.Variable(1.0), "slot")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = root.save("./state", session=sess)
    root.arrays.history = np.zeros(1)
    root.restore(path).initialize_or_restore(sess)
print(root.arrays.history)

# %% tf.contrib.checkpoint.CheckpointableBase, tf.contrib.checkpoint.PythonStateWrapper
print(issubclass(tf.contrib.checkpoint.PythonStateWrapper, tf.contrib.checkpoint.CheckpointableBase))

# %% tf.contrib.checkpoint.dot_graph_from_checkpoint, tf.contrib.checkpoint.list_objects
root = tf.train.Checkpoint(v=tf.Variable(1.0))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = root.save("./drawn", session=sess)
print(tf.contrib.checkpoint.dot_graph_from_checkpoint(path).splitlines()[0])

# %% tf.contrib.checkpoint.split_dependency
pair = tf.Variable([1.0, 2.0], use_resource=True)
halves = tf.contrib.checkpoint.split_dependency(
    ["a", "b"],
    [tf.float32, tf.float32],
    lambda values: values.update(a=pair[0], b=pair[1]),
    lambda values: pair.assign([values["a"], values["b"]]),
    device="",
)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(**halves).save("./halves", session=sess)
print([name for name, _ in tf.train.list_variables(path)][1:3])

# %% tf.contrib.checkpoint.capture_dependencies
model = tf.contrib.checkpoint.Checkpointable()
with tf.variable_scope("model") as model.variable_scope:
    with tf.contrib.checkpoint.capture_dependencies(model):
        tf.get_variable("weights", [2], use_resource=True)
print(len(tf.contrib.checkpoint.list_objects(model)))

# %% tf.contrib.checkpoint.CheckpointableObjectGraph
print(len(tf.contrib.checkpoint.CheckpointableObjectGraph().nodes))


# %% tf.contrib.learn.SVM, tf.contrib.linear_optimizer.SDCAOptimizer
def input_fn():
    features = {"x": tf.constant([[-1.0], [2.0]]), "id": tf.constant(["a", "b"])}
    return features, tf.constant([[0], [1]])


machine = tf.contrib.learn.SVM("id", [tf.contrib.layers.real_valued_column("x")], model_dir="svm")
machine.fit(input_fn=input_fn, steps=10)
print(list(machine.predict_classes(input_fn=input_fn)))

# %% tf.contrib.factorization.GMM
points = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, 0.3], [5.0, 5.1], [5.2, 5.0], [5.1, 4.8]], np.float32)
mixture = tf.contrib.factorization.GMM(2, model_dir="gmm", initial_clusters=points[[0, 3]])
mixture.fit(input_fn=lambda: (tf.constant(points), None), steps=3)
print(mixture.clusters().round(1))


# %% tf.contrib.factorization.WALSMatrixFactorization
def matrix_fn():
    known = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1]], [1.0, 2.0, 2.0, 4.0], [2, 2])
    return {"input_rows": known, "input_cols": known}, None


wals = tf.contrib.factorization.WALSMatrixFactorization(2, 2, 1, model_dir="wals", max_sweeps=4)
wals.fit(input_fn=matrix_fn, steps=4)
print((wals.get_row_factors()[0] @ wals.get_col_factors()[0].T).round(1))

# %% tf.contrib.framework.load_and_remap_matrix_initializer, tf.contrib.framework.load_embedding_initializer
for name, text in (("old.txt", "a\nb\n"), ("new.txt", "b\nc\n")):
    with open(name, "w") as file:
        file.write(text)
with tf.Graph().as_default(), tf.Session() as sess:
    tf.get_variable("vectors", initializer=[[1.0, 1.0], [2.0, 2.0]])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "./vectors")
load = tf.contrib.framework.load_embedding_initializer(
    path, "vectors", 2, 2, "old.txt", "new.txt", initializer=tf.zeros_initializer()
)
vectors = tf.get_variable("vectors", [2, 2], initializer=load)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(vectors))

# %% tf.contrib.framework.load_linear_multiclass_bias_initializer,
# %% tf.contrib.framework.load_variable_slot_initializer
print(callable(tf.contrib.framework.load_linear_multiclass_bias_initializer("m", "b", 2, "old", "new")))

# %% tf.contrib.framework.py_func
made = tf.contrib.framework.py_func(
    lambda x, scale: {"scaled": x * scale},
    [tf.constant([1.0, 2.0])],
    {"scale": tf.constant(3.0)},
    output_types={"scaled": tf.float32},
)
print(tf.Session().run(made))

# %% tf.contrib.framework.load_checkpoint, tf.contrib.framework.load_variable,
# %% tf.contrib.framework.list_variables
v = tf.get_variable("v", initializer=1.0)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "./model")
print(tf.contrib.framework.list_variables(path), tf.contrib.framework.load_variable(path, "v"))

# %% tf.contrib.framework.init_from_checkpoint
with tf.Graph().as_default(), tf.Session() as sess:
    tf.get_variable("v", initializer=2.0)
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, "./earlier")
w = tf.get_variable("w", [])
tf.contrib.framework.init_from_checkpoint(path, {"v": w})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(w))

# %% tf.contrib.grid_rnn.GridRNNCell, tf.contrib.grid_rnn.Grid1BasicRNNCell,
# %% tf.contrib.grid_rnn.Grid1BasicLSTMCell
cell = tf.contrib.grid_rnn.GridRNNCell(3, num_dims=2, input_dims=0, output_dims=[0, 1])
outputs, _ = cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
print([output.shape for output in outputs])

# %% tf.contrib.grid_rnn.Grid2LSTMCell, tf.contrib.grid_rnn.Grid1LSTMCell, tf.contrib.grid_rnn.Grid3LSTMCell
cell = tf.contrib.grid_rnn.Grid2LSTMCell(3, use_peepholes=True)
outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 4]), dtype=tf.float32)
print(outputs[0].shape)

# %% tf.contrib.grid_rnn.Grid2BasicRNNCell, tf.contrib.grid_rnn.Grid2BasicLSTMCell,
# %% tf.contrib.grid_rnn.Grid2GRUCell
for kind in (tf.contrib.grid_rnn.Grid2BasicRNNCell, tf.contrib.grid_rnn.Grid2GRUCell):
    print(kind(3, tied=True).output_size)

# %% tf.contrib.slim.bucketize, tf.contrib.slim.sparse_feature_cross
cross = tf.contrib.slim.sparse_feature_cross([tf.constant([["a"]]), tf.constant([["b"]])])
print(tf.Session().run([tf.contrib.slim.bucketize([1.0, 5.0], [3.0]), cross.values]))

# %% tf.contrib.slim.scattered_embedding_lookup, tf.contrib.slim.scattered_embedding_lookup_sparse
print(tf.contrib.slim.scattered_embedding_lookup(tf.ones([50]), tf.constant(["a", "b"]), 4).shape)

# %% tf.contrib.slim.adaptive_clipping_fn
v = tf.get_variable("v", initializer=3.0)
clip = tf.contrib.slim.adaptive_clipping_fn()
train = tf.contrib.layers.optimize_loss(v * v, None, 0.1, "SGD", clip_gradients=clip)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(train))


# %% tf.contrib.slim.experimental, tf.contrib.slim.arg_scope_func_key
@tf.contrib.slim.experimental
def double(x):
    """Doubles."""
    return 2 * x


print(double(4))


# %% tf.contrib.eager.run_test_in_graph_and_eager_modes,
# %% tf.contrib.eager.run_all_tests_in_graph_and_eager_modes
@tf.contrib.eager.run_all_tests_in_graph_and_eager_modes
class Sums(tf.test.TestCase):
    def testSum(self):
        print(tf.executing_eagerly(), self.evaluate(tf.constant(1) + 2))


Sums("testSum").testSum()

# %% tf.contrib.eager.execution_mode, tf.contrib.eager.set_execution_mode
with tf.contrib.eager.execution_mode(tf.contrib.eager.ASYNC):
    print("all the same")

# %% tf.contrib.eager.async_wait, tf.contrib.eager.async_clear_error, tf.contrib.eager.Checkpointable
tf.contrib.eager.async_wait()
print("nothing is left to run")

# %% tf.contrib.saved_model.save_keras_model, tf.contrib.saved_model.load_keras_model
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
tf.contrib.saved_model.save_keras_model(model, "keras_model", serving_only=True)
print("saved")

# %% tf.contrib.constrained_optimization.ConstrainedMinimizationProblem,
# %% tf.contrib.constrained_optimization.ConstrainedOptimizer,
# %% tf.contrib.constrained_optimization.AdditiveExternalRegretOptimizer,
# %% tf.contrib.constrained_optimization.AdditiveSwapRegretOptimizer,
# %% tf.contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer
constrained = tf.contrib.constrained_optimization
v = tf.get_variable("v", initializer=0.0)


class Problem(constrained.ConstrainedMinimizationProblem):
    objective = property(lambda self: tf.square(v - 3.0))
    constraints = property(lambda self: tf.reshape(v - 1.0, [1]))


optimizer = constrained.AdditiveExternalRegretOptimizer(tf.train.GradientDescentOptimizer(0.1))
train = optimizer.minimize(Problem())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(200):
        sess.run(train)
    print(sess.run(v).round(2))

# %% tf.contrib.constrained_optimization.find_best_candidate_index,
# %% tf.contrib.constrained_optimization.find_best_candidate_distribution
losses, exceeding = np.array([3.0, 1.0, 2.0]), np.array([[-1.0, 0.5, -0.5]])
print(tf.contrib.constrained_optimization.find_best_candidate_index(losses, exceeding))
print(tf.contrib.constrained_optimization.find_best_candidate_distribution(losses, exceeding))
