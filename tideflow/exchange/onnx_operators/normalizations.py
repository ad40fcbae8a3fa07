"""Operators that make numbers of mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, operator, sizes_of


@operator("BatchNormalization")
def _batch_normalization(given: Given) -> Any:
    x, *numbers = given.inputs[:5]
    epsilon = given.attribute("epsilon", 1e-5)
    axes = [0, *range(2, given.rank())]
    shape = [1, -1, *[1] * (given.rank() - 2)]
    scale, offset, mean, variance = numbers
    running: tuple[Any, ...] = ()
    if given.flag("training_mode"):
        kept = given.attribute("momentum", 0.9)
        before = mean, variance
        mean, variance = tf.nn.moments(x, axes)
        running = tuple(
            kept * old + (1 - kept) * new for old, new in zip(before, (mean, variance), strict=True)
        )
    scale, offset, mean, variance = (tf.reshape(each, shape) for each in (scale, offset, mean, variance))
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon), *running


@operator("InstanceNormalization")
def _instance_normalization(given: Given) -> Any:
    x, scale, offset = given.inputs
    shape = [1, -1, *[1] * (given.rank() - 2)]
    mean, variance = tf.nn.moments(x, list(range(2, given.rank())), keep_dims=True)
    scale, offset = tf.reshape(scale, shape), tf.reshape(offset, shape)
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, given.attribute("epsilon", 1e-5))


@operator("LayerNormalization")
def _layer_normalization(given: Given) -> Any:
    x, scale = given.inputs[:2]
    axes = list(range(given.attribute("axis", -1) % given.rank(), given.rank()))
    epsilon = given.attribute("epsilon", 1e-5)
    mean, variance = tf.nn.moments(x, axes, keep_dims=True)
    made = tf.nn.batch_normalization(x, mean, variance, given.input(2), scale, epsilon)
    return made, mean, tf.rsqrt(variance + epsilon)


@operator("LRN")
def _local_response_normalization(given: Given) -> Any:
    x, size = given.inputs[0], given.attribute("size")
    alpha, beta, bias = (
        given.attribute(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    before, channels = (size - 1) // 2, sizes_of(x)[1]
    margins = [[0, 0], [before, size - 1 - before], *[[0, 0]] * (given.rank() - 2)]
    squares = tf.pad(x * x, margins)
    total = tf.add_n([squares[:, i : i + channels] for i in range(size)])
    return x / (bias + alpha / size * total) ** beta
