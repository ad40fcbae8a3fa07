"""Names of `tensorflow.python.data.experimental.ops.distribute`: datasets of workers and replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.data import structure
from tideflow.data.dataset import Dataset
from tideflow.programs.modules import generated_function


def _AutoShardDataset(input_dataset: Dataset, num_workers: int, index: int) -> Dataset:
    """The part of a dataset that one of several workers has."""
    op = generated_function("auto_shard_dataset")
    return input_dataset._same(op, num_workers=num_workers, index=index)


_AutoShardDatasetV1 = _AutoShardDataset


def _RebatchDataset(input_dataset: Dataset, num_replicas: int, use_fallback: bool = True) -> Dataset:
    """Each batch of a dataset cut into as many parts as there are replicas."""

    def part(shape: Any) -> tf.TensorShape:
        if not shape.ndims:
            raise ValueError(
                "Input shape should have at least one dimension. Perhaps your input dataset is not batched?"
            )
        sizes = shape.as_list()
        whole = sizes[0] is not None and sizes[0] % num_replicas == 0
        return tf.TensorShape([sizes[0] // num_replicas if whole else None, *sizes[1:]])

    spec = structure.from_legacy(
        input_dataset.output_types,
        structure.map_structure(part, input_dataset.output_shapes),
        input_dataset.output_classes,
    )
    variant = generated_function("rebatch_dataset")(
        input_dataset._variant_tensor, num_replicas=num_replicas, **structure.flat_attributes(spec)
    )
    return Dataset(variant, spec, [input_dataset])


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
