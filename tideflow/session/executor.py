"""Executors: what runs the steps of a session. There are three: this process (`LocalExecutor`), the master
of a cluster (`cluster/master.py`), and the client of a master in another process (`cluster/client.py`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Set
from typing import Protocol

from tideflow.compile.compiler import compile_step
from tideflow.compile.plan import LocalPlan, Plan
from tideflow.compile.request import StepRequest
from tideflow.graph import errors
from tideflow.runtime.devices import Device, Placement
from tideflow.runtime.kernel_threads import sharing_cores
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext


class Executor(Protocol):
    """Compiles a session's steps to plans, and knows the devices on which these run."""

    @property
    def fills_traces(self) -> bool:
        """Whether its plans write into the trace of their context what their operations did."""

    @property
    def default_timeout(self) -> float:
        """How many seconds a step may take if its session sets no limit; 0 for any number."""

    def compile(
        self, request: StepRequest, context: StepContext, replace: Callable[[Plan], None] | None = None
    ) -> Plan:
        """The plan of a step, made on behalf of a run that has this context: it may have to wait for other
        tasks. `replace` may be called later with a faster plan.
        """

    def devices(self) -> list[Device]:
        """All devices that steps may run on."""

    def missing_tasks(self) -> Set[str]:
        """The tasks that were there and are missing, without having finished their work."""

    def put_back(self) -> None:
        """After an interrupt in this thread: restores the variables that it was writing."""

    def close(self) -> None:
        """Ends the session's steps, and drops its state."""


class LocalExecutor:
    """Runs steps in this process."""

    default_timeout = 0.0
    fills_traces = False  # a traced step of this process has a plan of its own (`session/traced_step.py`)

    def __init__(self, resources: ResourceManager, placement: Placement):
        self._resources = resources
        self._placement = placement

    def compile(
        self, request: StepRequest, context: StepContext, replace: Callable[[Plan], None] | None = None
    ) -> Plan:
        put = None if replace is None else lambda plan: replace(_sharing_cores(plan))
        return _sharing_cores(compile_step(request, self._resources, self._placement, put, context))

    def devices(self) -> list[Device]:
        return list(self._placement.devices)

    def missing_tasks(self) -> Set[str]:
        return frozenset()

    def put_back(self) -> None:
        self._resources.put_back()

    def close(self) -> None:
        self._resources.closed = True
        self._resources.wake()
        self._resources.clear()


def _sharing_cores(plan: LocalPlan) -> LocalPlan:
    """The plan, with as many threads for its kernels as pay."""
    if plan.threads is None:
        return plan
    return dataclasses.replace(plan, function=sharing_cores(plan.function, plan.threads))


def compiled(
    executor: Executor,
    request: StepRequest,
    context: StepContext,
    replace: Callable[[Plan], None] | None = None,
) -> Plan:
    """The plan of a step; a graph that cannot be compiled is an InvalidArgumentError of the run."""
    try:
        return executor.compile(request, context, replace)
    except ValueError as error:
        raise errors.invalid_argument(str(error)) from error
    except RecursionError as error:
        raise errors.invalid_argument(
            "The step cannot be compiled: its loops, conditionals or functions nest too deeply."
        ) from error
