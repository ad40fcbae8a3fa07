"""The base of Keras's optimizers: hyperparameters that can change meanwhile, slots, updates."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import tideflow as tf
from tideflow.distribute.context import get_replica_context, has_strategy
from tideflow.distribute.reductions import ReduceOp
from tideflow.distribute.values import DistributedVariable, container_of, place
from tideflow.export import export
from tideflow.graph import nest
from tideflow.graph.composite import IndexedSlices
from tideflow.keras.optimizers import schedules
from tideflow.layers.keras_session import (
    batch_get_value,
    batch_set_value,
    get_value,
    set_value,
    track_variable,
)
from tideflow.ops.helpers.update_laws import Law
from tideflow.ops.state import variable_rows
from tideflow.train.optimizer import deduplicated
from tideflow.variables import keras_initializers
from tideflow.variables.trackable import Trackable, objects_made

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, ShapeLike, TensorLike


# The numbers of updates by their names, for each device and type of variables.
ApplyState: TypeAlias = dict[tuple[str, Any], dict[str, Any]]

_OF_FIRST = tf.VariableAggregation.ONLY_FIRST_REPLICA


@export("keras.optimizers.Optimizer")
class Optimizer(Trackable):
    """The base of Keras's optimizers.

    A subclass has `_create_slots(var_list)`, `_resource_apply_dense(grad, var, apply_state)`,
    `_resource_apply_sparse(grad, var, indices, apply_state)` and `get_config()`. It may leave `apply_state`
    out, and put numbers of its own into it in `_prepare_local(var_device, var_dtype, apply_state)`.

    Args:
      name: The name of the optimizer.
      **kwargs: `clipnorm` and `clipvalue`, which bound gradients; `decay` of the learning rate by the inverse
        of the time; `lr`, an old name of the learning rate.

    Raises:
      TypeError: If another argument is given.
      ValueError: If one is negative.
    """

    _law: Law
    _states: dict[str, str] = {}  # inputs of the law that are slots
    _numbers: dict[str, str] = {}  # inputs of the law that are coefficients
    _config: tuple[str, ...] = ()  # hyperparameters, in the order of the config

    def __init__(self, name: str, **kwargs: Any):
        object.__setattr__(self, "_hyper", {})
        for key, value in kwargs.items():
            if key not in ("clipnorm", "clipvalue", "lr", "decay"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name
        self._use_locking = True  # programs' own optimizers pass it to the operations of their updates
        self._slots: dict[Any, dict[str, Any]] = {}
        self._slot_names: list[str] = []
        self._weights: list[Any] = []
        self._iterations: Any = None
        self._hypers_created = False
        self._initial_decay = kwargs.get("decay", 0.0)
        for bound in ("clipnorm", "clipvalue"):
            if bound in kwargs:
                setattr(self, bound, kwargs[bound])

    # ------------------------------------------------------------------ hyperparameters

    def _set_hyper(self, name: str, value: Any) -> None:
        before = self._hyper.get(name)
        if isinstance(before, tf.Variable) and not isinstance(value, schedules.LearningRateSchedule):
            set_value(before, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Any:
        self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) and not isinstance(value, tf.Variable) else value
        return tf.cast(value, dtype) if dtype else value

    def __getattr__(self, name: str) -> Any:
        if name != "_hyper":
            key = "learning_rate" if name == "lr" else name
            if key in self.__dict__.get("_hyper", {}):
                return self._get_hyper(key)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def _create_hypers(self) -> None:
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, (tf.Tensor, tf.Variable)) and not callable(value):
                self._hyper[name] = self.add_weight(
                    name, shape=[], trainable=False, initializer=value, aggregation=_OF_FIRST
                )
        self._hypers_created = True

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        value = self._hyper[hyperparameter_name]
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        if isinstance(value, (tf.Tensor, tf.Variable)):
            return get_value(value)
        return value() if callable(value) else value

    @property
    def iterations(self) -> Any:
        """The number of updates so far, a variable."""
        if self._iterations is None:
            self._iterations = self.add_weight(
                "iter", shape=[], dtype=tf.int64, trainable=False, aggregation=_OF_FIRST
            )
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created"
            )
        self._iterations = variable
        self._weights.append(variable)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = tf.cast(rate(tf.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = tf.cast(self.iterations, var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * step)
        return rate

    # ------------------------------------------------------------------ variables

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: str | float | InitializerLike = "zeros",
        trainable: bool | None = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.VariableAggregation.NONE,
    ) -> Any:
        """Makes a variable of the optimizer.

        Args:
          name: The name of the variable.
          shape: The shape.
          dtype: The type of the elements; float32 if None.
          initializer: The initializer, its name, or the first value.
          trainable: Whether optimizers change the variable.
          synchronization: When copies on several devices are synchronized.
          aggregation: How the writes of several devices are combined.

        Returns:
          The variable.
        """
        dtype = tf.as_dtype(dtype or tf.float32)
        if isinstance(initializer, str) or callable(initializer):
            initial = keras_initializers.get(initializer)
            first: Any = lambda: initial(shape, dtype=dtype)
        else:
            first = initializer
        variable = tf.Variable(
            first,
            name=name,
            dtype=dtype,
            trainable=bool(trainable),
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        track_variable(variable)
        return variable

    def add_slot(self, var: Any, slot_name: str, initializer: str | InitializerLike = "zeros") -> Any:
        """Makes the state that the optimizer keeps for a variable, once.

        Args:
          var: The variable.
          slot_name: The name of the slot.
          initializer: The initializer, or its name.

        Returns:
          The slot's variable.
        """
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(_whole(var), {})
        if slot_name not in slots:
            initial = keras_initializers.get(initializer)
            sizes, dtype = var.shape.as_list(), var.dtype.base_dtype
            with tf.colocate_with(var):
                slot = tf.Variable(
                    lambda: initial(sizes, dtype=dtype),
                    name=f"{_name_of(var)}/{slot_name}",
                    dtype=dtype,
                    trainable=False,
                    use_resource=True,
                )
            track_variable(slot)
            slots[slot_name] = slot
            self._weights.append(slot)
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """Gets the state that the optimizer keeps for a variable.

        Args:
          var: The variable.
          slot_name: The name of the slot.

        Returns:
          The slot's variable.

        Raises:
          KeyError: If the optimizer keeps nothing for the variable, or nothing of that name.
        """
        return self._slots[_whole(var)][slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._slot_names

    def variables(self) -> list[Any]:
        """The variables of the optimizer, in the order in which they were made."""
        return self._weights

    @property
    def weights(self) -> list[Any]:
        """The variables of the optimizer, in the order in which they were made."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The values of the variables, as arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the values of the variables.

        Args:
          weights: The values, in the order of `weights`.

        Raises:
          ValueError: If the number of values or a shape is not that of the variables.
        """
        params = self.weights
        if len(params) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list of length "
                f"{len(weights)}, but the optimizer was expecting {len(params)} weights. Provided weights: "
                f"{str(weights)[:50]}..."
            )
        for variable, value in zip(params, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {tuple(variable.shape.as_list())} not compatible with provided "
                    f"weight shape {np.shape(value)}"
                )
        batch_set_value(list(zip(params, weights, strict=True)))

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The count of updates and the hyperparameters; slots are kept with their variables."""
        own = [("iter", self._iterations)] if self._iterations is not None else []
        return own + [(name, value) for name, value in self._hyper.items() if isinstance(value, tf.Variable)]

    # ------------------------------------------------------------------ updates

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for slot in self._states.values():
            for var in var_list:
                self.add_slot(var, slot)

    def _create_all_weights(self, var_list: Sequence[Any]) -> None:
        """Makes the count of updates, which comes first, the hyperparameters and the slots of variables."""
        number = len(self._weights)
        self.iterations  # noqa: B018
        self._create_hypers()
        self._create_slots(var_list)
        if len(self._weights) > number:
            with tf.init_scope():
                if tf.executing_eagerly():
                    objects_made()

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        """The numbers of an update for variables of a type, by name."""
        has_rate = "learning_rate" in self._hyper  # an optimizer of optimizers may have none of its own
        return {"lr_t": tf.identity(self._decayed_lr(dtype))} if has_rate else {}

    def _prepare(self, var_list: Sequence[Any]) -> ApplyState:
        """The numbers of an update, for each device and type of variables."""
        apply_state: ApplyState = {}
        for var_device, var_dtype in dict.fromkeys(_device_and_type(var) for var in var_list):
            apply_state[var_device, var_dtype] = {}
            with tf.device(var_device) if var_device else contextlib.nullcontext():
                self._prepare_local(var_device, var_dtype, apply_state)
        return apply_state

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        """Puts the numbers for variables of a device and a type where updates look them up."""
        apply_state[var_device, var_dtype].update(self._coefficients(var_dtype))

    def _fallback_apply_state(self, var_device: str, var_dtype: Any) -> dict[str, Any]:
        """The numbers for variables of a device and a type that nobody has prepared."""
        apply_state: ApplyState = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, apply_state)
        return apply_state[var_device, var_dtype]

    def _numbers_for(self, var: Any, apply_state: ApplyState | None) -> dict[str, Any]:
        """The numbers of the update of a variable."""
        device_and_type = _device_and_type(var)
        prepared = (apply_state or {}).get(device_and_type)
        return self._fallback_apply_state(*device_and_type) if prepared is None else prepared

    def _attributes(self) -> dict[str, Any]:
        """Attributes of the update ops, beside `use_locking`."""
        return {}

    def _apply_law(self, op: Any, var: Any, coefficients: dict[str, Any], **given: Any) -> Any:
        inputs = []
        for argument in op.inputs:
            name = argument.name
            if name in given:
                inputs.append(given[name])
            elif name == "var":
                inputs.append(var.handle)
            elif name in self._states:
                inputs.append(self.get_slot(var, self._states[name]).handle)
            else:
                inputs.append(coefficients[self._numbers.get(name, name)])
        return op(*inputs, use_locking=True, **self._attributes())

    def _resource_apply_dense(self, grad: TensorLike, var: Any, apply_state: ApplyState | None = None) -> Any:
        found = self._numbers_for(var, apply_state)
        return self._apply_law(self._law.resource, var, found, grad=grad, delta=grad)

    def _resource_apply_sparse(
        self, grad: TensorLike, var: Any, indices: TensorLike, apply_state: ApplyState | None = None
    ) -> Any:
        found = self._numbers_for(var, apply_state)
        return self._apply_law(self._law.resource_sparse, var, found, grad=grad, indices=indices)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: TensorLike, handle: Any, indices: TensorLike, **kwargs: Any
    ) -> Any:
        """A sparse update in which an index may come more than once: those rows are summed first."""
        values, indices = deduplicated(grad, indices)
        return self._resource_apply_sparse(values, handle, indices, **kwargs)

    def _resource_scatter_add(self, x: Any, i: TensorLike, v: TensorLike) -> Any:
        return scatter_add(x, i, v)

    def _resource_scatter_update(self, x: Any, i: TensorLike, v: TensorLike) -> Any:
        return scatter_update(x, i, v)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def get_gradients(self, loss: TensorLike, params: Sequence[Any]) -> list[Any]:
        """Computes gradients, within the optimizer's bounds.

        Args:
          loss: The loss.
          params: The variables.

        Returns:
          A list of gradients.

        Raises:
          ValueError: If the loss does not depend on a variable.
        """
        with tf.name_scope(f"{self._name}/gradients"):
            grads = tf.gradients(loss, list(params))
            for grad, param in zip(grads, params, strict=True):
                if grad is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient. Please make sure that all of your ops "
                        "have a gradient defined (i.e. are differentiable). Common ops without gradient: "
                        "K.argmax, K.round, K.eval."
                    )
            return self._clipped(grads)

    def _clipped(self, grads: list[Any]) -> list[Any]:
        if hasattr(self, "clipnorm"):
            grads = [tf.clip_by_norm(grad, self.clipnorm) for grad in grads]
        if hasattr(self, "clipvalue"):
            grads = [tf.clip_by_value(grad, -self.clipvalue, self.clipvalue) for grad in grads]
        return grads

    def get_updates(self, loss: TensorLike, params: Sequence[Any]) -> list[Any]:
        """Makes the operations of one update.

        Args:
          loss: The loss.
          params: The variables.

        Returns:
          A list of operations.
        """
        grads = self.get_gradients(loss, params)
        return [self.apply_gradients(zip(grads, params, strict=True))]

    def minimize(
        self,
        loss: Callable[[], Any],
        var_list: Sequence[Any] | Callable[[], Sequence[Any]],
        grad_loss: TensorLike | None = None,
        name: str | None = None,
    ) -> Any:
        """Makes the operation that changes variables so that a loss gets smaller.

        Args:
          loss: A function without arguments that computes the loss.
          var_list: The variables, or a function that gives them.
          grad_loss: The gradient of the loss itself; one if None.
          name: The name of the operation.

        Returns:
          The operation.
        """
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss), name=name)

    def _compute_gradients(
        self,
        loss: Callable[[], Any],
        var_list: Sequence[Any] | Callable[[], Sequence[Any]],
        grad_loss: TensorLike | None = None,
    ) -> list[tuple[Any, Any]]:
        """The gradients of a loss, within the optimizer's bounds, beside the variables."""
        with tf.GradientTape() as tape:
            if not callable(var_list):
                tape.watch(var_list)
            value = loss()
        params = nest.flatten(var_list() if callable(var_list) else var_list)
        with tf.name_scope(f"{self._name}/gradients"):
            grads = self._clipped(tape.gradient(value, params, output_gradients=grad_loss))
        return list(zip(grads, params, strict=True))

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Makes the operation that applies gradients to variables, and counts the update.

        Args:
          grads_and_vars: Pairs of a gradient and a variable.
          name: The name of the operation.

        Returns:
          The operation.

        Raises:
          ValueError: If no variable has a gradient.
        """
        pairs = list(grads_and_vars)
        applied = [(grad, var) for grad, var in pairs if grad is not None]
        if pairs and not applied:
            raise ValueError(f"No gradients provided for any variable: {[var.name for _, var in pairs]}.")
        if has_strategy():
            replica = get_replica_context()
            if replica is None:
                raise RuntimeError(
                    "apply_gradients() cannot be called in cross-replica context. Use "
                    "tf.distribute.Strategy.experimental_run_v2 to enter replica context."
                )
            return replica.merge_call(self._distributed_apply, args=(applied, name))
        var_list = [var for _, var in applied]
        if var_list and isinstance(var_list[0], DistributedVariable):
            raise ValueError(
                f"{_name_of(var_list[0])} has a copy on each device of {var_list[0].distribute_strategy}: "
                "`handle` is not available outside the replica context or a "
                "`tf.distribute.Strategy.update()` call. Compile the model, or apply gradients, in the "
                "strategy's scope."
            )
        with tf.name_scope(self._name):
            self._create_all_weights(var_list)
            apply_state = self._prepare(var_list)
            with tf.name_scope(name or self._name):
                updates = []
                for grad, var in applied:
                    with tf.name_scope(f"update_{_name_of(var)}"), tf.colocate_with(var):
                        updates.append(self._updated(grad, var, apply_state))
                with tf.control_dependencies(updates):
                    return self._counted()

    def _distributed_apply(self, strategy: Any, pairs: Any, name: str | None) -> Any:
        """Applies the sum of the replicas' gradients to every copy of the variables."""
        extended = strategy.extended
        var_list = [var for _, var in pairs]
        states: dict[int, ApplyState] = {}  # of `_prepare`, for each device of variables

        def updated(var: Any, grad: Any) -> Any:
            if place() not in states:
                states[place()] = self._prepare(var_list)
            return self._updated(grad, var, states[place()])

        with tf.name_scope(self._name):
            self._create_all_weights(var_list)
            sums = extended.batch_reduce_to(ReduceOp.SUM, pairs)
            with tf.name_scope(name or self._name):
                updates = []
                for grad, var in zip(sums, var_list, strict=True):
                    with tf.name_scope(f"update_{_name_of(var)}"):
                        updates.append(extended.update(var, updated, args=(grad,), group=False))
                with tf.control_dependencies(nest.flatten(updates)):
                    return self._counted()

    def _counted(self) -> Any:
        """Counts an update: the operation, or in eager mode the new number."""
        number = self.iterations.assign_add(1)
        return number if tf.executing_eagerly() else number.op

    def _updated(self, grad: Any, var: Any, apply_state: ApplyState) -> Any:
        if isinstance(grad, IndexedSlices):
            if var.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            given = {"apply_state": apply_state} if _takes_state(self._resource_apply_sparse) else {}
            return self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices, **given)
        given = {"apply_state": apply_state} if _takes_state(self._resource_apply_dense) else {}
        update = self._resource_apply_dense(grad, var, **given)
        if var.constraint is None:
            return update
        with tf.control_dependencies([update]):
            return var.assign(var.constraint(var))

    # ------------------------------------------------------------------ configs

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config: dict[str, Any] = {"name": self._name}
        for bound in ("clipnorm", "clipvalue"):
            if hasattr(self, bound):
                config[bound] = getattr(self, bound)
        for name in self._config:
            known = name in self._hyper
            config[name] = self._serialize_hyperparameter(name) if known else getattr(self, name)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Optimizer:
        """Makes an optimizer from the result of `get_config`.

        Args:
          config: The arguments by name.
          custom_objects: The program's own schedules, by class name.

        Returns:
          The optimizer.
        """
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


