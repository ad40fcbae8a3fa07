"""The hot tier: a background thread compiles the loop bodies of hot plans with Inductor.

A plan with a loop starts on ATen's kernels. Once its steps have taken as long as compiling would (or ten of
them have run, where `global_jit_level` is ON), the stretches of its loop bodies that only compute (no state,
no stacks, known sizes) become one compiled function each, and a plan that calls them replaces the first.
"""

from __future__ import annotations

import atexit
import copy
import dataclasses
import logging
import os
import queue
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tideflow.compile.emit import emit
from tideflow.compile.ir import Guards, Loop, Node, Program, Value, walk
from tideflow.compile.kernels import KernelArguments
from tideflow.compile.loop_values import sums
from tideflow.compile.plan import LocalPlan
from tideflow.compile.rules_math import add_matmul_op
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.runtime.conditions import Condition
from tideflow.runtime.devices import CPU
from tideflow.runtime.private_folder import NotPrivate, check_private, private_folder

_log = logging.getLogger("tideflow")

_SHORTEST = 4  # nodes: a shorter stretch is not worth compiling
_CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
_HOT_STEPS = 10  # that a hot plan has run at least
_HOT_SECONDS = 10.0  # that its steps have taken: about what compiling takes, so at worst it costs twice that

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


Replace = Callable[[LocalPlan], None]  # puts a plan in the place of another, where that is kept


def warming(plan: LocalPlan, arguments: KernelArguments, replace: Replace) -> LocalPlan:
    """A plan that counts its steps, if it has a loop worth compiling. When it proves hot, `replace` puts the
    given plan in its place, and then the compiled one.
    """
    if plan.suspendable:  # its function returns at once, whatever the step takes
        return plan
    if not any(isinstance(node, Loop) and _is_worth_compiling(node) for node in walk(plan.program)):
        return plan
    return dataclasses.replace(plan, function=_Warming(plan, arguments, replace))


class _Warming:
    """The function of a plan that is not known to be hot yet."""

    def __init__(self, plan: LocalPlan, arguments: KernelArguments, replace: Replace):
        self._plan = plan
        self._arguments = arguments
        self._replace = replace
        self._steps = 0
        self._seconds = 0.0
        self._is_hot = False

    def __call__(self, *args: Any) -> Any:
        began = time.perf_counter()
        result = self._plan.function(*args)
        self._seconds += time.perf_counter() - began
        self._steps += 1
        if not self._is_hot and self._steps >= _HOT_STEPS:
            early = self._arguments.resources.compile_early
            self._is_hot = early or self._seconds >= _HOT_SECONDS
            if self._is_hot:
                self._replace(self._plan)
                if _can_compile():
                    _compiler.submit(self._plan, self._arguments, self._replace)
        return result


# ------------------------------------------------------------------------------------------------ compiling


def _program_ends() -> bool:
    return not threading.main_thread().is_alive()


_Work = tuple[LocalPlan, KernelArguments, Replace]


class _Compiler:
    """One thread that compiles hot plans, one after the other."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._changed = Condition()
        self._open = 0

    def submit(self, plan: LocalPlan, arguments: KernelArguments, replace: Replace) -> None:
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tideflow hot tier", daemon=True)
                self._thread.start()
                atexit.register(self._end)
            self._open += 1
            self._work.put((plan, arguments, replace))

    def wait(self, seconds: float) -> bool:
        """Waits until everything submitted is compiled, so many seconds at most; whether it is."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._open and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return not self._open

    def _end(self) -> None:
        """Waits for the thread: one that the interpreter ends while it runs C++ code crashes the process."""
        self.wait(120)

    def _run(self) -> None:
        while True:
            plan, arguments, replace = self._work.get()
            try:
                if not arguments.resources.closed:
                    replace(compiled_plan(plan, arguments))
            except Exception as error:  # the plan stays on its kernels: all that is lost is speed
                if not _program_ends():
                    _log.warning("A loop could not be compiled and stays on its kernels: %s", error)
                    _log.debug("The reason:", exc_info=True)
            finally:
                del plan, arguments, replace
                with self._changed:
                    self._open -= 1
                    self._changed.notify_all()


