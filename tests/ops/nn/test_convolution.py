"""Convolutions against sums written out, over paddings, strides, dilations, formats and types."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tideflow as tf
from tideflow.graph.op import definition

RNG = np.random.default_rng(0)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def normal(*sizes, dtype=np.float64):
    return RNG.standard_normal(sizes).astype(dtype)


def margins(sizes, window, strides, dilations, padding):
    """TensorFlow's rule for SAME: what is missing is shared out, the odd one after."""
    if not isinstance(padding, str):
        return [tuple(pair) for pair in padding[1:-1]]
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    pairs = []
    for size, width, stride, dilation in zip(sizes, window, strides, dilations, strict=True):
        places = -(-size // stride)
        missing = max((places - 1) * stride + (width - 1) * dilation + 1 - size, 0)
        pairs.append((missing // 2, missing - missing // 2))
    return pairs


def convolved(image, filter, strides, dilations, padding):
    """The convolution of [batch, spatial..., in] by [spatial..., in, out], one element of it at a time."""
    window = filter.shape[:-2]
    pairs = margins(image.shape[1:-1], window, strides, dilations, padding)
    image = np.pad(image, [(0, 0), *pairs, (0, 0)])
    places = [
        (size - (width - 1) * dilation - 1) // stride + 1
        for size, width, stride, dilation in zip(image.shape[1:-1], window, strides, dilations, strict=True)
    ]
    result = np.zeros([len(image), *places, filter.shape[-1]])
    for offset in itertools.product(*map(range, window)):
        part = [
            slice(o * dilation, o * dilation + (n - 1) * stride + 1, stride)
            for o, dilation, n, stride in zip(offset, dilations, places, strides, strict=True)
        ]
        result += image[(slice(None), *part)] @ filter[offset]
    return result


CASES = [
    (sizes, window, stride, dilation, padding)
    for sizes, window in (((5, 5), (3, 3)), ((6, 4), (2, 3)), ((7, 6), (1, 4)))
    for stride, dilation in ((1, 1), (2, 1), (3, 1), (1, 2))
    for padding in ("SAME", "VALID", [[0, 0], [1, 2], [3, 0], [0, 0]])
    if padding != "VALID" or all((k - 1) * dilation < n for k, n in zip(window, sizes, strict=True))
]


@pytest.mark.parametrize(("sizes", "window", "stride", "dilation", "padding"), CASES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_conv2d_and_its_gradients(sizes, window, stride, dilation, padding, known):
    image, filter = normal(2, *sizes, 3), normal(*window, 3, 4)
    x = tf.placeholder(tf.float64, image.shape if known else None)
    w = tf.placeholder(tf.float64, filter.shape if known else None)
    y = tf.nn.conv2d(x, w, stride, padding, dilations=dilation)
    expected = convolved(image, filter, [stride] * 2, [dilation] * 2, padding)
    grad = normal(*expected.shape)
    found, by_x, by_w = run([y, *tf.gradients(y, [x, w], grad)], {x: image, w: filter})
    np.testing.assert_allclose(found, expected, atol=1e-10)
    # The convolution is linear: <gradient, direction> is the value of the convolution of the direction.
    for found, direction, moved in (
        (by_x, normal(*image.shape), lambda d: convolved(d, filter, [stride] * 2, [dilation] * 2, padding)),
        (by_w, normal(*filter.shape), lambda d: convolved(image, d, [stride] * 2, [dilation] * 2, padding)),
    ):
        assert found.shape == direction.shape
        np.testing.assert_allclose((found * direction).sum(), (moved(direction) * grad).sum(), atol=1e-9)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_channels_first_is_the_transposed(padding):
    image, filter = normal(2, 6, 5, 3), normal(3, 2, 3, 4)
    last = tf.nn.conv2d(image, filter, [1, 2, 1, 1], padding)
    first = tf.nn.conv2d(image.transpose(0, 3, 1, 2), filter, [1, 1, 2, 1], padding, data_format="NCHW")
    a, b = run([last, first])
    np.testing.assert_allclose(a, b.transpose(0, 2, 3, 1), atol=1e-10)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv3d(padding):
    image, filter = normal(1, 4, 5, 4, 2), normal(2, 3, 2, 2, 3)
    found = run(tf.nn.conv3d(image, filter, [1, 2, 1, 1, 1], padding))
    np.testing.assert_allclose(found, convolved(image, filter, [2, 1, 1], [1, 1, 1], padding), atol=1e-10)


def test_depthwise_is_a_convolution_of_each_channel():
    image, filter = normal(2, 5, 6, 3), normal(3, 2, 3, 2)
    found = run(tf.nn.depthwise_conv2d_native(image, filter, [1, 2, 2, 1], "SAME"))
    each = [
        convolved(image[..., c : c + 1], filter[:, :, c : c + 1], [2, 2], [1, 1], "SAME") for c in range(3)
    ]
    np.testing.assert_allclose(found, np.concatenate(each, -1), atol=1e-10)


def test_groups():
    """A filter that takes fewer channels than the image has is for groups of them."""
    image, filter = normal(1, 4, 4, 4), normal(3, 3, 2, 6)
    found = run(tf.nn.conv2d(image, filter, 1, "SAME"))
    halves = [
        convolved(image[..., 2 * g : 2 * g + 2], filter[..., 3 * g : 3 * g + 3], [1, 1], [1, 1], "SAME")
        for g in (0, 1)
    ]
    np.testing.assert_allclose(found, np.concatenate(halves, -1), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_types(dtype):
    image, filter = RNG.integers(-3, 4, (1, 4, 4, 2)), RNG.integers(-3, 4, (2, 2, 2, 2))
    found = run(tf.nn.conv2d(image.astype(dtype), filter.astype(dtype), 1, "SAME"))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, convolved(image, filter, [1, 1], [1, 1], "SAME"))
    back = run(tf.nn.conv2d_backprop_input(image.shape, filter.astype(dtype), found, [1] * 4, "SAME"))
    assert back.dtype == dtype


@pytest.mark.parametrize("shape", [(0, 4, 4, 2), (1, 0, 4, 2)])
def test_empty_images(shape):
    image, filter = np.zeros(shape, np.float32), normal(3, 3, 2, 5, dtype=np.float32)
    x, w = tf.placeholder(tf.float32, shape), tf.placeholder(tf.float32, filter.shape)
    y = tf.nn.conv2d(x, w, 1, "SAME")
    found, by_x, by_w = run([y, *tf.gradients(y, [x, w])], {x: image, w: filter})
    assert found.shape == (*shape[:3], 5)
    assert by_x.shape == shape
    assert not by_w.any()


def test_results_are_channels_last_in_memory():
    """So that the next convolution takes them as they are, even where an axis of size 1 leaves it open."""
    for depth, count in ((1, 4), (4, 1), (3, 3)):
        x = tf.placeholder(tf.float32, [2, 6, 6, depth])
        kernel = definition("Conv2D").kernels[""]
        node = tf.nn.conv2d(x, normal(3, 3, depth, count, dtype=np.float32), 1, "SAME").op
        result = kernel(torch.rand(2, 6, 6, depth), torch.rand(3, 3, depth, count), node=node)
        assert result.is_contiguous()


def test_a_gradient_of_another_size_is_refused():
    grad = tf.placeholder(tf.float32)
    back = tf.nn.conv2d_backprop_input([1, 5, 5, 2], np.ones((3, 3, 2, 1), np.float32), grad, [1] * 4, "SAME")
    with pytest.raises(tf.errors.InvalidArgumentError, match="actual = 4, computed = 5 along spatial axis 0"):
        run(back, {grad: np.zeros((1, 4, 5, 1))})


def test_arguments():
    image, filter = normal(1, 4, 4, 1), normal(2, 2, 1, 1)
    with pytest.raises(ValueError, match="Cannot specify both 'filter' and 'filters'"):
        tf.nn.conv2d(image, filter, 1, "SAME", filters=filter)
    with pytest.raises(ValueError, match="strides should be of length 1, 2 or 4 but was 3"):
        tf.nn.conv2d(image, filter, [1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="must be a list"):
        tf.nn.conv2d(image, filter, 1, "EXPLICIT")
    with pytest.raises(ValueError, match="list/tuple of size 2"):
        tf.nn.conv2d(image, filter, 1, [[0, 0], [1], [1, 1], [0, 0]])
    over_images = tf.nn.conv2d(image, filter, [2, 1, 1, 1], "SAME")
    over_channels = tf.nn.conv2d(image, filter, 1, "SAME", dilations=[1, 1, 1, 2])
    for refused, name in ((over_images, "strides"), (over_channels, "dilations")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} in the batch and depth dimension"):
            run(refused)
    with pytest.raises(ValueError, match="Dilation rate must be >= 1, but got 0"):
        tf.nn.conv2d(image, filter, 1, "SAME", dilations=[1, 0, 1, 1])
    op = tf.nn.conv2d(image, filter, 2, [[0, 0], [1, 2], [0, 1], [0, 0]]).op
    assert op.get_attr("padding") == b"EXPLICIT"
    assert op.get_attr("explicit_paddings") == [0, 0, 1, 2, 0, 1, 0, 0]
    assert op.get_attr("strides") == [1, 2, 2, 1]
