"""Layer: a function of tensors with variables of its own, made on its first call and shared by the later
ones.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.graph import Graph
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collections,
    colocate_with,
    executing_eagerly,
    get_default_graph,
    get_default_session,
    name_scope,
)
from tideflow.graph.shapes import TensorShape
from tideflow.graph.stacks import replaced
from tideflow.graph.type_spec import TensorSpec
from tideflow.layers.input_spec import InputSpec, check_inputs
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.math import casting
from tideflow.variables import variable_scope as scopes
from tideflow.variables.base import Variable, VariableAggregation, VariableSynchronization
from tideflow.variables.module import Module
from tideflow.variables.store import default_initializer
from tideflow.variables.trackable import objects_made

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, RegularizerLike, ShapeLike


def _snake_case(name: str) -> str:
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    return name if not name.startswith("_") else f"private{name}"


def _unique_layer_name(base: str) -> str:
    """`base_1`, `base_2` … counted per graph and variable scope."""
    graph = get_default_graph()
    counts = graph.__dict__.setdefault("_layer_names", Counter())
    key = (scopes.get_variable_scope().name, base)
    counts[key] += 1
    return f"{base}_{counts[key]}"


class _Style:
    """Whether layers made now own their variables, as Keras's do, or have them from variable scopes."""

    def __init__(self) -> None:
        self.keras = False


_style = _Style()


@export("layers.experimental.keras_style_scope")
@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """Makes layers of a `with` block own their variables.

    Variable scopes do not share them, and names need not be unique.

    Yields:
      None.
    """
    with replaced(_style, "keras", True):
        yield


@export("layers.experimental.set_keras_style")
def set_keras_style() -> None:
    """Makes all layers from now on own their variables, as in `keras_style_scope`."""
    _style.keras = True


