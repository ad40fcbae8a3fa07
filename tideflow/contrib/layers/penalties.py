"""Regularizers: functions of weights that give a penalty, None where the scale is 0."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection, name_scope
from tideflow.ops.arrays import constants
from tideflow.ops.math import adding, binary, reductions, unary
from tideflow.ops.nn import normalization
from tideflow.platform import logging

Regularizer = Callable[..., "Tensor | None"]


def _checked(scale: Any) -> bool:
    """Whether there is anything to do; ValueError for what is no scale."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if not isinstance(scale, numbers.Real):
        return True
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    if scale == 0.0:
        logging.info("Scale of 0 disables regularizer.")
        return False
    return True


def _scaled(scale: Any, scope: str | None, default: str, norm: Callable[[Any], Tensor]) -> Regularizer:
    def regularize(weights: Any, name: str | None = None) -> Tensor:
        with name_scope(scope or name, default, [weights]) as full_name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return binary.multiply(factor, norm(weights), name=full_name)

    return regularize


def _nothing(weights: Any, name: str | None = None) -> None:
    return None


@export("contrib.layers.l1_regularizer")
def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Makes a regularizer: `scale` times the sum of absolute values.

    Args:
      scale: The factor, not negative.
      scope: The name scope of the operations.

    Returns:
      A function from weights to their penalty.

    Raises:
      ValueError: If `scale` is an integer or negative.
    """
    if not _checked(scale):
        return _nothing
    return _scaled(scale, scope, "l1_regularizer", lambda w: reductions.reduce_sum(unary.abs(w)))


@export("contrib.layers.l2_regularizer")
def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """Makes a regularizer: `scale` times half the sum of squares.

    Args:
      scale: The factor, not negative.
      scope: The name scope of the operations.

    Returns:
      A function from weights to their penalty.

    Raises:
      ValueError: If `scale` is an integer or negative.
    """
    if not _checked(scale):
        return _nothing
    return _scaled(scale, scope, "l2_regularizer", normalization.l2_loss)


@export("contrib.layers.l1_l2_regularizer")
def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer:
    """Makes a regularizer with both penalties, each with its scale.

    Args:
      scale_l1: The factor of the sum of absolute values.
      scale_l2: The factor of half the sum of squares.
      scope: The name scope of the operations.

    Returns:
      A function from weights to their penalty.
    """
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"scale cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


@export("contrib.layers.sum_regularizer")
def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """Makes a regularizer that adds several penalties.

    Args:
      regularizer_list: The regularizers; None among them are left out.
      scope: The name scope of the operations.

    Returns:
      A function from weights to their penalty. None where no regularizer is left.
    """
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def regularize(weights: Any) -> Tensor | None:
        with name_scope(scope, "sum_regularizer", [weights]) as full_name:
            penalties = [regularizer(weights) for regularizer in regularizers]
            penalties = [penalty for penalty in penalties if penalty is not None]
            return adding.add_n(penalties, name=full_name) if penalties else None

    return regularize


@export("contrib.layers.apply_regularization")
def apply_regularization(regularizer: Regularizer, weights_list: Sequence[Any] | None = None) -> Tensor:
    """Computes the penalty of all weights and adds it to the collection of losses.

    Args:
      regularizer: The regularizer.
      weights_list: The weights; those in the collection WEIGHTS if None.

    Returns:
      The penalty, a scalar.

    Raises:
      ValueError: If there are no weights, or a penalty is not a scalar.
    """
    weights = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights) as scope:
        penalties = [regularizer(w) for w in weights]
        penalties = [p if p is not None else constants.constant(0.0) for p in penalties]
        for penalty in penalties:
            if penalty.shape.ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{penalty.shape.ndims}."
                )
        total = adding.add_n(penalties, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
