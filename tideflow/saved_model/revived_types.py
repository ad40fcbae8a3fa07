"""Classes whose objects a SavedModel brings back as what they were: each under an identifier, in versions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, KeysView, Sequence
from typing import Any

from tensorboard.compat.proto.saved_object_graph_pb2 import SavedUserObject


class VersionedTypeRegistration:
    """One version of a class.

    Args:
      object_factory: Makes an object from its SavedUserObject message.
      version: The number of the version.
      min_producer_version: The oldest version whose messages this one reads.
      min_consumer_version: The oldest version that reads the messages of this one.
      bad_consumers: Later versions that do not read them either.
      setter: Gives an object what it had under a name, as `setattr` does.
    """

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Sequence[int] | None = None,
        setter: Callable[[Any, str, Any], None] = setattr,
    ):
        self.setter = setter
        self.identifier: str | None = None  # known when the class is registered
        self.version = version
        self._object_factory = object_factory
        self._min_producer_version = min_producer_version
        self._min_consumer_version = min_consumer_version
        self._bad_consumers = list(bad_consumers or ())

    def to_proto(self) -> Any:
        """The message that stands for an object in a SavedModel."""
        message = SavedUserObject(identifier=self.identifier)
        message.version.producer = self.version
        message.version.min_consumer = self._min_consumer_version
        message.version.bad_consumers.extend(self._bad_consumers)
        return message

    def from_proto(self, proto: Any) -> Any:
        """An object as its message says.

        Args:
          proto: The message.
        """
        return self._object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this version reads a message.

        Args:
          proto: The message.
        """
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and proto.version.producer >= self._min_producer_version
            and self.version not in proto.version.bad_consumers
        )


_Registered = tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]
_registered: dict[str, _Registered] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: list[VersionedTypeRegistration]
) -> None:
    """Registers a class.

    Args:
      identifier: What the class is called in SavedModels.
      predicate: Whether an object is of the class.
      versions: The versions of the class; the newest one saves.
    """
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    newest_first = sorted(versions, key=lambda one: one.version, reverse=True)
    for newer, older in itertools.pairwise(newest_first):
        if newer.version == older.version:
            raise AssertionError(
                f"Got multiple registrations with version {newer.version} for type {identifier}"
            )
    if identifier in _registered:
        raise AssertionError(f"Duplicate registrations for type {identifier}")
    for version in newest_first:
        version.identifier = identifier
    _registered[identifier] = (predicate, newest_first)


def serialize(obj: Any) -> Any:
    """The message for an object of a registered class; None for others.

    Args:
      obj: The object.
    """
    of_it = (versions for predicate, versions in _registered.values() if predicate(obj))
    versions = next(of_it, None)
    return None if versions is None else versions[0].to_proto()


def deserialize(proto: Any) -> tuple[Any, Callable[[Any, str, Any], None]] | None:
    """An object as a message says, and what gives it what it had; None if no version reads the message.

    Args:
      proto: The message.
    """
    _, versions = _registered.get(proto.identifier, (None, []))
    version = next((one for one in versions if one.should_load(proto)), None)
    return None if version is None else (version.from_proto(proto), version.setter)


def registered_identifiers() -> KeysView[str]:
    """What the registered classes are called."""
    return _registered.keys()
