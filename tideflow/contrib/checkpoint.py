"""tf.contrib.checkpoint: containers and objects that checkpoints of `tf.train.Checkpoint` follow."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import tideflow as tf
from tideflow.export import export, expose
from tideflow.io.object_graph import TrackableObjectGraph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.layers.base import Layer
from tideflow.lookup.mutable import SaveSpec
from tideflow.train import object_saver
from tideflow.train.object_saver import PythonState, object_metadata
from tideflow.train.saveables import SaveableObject
from tideflow.variables.base import Variable
from tideflow.variables.trackable import VARIABLE_VALUE, AutoTrackable, Trackable, is_trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike

expose(TrackableObjectGraph, "contrib.checkpoint.CheckpointableObjectGraph")
expose(PythonState, "contrib.checkpoint.PythonStateWrapper")


@export("contrib.checkpoint.list_objects")
def list_objects(root_trackable: Any) -> list[Any]:
    """Lists the objects that a checkpoint of an object follows.

    Args:
      root_trackable: The object, such as a `tf.train.Checkpoint`.

    Returns:
      The object, what is reached from it, and the slots of optimizers.
    """
    return object_saver.list_objects(root_trackable)


def _checked(value: Any) -> Any:
    if not is_trackable(value):
        raise ValueError(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got "
            f"{value}, which does not inherit from Trackable."
        )
    return value


class _Container(Trackable):
    """What containers of layers and variables say about all that is in them, as a layer does."""

    trainable = True

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(zip(self._names(), self._values(), strict=True))

    def _names(self) -> Iterable[str]:
        raise TypeError("a container names what is in it")

    def _values(self) -> Iterable[Any]:
        raise TypeError("a container says what is in it")

    def _parts(self) -> list[Any]:
        """The layers and containers in it."""
        return [value for value in self._values() if isinstance(value, (Layer, _Container))]

    @property
    def layers(self) -> list[Any]:
        """The layers in it, and those in containers in it."""
        found: list[Any] = []
        for part in self._parts():
            inner = part.layers if isinstance(part, _Container) else [part]
            found += [layer for layer in inner if all(layer is not known for known in found)]
        return found

    def _variables(self, trainable: bool) -> list[Any]:
        own = [value for value in self._values() if isinstance(value, Variable)]
        if not self.trainable:
            return [] if trainable else [*(weight for part in self._parts() for weight in part.weights), *own]
        kind = "trainable_weights" if trainable else "non_trainable_weights"
        inner = [weight for part in self._parts() for weight in getattr(part, kind)]
        return [*inner, *(variable for variable in own if variable.trainable == trainable)]

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that optimizers change."""
        return self._variables(trainable=True)

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables."""
        return self._variables(trainable=False)

    @property
    def weights(self) -> list[Any]:
        """All variables, those that optimizers change first."""
        return self.trainable_weights + self.non_trainable_weights

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers."""
        return [loss for part in self._parts() for loss in part.losses]

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers."""
        return [update for part in self._parts() for update in part.updates]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


@export("contrib.checkpoint.List")
class List(_Container, list):
    """A list of layers, variables and other objects that checkpoints follow, to which more are appended.

    A checkpoint calls its members by their positions. An attribute of a model may be such a list: the model
    then has the layers and variables in it.

    Args:
      *args: What `list` takes: nothing, or the members.
    """

    def __init__(self, *args: Any):
        super().__init__(_checked(value) for value in list(*args))

    def _names(self) -> Iterable[str]:
        return map(str, range(len(self)))

    def _values(self) -> Iterable[Any]:
        return iter(self)

    def append(self, value: Any) -> None:
        """Adds a member.

        Args:
          value: A layer, a variable or another object that checkpoints follow.

        Raises:
          ValueError: If checkpoints cannot follow it.
        """
        super().append(_checked(value))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds members.

        Args:
          values: The members.
        """
        for value in values:
            self.append(value)

    def copy(self) -> List:
        """Another list of the same members."""
        return type(self)(self)

    def __iadd__(self, values: Iterable[Any]) -> List:
        self.extend(values)
        return self

    def __add__(self, other: Iterable[Any]) -> List:
        return type(self)([*self, *other])

    def __radd__(self, other: Iterable[Any]) -> List:
        return type(self)([*other, *self])

    def __repr__(self) -> str:
        return f"List({list(self)!r})"


