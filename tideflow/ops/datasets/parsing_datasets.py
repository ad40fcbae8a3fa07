"""Batches of serialized Examples as a dataset of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.io.examples import Blame
from tideflow.ops.files.parsing import FEATURE_TYPES, dense_wanted, sparse_wanted, tensors
from tideflow.ops.helpers.datasets import STRUCTURE, dataset_op
from tideflow.ops.helpers.types import types
from tideflow.runtime.dataset_threads import ParallelMap
from tideflow.runtime.datasets import as_cell, dataset_in, refuse
from tideflow.runtime.waiting import StepContext

_KEYS = attr("list(string)", minimum=0)
_FEATURES = {
    "sparse_keys": _KEYS,
    "dense_keys": _KEYS,
    "sparse_types": FEATURE_TYPES,
    "Tdense": FEATURE_TYPES,
    "dense_shapes": attr("list(shape)", minimum=0),
    **STRUCTURE,
    "sloppy": False,
}


def _cells(parts: list[Any]) -> np.ndarray:
    """Indices, values and shape of a sparse tensor, in a variant."""
    cells = np.empty(len(parts), dtype=object)
    for i, part in enumerate(parts):
        cells[i] = part
    return cells


def _parsed(
    input_dataset, num_parallel_calls, dense_defaults, *, sparse_keys, dense_keys, sparse_types, Tdense,
    dense_shapes,
):  # fmt: skip
    """The components of an element are in the order of their keys, sparse ones in the cells of a variant."""
    wanted = [
        *sparse_wanted(sparse_keys, sparse_types),
        *dense_wanted(dense_keys, Tdense, dense_shapes, dense_defaults),
    ]
    keys = [feature.key for feature in wanted]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    sparse = len(sparse_keys)

    def parse(context: StepContext, serialized: Any) -> tuple[Any, ...]:
        if serialized.ndim != 1:
            raise refuse(f"Expected serialized to be a vector, got shape: {list(serialized.shape)}")
        found = tensors(serialized.tolist(), wanted, Blame([]))
        parts = found[: 3 * sparse]
        together = [_cells(parts[i::sparse]) for i in range(sparse)] + found[3 * sparse :]
        return tuple([together[i] for i in order])

    return as_cell(ParallelMap(dataset_in(input_dataset), parse, num_parallel_calls))


def _parsing_op(name: str, **attrs: Any) -> Op:
    """An op that makes a dataset of the features of another one's Examples."""
    return dataset_op(
        name,
        "input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense",
        _parsed,
        host="num_parallel_calls",
        structure=_FEATURES,
        metadata=False,
        covered_by="tests/ops/datasets/test_parsing_datasets.py",
        **attrs,
    )


parse_example_dataset_op = _parsing_op(
    "ParseExampleDataset",
    ragged_keys=attr("list(string)", [], minimum=0),
    ragged_value_types=attr("list(type)", [], allowed=FEATURE_TYPES.allowed, minimum=0),
    ragged_split_types=attr("list(type)", [], allowed=types("int32 int64"), minimum=0),
)
experimental_parse_example_dataset_op = _parsing_op("ExperimentalParseExampleDataset")
