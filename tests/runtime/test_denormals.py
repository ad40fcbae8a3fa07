"""Denormal numbers count as zero in steps, whichever thread computes, and stay numbers outside of them."""

import threading

import numpy as np
import pytest
import torch

import tideflow as tf

MANY = 1 << 17  # elements, enough for two threads
DENORMAL = np.full(MANY, 1e-40, np.float32)


def _are_zero(x):
    return tf.reduce_sum(tf.cast(tf.equal(x, 0.0), tf.int32))


@pytest.mark.parametrize("kind", ["fed", "by default", "constant", "variable"])
def test_they_are_equal_to_zero_wherever_they_come_from(kind):
    make = {
        "fed": lambda: tf.placeholder(tf.float32, [MANY], name="fed"),
        "by default": lambda: tf.placeholder_with_default(DENORMAL, [MANY]),
        "constant": lambda: tf.constant(DENORMAL),
        "variable": lambda: tf.get_variable("kept", initializer=DENORMAL),
    }
    x = make[kind]()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(_are_zero(x), {x: DENORMAL} if kind == "fed" else None) == MANY
        assert session.run(x * 0.75, {x: DENORMAL}).max() == 0
        assert session.run(x, {x: DENORMAL}).max() > 0  # nothing computes with it


def test_helping_threads_count_them_as_zero_for_every_thread_that_runs_steps():
    x = tf.placeholder(tf.float32, [MANY])
    found = []

    def run():
        torch.set_num_threads(2)
        with tf.Session(graph=x.graph) as session:
            found.append(session.run(zeros, {x: DENORMAL}))

    zeros = _are_zero(tf.abs(x) * 0.5)
    for _ in range(2):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert found == [MANY, MANY]


def test_the_program_computes_with_them_as_before():
    x = tf.placeholder(tf.float32, [MANY])
    with tf.Session() as session:
        session.run(x * 2.0, {x: DENORMAL})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.check_numerics(x * np.inf, "infinite"), {x: DENORMAL + 1})
    assert (DENORMAL * np.float32(0.5)).min() > 0
