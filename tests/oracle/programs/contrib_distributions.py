"""tf.contrib.distributions: samples, densities, statistics, divergences, checks."""

from kit import Close, cases, product, raises, run

_SPD = [[2.0, 0.5], [0.5, 1.0]]
_TRIL = [[1.5, 0.0], [0.5, 1.0]]


def _make(tf, np, kind, dtype="float32", **keywords):
    """A distribution of each kind, most of them a batch of two or three."""
    m = lambda values: np.array(values, dtype)
    c = lambda *values: m(values)
    d = tf.contrib.distributions
    b = d.bijectors
    linalg = tf.linalg
    return {
        "Cauchy": lambda: d.Cauchy(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "Logistic": lambda: d.Logistic(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "HalfNormal": lambda: d.HalfNormal(c(1.0, 0.5, 3.0), **keywords),
        "Chi2": lambda: d.Chi2(c(3.0, 2.5, 7.0), **keywords),
        "Chi2WithAbsDf": lambda: d.Chi2WithAbsDf(c(-3.2, 2.5, 7.0), **keywords),
        "InverseGamma": lambda: d.InverseGamma(c(3.0, 1.5, 4.0), c(1.0, 0.5, 3.0), **keywords),
        "BetaWithSoftplusConcentration": lambda: d.BetaWithSoftplusConcentration(
            c(0.3, 1.5, -1.0), c(1.0, 0.0, 3.0), **keywords
        ),
        "ExponentialWithSoftplusRate": lambda: d.ExponentialWithSoftplusRate(c(1.0, -0.5, 3.0), **keywords),
        "GammaWithSoftplusConcentrationRate": lambda: d.GammaWithSoftplusConcentrationRate(
            c(3.0, -1.5, 4.0), c(1.0, 0.5, -3.0), **keywords
        ),
        "InverseGammaWithSoftplusConcentrationRate": lambda: d.InverseGammaWithSoftplusConcentrationRate(
            c(3.0, -1.5, 4.0), c(1.0, 0.5, -3.0), **keywords
        ),
        "LaplaceWithSoftplusScale": lambda: d.LaplaceWithSoftplusScale(
            c(0.0, 1.0, -2.0), c(1.0, -0.5, 3.0), **keywords
        ),
        "NormalWithSoftplusScale": lambda: d.NormalWithSoftplusScale(
            c(0.0, 1.0, -2.0), c(1.0, -0.5, 3.0), **keywords
        ),
        "StudentTWithAbsDfSoftplusScale": lambda: d.StudentTWithAbsDfSoftplusScale(
            c(-3.5, 5.0, 30.2), c(0.0, 1.0, -2.0), c(1.0, -0.5, 3.0), **keywords
        ),
        "Binomial": lambda: d.Binomial(c(5.0, 8.0, 3.0), logits=c(0.0, 1.5, -1.0), **keywords),
        "Geometric": lambda: d.Geometric(probs=c(0.2, 0.5, 0.9), **keywords),
        "NegativeBinomial": lambda: d.NegativeBinomial(
            c(5.0, 0.5, 3.0), logits=c(0.0, 1.5, -1.0), **keywords
        ),
        "Poisson": lambda: d.Poisson(c(0.7, 3.0, 12.0), **keywords),
        "PoissonLogRate": lambda: d.Poisson(log_rate=c(0.7, 2.0, -1.0), **keywords),
        "Deterministic": lambda: d.Deterministic(c(1.0, 2.0, 3.0), atol=0.5, **keywords),
        "VectorDeterministic": lambda: d.VectorDeterministic(
            m([[1.0, 2.0], [3.0, 4.0]]), rtol=0.1, **keywords
        ),
        "OneHotCategorical": lambda: d.OneHotCategorical(m([[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]]), **keywords),
        "ExpRelaxed": lambda: d.ExpRelaxedOneHotCategorical(
            0.7, logits=m([[0.0, 1.0, 2.0], [1.0, -1.0, 0.0]]), **keywords
        ),
        "RelaxedOneHot": lambda: d.RelaxedOneHotCategorical(
            0.7, probs=m([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]), **keywords
        ),
        "RelaxedBernoulli": lambda: d.RelaxedBernoulli(m(0.5), probs=c(0.2, 0.5, 0.9), **keywords),
        "SinhArcsinh": lambda: d.SinhArcsinh(
            c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), skewness=m(0.3), tailweight=c(1.0, 0.8, 1.5), **keywords
        ),
        "SinhArcsinhPlain": lambda: d.SinhArcsinh(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0), **keywords),
        "Kumaraswamy": lambda: d.Kumaraswamy(c(2.0, 1.5, 3.0), c(1.25, 2.5, 3.0), **keywords),
        "NormalDiag": lambda: d.MultivariateNormalDiag(
            m([[1.0, -1.0], [0.0, 2.0]]), m([0.5, 2.0]), **keywords
        ),
        "NormalScaledIdentity": lambda: d.MultivariateNormalDiag(
            c(1.0, -1.0), scale_identity_multiplier=m(0.5), **keywords
        ),
        "NormalIdentity": lambda: d.MultivariateNormalDiag(c(1.0, -1.0), **keywords),
        "NormalDiagSoftplus": lambda: d.MultivariateNormalDiagWithSoftplusScale(
            c(1.0, -1.0), c(-1.0, 2.0), **keywords
        ),
        "NormalLowRank": lambda: d.MultivariateNormalDiagPlusLowRank(
            c(1.0, -1.0, 0.0), c(1.0, 2.0, 0.5), scale_perturb_factor=m([[1.0], [0.5], [0.2]]), **keywords
        ),
        "NormalTriL": lambda: d.MultivariateNormalTriL(c(1.0, -1.0), m(_TRIL), **keywords),
        "NormalTriLBatch": lambda: d.MultivariateNormalTriL(
            m([[1.0, -1.0]]), m([_TRIL, [[2.0, 0.0], [-1.0, 0.5]]]), **keywords
        ),
        "NormalTriLIdentity": lambda: d.MultivariateNormalTriL(c(1.0, -1.0), **keywords),
        "NormalFull": lambda: d.MultivariateNormalFullCovariance(c(1.0, -1.0), m(_SPD), **keywords),
        "ExponentialVector": lambda: d.VectorExponentialDiag(
            m([[1.0, -1.0], [0.0, 2.0]]), m([0.5, 2.0]), **keywords
        ),
        "LaplaceVector": lambda: d.VectorLaplaceDiag(m([[1.0, -1.0], [0.0, 2.0]]), m([0.5, 2.0]), **keywords),
        "SinhArcsinhVector": lambda: d.VectorSinhArcsinhDiag(
            m([[1.0, -1.0], [0.0, 2.0]]), m([0.5, 2.0]), skewness=m(0.2), tailweight=m(1.2), **keywords
        ),
        "WishartFull": lambda: d.WishartFull(m(3.5), m(_SPD), **keywords),
        "WishartCholesky": lambda: d.WishartCholesky(m(3.5), m([_TRIL, _TRIL]), **keywords),
        "WishartRoots": lambda: d.WishartCholesky(
            m(3.5), m(_TRIL), cholesky_input_output_matrices=True, **keywords
        ),
        "Independent": lambda: d.Independent(d.Normal(m([[1.0, -1.0], [0.0, 2.0]]), m(2.0)), **keywords),
        "BatchReshape": lambda: d.BatchReshape(
            d.Normal(m([1.0, -1.0, 0.0, 2.0]), m(2.0)), [2, -1], **keywords
        ),
        "BatchReshapeVectors": lambda: d.BatchReshape(
            d.MultivariateNormalDiag(m([[1.0, -1.0], [0.0, 2.0]]), m([[1.0, 2.0], [3.0, 4.0]])),
            [1, 2],
            **keywords,
        ),
        "Quantized": lambda: d.QuantizedDistribution(
            d.Normal(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0)), low=m(-2.0), high=m(2.0), **keywords
        ),
        "QuantizedOpen": lambda: d.QuantizedDistribution(d.Uniform(c(0.0, 1.0), c(4.0, 2.5)), **keywords),
        "Mixture": lambda: d.Mixture(
            d.Categorical(logits=m([[0.0, 1.0], [1.0, -1.0]])),
            [d.Normal(c(0.0, 1.0), c(1.0, 2.0)), d.Laplace(c(3.0, 1.0), c(1.0, 0.5))],
            **keywords,
        ),
        "MixtureStatic": lambda: d.Mixture(
            d.Categorical(logits=m([0.0, 1.0])),
            [d.MultivariateNormalDiag(c(0.0, 1.0)), d.MultivariateNormalDiag(c(3.0, 1.0))],
            use_static_graph=True,
            **keywords,
        ),
        "MixtureSameFamily": lambda: d.MixtureSameFamily(
            d.Categorical(probs=m([0.3, 0.7])), d.Normal(m([[0.0, 1.0], [2.0, 3.0]]), m(2.0)), **keywords
        ),
        "MixtureSameFamilyVectors": lambda: d.MixtureSameFamily(
            d.Categorical(probs=m([0.3, 0.7])),
            d.MultivariateNormalDiag(m([[0.0, 1.0], [2.0, 3.0]])),
            **keywords,
        ),
        "PoissonLogNormal": lambda: d.PoissonLogNormalQuadratureCompound(
            c(0.0, 0.5), c(1.0, 0.3), quadrature_size=4, **keywords
        ),
        "PoissonLogNormalHermite": lambda: d.PoissonLogNormalQuadratureCompound(
            tf.constant(m(0.5)), m(0.3), quadrature_fn=d.quadrature_scheme_lognormal_gauss_hermite, **keywords
        ),
        "Diffeomixture": lambda: d.VectorDiffeomixture(
            mix_loc=m([[0.0], [1.0]]),
            temperature=m([1.5]),
            distribution=d.Normal(m(0.0), m(1.0)),
            loc=[None, c(2.0, -2.0)],
            scale=[
                linalg.LinearOperatorScaledIdentity(2, m(1.1), is_positive_definite=True),
                linalg.LinearOperatorDiag(c(0.5, 2.0), is_positive_definite=True),
            ],
            **keywords,
        ),
        "DiffeomixtureTriL": lambda: d.VectorDiffeomixture(
            mix_loc=m([[0.5]]),
            temperature=m([1.5]),
            distribution=d.Normal(m(0.0), m(1.0)),
            loc=[c(1.0, 0.0), c(2.0, -2.0)],
            scale=[
                linalg.LinearOperatorLowerTriangular(m(_TRIL), is_positive_definite=True),
                linalg.LinearOperatorDiag(c(0.5, 2.0), is_positive_definite=True),
            ],
            quadrature_size=3,
            **keywords,
        ),
        "LogNormal": lambda: d.TransformedDistribution(
            d.Normal(c(0.0, 1.0, -2.0), c(1.0, 0.5, 3.0)), b.Exp(), **keywords
        ),
        "Folded": lambda: d.TransformedDistribution(
            d.Normal(c(0.5, 1.0), m(1.0)), b.AbsoluteValue(), **keywords
        ),
        "GivenShapes": lambda: d.TransformedDistribution(
            d.Normal(m(0.0), m(1.0)),
            b.Affine(shift=c(1.0, 2.0), scale_diag=c(1.0, 3.0)),
            batch_shape=[3],
            event_shape=[2],
            **keywords,
        ),
        "GivenEvent": lambda: d.TransformedDistribution(
            d.Normal(c(0.0, 1.0, 2.0), m(1.0)), b.Affine(shift=c(1.0, 2.0)), event_shape=[2], **keywords
        ),
        "Autoregressive": lambda: d.Autoregressive(
            lambda x: d.Independent(d.Normal(0.5 * x, m(1.0)), 1), sample0=m([0.0, 0.0]), **keywords
        ),
    }[kind]()


