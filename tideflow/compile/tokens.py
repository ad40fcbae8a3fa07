"""The token executor: runs a graph by sending tokens along its edges, as the papers describe it.

A node runs when all its inputs have arrived. A token may be dead; a node that gets a dead token sends dead
tokens on. Every frame has its own iterations, of which several may run at once. Loops that cannot be written
as a `while` of a plan run here, and tests compare the compiled plans with this executor.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import queue
import threading
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import torch

from tideflow.compile.build import build_program, memory_behind, resized_in, variable_behind, written_before
from tideflow.compile.calls import lowering
from tideflow.compile.emit import emit
from tideflow.compile.frames import ENTER, EXIT, MERGE, NEXT, SWITCH, Frame, frames_of, stays_inside
from tideflow.compile.ir import Node, Program, Value
from tideflow.compile.kernels import KernelArguments, constant_value, kernel_for, wants_context
from tideflow.compile.place import place
from tideflow.compile.plan import LocalPlan
from tideflow.compile.progress import Progress
from tideflow.compile.prune import given, needed
from tideflow.compile.request import StepRequest
from tideflow.graph import dtypes, errors
from tideflow.graph.errors import OpError
from tideflow.graph.operation import Operation, Tensor
from tideflow.interrupts import deferred, deliver, held
from tideflow.ops.control_flow.switches import scalar_predicate
from tideflow.ops.distributed.sending import RECV, SEND
from tideflow.runtime.devices import Placement
from tideflow.runtime.ending import wait_at_exit
from tideflow.runtime.kernel_threads import thread_choice
from tideflow.runtime.rendezvous import DEAD, Rendezvous
from tideflow.runtime.resources import Variable
from tideflow.runtime.values import host_value
from tideflow.runtime.waiting import StepContext

_POLL_SECONDS = 0.1  # how often a waiting step checks whether its session was closed
_ROUTING = (*ENTER, *EXIT, *NEXT, *SWITCH, SEND)  # they compute nothing: traces leave them out


_Call = Callable[[list[Any], StepContext], Sequence[Any]]  # from input values to output values


class KernelError(Exception):
    """On these values, a kernel of this node raised an error that is none of TensorFlow's: the cause of this
    one.
    """

    def __init__(self, node: Node, values: list[Any]):
        super().__init__(f"{node.type} '{node.name}' failed")
        self.node = node
        self.values = values


@dataclass(eq=False)
class _Item:
    """One operation, ready to run: the function it calls, and the items that take its outputs."""

    op: Operation
    node: Node
    call: _Call
    inputs: int = 0  # data edges
    controls: int = 0
    out: list[list[tuple[_Item, int]]] = field(default_factory=list)  # consumers of each output
    after: list[_Item] = field(default_factory=list)  # items that wait for it by a control edge
    fetched: list[tuple[int, int]] = field(default_factory=list)  # (output, position among the fetches)

    @property
    def type(self) -> str:
        return self.op.type


class _Arrived:
    """What has arrived at a node in one iteration, and how much is still missing."""

    __slots__ = ("controls", "dead", "inputs", "values")

    def __init__(self, item: _Item):
        self.inputs = item.inputs  # missing; of a Merge, 0 once one is there and -1 once it has run
        self.controls = item.controls  # missing
        self.dead = 0  # dead tokens that have arrived
        self.values: list[Any] = [None] * item.inputs


class _FrameRun:
    """A frame while it runs: its iterations, and its loop constants."""

    def __init__(self, frame: Frame, enters: int, parent: tuple[_FrameRun, int] | None, parallel: int):
        self.frame = frame
        self.parent = parent
        self.awaited = enters  # Enters that have not arrived
        self.parallel = parallel
        self.constants: list[tuple[_Item, Any]] = []
        self.waiting: dict[int, dict[_Item, _Arrived]] = {0: {}}
        self.busy: dict[int, int] = {0: 0}  # by iteration: nodes that are to run, and inner frames
        self.deferred: dict[int, list[tuple[_Item, Any]]] = {}
        self.left: dict[_Item, bool] = {}  # Exits that had a token, and whether it was alive
        self.inner: dict[tuple[Frame, int], _FrameRun] = {}


def token_plan(
    request: StepRequest, arguments: KernelArguments, placement: Placement, progress: Progress
) -> LocalPlan:
    """A step that runs on the token executor."""
    handles = tuple(request.known.values())  # they are fed, here
    request = dataclasses.replace(request, feeds=(*request.feeds, *request.known), known={})
    graph = _TokenGraph(request, arguments, placement, progress)

    def function(context: StepContext, *values: Any) -> tuple[Any, ...]:
        with deferred:  # a signal is handled between two operations, and its step ended in order
            return _Run(graph, context, (*values, *handles)).results()

    source = f"# {len(graph.items)} operations on the token executor, in frames: {graph.frame_names()}\n"
    return LocalPlan(
        function,
        source,
        takes_context=True,
        program=graph.program,
        step=function,
        lines={},
        namespace={},
        names={},
        threads=thread_choice(),
    )


def flat_program(order: Sequence[Operation], feeds: Sequence[Tensor]) -> Program:
    """The operations as the nodes of a program, for placement and kernels, without structure or order."""
    values: dict[Tensor, Value] = {}
    for tensor in feeds:
        values[tensor] = given(tensor.name, tensor.dtype, tensor.shape, tensor.op)
    nodes = []
    for op in order:
        node = Node(op.definition, op.name, [], op.attrs, op)
        node.outputs = [Value(node, i, t.dtype, t.shape) for i, t in enumerate(op.outputs)]
        nodes.append(node)
        for tensor, value in zip(op.outputs, node.outputs, strict=True):
            values.setdefault(tensor, value)
    for op, node in zip(order, nodes, strict=True):
        node.inputs = [values[tensor] for tensor in op.inputs]
    return Program([values[tensor] for tensor in feeds], nodes, [])


class _TokenGraph:
    """The part of a graph that a step needs, with a function for every node."""

    def __init__(
        self, request: StepRequest, arguments: KernelArguments, placement: Placement, progress: Progress
    ):
        self.resources = arguments.resources
        self._progress = progress
        self.hook = request.hook
        self._arguments = arguments
        self._placement = placement
        fed = set(request.feeds)
        ops = needed(request.fetches, request.targets, fed, request.done)
        order, self.frame_of = frames_of(ops, fed)
        self.program = flat_program(order, request.feeds)
        place(self.program, placement)
        self.items = {
            op: _Item(op, node, self._function(op, node), out=[[] for _ in op.outputs])
            for op, node in zip(order, self.program.nodes, strict=True)
        }
        self.fed: list[list[tuple[_Item, int]]] = [[] for _ in request.feeds]
        self.fetches = len(request.fetches)
        self.fed_fetches: list[tuple[int, int]] = []
        self.rewritten: dict[int, _Item] = {}  # by fetch, the variable that was read as it, and then written
        self._connect(request.fetches, request.feeds, ops)
        self.enters = collections.Counter(self.frame_of[op] for op in order if op.type in ENTER)
        self.outside = Frame()

    def frame_names(self) -> str:
        names = {frame.name for frame in self.frame_of.values() if frame.parent is not None}
        return ", ".join(sorted(names)) or "none"

    def _function(self, op: Operation, node: Node) -> _Call:
        if node.definition.role == "constant":
            made = [constant_value(node)]
            return lambda values, context: made
        if node.type in (*ENTER, *EXIT, *NEXT, RECV):
            return lambda values, context: values
        if node.type == SEND:
            prepared = _prepare_inputs(node)
            return lambda values, context: prepared(values)
        if node.type in SWITCH:
            return _switch
        if node.type in MERGE:
            return _merge if _is_variable(node.outputs[0]) else _merge_values
        if lowering(op) is not None:
            return self._call(op)
        if node.definition.handle:
            kernel = node.definition.kernels[""]
            made = [kernel(**self._arguments.of(node, kernel))]
            return lambda values, context: made
        return self._kernel_call(node)

    def _kernel_call(self, node: Node) -> _Call:
        kernel = kernel_for(node)
        keywords, takes_context = self._arguments.of(node, kernel), wants_context(node, kernel)
        prepared, waits = _prepare_inputs(node), node.definition.blocking
        single = len(node.definition.outputs) == 1 and not node.definition.outputs[0].is_list

        def run(values: list[Any], context: StepContext) -> Sequence[Any]:
            given = {**keywords, "context": context} if takes_context else keywords
            arguments = prepared(values)
            result = context.resolve(kernel, *arguments, **given) if waits else kernel(*arguments, **given)
            return [result] if single else () if result is None else result

        return run

    def _call(self, op: Operation) -> _Call:
        """The call of a function is a plan of its own."""
        feeds = tuple(dict.fromkeys(op.inputs))
        where = [op.inputs.index(tensor) for tensor in feeds]
        request = StepRequest(tuple(op.outputs), (op,), feeds, done=frozenset(op.control_inputs))
        program = build_program(request, self._progress)
        place(program, self._placement)
        plan = emit(program, self._arguments, self.hook)

        def run(values: list[Any], context: StepContext) -> Sequence[Any]:
            results: Sequence[Any] = plan.run(context, [_on_host(values[i]) for i in where])  # as feeds are
            return results

        return run

    def _connect(self, fetches: Sequence[Tensor], feeds: Sequence[Tensor], ops: Set[Operation]) -> None:
        position = {tensor: i for i, tensor in enumerate(feeds)}
        written, resized = written_before(ops), resized_in(ops)

        def rewritten(op: Operation | None, tensor: Tensor) -> Tensor | None:
            """The reference to memory that was read as the tensor, and written before the operation runs."""
            source = memory_behind(tensor, position.__contains__) if op in written else None
            variable = None if source is None else variable_behind(source)
            return source if variable in written.get(op, ()) and variable not in resized else None

        for op, item in self.items.items():
            item.inputs = len(op.inputs)
            controls = dict.fromkeys(op.control_inputs)
            for slot, tensor in enumerate(op.inputs):
                if tensor in position:
                    self.fed[position[tensor]].append((item, slot))
                    continue
                source = rewritten(op, tensor)
                if source is not None and self.frame_of[source.op] is self.frame_of[op]:
                    controls[tensor.op] = None
                    tensor = source
                elif source is not None and source.op.definition.handle:
                    item.call = _with_memory(item.call, slot, self.items[source.op].call)
                self.items[tensor.op].out[tensor.value_index].append((item, slot))
            for control in controls:
                if control in ops:
                    item.controls += 1
                    self.items[control].after.append(item)
        for i, tensor in enumerate(fetches):
            if tensor in position:
                self.fed_fetches.append((position[tensor], i))
            elif self.frame_of[tensor.op].parent is not None:
                raise stays_inside(tensor)
            else:
                self.items[tensor.op].fetched.append((tensor.value_index, i))
                source = rewritten(None, tensor)
                if source is not None and source.op.definition.handle:
                    self.rewritten[i] = self.items[source.op]


def _around(run: _FrameRun) -> tuple[_FrameRun, int]:
    """The frame around a frame that runs, and its iteration."""
    assert run.parent is not None, "only Exits of a frame lead out of it"
    return run.parent


def _on_host(value: Any) -> Any:
    return value.cpu() if isinstance(value, torch.Tensor) else value


def _merge(values: list[Any], context: StepContext) -> Sequence[Any]:
    index = next(i for i, value in enumerate(values) if value is not None and value is not DEAD)
    return values[index], torch.tensor(index, dtype=torch.int32)


def _switch(values: list[Any], context: StepContext) -> Sequence[Any]:
    data, pred = values
    return (DEAD, data) if scalar_predicate(pred) else (data, DEAD)


def _with_memory(call: _Call, slot: int, variable: _Call) -> _Call:
    """The call, with the value that a variable of a frame around it has by then as the input at `slot`."""

    def run(values: list[Any], context: StepContext) -> Sequence[Any]:
        values[slot] = variable([], context)[0].read()
        return call(values, context)

    return run


def _is_variable(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype is dtypes.resource


def _merge_values(values: list[Any], context: StepContext) -> Sequence[Any]:
    """Of a loop's variable, whose next value may be a reference: what it refers to now."""
    value, index = _merge(values, context)
    return value.read() if isinstance(value, Variable) else value, index


