"""Datasets as values of the graph: sources in memory, and transformations that take no function.

A dataset is a variant: an object that knows how to go through its elements. The op makes the object; nothing
is read before an iterator asks for it. Many op types are there twice: as `Experimental…` they are what they
were while they were that.
"""

from __future__ import annotations

from typing import Any

import torch

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.datasets import METADATA, SHAPES, STRUCTURE, dataset_op, of_one
from tideflow.runtime import dataset_batches as batches
from tideflow.runtime import dataset_files as files
from tideflow.runtime import dataset_joins as joins
from tideflow.runtime import dataset_random, datasets
from tideflow.runtime.dataset_threads import Prefetch
from tideflow.runtime.datasets import as_cell, dataset_in
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import StepContext

_NUMBERED = attr("int", minimum=1)
_TESTS = "tests/ops/datasets/test_datasets.py"

# ------------------------------------------------------------------------------------------------- sources

tensor_dataset_op = dataset_op(
    "TensorDataset",
    "components: Toutput_types",
    lambda components: as_cell(datasets.Tensors(list(map(unshared, components)))),
    structure=SHAPES,
    Toutput_types=attr("list(type)", minimum=1),
    stateful=True,
)

tensor_slice_dataset_op = dataset_op(
    "TensorSliceDataset",
    "components: Toutput_types",
    lambda components: as_cell(datasets.Rows(list(map(unshared, components)))),
    structure=SHAPES,
    Toutput_types=attr("list(type)", minimum=1),
    is_files=False,
    replicate_on_split=False,
    stateful=True,
)

sparse_tensor_slice_dataset_op = dataset_op(
    "SparseTensorSliceDataset",
    "indices: int64, values: Tvalues, dense_shape: int64",
    lambda indices, values, dense_shape: as_cell(datasets.SparseRows(indices, values, dense_shape)),
    structure={},
    metadata=False,
    stateful=True,
)

range_dataset_op = dataset_op(
    "RangeDataset",
    "start: int64, stop: int64, step: int64",
    lambda start, stop, step: as_cell(datasets.Range(start, stop, step)),
    host="start stop step",
    replicate_on_split=False,
    stateful=True,
)


def _random(seed, seed2):
    return as_cell(dataset_random.Random(seed, seed2))


random_dataset_op = dataset_op(
    "RandomDataset", "seed: int64, seed2: int64", _random, host="seed seed2", stateful=True
)
experimental_random_dataset_op = dataset_op(
    "ExperimentalRandomDataset",
    "seed: int64, seed2: int64",
    _random,
    host="seed seed2",
    stateful=True,
    metadata=False,
)

# ------------------------------------------------------------------------------------------------- elements

take_dataset_op = of_one("TakeDataset", datasets.Take, "count: int64")
skip_dataset_op = of_one("SkipDataset", datasets.Skip, "count: int64")
repeat_dataset_op = of_one("RepeatDataset", datasets.Repeat, "count: int64")


def _shard(input_dataset, num_shards, index, *, require_non_empty):
    return as_cell(datasets.Shard(dataset_in(input_dataset), num_shards, index, require_non_empty))


shard_dataset_op = dataset_op(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64",
    _shard,
    host="num_shards index",
    require_non_empty=False,
)

unique_dataset_op = of_one("UniqueDataset", datasets.Unique)
experimental_unique_dataset_op = of_one("ExperimentalUniqueDataset", datasets.Unique, metadata=False)

ignore_errors_dataset_op = of_one(
    "IgnoreErrorsDataset", datasets.IgnoreErrors, metadata=False, log_warning=False
)
experimental_ignore_errors_dataset_op = of_one(
    "ExperimentalIgnoreErrorsDataset", datasets.IgnoreErrors, metadata=False, log_warning=False
)

prefetch_dataset_op = of_one(
    "PrefetchDataset",
    Prefetch,
    "buffer_size: int64",
    slack_period=0,
    legacy_autotune=True,
    buffer_size_min=0,
)


def _cache(input_dataset, filename, *, output_types):
    source = dataset_in(input_dataset)
    if not filename:
        return as_cell(datasets.MemoryCache(source))
    return as_cell(files.FileCache(source, filename.decode(), len(output_types)))


cache_dataset_op = dataset_op(
    "CacheDataset",
    "input_dataset: variant, filename: string",
    _cache,
    host="filename",
    touches="files",
)

# -------------------------------------------------------------------------------------- how a dataset is run


