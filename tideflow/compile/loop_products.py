"""Products in the loops of a step: what is the same in every iteration is done once, before the loop; what an
iteration need not know yet is done for several of them at once. Recurrent networks and their gradients are
such loops.

Each function's docstring is its law, as of a rewrite rule. The laws hold on CPUs, within rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from tideflow.compile.ir import Loop, Node, Program, Value, make_node
from tideflow.compile.loop_stacks import reads_before_loops, values_off_stacks
from tideflow.compile.loop_values import sums
from tideflow.compile.prune import given
from tideflow.compile.rules_math import add_matmul_op
from tideflow.compile.side_by_side import side_by_side
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.constants import const_op
from tideflow.ops.arrays.joining import split_op, split_v_op
from tideflow.ops.arrays.slicing import slice_op, strided_slice_op
from tideflow.ops.helpers import cpu_products
from tideflow.ops.linalg.matmul import matmul_op
from tideflow.runtime.devices import CPU
from tideflow.runtime.loop_products import ROWS, LoopWeights, ProductSum, UseCount

_TESTS = "tests/compile/test_loop_products.py"
_VIEWS = (slice_op, strided_slice_op, split_op, split_v_op)

# -------------------------------------------------------------------------------- op types of plans

product_sum_op = Op("_ProductSum", "initial: T -> sum: variant", differentiable=False)
product_sum_op.shape(lambda initial: [])
product_sum_op.kernel(lambda initial: ProductSum(initial, cpu_products.product(True, False)))
product_sum_op.samples(covered_by=_TESTS)

add_product_op = Op("_AddProduct", "sum: variant, a: T, b: T -> same: variant", differentiable=False)
add_product_op.shape(lambda sum, a, b: [])
add_product_op.kernel(lambda sum, a, b: sum.add(a, b))
add_product_op.samples(covered_by=_TESTS)

total_op = Op("_Total", "sum: variant -> total: T", differentiable=False)
total_op.shape(lambda sum: None)
total_op.kernel(lambda sum: sum.total())
total_op.samples(covered_by=_TESTS)

loop_weights_op = Op(
    "_LoopWeights",
    "weights: T -> prepared: variant",
    rows=1,
    transpose_b=False,
    count=attr("string"),
    differentiable=False,
)
loop_weights_op.shape(lambda weights: [])


@loop_weights_op.kernel
def _loop_weights_kernel(
    weights: torch.Tensor, *, rows: int, transpose_b: bool, count: UseCount
) -> LoopWeights:
    return LoopWeights(weights.t() if transpose_b else weights, rows, count)


loop_weights_op.samples(covered_by=_TESTS)

loop_product_op = Op(
    "_LoopProduct",
    "weights: variant, a: T, addend: N * T -> product: T",
    N=attr("int", 0),
    differentiable=False,
)
loop_product_op.shape(lambda weights, a, addend: None)
loop_product_op.kernel(lambda weights, a, addend: weights.times(a, addend[0] if addend else None))
loop_product_op.samples(covered_by=_TESTS)


# -------------------------------------------------------------------------------- the laws

LAWS = (
    "reads_before_loops",
    "views_before_loops",
    "values_off_stacks",
    "side_by_side",
    "weights_packed_once",
    "postpone_products",
)


def once_before_loops(program: Program, disabled: frozenset[str] = frozenset()) -> list[str]:
    """Applies the laws to all loops of a program; returns the names of those that changed something."""
    loops = [node for node in program.nodes if isinstance(node, Loop)]
    if not loops:
        return []
    applied = [name for loop in loops for name in once_before_loops(loop.body, disabled)]
    outside = constants_before_loops, views_before_loops
    applied += _before_each(program, (reads_before_loops, *outside), disabled)
    if values_off_stacks.__name__ not in disabled:
        applied += [values_off_stacks.__name__] * values_off_stacks(program)
    if side_by_side.__name__ not in disabled:
        applied += [side_by_side.__name__ for loop in loops for _ in range(side_by_side(loop))]
    applied += _before_each(program, (*outside, weights_packed_once), disabled)
    if postpone_products.__name__ not in disabled:
        applied += _with_postponed_products(program)
    return applied


def _before_each(
    program: Program, laws: Sequence[Callable[[Loop, list[Node]], int]], disabled: frozenset[str]
) -> list[str]:
    """Applies laws that put nodes before the loops of a program."""
    applied: list[str] = []
    nodes: list[Node] = []
    for node in program.nodes:
        if isinstance(node, Loop):
            for law in laws:
                if law.__name__ not in disabled:
                    applied += [law.__name__] * law(node, nodes)
        nodes.append(node)
    program.nodes = nodes
    return [name for name in applied if name in LAWS]


def _with_postponed_products(program: Program) -> list[str]:
    nodes: list[Node] = []
    replaced: dict[Value, Value] = {}
    count = 0
    for node in program.nodes:
        node.replace_values(replaced)
        after = postpone_products(node, nodes, replaced) if isinstance(node, Loop) else []
        nodes += [node, *after]
        count += len(after)
    program.nodes = nodes
    program.fetches = [replaced.get(value, value) for value in program.fetches]
    return [postpone_products.__name__] * count


def constants_before_loops(loop: Loop, before: list[Node]) -> int:
    """while: c = Const() -> c = Const(); while: c"""
    moved = _taken_out(loop, lambda inner: inner.definition is const_op)
    before += moved
    return len(moved)


def views_before_loops(loop: Loop, before: list[Node]) -> int:
    """while: Split(w) -> w1, w2 = Split(w); while: w1, w2; and so for other views"""
    made = _made_in(loop)

    def is_same_always(node: Node) -> bool:
        if node.definition not in _VIEWS or not _is_plain(node, loop) or not made.isdisjoint(node.inputs):
            return False
        made.difference_update(node.outputs)
        return True

    moved = _taken_out(loop, is_same_always)
    before += moved
    return len(moved)


def weights_packed_once(loop: Loop, before: list[Node]) -> int:
    """while: MatMul(a, w) -> p = LoopWeights(w); while: LoopProduct(p, a)"""
    made, added = _made_in(loop), set(sums(loop, loop.body.uses()).values())
    prepared: dict[tuple[Value, int | None, bool], Value] = {}
    replaced: dict[Value, Value] = {}
    for i, node in enumerate(loop.body.nodes):
        node.replace_values(replaced)
        if node in added or not _is_product(node, loop) or node.inputs[-1] in made:
            continue
        *addend, a, weights = node.inputs
        key = weights, a.shape.as_list()[0], node.attrs["transpose_b"]
        if key not in prepared:
            attrs = {"T": a.dtype, "rows": key[1], "transpose_b": key[2], "count": UseCount()}
            preparing = make_node(loop_weights_op, [weights], attrs, node)
            preparing.guards = loop.guards
            before.append(preparing)
            prepared[key] = preparing.outputs[0]
        attrs = {"T": a.dtype, "N": len(addend)}
        product = loop.body.nodes[i] = make_node(loop_product_op, [prepared[key], a, *addend], attrs, node)
        product.outputs[0].shape = node.outputs[0].shape
        replaced[node.outputs[0]] = product.outputs[0]
    loop.body.fetches = [replaced.get(value, value) for value in loop.body.fetches]
    return len(replaced)


def postpone_products(loop: Loop, before: list[Node], replaced: dict[Value, Value]) -> list[Node]:
    """while: s = AddMatMul(s, a, b) -> s = ProductSum(s); while: AddProduct(s, a, b); Total(s)

    Returns the totals, which come after the loop in the place of its outputs.
    """
    totals = []
    for variable, node in sums(loop, loop.body.uses()).items():
        if not _can_be_postponed(variable, node):
            continue
        place = loop.body.feeds.index(variable)
        initial = make_node(product_sum_op, [loop.inputs[place]], {"T": variable.dtype}, loop)
        held = given(variable.op.name, dtypes.variant, TensorShape([]), variable.op.source)
        initial.device = held.op.device = CPU
        added = make_node(add_product_op, [held, *node.inputs[1:]], {"T": variable.dtype}, node)
        output = Value(loop, place, dtypes.variant, TensorShape([]))
        total = make_node(total_op, [output], {"T": variable.dtype}, node)
        total.guards, total.outputs[0].shape = loop.guards, variable.shape
        replaced[loop.outputs[place]] = total.outputs[0]
        loop.inputs[place], loop.body.feeds[place] = initial.outputs[0], held
        loop.body.fetches[place + 1], loop.outputs[place] = added.outputs[0], output
        loop.body.nodes[loop.body.nodes.index(node)] = added
        types = [value.dtype.base_dtype for value in loop.body.feeds]
        loop.attrs = {**loop.attrs, "Tin": types, "Tout": types}
        before.append(initial)
        totals.append(total)
    return totals


# -------------------------------------------------------------------------------- where they hold


def _can_be_postponed(variable: Value, node: Node) -> bool:
    """Whether a sum has products of few rows added to it: those of several iterations are one product."""
    if node.definition is not add_matmul_op or not node.attrs["transpose_a"] or node.attrs["transpose_b"]:
        return False
    a, b = node.inputs[1:]
    if node.device not in (None, CPU) or a.dtype is not dtypes.float32 or variable in (a, b):
        return False
    rows = a.shape.as_list()[0] if a.shape.is_fully_defined() and b.shape.is_fully_defined() else None
    return rows is not None and 0 < 2 * rows <= ROWS


def _is_product(node: Node, loop: Loop) -> bool:
    """Whether a node is a product by oneDNN, of weights that may be laid out differently."""
    if node.definition not in (matmul_op, add_matmul_op) or node.attrs["transpose_a"]:
        return False
    return _is_plain(node, loop) and cpu_products.laid_out_for_onednn(node)


def _is_plain(node: Node, loop: Loop) -> bool:
    """Whether a node of float32 numbers runs on the CPU in every iteration."""
    return (
        node.device in (None, CPU)
        and node.guards <= {*loop.guards, (loop.pred, True)}
        and all(value.dtype is dtypes.float32 for value in node.outputs)
        and all(value.shape.is_fully_defined() for value in (*node.inputs, *node.outputs))
    )


def _made_in(loop: Loop) -> set[Value]:
    """The values that are of an iteration."""
    return {value for node in loop.body.nodes for value in node.outputs}.union(loop.body.feeds)


def _taken_out(loop: Loop, is_meant: Callable[[Node], bool]) -> list[Node]:
    """Takes nodes out of the loop's body, and returns them as nodes that run where the loop does."""
    taken = [node for node in loop.body.nodes if is_meant(node)]
    for node in taken:
        node.guards = loop.guards
    gone = set(taken)
    loop.body.nodes = [node for node in loop.body.nodes if node not in gone]
    return taken
