"""What canned models share: their features, and functions from features to logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform.function_arguments import those_taken

if TYPE_CHECKING:
    from tideflow.estimator.run_config import RunConfig


def check_features(features: Any) -> None:
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")


def partitioner_of(config: RunConfig | None, min_slice_size: int = 256 << 10) -> Callable:
    """Spreads large variables over the parameter servers."""
    servers = config.num_ps_replicas if config else 0
    return tf.min_max_variable_partitioner(max_partitions=servers, min_slice_size=min_slice_size)


def summarize_layer(values: Tensor, tag: str) -> None:
    """How many of a layer's values are zero, and how they are spread."""
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(values))
    tf.summary.histogram(f"{tag}/activation", values)


@export("estimator.experimental.call_logit_fn")
def call_logit_fn(
    logit_fn: Callable, features: dict[str, Any], mode: str, params: Any, config: RunConfig | None
) -> Tensor | dict[str, Tensor]:
    """Calls a function from features to logits, with what else of the arguments it names.

    Args:
      logit_fn: The function.
      features: The features by name.
      mode: One of `tf.estimator.ModeKeys`.
      params: The hyperparameters.
      config: The RunConfig.

    Returns:
      The logits: a tensor, or tensors by name.

    Raises:
      ValueError: If the function returns something else.
    """
    logits = logit_fn(features=features, **those_taken(logit_fn, mode=mode, params=params, config=config))
    by_name = isinstance(logits, dict) and all(
        isinstance(key, str) and isinstance(value, Tensor) for key, value in logits.items()
    )
    if not by_name and not isinstance(logits, Tensor):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: "
            f"{logits}"
        )
    return logits
