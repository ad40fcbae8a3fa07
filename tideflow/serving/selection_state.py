"""States by application and context that outlive the server: in SQLite, or in a Redis server by its URL.

One thread reads and writes. What was used lately is in memory; what is put there is written soon after, only
the latest value of each. Servers that share a store do not merge states: the last one to write wins.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import socket
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

import orjson

from tideflow.graph import errors
from tideflow.serving.selection import State

Key: TypeAlias = tuple[str, str]  # application and context
Then: TypeAlias = Callable[[State | None], None]

KEPT_STATES = 10_000
WRITE_SECONDS = 0.05  # between writes: a thread that is woken for each feedback would cost more than all else

_log = logging.getLogger("tideflow.serving")


class Store(Protocol):
    """Where states are kept. Every method is called on one thread."""

    def read(self, key: Key) -> bytes | None:
        """The value of a key."""

    def write(self, values: Mapping[Key, bytes | None]) -> None:
        """Puts values, or drops those that are None."""

    def close(self) -> None:
        """Ends the connection."""


class SQLite:
    """A file, or, without a path, memory."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path or ":memory:", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS states "
            "(application TEXT, context TEXT, state BLOB, PRIMARY KEY (application, context)) WITHOUT ROWID"
        )

    def read(self, key: Key) -> bytes | None:
        """The value of a key."""
        row = self._connection.execute(
            "SELECT state FROM states WHERE application = ? AND context = ?", key
        ).fetchone()
        return None if row is None else row[0]

    def write(self, values: Mapping[Key, bytes | None]) -> None:
        """Puts values in one transaction."""
        put = [(*key, value) for key, value in values.items() if value is not None]
        gone = [key for key, value in values.items() if value is None]
        self._connection.execute("BEGIN")
        try:
            self._connection.executemany("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", put)
            self._connection.executemany("DELETE FROM states WHERE application = ? AND context = ?", gone)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


class Redis:
    """A server that speaks Redis' protocol: redis://[:password@]host[:port][/database]."""

    def __init__(self, url: str, timeout: float = 5.0) -> None:
        self._parts = urlsplit(url)
        self._timeout = timeout
        self._socket: socket.socket | None = None
        self._replies: Any = None

    def read(self, key: Key) -> bytes | None:
        """The value of a key."""
        value: bytes | None = self._do([("GET", _redis_name(key))])[0]
        return value

    def write(self, values: Mapping[Key, bytes | None]) -> None:
        """Puts values, in one message."""
        self._do(
            [
                ("SET", _redis_name(key), value) if value is not None else ("DEL", _redis_name(key))
                for key, value in values.items()
            ]
        )

    def _do(self, commands: list[tuple[str | bytes, ...]]) -> list[Any]:
        """Sends commands and reads a reply to each. A broken connection is made anew by the next ones."""
        try:
            if self._socket is None:
                self._connect()
            return self._exchange(commands)
        except (OSError, ValueError):
            self.close()
            raise

    def _connect(self) -> None:
        parts = self._parts
        address = parts.hostname or "localhost", parts.port or 6379
        self._socket = socket.create_connection(address, self._timeout)
        self._replies = self._socket.makefile("rb")
        if parts.password:
            self._exchange([("AUTH", unquote(parts.password))])
        if parts.path.strip("/"):
            self._exchange([("SELECT", parts.path.strip("/"))])

    def _exchange(self, commands: list[tuple[str | bytes, ...]]) -> list[Any]:
        assert self._socket is not None
        self._socket.sendall(b"".join(map(_redis_command, commands)))
        return [self._reply() for _ in commands]

    def _reply(self) -> Any:
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the Redis server closed the connection")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            raise OSError(f"the Redis server says: {text.decode(errors='replace')}")
        if kind == b"$":
            length = int(text)
            return None if length < 0 else self._replies.read(length + 2)[:-2]
        return text

    def close(self) -> None:
        """Closes the connection."""
        if self._socket is not None:
            self._replies.close()
            self._socket.close()
            self._socket = None


def _redis_name(key: Key) -> str:
    return "tideflow:{}:{}".format(*key)


def _redis_command(words: tuple[str | bytes, ...]) -> bytes:
    made = [word.encode() if isinstance(word, str) else word for word in words]
    return b"*%d\r\n" % len(made) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in made)


