"""Recurrent cells in one op each: an LSTM's step, an LSTM over a whole sequence, a GRU's step.

The four gates of an LSTM lie side by side in the columns of `w` and `b`: input, cell, forget, output
("icfo"); BlockLSTMV2 has the forget gate before the cell ("ifco"). Over a sequence only the product with the
state is left to each step: the product with the inputs is one for all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.schema import attr
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import joining, shapes, slicing
from tideflow.ops.helpers import cpu_functions
from tideflow.ops.helpers.axes import of_rank, size_product
from tideflow.ops.helpers.references import pulled_back
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import types
from tideflow.ops.linalg import matmul
from tideflow.ops.nn import activations

_HALF_OR_FLOAT = types("half float")
_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_STEP = f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}"
_GATES = "i: T, cs: T, f: T, o: T, ci: T, co: T"

# ---------------------------------------------------------------------------- one step of an LSTM


class Gates(NamedTuple):
    """What a step of an LSTM leaves: its gates `i`, `f` and `o`, its new input, its state and its output."""

    i: torch.Tensor
    cs: torch.Tensor
    f: torch.Tensor
    o: torch.Tensor
    ci: torch.Tensor
    co: torch.Tensor
    h: torch.Tensor


class Peepholes(NamedTuple):
    """The weights by which gates look at the cell's state."""

    i: torch.Tensor
    f: torch.Tensor
    o: torch.Tensor


def _lstm_step(
    sums: torch.Tensor,
    cs_prev: torch.Tensor,
    order: str,
    forget_bias: float,
    cell_clip: float,
    peepholes: Peepholes | None,
) -> Gates:
    parts = dict(zip(order, sums.chunk(4, 1), strict=True))
    i, f, o = parts["i"], parts["f"], parts["o"]
    if forget_bias:
        f = f + forget_bias
    if peepholes:
        i, f = torch.addcmul(i, cs_prev, peepholes.i), torch.addcmul(f, cs_prev, peepholes.f)
    i, f, ci = torch.sigmoid(i), torch.sigmoid(f), cpu_functions.tanh(parts["c"])
    cs = torch.addcmul(ci * i, cs_prev, f)
    if cell_clip > 0:
        cs = cs.clamp(-cell_clip, cell_clip)
    if peepholes:
        o = torch.addcmul(o, cs, peepholes.o)
    o, co = torch.sigmoid(o), cpu_functions.tanh(cs)
    return Gates(i, cs, f, o, ci, co, co * o)


def _check_shapes(
    sizes: Mapping[str, int],
    said: str = "{name}.{dim}({axis}) != {what}",
    **expected: tuple[torch.Tensor, str],
) -> None:
    """Tensors must have shapes of these sizes, each given by the words by which TensorFlow calls it.

    `said` is how TensorFlow's kernel begins to tell which size of which tensor is another one.
    """
    for name, (tensor, shape) in expected.items():
        words = shape.split(", ")
        wanted, found = [sizes[word] for word in words], list(tensor.shape)
        if found != wanted:
            axis = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), 0)
            dim = "dims" if words[0] == "batch_size" and name not in Gates._fields else "dim_size"
            parts = {"name": name, "dim": dim, "axis": axis, "what": words[axis]}
            size = found[axis] if found else 0
            raise ShapeError(
                f"{said.format(**parts)}: {size} vs. {wanted[axis]}. {name} must have shape {wanted}, but "
                f"has {found}"
            )


_STATE = "batch_size, cell_size"


def _check_ranks(**expected: tuple[torch.Tensor, int]) -> None:
    for name, (tensor, rank) in expected.items():
        if tensor.ndim != rank:
            raise ShapeError(f"{name} must be {rank}D, but has shape {list(tensor.shape)}")


