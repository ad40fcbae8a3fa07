"""tf.distribute: strategies that run a program on several devices."""

from tideflow.distribute import (  # noqa: F401 - they export names
    central_storage,
    mirrored,
    one_device,
    reductions,
    strategy,
)
