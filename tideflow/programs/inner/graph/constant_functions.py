"""`tensorflow.python.framework.convert_to_constants`: functions with constants for variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.autodiff.custom import variable_of
from tideflow.compile.prune import behind
from tideflow.functions.concrete import ConcreteFunction
from tideflow.functions.func_graph import FuncGraph
from tideflow.functions.wrapping import WrappedFunction
from tideflow.graph import dtypes, nest
from tideflow.graph.functions import FunctionBody, body_of
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_graph, name_scope
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.arrays import constants
from tideflow.ops.arrays.indexing import gather
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.control_flow.while_loops import while_loop

_CONTROL_FLOW = ("If", "StatelessIf", "While", "StatelessWhile")


def disable_lower_using_switch_merge(graph_def: GraphDef) -> GraphDef:
    """A copy of a graph whose conditionals and loops are to stay calls of functions."""
    made = GraphDef()
    made.CopyFrom(graph_def)
    for nodes in (made.node, *(function.node_def for function in made.library.function)):
        for node in nodes:
            if node.op in _CONTROL_FLOW:
                node.attr["_lower_using_switch_merge"].b = False
    return made


def convert_variables_to_constants_v2(
    func: ConcreteFunction, lower_control_flow: bool = True
) -> ConcreteFunction:
    """Makes a function that has constants where another reads variables, and the functions that it calls
    written out.

    Args:
      func: The function, made in eager mode.
      lower_control_flow: Whether conditionals and loops become Switch and Merge nodes; otherwise they stay
        calls of functions, which have constants too.

    Returns:
      The function of the same arguments, without those that stand for variables.
    """
    values = {inner: _value(outer) for outer, inner in func.graph.captured.items()}
    arguments = [tensor for tensor in func.inputs if values.get(tensor) is None]
    graph = FuncGraph(func.graph.name, func.graph.outer_graph)
    graph.functional_control_flow = not lower_control_flow
    graph.chosen_effects = []
    with graph.as_default():
        known = {tensor: graph.add_input(tensor.dtype, tensor.shape, tensor.op.name) for tensor in arguments}
        known |= {
            inner: constants.constant(value, name=inner.op.name)
            for inner, value in values.items()
            if value is not None
        }
        graph.outputs = _results(func.graph.body(), known)
    graph.structured_outputs = nest.pack_sequence_as(
        func.graph.structured_outputs, graph.outputs, expand_composites=True
    )
    made = WrappedFunction(graph, [], [TensorSpec(tensor.shape, tensor.dtype) for tensor in arguments])
    made._arg_keywords = [tensor.op.name for tensor in arguments]
    made._num_positional_args = len(arguments)
    return made


def _value(outer: Tensor) -> Any:
    """The value of what a function takes from outside; None for a resource that is no variable."""
    if outer.dtype is not dtypes.resource:
        return outer.numpy()  # type: ignore[attr-defined]
    variable = variable_of(outer)
    return None if variable is None else variable.numpy()


# ------------------------------------------------------------------------------------------------- copies


def _results(body: FunctionBody, known: Mapping[Tensor, Tensor]) -> list[Tensor]:
    """Copies a body into the default graph, with tensors in place of its inputs; returns the outputs. Where a
    value is in place of a handle, reads of the variable are the value.
    """
    copies, done = dict(known), dict[Operation, Operation]()
    needed = behind(body.outputs, [], set(known), frozenset())
    graph: Any = get_default_graph()
    for op in body.graph.get_operations():
        if op not in needed or op.definition.role == "argument":
            continue
        with graph.control_dependencies([done[each] for each in op.control_inputs if each in done]):
            made = _copied(op, [copies[tensor] for tensor in op.inputs])
        copies |= zip(op.outputs, made, strict=True)
        if made:
            done[op] = made[0].op
    return [copies[output] for output in body.outputs]


def _copied(op: Operation, inputs: list[Tensor]) -> list[Tensor]:
    """The outputs of an operation's copy, or of what stands for it where it calls functions."""
    if op.type in _CALLS:
        return _CALLS[op.type](op, inputs)
    pairs = zip(inputs, op.inputs, strict=True)
    frozen = [given for given, tensor in pairs if given.dtype.base_dtype != tensor.dtype.base_dtype]
    if frozen and op.type in _READS:
        return [_READS[op.type](op, inputs)]
    if frozen and op.type != "Identity":
        raise ValueError(f"{op.type} '{op.name}' needs the variable, not a constant for it.")
    attrs = dict(op.attrs) if not frozen else {"T": inputs[0].dtype}
    made = op.definition.node_from_flat(inputs, attrs, op.name)
    for copy, known in zip(made.outputs, op.outputs, strict=True):
        if not frozen:
            copy.set_shape(known.shape)
    return list(made.outputs)


def _function(op: Operation, key: str) -> Callable[..., list[Tensor]]:
    """A function that an operation calls, as one of tensors that copies its body."""
    body = body_of(op.graph, op.attrs[key].name)
    return lambda *inputs: _results(body, dict(zip(body.inputs, inputs, strict=True)))


def _call(op: Operation, inputs: list[Tensor]) -> list[Tensor]:
    with name_scope(op.name):
        return _function(op, "f")(*inputs)


def _conditional(op: Operation, inputs: list[Tensor]) -> list[Tensor]:
    then, otherwise = _function(op, "then_branch"), _function(op, "else_branch")
    chosen, given = inputs[0], inputs[1:]
    return list(cond(chosen, lambda: then(*given), lambda: otherwise(*given), strict=True, name=op.name))


def _loop(op: Operation, inputs: list[Tensor]) -> list[Tensor]:
    goes_on, body = _function(op, "cond"), _function(op, "body")
    pairs = zip(inputs, op.outputs, strict=True)
    made = while_loop(
        lambda *state: goes_on(*state)[0],
        body,
        inputs,
        shape_invariants=[each.shape if each.dtype != known.dtype else known.shape for each, known in pairs],
        return_same_structure=True,
        name=op.name,
    )
    return list(made)


_CALLS = {
    "PartitionedCall": _call,
    "StatefulPartitionedCall": _call,
    "If": _conditional,
    "StatelessIf": _conditional,
    "While": _loop,
    "StatelessWhile": _loop,
}
_READS: dict[str, Callable[[Operation, list[Tensor]], Tensor]] = {
    "ReadVariableOp": lambda op, inputs: constants.identity(inputs[0], name=op.name),
    "ResourceGather": lambda op, inputs: gather(
        *inputs, name=op.name, batch_dims=op.attrs.get("batch_dims", 0)
    ),
}