_THREE = [[0.1, 1.0, 2.0], [0.5, 2.6, 3.0], [7.0, 0.01, 20.0]]
_SIGNED = [[0.0, 1.0, -1.0], [-7.0, 2.0, 30.0], [0.3, -2.0, 5.0]]
_SHARES = [[0.1, 0.5, 0.9], [0.01, 0.3, 0.6]]
_COUNTS = [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]]
_PAIRS = [[[0.5, 1.0], [-1.0, 2.0]], [[0.0, 0.0], [3.0, 1.0]]]
_PAIR = [[0.5, 1.0], [-1.0, 2.0], [0.0, 0.0]]
_VALUES = {
    "Cauchy": _SIGNED,
    "Logistic": _SIGNED,
    "HalfNormal": _SIGNED,
    "Chi2": _THREE,
    "Chi2WithAbsDf": _THREE,
    "InverseGamma": _THREE,
    "BetaWithSoftplusConcentration": _SHARES[1],
    "ExponentialWithSoftplusRate": _THREE,
    "GammaWithSoftplusConcentrationRate": _THREE,
    "InverseGammaWithSoftplusConcentrationRate": _THREE,
    "LaplaceWithSoftplusScale": _SIGNED,
    "NormalWithSoftplusScale": _SIGNED,
    "StudentTWithAbsDfSoftplusScale": _SIGNED[1],
    "Binomial": _COUNTS[1],
    "Geometric": _COUNTS,
    "NegativeBinomial": _COUNTS[1],
    "Poisson": _COUNTS,
    "PoissonLogRate": _COUNTS,
    "Deterministic": [[1.2, 2.0, 3.6], [0.0, 2.4, 2.6]],
    "VectorDeterministic": [[[1.05, 2.0], [3.0, 4.0]], [[1.2, 2.0], [3.0, 4.3]]],
    "OneHotCategorical": [[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 0, 1]]],
    "ExpRelaxed": [[[-0.5, -1.5, -2.0], [-1.0, -1.0, -1.2]]],
    "RelaxedOneHot": [[[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]], [[0.7, 0.1, 0.2], [0.01, 0.01, 0.98]]],
    "RelaxedBernoulli": _SHARES,
    "SinhArcsinh": _SIGNED,
    "SinhArcsinhPlain": _SIGNED,
    "Kumaraswamy": _SHARES,
    "NormalDiag": _PAIRS,
    "NormalScaledIdentity": _PAIR,
    "NormalIdentity": _PAIR,
    "NormalDiagSoftplus": _PAIR,
    "NormalLowRank": [[0.5, 1.0, 0.0], [-1.0, 2.0, 1.0]],
    "NormalTriL": _PAIR,
    "NormalTriLBatch": _PAIRS,
    "NormalTriLIdentity": _PAIR,
    "NormalFull": _PAIR,
    "ExponentialVector": [[[1.5, -0.5], [1.0, 2.5]]],
    "LaplaceVector": _PAIRS,
    "SinhArcsinhVector": _PAIRS,
    "WishartFull": [[[1.0, 0.2], [0.2, 2.0]], [[3.0, -0.5], [-0.5, 1.0]]],
    "WishartCholesky": [[[[1.0, 0.2], [0.2, 2.0]], [[3.0, -0.5], [-0.5, 1.0]]]],
    "WishartRoots": [[[1.0, 0.0], [0.2, 2.0]]],
    "Independent": _PAIRS,
    "BatchReshape": [[[0.5, 1.0], [-1.0, 2.0]]],
    "BatchReshapeVectors": [[[0.5, 1.0], [-1.0, 2.0]]],
    "Quantized": [[0.0, 1.0, -1.0], [-2.0, 2.0, 2.0], [-3.0, 3.0, 1.0]],
    "QuantizedOpen": [[1.0, 2.0], [4.0, 1.0]],
    "Mixture": [[0.5, 1.0], [-1.0, 2.0]],
    "MixtureStatic": _PAIR,
    "MixtureSameFamily": [[0.5, 1.0], [-1.0, 2.0]],
    "MixtureSameFamilyVectors": _PAIR,
    "PoissonLogNormal": [[0.0, 1.0], [3.0, 2.0]],
    "PoissonLogNormalHermite": [0.0, 1.0, 5.0],
    "Diffeomixture": _PAIRS,
    "DiffeomixtureTriL": [[[0.5, 1.0]]],
    "LogNormal": _THREE,
    "Folded": [[0.5, 1.0], [2.0, 0.1]],
    "GivenShapes": [[[0.5, 1.0], [-1.0, 2.0], [0.0, 0.0]]],
    "GivenEvent": [[[0.5, 1.0], [-1.0, 2.0], [0.0, 0.0]]],
    "Autoregressive": [[0.5, 1.0], [-1.0, 2.0]],
}
_KINDS = sorted(_VALUES)


