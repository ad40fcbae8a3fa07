"""Elements in groups, by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.data import structure
from tideflow.data.dataset import Dataset, dataset_spec
from tideflow.data.functions import stateful, traced
from tideflow.data.transformations import Transformation
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import TensorSpec
from tideflow.ops.arrays import constants, indexing
from tideflow.ops.datasets import dataset_functions
from tideflow.ops.math import binary, checks, reductions

_KEY = TensorSpec([], dtypes.int64)


def _key_function(key_func: Callable, dataset: Dataset, what: str) -> Any:
    """The function of the key, which must be a single int64."""

    def key(*args: Any) -> Tensor:
        return convert_to_tensor(key_func(*args), dtype=dtypes.int64)

    function = traced(key, what, dataset.element_spec)
    if not function.returned.is_compatible_with(_KEY):
        raise ValueError(f"`key_func` must return a single tf.int64 tensor. Got {function.returned}.")
    return function


@export("data.experimental.group_by_window", "contrib.data.group_by_window")
def group_by_window(
    key_func: Callable,
    reduce_func: Callable,
    window_size: int | None = None,
    window_size_func: Callable | None = None,
) -> Transformation:
    """Makes a transformation that groups elements by key and reduces each full group.

    Args:
      key_func: A function from an element's tensors to an int64 scalar.
      reduce_func: A function from the key and a dataset of the group to a dataset, whose elements follow.
      window_size: The number of elements in a group.
      window_size_func: A function from the key to that number. Exactly one of the two must be given.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.

    Raises:
      ValueError: If both or none of the sizes are given.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_of = window_size_func or (lambda _: convert_to_tensor(window_size, dtype=dtypes.int64))
    what = "tf.data.experimental.group_by_window()"

    def apply(dataset: Dataset) -> Dataset:
        key = _key_function(key_func, dataset, what)
        size = traced(lambda k: convert_to_tensor(size_of(k), dtype=dtypes.int64), what, _KEY)
        reduce = traced(reduce_func, what, _KEY, dataset._type_spec)
        try:
            spec = dataset_spec(reduce, "group_by_window")
        except TypeError:
            raise TypeError("`reduce_func` must return a `Dataset` object.") from None
        variant = dataset_functions.group_by_window_dataset_op(
            dataset._variant_tensor,
            key.captured,
            reduce.captured,
            size.captured,
            key_func=key.attr,
            reduce_func=reduce.attr,
            window_size_func=size.attr,
            **structure.flat_attributes(spec),
        )
        return Dataset(variant, spec, [dataset])

    return apply


@export("data.experimental.Reducer", "contrib.data.Reducer")
class Reducer:
    """A reduction of the elements of a group.

    Args:
      init_func: A function from the key to the initial state.
      reduce_func: A function from the state and an element to the next state.
      finalize_func: A function from the final state to the result.
    """

    def __init__(self, init_func: Callable, reduce_func: Callable, finalize_func: Callable):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable:
        """The function from the key to the initial state."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable:
        """The function from the state and an element to the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable:
        """The function from the final state to the result."""
        return self._finalize_func


@export("data.experimental.group_by_reducer", "contrib.data.group_by_reducer")
def group_by_reducer(key_func: Callable, reducer: Reducer) -> Transformation:
    """Makes a transformation that reduces all elements of each key to one.

    Args:
      key_func: A function from an element's tensors to an int64 scalar.
      reducer: The reduction.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.
    """
    what = "tf.data.experimental.group_by_reducer()"

    def apply(dataset: Dataset) -> Dataset:
        key = _key_function(key_func, dataset, what)
        init = traced(reducer.init_func, what, _KEY)
        step, state = stateful(reducer.reduce_func, what, init.returned, dataset.element_spec, whole=True)
        finalize = traced(reducer.finalize_func, what, state)
        variant = dataset_functions.experimental_group_by_reducer_dataset_op(
            dataset._variant_tensor,
            key.captured,
            init.captured,
            step.captured,
            finalize.captured,
            key_func=key.attr,
            init_func=init.attr,
            reduce_func=step.attr,
            finalize_func=finalize.attr,
            **structure.flat_attributes(finalize.returned),
        )
        return Dataset(variant, finalize.returned, [dataset])

    return apply


@export("data.experimental.bucket_by_sequence_length", "contrib.data.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable,
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Makes a transformation that batches elements of similar lengths.

    Args:
      element_length_func: A function from an element's tensors to its length, an int32 scalar.
      bucket_boundaries: The upper ends of the buckets, ascending, which are not included.
      bucket_batch_sizes: The batch size of each bucket: one more than there are boundaries.
      padded_shapes: The shapes to pad to, as in `Dataset.padded_batch`.
      padding_values: The values to pad with.
      pad_to_bucket_boundary: Whether elements are padded to the end of their bucket instead of the longest in
        the batch.
      no_padding: Whether elements are not padded; then those of a bucket must have one size.
      drop_remainder: Whether a last batch of fewer elements is dropped.

    Returns:
      A function from dataset to dataset, for `Dataset.apply`.

    Raises:
      ValueError: If there are not as many batch sizes as buckets.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    with name_scope("bucket_by_seq_length"):
        sizes = constants.constant(list(bucket_batch_sizes), dtype=dtypes.int64)

    def bucket(*args: Any) -> Tensor:
        length = convert_to_tensor(element_length_func(*args))
        lows = np.array([np.iinfo(np.int32).min, *bucket_boundaries], np.int32)
        highs = np.array([*bucket_boundaries, np.iinfo(np.int32).max], np.int32)
        inside = binary.logical_and(binary.less_equal(lows, length), binary.less(length, highs))
        return reductions.reduce_min(indexing.where(inside))

    def batched(key: Tensor, group: Dataset) -> Dataset:
        size = sizes[key]
        if no_padding:
            return group.batch(size, drop_remainder=drop_remainder)
        bound = None
        if pad_to_bucket_boundary:
            message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
            last = constants.constant(len(bucket_boundaries) - 1, dtype=dtypes.int64)
            check = checks.assert_less_equal(key, last, message=message)
            with control_dependencies([check]):
                bounds = constants.constant(list(bucket_boundaries), dtype=dtypes.int64)
                bound = bounds[key] - 1
        wanted = group.output_shapes if padded_shapes is None else padded_shapes
        shapes = structure.pack(
            group.element_spec, [_filled(s, bound) for s in structure.up_to(group.element_spec, wanted)]
        )
        return group.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    return group_by_window(bucket, batched, window_size_func=lambda key: sizes[key])


def _filled(shape: Any, bound: Tensor | None) -> Any:
    """A padded shape, with the bucket's bound for what is not known."""
    shape = TensorShape(shape)
    if bound is None or shape.is_fully_defined():
        return shape
    sizes = [bound if size is None else size for size in shape.as_list()]
    return convert_to_tensor(sizes, dtype=dtypes.int64)
