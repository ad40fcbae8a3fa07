"""Datasets made by functions: the functions are in the graph's library, what they capture comes as inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.datasets import METADATA, STRUCTURE, dataset_op, names_in
from tideflow.runtime import dataset_functions as made
from tideflow.runtime import datasets
from tideflow.runtime.dataset_batches import Batch
from tideflow.runtime.dataset_threads import ParallelMap
from tideflow.runtime.datasets import as_cell, dataset_in

_FUNCTION = {"f": attr("func"), "Targuments": attr("list(type)", minimum=0)}
_PREDICATE = {"predicate": attr("func"), "Targuments": attr("list(type)", minimum=0)}
_TESTS = "tests/ops/datasets/test_dataset_functions.py"


def _with_function(name: str, make: Callable, rest: str = "", key: str = "f", **options: Any) -> Op:
    """An op that makes a dataset of another, a function and numbers."""

    def _kernel(input_dataset, other_arguments, *numbers, planned):
        function = planned(key, other_arguments)
        return as_cell(make(dataset_in(input_dataset), function, *numbers))

    def _sloppy_kernel(input_dataset, other_arguments, *numbers, planned, sloppy):
        function = planned(key, other_arguments)
        return as_cell(make(dataset_in(input_dataset), function, *numbers, sloppy=sloppy))

    kernel = _sloppy_kernel if "sloppy" in options else _kernel
    inputs = f"input_dataset: variant, other_arguments: Targuments{', ' if rest else ''}{rest}"
    attrs = _FUNCTION if key == "f" else _PREDICATE
    return dataset_op(name, inputs, kernel, host=names_in(rest), covered_by=_TESTS, **attrs, **options)


_MAP = {"use_inter_op_parallelism": True, "preserve_cardinality": False}
map_dataset_op = _with_function("MapDataset", made.Map, force_synchronous=False, **_MAP)
experimental_map_dataset_op = _with_function(
    "ExperimentalMapDataset", made.Map, metadata=False, force_synchronous=False, **_MAP
)
parallel_map_dataset_op = _with_function(
    "ParallelMapDataset", ParallelMap, "num_parallel_calls: int32", sloppy=False, **_MAP
)


def _map_and_batch(
    source: datasets.Dataset, function: Callable, size: int, parallel: int, drop_remainder: bool
) -> datasets.Dataset:
    if size < 1:
        raise datasets.refuse("batch_size must be greater than zero.")
    return Batch(ParallelMap(source, function, parallel), size, drop_remainder)


map_and_batch_dataset_op = _with_function(
    "MapAndBatchDataset",
    _map_and_batch,
    "batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    preserve_cardinality=False,
)
experimental_map_and_batch_dataset_op = _with_function(
    "ExperimentalMapAndBatchDataset",
    _map_and_batch,
    "batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    metadata=False,
    preserve_cardinality=False,
)

filter_dataset_op = _with_function("FilterDataset", made.Filter, key="predicate")

take_while_dataset_op = _with_function("TakeWhileDataset", made.TakeWhile, key="predicate")
experimental_take_while_dataset_op = _with_function(
    "ExperimentalTakeWhileDataset", made.TakeWhile, key="predicate", metadata=False
)

flat_map_dataset_op = _with_function("FlatMapDataset", made.FlatMap)

# ---------------------------------------------------------------------------------------------- interleaving

interleave_dataset_op = _with_function(
    "InterleaveDataset", made.Interleave, "cycle_length: int64, block_length: int64"
)


def _parallel_interleave(source, function, cycle, block, sloppy, *advice):
    return made.Interleave(source, function, cycle, block, threads=True, sloppy=sloppy)


def _parallel_interleave_v2(source, function, cycle, block, parallel, sloppy):
    return made.Interleave(source, function, cycle, block, threads=True, sloppy=sloppy)


_PARALLEL_CYCLE = (
    "cycle_length: int64, block_length: int64, sloppy: bool, buffer_output_elements: int64, "
    "prefetch_input_elements: int64"
)
parallel_interleave_dataset_op = _with_function(
    "ParallelInterleaveDataset", _parallel_interleave, _PARALLEL_CYCLE
)
experimental_parallel_interleave_dataset_op = _with_function(
    "ExperimentalParallelInterleaveDataset", _parallel_interleave, _PARALLEL_CYCLE, metadata=False
)
parallel_interleave_dataset_v2_op = _with_function(
    "ParallelInterleaveDatasetV2",
    _parallel_interleave_v2,
    "cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    sloppy=False,
)

# ------------------------------------------------------------------------------------------------- states

_SCAN = "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments"
_STATE = {"Tstate": attr("list(type)", minimum=1)}


def _scan(input_dataset, initial_state, other_arguments, *, planned):
    function = planned("f", other_arguments)
    return as_cell(made.Scan(dataset_in(input_dataset), initial_state, function))


scan_dataset_op = dataset_op(
    "ScanDataset",
    _SCAN,
    _scan,
    preserve_cardinality=False,
    use_default_device=True,
    covered_by=_TESTS,
    **_FUNCTION,
    **_STATE,
)
experimental_scan_dataset_op = dataset_op(
    "ExperimentalScanDataset",
    _SCAN,
    _scan,
    metadata=False,
    preserve_cardinality=False,
    covered_by=_TESTS,
    **_FUNCTION,
    **_STATE,
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


reduce_dataset_op.samples(covered_by=_TESTS)

# ----------------------------------------------------------------------------------------- several functions


def _with_functions(name: str, functions: str, make: Callable, **options: Any) -> Op:
    """An op that makes a dataset of another one and several functions, each with what it captures."""
    keys = functions.split()

    def _kernel(input_dataset, *captured, planned):
        called = [planned(key, given) for key, given in zip(keys, captured, strict=True)]
        return as_cell(make(dataset_in(input_dataset), *called))

    attrs = {key: attr("func") for key in keys}
    attrs |= {f"T{key}_other_arguments": attr("list(type)", minimum=0) for key in keys}
    inputs = ", ".join(f"{key}_other_arguments: T{key}_other_arguments" for key in keys)
    return dataset_op(
        name, f"input_dataset: variant, {inputs}", _kernel, covered_by=_TESTS, **attrs, **options
    )


group_by_window_dataset_op = _with_functions(
    "GroupByWindowDataset", "key_func reduce_func window_size_func", made.GroupByWindow
)
experimental_group_by_window_dataset_op = _with_functions(
    "ExperimentalGroupByWindowDataset",
    "key_func reduce_func window_size_func",
    made.GroupByWindow,
    metadata=False,
)

group_by_reducer_dataset_op = _with_functions(
    "GroupByReducerDataset",
    "key_func init_func reduce_func finalize_func",
    made.GroupByReducer,
    stateful=True,
    metadata=False,
)
experimental_group_by_reducer_dataset_op = _with_functions(
    "ExperimentalGroupByReducerDataset",
    "key_func init_func reduce_func finalize_func",
    made.GroupByReducer,
    stateful=True,
    metadata=False,
)


def _generated(init_args, next_args, finalize_args, *, planned):
    init = planned("init_func", init_args)
    following = planned("next_func", next_args)
    finalize = planned("finalize_func", finalize_args)
    return as_cell(datasets.Generated(init, following, finalize))


generator_dataset_op = dataset_op(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    _generated,
    stateful=True,
    covered_by=_TESTS,
    init_func=attr("func"),
    next_func=attr("func"),
    finalize_func=attr("func"),
    Tinit_func_args=attr("list(type)", minimum=0),
    Tnext_func_args=attr("list(type)", minimum=0),
    Tfinalize_func_args=attr("list(type)", minimum=0),
)
