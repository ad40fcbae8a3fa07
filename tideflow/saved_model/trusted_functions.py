"""What the functions of a SavedModel that is not trusted may not do: reach files or Python."""

from __future__ import annotations

from typing import Any

from tideflow.compile.trust import denied
from tideflow.graph.op import definitions


def check_functions(library: Any, nodes: Any, saved: Any) -> None:
    """Raises PermissionDeniedError if a function of the model touches files or Python. To fill a table from
    an asset of the model is allowed.
    """
    for name in saved:
        for message in library.called_by(name).values():
            own = message is library.message(name)
            assets = _asset_arguments(message, saved[name], nodes) if own else set()
            for node in message.node_def:
                op = definitions().get(node.op)
                if op is None or not op.touches:
                    continue
                inputs = dict(zip([arg.name for arg in op.inputs], node.input, strict=False))
                if inputs.get(op.reads_file) not in assets:
                    where = f"Node '{node.name}' of function '{message.signature.name}'"
                    raise denied(op.touches, node.op, where)


def _asset_arguments(message: Any, saved: Any, nodes: Any) -> set[str]:
    """The arguments of a function that are the paths of the model's assets."""
    arguments = [arg.name for arg in message.signature.input_arg]
    bound = arguments[len(arguments) - len(saved.bound_inputs) :]
    return {
        name
        for name, number in zip(bound, saved.bound_inputs, strict=False)
        if 0 <= number < len(nodes) and nodes[number].WhichOneof("kind") == "asset"
    }
