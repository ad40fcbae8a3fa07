"""Gradients of loops: for each forward loop a backward loop with the same number of iterations.

The forward loop counts its iterations and pushes each value that the backward loop needs onto a stack; the
backward loop counts down and pops. The gradients of loop variables are loop variables of the backward loop.
It sums the gradients of values that the forward loop takes from outside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tideflow.graph.composite import IndexedSlices
from tideflow.graph.dtypes import DType
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import colocate_with, control_dependencies, get_default_graph
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import constants, creation, joining, shapes
from tideflow.ops.control_flow import stacks, switches
from tideflow.ops.control_flow.contexts import (
    CondContext,
    Context,
    LoopContext,
    current_context,
    inside,
    is_constant_enter,
    is_exit,
    is_loop_switch,
    loop_of,
    loop_of_output,
    output_context,
)
from tideflow.ops.math import binary, casting

if TYPE_CHECKING:
    from tideflow.graph.typing import Gradient, ShapeLike


class LoopGradient:
    """The backward loop of one forward loop."""

    forward_index: Tensor  # the number of the next iteration of the forward loop

    def __init__(self, forward: LoopContext, outer: LoopGradient | None) -> None:
        self.forward = forward
        self.outer = outer
        self.variables: dict[Operation, Tensor] = {}  # the forward loop's Switch -> the backward Merge
        self.waiting_exits = len(forward.exits)
        self.deferred_exits: list[Tensor] = []
        self.unused_exits: list[Tensor] = []
        self.forward_exits = list(forward.exits)
        self.called_in = current_context()  # the context in which the program called `gradients`
        self._graph = forward.graph
        self._history: dict[Tensor, Tensor] = {}
        self._forward_sync: Operation | None = None
        self._backward_sync: Operation | None = None
        around = outer.forward if outer is not None else forward.outer_context
        with inside(self._graph, around):
            count = self._count_forward()
        if outer is None:
            with inside(self._graph, around):
                self.backward = self._backward_loop()
                self.index = self._count_backward(count)
            return
        outer.forward.knows(count)
        history = outer.push(count)
        with inside(self._graph, outer.backward):
            self.backward = self._backward_loop()
            self.index = self._count_backward(outer.pop(history, count))

    def _backward_loop(self) -> LoopContext:
        forward = self.forward
        return LoopContext(
            self._graph,
            self._graph.unique_name(forward.name),
            forward.parallel_iterations,
            forward.back_prop,
            forward.swap_memory,
            forward.maximum_iterations,
            grad_state=self,
        )

    # ------------------------------------------------------------------ counting

    def _count_forward(self) -> Tensor:
        """Adds a counter to the forward loop; returns its final value, the number of iterations."""
        forward = self.forward
        zero = constants.constant(0, name="f_count")
        if self.outer is not None:
            # The pushes of one run of an inner loop precede those of its next run.
            zero.op._add_control_input(self.outer.forward_index.op.inputs[0].op)
        with inside(self._graph, forward):
            forward.knows(zero)
            entered = forward.enter(zero, name="f_count")
            forward.enters.append(entered)
            merged = switches.merge([entered, entered])[0]
            leaving, going_on = switches.switch(merged, forward.pivot, beside=False)
            self.forward_index = switches.next_iteration(binary.add(going_on, 1))
            merged.op._update_input(1, self.forward_index)
            total: Tensor = switches.exit(leaving, name="f_count")
            forward.give([total])
        return total

    def _count_backward(self, count: Tensor) -> Tensor:
        """Makes the predicate of the backward loop, which has as many iterations as the forward loop had."""
        backward = self.backward
        one = constants.constant(1, name="b_count")
        with inside(self._graph, backward):
            backward.knows(count)
            entered = backward.enter(count, name="b_count")
            backward.enters.append(entered)
            merged = switches.merge([entered, entered])[0]
            backward.pivot_for_pred = merged
            backward.pivot = switches.loop_cond(binary.greater_equal(merged, one), name="b_count")
            leaving, going_on = switches.switch(merged, backward.pivot, beside=False)
            index = binary.subtract(going_on, one)
            backward.pivot_for_body = index
            following: Tensor = switches.next_iteration(index)
            merged.op._update_input(1, following)
            end = switches.exit(leaving, name="b_count")
            if self.outer is not None:
                # The pops of one run of an inner backward loop precede those of its next run.
                self.outer.backward_sync._add_control_input(end.op)
            backward.give([end])
        return following

    @property
    def forward_sync(self) -> Operation:
        """An operation of each forward iteration that waits for the pushes inside conditionals."""
        if self._forward_sync is None:
            self._forward_sync = self._sync("f_sync", self.forward, self.forward_index)
        return self._forward_sync

    @property
    def backward_sync(self) -> Operation:
        """An operation of each backward iteration that waits for the pops, so that they stay in order."""
        if self._backward_sync is None:
            self._backward_sync = self._sync("b_sync", self.backward, self.index)
        return self._backward_sync

    def _sync(self, name: str, context: LoopContext, index: Tensor) -> Operation:
        with control_dependencies(None):
            sync: Operation = switches.control_trigger(name=name)
        sync._control_flow_context = context
        index.op._add_control_input(sync)
        return sync

    # ------------------------------------------------------------------ forward values

    def remembered(self, tensor: Tensor) -> Tensor:
        """The value that `tensor` had in an iteration of the forward loop, in the matching backward one."""
        if tensor not in self._history:
            self._history[tensor] = self._remember(tensor)
        return self._history[tensor]

    def _remember(self, tensor: Tensor) -> Tensor:
        state = self
        while (entered := _constant_enter(tensor)) is not None:
            tensor = entered.inputs[0]
            if state.outer is None:  # the value was the same in all iterations of all loops
                return self.backward.enter_value(tensor)
            state = state.outer
        if tensor.op.definition.role == "constant":
            return constants.constant(constant_value(tensor), dtype=tensor.dtype)
        with inside(self._graph, self.called_in):
            history = state.push(tensor)
        popped = state.pop(history, tensor)
        return popped if state is self else self.backward.enter_value(popped)

    def remembered_predicate(self, pred: Tensor) -> Tensor:
        """The value of a conditional's predicate in the matching iteration of the forward loop."""
        if pred not in self._history:
            with inside(self._graph, self.called_in):
                history = self.push(pred)
            self._history[pred] = self.pop(history, pred)
        return self._history[pred]

    def push(self, tensor: Tensor, other_branch: bool = False) -> Tensor:
        """Makes the forward loop push the tensor in every iteration; returns the stack."""
        around = current_context()
        with control_dependencies(None):
            with inside(self._graph, around), colocate_with(tensor):
                limit = constants.constant(-1)
                stack: Tensor = stacks.stack_v2(limit, tensor.dtype.base_dtype, name="f_acc")
            handle = self.forward.enter_value(stack)
            context = output_context(tensor.op)
            if context is self.forward:
                with inside(self._graph, context):
                    pushed = stacks.stack_push_v2(handle, tensor, self.forward.swap_memory)
                self.forward_index.op._add_control_input(pushed.op)
            else:
                if not isinstance(context, CondContext):
                    raise TypeError(f"value_ctxt is not a CondContext: {context}")
                pushed = self._push_in_branch(handle, tensor, context, other_branch)
                self.forward_sync._add_control_input(pushed.op)
            pushed.op._add_control_input(self.forward_index.op.inputs[0].op)
        return stack

    def _push_in_branch(
        self, handle: Tensor, tensor: Tensor, context: CondContext, other_branch: bool
    ) -> Tensor:
        with inside(self._graph, context.outer_context if other_branch else context):
            pushed: Tensor = stacks.stack_push_v2(handle, tensor, self.forward.swap_memory)
        if other_branch:
            pushed.op._control_flow_context = context
        return pushed

    def pop(self, stack: Tensor, tensor: Tensor, other_branch: bool = False) -> Tensor:
        """Makes the backward loop pop the value of `tensor` in every iteration."""
        branch = _branch_between(tensor, stack)
        with control_dependencies(None), inside(self._graph, self.backward):
            if branch is not None:
                pred = self._known_predicate(branch.pred)
                stack = switches.switch(stack, pred)[branch.branch ^ other_branch]
            popped: Tensor = stacks.stack_pop_v2(stack, tensor.dtype.base_dtype)
            popped.set_shape(tensor.shape)
        if self.backward.parallel_iterations > 1:
            self.backward_sync._add_control_input(popped.op)
        return popped

    def _known_predicate(self, pred: Tensor) -> Tensor:
        state: LoopGradient | None = self
        while state is not None:
            if pred in state._history:
                return state._history[pred]
            state = state.outer
        return pred

    # ------------------------------------------------------------------ values from outside the loop

    def accumulated(self, op: Operation, grad: Gradient) -> Gradient:
        """The sum over the iterations of the gradient of a value that enters the loop through `op`."""
        if isinstance(grad, IndexedSlices):
            with inside(self._graph, self.called_in), inside(self._graph, self.backward.outer_context):
                rows = self._first_rows(op, grad)
            return self._accumulated_rows(rows, grad)
        with inside(self._graph, self.called_in):
            start = self._zeros_for(op, grad)
        return self._loop_variables([start], lambda totals: [binary.add(totals[0], grad)])[0]

    def _zeros_for(self, op: Operation, grad: Tensor) -> Tensor:
        around = self.backward.outer_context
        if grad.shape.is_fully_defined():
            with inside(self._graph, around):
                return constants.constant(0, grad.dtype, shape=grad.shape.as_list(), name="b_acc")
        value = op.inputs[0]
        if self.outer is None or not isinstance(around, LoopContext):
            with inside(self._graph, around):
                return _zeros(_size(value), grad.dtype)
        size = _size_in(value, self.forward.outer_context)
        history = self.outer.push(size)
        with inside(self._graph, around):
            return _zeros(self.outer.pop(history, size), grad.dtype)

    def _first_rows(self, op: Operation, grad: IndexedSlices) -> list[Tensor]:
        """A row of zeros at index 0, to which the iterations' rows are appended."""
        if grad.values.shape.is_fully_defined():
            sizes = [1, *grad.values.shape.as_list()[1:]]
            values = constants.constant(0, grad.values.dtype, shape=sizes, name="b_acc")
        else:
            values = _zeros(joining.concat([[1], _size(op.inputs[0])[1:]], 0), grad.values.dtype)
        rows = [constants.constant([0], grad.indices.dtype), values]
        if grad.dense_shape is not None:
            shape = grad.dense_shape.shape
            if shape.is_fully_defined():
                rows.append(constants.constant(0, grad.dense_shape.dtype, shape=shape.as_list()))
            else:
                rows.append(creation.zeros_like(casting.cast(_size(op.inputs[0]), grad.dense_shape.dtype)))
        return rows

    def _accumulated_rows(self, rows: list[Tensor], grad: IndexedSlices) -> IndexedSlices:
        """The rows of all iterations. Several may have the same index: the consumer adds those."""

        def append(old: list[Tensor]) -> list[Tensor]:
            new = [joining.concat([old[0], grad.indices], 0), joining.concat([old[1], grad.values], 0)]
            return new if len(old) == 2 else [*new, binary.maximum(grad.dense_shape, old[2])]

        growing: list[ShapeLike | None] = [
            [None],
            [None, *rows[1].shape.as_list()[1:]] if rows[1].shape.ndims else None,
            rows[-1].shape,
        ]
        indices, values, *full = self._loop_variables(rows, append, growing)
        return IndexedSlices(values, indices, *full)

    def _loop_variables(
        self,
        starts: list[Tensor],
        step: Callable[[list[Tensor]], list[Tensor]],
        shapes_inside: list[ShapeLike | None] | None = None,
    ) -> list[Tensor]:
        """Adds variables to the backward loop; returns their values after the last iteration.

        They begin as `starts`, and each iteration replaces them by `step` of their values. Inside the loop
        they have the shapes `shapes_inside`, if these are given.
        """
        backward, name = self.backward, "b_acc"
        with inside(self._graph, backward):
            backward.knows(*starts)
            entered = [backward.enter(start, name=name) for start in starts]
            for tensor, shape in zip(entered, shapes_inside or (), strict=False):
                tensor._shape = TensorShape(shape)
            backward.enters += entered
            merged = [switches.merge([tensor, tensor], name=name)[0] for tensor in entered]
            sides = [switches.switch(tensor, backward.pivot, beside=False) for tensor in merged]
            following = [switches.next_iteration(value) for value in step([on_true for _, on_true in sides])]
            for tensor, value in zip(merged, following, strict=True):
                tensor.op._update_input(1, value)
            totals = [switches.exit(on_false, name=name) for on_false, _ in sides]
            backward.give(totals)
        return totals


