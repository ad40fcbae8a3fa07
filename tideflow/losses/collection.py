"""The losses of a graph: functions that make losses add them to a collection, which training sums up."""

from __future__ import annotations

from collections.abc import Hashable

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, executing_eagerly, get_collection
from tideflow.ops.arrays import constants
from tideflow.ops.math import adding


@export("losses.add_loss")
def add_loss(loss: Tensor, loss_collection: Hashable = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection.

    Args:
      loss: The loss.
      loss_collection: The collection's key; nothing happens if it is None, or in eager mode.
    """
    if loss_collection and not executing_eagerly():
        add_to_collection(loss_collection, loss)


@export("losses.get_losses")
def get_losses(scope: str | None = None, loss_collection: Hashable = GraphKeys.LOSSES) -> list[Tensor]:
    """Gets the losses of a collection.

    Args:
      scope: A regular expression. If given, only losses whose name matches it at its start are returned.
      loss_collection: The collection's key.

    Returns:
      A list of the losses.
    """
    return get_collection(loss_collection, scope)


@export("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """Gets the losses of the regularizers of variables.

    Args:
      scope: A regular expression. If given, only losses whose name matches it at its start are returned.

    Returns:
      A list of the losses.
    """
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("losses.get_regularization_loss")
def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """Sums the losses of the regularizers of variables.

    Args:
      scope: A regular expression. If given, only losses whose name matches it at its start are counted.
      name: The name of the operation.

    Returns:
      The sum as a scalar tensor; 0 if there are none.
    """
    losses = get_regularization_losses(scope)
    return adding.add_n(losses, name=name) if losses else constants.constant(0.0)


@export("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """Sums all losses of the collection LOSSES and, by default, the regularization losses.

    Args:
      add_regularization_losses: Whether the regularization losses are added.
      name: The name of the operation.
      scope: A regular expression. If given, only losses whose name matches it at its start are counted.

    Returns:
      The sum as a scalar tensor.

    Raises:
      ValueError: If there are no losses.
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return adding.add_n(losses, name=name)
