"""Convolutions of any rank against sums written out; the graphs that TensorFlow makes of dilation."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.nn.test_convolution import convolved, normal, run


def types_in(tensor):
    return {op.type for op in tensor.graph.get_operations()}


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("sizes", "rates"), [((9,), [2]), ((9, 8), [2, 2]), ((9, 8), [1, 3]), ((5, 6, 5), [2, 1, 2])]
)
def test_dilation(sizes, rates, padding):
    image, filter = normal(2, *sizes, 3), normal(*[3] * len(sizes), 3, 2)
    with tf.Graph().as_default():
        y = tf.nn.convolution(tf.constant(image), tf.constant(filter), padding, dilation_rate=rates)
        assert {"SpaceToBatchND", "BatchToSpaceND"} <= types_in(y)
        expected = convolved(image, filter, [1] * len(sizes), rates, padding)
        assert y.shape.as_list() == list(expected.shape)
        np.testing.assert_allclose(run(y), expected, atol=1e-10)


def test_dilation_of_images_of_unknown_size():
    image, filter = normal(2, 9, 7, 3), normal(3, 3, 3, 2)
    x = tf.placeholder(tf.float64, [None, None, None, 3])
    y = tf.nn.convolution(x, tf.constant(filter), "SAME", dilation_rate=[2, 3])
    np.testing.assert_allclose(
        run(y, {x: image}), convolved(image, filter, [1, 1], [2, 3], "SAME"), atol=1e-10
    )


def test_without_dilation_it_is_one_op():
    with tf.Graph().as_default():
        y = tf.nn.convolution(
            tf.constant(normal(1, 5, 5, 1)), tf.constant(normal(2, 2, 1, 1)), "SAME", strides=[2, 1]
        )
        assert y.op.type == "Conv2D" and y.op.name == "convolution"
        assert types_in(y) == {"Const", "Conv2D"}


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_dilation_in_both_formats(data_format):
    image, filter = normal(2, 7, 6, 3), normal(3, 2, 3, 4)
    given = image if data_format == "NHWC" else image.transpose(0, 3, 1, 2)
    found = run(
        tf.nn.convolution(tf.constant(given), filter, "SAME", dilation_rate=[2, 2], data_format=data_format)
    )
    found = found if data_format == "NHWC" else found.transpose(0, 2, 3, 1)
    np.testing.assert_allclose(found, convolved(image, filter, [1, 1], [2, 2], "SAME"), atol=1e-10)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_one_axis(padding):
    rows, filter = normal(2, 9, 3), normal(4, 3, 2)
    last = tf.nn.conv1d(rows, filter, 2, padding)
    first = tf.nn.conv1d(rows.transpose(0, 2, 1), filter, 2, padding, data_format="NCW")
    expected = convolved(rows, filter, [2], [1], padding)
    np.testing.assert_allclose(run(last), expected, atol=1e-10)
    np.testing.assert_allclose(run(first).transpose(0, 2, 1), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("function", "sizes", "output"),
    [
        (tf.nn.conv1d_transpose, (5,), (9,)),
        (tf.nn.conv2d_transpose, (5, 4), (10, 7)),
        (tf.nn.conv3d_transpose, (2, 3, 2), (4, 5, 3)),
    ],
)
def test_transposed(function, sizes, output):
    """<transposed(y), x> = <y, convolved(x)>."""
    rank = len(sizes)
    filter, small, large = normal(*[3] * rank, 2, 4), normal(1, *sizes, 4), normal(1, *output, 2)
    found = run(function(small, filter, [1, *output, 2], [2] * rank))
    forward = convolved(large, filter, [2] * rank, [1] * rank, "SAME")
    np.testing.assert_allclose((found * large).sum(), (small * forward).sum(), atol=1e-9)
    same = run(tf.nn.conv_transpose(small, filter, [1, *output, 2], [2] * rank))
    np.testing.assert_allclose(same, found)


@pytest.mark.parametrize(("padding", "output"), [("SAME", 9), ("VALID", 13)])
def test_transposed_with_dilation(padding, output):
    filter, small, large = normal(3, 3, 2, 4), normal(1, 9, 9, 4), normal(1, output, output, 2)
    found = run(tf.nn.atrous_conv2d_transpose(small, filter, [1, output, output, 2], 2, padding))
    forward = run(tf.nn.atrous_conv2d(tf.constant(large), tf.constant(filter), 2, padding))
    np.testing.assert_allclose((found * large).sum(), (small * forward).sum(), atol=1e-9)


@pytest.mark.parametrize("rate", [None, [2, 1]])
def test_separable(rate):
    image, depthwise, pointwise = normal(2, 7, 6, 3), normal(3, 3, 3, 2), normal(1, 1, 6, 4)
    found = run(tf.nn.separable_conv2d(image, depthwise, pointwise, [1, 1, 1, 1], "SAME", rate=rate))
    full = np.zeros((3, 3, 3, 6))
    for c in range(3):
        full[:, :, c, 2 * c : 2 * c + 2] = depthwise[:, :, c]
    apart = convolved(image, full, [1, 1], rate or [1, 1], "SAME")
    np.testing.assert_allclose(found, apart @ pointwise[0, 0], atol=1e-10)
    np.testing.assert_allclose(
        run(tf.nn.depthwise_conv2d(image, depthwise, [1] * 4, "SAME", rate)), apart, atol=1e-10
    )


def test_arguments():
    image, filter = tf.constant(normal(1, 5, 5, 2)), tf.constant(normal(2, 2, 3, 1))
    with pytest.raises(ValueError, match="does not match corresponding dimension of filter, 2 != 3"):
        tf.nn.convolution(image, filter, "SAME", dilation_rate=[2, 2])
    with pytest.raises(ValueError, match="not supported in conjunction with dilation_rate"):
        tf.nn.convolution(
            image, tf.constant(normal(2, 2, 2, 1)), "SAME", strides=[2, 2], dilation_rate=[2, 2]
        )
    with pytest.raises(ValueError, match="must be of rank 3, 4 or 5"):
        tf.nn.convolution(tf.constant(normal(2, 2)), tf.constant(normal(2, 2)), "SAME")
    with pytest.raises(ValueError, match='data_format must be "NWC" or "NCW"'):
        tf.nn.conv1d(normal(1, 5, 2), normal(2, 2, 1), 1, "SAME", data_format="CWN")
