"""tf.contrib.losses.metric_learning: the clustering loss, which TensorFlow has with scikit-learn alone."""

import numpy as np
import pytest

import tideflow as tf

losses = tf.contrib.losses.metric_learning
pytest.importorskip("sklearn")
LABELS = [0, 0, 0, 1, 1, 1]
APART = np.array([[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]], np.float32)


@pytest.mark.parametrize("kind", ["nmi", "ami", "ari", "vmeasure", "const"])
def test_clusters_that_lie_apart_lose_nothing(kind):
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(losses.cluster_loss(LABELS, APART, 1.0, margin_type=kind)) == pytest.approx(
            0, abs=1e-5
        )


def test_a_large_margin_asks_for_clusters_that_disagree():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(APART)
        loss = losses.cluster_loss(LABELS, x, 100.0, print_losses=True)
        plain = losses.cluster_loss(LABELS, x, 100.0, enable_pam_finetuning=False)
        (slope,) = tf.gradients(loss, x)
        loss, plain, slope = session.run([loss, plain, slope])
    assert loss > 50 and plain > 50
    assert np.abs(slope).max() > 0
    with pytest.raises(ValueError, match="Unrecognized margin_type"):
        losses.cluster_loss(LABELS, APART, 1.0, margin_type="other")


def test_the_energy_of_the_labels_is_that_of_their_medoids():
    spread = np.array([[0.0], [1.0], [5.0], [20.0], [22.0], [30.0]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        losses.cluster_loss(LABELS, spread, 1.0)
        tags = [tensor for tensor in tf.get_collection(tf.GraphKeys.SUMMARIES) if "score_gt" in tensor.name]
        (value,) = tf.Summary.FromString(session.run(tags[0])).value
    assert value.simple_value == pytest.approx(-(1 + 4 + 2 + 8))
