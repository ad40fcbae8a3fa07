"""Gradients of functions: a function that computes them from what the function itself has computed.

The gradient of a function's body is a body of its own. Its inputs are the gradients of the function's outputs
and those tensors of the function that it needs, the intermediates. A call that is to be differentiated gives
them as further outputs.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tideflow.autodiff.gradients import gradients
from tideflow.graph import dtypes, functions
from tideflow.graph.composite import components, from_components
from tideflow.graph.functions import FunctionBody, FunctionGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow.calls import (
    call_op_for,
    called,
    register_gradients,
)

_numbers = itertools.count()


def carries_gradient(tensor: Tensor) -> bool:
    """Whether a gradient can be given for an output of a function."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex or dtype is dtypes.variant


class BackwardGraph(FunctionGraph):
    """The body of a gradient. The tensors that it takes from the function become inputs, constants are
    copied.
    """

    def __init__(self, outer: Graph) -> None:
        super().__init__(outer)
        self._functions, self._function_bodies = dict(outer._functions), dict(outer._function_bodies)
        self.seed = outer.seed

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if not tensor.is_eager and tensor.graph is self.outer and tensor not in self.captured:
            op = tensor.op
            if op.definition.role == "constant":
                with self.as_default(), self.control_dependencies(None):
                    copied = op.definition.node_from_flat([], dict(op.attrs), op.name)
                copied.outputs[0].set_shape(tensor.shape)
                self.captured[tensor] = copied.outputs[0]
        return super().capture(tensor, name)


@dataclass
class Derivative:
    """The gradient of a function's body with respect to its inputs."""

    ys: list[Tensor]  # the outputs whose gradients are its first inputs
    intermediates: list[Tensor]  # tensors of the function, its other inputs
    body: FunctionBody
    grads: list[Any]  # for each input of the function, None, a tensor of the body, or IndexedSlices of such
    names: tuple[str, str]  # the names of the function with intermediates as outputs, and of the gradient

    def packed(self, tensors: list[Any]) -> list[Any]:
        """The gradients of the function's inputs, made of the outputs of the gradient's body."""
        left = iter(tensors)
        return [
            None if grad is None else from_components(grad, [next(left) for _ in components(grad)])
            for grad in self.grads
        ]


def derivative(
    body: FunctionBody, ys: list[Tensor], name: str = "function", source: str = "gradients"
) -> Derivative:
    """The gradient of a body for gradients of these of its tensors. Each is made once.

    `source` is the name of the `tf.gradients` that it is a part of, where arrays from outside are shared.
    """
    key = (source, *ys)
    if key not in body.derivatives:
        body.derivatives[key] = _new_derivative(body, ys, name, source)
    found: Derivative = body.derivatives[key]
    return found


def source_of_gradients() -> str:
    """The name of the `tf.gradients` that is at work, with its scopes."""
    parts = get_default_graph().get_name_scope().split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    return "/".join(parts[: found[-1] + 1]) if found else "gradients"


def _new_derivative(body: FunctionBody, ys: list[Tensor], name: str, source: str) -> Derivative:
    graph = BackwardGraph(body.graph)
    with graph.as_default():
        given = [graph.add_input(y.dtype, y.shape, f"grad_ys_{i}") for i, y in enumerate(ys)]
        xs = list(body.inputs)
        grads = gradients(ys, xs, given, name=source) if ys else [None] * len(xs)
        for grad in grads:  # a gradient may be a tensor of the function itself, or of another
            for tensor in [] if grad is None else components(grad):
                graph.capture(tensor)
        grads = [
            None if g is None else from_components(g, [graph.capture(t) for t in components(g)])
            for g in grads
        ]
    xs_now = list(body.inputs)  # what the gradient captures from outside, the function captures
    grads += [None] * (len(xs_now) - len(grads))
    outputs = [tensor for grad in grads if grad is not None for tensor in components(grad)]
    targets = functions.effects_of(graph)
    taken = [tensor for tensor in graph.captured if graph.captured[tensor] in graph.inputs]
    number = next(_numbers)
    return Derivative(
        ys,
        taken,
        FunctionBody(graph, graph.inputs, outputs, targets),
        grads,
        (f"__forward_{name}_{number}", f"__backward_{name}_{number}"),
    )


