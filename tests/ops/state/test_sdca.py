"""Dual coordinate ascent: it converges to the known optimum, adaptively too; references are shrunk."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.runtime.fingerprints import fingerprint128


@pytest.mark.parametrize("adaptive", [False, True])
def test_ridge_regression_is_solved(adaptive):
    rng = np.random.default_rng(0)
    rows, l2 = rng.normal(size=(40, 3)).astype("f"), 2.0
    labels = (rows @ np.float32([1, -2, 0.5])).astype("f")
    state, weights = tf.placeholder(tf.float32, [40, 4]), tf.placeholder(tf.float32, [3])
    step = tf.raw_ops.SdcaOptimizerV2(
        sparse_example_indices=[],
        sparse_feature_indices=[],
        sparse_feature_values=[],
        dense_features=[rows],
        example_weights=np.ones(40, "f"),
        example_labels=labels,
        sparse_indices=[],
        sparse_weights=[],
        dense_weights=[weights],
        example_state_data=state,
        loss_type="squared_loss",
        l1=0.0,
        l2=l2,
        num_loss_partitions=1,
        num_inner_iterations=1,
        adaptive=adaptive,
    )
    values = {state: np.zeros((40, 4), "f"), weights: np.zeros(3, "f")}
    with tf.Session() as session:
        for _ in range(60):
            new_state, _, (change,) = session.run(list(step), values)
            values = {state: new_state, weights: values[weights] + change}
    exact = np.linalg.solve(rows.T @ rows + l2 * np.eye(3), rows.T @ labels)
    np.testing.assert_allclose(values[weights], exact, atol=2e-3)


def test_references_are_shrunk():
    weights = [tf.Variable([0.5, -0.1, 2.0], use_resource=False), tf.Variable([[-3.0]], use_resource=False)]
    shrink = tf.train.sdca_shrink_l1(weights, l1=0.5, l2=2.0)
    with tf.Session() as session:
        session.run(tf.variables_initializer(weights))
        session.run(shrink)
        assert [w.tolist() for w in session.run(weights)] == [[0.25, 0, 1.75], [[-2.75]]]


def test_fingerprints_of_all_lengths_differ():
    prints = {fingerprint128(b"x" * length) for length in range(400)}
    assert len(prints) == 400 and all(0 <= half < 2**64 for each in prints for half in each)
    with tf.Session() as session:
        found = session.run(tf.train.sdca_fprint([b"x" * 200]))
    assert tuple(found.view(np.uint64)[0].tolist()) == fingerprint128(b"x" * 200)
