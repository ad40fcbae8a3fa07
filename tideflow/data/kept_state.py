"""Orders and caches of datasets, whose state belongs to an iterator, or lives beside the dataset."""

from __future__ import annotations

from typing import Any

from tideflow.data.numbers import seeds
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.ops.datasets import datasets, kept_state
from tideflow.variables.behavior import v2_behavior_enabled


def _lives_beside_the_dataset() -> bool:
    """Whether a pass goes on where the one before it ended, whoever iterates: TensorFlow 2's way."""
    return v2_behavior_enabled() and (executing_eagerly() or get_default_graph().building_function)


def shuffling(size: Tensor, seed: int | None, again: bool) -> tuple[Any, ...]:
    """The op that shuffles a dataset, its inputs behind the dataset, and its attributes."""
    if again and _lives_beside_the_dataset():
        generator, _ = kept_state.anonymous_seed_generator_op(*seeds(seed))
        return kept_state.shuffle_dataset_v2_op, (size, generator), {}
    return datasets.shuffle_dataset_op, (size, *seeds(seed)), {"reshuffle_each_iteration": again}


def caching(path: Tensor) -> tuple[Any, ...]:
    """The op that caches a dataset, and its inputs behind the dataset."""
    if _lives_beside_the_dataset():
        cache, _ = kept_state.anonymous_memory_cache_op()
        return kept_state.cache_dataset_v2_op, path, cache
    return datasets.cache_dataset_op, path
