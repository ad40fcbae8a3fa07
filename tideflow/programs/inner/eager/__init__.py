"""Names of `tensorflow.python.eager`."""
