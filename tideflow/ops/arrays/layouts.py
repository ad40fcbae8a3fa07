"""Axes and sizes of images from one order of the axes (NHWC) to another (NCHW)."""

from __future__ import annotations

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.ops.helpers.axes import brackets
from tideflow.ops.helpers.elementwise import same_shape
from tideflow.ops.helpers.samples import i32, i64
from tideflow.ops.helpers.types import INDEX


def _layout_op(name: str) -> Op:
    return Op(
        name,
        "x: T -> y: T",
        T=INDEX,
        src_format="NHWC",
        dst_format="NCHW",
        differentiable=False,
    )


def _check_formats(source: str, target: str) -> None:
    for which, axes, name in (("Source", source, "src_format"), ("Destination", target, "dst_format")):
        if len(axes) not in (4, 5):
            raise ShapeError(f"{which} format must be of length 4 or 5, received {name} = {axes}")
    if sorted(source) != sorted(target) or len(set(source)) < len(source):
        raise ShapeError(
            f"Destination and source format must determine a permutation, got {source} and {target}"
        )


dim_map_op = _layout_op("DataFormatDimMap")
dim_map_op.shape(same_shape)


@dim_map_op.kernel
def _dim_map_kernel(x, *, src_format, dst_format):
    """The number of an axis, from either end, in the other order."""
    _check_formats(src_format, dst_format)
    places = torch.tensor([dst_format.index(axis) for axis in src_format], dtype=x.dtype, device=x.device)
    count = len(src_format)
    if x.numel() and not bool(((x >= -count) & (x < count)).all()):
        raise ShapeError(f"Axes of {src_format} are from {-count} to {count - 1}")
    return places[x.long() % count]


dim_map_op.samples(
    (i32(2, 4, low=-4, high=4),),
    (i64(3, low=0, high=4), {"src_format": "HWNC", "dst_format": "WHCN"}),
    (i32(0),),
    against=lambda x, src_format, dst_format: np.array(
        [dst_format.index(src_format[axis]) for axis in x.ravel()], x.dtype
    ).reshape(x.shape),
)

vec_permute_op = _layout_op("DataFormatVecPermute")
vec_permute_op.shape(same_shape)


@vec_permute_op.kernel
def _vec_permute_kernel(x, *, src_format, dst_format):
    """The sizes of the axes (or pairs of numbers for them) in the other order."""
    _check_formats(src_format, dst_format)
    if x.dim() not in (1, 2):
        raise ShapeError(f"input must be a vector or 2D tensor, but got shape {brackets(x.shape)}")
    if len(x) != len(src_format):
        what = "1D input" if x.dim() == 1 else "First dimension of 2D input"
        raise ShapeError(f"{what} must be of size {len(src_format)}, but got shape {brackets(x.shape)}")
    if x.dim() == 2 and x.shape[1] != 2:
        raise ShapeError(f"Second dimension of 2D input must be of size 2, but got shape {brackets(x.shape)}")
    return x[[src_format.index(axis) for axis in dst_format]]


vec_permute_op.samples(
    (np.array([7, 4, 9, 3], np.int32),),
    (i64(4, 2), {"src_format": "NCHW", "dst_format": "NHWC"}),
    against=lambda x, src_format, dst_format: np.array(
        [dict(zip(src_format, x.tolist(), strict=True))[axis] for axis in dst_format], x.dtype
    ),
)
vec_permute_op.refuses((i32(3),), "1D input must be of size 4, but got shape [3]", InvalidArgumentError)
vec_permute_op.refuses((i32(2, 3, 4),), "input must be a vector or 2D tensor", InvalidArgumentError)
