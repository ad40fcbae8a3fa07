"""Examples of tf.contrib.distributions and its bijectors."""

import tideflow as tf

# %% tf.contrib.distributions.Cauchy, tf.contrib.distributions.Logistic
d = tf.contrib.distributions
d.Cauchy(0.0, 1.0).prob(1.0), d.Logistic(0.0, 1.0).cdf(1.0)

# %% tf.contrib.distributions.HalfNormal
half = tf.contrib.distributions.HalfNormal(2.0)
half.mean(), half.prob(1.0), half.quantile(0.5)

# %% tf.contrib.distributions.Chi2, tf.contrib.distributions.Chi2WithAbsDf
d = tf.contrib.distributions
d.Chi2(3.0).mean(), d.Chi2WithAbsDf(-3.7).mean()

# %% tf.contrib.distributions.InverseGamma
inverse = tf.contrib.distributions.InverseGamma(3.0, 1.0)
inverse.mean(), inverse.variance(), inverse.prob(0.5)

# %% tf.contrib.distributions.BetaWithSoftplusConcentration,
# %% tf.contrib.distributions.ExponentialWithSoftplusRate,
# %% tf.contrib.distributions.GammaWithSoftplusConcentrationRate,
# %% tf.contrib.distributions.InverseGammaWithSoftplusConcentrationRate,
# %% tf.contrib.distributions.LaplaceWithSoftplusScale, tf.contrib.distributions.NormalWithSoftplusScale,
# %% tf.contrib.distributions.StudentTWithAbsDfSoftplusScale
d = tf.contrib.distributions
anything = tf.constant(-0.3)
positive = tf.nn.softplus(anything)
d.NormalWithSoftplusScale(0.0, anything).stddev(), d.Normal(0.0, positive).stddev()
d.GammaWithSoftplusConcentrationRate(anything, 0.5).mean(), d.ExponentialWithSoftplusRate(anything).mean()
d.BetaWithSoftplusConcentration(anything, 0.5).mean(), d.LaplaceWithSoftplusScale(0.0, anything).stddev()
d.InverseGammaWithSoftplusConcentrationRate(3.0, anything).mean()
d.StudentTWithAbsDfSoftplusScale(-5.5, 0.0, anything).stddev()

# %% tf.contrib.distributions.Binomial
heads = tf.contrib.distributions.Binomial(total_count=4.0, probs=0.3)
heads.prob([0.0, 1.0, 2.0]), heads.mean(), heads.cdf(2.0)

# %% tf.contrib.distributions.Geometric, tf.contrib.distributions.NegativeBinomial
d = tf.contrib.distributions
d.Geometric(probs=0.2).prob(3.0), d.NegativeBinomial(total_count=1.0, probs=0.8).prob(3.0)

# %% tf.contrib.distributions.Poisson
events = tf.contrib.distributions.Poisson(rate=3.0)
events.prob([0.0, 3.0]), events.cdf(3.0)

# %% tf.contrib.distributions.PoissonLogNormalQuadratureCompound,
# %% tf.contrib.distributions.quadrature_scheme_lognormal_quantiles,
# %% tf.contrib.distributions.quadrature_scheme_lognormal_gauss_hermite
d = tf.contrib.distributions
events = d.PoissonLogNormalQuadratureCompound(loc=0.0, scale=1.0, quadrature_size=3)
events.mean(), events.prob([0.0, 1.0])
d.quadrature_scheme_lognormal_quantiles(0.0, 1.0, 3)
d.quadrature_scheme_lognormal_gauss_hermite(tf.constant(0.0), tf.constant(1.0), 3)

# %% tf.contrib.distributions.Deterministic, tf.contrib.distributions.VectorDeterministic
d = tf.contrib.distributions
d.Deterministic(2.0, atol=0.1).prob([2.0, 2.05, 3.0]), d.VectorDeterministic([1.0, 2.0]).prob([1.0, 2.0])

# %% tf.contrib.distributions.OneHotCategorical
die = tf.contrib.distributions.OneHotCategorical(probs=[0.2, 0.3, 0.5])
die.prob([0, 0, 1]), die.mode(), die.sample(2, seed=1)

