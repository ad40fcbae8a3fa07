"""What contrib.learn has in scikit-learn's place, where that is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.contrib.learn.interfaces import NotFittedError, Parameters  # noqa: F401

BaseEstimator = Parameters


class ClassifierMixin:
    """What classifiers have in common: nothing here."""


class RegressorMixin:
    """What regressors have in common: nothing here."""


class TransformerMixin:
    """What transformers have in common: nothing here."""


def accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The share of predictions that are right."""
    return np.average(y_true == y_pred)


def mean_squared_error(y_true: np.ndarray, y_pred: np.ndarray) -> Any:
    """The mean of squared differences, of columns too."""
    y_true, y_pred = (np.squeeze(y) if y.ndim > 1 else y for y in (y_true, y_pred))
    return np.average((y_true - y_pred) ** 2)


log_loss = None  # scikit-learn's alone


def train_test_split(
    *args: np.ndarray,
    test_size: float | None = None,
    train_size: float | None = None,
    random_state: int | None = None,
) -> tuple[np.ndarray, ...]:
    """Divides arrays at random, each into rows to train with and rows to test with.

    Args:
      *args: Arrays with the same number of rows.
      test_size: The share of the rows to test with.
      train_size: The share of the rows to train with, three quarters if neither is given.
      random_state: The seed of the order.

    Returns:
      The two parts of each array, one after another.
    """
    if train_size is None:
        train_size = 0.75 if test_size is None else 1 - test_size
    np.random.seed(random_state)
    order = np.random.permutation(len(args[0]))
    first = int(train_size * len(order))
    return tuple(array.take(part, axis=0) for array in args for part in (order[:first], order[first:]))
