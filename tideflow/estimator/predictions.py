"""The predictions of a batch: those that are asked for, and those of each example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def chosen(predictions: Any, keys: Iterable[str] | str | None) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    picked = {key: value for key, value in predictions.items() if key in keys}
    if not picked:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {keys}.")
    return picked


def examples_of(batch: Any) -> Iterator[Any]:
    """The predictions of a batch, one example after the other."""
    if not isinstance(batch, dict):
        yield from batch
        return
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length than others."
            )
    for number in range(length or 0):
        yield {key: value[number] for key, value in batch.items()}
