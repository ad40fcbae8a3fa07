"""Type specifications: equality, what they accept, and values taken apart and put together."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tideflow as tf
from tideflow.graph import type_spec
from tideflow.graph.type_spec import type_spec_from_value

SPECS = [
    tf.TensorSpec([None, 2], tf.int32, "x"),
    tf.TensorSpec(None),
    tf.SparseTensorSpec([None, 3]),
    tf.SparseTensorSpec(),
    tf.IndexedSlicesSpec([None, 2], tf.float64, tf.int32, tf.int64, [3]),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_spec_survives_a_pickle(spec):
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert hash(again) == hash(spec)


def test_specs_are_keys():
    assert len({*SPECS, tf.TensorSpec(None), tf.SparseTensorSpec(None)}) == len(SPECS)


def test_the_spec_of_a_value():
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    assert type_spec_from_value(tf.zeros([2])) == tf.TensorSpec([2])
    assert type_spec_from_value(sparse) == tf.SparseTensorSpec([2, 3])
    assert type_spec_from_value(np.zeros([2, 3])) == tf.TensorSpec([2, 3], tf.float64)
    assert type_spec_from_value([tf.zeros([2]), tf.zeros([3])]) == tf.TensorSpec([2, None])
    assert type_spec_from_value([sparse, sparse]) == tf.SparseTensorSpec([2, 2, 3])
    assert type_spec_from_value(3) == tf.TensorSpec([], tf.int32)
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(object())


def test_slices_know_what_their_parts_say():
    slices = tf.IndexedSlices(tf.zeros([3, 2]), tf.constant([1, 2, 3]), tf.constant([5, 2]))
    assert slices._type_spec == tf.IndexedSlicesSpec([5, 2], tf.float32, tf.int32, tf.int32, [3])
    looped = slices._shape_invariant_to_type_spec(tf.TensorShape([None, 2]))
    assert looped == tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int32, tf.int32)


def test_a_sparse_loop_variable_has_a_rank():
    sparse = tf.SparseTensor([[0, 1]], [1.0], [2, 3])
    assert sparse._shape_invariant_to_type_spec(tf.TensorShape([2])) == tf.SparseTensorSpec([None, None])
    with pytest.raises(ValueError, match="Expected a shape with 1 dimension"):
        sparse._shape_invariant_to_type_spec(tf.TensorShape([2, 3]))


def test_a_spec_of_ones_own():
    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    class PairSpec(tf.TypeSpec):
        value_type = Pair
        _component_specs = (tf.TensorSpec([]), tf.TensorSpec([2]))

        def _serialize(self):
            return ()

        def _to_components(self, value):
            return value.left, value.right

        def _from_components(self, components):
            return Pair(*components)

    type_spec.register_type_spec_from_value_converter(Pair, lambda pair: PairSpec())
    pair = Pair(tf.constant(1.0), tf.constant([2.0, 3.0]))
    spec = type_spec_from_value(pair)
    flat = spec._to_tensor_list(pair)
    again = spec._from_tensor_list(flat)
    assert spec == PairSpec()
    assert (again.left, again.right) == (pair.left, pair.right)
    with pytest.raises(ValueError, match="wrong number of tensors"):
        spec._from_tensor_list(flat[:1])
    with pytest.raises(ValueError, match=r"tensor 1 .* is incompatible"):
        spec._from_tensor_list([flat[0], flat[0]])


def test_what_lacks_a_part_cannot_be_made():
    with pytest.raises(TypeError, match="abstract"):
        tf.TypeSpec()
