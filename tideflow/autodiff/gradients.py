"""`tf.gradients` and `tf.hessians`: they add the operations that compute gradients to the graph.

The backward pass visits the operations from the `ys` back to the `xs`, each after all of its consumers. It
sums the gradients that the consumers of an operation have sent to its outputs; the operation's gradient
function then adds the nodes that compute the gradients of its inputs.
"""

from __future__ import annotations

import collections
import contextlib
import enum
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tideflow.autodiff import aggregate
from tideflow.autodiff.loops import LoopGradients
from tideflow.autodiff.registry import gradient_function
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import IndexedSlices, convert_to_tensor_or_indexed_slices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import colocate_with, device, executing_eagerly, get_default_graph, name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, shapes
from tideflow.ops.control_flow import grouping, switches
from tideflow.ops.control_flow.contexts import is_exit, is_loop_switch

if TYPE_CHECKING:
    from tideflow.graph.typing import Gradient, TensorLike

Grad: TypeAlias = Tensor | IndexedSlices | None


@export("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What `tf.gradients` returns for an x on which no y depends.

    Attributes:
      NONE: None.
      ZERO: A tensor of zeros, of the shape of x.
    """

    NONE = "none"
    ZERO = "zero"


@export("gradients")
def gradients(
    ys: TensorLike,
    xs: TensorLike,
    grad_ys: TensorLike | Sequence[TensorLike | None] | None = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: TensorLike | None = None,
    unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
) -> list[Grad]:
    """Adds operations that compute the derivative of `sum(ys)` with respect to each x.

    Args:
      ys: A tensor or a list of tensors.
      xs: A tensor or variable, or a list of them.
      grad_ys: A tensor or a list of tensors, one for each y and of its shape: the weight of each element of y
        in the sum. All weights are one where it is None, or where its element for y is None.
      name: The name scope of the new operations.
      colocate_gradients_with_ops: Whether the gradient of an operation is placed on the operation's device.
      gate_gradients: Whether the gradients of an operation's inputs are all computed before one of them is
        used.
      aggregation_method: How gradients of a tensor with several consumers are summed, one of
        `tf.AggregationMethod`.
      stop_gradients: A tensor or a list of tensors that count as constants.
      unconnected_gradients: What to return for an x on which no y depends.

    Returns:
      A list with a gradient for each x: a tensor, IndexedSlices for an x of which only some rows are used, or
      None if no y depends on x.

    Raises:
      LookupError: If an operation between the xs and the ys has no gradient function.
      ValueError: If the arguments are inconsistent, or a gradient function returns gradients that do not fit.
      TypeError: If a y is complex and has no weight, or a weight has another type than its y.
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    ys, xs, stops = _as_list(ys), _as_list(xs), _as_list(stop_gradients or [])
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    with name_scope(name, "gradients", [*ys, *xs, *stops, *grad_ys]) as scope:
        results = [convert_to_tensor_or_indexed_slices(y) for y in ys]
        sources = [_source(x) for x in xs]
        stops = [convert_to_tensor(x, as_ref=True) if not isinstance(x, Tensor) else x for x in stops]
        seeds = _seeds(results, grad_ys, colocate_gradients_with_ops)
        backward = _BackwardPass(
            scope,
            [y.op for y in results],
            sources,
            stops,
            colocate_gradients_with_ops,
            gate_gradients,
            aggregate.checked_method(aggregation_method),
        )
        for y, seed in zip(results, seeds, strict=True):
            backward.add(y.values if isinstance(y, IndexedSlices) else y, seed)
        backward.run()
    backward.loops.finish()
    return [backward.result(x, unconnected) for x in sources]


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _source(x: Any) -> Tensor:
    """The tensor that receives the gradient of x: x itself, or a variable's handle or reference.

    In a function, what it took of the graph around it is the input that stands for that.
    """
    graph: Any = get_default_graph()
    if isinstance(x, Tensor):
        return graph.captured.get(x, x) if graph.building_function else x
    handle = getattr(x, "handle", None)
    if not isinstance(handle, Tensor):
        return convert_to_tensor(x, as_ref=True)
    return graph.capture(handle) if graph.building_function else handle


def _seeds(ys: list[Gradient], grad_ys: list[TensorLike | None], colocate: bool) -> list[Gradient]:
    """The gradient of each y itself: the given weight, or ones."""
    if len(ys) != len(grad_ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    given = [
        None if g is None else convert_to_tensor_or_indexed_slices(g, name=f"grad_y_{i}")
        for i, g in enumerate(grad_ys)
    ]
    seeds = []
    for i, (y, grad) in enumerate(zip(ys, given, strict=True)):
        with _beside(y.op, colocate):
            seeds.append(_seed(i, y, grad))
    return seeds


def _beside(op: Operation, colocate: bool) -> contextlib.AbstractContextManager[None]:
    return colocate_with(op) if colocate else contextlib.nullcontext()


def _seed(i: int, y: Gradient, given: Gradient | None) -> Gradient:
    seed: Tensor
    if given is None:
        if y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
        full = shapes.shape(y if isinstance(y, Tensor) else y.values)
        seed = creation.fill(full, constants.constant(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{i}"))
        return seed
    _check_seed_type(y, given)
    if isinstance(given, IndexedSlices):
        return given
    seed = constants.identity(given, name=f"grad_ys_{i}")
    return seed


def _check_seed_type(y: Gradient, seed: Gradient) -> None:
    if y.dtype is dtypes.variant and seed.dtype is dtypes.variant:  # a list of gradients of a list
        return
    if not (y.dtype.is_floating or y.dtype.is_integer or y.dtype.is_complex):
        raise TypeError(
            f"Tensor {y.name} with type {y.dtype.name} must be numeric to obtain a default gradient"
        )
    is_real = seed.dtype.is_floating or seed.dtype.is_integer
    kind = "complex-valued" if y.dtype.is_complex else "real or integer-valued"
    wanted = "real or complex" if y.dtype.is_complex else "real or integer"
    if not (seed.dtype.is_complex if y.dtype.is_complex else is_real):
        raise TypeError(
            f"Gradient type {seed.dtype.name} generated for {kind} tensor {y} with type {y.dtype.name} "
            f"must be {wanted}"
        )


def _carries_gradient(tensor: Tensor) -> bool:
    dtype = tensor.dtype.base_dtype
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


class _BackwardPass:
    """One backward pass. `grads[op][i]` are the gradients that the consumers of output i of op have sent."""

    def __init__(
        self,
        scope: str,
        to_ops: list[Operation],
        xs: list[Tensor],
        stops: list[Tensor],
        colocate: bool,
        gate: bool,
        method: int | None,
    ) -> None:
        self.scope = scope
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.grads: dict[Operation, list[list[Gradient]]] = {}
        self.to_ops = list(dict.fromkeys(to_ops))
        self.from_ops = [x.op for x in xs]
        reached = _reached_from(self.from_ops)
        self.between = _between(self.to_ops, reached)
        self.loops = LoopGradients(self.between, colocate)
        self.pending = collections.Counter(
            t.op for op in self.between for t in op.inputs if t.op in self.between
        )
        self.stop_ops = self._stop_ops([x.op for x in xs], [t.op for t in stops])

    def _stop_ops(self, from_ops: list[Operation], stops: list[Operation]) -> set[Operation]:
        """The operations that send no gradients to their inputs: the stops, and sources behind all others."""
        return set(stops) | {op for op in from_ops if not any(self.pending[t.op] > 0 for t in op.inputs)}

    def add(self, tensor: Tensor, grad: Gradient) -> None:
        """Sends a gradient to a tensor."""
        slots = self.grads.setdefault(tensor.op, [[] for _ in tensor.op.outputs])
        slots[tensor.value_index].append(grad)

    def run(self) -> None:
        queue = collections.deque(op for op in self.to_ops if self.pending[op] == 0 and op in self.between)
        if self.loops:
            for tensor in self.loops.unused_exits(self.pending, set(self.to_ops)):
                if _carries_gradient(tensor):
                    self.add(tensor, self.loops.zeros_for_exit(tensor))
                    queue.append(tensor.op)
        while queue:
            op = queue.popleft()
            with _beside(op, self.colocate):
                self._visit(op)
            for tensor in op.inputs:
                self._done_with(tensor, queue)

    def _done_with(self, tensor: Tensor, queue: collections.deque[Operation]) -> None:
        """Records that one more consumer of the tensor has been visited."""
        op = tensor.op
        self.pending[op] -= 1
        # A loop variable's Switch is visited twice: after the Exit, and after the loop's body.
        again = self.loops and self.pending[op] > 0 and is_loop_switch(op)
        if self.pending[op] != 0 and not again:
            return
        if self.loops and is_exit(op):
            self._hold(tensor, queue)
        else:
            queue.append(op)

    def _hold(self, tensor: Tensor, queue: collections.deque[Operation]) -> None:
        """Defers an Exit until all Exits of its loop have been reached: then the backward loop begins."""
        state = self.loops.state_of(tensor.op, before=False)
        assert state is not None, f"{tensor.op.name} is an Exit, so its loop has been met"
        state.deferred_exits.append(tensor)
        state.waiting_exits -= 1
        if state.waiting_exits:
            return
        used = [exit for exit in state.deferred_exits if any(self.grads.get(exit.op, ()))]
        state.unused_exits += [exit for exit in state.deferred_exits if exit not in used]
        queue.extend(exit.op for exit in used)
        for exit in state.unused_exits:
            if used and _carries_gradient(exit):
                self.add(exit, self.loops.zeros_for_exit(exit))
            queue.append(exit.op)

    def _visit(self, op: Operation) -> None:
        """Computes the gradients of an operation's inputs from those of its outputs."""
        with self.loops.entered(op, before=True):
            out_grads = self._summed(op)
        if op in self.stop_ops or all(grad is None for grad in out_grads):
            return
        function = gradient_function(op)
        if function is None:
            return
        if is_loop_switch(op) and self.loops.state_of(op, before=False) is None:
            raise self._into_initial_value(op)
        with self.loops.entered(op, before=False):
            for i, grad in enumerate(out_grads):
                # The gradient of an operation that calls functions knows what it needs of those.
                if grad is None and _carries_gradient(op.outputs[i]) and not op.definition.calls_functions:
                    out_grads[i] = self.loops.zeros_like(op, i)
            self._apply(op, function, out_grads)

    def _into_initial_value(self, op: Operation) -> ValueError:
        """The error of a gradient that is asked for in a loop's body, and leads out by what the loop began
        with.
        """
        target = next(source for source in self.from_ops if op in _reached_from([source]))
        return ValueError(
            f"Cannot compute gradient inside while loop with respect to op '{target.name}'. We do not "
            "support taking the gradient wrt or through the initial value of a loop variable. Gradients can "
            "be computed through loop invariants or wrt the input parameters to the loop body."
        )

    def _apply(self, op: Operation, function: Callable[..., Any], out_grads: list[Grad]) -> None:
        with name_scope(f"{op.name}_grad"), op.graph._original_op(op):
            in_grads = _as_list(function(op, *out_grads))
            if len(in_grads) != len(op.inputs):
                raise ValueError(
                    f"Num gradients {len(in_grads)} generated for op {op.node_def} do not match num inputs "
                    f"{len(op.inputs)}"
                )
            if self.gate and sum(grad is not None for grad in in_grads) > 1:
                with device(None), colocate_with(None, ignore_existing=True):  # the gate may run anywhere
                    in_grads = grouping.tuple(in_grads)
        for tensor, grad in zip(op.inputs, in_grads, strict=True):
            if grad is not None:
                self._send(op, tensor, grad)

    def _send(self, op: Operation, tensor: Tensor, grad: Gradient) -> None:
        if isinstance(grad, Tensor) and tensor.dtype.base_dtype is not dtypes.resource:
            try:
                grad.set_shape(tensor.shape)
            except ValueError:
                raise ValueError(
                    "Incompatible shapes between op input and calculated input gradient. Forward operation: "
                    f"{op.name}. Input {tensor.name} has shape {tensor.shape}, its gradient {grad.name} has "
                    f"shape {grad.shape}."
                ) from None
        self.add(tensor, grad)

    def _summed(self, op: Operation) -> list[Grad]:
        slots = self.grads.get(op, [[] for _ in op.outputs])
        for i, received in enumerate(slots):
            if len(received) > 1:
                slots[i] = [aggregate.summed(received, self.method, op.outputs[i])]
        return [slot[0] if slot else None for slot in slots]

    def result(self, x: Tensor, unconnected: UnconnectedGradients) -> Grad:
        """The gradient of x, after `run`."""
        slots = self.grads.get(x.op)
        received = slots[x.value_index] if slots else []
        if len(received) > 1:
            return aggregate.summed(received, self.method, x)
        if received:
            return received[0]
        if unconnected is UnconnectedGradients.ZERO:
            zeros: Tensor = creation.zeros_like(switches.value_of(x))
            return zeros
        return None


def _reached_from(ops: Iterable[Operation]) -> set[Operation]:
    """The operations that depend on `ops` through tensors that have gradients, and `ops` themselves."""
    reached: set[Operation] = set()
    stack = list(ops)
    while stack:
        op = stack.pop()
        if op in reached:
            continue
        reached.add(op)
        for tensor in op.outputs:
            if _carries_gradient(tensor):
                stack += tensor._consumers
    return reached


def _between(to_ops: list[Operation], reached: set[Operation]) -> dict[Operation, None]:
    """The operations on a path from the xs to the ys, in the order of their distance from the ys."""
    between: dict[Operation, None] = {}
    queue = collections.deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue.extend(tensor.op for tensor in op.inputs)
    return between


@export("hessians")
def hessians(
    ys: TensorLike,
    xs: TensorLike,
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """Adds operations that compute the second derivatives of `sum(ys)` with respect to each x.

    Args:
      ys: A tensor or a list of tensors.
      xs: A tensor or variable, or a list of them. Their static shapes must be fully known.
      name: Not used: as in TensorFlow, the operations stand in the current scope.
      colocate_gradients_with_ops: As in `tf.gradients`.
      gate_gradients: As in `tf.gradients`.
      aggregation_method: As in `tf.gradients`.

    Returns:
      A list with the Hessian of each x, a tensor of shape `x.shape + x.shape`.

    Raises:
      ValueError: If the static shape of an x is not fully known.
      LookupError: If an operation between the xs and the ys has no gradient function.
    """
    xs = _as_list(xs)
    options: dict[str, Any] = {
        "colocate_gradients_with_ops": colocate_gradients_with_ops,
        "gate_gradients": gate_gradients,
        "aggregation_method": aggregation_method,
    }
    result = []
    slopes: list[Any] = gradients(ys, xs, **options)  # `reshape` refuses None, where ys has none
    for x, grad in zip(xs, slopes, strict=True):
        size = convert_to_tensor(x).shape.num_elements()
        if size is None:
            raise ValueError(f"hessians needs the static shape of {x!r}, which is {x.shape}")
        flat = shapes.reshape(grad, [-1])
        rows: list[Any] = [gradients(indexing.gather(flat, i), x, **options)[0] for i in range(size)]
        full = shapes.shape(convert_to_tensor(x))
        result.append(shapes.reshape(joining.stack(rows), joining.concat([full, full], 0)))
    return result
