"""Candidate sampling: a few classes out of many, for losses that cannot afford to look at all of them.

With a seed the candidates are TensorFlow's own. They are drawn on the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.integers import check_int32
from tideflow.ops.helpers.samples import i64
from tideflow.ops.helpers.types import types
from tideflow.ops.random.sources import seed_attrs
from tideflow.runtime import candidates
from tideflow.runtime.candidates import RESERVED_PER_CANDIDATE, Sampler
from tideflow.runtime.philox import Stream
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_POSITIVE = attr("int", minimum=1)
_SEEDS = {"seed": 0, "seed2": 0}


def _sampler(name: str, make: Callable[[dict[str, Any]], Any], **attrs: Any) -> Op:
    """The op of one kind of sampler: `make` makes it of the op's attributes, once for every session."""
    op = Op(
        name,
        "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, "
        "sampled_expected_count: float32",
        stateful=True,
        differentiable=False,
        num_true=_POSITIVE,
        num_sampled=_POSITIVE,
        unique=attr("bool"),
        **attrs,
        **_SEEDS,
    )

    @op.shape
    def _shape(true_classes, *, num_true, num_sampled):
        check_int32("num_sampled", num_sampled)
        rows = of_rank(true_classes, 2, "true_classes must be a matrix")[0]
        return [[num_sampled], [rows, num_true], [num_sampled]]

    @op.kernel
    def _kernel(true_classes, *, num_true, num_sampled, unique, seed, seed2, state, node, device):
        _check_classes(true_classes, num_true)
        sampler = _sampler_of(state, make, node)
        drawn, tries = _draw(sampler, state, num_sampled, unique)
        classes = to_numpy(true_classes)
        counts = [sampler.expected(each, num_sampled, tries) for each in (classes, drawn)]
        sampler.learn(classes)
        return tuple(to_torch(array, device) for array in (drawn, *counts))

    return op


def _check_classes(true_classes: Any, num_true: int) -> None:
    if true_classes.ndim != 2:
        raise ShapeError(f"true_classes must be a matrix, but has shape {list(true_classes.shape)}")
    if true_classes.shape[1] != num_true:
        raise ShapeError(
            f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}"
        )


def _sampler_of(state: dict[str, Any], make: Callable[[dict[str, Any]], Any], node: Any) -> Any:
    """The sampler of an operation, which has a random stream beside it; made at its first step."""
    if "sampler" not in state:
        state["sampler"], state["stream"] = make(node.attrs), Stream(node.attrs["seed"], node.attrs["seed2"])
    return state["sampler"]


def _draw(sampler: Any, state: dict[str, Any], count: int, unique: bool) -> tuple[np.ndarray, int]:
    if unique and count > sampler.possible:
        raise errors.invalid_argument(f"Sampler's range is too small: {sampler.possible} for {count} samples")
    return sampler.draw(state["stream"].reserve_blocks(RESERVED_PER_CANDIDATE * count), count, unique)


def _sample_claims(weights, true_classes, sampled, true_expected, sampled_expected, num_sampled, unique):
    """The law of a sample of classes, each as likely as its weight says: the classes are possible, and where
    `unique` different; each is expected p * n times or, if finding n different ones took t draws, with
    probability 1 - (1 - p) ** t.
    """
    known = true_classes < len(weights)
    classes = np.concatenate([true_classes[known], sampled])
    counts = np.concatenate([true_expected[known], sampled_expected])
    chances = (weights / np.sum(weights))[classes]
    possible = chances > 0
    draws = np.log1p(-counts[possible]) / np.log1p(-chances[possible])
    by_draws = unique and np.round(draws[0]) > num_sampled and np.allclose(draws, np.round(draws[0]), 1e-4)
    return [
        weights[sampled] > 0,
        not unique or len(set(sampled)) == num_sampled,
        counts[~possible] == 0,
        by_draws or np.allclose(counts, chances * num_sampled),
    ]


_CLASSES = i64(3, 2, low=0, high=10)
_FEW = {"num_true": 2, "num_sampled": 5, "unique": True, "seed": 3}

