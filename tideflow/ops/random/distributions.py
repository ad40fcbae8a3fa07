"""Random numbers. Seeded, they are TensorFlow's own, on any device; unseeded, the device's generator's.

A stateful op with a seed keeps a `Stream` in its own state and computes on the host, bit for bit as do
TensorFlow's CPU kernels; both seeds are 0 where it has none. A stateless op is a function of its seed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

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
from tideflow.graph.scopes import get_seed, name_scope
from tideflow.ops.arrays import creation, joining, shapes, slicing
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.helpers.axes import as_sizes, checked_sizes, of_rank, scalar, vector
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import FLOATS_HALF_FIRST, INDICES, REAL, REAL_PARTS, types
from tideflow.ops.math import binary, reductions
from tideflow.runtime import distributions, sequential
from tideflow.runtime.distributions import Source
from tideflow.runtime.philox import Philox, Stream
from tideflow.runtime.values import to_numpy, to_torch

_SEEDS = {"seed": 0, "seed2": 0}
_SEED_TYPE = attr("type", dtypes.int64, allowed=INDICES)


def _stream(state: dict, seed: int, seed2: int) -> Stream | None:
    """The stream that a seeded op holds between its runs; None where it has no seed."""
    if seed == 0 and seed2 == 0:
        return None
    return state.get("stream") or state.setdefault("stream", Stream(seed, seed2))


def _stateless(seed: list[int]) -> Philox:
    if len(vector(seed)) != 2:
        raise ShapeError(f"seed must have shape [2], not [{len(seed)}]")
    return Philox.stateless(*seed)


def _seed_shape(seed: Any) -> None:
    if vector(seed) is not None and len(seed) != 2:
        raise ShapeError(f"Dimension must be 2 but is {len(seed)}")


# -------------------------------------------------------------------------------- floating numbers


def _numbers(name: str, stateless_name: str, exact: Callable, fast: Callable) -> tuple[Op, Op]:
    """The two ops of a distribution without parameters: `exact` with a seed, `fast` without."""
    stateful = Op(
        name, "shape: T -> output: dtype", host="shape", stateful=True, differentiable=False,
        **_SEEDS, dtype=FLOATS_HALF_FIRST, T=INDICES,
    )  # fmt: skip
    stateless = Op(
        stateless_name,
        "shape: T, seed: Tseed -> output: dtype",
        host="shape, seed",
        differentiable=False,
        dtype=attr("type", dtypes.float32, allowed=FLOATS_HALF_FIRST),
        T=attr("type", dtypes.int32, allowed=INDICES),
        Tseed=_SEED_TYPE,
    )

    @stateful.shape
    def stateful_shape(shape):
        return as_sizes(shape)

    @stateless.shape
    def stateless_shape(shape, seed):
        _seed_shape(seed)
        return as_sizes(shape)

    @stateful.kernel
    def stateful_kernel(shape, *, seed, seed2, dtype, state, device):
        stream = _stream(state, seed, seed2)
        if stream is None:
            return fast(checked_sizes(shape), dtype.torch, device)
        return to_torch(exact(stream, checked_sizes(shape), dtype.as_numpy_dtype), device)

    @stateless.kernel
    def stateless_kernel(shape, seed, *, dtype, device):
        return to_torch(exact(_stateless(seed), checked_sizes(shape), dtype.as_numpy_dtype), device)

    sizes = (np.array([2, 3], np.int32), np.array([], np.int32), np.array([0, 4], np.int64))
    stateful.samples(*((size, {"seed": 5, "dtype": dtypes.float32}) for size in sizes))
    stateful.samples((np.array([5], np.int32), {"dtype": dtypes.float64}))
    stateless.samples(*((size, np.array([3, 4], np.int64)) for size in sizes))
    stateful.refuses((np.array(3, np.int32), {"dtype": dtypes.float32}), "Shape must be rank 1 but is rank 0")
    stateless.refuses((np.array([3], np.int32), np.array([1, 2, 3])), "Dimension must be 2 but is 3")
    return stateful, stateless


def _fast_uniform(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.rand(sizes, dtype=dtype, device=device, generator=device_generator(device))


uniform_op, stateless_uniform_op = _numbers(
    "RandomUniform", "StatelessRandomUniform", distributions.uniform, _fast_uniform
)


def _fast_normal(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.randn(sizes, dtype=dtype, device=device, generator=device_generator(device))


normal_op, stateless_normal_op = _numbers(
    "RandomStandardNormal", "StatelessRandomNormal", distributions.standard_normal, _fast_normal
)


def _fast_truncated_normal(sizes: list[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """By the inverse of the distribution, between its values at -2 and 2."""
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    share = math.erf(math.sqrt(2))
    numbers = torch.empty(sizes, dtype=wide, device=device)
    numbers.uniform_(-share, share, generator=device_generator(device))
    return numbers.erfinv_().mul_(math.sqrt(2)).clamp_(-2, 2).to(dtype)


truncated_normal_op, stateless_truncated_normal_op = _numbers(
    "TruncatedNormal", "StatelessTruncatedNormal", distributions.truncated_normal, _fast_truncated_normal
)


def _exact_integers(
    source: Source, sizes: list[int], low: int, high: int, dtype: DType, device: torch.device
) -> torch.Tensor:
    numbers = distributions.uniform_int(source, checked_sizes(sizes), low, high, dtype.as_numpy_dtype)
    return to_torch(numbers, device)


_SIZES = np.array([2, 3], np.int32)


def _shape_tensor(shape: Any) -> Tensor:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name="shape")


# -------------------------------------------------------------------------------- integers

uniform_int_op = Op(
    "RandomUniformInt",
    "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    host="shape, minval, maxval",
    stateful=True,
    differentiable=False,
    **_SEEDS,
    Tout=INDICES,
    T=INDICES,
)


@uniform_int_op.shape
def _uniform_int_shape(shape, minval, maxval):
    scalar(minval), scalar(maxval)
    return as_sizes(shape)


@uniform_int_op.kernel
def _uniform_int_kernel(shape, minval, maxval, *, seed, seed2, Tout, state, device):
    low, high = scalar(minval), scalar(maxval)
    stream = _stream(state, seed, seed2)
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
)
uniform_int_op.refuses(
    (_SIZES, np.array([1, 2], np.int32), np.int32(5)), "Shape must be rank 0 but is rank 1"
)


@export("random_uniform", "random.uniform")
def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers spread evenly over [minval, maxval); of a floating type, over [0, 1) unless said otherwise."""
    dtype = _uniform_type(dtype, maxval)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = _shape_tensor(shape)
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
    Tseed=_SEED_TYPE,
)


