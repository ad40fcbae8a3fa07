"""Discrete Fourier and cosine transforms over the last one, two or three axes.

A transform is linear, so its gradient is a transform. Of a real signal only half of the spectrum is kept: the
other half is its mirror image, and the gradients count each kept frequency as often as it occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

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
from tideflow.graph.shapes import TensorShape, brackets
from tideflow.ops.arrays import creation, joining, rolling, shapes, tiling
from tideflow.ops.helpers.axes import of_rank_at_least, vector
from tideflow.ops.helpers.elementwise import described
from tideflow.ops.helpers.samples import c64, f32
from tideflow.ops.helpers.types import COMPLEX, REAL_PARTS
from tideflow.ops.math import binary, casting, complex_numbers, reductions, unary

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_REAL_ATTR = attr("type", dtypes.float32, allowed=REAL_PARTS)
_COMPLEX_ATTR = attr("type", dtypes.complex64, allowed=COMPLEX)
_COMPLEX_OF = dict(zip(REAL_PARTS, COMPLEX, strict=True))


def _last_axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


# ---------------------------------------------------------------------------------- complex transforms


def _points(spectrum: Tensor, rank: int) -> Tensor:
    """How many points a transform over the last axes has."""
    return reductions.reduce_prod(shapes.shape(spectrum)[-rank:])


def _at_least(input: TensorShape, rank: int) -> TensorShape:
    shown = brackets(input.tuple or ())
    return of_rank_at_least(input, rank, f"Input must have rank of at least {rank} but got: {shown}")


def _complex_transform(
    op_type: str, rank: int, kernel: Callable, reference: Callable, gradient: Callable, old: bool
) -> Op:
    """Defines a transform over the last axes; one of the `old` kind (BatchFFT …) is in single precision."""
    if old:
        op = Op(op_type, "input: complex64 -> output: complex64")
    else:
        op = Op(op_type, "input: Tcomplex -> output: Tcomplex", Tcomplex=_COMPLEX_ATTR)
    axes = _last_axes(rank)
    op.shape(lambda input: _at_least(input, rank))
    op.kernel(lambda input: kernel(input, dim=axes) if input.numel() else input)
    op.gradient(gradient)
    op.samples(
        c64(3, 4) if rank == 1 else c64(2, 3, 4),
        c64(*(5, 1, 2)[:rank]),
        c64(*(0, 3, 2)[-rank:]),
        against=lambda x: reference(x, axes=axes) if x.size else x,
    )
    op.refuses((c64(*(3, 2)[: rank - 1]),), f"Shape must be at least rank {rank} but is rank {rank - 1}")
    return op


def _forward(op_type: str, rank: int, inverse: Callable, old: bool = False) -> Op:
    """Defines a transform of signals; its gradient is made of the inverse one."""

    def _gradient(op, grad):
        return inverse(grad) * casting.cast(_points(grad, rank), grad.dtype)

    return _complex_transform(op_type, rank, torch.fft.fftn, np.fft.fftn, _gradient, old)


def _inverse(op_type: str, rank: int, forward: Callable, old: bool = False) -> Op:
    """Defines a transform of spectra; its gradient is made of the forward one."""

    def _gradient(op, grad):
        share = 1.0 / casting.cast(_points(grad, rank), grad.dtype.real_dtype)
        return forward(grad) * casting.cast(share, grad.dtype)

    return _complex_transform(op_type, rank, torch.fft.ifftn, np.fft.ifftn, _gradient, old)


def _public(op: Op, word: str, doc: str) -> Callable[..., Tensor]:
    def transform(input: TensorLike, name: str | None = None) -> Tensor:
        return op(input, name=name)

    arguments = {"input": "A tensor of type complex64 or complex128, of at least as many axes."}
    transform.__name__ = transform.__qualname__ = word
    transform.__doc__ = described(doc, arguments, "A tensor of the shape and type of `input`.")
    expose(transform, word, f"signal.{word}", f"spectral.{word}")
    return transform


fft_op = _forward("FFT", 1, lambda spectrum: ifft_op(spectrum))
batch_fft_op = _forward("BatchFFT", 1, lambda spectrum: ifft_op(spectrum), old=True)
fft = _public(fft_op, "fft", "The discrete Fourier transform, the spectrum, along the last axis.")

fft2d_op = _forward("FFT2D", 2, lambda spectrum: ifft2d_op(spectrum))
batch_fft2d_op = _forward("BatchFFT2D", 2, lambda spectrum: ifft2d_op(spectrum), old=True)
fft2d = _public(fft2d_op, "fft2d", "The discrete Fourier transform, the spectrum, over the last two axes.")

fft3d_op = _forward("FFT3D", 3, lambda spectrum: ifft3d_op(spectrum))
batch_fft3d_op = _forward("BatchFFT3D", 3, lambda spectrum: ifft3d_op(spectrum), old=True)
fft3d = _public(fft3d_op, "fft3d", "The discrete Fourier transform, the spectrum, over the last three axes.")

ifft_op = _inverse("IFFT", 1, fft_op)
batch_ifft_op = _inverse("BatchIFFT", 1, fft_op, old=True)
ifft = _public(ifft_op, "ifft", "The signal of a spectrum along the last axis: undoes `fft`.")

ifft2d_op = _inverse("IFFT2D", 2, fft2d_op)
batch_ifft2d_op = _inverse("BatchIFFT2D", 2, fft2d_op, old=True)
ifft2d = _public(ifft2d_op, "ifft2d", "The signal of a spectrum over the last two axes: undoes `fft2d`.")

ifft3d_op = _inverse("IFFT3D", 3, fft3d_op)
batch_ifft3d_op = _inverse("BatchIFFT3D", 3, fft3d_op, old=True)
ifft3d = _public(ifft3d_op, "ifft3d", "The signal of a spectrum over the last three axes: undoes `fft3d`.")

# ---------------------------------------------------------------------------------- real transforms


def kept_frequencies(points: Any) -> Any:
    """How many frequencies say all of the spectrum of a real signal of so many points."""
    return points // 2 + 1


def _lengths(fft_length: Any, rank: int) -> list[int | None]:
    in_step = f"fft_length must have shape [{rank}]"
    lengths = vector(fft_length, f"{in_step}, not ")
    if lengths is not None and len(lengths) != rank:
        raise ShapeError(f"Dimension must be {rank} but is {len(lengths)}", in_step)
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


def _fill_up(grad: Tensor, source: Tensor) -> Tensor:
    """What the transform did not look at has gradient 0."""
    if grad.shape.is_fully_defined() and grad.shape == source.shape:
        return grad
    missing = shapes.shape(source) - shapes.shape(grad)
    return tiling.pad(grad, joining.stack([creation.zeros_like(missing), missing], axis=1))


def _sample_lengths(rank: int) -> tuple[np.ndarray, ...]:
    """Odd ones, even ones, and ones that leave something out."""
    return tuple(np.array(sizes[-rank:], np.int32) for sizes in ((2, 3, 5), (2, 3, 4), (1, 2, 2)))


def _real_forward(op_type: str, rank: int, inverse: Callable) -> Op:
    """Defines the transform of real signals, of `fft_length` points along each of the last axes."""
    op = Op(
        op_type,
        "input: Treal, fft_length: int32 -> output: Tcomplex",
        host="fft_length",
        Treal=_REAL_ATTR,
        Tcomplex=_COMPLEX_ATTR,
    )
    axes = _last_axes(rank)

    @op.shape
    def _shape(input, fft_length):
        lengths = _lengths(fft_length, rank)
        return _with_last(_at_least(input, rank), [*lengths[:-1], _halved(lengths[-1])])

    @op.kernel
    def _kernel(input, fft_length, *, Tcomplex):
        lengths = _lengths(fft_length, rank)
        sizes = [*input.shape[:-rank], *lengths[:-1], _halved(lengths[-1])]
        if not input.numel() or 0 in sizes:
            return input.new_zeros(sizes, dtype=Tcomplex.torch)
        _check_enough(input, lengths)
        return torch.fft.rfftn(input, s=lengths, dim=axes).to(Tcomplex.torch)

    @op.gradient
    def _gradient(op, grad):
        """The inverse transform would count a frequency for itself and its mirror image: half of both."""
        signal, lengths = op.inputs
        shares = casting.cast(1.0 / _occurrences(lengths[-1], signal.dtype), grad.dtype)
        points = casting.cast(reductions.reduce_prod(lengths), signal.dtype)
        back = inverse(grad * shares, lengths, Treal=signal.dtype)
        return [_fill_up(back * points, signal), None]

    odd, even, short = _sample_lengths(rank)
    op.samples(
        (f32(2, 2, 3, 5), odd),
        (f32(2, 3, 4), even),
        (f32(2, 3, 5), short),
        (f32(0, 2, 3, 5), odd),
        against=lambda x, lengths: np.fft.rfftn(x, lengths, axes),
    )
    too_many = np.ones(rank + 1, np.int32)
    op.refuses((f32(2, 3, 4), too_many), f"Dimension must be {rank} but is {rank + 1}")
    op.refuses((f32(*(2, 3)[: rank - 1]), even), f"Shape must be at least rank {rank}")
    op.refuses((f32(2, 3, 4), 2 * odd), "must have length of at least", InvalidArgumentError)
    return op


def _real_inverse(op_type: str, rank: int, forward: Callable) -> Op:
    """Defines the transform of half spectra to real signals, of `fft_length` points along each axis."""
    op = Op(
        op_type,
        "input: Tcomplex, fft_length: int32 -> output: Treal",
        host="fft_length",
        Treal=_REAL_ATTR,
        Tcomplex=_COMPLEX_ATTR,
    )
    axes = _last_axes(rank)

    @op.shape
    def _shape(input, fft_length):
        return _with_last(_at_least(input, rank), _lengths(fft_length, rank))

    @op.kernel
    def _kernel(input, fft_length, *, Treal):
        lengths = _lengths(fft_length, rank)
        sizes = [*input.shape[:-rank], *lengths]
        if not input.numel() or 0 in sizes:
            return input.new_zeros(sizes, dtype=Treal.torch)
        _check_enough(input, [*lengths[:-1], kept_frequencies(lengths[-1])])
        return torch.fft.irfftn(input, s=lengths, dim=axes).to(Treal.torch)

    @op.gradient
    def _gradient(op, grad):
        spectrum, lengths = op.inputs
        points = casting.cast(reductions.reduce_prod(lengths), grad.dtype)
        shares = casting.cast(_occurrences(lengths[-1], grad.dtype) / points, spectrum.dtype)
        back = forward(grad, lengths, Tcomplex=spectrum.dtype)
        return [_fill_up(back * shares, spectrum), None]

    odd, even, short = _sample_lengths(rank)
    op.samples(
        (c64(2, 2, 3, 3), odd),
        (c64(2, 3, 3), even),
        (c64(2, 3, 5), short),
        (c64(0, 2, 3, 3), odd),
        against=lambda x, lengths: np.fft.irfftn(x, lengths, axes),
    )
    too_many = np.ones(rank + 1, np.int32)
    op.refuses((c64(2, 3, 4), too_many), f"Dimension must be {rank} but is {rank + 1}")
    op.refuses((c64(2, 3, 2), even + 2), "must have length of at least", InvalidArgumentError)
    return op


def _as_type(value: Any, allowed: Sequence[dtypes.DType]) -> Tensor:
    """The value as a tensor: of its own type where it is a tensor of one that is allowed, else the first."""
    own = isinstance(value, Tensor) and value.dtype.base_dtype in allowed
    return convert_to_tensor(value, dtype=value.dtype.base_dtype if own else allowed[0])


def _rfft(op: Op, word: str, input_tensor: Any, fft_length: Any, rank: int, name: str | None) -> Tensor:
    with name_scope(name, word, [input_tensor, fft_length]) as name:
        signal = _as_type(input_tensor, REAL_PARTS)
        signal.shape.with_rank_at_least(rank)
        lengths = _signal_sizes(signal, rank) if fft_length is None else _length_tensor(fft_length)
        padded = _padded(signal, lengths, rank, inverse=False)
        return op(padded, lengths, Tcomplex=_COMPLEX_OF[signal.dtype.base_dtype], name=name)


def _irfft(op: Op, word: str, input_tensor: Any, fft_length: Any, rank: int, name: str | None) -> Tensor:
    with name_scope(name, word, [input_tensor, fft_length]) as name:
        spectrum = _as_type(input_tensor, COMPLEX)
        spectrum.shape.with_rank_at_least(rank)
        lengths = _even_sizes(spectrum, rank) if fft_length is None else _length_tensor(fft_length)
        padded = _padded(spectrum, lengths, rank, inverse=True)
        return op(padded, lengths, Treal=spectrum.dtype.real_dtype, name=name)


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


rfft_op = _real_forward("RFFT", 1, lambda *inputs, **types: irfft_op(*inputs, **types))


@export("signal.rfft", "spectral.rfft")
def rfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals along the last axis: its first fft_length / 2 + 1 frequencies.

    Args:
      input_tensor: A tensor of type float32 or float64.
      fft_length: How many points the transform has, a vector of one integer; by default all. Signals are cut,
        or filled up with zeros.
      name: A name for the operation.

    Returns:
      A tensor of the complex type of that precision.
    """
    return _rfft(rfft_op, "rfft", input_tensor, fft_length, 1, name)


