"""The hot tier: steps that run long enough are compiled with Inductor in the background.

A plan starts on ATen's kernels. Once its steps have taken as long as compiling would (or ten of them have
run, where `global_jit_level` is ON), its stretches that only compute become one compiled function each, in
loops too, and a plan that calls them replaces the first. A program that was compiled before is loaded after
its first steps.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import logging
import os
import queue
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tideflow.compile import inductor
from tideflow.compile.captured import capturing, no_recording, only_gpu
from tideflow.compile.emit import emit
from tideflow.compile.inductor import Ended, Untraceable
from tideflow.compile.ir import walk
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.plan import LocalPlan, Replace
from tideflow.compile.stretches import (
    Stretch,
    is_worth_compiling,
    stretches_of,
    with_compiled_stretches,
)
from tideflow.graph.op import Op, definition
from tideflow.runtime.conditions import Condition
from tideflow.runtime.kernel_threads import ThreadChoice, thread_choice

_log = logging.getLogger("tideflow")

_HOT_STEPS = 10  # that a hot plan has run at least
_HOT_SECONDS = 10.0  # that its steps have taken: about what compiling takes, so at worst it costs twice that
_LOAD_STEPS = 3  # after which compiled code of an earlier process is looked for
_LONGEST_STEP = 1.0  # second that counts between two steps on a GPU
_SMALL = 1024  # elements of the values of a plan for which several threads never pay
_TRIED_STEPS = 12  # on kernels and compiled, before the better of the two is kept


def warming(plan: LocalPlan, arguments: KernelArguments, replace: Replace) -> LocalPlan:
    """The plan, with its steps counted if there is something to compile or to record in it. When it proves
    hot, `replace` puts a faster one in its place.
    """
    if plan.suspendable:  # its function returns at once, whatever the step takes
        return plan
    if not is_worth_compiling(plan.program):
        return capturing(plan, arguments, replace)
    warming = _Warming(plan, arguments, replace)
    return capturing(warming.counted(plan), arguments, warming.replace_by_recording)


class _Warming:
    """A plan on kernels whose steps are counted, until one that is compiled takes its place."""

    def __init__(self, plan: LocalPlan, arguments: KernelArguments, replace: Replace):
        self._on_kernels = plan
        self._arguments = arguments
        self._replace = replace
        self._is_on_gpu = only_gpu(plan.program) is not None
        self._current = plan  # the plan on kernels, its recording, or the compiled one
        self._steps = 0
        self._seconds = 0.0
        self._ended = 0.0  # the time at which the last step ended
        self._is_hot = False
        self._is_compiled = False
        # Operations made in a `jit_scope` are compiled as soon as they have run a few times.
        self._is_early = arguments.resources.compile_early or any(
            node.source is not None and node.source.attrs.get("_XlaCompile") for node in plan.program.nodes
        )

    def counted(self, plan: LocalPlan) -> LocalPlan:
        """The plan, or its recording, with its steps counted."""
        self._current = plan
        return dataclasses.replace(plan, function=partial(self._run, plan.function))

    def replace_by_recording(self, plan: LocalPlan) -> None:
        """Puts the recording of the plan on kernels in its place."""
        if not self._is_compiled:
            self._replace(self.counted(plan))

    def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        began = time.perf_counter()
        result = function(*args)
        ended = time.perf_counter()
        # A GPU goes on when the function has returned: there the time between two steps counts.
        taken = min(ended - self._ended, _LONGEST_STEP) if self._is_on_gpu else ended - began
        self._seconds, self._ended = self._seconds + taken, ended
        self._steps += 1
        if self._steps == _LOAD_STEPS and inductor.can_load():
            _compiler.submit(self._load)
        if self._steps >= _HOT_STEPS and not self._is_hot:
            self._is_hot = self._is_early or self._seconds >= _HOT_SECONDS
            if self._is_hot:
                if not self._is_compiled:
                    self._replace(self._current)
                if inductor.can_compile():
                    _compiler.submit(self._compile)
        return result

    def _load(self) -> None:
        """Loads what an earlier process has compiled, if it has. Runs in the compiler's thread."""
        with contextlib.suppress(FileNotFoundError):
            self._use(compiled_plan(self._on_kernels, self._arguments))

    def _compile(self) -> None:
        if not self._is_compiled and not self._arguments.resources.closed:
            prepare = partial(inductor.prepare, arguments=self._arguments)
            self._use(compiled_plan(self._on_kernels, self._arguments, prepare))

    def _use(self, compiled: LocalPlan) -> None:
        """Puts the compiled plan in the place of the plan on kernels."""
        self._is_hot = self._is_compiled = True
        if self._is_on_gpu:
            self._replace(capturing(compiled, self._arguments, self._replace))
        else:
            self._replace(_better(self._on_kernels, compiled, self._replace))