def scatter_add(variable: Any, indices: TensorLike, values: TensorLike) -> Any:
    """Adds to rows of a variable; its value after that."""
    with tf.control_dependencies([variable_rows.resource_scatter_add_op(variable.handle, indices, values)]):
        return variable.value()


def scatter_update(variable: Any, indices: TensorLike, values: TensorLike) -> Any:
    """Sets rows of a variable; its value after that."""
    with tf.control_dependencies(
        [variable_rows.resource_scatter_update_op(variable.handle, indices, values)]
    ):
        return variable.value()


def _device_and_type(var: Any) -> tuple[str, Any]:
    """By which updates look up their numbers."""
    return var.device, var.dtype.base_dtype


def _takes_state(update: Callable[..., Any]) -> bool:
    """Whether a method that updates variables, which may be a program's own, takes what is prepared."""
    return _takes_argument(getattr(update, "__func__", update), "apply_state")


@functools.cache
def _takes_argument(function: Callable[..., Any], name: str) -> bool:
    return name in inspect.getfullargspec(function).args


def _whole(variable: Any) -> Any:
    """The variable whose slots a copy of it on one device shares."""
    container = container_of(variable)
    return variable if container is None else container


def _name_of(variable: Any) -> str:
    """The name of a variable, of a graph or not, without its output."""
    return variable.name.partition(":")[0]


def operation_of(update: Any) -> Any:
    """The operation of an update; None in eager mode, where it has run."""
    return None if tf.executing_eagerly() else update.op
