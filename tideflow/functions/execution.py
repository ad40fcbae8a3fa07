"""Calls of a function's body in eager mode: by plans, recorded by tapes as one operation.

The body is compiled as a session's step is. A tape records the whole call; what goes back calls the body's
gradient (`autodiff/functions.py`) in the same way, so that outer tapes record that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.autodiff.functions import (
    Derivative,
    carries_gradient,
    closed_outputs,
    derivative,
    with_outputs,
)
from tideflow.compile.failures import fail
from tideflow.compile.plan import Plan
from tideflow.compile.request import FeedShapes, StepRequest
from tideflow.compile.variants import Variants
from tideflow.eager.context import eager_graph
from tideflow.eager.execute import GRAPH_TENSOR
from tideflow.eager.recording import Record, recording
from tideflow.eager.tensor import EagerTensor, key_of
from tideflow.functions.locks import give_lock
from tideflow.graph import dtypes
from tideflow.graph.functions import FunctionBody
from tideflow.graph.operation import Tensor
from tideflow.interrupts import deferred
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow.calls import call_op_for
from tideflow.ops.helpers.variables import HandleShape
from tideflow.runtime.devices import Placement, local_devices
from tideflow.runtime.resources import Variable
from tideflow.runtime.waiting import StepContext
from tideflow.session.executor import LocalExecutor, compiled

_new = object.__new__


class Executable:
    """A function's body that eager mode can call. `handles` are the inputs that are the same in every call:
    a plan knows their variables, as it knows those of a graph.
    """

    _lock: Any

    def __init__(self, name: str, body: FunctionBody, handles: dict[Tensor, Any] | None = None) -> None:
        self.name = name
        self.body = body
        self._handles = handles or {}
        self._states: dict[str, dict[str, Any]] = {}  # of operations that keep something between calls
        self._plan: Plan | None = None  # where the shapes of all inputs are known
        self._variants: Variants[Plan] | None = None
        self._executor: LocalExecutor | None = None
        self._feeds: list[Tensor] = []
        self._fed: list[int] = []  # their positions among the inputs
        self._open: list[int] = []  # the feeds whose shapes a call says
        give_lock(self)
        self._outputs: list[tuple[dtypes.DType, Any, Any]] = []
        self._taped: dict[bool, tuple[Executable, int]] = {}
        self._backward: dict[tuple[Tensor, ...], tuple[Executable, list[int], Derivative]] = {}

    # ------------------------------------------------------------------------------------------ running

    def values(self, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """What the body computes of the inputs, unseen by tapes."""
        if self._executor is None:
            self._prepare()
        return self.run([tensors[i]._value for i in self._fed])

    def fed_positions(self) -> list[int]:
        """The places of the inputs whose values `run` takes."""
        if self._executor is None:
            self._prepare()
        return self._fed

    def run(self, fed: list[Any]) -> list[EagerTensor]:
        """The same, of the values of those inputs that are not the same in every call."""
        if self._executor is None:
            self._prepare()
        plan = self._plan or self._plan_for(fed)
        try:
            if plan.takes_context:
                results = plan.function(StepContext(), *fed)
            else:
                results = plan.function(*fed)
        except Exception as error:
            fail(error, plan)
        except BaseException:  # an interrupt, which may have come while a kernel had a variable's buffer
            with deferred:
                for held in (*self._handles.values(), *fed):
                    if isinstance(held, Variable):
                        held.put_back()
            raise
        outputs = []
        for value, (dtype, key, shape) in zip(results, self._outputs):
            output: EagerTensor = _new(EagerTensor)
            output._value, output.dtype, output._key = value, dtype, key or key_of(value, dtype)
            if shape is not None:
                output._shape = shape
            outputs.append(output)
        return outputs

    def _prepare(self) -> None:
        with self._lock:
            if self._executor is not None:
                return
            self._fed = [i for i, x in enumerate(self.body.inputs) if x not in self._handles]
            self._feeds = [self.body.inputs[i] for i in self._fed]
            self._open = [i for i, x in enumerate(self._feeds) if not x.shape.is_fully_defined()]
            self._outputs = [_described(tensor) for tensor in self.body.outputs]
            self._executor = LocalExecutor(eager_graph().resources, Placement(local_devices(), soft=True))

    def _plan_for(self, fed: list[Any]) -> Plan:
        if not self._open:
            with self._lock:
                if self._plan is None:
                    self._plan = self._compiled((), StepContext(), self._replace)
                return self._plan
        sized = [fed[i] for i in self._open]
        if self._variants is None:
            with self._lock:
                self._variants = self._variants or Variants(self._compiled)
        found = self._variants.plans.get(tuple([value.shape for value in sized]))
        return found or self._variants.plan_for(sized, StepContext())

    def _replace(self, plan: Plan) -> None:
        self._plan = plan

    def _compiled(self, sizes: FeedShapes, context: StepContext, replace: Callable[[Plan], None]) -> Plan:
        assert self._executor is not None, "it was prepared"
        shapes: list[Any] = [None] * len(self._feeds)
        for i, size in zip(self._open, sizes):
            shapes[i] = size
        request = StepRequest(
            tuple(self.body.outputs),
            tuple(self.body.targets),
            feeds=tuple(self._feeds),
            feed_shapes=tuple(shapes),
            known=self._handles,
            prefix=f"{self.name}/",
            states=self._states,
        )
        return compiled(self._executor, request, context, replace)

    # ------------------------------------------------------------------------------------------ with tapes

    def __call__(self, tensors: Sequence[EagerTensor]) -> list[EagerTensor]:
        """The outputs for these inputs. Tapes that watch one of the inputs record the call."""
        tapes = recording.tapes
        if not tapes:
            return self.values(tensors)
        using = [tape for tape in tapes if tape._uses(tensors)]
        if not using:
            return self.values(tensors)
        forward, count = self._with_intermediates(len(tapes) > 1 or any(t._persistent for t in using))
        missing = len(self.body.inputs) - len(tensors)
        if missing:  # what the gradient captures, and the function did not
            tensors = [*tensors, *list(self.body.graph.captured)[-missing:]]
        outputs = forward.values(tensors)
        gradient = _Gradient(forward, count)
        record = Record(call_op_for(self.body), {}, list(tensors), outputs, None, gradient, takes_none=True)
        for tape in using:
            tape._add(record)
        return outputs[:count]

    def _with_intermediates(self, many_orders: bool) -> tuple[Executable, int]:
        """The same body, with the intermediates that gradients need as further outputs: of all orders, or of
        the first.
        """
        found = self._taped.get(many_orders)
        if found is not None:
            return found
        with self._lock:
            body = self.body
            if many_orders:
                outputs = closed_outputs(body, self.name)
            else:
                first = derivative(body, [y for y in body.outputs if carries_gradient(y)], self.name)
                known = {*body.outputs, *body.inputs}
                outputs = body.outputs + [x for x in first.intermediates if x not in known]
            forward = Executable(f"__forward_{self.name}", with_outputs(body, outputs), self._handles)
            forward._states = self._states
            forward.body.derivatives = body.derivatives
            self._taped[many_orders] = forward, len(body.outputs)
            return self._taped[many_orders]

    def backward(self, ys: list[Tensor]) -> tuple[Executable, list[int], Derivative]:
        """What computes the gradients of the inputs from those of these tensors of the body, and the places
        of its other inputs among the inputs and outputs of the body.
        """
        key = tuple(ys)
        found = self._backward.get(key)
        if found is None:
            with self._lock:
                derived = derivative(self.body, ys, self.name)
                inner = derived.body.graph.captured
                handles = {inner[x]: value for x, value in self._handles.items() if x in inner}
                known = [*self.body.inputs, *self.body.outputs]
                place = {tensor: i for i, tensor in reversed(list(enumerate(known)))}
                positions = [place[tensor] for tensor in derived.intermediates]
                found = Executable(derived.names[1], derived.body, handles), positions, derived
                self._backward[key] = found
        return found


class _Gradient:
    """The gradient function of a recorded call."""

    def __init__(self, forward: Executable, count: int) -> None:
        self._forward, self._count = forward, count

    def __call__(self, record: Record, *grads: Any) -> list[Any]:
        body = self._forward.body
        outputs = body.outputs
        given = len(outputs) if any(g is not None for g in grads[self._count :]) else self._count
        used = [i for i in range(given) if carries_gradient(outputs[i])]
        ys = [outputs[i] for i in used]
        inputs = [creation.zeros_like(record.outputs[i]) if grads[i] is None else grads[i] for i in used]
        backward, positions, derived = self._forward.backward(ys)
        known = (*record.inputs, *record.outputs)
        return derived.packed(backward([*inputs, *[known[i] for i in positions]]))


def check_eager(tensors: Sequence[Any]) -> None:
    """Refuses tensors of graphs, which have no value."""
    for tensor in tensors:
        if not tensor.is_eager:
            raise TypeError(GRAPH_TENSOR.format(tensor))


def _described(tensor: Tensor) -> tuple[dtypes.DType, Any, Any]:
    """Of an output, the type, the key of its kernels if it is known, and the shape of a handle."""
    dtype = tensor.dtype.base_dtype
    if isinstance(tensor.shape, HandleShape):
        shape = tensor.shape
        return (
            dtype,
            (dtype.as_datatype_enum, (shape.dtype.as_datatype_enum, shape.variable_shape.tuple)),
            shape,
        )
    return dtype, None, None