class LoopGradients:
    """The loops among the operations of a backward pass, each with its backward loop."""

    def __init__(self, ops: dict[Operation, None], colocate: bool) -> None:
        self._states: dict[LoopContext, LoopGradient] = {}
        for op in list(ops):
            if is_exit(op):
                with colocate_with(op) if colocate else contextlib.nullcontext():
                    self._meet(op, ops)

    def __bool__(self) -> bool:
        return bool(self._states)

    def _meet(self, op: Operation, ops: dict[Operation, None]) -> None:
        forward = loop_of(op)
        if forward is None:
            raise ValueError(
                f"'{op.name}' ends a loop of which the graph does not know the structure, as after importing "
                "a GraphDef: import a MetaGraphDef, which keeps it, to take gradients of its loops."
            )
        if forward in self._states:
            return
        self._states[forward] = state = LoopGradient(forward, self._around(forward))
        for tensor in state.forward_exits:  # a backward loop needs all Exits of the forward loop
            ops.setdefault(tensor.op)

    def _around(self, forward: LoopContext) -> LoopGradient | None:
        """The backward loop of the loop around a forward loop."""
        outer = forward.outer_context
        return None if outer is None or outer.loop is None else self._states.get(outer.loop)

    def state_of(self, op: Operation, before: bool) -> LoopGradient | None:
        """The backward loop that computes the gradients of `op`.

        An Exit is on the border of a loop. With `before`, this is the backward loop for the gradients of its
        outputs, which are outside the loop, else that for the gradients of its inputs.
        """
        loop = loop_of_output(op) if before else loop_of(op)
        return None if loop is None else self._states.get(loop)

    @contextlib.contextmanager
    def entered(self, op: Operation, before: bool) -> Iterator[None]:
        """Makes the operations of a `with` block part of the backward loop of `op`, if it has one."""
        state = self.state_of(op, before)
        if state is None:
            yield
            return
        with inside(get_default_graph(), state.backward):
            yield

    def unused_exits(self, pending: dict[Operation, int], targets: set[Operation]) -> list[Tensor]:
        """The Exits without gradients, of loops none of whose other Exits remain to be visited."""
        found: list[Tensor] = []
        for state in self._states.values():
            for tensor in state.forward_exits:
                if pending[tensor.op] == 0:
                    state.waiting_exits -= 1
                    if tensor.op not in targets:
                        state.unused_exits.append(tensor)
                    if state.waiting_exits == 0:
                        found += state.unused_exits
            for tensor in state.forward.enters:
                if pending[tensor.op] == 0:
                    pending[tensor.op] = 1
        return found

    def zeros_for_exit(self, tensor: Tensor) -> Tensor:
        """The gradient of an Exit to which no consumer has sent one."""
        forward = loop_of(tensor.op)
        assert forward is not None, f"{tensor.op.name} is an Exit, so it has a loop"
        outer = self._around(forward)
        known = tensor.shape.as_list() if tensor.shape.is_fully_defined() else None
        if outer is None:
            if known is not None:
                return _zeros(known, tensor.dtype)
            zeros: Tensor = creation.zeros_like(tensor, optimize=False)
            return zeros
        if known is None:
            size = _size_in(tensor, forward.outer_context)
            history = outer.push(size)
            with inside(tensor.graph, outer.backward):
                return _zeros(outer.pop(history, size), tensor.dtype)
        with inside(tensor.graph, outer.backward):
            return _zeros(known, tensor.dtype)

    def zeros_like(self, op: Operation, index: int) -> Tensor | None:
        """Zeros in place of the gradient of an output to which no consumer has sent one.

        They are in the backward loop, if `op` is in a loop.
        """
        if is_loop_switch(op):
            return None
        state = self.state_of(op, before=False)
        if state is None:
            return switches.zeros_like_output(op, index)
        tensor, context = switches.value_of(op.outputs[index]), op._control_flow_context
        assert isinstance(context, Context), f"{op.name} is in a loop"
        branch = context if op.type in ("Switch", "RefSwitch") and isinstance(context, CondContext) else None
        if tensor.shape.is_fully_defined():
            zeros = constants.constant(0, shape=tensor.shape.as_list(), dtype=tensor.dtype)
            if branch is None:
                return zeros
            sides: tuple[Tensor, Tensor] = switches.switch(zeros, state._history.get(branch.pred))
            return sides[1 - branch.branch]
        size = _size_in(tensor, context) if branch is None else _size_in_branch(op, branch)
        with inside(tensor.graph, state.called_in):
            history = state.push(size, branch is not None)
        return _zeros(state.pop(history, size, branch is not None), tensor.dtype)

    def finish(self) -> None:
        """Completes the backward loops.

        A forward variable whose next value does not depend on its last one has a gradient in the last
        iteration only. Its backward variable has no second input yet: it gets zeros for the other iterations.
        """
        for state in self._states.values():
            for merged in state.variables.values():
                first, second = merged.op.inputs
                if first is second:
                    self._continue_with_zeros(state, merged)

    def _continue_with_zeros(self, state: LoopGradient, merged: Tensor) -> None:
        entered = merged.op.inputs[0]
        graph = merged.graph
        if entered.shape.is_fully_defined():
            with inside(graph, state.backward):
                zeros = constants.constant(0, dtype=entered.dtype, shape=entered.shape.as_list())
                following = switches.next_iteration(zeros)
        else:
            with inside(graph, state.backward.outer_context):
                size = _size(entered.op.inputs[0])
                zeros = _zeros(size, entered.dtype)
            with inside(graph, state.backward):
                following = switches.next_iteration(zeros)
        merged.op._update_input(1, following)


