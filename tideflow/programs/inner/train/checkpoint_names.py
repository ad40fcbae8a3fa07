"""Names of TensorFlow's inner modules of checkpoints, beside the public ones."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import tideflow as tf
from tideflow.contrib.framework import remapped
from tideflow.io.checkpoint_state import checkpoint_exists, meta_graph_path, write_state
from tideflow.io.object_graph import GRAPH_KEY, keys_by_variable_name, read_object_graph
from tideflow.train.checkpoint_utils import open_checkpoint, prefix_of

_load_and_remap_matrix_initializer = remapped.load_and_remap_matrix_initializer
_load_embedding_initializer = remapped.load_embedding_initializer
_get_checkpoint_filename = prefix_of
checkpoint_exists_internal = checkpoint_exists
OBJECT_GRAPH_PROTO_KEY = GRAPH_KEY
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"


def _load_and_remap_matrix(
    ckpt_path: str,
    old_tensor_name: str,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Any,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> tf.Tensor:
    """The rows of some words, from a certain one on, and those of unknown words behind them."""
    for name, count in (("row", num_row_oov_buckets), ("col", num_col_oov_buckets)):
        if count < 0:
            raise ValueError(f"num_{name}_oov_buckets must be >= 0, but received {count}")
    initialize = remapped.load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_offset + num_rows_to_load,
        new_col_vocab_size,
        old_row_vocab_size,
        old_row_vocab_file,
        new_row_vocab_file,
        old_col_vocab_file,
        new_col_vocab_file,
        num_row_oov_buckets,
        num_col_oov_buckets,
        initializer,
        max_rows_in_memory,
    )
    shape = [num_rows_to_load + num_row_oov_buckets, new_col_vocab_size + num_col_oov_buckets]
    return initialize(shape, partition_info=_Offset(new_row_vocab_offset))


class _Offset(NamedTuple):
    """The place of a part, as initializers ask for it."""

    rows: int

    def single_offset(self, shape: Any) -> int:
        return self.rows


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Where the graph of a checkpoint is written: once for all shards."""
    return meta_graph_path(checkpoint_filename, meta_graph_suffix)


def update_checkpoint_state_internal(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Any = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Any = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the checkpoint state file of a directory, with its own paths as they are or relative to it."""
    write_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename=latest_filename,
        save_relative_paths=save_relative_paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _GetCheckpointFilename(save_dir: str, latest_filename: str | None) -> str:
    return os.path.join(save_dir, latest_filename or "checkpoint")


def _prefix_to_checkpoint_path(prefix: str, format_version: int) -> str:
    """The file that tells whether there is a checkpoint of a prefix."""
    return f"{prefix}.index" if format_version == tf.train.SaverDef.V2 else prefix


def object_graph_key_mapping(checkpoint_path: str) -> dict[str, str]:
    """The keys of a checkpoint of objects by the names of their variables.

    Args:
      checkpoint_path: The prefix of the checkpoint.

    Returns:
      A dictionary from names to keys.

    Raises:
      NotFoundError: If the checkpoint goes by names.
    """
    with open_checkpoint(prefix_of(checkpoint_path)) as reader:
        graph = read_object_graph(reader)
    if graph is None:
        raise tf.errors.NotFoundError(None, None, f"Key {GRAPH_KEY} not found in checkpoint")
    return keys_by_variable_name(graph)
