"""Mixed precision: the rewrite of a step so that its matrix products and convolutions, and what lies between
them, compute in 16 bits. Variables, and whatever needs the range or the precision of 32 bits, stay as they
are.

TensorFlow's four lists say which operations may. `allow` has those that the rewrite is for. Those of `deny`
would overflow or lose what counts, and so would an operation of `infer` that comes after one of them. `infer`
and `clear` operations change between allowed ones, `clear` operations beside them as well: they only move
numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from tideflow.compile.ir import Loop, Node, Program, Value, make_node, walk
from tideflow.graph import dtypes
from tideflow.graph.dtypes import DType, as_dtype
from tideflow.graph.op import definition
from tideflow.ops.math.casting import cast_op

LISTS = {
    "allow": """BatchMatMul BatchMatMulV2 BlockLSTM BlockLSTMGrad Conv2D Conv2DBackpropFilter
        Conv2DBackpropInput CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNV2
        CudnnRNNV3 GRUBlockCell GRUBlockCellGrad LSTMBlockCell LSTMBlockCellGrad MatMul""",
    "infer": """Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Elu
        EluGrad Erf Erfc FloorDiv FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 FusedBatchNormV3
        Inv LeakyRelu LeakyReluGrad Mul Prod RealDiv Reciprocal Sigmoid SigmoidGrad Softplus SoftplusGrad
        Sqrt Sub Tanh TanhGrad""",
    "deny": """Exp Expm1 L2Loss Log Log1p LogSoftmax Mean Pow SaveV2 Softmax SoftmaxCrossEntropyWithLogits
        SparseSoftmaxCrossEntropyWithLogits Sum""",
    "clear": """Abs ArgMax ArgMin BatchToSpace BatchToSpaceND BroadcastTo Ceil CheckNumerics ClipByValue
        Concat ConcatV2 DepthToSpace DynamicPartition DynamicStitch EnsureShape Equal ExpandDims Fill Floor
        Gather GatherNd GatherV2 Greater GreaterEqual Identity IdentityN IsFinite IsInf IsNan Less LessEqual
        Max MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2
        MaxPoolGradV2 MaxPoolV2 Maximum Min Minimum MirrorPad MirrorPadGrad Neg NotEqual OneHot OnesLike Pack
        Pad PadV2 PreventGradient Rank Relu Relu6 Relu6Grad ReluGrad Reshape ResizeNearestNeighbor
        ResizeNearestNeighborGrad Reverse ReverseSequence ReverseV2 Round Select Shape ShapeN Sign Size Slice
        Snapshot SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice
        StridedSliceGrad Tile TopK TopKV2 Transpose Where ZerosLike""",
}
_NAMES_OF_LISTS = {"allow": "WHITELIST", "infer": "GRAYLIST", "deny": "BLACKLIST", "clear": "CLEARLIST"}
_VARIABLE = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE"
_WITH_STATISTICS = {  # batch normalization, and its form whose statistics have a type of their own
    "FusedBatchNorm": "FusedBatchNormV2",
    "FusedBatchNormGrad": "FusedBatchNormGradV2",
}
_STATISTICS = "U"  # the attribute that says this type: it stays float32


def use_half(program: Program, half_by_device: Iterable[tuple[str, str]]) -> int:
    """Lets the allowed part of a program compute in 16 bits on these devices; returns how many nodes do."""
    halves = {kind: as_dtype(name) for kind, name in half_by_device}
    painter = _Painter(program, halves)
    painted = painter.paint()
    if painted:
        _Rewriter(painted).rewrite(program)
    return len(painted)


def has_fast_half(device: torch.device) -> bool:
    """Whether a GPU computes in 16 bits faster than in 32. TensorFlow's variable …_IGNORE_PERFORMANCE says
    not to ask.
    """
    if device.type != "cuda" or os.environ.get(f"{_VARIABLE}_IGNORE_PERFORMANCE", "") in ("1", "true"):
        return True
    return torch.cuda.get_device_capability(device) >= (7, 0)


def _categories() -> dict[str, str]:
    """The list of each op type, with what the environment adds and removes."""
    found: dict[str, str] = {}
    for category, names in LISTS.items():
        variable = f"{_VARIABLE}_{_NAMES_OF_LISTS[category]}"
        listed = {*names.split(), *os.environ.get(f"{variable}_ADD", "").split(",")}
        listed -= set(os.environ.get(f"{variable}_REMOVE", "").split(","))
        found |= dict.fromkeys(listed - {""}, category)
    return found


# ----------------------------------------------------------------------------------------------- which nodes


class _Painter:
    """Finds the nodes of a program that compute in 16 bits, and in which type."""

    def __init__(self, program: Program, halves: dict[str, DType]):
        self._nodes = list(walk(program))
        self._halves = halves
        kept = {value.op for value in program.fetches} | program.targets
        for node in self._nodes:
            if isinstance(node, Loop):  # its variables stay in 32 bits
                kept.update(value.op for value in node.body.fetches)
        categories = _categories()
        self._category: dict[Node, str] = {}
        for node in self._nodes:
            name = _WITH_STATISTICS.get(node.type, node.type)
            if name in categories and _float_attributes(node):
                self._category[node] = categories[name]
        self._able = {node for node in self._category if node not in kept and self._has_kernel(node)}
        self._users: dict[Node, list[Node]] = {}
        for node in self._nodes:
            for before in self._before(node):
                self._users.setdefault(before, []).append(node)

    def paint(self) -> dict[Node, DType]:
        """The nodes that compute in 16 bits."""
        allowed = {node for node in self._able if self._category[node] == "allow"}
        if not allowed:
            return {}
        denied = self._denied()
        middle = {n for n in self._able - denied if self._category[n] in ("infer", "clear")}
        after = self._reached(allowed, self._after, middle.__contains__)
        before = self._reached(allowed, self._before, middle.__contains__)
        allowed |= after & before
        clear = {node for node in middle if self._category[node] == "clear"}
        allowed |= self._reached(
            allowed, lambda n: [*self._after(n), *self._before(n)], lambda n: n in clear and n not in allowed
        )
        return {node: self._half(node) for node in self._nodes if node in allowed}

    def _denied(self) -> set[Node]:
        """Denied nodes, and what comes after them on the way to nodes to which it matters."""
        denied = {node for node, category in self._category.items() if category == "deny"}
        matters = {node for node, category in self._category.items() if category in ("deny", "infer")}
        on_the_way = matters | self._reached(
            matters, self._before, lambda node: self._category.get(node) == "clear"
        )
        return denied | self._reached(denied, self._after, on_the_way.__contains__)

    def _reached(
        self,
        starts: Iterable[Node],
        neighbours: Callable[[Node], Iterable[Node]],
        enters: Callable[[Node], bool],
    ) -> set[Node]:
        """The nodes that can be reached through nodes that may be entered; not the starts themselves."""
        found: set[Node] = set()
        waiting = list(starts)
        while waiting:
            for node in neighbours(waiting.pop()):
                if node not in found and enters(node):
                    found.add(node)
                    waiting.append(node)
        return found

    def _after(self, node: Node) -> list[Node]:
        return self._users.get(node, [])

    def _before(self, node: Node) -> list[Node]:
        """The nodes whose 32-bit numbers a node takes as numbers of its changing type."""
        if node not in self._category:
            return []
        makers = [value.op for value, changes in _typed_inputs(node) if changes and _changes(value)]
        return [maker for maker in makers if maker in self._category]

    def _half(self, node: Node) -> DType:
        return self._halves[node.device.type]

    def _has_kernel(self, node: Node) -> bool:
        if node.device is None or node.device.type not in self._halves or not has_fast_half(node.device):
            return False
        specs = definition(_WITH_STATISTICS.get(node.type, node.type)).attrs
        allowed = [specs[name].allowed for name in _float_attributes(node)]
        return all(types is None or self._half(node) in types for types in allowed)


def _float_attributes(node: Node) -> list[str]:
    """The attributes that say that a node takes or makes float32, and that may say something else."""
    return [
        name
        for name, spec in node.definition.attrs.items()
        if name != _STATISTICS
        and spec.kind in ("type", "list(type)")
        and dtypes.float32 in (node.attrs[name] if spec.kind == "list(type)" else [node.attrs[name]])
    ]


def _typed_inputs(node: Node) -> Iterator[tuple[Value, bool]]:
    """Every input, and whether its type is one that changes."""
    changing = _float_attributes(node)
    for arg, given in zip(node.definition.inputs, node.grouped_inputs, strict=True):
        changes = arg.type_attr in changing or arg.type_list_attr in changing
        for value in given if arg.is_list else [given]:
            yield value, changes and value.dtype is dtypes.float32


def _changes(value: Value) -> bool:
    """Whether the type of a value changes with that of its node."""
    changing, position = _float_attributes(value.op), 0
    for arg in value.op.definition.outputs:
        count = 1
        if arg.type_list_attr is not None:
            count = len(value.op.attrs[arg.type_list_attr])
        elif arg.number_attr is not None:
            count = value.op.attrs[arg.number_attr]
        if position <= value.value_index < position + count:
            return arg.type_attr in changing or arg.type_list_attr in changing
        position += count
    return False


# ------------------------------------------------------------------------------------------------ their types


class _Rewriter:
    """Changes the types of painted nodes. A cast stands once, right after the node that makes its input: what
    a loop takes from outside is cast outside.
    """

    def __init__(self, painted: dict[Node, DType]):
        self._painted = painted
        self._replaced: dict[Value, Value] = {}
        self._casts: dict[tuple[Value, DType], Value] = {}
        self._behind: dict[Node, list[Node]] = {}  # the casts of a node's outputs

    def rewrite(self, program: Program) -> None:
        self._change_types(program)
        self._put_casts(program)

    def _change_types(self, program: Program) -> None:
        for i, node in enumerate(program.nodes):
            if node in self._painted:
                program.nodes[i] = self._changed(node, self._painted[node])
                continue
            own = [*node.inputs, *(pred for guards in (node.guards, *node.choices) for pred, _ in guards)]
            # Of a loop, only what it is given: the nodes of its body choose for themselves.
            Node.replace_values(
                node, {v: self._cast(self._replaced[v], v.dtype) for v in own if v in self._replaced}
            )
            if isinstance(node, Loop):
                self._change_types(node.body)

    def _changed(self, node: Node, half: DType) -> Node:
        """A node that takes and makes 16-bit numbers, in the place of one for 32 bits."""
        taken = [
            self._cast(self._replaced.get(value, value), half if changes else value.dtype)
            for value, changes in _typed_inputs(node)
        ]
        attrs = {name: _with_half(value, half) for name, value in node.attrs.items() if name != _STATISTICS}
        if _STATISTICS in node.attrs or node.type in _WITH_STATISTICS:
            attrs[_STATISTICS] = dtypes.float32
        made = make_node(_WITH_STATISTICS.get(node.type, node.type), taken, attrs, node)
        made.guards = frozenset(
            (self._cast(self._replaced.get(pred, pred), pred.dtype), side) for pred, side in node.guards
        )
        for old, new in zip(node.outputs, made.outputs, strict=True):
            new.shape = old.shape
            self._replaced[old] = new
        return made

    def _cast(self, value: Value, dtype: DType) -> Value:
        if value.dtype is dtype or value.dtype._is_ref_dtype:
            return value
        if (value, dtype) not in self._casts:
            attrs = {"SrcT": value.dtype, "DstT": dtype}
            cast = make_node(cast_op, [value], attrs, value.op, name=f"{value.op.name}/Cast")
            cast.device = value.device
            self._behind.setdefault(value.op, []).append(cast)
            self._casts[value, dtype] = cast.outputs[0]
        return self._casts[value, dtype]

    def _put_casts(self, program: Program) -> None:
        nodes = [cast for value in program.feeds for cast in self._behind.get(value.op, ())]
        for node in program.nodes:
            if isinstance(node, Loop):
                self._put_casts(node.body)
            nodes += [node, *self._behind.get(node, ())]
        program.nodes = nodes


def _with_half(value: Any, half: DType) -> Any:
    """An attribute with float32 replaced."""
    if isinstance(value, list):
        return [_with_half(each, half) for each in value]
    return half if value is dtypes.float32 else value
