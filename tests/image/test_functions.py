"""tf.image's functions: what they promise, beyond what they have in common with TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf
from tests.io.images import photo
from tideflow.io import jpeg, png

PHOTO = photo(24, 31)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("convert, back", [("rgb_to_yiq", "yiq_to_rgb"), ("rgb_to_yuv", "yuv_to_rgb")])
def test_colors_there_and_back(convert, back):
    image = PHOTO.astype(np.float32) / 255
    found = run(getattr(tf.image, back)(getattr(tf.image, convert)(image)))
    np.testing.assert_allclose(found, image, atol=1e-4)


def test_hues_there_and_back():
    image = PHOTO.astype(np.float32) / 255
    np.testing.assert_allclose(run(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(image))), image, atol=1e-5)
    turned = tf.image.adjust_hue(tf.image.adjust_hue(image, 0.3), -0.3)
    np.testing.assert_allclose(run(turned), image, atol=1e-4)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32"])
def test_types_there_and_back(dtype):
    image = (np.linspace(0, 1, 60).reshape(4, 5, 3) * np.iinfo(dtype).max).astype(dtype)
    there = tf.image.convert_image_dtype(tf.constant(image), tf.float64)
    found = run(tf.image.convert_image_dtype(there, dtype))
    np.testing.assert_array_equal(found, image)


def test_four_quarters_are_a_full_turn():
    image = tf.constant(PHOTO)
    turned = image
    for _ in range(4):
        turned = tf.image.rot90(turned)
    np.testing.assert_array_equal(run(turned), PHOTO)
    np.testing.assert_array_equal(run(tf.image.rot90(image)), np.rot90(PHOTO))
    np.testing.assert_array_equal(run(tf.image.transpose(image)), PHOTO.transpose(1, 0, 2))


def test_each_image_of_a_batch_is_flipped_by_chance_alone():
    batch = np.arange(2000, dtype=np.float32).reshape(1000, 1, 2, 1)
    found = run(tf.image.random_flip_left_right(tf.constant(batch), seed=2))
    flipped = found[:, 0, 0, 0] != batch[:, 0, 0, 0]
    np.testing.assert_array_equal(found[flipped], batch[flipped][:, :, ::-1])
    assert 400 < flipped.sum() < 600


def test_standardized_images_have_mean_0_and_variance_1():
    found = run(tf.image.per_image_standardization(PHOTO.astype(np.float32)))
    assert abs(found.mean()) < 1e-5 and abs(found.std() - 1) < 1e-5
    assert not run(tf.image.per_image_standardization(np.full((4, 4, 3), 7.0, np.float32))).any()


def test_proportions_are_kept():
    image = np.ones((20, 40, 3), np.float32)
    assert run(tf.image.resize_images(image, [10, 10], preserve_aspect_ratio=True)).shape == (5, 10, 3)
    padded = run(tf.image.resize_image_with_pad(image, 10, 10))
    assert padded.shape == (10, 10, 3)
    np.testing.assert_array_equal(padded[:, 0, 0], [0, 0, 1, 1, 1, 1, 1, 0, 0, 0])


def test_the_same_image_is_as_like_as_can_be():
    image = tf.constant(photo(64, 48))
    assert run(tf.image.ssim(image, image, 255)) == pytest.approx(1)
    assert run(tf.image.ssim_multiscale(image, image, 255, filter_size=3)) == pytest.approx(1)
    assert run(tf.image.psnr(image, image, 255)) == np.inf


def test_likeness_falls_with_noise():
    clean = photo(64, 48)
    noise = np.random.default_rng(0).normal(0, 1, clean.shape)
    noisy = [np.clip(clean + noise * level, 0, 255).astype(np.uint8) for level in (5, 20, 60)]
    for likeness in (tf.image.psnr, tf.image.ssim):
        found = run([likeness(tf.constant(clean), tf.constant(image), 255) for image in noisy])
        assert found == sorted(found, reverse=True)


def test_a_graph_with_images_of_any_kind():
    """`decode_image` is one graph for files of different kinds, whatever the step brings."""
    contents = tf.placeholder(tf.string, [])
    image = tf.image.decode_image(contents)
    exact = jpeg.encode(PHOTO, chroma_downsampling=False)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(image, {contents: png.encode(PHOTO)}), PHOTO)
        np.testing.assert_array_equal(session.run(image, {contents: exact}), jpeg.decode(exact))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to decode bytes as JPEG, PNG, GIF"):
            session.run(image, {contents: b"something else"})


def test_files_are_decoded_inside_a_loop():
    files = [png.encode(PHOTO[i : i + 8, :8]) for i in range(5)]
    images = tf.map_fn(lambda file: tf.image.decode_png(file, 3), tf.constant(files), dtype=tf.uint8)
    np.testing.assert_array_equal(run(images), [PHOTO[i : i + 8, :8] for i in range(5)])


def test_an_error_says_what_was_expected():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(tf.image.decode_jpeg(b"GIF?", name="reader"))
    text = str(caught.value)
    assert "Expected image (JPEG, PNG, or GIF), got unknown format starting with b'GIF?'" in text
    assert "reader" in text and "test_functions.py" in text


@pytest.mark.parametrize("quality", [5, 90])
def test_jpeg_quality(quality):
    found = run(tf.image.adjust_jpeg_quality(tf.constant(PHOTO), quality))
    assert found.dtype == np.uint8 and found.shape == PHOTO.shape
    error = np.abs(found.astype(int) - PHOTO).mean()
    assert error < 10 if quality == 90 else error > 10
