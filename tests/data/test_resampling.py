"""Classes become as frequent as is wanted."""

import collections

import pytest

import tideflow as tf


@pytest.mark.parametrize("initial", [None, [0.5, 0.3, 0.2]])
def test_classes_become_as_frequent_as_is_wanted(initial):
    with tf.Graph().as_default(), tf.Session() as session:
        tenths = tf.data.Dataset.range(10).repeat()
        classes = tenths.map(lambda x: tf.to_int32(x > 4) + tf.to_int32(x > 7))
        resampled = classes.apply(
            tf.data.experimental.rejection_resample(lambda c: c, [0.2, 0.2, 0.6], initial, seed=1)
        )
        label, element = session.run(tf.data.experimental.get_single_element(resampled.batch(2_000).take(1)))
    assert label.tolist() == element.tolist()
    counts = collections.Counter(label.tolist())
    assert [counts[c] / len(label) for c in range(3)] == pytest.approx([0.2, 0.2, 0.6], abs=0.05)


def test_what_is_as_wanted_already_is_kept_whole():
    with tf.Graph().as_default(), tf.Session() as session:
        classes = tf.data.Dataset.range(8).map(lambda x: tf.to_int32(x % 2))
        same = classes.apply(tf.data.experimental.rejection_resample(lambda c: c, [0.5, 0.5], [0.5, 0.5]))
        label, _ = session.run(tf.data.experimental.get_single_element(same.batch(100)))
    assert label.tolist() == [0, 1] * 4
