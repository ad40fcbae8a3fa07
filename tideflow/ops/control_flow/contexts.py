"""Where an operation stands: inside which branch of a conditional, inside which loop.

While a branch or a loop's body is being built, its context is the thread's current one. What the new
operations take from outside comes in through a Switch (a branch) or an Enter (a loop); what has no inputs
waits for the context's pivot, so that it runs when, and as often as, the rest does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph
from tideflow.ops.arrays import constants

if TYPE_CHECKING:
    from tideflow.graph.graph import Graph

_SIZES = ("Shape", "Size", "Rank")

_primitives: dict[str, Callable[..., Any]] = {}


def register_primitives(**functions: Callable[..., Any]) -> None:
    """What brings a value into a branch, `switch`, and into a loop, `enter`: `switches.py`, whose gradients
    depend on contexts.
    """
    _primitives.update(functions)


@contextlib.contextmanager
def inside(graph: Graph, context: Context | None) -> Iterator[None]:
    """What is made in this block belongs to `context`, or to no construct at all."""
    with graph._local.block(context=context):
        yield


class Context:
    """A branch or a loop. It knows its own values, and those of outside under the name they have inside."""

    pivot: Tensor

    def __init__(self, graph: Graph, name: str):
        self.graph = graph
        self.name = name
        self.outer_context: Context | None = graph._local.context
        self.nested_contexts: list[Context] = []
        if self.outer_context is not None:
            self.outer_context.nested_contexts.append(self)
        self._known: set[Tensor] = set()
        self._entered: dict[Tensor, Tensor] = {}

    @property
    def loop(self) -> LoopContext | None:
        """The innermost loop this stands in, itself included."""
        return None if self.outer_context is None else self.outer_context.loop

    @property
    def control_pivot(self) -> Tensor:
        """What an operation without inputs waits for."""
        return self.pivot

    @property
    def grad_state(self) -> Any:
        return None if self.loop is None else self.loop.grad_state

    @property
    def back_prop(self) -> bool:
        return self.loop is not None and self.loop.back_prop

    def home(self, op_type: str, inputs: list[Tensor]) -> Context:
        """The context to which a new operation on `inputs` belongs.

        A backward loop that wants the size of a forward value is better served by the size computed in the
        forward loop: then the size is remembered for every iteration, not the value.
        """
        if op_type not in _SIZES or self.grad_state is None:
            return self
        forward = loop_of(inputs[0].op) is self.grad_state.forward
        return inputs[0].op._control_flow_context if forward else self

    def enter_value(self, tensor: Tensor) -> Tensor:
        """The tensor as the inside sees it."""
        if tensor in self._known or tensor.op._control_flow_context is self:
            return self._entered.get(tensor, tensor)
        self._known.add(tensor)
        inner = self._entered[tensor] = self._bring_in(tensor)
        return inner

    def _bring_in(self, tensor: Tensor) -> Tensor:
        raise AssertionError("a context is a branch or a loop")

    def _outside(self, tensor: Tensor) -> Tensor:
        return tensor if self.outer_context is None else self.outer_context.enter_value(tensor)

    def knows(self, *tensors: Tensor) -> None:
        """These values are inside already."""
        self._known.update(tensors)

    def check_use(self, tensor: Tensor, name: str, op_type: str, where: Context | None) -> None:
        """ValueError where an operation in `where` takes a value that stays inside this context's loop."""
        made_in = loop_of_output(tensor.op)
        used_in = None if where is None else where.loop
        if made_in is None or made_in is used_in:
            return
        if used_in is None:
            if op_type in ("Enter", "RefEnter", "Switch", "RefSwitch"):
                return  # on its way into a construct, of which it is made a part afterwards
            raise ValueError(
                f"Cannot use '{tensor.op.name}' as input to '{name}' because '{tensor.op.name}' is in a "
                f"while loop. See info log for more details. It was made at {tensor.op.user_line}; a value "
                "leaves a loop as one of its loop variables."
            )
        state = used_in.grad_state
        if (
            made_in.is_around(used_in)
            or state is not None
            and (made_in.is_around(state.forward) or made_in.outer_context is state.forward)
        ):
            return
        raise ValueError(
            f"Cannot use '{tensor.op.name}' as input to '{name}' because they are in different while loops. "
            f"See info log for more details. '{tensor.op.name}' was made at {tensor.op.user_line}."
        )

    def is_around(self, context: Context | None) -> bool:
        """Whether `context` is this one or inside it."""
        while context is not None:
            if context is self:
                return True
            context = context.outer_context
        return False

    def add_op(self, op: Operation) -> None:
        """A new operation of this context."""
        external = self._drop_external_controls(op)
        self._wait_for_pivot(op)
        if external:
            scope = "" if op.type == "Const" else f"{op.name}/"
            with (
                control_dependencies(None),
                inside(self.graph, self),
                self.graph.name_scope(scope) if scope else contextlib.nullcontext(),
            ):
                brought = [constants.identity(x.outputs[0]).op for x in external if x.outputs]
            op.control_inputs.extend(brought)
        self._adopt(op, op.outputs)

    def _wait_for_pivot(self, op: Operation) -> None:
        raise AssertionError("a context is a branch or a loop")

    def _drop_external_controls(self, op: Operation) -> list[Operation]:
        """Inside a loop nothing waits for what is outside of it: such edges are cut, and returned."""
        loop = self.loop
        if loop is None:
            return []
        external = [x for x in op.control_inputs if getattr(output_context(x), "loop", None) is not loop]
        op.control_inputs[:] = [x for x in op.control_inputs if x not in external]
        return external

    def _adopt(self, op: Operation, values: list[Tensor]) -> None:
        """Makes an operation part of this context, and these outputs of it values of the inside."""
        op._control_flow_context = self
        if self.outer_context is not None or not is_exit(op):
            op.graph.prevent_fetching(op)
            for tensor in op.outputs:
                op.graph.prevent_feeding(tensor)
        self._known.update(values)