@export("contrib.checkpoint.Mapping")
class Mapping(_Container, dict):
    """A dictionary of layers, variables and other objects that checkpoints follow, by names.

    A key gets its value once: a checkpoint calls the value by it.

    Args:
      *args: What `dict` takes: nothing, or another dictionary.
      **kwargs: More values by their keys.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        self.update(*args, **kwargs)

    def _names(self) -> Iterable[str]:
        return self.keys()

    def _values(self) -> Iterable[Any]:
        return self.values()

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        if self.get(key, value) is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the key "
                f"'{key}' with value {value}, but it already contains {self[key]}"
            )
        super().__setitem__(key, _checked(value))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds values by their keys.

        Args:
          *args: What `dict.update` takes.
          **kwargs: More values by their keys.
        """
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __repr__(self) -> str:
        return f"Mapping({dict(self)!r})"


@export("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(AutoTrackable):
    """Follows objects under names that it makes unique: `x`, `x_1`, `x_2`."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._objects.items())

    def track(self, trackable: Any, base_name: str) -> Any:
        """Follows an object.

        Args:
          trackable: The object.
          base_name: Its name, if nothing has it yet.

        Returns:
          The object.

        Raises:
          ValueError: If checkpoints cannot follow it.
        """
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable."
            )
        name, number = base_name, 0
        while name in self._objects:
            number += 1
            name = f"{base_name}_{number}"
        self._objects[name] = trackable
        return trackable


class _Array(PythonState):
    """An array, saved as `numpy.save` writes it."""

    def __init__(self, array: Any):
        self.array = array

    def serialize(self) -> bytes:
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


@export("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """An object whose attributes are NumPy arrays, which checkpoints save and restore."""

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(vars(self).items())

    def _lookup_dependency(self, name: str) -> Any:
        """The attribute of this name, which a checkpoint has; it is made where there is none yet."""
        return vars(self).setdefault(name, _Array(np.array([])))

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. Make "
                "another object for what is none."
            )
        self._lookup_dependency(name).array = value


@export("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path: str) -> str:
    """Draws the objects of a checkpoint, for Graphviz: variables blue, slots of optimizers orange.

    Args:
      save_path: The prefix of the checkpoint.

    Returns:
      The graph in the language DOT.

    Raises:
      ValueError: If the checkpoint has no object graph.
    """
    objects = object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in objects for slot in node.slot_variables}
    lines = ["digraph {"]
    with open_checkpoint(save_path) as reader:
        for number, node in enumerate(objects):
            lines.append(f'N_{number} [shape=point label="" {_look(number, node, slots, reader)}]')
            lines += [
                f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]'
                for child in node.children
            ]
            for slot in node.slot_variables:
                place = slot.slot_variable_node_id
                lines += [
                    f'N_{number} -> N_{place} [label="{_quoted(slot.slot_name)}" style=dotted]',
                    f"N_{slot.original_variable_node_id} -> N_{place} [style=dotted]",
                ]
    return "\n".join([*lines, "}", ""])


def _look(number: int, node: Any, slots: set[int], reader: Any) -> str:
    """Colour and tooltip of an object."""
    if [value.name for value in node.attributes] == [VARIABLE_VALUE]:
        value = node.attributes[0]
        entry = reader.entry(value.checkpoint_key)
        color, kind = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
        name = f"{kind} {_quoted(value.full_name)}"
        shape, dtype = list(entry.shape), entry.dtype.name
        return f'color={color} width=.25 tooltip="{name} shape={shape} {dtype}"'
    return 'width=.25 color=red,tooltip="Optimizer"' if node.slot_variables else "width=.25"


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')


# ------------------------------------------------------------------------------------------- split values


class _SharedValues:
    """Values that one function computes, and that checkpoints keep under several objects."""

    def __init__(self, count: int, fill: Callable[[dict], Any], consume: Callable[[dict], Any]):
        self._count, self._fill, self._consume = count, fill, consume
        self._to_save: dict[str, Any] = {}
        self._restored: dict[str, Any] = {}

    def saved(self, name: str) -> Any:
        """A value to save; the first that is asked for has all of them computed."""
        if name not in self._to_save:
            if self._to_save:
                raise _apart(name, "saved")
            self._fill(self._to_save)
        return self._to_save.pop(name)

    def restored(self, name: str, value: Any) -> Any:
        """Takes a value; the operation that uses all of them, when the last one is there."""
        if name in self._restored:
            raise _apart(name, "restored")
        self._restored[name] = value
        if len(self._restored) < self._count:
            return tf.no_op()
        values, self._restored = self._restored, {}
        return self._consume(values)


def _apart(name: str, what: str) -> AssertionError:
    return AssertionError(
        f"Split dependency {name} unsynchronized. Split dependencies must be {what} together."
    )


class _SplitValue(Trackable):
    """One of several values that are saved and restored together: to a checkpoint, a variable."""

    def __init__(self, name: str, dtype: DTypeLike, device: str, values: _SharedValues):
        self._name, self._dtype, self._device, self._values = name, dtype, device, values

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE: lambda key: _SplitSaveable(self, key)}


class _SplitSaveable(SaveableObject):
    """How a checkpoint keeps one of several values."""

    def __init__(self, value: _SplitValue, key: str):
        self._value = value
        spec = SaveSpec(lambda: value._values.saved(value._name), "", key, value._dtype, value._device)
        super().__init__(value, [spec], key)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Hands the value over to those with which it is restored."""
        (tensor,) = restored_tensors
        return self._value._values.restored(self._value._name, tensor)


@export("contrib.checkpoint.split_dependency")
def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[[dict], Any],
    consume_restore_buffer_fn: Callable[[dict], Any],
    device: str,
) -> dict[str, Trackable]:
    """Makes objects under which checkpoints keep the parts of something that is saved and restored at once.

    An object whose state is in one place, such as the weights of a fused operation, can so have checkpoints
    like those of an object with a variable for each part.

    Args:
      component_names: The names of the parts.
      component_dtypes: The type of each part.
      fill_save_buffer_fn: A function of an empty dictionary, which puts a tensor into it for each name.
      consume_restore_buffer_fn: A function of a dictionary with a restored tensor for each name. It returns
        the operation that brings the state back; in eager mode it does so itself.
      device: The device on which parts are saved and restored.

    Returns:
      A dictionary from the names to the objects, all of which must be followed by the same checkpoints.
    """
    values = _SharedValues(len(component_names), fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _SplitValue(name, dtype, device, values)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }


