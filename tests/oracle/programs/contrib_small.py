"""Small parts of contrib: solvers, sparsemax, nn, testing, older summaries, scopes of compiling."""

from kit import Close, cases, raises
from supervised import folder_of_its_own


def _run(tf, fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches)


def sparsemax(tf, np):
    part = tf.contrib.sparsemax
    logits = tf.constant(np.random.RandomState(0).randn(4, 5).astype(np.float32))
    odd = tf.constant([[np.inf, 0.0], [-np.inf, 1.0], [np.nan, 0.0], [-np.inf, -np.inf]], tf.float32)
    found = part.sparsemax(logits)
    loss = part.sparsemax_loss(logits, found, tf.one_hot([0, 1, 2, 3], 5))
    return Close(_run(tf, [found, loss, tf.gradients(loss, logits)[0], part.sparsemax(odd)]), 1e-5, 1e-6)


def flipped(tf, np):
    nn = tf.contrib.nn
    logits, labels = tf.constant([[1.0, 2.0], [0.0, -1.0]]), tf.constant([[1.0, 0.0], [0.5, 0.5]])
    return _run(
        tf,
        [
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1, 0]),
            nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels),
            nn.nth_element([[3.0, 1.0, 2.0]], 1),
            nn.nth_element([3, 1, 2], 0, reverse=True),
        ],
    )


@cases(None, 1.5)
def scaled_softplus(tf, np, clip):
    x, alpha = tf.constant([-3.0, 0.0, 2.0]), tf.constant(0.7)
    y = tf.contrib.nn.scaled_softplus(x, alpha, clip)
    return Close(_run(tf, [y, tf.gradients(y, [x, alpha])]), 1e-5, 1e-6)


def alpha_dropout(tf, np):
    tf.set_random_seed(3)
    x = tf.ones([4, 3])
    return [
        Close(_run(tf, tf.contrib.nn.alpha_dropout(x, 0.6, seed=1)), 1e-5),
        _run(tf, tf.contrib.nn.alpha_dropout(x, 1.0)),
        raises(tf.contrib.nn.alpha_dropout, x, 0.0),
    ]


def sampled_losses(tf, np):
    random = np.random.RandomState(0)
    weights, biases = tf.constant(random.randn(6, 3), tf.float32), tf.constant(random.randn(6), tf.float32)
    inputs, labels = tf.constant(random.randn(2, 3), tf.float32), tf.constant([[1], [2]], tf.int64)
    drawn = (tf.constant([0, 3, 4], tf.int64), tf.constant([[0.5], [0.4]]), tf.constant([0.3, 0.2, 0.1]))
    nn = tf.contrib.nn
    rank = nn.rank_sampled_softmax_loss
    return [
        Close(
            _run(
                tf,
                [
                    nn.sampled_sparse_softmax_loss(weights, biases, labels, inputs, 3, 6, drawn),
                    rank(weights, biases, labels, inputs, 3, 2, 6, 1, drawn, 0.5, True, "div"),
                ],
            ),
            1e-5,
        ),
        raises(rank, weights, biases, labels, inputs, 7, 2, 6, 1, drawn, 0.5, True, "div"),
        raises(rank, weights, biases, labels, inputs, 3, 3, 6, 1, drawn, 0.5, True, "div"),
        raises(rank, weights, biases, labels, inputs, 3, 2, 6, 1, drawn, 0.5, True, "other"),
    ]


def solvers(tf, np):
    part = tf.contrib.solvers
    random = np.random.RandomState(0)
    a = random.randn(5, 3).astype(np.float32)
    square = tf.constant(a.T @ a + np.eye(3, dtype=np.float32))
    rhs = tf.constant(random.randn(3).astype(np.float32))
    operator, wide = part.util.create_operator(square), part.util.create_operator(tf.constant(a))
    solved = part.linear_equations.conjugate_gradient(operator, rhs)
    guided = part.linear_equations.conjugate_gradient(
        operator, rhs, part.util.identity_operator(square), x=tf.ones([3]), max_iter=2
    )
    least = part.least_squares.cgls(wide, tf.constant(random.randn(5).astype(np.float32)))
    start = tf.constant(random.randn(5, 1).astype(np.float32))
    plain = part.lanczos.lanczos_bidiag(wide, 2, orthogonalize=False, starting_vector=start)
    made = part.lanczos.lanczos_bidiag(wide, 3, starting_vector=start)
    products = [
        part.lanczos.bidiag_matmul(made.u, made.alpha, made.beta),
        part.lanczos.bidiag_matmul(made.v, made.alpha, made.beta, adjoint_b=True),
    ]
    norms = [part.util.dot(rhs, rhs), part.util.l2norm(rhs), part.util.l2normalize(rhs)]
    return Close(
        _run(tf, [tuple(solved), tuple(guided), tuple(least), tuple(plain), products, norms]), 1e-3, 1e-3
    )


