"""`slim.learning`: training operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.training import train_ops
from tideflow.contrib.training.train_ops import Pairs
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.train.optimizer import Optimizer

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

expose(train_ops.clip_gradient_norms, "contrib.slim.learning.clip_gradient_norms")
expose(train_ops.multiply_gradients, "contrib.slim.learning.multiply_gradients")


@export("contrib.slim.learning.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """Summarizes gradients and their norms, as `<variable>/gradient` and `<variable>/gradient_norm`.

    Args:
      grads_and_vars: Pairs of a gradient and its variable.

    Returns:
      A list of summaries.
    """
    return train_ops.gradient_summaries(grads_and_vars, "/gradient")


@export("contrib.slim.learning.create_train_op")
def create_train_op(
    total_loss: TensorLike,
    optimizer: Optimizer,
    global_step: VariableLike | int | None = 0,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: TensorLike = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """Makes a step of training of a loss; gradients may be scaled and clipped.

    Args:
      total_loss: The loss, a scalar.
      optimizer: The optimizer.
      global_step: The global step, which the step of training counts up; the graph's by default, none if
        None.
      update_ops: Operations that run before the step; those in the collection UPDATE_OPS if None.
      variables_to_train: The variables to train; all trainable ones if None.
      clip_gradient_norm: The largest norm of a gradient; any if 0.
      summarize_gradients: Whether gradients and their norms are summarized.
      gate_gradients: As of `Optimizer.compute_gradients`.
      aggregation_method: As of `Optimizer.compute_gradients`.
      colocate_gradients_with_ops: Whether gradients are computed where their operations are.
      gradient_multipliers: Factors of gradients, by variable or its name.
      check_numerics: Whether a loss that is not finite is an error.

    Returns:
      The loss, a tensor that makes a step of training when it is computed.
    """

    def transformed(pairs: Pairs) -> Pairs:
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = train_ops.multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = train_ops.clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return train_ops.create_train_op(
        total_loss,
        optimizer,
        global_step,
        update_ops,
        variables_to_train,
        transformed,
        summarize_gradients,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        check_numerics,
    )
