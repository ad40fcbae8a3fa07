"""`keras.engine.data_adapter`: what a model is trained on, as datasets of batches."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest
from tideflow.graph.composite import is_composite


class DataAdapter:
    """One kind of data as a dataset.

    Args:
      x: The inputs.
      y: The true values.
      **kwargs: What other kinds take.
    """

    _dataset: Any = None
    _size: int | None = None
    _batch_size: int | None = None
    _partial: int | None = None

    def __init__(self, x: Any, y: Any = None, **kwargs: Any):
        if not self.can_handle(x, y):
            raise ValueError(f"{type(self)} Cannot handle input {x}, {y}")

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether data are of this kind."""
        raise NotImplementedError

    def get_dataset(self) -> Any:
        """The dataset."""
        return self._dataset

    def get_size(self) -> int | None:
        """The number of batches; None where it is not known."""
        return self._size

    def batch_size(self) -> int | None:
        """The size of a batch; None where it is not known."""
        return self._batch_size

    def has_partial_batch(self) -> bool:
        """Whether the last batch is smaller."""
        return self._partial is not None

    def partial_batch_size(self) -> int | None:
        """The size of that batch; None where there is none."""
        return self._partial

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """Whether each epoch begins the dataset anew."""
        return self.get_size() is not None or steps_per_epoch is None

    def _take_samples(self, count: int, batch_size: int | None, steps: int | None) -> None:
        size = batch_size or (math.ceil(count / steps) if steps else None)
        if not size:
            raise ValueError("`batch_size` or `steps` is required for `Tensor` or `NumPy` input data.")
        self._batch_size, self._size = size, math.ceil(count / size)
        self._partial = None if count % size == 0 else count % size


def _is_array(value: Any) -> bool:
    return isinstance(value, (tf.Tensor, np.ndarray))


def _all(x: Any, y: Any, fits: Callable[[Any], bool]) -> bool:
    return all(fits(leaf) for leaf in nest.flatten(x) + ([] if y is None else nest.flatten(y)))


def _inputs(x: Any, y: Any, sample_weights: Any) -> tuple[Any, ...]:
    x, y, sample_weights = map(_process_numpy_inputs, (x, y, sample_weights))
    if y is None:
        return (x,)
    if sample_weights is None:
        return x, y
    if any(weight is None for weight in sample_weights):
        rows = next(int(weight.shape[0]) for weight in sample_weights if weight is not None)
        sample_weights = tuple(tf.ones((rows,)) if w is None else w for w in sample_weights)
    return x, y, sample_weights


class TensorLikeDataAdapter(DataAdapter):
    """Arrays and tensors."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether all are arrays or tensors."""
        return _all(x, y, _is_array)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        steps: int | None = None,
        shuffle: Any = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        inputs = _inputs(x, y, sample_weights)
        count = int(nest.flatten(inputs)[0].shape[0])
        self._take_samples(count, batch_size, steps)

        def order() -> Iterator[np.ndarray]:
            for _ in range(epochs):
                rows = np.arange(count)
                if shuffle:
                    np.random.shuffle(rows)
                yield from (rows[i : i + self._batch_size] for i in range(0, count, self._batch_size or 1))

        rows = tf.data.Dataset.from_generator(order, tf.int64, [None])
        data = tf.data.Dataset.from_tensors(inputs).repeat()
        self._dataset = tf.data.Dataset.zip((data, rows)).map(self._taken)

    def _taken(self, data: Any, rows: Any) -> Any:
        fixed = None if self.has_partial_batch() else self._batch_size

        def take(leaf: Any) -> Any:
            found = tf.gather(leaf, rows)
            found.set_shape([fixed, *leaf.shape.as_list()[1:]])
            return found

        return nest.map_structure(take, data)

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """The dataset has all epochs."""
        return False


class CompositeTensorDataAdapter(DataAdapter):
    """Sparse and ragged tensors, maybe with arrays beside them."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether one is sparse or ragged, and the others are arrays or tensors."""
        if isinstance(x, tf.data.Dataset):
            return False
        leaves = nest.flatten(x) + ([] if y is None else nest.flatten(y))
        return any(map(is_composite, leaves)) and all(_is_array(v) or is_composite(v) for v in leaves)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: Any = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        inputs = _inputs(x, y, sample_weights)
        first = nest.flatten(x)[0]
        count = int(first.shape[0])
        self._take_samples(count, batch_size, steps)
        dataset = tf.data.Dataset.from_tensor_slices(inputs)
        self._dataset = (dataset.shuffle(count) if shuffle else dataset).batch(self._batch_size)


