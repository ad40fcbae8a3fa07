"""Stretches of a program that only compute: what the hot tier can make one function of.

A stretch has nodes of one device that run under the same conditions. Nodes with effects, with sizes that are
only known when the step runs, or with values that the host must see, stand between the stretches.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

import torch

from tideflow.compile.ir import Guards, Loop, Node, Program, Value, states
from tideflow.compile.kernels import OF_A_RUN, kernel_for, specialized
from tideflow.compile.loop_values import sums
from tideflow.compile.prune import given
from tideflow.compile.rules_math import add_matmul_op
from tideflow.compile.rules_nn import conv2d_bias_op
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers import cpu_products
from tideflow.ops.linalg.matmul import matmul_op
from tideflow.ops.nn.convolution import conv2d_backprop_filter_op, conv2d_backprop_input_op, conv2d_op
from tideflow.ops.nn.pixel_convolution import PIXEL_PRODUCTS

_SHORTEST = 4  # nodes: a shorter stretch is not worth compiling
_CONVOLUTIONS = (conv2d_op, conv2d_bias_op, conv2d_backprop_input_op, conv2d_backprop_filter_op)
_WORTH_A_PLAN = 12  # nodes: without so many in a stretch, or a loop, a plan is not worth it at all

compiled_op = Op(
    "_Compiled",
    "inputs: Tin -> outputs: Tout",
    Tin=attr("list(type)"),
    Tout=attr("list(type)"),
    function=attr("string"),
    differentiable=False,
)
compiled_op.shape(lambda inputs, *, Tout: [None] * len(Tout))
compiled_op.kernel(lambda inputs, *, function: function(*inputs))
compiled_op.specialize(lambda node: (node.attrs["function"], node.inputs))
compiled_op.samples(covered_by="tests/control_flow/test_hot.py")


@dataclass(frozen=True, eq=False)
class Stretch:
    """Nodes of one device that only compute, and all run under the same conditions."""

    nodes: list[Node]
    results: list[Value]  # that other nodes want

    @property
    def device(self) -> torch.device:
        device: torch.device = self.nodes[0].device
        return device

    @property
    def guards(self) -> Guards:
        return self.nodes[0].guards

    @functools.cached_property
    def taken(self) -> list[Value]:
        """The values that the nodes take, but for those that are written into the compiled function: what
        the host must know, and single numbers.
        """
        made = {value for node in self.nodes for value in node.outputs}
        values = dict.fromkeys(v for node in self.nodes for v in node.inputs if v not in made)
        hosted = {value for node in self.nodes for value in node.host_inputs}
        return [value for value in values if value not in hosted and not _is_single_number(value)]

    def program(self) -> Program:
        """The stretch as a program of its own, which is given all that it takes on its device."""
        feeds, nodes = given_on(self.device, self.taken, self.nodes)
        numbers = dict.fromkeys(v.op for node in nodes for v in node.inputs if _is_single_number(v))
        return Program(feeds, [*numbers, *nodes], self.results, fetch_to=self.device)

    def compiled_node(self, function: Any) -> Node:
        """The node that takes their place."""
        node = calling(compiled_op, function, self.taken, self.results, self.nodes[-1], "compiled")
        node.guards = self.guards
        return node


def calling(op: Op, function: Any, taken: list[Value], results: list[Value], last: Node, suffix: str) -> Node:
    """A node that calls a function in the place of several nodes, of which it has the last one's device."""
    attrs = {
        "Tin": [value.dtype.base_dtype for value in taken],
        "Tout": [value.dtype.base_dtype for value in results],
        "function": function,
    }
    node = Node(op, f"{last.name}/{suffix}", taken, attrs, last.source)
    node.device, node.outputs = last.device, results
    return node


def given_on(
    device: torch.device, taken: Iterable[Value], nodes: Iterable[Node]
) -> tuple[list[Value], list[Node]]:
    """Copies of the nodes, and the values that these are given on the device, wherever they come from."""
    feeds = {}
    for value in taken:
        feeds[value] = given(value.op.name, value.dtype, value.shape, value.op.source)
        feeds[value].op.device = device
    copies = [copy.copy(node) for node in nodes]
    for node in copies:
        node.replace_values(feeds)
    return list(feeds.values()), copies


def depends_on_data(shape: TensorShape) -> bool:
    """Whether sizes are known only when the step runs, as of Where and Unique. Values of which the graph says
    nothing at all are scratch space, as of FusedBatchNorm.
    """
    return shape.ndims is not None and not shape.is_fully_defined()


def _is_single_number(value: Value) -> bool:
    return value.constant is not None and value.constant.size == 1


def with_compiled_stretches(
    program: Program,
    function_of: Callable[[Stretch], Any],
    left_alone: Set[Op],
    loop: Loop | None = None,
) -> Program:
    """The program, or the body of a loop, with a compiled function in the place of each stretch. Ops that
    are `left_alone` are in none of them.
    """
    added = frozenset() if loop is None else _added_in_place(loop)
    nodes = []
    for part in _scheduled(program, lambda node: node in added or _is_apart(node, left_alone)):
        if isinstance(part, Stretch):
            part = part.compiled_node(function_of(part))
        elif isinstance(part, Loop):
            part = copy.copy(part)
            part.body = with_compiled_stretches(part.body, function_of, left_alone, part)
        nodes.append(part)
    return dataclasses.replace(program, nodes=nodes)


