"""Functions of neural networks made of several ops: `tf.nn` beyond what single ops do."""

from tideflow.nn import convolutions, cross_entropy, dropouts, embeddings, functions, pools, statistics  # noqa: F401
from tideflow.nn.convolutions import Convolution  # noqa: F401
