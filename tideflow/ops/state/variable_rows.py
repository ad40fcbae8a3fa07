"""Rows of variables: taken by index (gather) and changed by index (scatter), of references and handles alike.

`Scatter*` counts rows along the first axis; `ScatterNd*` has index vectors into the first k axes, which are
the rows of the same buffer seen as a matrix. Every index is checked before the first element is written
(on GPUs, what an index outside of the variable says is left out).
Where one index occurs more than once, updates apply in the order given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import creation, indexing, joining, scatter, shapes
from tideflow.ops.helpers.integers import truncated_quotient
from tideflow.ops.helpers.rows import (
    Change,
    add_rows,
    change_rows,
    check_not_empty,
    check_rows,
    is_for_numpy,
    linear_rows,
    rows_at,
    subtract_rows,
)
from tideflow.ops.helpers.samples import f32, i32, i64, ref, resource
from tideflow.ops.helpers.types import INDICES, NUMERIC, types
from tideflow.ops.helpers.variables import as_signed, check_dtype, same_shape, shape_text, variable_shape_of
from tideflow.ops.math import casting
from tideflow.ops.state.reference_variables import is_reference
from tideflow.ops.state.resource_variables import variable_shape
from tideflow.runtime.values import to_numpy

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike, VariableLike

# ------------------------------------------------------------------------------------------------- rows taken

_F32 = {"dtype": dtypes.float32}

resource_gather_op = Op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    batch_dims=0,
    validate_indices=True,
    dtype=attr("type"),
    Tindices=INDICES,
    stateful=True,
)


@resource_gather_op.shape
def _resource_gather_shape(resource, indices, *, batch_dims, dtype):
    check_dtype(resource, dtype, "gather from")
    params = variable_shape_of(resource).with_rank_at_least(batch_dims + 1)
    if params.ndims is None or indices.ndims is None:
        return None
    batch = params[:batch_dims].merge_with(indices[:batch_dims])
    return batch.concatenate(indices[batch_dims:]).concatenate(params[batch_dims + 1 :])


def _check_batch_dims(batch_dims: int, params: Any, indices: torch.Tensor) -> None:
    if not 0 <= batch_dims < params.ndim or batch_dims > indices.ndim:
        raise ShapeError(
            f"batch_dims ({batch_dims}) must not be negative, and must be less than rank(params) "
            f"({params.ndim}) and at most rank(indices) ({indices.ndim})"
        )
    if tuple(params.shape[:batch_dims]) != tuple(indices.shape[:batch_dims]):
        raise ShapeError(
            f"params and indices must have the same first {batch_dims} sizes, but have shapes "
            f"{brackets(params.shape)} and {brackets(indices.shape)}"
        )


def _gathered_rows(params: torch.Tensor, indices: torch.Tensor, batch_dims: int) -> torch.Tensor:
    _check_batch_dims(batch_dims, params, indices)
    return indexing.gathered(params, indices, batch_dims, batch_dims)


@resource_gather_op.kernel
def _resource_gather_kernel(resource, indices, *, batch_dims):
    return resource.look(lambda params: _gathered_rows(params, indices, batch_dims))


@resource_gather_op.kernel("string")
def _resource_gather_string_kernel(resource, indices, *, batch_dims):
    def rows(params: np.ndarray) -> np.ndarray:
        _check_batch_dims(batch_dims, params, indices)
        check_rows(indices, params.shape[batch_dims])
        batch = np.indices(indices.shape[:batch_dims]).reshape(batch_dims, *indices.shape[:batch_dims])
        ones = (1,) * (indices.ndim - batch_dims)
        return np.asarray(
            params[(*(axis.reshape(*axis.shape, *ones) for axis in batch), indices.numpy())], object
        )

    return resource.look(rows)


@resource_gather_op.gradient
def _resource_gather_gradient(op, grad):
    """The rows that were taken, as slices of a variable of the handle's shape."""
    handle, indices = op.inputs
    params_shape = variable_shape(handle)
    size = shapes.expand_dims(shapes.size(indices), 0)
    values = shapes.reshape(grad, joining.concat([size, params_shape[1:]], 0))
    return IndexedSlices(values, shapes.reshape(indices, size), params_shape), None


