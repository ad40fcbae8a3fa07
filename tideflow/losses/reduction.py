"""From a loss for each element to one number: weights and reductions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, control_dependencies, get_default_graph, name_scope
from tideflow.losses.collection import add_loss
from tideflow.ops.arrays import creation, indexing, shapes
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.nn.weights import assert_broadcastable, broadcast_weights

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("losses.Reduction")
class Reduction:
    """How the losses of a batch are reduced to one number.

    Attributes:
      NONE: Not at all: the weighted losses are returned.
      SUM: Their sum.
      MEAN: Their sum divided by the sum of weights.
      SUM_OVER_BATCH_SIZE: Their sum divided by the number of losses.
      SUM_OVER_NONZERO_WEIGHTS: An older name of `SUM_BY_NONZERO_WEIGHTS`.
      SUM_BY_NONZERO_WEIGHTS: Their sum divided by the number of weights that are not zero.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: Any) -> None:
        """Checks that a value is a reduction.

        Args:
          key: The value.

        Raises:
          ValueError: If it is not.
        """
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. It must be one of {', '.join(cls.all())}.")


@export("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: Hashable = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Multiplies losses by weights, reduces them, and adds the result to a collection.

    Args:
      losses: The losses.
      weights: The weight of each loss: a tensor that is broadcast to the shape of the losses.
      scope: The name scope of the operations.
      loss_collection: The collection that the loss is added to; none if None.
      reduction: How the losses are reduced, one of `tf.losses.Reduction`.

    Returns:
      The loss: a scalar tensor, or a tensor of the losses' shape if `reduction` is NONE.

    Raises:
      ValueError: If an argument is missing, or shapes do not fit.
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype.base_dtype
        losses, weights = casting.cast(losses, dtypes.float32), casting.cast(weights, dtypes.float32)
        loss = casting.cast(_reduced(losses, weights, reduction), dtype)
        get_default_graph()._last_loss_reduction = reduction  # strategies ask for it
        add_loss(loss, loss_collection)
        return loss


def _reduced(losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    weighted = binary.multiply(losses, weights)
    if reduction == Reduction.NONE:
        return weighted
    total = reductions.reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = reductions.reduce_sum(creation.ones_like(losses) * weights)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = _num_elements(losses)
    else:
        count = num_present(losses, weights)
    return binary.div_no_nan(reductions.reduce_sum(total), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return casting.cast(shapes.size(losses, name=scope), losses.dtype.base_dtype)


def num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many elements have a weight other than 0, in all or in each row of a batch."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        is_absent = binary.equal(weights, 0.0)
        zeros, ones = creation.zeros_like(weights), creation.ones_like(weights)
        present = broadcast_weights(indexing.where(is_absent, zeros, ones), losses)
        if not per_batch:
            return reductions.reduce_sum(present, name=scope)
        axes = creation.range(1, shapes.rank(present))
        return reductions.reduce_sum(present, axis=axes, keepdims=True, name=scope)
