"""Operators that draw random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, Operator, operator, register_all

# What gives other values for the same inputs.
NAMES = ("Bernoulli", "Dropout", "Multinomial", "RandomNormalLike", "RandomUniformLike")


def _seed(given: Given) -> int | None:
    """ONNX's seeds are floats; all of their bits count."""
    seed = given.attribute("seed")
    return None if seed is None else hash(float(seed)) % (1 << 31)


def _drawn(function: Callable, first: tuple[str, float], second: tuple[str, float], like: bool) -> Operator:
    def operator(given: Given) -> Any:
        shape = tf.shape(given.inputs[0]) if like else list(given.attribute("shape"))
        dtype = given.dtype("dtype", given.inputs[0].dtype if like else tf.float32)
        limits = [given.attribute(*parameter) for parameter in (first, second)]
        return function(shape, *limits, dtype=dtype, seed=_seed(given))

    return operator


_NORMAL = tf.random_normal, ("mean", 0.0), ("scale", 1.0)
_UNIFORM = tf.random_uniform, ("low", 0.0), ("high", 1.0)
register_all(
    {
        "RandomNormal": _drawn(*_NORMAL, like=False),
        "RandomNormalLike": _drawn(*_NORMAL, like=True),
        "RandomUniform": _drawn(*_UNIFORM, like=False),
        "RandomUniformLike": _drawn(*_UNIFORM, like=True),
    }
)


@operator("Multinomial")
def _multinomial(given: Given) -> Any:
    count, dtype = given.attribute("sample_size", 1), given.dtype("dtype", tf.int32)
    return tf.cast(tf.multinomial(given.inputs[0], count, seed=_seed(given)), dtype)


@operator("Bernoulli")
def _bernoulli(given: Given) -> Any:
    x = given.inputs[0]
    drawn = tf.random_uniform(tf.shape(x), dtype=x.dtype, seed=_seed(given)) < x
    return tf.cast(drawn, given.dtype("dtype", x.dtype))