class ListsOfScalarsDataAdapter(TensorLikeDataAdapter):
    """Lists of numbers or texts, and lists of such lists."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether they are."""
        return ListsOfScalarsDataAdapter._is_list_of_scalars(x) and (
            y is None or ListsOfScalarsDataAdapter._is_list_of_scalars(y)
        )

    @staticmethod
    def _is_list_of_scalars(given: Any) -> bool:
        while isinstance(given, (list, tuple)) and given:
            given = given[0]
        return isinstance(given, (float, int, str))

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any):
        DataAdapter.__init__(self, x, y)
        arrays = [None if each is None else np.asarray(each) for each in (x, y, sample_weights)]
        self._inner = TensorLikeDataAdapter(*arrays, **kwargs)
        self.__dict__.update({key: value for key, value in vars(self._inner).items()})


class _WithoutLabels(DataAdapter):
    _what = ""

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any):
        super().__init__(x, y, **kwargs)
        for name, given in (("y", y), ("sample_weight", sample_weights)):
            if not is_none_or_empty(given):
                raise ValueError(f"`{name}` argument is not supported when using {self._what} as input.")


class DatasetAdapter(_WithoutLabels):
    """A dataset."""

    _what = "dataset"

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is one."""
        return isinstance(x, tf.data.Dataset)

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any):
        super().__init__(x, y, sample_weights, **kwargs)
        self._dataset = x


class GeneratorDataAdapter(_WithoutLabels):
    """A generator of batches."""

    _what = "python generator"

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is one."""
        return inspect.isgenerator(x)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ):
        super().__init__(x, y, sample_weights, **kwargs)
        first = next(x)
        self._take_batches(lambda: itertools.chain([first], x), first)

    def _take_batches(self, batches: Callable[[], Any], first: Any) -> None:
        dtypes = nest.map_structure(lambda leaf: leaf.dtype, first)
        shapes = nest.map_structure(lambda leaf: leaf.shape, first)
        self._batch_size = int(nest.flatten(first)[0].shape[0])
        self._dataset = tf.data.Dataset.from_generator(batches, dtypes, shapes)


class KerasSequenceAdapter(GeneratorDataAdapter):
    """A `tf.keras.utils.Sequence`."""

    _what = "`keras.utils.Sequence`"

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is one."""
        return isinstance(x, tf.keras.utils.Sequence)

    def __init__(
        self, x: Any, y: Any = None, sample_weights: Any = None, shuffle: bool = False, **kwargs: Any
    ):
        _WithoutLabels.__init__(self, x, y, sample_weights)

        def batches() -> Iterator[Any]:
            order = np.random.permutation(len(x)) if shuffle else range(len(x))
            return (x[int(i)] for i in order)

        self._take_batches(batches, x[0])
        self._size = len(x)

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """Each epoch begins anew."""
        return True


ALL_ADAPTER_CLS = [
    ListsOfScalarsDataAdapter,
    TensorLikeDataAdapter,
    DatasetAdapter,
    GeneratorDataAdapter,
    KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]


def select_data_adapter(x: Any, y: Any) -> type[DataAdapter]:
    """The adapter that takes data.

    Args:
      x: The inputs.
      y: The true values.

    Returns:
      Its class.

    Raises:
      ValueError: If there is none.
    """
    found = [adapter for adapter in ALL_ADAPTER_CLS if adapter.can_handle(x, y)]
    if not found:
        raise ValueError(
            f"Failed to find data adapter that can handle input: {_type_name(x)}, {_type_name(y)}"
        )
    return found[0]


def _type_name(x: Any) -> str:
    """The types that are in a structure, for an error."""
    if isinstance(x, dict):
        keys, values = ({_type_name(each) for each in part} for part in (x, x.values()))
        return f"({type(x)} containing {keys} keys and {values} values)"
    if isinstance(x, (list, tuple)):
        return f"({type(x)} containing values of types { ({_type_name(each) for each in x}) })"
    return str(type(x))


def _process_numpy_inputs(inputs: Any) -> Any:
    """Arrays as tensors, floating-point ones in Keras's type; lists as tuples."""
    if inputs is None:
        return None
    floatx = tf.keras.backend.floatx()

    def converted(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return tf.constant(leaf.astype(floatx) if leaf.dtype.kind == "f" else leaf)
        return leaf

    inputs = nest.map_structure(converted, tuple(inputs) if isinstance(inputs, list) else inputs)
    return inputs[0] if isinstance(inputs, tuple) and len(inputs) == 1 else inputs


def is_none_or_empty(inputs: Any) -> bool:
    """Whether nothing is given.

    Args:
      inputs: What is given.

    Returns:
      Whether it is None, or a structure of nothing.
    """
    return inputs is None or not nest.flatten(inputs)
