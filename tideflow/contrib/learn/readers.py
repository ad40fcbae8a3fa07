"""Batches of Examples read from files through queues, and batches of rows of a generator."""

from __future__ import annotations

import types
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.contrib.input_pipeline import seek_next
from tideflow.estimator.inputs.feeding import dequeue_batch, filled_queue
from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.operation import Tensor
from tideflow.platform import gfile
from tideflow.platform.deprecation import deprecated
from tideflow.train.queue_runner import QueueRunner, add_queue_runner

_DATA = (None, "Use tf.data.")
_KEY = "__key__"


def _paths(pattern: str | Sequence[str], in_order: bool) -> list[str]:
    if isinstance(pattern, list) and not pattern:
        raise ValueError("No files given to dequeue_examples.")
    patterns = pattern if isinstance(pattern, list) else [pattern]
    found = [path for each in patterns for path in gfile.Glob(each)]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return sorted(found) if in_order else found


def _file_queue(
    paths: list[str], shuffle: bool, num_epochs: int | None, seed: int | None, shared: bool
) -> Any:
    with tf.name_scope("file_name_queue") as scope:
        if not shared:
            names = tf.constant(paths, name="input")
            return tf.train.string_input_producer(
                names, shuffle=shuffle, num_epochs=num_epochs, name=scope, seed=seed
            )
        queue = tf.FIFOQueue(capacity=1, dtypes=[tf.string], shapes=[[]])
        following = seek_next(paths, shuffle=shuffle, num_epochs=num_epochs, seed=seed)
        add_queue_runner(QueueRunner(queue, [queue.enqueue(following)]))
        return queue


def _read_keyed(
    file_pattern: str | Sequence[str],
    batch_size: Any,
    reader: Callable,
    randomize_input: bool,
    num_epochs: int | None,
    queue_capacity: int,
    num_threads: int,
    read_batch_size: int,
    parse_fn: Callable | None,
    name: str | None,
    seed: int | None,
    shared: bool = False,
) -> tuple[Any, Any]:
    paths = _paths(file_pattern, in_order=not randomize_input)
    is_open = isinstance(batch_size, Tensor)
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (not is_open and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size is None or read_batch_size <= 0:
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        files = _file_queue(paths, randomize_input, num_epochs, seed, shared)
        many = read_batch_size > 1
        examples = []
        with tf.name_scope("read"):
            for _ in range(num_threads):
                keys, read = reader().read_up_to(files, read_batch_size) if many else reader().read(files)
                parsed = parse_fn(read) if parse_fn else read
                examples.append({**parsed, _KEY: keys} if isinstance(parsed, dict) else (keys, parsed))
        shared_arguments: dict[str, Any] = dict(
            capacity=queue_capacity,
            enqueue_many=many,
            name=scope,
            allow_smaller_final_batch=num_epochs is not None,
        )
        if randomize_input:
            least = int(queue_capacity * 0.4) if is_open else max(queue_capacity - 3 * batch_size, batch_size)
            batch = tf.train.shuffle_batch_join(
                examples, batch_size, min_after_dequeue=least, seed=seed, **shared_arguments
            )
        else:
            batch = tf.train.batch_join(examples, batch_size, **shared_arguments)
        if isinstance(batch, dict):
            return batch.pop(_KEY), batch
        return batch


@export("contrib.learn.read_batch_examples", "contrib.learn.io.read_batch_examples")
@deprecated(*_DATA)
def read_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Reads batches of serialized Examples from files.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue.
      num_threads: How many readers there are.
      read_batch_size: The number of Examples that are read at once.
      parse_fn: A function of what is read that returns what the batches are made of.
      name: A name for the operations.
      seed: The seed of the order.

    Returns:
      The batch.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    _, examples = _read_keyed(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )
    return examples


@export("contrib.learn.read_keyed_batch_examples", "contrib.learn.io.read_keyed_batch_examples")
@deprecated(*_DATA)
def read_keyed_batch_examples(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Any]:
    """Reads batches of serialized Examples from files, with their keys.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue.
      num_threads: How many readers there are.
      read_batch_size: The number of Examples that are read at once.
      parse_fn: A function of what is read that returns what the batches are made of.
      name: A name for the operations.
      seed: The seed of the order.

    Returns:
      The keys of the Examples, and the batch.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    return _read_keyed(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )


@export(
    "contrib.learn.read_keyed_batch_examples_shared_queue",
    "contrib.learn.io.read_keyed_batch_examples_shared_queue",
)
@deprecated(*_DATA)
def read_keyed_batch_examples_shared_queue(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Any]:
    """Reads batches of serialized Examples from files that the workers of a cluster share among them.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue.
      num_threads: How many readers there are.
      read_batch_size: The number of Examples that are read at once.
      parse_fn: A function of what is read that returns what the batches are made of.
      name: A name for the operations.
      seed: The seed of the order.

    Returns:
      The keys of the Examples, and the batch.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    return _read_keyed(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
        shared=True,
    )


@export("contrib.learn.io.queue_parsed_features")
@deprecated(*_DATA)
def queue_parsed_features(
    parsed_features: Mapping[str, Any],
    keys: Tensor | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Tensor | None, dict[str, Any]]:
    """Puts parsed features into a queue, so that threads parse ahead.

    Args:
      parsed_features: The features by name: tensors, or SparseTensors.
      keys: The keys of the Examples.
      feature_queue_capacity: The size of the queue, in batches.
      num_enqueue_threads: How many threads fill it.
      name: A name for the operations.

    Returns:
      The keys or None, and the features by name.
    """
    with tf.name_scope(name, "queue_parsed_features", [*parsed_features.values(), keys]):
        flat: list[Any] = []
        for _, value in sorted(parsed_features.items()):
            if isinstance(value, SparseTensor):
                flat.extend([value.indices, value.values, value.dense_shape])
            else:
                flat.append(value)
        if keys is not None:
            flat.append(keys)
        queue = tf.FIFOQueue(feature_queue_capacity, [each.dtype for each in flat])
        fullness = tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity)
        title = f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full"
        tf.summary.scalar(title, fullness)
        enqueues = [queue.enqueue(flat) for _ in range(num_enqueue_threads)]
        ends = (errors.OutOfRangeError, errors.CancelledError)
        add_queue_runner(QueueRunner(queue, enqueues, queue_closed_exception_types=ends))
        taken = queue.dequeue()
        taken = taken if isinstance(taken, list) else [taken]
        for each, like in zip(taken, flat, strict=True):
            each.set_shape(like.get_shape())
        following = iter(taken)
        features = {
            key: SparseTensor(*(next(following) for _ in range(3)))
            if isinstance(value, SparseTensor)
            else next(following)
            for key, value in sorted(parsed_features.items())
        }
        return (None if keys is None else next(following)), features


