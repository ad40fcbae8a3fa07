"""Products of vectors and tensors as op types: Cross and Einsum. `contraction` has what users call."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import errors
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers import unsigned
from tideflow.ops.helpers.axes import brackets, merged, of_rank_at_least
from tideflow.ops.helpers.broadcasting import broadcast_shapes
from tideflow.ops.helpers.samples import c64, f32, i32
from tideflow.ops.helpers.types import REAL
from tideflow.ops.linalg.matrices import same_size

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------------- cross product

cross_op = Op("Cross", "a: T, b: T -> product: T", T=REAL)


@cross_op.shape
def _cross_shape(a, b):
    both = merged(of_rank_at_least(a, 1), of_rank_at_least(b, 1))
    if both.tuple is not None and both.tuple[-1] not in (None, 3):
        raise ShapeError(f"Dimension must be 3 but is {both.tuple[-1]}")
    return both


@cross_op.kernel
@unsigned.modular
def _cross_kernel(a, b):
    if a.shape != b.shape:
        raise ShapeError(f"Both inputs must be of same shape: {brackets(a.shape)} vs. {brackets(b.shape)}")
    if not a.dim():
        raise ShapeError("Input must be at least 1D[]")
    if a.shape[-1] != 3:
        raise errors.failed_precondition("Cross-products are only defined for 3-element vectors.")
    return torch.linalg.cross(a, b)


@cross_op.gradient
def _cross_gradient(op, grad):
    a, b = op.inputs
    return cross(b, grad), cross(grad, a)


cross_op.samples(
    (f32(3), f32(3)),
    (f32(2, 4, 3), f32(2, 4, 3)),
    (i32(2, 3), i32(2, 3)),
    (np.arange(6, dtype=np.uint16).reshape(2, 3), np.arange(6, dtype=np.uint16)[::-1].reshape(2, 3)),
    (f32(0, 3), f32(0, 3)),
    against=lambda a, b: np.cross(a, b).astype(a.dtype),
)
cross_op.refuses((f32(2), f32(2)), "Dimension must be 3 but is 2")
cross_op.refuses((f32(2, 3), f32(3)), "Shapes must be equal rank, but are 2 and 1")


@export("cross", "linalg.cross")
def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The vector product of each pair of vectors of three elements.

    Args:
      a: A tensor of real numbers whose last axis has size 3.
      b: A tensor of the shape and type of `a`.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `a`: vectors at right angles to both.
    """
    return cross_op(a, b, name=name)


# ---------------------------------------------------------------------------------- einsum

einsum_op = Op("Einsum", "inputs: N * T -> output: T", equation=attr("string"))


