"""Heads: what the logits of a model mean."""

from tideflow.estimator.heads import base, classes, labels, regression, several  # noqa: F401
