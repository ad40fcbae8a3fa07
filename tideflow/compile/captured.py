"""CUDA graphs: the part of a hot plan that a GPU computes, launched as one.

A step of a large network is some thousand small kernels, and the host needs longer to launch them one by one
than the GPU to run them. After a few steps the kernels are recorded, and from then on replayed with a single
launch. A recording has fixed addresses, so inputs are copied into fixed buffers, and variables must be where
they were; if one has moved, the step runs on kernels and the next one is recorded anew.

What cannot be recorded runs on kernels before or after it: what the host computes, random numbers (whose
state is on the host), and what takes a number that is only known when the step runs. A kernel that looks at
values on the GPU shows when it is recorded: the step is recorded once more without operations of its type.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import logging
import threading
from collections.abc import Callable, Sequence, Set
from typing import Any

import torch

from tideflow.compile.due_updates import with_updates_on_device
from tideflow.compile.emit import emit
from tideflow.compile.ir import Loop, Node, Program, Value, make_node, states, walk
from tideflow.compile.kernels import OF_A_RUN, KernelArguments, kernel_for
from tideflow.compile.plan import LocalPlan, Replace
from tideflow.compile.stretches import calling, depends_on_data, given_on
from tideflow.compile.unroll import unrolled
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.arrays.buffers import deep_copy_op
from tideflow.runtime import resources
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import Variable, exclusive

_log = logging.getLogger("tideflow")

_WARM_STEPS = 3  # before the recording: libraries choose their algorithms in them
_FEWEST_NODES = 8  # that are worth a recording; of a compiled plan, each may be many kernels
_MOST_RECORDINGS = 5  # of one plan, whose variables keep moving
_BEFORE, _RECORDED, _AFTER = range(3)  # when a node runs

captured_op = Op(
    "_Captured",
    "inputs: Tin -> outputs: Tout",
    Tin=attr("list(type)"),
    Tout=attr("list(type)"),
    function=attr("string"),
    stateful=True,
    differentiable=False,
)
captured_op.shape(lambda inputs, *, Tout: [None] * len(Tout))
captured_op.kernel(lambda inputs, *, function: function(*inputs))
captured_op.samples(covered_by="tests/compile/test_captured.py")

# Held while a GPU's work is recorded, which another thread's use of the GPU would break.
no_recording = threading.Lock()


def capturing(plan: LocalPlan, arguments: KernelArguments, replace: Replace) -> LocalPlan:
    """The plan; where a GPU does enough of its work, `replace` is given one that records it, after some
    steps.
    """
    device = only_gpu(plan.program)
    if plan.suspendable or device is None:
        return plan
    steps = 0
    left_out: set[Op] = set()

    def run(*args: Any) -> Any:
        nonlocal steps
        result = plan.function(*args)
        steps += 1
        if steps == _WARM_STEPS:
            record()
        return result

    def record() -> None:
        recorded = _recording(plan, device, arguments, left_out, leave_out)
        if recorded is not None or left_out:
            replace(recorded or plan)

    def leave_out(op: Op) -> None:
        left_out.add(op)
        record()

    return dataclasses.replace(plan, function=run)


def _recording(
    plan: LocalPlan,
    device: torch.device,
    arguments: KernelArguments,
    left_out: Set[Op],
    leave_out: Callable[[Op], None],
) -> LocalPlan | None:
    """The plan with its work on the GPU recorded; None where that is too little."""
    written_out = unrolled(plan.program)

    def can_be_recorded(node: Node) -> bool:
        return node.definition not in left_out and _can_be_recorded(node, device)

    program = _with_handles(written_out or plan.program)
    for node in program.nodes:
        with contextlib.suppress(ValueError):  # sizes that do not fit, of which the kernel tells
            node.refine_shapes()
    program = with_updates_on_device(program, device, can_be_recorded)
    phases = phases_of(program, can_be_recorded)
    if sum(phase == _RECORDED for phase in phases.values()) < _FEWEST_NODES:
        return None
    recorded = emit(recorded_program(program, phases, device, arguments, leave_out), arguments)
    applied = (*plan.applied, *(["unrolled"] if written_out else []), "cuda_graph")
    return dataclasses.replace(recorded, applied=applied, compile_seconds=plan.compile_seconds)


def _with_handles(program: Program) -> Program:
    """The program with every reference taken from its variable, not from the last node that changed it."""
    roots = {v: _handle_behind(v) for node in program.nodes for v in node.inputs if _is_state(v)}
    nodes = []
    for node in program.nodes:
        if any(roots.get(value, value) is not value for value in node.inputs):
            node = copy.copy(node)
            node.replace_values(roots)
        nodes.append(node)
    return dataclasses.replace(program, nodes=nodes)


def _handle_behind(value: Value) -> Value:
    """The handle from which a reference comes; the value itself where it comes from none."""
    found: Value | None = value
    while found is not None and not found.op.definition.handle:
        found = next((v for v in found.op.inputs if _is_state(v)), None)
    return found or value


def only_gpu(program: Program) -> torch.device | None:
    """The CUDA device of a program, if it has just one."""
    devices = {node.device for node in walk(program)} - {None, CPU}
    device = devices.pop() if len(devices) == 1 else None
    return device if device is not None and device.type == "cuda" else None


def _can_be_recorded(node: Node, device: torch.device) -> bool:
    """Whether a node only launches kernels: all that the host must know is known now."""
    op = node.definition
    if node.device != device or node.guards or node.choices or isinstance(node, Loop):
        return False
    if op.blocking or op.touches:
        return False
    if any(_is_state(value) and not value.op.definition.handle for value in node.inputs):
        return False  # a variable that lives for one step
    values = [value for value in (*node.inputs, *node.outputs) if not _is_state(value)]
    if any(value.dtype.torch is None or depends_on_data(value.shape) for value in values):
        return False
    if any(value.constant is None for value in node.host_inputs):
        return False
    return OF_A_RUN.isdisjoint(op.wants(kernel_for(node)))


def _is_state(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.op.definition.handle


def phases_of(program: Program, can_be_recorded: Callable[[Node], bool]) -> dict[Node, int]:
    """When each node runs, constants and handles aside: before the recording, in it or after it. Nodes that
    use the same state keep their order, and so do all effects that are not recorded.
    """
    phases: dict[Node, int] = {}
    made: dict[Value, int] = {}  # the phase in which a value is computed
    last_use: dict[tuple[str, str], int] = {}  # the latest phase in which a state was used
    last_effect = _BEFORE
    for node in program.nodes:
        if node.definition.role == "constant" or node.definition.handle:
            continue
        used = states(node.inputs) if node.effects else set()
        earlier = [made.get(value, _BEFORE) for value in node.dependencies]
        earlier += [last_use.get(state, _BEFORE) for state in used]
        latest = max(earlier, default=_BEFORE)
        if can_be_recorded(node):
            phase = max(latest, _RECORDED)
        else:
            phase = _BEFORE if latest == _BEFORE else _AFTER
            if node.effects:
                phase = last_effect = max(phase, last_effect)
        phases[node] = phase
        made.update(dict.fromkeys(node.outputs, phase))
        last_use.update({state: max(phase, last_use.get(state, _BEFORE)) for state in used})
    return phases


def recorded_program(
    program: Program,
    phases: dict[Node, int],
    device: torch.device,
    arguments: KernelArguments,
    leave_out: Callable[[Op], None],
) -> Program:
    """The program with one node in the place of those that are recorded."""
    shared = [node for node in program.nodes if node not in phases]  # constants and handles
    before, recorded, after = (
        [node for node in program.nodes if phases.get(node) == phase]
        for phase in (_BEFORE, _RECORDED, _AFTER)
    )
    there = {value for node in (*shared, *recorded) for value in node.outputs}
    taken = list(dict.fromkeys(v for node in recorded for v in node.inputs if v not in there))
    wanted = {v for node in after for v in node.dependencies}.union(program.fetches)
    results = [v for node in recorded for v in node.outputs if v in wanted and not _is_state(v)]
    feeds, nodes = given_on(device, taken, recorded)
    nodes, fetches = _copying_reads(nodes, results)
    inner = Program(feeds, [*shared, *nodes], fetches, fetch_to=device)
    recording = Recording(emit(inner, arguments), *_variables_of(recorded, arguments), leave_out)
    node = calling(captured_op, recording, taken, results, recorded[-1], "captured")
    targets = program.targets.difference(recorded) | {node}
    return dataclasses.replace(program, nodes=[*shared, *before, node, *after], targets=targets)


def _copying_reads(nodes: Sequence[Node], results: Sequence[Value]) -> tuple[list[Node], list[Value]]:
    """The nodes with a copy of each variable that is read for a result: while the variable's own memory were
    held, no later node could write to it.
    """
    wanted, copied = set(results), {}
    changed = []
    for node in nodes:
        changed.append(node)
        if node.definition.role == "read" and node.outputs[0] in wanted:
            changed.append(make_node(deep_copy_op, node.outputs, {"T": node.outputs[0].dtype}, like=node))
            copied[node.outputs[0]] = changed[-1].outputs[0]
    return changed, [copied.get(value, value) for value in results]


def _variables_of(nodes: Sequence[Node], arguments: KernelArguments) -> tuple[list[Variable], list[Variable]]:
    """The variables that the nodes only read, and those that they write."""
    read: set[Variable] = set()
    written: set[Variable] = set()
    for node in nodes:
        for value in node.inputs:
            if _is_state(value):
                kernel = value.op.definition.kernels[""]
                variable = kernel(**arguments.of(value.op, kernel))
                (read if node.definition.role == "read" else written).add(variable)
    return list(read - written), list(written)


class Recording:
    """A function of tensors on a GPU that is recorded at its first call, and then replayed.

    The variables that it reads and writes stay where they are between its calls; where one has moved, or
    where an earlier read of one is still held, the function runs as it is. `leave_out` is told of an op that
    cannot be recorded.
    """

    def __init__(
        self,
        plan: LocalPlan,
        read: Sequence[Variable],
        written: Sequence[Variable],
        leave_out: Callable[[Op], None],
    ):
        self._plan = plan
        self._leave_out = leave_out
        self._read, self._written = read, written
        self._lock = threading.Lock()  # one step at a time has the buffers
        self._graph: Any = None
        self._recordings = 0
        self._inputs: list[torch.Tensor] = []
        self._outputs: tuple[torch.Tensor, ...] = ()
        self._addresses: tuple[list[int], list[int]] = ([], [])  # of variables read, and written

    def __call__(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with self._lock:
            if self._graph is None and self._recordings < _MOST_RECORDINGS:
                self._record(inputs)
            if self._graph is not None:
                values = [
                    variable.read() for variable in self._read
                ]  # while they are held, nobody writes there
                with exclusive(self._written) as buffers:
                    if _addresses(values) == self._addresses[0] and _addresses(buffers) == self._addresses[1]:
                        for buffer, value in zip(self._inputs, inputs, strict=True):
                            buffer.copy_(value)
                        self._graph.replay()
                        return tuple([value.clone() for value in self._outputs])
                self._graph, self._outputs = None, ()
        results: tuple[torch.Tensor, ...] = self._plan.step(*inputs)
        return results

    def _record(self, inputs: Sequence[torch.Tensor]) -> None:
        """Records the function, which computes nothing meanwhile. It stays on kernels where that fails."""
        self._recordings += 1
        if not all(variable.initialized for variable in (*self._read, *self._written)):
            return
        addresses = self._places()
        self._inputs = [value.clone() for value in inputs]
        graph = torch.cuda.CUDAGraph()
        try:
            with no_recording:
                resources.recording_thread = threading.get_ident()
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    self._outputs = self._plan.step(*self._inputs)
        except Exception as error:  # the step stays on its kernels: all that is lost is speed
            self._recordings = _MOST_RECORDINGS
            self._inputs, self._outputs = [], ()
            self._without_what_raised(error)
        else:
            self._graph, self._addresses = graph, addresses
        finally:
            resources.recording_thread = None

    def _without_what_raised(self, error: BaseException) -> None:
        """Has the step recorded without the op that cannot be, if it is known. What the end of the recording
        raises comes after what the op has raised.
        """
        context: BaseException | None = error
        node = None
        while node is None and context is not None:
            node, error, context = self._plan.node_that_raised(context), context, context.__context__
        if node is None:
            _log.info("A step could not be recorded as a CUDA graph and stays on its kernels: %s", error)
        else:
            _log.info(
                "%s '%s' cannot be part of a CUDA graph and stays apart: %s", node.type, node.name, error
            )
            self._leave_out(node.definition)

    def _places(self) -> tuple[list[int], list[int]]:
        """The addresses of the variables read, and of those written."""
        read, written = ([v.read() for v in group] for group in (self._read, self._written))
        return _addresses(read), _addresses(written)


def _addresses(values: Sequence[torch.Tensor]) -> list[int]:
    return [value.data_ptr() for value in values]
