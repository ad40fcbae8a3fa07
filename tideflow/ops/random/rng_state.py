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
from tideflow.ops.helpers import references
from tideflow.ops.helpers.axes import as_sizes, brackets, checked_sizes, scalar
from tideflow.ops.helpers.references import average, follow
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


STATE_SIZE = 3
_MASK64 = (1 << 64) - 1


def _check_scalars(*inputs: Any) -> None:
    """Those of the inputs that are no scalars are refused; None stands for one that need not be."""
    for place, value in enumerate(inputs):
        scalar(value, f"input {place + 1} (0-based) must have shape [], not ")


_VECTOR = "Input shape should be a vector, got shape: "


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


_STATE = resource(np.array([5, -6, 7]))
_PHILOX = np.array(PHILOX)


def _counter(state: np.ndarray) -> int:
    return int(np.uint64(state[0])) | int(np.uint64(state[1])) << 64


def _moved_on(before: np.ndarray, after: np.ndarray, blocks: int) -> bool:
    """The state is the same but for its counter, which is further by so many blocks."""
    return _counter(after) == (_counter(before) + blocks) % 2**128 and after[2] == before[2]


# ---------------------------------------------------------------------------------- numbers by shape alone


def _numbers(
    name: str, allowed: tuple[DType, ...], default: DType, numbers: Callable, cumulative: Callable
) -> Op:
    """Defines an op that draws numbers; `cumulative(x, dtype)` is the distribution that they follow."""
    op = Op(
        name,
        "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
        host="algorithm, shape",
        stateful=True,
        differentiable=None,
        dtype=default,
        shape_dtype=_SHAPE_TYPE,
    )

    @op.shape
    def _shape(resource, algorithm, shape):
        _check_scalars(None, algorithm)
        return as_sizes(shape)

    @op.kernel
    def _kernel(resource, algorithm, shape, *, dtype, device):
        _check_kernel(name, dtype, allowed)
        generator = advance(resource, algorithm, math.prod(checked_sizes(shape)))
        return to_torch(numbers(generator, shape, dtype.as_numpy_dtype), device)

    def law(state, algorithm, shape, output, after):
        return [
            output.shape == tuple(shape),
            follow(output, lambda x: cumulative(x, output.dtype)),
            _moved_on(state, after, RESERVED_PER_OUTPUT * output.size),
        ]

    op.samples(
        (_STATE, _PHILOX, np.array([2, 3])),
        (_STATE, _PHILOX, np.array([], np.int64)),
        (_STATE, _PHILOX, np.array([0], np.int32)),
        (_STATE, _PHILOX, np.array([1000])),
        *((_STATE, _PHILOX, np.array([3]), {"dtype": dtype}) for dtype in allowed if dtype is not default),
        law=law,
    )
    op.refuses((_STATE, np.array([1]), np.array([2])), "Shape must be rank 0 but is rank 1")
    op.refuses((_STATE, np.array(2), np.array([2])), "Unsupported algorithm id: 2", InvalidArgumentError)
    op.refuses((_STATE, _PHILOX, np.array(2)), "Shape must be rank 1 but is rank 0")
    op.refuses(
        (resource(np.arange(2)), _PHILOX, np.array([2])), "size of state must be", InvalidArgumentError
    )
    return op


uniform_op = _numbers(
    "StatefulUniform", FLOATS, dtypes.float32, distributions.uniform, lambda x, dtype: x.clip(0, 1)
)
normal_op = _numbers(
    "StatefulStandardNormalV2",
    FLOATS,
    dtypes.float32,
    distributions.standard_normal,
    lambda x, dtype: references.normal(x),
)
truncated_normal_op = _numbers(
    "StatefulTruncatedNormal",
    FLOATS,
    dtypes.float32,
    distributions.truncated_normal,
    lambda x, dtype: references.truncated_normal(-2, 2)(x),
)

_WHOLE = types("int32 int64 uint32 uint64")


def _share_of_range(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    lowest, highest = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    return (x - lowest) / (highest - lowest)


uniform_full_int_op = _numbers(
    "StatefulUniformFullInt", _WHOLE, dtypes.uint64, distributions.uniform_full_int, _share_of_range
)

normal_v1_op = Op(
    "StatefulStandardNormal",
    "resource: resource, shape: shape_dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=None,
    dtype=dtypes.float32,
    shape_dtype=_SHAPE_TYPE,
)

normal_v1_op.shape(lambda resource, shape: as_sizes(shape))


@normal_v1_op.kernel
def _normal_v1_kernel(resource, shape, *, dtype, device):
    _check_kernel("StatefulStandardNormal", dtype, FLOATS)
    generator = advance(resource, PHILOX, math.prod(checked_sizes(shape)))
    return to_torch(distributions.standard_normal(generator, shape, dtype.as_numpy_dtype), device)


normal_v1_op.samples(
    (_STATE, np.array([2, 3])),
    (_STATE, np.array([1000]), {"dtype": dtypes.float64}),
    law=lambda state, shape, output, after: [
        output.shape == tuple(shape),
        follow(output, references.normal),
        _moved_on(state, after, RESERVED_PER_OUTPUT * output.size),
    ],
)

# ---------------------------------------------------------------------------------- integers between bounds

uniform_int_op = Op(
    "StatefulUniformInt",
    "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    host="algorithm, shape, minval, maxval",
    stateful=True,
    differentiable=None,
    dtype=dtypes.int64,
    shape_dtype=_SHAPE_TYPE,
)


@uniform_int_op.shape
def _uniform_int_shape(resource, algorithm, shape, minval, maxval):
    _check_scalars(None, algorithm)
    scalar(minval, "minval must be 0-D, got shape ")
    scalar(maxval, "maxval must be 0-D, got shape ")
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


def _within_bounds(state, algorithm, shape, low, high, output, after):
    """All from `low` to below `high`, and on average in the middle."""
    low, high = int(low), int(high)
    return [
        (low <= output) & (output < high),
        average(output, (low + high - 1) / 2, ((high - low) ** 2 - 1) / 12) if output.ndim == 1 else True,
        _moved_on(state, after, RESERVED_PER_OUTPUT * output.size),
    ]


uniform_int_op.samples(
    (_STATE, _PHILOX, np.array([2, 3]), np.array(-4), np.array(5)),
    (_STATE, _PHILOX, np.array([0]), np.array(-4, np.int32), np.array(5, np.int32)),
    (_STATE, _PHILOX, np.array([7]), np.uint32(4), np.uint32(2**32 - 1), {"dtype": dtypes.uint32}),
    (_STATE, _PHILOX, np.array([7]), np.uint64(4), np.uint64(2**64 - 1), {"dtype": dtypes.uint64}),
    (_STATE, _PHILOX, np.array([1000]), np.array(-4), np.array(5)),
    law=_within_bounds,
)
uniform_int_op.refuses(
    (_STATE, _PHILOX, np.array([7]), np.array(4), np.array(4)), "Need minval < maxval", InvalidArgumentError
)

# ---------------------------------------------------------------------------------- binomial

_COUNTS = types("half float double int32 int64")

binomial_op = Op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    host="algorithm, shape",
    stateful=True,
    differentiable=None,
    S=INDICES,
    T=attr("type", dtypes.float64, allowed=_COUNTS),
    dtype=attr("type", dtypes.int64, allowed=_COUNTS),
)