class CondContext(Context):
    """One branch of a conditional."""

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str | None = None):
        super().__init__(pred.graph, name or pred.graph.unique_name("cond_text"))
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.knows(pred, pivot)
        self._entered[pred] = pred

    def _bring_in(self, tensor: Tensor) -> Tensor:
        outside = self._outside(tensor)
        self.knows(outside)
        self._entered[outside] = outside
        with control_dependencies(None):
            inner = _primitives["switch"](outside, self.pred)[self.branch]
        self._seen_by_controls(tensor, inner)
        self._adopt(inner.op, [inner])
        return inner

    def _seen_by_controls(self, tensor: Tensor, inner: Tensor) -> None:
        """What waits for a block's dependencies does so in here too."""
        for controls in self.graph._local.controls:
            if tensor.op in controls.seen:
                controls.seen.add(inner.op)

    def _wait_for_pivot(self, op: Operation) -> None:
        if not op.inputs and not any(
            self.is_around(control._control_flow_context) for control in op.control_inputs
        ):
            op.control_inputs.append(self.pivot.op)

    def _adopt(self, op: Operation, values: list[Tensor]) -> None:
        super()._adopt(op, values)
        context = self.outer_context
        while context is not None:
            context._known.update(values)
            context = context.outer_context

    def add_op(self, op: Operation) -> None:
        self._drop_external_controls(op)
        self._wait_for_pivot(op)
        self._adopt(op, op.outputs)


class LoopContext(Context):
    """One loop: a frame, in which the body runs iteration after iteration."""

    def __init__(
        self,
        graph: Graph,
        name: str,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        maximum_iterations: Any = None,
        grad_state: Any = None,
    ):
        super().__init__(graph, name)
        self.parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self.swap_memory = swap_memory
        self.maximum_iterations = maximum_iterations
        self._grad_state = grad_state
        self.pivot_for_pred: Tensor | None = None
        self.pivot_for_body: Tensor | None = None
        self.enters: list[Tensor] = []
        self.exits: list[Tensor] = []

    @property
    def loop(self) -> LoopContext:
        return self

    @property
    def grad_state(self) -> Any:
        """The gradient this loop computes: set on a backward loop."""
        return self._grad_state

    @property
    def back_prop(self) -> bool:
        return self._back_prop

    @property
    def control_pivot(self) -> Tensor:
        return self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body

    def enter(self, tensor: Tensor, is_constant: bool = False, name: str | None = None) -> Tensor:
        """An Enter into this loop's frame."""
        return _primitives["enter"](tensor, self.name, is_constant, self.parallel_iterations, name)

    def _bring_in(self, tensor: Tensor) -> Tensor:
        current = self.graph._local.context
        state = None if current is None else current.grad_state
        if state is not None and loop_of_output(tensor.op) is state.forward:
            return state.remembered(tensor)
        outside = self._outside(tensor)
        with control_dependencies(None):
            inner = self.enter(outside, is_constant=True)
        self.graph.prevent_feeding(inner)
        self.take_in([inner])
        return inner

    def take_in(self, enters: list[Tensor]) -> None:
        """These Enters are of this loop; they wait for what the loop as a whole waits for."""
        local = self.graph._local
        for tensor in enters:
            op = tensor.op
            if local.controls:
                self.graph._add_scope_controls(op, local.controls, op.inputs)
                op.control_inputs[:] = [x for x in op.control_inputs if self._may_wait_for(x)]
            op._control_flow_context = self
            self.graph.prevent_fetching(op)
            for controls in local.controls:
                controls.seen.add(op)
            self.knows(tensor)

    def _may_wait_for(self, op: Operation) -> bool:
        """Whether an Enter of this loop stands in one frame with `op`."""
        wanted, context = output_context(op), self.outer_context
        while context is not wanted:
            if context is None or isinstance(context, LoopContext):
                return False
            context = context.outer_context
        return True

    def _wait_for_pivot(self, op: Operation) -> None:
        if not op.control_inputs and all(is_constant_enter(tensor.op) for tensor in op.inputs):
            op.control_inputs.append(self.control_pivot.op)

    def give(self, exits: list[Tensor]) -> None:
        """These values leave the loop."""
        self.exits += exits
        if self.outer_context is not None:
            self.outer_context.knows(*exits)


def is_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def is_enter(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter")


def is_constant_enter(op: Operation) -> bool:
    return is_enter(op) and op.attrs["is_constant"]


def is_switch(op: Operation) -> bool:
    return op.type in ("Switch", "RefSwitch")


def is_merge(op: Operation) -> bool:
    return op.type in ("Merge", "RefMerge")


def output_context(op: Operation) -> Context | None:
    """The context in which an operation's outputs are."""
    context = op._control_flow_context
    return context.outer_context if context is not None and is_exit(op) else context


def loop_of(op: Operation) -> LoopContext | None:
    """The loop an operation belongs to; of an Exit, the loop it ends."""
    context = op._control_flow_context
    return None if context is None else context.loop


def loop_of_output(op: Operation) -> LoopContext | None:
    """The loop in which an operation's outputs are."""
    context = output_context(op)
    return None if context is None else context.loop


def is_loop_switch(op: Operation) -> bool:
    """Whether this is the Switch of a loop's variable, not of a conditional."""
    context = op._control_flow_context
    return is_switch(op) and isinstance(context, LoopContext)


def current_context() -> Context | None:
    return get_default_graph()._local.context
