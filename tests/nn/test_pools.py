"""Pools over one to three axes, with dilation."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.ops.nn.test_convolution import normal, run
from tests.ops.nn.test_pooling import pooled

KINDS = {"MAX": np.max, "AVG": np.mean}


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("sizes", "window", "strides"),
    [((7,), [3], [2]), ((7, 6), [2, 3], [2, 1]), ((4, 5, 3), [2, 2, 1], [1, 2, 1])],
)
def test_pool(sizes, window, strides, kind, padding):
    image = normal(2, *sizes, 3, dtype=np.float32)
    found = run(tf.nn.pool(image, window, kind, padding, strides=strides))
    np.testing.assert_allclose(found, pooled(image, window, strides, padding, KINDS[kind]), rtol=1e-5)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize(
    ("shape", "window", "stride"), [((4, 65, 66, 3), 3, 2), ((4, 34, 33, 16), 2, 2), ((2, 20, 20, 64), 2, 3)]
)
def test_a_maximum_of_many_elements(shape, window, stride, data_format):
    """Beside NaN it is the maximum of the numbers, as it is of few elements."""
    image = normal(*shape, dtype=np.float32)
    image[1, :5, :5] = np.nan
    image[0, 7, 7] = np.nan
    fed = image if data_format == "NHWC" else image.transpose(0, 3, 1, 2)
    found = run(tf.nn.max_pool2d(fed, window, stride, "VALID", data_format))
    found = found if data_format == "NHWC" else found.transpose(0, 2, 3, 1)
    expected = pooled(image, [window] * 2, [stride] * 2, "VALID", np.fmax.reduce)
    np.testing.assert_array_equal(found, expected)


def test_dilation():
    image = normal(1, 7, 7, 2, dtype=np.float32)
    found = run(tf.nn.pool(image, [2, 2], "MAX", "VALID", dilation_rate=[2, 3]))
    corners = [image[:, i : i + 5, j : j + 4] for i in (0, 2) for j in (0, 3)]
    np.testing.assert_array_equal(found, np.max(corners, 0))


def test_one_axis_and_any_rank():
    rows, image = normal(2, 7, 3, dtype=np.float32), normal(2, 5, 6, 3, dtype=np.float32)
    for one, any_rank, combine in (
        (tf.nn.max_pool1d, tf.nn.max_pool_v2, np.max),
        (tf.nn.avg_pool1d, tf.nn.avg_pool_v2, np.mean),
    ):
        expected = pooled(rows, [2], [2], "SAME", combine)
        first = one(rows.transpose(0, 2, 1), 2, 2, "SAME", data_format="NCW")
        for found in (
            run(one(rows, 2, 2, "SAME")),
            run(first).transpose(0, 2, 1),
            run(any_rank(rows, 2, 2, "SAME")),
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        np.testing.assert_allclose(
            run(any_rank(image, 2, 2, "VALID")), pooled(image, [2, 2], [2, 2], "VALID", combine), rtol=1e-6
        )


def test_arguments():
    image = normal(1, 5, 5, 2, dtype=np.float32)
    with pytest.raises(ValueError, match="SAME padding is not implemented for dilation_rate > 1"):
        tf.nn.pool(image, [2, 2], "MAX", "SAME", dilation_rate=[2, 2])
    with pytest.raises(ValueError, match="strides > window_shape not supported"):
        tf.nn.pool(image, [2, 2], "MAX", "SAME", strides=[3, 1])
    with pytest.raises(ValueError, match="2-D MEDIAN pooling is not supported"):
        tf.nn.pool(image, [2, 2], "MEDIAN", "SAME")
