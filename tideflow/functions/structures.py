"""Structures of what functions take and return: the tensors in them, and what calls must have in common."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tideflow.graph import nest
from tideflow.graph.composite import components, from_components, is_composite
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Tensor
from tideflow.graph.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from tideflow.variables.resource import BaseResourceVariable


class UnknownArgument:
    """Stands in a signature for an argument that is neither a tensor nor a plain value."""


def is_value_of_tensors(value: Any) -> bool:
    """Whether a leaf is no tensor, but is made of some: a sparse or ragged tensor, a dataset, an iterator."""
    return is_composite(value) or isinstance(getattr(value, "_type_spec", None), TypeSpec)


def tensors_in(value: Any) -> list[Any]:
    """The tensors, and variables, that a leaf is made of; none of a plain Python value."""
    if isinstance(value, (Tensor, BaseResourceVariable)):
        return [value]
    if is_composite(value):
        return components(value)
    if is_value_of_tensors(value):
        return nest.flatten(value._type_spec._to_components(value))
    return []


def made_of(like: Any, tensors: Sequence[Any]) -> Any:
    """A leaf like another, of these tensors."""
    if isinstance(like, Tensor):
        return tensors[0]
    if is_composite(like):
        return from_components(like, list(tensors))
    return from_spec(like._type_spec, tensors)


def from_spec(spec: TypeSpec, tensors: Sequence[Any]) -> Any:
    """The value of a spec that is made of these tensors."""
    return spec._from_components(nest.pack_sequence_as(spec._component_specs, list(tensors)))


def flat_tensors(structure: Any) -> list[Any]:
    """All tensors and variables of a structure, in order."""
    return [tensor for leaf in nest.flatten(structure) for tensor in tensors_in(leaf)]


def packer(structure: Any) -> Callable[[Sequence[Any]], Any]:
    """A function that puts tensors into the places of those of a structure."""
    leaves = nest.flatten(structure)
    counts = [len(tensors_in(leaf)) for leaf in leaves]
    if not nest.is_nested(structure):
        (leaf,) = leaves
        if isinstance(leaf, Tensor):
            return lambda tensors: tensors[0]
        return lambda tensors: made_of(leaf, tensors) if counts[0] else leaf

    def pack(tensors: Sequence[Any]) -> Any:
        left = iter(tensors)
        flat = [
            made_of(leaf, [next(left) for _ in range(count)]) if count else leaf
            for leaf, count in zip(leaves, counts, strict=True)
        ]
        return nest.pack_sequence_as(structure, flat)

    return pack


# ------------------------------------------------------------------------------------------------ keys


def key_of_arguments(args: Any, ranks_only: bool = False) -> Any:
    """What calls must have in common to share a trace: the types and shapes of tensors, the values of all
    else, and which variables are the same.
    """
    variables: dict[int, int] = {}

    def shape_key(shape: Any) -> Any:
        return shape.ndims if ranks_only else shape.tuple

    def key(value: Any) -> Any:
        if isinstance(value, TensorSpec):
            return "spec", value.dtype.as_datatype_enum, shape_key(value.shape), value.name
        if isinstance(value, Tensor):
            return "tensor", value.dtype.as_datatype_enum, shape_key(value.shape)
        if isinstance(value, BaseResourceVariable):
            number = variables.setdefault(id(value.handle), len(variables))
            return "variable", number, value.dtype.as_datatype_enum, value.shape.tuple, value.trainable
        if isinstance(value, TypeSpec):
            return "composite", value
        if is_value_of_tensors(value):
            parts = [shape_key(part.shape) for part in tensors_in(value)] if ranks_only else None
            return "composite", type_spec_from_value(value), None if parts is None else tuple(parts)
        if isinstance(value, dict):
            return type(value), tuple((name, key(value[name])) for name in _ordered(value))
        if isinstance(value, (list, tuple)):
            return type(value), tuple([key(item) for item in value])
        if nest.is_nested(value):
            return type(value), tuple([key(item) for item in nest.flatten(value)])
        try:
            return "object", weakref.ref(value)
        except TypeError:
            return "value", value

    return key(args)


def _ordered(mapping: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def signature_of(structure: Any, argument_names: Sequence[str] | None = None) -> Any:
    """A structure with a spec in the place of each tensor, named by the way to it: `batch/images/0`.

    Args:
      structure: The arguments by position, or by name.
      argument_names: The names of those by position.
    """

    def spec(path: tuple[Any, ...], leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            told = None if leaf.is_eager else leaf.op.attrs.get("_user_specified_name")
            name = told if path and told and told != path[0] else "/".join(map(str, path))
            return TensorSpec(leaf.shape, leaf.dtype, name)
        if is_value_of_tensors(leaf):
            return leaf._type_spec
        if leaf is None or isinstance(leaf, (bool, int, float, complex, str, bytes, DType, TypeSpec)):
            return leaf
        return UnknownArgument()

    found = []
    for path, leaf in nest.leaves_with_paths(structure):
        named = (argument_names[path[0]], *path[1:]) if argument_names else path
        found.append(spec(named, leaf))
    return nest.pack_sequence_as(structure, found)
