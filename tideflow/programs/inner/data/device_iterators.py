"""`tensorflow.python.data.ops.multi_device_iterator_ops`: one dataset, dealt out to several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tideflow as tf
from tideflow.data import structure
from tideflow.ops.datasets import multi_device

_NO_END = 2**62  # more elements than any dataset has


class MultiDeviceIterator:
    """Gives each device every n-th element of a dataset."""

    def __init__(
        self,
        dataset: Any,
        devices: Sequence[str],
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ):
        self._dataset, self._devices, self._source_device = dataset, list(devices), source_device
        self._size = max(max_buffer_size, prefetch_buffer_size)
        self._prefetch = prefetch_buffer_size
        self._attributes = structure.flat_attributes(dataset.element_spec)
        with tf.device(source_device):
            self._multi_device_iterator_resource = multi_device.multi_device_iterator_op(
                devices=self._devices, shared_name="", container="", **self._attributes
            )
        self._start()

    def _start(self) -> None:
        with tf.device(self._source_device):
            self._incarnation_id = multi_device.init_op(
                self._dataset._variant_tensor, self._multi_device_iterator_resource, self._size
            )
        eager = tf.executing_eagerly()
        make = tf.data.make_one_shot_iterator if eager else tf.data.make_initializable_iterator
        self._device_iterators = []
        for index, device in enumerate(self._devices):
            with tf.device(device):
                self._device_iterators.append(make(self._part(index)))
        if not eager:
            self._initializer = tf.group(*(iterator.initializer for iterator in self._device_iterators))

    def _part(self, index: int) -> Any:
        """The elements of one device; they end where the dataset does."""

        def element(_: Any) -> Any:
            parts = multi_device.get_next_op(
                self._multi_device_iterator_resource, index, self._incarnation_id, **self._attributes
            )
            return structure.from_tensors(self.element_spec, list(parts))

        part = tf.data.Dataset.range(_NO_END).map(element)
        return part.prefetch(self._prefetch) if self._prefetch > 0 else part

    def get_next(self, device: str | None = None) -> Any:
        """The next element of one device, or a list of those of all."""
        if device is not None:
            return self._device_iterators[self._devices.index(device)].get_next()
        found = []
        for place, iterator in zip(self._devices, self._device_iterators, strict=True):
            with tf.device(place):
                found.append(iterator.get_next())
        return found

    def get_next_as_optional(self) -> list[Any]:
        """For each device its next element, or none where the dataset has ended."""
        found = []
        for place, iterator in zip(self._devices, self._device_iterators, strict=True):
            with tf.device(place):
                found.append(tf.data.experimental.get_next_as_optional(iterator))
        return found

    @property
    def initializer(self) -> Any:
        """The operation that begins the dataset anew."""
        return tf.no_op() if tf.executing_eagerly() else self._initializer

    def _eager_reset(self) -> None:
        if not tf.executing_eagerly():
            raise ValueError("Eager reset is only supported in eager mode.")
        self._start()

    @property
    def element_spec(self) -> Any:
        """The spec of an element."""
        return self._dataset.element_spec
