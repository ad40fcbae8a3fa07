"""Canned estimators: models that need no model function, on feature columns."""

from tideflow.estimator.canned import baseline, combined, dnn, linear, logits, parsing  # noqa: F401
