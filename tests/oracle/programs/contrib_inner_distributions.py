"""What contrib's tests of distributions import: statistical tests, checks of samples, scales of vectors."""

from kit import raises, run


def _module(tf, name):
    import importlib

    if tf.__name__ == "tideflow":
        from tideflow.programs import finder

        finder.install()
    return importlib.import_module("tensorflow.contrib.distributions.python.ops." + name)


def _samples(np):
    return (np.arange(400.0, dtype=np.float32) * 0.618) % 1.0


def means_of_bounded_samples(tf, np):
    st = _module(tf, "statistical_testing")
    x = _samples(np)
    pair = tf.constant(np.stack([x, 1 - x**2], 1))
    interval = st.true_mean_confidence_interval_by_dkwm
    return [
        run(tf, interval(x, 0.0, 1.0, 1e-3)),
        run(tf, interval(pair, [0.0, -1.0], [1.0, 2.0], 1e-3)),
        raises(interval, x, 0.0, 0.5),
        raises(interval, x, 0.5, 1.0),
        raises(interval, x, [0.0, 0.0], 1.0),
    ]


def assertions_on_means(tf, np):
    st = _module(tf, "statistical_testing")
    x = _samples(np)
    equal, inside = st.assert_true_mean_equal_by_dkwm, st.assert_true_mean_in_interval_by_dkwm
    two = st.assert_true_mean_equal_by_dkwm_two_sample
    run(tf, [equal(x, 0.0, 1.0, 0.5), inside(x, 0.0, 1.0, 0.4, 0.45), two(x, 0.0, 1.0, x**1.1, 0.0, 1.0)])
    return [
        raises(run, tf, equal(x, 0.0, 1.0, 0.9)),
        raises(run, tf, equal(x, 0.0, 1.0, 0.1)),
        raises(run, tf, inside(x, 0.0, 1.0, 0.8, 0.9)),
        raises(run, tf, two(x, 0.0, 1.0, x**20, 0.0, 1.0)),
    ]


def power_of_tests(tf, np):
    st = _module(tf, "statistical_testing")
    n = np.array([100.0, 1000.0], np.float32)
    return run(
        tf,
        [
            st.min_discrepancy_of_true_means_detectable_by_dkwm(n, 0.0, 2.0, 1e-6, 1e-3),
            st.min_num_samples_for_dkwm_mean_test(0.1, 0.0, [1.0, 2.0], 1e-6, 1e-3),
            st.min_discrepancy_of_true_means_detectable_by_dkwm_two_sample(
                n, 0.0, 1.0, n, 0.0, 2.0, 1e-6, 1e-6
            ),
            st.min_num_samples_for_dkwm_mean_two_sample_test(0.1, 0.0, 1.0, 0.0, 2.0),
        ],
    )


def utilities(tf, np):
    util = _module(tf, "distribution_util")
    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))
    moved = [util.move_dimension(x, a, b) for a in (0, 1, -1) for b in (0, 1, -1, -2)]
    weights, means, deviations = (
        [[0.25, 0.75], [0.5, 0.5]],
        [[1.0, 2.0], [3.0, 3.0]],
        [[1.0, 0.5], [2.0, 2.0]],
    )
    given = [tf.constant(each) for each in (weights, means, deviations)]
    tril = util.make_tril_scale(
        scale_tril=[[1.0, 9.0], [2.0, 3.0]], scale_diag=[1.0, 1.0], assert_positive=True
    )
    diag = util.make_diag_scale(loc=[1.0, 2.0], scale_identity_multiplier=3.0)
    batch, event = util.shapes_from_loc_and_scale(tf.zeros([5, 1, 2]), tril)
    return [
        [(m.shape.as_list(), run(tf, m)) for m in moved],
        run(tf, util.mixture_stddev(*given)),
        raises(util.mixture_stddev, given[0], tf.ones([2, 3]), given[2]),
        [type(tril).__name__, tril.is_positive_definite, run(tf, tril.to_dense())],
        [type(diag).__name__, run(tf, diag.to_dense())],
        [[int(size) for size in batch], [int(size) for size in event]],
        [util.is_diagonal_scale(diag), util.is_diagonal_scale(tril), raises(util.is_diagonal_scale, 1)],
        util.get_broadcast_shape(tf.zeros([3, 1]), tf.zeros([2, 1, 4])),
        raises(util.make_diag_scale, scale_identity_multiplier=1.0),
    ]


def vectors_behind_operators(tf, np):
    scale = tf.linalg.LinearOperatorLowerTriangular([[2.0, 0.0], [1.0, 3.0]])
    found = []
    for module, name in (
        ("vector_exponential_linear_operator", "VectorExponentialLinearOperator"),
        ("vector_laplace_linear_operator", "VectorLaplaceLinearOperator"),
        ("mvn_linear_operator", "MultivariateNormalLinearOperator"),
    ):
        made = getattr(_module(tf, module), name)
        d = made(loc=[1.0, -1.0], scale=scale)
        facts = [d.mean(), d.mode(), d.covariance(), d.variance(), d.stddev(), d.log_prob([4.0, 5.0])]
        found.append(
            [d.name.split("/")[0], d.batch_shape, d.event_shape, run(tf, facts), raises(made, [1.0])]
        )
    return found


def weibull(tf, np):
    b = _module(tf, "bijectors.weibull").Weibull(scale=5.0, concentration=0.3, validate_args=True)
    x = tf.constant([0.5, 3.0, 7.0])
    y = b.forward(x)
    return [
        b.name,
        run(tf, [y, b.inverse(tf.identity(y)), b.forward_log_det_jacobian(x, 0)]),
        run(tf, b.inverse_log_det_jacobian(tf.identity(y), 0)),
        raises(b.forward, [-1.0]),
        raises(b.inverse, [2.0]),
    ]


def checks_of_samples(tf, np):
    helpers = _module(tf, "test_util")
    told = []

    class Whole(helpers.DiscreteScalarDistributionTestHelpers):
        def assertAllClose(self, a, b, rtol, atol):
            told.append([np.shape(a), bool(np.allclose(a, b, rtol, atol)), rtol, atol])

    class Vectors(helpers.VectorDistributionTestHelpers):
        assertAllClose = Whole.assertAllClose

    ds = tf.contrib.distributions
    with tf.Session() as session:
        check = Whole()
        whole = ds.Poisson(rate=[2.0, 3.0])
        check.run_test_sample_consistent_mean_variance(session.run, whole, 20000, rtol=0.1)
        counts, edges = session.run(check.histogram(tf.constant([1.0, 2.0, 2.0, 5.0])))
        check.run_test_sample_consistent_log_prob(
            session.run, ds.Poisson(rate=2.0), 20000, 1500, batch_size=1, rtol=0.1
        )
        vectors = ds.MultivariateNormalDiag(loc=[[0.0, 0.5]], scale_diag=[[1.0, 1.5]])
        check = Vectors()
        check.run_test_sample_consistent_log_prob(session.run, vectors, 20000, rtol=0.1)
        check.run_test_sample_consistent_mean_covariance(session.run, vectors, 20000, rtol=0.1, cov_rtol=0.2)
    shapes = [row[1:] for row in told]
    return [
        counts,
        edges,
        shapes,
        raises(Whole().run_test_sample_consistent_log_prob, None, whole, num_threshold=0),
    ]
