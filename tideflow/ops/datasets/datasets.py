"""Datasets as values of the graph: sources, and transformations that take no function.

A dataset is a variant: an object that knows how to go through its elements. The op makes the object; nothing
is read before an iterator asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.io.databases import lmdb_items
from tideflow.ops.helpers.types import types
from tideflow.runtime import dataset_batches as batches
from tideflow.runtime import dataset_chance as chance
from tideflow.runtime import dataset_files as files
from tideflow.runtime import datasets
from tideflow.runtime.dataset_threads import Prefetch
from tideflow.runtime.datasets import as_cell, dataset_in
from tideflow.runtime.values import unshared
from tideflow.runtime.waiting import StepContext

SHAPES = {"output_shapes": attr("list(shape)", minimum=1)}
STRUCTURE = {
    "output_types": attr("list(type)", minimum=1),
    "output_shapes": attr("list(shape)", minimum=1),
}
METADATA = {"metadata": ""}


def dataset_op(
    name: str,
    inputs: str,
    kernel: Callable,
    *,
    host: str = "",
    stateful: bool = False,
    twin: bool = False,
    structure: dict[str, Any] = STRUCTURE,
    output: str = "handle",
    metadata: bool = True,
    **attrs: Any,
) -> Op:
    """An op that makes a dataset. Many have a twin: what they were while they were experimental."""
    more = METADATA if metadata else {}
    options = {"host": host, "stateful": stateful, "differentiable": False, "on_host": True}
    made = Op(name, f"{inputs} -> {output}: variant", **options, **structure, **attrs, **more)
    ops = [made]
    if twin:
        ops.append(
            Op(f"Experimental{name}", f"{inputs} -> {output}: variant", **options, **structure, **attrs)
        )
    for op in ops:
        op.shape(lambda *inputs: [])
        op.kernel(kernel)
        op.samples(covered_by="tests/data/test_datasets.py")
    return made


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
random_dataset_op = dataset_op(
    "RandomDataset",
    "seed: int64, seed2: int64",
    lambda seed, seed2: as_cell(chance.Random(seed, seed2)),
    host="seed seed2",
    stateful=True,
    twin=True,
)

# ------------------------------------------------------------------------------------------------- elements


def _of_one(name: str, kind: Callable, rest: str = "", **options: Any) -> Op:
    """A dataset made of another one and of numbers."""

    def kernel(input_dataset: Any, *numbers: Any) -> np.ndarray:
        return as_cell(kind(dataset_in(input_dataset), *numbers))

    inputs = f"input_dataset: variant{', ' if rest else ''}{rest}"
    host = " ".join(part.partition(":")[0].strip() for part in rest.split(",") if part)
    return dataset_op(name, inputs, kernel, host=host, **options)


take_dataset_op = _of_one("TakeDataset", datasets.Take, "count: int64")
skip_dataset_op = _of_one("SkipDataset", datasets.Skip, "count: int64")
repeat_dataset_op = _of_one("RepeatDataset", datasets.Repeat, "count: int64")
shard_dataset_op = _of_one(
    "ShardDataset", datasets.Shard, "num_shards: int64, index: int64", require_non_empty=False
)
unique_dataset_op = _of_one("UniqueDataset", datasets.Unique, twin=True)
unbatch_dataset_op = _of_one("UnbatchDataset", batches.Unbatch, twin=True)
ignore_errors_dataset_op = _of_one(
    "IgnoreErrorsDataset", datasets.IgnoreErrors, twin=True, metadata=False, log_warning=False
)
prefetch_dataset_op = _of_one(
    "PrefetchDataset",
    Prefetch,
    "buffer_size: int64",
    slack_period=0,
    legacy_autotune=True,
    buffer_size_min=0,
)
window_dataset_op = _of_one(
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


sliding_window_dataset_op = _of_one(
    "SlidingWindowDataset",
    _sliding,
    "window_size: int64, window_shift: int64, window_stride: int64",
    metadata=False,
    drop_remainder=True,
)
_of_one(
    "ExperimentalSlidingWindowDataset",
    _sliding,
    "window_size: int64, window_shift: int64, window_stride: int64",
    metadata=False,
)


def _optimized(source: datasets.Dataset, optimizations: list[bytes]) -> datasets.Dataset:
    return chance.fused(source) if b"shuffle_and_repeat_fusion" in optimizations else source


optimize_dataset_op = _of_one(
    "OptimizeDataset",
    _optimized,
    "optimizations: string",
    metadata=False,
    optimization_configs=attr("list(string)", []),
)


def _advice(name: str, rest: str = "", **options: Any) -> Op:
    """A dataset that only says how the other one is to be run."""
    return _of_one(
        name,
        lambda source, *advice: datasets.Same(source),
        rest,
        **{"metadata": False, "twin": True, **options},
    )


model_dataset_op = _advice("ModelDataset", twin=False, algorithm=0, cpu_budget=0, ram_budget=0)
_advice("NonSerializableDataset")
_advice("MaxIntraOpParallelismDataset", "max_intra_op_parallelism: int64")
_advice("PrivateThreadPoolDataset", "num_threads: int64")
_advice("AssertNextDataset", "transformations: string")
_NUMBERED = attr("int", minimum=1)

zip_dataset_op = dataset_op(
    "ZipDataset",
    "input_datasets: N * variant",
    lambda input_datasets: as_cell(datasets.Zip([dataset_in(d) for d in input_datasets])),
    N=_NUMBERED,
)
concatenate_dataset_op = dataset_op(
    "ConcatenateDataset",
    "input_dataset: variant, another_dataset: variant",
    lambda a, b: as_cell(datasets.Concatenate([dataset_in(a), dataset_in(b)])),
)
_DIRECTED = "selector_input_dataset: variant, data_input_datasets: N * variant"


def _directed(selector: Any, given: list[Any]) -> np.ndarray:
    return as_cell(datasets.Directed(dataset_in(selector), [dataset_in(d) for d in given]))


directed_interleave_dataset_op = dataset_op(
    "DirectedInterleaveDataset",
    _DIRECTED,
    _directed,
    metadata=False,
    N=_NUMBERED,
    stop_on_empty_dataset=False,
)
dataset_op("ExperimentalDirectedInterleaveDataset", _DIRECTED, _directed, metadata=False, N=_NUMBERED)

# ------------------------------------------------------------------------------------------------- chance

_SEEDS = "buffer_size: int64, seed: int64, seed2: int64"


def _shuffle(input_dataset, size, seed, seed2, *, reshuffle_each_iteration):
    return as_cell(chance.Shuffle(dataset_in(input_dataset), size, seed, seed2, reshuffle_each_iteration))


shuffle_dataset_op = dataset_op(
    "ShuffleDataset",
    f"input_dataset: variant, {_SEEDS}",
    _shuffle,
    host="buffer_size seed seed2",
    reshuffle_each_iteration=True,
)


def _shuffle_and_repeat(input_dataset, size, seed, seed2, count):
    return as_cell(chance.ShuffleAndRepeat(dataset_in(input_dataset), size, seed, seed2, count))


shuffle_and_repeat_dataset_op = dataset_op(
    "ShuffleAndRepeatDataset",
    f"input_dataset: variant, {_SEEDS}, count: int64",
    _shuffle_and_repeat,
    host="buffer_size seed seed2 count",
    reshuffle_each_iteration=True,
)

# ------------------------------------------------------------------------------------------------- batches


def _batch(source: datasets.Dataset, size: int, drop_remainder: bool = False) -> datasets.Dataset:
    return batches.Batch(source, size, drop_remainder)


batch_dataset_op = _of_one("BatchDataset", _batch, "batch_size: int64")
batch_dataset_v2_op = _of_one(
    "BatchDatasetV2", _batch, "batch_size: int64, drop_remainder: bool", parallel_copy=False
)
_PADDED = "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types"


def _padded_batch(input_dataset, size, padded_shapes, padding_values, drop_remainder=False):
    source = dataset_in(input_dataset)
    return as_cell(batches.PaddedBatch(source, size, padded_shapes, padding_values, drop_remainder))


for _name, _inputs, _more in (
    ("PaddedBatchDataset", _PADDED, {}),
    ("PaddedBatchDatasetV2", f"{_PADDED}, drop_remainder: bool", {"parallel_copy": False}),
):
    padded_batch_dataset_v2_op = dataset_op(
        _name,
        _inputs,
        _padded_batch,
        host=f"batch_size padded_shapes{' drop_remainder' if _more else ''}",
        structure=SHAPES,
        Toutput_types=attr("list(type)", minimum=1),
        N=_NUMBERED,
        **_more,
    )

dense_to_sparse_batch_dataset_op = _of_one(
    "DenseToSparseBatchDataset",
    batches.SparseBatch,
    "batch_size: int64, row_shape: int64",
    twin=True,
    metadata=False,
)

# ------------------------------------------------------------------------------------------------- files


def _paths(filenames: Any) -> list[bytes]:
    return filenames if isinstance(filenames, list) else [filenames]


_FILES = "filenames: string, compression_type: string, buffer_size: int64"
_HOST_FILES = "filenames compression_type buffer_size"


def _text_lines(filenames, compression_type, buffer_size):
    kind = files.checked_compression(compression_type)
    return as_cell(files.Files(_paths(filenames), lambda path: files.lines(path, kind)))


text_line_dataset_op = dataset_op(
    "TextLineDataset", _FILES, _text_lines, host=_HOST_FILES, structure={}, stateful=True
)


def _records(filenames, compression_type, buffer_size):
    kind = files.checked_compression(compression_type)
    return as_cell(files.Files(_paths(filenames), lambda path: files.records(path, kind)))


tf_record_dataset_op = dataset_op(
    "TFRecordDataset", _FILES, _records, host=_HOST_FILES, structure={}, stateful=True
)


def _fixed_records(filenames, header, size, footer, buffer_size, compression_type=b""):
    kind = files.checked_compression(compression_type)
    if size <= 0:
        raise datasets.refuse(f"record_bytes must be > 0, but is {size}")
    return as_cell(
        files.Files(_paths(filenames), lambda path: files.fixed_records(path, kind, header, size, footer))
    )


_FIXED = (
    "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
)
_HOST_FIXED = "filenames header_bytes record_bytes footer_bytes buffer_size"
dataset_op("FixedLengthRecordDataset", _FIXED, _fixed_records, host=_HOST_FIXED, structure={}, stateful=True)

fixed_length_record_dataset_v2_op = dataset_op(
    "FixedLengthRecordDatasetV2",
    f"{_FIXED}, compression_type: string",
    _fixed_records,
    host=f"{_HOST_FIXED} compression_type",
    structure={},
    stateful=True,
)


def _csv(
    filenames, compression, buffer_size, header, delimiter, quotes, na_value, select, record_defaults, *,
    output_types,
):  # fmt: skip
    from tideflow.ops.files.decoding import decode_csv_op

    decode = decode_csv_op.kernels[""]
    options = {
        "OUT_TYPE": output_types,
        "field_delim": delimiter.decode(),
        "use_quote_delim": quotes,
        "na_value": na_value.decode(),
        "select_cols": select,
    }

    def parse(record: bytes) -> tuple[Any, ...]:
        return tuple(decode(files.string(record), record_defaults, **options))

    kind = files.checked_compression(compression)
    return as_cell(
        files.Files(_paths(filenames), lambda path: files.csv_records(path, kind, header, quotes), parse)
    )


csv_dataset_op = dataset_op(
    "CSVDataset",
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
    "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types",
    _csv,
    host="filenames compression_type buffer_size header field_delim use_quote_delim na_value select_cols",
    structure={
        **STRUCTURE,
        "output_types": attr("list(type)", allowed=types("float double int32 int64 string"), minimum=1),
    },
    stateful=True,
    twin=True,
    metadata=False,
)


def _bytes(path: str | bytes) -> bytes:
    return path if isinstance(path, bytes) else path.encode()


def _matching_files(patterns):
    from tideflow.io.local_files import matching_paths

    found = sorted({path for pattern in _paths(patterns) for path in matching_paths(pattern)})
    return as_cell(datasets.Elements([(files.string(_bytes(path)),) for path in found]))


dataset_op(
    "MatchingFilesDataset",
    "patterns: string",
    _matching_files,
    host="patterns",
    structure={},
    stateful=True,
    twin=True,
    metadata=False,
)


def _sql(driver_name, data_source_name, query, *, output_types):
    if driver_name != b"sqlite":
        raise datasets.refuse(
            f"The database type, {driver_name.decode()}, is not supported by SqlDataset. The set of "
            "supported databases is: {'sqlite'}."
        )
    text = query.decode()
    return as_cell(
        files.Files([data_source_name], lambda path: files.queried(path.decode(), text, output_types), tuple)
    )


sql_dataset_op = dataset_op(
    "SqlDataset",
    "driver_name: string, data_source_name: string, query: string",
    _sql,
    host="driver_name data_source_name query",
    stateful=True,
    twin=True,
    metadata=False,
)


def _lmdb(filenames):
    def pair(item: tuple[bytes, bytes]) -> datasets.Element:
        return tuple(map(files.string, item))

    return as_cell(files.Files(_paths(filenames), lambda path: lmdb_items(path, "LMDBDataset"), pair))


lmdb_dataset_op = dataset_op(
    "LMDBDataset",
    "filenames: string",
    _lmdb,
    host="filenames",
    stateful=True,
    twin=True,
    metadata=False,
)


def _cache(input_dataset, filename, *, output_types):
    source = dataset_in(input_dataset)
    if not filename:
        return as_cell(datasets.MemoryCache(source))
    return as_cell(files.FileCache(source, filename.decode(), len(output_types)))


cache_dataset_op = dataset_op(
    "CacheDataset", "input_dataset: variant, filename: string", _cache, host="filename"
)


def _add_shape_and_kernel_and_samples_of_cardinality_family(op: Op) -> None:
    op.shape(lambda dataset: [])
    op.kernel(lambda dataset: torch.tensor(dataset_in(dataset).cardinality(), dtype=torch.int64))
    op.samples(covered_by="tests/data/test_datasets.py")


# ------------------------------------------------------------------------------------------------- and back

cardinality_op = Op(
    "DatasetCardinality",
    "input_dataset: variant -> cardinality: int64",
    cardinality_options="",
    differentiable=False,
    on_host=True,
)
_add_shape_and_kernel_and_samples_of_cardinality_family(cardinality_op)

_old_cardinality_op = Op(
    "ExperimentalDatasetCardinality",
    "input_dataset: variant -> cardinality: int64",
    differentiable=False,
    on_host=True,
)
_add_shape_and_kernel_and_samples_of_cardinality_family(_old_cardinality_op)

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


single_element_op.samples(covered_by="tests/data/test_datasets.py")


def _add_shape_and_kernel_and_samples_of_wrap_family(op: Op) -> None:
    op.shape(lambda handle: [])
    op.kernel(lambda handle: handle)
    op.samples(covered_by="tests/data/test_datasets.py")


wrap_op = Op("WrapDatasetVariant", "input_handle: variant -> output_handle: variant", differentiable=False)
_add_shape_and_kernel_and_samples_of_wrap_family(wrap_op)

unwrap_op = Op(
    "UnwrapDatasetVariant", "input_handle: variant -> output_handle: variant", differentiable=False
)
_add_shape_and_kernel_and_samples_of_wrap_family(unwrap_op)

to_records_op, _old_to_records_op = (
    Op(
        name,
        "input_dataset: variant, filename: string, compression_type: string",
        host="filename compression_type",
        stateful=True,
        blocking=True,
        on_host=True,
        differentiable=False,
    )
    for name in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")
)


def _write_records(dataset, filename, compression_type, *, resources, context):
    iteration = datasets.Iteration(resources)
    try:
        given = datasets.elements(dataset_in(dataset), iteration, context)
        files.written_to_records(given, filename, files.checked_compression(compression_type))
    finally:
        iteration.stop()


def _add_shape_and_kernel_and_samples_of_to_records_family(op: Op) -> None:
    op.shape(lambda dataset, filename, compression_type: [])
    op.kernel(_write_records)
    op.samples(covered_by="tests/data/test_datasets.py")


_add_shape_and_kernel_and_samples_of_to_records_family(to_records_op)
_add_shape_and_kernel_and_samples_of_to_records_family(_old_to_records_op)
