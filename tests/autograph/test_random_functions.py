"""Functions made by chance, converted, agree with Python: as Python, and as graph."""

import contextlib
import linecache

import pytest

import tideflow as tf
from tests.autograph.random_functions import source

FEEDS = (-1, 4, 10)


def function(seed):
    """The function of a seed, with its source where AutoGraph looks for it."""
    text, file = source(seed), f"<function {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope = {"nothing": contextlib.nullcontext}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


def int32(number):
    return (number + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("seed", range(6))
def test_random_function(seed):
    f = function(seed)
    expected = [f(value, range) for value in FEEDS]
    converted = tf.autograph.to_graph(f)
    assert [converted(value, range) for value in FEEDS] == expected
    with tf.Graph().as_default():
        x = tf.placeholder(tf.int32, [])
        y = converted(x, tf.range)
        with tf.Session() as session:
            assert [session.run(y, {x: value}) for value in FEEDS] == [int32(e) for e in expected]
