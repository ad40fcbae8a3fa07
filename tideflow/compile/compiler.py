"""The step compiler: prune, place, rewrite, emit."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from functools import partial

from tideflow.compile import (  # noqa: F401 - registers the rewrites
    rules,
    rules_int8,
    rules_math,
    rules_nn,
    rules_state,
    rules_written_out,
)
from tideflow.compile.attention import fuse_attention
from tideflow.compile.blocking import may_deadlock
from tideflow.compile.build import Unstructured, build_program
from tideflow.compile.emit import emit
from tideflow.compile.function_plans import planned
from tideflow.compile.group import group_updates
from tideflow.compile.hot import warming
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.loop_products import once_before_loops
from tideflow.compile.mixed_precision import use_half
from tideflow.compile.place import place
from tideflow.compile.plan import LocalPlan, Replace
from tideflow.compile.progress import Progress
from tideflow.compile.request import StepRequest
from tideflow.compile.rewrite import optimize
from tideflow.compile.small_arithmetic import functions_of, with_small_arithmetic
from tideflow.compile.tokens import token_plan
from tideflow.runtime.devices import Placement
from tideflow.runtime.kernel_threads import start_kernel_threads
from tideflow.runtime.resources import ResourceManager
from tideflow.runtime.waiting import StepContext


def compile_step(
    request: StepRequest,
    resources: ResourceManager,
    placement: Placement,
    replace: Replace | None = None,
    context: StepContext | None = None,
) -> LocalPlan:
    """The plan of a step over a session's state. Where the plan is kept, `replace` puts a faster one in its
    place, once it has proved hot (`compile/hot.py`). `context` is of the run that it is compiled for, whose
    deadline holds meanwhile.
    """
    start_kernel_threads()
    began = time.perf_counter()
    arguments = KernelArguments(resources, partial(planned, compile_step), request.states)
    progress = Progress()
    if context is not None:
        progress = Progress(lambda: context.time_left(lambda: resources.closed, "compiling the step"))
    program = None
    if "structure" not in request.disabled_rules:
        with contextlib.suppress(Unstructured):
            program = build_program(request, progress)
    if program is None or may_deadlock(program):
        return token_plan(request, arguments, placement, progress)
    place(program, placement, {tensor.graph for tensor in (*request.fetches, *request.feeds)})
    applied = ["use_half"] * use_half(program, request.half_by_device) if request.half_by_device else []
    applied += optimize(program, request.disabled_rules, progress=progress, phases=("simplify",))
    if "fuse_attention" not in request.disabled_rules:
        applied += ["fuse_attention"] * fuse_attention(program)
    applied += optimize(program, request.disabled_rules, progress=progress, phases=("recognize", "fuse"))
    if "group_updates" not in request.disabled_rules:
        applied += ["group_updates"] * group_updates(program)
    if request.hook is None:
        applied += once_before_loops(program, request.disabled_rules)
    emitted = program
    if request.hook is None and "small_arithmetic" not in request.disabled_rules:
        emitted = with_small_arithmetic(program)
    plan = emit(emitted, arguments, request.hook, suspendable=request.suspendable, progress=progress)
    plan = dataclasses.replace(
        plan,
        program=program,
        source="\n".join([plan.source, *functions_of(emitted)]),
        applied=tuple(applied),
        compile_seconds=time.perf_counter() - began,
    )
    if replace is not None and request.hook is None and "hot" not in request.disabled_rules:
        plan = warming(plan, arguments, replace)
    return plan