rfft2d_op = _real_forward("RFFT2D", 2, lambda *inputs, **types: irfft2d_op(*inputs, **types))


@export("signal.rfft2d", "spectral.rfft2d")
def rfft2d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals over the last two axes; of the last one, the first half.

    Args:
      input_tensor: A tensor of type float32 or float64, of rank 2 or more.
      fft_length: How many points the transform has along each axis, a vector of two integers; by default all.
        Signals are cut, or filled up with zeros.
      name: A name for the operation.

    Returns:
      A tensor of the complex type of that precision.
    """
    return _rfft(rfft2d_op, "rfft2d", input_tensor, fft_length, 2, name)


rfft3d_op = _real_forward("RFFT3D", 3, lambda *inputs, **types: irfft3d_op(*inputs, **types))


@export("signal.rfft3d", "spectral.rfft3d")
def rfft3d(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The spectrum of real signals over the last three axes; of the last one, the first half.

    Args:
      input_tensor: A tensor of type float32 or float64, of rank 3 or more.
      fft_length: How many points the transform has along each axis, a vector of three integers; by default
        all. Signals are cut, or filled up with zeros.
      name: A name for the operation.

    Returns:
      A tensor of the complex type of that precision.
    """
    return _rfft(rfft3d_op, "rfft3d", input_tensor, fft_length, 3, name)


