"""`tensorflow.python.tools.optimize_for_inference_lib`: frozen graphs, made quicker to run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.platform import logging
from tideflow.programs.inner.tools.graph_tools import strip_unused

# Which input of a normalization is which, and where its epsilon is.
INPUT_ORDER = {
    "BatchNormWithGlobalNormalization": ["conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
EPSILON_ATTR = {"BatchNormWithGlobalNormalization": "variance_epsilon", "FusedBatchNorm": "epsilon"}


def optimize_for_inference(
    input_graph_def: tf.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> tf.GraphDef:
    """Removes what only training needs from a frozen graph, and merges what can be merged.

    Args:
      input_graph_def: The graph, with constants for variables.
      input_node_names: The nodes that are fed.
      output_node_names: The nodes that are fetched.
      placeholder_type_enum: The type of the placeholders of the inputs, or a list of types.
      toco_compatible: Whether only op types of TensorFlow Lite may be made.

    Returns:
      The graph.
    """
    ensure_graph_is_valid(input_graph_def)
    graph = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    graph = tf.graph_util.remove_training_nodes(graph, output_node_names)
    graph = fold_batch_norms(graph)
    if not toco_compatible:
        graph = fuse_resize_and_conv(graph, output_node_names)
    ensure_graph_is_valid(graph)
    return graph


def ensure_graph_is_valid(graph_def: tf.GraphDef) -> None:
    """Checks that names are unique, and that every input is there."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for name in node.input:
            if node_name_from_input(name) not in nodes:
                raise ValueError("Input for ", node.name, " not found: ", name)


def _by_name(graph_def: tf.GraphDef) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError("Duplicate node names detected for ", node.name)
        nodes[node.name] = node
    return nodes


def node_name_from_input(node_name: str) -> str:
    """The node of an input: without the mark of control edges and the number of the output."""
    return re.sub(r":\d+$", "", node_name.removeprefix("^"))


def node_from_map(node_map: Mapping[str, Any], name: str) -> Any:
    """The node of an input."""
    stripped = node_name_from_input(name)
    if stripped not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[stripped]


def values_from_const(node_def: Any) -> np.ndarray:
    """The value of a constant."""
    if node_def.op != "Const":
        raise ValueError(f"Node named '{node_def.name}' should be a Const op for values_from_const.")
    return tf.make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node: Any) -> bool:
    """Whether a normalization multiplies with its gamma."""
    if node.op == "BatchNormWithGlobalNormalization":
        return node.attr["scale_after_normalization"].b
    return True


# ----------------------------------------------------------------------------------------- normalizations


def fold_batch_norms(input_graph_def: tf.GraphDef) -> tf.GraphDef:
    """Multiplies normalizations by constants into the weights of the convolutions before them."""
    nodes = _by_name(input_graph_def)
    gone: set[str] = set()
    made: list[Any] = []
    for node in input_graph_def.node:
        parts = _normalized_convolution(node, nodes) if node.op in INPUT_ORDER else None
        if parts is not None:
            gone.update((node.name, *(part.name for part in parts.values())))
            made += _folded(node, parts)
    return _with_nodes([node for node in input_graph_def.node if node.name not in gone], made)


def _with_nodes(*nodes: Iterable[Any]) -> tf.GraphDef:
    graph = tf.GraphDef()
    for several in nodes:
        graph.node.extend(several)
    return graph


