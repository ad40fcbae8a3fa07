"""GraphDefs made smaller for inference: `tensorflow.python.tools.optimize_for_inference_lib`.

Batch normalization with constants becomes part of the convolution before it, and a convolution takes in the
resizing and the mirrored padding of its input. Nodes keep the names by which programs fetch them.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tideflow.graph import dtypes
from tideflow.graph.graph_util import remove_training_nodes, source_name
from tideflow.graph.tensor_proto import make_ndarray, make_tensor_proto
from tideflow.platform import logging
from tideflow.programs.tools import strip_unused

# The two kinds of batch normalization differ in the order of their inputs and in the name of an attribute.
INPUT_ORDER = {
    "BatchNormWithGlobalNormalization": ["conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
EPSILON_ATTR = {"BatchNormWithGlobalNormalization": "variance_epsilon", "FusedBatchNorm": "epsilon"}

node_name_from_input = source_name


def optimize_for_inference(
    input_graph_def: GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: int | list[int],
    toco_compatible: bool = False,
) -> GraphDef:
    """What leads from these inputs to these outputs, without what only training needs, and in fewer steps.

    Args:
      input_graph_def: A graph, frozen as a rule: variables are not folded.
      input_node_names: The nodes that become placeholders.
      output_node_names: The nodes that are asked for.
      placeholder_type_enum: The type of the placeholders, or a list with one for each.
      toco_compatible: Whether resizing and padding stay nodes of their own, as TensorFlow Lite wants them.

    Returns:
      Another graph.

    Raises:
      ValueError: If two nodes have one name, or an input is missing.
    """
    ensure_graph_is_valid(input_graph_def)
    found = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    found = fold_batch_norms(remove_training_nodes(found, output_node_names))
    if not toco_compatible:
        found = fuse_resize_and_conv(found, output_node_names)
    ensure_graph_is_valid(found)
    return found


def ensure_graph_is_valid(graph_def: GraphDef) -> None:
    """Refuses a graph in which two nodes have one name, or an input is missing."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for text in node.input:
            if source_name(text) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", text)


def _by_name(graph_def: GraphDef) -> dict[str, NodeDef]:
    nodes: dict[str, NodeDef] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def node_from_map(node_map: Mapping[str, NodeDef], name: str) -> NodeDef:
    """The node that an input's name refers to."""
    stripped = source_name(name)
    if stripped not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[stripped]


def values_from_const(node_def: NodeDef) -> np.ndarray:
    """The value of a Const node."""
    if node_def.op != "Const":
        raise ValueError(f"Node named '{node_def.name}' should be a Const op for values_from_const.")
    return make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node: NodeDef) -> bool:
    """Whether what is normalized is multiplied by gamma."""
    return node.op != "BatchNormWithGlobalNormalization" or node.attr["scale_after_normalization"].b


# --------------------------------------------------------------------------------- batch normalization


class _Normalization(NamedTuple):
    """A convolution by constants, and the constants that its output is normalized with."""

    node: NodeDef
    convolution: NodeDef
    weights: NodeDef
    constants: dict[str, NodeDef]

    @property
    def replaced(self) -> set[str]:
        parts = (self.node, self.convolution, self.weights, *self.constants.values())
        return {part.name for part in parts}


def fold_batch_norms(input_graph_def: GraphDef) -> GraphDef:
    """Lets convolutions by constants do what batch normalization after them does.

    Args:
      input_graph_def: A graph without variables.

    Returns:
      A graph whose weights are scaled, with a BiasAdd in the place of each normalization that was folded.

    Raises:
      ValueError: If two nodes have one name.
    """
    nodes = _by_name(input_graph_def)
    replaced: set[str] = set()
    made: list[NodeDef] = []
    for node in input_graph_def.node:
        found = _normalization(node, nodes) if node.op in INPUT_ORDER else None
        if found is not None:
            replaced |= found.replaced
            made += _folded(found)
    kept = [node for node in input_graph_def.node if node.name not in replaced]
    return _graph_of(kept + made)


def _normalization(node: NodeDef, nodes: Mapping[str, NodeDef]) -> _Normalization | None:
    """What a normalization stands on, if all of it is known; otherwise a warning says what is not."""
    inputs = {
        part: node_from_map(nodes, text) for part, text in zip(INPUT_ORDER[node.op], node.input, strict=False)
    }
    convolution = inputs.pop("conv_op")
    if convolution.op not in ("Conv2D", "DepthwiseConv2dNative"):
        logging.warning(f"Didn't find expected Conv2D or DepthwiseConv2dNative input to '{node.name}'")
        return None
    weights = node_from_map(nodes, convolution.input[1])
    if not _is_constant(weights, "conv", convolution):
        return None
    shape = values_from_const(weights).shape
    channels = shape[3] if convolution.op == "Conv2D" else shape[2] * shape[3]
    for part in ("mean_op", "var_op", "beta_op", "gamma_op"):
        what = part.removesuffix("_op")
        if not _is_constant(inputs[part], what, node):
            return None
        size = values_from_const(inputs[part]).shape
        if size != (channels,):
            logging.warning(
                f"Incorrect shape for {what}, found {size}, expected {(channels,)}, for node {node.name}"
            )
            return None
    return _Normalization(node, convolution, weights, inputs)


