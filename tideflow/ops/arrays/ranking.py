"""The largest elements: top k, whether a target is among them, and the n-th element in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph.dtypes import int32, int64
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import creation, indexing, joining, scatter, shapes
from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.axes import COUNT, of_rank, of_rank_at_least, scalar
from tideflow.ops.helpers.samples import f32, i32
from tideflow.ops.helpers.types import INDEX, REAL, types
from tideflow.ops.helpers.unsigned import by_order, widened
from tideflow.ops.math import binary, casting, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

# ---------------------------------------------------------------------------- top k


def top_k_sizes(input: TensorShape, k: int | None) -> list:
    """The shapes of the elements and of their places."""
    sizes = of_rank_at_least(input, 1).tuple
    if k is not None and k < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {k}",
            f"Need k >= 0, got {k}",
        )
    if sizes is None:
        return [None, None]
    if None not in (k, sizes[-1]) and sizes[-1] < k:
        raise ShapeError(f"input must have last dimension >= k = {k} but is {sizes[-1]}")
    return [[*sizes[:-1], k]] * 2


_FEW = 64  # elements: sorting all of them is quicker than choosing


def _sorted_top(input: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.sort(input, dim=-1, descending=True, stable=True)
    return values[..., :k], indices[..., :k]


def _as_integers(input: torch.Tensor) -> torch.Tensor:
    """int64 in the order of the elements; -0.0 is 0.0."""
    if not input.is_floating_point():
        return input.long()
    bits = (input.float() + 0.0).view(torch.int32)
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long()


def _taken(input: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    return widened(lambda values: values.gather(-1, indices))(input)


def _top_k(input: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest of each row in falling order; of equal ones the first comes first."""
    if not input.ndim:
        raise ShapeError(f"input must be >= 1-D, got shape {brackets(input.shape)}")
    size = input.shape[-1]
    if k < 0:
        raise ShapeError(f"Need k >= 0, got {k}")
    if k > size:
        raise ShapeError(f"input must have at least k columns. Had {size}, needed {k}")
    if k == 1 and cpu_functions.is_for_search(input):
        indices = cpu_functions.search(np.argmax, input, -1).unsqueeze(-1)
        return _taken(input, indices), indices
    if input.dtype.itemsize > 4 or size <= _FEW:
        return _sorted_top(input, k)
    # A key of 64 bits: the element's, made to order like integers; below them its place, counted backwards.
    places = torch.arange(size - 1, -1, -1, device=input.device)
    keys = torch.topk((_as_integers(input) << 32) | places, k).values
    indices = (size - 1) - (keys & 0xFFFFFFFF)
    return _taken(input, indices), indices


def _put_back(op: Any, grad: Tensor) -> Tensor:
    """The gradient at the places of the elements that were taken, 0 elsewhere."""
    sizes, taken = shapes.shape(op.inputs[0]), shapes.shape(op.outputs[1])
    last_taken = _last_as_int64(taken)
    rows = shapes.reshape(op.outputs[1], joining.stack([-1, last_taken]))
    width = _last_as_int64(sizes)
    count = shapes.shape(rows)[0]
    starts = creation.range(0, casting.cast(count, int64) * width, width)
    flat = shapes.reshape(rows + casting.cast(shapes.expand_dims(starts, -1), int32), [-1])
    places, values = shapes.expand_dims(flat, -1), shapes.reshape(grad, [-1])
    return shapes.reshape(scatter.scatter_nd(places, values, [reductions.reduce_prod(sizes)]), sizes)


def _last_as_int64(sizes: Tensor) -> Tensor:
    return indexing.gather(casting.cast(sizes, int64), shapes.size(sizes) - 1)


def _top_k_by_sorting(input: np.ndarray, k: int, **attrs: Any) -> tuple[np.ndarray, np.ndarray]:
    indices = np.argsort(-input, -1, kind="stable")[..., : int(k)]
    return np.take_along_axis(input, indices, -1), indices.astype(np.int32)


top_k_op = Op("TopK", "input: T -> values: T, indices: int32", T=REAL, k=attr("int", minimum=0), sorted=True)


@top_k_op.shape
def _top_k_shape(input, *, k):
    return top_k_sizes(input, k)


@top_k_op.kernel
def _top_k_kernel(input, *, k):
    values, indices = _top_k(input, k)
    return values, indices.int()