def _close(tf, tensor, feeds=None):
    return Close(run(tf, tensor, feeds), 3e-4, 3e-5)


def _answer(tf, call):
    """The value, or the error, of what a distribution is asked."""
    try:
        made = call()
    except NotImplementedError as error:
        return "not implemented: " + str(error)
    except ValueError as error:
        return "not defined: " + str(error)
    return [made.dtype.name, made.shape, _close(tf, made)]


@cases(*_KINDS)
def description(tf, np, kind):
    d = _make(tf, np, kind)
    return [
        d.dtype,
        d.batch_shape,
        d.event_shape,
        repr(d.reparameterization_type),
        d.allow_nan_stats,
        d.validate_args,
        run(tf, [d.batch_shape_tensor(), d.is_scalar_batch(), d.is_scalar_event()]),
    ]


@cases(*product(_KINDS, ["entropy", "mean", "stddev", "variance", "mode", "covariance"]))
def statistic(tf, np, kind, name):
    return _answer(tf, getattr(_make(tf, np, kind), name))


@cases(*product(_KINDS, ["prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function"]))
def function(tf, np, kind, name):
    values = np.array(_VALUES[kind])
    if kind != "OneHotCategorical":
        values = values.astype("float32")
    return _answer(tf, lambda: getattr(_make(tf, np, kind), name)(values))