def _is_constant(node: NodeDef, what: str, user: NodeDef) -> bool:
    if node.op == "Const":
        return True
    logging.warning(
        f"Didn't find expected {what} Constant input to '{user.name}', found {node} instead. "
        "Maybe because freeze_graph wasn't run first?"
    )
    return False


def _folded(found: _Normalization) -> list[NodeDef]:
    node, convolution = found.node, found.convolution
    weights = values_from_const(found.weights)
    mean, variance, beta, gamma = (
        values_from_const(found.constants[part]) for part in ("mean_op", "var_op", "beta_op", "gamma_op")
    )
    scale = 1.0 / np.sqrt(variance + node.attr[EPSILON_ATTR[node.op]].f, dtype=np.float64)
    if scale_after_normalization(node):
        scale = scale * gamma
    by_channel = scale if convolution.op == "Conv2D" else scale.reshape(weights.shape[2:])
    scaled = (weights * by_channel).astype(weights.dtype)
    offset = _constant(f"{convolution.name}_bn_offset", -mean * scale + beta, mean.dtype)
    bias = NodeDef(name=node.name, op="BiasAdd", input=[convolution.name, offset.name])
    for name in ("T", "data_format"):
        bias.attr[name].CopyFrom(convolution.attr[name])
    return [_constant(found.weights.name, scaled, weights.dtype), convolution, offset, bias]


# ------------------------------------------------------------------------- resizing, padding, convolution


def fuse_resize_and_conv(input_graph_def: GraphDef, output_node_names: Sequence[str]) -> GraphDef:
    """Lets convolutions resize and pad their input by themselves.

    Args:
      input_graph_def: A graph.
      output_node_names: The nodes that are asked for.

    Returns:
      A graph with FusedResizeAndPadConv2D and FusedPadConv2D where a Conv2D stood behind a ResizeBilinear or
      a MirrorPad.

    Raises:
      ValueError: If two nodes have one name.
    """
    nodes = _by_name(input_graph_def)
    uses = collections.Counter(source_name(text) for node in input_graph_def.node for text in node.input)
    uses.update(output_node_names)
    made: list[NodeDef] = []
    for node in input_graph_def.node:
        if node.op != "Conv2D":
            continue
        pad, resize = _before(node, nodes)
        if pad is None and resize is None:
            continue
        uses[node.name] = 0
        uses.subtract(part.name for part in (pad, resize) if part is not None)
        made += _fused(node, pad, resize)
    kept = [node for node in input_graph_def.node if uses[node.name] > 0]
    return _graph_of(kept + made)


def _before(convolution: NodeDef, nodes: Mapping[str, NodeDef]) -> tuple[NodeDef | None, NodeDef | None]:
    """The padding and the resizing of a convolution's input, where they are there."""
    given = node_from_map(nodes, convolution.input[0])
    pad = given if given.op == "MirrorPad" else None
    if pad is not None:
        given = node_from_map(nodes, pad.input[0])
    return pad, given if given.op == "ResizeBilinear" else None


def _fused(convolution: NodeDef, pad: NodeDef | None, resize: NodeDef | None) -> list[NodeDef]:
    made = []
    fused = NodeDef(name=convolution.name, op="FusedResizeAndPadConv2D" if resize else "FusedPadConv2D")
    if pad is not None:
        paddings, first = pad.input[1], pad.input[0]
        fused.attr["mode"].CopyFrom(pad.attr["mode"])
    else:
        nothing = _constant(f"{convolution.name}_dummy_paddings", np.zeros([4, 2]), np.dtype(np.int32))
        made.append(nothing)
        paddings = nothing.name
        fused.attr["mode"].s = b"REFLECT"
    if resize is not None:
        fused.input.extend([*resize.input[:2], paddings, convolution.input[1]])
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    else:
        fused.input.extend([first, paddings, convolution.input[1]])
    for name in ("T", "strides", "padding"):
        fused.attr[name].CopyFrom(convolution.attr[name])
    return [*made, fused]


def _constant(name: str, value: np.ndarray, dtype: np.dtype) -> NodeDef:
    node = NodeDef(name=name, op="Const")
    tensor: TensorProto = make_tensor_proto(value, dtypes.as_dtype(dtype), value.shape)
    node.attr["dtype"].type = tensor.dtype
    node.attr["value"].tensor.CopyFrom(tensor)
    return node


def _graph_of(nodes: Sequence[NodeDef]) -> GraphDef:
    made = GraphDef()
    made.node.extend(nodes)
    return made
