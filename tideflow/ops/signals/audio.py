"""Sound: WAV files, spectrograms, and the mel-frequency cepstral coefficients of speech recognition."""

from __future__ import annotations

import functools
import io
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import as_array
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError, undefined_gradient
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.ops.helpers.axes import brackets, of_rank, scalar
from tideflow.ops.helpers.integers import check_int32
from tideflow.ops.helpers.samples import f32
from tideflow.runtime.values import to_numpy, to_torch

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_LOUDEST = 1 << 15
_ONE_RATE = "Input sample_rate should be a scalar tensor, got instead one of shape "
_BITS = 16
_FORMAT = struct.Struct("<HHIIHH")  # format, channels, rate, bytes a second, bytes a sample, bits


# ---------------------------------------------------------------------------------- WAV files


def _invalid(message: str) -> InvalidArgumentError:
    return errors.invalid_argument(message)


def _chunk(kind: bytes, contents: bytes) -> bytes:
    return kind + len(contents).to_bytes(4, "little") + contents


def _written_wav(audio: np.ndarray, rate: int) -> bytes:
    channels, data = audio.shape[1], audio.tobytes()
    sample_size = channels * _BITS // 8
    per_second = sample_size * rate % (1 << 32)  # the field has 32 bits
    form = _FORMAT.pack(1, channels, rate, per_second, sample_size, _BITS)
    body = b"WAVE" + _chunk(b"fmt ", form) + _chunk(b"data", data)
    return _chunk(b"RIFF", body)


def wav_file(audio: np.ndarray, rate: int) -> bytes:
    """A file of samples [samples, channels] between -1 and 1."""
    if not 0 < rate < 1 << 32:
        raise _invalid(f"sample_rate must be in (0, 2^32), got: {rate}")
    scaled = audio.astype(np.float64) * _LOUDEST
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves away from zero
    numbers = np.nan_to_num(rounded).clip(-_LOUDEST, _LOUDEST - 1).astype("<i2")
    return _written_wav(numbers, rate)


def _played(contents: bytes) -> tuple[np.ndarray, int]:
    """The samples and the rate of a file, by Python's own reader."""
    import wave  # loaded when asked for

    with wave.open(io.BytesIO(contents)) as file:
        frames = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return frames.reshape(-1, file.getnchannels()), file.getframerate()


decode_wav_op = Op(
    "DecodeWav",
    "contents: string -> audio: float32, sample_rate: int32",
    desired_channels=-1,
    desired_samples=-1,
    differentiable=False,
)


@decode_wav_op.shape
def _decode_wav_shape(contents, *, desired_channels, desired_samples):
    of_rank(contents, 0, f"contents must be scalar, got shape {brackets(contents.tuple or ())}")
    wanted = {"samples": desired_samples, "channels": desired_channels}
    for word, count in wanted.items():
        if count < -1:
            raise ShapeError(f"{word} must be non-negative, got {count}")
    return [[None if count == -1 else count for count in wanted.values()], []]


class _Reader:
    """The bytes of a file, front to back."""

    def __init__(self, contents: bytes):
        self.contents, self.place = contents, 0

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.contents)

    def take(self, count: int) -> bytes:
        if self.place + count > len(self.contents):
            raise _invalid("Data too short when trying to read string")
        self.place += count
        return self.contents[self.place - count : self.place]

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise _invalid(
                f"Header mismatch: Expected {text.decode()} but found {found.decode(errors='replace')}"
            )

    def number(self) -> int:
        return int.from_bytes(self.take(4), "little")


def _read_format(reader: _Reader) -> tuple[int, int]:
    size = reader.number()
    if size not in (16, 18):
        raise _invalid(f"Bad file size for WAV: Expected 16 or 18, but got {size}")
    kind, channels, rate, second_size, sample_size, bits = _FORMAT.unpack(reader.take(_FORMAT.size))
    if kind != 1:
        raise _invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
    if channels < 1:
        raise _invalid(f"Bad number of channels for WAV: Expected at least 1, but got {channels}")
    if bits != _BITS:
        raise _invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if sample_size != channels * bits // 8:
        raise _invalid(
            f"Bad bytes per sample in WAV header: Expected {channels * bits // 8} but got {sample_size}"
        )
    if second_size != sample_size * rate:
        raise _invalid(
            f"Bad bytes per second in WAV header: Expected {sample_size * rate} but got {second_size} "
            f"(sample_rate={rate}, bytes_per_sample={sample_size})"
        )
    reader.take(size - _FORMAT.size)
    return channels, rate


