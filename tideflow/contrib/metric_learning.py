"""`tf.contrib.losses.metric_learning`: losses of embeddings that shall be near where labels are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, diagonals, indexing, joining, shapes
from tideflow.ops.control_flow.debugging import Print
from tideflow.ops.control_flow.python_functions import py_func
from tideflow.ops.linalg.matmul import matmul
from tideflow.ops.math import binary, casting, reductions, unary
from tideflow.ops.nn.softmax import softmax_cross_entropy_with_logits
from tideflow.ops.sparse.arithmetic import sparse_minimum
from tideflow.ops.sparse.sparse_reductions import sparse_reduce_sum
from tideflow.summary.functions import scalar

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def _number(condition: Tensor) -> Tensor:
    return casting.cast(condition, dtypes.float32)


def _diagonal(rows: Tensor) -> Tensor:
    """A matrix with ones on its diagonal, one for each row."""
    return diagonals.diag(creation.ones([shapes.shape(rows)[0]]))


def pairwise_distance(feature: Tensor, squared: bool = False) -> Tensor:
    """The Euclidean distances of all pairs; those of equal ones are 0, and have no gradient."""
    squares = reductions.reduce_sum(unary.square(feature), axis=[1], keepdims=True)
    products = matmul(feature, feature, transpose_b=True)
    between = binary.maximum(squares + shapes.transpose(squares) - 2.0 * products, 0.0)
    are_equal = _number(binary.less_equal(between, 0.0))
    if not squared:
        between = unary.sqrt(between + are_equal * 1e-16)
    return between * (1.0 - are_equal) * (1.0 - _diagonal(feature))


def _same_labels(labels: TensorLike) -> Tensor:
    """Whether two examples have the same label, for all pairs."""
    column = shapes.reshape(convert_to_tensor(labels), [-1, 1])
    return binary.equal(column, shapes.transpose(column))


def _positives(same: Tensor) -> Tensor:
    """1 where two different examples have the same label."""
    return _number(same) - _diagonal(same)


@export("contrib.losses.metric_learning.contrastive_loss")
def contrastive_loss(
    labels: TensorLike, embeddings_anchor: TensorLike, embeddings_positive: TensorLike, margin: float = 1.0
) -> Tensor:
    """Computes the contrastive loss: pairs with label 1 shall be near, others at least `margin` apart.

    Args:
      labels: A vector of 0 and 1, one for each pair.
      embeddings_anchor: The embeddings of the first examples, a matrix.
      embeddings_positive: Those of the second examples.
      margin: The distance that is enough.

    Returns:
      The mean loss of the pairs, a scalar.
    """
    squares = binary.squared_difference(embeddings_anchor, embeddings_positive)
    distances = unary.sqrt(reductions.reduce_sum(squares, 1))
    are_pairs = casting.cast(labels, distances.dtype)
    near = are_pairs * unary.square(distances)
    far = (1.0 - are_pairs) * unary.square(binary.maximum(margin - distances, 0.0))
    return reductions.reduce_mean(near + far, name="contrastive_loss")


@export("contrib.losses.metric_learning.triplet_semihard_loss")
def triplet_semihard_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """Computes the triplet loss with semi-hard negatives (Schroff and others, 2015).

    For each anchor and example of the same label, the negative is the nearest one of another label that is
    further away than the positive; where there is none, the furthest one.

    Args:
      labels: The label of each example, a vector of integers.
      embeddings: The embedding of each, a matrix. They should have the norm 1.
      margin: How much further away than the positive the negative shall be.

    Returns:
      The mean loss of the pairs of equal labels, a scalar.
    """
    distances = pairwise_distance(convert_to_tensor(embeddings), squared=True)
    same = _same_labels(labels)
    to_negatives = shapes.expand_dims(distances, 1)  # by anchor, positive and negative
    is_negative = shapes.expand_dims(unary.logical_not(same), 1)
    is_further = binary.logical_and(
        is_negative, binary.greater(to_negatives, shapes.expand_dims(distances, 2))
    )
    furthest = reductions.reduce_max(distances, 1, keepdims=True)
    least = reductions.reduce_min(distances, 1, keepdims=True)
    outside = (
        reductions.reduce_min((to_negatives - shapes.expand_dims(furthest, 1)) * _number(is_further), 2)
        + furthest
    )
    inside = (
        reductions.reduce_max((distances - least) * _number(unary.logical_not(same)), 1, keepdims=True)
        + least
    )
    negatives = indexing.where(
        reductions.reduce_any(is_further, 2), outside, inside + creation.zeros_like(distances)
    )
    positives = _positives(same)
    losses = binary.maximum((margin + distances - negatives) * positives, 0.0)
    return binary.truediv(
        reductions.reduce_sum(losses), reductions.reduce_sum(positives), name="triplet_semihard_loss"
    )


@export("contrib.losses.metric_learning.lifted_struct_loss")
def lifted_struct_loss(labels: TensorLike, embeddings: TensorLike, margin: float = 1.0) -> Tensor:
    """Computes the lifted structured loss (Song and others, 2016): each pair against all of its negatives.

    Args:
      labels: The label of each example, a vector of integers.
      embeddings: The embedding of each, a matrix. They should not be normalized.
      margin: How far away negatives shall be.

    Returns:
      The mean loss of the pairs of equal labels, a scalar.
    """
    distances = pairwise_distance(convert_to_tensor(embeddings))
    same = _same_labels(labels)
    is_negative = _number(unary.logical_not(same))
    missing = margin - distances
    least = reductions.reduce_min(missing, 1, keepdims=True)
    highest = reductions.reduce_max((missing - least) * is_negative, 1, keepdims=True) + least
    highest = binary.maximum(highest, shapes.transpose(highest))
    powers = unary.exp(shapes.expand_dims(missing, 1) - shapes.expand_dims(highest, 2))
    totals = reductions.reduce_sum(powers * shapes.expand_dims(is_negative, 1), 2)
    losses = highest + unary.log(totals + shapes.transpose(totals)) + distances
    positives = _positives(same)
    squares = unary.square(binary.maximum(losses * positives, 0.0))
    return binary.truediv(
        0.25 * reductions.reduce_sum(squares),
        reductions.reduce_sum(positives) / 2.0,
        name="liftedstruct_loss",
    )


def _npairs(anchor: Any, positive: Any, targets: Tensor, reg_lambda: float, print_losses: bool) -> Tensor:
    norms = [
        reductions.reduce_mean(reductions.reduce_sum(unary.square(part), 1)) for part in (anchor, positive)
    ]
    penalty = binary.multiply(0.25 * reg_lambda, norms[0] + norms[1], name="l2loss")
    similarities = matmul(anchor, positive, transpose_b=True)
    targets = targets / reductions.reduce_sum(targets, 1, keepdims=True)
    losses = softmax_cross_entropy_with_logits(logits=similarities, labels=targets)
    loss = reductions.reduce_mean(losses, name="xentropy")
    if print_losses:
        loss = Print(loss, ["cross entropy:", loss, "l2loss:", penalty])
    return penalty + loss


@export("contrib.losses.metric_learning.npairs_loss")
def npairs_loss(
    labels: TensorLike,
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Computes the N-pairs loss (Sohn, 2016): each anchor against the positives of all others.

    Args:
      labels: The label of each pair, a vector of integers.
      embeddings_anchor: The embeddings of the anchors, a matrix. They should not be normalized.
      embeddings_positive: Those of the positives.
      reg_lambda: The weight of the embeddings' norms.
      print_losses: Whether a step prints both parts of the loss.

    Returns:
      The loss, a scalar.
    """
    targets = _number(_same_labels(labels))
    return _npairs(embeddings_anchor, embeddings_positive, targets, reg_lambda, print_losses)


