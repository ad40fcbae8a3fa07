"""tf.data.experimental: further sources and transformations; the latter are functions for `Dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.data import structure
from tideflow.data.dataset import Dataset, dataset_spec
from tideflow.data.functions import stateful, traced
from tideflow.data.numbers import number, seeds
from tideflow.data.padding import known_size
from tideflow.export import export, expose
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.graph.type_spec import SparseTensorSpec, TensorSpec
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.datasets import dataset_functions, datasets, file_datasets
from tideflow.ops.math import unary
from tideflow.ops.random import choices
from tideflow.runtime.dataset_threads import AUTOTUNE
from tideflow.runtime.datasets import INFINITE, UNKNOWN

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

Transformation = Callable[[Dataset], Dataset]

expose(AUTOTUNE, "data.experimental.AUTOTUNE", "contrib.data.AUTOTUNE")
expose(INFINITE, "data.experimental.INFINITE_CARDINALITY")
expose(UNKNOWN, "data.experimental.UNKNOWN_CARDINALITY")


# ------------------------------------------------------------------------------------------------- sources


@export("data.experimental.Counter", "contrib.data.Counter")
def Counter(start: int = 0, step: int = 1, dtype: DTypeLike = dtypes.int64) -> Dataset:
    """Makes an infinite dataset of numbers.

    Args:
      start: The first number.
      step: The difference from one number to the next.
      dtype: The type.

    Returns:
      The dataset.
    """
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype=dtype, name="start")
        width = convert_to_tensor(step, dtype=dtype, name="step")
        forever = Dataset.from_tensors(0).repeat(None)
        return forever.apply(scan(first, lambda state, _: (state + width, state)))


@export("data.experimental.RandomDataset", "contrib.data.RandomDataset")
class RandomDataset(Dataset):
    """An infinite dataset of random int64 numbers below 2**32.

    Args:
      seed: The seed.
    """

    def __init__(self, seed: int | None = None):
        spec = TensorSpec([], dtypes.int64)
        super().__init__(datasets.random_dataset_op(*seeds(seed), **structure.flat_attributes(spec)), spec)


# ------------------------------------------------------------------------------------------------- elements


@export("data.experimental.unbatch", "contrib.data.unbatch")
def unbatch() -> Transformation:
    """Makes a transformation that splits each element along its first axis.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.unbatch()


@export("data.experimental.enumerate_dataset", "contrib.data.enumerate_dataset")
def enumerate_dataset(start: TensorLike = 0) -> Transformation:
    """Makes a transformation that adds a number to each element.

    Args:
      start: The first number.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.enumerate(start)


@export("data.experimental.ignore_errors", "contrib.data.ignore_errors")
def ignore_errors() -> Transformation:
    """Makes a transformation that drops elements whose computation fails.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset._same(datasets.ignore_errors_dataset_op)


@export("data.experimental.unique", "contrib.data.unique")
def unique() -> Transformation:
    """Makes a transformation that drops repeated elements. Elements are single numbers or strings.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        if dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single component whose type is "
                "`tf.int32`, `tf.int64` or `tf.string`."
            )
        return dataset._same(datasets.unique_dataset_op)

    return apply


@export("data.experimental.shuffle_and_repeat", "contrib.data.shuffle_and_repeat")
def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: int | None = None
) -> Transformation:
    """Makes a transformation that shuffles and repeats a dataset. Consecutive epochs share the buffer.

    Args:
      buffer_size: The size of the buffer.
      count: How often; infinitely often if None or -1.
      seed: The seed of the order.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        size = number(buffer_size, "buffer_size")
        pair = seeds(seed)
        times = number(-1 if count is None else count, "count")
        return dataset._same(datasets.shuffle_and_repeat_dataset_op, size, *pair, times)

    return apply


@export("data.experimental.prefetch_to_device", "contrib.data.prefetch_to_device")
def prefetch_to_device(device: str, buffer_size: TensorLike | None = None) -> Transformation:
    """Makes a transformation that reads elements ahead. A step copies them to the device that needs them.

    Args:
      device: The device.
      buffer_size: The number of elements to read ahead; a suitable one if None.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset.prefetch(buffer_size)


@export("data.experimental.copy_to_device", "contrib.data.copy_to_device")
def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Makes a transformation that returns the elements unchanged.

    A step copies them to the device that needs them.

    Args:
      target_device: The device.
      source_device: The device of the dataset.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    return lambda dataset: dataset


@export("data.experimental.dense_to_sparse_batch", "contrib.data.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: TensorLike, row_shape: TensorLike) -> Transformation:
    """Makes a transformation that joins elements of different sizes into sparse tensors.

    Args:
      batch_size: The number of elements in a batch.
      row_shape: The shape of an element; an unknown size is the largest of the batch.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset.output_types, dtypes.DType):
            raise TypeError(
                "`dense_to_sparse_batch` requires an input whose elements are dense tensors, not "
                f"{dataset.output_types}."
            )
        shape = as_shape(row_shape)
        sizes = constants.constant([-1 if size is None else size for size in shape.as_list()], dtypes.int64)
        spec = SparseTensorSpec(TensorShape([None]).concatenate(shape), dataset.output_types)
        variant = datasets.dense_to_sparse_batch_dataset_op(
            dataset._variant_tensor, batch_size, sizes, **structure.flat_attributes(spec)
        )
        return Dataset(variant, spec, [dataset])

    return apply


