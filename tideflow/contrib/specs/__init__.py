"""`tf.contrib.specs`: networks written as short expressions, such as `net = Cr(64, [5, 5]) | Fm(10)`."""

from tideflow.contrib.specs import composition, evaluation, hyperparameters, layers, summaries  # noqa: F401
