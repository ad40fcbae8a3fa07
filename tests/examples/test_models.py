"""The models of the paper learn, at sizes that a CPU takes."""

import numpy as np
import pytest

import tideflow as tf
from examples.models import dcgan, lstm
from examples.models.__main__ import train

SETTINGS = {
    "alexnet": {"size": 64, "hidden": (64, 64), "steps": 20, "learning_rate": 0.01},
    "gpt2": {"size": 8, "width": 16, "heads": 2, "layers": 2, "steps": 60, "learning_rate": 1.0},
    "googlenet": {"size": 32, "steps": 20},
    "inception_v3": {"size": 75, "share": 0.02, "steps": 20},
    "lstm": {"size": 6, "width": 16, "layers": 1, "steps": 100, "learning_rate": 5.0},
    "overfeat": {"size": 80, "hidden": (64, 64), "steps": 10},
    "oxfordnet": {"size": 32, "hidden": (64, 64), "steps": 20},
    "resnet18": {"size": 32, "channels": (8, 16, 32, 64), "steps": 20},
    "resnet50": {"size": 32, "channels": (8, 16, 32, 64), "steps": 20},
}


@pytest.mark.parametrize("model", SETTINGS)
def test_a_model_learns_a_batch_by_heart(model: str) -> None:
    *_, loss = train(model, batch=2, classes=10, **{"learning_rate": 0.03, **SETTINGS[model]})
    assert loss < 1.8  # ln 10 is what one knows before


def test_what_the_sampled_softmax_learns_holds_for_the_full_one() -> None:
    sizes = {"words": 40, "width": 16, "layers": 1}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        text = tf.constant(np.random.RandomState(0).randint(0, 40, [2, 9]))
        sampled, full = lstm.loss(text, samples=10, **sizes), lstm.loss(text, **sizes)
        update = tf.train.AdamOptimizer(0.05).minimize(sampled)
        assert any(
            isinstance(grad, tf.IndexedSlices) for grad in tf.gradients(sampled, tf.global_variables())
        )
        session.run(tf.global_variables_initializer())
        before = session.run(full)
        for _ in range(60):
            session.run(update)
        assert session.run(full) < before / 2


def test_the_generator_of_dcgan_learns_what_images_look_like() -> None:
    """The images are dark on the left, bright on the right; what it makes becomes so too."""
    rows = np.where(np.arange(16) < 8, -0.8, 0.8) + 0.1 * np.random.RandomState(0).randn(8, 16, 16)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(0)
        images = tf.constant(np.repeat(rows[..., None], 3, axis=3), tf.float32)
        _, update = dcgan.training_step(images, channels=8, learning_rate=5e-3)
        made = dcgan.generated(tf.random_normal([8, dcgan.NOISE]), 16, channels=8)
        session.run(tf.global_variables_initializer())

        def contrast() -> float:
            image = session.run(made)
            return image[:, :, 8:].mean() - image[:, :, :8].mean()

        before = contrast()
        for _ in range(150):
            session.run(update)
        assert abs(before) < 0.2
        assert contrast() > 0.8
