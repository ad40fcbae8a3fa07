"""`tf.contrib.rnn`: more recurrent cells, wrappers and networks beside those of tf.nn."""

from tideflow.contrib.rnn import bidirectional, blocks, cells, fused, wrappers  # noqa: F401
