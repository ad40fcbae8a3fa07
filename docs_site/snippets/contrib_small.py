"""Examples of the small parts of tf.contrib, and of tf.xla."""

import tideflow as tf

# %% tf.contrib.sparsemax.sparsemax, tf.contrib.sparsemax.sparsemax_loss
logits = tf.constant([[2.0, 1.0, -1.0]])
probabilities = tf.contrib.sparsemax.sparsemax(logits)
loss = tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, tf.constant([[1.0, 0.0, 0.0]]))
with tf.Session() as session:
    print(session.run([probabilities, loss]))

# %% tf.contrib.nn.alpha_dropout, tf.contrib.nn.scaled_softplus, tf.contrib.nn.nth_element,
# %% tf.contrib.nn.conv1d_transpose
nn = tf.contrib.nn
with tf.Session() as session:
    print(session.run([nn.scaled_softplus([-1.0, 2.0], 0.5), nn.nth_element([3.0, 1.0, 2.0], 1)]))
    print(session.run(nn.alpha_dropout(tf.ones([4]), 0.5, seed=1)))
    print(session.run(nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2)).shape)

# %% tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits,
# %% tf.contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
# %% tf.contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits
nn = tf.contrib.nn
logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
losses = [
    nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
    nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1]),
    nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels),
]
with tf.Session() as session:
    print(session.run(losses))

# %% tf.contrib.nn.sampled_sparse_softmax_loss, tf.contrib.nn.rank_sampled_softmax_loss
weights, biases, inputs = tf.ones([6, 3]), tf.zeros([6]), tf.ones([2, 3])
labels = tf.constant([[1], [2]], tf.int64)
drawn = (tf.constant([0, 3, 4], tf.int64), tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.1]))
loss = tf.contrib.nn.sampled_sparse_softmax_loss(weights, biases, labels, inputs, 3, 6, drawn)
hardest = tf.contrib.nn.rank_sampled_softmax_loss(
    weights, biases, labels, inputs, 3, 2, 6, 1, drawn, 1.0, True, "div"
)
with tf.Session() as session:
    print(session.run([loss, hardest]))

# %% tf.contrib.solvers.linear_equations.conjugate_gradient, tf.contrib.solvers.least_squares.cgls,
# %% tf.contrib.solvers.util.create_operator, tf.contrib.solvers.util.identity_operator,
# %% tf.contrib.solvers.util.dot, tf.contrib.solvers.util.l2norm, tf.contrib.solvers.util.l2norm_squared,
# %% tf.contrib.solvers.util.l2normalize
solvers = tf.contrib.solvers
matrix, rhs = tf.constant([[4.0, 1.0], [1.0, 3.0]]), tf.constant([1.0, 2.0])
operator = solvers.util.create_operator(matrix)
same = solvers.util.identity_operator(matrix)
with tf.Session() as session:
    print(session.run(solvers.linear_equations.conjugate_gradient(operator, rhs, same).x))
    print(session.run(solvers.least_squares.cgls(operator, rhs).x))
    print(
        session.run([solvers.util.dot(rhs, rhs), solvers.util.l2norm(rhs), solvers.util.l2norm_squared(rhs)])
    )
    print(session.run(solvers.util.l2normalize(rhs)))

