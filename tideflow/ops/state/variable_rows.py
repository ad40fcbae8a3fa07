"""Rows of variables: taken by index (gather) and changed by index (scatter), of references and handles alike.

`Scatter*` counts rows along the first axis; `ScatterNd*` has index vectors into the first k axes, which are
the rows of the same buffer seen as a matrix. Every index is checked before the first element is written.
Where one index occurs more than once, updates apply in the order given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import IndexedSlices
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.samples import f32, i32, i64, ref, resource
from tideflow.ops.helpers.types import INDICES, NUMERIC, types
from tideflow.ops.state.reference_variables import as_signed, is_reference, same_shape, shape_text
from tideflow.ops.state.resource_variables import check_dtype, variable_shape, variable_shape_of


def _invalid(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def _add_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    as_signed(rows).index_add_(0, at, as_signed(updates))


def _nd_rows(shape: tuple[int, ...], indices: Any, updates: Any) -> torch.Tensor:
    if not shape:
        raise _invalid("Output must be at least 1-D, got shape: []")
    if not indices.ndim or not updates.ndim and indices.ndim > 1:
        raise _invalid("Indices and updates of a scatter must be at least 1-D")
    if indices.ndim > 1 and indices.shape[0] != updates.shape[0]:
        raise _invalid(
            "The outermost dimension of updates and indices must match. Got indices.shape "
            f"{shape_text(indices.shape)}, updates.shape {shape_text(updates.shape)}"
        )
    depth = indices.shape[-1]
    if depth > len(shape) or tuple(updates.shape) != (*indices.shape[:-1], *shape[depth:]):
        raise _invalid(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {shape_text(updates.shape)}, indices.shape: {shape_text(indices.shape)}, "
            f"params_shape: {shape_text(shape)}, slice_dim: {depth}, and batch_dim: {indices.ndim - 1}"
        )
    return linear_rows(indices, shape)


def _scatter_nd_into(
    buffer: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, change: Callable
) -> None:
    """Changes the slices of `buffer` that the index vectors mean."""
    shape = tuple(buffer.shape)
    rows = _nd_rows(shape, indices, updates)
    depth = indices.shape[-1]
    if not (rows.numel() and updates.numel()):
        return
    matrix = buffer.reshape(math.prod(shape[:depth]), *shape[depth:])
    change(matrix, rows.reshape(-1), updates.reshape(rows.numel(), *shape[depth:]))
    if matrix.data_ptr() != buffer.data_ptr():  # the buffer's layout had no such view
        buffer.copy_(matrix.reshape(shape))


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
    outer, depth = indices.ndims - 1, indices.tuple[-1]
    if updates.ndims < outer:
        raise ShapeError(f"Shape must be at least rank {outer} but is rank {updates.ndims}")
    _match("outer", outer, indices, indices[:outer], updates, updates[:outer], "indices")
    if depth is not None and params.ndims is not None and depth <= params.ndims:
        inner = params.ndims - depth
        _match("inner", inner, params, params[depth:], updates, updates[outer:], "input")
    return params


_NUMPY: dict[str, Callable] = {
    "Update": lambda old, new: new,
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Min": np.minimum,
    "Max": np.maximum,
}


def _one_by_one(kind: str, nd: bool = False) -> Callable:
    """What the samples' values must be: each update applied after the other."""

    def scattered(variable: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = variable.copy()
        places = indices.shape[:-1] if nd else indices.shape
        for place in np.ndindex(places):
            at = tuple(np.atleast_1d(indices[place]))
            result[at] = _NUMPY[kind](result[at], updates[place] if updates.ndim else updates)
        return result

    return scattered


def _scatter_nd_samples(variable: Callable) -> list[tuple]:
    return [
        (variable(f32(4, 3)), np.array([[2], [0]], np.int32), f32(2, 3)),
        (variable(f32(4, 3)), np.array([[2, 1], [0, 2], [2, 1]], np.int64), f32(3)),
        (variable(f32(4)), np.array([[[1]], [[3]]], np.int32), f32(2, 1)),
        (variable(f32(4, 3)), i32(0, 1), f32(0, 3)),
    ]


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
    _scatter_nd_into(output, indices, updates, _add_rows)
    return output


@scatter_nd_non_aliasing_add_op.gradient
def _scatter_nd_non_aliasing_add_gradient(op, grad):
    from tideflow.ops.arrays import indexing

    return grad, None, indexing.gather_nd(grad, op.inputs[1])


scatter_nd_non_aliasing_add_op.samples(
    *_scatter_nd_samples(lambda value: value), against=_one_by_one("Add", nd=True)
)

# ---------------------------------------------------------------------------------------------------- indices


def check_rows(indices: torch.Tensor, size: int) -> None:
    """InvalidArgumentError for the first index that is not one of `size` rows."""
    if not indices.numel():
        return
    low, high = torch.aminmax(indices)
    if low.item() < 0 or high.item() >= size:
        at = _first_bad((indices < 0) | (indices >= size))
        place = ",".join(map(str, at))
        value = indices[at].item()
        raise _invalid(f"indices{f'[{place}]' if place else ''} = {value} is not in [0, {size})")


def _first_bad(bad: torch.Tensor) -> tuple[int, ...]:
    return tuple(bad.nonzero()[0].tolist())


_SERIAL = 1 << 15  # elements: ATen copies fewer than these in one thread, so in order


def _last_of_each(at: torch.Tensor) -> torch.Tensor | None:
    """Positions of the last occurrence of each index; None where no index occurs twice."""
    order = torch.argsort(at, stable=True)
    ends = torch.ones_like(at, dtype=torch.bool)
    ends[:-1] = at[order].diff() != 0
    return None if ends.all() else order[ends]


# ---------------------------------------------------------------------------------------------- changing rows


def _copy_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] = updates, the last of several for one row."""
    rows, updates = as_signed(rows), as_signed(updates)
    if updates.numel() >= _SERIAL or updates.is_cuda:
        last = _last_of_each(at)
        if last is not None:
            at, updates = at[last], updates[last]
    rows.index_copy_(0, at, updates)


def subtract_rows(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
    """rows[at] -= updates, as often as a row occurs."""
    as_signed(rows).index_add_(0, at, as_signed(updates), alpha=-1)


def _turns(at: torch.Tensor) -> list[torch.Tensor | None]:
    """Positions by turn: no index twice in a turn, earlier occurrences in earlier turns. None is all."""
    order = torch.argsort(at, stable=True)
    _, counts = torch.unique_consecutive(at[order], return_counts=True)
    if counts.numel() == at.numel():
        return [None] if at.numel() else []
    starts = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    nth = torch.empty_like(order)
    nth[order] = torch.arange(at.numel(), device=at.device) - starts
    return [(nth == turn).nonzero().flatten() for turn in range(int(counts.max()))]


def _in_turns(combine: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable:
    """rows[at] = combine(rows[at], updates), one after the other where an index occurs more than once."""

    def apply(rows: torch.Tensor, at: torch.Tensor, updates: torch.Tensor) -> None:
        for turn in _turns(at):
            here, new = (at, updates) if turn is None else (at[turn], updates[turn])
            old = as_signed(rows).index_select(0, here).view(rows.dtype)
            _copy_rows(rows, here, combine(old, new))

    return apply


def _divide(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    if old.is_floating_point() or old.is_complex():
        return old / new
    return torch.div(old.long(), new.long(), rounding_mode="trunc").to(old.dtype)


def _minimum(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.where(new < old, new, old)  # a NaN that arrives is ignored, one that is there stays


def _maximum(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    return torch.where(new > old, new, old)


def _scatter_strings(variable: Any, indices: torch.Tensor, updates: np.ndarray) -> None:
    with variable as buffer:
        check_rows(indices, buffer.shape[0])
        wanted = (*indices.shape, *buffer.shape[1:])
        if updates.ndim and updates.shape != wanted:
            found = shape_text(updates.shape)
            raise _invalid(f"updates.shape must be {shape_text(wanted)} or [], got {found}")
        buffer[indices.numpy()] = updates


_UPDATES: dict[str, Callable] = {
    "Update": _copy_rows,
    "Add": _add_rows,
    "Sub": subtract_rows,
    "Mul": _in_turns(torch.mul),
    "Div": _in_turns(_divide),
    "Min": _in_turns(_minimum),
    "Max": _in_turns(_maximum),
}


def _scatter(variable: Any, indices: torch.Tensor, updates: torch.Tensor, change: Callable) -> None:
    """Changes rows of a variable; a scalar update serves every row."""
    with variable as buffer:
        shape = tuple(buffer.shape)
        if not shape:
            raise _invalid("params must be at least 1-D, got shape []")
        wanted = (*indices.shape, *shape[1:])
        if updates.ndim and updates.shape != wanted:
            raise _invalid(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
                f"updates.shape {shape_text(updates.shape)}, indices.shape {shape_text(indices.shape)}, "
                f"params.shape {shape_text(shape)}"
            )
        check_rows(indices, shape[0])
        if indices.numel() and buffer.numel():
            count = indices.numel()
            change(buffer, indices.reshape(count).long(), updates.expand(wanted).reshape(count, *shape[1:]))


def _scatter_shape(params: TensorShape, indices: TensorShape, updates: TensorShape) -> TensorShape:
    if updates.ndims != 0:
        same_shape(updates, indices.concatenate(params[1:]))
    return params


_MINMAX = types("half bfloat16 float double int32 int64")
_TYPES = {"Update": attr("type"), "Min": _MINMAX, "Max": _MINMAX}
_BAD_ROW = (ref(f32(3, 2)), np.array([0, 1], np.int32), f32(3, 2))


def _scatter_samples(variable: Callable) -> list[tuple]:
    return [
        (variable(f32(4, 3)), np.array([2, 0], np.int32), f32(2, 3, low=0.5, high=2.0)),
        (variable(f32(4)), np.array([1, 1, 3], np.int64), f32(3, low=0.5, high=2.0)),
        (variable(f32(4, 3)), np.array([[1], [3]], np.int32), f32(low=0.5, high=2.0)),
        (variable(f32(4, 3)), i32(0), f32(0, 3)),
    ]


def _ref_scatter(kind: str) -> Op:
    op = Op(
        f"Scatter{kind}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        T=_TYPES.get(kind, NUMERIC),
        Tindices=INDICES,
        use_locking=kind == "Update",
        stateful=True,
        colocate="ref",
        differentiable=False,
    )
    change = _UPDATES[kind]
    op.shape(_scatter_shape)

    @op.kernel
    def kernel(ref, indices, updates):
        _scatter(ref, indices, updates, change)
        return ref

    op.samples(*_scatter_samples(ref), against=_one_by_one(kind))
    op.refuses(_BAD_ROW, "Dimension 0 in both shapes must be equal, but are 3 and 2")
    return op


_KINDS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
_scatter_ops = {kind: _ref_scatter(kind) for kind in _KINDS}


@_scatter_ops["Update"].kernel("string")
def _scatter_update_string_kernel(ref, indices, updates):
    _scatter_strings(ref, indices, updates)
    return ref


def _resource_scatter(kind: str) -> Op:
    op = Op(
        f"ResourceScatter{kind}",
        "resource: resource, indices: Tindices, updates: dtype",
        dtype=attr("type") if kind == "Update" else NUMERIC,
        Tindices=INDICES,
        stateful=True,
        differentiable=False,
    )
    change = _UPDATES[kind]

    @op.shape
    def _shape(resource, indices, updates, *, dtype):
        check_dtype(resource, dtype, "update")
        _scatter_shape(variable_shape_of(resource), indices, updates)

    @op.kernel
    def kernel(resource, indices, updates):
        _scatter(resource, indices, updates, change)

    op.samples(*_scatter_samples(resource))
    return op


_resource_scatter_ops = {kind: _resource_scatter(kind) for kind in _KINDS}


@_resource_scatter_ops["Update"].kernel("string")
def _resource_scatter_update_string_kernel(resource, indices, updates):
    _scatter_strings(resource, indices, updates)


def linear_rows(indices: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """The number of the row that each index vector (the last axis of `indices`) means."""
    depth = indices.shape[-1]
    sizes = torch.tensor(shape[:depth], dtype=torch.int64, device=indices.device)
    indices = indices.long()
    bad = ((indices < 0) | (indices >= sizes)).any(-1)
    if bad.any():
        at = _first_bad(bad)
        found = shape_text(indices[at].tolist())
        raise _invalid(f"indices{shape_text(at)} = {found} does not index into shape {shape_text(shape)}")
    strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    return (indices * torch.tensor(strides, dtype=torch.int64, device=indices.device)).sum(-1)


def _scatter_nd(variable: Any, indices: torch.Tensor, updates: torch.Tensor, change: Callable) -> None:
    with variable as buffer:
        _scatter_nd_into(buffer, indices, updates, change)


def _ref_scatter_nd(kind: str) -> Op:
    op = Op(
        f"ScatterNd{kind}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        T=_TYPES.get(kind, NUMERIC),
        Tindices=INDICES,
        use_locking=kind == "Update",
        bad_indices_policy="",
        stateful=True,
        colocate="ref",
        differentiable=False,
    )
    change = _UPDATES[kind]
    op.shape(_scatter_nd_shape)

    @op.kernel
    def kernel(ref, indices, updates):
        _scatter_nd(ref, indices, updates, change)
        return ref

    op.samples(*_scatter_nd_samples(ref), against=_one_by_one(kind, nd=True))
    return op


_ND_KINDS = ("Update", "Add", "Sub")
_scatter_nd_ops = {kind: _ref_scatter_nd(kind) for kind in _ND_KINDS}


@_scatter_nd_ops["Update"].kernel("string")
def _scatter_nd_update_string_kernel(ref, indices, updates):
    _scatter_nd_strings(ref, indices, updates)
    return ref


def _scatter_nd_strings(variable: Any, indices: torch.Tensor, updates: np.ndarray) -> None:
    with variable as buffer:
        _nd_rows(buffer.shape, indices, updates)
        buffer[tuple(np.moveaxis(indices.numpy(), -1, 0))] = updates


def _resource_scatter_nd(kind: str) -> Op:
    op = Op(
        f"ResourceScatterNd{kind}",
        "ref: resource, indices: Tindices, updates: T",
        T=attr("type"),
        Tindices=INDICES,
        use_locking=True,
        bad_indices_policy="",
        stateful=True,
        differentiable=False,
    )
    change = _UPDATES[kind]

    @op.shape
    def _shape(ref, indices, updates, *, T):
        check_dtype(ref, T, "update")
        _scatter_nd_shape(variable_shape_of(ref), indices, updates)

    @op.kernel
    def kernel(ref, indices, updates):
        _scatter_nd(ref, indices, updates, change)

    op.samples(*_scatter_nd_samples(resource))
    return op


_resource_scatter_nd_ops = {kind: _resource_scatter_nd(kind) for kind in _ND_KINDS}


@_resource_scatter_nd_ops["Update"].kernel("string")
def _resource_scatter_nd_update_string_kernel(ref, indices, updates):
    _scatter_nd_strings(ref, indices, updates)


_F32 = {"dtype": dtypes.float32}

# ------------------------------------------------------------------------------------- gathering from handles

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


def _gathered_rows(params: torch.Tensor, indices: torch.Tensor, batch_dims: int) -> torch.Tensor:
    size = params.shape[batch_dims]
    check_rows(indices, size)
    shape = (*indices.shape, *params.shape[batch_dims + 1 :])
    if batch_dims:
        batches = math.prod(params.shape[:batch_dims])
        starts = torch.arange(batches, device=indices.device) * size
        indices = indices.reshape(batches, math.prod(indices.shape[batch_dims:])) + starts[:, None]
        params = params.reshape(batches * size, *params.shape[batch_dims + 1 :])
    return params.index_select(0, indices.reshape(-1)).reshape(shape)


@resource_gather_op.kernel
def _resource_gather_kernel(resource, indices, *, batch_dims):
    return resource.look(lambda params: _gathered_rows(params, indices, batch_dims))


@resource_gather_op.kernel("string")
def _resource_gather_string_kernel(resource, indices, *, batch_dims):
    params = resource.read()
    check_rows(indices, params.shape[batch_dims])
    batch = np.indices(indices.shape[:batch_dims]).reshape(batch_dims, *indices.shape[:batch_dims])
    ones = (1,) * (indices.ndim - batch_dims)
    return np.asarray(
        params[(*(axis.reshape(*axis.shape, *ones) for axis in batch), indices.numpy())], object
    )


@resource_gather_op.gradient
def _resource_gather_gradient(op, grad):
    """The rows that were taken, as slices of a variable of the handle's shape."""
    from tideflow.ops.arrays import joining, shapes

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


