"""`tf.function`: Python functions traced to graphs, compiled to plans and called like functions."""

from tideflow.functions import batching, concrete, def_function, experimental, tracing, wrapping  # noqa: F401
