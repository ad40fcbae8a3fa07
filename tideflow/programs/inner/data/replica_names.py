"""Names of `tensorflow.python.data.experimental.ops.distribute`: datasets of workers and replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.data.dataset import Dataset
from tideflow.distribute.inputs import divided, part_for_worker
from tideflow.programs.modules import generated_function

_AutoShardDataset = _AutoShardDatasetV1 = part_for_worker
_RebatchDataset = divided


def replicate(dataset: Dataset, devices: Sequence[str]) -> dict[str, Dataset]:
    """Makes the same dataset on each of several devices.

    Args:
      dataset: The dataset.
      devices: The devices.

    Returns:
      The datasets by device.

    Raises:
      TypeError: If it is no dataset.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    with tf.colocate_with(dataset._variant_tensor):
        graph = dataset._as_serialized_graph()
    return {device: _on_device(graph, device, dataset.element_spec) for device in devices}


def _on_device(graph: Any, device: str, spec: Any) -> Dataset:
    with tf.device(device):
        return Dataset(generated_function("dataset_from_graph")(graph), spec)
