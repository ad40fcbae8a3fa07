"""`tf.contrib.labeled_tensor`: tensors whose axes have names, and whose positions may have labels."""

from tideflow.contrib.labeled_tensor import (  # noqa: F401
    batches,
    coder,
    elementwise,
    examples,
    functional,
    layout,
    nn,
    rearranged,
    reductions,
    selections,
    values,
)
