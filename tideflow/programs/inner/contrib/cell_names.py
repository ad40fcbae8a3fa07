"""`tensorflow.contrib.rnn.python.ops.core_rnn_cell`: the product that recurrent cells share."""

from tideflow.contrib.rnn.wrappers import Linear

_Linear = Linear
