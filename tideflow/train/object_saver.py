"""Checkpoints by objects: the values of all that is reached from a root, under keys that are paths to them.

The graph of objects is walked when it is needed, never recorded: a save writes what is there at that moment,
a restore matches what is there with what the checkpoint has. So what is made after `restore` was called is
matched too, once restoring runs.
"""

from __future__ import annotations

import abc
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    device,
    executing_eagerly,
    get_default_graph,
    get_default_session,
    name_scope,
)
from tideflow.io.local_files import local_path, make_folder
from tideflow.io.object_graph import (
    GRAPH_KEY,
    TrackableObjectGraph,
    attribute_key,
    escaped,
    read_object_graph,
    slot_path,
)
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.layers.keras_session import get_session
from tideflow.lookup.mutable import SaveSpec
from tideflow.ops.arrays import constants
from tideflow.train import restoring
from tideflow.train.eager_saving import restore_now, save_now
from tideflow.train.optimizer import Optimizer
from tideflow.train.saveables import SaveableObject, is_saveable, names_of, saveables_for
from tideflow.train.saver_graph import SaverBuilder
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Children, Trackable, children_of

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike


Listing = Callable[[Any], Children]  # what lists the children of an object by name


class StringSaveable(SaveableObject):
    """A string of the program's, fed whenever a checkpoint is written; restoring is not the graph's work."""

    def __init__(self, name: str, owner: Any = None, unfed: str | bytes = ""):
        with device("/cpu:0"):
            text = constants.constant(unfed, name="state")
        super().__init__(text if text.is_eager else text.op, [SaveSpec(text, "", name)], name)
        self.owner = owner

    @property
    def tensor(self) -> Tensor:
        return self.specs[0].tensor

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """Nothing to run."""
        return constants.no_operation()


@export("train.experimental.PythonState")
class PythonState(Trackable, abc.ABC):
    """The base of objects whose state is saved in checkpoints as a string."""

    @abc.abstractmethod
    def serialize(self) -> Any:
        """Converts the state to a string; called when a checkpoint is written."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> None:
        """Sets the state from a string; called when a checkpoint is restored.

        Args:
          string_value: The string that `serialize` has returned.
        """

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"py_state": lambda name: StringSaveable(name, self)}


def session_or_default(session: Any) -> Any:
    """The session given, or the default one, or in a graph that of Keras."""
    session = session or get_default_session()
    return get_session() if session is None and not executing_eagerly() else session


# ------------------------------------------------------------------------------------------- walking objects


def objects_with_paths(root: Any, children: Listing = children_of) -> dict[int, tuple[Any, str]]:
    """What is reached from the root, nearest first: each object with the shortest path to it, by identity."""
    found = {id(root): (root, "")}
    queue = deque([root])
    while queue:
        parent = queue.popleft()
        path = found[id(parent)][1]
        for name, child in children(parent):
            if id(child) not in found:
                found[id(child)] = child, f"{path}/{escaped(name)}" if path else escaped(name)
                queue.append(child)
    return found


def slots_of(optimizer: Optimizer, variable: Any) -> Iterator[tuple[str, Variable]]:
    """What an optimizer keeps for a variable, by name."""
    for name in optimizer.get_slot_names() if isinstance(variable, Variable) else ():
        try:
            slot = optimizer.get_slot(variable, name)
        except KeyError:  # an optimizer of Keras that keeps nothing for the variable; others give None
            continue
        if slot is not None:
            yield name, slot


def _own_slots(optimizer: Any) -> bool:
    """Whether an object has slots of its own; one that hands on to another has that other's."""
    return hasattr(optimizer, "get_slot_names") and bool(getattr(optimizer, "_slots", None))


def list_objects(root: Any) -> list[Any]:
    """All that a checkpoint of the root keeps: what is reached from it, then optimizers' slots."""
    objects = [found for found, _ in objects_with_paths(root).values()]
    slots = [
        slot
        for optimizer in filter(_own_slots, objects)
        for variable in objects
        for _, slot in slots_of(optimizer, variable)
    ]
    return objects + slots


def values_of(found: Any) -> dict[str, Any]:
    """The values that an object keeps itself, by name."""
    return found._gather_saveables_for_checkpoint() if isinstance(found, Trackable) else {}


def saveables_under(value: Any, key: str) -> list[Any]:
    """What is saved of a value under a key."""
    value = value(key) if callable(value) and not isinstance(value, Variable) else value
    return [value] if is_saveable(value) else list(saveables_for(value, key))


# ----------------------------------------------------------------------------------------------------- saving


class Value(NamedTuple):
    """A value of an object's own."""

    owner: Any
    value: Any