irfft_op = _real_inverse("IRFFT", 1, rfft_op)


@export("signal.irfft", "spectral.irfft")
def irfft(input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The real signals of spectra along the last axis, of which the first half is given: undoes `rfft`.

    Args:
      input_tensor: A tensor of type complex64 or complex128.
      fft_length: How many points the signals have, a vector of one integer; by default the even number that
        fits.
      name: A name for the operation.

    Returns:
      A tensor of the real type of that precision.
    """
    return _irfft(irfft_op, "irfft", input_tensor, fft_length, 1, name)


irfft2d_op = _real_inverse("IRFFT2D", 2, rfft2d_op)


@export("signal.irfft2d", "spectral.irfft2d")
def irfft2d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The real signals of spectra over the last two axes: undoes `rfft2d`.

    Args:
      input_tensor: A tensor of type complex64 or complex128, of rank 2 or more.
      fft_length: How many points the signals have along each axis, a vector of two integers; by default,
        along the last one, the even number that fits.
      name: A name for the operation.

    Returns:
      A tensor of the real type of that precision.
    """
    return _irfft(irfft2d_op, "irfft2d", input_tensor, fft_length, 2, name)


irfft3d_op = _real_inverse("IRFFT3D", 3, rfft3d_op)


@export("signal.irfft3d", "spectral.irfft3d")
def irfft3d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The real signals of spectra over the last three axes: undoes `rfft3d`.

    Args:
      input_tensor: A tensor of type complex64 or complex128, of rank 3 or more.
      fft_length: How many points the signals have along each axis, a vector of three integers; by default,
        along the last one, the even number that fits.
      name: A name for the operation.

    Returns:
      A tensor of the real type of that precision.
    """
    return _irfft(irfft3d_op, "irfft3d", input_tensor, fft_length, 3, name)


# ---------------------------------------------------------------------------------- order of frequencies


@export("signal.fftshift")
def fftshift(x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Moves the zero frequency of a spectrum to the middle.

    Args:
      x: A tensor of known shape.
      axes: The axes along which frequencies lie, an integer or several; by default all.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    return _shifted(x, axes, 1, "fftshift", name)


@export("signal.ifftshift")
def ifftshift(x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Moves the zero frequency of a spectrum from the middle to the front: undoes `fftshift`.

    Args:
      x: A tensor of known shape.
      axes: The axes along which frequencies lie, an integer or several; by default all.
      name: A name for the operation.

    Returns:
      A tensor of the shape and type of `x`.
    """
    return _shifted(x, axes, -1, "ifftshift", name)


def _shifted(x: Any, axes: Any, sign: int, default_name: str, name: str | None) -> Tensor:
    with name_scope(name, default_name) as name:
        x = convert_to_tensor(x)
        axes = tuple(range(x.shape.ndims)) if axes is None else axes
        halves = [sign * int(x.shape[axis] // 2) for axis in np.atleast_1d(axes)]
        return rolling.roll(x, halves[0] if isinstance(axes, int) else halves, axes, name)


# ---------------------------------------------------------------------------------- cosine transforms


@export("signal.dct", "spectral.dct")
def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform along the last axis.

    Args:
      input: A tensor of type float32 or float64.
      type: Which of the cosine transforms: 1, 2 or 3.
      n: How many points the transform has; by default all. Signals are cut, or filled up with zeros.
      axis: The axis, which must be -1.
      norm: None, or "ortho" for an orthonormal transform of type 2 or 3.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `input`.

    Raises:
      ValueError: If `type`, `n` or `norm` is something else.
      NotImplementedError: If `axis` is another.
    """
    _check_cosine_arguments(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        signal = _as_type(input, REAL_PARTS)
        if n is not None:
            signal = _of_length(signal, n)
        points = _last_size(signal)
        count = casting.cast(points, signal.dtype)
        if type == 1:
            mirrored = joining.concat([signal, signal[..., -2:0:-1]], axis=-1)
            return complex_numbers.real(rfft(mirrored))
        if type == 2:
            return _dct2(signal, points, count, norm)
        return _dct3(signal, points, count, norm)


@export("signal.idct", "spectral.idct")
def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse discrete cosine transform along the last axis, up to a factor of 2 n where `norm` is not
    "ortho".

    Args:
      input: A tensor of type float32 or float64.
      type: Which of the cosine transforms to undo: 1, 2 or 3.
      n: How many points the transform has; by default all. Signals are cut, or filled up with zeros.
      axis: The axis, which must be -1.
      norm: None, or "ortho" for an orthonormal transform of type 2 or 3.
      name: A name for the scope of the operations.

    Returns:
      A tensor of the type of `input`.

    Raises:
      ValueError: If `type`, `n` or `norm` is something else.
      NotImplementedError: If `axis` is another.
    """
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
    transformed = complex_numbers.real(rfft(signal, fft_length=[2 * points])[..., :points] * turns)
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
    spectrum = turns * complex_numbers.complex(signal, _number(0.0, count))
    return irfft(spectrum, fft_length=[2 * points])[..., :points]


def _quarter_turns(steps: Tensor, count: Tensor) -> Tensor:
    """2 exp(i pi step / 2 count)."""
    return 2.0 * unary.exp(complex_numbers.complex(_number(0.0, count), steps * math.pi * 0.5 / count))


def _number(value: float, like: Tensor) -> Any:
    return np.array(value, like.dtype.as_numpy_dtype)


def _weights(first: Tensor, others: Tensor, points: Any) -> Tensor:
    """The vector [first, others, others, …]."""
    return tiling.pad(shapes.expand_dims(first, 0), [[0, points - 1]], constant_values=others)
