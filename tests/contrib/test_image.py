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


def test_dots_of_a_plane_repeat_at_its_distance():
    stereograms = tf.contrib.image.single_image_random_dot_stereograms
    plain = {"convergence_dots_size": 0, "output_data_window": [100, 20], "normalize": False}
    for depth, apart in ((0.0, 90), (1.0, 72)):
        picture = stereograms(tf.fill([3, 4], depth), output_image_shape=[100, 20, 1], **plain)
        drawn = run(picture)
        assert drawn.dtype == np.uint8 and len(np.unique(drawn)) > 100
        np.testing.assert_array_equal(drawn[:, :-apart], drawn[:, apart:])


def test_stereograms_are_wide_before_they_are_high():
    stereograms = tf.contrib.image.single_image_random_dot_stereograms
    assert stereograms([[1, 2], [3, 4]]).shape.as_list() == [768, 1024, 1]
    small = {"output_image_shape": [200, 30, 1], "output_data_window": [150, 20]}
    hills = np.add.outer(np.arange(4.0), np.arange(5.0))
    for colors, channels in ((2, 1), (256, 1), (300, 3)):
        picture = stereograms(hills, number_colors=colors, **small)
        drawn = run(picture)
        assert list(drawn.shape) == picture.shape.as_list() == [30, 200, channels]
        assert colors > 2 or set(np.unique(drawn)) == {0, 255}
        np.testing.assert_array_equal(drawn[22:30, 51:59], 0)  # a square, half of 90 dots left of the middle
        np.testing.assert_array_equal(drawn[22:30, 141:149], 0)
    assert run(stereograms(hills, hidden_surface_removal=False, **small)).shape == (30, 200, 1)


def test_stereograms_of_what_is_no_matrix_are_refused():
    stereograms = tf.contrib.image.single_image_random_dot_stereograms
    with pytest.raises(tf.errors.InvalidArgumentError, match="depth_values must be a matrix"):
        run(stereograms(tf.ones([3])))
    with pytest.raises(ValueError, match="output_image_shape must have 3 sizes"):
        stereograms(tf.ones([3, 3]), output_image_shape=[10, 20])