# --------------------------------------------------------------------------------------- captured variables


class _Capturing(threading.local):
    """The objects that capture variables in this thread, the innermost last, each with its scope's name."""

    def __init__(self) -> None:
        self.owners: list[tuple[Any, str]] = []


_capturing = _Capturing()


@export("contrib.checkpoint.capture_dependencies")
@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Makes variables that are created within this context dependencies of an object.

    It is for code that knows names of variables but no objects: a variable becomes a dependency under its
    name within the object's variable scope, which must be open. Of contexts within each other, the innermost
    one takes the variable, and its object becomes a dependency of the outer one's.

    Args:
      template: The object, which has a `variable_scope`.

    Yields:
      None.
    """
    entry = template, template.variable_scope.name

    def create(next_creator: Callable, **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        if _capturing.owners[-1] is entry:
            _capture(variable, kwargs.get("name"))
        return variable

    _capturing.owners.append(entry)
    try:
        with tf.variable_creator_scope(create):
            yield
    finally:
        _capturing.owners.pop()


def _capture(variable: Any, name: str | None) -> None:
    """Makes the variable a dependency of the innermost object, and each object one of that around it."""
    for owner, scope in reversed(_capturing.owners):
        if name is None or not name.startswith(f"{scope}/"):
            return
        owner._track_trackable(variable, name.removeprefix(f"{scope}/"), overwrite=True)
        variable, name = owner, scope