@dataclass
class _Saved:
    """The nodes that save a graph of objects."""

    graph: Any
    values: dict[str, Value]
    saver_def: SaverDef
    object_graph: StringSaveable
    states: list[StringSaveable]

    def is_of(self, graph: Any, values: dict[str, Value]) -> bool:
        """Whether these are still the objects that it was made for."""
        return self.graph == graph and all(
            values[key].owner is value.owner for key, value in self.values.items()
        )


class ObjectSaver:
    """Saves what is reached from a root; nodes are added where objects have changed since the last time."""

    def __init__(self, root: Any, children: Listing = children_of):
        self._root, self._children = root, children
        self._saved: _Saved | None = None

    def prepare(self) -> _Saved:
        """The nodes that save what is there now, in the default graph."""
        description, values = described(self._root, self._children)
        if self._saved is None or not self._saved.is_of(description, values):
            self._saved = _built(description, values)
        return self._saved

    def save(self, file_prefix: str, session: SessionLike | None = None) -> str:
        """Writes a checkpoint of that very prefix."""
        if executing_eagerly():
            make_folder(os.path.dirname(local_path(file_prefix)))
            return save_now(file_prefix, frozen_saveables(self._root, self._children))
        session = session_or_default(session)
        make_folder(os.path.dirname(local_path(file_prefix)))
        with session.graph.as_default():
            saved = self.prepare()
        feeds = {saved.saver_def.filename_tensor_name: file_prefix}
        feeds[saved.object_graph.tensor] = saved.graph.SerializeToString()
        feeds |= {state.tensor: state.owner.serialize() for state in saved.states}
        return session.run(saved.saver_def.save_tensor_name, feeds).decode()


def _built(description: Any, values: dict[str, Value]) -> _Saved:
    """Adds the nodes that save these values, and the message that tells of their objects."""
    with name_scope("checkpoint"):
        saveables = [part for key, value in values.items() for part in saveables_under(value.value, key)]
        object_graph = StringSaveable(GRAPH_KEY)
        states = [part for part in saveables if isinstance(part, StringSaveable)]
        saver_def = SaverBuilder().build([*saveables, object_graph], sharded=True, max_to_keep=None)
    return _Saved(description, values, saver_def, object_graph, states)


def frozen_saveables(root: Any, children: Listing = children_of) -> list[Any]:
    """What a Saver saves of a root as it is now: strings of the program's are constants, nothing is fed."""
    description, values = described(root, children)
    parts = [part for key, value in values.items() for part in saveables_under(value.value, key)]
    frozen = [
        StringSaveable(part.name, unfed=part.owner.serialize()) if isinstance(part, StringSaveable) else part
        for part in parts
    ]
    return [*frozen, StringSaveable(GRAPH_KEY, unfed=description.SerializeToString())]


def described(root: Any, children: Listing = children_of) -> tuple[Any, dict[str, Value]]:
    """The message that tells of all objects, and the values to save by their keys."""
    reached = objects_with_paths(root, children)
    numbers = {identity: number for number, identity in enumerate(reached)}
    objects = [found for found, _ in reached.values()]
    paths = [path for _, path in reached.values()]
    graph = TrackableObjectGraph()
    for found in objects:
        node = graph.nodes.add()
        for name, child in children(found):
            node.children.add(node_id=numbers[id(child)], local_name=name)
    for number, optimizer in enumerate(objects[: len(reached)]):
        if _own_slots(optimizer):
            _describe_slots(graph.nodes[number], optimizer, number, len(reached), objects, paths)
    values = {}
    for number, (found, path) in enumerate(zip(objects, paths)):
        node = graph.nodes[number] if number < len(graph.nodes) else graph.nodes.add()
        for name, value in values_of(found).items():
            key = attribute_key(path, name)
            full_name = next(iter(names_of([value]))) if isinstance(value, Variable) else ""
            node.attributes.add(name=name, checkpoint_key=key, full_name=full_name)
            values[key] = Value(found, value)
    return graph, values


def _describe_slots(
    node: Any, optimizer: Optimizer, number: int, reached: int, objects: list[Any], paths: list[str]
) -> None:
    """Adds the slots of an optimizer behind the objects that were reached."""
    slots = [
        (name, index, slot)
        for index, variable in enumerate(objects[:reached])
        for name, slot in slots_of(optimizer, variable)
    ]
    for name, index, slot in sorted(slots, key=lambda found: found[:2]):
        node.slot_variables.add(
            original_variable_node_id=index, slot_name=name, slot_variable_node_id=len(objects)
        )
        objects.append(slot)
        paths.append(slot_path(paths[index], paths[number], name))