resource_gather_op.samples(
    (resource(f32(4, 3)), i32(2, low=0, high=4), _F32),
    (resource(f32(4)), i64(low=0, high=4), _F32),
    (resource(f32(4, 3)), i32(0, low=0, high=4), _F32),
    (resource(f32(2, 4, 3)), i32(2, 5, low=0, high=4), {**_F32, "batch_dims": 1}),
    against=lambda params, indices, batch_dims: (
        np.stack([p[i] for p, i in zip(params, indices)]) if batch_dims else params[indices]
    ),
)

resource_gather_nd_op = Op(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    dtype=attr("type"),
    Tindices=INDICES,
    stateful=True,
)


@resource_gather_nd_op.shape
def _resource_gather_nd_shape(resource, indices, *, dtype):
    check_dtype(resource, dtype, "gather from")
    params = variable_shape_of(resource)
    if params.ndims is None or indices.ndims is None or indices.tuple[-1:] == (None,):
        return None
    depth = indices.with_rank_at_least(1).tuple[-1]
    if depth > params.ndims:
        found = f"indices.shape[-1] = {depth} and params.rank = {params.ndims}"
        raise ShapeError(f"indices.shape[-1] must be <= params.rank, but saw {found}")
    return indices[:-1].concatenate(params[depth:])


@resource_gather_nd_op.kernel
def _resource_gather_nd_kernel(resource, indices):
    return resource.look(lambda params: indexing.gathered_slices(params, indices))


@resource_gather_nd_op.kernel("string")
def _resource_gather_nd_string_kernel(resource, indices):
    def elements(params: np.ndarray) -> np.ndarray:
        linear_rows(indices, params.shape)
        return np.asarray(params[tuple(np.moveaxis(indices.numpy(), -1, 0))], object)

    return resource.look(elements)


@resource_gather_nd_op.gradient
def _resource_gather_nd_gradient(op, grad):
    handle, indices = op.inputs
    params_shape = variable_shape(handle, out_type=indices.dtype)
    if indices.shape.ndims == 2 and indices.shape.tuple[-1] == 1:
        return IndexedSlices(grad, shapes.squeeze(indices, axis=-1), params_shape), None
    return scatter.scatter_nd(indices, grad, params_shape), None


resource_gather_nd_op.samples(
    (resource(f32(4, 3)), i32(2, 1, low=0, high=3), _F32),
    (resource(f32(4, 3)), i64(2, 2, low=0, high=3), _F32),
    against=lambda params, indices: params[tuple(np.moveaxis(indices, -1, 0))],
)

# ----------------------------------------------------------------------------------------------- rows changed

_SERIAL = 1 << 15  # elements: ATen copies fewer than these in one thread, so in order


def _last_of_each(at: torch.Tensor) -> torch.Tensor | None:
    """Positions of the last occurrence of each index; None where no index occurs twice."""
    order = torch.argsort(at, stable=True)
    ends = torch.ones_like(at, dtype=torch.bool)
    ends[:-1] = at[order].diff() != 0
    return None if ends.all() else order[ends]


