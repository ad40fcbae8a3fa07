"""`tf.contrib.framework.nest` beyond tf.nest: structures up to a shallower one, and the paths of leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tideflow.export import export, expose
from tideflow.graph import nest

expose(nest.is_nested, "contrib.framework.nest.is_nested")

SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following "
    "keys that are not in the input_tree: {}."
)


@export("contrib.framework.nest.assert_shallow_structure")
def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Checks that a structure begins as a shallow one is.

    Args:
      shallow_tree: The shallow structure.
      input_tree: The structure, which is at least as deep.
      check_types: Whether the containers must be of the same types.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.
      check_subtrees_length: Whether containers must have the same number of items.

    Raises:
      TypeError: If containers are of other types, or one of them is none.
      ValueError: If containers have other lengths or keys.
    """
    enters = nest.nesting_test(expand_composites)
    if not enters(shallow_tree):
        return
    if not enters(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if check_types and not _begins_like(input_tree, shallow_tree):
        raise TypeError(_other_types(input_tree, shallow_tree))
    if nest.is_nested(shallow_tree) and nest.is_nested(input_tree):
        _check_members(shallow_tree, input_tree, check_subtrees_length)
    elif nest.is_nested(shallow_tree) or nest.is_nested(input_tree):
        raise TypeError(_other_types(input_tree, shallow_tree))
    elif difference := nest.incompatibility(shallow_tree, input_tree):
        raise ValueError(difference)
    parts = zip(nest.keyed_children(shallow_tree), nest.keyed_children(input_tree), strict=False)
    for (_, child), (_, part) in parts:
        assert_shallow_structure(child, part, check_types, expand_composites, check_subtrees_length)


def _begins_like(structure: Any, shallow: Any) -> bool:
    """Whether a container counts as of the type of a shallow one."""
    if isinstance(structure, type(shallow)):
        return True
    return (
        (isinstance(structure, Mapping) and isinstance(shallow, Mapping))
        or nest.are_alike_named_tuples(shallow, structure)
        or nest.are_composite_and_spec(shallow, structure)
    )


def _other_types(structure: Any, shallow: Any) -> str:
    return (
        "The two structures don't have the same sequence type. Input structure has type "
        f"{type(structure)}, while shallow structure has type {type(shallow)}."
    )


def _check_members(shallow: Any, structure: Any, same_number: bool) -> None:
    """Refuses a container that lacks members of a shallow one, or has more where both must have as many."""
    sizes = f"Input structure has length {len(structure)}, while shallow structure has length {len(shallow)}."
    if same_number and len(structure) != len(shallow):
        raise ValueError(f"The two structures don't have the same sequence length. {sizes}")
    if len(structure) < len(shallow):
        raise ValueError(f"The input_tree has fewer elements than the shallow_tree. {sizes}")
    both_are_mappings = isinstance(shallow, Mapping) and isinstance(structure, Mapping)
    if both_are_mappings and (absent := set(shallow) - set(structure)):
        raise ValueError(SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(absent)))


def _up_to(
    shallow: Any, structure: Any, is_nested: Callable[[Any], bool], path: tuple = ()
) -> Iterator[tuple[tuple, Any]]:
    """The parts of `structure` where `shallow` has leaves, each with its path."""
    if not is_nested(shallow):
        yield path, structure
        return
    parts = dict(nest.keyed_children(structure))
    for key, child in nest.keyed_children(shallow):
        yield from _up_to(child, parts[key], is_nested, (*path, key))


@export("contrib.framework.nest.flatten_with_tuple_paths_up_to")
def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[tuple, Any]]:
    """Finds the parts of a structure that stand where a shallow one has leaves, each with its path.

    Args:
      shallow_tree: The shallow structure.
      input_tree: The structure, which is at least as deep.
      check_types: Whether the containers must be of the same types.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.
      check_subtrees_length: Whether containers must have the same number of items.

    Returns:
      A list of pairs of path and part.
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_up_to(shallow_tree, input_tree, nest.nesting_test(expand_composites)))


@export("contrib.framework.nest.flatten_up_to")
def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """Finds the parts of a structure that stand where a shallow one has leaves.

    Args:
      shallow_tree: The shallow structure.
      input_tree: The structure, which is at least as deep.
      check_types: Whether the containers must be of the same types.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.
      check_subtrees_length: Whether containers must have the same number of items.

    Returns:
      A list of parts.
    """
    found = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [part for _, part in found]


@export("contrib.framework.nest.flatten_with_tuple_paths")
def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[tuple, Any]]:
    """Finds the leaves of a structure, each with its path.

    Args:
      structure: The structure.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.

    Returns:
      A list of pairs of path, a tuple of keys, and leaf.
    """
    return list(_up_to(structure, structure, nest.nesting_test(expand_composites)))


@export("contrib.framework.nest.yield_flat_paths")
def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple]:
    """Finds the paths of the leaves of a structure.

    Args:
      nest: The structure.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.

    Returns:
      An iterator of paths, tuples of keys.
    """
    for path, _ in flatten_with_tuple_paths(nest, expand_composites):
        yield path


@export("contrib.framework.nest.flatten_with_joined_string_paths")
def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Finds the leaves of a structure, each with its path as text.

    Args:
      structure: The structure.
      separator: What stands between the keys of a path.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.

    Returns:
      A list of pairs of path and leaf.
    """
    leaves = flatten_with_tuple_paths(structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in leaves]


