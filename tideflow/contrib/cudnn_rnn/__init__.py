"""`tf.contrib.cudnn_rnn`: stacks of recurrent layers in one op, which a GPU computes by cuDNN."""

from tideflow.contrib.cudnn_rnn import cells, converters, layers, saveables  # noqa: F401
