"""Datasets of strategies and of rewritten pipelines: shards, smaller batches, choices, samples, pauses."""

from __future__ import annotations

from typing import Any

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.dataset_origins import reads_files
from tideflow.ops.helpers.datasets import STRUCTURE, dataset_op, of_one
from tideflow.ops.helpers.session_objects import NAMED, found, held
from tideflow.runtime import dataset_portions as portions
from tideflow.runtime import datasets
from tideflow.runtime.dataset_shards import part_for_worker
from tideflow.runtime.datasets import as_cell, dataset_in
from tideflow.runtime.waiting import StepContext

_TESTS = "tests/ops/datasets/test_strategies.py"
_PLAIN: dict[str, Any] = {"metadata": False, "covered_by": _TESTS}

# ----------------------------------------------------------------------------------------- parts for workers


def _part_for_worker(source: datasets.Dataset, workers: int, index: int) -> datasets.Dataset:
    return part_for_worker(source, workers, index, reads_files)


auto_shard_dataset_op = of_one(
    "AutoShardDataset",
    _part_for_worker,
    "num_workers: int64, index: int64",
    auto_shard_policy=0,
    num_replicas=0,
    **_PLAIN,
)
experimental_auto_shard_dataset_op = of_one(
    "ExperimentalAutoShardDataset",
    _part_for_worker,
    "num_workers: int64, index: int64",
    auto_shard_policy=0,
    **_PLAIN,
)

rebatch_dataset_op = of_one(
    "RebatchDataset", portions.Rebatch, "num_replicas: int64", use_fallback=True, **_PLAIN
)
experimental_rebatch_dataset_op = of_one(
    "ExperimentalRebatchDataset", portions.Rebatch, "num_replicas: int64", use_fallback=True, **_PLAIN
)

# ------------------------------------------------------------------------ several that have the same elements


def _first_of(input_datasets):
    return as_cell(datasets.Same(dataset_in(input_datasets[0])))


choose_fastest_dataset_op = dataset_op(
    "ChooseFastestDataset",
    "input_datasets: N * variant",
    _first_of,
    N=attr("int", minimum=2),
    num_experiments=attr("int"),
    **_PLAIN,
)
experimental_choose_fastest_dataset_op = dataset_op(
    "ExperimentalChooseFastestDataset",
    "input_datasets: N * variant",
    _first_of,
    N=attr("int", minimum=2),
    num_experiments=attr("int"),
    **_PLAIN,
)


def _first_branch(
    input_dataset,
    ratio_numerator,
    ratio_denominator,
    other_arguments,
    *,
    node,
    planned,
    num_elements_per_branch,
):
    if num_elements_per_branch % ratio_denominator:
        raise datasets.refuse("`num_elements_per_branch` must be divisible by `ratio_denominator`.")
    node.attrs["branch"] = node.attrs["branches"][0]  # where `planned` looks for the function
    own = other_arguments[: node.attrs["other_arguments_lengths"][0]]
    once = as_cell(portions.Once(dataset_in(input_dataset)))
    (cell,) = planned("branch", own)(StepContext(), once)
    return as_cell(datasets.Same(dataset_in(cell)))


choose_fastest_branch_dataset_op = dataset_op(
    "ChooseFastestBranchDataset",
    "input_dataset: variant, ratio_numerator: int64, ratio_denominator: int64, other_arguments: Targuments",
    _first_branch,
    host="ratio_numerator ratio_denominator",
    Targuments=attr("list(type)", minimum=0),
    num_elements_per_branch=attr("int", minimum=1),
    branches=attr("list(func)", minimum=1),
    other_arguments_lengths=attr("list(int)", minimum=1),
    **_PLAIN,
)

# ---------------------------------------------------------------------------------- elements left out, pauses

sampling_dataset_op = of_one(
    "SamplingDataset", portions.Sampling, "rate: float, seed: int64, seed2: int64", **_PLAIN
)

filter_by_last_component_dataset_op = Op(
    "FilterByLastComponentDataset",
    "input_dataset: variant -> output: variant",
    on_host=True,
    differentiable=False,
    **STRUCTURE,
)
filter_by_last_component_dataset_op.shape(lambda input_dataset: [])
filter_by_last_component_dataset_op.kernel(lambda source: as_cell(portions.ByLast(dataset_in(source))))
filter_by_last_component_dataset_op.samples(covered_by=_TESTS)

sleep_dataset_op = of_one("SleepDataset", portions.Sleep, "sleep_microseconds: int64", **_PLAIN)
experimental_sleep_dataset_op = of_one(
    "ExperimentalSleepDataset", portions.Sleep, "sleep_microseconds: int64", **_PLAIN
)

# ---------------------------------------------------------------------------------------------- thread pools


class _Threads:
    """A pool of threads, by name: datasets have threads of their own, so that there is nothing in it."""

    def __init__(self, name: str) -> None:
        self.name = name


def _pool_op(name: str) -> Op:
    """An op that makes a pool of threads."""
    op = Op(
        name,
        " -> handle: resource",
        stateful=True,
        handle=True,
        differentiable=False,
        num_threads=attr("int"),
        max_intra_op_parallelism=1,
        display_name=attr("string"),
        **NAMED,
    )
    op.shape(lambda: [])
    op.kernel(lambda *, resources, node: found("thread pool", _Threads, resources, node))
    op.samples(covered_by=_TESTS)
    return op


thread_pool_handle_op = _pool_op("ThreadPoolHandle")
experimental_thread_pool_handle_op = _pool_op("ExperimentalThreadPoolHandle")


def _pooled_op(name: str) -> Op:
    """An op that makes a dataset which works in the threads of a pool."""

    def _kernel(input_dataset, thread_pool):
        held(thread_pool)
        return as_cell(datasets.Same(dataset_in(input_dataset)))

    return dataset_op(name, "input_dataset: variant, thread_pool: resource", _kernel, stateful=True, **_PLAIN)


thread_pool_dataset_op = _pooled_op("ThreadPoolDataset")
experimental_thread_pool_dataset_op = _pooled_op("ExperimentalThreadPoolDataset")

# -------------------------------------------------------------------------------------- functions of elements

map_defun_op = Op(
    "MapDefun",
    "arguments: Targuments, captured_inputs: Tcaptured -> output: output_types",
    on_host=True,
    differentiable=False,
    f=attr("func"),
    Targuments=attr("list(type)", minimum=1),
    Tcaptured=attr("list(type)", [], minimum=0),
    max_intra_op_parallelism=1,
    **STRUCTURE,
)


@map_defun_op.shape
def _map_defun_shape(arguments, captured, *, output_shapes):
    count = arguments[0].tuple[0] if arguments[0].ndims else None
    return [None if shape.ndims is None else [count, *shape.tuple] for shape in output_shapes]


@map_defun_op.kernel
def _map_defun_kernel(arguments, captured_inputs, *, planned, context):
    function = planned("f", captured_inputs)
    rows = zip(*map(datasets.unstacked, arguments), strict=True)
    return datasets.joined([function(context, *row) for row in rows])


map_defun_op.samples(covered_by=_TESTS)
