"""Gradients of a graph, as more graph."""

from tideflow.autodiff import custom, gradients, recompute, registry  # noqa: F401