# %% tf.contrib.solvers.lanczos.lanczos_bidiag, tf.contrib.solvers.lanczos.bidiag_matmul
lanczos = tf.contrib.solvers.lanczos
operator = tf.contrib.solvers.util.create_operator(tf.constant([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
found = lanczos.lanczos_bidiag(operator, 2, starting_vector=tf.constant([[1.0], [1.0], [1.0]]))
product = lanczos.bidiag_matmul(found.u, found.alpha, found.beta)
with tf.Session() as session:
    print(session.run([found.alpha, tf.shape(product)]))

# %% tf.contrib.deprecated.scalar_summary, tf.contrib.deprecated.histogram_summary,
# %% tf.contrib.deprecated.image_summary, tf.contrib.deprecated.audio_summary,
# %% tf.contrib.deprecated.merge_summary, tf.contrib.deprecated.merge_all_summaries
old = tf.contrib.deprecated
old.scalar_summary("loss", 1.0)
old.histogram_summary("weights", [1.0, 2.0])
old.image_summary("picture", tf.zeros([1, 2, 2, 1]))
sound = old.audio_summary("sound", tf.zeros([1, 8]), 8000.0)
merged = old.merge_summary([sound])
with tf.Session() as session:
    summary = tf.Summary.FromString(session.run(old.merge_all_summaries()))
    print([value.tag for value in summary.value], merged.op.name)

# %% tf.contrib.bayesflow.monte_carlo.expectation,
# %% tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler,
# %% tf.contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace
monte_carlo = tf.contrib.bayesflow.monte_carlo
target, wide = tf.distributions.Normal(0.0, 1.0), tf.distributions.Normal(0.0, 2.0)
estimates = [
    monte_carlo.expectation(tf.square, tf.constant([1.0, 2.0])),
    monte_carlo.expectation_importance_sampler(tf.square, target.log_prob, wide, n=1000, seed=1),
    monte_carlo.expectation_importance_sampler_logspace(tf.square, target.log_prob, wide, n=10, seed=1),
]
with tf.Session() as session:
    print(session.run(estimates[0]), len(session.run(estimates)))

# %% tf.contrib.testing.latest_event_file, tf.contrib.testing.latest_events,
# %% tf.contrib.testing.latest_summaries, tf.contrib.testing.simple_values_from_events,
# %% tf.contrib.testing.assert_summary, tf.contrib.testing.to_summary_proto,
# %% tf.contrib.testing.FakeSummaryWriter
testing = tf.contrib.testing
summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
with tf.summary.FileWriter("events_of_a_test") as writer:
    writer.add_summary(summary, 3)
print(
    testing.latest_event_file("events_of_a_test") is not None,
    len(list(testing.latest_events("events_of_a_test"))),
)
print(testing.simple_values_from_events(testing.latest_summaries("events_of_a_test"), ["loss"]))
testing.assert_summary(["loss"], {"loss": 0.5}, testing.to_summary_proto(summary.SerializeToString()))
fake = testing.FakeSummaryWriter("nowhere")
fake.add_summary(summary, 3)
print(sorted(fake.summaries))

# %% tf.contrib.stateless.stateless_random_normal, tf.contrib.stateless.stateless_random_uniform,
# %% tf.contrib.stateless.stateless_truncated_normal, tf.contrib.stateless.stateless_multinomial
stateless = tf.contrib.stateless
with tf.Session() as session:
    print(
        session.run(
            [stateless.stateless_random_normal([2], [1, 2]), stateless.stateless_random_uniform([2], [1, 2])]
        )
    )
    print(session.run(stateless.stateless_truncated_normal([2], [1, 2])))
    print(session.run(stateless.stateless_multinomial([[0.0, 1.0]], 3, [1, 2])))

# %% tf.contrib.cluster_resolver.ClusterResolver, tf.contrib.cluster_resolver.SimpleClusterResolver,
# %% tf.contrib.cluster_resolver.TFConfigClusterResolver, tf.contrib.cluster_resolver.UnionClusterResolver,
# %% tf.contrib.cluster_resolver.SlurmClusterResolver, tf.contrib.cluster_resolver.KubernetesClusterResolver,
# %% tf.contrib.cluster_resolver.GCEClusterResolver
resolvers = tf.contrib.cluster_resolver
resolver = resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["localhost:2222"]}))
print(resolver.cluster_spec().as_dict(), isinstance(resolver, resolvers.ClusterResolver))
print(resolvers.UnionClusterResolver(resolver).cluster_spec().as_dict())

# %% tf.contrib.hooks.ProfilerHook
hook = tf.contrib.hooks.ProfilerHook(save_steps=10, output_dir="profile")
print(isinstance(hook, tf.train.SessionRunHook))

# %% tf.contrib.proto.decode_proto, tf.contrib.proto.encode_proto
print(
    tf.contrib.proto.decode_proto is tf.io.decode_proto, tf.contrib.proto.encode_proto is tf.io.encode_proto
)

# %% tf.contrib.copy_graph.copy_variable_to_graph, tf.contrib.copy_graph.copy_op_to_graph,
# %% tf.contrib.copy_graph.get_copied_op
source, target = tf.Graph(), tf.Graph()
with source.as_default():
    v = tf.Variable(3.0, name="v")
    y = tf.square(v, name="y")
