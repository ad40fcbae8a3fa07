"""The losses of a graph: who makes one puts it into a collection, who trains sums the collection up."""

from __future__ import annotations

from collections.abc import Hashable

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, get_collection
from tideflow.ops.arrays import constants
from tideflow.ops.math import reductions


@export("losses.add_loss")
def add_loss(loss: Tensor, loss_collection: Hashable = GraphKeys.LOSSES) -> None:
    """Puts a loss into the collection; None is no collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


@export("losses.get_losses")
def get_losses(scope: str | None = None, loss_collection: Hashable = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses in the collection, or those whose names begin with `scope`."""
    return get_collection(loss_collection, scope)


@export("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """What regularizers of variables have put into their collection."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("losses.get_regularization_loss")
def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses; 0 where there are none."""
    losses = get_regularization_losses(scope)
    return reductions.add_n(losses, name=name) if losses else constants.constant(0.0)


@export("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of all losses and, unless told otherwise, the regularization losses."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return reductions.add_n(losses, name=name)