@export("contrib.learn.read_keyed_batch_features", "contrib.learn.io.read_keyed_batch_features")
@deprecated(*_DATA)
def read_keyed_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Tensor | None, dict[str, Any]]:
    """Reads batches of features from files of Examples, with the keys of the Examples.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      features: How each feature stands in an Example, as for `tf.parse_example`.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue of Examples.
      reader_num_threads: How many readers there are.
      feature_queue_capacity: The size of the queue of features, in batches.
      num_enqueue_threads: How many threads parse.
      parse_fn: A function of what is read that returns the serialized Examples.
      name: A name for the operations.
      read_batch_size: The number of Examples that are read at once; a batch if None.

    Returns:
      The keys, and the features by name.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, scope)


@export(
    "contrib.learn.read_keyed_batch_features_shared_queue",
    "contrib.learn.io.read_keyed_batch_features_shared_queue",
)
@deprecated(*_DATA)
def read_keyed_batch_features_shared_queue(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: Callable | None = None,
    name: str | None = None,
) -> tuple[Tensor | None, dict[str, Any]]:
    """Reads batches of features from files of Examples that the workers of a cluster share among them.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      features: How each feature stands in an Example, as for `tf.parse_example`.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue of Examples.
      reader_num_threads: How many readers there are.
      feature_queue_capacity: The size of the queue of features, in batches.
      num_queue_runners: How many threads parse.
      parse_fn: A function of what is read that returns the serialized Examples.
      name: A name for the operations.

    Returns:
      The keys, and the features by name.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size,
            parse_fn,
            scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_queue_runners, scope)


