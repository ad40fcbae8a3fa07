"""Update ops from laws: how state changes under a gradient, said once for references and handles, for whole
variables and for rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.dtypes import as_dtype
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.rows import have_repeats
from tideflow.ops.helpers.samples import f32, ref, resource
from tideflow.ops.helpers.types import INDICES, NUMERIC
from tideflow.ops.helpers.variables import same_shape, shape_text, variable_shape_of
from tideflow.runtime.resources import exclusive

_INTEGERS = {"global_step": "int64"}
_SAMPLE_NUMBERS = {"global_step": 7, "lr_power": -0.5}


class Law(NamedTuple):
    """The op types that follow from one law."""

    dense: Op | None
    sparse: Op | None
    resource: Op | None
    resource_sparse: Op | None


def law(
    signature: str,
    *,
    dense: str | None = None,
    sparse: str | None = None,
    resource: str | None = None,
    resource_sparse: str | None = None,
    sparse_gradient: str | None = None,
    against: Callable,
    has_signs: bool = False,
    **attrs: Any,
) -> Callable[[Callable], Law]:
    """Makes of the decorated law the op types that follow from it.

    Args:
      signature: The names of the state, a bar, and the names of the other inputs in their order. The gradient
        is called `grad` or `delta`; all others are numbers.
      dense: The op type that updates reference variables.
      sparse: The op type that updates rows of reference variables.
      resource: The op type that updates resource variables.
      resource_sparse: The op type that updates rows of resource variables.
      sparse_gradient: What the gradient is called where it comes with indices, if not as in `signature`.
      against: The law in NumPy: takes what the law takes and returns the new state.
      has_signs: Whether TensorFlow says of a number that is no scalar which sign it must have, too.
      **attrs: Attributes of all of the op types, beyond T and use_locking.
    """
    states, values = (part.split() for part in signature.split("|"))

    def made(function: Callable) -> Law:
        def op(name: str | None, is_sparse: bool, is_resource: bool) -> Op | None:
            if name is None:
                return None
            update = _Update(states, values, is_sparse, is_resource, sparse_gradient, has_signs)
            return update.op(name, function, against, attrs)

        return Law(
            op(dense, False, False),
            op(sparse, True, False),
            op(resource, False, True),
            op(resource_sparse, True, True),
        )

    return made


class _Update:
    """One of the op types of a law: where in its inputs state, gradient and numbers are."""

    def __init__(
        self,
        states: list[str],
        values: list[str],
        is_sparse: bool,
        is_resource: bool,
        sparse_gradient: str | None,
        has_signs: bool,
    ):
        self.states = states
        self.values = list(values)
        self.is_sparse = is_sparse
        self.is_resource = is_resource
        self.has_signs = has_signs
        self.gradient = next(v for v in values if v in ("grad", "delta"))
        self.position = values.index(self.gradient)
        if is_sparse:
            self.gradient = sparse_gradient or self.gradient
            self.values[self.position : self.position + 1] = [self.gradient, "indices"]

    def op(self, name: str, function: Callable, against: Callable, attrs: dict[str, Any]) -> Op:
        inputs = [f"{s}: {'resource' if self.is_resource else 'Ref(T)'}" for s in self.states]
        inputs += [f"{v}: {'Tindices' if v == 'indices' else _INTEGERS.get(v, 'T')}" for v in self.values]
        op = Op(
            name,
            f"{', '.join(inputs)} -> {'' if self.is_resource else 'out: Ref(T)'}",
            host=[v for v in self.values if v not in (self.gradient, "indices")],
            stateful=self.is_resource,
            differentiable=None,
            T=NUMERIC,
            use_locking=False,
            **({"Tindices": INDICES} if self.is_sparse else {}),
            **attrs,
        )

        @op.shape
        def _shape(*inputs: Any) -> TensorShape | None:
            count = len(self.states)
            if not self.is_resource:
                return self._state_shape(*inputs)
            self._state_shape(*map(variable_shape_of, inputs[:count]), *inputs[count:])
            return None

        op.kernel(self._kernel(function))
        op.samples(*self._samples(attrs), against=self._reference(against))
        return op

    def _state_shape(self, *inputs: Any) -> TensorShape:
        """The shape that all state has; the gradient too, or its rows where it comes with indices."""
        states, values = inputs[: len(self.states)], list(inputs[len(self.states) :])
        shape = functools.reduce(same_shape, states)
        indices = of_rank(values.pop(self.position + 1), 1) if self.is_sparse else None
        gradient = values.pop(self.position)
        for number in values:
            scalar(number)
        if self.is_sparse and gradient.ndims:
            if not gradient[:1].is_compatible_with(indices):
                raise ShapeError(f"Dimensions must be equal, but are {indices[0]} and {gradient[0]}")
            gradient = TensorShape([None, *gradient.tuple[1:]])
        return same_shape(shape, gradient)

    def _kernel(self, function: Callable) -> Callable:
        """The law as a kernel: takes the state's buffers for itself, updates all of them or only some rows,
        gives them back.
        """
        states, values, position = self.states, self.values, self.position
        is_sparse, is_resource, count = self.is_sparse, self.is_resource, len(self.states)
        has_signs = self.has_signs

        @functools.wraps(function, assigned=())
        def _kernel(*inputs: Any, **attrs: Any) -> Any:
            variables, given = inputs[:count], list(inputs[count:])
            check_numbers(values, given, has_signs)
            indices = given.pop(position + 1) if is_sparse else None
            with exclusive(variables) as buffers:
                check_states(states, buffers)
                if is_resource:
                    _check_types(states, buffers, given[position])
                if is_sparse:
                    _update_rows(function, buffers, given, position, indices, attrs)
                else:
                    check_gradient(buffers[0].shape, given[position].shape, values[position])
                    function(*buffers, *given, **attrs)
            return None if is_resource else variables[0]

        return _kernel

    def _samples(self, attrs: dict[str, Any]) -> list[tuple]:
        """One sample; another for each attribute that is a choice, and for rows that occur twice."""
        samples = [self._sample()]
        samples += [(*self._sample(), {key: not default}) for key, default in attrs.items()]
        if self.is_sparse:
            samples.append(self._sample(np.array([1, 3, 1], np.int64)))
        return samples

    def _sample(self, indices: Any = np.array([2, 0], np.int32)) -> tuple:
        state = resource if self.is_resource else ref
        made: list[Any] = [state(f32(4, 3, low=0.1, high=1.0)) for _ in self.states]
        for value in self.values:
            if value == "indices":
                made.append(indices)
            elif value == self.gradient:
                made.append(f32(len(indices) if self.is_sparse else 4, 3))
            else:
                made.append(_SAMPLE_NUMBERS.get(value, 0.3))
        return tuple(made)

    def _reference(self, against: Callable) -> Callable:
        """The law in NumPy on whole arrays, or on one row after the other."""
        count = len(self.states)

        @functools.wraps(against)
        def reference(*inputs: Any, **attrs: Any) -> list[np.ndarray]:
            states, values = [np.float64(state) for state in inputs[:count]], list(inputs[count:])
            if self.is_sparse:
                indices, gradient = values.pop(self.position + 1), values[self.position]
                for row, values[self.position] in zip(indices, gradient, strict=True):
                    rows = against(*(state[row] for state in states), *values, **attrs)
                    for state, after in zip(states, rows, strict=True):
                        state[row] = after
            else:
                states = against(*states, *values, **attrs)
            return list(states) if self.is_resource else [states[0], *states]

        return reference


# Everything is checked before anything is changed: an update that fails leaves all state as it was.


_STRENGTHS = {
    "l1": "l1 regularization strength",
    "l2": "l2 regularization strength",
    "l2_shrinkage": "l2 shrinkage regularization strength",
}
_SIGNS = {"lr": "positive ", "lr_power": "non-positive ", **dict.fromkeys(_STRENGTHS, "non-negative ")}


def check_numbers(names: list[str], values: list[Any], has_signs: bool = False) -> None:
    """Numbers are scalars."""
    for name, value in zip(names, values):
        if isinstance(value, list):
            sign = _SIGNS.get(name, "") if has_signs else ""
            raise errors.invalid_argument(
                f"{_STRENGTHS.get(name, name)} is not a {sign}scalar: [{len(value)}]"
            )


def check_states(names: list[str], buffers: list[torch.Tensor]) -> None:
    """All state has one shape."""
    shape = buffers[0].shape
    for name, buffer in zip(names, buffers):
        if buffer.shape != shape:
            raise _unequal(name, shape, buffer.shape)


def _check_types(names: list[str], buffers: list[torch.Tensor], gradient: torch.Tensor) -> None:
    """All state has the type of the gradient: a handle's variable may be of any."""
    for name, buffer in zip(names, buffers):
        if buffer.dtype != gradient.dtype:
            expected, found = (errors.type_name(as_dtype(each.dtype)) for each in (gradient, buffer))
            raise errors.invalid_argument(
                f"Trying to read variable with wrong dtype. Expected {expected} got {found}: {name}"
            )


