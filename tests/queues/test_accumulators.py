"""Accumulators: who waits, who is stale, and rows that come twice."""

from __future__ import annotations

import numpy as np
import pytest

import tideflow as tf


def test_take_waits_for_enough(session, in_thread):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    value = tf.placeholder(tf.float32, [])
    apply, take = accumulator.apply_grad(value), accumulator.take_grad(3)
    thread, found = in_thread(take)
    for number in (1.0, 2.0):
        session.run(apply, {value: number})
    assert session.run(accumulator.num_accumulated()) == 2
    assert not found
    session.run(apply, {value: 6.0})
    thread.join(60)
    assert found == [3.0]


def test_every_taker_gets_its_own(session, in_thread):
    accumulator = tf.ConditionalAccumulator(tf.float32, [], reduction_type="SUM")
    apply = accumulator.apply_grad(1.0, local_step=100)
    take = accumulator.take_grad(2)
    takers = [in_thread(take) for _ in range(4)]
    applied = 0
    while any(thread.is_alive() for thread, _ in takers):
        session.run(apply)
        applied += 1
    for thread, _ in takers:
        thread.join(60)
    taken = [found[0] for _, found in takers]
    assert min(taken) >= 2.0
    assert sum(taken) + session.run(accumulator.num_accumulated()) == applied


def test_a_late_take_leaves_what_came(session):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    session.run(accumulator.apply_grad(4.0))
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(accumulator.take_grad(2), options=tf.RunOptions(timeout_in_ms=30))
    assert session.run(accumulator.take_grad(1)) == 4.0


def test_a_gradient_is_not_written_into(session):
    accumulator = tf.ConditionalAccumulator(tf.float32, [2], reduction_type="SUM")
    variable = tf.Variable([1.0, 2.0])
    session.run(variable.initializer)
    apply, take = accumulator.apply_grad(variable), accumulator.take_grad(1)
    for _ in range(3):
        session.run(apply)
    session.run(variable.assign_add([10.0, 10.0]))
    session.run(apply)
    assert session.run(take).tolist() == [14.0, 18.0]
    assert session.run(variable).tolist() == [11.0, 12.0]


@pytest.mark.parametrize("reduction", ["MEAN", "SUM"])
def test_rows_that_come_twice_in_one_gradient(session, reduction):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [4, 1], reduction_type=reduction)
    session.run(accumulator.apply_grad([3, 1, 3], [[1.0], [2.0], [3.0]]))
    session.run(accumulator.apply_grad([3, 0], [[8.0], [5.0]]))
    slices = session.run(accumulator.take_indexed_slices_grad(2))
    assert slices.indices.tolist() == [0, 1, 3]
    assert slices.values[:, 0].tolist() == [5.0, 2.0, 6.0 if reduction == "MEAN" else 12.0]
    assert slices.dense_shape.tolist() == [4, 1]


def test_an_index_past_the_end_is_refused(session):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, [2, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="index is 2 exceeded 2"):
        session.run(accumulator.apply_grad([2], [[1.0]]))


def test_rows_must_have_the_shape_of_the_accumulator_and_of_those_before(session):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[2, None])
    accepted = accumulator.apply_grad([0], [[1.0, 2.0]])
    for indices, values, words in (
        ([3], [[1.0, 2.0]], "index of slice 0 exceeded limits of shape; index is 3 exceeded 2"),
        ([0], [1.0], "expected values rank at least 2, got 1"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Shape mismatch: {words}"):
            session.run(accumulator.apply_grad(indices, values))
    session.run(accepted)
    for values, words in (
        ([[[1.0]]], "expected values rank 2, got 3"),
        ([[1.0, 2.0, 3.0]], "expected values dim 1 to be 2, got 3"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Shape mismatch: {words}"):
            session.run(accumulator.apply_grad([0], values))


def test_rows_may_be_scalars(session):
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[])
    session.run([accumulator.apply_grad([0], [1.0], []), accumulator.apply_grad([0], [3.0])])
    assert session.run(accumulator.take_grad(2))[1].tolist() == [2.0]


def test_one_name_for_two_shapes_is_refused(session):
    tf.ConditionalAccumulator(tf.float32, [2], shared_name="one")
    first = tf.ConditionalAccumulator(tf.float32, [2], shared_name="one")
    other = tf.ConditionalAccumulator(tf.float32, [3], shared_name="one")
    session.run(first.num_accumulated())
    with pytest.raises(tf.errors.InvalidArgumentError, match="has shape"):
        session.run(other.num_accumulated())


def test_references_do_the_same(session):
    raw = tf.raw_ops
    handle = raw.ConditionalAccumulator(dtype=tf.float32, shape=[2])
    for step in (0, 1):
        session.run(
            raw.AccumulatorApplyGradient(handle=handle, local_step=np.int64(step), gradient=[1.0 + step, 2.0])
        )
    assert session.run(raw.AccumulatorNumAccumulated(handle=handle)) == 2
    taken = raw.AccumulatorTakeGradient(handle=handle, num_required=1, dtype=tf.float32)
    assert session.run(taken).tolist() == [1.5, 2.0]
    session.run(raw.AccumulatorSetGlobalStep(handle=handle, new_global_step=np.int64(9)))
    session.run(raw.AccumulatorApplyGradient(handle=handle, local_step=np.int64(8), gradient=[1.0, 2.0]))
    assert session.run(raw.AccumulatorNumAccumulated(handle=handle)) == 0


def test_gradients_of_steps_before_the_current_one_are_dropped(session):
    accumulator = tf.ConditionalAccumulator(tf.float32, [])
    session.run(accumulator.set_global_step(5))
    for step in (4, 5, 6):
        session.run(accumulator.apply_grad(float(step), local_step=step))
    assert session.run(accumulator.num_accumulated()) == 2
    assert session.run(accumulator.take_grad(2)) == 5.5
