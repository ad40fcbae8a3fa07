"""Differentiation: `tf.gradients` adds the operations that compute gradients to the graph."""

from tideflow.autodiff import custom, functional, functions, gradients, registry  # noqa: F401