def _gathered_elements(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    shape, depth = tuple(params.shape), indices.shape[-1]
    rows = linear_rows(indices, shape)
    matrix = params.reshape(math.prod(shape[:depth]), *shape[depth:])
    return matrix.index_select(0, rows.reshape(-1)).reshape(*indices.shape[:-1], *shape[depth:])


@resource_gather_nd_op.kernel
def _resource_gather_nd_kernel(resource, indices):
    return resource.look(lambda params: _gathered_elements(params, indices))


@resource_gather_nd_op.kernel("string")
def _resource_gather_nd_string_kernel(resource, indices):
    params = resource.read()
    linear_rows(indices, params.shape)
    return np.asarray(params[tuple(np.moveaxis(indices.numpy(), -1, 0))], object)


@resource_gather_nd_op.gradient
def _resource_gather_nd_gradient(op, grad):
    from tideflow.ops.arrays import scatter, shapes

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


def _scatter_function(kind: str, nd: bool, use_locking: bool, doc: str) -> Callable:
    """The public function of one kind: the reference op, or the op on the handle followed by a read."""
    reference_op = (_scatter_nd_ops if nd else _scatter_ops)[kind]
    handle_op = (_resource_scatter_nd_ops if nd else _resource_scatter_ops)[kind]

    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = use_locking, name: str | None = None
    ) -> Any:
        if is_reference(ref):
            return reference_op(ref, indices, updates, use_locking=use_locking, name=name)
        updates = convert_to_tensor(updates, ref.dtype)
        return ref._lazy_read(handle_op(ref.handle, indices, updates, name=name))

    scatter.__name__ = scatter.__qualname__ = f"scatter_{'nd_' if nd else ''}{kind.lower()}"
    scatter.__doc__ = doc
    return export(scatter.__name__)(scatter)