@cases(*product([kind for kind in _KINDS if kind != "Binomial"], [(), 4, (2, 3)]))
def samples(tf, np, kind, shape):
    x = _make(tf, np, kind).sample(shape, seed=7)
    if kind.startswith("MixtureSameFamily"):  # TensorFlow forgets the seed
        return [x.dtype.name, x.shape]
    return [x.dtype.name, x.shape, Close(run(tf, x), 1e-4, 1e-5)]


@cases("Cauchy", "HalfNormal", "LogNormal", "SinhArcsinh", "NormalDiag", "Folded")
def quantile(tf, np, kind):
    shares = np.array([[0.01, 0.5, 0.9], [0.3, 0.14, 0.86]], "float32")
    return _answer(tf, lambda: _make(tf, np, kind).quantile(shares[:, :2] if kind == "Folded" else shares))


@cases("Cauchy", "NormalTriL", "Chi2", "LogNormal", "Kumaraswamy", "Mixture", "WishartFull")
def doubles(tf, np, kind):
    d = _make(tf, np, kind, "float64")
    x = d.sample(3, seed=5)
    return [x.dtype.name, Close(run(tf, [x, d.log_prob(np.array(_VALUES[kind], "float64"))]), 1e-5, 1e-6)]


_SMOOTH = [
    "Cauchy",
    "Logistic",
    "HalfNormal",
    "RelaxedBernoulli",
    "RelaxedOneHot",
    "ExpRelaxed",
    "NormalDiag",
]
_SMOOTH += [
    "NormalTriL",
    "NormalFull",
    "SinhArcsinh",
    "Kumaraswamy",
    "LogNormal",
    "WishartFull",
    "Diffeomixture",
]


