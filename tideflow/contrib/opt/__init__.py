"""`tf.contrib.opt`: more optimizers."""

from tideflow.contrib.opt import (  # noqa: F401
    adams,
    averaging,
    clipping,
    external,
    layerwise,
    replicas,
    signs,
    weight_decay,
)
