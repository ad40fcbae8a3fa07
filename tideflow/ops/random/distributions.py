"""Random numbers. Seeded, they are TensorFlow's own, on any device; unseeded, the device's generator's.

A stateful op with a seed keeps a `Stream` in its own state and computes on the host, bit for bit as do
TensorFlow's CPU kernels; both seeds are 0 where it has none. A stateless op is a function of its seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import get_eager_graph, name_scope
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import creation, joining, shapes
from tideflow.ops.helpers import references
from tideflow.ops.helpers.arguments import are_integers
from tideflow.ops.helpers.axes import as_sizes, checked_sizes, scalar
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.references import average, follow, normal, slope
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDEX, INDICES, REAL_PARTS, types
from tideflow.ops.math import binary, reductions, special
from tideflow.ops.random.sources import (
    SEED_TYPE,
    SEEDS,
    check_seed,
    device_generator,
    generator_of,
    seed_attrs,
    stream_of,
)
from tideflow.runtime import distributions, sequential
from tideflow.runtime.distributions import Source
from tideflow.runtime.philox import Stream
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

# -------------------------------------------------------------------------------- floating numbers

_SIZES = np.array([2, 3], np.int32)
_MANY = np.array([1000], np.int32)
_NONE = np.array([0, 4], np.int64)
_SCALAR = np.array([], np.int32)


def _stateful(name: str, exact: Callable, fast: Callable, cumulative: Callable) -> Op:
    """Defines an op that draws `exact` numbers with a seed, `fast` ones without; `cumulative` is the
    distribution that they follow.
    """
    op = Op(
        name,
        "shape: T -> output: dtype",
        host="shape",
        stateful=True,
        differentiable=False,
        **SEEDS,
        dtype=FLOATS_HALF_FIRST,
        T=INDICES,
    )
    op.shape(as_sizes)

    @op.kernel
    def _kernel(shape, *, seed, seed2, dtype, state, device):
        stream = stream_of(state, seed, seed2)
        if stream is None:
            return fast(checked_sizes(shape), dtype.torch, device)
        return to_torch(exact(stream, checked_sizes(shape), dtype.as_numpy_dtype), device)

    op.samples(
        *((size, {"seed": 5, "dtype": dtypes.float32}) for size in (_SIZES, _SCALAR, _NONE, _MANY)),
        (_MANY, {"dtype": dtypes.float64}),
        law=lambda shape, output: [output.shape == tuple(shape), follow(output, cumulative)],
    )
    op.refuses((np.array(3, np.int32), {"dtype": dtypes.float32}), "Shape must be rank 1 but is rank 0")
    return op


def _stateless(name: str, exact: Callable, cumulative: Callable) -> Op:
    """Defines an op whose numbers are a function of its seed."""
    op = Op(
        name,
        "shape: T, seed: Tseed -> output: dtype",
        host="shape, seed",
        differentiable=False,
        dtype=attr("type", dtypes.float32, allowed=FLOATS_HALF_FIRST),
        T=INDEX,
        Tseed=SEED_TYPE,
    )

    @op.shape
    def _shape(shape, seed):
        check_seed(seed)
        return as_sizes(shape)

    @op.kernel
    def _kernel(shape, seed, *, dtype, device):
        return to_torch(exact(generator_of(seed), checked_sizes(shape), dtype.as_numpy_dtype), device)

    op.samples(
        *((size, np.array([3, 4], np.int64)) for size in (_SIZES, _SCALAR, _NONE, _MANY)),
        law=lambda shape, seed, output: [output.shape == tuple(shape), follow(output, cumulative)],
    )
    op.refuses((np.array([3], np.int32), np.array([1, 2, 3])), "Dimension must be 2 but is 3")
    return op


def shape_tensor(shape: Any) -> Tensor:
    if are_integers(shape) and shape and get_eager_graph() is not None:
        return shape  # type: ignore[no-any-return]  # kernels are found by the sizes
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name="shape")


def _fast_uniform(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.rand(sizes, dtype=dtype, device=device, generator=device_generator(device))


def _even(x: np.ndarray) -> np.ndarray:
    """The cumulative function of numbers spread evenly over [0, 1)."""
    return np.where((x < 0) | (x >= 1), np.nan, x)


uniform_op = _stateful("RandomUniform", distributions.uniform, _fast_uniform, _even)
stateless_uniform_op = _stateless("StatelessRandomUniform", distributions.uniform, _even)


def _fast_normal(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.randn(sizes, dtype=dtype, device=device, generator=device_generator(device))


normal_op = _stateful("RandomStandardNormal", distributions.standard_normal, _fast_normal, normal)
stateless_normal_op = _stateless("StatelessRandomNormal", distributions.standard_normal, normal)


def _normal_inputs(shape: Any, mean: Any, stddev: Any, dtype: Any) -> tuple[Tensor, Tensor, Tensor]:
    return (
        shape_tensor(shape),
        convert_to_tensor(mean, dtype=dtype, name="mean"),
        convert_to_tensor(stddev, dtype=dtype, name="stddev"),
    )


@export("random_normal", "random.normal")
def random_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of a normal distribution.

    Args:
      shape: The shape of the result, a vector of integers.
      mean: The mean, of a shape that broadcasts with `shape`.
      stddev: The standard deviation, likewise.
      dtype: The type of the numbers, of floating point.
      seed: With a seed, the numbers of each session are the same, those of TensorFlow.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`; other numbers in each step.
    """
    with name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(normal_op(shape, dtype=dtype, **seed_attrs(seed)) * stddev, mean, name=name)