# %% tf.contrib.distributions.RelaxedOneHotCategorical, tf.contrib.distributions.ExpRelaxedOneHotCategorical
d = tf.contrib.distributions
relaxed = d.RelaxedOneHotCategorical(0.5, probs=[0.2, 0.3, 0.5])
logarithms = d.ExpRelaxedOneHotCategorical(0.5, probs=[0.2, 0.3, 0.5])
relaxed.sample(seed=1), tf.exp(logarithms.sample(seed=1))

# %% tf.contrib.distributions.RelaxedBernoulli
coin = tf.contrib.distributions.RelaxedBernoulli(temperature=0.5, probs=[0.2, 0.9])
coin.sample(seed=1), coin.log_prob([0.1, 0.7])

# %% tf.contrib.distributions.SinhArcsinh
skewed = tf.contrib.distributions.SinhArcsinh(loc=0.0, scale=1.0, skewness=0.5)
skewed.prob([-1.0, 1.0]), skewed.quantile(0.5)

# %% tf.contrib.distributions.Kumaraswamy
share = tf.contrib.distributions.Kumaraswamy(2.0, 3.0)
share.mean(), share.prob(0.4)

# %% tf.contrib.distributions.MultivariateNormalDiag,
# %% tf.contrib.distributions.MultivariateNormalDiagWithSoftplusScale
d = tf.contrib.distributions
normal = d.MultivariateNormalDiag(loc=[1.0, -1.0], scale_diag=[1.0, 2.0])
normal.log_prob([1.0, -1.0]), normal.covariance(), normal.sample(seed=1)
d.MultivariateNormalDiagWithSoftplusScale([1.0, -1.0], [0.0, -3.0]).stddev()

# %% tf.contrib.distributions.MultivariateNormalDiagPlusLowRank
normal = tf.contrib.distributions.MultivariateNormalDiagPlusLowRank(
    loc=[0.0, 0.0], scale_diag=[1.0, 2.0], scale_perturb_factor=[[1.0], [0.5]]
)
normal.covariance(), normal.log_prob([1.0, 1.0])

# %% tf.contrib.distributions.MultivariateNormalTriL,
# %% tf.contrib.distributions.MultivariateNormalFullCovariance
d = tf.contrib.distributions
triangle = tf.constant([[1.0, 0.0], [0.5, 2.0]])
normal = d.MultivariateNormalTriL([0.0, 1.0], scale_tril=triangle)
same = d.MultivariateNormalFullCovariance([0.0, 1.0], tf.matmul(triangle, triangle, transpose_b=True))
normal.log_prob([1.0, 1.0]), same.log_prob([1.0, 1.0]), d.kl_divergence(normal, same)

# %% tf.contrib.distributions.VectorExponentialDiag, tf.contrib.distributions.VectorLaplaceDiag,
# %% tf.contrib.distributions.VectorSinhArcsinhDiag
d = tf.contrib.distributions
loc, scale = [1.0, -1.0], [1.0, 2.0]
d.VectorExponentialDiag(loc, scale).mean(), d.VectorLaplaceDiag(loc, scale).variance()
d.VectorSinhArcsinhDiag(loc, scale, skewness=0.5).log_prob([0.0, 0.0])

# %% tf.contrib.distributions.VectorDiffeomixture,
# %% tf.contrib.distributions.quadrature_scheme_softmaxnormal_quantiles,
# %% tf.contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite
d = tf.contrib.distributions
between = d.VectorDiffeomixture(
    mix_loc=[0.0],
    temperature=[1.0],
    distribution=d.Normal(0.0, 1.0),
    loc=[None, [2.0, -2.0]],
    scale=[tf.linalg.LinearOperatorDiag([1.0, 1.0]), tf.linalg.LinearOperatorDiag([0.5, 2.0])],
    quadrature_size=3,
)
between.mean(), between.log_prob([1.0, -1.0])
d.quadrature_scheme_softmaxnormal_quantiles([0.0], [1.0], 3)
d.quadrature_scheme_softmaxnormal_gauss_hermite([0.0], [1.0], 3)

