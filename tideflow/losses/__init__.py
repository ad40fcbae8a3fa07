"""tf.losses: losses with weights, reductions and the collection that `get_total_loss` sums up."""

from tideflow.losses import collection, functions, reduction  # noqa: F401