@export("random.stateless_normal")
def stateless_random_normal(
    shape: TensorLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of a normal distribution that depend on nothing but the seed.

    Args:
      shape: The shape of the result, a vector of integers.
      seed: A vector of two integers.
      mean: The mean, of a shape that broadcasts with `shape`.
      stddev: The standard deviation, likewise.
      dtype: The type of the numbers, of floating point.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`.
    """
    with name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(stateless_normal_op(shape, seed, dtype=dtype) * stddev, mean, name=name)


def _fast_truncated_normal(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """By the inverse of the distribution, between its values at -2 and 2."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    share = math.erf(math.sqrt(2))
    numbers = torch.empty(sizes, dtype=wide, device=device)
    numbers.uniform_(-share, share, generator=device_generator(device))
    return numbers.erfinv_().mul_(math.sqrt(2)).clamp_(-2, 2).to(dtype)


_within_two = references.truncated_normal(-2, 2)
truncated_normal_op = _stateful(
    "TruncatedNormal", distributions.truncated_normal, _fast_truncated_normal, _within_two
)
stateless_truncated_normal_op = _stateless(
    "StatelessTruncatedNormal", distributions.truncated_normal, _within_two
)


@export("truncated_normal", "random.truncated_normal")
def truncated_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of a normal distribution; those further than two standard deviations from the mean are
    drawn again.

    Args:
      shape: The shape of the result, a vector of integers.
      mean: The mean, of a shape that broadcasts with `shape`.
      stddev: The standard deviation, likewise.
      dtype: The type of the numbers, of floating point.
      seed: With a seed, the numbers of each session are the same, those of TensorFlow.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`; other numbers in each step.
    """
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(
            truncated_normal_op(shape, dtype=dtype, **seed_attrs(seed)) * stddev, mean, name=name
        )


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: TensorLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of a normal distribution within two standard deviations, which depend on nothing but the
    seed.

    Args:
      shape: The shape of the result, a vector of integers.
      seed: A vector of two integers.
      mean: The mean, of a shape that broadcasts with `shape`.
      stddev: The standard deviation, likewise.
      dtype: The type of the numbers, of floating point.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`.
    """
    with name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(stateless_truncated_normal_op(shape, seed, dtype=dtype) * stddev, mean, name=name)


# -------------------------------------------------------------------------------- integers


def _exact_integers(
    source: Source, sizes: list[int], low: int, high: int, dtype: DType, device: torch.device
) -> torch.Tensor:
    numbers = distributions.uniform_int(source, checked_sizes(sizes), low, high, dtype.as_numpy_dtype)
    return to_torch(numbers, device)


def _even_integers(low: int, high: int, output: np.ndarray) -> list:
    """All from `low` to below `high`, and on average in the middle."""
    low, high = int(low), int(high)
    variance = ((high - low) ** 2 - 1) / 12
    return [(low <= output) & (output < high), average(output.ravel(), (low + high - 1) / 2, variance)]


uniform_int_op = Op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    host="shape, minval, maxval",
    stateful=True,
    differentiable=False,
    **SEEDS,
    Tout=INDICES,
    T=INDICES,
)


