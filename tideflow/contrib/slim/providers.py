"""Data sets, and what provides their items: files are read by several readers, records are decoded."""

from __future__ import annotations

import abc
from collections.abc import KeysView, Sequence
from typing import Any

from tideflow.contrib.slim import reading
from tideflow.export import export
from tideflow.graph.operation import Tensor


@export("contrib.slim.data_decoder.DataDecoder")
class DataDecoder(abc.ABC):
    """Makes items, such as images and labels, of records."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> list[Any]:
        """The tensors of these items, made of a record."""

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items that it can make."""


@export("contrib.slim.dataset.Dataset")
class Dataset:
    """What a data set is; all arguments become attributes.

    Args:
      data_sources: Files, or patterns of their names.
      reader: The class of readers of such files.
      decoder: The `DataDecoder` of their records.
      num_samples: How many samples there are.
      items_to_descriptions: What each item is, in words.
      **kwargs: Whatever else is to be known.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: Any,
        items_to_descriptions: Any,
        **kwargs: Any,
    ):
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions
        self.__dict__.update(kwargs)


@export("contrib.slim.data_provider.DataProvider")
class DataProvider:
    """Provides the tensors of items, by name.

    Args:
      items_to_tensors: The tensor of each item.
      num_samples: How many samples there are.
    """

    def __init__(self, items_to_tensors: dict[str, Any], num_samples: Any):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of some items.

        Args:
          items: The names of the items, a list or a tuple.

        Returns:
          A list of tensors.

        Raises:
          ValueError: If there is no such item.
        """
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {self.list_items()}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> KeysView[str]:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> Any:
        """How many samples there are."""
        return self._num_samples


@export("contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(DataProvider):
    """Provides the items of a data set's records, one record after another.

    Args:
      dataset: The `Dataset`.
      num_readers: How many readers read at a time.
      reader_kwargs: The arguments of a reader.
      shuffle: Whether files and records are shuffled.
      num_epochs: How many times all files are read; without end if None.
      common_queue_capacity: How many records wait at most.
      common_queue_min: How many records wait at least, to be shuffled.
      record_key: The item that is the record's key.
      seed: The seed of the shuffling.
      scope: A name for the scope of the new operations.

    Raises:
      ValueError: If the data set has an item of the name `record_key`.
    """

    def __init__(
        self,
        dataset: Dataset,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ):
        key, data = reading.parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors: dict[str, Tensor] = dict(zip(items, dataset.decoder.decode(data, items)))
        if record_key in tensors:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}"
            )
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