def _key(item: _Item, run: _FrameRun, iteration: int) -> str:
    """The rendezvous key of a value that is sent to another task."""
    return f"{item.op.attrs['tensor_name']}{_path(run, iteration)}"


def _path(run: _FrameRun, iteration: int) -> str:
    """The frames and iterations in which a node runs; empty outside of all loops."""
    if run.parent is None:
        return ""
    return f"{_path(*run.parent)}/{run.frame.name}:{iteration}"


def _prepare_inputs(node: Node) -> Callable[[list[Any]], list[Any]]:
    """From a node's input values to its kernel's arguments: references are read, values copied to the device,
    or to the host where the schema says so.
    """
    op = node.definition
    prepare = [
        (arg, arg.name in op.host, len(members) if arg.is_list else 1)
        for arg, members in zip(op.inputs, node.grouped_inputs, strict=True)
    ]

    def one(value: Any, arg: Any, on_host: bool, source: Value) -> Any:
        if isinstance(value, Variable) and not arg.is_ref and source.dtype is not dtypes.resource:
            value = value.read()
        if on_host:
            return host_value(_on_host(value))
        if isinstance(value, torch.Tensor) and node.device is not None and value.device != node.device:
            return value.to(node.device)
        return value

    def arguments(values: list[Any]) -> list[Any]:
        made, position = [], 0
        for arg, on_host, count in prepare:
            places = range(position, position + count)
            items = [one(values[i], arg, on_host, node.inputs[i]) for i in places]
            made.append(items if arg.is_list else items[0])
            position += count
        return made

    return arguments


