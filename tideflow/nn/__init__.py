"""Functions of neural networks made of several ops: `tf.nn` beyond what single ops do."""

from tideflow.nn import (  # noqa: F401
    convolutions,
    cross_entropy,
    dropouts,
    embeddings,
    functions,
    pools,
    sampled,
    statistics,
)
from tideflow.nn.convolutions import Convolution  # noqa: F401

# isort: split
# Cells are layers, which are made of the above.
from tideflow.nn import rnn, rnn_cells, rnn_wrappers  # noqa: F401