all_op = _sampler("AllCandidateSampler", lambda attrs: candidates.All(attrs["num_sampled"]))
all_op.samples(
    (_CLASSES, _FEW),
    (_CLASSES, {**_FEW, "unique": False}),
    against=lambda classes, num_sampled: (
        np.arange(num_sampled),
        np.ones_like(classes),
        np.ones(num_sampled),
    ),
)


@export("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws every class, to see what a sampled loss would be without sampling.

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      num_true: How many right classes an example has.
      num_sampled: How many classes there are.
      unique: Ignored: every class is drawn once.
      seed: The op's seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      The drawn classes, an int64 vector; how often each of the `true_classes` was to be expected among them,
      a float32 matrix of their shape; and the same of the drawn classes, a float32 vector.
    """
    return all_op(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, **seed_attrs(seed), name=name
    )


def _ranged(name: str, kind: type[Sampler]) -> Op:
    return _sampler(name, lambda attrs: kind(attrs["range_max"]), range_max=_POSITIVE)


def _add_ranged_samples(op: Op, weights: Callable[[np.ndarray], np.ndarray]) -> None:
    """What is common to samplers of [0, range_max), whose classes have these weights in the first step."""

    def law(*values, range_max, num_sampled, unique):
        return _sample_claims(weights(np.arange(range_max)), *values, num_sampled, unique)

    op.samples(
        (_CLASSES, {**_FEW, "range_max": 10}),
        (_CLASSES, {**_FEW, "range_max": 16, "unique": False}),
        (_CLASSES, {**_FEW, "range_max": 10, "seed": 0}),
        law=law,
    )
    op.refuses((i64(3), {**_FEW, "range_max": 10}), "Shape must be rank 2 but is rank 1")
    op.refuses(
        (_CLASSES, {**_FEW, "range_max": 10, "unique": False, "num_sampled": 2**40}),
        "Attr num_sampled has value 1099511627776 out of range for an int32",
    )
    op.refuses((_CLASSES, {**_FEW, "range_max": 4}), "range is too small", InvalidArgumentError)
    op.refuses(
        (_CLASSES, {**_FEW, "range_max": 10, "num_true": 1}), "must have num_true", InvalidArgumentError
    )


uniform_op = _ranged("UniformCandidateSampler", candidates.Uniform)
_add_ranged_samples(uniform_op, np.ones_like)


@export("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes of which each is as likely as any other.

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      num_true: How many right classes an example has.
      num_sampled: How many classes are drawn.
      unique: Whether the drawn classes are all different.
      range_max: Classes are the numbers from 0 up to this one.
      seed: The op's seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      The drawn classes, an int64 vector; how often each of the `true_classes` was to be expected among them,
      a float32 matrix of their shape; and the same of the drawn classes, a float32 vector.
    """
    return uniform_op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **seed_attrs(seed),
        name=name,
    )


log_uniform_op = _ranged("LogUniformCandidateSampler", candidates.LogUniform)
_add_ranged_samples(log_uniform_op, lambda classes: np.log((classes + 2) / (classes + 1)))


@export("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes by Zipf's law: for words that are sorted by falling frequency.

    Class k is drawn with probability (log(k + 2) - log(k + 1)) / log(range_max + 1).

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      num_true: How many right classes an example has.
      num_sampled: How many classes are drawn.
      unique: Whether the drawn classes are all different.
      range_max: Classes are the numbers from 0 up to this one.
      seed: The op's seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      The drawn classes, an int64 vector; how often each of the `true_classes` was to be expected among them,
      a float32 matrix of their shape; and the same of the drawn classes, a float32 vector.
    """
    return log_uniform_op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **seed_attrs(seed),
        name=name,
    )


learned_unigram_op = _ranged("LearnedUnigramCandidateSampler", candidates.Unigram)
_add_ranged_samples(learned_unigram_op, np.ones_like)


@export("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes as often as they have been among the true ones of earlier steps.

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      num_true: How many right classes an example has.
      num_sampled: How many classes are drawn.
      unique: Whether the drawn classes are all different.
      range_max: Classes are the numbers from 0 up to this one.
      seed: The op's seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      The drawn classes, an int64 vector; how often each of the `true_classes` was to be expected among them,
      a float32 matrix of their shape; and the same of the drawn classes, a float32 vector.
    """
    return learned_unigram_op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        **seed_attrs(seed),
        name=name,
    )