@export("layers.Layer", "keras.layers.Layer")
class Layer(Module):
    """The base of layers: functions with variables.

    A subclass makes its variables in `build(input_shape)`, with `add_weight`, and computes its output in
    `call(inputs)`.

    Args:
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer; made from the class name if None.
      dtype: The type of the variables; that of the first input if None.
      **kwargs: `_reuse`, `_scope` and `activity_regularizer`.
    """

    _untracked = frozenset({"_graph", "_calls", "_losses", "_updates", "_weights_by_name"})

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any
    ):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self.activity_regularizer = kwargs.pop("activity_regularizer", None)
        if kwargs:
            raise TypeError(f"Keyword argument not understood: {next(iter(kwargs))!r}")
        self.trainable = trainable
        self.stateful = False
        self.built = False
        self.input_spec: InputSpec | None = None
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._graph = None
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._weights_by_name: dict[str, Any] = {}
        self._losses: list[tuple[Tensor, bool]] = []  # a loss, and whether it depends on the inputs
        self._updates: list[tuple[Any, bool]] = []
        self._calls: list[tuple[Any, Any]] = []  # inputs and outputs of each call
        self._set_name(name)
        self._current_scope: Any = None
        self._scope: Any = None
        self._keras_style = _style.keras
        if self._keras_style and self._reuse is not None:
            raise ValueError(
                f"reuse argument not allowed when keras style layers are enabled, but saw: {self._reuse}"
            )
        if scope is not None and not self._keras_style:
            with scopes.variable_scope(scope) as captured:
                self._scope = captured

    def _set_name(self, name: Any) -> None:
        if isinstance(name, scopes.VariableScope):
            self._base_name = name.name
            self._name = _unique_layer_name(_snake_case(type(self).__name__))
        elif name:
            self._base_name = self._name = name
        else:
            self._base_name = _snake_case(type(self).__name__)
            self._name = _unique_layer_name(self._base_name)

    # ------------------------------------------------------------------ what a subclass defines

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
        with Graph().as_default():
            twin = copy.copy(self)
            twin.__dict__.update(
                built=False,
                _scope=None,
                _graph=None,
                _trainable_weights=[],
                _non_trainable_weights=[],
                _weights_by_name={},
            )
            return twin(constants.placeholder(self._dtype or dtypes.float32, input_shape)).shape

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Computes the specs of the output.

        Args:
          input_signature: The TensorSpec of the input, or a structure of them.

        Returns:
          The TensorSpec of the output, or a structure of them.
        """
        shape = self.compute_output_shape(nest.map_structure(lambda spec: spec.shape, input_signature))
        dtype = self._dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(lambda out: TensorSpec(out, dtype), shape)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Computes the mask of the output, which is none.

        Args:
          inputs: The input.
          mask: The mask of the input.

        Returns:
          The mask.
        """
        return mask

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name, as far as the layer keeps them."""
        config: dict[str, Any] = {"name": self._name, "trainable": self.trainable}
        if self._dtype is not None:
            config["dtype"] = self._dtype
        for parameter in inspect.signature(type(self).__init__).parameters:
            if parameter not in ("self", "kwargs", "args") and hasattr(self, parameter):
                config.setdefault(parameter, getattr(self, parameter))
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
        given_scope = kwargs.pop("scope", None)
        if not self._keras_style:
            self._set_scope(given_scope)
        elif given_scope is not None:
            raise ValueError("scope argument not allowed when keras style layers are enabled.")
        inputs = nest.map_structure(
            lambda x: x if hasattr(x, "op") else convert_to_tensor(x, preferred_dtype=self._dtype), inputs
        )
        flat = nest.flatten(inputs)
        self._check_graph(flat)
        if self._keras_style:
            with name_scope(self._name):
                outputs = self._run(inputs, flat, args, kwargs)
            self._keep_call(inputs, outputs)
            return outputs
        reuse = True if self.built else self._reuse
        with scopes.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                outputs = self._run(inputs, flat, args, kwargs)
        self._keep_call(inputs, outputs)
        add_new = [
            u for u, _ in self._updates if u not in get_default_graph().get_collection(GraphKeys.UPDATE_OPS)
        ]
        get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS).extend(add_new)
        return outputs

    def _keep_call(self, inputs: Any, outputs: Any) -> None:
        """Remembers where the layer stands in a graph. In eager mode, nothing of a call remains."""
        if not executing_eagerly():
            self._calls.append((inputs, outputs))

    def _run(self, inputs: Any, flat: list[Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        check_inputs(self.input_spec, flat, self._name)
        if self._dtype is None and flat:
            self._dtype = flat[0].dtype.base_dtype.name
        if not self.built:
            self.build(nest.map_structure(lambda t: t.shape, inputs) if len(flat) > 1 else flat[0].shape)
            self.built = True
            if executing_eagerly():
                objects_made()
            check_inputs(self.input_spec, flat, self._name)
        if _accepts_scope(self.call) and not self._keras_style:
            kwargs["scope"] = self._current_scope
        outputs = self.call(inputs, *args, **kwargs)
        if outputs is None:
            raise ValueError(
                "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                f"{self._name})."
            )
        self._regularize_activity(outputs)
        return outputs

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

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is None:
            given = scope if scope is not None or not self._reuse else self._base_name
            with scopes.variable_scope(given, default_name=self._base_name) as captured:
                self._scope = captured

    def _check_graph(self, tensors: Sequence[Tensor]) -> None:
        graph = tensors[0].graph if tensors and not tensors[0].is_eager else get_default_graph()
        if self._graph is not None and self._graph is not graph:
            raise ValueError(
                f"Input graph and Layer graph are not the same: {graph!r} is not {self._graph!r}"
            )
        self._graph = graph

    def _name_scope(self) -> str:
        return self._current_scope.original_name_scope

    def _regularize_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self.activity_regularizer(output)
                batch = casting.cast(shapes.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=True)

    # ------------------------------------------------------------------ variables, losses, updates

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
        regularizer: RegularizerLike | None = None,
        trainable: bool | None = None,
        constraint: Callable | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Callable | None = None,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable of the layer.

        Args:
          name: The name of the variable within the layer.
          shape: The shape.
          dtype: The type of the elements; that of the layer if None.
          initializer: The initializer.
          regularizer: The regularizer.
          trainable: Whether optimizers change the variable by default; as the layer says if None.
          constraint: The constraint, which optimizers apply after each update.
          use_resource: Whether it is a resource variable.
          synchronization: When copies on several devices are synchronized.
          aggregation: How the writes of several devices are combined.
          partitioner: The partitioner.
          **kwargs: Options of TensorFlow that have no effect here.

        Returns:
          The variable.
        """
        trainable = (synchronization != VariableSynchronization.ON_READ) if trainable is None else trainable
        if self._keras_style:
            variable = self._own_variable(name, shape, dtype, initializer, trainable, constraint)
            if regularizer is not None:
                self._regularize(name, variable, regularizer)
            (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
            self._weights_by_name[name] = variable
            return variable
        self._set_scope()
        reuse = True if self.built else self._reuse
        with scopes.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                known = set(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
                variable = scopes.get_variable(
                    name,
                    shape=shape,
                    dtype=dtypes.as_dtype(dtype or self._dtype or dtypes.float32),
                    initializer=initializer if initializer is not None else scope.initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer is not None and known.isdisjoint(_parts(variable)):
                    self._regularize(name, variable, regularizer)
        # A variable in parts is not among the trainable ones, each of its parts is.
        whole = type(variable).__name__ != "PartitionedVariable"
        (self._trainable_weights if trainable and whole else self._non_trainable_weights).append(variable)
        if whole:
            self._weights_by_name[name] = variable
        return variable

    add_variable = add_weight

    @contextlib.contextmanager
    def _whole_variables(self) -> Iterator[None]:
        """Variables added inside are not cut into parts, whatever the layer's scope says."""
        if self._scope is None:  # of Keras's style: no scope cuts them
            yield
            return
        with replaced(self._scope, "_partitioner", None):
            yield

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The variables by the names they were added under; attributes do not count."""
        return list(self._weights_by_name.items())

    def _own_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any,
        trainable: bool,
        constraint: Callable | None,
    ) -> Any:
        """A variable that no scope knows, named by the name scope."""
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        initializer = initializer or default_initializer(name, dtype)
        return Variable(
            lambda: initializer(TensorShape(shape).as_list(), dtype=dtype),
            name=name,
            dtype=dtype,
            trainable=trainable and self.trainable,
            constraint=constraint,
            use_resource=True,
        )

    def _regularize(self, name: str, variable: Any, regularizer: RegularizerLike) -> None:
        for part in _parts(variable):
            if executing_eagerly():
                self._losses.append((functools.partial(regularizer, part), False))
                continue
            with colocate_with(part.op), name_scope(f"{name}/Regularizer"):
                self.add_loss(regularizer(part))

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses of the layer, which are in the collection REGULARIZATION_LOSSES.

        Args:
          losses: A loss or a list of losses.
          inputs: The inputs on which the losses depend; None if they depend on none.
        """
        losses = [loss for loss in nest.flatten(losses) if loss is not None]
        if executing_eagerly():  # they are of one call: the last
            return
        self._losses += [(loss, inputs is not None) for loss in losses]
        for loss in losses if not self._keras_style else ():
            add_to_collections([GraphKeys.REGULARIZATION_LOSSES], loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that a training step should run, which are in the collection UPDATE_OPS.

        Args:
          updates: An operation or a list of operations.
          inputs: The inputs on which the operations depend; None if they depend on none.
        """
        if executing_eagerly():  # they have run
            return
        ops = [getattr(update, "op", update) for update in nest.flatten(updates)]
        self._updates += [(op, inputs is not None) for op in ops]

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables."""
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trainable."""
        return [*([] if self.trainable else self._trainable_weights), *self._non_trainable_weights]

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

    @property
    def losses(self) -> list[Tensor]:
        """The losses that were added to the layer."""
        return [loss() if callable(loss) else loss for loss, _ in self._losses]

    @property
    def updates(self) -> list[Any]:
        """The operations that were added to the layer."""
        return [update for update, _ in self._updates] if self.trainable else []

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """Gets the losses that depend on inputs.

        Args:
          inputs: The inputs; None for the losses that depend on none.

        Returns:
          A list of losses.
        """
        return _dependent(self._losses, inputs)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Gets the update operations that depend on inputs.

        Args:
          inputs: The inputs; None for the operations that depend on none.

        Returns:
          A list of operations.
        """
        return _dependent(self._updates, inputs)

    def count_params(self) -> int:
        """The number of elements of all variables.

        Raises:
          ValueError: If the variables have not been made.
        """
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on {self._name}, but the layer isn't built.")
        return sum(variable.shape.num_elements() for variable in self.weights)

    def get_weights(self) -> list[Any]:
        """The values of the variables in the default session, as arrays."""
        return [variable.eval() for variable in self.weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the values of the variables in the default session.

        Args:
          weights: The values, in the order of `weights`.

        Raises:
          ValueError: If the number of values is not that of the variables.
        """
        if len(weights) != len(self.weights):
            raise ValueError(
                f"Layer {self._name} has {len(self.weights)} variables, {len(weights)} values were given."
            )
        for variable, value in zip(self.weights, weights, strict=True):
            variable.load(value, get_default_session())

    # ------------------------------------------------------------------ facts

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
        """Whether the layer must run eagerly: False."""
        return False

    @property
    def graph(self) -> Any:
        """The graph that contains the layer."""
        return self._graph

    @property
    def scope_name(self) -> str:
        """The name of the layer's variable scope."""
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been used yet.'
            )
        return self._scope.name

    def _call_at(self, index: int, part: int, what: str) -> Any:
        if not self._calls:
            raise RuntimeError(
                f"The layer {self._name} has never been called and thus has no defined {what}."
            )
        if index >= len(self._calls):
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only {len(self._calls)} inbound "
                "nodes."
            )
        return self._calls[index][part]

    def _only(self, part: int, what: str) -> Any:
        if not self._calls:
            raise AttributeError(f"Layer {self._name} is not connected, no {what} to return.")
        if len(self._calls) > 1:
            raise AttributeError(
                f"Layer {self._name} has multiple inbound nodes, hence the notion of "
                f'"layer {what}" is ill-defined.'
            )
        return self._calls[0][part]

    def get_input_at(self, node_index: int) -> Any:
        """The input of a call.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The tensor or tensors.
        """
        return self._call_at(node_index, 0, "input")

    def get_output_at(self, node_index: int) -> Any:
        """The output of a call.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The tensor or tensors.
        """
        return self._call_at(node_index, 1, "output")

    def get_input_mask_at(self, node_index: int) -> Any:
        """The mask of a call's input, which is none.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          None, or a None for each input.
        """
        return nest.map_structure(lambda _: None, self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The mask of a call's output, which is none.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          None, or a None for each output.
        """
        return nest.map_structure(lambda _: None, self.get_output_at(node_index))

    @property
    def input_mask(self) -> Any:
        """The mask of the input, which is none."""
        return nest.map_structure(lambda _: None, self.input)

    @property
    def output_mask(self) -> Any:
        """The mask of the output, which is none."""
        return nest.map_structure(lambda _: None, self.output)

    def get_input_shape_at(self, node_index: int) -> Any:
        """The static shape of a call's input.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The shape or shapes.
        """
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.get_input_at(node_index))

    def get_output_shape_at(self, node_index: int) -> Any:
        """The static shape of a call's output.

        Args:
          node_index: The number of the call, from 0.

        Returns:
          The shape or shapes.
        """
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.get_output_at(node_index))

    @property
    def input(self) -> Any:
        """The input, if the layer was called once."""
        return self._only(0, "input")

    @property
    def output(self) -> Any:
        """The output, if the layer was called once."""
        return self._only(1, "output")

    @property
    def input_shape(self) -> Any:
        """The static shape of the input, if it is the same in all calls."""
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.input)

    @property
    def output_shape(self) -> Any:
        """The static shape of the output, if it is the same in all calls."""
        return nest.map_structure(lambda t: tuple(t.shape.as_list()), self.output)

    def __deepcopy__(self, memo: dict) -> Layer:
        shared = {"_graph", "_scope", "_always_reuse_variable_scope", "_current_scope"}
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for key, value in self.__dict__.items():
            twin.__dict__[key] = value if key in shared else copy.deepcopy(value, memo)
        return twin


def _accepts_scope(call: Callable) -> bool:
    return "scope" in inspect.signature(call).parameters


def _parts(variable: Any) -> list[Any]:
    return list(variable) if type(variable).__name__ == "PartitionedVariable" else [variable]


def _dependent(added: list[tuple[Any, bool]], inputs: Any) -> list[Any]:
    """Of the losses or updates added to a layer, those that depend on these inputs; without inputs, those
    that depend on none.
    """
    if inputs is None:
        return [item for item, conditional in added if not conditional]
    sources = {tensor.op for tensor in nest.flatten(inputs)}
    return [item for item, conditional in added if conditional and _is_behind(item, sources)]


def _is_behind(item: Any, sources: set[Operation]) -> bool:
    """Whether a tensor or an operation is computed from the outputs of one of `sources`."""
    stack, seen = [item if isinstance(item, Operation) else item.op], set()
    while stack:
        op = stack.pop()
        if op in sources:
            return True
        if op not in seen:
            seen.add(op)
            stack += [tensor.op for tensor in op.inputs]
    return False
