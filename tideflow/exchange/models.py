"""What is exported: inputs and outputs of a step, its variables as constants.

A model comes from a session, from a SavedModel or from a checkpoint with its graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from tideflow.exchange.step_module import CannotExport, StepModule
from tideflow.exchange.tables import Items, items_of_tables, write_out
from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.graph_util import convert_variables_to_constants
from tideflow.graph.operation import Tensor
from tideflow.ops.arrays.constants import identity_op, placeholder, placeholder_with_default_op
from tideflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tideflow.saved_model.loader import SavedModelLoader
from tideflow.session.session import Session
from tideflow.train.meta_graph import import_meta_graph


@dataclass(frozen=True)
class Frozen:
    """A graph without variables.

    Attributes:
      inputs: What it takes, by name.
      outputs: What it computes, by name.
      origin: The graph that it was made of, whose operations have the lines of the program.
      tables: What is in its tables, by the operation that looks something up there.
    """

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    origin: Graph
    tables: Mapping[str, Items] = field(default_factory=dict)

    def module(self) -> StepModule:
        """The graph as a PyTorch module.

        Raises:
          CannotExport: If it has operations that only a session can run.
        """
        try:
            return StepModule(list(self.inputs.values()), list(self.outputs.values()))
        except CannotExport as error:
            raise self.at_origin(error) from None

    def at_origin(self, error: CannotExport) -> CannotExport:
        """The error with the operations that the program made."""
        names = {operation.name: operation for operation in self.origin.get_operations()}
        return CannotExport([(op and names.get(op.name, op), reason) for op, reason in error.reasons])


def of_session(session: Session, inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> Frozen:
    """The step of a session that computes `outputs` of `inputs`, with its variables as they are now."""
    graph = session.graph
    names = [tensor.op.name for tensor in outputs.values()]
    whole = graph.as_graph_def()
    message = convert_variables_to_constants(session, whole, names)
    message.versions.CopyFrom(whole.versions)  # says that a scalar placeholder is one
    _take_defaults(message, {tensor.op.name for tensor in inputs.values()})
    used = {node.name for node in message.node}
    with Graph().as_default() as made:
        import_graph_def(message, name="")
        taken = {
            name: made.get_tensor_by_name(tensor.name)
            if tensor.op.name in used
            else placeholder(tensor.dtype.base_dtype, tensor.shape, f"unused/{tensor.op.name}")
            for name, tensor in inputs.items()
        }
    tables = items_of_tables(session, made)
    instead = write_out(made, tables)
    given = {name: made.get_tensor_by_name(tensor.name) for name, tensor in outputs.items()}
    return Frozen(taken, {name: instead.get(found, found) for name, found in given.items()}, graph, tables)


def _take_defaults(message: GraphDef, fed: Set[str]) -> None:
    """Lets placeholders that nobody feeds be their defaults, so that what depends on them is decided: Keras's
    learning phase above all.
    """
    for node in message.node:
        if node.op == placeholder_with_default_op.name and node.name not in fed:
            kind = node.attr["dtype"].type
            node.op = identity_op.name
            node.attr.clear()
            node.attr["T"].type = kind


def of_saved_model(
    path: str,
    signature: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    tags: Iterable[str] = (SERVING,),
    outputs: Iterable[str] | None = None,
) -> Frozen:
    """A signature of a SavedModel. The model need not be trusted.

    Args:
      path: The directory of the SavedModel.
      signature: The name of the signature.
      tags: The tags of the graph that has it.
      outputs: Those of its outputs that are wanted; all by default.

    Raises:
      ValueError: If it has no such signature, or no such output.
    """
    with Graph().as_default() as graph, closing(Session(graph=graph)) as session:
        message = SavedModelLoader(path).load(session, tags, trusted=False)
        if signature not in message.signature_def:
            raise ValueError(f"{path} has no signature '{signature}', but {sorted(message.signature_def)}")
        found = message.signature_def[signature]
        wanted = list(found.outputs) if outputs is None else list(outputs)
        if unknown := set(wanted).difference(found.outputs):
            raise ValueError(f"'{signature}' has no output {sorted(unknown)}, but {sorted(found.outputs)}")
        kept = {key: found.outputs[key] for key in wanted}
        return of_session(session, _tensors(graph, found.inputs), _tensors(graph, kept))


def _tensors(graph: Graph, infos: Mapping[str, Any]) -> dict[str, Tensor]:
    return {key: graph.get_tensor_by_name(infos[key].name) for key in sorted(infos)}


def of_checkpoint(prefix: str, inputs: Iterable[str], outputs: Iterable[str]) -> Frozen:
    """A checkpoint with the graph beside it (`PREFIX.meta`), and the names of the tensors in and out."""
    with Graph().as_default() as graph, closing(Session(graph=graph)) as session:
        saver = import_meta_graph(f"{prefix}.meta")
        if saver is None:
            raise ValueError(f"{prefix}.meta has no variables to restore")
        saver.restore(session, prefix)
        return of_session(session, _named_tensors(graph, inputs), _named_tensors(graph, outputs))


def _named_tensors(graph: Graph, names: Iterable[str]) -> dict[str, Tensor]:
    tensors = (graph.get_tensor_by_name(name if ":" in name else f"{name}:0") for name in names)
    return {tensor.op.name: tensor for tensor in tensors}
