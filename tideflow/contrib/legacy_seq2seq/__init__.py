"""`tf.contrib.legacy_seq2seq`: sequences to sequences, as lists with a tensor for each step."""

from tideflow.contrib.legacy_seq2seq import attention, decoders, losses, models  # noqa: F401