@cases(*_SMOOTH)
def slopes(tf, np, kind):
    d = _make(tf, np, kind)
    x = tf.constant(np.array(_VALUES[kind], "float32"))
    of_density = tf.gradients(d.log_prob(x), x)[0]
    of_samples = tf.gradients(tf.reduce_sum(tf.square(d.sample(3, seed=4))), d._graph_parents)
    return [
        Close(run(tf, of_density), 2e-3, 2e-3),
        sorted(g is None for g in of_samples) if kind == "Diffeomixture" else len(of_samples) > 0,
    ]


@cases("Chi2", "NormalDiag", "NormalTriL", "NormalFull", "OneHotCategorical", "Independent", "NormalLowRank")
def divergence(tf, np, kind):
    a, b = _make(tf, np, kind), _make(tf, np, kind)
    if kind == "NormalDiag":
        b = tf.contrib.distributions.MultivariateNormalTriL([0.5, 0.5], np.float32(_TRIL))
    if kind == "NormalTriL":
        b = _make(tf, np, "NormalScaledIdentity")
    made = [a.kl_divergence(b), tf.contrib.distributions.kl_divergence(b, a)]
    return [[x.shape for x in made], _close(tf, made)]


def divergence_of_independents(tf, np):
    d = tf.contrib.distributions
    a = d.Independent(d.Normal([[0.0, 1.0]], 1.0), 1)
    b = d.Independent(d.Normal([[0.5, 2.0]], 2.0), 1)
    c = d.Independent(d.Normal([[0.5, 2.0, 1.0]], 2.0), 1)
    e = d.Independent(d.MultivariateNormalDiag([[0.5, 2.0]]), 0)
    return [_close(tf, a.kl_divergence(b)), raises(a.kl_divergence, c), raises(a.kl_divergence, e)]


