"""Products of bytes in networks that were trained with fake quantization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tideflow as tf
from tests.compile.steps import normal
from tideflow.compile import rules_int8

fake_quant = tf.quantization.fake_quant_with_min_max_vars


@pytest.fixture(autouse=True)
def graph(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TIDEFLOW_INT8", "on")
    with tf.Graph().as_default() as g:
        yield g


def network(x: tf.Tensor, low: float = -1.0, high: float = 1.0) -> tf.Tensor:
    """Two convolutions with a pool between them, and a dense layer; ranges are variables."""

    def weights(name: str, *shape: int) -> tf.Tensor:
        variable = tf.get_variable(name, initializer=0.3 * normal(*shape, seed=len(name)))
        ends = (
            tf.get_variable(f"{name}_low", initializer=low),
            tf.get_variable(f"{name}_high", initializer=high),
        )
        return fake_quant(variable, *ends, narrow_range=True)

    def biased(x: tf.Tensor, name: str, size: int) -> tf.Tensor:
        return tf.nn.bias_add(x, tf.get_variable(f"{name}_bias", initializer=0.1 * normal(size)))

    h = fake_quant(x, -3.0, 3.0)
    h = tf.nn.relu(biased(tf.nn.conv2d(h, weights("w", 3, 3, 2, 8), [1, 2, 2, 1], "SAME"), "w", 8))
    h = tf.nn.max_pool(fake_quant(h, 0.0, 5.0), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    h = tf.nn.relu6(biased(tf.nn.conv2d(h, weights("ww", 2, 2, 8, 8), 1, "VALID"), "ww", 8))
    h = tf.reshape(fake_quant(h, 0.0, 6.0), [4, 72])
    return biased(tf.matmul(h, weights("www", 72, 5)), "www", 5)


def image() -> np.ndarray:
    return normal(4, 16, 16, 2)


def both(fetch: Any, feeds: dict, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """A fetch without and with products of bytes."""
    found = []
    for mode in ("off", "on"):
        monkeypatch.setenv("TIDEFLOW_INT8", mode)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found.append(session.run(fetch, feeds))
            assert ("_Int8" in session.explain(fetch, feeds)) == (mode == "on")
    return found


@pytest.mark.parametrize("has_instructions", [True, False])
def test_a_network_computes_the_same_in_bytes(
    has_instructions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_instructions and not rules_int8._HAS_INSTRUCTIONS:
        pytest.skip("this CPU has no instructions for products of bytes")
    monkeypatch.setattr(rules_int8, "_HAS_INSTRUCTIONS", has_instructions)
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    floats, whole = both(network(x), {x: image()}, monkeypatch)
    np.testing.assert_allclose(whole, floats, atol=0.05)  # a number in the middle may go to the other level
    assert np.abs(whole - floats).mean() < 0.005


def test_ranges_that_are_not_symmetric_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    floats, whole = both(network(x, -0.6, 1.1), {x: image()}, monkeypatch)
    assert np.abs(whole - floats).max() < 0.05 * np.abs(floats).max()


def test_all_of_a_network_is_in_bytes_and_between_products_nothing_is_not() -> None:
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    made = network(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        text = session.explain(made, {x: image()})
    assert text.count("= _Int8Conv2D(") == 2 and text.count("= _Int8MatMul(") == 1
    assert (
        text.count("= _Quantized(") == 1 and "_Dequantized" not in text and "FakeQuant" not in text.split("#")
    )


def test_weights_follow_their_variables_and_are_packed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    packed, pack = [], rules_int8.Prepared.packed
    monkeypatch.setattr(rules_int8.Prepared, "packed", lambda *given: packed.append(1) or pack(*given))
    x = tf.placeholder(tf.float32, [2, 3])
    w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32))
    scaled = w * tf.get_variable("scale", initializer=1.0)  # as batch normalization is folded
    made = tf.matmul(fake_quant(x, -3.0, 3.0), fake_quant(scaled, -2.0, 2.0, narrow_range=True))
    given = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
    halve, turn = w.assign_sub(0.5 * tf.eye(3)), w.assign(-w)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run(made, {x: given}) for _ in range(3)]
        assert len(packed) == 1
        np.testing.assert_allclose(results[-1], given, atol=0.05)
        session.run(halve)
        np.testing.assert_allclose(session.run(made, {x: given}), given / 2, atol=0.05)
        session.run(turn)
        np.testing.assert_allclose(session.run(made, {x: given}), -given / 2, atol=0.05)
        assert len(packed) == 3


def test_steps_that_write_the_weights_stay_in_floats() -> None:
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    made = network(x)
    update = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(made)))
    y = tf.placeholder(tf.float32, [3, 3])
    by_feeds = tf.matmul(fake_quant(y, -1.0, 1.0), fake_quant(y, -1.0, 1.0))  # no weights at all
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert "_Int8" not in session.explain([made, update], {x: image()})
        assert "_Int8" not in session.explain(by_feeds, {y: normal(3, 3)})


def test_weights_that_are_constants_or_have_ranges_by_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [2, 6])
    frozen = fake_quant(tf.constant(normal(6, 4)), -2.0, 2.0, narrow_range=True)
    wide = np.array([1.0, 2.0, 3.0, 0.0], np.float32)
    by_channel = tf.quantization.fake_quant_with_min_max_vars_per_channel(
        tf.get_variable("w", initializer=normal(6, 4)), -wide, wide, narrow_range=True
    )
    rounded = fake_quant(x, -3.0, 3.0)
    made = tf.concat([tf.matmul(rounded, frozen), tf.matmul(rounded, by_channel)], axis=1)
    floats, whole = both(made, {x: normal(2, 6)}, monkeypatch)
    np.testing.assert_allclose(whole, floats, atol=1e-5)


def test_small_products_and_other_sessions_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    made, config = network(x), tf.ConfigProto()
    config.graph_options.rewrite_options.experimental_disable_folding_quantization_emulation = True
    for mode, options in (("auto", None), ("off", None), ("on", config)):
        monkeypatch.setenv("TIDEFLOW_INT8", mode)
        with tf.Session(config=options) as session:
            session.run(tf.global_variables_initializer())
            assert "_Int8" not in session.explain(made, {x: image()})
    monkeypatch.setenv("TIDEFLOW_INT8", "yes")
    with pytest.raises(ValueError, match="TIDEFLOW_INT8 is 'yes'; it may be 'off', 'auto' or 'on'"):
        tf.Session()


def test_pools_of_bytes() -> None:
    """ATen counts places in as few bits as the numbers have; large images of bytes still work."""
    given = np.random.RandomState(0).randint(0, 255, [2, 40, 40, 3])
    pairs = []
    for dtype in (np.uint8, np.int8, np.int16):
        x = given.astype(dtype)
        for size, padding in ((2, "VALID"), (3, "SAME")):
            window = [[1, size, size, 1], [1, 2, 2, 1], padding]
            pairs.append((tf.nn.max_pool(x, *window), tf.nn.max_pool(x.astype(np.int32), *window)))
    with tf.Session() as session:
        for small, large in session.run(pairs):
            np.testing.assert_array_equal(small, large)


def test_a_network_rewritten_by_contrib_quantize(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float32, [4, 16, 16, 2])
    norm = {
        "normalizer_fn": tf.contrib.layers.batch_norm,
        "normalizer_params": {"is_training": False, "fused": True},
    }
    tf.set_random_seed(0)
    h = tf.contrib.layers.conv2d(x, 8, 3, **norm)
    h = tf.contrib.layers.conv2d(h, 8, 3, **norm)
    h = tf.contrib.layers.flatten(tf.contrib.layers.max_pool2d(h, 2, 2))
    made = tf.contrib.layers.fully_connected(h, 5, activation_fn=None)
    tf.contrib.quantize.create_eval_graph()
    floats, whole = both(made, {x: image()}, monkeypatch)
    assert np.abs(whole - floats).max() < 0.05 * np.abs(floats).max()
