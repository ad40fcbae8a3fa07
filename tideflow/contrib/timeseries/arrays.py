"""Series given as arrays, brought to one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tideflow.contrib.timeseries.keys import TIMES, VALUES

_LAYOUTS = {
    0: ("at most 1 dimension ([number of features])", "a batch or time dimension"),
    1: ("at most 2 dimensions ([series length, number of features])", "a batch dimension"),
}


def batched_series(data: Mapping[str, Any], require_single_batch: bool) -> dict[str, np.ndarray]:
    """Features by name as arrays [batch, window, ...]; values get a last axis for the number of features."""
    features = {name: np.array(value) for name, value in data.items()}
    if TIMES not in features or VALUES not in features:
        raise ValueError(f"{TIMES} and {VALUES} are required features.")
    of_times = features[TIMES].shape
    for name, value in features.items():
        if value.shape[: len(of_times)] != of_times:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                f"{value.shape} for feature '{name}', but shape {of_times} for '{TIMES}'"
            )
    rank = len(of_times)
    if rank > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, "
            f"series length]), but got shape {of_times}."
        )
    if rank < 2:
        features[VALUES] = _with_feature_axis(features[VALUES], rank)
        features = {name: value[(None,) * (2 - rank)] for name, value in features.items()}
    if require_single_batch and len(features[TIMES]) != 1:
        raise ValueError("Got batch input, was expecting unbatched input.")
    return features


def _with_feature_axis(values: np.ndarray, rank: int) -> np.ndarray:
    if values.ndim > rank + 1:
        expected, lacks = _LAYOUTS[rank]
        raise ValueError(
            f"Got an unexpected number of dimensions for the '{VALUES}' feature. Was expecting {expected} "
            f"since '{TIMES}' does not have {lacks}, but got shape {values.shape}"
        )
    return values[..., None] if values.ndim == rank else values