def _read_wav(contents: bytes) -> tuple[np.ndarray, int]:
    """The samples [samples, channels] of a file, 16-bit integers, and how many a second has."""
    reader = _Reader(contents)
    reader.expect(b"RIFF")
    reader.number()  # of bytes that follow: others are wrong about it often enough
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    channels, rate = _read_format(reader)
    sample_size = channels * _BITS // 8
    audio = None
    while not reader.at_end:
        kind, size = reader.take(4), reader.number()
        if kind != b"data":
            reader.place += size
        elif audio is not None:
            raise _invalid("More than one data chunk found in WAV")
        else:
            data = reader.take(size // sample_size * sample_size)
            audio = np.frombuffer(data, "<i2").reshape(-1, channels)
    if audio is None:
        raise _invalid("No data chunk found in WAV")
    return audio, rate


@decode_wav_op.kernel
def _decode_wav_kernel(contents, *, desired_channels, desired_samples, device):
    if contents.ndim:
        raise ShapeError(f"Input contents must be scalar, but had shape: {list(contents.shape)}")
    audio, rate = _read_wav(contents[()])
    found_samples, found_channels = audio.shape
    samples = found_samples if desired_samples == -1 else desired_samples
    channels = found_channels if desired_channels == -1 else desired_channels
    result = np.zeros([samples, channels], np.float32)
    # Missing channels repeat the last one; missing samples are silence.
    chosen = np.minimum(np.arange(channels), found_channels - 1)
    result[:found_samples] = audio[:samples, chosen] / np.float32(_LOUDEST)
    return to_torch(result, device), torch.tensor(rate, dtype=torch.int32, device=device)


def _wav_sample(channels: int) -> np.ndarray:
    return np.array(_written_wav(np.arange(6, dtype="<i2").reshape(-1, channels) * 1000, 8000), dtype=object)


def _fitted(contents: Any, desired_channels: int, desired_samples: int) -> tuple[np.ndarray, int]:
    """Sample by sample: silence after the end, and the last channel for those that are missing."""
    audio, rate = _played(contents[()])
    samples = len(audio) if desired_samples == -1 else desired_samples
    channels = audio.shape[1] if desired_channels == -1 else desired_channels
    result = np.zeros((samples, channels))
    for place, channel in np.ndindex(samples, channels):
        if place < len(audio):
            result[place, channel] = audio[place, min(channel, audio.shape[1] - 1)] / 2**15
    return result, rate


decode_wav_op.samples(
    (_wav_sample(1),),
    (_wav_sample(2), {"desired_channels": 3, "desired_samples": 2}),
    (_wav_sample(3), {"desired_channels": 1, "desired_samples": 4}),
    against=_fitted,
)
decode_wav_op.refuses(
    (np.array(b"RIFX", dtype=object),), "Expected RIFF but found RIFX", InvalidArgumentError
)
decode_wav_op.refuses((_wav_sample(1), {"desired_samples": -2}), "samples must be non-negative, got -2")


@export("audio.decode_wav", "contrib.framework.python.ops.audio_ops.decode_wav")
def decode_wav(
    contents: TensorLike, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Reads the sound of a WAV file with samples of 16 bits.

    Args:
      contents: The bytes of the file, a scalar string.
      desired_channels: How many channels to return; by default those of the file. Missing ones repeat the
        last.
      desired_samples: How many samples to return; by default those of the file. Missing ones are silence.
      name: A name for the operation.

    Returns:
      `audio`, a float32 matrix [samples, channels] of numbers between -1 and 1, and `sample_rate`, how many
      samples a second has. A step whose contents are no such file fails with InvalidArgumentError.
    """
    return decode_wav_op(
        contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


_RATE = np.array(8000, np.int32)

encode_wav_op = Op(
    "EncodeWav",
    "audio: float32, sample_rate: int32 -> contents: string",
    host="sample_rate",
    differentiable=False,
)


@encode_wav_op.shape
def _encode_wav_shape(audio, sample_rate):
    of_rank(audio, 2), scalar(sample_rate, _ONE_RATE)
    return []


@encode_wav_op.kernel
def _encode_wav_kernel(audio, sample_rate):
    rate = scalar(sample_rate, _ONE_RATE)
    if audio.ndim != 2:
        raise ShapeError(f"audio must be 2-dimensional but got: {list(audio.shape)}")
    if not audio.numel():
        raise ShapeError(f"audio must not be empty, but has shape {list(audio.shape)}")
    return as_array(wav_file(to_numpy(audio), rate), dtypes.string)


def _within_half_a_step(audio: np.ndarray, sample_rate: np.ndarray, contents: Any) -> list:
    """What the file plays is the sound, cut off where it is too loud."""
    played, rate = _played(np.asarray(contents, object).item())
    steps = np.clip(np.float64(audio) * 2**15, -(2**15), 2**15 - 1)
    return [rate == sample_rate, played.shape == audio.shape, abs(played - steps) <= 0.5]


encode_wav_op.samples((f32(3, 2), _RATE), (f32(1, 1, low=-2, high=2), _RATE), law=_within_half_a_step)
encode_wav_op.refuses((f32(3), _RATE), "Shape must be rank 2 but is rank 1")
encode_wav_op.refuses((f32(3, 1), np.array(0, np.int32)), "sample_rate must be in", InvalidArgumentError)


@export("audio.encode_wav", "contrib.framework.python.ops.audio_ops.encode_wav")
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Writes a sound as a WAV file with samples of 16 bits.

    Args:
      audio: A float32 matrix [samples, channels] of numbers between -1 and 1; what is louder is cut off.
      sample_rate: How many samples a second has, a scalar.
      name: A name for the operation.

    Returns:
      The bytes of the file, a scalar string.
    """
    return encode_wav_op(audio, sample_rate, name=name)


# ---------------------------------------------------------------------------------- spectrograms

audio_spectrogram_op = Op(
    "AudioSpectrogram",
    "input: float32 -> spectrogram: float32",
    window_size=attr("int"),
    stride=attr("int"),
    magnitude_squared=False,
)


def _enclosing_power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


@audio_spectrogram_op.shape
def _audio_spectrogram_shape(input, *, window_size, stride):
    samples, channels = of_rank(input, 2).tuple
    count = None
    if samples is not None and stride > 0:
        count = 1 + (samples - window_size) // stride if samples >= window_size else 0
    return [channels, count, 1 + _enclosing_power_of_two(window_size) // 2]


@audio_spectrogram_op.kernel
def _audio_spectrogram_kernel(input, *, window_size, stride, magnitude_squared):
    if input.ndim != 2:
        raise ShapeError(f"input must be 2-dimensional but got: {list(input.shape)}")
    if window_size < 2 or stride < 1:
        raise _invalid(f"Spectrogram initialization failed for window size {window_size} and stride {stride}")
    points = _enclosing_power_of_two(window_size)
    samples, channels = input.shape
    if samples < window_size or not channels:
        return input.new_zeros([channels, max(0, 1 + (samples - window_size) // stride), points // 2 + 1])
    window = torch.hann_window(window_size, dtype=torch.float64, device=input.device)
    frames = input.T.double().unfold(1, window_size, min(stride, samples)) * window
    spectrum = torch.fft.rfft(frames, points)
    power = (spectrum.real.square() + spectrum.imag.square()).float()
    return power if magnitude_squared else power.sqrt()


audio_spectrogram_op.gradient(undefined_gradient)


def _spectrogram_of_array(
    x: np.ndarray, window_size: int, stride: int, magnitude_squared: bool = False
) -> np.ndarray:
    points = _enclosing_power_of_two(window_size)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    result = np.zeros((x.shape[1], max(0, 1 + (len(x) - window_size) // stride), points // 2 + 1))
    for place in range(result.shape[1]):
        frame = x[place * stride :][:window_size].T * window
        result[:, place] = np.abs(np.fft.rfft(frame, points))
    return result**2 if magnitude_squared else result


audio_spectrogram_op.samples(
    (f32(30, 1), {"window_size": 8, "stride": 4}),
    (f32(30, 2), {"window_size": 7, "stride": 3, "magnitude_squared": True}),
    (f32(5, 1), {"window_size": 9, "stride": 2}),
    against=_spectrogram_of_array,
)
audio_spectrogram_op.refuses((f32(3), {"window_size": 8, "stride": 4}), "Shape must be rank 2 but is rank 1")
audio_spectrogram_op.refuses(
    (f32(30, 1), {"window_size": 1, "stride": 4}), "Spectrogram initialization failed", InvalidArgumentError
)


@export("contrib.framework.python.ops.audio_ops.audio_spectrogram")
def audio_spectrogram(
    input: TensorLike, window_size: int, stride: int, magnitude_squared: bool = False, name: str | None = None
) -> Tensor:
    """Finds how strong each frequency of a sound is, window by window.

    Args:
      input: A float32 matrix [samples, channels].
      window_size: How many samples a window has.
      stride: How many samples further the next window begins.
      magnitude_squared: Whether to return squares.
      name: A name for the operation.

    Returns:
      A float32 tensor [channels, windows, frequencies].
    """
    return audio_spectrogram_op(
        input, window_size=window_size, stride=stride, magnitude_squared=magnitude_squared, name=name
    )


# ---------------------------------------------------------------------------------- cepstral coefficients

mfcc_op = Op(
    "Mfcc",
    "spectrogram: float32, sample_rate: int32 -> output: float32",
    host="sample_rate",
    upper_frequency_limit=4000.0,
    lower_frequency_limit=20.0,
    filterbank_channel_count=40,
    dct_coefficient_count=13,
)


@mfcc_op.shape
def _mfcc_shape(spectrogram, sample_rate, *, dct_coefficient_count):
    scalar(sample_rate, _ONE_RATE)
    return [*of_rank(spectrogram, 3).tuple[:2], dct_coefficient_count]


_QUIETEST = 1e-12


def _bin_width(bins: int, rate: int) -> float:
    """The distance of two frequencies of a spectrogram, in hertz."""
    return 0.5 * rate / (bins - 1)


_BREAK_FREQUENCY_HERTZ = 700.0
_HIGH_FREQUENCY_Q = 1127.0


def _mel(hertz: Any) -> Any:
    return _HIGH_FREQUENCY_Q * np.log1p(hertz / _BREAK_FREQUENCY_HERTZ)


@functools.lru_cache(maxsize=16)
def _filterbank(bins: int, rate: int, lowest: float, highest: float, channels: int) -> np.ndarray:
    """The weight [bins, channels] of a frequency in each band: triangles, evenly spaced on the mel scale."""
    width = _bin_width(bins, rate)
    edges = np.linspace(_mel(lowest), _mel(highest), channels + 2)
    bank = np.zeros((bins, channels + 2))
    audible = np.arange(int(1.5 + lowest / width), int(highest / width) + 1)
    heights = _mel(audible * width)
    band = np.minimum(np.searchsorted(edges[1:-1], heights), channels)  # the edge at or below each
    fade = (edges[band + 1] - heights) / (edges[band + 1] - edges[band])
    bank[audible, band] = fade
    bank[audible, band + 1] = 1 - fade
    return np.ascontiguousarray(bank[:, 1:-1])


@functools.lru_cache(maxsize=16)
def _cosines(channels: int, coefficients: int) -> np.ndarray:
    """The first columns of the cosine transform of type 2, [channels, coefficients]."""
    turns = np.outer(np.arange(channels) + 0.5, np.arange(coefficients))
    return np.sqrt(2.0 / channels) * np.cos(np.pi / channels * turns)


@mfcc_op.kernel
def _mfcc_kernel(
    spectrogram,
    sample_rate,
    *,
    upper_frequency_limit,
    lower_frequency_limit,
    filterbank_channel_count,
    dct_coefficient_count,
):
    rate = scalar(sample_rate, _ONE_RATE)
    check_int32("filterbank_channel_count", filterbank_channel_count)
    if spectrogram.ndim != 3:
        raise ShapeError(f"spectrogram must be 3-dimensional but got: {list(spectrogram.shape)}")
    bins, (lowest, highest) = spectrogram.shape[2], (lower_frequency_limit, upper_frequency_limit)
    makes_sense = rate > 0 and bins > 1 and 0 <= lowest < highest
    if not makes_sense or not 1 <= dct_coefficient_count <= filterbank_channel_count:
        raise _invalid(f"Mfcc initialization failed for channel count {bins} and sample rate {rate}")
    if highest / _bin_width(bins, rate) >= bins:
        # Beyond the highest frequency of the spectrogram: TensorFlow says so in its log and gives zeros.
        return spectrogram.new_zeros([*spectrogram.shape[:2], dct_coefficient_count])
    bank = torch.from_numpy(_filterbank(bins, rate, lowest, highest, filterbank_channel_count))
    cosines = torch.from_numpy(_cosines(filterbank_channel_count, dct_coefficient_count))
    loudness = spectrogram.double().sqrt() @ bank.to(spectrogram.device)
    return (loudness.clamp(min=_QUIETEST).log() @ cosines.to(spectrogram.device)).float()


mfcc_op.gradient(undefined_gradient)


def _band_by_band(
    spectrogram: np.ndarray,
    sample_rate: np.ndarray,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> np.ndarray:
    """The loudness of each triangular band, its logarithm, and the cosine transform of that."""
    import scipy.fft

    def mel(hertz: Any) -> Any:
        return 1127 * np.log(1 + hertz / 700)

    hertz = np.arange(spectrogram.shape[-1]) * sample_rate / 2 / (spectrogram.shape[-1] - 1)
    counted = (hertz >= lower_frequency_limit + hertz[1] / 2) & (hertz <= upper_frequency_limit)
    edges = np.linspace(mel(lower_frequency_limit), mel(upper_frequency_limit), filterbank_channel_count + 2)
    bands = []
    for left, middle, right in zip(edges, edges[1:], edges[2:]):
        rise, fall = (mel(hertz) - left) / (middle - left), (right - mel(hertz)) / (right - middle)
        triangle = np.minimum(rise, fall).clip(0) * counted
        bands.append((np.sqrt(np.float64(spectrogram)) * triangle).sum(-1))
    logarithms = np.log(np.maximum(np.stack(bands, -1), _QUIETEST))
    scale = np.sqrt(2 / filterbank_channel_count) / 2
    return scale * scipy.fft.dct(logarithms, 2)[..., :dct_coefficient_count]


_SPECTROGRAM = f32(2, 3, 65, low=0.0)
mfcc_op.samples(
    (_SPECTROGRAM, _RATE),
    (_SPECTROGRAM, _RATE, {"filterbank_channel_count": 5, "dct_coefficient_count": 3}),
    (f32(1, 0, 65, low=0.0), _RATE),
    against=_band_by_band,
)
mfcc_op.refuses((f32(2, 65), _RATE), "Shape must be rank 3 but is rank 2")
mfcc_op.refuses(
    (_SPECTROGRAM, _RATE, {"dct_coefficient_count": 50}), "Mfcc initialization failed", InvalidArgumentError
)


@export("contrib.framework.python.ops.audio_ops.mfcc")
def mfcc(
    spectrogram: TensorLike,
    sample_rate: TensorLike,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
    name: str | None = None,
) -> Tensor:
    """The mel-frequency cepstral coefficients of spectrograms, which speech recognition uses.

    Args:
      spectrogram: A float32 tensor [channels, windows, frequencies] of squares, from `audio_spectrogram`.
      sample_rate: How many samples a second of the sound has, a scalar.
      upper_frequency_limit: The highest frequency that counts, in hertz.
      lower_frequency_limit: The lowest frequency that counts, in hertz.
      filterbank_channel_count: In how many bands, evenly spaced on the mel scale, the frequencies are
        collected.
      dct_coefficient_count: How many coefficients to return.
      name: A name for the operation.

    Returns:
      A float32 tensor [channels, windows, coefficients].
    """
    return mfcc_op(
        spectrogram,
        sample_rate,
        upper_frequency_limit=upper_frequency_limit,
        lower_frequency_limit=lower_frequency_limit,
        filterbank_channel_count=filterbank_channel_count,
        dct_coefficient_count=dct_coefficient_count,
        name=name,
    )