def open_store(url: str) -> Callable[[], Store]:
    """What makes the store of a URL, on the thread that will use it. A path is a file of SQLite's."""
    scheme = urlsplit(url).scheme
    if scheme == "redis":
        return lambda: Redis(url)
    if scheme in ("", "sqlite"):
        path = url.removeprefix("sqlite://")
        return lambda: SQLite(path)
    raise errors.invalid_argument(
        f"selection states are kept in sqlite:///path or redis://host:port/database, not in {url}"
    )


def check_store(url: str) -> None:
    """Raises an error unless the store of a URL can be read."""
    try:
        store = open_store(url)()
        try:
            store.read(_WRITE)
        finally:
            store.close()
    except (OSError, ValueError, sqlite3.Error) as error:
        raise errors.unavailable(f"The store that --state_url names cannot be used: {error}") from None


class States:
    """The states that applications use. Called on the loop's thread, and calls back on it.

    What could not be read begins anew, and is in memory only from then on: the store's own is not overwritten
    by what was learned without it.
    """

    def __init__(self, url: str = "") -> None:
        self._loop = asyncio.get_running_loop()
        self._make = open_store(url)
        self._kept: OrderedDict[Key, State | None] = OrderedDict()
        self._waiting: dict[Key, list[Then]] = {}
        self._unread: set[Key] = set()  # what the store may have, and could not be read
        self._requests: queue.SimpleQueue[Key | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unwritten: dict[Key, State | None] = {}  # guarded by the lock
        self._will_write = False
        self._thread = threading.Thread(target=self._serve, name="selection states", daemon=True)
        self._thread.start()

    def get(self, key: Key, then: Then) -> None:
        """Calls back with the state, or None where there is none: at once, if it was used lately."""
        if key in self._kept:
            self._kept.move_to_end(key)
            then(self._kept[key])
            return
        self._waiting.setdefault(key, []).append(then)
        if len(self._waiting[key]) == 1:
            self._requests.put(key)

    def put(self, key: Key, state: State | None) -> None:
        """Sets the state, or with None drops it. It is written soon."""
        self._keep(key, state)
        if key in self._unread and state is not None:
            return
        self._unread.discard(key)
        with self._lock:
            self._unwritten[key] = state
        if not self._will_write:
            self._will_write = True
            self._loop.call_later(WRITE_SECONDS, self._have_written)

    def _have_written(self) -> None:
        self._will_write = False
        self._requests.put(_WRITE)

    def _keep(self, key: Key, state: State | None) -> None:
        self._kept[key] = state
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT_STATES:
            self._kept.popitem(last=False)

    def _read(self, key: Key, state: State | None) -> None:
        self._unread.discard(key)
        if key not in self._kept:  # else it was put meanwhile
            self._keep(key, state)
        for then in self._waiting.pop(key, []):
            then(self._kept[key])

    def _could_not_read(self, key: Key) -> None:
        if key not in self._kept:
            self._unread.add(key)
        for then in self._waiting.pop(key, []):
            then(self._kept.get(key))

    def close(self) -> None:
        """Writes what is not written, and ends the thread."""
        self._requests.put(None)
        self._thread.join()

    # ---- on the thread

    def _serve(self) -> None:
        store: Store | None = None
        trouble = ""  # when the store was last used
        while True:
            key = self._requests.get()
            try:
                store = store or self._make()
                self._write(store)
                if key is None:
                    store.close()
                    return
                if key is not _WRITE:
                    self._answer(key, store.read(key))
                trouble = ""
            except (OSError, ValueError, sqlite3.Error) as error:
                if str(error) != trouble:  # it may be met for every query
                    _log.error("selection states cannot be read or written: %s", error)
                trouble = str(error)
                if key is None:
                    return
                if key is not _WRITE:
                    self._soon(self._could_not_read, key)

    def _write(self, store: Store) -> None:
        with self._lock:
            states, self._unwritten = self._unwritten, {}
        if not states:
            return
        try:
            store.write(
                {key: None if state is None else orjson.dumps(state) for key, state in states.items()}
            )
        except BaseException:
            with self._lock:
                self._unwritten = {**states, **self._unwritten}  # to be written with the next ones
            raise

    def _answer(self, key: Key, value: bytes | None) -> None:
        with self._lock:
            state = self._unwritten[key] if key in self._unwritten else value and orjson.loads(value)
        self._soon(self._read, key, state or None)

    def _soon(self, call: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:  # the loop has ended, and nobody waits
            pass


_WRITE: Key = ("", "")  # asks the thread for nothing but to write
