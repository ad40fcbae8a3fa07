"""Summaries: what TensorBoard shows of a step, as serialized Summary messages."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import math
import wave

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata

from tideflow.graph import dtypes, errors
from tideflow.graph.arrays import as_array
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op
from tideflow.graph.schema import attr
from tideflow.graph.tensor_proto import make_ndarray
from tideflow.io import png
from tideflow.io.examples import shape_text
from tideflow.ops.files import decoding
from tideflow.ops.helpers.samples import SampleArray, boolean, f32, i32, text
from tideflow.ops.helpers.types import REAL, types
from tideflow.ops.signals import audio
from tideflow.runtime.values import to_numpy

_HOST = dict(on_host=True, differentiable=False)


def _one_message(*inputs):
    return []


def _serialized(*values: Summary.Value) -> np.ndarray:
    return as_array(Summary(value=values).SerializeToString(), dtypes.string)


def _one_string(value: np.ndarray, complaint: str) -> bytes:
    if value.ndim:
        raise errors.invalid_argument(complaint)
    return value[()]


def _numbered(tag: bytes, kind: str, count: int, most: int) -> list[str]:
    """The tags of so many pictures or sounds: with a number, unless there can be only one."""
    name = f"{tag.decode()}/{kind}"
    return [f"{name}/{i}" for i in range(min(count, most))] if most > 1 else [name][:count]


_TAG = text("tag", shape=())


def _values_in(summary: bytes) -> list[Summary.Value]:
    return list(Summary.FromString(summary).value)


# ---------------------------------------------------------------------------------- numbers

scalar_summary_op = Op("ScalarSummary", "tags: string, values: T -> summary: string", T=REAL, **_HOST)
scalar_summary_op.shape(_one_message)


@scalar_summary_op.kernel
def _scalar_summary_kernel(tags, values):
    numbers = to_numpy(values)
    if tags.shape != numbers.shape:
        single = f" (tag '{tags.item().decode()}')" if tags.size == 1 else ""
        raise errors.invalid_argument(
            f"tags and values not the same shape: {shape_text(tags.shape)} != "
            f"{shape_text(numbers.shape)}{single}"
        )
    pairs = zip(tags.ravel().tolist(), numbers.astype(np.float32).ravel().tolist(), strict=True)
    return _serialized(*(Summary.Value(tag=tag.decode(), simple_value=number) for tag, number in pairs))


def _tags_and_numbers(tags, values, summary):
    found = _values_in(summary)
    return [
        [value.tag.encode() for value in found] == tags.ravel().tolist(),
        ([value.simple_value for value in found], values.ravel().astype(np.float32)),
    ]


scalar_summary_op.samples((_TAG, f32()), (text("a", "b"), i32(2)), (text(), f32(0)), law=_tags_and_numbers)
scalar_summary_op.refuses((_TAG, f32(1)), "tags and values not the same shape", InvalidArgumentError)

_LARGEST = float(np.finfo(np.float64).max)

_SMALLEST_LIMIT, _LARGEST_LIMIT, _GROWTH = 1e-12, 1e20, 1.1


@functools.cache
def _bucket_limits() -> np.ndarray:
    """Upper limits of a histogram's buckets, each a tenth wider than the one before, on both sides of 0."""
    limits = []
    limit = _SMALLEST_LIMIT
    while limit < _LARGEST_LIMIT:
        limits.append(limit)
        limit *= _GROWTH
    limits.append(_LARGEST)
    return np.array([-limit for limit in reversed(limits)] + [0.0] + limits)


def histogram_message(values: np.ndarray) -> HistogramProto:
    """How many finite numbers fall into each bucket; neighbours that are empty are one."""
    numbers = values.astype(np.float64).ravel()
    limits = _bucket_limits()
    places = np.minimum(np.searchsorted(limits, numbers, side="right"), len(limits) - 1)
    counts = np.bincount(places, minlength=len(limits))
    # Of a run of empty buckets the last one stays.
    shown = (counts > 0) | np.append(counts[1:] > 0, True)
    message = HistogramProto(
        min=numbers.min(initial=_LARGEST), max=numbers.max(initial=-_LARGEST), num=numbers.size
    )
    if numbers.size:
        # Added one by one, as TensorFlow does: the same sum to the last bit.
        message.sum = np.add.accumulate(numbers)[-1]
        with np.errstate(over="ignore"):
            message.sum_squares = np.add.accumulate(numbers * numbers)[-1]
    message.bucket_limit.extend(limits[shown].tolist())
    message.bucket.extend(counts[shown].tolist())
    return message