def _sizes(x: torch.Tensor, state: torch.Tensor, batch_axis: int = 0) -> dict[str, int]:
    """The sizes of a cell with such inputs and such a state; an axis that is not there has size 0."""
    (batch, inputs), cells = (*x.shape, 0, 0)[batch_axis:][:2], (*state.shape, 0)[min(state.ndim, 1)]
    multiples = {f"cell_size * {n}": n * cells for n in (2, 4)}
    return {
        "batch_size": batch,
        "cell_size": cells,
        "input_size + cell_size": inputs + cells,
        **multiples,
    }


def _check_cell(x, cs_prev, h_prev, w, b, wci, wcf, wco, batch_axis=0) -> None:
    """The sizes that the cell's tensors must share, else ShapeError."""
    sizes = _sizes(x, cs_prev, batch_axis)
    _check_shapes(
        sizes,
        cs_prev=(cs_prev, _STATE),
        h_prev=(h_prev, _STATE),
        w=(w, "input_size + cell_size, cell_size * 4"),
        b=(b, "cell_size * 4"),
    )
    _check_shapes(sizes, wci=(wci, "cell_size"), wcf=(wcf, "cell_size"), wco=(wco, "cell_size"))


_LSTM = {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False}


def _state_shape(x: TensorShape, state: TensorShape) -> list[int | None]:
    return [of_rank(x, 2).tuple[0], of_rank(state, 2).tuple[1]]


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _step_reference(sums, cs_prev, order, forget_bias, cell_clip, peepholes):
    """A step in NumPy, from what the weights make of input and output: i, cs, f, o, ci, co and h."""
    gates = dict(zip(order, np.split(sums, 4, 1)))
    i = _logistic(gates["i"] + cs_prev * peepholes[0])
    f = _logistic(gates["f"] + forget_bias + cs_prev * peepholes[1])
    ci = np.tanh(gates["c"])
    cs = ci * i + cs_prev * f
    cs = np.clip(cs, -cell_clip, cell_clip) if cell_clip > 0 else cs
    o, co = _logistic(gates["o"] + cs * peepholes[2]), np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _lstm_block_cell_reference(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole
):
    peepholes = [wci, wcf, wco] if use_peephole else [0, 0, 0]
    sums = np.concatenate([x, h_prev], 1) @ w + b
    return _step_reference(sums, cs_prev, "icfo", forget_bias, cell_clip, peepholes)


_CELL = (f32(3, 2), f32(3, 4), f32(3, 4), f32(6, 16), f32(4), f32(4), f32(4), f32(16))
_LOOKING = {"use_peephole": True, "cell_clip": 0.0}

lstm_block_cell_op = Op(
    "LSTMBlockCell", f"{_STEP} -> {_GATES}, h: T", T=_HALF_OR_FLOAT, **_LSTM, gradient_follows="cs h"
)


@lstm_block_cell_op.shape
def _lstm_block_cell_shape(x, cs_prev, h_prev, w, wci, wcf, wco, b):
    return [_state_shape(x, cs_prev)] * 7


@lstm_block_cell_op.kernel
def _lstm_block_cell_kernel(x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole):
    _check_cell(x, cs_prev, h_prev, w, b, wci, wcf, wco)
    sums = torch.addmm(b, torch.cat([x, h_prev], 1), w)
    peepholes = Peepholes(wci, wcf, wco) if use_peephole else None
    return _lstm_step(sums, cs_prev, "icfo", forget_bias, cell_clip, peepholes)


def _known_sizes(x: Tensor, cs_prev: Tensor) -> tuple[Any, Any, Any]:
    """Batch, inputs and cells; -1 means the rest to a slice."""
    batch, inputs = of_rank(x.shape, 2).tuple
    cells = of_rank(cs_prev.shape, 2).tuple[1]
    inputs = shapes.shape(x)[1] if inputs is None else inputs
    return -1 if batch is None else batch, inputs, -1 if cells is None else cells