thread_unsafe_unigram_op = _ranged("ThreadUnsafeUnigramCandidateSampler", candidates.Unigram)
_add_ranged_samples(thread_unsafe_unigram_op, np.ones_like)


def _counts_of_file(path: str) -> list[float]:
    """The last column of a file of comma-separated values."""
    with open(path) as lines:
        try:
            return [float(line.rsplit(",", 1)[-1]) for line in lines]
        except ValueError as error:
            raise errors.invalid_argument(f"Wrong vocabulary format in {path}: {error}") from None


def _fixed_sampler(attrs: dict[str, Any]) -> Sampler:
    if not attrs["vocab_file"] and not attrs["unigrams"]:
        raise errors.invalid_argument("Must provide either vocab_file or unigrams.")
    if attrs["vocab_file"] and attrs["unigrams"]:
        raise errors.invalid_argument("Must only provide one of vocab_file and unigrams.")
    counts = attrs["unigrams"] or _counts_of_file(attrs["vocab_file"])
    distortion = np.float32(attrs["distortion"])
    shards, shard = attrs["num_shards"], attrs["shard"]
    weights = [0.0] * len(range(shard, attrs["num_reserved_ids"], shards))
    # TensorFlow counts the classes from this shard's reserved ids on, not from all reserved ids.
    first = (shard - len(weights)) % shards
    weights += [float(np.float32(count) ** distortion) for count in counts[first::shards]]
    if len(weights) != attrs["range_max"]:
        raise errors.invalid_argument(
            f"range_max is {attrs['range_max']}, but there are {len(weights)} classes"
        )
    return candidates.FixedUnigram(weights)


def _fixed_unigram_law(*values, unigrams, num_reserved_ids, num_shards, num_sampled, unique):
    """The first of its shards has every so many of the reserved classes, and then of the others."""
    reserved = len(range(0, num_reserved_ids, num_shards))
    weights = np.concatenate([np.zeros(reserved), unigrams[-reserved % num_shards :: num_shards]])
    return _sample_claims(weights, *values, num_sampled, unique)


_WEIGHTS = [float(weight) for weight in range(1, 11)]

fixed_unigram_op = _sampler(
    "FixedUnigramCandidateSampler",
    _fixed_sampler,
    touches="files",  # where it has a vocab_file
    range_max=_POSITIVE,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=attr("int", 1, minimum=1),
    shard=attr("int", 0, minimum=0),
    unigrams=attr("list(float)", []),
)
fixed_unigram_op.samples(
    (_CLASSES, {**_FEW, "range_max": 10, "unigrams": _WEIGHTS}),
    (_CLASSES, {**_FEW, "range_max": 6, "unigrams": _WEIGHTS, "num_reserved_ids": 2, "num_shards": 2}),
    law=_fixed_unigram_law,
)
fixed_unigram_op.refuses((_CLASSES, {**_FEW, "range_max": 10}), "Must provide either", InvalidArgumentError)
fixed_unigram_op.refuses(
    (_CLASSES, {**_FEW, "range_max": 9, "unigrams": _WEIGHTS}), "there are 10 classes", InvalidArgumentError
)