histogram_summary_op = Op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    T=attr("type", dtypes.float32, allowed=REAL),
    **_HOST,
)
histogram_summary_op.shape(_one_message)


@histogram_summary_op.kernel
def histogram_summary(tag, values, *, node):
    """A Summary, serialized, of how numbers are distributed."""
    name = _one_string(tag, "tags must be scalar").decode()
    numbers = to_numpy(values).astype(np.float64)
    if np.isnan(numbers).any():
        raise errors.invalid_argument(f"Nan in summary histogram for: {node.name}")
    if np.isinf(numbers).any():
        raise errors.invalid_argument(f"Infinity in summary histogram for: {node.name}")
    return _serialized(Summary.Value(tag=name, histo=histogram_message(numbers)))


def _counts_in_buckets(tag, values, summary):
    (value,) = _values_in(summary)
    numbers, histogram = np.float64(values).ravel(), value.histo
    limits = itertools.pairwise([-np.inf, *histogram.bucket_limit])
    counts = [np.sum((numbers >= low) & (numbers < high)) for low, high in limits]
    claims = [
        value.tag == tag.item().decode(),
        (list(histogram.bucket), counts),
        (histogram.num, float(numbers.size)),
        (histogram.sum, numbers.sum()),
        (histogram.sum_squares, np.sum(numbers**2)),
    ]
    if numbers.size:
        claims += [(histogram.min, numbers.min()), (histogram.max, numbers.max())]
    return claims


histogram_summary_op.samples((_TAG, f32(3, 4)), (_TAG, f32(0)), (_TAG, i32(5)), law=_counts_in_buckets)
histogram_summary_op.refuses((_TAG, np.float32(np.nan)), "Nan in summary histogram", InvalidArgumentError)
histogram_summary_op.refuses((text("a"), f32(3)), "tags must be scalar", InvalidArgumentError)

# ---------------------------------------------------------------------------------- pictures

_NEARLY_ZERO = 1e-6


def _checked_color(bad_color: np.ndarray, depth: int) -> np.ndarray:
    if bad_color.dtype != np.uint8:
        raise errors.invalid_argument(f"bad_color must be uint8, got {dtypes.as_dtype(bad_color.dtype).name}")
    if bad_color.ndim != 1:
        raise errors.invalid_argument(f"bad_color must be a vector, got shape {shape_text(bad_color.shape)}")
    if depth > len(bad_color):
        raise errors.invalid_argument(
            f"expected depth <= bad_color.size, got depth = {depth}, bad_color.size = {len(bad_color)}"
        )
    return bad_color[:depth]


def _as_bytes(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """The largest number as 255; where some are negative, 0 as 128. A pixel that is no number in any
    channel has the bad colour.
    """
    kind = image.dtype.type
    finite = np.isfinite(image).all(axis=2)
    numbers = image[finite]
    smallest, largest = numbers.min(initial=np.inf), numbers.max(initial=-np.inf)
    signed = smallest < 0
    furthest = max(abs(smallest), abs(largest)) if signed else largest
    steps, offset = (127, 128) if signed else (255, 0)
    if furthest < _NEARLY_ZERO:
        steps = 0
    pixels = np.empty(image.shape, np.uint8)
    pixels[~finite] = bad_color
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # 0 / 0 where all is zero: no number, which is black. The scale has a float's digits, also of doubles.
        scale = kind(np.float32(steps) / np.float32(furthest))
        pixels[finite] = np.nan_to_num(numbers * scale + kind(offset)).astype(np.uint8)
    return pixels


def _picture(tag: str, image: np.ndarray, bad_color: np.ndarray) -> Summary.Value:
    pixels = image if image.dtype == np.uint8 else _as_bytes(image, bad_color)
    height, width, depth = image.shape
    encoded = Summary.Image(
        height=height, width=width, colorspace=depth, encoded_image_string=png.encode(pixels)
    )
    return Summary.Value(tag=tag, image=encoded)


_BAD_COLOR = np.array([255, 0, 0, 255], np.uint8)  # red, of images' values that are no numbers

image_summary_op = Op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    max_images=attr("int", 3, minimum=1),
    T=attr("type", dtypes.float32, allowed=types("uint8 float half double")),
    bad_color=attr("tensor", _BAD_COLOR),
    **_HOST,
)
image_summary_op.shape(_one_message)


