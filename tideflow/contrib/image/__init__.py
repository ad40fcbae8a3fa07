"""`tf.contrib.image`: images turned, moved and warped; regions of equal pixels."""

from tideflow.contrib.image import components, projections, splines, warping  # noqa: F401
