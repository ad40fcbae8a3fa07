"""Losses over many classes that look at a few sampled ones: noise-contrastive estimation, sampled softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.nn.cross_entropy import sigmoid_cross_entropy_with_logits
from tideflow.nn.embeddings import embedding_lookup
from tideflow.ops.arrays import constants, creation, joining, shapes, slicing
from tideflow.ops.linalg import matmul
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.nn import candidate_sampling, softmax
from tideflow.ops.sparse import with_dense
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("nn.nce_loss")
def nce_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str = "nce_loss",
) -> Tensor:
    """Computes the loss of noise-contrastive estimation.

    It is a logistic loss of the true classes against sampled ones.

    Args:
      weights: The class weights of shape [classes, size], or a list of their parts.
      biases: The class biases, a vector.
      labels: The true classes, int64 of shape [batch, num_true].
      inputs: The inputs of the output layer, of shape [batch, size].
      num_sampled: The number of classes to sample for a batch.
      num_classes: The number of all classes.
      num_true: The number of true classes of each example.
      sampled_values: The sampled classes and their expected counts, as a candidate sampler returns them;
        those of `tf.nn.log_uniform_candidate_sampler` if None.
      remove_accidental_hits: Whether sampled classes that are true classes are removed.
      partition_strategy: How the rows of `weights` are distributed over parts, `"mod"` or `"div"`.
      name: The name of the operation.

    Returns:
      The loss of each example, a vector.
    """
    logits, targets = logits_of_samples(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
    )
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return _sum_rows(losses)


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: TensorLike,
    biases: TensorLike,
    labels: TensorLike,
    inputs: TensorLike,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """Computes the softmax cross entropy over the true classes and sampled ones.

    It is meant for training only.

    Args:
      weights: The class weights of shape [classes, size], or a list of their parts.
      biases: The class biases, a vector.
      labels: The true classes, int64 of shape [batch, num_true].
      inputs: The inputs of the output layer, of shape [batch, size].
      num_sampled: The number of classes to sample for a batch.
      num_classes: The number of all classes.
      num_true: The number of true classes of each example.
      sampled_values: The sampled classes and their expected counts, as a candidate sampler returns them;
        those of `tf.nn.log_uniform_candidate_sampler` if None.
      remove_accidental_hits: Whether sampled classes that are true classes are removed.
      partition_strategy: How the rows of `weights` are distributed over parts, `"mod"` or `"div"`.
      name: The name of the operation.
      seed: The seed of the sampler.

    Returns:
      The loss of each example, a vector.
    """
    logits, targets = logits_of_samples(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
    )
    targets = constants.stop_gradient(targets, name="labels_stop_gradient")
    return softmax.softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits)


def logits_of_samples(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Sequence[Tensor] | None,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None,
    seed: int | None = None,
    subtract_log_q: bool = True,
) -> tuple[Tensor, Tensor]:
    """Logits [batch, num_true + num_sampled], less the logarithms of expected counts if these are wanted, and
    their targets.
    """
    tables = list(weights) if isinstance(weights, (list, PartitionedVariable)) else [weights]
    with name_scope(name, "compute_sampled_logits", [*tables, biases, inputs, labels]):
        inputs = convert_to_tensor(inputs)
        labels = casting.cast(labels, dtypes.int64)
        true_ids = shapes.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = candidate_sampling.log_uniform_candidate_sampler(
                labels, num_true, num_sampled, unique=True, range_max=num_classes, seed=seed
            )
        sampled, true_expected, sampled_expected = map(constants.stop_gradient, sampled_values)
        sampled = casting.cast(sampled, dtypes.int64)

        # Both kinds at once: one lookup, and one sparse gradient.
        ids = joining.concat([true_ids, sampled], 0)
        rows = embedding_lookup(tables, ids, partition_strategy=partition_strategy)
        rows = casting.cast(rows, inputs.dtype)
        true_rows = slicing.slice(rows, [0, 0], joining.stack([shapes.shape(true_ids)[0], -1]))
        other_rows = slicing.slice(rows, joining.stack([shapes.shape(true_ids)[0], 0]), [-1, -1])
        sampled_logits = matmul.matmul(inputs, other_rows, transpose_b=True)

        offsets = embedding_lookup(biases, ids, partition_strategy=partition_strategy)
        offsets = casting.cast(offsets, inputs.dtype)
        true_offsets = slicing.slice(offsets, [0], shapes.shape(true_ids))
        other_offsets = slicing.slice(offsets, shapes.shape(true_ids), [-1])

        true_logits = _true_logits(inputs, true_rows, num_true)
        true_logits = true_logits + shapes.reshape(true_offsets, [-1, num_true])
        sampled_logits = sampled_logits + other_offsets
        if remove_accidental_hits:
            sampled_logits = sampled_logits + _penalty(labels, sampled, num_true, num_sampled, inputs.dtype)
        if subtract_log_q:
            true_logits = true_logits - unary.log(true_expected)
            sampled_logits = sampled_logits - unary.log(sampled_expected)

        logits = joining.concat([true_logits, sampled_logits], 1)
        shares = creation.ones_like(true_logits) / num_true
        return logits, joining.concat([shares, creation.zeros_like(sampled_logits)], 1)


def _true_logits(inputs: Tensor, rows: Tensor, num_true: int) -> Tensor:
    """The product of each input with the rows of its own classes: [batch, num_true]."""
    width = shapes.shape(rows)[1:2]
    own_shape = joining.concat([[-1, num_true], width], 0)
    products = binary.multiply(shapes.expand_dims(inputs, 1), shapes.reshape(rows, own_shape))
    flat = shapes.reshape(products, joining.concat([[-1], width], 0))
    return shapes.reshape(_sum_rows(flat), [-1, num_true])


def _penalty(labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: dtypes.DType) -> Tensor:
    """What makes the logit of a sampled class, which is a true one of the row, vanish."""
    rows, places, least = candidate_sampling.compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = shapes.reshape(rows, [-1, 1])
    places = shapes.reshape(casting.cast(places, dtypes.int32), [-1, 1])
    indices = joining.concat([rows, places], 1, "sparse_indices")
    size = joining.concat([shapes.shape(labels)[:1], shapes.expand_dims(num_sampled, 0)], 0)
    least = casting.cast(least, dtype)
    return with_dense.sparse_to_dense(indices, size, least, default_value=0.0, validate_indices=False)


def _sum_rows(x: Tensor) -> Tensor:
    """The sum of each row: as a product with ones its gradient is one too."""
    columns = shapes.shape(x)[1]
    ones = creation.ones(joining.stack([columns, 1]), x.dtype)
    return shapes.reshape(matmul.matmul(x, ones), [-1])
