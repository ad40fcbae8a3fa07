"""Both generations of every kind of queue: what goes in comes out, in the order that is promised."""

import pytest

import tideflow as tf
from tests.ops.renaming import op_types, with_op_types

KINDS = {
    "FIFOQueue": lambda: tf.FIFOQueue(10, [tf.int64, tf.string], [[], []]),
    "PaddingFIFOQueue": lambda: tf.PaddingFIFOQueue(10, [tf.int64, tf.string], [[], []]),
    "PriorityQueue": lambda: tf.PriorityQueue(10, [tf.string], [[]]),
    "RandomShuffleQueue": lambda: tf.RandomShuffleQueue(10, 0, [tf.int64, tf.string], [[], []], seed=3),
}
# Numbers go in out of order, each with its name.
NUMBERS = [5, 3, 4, 1, 2]
PROMISED = {"PriorityQueue": sorted([6, *NUMBERS])}


def of_first_generation(op_type):
    is_of_queues = op_type.startswith("Queue") or op_type.removesuffix("V2") in KINDS
    return op_type.removesuffix("V2") if is_of_queues else op_type


@pytest.mark.parametrize("generation", ["first", "second"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_in_comes_out(kind, generation):
    with tf.Graph().as_default() as graph:
        queue = KINDS[kind]()
        queue.enqueue([tf.constant(6, tf.int64), "6"], name="put")
        names = [str(number) for number in NUMBERS]
        queue.enqueue_many([tf.constant(NUMBERS, tf.int64), names], name="put_many")
        queue.dequeue(name="take")
        queue.dequeue_many(2, name="take_many")
        queue.dequeue_up_to(10, name="take_up_to")
        queue.size(name="size")
        queue.is_closed(name="is_closed")
        queue.close(name="close")
    if generation == "first":
        graph = with_op_types(graph, of_first_generation)
        assert not [op_type for op_type in op_types(graph) if op_type.endswith("V2")]
    with tf.Session(graph=graph) as session:
        session.run(["put"])
        session.run(["put_many"])
        assert session.run(["size:0", "is_closed:0"]) == [6, False]
        found = [session.run(["take:0", "take:1"])]
        found += zip(*session.run(["take_many:0", "take_many:1"]))
        session.run(["close"])
        found += zip(*session.run(["take_up_to:0", "take_up_to:1"]))
        assert session.run(["size:0", "is_closed:0"]) == [0, True]
        with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
            session.run("take:0")
    numbers = [int(number) for number, _ in found]
    assert [name for _, name in found] == [b"%d" % number for number in numbers]
    if kind == "RandomShuffleQueue":
        assert sorted(numbers) == sorted([6, *NUMBERS])
    else:
        assert numbers == PROMISED.get(kind, [6, *NUMBERS])
