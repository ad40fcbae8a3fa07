"""Small parts of GANs: conditions, clipped weights, a pool of earlier tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.contrib.gan.namedtuples import GANModel
from tideflow.contrib.layers.arrangement import flatten
from tideflow.contrib.layers.dense import fully_connected
from tideflow.contrib.opt.wrappers import VariableClippingOptimizer
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import shapes
from tideflow.ops.arrays.constants import identity
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.math.positions import argmax
from tideflow.ops.random.distributions import random_uniform
from tideflow.queues.base import RandomShuffleQueue
from tideflow.train.optimizer import Optimizer
from tideflow.variables.variable_scope import get_variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.gan.features.condition_tensor")
def condition_tensor(tensor: TensorLike, conditioning: TensorLike) -> Tensor:
    """Adds a learned linear function of conditions to a tensor.

    Args:
      tensor: A batch of tensors of known shape.
      conditioning: A batch of conditions.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: If a shape is not known, or the conditions have less than two axes.
    """
    tensor.shape[1:].assert_is_fully_defined()
    if conditioning.shape.ndims < 2:
        raise ValueError(f"conditioning must be at least 2D, but saw shape: {conditioning.shape}")
    count = tensor.shape[1:].num_elements()
    mapped = fully_connected(flatten(conditioning), count, activation_fn=None)
    if not mapped.shape.is_compatible_with(tensor.shape):
        mapped = shapes.reshape(mapped, shapes.shape(tensor))
    return tensor + mapped


@export("contrib.gan.features.condition_tensor_from_onehot")
def condition_tensor_from_onehot(
    tensor: TensorLike, one_hot_labels: TensorLike, embedding_size: int = 256
) -> Tensor:
    """Adds a learned function of classes to a tensor.

    Args:
      tensor: A batch of tensors of known shape.
      one_hot_labels: The classes, a tensor [batch, classes] of one-hot vectors.
      embedding_size: The size of the learned vector of a class.

    Returns:
      A tensor of the same shape.

    Raises:
      ValueError: If a shape is not known.
    """
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    table = get_variable("embedding", [one_hot_labels.shape[1], embedding_size])
    vectors = embedding_lookup(table, argmax(one_hot_labels, axis=1), name="token_to_embedding")
    return condition_tensor(tensor, vectors)


@export("contrib.gan.features.clip_discriminator_weights")
def clip_discriminator_weights(optimizer: Optimizer, model: GANModel, weight_clip: float) -> Optimizer:
    """Makes an optimizer that clips the discriminator's weights after each step.

    Args:
      optimizer: The optimizer that makes the steps.
      model: The model.
      weight_clip: The largest absolute value of a weight.

    Returns:
      An optimizer.

    Raises:
      ValueError: If the limit is negative.
    """
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)


@export("contrib.gan.features.clip_variables")
def clip_variables(optimizer: Optimizer, variables: Sequence[Any], weight_clip: float) -> Optimizer:
    """Makes an optimizer that clips variables after each step.

    Args:
      optimizer: The optimizer that makes the steps.
      variables: The variables.
      weight_clip: The largest absolute value of an element.

    Returns:
      An optimizer.

    Raises:
      ValueError: If the limit is negative.
    """
    if weight_clip < 0:
        raise ValueError(f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}")
    return VariableClippingOptimizer(
        optimizer,
        {variable: [] for variable in variables},  # no axes: the norm of each element by itself
        weight_clip,
        use_locking=True,
        colocate_clip_ops_with_vars=True,
    )


def _flat(structure: Any) -> tuple:
    """The tensors of a tensor, or of a tuple or list of tensors and lists."""
    if not isinstance(structure, (list, tuple)):
        return (structure,)
    return tuple(leaf for part in structure for leaf in _flat(part))


def _like(structure: Any, leaves: Any) -> Any:
    if not isinstance(structure, (list, tuple)):
        return next(leaves)
    return type(structure)([_like(part, leaves) for part in structure])


@export("contrib.gan.features.tensor_pool")
def tensor_pool(
    input_values: TensorLike | Sequence[TensorLike],
    pool_size: int = 50,
    pooling_probability: TensorLike = 0.5,
    name: str = "tensor_pool",
) -> Any:
    """Keeps the tensors of earlier steps, and gives at random one of them, or those of this step.

    Until the pool is full it gives what it is given.

    Args:
      input_values: A tensor, or a list or tuple of tensors, which may be nested.
      pool_size: How many are kept; with 0 the tensors are given as they are.
      pooling_probability: How likely it is that earlier tensors are given.
      name: A prefix of the name scope of the operations.

    Returns:
      A tensor, or a list or tuple of tensors, like `input_values`.

    Raises:
      ValueError: If `pool_size` is negative.
    """
    pool_size = int(pool_size)
    if pool_size < 0:
        raise ValueError("`pool_size` is negative.")
    if pool_size == 0:
        return input_values
    values = _flat(input_values)
    with name_scope(f"{name}_pool_queue", values=[*values, pooling_probability]):
        pool = RandomShuffleQueue(
            capacity=pool_size, min_after_dequeue=0, dtypes=[value.dtype for value in values], shapes=None
        )

        def put() -> tuple:
            with control_dependencies([pool.enqueue(values)]):
                return tuple(identity(value) for value in values)

        def swap() -> Any:
            kept = _flat(pool.dequeue())
            with control_dependencies(kept), control_dependencies([pool.enqueue(values)]):
                earlier = random_uniform(()) < pooling_probability
                return cond(earlier, lambda: kept, lambda: values)

        given = _flat(cond(pool.size() < pool_size, put, swap))
        for value, result in zip(values, given, strict=True):
            result.set_shape(value.shape)
    return _like(input_values, iter(given))
