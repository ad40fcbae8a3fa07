"""Gradients of a graph, as more graph."""

from tideflow.autodiff import custom, gradients, registry  # noqa: F401