@export("contrib.learn.read_batch_features", "contrib.learn.io.read_batch_features")
@deprecated(*_DATA)
def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    reader: Callable,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """Reads batches of features from files of Examples.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      features: How each feature stands in an Example, as for `tf.parse_example`.
      reader: A function that makes a reader, `tf.TFRecordReader` for one.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue of Examples.
      feature_queue_capacity: The size of the queue of features, in batches.
      reader_num_threads: How many readers there are.
      num_enqueue_threads: How many threads parse.
      parse_fn: A function of what is read that returns the serialized Examples.
      name: A name for the operations.
      read_batch_size: The number of Examples that are read at once; a batch if None.

    Returns:
      The features by name.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    _, found = read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )
    return found


@export("contrib.learn.read_batch_record_features", "contrib.learn.io.read_batch_record_features")
@deprecated(*_DATA)
def read_batch_record_features(
    file_pattern: str | Sequence[str],
    batch_size: int | Tensor,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """Reads batches of features from TFRecord files of Examples.

    Args:
      file_pattern: A pattern of paths, or a list of patterns.
      batch_size: The number of Examples in a batch.
      features: How each feature stands in an Example, as for `tf.parse_example`.
      randomize_input: Whether files and Examples come in random order.
      num_epochs: How often the files are read; without end if None.
      queue_capacity: The size of the queue of Examples.
      reader_num_threads: How many readers there are.
      name: A name for the operations.

    Returns:
      The features by name.

    Raises:
      ValueError: If no file matches, or a number is out of range.
    """
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        tf.TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


# ------------------------------------------------------------------------------------------------- generators


class _GeneratedBatches:
    """The feeds of rows that a generator gives, epoch after epoch; an error at the end of the last one."""

    def __init__(
        self,
        placeholders: Sequence[Any],
        generator: Callable[[], Iterator[dict[str, Any]]],
        keys: list[str],
        batch_size: int,
        num_epochs: int | None,
        pad_value: Any,
    ):
        self._placeholders, self._generator, self._keys = placeholders, generator, keys
        self._rows = max(1, -(-batch_size // len(keys)))  # TensorFlow counts the values of a row one by one
        self._num_epochs, self._pad_value = num_epochs, pad_value
        self._iterator, self._epoch = generator(), 0

    def _next_row(self) -> dict[str, Any]:
        try:
            return next(self._iterator)
        except StopIteration:
            self._epoch += 1
            self._iterator = self._generator()
            return next(self._iterator)

    def __call__(self) -> dict[Any, Any]:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        rows = [self._next_row() for _ in range(self._rows)]
        for row in rows:
            if any(key not in row for key in self._keys):
                raise KeyError(
                    "key mismatch between dicts emitted by GenFun "
                    f"Expected {self._keys} keys; got {row.keys()}"
                )
        columns = ([row[key] for row in rows] for key in self._keys)
        return {
            placeholder: np.asarray(column if self._pad_value is None else _padded(column, self._pad_value))
            for placeholder, column in zip(self._placeholders, columns, strict=True)
        }


def _padded(column: list[Any], value: Any) -> list[np.ndarray]:
    """Arrays of one shape, filled up with a value."""
    arrays = [np.asarray(item) for item in column]
    if len({array.shape for array in arrays}) == 1:
        return arrays
    shape = np.max([array.shape for array in arrays], axis=0)
    return [
        np.pad(
            array,
            [(0, wanted - size) for wanted, size in zip(shape, array.shape, strict=True)],
            constant_values=value,
        )
        for array in arrays
    ]


@export("contrib.learn.io.generator_input_fn")
@deprecated(None, "Please use tf.data.")
def generator_input_fn(
    x: Callable[[], Iterator[dict[str, Any]]],
    target_key: str | Container[str] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """Makes an input function of a generator.

    Args:
      x: A generator function that yields dictionaries: the values of an example by name.
      target_key: The name of the label, or the names of several.
      batch_size: The number of examples in a batch.
      num_epochs: How often the generator is called; without end if None.
      shuffle: Whether examples come in random order.
      queue_capacity: The size of the queue.
      num_threads: How many threads read.
      pad_value: What smaller arrays are filled up with, where those of a batch differ in size.

    Returns:
      The input function.

    Raises:
      TypeError: If `x` is no generator function of dictionaries, or a name is none.
      KeyError: If there is no value of a name.
    """
    if not isinstance(x, types.FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, types.GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    first = next(generator)
    if not isinstance(first, dict):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    keys = sorted(first)
    targets = _target_keys(target_key, keys)

    def input_fn() -> Any:
        values = [np.asarray(first[key]) for key in keys]
        queue = filled_queue(
            lambda placeholders: _GeneratedBatches(placeholders, x, keys, batch_size, num_epochs, pad_value),
            [tf.as_dtype(value.dtype) for value in values],
            [value.shape if pad_value is None else [None] * value.ndim for value in values],
            queue_capacity,
            shuffle,
            num_threads,
        )
        batch = dequeue_batch(queue, batch_size, num_epochs)
        features = dict(zip(keys, batch if isinstance(batch, list) else [batch], strict=True))
        if targets is None:
            return features
        taken = {key: features.pop(key) for key in targets}
        return features, taken if len(taken) > 1 else next(iter(taken.values()))

    return input_fn


def _target_keys(given: Any, keys: list[str]) -> list[str] | None:
    if given is None or isinstance(given, str):
        return None if given is None else [given]
    if not isinstance(given, Container):
        raise TypeError(f"target_key must be str or Container of str; got {type(given).__name__}")
    for item in given:
        if not isinstance(item, str):
            raise TypeError(f"target_key must be str or Container of str; got {type(item).__name__}")
        if item not in keys:
            raise KeyError(f"target_key not in yielded dict. Expected {keys} keys; got {item}")
    return list(given)
