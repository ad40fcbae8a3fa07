"""Feeders: arrays, tables and iterators as placeholders, and as what is fed to them in each step."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.learn.frames import (
    extract_dask_data,
    extract_dask_labels,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    is_dask,
)
from tideflow.export import export
from tideflow.graph.operation import Tensor
from tideflow.platform import logging
from tideflow.platform.deprecation import deprecated

_TRANSFORM = "Please use tensorflow/transform or tf.data."


def _mapped(function: Callable, *structures: Any) -> Any:
    """A function of arrays, or of those of one name in dictionaries."""
    if isinstance(structures[0], dict):
        return {key: function(*(each[key] for each in structures)) for key in structures[0]}
    return function(*structures)


def _first(structure: Any) -> Any:
    return next(iter(structure.values())) if isinstance(structure, dict) else structure


def _class_counts(n_classes: Any, labels: Any) -> Any:
    """The number of classes for each of the labels; None where they are numbers as they stand."""
    if not isinstance(labels, dict):
        return n_classes
    assert n_classes is None or isinstance(n_classes, dict)
    return {key: (n_classes or {}).get(key) for key in labels}


def _label_shape(shape: Any, classes: int | None, batch_size: int) -> list[int]:
    inner = list(shape[1:])
    if inner and inner[0] == 1:
        inner = inner[1:]
    return [batch_size, *inner, classes] if classes is not None and classes > 1 else [batch_size, *inner]


def _checked_dtype(dtype: Any) -> Any:
    if tf.as_dtype(dtype) == tf.float64:
        logging.warn("float64 is not supported by many models, consider casting to float32.")
    return dtype


def _checked_batch_size(batch_size: int | None, otherwise: int) -> int:
    if batch_size is None:
        return otherwise
    if batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    return batch_size


def _put_label(target: np.ndarray, row: int, value: Any, classes: int | None) -> None:
    """Writes a label into its row: as it stands, or as ones at the places of its classes."""
    if classes is None or classes <= 1:
        target[row] = np.reshape(value, target.shape[1:])
    elif target.ndim == 2:
        target[row, int(value)] = 1.0
    else:
        for place, number in enumerate(value):
            target[row, place, int(number)] = 1.0


class _Placeholders:
    """The placeholders of a feeder, made when its model is."""

    input_shape: Any
    output_shape: Any
    _input_dtype: Any
    _output_dtype: Any
    _batch_size: int
    _input_placeholder: Any = None
    _output_placeholder: Any = None

    @property
    def input_dtype(self) -> Any:
        """The type of the features."""
        return self._input_dtype

    @property
    def output_dtype(self) -> Any:
        """The type of the labels."""
        return self._output_dtype

    @property
    def batch_size(self) -> int:
        """The number of examples in a step."""
        return self._batch_size

    def input_builder(self) -> tuple[Any, Any]:
        """Makes the placeholders of features and labels."""
        made = []
        for name, shape, dtype in (
            ("input", self.input_shape, self._input_dtype),
            ("output", self.output_shape, self._output_dtype),
        ):
            if isinstance(shape, dict):
                made.append({key: _placeholder(f"{name}_{key}", shape[key], dtype[key]) for key in shape})
            else:
                made.append(None if shape is None else _placeholder(name, shape, dtype))
        self._input_placeholder, self._output_placeholder = made
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Takes placeholders that are there already."""
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Where the feeder stands."""
        return {"batch_size": self._batch_size}

    def _feeds(self, features: Any, labels: Any) -> dict[str, Any]:
        feeds: dict[str, Any] = {}
        for placeholder, values in ((self._input_placeholder, features), (self._output_placeholder, labels)):
            if placeholder is not None:
                _mapped(lambda one, value: feeds.__setitem__(one.name, value), placeholder, values)
        return feeds


def _placeholder(name: str, shape: list[int], dtype: Any) -> Tensor:
    return tf.placeholder(tf.as_dtype(dtype), [None, *shape[1:]], name=name)


class DataFeeder(_Placeholders):
    """Feeds rows of arrays, in order or shuffled, epoch after epoch."""

    @deprecated(None, _TRANSFORM)
    def __init__(
        self,
        x: Any,
        y: Any,
        n_classes: Any,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: np.random.RandomState | None = None,
        epochs: int | None = None,
    ):
        y = np.array(y) if isinstance(y, list) else y
        if y is not None and n_classes is not None and not isinstance(y, dict):
            y = np.asarray(y, np.int64 if n_classes > 1 else np.float32)
        self._x, self._y = x, y
        self.n_classes = n_classes
        self.max_epochs = epochs
        self._classes = None if y is None else _class_counts(n_classes, y)
        rows = self._rows = _first(x).shape[0]
        size = self._batch_size = _checked_batch_size(batch_size, rows)
        self.input_shape = _mapped(lambda one: [size, *(one.shape[1:] or [1])], x)
        self.output_shape = None
        self._input_dtype = _mapped(lambda one: _checked_dtype(one.dtype), x)
        self._output_dtype: Any = np.float32
        if y is not None:
            if isinstance(y, dict):
                self.output_shape = {key: _label_shape(y[key].shape, self._classes[key], size) for key in y}
                self._output_dtype = {
                    key: np.float32 if self._classes[key] is not None else _checked_dtype(y[key].dtype)
                    for key in y
                }
            else:
                self.output_shape = _label_shape(y.shape, n_classes, size)
                self._output_dtype = _checked_dtype(y.dtype)
        self._shuffle = shuffle
        self.random_state = np.random.RandomState(42) if random_state is None else random_state
        self.indices = self._order()
        self.offset = self.epoch = 0
        self._epoch_placeholder: Tensor | None = None

    @property
    def x(self) -> Any:
        """The features."""
        return self._x

    @property
    def y(self) -> Any:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether rows come in random order."""
        return self._shuffle

    def make_epoch_variable(self) -> Tensor:
        """Makes a placeholder for the number of the epoch."""
        self._epoch_placeholder = tf.placeholder(tf.int32, [1], name="epoch")
        return self._epoch_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Where the feeder stands."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def _order(self) -> np.ndarray:
        return self.random_state.permutation(self._rows) if self._shuffle else np.arange(self._rows)

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """Makes the function that returns the feeds of the next step; StopIteration after the last one."""

        def feed_dict_fn() -> dict[str, Any]:
            if self.max_epochs is not None and self.epoch >= self.max_epochs:
                raise StopIteration
            assert self._input_placeholder is not None
            feeds: dict[str, Any] = {}
            if self._epoch_placeholder is not None:
                feeds[self._epoch_placeholder.name] = [self.epoch]
            chosen = self.indices[self.offset : self.offset + self._batch_size]
            self.offset += self._batch_size
            if self.offset >= self._rows:
                self.indices, self.offset, self.epoch = self._order(), 0, self.epoch + 1
            features = _mapped(lambda one: _rows(one, chosen), self._x)
            labels = None
            if self._output_placeholder is not None:
                classes = self._classes
                if not isinstance(self._y, dict):
                    labels = _labels(self._y, self.output_shape, self._output_dtype, classes, chosen)
                else:
                    labels = _mapped(
                        lambda *each: _labels(*each, chosen),
                        self._y,
                        self.output_shape,
                        self._output_dtype,
                        classes,
                    )
            return {**feeds, **self._feeds(features, labels)}

        return feed_dict_fn