def _parsed(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each input and of the output; an ellipsis is the one label '.'."""
    inputs, arrow, output = equation.partition("->")
    if not arrow or "->" in output:
        raise ShapeError(f"Expecting exactly one '->' in einsum equation: {equation}")
    labels = inputs.split(",")
    if len(labels) > 2:
        raise ShapeError(f"Expecting 1 or 2 input subscripts in equation '{equation}' but got: {len(labels)}")
    if len(labels) != count:
        raise ShapeError(f"Expected {len(labels)} inputs for equation {equation} but got: {count}")
    parts = [part.replace("...", ".") for part in (*labels, output)]
    if not all(re.fullmatch(r"[a-zA-Z]*\.?[a-zA-Z]*", part) for part in parts):
        raise ShapeError(f"Invalid character in equation '{equation}': labels are letters, or an ellipsis")
    for label in parts[-1]:
        if label != "." and not any(label in part for part in parts[:-1]):
            raise ShapeError(
                f"Einsum output subscripts for equation '{equation}' has label '{label}' which is not "
                "present in the input subscripts"
            )
    return parts[:-1], parts[-1]


def _sizes(labels: str, shape: TensorShape, place: int) -> dict[str, Any]:
    """The size of each label, and the shape of what an ellipsis stands for."""
    named = len(labels.replace(".", ""))
    if "." not in labels and len(shape) != named:
        raise ShapeError(
            f"Shape must be rank {named} but is rank {len(shape)}",
            f"Expected input {place} to have rank {named} but got: {len(shape)}",
        )
    of_rank_at_least(shape, named)
    before, _, after = labels.partition(".")
    sizes: dict[str, Any] = {}
    ends = [*zip(before, shape.tuple, strict=False)]
    ends += zip(after, shape.tuple[len(shape) - len(after) :], strict=False)
    for label, size in ends:
        sizes[label] = same_size(sizes.get(label), size)
    if "." in labels:
        sizes["."] = shape[len(before) : len(shape) - len(after)]
    return sizes


@einsum_op.shape
def _einsum_shape(inputs, *, equation):
    labels, output = _parsed(equation, len(inputs))
    if any(shape.ndims is None and "." in part for part, shape in zip(labels, inputs, strict=True)):
        return None
    sizes: dict[str, Any] = {}
    for place, (part, shape) in enumerate(zip(labels, inputs, strict=True)):
        if shape.ndims is None:
            shape = TensorShape([None] * len(part))
        for label, size in _sizes(part, shape, place).items():
            if label == ".":
                sizes["."] = broadcast_shapes(sizes.get(".", TensorShape([])), size)
            else:
                known = sizes.get(label)
                sizes[label] = same_size(
                    known,
                    size,
                    f"Expected dimension {known} at axis {part.find(label)} of the input shaped "
                    f"{brackets(shape.tuple)} but got dimension {size}",
                )
    hidden = sizes.get(".")
    if hidden is not None and len(hidden) and "." not in output:
        raise ShapeError(f"Shape must be at most rank 0 but is rank {len(hidden)}")
    result = TensorShape([])
    for label in output:
        result = result.concatenate((hidden or TensorShape([])) if label == "." else [sizes[label]])
    return result


def _on_diagonals(result: torch.Tensor, labels: str, output: str) -> torch.Tensor:
    """Axes for labels that the output repeats: what was there is on their common diagonal, else is zero."""
    hidden = result.dim() - len(labels.replace(".", ""))
    dots = "".join([letter for letter in string.ascii_letters if letter not in output][:hidden])
    labels, output = labels.replace(".", dots), output.replace(".", dots)
    sizes = dict(zip(labels, result.shape, strict=True))
    whole = result.new_zeros([sizes[label] for label in output])
    strides: dict[str, int] = {}
    for label, stride in zip(output, whole.stride(), strict=True):
        strides[label] = strides.get(label, 0) + stride
    whole.as_strided(result.shape, [strides[label] for label in labels]).copy_(result)
    return whole


@einsum_op.kernel
def _einsum_kernel(inputs, *, equation):
    labels, output = _parsed(equation, len(inputs))
    for place, (part, value) in enumerate(zip(labels, inputs, strict=True)):
        _sizes(part, TensorShape(value.shape), place)
    once = "".join(dict.fromkeys(output))  # ATen names each axis of the result once
    result = torch.einsum(f"{','.join(labels)}->{once}".replace(".", "..."), inputs)
    return result if once == output else _on_diagonals(result, once, output)


einsum_op.gradient(undefined_gradient)


def _numpy_einsum(inputs: list[np.ndarray], equation: str) -> np.ndarray:
    return np.einsum(equation, *inputs)


einsum_op.samples(
    ([f32(2, 3), f32(3, 4)], {"equation": "ij,jk->ik"}),
    ([f32(5, 1, 2, 3), f32(4, 3, 2)], {"equation": "...ij,...jk->...ik"}),
    ([f32(3, 3, 2)], {"equation": "iij->j"}),
    ([c64(2, 3)], {"equation": "aB->Ba"}),
    ([f32(2, 3), f32(2, 3)], {"equation": "ij,ij->"}),
    against=_numpy_einsum,
)
einsum_op.refuses(
    ([f32(2, 3), f32(4, 5)], {"equation": "ij,jk->ik"}), "Dimensions must be equal, but are 3 and 4"
)
einsum_op.refuses(([f32(2, 3)], {"equation": "ijk->ik"}), "Shape must be rank 3 but is rank 2")
einsum_op.refuses(([f32(2, 3)], {"equation": "ij->ijz"}), "which is not present in the input subscripts")
einsum_op.refuses(([f32(2, 3)], {"equation": "ij"}), "Expecting exactly one '->' in einsum equation")
