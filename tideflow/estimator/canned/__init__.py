"""Canned estimators: models that need no model function, on feature columns."""

from tideflow.estimator.canned import baseline, combined, dnn, kmeans, linear, logits, parsing  # noqa: F401
from tideflow.estimator.canned.trees import estimators  # noqa: F401