def stretches_of(program: Program, left_alone: Set[Op]) -> list[Stretch]:
    """The stretches of a program, and of its loops."""
    found: list[Stretch] = []
    with_compiled_stretches(program, found.append, left_alone)
    return found


def is_worth_compiling(program: Program) -> bool:
    """Whether a loop of the program has a stretch, or the program itself a long one."""
    fewest = _SHORTEST if program.is_body else _WORTH_A_PLAN
    if len(program.nodes) < fewest and not any(isinstance(node, Loop) for node in program.nodes):
        return False
    return any(
        (isinstance(part, Stretch) and len(part.nodes) >= fewest)
        or (isinstance(part, Loop) and is_worth_compiling(part.body))
        for part in _scheduled(program)
    )


def _is_apart(node: Node, left_alone: Set[Op]) -> bool:
    """Whether a node stays on its kernel: Inductor has no product as quick as oneDNN's."""
    op = node.definition
    if op in (matmul_op, add_matmul_op):
        return op in left_alone or cpu_products.is_by_onednn(node)
    if op in _CONVOLUTIONS:
        chosen = specialized(node)
        return op in left_alone or chosen is not None and chosen[0] in PIXEL_PRODUCTS
    return op in left_alone


def _added_in_place(loop: Loop) -> frozenset[Node]:
    """Products that the loop adds to a sum: their kernel adds in place, which no compiled function does."""
    added = sums(loop, loop.body.uses()).values()
    return frozenset(node for node in added if node.definition is add_matmul_op)


def _scheduled(
    program: Program, is_apart: Callable[[Node], bool] = lambda node: False
) -> list[Node | Stretch]:
    """The program's nodes, those that compute in stretches as long as possible, but for those apart. Other
    nodes run as soon as they can.
    """
    made = {value for node in program.nodes for value in node.outputs}
    there: set[Value] = set()
    computing = [node for node in program.nodes if _computes(node) and not is_apart(node)]
    inside = set(computing)
    others = [node for node in program.nodes if node not in inside]
    parts: list[Node | Stretch] = []

    def is_ready(node: Node) -> bool:
        return all(value in there or value not in made for value in node.dependencies)

    while others or computing:
        before = len(others) + len(computing)
        ready, others = _next_others(others, is_ready, there)
        parts += ready
        group, computing = _next_group(computing, is_ready, there)
        parts += _as_parts(group, program)
        assert len(others) + len(computing) < before, "every node follows what it needs"
    return parts


def _next_others(
    others: Sequence[Node], is_ready: Callable[[Node], bool], there: set[Value]
) -> tuple[list[Node], list[Node]]:
    """The nodes that can run next; and those left. Nodes with effects keep their order, but for those that
    only use variables: these may overtake what uses other variables.
    """
    ready: list[Node] = []
    left: list[Node] = []
    waiting: set[tuple[str, str]] = set()  # variables of the nodes left
    is_barred = False  # by a node left that does more than use variables
    for node in others:
        has_effects = node.effects and not node.definition.handle
        used = states(node.inputs) if has_effects else set()
        is_next = not (is_barred if _only_uses_variables(node) else waiting or is_barred)
        if is_ready(node) and (not has_effects or is_next and waiting.isdisjoint(used)):
            ready.append(node)
            there.update(node.outputs)
        else:
            left.append(node)
            waiting |= used
            is_barred |= has_effects and not _only_uses_variables(node)
    return ready, left


def _only_uses_variables(node: Node) -> bool:
    op = node.definition
    if isinstance(node, Loop) or op.blocking or op.touches or not states(node.inputs):
        return False
    return OF_A_RUN.isdisjoint(op.wants(kernel_for(node)))


def _next_group(
    computing: Sequence[Node], is_ready: Callable[[Node], bool], there: set[Value]
) -> tuple[list[Node], list[Node]]:
    """The nodes that can run next, with the device and conditions of the first of them; and those left."""
    group: list[Node] = []
    left: list[Node] = []
    for node in computing:
        fits = not group or (node.device == group[0].device and node.guards == group[0].guards)
        if fits and is_ready(node):
            group.append(node)
            there.update(node.outputs)
        else:
            left.append(node)
    return group, left


def _as_parts(group: list[Node], program: Program) -> list[Node | Stretch]:
    if len(group) < _SHORTEST:
        return list(group)
    inside = set(group)
    wanted = {v for node in program.nodes if node not in inside for v in node.dependencies}
    wanted.update(program.fetches)
    results = [value for node in group for value in node.outputs if value in wanted]
    stretch = Stretch(group, results)
    if any(value.shape.ndims is None for value in stretch.taken):
        return list(group)  # scratch space of a node outside, of which nobody knows the size
    return [stretch] if results else []


def _computes(node: Node) -> bool:
    """Whether a node is arithmetic on tensors of known sizes on one device, and nothing else."""
    op = node.definition
    if node.effects or node.choices or isinstance(node, Loop) or op.role == "constant" or not node.inputs:
        return False
    if op.handle or op.blocking or op.touches or op is compiled_op or node.device is None:
        return False
    values = (*node.inputs, *node.outputs)
    if any(v.dtype.torch is None or depends_on_data(v.shape) for v in values):
        return False
    if any(value.device != node.device and value.constant is None for value in values):
        return False
    if all(not v.dtype.is_floating and v.shape.tuple == () for v in node.outputs):
        return False  # a counter, a condition or a size, which the host wants to know
    if any(value.constant is None for value in node.host_inputs):
        return False
    return OF_A_RUN.isdisjoint(op.wants(kernel_for(node)))
