"""`slim.learning`: training operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tideflow.contrib.training import train_ops
from tideflow.contrib.training.train_ops import Pairs
from tideflow.export import export, expose
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.train.optimizer import Optimizer

expose(train_ops.clip_gradient_norms, "contrib.slim.learning.clip_gradient_norms")
expose(train_ops.multiply_gradients, "contrib.slim.learning.multiply_gradients")


@export("contrib.slim.learning.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """Summaries of the gradients and their norms, `<variable>/gradient` and `<variable>/gradient_norm`."""
    return train_ops.gradient_summaries(grads_and_vars, "/gradient")


@export("contrib.slim.learning.create_train_op")
def create_train_op(
    total_loss: Any,
    optimizer: Optimizer,
    global_step: Any = 0,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    clip_gradient_norm: Any = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Tensor:
    """The loss, as a tensor that makes a step of training when it is computed; gradients may be scaled and
    clipped.
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