@image_summary_op.kernel
def image_summary(tag, tensor, *, max_images, bad_color):
    """A Summary, serialized, of pictures."""
    name = _one_string(tag, "Tags must be a scalar")
    images = to_numpy(tensor)
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise errors.invalid_argument(
            f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape_text(images.shape)}"
        )
    if 0 in images.shape[1:]:
        raise errors.invalid_argument(f"input tensor must have non-zero dims. Found: {list(images.shape)}.")
    color = _checked_color(bad_color, images.shape[3])
    tags = _numbered(name, "image", len(images), max_images)
    return _serialized(*(_picture(tag, image, color) for tag, image in zip(tags, images)))


def _pixels_of_files(tag, tensor, summary, max_images):
    """Bytes as they are; numbers on a scale on which the furthest from 0 is 127 steps from grey, or 255 from
    black.
    """
    import PIL.Image  # loaded when asked for

    values, claims = _values_in(summary), []
    for value, image in zip(values, np.float64(tensor)):
        if tensor.dtype != np.uint8:
            furthest = np.abs(image).max()
            image = image * 127 / furthest + 128 if image.min() < 0 else image * 255 / furthest
        file = PIL.Image.open(io.BytesIO(value.image.encoded_image_string))
        pixels = np.asarray(file, np.float64).reshape(image.shape)
        claims += [
            np.abs(pixels - image) <= 1,
            (value.image.height, value.image.width, value.image.colorspace) == image.shape,
            value.tag.startswith(f"{tag.item().decode()}/image"),
        ]
    return [len(values) == min(len(tensor), max_images), *claims]


image_summary_op.samples(
    (_TAG, f32(1, 3, 2, 4)),
    (_TAG, SampleArray(dtypes.uint8, (2, 3, 3, 3), 0, 256), {"max_images": 1, "T": dtypes.uint8}),
    (_TAG, f32(0, 2, 2, 1)),
    (_TAG, f32(4, 1, 1, 1)),
    (_TAG, f32(1, 2, 2, 3, low=0.0, high=5.0)),
    law=_pixels_of_files,
)
image_summary_op.refuses((_TAG, f32(1, 2, 2, 2)), "last dim 1, 3, or 4", InvalidArgumentError)

# ---------------------------------------------------------------------------------- sounds


def _sound(tag: str, samples: np.ndarray, rate: float) -> Summary.Value:
    if not samples.size:
        raise errors.invalid_argument("audio is null")
    if not math.isfinite(rate):
        raise errors.invalid_argument(f"sample_rate must be in (0, 2^32), got: {rate}")
    length, channels = samples.shape
    encoded = Summary.Audio(
        sample_rate=rate,
        num_channels=channels,
        length_frames=length,
        encoded_audio_string=audio.wav_file(samples, max(1, round(rate))),
        content_type="audio/wav",
    )
    return Summary.Value(tag=tag, audio=encoded)


def audio_summary(tag, tensor, rate=None, *, sample_rate=None, max_outputs):
    """A Summary, serialized, of sounds."""
    name = _one_string(tag, "Tag must be a scalar")
    sounds, rate = to_numpy(tensor), sample_rate if rate is None else rate
    if sounds.ndim not in (2, 3):
        raise errors.invalid_argument(f"Tensor must be 3-D or 2-D, got: {shape_text(sounds.shape)}")
    if isinstance(rate, list):
        raise errors.invalid_argument(f"sample_rate must be scalar, got {rate}")
    if not rate > 0:
        raise errors.invalid_argument("sample_rate must be > 0")
    sounds = sounds[:, :, np.newaxis] if sounds.ndim == 2 else sounds
    tags = _numbered(name, "audio", len(sounds), max_outputs)
    return _serialized(*(_sound(tag, sound, rate) for tag, sound in zip(tags, sounds)))


def _waves_of_files(tag, tensor, *rate_and_summary, max_outputs, sample_rate=None):
    *rate, summary = rate_and_summary
    rate = rate[0] if rate else sample_rate
    values, claims = _values_in(summary), []
    for value, sound in zip(values, tensor):
        sound = sound.reshape(len(sound), -1)
        with wave.open(io.BytesIO(value.audio.encoded_audio_string)) as file:
            frames = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(sound.shape)
            claims += [file.getnchannels() == sound.shape[1], file.getframerate() == rate]
        claims += [
            np.abs(frames / 32768 - sound) <= 1 / 32767,
            (value.audio.num_channels, value.audio.length_frames) == sound.shape[::-1],
        ]
    return [len(values) == min(len(tensor), max_outputs), *claims]


