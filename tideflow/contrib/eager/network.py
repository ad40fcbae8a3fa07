"""`tf.contrib.eager.Network`: layers that hold layers, as programs had them before `tf.keras.Model`.

A network has a variable scope, and the layers it tracks have theirs inside, so that variables are called
after where they stand. Checkpoints of networks leave the network's own name out of that.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import Any

from tideflow.export import export
from tideflow.graph.scopes import executing_eagerly, get_default_graph
from tideflow.layers.base import snake_case
from tideflow.layers.scoped import Layer
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated
from tideflow.platform.function_arguments import fn_args
from tideflow.variables import variable_scope as scopes

_USE_MODELS = (
    "Please inherit from `tf.keras.Model`, which tracks the layers that its attributes hold: most programs "
    "only leave out the calls of `track_layer`."
)


def _counted(name: str, counts: Counter, taken: Container[Any], namespace: str = "") -> str:
    """The name, or the first of `name_1`, `name_2` … that nothing else has."""
    while True:
        number = counts[namespace, name]
        counts[namespace, name] += 1
        found = f"{name}_{number}" if number else name
        if found not in taken:
            return found


@export("contrib.eager.Network")
class Network(Layer):
    """A layer of layers. A subclass tracks its layers in `__init__` and calls them in `call`.

    Args:
      name: The name, which must be unique where the network stands; made from the class name if None.

    Raises:
      ValueError: If `name` is a variable scope or has a slash in it.
    """

    @deprecated(None, _USE_MODELS)
    def __init__(self, name: str | None = None):
        if executing_eagerly():
            logging.warning(
                "** tfe.Network is deprecated and will be removed in a future version.\n\n%s", _USE_MODELS
            )
        if isinstance(name, scopes.VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._sub_layer_counts: Counter = Counter()
        self._first_parent: Callable[[], Network | None] | None = None
        self._is_outermost = False
        self._waiting_for_scope: list[Layer] = []
        self._owned_layers: dict[str, Layer] = {}
        self._scope_around = scopes.get_variable_scope()

    def _set_name(self, name: Any) -> None:
        self._name = name  # one without a name gets it where it is used
        self._base_name = None

    def _finalize_name(self, parent: Network | None) -> None:
        if not self._name:
            base = snake_case(type(self).__name__)
            if parent is not None:
                self._name = _counted(base, parent._sub_layer_counts, parent._owned_layers)
            else:
                around = self._scope_around.name
                counts = get_default_graph().__dict__.setdefault("_layer_names", Counter())
                self._name = _counted(base, counts, scopes.opened_in(around), around)
        if not self._is_outermost and self._parent() is None:
            self._is_outermost = parent is None
            self._first_parent = None if parent is None else weakref.ref(parent)

    def _parent(self) -> Network | None:
        return None if self._first_parent is None else self._first_parent()

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        parent = self._parent()
        if parent is None:
            self._finalize_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        if parent is not None:
            parent._set_scope()
        outer = self._scope_around if parent is None else parent._scope
        with (
            scopes.variable_scope(outer),
            scopes.variable_scope(None, use_resource=True, default_name=self._name) as scope,
        ):
            self._scope = scope
            self._check_scope(parent, *scope.name.rpartition("/")[::2])
        for layer in self._waiting_for_scope:
            self._set_scope_of(layer)

    def _check_scope(self, parent: Network | None, prefix: str, found: str) -> None:
        if found != self._name:
            raise ValueError(
                f"A Network named '{self._name}' already exists (or a variable_scope was created with this "
                "name). Names must be unique."
            )
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(
                "Network variable names must match a nesting of sub-Network names. Expected prefix "
                f"'{parent.scope_name}' from parent network, but got '{prefix}' when attempting to create a "
                f"variable_scope for Network '{self._name}'. Likely an explicit variable_scope was inserted "
                "into the nesting."
            )
        if parent is None and prefix:
            self._name = self._scope.name

    def _set_scope_of(self, layer: Any) -> None:
        """Gives a layer that is no network its variable scope, in that of the first network that has it."""
        if layer._scope is not None:
            return
        parent = layer._first_parent()
        if parent is None:
            self._finalize_name(None)
            raise ValueError(
                f"The parent of a Layer added to Network {self.name} was garbage collected before the Layer "
                "was built. If this limitation bothers you please file a feature request."
            )
        parent._set_scope()
        with (
            scopes.variable_scope(parent._scope),
            scopes.variable_scope(None, use_resource=True, default_name=layer.name) as scope,
        ):
            layer._scope = scope

    @property
    def name(self) -> str:
        """The name, which a network without one gets when another tracks it or when it is first called."""
        if self._name is None:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested for it. Networks get a "
                "name when they are added to another Network via track_layer, or when they are first "
                "called/built."
            )
        return self._name

    def track_layer(self, layer: Layer) -> Layer:
        """Makes a layer a part of the network.

        Args:
          layer: The layer, of `tf.layers`, or a network.

        Returns:
          The layer.

        Raises:
          RuntimeError: If `__init__` has not run.
          TypeError: If it is no layer of `tf.layers`.
          ValueError: If another layer of the network has its name.
        """
        if not hasattr(self, "_owned_layers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        if isinstance(layer, Network):
            layer._finalize_name(self)
        elif not layer.built:
            self._adopt(layer)
        if not layer.built and getattr(layer, "_first_parent", None) and layer._first_parent() is self:
            if self._owned_layers.get(layer.name) is layer:
                return layer
            if layer.name in self._owned_layers:
                raise ValueError(
                    f"Attempt to add two Layers with the name '{layer.name}' to the same Network."
                )
            self._owned_layers[layer.name] = layer
        self._layers.append(layer)
        return layer

    def _adopt(self, layer: Any) -> None:
        """Names a layer that is no network and has been in none."""
        known = getattr(layer, "_first_parent", None)
        if known is None or known() is None:
            if layer._name != layer._base_name:
                base = snake_case(type(layer).__name__)
                layer._name = _counted(base, self._sub_layer_counts, self._owned_layers)
                layer._base_name = base
            layer._first_parent = weakref.ref(self)
        self._waiting_for_scope.append(layer)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Gets a layer by its name or its place.

        Args:
          name: The name; the first layer that has it counts.
          index: The place in the order in which layers were tracked.

        Returns:
          The layer.

        Raises:
          ValueError: If there is none, or if not just one of the arguments is given.
        """
        if index is not None:
            if name is not None:
                raise ValueError("Exactly one of 'index' or 'name' must be provided")
            if len(self._layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(self._layers)} "
                    "layers."
                )
            return self._layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def layers(self) -> list[Layer]:
        """The layers, in the order in which they were tracked."""
        return self._layers

    @property
    def weights(self) -> list[Any]:
        """The variables of all layers."""
        return self._of_layers("weights")

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables of all layers."""
        return self._of_layers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables of all layers that are not trainable."""
        return self._of_layers("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        """The losses of all layers."""
        return self._of_layers("losses")

    def _of_layers(self, attribute: str) -> list[Any]:
        return [item for layer in self._layers for item in getattr(layer, attribute)]

    @property
    def trainable(self) -> bool:
        """True: layers say which variables are trained, networks do not."""
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Refuses: the variables of a network are those of its layers.

        Args:
          *args: Not used.
          **kwargs: Not used.

        Raises:
          RuntimeError: Always.
        """
        raise RuntimeError("add_variable not supported in Network class yet: track a layer that adds it.")

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Refuses: the losses of a network are those of its layers.

        Args:
          losses: Not used.
          inputs: Not used.

        Raises:
          RuntimeError: Always.
        """
        raise RuntimeError("add_loss is not supported in Network class yet: track a layer that adds it.")

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        raise NotImplementedError(
            f"tfe.Network does not support object-based checkpointing.\n\n{_USE_MODELS}"
        )


@export("contrib.eager.Sequential")
class Sequential(Network):
    """A network of layers and functions, each called with what the one before returned.

    Args:
      layers_funcs: Layers and functions, in order.
      name: The name of the network.
    """

    def __init__(self, layers_funcs: Sequence[Layer | Callable] | None = None, name: str | None = None):
        super().__init__(name=name)
        self._steps: list[tuple[bool, Callable]] = []
        for each in layers_funcs or ():
            self.add(each)

    def add(self, layer_func: Layer | Callable) -> None:
        """Adds a layer or a function at the end.

        Args:
          layer_func: The layer or function.

        Raises:
          TypeError: If it is neither.
        """
        if isinstance(layer_func, Layer):
            arguments = fn_args(layer_func.call)
            self.track_layer(layer_func)
        elif callable(layer_func):
            arguments = fn_args(layer_func)
        else:
            raise TypeError(
                f"Sequential.add() takes only tf.layers.Layer objects or callables; not '{layer_func}' of "
                f"type '{type(layer_func)}'."
            )
        self._steps.append(("training" in arguments, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Calls each in order.

        Args:
          inputs: The input of the first.
          training: What those that take an argument `training` get; their default if None.

        Returns:
          What the last returns.
        """
        for takes_training, step in self._steps:
            inputs = step(inputs, training) if takes_training and training is not None else step(inputs)
        return inputs