# An operation that another thread or task has run: its item, frame and iteration, its outputs, or its error.
_Finished = tuple[_Item, _FrameRun, int, Sequence[Any], BaseException | None]


class _Run:
    """One step."""

    def __init__(self, graph: _TokenGraph, context: StepContext, feeds: Sequence[Any]):
        self.graph = graph
        self.context = context.inner()  # cancelled, for the other threads, where an operation fails
        self.ready: collections.deque[tuple[_Item, _FrameRun, int, list[Any], bool]] = collections.deque()
        self.fetched: list[Any] = [DEAD] * graph.fetches
        self.finished: queue.SimpleQueue[_Finished] = queue.SimpleQueue()
        self.pending = 0  # operations that run in another thread, or wait for another task
        self.root = _FrameRun(graph.outside, 0, None, 1)
        for item in graph.items.values():
            if not item.inputs and not item.controls:
                self._schedule(item, self.root, 0, [], False)
        for value, consumers in zip(feeds, graph.fed, strict=True):
            for item, slot in consumers:
                self._arrive(item, slot, value, self.root, 0)
        for source, position in graph.fed_fetches:
            self.fetched[position] = feeds[source]

    def results(self) -> tuple[Any, ...]:
        try:
            while self.ready or self.pending:
                deliver()
                if self.ready:
                    self._process(*self.ready.popleft())
                else:
                    self._wait()
        except BaseException:
            self._cancel()
            raise
        for i, (value, name) in enumerate(zip(self.fetched, self._fetch_names(), strict=True)):
            if value is DEAD:
                raise errors.invalid_argument(
                    f"Retval[{i}] does not have value: '{name}' does not have a value, as no branch that "
                    "makes it was taken in this step.",
                )
        for position, variable in self.graph.rewritten.items():
            self.fetched[position] = variable.call([], self.context)[0]
        return tuple(v.read() if hasattr(v, "read") else v for v in self.fetched)

    @held
    def _cancel(self) -> None:
        """Ends the threads that wait on behalf of this step, so that they leave queues whole."""
        self.context.cancel()
        if self.context.rendezvous is not None:
            self.context.rendezvous.end(errors.cancelled("The step was cancelled."))
        while self.pending:
            self.graph.resources.wake()
            with contextlib.suppress(queue.Empty):
                self.finished.get(timeout=_POLL_SECONDS)
                self.pending -= 1

    def _fetch_names(self) -> list[str]:
        names = [""] * self.graph.fetches
        for item in self.graph.items.values():
            for output, position in item.fetched:
                names[position] = item.op.outputs[output].name
        return names

    # ------------------------------------------------------------------ running nodes

    def _process(self, item: _Item, run: _FrameRun, iteration: int, values: list[Any], dead: bool) -> None:
        if self.graph.resources.closed:
            raise errors.cancelled("Step was cancelled: the session was closed while it ran.")
        if item.type == SEND:
            self._send_to_task(item, run, iteration, values, dead)
        elif dead:
            self._complete(item, run, iteration, [DEAD] * len(item.out), dead=True)
        elif item.type == RECV:
            self._receive(item, run, iteration)
        elif item.op.definition.blocking:
            self._run_in_thread(item, run, iteration, values)
        else:
            self._complete(item, run, iteration, self._call(item, values))

    def _send_to_task(
        self, item: _Item, run: _FrameRun, iteration: int, values: list[Any], dead: bool
    ) -> None:
        """Sends the value of an edge between tasks, dead or alive: one in every iteration."""
        value = DEAD if dead else self._call(item, values)[0]
        self._rendezvous.put(_key(item, run, iteration), value, item.op.attrs["recv_device"])
        self._complete(item, run, iteration, (), dead)

    def _receive(self, item: _Item, run: _FrameRun, iteration: int) -> None:
        def arrived(value: Any, error: OpError | None) -> None:
            self.finished.put((item, run, iteration, [value], error))

        self._rendezvous.when(_key(item, run, iteration), arrived)
        self.pending += 1

    @property
    def _rendezvous(self) -> Rendezvous:
        assert self.context.rendezvous is not None, "only steps on a cluster have Send and Recv"
        return self.context.rendezvous

    def _call(self, item: _Item, values: list[Any]) -> Sequence[Any]:
        try:
            hook = self.graph.hook
            if hook is not None and hook.before is not None:
                hook.before()
            outputs = item.call(values, self.context)
            if hook is not None and (hook.looks_at_values or item.type not in _ROUTING):
                hook.after(self.context, item.node, tuple(outputs), tuple(values))
            return outputs
        except OpError as error:
            if error.op is None and error.node_def is None:  # else it is of another task
                error._op, error._node_def = item.op, item.op.node_def
            raise
        except Exception as error:
            raise KernelError(item.node, values) from error

    def _run_in_thread(self, item: _Item, run: _FrameRun, iteration: int, values: list[Any]) -> None:
        """An operation may wait for another one of this step, and must not keep that from running."""

        def work() -> None:
            try:
                self.finished.put((item, run, iteration, self._call(item, values), None))
            except BaseException as error:
                self.finished.put((item, run, iteration, (), error))

        thread = threading.Thread(target=work, name=f"tideflow {item.op.name}", daemon=True)
        wait_at_exit(thread).start()
        self.pending += 1  # last: a thread that could not start is none to wait for

    def _wait(self) -> None:
        if self.context.rendezvous is not None:
            self.context.rendezvous.flush()
        try:
            item, run, iteration, outputs, error = self.finished.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            self.context.time_left(self.graph.resources.is_closed, "Running a step")
            return
        self.pending -= 1
        if error is not None:
            raise error
        self._complete(item, run, iteration, outputs, dead=any(value is DEAD for value in outputs))

    # ------------------------------------------------------------------ sending tokens

    def _complete(
        self, item: _Item, run: _FrameRun, iteration: int, outputs: Sequence[Any], dead: bool = False
    ) -> None:
        if item.type in ENTER:
            self._enter(item, run, iteration, outputs[0])
        elif item.type in EXIT:
            self._exit(item, run, outputs[0])
        elif item.type in NEXT:
            if self.context.may_end:
                self.context.check(self.graph.resources.is_closed, "Running a loop", "Loop execution")
            self._next(item, run, iteration, outputs[0])
        else:
            self._send(item, run, iteration, outputs, dead)
        self._less_busy(run, iteration)

    def _send(
        self, item: _Item, run: _FrameRun, iteration: int, outputs: Sequence[Any], dead: bool = False
    ) -> None:
        for consumers, value in zip(item.out, outputs, strict=False):
            for consumer, slot in consumers:
                self._arrive(consumer, slot, value, run, iteration, item)
        for consumer in item.after:
            self._control(consumer, run, iteration, dead)
        if run is self.root:
            for output, position in item.fetched:
                self.fetched[position] = outputs[output]

    def _enter(self, item: _Item, run: _FrameRun, iteration: int, value: Any) -> None:
        frame = self.graph.frame_of[item.op]
        inner = run.inner.get((frame, iteration))
        if inner is None:
            parallel = item.op.attrs["parallel_iterations"]
            inner = _FrameRun(frame, self.graph.enters[frame], (run, iteration), parallel)
            run.inner[(frame, iteration)] = inner
            run.busy[iteration] += 1
        inner.awaited -= 1
        if item.op.attrs["is_constant"]:
            inner.constants.append((item, value))
            for live in list(inner.waiting):
                self._send(item, inner, live, [value], value is DEAD)
        else:
            self._send(item, inner, 0, [value], value is DEAD)
        self._settle(inner)

    def _exit(self, item: _Item, run: _FrameRun, value: Any) -> None:
        if value is DEAD:
            run.left.setdefault(item, False)
            return
        if run.left.get(item):
            return  # only one value leaves by an Exit: the first, where several iterations send one
        run.left[item] = True
        outer, iteration = _around(run)
        self._send(item, outer, iteration, [value])

    def _next(self, item: _Item, run: _FrameRun, iteration: int, value: Any) -> None:
        if value is DEAD:
            return
        following = iteration + 1
        if following in run.waiting:
            self._send(item, run, following, [value])
        elif len(run.waiting) < run.parallel:
            self._begin(run, following)
            self._send(item, run, following, [value])
        else:
            run.deferred.setdefault(following, []).append((item, value))

    def _begin(self, run: _FrameRun, iteration: int) -> None:
        run.waiting[iteration] = {}
        run.busy[iteration] = 0
        for item, value in run.constants:
            self._send(item, run, iteration, [value], value is DEAD)

    def _less_busy(self, run: _FrameRun, iteration: int) -> None:
        run.busy[iteration] -= 1
        self._settle(run)

    def _settle(self, run: _FrameRun) -> None:
        """Ends the iterations that are over, oldest first, and the frame with the last of them."""
        if run.parent is None:
            return
        while run.waiting and not run.awaited:
            oldest = min(run.waiting)
            if run.busy[oldest]:
                return
            del run.waiting[oldest], run.busy[oldest]
            following = min(run.deferred, default=None)
            if following is not None:
                self._begin(run, following)
                for item, value in run.deferred.pop(following):
                    self._send(item, run, following, [value])
        if not run.waiting and not run.awaited:
            self._end(run)

    def _end(self, run: _FrameRun) -> None:
        outer, iteration = _around(run)
        if outer.inner.pop((run.frame, iteration), None) is None:
            return
        for item, alive in run.left.items():
            if not alive:
                self._send(item, outer, iteration, [DEAD], dead=True)
        self._less_busy(outer, iteration)

    # ------------------------------------------------------------------ receiving tokens

    def _arrive(
        self, item: _Item, slot: int, value: Any, run: _FrameRun, iteration: int, sender: _Item | None = None
    ) -> None:
        arrived = self._arrived(item, run, iteration)
        if arrived is None:
            return
        if item.type in MERGE:
            self._arrive_at_merge(item, slot, value, run, iteration, arrived, sender)
            return
        arrived.inputs -= 1
        arrived.values[slot] = value
        arrived.dead += value is DEAD
        self._run_if_complete(item, run, iteration, arrived)

    def _control(self, item: _Item, run: _FrameRun, iteration: int, dead: bool) -> None:
        arrived = self._arrived(item, run, iteration)
        if arrived is None:
            return
        arrived.controls -= 1
        if dead and item.type not in MERGE and item.type != "ControlTrigger":
            arrived.dead += 1
        if item.type in MERGE:
            self._run_merge(item, run, iteration, arrived)
        else:
            self._run_if_complete(item, run, iteration, arrived)

    def _arrived(self, item: _Item, run: _FrameRun, iteration: int) -> _Arrived | None:
        found = run.waiting.get(iteration)
        if found is None:
            return None  # the iteration is over
        if item not in found:
            found[item] = _Arrived(item)
        return found[item]

    def _run_if_complete(self, item: _Item, run: _FrameRun, iteration: int, arrived: _Arrived) -> None:
        if not arrived.inputs and not arrived.controls:
            self._schedule(item, run, iteration, arrived.values, arrived.dead > 0)

    def _arrive_at_merge(
        self,
        item: _Item,
        slot: int,
        value: Any,
        run: _FrameRun,
        iteration: int,
        arrived: _Arrived,
        sender: _Item | None,
    ) -> None:
        """A Merge runs on its first live input. It is dead when all inputs are, or when the loop that it
        begins was never entered.
        """
        if value is DEAD:
            arrived.dead += 1
            if sender is not None and sender.type in ENTER:
                arrived.dead = item.inputs
        elif arrived.inputs > 0:
            arrived.inputs = 0
            arrived.values[slot] = value
        self._run_merge(item, run, iteration, arrived)

    def _run_merge(self, item: _Item, run: _FrameRun, iteration: int, arrived: _Arrived) -> None:
        if arrived.controls:
            return
        if arrived.inputs == 0:
            arrived.inputs = -1
            self._schedule(item, run, iteration, arrived.values, False)
        elif arrived.inputs > 0 and arrived.dead == item.inputs:
            arrived.inputs = -1
            self._schedule(item, run, iteration, arrived.values, True)

    def _schedule(self, item: _Item, run: _FrameRun, iteration: int, values: list[Any], dead: bool) -> None:
        run.busy[iteration] += 1
        self.ready.append((item, run, iteration, values, dead))