def with_outputs(body: FunctionBody, outputs: list[Tensor]) -> FunctionBody:
    """The function with other outputs."""
    return FunctionBody(body.graph, body.inputs, outputs, body.targets)


def closed_outputs(body: FunctionBody, name: str = "function") -> list[Tensor]:
    """The outputs of a body and all intermediates that derivatives of any order need of it."""
    outputs = list(body.outputs)
    while True:
        found = derivative(body, [y for y in outputs if carries_gradient(y)], name)
        known = {*outputs, *body.inputs}
        more = [tensor for tensor in found.intermediates if tensor not in known]
        if not more:
            return outputs
        outputs += more


# ------------------------------------------------------------------------------------------------ in a graph


def _call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradient of a call: the call gets the intermediates as outputs, and the gradient is called."""
    name, attrs = called(op)
    body = functions.body_called(op.graph, name, op.inputs, attrs)
    given = [i for i, tensor in enumerate(op.outputs) if carries_gradient(tensor)]
    derived = derivative(body, [body.outputs[i] for i in given], name.removeprefix("__inference_"))
    _extend(op, body, derived)
    inputs = [creation.zeros_like(op.outputs[i]) if grads[i] is None else grads[i] for i in given]
    outer = functions.body_of(op.graph, called(op)[0])
    position = {tensor: op.outputs[i] for i, tensor in enumerate(outer.outputs)}
    position |= dict(zip(outer.inputs, op.inputs))
    inputs += [position[tensor] for tensor in derived.intermediates]
    made = call(derived.names[1], derived.body, inputs)
    return derived.packed(made)[: len(op.inputs)]


def _extend(op: Operation, body: FunctionBody, derived: Derivative) -> None:
    """Gives a call further outputs: the intermediates of the function's gradient."""
    known = {*body.outputs, *body.inputs}
    more = [tensor for tensor in derived.intermediates if tensor not in known]
    captured = body.inputs[len(op.inputs) :]  # by the gradient, not by the function
    if not more and not captured:
        return
    name = derived.names[0]
    for tensor in captured:
        (outside,) = [outer for outer, inner in _captured(body).items() if inner is tensor]
        given = op.graph.capture(outside) if isinstance(op.graph, FunctionGraph) else outside
        op.inputs = (*op.inputs, given)
        given._consumers.append(op)
    op.attrs["Tin"] = [tensor.dtype.base_dtype for tensor in op.inputs]
    if name not in op.graph._functions:
        define(op.graph, name, with_outputs(body, [*body.outputs, *more]))
    for tensor in more:
        op.outputs.append(Tensor(op, len(op.outputs), tensor.dtype.base_dtype))
        op.outputs[-1].set_shape(tensor.shape)
    op.attrs["Tout"] = [tensor.dtype for tensor in op.outputs]
    op.attrs["f"] = NameAttrList(name=name)
    op.graph._mutated()


def _captured(body: FunctionBody) -> dict[Tensor, Tensor]:
    assert isinstance(body.graph, FunctionGraph), "only those capture"
    return body.graph.captured


def define(graph: Graph, name: str, body: FunctionBody) -> None:
    """Adds a function, and the functions that it calls, to a graph's library."""
    if name in graph._functions:
        return
    inner: Graph = body.graph
    for key, message in inner._functions.items():
        graph._functions.setdefault(key, message)
    for bound, known in inner._function_bodies.items():
        graph._function_bodies.setdefault(bound, known)
    taken: set[str] = set()
    names = [functions.free_name(tensor.op.name.rpartition("/")[2].lower(), taken) for tensor in body.outputs]
    functions.add_function(graph, name, body, names, body.targets)


def call(name: str, body: FunctionBody, inputs: list[Any]) -> list[Tensor]:
    """Adds the call of a function to the default graph; returns its outputs."""
    return list(call_node(name, body, inputs).outputs)


def call_node(name: str, body: FunctionBody, inputs: list[Any]) -> Operation:
    """Adds the call of a function to the default graph."""
    graph = get_default_graph()
    define(graph, name, body)
    types = [tensor.dtype.base_dtype for tensor in body.outputs]
    node = call_op_for(body).node(list(inputs), Tout=types, f=NameAttrList(name=name))
    for tensor, known in zip(node.outputs, body.outputs, strict=True):
        tensor.set_shape(known.shape)
    return node


register_gradients(call_gradient=_call_gradient)
