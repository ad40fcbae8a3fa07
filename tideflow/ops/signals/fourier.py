"""Discrete Fourier and cosine transforms over the last one, two or three axes.

A transform is linear, so its gradient is a transform. Of a real signal only half of the spectrum is kept: the
other half is its mirror image, and the gradients count each kept frequency as often as it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tideflow.export import export, expose
from tideflow.graph import dtypes, errors
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import fully_known, partial_value
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.helpers.axes import of_rank_at_least, vector
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import COMPLEX, REAL_PARTS
from tideflow.ops.math import binary, casting, reductions, unary

_REAL_ATTR = attr("type", dtypes.float32, allowed=REAL_PARTS)
_COMPLEX_ATTR = attr("type", dtypes.complex64, allowed=COMPLEX)
_COMPLEX_OF = dict(zip(REAL_PARTS, COMPLEX, strict=True))
_SUFFIXES = {1: "", 2: "2D", 3: "3D"}
_SAMPLE_SIZES = {1: (3, 4), 2: (2, 3, 4), 3: (2, 3, 4)}


def _last_axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


# ---------------------------------------------------------------------------------- complex transforms


def _complex_transform(op_type: str, rank: int, kernel: Callable, gradient: Callable, old: bool) -> Op:
    """One op; those of the `old` kind (BatchFFT …) know single precision only."""
    if old:
        op = Op(op_type, "input: complex64 -> output: complex64")
    else:
        op = Op(op_type, "input: Tcomplex -> output: Tcomplex", Tcomplex=_COMPLEX_ATTR)
    axes = _last_axes(rank)

    @op.shape
    def _shape(input):
        return of_rank_at_least(input, rank)

    @op.kernel
    def _kernel(input):
        return kernel(input, dim=axes) if input.numel() else input

    op.gradient(gradient)
    op.samples(
        c64(*_SAMPLE_SIZES[rank]),
        c64(*(5, 1, 2)[:rank]),
        c64(*(0, 3, 2)[-rank:]),
        against=lambda x: kernel(torch.from_numpy(x), dim=axes).numpy() if x.size else x,
    )
    op.refuses((c64(*(3, 2)[: rank - 1]),), f"Shape must be at least rank {rank} but is rank {rank - 1}")
    return op


def _forward_gradient(rank: int) -> Callable:
    def gradient(op, grad):
        return inverses[rank](grad) * casting.cast(_points(grad, rank), grad.dtype)

    return gradient


def _inverse_gradient(rank: int) -> Callable:
    def gradient(op, grad):
        share = 1.0 / casting.cast(_points(grad, rank), grad.dtype.real_dtype)
        return forwards[rank](grad) * casting.cast(share, grad.dtype)

    return gradient


def _points(spectrum: Tensor, rank: int) -> Tensor:
    """How many points a transform over the last axes has."""
    return reductions.reduce_prod(shapes.shape(spectrum)[-rank:])


forwards: dict[int, Op] = {}
inverses: dict[int, Op] = {}

for _rank, _suffix in _SUFFIXES.items():
    _forward, _inverse = _forward_gradient(_rank), _inverse_gradient(_rank)
    forwards[_rank] = _complex_transform(f"FFT{_suffix}", _rank, torch.fft.fftn, _forward, old=False)
    inverses[_rank] = _complex_transform(f"IFFT{_suffix}", _rank, torch.fft.ifftn, _inverse, old=False)
    _complex_transform(f"BatchFFT{_suffix}", _rank, torch.fft.fftn, _forward, old=True)
    _complex_transform(f"BatchIFFT{_suffix}", _rank, torch.fft.ifftn, _inverse, old=True)


def _public(op: Op, word: str, doc: str) -> Callable[..., Tensor]:
    def transform(input: Any, name: str | None = None) -> Tensor:
        return op(input, name=name)

    transform.__name__ = transform.__qualname__ = word
    transform.__doc__ = doc
    expose(transform, word, f"signal.{word}", f"spectral.{word}")
    return transform


fft = _public(forwards[1], "fft", "The spectrum along the last axis.")
fft2d = _public(forwards[2], "fft2d", "The spectrum over the last two axes.")
fft3d = _public(forwards[3], "fft3d", "The spectrum over the last three axes.")
ifft = _public(inverses[1], "ifft", "The signal of a spectrum along the last axis.")
ifft2d = _public(inverses[2], "ifft2d", "The signal of a spectrum over the last two axes.")
ifft3d = _public(inverses[3], "ifft3d", "The signal of a spectrum over the last three axes.")

# ---------------------------------------------------------------------------------- real transforms


def kept_frequencies(points: Any) -> Any:
    """How many frequencies say all of the spectrum of a real signal of so many points."""
    return points // 2 + 1


def _real_transforms(rank: int) -> tuple[Op, Op]:
    """The transform of real signals and its inverse, of `fft_length` points along each of the last axes."""
    forward = Op(
        f"RFFT{_SUFFIXES[rank]}", "input: Treal, fft_length: int32 -> output: Tcomplex",
        host="fft_length", Treal=_REAL_ATTR, Tcomplex=_COMPLEX_ATTR,
    )  # fmt: skip
    inverse = Op(
        f"IRFFT{_SUFFIXES[rank]}", "input: Tcomplex, fft_length: int32 -> output: Treal",
        host="fft_length", Treal=_REAL_ATTR, Tcomplex=_COMPLEX_ATTR,
    )  # fmt: skip
    axes = _last_axes(rank)

    @forward.shape
    def forward_shape(input, fft_length):
        lengths = _lengths(fft_length, rank)
        return _with_last(of_rank_at_least(input, rank), [*lengths[:-1], _halved(lengths[-1])])

    @inverse.shape
    def inverse_shape(input, fft_length):
        return _with_last(of_rank_at_least(input, rank), _lengths(fft_length, rank))

    @forward.kernel
    def forward_kernel(input, fft_length, *, Tcomplex):
        lengths = _lengths(fft_length, rank)
        sizes = [*input.shape[:-rank], *lengths[:-1], _halved(lengths[-1])]
        if not input.numel() or 0 in sizes:
            return input.new_zeros(sizes, dtype=Tcomplex.torch)
        _check_enough(input, lengths)
        return torch.fft.rfftn(input, s=lengths, dim=axes).to(Tcomplex.torch)

    @inverse.kernel
    def inverse_kernel(input, fft_length, *, Treal):
        lengths = _lengths(fft_length, rank)
        sizes = [*input.shape[:-rank], *lengths]
        if not input.numel() or 0 in sizes:
            return input.new_zeros(sizes, dtype=Treal.torch)
        _check_enough(input, [*lengths[:-1], kept_frequencies(lengths[-1])])
        return torch.fft.irfftn(input, s=lengths, dim=axes).to(Treal.torch)

    @forward.gradient
    def forward_gradient(op, grad):
        """The inverse transform would count a frequency for itself and its mirror image: half of both."""
        signal, lengths = op.inputs
        shares = casting.cast(1.0 / _occurrences(lengths[-1], signal.dtype), grad.dtype)
        points = casting.cast(reductions.reduce_prod(lengths), signal.dtype)
        back = inverse(grad * shares, lengths, Treal=signal.dtype)
        return [_fill_up(back * points, signal, rank), None]

    @inverse.gradient
    def inverse_gradient(op, grad):
        spectrum, lengths = op.inputs
        points = casting.cast(reductions.reduce_prod(lengths), grad.dtype)
        shares = casting.cast(_occurrences(lengths[-1], grad.dtype) / points, spectrum.dtype)
        back = forward(grad, lengths, Tcomplex=spectrum.dtype)
        return [_fill_up(back * shares, spectrum, rank), None]

    _add_real_samples(forward, inverse, rank)
    return forward, inverse


def _lengths(fft_length: Any, rank: int) -> list[int | None]:
    lengths = vector(fft_length)
    if lengths is not None and len(lengths) != rank:
        raise ShapeError(f"Dimension must be {rank} but is {len(lengths)}")
    for length in lengths or ():
        if length is not None and length < 0:
            raise errors.invalid_argument(f"fft_length must be non-negative, got {length}")
    return lengths if lengths is not None else [None] * rank


def _halved(length: int | None) -> int | None:
    return kept_frequencies(length) if length else length


def _with_last(shape: TensorShape, sizes: list[int | None]) -> list[int | None] | None:
    return None if shape.ndims is None else [*shape.tuple[: -len(sizes)], *sizes]


def _check_enough(input: torch.Tensor, lengths: Sequence[int]) -> None:
    """More than a transform needs is left out; less is an error, for filling up is the caller's choice."""
    first = input.ndim - len(lengths)
    for axis, needed in enumerate(lengths, first):
        if input.shape[axis] < needed:
            raise errors.invalid_argument(
                f"Input dimension {axis} must have length of at least {needed} but got: {input.shape[axis]}",
            )