copy = tf.contrib.copy_graph.copy_variable_to_graph(v, target, "copied")
output = tf.contrib.copy_graph.copy_op_to_graph(y, target, [copy], "copied")
with tf.Session(graph=target) as session:
    session.run(copy.initializer)
    print(output.name, session.run(tf.contrib.copy_graph.get_copied_op(y, target, "copied")))

# %% tf.contrib.kernel_methods.RandomFourierFeatureMapper, tf.contrib.kernel_methods.KernelLinearClassifier,
# %% tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
methods = tf.contrib.kernel_methods
column = tf.contrib.layers.real_valued_column("x", dimension=2)
mapper = methods.RandomFourierFeatureMapper(2, 20, stddev=1.0)


def ring_input_fn():
    return {"x": tf.constant([[0.0, 0.1], [2.0, 0.0], [0.1, 0.0], [0.0, 2.0]])}, tf.constant([0, 1, 0, 1])


model = methods.KernelLinearClassifier(kernel_mappers={column: [mapper]})
model.fit(input_fn=ring_input_fn, steps=50)
print(list(model.predict_classes(ring_input_fn)))
loss = methods.sparse_multiclass_hinge_loss(tf.constant([1]), tf.constant([[0.5, 1.0, 0.2]]))
with tf.Session() as session:
    print(session.run(loss))

# %% tf.contrib.framework.convolutional_delta_orthogonal, tf.contrib.framework.convolutional_orthogonal_1d,
# %% tf.contrib.framework.convolutional_orthogonal_2d, tf.contrib.framework.convolutional_orthogonal_3d
framework = tf.contrib.framework
kernels = [
    framework.convolutional_delta_orthogonal()([3, 2, 4]),
    framework.convolutional_orthogonal_1d(seed=1)([3, 2, 4]),
    framework.convolutional_orthogonal_2d(seed=1)([3, 3, 2, 4]),
    framework.convolutional_orthogonal_3d(seed=1)([2, 2, 2, 2, 4]),
]
with tf.Session() as session:
    print([value.shape for value in session.run(kernels)])

# %% tf.xla.experimental.jit_scope, tf.xla.experimental.compile,
# %% tf.contrib.compiler.jit.experimental_jit_scope, tf.contrib.compiler.xla.compile
with tf.xla.experimental.jit_scope():
    y = tf.tanh(tf.constant([1.0, 2.0]))
doubled = tf.xla.experimental.compile(lambda x: x * 2.0, [y])
print(
    y.op.get_attr("_XlaCompile"),
    tf.contrib.compiler.jit.experimental_jit_scope is tf.xla.experimental.jit_scope,
)
with tf.Session() as session:
    print(session.run(doubled))

# %% tf.contrib.predictor.from_estimator, tf.contrib.predictor.from_contrib_estimator
learn = tf.contrib.learn
column = tf.contrib.layers.real_valued_column("x")
old = learn.LinearRegressor([column])
old.fit(input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)
new = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
new.train(lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)


def placeholder():
    return {"x": tf.placeholder(tf.float32, [None, 1])}


def old_inputs():
    x = placeholder()
    return learn.InputFnOps(x, None, x)


def new_inputs():
    x = placeholder()
    return tf.estimator.export.ServingInputReceiver(x, x)


print(tf.contrib.predictor.from_contrib_estimator(old, old_inputs)({"x": [[1.0]]})["scores"].shape)
print(tf.contrib.predictor.from_estimator(new, new_inputs, "predict")({"x": [[1.0]]})["predictions"].shape)

# %% tf.contrib.integrate.odeint, tf.contrib.integrate.odeint_fixed
times = [0.0, 0.5, 1.0]
decay = tf.contrib.integrate.odeint(lambda y, t: -y, tf.constant([1.0], tf.float64), times)
fixed = tf.contrib.integrate.odeint_fixed(
    lambda y, t: -y, tf.constant([1.0], tf.float64), times, dt=[0.1, 0.1]
)
with tf.Session() as session:
    print(session.run([decay, fixed]))

# %% tf.contrib.framework.RecordInput
with tf.python_io.TFRecordWriter("letters.tfrecord") as writer:
    for letter in "abcd":
        writer.write(letter.encode())
records = tf.contrib.framework.RecordInput(
    "letters.tfrecord", batch_size=2, buffer_size=4, seed=1
).get_yield_op()
with tf.Session() as session:
    print(sorted([*session.run(records), *session.run(records)]))
