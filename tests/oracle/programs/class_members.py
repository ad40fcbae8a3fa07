"""Members of classes that programs seldom touch: nodes of layers, setters of scopes, attributes of operators,
distributions, files and queues.
"""

from kit import Close, cases, names, normal, raises, run


def _one(np, *shape):
    return normal(np, *shape).astype(np.float32)


def _layers(tf):
    return {
        "dense": lambda: tf.layers.Dense(3, activity_regularizer=lambda y: tf.reduce_sum(y)),
        "keras dense": lambda: tf.keras.layers.Dense(3, activity_regularizer=tf.keras.regularizers.l1(0.5)),
        "flatten": tf.layers.Flatten,
        "keras dropout": lambda: tf.keras.layers.Dropout(0.5),
        "keras masking": lambda: tf.keras.layers.Masking(),
        "normalization": lambda: tf.keras.layers.BatchNormalization(trainable=False),
    }


@cases("dense", "keras dense", "flatten", "keras dropout", "keras masking", "normalization")
def nodes_of_layers(tf, np, name):
    layer = _layers(tf)[name]()
    a, b = tf.keras.Input((2, 4)), tf.keras.Input((5, 4))
    first = layer(a)
    found = [layer.input is a, layer.output is first, layer.input_shape, layer.output_shape]
    second = layer(b)
    return [
        found,
        raises(lambda: layer.input),
        raises(lambda: layer.output_shape),
        raises(lambda: layer.input_shape),
        raises(lambda: layer.input_mask) if name == "keras masking" else None,
        layer.get_input_at(1) is b,
        layer.get_output_at(1) is second,
        [layer.get_input_shape_at(i) for i in (0, 1)],
        [layer.get_output_shape_at(i) for i in (0, 1)],
        [m is None for m in (layer.get_input_mask_at(0), layer.get_output_mask_at(1))],
        raises(layer.get_input_at, 2),
        [len(layer.inbound_nodes), len(layer.outbound_nodes)],
        [v.name for v in layer.non_trainable_variables],
        [v.name for v in layer.non_trainable_weights],
        layer.activity_regularizer is None,
        layer.compute_mask(a, None) is None,
        len(layer.losses),
        [len(layer.get_losses_for(x)) for x in (a, b, None)],
        layer.count_params(),
    ]


def masks_of_layers(tf, np):
    masking = tf.keras.layers.Masking(0.0)
    x = tf.keras.Input((3, 2))
    y = masking(x)
    z = tf.keras.layers.LSTM(2, return_sequences=True)(y)
    dense = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2))
    w = dense(z)
    return [
        masking.input_mask is None,
        masking.output_mask.shape,
        masking.compute_mask(x).shape,
        dense.input_mask is None,
        dense.compute_mask(z, masking.output_mask) is None,
        raises(tf.keras.layers.Dense(2).compute_mask, x, 3),
        w.shape,
    ]


def layers_that_are_not_called(tf, np):
    layer = tf.keras.layers.Dense(3)
    return [
        raises(lambda: layer.input),
        raises(lambda: layer.output),
        raises(lambda: layer.input_shape),
        raises(lambda: layer.output_shape),
        raises(layer.count_params),
        raises(layer.get_output_at, 0),
        layer.get_weights(),
        layer.built,
        layer.updates,
        layer.losses,
        raises(layer.set_weights, [np.ones((2, 3))]),
    ]


def weights_of_layers(tf, np):
    layer = tf.keras.layers.Dense(2, input_shape=(3,))
    model = tf.keras.Sequential([layer])
    layer.trainable = False
    found = [len(layer.trainable_weights), len(layer.non_trainable_weights), layer.trainable]
    layer.set_weights([np.ones((3, 2)), np.zeros(2)])
    return [
        found,
        model.predict(np.ones((1, 3))),
        raises(layer.set_weights, [np.ones((3, 2))]),
        raises(layer.set_weights, [np.ones((3, 2)), np.ones(3)]),
        [w.name for w in model.weights],
        model.state_updates,
        model.stateful,
        [s.shape for s in model.inputs + model.outputs],
    ]


def updates_of_a_layer(tf, np):
    class Counting(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", (), initializer="zeros", trainable=False)
            self.size = self.add_weight(
                shape=(2,), dtype=tf.float64, initializer="ones", trainable=False, constraint=abs
            )

        def call(self, inputs):
            self.add_update(tf.assign_add(self.count, 1.0))
            self.add_update(tf.assign_add(self.count, tf.reduce_sum(inputs)), inputs=inputs)
            self.add_loss(tf.reduce_mean(inputs), inputs=inputs)
            self.add_metric(tf.reduce_max(inputs), aggregation="mean", name="largest")
            return inputs * self.add_weight("scale", (), initializer="ones")

    layer = Counting(name="counting", dynamic=False)
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, layer(x))
    model.compile("sgd", "mse")
    history = model.fit(np.ones((4, 3)), np.ones((4, 3)), batch_size=2, verbose=0)
    return [
        Close(layer.get_weights(), 1e-6),
        [w.name for w in layer.weights],
        len(layer.updates),
        [len(layer.get_updates_for(i)) for i in (None, x)],
        {key: Close(float(v[0]), 1e-5) for key, v in history.history.items()},
        [m.name for m in layer.metrics],
        layer.dynamic,
    ]


