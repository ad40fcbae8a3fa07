"""The hot tier: loop bodies compiled by Inductor, in the background, and swapped in when they are ready.

A plan with a loop begins on ATen's kernels. Once it has run for as long as compiling takes (or ten times,
where `global_jit_level` is ON), the stretches of its bodies that only compute (no state, no stacks, sizes
known) become one compiled function each.
"""

from __future__ import annotations

import atexit
import copy
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

from tideflow.compile.emit import Plan, emit
from tideflow.compile.ir import Guards, Loop, Node, Program, Value, walk
from tideflow.compile.loop_values import sums
from tideflow.compile.rules_math import add_matmul_op
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.runtime.devices import CPU
from tideflow.runtime.private_folder import NotPrivate, check_private, private_folder
from tideflow.runtime.resources import ResourceManager

_log = logging.getLogger("tideflow")

_SHORTEST = 4  # nodes: a shorter stretch is not worth a call of its own
_CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
_HOT_STEPS = 10  # that a plan has run at least
_HOT_SECONDS = (
    10.0  # that its steps have taken: about what compiling takes, so that at worst it costs as much again
)

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


def warming(plan: Plan, resources: ResourceManager) -> None:
    """Has the plan count its steps, and compile its loops when it proves hot."""
    if any(isinstance(node, Loop) and _stretches(node) for node in walk(plan.program)):
        plan.function = _Warming(plan, resources)


class _Warming:
    """A plan's function while it is not known whether the plan is hot."""

    def __init__(self, plan: Plan, resources: ResourceManager):
        self.plan = plan
        self.resources = resources
        self.function = plan.function
        self.steps = 0
        self.seconds = 0.0

    def __call__(self, *args: Any) -> Any:
        began = time.perf_counter()
        result = self.function(*args)
        self.seconds += time.perf_counter() - began
        self.steps += 1
        if self.steps >= _HOT_STEPS and (self.seconds >= _HOT_SECONDS or self.resources.compile_early):
            self.plan.function = self.function
            if _can_compile():
                _compiler.submit(self.plan, self.resources)
        return result


# ------------------------------------------------------------------------------------------------ compiling


def _program_ends() -> bool:
    return not threading.main_thread().is_alive()


class _Compiler:
    """One thread that compiles hot plans, one after the other."""

    def __init__(self):
        self._work: queue.SimpleQueue = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._open = 0

    def submit(self, plan: Plan, resources: ResourceManager) -> None:
        with self._lock:
            self._open += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="tideflow hot tier", daemon=True)
                self._thread.start()
                atexit.register(self._end)
        self._work.put((plan, resources))

    def wait(self, seconds: float) -> bool:
        """Whether everything submitted is compiled, after waiting so long at most."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._open, seconds)

    def _end(self) -> None:
        """Waits for what is being compiled: a thread that Python ends amid C++ takes the process with it."""
        self.wait(120)

    def _run(self) -> None:
        while True:
            plan, resources = self._work.get()
            try:
                if not resources.closed:
                    swap_in(plan, resources)
            except Exception as error:  # the first tier goes on; that is all a user loses
                if not _program_ends():
                    _log.warning("A loop could not be compiled and stays on its kernels: %s", error)
                    _log.debug("The reason:", exc_info=True)
            finally:
                del plan, resources
                with self._idle:
                    self._open -= 1
                    self._idle.notify_all()


_compiler = _Compiler()


def wait_until_compiled(seconds: float) -> bool:
    """Waits until no hot plan is left to compile; False where the time was not enough."""
    return _compiler.wait(seconds)


def swap_in(plan: Plan, resources: ResourceManager) -> None:
    """Compiles the plan's loops and lets the next step run them."""
    began = time.perf_counter()
    program = _with_compiled_loops(plan.program, resources)
    hot = emit(program, resources)
    plan.source, plan.lines, plan.namespace = hot.source, hot.lines, hot.namespace
    plan.program, plan.function = program, hot.function
    plan.applied.append("compiled_loops")
    _log.info("A hot plan's loops were compiled in %.1f s.", time.perf_counter() - began)


