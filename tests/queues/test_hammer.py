"""Sixteen threads on variables, queues and accumulators: every element and update is accounted for."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

import numpy as np

import tideflow as tf

ROUNDS = 1200


def run_threads(targets: list[Callable[[], None]]) -> None:
    """Runs all to their end; the first error of one is the test's."""
    errors: list[BaseException] = []

    def guarded(target: Callable[[], None]) -> None:
        try:
            target()
        except BaseException as error:  # whatever it is, the test must see it
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[target], daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads)


def test_everything_at_once():
    """4 threads enqueue, 4 dequeue (one by one, many, up to), 4 add to variables, 3 apply gradients, 1 takes
    them. Queues are small, so that everybody waits for somebody most of the time.
    """
    with tf.Graph().as_default() as graph:
        first = tf.FIFOQueue(3, [tf.int64], [[]])
        second = tf.RandomShuffleQueue(12, 2, [tf.int64, tf.int64], [[], []], seed=5)
        number = tf.placeholder(tf.int64, [])
        numbers = tf.placeholder(tf.int64, [None])
        put_one, put_many = first.enqueue(number), first.enqueue_many([numbers])
        one, pair = first.dequeue(), first.dequeue_up_to(2)
        onward = second.enqueue([number, number * number])
        out = second.dequeue_many(3)
        moved = second.enqueue([one, one * one])  # from one queue into the other, in one step

        total = tf.Variable(0, dtype=tf.int64, use_resource=True)
        old_total = tf.Variable(np.zeros(8, np.int64), use_resource=False)
        add = total.assign_add(number, use_locking=True)
        add_old = old_total.assign_add(tf.fill([8], number), use_locking=True)
        read_old = old_total.read_value()

        dense = tf.ConditionalAccumulator(tf.float64, [2], reduction_type="SUM")
        sparse = tf.SparseConditionalAccumulator(tf.float64, [5, 1], reduction_type="SUM")
        apply_dense = dense.apply_grad(tf.cast(tf.stack([number, 1]), tf.float64), local_step=1 << 40)
        row = tf.reshape(number % 5, [1])
        apply_sparse = sparse.apply_grad(row, tf.ones([1, 1], tf.float64), local_step=1 << 40)
        take_dense, take_sparse = dense.take_grad(4), sparse.take_grad(2)
        left = [dense.num_accumulated(), sparse.num_accumulated()]
        close_first, close_second = first.close(), second.close()
        initialize = tf.global_variables_initializer()

    session = tf.Session(graph=graph)
    session.run(initialize)
    got: list[tuple[int, int]] = []
    dense_sum, sparse_sum = np.zeros(2), np.zeros(5)
    producers_left, movers_left = [4], [3]
    counting = threading.Lock()
    gradients_applied = threading.Event()
    appliers_left = [3]

    def last(left: list[int]) -> bool:
        with counting:
            left[0] -= 1
            return left[0] == 0

    def produce(which: int) -> None:
        for i in range(0, ROUNDS, 3):
            base = which * 10_000 + i
            session.run(put_one, {number: base})
            session.run(put_many, {numbers: [base + 1, base + 2]})
        if last(producers_left):
            session.run(close_first)

    def move(which: int) -> None:
        try:
            while True:
                if which == 0:
                    session.run(moved)
                else:
                    for value in session.run(pair) if which == 1 else [session.run(one)]:
                        session.run(onward, {number: value})
        except tf.errors.OutOfRangeError:
            if last(movers_left):
                session.run(close_second)

    def consume() -> None:
        while True:
            try:
                values, squares = session.run(out)
            except tf.errors.OutOfRangeError:
                return
            got.extend(zip(values.tolist(), squares.tolist()))

    def add_up(which: int) -> None:
        seen = -1
        for i in range(ROUNDS):
            session.run(add, {number: i})
            session.run(add_old, {number: 1})
            rows = session.run(read_old)
            assert len(set(rows.tolist())) == 1, "half an update was read"
            assert rows[0] > seen
            seen = rows[0]

    def apply(which: int) -> None:
        for i in range(ROUNDS):
            session.run([apply_dense, apply_sparse], {number: i})
        if last(appliers_left):
            gradients_applied.set()

    def take() -> None:
        """Takes until nobody applies and too few are left."""
        while True:
            is_over = gradients_applied.is_set()
            there = session.run(left)
            if there[0] >= 4:
                dense_sum[:] += session.run(take_dense)
            if there[1] >= 2:
                indices, values, _ = session.run(take_sparse)
                sparse_sum[indices] += values[:, 0]
            if is_over and there[0] < 4 and there[1] < 2:
                return

    targets = [lambda which=which: produce(which) for which in range(4)]
    targets += [lambda which=which: move(which) for which in range(3)] + [consume]
    targets += [lambda which=which: add_up(which) for which in range(4)]
    targets += [lambda which=which: apply(which) for which in range(3)] + [take]
    assert len(targets) == 16
    run_threads(targets)

    rest = session.run(second.dequeue_up_to(10)) if session.run(second.size()) else ([], [])
    got += zip(*map(list, rest))
    wanted = [which * 10_000 + i for which in range(4) for i in range(ROUNDS)]
    assert collections.Counter(value for value, _ in got) == collections.Counter(wanted)
    assert all(square == value * value for value, square in got)
    assert session.run(total) == 4 * sum(range(ROUNDS))
    assert session.run(old_total).tolist() == [4 * ROUNDS] * 8
    there = session.run(left)
    if there[0]:
        dense_sum += session.run(dense.take_grad(1))
    if there[1]:
        indices, values, _ = session.run(sparse.take_grad(1))
        sparse_sum[indices] += values[:, 0]
    assert dense_sum.tolist() == [3 * sum(range(ROUNDS)), 3 * ROUNDS]
    assert sparse_sum.tolist() == [3 * ROUNDS / 5] * 5
    session.close()


def test_steps_that_give_up_lose_nothing():
    """Half of the steps are given next to no time; what they took is back, what they put in is out again."""
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(4, [tf.int64], [[]])
        number = tf.placeholder(tf.int64, [])
        put, many, size = queue.enqueue(number), queue.dequeue_many(3), queue.size()
    session = tf.Session(graph=graph)
    hurried = tf.RunOptions(timeout_in_ms=1)
    counted: collections.Counter = collections.Counter()
    locks = threading.Lock()
    produced: list[int] = []

    def produce(which: int) -> None:
        for i in range(60):
            value = which * 1000 + i
            try:
                session.run(put, {number: value}, options=hurried if i % 2 else None)
            except tf.errors.DeadlineExceededError:
                continue
            with locks:
                produced.append(value)

    def consume() -> None:
        turn = 0
        while not done.is_set() or session.run(size) >= 3:
            turn += 1
            try:
                taken = session.run(many, options=hurried if turn % 2 else patient).tolist()
            except tf.errors.DeadlineExceededError:
                continue
            with locks:
                counted.update(taken)

    patient, done = tf.RunOptions(timeout_in_ms=50), threading.Event()
    consumers = threading.Thread(target=lambda: run_threads([consume] * 4), daemon=True)
    consumers.start()
    run_threads([lambda which=which: produce(which) for which in range(8)])
    done.set()
    consumers.join(120)
    assert not consumers.is_alive()
    with graph.as_default():
        rest = session.run(queue.dequeue_many(int(session.run(size)))).tolist()
    assert counted + collections.Counter(rest) == collections.Counter(produced)
    session.close()