def _occurrences(points: Tensor, dtype: dtypes.DType) -> Tensor:
    """How often each kept frequency is in the whole spectrum: all but the first and the middle one twice."""
    frequency = creation.range(kept_frequencies(points))
    has_mirror_image = binary.logical_and(frequency > 0, 2 * frequency < points)
    return 1.0 + casting.cast(has_mirror_image, dtype)


def _fill_up(grad: Tensor, source: Tensor, rank: int) -> Tensor:
    """What the transform did not look at has gradient 0."""
    if grad.shape.is_fully_defined() and grad.shape == source.shape:
        return grad
    missing = shapes.shape(source) - shapes.shape(grad)
    return tiling.pad(grad, joining.stack([creation.zeros_like(missing), missing], axis=1))


def _add_real_samples(forward: Op, inverse: Op, rank: int) -> None:
    axes = _last_axes(rank)
    odd, even, short = (np.array(sizes[-rank:], np.int32) for sizes in ((2, 3, 5), (2, 3, 4), (1, 2, 2)))
    forward.samples(
        (f32(2, 2, 3, 5), odd),
        (f32(2, 3, 4), even),
        (f32(2, 3, 5), short),
        (f32(0, 2, 3, 5), odd),
        against=lambda x, lengths: np.fft.rfftn(x, lengths, axes),
    )
    inverse.samples(
        (c64(2, 2, 3, 3), odd),
        (c64(2, 3, 3), even),
        (c64(2, 3, 5), short),
        (c64(0, 2, 3, 3), odd),
        against=lambda x, lengths: np.fft.irfftn(x, lengths, axes),
    )
    too_many = np.ones(rank + 1, np.int32)
    forward.refuses((f32(2, 3, 4), too_many), f"Dimension must be {rank} but is {rank + 1}")
    inverse.refuses((c64(2, 3, 4), too_many), f"Dimension must be {rank} but is {rank + 1}")
    forward.refuses((f32(*(2, 3)[: rank - 1]), even), f"Shape must be at least rank {rank}")
    forward.refuses((f32(2, 3, 4), 2 * odd), "must have length of at least", InvalidArgumentError)
    inverse.refuses((c64(2, 3, 2), even + 2), "must have length of at least", InvalidArgumentError)


