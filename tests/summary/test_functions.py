"""tf.summary's functions beyond what TensorFlow is compared with."""

import logging

import numpy as np
import pytest

import tideflow as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def parsed(summary):
    with tf.Session() as session:
        return tf.Summary.FromString(session.run(summary))


def test_a_name_that_no_op_may_have_is_told(caplog):
    with caplog.at_level(logging.INFO, "tensorflow"):
        summary = tf.summary.scalar("a loss (%)", 1.0)
    assert "Summary name a loss (%) is illegal; using a_loss____ instead." in caplog.text
    assert parsed(summary).value[0].tag == "a_loss____"


def test_a_histogram_counts_every_number_once():
    numbers = np.random.RandomState(0).lognormal(0, 20, 5000) * np.random.RandomState(1).choice([-1, 1], 5000)
    histo = parsed(tf.summary.histogram("h", tf.constant(numbers))).value[0].histo
    assert sum(histo.bucket) == histo.num == 5000
    assert list(histo.bucket_limit) == sorted(histo.bucket_limit)
    below = [np.sum(numbers < limit) for limit in histo.bucket_limit]
    assert np.cumsum(histo.bucket).tolist() == below
    assert not any(a == b == 0 for a, b in zip(histo.bucket, histo.bucket[1:]))


def test_a_merge_takes_part_in_a_training_step():
    weight = tf.Variable(3.0)
    loss = weight * weight
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.summary.scalar("loss", loss)
    summary = tf.summary.merge_all()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        shown = [
            tf.Summary.FromString(session.run([summary, step])[0]).value[0].simple_value for _ in range(3)
        ]
    assert shown[0] == 9.0
    assert shown[0] > shown[1] > shown[2]


def test_summaries_travel_in_a_graph_def():
    tf.summary.image("i", tf.ones([1, 2, 2, 3]))
    tf.summary.scalar("s", 2.0)
    merged = tf.summary.merge_all()
    message = tf.get_default_graph().as_graph_def()
    wanted = parsed(merged)
    with tf.Graph().as_default():
        (again,) = tf.import_graph_def(message, return_elements=[merged.name], name="")
        assert parsed(again) == wanted


def test_there_are_no_summaries_that_write_themselves():
    assert tf.summary.all_v2_summary_ops() == []