@lstm_block_cell_op.gradient
def _lstm_block_cell_gradient(op, *grads):
    x, cs_prev, h_prev, w, *_ = op.inputs
    *gates, _ = op.outputs
    _, cs_grad, *_, h_grad = grads
    by_cs_prev, by_sums, *by_peepholes = lstm_block_cell_grad_op(
        *op.inputs, *gates, cs_grad, h_grad, use_peephole=op.attrs["use_peephole"]
    )
    by_both = matmul.matmul(by_sums, w, transpose_b=True)
    batch, inputs, cells = _known_sizes(x, cs_prev)
    by_x = slicing.slice(by_both, [0, 0], [batch, inputs])
    by_h_prev = slicing.slice(by_both, [0, inputs], [batch, cells])
    by_w = matmul.matmul(joining.concat([x, h_prev], 1), by_sums, transpose_a=True)
    by_b = activations.bias_add_grad_op(by_sums)
    return by_x, by_cs_prev, by_h_prev, by_w, *by_peepholes, by_b


lstm_block_cell_op.samples(_CELL, (*_CELL, _LOOKING), against=_lstm_block_cell_reference)
lstm_block_cell_op.refuses((f32(3), *_CELL[1:]), "Shape must be rank 2 but is rank 1")

_PEEPHOLE_GRADS = "wci_grad: T, wcf_grad: T, wco_grad: T"


