"""Which checkpoints a directory has: the state file beside them, and the files of each."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.export import export
from tideflow.graph.errors import NotFoundError, OpError
from tideflow.graph.own_protos import make_messages
from tideflow.io.bundle_format import index_path
from tideflow.io.local_files import local_path, matching_paths, read_bytes, replace_bytes

_log = logging.getLogger("tensorflow")

CheckpointState = make_messages(
    "checkpoint_state",
    {
        "CheckpointState": {
            "model_checkpoint_path": "string",
            "all_model_checkpoint_paths": "repeated string",
            "all_model_checkpoint_timestamps": "repeated double",
            "last_preserved_timestamp": "double",
        }
    },
)["CheckpointState"]
DEFAULT_STATE_FILE = "checkpoint"


def state_path(save_dir: str, latest_filename: str | None = None) -> str:
    """The path of a directory's checkpoint state file."""
    return os.path.join(save_dir, latest_filename or DEFAULT_STATE_FILE)


@export("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """Makes the checkpoint state of a directory: a message with its newest and all its checkpoints.

    Args:
      save_dir: The directory.
      model_checkpoint_path: The prefix of the newest checkpoint.
      all_model_checkpoint_paths: The prefixes of all checkpoints, oldest first; the newest is added if it is
        not the last.
      all_model_checkpoint_timestamps: The times at which they were written.
      last_preserved_timestamp: The time of the last checkpoint that is kept forever.

    Returns:
      The CheckpointState message. If `save_dir` is relative, so are its paths.

    Raises:
      ValueError: If there are not as many timestamps as paths.
    """
    given = all_model_checkpoint_paths or ()
    paths = given if isinstance(given, list) else list(given)  # a list of the caller's gets the newest, too
    if not paths or paths[-1] != model_checkpoint_path:
        _log.info("%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    if not os.path.isabs(save_dir):  # relative paths are valid in any working directory

        def relative(path: str) -> str:
            return path if os.path.isabs(path) else os.path.relpath(path, save_dir)

        model_checkpoint_path = relative(model_checkpoint_path)
        paths = [relative(path) for path in paths]
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


@export("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the checkpoint state file of a directory.

    Args:
      save_dir: The directory.
      model_checkpoint_path: The prefix of the newest checkpoint.
      all_model_checkpoint_paths: The prefixes of all checkpoints, oldest first.
      latest_filename: The name of the file; "checkpoint" if None.
      all_model_checkpoint_timestamps: The times at which they were written.
      last_preserved_timestamp: The time of the last checkpoint that is kept forever.

    Raises:
      RuntimeError: If the checkpoint's own path is that of the file.
    """
    write_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def write_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Writes the checkpoint state file of a directory, by relative paths if `save_relative_paths` is set."""
    path = state_path(save_dir, latest_filename)
    paths = list(all_model_checkpoint_paths or ())
    if save_relative_paths:
        model_checkpoint_path, *paths = (
            os.path.relpath(name, save_dir) if os.path.isabs(name) else name
            for name in (model_checkpoint_path, *paths)
        )
    state = generate_checkpoint_state_proto(
        save_dir,
        model_checkpoint_path,
        paths,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state. Please use "
            "a different save path."
        )
    replace_bytes(path, text_format.MessageToString(state).encode())


@export("train.get_checkpoint_state")
def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> Any:
    """Reads the checkpoint state file of a directory.

    Args:
      checkpoint_dir: The directory.
      latest_filename: The name of the file; "checkpoint" if None.

    Returns:
      The CheckpointState message, with the directory in its paths; None if there is no file that can be read.

    Raises:
      ValueError: If the file names no checkpoint.
    """
    checkpoint_dir = os.fspath(checkpoint_dir)
    path = state_path(checkpoint_dir, latest_filename)
    try:
        state = text_format.Parse(read_bytes(path).decode(), CheckpointState())
    except NotFoundError:
        return None
    except (OpError, UnicodeDecodeError, text_format.ParseError) as error:
        _log.warning("%s: %s", type(error).__name__, error)
        _log.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, name in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, name)
    return state


# -------------------------------------------------------------------------------------- files of a checkpoint


def files_matching(pattern: str) -> list[str]:
    """The file of this name or, if there is none, those that match it as a pattern."""
    if os.path.exists(local_path(pattern)):
        return [local_path(pattern)]
    try:
        return matching_paths(pattern)
    except NotFoundError:
        return []


def _marks(checkpoint_prefix: str) -> list[str]:
    """The files by which a checkpoint is recognized: a table in the second format, itself in the first."""
    return files_matching(index_path(checkpoint_prefix)) or files_matching(checkpoint_prefix)


@export("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint, in either format.

    Args:
      checkpoint_prefix: The prefix of the checkpoint.

    Returns:
      True if its files exist.
    """
    return bool(_marks(os.fspath(checkpoint_prefix)))


@export("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Sequence[str]) -> list[float]:
    """Gets the times at which checkpoints were written.

    Args:
      checkpoint_prefixes: The prefixes of the checkpoints.

    Returns:
      The times in seconds; checkpoints that do not exist are left out.
    """
    found = (_marks(prefix) for prefix in checkpoint_prefixes)
    return [os.stat(marks[0]).st_mtime_ns // 10**9 * 1.0 for marks in found if marks]


@export("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Finds the newest checkpoint of a directory.

    Args:
      checkpoint_dir: The directory.
      latest_filename: The name of the checkpoint state file; "checkpoint" if None.

    Returns:
      The prefix of the checkpoint, or None.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return str(state.model_checkpoint_path)
    _log.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


@export("train.remove_checkpoint")
def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: int = SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Deletes the files of a checkpoint.

    Args:
      checkpoint_prefix: The prefix of the checkpoint.
      checkpoint_format_version: The format, `SaverDef.V2` or `SaverDef.V1`.
      meta_graph_suffix: The suffix of the file with the graph, which is deleted too.
    """
    patterns = [meta_graph_path(checkpoint_prefix, meta_graph_suffix)]
    if checkpoint_format_version == SaverDef.V2:
        patterns += [index_path(checkpoint_prefix), f"{checkpoint_prefix}.data-?????-of-?????"]
    else:
        patterns.append(checkpoint_prefix)
    for pattern in patterns:
        for path in files_matching(pattern):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


def meta_graph_path(checkpoint_prefix: str, suffix: str = "meta") -> str:
    """The file of the graph beside a checkpoint; for a pattern of shards, without the shards."""
    base, _, shards = checkpoint_prefix.rpartition("-?????-of-")
    return f"{base if base and shards.isdigit() else checkpoint_prefix}.{suffix}"
