"""Draws from logits and probabilities, with the operations that keep TensorFlow's random streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import as_shape
from tideflow.ops.arrays import joining, shapes, tiling
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.random import choices, distributions


def bernoulli_sample(
    probs: Tensor, dtype: Any = dtypes.int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """One (or True) with probability `probs`, else zero."""
    batch_shape = shapes.shape(probs)

    def draw(count: Tensor) -> Tensor:
        sizes = joining.concat([[count], batch_shape], 0)
        uniform = distributions.random_uniform(sizes, seed=seed, dtype=probs.dtype)
        return casting.cast(binary.less(uniform, probs), dtype)

    return _drawn(draw, sample_shape)


def categorical_sample(
    logits: Any, dtype: Any = dtypes.int32, sample_shape: Any = (), seed: int | None = None
) -> Tensor:
    """A class of each row, by the logits of its classes."""
    logits = convert_to_tensor(logits, name="logits")
    classes = shapes.shape(logits)[-1]
    batch_shape = shapes.shape(logits)[:-1]

    def draw(count: Tensor) -> Tensor:
        rows = logits if logits.shape.ndims == 2 else shapes.reshape(logits, [-1, classes])
        wide = dtypes.int64 if logits.dtype.size > 4 else dtypes.int32
        draws = choices.multinomial(rows, count, seed=seed, output_dtype=wide)
        draws = shapes.reshape(shapes.transpose(draws), joining.concat([[count], batch_shape], 0))
        return casting.cast(draws, dtype)

    return _drawn(draw, sample_shape)


def _drawn(draw: Callable, sample_shape: Any) -> Tensor:
    """As many draws as `sample_shape` means, in that shape."""
    with name_scope("call_sampler"):
        sample_shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
        is_scalar = casting.cast(binary.equal(shapes.rank(sample_shape), 0), dtypes.int32)
        vector = tiling.pad(shapes.shape(sample_shape), paddings=[[is_scalar, 0]], constant_values=1)
        sizes = shapes.reshape(sample_shape, vector)
        count = 1 if sample_shape.shape.ndims == 0 else sample_shape.shape.num_elements()
        sizes.set_shape([count])
        samples = draw(reductions.reduce_prod(sizes))
        rest = shapes.shape(samples)[1:]
        result = shapes.reshape(samples, joining.concat([sizes, rest], 0))
        result.set_shape(as_shape(None if count is None else [None] * count).concatenate(samples.shape[1:]))
        return result
