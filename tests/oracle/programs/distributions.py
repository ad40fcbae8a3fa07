"""tf.distributions: samples, densities, statistics, divergences, checks."""

from kit import Close, cases, names, product, raises, run

_CONCENTRATIONS = [[2.0, 1.5, 3.0], [1.25, 2.5, 3.0]]


def _make(tf, np, kind, dtype="float32", **keywords):
    """A batch of three, or what a kind needs."""
    m = lambda values: np.array(values, dtype)
    c = lambda *values: m(values)
    d = tf.distributions
    return {
        "Normal": lambda: d.Normal(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "Laplace": lambda: d.Laplace(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "StudentT": lambda: d.StudentT(c(3.0, 5.0, 30.0), c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "Uniform": lambda: d.Uniform(c(0.0, 1.0, -2.0), c(1.0, 2.5, 3.0), **keywords),
        "Gamma": lambda: d.Gamma(c(2.0, 1.5, 30.0), c(1.0, 0.5, 3.0), **keywords),
        "Exponential": lambda: d.Exponential(c(1.0, 0.5, 3.0), **keywords),
        "Beta": lambda: d.Beta(c(2.0, 1.5, 3.0), c(1.25, 2.5, 3.0), **keywords),
        "Dirichlet": lambda: d.Dirichlet(m(_CONCENTRATIONS), **keywords),
        "Bernoulli": lambda: d.Bernoulli(logits=c(0.0, 1.5, -3.0), **keywords),
        "Categorical": lambda: d.Categorical(m([[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]]), **keywords),
        "Multinomial": lambda: d.Multinomial(c(4.0, 6.0), m([[0.0, 1.0], [1.0, 2.0]]), **keywords),
        "DirichletMultinomial": lambda: d.DirichletMultinomial(m(5.0), m(_CONCENTRATIONS), **keywords),
    }[kind]()


_REAL = ["Normal", "Laplace", "StudentT", "Uniform", "Gamma", "Exponential", "Beta"]
_KINDS = _REAL + ["Dirichlet", "Bernoulli", "Categorical", "Multinomial", "DirichletMultinomial"]
_VALUES = {
    "Normal": [[0.0, 1.0, -1.0], [-7.0, 2.0, 30.0], [0.3, -20.0, 1e3]],
    "Laplace": [[0.0, 1.0, -1.0], [-7.0, 2.0, 30.0], [0.3, -20.0, 1e3]],
    "StudentT": [[0.0, 1.0, -1.0], [-7.0, 2.0, 30.0], [0.3, -20.0, 1e3]],
    "Uniform": [[0.0, 1.0, -1.0], [0.5, 2.6, 3.0], [-3.0, 2.5, float("nan")]],
    "Gamma": [[0.1, 1.0, 10.0], [0.5, 2.6, 3.0], [7.0, 1e-3, 20.0]],
    "Exponential": [[0.1, 1.0, 10.0], [0.5, 2.6, 3.0], [7.0, 1e-3, 20.0]],
    "Beta": [[0.1, 0.5, 0.9], [0.01, 0.3, 0.6], [0.2, 0.99, 0.7]],
    "Dirichlet": [[[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]], [[0.7, 0.1, 0.2], [0.01, 0.01, 0.98]]],
    "Bernoulli": [[0, 1, 1], [1, 0, 0]],
    "Categorical": [[0, 2], [1, 1], [2, 0]],
    "Multinomial": [[[1.0, 3.0], [6.0, 0.0]], [[4.0, 0.0], [3.0, 3.0]]],
    "DirichletMultinomial": [[[1.0, 3.0, 1.0], [5.0, 0.0, 0.0]], [[0.0, 4.0, 1.0], [2.0, 3.0, 0.0]]],
}


def _close(tf, tensor, feeds=None):
    return Close(run(tf, tensor, feeds), 2e-4, 2e-5)


def _answer(tf, call):
    """The value, or the error, of what a distribution is asked."""
    try:
        made = call()
    except NotImplementedError as error:
        return "not implemented: " + str(error)
    return [made.dtype.name, made.shape, _close(tf, made)]


@cases(*_KINDS)
def description(tf, np, kind):
    d = _make(tf, np, kind)
    return [
        str(d),
        repr(d),
        d.name,
        d.dtype,
        d.batch_shape,
        d.event_shape,
        repr(d.reparameterization_type),
        d.allow_nan_stats,
        d.validate_args,
        sorted(d.parameters),
        run(tf, [d.batch_shape_tensor(), d.event_shape_tensor(), d.is_scalar_batch(), d.is_scalar_event()]),
    ]


_STATISTICS = ["entropy", "mean", "stddev", "variance", "mode", "covariance"]
# TensorFlow fails to compute these.
_FAILS = [("StudentT", "stddev", "float64"), ("StudentT", "variance", "float64")]
_FAILS += [("Dirichlet", "mode", "float32"), ("Dirichlet", "mode", "float64")]


@cases(*[row for row in product(_KINDS, _STATISTICS, ["float32", "float64"]) if row not in _FAILS])
def statistic(tf, np, kind, name, dtype):
    return _answer(tf, getattr(_make(tf, np, kind, dtype), name))


_FUNCTIONS = ["prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile"]


@cases(*product(_KINDS, _FUNCTIONS, ["float32", "float64"]))
def function(tf, np, kind, name, dtype):
    d = _make(tf, np, kind, dtype)
    values = np.array(_VALUES[kind])
    if kind in ("StudentT", "Beta"):
        values = values[1]  # TensorFlow's betainc does not broadcast
    if values.dtype.kind == "f":
        values = values.astype(dtype)
    if name == "quantile":
        values = np.array([[0.01, 0.5, 0.9], [1e-6, 0.14, 1.0], [0.0, 0.999999, 0.86]], dtype)
    return _answer(tf, lambda: getattr(d, name)(values))


@cases(*product(_KINDS, [(), 4, (2, 3), (0,)], ["float32", "float64"]))
def samples(tf, np, kind, shape, dtype):
    d = _make(tf, np, kind, dtype)
    if kind == "Multinomial":  # which row of a batch comes first is left to TensorFlow's threads
        d = tf.distributions.Multinomial(4.0, [0.0, 1.0])
    x = d.sample(shape, seed=7)
    with tf.Session() as session:
        return [x.dtype.name, x.shape, Close([session.run(x) for _ in range(2)], 1e-5, 1e-6)]


@cases(*[kind for kind in _KINDS if kind != "Multinomial"])
def samples_by_a_graph_seed(tf, np, kind):
    tf.set_random_seed(5)
    return _close(tf, _make(tf, np, kind).sample(3))


@cases("Normal", "Laplace", "StudentT", "Uniform", "Gamma", "Exponential", "Beta", "Dirichlet")
def slopes_of_samples(tf, np, kind):
    d = _make(tf, np, kind)
    parents = [p for p in d._graph_parents if p.op.name.split("/")[-1] not in ("add", "Sum")]
    grads = tf.gradients(tf.reduce_sum(tf.square(d.sample(3, seed=4))), parents[:2])
    return Close(run(tf, [g for g in grads if g is not None]), 2e-3, 1e-3)


@cases(*product(["Normal", "Laplace", "StudentT", "Gamma", "Exponential", "Beta"], ["log_prob", "prob"]))
def slopes(tf, np, kind, name):
    x = tf.constant(np.array(_VALUES[kind][0], "float32"))
    y = getattr(_make(tf, np, kind), name)(x)
    return [_close(tf, tf.gradients(y, x)[0])]


@cases("cdf", "log_cdf", "log_survival_function", "quantile")
def slopes_of_the_normal(tf, np, name):
    d = tf.distributions.Normal(0.0, 1.0)
    points = [0.01, 0.3, 0.9] if name == "quantile" else [-30.0, -12.0, -3.0, 0.0, 0.5, 4.0, 8.0]
    x = tf.constant(points)
    return _close(tf, tf.gradients(getattr(d, name)(x), x)[0])


@cases("float32", "float64")
def far_tails_of_the_normal(tf, np, dtype):
    d = tf.distributions.Normal(np.array(0.0, dtype), np.array(1.0, dtype))
    x = np.array([-100, -40, -21, -19, -11, -9, -1, 0, 0.7, 1, 4.9, 5.1, 7.9, 8.1, 40.0], dtype)
    return _close(tf, [d.log_cdf(x), d.cdf(x), d.log_survival_function(x), d.survival_function(x)])


@cases(*product(["Normal", "Bernoulli", "Categorical", "Beta", "Dirichlet", "Gamma"], ["float32", "float64"]))
def divergence(tf, np, kind, dtype):
    a = _make(tf, np, kind, dtype)
    b = a.copy(**{k: v + 0.5 for k, v in a.parameters.items() if isinstance(v, np.ndarray)})
    made = [tf.distributions.kl_divergence(a, b), a.kl_divergence(b), a.cross_entropy(b)]
    return [[x.shape for x in made], [x.name for x in made], _close(tf, made)]


def divergence_of_kin(tf, np):
    gamma, exponential = _make(tf, np, "Gamma"), _make(tf, np, "Exponential")
    return _close(tf, [gamma.kl_divergence(exponential), exponential.kl_divergence(gamma)])


def divergence_that_nobody_knows(tf, np):
    a, b = _make(tf, np, "Normal"), _make(tf, np, "Laplace")
    return [raises(a.kl_divergence, b), raises(tf.distributions.kl_divergence, b, a)]


def divergence_of_ones_own(tf, np):
    class Mine(tf.distributions.Normal):
        pass

    @tf.distributions.RegisterKL(Mine, tf.distributions.Normal)
    def _kl(a, b, name=None):
        return a.loc - b.loc

    return [
        run(tf, Mine(3.0, 1.0).kl_divergence(tf.distributions.Normal(1.0, 1.0))),
        run(tf, Mine(3.0, 1.0).kl_divergence(Mine(1.0, 1.0))),
        run(tf, tf.distributions.Normal(3.0, 1.0).kl_divergence(Mine(1.0, 1.0))),
        raises(tf.distributions.RegisterKL(Mine, tf.distributions.Normal), lambda a, b, name: a),
        raises(tf.distributions.RegisterKL(Mine, Mine), 3),
    ]


def nan_divergence(tf, np):
    a, b = tf.distributions.Normal(0.0, -1.0), tf.distributions.Normal(0.0, float("nan"))
    checked = tf.distributions.kl_divergence(a, b, allow_nan_stats=False)
    return [run(tf, tf.distributions.kl_divergence(a, b)), raises(run, tf, checked)]


@cases("Normal", "Gamma", "Beta", "Bernoulli", "Categorical", "Dirichlet", "Multinomial")
def graph_names(tf, np, kind):
    d = _make(tf, np, kind)
    d.mean() if kind != "Categorical" else d.mode()
    d.log_prob(np.array(_VALUES[kind][0], None if kind in ("Bernoulli", "Categorical") else "float32"))
    _make(tf, np, kind).variance() if kind != "Categorical" else None
    return names(tf)[:12]


@cases("Normal", "Uniform", "Bernoulli", "Categorical", "Exponential")
def sample_names(tf, np, kind):
    x = _make(tf, np, kind).sample([2], seed=3)
    return [x.name, names(tf)]


def copies(tf, np):
    d = tf.distributions.Normal(1.0, 2.0, name="mine")
    other = d.copy(loc=5.0)
    return [sorted(d.parameters.items(), key=str), other.name, type(other).__name__, _close(tf, other.mean())]


@cases("Normal", "Laplace", "StudentT", "Uniform", "Gamma", "Exponential", "Beta", "Bernoulli")
def parameter_shapes(tf, np, kind):
    d = getattr(tf.distributions, kind)
    found = d.param_shapes([2, 3])
    return [sorted(found), run(tf, found), sorted(d.param_static_shapes([2, 3]).items(), key=str)]


@cases("Dirichlet", "Categorical", "Multinomial")
def parameter_shapes_that_are_not_there(tf, np, kind):
    return raises(getattr(tf.distributions, kind).param_shapes, [2, 3])


@cases(
    {
        "Normal": ([[1.0], [2.0]], [1.0, 2.0, 3.0]),
        "Laplace": ([[1.0], [2.0]], [1.0, 2.0, 3.0]),
        "Uniform": ([[1.0], [2.0]], [3.0, 4.0, 5.0]),
        "Gamma": ([[1.5], [2.0]], [1.0, 2.0, 3.0]),
        "Beta": ([[1.5], [2.0]], [1.5, 2.0, 3.0]),
    }
)
def broadcasting(tf, np, first, second):
    kinds = ["Normal", "Laplace", "Uniform", "Gamma", "Beta"]
    found = []
    for kind in kinds:
        d = getattr(tf.distributions, kind)(np.float32(first), np.float32(second))
        made = [d.mean(), d.stddev(), d.sample(2, seed=1), d.prob(np.float32(0.3)), d.entropy()]
        found.append([d.batch_shape, [x.shape for x in made], _close(tf, made)])
    return found


def broadcasting_of_trials(tf, np):
    bernoulli = tf.distributions.Bernoulli(probs=[[0.2], [0.7]])
    categorical = tf.distributions.Categorical(probs=[[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    made = [
        bernoulli.prob([0, 1, 1]),
        bernoulli.log_prob(1),
        bernoulli.prob(0.25),
        categorical.prob(1),
        categorical.prob([[0], [1], [2]]),
        categorical.log_prob(tf.constant(2, tf.int64)),
        categorical.cdf([0, 3]),
        categorical.prob(1.0),
    ]
    return [[x.shape for x in made], _close(tf, made)]


@cases("int32", "int64", "float32", "bool")
def types_of_trials(tf, np, dtype):
    dtype = getattr(tf, dtype)
    made = [tf.distributions.Bernoulli(probs=0.5, dtype=dtype).sample(5, seed=3)]
    if dtype != tf.bool:
        made.append(tf.distributions.Categorical(probs=[0.5, 0.5], dtype=dtype).sample(5, seed=3))
    return [made, run(tf, made)]


def unknown_shapes(tf, np):
    loc, probs = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
    count = tf.placeholder(tf.int32)
    normal, classes = tf.distributions.Normal(loc, 1.0), tf.distributions.Categorical(probs=probs)
    shares = tf.distributions.Dirichlet(probs)
    made = [
        normal.sample([2], seed=1),
        normal.sample(count, seed=1),
        normal.batch_shape_tensor(),
        classes.sample([2], seed=1),
        classes.log_prob([1, 0]),
        classes.event_size,
        classes.mode(),
        shares.sample(2, seed=3),
        shares.mean(),
        shares.event_shape_tensor(),
        normal.is_scalar_batch(),
    ]
    feeds = {loc: [1.0, 2.0], probs: [[0.2, 0.8], [0.5, 0.5]]}
    with tf.Session() as session:
        values = []
        for feeds[count] in (3, [2, 2]):
            values.append(session.run(made, feeds))
    return [[x.shape for x in made[3:]], Close(values, 1e-4, 1e-5)]


# -------------------------------------------------------------------------------- checks


@cases(
    {
        "normal": ("Normal", (0.0, -1.0)),
        "laplace": ("Laplace", (0.0, 0.0)),
        "student": ("StudentT", (-1.0, 0.0, 1.0)),
        "uniform": ("Uniform", (2.0, 1.0)),
        "gamma": ("Gamma", (-1.0, 1.0)),
        "gamma rate": ("Gamma", (1.0, 0.0)),
        "exponential": ("Exponential", (-1.0,)),
        "beta": ("Beta", (-1.0, 1.0)),
        "dirichlet": ("Dirichlet", ([1.0, -1.0],)),
        "dirichlet of one": ("Dirichlet", ([1.0],)),
        "multinomial": ("Multinomial", (-3.0, [0.0, 0.0])),
        "half a trial": ("Multinomial", (3.5, [0.0, 0.0])),
        "multinomial of one": ("Multinomial", (3.0, [0.0])),
        "dirichlet multinomial": ("DirichletMultinomial", (3.0, [-1.0, 2.0])),
        "no class": ("Categorical", ([0.0],)),
        "no axis": ("Categorical", (0.0,)),
    }
)
def invalid_parameters(tf, np, kind, arguments):
    def attempt():
        fed = [tf.placeholder_with_default(np.float32(a), np.shape(a)) for a in arguments]
        d = getattr(tf.distributions, kind)(*fed, validate_args=True)
        run(tf, d.mean() if kind != "Categorical" else d.mode())

    return raises(attempt)


@cases(
    {
        "negative": ("Bernoulli", -0.5),
        "above one": ("Bernoulli", 1.5),
        "not one": ("Categorical", [0.5, 0.6]),
        "negative class": ("Categorical", [-0.5, 1.5]),
    }
)
def invalid_probabilities(tf, np, kind, probs):
    def attempt():
        fed = tf.placeholder_with_default(np.float32(probs), np.shape(probs))
        run(tf, getattr(tf.distributions, kind)(probs=fed, validate_args=True).probs)

    return raises(attempt)


@cases(
    {
        "gamma": ("Gamma", -1.0),
        "beta": ("Beta", 1.5),
        "beta below": ("Beta", -0.5),
        "dirichlet": ("Dirichlet", [[0.5, 0.6, 0.1]]),
        "bernoulli": ("Bernoulli", 2),
        "half": ("Bernoulli", 0.5),
        "categorical": ("Categorical", -1),
        "half a class": ("Categorical", 0.5),
        "multinomial": ("Multinomial", [1.0, 1.0]),
        "half a count": ("Multinomial", [0.5, 3.5]),
        "dirichlet multinomial": ("DirichletMultinomial", [1.0, 1.0, 1.0]),
    }
)
def invalid_values(tf, np, kind, value):
    def attempt():
        x = np.array(value)
        x = x.astype("float32") if x.dtype.kind == "f" else x.astype("int32")
        d = _make(tf, np, kind, validate_args=True)
        run(tf, d.log_prob(tf.placeholder_with_default(x, x.shape)))

    return raises(attempt)


@cases(*product(_KINDS))
def valid_values(tf, np, kind):
    d = _make(tf, np, kind, validate_args=True)
    values = np.array(_VALUES[kind][0])
    values = values.astype("float32") if values.dtype.kind == "f" else values
    return _close(tf, d.log_prob(values))


def statistics_that_are_not_defined(tf, np):
    few = tf.distributions.StudentT([0.5, 1.5, 3.0], 0.0, 1.0)
    made = [
        few.mean(),
        few.variance(),
        few.stddev(),
        tf.distributions.Gamma([0.5, 2.0], 1.0).mode(),
        tf.distributions.Beta([0.5, 2.0], [2.0, 3.0]).mode(),
        tf.distributions.Dirichlet([0.5, 2.0]).mode(),
        tf.distributions.Dirichlet([1.5, 2.0]).mode(),
    ]
    return _close(tf, made)


@cases(
    ("StudentT", (0.5, 0.0, 1.0), "mean"),
    ("StudentT", (0.5, 0.0, 1.0), "variance"),
    ("Gamma", (0.5, 1.0), "mode"),
    ("Beta", (0.5, 2.0), "mode"),
    ("Beta", (2.5, 0.5), "mode"),
    ("Dirichlet", ([0.5, 2.0],), "mode"),
)
def statistics_that_must_be_defined(tf, np, kind, arguments, name):
    def attempt():
        fed = [tf.placeholder_with_default(np.float32(a), np.shape(a)) for a in arguments]
        run(tf, getattr(getattr(tf.distributions, kind)(*fed, allow_nan_stats=False), name)())

    return raises(attempt)


def refusals(tf, np):
    d = tf.distributions
    return [
        raises(d.Bernoulli),
        raises(d.Bernoulli, [0.5], [0.5]),
        raises(d.Bernoulli, logits=[1]),
        raises(d.Bernoulli, probs=[1]),
        raises(d.Categorical, probs=[1, 0]),
        raises(d.Normal, tf.constant(1.0), tf.constant(1.0, tf.float64)),
        raises(d.Normal, tf.constant(1), tf.constant(1)),
        raises(d.Gamma, tf.constant(1.0), tf.constant(1.0, tf.float64)),
        raises(d.Normal(0.0, 1.0).sample, [[1, 2]]),
        raises(d.Normal(0.0, 1.0).cdf, "a"),
        raises(d.Categorical(probs=[0.5, 0.5]).prob, True),
        raises(d.Distribution, tf.float32, d.NOT_REPARAMETERIZED, False, True, graph_parents=[1.0]),
        raises(d.Gamma(1.0, 1.0).log_prob, tf.constant(1.0, tf.float64)),
    ]


def one_of_ones_own(tf, np):
    class Always(tf.distributions.Distribution):
        def __init__(self, value, name="Always"):
            parameters = dict(locals())
            self.value = tf.convert_to_tensor(value)
            super(Always, self).__init__(
                dtype=self.value.dtype,
                reparameterization_type=tf.distributions.FULLY_REPARAMETERIZED,
                validate_args=False,
                allow_nan_stats=True,
                parameters=parameters,
                graph_parents=[self.value],
                name=name,
            )

        def _batch_shape(self):
            return self.value.shape

        def _event_shape(self):
            return tf.TensorShape([])

        def _sample_n(self, n, seed=None):
            return tf.zeros(tf.concat([[n], tf.shape(self.value)], 0)) + self.value

        def _cdf(self, x):
            return tf.cast(x >= self.value, tf.float32)

        def _stddev(self):
            return self.value * 0 + 2.0

    d = Always([1.0, 2.0])
    return [
        str(d),
        d.parameters["value"],
        run(tf, [d.sample([2, 2]), d.cdf(1.5), d.survival_function(1.5), d.variance(), d.log_cdf(3.0)]),
        raises(d.mean),
        raises(d.log_prob, 1.0),
        raises(d.prob, 1.0),
        raises(d.quantile, 0.5),
        raises(d.entropy),
        raises(d.mode),
    ]
