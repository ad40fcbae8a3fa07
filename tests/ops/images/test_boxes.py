"""Boxes: what suppression promises, random parts of images, drawing, glimpses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tideflow as tf
from tideflow.ops.images.suppression import best_first, overlaps_of, select

RNG = np.random.default_rng(0)
CORNERS = st.floats(0, 8, width=32)


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@given(
    boxes=st.integers(0, 12).flatmap(lambda n: arrays(np.float32, (n, 4), elements=CORNERS)),
    seed=st.integers(0, 99),
    threshold=st.floats(0.125, 1, width=32),
)
@settings(max_examples=60, deadline=None)
def test_what_is_selected_and_what_is_not(boxes, seed, threshold):
    """No two selected boxes overlap too much, and who is not selected overlaps a better one that is."""
    scores = np.random.default_rng(seed).permutation(len(boxes)).astype(np.float32)
    order = best_first(scores, -np.inf)
    assert sorted(order, key=lambda box: -scores[box]) == order.tolist()
    overlaps = overlaps_of(boxes[order])
    chosen = select(len(order), overlaps, 100, threshold)
    assert sorted(chosen) == chosen
    for place in range(len(order)):
        better = [other for other in chosen if other < place]
        clash = bool(better) and (overlaps(better, slice(place, place + 1)) >= threshold).any()
        assert clash == (place not in chosen)


def test_equal_scores_are_taken_in_order():
    boxes = np.array([[i, i, i + 1, i + 1] for i in range(6)], np.float32)
    selected = run(tf.image.non_max_suppression(boxes, np.ones(6, np.float32), 4))
    np.testing.assert_array_equal(selected, [0, 1, 2, 3])


def test_a_box_without_area_is_selected_once():
    boxes = np.array([[1, 1, 1, 1], [0, 0, 2, 2]], np.float32)
    selected = run(tf.image.non_max_suppression(boxes, np.array([2, 1], np.float32), 9))
    np.testing.assert_array_equal(selected, [0, 1])


def test_soft_suppression_lowers_scores():
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.5], [5, 5, 6, 6]], np.float32)
    scores = np.array([4, 3, 2], np.float32)
    found = tf.image.non_max_suppression_with_scores(boxes, scores, 9, 1.0, soft_nms_sigma=0.5)
    selected, lowered = run(found)
    np.testing.assert_array_equal(selected, [0, 1, 2])
    np.testing.assert_allclose(lowered, [4, 3 * np.exp(-0.25), 2], rtol=1e-6)


def test_half_precision():
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.9], [5, 5, 6, 6]], np.float16)
    found = tf.raw_ops.NonMaxSuppressionV5(
        boxes=tf.constant(boxes),
        scores=tf.constant(np.array([2, 3, 1], np.float16)),
        max_output_size=2,
        iou_threshold=np.float16(0.5),
        score_threshold=np.float16(0),
        soft_nms_sigma=np.float16(0),
        pad_to_max_output_size=True,
    )
    assert found.selected_scores.dtype is tf.float16
    np.testing.assert_array_equal(run(found.selected_indices), [1, 2])


# ---------------------------------------------------------------------------------- random parts


@given(height=st.integers(1, 300), width=st.integers(1, 300), seed=st.integers(1, 1000))
@settings(max_examples=60, deadline=None)
def test_a_random_part_is_as_asked_or_all(height, width, seed):
    with tf.Graph().as_default():
        begin, size, box = tf.image.sample_distorted_bounding_box(
            [height, width, 3],
            [[[0.25, 0.25, 0.75, 0.75]]],
            seed=seed,
            min_object_covered=0.3,
            aspect_ratio_range=[0.5, 2.0],
            area_range=[0.2, 0.9],
        )
        (top, left, _), (rows, columns, rest), box = run([begin, size, box])
    assert rest == -1 and 0 <= top <= top + rows <= height and 0 <= left <= left + columns <= width
    expected = np.array([top / height, left / width, (top + rows) / height, (left + columns) / width])
    np.testing.assert_allclose(box[0, 0], expected, rtol=1e-5)
    if (rows, columns) != (height, width):
        assert 0.2 * height * width - 1 <= rows * columns <= 0.9 * height * width + 1


def test_without_a_seed_parts_differ():
    begin, _, _ = tf.image.sample_distorted_bounding_box([400, 400, 3], [[[0.0, 0.0, 1.0, 1.0]]])
    with tf.Session() as session:
        assert len({tuple(session.run(begin)) for _ in range(8)}) > 1


def test_random_crops_of_old_graphs():
    image = np.arange(30, dtype=np.float32).reshape(5, 6, 1)
    crop = tf.raw_ops.RandomCrop(image=image, size=[2, 3], seed=1, seed2=2)
    assert crop.shape.as_list() == [2, 3, 1]
    with tf.Session() as session:
        for _ in range(5):
            found = session.run(crop)
            start = int(found[0, 0, 0])
            top, left = divmod(start, 6)
            np.testing.assert_array_equal(found, image[top : top + 2, left : left + 3])


# ---------------------------------------------------------------------------------- drawing, glimpses


def test_the_drawn_image_is_another():
    image = np.zeros((1, 5, 5, 3), np.float32)
    boxes = np.array([[[0.25, 0.25, 0.75, 0.75]]], np.float32)
    x = tf.placeholder(tf.float32, image.shape)
    drawn = run(tf.image.draw_bounding_boxes(x, boxes), {x: image})
    assert not image.any()
    lit = drawn[0].any(-1)
    expected = np.zeros((5, 5), bool)
    expected[1:4, 1:4] = True
    expected[2, 2] = False
    np.testing.assert_array_equal(lit, expected)


def test_boxes_that_are_no_numbers_are_not_drawn():
    image = np.zeros((1, 5, 5, 3), np.float32)
    boxes = np.array([[[np.nan, 0, 1, 1], [0, 0, np.inf, 1]]], np.float32)
    assert not run(tf.image.draw_bounding_boxes(image, boxes)).any()


@pytest.mark.parametrize("noise", ["uniform", "gaussian", "zero"])
def test_what_a_glimpse_sees_outside(noise):
    image = RNG.standard_normal((2, 6, 6, 3)).astype(np.float32) * 0.1 + 5
    offsets = np.array([[0, 0], [-1, -1]], np.float32)
    glimpse = tf.raw_ops.ExtractGlimpse(
        input=image, size=[4, 4], offsets=offsets, uniform_noise=False, noise=noise
    )
    inside, outside = run(glimpse)
    np.testing.assert_array_equal(inside, image[0, 1:5, 1:5])
    np.testing.assert_array_equal(outside[2:, 2:], image[1, :2, :2])
    corner = outside[:2, :2]
    if noise == "zero":
        assert not corner.any()
    elif noise == "uniform":
        assert (corner >= 0).all() and (corner < 1).all() and corner.std() > 0
    else:
        assert abs(corner.mean() - 5) < 0.5 and corner.std() > 0


def test_an_unknown_noise_is_refused():
    image, offsets = np.ones((1, 4, 4, 1), np.float32), np.zeros((1, 2), np.float32)
    for options in ({"noise": "pink", "uniform_noise": False}, {"noise": "zero", "uniform_noise": True}):
        glimpse = tf.raw_ops.ExtractGlimpse(input=image, size=[2, 2], offsets=offsets, **options)
        with pytest.raises(tf.errors.InvalidArgumentError, match="noise"):
            run(glimpse)