def unknown_shapes(tf, np):
    d = tf.contrib.distributions
    vectors, rows = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
    normal = d.MultivariateNormalDiag(rows, tf.exp(rows))
    triangle = d.MultivariateNormalTriL(rows, tf.matrix_diag(tf.exp(rows)))
    independent = d.Independent(d.Normal(vectors, 1.0))
    mixed = d.MixtureSameFamily(d.Categorical(logits=rows), d.Normal(rows, 1.0))
    log_normal = d.TransformedDistribution(d.Normal(vectors, 1.0), d.bijectors.Exp())
    made = [
        normal.sample(2, seed=1),
        normal.log_prob(rows),
        normal.mean(),
        normal.covariance(),
        normal.batch_shape_tensor(),
        normal.event_shape_tensor(),
        triangle.sample([2], seed=1),
        triangle.log_prob(rows + 1.0),
        triangle.entropy(),
        independent.sample(2, seed=1),
        independent.log_prob(vectors),
        independent.event_shape_tensor(),
        mixed.log_prob([0.5, 1.0]),
        mixed.mean(),
        log_normal.sample(3, seed=1),
        log_normal.log_prob(vectors + 2.0),
        d.OneHotCategorical(logits=rows).sample(2, seed=3),
        d.BatchReshape(d.Normal(vectors, 1.0), tf.concat([tf.shape(rows)[1:], tf.shape(rows)[:1]], 0)).sample(
            2, seed=3
        ),
        d.fill_triangular(rows),
        d.fill_triangular_inverse(tf.matrix_diag(rows)),
        d.WishartFull(5.0, tf.matrix_diag(tf.exp(rows))).log_prob(tf.matrix_diag(tf.exp(rows))),
    ]
    feeds = {vectors: [[1.0, 2.0, 0.5], [0.0, 0.1, 0.2]], rows: [[0.2, 0.8, 0.1], [0.5, 0.5, 0.3]]}
    return [[x.shape for x in made[16:]], Close(run(tf, made, feeds), 1e-3, 1e-4)]


# -------------------------------------------------------------------------------- checks

_WRONG = {
    "cauchy": ("Cauchy", (0.0, -1.0)),
    "logistic": ("Logistic", (0.0, 0.0)),
    "half_normal": ("HalfNormal", (-1.0,)),
    "chi2": ("Chi2", (-1.0,)),
    "inverse_gamma": ("InverseGamma", (-1.0, 1.0)),
    "inverse_gamma_rate": ("InverseGamma", (1.0, -1.0)),
    "poisson": ("Poisson", (-1.0,)),
    "kumaraswamy": ("Kumaraswamy", (-1.0, 1.0)),
}


@cases(_WRONG)
def wrong_parameters(tf, np, kind, arguments):
    """A step that asks for a statistic fails with a message of the assertion."""
    holders = [tf.placeholder_with_default(np.float32(argument), []) for argument in arguments]
    d = getattr(tf.contrib.distributions, kind)(*holders, validate_args=True)
    return raises(lambda: run(tf, d.sample(seed=1)))


