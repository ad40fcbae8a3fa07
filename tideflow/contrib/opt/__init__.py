"""`tf.contrib.opt`: more optimizers."""

from tideflow.contrib.opt import (  # noqa: F401
    accumulated_gradients,
    adams,
    averaging,
    clipping,
    external,
    full_matrix,
    global_step_adams,
    layerwise,
    preconditioned,
    regularizing,
    replicas,
    signs,
    weight_decay,
    wrappers,
)