def _normalized_convolution(node: Any, nodes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The convolution, its weights and the statistics, where they are constants that fit."""
    order = INPUT_ORDER[node.op]
    parts = {kind: node_from_map(nodes, name) for kind, name in zip(order, node.input, strict=False)}
    convolution = parts["conv_op"]
    if convolution.op not in ("Conv2D", "DepthwiseConv2dNative"):
        logging.warning(f"Didn't find expected Conv2D or DepthwiseConv2dNative input to '{node.name}'")
        return None
    parts["weights_op"] = node_from_map(nodes, convolution.input[1])
    for kind, part in parts.items():
        if part.op != "Const" and kind != "conv_op":
            logging.warning(
                f"Didn't find expected {kind.removesuffix('_op')} Constant input to '{node.name}', found "
                f"{part} instead. Maybe because freeze_graph wasn't run first?"
            )
            return None
    channels = _channels(convolution, values_from_const(parts["weights_op"]))
    for kind in ("mean_op", "var_op", "beta_op", "gamma_op"):
        shape = values_from_const(parts[kind]).shape
        if shape != (channels,):
            logging.warning(
                f"Incorrect shape for {kind.removesuffix('_op')}, found {shape}, expected {(channels,)}, for "
                f"node {node.name}"
            )
            return None
    return parts


def _channels(convolution: Any, weights: np.ndarray) -> int:
    depthwise = convolution.op == "DepthwiseConv2dNative"
    return weights.shape[2] * weights.shape[3] if depthwise else weights.shape[3]


def _folded(node: Any, parts: Mapping[str, Any]) -> list[Any]:
    """The weights, the convolution and the bias that do what a convolution and its normalization did."""
    weights = values_from_const(parts["weights_op"])
    mean, variance, beta, gamma = (
        values_from_const(parts[kind]) for kind in ("mean_op", "var_op", "beta_op", "gamma_op")
    )
    scale = 1.0 / np.sqrt((variance + node.attr[EPSILON_ATTR[node.op]].f).astype(np.float64))
    if scale_after_normalization(node):
        scale = scale * gamma
    offset = -mean * scale + beta
    convolution = parts["conv_op"]
    by_channel = scale.reshape(weights.shape[2:]) if convolution.op == "DepthwiseConv2dNative" else scale
    scaled = (weights * by_channel).astype(weights.dtype)
    kept = tf.NodeDef()
    kept.CopyFrom(convolution)
    offsets = _constant(f"{convolution.name}_bn_offset", offset.astype(mean.dtype), parts["mean_op"])
    bias = tf.NodeDef(op="BiasAdd", name=node.name, input=[kept.name, offsets.name])
    for attr in ("T", "data_format"):
        bias.attr[attr].CopyFrom(convolution.attr[attr])
    return [_constant(parts["weights_op"].name, scaled, parts["weights_op"]), kept, offsets, bias]


def _constant(name: str, value: np.ndarray, like: Any) -> Any:
    node = tf.NodeDef(op="Const", name=name)
    node.attr["dtype"].CopyFrom(like.attr["dtype"])
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, value.dtype, value.shape))
    return node


# --------------------------------------------------------------------------------- resizing and padding


def fuse_resize_and_conv(input_graph_def: tf.GraphDef, output_node_names: Sequence[str]) -> tf.GraphDef:
    """Makes one operation of a convolution and the resizing and mirroring before it."""
    nodes = _by_name(input_graph_def)
    used = Counter(node_name_from_input(name) for node in input_graph_def.node for name in node.input)
    used.update(output_node_names)
    made: list[Any] = []
    for node in input_graph_def.node:
        if node.op != "Conv2D":
            continue
        before = node_from_map(nodes, node.input[0])
        pad = before if before.op == "MirrorPad" else None
        resize = node_from_map(nodes, pad.input[0]) if pad is not None else before
        resize = resize if resize.op == "ResizeBilinear" else None
        if pad is None and resize is None:
            continue
        used[node.name] = 0
        used.subtract(part.name for part in (pad, resize) if part is not None)
        made += _fused(node, pad, resize)
    return _with_nodes([node for node in input_graph_def.node if used[node.name] >= 1], made)


def _fused(convolution: Any, pad: Any, resize: Any) -> list[Any]:
    made = []
    if pad is not None:
        paddings, mode = pad.input[1], pad.attr["mode"].s
    else:
        node = tf.NodeDef(op="Const", name=f"{convolution.name}_dummy_paddings")
        node.attr["dtype"].type = tf.int32.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto([0] * 8, tf.int32, [4, 2]))
        made.append(node)
        paddings, mode = node.name, b"REFLECT"
    source = [resize.input[0], resize.input[1]] if resize is not None else [pad.input[0]]
    fused = tf.NodeDef(
        op="FusedPadConv2D" if resize is None else "FusedResizeAndPadConv2D",
        name=convolution.name,
        input=[*source, paddings, convolution.input[1]],
    )
    if resize is not None:
        fused.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    fused.attr["mode"].s = mode
    for attr in ("T", "strides", "padding"):
        fused.attr[attr].CopyFrom(convolution.attr[attr])
    return [*made, fused]
