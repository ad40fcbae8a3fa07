"""Stochastic dual coordinate ascent: linear models are trained example by example, each with a dual variable.

For each example in turn, its dual variable is set to what is best while all others stay, and the weights of
its features are moved accordingly. Weights are kept as they are before the L1 penalty shrinks them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import f32, text
from tideflow.runtime.fingerprints import fingerprint128
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tideflow.graph.typing import TensorLike, VariableLike

_NEWTON_STEPS = 10
_DECAY = 0.1  # of the probability of an example that was drawn once, in adaptive sampling
_IMPOSSIBLE = np.finfo(np.float64).max  # the dual loss outside of its domain

# ---------------------------------------------------------------------------------------------------- losses


class _Loss(NamedTuple):
    """A loss of the product of weights and features (`wx`) and a label (`y`).

    `dual` gives the best dual variable from the present one and a curvature, which is the squared norm of the
    example by its weight and the number of partitions. The others are the loss, its conjugate, its
    derivative, its smoothness, and the label as the loss takes it.
    """

    dual: Callable[[float, float, float, float], float]
    conjugate: Callable[[float, float], float]
    primal: Callable[[float, float], float]
    derivative: Callable[[float, float], float]
    smoothness: float
    label: Callable[[float], float]


def _sign(label: float) -> float:
    if label not in (0.0, 1.0):
        raise errors.invalid_argument(
            f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {label:g}"
        )
    return 2 * label - 1


def _count(label: float) -> float:
    if label < 0:
        raise errors.invalid_argument(
            "Only non-negative labels can be used with the Poisson log loss. Found example with label: "
            f"{label:g}"
        )
    return label


def _logistic_dual(y, dual, wx, curvature):
    x = np.float64(0)
    for _ in range(_NEWTON_STEPS):
        t = np.tanh(x)
        value = -2 * y * x - wx - curvature * (0.5 * (1 + t) / y - dual)
        x = x - value / (-2 * y - curvature * (1 - t * t) * 0.5 / y)
    return 0.5 * (1 + np.tanh(x)) / y


def _entropy(dual, y):
    a = dual * y
    return a * (np.log(a) if a > 0 else 0) + (1 - a) * (np.log(1 - a) if a < 1 else 0)


def _poisson_dual(y, dual, wx, curvature):
    x = np.log(y - dual) if y > dual else np.float64(0)
    for _ in range(_NEWTON_STEPS):
        e = np.exp(x)
        x = x - (x - wx - curvature * (y - dual - e)) / (1 + curvature * e)
    return y - np.exp(x)


def _poisson_conjugate(dual, y):
    if y <= dual:
        return 0.0 if y == dual else _IMPOSSIBLE
    return (y - dual) * (np.log(y - dual) - 1)


def _within_hinge(y, dual):
    """The nearest dual variable that a hinge loss allows: from 0 to 1, in the direction of the label."""
    return 0.0 if y * dual < 0 else y if y * dual > 1 else dual


def _hinge_conjugate(slope: float) -> Callable[[float, float], float]:
    def conjugate(dual, y):
        return -dual * y + 0.5 * slope * dual * dual if 0 <= dual * y <= 1 else _IMPOSSIBLE

    return conjugate


def _smooth_hinge(wx, y):
    gap = 1 - y * wx
    return 0.0 if gap <= 0 else gap - 0.5 if gap >= 1 else gap * gap / 2


_LOSSES = {
    "logistic_loss": _Loss(
        _logistic_dual,
        _entropy,
        lambda wx, y: np.logaddexp(0, -y * wx),
        lambda wx, y: -y / (1 + np.exp(y * wx)),
        4.0,
        _sign,
    ),
    "squared_loss": _Loss(
        lambda y, dual, wx, curvature: dual + (y - dual - wx) / (1 + curvature),
        lambda dual, y: dual * (0.5 * dual - y),
        lambda wx, y: 0.5 * (wx - y) ** 2,
        lambda wx, y: wx - y,
        1.0,
        lambda label: label,
    ),
    "hinge_loss": _Loss(
        lambda y, dual, wx, curvature: _within_hinge(y, dual + (y - wx) / curvature),
        _hinge_conjugate(0.0),
        lambda wx, y: max(0.0, 1 - y * wx),
        lambda wx, y: -y if y * wx < 1 else 0.0,
        0.0,
        _sign,
    ),
    "smooth_hinge_loss": _Loss(
        lambda y, dual, wx, curvature: _within_hinge(y, dual + (y - wx - dual) / (curvature + 1)),
        _hinge_conjugate(1.0),
        _smooth_hinge,
        lambda wx, y: 0.0 if y * wx >= 1 else -y if y * wx <= 0 else wx - y,
        1.0,
        _sign,
    ),
    "poisson_loss": _Loss(
        _poisson_dual,
        _poisson_conjugate,
        lambda wx, y: np.exp(wx) - wx * y,
        lambda wx, y: np.exp(wx) - y,
        1.0,
        _count,
    ),
}

# -------------------------------------------------------------------------------------------------- examples


def _shrunk(weights: np.ndarray, shrinkage: float) -> np.ndarray:
    """The weights after the L1 penalty."""
    return np.copysign(np.maximum(np.abs(weights) - shrinkage, 0), weights)


class _Examples:
    """A batch: of each example the values of its features, and their places in the vector of all weights."""

    def __init__(self, count: int):
        self.places: list[list[np.ndarray]] = [[] for _ in range(count)]
        self.values: list[list[np.ndarray]] = [[] for _ in range(count)]

    def add_sparse(self, examples, features, values, known, first) -> None:
        """Adds a sparse feature; its weights stand from `first` on, in the order of the features `known`."""
        if len(examples) != len(features) or len(values) != len(features):
            raise errors.invalid_argument(
                "Found mismatched example_indices and feature_indices "
                f"[{len(examples)}] vs [{len(features)}], with {len(values)} values"
            )
        count = len(self.places)
        if len(examples) and not 0 <= examples[0] <= examples[-1] < count:
            raise errors.invalid_argument(f"sparse_example_indices must be in [0, {count})")
        if np.any(np.diff(examples) < 0):
            raise errors.invalid_argument("sparse_example_indices must be sorted")
        order = np.argsort(known, kind="stable")
        ordered = known[order]
        found = np.searchsorted(ordered, features, side="right") - 1
        is_known = (
            (found >= 0) & (ordered[found.clip(min=0)] == features) if len(known) else features != features
        )
        if not np.all(is_known):
            wrong = features[~is_known][0]
            raise errors.invalid_argument(f"Found sparse feature indices out of valid range: {wrong}")
        places = first + order[found] if len(features) else found
        for start, end in _runs(examples):
            if len(np.unique(features[start:end])) < end - start:
                raise errors.invalid_argument("Duplicate index in sparse vector.")
            self.places[examples[start]].append(places[start:end])
            self.values[examples[start]].append(values[start:end])

    def add_dense(self, rows: np.ndarray, size: int, first: int) -> None:
        """Adds a dense feature, whose weights stand from `first` on."""
        if rows.shape[1] > size:
            raise errors.invalid_argument(f"More dense features than we have parameters for: {rows.shape[1]}")
        if rows.shape != (len(self.places), size):
            raise errors.invalid_argument(
                f"dense_features must have {len(self.places)} rows and {size} columns, but have shape "
                f"{list(rows.shape)}"
            )
        places = np.arange(first, first + size)
        for example, row in enumerate(rows):
            self.places[example].append(places)
            self.values[example].append(row)


def _runs(examples: np.ndarray) -> list[tuple[int, int]]:
    """The stretches of equal numbers."""
    borders = [0, *(np.flatnonzero(np.diff(examples)) + 1).tolist(), len(examples)]
    return list(itertools.pairwise(borders)) if len(examples) else []


def _adaptive_order(probabilities: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Examples by their probabilities, which sink when they are drawn; those not drawn come at the end."""
    count, total = len(probabilities), probabilities.sum()
    if not np.isfinite(total) or total <= 0:
        return generator.permutation(count)
    drawn = generator.choice(count, 2 * count, p=probabilities / total)
    times = np.zeros(count)
    order = []
    for example, luck in zip(drawn.tolist(), generator.random(2 * count), strict=True):
        if len(order) < count and luck <= _DECAY ** times[example]:
            times[example] += 1
            order.append(example)
    unseen = np.flatnonzero(times == 0)
    unseen = unseen[np.argsort(-probabilities[unseen], kind="stable")]
    return np.r_[np.array(order, np.int64), unseen[: count - len(order)]]


