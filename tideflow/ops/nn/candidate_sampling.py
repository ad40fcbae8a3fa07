"""Candidate sampling: a few classes out of many, for losses that cannot afford to look at all of them.

With a seed the candidates are TensorFlow's own. They are drawn on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank
from tideflow.ops.helpers.samples import i64
from tideflow.ops.random.sources import seed_attrs
from tideflow.runtime import candidates
from tideflow.runtime.candidates import RESERVED_PER_CANDIDATE, Sampler
from tideflow.runtime.philox import Stream
from tideflow.runtime.values import to_numpy, to_torch

_POSITIVE = attr("int", minimum=1)
_SEEDS = {"seed": 0, "seed2": 0}


def _invalid(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


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
    def shape(true_classes, *, num_true, num_sampled):
        rows = of_rank(true_classes, 2)[0]
        return [[num_sampled], [rows, num_true], [num_sampled]]

    @op.kernel
    def kernel(true_classes, *, num_true, num_sampled, unique, seed, seed2, state, node, device):
        if true_classes.ndim != 2:
            raise ShapeError(f"true_classes must be a matrix, but has shape {list(true_classes.shape)}")
        if true_classes.shape[1] != num_true:
            raise ShapeError(
                f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}"
            )
        if "sampler" not in state:
            state["sampler"], state["stream"] = make(node.attrs), Stream(seed, seed2)
        sampler, stream = state["sampler"], state["stream"]
        if unique and num_sampled > sampler.possible:
            raise _invalid(f"Sampler's range is too small: {sampler.possible} for {num_sampled} samples")
        generator = stream.reserve_blocks(RESERVED_PER_CANDIDATE * num_sampled)
        classes = to_numpy(true_classes)
        sampled, sampled_expected, true_expected = sampler.sample(generator, num_sampled, unique, classes)
        sampler.learn(classes)
        return tuple(to_torch(array, device) for array in (sampled, true_expected, sampled_expected))

    return op


_CLASSES = i64(3, 2, low=0, high=10)
_FEW = {"num_true": 2, "num_sampled": 5, "unique": True, "seed": 3}

all_op = _sampler("AllCandidateSampler", lambda attrs: candidates.All(attrs["num_sampled"]))
all_op.samples((_CLASSES, _FEW), (_CLASSES, {**_FEW, "unique": False}))


@export("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """All classes: to see what a sampled loss would be without sampling."""
    return all_op(
        true_classes, num_true=num_true, num_sampled=num_sampled, unique=unique, **seed_attrs(seed), name=name
    )


def _ranged(name: str, kind: type[Sampler]) -> Op:
    return _sampler(name, lambda attrs: kind(attrs["range_max"]), range_max=_POSITIVE)


def _add_samples_and_refuses_of_uniform_family(op: Op) -> None:
    op.samples(
        (_CLASSES, {**_FEW, "range_max": 10}),
        (_CLASSES, {**_FEW, "range_max": 16, "unique": False}),
        (_CLASSES, {**_FEW, "range_max": 10, "seed": 0}),
    )
    op.refuses((i64(3), {**_FEW, "range_max": 10}), "Shape must be rank 2 but is rank 1")
    op.refuses((_CLASSES, {**_FEW, "range_max": 4}), "range is too small", InvalidArgumentError)
    op.refuses(
        (_CLASSES, {**_FEW, "range_max": 10, "num_true": 1}), "must have num_true", InvalidArgumentError
    )


uniform_op = _ranged("UniformCandidateSampler", candidates.Uniform)
_add_samples_and_refuses_of_uniform_family(uniform_op)


@export("nn.uniform_candidate_sampler", "random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes, each as likely as any other, and how often the true and the sampled ones are expected."""
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
_add_samples_and_refuses_of_uniform_family(log_uniform_op)