@stateless_uniform_int_op.shape
def _stateless_uniform_int_shape(shape, seed, minval, maxval):
    _seed_shape(seed), scalar(minval), scalar(maxval)
    return as_sizes(shape)


@stateless_uniform_int_op.kernel
def _stateless_uniform_int_kernel(shape, seed, minval, maxval, *, dtype, device):
    return _exact_integers(_stateless(seed), shape, scalar(minval), scalar(maxval), dtype, device)


stateless_uniform_int_op.samples(
    (_SIZES, np.array([3, 4], np.int32), np.int32(-4), np.int32(5)),
    (np.array([], np.int32), np.array([3, 4], np.int64), np.int64(-4), np.int64(5)),
)
stateless_uniform_int_op.refuses(
    (_SIZES, np.array(3, np.int32), np.int32(-4), np.int32(5)), "Shape must be rank 1 but is rank 0"
)


@export("random.stateless_uniform")
def stateless_random_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """As `random_uniform`, a function of its seed: two integers."""
    dtype = _uniform_type(dtype, maxval)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = _shape_tensor(shape)
        low, high = _bounds(minval, maxval, dtype)
        if dtype.is_integer:
            return stateless_uniform_int_op(shape, seed, low, high, name=name)
        numbers = stateless_uniform_op(shape, seed, dtype=dtype)
        return binary.add(numbers * (high - low), low, name=name)


