"""The losses of GANs against NumPy, of outputs and of models."""

import numpy as np
import pytest

import tideflow as tf

gan = tf.contrib.gan
wargs = gan.losses.wargs
REAL, FAKE = np.float32([1.4, 2.6, 1.0]), np.float32([0.6, -1.1, 0.3])


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def _evaluate(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def _entropy(labels, logits):
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


def _smoothed(amount):
    return 1 - amount + 0.5 * amount


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wasserstein", (-FAKE.mean(), FAKE.mean() - REAL.mean())),
        (
            "least_squares",
            (((FAKE - 1) ** 2).mean() / 2, ((REAL - 1) ** 2).mean() / 2 + (FAKE**2).mean() / 2),
        ),
        (
            "modified",
            (
                _entropy(1, FAKE).mean(),
                _entropy(_smoothed(0.25), REAL).mean() + _entropy(0, FAKE).mean(),
            ),
        ),
        (
            "minimax",
            (
                -(_entropy(1, np.float32(1)) + _entropy(0, FAKE).mean()),
                _entropy(_smoothed(0.25), REAL).mean() + _entropy(0, FAKE).mean(),
            ),
        ),
    ],
)
def test_losses_of_both_sides(name, expected):
    generator, discriminator = (
        getattr(wargs, f"{name}_{side}_loss") for side in ("generator", "discriminator")
    )
    made = [generator(FAKE, add_summaries=True), discriminator(tf.constant(REAL), FAKE, add_summaries=True)]
    np.testing.assert_allclose(_evaluate(made), expected, rtol=1e-5)
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 4
    assert len(tf.losses.get_losses()) == 2
    weights = np.float32([2, 0, 1])
    unreduced = discriminator(
        REAL,
        FAKE,
        real_weights=weights,
        generated_weights=weights,
        loss_collection=None,
        reduction=tf.losses.Reduction.NONE,
    )
    assert unreduced.shape == [3]
    assert _evaluate(unreduced)[1] == 0
    assert len(tf.losses.get_losses()) == 2


def test_classification():
    labels = np.eye(3, dtype=np.float32)[[0, 2]]
    real, fake = np.float32([[1, 0, 2], [0, 1, 1]]), np.float32([[0, 0, 1], [3, 0, 1]])

    def entropy(logits):
        return (np.log(np.exp(logits).sum(1)) - (logits * labels).sum(1)).mean()

    made = [
        wargs.acgan_generator_loss(fake, labels),
        wargs.acgan_discriminator_loss(real, fake, labels),
    ]
    np.testing.assert_allclose(_evaluate(made), [entropy(fake), entropy(real) + entropy(fake)], rtol=1e-5)


def test_the_slope_of_a_linear_discriminator():
    def judge(data, inputs):
        return tf.reduce_sum(data * [3.0, 4.0], axis=1), "classes"

    real, fake = tf.zeros([4, 2]), tf.ones([4, 2])
    arguments = (real, fake, None, judge, "judge")
    made = [
        wargs.wasserstein_gradient_penalty(*arguments),
        wargs.wasserstein_gradient_penalty(*arguments, target=2.5),
        wargs.wasserstein_gradient_penalty(*arguments, target=10.0, one_sided=True),
    ]
    np.testing.assert_allclose(_evaluate(made), [16.0, 1.0, 0.0], rtol=1e-5)
    with pytest.raises(ValueError, match="unknown rank"):
        wargs.wasserstein_gradient_penalty(tf.placeholder(tf.float32), fake, None, judge, None)


def test_information():
    distribution = tf.distributions.Normal([0.0, 1.0], [1.0, 1.0])
    loss = wargs.mutual_information_penalty([tf.constant([0.0, 1.0])], [distribution])
    np.testing.assert_allclose(_evaluate(loss), 0.5 * np.log(2 * np.pi), rtol=1e-5)
    with pytest.raises(ValueError, match="must be the same as"):
        wargs.mutual_information_penalty([], [distribution])
    with pytest.raises(ValueError, match="must be a list of `Distributions`"):
        wargs.mutual_information_penalty([1.0], [2.0])


def test_two_losses_are_combined_by_a_factor_or_by_their_gradients():
    x = tf.get_variable("x", initializer=[1.0, 1.0])
    main, adversarial = tf.reduce_sum(x * 3.0), tf.reduce_sum(x * [0.0, 2.0])
    by_factor = wargs.combine_adversarial_loss(main, adversarial, weight_factor=0.5)
    by_gradients = wargs.combine_adversarial_loss(main, adversarial, gradient_ratio=2.0)
    np.testing.assert_allclose(_evaluate(by_factor), 7.0)
    norms = np.sqrt(18) / 2 / 2
    np.testing.assert_allclose(_evaluate(by_gradients), 6 + norms * 2, rtol=1e-5)
    assert wargs.combine_adversarial_loss(main, adversarial, weight_factor=0) is main
    with pytest.raises(ValueError, match="cannot both be specified"):
        wargs.combine_adversarial_loss(main, adversarial, 1.0, 1.0)


def test_losses_of_models_take_their_arguments_from_them():
    model = gan.GANModel(*[None] * 11)._replace(
        discriminator_real_outputs=tf.constant(REAL), discriminator_gen_outputs=tf.constant(FAKE)
    )
    made = [
        gan.losses.wasserstein_discriminator_loss(model),
        gan.losses.least_squares_generator_loss(model, real_label=0),
    ]
    np.testing.assert_allclose(_evaluate(made), [FAKE.mean() - REAL.mean(), (FAKE**2).mean() / 2], rtol=1e-5)
    with pytest.raises(ValueError, match="present in both the tuple and keyword args"):
        gan.losses.wasserstein_generator_loss(model, discriminator_gen_outputs=FAKE)
    with pytest.raises(ValueError, match="`one_hot_labels` must be supplied to acgan_generator_loss"):
        gan.losses.acgan_generator_loss(model, discriminator_gen_classification_logits=FAKE)
    with pytest.raises(ValueError, match="must be a `CycleGANModel`"):
        gan.losses.cycle_consistency_loss(model)
