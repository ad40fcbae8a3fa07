"""Functions of a graph's library as callables: what datasets call on each of their elements."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from tideflow.compile.failures import fail
from tideflow.compile.ir import Node
from tideflow.compile.plan import LocalPlan
from tideflow.compile.request import StepRequest
from tideflow.graph import errors, functions
from tideflow.graph.functions import FunctionBody, outermost
from tideflow.graph.operation import Operation, Tensor
from tideflow.ops.control_flow.calls import named
from tideflow.ops.files.parsing import parse_single_example_op, row_parser
from tideflow.runtime.dataset_rows import RowFunction
from tideflow.runtime.datasets import Element, Function, Iteration, StatefulFunction
from tideflow.runtime.devices import ONE_CPU, Placement, local_devices
from tideflow.runtime.resources import FUNCTION_PLAN, ResourceManager
from tideflow.runtime.waiting import StepContext

_States = dict[str, dict[str, Any]]  # what operations keep, by their names


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
    """Keeps the plan of a function, which the hot tier may replace, and the states of its operations."""

    def __init__(self, compile_for: Callable[[_States, Callable[[LocalPlan], None]], LocalPlan]):
        self.states: _States = {}
        self.plan = compile_for(self.states, self._replace)

    def _replace(self, plan: LocalPlan) -> None:
        self.plan = plan

    def call(self, context: StepContext, *values: Any) -> Element:
        """The results of the function."""
        plan = self.plan
        try:
            results: Element = plan.run(context, values)
            return results
        except Exception as error:
            fail(error, plan)


class _PassPlan:
    """A plan that one pass over a dataset has to itself: its operations begin without state."""

    def __init__(self, holder: _Holder):
        self.holder = holder
        self._lock = threading.Lock()
        self._calls, self._is_over = 0, False
        for state in holder.states.values():
            state.clear()

    def call(self, context: StepContext, *values: Any) -> Element:
        """The results of the function."""
        with self._lock:
            if self._is_over:
                raise errors.cancelled("The pass over the dataset has ended.")
            self._calls += 1
        try:
            return self.holder.call(context, *values)
        finally:
            with self._lock:
                self._calls -= 1

    def end(self) -> bool:
        """The pass has ended; whether another one may have the plan, because no thread is in a call."""
        with self._lock:
            self._is_over = True
            return not self._calls


class _Plans:
    """The plans of a function in a session. If its operations keep no state, one is enough. Otherwise each
    pass over a dataset has one of its own; a plan whose pass has ended serves another.
    """

    def __init__(self, new: Callable[[], _Holder]):
        self._new = new
        self.first = new()
        self._free: list[_Holder] = []

    def in_pass(self, iteration: Iteration) -> _PassPlan:
        """The plan that the whole pass has, of which this iteration is a part."""
        whole = iteration.whole
        found: _PassPlan = whole.keep(self, lambda: self._begun(whole))
        return found

    def _begun(self, whole: Iteration) -> _PassPlan:
        plan = _PassPlan(self._free.pop() if self._free else self._new())
        whole.at_end(lambda: self._free.append(plan.holder) if plan.end() else None)
        return plan


class _Planned(StatefulFunction):
    """A function whose operations keep state; `captured` are its last arguments."""

    def __init__(self, plans: _Plans, captured: Sequence[Any]):
        self._plans, self._captured = plans, tuple(captured)

    def __call__(self, context: StepContext, *values: Any) -> Element:
        return self._plans.first.call(context, *values, *self._captured)

    def begun(self, iteration: Iteration) -> Function:
        call, captured = self._plans.in_pass(iteration).call, self._captured
        return lambda context, *values: call(context, *values, *captured)


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


def _called(plans: _Plans, captured: Sequence[Any]) -> Function:
    if plans.first.states:
        return _Planned(plans, captured)
    call, given = plans.first.call, tuple(captured)
    return lambda context, *values: call(context, *values, *given)


def _by_rows(
    whole: Function,
    body: FunctionBody,
    op: Operation,
    parse: Callable[[Any], Sequence[Any]],
    plan: Callable[[list[Tensor]], _Plans],
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
) -> _Plans:
    """The plans of a function, or of the rest of it when more than its inputs is fed; made once."""
    beyond = [tensor.name for tensor in feeds if tensor not in body.inputs]
    key = "", FUNCTION_PLAN, f"{name}{attrs or ''}{beyond or ''}"
    plans: _Plans | None = resources.find(*key)
    if plans is None:  # compiled without the manager's lock: the function's operations look for their state
        placement = Placement(local_devices(ONE_CPU), soft=True)

        def compile_for(states: _States, replace: Callable[[LocalPlan], None]) -> LocalPlan:
            request = StepRequest(
                tuple(body.outputs), tuple(body.targets), feeds=tuple(feeds), prefix=f"{name}/", states=states
            )
            return compile_step(request, resources, placement, replace)

        made = _Plans(lambda: _Holder(compile_for))
        plans = resources.get_or_create(*key, lambda: made)
    return plans