_real_ops = {rank: _real_transforms(rank) for rank in _SUFFIXES}


def _as_type(value: Any, allowed: Sequence[dtypes.DType]) -> Tensor:
    """The value as a tensor: of its own type where it is a tensor of one that is allowed, else the first."""
    own = isinstance(value, Tensor) and value.dtype.base_dtype in allowed
    return convert_to_tensor(value, dtype=value.dtype.base_dtype if own else allowed[0])


def _rfft(input_tensor: Any, fft_length: Any, rank: int, name: str | None) -> Tensor:
    with name_scope(name, f"rfft{_SUFFIXES[rank].lower()}", [input_tensor, fft_length]) as name:
        signal = _as_type(input_tensor, REAL_PARTS)
        signal.shape.with_rank_at_least(rank)
        lengths = _signal_sizes(signal, rank) if fft_length is None else _length_tensor(fft_length)
        padded = _padded(signal, lengths, rank, inverse=False)
        return _real_ops[rank][0](padded, lengths, Tcomplex=_COMPLEX_OF[signal.dtype.base_dtype], name=name)


def _irfft(input_tensor: Any, fft_length: Any, rank: int, name: str | None) -> Tensor:
    with name_scope(name, f"irfft{_SUFFIXES[rank].lower()}", [input_tensor, fft_length]) as name:
        spectrum = _as_type(input_tensor, COMPLEX)
        spectrum.shape.with_rank_at_least(rank)
        lengths = _even_sizes(spectrum, rank) if fft_length is None else _length_tensor(fft_length)
        padded = _padded(spectrum, lengths, rank, inverse=True)
        return _real_ops[rank][1](padded, lengths, Treal=spectrum.dtype.real_dtype, name=name)