def compiled_plan(
    plan: LocalPlan,
    arguments: KernelArguments,
    prepare: Callable[[Sequence[Stretch]], None] | None = None,
    function_of: Callable[[Stretch], Callable[..., Any]] = inductor.loaded,
) -> LocalPlan:
    """The same step with compiled functions in the place of its stretches, which are prepared first."""
    began = time.perf_counter()
    left_alone: set[Op] = set()
    while True:
        try:
            if prepare is not None:
                prepare(stretches_of(plan.program, left_alone))
            program = with_compiled_stretches(plan.program, function_of, left_alone)
            break
        except Untraceable as error:
            left_alone.add(definition(error.op_type))
    with no_recording:
        compiled = emit(program, arguments)
    _log.info("A hot plan was compiled in %.1f s.", time.perf_counter() - began)
    return dataclasses.replace(
        compiled,
        threads=_threads(plan, compiled),
        applied=(*plan.applied, "compiled"),
        advice=plan.advice,
        compile_seconds=plan.compile_seconds,
    )


def _threads(plan: LocalPlan, compiled: LocalPlan) -> ThreadChoice | None:
    """How many threads the compiled plan uses. Kernels keep small work to one thread by themselves; compiled
    loops share it, however small it is.
    """
    if compiled.threads is not None or only_gpu(plan.program) is not None:
        return compiled.threads
    sizes = [value.shape.num_elements() for node in walk(plan.program) for value in node.outputs]
    return thread_choice(is_small=all(size is not None and size <= _SMALL for size in sizes))


def _better(on_kernels: LocalPlan, compiled: LocalPlan, replace: Replace) -> LocalPlan:
    """A plan that runs some steps on kernels and compiled in turn; then the quicker one replaces it. Both use
    as many threads as paid on kernels, so that a busy neighbour does not decide.
    """
    seconds: dict[LocalPlan, list[float]] = {on_kernels: [], compiled: []}

    def run(*args: Any) -> Any:
        plan = min(seconds, key=lambda each: len(seconds[each]))
        began = time.perf_counter()
        result = plan.function(*args)
        seconds[plan].append(time.perf_counter() - began)
        if len(seconds[plan]) >= _TRIED_STEPS:
            replace(min(seconds, key=lambda each: statistics.median(seconds[each])))
        return result

    return dataclasses.replace(compiled, function=run, threads=on_kernels.threads or compiled.threads)


# ------------------------------------------------------------------------------------- in the background


class _Compiler:
    """One thread that compiles hot plans, one after the other."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._changed = Condition()
        self._open = 0

    def submit(self, work: Callable[[], None]) -> None:
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tideflow hot tier", daemon=True)
                self._thread.start()
                atexit.register(self._end)
            self._open += 1
            self._work.put(work)

    def wait(self, seconds: float) -> bool:
        """Waits until everything submitted is compiled, so many seconds at most; whether it is."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._open and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return not self._open

    def _end(self) -> None:
        """Waits for the thread: one that the interpreter ends while it runs C++ code crashes the process."""
        inductor.end_compiling()
        self.wait(120)

    def _run(self) -> None:
        while True:
            work = self._work.get()
            try:
                work()
            except Ended:
                pass
            except Exception as error:  # the plan stays on its kernels: all that is lost is speed
                _log.warning("A step could not be compiled and stays on its kernels: %s", error)
                _log.debug("The reason:", exc_info=True)
            finally:
                del work
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()


_compiler = _Compiler()


def _after_fork() -> None:
    """The thread is the parent's, and so is what it was given."""
    atexit.unregister(_compiler._end)
    _compiler.__init__()  # type: ignore[misc]
    inductor.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def wait_until_compiled(seconds: float) -> bool:
    """Waits until no hot plan is left to compile; False where the time was not enough."""
    return _compiler.wait(seconds)
