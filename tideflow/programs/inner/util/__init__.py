"""Names of `tensorflow.python.util` and other small modules that have nothing to do with graphs."""