@export("nn.log_uniform_candidate_sampler", "random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes by Zipf's law: for words that are sorted by falling frequency."""
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
_add_samples_and_refuses_of_uniform_family(learned_unigram_op)


@export("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes as often as they have been among the true ones."""
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
_add_samples_and_refuses_of_uniform_family(thread_unsafe_unigram_op)


def _counts_of_file(path: str) -> list[float]:
    """The last column of a file of comma-separated values."""
    with open(path) as lines:
        try:
            return [float(line.rsplit(",", 1)[-1]) for line in lines]
        except ValueError as error:
            raise _invalid(f"Wrong vocabulary format in {path}: {error}") from None


def _fixed_sampler(attrs: dict[str, Any]) -> Sampler:
    if not attrs["vocab_file"] and not attrs["unigrams"]:
        raise _invalid("Must provide either vocab_file or unigrams.")
    if attrs["vocab_file"] and attrs["unigrams"]:
        raise _invalid("Must only provide one of vocab_file and unigrams.")
    counts = attrs["unigrams"] or _counts_of_file(attrs["vocab_file"])
    distortion = np.float32(attrs["distortion"])
    shards, shard = attrs["num_shards"], attrs["shard"]
    weights = [0.0] * len(range(shard, attrs["num_reserved_ids"], shards))
    # TensorFlow numbers the classes from the reserved ones of this shard on, not from those of all.
    first = (shard - len(weights)) % shards
    weights += [float(np.float32(count) ** distortion) for count in counts[first::shards]]
    if len(weights) != attrs["range_max"]:
        raise _invalid(f"range_max is {attrs['range_max']}, but there are {len(weights)} classes")
    return candidates.FixedUnigram(weights)


fixed_unigram_op = _sampler(
    "FixedUnigramCandidateSampler",
    _fixed_sampler,
    range_max=_POSITIVE,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=attr("int", 1, minimum=1),
    shard=attr("int", 0, minimum=0),
    unigrams=attr("list(float)", []),
)
_WEIGHTS = [float(weight) for weight in range(1, 11)]
fixed_unigram_op.samples(
    (_CLASSES, {**_FEW, "range_max": 10, "unigrams": _WEIGHTS}),
    (_CLASSES, {**_FEW, "range_max": 6, "unigrams": _WEIGHTS, "num_reserved_ids": 2, "num_shards": 2}),
)
fixed_unigram_op.refuses((_CLASSES, {**_FEW, "range_max": 10}), "Must provide either", InvalidArgumentError)
fixed_unigram_op.refuses(
    (_CLASSES, {**_FEW, "range_max": 9, "unigrams": _WEIGHTS}), "there are 10 classes", InvalidArgumentError
)


@export("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
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
    """Classes as often as `unigrams`, or the last column of `vocab_file`, says, by a power of it."""
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


# ---------------------------------------------------------------------------------- accidental hits

accidental_hits_op = Op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32",
    differentiable=False,
    num_true=attr("int"),
    **_SEEDS,
)


@accidental_hits_op.shape
def _accidental_hits_shape(true_classes, sampled_candidates, *, num_true):
    columns = of_rank(true_classes, 2)[1]
    if columns is not None and columns != num_true:
        raise ShapeError(f"Dimension must be {num_true} but is {columns}")
    of_rank(sampled_candidates, 1)
    return [[None], [None], [None]]


@accidental_hits_op.kernel
def _accidental_hits_kernel(true_classes, sampled_candidates, *, num_true, device):
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ShapeError("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise ShapeError("sampled_candidates must be a vector, as a candidate sampler gives it")
    place_of = {value: place for place, value in enumerate(to_numpy(sampled_candidates).tolist())}
    classes = to_numpy(true_classes).reshape(-1).tolist()
    rows = np.array([i // num_true for i, value in enumerate(classes) if value in place_of], np.int32)
    places = np.array([place_of[value] for value in classes if value in place_of], np.int64)
    least = np.full(len(rows), np.finfo(np.float32).min)
    return tuple(to_torch(array, device) for array in (rows, places, least))


accidental_hits_op.samples(
    (np.array([[1, 2], [3, 4]]), np.array([3, 1, 7, 4, 3]), {"num_true": 2}),
    (np.array([[1], [3]]), np.array([9]), {"num_true": 1}),
    (i64(0, 2), i64(4), {"num_true": 2}),
)
accidental_hits_op.refuses((i64(3, 2), i64(4), {"num_true": 1}), "Dimension must be 1 but is 2")
accidental_hits_op.refuses((i64(3, 2), i64(4, 1), {"num_true": 2}), "Shape must be rank 1 but is rank 2")


@export("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, places in the sample, and the weight -FLT_MAX: of sampled classes that are true ones of a row."""
    return accidental_hits_op(
        true_classes, sampled_candidates, num_true=num_true, **seed_attrs(seed), name=name
    )
