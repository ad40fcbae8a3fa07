"""Rewrites of reads and updates: a step that needs few rows of a variable does not hold all of it, and adds
gradients of the same row only where there are some.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.compile.ir import Loop, Node, Value, states
from tideflow.compile.prune import read_op
from tideflow.compile.rewrite import Sweep, rule
from tideflow.graph import dtypes
from tideflow.graph.op import Op
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays.distinct import by_first_occurrence
from tideflow.ops.arrays.indexing import gather_v2_op
from tideflow.ops.helpers.rows import have_repeats
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.math.segments import folded
from tideflow.runtime.devices import CPU
from tideflow.runtime.resources import Variable

# Rules put it into programs only, never into a graph, so it has no gradient.
gather_rows_op = Op(
    "_GatherRows",
    "params: Ref(Tparams), indices: Tindices -> output: Tparams",
    Tindices=types("int16 int32 int64"),
    stateful=True,
    differentiable=False,
)
gather_rows_op.shape(lambda params, indices: indices.concatenate(params[1:]))
gather_rows_op.samples(())


@gather_rows_op.kernel
def _gather_rows_kernel(params: Variable, indices: torch.Tensor) -> Any:
    return params.look(lambda value: gather_v2_op.kernels[""](value, indices, 0, batch_dims=0))


@gather_rows_op.kernel("string")
def _gather_rows_string_kernel(params: Variable, indices: torch.Tensor) -> Any:
    return params.look(lambda value: gather_v2_op.kernels["string"](value, indices, 0, batch_dims=0))


@rule("GatherV2", phase="fuse")
def rows_of_a_variable(node: Node, sweep: Sweep) -> Any:
    """GatherV2(_Read(v), i, axis=0) -> _GatherRows(v, i): where nothing has written v since, rows are taken
    when the indices are there, and no update has to copy the variable because of this step
    """
    read, indices, axis = node.inputs
    reader = read.op
    if (
        reader.type != read_op.name
        or axis.constant is None
        or axis.constant.item() != 0
        or node.attrs["batch_dims"] != 0
        or read.shape.ndims is None
        or read.shape.ndims < 1
        or reader.device != node.device
        or not reader.guards <= node.guards
        or _may_be_written(reader.inputs[0], reader, sweep)
    ):
        return None
    return sweep.make(gather_rows_op, [reader.inputs[0], indices], node.attrs, node)


def _may_be_written(ref: Value, since: Node, sweep: Sweep) -> bool:
    """Whether anything that this step does after a node may change a variable."""
    state = states([ref])
    for node in reversed(sweep.nodes):
        if node is since:
            return False
        if isinstance(node, Loop):
            if node.effects:
                return True
        elif (
            node.effects
            and not (node.definition.role == "read" or node.definition is gather_rows_op)
            and states(node.inputs) & state
        ):
            return True
    return True  # the read is outside of this loop


summed_rows_op = Op(
    "_SummedRows",
    "data: T, indices: Tindices -> sums: T, distinct: Tindices",
    Tindices=types("int32 int64"),
    differentiable=False,
)


@summed_rows_op.shape
def _summed_rows_shape(data: TensorShape, indices: TensorShape) -> list[Any]:
    return [TensorShape([None]).concatenate(data[1:]), [None]]


@summed_rows_op.kernel
def _summed_rows_kernel(data: torch.Tensor, indices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if not have_repeats(indices):
        return data, indices
    first, numbers, _ = by_first_occurrence(indices)
    return folded(data, numbers, len(first), "sum", 0), indices[first]


summed_rows_op.samples(
    (f32(4, 3), np.array([2, 0, 2, 1], np.int32)),
    (f32(2, 3), np.array([2, 0], np.int64)),
    (f32(0, 3), np.array([], np.int32)),
)


@rule("UnsortedSegmentSum", phase="fuse")
def sum_of_equal_rows(node: Node, sweep: Sweep) -> Any:
    """UnsortedSegmentSum(g, n, size(y)), y with y, n = Unique(i) -> _SummedRows(g, i): optimizers add up what
    comes for the same row of a variable, and mostly each row comes once
    """
    data, numbers, size = node.inputs
    unique = numbers.op
    if unique.type != "Unique" or numbers is not unique.outputs[1] or not _is_size(size, unique.outputs[0]):
        return None
    indices = unique.inputs[0]
    if (
        indices.dtype not in (dtypes.int32, dtypes.int64)
        or not indices.shape.is_fully_defined()
        or not data.shape.ndims
        or data.shape[:1].as_list() != indices.shape.as_list()
        or {unique.device, node.device} != {CPU}
        or unique.guards != node.guards
    ):
        return None
    attrs = {"T": node.attrs["T"], "Tindices": indices.dtype}
    sums, distinct = sweep.make(summed_rows_op, [data, indices], attrs, node)
    sweep.replaced[unique.outputs[0]] = distinct
    sweep.uses[distinct] = sweep.uses[unique.outputs[0]]
    return sums


def _is_size(size: Value, vector: Value) -> bool:
    """Whether a number is the only one of the vector's shape."""
    made_by = size.op
    if made_by.type != "StridedSlice" or size.shape.ndims != 0:
        return False
    sizes = made_by.inputs[0].op
    return sizes.type == "Shape" and sizes.inputs[0] is vector
