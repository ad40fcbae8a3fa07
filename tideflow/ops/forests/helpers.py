"""What the ops of random forests share: their handles, and batches of examples."""

from __future__ import annotations

from typing import Any

import torch

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.session_objects import NAMED, found
from tideflow.runtime.forest_data import Examples, InputSpec
from tideflow.runtime.values import to_numpy

TESTS = "tests/ops/forests/test_forests.py"
PARAMS = {"params": attr("string")}
INPUTS = (
    "input_data: float, sparse_input_indices: int64, sparse_input_values: float, sparse_input_shape: int64"
)


def handle_op(name: str, kind: str, made: Any) -> Op:
    """An op that returns the handle of a session's tree or statistics, made on first use."""
    op = Op(
        name,
        " -> resource: resource",
        stateful=True,
        handle=True,
        differentiable=False,
        is_model_state=True,
        **NAMED,
    )
    op.shape(lambda: [])
    op.kernel(lambda *, resources, node: found(kind, made, resources, node))
    op.samples(covered_by=TESTS)
    return op


def forest_op(name: str, signature: str, **options: Any) -> Op:
    """An op on a tree or its statistics."""
    op = Op(name, signature, stateful=True, on_host=True, differentiable=False, **options)
    op.samples(covered_by=TESTS)
    return op


def created(held: Any) -> Any:
    """A tree or its statistics, which must have been made."""
    if not held.initialized:
        raise held.missing()
    return held


def examples_of(
    dense: torch.Tensor, indices: torch.Tensor, values: torch.Tensor, shape: torch.Tensor, spec: str | bytes
) -> Examples:
    """A batch of examples, dense, sparse or both; what is not there is given as an empty vector."""
    rows = to_numpy(indices).reshape(-1, 2)
    return Examples(to_numpy(dense), rows, to_numpy(values), to_numpy(shape), InputSpec.parse(spec))
