"""Graph: the program as data, with its names, scopes, control dependencies, devices and collections."""

from __future__ import annotations

import contextlib
import difflib
import html
import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, overload

from tensorboard.compat.proto.versions_pb2 import VersionDef

from tideflow.export import export
from tideflow.graph import device as device_names
from tideflow.graph.graph_def import attr_from_proto, graph_def_proto
from tideflow.graph.inner_names import InnerNames
from tideflow.graph.op_registry import definition
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.stacks import default_graphs, default_sessions, replaced
from tideflow.graph.thread_scopes import Controls, Scopes, ThreadScopes
from tideflow.interrupts import deferred

if TYPE_CHECKING:
    from tensorboard.compat.proto.function_pb2 import FunctionDef
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    from tideflow.graph.functions import FunctionBody
    from tideflow.graph.op import Op
    from tideflow.graph.typing import (
        DeviceFunction,
        DeviceLike,
        DTypeLike,
        GraphElementLike,
        SessionLike,
    )

_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\-/]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\-/]*$")

GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
_SHOWN_TYPES = 20  # op types that a notebook shows of a graph


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


class _UnmadeOperation:
    """What functions of devices see of an operation that is not made."""

    type = name = _device = ""
    node_def = SimpleNamespace(op="", name="")

    @property
    def device(self) -> str:
        return self._device