def _at(data: Any, place: Any) -> Any:
    return data.iloc[place] if hasattr(data, "iloc") else data[place]


def _rows(data: Any, chosen: np.ndarray) -> Any:
    found = _at(data, chosen)
    return np.array(found).reshape(len(chosen), 1) if len(data.shape) == 1 else found


def _labels(data: Any, shape: list[int], dtype: Any, classes: int | None, chosen: np.ndarray) -> np.ndarray:
    labels = np.zeros([len(chosen), *shape[1:]], dtype)
    for row, place in enumerate(chosen):
        _put_label(labels, row, _at(data, place), classes)
    return labels


class StreamingDataFeeder(_Placeholders):
    """Feeds what iterators give, one example after the other, until they end."""

    def __init__(self, x: Iterator[Any], y: Iterator[Any] | None, n_classes: Any, batch_size: int | None):
        first, label = next(x), None if y is None else next(y)
        self._x = itertools.chain([first], x)
        self._y = None if y is None else itertools.chain([label], y)
        self.n_classes = n_classes
        self._classes = _class_counts(n_classes, label)
        size = self._batch_size = _checked_batch_size(batch_size, 1)
        self.input_shape = _mapped(lambda one: [size, *(one.shape or [1])], first)
        self._input_dtype = _mapped(lambda one: _checked_dtype(one.dtype), first)
        self.output_shape = self._output_dtype = None
        if isinstance(label, dict):
            self.output_shape = {
                key: _label_shape([1, *label[key].shape], self._classes[key], size) for key in label
            }
            self._output_dtype = {key: _label_dtype(label[key]) for key in label}
        elif label is not None:
            inner = label[0].shape if isinstance(label, list) else label.shape
            self.output_shape = _label_shape([1, *inner], n_classes, size)
            self._output_dtype = np.float32 if n_classes else _label_dtype(label)

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """Makes the function that returns the feeds of the next step; StopIteration after the last one."""

        def feed_dict_fn() -> dict[str, Any]:
            features = list(itertools.islice(self._x, self._batch_size))
            if not features:
                raise StopIteration
            rows = len(features)
            inputs = _mapped(lambda shape, dtype: np.zeros([rows, *shape[1:]], dtype),
                             self.input_shape, self._input_dtype)  # fmt: skip
            for row, example in enumerate(features):
                _mapped(lambda target, value, row=row: target.__setitem__(row, value), inputs, example)
            labels = None
            if self._y is not None:
                labels = _mapped(lambda shape, dtype: np.zeros([rows, *shape[1:]], dtype),
                                 self.output_shape, self._output_dtype)  # fmt: skip
                for row in range(rows):
                    self._put(labels, row, next(self._y))
            return self._feeds(inputs, labels)

        return feed_dict_fn

    def _put(self, labels: Any, row: int, value: Any) -> None:
        if isinstance(labels, dict):
            for key, target in labels.items():
                _put_label(target, row, value[key], self._classes[key])
        else:
            _put_label(labels, row, value, self._classes)