def _check_ends(minval: Any, maxval: Any) -> tuple[Any, Any]:
    """The ends of a range, which are scalars."""
    return scalar(minval, "minval must be 0-D, got shape "), scalar(maxval, "maxval must be 0-D, got shape ")


@uniform_int_op.shape
def _uniform_int_shape(shape, minval, maxval):
    _check_ends(minval, maxval)
    return as_sizes(shape)


@uniform_int_op.kernel
def _uniform_int_kernel(shape, minval, maxval, *, seed, seed2, Tout, state, device):
    low, high = _check_ends(minval, maxval)
    stream = stream_of(state, seed, seed2)
    if stream is None and 0 < high - low < 2**63:
        generator = device_generator(device)
        return torch.randint(
            low, high, checked_sizes(shape), dtype=Tout.torch, device=device, generator=generator
        )
    return _exact_integers(stream or Stream(), shape, low, high, Tout, device)


uniform_int_op.samples(
    (_SIZES, np.int32(-4), np.int32(5), {"seed": 5}),
    (_SIZES, np.int64(0), np.int64(5)),
    (np.array([0], np.int64), np.int32(0), np.int32(5), {"seed2": 2}),
    (_MANY, np.int32(-4), np.int32(5), {"seed": 5}),
    law=lambda shape, low, high, output: _even_integers(low, high, output),
)
uniform_int_op.refuses(
    (_SIZES, np.array([1, 2], np.int32), np.int32(5)), "Shape must be rank 0 but is rank 1"
)


