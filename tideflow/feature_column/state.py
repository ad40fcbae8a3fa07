"""Who has the variables and other resources of columns that a layer uses."""

from __future__ import annotations

import abc
from collections import defaultdict
from typing import Any

from tideflow.variables.variable_scope import get_variable


class StateManager(abc.ABC):
    """The variables and resources of columns, each by its column and name."""

    def __init__(self) -> None:
        self._resources: dict[Any, dict[str, Any]] = defaultdict(dict)

    @abc.abstractmethod
    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable of a column."""

    @abc.abstractmethod
    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable that has been made."""

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps something else of a column, a table for instance."""
        self._resources[feature_column][name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether there is such a resource."""
        return name in self._resources[feature_column]

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """A resource that has been added."""
        if not self.has_resource(feature_column, name):
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


class LayerState(StateManager):
    """The state of the columns of a Keras layer, which has the variables as its weights."""

    def __init__(self, layer: Any, trainable: bool):
        super().__init__()
        self._layer, self._trainable = layer, trainable
        self._variables: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable of a column, which must not have one of that name yet."""
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        variable = self._made(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
        )
        self._variables[feature_column][name] = variable
        return variable

    def _made(self, name: str, **arguments: Any) -> Any:
        """A variable in the current scope; partitioners of scopes apply."""
        variable = get_variable(name, **arguments)
        self._layer._track(variable)
        self._layer._weights_by_name[name] = variable
        return variable

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable that has been made."""
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]


class NamedLayerState(LayerState):
    """The same as TensorFlow 2 has it: scopes of variables do not matter, each layer has its own."""

    def _made(self, name: str, **arguments: Any) -> Any:
        return self._layer.add_weight(name, **arguments)
