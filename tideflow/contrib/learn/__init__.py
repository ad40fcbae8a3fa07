"""tf.contrib.learn: what of it needs no estimator, the numbering of words and categories above all."""

from tideflow.contrib.learn import categories, modes, tables, texts  # noqa: F401
