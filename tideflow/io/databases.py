"""LMDB databases, by the package `lmdb`, if it is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from tideflow.graph import errors
from tideflow.io.local_files import local_path


def lmdb_items(path: bytes, who: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a database, in the order of the keys.

    Raises InvalidArgumentError if the file is no database, and UnimplementedError, with the name `who`, if
    the package is missing; both before the first item.
    """
    try:
        import lmdb  # loaded when asked for
    except ImportError:
        raise errors.unimplemented(f"{who} needs the package lmdb: pip install lmdb") from None
    found = local_path(path)
    try:
        database = lmdb.open(found, subdir=os.path.isdir(found), readonly=True, lock=False)
    except lmdb.Error as error:
        raise errors.invalid_argument(f"{found} is no LMDB database: {error}") from error
    return _items(database)


def _items(database: Any) -> Iterator[tuple[bytes, bytes]]:
    with database, database.begin() as transaction:
        yield from transaction.cursor()