_FEATURES = (
    "sparse_example_indices: num_sparse_features * int64, sparse_feature_indices: num_sparse_features * "
    "int64, sparse_feature_values: num_sparse_features_with_values * float, dense_features: "
    "num_dense_features * float, example_weights: float, example_labels: float, sparse_indices: "
    "num_sparse_features * int64, sparse_weights: num_sparse_features * float, dense_weights: "
    "num_dense_features * float, example_state_data: float -> out_example_state_data: float, "
    "out_delta_sparse_weights: num_sparse_features * float, out_delta_dense_weights: num_dense_features * "
    "float"
)
_COUNT = attr("int", minimum=0)
_OPTIONS = {
    "num_sparse_features": _COUNT,
    "num_sparse_features_with_values": _COUNT,
    "num_dense_features": _COUNT,
    "l1": attr("float"),
    "l2": attr("float"),
    "num_loss_partitions": attr("int", minimum=1),
    "num_inner_iterations": attr("int", minimum=1),
}
_LOSS_TYPE = attr("string", allowed=tuple(_LOSSES))


def _optimizer_shape(
    sparse_example_indices,
    sparse_feature_indices,
    sparse_feature_values,
    dense_features,
    example_weights,
    example_labels,
    sparse_indices,
    sparse_weights,
    dense_weights,
    example_state_data,
):
    for features in dense_features:
        of_rank(features, 2)
    return [[of_rank(example_state_data, 2).as_list()[0], 4], *sparse_weights, *dense_weights]


