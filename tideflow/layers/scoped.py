"""The layers of `tf.layers`: their variables belong to variable scopes, which share them by name."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collections,
    colocate_with,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from tideflow.graph.stacks import replaced
from tideflow.layers import base
from tideflow.layers.base import snake_case
from tideflow.layers.nodes import as_tensors
from tideflow.variables import constraints, keras_initializers, regularizers
from tideflow.variables import variable_scope as scopes
from tideflow.variables.base import VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, RegularizerLike, ShapeLike


def _unique_layer_name(base_name: str) -> str:
    """`base_1`, `base_2` … counted per graph and variable scope."""
    graph = get_default_graph()
    counts = graph.__dict__.setdefault("_layer_names", Counter())
    key = (scopes.get_variable_scope().name, base_name)
    counts[key] += 1
    return f"{base_name}_{counts[key]}"


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


@export("layers.Layer")
class Layer(base.Layer):
    """The base of the layers of `tf.layers`: functions with variables, which variable scopes keep.

    A subclass makes its variables in `build(input_shape)`, with `add_weight`, and computes its output in
    `call(inputs)`.

    Args:
      trainable: Whether optimizers change the variables by default.
      name: The name of the layer; made from the class name if None.
      dtype: The type of the variables; that of the first input if None.
      **kwargs: `_reuse`, `_scope` and `activity_regularizer`.
    """

    _untracked = base._BOOKKEEPING | {"_scope", "_current_scope"}

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any
    ):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._graph = None
        self._current_scope: Any = None
        self._scope: Any = None
        self._keras_style = _style.keras
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
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
            self._name = _unique_layer_name(snake_case(type(self).__name__))
        elif name:
            self._base_name = self._name = name
        else:
            self._base_name = snake_case(type(self).__name__)
            self._name = _unique_layer_name(self._base_name)

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
        if self._keras_style:
            if given_scope is not None:
                raise ValueError("scope argument not allowed when keras style layers are enabled.")
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(given_scope)
        inputs = as_tensors(inputs, self._dtype)
        self._check_graph(nest.flatten(inputs))
        reuse = True if self.built else self._reuse
        with scopes.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = scope
            outputs = super().__call__(inputs, *args, **kwargs)
        known = get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS)
        known += [update for update, _ in self._updates if update not in known]
        return outputs

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is None:
            given = scope if scope is not None or not self._reuse else self._base_name
            with scopes.variable_scope(given, default_name=self._base_name) as captured:
                self._scope = captured

    def _check_graph(self, tensors: Sequence[Tensor]) -> None:
        is_of_graph = tensors and not getattr(tensors[0], "is_eager", False)
        graph = tensors[0].graph if is_of_graph else get_default_graph()
        if self._graph is not None and self._graph is not graph:
            raise ValueError(
                f"Input graph and Layer graph are not the same: {graph!r} is not {self._graph!r}"
            )
        self._graph = graph

    def _name_scope(self) -> str:
        return self._name if self._keras_style else self._current_scope.original_name_scope

    def _unbuilt(self) -> base.Layer:
        twin = super()._unbuilt()
        twin.__dict__["_scope"] = None
        return twin

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
          initializer: The initializer; that of the variable scope if None.
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
        if self._keras_style:
            return super().add_weight(
                name,
                shape,
                dtype,
                initializer,
                regularizer,
                trainable,
                constraint,
                partitioner,
                use_resource,
                synchronization,
                aggregation,
            )
        trainable = (synchronization != VariableSynchronization.ON_READ) if trainable is None else trainable
        if isinstance(initializer, str):
            initializer = keras_initializers.get(initializer)
        regularizer, constraint = regularizers.get(regularizer), constraints.get(constraint)
        dtype = dtypes.as_dtype(dtype or self._dtype or dtypes.float32)
        if self._dtype is None:  # built before any call: the first variable says it
            self._dtype = dtype.base_dtype.name
        self._set_scope()
        reuse = True if self.built else self._reuse
        with scopes.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                known = set(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
                variable = scopes.get_variable(
                    name,
                    shape=shape,
                    dtype=dtype,
                    initializer=initializer if initializer is not None else scope.initializer,
                    trainable=trainable and self.trainable,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer is not None and known.isdisjoint(_parts(variable)):
                    self._regularize_now(name, variable, regularizer)
        # A variable in parts is not among the trainable ones, each of its parts is.
        whole = type(variable).__name__ != "PartitionedVariable"
        (self._trainable_weights if trainable and whole else self._non_trainable_weights).append(variable)
        if whole:
            self._weights_by_name[name] = variable
        return variable

    add_variable = add_weight

    @contextlib.contextmanager
    def _whole_variables(self) -> Iterator[None]:
        if self._scope is None:  # of Keras's style: no scope cuts them
            yield
            return
        with replaced(self._scope, "_partitioner", None):
            yield

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The variables by the names they were added under; attributes do not count."""
        return list(self._weights_by_name.items())

    def _regularize_now(self, name: str, variable: Any, regularizer: RegularizerLike) -> None:
        for part in _parts(variable):
            if executing_eagerly():
                self.add_loss(functools.partial(regularizer, part))
                continue
            with colocate_with(part.op), name_scope(f"{name}/Regularizer"):
                self.add_loss(regularizer(part))

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses of the layer, which are in the collection REGULARIZATION_LOSSES.

        Args:
          losses: A loss or a list of losses.
          inputs: The inputs on which the losses depend; None if they depend on none.
        """
        before = len(self._losses)
        super().add_loss(losses, inputs)
        for loss in self._losses[before:] if not self._keras_style else ():
            add_to_collections([GraphKeys.REGULARIZATION_LOSSES], loss)

    def _track(self, value: Any) -> None:
        """Weights are those that scopes gave: attributes do not count."""

    @base._default
    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, by name, as far as the layer keeps them."""
        config: dict[str, Any] = {"name": self._name, "trainable": self.trainable}
        if self._dtype is not None:
            config["dtype"] = self._dtype
        for parameter in inspect.signature(type(self).__init__).parameters:
            if parameter not in ("self", "kwargs", "args") and hasattr(self, parameter):
                config.setdefault(parameter, getattr(self, parameter))
        return config

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


def _parts(variable: Any) -> list[Any]:
    return list(variable) if type(variable).__name__ == "PartitionedVariable" else [variable]