@export("random_uniform", "random.uniform")
def random_uniform(
    shape: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws numbers spread evenly over [minval, maxval).

    Args:
      shape: The shape of the result, a vector of integers.
      minval: The lowest number.
      maxval: The number that all are below; 1 by default, where `dtype` is of floating point.
      dtype: The type of the numbers: of floating point, int32 or int64.
      seed: With a seed, the numbers of each session are the same, those of TensorFlow.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`; other numbers in each step.

    Raises:
      ValueError: If the type is another, or integers have no `maxval`.
    """
    dtype = _uniform_type(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = shape_tensor(shape)
        low, high = _bounds(minval, maxval, dtype)
        if dtype.is_integer:
            return uniform_int_op(shape, low, high, **seed_attrs(seed), name=name)
        numbers = uniform_op(shape, dtype=dtype, **seed_attrs(seed))
        return binary.add(numbers * (high - low), low, name=name)


def _uniform_type(dtype: Any, maxval: Any) -> DType:
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (*FLOATS_HALF_FIRST, *INDICES):
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    return dtype


def _bounds(minval: Any, maxval: Any, dtype: DType) -> tuple[Tensor, Tensor]:
    low = convert_to_tensor(minval, dtype=dtype, name="min")
    return low, convert_to_tensor(1 if maxval is None else maxval, dtype=dtype, name="max")


stateless_uniform_int_op = Op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    host="shape, seed, minval, maxval",
    differentiable=False,
    dtype=INDICES,
    T=INDICES,
    Tseed=SEED_TYPE,
)


@stateless_uniform_int_op.shape
def _stateless_uniform_int_shape(shape, seed, minval, maxval):
    check_seed(seed), _check_ends(minval, maxval)
    return as_sizes(shape)


@stateless_uniform_int_op.kernel
def _stateless_uniform_int_kernel(shape, seed, minval, maxval, *, dtype, device):
    return _exact_integers(generator_of(seed), shape, scalar(minval), scalar(maxval), dtype, device)


stateless_uniform_int_op.samples(
    (_SIZES, np.array([3, 4], np.int32), np.int32(-4), np.int32(5)),
    (_SCALAR, np.array([3, 4], np.int64), np.int64(-4), np.int64(5)),
    (_MANY, np.array([3, 4], np.int64), np.int64(-4), np.int64(5)),
    law=lambda shape, seed, low, high, output: _even_integers(low, high, output),
)
stateless_uniform_int_op.refuses(
    (_SIZES, np.array(3, np.int32), np.int32(-4), np.int32(5)), "Shape must be rank 1 but is rank 0"
)


@export("random.stateless_uniform")
def stateless_random_uniform(
    shape: TensorLike,
    seed: TensorLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Draws numbers spread evenly over [minval, maxval), which depend on nothing but the seed.

    Args:
      shape: The shape of the result, a vector of integers.
      seed: A vector of two integers.
      minval: The lowest number.
      maxval: The number that all are below; 1 by default, where `dtype` is of floating point.
      dtype: The type of the numbers: of floating point, int32 or int64.
      name: A name for the operation.

    Returns:
      A tensor of type `dtype`.

    Raises:
      ValueError: If the type is another, or integers have no `maxval`.
    """
    dtype = _uniform_type(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = shape_tensor(shape)
        low, high = _bounds(minval, maxval, dtype)
        if dtype.is_integer:
            return stateless_uniform_int_op(shape, seed, low, high, name=name)
        numbers = stateless_uniform_op(shape, seed, dtype=dtype)
        return binary.add(numbers * (high - low), low, name=name)


# -------------------------------------------------------------------------------- gamma and Poisson


def sizes_of_each(shape, parameter):
    """The shape rule of ops that draw so many numbers for each parameter."""
    sizes = as_sizes(shape)
    return None if sizes is None or parameter.ndims is None else [*sizes, *parameter.tuple]


_PARAMETERS = f32(2, low=0.5, high=9.0)

gamma_op = Op(
    "RandomGamma",
    "shape: S, alpha: T -> output: T",
    host="shape",
    stateful=True,
    **SEEDS,
    S=INDICES,
    T=types("half float double"),
)
gamma_op.shape(sizes_of_each)


@gamma_op.kernel
def _gamma_kernel(shape, alpha, *, seed, seed2, state):
    stream = stream_of(state, seed, seed2)
    if stream is None:
        wide = alpha.float() if alpha.dtype == torch.float16 else alpha
        repeated = wide.expand(*checked_sizes(shape), *wide.shape).contiguous()
        return torch._standard_gamma(repeated, generator=device_generator(alpha.device)).to(alpha.dtype)
    return to_torch(distributions.gamma(stream, checked_sizes(shape), to_numpy(alpha)), alpha.device)


@gamma_op.gradient
def _gamma_gradient(op, grad):
    shape, alpha = op.inputs
    count = shapes.shape(shape)[0]
    new_shape = joining.concat([creation.ones([count], dtype=dtypes.int32), shapes.shape(alpha)], axis=0)
    slope = gamma_grad_op(shapes.reshape(alpha, new_shape), op.outputs[0])
    return [None, reductions.reduce_sum(grad * slope, axis=creation.range(count))]


def _share_below(alpha: float) -> Callable:
    """The cumulative function of the gamma distribution."""
    from scipy.special import gammainc

    return lambda x: gammainc(alpha, x)


def _gammas(shape: np.ndarray, alpha: np.ndarray, output: np.ndarray) -> list:
    """For each parameter, numbers of its distribution."""
    columns = [(value, output[..., place]) for place, value in enumerate(alpha)]
    return [
        output.shape == (*shape, *alpha.shape),
        *(follow(column, _share_below(value)) for value, column in columns),
    ]


gamma_op.samples(
    (_SIZES, _PARAMETERS, {"seed": 3}),
    (_SIZES, _PARAMETERS),
    (_SCALAR, _PARAMETERS, {"seed": 3}),
    (_MANY, _PARAMETERS, {"seed": 3}),
    (_MANY, _PARAMETERS),
    law=_gammas,
)
gamma_op.refuses((np.array(3, np.int32), _PARAMETERS), "Shape must be rank 1 but is rank 0")


@export("random_gamma", "random.gamma")
def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of gamma distributions.

    Args:
      shape: How many numbers of each distribution, a vector of integers.
      alpha: The shape parameters of the distributions, a tensor of positive numbers.
      beta: Their inverse scales, of a shape that broadcasts with that of `alpha`; by default 1.
      dtype: The type of the numbers: float16, float32 or float64.
      seed: With a seed, the numbers of each session are the same, those of TensorFlow.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type `dtype`: the axes of `shape`, then those of `alpha` and `beta`. It has a gradient by
      both.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(beta if beta is not None else 1, name="beta", dtype=dtype)
        alpha = alpha + creation.zeros_like(beta)
        numbers = gamma_op(shape, alpha, **seed_attrs(seed)) / beta
        return binary.maximum(np.finfo(dtypes.as_dtype(dtype).as_numpy_dtype).tiny, numbers)


gamma_grad_op = Op("RandomGammaGrad", "alpha: T, sample: T -> output: T", T=REAL_PARTS)

gamma_grad_op.shape(broadcast_shapes)


@gamma_grad_op.kernel
def _gamma_grad_kernel(alpha, sample):
    """-(dP/dalpha) / (dP/dsample), where P = igamma(alpha, sample) is the share below the sample.

    ATen's own function is good for four digits. It serves where the series of igamma is long, or loses its
    digits far out in the tail.
    """
    alpha, sample = torch.broadcast_tensors(alpha, sample)
    nearly = torch._standard_gamma_grad(alpha.contiguous(), sample.contiguous())
    a, x = alpha.double(), sample.double()
    usual = (a > 0) & (a < 1e4) & (x > 0) & (torch.special.gammaincc(a, x) > 1e-8)
    a, x = torch.where(usual, a, 1.0), torch.where(usual, x, 1.0)
    series, slope_of_series = special.igamma_series(a, x)
    exactly = -x * (series * (x.log() - a.digamma()) + slope_of_series)
    return torch.where(usual, exactly.to(nearly.dtype), nearly)


gamma_grad_op.gradient(undefined_gradient)


def _at_the_same_share(alpha: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """How a number moves with alpha if the share of the distribution below it is to stay the same."""
    from scipy.special import gammainc

    alpha, sample = np.float64(alpha), np.float64(sample)
    by_alpha = slope(lambda moved: gammainc(moved, sample), alpha)
    by_sample = slope(lambda moved: gammainc(alpha, moved), sample)
    return -by_alpha / by_sample


gamma_grad_op.samples(
    (f32(2, 1, low=0.5, high=3.0), f32(2, 3, low=0.1, high=3.0)), against=_at_the_same_share
)


def _fast_counts(rates: torch.Tensor) -> torch.Tensor:
    """Poisson numbers: none come at a negative rate, and an infinite one gives NaN, as in TensorFlow."""
    finite = rates.isfinite()
    counts = torch.poisson(rates.where(finite, 0).clamp(min=0), generator=device_generator(rates.device))
    return counts.where(finite, math.nan)


def counts_of_each(shape, rate, *, seed, seed2, dtype, state):
    """The kernel of both Poisson ops."""
    stream = stream_of(state, seed, seed2)
    if stream is None:
        return _fast_counts(rate.double().expand(*checked_sizes(shape), *rate.shape)).to(dtype.torch)
    counts = distributions.poisson(stream, checked_sizes(shape), to_numpy(rate), dtype.as_numpy_dtype)
    return to_torch(counts, rate.device)


def _counts(shape: np.ndarray, rate: np.ndarray, output: np.ndarray) -> list:
    """Whole numbers, none negative, and for each rate on average that."""
    found = output.reshape(math.prod(shape), *rate.shape)
    return [found >= 0, found == np.floor(found), average(found, rate, rate)]


poisson_v1_op = Op(
    "RandomPoisson",
    "shape: S, rate: dtype -> output: dtype",
    host="shape",
    stateful=True,
    **SEEDS,
    S=INDICES,
    dtype=types("half float double"),
)
poisson_v1_op.shape(sizes_of_each)
poisson_v1_op.kernel(counts_of_each)
poisson_v1_op.gradient(undefined_gradient)
poisson_v1_op.samples((_SIZES, _PARAMETERS, {"seed": 3}), (_MANY, _PARAMETERS, {"seed": 3}), law=_counts)

_COUNTS = types("half float double int32 int64")

poisson_op = Op(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    host="shape",
    stateful=True,
    **SEEDS,
    S=INDICES,
    R=attr("type", dtypes.float64, allowed=_COUNTS),
    dtype=attr("type", dtypes.int64, allowed=_COUNTS),
)
poisson_op.shape(sizes_of_each)
poisson_op.kernel(counts_of_each)
poisson_op.gradient(undefined_gradient)
poisson_op.samples(
    (_SIZES, _PARAMETERS, {"seed": 3}),
    (_MANY, _PARAMETERS, {"seed": 3}),
    (_MANY, _PARAMETERS, {"dtype": dtypes.float32}),
    law=_counts,
)


@export("random_poisson", "random.poisson")
def random_poisson(
    lam: TensorLike,
    shape: TensorLike,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws numbers of Poisson distributions.

    Args:
      lam: The rates of the distributions, a tensor of numbers that are not negative.
      shape: How many numbers of each distribution, a vector of integers.
      dtype: The type of the numbers: of floating point, int32 or int64.
      seed: With a seed, the numbers of each session are the same, those of TensorFlow.
      name: A name for the scope of the operations.

    Returns:
      A tensor of type `dtype`: the axes of `shape`, then those of `lam`.
    """
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        return poisson_op(shape, lam, dtype=dtype, **seed_attrs(seed))


parameterized_truncated_normal_op = Op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=False,
    **SEEDS,
    dtype=FLOATS_HALF_FIRST,
    T=INDICES,
)


_NO_VECTOR = "Input shape should be a vector, got shape: "


@parameterized_truncated_normal_op.shape
def _parameterized_truncated_normal_shape(shape, means, stdevs, minvals, maxvals):
    parameters = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    for name, parameter in parameters.items():
        if parameter.ndims is not None and parameter.ndims > 1:
            raise ShapeError(
                f"Shape must be at most rank 1 but is rank {parameter.ndims}",
                f"Input {name} should be a scalar or vector, got shape: {brackets(parameter.tuple)}",
            )
    return as_sizes(shape, _NO_VECTOR)


@parameterized_truncated_normal_op.kernel
def _parameterized_truncated_normal_kernel(
    shape, means, stdevs, minvals, maxvals, *, seed, seed2, dtype, state, device
):
    if not checked_sizes(shape, _NO_VECTOR):
        raise ShapeError("Shape should have at least 1 dimension, the rows, but has none")
    parameters = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    for name, parameter in parameters.items():
        if parameter.ndim > 1 or parameter.numel() not in (1, shape[0]):
            raise ShapeError(
                f"Input {name} should be a scalar or vector, got shape: {brackets(parameter.shape)}"
                if parameter.ndim > 1
                else f"Input {name} should have length 1 or shape[0], got shape: {brackets(parameter.shape)}"
            )
    stream = stream_of(state, seed, seed2) or Stream()
    arrays = (to_numpy(parameter) for parameter in parameters.values())
    numbers = sequential.parameterized_truncated_normal(
        stream, shape, *arrays, dtype=np.dtype(dtype.as_numpy_dtype)
    )
    return to_torch(numbers, device)


def _rows_within(shape, means, stdevs, minvals, maxvals, output):
    """Each row within its bounds, and of its distribution."""
    parameters = np.broadcast_arrays(*map(np.ravel, (means, stdevs, minvals, maxvals)), np.empty(len(output)))
    claims: list = [output.shape == tuple(shape)]
    for row, mean, deviation, low, high in zip(output, *map(np.float64, parameters[:4]), strict=True):
        scaled, low, high = ((number - mean) / deviation for number in (np.float64(row), low, high))
        within = (low <= scaled + 1e-6) & (scaled - 1e-6 <= high)
        claims += [within, follow(scaled, references.truncated_normal(low, high))]
    return claims


parameterized_truncated_normal_op.samples(
    (_SIZES, np.float32(0), np.float32(1), np.float32(-1), np.float32(2), {"seed": 3}),
    (_SIZES, f32(2), np.float32(1), np.float32(3), np.float32(np.inf), {"seed": 3}),
    (_SIZES, f32(1), np.float32(1), np.float32(0.5), np.float32(0.6)),
    (np.array([2, 500], np.int32), f32(2), np.float32(2), np.float32(-1), np.float32(3), {"seed": 3}),
    law=_rows_within,
)
parameterized_truncated_normal_op.refuses(
    (_SIZES, f32(1, 1), np.float32(1), np.float32(0.5), np.float32(1)), "must be at most rank 1 but is rank 2"
)
parameterized_truncated_normal_op.refuses(
    (_SIZES, f32(), np.float32(-1), np.float32(0), np.float32(1)), "Invalid parameters", InvalidArgumentError
)
