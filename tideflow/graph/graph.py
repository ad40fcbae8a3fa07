"""Graph: the program as data. Names, scopes, control dependencies, devices and collections are kept here."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import device as device_names
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.stacks import default_graphs, default_sessions

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.versions_pb2 import VersionDef

_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\\-/]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\\-/]*$")

GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0


class _ThreadState(threading.local):
    """The scopes a thread is in while it builds a graph."""

    def __init__(self):
        self.name_stack = ""
        self.devices: tuple[
            Any, ...
        ] = ()  # strings or functions, outermost first; None hides what is outside
        self.controls: tuple[_Controls, ...] = ()
        self.colocations: tuple[Operation, ...] = ()
        self.attrs: dict[str, Any] = {}  # attributes that every new operation gets
        self.context = None  # the control-flow construct being built


class _Controls:
    """One `with control_dependencies(...)` block: its ops, and the ops made inside it."""

    __slots__ = ("inputs", "seen")

    def __init__(self, inputs: list[Operation]):
        self.inputs = inputs
        self.seen: set[Operation] = set()


@export("Graph")
class Graph:
    """A dataflow graph: operations, the tensors between them, and the collections that group them."""

    def __init__(self):
        self._lock = threading.RLock()
        self._local = _ThreadState()
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names: dict[str, int] = {}
        self._collections: dict[Any, list] = {}
        self._finalized = False
        self._mutations = 0
        self._told_about: set[Operation] = set()  # operations of which the user has been warned
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._gradient_overrides: dict[str, str] = {}
        self._gradient_functions: dict[str, Callable] = {}
        self._functions: dict[str, Any] = {}  # FunctionDef messages by name
        self._function_gradients: dict[str, str] = {}  # the function that computes a function's gradient
        self._function_bodies: dict[Any, Any] = {}
        self._function_calls: dict[str, Any] = {}  # the op types that call functions by name
        self._container = ""
        self._takes_internal_ops = False  # only a part of a step that another task of the cluster has cut
        self._last_seeds: dict[str, int] = {}
        self._known_reductions: set[tuple] = set()  # shapes and axes that a gradient has met
        self.seed: int | None = None
        self._producer = GRAPH_DEF_VERSION
        self._min_consumer = GRAPH_DEF_VERSION_MIN_CONSUMER

    # ------------------------------------------------------------------ the default graph

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """`with graph.as_default():` new operations go into this graph, on this thread."""
        with default_graphs.pushed(self):
            yield self

    def _session_for(self, method: str, noun: str, session: Any) -> Any:
        session = session or default_sessions.top()
        if session is None:
            raise ValueError(
                f"Cannot {'evaluate' if method == 'eval' else 'execute'} {noun} using `{method}()`: No "
                "default session is registered. Use `with sess.as_default()` or pass an explicit session to "
                f"`{method}(session=sess)`"
            )
        if session.graph is not self:
            raise ValueError(
                f"Cannot use the given session to {'evaluate' if method == 'eval' else 'execute'} {noun}: "
                f"the {noun}'s graph is different from the session's graph."
            )
        return session

    # ------------------------------------------------------------------ names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, with `_1`, `_2` … added where it is taken (case does not count)."""
        with self._lock:
            stack = self._local.name_stack
            full = f"{stack}/{name}" if stack else name
            key = full.lower()
            count = self._names.get(key, 0)
            if mark_as_used:
                self._names[key] = count + 1
            if not count:
                return full
            taken = key
            while taken in self._names:
                taken = f"{key}_{count}"
                count += 1
            if mark_as_used:
                self._names[taken] = 1
            return f"{full}_{count - 1}"

    def _scope_for(self, name: str) -> str:
        """The name stack inside `name_scope(name)`, unique where the name does not end in a slash."""
        stack = self._local.name_stack
        if stack:
            if not _SCOPE_NAME.match(name):
                raise ValueError(f"'{name}' is not a valid scope name")
        elif not _OP_NAME.match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        return name[:-1] if name.endswith("/") else self.unique_name(name)

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Names made inside begin with the scope's; "" or None goes back to the top. Yields the scope with
        its slash.
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, got {name!r}")
        local = self._local
        outer = local.name_stack
        local.name_stack = self._scope_for(name) if name else ""
        try:
            yield f"{local.name_stack}/" if local.name_stack else ""
        finally:
            local.name_stack = outer

    def get_name_scope(self) -> str:
        return self._local.name_stack

    # ------------------------------------------------------------------ scopes that mark new operations

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Operations made inside run after `control_inputs`; None forgets the outer dependencies."""
        local = self._local
        outer, outer_context = local.controls, local.context
        if control_inputs is None:
            local.controls, local.context = (), None
        else:
            local.controls = (*outer, _Controls(self._control_operations(control_inputs)))
        try:
            yield
        finally:
            local.controls, local.context = outer, outer_context

    def _control_operations(self, control_inputs: Sequence[Any]) -> list[Operation]:
        ops = []
        for item in control_inputs:
            if hasattr(item, "_handle") or type(item).__name__ == "IndexedSlices":
                item = item.op  # a resource variable, or what it is after a write: no read is waited for
            element = self.as_graph_element(item)
            op = element.op if isinstance(element, Tensor) else element
            if op not in ops:
                ops.append(op)
        return ops

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Operations made inside ask for this device (a string, a DeviceSpec, a function of the op, or
        None).
        """
        local = self._local
        outer = local.devices
        entry = device_name_or_function
        if entry is not None and not callable(entry):
            entry = device_names.merge_device(entry)
        local.devices = (*outer, entry)
        try:
            yield
        finally:
            local.devices = outer

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Operations made inside live on the device of `op`."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        local = self._local
        outer, outer_devices = local.colocations, local.devices
        op = None if op is None else _operation_of(op, self)
        local.devices = ()  # the colocated op's device counts, not the surrounding scope's
        kept = () if ignore_existing else outer
        local.colocations = kept if op is None else (*kept, op)
        try:
            yield
        finally:
            local.colocations, local.devices = outer, outer_devices

    @contextlib.contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        """Operations made inside have these attributes (in their stored form)."""
        local = self._local
        outer, local.attrs = local.attrs, {**local.attrs, **attr_map}
        try:
            yield
        finally:
            local.attrs = outer

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Stateful operations made inside keep their state in this resource container."""
        outer, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = outer

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Operations of these types, made inside, use the gradient registered under the given name."""
        if not isinstance(op_type_map, dict):
            raise TypeError("`op_type_map` must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError("`op_type_map` must be a dictionary mapping strings to strings")
        outer = self._gradient_overrides
        self._gradient_overrides = {**outer, **op_type_map}
        try:
            yield
        finally:
            self._gradient_overrides = outer

    def switch_to_thread_local(self) -> None:
        """Scopes are always a thread's own here."""

    # ------------------------------------------------------------------ operations

    def _insert(self, op: Operation, given: Sequence[Tensor]) -> None:
        """Takes a new operation in: the scopes' control inputs, device and colocation, its name and its
        id. `given` are its inputs before a loop or a branch brought them in.
        """
        self._check_not_finalized()
        local = self._local
        if local.controls:
            self._add_scope_controls(op, local.controls, given)
        if local.devices:
            self._apply_device_functions(op, local.devices)
        if local.attrs:
            self._add_scope_attrs(op, local)
        if local.colocations:
            _colocate(op, local.colocations)
        if self._gradient_overrides and op.type in self._gradient_overrides:
            op._gradient_name = op.attrs["_gradient_op_type"] = self._gradient_overrides[op.type]
        if self._container and "container" in op.attrs and not op.attrs["container"]:
            op.attrs["container"] = self._container
        with self._lock:
            if op.name in self._by_name:
                raise ValueError(f"Duplicate node name in graph: '{op.name}'")
            self._ops.append(op)
            op._id = len(self._ops)
            self._by_name[op.name] = op
        if local.context is not None:
            op._control_flow_context = local.context
            local.context.add_op(op)
        for controls in local.controls:
            controls.seen.add(op)

    def _add_scope_attrs(self, op: Operation, local: _ThreadState) -> None:
        for key, value in local.attrs.items():
            if key != "_class" or not local.colocations:  # an explicit colocation counts more
                op.attrs.setdefault(key, value)

    def _add_scope_controls(
        self, op: Operation, stack: tuple[_Controls, ...], given: Sequence[Tensor]
    ) -> None:
        inputs = {tensor.op for tensor in given}
        for controls in stack:
            # An input made inside the block already waits for the block's dependencies.
            if inputs.isdisjoint(controls.seen):
                for control in controls.inputs:
                    if control not in inputs and control not in op.control_inputs:
                        op.control_inputs.append(control)

    def _apply_device_functions(self, op: Operation, devices: tuple[Any, ...]) -> None:
        for entry in reversed(devices):
            if entry is None:
                break
            op._device = device_names.canonical_name(entry(op))

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Makes an operation of any registered type from its inputs and AttrValue messages (or plain
        values).
        """
        from tideflow.graph.graph_def import attr_from_proto
        from tideflow.graph.op import definition

        stored = {k: attr_from_proto(v) if hasattr(v, "WhichOneof") else v for k, v in (attrs or {}).items()}
        op = definition(op_type)
        with self.as_default():
            return op.node_from_flat(list(inputs), {**op.inferred_attrs(inputs), **stored}, name or op_type)

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _mutated(self) -> None:
        """A node was changed after it was made: plans compiled from it are stale."""
        self._mutations += 1

    @property
    def version(self) -> int:
        """Grows with every operation."""
        return len(self._ops)

    @property
    def graph_def_versions(self) -> VersionDef:
        from tensorboard.compat.proto.versions_pb2 import VersionDef

        return VersionDef(producer=self._producer, min_consumer=self._min_consumer)

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """From here on the graph is read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def building_function(self) -> bool:
        return False

    def get_operations(self) -> list[Operation]:
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The Tensor or Operation that `obj` (an object, its name, or something that stands for one) means
        here.
        """
        kinds = " or ".join(k for k, ok in (("Tensor", allow_tensor), ("Operation", allow_operation)) if ok)
        if not kinds:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        if not isinstance(obj, (str, Tensor, Operation)) and hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation, kinds)
        allowed = isinstance(obj, Tensor) and allow_tensor or isinstance(obj, Operation) and allow_operation
        if not allowed:
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
        if obj.graph is not self:
            raise ValueError(f"{type(obj).__name__} {obj!r} is not an element of this graph.")
        return obj

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool, kinds: str) -> Any:
        if ":" in name:
            if not allow_tensor:
                raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {kinds}.")
            return self._tensor_by_name(name)
        op = self._by_name.get(name)
        if not allow_operation:
            if op is not None:
                raise ValueError(
                    f'The name {name!r} refers to an Operation, not a {kinds}. Perhaps you meant "{name}:0"?'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a {kinds}. Tensor names must "
                'be of the form "<op_name>:<output_index>".'
            )
        if op is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.{self._nearest(name)}")
        return op

    def _tensor_by_name(self, name: str) -> Tensor:
        op_name, _, index = name.rpartition(":")
        if not index.isdigit() or not op_name:
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be "
                'of the form "<op_name>:<output_index>".'
            )
        op = self._by_name.get(op_name)
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, "
                f"does not exist in the graph.{self._nearest(op_name)}"
            )
        if int(index) >= len(op.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, "
                f"exists but only has {len(op.outputs)} outputs."
            )
        return op.outputs[int(index)]

    def _nearest(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, self._by_name, n=1)
        return f" Did you mean {near[0]!r}?" if near else ""

    # ------------------------------------------------------------------ feeding and fetching

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        if isinstance(tensor_or_op, Tensor):
            return tensor_or_op.op not in self._unfetchable
        return tensor_or_op not in self._unfetchable

    # ------------------------------------------------------------------ collections

    @property
    def collections(self) -> list[Any]:
        return self.get_all_collection_keys()

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_not_finalized()
        with self._lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in {names: None} if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list:
        """The collection itself, to change in place."""
        with self._lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list:
        """A copy of the collection; with `scope`, the items whose name matches that regular expression at
        its start.
        """
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        matches = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and matches(item.name)]

    def clear_collection(self, name: Any) -> None:
        self._check_not_finalized()
        self._collections.pop(name, None)

    # ------------------------------------------------------------------ as a message

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph (or what was added since `from_version`) as a GraphDef that TensorFlow reads."""
        from tideflow.graph.graph_def import graph_def_proto

        return graph_def_proto(self, from_version, add_shapes)


def _operation_of(item: Any, graph: Graph) -> Operation:
    if isinstance(getattr(item, "handle", None), Tensor):
        return item.handle.op
    if hasattr(item, "op"):  # a tensor, or a variable: its state is meant, not one of its reads
        return item.op
    element = graph.as_graph_element(item)
    return element.op if isinstance(element, Tensor) else element


def _colocate(op: Operation, colocations: tuple[Operation, ...]) -> None:
    groups = set(op.attrs.get("_class", ()))
    for other in colocations:
        groups.update(other.attrs.get("_class", (f"loc:@{other.name}",)))
    op.attrs["_class"] = sorted(groups)
    # Stronger than a device asked for inside the colocation.
    op._device = next((other.device for other in colocations if other.device), op._device)
