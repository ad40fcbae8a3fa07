"""What a graph that is not trusted may not do: some op types reach files or Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.compile.prune import needed
from tideflow.compile.request import StepRequest
from tideflow.graph import errors
from tideflow.graph.functions import outermost
from tideflow.graph.graph import Graph
from tideflow.graph.op import definitions
from tideflow.graph.operation import Operation, Tensor

_REACH = {"files": "reads or writes files", "python": "calls Python functions of this process"}


def check_untrusted(request: StepRequest, own_files: Set[Tensor] = frozenset()) -> None:
    """Raises PermissionDeniedError if a step of a graph that is not trusted has an operation that touches
    files or Python, in the graph or in a function that it calls.

    `own_files` are tensors that the caller feeds with names of files that the graph may read.
    """
    fed = own_files & set(request.feeds)
    check_operations(dict.fromkeys(_operations_of(request), fed))


def check_untrusted_parts(request: StepRequest, untrusted: Mapping[Operation, Set[Tensor]]) -> None:
    """The same for a step of a graph of which only these operations are not trusted, each with the tensors
    that name the files that it may read.
    """
    ops = [op for op in _operations_of(request) if op in untrusted]
    check_operations({op: untrusted[op] - set(request.feeds) for op in ops})


def _operations_of(request: StepRequest) -> Set[Operation]:
    return needed(request.fetches, request.targets, set(request.feeds), request.done)


def check_operations(ops: Mapping[Operation, Set[Tensor]]) -> None:
    """The same for these operations, each with the tensors that name the files that it may read."""
    for op in sorted(ops, key=lambda op: op.name):
        if op.definition.touches and not _reads_only(op, ops[op]):
            raise denied(op.definition.touches, op.type, f"Operation '{op.name}'")
    if ops:
        calls = [name for op in ops for name in _functions_of(op)]
        for function, node in _called(outermost(next(iter(ops)).graph), calls):
            op_type = definitions().get(node.op)
            if op_type is not None and op_type.touches:
                raise denied(op_type.touches, node.op, f"Node '{node.name}' of function '{function}'")


def _reads_only(op: Operation, own_files: Set[Tensor]) -> bool:
    """Whether an operation does no more than read one of these files."""
    names = [arg.name for arg in op.definition.inputs]
    return op.definition.reads_file in names and (
        op.inputs[names.index(op.definition.reads_file)] in own_files
    )


def denied(touches: str, op_type: str, where: str) -> errors.PermissionDeniedError:
    """The error of an operation that reaches what the graph may not reach."""
    return errors.permission_denied(
        f"{where} ({op_type}) {_REACH[touches]}, and the graph is not trusted. If you trust who made it, "
        "load it with trusted=True, or run it in a session that was not made with trusted=False."
    )


def _called(graph: Graph, names: Sequence[str]) -> Iterator[tuple[str, NodeDef]]:
    """The nodes of the functions with these names, and of those that they call, each with its function's
    name.
    """
    functions, stack = graph._functions, list(names)
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for node in functions[name].node_def:
            yield name, node
            stack += _functions_named_by(node)


def _functions_of(op: Operation) -> list[str]:
    """The functions that an operation names. A large constant is not made a message for that."""
    has_functions = any("func" in each.kind for each in op.definition.attrs.values())
    return _functions_named_by(op.node_def) if has_functions else [op.type]


def _functions_named_by(node: NodeDef) -> list[str]:
    """The functions that a node names, as its type or in its attributes."""
    values = list(node.attr.values())
    listed = [each.name for value in values for each in value.list.func]
    return [node.op, *listed, *(value.func.name for value in values if value.HasField("func"))]
