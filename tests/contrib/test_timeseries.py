"""tf.contrib.timeseries: its matrices against plain products, windows in order, series that are learned."""

import numpy as np
import pytest

import tideflow as tf
from tideflow.contrib.timeseries.components import Cycle, LevelTrend
from tideflow.contrib.timeseries.matrices import (
    batch_matrix_pow,
    block_diagonal,
    matrix_to_powers,
    power_sums_tensor,
)
from tideflow.contrib.timeseries.state_space import StateSpaceSettings
from tideflow.programs.inner.contrib import series_math

MATRIX = np.array([[0.5, 1.0], [-0.25, 0.75]])
NOISE = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def value(tensor):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensor)


def accumulated(transition, noise, steps):
    """The noise of so many transitions, one after the other."""
    total = np.zeros_like(transition)
    for _ in range(steps):
        total = transition @ total @ transition.T + noise
    return total


def test_powers_and_their_sums_are_those_of_repeated_products():
    powers = [0, 1, 2, 5, 13]
    found = value(matrix_to_powers(tf.constant(MATRIX), tf.constant(powers)))
    np.testing.assert_allclose(found, [np.linalg.matrix_power(MATRIX, power) for power in powers])
    sums = value(power_sums_tensor(tf.constant(4), tf.constant(MATRIX), tf.constant(NOISE)))
    np.testing.assert_allclose(sums, [accumulated(MATRIX, NOISE, steps) for steps in range(5)])


def test_blocks_stand_along_the_diagonal():
    blocks = block_diagonal([np.ones([3, 1, 2]), np.full([3, 2, 1], 2.0)], tf.float64, "blocks")
    assert blocks.shape.as_list() == [3, 3, 3]
    np.testing.assert_array_equal(value(blocks)[1], [[1, 1, 0], [0, 0, 2], [0, 0, 2]])


@pytest.mark.parametrize("period", [7, 5, 6.5, 3.75])
def test_a_cycle_moves_as_its_single_steps_do(period):
    cycle = Cycle(5, period, StateSpaceSettings(1, tf.float64))
    cycle.initialize_graph()
    steps = tf.constant([0, 1, 3, 12], tf.int64)
    tensors = [
        cycle.get_state_transition(),
        cycle.get_noise_transform(),
        cycle.state_transition_noise_covariance,
        cycle.transition_to_powers(steps),
        cycle.transition_power_noise_accumulator(steps),
    ]
    one, transform, covariance, powers, noises = value(tensors)
    noise = transform @ covariance @ transform.T
    for count, power, sums in zip([0, 1, 3, 12], powers, noises, strict=True):
        np.testing.assert_allclose(power, np.linalg.matrix_power(one, count), atol=1e-9)
        if period != 7:  # a whole period is folded into what it comes to on average
            np.testing.assert_allclose(sums, accumulated(one, noise, count), atol=1e-9)


def test_level_and_trend_move_as_their_single_steps_do():
    model = LevelTrend(StateSpaceSettings(1, tf.float64))
    model.initialize_graph()
    steps = tf.constant([0, 1, 4], tf.int64)
    tensors = [
        model.state_transition_noise_covariance,
        model.transition_to_powers(steps),
        model.transition_power_noise_accumulator(steps),
    ]
    noise, powers, noises = value(tensors)
    one = np.array(model.get_state_transition())
    for count, power, sums in zip([0, 1, 4], powers, noises, strict=True):
        np.testing.assert_allclose(power, np.linalg.matrix_power(one, count))
        np.testing.assert_allclose(sums, accumulated(one, noise, count))


def test_windows_over_the_end_of_a_series_are_sorted_when_they_are_kept():
    series = {"times": np.arange(5), "values": 10.0 * np.arange(5)}
    reader = tf.contrib.timeseries.NumpyReader(series)
    windows = tf.contrib.timeseries.RandomWindowInputFn(
        reader, 4, 2, discard_out_of_order=False, jitter=False, num_threads=1, shuffle_seed=1
    )
    features, labels = windows()
    assert labels is None
    with tf.train.MonitoredSession() as session:
        for _ in range(4):
            batch = session.run(features)
            assert (np.diff(batch["times"], axis=1) > 0).all()
            np.testing.assert_array_equal(batch["values"][..., 0], 10.0 * batch["times"])


