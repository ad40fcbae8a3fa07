"""Weights under masks, and the collections that keep them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import add_to_collection, get_collection, get_collection_ref
from tideflow.nn.functions import zero_fraction
from tideflow.ops.math import binary
from tideflow.variables.initializers import Ones, Zeros
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def masked(mask: Any, weights: Any) -> Tensor:
    """The weights under the mask, by the name under which `strip_pruning_vars_fn` finds them."""
    return binary.multiply(mask, weights, name=MASKED_WEIGHT_NAME)


def collect(mask: Any, threshold: Any, masked_weights: Tensor, weights: Any) -> None:
    """Makes weights known to `Pruning`, unless their mask is."""
    if mask not in get_collection_ref(MASK_COLLECTION):
        add_to_collection(MASK_COLLECTION, mask)
        add_to_collection(MASKED_WEIGHT_COLLECTION, masked_weights)
        add_to_collection(THRESHOLD_COLLECTION, threshold)
        add_to_collection(WEIGHT_COLLECTION, weights)


def weight_mask_variable(var: Any, scope: Any) -> Any:
    """A mask of ones for weights, a variable."""
    with variable_scope(scope):
        return get_variable("mask", var.get_shape(), initializer=Ones(), trainable=False, dtype=var.dtype)


def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """The size below which weights are pruned, a variable that begins with 0."""
    with variable_scope(scope):
        return get_variable("threshold", [], initializer=Zeros(), trainable=False, dtype=var.dtype)


@export("contrib.model_pruning.apply_mask")
def apply_mask(x: TensorLike, scope: str = "") -> Tensor:
    """Puts weights under a mask, which `Pruning` updates.

    Args:
      x: The weights, a variable or a tensor.
      scope: The variable scope in which the mask and its threshold are made.

    Returns:
      A tensor: the weights where the mask is one, zero elsewhere.
    """
    mask = weight_mask_variable(x, scope)
    threshold = weight_threshold_variable(x, scope)
    result = masked(mask, x)
    collect(mask, threshold, result, x)
    return result


@export("contrib.model_pruning.get_masked_weights")
def get_masked_weights() -> list[Tensor]:
    """Lists the weights under their masks, as `apply_mask` and the layers made them in the default graph."""
    return get_collection(MASKED_WEIGHT_COLLECTION)


@export("contrib.model_pruning.get_masks")
def get_masks() -> list[Any]:
    """Lists the masks of the default graph, which are variables."""
    return get_collection(MASK_COLLECTION)


@export("contrib.model_pruning.get_thresholds")
def get_thresholds() -> list[Any]:
    """Lists the thresholds of the default graph, which are variables: smaller weights are pruned."""
    return get_collection(THRESHOLD_COLLECTION)


@export("contrib.model_pruning.get_weights")
def get_weights() -> list[Any]:
    """Lists the weights of the default graph that are under masks."""
    return get_collection(WEIGHT_COLLECTION)


@export("contrib.model_pruning.get_weight_sparsity")
def get_weight_sparsity() -> list[Tensor]:
    """Measures, for each mask of the default graph, the share of weights that it prunes."""
    return [zero_fraction(mask) for mask in get_masks()]
