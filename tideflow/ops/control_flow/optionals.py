"""Optionals: a value that may be there, or not. Gradients of functional conditionals pass through them what
only the branch that was taken has.
"""

from __future__ import annotations

from typing import Any

import torch

from tideflow.graph import errors
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.runtime.tensor_lists import as_variant, zeros_of
from tideflow.runtime.values import empty_like_type

_TESTS = "tests/ops/control_flow/test_optionals.py"


class Optional:
    """The components of a value, or none at all."""

    def __init__(self, components: list[Any] | None):
        self.components = components

    def zeros_like(self) -> Optional:
        """An optional of zeros, or an empty one."""
        return Optional(None if self.components is None else [_zeros(part) for part in self.components])

    def plus(self, other: Optional) -> Optional:
        """The sums of the components; of one that is empty, the other."""
        if self.components is None or other.components is None:
            return other if self.components is None else self
        return Optional([a + b for a, b in zip(self.components, other.components, strict=True)])


def _zeros(part: Any) -> Any:
    return torch.zeros_like(part) if isinstance(part, torch.Tensor) else zeros_of(part)


from_value_op = Op(
    "OptionalFromValue",
    "components: Toutput_types -> optional: variant",
    Toutput_types=attr("list(type)", minimum=1),
)
from_value_op.shape(lambda components: [])
from_value_op.kernel(lambda components: as_variant(Optional(list(components))))


@from_value_op.gradient
def _from_value_gradient(op, grad):
    shapes = [tensor.shape for tensor in op.inputs]
    return get_value_op(grad, output_types=op.attrs["Toutput_types"], output_shapes=shapes)


from_value_op.samples(covered_by=_TESTS)

none_op = Op("OptionalNone", " -> optional: variant", differentiable=False)
none_op.shape(lambda: [])
none_op.kernel(lambda: as_variant(Optional(None)))
none_op.samples(covered_by=_TESTS)

has_value_op = Op("OptionalHasValue", "optional: variant -> has_value: bool", differentiable=False)
has_value_op.shape(lambda optional: [])
has_value_op.kernel(lambda optional: torch.tensor(optional[()].components is not None))
has_value_op.samples(covered_by=_TESTS)

get_value_op = Op(
    "OptionalGetValue",
    "optional: variant -> components: output_types",
    output_types=attr("list(type)", minimum=1),
    output_shapes=attr("list(shape)", minimum=1),
)
get_value_op.shape(lambda optional, *, output_shapes: output_shapes)


@get_value_op.kernel
def _get_value_kernel(optional, *, output_types):
    components = optional[()].components
    if components is None:
        raise errors.invalid_argument("The given optional does not have a value.")
    for position, (part, dtype) in enumerate(zip(components, output_types, strict=True)):
        wanted = empty_like_type(dtype, ()).dtype
        if part.dtype != wanted:
            raise errors.invalid_argument(
                f"The given optional does not match the expected type for component {position}."
            )
    return components


@get_value_op.gradient
def _get_value_gradient(op, *grads):
    return from_value_op(list(grads))


get_value_op.samples(covered_by=_TESTS)
