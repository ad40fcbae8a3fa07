"""`tf.nest`: structures of nested lists, tuples, named tuples, dicts, views of dicts and attrs classes.

Everything else is a leaf. A dict's values are in the order of its sorted keys, those of a view of a dict in
the order of the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any

from tideflow.export import export


@export("nest.is_nested", "contrib.framework.nest.is_sequence")
def is_nested(seq: Any) -> bool:
    """Whether a value is a nested structure and not a leaf.

    Args:
      seq: Any value.

    Returns:
      True for a list, a tuple or another sequence, a mapping or a view of one, or an instance of an attrs
      class.
    """
    if isinstance(seq, (str, bytes)):
        return False
    return isinstance(seq, (list, tuple, Mapping, MappingView, Sequence)) or hasattr(
        type(seq), "__attrs_attrs__"
    )


@export("contrib.framework.nest.is_sequence_or_composite")
def is_nested_or_composite(o: Any) -> bool:
    """Whether a value is a container, or a tensor made of several, or the spec of one.

    Args:
      o: Any value.

    Returns:
      Whether it is.
    """
    return is_nested(o) or spec_of_composite(o) is not None


def nesting_test(expand_composites: bool) -> Callable[[Any], bool]:
    """The function that says of a part of a structure whether it is a leaf."""
    return is_nested_or_composite if expand_composites else is_nested


def _children(structure: Any) -> list[Any]:
    """The parts of a container; a composite tensor has one, the structure of its components."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    if hasattr(type(structure), "__attrs_attrs__"):
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    if is_nested(structure):
        return list(structure)
    spec = spec_of_composite(structure)
    return [spec._component_specs if spec is structure else spec._to_components(structure)]


def keyed_children(structure: Any) -> list[tuple[Any, Any]]:
    """The parts of a container in their order, each with its key, its field's name or its place."""
    children = _children(structure)
    if isinstance(structure, Mapping):
        return list(zip(_sorted_keys(structure), children, strict=True))
    if hasattr(type(structure), "__attrs_attrs__"):
        return [(a.name, child) for a, child in zip(type(structure).__attrs_attrs__, children, strict=True)]
    if hasattr(structure, "_fields"):
        return list(zip(structure._fields, children, strict=False))
    if is_nested(structure):
        return list(enumerate(children))
    spec = spec_of_composite(structure)
    kind = spec.value_type if spec is structure else type(structure)
    return [(kind.__name__, child) for child in children]


def leaves_with_paths(structure: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a structure, each with the keys that lead to it."""
    if not is_nested(structure):
        yield path, structure
        return
    for key, child in keyed_children(structure):
        yield from leaves_with_paths(child, (*path, key))


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _rebuild(like: Any, children: list[Any]) -> Any:
    kind = type(like)
    if isinstance(like, Mapping):
        by_key = dict(zip(_sorted_keys(like), children, strict=True))
        items = [(key, by_key[key]) for key in like]
        if hasattr(like, "default_factory"):
            return kind(like.default_factory, items)
        return kind(items)
    if hasattr(kind, "__attrs_attrs__") or hasattr(like, "_fields"):
        return kind(*children)
    if isinstance(like, (MappingView, range)):  # these cannot be made of their members
        return children
    if is_nested(like):
        return kind(children)
    return spec_of_composite(like)._from_components(*children)


@export("nest.flatten", "contrib.framework.nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Lists the leaves of a structure.

    Args:
      structure: A nested structure, or a single leaf.
      expand_composites: Whether sparse and ragged tensors, and specs of them, count as their components.

    Returns:
      The leaves; those of a mapping in the order of its sorted keys.

    Raises:
      TypeError: If a mapping's keys cannot be sorted.
    """
    return list(_leaves(structure, nesting_test(expand_composites)))


def _leaves(structure: Any, is_nested: Callable[[Any], bool] = is_nested) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for child in _children(structure):
        yield from _leaves(child, is_nested)


def spec_of_composite(value: Any) -> Any:
    """The spec of a composite tensor, or the spec of one itself; None of any other value."""
    if isinstance(value, type):
        return None
    spec = getattr(value, "_type_spec", None)
    if spec is None and hasattr(value, "_component_specs") and value._component_specs is not value:
        return value
    return spec


@export("nest.pack_sequence_as", "contrib.framework.nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False) -> Any:
    """Arranges a flat sequence of values in a structure.

    Args:
      structure: The structure, whose leaves do not matter.
      flat_sequence: The new leaves, in the order in which `tf.nest.flatten` would list them.
      expand_composites: Whether sparse and ragged tensors, and specs of them, count as their components.

    Returns:
      The structure with the new leaves.

    Raises:
      TypeError: If `flat_sequence` is not a sequence.
      ValueError: If the number of values is not the number of leaves.
    """
    if not is_nested(flat_sequence) or isinstance(flat_sequence, Mapping):
        raise TypeError("flat_sequence must be a sequence")
    enters = nesting_test(expand_composites)
    if not enters(structure):
        if len(flat_sequence) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        return flat_sequence[0]
    count = sum(1 for _ in _leaves(structure, enters))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence), enters)