@export("contrib.framework.nest.map_structure_up_to")
def map_structure_up_to(shallow_tree: Any, func: Callable, *inputs: Any, **kwargs: Any) -> Any:
    """Applies a function to the parts that stand where a shallow structure has leaves.

    Args:
      shallow_tree: The shallow structure.
      func: A function of as many parts as there are structures.
      inputs: The structures.
      kwargs: `check_types`, `check_subtrees_length` and `expand_composites`, as of `flatten_up_to`.

    Returns:
      The results, in the shallow structure.
    """
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *parts: func(*parts), *inputs, **kwargs
    )


@export("contrib.framework.nest.map_structure_with_tuple_paths_up_to")
def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any,
    func: Callable,
    *inputs: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
    **kwargs: Any,
) -> Any:
    """Applies a function to the parts that stand where a shallow structure has leaves, and their path.

    Args:
      shallow_tree: The shallow structure.
      func: A function of the path, a tuple of keys, and a part of each structure.
      inputs: The structures.
      check_types: Whether the containers must be of the same types.
      expand_composites: Whether sparse and ragged tensors count as structures of their components.
      check_subtrees_length: Whether containers must have the same number of items.
      kwargs: Further arguments of the function.

    Returns:
      The results, in the shallow structure.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    options = check_types, expand_composites, check_subtrees_length
    flat = [flatten_with_tuple_paths_up_to(shallow_tree, each, *options) for each in inputs]
    results = [func(parts[0][0], *(part for _, part in parts), **kwargs) for parts in zip(*flat, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results, expand_composites)


@export("contrib.framework.nest.map_structure_with_tuple_paths")
def map_structure_with_tuple_paths(func: Callable, *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures and their path.

    Args:
      func: A function of the path, a tuple of keys, and a leaf of each structure.
      structure: Structures that begin as the first one is.
      kwargs: `check_types`, `check_subtrees_length` and `expand_composites`, as of `flatten_up_to`, and
        further arguments of the function.

    Returns:
      The results, in the structure of the first.
    """
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


@export("contrib.framework.nest.map_structure_with_paths")
def map_structure_with_paths(func: Callable, *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures and their path as text.

    Args:
      func: A function of the path as text and a leaf of each structure.
      structure: Structures that begin as the first one is.
      kwargs: `check_types`, `check_subtrees_length` and `expand_composites`, as of `flatten_up_to`, and
        further arguments of the function.

    Returns:
      The results, in the structure of the first.
    """

    def with_joined_path(path: tuple, *leaves: Any, **further: Any) -> Any:
        return func("/".join(map(str, path)), *leaves, **further)

    return map_structure_with_tuple_paths_up_to(structure[0], with_joined_path, *structure, **kwargs)


@export("contrib.framework.nest.flatten_dict_items")
def flatten_dict_items(dictionary: Mapping) -> dict[Any, Any]:
    """Makes a dictionary with a key for each leaf of the keys of another one.

    Args:
      dictionary: A dictionary whose keys may be structures; its values have the structures of their keys.

    Returns:
      The flat dictionary.

    Raises:
      ValueError: If a value has another structure than its key, or a key comes twice.
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = (
            ([key], [value]) if not nest.is_nested(key) else (nest.flatten(key), nest.flatten(value))
        )
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} "
                f"elements. Key: {keys}, value: {values}."
            )
        for each, own in zip(keys, values):
            if each in flat:
                raise ValueError(f"Could not flatten dictionary: key {each} is not unique.")
            flat[each] = own
    return flat
