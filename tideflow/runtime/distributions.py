"""TensorFlow's random distributions on the CPU, from a Philox stream: the same values, in the same order.

The first argument of every function is a source: the `Stream` of a stateful op, which every call advances, or
the generator of a stateless op, `Philox.stateless(seed, seed2)`, which returns the same values every time.

No value depends on how the work is divided among threads. TensorFlow has one exception: see `multinomial`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import DTypeLike

from tideflow.runtime.box_muller import box_muller, by_c_library
from tideflow.runtime.philox import CHUNK, RESERVED_PER_OUTPUT, Philox, Stream

Source: TypeAlias = Stream | Philox
_Transform: TypeAlias = Callable[[np.ndarray], np.ndarray]  # from blocks of words to numbers

_MANTISSA_BITS = {"float16": 10, "bfloat16": 7, "float32": 23}
"""Random bits of a uniform number, by dtype: the lowest bits of a word."""


# Uniform


def uniform(source: Source, shape: Sequence[int], dtype: DTypeLike = np.float32) -> np.ndarray:
    """Numbers in [0, 1) of a floating dtype."""
    dtype = np.dtype(dtype)
    return _fill(source, shape, dtype, lambda words: unit_numbers(words, dtype))


def unit_numbers(words: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Turns blocks of words into numbers in [0, 1) of a floating dtype. It overwrites the words."""
    if dtype == np.float64:
        return _unit_doubles(words)
    return _unit_floats(words, _MANTISSA_BITS[dtype.name]).astype(dtype, copy=False)


def uniform_full_int(source: Source, shape: Sequence[int], dtype: DTypeLike = np.uint64) -> np.ndarray:
    """Integers of 32 or 64 bits, all equally likely: the random words themselves."""
    dtype = np.dtype(dtype)
    return _fill(source, shape, dtype, lambda words: words.view(dtype))


def uniform_int(
    source: Source, shape: Sequence[int], low: int, high: int, dtype: DTypeLike = np.int32
) -> np.ndarray:
    """Integers in [low, high), of 32 or 64 bits: remainders of random words, as biased as TensorFlow's."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}").type
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    if low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    span = unsigned(int(high) - int(low))
    start = np.array(low, dtype).view(unsigned)

    def within(words: np.ndarray) -> np.ndarray:
        # Unsigned, because the span may exceed the largest signed number; the sum wraps back into range.
        remainders: np.ndarray = words.view(unsigned) % span
        remainders += start
        return remainders.view(dtype)

    return _fill(source, shape, dtype, within)


def _unit_floats(words: np.ndarray, bits: int = 23) -> np.ndarray:
    """Turns words into float32 numbers in [0, 1) of their lowest `bits`, in place."""
    words &= np.uint32((1 << bits) - 1)
    if bits < 23:
        words <<= np.uint32(23 - bits)
    words |= np.uint32(127 << 23)
    numbers = words.view(np.float32)
    numbers -= np.float32(1)
    return numbers


def _unit_doubles(words: np.ndarray) -> np.ndarray:
    """Turns pairs of words, the upper one first, into numbers in [0, 1) of 52 random bits."""
    pairs = words.view(np.uint64)
    bits = pairs << np.uint64(32)
    bits |= pairs >> np.uint64(32)
    bits &= np.uint64((1 << 52) - 1)
    bits |= np.uint64(1023 << 52)
    numbers = bits.view(np.float64)
    numbers -= 1.0
    return numbers


# Normal


def standard_normal(source: Source, shape: Sequence[int], dtype: DTypeLike = np.float32) -> np.ndarray:
    """Normal numbers with mean 0 and standard deviation 1. Half precision is rounded single precision."""
    dtype = np.dtype(dtype)
    return _fill(source, shape, dtype, lambda words: normal_numbers(words, dtype))


def normal_numbers(words: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Turns blocks of words into normal numbers of a floating dtype. It overwrites the words."""
    if dtype == np.float64:
        return _normal_doubles(words)
    return _normal_floats(words).astype(dtype, copy=False)


