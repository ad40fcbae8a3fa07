"""tf.contrib.distributions.bijectors: maps that can be inverted, with the logarithms of their volumes."""

from tideflow.contrib.distributions.bijectors import (  # noqa: F401
    affine,
    base,
    combined,
    elementwise,
    flows,
    matrices,
    vectors,
)