def old_summaries(tf, np):
    old = tf.contrib.deprecated
    made = [
        old.scalar_summary(["a", "b"], [1.0, 2.0]),
        old.histogram_summary("h", [1.0, 2.0, 2.0]),
        old.image_summary("i", tf.zeros([2, 3, 3, 1]), max_images=1),
        old.audio_summary("s", tf.zeros([1, 8]), 8000.0),
    ]
    merged, everything = old.merge_summary(made[:2], collections=["mine"]), old.merge_all_summaries()
    tags = [
        [value.tag for value in tf.Summary.FromString(text).value]
        for text in _run(tf, made + [merged, everything])
    ]
    return tags, [each.op.name for each in made + [merged, everything]], len(tf.get_collection("mine"))


def expectations(tf, np):
    part = tf.contrib.bayesflow.monte_carlo
    normal = tf.distributions.Normal(0.0, 2.0)
    target = tf.distributions.Normal(1.0, 1.0)
    z = tf.constant(np.linspace(-3, 3, 7), tf.float32)
    found = [
        part.expectation_importance_sampler(tf.square, target.log_prob, normal, z=z),
        part.expectation_importance_sampler_logspace(tf.square, target.log_prob, normal, z=z),
        part.expectation(tf.square, z),
        part.expectation(tf.square, z, log_prob=target.log_prob, use_reparametrization=False, keep_dims=True),
    ]
    return [
        Close(_run(tf, found), 1e-5),
        raises(part.expectation_importance_sampler, tf.square, target.log_prob, normal),
        raises(part.expectation, 3, z),
        raises(part.expectation, tf.square, z, use_reparametrization=False),
    ]


def testing(tf, np):
    part = tf.contrib.testing
    with folder_of_its_own() as folder:
        nothing = [part.latest_event_file(folder), list(part.latest_events(folder))]
        with tf.summary.FileWriter(folder) as writer:
            for step, value in ((1, 2.0), (3, 5.0)):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=value)]), step)
        found = part.latest_summaries(folder)
        values = part.simple_values_from_events(found, ["a", "b"])
    summary = found[0].summary
    part.assert_summary(["a"], {"a": 2.0}, summary)
    fake = part.FakeSummaryWriter("somewhere")
    fake.add_summary(summary.SerializeToString(), 4)
    return [
        nothing,
        len(found),
        values,
        part.to_summary_proto(summary.SerializeToString()) == summary,
        raises(part.assert_summary, ["b"], {}, summary),
        raises(part.assert_summary, ["a"], {"a": 3.0}, summary),
        sorted(fake.summaries),
        raises(fake.add_graph, None, -1),
        raises(fake.add_graph, None, graph_def=3),
        raises(part.FakeSummaryWriter.uninstall),
    ]


def stateless(tf, np):
    part = tf.contrib.stateless
    seed = [3, 4]
    return Close(
        _run(
            tf,
            [
                part.stateless_random_normal([3], seed),
                part.stateless_random_uniform([3], seed, 1, 9, tf.int32),
                part.stateless_truncated_normal([3], seed),
                part.stateless_multinomial([[0.0, 1.0]], 4, seed),
            ],
        ),
        1e-5,
    )


@cases("one", "several", "structure", "operation", "nothing")
def compiled(tf, np, kind):
    computation = {
        "one": lambda x: x * 2.0,
        "several": lambda x: (x, x + 1.0),
        "structure": lambda x: {"a": x, "b": x - 1.0},
        "operation": lambda x: (x, tf.no_op()),
        "nothing": lambda x: None,
    }[kind]
    found = tf.xla.experimental.compile(computation, [tf.constant(3.0)])
    shape = [type(found).__name__] + [type(each).__name__ for each in tf.nest.flatten(found)]
    return shape, raises(tf.xla.experimental.compile, computation, tf.constant(3.0))


def compiled_scopes(tf, np):
    made = []
    scope = tf.xla.experimental.jit_scope
    with scope():
        made.append(tf.constant(1.0))
        with scope(compile_ops=lambda node: node.op == "Neg"):
            made.extend([tf.negative(1.0), tf.abs(1.0)])
    with tf.contrib.compiler.jit.experimental_jit_scope(False, separate_compiled_gradients=True):
        made.append(tf.constant(1.0))
    made.append(tf.constant(1.0))
    return [
        {key: str(value) for key, value in sorted(each.op.node_def.attr.items()) if key.startswith("_Xla")}
        for each in made
    ]


@cases({"1d": (1, 3), "2d": (2, 3), "3d": (3, 2), "one": (2, 1)})
def orthogonal(tf, np, axes, size):
    framework = tf.contrib.framework
    kind = getattr(framework, "convolutional_orthogonal_%dd" % axes)
    shape = [size] * axes + [2, 3]
    found = [
        kind(gain=2.0, seed=5)(shape),
        framework.convolutional_delta_orthogonal(gain=2.0, seed=5)(shape),
    ]
    return [
        Close(_run(tf, found), 1e-4, 1e-5),
        kind(seed=5).get_config(),
        raises(kind(), [3, 2, 3, 4, 5, 6]),
        raises(kind(), [size] * axes + [3, 2]),
    ]