# %% tf.contrib.distributions.WishartFull, tf.contrib.distributions.WishartCholesky
d = tf.contrib.distributions
scale = tf.constant([[2.0, 0.5], [0.5, 1.0]])
wishart = d.WishartFull(df=3.0, scale=scale)
wishart.mean(), wishart.log_prob(scale), d.WishartCholesky(3.0, tf.cholesky(scale)).log_prob(scale)

# %% tf.contrib.distributions.Independent
d = tf.contrib.distributions
image = d.Independent(d.Bernoulli(probs=tf.fill([5, 2, 2], 0.3)), reinterpreted_batch_ndims=2)
print(image.batch_shape, image.event_shape)
image.log_prob(tf.ones([5, 2, 2], tf.int32))

# %% tf.contrib.distributions.BatchReshape
d = tf.contrib.distributions
table = d.BatchReshape(d.Normal([0.0, 1.0, 2.0, 3.0], 1.0), batch_shape=[2, 2])
print(table.batch_shape)
table.mean()

# %% tf.contrib.distributions.Autoregressive
d = tf.contrib.distributions


def next_of(x):
    return d.Independent(d.Normal(tf.cumsum(x, exclusive=True, axis=-1), 1.0), 1)


walk = d.Autoregressive(next_of, sample0=tf.zeros([3]))
walk.sample(seed=1), walk.log_prob([0.0, 1.0, 1.0])

# %% tf.contrib.distributions.QuantizedDistribution
d = tf.contrib.distributions
rounded = d.QuantizedDistribution(d.Normal(0.0, 2.0), low=-2.0, high=2.0)
rounded.prob([-2.0, 0.0, 2.0]), rounded.sample(4, seed=1)

# %% tf.contrib.distributions.Mixture, tf.contrib.distributions.MixtureSameFamily
d = tf.contrib.distributions
choice = d.Categorical(probs=[0.3, 0.7])
mixture = d.Mixture(choice, [d.Normal(0.0, 1.0), d.Normal(5.0, 2.0)])
same = d.MixtureSameFamily(choice, d.Normal([0.0, 5.0], [1.0, 2.0]))
mixture.log_prob(1.0), same.log_prob(1.0), mixture.mean(), mixture.sample(3, seed=1)

# %% tf.contrib.distributions.TransformedDistribution, tf.contrib.distributions.bijectors.Exp
d = tf.contrib.distributions
log_normal = d.TransformedDistribution(d.Normal(0.0, 1.0), d.bijectors.Exp())
log_normal.prob(1.0), log_normal.sample(3, seed=1)


# %% tf.contrib.distributions.ConditionalDistribution
class Around(tf.contrib.distributions.ConditionalDistribution):
    """A normal number around what each call says."""

    def _log_prob(self, x, center):
        return tf.distributions.Normal(center, 1.0).log_prob(x)


kind = tf.contrib.distributions.FULLY_REPARAMETERIZED
Around(tf.float32, kind, validate_args=False, allow_nan_stats=True).log_prob(1.0, center=1.0)

# %% tf.contrib.distributions.ConditionalTransformedDistribution,
# %% tf.contrib.distributions.bijectors.ConditionalBijector
d = tf.contrib.distributions


class Shift(d.bijectors.ConditionalBijector):
    def __init__(self):
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True)

    def _forward(self, x, by):
        return x + by

    def _inverse(self, y, by):
        return y - by

    def _forward_log_det_jacobian(self, x, by):
        return tf.zeros([])


moved = d.ConditionalTransformedDistribution(d.Normal(0.0, 1.0), Shift())
moved.log_prob(3.0, bijector_kwargs={"by": 3.0})

# %% tf.contrib.distributions.SeedStream
seeds = tf.contrib.distributions.SeedStream(7, salt="my model")
print(seeds() != seeds(), seeds.original_seed)

