"""Optimizer: from a loss to an operation that lowers it.

`compute_gradients` differentiates, `apply_gradients` adds an update for each variable, `minimize` does both.
A kind of optimizer says which slots it keeps (`_create_slots`), which numbers it needs (`_prepare`), and how
a gradient changes a variable: `_apply_dense`, `_apply_sparse` and, for resource variables,
`_resource_apply_dense`, `_resource_apply_sparse`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from tideflow.autodiff.gradients import gradients
from tideflow.distribute.context import get_replica_context, get_strategy, has_strategy
from tideflow.distribute.reductions import ReduceOp
from tideflow.distribute.strategy import get_loss_reduction
from tideflow.distribute.values import container_of
from tideflow.eager.tape import GradientTape
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.composite import IndexedSlices, convert_to_tensor_or_indexed_slices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_collection,
    get_collection_ref,
    get_default_graph,
    graph_of,
    graph_outside,
    init_scope,
    name_scope,
)
from tideflow.ops.arrays import distinct, shapes
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import segments
from tideflow.ops.state import reference_variables, resource_variables
from tideflow.train import slot_creator
from tideflow.train.update_ops import warn_of_forgotten_updates
from tideflow.variables.base import Variable
from tideflow.variables.collections import trainable_variables
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.resource import BaseResourceVariable
from tideflow.variables.trackable import Trackable, objects_made

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

GradientsAndVariables = Sequence[tuple[Any, Any]]


class Updates(Trackable):
    """How an optimizer updates variables: what its kind has to say.

    A kind takes these from a class beside `Optimizer`, behind it: its base is Optimizer and nothing else, as
    programs that look at `__base__` expect.
    """

    _update_variable: Callable[..., Any]

    def _updates(self, pairs: GradientsAndVariables) -> list[Any]:
        """The updates of variables by their gradients."""
        return [self._update_variable(grad, variable) for grad, variable in pairs]

    def _prepare(self) -> None:
        """Makes the tensors that all updates share, such as the learning rate."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        raise NotImplementedError()

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        raise NotImplementedError()

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        raise NotImplementedError()


