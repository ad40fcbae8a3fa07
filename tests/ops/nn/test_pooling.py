"""Pools against windows written out, over paddings, strides, formats and types."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tideflow as tf
from tests.ops.nn.test_convolution import margins
from tideflow.ops.nn import pool_kernels

RNG = np.random.default_rng(0)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def pooled(image, window, strides, padding, combine):
    """`combine` of what each window covers of the image."""
    sizes = image.shape[1:-1]
    pairs = margins(sizes, window, strides, [1] * len(window), padding)
    places = [
        -(-size // stride) if padding == "SAME" else (size + sum(pair) - width) // stride + 1
        for size, width, stride, pair in zip(sizes, window, strides, pairs, strict=True)
    ]
    result = np.zeros([len(image), *places, image.shape[-1]])
    for place in itertools.product(*map(range, places)):
        corner = [p * stride - before for p, stride, (before, _) in zip(place, strides, pairs, strict=True)]
        covered = [slice(max(c, 0), max(c + k, 0)) for c, k in zip(corner, window, strict=True)]
        part = image[(slice(None), *covered)]
        result[(slice(None), *place)] = combine(part.reshape(len(image), -1, image.shape[-1]), 1)
    return result


CASES = [
    (sizes, window, strides, padding)
    for sizes in ((5, 5), (6, 4), (1, 3))
    for window in ((2, 2), (3, 2), (1, 4), (5, 1))
    for strides in ((1, 1), (2, 2), (3, 1))
    for padding in ("SAME", "VALID")
    if padding == "SAME" or all(k <= n for k, n in zip(window, sizes, strict=True))
]


@pytest.mark.parametrize(("sizes", "window", "strides", "padding"), CASES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_pools_and_their_gradients(sizes, window, strides, padding, known):
    image = RNG.permutation(2 * np.prod(sizes) * 2).reshape(2, *sizes, 2).astype(np.float64)
    x = tf.placeholder(tf.float64, image.shape if known else None)
    step = RNG.uniform(-0.1, 0.1, image.shape)
    for function, combine in ((tf.nn.max_pool, np.max), (tf.nn.avg_pool, np.mean)):
        y = function(x, [1, *window, 1], [1, *strides, 1], padding)
        expected = pooled(image, window, strides, padding, combine)
        grad = RNG.standard_normal(expected.shape)
        found, by_x = run([y, tf.gradients(y, x, grad)[0]], {x: image})
        np.testing.assert_allclose(found, expected)
        change = pooled(image + step, window, strides, padding, combine) - expected
        np.testing.assert_allclose((by_x * step).sum(), (change * grad).sum(), atol=1e-9)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_volumes(padding):
    image = RNG.permutation(120).reshape(1, 3, 4, 5, 2).astype(np.float32)
    for function, combine in ((tf.nn.max_pool3d, np.max), (tf.nn.avg_pool3d, np.mean)):
        found = run(function(image, [1, 2, 3, 2, 1], [1, 1, 2, 2, 1], padding))
        np.testing.assert_allclose(found, pooled(image, (2, 3, 2), (1, 2, 2), padding, combine), rtol=1e-6)


def test_channels_first_is_the_transposed():
    image = RNG.standard_normal((2, 5, 4, 3))
    for function in (tf.nn.max_pool, tf.nn.avg_pool):
        last = function(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        first = function(image.transpose(0, 3, 1, 2), [1, 1, 2, 2], [1, 1, 2, 2], "SAME", data_format="NCHW")
        a, b = run([last, first])
        np.testing.assert_allclose(a, b.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "int8", "uint16", "float16", "float64"])
def test_maximum_of_any_type(dtype):
    image = RNG.integers(0, 100, (1, 5, 5, 2)).astype(dtype)
    found = run(tf.nn.max_pool(tf.constant(image), 2, 1, "SAME"))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, pooled(image, (2, 2), (1, 1), "SAME", np.max))


@pytest.mark.parametrize("dtype", ["int32", "uint16", "uint32", "uint64"])
def test_gradients_of_integers(dtype):
    image = RNG.permutation(25).reshape(1, 5, 5, 1).astype(dtype)
    top = pooled(image, (3, 3), (2, 2), "VALID", np.max).astype(dtype)
    x, y, grad = tf.constant(image), tf.constant(top), tf.constant(np.full(top.shape, 7, dtype))
    attrs = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    back = run(tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=y, grad=grad, **attrs))
    assert back.dtype == dtype
    assert back.sum() == 7 * top.size
    again = run(tf.raw_ops.MaxPoolGradGrad(orig_input=x, orig_output=y, grad=x, **attrs))
    np.testing.assert_array_equal(again, top)


def test_order_of_large_unsigned():
    image = np.array([1, 2**63 + 5, 2**64 - 1, 3], np.uint64).reshape(1, 2, 2, 1)
    values, places = run(tf.nn.max_pool_with_argmax(image, [1, 2, 1, 1], [1, 2, 1, 1], "VALID"))
    assert values.ravel().tolist() == [2**64 - 1, 2**63 + 5]
    assert places.ravel().tolist() == [2, 1]


def test_the_first_of_equal_maxima_takes_the_gradient():
    x = tf.constant(np.ones((1, 2, 2, 1)))
    assert run(tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0]).ravel().tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("include_batch", [False, True])
def test_places_are_those_of_the_flat_image(include_batch):
    image = RNG.standard_normal((2, 5, 4, 3)).astype(np.float32)
    values, places = run(
        tf.nn.max_pool_with_argmax(
            image, [1, 2, 2, 1], [1, 1, 2, 1], "SAME", include_batch_in_index=include_batch
        )
    )
    flat = image.reshape(-1) if include_batch else image.reshape(2, -1)
    taken = flat[places] if include_batch else np.stack([flat[b][places[b]] for b in range(2)])
    np.testing.assert_array_equal(taken, values)


def test_explicit_paddings():
    image = -np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5, 1)
    pairs = [[0, 0], [0, 3], [2, 0], [0, 0]]
    found = run(
        tf.raw_ops.MaxPool(
            input=image,
            ksize=[1, 3, 3, 1],
            strides=[1, 2, 2, 1],
            padding="EXPLICIT",
            explicit_paddings=np.ravel(pairs),
        )
    )
    np.testing.assert_array_equal(found, pooled(image, (3, 3), (2, 2), pairs, np.max))


def test_maximum_over_channels():
    image = RNG.standard_normal((1, 2, 2, 6)).astype(np.float32)
    found = run(tf.nn.max_pool(image, [1, 1, 1, 3], [1, 1, 1, 3], "VALID"))
    np.testing.assert_array_equal(found, image.reshape(1, 2, 2, 2, 3).max(-1))


def test_vectorized_channels():
    image = RNG.integers(-100, 100, (1, 2, 4, 4, 4)).astype(np.int8)
    x = tf.placeholder(tf.qint8, image.shape)
    attrs = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW_VECT_C"}
    found = run(tf.raw_ops.MaxPool(input=x, **attrs), {x: image})
    np.testing.assert_array_equal(found, image.reshape(1, 2, 2, 2, 2, 2, 4).max((3, 5)))


def test_a_gradient_of_another_size_is_refused():
    image, grad = tf.constant(np.ones((1, 4, 4, 1))), tf.placeholder(tf.float64)
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    top = tf.nn.max_pool(image, 2, 2, "VALID")
    for back in (
        tf.raw_ops.MaxPoolGrad(orig_input=image, orig_output=top, grad=grad, **attrs),
        tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, 4, 4, 1], grad=grad, **attrs),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(back, {grad: np.zeros((1, 3, 2, 1))})


def computed(value):
    """A tensor of which nothing is known before the step has computed it."""
    array = np.array(value)
    return tf.py_func(lambda: array, [], tf.as_dtype(array.dtype))


@pytest.mark.parametrize("rank", [2, 3])
def test_a_gradient_of_another_number_of_images_is_refused_in_the_step(rank):
    """ATen takes the gradient's word for it, and would write past the end of the images."""
    op = tf.raw_ops.AvgPoolGrad if rank == 2 else tf.raw_ops.AvgPool3DGrad
    window = [1, *[2] * rank, 1]
    grad = computed(np.ones([7, *[2] * rank, 3], np.float32))
    back = op(
        orig_input_shape=computed(np.int32([1, *[4] * rank, 3])),
        grad=grad,
        ksize=window,
        strides=window,
        padding="SAME",
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="7"):
        session.run(back)