# -------------------------------------------------------------------------------- orders and classes

shuffle_op = Op("RandomShuffle", "value: T -> output: T", stateful=True, **_SEEDS)


@shuffle_op.shape
def _shuffle_shape(value):
    return value


@shuffle_op.kernel
def _shuffle_kernel(value, *, seed, seed2, state):
    if value.ndim == 0 or value.numel() <= 1:
        return value
    stream, rows, device = _stream(state, seed, seed2), value.shape[0], value.device
    if stream is None:
        return value[torch.randperm(rows, device=device, generator=device_generator(device))]
    return value[torch.from_numpy(distributions.permutation(stream, rows)).to(device)]


@shuffle_op.kernel("string")
def _shuffle_string_kernel(value, *, seed, seed2, state):
    if value.ndim == 0 or value.size <= 1:
        return value
    return value[distributions.permutation(_stream(state, seed, seed2) or Stream(), value.shape[0])]


shuffle_op.gradient(undefined_gradient)
shuffle_op.samples((f32(5, 2), {"seed": 3}), (f32(7),), (f32(), {"seed": 3}), (f32(3, 0), {"seed": 3}))


@export("random_shuffle", "random.shuffle")
def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of `value` in a random order."""
    return shuffle_op(value, **seed_attrs(seed), name=name)


_CLASS_TYPE = attr("type", dtypes.int64, allowed=INDICES)


def _check_logits(logits: torch.Tensor, num_samples: Any) -> None:
    if logits.ndim != 2:
        raise ShapeError(f"logits should be a matrix, got shape {list(logits.shape)}")
    if isinstance(num_samples, list):
        raise ShapeError(f"num_samples should be a scalar, got shape [{len(num_samples)}]")
    if num_samples < 0:
        raise ShapeError(f"num_samples should be nonnegative, got {num_samples}")
    if logits.shape[1] == 0:
        raise ShapeError("num_classes should be positive, got 0")


def _exact_classes(source: Source, logits: torch.Tensor, num_samples: int, dtype: DType) -> torch.Tensor:
    _check_logits(logits, num_samples)
    found = distributions.multinomial(source, to_numpy(logits), num_samples, dtype.as_numpy_dtype)
    return to_torch(found, logits.device)


multinomial_op = Op(
    "Multinomial",
    "logits: T, num_samples: int32 -> output: output_dtype",
    host="num_samples",
    stateful=True,
    differentiable=False,
    **_SEEDS,
    T=REAL,
    output_dtype=_CLASS_TYPE,
)


@multinomial_op.shape
def _multinomial_shape(logits, num_samples):
    samples = scalar(num_samples)
    if samples is not None and samples < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {samples}")
    return [of_rank(logits, 2)[0], samples]


def _fast_classes(logits: torch.Tensor, num_samples: int) -> torch.Tensor:
    """The class under whose share of the running sum of weights a uniform number falls."""
    logits = logits.double()
    logits = logits.where(logits.isfinite(), -math.inf)
    largest = logits.amax(1, keepdim=True).clamp_(min=torch.finfo(torch.float64).min)
    cumulative = logits.sub(largest).exp_().cumsum(1)
    uniforms = _fast_uniform([len(logits), num_samples], torch.float64, logits.device)
    return torch.searchsorted(cumulative, uniforms.mul_(cumulative[:, -1:]), right=True)


@multinomial_op.kernel
def _multinomial_kernel(logits, num_samples, *, seed, seed2, output_dtype, state):
    stream = _stream(state, seed, seed2)
    if stream is None:
        _check_logits(logits, num_samples)
        return _fast_classes(logits, num_samples).to(output_dtype.torch)
    return _exact_classes(stream, logits, num_samples, output_dtype)


multinomial_op.samples(
    (f32(2, 4), 6, {"seed": 3}), (f32(2, 4), 6, {"output_dtype": dtypes.int32}), (f32(3, 2), 0)
)
multinomial_op.refuses((f32(2), 3), "Shape must be rank 2 but is rank 1")
multinomial_op.refuses((f32(1, 2), -3), "must be non-negative but is -3")

stateless_multinomial_op = Op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    host="num_samples, seed",
    differentiable=False,
    T=REAL,
    Tseed=_SEED_TYPE,
    output_dtype=_CLASS_TYPE,
)


@stateless_multinomial_op.shape
def _stateless_multinomial_shape(logits, num_samples, seed):
    _seed_shape(seed)
    return multinomial_op.shape_rule(logits, num_samples)


@stateless_multinomial_op.kernel
def _stateless_multinomial_kernel(logits, num_samples, seed, *, output_dtype):
    return _exact_classes(_stateless(seed), logits, num_samples, output_dtype)


stateless_multinomial_op.samples((f32(2, 4), 6, np.array([3, 4])), (f32(1, 2), 0, np.array([3, 4])))


def _gamma_family_shape(shape, parameter):
    sizes = as_sizes(shape)
    return None if sizes is None or parameter.ndims is None else [*sizes, *parameter.tuple]


_PARAMETERS = f32(2, low=0.5, high=9.0)

# -------------------------------------------------------------------------------- gamma and Poisson

gamma_op = Op(
    "RandomGamma", "shape: S, alpha: T -> output: T",
    host="shape", stateful=True, **_SEEDS, S=INDICES, T=types("half float double"),
)  # fmt: skip
gamma_op.shape(_gamma_family_shape)


@gamma_op.kernel
def _gamma_kernel(shape, alpha, *, seed, seed2, state):
    stream = _stream(state, seed, seed2)
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


gamma_op.samples(
    (_SIZES, _PARAMETERS, {"seed": 3}),
    (_SIZES, _PARAMETERS),
    (np.array([], np.int32), _PARAMETERS, {"seed": 3}),
)
gamma_op.refuses((np.array(3, np.int32), _PARAMETERS), "Shape must be rank 1 but is rank 0")


@export("random_gamma", "random.gamma")
def random_gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Gamma numbers: `shape` of them for every entry of `alpha` and of `beta`, the inverse scale."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(beta if beta is not None else 1, name="beta", dtype=dtype)
        alpha = alpha + creation.zeros_like(beta)
        numbers = gamma_op(shape, alpha, **seed_attrs(seed)) / beta
        return binary.maximum(np.finfo(dtypes.as_dtype(dtype).as_numpy_dtype).tiny, numbers)


gamma_grad_op = Op("RandomGammaGrad", "alpha: T, sample: T -> output: T", T=REAL_PARTS)


@gamma_grad_op.shape
def _gamma_grad_shape(alpha, sample):
    return broadcast_shapes(alpha, sample)


@gamma_grad_op.kernel
def _gamma_grad_kernel(alpha, sample):
    alpha, sample = torch.broadcast_tensors(alpha, sample)
    return torch._standard_gamma_grad(alpha.contiguous(), sample.contiguous())


gamma_grad_op.gradient(undefined_gradient)
gamma_grad_op.samples((f32(2, 1, low=0.5, high=3.0), f32(2, 3, low=0.1, high=3.0)))


def _fast_counts(rates: torch.Tensor) -> torch.Tensor:
    """Poisson numbers: none come at a negative rate, and an infinite one gives NaN, as in TensorFlow."""
    finite = rates.isfinite()
    counts = torch.poisson(rates.where(finite, 0).clamp(min=0), generator=device_generator(rates.device))
    return counts.where(finite, math.nan)


def _poisson_v1_family_kernel(shape, rate, *, seed, seed2, dtype, state):
    stream = _stream(state, seed, seed2)
    if stream is None:
        return _fast_counts(rate.double().expand(*checked_sizes(shape), *rate.shape)).to(dtype.torch)
    counts = distributions.poisson(stream, checked_sizes(shape), to_numpy(rate), dtype.as_numpy_dtype)
    return to_torch(counts, rate.device)


poisson_v1_op = Op(
    "RandomPoisson", "shape: S, rate: dtype -> output: dtype",
    host="shape", stateful=True, **_SEEDS, S=INDICES, dtype=types("half float double"),
)  # fmt: skip
poisson_v1_op.shape(_gamma_family_shape)
poisson_v1_op.kernel(_poisson_v1_family_kernel)
poisson_v1_op.gradient(undefined_gradient)
poisson_v1_op.samples((_SIZES, _PARAMETERS, {"seed": 3}))

_COUNTS = types("half float double int32 int64")

poisson_op = Op(
    "RandomPoissonV2",
    "shape: S, rate: R -> output: dtype",
    host="shape",
    stateful=True,
    **_SEEDS,
    S=INDICES,
    R=attr("type", dtypes.float64, allowed=_COUNTS),
    dtype=attr("type", dtypes.int64, allowed=_COUNTS),
)
poisson_op.shape(_gamma_family_shape)
poisson_op.kernel(_poisson_v1_family_kernel)
poisson_op.gradient(undefined_gradient)
poisson_op.samples((_SIZES, _PARAMETERS, {"seed": 3}), (_SIZES, _PARAMETERS, {"dtype": dtypes.float32}))


@export("random_poisson", "random.poisson")
def random_poisson(
    lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Numbers of the Poisson distribution: `shape` of them for every rate in `lam`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        return poisson_op(shape, lam, dtype=dtype, **seed_attrs(seed))


parameterized_truncated_normal_op = Op(
    "ParameterizedTruncatedNormal",
    "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=False,
    **_SEEDS,
    dtype=FLOATS_HALF_FIRST,
    T=INDICES,
)


@parameterized_truncated_normal_op.shape
def _parameterized_truncated_normal_shape(shape, means, stdevs, minvals, maxvals):
    for parameter in (means, stdevs, minvals, maxvals):
        if parameter.ndims is not None and parameter.ndims > 1:
            raise ShapeError(f"Shape must be at most rank 1 but is rank {parameter.ndims}")
    return as_sizes(shape)


@parameterized_truncated_normal_op.kernel
def _parameterized_truncated_normal_kernel(
    shape, means, stdevs, minvals, maxvals, *, seed, seed2, dtype, state, device
):
    if not checked_sizes(shape):
        raise ShapeError("Shape should have at least 1 dimension, the rows, but has none")
    parameters = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    for name, parameter in parameters.items():
        if parameter.ndim > 1 or parameter.numel() not in (1, shape[0]):
            raise ShapeError(
                f"Input {name} should have length 1 or shape[0], got shape: {list(parameter.shape)}"
            )
    stream = _stream(state, seed, seed2) or Stream()
    arrays = (to_numpy(parameter) for parameter in parameters.values())
    numbers = sequential.parameterized_truncated_normal(
        stream, shape, *arrays, dtype=np.dtype(dtype.as_numpy_dtype)
    )
    return to_torch(numbers, device)


parameterized_truncated_normal_op.samples(
    (_SIZES, np.float32(0), np.float32(1), np.float32(-1), np.float32(2), {"seed": 3}),
    (_SIZES, f32(2), np.float32(1), np.float32(3), np.float32(np.inf), {"seed": 3}),
    (_SIZES, f32(1), np.float32(1), np.float32(0.5), np.float32(0.6)),
)
parameterized_truncated_normal_op.refuses(
    (_SIZES, f32(1, 1), np.float32(1), np.float32(0.5), np.float32(1)), "must be at most rank 1 but is rank 2"
)
parameterized_truncated_normal_op.refuses(
    (_SIZES, f32(), np.float32(-1), np.float32(0), np.float32(1)), "Invalid parameters", InvalidArgumentError
)

# -------------------------------------------------------------------------------- sources


@functools.cache
def device_generator(device: torch.device) -> torch.Generator:
    """The process's generator of unseeded numbers on a device; starts where nobody can foretell."""
    generator = torch.Generator(device)
    generator.seed()
    return generator


