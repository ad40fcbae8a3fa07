"""`tf.contrib.data`: the older spellings of what stands in `tideflow.data`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.contrib.framework.tensors import with_shape
from tideflow.data import structure
from tideflow.data.dataset import Dataset
from tideflow.data.features import make_batched_features_dataset
from tideflow.data.grouping import Reducer
from tideflow.data.numbers import number
from tideflow.data.readers import TFRecordDataset
from tideflow.data.transformations import Transformation, parallel_interleave
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.datasets import datasets, file_datasets

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size: TensorLike) -> Transformation:
    """Makes a transformation that batches elements; a last batch that is smaller is dropped.

    Args:
      batch_size: The number of elements of a batch.

    Returns:
      A transformation for `Dataset.apply`.
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@export("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """Makes a transformation that batches and pads elements; a last batch that is smaller is dropped.

    Args:
      batch_size: The number of elements of a batch.
      padded_shapes: The shapes to pad to, as in `Dataset.padded_batch`.
      padding_values: The values to pad with; 0 or the empty string if None.

    Returns:
      A transformation for `Dataset.apply`.
    """
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


@export("contrib.data.sliding_window_batch")
def sliding_window_batch(
    window_size: TensorLike,
    stride: TensorLike | None = None,
    window_shift: TensorLike | None = None,
    window_stride: TensorLike = 1,
) -> Transformation:
    """Makes a transformation that batches overlapping windows; what does not fill one at the end is dropped.

    Args:
      window_size: The number of elements of a window.
      stride: A deprecated name of `window_shift`.
      window_shift: How far the next window begins; 1 if None.
      window_stride: The distance of neighbouring elements of a window.

    Returns:
      A transformation for `Dataset.apply`.

    Raises:
      ValueError: If both names of the shift are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = next((value for value in (window_shift, stride) if value is not None), 1)

    def apply(dataset: Dataset) -> Dataset:
        size = number(window_size, "window_stride")  # TensorFlow's own name for it
        step = number(window_stride, "window_stride")
        spec = structure.batched(dataset.element_spec, None)
        variant = datasets.sliding_window_dataset_op(
            dataset._variant_tensor,
            size,
            number(shift, "window_shift"),
            step,
            **structure.flat_attributes(spec),
        )
        return Dataset(variant, spec, [dataset])

    return apply


@export("contrib.data.sloppy_interleave")
def sloppy_interleave(
    map_func: Callable, cycle_length: TensorLike, block_length: TensorLike = 1
) -> Transformation:
    """Makes a transformation that interleaves several datasets, in the order in which elements are there.

    Args:
      map_func: A function from an element to a dataset.
      cycle_length: The number of datasets that are read at the same time.
      block_length: The number of elements that are taken from a dataset at a time.

    Returns:
      A transformation for `Dataset.apply`.
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


@export("contrib.data.reduce_dataset")
def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """Puts every element of a dataset into a reducer.

    Args:
      dataset: The dataset.
      reducer: The reducer, a `tf.data.experimental.Reducer`.

    Returns:
      What the reducer makes of its last state.

    Raises:
      TypeError: If `dataset` is not a dataset.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


@export("contrib.data.read_batch_features")
def read_batch_features(
    file_pattern: str | Sequence[str],
    batch_size: TensorLike,
    features: dict[str, Any],
    reader: Callable[..., Dataset] = TFRecordDataset,
    reader_args: Sequence[Any] | None = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> dict[str, Any]:
    """Reads batches of features from files of Examples, as the tensors of a one-shot iterator.

    Args:
      file_pattern: A file name pattern, or a list of them.
      batch_size: The number of examples of a batch.
      features: The features, as of `tf.io.parse_example`.
      reader: The class of the dataset that reads a file.
      reader_args: Further arguments of the reader.
      randomize_input: Whether files and examples are shuffled.
      num_epochs: How often the files are read; for ever if None.
      capacity: The size of the buffer that shuffles.

    Returns:
      A dictionary of tensors.
    """
    batches = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return batches.make_one_shot_iterator().get_next()


@export("contrib.data.LMDBDataset")
class LMDBDataset(Dataset):
    """The keys and values of LMDB databases.

    Args:
      filenames: The files of the databases, a scalar or a vector of strings.
    """

    def __init__(self, filenames: TensorLike):
        spec = (TensorSpec([], dtypes.string), TensorSpec([], dtypes.string))
        names = number(filenames, "filenames", dtypes.string)
        super().__init__(file_datasets.lmdb_dataset_op(names, **structure.flat_attributes(spec)), spec)


@export("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Makes a transformation that checks elements' shapes: they are known in the graph, and checked in each
    step.

    Args:
      expected_shapes: The shapes, in the structure of an element.

    Returns:
      A transformation for `Dataset.apply`.
    """

    def apply(dataset: Dataset) -> Dataset:
        expected = [TensorShape(shape) for shape in structure.up_to(dataset.element_spec, expected_shapes)]
        found = structure.flatten(dataset.output_shapes)
        merged = [shape.merge_with(wanted) for shape, wanted in zip(found, expected, strict=True)]

        def checked(*components: Any) -> Any:
            element = components[0] if len(components) == 1 else components
            flat = zip(expected, structure.flatten(element), strict=True)
            return structure.pack(
                element, [with_shape(shape, value) if shape.ndims else value for shape, value in flat]
            )

        made = dataset.map(checked)
        return Dataset(made._variant_tensor, _reshaped(dataset.element_spec, merged), [dataset])

    return apply


def _reshaped(spec: Any, known: Sequence[TensorShape]) -> Any:
    """The specs, with what is known of their shapes."""
    parts = zip(structure.flatten(spec), known, strict=True)
    return structure.pack(spec, [type(part)(shape, part.dtype) for part, shape in parts])
