"""A step of a graph as a PyTorch module, which `torch.export` can trace.

The step's constants, its trained variables among them, are the module's buffers. `forward` runs the nodes one
by one on their kernels. Sizes that only a run knows are symbols then: what the graph computes from them
(`Shape`, `StridedSlice`, `Pack`, ...) is followed by the value rules of the ops, in numbers and symbols, and
never becomes a tensor unless a kernel wants one.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import traceback as fx_traceback

from tideflow.compile.build import Unstructured, build_program
from tideflow.compile.ir import Loop, Node, Program, Value, walk
from tideflow.compile.kernels import OF_A_RUN, call_kernel, constant_value, has_objects, kernel_for
from tideflow.compile.place import place
from tideflow.compile.request import StepRequest
from tideflow.compile.rewrite import optimize
from tideflow.compile.unroll import unrolled
from tideflow.exchange import arrays
from tideflow.exchange.control_flow import Branch, Condition, Iteration, Step, decide, in_branches, sides_of
from tideflow.exchange.traced_kernels import KERNELS
from tideflow.graph.errors import OpError
from tideflow.graph.op import ShapeError
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.shapes import TensorShape
from tideflow.ops.control_flow.debugging import assert_op
from tideflow.ops.helpers.looking import has_symbols
from tideflow.runtime.devices import Placement
from tideflow.runtime.values import to_torch

SOURCE = "tideflow"  # under this name a node of a trace says which operation it belongs to


class CannotExport(ValueError):
    """Operations of a step that have no form outside of a session.

    Args:
      reasons: The operations, and why each of them cannot leave.

    Attributes:
      reasons: As given.
    """

    def __init__(self, reasons: Sequence[tuple[Operation | None, str]]):
        super().__init__("\n".join(f"{_named(operation)}: {reason}" for operation, reason in reasons))
        self.reasons = reasons


def _named(operation: Operation | None) -> str:
    if operation is None:
        return "a part of the step"
    return f"{operation.type} '{operation.name}', made at {operation.user_line}"


class StepModule(torch.nn.Module):
    """Computes fetches from feeds, as a session's step does.

    Args:
      feeds: The tensors that `forward` takes, in its order.
      fetches: The tensors that it returns.

    Raises:
      CannotExport: If the step has operations that only a session can run.
    """

    def __init__(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor]):
        super().__init__()
        self._program = _program(feeds, fetches)
        self._steps = in_branches(self._program.nodes)
        self._used = set(self._program.uses())
        self._buffer_of: dict[Value, str] = {}
        for node in walk(self._program):
            if node.definition.role == "constant" and not has_objects(node):
                self._keep(node)

    def _keep(self, node: Node) -> None:
        name = re.sub(r"\W", "_", node.name)
        while hasattr(self, name):
            name += "_"
        # In memory of its own, in the order of its elements: files of PyTorch store whole pieces of memory.
        self.register_buffer(name, constant_value(node).clone(memory_format=torch.contiguous_format))
        self._buffer_of[node.outputs[0]] = name

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The values of the fetches."""
        run = _Run(self)
        for value, tensor in zip(self._program.feeds, inputs, strict=True):
            run.set(value, tensor)
        run.all(self._steps)
        return tuple([run.tensor(value) for value in self._program.fetches])


