"""Differentiation: `tf.gradients` adds the operations that compute gradients to the graph."""

from tideflow.autodiff import custom, functions, gradients, recompute, registry  # noqa: F401
