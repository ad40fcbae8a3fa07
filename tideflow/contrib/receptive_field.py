"""`tf.contrib.receptive_field`: how much of an image an element of a convolutional network's output sees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tideflow.export import export
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.platform import logging

_X, _Y = 0, 1
_ALONG = ("horizontal", "vertical")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLS = ("MaxPool", "MaxPoolV2", "AvgPool")
_POINTWISE = (
    "Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm Identity Log Mul Pow RealDiv Relu Relu6 "
    "Round Rsqrt Softplus Sub VariableV2 LRN GreaterEqual"
).split()


class Window(NamedTuple):
    """What a layer does along one axis; None for what is not known."""

    kernel: int | None
    stride: int | None
    padding: int | None  # before the first element
    total_padding: int | None  # before the first and after the last


class NodeInfo(NamedTuple):
    """A node of a graph: how far it is from the inputs, and the sizes that come to it and leave it."""

    order: int
    node: Any
    input_size: Sequence[int | None] | None
    output_size: Sequence[int | None] | None


_SAME = Window(1, 1, 0, 0)
_UNKNOWN = Window(None, None, None, None)


# ------------------------------------------------------------------------------------------------- a layer


def _windows(node: Any, nodes: dict[str, Any], size: Any, unknown_is_fine: bool = False) -> list[Window]:
    """What a node does along x and along y, where rows and columns of this number come in."""
    if node.op in _CONVOLUTIONS:
        return _padded(node, _kernel_of_weights(node, nodes), _strides(node, nodes), size)
    if node.op in _POOLS:
        return _padded(node, _kernel_of_pool(node, nodes), _strides(node, nodes), size)
    if node.op == "Pad":
        return _pad_windows(node, nodes)
    if node.op in _POINTWISE:
        return [_SAME, _SAME]
    if unknown_is_fine:
        return [_UNKNOWN, _UNKNOWN]
    raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")


def _padded(node: Any, kernels: Sequence[int], strides: Sequence[int], size: Any) -> list[Window]:
    sizes = (None, None) if size is None else (size[1], size[0])
    return [
        Window(kernel, stride, *_padding(node, kernel, stride, length))
        for kernel, stride, length in zip(kernels, strides, sizes, strict=True)
    ]


def _padding(node: Any, kernel: int, stride: int, length: int | None) -> tuple[int | None, int | None]:
    """The padding before the first element, and all of it."""
    kind = node.attr["padding"].s
    if kind == b"VALID":
        return 0, 0
    if kind != b"SAME":
        raise ValueError(f"Invalid padding operation {kind}")
    if length is not None:
        total = max(kernel - (length % stride or stride), 0)
        return total // 2, total
    if kernel == 1:
        return 0, 0
    if stride == 1:
        return (kernel - 1) // 2, kernel - 1
    if stride == 2 and kernel % 2 == 0:
        return (kernel - 1) // 2, None
    logging.warning(
        "Padding depends on input size, which means that the effective padding may be different depending on "
        "the input image dimensionality. In this case, alignment check will be skipped. If you know the "
        "input resolution, please set it."
    )
    return None, None


def _constant(nodes: dict[str, Any], name: str) -> np.ndarray:
    return make_ndarray(nodes[name].attr["value"].tensor)


def _strides(node: Any, nodes: dict[str, Any]) -> tuple[int, int]:
    if node.op == "MaxPoolV2":
        if not node.input[2].endswith("/strides"):
            raise ValueError("Strides name does not end with '/strides'")
        strides = _constant(nodes, node.input[2])
    else:
        strides = node.attr["strides"].list.i
    return strides[2], strides[1]


def _kernel_of_weights(node: Any, nodes: dict[str, Any]) -> tuple[int, int]:
    if not node.input[1].endswith("/read"):
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    name = node.input[1].removesuffix("/read")
    weights = nodes[name]
    if weights.op == "VariableV2":
        sizes = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        sizes = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}")
    if len(sizes) != 4:
        raise ValueError(f"Weight layer {name} does not have rank 4. Instead, it has: {len(sizes)}")
    return sizes[1].size, sizes[0].size


def _kernel_of_pool(node: Any, nodes: dict[str, Any]) -> tuple[int, int]:
    if node.op == "MaxPoolV2":
        if not node.input[1].endswith("/ksize"):
            raise ValueError("Kernel size name does not end with '/ksize'")
        sizes = _constant(nodes, node.input[1])
    else:
        sizes = node.attr["ksize"].list.i
    for place, name in ((0, "first"), (3, "last")):
        if sizes[place] != 1:
            raise ValueError(f"pool ksize for {name} dim is not 1")
    return sizes[2], sizes[1]


def _pad_windows(node: Any, nodes: dict[str, Any]) -> list[Window]:
    name = node.input[1]
    if not name.endswith("/paddings"):
        raise ValueError("Padding layer name does not end with '/paddings'")
    if nodes[name].op != "Const":
        raise ValueError("Padding op is not Const")
    paddings = _constant(nodes, name)
    for place, word in ((0, "first"), (3, "last")):
        if paddings[place].any():
            raise ValueError(f"padding is not zero for {word} tensor dim")
    return [Window(1, 1, paddings[axis][0], paddings[axis].sum()) for axis in (2, 1)]


# ------------------------------------------------------------------------------------------------- a graph


@export("contrib.receptive_field.get_compute_order")
def get_compute_order(
    graph_def: Any, input_node_name: str = "", input_node_size: Sequence[int] | None = None
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """Puts the nodes of a graph in an order in which they can be computed.

    Args:
      graph_def: The GraphDef.
      input_node_name: The node that counts as the input.
      input_node_size: The number of rows and of columns that it gives.

    Returns:
      By name, the order of each node with the sizes that come to it and leave it; and by name, the nodes.
    """
    nodes = {node.name: node for node in graph_def.node}
    infos: dict[str, NodeInfo] = {}
    for name in nodes:
        _visit(name, nodes, infos, input_node_name, input_node_size)
    return infos, nodes


def _visit(last: str, nodes: dict[str, Any], infos: dict[str, NodeInfo], start: str, size: Any) -> None:
    """Finds what is to be known of a node, and first of those behind it."""
    waiting = [last]
    while waiting:
        name = waiting[-1]
        if name in infos:
            waiting.pop()
            continue
        if name == start:
            infos[name] = NodeInfo(0, nodes[name], None, size)
            continue
        inputs = [each.split(":")[0] for each in nodes[name].input if not each.startswith("^")]
        missing = [each for each in inputs if each not in infos]
        if missing:
            waiting.append(missing[0])
        else:
            infos[name] = _info(nodes[name], nodes, [infos[each] for each in inputs])


def _info(node: Any, nodes: dict[str, Any], inputs: list[NodeInfo]) -> NodeInfo:
    order = max((each.order + 1 for each in inputs), default=0)
    size = inputs[0].output_size if inputs else None
    if size is None:
        return NodeInfo(order, node, size, None)
    windows = _windows(node, nodes, size, unknown_is_fine=True)
    return NodeInfo(order, node, size, [_output_size(*each) for each in zip(size, windows, strict=True)])


def _output_size(size: int | None, window: Window) -> int | None:
    if size is None or None in (window.kernel, window.stride, window.total_padding):
        return None
    return math.ceil((size + window.total_padding - window.kernel + 1) / window.stride)  # type: ignore[operator]


class _Field(NamedTuple):
    """The receptive field of the output in a node, along one axis."""

    size: int
    stride: int
    padding: int | None

    def behind(self, window: Window, is_known: bool) -> _Field:
        """The field in what a layer takes, from that in what it gives."""
        stride: Any = window.stride
        padding = stride * self.padding + window.padding if is_known else None
        return _Field(stride * self.size + window.kernel - stride, stride * self.stride, padding)

    @property
    def center(self) -> float:
        return (self.size - 1) / 2 - self.padding  # type: ignore[operator]


class ReceptiveField:
    """A receptive field.

    Args:
      size: Its size along x and y.
      stride: How far the fields of neighbouring outputs are from each other.
      padding: How far the field of the first output begins before the input does.
    """

    def __init__(self, size: Any, stride: Any, padding: Any):
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def compute_input_center_coordinates(self, y: Any, axis: Sequence[int] | None = None) -> np.ndarray:
        """Finds the centers of the fields of outputs.

        Args:
          y: The coordinates of the outputs, along the last axis.
          axis: To which axes these belong; all if None.

        Returns:
          The coordinates of the centers in the input.

        Raises:
          ValueError: If there are more or fewer coordinates than axes.
        """
        axes, y = self._axes(axis), np.asarray(y)
        _check_dimensions("feature coordinates `y`", y, axes)
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x: Any, axis: Sequence[int] | None = None) -> np.ndarray:
        """Finds the outputs whose fields have these centers.

        Args:
          x: The coordinates of the centers in the input, along the last axis.
          axis: To which axes these belong; all if None.

        Returns:
          The coordinates of the outputs.

        Raises:
          ValueError: If there are more or fewer coordinates than axes.
        """
        axes, x = self._axes(axis), np.asarray(x)
        _check_dimensions("input center coordinates `x`", x, axes)
        return (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]

    def _axes(self, axis: Sequence[int] | None) -> list[int]:
        return list(range(self.size.size) if axis is None else axis)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.concatenate([self.size, self.stride, self.padding]))


def _check_dimensions(what: str, given: np.ndarray, axes: list[int]) -> None:
    if given.shape[-1] != len(axes):
        raise ValueError(
            f"Dimensionality of the {what} ({given.shape[-1]}) does not match dimensionality of `axis` "
            f"({len(axes)})"
        )


@export("contrib.receptive_field.compute_receptive_field_from_graph_def")
def compute_receptive_field_from_graph_def(
    graph_def: Any,
    input_node: str | Tensor,
    output_node: str | Tensor,
    stop_propagation: Sequence[str] | None = None,
    input_resolution: Sequence[int] | None = None,
) -> ReceptiveField:
    """Computes the receptive field of a node's elements in another node.

    Args:
      graph_def: The graph, or its GraphDef.
      input_node: The node that is seen, by name, or its tensor.
      output_node: The node that sees, likewise.
      stop_propagation: What the names of nodes begin with that do not count as seen.
      input_resolution: The number of rows and of columns of the input, where padding depends on it.

    Returns:
      An object with `size`, `stride` and `padding`, each along x and y; the padding is None where it is not
      known.

    Raises:
      ValueError: If a node is not there, if a layer is not known, or if paths between the nodes are not
        aligned.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    start = input_node.op.name if isinstance(input_node, Tensor) else input_node
    end = output_node.op.name if isinstance(output_node, Tensor) else output_node
    infos, nodes = get_compute_order(graph_def, start, input_resolution)
    ordered = sorted(infos.values(), key=lambda info: -info.order)
    names = [info.node.name for info in ordered]
    last_first = ordered[names.index(end) :] if end in names else []
    fields = {end: [_Field(1, 1, 0), _Field(1, 1, 0)]}
    if start in names and end in names and names.index(start) < names.index(end):
        raise ValueError("Output node was not found")
    is_known = True
    for info in last_first:
        node = info.node
        if node.name == start:
            break
        if node.name not in fields:
            continue
        windows = _windows(node, nodes, info.input_size)
        is_known = is_known and all(window.padding is not None for window in windows)
        behind = [field.behind(w, is_known) for field, w in zip(fields[node.name], windows, strict=True)]
        for name in node.input:
            if not name.startswith(("^", *(stop_propagation or ()))):
                fields[name] = _joined(fields.get(name), behind, is_known)
    if not last_first:
        raise ValueError("Output node was not found")
    if start not in fields:
        raise ValueError("Input node was not found")
    return ReceptiveField(*zip(*fields[start], strict=True))


def _joined(known: list[_Field] | None, found: list[_Field], is_checked: bool) -> list[_Field]:
    """The larger fields of two paths, which have to be aligned."""
    if known is None:
        return found
    if is_checked:
        for axis in (_X, _Y):
            if known[axis].stride != found[axis].stride:
                raise ValueError(_not_aligned("effective stride", axis))
        for axis in (_X, _Y):
            if known[axis].center != found[axis].center:
                raise ValueError(_not_aligned("center shift", axis))
    return [new if old.size < new.size else old for old, new in zip(known, found, strict=True)]


def _not_aligned(what: str, axis: int) -> str:
    return f"Graph is not aligned since {what} from different paths is different in {_ALONG[axis]} direction"