@export("contrib.losses.metric_learning.npairs_loss_multilabel")
def npairs_loss_multilabel(
    sparse_labels: Sequence[SparseTensor],
    embeddings_anchor: TensorLike,
    embeddings_positive: TensorLike,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Tensor:
    """Computes the N-pairs loss of examples with several labels: pairs count by the labels they share.

    Args:
      sparse_labels: For each pair a SparseTensor with ones at its labels.
      embeddings_anchor: The embeddings of the anchors, a matrix. They should not be normalized.
      embeddings_positive: Those of the positives.
      reg_lambda: The weight of the embeddings' norms.
      print_losses: Whether a step prints both parts of the loss.

    Returns:
      The loss, a scalar.

    Raises:
      TypeError: If `sparse_labels` has something else in it.
    """
    if not all(isinstance(label, SparseTensor) for label in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope("NpairsLossMultiLabel"):
        shared = [
            [casting.cast(sparse_reduce_sum(sparse_minimum(a, b)), dtypes.float32) for b in sparse_labels]
            for a in sparse_labels
        ]
        targets = joining.stack([joining.stack(row) for row in shared])
        return _npairs(embeddings_anchor, embeddings_positive, targets, reg_lambda, print_losses)


# ------------------------------------------------------------------------------------------------ clusters


def score_function(margin_type: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """How well a clustering agrees with labels, from 0 to 1."""
    if margin_type == "const":
        return lambda labels, found: float(np.array_equal(labels, found))
    try:
        from sklearn import metrics  # loaded when asked for
    except ImportError:
        raise ImportError("Cluster loss depends on sklearn.") from None
    functions = {
        "nmi": metrics.normalized_mutual_info_score,
        "ami": metrics.adjusted_mutual_info_score,
        "ari": metrics.adjusted_rand_score,
        "vmeasure": metrics.v_measure_score,
    }
    if margin_type not in functions:
        raise ValueError(f"Unrecognized margin_type: {margin_type}")
    return lambda labels, found: max(0.0, float(functions[margin_type](labels, found)))


def assignments(distances: np.ndarray, chosen: list[int]) -> np.ndarray:
    """The nearest of the chosen examples for each one; a chosen one stands for itself."""
    found = distances[chosen].argmin(0)
    found[chosen] = np.arange(len(chosen))
    return found


_REFINEMENTS = 5


def facilities(distances: np.ndarray, labels: np.ndarray, margin: float, score: Callable) -> list[int]:
    """The examples around which clusters lie best and agree worst with the labels, chosen greedily."""
    chosen: list[int] = []
    for _ in np.unique(labels):
        rest = [i for i in range(len(labels)) if i not in chosen]
        values = []
        for i in rest:
            with_it = [*chosen, i]
            disagreement = 1.0 - score(labels, assignments(distances, with_it))
            values.append(-distances[with_it].min(0).sum() + margin * disagreement)
        chosen = [*chosen, rest[int(np.argmax(values))]]
    return chosen


def refined(
    distances: np.ndarray,
    clusters: np.ndarray,
    labels: np.ndarray,
    chosen: list[int],
    margin: float,
    score: Callable,
) -> list[int]:
    """Chosen examples, each in turn exchanged for the best member of its cluster."""
    chosen = list(chosen)
    for k in range(len(chosen)):
        members = np.flatnonzero(clusters == k)
        costs = -distances[np.ix_(members, members)].sum(0)
        values = []
        for member, cost in zip(members, costs):
            chosen[k] = int(member)
            values.append(cost + margin * (1.0 - score(labels, assignments(distances, chosen))))
        chosen[k] = int(members[int(np.argmax(values))])
    return chosen


def energy_of_labels(distances: Tensor, labels: TensorLike) -> Tensor:
    """The sum of distances from the best center of each label, negative: the member nearest to all others."""
    same = _number(_same_labels(labels))
    to_own = reductions.reduce_sum(distances * same, axis=1)
    others = shapes.expand_dims(to_own, 0) + (1.0 - same) * dtypes.float32.max
    counts = reductions.reduce_sum(same, axis=1)
    return -reductions.reduce_sum(reductions.reduce_min(others, axis=1) / counts)


@export("contrib.losses.metric_learning.cluster_loss")
def cluster_loss(
    labels: TensorLike,
    embeddings: TensorLike,
    margin_multiplier: float,
    enable_pam_finetuning: bool = True,
    margin_type: str = "nmi",
    print_losses: bool = False,
) -> Tensor:
    """Computes the clustering loss (Song and others, 2017): that of the worst clustering that lies well.

    Args:
      labels: The label of each example, a vector of integers.
      embeddings: The embedding of each, a matrix.
      margin_multiplier: How much a clustering that disagrees with the labels counts.
      enable_pam_finetuning: Whether the centers of clusters are refined.
      margin_type: How clustering and labels are compared: `"nmi"`, `"ami"`, `"ari"`, `"vmeasure"` (by
        scikit-learn), or `"const"`.
      print_losses: Whether a step prints the loss.

    Returns:
      The loss, a scalar.

    Raises:
      ImportError: If scikit-learn is not installed.
      ValueError: If `margin_type` is another.
    """
    score = score_function(margin_type)
    distances = pairwise_distance(convert_to_tensor(embeddings))
    given = shapes.squeeze(convert_to_tensor(labels))

    def chosen_and_score(distances: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.float32]:
        chosen = facilities(distances, labels, margin_multiplier, score)
        for _ in range(_REFINEMENTS if enable_pam_finetuning else 0):
            clusters = assignments(distances, chosen)
            chosen = refined(distances, clusters, labels, chosen, margin_multiplier, score)
        return np.array(chosen, np.int32), np.float32(score(labels, assignments(distances, chosen)))

    chosen, agreement = py_func(chosen_and_score, [distances, given], [dtypes.int32, dtypes.float32])
    chosen.set_shape([None])
    agreement.set_shape([])
    predicted = -reductions.reduce_sum(reductions.reduce_min(indexing.gather(distances, chosen), axis=0))
    wanted = energy_of_labels(distances, given)
    loss = binary.maximum(
        predicted + margin_multiplier * (1.0 - agreement) - wanted, 0.0, name="clustering_loss"
    )
    if print_losses:
        loss = Print(loss, ["clustering_loss: ", loss, shapes.shape(loss)])
    scalar("losses/score_pred", predicted)
    scalar(f"losses/{margin_type}", agreement)
    scalar("losses/score_gt", wanted)
    return loss
