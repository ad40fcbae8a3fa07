"""tf.contrib.constrained_optimization where TensorFlow's answer depends on chance, or on SciPy."""

import numpy as np
import pytest

import tideflow as tf

constrained = tf.contrib.constrained_optimization


def test_multipliers_stay_within_their_radius():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[0.5, -1.0], use_resource=True)

        class Problem(constrained.ConstrainedMinimizationProblem):
            objective = property(lambda self: tf.reduce_sum(tf.square(v - [2.0, 1.0])))
            constraints = property(lambda self: tf.stack([v[0] + v[1] - 1.0, v[0] - 0.8]))

        optimizer = constrained.AdditiveExternalRegretOptimizer(
            tf.train.GradientDescentOptimizer(0.1), maximum_multiplier_radius=0.5
        )
        train = optimizer.minimize(Problem())
        session.run(tf.global_variables_initializer())
        for _ in range(12):
            multipliers = session.run(train)
        # What TensorFlow computes, unless its loop reads the multipliers while they are written.
        np.testing.assert_allclose(multipliers, [0.3608471, 0.1391529], rtol=1e-4)


LOSSES = np.array([3.0, 1.0, 2.0, 1.0])
EXCEEDING = np.array([[-1.0, 0.5, 0.1, 0.5], [0.2, -1.0, 0.1, -1.0]])


def test_the_best_candidate_has_the_best_of_worst_ranks():
    assert constrained.find_best_candidate_index(LOSSES, EXCEEDING) == 3  # worst ranks: 4, 3, 3, 3
    assert constrained.find_best_candidate_index(LOSSES, -np.abs(EXCEEDING)) == 3
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        constrained.find_best_candidate_index(LOSSES[:2], EXCEEDING)


def test_a_distribution_mixes_candidates_until_constraints_hold():
    pytest.importorskip("scipy")
    found = constrained.find_best_candidate_distribution(np.array([1.0, 3.0]), np.array([[0.5, -0.5]]))
    np.testing.assert_allclose(found, [0.5, 0.5], atol=1e-6)
    hopeless = constrained.find_best_candidate_distribution(
        np.array([1.0, 3.0]), np.array([[0.5, 0.2]]), epsilon=1e-4
    )
    np.testing.assert_allclose(hopeless, [0.0, 1.0], atol=1e-2)
