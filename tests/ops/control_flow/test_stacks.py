"""Stacks behind references and behind resources: last in, first out, up to a limit, until they are closed."""

import numpy as np
import pytest

import tideflow as tf

raw = tf.raw_ops
GENERATIONS = ["", "V2"]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


class Stack:
    """A stack in the graph; what is done to it is done in this order."""

    def __init__(self, generation, limit=-1):
        self.generation = generation
        limits = {"max_size": np.int32(limit)} if generation else {}
        self.handle = self._op("Stack")(elem_type=tf.int32, **limits)
        self.last = []

    def push(self, value):
        return self._then(lambda: self._op("StackPush")(handle=self.handle, elem=value))

    def pop(self, elem_type=tf.int32):
        return self._then(lambda: self._op("StackPop")(handle=self.handle, elem_type=elem_type))

    def close(self):
        return self._then(lambda: self._op("StackClose")(handle=self.handle))

    def _op(self, name):
        return getattr(raw, f"{name}{self.generation}")

    def _then(self, make):
        with tf.control_dependencies(self.last):
            made = make()
        self.last = [made]
        return made


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_last_pushed_is_popped_first(session, generation):
    stack = Stack(generation)
    found = [stack.push(1), stack.push(2), stack.pop(), stack.push(3), stack.pop(), stack.pop()]
    assert session.run(found) == [1, 2, 2, 3, 3, 1]
    assert session.run(found) == [1, 2, 2, 3, 3, 1]  # each step has a stack of its own


@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_a_stack_refuses(session, generation):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Stack is empty"):
        session.run(Stack(generation).pop())
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must have type int32"):
        session.run(Stack(generation).push(1.5))
    closed = Stack(generation)
    closed.close()
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        session.run(closed.push(1))


def test_a_stack_has_a_limit(session):
    stack = Stack("V2", limit=1)
    stack.push(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="may hold 1 values"):
        session.run(stack.push(2))
