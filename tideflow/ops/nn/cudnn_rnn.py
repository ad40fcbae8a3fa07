"""Stacks of recurrent layers over whole sequences in one op, by ATen: on a GPU, that is cuDNN.

The gradient computes the layers again, by ATen's own derivatives: between the layers, dropout draws the same
numbers, from a seed that the first pass leaves in `reserve_space`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.graph.op import Op, undefined_gradient
from tideflow.graph.shapes import TensorShape
from tideflow.ops.helpers.axes import of_rank, size_product
from tideflow.ops.helpers.recurrent_layouts import Layout
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.nn.cudnn_params import FLOATS, STACK
from tideflow.ops.random.sources import stream_of
from tideflow.runtime.philox import Stream

_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_OUTPUTS = "output: T, output_h: T, output_c: T"
_BACK = "output_backprop: T, output_h_backprop: T, output_c_backprop: T"
_SLOPES = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"


class _Batch(NamedTuple):
    """Sequences in an order, steps first, that ATen takes; `lengths` is None where all are as long."""

    x: torch.Tensor
    h: torch.Tensor
    c: torch.Tensor
    lengths: torch.Tensor | None = None


# ---------------------------------------------------------------------------- the layers


def _layout_of(batch: _Batch, attrs: dict[str, Any]) -> Layout:
    for name, tensor in (("input", batch.x), ("input_h", batch.h)):
        if tensor.ndim != 3:
            raise errors.invalid_argument(f"{name} must be a 3-D vector, but has shape {list(tensor.shape)}")
    if not batch.x.shape[0] or not batch.h.shape[0]:
        raise errors.invalid_argument("There must be at least one step and one layer")
    directions = 2 if attrs["direction"] == "bidirectional" else 1
    rows, size, width = batch.h.shape
    units = width
    if attrs["rnn_mode"] == "lstm":
        if batch.c.ndim != 3 or batch.c.shape[:2] != batch.h.shape[:2]:
            raise errors.invalid_argument(
                f"input_h and input_c must have the same number of layers and sequences, but have shapes "
                f"{list(batch.h.shape)} and {list(batch.c.shape)}"
            )
        units = batch.c.shape[2]
    projection = attrs.get("num_proj") or 0
    if rows % directions or size != batch.x.shape[1] or width != (projection or units):
        raise errors.invalid_argument(
            f"Invalid input_h shape: {list(batch.h.shape)} for inputs of shape {list(batch.x.shape)}, "
            f"{attrs['direction']}, with num_proj {projection} and {units} units"
        )
    return Layout.of(rows // directions, units, batch.x.shape[2], **attrs)


def _stack(batch: _Batch, params: torch.Tensor, layout: Layout, dropout: float, seed: int | None) -> Any:
    """Outputs and last states; without a seed, all layers in one call."""
    if not 0 <= dropout < 1:
        raise errors.invalid_argument(f"dropout must be at least 0 and less than 1, not {dropout}")
    weights = layout.by_layer(params)
    per_call = layout.layers if seed is None else 1
    generator = None if seed is None else torch.Generator(batch.x.device).manual_seed(seed)
    packed, x = None, batch.x
    if batch.lengths is not None:
        x, packed = torch._VF._pack_padded_sequence(x, batch.lengths, False)
    rows, states = per_call * layout.directions, []
    for first in range(0, len(weights), rows):
        if first and generator is not None:
            kept = torch.empty_like(x).bernoulli_(1 - dropout, generator=generator)
            x = x * kept / (1 - dropout)
        flat = [part for one in weights[first : first + rows] for part in one]
        state = tuple(s[first : first + rows].contiguous() for s in (batch.h, batch.c) if s.ndim == 3)
        x, *last = _call(layout, x, packed, state, flat, per_call)
        states.append(last)
    if packed is not None:
        x, _ = torch._VF._pad_packed_sequence(x, packed, False, 0.0, len(batch.x))
    return x, *(torch.cat(parts) for parts in zip(*states))


def _call(layout: Layout, x: Any, packed: Any, state: Any, flat: list[torch.Tensor], layers: int) -> Any:
    function = getattr(torch._VF, layout.mode)
    first = state if layout.mode == "lstm" else state[0]
    two_ways = layout.directions == 2
    if packed is None:
        return function(x, first, flat, True, layers, 0.0, False, two_ways, False)
    return function(x, packed, first, flat, True, layers, 0.0, False, two_ways)


# ---------------------------------------------------------------------------- both passes


def _batch_of(
    x, h, c, mode: str, lengths=None, time_major: bool = True
) -> tuple[_Batch, torch.Tensor | None]:
    """The sequences, the longest first where lengths differ, and the order that brings them there."""
    is_lstm = mode == "lstm"
    if not time_major:
        x, h = x.transpose(0, 1), h.transpose(0, 1)
        c = c.transpose(0, 1) if is_lstm else c
    c = c if is_lstm else x.new_empty(0)
    if lengths is None or bool((lengths == x.shape[0]).all()):
        return _Batch(x, h, c), None
    lengths = lengths.cpu().long()
    if lengths.shape != (x.shape[1],) or int(lengths.min()) < 1 or int(lengths.max()) > x.shape[0]:
        raise errors.invalid_argument(
            f"sequence_lengths must be {x.shape[1]} numbers from 1 to {x.shape[0]}, but are "
            f"{lengths.tolist()}"
        )
    lengths, order = lengths.sort(descending=True)
    order = order.to(x.device)
    c = c[:, order] if is_lstm else c
    return _Batch(x[:, order], h[:, order], c, lengths), order


def _restored(tensor: torch.Tensor, order: torch.Tensor | None, time_major: bool) -> torch.Tensor:
    """A result in the order of the sequences that were given."""
    if order is not None:
        tensor = tensor[:, order.argsort()]
    return tensor if time_major else tensor.transpose(0, 1)


def _forward(x, h, c, params, attrs, lengths=None, time_major=True) -> list[torch.Tensor]:
    """output, output_h, output_c and reserve_space."""
    batch, order = _batch_of(x, h, c, attrs["rnn_mode"], lengths, time_major)
    layout = _layout_of(batch, {key: attrs[key] for key in attrs if key in _LAYOUT})
    dropout = attrs["dropout"] if attrs["is_training"] and layout.layers > 1 else 0.0
    seed = _drawn_seed(attrs) if dropout else None
    results = _stack(batch, params, layout, dropout, seed)
    outputs = [_restored(tensor, order, time_major) for tensor in results]
    outputs += [x.new_zeros(())] * (3 - len(outputs))
    return [*outputs, _as_bytes(seed, x)]


_LAYOUT = ("rnn_mode", "input_mode", "direction", "num_proj")


def _drawn_seed(attrs: dict[str, Any]) -> int:
    state = attrs["state"]
    stream = stream_of(state, attrs["seed"], attrs["seed2"]) or state.setdefault("unseeded", Stream())
    low, high = stream.reserve_blocks(1).words(0, 1).ravel()[:2].tolist()
    return low | (high & 0x7FFFFFFF) << 32


def _as_bytes(seed: int | None, like: torch.Tensor) -> torch.Tensor:
    """The seed as numbers that every floating type has."""
    found = () if seed is None else seed.to_bytes(8, "little")
    return torch.tensor(list(found), dtype=like.dtype, device=like.device)


def _backward(inputs, grads, reserve, attrs, lengths=None, time_major=True) -> list[torch.Tensor]:
    """The gradients by input, input_h, input_c and params."""
    seed = int.from_bytes(bytes(reserve.to(torch.uint8).tolist()), "little") if reserve.numel() else None
    is_lstm = attrs["rnn_mode"] == "lstm"
    leaves = [tensor.detach().requires_grad_() for tensor in inputs]
    with torch.enable_grad():
        x, h, c, params = leaves
        batch, order = _batch_of(x, h, c, attrs["rnn_mode"], lengths, time_major)
        layout = _layout_of(batch, {key: attrs[key] for key in attrs if key in _LAYOUT})
        results = _stack(batch, params, layout, attrs["dropout"], seed)
        outputs = [_restored(tensor, order, time_major) for tensor in results]
    slopes = list(
        torch.autograd.grad(
            outputs, [x, h, *([c] if is_lstm else []), params], grads[: len(outputs)], allow_unused=True
        )
    )
    if not is_lstm:
        slopes.insert(2, None)
    return [torch.zeros_like(leaf) if slope is None else slope for leaf, slope in zip(inputs, slopes)]


def _output_shapes(x: TensorShape, h: TensorShape, c: TensorShape, mode: str, direction: str) -> list[Any]:
    steps, batch, _ = of_rank(x, 3).tuple
    *_, width = of_rank(h, 3).tuple
    both = size_product(width, 2) if direction == "bidirectional" else width
    return [[steps, batch, both], h, of_rank(c, 3) if mode == "lstm" else [], [None]]


def _check_training(op: Any) -> None:
    if not op.attrs["is_training"]:
        raise ValueError(f"{op.type} must set is_training to True to be used in gradients")


def _same_attrs(op: Any, *more: str) -> dict[str, Any]:
    return {key: op.attrs[key] for key in (*STACK, *more)}


# ---------------------------------------------------------------------------- the same in NumPy


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _numpy_step(mode, x, h, c, w, r, bw, br):
    """A step in one direction; weights and biases are lists by gate."""
    a, b = [x @ m.T + v for m, v in zip(w, bw)], [h @ m.T + v for m, v in zip(r, br)]
    if mode == "lstm":
        i, f, g, o = (p + q for p, q in zip(a, b))
        c = _logistic(f) * c + _logistic(i) * np.tanh(g)
        return _logistic(o) * np.tanh(c), c
    if mode == "gru":
        reset, update = _logistic(a[0] + b[0]), _logistic(a[1] + b[1])
        return (1 - update) * np.tanh(a[2] + reset * b[2]) + update * h, c
    return (np.tanh if mode == "rnn_tanh" else lambda s: np.maximum(s, 0))(a[0] + b[0]), c


def _numpy_stack(x, h, c, params, mode, direction, num_proj=0, lengths=None):
    """Outputs, last h and last c, from the definitions; every sequence by itself."""
    two = direction == "bidirectional"
    directions, units = 1 + two, c.shape[-1] if mode == "lstm" else h.shape[-1]
    layers = h.shape[0] // directions
    attrs = {"rnn_mode": mode, "input_mode": "linear_input", "direction": direction}
    layout = Layout.of(layers, units, x.shape[2], num_proj, **attrs)
    parts, at = [], 0
    for shape in [*layout.weights, *layout.biases]:
        parts.append(params[at : at + int(np.prod(shape))].reshape(shape))
        at += int(np.prod(shape))
    weights, biases = parts[: len(layout.weights)], parts[len(layout.weights) :]
    gates, per = layout.gates, 2 * layout.gates + bool(num_proj)
    last_h, last_c = h.astype(np.float64), np.array(c, np.float64)
    lengths = [len(x)] * x.shape[1] if lengths is None else lengths
    values = x.astype(np.float64)
    for layer in range(layers):
        found = np.zeros([len(x), x.shape[1], directions * layout.state])
        for way in range(directions):
            row = layer * directions + way
            w = weights[row * per : (row + 1) * per]
            bw, br = (biases[at : at + gates] for at in (row * 2 * gates, (row * 2 + 1) * gates))
            r = w[gates : 2 * gates]
            for k, steps in enumerate(lengths):
                hk, ck = last_h[row, k], last_c[row, k] if mode == "lstm" else None
                for t in range(steps)[:: -1 if way else 1]:
                    hk, ck = _numpy_step(mode, values[t, k], hk, ck, w[:gates], r, bw, br)
                    hk = w[-1] @ hk if num_proj else hk
                    found[t, k, way * layout.state : (way + 1) * layout.state] = hk
                last_h[row, k] = hk
                if mode == "lstm":
                    last_c[row, k] = ck
        values = found
    return values, last_h, last_c if mode == "lstm" else np.zeros(())


_NOTHING = np.zeros(0, np.float32)


def _forward_reference(input, input_h, input_c, params, *, rnn_mode, direction):
    return *_numpy_stack(input, input_h, input_c, params, rnn_mode, direction), _NOTHING


def _slopes_reference(inputs, grads, mode, direction, num_proj=0, lengths=None):
    """By differences: each input of the stack moved by itself."""
    inputs = [np.asarray(value, np.float64) for value in inputs]
    count = 3 if mode == "lstm" else 2
    sizes = [np.ravel(grad) for grad in grads[:count]]

    def by(place):
        def moved(value):
            given = [value if i == place else other for i, other in enumerate(inputs)]
            results = _numpy_stack(*given, mode, direction, num_proj, lengths)
            return np.concatenate([np.ravel(result) for result in results[:count]])

        return pulled_back(moved, inputs[place], np.concatenate(sizes))

    return [by(i) if i != 2 or mode == "lstm" else np.zeros_like(inputs[2]) for i in range(4)]


_LSTM = (f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2), f32(48))
_GRU = (f32(2, 2, 3), f32(4, 2, 2), f32(0), f32(180), {"rnn_mode": "gru", "direction": "bidirectional"})
_TANH = (f32(3, 1, 2), f32(2, 1, 2), f32(0), f32(24), {"rnn_mode": "rnn_tanh"})

# ---------------------------------------------------------------------------- without lengths

cudnn_rnn_op = Op(
    "CudnnRNN",
    f"{_INPUTS} -> {_OUTPUTS}, reserve_space: T",
    T=FLOATS,
    is_training=True,
    **STACK,
    stateful=True,
    gradient_follows="output output_h output_c",
)


@cudnn_rnn_op.shape
def _cudnn_rnn_shape(input, input_h, input_c, params, *, rnn_mode, direction):
    return _output_shapes(input, input_h, input_c, rnn_mode, direction)


@cudnn_rnn_op.kernel
def _cudnn_rnn_kernel(
    input, input_h, input_c, params,
    *, rnn_mode, input_mode, direction, dropout, seed, seed2, is_training, state,
):  # fmt: skip
    attrs = {
        "rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "dropout": dropout,
        "seed": seed, "seed2": seed2, "is_training": is_training, "state": state,
    }  # fmt: skip
    return _forward(input, input_h, input_c, params, attrs)


@cudnn_rnn_op.gradient
def _cudnn_rnn_gradient(op, *grads):
    _check_training(op)
    *outputs, reserve = op.outputs
    return cudnn_rnn_backprop_op(*op.inputs, *outputs, *grads[:3], reserve, **_same_attrs(op))


cudnn_rnn_op.samples(_LSTM, _GRU, _TANH, against=_forward_reference)
cudnn_rnn_op.refuses((f32(3, 2), *_LSTM[1:]), "Shape must be rank 3 but is rank 2")
cudnn_rnn_op.refuses((*_LSTM[:3], f32(40)), "params must have 48 elements", errors.InvalidArgumentError)

cudnn_rnn_backprop_op = Op(
    "CudnnRNNBackprop",
    f"{_INPUTS}, {_OUTPUTS}, {_BACK}, reserve_space: T -> {_SLOPES}",
    T=FLOATS,
    **STACK,
    stateful=True,
)


@cudnn_rnn_backprop_op.shape
def _cudnn_rnn_backprop_shape(input, input_h, input_c, params, *others):
    return [input, input_h, input_c, params]


@cudnn_rnn_backprop_op.kernel
def _cudnn_rnn_backprop_kernel(
    input, input_h, input_c, params, output, output_h, output_c,
    output_backprop, output_h_backprop, output_c_backprop, reserve_space,
    *, rnn_mode, input_mode, direction, dropout,
):  # fmt: skip
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "dropout": dropout}
    grads = [output_backprop, output_h_backprop, output_c_backprop]
    return _backward([input, input_h, input_c, params], grads, reserve_space, attrs)


cudnn_rnn_backprop_op.gradient(undefined_gradient)


def _cudnn_rnn_backprop_reference(*tensors, rnn_mode, direction):
    return _slopes_reference(tensors[:4], tensors[7:10], rnn_mode, direction)


cudnn_rnn_backprop_op.samples(
    (*_LSTM, *[f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2)] * 2, f32(0)),
    (*_TANH[:4], *[f32(3, 1, 2), f32(2, 1, 2), f32()] * 2, f32(0), _TANH[4]),
    against=_cudnn_rnn_backprop_reference,
)

cudnn_rnn_v2_op = Op(
    "CudnnRNNV2",
    f"{_INPUTS} -> {_OUTPUTS}, reserve_space: T, host_reserved: int8",
    T=FLOATS,
    is_training=True,
    **STACK,
    stateful=True,
    gradient_follows="output output_h output_c",
)


@cudnn_rnn_v2_op.shape
def _cudnn_rnn_v2_shape(input, input_h, input_c, params, *, rnn_mode, direction):
    return [*_output_shapes(input, input_h, input_c, rnn_mode, direction), [None]]


@cudnn_rnn_v2_op.kernel
def _cudnn_rnn_v2_kernel(
    input, input_h, input_c, params,
    *, rnn_mode, input_mode, direction, dropout, seed, seed2, is_training, state,
):  # fmt: skip
    attrs = {
        "rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "dropout": dropout,
        "seed": seed, "seed2": seed2, "is_training": is_training, "state": state,
    }  # fmt: skip
    return [*_forward(input, input_h, input_c, params, attrs), input.new_empty(0, dtype=torch.int8)]


@cudnn_rnn_v2_op.gradient
def _cudnn_rnn_v2_gradient(op, *grads):
    _check_training(op)
    *outputs, reserve, host = op.outputs
    return cudnn_rnn_backprop_v2_op(*op.inputs, *outputs, *grads[:3], reserve, host, **_same_attrs(op))


def _cudnn_rnn_v2_reference(input, input_h, input_c, params, *, rnn_mode, direction):
    results = _numpy_stack(input, input_h, input_c, params, rnn_mode, direction)
    return *results, _NOTHING, np.zeros(0, np.int8)


cudnn_rnn_v2_op.samples(_LSTM, _TANH, against=_cudnn_rnn_v2_reference)

cudnn_rnn_backprop_v2_op = Op(
    "CudnnRNNBackpropV2",
    f"{_INPUTS}, {_OUTPUTS}, {_BACK}, reserve_space: T, host_reserved: int8 -> {_SLOPES}",
    T=FLOATS,
    **STACK,
    stateful=True,
)


@cudnn_rnn_backprop_v2_op.shape
def _cudnn_rnn_backprop_v2_shape(input, input_h, input_c, params, *others):
    return [input, input_h, input_c, params]


@cudnn_rnn_backprop_v2_op.kernel
def _cudnn_rnn_backprop_v2_kernel(
    input, input_h, input_c, params, output, output_h, output_c,
    output_backprop, output_h_backprop, output_c_backprop, reserve_space, host_reserved,
    *, rnn_mode, input_mode, direction, dropout,
):  # fmt: skip
    attrs = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "dropout": dropout}
    grads = [output_backprop, output_h_backprop, output_c_backprop]
    return _backward([input, input_h, input_c, params], grads, reserve_space, attrs)


cudnn_rnn_backprop_v2_op.gradient(undefined_gradient)


def _cudnn_rnn_backprop_v2_reference(*tensors, rnn_mode, direction):
    return _slopes_reference(tensors[:4], tensors[7:10], rnn_mode, direction)


cudnn_rnn_backprop_v2_op.samples(
    (*_LSTM, *[f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2)] * 2, f32(0), np.zeros(0, np.int8)),
    against=_cudnn_rnn_backprop_v2_reference,
)

# ---------------------------------------------------------------------------- with lengths and projections

cudnn_rnn_v3_op = Op(
    "CudnnRNNV3",
    f"{_INPUTS}, sequence_lengths: int32 -> {_OUTPUTS}, reserve_space: T, host_reserved: int8",
    T=FLOATS,
    num_proj=0,
    is_training=True,
    time_major=True,
    **STACK,
    stateful=True,
    gradient_follows="output output_h output_c",
)


@cudnn_rnn_v3_op.shape
def _cudnn_rnn_v3_shape(input, input_h, input_c, params, sequence_lengths, *, rnn_mode, direction):
    of_rank(sequence_lengths, 1)
    return [*_output_shapes(input, input_h, input_c, rnn_mode, direction), [None]]


@cudnn_rnn_v3_op.kernel
def _cudnn_rnn_v3_kernel(
    input, input_h, input_c, params, sequence_lengths,
    *, rnn_mode, input_mode, direction, dropout, seed, seed2, num_proj, is_training, time_major, state,
):  # fmt: skip
    attrs = {
        "rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "num_proj": num_proj,
        "dropout": dropout, "seed": seed, "seed2": seed2, "is_training": is_training, "state": state,
    }  # fmt: skip
    results = _forward(input, input_h, input_c, params, attrs, sequence_lengths, time_major)
    return [*results, input.new_empty(0, dtype=torch.int8)]


@cudnn_rnn_v3_op.gradient
def _cudnn_rnn_v3_gradient(op, *grads):
    _check_training(op)
    *outputs, reserve, host = op.outputs
    attrs = _same_attrs(op, "num_proj", "time_major")
    slopes = cudnn_rnn_backprop_v3_op(*op.inputs, *outputs, *grads[:3], reserve, host, **attrs)
    return *slopes, None


def _in_time(tensors, time_major):
    """Sequences with their steps first, or back."""
    return [t if time_major or np.ndim(t) != 3 else np.swapaxes(t, 0, 1) for t in tensors]


def _cudnn_rnn_v3_reference(
    input, input_h, input_c, params, sequence_lengths, *, rnn_mode, direction, num_proj, time_major
):
    x, h, c = _in_time([input, input_h, input_c], time_major)
    found = _numpy_stack(x, h, c, params, rnn_mode, direction, num_proj, sequence_lengths)
    return *_in_time(found, time_major), _NOTHING, np.zeros(0, np.int8)


_LENGTHS = np.array([2, 3], np.int32)
_BATCH_FIRST = (f32(2, 3, 2), f32(2, 4, 2), f32(0), f32(168), _LENGTHS)
cudnn_rnn_v3_op.samples(
    (*_LSTM, _LENGTHS),
    (*_BATCH_FIRST, {"rnn_mode": "gru", "direction": "bidirectional", "time_major": False}),
    (f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 3), f32(78), _LENGTHS, {"num_proj": 2}),
    against=_cudnn_rnn_v3_reference,
)
cudnn_rnn_v3_op.refuses(
    (*_LSTM, np.array([0, 3], np.int32)), "sequence_lengths must be 2 numbers", errors.InvalidArgumentError
)

cudnn_rnn_backprop_v3_op = Op(
    "CudnnRNNBackpropV3",
    f"{_INPUTS}, sequence_lengths: int32, {_OUTPUTS}, {_BACK}, reserve_space: T, host_reserved: int8"
    f" -> {_SLOPES}",
    T=FLOATS,
    num_proj=0,
    time_major=True,
    **STACK,
    stateful=True,
)


@cudnn_rnn_backprop_v3_op.shape
def _cudnn_rnn_backprop_v3_shape(input, input_h, input_c, params, *others):
    return [input, input_h, input_c, params]


@cudnn_rnn_backprop_v3_op.kernel
def _cudnn_rnn_backprop_v3_kernel(
    input, input_h, input_c, params, sequence_lengths, output, output_h, output_c,
    output_backprop, output_h_backprop, output_c_backprop, reserve_space, host_reserved,
    *, rnn_mode, input_mode, direction, dropout, num_proj, time_major,
):  # fmt: skip
    attrs = {
        "rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction, "num_proj": num_proj,
        "dropout": dropout,
    }  # fmt: skip
    grads = [output_backprop, output_h_backprop, output_c_backprop]
    inputs = [input, input_h, input_c, params]
    return _backward(inputs, grads, reserve_space, attrs, sequence_lengths, time_major)


cudnn_rnn_backprop_v3_op.gradient(undefined_gradient)


def _cudnn_rnn_backprop_v3_reference(*tensors, rnn_mode, direction, num_proj, time_major):
    x, h, c, params, lengths = tensors[:5]
    inputs, grads = _in_time([x, h, c, params], time_major), _in_time(tensors[8:11], time_major)
    slopes = _slopes_reference(inputs, grads, rnn_mode, direction, num_proj, lengths)
    return _in_time(slopes, time_major)


cudnn_rnn_backprop_v3_op.samples(
    (*_LSTM, _LENGTHS, *[f32(3, 2, 2), f32(1, 2, 2), f32(1, 2, 2)] * 2, f32(0), np.zeros(0, np.int8)),
    against=_cudnn_rnn_backprop_v3_reference,
)
