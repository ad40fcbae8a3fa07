"""`tf.contrib.tpu` and `tf.tpu`: what programs for TPUs call, computed on the CPUs and GPUs that are here.

A computation that would be compiled for a TPU is part of the graph as any other. Several replicas are
computed side by side; what would be sent between them, or fed to a TPU's queue, says what to use instead.
"""

from tideflow.contrib.tpu import computations, loops, models, optimizers, saving  # noqa: F401
from tideflow.estimator import tpu as _estimators  # noqa: F401 - TPUEstimator and its configuration
