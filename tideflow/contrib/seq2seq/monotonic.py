"""Probabilities along a sequence: the largest alone, products that do not vanish, monotonic attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.seq2seq.sizes import size_of
from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.control_flow import map_and_fold
from tideflow.ops.math import clipping, cumulative, positions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.seq2seq.hardmax")
def hardmax(logits: TensorLike, name: str | None = None) -> Tensor:
    """One where the last axis has its largest logit, zero elsewhere.

    Args:
      logits: A tensor of logits.
      name: The name scope of the operations.

    Returns:
      A tensor of the same shape and type.
    """
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = size_of(logits, -1)
        return creation.one_hot(positions.argmax(logits, -1), depth, dtype=logits.dtype)


@export("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: TensorLike, *args: Any, **kwargs: Any) -> Tensor:
    """The running product of numbers in [0, 1], through logarithms: its gradient stays finite at zero.

    Args:
      x: A tensor of numbers from 0 to 1.
      args: Arguments of `tf.cumsum`.
      kwargs: Keyword arguments of `tf.cumsum`.

    Returns:
      A tensor of the same shape.
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = unary.log(clipping.clip_by_value(x, tiny, 1))
        return unary.exp(cumulative.cumsum(logs, *args, **kwargs))


@export("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i: TensorLike, previous_attention: TensorLike, mode: str) -> Tensor:
    """Computes where attention, which never goes back, stands after a step (Raffel et al., 2017).

    Args:
      p_choose_i: The probability of stopping at a place that is looked at, a tensor [batch, time].
      previous_attention: The attention of the step before, a tensor [batch, time].
      mode: `"parallel"` is fast and less exact, `"recursive"` exact, `"hard"` for probabilities that are all
        0 or 1.

    Returns:
      The attention, a tensor [batch, time].

    Raises:
      ValueError: If the mode is not known.
    """
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(p, previous)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        # Divided before it is summed, what arrives at all places is one sum.
        return p * passed * cumulative.cumsum(previous / clipping.clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p *= cumulative.cumsum(previous, axis=1)
        return p * cumulative.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(p: Tensor, previous: Tensor) -> Tensor:
    batch = size_of(p, 0)
    passed = joining.concat([creation.ones((batch, 1)), 1 - p[:, :-1]], 1)
    arriving = map_and_fold.scan(
        lambda before, here: shapes.reshape(here[0] * before + here[1], (batch,)),
        [shapes.transpose(passed), shapes.transpose(previous)],
        creation.zeros((batch,)),
    )
    return p * shapes.transpose(arriving)
