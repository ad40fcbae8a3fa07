"""Fourier transforms, and what stands around them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tideflow as tf
from tideflow.exchange.onnx_operators.registry import Given, as_int32_scalar, operator, rank_of, sizes_of


def _complex(x: Any) -> Any:
    """Numbers whose last axis has their real part, and may have their imaginary part."""
    parts = x.shape.as_list()[-1]
    if parts is None:
        raise ValueError("the size of the last axis must be known")
    return tf.complex(x[..., 0], x[..., 1] if parts == 2 else tf.zeros_like(x[..., 0]))


def _parts(x: Any) -> Any:
    return tf.stack([tf.real(x), tf.imag(x)], -1)


@operator("DFT")
def _dft(given: Given) -> Any:
    x, length = given.inputs[0], given.input(1)
    axis = given.numbers("axis", 2) if given.opset >= 20 else given.numbers("axis", 99)
    default = -2 if given.opset >= 20 else 1
    numbers = _complex(x)
    axis = (axis[0] if axis else default) % given.rank()
    order = [*(i for i in range(given.rank() - 1) if i != axis), axis]
    turned = tf.transpose(numbers, order)
    inverse, onesided = given.flag("inverse"), given.flag("onesided")
    if length is not None:
        full = as_int32_scalar(length)
        turned = _fitted(turned, full // 2 + 1 if inverse and onesided else full)
    if inverse and onesided:
        made = tf.signal.irfft(turned, None if length is None else [as_int32_scalar(length)])
        return tf.transpose(made, [order.index(i) for i in range(len(order))])[..., None]
    found = (tf.signal.ifft if inverse else tf.signal.fft)(turned)
    if onesided:
        found = found[..., : tf.shape(turned)[-1] // 2 + 1]
    return _parts(tf.transpose(found, [order.index(i) for i in range(len(order))]))


def _fitted(x: Any, length: Any) -> Any:
    """The last axis cut, or with zeros after it."""
    rank = rank_of(x)
    cut = x[..., :length]
    missing = tf.maximum(0, length - tf.shape(cut)[-1])
    return tf.pad(cut, [*[[0, 0]] * (rank - 1), [0, missing]])


@operator("STFT")
def _stft(given: Given) -> Any:
    x, step, window, length = given.inputs[0], given.inputs[1], given.input(2), given.input(3)
    length = sizes_of(window)[0] if length is None else as_int32_scalar(length)
    known = given.array(3)
    length = int(known) if known is not None else length
    onesided = given.flag("onesided", True)
    signal = _complex(x) if x.shape.as_list()[-1] == 2 else tf.complex(x[..., 0], tf.zeros_like(x[..., 0]))
    frames = tf.signal.frame(signal, length, as_int32_scalar(step))
    if window is not None:
        frames *= tf.complex(window, tf.zeros_like(window))
    found = tf.signal.fft(frames)
    return _parts(found[..., : length // 2 + 1] if onesided else found)


@operator("MelWeightMatrix")
def _mel_weight_matrix(given: Given) -> Any:
    """Triangles over the bins of a spectrum, as wide as ears tell pitches apart."""
    bands, length, rate, low, high = (given.array(i) for i in range(5))
    if any(each is None for each in (bands, length, rate, low, high)):
        raise ValueError("its inputs must be constants")
    bins = int(length) // 2 + 1
    limits = 2595 * np.log10(1 + np.array([float(low), float(high)]) / 700)
    marks = limits[0] + np.arange(int(bands) + 2) * (limits[1] - limits[0]) / (int(bands) + 2)
    hertz = 700 * (10 ** (marks / 2595) - 1)
    edges = np.floor((int(length) + 1) * hertz / int(rate)).astype(int)
    weights = np.zeros([bins, int(bands)])
    for band in range(int(bands)):
        first, top, last = edges[band : band + 3]
        weights[first : top + 1, band] = (
            1.0 if first == top else (np.arange(first, top + 1) - first) / (top - first)
        )
        if top < last:
            weights[top:last, band] = (last - np.arange(top, last)) / (last - top)
    return weights.astype((given.dtype("output_datatype") or tf.float32).as_numpy_dtype)
