"""tf.random beyond single ops: generators, whose state is a variable."""

from tideflow.random import generator  # noqa: F401
