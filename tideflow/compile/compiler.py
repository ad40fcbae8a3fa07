"""The step compiler: prune, place, rewrite, emit."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence, Set

from tideflow.compile import rules, rules_math, rules_nn, rules_state  # noqa: F401 - registers the rewrites
from tideflow.compile.blocking import may_deadlock
from tideflow.compile.build import Unstructured, build_program
from tideflow.compile.emit import Plan, emit
from tideflow.compile.group import group_updates
from tideflow.compile.hot import warming
from tideflow.compile.place import place
from tideflow.compile.rewrite import optimize
from tideflow.compile.tokens import token_plan
from tideflow.graph.operation import Operation, Tensor
from tideflow.runtime.denormals import start_kernel_threads
from tideflow.runtime.devices import Placement
from tideflow.runtime.resources import ResourceManager


def compile_step(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    feed_shapes: Sequence[tuple | None],
    resources: ResourceManager,
    placement: Placement,
    disabled_rules: frozenset[str] = frozenset(),
    after_each: Callable | None = None,
    done: Set[Operation] = frozenset(),
    prefix: str = "",
    suspendable: bool = False,
) -> Plan:
    """The plan that computes `fetches` and runs `targets` from values for `feeds`; what is `done` has run.
    The state that its operations keep is theirs under names that begin with `prefix`. A `suspendable` plan need
    not wait in its thread.
    """
    start_kernel_threads()
    began = time.perf_counter()
    program = None
    if "structure" not in disabled_rules:
        with contextlib.suppress(Unstructured):
            program = build_program(fetches, targets, feeds, feed_shapes, done, prefix)
    if program is None or may_deadlock(program):
        return token_plan(fetches, targets, feeds, resources, placement, after_each, done)
    place(program, placement)
    applied = optimize(program, disabled_rules)
    if "group_updates" not in disabled_rules:
        applied += ["group_updates"] * group_updates(program)
    plan = emit(program, resources, after_each, suspendable=suspendable)
    plan.applied, plan.advice = applied, program.advice
    plan.compile_seconds = time.perf_counter() - began
    if after_each is None and "hot" not in disabled_rules:
        warming(plan, resources)
    return plan