# -------------------------------------------------------------------------------------------------- restoring


@dataclass
class Matching:
    """Which object is which of a checkpoint's: the values to restore by key, and what found no partner."""

    bound: dict[int, Any] = field(default_factory=dict)  # objects by their numbers in the checkpoint
    values: dict[str, Value] = field(default_factory=dict)
    states: dict[str, PythonState] = field(default_factory=dict)
    unused_values: dict[int, list[str]] = field(default_factory=dict)
    clashes: list[tuple[Any, Any]] = field(default_factory=list)

    def bind(self, number: int, partner: Any) -> bool:
        """Matches an object of the checkpoint with one of the program; whether it had none before."""
        if number not in self.bound:
            self.bound[number] = partner
            return True
        if self.bound[number] is not partner:
            self.clashes.append((self.bound[number], partner))
        return False


def matched(root: Any, graph: Any) -> Matching:
    """Follows the names of children from the root, in the program and in the checkpoint alike."""
    found = Matching()
    _match_children(found, root, graph)
    _match_slots(found, graph)
    _match_values(found, graph)
    return found


def _match_children(found: Matching, root: Any, graph: Any) -> None:
    found.bind(0, root)
    queue = deque([0])
    while queue:
        number = queue.popleft()
        children = dict(children_of(found.bound[number]))
        for child in graph.nodes[number].children:
            if isinstance(found.bound[number], Trackable) and child.local_name not in children:
                made = found.bound[number]._lookup_dependency(child.local_name)
                children |= {child.local_name: made} if made is not None else {}
            if child.local_name in children and found.bind(child.node_id, children[child.local_name]):
                queue.append(child.node_id)


def _match_slots(found: Matching, graph: Any) -> None:
    for number, node in enumerate(graph.nodes):
        for slot in node.slot_variables:
            optimizer, variable = map(found.bound.get, (number, slot.original_variable_node_id))
            slots = slots_of(optimizer, variable) if hasattr(optimizer, "get_slot_names") else ()
            partner = dict(slots).get(slot.slot_name)
            if partner is not None:
                found.bind(slot.slot_variable_node_id, partner)


def _match_values(found: Matching, graph: Any) -> None:
    for number, partner in found.bound.items():
        own = values_of(partner)
        for attribute in graph.nodes[number].attributes:
            if attribute.name in own and isinstance(partner, PythonState):
                found.states[attribute.checkpoint_key] = partner
            elif attribute.name in own:
                found.values[attribute.checkpoint_key] = Value(partner, own[attribute.name])
            elif not attribute.optional_restore:
                found.unused_values.setdefault(number, []).append(attribute.name)


class ObjectRestorer:
    """Restores values by key; the nodes that do it are kept for the next time."""

    def __init__(self) -> None:
        self._built: dict[frozenset[tuple[str, int]], SaverDef] = {}

    def restore(self, session: SessionLike, prefix: str, values: dict[str, Value]) -> None:
        """Gives the graph's state the values of a checkpoint: all of it, or none where anything is amiss."""
        if not values:
            return
        if executing_eagerly():
            parts = [part for key in sorted(values) for part in saveables_under(values[key].value, key)]
            restore_now(prefix, parts)
            return
        wanted = frozenset((key, id(value.owner)) for key, value in values.items())
        if wanted not in self._built:
            with session.graph.as_default():
                self._built[wanted] = _restore_nodes(values)
        restoring.restore(session, self._built[wanted], prefix)


def _restore_nodes(values: dict[str, Value]) -> SaverDef:
    """Nodes that restore these values by their keys."""
    with name_scope("checkpoint"):
        saveables = [part for key in sorted(values) for part in saveables_under(values[key].value, key)]
        return SaverBuilder().build_restore(saveables)


@export("contrib.checkpoint.object_metadata")
def object_metadata(save_path: str) -> Any:
    """Reads the object graph of a checkpoint.

    Args:
      save_path: The prefix of the checkpoint.

    Returns:
      The TrackableObjectGraph message.

    Raises:
      ValueError: If the checkpoint has no object graph.
    """
    with open_checkpoint(save_path) as reader:
        graph = read_object_graph(reader)
    if graph is None:
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (it is missing the '
            f'key "{GRAPH_KEY}"). Likely it was created with a name-based saver and does not contain an '
            "object dependency graph."
        )
    return graph


def initializers_of(objects: list[Any]) -> list[Operation]:
    """The operations that initialize those of the objects that can be."""
    graph = get_default_graph()
    found = (getattr(one, "initializer", None) for one in objects)
    return [op for op in found if isinstance(op, Operation) and op.graph is graph]
