"""Batches of elements that are kept at random, and elements drawn again at a rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, indexing
from tideflow.ops.arrays import shapes as shape_ops
from tideflow.ops.control_flow import conditionals, debugging, grouping, while_loops
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.math import binary, casting, checks, reductions, unary
from tideflow.ops.random import distributions
from tideflow.train import input as pipelines
from tideflow.train.moving_averages import assign_moving_average
from tideflow.variables import variable_scope as variable_scopes
from tideflow.variables.base import Variable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_TOLERANCE = 1e-6
_SEEN_BEFORE = 10  # of each class: a first estimate


@export("contrib.training.rejection_sample")
def rejection_sample(
    tensors: Sequence[Any],
    accept_prob_fn: Callable[[list[Tensor]], Tensor],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Makes batches of elements, each of which is kept with a probability of its own.

    Args:
      tensors: A list of tensors: one element, or with `enqueue_many` several.
      accept_prob_fn: A function from the tensors of an element to its probability of being kept.
      batch_size: The size of a batch.
      queue_threads: The number of threads that batch.
      enqueue_many: Whether the tensors are batches of elements themselves.
      prebatch_capacity: The largest number of elements that wait for the choice.
      prebatch_threads: The number of threads that read elements.
      runtime_checks: Whether probabilities are checked to lie between 0 and 1.
      name: The name scope of the operations.

    Returns:
      A list of batched tensors.
    """
    with variable_scopes.variable_scope(name, "rejection_sample", tensors):
        rows = [convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            _check_rows(rows, rows[0])
            rows = _one_by_one(rows, prebatch_threads, prebatch_capacity)
        chance = accept_prob_fn(rows)
        if runtime_checks:
            bounds = [checks.assert_less_equal(0.0, chance), checks.assert_less_equal(chance, 1.0)]
            chance = constants.identity(grouping.with_dependencies(bounds, chance), name="prob_with_checks")
        batch = pipelines.maybe_batch(
            rows, distributions.random_uniform([]) < chance, batch_size, num_threads=queue_threads
        )
        return [batch] if isinstance(batch, Tensor) else batch


@export("contrib.training.stratified_sample")
def stratified_sample(
    tensors: Sequence[Any],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: int,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Makes batches in which each class is as frequent as asked for.

    Args:
      tensors: A list of tensors: one element, or with `enqueue_many` several.
      labels: The class of the element, an integer scalar; with `enqueue_many` a vector.
      target_probs: How frequent each class shall be, a vector.
      batch_size: The size of a batch.
      init_probs: How frequent each class is in the data; estimated along the way if None.
      enqueue_many: Whether the tensors are batches of elements themselves.
      queue_capacity: The largest number of elements that wait in each queue.
      threads_per_queue: The number of threads that fill each queue.
      name: The name scope of the operations.

    Returns:
      A list of batched tensors, and the labels.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        rows = [convert_to_tensor(tensor) for tensor in tensors]
        labels = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            rows = [shape_ops.expand_dims(row, 0) for row in rows]
            labels = shape_ops.expand_dims(labels, 0)
        if init_probs is None:
            target.shape.assert_is_fully_defined()
            initial = estimated_distribution(labels, target.shape.num_elements())
        else:
            initial = convert_to_tensor(init_probs, dtype=dtypes.float32)
        rows, labels, initial, target = checked_rows(rows, labels, initial, target)
        accepted = _accepted(initial, target)
        *data, label = _one_by_one([*rows, labels], threads_per_queue, queue_capacity)
        keep = distributions.random_uniform([]) < indexing.gather(accepted, label)
        *data, label = pipelines.maybe_batch([*data, label], keep, batch_size, num_threads=threads_per_queue)
        return data, label


def _one_by_one(rows: list[Tensor], threads: int, capacity: int) -> list[Tensor]:
    """The rows of tensors, one in each step."""
    batched = pipelines.batch(rows, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True)
    batched = [batched] if isinstance(batched, Tensor) else batched
    return [shape_ops.squeeze(row, [0]) for row in batched]


def _check_rows(tensors: Sequence[Tensor], like: Tensor) -> None:
    for tensor in tensors:
        shape = tensor.shape.with_rank_at_least(1)
        shape[:1].assert_is_compatible_with(like.shape[:1])


def estimated_distribution(
    labels: Tensor, num_classes: int, smoothing_constant: int = _SEEN_BEFORE
) -> Tensor:
    """How frequent the classes are, counted from step to step."""
    if smoothing_constant <= 0:
        raise ValueError("smoothing_constant must be nonzero.")
    seen = Variable(
        [smoothing_constant] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64
    )
    counts = seen.assign_add(
        reductions.reduce_sum(creation.one_hot(labels, num_classes, dtype=dtypes.int64), 0)
    )
    counts += 0  # a value of its own: the variable may have gone on when it is read
    return casting.cast(binary.truediv(counts, reductions.reduce_sum(counts)), dtypes.float32)


def checked_rows(rows: list[Tensor], labels: Tensor, *chances: Tensor) -> tuple[Any, ...]:
    """All that was given, with what is wrong with it found: here, or in the step."""
    chances = tuple(_checked_chances(each) for each in chances)
    classes = chances[0].shape.num_elements()
    if any(each.shape.num_elements() != classes for each in chances):
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    _check_rows(rows, labels)
    count = shape_ops.shape(labels)[0]
    some = checks.assert_positive(count)
    labels = grouping.with_dependencies([some], labels)
    rows = [
        grouping.with_dependencies([some, checks.assert_equal(shape_ops.shape(row)[0], count)], row)
        for row in rows
    ]
    labels = grouping.with_dependencies(
        [
            checks.assert_integer(labels),
            checks.assert_non_negative(labels),
            checks.assert_less(labels, casting.cast(classes, labels.dtype)),
        ],
        labels,
    )
    return rows, labels, *chances


def _checked_chances(chances: Tensor) -> Tensor:
    chances.shape.assert_is_fully_defined()
    chances.shape.assert_has_rank(1)
    total = reductions.reduce_sum(chances)
    bounds = [
        checks.assert_non_negative(chances),
        checks.assert_less(total, 1.0 + _TOLERANCE),
        checks.assert_less(1.0 - _TOLERANCE, total),
    ]
    return grouping.with_dependencies(bounds, chances)


def acceptance_probabilities(init_probs: Tensor, target_probs: Tensor) -> Tensor:
    """How likely an element of each class is kept."""
    ratio = target_probs / init_probs
    ratio = indexing.where_v2(unary.is_nan(ratio), creation.zeros_like(ratio), ratio)
    return ratio / reductions.reduce_max(ratio)


def _accepted(initial: Tensor, target: Tensor) -> Tensor:
    """The same, checked first, and printed where more than half of the elements are dropped."""
    possible = reductions.reduce_all(binary.logical_or(binary.not_equal(initial, 0), binary.equal(target, 0)))
    check = debugging.Assert(
        possible,
        [
            "All classes with zero initial probability must also have zero target probability: ",
            initial,
            target,
        ],
    )
    initial = grouping.with_dependencies([check], initial)
    accepted = acceptance_probabilities(initial, target)
    dropped = reductions.reduce_sum((1 - accepted) * initial)
    return conditionals.cond(
        binary.less(dropped, 0.5),
        lambda: accepted,
        lambda: debugging.Print(
            accepted,
            [accepted],
            message="Proportion of examples rejected by sampler is high.",
            first_n=10,
        ),
    )


# --------------------------------------------------------------------------------------------- drawn again


@export("contrib.training.resample_at_rate")
def resample_at_rate(
    inputs: Sequence[Any],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """Repeats the rows of tensors, each as often as a Poisson distribution of its rate says.

    Args:
      inputs: A list of tensors with the same number of rows.
      rates: How often each row comes on average, a vector.
      scope: The name scope of the operations.
      seed: The seed.
      back_prop: Whether gradients pass.

    Returns:
      A list of tensors.
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = casting.cast(distributions.random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        rows = _repeated_range(counts)
        if not back_prop:
            rows = constants.stop_gradient(rows)
        return [indexing.gather(each, rows) for each in inputs]


def _repeated_range(counts: Tensor) -> Tensor:
    """0 so many times as `counts[0]` says, 1 so many times as `counts[1]` says, and so on."""
    with name_scope(None, "repeat_range", [counts]) as scope:
        counts = convert_to_tensor(counts, name="counts")

        def more(written: TensorArray, i: Tensor) -> Tensor:
            return i < size

        def write(written: TensorArray, i: Tensor) -> tuple[TensorArray, Tensor]:
            value = creation.fill(counts[i : i + 1], i)
            return written.write(i, value), i + 1

        size = shape_ops.shape(counts)[0]
        empty = TensorArray(dtype=dtypes.int32, size=size, infer_shape=False)
        written, count = while_loops.while_loop(more, write, loop_vars=[empty, 0])
        return conditionals.cond(
            count > 0, written.concat, lambda: creation.zeros([0], dtype=dtypes.int32), name=scope
        )


@export("contrib.training.weighted_resample")
def weighted_resample(
    inputs: list[Any],
    weights: Tensor,
    overall_rate: TensorLike,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Draws rows in proportion to their weights.

    Args:
      inputs: A list of tensors with the same number of rows.
      weights: The weight of each row, a vector.
      overall_rate: How many of the rows come on average, a share.
      scope: The variable scope of the running mean.
      mean_decay: How much of the running mean of weights stays at each step.
      seed: The seed.

    Returns:
      A list of tensors, and the rate at which each row was drawn.
    """
    with name_scope(scope, "weighted_resample", inputs) as outer:
        with variable_scopes.variable_scope(scope, "estimate_mean", inputs):
            estimate = variable_scopes.get_local_variable(
                "estimated_mean", initializer=casting.cast(0, weights.dtype), dtype=weights.dtype
            )
            mean = assign_moving_average(estimate, reductions.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        drawn, *rest = resample_at_rate([rates, *inputs], rates, scope=outer, seed=seed, back_prop=False)
        return rest, drawn