def _optimized(
    inputs: tuple[Any, ...], loss: _Loss, adaptive: bool, l1: float, l2: float, partitions: int
) -> list:
    """One pass over a batch: the state of the examples, and by how much each weight changes."""
    lists = [
        [to_numpy(each) for each in group] if isinstance(group, (list, tuple)) else to_numpy(group)
        for group in inputs
    ]
    (
        of_examples,
        of_features,
        of_values,
        dense,
        importance,
        labels,
        known,
        sparse_weights,
        dense_weights,
        state,
    ) = lists
    weights = [each.reshape(-1) for each in (*sparse_weights, *dense_weights)]
    firsts = np.r_[0, np.cumsum([each.size for each in weights])].astype(np.int64)
    importance, labels = importance.reshape(-1), labels.reshape(-1)
    count = importance.size
    if not weights:
        raise errors.invalid_argument("Requires at least one feature to train.")
    if labels.size != count:
        raise errors.invalid_argument(f"Expected {count} example labels but got {labels.size}")
    if state.shape != (count, 4):
        raise errors.invalid_argument(
            f"Expected shape [{count},4] for example_state_data, got {list(state.shape)}"
        )
    batch = _Examples(count)
    for i, (examples, features) in enumerate(zip(of_examples, of_features, strict=True)):
        values = of_values[i].reshape(-1) if i < len(of_values) else np.ones(features.size, np.float32)
        if known[i].size != weights[i].size:
            raise errors.invalid_argument(
                f"There are {known[i].size} sparse_indices of {weights[i].size} sparse_weights"
            )
        batch.add_sparse(examples.reshape(-1), features.reshape(-1), values, known[i].reshape(-1), firsts[i])
    for i, rows in enumerate(dense):
        at = len(sparse_weights) + i
        batch.add_dense(rows, weights[at].size, firsts[at])
    changes = _ascended(
        batch, np.concatenate(weights), importance, labels, state, loss, adaptive, l1, l2, partitions
    )
    state, delta = changes
    shapes = [each.shape for each in (*sparse_weights, *dense_weights)]
    parts = [delta[firsts[i] : firsts[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
    return [to_torch(part) for part in (state, *parts)]


def _ascended(batch, weights, importance, labels, state, loss, adaptive, l1, l2, partitions):
    generator = np.random.default_rng()
    l1, l2 = np.float32(l1), np.float32(l2)
    state, delta = state.copy(), np.zeros_like(weights)
    count = len(labels)
    with np.errstate(all="ignore"):
        shrinkage = np.float64(l1 / l2)
        places = [np.concatenate(each) if each else np.empty(0, np.int64) for each in batch.places]
        values = [np.concatenate(each).astype(np.float64) if each else np.empty(0) for each in batch.values]
        norms = np.array([np.square(each).sum() for each in values])
        targets = [loss.label(label) for label in labels.tolist()]

        def product(example, change):
            moved = weights[places[example]] + change[places[example]] * np.float32(partitions)
            return (values[example] * _shrunk(moved.astype(np.float64), shrinkage)).sum()

        if adaptive:
            slopes = [loss.derivative(product(i, delta), targets[i]) for i in range(count)]
            gaps = np.abs(state[:, 0] + np.array(slopes, np.float64))
            order = _adaptive_order(importance * np.sqrt(norms + l2 * loss.smoothness) * gaps, generator)
        else:
            order = generator.permutation(count)
        nothing = np.zeros_like(delta)
        for i in order.tolist():
            weight, y, dual = np.float64(importance[i]), np.float64(targets[i]), np.float64(state[i, 0])
            curvature = partitions * (norms[i] / np.float64(l2)) * weight
            new_dual = loss.dual(y, dual, product(i, delta), curvature)
            primal = loss.primal(product(i, nothing), y)
            delta[places[i]] += (values[i] * ((new_dual - dual) * weight / l2)).astype(np.float32)
            state[i] = new_dual, primal * weight, loss.conjugate(dual, y) * weight, weight
    return state, delta


sdca_optimizer_op = Op(
    "SdcaOptimizer",
    _FEATURES,
    loss_type=_LOSS_TYPE,
    adaptative=False,
    **_OPTIONS,
    on_host=True,
    differentiable=False,
)
sdca_optimizer_op.shape(_optimizer_shape)


@sdca_optimizer_op.kernel
def _sdca_optimizer_kernel(*inputs, loss_type, adaptative, l1, l2, num_loss_partitions):
    return _optimized(inputs, _LOSSES[loss_type], adaptative, l1, l2, num_loss_partitions)


sdca_optimizer_v2_op = Op(
    "SdcaOptimizerV2",
    _FEATURES,
    loss_type=_LOSS_TYPE,
    adaptive=False,
    **_OPTIONS,
    on_host=True,
    differentiable=False,
)
sdca_optimizer_v2_op.shape(_optimizer_shape)


@sdca_optimizer_v2_op.kernel
def _sdca_optimizer_v2_kernel(*inputs, loss_type, adaptive, l1, l2, num_loss_partitions):
    return _optimized(inputs, _LOSSES[loss_type], adaptive, l1, l2, num_loss_partitions)


def _one_example_law(
    examples,
    features,
    values,
    dense,
    weights,
    labels,
    known,
    sparse_weights,
    dense_weights,
    state,
    *outputs,
    l2,
):
    """For one example of squared loss: the dual variable is the residual, and weights follow the features."""
    new_state, sparse_change, dense_change = outputs
    residual = labels[0] - (dense[0][0] * (dense_weights[0] + dense_change)).sum()
    residual -= (values[0] * (sparse_weights[0] + sparse_change)).sum()
    return [
        (new_state[0, 0], np.float32(residual)),
        (dense_change, np.float32(dense[0][0] * new_state[0, 0] / l2)),
        (sparse_change, np.float32(values[0] * new_state[0, 0] / l2)),
        new_state[0, 3] == weights[0],
    ]


_INDEX = [np.array([0, 0])]
_SAMPLE = (
    _INDEX,
    [np.array([4, 7])],
    [f32(2)],
    [f32(1, 3)],
    np.float32([1.0]),
    np.float32([2.0]),
    [np.array([4, 7])],
    [f32(2)],
    [f32(3)],
    np.zeros((1, 4), np.float32),
)
_SETTINGS = {
    "loss_type": "squared_loss",
    "l1": 0.0,
    "l2": 2.0,
    "num_loss_partitions": 1,
    "num_inner_iterations": 1,
}
_WRONG = (*_SAMPLE[:1], [np.array([4, 8])], *_SAMPLE[2:], _SETTINGS)
for _op in (sdca_optimizer_op, sdca_optimizer_v2_op):
    _op.samples((*_SAMPLE, _SETTINGS), law=_one_example_law)
    _op.refuses(_WRONG, "Found sparse feature indices out of valid range: 8", InvalidArgumentError)


@export("train.sdca_optimizer")
def sdca_optimizer(
    sparse_example_indices: Sequence[TensorLike],
    sparse_feature_indices: Sequence[TensorLike],
    sparse_feature_values: Sequence[TensorLike],
    dense_features: Sequence[TensorLike],
    example_weights: TensorLike,
    example_labels: TensorLike,
    sparse_indices: Sequence[TensorLike],
    sparse_weights: Sequence[TensorLike],
    dense_weights: Sequence[TensorLike],
    example_state_data: TensorLike,
    loss_type: str,
    l1: float,
    l2: float,
    num_loss_partitions: int,
    num_inner_iterations: int,
    adaptative: bool = True,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Trains a linear model on a batch by stochastic dual coordinate ascent.

    Args:
      sparse_example_indices: For each sparse feature group the examples, a vector in ascending order.
      sparse_feature_indices: For each group the features of these examples.
      sparse_feature_values: The values of the first groups; those of the others are 1.
      dense_features: For each dense feature group a matrix with a row for each example.
      example_weights: The weights of the examples.
      example_labels: The labels of the examples.
      sparse_indices: For each sparse group the features that have weights.
      sparse_weights: For each sparse group these weights.
      dense_weights: For each dense group its weights.
      example_state_data: A row of four numbers for each example; the first is its dual variable.
      loss_type: `"logistic_loss"`, `"squared_loss"`, `"hinge_loss"`, `"smooth_hinge_loss"` or
        `"poisson_loss"`.
      l1: The strength of L1 regularization.
      l2: The strength of L2 regularization.
      num_loss_partitions: In how many places the model is trained at once.
      num_inner_iterations: The number of passes over the batch, which is 1.
      adaptative: Whether examples are taken the more often the more they would change the model.
      name: A name for the operation.

    Returns:
      The new state of the examples, and by how much the sparse and the dense weights change.
    """
    return sdca_optimizer_op(
        sparse_example_indices,
        sparse_feature_indices,
        sparse_feature_values,
        dense_features,
        example_weights,
        example_labels,
        sparse_indices,
        sparse_weights,
        dense_weights,
        example_state_data,
        loss_type=loss_type,
        l1=l1,
        l2=l2,
        num_loss_partitions=num_loss_partitions,
        num_inner_iterations=num_inner_iterations,
        adaptative=adaptative,
        name=name,
    )


sdca_shrink_l1_op = Op(
    "SdcaShrinkL1",
    "weights: num_features * Ref(float)",
    num_features=_COUNT,
    l1=attr("float"),
    l2=attr("float"),
    differentiable=False,
)
sdca_shrink_l1_op.shape(lambda weights: [])


@sdca_shrink_l1_op.kernel
def _sdca_shrink_l1_kernel(weights, *, l1, l2):
    with np.errstate(all="ignore"):
        shrinkage = float(np.float32(l1) / np.float32(l2))
    for variable in weights:
        with variable as buffer:
            buffer.copy_(buffer.sign() * (buffer.abs() - shrinkage).clamp(min=0))


sdca_shrink_l1_op.samples(covered_by="tests/ops/state/test_sdca.py")


@export("train.sdca_shrink_l1")
def sdca_shrink_l1(
    weights: Sequence[VariableLike], l1: float, l2: float, name: str | None = None
) -> Operation:
    """Moves weights toward zero by l1 / l2, and those that are nearer to it.

    Args:
      weights: The weights, reference variables.
      l1: The strength of L1 regularization.
      l2: The strength of L2 regularization.
      name: A name for the operation.

    Returns:
      The operation.
    """
    return sdca_shrink_l1_op(weights, l1=l1, l2=l2, name=name)


sdca_fprint_op = Op("SdcaFprint", "input: string -> output: int64", differentiable=False)


@sdca_fprint_op.shape
def _sdca_fprint_shape(input):
    return [of_rank(input, 1).as_list()[0], 2]


@sdca_fprint_op.kernel
def _sdca_fprint_kernel(input):
    if input.ndim != 1:
        raise errors.invalid_argument(f"Input must be a vector, got shape {list(input.shape)}")
    prints = np.array([fingerprint128(each) for each in input.tolist()], np.uint64).reshape(-1, 2)
    prints[prints[:, 0] < 2, 0] -= np.uint64(2)  # 0 and 1 may stand for no example
    return torch.from_numpy(prints.view(np.int64))


_PRINTS = {
    b"a": [7969074168056553668, 5955762262185338209],
    b"": [4463240938071824939, 4374473821787594281],
    b"abc" * 10: [4891452440392299055, -1986707830308185764],
}  # by TensorFlow
sdca_fprint_op.samples(
    text(*_PRINTS), text(), against=lambda input: np.array([_PRINTS[each] for each in input]).reshape(-1, 2)
)
sdca_fprint_op.refuses((text("a", "b", shape=(1, 2)),), "Shape must be rank 1 but is rank 2")


@export("train.sdca_fprint")
def sdca_fprint(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the fingerprints by which examples are told apart, 128 bits of each name.

    Args:
      input: A vector of strings.
      name: A name for the operation.

    Returns:
      A matrix of int64 with two columns.
    """
    return sdca_fprint_op(input, name=name)