def _optimized(source: datasets.Dataset, optimizations: list[bytes]) -> datasets.Dataset:
    source = dataset_random.fused(source) if b"shuffle_and_repeat_fusion" in optimizations else source
    return datasets.Sloppy(source) if b"make_sloppy" in optimizations else source


optimize_dataset_op = of_one(
    "OptimizeDataset",
    _optimized,
    "optimizations: string",
    metadata=False,
    optimization_configs=attr("list(string)", []),
)


def _unchanged(source: datasets.Dataset, *advice: Any) -> datasets.Dataset:
    """What advises how to run a dataset changes none of its elements, and is not needed here."""
    return datasets.Same(source)


model_dataset_op = of_one("ModelDataset", _unchanged, metadata=False, algorithm=0, cpu_budget=0, ram_budget=0)

non_serializable_dataset_op = of_one("NonSerializableDataset", _unchanged, metadata=False)
experimental_non_serializable_dataset_op = of_one(
    "ExperimentalNonSerializableDataset", _unchanged, metadata=False
)

max_intra_op_parallelism_dataset_op = of_one(
    "MaxIntraOpParallelismDataset", _unchanged, "max_intra_op_parallelism: int64", metadata=False
)
experimental_max_intra_op_parallelism_dataset_op = of_one(
    "ExperimentalMaxIntraOpParallelismDataset", _unchanged, "max_intra_op_parallelism: int64", metadata=False
)

private_thread_pool_dataset_op = of_one(
    "PrivateThreadPoolDataset", _unchanged, "num_threads: int64", metadata=False
)
experimental_private_thread_pool_dataset_op = of_one(
    "ExperimentalPrivateThreadPoolDataset", _unchanged, "num_threads: int64", metadata=False
)

assert_next_dataset_op = of_one("AssertNextDataset", _unchanged, "transformations: string", metadata=False)
experimental_assert_next_dataset_op = of_one(
    "ExperimentalAssertNextDataset", _unchanged, "transformations: string", metadata=False
)

# -------------------------------------------------------------------------------------------- several as one

zip_dataset_op = dataset_op(
    "ZipDataset",
    "input_datasets: N * variant",
    lambda input_datasets: as_cell(joins.Zip([dataset_in(d) for d in input_datasets])),
    N=_NUMBERED,
)

concatenate_dataset_op = dataset_op(
    "ConcatenateDataset",
    "input_dataset: variant, another_dataset: variant",
    lambda a, b: as_cell(joins.Concatenate([dataset_in(a), dataset_in(b)])),
)


def _directed(selector, given):
    return as_cell(joins.Directed(dataset_in(selector), [dataset_in(d) for d in given]))


directed_interleave_dataset_op = dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    _directed,
    metadata=False,
    N=_NUMBERED,
    stop_on_empty_dataset=False,
)
experimental_directed_interleave_dataset_op = dataset_op(
    "ExperimentalDirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    _directed,
    metadata=False,
    N=_NUMBERED,
)

# ------------------------------------------------------------------------------------------- random datasets


def _shuffle(input_dataset, size, seed, seed2, *, reshuffle_each_iteration):
    return as_cell(
        dataset_random.Shuffle(dataset_in(input_dataset), size, seed, seed2, reshuffle_each_iteration)
    )


shuffle_dataset_op = dataset_op(
    "ShuffleDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64",
    _shuffle,
    host="buffer_size seed seed2",
    reshuffle_each_iteration=True,
)


def _shuffle_and_repeat(input_dataset, size, seed, seed2, count):
    return as_cell(dataset_random.ShuffleAndRepeat(dataset_in(input_dataset), size, seed, seed2, count))


shuffle_and_repeat_dataset_op = dataset_op(
    "ShuffleAndRepeatDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64",
    _shuffle_and_repeat,
    host="buffer_size seed seed2 count",
    reshuffle_each_iteration=True,
)

# ------------------------------------------------------------------------------------------------- batches


def _batch(source: datasets.Dataset, size: int, drop_remainder: bool = False) -> datasets.Dataset:
    return batches.Batch(source, size, drop_remainder)


batch_dataset_op = of_one("BatchDataset", _batch, "batch_size: int64")
batch_dataset_v2_op = of_one(
    "BatchDatasetV2", _batch, "batch_size: int64, drop_remainder: bool", parallel_copy=False
)

unbatch_dataset_op = of_one("UnbatchDataset", batches.Unbatch)
experimental_unbatch_dataset_op = of_one("ExperimentalUnbatchDataset", batches.Unbatch, metadata=False)


