"""How an op that makes a dataset is defined."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.ops.helpers.dataset_origins import Origin
from tideflow.runtime.datasets import as_cell, dataset_in

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
    structure: dict[str, Any] = STRUCTURE,
    metadata: bool = True,
    covered_by: str = "tests/ops/datasets/test_datasets.py",
    **attrs: Any,
) -> Op:
    """An op that makes a dataset.

    Args:
      name: The op type.
      inputs: Its inputs, as a schema has them.
      kernel: Makes the dataset, in the cell of a variant, of the inputs.
      host: The inputs that are Python values to the kernel.
      stateful: Whether another run may make another dataset.
      structure: The attributes that say what its elements are.
      metadata: Whether it has the attribute of that name, as nearly all have that are not experimental.
      covered_by: The test that runs it.
      **attrs: Further attributes.
    """
    op = Op(
        name,
        f"{inputs} -> handle: variant",
        host=host,
        stateful=stateful,
        on_host=True,
        differentiable=False,
        **structure,
        **attrs,
        **(METADATA if metadata else {}),
    )
    op.shape(lambda *inputs: [])
    op.kernel(_with_origin(kernel))
    op.samples(covered_by=covered_by)
    return op


def _with_origin(kernel: Callable) -> Callable:
    """A kernel whose datasets tell the node and the inputs that they were made of."""
    parameters = inspect.signature(kernel).parameters.values()
    named = {each.name: each for each in parameters if each.kind is each.KEYWORD_ONLY}

    def _kernel(*inputs: Any, node: Any, **others: Any) -> np.ndarray:
        cell = kernel(*inputs, **others, **({"node": node} if "node" in named else {}))
        made = cell[()]
        made.origin = made.origin or Origin(node, inputs)  # an op may hand on its input
        return cell

    asked = named | {"node": inspect.Parameter("node", inspect.Parameter.KEYWORD_ONLY)}
    _kernel.__signature__ = inspect.Signature(list(asked.values()))  # type: ignore[attr-defined]
    return _kernel


def of_one(name: str, kind: Callable, rest: str = "", **options: Any) -> Op:
    """An op that makes a dataset of another one and of numbers: `kind(source, *numbers)`."""

    def _kernel(input_dataset: Any, *numbers: Any) -> np.ndarray:
        return as_cell(kind(dataset_in(input_dataset), *numbers))

    inputs = f"input_dataset: variant{', ' if rest else ''}{rest}"
    return dataset_op(name, inputs, _kernel, host=names_in(rest), **options)


def names_in(inputs: str) -> str:
    """The names of the inputs that a part of a schema has."""
    return " ".join(part.partition(":")[0].strip() for part in inputs.split(",") if part)