# %% tf.contrib.distributions.fill_triangular, tf.contrib.distributions.fill_triangular_inverse
triangle = tf.contrib.distributions.fill_triangular([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
triangle, tf.contrib.distributions.fill_triangular_inverse(triangle)

# %% tf.contrib.distributions.matrix_diag_transform
tf.contrib.distributions.matrix_diag_transform([[0.0, 2.0], [3.0, 1.0]], transform=tf.exp)

# %% tf.contrib.distributions.tridiag
tf.contrib.distributions.tridiag(below=[1.0, 2.0], diag=[3.0, 4.0, 5.0], above=[6.0, 7.0])

# %% tf.contrib.distributions.softplus_inverse
tf.nn.softplus(tf.contrib.distributions.softplus_inverse([0.1, 2.0]))

# %% tf.contrib.distributions.reduce_weighted_logsumexp
tf.contrib.distributions.reduce_weighted_logsumexp([1000.0, 1001.0], w=[1.0, -2.0], return_sign=True)

# %% tf.contrib.distributions.percentile
tf.contrib.distributions.percentile([[1.0, 5.0, 3.0], [4.0, 2.0, 9.0]], q=50.0, axis=1)

# %% tf.contrib.distributions.auto_correlation
tf.contrib.distributions.auto_correlation([1.0, -1.0, 1.0, -1.0], max_lags=2)

# %% tf.contrib.distributions.moving_mean_variance, tf.contrib.distributions.assign_moving_mean_variance
d = tf.contrib.distributions
mean, variance = d.moving_mean_variance([1.0, 2.0], decay=0.9)
other_mean, other_variance = tf.Variable(0.0), tf.Variable(0.0)
update = d.assign_moving_mean_variance(other_mean, other_variance, 1.0, 0.9)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run([mean, update[0]]))

# %% tf.contrib.distributions.assign_log_moving_mean_exp
log_mean = tf.Variable(0.0)
update = tf.contrib.distributions.assign_log_moving_mean_exp(log_mean, log_value=1.0, decay=0.9)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(update))

# %% tf.contrib.distributions.normal_conjugates_known_scale_posterior,
# %% tf.contrib.distributions.normal_conjugates_known_scale_predictive
d = tf.contrib.distributions
observed = tf.constant([1.2, 0.8, 1.1])
known = {"scale": 0.5, "s": tf.reduce_sum(observed), "n": 3}
d.normal_conjugates_known_scale_posterior(d.Normal(0.0, 1.0), **known).mean()
d.normal_conjugates_known_scale_predictive(d.Normal(0.0, 1.0), **known).stddev()

# %% tf.contrib.distributions.bijectors.Bijector, tf.contrib.distributions.bijectors.Inline
b = tf.contrib.distributions.bijectors
cube = b.Inline(
    forward_fn=lambda x: x**3,
    inverse_fn=lambda y: y ** (1 / 3),
    forward_log_det_jacobian_fn=lambda x: tf.log(3 * x**2),
    forward_min_event_ndims=0,
)
print(isinstance(cube, b.Bijector))
cube.forward(2.0), cube.inverse(8.0), cube.forward_log_det_jacobian(2.0, event_ndims=0)

# %% tf.contrib.distributions.bijectors.AbsoluteValue, tf.contrib.distributions.bijectors.Identity
b = tf.contrib.distributions.bijectors
b.AbsoluteValue().inverse(3.0), b.Identity().forward(3.0)

# %% tf.contrib.distributions.bijectors.AffineScalar, tf.contrib.distributions.bijectors.PowerTransform
b = tf.contrib.distributions.bijectors
b.AffineScalar(shift=1.0, scale=2.0).forward(3.0), b.PowerTransform(power=0.5).forward(3.0)

# %% tf.contrib.distributions.bijectors.Affine, tf.contrib.distributions.bijectors.AffineLinearOperator
b = tf.contrib.distributions.bijectors
operator = tf.linalg.LinearOperatorDiag([2.0, 3.0])
b.Affine(shift=[1.0, 1.0], scale_diag=[2.0, 3.0]).forward([1.0, 1.0])
b.AffineLinearOperator(shift=[1.0, 1.0], scale=operator).forward([1.0, 1.0])

