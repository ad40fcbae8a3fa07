"""Objects out of a SavedModel: variables, functions, tables and assets, wired as they were when it was saved.

The values of variables are read when the variables are made; in a graph their initializers read them.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saved_object_graph_pb2 import SavedObject, SavedVariable

from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.def_function import Function
from tideflow.graph import dtypes, errors
from tideflow.graph.graph_def import attr_from_proto
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, add_to_collection, executing_eagerly, init_scope
from tideflow.graph.shapes import TensorShape
from tideflow.io import saved_models
from tideflow.io.object_graph import read_object_graph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.arrays import constants
from tideflow.ops.files.checkpoints import restore_v2_op
from tideflow.saved_model import loader, revived_types
from tideflow.saved_model.restored_functions import FunctionLibrary, RestoredFunction, bare_function
from tideflow.saved_model.trusted_functions import check_functions
from tideflow.variables.assets import TrackableAsset
from tideflow.variables.base import VariableAggregation, VariableSynchronization
from tideflow.variables.resource import ResourceVariable, uncollected
from tideflow.variables.trackable import VARIABLE_VALUE, AutoTrackable, Children, Trackable, is_trackable

SIGNATURES = "signatures"
SIGNATURE_MAP = "signature_map"
_MOST_PLACES = 100_000  # of a list in which there is no object
LIST, DICT, TUPLE = "trackable_list_wrapper", "trackable_dict_wrapper", "trackable_tuple_wrapper"
OPTIMIZER = "optimizer"


class SignatureMap(Mapping[str, ConcreteFunction], Trackable):
    """The signatures of a model by name. They do not change: a model is saved with new ones instead."""

    def __init__(self, signatures: dict[str, ConcreteFunction] | None = None) -> None:
        self._signatures = signatures or {}

    def __getitem__(self, key: str) -> ConcreteFunction:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    def _functions_to_save(self) -> dict[str, Any]:
        return dict(self._signatures)


class RestoredResource(Trackable):
    """A table, or another resource, that functions of the model make and fill."""

    def __init__(self, device: str) -> None:
        self._resource_device = device
        self._handle: Tensor | None = None
        self._parts: Children = []

    @property
    def resource_handle(self) -> Tensor:
        """What operations on the resource take."""
        if self._handle is None:
            with init_scope():
                self._handle = self._create_resource()
        return self._handle

    def _create_resource(self) -> Tensor:
        raise ValueError("The SavedModel has a resource without the function that makes it")

    @property
    def _checkpoint_dependencies(self) -> Children:
        return self._parts

    def _functions_to_save(self) -> dict[str, Any]:
        names = ("_create_resource", "_initialize", "_destroy_resource")
        return {name: vars(self)[name] for name in names if name in vars(self)}


class RestoredOptimizer(AutoTrackable):
    """The variables of an optimizer: its numbers are attributes, and what it keeps for variables slots."""

    _untracked = frozenset({"_slots"})

    def __init__(self) -> None:
        self._slots: dict[str, list[tuple[Any, Any]]] = {}

    def get_slot_names(self) -> list[str]:
        """The names of what the optimizer keeps for variables."""
        return sorted(self._slots)

    def get_slot(self, var: Any, name: str) -> Any:
        """What the optimizer keeps for a variable under a name; None if there is nothing.

        Args:
          var: The variable.
          name: The name.
        """
        return next((slot for known, slot in self._slots.get(name, ()) if known is var), None)

    def _add_slot(self, var: Any, name: str, slot: Any) -> None:
        self._slots.setdefault(name, []).append((var, slot))


def load_objects(export_dir: str, message: MetaGraphDef, trusted: bool = True) -> Any:
    """The root of the objects of a model, whose variables have their values."""
    with init_scope():
        root = ObjectLoader(export_dir, message, trusted).load()
    root.tensorflow_version = message.meta_info_def.tensorflow_version
    root.tensorflow_git_version = message.meta_info_def.tensorflow_git_version
    return root


class ObjectLoader:
    """Makes the objects of one model. Subclasses make some of them in another way."""

    def __init__(self, export_dir: str, message: MetaGraphDef, trusted: bool = True) -> None:
        self._export_dir = export_dir
        self._message = message
        self._nodes = message.object_graph_def.nodes
        self._assets = list(loader.asset_paths(export_dir, message).values())
        self._trusted = trusted
        _check_numbers(self._nodes)
        self._made: dict[int, Any] = {}
        self._setters: dict[int, Callable[[Any, str, Any], None]] = {}  # of objects of registered classes
        self._library = FunctionLibrary(
            message.graph_def,
            message.object_graph_def.concrete_functions,
            self._tensor_of,
            self._variable_at,
        )
        self._prefix = saved_models.variables_prefix(export_dir)

    def load(self) -> Any:
        if not self._trusted:
            loader.check_own(self._export_dir, self._assets)
            loader.check_own_variables(self._export_dir)
            check_functions(self._library, self._nodes, self._message.object_graph_def.concrete_functions)
        self._read_keys()
        for number in range(len(self._nodes)):
            self.at(number)
        for number, node in enumerate(self._nodes):
            for slot in node.slot_variables:
                self._add_slot(self.at(number), slot)
        for number, node in enumerate(self._nodes):
            self._add_children(number, node)
        for made in list(self._made.values()):
            if isinstance(made, RestoredResource):
                _initialize(made)
        return self.at(0)

    # ------------------------------------------------------------------------------------------ one object

    def at(self, number: int) -> Any:
        """The object with a number."""
        if number not in self._made:
            self._made[number] = self._new(number, self._nodes[number])
        return self._made[number]

    def _new(self, number: int, node: SavedObject) -> Any:
        kind = node.WhichOneof("kind")
        if kind == "user_object":
            return self._user_object(number, node)
        if kind == "variable":
            return self._variable(number, node.variable)
        if kind == "function":
            return RestoredFunction(node.function, self._library)
        if kind == "bare_concrete_function":
            return bare_function(node.bare_concrete_function, self._library)
        if kind == "asset":
            index = node.asset.asset_file_def_index
            if not 0 <= index < len(self._assets):
                raise ValueError(
                    f"The SavedModel has {len(self._assets)} assets, and refers to asset {index}"
                )
            return TrackableAsset(self._assets[index])
        if kind == "constant":
            return self._constant(node.constant.operation)
        if kind == "resource":
            return RestoredResource(node.resource.device)
        if kind is None and not node.registered_name:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        return _new_user_object()

    def _user_object(self, number: int, node: SavedObject) -> Any:
        identifier = node.user_object.identifier
        if identifier == SIGNATURE_MAP:
            return SignatureMap()
        if identifier in (LIST, TUPLE):
            return []
        if identifier == DICT:
            return {}
        if identifier == OPTIMIZER:
            return RestoredOptimizer()
        revived = revived_types.deserialize(node.user_object)
        if revived is None:
            return _new_user_object()
        made, self._setters[number] = revived
        return made

    def _variable(self, number: int, saved: SavedVariable) -> ResourceVariable:
        key = self._keys.get(number)
        if key is None:
            raise errors.data_loss(
                f"{self._prefix}: the SavedModel's variable '{saved.name}' has no value in its checkpoint"
            )
        shape, dtype = TensorShape(saved.shape), dtypes.as_dtype(saved.dtype)
        found_dtype, found_shape = self._entries[key]
        if found_dtype is not dtype or not shape.is_compatible_with(found_shape):
            raise errors.invalid_argument(
                f"{self._prefix}: the SavedModel's variable '{saved.name}' is {dtype.name}{shape}, and its "
                f"value {found_dtype.name}{found_shape}"
            )

        def value() -> Tensor:
            (tensor,) = restore_v2_op(self._prefix, [key], [""], dtypes=[dtype])
            tensor.set_shape(found_shape)
            return tensor

        return uncollected(
            value,
            trainable=saved.trainable,
            name=saved.name or None,
            dtype=dtype,
            shape=shape,
            synchronization=_member(VariableSynchronization, saved.synchronization),
            aggregation=_member(VariableAggregation, saved.aggregation),
        )

    def _constant(self, operation: str) -> Tensor:
        node = next((node for node in self._message.graph_def.node if node.name == operation), None)
        if node is None or not node.attr["value"].HasField("tensor"):
            raise ValueError(f"The SavedModel has no constant '{operation}'")
        return constants.constant(attr_from_proto(node.attr["value"]))

    # ------------------------------------------------------------------------------------------ captures

    def _tensor_of(self, number: int) -> Tensor:
        """What a function gets for an object that it captures."""
        if not 0 <= number < len(self._nodes):
            raise ValueError(f"A function of the SavedModel captures object {number} of {len(self._nodes)}")
        made = self.at(number)
        if isinstance(made, ResourceVariable):
            return made.handle
        if isinstance(made, TrackableAsset):
            return made.asset_path
        if isinstance(made, Tensor):
            return made
        if isinstance(made, RestoredResource):
            self._add_children(number, self._nodes[number])
            return made.resource_handle
        raise ValueError(f"Can't convert node {type(made)} to tensor")

    def _variable_at(self, number: int) -> Any:
        return self.at(number) if isinstance(self.at(number), ResourceVariable) else None

    # ------------------------------------------------------------------------------------------ the values

    def _read_keys(self) -> None:
        """Finds the keys of the variables' values: the checkpoint has the same names for the same objects."""
        self._keys: dict[int, str] = {}
        self._entries: dict[str, Any] = {}
        if not any(node.WhichOneof("kind") == "variable" for node in self._nodes):
            return
        with open_checkpoint(self._prefix) as reader:
            graph = read_object_graph(reader)
            if graph is None:
                raise errors.data_loss(f"{self._prefix}: the checkpoint of the SavedModel has no objects")
            for ours, theirs in _same_objects(self._nodes, graph.nodes).items():
                for attribute in graph.nodes[theirs].attributes:
                    key = attribute.checkpoint_key
                    if attribute.name == VARIABLE_VALUE and key in reader:
                        self._keys[ours] = key
                        entry = reader.entry(key)
                        self._entries[key] = entry.dtype, entry.shape

    # ------------------------------------------------------------------------------------------ the edges

    def _add_slot(self, optimizer: Any, slot: Any) -> None:
        if isinstance(optimizer, RestoredOptimizer):
            variable, kept = self.at(slot.original_variable_node_id), self.at(slot.slot_variable_node_id)
            optimizer._add_slot(variable, slot.slot_name, kept)

    def _add_children(self, number: int, node: SavedObject) -> None:
        parent = self.at(number)
        if isinstance(parent, list):
            parent[:] = self._items(node)
            return
        give = self._setters.get(number, add_child)
        for child in node.children:
            give(parent, child.local_name, self.at(child.node_id))

    def _items(self, node: SavedObject) -> list[Any]:
        """What a list has: None in the places of what was no object."""
        numbers = {int(c.local_name): c.node_id for c in node.children if c.local_name.isdigit()}
        count = max(numbers, default=-1) + 1
        if count > _MOST_PLACES + len(numbers):
            raise ValueError(f"A list of the SavedModel has {len(numbers)} objects in {count} places")
        return [self.at(numbers[i]) if i in numbers else None for i in range(count)]


