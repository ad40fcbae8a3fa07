"""Random choices: an order of rows, a part of a tensor, classes by their probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.dtypes import DType
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import brackets
from tideflow.ops.arrays import shapes, slicing
from tideflow.ops.control_flow import debugging, grouping
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.references import average
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import INDICES, REAL
from tideflow.ops.math import reductions
from tideflow.ops.random import distributions as numbers
from tideflow.ops.random.sources import (
    SEED_TYPE,
    SEEDS,
    check_seed,
    device_generator,
    generator_of,
    seed_attrs,
    stream_of,
)
from tideflow.runtime import distributions
from tideflow.runtime.distributions import Source
from tideflow.runtime.philox import Stream
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

# -------------------------------------------------------------------------------- orders and parts

# -------------------------------------------------------------------------------- orders and classes

shuffle_op = Op("RandomShuffle", "value: T -> output: T", stateful=True, **SEEDS)

shuffle_op.shape(same_shape)


@shuffle_op.kernel
def _shuffle_kernel(value, *, seed, seed2, state):
    if value.ndim == 0 or value.numel() <= 1:
        return value
    stream, rows, device = stream_of(state, seed, seed2), value.shape[0], value.device
    if stream is None:
        return value[torch.randperm(rows, device=device, generator=device_generator(device))]
    return value[torch.from_numpy(distributions.permutation(stream, rows)).to(device)]


@shuffle_op.kernel("string")
def _shuffle_string_kernel(value, *, seed, seed2, state):
    if value.ndim == 0 or value.size <= 1:
        return value
    return value[distributions.permutation(stream_of(state, seed, seed2) or Stream(), value.shape[0])]


shuffle_op.gradient(undefined_gradient)


def _same_rows(value: np.ndarray, output: np.ndarray) -> bool:
    rows, found = np.atleast_1d(value).tolist(), np.atleast_1d(output).tolist()
    return sorted(rows) == sorted(found)


shuffle_op.samples(
    (f32(5, 2), {"seed": 3}),
    (f32(7),),
    (f32(), {"seed": 3}),
    (f32(3, 0), {"seed": 3}),
    law=_same_rows,
)


@export("random_shuffle", "random.shuffle")
def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Puts the rows of a tensor in a random order.

    Args:
      value: A tensor.
      seed: With a seed, the orders of each session are the same, those of TensorFlow.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `value`; another order in each step.
    """
    return shuffle_op(value, **seed_attrs(seed), name=name)


