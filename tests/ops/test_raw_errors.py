"""Refusals are in our words, wherever an op meets what it refuses: in the graph, the feeds or the step."""

from __future__ import annotations

import pytest

import tideflow as tf
from tests.ops.raw_errors import is_raw, raw_refusals


def test_every_refusal_is_in_our_words():
    assert list(raw_refusals()) == []


@pytest.mark.parametrize("action", [lambda: [][1], lambda: None + 1, lambda: int("x"), lambda: {}["key"]])
def test_errors_of_python_are_raw(action):
    with pytest.raises(Exception) as caught:
        action()
    assert is_raw(caught.value)


def test_an_error_that_the_package_raises_is_not():
    with pytest.raises(ValueError) as caught:
        tf.zeros([2]) + tf.zeros([3])
    assert not is_raw(caught.value)
