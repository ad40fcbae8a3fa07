"""Names that tests and libraries take from `tensorflow.python.ops.control_flow_util`; classes of contexts."""

from __future__ import annotations

from typing import Any

from tideflow.functions.func_graph import FuncGraph
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow import contexts
from tideflow.variables.behavior import control_flow_v2_enabled

ControlFlowContext = contexts.Context
WhileContext = contexts.LoopContext
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


def GetContainingXLAContext(ctxt: Any) -> Any:
    """None: whatever context it is, nothing around it is compiled by XLA."""
    return None


def IsInXLAContext(op: Operation) -> bool:
    """Whether an operation was made in a scope that asks for compiling it."""
    return bool(op.node_def.attr["_XlaCompile"].b)


def InXlaContext(graph: Graph) -> bool:
    """False: what is added to a graph is not compiled by XLA."""
    return False


GraphOrParentsInXlaContext = InXlaContext


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
