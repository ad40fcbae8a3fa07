"""`tf.contrib.model_pruning`: weights under masks, which let fewer and fewer of them through."""

from tideflow.contrib.model_pruning import (  # noqa: F401
    cells,
    layers,
    masks,
    pruning,
    stripping,
    training_loop,
)
