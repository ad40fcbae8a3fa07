"""Functions of a graph's library as callables: what datasets call on each of their elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from tideflow.compile.failures import fail
from tideflow.compile.ir import Node
from tideflow.compile.plan import LocalPlan
from tideflow.compile.request import StepRequest
from tideflow.graph import functions
from tideflow.graph.functions import FunctionBody, outermost
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow.calls import named
from tideflow.ops.files.parsing import parse_single_example_op, row_parser
from tideflow.runtime.dataset_rows import RowFunction
from tideflow.runtime.datasets import Element, Function
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import FUNCTION_PLAN, ResourceManager
from tideflow.runtime.waiting import StepContext


class Compile(Protocol):
    """`compile_step`, which is handed in: it calls this module, not the other way round."""

    def __call__(
        self,
        request: StepRequest,
        resources: ResourceManager,
        placement: Placement,
        replace: Callable[[LocalPlan], None] | None = None,
    ) -> LocalPlan: ...


class _Holder:
    """Keeps the plan of a function; the hot tier may replace it."""

    def __init__(self, compile_with: Callable[[Callable[[LocalPlan], None]], LocalPlan]):
        self.plan = compile_with(self._replace)

    def _replace(self, plan: LocalPlan) -> None:
        self.plan = plan


def planned(
    compile_step: Compile, node: Node, key: str, captured: Sequence[Any], resources: ResourceManager
) -> Function:
    """The function that an attribute of a node names. It is called on a context and values; `captured` are
    its last arguments.
    """
    assert node.source is not None, "only operations of a graph name functions"
    name, attrs = named(node.attrs[key])
    body = functions.body_of(outermost(node.source.graph), name, attrs)
    plan = partial(_plan, compile_step, body, name, attrs, resources)
    whole = _called(plan(body.inputs), captured)
    elements = body.inputs[: len(body.inputs) - len(captured)]
    for op in body.graph.get_operations():
        if op.definition is parse_single_example_op and op.inputs[0] in elements:
            parse = row_parser(op)
            if parse is not None:
                return _by_rows(whole, body, op, parse, plan, captured)
    return whole


def _called(holder: _Holder, captured: Sequence[Any]) -> Function:
    given = tuple(captured)

    def call(context: StepContext, *values: Any) -> Element:
        plan = holder.plan
        try:
            results: Element = plan.run(context, (*values, *given))
            return results
        except Exception as error:
            fail(error, plan)

    return call


def _by_rows(
    whole: Function,
    body: FunctionBody,
    op: Operation,
    parse: Callable[[Any], Sequence[Any]],
    plan: Callable[[list[Tensor]], _Holder],
    captured: Sequence[Any],
) -> RowFunction:
    """A function that parses messages, as one that can be called on many at once: parsing many together is
    many times faster than one by one.
    """
    position = body.inputs.index(op.inputs[0])

    def first(*rows: Any) -> Element:
        return tuple(parse(rows[position]))

    if not body.targets and all(tensor.op is op for tensor in body.outputs):
        return RowFunction(whole, first, None, tuple([tensor.value_index for tensor in body.outputs]))
    taken = len(body.inputs) - len(captured)
    rest = plan([*body.inputs[:taken], *op.outputs, *body.inputs[taken:]])
    return RowFunction(whole, first, _called(rest, captured))


def _plan(
    compile_step: Compile,
    body: FunctionBody,
    name: str,
    attrs: dict[str, Any],
    resources: ResourceManager,
    feeds: Sequence[Tensor],
) -> _Holder:
    """The plan of a function, or of the rest of it when more than its inputs is fed; made once."""
    beyond = [tensor.name for tensor in feeds if tensor not in body.inputs]
    key = "", FUNCTION_PLAN, f"{name}{attrs or ''}{beyond or ''}"
    holder: _Holder | None = resources.find(*key)
    if holder is None:  # compiled without the manager's lock: the function's operations look for their state
        placement = Placement(local_devices(ONE_CPU), soft=True)
        request = StepRequest(tuple(body.outputs), tuple(body.targets), feeds=tuple(feeds), prefix=f"{name}/")
        made = _Holder(partial(compile_step, request, resources, placement))
        holder = resources.get_or_create(*key, lambda: made)
    return holder