@export("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: TensorLike,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draws classes as often as a list or a file says.

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      num_true: How many right classes an example has.
      num_sampled: How many classes are drawn.
      unique: Whether the drawn classes are all different.
      range_max: Classes are the numbers from 0 up to this one.
      vocab_file: A file of comma-separated values with a line for each class, whose last column is its
        weight.
      distortion: The power to which weights are raised.
      num_reserved_ids: How many classes at the beginning are never drawn; the weights are of those after
        them.
      num_shards: Into how many parts the classes are divided.
      shard: From which of these parts classes are drawn.
      unigrams: The weights, in place of a file.
      seed: The op's seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      The drawn classes, an int64 vector; how often each of the `true_classes` was to be expected among them,
      a float32 matrix of their shape; and the same of the drawn classes, a float32 vector.

    Raises:
      InvalidArgumentError: Where both or neither of `vocab_file` and `unigrams` are given, or where the
        number of weights is not `range_max`.
    """
    return fixed_unigram_op(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=unigrams,
        **seed_attrs(seed),
        name=name,
    )


# -------------------------------------------------------------------- draws that the batch has no part in
# A rule puts these into programs where a sampler learns nothing from its classes: what it draws does not wait
# for the batch, and what is expected of the batch's classes is computed where they are.

CHANCES: dict[str, tuple[type[Sampler], Callable[[torch.Tensor, int], torch.Tensor]]] = {
    uniform_op.name: (
        candidates.Uniform,
        lambda classes, size: torch.full_like(classes, 1 / size, dtype=torch.float64),
    ),
    log_uniform_op.name: (
        candidates.LogUniform,
        lambda classes, size: torch.log((classes.double() + 2) / (classes.double() + 1)) / math.log1p(size),
    ),
}

drawn_classes_op = Op(
    "_DrawnClasses",
    "-> sampled_candidates: int64, tries: int32, sampled_expected_count: float32",
    stateful=True,
    differentiable=False,
    num_sampled=_POSITIVE,
    unique=attr("bool"),
    range_max=_POSITIVE,
    sampler=attr("string", log_uniform_op.name),
    **_SEEDS,
)
drawn_classes_op.shape(lambda *, num_sampled: [[num_sampled], [], [num_sampled]])


@drawn_classes_op.kernel
def _drawn_classes_kernel(*, num_sampled, unique, range_max, sampler, state, node):
    kind = CHANCES[sampler][0]
    made = _sampler_of(state, lambda attrs: kind(range_max), node)
    drawn, tries = _draw(made, state, num_sampled, unique)
    expected = made.expected(drawn, num_sampled, tries)
    return torch.from_numpy(drawn), torch.tensor(tries, dtype=torch.int32), torch.from_numpy(expected)


drawn_classes_op.samples(covered_by="tests/compile/test_rules.py")

expected_counts_op = Op(
    "_ExpectedCounts",
    "true_classes: int64, tries: int32 -> counts: float32",
    differentiable=False,
    num_true=_POSITIVE,
    num_sampled=_POSITIVE,
    range_max=_POSITIVE,
    sampler=attr("string", log_uniform_op.name),
)
expected_counts_op.shape(lambda true_classes, tries, *, num_true: true_classes)


@expected_counts_op.kernel
def _expected_counts_kernel(true_classes, tries, *, num_true, num_sampled, range_max, sampler):
    _check_classes(true_classes, num_true)
    chances = CHANCES[sampler][1](true_classes, range_max).float()
    of_different = -torch.expm1(tries * torch.log1p(-chances))
    return torch.where(tries == num_sampled, chances * num_sampled, of_different)


expected_counts_op.samples(
    (_CLASSES, np.array(9, np.int32), {"num_true": 2, "num_sampled": 5, "range_max": 10}),
    (_CLASSES, np.array(5, np.int32), {"num_true": 2, "num_sampled": 5, "range_max": 10}),
    against=lambda classes, tries, num_sampled, range_max: candidates.LogUniform(range_max).expected(
        classes, num_sampled, int(tries)
    ),
)

compute_accidental_hits_op = Op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32",
    differentiable=False,
    num_true=attr("int"),
    **_SEEDS,
)


@compute_accidental_hits_op.shape
def _compute_accidental_hits_shape(true_classes, sampled_candidates, *, num_true):
    columns = of_rank(true_classes, 2)[1]
    if columns is not None and columns != num_true:
        raise ShapeError(f"Dimension must be {num_true} but is {columns}")
    of_rank(sampled_candidates, 1)
    return [[None], [None], [None]]


@compute_accidental_hits_op.kernel
def _compute_accidental_hits_kernel(true_classes, sampled_candidates, *, num_true, device):
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ShapeError("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise ShapeError(
            "sampled_candidates must be a vector, which is typically an output from CandidateSampler"
        )
    place_of = {value: place for place, value in enumerate(to_numpy(sampled_candidates).tolist())}
    classes = to_numpy(true_classes).reshape(-1).tolist()
    rows = np.array([i // num_true for i, value in enumerate(classes) if value in place_of], np.int32)
    places = np.array([place_of[value] for value in classes if value in place_of], np.int64)
    least = np.full(len(rows), np.finfo(np.float32).min)
    return tuple(to_torch(array, device) for array in (rows, places, least))


def _compute_accidental_hits_reference(true_classes, sampled_candidates):
    hits = [
        (row, np.flatnonzero(sampled_candidates == value)[-1])
        for row, classes in enumerate(true_classes)
        for value in classes
        if value in sampled_candidates
    ]
    rows, places = np.array(hits, np.int64).reshape(-1, 2).T
    return rows, places, np.full(len(hits), -np.finfo(np.float32).max)


compute_accidental_hits_op.samples(
    (np.array([[1, 2], [3, 4]]), np.array([3, 1, 7, 4, 3]), {"num_true": 2}),
    (np.array([[1], [3]]), np.array([9]), {"num_true": 1}),
    (i64(0, 2), i64(4), {"num_true": 2}),
    against=_compute_accidental_hits_reference,
)
compute_accidental_hits_op.refuses((i64(3, 2), i64(4), {"num_true": 1}), "Dimension must be 1 but is 2")
compute_accidental_hits_op.refuses(
    (i64(3, 2), i64(4, 1), {"num_true": 2}), "Shape must be rank 1 but is rank 2"
)


accidental_hits_op = Op(
    "_AccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> penalty: T",
    T=types("half bfloat16 float double"),
    differentiable=False,
)


@accidental_hits_op.shape
def _accidental_hits_shape(true_classes, sampled_candidates):
    return [of_rank(true_classes, 2)[0], of_rank(sampled_candidates, 1)[0]]


@accidental_hits_op.kernel
def _accidental_hits_kernel(true_classes, sampled_candidates, *, T):
    """The weights of hits in a matrix. Of equal candidates, the last one is hit."""
    is_hit = (true_classes[:, :, None] == sampled_candidates).any(1)
    comes_again = (sampled_candidates[:, None] == sampled_candidates).triu(1).any(1)
    least = torch.finfo(torch.float32).min
    penalty = torch.where(is_hit & ~comes_again, least, 0.0)
    return penalty.to(T.torch)


def _accidental_hits_reference(true_classes, sampled_candidates, T):
    rows, places, weights = _compute_accidental_hits_reference(true_classes, sampled_candidates)
    penalty = np.zeros([len(true_classes), len(sampled_candidates)])
    penalty[rows, places] = weights
    return penalty.astype(T.as_numpy_dtype)


accidental_hits_op.samples(
    (np.array([[1, 2], [3, 4], [1, 1]]), np.array([3, 1, 7, 4, 3]), {"T": dtypes.float32}),
    (np.array([[1], [3]]), np.array([9]), {"T": dtypes.float32}),
    (i64(0, 2), i64(4), {"T": dtypes.float64}),
    against=_accidental_hits_reference,
)


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: TensorLike,
    sampled_candidates: TensorLike,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Finds sampled classes that are among the right classes of an example.

    Args:
      true_classes: An int64 matrix [batch, num_true] of the right classes of each example.
      sampled_candidates: The int64 vector of classes that a candidate sampler drew.
      num_true: How many right classes an example has.
      seed: Ignored: nothing is drawn.
      name: A name for the operation.

    Returns:
      Three vectors with an element for each hit: the row of `true_classes`, the place in
      `sampled_candidates`, and the weight -FLT_MAX, which removes the class where it is added to its logit.
    """
    return compute_accidental_hits_op(
        true_classes, sampled_candidates, num_true=num_true, **seed_attrs(seed), name=name
    )
