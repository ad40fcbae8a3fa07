"""TensorFlow's tools for files, as programs call them: `tensorflow.python.tools.freeze_graph` and its kin."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.graph.graph import Graph
from tideflow.graph.graph_import import import_graph_def
from tideflow.graph.graph_util import convert_variables_to_constants, extract_sub_graph
from tideflow.io.checkpoint_state import checkpoint_exists
from tideflow.io.local_files import read_bytes, write_bytes
from tideflow.io.saved_models import parse_text, read_saved_model
from tideflow.saved_model.loader import SavedModelLoader
from tideflow.session.session import Session
from tideflow.train.checkpoint_utils import CheckpointReader, NewCheckpointReader
from tideflow.train.meta_graph import import_meta_graph
from tideflow.train.saver import Saver

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")

# ------------------------------------------------------------------------------------------ freezing


def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = SaverDef.V2,
) -> GraphDef:
    """Writes a graph of files with the values of a checkpoint, or of a SavedModel, in place of variables."""
    graph_def = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = parsed_file(input_graph, GraphDef(), input_binary)
    return freeze_graph_with_def_protos(
        graph_def,
        parsed_file(input_saver, SaverDef(), input_binary) if input_saver else None,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        parsed_file(input_meta_graph, MetaGraphDef(), input_binary) if input_meta_graph else None,
        input_saved_model_dir,
        _listed(saved_model_tags),
        checkpoint_version,
    )


def freeze_graph_with_def_protos(
    input_graph_def: GraphDef | None,
    input_saver_def: SaverDef | None,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: MetaGraphDef | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = SaverDef.V2,
) -> GraphDef:
    """The graph with values in place of variables; written where there is a name for it.

    `restore_op_name`, `filename_tensor_name` and `checkpoint_version` say nothing that the files do not.
    """
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    for node in graph_def.node if clear_devices else ():
        node.device = ""
    with Graph().as_default(), Session() as session:
        if input_saved_model_dir:
            SavedModelLoader(input_saved_model_dir).load(session, saved_model_tags or [])
        else:
            _restored(graph_def, input_meta_graph_def, input_saver_def).restore(session, input_checkpoint)
            if initializer_nodes and not input_saver_def:
                session.run(_listed(initializer_nodes))
        frozen = convert_variables_to_constants(
            session,
            graph_def,
            _listed(output_node_names),
            _listed(variable_names_whitelist) or None,
            _listed(variable_names_blacklist) or None,
        )
    if output_graph:
        write_bytes(output_graph, frozen.SerializeToString())
    return frozen


def _restored(graph_def: GraphDef, meta_graph: MetaGraphDef | None, saver_def: SaverDef | None) -> Any:
    """The saver of a graph that is now the default one's: the one it came with, or one of its variables."""
    if meta_graph is not None and saver_def is None:
        return import_meta_graph(meta_graph)
    import_graph_def(graph_def, name="")
    if saver_def is not None:
        return Saver(saver_def=saver_def)
    variables = {node.name: node.op for node in graph_def.node if node.op in _VARIABLES}
    if not variables:
        raise ValueError(
            "No variables were found in this model. It is likely the model was frozen previously. You cannot "
            "freeze a graph twice."
        )
    return _SaverOf(variables)


class _SaverOf:
    """Restores those of a graph's variables that a checkpoint has."""

    def __init__(self, variables: dict[str, str]):
        self._variables = variables

    def restore(self, session: Session, path: str) -> None:
        there = NewCheckpointReader(path).get_variable_to_shape_map()
        parts = [name for name in self._variables if re.sub(r"/part_\d+$", "", name) in there.keys() - {name}]
        if parts:
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files. Please "
                f"pass in a SavedModel using the flag --input_saved_model_dir. Parts are: {parts}"
            )
        reads = {
            name: f"{name}/Read/ReadVariableOp:0" if op == "VarHandleOp" else f"{name}:0"
            for name, op in self._variables.items()
            if name in there
        }
        named = {name: session.graph.get_tensor_by_name(read) for name, read in reads.items()}
        Saver(named).restore(session, path)


def _listed(names: str) -> list[str]:
    return names.replace(" ", "").split(",") if names else []


def parsed_file(path: str, message: Message, binary: bool) -> Any:
    """A message from a file, binary or as text."""
    if not os.path.exists(path):
        raise OSError(f"Input file '{path}' does not exist!")
    data = read_bytes(path)
    if not binary:
        return parse_text(data, message)
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None
    return message


# ---------------------------------------------------------------------------------- models and checkpoints


def get_saved_model_tag_sets(saved_model_dir: str) -> list[list[str]]:
    """The tags of each graph of a SavedModel."""
    return [list(graph.meta_info_def.tags) for graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir: str, tag_set: str) -> MetaGraphDef:
    """The graph of a SavedModel that has these tags, and no others; a comma is between them."""
    for graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(graph.meta_info_def.tags) == set(tag_set.split(",")):
            return graph
    raise RuntimeError(f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel")


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints what is in a checkpoint: one tensor, all, all names, or names and shapes; an error, too."""
    try:
        reader = NewCheckpointReader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif tensor_name:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        else:
            print(reader.debug_string().decode())
        print(f"# Total number of params: {_parameters(reader, count_exclude_pattern)}")
    except Exception as error:
        print(error)


def _parameters(reader: CheckpointReader, exclude: str) -> int:
    sizes = {name: math.prod(shape) for name, shape in reader.get_variable_to_shape_map().items()}
    left_out = {name: size for name, size in sizes.items() if exclude and re.search(exclude, name)}
    if exclude:
        count = f"{len(left_out)} tensors ({sum(left_out.values())} params)"
        print(f"# Excluding {count} that match {exclude} when counting.")
    return sum(sizes.values()) - sum(left_out.values())


# ----------------------------------------------------------------------------------------------- stripping


def strip_unused(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | list[int],
) -> GraphDef:
    """What leads from these inputs, which become placeholders, to these outputs."""
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    kinds = placeholder_type_enum
    types = kinds if isinstance(kinds, list) else [kinds] * len(input_node_names)
    fed = dict(zip(input_node_names, types, strict=True))
    replaced = GraphDef()
    replaced.node.extend(
        _placeholder(node, fed[node.name]) if node.name in fed else node for node in input_graph_def.node
    )
    return extract_sub_graph(replaced, output_node_names)


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: int | list[int],
) -> int | None:
    """Writes what `strip_unused` leaves of a file's GraphDef into another file.

    The names stand in texts with commas. Returns -1 where something is missing, and says what.
    """
    if not os.path.exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    stripped = strip_unused(
        parsed_file(input_graph, GraphDef(), input_binary),
        input_node_names.split(","),
        output_node_names.split(","),
        placeholder_type_enum,
    )
    text = text_format.MessageToString(stripped).encode()
    write_bytes(output_graph, stripped.SerializeToString() if output_binary else text)
    print(f"{len(stripped.node)} ops in the final graph.")
    return None


def _placeholder(node: NodeDef, dtype: int) -> NodeDef:
    made = NodeDef(name=node.name, op="Placeholder")
    made.attr["dtype"].type = dtype
    for key in ("_output_shapes", "shape"):
        if key in node.attr:
            made.attr[key].CopyFrom(node.attr[key])
    return made