def copied_graphs(tf, np):
    part = tf.contrib.copy_graph
    source, target = tf.Graph(), tf.Graph()
    with source.as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.Variable(3.0, name="v")
        tf.add_to_collection("mine", v)
        with tf.control_dependencies([tf.no_op(name="before")]):
            y = tf.add(x * v, 1.0, name="y")
        tf.add_to_collection("outputs", y)
    copy = part.copy_variable_to_graph(v, target, "in")
    output = part.copy_op_to_graph(y, target, [copy], "in")
    fed = part.get_copied_op(x, target, "in")
    with tf.Session(graph=target) as session:
        with target.as_default():
            session.run(tf.global_variables_initializer())
        value = session.run(output, {fed: 2.0})
    return [
        value,
        output.name,
        copy.name,
        part.get_copied_op(y, target, "in") is output,
        part.copy_op_to_graph(y, target, [copy], "in") is output,
        sorted(str(key) for key in target.get_all_collection_keys()),
        sorted(op.name for op in target.get_operations() if "nitial" not in op.name),
        raises(part.copy_variable_to_graph, 3, target),
        raises(part.get_copied_op, y, target, "other"),
    ]


def kernel_methods(tf, np):
    part = tf.contrib.kernel_methods
    mapper = part.RandomFourierFeatureMapper(2, 5, stddev=2.0, seed=3, name="m")
    x = np.random.RandomState(0).randn(8, 2).astype(np.float32)
    column = tf.contrib.layers.real_valued_column("x", dimension=2)

    def input_fn():
        return {"x": tf.constant(x)}, tf.constant((x[:, 0] > 0).astype(np.int64))

    with folder_of_its_own() as folder:
        config = tf.contrib.learn.RunConfig(tf_random_seed=1)
        estimator = part.KernelLinearClassifier(
            model_dir=folder, optimizer="SGD", kernel_mappers={column: [mapper]}, config=config
        )
        estimator.fit(input_fn=input_fn, steps=3)
        results = estimator.evaluate(input_fn=input_fn, steps=1)
        classes, rows = list(estimator.predict_classes(input_fn)), list(estimator.predict_proba(input_fn))
    logits = tf.constant([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
    hinge = part.sparse_multiclass_hinge_loss
    return [
        Close([_run(tf, mapper.map(tf.constant(x))), results, rows], 1e-4, 1e-5),
        classes,
        [mapper.name, mapper.input_dim, mapper.output_dim],
        _run(
            tf, [hinge(tf.constant([1, 0]), logits), hinge(tf.constant([[2], [2]]), logits, [[1.0], [2.0]])]
        ),
        raises(mapper.map, tf.zeros([3])),
        raises(mapper.map, tf.zeros([3, 3])),
        raises(part.KernelLinearClassifier),
        raises(part.KernelLinearClassifier, kernel_mappers={column: [3]}),
        raises(hinge, tf.constant([1.0]), logits),
        raises(hinge, tf.constant([1]), logits[0]),
    ]


def _pendulum(tf):
    return lambda y, t: tf.stack([y[1], -tf.sin(y[0])])


def integrated(tf, np):
    odeint = tf.contrib.integrate.odeint
    times = np.linspace(0.0, 2.0, 5)
    start = tf.constant([1.0, 0.0], tf.float64)
    found, steps = odeint(_pendulum(tf), start, times, full_output=True)
    loose = odeint(
        lambda y, t: -y * tf.cast(t, tf.float32),
        tf.constant([1.0, 2.0]),
        times,
        rtol=1e-3,
        atol=1e-3,
        method="dopri5",
        options={"first_step": 0.1, "safety": 0.8},
    )
    complex_one = odeint(lambda y, t: 1j * y, tf.constant([1.0 + 0.0j], tf.complex128), times)
    gradient = tf.gradients(found[-1, 0], start)[0]
    return [
        Close(_run(tf, [found, loose, complex_one, steps["integrate_points"], gradient]), 1e-4, 1e-6),
        _run(tf, steps["num_func_evals"]),
        found.shape.as_list(),
        raises(odeint, _pendulum(tf), start, times, method="other"),
        raises(odeint, _pendulum(tf), start, times, options={}),
        raises(odeint, _pendulum(tf), [1, 2], times),
        raises(odeint, _pendulum(tf), start, [1, 2]),
    ]


@cases("rk4", "midpoint")
def integrated_by_fixed_steps(tf, np, method):
    odeint = tf.contrib.integrate.odeint_fixed
    times, start = np.array([0.0, 0.5, 2.0]), tf.constant([1.0, 0.0], tf.float64)
    found = [
        odeint(_pendulum(tf), start, times, method=method),
        odeint(_pendulum(tf), start, times, dt=[0.1, 0.3], method=method),
    ]
    return [
        Close(_run(tf, found), 1e-6),
        raises(odeint, _pendulum(tf), start, times, method="other"),
        raises(odeint, _pendulum(tf), start, [1, 2]),
    ]
