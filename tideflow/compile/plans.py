"""Functions of a graph's library as things to call: what datasets make of their elements, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tideflow.compile.compiler import compile_step
from tideflow.compile.emit import Plan
from tideflow.compile.failures import fail
from tideflow.compile.ir import Node
from tideflow.graph import functions
from tideflow.graph.functions import FunctionBody, outermost
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow.calls import named
from tideflow.ops.files.parsing import parse_single_example_op, row_parser
from tideflow.runtime.dataset_rows import RowFunction
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import FUNCTION_PLAN, ResourceManager


def planned(
    node: Node, key: str, captured: Sequence[Any], resources: ResourceManager
) -> Callable[..., tuple]:
    """The function that an attribute of a node names, called on values; `captured` are its last ones."""
    name, attrs = named(node.attrs[key])
    body = functions.body_of(outermost(node.source.graph), name, attrs)
    plan = partial(_plan, body, name, attrs, resources)
    whole = _called(plan(body.inputs), captured)
    elements = body.inputs[: len(body.inputs) - len(captured)]
    for op in body.graph.get_operations():
        if op.definition is parse_single_example_op and op.inputs[0] in elements:
            parse = row_parser(op)
            if parse is not None:
                return _by_rows(whole, body, op, parse, plan, captured)
    return whole


def _called(plan: Plan, captured: Sequence[Any]) -> Callable[..., tuple]:
    given = tuple(captured)

    def call(*values: Any) -> tuple:
        try:
            return plan.function(*values, *given)
        except Exception as error:
            fail(error, plan)

    return call


def _by_rows(
    whole: Callable,
    body: FunctionBody,
    op: Operation,
    parse: Callable,
    plan: Callable[[list[Tensor]], Plan],
    captured: Sequence[Any],
) -> RowFunction:
    """A function that parses messages, as one that can be called on many at once: parsing many together is
    many times faster than one by one.
    """
    position = body.inputs.index(op.inputs[0])

    def first(*rows: Any) -> list[Any]:
        return parse(rows[position])

    if not body.targets and all(tensor.op is op for tensor in body.outputs):
        return RowFunction(whole, first, None, tuple([tensor.value_index for tensor in body.outputs]))
    taken = len(body.inputs) - len(captured)
    rest = plan([*body.inputs[:taken], *op.outputs, *body.inputs[taken:]])
    return RowFunction(whole, first, _called(rest, captured))


def _plan(
    body: FunctionBody, name: str, attrs: dict[str, Any], resources: ResourceManager, feeds: Sequence[Tensor]
) -> Plan:
    """The plan of a function, or of what is left of it when more than its inputs is given; made once."""
    beyond = [tensor.name for tensor in feeds if tensor not in body.inputs]
    key = "", FUNCTION_PLAN, f"{name}{attrs or ''}{beyond or ''}"
    plan = resources.find(*key)
    if plan is None:  # made outside of the lock: its operations look for state of their own
        placement = Placement(local_devices(ONE_CPU), soft=True)
        shapes = [None] * len(feeds)
        made = compile_step(
            body.outputs, body.targets, feeds, shapes, resources, placement, prefix=f"{name}/"
        )
        plan = resources.get_or_create(*key, lambda: made)
    return plan