def add_child(parent: Any, name: str, child: Any) -> None:
    """Gives an object what it has under a name."""
    if isinstance(parent, dict):
        parent[name] = child
    elif isinstance(parent, SignatureMap):
        if not isinstance(child, ConcreteFunction):
            raise ValueError(f"The signature '{name}' of the SavedModel is no function: {child}")
        parent._signatures[name] = child
    elif isinstance(parent, RestoredResource):
        if isinstance(child, (Function, ConcreteFunction)):
            setattr(parent, name, child)
        elif is_trackable(child) and not any(known == name for known, _ in parent._parts):
            parent._parts.append((name, child))
    elif isinstance(parent, AutoTrackable):
        with contextlib.suppress(AttributeError):  # a property of the class, which follows from the others
            setattr(parent, name, child)
        if name == "__call__" and not callable(parent):
            type(parent).__call__ = _call_attribute  # type: ignore[operator]


def _call_attribute(self: Any, *args: Any, **kwargs: Any) -> Any:
    return vars(self)["__call__"](*args, **kwargs)


def _new_user_object() -> AutoTrackable:
    """An object of a class of its own, so that it alone becomes callable if it has a `__call__`."""
    return type("_UserObject", (AutoTrackable,), {})()


def _initialize(resource: RestoredResource) -> None:
    """Fills a table: now, or when the tables of the graph are initialized."""
    function: Callable[[], Any] | None = vars(resource).get("_initialize")
    if function is None:
        return
    result = function()
    if not executing_eagerly() and isinstance(result, Tensor):
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, result.op)