def _padded_batch(input_dataset, size, padded_shapes, padding_values, drop_remainder=False):
    source = dataset_in(input_dataset)
    return as_cell(batches.PaddedBatch(source, size, padded_shapes, padding_values, drop_remainder))


_PADDED = "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types"
padded_batch_dataset_op = dataset_op(
    "PaddedBatchDataset",
    _PADDED,
    _padded_batch,
    host="batch_size padded_shapes",
    structure=SHAPES,
    Toutput_types=attr("list(type)", minimum=1),
    N=_NUMBERED,
)
padded_batch_dataset_v2_op = dataset_op(
    "PaddedBatchDatasetV2",
    f"{_PADDED}, drop_remainder: bool",
    _padded_batch,
    host="batch_size padded_shapes drop_remainder",
    structure=SHAPES,
    Toutput_types=attr("list(type)", minimum=1),
    N=_NUMBERED,
    parallel_copy=False,
)

dense_to_sparse_batch_dataset_op = of_one(
    "DenseToSparseBatchDataset", batches.SparseBatch, "batch_size: int64, row_shape: int64", metadata=False
)
experimental_dense_to_sparse_batch_dataset_op = of_one(
    "ExperimentalDenseToSparseBatchDataset",
    batches.SparseBatch,
    "batch_size: int64, row_shape: int64",
    metadata=False,
)

window_dataset_op = of_one(
    "WindowDataset", batches.Window, "size: int64, shift: int64, stride: int64, drop_remainder: bool"
)


class _Joined(datasets.OfOne):
    """Windows as batches."""

    def iterate(self, iteration: datasets.Iteration) -> datasets.Pull:
        following = self.source.iterate(iteration)

        def pull(context: StepContext) -> datasets.Element:
            windows = [dataset_in(cell) for cell in following(context)]
            columns = [[v for (v,) in datasets.elements(w, iteration, context)] for w in windows]
            return tuple(datasets.stacked(values) for values in columns)

        return pull


def _sliding(source: datasets.Dataset, size: int, shift: int, stride: int) -> datasets.Dataset:
    """Batches of overlapping windows."""
    rows = batches.Window(source, size, shift, stride, drop_remainder=True)
    return _Joined(rows)


sliding_window_dataset_op = of_one(
    "SlidingWindowDataset",
    _sliding,
    "window_size: int64, window_shift: int64, window_stride: int64",
    metadata=False,
    drop_remainder=True,
)
experimental_sliding_window_dataset_op = of_one(
    "ExperimentalSlidingWindowDataset",
    _sliding,
    "window_size: int64, window_shift: int64, window_stride: int64",
    metadata=False,
)

# ---------------------------------------------------------------------------------- what a dataset is and has


def _cardinality_op(name: str, **attrs: Any) -> Op:
    """An op that tells how many elements a dataset has."""
    op = Op(name, "input_dataset: variant -> cardinality: int64", differentiable=False, on_host=True, **attrs)
    op.shape(lambda dataset: [])
    op.kernel(lambda dataset: torch.tensor(dataset_in(dataset).cardinality(), dtype=torch.int64))
    op.samples(covered_by=_TESTS)
    return op


cardinality_op = _cardinality_op("DatasetCardinality", cardinality_options="")
experimental_cardinality_op = _cardinality_op("ExperimentalDatasetCardinality")

single_element_op = Op(
    "DatasetToSingleElement",
    "dataset: variant -> components: output_types",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    **STRUCTURE,
    **METADATA,
)
single_element_op.shape(lambda dataset, *, output_shapes: output_shapes)


@single_element_op.kernel
def _single_element_kernel(dataset, *, resources, context):
    iteration = datasets.Iteration(resources)
    try:
        found = datasets.elements(dataset_in(dataset), iteration, context)
        element = next(found, None)
        if element is None:
            raise datasets.refuse("Dataset was empty.")
        if next(found, None) is not None:
            raise datasets.refuse("Dataset had more than one element.")
        return element
    finally:
        iteration.stop()


single_element_op.samples(covered_by=_TESTS)


def _wrapping_op(name: str) -> Op:
    """TensorFlow wraps the variants of datasets to bring them to another device; here they are the same."""
    op = Op(name, "input_handle: variant -> output_handle: variant", differentiable=False)
    op.shape(lambda handle: [])
    op.kernel(lambda handle: handle)
    op.samples(covered_by=_TESTS)
    return op


wrap_op = _wrapping_op("WrapDatasetVariant")
unwrap_op = _wrapping_op("UnwrapDatasetVariant")
