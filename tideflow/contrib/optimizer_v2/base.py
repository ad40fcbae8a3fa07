"""OptimizerV2, the base of these optimizers, and the state that its methods are handed.

What a kind of optimizer defines is that of `tf.train.Optimizer`, with the state as a further argument:
`_create_vars(var_list, state)`, `_prepare(state)`, `_apply_dense(grad, var, state)` and the others, and
`_finish(state)`, which runs once after all updates.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.distribute.context import get_replica_context, get_strategy
from tideflow.distribute.reductions import ReduceOp
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_collection_ref,
    get_default_graph,
    graph_outside,
    init_scope,
    name_scope,
)
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import casting
from tideflow.train import slot_creator
from tideflow.train.optimizer import Optimizer, as_gradient, check_gate, deduplicated
from tideflow.variables.base import Variable
from tideflow.variables.resource import BaseResourceVariable
from tideflow.variables.trackable import objects_made

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike


class State:
    """What the methods of an optimizer see of it: hyperparameters as tensors, slots, variables of its own."""

    def __init__(self, optimizer: OptimizerV2, hyperparameters: dict[str, Tensor], beside: Any):
        self._optimizer = optimizer
        self._hyper: dict[tuple[str, Any], Tensor] = {
            (name, None): tensor for name, tensor in hyperparameters.items()
        }
        self._beside = beside  # the variable that variables of the optimizer itself are placed with

    def get_hyper(self, name: str, dtype: Any = None) -> Tensor:
        """Gets a hyperparameter.

        Args:
          name: Its name.
          dtype: The type that it is wanted in; the one it has if None.

        Returns:
          The tensor.
        """
        if (name, dtype) not in self._hyper:
            self._hyper[name, dtype] = casting.cast(self._hyper[name, None], dtype)
        return self._hyper[name, dtype]

    def create_slot(
        self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Variable:
        """Makes a slot of a variable, or finds it.

        Args:
          var: The variable.
          val: What the slot begins with.
          slot_name: The name of the slot.
          optional_op_name: What the slot's variable is named by; the optimizer's name if None.

        Returns:
          The slot.
        """
        return self._slot(var, slot_name, lambda op: slot_creator.create_slot(var, val, op), optional_op_name)

    def create_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: Any,
        slot_name: str,
        optional_op_name: str | None = None,
    ) -> Variable:
        """Makes a slot of a variable by an initializer, or finds it.

        Args:
          var: The variable.
          initializer: Makes what the slot begins with.
          shape: The shape of the slot.
          dtype: Its type.
          slot_name: The name of the slot.
          optional_op_name: What the slot's variable is named by; the optimizer's name if None.

        Returns:
          The slot.
        """
        create = slot_creator.create_slot_with_initializer
        return self._slot(
            var, slot_name, lambda op: create(var, initializer, shape, dtype, op), optional_op_name
        )

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: str | None = None) -> Variable:
        """Makes a slot of zeros for a variable, or finds it.

        Args:
          var: The variable.
          slot_name: The name of the slot.
          optional_op_name: What the slot's variable is named by; the optimizer's name if None.

        Returns:
          The slot.
        """
        return self._slot(
            var, slot_name, lambda op: slot_creator.create_zeros_slot(var, op), optional_op_name
        )

    def _slot(
        self, var: Any, slot_name: str, create: Callable[[str], Variable], op_name: str | None
    ) -> Variable:
        name = op_name or self._optimizer.get_name()
        return self._optimizer._slot_of(var, slot_name, lambda: create(name))

    def get_slot(self, var: Any, name: str) -> Variable | None:
        """Finds a slot.

        Args:
          var: The variable that it belongs to.
          name: Its name.

        Returns:
          The slot, or None.
        """
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._optimizer.get_slot_names()

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Variable:
        """Makes a variable that belongs to no other, or finds it.

        Args:
          initial_value: What it begins with, or a function that makes that.
          name: Its name.
          colocate_with: What it is placed with; one of the variables if None.

        Returns:
          The variable.
        """
        beside = self._beside if colocate_with is None else colocate_with
        made = self._optimizer._non_slot.setdefault(graph_outside(), {})
        if name not in made:
            strategy = get_strategy()
            with get_default_graph().colocate_with(beside), strategy.extended.colocate_vars_with(beside):
                made[name] = Variable(initial_value, name=name, trainable=False)
        return made[name]

    def get_non_slot(self, name: str) -> Variable | None:
        """Finds a variable that belongs to no other.

        Args:
          name: Its name.

        Returns:
          The variable, or None.
        """
        return self._optimizer._non_slot.get(graph_outside(), {}).get(name)


@export("contrib.optimizer_v2.OptimizerV2")
class OptimizerV2(Optimizer):
    """The base of these optimizers.

    Args:
      use_locking: Accepted for TensorFlow's sake: updates are always atomic.
      name: The name of the optimizer, which its state and its operations have.

    Raises:
      RuntimeError: If the class defines `_create_slots`, which is `_create_vars` here.
      ValueError: If there is no name.
    """

    def __init__(self, use_locking: bool, name: str):
        if type(self)._create_slots is not Optimizer._create_slots:
            raise RuntimeError(
                "Override _create_vars instead of _create_slots when descending from OptimizerV2 (class "
                f"{type(self).__name__})"
            )
        super().__init__(use_locking, name)
        self._hyper: dict[str, Any] = {}
        self._fixed: weakref.WeakKeyDictionary[Graph, dict[str, Tensor]] = weakref.WeakKeyDictionary()

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, a tensor, or a function that every update calls anew."""
        self._hyper[name] = value

    def minimize(  # type: ignore[override]
        self,
        loss: TensorLike | Callable[[], TensorLike],
        global_step: TensorLike | None = None,
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> Operation:
        """Adds an operation that computes gradients and applies them.

        Args:
          loss: The loss to minimize: a tensor, or a function that computes it.
          global_step: A variable to increment after each step.
          var_list: The variables to change; all trainable variables if None.
          gate_gradients: How gradients wait for each other: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`.
          aggregation_method: How gradients of a tensor with several consumers are summed.
          name: The name of the operation.
          grad_loss: The gradient of the loss itself; one if None.
          stop_gradients: Tensors that count as constant.
          scale_loss_by_num_replicas: Whether the loss is divided by the number of replicas, whose gradients
            are added.

        Returns:
          The operation.

        Raises:
          ValueError: If no variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            grad_loss=grad_loss,
            stop_gradients=stop_gradients,
            scale_loss_by_num_replicas=scale_loss_by_num_replicas,
        )
        if all(grad is None for grad, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support "
                f"gradients, between variables {[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(  # type: ignore[override]
        self,
        loss: TensorLike | Callable[[], TensorLike],
        var_list: Sequence[VariableLike] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        grad_loss: TensorLike | None = None,
        stop_gradients: Any = None,
        scale_loss_by_num_replicas: bool = False,
    ) -> list[tuple[Any, Any]]:
        """Adds the operations that compute the gradients of a loss; the first part of `minimize`.

        Args:
          loss: The loss: a tensor, or a function that computes it.
          var_list: The variables; all trainable variables if None.
          gate_gradients: How gradients wait for each other: `GATE_NONE`, `GATE_OP` or `GATE_GRAPH`.
          aggregation_method: How gradients of a tensor with several consumers are summed.
          grad_loss: The gradient of the loss itself; one if None.
          stop_gradients: Tensors that count as constant.
          scale_loss_by_num_replicas: Whether the loss is divided by the number of replicas, whose gradients
            are added.

        Returns:
          Pairs of gradient and variable.

        Raises:
          RuntimeError: If eager mode is given a loss that is no function.
          ValueError: If there are no variables.
        """

        def scaled(value: Any) -> Any:
            replicas = get_strategy().num_replicas_in_sync
            return value * (1.0 / replicas) if scale_loss_by_num_replicas and replicas > 1 else value

        if callable(loss):
            function = loss
            return self._taped_gradients(lambda: scaled(function()), var_list, grad_loss)
        if executing_eagerly():
            return self._taped_gradients(loss, var_list, grad_loss)  # refuses it
        loss = scaled(loss)
        check_gate(gate_gradients)
        return self._graph_gradients(
            loss,
            var_list,
            gate_gradients,
            grad_loss,
            aggregation_method=aggregation_method,
            stop_gradients=stop_gradients,
        )

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
          TypeError: If a gradient cannot be one.
          ValueError: If no variable has a gradient.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        updated = [(grad, variable) for grad, variable in pairs if grad is not None]
        if not updated:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        return get_replica_context().merge_call(self._distributed_apply, args=(updated, global_step, name))

    # -------------------------------------------------------------------------------- applying

    def _distributed_apply(self, strategy: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
        extended = strategy.extended
        variables = [variable for _, variable in pairs]
        grads = extended.batch_reduce_to(ReduceOp.SUM, pairs)
        with name_scope(name, self._name) as scope:
            state = self._state(variables)
        with init_scope():
            self._create_vars(variables, state)
            if executing_eagerly():
                objects_made()
        with name_scope(scope):
            self._prepare(state)
            updates: list[Any] = []
            for grad, variable in zip(grads, variables, strict=True):
                made = extended.update(variable, self._update, args=(grad, state), group=False)
                updates += nest.flatten(made)
            updated = grouping.group(*updates)
            devices = extended.non_slot_devices(variables)
            with control_dependencies([] if updated is None else [updated]):
                finished = extended.update_non_slot(devices, lambda: self._finish(state), group=False)
            last = [op for op in nest.flatten(finished) if op is not None] or [updated]
            train_op = self._train_op(strategy, last, global_step, scope)
        if not executing_eagerly():
            _collect(train_op)
        return train_op

    def _state(self, variables: list[Any]) -> State:
        """The state for one update: hyperparameters that are functions are called for each."""
        beside = min(variables, key=lambda variable: variable.name)
        graph = graph_outside()
        if graph not in self._fixed:
            with init_scope():
                self._fixed[graph] = _tensors(
                    {name: value for name, value in self._hyper.items() if not _changes(value)}
                )
        changing = _tensors({name: value() for name, value in self._hyper.items() if callable(value)})
        read = {name: value for name, value in self._hyper.items() if _changes(value) and not callable(value)}
        return State(self, {**self._fixed[graph], **changing, **_tensors(read)}, beside)

    def _update(self, variable: Any, grad: Any, state: State) -> Any:
        converted = as_gradient(grad)
        if not isinstance(variable, Variable):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        is_resource = isinstance(variable, BaseResourceVariable)
        scope = "" if executing_eagerly() else variable.op.name
        with colocate_with(variable), name_scope(f"update_{scope}"):
            if isinstance(converted, IndexedSlices):
                if variable.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                if not is_resource:
                    return self._apply_sparse_duplicate_indices(converted, variable, state)
                values, indices = converted.values, converted.indices
                return self._resource_apply_sparse_duplicate_indices(values, variable, indices, state)
            apply = self._resource_apply_dense if is_resource else self._apply_dense
            update = apply(converted, variable, state)
            if variable.constraint is None:
                return update
            with control_dependencies([update]):
                current = variable if is_resource else variable.read_value()
                return variable.assign(variable.constraint(current))

    def _train_op(self, strategy: Any, last: list[Any], global_step: Any, name: str) -> Any:
        if global_step is None:
            return strategy.group(last, name=name)
        with control_dependencies(last):
            return strategy.extended.update(
                global_step, lambda step: step.assign_add(1, read_value=False, name=name)
            )

    # -------------------------------------------------------------------------------- what a kind defines

    def _create_vars(self, var_list: list[Any], state: State) -> None:
        """Makes the slots that the updates of these variables will need. Kinds without slots need not say."""

    def _prepare(self, state: State) -> None:  # type: ignore[override]
        """Makes what all updates share."""

    def _finish(self, state: State) -> Any:  # type: ignore[override]
        """What runs after all updates: an operation, or None."""
        return None

    def _apply_dense(self, grad: Tensor, var: Any, state: State) -> Any:  # type: ignore[override]
        raise NotImplementedError()

    def _resource_apply_dense(self, grad: Tensor, handle: Any, state: State) -> Any:  # type: ignore[override]
        raise NotImplementedError()

    def _apply_sparse(self, grad: IndexedSlices, var: Any, state: State) -> Any:  # type: ignore[override]
        raise NotImplementedError()

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Tensor, handle: Any, indices: Tensor, state: State
    ) -> Any:
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: IndexedSlices, var: Any, state: State
    ) -> Any:
        """A sparse update in which an index may come more than once: those rows are summed first."""
        values, indices = deduplicated(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var, state)

    def _resource_apply_sparse_duplicate_indices(  # type: ignore[override]
        self, grad: Tensor, handle: Any, indices: Tensor, state: State
    ) -> Any:
        values, indices = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, indices, state)


def _changes(value: Any) -> bool:
    """Whether a hyperparameter may be another one at the next update: it is a function, or a variable of
    eager mode.
    """
    return callable(value) or executing_eagerly() and isinstance(value, BaseResourceVariable)


def _tensors(values: dict[str, Any]) -> dict[str, Tensor]:
    return {name: convert_to_tensor(value, name=name) for name, value in sorted(values.items())}


def _collect(train_op: Any) -> None:
    op = train_op.op if isinstance(train_op, Tensor) else train_op
    collection = get_collection_ref(GraphKeys.TRAIN_OP)
    if op not in collection:
        collection.append(op)
