"""tf.metrics: values over many steps. Each is a pair of tensors: the value so far, and the value after this
step's batch, whose evaluation takes the batch in.
"""

from tideflow.metrics import at_k, classes, counts, means, thresholds  # noqa: F401
