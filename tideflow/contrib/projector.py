"""`tf.contrib.tensorboard.plugins.projector`: embeddings in TensorBoard's projector."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig, SpriteMetadata

from tideflow.export import export, expose
from tideflow.graph import errors
from tideflow.io.local_files import read_bytes, replace_bytes
from tideflow.platform import logging
from tideflow.train.checkpoint_utils import load_checkpoint

if TYPE_CHECKING:
    from tideflow.summary.writer import FileWriter

_HOME = "contrib.tensorboard.plugins.projector"
_FILE = "projector_config.pbtxt"

for _message in (EmbeddingInfo, ProjectorConfig, SpriteMetadata):
    expose(_message, f"{_HOME}.{_message.DESCRIPTOR.name}")


@export(f"{_HOME}.visualize_embeddings")
def visualize_embeddings(summary_writer: FileWriter, config: ProjectorConfig) -> None:
    """Tells the projector, in the writer's directory, which variables to show and what describes their rows.

    TensorBoard reads their values from the directory's checkpoint where TensorFlow is installed beside it;
    elsewhere `export_tensors` puts them into files that it always reads.

    Args:
      summary_writer: The writer, whose directory is used.
      config: The configuration, a ProjectorConfig.
    """
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    _write(logdir, config)
    if any(not embedding.tensor_path for embedding in config.embeddings):
        logging.warning(
            "TensorBoard shows these embeddings only where TensorFlow is installed beside it, to read the "
            f"checkpoint. After Saver.save, projector.export_tensors({logdir!r}) writes them as tables, "
            "which it always shows."
        )


@export(f"{_HOME}.export_tensors")
def export_tensors(logdir: str, checkpoint: str | None = None) -> list[str]:
    """Writes each embedding of a directory's projector configuration that has no file yet into one: rows of
    tab-separated numbers.

    Args:
      logdir: The directory.
      checkpoint: The checkpoint; the directory's latest if None.

    Returns:
      The paths of the files.
    """
    config = text_format.Parse(read_bytes(os.path.join(logdir, _FILE)).decode(), ProjectorConfig())
    reader = load_checkpoint(checkpoint or config.model_checkpoint_path or logdir)
    shapes = reader.get_variable_to_shape_map()
    written = []
    for embedding in config.embeddings:
        if embedding.tensor_path:
            continue
        name = embedding.tensor_name.removesuffix(":0")
        if len(shapes.get(name, ())) != 2:
            found = f"has shape {shapes[name]}" if name in shapes else "is not in the checkpoint"
            tables = ", ".join(sorted(key for key, shape in shapes.items() if len(shape) == 2))
            raise errors.not_found(
                f"The embedding '{name}' {found}; the tables there are: {tables or 'none'}"
            )
        rows = reader.get_tensor(name)
        embedding.tensor_path = f"{name.replace('/', '_')}.tsv"
        embedding.tensor_shape[:] = rows.shape
        written.append(os.path.join(logdir, embedding.tensor_path))
        replace_bytes(written[-1], _table(rows))
    _write(logdir, config)
    return written


def _write(logdir: str, config: ProjectorConfig) -> None:
    replace_bytes(os.path.join(logdir, _FILE), text_format.MessageToString(config).encode())


def _table(rows: np.ndarray) -> bytes:
    text = io.BytesIO()
    np.savetxt(text, rows.astype(np.float64), fmt="%.9g", delimiter="\t")
    return text.getvalue()
