"""tf.distribute: strategies that run a program on several devices."""

from tideflow.distribute import (  # noqa: F401 - they export names
    central_storage,
    default,
    mirrored,
    one_device,
    reductions,
    strategy,
    tpu,
)