def _pack(structure: Any, leaves: Iterator[Any], is_nested: Callable[[Any], bool]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return _rebuild(structure, [_pack(child, leaves, is_nested) for child in _children(structure)])


@export("nest.assert_same_structure", "contrib.framework.nest.assert_same_structure")
def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Checks that two structures differ in their leaves only.

    Args:
      nest1: The first structure.
      nest2: The second structure.
      check_types: Whether containers must have the same types too.
      expand_composites: Whether sparse and ragged tensors, and specs of them, count as their components.

    Raises:
      ValueError: If the structures differ.
      TypeError: If the structures agree, but the types of their containers do not.
    """
    found = difference(nest1, nest2, check_types, nesting_test(expand_composites))
    if found is not None:
        raise found


def difference(
    nest1: Any, nest2: Any, check_types: bool, is_nested: Callable[[Any], bool]
) -> ValueError | TypeError | None:
    """The error that says where two structures differ, None if they do in their leaves only."""
    found = _first_difference(nest1, nest2, check_types, is_nested)
    if found is None:
        return None
    kind, what = found
    return kind(
        f"The two structures don't have the same nested structure.\n\nFirst structure: {_typed(nest1)}\n\n"
        f"Second structure: {_typed(nest2)}\n\nMore specifically: {what}\nEntire first structure:\n"
        f"{_outline(nest1)}\nEntire second structure:\n{_outline(nest2)}"
    )


class _Dot:
    """A leaf in the outline of a structure."""

    def __repr__(self) -> str:
        return "."


def _outline(structure: Any) -> Any:
    """A structure with a dot in the place of each leaf."""
    return pack_sequence_as(structure, [_Dot() for _ in _leaves(structure)])


def _first_difference(
    nest1: Any, nest2: Any, check_types: bool, is_nested: Callable[[Any], bool]
) -> tuple[type[ValueError] | type[TypeError], str] | None:
    """The kind of error, and what differs."""
    if is_nested(nest1) != is_nested(nest2):
        nested, leaf = (nest1, nest2) if is_nested(nest1) else (nest2, nest1)
        return ValueError, (
            f'Substructure "{_typed(nested)}" is a sequence, while substructure "{_typed(leaf)}" is not'
        )
    if not is_nested(nest1):
        return None
    if check_types and not _of_one_kind(nest1, nest2):
        return TypeError, (
            f"The two namedtuples don't have the same sequence type. First structure {_typed(nest1)} has "
            f"type {type(nest1).__name__}, while second structure {_typed(nest2)} has type "
            f"{type(nest2).__name__}"
        )
    both_are_mappings = isinstance(nest1, Mapping) and isinstance(nest2, Mapping)
    if check_types and both_are_mappings and set(nest1) != set(nest2):
        return ValueError, (
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{_typed(list(nest1))}, while second structure has keys {_typed(list(nest2))}"
        )
    if difference_of_specs := incompatibility(nest1, nest2):
        return ValueError, difference_of_specs
    first, second = _children(nest1), _children(nest2)
    if len(first) != len(second):
        return ValueError, (
            f"The two structures don't have the same number of elements. First structure: {_typed(nest1)}. "
            f"Second structure: {_typed(nest2)}"
        )
    pairs = zip(first, second, strict=True)
    found = (_first_difference(a, b, check_types, is_nested) for a, b in pairs)
    return next((each for each in found if each is not None), None)


def _of_one_kind(first: Any, second: Any) -> bool:
    """Whether two containers count as of the same type: lists do, and mappings, alike named tuples, and a
    composite tensor and a spec.
    """
    if type(first) is type(second) or any(
        isinstance(first, kind) and isinstance(second, kind) for kind in (list, Mapping)
    ):
        return True
    return are_alike_named_tuples(first, second) or are_composite_and_spec(first, second)


def are_alike_named_tuples(first: Any, second: Any) -> bool:
    """Whether two values are named tuples whose types have the same name and fields."""
    fields = getattr(first, "_fields", None)
    return (
        fields is not None
        and fields == getattr(second, "_fields", None)
        and type(first).__name__ == type(second).__name__
    )


def are_composite_and_spec(first: Any, second: Any) -> bool:
    """Whether one of two values is a composite tensor, and the other one the spec of one."""
    if is_nested(first) or is_nested(second):
        return False
    specs = spec_of_composite(first), spec_of_composite(second)
    return None not in specs and (specs[0] is first) != (specs[1] is second)


def incompatibility(first: Any, second: Any) -> str:
    """What keeps two parts of structures from being composite tensors of one spec, nothing if both are
    containers.
    """
    if is_nested(first) and is_nested(second):
        return ""
    specs = [each if is_nested(each) else spec_of_composite(each) for each in (first, second)]
    try:
        if not any(is_nested(spec) for spec in specs):
            specs[0].most_specific_compatible_type(specs[1])
            return ""
    except (TypeError, ValueError):
        pass
    return f"Incompatible CompositeTensor TypeSpecs: {_typed(specs[0])} vs. {_typed(specs[1])}"


def _typed(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


@export("nest.map_structure", "contrib.framework.nest.map_structure")
def map_structure(
    func: Callable[..., Any],
    *structure: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    **kwargs: Any,
) -> Any:
    """Applies a function to the leaves of structures.

    Args:
      func: Called with one leaf of each structure, those at the same place.
      *structure: One or more structures that differ in their leaves only.
      check_types: Whether their containers must have the same types too.
      expand_composites: Whether sparse and ragged tensors, and specs of them, count as their components.
      **kwargs: There are no others.

    Returns:
      The results, in the structure of the first argument.

    Raises:
      TypeError: If `func` cannot be called, or the types of containers differ.
      ValueError: If no structure is given, or the structures differ, or an argument is none of these.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    flat = [flatten(each, expand_composites) for each in structure]
    results = [func(*leaves) for leaves in zip(*flat, strict=True)]
    return pack_sequence_as(structure[0], results, expand_composites)


def flatten_up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of `structure` at the places where `shallow` has leaves."""
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(structure)}."
        )
    children, parts = _children(shallow), _children(structure)
    if len(children) != len(parts):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(parts)}, while shallow structure has length {len(children)}."
        )
    return [leaf for child, part in zip(children, parts, strict=True) for leaf in flatten_up_to(child, part)]


@export("contrib.framework.nest.get_traverse_shallow_structure")
def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """Computes the upper part of a structure, down to where a function says to stop.

    Args:
      traverse_fn: Called with each part of the structure, from the outside in. It returns whether to go into
        the part. For a container it may return a container of booleans, one for each child.
      structure: The structure.
      expand_composites: Whether sparse and ragged tensors, and specs of them, count as their components.

    Returns:
      The upper part of the structure, with a boolean for each leaf and each part that was not entered.

    Raises:
      TypeError: If `traverse_fn` returns anything else.
      ValueError: If it returns the wrong number of booleans.
    """
    enters = nesting_test(expand_composites)
    answer = traverse_fn(structure)
    if not enters(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if answer is False:
        return False
    parts = _children(structure)
    deeper = [True] * len(parts) if answer is True else _answers_by_part(answer, structure, enters)
    below = [
        get_traverse_shallow_structure(traverse_fn, part, expand_composites) if goes else False
        for goes, part in zip(deeper, parts, strict=True)
    ]
    return _rebuild(structure, below)


def _answers_by_part(answer: Any, structure: Any, is_nested: Callable[[Any], bool]) -> list[bool]:
    if not is_nested(answer):
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    answers = _children(answer)
    if type(answer) is not type(structure):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(structure)}, while shallow structure has type {type(answer)}."
        )
    if len(answers) != len(_children(structure)):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length "
            f"{len(_children(structure))}, while shallow structure has length {len(answers)}."
        )
    if not all(isinstance(goes, bool) for goes in answers):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for structure: "
            f"{structure}"
        )
    return answers
