"""EagerVariableStore: variables shared by name in eager mode, where otherwise every call makes new ones."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tideflow.export import export
from tideflow.variables.base import Variable
from tideflow.variables.store import VariableStore, eager_stores


@export("contrib.eager.EagerVariableStore")
class EagerVariableStore:
    """Shares variables by name between the blocks of code that use the store.

    In eager mode `tf.get_variable` makes a new variable in every call. Inside of `with store.as_default():`
    it gives the variable of that name, as in a graph.

    Args:
      store: The VariableStore to use; a new one if None.
    """

    def __init__(self, store: VariableStore | None = None):
        if store is not None and not isinstance(store, VariableStore):
            raise ValueError("Cannot construct EagerVariableStore from an object that is no VariableStore.")
        self._store = VariableStore() if store is None else store

    def as_default(self) -> AbstractContextManager[VariableStore]:
        """Makes `tf.get_variable` use this store, within a `with` block."""
        return eager_stores.pushed(self._store)

    def variables(self) -> list[Variable]:
        """The variables, by name."""
        return sorted(self._store._vars.values(), key=lambda variable: variable.name)

    def trainable_variables(self) -> list[Variable]:
        """The trainable variables, by name."""
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self) -> list[Variable]:
        """The variables that are not trainable, by name."""
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self) -> EagerVariableStore:
        """A store of new variables with the same names and values."""
        made = EagerVariableStore()
        for name, variable in self._store._vars.items():
            known: Any = variable
            made._store._vars[name] = Variable(
                known.read_value(),
                name=variable.name.partition(":")[0],
                trainable=variable.trainable,
                dtype=variable.dtype,
            )
        return made