def test_the_gradient_beside_nan_goes_where_the_search_ends():
    """The search begins at a window's first element and goes to greater ones: NaN is none, and has none."""
    nan = np.nan
    x = tf.constant(np.array([[nan, 3, 2, nan], [1, 2, nan, 1]], np.float32).reshape(1, 2, 4, 1))
    y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    value, slope = run([y, tf.gradients(y, x)[0]])
    assert value.reshape(-1).tolist() == [3, 2]
    assert slope.reshape(2, 4).tolist() == [[1, 0, 1, 0], [0, 0, 0, 0]]
    nothing = tf.constant(np.full([1, 4, 4, 1], nan, np.float32))
    firsts = run(tf.gradients(tf.nn.max_pool(nothing, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"), nothing)[0])
    assert firsts.reshape(4, 4).tolist() == [[1, 1, 1, 0]] * 3 + [[0] * 4]


@pytest.mark.parametrize(
    ("ksize", "strides", "message"),
    [
        ([1, 2, 2, 2], [1, 1, 1, 2], "exactly one of pooling across depth"),
        ([1, 1, 1, 2], [1, 1, 1, 1], "depth window to equal the depth stride"),
        ([1, 1, 1, 3], [1, 1, 1, 3], "evenly divide"),
    ],
)
def test_a_step_refuses_a_window_across_depth(ksize, strides, message):
    y = tf.nn.max_pool(tf.ones([1, 2, 2, 4]), ksize, strides, "SAME")
    with pytest.raises(tf.errors.UnimplementedError, match=message):
        run(y)


def test_the_gradient_across_depth_is_refused():
    x = tf.placeholder(tf.float32, [1, 2, 2, 4])
    slope = tf.gradients(tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME"), x)
    with pytest.raises(tf.errors.UnimplementedError, match="not yet supported on the depth dimension"):
        run(slope, {x: np.ones([1, 2, 2, 4])})


@pytest.mark.parametrize("size", [(3, 3), (2, 3), (5, 1), (4, 4)])
@pytest.mark.parametrize("image_size", [(7, 5), (2, 6), (9, 9)])
def test_the_sums_that_gpus_use_are_the_gradient_of_means(size, image_size):
    image = torch.randn(2, 4, *image_size, dtype=torch.float64, requires_grad=True)
    padding = [width // 2 for width in size]
    means = torch.nn.functional.avg_pool2d(image, size, 1, padding, count_include_pad=False)
    grad = torch.randn_like(means)
    means.backward(grad)
    found = pool_kernels._means_back_by_sums(grad, image_size, size, padding)
    torch.testing.assert_close(found, image.grad)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("sizes", [((2, 2), (2, 2)), ((3, 3), (1, 2)), ((4, 1), (3, 1)), ((2, 5), (1, 1))])
def test_pools_by_slices_are_those_by_windows(monkeypatch, sizes, data_format, padding):
    image = torch.from_numpy(np.random.RandomState(1).normal(size=(2, 9, 8, 5)).astype(np.float32))
    ksize, strides = ([1, *each, 1] if data_format == "NHWC" else [1, 1, *each] for each in sizes)
    arguments = pool_kernels.pool_arguments(image.shape, data_format, ksize, strides, padding)
    pools = pool_kernels.max_pool_values, pool_kernels.avg_pool_values
    wanted = [pool(image, *arguments) for pool in pools]
    monkeypatch.setattr(pool_kernels, "_MANY_ELEMENTS", 1)
    noted, swept = [], pool_kernels.swept
    monkeypatch.setattr(pool_kernels, "swept", lambda *given: noted.append(given) or swept(*given))
    for pool, expected in zip(pools, wanted, strict=True):
        np.testing.assert_allclose(pool(image, *arguments), expected, rtol=1e-5, atol=1e-6)
    assert len(noted) == 2
