"""Dictionaries and sets that tell objects apart by what they are, not by what they equal; with or without
keeping them alive (`tensorflow.python.util.object_identity`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class _ObjectIdentityWrapper:
    """An object as a key: equal to itself alone."""

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object; None where it is kept alive by nobody."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ObjectIdentityWrapper) and self.unwrapped is other.unwrapped

    def __hash__(self) -> int:
        return id(self.unwrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self.unwrapped!r}>"


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """The same without keeping the object alive."""

    def __init__(self, wrapped: Any, gone: Callable[[_WeakObjectIdentityWrapper], None] | None = None):
        super().__init__(weakref.ref(wrapped, lambda _: gone(self) if gone is not None else None))
        self._id = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        return self._wrapped()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return super().__eq__(other) and self.unwrapped is not None

    def __hash__(self) -> int:
        return self._id


class Reference(_ObjectIdentityWrapper):
    """An object as a key, for sets and dictionaries of Python's own."""

    def deref(self) -> Any:
        """The object."""
        return self.unwrapped


class _Objects:
    """What dictionaries and sets of objects share: the keys in which they keep them."""

    _storage: Any

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            found = key.unwrapped
            if found is not None:
                yield found


class ObjectIdentityDictionary(_Objects, MutableMapping):
    """A dictionary whose keys are the objects themselves, which may have no hash."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: dict[_ObjectIdentityWrapper, Any] = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same with keys that it does not keep alive."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key, lambda gone: self._storage.pop(gone, None))


class ObjectIdentitySet(_Objects, MutableSet):
    """A set of the objects themselves, which may have no hash."""

    def __init__(self, items: Iterable[Any] = ()):
        self._storage = {self._wrap_key(item) for item in items}

    def __contains__(self, key: object) -> bool:
        return self._wrap_key(key) in self._storage

    def add(self, key: Any) -> None:
        """Adds an object."""
        self._storage.add(self._wrap_key(key))

    def discard(self, key: Any) -> None:
        """Removes an object, where it is there."""
        self._storage.discard(self._wrap_key(key))

    def update(self, items: Iterable[Any]) -> None:
        """Adds several objects."""
        for item in items:
            self.add(item)

    def clear(self) -> None:
        """Removes all."""
        self._storage.clear()

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Those of the set that are among `items` too."""
        return self & type(self)(items)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Those of the set that are not among `items`."""
        return self - type(self)(items)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same without keeping the objects alive."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key, lambda gone: self._storage.discard(gone))

    def __len__(self) -> int:
        return sum(1 for _ in self)
