"""Checkpoints of networks, and variables that have a checkpoint's values from the start."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.contrib.eager.network import Network
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.scopes import executing_eagerly, get_default_session
from tideflow.graph.stacks import replaced
from tideflow.platform.deprecation import deprecated
from tideflow.train.checkpoint_utils import list_variables, load_checkpoint
from tideflow.train.saver import Saver
from tideflow.variables.global_step import get_global_step
from tideflow.variables.resource import creation

_MODEL = "Please inherit from tf.keras.Model instead of tfe.Network, and use tf.keras.Model."


class _Names:
    """From names of variables to names in a checkpoint, and the errors where two become one."""

    def __init__(self, network: Network, map_func: Callable[[str], str] | None, function: str):
        self._network, self._map_func, self._function = network, map_func, function

    def __call__(self, name: str) -> str:
        if self._map_func is None:
            return name.removeprefix(f"{self._network.scope_name}/")
        return self._map_func(name)

    def add(self, known: dict[str, Any], variable: Any) -> None:
        """Notes a variable under its name in the checkpoint; ValueError where another has it."""
        name = self(variable._shared_name)
        other = known.setdefault(name, variable)
        if other is variable:
            return
        scope, both = self._network.scope_name, f"'{other._shared_name}' and '{variable._shared_name}'"
        if self._map_func is not None:
            raise ValueError(
                f"The map_func passed to {self._function} for the Network '{self._network.name}' resulted in "
                f"two variables named '{name}' ({both}). Try stripping less from the variable names, or "
                "renaming parts of the Network. For reference, variables created by sub-Layers of this "
                f"Network are prefixed with '{scope}', but if they are re-used after being added to another "
                "Network, they will have that Network's full variable prefix instead."
            )
        raise ValueError(
            f"The default checkpoint variable name mapping strategy for Network '{self._network.name}' "
            f"resulted in a naming conflict: without the prefix '{scope}' two variables are named '{name}' "
            f"(originally {both}). That is so where layers are shared with another Network, whose prefix "
            "they have. Pass `map_func=lambda n: n` to save and to restore by full names, or another mapping."
        )


def _prefix(network: Network, save_path: str) -> str:
    return os.path.join(save_path, network.name.replace("/", "_")) if os.path.isdir(save_path) else save_path


def _session() -> Any:
    return None if executing_eagerly() else get_default_session()


@export("contrib.eager.save_network_checkpoint")
@deprecated(None, f"{_MODEL}save_weights.")
def save_network_checkpoint(
    network: Network,
    save_path: str,
    global_step: Any = None,
    map_func: Callable[[str], str] | None = None,
) -> str | None:
    """Writes the variables of a network to a checkpoint; in a graph, those of the default session.

    Args:
      network: The network, which has been called.
      save_path: The prefix of the checkpoint's files, or a directory; there it is called after the network.
      global_step: The step that the checkpoint is numbered by; the global step if None and there is one.
      map_func: A function from the full name of a variable to its name in the checkpoint; by default the name
        without that of the network.

    Returns:
      The prefix of the checkpoint.

    Raises:
      ValueError: If the network has not been called, or two variables get one name.
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called. This means variables have not yet been "
            "created, so there is nothing to save."
        )
    network._set_scope()
    names = _Names(network, map_func, "save_network_checkpoint")
    variables: dict[str, Any] = {}
    for variable in network.variables:
        names.add(variables, variable)
    step = get_global_step() if global_step is None else global_step
    path = _prefix(network, save_path)
    return Saver(variables).save(_session(), path, global_step=step, write_meta_graph=False)


@export("contrib.eager.restore_network_checkpoint")
@deprecated(None, f"{_MODEL}load_weights.")
def restore_network_checkpoint(
    network: Network, save_path: str, map_func: Callable[[str], str] | None = None
) -> None:
    """Gives a network the values of a checkpoint: its variables now, those still to be made when they are.

    Args:
      network: The network.
      save_path: What `save_network_checkpoint` returned, or the directory it was given.
      map_func: That with which the network was saved.

    Raises:
      ValueError: If two variables get one name.
    """
    network._finalize_name(None)
    network._set_scope()
    path = _prefix(network, save_path)
    names = _Names(network, map_func, "restore_network_checkpoint")
    existing: dict[str, Any] = {}
    for variable in network.variables:
        names.add(existing, variable)
    if existing:
        Saver(existing).restore(_session(), path)
    reader = load_checkpoint(path)
    values = {name: reader.get_tensor(name) for name, _ in list_variables(path) if name not in existing}
    if values:
        _restore_later(network, _Restoration(names, values, _session()))


class _Restoration:
    """Values of a checkpoint for variables that are still to be made."""

    def __init__(self, names: _Names, values: dict[str, Any], session: Any):
        self._names, self._values, self._session = names, values, session
        self._restored: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        return self._names(name) in self._values

    def make(self, make: Callable, name: str, options: dict[str, Any]) -> Any:
        """The variable, with its value from the checkpoint when it is made the first time."""
        in_checkpoint = self._names(name)
        value = self._values[in_checkpoint]
        if value is None:
            variable = make(name, **options)
        else:
            variable = make(name, **{**options, "initializer": value, "shape": None})
            self._values[in_checkpoint] = None
            if self._session is not None:
                self._session.run(variable.initializer)
        self._names.add(self._restored, variable)
        return variable


def _restore_later(layer: Any, restoration: _Restoration) -> None:
    """Has the variables of a layer and of those in it made with the values of a checkpoint."""
    if isinstance(layer, Network):
        layer._set_scope()
    waiting = layer.__dict__.setdefault("_restorations", [])
    waiting.append(restoration)

    def getter(getter: Callable, name: str, *args: Any, **options: Any) -> Any:
        for later in reversed(waiting):  # the last one asked for counts
            if later.has(name):
                return later.make(getter, name, options)
        return getter(name, *args, **options)

    layer._scope.set_custom_getter(getter)
    for inner in layer.layers if isinstance(layer, Network) else ():
        if not isinstance(inner, Network):
            layer._set_scope_of(inner)
        _restore_later(inner, restoration)


@export("contrib.eager.restore_variables_on_create")
@contextlib.contextmanager
def restore_variables_on_create(
    save_path: str | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Gives the variables that a `with` block makes the values of a checkpoint. Each value is given once.

    Args:
      save_path: The prefix of the checkpoint; nothing is restored if None.
      map_func: A function from the name of a variable to its name in the checkpoint; the same if None.

    Yields:
      Nothing.

    Raises:
      NotFoundError: If the checkpoint does not have a variable.
      ValueError: In graph mode, or if `map_func` cannot be called.
    """
    if not executing_eagerly():
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager execution enabled."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError("map_func must be callable.")
    reader = load_checkpoint(save_path)
    values: dict[str, Any] = {name: reader.get_tensor(name) for name, _ in list_variables(save_path)}

    def restore(variable: Any) -> None:
        name = variable._shared_name if map_func is None else map_func(variable._shared_name)
        if name not in values:
            raise errors.NotFoundError(None, None, f"{name} not found in checkpoint")
        if values[name] is not None:
            variable.assign(values[name])
            values[name] = None

    with replaced(creation, "when_made", restore):
        yield
