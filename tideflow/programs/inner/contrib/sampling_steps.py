"""`tensorflow.contrib.training.python.training.sampling_ops`: the parts of drawing by classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.training import sampling

_calculate_acceptance_probabilities = sampling.acceptance_probabilities
_estimate_data_distribution = sampling.estimated_distribution


def _verify_input(
    tensor_list: Sequence[tf.Tensor], labels: tf.Tensor, probs_list: Sequence[tf.Tensor]
) -> tuple[Any, tf.Tensor, list[tf.Tensor]]:
    """All that was given, with assertions on it."""
    rows, labels, *chances = sampling.checked_rows(list(tensor_list), labels, *probs_list)
    return rows, labels, chances
