"""From a loss and an optimizer to an operation that trains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    control_dependencies,
    get_collection,
    get_collection_ref,
    name_scope,
)
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.math import casting, clipping
from tideflow.platform import logging
from tideflow.summary import functions as summaries
from tideflow.train.optimizer import Optimizer
from tideflow.variables.collections import trainable_variables
from tideflow.variables.global_step import get_or_create_global_step

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

_USE_GLOBAL_STEP = 0
Pairs = Sequence[tuple[Any, Any]]  # gradients and their variables


@export("contrib.training.clip_gradient_norms")
def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: TensorLike) -> Pairs:
    """Scales gradients down whose norm is too large, each by itself.

    Args:
      gradients_to_variables: Pairs of a gradient and its variable.
      max_norm: The largest norm of a gradient.

    Returns:
      Pairs of a clipped gradient and its variable.
    """

    def clipped(grad: Any) -> Any:
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(clipping.clip_by_norm(grad.values, max_norm), grad.indices, grad.dense_shape)
        return grad if grad is None else clipping.clip_by_norm(grad, max_norm)

    return [(clipped(grad), variable) for grad, variable in gradients_to_variables]


@export("contrib.training.clip_gradient_norms_fn")
def clip_gradient_norms_fn(max_norm: TensorLike) -> Callable[[Pairs], Pairs]:
    """`clip_gradient_norms` with its limit, for `transform_grads_fn`.

    Args:
      max_norm: The largest norm of a gradient.

    Returns:
      A function from pairs of gradient and variable to clipped ones.
    """
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


@export("contrib.training.multiply_gradients")
def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Mapping[Any, Any]) -> Pairs:
    """Multiplies gradients by factors.

    Args:
      grads_and_vars: Pairs of a gradient and its variable.
      gradient_multipliers: Factors by variable or its name.

    Returns:
      Pairs of a scaled gradient and its variable.

    Raises:
      ValueError: If there are no factors, or a variable with one has no gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")

    def multiplied(grad: Any, variable: Any) -> Any:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key not in gradient_multipliers:
            return grad
        if grad is None:
            raise ValueError("Requested multiple of `None` gradient.")
        factor = casting.cast(gradient_multipliers[key], grad.dtype)
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
        return grad * factor

    return [(multiplied(grad, variable), variable) for grad, variable in grads_and_vars]


@export("contrib.training.add_gradients_summaries")
def add_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """Summarizes gradients and their norms, as `<variable>_gradient` and `<variable>_gradient_norm`.

    Args:
      grads_and_vars: Pairs of a gradient and its variable.

    Returns:
      A list of summaries.
    """
    return gradient_summaries(grads_and_vars, "_gradient")


def gradient_summaries(grads_and_vars: Pairs, suffix: str) -> list[Tensor]:
    """A histogram of each gradient and a scalar of its norm, named after the variable."""
    made = []
    for grad, variable in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        name = variable.op.name + suffix
        made.append(summaries.histogram(name, values))
        made.append(summaries.scalar(f"{name}_norm", clipping.global_norm([values])))
    return made


@export("contrib.training.create_train_op")
def create_train_op(
    total_loss: TensorLike,
    optimizer: Optimizer,
    global_step: VariableLike | int | None = _USE_GLOBAL_STEP,
    update_ops: Sequence[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """Makes a step of training of a loss.

    Args:
      total_loss: The loss, a scalar.
      optimizer: The optimizer.
      global_step: The global step, which the step of training counts up; the graph's by default, none if
        None.
      update_ops: Operations that run before the step; those in the collection UPDATE_OPS if None.
      variables_to_train: The variables to train; all trainable ones if None.
      transform_grads_fn: A function from pairs of gradient and variable to those that are applied; None for
        none.
      summarize_gradients: Whether gradients and their norms are summarized.
      gate_gradients: As of `Optimizer.compute_gradients`.
      aggregation_method: As of `Optimizer.compute_gradients`.
      colocate_gradients_with_ops: Whether gradients are computed where their operations are.
      check_numerics: Whether a loss that is not finite is an error.

    Returns:
      The loss, a tensor that runs the updates and makes a step of training when it is computed.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    variables = trainable_variables() if variables_to_train is None else variables_to_train
    for variable in variables:
        if variable not in trainable_variables():
            raise AssertionError(f"{variable.name} is not a trainable variable")
    if not variables:
        raise AssertionError("there are no variables to train")
    pairs = optimizer.compute_gradients(
        total_loss,
        variables,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    updates = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = debugging.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = grouping.with_dependencies([updates], total_loss)
    train_ops = get_collection_ref(GraphKeys.TRAIN_OP)
    if train_op not in train_ops:
        train_ops.append(train_op)
    return train_op


def _after_updates(loss: Tensor, update_ops: Sequence[Any] | None) -> Tensor:
    known = list(dict.fromkeys(get_collection(GraphKeys.UPDATE_OPS)))
    wanted = known if update_ops is None else list(dict.fromkeys(update_ops))
    if not set(known) <= set(wanted):
        logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS"
        )
    if not wanted:
        return loss
    with control_dependencies(wanted):
        barrier = constants.no_operation(name="update_barrier")
    return grouping.with_dependencies([barrier], loss)