@export("random_crop", "image.random_crop")
def random_crop(
    value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Takes a part of a tensor from a random place.

    Args:
      value: A tensor.
      size: The shape of the part, a vector of integers.
      seed: With a seed, the places of each session are the same, those of TensorFlow.
      name: A name for the operation.

    Returns:
      A tensor of the type of `value`. A step in which `value` is smaller fails with InvalidArgumentError.
    """
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
        largest = size.dtype.max
        anywhere = numbers.random_uniform(shapes.shape(limit), dtype=size.dtype, maxval=largest, seed=seed)
        return slicing.slice(value, anywhere % limit, size, name=name)


# -------------------------------------------------------------------------------- classes

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
    **SEEDS,
    T=REAL,
    output_dtype=_CLASS_TYPE,
)


@multinomial_op.shape
def _multinomial_shape(logits, num_samples):
    samples = scalar(num_samples, "num_samples should be a scalar, got shape ")
    if samples is not None and samples < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1, must be non-negative but is {samples}")
    said = f"logits should be a matrix, got shape {brackets(logits.tuple or ())}"
    return [of_rank(logits, 2, said)[0], samples]


def _fast_classes(logits: torch.Tensor, num_samples: int) -> torch.Tensor:
    """The class under whose share of the running sum of weights a uniform number falls."""
    logits = logits.double()
    logits = logits.where(logits.isfinite(), -math.inf)
    largest = logits.amax(1, keepdim=True).clamp_(min=torch.finfo(torch.float64).min)
    cumulative = logits.sub(largest).exp_().cumsum(1)
    uniforms = torch.rand(
        len(logits),
        num_samples,
        dtype=torch.float64,
        device=logits.device,
        generator=device_generator(logits.device),
    )
    return torch.searchsorted(cumulative, uniforms.mul_(cumulative[:, -1:]), right=True)


@multinomial_op.kernel
def _multinomial_kernel(logits, num_samples, *, seed, seed2, output_dtype, state):
    stream = stream_of(state, seed, seed2)
    if stream is None:
        _check_logits(logits, num_samples)
        return _fast_classes(logits, num_samples).to(output_dtype.torch)
    return _exact_classes(stream, logits, num_samples, output_dtype)


def _in_proportion(logits: np.ndarray, num_samples: int, output: np.ndarray) -> list:
    """Each class as often as the softmax of the logits says."""
    weights = np.exp(np.float64(logits))
    shares = weights / weights.sum(1, keepdims=True)
    hits = output.T[..., None] == np.arange(logits.shape[1])
    return [output.shape == (len(logits), num_samples), average(hits, shares, shares * (1 - shares))]


multinomial_op.samples(
    (f32(2, 4), 6, {"seed": 3}),
    (f32(2, 4), 1000, {"seed": 3}),
    (f32(2, 4), 1000, {"output_dtype": dtypes.int32}),
    (f32(3, 2), 0),
    law=_in_proportion,
)
multinomial_op.refuses((f32(2), 3), "Shape must be rank 2 but is rank 1")
multinomial_op.refuses((f32(1, 2), -3), "must be non-negative but is -3")


@export("multinomial", "random.multinomial")
def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Draws classes by their probabilities. The older name of `tf.random.categorical`.

    Args:
      logits: A matrix: each row has the logarithm of the probability of each class, up to a constant.
      num_samples: How many classes to draw for each row.
      seed: With a seed, the classes of each session are the same, those of TensorFlow.
      name: A name for the scope of the operations.
      output_dtype: The type of the classes, int32 or int64; by default int64.

    Returns:
      A matrix with `num_samples` columns.
    """
    with name_scope(name, "multinomial", [logits]):
        return _drawn(logits, num_samples, output_dtype, seed)


def _drawn(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return multinomial_op(logits, num_samples, **seed_attrs(seed), output_dtype=dtype)


@export("random.categorical")
def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws classes by their probabilities.

    Args:
      logits: A matrix: each row has the logarithm of the probability of each class, up to a constant.
      num_samples: How many classes to draw for each row.
      dtype: The type of the classes, int32 or int64; by default int64.
      seed: With a seed, the classes of each session are the same, those of TensorFlow.
      name: A name for the scope of the operations.

    Returns:
      A matrix with `num_samples` columns.
    """
    with name_scope(name, "categorical", [logits]):
        return _drawn(logits, num_samples, dtype, seed)


stateless_multinomial_op = Op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    host="num_samples, seed",
    differentiable=False,
    T=REAL,
    Tseed=SEED_TYPE,
    output_dtype=_CLASS_TYPE,
)


@stateless_multinomial_op.shape
def _stateless_multinomial_shape(logits, num_samples, seed):
    check_seed(seed)
    return multinomial_op.shape_rule(logits, num_samples)


@stateless_multinomial_op.kernel
def _stateless_multinomial_kernel(logits, num_samples, seed, *, output_dtype):
    return _exact_classes(generator_of(seed), logits, num_samples, output_dtype)


stateless_multinomial_op.samples(
    (f32(2, 4), 6, np.array([3, 4])),
    (f32(2, 4), 1000, np.array([3, 4])),
    (f32(1, 2), 0, np.array([3, 4])),
    law=lambda logits, num_samples, seed, output: _in_proportion(logits, num_samples, output),
)


@export("random.stateless_multinomial")
def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Draws classes by their probabilities, which depend on nothing but the seed.

    Args:
      logits: A matrix: each row has the logarithm of the probability of each class, up to a constant.
      num_samples: How many classes to draw for each row.
      seed: A vector of two integers.
      output_dtype: The type of the classes, int32 or int64.
      name: A name for the scope of the operations.

    Returns:
      A matrix with `num_samples` columns.
    """
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, output_dtype)


def _stateless_classes(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Tensor:
    logits = convert_to_tensor(logits, name="logits")
    return stateless_multinomial_op(logits, num_samples, seed, output_dtype=dtype)


@export("random.stateless_categorical")
def stateless_categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Draws classes by their probabilities, which depend on nothing but the seed.

    Args:
      logits: A matrix: each row has the logarithm of the probability of each class, up to a constant.
      num_samples: How many classes to draw for each row.
      seed: A vector of two integers.
      dtype: The type of the classes, int32 or int64.
      name: A name for the scope of the operations.

    Returns:
      A matrix with `num_samples` columns.
    """
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return _stateless_classes(logits, num_samples, seed, dtype)
