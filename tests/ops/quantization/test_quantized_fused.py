"""Fused quantized layers: each stands for the layer of the numbers that its integers stand for."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf

LEVELS = {"quint8": 255, "qint8": 127, "qint32": 2**31 - 1}


def integers(kind: str, *shape: int, seed: int = 0) -> np.ndarray:
    low = 0 if kind == "quint8" else -127
    return np.random.default_rng(seed).integers(low, LEVELS[kind] + 1, shape)


def tensor(numbers: np.ndarray, kind: str) -> tf.Tensor:
    dtype = tf.as_dtype(kind)
    return tf.constant(np.asarray(numbers, dtype.numpy), dtype)


def numbers(values: np.ndarray, kind: str, reach) -> np.ndarray:
    """What integers stand for in a symmetric range."""
    return values * (np.asarray(reach) / LEVELS[kind])


def convolution(x: np.ndarray, w: np.ndarray, stride: int, depthwise: bool) -> np.ndarray:
    """A VALID convolution, place by place."""
    height, width = w.shape[:2]
    rows = range(0, x.shape[1] - height + 1, stride)
    columns = range(0, x.shape[2] - width + 1, stride)
    rule = "bhwc,hwcm->bcm" if depthwise else "bhwc,hwco->bo"
    found = [
        [np.einsum(rule, x[:, i : i + height, j : j + width], w).reshape(len(x), -1) for j in columns]
        for i in rows
    ]
    return np.moveaxis(np.array(found), 2, 0)


def run(op: str, **arguments) -> list[np.ndarray]:
    with tf.Session() as session:
        return session.run(list(getattr(tf.raw_ops, op)(**arguments)))


OPS = [
    "QuantizedConv2DAndRelu",
    "QuantizedConv2DAndRequantize",
    "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DPerChannel",
    "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu",
    "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu",
    "QuantizedConv2DWithBiasSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedDepthwiseConv2D",
    "QuantizedDepthwiseConv2DWithBias",
    "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
]


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("reach", [1.5, [1.0, 2.0, 0.5]], ids=["one range", "a range each"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kind", ["quint8", "qint8"])
@pytest.mark.parametrize("op", OPS)
def test_convolution(op, kind, stride, reach):
    depthwise, requantized = "Depthwise" in op, op.endswith("Requantize")
    image, filter = integers(kind, 2, 5, 6, 3), integers("qint8", 2, 3, 3, 1 if depthwise else 3, seed=1)
    arguments = {
        "input": tensor(image, kind),
        "filter": tensor(filter, "qint8"),
        "min_input": 0.0 if kind == "quint8" else -6.0,
        "max_input": 6.0,
        "min_filter": (-np.asarray(reach, np.float32)),
        "max_filter": np.asarray(reach, np.float32),
    }
    weights = numbers(filter, "qint8", np.asarray(reach)[:, None] if depthwise and np.ndim(reach) else reach)
    wanted = convolution(numbers(image, kind, 6.0), weights, stride, depthwise)
    if "WithBias" in op:
        bias = arguments["bias"] = np.array([0.7, -1.3, 2.1], np.float32)
        wanted = wanted + bias
    if "Sum" in op and requantized:
        summand_kind = "qint8" if "Signed" in op else "quint8"
        summand = integers(summand_kind, *wanted.shape, seed=2)
        low = -5.0 if "Signed" in op else 0.0
        arguments |= {"summand": tensor(summand, summand_kind), "min_summand": low, "max_summand": 5.0}
        wanted = wanted + numbers(summand, summand_kind, 5.0)
    elif "Sum" in op:
        summand = arguments["summand"] = np.cos(np.arange(wanted.size)).reshape(wanted.shape).astype("f")
        wanted = wanted + summand
    if "Relu" in op:
        wanted = np.maximum(wanted, 0)
    out_kind = "qint32" if not requantized else "qint8" if op.endswith("BiasAndRequantize") else "quint8"
    out_kind = "qint8" if op == "QuantizedConv2DAndRequantize" else out_kind
    if requantized:
        arguments |= {"min_freezed_output": -20.0, "max_freezed_output": 25.0}

    found, low, high = run(op, strides=[1, stride, stride, 1], padding="VALID", **arguments)

    unit = np.maximum(np.abs(low), np.abs(high)) / (2.0**31 if out_kind == "qint32" else LEVELS[out_kind])
    if requantized:
        assert (low, high) == (-20.0, 25.0)
        wanted = np.clip(wanted, (0 if out_kind == "quint8" else -128) * unit, LEVELS[out_kind] * unit)
    assert found.dtype == tf.as_dtype(out_kind).numpy
    assert np.shape(low) == (np.shape(reach) if not requantized else ())
    np.testing.assert_allclose(found * unit, wanted, atol=1.1 * np.max(unit))


def test_padding_list_is_explicit_padding():
    image, filter = integers("quint8", 1, 4, 4, 2), integers("qint8", 3, 3, 2, 2, seed=1)
    arguments = {
        "input": tensor(image, "quint8"),
        "filter": tensor(filter, "qint8"),
        "min_input": 0.0,
        "max_input": 6.0,
        "min_filter": -1.0,
        "max_filter": 1.0,
        "bias": np.zeros(2, np.float32),
        "strides": [1, 1, 1, 1],
    }
    padded = run(
        "QuantizedConv2DWithBias", padding="VALID", padding_list=[0, 0, 1, 1, 1, 1, 0, 0], **arguments
    )
    same = run("QuantizedConv2DWithBias", padding="SAME", **arguments)
    np.testing.assert_array_equal(padded[0], same[0])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("mode", "low"), [("SCALED", 0.0), ("MIN_FIRST", 0.0), ("MIN_FIRST", -2.0)])
@pytest.mark.parametrize("suffix", ["", "AndRelu", "AndReluAndRequantize"])
def test_product(suffix, mode, low, transposed):
    a, b = integers("quint8", 3, 4), integers("qint8", 4, 5, seed=1)
    bias = np.array([0.5, -1.0, 2.0, 0.0, -3.0], np.float32)
    arguments = {
        "a": tensor(a.T if transposed else a, "quint8"),
        "b": tensor(b.T if transposed else b, "qint8"),
        "bias": bias,
        "min_a": low,
        "max_a": 6.0,
        "min_b": -1.0,
        "max_b": 1.0,
    }
    left = a * ((6.0 - low) / 255) + low if mode == "MIN_FIRST" else numbers(a, "quint8", 6.0)
    wanted = left @ numbers(b, "qint8", 1.0) + bias
    wanted = np.maximum(wanted, 0) if "Relu" in suffix else wanted
    if "Requantize" in suffix:
        arguments |= {"min_freezed_output": 0.0, "max_freezed_output": 9.0}

    found, _, high = run(
        f"QuantizedMatMulWithBias{suffix}",
        input_quant_mode=mode,
        transpose_a=transposed,
        transpose_b=transposed,
        **arguments,
    )

    unit = high / (255 if "Requantize" in suffix else 2.0**31)
    wanted = np.minimum(wanted, 9.0) if "Requantize" in suffix else wanted
    np.testing.assert_allclose(found * unit, wanted, atol=1.1 * unit)


def test_a_bias_of_integers_is_in_units_of_the_product():
    a, b, bias = integers("quint8", 3, 4), integers("qint8", 4, 5, seed=1), np.arange(5) * 1000
    ranges = {"min_a": 0.0, "max_a": 6.0, "min_b": -1.0, "max_b": 1.0}
    found = run(
        "QuantizedMatMulWithBias",
        a=tensor(a, "quint8"),
        b=tensor(b, "qint8"),
        bias=tensor(bias, "qint32"),
        **ranges,
    )[0]
    np.testing.assert_array_equal(found, a @ b + bias)