@top_k_op.gradient
def _top_k_gradient(op, grad, indices_grad):
    return _put_back(op, grad)


top_k_op.samples((f32(2, 5), {"k": 3}), (i32(7), {"k": 7}), (f32(0, 3), {"k": 2}), against=_top_k_by_sorting)

_SIZES = types("int16 int32 int64")

top_k_v2_op = Op(
    "TopKV2",
    "input: T, k: Tk -> values: T, indices: index_type",
    host="k",
    T=REAL,
    Tk=attr("type", "int32", allowed=_SIZES),
    index_type=attr("type", "int32", allowed=_SIZES),
    sorted=True,
)


@top_k_v2_op.shape
def _top_k_v2_shape(input, k):
    return top_k_sizes(input, scalar(k, "k must be scalar, got shape ", COUNT))


@top_k_v2_op.kernel
def _top_k_v2_kernel(input, k, *, index_type):
    values, indices = _top_k(input, k)
    return values, indices.to(index_type.torch)


@top_k_v2_op.gradient
def _top_k_v2_gradient(op, grad, indices_grad):
    return _put_back(op, grad), creation.zeros([], dtype=int32)


top_k_v2_op.samples(
    (f32(2, 5), 3), (f32(3, 2, 70), 4), (i32(6), 0), (f32(0, 3), 2), against=_top_k_by_sorting
)
top_k_v2_op.refuses((f32(2, 4), 5), "input must have last dimension >= k = 5 but is 4")
top_k_v2_op.refuses((f32(), 1), "Shape must be at least rank 1 but is rank 0")


@export("nn.top_k", "math.top_k")
def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Finds the largest elements of each row, the largest first; of equal ones, the first.

    Args:
      input: A tensor of real numbers, the rows along its last axis.
      k: How many elements, a scalar of at most the length of a row.
      sorted: Not needed here: the elements are always sorted.
      name: A name for the operation.

    Returns:
      `values`, the elements, and `indices`, their places in the rows, of type int32.
    """
    return top_k_v2_op(input, k, sorted=sorted, name=name)


# ---------------------------------------------------------------------------- in top k


def precision_shape(predictions: TensorShape, targets: TensorShape) -> list:
    """A truth value for each row of predictions."""
    rows = of_rank(predictions, 2, "predictions must be 2-dimensional").tuple[0]
    count = of_rank(targets, 1, "targets must be 1-dimensional").tuple[0]
    if None not in (rows, count) and rows != count:
        raise ShapeError(
            f"Dimensions must be equal, but are {rows} and {count}: rows of predictions and targets",
            f"First dimension of predictions {rows} must match length of targets {count}",
        )
    return [count if rows is None else rows]


def _in_top_k(predictions: torch.Tensor, targets: torch.Tensor, k: int) -> torch.Tensor:
    """Whether fewer than k predictions of a row exceed the target's; no, where one of them is not finite."""
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    if not classes:
        return valid
    columns = torch.where(valid, targets, 0).long().unsqueeze(1)
    chosen = predictions.gather(1, columns)
    if classes < 16 * _FIRST or not predictions.is_cpu or type(predictions) is not torch.Tensor:
        return valid & _are_few_larger(predictions, chosen, k)
    # Of most rows the first classes say no already.
    valid = valid & _are_few_larger(predictions[:, :_FIRST], chosen, k)
    rows = valid.nonzero().squeeze(1)
    if 2 * len(rows) > len(predictions):
        return valid & _are_few_larger(predictions, chosen, k)
    valid[rows] = _are_few_larger(predictions[rows], chosen[rows], k)
    return valid


_FIRST = 64  # classes


def _are_few_larger(predictions: torch.Tensor, chosen: torch.Tensor, k: int) -> torch.Tensor:
    """Of each row: whether fewer than k are larger than the chosen one, and all are finite."""
    is_larger = cpu_functions.TESTS[torch.gt](predictions, chosen)
    is_finite = cpu_functions.TESTS[torch.isfinite](predictions)
    return cpu_functions.of_truths(torch.all, np.all, is_finite, [1]) & (
        is_larger.sum(1, dtype=torch.int32) < k
    )