def scopes_are_set(tf, np):
    def getter(getter, name, *args, **kwargs):
        return getter(name + "_custom", *args, **kwargs)

    with tf.variable_scope("scope") as scope:
        scope.set_initializer(tf.ones_initializer())
        scope.set_regularizer(lambda v: tf.reduce_sum(v))
        scope.set_custom_getter(getter)
        scope.set_dtype(tf.float64)
        scope.set_use_resource(True)
        scope.set_caching_device("/cpu:0")
        a = tf.get_variable("a", [2])
        scope.set_custom_getter(None)
        scope.set_caching_device(None)
        scope.set_partitioner(tf.fixed_size_partitioner(2))
        b = tf.get_variable("b", [4])
        inner = tf.variable_scope("inner")
        with inner as under:
            c = [
                under.dtype,
                under.use_resource,
                under.partitioner is None,
                under.reuse,
                under.original_name_scope,
            ]
        scope.reuse_variables()
        d = [scope.reuse, tf.get_variable("b", [4]) is not None, scope.custom_getter, scope.constraint]
    losses = tf.losses.get_regularization_losses()
    return [a.name, a.dtype, type(b).__name__, [v.name for v in b], c, d, [x.name for x in losses], names(tf)]


def variable_scopes_of_values(tf, np):
    found = []
    with tf.variable_scope(None, "default", values=[tf.constant(1.0)]) as scope:
        found.append(scope.name)
    with tf.variable_op_scope([tf.constant(1.0)], "given", "default", initializer=tf.ones_initializer()):
        found.append(tf.get_variable("v", [1], dtype=tf.float32).name)
    with tf.variable_op_scope([], None, "default", dtype=tf.float64, use_resource=True) as scope:
        found += [tf.get_variable("v", [1]).dtype, scope.name]
    with tf.variable_op_scope([], "given", reuse=True):
        found.append(tf.get_variable("v", [1]).name)
    with tf.variable_scope("given", auxiliary_name_scope=False):
        found.append(tf.constant(1.0, name="c").name)
    made = tf.VariableScope(
        reuse=False, name="made", initializer=tf.ones_initializer(), dtype=tf.float64, name_scope="x"
    )
    with tf.variable_scope(made):
        found += [tf.get_variable("v", [1]).name, tf.constant(1.0, name="d").name]
    return found, [made.name, made.original_name_scope, made.reuse, made.dtype], names(tf)


