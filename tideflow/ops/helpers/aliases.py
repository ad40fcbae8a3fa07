"""Op types under older names: they do what the op that took their place does."""

from __future__ import annotations

from tideflow.graph.op import Op


def inherit(op: Op, successor: Op) -> None:
    """Gives an op the shape rule, kernels, gradient and reference of the one that took its place."""
    op.shape(successor.shape_rule)
    for kind, kernel in successor.kernels.items():
        (op.kernel(kind) if kind else op.kernel)(kernel)
    op.gradient(successor.gradient_function)
    op.samples(against=successor.reference, law=successor.law)
