"""The cluster key: one secret that every task of a cluster has, from which both ends of CURVE are derived."""

from __future__ import annotations

import functools
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field

import zmq
from zmq.utils import z85

from tideflow.graph import errors

VARIABLE = "TIDEFLOW_CLUSTER_KEY"
INSECURE = "TIDEFLOW_INSECURE"  # set to 1 where the network is trusted
_BYTES = 32
_LABEL = "tideflow-cluster-key-1"


@dataclass(frozen=True)
class Key:
    """A cluster's secret. A process that has it knows the servers' key, and the one client key that they
    admit.
    """

    secret: bytes = field(repr=False)

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
        file.write(f"{_LABEL} {key.secret.hex()}\n")


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
    label, _, digits = content.decode("ascii", "replace").strip().partition(" ")
    try:
        secret = bytes.fromhex(digits)
    except ValueError:
        secret = b""
    if label != _LABEL or len(secret) != _BYTES:
        raise errors.invalid_argument(
            f"{path} is not a cluster key: `tideflow keygen` writes '{_LABEL}' and {2 * _BYTES} digits.",
        )
    return Key(secret)


def from_environment() -> Key | None:
    """The key in the file that TIDEFLOW_CLUSTER_KEY names; None where the variable is not set."""
    path = os.environ.get(VARIABLE)
    return read(path) if path else None


def network_is_trusted() -> bool:
    """Whether TIDEFLOW_INSECURE says that tasks on other machines need no key."""
    return os.environ.get(INSECURE) == "1"
