"""The mel scale, on which equal steps sound equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import creation, joining, shapes, tiling
from tideflow.ops.math import binary, casting, unary
from tideflow.ops.signals import fourier
from tideflow.signal.framing import frame

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, TensorLike

_BREAK_FREQUENCY_HERTZ = 700.0
_HIGH_FREQUENCY_Q = 1127.0


@export("signal.linear_to_mel_weight_matrix", "contrib.signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: TensorLike = 129,
    sample_rate: TensorLike = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Makes the matrix that converts a spectrogram to the mel scale, with triangular bands.

    Args:
      num_mel_bins: The number of bands.
      num_spectrogram_bins: The number of bins of the spectrogram.
      sample_rate: The sample rate of the signal in hertz.
      lower_edge_hertz: The lower end of the lowest band.
      upper_edge_hertz: The upper end of the highest band.
      dtype: The type of the matrix.
      name: The name of the operation.

    Returns:
      A matrix of shape [num_spectrogram_bins, num_mel_bins].

    Raises:
      ValueError: If the arguments contradict each other.
    """
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as name:
        sample_rate = _known_rate(sample_rate)
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate = convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lowest = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        highest = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        frequencies = creation.linspace(zero, sample_rate / 2.0, num_spectrogram_bins)
        audible = frequencies[1:]  # the first is the constant part
        bins = shapes.expand_dims(_hertz_to_mel(audible), 1)
        edges = creation.linspace(_hertz_to_mel(lowest), _hertz_to_mel(highest), num_mel_bins + 2)
        bands = joining.split(frame(edges, frame_length=3, frame_step=1), 3, axis=1)
        lower, center, upper = (shapes.reshape(edge, [1, num_mel_bins]) for edge in bands)
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = binary.maximum(zero, binary.minimum(rising, falling))
        return tiling.pad(weights, [[1, 0], [0, 0]], name=name)


def _hertz_to_mel(frequencies: Tensor) -> Tensor:
    with name_scope(None, "hertz_to_mel", [frequencies]):
        return _HIGH_FREQUENCY_Q * unary.log(1.0 + frequencies / _BREAK_FREQUENCY_HERTZ)


def _known_rate(sample_rate: Any) -> Any:
    known = constant_value(sample_rate) if isinstance(sample_rate, Tensor) else sample_rate
    if known is None:
        raise ValueError(
            "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor."
        )
    return known


def _check(num_mel_bins: int, sample_rate: Any, lowest: float, highest: float, dtype: dtypes.DType) -> None:
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if lowest < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lowest}")
    if lowest >= highest:
        raise ValueError(f"lower_edge_hertz {lowest:.1f} >= upper_edge_hertz {highest:.1f}")
    if highest > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got: "
            f"{highest} for sample_rate: {sample_rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


@export("signal.mfccs_from_log_mel_spectrograms", "contrib.signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Computes mel-frequency cepstral coefficients: a cosine transform, scaled as in HTK.

    Args:
      log_mel_spectrograms: Logarithms of mel spectrograms, of shape [..., bands].
      name: The name of the operation.

    Returns:
      The coefficients, of the same shape.

    Raises:
      ValueError: If there are no bands.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectrograms = convert_to_tensor(log_mel_spectrograms, dtype=dtypes.float32)
        bins = spectrograms.shape.tuple[-1] if spectrograms.shape.ndims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectrograms}")
        if bins is None:
            bins = shapes.shape(spectrograms)[-1]
        cepstra = fourier.dct(spectrograms, type=2)
        return cepstra * unary.rsqrt(casting.cast(bins, dtypes.float32) * 2.0)
