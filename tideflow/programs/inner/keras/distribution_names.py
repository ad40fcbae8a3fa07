"""`tensorflow.python.keras.distribute.distributed_training_utils`: what Keras asks of a strategy's data."""

from __future__ import annotations

import math
from typing import Any

import tideflow as tf
from tideflow.graph import nest


def global_batch_size_supported(distribution_strategy: Any) -> bool:
    """Whether the size of a batch that a user gives is that of all replicas."""
    return distribution_strategy.extended._global_batch_size


def is_tpu_strategy(strategy: Any) -> bool:
    """Whether a strategy is one of TPUs, by its class."""
    return strategy is not None and type(strategy).__name__.startswith("TPUStrategy")


def get_input_params(
    distribution_strategy: Any,
    num_samples: int,
    steps: int | None,
    batch_size: int | None,
    mode: str | None = None,
) -> tuple[int, int]:
    """How many steps have all samples, and the size of a batch as the strategy counts it.

    Args:
      distribution_strategy: The strategy.
      num_samples: The number of samples.
      steps: The number of steps, if it is given.
      batch_size: The size of a batch, if it is given: of one replica, if the strategy counts so.
      mode: What the steps do, one of `ModeKeys`: it decides whether the last batch may be smaller.

    Raises:
      ValueError: If the samples are not divisible, or too few.
    """
    replicas = distribution_strategy.num_replicas_in_sync
    scale = 1 if global_batch_size_supported(distribution_strategy) else replicas
    partial = _may_have_partial_batch(distribution_strategy, mode)
    if batch_size is not None:
        size = batch_size * scale
    elif steps is None:
        size = min(num_samples, 32)
    elif num_samples % steps:
        raise ValueError(
            f"The number of samples {num_samples} is not divisible by steps {steps}. Please change the "
            "number of steps to a value that can consume all the samples"
        )
    else:
        size = num_samples // steps
    if steps is None:
        if num_samples % size and not partial:
            raise ValueError(f"The number of samples {num_samples} is not divisible by batch size {size}.")
        steps = math.ceil(num_samples / size)
    elif num_samples < _fewest_samples(size, steps, partial):
        raise ValueError(
            f"Number of samples {num_samples} is less than samples required for specified batch_size {size} "
            f"and steps {steps}"
        )
    if size % scale:
        raise ValueError(
            f"The batch size ({size}) could not be sharded evenly across the sync replicas ({replicas}) in "
            "the distribution strategy."
        )
    return steps, size // scale


def _may_have_partial_batch(strategy: Any, mode: str | None) -> bool:
    if tf.executing_eagerly():
        return mode != "train" or not is_tpu_strategy(strategy)
    return mode == "train" or (mode in ("test", "predict") and is_tpu_strategy(strategy))


def _fewest_samples(size: int, steps: int, partial: bool) -> int:
    if not partial:
        return size * steps
    return size * (steps - 1) + 1 if steps > 1 else 0


def validate_distributed_dataset_inputs(
    distribution_strategy: Any, x: Any, y: Any, sample_weights: Any = None
) -> tuple[list[Any], list[Any] | None, list[Any] | None]:
    """The first replica's tensors of inputs, true values and weights, which are alike on all replicas."""

    def checked(values: Any) -> list[Any] | None:
        return None if values is None else validate_per_replica_inputs(distribution_strategy, values)

    return validate_per_replica_inputs(distribution_strategy, x), checked(y), checked(sample_weights)


def validate_per_replica_inputs(distribution_strategy: Any, x: Any) -> list[Any]:
    """The first replica's tensors of values that each replica has.

    Raises:
      ValueError: If a value is no tensor, or has another type, or in a graph another shape, on another
        replica.
    """
    firsts = []
    for value in nest.flatten(x, expand_composites=True):
        if not tf.contrib.framework.is_tensor(value):
            raise ValueError(
                f"Dataset input to the model should be tensors instead they are of type {type(value)}"
            )
        parts = distribution_strategy.experimental_local_results(value)
        if not tf.executing_eagerly():
            validate_all_tensor_shapes(value, parts)
        validate_all_tensor_types(value, parts)
        firsts.append(parts[0])
    return firsts


def validate_all_tensor_types(x: Any, x_values: Any) -> None:
    """Refuses a value whose parts are of several types."""
    if any(each.dtype != x_values[0].dtype for each in x_values):
        raise ValueError(f"Input tensor dtypes do not match for distributed tensor inputs {x}")


def validate_all_tensor_shapes(x: Any, x_values: Any) -> None:
    """Refuses a value whose parts are of several shapes."""
    if any(each.shape.as_list() != x_values[0].shape.as_list() for each in x_values):
        raise ValueError(f"Input tensor shapes do not match for distributed tensor inputs {x}")
