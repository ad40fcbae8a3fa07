"""Layer: a function of tensors with variables of its own, made on its first call and shared by the later
ones. This is the base of Keras's layers, and of `tf.layers`, which has variable scopes besides (`scoped.py`).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.errors import OperatorNotAllowedInGraphError
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec
from tideflow.graph.user_functions import converted
from tideflow.layers import keras_state, precision
from tideflow.layers.additions import Additions
from tideflow.layers.connected import Connected
from tideflow.layers.input_spec import InputSpec, check_inputs
from tideflow.layers.keras_graph import (
    KerasGraph,
    get_graph,
    in_keras_graph,
    is_symbolic,
    outside_functions,
    runs_as_function,
)
from tideflow.layers.keras_session import batch_get_value, batch_set_value, track_variable
from tideflow.layers.nodes import as_tensors, comes_from_keras, is_keras_tensor, masks_of, own_operation
from tideflow.ops.arrays import constants
from tideflow.variables import constraints, keras_initializers, regularizers
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization
from tideflow.variables.module import Module
from tideflow.variables.store import default_initializer
from tideflow.variables.trackable import (
    NoDependency,
    Trackable,
    is_left_out,
    is_trackable,
    is_tracking,
    objects_made,
    unwrapped,
)

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, RegularizerLike, ShapeLike


def snake_case(name: str) -> str:
    """The name of a class as layers are named after it."""
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    return name if not name.startswith("_") else f"private{name}"


def _default(method: Callable) -> Callable:
    """Marks a method of the base that a subclass may or may not override."""
    method._is_default = True
    return method


_ARGUMENTS = frozenset(
    "input_shape batch_input_shape batch_size weights activity_regularizer autocast".split()
)
_BOOKKEEPING = frozenset(
    {
        "_graph",
        "_losses",
        "_losses_of_calls",
        "_callable_losses",
        "_updates",
        "_metrics",
        "_weights_by_name",
        "_layers",
        "_trainable_weights",
        "_non_trainable_weights",
        "_inbound_nodes",
        "_outbound_nodes",
        "_initial_weights",
    }
)


@export("keras.layers.Layer")
class Layer(Connected, Additions, Module):
    """The base of layers: functions with variables.

    A subclass makes its variables in `build(input_shape)`, with `add_weight`, and computes its output in
    `call(inputs)`.

    Args:
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer; made from the class name if None.
      dtype: The type of the variables, or a `tf.keras.mixed_precision.experimental.Policy`; that of the
        first input if None.
      dynamic: Whether the layer must run eagerly.
      **kwargs: `input_shape`, `batch_input_shape`, `batch_size`, `weights`,
        `activity_regularizer`, and `autocast`: whether floating-point inputs are cast to the layer's type.
    """

    _is_layer = True  # what libraries ask of an object that may be one
    _untracked = _BOOKKEEPING
    supports_masking = False
    _policy: Any = None
    _inferred_dtype: str | None = None  # of the first input
    _autocast = False

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        dynamic: bool = False,
        **kwargs: Any,
    ):
        for key in kwargs:
            if key not in _ARGUMENTS:
                raise TypeError("Keyword argument not understood:", key)
        self._trainable = trainable
        self.stateful = False
        self.built = False
        self.input_spec = None
        self.supports_masking = type(self).supports_masking
        self._set_types(dtype, kwargs.get("autocast"))
        self._dynamic = dynamic
        self._losses: list[Tensor] = []
        # Of the last call, where each call has its own; by thread, as replicas run in turns.
        self._losses_of_calls: dict[int, list[Tensor]] = {}
        self._callable_losses: list[Callable] = []
        self._updates: list[Any] = []
        self._metrics: list[Any] = []
        self._start_tracking()
        self._inbound_nodes = []
        self._outbound_nodes = []
        self._set_name(name)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        if "input_shape" in kwargs or "batch_input_shape" in kwargs:
            if "batch_input_shape" in kwargs:
                self._batch_input_shape = tuple(kwargs["batch_input_shape"])
            else:
                self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        self._initial_weights = kwargs.get("weights")

    def _set_types(self, dtype: Any, autocast: bool | None) -> None:
        """Sets the types of the variables and of the computation."""
        self._policy = precision.policy_of(dtype)
        self._autocast = precision.v2_dtypes() if autocast is None else autocast
        if self._policy is not None:
            self._dtype = self._policy.variable_dtype
        elif dtype is None:
            self._dtype = keras_state.floatx() if self._autocast else None
        else:
            self._dtype = dtypes.as_dtype(dtype).name

    @property
    def _compute_dtype(self) -> str | None:
        """The type in which the layer computes; None for that of its inputs."""
        return self._dtype if self._policy is None else self._policy.compute_dtype or self._inferred_dtype

    def _start_tracking(self) -> None:
        """Attributes may be set before `__init__` of the base runs."""
        for name in ("_trainable_weights", "_non_trainable_weights", "_layers"):
            if name not in self.__dict__:
                self.__dict__[name] = []
        self.__dict__.setdefault("_weights_by_name", {})

    def _set_name(self, name: str | None) -> None:
        if name:
            self._name = name
            keras_state.reserve_object_name(name)
        else:
            self._name = keras_state.unique_object_name(snake_case(type(self).__name__))

    # ------------------------------------------------------------------ what a subclass defines

    @_default
    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variables. The first call of the layer calls this.

        Args:
          input_shape: The static shape of the input, or a list of shapes.
        """
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the output.

        Args:
          inputs: The input tensor, or a list of tensors.
          **kwargs: Further arguments of the layer's call.

        Returns:
          The output tensor or tensors.
        """
        return inputs

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """Computes the static shape of the output.

        Args:
          input_shape: The static shape of the input.

        Returns:
          The shape.
        """
        if self.dynamic:
            raise NotImplementedError(
                "A layer that must run eagerly says the shape of its output in `compute_output_shape`."
            )
        if executing_eagerly() and not self.built:
            if not getattr(type(self).build, "_is_default", False):
                self.build(as_shapes(input_shape))
            self.built = True
        with Graph().as_default():
            twin = self._unbuilt()
            inputs = nest.map_structure(
                lambda shape: constants.placeholder(self._dtype or dtypes.float32, shape),
                as_shapes(input_shape),
            )
            return nest.map_structure(lambda output: output.shape, twin(inputs))

    def _unbuilt(self) -> Layer:
        twin = copy.copy(self)
        empty: dict[str, Any] = {
            name: [] for name in _BOOKKEEPING - {"_graph", "_weights_by_name", "_losses_of_calls", "_layers"}
        }
        twin.__dict__.update(empty, built=False, _graph=None, _initial_weights=None)
        twin.__dict__.update(_weights_by_name={}, _losses_of_calls={})
        return twin

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Computes the specs of the output.

        Args:
          input_signature: The TensorSpec of the input, or a structure of them.

        Returns:
          The TensorSpec of the output, or a structure of them.
        """
        shape = self.compute_output_shape(nest.map_structure(lambda spec: spec.shape, input_signature))
        dtype = self._compute_dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(lambda out: TensorSpec(out, dtype), shape)

    @_default
    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Computes the mask of the output: that of the input, if the layer supports masks.

        Args:
          inputs: The input.
          mask: The mask of the input.

        Returns:
          The mask.

        Raises:
          TypeError: If there is a mask and the layer does not support masks.
        """
        if self.supports_masking:
            return mask
        if any(each is not None for each in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return None

    @_default
    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self._dynamic:
            config["dynamic"] = True
        taken = [name for name in inspect.getfullargspec(type(self).__init__).args[1:] if name != "dynamic"]
        if len(set(taken) - config.keys()) > 0 and getattr(type(self).get_config, "_is_default", False):
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Makes a layer from the result of `get_config`.

        Args:
          config: The arguments by name.

        Returns:
          The layer.
        """
        return cls(**config)

    # ------------------------------------------------------------------ calling

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer. The first call makes its variables.

        Args:
          inputs: The input tensor, or a structure of tensors.
          *args: Further arguments of `call`.
          **kwargs: Further keyword arguments of `call`.

        Returns:
          The output.

        Raises:
          ValueError: If the inputs do not fit the layer.
        """
        if executing_eagerly() and is_symbolic(inputs):
            with get_graph().as_default():
                return self(inputs, *args, **kwargs)
        inputs = as_tensors(inputs, self._dtype)
        given = dict(zip(self._call_arguments[1:], args, strict=False)) | kwargs
        masks = given["mask"] if "mask" in given else masks_of(inputs)
        if self._expects("mask") and masks is not None and "mask" not in given:
            kwargs["mask"] = masks
        training = self._training_mode(given, kwargs)
        from_layers = all(map(is_keras_tensor, nest.flatten(inputs)))
        if not keras_state.in_call() and not from_layers and comes_from_keras(inputs):
            from tideflow.layers.op_layers import wrap_operations  # loaded when asked for

            wrap_operations(inputs)
        if not keras_state.in_call() and runs_as_function():
            self._clear_losses()
        with keras_state.inside_call(training, inputs):
            if not executing_eagerly():
                check_inputs(self.input_spec, nest.flatten(inputs), self.name)
            with name_scope(self._name_scope()):
                outputs = self._built_call(inputs, args, kwargs)
                if all(map(is_keras_tensor, nest.flatten(inputs))):
                    outputs = self._connect(inputs, outputs, given)
                self._regularize_activity(inputs, outputs)
                self._set_masks(inputs, outputs, masks)
                self._called_with(inputs, outputs)
        return outputs

    def _training_mode(self, given: dict[str, Any], kwargs: dict[str, Any]) -> Any:
        """The training mode of this call: as given, that of the call around it, or what the program set."""
        if "training" in given:
            if not self._expects("training"):
                kwargs.pop("training", None)
            return given["training"]
        training = keras_state.training_of_outer_call()
        if training is None and (keras_state.learning_phase_is_set() or in_keras_graph()):
            training = keras_state.learning_phase()
        if training is not None and self._expects("training"):
            kwargs["training"] = keras_state.as_training(training)
        return training

    def _built_call(self, inputs: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        self._build_for(inputs)
        if self.dynamic and not executing_eagerly():
            return self._stand_ins(inputs)
        if self._autocast:
            inputs = precision.cast_inputs(inputs, self._compute_dtype)
        if self._policy is None:
            outputs = self._converted_call(inputs, *args, **kwargs)
        else:
            with precision.computing_in(self._compute_dtype):
                outputs = self._converted_call(inputs, *args, **kwargs)
        if outputs is None:
            raise ValueError(
                "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                f"{self._name})."
            )
        in_graph_of_models = isinstance(get_default_graph(), KerasGraph)
        return nest.map_structure(own_operation, outputs) if in_graph_of_models else outputs

    def _default_initializer(self, name: str, dtype: dtypes.DType) -> Any:
        if dtype is dtypes.string:
            raise ValueError(
                f"An initializer for variable {name} of type {dtype} is required for layer {self.name}"
            )
        return default_initializer(name, dtype)

    def _converted_call(self, *args: Any, **kwargs: Any) -> Any:
        """`call`; in a graph AutoGraph converts that of a program's own class first."""
        if executing_eagerly():
            return self.call(*args, **kwargs)
        own = not type(self).__module__.startswith("tideflow.")
        try:
            return (converted(self.call) if own else self.call)(*args, **kwargs)
        except OperatorNotAllowedInGraphError as error:
            raise TypeError(
                "You are attempting to use Python control flow in a layer that was not declared to be "
                "dynamic. Pass `dynamic=True` to the class constructor.\n"
                f'Encountered error:\n"""\n{error}\n"""'
            ) from error

    def _build_for(self, inputs: Any) -> None:
        if not self.built:
            flat = nest.flatten(inputs)
            check_inputs(self.input_spec, flat, self.name)
            if flat:
                self._inferred_dtype = flat[0].dtype.base_dtype.name
                self._dtype = self._dtype or self._inferred_dtype
            with outside_functions():
                if not getattr(type(self).build, "_is_default", False):
                    self.build(nest.map_structure(lambda tensor: tensor.shape, inputs))
                self.built = True
                if executing_eagerly():
                    objects_made()
            check_inputs(self.input_spec, flat, self.name)
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _stand_ins(self, inputs: Any) -> Any:
        """Tensors of the shapes of a dynamic layer's outputs, which nothing computes."""
        shape = self.compute_output_shape(nest.map_structure(lambda tensor: tensor.shape, inputs))
        dtype = self._dtype or nest.flatten(inputs)[0].dtype
        return nest.map_structure(lambda out: constants.placeholder(dtype, out), as_shapes(shape))

    def _called_with(self, inputs: Any, outputs: Any) -> None:
        """A hook of models, which learn their inputs from their first call."""

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer, as calling it does.

        Args:
          inputs: The input tensor, or a structure of tensors.
          *args: Further arguments of `call`.
          **kwargs: Further keyword arguments of `call`.

        Returns:
          The output.
        """
        return self(inputs, *args, **kwargs)

    @property
    def _call_arguments(self) -> tuple[str, ...]:
        return (
            _arguments_of(type(self).call)[0] if "call" not in self.__dict__ else _arguments_of(self.call)[0]
        )

    @property
    def _call_fn_args(self) -> list[str]:
        return list(self._call_arguments)

    def _expects(self, argument: str) -> bool:
        """Whether `call` takes an argument of this name."""
        call = self.__dict__.get("call", type(self).call)
        names, takes_any = _arguments_of(call)
        return argument in names or takes_any

    def _name_scope(self) -> str:
        return self.name

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        flat = nest.flatten(outputs)
        overridden = not getattr(type(self).compute_mask, "_is_default", False)
        if getattr(self, "_compute_output_and_mask_jointly", False) or all(
            getattr(output, "_keras_mask", None) is not None for output in flat
        ):
            return
        if not (self.supports_masking or overridden):
            made = [None] * len(flat)
        else:
            computed = self.compute_mask(inputs, masks)
            made = [None] * len(flat) if computed is None else nest.flatten(computed)
        for output, mask in zip(flat, made, strict=False):
            with contextlib.suppress(AttributeError):  # a number, as the step that a cell counts
                output._keras_mask = mask
            if mask is not None:
                mask._keras_history_checked = True

    # ------------------------------------------------------------------ variables, losses, updates

    def __setattr__(self, name: str, value: Any) -> None:
        """Notes the layers and variables among the attributes."""
        if hasattr(type(self), name) or name in _BOOKKEEPING or self.__dict__.get("_is_graph_network"):
            self._set_plainly(name, value)
            return
        value = unwrapped(self, name, value)
        if name in self.__dict__:
            self._untrack(name)
        if not isinstance(value, (str, int, float, bool, type(None))) and is_tracking(self):
            self._track(value)
        object.__setattr__(self, name, value)

    def _set_plainly(self, name: str, value: Any) -> None:
        found = inspect.getattr_static(type(self), name, None)
        if isinstance(found, property) and found.fset is None:
            raise AttributeError(
                f'Can\'t set the attribute "{name}", likely because it conflicts with an existing read-only '
                "@property of the object. Please choose a different name."
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Forgets the layer or variable that an attribute was."""
        self._untrack(name)
        object.__delattr__(self, name)

    def _untrack(self, name: str) -> None:
        """Forgets what an attribute is, unless another one is the same."""
        value = self.__dict__.get(name)
        if not isinstance(value, (Layer, Variable, list, dict)) or name in _BOOKKEEPING:
            return
        if any(other is value for key, other in self.__dict__.items() if key != name):
            return
        for kept in ("_layers", "_trainable_weights", "_non_trainable_weights"):
            if kept in self.__dict__:
                self.__dict__[kept] = [each for each in self.__dict__[kept] if each is not value]

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _track(self, value: Any) -> None:
        self._start_tracking()
        if isinstance(value, (Layer, list, dict)) and all(value is not known for known in self._layers):
            self._layers.append(value)
        if isinstance(value, (Variable, list, tuple, dict)):
            for variable in _leaves(value):
                if isinstance(variable, Variable):
                    kept = self._trainable_weights if variable.trainable else self._non_trainable_weights
                    own = (*self._trainable_weights, *self._non_trainable_weights)
                    if all(variable is not known for known in own):
                        kept.append(variable)
                        track_variable(variable)

    def _inner_layers(self) -> Iterator[Layer]:
        """The layers among the attributes, and in lists and dictionaries among these, in order."""
        seen = set()
        for tracked in self.__dict__.get("_layers", ()):
            for value in _leaves(tracked):
                if isinstance(value, Layer) and id(value) not in seen:
                    seen.add(id(value))
                    yield value

    def _of_inner_layers(self, attribute: str) -> list[Any]:
        return [item for layer in self._inner_layers() for item in getattr(layer, attribute)]

    def add_weight(
        self,
        name: str | None = None,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: RegularizerLike | None = None,
        trainable: bool | None = None,
        constraint: Callable | None = None,
        partitioner: Callable | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable of the layer.

        Args:
          name: The name of the variable within the layer.
          shape: The shape; a scalar if None.
          dtype: The type of the elements; that of the layer if None.
          initializer: The initializer.
          regularizer: The regularizer.
          trainable: Whether optimizers change the variable by default; as the layer says if None.
          constraint: The constraint, which optimizers apply after each update.
          partitioner: The partitioner, which only variable scopes use.
          use_resource: Whether it is a resource variable.
          synchronization: When copies on several devices are synchronized.
          aggregation: How the writes of several devices are combined.
          **kwargs: `collections`, those that the variable is added to; and options that have no effect here.

        Returns:
          The variable.

        Raises:
          ValueError: If the variable is trainable and only read by copies.
        """
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast", "caching_device"):
                raise TypeError("Unknown keyword argument:", key)
        if synchronization == VariableSynchronization.ON_READ and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
                "variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        trainable = (synchronization != VariableSynchronization.ON_READ) if trainable is None else trainable
        dtype = dtypes.as_dtype(dtype or self._dtype or keras_state.floatx())
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        initializer = keras_initializers.get(initializer) or self._default_initializer(name, dtype)
        regularizer, constraint = regularizers.get(regularizer), constraints.get(constraint)
        sizes = TensorShape(() if shape is None else shape).as_list()
        variable = Variable(
            lambda: initializer(sizes, dtype=dtype),
            name=name,
            dtype=dtype.base_dtype,
            trainable=trainable,
            collections=kwargs.get("collections"),
            constraint=constraint,
            use_resource=True if use_resource is None else use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        casts = self._policy is not None and self._policy.should_cast_variables
        if casts and kwargs.get("experimental_autocast", True):
            variable = precision.casts_itself(variable)
        track_variable(variable)
        if regularizer is not None:
            self._regularize(name, variable, regularizer)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        self._weights_by_name[name] = variable
        return variable

    def _whole_variables(self) -> contextlib.AbstractContextManager[None]:
        """Variables added inside are not cut into parts, whatever a variable scope says."""
        return contextlib.nullcontext()

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Makes a variable of the layer, as `add_weight` does.

        Args:
          *args: Arguments of `add_weight`.
          **kwargs: Keyword arguments of `add_weight`.

        Returns:
          The variable.
        """
        return self.add_weight(*args, **kwargs)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The variables by the names they were added under, and the attributes that hold more."""
        found = dict(self._weights_by_name)
        for name, value in vars(self).items():
            followed = name not in self._untracked and not is_left_out(self, name)
            if followed and is_trackable(value) and _holds_trackable(value):
                found.setdefault(name, value)
        return list(found.items())

    @property
    def trainable(self) -> bool:
        """Whether optimizers change the variables."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._inner_layers():
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables."""
        if not self.trainable:
            return []
        return self._trainable_weights + self._of_inner_layers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trainable."""
        if self.trainable:
            return self._non_trainable_weights + self._of_inner_layers("non_trainable_weights")
        own = self._trainable_weights + self._non_trainable_weights
        return own + self._of_inner_layers("weights")

    @property
    def weights(self) -> list[Any]:
        """All variables."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """All variables."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that are not trainable."""
        return self.non_trainable_weights

    def count_params(self) -> int:
        """The number of elements of all variables.

        Raises:
          ValueError: If the variables have not been made.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build "
                f"it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(variable.shape.num_elements() for variable in self.weights)

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
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                f"{len(weights)}, but the layer was expecting {len(params)} weights. Provided weights: "
                f"{str(weights)[:50]}..."
            )
        for variable, value in zip(params, weights, strict=True):
            if tuple(variable.shape.as_list()) != tuple(getattr(value, "shape", ())):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight shape "
                    f"{tuple(value.shape)}"
                )
        batch_set_value(list(zip(params, weights, strict=True)))

    # ------------------------------------------------------------------ facts

    @property
    def input_spec(self) -> Any:
        """What the inputs must be like: an `InputSpec`, one for each input, or None."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self._input_spec = value

    @property
    def name(self) -> str:
        """The name of the layer."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The name scope of the layer's operations, as a context manager."""
        return name_scope(self._name_scope())

    @property
    def dtype(self) -> str | None:
        """The type of the variables, as a name."""
        return self._dtype

    @property
    def dynamic(self) -> bool:
        """Whether the layer, or one in it, must run eagerly."""
        return self._dynamic or any(layer.dynamic for layer in self._inner_layers())

    def __deepcopy__(self, memo: dict) -> Layer:
        shared = {"_graph", "_scope", "_always_reuse_variable_scope", "_current_scope"}
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for key, value in self.__dict__.items():
            twin.__dict__[key] = value if key in shared else copy.deepcopy(value, memo)
        return twin


@functools.cache
def _arguments_of(call: Callable) -> tuple[tuple[str, ...], bool]:
    """The names of a call's arguments after `self`, and whether it takes any other."""
    found = inspect.getfullargspec(getattr(call, "python_function", call))  # of a tf.function, what it traces
    names = [*found.args, *found.kwonlyargs]
    return tuple(names[1:] if names[:1] == ["self"] else names), found.varkw is not None


def as_shapes(given: Any) -> Any:
    """One shape, or a structure of shapes."""
    if isinstance(given, dict):
        return {key: as_shapes(value) for key, value in given.items()}
    if isinstance(given, (list, tuple)) and any(
        isinstance(x, (list, tuple, dict, TensorShape)) for x in given
    ):
        return type(given)(as_shapes(shape) for shape in given)
    return TensorShape(given)


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _holds_trackable(value: Any) -> bool:
    return any(isinstance(leaf, Trackable) for leaf in _leaves(value))