def _reaches_the_kth(predictions: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    """Row by row: whether the target's prediction is no less than the k-th largest."""
    found = [
        0 <= target < len(row) and row[target] >= np.sort(row)[-int(k)]
        for row, target in zip(predictions, targets, strict=True)
    ]
    return np.array(found, bool)


in_top_k_op = Op(
    "InTopK",
    "predictions: float, targets: T -> precision: bool",
    T=INDEX,
    k=attr("int"),
    differentiable=False,
)

in_top_k_op.shape(precision_shape)


@in_top_k_op.kernel
def _in_top_k_kernel(predictions, targets, *, k):
    return _in_top_k(predictions, targets, k)


in_top_k_op.samples(
    (f32(4, 5), i32(4, low=0, high=5), {"k": 2}),
    (f32(0, 3), i32(0), {"k": 1}),
    against=_reaches_the_kth,
)

in_top_k_v2_op = Op(
    "InTopKV2",
    "predictions: float, targets: T, k: T -> precision: bool",
    host="k",
    T=INDEX,
    differentiable=False,
)


@in_top_k_v2_op.shape
def _in_top_k_v2_shape(predictions, targets, k):
    scalar(k, "k must be 0-D, got shape ")
    return precision_shape(predictions, targets)


@in_top_k_v2_op.kernel
def _in_top_k_v2_kernel(predictions, targets, k):
    return _in_top_k(predictions, targets, k)


in_top_k_v2_op.samples(
    (f32(4, 5), i32(4, low=0, high=5), 2),
    (f32(3, 5), i32(3, low=-2, high=8), 3),
    against=_reaches_the_kth,
)
in_top_k_v2_op.refuses((f32(2, 4), i32(3), 1), "Dimensions must be equal, but are 2 and 3")


@export("nn.in_top_k", "math.in_top_k")
def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Tells for each row whether its target is among the k largest predictions; ties at the border count.

    Args:
      predictions: A matrix of type float32, a row for each target.
      targets: The class of each row, a vector of integers.
      k: How many predictions, a scalar.
      name: A name for the operation.

    Returns:
      A vector of type bool; False where a target is out of range, or a prediction of its row is not finite.
    """
    with name_scope(name, "in_top_k"):
        return in_top_k_v2_op(predictions, targets, k, name=name)


# ---------------------------------------------------------------------------- n-th element

nth_element_op = Op("NthElement", "input: T, n: int32 -> values: T", host="n", T=REAL, reverse=False)


@nth_element_op.shape
def _nth_element_shape(input, n):
    sizes = of_rank_at_least(input, 1).tuple
    if scalar(n, "N must be scalar, got shape ", COUNT) is not None and n < 0:
        raise ShapeError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {n}",
            f"Need n >= 0, got {n}",
        )
    if sizes is None:
        return None
    if None not in (n, sizes[-1]) and sizes[-1] <= n:
        raise ShapeError(f"Input must have last dimension > n = {n} but is {sizes[-1]}")
    return sizes[:-1]


@nth_element_op.kernel
def _nth_element_kernel(input, n, *, reverse):
    size = input.shape[-1]
    if n < 0:
        raise ShapeError(f"Need n >= 0, got {n}")
    if n >= size:
        raise ShapeError(f"Input must have at least n+1 columns: last dimension > n = {n} but is {size}")
    place = size - n if reverse else n + 1

    def smallest(rows: torch.Tensor) -> torch.Tensor:
        return torch.kthvalue(rows, place, -1).values

    return widened(smallest, uint64=by_order(smallest))(input)


@nth_element_op.gradient
def _nth_element_gradient(op, grad):
    input, output = op.inputs[0], op.outputs[0]
    chosen = casting.cast(binary.equal(shapes.expand_dims(output, -1), input), grad.dtype)
    count = shapes.expand_dims(reductions.reduce_sum(chosen, -1), -1)
    return binary.div(chosen, count) * shapes.expand_dims(grad, -1), None


def _nth_by_sorting(input: np.ndarray, n: Any, reverse: bool = False) -> np.ndarray:
    return np.sort(input, -1)[..., -1 - int(n) if reverse else int(n)]


nth_element_op.samples(
    (f32(2, 5), 0), (f32(2, 5), 3, {"reverse": True}), (i32(4), 2), (f32(0, 3), 1), against=_nth_by_sorting
)
nth_element_op.refuses((f32(3), 3), "Input must have last dimension > n = 3 but is 3")