@export("Graph")
class Graph(InnerNames):
    """A dataflow graph: operations, the tensors between them, and collections of objects that belong to it.

    New operations go into the default graph: the global one, or the one of the innermost
    `with graph.as_default():` block. A session runs parts of one graph.

    Attributes:
      seed: The graph-level random seed, or None.
    """

    is_eager = False  # True of eager mode's graph (`eager/context.py`), whose ops run at once
    tensor_type: Any = None  # the class of the tensors of eager mode's graph
    takes_eager_calls = False  # whether an op called in eager mode on a tensor of this graph is added to it
    resources: Any = None  # the state that all sessions of the graph share; None where each has its own

    functional_control_flow = False  # whether `tf.cond` and loops are calls of functions

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _graphs.add(self)
        self._thread_scopes = ThreadScopes(Scopes(), threading.get_ident())
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names: dict[str, int] = {}
        self._collections: dict[Hashable, list[Any]] = {}
        self._finalized = False
        self._mutations = 0
        self._warned_about: set[Operation] = set()
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._gradient_overrides: dict[str, str] = {}
        # Operations of models that are not trusted, each with the tensors that name the files it may read.
        self._untrusted: dict[Operation, frozenset[Tensor]] = {}
        self._kernel_labels: dict[str, str] = {}
        self._default_original_op: Operation | None = None
        self._gradient_functions: dict[str, Callable[..., Any]] = {}
        self._functions: dict[str, FunctionDef] = {}
        self._function_gradients: dict[str, str] = {}  # the function that computes a function's gradient
        self._function_bodies: dict[tuple[str, str], FunctionBody] = {}  # by name and attribute values
        self._function_calls: dict[str, Op] = {}  # the op types that call functions by name
        self._python_functions: list[Any] = []  # what its nodes call; it lives as long as the graph
        self._container = ""
        self._takes_internal_ops = False  # True of a part of a step that another task of the cluster sent
        self._last_seeds: dict[str, int] = {}
        self._known_reductions: set[tuple[Any, ...]] = set()  # shapes and axes of the gradients made so far
        self.seed: int | None = None
        self._producer = GRAPH_DEF_VERSION
        self._min_consumer = GRAPH_DEF_VERSION_MIN_CONSUMER
        self._bad_consumers: set[int] = set()

    @property
    def _local(self) -> Scopes:
        return self._thread_scopes.now

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}: {_counted(len(self._ops), 'operation')}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: how many operations there are of which type."""
        counts = Counter(op.type for op in list(self._ops)).most_common()
        rows = "".join(
            f"<tr><td>{html.escape(kind)}</td><td>{n}</td></tr>" for kind, n in counts[:_SHOWN_TYPES]
        )
        more = len(counts) - _SHOWN_TYPES
        rest = f"<p>and {_counted(more, 'more type')}</p>" if more > 0 else ""
        heading = "<tr><th>operations of type</th><th>number</th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{heading}{rows}</table>{rest}"

    # ------------------------------------------------------------------ the default graph

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Makes this the default graph of the current thread, within a `with` block.

        Yields:
          This graph.
        """
        with default_graphs.pushed(self):
            yield self

    def _session_for(self, method: str, noun: str, session: SessionLike | None) -> SessionLike:
        verb = "evaluate" if method == "eval" else "execute"
        used = session or default_sessions.top()
        if used is None:
            raise ValueError(
                f"Cannot {verb} {noun} using `{method}()`: No default session is registered. Use `with "
                f"sess.as_default(){':' * (method == 'run')}` or pass an explicit session to "
                f"`{method}(session=sess)`"
            )
        if used.graph is not self:
            which = "default" if session is None else "given"
            call = "`eval(session=sess)`" if method == "eval" else "run(session=sess)"
            raise ValueError(
                f"Cannot use the {which} session to {verb} {noun}: the {noun}'s graph is different from the "
                f"session's graph.{f' Pass an explicit session to {call}.' if session is None else ''}"
            )
        return used

    # ------------------------------------------------------------------ names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Makes a unique operation name from `name`, in the current name scope.

        Args:
          name: The name without its scope.
          mark_as_used: Whether the result counts as taken from now on.

        Returns:
          The name with its scope, and with `_1`, `_2` and so on appended if it is taken. Names that differ
          only in case count as equal.
        """
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
        if isinstance(name, bytes):
            name = name.decode()
        if not (_SCOPE_NAME if stack else _OP_NAME).match(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        return name[:-1] if name.endswith("/") else self.unique_name(name)

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Gives the operations made in a `with` block names that begin with a scope.

        Args:
          name: The name of the scope, which is made unique; a name that ends in a slash is an existing scope
            and is used as it is. None or "" leaves all scopes.

        Yields:
          The full name of the scope with a slash at its end, "" outside of all scopes.

        Raises:
          TypeError: If `name` is not a string.
          ValueError: If `name` has characters that a scope cannot have.
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, got {name!r}")
        full = self._scope_for(name) if name else ""
        with self._local.block(name_stack=full):
            yield f"{full}/" if full else ""

    @property
    def _c_graph(self) -> Graph:
        """What libraries give to functions of TensorFlow's C interface in the place of the graph."""
        return self

    def get_name_scope(self) -> str:
        """The current name scope, without a slash at its end."""
        return self._local.name_stack

    # ------------------------------------------------------------------ scopes that mark new operations

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[GraphElementLike] | None) -> Iterator[None]:
        """Makes the operations of a `with` block run after the given ones.

        Blocks can be nested: an operation inside both waits for the control inputs of both.

        Args:
          control_inputs: Operations or tensors. None cancels the control dependencies of the blocks outside.
        """
        local = self._local
        if control_inputs is None:
            block = local.block(controls=(), context=None)
        else:
            block = local.block(
                controls=(*local.controls, Controls(self._control_operations(control_inputs)))
            )
        with block:
            yield

    def _control_operations(self, control_inputs: Iterable[Any]) -> list[Operation]:
        ops: list[Operation] = []
        for item in control_inputs:
            if hasattr(item, "_handle") or type(item).__name__ == "IndexedSlices":
                item = item.op  # a resource variable, before or after a write: its handle, not its read
            element = self.as_graph_element(item)
            op = element.op if isinstance(element, Tensor) else element
            if op not in ops:
                ops.append(op)
        return ops

    @contextlib.contextmanager
    def device(self, device_name_or_function: DeviceLike | None) -> Iterator[None]:
        """Requests a device for the operations made in a `with` block.

        Args:
          device_name_or_function: A device name or a `tf.DeviceSpec`, of which parts may be open; an inner
            block takes precedence over an outer one, part by part. A function is called with each new
            operation and returns its device. None cancels the devices of the blocks outside.

        Raises:
          ValueError: If the name is not a device name.
          RuntimeError: If the block ends before a block inside of it.
        """
        local, entry = self._local, device_name_or_function
        if entry is not None and not callable(entry):
            entry = device_names.merge_device(entry)
        devices = (*local.devices, entry)
        with local.block(devices=devices):
            yield
            if len(local.devices) > len(devices):
                raise RuntimeError("Exiting device scope without proper scope nesting.")

    @contextlib.contextmanager
    def colocate_with(self, op: GraphElementLike | None, ignore_existing: bool = False) -> Iterator[None]:
        """Places the operations made in a `with` block on the device of another operation.

        Args:
          op: An operation, or a tensor or variable for its operation. None joins no group.
          ignore_existing: Whether the colocations of the blocks outside are cancelled.

        Raises:
          ValueError: If `op` is None and `ignore_existing` is not set.
        """
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        local = self._local
        kept = () if ignore_existing else local.colocations
        inner = kept if op is None else (*kept, _operation_of(op, self))
        # The device of `op` takes precedence over the surrounding scope's.
        with local.block(colocations=inner, devices=()):
            yield

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keeps the state of operations made in a `with` block in a named resource container.

        Args:
          container_name: The container, which `Session.reset` can clear.

        Yields:
          The container's name.
        """
        with replaced(self, "_container", container_name):
            yield container_name

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Replaces the gradients of operations made in a `with` block.

        Args:
          op_type_map: By op type, the name under which `tf.RegisterGradient` registered the gradient function
            to use.

        Raises:
          TypeError: If `op_type_map` is not a dictionary from strings to strings.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        with replaced(self, "_gradient_overrides", {**self._gradient_overrides, **op_type_map}):
            yield

    def switch_to_thread_local(self) -> None:
        """Makes threads that have not built this graph yet begin with the scopes that this thread is in now.

        Without it, they begin with those that the graph's first thread is in when they do. After that, the
        scopes of a graph always belong to a thread.
        """
        now = self._local
        self._thread_scopes = ThreadScopes(now.inherited(), -1)
        self._thread_scopes.now = now

    # ------------------------------------------------------------------ operations

    def _insert(self, op: Operation, given: Sequence[Tensor]) -> None:
        """Adds a new operation, with the control inputs, device and colocation of the current scopes.

        `given` are its inputs as the caller gave them, before the current loop or branch replaced them.
        """
        self._check_not_finalized()
        local = self._local
        if local.controls:
            self._add_scope_controls(op, local.controls, given)
        if local.devices:
            self._place_by_scopes(op, local.devices)
        if local.attrs:
            self._add_scope_attrs(op, local)
        if local.colocations:
            _colocate(op, local.colocations)
        if self._gradient_overrides and op.type in self._gradient_overrides:
            op._gradient_name = op.attrs["_gradient_op_type"] = self._gradient_overrides[op.type]
        if self._kernel_labels and op.type in self._kernel_labels:
            op.attrs["_kernel"] = self._kernel_labels[op.type]
        if self._default_original_op is not None:
            op._original_op = self._default_original_op
        if self._container and "container" in op.attrs and not op.attrs["container"]:
            op.attrs["container"] = self._container
        with deferred:
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

    def _add_scope_attrs(self, op: Operation, local: Scopes) -> None:
        for key, value in local.attrs.items():
            if key != "_class" or not local.colocations:  # an explicit colocation takes precedence
                op.attrs.setdefault(key, value(op.node_def) if callable(value) else value)

    def _add_scope_controls(
        self, op: Operation, stack: tuple[Controls, ...], given: Sequence[Tensor]
    ) -> None:
        inputs = {tensor.op for tensor in given}
        for controls in stack:
            # An input made inside the block waits for the block's dependencies already.
            if inputs.isdisjoint(controls.seen):
                for control in controls.inputs:
                    if control not in inputs and control not in op.control_inputs:
                        op.control_inputs.append(control)

    def _apply_device_functions(self, op: Any) -> None:
        """Tells an object that is no operation, such as Keras's, on which device one would be made now."""
        unmade = _UnmadeOperation()
        self._place_by_scopes(unmade, self._local.devices)
        if unmade.device:
            op._set_device_from_string(unmade.device)

    def _place_by_scopes(self, op: Any, devices: tuple[DeviceFunction | None, ...]) -> None:
        for entry in reversed(devices):
            if entry is None:
                break
            op._device = device_names.canonical_name(entry(op))

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DTypeLike] | None = None,
        input_types: Sequence[DTypeLike] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an operation of any registered type.

        Args:
          op_type: The name of the op type, such as `"MatMul"`.
          inputs: The input tensors, in the order of the op type's schema.
          dtypes: Ignored: the types of the outputs follow from the schema.
          input_types: Ignored: the types of the inputs follow from the schema.
          name: The operation's name; the op type if None.
          attrs: Attributes by name, as AttrValue messages or plain values. Type attributes that the inputs
            determine may be left out.
          op_def: Ignored: the op type must be registered.
          compute_shapes: Ignored: static shapes are always computed.
          compute_device: Ignored: device scopes always apply.

        Returns:
          The operation.

        Raises:
          NotFoundError: If the op type is not registered.
          ValueError: If an attribute is missing, or the inputs do not fit the op type.
        """
        stored = {k: attr_from_proto(v) if hasattr(v, "WhichOneof") else v for k, v in (attrs or {}).items()}
        op = definition(op_type)
        with self.as_default():
            return op.node_from_flat(list(inputs), {**op.inferred_attrs(inputs), **stored}, name or op_type)

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _mutated(self) -> None:
        """Records that a node has changed after it was made: plans compiled from it are stale."""
        self._mutations += 1

    @property
    def version(self) -> int:
        """A number that grows with every operation added."""
        return len(self._ops)

    @property
    def graph_def_versions(self) -> VersionDef:
        """The versions that `as_graph_def` writes, as a VersionDef."""
        return VersionDef(
            producer=self._producer,
            min_consumer=self._min_consumer,
            bad_consumers=sorted(self._bad_consumers),
        )

    @property
    def finalized(self) -> bool:
        """Whether the graph is read-only."""
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only: adding an operation raises RuntimeError from now on."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def building_function(self) -> bool:
        """Whether this graph is the body of a function."""
        return False

    def get_operations(self) -> list[Operation]:
        """All operations, in the order in which they were made."""
        return list(self._ops)

    def get_operation_by_name(self, name: str) -> Operation:
        """Finds an operation by its name.

        Args:
          name: The operation's full name.

        Returns:
          The operation.

        Raises:
          TypeError: If `name` is not a string.
          KeyError: If the graph has no such operation.
          ValueError: If `name` is the name of a tensor.
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Finds a tensor by its name.

        Args:
          name: The name of its operation and its output index: `"op:0"`.

        Returns:
          The tensor.

        Raises:
          TypeError: If `name` is not a string.
          KeyError: If the graph has no such tensor.
          ValueError: If `name` is not the name of a tensor.
        """
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    @overload
    def as_graph_element(
        self, obj: Any, allow_tensor: Literal[False], allow_operation: bool = True
    ) -> Operation: ...

    @overload
    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, *, allow_operation: Literal[False]
    ) -> Tensor: ...

    @overload
    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation: ...

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        """Finds the tensor or the operation that an object stands for.

        Args:
          obj: A tensor, an operation, the name of one, or an object that stands for one, such as a variable.
          allow_tensor: Whether the result may be a tensor.
          allow_operation: Whether the result may be an operation.

        Returns:
          The tensor or the operation.

        Raises:
          TypeError: If `obj` stands for none that is allowed.
          ValueError: If it belongs to another graph, or is a malformed name.
          KeyError: If the graph has none of that name.
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
        if not (isinstance(obj, (Tensor, Operation)) and allowed):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
        if obj.graph is not self:
            shown = str(obj) if isinstance(obj, Tensor) else repr(obj)
            raise ValueError(f"{type(obj).__name__} {shown} is not an element of this graph.")
        return obj

    def _element_by_name(
        self, name: str, allow_tensor: bool, allow_operation: bool, kinds: str
    ) -> Tensor | Operation:
        if ":" in name:
            if not allow_tensor:
                raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a {kinds}.")
            return self._tensor_by_name(name)
        op = self._by_name.get(name)
        if not allow_operation:
            if op is not None:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a {kinds}. Tensor names must be of the "
                    f'form "<op_name>:<output_index>". Perhaps you meant "{name}:0"?'
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
        near = difflib.get_close_matches(name, self._by_name, n=1)
        return f" Did you mean {near[0]!r}?" if near else ""

    # ------------------------------------------------------------------ feeding and fetching

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Makes feeding `tensor` an error.

        Args:
          tensor: The tensor.
        """
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether a step may be given a value for `tensor`.

        Args:
          tensor: The tensor.

        Returns:
          Whether it may be fed.
        """
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Makes fetching `op` or one of its outputs an error.

        Args:
          op: The operation.
        """
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        """Whether `Session.run` may fetch a tensor or an operation.

        Args:
          tensor_or_op: The tensor or operation.

        Returns:
          Whether it may be fetched.
        """
        if isinstance(tensor_or_op, Tensor):
            return tensor_or_op.op not in self._unfetchable
        return tensor_or_op not in self._unfetchable

    # ------------------------------------------------------------------ collections

    @property
    def collections(self) -> list[str]:
        """The names of all collections."""
        return self.get_all_collection_keys()

    def get_all_collection_keys(self) -> list[str]:
        """The names of all collections; keys that are not strings are left out."""
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Hashable, value: Any) -> None:
        """Appends a value to a collection.

        Args:
          name: The collection's key; `tf.GraphKeys` has the standard names.
          value: The value. A collection may contain it several times.

        Raises:
          RuntimeError: If the graph is finalized.
        """
        self._check_not_finalized()
        with self._lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Iterable[Hashable], value: Any) -> None:
        """Appends a value to several collections.

        Args:
          names: The collections' keys, or one name. A key that occurs twice counts once.
          value: The value.

        Raises:
          RuntimeError: If the graph is finalized.
        """
        for name in {names: None} if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Hashable) -> list[Any]:
        """Gets a collection itself: changes of the list change the collection.

        Args:
          name: The collection's key. A collection that does not exist is made, and is empty.

        Returns:
          The collection.
        """
        with self._lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: Hashable, scope: str | None = None) -> list[Any]:
        """Gets the values of a collection.

        Args:
          name: The collection's key.
          scope: A regular expression. If given, only values whose `name` matches it at its start are
            returned.

        Returns:
          A new list of the values in the order in which they were added; empty where there is no collection.
        """
        items = self._collections.get(name, [])
        if scope is None or not items:
            return list(items)
        matches = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and matches(item.name)]

    def clear_collection(self, name: Hashable) -> None:
        """Removes all values of a collection.

        Args:
          name: The collection's key.

        Raises:
          RuntimeError: If the graph is finalized.
        """
        self._check_not_finalized()
        self._collections.pop(name, None)

    # ------------------------------------------------------------------ as a message

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """Serializes the graph to a GraphDef, which TensorFlow reads too.

        Args:
          from_version: If given, only operations added since the graph had this `version` are included.
          add_shapes: Whether each node gets an attribute `_output_shapes` with its static shapes.

        Returns:
          The GraphDef, with the graph's functions.
        """
        return graph_def_proto(self, from_version, add_shapes)


def _operation_of(item: Any, graph: Graph) -> Operation:
    handle = getattr(item, "handle", None)
    if isinstance(handle, Tensor):
        return handle.op
    op = getattr(item, "op", None)  # a tensor's operation, or a variable's: its state, not a read
    if isinstance(op, Operation):
        return op
    element = graph.as_graph_element(item)
    return element.op if isinstance(element, Tensor) else element


def _colocate(op: Operation, colocations: tuple[Operation, ...]) -> None:
    groups = set(op.attrs.get("_class", ()))
    for other in colocations:
        groups.update(other.attrs.get("_class", (f"loc:@{other.name}",)))
    op.attrs["_class"] = sorted(groups)
    # The device of the colocated op takes precedence over one requested inside the block.
    op._device = next((other.device for other in colocations if other.device), op._device)


_graphs: weakref.WeakSet[Graph] = weakref.WeakSet()


def _after_fork() -> None:
    """Another thread of the parent may have held a lock at that moment, and does not release it here."""
    for graph in list(_graphs):
        graph._lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