_told = False


def _can_compile() -> bool:
    """Whether there are a C++ compiler and a private folder for what it makes; if not, it is said once."""
    global _told
    if not any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++", "c++") if name):
        level, reason = logging.INFO, "No C++ compiler was found"
    else:
        try:
            _use_private_cache()
        except NotPrivate as error:
            level, reason = logging.WARNING, f"Compiled code has no safe place ({error})"
        else:
            return True
    if not _told:
        _told = True
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


def _with_compiled_loops(program: Program, resources: ResourceManager) -> Program:
    nodes = []
    for node in program.nodes:
        if isinstance(node, Loop):
            node = copy.copy(node)
            node.body = _with_compiled_loops(node.body, resources)
            node.body.nodes = _with_compiled_stretches(node, resources)
        nodes.append(node)
    return Program(program.feeds, nodes, program.fetches, program.targets, program.is_body)


def _with_compiled_stretches(loop: Loop, resources: ResourceManager) -> list[Node]:
    nodes: list[Node] = []
    for group, computes in _scheduled(loop):
        if len(group) < _SHORTEST or not computes:
            nodes += group
        else:
            nodes.append(_compiled_node(group, loop, resources))
    return nodes


def _stretches(loop: Loop) -> bool:
    return any(computes and len(group) >= _SHORTEST for group, computes in _scheduled(loop))


def _scheduled(loop: Loop) -> list[tuple[list[Node], bool]]:
    """The body's nodes in an order that keeps effects in theirs and brings what only computes together.
    Products that are added to a sum stay as they are: their kernel adds in place.
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
        return False  # a GPU's kernels are issued ahead of it: there the stretches would gain little
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
    return "state" not in op._wanted.get(op.kernels.get(""), ())


def _compiled_node(group: list[Node], loop: Loop, resources: ResourceManager) -> Node:
    made = {value for node in group for value in node.outputs}
    hosted = {v for node in group for v in _host_inputs(node)}
    taken = dict.fromkeys(v for node in group for v in node.inputs if v not in made and v not in hosted)
    inside = set(group)
    wanted = {v for node in loop.body.nodes if node not in inside for v in node.dependencies}
    wanted.update(loop.body.fetches)
    given = [value for node in group for value in node.outputs if value in wanted]
    feeds = list(taken)
    function = _compiled_function(Program(feeds, group, given), loop, resources)
    attrs = {
        "Tin": [v.dtype.base_dtype for v in feeds],
        "Tout": [v.dtype.base_dtype for v in given],
        "function": function,
    }
    node = Node(compiled_op, f"{group[-1].name}/compiled", feeds, attrs, group[-1].source)
    node.device, node.guards, node.outputs = group[0].device, group[0].guards, given
    return node


def _host_inputs(node: Node) -> list[Value]:
    op, found = node.definition, []
    for arg, given in zip(op.inputs, node.grouped_inputs, strict=True):
        if arg.name in op.host:
            found += given if arg.is_list else [given]
    return found


def _compiled_function(program: Program, loop: Loop, resources: ResourceManager) -> Callable:
    """The stretch as one function of tensors, compiled for their sizes."""
    from torch._inductor import standalone_compile
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    _use_private_cache()
    if _program_ends():
        raise RuntimeError("the program ends: nothing more is worth compiling")
    implied: Guards = frozenset({(loop.pred, True)})
    step = emit(program, resources, implied=implied, in_place=False).namespace["step"]
    with FakeTensorMode():
        examples = [
            torch.empty(v.shape.tuple, dtype=v.dtype.base_dtype.torch, device=v.device) for v in program.feeds
        ]
    graph = make_fx(step, tracing_mode="real")(*examples)
    with torch.no_grad():
        compiled = standalone_compile(graph, examples, dynamic_shapes="from_example_inputs")
    # Compiled for rows side by side in memory; an element of a TensorArray may be a view of something else.
    return lambda *inputs: compiled(*[each.contiguous() for each in inputs])
