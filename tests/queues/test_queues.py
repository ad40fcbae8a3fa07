"""Queues at run time: rows that come in together and leave in other parts, in the order that is promised."""

import collections

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tideflow as tf
from tideflow.eager.context import eager_mode
from tideflow.graph.shapes import TensorShape
from tideflow.runtime.queues import PaddingQueue, Queue, RandomShuffleQueue
from tideflow.runtime.waiting import StepContext

moves = st.lists(
    st.tuples(st.sampled_from(["in", "in many", "out", "out many"]), st.integers(1, 7)), max_size=40
)


def make(kind=Queue, shapes=((), ()), **more):
    shapes = [TensorShape(shape) for shape in shapes]
    return kind("q", [tf.int64, tf.string], shapes, 30, lambda: False, **more)


def rows(first, count):
    numbers = range(first, first + count)
    return [torch.tensor(list(numbers)), np.array([b"%d" % n for n in numbers], object)]


def go_through(queue, moves):
    """Does what can be done without waiting; what came out, in order, and how many are left."""
    following, found = 0, []
    for move, count in moves:
        if move == "in" and queue.size() < queue.capacity:
            queue.enqueue([value[0, ...] for value in rows(following, 1)])
            following += 1
        elif move == "in many" and queue.size() + count <= queue.capacity:
            queue.enqueue_many(rows(following, count))
            following += count
        elif move == "out" and queue.size():
            number, text = queue.dequeue()
            assert (tuple(number.shape), text.shape) == ((), ())
            found.append((int(number), text.item()))
        elif move == "out many" and queue.size() >= count:
            numbers, texts = queue.dequeue_many(count)
            found += zip(numbers.tolist(), texts.tolist(), strict=True)
    return following, found


@given(moves)
@settings(max_examples=60, deadline=None)
def test_first_in_first_out(moves):
    queue = make()
    put, found = go_through(queue, moves)
    assert found == [(n, b"%d" % n) for n in range(len(found))]
    assert queue.size() == put - len(found)


@given(moves)
@settings(max_examples=60, deadline=None)
def test_shuffling_loses_nothing(moves):
    queue = make(RandomShuffleQueue, min_after_dequeue=0, seed=1, seed2=2)
    put, found = go_through(queue, moves)
    queue.close()
    if queue.size():
        numbers, texts = StepContext().resolve(queue.dequeue_many, 100, up_to=True)
        found += zip(numbers.tolist(), texts.tolist(), strict=True)
    assert collections.Counter(found) == collections.Counter((n, b"%d" % n) for n in range(put))


def test_a_batch_is_padded_across_parts():
    queue = make(PaddingQueue, shapes=[[None], []])
    queue.enqueue([torch.tensor([1, 2, 3]), np.array(b"a", object)])
    queue.enqueue_many([torch.tensor([[4], [5]]), np.array([b"b", b"c"], object)])
    numbers, texts = queue.dequeue_many(3)
    assert numbers.tolist() == [[1, 2, 3], [4, 0, 0], [5, 0, 0]]
    assert texts.tolist() == [b"a", b"b", b"c"]


def test_who_cannot_have_all_leaves_all_there():
    queue = make(RandomShuffleQueue, min_after_dequeue=0, seed=1, seed2=2)
    queue.enqueue_many(rows(0, 4))
    queue.close()
    with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 5, current size 4"):
        StepContext().resolve(queue.dequeue_many, 5)
    other = make(RandomShuffleQueue, min_after_dequeue=0, seed=1, seed2=2)
    other.enqueue_many(rows(0, 4))
    assert queue.dequeue_many(4)[0].tolist() == other.dequeue_many(4)[0].tolist()


@pytest.mark.parametrize("kind", ["FIFOQueue", "RandomShuffleQueue", "StagingArea", "accumulator", "dataset"])
def test_what_was_fed_can_be_changed_afterwards(kind):
    fed = np.ones([3, 2], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.placeholder(tf.float32, [3, 2])
        if kind == "StagingArea":
            from tideflow.queues.staging import StagingArea

            area = StagingArea([tf.float32])
            put, take = area.put([value]), area.get()
        elif kind == "accumulator":
            total = tf.ConditionalAccumulator(tf.float32, [3, 2])
            put, take = total.apply_grad(value), total.take_grad(1)
        elif kind == "dataset":
            iterator = tf.data.Dataset.from_tensors(value).make_initializable_iterator()
            put, take = iterator.initializer, iterator.get_next()
        else:
            more = {"min_after_dequeue": 0} if kind == "RandomShuffleQueue" else {}
            queue = getattr(tf, kind)(capacity=9, dtypes=[tf.float32], shapes=[[2]], **more)
            put, take = queue.enqueue_many([value]), queue.dequeue_many(3)
        session.run(put, {value: fed})
        fed[:] = 7
        assert (np.asarray(session.run(take)) == 1).all()


def test_no_rows_may_come_into_a_closed_queue():
    queue = make()
    queue.close()
    queue.enqueue_many(rows(0, 0))
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        queue.enqueue_many(rows(0, 1))


@pytest.mark.parametrize("shapes", [None, [], [None], [2], (2, 3), tf.TensorShape([None]), 3])
def test_a_padding_queue_wants_a_list_of_shapes(shapes):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="a list of shapes must be provided"):
        tf.PaddingFIFOQueue(5, [tf.int32], shapes)


def test_a_padding_queue_wants_the_rank_of_its_elements():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must have a defined rank"):
        tf.PaddingFIFOQueue(5, [tf.int32], [tf.TensorShape(None)])


def test_a_queue_says_what_it_is():
    with tf.Graph().as_default():
        plain = tf.FIFOQueue(10, [tf.float32, tf.int64], shapes=[[3], []], name="numbers")
        named = tf.RandomShuffleQueue(10, 2, [tf.string], names=["line"], name="lines")
    assert repr(plain) == "<FIFOQueue 'numbers' of float32 (3,), int64 ()>"
    assert repr(named) == "<RandomShuffleQueue 'lines' of line string <unknown>>"


def test_one_of_several_queues_has_what_is_the_same_of_their_shapes():
    def shape_of_one(*shapes):
        queues = [tf.PaddingFIFOQueue(5, [tf.float32], [shape]) for shape in shapes]
        return tf.QueueBase.from_list(tf.constant(0), queues).shapes[0]

    with tf.Graph().as_default():
        assert shape_of_one([1, 2], [1, 3]).as_list() == [1, None]
        assert shape_of_one([1], [None]).as_list() == [None]
        assert shape_of_one([1], [1, 1]).ndims is None


def test_rows_that_are_enqueued_are_as_many_of_each_component():
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(5, [tf.int32] * 3, [[]] * 3)
        with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
            queue.enqueue_many((tf.placeholder(tf.int32, [None]), [1, 2], [1, 2, 3]))


def test_a_shared_shuffling_queue_has_the_seed_of_its_name():
    with tf.Graph().as_default():
        tf.set_random_seed(87654321)
        queues = [tf.RandomShuffleQueue(1, 0, tf.float32, shared_name="shared") for _ in range(2)]
        seeds = [[queue.queue_ref.op.get_attr(name) for name in ("seed", "seed2")] for queue in queues]
    assert seeds[0] == seeds[1] and seeds[0][0] == 87654321 and seeds[0][1] > 0


def test_many_are_dequeued_in_eager_mode():
    with eager_mode():
        queue = tf.FIFOQueue(4, tf.float32, shapes=[[]])
        queue.enqueue_many([[1.0, 2.0, 3.0]])
        assert queue.dequeue_many(2).numpy().tolist() == [1.0, 2.0]
