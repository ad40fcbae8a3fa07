"""contrib.image: laws of projections, splines, warps and regions."""

import numpy as np
import pytest

import tideflow as tf

image = tf.contrib.image


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


PIXELS = np.arange(24.0, dtype=np.float32).reshape(4, 6)


def test_a_quarter_turn_is_a_quarter_turn():
    square = PIXELS[:, :4]
    np.testing.assert_array_equal(run(image.rotate(square, np.pi / 2)), np.rot90(square))


def test_a_translation_moves_right_and_down():
    moved = run(image.translate(PIXELS, [2, 1]))
    np.testing.assert_array_equal(moved[1:, 2:], PIXELS[:-1, :-2])
    assert (moved[0] == 0).all() and (moved[:, :2] == 0).all()


def test_transforms_one_after_another_are_one():
    first = image.translations_to_projective_transforms([1.0, 0.0])
    second = image.angles_to_projective_transforms(np.pi, 4.0, 6.0)
    together = image.transform(PIXELS, image.compose_transforms(first, second)[0])
    apart = image.transform(image.transform(PIXELS, first[0]), second[0])
    both = run([together, apart])
    np.testing.assert_allclose(both[0], both[1])


def test_a_spline_goes_through_its_points():
    points = np.random.RandomState(0).uniform(size=(1, 6, 2))
    values = np.random.RandomState(1).uniform(size=(1, 6, 3))
    for order in (1, 2, 3):
        found = run(image.interpolate_spline(points, values, points, order))
        np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-4)


def test_control_points_arrive_where_they_are_told():
    picture = np.zeros((1, 9, 9, 1), np.float32)
    picture[0, 3, 4] = 1.0
    warped, flow = run(
        image.sparse_image_warp(
            picture, np.float32([[[3, 4]]]), np.float32([[[5, 5]]]), num_boundary_points=2
        )
    )
    assert np.unravel_index(warped[0, :, :, 0].argmax(), (9, 9)) == (5, 5)
    np.testing.assert_allclose(flow[0, 5, 5], [2, 1], atol=1e-3)
    np.testing.assert_allclose(flow[0, 0, 0], [0, 0], atol=1e-3)


def test_regions_are_numbered_in_order():
    found = image.connected_components([[5, 5, 0], [0, 0, 7], [5, 7, 7]])
    np.testing.assert_array_equal(run(found), [[1, 1, 0], [0, 0, 2], [3, 2, 2]])


def test_resampling_at_pixels_is_the_image():
    data = PIXELS.reshape(1, 4, 6, 1)
    x, y = np.meshgrid(np.arange(6.0), np.arange(4.0))
    grid = np.stack([x, y], -1)[None].astype(np.float32)
    np.testing.assert_allclose(run(tf.contrib.resampler.resampler(data, grid)), data)


def test_periods_move_along_axes():
    values = [[0, 1, 2, 3], [4, 5, 6, 7]]
    found = tf.contrib.periodic_resample.periodic_resample(values, [4, None])
    np.testing.assert_array_equal(run(found), [[0, 1], [2, 3], [4, 5], [6, 7]])
