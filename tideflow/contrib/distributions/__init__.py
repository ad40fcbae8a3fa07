"""tf.contrib.distributions: the distributions of tf.distributions, many more, and bijectors between them."""

from tideflow import distributions  # noqa: F401
from tideflow.contrib.distributions import (  # noqa: F401
    bijectors,
    conjugates,
    counting,
    diffeomixture,
    gammas,
    location_scale,
    matrices,
    mixtures,
    one_hot,
    points,
    poisson_mixture,
    positive_parameters,
    quantized,
    rearranged,
    seed_streams,
    statistics,
    transformed,
    vectors,
    warped,
    wishart,
)
from tideflow.export import load_when_asked_for

load_when_asked_for(
    "tideflow.contrib.distributions.regression_heads",
    "contrib.distributions.estimator_head_distribution_regression",
)
