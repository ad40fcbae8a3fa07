"""How many floating point operations an op takes, by its shapes. The counts are TensorFlow's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tideflow.graph.graph import Graph
from tideflow.graph.shapes import TensorShape

_registered: dict[tuple[str, str], Callable] = {}


class OpStats:
    """A statistic of an op, say "flops", with a value, or None where nobody knows it."""

    def __init__(self, statistic_type: str, value: Any = None):
        self.statistic_type = statistic_type
        self.value = value

    @property
    def statistic_type(self) -> str:
        return self._statistic_type

    @statistic_type.setter
    def statistic_type(self, statistic_type: str) -> None:
        self._statistic_type = statistic_type

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of {other.statistic_type}."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


class RegisterStatistics:
    """A decorator: the function `(graph, node_def) -> OpStats` knows a statistic of an op type."""

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Graph, NodeDef], OpStats]) -> Callable[[Graph, NodeDef], OpStats]:
        if self._key in _registered:
            raise KeyError(f"Registering two stats functions with name '{','.join(self._key)}'!")
        _registered[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: NodeDef, statistic_type: str) -> OpStats:
    """The statistic of a node; without a value where none is registered for its type."""
    function = _registered.get((node.op, statistic_type))
    return OpStats(statistic_type) if function is None else function(graph, node)


# ------------------------------------------------------------------------------------------------ counting


def _shape(graph: Graph, name: str) -> TensorShape:
    """The shape of a tensor, called as in a NodeDef; ValueError where it is not known."""
    tensor = graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
    tensor.shape.assert_is_fully_defined()
    return tensor.shape


def _size(graph: Graph, name: str) -> int:
    return _shape(graph, name).num_elements()


def _counts(op_types: str) -> Callable:
    """Registers how many flops ops of some types take."""

    def register(count: Callable[[Graph, NodeDef], float]) -> Callable:
        for op_type in op_types.split():
            RegisterStatistics(op_type, "flops")(
                lambda graph, node: OpStats("flops", int(count(graph, node)))
            )
        return count

    return register


def _per_input_element(op_types: str, times: int = 1) -> None:
    _counts(op_types)(lambda graph, node: times * _size(graph, node.input[0]))


def _per_output_element(op_types: str, times: int = 1) -> None:
    _counts(op_types)(lambda graph, node: times * _size(graph, node.name))


_per_input_element("Reciprocal Square Log Neg AssignSub AssignAdd")
_per_input_element("Rsqrt", 2)
_per_input_element("Softmax", 5)
_per_output_element("Add Sub Mul RealDiv Maximum Minimum Pow")
_per_output_element("GreaterEqual Greater LessEqual Less Equal NotEqual")
_per_output_element("SquaredDifference", 2)
_per_output_element("RsqrtGrad", 4)


@_counts("L2Loss")
def _l2_loss(graph: Graph, node: NodeDef) -> int:
    return 3 * _size(graph, node.input[0]) - 1


@_counts("Sum ArgMax ArgMin BiasAddGrad")
def _reduction(graph: Graph, node: NodeDef) -> int:
    return _size(graph, node.input[0]) - _size(graph, node.name)


@_counts("Mean")
def _mean(graph: Graph, node: NodeDef) -> int:
    _shape(graph, node.name)
    return _size(graph, node.input[0])


@_counts("AddN")
def _add_n(graph: Graph, node: NodeDef) -> int:
    return _size(graph, node.input[0]) * (len(node.input) - 1) if node.input else 0


def _window(node: NodeDef) -> int:
    """The elements of a pooling window; ValueError but for NHWC, whose counts alone are known."""
    _check_format(node)
    return math.prod(node.attr["ksize"].list.i)


def _check_format(node: NodeDef) -> None:
    if node.attr["data_format"].s != b"NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


@_counts("AvgPool MaxPool")
def _pool(graph: Graph, node: NodeDef) -> int:
    return _window(node) * _size(graph, node.name)


@_counts("AvgPoolGrad")
def _avg_pool_grad(graph: Graph, node: NodeDef) -> int:
    return 2 * _window(node) * _size(graph, node.input[1])


@_counts("MaxPoolGrad")
def _max_pool_grad(graph: Graph, node: NodeDef) -> int:
    return (_window(node) + 1) * _size(graph, node.input[1])


def _backprop(image: TensorShape, kernel: TensorShape, node: NodeDef) -> float:
    _check_format(node)
    strides = node.attr["strides"].list.i
    shrunk = image.as_list()[-1] * strides[1] * strides[2]
    return 2 * image.num_elements() * kernel.num_elements() / shrunk


@_counts("Conv2DBackpropInput")
def _conv2d_backprop_input(graph: Graph, node: NodeDef) -> float:
    return _backprop(_shape(graph, node.name), _shape(graph, node.input[1]), node)


@_counts("Conv2DBackpropFilter")
def _conv2d_backprop_filter(graph: Graph, node: NodeDef) -> float:
    return _backprop(_shape(graph, node.input[0]), _shape(graph, node.name), node)


@_counts("Conv2D Conv3D")
def _convolution(graph: Graph, node: NodeDef) -> int:
    *spatial, channels, _ = _shape(graph, node.input[1]).as_list()
    return 2 * _size(graph, node.name) * channels * math.prod(spatial)


@_counts("DepthwiseConv2dNative")
def _depthwise(graph: Graph, node: NodeDef) -> int:
    height, width = _shape(graph, node.input[1]).as_list()[:2]
    return 2 * _size(graph, node.name) * height * width


@_counts("BiasAdd")
def _bias_add(graph: Graph, node: NodeDef) -> int:
    return _size(graph, node.input[0])


@_counts("Dilation2D")
def _dilation(graph: Graph, node: NodeDef) -> int:
    height, width = _shape(graph, node.input[1]).as_list()[:2]
    return 2 * _size(graph, node.name) * height * width


@_counts("MatMul")
def _matmul(graph: Graph, node: NodeDef) -> int:
    left = _shape(graph, node.input[0]).as_list()
    return 2 * _size(graph, node.name) * (left[0] if node.attr["transpose_a"].b else left[1])


@_counts("BatchMatMul")
def _batch_matmul(graph: Graph, node: NodeDef) -> int:
    left = _shape(graph, node.input[0]).as_list()
    return 2 * _size(graph, node.name) * (left[-2] if node.attr["adj_x"].b else left[-1])
