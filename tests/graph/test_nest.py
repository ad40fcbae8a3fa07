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


def test_composites_are_entered_on_request():
    nest = tf.contrib.framework.nest
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    paths = [("a", "SparseTensor", 0), ("a", "SparseTensor", 1), ("a", "SparseTensor", 2)]
    assert list(nest.yield_flat_paths({"a": sparse}, expand_composites=True)) == paths
    assert list(nest.yield_flat_paths({"a": sparse._type_spec}, expand_composites=True)) == paths
    assert list(nest.yield_flat_paths({"a": sparse})) == [("a",)]
    nest.assert_same_structure([sparse], [sparse._type_spec], expand_composites=True)
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_shallow_structure([sparse], [[1]], expand_composites=True)


def test_functions_of_paths_take_further_arguments():
    nest = tf.contrib.framework.nest
    joined = nest.map_structure_with_paths(
        lambda path, leaf, end: path + leaf + end, {"a": ["x"]}, end="!", check_types=False
    )
    assert joined == {"a": ["a/0x!"]}


def test_lists_of_other_types_are_alike():
    class Row(list):
        pass

    tf.nest.assert_same_structure([1], Row([2]))
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.assert_same_structure([1], (2,))