def wrong_arguments(tf, np):
    d = tf.contrib.distributions
    b = d.bijectors
    normal = d.Normal([0.0, 1.0], 1.0)
    return [
        raises(d.Poisson),
        raises(d.Poisson, 1.0, 1.0),
        raises(d.Poisson, 1),
        raises(d.Binomial, 3.0),
        raises(d.MultivariateNormalTriL),
        raises(d.MultivariateNormalDiag),
        raises(d.Mixture, normal, [normal]),
        raises(d.Mixture, d.Categorical(logits=[0.0, 1.0]), []),
        raises(d.Mixture, d.Categorical(logits=[0.0, 1.0]), normal),
        raises(d.Mixture, d.Categorical(logits=[0.0, 1.0]), [d.Normal(0.0, 1.0)]),
        raises(d.Mixture, d.Categorical(logits=[0.0, 1.0]), [d.Normal(0.0, 1.0), 3]),
        raises(d.MixtureSameFamily, normal, normal),
        raises(d.MixtureSameFamily, d.Categorical(logits=[0.0, 1.0, 2.0]), normal),
        raises(d.Independent, normal, 2),
        raises(d.BatchReshape, normal, [3]),
        raises(d.BatchReshape, normal, 2),
        raises(d.BatchReshape(normal, [2, 1]).log_prob, [0.0]),
        raises(d.BatchReshape(normal, [2, 1]).log_prob, [[0.0, 0.0]]),
        raises(d.TransformedDistribution, normal, b.Exp(), [2]),
        raises(d.TransformedDistribution, d.Normal(0.0, 1.0), b.Exp(), [0]),
        raises(d.WishartFull, 1.0, np.float32(_SPD)),
        raises(d.Cauchy(0.0, 1.0, allow_nan_stats=False).mean),
        raises(d.VectorDeterministic, 1.0, validate_args=True),
        raises(d.VectorDiffeomixture, [0.0], [1.0], d.Normal(0.0, 1.0), scale=[]),
        raises(d.fill_triangular, [1.0, 2.0]),
        raises(d.tridiag),
        raises(d.percentile, [1.0], 3.0, interpolation="linear"),
        raises(d.percentile, [1.0], 3.0, axis=2),
        raises(d.normal_conjugates_known_scale_posterior, 3, 1.0, tf.constant(1.0), 2),
        raises(d.Autoregressive, lambda x: normal, 1.0, 0),
    ]


# -------------------------------------------------------------------------------- functions


def functions(tf, np):
    d = tf.contrib.distributions
    x = np.arange(1, 13, dtype="float32").reshape([2, 6])
    made = [
        d.fill_triangular(x),
        d.fill_triangular(x, upper=True),
        d.fill_triangular_inverse(d.fill_triangular(x)),
        d.fill_triangular_inverse(d.fill_triangular(x, upper=True), upper=True),
        d.matrix_diag_transform(np.float32([[1.0, 2.0], [3.0, 4.0]]), tf.exp),
        d.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]]),
        d.softplus_inverse(np.float32([1e-8, 0.1, 1.0, 5.0, 50.0])),
        d.softplus_inverse(np.array([1e-20, 0.1, 1.0, 5.0, 500.0])),
        d.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]),
        d.tridiag(diag=[3.0, 4.0, 5.0]),
        d.reduce_weighted_logsumexp(x),
        d.reduce_weighted_logsumexp(x, [1.0, -1.0, 2.0, 0.5, -3.0, 0.1], axis=-1, return_sign=True),
        d.reduce_weighted_logsumexp(x, [[1.0], [-2.0]], axis=0, keep_dims=True),
        d.reduce_weighted_logsumexp(x, axis=1, return_sign=True),
        d.auto_correlation(np.sin(x)),
        d.auto_correlation(np.sin(x), axis=0, center=False, normalize=False),
        d.auto_correlation(np.sin(x), max_lags=2),
        d.auto_correlation(np.sin(x) + 1j * np.cos(x).astype("complex64"), max_lags=3),
        d.percentile(x, 30.0),
        d.percentile(x, 30.0, axis=1, interpolation="lower"),
        d.percentile(x, 30.0, axis=[0], interpolation="higher", keep_dims=True),
        d.percentile(x, 50, axis=[0, -1], keep_dims=True),
        d.percentile(x, 50.0, keep_dims=True, validate_args=True),
    ]
    posterior = d.normal_conjugates_known_scale_posterior(d.Normal(1.0, 2.0), 0.5, tf.constant(7.0), 3)
    predictive = d.normal_conjugates_known_scale_predictive(d.Normal(1.0, 2.0), 0.5, tf.constant(7.0), 3)
    made += [posterior.mean(), posterior.stddev(), predictive.mean(), predictive.stddev()]
    made += d.quadrature_scheme_softmaxnormal_quantiles([0.3], [1.2], 4)
    made += d.quadrature_scheme_lognormal_quantiles([0.3, 0.1], 1.2, 4)
    made += d.quadrature_scheme_lognormal_gauss_hermite(tf.constant(0.3), tf.constant(1.2), 4)
    flat = tf.contrib.framework.nest.flatten(made)
    return [[tensor.shape for tensor in flat], _close(tf, made)]


