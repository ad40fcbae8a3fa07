"""What kernels in C++ take and give beside plain tensors: strings, handles of resources, variables.

A resource of C++ is found by its container, type and name. Containers are the session's (`ResourceManager`),
so that they end with it, and when they are reset. A variable is lent to the kernel while it runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op
from tideflow.runtime.resources import DEFAULT_CONTAINER, ResourceManager, Variable

_KIND = "resources of kernels in C++"


class Containers:
    """The containers of a session, for the kernels of a library. The session owns them and the kernels, so it
    is referred to weakly.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        has: Callable[[Any, bytes, bytes, bool], int],
        resources: ResourceManager,
    ):
        self._make = make
        self._has = has
        self._store = weakref.ref(resources.store)

    def of(self, name: bytes) -> Any:
        """The container of that name, or None after the session."""
        store = self._store()
        return None if store is None else store.get_or_create(name.decode(), _KIND, "", self._make)

    def has(self, handle: KernelHandle, remove: bool = False) -> bool:
        """Whether a resource is there; it may be removed by that."""
        held = self.of(handle.container)
        return held is not None and bool(self._has(held, handle.type_name, handle.name, remove))


class KernelHandle(NamedTuple):
    """The handle of a resource of C++, as it goes from op to op."""

    device: bytes
    container: bytes
    name: bytes
    type_name: bytes
    containers: Containers

    @property
    def initialized(self) -> bool:
        return self.containers.has(self)

    def destroy(self) -> None:
        self.containers.has(self, remove=True)

    def missing(self) -> errors.OpError:
        where = b"/".join(self[1:4]).decode()
        return errors.not_found(f"Resource {where} does not exist.")


class Kind(NamedTuple):
    """What an input or output of a kernel is."""

    dtype: dtypes.DType
    on_host: bool
    is_ref: bool

    @property
    def is_state(self) -> bool:
        return self.is_ref or self.dtype is dtypes.resource

    def check(self, op: Op) -> None:
        """Raises UnimplementedError for what kernels in C++ do not take."""
        known = self.dtype.torch is not None or self.dtype in (dtypes.string, dtypes.resource)
        if not known or (self.is_ref and self.dtype.torch is None):
            name = f"{self.dtype.name}_ref" if self.is_ref else self.dtype.name
            raise errors.unimplemented(f"Kernels in C++ take and give no tensors of type {name}: {op.name}")


def converting(
    run: Callable[..., Any],
    op: Op,
    taken: Sequence[Kind],
    given: Sequence[Kind],
    device: torch.device,
    containers: Containers,
) -> Callable[..., Any]:
    """A kernel with lists, strings, complex numbers, memory of the host, references or resources: what it
    takes and gives is converted.
    """
    one = len(op.outputs) == 1 and not op.outputs[0].is_list

    def convert(value: Any, kind: Kind, lent: dict[Variable, Any]) -> Any:
        if kind.dtype is dtypes.string:
            texts = value.ravel().tolist()
            return tuple(t.encode() if isinstance(t, str) else t for t in texts), value.shape
        if kind.dtype is dtypes.resource:
            handles = value if isinstance(value, np.ndarray) else np.array(None)
            items = handles.ravel().tolist() if handles is value else [value]
            return tuple(_handle_message(item, lent) for item in items), handles.shape
        if kind.is_ref:
            return lent.get(value)
        if kind.dtype.is_complex:
            value = value.resolve_conj()
        return value.cpu() if kind.on_host else value

    def back(value: Any, kind: Kind, flat: list[Any]) -> Any:
        if kind.is_ref:
            return flat[value]
        if kind.dtype is dtypes.resource:
            handles, sizes = value
            items: list[Any] = [KernelHandle(*handle, containers) for handle in handles]
            return _objects(items, sizes) if sizes else items[0]
        if kind.dtype is dtypes.string:
            return _objects(*value)
        return value.to(device) if kind.on_host else value

    def call(flat: list[Any], lent: dict[Variable, Any]) -> Any:
        return run(*[convert(value, kind, lent) for value, kind in zip(flat, taken, strict=True)])

    def careful(*inputs: Any) -> Any:
        flat: list[Any] = []
        for arg, value in zip(op.inputs, inputs, strict=True):
            flat += value if arg.is_list else [value]
        if takes_state:
            with _lent(_variables(flat, taken), op) as lent:
                results, written = call(flat, lent)
                for i, name, value in written:
                    _written_to(flat[i], name.decode()).assign(value)
        else:
            results = call(flat, {})
        if one:
            return back(results, given[0], flat)
        return tuple(back(value, kind, flat) for value, kind in zip(results, given, strict=True))

    takes_state = any(kind.is_state for kind in taken)
    return careful


def _objects(items: Sequence[Any], sizes: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = item
    return array.reshape(sizes)


def _handle_message(handle: Any, lent: dict[Variable, Any]) -> tuple[Any, ...]:
    if isinstance(handle, KernelHandle):
        return handle[:4]
    if isinstance(handle, Variable):
        names = (b"", DEFAULT_CONTAINER.encode(), handle.name.encode(), b"")
        return (*names, handle.dtype.as_datatype_enum, lent.get(handle))
    kind = type(handle).__name__  # a table or queue of Tideflow's own, which no kernel in C++ can look into
    return b"", b"", str(getattr(handle, "name", "")).encode(), kind.encode()


def _variables(flat: Sequence[Any], kinds: Sequence[Kind]) -> list[tuple[Variable, bool]]:
    """The variables among the inputs, and whether each is a reference."""
    return [
        (value, kind.is_ref)
        for given, kind in zip(flat, kinds, strict=True)
        if kind.is_state
        for value in (given.ravel().tolist() if isinstance(given, np.ndarray) else [given])
        if isinstance(value, Variable)
    ]


@contextmanager
def _lent(variables: list[tuple[Variable, bool]], op: Op) -> Iterator[dict[Variable, Any]]:
    """The memory of variables, for a kernel alone; an uninitialized one has none. Locks are taken in the
    order that `exclusive` takes them in.
    """
    lent: dict[Variable, Any] = {}
    try:
        for variable, is_ref in sorted(variables, key=lambda pair: id(pair[0])):
            if variable in lent:
                continue
            if variable.initialized:
                lent[variable] = variable.__enter__()
            elif is_ref and not op.uninitialized_ok:
                raise variable.uninitialized()
        yield lent
    finally:
        for variable in reversed(lent):
            variable.__exit__()


def _written_to(given: Any, name: str) -> Variable:
    for value in given.ravel().tolist() if isinstance(given, np.ndarray) else [given]:
        if isinstance(value, Variable) and (not name or value.name == name):
            return value
    raise errors.internal(f"A kernel wrote to a variable '{name}' that it was not given.")