def test_files_without_a_line_end_with_an_error(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("")
    features = tf.contrib.timeseries.CSVReader(str(path)).read_full()
    with tf.train.MonitoredSession() as session, pytest.raises(tf.errors.OutOfRangeError):
        session.run(features)


def test_a_wave_is_learned_and_continued(tmp_path):
    times = np.arange(96)
    series = {"times": times, "values": 3.0 + np.sin(2 * np.pi * times / 12)}
    ts = tf.contrib.timeseries
    config = tf.estimator.RunConfig(tf_random_seed=1)
    regressor = ts.ARRegressor(12, 12, 6, 1, model_dir=str(tmp_path), config=config)
    reader = ts.NumpyReader(series)
    windows = ts.RandomWindowInputFn(reader, 18, 8, num_threads=1, shuffle_seed=1)
    regressor.train(windows, steps=60)
    evaluation = regressor.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    (predicted,) = regressor.predict(ts.predict_continuation_input_fn(evaluation, steps=10))
    expected = 3.0 + np.sin(2 * np.pi * np.arange(96, 106) / 12)
    assert predicted["times"].tolist() == list(range(96, 106))
    assert np.abs(predicted["mean"][:, 0] - expected).max() < 0.4


def test_each_matrix_of_a_batch_has_a_power_of_its_own():
    batch = np.stack([MATRIX, 2 * MATRIX, MATRIX.T])
    powers = [0, 1, 5]
    expected = [np.linalg.matrix_power(each, power) for each, power in zip(batch, powers, strict=True)]
    np.testing.assert_allclose(value(batch_matrix_pow(tf.constant(batch), powers)), expected)


def test_one_matrix_times_a_batch():
    batch, matrix = tf.constant(np.stack([MATRIX, MATRIX.T])), tf.constant(2 * MATRIX)
    left, right = (
        series_math.matrix_times_batch(matrix, batch, adj_y=True),
        series_math.batch_times_matrix(batch, matrix),
    )
    np.testing.assert_allclose(value(left), [2 * MATRIX @ MATRIX.T, 2 * MATRIX @ MATRIX])
    np.testing.assert_allclose(value(right), [2 * MATRIX @ MATRIX, 2 * MATRIX.T @ MATRIX])


def test_blocks_repeat_along_diagonals():
    blocks = np.arange(8.0).reshape(2, 2, 2)
    found = value(series_math.make_toeplitz_matrix(tf.constant(blocks)))
    np.testing.assert_array_equal(found, np.block([[blocks[0], blocks[1]], [blocks[1], blocks[0]]]))


def test_a_cauchy_scale_is_about_a_third_of_the_deviation():
    scale = value(series_math.entropy_matched_cauchy_scale(tf.constant([[4.0, 0.0], [0.0, 1.0]])))
    np.testing.assert_allclose(scale, [2 / 3.04, 1 / 3.04], rtol=1e-2)


def test_tables_of_nested_tensors():
    defaults = (tf.constant([[1.0, 2.0]]), (tf.constant(7),))
    table = series_math.TupleOfTensorsLookup(tf.int64, defaults, -1, -2, "states")
    insert = table.insert([5, 6], (tf.zeros([2, 1, 2]), (tf.constant([8, 9]),)))
    with tf.Session() as session:
        session.run(insert)
        matrices, (numbers,) = session.run(table.lookup([[6], [4]]))
    np.testing.assert_array_equal(matrices, [[[[0.0, 0.0]]], [[[1.0, 2.0]]]])
    np.testing.assert_array_equal(numbers, [[9], [7]])


def test_helpers_of_models():
    times = {"times": np.array([[1, 2], [3, 4]])}
    following = series_math.canonicalize_times_or_steps_from_output(None, 2, times)
    np.testing.assert_array_equal(following, [[3, 4], [5, 6]])
    first, last = value(
        [
            series_math.batch_start_time(tf.constant([[1, 2]])),
            series_math.batch_end_time(tf.constant([[1, 2]])),
        ]
    )
    assert (first, last) == (1, 2)
    dense = series_math.fully_connected(tf.ones([2, 3]), 3, 4, "dense", activation=None)
    assert dense.shape.as_list() == [2, 4]
    known, other = tf.constant(1.0), tf.constant(2.0)
    with tf.Session():
        switch = series_math.parameter_switch({known: 5.0})
        assert (switch(known), switch(other)) == (5.0, 2.0)