def _program(feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Program:
    request = StepRequest(tuple(fetches), feeds=tuple(feeds))
    try:
        program = build_program(request)
    except Unstructured as error:
        raise CannotExport([(None, str(error))]) from None
    _drop_checks(program)
    place(program, Placement([]))
    optimize(program, phases=("simplify",))  # fused kernels are this machine's own
    if decide(program):
        optimize(program, phases=("simplify",))
    program = unrolled(program) or program
    reasons = [(node.source, reason) for node in walk(program) if (reason := _why_not(node))]
    if reasons:
        raise CannotExport(reasons)
    return program


def _drop_checks(program: Program) -> None:
    """Takes out what only checks values: other systems have none of it."""
    checks = {node for node in walk(program) if node.definition is assert_op}
    for each in (program, *(node.body for node in walk(program) if isinstance(node, Loop))):
        each.nodes = [node for node in each.nodes if node not in checks]
    program.targets -= checks


def _why_not(node: Node) -> str:
    """Why no other system can run a node; empty where one can."""
    op = node.definition
    if op.role == "placeholder":
        return "it is not among the inputs"
    if isinstance(node, Loop):
        return ""  # what is inside may not be able to leave
    if node.choices and sides_of(node) is None:
        return "it joins other things than the two sides of one condition"
    if op.role == "constant":
        return ""
    if (reason := arrays.why_not(node)) is not None:
        return reason
    if op.blocking or op.touches or node.effects or op.handle:
        return "it has an effect, or uses state of a session"
    if has_objects(node):
        return "it takes or makes strings"
    wanted = OF_A_RUN.intersection(op.wants(kernel_for(node)))
    return f"its kernel needs the {', '.join(sorted(wanted))} of a session" if wanted else ""


class _Run:
    """The values of one call of `forward`, or of one branch of a condition in it."""

    def __init__(self, module: StepModule):
        self._module = module
        self._tensors: dict[Value, torch.Tensor] = {}
        self._empty: dict[Value, arrays.Empty] = {}
        self._sizes: dict[Value, Any] = {}  # of arrays

    def set(self, value: Value, tensor: torch.Tensor) -> None:
        """Notes a value. Its sizes, symbols among them, are known to the value rules from now on."""
        self._tensors[value] = tensor
        value.shape = _shape(tensor.shape)

    def all(self, steps: Sequence[Step]) -> None:
        """Runs nodes, conditions and loops, in their order."""
        for step in steps:
            if isinstance(step, Condition):
                self._condition(step)
            elif isinstance(step, Iteration):
                self._loop(step)
            else:
                self._node(step)

    def _condition(self, condition: Condition) -> None:
        taken = self._operands(condition.taken)
        pred = self.tensor(condition.pred).reshape([])
        otherwise, then = [self._function(side, taken) for side in condition.sides]
        # Not torch.cond: that would have Dynamo follow the branches.
        with self._structured(condition.merges[0], "its branches do not give one kind of tensor", taken):
            operands = tuple([self.tensor(value) for value in taken])
            results = torch.ops.higher_order.cond(pred, then, otherwise, operands)
        for merge, tensor in zip(condition.merges, results, strict=True):
            self.set(merge.outputs[0], tensor)
            if merge.outputs[1] in self._module._used:
                self.set(merge.outputs[1], (pred == (sides_of(merge)[1] == (0, 1))).to(torch.int32))

    def _loop(self, step: Iteration) -> None:
        loop, taken = step.loop, self._operands(step.taken)
        variables = [*loop.body.feeds, *taken]
        test, body = self._function(step.test, variables), self._function(step.body, variables)
        with self._structured(loop, "an iteration gives its variables other types or sizes", taken):
            initial = self._initial_of(loop, step.body, taken)
            operands = tuple([self.tensor(value) for value in taken])
            results = torch.ops.higher_order.while_loop(
                lambda *given: test(*given)[0].reshape([]), body, initial, operands
            )
        for value, tensor in zip(loop.outputs, results, strict=True):
            self.set(value, tensor)

    @contextlib.contextmanager
    def _structured(self, node: Node, reason: str, taken: Sequence[Value]) -> Iterator[None]:
        """Where PyTorch traces branches or a body, which take some values."""
        try:
            yield
        except CannotExport:
            raise
        except Exception as error:
            text = f"{reason}, or PyTorch cannot trace it: {error}"
            raise CannotExport([(node.source, text)]) from error
        for value in taken:
            self.set(value, self.tensor(value))  # a branch has noted the sizes of its own

    def _function(self, branch: Branch, given: Sequence[Value]) -> Callable[..., tuple[torch.Tensor, ...]]:
        """What a branch makes of values."""

        def compute(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            run = _Run(self._module)
            for value, tensor in zip(given, tensors, strict=True):
                run.set(value, tensor)
            run.all(branch.steps)
            # It may not return what it was given, nor tensors of other strides than its relatives do.
            results = [run.tensor(value) for value in branch.results]
            return tuple([tensor.clone(memory_format=torch.contiguous_format) for tensor in results])

        return compute

    def _node(self, node: Node) -> None:
        """Runs a node, unless its outputs follow from sizes."""
        if _is_of_sizes(node):
            return
        with fx_traceback.annotate({SOURCE: node.name}):
            self._compute(node)

    def _compute(self, node: Node) -> None:
        try:
            if arrays.why_not(node) is None:
                results = call_kernel(node, self.tensor, self._number, KERNELS.get(node.definition))
            else:
                results = arrays.compute(node, self._held, self._number)
        except (OpError, ShapeError) as error:
            raise CannotExport([(node.source, str(error))]) from error
        except Exception as error:
            raise CannotExport([(node.source, _why_untraced(error))]) from error
        for value, tensor in zip(node.outputs, results, strict=True):
            if isinstance(tensor, torch.Tensor):
                self.set(value, tensor)
            elif isinstance(tensor, arrays.Empty):
                self._empty[value] = tensor
            elif tensor is not None:
                self._sizes[value] = tensor

    def tensor(self, value: Value) -> torch.Tensor:
        """A value as a tensor."""
        if value in self._tensors:
            return self._tensors[value]
        if value in self._module._buffer_of:
            return getattr(self._module, self._module._buffer_of[value])
        known = self._sizes.get(value, partial_value(value))
        self._tensors[value] = _as_tensor(known, value.dtype.base_dtype.torch)
        return self._tensors[value]

    def _operands(self, values: Sequence[Value]) -> list[Value]:
        """The values that a branch is given: those that are tensors already. Others follow from sizes."""
        return [value for value in values if value in self._tensors or value in self._module._buffer_of]

    def _held(self, value: Value) -> torch.Tensor | arrays.Empty:
        """A value, which may be an array without elements."""
        return self._empty[value] if value in self._empty else self.tensor(value)

    def _initial_of(self, loop: Loop, body: Branch, taken: Sequence[Value]) -> tuple[torch.Tensor, ...]:
        """What the variables of a loop begin with. Arrays that it fills have elements of the shape that one
        iteration gives them.
        """
        empty = [value in self._empty for value in loop.inputs]
        begun = [None if lacks else self._initial(value) for value, lacks in zip(loop.inputs, empty)]
        if any(empty):
            run = _Run(self._module)
            for feed, value, tensor in zip(loop.body.feeds, loop.inputs, begun, strict=True):
                if tensor is None:
                    run._empty[feed] = self._empty[value]
                else:
                    run.set(feed, tensor)
            for value in taken:
                run.set(value, self.tensor(value))
            run.all(body.steps)
            made = [run._held(value) for value in body.results]
            if any(isinstance(value, arrays.Empty) for value in made):
                raise ValueError("an array has no elements after an iteration")
            begun = [torch.zeros_like(now) if lacks else old for now, old, lacks in zip(made, begun, empty)]
        return tuple(begun)

    def _initial(self, value: Value) -> torch.Tensor:
        """What a loop begins with, in memory of its own. Inductor takes no scalar constant there."""
        if value.constant is not None and value.constant.ndim == 0:
            return torch.scalar_tensor(value.constant.item(), dtype=value.dtype.torch)
        return self.tensor(value).clone()

    def _number(self, value: Value) -> Any:
        """A value as Python numbers and symbols, in which kernels take sizes and axes."""
        if value.constant is not None:
            return value.constant.tolist()
        known = self._sizes.get(value, partial_value(value))
        return known if fully_known(known) else self.tensor(value).tolist()


def _is_of_sizes(node: Node) -> bool:
    """Whether all outputs of a node are integers that follow from sizes."""
    if node.definition.value_rule is None or not all(value.dtype.is_integer for value in node.outputs):
        return False
    return all(fully_known(partial_value(value)) for value in node.outputs)


def _shape(sizes: Sequence[Any]) -> TensorShape:
    """A shape with symbols among its sizes, which the constructor would make numbers of."""
    shape = TensorShape(None)
    shape.tuple = tuple(sizes)
    return shape


def _as_tensor(known: Any, dtype: torch.dtype) -> torch.Tensor:
    array = np.array(known, dtype=object)
    if not has_symbols(array):
        return to_torch(array.astype(np.int64)).to(dtype)
    scalars = [torch.scalar_tensor(item, dtype=dtype) for item in array.flat]
    return torch.stack(scalars).reshape(array.shape) if array.ndim else scalars[0]


def _why_untraced(error: BaseException) -> str:
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode  # loaded when asked for

    if isinstance(error, GuardOnDataDependentSymNode) or "DataDependent" in type(error).__name__:
        return "its kernel looks at values, which are not known yet"
    return f"its kernel is not made of PyTorch's operations alone: {str(error).partition(chr(10))[0]}"