@cases("get_variable", "get_local_variable")
def getters_of_variables(tf, np, name):
    get = getattr(tf, name)

    def twice(getter, *args, **kwargs):
        return getter(*args, **kwargs) * 2.0

    v = get(
        "v",
        shape=[4],
        dtype=tf.float64,
        initializer=tf.constant_initializer(2.0),
        regularizer=lambda v: tf.reduce_sum(v),
        collections=["mine"],
        caching_device="/cpu:0",
        validate_shape=True,
        use_resource=False,
        constraint=tf.abs,
        synchronization=tf.VariableSynchronization.AUTO,
        aggregation=tf.VariableAggregation.SUM,
    )
    w = get("w", initializer=[1.0, 2.0], custom_getter=twice)
    p = get("p", [4, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    u = get("u", initializer=tf.placeholder_with_default([1.0], [None]), validate_shape=False)
    with tf.Session() as session:
        session.run([x.initializer for x in tf.get_collection("mine")])
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        values = session.run([v, w, tf.convert_to_tensor(p), u])
    keys = {
        key: [getattr(x, "name", None) for x in tf.get_collection(key)]
        for key in tf.get_default_graph().get_all_collection_keys()
    }
    return (
        values,
        keys,
        [v.constraint is not None, u.shape, v.synchronization == tf.VariableSynchronization.AUTO],
    )


def modules_scope_their_methods(tf, np):
    class Layer(tf.Module):
        def __init__(self, name=None):
            super(Layer, self).__init__(name=name)
            with self.name_scope:
                self.v = tf.Variable(1.0, name="v")

        @tf.Module.with_name_scope
        def __call__(self, x):
            self.w = tf.Variable(x, name="w")
            return tf.identity(self.w, name="out")

    module = Layer()
    module.inner = [Layer("other"), {"a": Layer()}]
    out = module(2.0)
    return [
        module.name,
        out.name,
        [v.name for v in module.variables],
        [v.name for v in module.trainable_variables],
        [m.name for m in module.submodules],
        module.name_scope.name,
        raises(Layer, "not valid!"),
    ]


_DISTRIBUTIONS = {
    "beta": lambda d: (
        d.Beta(2.0, [1.0, 3.0], validate_args=True),
        "concentration0 concentration1 total_concentration",
    ),
    "dirichlet": lambda d: (d.Dirichlet([1.0, 2.0], validate_args=True), "concentration total_concentration"),
    "multinomial": lambda d: (
        d.Multinomial(3.0, probs=[0.25, 0.75], validate_args=True),
        "total_count logits probs",
    ),
    "mixed": lambda d: (
        d.DirichletMultinomial(3.0, [1.0, 2.0], validate_args=True),
        "concentration total_concentration total_count",
    ),
    "exponential": lambda d: (
        d.Exponential(2.0, validate_args=True, allow_nan_stats=False),
        "concentration rate",
    ),
    "gamma": lambda d: (d.Gamma(2.0, [1.0, 3.0], validate_args=True), "concentration rate"),
    "student": lambda d: (d.StudentT(3.0, 1.0, [1.0, 2.0], validate_args=True), "df loc scale"),
    "normal": lambda d: (d.Normal(0.0, [1.0, 2.0], validate_args=True), "loc scale"),
    "laplace": lambda d: (d.Laplace(0.0, [1.0, 2.0], validate_args=True), "loc scale"),
    "uniform": lambda d: (d.Uniform(0.0, [1.0, 2.0], validate_args=True), "low high"),
}


@cases({name: name for name in _DISTRIBUTIONS})
def attributes_of_distributions(tf, np, name):
    made, wanted = _DISTRIBUTIONS[name](tf.distributions)
    values = [getattr(made, attribute) for attribute in wanted.split()]
    moments = [made.mean(), made.variance(), made.stddev()]
    with tf.Session() as session:
        return [
            session.run(values),
            session.run(moments),
            made.name,
            made.dtype,
            made.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED,
            [made.allow_nan_stats, made.validate_args],
            [made.batch_shape, made.event_shape],
            session.run([made.batch_shape_tensor(), made.event_shape_tensor()]),
            sorted(key for key in made.parameters if key != "graph_parents"),
            session.run([made.is_scalar_batch(), made.is_scalar_event()]),
            made.copy(validate_args=False).validate_args,
            type(made).param_static_shapes([3])
            if name in ("normal", "laplace", "uniform", "gamma")
            else None,
        ]


_OPERATORS = {
    "householder": lambda l, tf: (l.LinearOperatorHouseholder([1.0, 2.0, 2.0]), "reflection_axis"),
    "update": lambda l, tf: (
        l.LinearOperatorLowRankUpdate(l.LinearOperatorIdentity(3), tf.ones((3, 2)), [1.0, 2.0]),
        "u v diag_update",
    ),
    "toeplitz": lambda l, tf: (l.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]), "col row"),
    "circulant": lambda l, tf: (l.LinearOperatorCirculant(tf.cast([1.0, 2.0], tf.complex64)), "spectrum"),
    "scaled": lambda l, tf: (l.LinearOperatorScaledIdentity(2, 3.0, assert_proper_shapes=True), "multiplier"),
    "diagonal": lambda l, tf: (l.LinearOperatorDiag([1.0, 2.0], is_self_adjoint=True), "diag"),
}


@cases({name: name for name in _OPERATORS})
def attributes_of_operators(tf, np, name):
    operator, wanted = _OPERATORS[name](tf.linalg, tf)
    values = [getattr(operator, attribute) for attribute in wanted.split()]
    flags = "is_non_singular is_self_adjoint is_positive_definite is_square"
    more = []
    if name == "update":
        more = [operator.base_operator.name, operator.diag_operator.name, operator.is_diag_update_positive]
    if name == "circulant":
        more = [operator.block_depth, operator.block_shape]
    return [
        run(tf, values),
        [getattr(operator, flag) for flag in flags.split()],
        [operator.name, operator.dtype, operator.shape, operator.tensor_rank],
        [
            len(operator.graph_parents),
            operator.batch_shape,
            operator.domain_dimension,
            operator.range_dimension,
        ],
        more,
    ]


