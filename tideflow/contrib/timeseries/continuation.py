"""Predictions that go on where an evaluation of the same series ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.contrib.timeseries import keys
from tideflow.export import export

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def times_after(previous: Mapping[str, Any], steps: int | None, times: TensorLike | None) -> np.ndarray:
    """The times [batch, window] to predict, given as such or as a number of steps after previous ones."""
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    ends = previous[keys.TIMES]
    if steps is not None:
        return ends[:, -1:] + 1 + np.arange(steps)[None]
    if times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    asked = np.array(times)
    if asked.ndim != 2:
        asked = asked[None]
    if len(asked) != len(ends):
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch "
            f"dimension of {len(asked)} for `times` and {len(ends)} for the previous model output)."
        )
    if not (ends[:, -1] < asked[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return asked


@export("contrib.timeseries.predict_continuation_input_fn")
def predict_continuation_input_fn(
    evaluation: Mapping[str, Any],
    steps: int | None = None,
    times: TensorLike | None = None,
    exogenous_features: Mapping[str, Any] | None = None,
) -> Callable[[], tuple[dict, None]]:
    """Makes an input function for `predict` that goes on where an evaluation ended.

    Args:
      evaluation: What `evaluate` returned.
      steps: How many times after the last one of the evaluation to predict.
      times: The times to predict, [window] or [batch, window], instead of `steps`.
      exogenous_features: Features by name that are known for these times, [batch, window, ...].

    Returns:
      A function that returns the features, once, and None for labels.

    Raises:
      ValueError: If both or none of `steps` and `times` are given, or times are not after the evaluation's.
    """
    features = {
        keys.STATE: evaluation[keys.STATE],
        keys.TIMES: times_after(evaluation, steps, times),
        **(exogenous_features or {}),
    }

    def input_fn() -> tuple[dict, None]:
        once = {
            name: tf.nest.map_structure(lambda value: tf.train.limit_epochs(value, num_epochs=1), value)
            for name, value in features.items()
        }
        return once, None

    return input_fn