def check_gradient(state: torch.Size, gradient: torch.Size, name: str) -> None:
    """The gradient has the shape of the state."""
    if state != gradient:
        raise _unequal(name, state, gradient)


def _unequal(name: str, state: torch.Size, other: torch.Size) -> InvalidArgumentError:
    shapes = f"{shape_text(state)} {shape_text(other)}"
    return errors.invalid_argument(f"var and {name} do not have the same shape {shapes}")


def _update_rows(
    function: Callable, buffers: list, values: list, position: int, indices: torch.Tensor, attrs: dict
) -> None:
    if buffers[0].ndim == 0:
        raise errors.invalid_argument("var must be at least 1 dimensional")
    if indices.ndim != 1:
        raise errors.invalid_argument("indices must be one-dimensional")
    gradient, rows = values[position], buffers[0].shape[0]
    for axis in range(1, buffers[0].ndim):
        if gradient.ndim != buffers[0].ndim or gradient.shape[axis] != buffers[0].shape[axis]:
            raise errors.invalid_argument(
                f"var and grad must match in dimension {axis}: {shape_text(buffers[0].shape)} and "
                f"{shape_text(gradient.shape)}"
            )
    if gradient.ndim and gradient.shape[0] != indices.shape[0]:
        raise errors.invalid_argument(
            "grad must be the same size as indices in the first dimension. Got "
            f"{shape_text(gradient.shape)} for {len(indices)} indices"
        )
    check_gradient(torch.Size([*indices.shape, *buffers[0].shape[1:]]), gradient.shape, "grad")
    if not indices.numel():
        return
    least, largest = torch.aminmax(indices)
    if least < 0 or largest >= rows:
        offset = int(((indices < 0) | (indices >= rows)).nonzero()[0])
        raise errors.invalid_argument(
            f"Index {indices[offset]} at offset {offset} in indices is out of range [0, {rows})"
        )
    for chosen in _rounds(indices):
        at = indices if chosen is None else indices[chosen]
        parts = [buffer.index_select(0, at) for buffer in buffers]
        values[position] = gradient if chosen is None else gradient[chosen]
        function(*parts, *values, **attrs)
        for buffer, part in zip(buffers, parts, strict=True):
            buffer.index_copy_(0, at.long(), part)


def _rounds(indices: torch.Tensor) -> list:
    """Positions of the indices such that none repeats within a round: repeated rows are updated one after
    another.
    """
    if not have_repeats(indices):
        return [None]
    _, inverse, counts = torch.unique(indices, return_inverse=True, return_counts=True)
    most = int(counts.max())
    order = torch.argsort(inverse, stable=True)
    starts = torch.cumsum(counts, 0) - counts
    rank = torch.arange(len(indices), device=indices.device) - starts[inverse[order]]
    return [order[rank == r].sort().values for r in range(most)]