# %% tf.contrib.distributions.bijectors.BatchNormalization
norm = tf.contrib.distributions.bijectors.BatchNormalization()
y = norm.inverse(tf.constant([[1.0], [3.0]]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(y))

# %% tf.contrib.distributions.bijectors.Chain, tf.contrib.distributions.bijectors.Invert
b = tf.contrib.distributions.bijectors
chain = b.Chain([b.Exp(), b.AffineScalar(scale=2.0)])
print(chain.name)
chain.forward(0.5), b.Invert(chain).inverse(0.5)

# %% tf.contrib.distributions.bijectors.CholeskyOuterProduct,
# %% tf.contrib.distributions.bijectors.MatrixInverseTriL
b = tf.contrib.distributions.bijectors
triangle = [[1.0, 0.0], [0.5, 2.0]]
b.CholeskyOuterProduct().forward(triangle), b.MatrixInverseTriL().forward(triangle)

# %% tf.contrib.distributions.bijectors.FillTriangular, tf.contrib.distributions.bijectors.ScaleTriL,
# %% tf.contrib.distributions.bijectors.TransformDiagonal
b = tf.contrib.distributions.bijectors
b.FillTriangular().forward([1.0, 2.0, 3.0]), b.ScaleTriL().forward([1.0, 2.0, 3.0])
b.TransformDiagonal(b.Exp()).forward([[0.0, 2.0], [3.0, 1.0]])

# %% tf.contrib.distributions.bijectors.Gumbel, tf.contrib.distributions.bijectors.Kumaraswamy
b = tf.contrib.distributions.bijectors
b.Gumbel(loc=0.0, scale=1.0).forward(1.0), b.Kumaraswamy(2.0, 3.0).forward(0.5)

# %% tf.contrib.distributions.bijectors.Ordered, tf.contrib.distributions.bijectors.Permute
b = tf.contrib.distributions.bijectors
b.Ordered().inverse([1.0, 0.0, 0.5]), b.Permute([2, 0, 1]).forward([1.0, 2.0, 3.0])

# %% tf.contrib.distributions.bijectors.Reshape
tf.contrib.distributions.bijectors.Reshape([2, 2], [4]).forward([1.0, 2.0, 3.0, 4.0])

# %% tf.contrib.distributions.bijectors.Sigmoid, tf.contrib.distributions.bijectors.Softplus,
# %% tf.contrib.distributions.bijectors.Softsign, tf.contrib.distributions.bijectors.Square
b = tf.contrib.distributions.bijectors
b.Sigmoid().forward(1.0), b.Softplus().forward(1.0), b.Softsign().forward(1.0), b.Square().inverse(4.0)

# %% tf.contrib.distributions.bijectors.SinhArcsinh, tf.contrib.distributions.bijectors.SoftmaxCentered
b = tf.contrib.distributions.bijectors
b.SinhArcsinh(skewness=0.5).forward(1.0), b.SoftmaxCentered().forward([1.0, 2.0])

# %% tf.contrib.distributions.bijectors.MaskedAutoregressiveFlow,
# %% tf.contrib.distributions.bijectors.masked_autoregressive_default_template
d = tf.contrib.distributions
network = d.bijectors.masked_autoregressive_default_template(hidden_layers=[8])
flow = d.TransformedDistribution(
    d.Normal(0.0, 1.0), d.bijectors.MaskedAutoregressiveFlow(network), event_shape=[3]
)
density = flow.log_prob([[0.1, 0.2, 0.3]])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(density).shape)

# %% tf.contrib.distributions.bijectors.masked_dense
hidden = tf.contrib.distributions.bijectors.masked_dense(
    tf.ones([2, 3]), units=6, num_blocks=3, exclusive=True
)
print(hidden.shape)

# %% tf.contrib.distributions.bijectors.RealNVP,
# %% tf.contrib.distributions.bijectors.real_nvp_default_template
b = tf.contrib.distributions.bijectors
nvp = b.RealNVP(num_masked=1, shift_and_log_scale_fn=b.real_nvp_default_template(hidden_layers=[8]))
image = nvp.forward(tf.ones([2, 3]))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(image).shape)