def _constant_enter(tensor: Tensor) -> Operation | None:
    """The Enter of a constant of a loop, if `tensor` is one, possibly behind Switches and Identities."""
    op = tensor.op
    while op.type in ("Identity", "RefIdentity", "Switch", "RefSwitch"):
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def _branch_between(tensor: Tensor, stack: Tensor) -> CondContext | None:
    """The branch, inside the loop, in which `tensor` is computed; None if every iteration computes it."""
    context, end = tensor.op._control_flow_context, stack.op._control_flow_context
    while context is not None and context is not end:
        if isinstance(context, CondContext):
            return context
        context = context.outer_context
    return None


def _zeros(size: Tensor | list[Any], dtype: DType) -> Tensor:
    zeros: Tensor = creation.zeros(size, dtype)
    return zeros


def _size(tensor: Tensor) -> Tensor:
    size: Tensor = shapes.shape_of(switches.value_of(tensor), optimize=False)
    return size


def _size_in(tensor: Tensor, context: Context | None) -> Tensor:
    with inside(tensor.graph, context):
        return _size(tensor)


def _size_in_branch(op: Operation, context: CondContext) -> Tensor:
    """The size of the input of `op`, a Switch, computed in the branch opposite to that of `op`."""
    with inside(op.graph, context.outer_context):
        other = switches.switch(op.inputs[0], context.pred)[1 - context.branch]
        size = _size(other)
    other.op._control_flow_context = size.op._control_flow_context = context
    return size
