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
