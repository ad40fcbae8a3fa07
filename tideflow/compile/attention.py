"""Attention as programs write it out, which becomes one operation, and its gradients another one.

The matrix of scores has an entry for each pair of positions. With a kernel for each operation, a training
step writes and reads it about a dozen times; the fused kernels hold a few rows of it at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tideflow.compile.ir import Loop, Node, Program, Value, make_node
from tideflow.compile.rewrite import constant_node, drop_unused
from tideflow.graph.dtypes import float32
from tideflow.graph.shapes import as_shape
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.nn.attention import attention_grad_op, attention_op, has_kernel

_HIDDEN = -1e4  # a score to which so much is added does not count


def fuse_attention(program: Program) -> int:
    """Softmax(scale * q·kᵀ * visible + mask)·v -> _Attention(q, k, v, mask), and the gradients by q, k and v
    -> _AttentionGrad, where nothing else takes the weights.

    Returns how many there are, those in loops included.
    """
    made = sum(fuse_attention(node.body) for node in program.nodes if isinstance(node, Loop))
    candidates = [node for node in program.nodes if _is_product(node) and _softmax(node) is not None]
    if not candidates:
        return made
    users = _Users(program)
    found = [each for node in candidates if (each := _attention(node, users)) is not None]
    _put_in_place(found, program)
    return made + len(found)


# ---------------------------------------------------------------------------- what is looked at


def _is_product(node: Node, adj_x: bool = False, adj_y: bool = False) -> bool:
    is_batch = node.type in ("BatchMatMul", "BatchMatMulV2")
    return is_batch and (node.attrs["adj_x"], node.attrs["adj_y"]) == (adj_x, adj_y)


def _uncast(value: Value) -> Value:
    """The value before casts between types of floating point, which mixed precision puts everywhere."""
    while value.op.type == "Cast" and value.op.inputs[0].dtype.is_floating:
        value = value.op.inputs[0]
    return value


def _are(values: Sequence[Value], others: Sequence[Value]) -> bool:
    """Whether these are the same values, casts aside."""
    return all(_uncast(value) is _uncast(other) for value, other in zip(values, others, strict=True))


def _softmax(product: Node) -> Node | None:
    node = _uncast(product.inputs[0]).op
    return node if node.type == "Softmax" else None


class _Users:
    """Who takes the values of a program."""

    def __init__(self, program: Program):
        self._users: dict[Value, list[Node]] = {}
        self._fetched = set(program.fetches)
        for node in program.nodes:
            for value in node.dependencies:
                self._users.setdefault(value, []).append(node)

    def of(self, value: Value) -> list[Node] | None:
        """The nodes that take the value, itself or cast; None where it is fetched."""
        if value in self._fetched:
            return None
        found = []
        for user in self._users.get(value, ()):
            is_cast = user.type == "Cast" and user.outputs[0].dtype.is_floating
            through = self.of(user.outputs[0]) if is_cast else [user]
            if through is None:
                return None
            found += through
        return found


def _factor(node: Node) -> tuple[Value, np.ndarray] | None:
    """What the node multiplies, and the constant that it multiplies it with."""
    if node.type == "Mul":
        for value, factor in (node.inputs, node.inputs[::-1]):
            if (constant := _uncast(factor).constant) is not None:
                return value, constant.astype(np.float64)
    if node.type == "RealDiv" and (divisor := _uncast(node.inputs[1]).constant) is not None and divisor.all():
        return node.inputs[0], 1 / divisor.astype(np.float64)
    return None


class _Factors(NamedTuple):
    """Constants by which scores, or their gradients, are multiplied."""

    scale: float
    visible: np.ndarray | None  # ones, and zeros for scores that do not count


def _factors(constants: Sequence[np.ndarray]) -> _Factors | None:
    scale = math.prod(float(each) for each in constants if each.ndim == 0)
    arrays = [each for each in constants if each.ndim]
    if len(arrays) > 1 or not all(np.isin(each, (0, 1)).all() for each in arrays):
        return None
    return _Factors(scale, arrays[0] if arrays else None)


# ---------------------------------------------------------------------------- forward


class _Scores(NamedTuple):
    """What a softmax is taken of: a product times constants, plus or minus a mask."""

    product: Node
    factors: _Factors
    mask: Value | None = None
    is_subtracted: bool = False


class _Mask(NamedTuple):
    """What is added to scores: a value, a constant, or nothing. `causal` hides what follows a position."""

    value: Value | None = None
    constant: np.ndarray | None = None
    causal: bool = False


class _Gradients(NamedTuple):
    """The gradient that an attention is given, and the nodes that compute those by q, k and v."""

    given: Value
    nodes: tuple[Node, Node, Node]


@dataclass(frozen=True)
class _Attention:
    """An attention that was found: its last node, what it takes, and its gradients."""

    node: Node
    inputs: list[Value]
    mask: _Mask
    scale: float
    gradients: _Gradients | None


def _attention(node: Node, users: _Users) -> _Attention | None:
    softmax = _softmax(node)
    scores = _scores(softmax.inputs[0]) if softmax is not None else None
    if softmax is None or scores is None:
        return None
    inputs = [*scores.product.inputs, node.inputs[1]]
    mask = _mask(scores) if _fit(inputs, scores) else None
    if mask is None or not _run_together([node, softmax, scores.product]):
        return None
    query, key, _ = (value.sizes for value in inputs)
    has_mask = mask.value is not None or mask.constant is not None
    if not has_kernel(node.device, node.outputs[0].dtype, query, key, has_mask):
        return None
    taken_by = users.of(softmax.outputs[0])
    if taken_by is None:
        return None
    gradients = None
    if taken_by != [node]:
        gradients = _gradients(node, scores, [user for user in taken_by if user is not node], users)
        if gradients is None:
            return None
    return _Attention(node, inputs, mask, scores.factors.scale, gradients)


def _run_together(nodes: Sequence[Node]) -> bool:
    """Whether the nodes run on one device and under the same conditions."""
    first = nodes[0]
    return all(node.device == first.device and node.guards == first.guards for node in nodes)


def _scores(value: Value) -> _Scores | None:
    value = _uncast(value)
    node = value.op
    if node.type not in ("Add", "AddV2", "Sub"):
        return _scaled(value)
    is_subtracted = node.type == "Sub"
    for scores, mask in [node.inputs] if is_subtracted else (node.inputs, node.inputs[::-1]):
        found = _scaled(scores)
        if found is not None:
            return found._replace(mask=_uncast(mask), is_subtracted=is_subtracted)
    return None


def _scaled(value: Value) -> _Scores | None:
    """Scores without a mask."""
    constants = []
    while not _is_product(node := _uncast(value).op, adj_y=True):
        multiplied = _factor(node)
        if multiplied is None:
            return None
        value, constant = multiplied
        constants.append(constant)
    factors = _factors(constants)
    return None if factors is None else _Scores(node, factors)


def _fit(inputs: Sequence[Value], scores: _Scores) -> bool:
    """Whether queries, keys, values, and what masks them have the shapes and types that the kernels take."""
    if any(not value.shape.is_fully_defined() or 0 in value.sizes for value in inputs):
        return False
    query, key, value = (each.sizes for each in inputs)
    if len(query) not in (3, 4) or key != value or (*query[:-2], query[-1]) != (*key[:-2], key[-1]):
        return False
    if len({each.dtype for each in inputs}) > 1 or not inputs[0].dtype.is_floating:
        return False
    sizes = as_shape([*query[:-1], key[-2]])
    masks = [] if scores.mask is None else [scores.mask.shape]
    if scores.factors.visible is not None:
        masks.append(as_shape(scores.factors.visible.shape))
    return all(mask.is_fully_defined() and broadcast_shapes(mask, sizes) == sizes for mask in masks)


def _mask(scores: _Scores) -> _Mask | None:
    """The mask in a form that a kernel takes; None where there is no such form."""
    visible, mask = scores.factors.visible, scores.mask
    if mask is None:
        return _Mask() if visible is None else None  # a score times zero counts as zero
    if mask.constant is None:
        return _Mask(mask) if visible is None and not scores.is_subtracted else None
    added = -mask.constant if scores.is_subtracted else mask.constant
    hidden = added <= _HIDDEN
    if visible is not None and not (hidden | (visible != 0)).all():
        return None
    positions, keys = scores.product.outputs[0].sizes[-2:]
    is_plain = ((added == 0) | hidden).all() and added.ndim >= 2 and added.shape[-2:] == (positions, keys)
    if is_plain and positions == keys and (hidden == (np.tri(positions) == 0)).all():
        return _Mask(causal=True)
    return _Mask(constant=added) if scores.is_subtracted else _Mask(mask)


# ---------------------------------------------------------------------------- gradients


def _gradients(node: Node, scores: _Scores, others: Sequence[Node], users: _Users) -> _Gradients | None:
    """The gradients of an attention, whose weights are taken by these other nodes. TensorFlow writes them
    W·gradᵀ for the values, and (D - Sum(D * W)) * W for the scores, where D = grad·vᵀ.
    """
    by_value = next((user for user in others if _is_product(user, adj_x=True)), None)
    products = [user for user in others if user.type == "Mul"]
    if by_value is None or len(products) != 2 or len(others) != 3:
        return None
    given = by_value.inputs[1]
    for weighted, last in (products, products[::-1]):
        product = _gradient_of_weights(weighted, last)
        if product is not None and _are(product.inputs, [given, node.inputs[1]]):
            by_inputs = _after_scores(last, scores, users)
            nodes = None if by_inputs is None else (*by_inputs, by_value)
            if nodes is None or not _run_together([node, weighted, last, product, *nodes]):
                continue
            # What is fetched stays in 32 bits where the rest computes in 16.
            if len({each.outputs[0].dtype for each in (node, *nodes)}) == 1:
                return _Gradients(given, nodes)
    return None


def _gradient_of_weights(weighted: Node, last: Node) -> Node | None:
    """D, where `weighted` is D * W and `last` is (D - Sum(D * W)) * W."""
    for difference in map(_uncast, last.inputs):
        if difference.op.type != "Sub":
            continue
        product, total = map(_uncast, difference.op.inputs)
        if (
            total.op.type != "Sum"
            or not total.op.attrs["keep_dims"]
            or not _is_product(product.op, adj_y=True)
        ):
            continue
        axes = total.op.inputs[1].constant
        is_last = axes is not None and axes.ravel().tolist() in ([-1], [len(product.sizes) - 1])
        is_weighted = _are([total.op.inputs[0]], weighted.outputs)
        if is_last and is_weighted and product in map(_uncast, weighted.inputs):
            return product.op
    return None


def _after_scores(node: Node, scores: _Scores, users: _Users) -> tuple[Node, Node] | None:
    """The gradients by queries and keys that follow from the one of what the softmax is taken of."""
    query, key = scores.product.inputs
    constants = []
    while True:
        found = users.of(node.outputs[0]) or []
        if len(found) != 1 or (multiplied := _factor(found[0])) is None:
            break
        node = found[0]
        constants.append(multiplied[1])
    factors = _factors(constants)
    if factors is None or not _same_factors(factors, scores.factors):
        return None
    if len(found) != 2 or not all(_are(user.inputs[:1], node.outputs) for user in found):
        return None
    by_query = next((user for user in found if _is_product(user) and _are(user.inputs[1:], [key])), None)
    by_key = next(
        (user for user in found if _is_product(user, adj_x=True) and _are(user.inputs[1:], [query])), None
    )
    return None if by_query is None or by_key is None else (by_query, by_key)


def _same_factors(one: _Factors, other: _Factors) -> bool:
    if (one.visible is None) != (other.visible is None) or not math.isclose(
        one.scale, other.scale, rel_tol=1e-2
    ):
        return False
    return one.visible is None or other.visible is None or np.array_equal(one.visible, other.visible)


# ---------------------------------------------------------------------------- in their place


def _put_in_place(found: Sequence[_Attention], program: Program) -> None:
    order = {node: index for index, node in enumerate(program.nodes)}
    before: dict[Node, list[Node]] = {}
    replaced: dict[Value, Value] = {}
    for attention in found:
        forward, backward = _made(attention, order)
        before[attention.node] = forward
        replaced[attention.node.outputs[0]] = forward[-1].outputs[0]
        if attention.gradients is not None and backward is not None:
            before[min(attention.gradients.nodes, key=order.__getitem__)] = [backward]
            replaced.update(
                (node.outputs[0], value)
                for node, value in zip(attention.gradients.nodes, backward.outputs, strict=True)
            )
    nodes = []
    for node in program.nodes:
        for each in (*before.get(node, ()), node):
            each.replace_values(replaced)
            nodes.append(each)
    program.nodes = nodes
    program.fetches = [replaced.get(value, value) for value in program.fetches]
    drop_unused(program)


def _made(attention: _Attention, order: dict[Node, int]) -> tuple[list[Node], Node | None]:
    """The nodes that take the place of an attention, a constant mask among them, and of its gradients."""
    like, mask = attention.node, attention.mask
    forward = [] if mask.constant is None else [constant_node(mask.constant, like)]
    masks = forward[0].outputs if forward else [] if mask.value is None else [mask.value]
    dtype = like.outputs[0].dtype
    attrs = {
        "scale": attention.scale,
        "causal": mask.causal,
        "T": dtype,
        "Tmask": [value.dtype for value in masks],
        "Tsum": dtype if dtype.size == 8 else float32,
    }
    forward.append(make_node(attention_op, [*attention.inputs, *masks], attrs, like))
    if attention.gradients is None:
        return forward, None
    first = min(attention.gradients.nodes, key=order.__getitem__)
    taken = [attention.gradients.given, *attention.inputs, *forward[-1].outputs, *masks]
    return forward, make_node(attention_grad_op, taken, attrs, first)