def seeds(tf, np):
    stream = tf.contrib.distributions.SeedStream(5, salt="mine")
    other = tf.contrib.distributions.SeedStream(stream, salt="other")
    none = tf.contrib.distributions.SeedStream(None, salt="mine")
    return [str(stream()), str(stream()), str(other()), none(), stream.original_seed, other.salt]


def moving_averages(tf, np):
    d = tf.contrib.distributions
    value = tf.placeholder(tf.float32, [2])
    moments = d.moving_mean_variance(value, 0.9)
    log_mean = tf.Variable(0.5)
    logs = d.assign_log_moving_mean_exp(log_mean, value[0], 0.8)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for fed in ([1.0, 2.0], [0.5, -1.0], [3.0, 0.0]):
            session.run(moments[1], {value: fed})
            found.append(session.run([logs], {value: fed}))
    return [[v.name for v in tf.global_variables()], len(tf.trainable_variables()), Close(found, 1e-5)]


def conditions(tf, np):
    d = tf.contrib.distributions

    class Shift(d.bijectors.ConditionalBijector):
        def __init__(self):
            super(Shift, self).__init__(forward_min_event_ndims=0, is_constant_jacobian=True, name="shift")

        def _forward(self, x, by):
            return x + by

        def _inverse(self, y, by):
            return y - by

        def _forward_log_det_jacobian(self, x, by):
            return tf.zeros([])

        def _inverse_log_det_jacobian(self, y, by):
            return tf.zeros([])

    moved = d.ConditionalTransformedDistribution(d.Normal(0.0, 1.0), Shift())
    by = {"by": 3.0}
    made = [
        moved.sample(4, seed=2, bijector_kwargs=by),
        moved.log_prob(2.0, bijector_kwargs=by),
        moved.prob(2.0, bijector_kwargs=by),
        moved.cdf(2.0, bijector_kwargs=by),
        moved.log_cdf(2.0, bijector_kwargs=by),
        moved.survival_function(2.0, bijector_kwargs=by),
        moved.log_survival_function(2.0, bijector_kwargs=by),
        Shift().forward(1.0, by=2.0),
        Shift().inverse(1.0, by=2.0),
        Shift().forward_log_det_jacobian(1.0, event_ndims=0, by=2.0),
        Shift().inverse_log_det_jacobian(1.0, event_ndims=0, by=2.0),
    ]
    return _close(tf, made)


def copies(tf, np):
    d = tf.contrib.distributions
    normal = d.MultivariateNormalDiag([1.0, 2.0], [3.0, 4.0], name="mine")
    other = normal.copy(loc=[0.0, 0.0])
    return [sorted(normal.parameters), type(other).__name__, _close(tf, [other.mean(), other.stddev()])]


@cases("Cauchy", "Chi2", "InverseGamma", "HalfNormal", "RelaxedBernoulli", "Logistic")
def parameter_shapes(tf, np, kind):
    d = getattr(tf.contrib.distributions, kind)
    found = d.param_shapes([2, 3])
    return [sorted(found), run(tf, found)]