@export("train.Optimizer")
class Optimizer(Updates):
    """The base of optimizers: they add operations that change variables so that a loss falls.

        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    A subclass defines `_apply_dense`, `_apply_sparse` and their forms for resource variables; `_create_slots`
    makes the state that it keeps for each variable.

    Args:
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer, which its state and its operations have.

    Raises:
      ValueError: If there is no name.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Variable]] = {}
        self._non_slot: weakref.WeakKeyDictionary[Graph, dict[str, Variable]] = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        rate = getattr(self, "_learning_rate", getattr(self, "_lr", None))
        shown = "" if rate is None else f", learning rate {getattr(rate, 'name', rate)}"
        name = getattr(self, "_name", None)  # none where a subclass wraps another and makes no base
        called = "" if name is None else f" {name!r}"
        return f"<{type(self).__name__}{called}{shown}>"

    def get_name(self) -> str:
        """The name of the optimizer."""
        return self._name

    # -------------------------------------------------------------------------------- what users call

    def minimize(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        global_step: TensorLike | None = None,
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
    ) -> Operation:
        """Adds an operation that computes gradients and applies them.

        Args:
          loss: The loss to minimize, as a tensor.
          global_step: A variable to increment after each step.
          var_list: The variables to change; all trainable variables if None.
          gate_gradients: How gradients wait for each other: `GATE_NONE`, `GATE_OP` (those of one operation)
            or `GATE_GRAPH` (all).
          aggregation_method: How gradients of a tensor with several consumers are summed, one of
            `tf.AggregationMethod`.
          colocate_gradients_with_ops: Whether the gradient of an operation is placed on the operation's
            device.
          name: The name of the operation.
          grad_loss: The gradient of the loss itself; one if None.

        Returns:
          The operation.

        Raises:
          ValueError: If no variable has a gradient.
        """
        pairs = self.compute_gradients(  # by name: optimizers of programs take the rest as **kwargs
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(grad is None for grad, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support "
                f"gradients, between variables {[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        train_op = self.apply_gradients(pairs, global_step=global_step, name=name)
        if train_op is None:
            return None  # type: ignore[return-value]
        warn_of_forgotten_updates(train_op)
        return train_op

    def compute_gradients(
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        """Adds the operations that compute the gradients of a loss; the first part of `minimize`.

        Args:
          loss: The loss as a tensor.
          var_list: The variables; all trainable variables if None.
          gate_gradients: How gradients wait for each other: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`.
          aggregation_method: How gradients of a tensor with several consumers are summed.
          colocate_gradients_with_ops: Whether the gradient of an operation is placed on the operation's
            device.
          grad_loss: The gradient of the loss itself; one if None.

        Returns:
          A list of pairs of gradient and variable. The gradient is None for a variable on which the loss does
          not depend.

        Raises:
          TypeError: If `var_list` has something else than variables.
          ValueError: If there are no variables.
        """
        check_gate(gate_gradients)
        if executing_eagerly():
            return self._taped_gradients(loss, var_list, grad_loss)
        if callable(loss):
            loss = loss()
            var_list = _variables_behind(loss) if var_list is None else var_list
        if get_loss_reduction() is ReduceOp.MEAN:  # the gradients of all replicas will be added
            loss = loss * (1.0 / get_strategy().num_replicas_in_sync)
        return self._graph_gradients(
            loss,
            var_list,
            gate_gradients,
            grad_loss,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )

    def _graph_gradients(
        self, loss: Any, var_list: Any, gate_gradients: int, grad_loss: Any, **options: Any
    ) -> list[tuple[Any, Any]]:
        """The pairs of gradient and variable, as more graph. `options` are further ones of `tf.gradients`."""
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        variables = _default_variables() if var_list is None else _flattened(var_list)
        targets = [_target(variable) for variable in variables]
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            **options,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = grouping.tuple(grads)
        pairs = list(zip(grads, variables))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None and v.dtype != dtypes.resource])
        return pairs

    def _taped_gradients(self, loss: Any, var_list: Any, grad_loss: Any) -> list[tuple[Any, Any]]:
        """The pairs of gradient and variable, for a loss that eager mode computes now."""
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is "
                "enabled."
            )
        variables = None if var_list is None else _flattened(var_list)
        with GradientTape() as tape:
            for variable in variables or ():
                tape.watch(variable)
            value = loss()
        if variables is None:
            variables = list(tape.watched_variables())
        grads = tape.gradient(value, variables, grad_loss)
        return list(zip(grads, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: TensorLike | None = None,
        name: str | None = None,
    ) -> Operation:
        """Adds an operation that applies gradients to variables; the second part of `minimize`.

        Args:
          grads_and_vars: Pairs of gradient and variable. A variable without a gradient is not changed.
          global_step: A variable to increment after the update.
          name: The name of the operation.

        Returns:
          The operation.

        Raises:
          TypeError: If a pair is malformed.
          ValueError: If no variable has a gradient.
        """
        pairs = [(as_gradient(grad), variable) for grad, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for _, variable in pairs:
            _target(variable)  # refuses what cannot be optimized
        updated = [variable for grad, variable in pairs if grad is not None]
        if not updated:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        if has_strategy():
            replica = get_replica_context()
            if replica is None:
                raise RuntimeError(
                    "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context."
                )
            return replica.merge_call(self._distributed_apply, args=(pairs, global_step, name))
        with init_scope():
            self._create_slots(updated)
            if executing_eagerly():
                objects_made()
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = self._updates([pair for pair in pairs if pair[0] is not None])
            if global_step is None:
                train_op = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    train_op = _increment(global_step, scope)
        if executing_eagerly():
            return None  # type: ignore[return-value]
        train_op = train_op.op if isinstance(train_op, Tensor) else train_op
        collection = get_collection_ref(GraphKeys.TRAIN_OP)
        if train_op not in collection:
            collection.append(train_op)
        return train_op

    def _distributed_apply(self, strategy: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
        """Applies the sum of the replicas' gradients to every copy of the variables."""
        extended = strategy.extended
        pairs = [(grad, variable) for grad, variable in pairs if grad is not None]
        variables = [variable for _, variable in pairs]
        grads = extended.batch_reduce_to(ReduceOp.SUM, pairs)
        self._create_slots(variables)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [
                extended.update(variable, lambda v, g: self._update_variable(g, v), args=(grad,), group=False)
                for grad, variable in zip(grads, variables, strict=True)
            ]
            updates = nest.flatten(updates)
            devices = extended.non_slot_devices(variables)
            finished = extended.update_non_slot(devices, lambda: self._finish(updates, "update"), group=False)
            if global_step is None:
                return strategy.group(finished, name=scope)
            with control_dependencies(nest.flatten(finished)):
                return strategy.group(extended.update(global_step, _add_one))

    # -------------------------------------------------------------------------------- one variable's update

    def _update_variable(self, grad: Any, variable: Any) -> Any:
        if not isinstance(variable, Variable):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        with name_scope(f"update_{_op_name(variable)}"), colocate_with(variable):
            is_resource = isinstance(variable, BaseResourceVariable)
            if isinstance(grad, IndexedSlices):
                if variable.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                if is_resource:
                    return self._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
                return self._apply_sparse_duplicate_indices(grad, variable)
            update = (self._resource_apply_dense if is_resource else self._apply_dense)(grad, variable)
            if variable.constraint is None:
                return update
            with control_dependencies([update]):
                # What a reference variable reads by itself is older than the update.
                current = variable if is_resource else variable.read_value()
                return variable.assign(variable.constraint(current))

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the slots that the updates of these variables will need. Kinds without slots need not say."""

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        """The operation that stands for all updates."""
        return grouping.group(*update_ops, name=name_scope)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """A sparse update in which an index may come more than once: those rows are summed first."""
        values, indices = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        values, indices = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    # -------------------------------------------------------------------------------- slots

    def variables(self) -> list[Variable]:
        """The variables of the optimizer in the default graph: its slots and its own state, by name."""
        graph = get_default_graph()
        slots = [slot for by_variable in self._slots.values() for slot in by_variable.values()]
        found = [v for v in (*self._non_slot_variables(), *slots) if _graph(v) is graph]
        return sorted(found, key=lambda v: v.name)

    def get_slot(self, var: VariableLike, name: str) -> Variable | None:
        """Gets a slot: the state that the optimizer keeps for a variable.

        Args:
          var: The variable.
          name: The name of the slot.

        Returns:
          The slot's variable, or None.
        """
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return sorted(self._slots)

    def _slot_dict(self, slot_name: str) -> dict[Any, Variable]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Tensor, slot_name: str, op_name: str) -> Variable:
        return self._slot_of(var, slot_name, lambda: slot_creator.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Variable:
        make = slot_creator.create_slot_with_initializer
        return self._slot_of(var, slot_name, lambda: make(var, initializer, shape, dtype, op_name))

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Variable:
        return self._slot_of(var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name))

    def _slot_of(self, var: Any, slot_name: str, make: Callable[[], Variable]) -> Variable:
        by_variable = self._slot_dict(slot_name)
        if _key(var) not in by_variable:
            by_variable[_key(var)] = make()
        return by_variable[_key(var)]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Variable:
        """A variable of the optimizer that belongs to no other: made once a graph."""
        graph = _graph(colocate_with)
        made = self._non_slot.setdefault(graph, {})
        if name not in made:
            with graph.colocate_with(colocate_with):
                is_resource = isinstance(colocate_with, BaseResourceVariable)
                made[name] = Variable(initial_value, name=name, trainable=False, use_resource=is_resource)
        return made[name]

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Variable | None:
        return self._non_slot.get(graph_outside(graph), {}).get(name)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return sorted(self._non_slot.get(graph_outside(), {}).items())

    def _non_slot_variables(self) -> list[Variable]:
        return [variable for by_name in self._non_slot.values() for variable in by_name.values()]

    # -------------------------------------------------------------------------------- types

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise ValueError(
                    f"Invalid type {tensor.dtype.base_dtype!r} for {tensor.name}, "
                    f"expected: {sorted(valid, key=lambda d: d.name)}."
                )

    def _valid_dtypes(self) -> set[dtypes.DType]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _call_if_callable(self, param: Any) -> Any:
        """A hyperparameter may be a function without arguments."""
        return param() if callable(param) else param


def check_gate(gate_gradients: int) -> None:
    """Refuses what is no way to wait for gradients."""
    if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
        raise ValueError(
            "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
            f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
        )


def deduplicated(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Sparse rows with each index once: rows of the same index are summed."""
    unique, positions = distinct.unique(indices)
    return segments.unsorted_segment_sum(values, positions, shapes.shape(unique)[0]), unique


def _graph(variable: Any) -> Graph:
    """The graph of a variable; of one of eager mode, what stands in its place."""
    return graph_outside(graph_of([variable.handle])) if _is_eager(variable) else variable.op.graph


def _is_eager(variable: Any) -> bool:
    return isinstance(variable, BaseResourceVariable) and variable.handle.is_eager


def _op_name(variable: Any) -> str:
    return variable._shared_name if _is_eager(variable) else variable.op.name


def _key(variable: Any) -> tuple[Any, Any]:
    """What tells variables apart: names; in eager mode, where several may have one, the variable itself. A
    copy of a distributed variable is that variable.
    """
    container = container_of(variable)
    variable = getattr(variable if container is None else container, "primary", variable)
    return (None, id(variable.handle)) if _is_eager(variable) else (variable.op.graph, variable.op.name)


def _target(variable: Any) -> Any:
    """What the loss is differentiated by: a variable's handle or reference, or a tensor itself."""
    if isinstance(variable, BaseResourceVariable):
        return variable.handle
    if isinstance(variable, Variable):
        return variable._ref()
    if isinstance(variable, Tensor):
        return variable
    raise NotImplementedError("Trying to optimize unsupported type ", variable)


def _default_variables() -> list[Any]:
    return trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)


def _flattened(var_list: Any) -> list[Any]:
    """The variables of any nesting or iterable; a partitioned one is its parts."""
    if isinstance(var_list, (Iterator, Set)):
        var_list = list(var_list)
    return [
        part
        for variable in nest.flatten(var_list)
        for part in (variable if isinstance(variable, PartitionedVariable) else [variable])
    ]


def _variables_behind(loss: Tensor) -> list[Any]:
    """The trainable variables that the loss depends on."""
    behind: set[Operation] = set()
    stack = [loss.op]
    while stack:
        op = stack.pop()
        if op not in behind:
            behind.add(op)
            stack += [tensor.op for tensor in op.inputs]
    return [variable for variable in _default_variables() if variable.op in behind]


def as_gradient(grad: Any) -> Tensor | IndexedSlices | None:
    """What a program gives as a gradient, converted; TypeError for what cannot be one."""
    if grad is None:
        return None
    try:
        converted = convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}"
        ) from None
    if not isinstance(converted, (Tensor, IndexedSlices)):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {grad}")
    return converted


def _add_one(variable: Any) -> Any:
    return variable.assign_add(convert_to_tensor(1, dtype=variable.dtype.base_dtype), read_value=False)


def _increment(global_step: Any, name: str) -> Any:
    with colocate_with(global_step):
        if isinstance(global_step, BaseResourceVariable):
            one = convert_to_tensor(1, dtype=global_step.dtype)
            return resource_variables.assign_add_variable_op(global_step.handle, one, name=name)
        return reference_variables.assign_add(global_step, 1, name=name)