@binomial_op.shape
def _binomial_shape(resource, algorithm, shape, counts, probs):
    scalar(algorithm, "algorithm must be of shape [], not ")
    for parameter in (counts, probs):
        if parameter.ndims is not None and parameter.ndims > 1:
            raise ShapeError(f"Shape must be at most rank 1 but is rank {parameter.ndims}")
    return as_sizes(shape, _VECTOR)


@binomial_op.kernel
def _binomial_kernel(resource, algorithm, shape, counts, probs, *, dtype):
    if not checked_sizes(shape, _VECTOR):
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


def _of_so_many(state, algorithm, shape, counts, probs, output, after):
    """From none to all, and on average the share that the probability says, row by row."""
    counts, probs = (np.broadcast_to(np.ravel(value), len(output)) for value in (counts, probs))
    rows = output.reshape(len(output), math.prod(output.shape[1:]))
    return [
        (rows >= 0) & (rows <= counts[:, None]),
        average(rows.T, counts * probs, counts * probs * (1 - probs)),
        _counter(after) >= _counter(state),
    ]


_MANY = np.array([10.0, 100.0])
binomial_op.samples(
    (_STATE, _PHILOX, np.array([2, 3]), _MANY, np.array([0.3, 0.8])),
    (_STATE, _PHILOX, np.array([2, 3]), _MANY.astype(np.float32), np.array(0.5, np.float32)),
    (_STATE, _PHILOX, np.array([4]), np.array(7), np.array(1), {"dtype": dtypes.float32}),
    (_STATE, _PHILOX, np.array([0, 2]), np.array(7.0), np.array(0.5)),
    (_STATE, _PHILOX, np.array([2, 500]), _MANY, np.array([0.3, 0.8])),
    law=_of_so_many,
)
binomial_op.refuses(
    (_STATE, _PHILOX, np.array([2]), np.ones([1, 1]), np.array(0.5)), "Shape must be at most rank 1"
)
binomial_op.refuses(
    (_STATE, _PHILOX, np.array([2]), np.ones([3]), np.array(0.5)),
    "should have length 1",
    InvalidArgumentError,
)

# ---------------------------------------------------------------------------------- skipping; random seeds

skip_op = Op(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64",
    host="algorithm, delta",
    stateful=True,
    differentiable=False,
)


@skip_op.shape
def _skip_shape(resource, algorithm, delta):
    _check_scalars(None, algorithm, delta)
    return []


@skip_op.kernel
def _skip_kernel(resource, algorithm, delta):
    _check_scalars(None, algorithm, delta)
    advance(resource, algorithm, delta)


skip_op.samples(
    (_STATE, _PHILOX, np.array(3)),
    (_STATE, _PHILOX, np.array(-3)),
    law=lambda state, algorithm, delta, after: _moved_on(
        state, after, int(delta) * RESERVED_PER_OUTPUT % 2**64
    ),
)
skip_op.refuses((_STATE, _PHILOX, np.array([3])), "Shape must be rank 0 but is rank 1")

non_deterministic_ints_op = Op(
    "NonDeterministicInts",
    "shape: shape_dtype -> output: dtype",
    host="shape",
    stateful=True,
    differentiable=None,
    dtype=dtypes.int64,
    shape_dtype=_SHAPE_TYPE,
)

non_deterministic_ints_op.shape(as_sizes)


@non_deterministic_ints_op.kernel
def _non_deterministic_ints_kernel(shape, *, dtype, device):
    _check_kernel("NonDeterministicInts", dtype, _WHOLE)
    return to_torch(
        distributions.uniform_full_int(Stream(), checked_sizes(shape), dtype.as_numpy_dtype), device
    )


# Two runs give different numbers, so the samples that are compared have none.
non_deterministic_ints_op.samples(
    (np.array([2, 0]),),
    (np.array([0]), {"dtype": dtypes.uint32}),
    law=lambda shape, output: output.shape == tuple(shape),
)
