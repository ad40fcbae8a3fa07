"""Rewrites of reads: a step that needs few rows of a variable does not hold all of it."""

from __future__ import annotations

from typing import Any

import torch

from tideflow.compile.ir import Loop, Node, Value, states
from tideflow.compile.prune import read_op
from tideflow.compile.rewrite import Sweep, rule
from tideflow.graph.op import Op
from tideflow.ops.arrays.indexing import gather_v2_op
from tideflow.ops.helpers.types import types
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
