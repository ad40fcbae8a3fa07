"""Recurrent cells in one op against their equations."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf

BATCH, INPUTS, CELLS, STEPS = 3, 2, 4, 5


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def weights() -> dict[str, np.ndarray]:
    vectors = {name: numbers(CELLS) * scale for name, scale in (("wci", 0.5), ("wcf", 0.3), ("wco", 0.2))}
    return {"w": numbers(INPUTS + CELLS, 4 * CELLS), "b": numbers(4 * CELLS), **vectors}


def lstm(x, cs, h, w, b, wci, wcf, wco, order, forget_bias, clip, peephole):
    parts = dict(zip(order, np.split(np.concatenate([x, h], 1) @ w + b, 4, 1), strict=True))
    look = float(peephole)
    i = sigmoid(parts["i"] + look * wci * cs)
    f = sigmoid(parts["f"] + forget_bias + look * wcf * cs)
    cs = np.tanh(parts["c"]) * i + cs * f
    cs = np.clip(cs, -clip, clip) if clip > 0 else cs
    return cs, np.tanh(cs) * sigmoid(parts["o"] + look * wco * cs)


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("peephole", [False, True])
@pytest.mark.parametrize("clip", [0.0, 0.4])
def test_lstm_step(clip, peephole):
    x, cs, h = numbers(BATCH, INPUTS), numbers(BATCH, CELLS), 0.5 * numbers(BATCH, CELLS)
    y = tf.raw_ops.LSTMBlockCell(
        x=x, cs_prev=cs, h_prev=h, forget_bias=0.7, cell_clip=clip, use_peephole=peephole, **weights()
    )
    with tf.Session() as session:
        found = session.run([y.cs, y.h])
    wanted = lstm(x, cs, h, **weights(), order="icfo", forget_bias=0.7, clip=clip, peephole=peephole)
    np.testing.assert_allclose(found, wanted, 1e-5, 1e-6)


@pytest.mark.parametrize(
    ("op", "order", "forget_bias"), [("BlockLSTM", "icfo", 1.0), ("BlockLSTMV2", "ifco", 0.0)]
)
@pytest.mark.parametrize("length", [0, 3, STEPS])
def test_lstm_sequence(op, order, forget_bias, length):
    x, cs, h = numbers(STEPS, BATCH, INPUTS), numbers(BATCH, CELLS), 0.5 * numbers(BATCH, CELLS)
    y = getattr(tf.raw_ops, op)(
        seq_len_max=tf.constant(length, tf.int64),
        x=x,
        cs_prev=cs,
        h_prev=h,
        cell_clip=0.0,
        use_peephole=True,
        **weights(),
    )
    with tf.Session() as session:
        found = session.run([y.cs, y.h])
    wanted = np.zeros((2, STEPS, BATCH, CELLS))
    for t in range(length):
        cs, h = wanted[:, t] = lstm(
            x[t], cs, h, **weights(), order=order, forget_bias=forget_bias, clip=0, peephole=True
        )
    np.testing.assert_allclose(found, wanted, 1e-5, 1e-6)


def test_gru_step():
    x, h = numbers(BATCH, INPUTS), numbers(BATCH, CELLS)
    given = {
        "w_ru": numbers(INPUTS + CELLS, 2 * CELLS),
        "w_c": numbers(INPUTS + CELLS, CELLS),
        "b_ru": numbers(2 * CELLS),
        "b_c": numbers(CELLS),
    }
    with tf.Session() as session:
        found = session.run(tf.raw_ops.GRUBlockCell(x=x, h_prev=h, **given).h)
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ given["w_ru"] + given["b_ru"]), 2, 1)
    c = np.tanh(np.concatenate([x, h * r], 1) @ given["w_c"] + given["b_c"])
    np.testing.assert_allclose(found, u * h + (1 - u) * c, 1e-5, 1e-6)


def test_a_wrong_size_is_told_by_its_name():
    x, cs = numbers(BATCH, INPUTS), numbers(BATCH, CELLS)
    wrong = {**weights(), "w": numbers(INPUTS + CELLS + 1, 4 * CELLS)}
    y = tf.raw_ops.LSTMBlockCell(x=x, cs_prev=cs, h_prev=cs, **wrong)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"w must have shape \[6, 16\]"),
    ):
        session.run(y.h)