def _lstm_step_back(
    gates: Gates,
    cs_prev: torch.Tensor,
    cs_grad: torch.Tensor,
    h_grad: torch.Tensor,
    order: str,
    peepholes: Peepholes | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients by the state before the step and by the sums; clipping is taken for no change."""
    i, _, f, o, ci, co, _ = gates
    by_o = o * (1 - o) * h_grad * co
    by_cs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes:
        by_cs = torch.addcmul(by_cs, by_o, peepholes.o)
    by_i = i * (1 - i) * by_cs * ci
    by_f = f * (1 - f) * by_cs * cs_prev
    by_sums = {"i": by_i, "c": (1 - ci * ci) * by_cs * i, "f": by_f, "o": by_o}
    by_cs_prev = by_cs * f
    if peepholes:
        by_cs_prev = by_cs_prev + by_i * peepholes.i + by_f * peepholes.f
    return by_cs_prev, torch.cat([by_sums[gate] for gate in order], 1)


def _by_peepholes(
    by_sums: torch.Tensor, cs_prev: torch.Tensor, cs: torch.Tensor, order: str, used: bool
) -> list[torch.Tensor]:
    """The gradients by the peepholes' weights, from the sums' gradients of all rows."""
    if not used:
        return [cs.new_zeros(cs.shape[1]) for _ in range(3)]
    parts = dict(zip(order, by_sums.chunk(4, 1), strict=True))
    return [(parts["i"] * cs_prev).sum(0), (parts["f"] * cs_prev).sum(0), (parts["o"] * cs).sum(0)]


def _check_alike(x: torch.Tensor, state: torch.Tensor, **tensors: torch.Tensor) -> None:
    _check_shapes(_sizes(x, state), **{name: (tensor, _STATE) for name, tensor in tensors.items()})


_IS_PEEPHOLE = {"use_peephole": attr("bool")}

lstm_block_cell_grad_op = Op(
    "LSTMBlockCellGrad",
    f"{_STEP}, {_GATES}, cs_grad: T, h_grad: T -> cs_prev_grad: T, dicfo: T, {_PEEPHOLE_GRADS}",
    T=_HALF_OR_FLOAT,
    **_IS_PEEPHOLE,
)


@lstm_block_cell_grad_op.shape
def _lstm_block_cell_grad_shape(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad
):
    batch, cells = _state_shape(x, cs_prev)
    return [[batch, cells], [batch, size_product(cells, 4)], [cells], [cells], [cells]]


@lstm_block_cell_grad_op.kernel
def _lstm_block_cell_grad_kernel(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, *, use_peephole
):
    _check_cell(x, cs_prev, h_prev, w, b, wci, wcf, wco)
    _check_alike(x, cs_prev, i=i, cs=cs, f=f, o=o, ci=ci, co=co)
    _check_alike(x, cs_prev, cs_grad_tensor=cs_grad, h_grad_tensor=h_grad)
    peepholes = Peepholes(wci, wcf, wco) if use_peephole else None
    gates = Gates(i, cs, f, o, ci, co, co)
    by_cs_prev, by_sums = _lstm_step_back(gates, cs_prev, cs_grad, h_grad, "icfo", peepholes)
    return by_cs_prev, by_sums, *_by_peepholes(by_sums, cs_prev, cs, "icfo", use_peephole)


lstm_block_cell_grad_op.gradient(undefined_gradient)


class _Change(NamedTuple):
    """Changes of what a step is computed from: its sums, the state before, the peepholes' weights."""

    sums: Any = 0.0
    cs_prev: Any = 0.0
    wci: Any = 0.0
    wcf: Any = 0.0
    wco: Any = 0.0


def _changed_step(gates, cs_prev, peepholes, order, change: _Change) -> np.ndarray:
    """In NumPy: how the state and the output of a step whose gates had these values change."""

    def moved(gate, by):
        return _logistic(np.log(gate) - np.log1p(-gate) + by)

    i, cs, f, o, ci, co = gates
    zeros = np.zeros([len(cs), 4 * cs.shape[1]])
    sums = dict(zip(order, np.split(zeros + change.sums, 4, 1)))
    wci, wcf, wco = peepholes
    before = cs_prev + change.cs_prev
    new_i = moved(i, sums["i"] + change.cs_prev * wci + before * change.wci)
    new_f = moved(f, sums["f"] + change.cs_prev * wcf + before * change.wcf)
    new_ci = np.tanh(np.arctanh(ci) + sums["c"])
    by_cs = new_ci * new_i + before * new_f - (ci * i + cs_prev * f)
    new_o = moved(o, sums["o"] + by_cs * wco + (cs + by_cs) * change.wco)
    return np.stack([by_cs, np.tanh(np.arctanh(co) + by_cs) * new_o - co * o])


def _lstm_block_cell_grad_reference(
    x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad, *, use_peephole
):
    def by(name: str, like: np.ndarray, used: bool = True) -> np.ndarray:
        def changed(moved: np.ndarray) -> np.ndarray:
            change = _Change(**{name: moved}) if used else _Change()
            return _changed_step((i, cs, f, o, ci, co), cs_prev, peepholes, "icfo", change)

        return pulled_back(changed, np.zeros(like.shape), np.stack([cs_grad, h_grad]))

    peepholes = [wci, wcf, wco] if use_peephole else [0, 0, 0]
    looking = [by(name, wci, use_peephole) for name in ("wci", "wcf", "wco")]
    return by("cs_prev", cs_prev), by("sums", np.tile(cs_prev, 4)), *looking


_KEPT = (f32(3, 4, low=0.0),) * 6
lstm_block_cell_grad_op.samples(
    (*_CELL, *_KEPT, f32(3, 4), f32(3, 4), {"use_peephole": False}),
    (*_CELL, *_KEPT, f32(3, 4), f32(3, 4), {"use_peephole": True}),
    against=_lstm_block_cell_grad_reference,
)

# ---------------------------------------------------------------------------- an LSTM over a sequence

_SEQUENCE = f"seq_len_max: int64, {_STEP}"


def _sequence_shapes(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b):
    steps, batch, _ = of_rank(x, 3).tuple
    (gates,) = of_rank(b, 1).tuple
    if gates is not None and gates % 4:
        raise ShapeError(f"Dimension size must be evenly divisible by 4 but is {gates}: biases of four gates")
    return [[steps, batch, None if gates is None else gates // 4]] * 7


def _check_sequence(steps: int, x: torch.Tensor) -> None:
    if x.ndim != 3:
        raise ShapeError(f"x must be 3D, but has shape {list(x.shape)}")
    if not 0 <= steps <= len(x):
        raise ShapeError(f"seq_len_max must be in [0, {len(x)}], the steps of x, but is {steps}")


def _lstm(steps, x, cs_prev, h_prev, w, peepholes, b, order, forget_bias, cell_clip, use_peephole):
    _check_sequence(steps, x)
    _check_ranks(cs_prev=(cs_prev, 2), h_prev=(h_prev, 2), w=(w, 2), b=(b, 1))
    _check_ranks(wci=(peepholes.i, 1), wcf=(peepholes.f, 1), wco=(peepholes.o, 1))
    _check_cell(x, cs_prev, h_prev, w, b, *peepholes, batch_axis=1)
    used = peepholes if use_peephole else None
    inputs = x.shape[2]
    from_inputs = torch.matmul(x[:steps], w[:inputs]) + b
    to_gates = w[inputs:]
    found = []
    for sums in from_inputs:
        gates = _lstm_step(torch.addmm(sums, h_prev, to_gates), cs_prev, order, forget_bias, cell_clip, used)
        found.append(gates)
        cs_prev, h_prev = gates.cs, gates.h
    rest = x.new_zeros(len(x) - steps, *cs_prev.shape)
    return [torch.cat([torch.stack(each), rest]) if found else rest for each in zip(*found)] or [rest] * 7


def _sequence_gradient(op: Operation, grads: tuple, target: Op) -> tuple:
    # TensorFlow uses BlockLSTMGrad for both versions, which reads BlockLSTMV2's gates in the wrong order.
    _, cs_grad, *_, h_grad = grads
    use_peephole = op.attrs["use_peephole"]
    return None, *target(*op.inputs, *op.outputs, cs_grad, h_grad, use_peephole=use_peephole)


_RUN = (f32(5, 3, 2), *_CELL[1:])


def _add_sequence_samples(op: Op, order: str) -> None:
    def reference(
        steps, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias=0.0, cell_clip, use_peephole
    ):
        peepholes = [wci, wcf, wco] if use_peephole else [0, 0, 0]
        found = np.zeros([7, len(x), *cs_prev.shape])
        for t in range(steps):
            sums = np.concatenate([x[t], h_prev], 1) @ w + b
            found[:, t] = _step_reference(sums, cs_prev, order, forget_bias, cell_clip, peepholes)
            cs_prev, h_prev = found[1, t], found[6, t]
        return list(found)

    op.samples((5, *_RUN), (3, *_RUN, _LOOKING), (0, *_RUN), against=reference)
    op.refuses((6, *_RUN), "seq_len_max must be in [0, 5]", InvalidArgumentError)


block_lstm_op = Op(
    "BlockLSTM",
    f"{_SEQUENCE} -> {_GATES}, h: T",
    host="seq_len_max",
    T=_HALF_OR_FLOAT,
    **_LSTM,
    gradient_follows="cs h",
)
block_lstm_op.shape(_sequence_shapes)


@block_lstm_op.kernel
def _block_lstm_kernel(
    seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, forget_bias, cell_clip, use_peephole
):
    peepholes = Peepholes(wci, wcf, wco)
    return _lstm(
        seq_len_max, x, cs_prev, h_prev, w, peepholes, b, "icfo", forget_bias, cell_clip, use_peephole
    )


block_lstm_op.gradient(lambda op, *grads: _sequence_gradient(op, grads, block_lstm_grad_op))
_add_sequence_samples(block_lstm_op, "icfo")

block_lstm_v2_op = Op(
    "BlockLSTMV2",
    f"{_SEQUENCE} -> {_GATES}, h: T",
    host="seq_len_max",
    T=_HALF_OR_FLOAT,
    cell_clip=0.0,
    use_peephole=False,
    gradient_follows="cs h",
)
block_lstm_v2_op.shape(_sequence_shapes)


@block_lstm_v2_op.kernel
def _block_lstm_v2_kernel(seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, *, cell_clip, use_peephole):
    peepholes = Peepholes(wci, wcf, wco)
    return _lstm(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, "ifco", 0.0, cell_clip, use_peephole)


block_lstm_v2_op.gradient(lambda op, *grads: _sequence_gradient(op, grads, block_lstm_grad_v2_op))
_add_sequence_samples(block_lstm_v2_op, "ifco")

_SEQUENCE_GRAD = (
    f"{_SEQUENCE}, {_GATES}, h: T, cs_grad: T, h_grad: T "
    f"-> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, {_PEEPHOLE_GRADS}, b_grad: T"
)


def _sequence_grad_shapes(
    seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, h, cs_grad, h_grad
):
    ranks = ((x, 3), (cs_prev, 2), (h_prev, 2), (w, 2), (wci, 1), (wcf, 1), (wco, 1), (b, 1))
    return [of_rank(shape, rank) for shape, rank in ranks]


def _lstm_back(steps, x, cs_prev, h_prev, w, peepholes, b, gates, cs_grad, h_grad, order, use_peephole):
    _check_sequence(steps, x)
    sizes = _sizes(x, cs_prev, batch_axis=1)
    _check_shapes(sizes, "w matrix rows don't match", w=(w, "input_size + cell_size, cell_size * 4"))
    _check_shapes(sizes, "w and b cell_size don't match", b=(b, "cell_size * 4"))
    _check_cell(x, cs_prev, h_prev, w, b, *peepholes, batch_axis=1)
    for name, tensor in {**gates._asdict(), "cs_grad": cs_grad, "h_grad": h_grad}.items():
        if tensor.shape != gates.cs.shape:
            raise ShapeError(f"{name} must have shape {list(gates.cs.shape)}, but has {list(tensor.shape)}")
    used = peepholes if use_peephole else None
    inputs = x.shape[2]
    from_gates = w[inputs:].T
    cs_before = torch.cat([cs_prev[None], gates.cs[:steps]])[:-1]
    h_before = torch.cat([h_prev[None], gates.h[:steps]])[:-1]
    by_cs, by_h = torch.zeros_like(cs_prev), torch.zeros_like(h_prev)
    by_sums = [b.new_zeros(0, 4 * cs_prev.shape[1])]
    for t in reversed(range(steps)):
        here = Gates(*(each[t] for each in gates))
        by_cs, by_sum = _lstm_step_back(here, cs_before[t], by_cs + cs_grad[t], by_h + h_grad[t], order, used)
        by_h = by_sum @ from_gates
        by_sums.append(by_sum)
    by_sums = torch.cat(by_sums[::-1])
    by_x = (by_sums @ w[:inputs].T).view(steps, *x.shape[1:])
    both = torch.cat([x[:steps], h_before], 2).flatten(0, 1)
    by_peepholes = _by_peepholes(
        by_sums, cs_before.flatten(0, 1), gates.cs[:steps].flatten(0, 1), order, use_peephole
    )
    by_x = torch.cat([by_x, torch.zeros_like(x[steps:])])
    return by_x, by_cs, by_h, both.T @ by_sums, *by_peepholes, by_sums.sum(0)


def _back_kernel(order: str) -> Callable:
    """The kernel of the gradient of an LSTM whose gates come in this order."""

    def _kernel(steps, x, cs_prev, h_prev, w, wci, wcf, wco, b, *values, use_peephole):
        *gates, cs_grad, h_grad = values
        peepholes = Peepholes(wci, wcf, wco)
        return _lstm_back(
            steps, x, cs_prev, h_prev, w, peepholes, b, Gates(*gates), cs_grad, h_grad, order, use_peephole
        )

    return _kernel


_KEPT_RUN = (f32(5, 3, 4, low=0.0),) * 7


def _changed_run(steps, x, cs_prev, h_prev, w, peepholes, gates, order, changes) -> np.ndarray:
    """In NumPy: how the states and outputs of a run whose gates had these values change."""
    inputs, h = x.shape[2], gates[-1]
    found = np.zeros([2, *h.shape])
    by_cs, by_h = changes.get("cs_prev", 0.0), changes.get("h_prev", np.zeros_like(h_prev))
    looking = {name: changes[name] for name in ("wci", "wcf", "wco") if name in changes}
    for t in range(steps):
        sums = by_h @ w[inputs:] + changes.get("b", 0.0)
        if "x" in changes:
            sums = sums + changes["x"][t] @ w[:inputs]
        if "w" in changes:
            sums = sums + np.concatenate([x[t], h_prev], 1) @ changes["w"] + by_h @ changes["w"][inputs:]
        change = _Change(sums, by_cs, **looking)
        by_cs, by_h = found[:, t] = _changed_step(
            [gate[t] for gate in gates[:-1]], cs_prev, peepholes, order, change
        )
        cs_prev, h_prev = gates[1][t], h[t]
    return found


def _add_sequence_grad_samples(op: Op, order: str) -> None:
    def reference(steps, x, cs_prev, h_prev, w, wci, wcf, wco, b, *values, use_peephole):
        *gates, cs_grad, h_grad = values
        peepholes = [wci, wcf, wco] if use_peephole else [0, 0, 0]

        def by(name: str, like: np.ndarray) -> np.ndarray:
            def changed(moved: np.ndarray) -> np.ndarray:
                changes = {name: moved} if use_peephole or name not in ("wci", "wcf", "wco") else {}
                return _changed_run(steps, x, cs_prev, h_prev, w, peepholes, gates, order, changes)

            return pulled_back(changed, np.zeros(like.shape), np.stack([cs_grad, h_grad]))

        weights = {"w": w, "wci": wci, "wcf": wcf, "wco": wco, "b": b}
        return [
            by(name, like) for name, like in {"x": x, "cs_prev": cs_prev, "h_prev": h_prev, **weights}.items()
        ]

    op.samples(
        (5, *_RUN, *_KEPT_RUN, f32(5, 3, 4), f32(5, 3, 4), {"use_peephole": False}),
        (3, *_RUN, *_KEPT_RUN, f32(5, 3, 4), f32(5, 3, 4), {"use_peephole": True}),
        against=reference,
    )


block_lstm_grad_op = Op(
    "BlockLSTMGrad",
    _SEQUENCE_GRAD,
    host="seq_len_max",
    T=_HALF_OR_FLOAT,
    **_IS_PEEPHOLE,
)
block_lstm_grad_op.shape(_sequence_grad_shapes)
block_lstm_grad_op.kernel(_back_kernel("icfo"))
block_lstm_grad_op.gradient(undefined_gradient)
_add_sequence_grad_samples(block_lstm_grad_op, "icfo")

block_lstm_grad_v2_op = Op(
    "BlockLSTMGradV2",
    _SEQUENCE_GRAD,
    host="seq_len_max",
    T=_HALF_OR_FLOAT,
    **_IS_PEEPHOLE,
)
block_lstm_grad_v2_op.shape(_sequence_grad_shapes)
block_lstm_grad_v2_op.kernel(_back_kernel("ifco"))
block_lstm_grad_v2_op.gradient(undefined_gradient)
_add_sequence_grad_samples(block_lstm_grad_v2_op, "ifco")

# ---------------------------------------------------------------------------- one step of a GRU

_GRU = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"


def _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c) -> None:
    _check_shapes(
        _sizes(x, h_prev),
        h_prev=(h_prev, _STATE),
        w_ru=(w_ru, "input_size + cell_size, cell_size * 2"),
        w_c=(w_c, "input_size + cell_size, cell_size"),
        b_ru=(b_ru, "cell_size * 2"),
        b_c=(b_c, "cell_size"),
    )


_GRU_CELL = (f32(3, 2), f32(3, 4), f32(6, 8), f32(6, 4), f32(8), f32(4))

gru_block_cell_op = Op(
    "GRUBlockCell", f"{_GRU} -> r: T, u: T, c: T, h: T", T=types("float"), gradient_follows="h"
)


@gru_block_cell_op.shape
def _gru_block_cell_shape(x, h_prev, w_ru, w_c, b_ru, b_c):
    return [_state_shape(x, h_prev)] * 4


@gru_block_cell_op.kernel
def _gru_block_cell_kernel(x, h_prev, w_ru, w_c, b_ru, b_c):
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    r, u = torch.sigmoid(torch.addmm(b_ru, torch.cat([x, h_prev], 1), w_ru)).chunk(2, 1)
    c = cpu_functions.tanh(torch.addmm(b_c, torch.cat([x, h_prev * r], 1), w_c))
    return r, u, c, u * (h_prev - c) + c


@gru_block_cell_op.gradient
def _gru_block_cell_gradient(op, *grads):
    x, h_prev, *_ = op.inputs
    r, u, c, _ = op.outputs
    by_x, by_h_prev, by_c, by_ru = gru_block_cell_grad_op(*op.inputs, r, u, c, grads[-1])
    by_w_ru = matmul.matmul(joining.concat([x, h_prev], 1), by_ru, transpose_a=True)
    by_b_ru = activations.bias_add_grad_op(by_ru)
    by_w_c = matmul.matmul(joining.concat([x, h_prev * r], 1), by_c, transpose_a=True)
    return by_x, by_h_prev, by_w_ru, by_w_c, by_b_ru, activations.bias_add_grad_op(by_c)


def _gru_block_cell_reference(x, h_prev, w_ru, w_c, b_ru, b_c):
    r, u = np.split(_logistic(np.concatenate([x, h_prev], 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


gru_block_cell_op.samples(_GRU_CELL, against=_gru_block_cell_reference)

gru_block_cell_grad_op = Op(
    "GRUBlockCellGrad",
    f"{_GRU}, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    T=types("float"),
)


@gru_block_cell_grad_op.shape
def _gru_block_cell_grad_shape(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    batch, cells = _state_shape(x, h_prev)
    of_rank(w_ru, 2)
    return [x, [batch, cells], [batch, cells], [batch, size_product(cells, 2)]]


@gru_block_cell_grad_op.kernel
def _gru_block_cell_grad_kernel(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    _check_alike(x, h_prev, r=r, u=u, c=c, d_h=d_h)
    inputs, cells = x.shape[1], h_prev.shape[1]
    by_c = d_h * (1 - u) * (1 - c * c)
    by_u = d_h * (h_prev - c) * u * (1 - u)
    x_by_c, reset_by_c = (by_c @ w_c.T).split([inputs, cells], 1)
    by_ru = torch.cat([reset_by_c * h_prev * r * (1 - r), by_u], 1)
    x_by_ru, h_by_ru = (by_ru @ w_ru.T).split([inputs, cells], 1)
    return x_by_c + x_by_ru, h_by_ru + reset_by_c * r + d_h * u, by_c, by_ru


gru_block_cell_grad_op.gradient(undefined_gradient)


def _gru_block_cell_grad_reference(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    def changed(by_x=0.0, by_h=0.0, by_c=0.0, by_ru=0.0) -> np.ndarray:
        """The output of a cell whose gates had these values, after changes of its input, state and sums."""
        joined = np.concatenate([np.zeros(x.shape) + by_x, np.zeros(h_prev.shape) + by_h], 1)
        gates = np.concatenate([r, u], 1)
        new_r, new_u = np.split(_logistic(np.log(gates) - np.log1p(-gates) + joined @ w_ru + by_ru), 2, 1)
        joined[:, x.shape[1] :] = (h_prev + by_h) * new_r - h_prev * r
        new_c = np.tanh(np.arctanh(c) + joined @ w_c + by_c)
        return new_u * (h_prev + by_h) + (1 - new_u) * new_c

    likes = {"by_x": x, "by_h": h_prev, "by_c": c, "by_ru": np.tile(r, 2)}
    return [
        pulled_back(lambda moved, name=name: changed(**{name: moved}), np.zeros(like.shape), d_h)
        for name, like in likes.items()
    ]


gru_block_cell_grad_op.samples(
    (*_GRU_CELL, *(f32(3, 4, low=0.0),) * 3, f32(3, 4)), against=_gru_block_cell_grad_reference
)
