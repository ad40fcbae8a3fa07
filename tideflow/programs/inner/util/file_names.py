"""What programs take from `tensorflow.python.lib.io.file_io`, beside `tf.gfile` and `tf.io.gfile`."""

from __future__ import annotations

import os
import uuid
import zlib
from typing import TYPE_CHECKING

from tideflow.platform import gfile

if TYPE_CHECKING:
    from tideflow.graph.typing import PathLike

FileIO = gfile.GFile
copy, rename, walk, stat = gfile.Copy, gfile.Rename, gfile.Walk, gfile.stat
copy_v2, rename_v2, walk_v2, stat_v2 = gfile.copy, gfile.rename, gfile.walk, gfile.stat
create_dir = create_dir_v2 = gfile.mkdir
recursive_create_dir = recursive_create_dir_v2 = gfile.makedirs
delete_file = delete_file_v2 = gfile.remove
delete_recursively = delete_recursively_v2 = gfile.rmtree
file_exists = file_exists_v2 = gfile.exists
is_directory = is_directory_v2 = gfile.isdir
list_directory = list_directory_v2 = gfile.listdir
get_matching_files = get_matching_files_v2 = gfile.glob


def read_file_to_string(filename: PathLike, binary_mode: bool = False) -> bytes | str:
    """A file's contents."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: PathLike, file_content: str | bytes) -> None:
    """Makes a file of these contents."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: PathLike, contents: str | bytes, overwrite: bool = True) -> None:
    """Makes a file of these contents at once: whoever reads it sees all of them, or what was there before."""
    unfinished = f"{os.fspath(filename)}.tmp{uuid.uuid4().hex}"
    write_string_to_file(unfinished, contents)
    try:
        gfile.rename(unfinished, filename, overwrite)
    except Exception:
        gfile.remove(unfinished)
        raise


def filecmp(filename_a: PathLike, filename_b: PathLike) -> bool:
    """Whether two files have the same contents."""
    same_size = gfile.stat(filename_a).length == gfile.stat(filename_b).length
    return same_size and read_file_to_string(filename_a, True) == read_file_to_string(filename_b, True)


def file_crc32(filename: PathLike, block_size: int = 1 << 24) -> str:
    """A file's CRC-32, in hexadecimal digits."""
    crc = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            crc = zlib.crc32(block, crc)  # type: ignore[arg-type]
    return hex(crc & 0xFFFFFFFF)
