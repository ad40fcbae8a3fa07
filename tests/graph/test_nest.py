"""Structures: which containers are looked into, and what they become."""

from collections import OrderedDict, deque

import pytest

import tideflow as tf

NUMBERS = OrderedDict(b=1, a=2)


@pytest.mark.parametrize(
    ("structure", "leaves", "kind"),
    [
        (NUMBERS, [2, 1], OrderedDict),
        (NUMBERS.values(), [1, 2], list),
        (NUMBERS.keys(), ["b", "a"], list),
        (range(3), [0, 1, 2], list),
        (deque([1, 2]), [1, 2], deque),
    ],
)
def test_containers(structure, leaves, kind):
    assert tf.nest.is_nested(structure)
    assert tf.nest.flatten(structure) == leaves
    assert type(tf.nest.map_structure(lambda leaf: leaf, structure)) is kind


@pytest.mark.parametrize("leaf", ["ab", b"ab", {1, 2}, None, 3, tf.TensorShape([1, 2])])
def test_leaves(leaf):
    assert not tf.nest.is_nested(leaf)
    assert tf.nest.flatten(leaf) == [leaf]
