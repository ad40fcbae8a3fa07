"""Counts, sizes and seeds of datasets as tensors."""

from __future__ import annotations

import os
from typing import Any

from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import get_seed, name_scope
from tideflow.ops.arrays import indexing
from tideflow.ops.math import binary


def number(value: Any, name: str, dtype: dtypes.DType = dtypes.int64) -> Tensor:
    """A count or a size as a tensor."""
    return convert_to_tensor(value, dtype=dtype, name=name)


def parallel_cycle(length: Any) -> Any:
    """How many datasets are interleaved: -1 stands for as many as there are processors."""
    return (os.cpu_count() or 1) if isinstance(length, int) and length == -1 else length


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset. They are both zero only if there is no seed at all."""
    first, second = get_seed(seed)
    first_tensor = number(0 if first is None else first, "seed")
    if second is None:
        return first_tensor, number(0, "seed2")
    with name_scope("seed2") as scope:
        second_tensor = number(second, "Const")
        both = binary.logical_and(binary.equal(first_tensor, 0), binary.equal(second_tensor, 0))
        other = number(2**31 - 1, "Const")
        return first_tensor, indexing.where(both, other, second_tensor, name=scope)
