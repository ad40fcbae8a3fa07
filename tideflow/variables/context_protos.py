"""Conditionals and loops as messages: a graph that was imported with them can be differentiated."""

from __future__ import annotations

from typing import Any

from tideflow.graph.collection_protos import register_proto_function
from tideflow.graph.control_flow_proto import CondContextDef, WhileContextDef
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_default_graph
from tideflow.ops.control_flow.contexts import CondContext, Context, LoopContext, inside
from tideflow.variables.exported_names import prepend_name_scope, strip_name_scope

# ----------------------------------------------------------------------------------------------- out


def context_to_proto(context: Context, export_scope: str | None = None) -> Any:
    """The message of a branch or a loop with those inside of it; None where it is not in the scope."""
    if export_scope is not None and not context.name.startswith(export_scope):
        return None
    if isinstance(context, CondContext):
        message = CondContextDef(pred_name=strip_name_scope(context.pred.name, export_scope))
        message.branch = context.branch
    else:
        message = _loop_to_proto(context, export_scope)
    message.context_name = strip_name_scope(context.name, export_scope)
    message.pivot_name = strip_name_scope(context.pivot.name, export_scope)
    message.values_def.SetInParent()
    message.values_def.values.extend(
        strip_name_scope(name, export_scope) for name in sorted(tensor.name for tensor in context._known)
    )
    for outside, inner in context._entered.items():
        name = strip_name_scope(outside.name, export_scope)
        message.values_def.external_values[name] = strip_name_scope(inner.name, export_scope)
    for nested in context.nested_contexts:
        _add_nested(message, nested, export_scope)
    return message


def _loop_to_proto(context: LoopContext, export_scope: str | None) -> Any:
    message = WhileContextDef(
        parallel_iterations=context.parallel_iterations,
        back_prop=context.back_prop,
        swap_memory=context.swap_memory,
        pivot_for_pred_name=strip_name_scope(context.pivot_for_pred.name, export_scope),
        pivot_for_body_name=strip_name_scope(context.pivot_for_body.name, export_scope),
        loop_exit_names=[strip_name_scope(tensor.name, export_scope) for tensor in context.exits],
        loop_enter_names=[strip_name_scope(tensor.name, export_scope) for tensor in context.enters],
    )
    if context.maximum_iterations is not None:
        message.maximum_iterations_name = strip_name_scope(context.maximum_iterations.name, export_scope)
    return message


def _add_nested(message: Any, nested: Context, export_scope: str | None) -> None:
    inner = context_to_proto(nested, export_scope)
    if inner is not None:
        field = "cond_ctxt" if isinstance(nested, CondContext) else "while_ctxt"
        getattr(message.nested_contexts.add(), field).CopyFrom(inner)


# ---------------------------------------------------------------------------------------------- back


def context_from_proto(message: Any, import_scope: str | None = None) -> Context:
    """The branch or loop that a message describes, of nodes that are in the default graph already."""
    names = _Names(get_default_graph(), import_scope)
    if isinstance(message, CondContextDef):
        context: Context = CondContext(
            names.tensor(message.pred_name),
            names.tensor(message.pivot_name),
            message.branch,
            names.whole(message.context_name),
        )
    else:
        context = _loop_from_proto(message, names)
    _take_values(context, message.values_def, names)
    if import_scope and isinstance(context, LoopContext):
        _rename_frame(context)
    with inside(names.graph, context):
        for nested in message.nested_contexts:
            context_from_proto(getattr(nested, nested.WhichOneof("ctxt")), import_scope)
    return context


class _Names:
    """Finds what a message names in the graph that its nodes were imported into."""

    def __init__(self, graph: Graph, scope: str | None):
        self.graph = graph
        self._scope = scope

    def whole(self, name: str) -> str:
        return prepend_name_scope(name, self._scope)

    def tensor(self, name: str) -> Tensor:
        return self.graph.get_tensor_by_name(self.whole(name))

    def known_tensor(self, name: str) -> Tensor | None:
        try:
            return self.tensor(name)
        except (KeyError, ValueError):
            return None


def _loop_from_proto(message: Any, names: _Names) -> LoopContext:
    limit = message.maximum_iterations_name
    context = LoopContext(
        names.graph,
        names.whole(message.context_name),
        message.parallel_iterations,
        message.back_prop,
        message.swap_memory,
        names.tensor(limit) if limit else None,
    )
    context.pivot = names.tensor(message.pivot_name)
    context.pivot_for_pred = names.tensor(message.pivot_for_pred_name)
    context.pivot_for_body = names.tensor(message.pivot_for_body_name)
    context.exits = [names.tensor(name) for name in message.loop_exit_names]
    context.enters = [names.tensor(name) for name in message.loop_enter_names]
    return context


def _take_values(context: Context, values: Any, names: _Names) -> None:
    inside_names = set(values.values) - set(values.external_values)
    for tensor in map(names.tensor, inside_names):
        context.knows(tensor)
        tensor.op._control_flow_context = context
    for outside, inner in values.external_values.items():
        source = names.known_tensor(outside)  # absent where only a scope was exported
        if source is not None:
            context.knows(source)
            context._entered[source] = names.tensor(inner)


def _rename_frame(context: LoopContext) -> None:
    """A loop that is imported twice, under two scopes, is two loops."""
    for tensor in context._known:
        if tensor.op.type in ("Enter", "RefEnter"):
            tensor.op.attrs["frame_name"] = context.name


register_proto_function(GraphKeys.COND_CONTEXT, CondContextDef, context_from_proto, context_to_proto)
register_proto_function(GraphKeys.WHILE_CONTEXT, WhileContextDef, context_from_proto, context_to_proto)
