"""Input for replicas: datasets whose batches are divided, and iterators that give each replica its part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.distribute.values import regroup
from tideflow.graph import nest
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, device, executing_eagerly
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.ops.datasets.strategies import auto_shard_dataset_op, rebatch_dataset_op

if TYPE_CHECKING:
    from tideflow.distribute.input_context import InputContext
    from tideflow.distribute.strategy import Strategy


def divided(dataset: tf.data.Dataset, parts: int, use_fallback: bool = True) -> tf.data.Dataset:
    """A dataset with so many smaller batches in the place of each batch. The last ones may be smaller than
    the others, or empty.

    Args:
      dataset: The dataset, of batches.
      parts: The number of smaller batches.
      use_fallback: Accepted for TensorFlow's sake.

    Raises:
      ValueError: If elements have no dimension to divide.
    """

    def part(shape: tf.TensorShape) -> tf.TensorShape:
        if not len(shape):
            raise ValueError(
                "Input shape should have at least one dimension. Perhaps your input dataset is not batched?"
            )
        sizes = shape.as_list()
        whole = sizes[0] is not None and parts and sizes[0] % parts == 0
        return tf.TensorShape([sizes[0] // parts if whole else None, *sizes[1:]])

    shapes = nest.map_structure(part, dataset.output_shapes)
    return dataset._reshaped(rebatch_dataset_op, shapes, parts, use_fallback=use_fallback)


def part_for_worker(dataset: tf.data.Dataset, workers: int, index: int) -> tf.data.Dataset:
    """The part of a dataset that one of several workers has: of its files, where it reads files."""
    return dataset._same(auto_shard_dataset_op, workers, index)


def sharded(dataset: tf.data.Dataset, context: InputContext) -> tf.data.Dataset:
    """The part of a worker, unless the dataset's options say that each worker has all of it."""
    workers = context.num_input_pipelines
    if workers == 1 or not dataset.options().experimental_distribute.auto_shard:
        return dataset
    return part_for_worker(dataset, workers, context.input_pipeline_id)


class DistributedDataset:
    """A dataset each of whose elements has a part for each replica."""

    def __init__(self, strategy: Strategy, dataset: Any):
        self._strategy = strategy
        self._dataset = dataset.prefetch(strategy.num_replicas_in_sync)

    def make_initializable_iterator(self, shared_name: str | None = None) -> DistributedIterator:
        """An iterator for a graph, which is initialized by running `initialize()`."""
        if executing_eagerly():
            return DistributedIterator(self._strategy, self._dataset.make_one_shot_iterator)
        return DistributedIterator(self._strategy, self._dataset.make_initializable_iterator)

    def make_one_shot_iterator(self) -> DistributedIterator:
        """An iterator that needs no initialization."""
        return DistributedIterator(self._strategy, self._dataset.make_one_shot_iterator)

    def __iter__(self) -> Iterator[Any]:
        if not executing_eagerly():
            raise RuntimeError(
                "__iter__() is only supported inside of tf.function or when eager execution is enabled."
            )
        return self.make_one_shot_iterator()

    @property
    def output_classes(self) -> Any:
        """The classes of the elements' parts."""
        return self._dataset.output_classes

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements' parts."""
        return self._dataset.output_shapes

    @property
    def output_types(self) -> Any:
        """The types of the elements' parts."""
        return self._dataset.output_types


class DistributedIterator:
    """Takes an element for each replica, in the order of the replicas."""

    def __init__(self, strategy: Strategy, make: Callable[[], Any]):
        self._strategy = strategy
        self._make = make
        self._iterator = make()

    @property
    def initializer(self) -> Operation:
        """The operation that begins with the first element."""
        return self._iterator.initializer

    def initialize(self) -> Any:
        """Begins with the first element: in a graph, the operation that does so."""
        if executing_eagerly():
            self._iterator = self._make()
            return []
        return self.initializer

    def get_next(self, name: str | None = None) -> Any:
        """The next element, with a part for each replica."""
        devices = self._strategy.extended.worker_devices
        parts: list[Any] = []
        for place in devices:
            earlier = [value for value in nest.flatten(parts[-1:]) if isinstance(value, Tensor)]
            with control_dependencies([] if executing_eagerly() else earlier):
                part = self._iterator.get_next()
            with device(place or None):
                parts.append(nest.map_structure(constants.identity, part))
        return parts[0] if len(parts) == 1 else regroup(parts, devices)

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        from tideflow.graph.errors import OutOfRangeError  # loaded when asked for

        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    next = __next__

    @property
    def output_classes(self) -> Any:
        """The classes of the elements' parts."""
        return self._iterator.output_classes

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements' parts."""
        return self._iterator.output_shapes

    @property
    def output_types(self) -> Any:
        """The types of the elements' parts."""
        return self._iterator.output_types


class TensorsIterator:
    """Calls a function that returns tensors, for each replica."""

    def __init__(self, strategy: Strategy, function: Callable[[], Any]):
        self._strategy = strategy
        self._function = function

    def initialize(self) -> Any:
        """There is nothing to initialize."""
        return [] if executing_eagerly() else grouping.group()

    def get_next(self, name: str | None = None) -> Any:
        """The tensors, for each replica."""
        devices = self._strategy.extended.worker_devices
        parts = []
        for place in devices:
            with device(place or None):
                parts.append(self._function())
        return parts[0] if len(parts) == 1 else regroup(parts, devices)