_compiler = _Compiler()


def _after_fork() -> None:
    """The thread is the parent's, and so is what it was given."""
    atexit.unregister(_compiler._end)
    _compiler.__init__()  # type: ignore[misc]


os.register_at_fork(after_in_child=_after_fork)


def wait_until_compiled(seconds: float) -> bool:
    """Waits until no hot plan is left to compile; False where the time was not enough."""
    return _compiler.wait(seconds)


def compiled_plan(plan: LocalPlan, arguments: KernelArguments) -> LocalPlan:
    """The same step with its loops compiled."""
    began = time.perf_counter()
    hot = emit(_with_compiled_loops(plan.program, arguments), arguments)
    _log.info("A hot plan's loops were compiled in %.1f s.", time.perf_counter() - began)
    applied = (*plan.applied, "compiled_loops")
    return dataclasses.replace(hot, applied=applied, advice=plan.advice, compile_seconds=plan.compile_seconds)


_logged = False


def _can_compile() -> bool:
    """Whether there are a C++ compiler and a private folder for what it makes; logged once where not."""
    global _logged
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++", "c++") if name):
        level, reason = logging.INFO, "No C++ compiler was found"
    else:
        try:
            _use_private_cache()
        except NotPrivate as error:
            level, reason = logging.WARNING, f"Compiled code has no safe place ({error})"
        else:
            return True
    if not _logged:
        _logged = True
        _log.log(level, "%s: loops stay on kernels, which is slower but the same.", reason)
    return False


def _use_private_cache() -> None:
    """Inductor runs the code that it finds in its cache. By default that is a folder under the temporary
    directory, which another user may have made; here it is one of this user's own, looked at before each use.
    """
    given = os.environ.get(_CACHE_VARIABLE)
    if given is None:
        os.environ[_CACHE_VARIABLE] = str(private_folder("inductor"))
    else:
        Path(given).mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(Path(given))


# ------------------------------------------------------------------------------------------------ stretches


def _with_compiled_loops(program: Program, arguments: KernelArguments) -> Program:
    nodes = []
    for node in program.nodes:
        if isinstance(node, Loop):
            node = copy.copy(node)
            node.body = _with_compiled_loops(node.body, arguments)
            node.body.nodes = _with_compiled_stretches(node, arguments)
        nodes.append(node)
    return Program(program.feeds, nodes, program.fetches, program.targets, program.is_body)


def _with_compiled_stretches(loop: Loop, arguments: KernelArguments) -> list[Node]:
    nodes: list[Node] = []
    for group, computes in _scheduled(loop):
        if len(group) < _SHORTEST or not computes:
            nodes += group
        else:
            nodes.append(_compiled_node(group, loop, arguments))
    return nodes


def _is_worth_compiling(loop: Loop) -> bool:
    return any(computes and len(group) >= _SHORTEST for group, computes in _scheduled(loop))


def _scheduled(loop: Loop) -> list[tuple[list[Node], bool]]:
    """The body's nodes in stretches, of which those marked True only compute. Nodes with effects keep their
    order. Products that are added to a sum are in no such stretch: their kernel adds in place.
    """
    made = {value for node in loop.body.nodes for value in node.outputs}
    there: set[Value] = set()
    summing = {node for node in sums(loop, loop.body.uses()).values() if node.definition is add_matmul_op}
    computing = [node for node in loop.body.nodes if _computes(node, loop) and node not in summing]
    inside = set(computing)
    others = [node for node in loop.body.nodes if node not in inside]
    groups: list[tuple[list[Node], bool]] = []

    def ready(node: Node) -> bool:
        return all(value in there or value not in made for value in node.dependencies)

    while others or computing:
        group = []
        while others and ready(others[0]):
            group.append(others.pop(0))
            there.update(group[-1].outputs)
        groups.append((group, False))
        group, left = [], []
        for node in computing:
            if ready(node):
                group.append(node)
                there.update(node.outputs)
            else:
                left.append(node)
        computing = left
        groups.append((group, True))
    return [(group, computes) for group, computes in groups if group]


