"""Plans: steps that are ready to run. A plan never changes; a faster one takes its place where it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tideflow.compile.ir import Node, Program
from tideflow.graph.operation import Operation
from tideflow.runtime.kernel_threads import ThreadChoice
from tideflow.runtime.waiting import StepContext


@dataclass(frozen=True, eq=False)
class Plan:
    """A step that is ready to run, in this process or through another one."""

    function: Callable[..., Any]  # of the feeds, with the step's context first where it `takes_context`
    source: str  # what it does, for reading
    takes_context: bool = False  # whether a kernel, or a hook, of it asks for the step's context

    def run(self, context: StepContext, feeds: Sequence[Any]) -> Any:
        """The values of the fetches; of a suspendable plan, its generator."""
        return self.function(context, *feeds) if self.takes_context else self.function(*feeds)


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalPlan(Plan):
    """A plan that calls kernels in this process.

    The function of a `suspendable` plan returns a generator. It yields a pending value where it would have to
    wait, and is sent that value when it has arrived.
    """

    program: Program
    step: Callable[..., Any]  # what the source says; `function` may set the processor to it before, and back
    lines: Mapping[int, Node]  # line of the source -> the node that it runs
    namespace: Mapping[str, Any]  # what the names in the source mean
    names: Mapping[Any, str]  # the name in the source of each value, and of its copies on other devices
    suspendable: bool = False
    threads: ThreadChoice | None = None  # of its kernels; None where all are used, or there is one
    applied: tuple[str, ...] = ()  # rewrites that changed something
    advice: tuple[str, ...] = ()  # what the author of the program may not have meant
    compile_seconds: float = 0.0

    def operation_at(self, line: int) -> Operation | None:
        """The operation of the graph that a line of the source runs."""
        node = self.lines.get(line)
        return None if node is None else node.source

    def node_that_raised(self, error: BaseException) -> Node | None:
        """The node in whose kernel an error came up, if it was one of the step's."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is self.step.__code__:
                return self.lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return None


Replace = Callable[[LocalPlan], None]  # puts a plan in the place of another, where that is kept