# ------------------------------------------------------------------------------------------------- functions


@export(
    "data.experimental.map_and_batch",
    "data.experimental.map_and_batch_with_legacy_function",
    "contrib.data.map_and_batch",
)
def map_and_batch(
    map_func: Callable,
    batch_size: TensorLike,
    num_parallel_batches: int | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Transformation:
    """Makes a transformation that applies a function to elements and batches the results.

    Args:
      map_func: A function from an element's tensors to a structure of tensors.
      batch_size: The number of elements in a batch.
      num_parallel_batches: The number of batches to process at the same time.
      drop_remainder: Whether a last batch of fewer elements is dropped.
      num_parallel_calls: The number of elements to process at the same time. At most one of the two may be
        given.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.

    Raises:
      ValueError: If both numbers are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    if num_parallel_calls is None:
        num_parallel_calls = batch_size * (1 if num_parallel_batches is None else num_parallel_batches)

    def apply(dataset: Dataset) -> Dataset:
        function = traced(map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec)
        size, calls = number(batch_size, "batch_size"), number(num_parallel_calls, "num_parallel_calls")
        drop = number(drop_remainder, "drop_remainder", dtypes.bool)
        spec = structure.batched(function.returned, known_size(size, drop))
        op = dataset_functions.map_and_batch_dataset_op
        return dataset._with(op, function, spec, size, calls, drop, preserve_cardinality=True)

    return apply


@export("data.experimental.parallel_interleave", "contrib.data.parallel_interleave")
def parallel_interleave(
    map_func: Callable,
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: TensorLike = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Transformation:
    """Makes a transformation that interleaves datasets, each of which is read ahead by a thread.

    Args:
      map_func: A function from an element's tensors to a dataset.
      cycle_length: The number of datasets to read from at the same time.
      block_length: The number of consecutive elements from one dataset.
      sloppy: Whether the order may vary, for speed.
      buffer_output_elements: Has no effect.
      prefetch_input_elements: Has no effect.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        function = traced(map_func, "tf.data.experimental.parallel_interleave()", dataset.element_spec)
        spec = dataset_spec(function, "parallel_interleave")
        ahead = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        inputs = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        return dataset._with(
            dataset_functions.parallel_interleave_dataset_op,
            function,
            spec,
            number(cycle_length, "cycle_length"),
            number(block_length, "block_length"),
            number(sloppy, "sloppy", dtypes.bool),
            number(ahead, "buffer_output_elements"),
            number(inputs, "prefetch_input_elements"),
        )

    return apply


@export("data.experimental.scan", "contrib.data.scan")
def scan(initial_state: Any, scan_func: Callable) -> Transformation:
    """Makes a transformation that applies a function with a state to the elements.

    Args:
      initial_state: The state at the start: a structure of tensors.
      scan_func: A function `scan_func(state, element)` that returns the next state and an element.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.

    Raises:
      TypeError: If the function changes the structure or the types of the state.
    """

    def apply(dataset: Dataset) -> Dataset:
        state = structure.normalized(initial_state)
        spec = structure.spec_of(state)
        what = "tf.data.experimental.scan()"
        function, spec = stateful(scan_func, what, spec, dataset.element_spec, whole=False)
        returned = function.returned[1]
        variant = dataset_functions.scan_dataset_op(
            dataset._variant_tensor,
            structure.to_tensors(spec, state),
            function.captured,
            f=function.attr,
            preserve_cardinality=True,
            **structure.flat_attributes(returned),
        )
        return Dataset(variant, returned, [dataset])

    return apply


@export("data.experimental.take_while")
def take_while(predicate: Callable) -> Transformation:
    """Makes a transformation that ends the dataset at the first element for which a predicate is false.

    Args:
      predicate: A function from an element's tensors to a scalar bool.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        function = traced(predicate, "tf.data.experimental.take_while()", dataset.element_spec)
        found = function.returned
        if not isinstance(found, TensorSpec) or not found.is_compatible_with(TensorSpec([], dtypes.bool)):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        op = dataset_functions.take_while_dataset_op
        return dataset._with(op, function, dataset.element_spec, key="predicate")

    return apply


# ------------------------------------------------------------------------------------------------- choosing


@export("data.experimental.choose_from_datasets", "contrib.data.choose_from_datasets")
def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Makes a dataset that takes each element from one of several datasets, as another dataset says.

    Args:
      datasets: The datasets, of one structure.
      choice_dataset: A dataset of int64 scalars: the numbers of the datasets.

    Returns:
      The dataset.

    Raises:
      TypeError: If the structures differ, or the choices are not int64 scalars.
    """
    if choice_dataset.element_spec != TensorSpec([], dtypes.int64):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def _directed(selector: Dataset, given: Sequence[Dataset]) -> Dataset:
    first = given[0]
    for i, other in enumerate(given[1:]):
        if other.output_types != first.output_types or other.output_classes != first.output_classes:
            raise ValueError(
                f"All datasets must have the same type and class. dataset 0 ({first}) types: "
                f"{first.output_types}, dataset {i + 1} ({other}) types: {other.output_types}"
            )
    spec = first.element_spec
    for other in given[1:]:
        spec = structure.map_structure(
            lambda a, b: a.most_specific_compatible_type(b), spec, other.element_spec
        )
    variants = [dataset._variant_tensor for dataset in given]
    op = datasets.directed_interleave_dataset_op
    variant = op(selector._variant_tensor, variants, **structure.flat_attributes(spec))
    return Dataset(variant, spec, [selector, *given])


@export("data.experimental.sample_from_datasets", "contrib.data.sample_from_datasets")
def sample_from_datasets(
    datasets: Sequence[Dataset], weights: TensorLike | None = None, seed: int | None = None
) -> Dataset:
    """Makes a dataset that takes each element from one of several datasets at random.

    Args:
      datasets: The datasets, of one structure.
      weights: The probabilities of the datasets: a vector, or a dataset of vectors; equal if None.
      seed: The seed of the random numbers.

    Returns:
      The dataset.

    Raises:
      ValueError: If there are not as many weights as datasets.
    """
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *p: unary.log(p, name="logits"))
        pairs = Dataset.zip((logits, RandomDataset(seed).batch(2)))
        return _directed(pairs._map_in_place(_drawn), datasets)
    logits: Any = [[1.0] * len(datasets)]
    if weights is not None:
        chances = convert_to_tensor(weights, name="weights")
        if chances.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements."
            )
        if not chances.shape.is_compatible_with([len(datasets)]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = shapes.expand_dims(unary.log(chances, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    return _directed(RandomDataset(seed).batch(2).map(lambda pair: _drawn(logits, pair)), datasets)


def _drawn(logits: Any, pair: Tensor) -> Tensor:
    drawn = choices.stateless_multinomial_op(logits, 1, pair)
    return shapes.squeeze(drawn, axis=[0, 1])


# ------------------------------------------------------------------------------------------- out of datasets


@export("data.experimental.cardinality")
def cardinality(dataset: Dataset) -> Tensor:
    """Gets the number of elements of a dataset.

    Args:
      dataset: The dataset.

    Returns:
      A scalar int64 tensor: the number, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.
    """
    return datasets.cardinality_op(dataset._variant_tensor)


@export("data.experimental.get_single_element", "contrib.data.get_single_element")
def get_single_element(dataset: Dataset) -> Any:
    """Gets the only element of a dataset.

    Args:
      dataset: The dataset.

    Returns:
      The element: a structure of tensors. A step raises an InvalidArgumentError if there are more or fewer.

    Raises:
      TypeError: If the argument is not a dataset.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    flat = datasets.single_element_op(dataset._variant_tensor, **dataset._attributes)
    return structure.from_tensors(dataset.element_spec, flat)


@export("data.experimental.TFRecordWriter", "contrib.data.TFRecordWriter")
class TFRecordWriter:
    """Writes the elements of a dataset into a TFRecord file.

    Args:
      filename: The file.
      compression_type: "", `"ZLIB"` or `"GZIP"`; none if None.
    """

    def __init__(self, filename: TensorLike, compression_type: str | None = None):
        self._filename = number(filename, "filename", dtypes.string)
        self._compression = number(compression_type or "", "compression_type", dtypes.string)

    def write(self, dataset: Dataset) -> Operation:
        """Adds an operation that writes the file.

        Args:
          dataset: A dataset of scalar strings.

        Returns:
          The operation.

        Raises:
          TypeError: If the argument is not a dataset of scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        if dataset.output_types is not dtypes.string or not dataset.output_shapes.is_compatible_with([]):
            raise TypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{dataset.output_shapes} and types {dataset.output_types}"
            )
        return file_datasets.to_records_op(dataset._variant_tensor, self._filename, self._compression)
