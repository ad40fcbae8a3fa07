"""Names that tests and libraries take from `tensorflow.python.data.util`, where lists are values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.data import structure
from tideflow.data.structure import flatten, map_structure  # noqa: F401 - looked up by programs
from tideflow.graph.dtypes import DType
from tideflow.graph.shapes import TensorShape

is_sequence = structure.is_nested
pack_sequence_as = structure.pack
flatten_up_to = structure.up_to
assert_same_structure = structure.assert_same

type_spec_from_value = structure.spec_of
normalize_element = structure.normalized
to_tensor_list = structure.to_tensors
to_batched_tensor_list = structure.to_batched_tensors
from_tensor_list = from_compatible_tensor_list = structure.from_tensors
get_flat_tensor_specs = structure.flat_specs
convert_legacy_structure = structure.from_legacy


def map_structure_up_to(shallow_tree: Any, func: Callable, *inputs: Any) -> Any:
    """Applies a function to the parts of structures that stand where the shallow one has leaves."""
    parts = [structure.up_to(shallow_tree, each) for each in inputs]
    return structure.pack(shallow_tree, [func(*together) for together in zip(*parts, strict=True)])


def get_flat_tensor_types(element_spec: Any) -> list[DType]:
    """The types of the tensors that carry an element."""
    return [spec.dtype for spec in structure.flat_specs(element_spec)]


def get_flat_tensor_shapes(element_spec: Any) -> list[TensorShape]:
    """The shapes of the tensors that carry an element."""
    return [spec.shape for spec in structure.flat_specs(element_spec)]


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Whether elements of the one structure can be elements of the other."""
    try:
        structure.assert_same(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(structure.flatten(spec1), structure.flatten(spec2), strict=True)
    return all(one.is_compatible_with(other) for one, other in pairs)