def identities_check_shapes(tf, np):
    l = tf.linalg
    x = tf.placeholder(tf.float32)
    n, batch = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    made = [
        l.LinearOperatorIdentity(n, batch, assert_proper_shapes=True),
        l.LinearOperatorZeros(
            n, batch_shape=batch, assert_proper_shapes=True, is_square=True, is_self_adjoint=True
        ),
        l.LinearOperatorScaledIdentity(n, tf.constant(2.0), assert_proper_shapes=True),
    ]
    dense = [operator.to_dense() for operator in made]
    with tf.Session() as session:
        good = [session.run(d, {n: 2, batch: [1]}) for d in dense]
        bad = [raises(session.run, d, {n: -2, batch: [1]}) for d in dense]
        odd = raises(session.run, made[0].matmul(x), {n: 2, batch: [1], x: np.ones((1, 3, 3))})
    return good, bad, odd, raises(l.LinearOperatorIdentity, 2.5), raises(l.LinearOperatorIdentity, 2, [[1]])


def files(tf, np):
    import tempfile

    folder = tempfile.mkdtemp()
    path = folder + "/a.txt"
    found = []
    for kind in (tf.gfile.GFile, tf.gfile.FastGFile, tf.gfile.Open, tf.io.gfile.GFile):
        with kind(path, "w") as f:
            f.write("one\ntwo\n")
            f.write("three")
            f.flush()
            found.append([f.name == path, f.mode, raises(f.read)])
        with kind(name=path, mode="r") as f:
            found.append([f.size(), f.readline(), f.tell(), f.readlines(), f.seekable(), f.read()])
            f.seek(4)
            found.append([f.read(3), f.tell(), raises(f.write, "x"), raises(f.seek, 3, 9), raises(f.seek)])
            f.seek(offset=1, whence=0)
            f.seek(2, 1)
            found.append([f.tell(), raises(f.seek, -2, 0)])
            f.seek(-2, 2)
            found.append([f.read(n=9), [line for line in f]])
        with kind(path, "rb") as f:
            found.append([f.read(2), next(iter(f)), f.read()])
        with kind(path, "a") as f:
            f.write("!")
        found.append([kind(path).read(), raises(kind(folder + "/none").read), raises(kind, path, "q")])
    return found


def folders(tf, np):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    g, io = tf.gfile, tf.io.gfile
    g.MkDir(folder + "/a")
    io.mkdir(folder + "/b")
    io.makedirs(folder + "/c/d")
    g.MakeDirs(dirname=folder + "/c/d")
    for name in ("a/x", "a/y", "c/z"):
        with g.Open(folder + "/" + name, "w") as f:
            f.write(name)
    g.Copy(folder + "/a/x", folder + "/a/copied")
    io.copy(src=folder + "/a/y", dst=folder + "/a/copied", overwrite=True)
    g.Rename(folder + "/a/y", folder + "/b/y")
    io.rename(folder + "/a/x", folder + "/b/y", overwrite=True)

    def cut(path):
        return path.replace(folder, "")

    walked = [
        [(cut(d), sorted(ds), sorted(fs)) for d, ds, fs in walk]
        for walk in (
            g.Walk(folder),
            g.Walk(top=folder, in_order=False),
            io.walk(folder, topdown=False, onerror=None),
        )
    ]
    stat = [g.Stat(folder + "/b/y"), io.stat(path=folder + "/a")]
    found = [
        [sorted(w) for w in walked],
        [s.length for s in stat[:1]],
        [s.is_directory for s in stat],
        [stat[0].mtime_nsec > 0],
        [
            g.Exists(folder + "/b"),
            io.exists(path=folder + "/q"),
            g.IsDirectory(folder),
            io.isdir(folder + "/b/y"),
        ],
        [
            sorted(map(cut, g.Glob(folder + "/*/*"))),
            sorted(map(cut, io.glob(pattern=[folder + "/a*", folder + "/c*"]))),
        ],
        [sorted(g.ListDirectory(folder)), sorted(io.listdir(path=folder + "/c"))],
        raises(g.Copy, folder + "/a/copied", folder + "/b/y"),
        raises(g.Rename, folder + "/a/copied", folder + "/b/y"),
        raises(io.rename, folder + "/none", folder + "/n"),
        raises(g.Remove, folder + "/none"),
        raises(g.Remove, folder + "/c"),
        raises(g.MkDir, folder + "/a"),
        raises(g.MkDir, folder + "/q/r"),
        raises(g.ListDirectory, folder + "/none"),
        raises(g.DeleteRecursively, folder + "/none"),
        raises(io.stat, folder + "/none"),
        raises(g.Stat, folder + "/none"),
        list(g.Walk(folder + "/none")),
        g.Glob(folder + "/none*"),
    ]
    io.rmtree(path=folder + "/c")
    g.DeleteRecursively(folder + "/b")
    io.remove(path=folder + "/a/copied")
    return found, sorted(os.listdir(folder)), os.listdir(folder + "/a")
