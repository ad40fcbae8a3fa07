"""`tensorflow.contrib.distributions.python.ops.shape`: which axes of a tensor count samples, distributions of
a batch, and coordinates of an event.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tideflow as tf
from tideflow.contrib.distributions import tools
from tideflow.programs.inner.math.distribution_utilities import rotate_transpose


def _known(*values: Any) -> bool:
    return all(tf.contrib.util.constant_value(value) is not None for value in values)


class _DistributionShape:
    """The axes of tensors whose last axes are those of a batch of distributions and of their events.

    Args:
      batch_ndims: How many axes the batch has, a scalar int32.
      event_ndims: How many axes an event has, a scalar int32.
      validate_args: Whether steps check what is not known before.
      name: The name scope of the operations.
    """

    def __init__(
        self, batch_ndims: Any, event_ndims: Any, validate_args: bool = False, name: str = "DistributionShape"
    ):
        for what, count in (("batch_ndims", batch_ndims), ("event_ndims", event_ndims)):
            if count is None:
                raise ValueError(f"{what} cannot be None")
        self._name = name
        self._validate_args = validate_args
        with tf.name_scope(name), tf.name_scope("init"):
            self._batch_ndims = self._checked_count(batch_ndims, "batch_ndims")
            self._event_ndims = self._checked_count(event_ndims, "event_ndims")
            self._batch_ndims_static, self._batch_ndims_is_0 = self._seen(self._batch_ndims)
            self._event_ndims_static, self._event_ndims_is_0 = self._seen(self._event_ndims)

    def _checked_count(self, count: Any, name: str) -> tf.Tensor:
        count = tf.convert_to_tensor(count, name=name)
        if count.dtype.base_dtype != tf.int32:
            raise TypeError(f"{count.name}.dtype={count.dtype} is not {tf.int32}")
        value = tf.contrib.util.constant_value(count)
        if count.shape.ndims is not None and value is not None:
            if count.shape.ndims != 0:
                raise ValueError(f"{count.name}.ndims={count.shape.ndims} is not 0 (scalar)")
            if value < 0:
                raise ValueError(f"{count.name}.value={value} cannot be negative")
        elif self._validate_args:
            with tf.control_dependencies([tf.assert_rank(count, 0), tf.assert_non_negative(count)]):
                return tf.identity(count)
        return count

    @staticmethod
    def _seen(count: tf.Tensor) -> tuple[Any, Any]:
        """A count as far as the graph knows it, and whether it is 0."""
        value = tf.contrib.util.constant_value(count)
        return (None, tf.equal(count, 0)) if value is None else (value, bool(value == 0))

    @property
    def name(self) -> str:
        """The name scope of the operations."""
        return self._name

    @property
    def batch_ndims(self) -> tf.Tensor:
        """How many axes the batch has."""
        return self._batch_ndims

    @property
    def event_ndims(self) -> tf.Tensor:
        """How many axes an event has."""
        return self._event_ndims

    @property
    def validate_args(self) -> bool:
        """Whether steps check what is not known before."""
        return self._validate_args

    @contextlib.contextmanager
    def _scope(self, name: str, *values: Any) -> Iterator[None]:
        with tf.name_scope(self.name), tf.name_scope(name, values=[*values, *self._counts()]):
            yield

    def _counts(self) -> tuple[tf.Tensor, tf.Tensor]:
        return self._batch_ndims, self._event_ndims

    def get_ndims(self, x: Any, name: str = "get_ndims") -> tf.Tensor:
        """The rank of a tensor, a constant where it is known."""
        with self._scope(name, x):
            x = tf.convert_to_tensor(x, name="x")
            if x.shape.ndims is None:
                return tf.rank(x, name="ndims")
            return tf.convert_to_tensor(x.shape.ndims, dtype=tf.int32, name="ndims")

    def get_sample_ndims(self, x: Any, name: str = "get_sample_ndims") -> tf.Tensor:
        """How many axes of a tensor count samples."""
        with self._scope(name, x):
            ndims = self.get_ndims(x, name=name)
            if _known(ndims, *self._counts()):
                rank = tf.contrib.util.constant_value(ndims)
                samples = rank - self._batch_ndims_static - self._event_ndims_static
                if samples < 0:
                    raise ValueError(
                        f"expected batch_ndims({self._batch_ndims_static}) + "
                        f"event_ndims({self._event_ndims_static}) <= ndims({rank})"
                    )
                return tf.convert_to_tensor(samples, name="sample_ndims")
            with tf.name_scope("sample_ndims"):
                found = ndims - self._batch_ndims - self._event_ndims
                if self._validate_args:
                    with tf.control_dependencies([tf.assert_non_negative(found)]):
                        found = tf.identity(found)
                return found

    def _parts(self, x: Any) -> list[tuple[Sequence[Any], tf.Tensor, str]]:
        """Of samples, batch and event: how many axes are before, how many there are, and the name."""
        samples, (batch, event) = self.get_sample_ndims(x), self._counts()
        return [([], samples, "sample"), ([samples], batch, "batch"), ([samples, batch], event, "event")]

    def get_dims(self, x: Any, name: str = "get_dims") -> tuple[tf.Tensor, ...]:
        """The numbers of the axes of samples, of the batch and of the event."""
        with self._scope(name, x):
            return tuple(_axes(before, count, f"{part}_dims") for before, count, part in self._parts(x))

    def get_shape(self, x: Any, name: str = "get_shape") -> tuple[tf.Tensor, ...]:
        """The sizes of the axes of samples, of the batch and of the event."""
        with self._scope(name, x):
            x = tf.convert_to_tensor(x, name="x")
            return tuple(_sizes(x, before, count, f"{part}_shape") for before, count, part in self._parts(x))

    def make_batch_of_event_sample_matrices(
        self, x: Any, expand_batch_dim: bool = True, name: str = "make_batch_of_event_sample_matrices"
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """A tensor [batch, event, all samples], of size 1 where there is none, and the samples' shape."""
        with self._scope(name, x):
            x = tf.convert_to_tensor(x, name="x")
            sample_shape, batch_shape, event_shape = self.get_shape(x)
            event_shape = tools.pick_vector(self._event_ndims_is_0, [1], event_shape)
            if expand_batch_dim:
                batch_shape = tools.pick_vector(self._batch_ndims_is_0, [1], batch_shape)
            x = tf.reshape(x, tf.concat([[-1], batch_shape, event_shape], 0))
            return rotate_transpose(x, shift=-1), sample_shape

    def undo_make_batch_of_event_sample_matrices(
        self,
        x: Any,
        sample_shape: Any,
        expand_batch_dim: bool = True,
        name: str = "undo_make_batch_of_event_sample_matrices",
    ) -> tf.Tensor:
        """The tensor [samples, batch, event] that `make_batch_of_event_sample_matrices` was given."""
        with self._scope(name, x, sample_shape):
            x = tf.convert_to_tensor(x, name="x")
            sample_shape = tf.convert_to_tensor(sample_shape, name="sample_shape")
            x = rotate_transpose(x, shift=1)
            if _known(*self._counts()):
                added = [-1] * self._event_ndims_is_0 + [1] * (self._batch_ndims_is_0 and expand_batch_dim)
                x = tf.squeeze(x, axis=added) if added else x
                _, batch_shape, event_shape = self.get_shape(x)
            else:
                sizes = x.shape.as_list() if x.shape.is_fully_defined() else tf.shape(x)
                sizes = tf.convert_to_tensor(sizes)
                batch_shape = sizes[1 : 1 + self._batch_ndims]
                is_expanded = tf.logical_and(expand_batch_dim, self._batch_ndims_is_0)
                first = tf.where(is_expanded, 2, 1 + self._batch_ndims)
                event_shape = sizes[first : first + self._event_ndims]
            return tf.reshape(x, tf.concat([sample_shape, batch_shape, event_shape], 0))


def _axes(before: Sequence[tf.Tensor], count: tf.Tensor, name: str) -> tf.Tensor:
    if _known(count, *before):
        first = sum(int(tf.contrib.util.constant_value(each)) for each in before)
        last = first + int(tf.contrib.util.constant_value(count))
        return tf.convert_to_tensor(list(range(first, last)), dtype=tf.int32, name=name)
    first = sum(before, tf.zeros([], tf.int32, name="zero"))
    return tf.range(first, first + count)


def _sizes(x: tf.Tensor, before: Sequence[tf.Tensor], count: tf.Tensor, name: str) -> tf.Tensor:
    if x.shape.ndims is not None and _known(count, *before):
        first = sum(int(tf.contrib.util.constant_value(each)) for each in before)
        sizes = x.shape[first : first + int(tf.contrib.util.constant_value(count))]
        if sizes.is_fully_defined():
            return tf.convert_to_tensor(sizes.as_list(), dtype=tf.int32, name=name)
    return tf.slice(tf.shape(x), [sum(before, tf.zeros([], tf.int32, name="zero"))], [count])
