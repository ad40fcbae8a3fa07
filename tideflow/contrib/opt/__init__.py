"""`tf.contrib.opt`: more optimizers."""

from tideflow.contrib.opt import adams, averaging, clipping, external, layerwise, signs, weight_decay  # noqa: F401