def _length_tensor(fft_length: Any) -> Tensor:
    return convert_to_tensor(fft_length, dtype=dtypes.int32)


def _signal_sizes(signal: Tensor, rank: int) -> Tensor:
    sizes = signal.shape[-rank:]
    if sizes.is_fully_defined():
        return _length_tensor(sizes.as_list())
    return shapes.shape(signal)[-rank:]


def _even_sizes(spectrum: Tensor, rank: int) -> Tensor:
    """The sizes of the signal behind a spectrum, if its last is even: the spectrum cannot tell."""
    sizes = spectrum.shape[-rank:]
    if sizes.is_fully_defined():
        *outer, last = sizes.as_list()
        return _length_tensor([*outer, max(0, 2 * (last - 1))])
    *outer, last = joining.unstack(shapes.shape(spectrum)[-rank:])
    return joining.stack([*outer, binary.maximum(0, 2 * (last - 1))])


def _padded(input: Tensor, lengths: Tensor, rank: int, inverse: bool) -> Tensor:
    """`input` filled up with zeros to what a transform of these lengths needs."""
    sizes = input.shape.tuple
    if sizes is not None and 0 in sizes:
        return input
    needed = vector(partial_value(lengths))
    if needed is not None and fully_known(needed) and sizes is not None and None not in sizes[-rank:]:
        if inverse:
            needed = [*needed[:-1], kept_frequencies(needed[-1])]
        missing = [max(0, n - size) for n, size in zip(needed, sizes[-rank:], strict=False)]
        if not any(missing):
            return input
        return tiling.pad(input, [[0, 0]] * (len(sizes) - rank) + [[0, m] for m in missing])
    total = shapes.rank(input)
    present = shapes.shape(input)[-rank:]
    outer = creation.zeros([binary.maximum(0, total - rank)], dtypes.int32)
    if inverse:
        lengths = joining.concat([lengths[:-1], kept_frequencies(lengths[-1:])], 0)
    after = joining.concat([outer, binary.maximum(0, lengths - present)], 0)
    return tiling.pad(input, joining.stack([creation.zeros_like(after), after], axis=1))


@export("signal.rfft", "spectral.rfft")
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals along the last axis: its first fft_length / 2 + 1 frequencies."""
    return _rfft(input_tensor, fft_length, 1, name)


@export("signal.rfft2d", "spectral.rfft2d")
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals over the last two axes."""
    return _rfft(input_tensor, fft_length, 2, name)


@export("signal.rfft3d", "spectral.rfft3d")
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals over the last three axes."""
    return _rfft(input_tensor, fft_length, 3, name)


@export("signal.irfft", "spectral.irfft")
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real signals, of `fft_length` points, whose spectrum `rfft` gives."""
    return _irfft(input_tensor, fft_length, 1, name)


@export("signal.irfft2d", "spectral.irfft2d")
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real signals whose spectrum `rfft2d` gives."""
    return _irfft(input_tensor, fft_length, 2, name)


@export("signal.irfft3d", "spectral.irfft3d")
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real signals whose spectrum `rfft3d` gives."""
    return _irfft(input_tensor, fft_length, 3, name)


# ---------------------------------------------------------------------------------- order of frequencies


