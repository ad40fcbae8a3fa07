"""Paths on this machine, file name patterns, and TensorFlow's errors in place of OSError."""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import os
import re
import stat
import uuid
from collections.abc import Iterator
from typing import IO, Any, TypeAlias

from tideflow.graph import errors

PathLike: TypeAlias = "str | bytes | os.PathLike[Any]"

_CODES = {
    errors.NOT_FOUND: (errno.ENOENT, errno.ENODEV, errno.ENXIO),
    errors.ALREADY_EXISTS: (errno.EEXIST,),
    errors.PERMISSION_DENIED: (errno.EACCES, errno.EPERM, errno.EROFS),
    errors.FAILED_PRECONDITION: (
        errno.EISDIR,
        errno.ENOTDIR,
        errno.ENOTEMPTY,
        errno.EBUSY,
        errno.ETXTBSY,
    ),
    errors.INVALID_ARGUMENT: (errno.EINVAL, errno.ENAMETOOLONG, errno.ELOOP),
    errors.RESOURCE_EXHAUSTED: (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
    errors.OUT_OF_RANGE: (errno.EFBIG, errno.EOVERFLOW),
    errors.UNIMPLEMENTED: (errno.EXDEV, errno.ENOSYS),
}
_CODE_OF_ERRNO = {number: code for code, numbers in _CODES.items() for number in numbers}


@contextlib.contextmanager
def as_tensorflow_errors(path: str) -> Iterator[None]:
    """Replaces an OSError in the `with` block by the exception of `tf.errors` for it, with the path."""
    try:
        yield
    except OSError as error:
        code = _CODE_OF_ERRNO.get(error.errno or 0, errors.UNKNOWN)
        raise errors.make_error(None, None, f"{path}; {error.strerror}", code) from error


def local_path(path: PathLike) -> str:
    """The path of a name or a file:// URL."""
    name = os.fsdecode(path)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9.]*)://", name)
    if scheme is None:
        return name
    if scheme.group(1) == "file":
        return name[scheme.end() :]
    raise errors.unimplemented(f"File system scheme '{scheme.group(1)}' not implemented (file: '{name}')")


def read_bytes(path: PathLike) -> bytes:
    """The contents of a file."""
    path = local_path(path)
    with as_tensorflow_errors(path), open(path, "rb") as file:
        return file.read()


def check_regular(path: str) -> None:
    """Raises an error for what is there and is no plain file: a pipe's reader waits for its writer, and some
    devices never end.
    """
    with as_tensorflow_errors(path), contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise errors.failed_precondition(f"{path} is not a regular file.")


def make_folder(folder: str) -> None:
    """Makes a directory and its missing parents, which are there after a crash too."""
    with as_tensorflow_errors(folder):
        missing = folder
        made = []
        while missing and not os.path.isdir(missing):
            made.append(missing)
            missing = os.path.dirname(missing)
        os.makedirs(folder or ".", exist_ok=True)
        for path in reversed(made):
            sync_folder(os.path.dirname(path))


# What a crash of the machine must not take is on the disk before anything else names it: first the contents
# of a file, then its name in the directory, then the file that names it.


def sync(file: IO[bytes]) -> None:
    """Has the contents of a file written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: str) -> None:
    """Has the names in a directory written to the disk: which files there are, and what renaming did."""
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot, and need not
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename(path: str, new: str) -> None:
    """Renames a file, whose contents are on the disk already, and replaces one of that name."""
    os.replace(path, new)
    sync_folder(os.path.dirname(new))


def write_bytes(path: PathLike, data: bytes) -> None:
    """Writes a file, and makes its missing parent directories."""
    path = local_path(path)
    make_folder(os.path.dirname(path))
    with as_tensorflow_errors(path), open(path, "wb") as file:
        file.write(data)


def is_device(path: str) -> bool:
    """Whether there is a device, a pipe or a socket. It is written to, and never replaced by a file: for the
    superuser, that would take /dev/null away from the whole system.
    """
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def replace_bytes(path: PathLike, data: bytes, *, sync_name: bool = True) -> None:
    """Writes a file atomically: readers find the whole old file or the whole new one, even after the machine
    has crashed. Without `sync_name` it may then be the old one until the directory is synced.
    """
    path = local_path(path)
    if is_device(path):
        write_bytes(path, data)
        return
    temporary = f"{path}.tmp{uuid.uuid4().hex}"
    try:
        make_folder(os.path.dirname(path))
        with as_tensorflow_errors(path):
            with open(temporary, "wb") as file:
                file.write(data)
                sync(file)
            os.replace(temporary, path)
            if sync_name:
                sync_folder(os.path.dirname(path))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)


def matching_paths(pattern: PathLike) -> list[str]:
    """The paths that match a pattern (`*`, `?`, `[a-z]`, `[!a]`, `[^a]`)."""
    pattern = local_path(pattern).replace("[^", "[!")
    fixed = re.split(r"[*?\[\\]", pattern, maxsplit=1)[0]
    folder = os.path.dirname(fixed)
    parts = pattern[len(folder) :].lstrip("/").split("/")
    folder = folder or "."
    if not os.path.exists(folder):
        raise errors.not_found(f"{folder}; No such file or directory")
    paths = [folder]
    for part in parts:
        paths = [
            os.path.join(path, name)
            for path in paths
            if os.path.isdir(path)
            for name in fnmatch.filter(sorted(os.listdir(path)), part)
        ]
    return paths