def truncated_normal(source: Source, shape: Sequence[int], dtype: DTypeLike = np.float32) -> np.ndarray:
    """Normal numbers within 2 of zero.

    A number outside is replaced by the next that its group has reserved.
    """
    dtype = np.dtype(dtype)
    normals = _normal_doubles if dtype == np.float64 else _normal_floats
    group = _per_block(dtype)
    spacing = group * RESERVED_PER_OUTPUT // 4
    size = math.prod(shape)
    generator = source.reserve_outputs(size)
    result = np.empty((-(-size // group), group), dtype)
    for start, stop in _chunks(len(result)):
        starts = np.arange(start, stop, dtype=np.uint64) * np.uint64(spacing)
        result[start:stop] = _truncated_groups(generator, starts, normals)
    return result.reshape(-1)[:size].reshape(shape)


def _truncated_groups(generator: Philox, starts: np.ndarray, normals: _Transform) -> np.ndarray:
    """For each start, the first numbers within 2 of zero from that block on, as many as one block has."""
    result = normals(generator.blocks(starts))
    group = result.shape[1]
    rows = np.unique(np.flatnonzero(~(np.abs(result) < 2)) // group)
    candidates = result[rows]
    while len(rows):
        starts = starts + np.uint64(1)
        candidates = np.concatenate([candidates, normals(generator.blocks(starts[rows]))], axis=1)
        kept = np.abs(candidates) < 2
        rank = np.cumsum(kept, axis=1)
        done = rank[:, -1] >= group
        first = kept & (rank <= group)
        result[rows[done]] = candidates[done][first[done]].reshape(-1, group)
        rows, candidates = rows[~done], candidates[~done]
    return result


def _normal_floats(words: np.ndarray) -> np.ndarray:
    return box_muller(_unit_floats(words))


def _normal_doubles(words: np.ndarray) -> np.ndarray:
    return box_muller(_unit_doubles(words))


# Permutations and classes


def permutation(source: Source, size: int) -> np.ndarray:
    """The order of RandomShuffle for `size` rows: row i of its output is row result[i] of its input.

    Do not call it for a tensor without elements: TensorFlow does not advance the stream then.
    """
    if size <= 1:
        return np.arange(size)
    steps = np.arange(size - 1)
    generator = source.reserve_blocks(-(-len(steps) // 4))
    words = _fill(generator, steps.shape, np.dtype(np.uint32), lambda words: words)
    return _apply_exchanges(steps + words % (size - steps))


def _apply_exchanges(targets: np.ndarray) -> np.ndarray:
    """The identity after exchanging entries 0 and targets[0], then 1 and targets[1], and so on.

    No target is left of its step. A loop over the steps would be slow. Instead: step i moves the content of
    its target t to entry i, where it stays. That content came from entry j, by the last earlier step j with
    target t, or it is t itself if there was no such step. And the content of entry j came by the last step
    with target j. So every entry points to an earlier one or to itself. Following all pointers to their ends,
    twice as far in each pass, takes few passes.
    """
    size = len(targets) + 1
    steps = np.arange(size)
    targets = np.append(targets, size - 1)
    by_target = np.sort(targets * size + steps)
    steps_in_order = by_target % size
    same_target = by_target[1:] // size == by_target[:-1] // size
    previous = np.full(size, -1)
    previous[steps_in_order[1:][same_target]] = steps_in_order[:-1][same_target]

    moves = np.flatnonzero(targets != steps)
    origin = steps.copy()
    origin[targets[moves]] = moves  # of several steps with one target, the last one counts
    while True:
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    # A step whose target is itself keeps the content of its entry, which `origin` has.
    return np.where(targets == steps, origin, np.where(previous >= 0, origin[previous], targets))


def multinomial(
    source: Source, logits: np.ndarray, num_samples: int, dtype: DTypeLike = np.int64
) -> np.ndarray:
    """Draws `num_samples` classes for each row of `logits` [batch, classes], unnormalized log probabilities.

    TensorFlow divides a large batch (more than 4,200 / (classes + num_samples log2(classes)) rows) among its
    threads, and each part starts at a place of the stream that earlier rows may have used: then its values
    depend on the number of cores. The values here are those of one thread.
    """
    batch, classes = logits.shape
    if num_samples < 0:
        raise ValueError(f"num_samples should be non-negative, got {num_samples}")
    if classes == 0:
        raise ValueError(f"num_classes should be positive, got {classes}")
    result = np.empty((batch, num_samples), dtype)
    if result.size == 0:
        return result
    generator = source.reserve_outputs(batch * 2 * (-(-num_samples // 4) * 4))
    uniforms = uniform(generator, result.shape, np.float64)
    rows_at_once = max(1, 4 * CHUNK // max(classes, num_samples))
    for start in range(0, batch, rows_at_once):
        rows = slice(start, start + rows_at_once)
        cumulative = _cumulative_weights(logits[rows])
        result[rows] = _count_up_to(cumulative, uniforms[rows] * cumulative[:, -1:])
    return result


def _cumulative_weights(logits: np.ndarray) -> np.ndarray:
    """Cumulative sums of exp(logit - the row's largest logit). A logit that is not finite has weight 0."""
    logits = logits.astype(np.float64)
    finite = np.isfinite(logits)
    largest = np.max(logits, axis=1, keepdims=True, initial=np.finfo(np.float64).min, where=finite)
    weights = np.exp(np.where(finite, logits, -np.inf) - largest)
    return np.cumsum(weights, axis=1)


def _count_up_to(rising: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """For each bound, the number of entries in its row of `rising` up to the bound, by binary search."""
    width = rising.shape[1]
    rows = np.arange(len(rising))[:, None]
    count = np.zeros(bounds.shape, np.int64)
    for power in reversed(range(width.bit_length())):
        probe = count + (1 << power)
        inside = probe <= width
        below = rising[rows, np.minimum(probe, width) - 1] <= bounds
        count = np.where(inside & below, probe, count)
    return count


# Gamma and Poisson


def gamma(source: Source, shape: Sequence[int], alpha: np.ndarray) -> np.ndarray:
    """Gamma numbers with scale 1: `shape` of them for each entry of `alpha`, in the dtype of `alpha`."""
    result = _fill_lanes(source, shape, alpha, alpha.dtype, _gamma_lanes)
    return result if alpha.dtype == np.float16 else _flush_denormals(result)


def poisson(
    source: Source, shape: Sequence[int], rate: np.ndarray, dtype: DTypeLike = np.int64
) -> np.ndarray:
    """Poisson numbers: `shape` of them for each entry of `rate`."""
    dtype = np.dtype(dtype)
    largest = float(np.iinfo(dtype).max if dtype.kind == "i" else np.finfo(dtype).max)
    return _fill_lanes(source, shape, rate, dtype, lambda lanes, rates: _poisson_lanes(lanes, rates, largest))


class _Lanes:
    """A generator for each output: rejection makes one output use more random numbers than another."""

    def __init__(self, generator: Philox, first: int, count: int) -> None:
        self.generator = generator
        self.next_block = np.arange(first, first + count, dtype=np.uint64) * np.uint64(RESERVED_PER_OUTPUT)

    def blocks(self, lanes: np.ndarray) -> np.ndarray:
        words = self.generator.blocks(self.next_block[lanes])
        self.next_block[lanes] += np.uint64(1)
        return words


class _Pairs:
    """Numbers for each lane, made two at a time. The second of the two is used first."""

    def __init__(self, lanes: _Lanes, transform: _Transform) -> None:
        self.lanes, self.transform = lanes, transform
        self.values = np.empty((len(lanes.next_block), 2))
        self.left = np.zeros(len(lanes.next_block), np.intp)

    def take(self, lanes: np.ndarray) -> np.ndarray:
        """The next number of each of these lanes, which must differ."""
        spent = lanes[self.left[lanes] == 0]
        if len(spent):
            self.values[spent] = self.transform(self.lanes.blocks(spent))
            self.left[spent] = 2
        self.left[lanes] -= 1
        taken: np.ndarray = self.values[lanes, self.left[lanes]]
        return taken


def _gamma_lanes(lanes: _Lanes, alpha: np.ndarray) -> np.ndarray:
    """Marsaglia and Tsang's method.

    Alpha 1 is the exponential distribution; a smaller alpha is boosted by 1.
    """
    normals, uniforms = _Pairs(lanes, _normal_doubles), _Pairs(lanes, _unit_doubles)
    boosted = alpha < 1
    d = alpha + np.where(boosted, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    result = np.empty(len(alpha))

    exponential = np.flatnonzero(alpha == 1)
    result[exponential] = -np.log1p(-uniforms.take(exponential))

    waiting = alpha != 1
    while len(lanes_now := np.flatnonzero(waiting)):
        x = normals.take(lanes_now)
        v = 1 + c[lanes_now] * x
        positive = ~(v <= 0)  # not `v > 0`: the NaN of a negative alpha is the result
        lanes_now, x, v = lanes_now[positive], x[positive], v[positive]
        v = v * v * v
        u = uniforms.take(lanes_now)
        accepted = u < 1 - 0.0331 * (x * x) * (x * x)
        log_u, log_v = by_c_library(np.log, u), by_c_library(np.log, v)
        accepted |= log_u < 0.5 * x * x + d[lanes_now] * (1 - v + log_v)
        lanes_now, v = lanes_now[accepted], v[accepted]
        result[lanes_now] = d[lanes_now] * v
        small = lanes_now[boosted[lanes_now]]
        result[small] *= _flush_denormals(by_c_library(np.power, uniforms.take(small), 1 / alpha[small]))
        waiting[lanes_now] = False
    return result


def _flush_denormals(numbers: np.ndarray) -> np.ndarray:
    """Replaces denormal numbers by zero, as TensorFlow's kernels do; gamma values are often that small."""
    numbers[np.abs(numbers) < np.finfo(numbers.dtype).tiny] = 0
    return numbers


def _poisson_lanes(lanes: _Lanes, rate: np.ndarray, largest: float) -> np.ndarray:
    uniforms = _Pairs(lanes, _unit_doubles)
    # TensorFlow returns NaN for an infinite rate, and does not return at all for a rate that is NaN.
    result = np.full(len(rate), np.nan)
    _count_arrivals(uniforms, rate, np.flatnonzero(rate < 10), result)
    _transform_and_reject(uniforms, rate, np.flatnonzero((rate >= 10) & np.isfinite(rate)), largest, result)
    return result


def _count_arrivals(uniforms: _Pairs, rate: np.ndarray, lanes: np.ndarray, result: np.ndarray) -> None:
    """Knuth's method: counts the uniform numbers whose product is above exp(-rate)."""
    result[lanes] = 0
    product = np.ones(len(lanes))
    limit = np.exp(-rate[lanes])
    while len(lanes):
        product *= uniforms.take(lanes)
        more = ~(product <= limit)
        lanes, product, limit = lanes[more], product[more], limit[more]
        result[lanes] += 1


def _transform_and_reject(
    uniforms: _Pairs, rate: np.ndarray, lanes: np.ndarray, largest: float, result: np.ndarray
) -> None:
    """Hörmann's method (PTRS): a transformed uniform number is accepted by the probability of its floor.

    The numbers that a lane has reserved suffice, unless the dtype is too small for the rate: then the result
    is left as it is.
    """
    for _ in range(RESERVED_PER_OUTPUT):
        if len(lanes) == 0:
            break
        mean = rate[lanes]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        u = uniforms.take(lanes) - 0.5
        v = uniforms.take(lanes)
        distance = 0.5 - np.abs(u)
        k = np.floor((2 * a / distance + b) * u + mean + 0.43)
        surely = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
        possibly = ~((k < 0) | ((distance < 0.013) & (v > distance)))
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        s = np.log(v * inverse_alpha / (a / (distance * distance) + b))
        t = -mean + k * np.log(mean) - torch.lgamma(torch.from_numpy(k + 1)).numpy()
        accepted = ~(k > largest) & (surely | possibly & (s <= t))
        result[lanes[accepted]] = k[accepted]
        lanes = lanes[~accepted]


# Shared


def _per_block(dtype: np.dtype[Any]) -> int:
    """The number of values of this dtype in a block of four words."""
    return 2 if dtype.itemsize == 8 else 4


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))


def _fill(source: Source, shape: Sequence[int], dtype: np.dtype[Any], transform: _Transform) -> np.ndarray:
    """An array of the values that `transform` makes of consecutive blocks of words."""
    size, group = math.prod(shape), _per_block(dtype)
    generator = source.reserve_outputs(size)
    result = np.empty((-(-size // group), group), dtype)
    for start, stop in _chunks(len(result)):
        result[start:stop] = transform(generator.words(start, stop - start))
    return result.reshape(-1)[:size].reshape(shape)


def _fill_lanes(
    source: Source,
    shape: Sequence[int],
    parameter: np.ndarray,
    dtype: np.dtype[Any],
    sample: Callable[[_Lanes, np.ndarray], np.ndarray],
) -> np.ndarray:
    """`shape` outputs for each entry of `parameter`, each in a lane; those of the first entry come first."""
    each, entries = math.prod(shape), parameter.size
    size = each * entries
    result = np.empty(size, dtype)
    if size:
        generator = source.reserve_outputs(size)
        parameters = np.repeat(parameter.reshape(-1).astype(np.float64), each)
        with np.errstate(all="ignore"):
            for start, stop in _chunks(size):
                values = sample(_Lanes(generator, start, stop - start), parameters[start:stop])
                # TensorFlow converts to half precision by way of float32.
                result[start:stop] = values.astype(np.float32) if dtype.itemsize == 2 else values
    return np.reshape(result.reshape(entries, each).T, (*shape, *parameter.shape))