@export("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """A spectrum with the zero frequency moved to the middle of `axes` (of all)."""
    return _shifted(x, axes, 1, "fftshift", name)


@export("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Undoes `fftshift`."""
    return _shifted(x, axes, -1, "ifftshift", name)


def _shifted(x: Any, axes: Any, sign: int, default_name: str, name: str | None) -> Tensor:
    with name_scope(name, default_name) as name:
        x = convert_to_tensor(x)
        axes = tuple(range(x.shape.ndims)) if axes is None else axes
        halves = [sign * int(x.shape[axis] // 2) for axis in np.atleast_1d(axes)]
        return tiling.roll(x, halves[0] if isinstance(axes, int) else halves, axes, name)


# ---------------------------------------------------------------------------------- cosine transforms


@export("signal.dct", "spectral.dct")
def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform (of type 1, 2 or 3) of `n` points along the last axis."""
    _check_cosine_arguments(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        signal = _as_type(input, REAL_PARTS)
        if n is not None:
            signal = _of_length(signal, n)
        points = _last_size(signal)
        count = casting.cast(points, signal.dtype)
        if type == 1:
            mirrored = joining.concat([signal, signal[..., -2:0:-1]], axis=-1)
            return unary.real(rfft(mirrored))
        if type == 2:
            return _dct2(signal, points, count, norm)
        return _dct3(signal, points, count, norm)


@export("signal.idct", "spectral.idct")
def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Undoes `dct` of that type, up to a factor of 2 n where `norm` is not "ortho"."""
    _check_cosine_arguments(input, type, n, axis, norm)
    return dct(input, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)


def _check_cosine_arguments(input: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if type == 1 and (_known_last_size(input) or 2) < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _known_last_size(input: Any) -> int | None:
    sizes = input.shape.tuple if isinstance(input, Tensor) else np.shape(input)
    return sizes[-1] if sizes else None


def _last_size(signal: Tensor) -> Any:
    return _known_last_size(signal) or shapes.shape(signal)[-1]


def _of_length(signal: Tensor, n: int) -> Tensor:
    """The first `n` points, zeros where there are not so many."""
    size = _known_last_size(signal)
    if size is not None and n <= size:
        return signal[..., 0:n]
    missing = binary.maximum(0, n - shapes.shape(signal)[-1]) if size is None else n - size
    rank = signal.shape.ndims
    padded = tiling.pad(signal, convert_to_tensor([[0, 0]] * (rank - 1) + [[0, missing]], dtypes.int32))
    return padded[..., 0:n] if size is None else padded


def _dct2(signal: Tensor, points: Any, count: Tensor, norm: str | None) -> Tensor:
    turns = _quarter_turns(-creation.range(count), count)
    transformed = unary.real(rfft(signal, fft_length=[2 * points])[..., :points] * turns)
    if norm is None:
        return transformed
    first = 0.5 * unary.rsqrt(count)
    return transformed * _weights(first, first * unary.sqrt(_number(2.0, count)), points)


def _dct3(signal: Tensor, points: Any, count: Tensor, norm: str | None) -> Tensor:
    if norm is None:
        signal = signal * count
    else:
        first = unary.sqrt(count)
        signal = signal * _weights(first, first * unary.sqrt(_number(0.5, count)), points)
    turns = _quarter_turns(creation.range(count), count)
    spectrum = turns * unary.complex(signal, _number(0.0, count))
    return irfft(spectrum, fft_length=[2 * points])[..., :points]


def _quarter_turns(steps: Tensor, count: Tensor) -> Tensor:
    """2 exp(i pi step / 2 count)."""
    return 2.0 * unary.exp(unary.complex(_number(0.0, count), steps * math.pi * 0.5 / count))


def _number(value: float, like: Tensor) -> Any:
    return np.array(value, like.dtype.as_numpy_dtype)


def _weights(first: Tensor, others: Tensor, points: Any) -> Tensor:
    """The vector [first, others, others, …]."""
    return tiling.pad(shapes.expand_dims(first, 0), [[0, points - 1]], constant_values=others)
