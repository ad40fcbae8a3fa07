"""Names of `tensorflow.python.data`."""