def _label_dtype(label: Any) -> Any:
    if isinstance(label, list):
        return _label_dtype(label[0])
    return label.dtype if isinstance(label, np.ndarray) else _checked_dtype(np.dtype(type(label)))


def _streams(x: Any) -> bool:
    return hasattr(x, "__next__")


@deprecated(None, _TRANSFORM)
def setup_train_data_feeder(
    x: Any,
    y: Any,
    n_classes: Any,
    batch_size: int | None = None,
    shuffle: bool = True,
    epochs: int | None = None,
) -> Any:
    """Makes the feeder that suits features and labels: arrays, tables or iterators."""
    x = extract_pandas_data(extract_dask_data(x))
    if y is not None:
        y = extract_pandas_labels(extract_dask_labels(y))
    if _streams(x):
        if y is not None and not _streams(y):
            raise ValueError("Both x and y should be iterators for streaming learning to work.")
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    x, y = (table.compute().values if is_dask(table) else table for table in (x, y))
    return DataFeeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)


@deprecated(None, _TRANSFORM)
def setup_predict_data_feeder(x: Any, batch_size: int | None = None) -> Any:
    """Divides features into batches."""
    x = extract_pandas_data(extract_dask_data(x))
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    if _streams(x):
        return _batches(x, batch_size)
    x = np.reshape(x, (-1, 1)) if len(x.shape) == 1 else x
    size = batch_size or len(x)
    return [x[number * size : (number + 1) * size] for number in range(math.ceil(len(x) / size))]


def _batches(x: Iterator[Any], batch_size: int | None) -> Iterator[Any]:
    while chunk := list(itertools.islice(x, batch_size)):
        if isinstance(chunk[0], dict):
            yield {key: np.array([row[key] for row in chunk]) for key in chunk[0]}
        else:
            yield np.array(chunk)


@export("contrib.learn.preprocessing.setup_processor_data_feeder")
@deprecated(None, _TRANSFORM)
def setup_processor_data_feeder(x: Any) -> Any:
    """Makes something to iterate over, for the processors of `tf.contrib.learn.preprocessing`.

    Args:
      x: A `pandas.DataFrame`, or anything that can be iterated over.

    Returns:
      The rows of the table, or what was given.
    """
    return extract_pandas_matrix(x)