audio_summary_op = Op(
    "AudioSummary",
    "tag: string, tensor: float32 -> summary: string",
    sample_rate=attr("float"),
    max_outputs=attr("int", 3, minimum=1),
    **_HOST,
)
audio_summary_op.shape(_one_message)
audio_summary_op.kernel(audio_summary)
audio_summary_op.samples((_TAG, f32(2, 3), {"sample_rate": 8000.0}), law=_waves_of_files)

audio_summary_v2_op = Op(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    host="sample_rate",
    max_outputs=attr("int", 3, minimum=1),
    **_HOST,
)
audio_summary_v2_op.shape(_one_message)
audio_summary_v2_op.kernel(audio_summary)

_RATE = np.array(8000, np.float32)

audio_summary_v2_op.samples(
    (_TAG, f32(2, 3), _RATE), (_TAG, f32(1, 3, 2), _RATE, {"max_outputs": 1}), law=_waves_of_files
)
audio_summary_v2_op.refuses((_TAG, f32(2), _RATE), "Tensor must be 3-D or 2-D", InvalidArgumentError)

# ---------------------------------------------------------------------------------- tensors, and all together

tensor_summary_op = Op(
    "TensorSummary",
    "tensor: T -> summary: string",
    description="",
    labels=attr("list(string)", []),
    display_name="",
    **_HOST,
)
tensor_summary_op.shape(_one_message)


@tensor_summary_op.kernel
def _tensor_summary_kernel(tensor, *, T, node):
    return _serialized(Summary.Value(node_name=node.name, tensor=decoding.content_proto(to_numpy(tensor), T)))


tensor_summary_op.samples(
    (f32(2, 3),),
    (text("a", "b"),),
    law=lambda tensor, summary: (make_ndarray(_values_in(summary)[0].tensor), tensor),
)

tensor_summary_v2_op = Op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    **_HOST,
)
tensor_summary_v2_op.shape(_one_message)


@tensor_summary_v2_op.kernel
def tensor_summary(tag, tensor, serialized_summary_metadata, *, T):
    """A Summary, serialized, of a tensor as it is."""
    name = _one_string(tag, "tag must be scalar").decode()
    described = _one_string(serialized_summary_metadata, "serialized_summary_metadata must be scalar")
    metadata = SummaryMetadata()
    with contextlib.suppress(DecodeError):  # metadata that nobody understands are none
        metadata.ParseFromString(described)
    return _serialized(
        Summary.Value(tag=name, tensor=decoding.content_proto(to_numpy(tensor), T), metadata=metadata)
    )


def _tag_tensor_and_metadata(tag, tensor, serialized_summary_metadata, summary):
    (value,) = _values_in(summary)
    return [
        value.tag == tag.item().decode(),
        (make_ndarray(value.tensor), tensor),
        value.metadata == SummaryMetadata.FromString(serialized_summary_metadata.item()),
    ]


tensor_summary_v2_op.samples(
    (_TAG, boolean(2), text("", shape=())),
    (_TAG, _TAG, text(SummaryMetadata(display_name="words").SerializeToString(), shape=())),
    law=_tag_tensor_and_metadata,
)
tensor_summary_v2_op.refuses(
    (text("a"), f32(2), text("", shape=())), "tag must be scalar", InvalidArgumentError
)

merge_summary_op = Op("MergeSummary", "inputs: N * string -> summary: string", **_HOST)
merge_summary_op.shape(_one_message)


@merge_summary_op.kernel
def _merge_summary_kernel(inputs):
    merged, tags = Summary(), set()
    for serialized in (item for each in inputs for item in each.ravel().tolist()):
        try:
            merged.MergeFromString(serialized)
        except DecodeError:
            raise errors.invalid_argument("Could not parse one of the summary inputs") from None
    for value in merged.value:
        if value.tag and value.tag in tags:
            raise errors.invalid_argument(f"Duplicate tag {value.tag} found in summary inputs")
        tags.add(value.tag)
    return as_array(merged.SerializeToString(), dtypes.string)


merge_summary_op.samples(
    ([_serialized(), _serialized()],),
    ([_serialized(Summary.Value(tag="a", simple_value=1)), _serialized(Summary.Value(tag="b"))],),
    law=lambda inputs, summary: (
        _values_in(summary) == [value for each in inputs for value in _values_in(each.item())]
    ),
)
merge_summary_op.refuses(
    ([text("junk", shape=())],), "Could not parse one of the summary inputs", InvalidArgumentError
)
