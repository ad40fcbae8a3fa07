"""Fetches of any nesting: what they need from a step, and how they are put together from its results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.composite import IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime.resources import SOLE_STORAGE_USE, storage_uses
from tideflow.runtime.values import to_numpy

Pack = Callable[[list[Any]], Any]  # from the values of the tensors to the structure


class Expansion(NamedTuple):
    """How values of a type made of several tensors are fetched and fed."""

    kind: type
    fetch: Callable[..., Any]
    feed: Callable[..., Any] | None
    tensors: Callable[..., Any] | None


_expansions: list[Expansion] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[..., Any],
    feed_function: Callable[..., Any] | None = None,
    feed_function_for_partial_run: Callable[..., Any] | None = None,
) -> None:
    """Values of this type can be fetched: `fetch_function(value)` gives (tensors, function of their values);
    and fed: `feed_function(key, value)` gives pairs of tensors and values, the third function the tensors.
    """
    if any(issubclass(expansion.kind, tensor_type) for expansion in _expansions):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(
        0, Expansion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    )


def expansion_of(value: Any) -> Expansion | None:
    """How a value is fetched and fed, where that is registered for its type."""
    return next((expansion for expansion in _expansions if isinstance(value, expansion.kind)), None)


def fetch_key(fetches: Any) -> Any:
    """Something hashable that is equal for equal structures of the same fetches."""
    kind = fetches.__class__
    if kind is list or kind is tuple:
        return (kind, *[item if item.__class__ is Tensor else fetch_key(item) for item in fetches])
    if isinstance(fetches, dict):
        return (kind, *fetches, *[fetch_key(item) for item in fetches.values()])
    if isinstance(fetches, (list, tuple)):
        return (kind, *map(fetch_key, fetches))
    return fetches


class Fetches:
    """The distinct tensors and operations behind a structure, and the function that rebuilds it from their
    values.
    """

    def __init__(self, graph: Graph, fetches: Any):
        self._graph = graph
        self._index: dict[Tensor, int] = {}
        self.targets: list[Operation] = []
        self.pack: Pack = self._walk(fetches)
        self.tensors = list(self._index)

    def _walk(self, fetch: Any) -> Pack:
        if fetch is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>")
        if isinstance(fetch, (list, tuple)) and not isinstance(fetch, (IndexedSlices, SparseTensor)):
            return self._walk_sequence(fetch)
        if isinstance(fetch, dict):
            return self._walk_mapping(fetch)
        if hasattr(fetch, "__attrs_attrs__"):
            fields = [a.name for a in fetch.__attrs_attrs__]
            packs = [self._walk(getattr(fetch, name)) for name in fields]
            return lambda values: type(fetch)(*[pack(values) for pack in packs])
        if isinstance(fetch, SparseTensor):
            return self._together(
                [fetch.indices, fetch.values, fetch.dense_shape], lambda v: SparseTensorValue(*v)
            )
        if isinstance(fetch, IndexedSlices):
            parts = [fetch.values, fetch.indices] + ([] if fetch.dense_shape is None else [fetch.dense_shape])
            return self._together(parts, lambda v: IndexedSlicesValue(*v, *[None] * (3 - len(v))))
        expansion = expansion_of(fetch)
        if expansion is not None:
            return self._together(*expansion.fetch(fetch))
        return self._leaf(fetch)

    def _walk_sequence(self, fetch: Any) -> Pack:
        packs = [self._walk(item) for item in fetch]
        kind = type(fetch)
        if hasattr(fetch, "_fields"):
            return lambda values: kind(*[pack(values) for pack in packs])
        if kind is list:
            return lambda values: [pack(values) for pack in packs]
        return lambda values: kind([pack(values) for pack in packs])

    def _walk_mapping(self, fetch: dict[Any, Any]) -> Pack:
        packs = {key: self._walk(item) for key, item in fetch.items()}
        kind = type(fetch)

        def pack(values: list[Any]) -> dict[Any, Any]:
            made = kind()
            made.update((key, pack(values)) for key, pack in packs.items())
            return made

        return pack

    def _together(self, tensors: list[Any], contract: Callable[[list[Any]], Any]) -> Pack:
        packs = [self._leaf(tensor) for tensor in tensors]
        return lambda values: contract([pack(values) for pack in packs])

    def _leaf(self, fetch: Any) -> Pack:
        try:
            element = self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except (TypeError, RuntimeError) as error:  # the latter: a variable of eager mode is in no graph
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                f"({error})"
            ) from None
        except ValueError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        except KeyError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self._graph.is_fetchable(element):
            raise errors.InaccessibleTensorError(
                f"Operation {getattr(element, 'op', element).name!r} has been marked as not fetchable. "
                "Typically this happens when it is defined in another function or code block. Use return "
                "values,explicit Python locals or TensorFlow collections to access it."
            )
        if isinstance(element, Operation):
            self.targets.append(element)
            return lambda values: None
        position = self._index.setdefault(element, len(self._index))
        return lambda values: values[position]


def fetched(results: Sequence[Any]) -> list[Any]:
    """A step's results as the user gets them: NumPy scalars, and arrays that share their memory with no other
    value.
    """
    return [_handed_over(value) for value in results]


def _handed_over(value: Any) -> Any:
    if value.__class__ is torch.Tensor:
        if not value.ndim:
            return to_numpy(value)[()]
        try:
            if _references(value) > _ONLY_RESULT or storage_uses(value) > SOLE_STORAGE_USE:
                value = value.clone(memory_format=torch.contiguous_format)
            return np.ascontiguousarray(to_numpy(value))
        except (RuntimeError, ValueError, MemoryError):  # a small tensor can be broadcast to any size
            raise errors.out_of_memory(value.shape, as_dtype(value.dtype), str(value.device)) from None
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value[()]
    return value


_references = sys.getrefcount


def _references_of_a_result(value: Any) -> int:
    return _references(value)


# The reference count of a value that only the results refer to.
(_ONLY_RESULT,) = [_references_of_a_result(value) for value in (torch.zeros(1),)]
