"""`tf.CriticalSection`: a part of the graph that at most one step at a time is in.

A step locks a mutex before it runs anything of the section, and after everything is there that the section
takes from outside: a step that holds the mutex waits for nothing but its own computation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.op import Op
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.runtime.mutexes import Mutex
from tideflow.runtime.tensor_lists import as_variant

mutex_op = Op(
    "MutexV2",
    " -> resource: resource",
    container="",
    shared_name="",
    stateful=True,
    handle=True,
    differentiable=False,
)
mutex_op.shape(lambda: [])


@mutex_op.kernel
def _mutex_kernel(*, container, shared_name, resources, node):
    name = shared_name or node.name
    return resources.get_or_create(container, "mutex", name, lambda: Mutex(name))


mutex_op.samples(covered_by="tests/ops/control_flow/test_critical_section.py")

mutex_lock_op = Op(
    "MutexLock", "mutex: resource -> mutex_lock: variant", stateful=True, blocking=True, differentiable=False
)
mutex_lock_op.shape(lambda mutex: [])


@mutex_lock_op.kernel
def _mutex_lock_kernel(mutex, *, resources, context):
    return as_variant(mutex.lock(resources, context))


mutex_lock_op.samples(covered_by="tests/ops/control_flow/test_critical_section.py")

consume_mutex_lock_op = Op("ConsumeMutexLock", "mutex_lock: variant", stateful=True, differentiable=False)
consume_mutex_lock_op.shape(lambda mutex_lock: [])


@consume_mutex_lock_op.kernel
def _consume_mutex_lock_kernel(mutex_lock):
    mutex_lock[()].release()


consume_mutex_lock_op.samples(covered_by="tests/ops/control_flow/test_critical_section.py")


@export("CriticalSection")
class CriticalSection:
    """A part of the graph that at most one step at a time is in.

    Args:
      name: A name for the mutex.
      shared_name: The name under which sections share a mutex; that of the section unless given.
      critical_section_def: Not supported.
      import_scope: Kept for TensorFlow's programs; it has no effect.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ):
        if critical_section_def is not None:
            raise ValueError(
                "critical_section_def is not supported: make the section anew, by its shared_name"
            )
        with name_scope(name, "CriticalSection", []) as scope, control_dependencies(None):
            self._handle = mutex_op(shared_name=shared_name or scope, name=scope)
        self._graph = get_default_graph()
        if not executing_eagerly():
            self._graph.add_to_collection(SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the operation that holds the mutex."""
        return self._handle.op.name

    def _execute_now(self, fn: Callable) -> Any:
        lock = mutex_lock_op(self._handle)
        try:
            return fn()
        finally:
            consume_mutex_lock_op(lock)

    def execute(self, fn: Callable, exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """What a function returns, computed while no other step is in this section.

        Args:
          fn: Called without arguments, now, to build the part of the graph that is in the section.
          exclusive_resource_access: Whether the resources (variables, queues) that `fn` uses must not be used
            in any other section: two locks for one resource protect nothing.
          name: A name for the scope of the new operations.

        Returns:
          What `fn` returns, as what comes after the section sees it.

        Raises:
          ValueError: If `fn` executes something in this section itself, or uses a resource that another
            section has for itself.
        """
        if executing_eagerly():
            return self._execute_now(fn)
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = mutex_lock_op(self._handle)
            before = len(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            made = graph.get_operations()[before:]
            _lock_after_arguments(lock.op, made)
            taken = self._checked_resources(made, exclusive_resource_access)
            computed = [_same(value) for value in nest.flatten(result)]
            with control_dependencies(computed):
                with colocate_with(self._handle):
                    release = consume_mutex_lock_op(lock)
                together = nest.pack_sequence_as(result, grouping.tuple(nest.flatten(result)))
            with control_dependencies([release]):
                outputs = nest.map_structure(_same, together)
        execution = _Execution(lock.op, self._handle, taken, exclusive_resource_access)
        graph.add_to_collection(EXECUTIONS, execution)
        return outputs

    def _checked_resources(self, made: list[Operation], exclusive: bool) -> list[Tensor]:
        """The resources that a function takes; ValueError where that could block or is not exclusive."""
        inputs = dict.fromkeys(tensor for op in made for tensor in op.inputs)
        taken = [tensor for tensor in inputs if tensor.dtype is dtypes.resource]
        if any(_outside(tensor) is self._handle for tensor in taken):
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in which it would be "
                "running.  This is illegal and would cause deadlocks."
            )
        for other in self._graph.get_collection(EXECUTIONS):
            if _is_same_mutex(other.handle, self._handle):
                continue
            shared = [tensor for tensor in taken if tensor in other.resources]
            if shared and (exclusive or other.exclusive_resource_access):
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock (CriticalSection: "
                    f"{self._handle}) or lock '{other}' (CriticalSection: {other.handle}) requested "
                    "exclusive resource access of this resource.  Did you mean to call execute with keyword "
                    "argument exclusive_resource_access=False?"
                )
        return taken


SECTIONS = "critical_sections"
EXECUTIONS = "critical_section_executions"


class _Execution(NamedTuple):
    """One `execute`, for those that come after it."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


def _outside(tensor: Tensor) -> Tensor:
    """A resource as it is outside of the loops and branches it was brought into."""
    while tensor.op.type in ("Enter", "Switch"):
        tensor = tensor.op.inputs[0]
    return tensor


def _is_same_mutex(handle: Tensor, other: Tensor) -> bool:
    return handle is other or handle.op.attrs["shared_name"] == other.op.attrs["shared_name"]


def _lock_after_arguments(lock: Operation, made: list[Operation]) -> None:
    """Has the lock wait for everything that the section takes from outside."""
    inside = {*made, lock}
    arguments = {tensor.op for op in made for tensor in op.inputs}.union(
        x for op in made for x in op.control_inputs
    )
    outside = sorted(arguments - inside, key=lambda op: op._id)
    if outside:
        lock._add_control_inputs([grouping.group(*outside)])


def _same(value: Any) -> Any:
    """The value, or operation, of the section under a name that can wait for something more."""
    if isinstance(value, Operation):
        return grouping.group(value)
    return value.identity() if isinstance(value, TensorArray) else constants.identity(value)
