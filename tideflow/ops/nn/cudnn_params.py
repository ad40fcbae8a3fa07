"""The one buffer that holds all weights of a stack of recurrent layers: its size, its parts, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tideflow.graph import dtypes, errors
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import of_rank, scalar
from tideflow.ops.helpers.recurrent_layouts import GATES, Layout
from tideflow.ops.helpers.samples import f32, f64
from tideflow.ops.helpers.types import INDICES, types

FLOATS = types("half bfloat16 float double")
STACK = {
    "rnn_mode": attr("string", "lstm", allowed=("rnn_relu", "rnn_tanh", "lstm", "gru")),
    "input_mode": attr("string", "linear_input", allowed=("linear_input", "skip_input", "auto_select")),
    "direction": attr("string", "unidirectional", allowed=("unidirectional", "bidirectional")),
    "dropout": 0.0,
    "seed": 0,
    "seed2": 0,
}
_SIZES = "num_layers: int32, num_units: int32, input_size: int32"
_HOST = "num_layers, num_units, input_size"


def _check_scalars(*sizes: Any) -> None:
    for size in sizes:
        scalar(size)


def _known(num_layers: Any, num_units: Any, input_size: Any, **attrs: Any) -> Layout | None:
    """The layout, where a shape rule knows all sizes."""
    _check_scalars(num_layers, num_units, input_size)
    if None in (num_layers, num_units, input_size):
        return None
    return Layout.of(num_layers, num_units, input_size, **attrs)


def _size_reference(num_layers, num_units, input_size, rnn_mode, direction, num_proj=0) -> int:
    gates, directions = GATES[rnn_mode], 1 + (direction == "bidirectional")
    state, total = num_proj or num_units, 0
    for layer in range(num_layers):
        width = state * directions if layer else input_size
        total += directions * (gates * num_units * (width + state + 2) + num_proj * num_units)
    return total


_TWO_WAYS = {"direction": "bidirectional"}

# ---------------------------------------------------------------------------- the size

params_size_op = Op(
    "CudnnRNNParamsSize",
    f"{_SIZES} -> params_size: S",
    T=attr("type", allowed=FLOATS),
    S=attr("type", allowed=INDICES),
    num_proj=0,
    **STACK,
    host=_HOST,
    on_host=True,
    differentiable=False,
)


@params_size_op.shape
def _params_size_shape(num_layers, num_units, input_size):
    _check_scalars(num_layers, num_units, input_size)
    return [1]


@params_size_op.kernel
def _params_size_kernel(num_layers, num_units, input_size, *, rnn_mode, input_mode, direction, num_proj, S):
    layout = Layout.of(
        num_layers,
        num_units,
        input_size,
        num_proj,
        rnn_mode=rnn_mode,
        input_mode=input_mode,
        direction=direction,
    )
    return torch.tensor([layout.size], dtype=S.torch)


def _params_size_reference(num_layers, num_units, input_size, *, rnn_mode, direction, num_proj):
    sizes = int(num_layers), int(num_units), int(input_size)
    return np.array([_size_reference(*sizes, rnn_mode, direction, num_proj)], np.int32)


params_size_op.samples(
    (2, 3, 4, {"T": dtypes.float32, "S": dtypes.int32}),
    (3, 3, 4, {"T": dtypes.float32, "S": dtypes.int32, "rnn_mode": "gru", **_TWO_WAYS}),
    (2, 3, 4, {"T": dtypes.float32, "S": dtypes.int32, "num_proj": 2}),
    against=_params_size_reference,
)
params_size_op.refuses(
    (2, 3, 4, {"T": dtypes.float32, "S": dtypes.int32, "input_mode": "skip_input"}),
    "needs inputs of the size of the state",
    errors.InvalidArgumentError,
)

# ---------------------------------------------------------------------------- from the buffer


def _check_counts(layout: Layout, weights: int, biases: int) -> None:
    if (weights, biases) != (len(layout.weights), len(layout.biases)):
        raise ShapeError(
            f"Number of params mismatch. Expected {weights} weights and {biases} biases, got "
            f"{len(layout.weights)} and {len(layout.biases)}"
        )


def _canonical_shapes(layout: Layout | None, weights: int, biases: int) -> list[Any]:
    if layout is None:
        return [[None, None]] * weights + [[None]] * biases
    _check_counts(layout, weights, biases)
    return [*layout.weights, *layout.biases]


def _parts(params: torch.Tensor, layout: Layout, weights: int, biases: int) -> list[torch.Tensor]:
    _check_counts(layout, weights, biases)
    return layout.split(params)


def _parts_reference(params: np.ndarray, layout: Layout) -> list[np.ndarray]:
    found, at = [], 0
    for shape in [*layout.weights, *layout.biases]:
        count = int(np.prod(shape))
        found.append(params[at : at + count].reshape(shape))
        at += count
    return found


params_to_canonical_op = Op(
    "CudnnRNNParamsToCanonical",
    f"{_SIZES}, params: T -> weights: num_params * T, biases: num_params * T",
    T=FLOATS,
    **STACK,
    host=_HOST,
    differentiable=None,
)


@params_to_canonical_op.shape
def _params_to_canonical_shape(
    num_layers, num_units, input_size, params, *, num_params, rnn_mode, input_mode, direction
):
    of_rank(params, 1)
    layout = _known(
        num_layers, num_units, input_size, rnn_mode=rnn_mode, input_mode=input_mode, direction=direction
    )
    return _canonical_shapes(layout, num_params, num_params)


@params_to_canonical_op.kernel
def _params_to_canonical_kernel(
    num_layers, num_units, input_size, params, *, num_params, rnn_mode, input_mode, direction
):
    layout = Layout.of(
        num_layers, num_units, input_size, rnn_mode=rnn_mode, input_mode=input_mode, direction=direction
    )
    return _parts(params, layout, num_params, num_params)


def _params_to_canonical_reference(
    num_layers, num_units, input_size, params, *, rnn_mode, input_mode, direction
):
    sizes = int(num_layers), int(num_units), int(input_size)
    layout = Layout.of(*sizes, rnn_mode=rnn_mode, input_mode=input_mode, direction=direction)
    return _parts_reference(params, layout)


params_to_canonical_op.samples(
    (1, 2, 3, f32(56), {"num_params": 8}),
    (2, 2, 3, f32(26), {"num_params": 4, "rnn_mode": "rnn_relu"}),
    (1, 2, 3, f64(84), {"num_params": 12, "rnn_mode": "gru", **_TWO_WAYS}),
    against=_params_to_canonical_reference,
)
params_to_canonical_op.refuses(
    (1, 2, 3, f32(50), {"num_params": 8}), "params must have 56 elements", errors.InvalidArgumentError
)

params_to_canonical_v2_op = Op(
    "CudnnRNNParamsToCanonicalV2",
    f"{_SIZES}, params: T -> weights: num_params_weights * T, biases: num_params_biases * T",
    T=FLOATS,
    num_proj=0,
    **STACK,
    host=_HOST,
    differentiable=None,
)


@params_to_canonical_v2_op.shape
def _params_to_canonical_v2_shape(
    num_layers,
    num_units,
    input_size,
    params,
    *,
    num_params_weights,
    num_params_biases,
    rnn_mode,
    input_mode,
    direction,
    num_proj,
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    of_rank(params, 1)
    layout = _known(num_layers, num_units, input_size, num_proj=num_proj, **attrs)
    return _canonical_shapes(layout, num_params_weights, num_params_biases)


@params_to_canonical_v2_op.kernel
def _params_to_canonical_v2_kernel(
    num_layers,
    num_units,
    input_size,
    params,
    *,
    num_params_weights,
    num_params_biases,
    rnn_mode,
    input_mode,
    direction,
    num_proj,
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    return Layout.of(num_layers, num_units, input_size, num_proj, **attrs).split(params)


def _params_to_canonical_v2_reference(
    num_layers, num_units, input_size, params, *, rnn_mode, input_mode, direction, num_proj
):
    sizes = int(num_layers), int(num_units), int(input_size)
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    return _parts_reference(params, Layout.of(*sizes, num_proj, **attrs))


params_to_canonical_v2_op.samples(
    (1, 3, 2, f32(78), {"num_params_weights": 9, "num_params_biases": 8, "num_proj": 2}),
    (1, 2, 3, f32(56), {"num_params_weights": 8, "num_params_biases": 8}),
    against=_params_to_canonical_v2_reference,
)
params_to_canonical_v2_op.refuses(
    (1, 2, 3, f32(56), {"num_params_weights": 9, "num_params_biases": 8}), "Number of params mismatch"
)

# ---------------------------------------------------------------------------- into the buffer


def _joined(parts: list[torch.Tensor], layout: Layout) -> torch.Tensor:
    for part, shape in zip(parts, [*layout.weights, *layout.biases]):
        if part.numel() != int(np.prod(shape)):
            raise errors.invalid_argument(
                f"Params size mismatch. Expected {list(shape)}, got {list(part.shape)}"
            )
    return torch.cat([part.reshape(-1) for part in parts])


def _joined_reference(num_layers, num_units, input_size, weights, biases):
    return np.concatenate([np.ravel(part) for part in (*weights, *biases)])


def _total(layout: Layout | None, weights: list[Any], biases: list[Any]) -> list[int | None]:
    if layout is None:
        return [None]
    _check_counts(layout, len(weights), len(biases))
    return [layout.size]


canonical_to_params_op = Op(
    "CudnnRNNCanonicalToParams",
    f"{_SIZES}, weights: num_params * T, biases: num_params * T -> params: T",
    T=FLOATS,
    **STACK,
    host=_HOST,
    differentiable=None,
)


@canonical_to_params_op.shape
def _canonical_to_params_shape(
    num_layers, num_units, input_size, weights, biases, *, rnn_mode, input_mode, direction
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    return _total(_known(num_layers, num_units, input_size, **attrs), weights, biases)


@canonical_to_params_op.kernel
def _canonical_to_params_kernel(
    num_layers, num_units, input_size, weights, biases, *, rnn_mode, input_mode, direction
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    layout = Layout.of(num_layers, num_units, input_size, **attrs)
    _check_counts(layout, len(weights), len(biases))
    return _joined([*weights, *biases], layout)


_ONE_WAY = [f32(2, 3), f32(2, 2)]
canonical_to_params_op.samples(
    (1, 2, 3, _ONE_WAY, [f32(2)] * 2, {"rnn_mode": "rnn_tanh"}),
    (1, 2, 3, _ONE_WAY * 2, [f32(2)] * 4, {"rnn_mode": "rnn_relu", **_TWO_WAYS}),
    (1, 2, 3, [f32(6), f32(4)], [f32(2)] * 2, {"rnn_mode": "rnn_tanh"}),
    against=_joined_reference,
)
canonical_to_params_op.refuses(
    (1, 2, 3, [f32(2, 3), f32(2, 3)], [f32(2)] * 2, {"rnn_mode": "rnn_tanh"}),
    "Params size mismatch",
    errors.InvalidArgumentError,
)

canonical_to_params_v2_op = Op(
    "CudnnRNNCanonicalToParamsV2",
    f"{_SIZES}, weights: num_params_weights * T, biases: num_params_biases * T -> params: T",
    T=FLOATS,
    num_proj=0,
    **STACK,
    host=_HOST,
    differentiable=None,
)


@canonical_to_params_v2_op.shape
def _canonical_to_params_v2_shape(
    num_layers, num_units, input_size, weights, biases, *, rnn_mode, input_mode, direction, num_proj
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    layout = _known(num_layers, num_units, input_size, num_proj=num_proj, **attrs)
    return _total(layout, weights, biases)


@canonical_to_params_v2_op.kernel
def _canonical_to_params_v2_kernel(
    num_layers, num_units, input_size, weights, biases, *, rnn_mode, input_mode, direction, num_proj
):
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    layout = Layout.of(num_layers, num_units, input_size, num_proj, **attrs)
    _check_counts(layout, len(weights), len(biases))
    return _joined([*weights, *biases], layout)


canonical_to_params_v2_op.samples(
    (1, 3, 2, [f32(3, 2)] * 8 + [f32(2, 3)], [f32(3)] * 8, {"num_proj": 2}),
    against=_joined_reference,
)
canonical_to_params_v2_op.refuses(
    (1, 3, 2, [f32(3, 2)] * 8, [f32(3)] * 8, {"num_proj": 2}),
    "Number of params mismatch",
)
