"""Datasets made by functions: the functions are in the graph's library, what they capture comes as inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.datasets.datasets import METADATA, STRUCTURE, dataset_op
from tideflow.runtime import dataset_functions as made
from tideflow.runtime import datasets
from tideflow.runtime.dataset_batches import Batch
from tideflow.runtime.dataset_threads import ParallelMap
from tideflow.runtime.datasets import as_cell, dataset_in

_FUNCTION = {"f": attr("func"), "Targuments": attr("list(type)", minimum=0)}
_PREDICATE = {"predicate": attr("func"), "Targuments": attr("list(type)", minimum=0)}
_CAPTURED = "input_dataset: variant, other_arguments: Targuments"


def _with_function(name: str, make: Callable, rest: str = "", key: str = "f", **options: Any) -> Op:
    """A dataset made of another, a function and numbers."""

    def kernel(input_dataset, other_arguments, *numbers, planned):
        function = planned(key, other_arguments)
        return as_cell(make(dataset_in(input_dataset), function, *numbers))

    host = " ".join(part.partition(":")[0].strip() for part in rest.split(",") if part)
    inputs = f"{_CAPTURED}{', ' if rest else ''}{rest}"
    attrs = _FUNCTION if key == "f" else _PREDICATE
    return dataset_op(name, inputs, kernel, host=host, **attrs, **options)


# ------------------------------------------------------------------------------------------------- maps

_MAP = {"use_inter_op_parallelism": True, "preserve_cardinality": False}

map_dataset_op = _with_function("MapDataset", made.Map, twin=True, force_synchronous=False, **_MAP)
parallel_map_dataset_op = _with_function(
    "ParallelMapDataset", ParallelMap, "num_parallel_calls: int32", sloppy=False, **_MAP
)


def _map_and_batch(
    source: datasets.Dataset, function: Callable, size: int, parallel: int, drop_remainder: bool
) -> datasets.Dataset:
    return Batch(ParallelMap(source, function, parallel), size, drop_remainder)


map_and_batch_dataset_op = _with_function(
    "MapAndBatchDataset",
    _map_and_batch,
    "batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    twin=True,
    preserve_cardinality=False,
)
filter_dataset_op = _with_function("FilterDataset", made.Filter, key="predicate")
take_while_dataset_op = _with_function("TakeWhileDataset", made.TakeWhile, key="predicate", twin=True)
flat_map_dataset_op = _with_function("FlatMapDataset", made.FlatMap)

# ---------------------------------------------------------------------------------------------- interleaving

_CYCLE = "cycle_length: int64, block_length: int64"

interleave_dataset_op = _with_function("InterleaveDataset", made.Interleave, _CYCLE)


def _parallel_interleave(source, function, cycle, block, *advice):
    return made.Interleave(source, function, cycle, block, threads=True)


parallel_interleave_dataset_op = _with_function(
    "ParallelInterleaveDataset",
    _parallel_interleave,
    f"{_CYCLE}, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
    twin=True,
)
parallel_interleave_dataset_v2_op = _with_function(
    "ParallelInterleaveDatasetV2", _parallel_interleave, f"{_CYCLE}, num_parallel_calls: int64", sloppy=False
)
_STATE = {"Tstate": attr("list(type)", minimum=1)}

# ------------------------------------------------------------------------------------------------- states


def _scan(input_dataset, initial_state, other_arguments, *, planned):
    function = planned("f", other_arguments)
    return as_cell(made.Scan(dataset_in(input_dataset), initial_state, function))


_SCAN = "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments"

scan_dataset_op = dataset_op(
    "ScanDataset", _SCAN, _scan, preserve_cardinality=False, use_default_device=True, **_FUNCTION, **_STATE
)
dataset_op(
    "ExperimentalScanDataset", _SCAN, _scan, metadata=False, preserve_cardinality=False, **_FUNCTION, **_STATE
)

reduce_dataset_op = Op(
    "ReduceDataset",
    f"{_SCAN} -> components: output_types",
    stateful=True,
    blocking=True,
    on_host=True,
    differentiable=False,
    use_inter_op_parallelism=True,
    **STRUCTURE,
    **METADATA,
    **_FUNCTION,
    **_STATE,
)
reduce_dataset_op.shape(lambda dataset, state, captured, *, output_shapes: output_shapes)


@reduce_dataset_op.kernel
def _reduce_dataset_kernel(input_dataset, initial_state, other_arguments, *, planned, resources, context):
    function = planned("f", other_arguments)
    iteration = datasets.Iteration(resources)
    try:
        return made.reduced(dataset_in(input_dataset), initial_state, function, iteration, context)
    finally:
        iteration.stop()


reduce_dataset_op.samples(covered_by="tests/data/test_functions.py")

# ----------------------------------------------------------------------------------------- several functions


def _of_functions(name: str, functions: str, make: Callable, **options: Any) -> Op:
    """A dataset made of another one and several functions, each with what it captures."""
    keys = functions.split()

    def kernel(input_dataset, *captured, planned):
        called = [planned(key, given) for key, given in zip(keys, captured, strict=True)]
        return as_cell(make(dataset_in(input_dataset), *called))

    attrs = {key: attr("func") for key in keys}
    attrs |= {f"T{key}_other_arguments": attr("list(type)", minimum=0) for key in keys}
    inputs = ", ".join(f"{key}_other_arguments: T{key}_other_arguments" for key in keys)
    return dataset_op(name, f"input_dataset: variant, {inputs}", kernel, twin=True, **attrs, **options)


group_by_window_dataset_op = _of_functions(
    "GroupByWindowDataset", "key_func reduce_func window_size_func", made.GroupByWindow
)
group_by_reducer_dataset_op = _of_functions(
    "GroupByReducerDataset",
    "key_func init_func reduce_func finalize_func",
    made.GroupByReducer,
    stateful=True,
    metadata=False,
)


def _generated(init_args, next_args, finalize_args, *, planned) -> np.ndarray:
    init = planned("init_func", init_args)
    following = planned("next_func", next_args)
    finalize = planned("finalize_func", finalize_args)
    return as_cell(datasets.Generated(init, following, finalize))


_GENERATOR = ("init_func", "next_func", "finalize_func")

generator_dataset_op = dataset_op(
    "GeneratorDataset",
    ", ".join(f"{key}_other_args: T{key}_args" for key in _GENERATOR),
    _generated,
    stateful=True,
    **{key: attr("func") for key in _GENERATOR},
    **{f"T{key}_args": attr("list(type)", minimum=0) for key in _GENERATOR},
)
