"""The cluster key: one secret that every task of a cluster has, from which both ends of CURVE are derived.

Between machines it is a file that `tideflow keygen` makes. On the loopback, where no file is named, it is the
key of the user: made when a task or a client first needs it, in a folder that nobody else can open. So the
programs of one user reach each other, and those of other users do not.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

import zmq
from zmq.utils import z85

from tideflow.graph import errors
from tideflow.graph.errors import OpError
from tideflow.runtime.private_folder import NotPrivate, private_folder

VARIABLE = "TIDEFLOW_CLUSTER_KEY"
INSECURE = "TIDEFLOW_INSECURE"  # set to 1 where everybody who can reach the tasks is trusted
_BYTES = 32
_LABEL = "tideflow-cluster-key-1"


@dataclass(frozen=True)
class Key:
    """A cluster's secret. A process that has it knows the servers' key, and the one client key that they
    admit. `origin` says in errors which key it is.
    """

    secret: bytes = field(repr=False)
    origin: str = field(default="one", compare=False)

    def server(self) -> tuple[bytes, bytes]:
        """The public and secret key of every server of the cluster."""
        return _pair(self.secret, b"tideflow server")

    def client(self) -> tuple[bytes, bytes]:
        """The public and secret key of every client of the cluster."""
        return _pair(self.secret, b"tideflow client")


@functools.lru_cache(maxsize=8)
def _pair(secret: bytes, role: bytes) -> tuple[bytes, bytes]:
    private = z85.encode(hashlib.blake2b(key=secret, person=role, digest_size=_BYTES).digest())
    return zmq.curve_public(private), private


def generate() -> Key:
    """A new key."""
    return Key(secrets.token_bytes(_BYTES))


def write(key: Key, path: str | os.PathLike[str]) -> None:
    """Writes the key file, readable by its owner alone; an existing file is never replaced."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise errors.already_exists(
            f"{path} exists already; a cluster key is never written over another file."
        ) from None
    except OSError as error:
        raise errors.not_found(f"The key {path} cannot be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w") as file:
        file.write(text_of(key))


def text_of(key: Key) -> str:
    """The content of the key's file."""
    return f"{_LABEL} {key.secret.hex()}\n"


def read(path: str | os.PathLike[str]) -> Key:
    """The key in a file that `write` made and that only its owner can read."""
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(1024)
    except OSError as error:
        raise errors.not_found(
            f"The cluster key {path} cannot be read: {error.strerror}. `tideflow keygen` makes one.",
        ) from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise errors.failed_precondition(
            f"The cluster key {path} is open to others (mode {mode & 0o777:o}): chmod 600 {path}."
        )
    return _key_in(content, path, f"the one in {path}")


def _key_in(content: bytes, path: str | os.PathLike[str], origin: str) -> Key:
    label, _, digits = content.decode("ascii", "replace").strip().partition(" ")
    try:
        secret = bytes.fromhex(digits)
    except ValueError:
        secret = b""
    if label != _LABEL or len(secret) != _BYTES:
        raise errors.invalid_argument(
            f"{path} is not a cluster key: `tideflow keygen` writes '{_LABEL}' and {2 * _BYTES} digits.",
        )
    return Key(secret, origin)


def from_environment() -> Key | None:
    """The key in the file that TIDEFLOW_CLUSTER_KEY names; None where the variable is not set."""
    path = os.environ.get(VARIABLE)
    return read(path) if path else None


def network_is_trusted() -> bool:
    """Whether TIDEFLOW_INSECURE says that tasks and clients need no key."""
    return os.environ.get(INSECURE) == "1"


# ----------------------------------------------------------------------------------------- the user's own key


def of_user() -> Key:
    """The key of this user for the loopback, made on first use."""
    try:
        path = private_folder("keys") / "loopback.key"
        if not os.path.lexists(path):
            _make_once(path)
        return _read_own(path)
    except NotPrivate as error:
        reason = str(error)
    except OSError as error:
        reason = f"{error.filename} cannot be used: {error.strerror}"
    except OpError as error:
        reason = error.message.rstrip(".")
    raise errors.failed_precondition(
        f"There is no key of this user, with which tasks on the loopback authenticate: {reason}. Mend that, "
        f"or let XDG_CACHE_HOME name a folder of your own, or let {VARIABLE} name a key that `tideflow "
        f"keygen` made; or say that every user of this machine is trusted, by --insecure or {INSECURE}=1.",
    )


def _make_once(path: Path) -> None:
    """Writes a new key, complete when it appears. Of several processes that do so at once, one succeeds, and
    all of them read that one's key.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    write(generate(), draft)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)


def _read_own(path: Path) -> Key:
    """The key in a file that must be this user's own, real, and closed to others."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotPrivate(f"{path} is a link, and not a file") from None
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise NotPrivate(f"{path} is not a file")
        if found.st_uid != os.geteuid():
            raise NotPrivate(f"{path} belongs to the user with number {found.st_uid}")
        if found.st_mode & 0o077:
            raise NotPrivate(
                f"{path} is open to others (mode {found.st_mode & 0o777:o}): delete it, others may know it"
            )
        return _key_in(os.read(descriptor, 1024), path, f"that of its user, in {path}")
    finally:
        os.close(descriptor)