def _member(kind: Any, number: int) -> Any:
    try:
        return kind(number)
    except ValueError:
        raise ValueError(f"The SavedModel has a variable with {kind.__name__} {number}") from None


def _check_numbers(nodes: Any) -> None:
    """Raises ValueError if an object refers to one that does not exist."""
    for number, node in enumerate(nodes):
        named = [child.node_id for child in node.children]
        for slot in node.slot_variables:
            named += [slot.original_variable_node_id, slot.slot_variable_node_id]
        wrong = next((other for other in named if not 0 <= other < len(nodes)), None)
        if wrong is not None:
            raise ValueError(f"Object {number} of the SavedModel points to object {wrong} of {len(nodes)}")


def _same_objects(nodes: Any, others: Any) -> dict[int, int]:
    """The numbers in a checkpoint of a model's objects: found by equal names from the root on."""
    found = {0: 0}
    waiting = deque([0])

    def same(ours: int, theirs: int) -> None:
        if ours not in found:
            found[ours] = theirs
            waiting.append(ours)

    while waiting:
        ours = waiting.popleft()
        theirs = others[found[ours]]
        children = {child.local_name: child.node_id for child in theirs.children}
        for child in nodes[ours].children:
            if child.local_name in children:
                same(child.node_id, children[child.local_name])
    for ours, theirs in list(found.items()):
        slots = {
            (slot.slot_name, slot.original_variable_node_id): slot.slot_variable_node_id
            for slot in others[theirs].slot_variables
        }
        for slot in nodes[ours].slot_variables:
            key = slot.slot_name, found.get(slot.original_variable_node_id)
            if key in slots:
                found.setdefault(slot.slot_variable_node_id, slots[key])
    return found
