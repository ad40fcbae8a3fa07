"""Random numbers from a state that a resource variable holds: each op takes its part and moves the state on.

The state of Philox, the only algorithm, is a vector of three int64: the 128-bit counter and the key. The
numbers are computed on the host, bit for bit TensorFlow's; see `tf.random.experimental.Generator`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.dtypes import DType
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import as_sizes, brackets, checked_sizes, scalar
from tideflow.ops.helpers.samples import resource
from tideflow.ops.helpers.types import FLOATS, INDICES, types
from tideflow.runtime import distributions, sequential
from tideflow.runtime.philox import RESERVED_PER_OUTPUT, Philox, Stream
from tideflow.runtime.resources import Variable
from tideflow.runtime.values import to_numpy, to_torch

PHILOX = 1
_SHAPE_TYPE = attr("type", dtypes.int64)


def _check_kernel(op_type: str, dtype: DType, allowed: Sequence[DType]) -> None:
    if dtype not in allowed:
        names = ", ".join(item.name for item in allowed)
        raise errors.invalid_argument(
            f"{op_type} makes {names}, not {dtype.name}: no kernel is registered for it"
        )


_STATE = resource(np.array([5, -6, 7]))
_PHILOX = np.array(PHILOX)

# ---------------------------------------------------------------------------------- numbers by shape alone


def _numbers(name: str, allowed: tuple[DType, ...], default: DType, numbers: Callable) -> Op:
    op = Op(
        name,
        "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
        host="algorithm, shape",
        stateful=True,
        differentiable=False,
        dtype=default,
        shape_dtype=_SHAPE_TYPE,
    )

    @op.shape
    def _shape(resource, algorithm, shape):
        scalar(algorithm)
        return as_sizes(shape)

    @op.kernel
    def kernel(resource, algorithm, shape, *, dtype, device):
        _check_kernel(name, dtype, allowed)
        generator = advance(resource, algorithm, math.prod(checked_sizes(shape)))
        return to_torch(numbers(generator, shape, dtype.as_numpy_dtype), device)

    op.samples(
        (_STATE, _PHILOX, np.array([2, 3])),
        (_STATE, _PHILOX, np.array([], np.int64)),
        (_STATE, _PHILOX, np.array([0], np.int32)),
        *((_STATE, _PHILOX, np.array([3]), {"dtype": dtype}) for dtype in allowed if dtype is not default),
    )
    op.refuses((_STATE, np.array([1]), np.array([2])), "Shape must be rank 0 but is rank 1")
    op.refuses((_STATE, np.array(2), np.array([2])), "Unsupported algorithm id: 2", InvalidArgumentError)
    op.refuses((_STATE, _PHILOX, np.array(2)), "Shape must be rank 1 but is rank 0")
    op.refuses(
        (resource(np.arange(2)), _PHILOX, np.array([2])), "size of state must be", InvalidArgumentError
    )
    return op


STATE_SIZE = 3
_MASK64 = (1 << 64) - 1


def advance(state: Variable, algorithm: Any, outputs: int) -> Philox:
    """The generator at the state, which is moved on by what so many outputs may need."""
    if scalar(algorithm) != PHILOX:
        raise errors.invalid_argument(f"Unsupported algorithm id: {algorithm}")
    with state as buffer:
        if buffer.dtype != torch.int64:
            name = str(buffer.dtype).removeprefix("torch.")
            raise errors.invalid_argument(f"dtype of RNG state variable must be int64, not {name}")
        if buffer.ndim != 1:
            raise ShapeError(f"RNG state must have one and only one dimension, not {buffer.ndim}")
        if len(buffer) < STATE_SIZE:
            needed = f"the size of state must be at least {STATE_SIZE}"
            raise ShapeError(f"For the Philox algorithm, {needed}; got {len(buffer)}")
        lower, upper, key = (number & _MASK64 for number in buffer[:STATE_SIZE].tolist())
        generator = Philox(key, lower | upper << 64)
        after = generator.skip(outputs * RESERVED_PER_OUTPUT & _MASK64).counter
        halves = np.array([after & _MASK64, after >> 64], np.uint64).view(np.int64)
        buffer[:2] = torch.from_numpy(halves)
    return generator


uniform_op = _numbers("StatefulUniform", FLOATS, dtypes.float32, distributions.uniform)
normal_op = _numbers("StatefulStandardNormalV2", FLOATS, dtypes.float32, distributions.standard_normal)
truncated_normal_op = _numbers(
    "StatefulTruncatedNormal", FLOATS, dtypes.float32, distributions.truncated_normal
)
_WHOLE = types("int32 int64 uint32 uint64")

uniform_full_int_op = _numbers(
    "StatefulUniformFullInt", _WHOLE, dtypes.uint64, distributions.uniform_full_int
)
normal_v1_op = Op(
    "StatefulStandardNormal",
    "resource: resource, shape: shape_dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=False,
    dtype=dtypes.float32,
    shape_dtype=_SHAPE_TYPE,
)


@normal_v1_op.shape
def _normal_v1_shape(resource, shape):
    return as_sizes(shape)


@normal_v1_op.kernel
def _normal_v1_kernel(resource, shape, *, dtype, device):
    _check_kernel("StatefulStandardNormal", dtype, FLOATS)
    generator = advance(resource, PHILOX, math.prod(checked_sizes(shape)))
    return to_torch(distributions.standard_normal(generator, shape, dtype.as_numpy_dtype), device)


normal_v1_op.samples((_STATE, np.array([2, 3])), (_STATE, np.array([3]), {"dtype": dtypes.float64}))

# ---------------------------------------------------------------------------------- integers between bounds

uniform_int_op = Op(
    "StatefulUniformInt",
    "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    host="algorithm, shape, minval, maxval",
    stateful=True,
    differentiable=False,
    dtype=dtypes.int64,
    shape_dtype=_SHAPE_TYPE,
)


@uniform_int_op.shape
def _uniform_int_shape(resource, algorithm, shape, minval, maxval):
    scalar(algorithm), scalar(minval), scalar(maxval)
    return as_sizes(shape)


@uniform_int_op.kernel
def _uniform_int_kernel(resource, algorithm, shape, minval, maxval, *, dtype, device):
    _check_kernel("StatefulUniformInt", dtype, _WHOLE)
    low, high = scalar(minval), scalar(maxval)
    if low >= high:
        raise errors.invalid_argument(f"Need minval < maxval, got {low} >= {high}")
    generator = advance(resource, algorithm, math.prod(checked_sizes(shape)))
    numbers = distributions.uniform_int(generator, shape, low, high, dtype.as_numpy_dtype)
    return to_torch(numbers, device)


uniform_int_op.samples(
    (_STATE, _PHILOX, np.array([2, 3]), np.array(-4), np.array(5)),
    (_STATE, _PHILOX, np.array([0]), np.array(-4, np.int32), np.array(5, np.int32)),
    (_STATE, _PHILOX, np.array([7]), np.uint32(4), np.uint32(2**32 - 1), {"dtype": dtypes.uint32}),
    (_STATE, _PHILOX, np.array([7]), np.uint64(4), np.uint64(2**64 - 1), {"dtype": dtypes.uint64}),
)
uniform_int_op.refuses(
    (_STATE, _PHILOX, np.array([7]), np.array(4), np.array(4)), "Need minval < maxval", InvalidArgumentError
)

_COUNTS = types("half float double int32 int64")

# ---------------------------------------------------------------------------------- binomial

binomial_op = Op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    host="algorithm, shape",
    stateful=True,
    differentiable=False,
    S=INDICES,
    T=attr("type", dtypes.float64, allowed=_COUNTS),
    dtype=attr("type", dtypes.int64, allowed=_COUNTS),
)


@binomial_op.shape
def _binomial_shape(resource, algorithm, shape, counts, probs):
    scalar(algorithm)
    for parameter in (counts, probs):
        if parameter.ndims is not None and parameter.ndims > 1:
            raise ShapeError(f"Shape must be at most rank 1 but is rank {parameter.ndims}")
    return as_sizes(shape)


@binomial_op.kernel
def _binomial_kernel(resource, algorithm, shape, counts, probs, *, dtype):
    if not checked_sizes(shape):
        raise ShapeError("Shape should have at least 1 dimension, the rows, but has none")
    for name, parameter in (("counts", counts), ("probs", probs)):
        if parameter.ndim > 1 or parameter.numel() not in (1, shape[0]):
            raise ShapeError(
                f"Input {name} should have length 1 or shape[0], got shape: {brackets(parameter.shape)}"
            )
    counts, probs, device = to_numpy(counts), to_numpy(probs), counts.device
    tries = sequential.reserved_blocks(*sequential.rows_of(shape, (counts, probs)), sequential.BINOMIAL_TRIES)
    generator = advance(resource, algorithm, tries)
    numbers = sequential.binomial(generator, shape, counts, probs, np.dtype(dtype.as_numpy_dtype))
    return to_torch(numbers, device)


_MANY = np.array([10.0, 100.0])
binomial_op.samples(
    (_STATE, _PHILOX, np.array([2, 3]), _MANY, np.array([0.3, 0.8])),
    (_STATE, _PHILOX, np.array([2, 3]), _MANY.astype(np.float32), np.array(0.5, np.float32)),
    (_STATE, _PHILOX, np.array([4]), np.array(7), np.array(1), {"dtype": dtypes.float32}),
    (_STATE, _PHILOX, np.array([0, 2]), np.array(7.0), np.array(0.5)),
)
binomial_op.refuses(
    (_STATE, _PHILOX, np.array([2]), np.ones([1, 1]), np.array(0.5)), "Shape must be at most rank 1"
)
binomial_op.refuses(
    (_STATE, _PHILOX, np.array([2]), np.ones([3]), np.array(0.5)),
    "should have length 1",
    InvalidArgumentError,
)

# ---------------------------------------------------------------------------------- skipping; chance itself

skip_op = Op(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64",
    host="algorithm, delta",
    stateful=True,
    differentiable=False,
)


@skip_op.shape
def _skip_shape(resource, algorithm, delta):
    scalar(algorithm), scalar(delta)
    return []


@skip_op.kernel
def _skip_kernel(resource, algorithm, delta):
    advance(resource, algorithm, scalar(delta))


skip_op.samples((_STATE, _PHILOX, np.array(3)), (_STATE, _PHILOX, np.array(-3)))
skip_op.refuses((_STATE, _PHILOX, np.array([3])), "Shape must be rank 0 but is rank 1")

non_deterministic_ints_op = Op(
    "NonDeterministicInts",
    "shape: shape_dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=False,
    dtype=dtypes.int64,
    shape_dtype=_SHAPE_TYPE,
)


@non_deterministic_ints_op.shape
def _non_deterministic_ints_shape(shape):
    return as_sizes(shape)


@non_deterministic_ints_op.kernel
def _non_deterministic_ints_kernel(shape, *, dtype, device):
    _check_kernel("NonDeterministicInts", dtype, _WHOLE)
    return to_torch(
        distributions.uniform_full_int(Stream(), checked_sizes(shape), dtype.as_numpy_dtype), device
    )


# Numbers that nobody can foretell are no sample to compare with: these have none.
non_deterministic_ints_op.samples((np.array([2, 0]),), (np.array([0]), {"dtype": dtypes.uint32}))