def _computes(node: Node, loop: Loop) -> bool:
    """Whether a node of the loop's body is arithmetic on tensors of known sizes, and nothing else."""
    op = node.definition
    if node.device != CPU:
        return False  # the host issues a GPU's kernels ahead of time, so there is little to gain
    if (
        node.effects
        or node.choices
        or isinstance(node, Loop)
        or node.definition.role == "constant"
        or not node.inputs
    ):
        return False
    if node.guards != {(loop.pred, True)}:
        return False
    values = (*node.inputs, *node.outputs)
    if any(
        v.dtype.torch is None or not v.shape.is_fully_defined() or v.device != node.device for v in values
    ):
        return False
    if not any(value.dtype.is_floating for value in node.outputs):
        return False
    for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
        members = given if arg.is_list else [given]
        if arg.name in op.host and any(value.constant is None for value in members):
            return False
    kernel = op.kernels.get("")
    return kernel is None or "state" not in op.wants(kernel)


def _compiled_node(group: list[Node], loop: Loop, arguments: KernelArguments) -> Node:
    made = {value for node in group for value in node.outputs}
    hosted = {v for node in group for v in _host_inputs(node)}
    taken = dict.fromkeys(v for node in group for v in node.inputs if v not in made and v not in hosted)
    inside = set(group)
    wanted = {v for node in loop.body.nodes if node not in inside for v in node.dependencies}
    wanted.update(loop.body.fetches)
    given = [value for node in group for value in node.outputs if value in wanted]
    feeds = list(taken)
    function = _compiled_function(Program(feeds, group, given), loop, arguments)
    attrs = {
        "Tin": [v.dtype.base_dtype for v in feeds],
        "Tout": [v.dtype.base_dtype for v in given],
        "function": function,
    }
    node = Node(compiled_op, f"{group[-1].name}/compiled", feeds, attrs, group[-1].source)
    node.device, node.guards, node.outputs = group[0].device, group[0].guards, given
    return node


def _host_inputs(node: Node) -> list[Value]:
    op = node.definition
    found: list[Value] = []
    for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
        if arg.name in op.host:
            found += given if arg.is_list else [given]
    return found


def _compiled_function(program: Program, loop: Loop, arguments: KernelArguments) -> Callable[..., Any]:
    """The stretch as one function of tensors, compiled for their sizes."""
    from torch._inductor import config as inductor_config  # loaded when asked for
    from torch._inductor import standalone_compile  # loaded when asked for
    from torch._subclasses.fake_tensor import FakeTensorMode  # loaded when asked for
    from torch.fx.experimental.proxy_tensor import make_fx  # loaded when asked for

    _use_private_cache()
    if _program_ends():
        raise RuntimeError("the program ends: nothing more is worth compiling")
    implied: Guards = frozenset({(loop.pred, True)})
    step = emit(program, arguments, implied=implied, in_place=False).namespace["step"]
    with FakeTensorMode():
        examples: list[Any] = [
            torch.empty(
                [size or 0 for size in v.shape.as_list()], dtype=v.dtype.base_dtype.torch, device=v.device
            )
            for v in program.feeds  # of known sizes, see `_computes`
        ]
    graph = make_fx(step, tracing_mode="real")(*examples)
    # Compiled loops use as many threads as the step does at the moment, not as many as there were now.
    with torch.no_grad(), inductor_config.patch({"cpp.dynamic_threads": True}):
        compiled = standalone_compile(graph, examples, dynamic_shapes="from_example_inputs")
    # It was compiled for contiguous inputs; an element of a TensorArray may be a strided view.
    return lambda *inputs: compiled(*[each.contiguous() for each in inputs])
