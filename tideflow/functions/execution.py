"""Calls of a function's body in eager mode: by plans, recorded by tapes as one operation.

The body is compiled as a session's step is. A tape records the whole call; what goes back calls the body's
gradient (`autodiff/functions.py`) in the same way, so that outer tapes record that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tideflow.autodiff.functions import (
    Derivative,
    carries_gradient,
    closed_outputs,
    derivative,
    with_outputs,
)
from tideflow.eager.compiled_body import CompiledBody
from tideflow.eager.context import eager_graph
from tideflow.eager.execute import GRAPH_TENSOR
from tideflow.eager.recording import Record, recording
from tideflow.eager.tensor import EagerTensor
from tideflow.graph.functions import FunctionBody
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow.calls import call_op_for


class Executable(CompiledBody):
    """A function's body that eager mode can call, under tapes too."""

    def __init__(self, name: str, body: FunctionBody, handles: dict[Tensor, Any] | None = None) -> None:
        super().__init__(name, body, eager_graph, handles)
        self._taped: dict[bool, tuple[Executable, int]] = {}
        self._backward: dict[tuple[Tensor, ...], tuple[Executable, list[int], Derivative]] = {}

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
            tape.add_record(record)
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
            raise TypeError(GRAPH_TENSOR.format(tensor.name))
