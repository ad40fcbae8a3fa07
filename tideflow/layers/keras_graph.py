"""Graphs beside eager mode: Keras's own, in which models are connected, and those of compiled steps."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch

from tideflow.eager.context import eager_graph
from tideflow.eager.tensor import device_name
from tideflow.graph import dtypes, nest
from tideflow.graph.functions import FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_default_graph, graph_outside, init_scope
from tideflow.ops.arrays import constants
from tideflow.ops.helpers.session_objects import held
from tideflow.ops.state import captured_objects, resource_variables
from tideflow.runtime.resources import ResourceManager


class BesideEager(FunctionGraph):
    """A graph that uses the variables of eager mode as its own. Other eager values are constants in it.

    Sessions of the graph find the variables in `resources`.
    """

    def __init__(self) -> None:
        super().__init__(eager_graph())
        self.resources = ResourceManager()
        self.seed = eager_graph().seed

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph that stands for an eager one."""
        if not tensor.is_eager:
            if tensor.graph is not self:
                raise ValueError(f"{tensor} must be from the same graph as the other inputs: {self!r}.")
            return tensor
        if tensor not in self.captured:
            with self.as_default(), self.control_dependencies(None), self.name_scope(None):
                stand_in = self.captured[tensor] = self._stand_in(tensor)
            stand_in._variable = getattr(tensor, "_variable", None)
        return self.captured[tensor]

    def _stand_in(self, tensor: Any) -> Tensor:
        variable = tensor._value
        if tensor.dtype is not dtypes.resource:
            return constants.constant(tensor.numpy(), tensor.dtype, name="captured")
        shared = f"eager_{len(self.captured)}"
        if not isinstance(variable, resource_variables.HandledVariable):
            self.resources.get_or_create("", captured_objects.KIND, shared, lambda: held(variable))
            return captured_objects.captured_object_op(shared_name=shared, name="captured")
        self.resources.get_or_create("", resource_variables.KIND, shared, lambda: variable)
        place = variable.value.device if isinstance(variable.value, torch.Tensor) else torch.device("cpu")
        with self.device(device_name(place)):
            return resource_variables.var_handle_op(
                dtype=tensor.shape.dtype,
                shape=tensor.shape.variable_shape,
                shared_name=shared,
                name=variable.name or "variable",
            )


class KerasGraph(BesideEager):
    """The graph in which models are connected. An op whose input is a tensor of it is added to it."""

    takes_eager_calls = True


class _Current:
    lock = threading.Lock()
    graph: KerasGraph | None = None


def get_graph() -> Graph:
    """The graph in which layers are connected: the default graph, or in eager mode one of Keras's own."""
    default = get_default_graph()
    if not default.is_eager:
        return default
    with _Current.lock:
        if _Current.graph is None:
            _Current.graph = KerasGraph()
        return _Current.graph


def forget_graph() -> None:
    """Begins a new graph beside eager mode."""
    _Current.graph = None


def is_symbolic(values: Any) -> bool:
    """Whether a structure has tensors of a graph, which have no value."""
    return any(isinstance(x, Tensor) and not x.is_eager for x in nest.flatten(values))


@contextlib.contextmanager
def outside_functions() -> Iterator[None]:
    """Makes the operations of a `with` block outside of the functions that are being traced."""
    with init_scope() if get_default_graph().building_function else contextlib.nullcontext():
        yield


def in_keras_graph() -> bool:
    """Whether models are being connected beside eager mode."""
    graph = get_default_graph()
    while graph.building_function and not isinstance(graph, KerasGraph):
        graph = graph.outer  # type: ignore[attr-defined]
    return isinstance(graph, KerasGraph)


class _Step(threading.local):
    updates: list[Any] | None = None  # of the step that this thread builds


_step = _Step()


@contextlib.contextmanager
def step_in_graph() -> Iterator[list[Any]]:
    """Makes the calls of a `with` block those of one step, as in a function.

    Yields:
      The operations that layers add to the step: in a graph, whatever runs the step must run them too.
    """
    outer, _step.updates = _step.updates, []
    try:
        yield _step.updates
    finally:
        _step.updates = outer


def note_update(update: Any) -> None:
    """Adds an operation to the step that this thread builds, if it builds one."""
    if _step.updates is not None and update is not None:
        _step.updates.append(update)


def noted_updates() -> list[Any]:
    """The operations of the step that this thread builds, so far."""
    return list(_step.updates or ())


def runs_as_function() -> bool:
    """Whether operations run at once, in a function that is being traced beside eager mode, or in a step.

    There a layer's losses are those of one call, and what a layer updates is updated.
    """
    if _step.updates is not None:
        return True
    return graph_outside().is_eager and not in_keras_graph()
