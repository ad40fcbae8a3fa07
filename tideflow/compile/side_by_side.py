"""Products that stand side by side in a loop, of the parts of one matrix, become one product of the whole.

The gates of a recurrent cell are such products, of one input with parts of the cell's weights, and so are
their gradients. One product takes less time than four, and its weights can be prepared. Each function's
docstring is its law, as of a rewrite rule. The laws hold within rounding.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tideflow.compile.ir import Loop, Node, Value, make_node
from tideflow.compile.rewrite import constant_node, drop_unused
from tideflow.compile.rules_math import add_matmul_op
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.joining import concat_v2_op, split_op
from tideflow.ops.arrays.slicing import strided_slice_grad_op, strided_slice_op
from tideflow.ops.linalg.matmul import matmul_op
from tideflow.ops.math.adding import add_n_op
from tideflow.ops.nn.activations import bias_add_grad_op
from tideflow.runtime.devices import CPU

_PRODUCTS = (matmul_op, add_matmul_op)


class Part(NamedTuple):
    """Which part of a value another one is: a range along one axis."""

    whole: Value
    axis: int
    begin: int
    end: int


def side_by_side(loop: Loop) -> int:
    """Applies the laws to the body of a loop; returns how often."""
    sweep = _Sweep(loop)
    for node in loop.body.nodes:
        node.replace_values(sweep.replaced)
        sweep.take(node)
    if sweep.count:
        loop.body.nodes = sweep.nodes
        loop.body.fetches = [sweep.replaced.get(value, value) for value in loop.body.fetches]
        drop_unused(loop.body)
    return sweep.count


class _Sweep:
    """One forward pass over a body: the nodes made so far, and which value replaced which."""

    def __init__(self, loop: Loop):
        self.nodes: list[Node] = []
        self.made: set[Node] = set()
        self.replaced: dict[Value, Value] = {}
        self.count = 0
        self._loop = loop
        self._uses = loop.body.uses()
        self._joined: dict[tuple[tuple[Value, ...], int], Value] = {}
        self._gates = _gates(loop)

    def take(self, node: Node) -> None:
        """Adds a node, or what takes its place."""
        if not _is_plain(node, self._loop):
            self.nodes.append(node)
            return
        for law in _LAWS:
            found = law(node, self)
            if found is not None:
                self.count += 1
                self.replaced[node.outputs[0]] = found
                return
        self.nodes.append(node)

    def make(self, op: Op, inputs: list[Value], attrs: dict[str, Any], like: Node) -> Node:
        """Adds a new node."""
        node = make_node(op, inputs, attrs, like)
        self.nodes.append(node)
        self.made.add(node)
        return node

    def constant(self, value: int, like: Node) -> Value:
        """Adds a whole number."""
        node = constant_node(np.array(value, np.int32), like)
        self.nodes.append(node)
        return node.outputs[0]

    def joined(self, parts: Sequence[Value], axis: int, like: Node) -> Value:
        """The parts one after the other along an axis, made once."""
        key = tuple(parts), axis
        if key not in self._joined:
            attrs = {"N": len(parts), "T": parts[0].dtype, "Tidx": dtypes.int32}
            node = self.make(concat_v2_op, [*parts, self.constant(axis, like)], attrs, like)
            node.outputs[0].shape = _whole_shape(parts, axis)
            self._joined[key] = node.outputs[0]
        return self._joined[key]

    def only_use(self, value: Value) -> bool:
        """Whether one node alone takes a value."""
        return self._uses.get(value, 0) == 1


# -------------------------------------------------------------------------------- the laws


def products_of_parts(node: Node, sweep: _Sweep) -> Value | None:
    """MatMul(x, w1), MatMul(x, w2) -> Split(MatMul(x, [w1, w2])), with parts of a sum added or without"""
    if node.definition not in _PRODUCTS or node.attrs["transpose_a"] or node.attrs["transpose_b"]:
        return None
    group = sweep._gates.get(node)
    if group is None or any(other.outputs[0] in sweep.replaced for other in group):
        return None
    for other in group:
        other.replace_values(sweep.replaced)
    whole = _whole_of([part_of(other.inputs[-1]) for other in group], 1)
    addends = [part_of(other.inputs[0]) for other in group] if len(node.inputs) == 3 else None
    addend = None if addends is None else _whole_of(addends, -1)
    if (
        whole is None
        or (addends is not None and addend is None)
        or not _is_same([o.inputs[-2] for o in group])
    ):
        return None
    inputs = [*([] if addend is None else [addend]), node.inputs[-2], whole]
    product = sweep.make(node.definition, inputs, dict(node.attrs), node).outputs[0]
    axis = sweep.constant(1, node)
    parts = sweep.make(split_op, [axis, product], {"num_split": len(group), "T": product.dtype}, node).outputs
    sweep.replaced |= {other.outputs[0]: part for other, part in zip(group, parts, strict=True)}
    return sweep.replaced[node.outputs[0]]


def sum_of_products(node: Node, sweep: _Sweep) -> Value | None:
    """MatMul(x1, w1') + MatMul(x2, w2') -> MatMul([x1, x2], [w1, w2]')"""
    if node.definition is not add_n_op:
        return None
    products = [value.op for value in node.inputs]
    if not all(_is_product_of(p, turned_b=True) and sweep.only_use(p.outputs[0]) for p in products):
        return None
    found = {p: part_of(p.inputs[1]) for p in products}
    products = _in_order(products, found)
    whole = _whole_of([found[p] for p in products], 1)
    if whole is None:
        return None
    left = sweep.joined([p.inputs[0] for p in products], 1, node)
    return sweep.make(matmul_op, [left, whole], dict(products[0].attrs), node).outputs[0]


def sum_of_parts(node: Node, sweep: _Sweep) -> Value | None:
    """StridedSliceGrad(x1) + StridedSliceGrad(x2) -> [x1, x2]"""
    if node.definition is not add_n_op:
        return None
    grads = [value.op for value in node.inputs]
    if any(grad.definition is not strided_slice_grad_op for grad in grads):
        return None
    size = _sizes(node.outputs[0])
    found = {grad: _range_of(grad, size, grad.inputs[1:4]) for grad in grads}
    ranges = [found[grad] for grad in grads]
    if None in ranges:
        return None
    grads.sort(key=lambda grad: found[grad][1])  # type: ignore[index]
    ordered = [found[grad] for grad in grads]
    if not _covers(ordered, size):  # type: ignore[arg-type]
        return None
    axis = ordered[0][0]  # type: ignore[index]
    joined = [grad.inputs[4] for grad in grads]
    return _product_of_joined(joined, axis, node, sweep) or sweep.joined(joined, axis, node)


def joined_products(node: Node, sweep: _Sweep) -> Value | None:
    """[MatMul(x', y1), MatMul(x', y2)] -> MatMul(x', [y1, y2])"""
    if node.definition is not concat_v2_op or node.inputs[-1].constant is None:
        return None
    axis = int(node.inputs[-1].constant)
    return _product_of_joined(list(node.inputs[:-1]), axis % (node.outputs[0].shape.ndims or 1), node, sweep)


def joined_sums(node: Node, sweep: _Sweep) -> Value | None:
    """[BiasAddGrad(y1), BiasAddGrad(y2)] -> BiasAddGrad([y1, y2])"""
    if node.definition is not concat_v2_op or node.outputs[0].shape.ndims != 1:
        return None
    sums = [value.op for value in node.inputs[:-1]]
    if any(s.definition is not bias_add_grad_op or s.inputs[0].shape.ndims != 2 for s in sums):
        return None
    if any(not sweep.only_use(s.outputs[0]) or s.attrs["data_format"] != "NHWC" for s in sums):
        return None
    joined = sweep.joined([s.inputs[0] for s in sums], 1, node)
    return sweep.make(bias_add_grad_op, [joined], dict(sums[0].attrs), node).outputs[0]


def added_product(node: Node, sweep: _Sweep) -> Value | None:
    """s + MatMul(x', y) -> AddMatMul(s, x', y)"""
    if node.definition.sums_inputs != 2 or len(node.inputs) != 2:
        return None
    total, product = node.inputs
    made = product.op
    if made not in sweep.made or made.definition is not matmul_op or not made.attrs["transpose_a"]:
        return None
    if total not in sweep._loop.body.feeds or total.shape.tuple != product.shape.tuple:
        return None
    attrs = {key: made.attrs[key] for key in ("T", "transpose_a", "transpose_b")}
    return sweep.make(add_matmul_op, [total, *made.inputs], attrs, node).outputs[0]


def _product_of_joined(values: list[Value], axis: int, node: Node, sweep: _Sweep) -> Value | None:
    products = [value.op for value in values]
    if axis != 1 or not all(
        _is_product_of(p, turned_a=True) and sweep.only_use(p.outputs[0]) for p in products
    ):
        return None
    if not _is_same([p.inputs[0] for p in products]):
        return None
    right = sweep.joined([p.inputs[1] for p in products], 1, node)
    return sweep.make(matmul_op, [products[0].inputs[0], right], dict(products[0].attrs), node).outputs[0]


_LAWS = (products_of_parts, sum_of_products, sum_of_parts, joined_products, joined_sums, added_product)


# -------------------------------------------------------------------------------- parts


def part_of(value: Value) -> Part | None:
    """Which part of a whole a value is; None of one that is none."""
    node = value.op
    if node.definition is split_op and node.inputs[0].constant is not None:
        whole, count = node.inputs[1], node.attrs["num_split"]
        if not whole.shape.is_fully_defined():
            return None
        axis = int(node.inputs[0].constant) % len(_sizes(whole))
        size = _sizes(whole)[axis] // count
        return Part(whole, axis, value.value_index * size, (value.value_index + 1) * size)
    if node.definition is strided_slice_op and node.inputs[0].shape.is_fully_defined():
        found = _range_of(node, _sizes(node.inputs[0]), node.inputs[1:4])
        return None if found is None else Part(node.inputs[0], *found)
    return None


def _range_of(node: Node, sizes: list[int], ends: Sequence[Value]) -> tuple[int, int, int] | None:
    """The axis along which a slice cuts, where it begins and where it ends there."""
    if any(end.constant is None for end in ends) or any(
        node.attrs[f"{mask}_mask"] for mask in ("ellipsis", "new_axis", "shrink_axis")
    ):
        return None
    begins, limits, steps = (end.constant.tolist() for end in ends)
    cuts = []
    for axis, size in enumerate(sizes[: len(begins)]):
        begin = None if node.attrs["begin_mask"] >> axis & 1 else begins[axis]
        limit = None if node.attrs["end_mask"] >> axis & 1 else limits[axis]
        start, stop, step = slice(begin, limit, steps[axis]).indices(size)
        if step != 1 or stop <= start:
            return None
        if (start, stop) != (0, size):
            cuts.append((axis, start, stop))
    return cuts[0] if len(cuts) == 1 else None


def _covers(ranges: Sequence[tuple[int, int, int]], sizes: list[int]) -> bool:
    """Whether ranges, one after the other along one axis, are all of it."""
    axis, begins, ends = ranges[0][0], [r[1] for r in ranges], [r[2] for r in ranges]
    return all(r[0] == axis for r in ranges) and begins == [0, *ends[:-1]] and ends[-1] == sizes[axis]


def _whole_of(parts: Sequence[Part | None], axis: int) -> Value | None:
    """The value of which parts, in their order, are all; None where they are not."""
    found = [part for part in parts if part is not None]
    if len(found) != len(parts) or not _is_same([part.whole for part in found]):
        return None
    sizes = _sizes(found[0].whole)
    if found[0].axis != axis % len(sizes) or not _covers([part[1:] for part in found], sizes):
        return None
    return found[0].whole


def _whole_shape(parts: Sequence[Value], axis: int) -> TensorShape:
    sizes = _sizes(parts[0])
    sizes[axis] = sum(_sizes(part)[axis] for part in parts)
    return TensorShape(sizes)


def _sizes(value: Value) -> list[int]:
    """The sizes of a value all of whose sizes are known."""
    return [size for size in value.shape.as_list() if size is not None]


def _in_order(nodes: list[Node], parts: dict[Node, Part | None]) -> list[Node]:
    return sorted(nodes, key=lambda node: part.begin if (part := parts[node]) else -1)


def _is_same(values: Sequence[Value]) -> bool:
    return all(value is values[0] for value in values)


# -------------------------------------------------------------------------------- where they hold


def _is_plain(node: Node, loop: Loop) -> bool:
    """Whether a node of float32 numbers runs on the CPU in every iteration."""
    return (
        node.device in (None, CPU)
        and node.guards <= {*loop.guards, (loop.pred, True)}
        and len(node.outputs) == 1
        and node.outputs[0].dtype is dtypes.float32
        and node.outputs[0].shape.is_fully_defined()
        and math.prod(_sizes(node.outputs[0])) > 0
    )


def _is_product_of(node: Node, turned_a: bool = False, turned_b: bool = False) -> bool:
    is_product = node.definition is matmul_op and node.outputs[0].shape.is_fully_defined()
    return is_product and (node.attrs["transpose_a"], node.attrs["transpose_b"]) == (turned_a, turned_b)


def _gates(loop: Loop) -> dict[Node, list[Node]]:
    """Products of one matrix with parts of another, each with all of its group, in the order of the parts."""
    groups: dict[tuple[object, ...], list[Node]] = defaultdict(list)
    parts: dict[Node, Part | None] = {}
    for node in loop.body.nodes:
        if node.definition in _PRODUCTS and _is_plain(node, loop):
            part = parts[node] = part_of(node.inputs[-1])
            if part is not None:
                groups[node.definition, node.inputs[-2], part.whole, node.guards].append(node)
    found: dict[Node, list[Node]] = {}
    for group in groups.values():
        ordered = _in_order(group, parts)
        whole = _whole_of([parts[node] for node in ordered], 1)
        sizes = {node.outputs[0].shape.tuple for node in group}
        if len(group) > 1 and whole is not None and len(sizes) == 1:
            found |= {node: ordered for node in ordered}
    return found