scatter_update = _scatter_function("Update", False, True, "Rows `indices` of `ref` become `updates`.")
scatter_add = _scatter_function("Add", False, False, "Adds `updates` to rows `indices` of `ref`.")
scatter_sub = _scatter_function("Sub", False, False, "Subtracts `updates` from rows `indices` of `ref`.")
scatter_mul = _scatter_function("Mul", False, False, "Multiplies rows `indices` of `ref` by `updates`.")
scatter_div = _scatter_function("Div", False, False, "Divides rows `indices` of `ref` by `updates`.")
scatter_min = _scatter_function("Min", False, False, "The least of rows `indices` of `ref` and `updates`.")
scatter_max = _scatter_function("Max", False, False, "The greatest of rows `indices` of `ref` and `updates`.")
scatter_nd_update = _scatter_function("Update", True, True, "Slices of `ref` at `indices` become `updates`.")
scatter_nd_add = _scatter_function("Add", True, False, "Adds `updates` to the slices of `ref` at `indices`.")
scatter_nd_sub = _scatter_function(
    "Sub", True, False, "Subtracts `updates` from slices of `ref` at `indices`."
)


@export("batch_scatter_update")
def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """`ref[i, ..., indices[i, ..., j]] = updates[i, ..., j]`: a scatter along the last axis of `indices`."""
    from tideflow.ops.arrays import creation, joining, shapes
    from tideflow.ops.math import casting

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
