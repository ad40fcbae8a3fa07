"""Objects that checkpoints of `tf.train.Checkpoint` follow: each says what its children are called and which
values it keeps itself. A child's name is an edge of the graph of objects; paths of edges are the keys.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from tideflow.export import export
from tideflow.graph.scopes import executing_eagerly

VARIABLE_VALUE = "VARIABLE_VALUE"  # how a variable calls its value
Children = list[tuple[str, Any]]


@export("contrib.checkpoint.CheckpointableBase")
class Trackable:
    """What checkpoints ask of an object. The names are those that programs for TensorFlow override."""

    @property
    def _checkpoint_dependencies(self) -> Children:
        """Children by name."""
        return []

    def _lookup_dependency(self, name: str) -> Any:
        """A child that is made because a checkpoint has one of that name; None makes none."""
        return None

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Values by name: a variable, or a function from a key to what is saved under it."""
        return {}

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Makes an object a child of this one, under a name.

        Args:
          trackable: The object.
          name: Its name among the children.
          overwrite: Whether it may take the place of another.

        Returns:
          The object.

        Raises:
          TypeError: If no checkpoint can follow it.
          ValueError: If another child has that name.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        named = self.__dict__.setdefault(_NAMED, {})
        if not overwrite and named.get(name, trackable) is not trackable:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is "
                "already declared as a dependency. Names must be unique (or overwrite=True)."
            )
        named[name] = trackable
        return trackable

    def _no_dependency(self, value: Any) -> Any:
        """A value for an attribute that checkpoints do not follow."""
        return value

    def _children_to_export(self) -> Children:
        """Children by name that a SavedModel has, and a checkpoint has not."""
        return []

    def _functions_to_save(self) -> dict[str, Any]:
        """Functions by name that a SavedModel keeps, beyond those that are attributes."""
        return {}


@export("contrib.checkpoint.Checkpointable")
class AutoTrackable(Trackable):
    """An object whose attributes are tracked by checkpoints.

    They may be variables, other tracked objects, lists and dictionaries.
    """

    _untracked: frozenset[str] = frozenset()  # attributes that do not count

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property) and getattr(self, name, None) is value:
            return  # libraries set properties, which have no setter, to what they are
        object.__setattr__(self, name, unwrapped(self, name, value))
        if _waiting and is_trackable(value) and executing_eagerly():
            objects_made()

    def _no_dependency(self, value: Any) -> Any:
        """A value for an attribute that checkpoints do not follow."""
        return NoDependency(value)

    @property
    def _checkpoint_dependencies(self) -> Children:
        return [
            (name, value)
            for name, value in vars(self).items()
            if name not in self._untracked and not is_left_out(self, name) and is_trackable(value)
        ]


_LEFT_OUT = "_names_without_dependency"
_NAMED = "_children_by_name"
_TRACKING = "_self_setattr_tracking"


@export("contrib.checkpoint.NoDependency")
class NoDependency:
    """Wraps a value, so that checkpoints do not follow the attribute that gets it.

    Args:
      value: The value that the attribute gets.
    """

    def __init__(self, value: Any):
        self.value = value


def unwrapped(owner: Any, name: str, value: Any) -> Any:
    """The value that an attribute gets; its name is kept where checkpoints shall not follow it."""
    left_out = owner.__dict__.get(_LEFT_OUT, frozenset())
    if isinstance(value, NoDependency):
        owner.__dict__[_LEFT_OUT] = left_out | {name}
        return value.value
    if not is_tracking(owner):
        owner.__dict__[_LEFT_OUT] = left_out | {name}
        return value
    if name in left_out:
        owner.__dict__[_LEFT_OUT] = left_out - {name}
    return value


def is_tracking(owner: Any) -> bool:
    """Whether attributes that an object gets now are followed."""
    return owner.__dict__.get(_TRACKING, True)


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A block in which checkpoints do not follow the attributes that an object gets.

    Args:
      obj: The object.

    Yields:
      None.
    """
    before = is_tracking(obj)
    obj.__dict__[_TRACKING] = False
    try:
        yield
    finally:
        obj.__dict__[_TRACKING] = before


def no_automatic_dependency_tracking(method: Callable) -> Callable:
    """Decorator: checkpoints do not follow the attributes that a method sets.

    Args:
      method: The method.

    Returns:
      The method, which has its object not tracked meanwhile.
    """

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


def is_left_out(owner: Any, name: str) -> bool:
    """Whether checkpoints do not follow this attribute."""
    return name == _NAMED or name in owner.__dict__.get(_LEFT_OUT, ())


def is_trackable(value: Any) -> bool:
    """Whether a checkpoint can follow a value."""
    return isinstance(value, (Trackable, list, dict))


def children_of(value: Any) -> Children:
    """The children of an object by name; those of a list by their positions, of a dictionary by its keys."""
    if isinstance(value, Trackable):
        children = list(value._checkpoint_dependencies)
        named = value.__dict__.get(_NAMED)
        return [*((n, c) for n, c in children if n not in named), *named.items()] if named else children
    items = enumerate(value) if isinstance(value, list) else value.items()
    return [(str(key), child) for key, child in items if is_trackable(child)]


# ------------------------------------------------------------------------------- restoring what is made later

_waiting: list[weakref.ref[Any]] = []  # what restores the rest of a checkpoint, in eager mode
_RESTORED_BY = "_restored_by"  # the attribute of the root under which it stays there


def restore_when_made(status: Any, root: Any) -> None:
    """Has `status.restore_now()` called whenever objects have been made, as long as the root is there."""
    object.__setattr__(root, _RESTORED_BY, status)  # programs seldom hold what `restore` returns
    if not any(known() is status for known in _waiting):
        _waiting.append(weakref.ref(status))


def objects_made() -> None:
    """Restores what belongs to a checkpoint that was restored before these objects were made."""
    if not _waiting:
        return
    waiting, _waiting[:] = list(_waiting), []
    for known in waiting:
        status = known()
        if status is not None:
            status.restore_now()
