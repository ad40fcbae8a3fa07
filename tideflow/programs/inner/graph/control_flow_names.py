"""Names that tests and libraries take from `tensorflow.python.ops.control_flow_util`; classes of contexts."""

from __future__ import annotations

import threading
from typing import Any

from tideflow.functions.func_graph import FuncGraph
from tideflow.graph.composite import components, is_composite
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import contexts, critical_section, switches
from tideflow.ops.state import references
from tideflow.variables.behavior import control_flow_v2_enabled

ControlFlowContext = contexts.Context
WhileContext = contexts.LoopContext
CRITICAL_SECTIONS = critical_section.SECTIONS
CRITICAL_SECTION_EXECUTIONS = critical_section.EXECUTIONS
ENABLE_CONTROL_FLOW_V2 = False  # conditionals and loops compute the same in both forms

GetOutputContext = contexts.output_context
IsLoopConstantEnter = contexts.is_constant_enter
IsLoopExit = contexts.is_exit
IsLoopEnter = contexts.is_enter
IsLoopSwitch = contexts.is_loop_switch
IsMerge = contexts.is_merge
IsSwitch = contexts.is_switch


def IsCondSwitch(op: Operation) -> bool:
    """Whether an operation is a Switch of a conditional."""
    return IsSwitch(op) and not IsLoopSwitch(op)


def IsLoopMerge(op: Operation) -> bool:
    """Whether an operation is a Merge of a loop's variable."""
    return IsMerge(op) and any(IsLoopEnter(tensor.op) for tensor in op.inputs)


def IsCondMerge(op: Operation) -> bool:
    """Whether an operation joins the branches of a conditional."""
    return IsMerge(op) and not IsLoopMerge(op)


def IsInWhileLoop(op: Operation) -> bool:
    """Whether an operation stands inside of a loop."""
    return GetContainingWhileContext(op._control_flow_context) is not None


def IsInCond(op: Operation) -> bool:
    """Whether an operation stands inside of a conditional."""
    return GetContainingCondContext(op._control_flow_context) is not None


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The innermost loop around a context, itself included, up to `stop_ctxt`; None if there is none."""
    return _innermost(ctxt, contexts.LoopContext, stop_ctxt)


def GetContainingCondContext(ctxt: Any) -> Any:
    """The innermost conditional around a context, itself included; None if there is none."""
    return _innermost(ctxt, contexts.CondContext)


class XLAControlFlowContext:
    """A scope whose operations XLA would compile. Here they are made and run as all others are."""

    _entered = threading.local()

    def Enter(self) -> None:
        """Begins the scope, for the graph that is the default."""
        self._graphs().append(get_default_graph())

    def Exit(self) -> None:
        """Ends the scope."""
        self._graphs().pop()

    def IsXLAContext(self) -> bool:
        """Whether XLA would compile what is made in it."""
        return True

    @classmethod
    def _graphs(cls) -> list[Graph]:
        """The graphs that such scopes of this thread were begun for."""
        return vars(cls._entered).setdefault("graphs", [])


def GetContainingXLAContext(ctxt: Any) -> Any:
    """None: whatever context it is, nothing around it is compiled by XLA."""
    return None


def IsInXLAContext(op: Operation) -> bool:
    """Whether an operation was made in a scope that asks for compiling it."""
    return bool(op.node_def.attr["_XlaCompile"].b)


def InXlaContext(graph: Graph) -> bool:
    """Whether a scope that asks for XLA is open for a graph."""
    return any(entered is graph for entered in XLAControlFlowContext._graphs())


def GraphOrParentsInXlaContext(graph: Graph) -> bool:
    """The same for a graph, or one that its function was made in."""
    outer = getattr(graph, "outer", None)
    return InXlaContext(graph) or outer is not None and GraphOrParentsInXlaContext(outer)


def EnableControlFlowV2(graph: Graph) -> bool:
    """Whether conditionals and loops that are added to a graph become If and While."""
    return control_flow_v2_enabled() or isinstance(graph, FuncGraph)


def GetLoopConstantEnter(value: Tensor) -> Operation | None:
    """The Enter through which a loop takes a tensor that it does not change; None if there is none."""
    op = value.op
    while IsSwitch(op) or op.definition.role == "identity":
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def GetWhileContext(op: Operation) -> Any:
    """The loop that an operation stands in; None if it stands in none."""
    return GetContainingWhileContext(op._control_flow_context)


def _innermost(context: Any, kind: type, stop: Any = None) -> Any:
    while context is not None and not isinstance(context, kind) and context is not stop:
        context = context.outer_context
    return context if isinstance(context, kind) else None


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Whether a context is another one, or stands inside of it."""
    while ctxt is not maybe_containing_ctxt and ctxt is not None:
        ctxt = ctxt.outer_context
    return ctxt is maybe_containing_ctxt


def OpInContext(op: Operation, ctxt: Any) -> bool:
    """Whether an operation stands inside of a context."""
    return IsContainingContext(op._control_flow_context, ctxt)


def TensorInContext(tensor: Any, ctxt: Any) -> bool:
    """Whether a tensor is made inside of a context."""
    return OpInContext(tensor.op, ctxt)


# ------------------------------------------------------------------------------------------------ primitives


def _reference(data: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A tensor, a variable's reference where it has one, or the composite value that `data` is."""
    if is_composite(data):
        return data
    return convert_to_tensor(data._ref() if hasattr(data, "_ref") else data, dtype, name)


def _Identity(data: Any, name: str | None = None) -> Any:
    """The same value; of a reference, the reference."""
    data = _reference(data)
    if is_composite(data):
        return switches.map_parts(data, _Identity)
    op = references.ref_identity_op if data.dtype._is_ref_dtype else constants.identity
    return op(data, name=name)


def _NextIteration(data: Any, name: str | None = None) -> Any:
    """The value, or the reference, one iteration later."""
    return switches.next_iteration(_reference(data), name)


def _Enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """The value, or the reference, in a frame.

    Args:
      data: A tensor, a composite value or a variable.
      frame_name: The name of the frame.
      is_constant: Whether it is there in all iterations, not only in the first.
      parallel_iterations: How many iterations may run at the same time.
      use_ref: Whether a variable enters as its reference.
      use_input_shape: Whether the shape is known inside.
      name: A name for the operation.

    Returns:
      What is inside: a tensor, or a composite value.
    """
    outside = _reference(data) if use_ref or is_composite(data) else convert_to_tensor(data)
    inside = switches.enter(outside, frame_name, is_constant, parallel_iterations, name)
    if not use_input_shape:
        for part in components(inside):
            part._shape = TensorShape(None)
    return inside


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """The value on the side that `pred` chooses: (there when false, there when true).

    Args:
      data: A tensor, what can be made one, or a composite value.
      pred: A scalar bool tensor.
      dtype: The type of the tensor that `data` becomes.
      name: A name for the operation, or for the scope of several.

    Returns:
      The pair.
    """
    data = _reference(data, dtype, "data")
    return switches.switch(data, convert_to_tensor(pred, name="pred"), name, beside=False)


def _SwitchRefOrTensor(data: Any, pred: Any, name: str = "Switch") -> tuple[Any, Any]:
    """The value, or the reference, on the side that `pred` chooses: (there when false, there when true)."""
    data = _reference(data)
    with colocate_with(data, ignore_existing=True):
        return switches.switch(data, pred, name)
