"""What a SavedModel keeps of an object: all that is reached from it, with functions and their traces."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.def_function import Function
from tideflow.functions.structures import UnknownArgument
from tideflow.graph import nest
from tideflow.lookup.static import LookupInterface
from tideflow.saved_model.loading import SIGNATURES, RestoredResource, SignatureMap
from tideflow.saved_model.structured_values import NotEncodableError, encoded
from tideflow.train.object_saver import objects_with_paths, slots_of
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Children, Trackable, children_of

_FUNCTIONS = (Function, ConcreteFunction)


class Described(NamedTuple):
    """What a SavedModel has of an object beyond its attributes, and what it is called there."""

    children: dict[str, Any]
    functions: dict[str, Any]
    identifier: str
    metadata: str


Describer = Callable[[Any, dict[str, Any]], Described]
_describers: list[tuple[type, Describer]] = []


def describe_with(kind: type, describer: Describer) -> None:
    """Has objects of a class described by a function, of the object and of what one save keeps of others."""
    _describers.append((kind, describer))


def is_resource(value: Any) -> bool:
    """Whether an object is a resource that functions capture: a table."""
    made_here = isinstance(value, LookupInterface) and hasattr(value, "_create_resource")
    return made_here or isinstance(value, RestoredResource)


def functions_of(value: Any, with_properties: bool = True) -> dict[str, Any]:
    """The functions of an object by name; with those that its properties give, which are asked once."""
    if isinstance(value, LookupInterface) and is_resource(value):
        return _table_functions(value)
    if isinstance(value, (list, dict)):
        items = enumerate(value) if isinstance(value, list) else value.items()
        return {str(key): item for key, item in items if isinstance(item, _FUNCTIONS)}
    found = dict(value._functions_to_save()) if isinstance(value, Trackable) else {}
    if isinstance(value, Trackable) and not isinstance(value, Variable):
        kinds = (*_FUNCTIONS, property) if with_properties else _FUNCTIONS
        for name in dir(value):
            if name not in found and isinstance(inspect.getattr_static(value, name, None), kinds):
                with contextlib.suppress(Exception):  # of a property, which has no function to give then
                    found[name] = getattr(value, name)
    return {name: function for name, function in found.items() if isinstance(function, _FUNCTIONS)}


def _table_functions(table: Any) -> dict[str, Any]:
    def create() -> Any:
        return table._create_resource()

    def initialize() -> int:
        table._initialize()
        return 1

    def destroy() -> int:
        return 1

    bodies = {"_create_resource": create, "_initialize": initialize, "_destroy_resource": destroy}
    return {
        name: Function(body, name.strip("_"), input_signature=[], autograph=False)
        for name, body in bodies.items()
    }


class ExportView:
    """The objects of a root with their numbers, as they are now. Functions have numbers after the others."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.signatures = SignatureMap()
        self._known: dict[int, dict[str, Any]] = {}
        self._shared: dict[str, Any] = {}  # what describers keep of other objects
        self._held: list[Any] = []  # so that identities stay theirs
        self.refresh()

    def refresh(self) -> None:
        """Looks again at what is there: traces may have made variables."""
        reached = [found for found, _ in objects_with_paths(self.root, self.children).values()]
        slots = [
            (optimizer, name, variable, slot)
            for optimizer in reached
            if hasattr(optimizer, "get_slot_names") and getattr(optimizer, "_slots", None)
            for variable in reached
            for name, slot in slots_of(optimizer, variable)
        ]
        self.slots = slots
        objects = reached + [slot for *_, slot in slots]
        functions = [function for node in objects for function in self.functions(node).values()]
        self.nodes = list({id(node): node for node in (*objects, *functions)}.values())
        self.numbers = {id(node): number for number, node in enumerate(self.nodes)}
        self.concrete_functions = self._all_concrete_functions()

    def children(self, value: Any) -> Children:
        """The children of an object by name, those included that only a SavedModel has."""
        found = dict(children_of(value))
        if isinstance(value, Trackable):
            found |= self._kept(value, "children", lambda: dict(value._children_to_export()))
        described = self.described(value)
        found |= described.children if described is not None else {}
        if value is self.root:
            found[SIGNATURES] = self.signatures
        return list(found.items())

    def functions(self, value: Any) -> dict[str, Any]:
        """The functions of an object by name, the same ones each time."""
        if value is self.signatures:
            return value._functions_to_save()
        described = self.described(value)
        more = described.functions if described is not None else {}
        return self._kept(value, "functions", lambda: {**more, **functions_of(value, described is None)})

    def described(self, value: Any) -> Described | None:
        """What a describer says of an object, if there is one for its class."""
        describer = next((found for kind, found in _describers if isinstance(value, kind)), None)
        if describer is None:
            return None
        return self._kept(value, "described", lambda: describer(value, self._shared))

    def _kept(self, value: Any, what: str, make: Callable[[], Any]) -> Any:
        known = self._known.setdefault(id(value), {})
        if what not in known:
            self._held.append(value)
            known[what] = make()
        return known[what]

    def traces(self, function: Any) -> list[ConcreteFunction]:
        """The traces of a function that can be saved: those whose arguments are tensors or plain values."""
        if isinstance(function, ConcreteFunction):
            return [function]
        if function.input_signature is not None:
            function.get_concrete_function()
        found: dict[bytes, ConcreteFunction] = {}
        for trace in function._all_traces():
            signature = trace.structured_input_signature
            if any(isinstance(leaf, UnknownArgument) for leaf in nest.flatten(signature)):
                continue
            try:
                key = encoded(signature).SerializeToString(deterministic=True)
            except NotEncodableError:
                continue
            found.setdefault(key, trace)
        return list(found.values())

    def _all_concrete_functions(self) -> list[ConcreteFunction]:
        found = [
            trace
            for node in self.nodes
            if isinstance(node, (Function, ConcreteFunction))
            for trace in self.traces(node)
        ]
        return list({trace.name: trace for trace in found}.values())