def seed_attrs(seed: int | None) -> dict[str, int | None]:
    """The attributes of an op that draws numbers, with the graph's seed and its own."""
    return dict(zip(("seed", "seed2"), get_seed(seed)))


def _normal_inputs(shape: Any, mean: Any, stddev: Any, dtype: Any) -> tuple[Tensor, Tensor, Tensor]:
    return (
        _shape_tensor(shape),
        convert_to_tensor(mean, dtype=dtype, name="mean"),
        convert_to_tensor(stddev, dtype=dtype, name="stddev"),
    )


@export("random_normal", "random.normal")
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers."""
    with name_scope(name, "random_normal", [shape, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(normal_op(shape, dtype=dtype, **seed_attrs(seed)) * stddev, mean, name=name)


@export("truncated_normal", "random.truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers, those further than two deviations from the mean drawn again."""
    with name_scope(name, "truncated_normal", [shape, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(
            truncated_normal_op(shape, dtype=dtype, **seed_attrs(seed)) * stddev, mean, name=name
        )


@export("random_crop", "image.random_crop")
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of `value` of the given size, from a random place."""
    with name_scope(name, "random_crop", [value, size]) as name:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = shapes.shape(value)
        fits = debugging.Assert(
            reductions.reduce_all(shape >= size),
            ["Need value.shape >= size, got ", shape, size],
            summarize=1000,
        )
        limit = grouping.with_dependencies([fits], shape) - size + 1
        anywhere = random_uniform(shapes.shape(limit), dtype=size.dtype, maxval=size.dtype.max, seed=seed)
        return slicing.slice(value, anywhere % limit, size, name=name)


@export("multinomial", "random.multinomial")
def multinomial(
    logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None, output_dtype: Any = None
) -> Tensor:
    """Classes drawn from each row of unnormalized log probabilities; `random.categorical` of old."""
    with name_scope(name, "multinomial", [logits]):
        return _classes(logits, num_samples, output_dtype, seed)


def _classes(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return multinomial_op(logits, num_samples, **seed_attrs(seed), output_dtype=dtype)


@export("random.categorical")
def categorical(
    logits: Any, num_samples: Any, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Classes drawn from each row of unnormalized log probabilities."""
    with name_scope(name, "categorical", [logits]):
        return _classes(logits, num_samples, dtype, seed)


@export("random.stateless_normal")
def stateless_random_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """As `random_normal`, a function of its seed: two integers."""
    with name_scope(name, "stateless_random_normal", [shape, seed, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(stateless_normal_op(shape, seed, dtype=dtype) * stddev, mean, name=name)


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """As `truncated_normal`, a function of its seed: two integers."""
    with name_scope(name, "stateless_truncated_normal", [shape, seed, mean, stddev]) as name:
        shape, mean, stddev = _normal_inputs(shape, mean, stddev, dtype)
        return binary.add(stateless_truncated_normal_op(shape, seed, dtype=dtype) * stddev, mean, name=name)


@export("random.stateless_multinomial")
def stateless_multinomial(
    logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """As `multinomial`, a function of its seed: two integers."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, output_dtype)


def _stateless_classes(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return stateless_multinomial_op(logits, num_samples, seed, output_dtype=dtype)


@export("random.stateless_categorical")
def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """As `random.categorical`, a function of its seed: two integers."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, dtype)
