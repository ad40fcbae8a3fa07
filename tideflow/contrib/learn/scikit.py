"""SKCompat: an estimator that takes arrays, as those of scikit-learn do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tideflow.contrib.learn.feeders import setup_train_data_feeder
from tideflow.contrib.learn.interfaces import Parameters
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform.deprecation import deprecated
from tideflow.train.step_hooks import FeedFnHook


def check_input_arguments(x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: int | None) -> None:
    """Inputs are arrays, or the tensors that a function returns, but not both."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
        if feed_fn is not None:
            raise ValueError("Can not provide both feed_fn and x or y.")
        return
    if x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    if batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


def input_of_arrays(
    x: Any, y: Any, batch_size: int | None, shuffle: bool = False, epochs: int | None = 1
) -> tuple[Callable, Callable]:
    """Arrays as a function that makes placeholders, and one that returns what is fed to them in a step."""
    check_input_arguments(x, y, None, None, batch_size)
    feeder = setup_train_data_feeder(x, y, None, batch_size, shuffle, epochs)
    return feeder.input_builder, feeder.get_feed_dict_fn()


@export("contrib.learn.SKCompat")
class SKCompat(Parameters):
    """An estimator of `tf.contrib.learn` that is given arrays instead of input functions.

    Args:
      estimator: The estimator.
    """

    @deprecated(None, "Please switch to the Estimator interface.")
    def __init__(self, estimator: Any):
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> SKCompat:
        """Trains the model, with the rows in random order.

        Args:
          x: The features: an array, arrays by name, a table, or an iterator.
          y: The labels, likewise.
          batch_size: The number of rows in a step; all if None.
          steps: The number of steps to make.
          max_steps: The global step to stop at.
          monitors: Monitors, or hooks of the session.

        Returns:
          This object.
        """
        input_fn, feed_fn = input_of_arrays(x, y, batch_size, shuffle=True, epochs=None)
        hooks = [FeedFnHook(feed_fn), *(monitors or ())]
        self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks)
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates the model.

        Args:
          x: The features: an array, arrays by name, a table, or an iterator.
          y: The labels, likewise.
          batch_size: The number of rows in a step; all if None.
          steps: The number of steps; until the rows end if None.
          metrics: What is measured besides, by name.
          name: The name of the evaluation, if there are several.

        Returns:
          The results by name.

        Raises:
          ValueError: If `metrics` is no dictionary.
        """
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        input_fn, feed_fn = input_of_arrays(x, y, batch_size)
        return self._estimator._evaluate_model(input_fn, feed_fn, steps, metrics, name)

    def predict(
        self, x: Any, batch_size: int | None = 128, outputs: Sequence[str] | None = None
    ) -> np.ndarray | dict[str, np.ndarray]:
        """Predicts for each row.

        Args:
          x: The features: an array, arrays by name, a table, or an iterator.
          batch_size: The number of rows in a step; all if None.
          outputs: The names of the predictions to return; all if None.

        Returns:
          The predictions: an array, or arrays by name.
        """
        input_fn, feed_fn = input_of_arrays(x, None, batch_size)
        batches = list(self._estimator._infer_model(input_fn, feed_fn, outputs, iterate_batches=True))
        if not isinstance(batches[0], dict):
            return np.concatenate(batches)
        return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
