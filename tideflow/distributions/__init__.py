"""tf.distributions: random variables as objects, with samples, densities, statistics and divergences."""

from tideflow.distributions import (  # noqa: F401
    base,
    counts,
    divergence,
    gamma,
    location_scale,
    simplex,
    trials,
    uniform,
)