def _copy_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] = updates, the last of several for one row."""
    rows, updates = as_signed(rows), as_signed(updates)
    if is_for_numpy(rows):  # in one thread, and in a third of the time
        rows.numpy()[at.numpy()] = updates.numpy()
        return
    if updates.numel() >= _SERIAL or updates.is_cuda:
        last = _last_of_each(at)
        if last is not None:
            at, updates = at[last], updates[last]
    rows.index_copy_(0, at, updates)


def _turns(at: np.ndarray) -> list[Any]:
    """Positions by turn: no index twice in a turn, earlier occurrences in earlier turns."""
    if not len(at):
        return []
    order = np.argsort(at, kind="stable")
    in_order = at[order]
    is_first = np.concatenate([[True], in_order[1:] != in_order[:-1]])
    if is_first.all():
        return [slice(None)]
    starts = np.flatnonzero(is_first)
    turn = np.arange(len(at)) - starts[np.cumsum(is_first) - 1]
    return np.split(order[np.argsort(turn, kind="stable")], np.cumsum(np.bincount(turn))[:-1])


Combine = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _in_turns(combine: Combine, of_numpy: np.ufunc) -> Callable:
    """rows[at] = combine(rows[at], updates), one after the other where an index occurs more than once. NumPy
    has a loop for rows of one element.
    """

    def apply(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
        if _is_for_numpy(rows, updates):
            with np.errstate(all="ignore"):
                _change_by_numpy(of_numpy, rows.numpy(), at.numpy(), updates.numpy())
            return
        rows_now = as_signed(rows)
        for turn in _turns(to_numpy(at)):
            chosen = turn if isinstance(turn, slice) else torch.from_numpy(turn).to(at.device)
            here, new = at[chosen], updates[chosen]
            old = rows_now.index_select(0, here).view(rows.dtype)
            _copy_rows(rows, here, combine(old, new))

    return apply


def _is_for_numpy(rows: torch.Tensor, updates: torch.Tensor) -> bool:
    """Whether NumPy combines with these updates as TensorFlow does: there, one that is NaN is no extreme."""
    if rows.dtype not in (torch.float32, torch.float64) or not is_for_numpy(rows):
        return False
    return not np.isnan(updates.numpy()).any()


def _change_by_numpy(of_numpy: np.ufunc, rows: np.ndarray, at: np.ndarray, updates: np.ndarray) -> None:
    if rows.ndim == 1:
        of_numpy.at(rows, at, updates)
        return
    for turn in _turns(at):
        here = at[turn]
        rows[here] = of_numpy(rows[here], updates[turn])


def _divide(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    if old.is_floating_point() or old.is_complex():
        return old / new
    return truncated_quotient(old.long(), new.long()).to(old.dtype)


def _minimum(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.where(new < old, new, old)  # a NaN that arrives is ignored, one that is there stays


def _maximum(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.where(new > old, new, old)


def _scatter(variable: Any, indices: torch.Tensor, updates: torch.Tensor, change: Change) -> None:
    """Changes rows of a variable."""
    with variable as buffer:
        # A frame of its own: what it made is freed before the next writer checks whether `buffer` is held.
        _scatter_into(buffer, indices, updates, change)


def _scatter_into(buffer: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, change: Change) -> None:
    """Changes rows of `buffer`; a scalar update serves every row."""
    shape = tuple(buffer.shape)
    if not shape:
        raise errors.invalid_argument("params must be at least 1-D, got shape []")
    wanted = (*indices.shape, *shape[1:])
    if updates.ndim and updates.shape != wanted:
        raise errors.invalid_argument(
            f"shape of indices ({shape_text(indices.shape)}) is not compatible with the shape of updates "
            f"({shape_text(updates.shape)}). Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = [], got updates.shape {shape_text(updates.shape)}, indices.shape "
            f"{shape_text(indices.shape)}, params.shape {shape_text(shape)}"
        )
    at, is_missing = rows_at(indices.long(), shape[0])
    if indices.numel() and buffer.numel():
        updates = updates.expand(wanted).reshape(indices.numel(), *shape[1:])
        change_rows(change, buffer, at, updates, is_missing)


def _scatter_strings(variable: Any, indices: torch.Tensor, updates: np.ndarray) -> None:
    with variable as buffer:
        check_rows(indices, buffer.shape[0])
        wanted = (*indices.shape, *buffer.shape[1:])
        if updates.ndim and updates.shape != wanted:
            found = shape_text(updates.shape)
            raise errors.invalid_argument(f"updates.shape must be {shape_text(wanted)} or [], got {found}")
        buffer[indices.numpy()] = updates


def _scatter_shape(params: TensorShape, indices: TensorShape, updates: TensorShape) -> TensorShape:
    if updates.ndims != 0:
        same_shape(updates, indices.concatenate(params[1:]))
    return params


def _scatter_samples(variable: Callable) -> list[tuple]:
    return [
        (variable(f32(4, 3)), np.array([2, 0], np.int32), f32(2, 3, low=0.5, high=2.0)),
        (variable(f32(4)), np.array([1, 1, 3], np.int64), f32(3, low=0.5, high=2.0)),
        (variable(f32(4, 3)), np.array([[1], [3]], np.int32), f32(low=0.5, high=2.0)),
        (variable(f32(4, 3)), i32(0), f32(0, 3)),
    ]


def _one_by_one(update: Callable, by_slices: bool = False) -> Callable:
    """A reference: each update applied after the other."""

    def scattered(variable: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = variable.copy()
        places = indices.shape[:-1] if by_slices else indices.shape
        for place in np.ndindex(places):
            at = tuple(np.atleast_1d(indices[place]))
            result[at] = update(result[at], updates[place] if updates.ndim else updates)
        return result

    return scattered


def _twice(reference: Callable) -> Callable:
    """The reference for an op that gives the variable it has changed."""
    return lambda *inputs: (reference(*inputs),) * 2


def _the_new(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return new


def _scatter_op(name: str, types: Any, change: Callable, against: Callable, use_locking: bool = False) -> Op:
    """An op that changes rows of a reference variable."""
    op = Op(
        name,
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        T=types,
        Tindices=INDICES,
        use_locking=use_locking,
        stateful=True,
        colocate="ref",
        differentiable=False,
    )
    op.shape(_scatter_shape)

    @op.kernel
    def _kernel(ref, indices, updates):
        _scatter(ref, indices, updates, change)
        return ref

    op.samples(*_scatter_samples(ref), against=_twice(_one_by_one(against)))
    op.refuses(_BAD_ROW, "Dimension 0 in both shapes must be equal, but are 3 and 2")
    return op


def _resource_scatter_op(name: str, types: Any, change: Callable, against: Callable) -> Op:
    """An op that changes rows of a resource variable."""
    op = Op(
        name,
        "resource: resource, indices: Tindices, updates: dtype",
        dtype=types,
        Tindices=INDICES,
        stateful=True,
        differentiable=False,
    )

    @op.shape
    def _shape(resource, indices, updates, *, dtype):
        check_dtype(resource, dtype, "update")
        _scatter_shape(variable_shape_of(resource), indices, updates)

    @op.kernel
    def _kernel(resource, indices, updates):
        _scatter(resource, indices, updates, change)

    op.samples(*_scatter_samples(resource), against=_one_by_one(against))
    return op


_ROWS_AND_SLICES = (
    "indices: int32 or int64, of any shape: each number is a row.\n"
    "      updates: Of the variable's type and of shape `indices.shape + ref.shape[1:]`, or a scalar.",
    "indices: int32 or int64, of shape [..., k]: each vector is an index into the first k axes.\n"
    "      updates: Of the variable's type and of shape `indices.shape[:-1] + ref.shape[k:]`.",
)


def _scatter_function(
    name: str,
    reference_op: Op,
    handle_op: Op,
    doc: str,
    by_slices: bool = False,
    use_locking: bool = False,
) -> Callable:
    """The public function: the op on references, or the op on handles followed by a read."""

    def scatter(
        ref: VariableLike | Tensor,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = use_locking,
        name: str | None = None,
    ) -> Any:
        if is_reference(ref):
            return reference_op(ref, indices, updates, use_locking=use_locking, name=name)
        updates = convert_to_tensor(updates, ref.dtype)
        return ref._lazy_read(handle_op(ref.handle, indices, updates, name=name))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"""{doc}

    Where an index occurs more than once, its updates apply one after the other.

    Args:
      ref: The variable.
      {_ROWS_AND_SLICES[by_slices]}
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      InvalidArgumentError: When the step runs and an index is outside of the variable; nothing is changed.
    """
    return export(name)(scatter)


_ORDERED = types("half bfloat16 float double int32 int64")

_BAD_ROW = (ref(f32(3, 2)), np.array([0, 1], np.int32), f32(3, 2))

scatter_update_op = _scatter_op("ScatterUpdate", attr("type"), _copy_rows, _the_new, use_locking=True)


@scatter_update_op.kernel("string")
def _scatter_update_string_kernel(ref, indices, updates):
    _scatter_strings(ref, indices, updates)
    return ref


resource_scatter_update_op = _resource_scatter_op("ResourceScatterUpdate", attr("type"), _copy_rows, _the_new)


@resource_scatter_update_op.kernel("string")
def _resource_scatter_update_string_kernel(resource, indices, updates):
    _scatter_strings(resource, indices, updates)


scatter_update = _scatter_function(
    "scatter_update",
    scatter_update_op,
    resource_scatter_update_op,
    "Replaces rows of a variable.",
    use_locking=True,
)

scatter_add_op = _scatter_op("ScatterAdd", NUMERIC, add_rows, np.add)
resource_scatter_add_op = _resource_scatter_op("ResourceScatterAdd", NUMERIC, add_rows, np.add)
scatter_add = _scatter_function(
    "scatter_add", scatter_add_op, resource_scatter_add_op, "Adds to rows of a variable."
)

scatter_sub_op = _scatter_op("ScatterSub", NUMERIC, subtract_rows, np.subtract)
resource_scatter_sub_op = _resource_scatter_op("ResourceScatterSub", NUMERIC, subtract_rows, np.subtract)
scatter_sub = _scatter_function(
    "scatter_sub", scatter_sub_op, resource_scatter_sub_op, "Subtracts from rows of a variable."
)

_multiply_rows = _in_turns(torch.mul, np.multiply)
scatter_mul_op = _scatter_op("ScatterMul", NUMERIC, _multiply_rows, np.multiply)
resource_scatter_mul_op = _resource_scatter_op("ResourceScatterMul", NUMERIC, _multiply_rows, np.multiply)
scatter_mul = _scatter_function(
    "scatter_mul", scatter_mul_op, resource_scatter_mul_op, "Multiplies rows of a variable."
)

_divide_rows = _in_turns(_divide, np.divide)
scatter_div_op = _scatter_op("ScatterDiv", NUMERIC, _divide_rows, np.divide)
resource_scatter_div_op = _resource_scatter_op("ResourceScatterDiv", NUMERIC, _divide_rows, np.divide)
scatter_div = _scatter_function(
    "scatter_div", scatter_div_op, resource_scatter_div_op, "Divides rows of a variable."
)

_lower_rows = _in_turns(_minimum, np.minimum)
scatter_min_op = _scatter_op("ScatterMin", _ORDERED, _lower_rows, np.minimum)
resource_scatter_min_op = _resource_scatter_op("ResourceScatterMin", NUMERIC, _lower_rows, np.minimum)
scatter_min = _scatter_function(
    "scatter_min",
    scatter_min_op,
    resource_scatter_min_op,
    "Lowers rows of a variable to smaller updates, element by element.",
)

_raise_rows = _in_turns(_maximum, np.maximum)
scatter_max_op = _scatter_op("ScatterMax", _ORDERED, _raise_rows, np.maximum)
resource_scatter_max_op = _resource_scatter_op("ResourceScatterMax", NUMERIC, _raise_rows, np.maximum)
scatter_max = _scatter_function(
    "scatter_max",
    scatter_max_op,
    resource_scatter_max_op,
    "Raises rows of a variable to greater updates, element by element.",
)

# --------------------------------------------------------------------------------------------- slices changed


def _nd_rows(shape: tuple[int, ...], indices: Any, updates: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
    if not shape:
        raise errors.invalid_argument("Output must be at least 1-D, got shape: []")
    if not indices.ndim or not updates.ndim and indices.ndim > 1:
        raise errors.invalid_argument("Indices and updates of a scatter must be at least 1-D")
    if updates.ndim and indices.shape[0] != updates.shape[0]:
        raise errors.invalid_argument(
            "The outermost dimension of updates and indices must match. Got indices.shape "
            f"{shape_text(indices.shape)}, updates.shape {shape_text(updates.shape)}"
        )
    depth = indices.shape[-1]
    if depth > len(shape) or tuple(updates.shape) != (*indices.shape[:-1], *shape[depth:]):
        raise errors.invalid_argument(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {shape_text(updates.shape)}, indices.shape: {shape_text(indices.shape)}, "
            f"params_shape: {shape_text(shape)}, slice_dim: {depth}, and batch_dim: {indices.ndim - 1}"
        )
    check_not_empty(indices.numel(), math.prod(updates.shape), math.prod(shape))
    return linear_rows(indices, shape)


def _scatter_nd_into(
    buffer: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, change: Change
) -> None:
    """Changes the slices of `buffer` that the index vectors mean."""
    shape = tuple(buffer.shape)
    at, is_missing = _nd_rows(shape, indices, updates)
    depth = indices.shape[-1]
    if not (at.numel() and updates.numel()):
        return
    matrix = buffer.reshape(math.prod(shape[:depth]), *shape[depth:])
    change_rows(change, matrix, at, updates.reshape(at.numel(), *shape[depth:]), is_missing)
    if matrix.data_ptr() != buffer.data_ptr():  # the buffer's layout had no such view
        buffer.copy_(matrix.reshape(shape))


def _scatter_nd(variable: Any, indices: torch.Tensor, updates: torch.Tensor, change: Callable) -> None:
    with variable as buffer:
        _scatter_nd_into(buffer, indices, updates, change)


def _scatter_nd_strings(variable: Any, indices: torch.Tensor, updates: np.ndarray) -> None:
    with variable as buffer:
        _nd_rows(buffer.shape, indices, updates)
        buffer[tuple(np.moveaxis(indices.numpy(), -1, 0))] = updates


def _match(
    which: str, count: int, whole: TensorShape, part: TensorShape, updates: Any, theirs: Any, name: str
) -> None:
    try:
        same_shape(part, theirs)
    except ShapeError as error:
        wholes = [str(shape.as_list()).replace(" ", "").replace("None", "?") for shape in (whole, updates)]
        raise ShapeError(
            f"The {which} {count} dimensions of {name}.shape={wholes[0]} must match the {which} "
            f"{theirs.ndims} dimensions of updates.shape={wholes[1]}: {error}"
        ) from None


def _scatter_nd_shape(params: TensorShape, indices: TensorShape, updates: TensorShape) -> TensorShape:
    if indices.ndims is None or updates.ndims is None:
        return params
    if not indices.ndims:
        raise ShapeError("Shape must be at least rank 1 but is rank 0")
    check_not_empty(indices.num_elements(), updates.num_elements(), params.num_elements())
    outer, depth = indices.ndims - 1, indices.tuple[-1]
    if updates.ndims < outer:
        raise ShapeError(f"Shape must be at least rank {outer} but is rank {updates.ndims}")
    _match("outer", outer, indices, indices[:outer], updates, updates[:outer], "indices")
    if depth is not None and params.ndims is not None and depth <= params.ndims:
        inner = params.ndims - depth
        _match("inner", inner, params, params[depth:], updates, updates[outer:], "input")
    return params


def _scatter_nd_samples(variable: Callable) -> list[tuple]:
    return [
        (variable(f32(4, 3)), np.array([[2], [0]], np.int32), f32(2, 3)),
        (variable(f32(4, 3)), np.array([[2, 1], [0, 2], [2, 1]], np.int64), f32(3)),
        (variable(f32(4)), np.array([[[1]], [[3]]], np.int32), f32(2, 1)),
        (variable(f32(4, 3)), i32(0, 1), f32(0, 3)),
    ]


def _scatter_nd_op(
    name: str, types: Any, change: Callable, against: Callable, use_locking: bool = False
) -> Op:
    """An op that changes slices of a reference variable."""
    op = Op(
        name,
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        T=types,
        Tindices=INDICES,
        use_locking=use_locking,
        bad_indices_policy="",
        stateful=True,
        colocate="ref",
        differentiable=False,
    )
    op.shape(_scatter_nd_shape)

    @op.kernel
    def _kernel(ref, indices, updates):
        _scatter_nd(ref, indices, updates, change)
        return ref

    op.samples(*_scatter_nd_samples(ref), against=_twice(_one_by_one(against, by_slices=True)))
    return op


def _resource_scatter_nd_op(name: str, change: Callable, against: Callable) -> Op:
    """An op that changes slices of a resource variable."""
    op = Op(
        name,
        "ref: resource, indices: Tindices, updates: T",
        T=attr("type"),
        Tindices=INDICES,
        use_locking=True,
        bad_indices_policy="",
        stateful=True,
        differentiable=False,
    )

    @op.shape
    def _shape(ref, indices, updates, *, T):
        check_dtype(ref, T, "update")
        _scatter_nd_shape(variable_shape_of(ref), indices, updates)

    @op.kernel
    def _kernel(ref, indices, updates):
        _scatter_nd(ref, indices, updates, change)

    op.samples(*_scatter_nd_samples(resource), against=_one_by_one(against, by_slices=True))
    return op


scatter_nd_update_op = _scatter_nd_op("ScatterNdUpdate", attr("type"), _copy_rows, _the_new, use_locking=True)


@scatter_nd_update_op.kernel("string")
def _scatter_nd_update_string_kernel(ref, indices, updates):
    _scatter_nd_strings(ref, indices, updates)
    return ref


resource_scatter_nd_update_op = _resource_scatter_nd_op("ResourceScatterNdUpdate", _copy_rows, _the_new)


@resource_scatter_nd_update_op.kernel("string")
def _resource_scatter_nd_update_string_kernel(ref, indices, updates):
    _scatter_nd_strings(ref, indices, updates)


scatter_nd_update = _scatter_function(
    "scatter_nd_update",
    scatter_nd_update_op,
    resource_scatter_nd_update_op,
    "Replaces slices of a variable.",
    by_slices=True,
    use_locking=True,
)

scatter_nd_add_op = _scatter_nd_op("ScatterNdAdd", NUMERIC, add_rows, np.add)
resource_scatter_nd_add_op = _resource_scatter_nd_op("ResourceScatterNdAdd", add_rows, np.add)
scatter_nd_add = _scatter_function(
    "scatter_nd_add",
    scatter_nd_add_op,
    resource_scatter_nd_add_op,
    "Adds to slices of a variable.",
    by_slices=True,
)

scatter_nd_sub_op = _scatter_nd_op("ScatterNdSub", NUMERIC, subtract_rows, np.subtract)
resource_scatter_nd_sub_op = _resource_scatter_nd_op("ResourceScatterNdSub", subtract_rows, np.subtract)
scatter_nd_sub = _scatter_function(
    "scatter_nd_sub",
    scatter_nd_sub_op,
    resource_scatter_nd_sub_op,
    "Subtracts from slices of a variable.",
    by_slices=True,
)

scatter_nd_non_aliasing_add_op = Op(
    "ScatterNdNonAliasingAdd",
    "input: T, indices: Tindices, updates: T -> output: T",
    T=(*NUMERIC, dtypes.bool),
    Tindices=INDICES,
    bad_indices_policy="",
)
scatter_nd_non_aliasing_add_op.shape(_scatter_nd_shape)


@scatter_nd_non_aliasing_add_op.kernel
def _scatter_nd_non_aliasing_add_kernel(input, indices, updates):
    output = input.clone()
    _scatter_nd_into(output, indices, updates, add_rows)
    return output


@scatter_nd_non_aliasing_add_op.gradient
def _scatter_nd_non_aliasing_add_gradient(op, grad):
    return grad, None, indexing.gather_nd(grad, op.inputs[1])


scatter_nd_non_aliasing_add_op.samples(
    *_scatter_nd_samples(lambda value: value), against=_one_by_one(np.add, by_slices=True)
)


@export("batch_scatter_update")
def batch_scatter_update(
    ref: VariableLike | Tensor,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
) -> Any:
    """Replaces rows of a variable batch by batch: `ref[i, ..., indices[i, ..., j]] = updates[i, ..., j]`.

    Args:
      ref: The variable.
      indices: int32 or int64, of known rank; its last axis counts rows of its own part of the variable.
      updates: Of the variable's type and of shape `indices.shape + ref.shape[indices.ndim:]`.
      use_locking: Kept for TensorFlow's programs: no update is lost, whatever it says.
      name: A name for the operation.

    Returns:
      The variable, as what comes after the update sees it.

    Raises:
      ValueError: If the rank of `indices` is not known.
    """
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        sizes = shapes.shape(indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        last = shapes.expand_dims(indices, axis=-1)
        columns = []
        for axis in range(rank - 1):
            size = sizes[axis]
            line = shapes.reshape(
                creation.range_op(0, size, 1), [size if i == axis else 1 for i in range(rank + 1)]
            )
            if line.dtype.base_dtype is not last.dtype.base_dtype:
                line = casting.cast(line, last.dtype)
            columns.append(line * creation.ones_like(last))
        return scatter_nd_update(
            ref, joining.concat([*columns, last], axis=-1), updates, use_locking=use_locking
        )
