"""Names that libraries take from `tensorflow.python.keras.saving.hdf5_format`."""

from __future__ import annotations

from typing import Any

from tideflow.keras.saving import hdf5

load_optimizer_weights_from_hdf5_group = hdf5.read_optimizer_weights


def load_weights_from_hdf5_group(f: Any, layers: list[Any]) -> None:
    """Reads the weights of a file's group into layers, in their order.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.load_group(f, layers)


def load_weights_from_hdf5_group_by_name(f: Any, layers: list[Any]) -> None:
    """Reads the weights of a file's group into the layers that have their names.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.load_group(f, layers, by_name=True)


def save_weights_to_hdf5_group(f: Any, layers: list[Any]) -> None:
    """Writes the weights of layers into a file's group.

    Args:
      f: The group.
      layers: The layers.
    """
    hdf5.write_group(f, layers)
