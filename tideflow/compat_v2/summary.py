"""`tf.compat.v2.summary`: summaries that are written where they are called, each with its step."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.summary_pb2 import SummaryMetadata
from tensorboard.plugins.audio import metadata as audio_metadata
from tensorboard.plugins.histogram import metadata as histogram_metadata
from tensorboard.plugins.image import metadata as image_metadata
from tensorboard.plugins.scalar import metadata as scalar_metadata
from tensorboard.plugins.text import metadata as text_metadata

import tideflow as tf
from tideflow.ops.files.summary_writers import create_summary_file_writer_op
from tideflow.summary import recording

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor
    from tideflow.graph.typing import TensorLike


_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


class _Current:
    step: Any = None


def get_step() -> Any:
    """The step of summaries that are given none; None where none is set."""
    return _Current.step


def set_step(step: Any) -> None:
    """Sets the step of summaries that are given none.

    Args:
      step: A number, a tensor or a variable; None to take it back.
    """
    _Current.step = step


def create_file_writer(
    logdir: str,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> Any:
    """Makes a writer of an event file.

    Args:
      logdir: The directory.
      max_queue: The number of events after which the file is flushed; 10 if None.
      flush_millis: The milliseconds after which the file is flushed; 120,000 if None.
      filename_suffix: The suffix of the file's name.
      name: A name for the operation.

    Returns:
      The writer.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    in_function = tf.get_default_graph().building_function
    given = {
        "logdir": logdir,
        "max_queue": 10 if max_queue is None else max_queue,
        "flush_millis": 2 * 60 * 1000 if flush_millis is None else flush_millis,
        "filename_suffix": ".v2" if filename_suffix is None else filename_suffix,
    }
    with tf.name_scope(name, "create_file_writer") as scope, tf.device("cpu:0"), tf.init_scope():
        if tf.executing_eagerly():
            _check_values(given, in_function)
        folder = tf.convert_to_tensor(given["logdir"], tf.string)

        def open_op(writer: Tensor) -> Any:
            others = (given["max_queue"], given["flush_millis"], given["filename_suffix"])
            return create_summary_file_writer_op(writer, folder, *others)

        return recording.OwnSummaryWriter("", open_op, scope)


def _check_values(given: dict[str, Any], in_function: bool) -> None:
    """Refuses tensors of graphs: an eager writer is made at once, also where a function makes it."""
    for argument, value in given.items():
        if isinstance(value, tf.Tensor) and not value.is_eager:
            where = (
                "create_file_writer() inside an @tf.function. The create call will be lifted into the outer "
                "eager execution context, so it cannot consume graph tensors defined inside the function "
                "body."
                if in_function
                else "eagerly executed create_file_writer()."
            )
            raise ValueError(f'Invalid graph Tensor argument "{argument}={value}" to {where}')


def write(
    tag: str,
    tensor: TensorLike | Callable[[], TensorLike],
    step: TensorLike | None = None,
    metadata: SummaryMetadata | None = None,
    name: str | None = None,
) -> Tensor:
    """Writes a tensor to the default writer, if there is one.

    Args:
      tag: The tag.
      tensor: The tensor, or a function that makes it.
      step: The step; that of `set_step` if None.
      metadata: What plugins of TensorBoard are told.
      name: A name for the operation.

    Returns:
      Whether it was written.

    Raises:
      ValueError: If there is no step.
    """
    with tf.name_scope(name, "write_summary") as scope:
        return recording.write_tensor(tag, tensor, _step_of(step), metadata, scope)


def _step_of(step: TensorLike | None) -> Any:
    """The step of a summary. Where there is no writer, none is needed."""
    step = get_step() if step is None else step
    if step is None and recording.summaries.writer is not None:
        raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")
    return step


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """A name scope for a summary.

    Args:
      name: The name of the summary.
      default_name: The name of the scope if that is empty.
      values: Tensors of the summary.

    Yields:
      The tag, which has the scopes around, and the scope.
    """
    around = tf.get_default_graph().get_name_scope()
    name = name or default_name
    legal = _NOT_IN_SCOPES.sub("", name) or None
    with tf.name_scope(legal, default_name, values) as scope:
        yield f"{around}/{name}" if around else name, scope


def scalar(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes a number.

    Args:
      name: The name of the summary.
      data: A real scalar.
      step: The step; that of `set_step` if None.
      description: A description, in Markdown.

    Returns:
      Whether it was written.
    """
    told = scalar_metadata.create_summary_metadata(display_name=None, description=description)
    with summary_scope(name, "scalar_summary", [data]) as (tag, _):
        return write(tag, tf.cast(data, tf.float32), step, told)


def text(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes text, in Markdown.

    Args:
      name: The name of the summary.
      data: A string, or a tensor of strings.
      step: The step; that of `set_step` if None.
      description: A description, in Markdown.

    Returns:
      Whether it was written.
    """
    told = text_metadata.create_summary_metadata(display_name=None, description=description)
    with summary_scope(name, "text_summary", [data]) as (tag, _):
        return write(tag, tf.convert_to_tensor(data, tf.string), step, told)


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes how the elements of a tensor are distributed.

    Args:
      name: The name of the summary.
      data: A tensor of numbers.
      step: The step; that of `set_step` if None.
      buckets: The number of buckets; 30 if None.
      description: A description, in Markdown.

    Returns:
      Whether it was written.
    """
    told = histogram_metadata.create_summary_metadata(display_name=None, description=description)
    with summary_scope(name, "histogram_summary", [data]) as (tag, _):
        return write(tag, lambda: _buckets(tf.cast(data, tf.float64), buckets or 30), step, told)


def _buckets(data: Tensor, count: int) -> Tensor:
    """A row for each bucket: its left end, its right end, the number of elements in it."""
    flat = tf.reshape(data, [-1])

    def of_different() -> Tensor:
        low, high = tf.reduce_min(flat), tf.reduce_max(flat)
        width = (high - low) / count
        places = tf.minimum(tf.cast(tf.floor((flat - low) / width), tf.int32), count - 1)
        found = tf.cast(tf.reduce_sum(tf.one_hot(places, count, dtype=tf.int32), axis=0), tf.float64)
        edges = tf.linspace(low, high, count + 1)
        edges = tf.concat([edges[:count], [high]], 0)
        return tf.stack([edges[:-1], edges[1:], found], axis=1)

    def of_one() -> Tensor:
        one, size = flat[0], tf.cast(tf.size(flat), tf.float64)
        return tf.stack([[one - 0.5, one + 0.5, size]])

    def of_some() -> Tensor:
        same = tf.equal(tf.reduce_max(flat), tf.reduce_min(flat))
        return tf.cond(same, of_one, of_different)

    return tf.cond(tf.equal(tf.size(flat), 0), lambda: tf.zeros([0, 3], tf.float64), of_some)


def image(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    description: str | None = None,
) -> Tensor:
    """Writes images.

    Args:
      name: The name of the summary.
      data: Images [number, height, width, channels]: floats between 0 and 1, or integers.
      step: The step; that of `set_step` if None.
      max_outputs: The largest number of images that are written.
      description: A description, in Markdown.

    Returns:
      Whether they were written.
    """
    told = image_metadata.create_summary_metadata(display_name=None, description=description)
    with summary_scope(name, "image_summary", [data]) as (tag, _):
        return write(tag, lambda: _encoded_images(data, max_outputs), step, told)


def _encoded_images(data: TensorLike, most: TensorLike) -> Tensor:
    """The width and the height, then the images as PNG files: all strings."""
    pictures = tf.image.convert_image_dtype(tf.convert_to_tensor(data), tf.uint8, saturate=True)
    files = tf.map_fn(tf.image.encode_png, pictures[:most], dtype=tf.string)
    sides = tf.shape(pictures)
    return tf.concat([tf.stack([tf.as_string(sides[2]), tf.as_string(sides[1])]), files], axis=0)


def audio(
    name: str,
    data: TensorLike,
    sample_rate: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes sounds.

    Args:
      name: The name of the summary.
      data: Sounds [number, frames, channels], floats between -1 and 1.
      sample_rate: The number of frames a second.
      step: The step; that of `set_step` if None.
      max_outputs: The largest number of sounds that are written.
      encoding: `"wav"`, which is also what None means.
      description: A description, in Markdown.

    Returns:
      Whether they were written.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    wav = audio_metadata.Encoding.Value("WAV")
    told = audio_metadata.create_summary_metadata(None, description, encoding=wav)

    def encoded() -> Tensor:
        sounds = tf.convert_to_tensor(data)[:max_outputs]
        files = tf.map_fn(lambda sound: tf.audio.encode_wav(sound, sample_rate), sounds, dtype=tf.string)
        return tf.stack([files, tf.fill(tf.shape(files), "")], axis=1)

    with summary_scope(name, "audio_summary", [data]) as (tag, _):
        return write(tag, encoded, step, told)


def write_raw_pb(tensor: TensorLike, step: TensorLike | None = None, name: str | None = None) -> Any:
    """Writes a serialized Summary message to the default writer, if there is one.

    Args:
      tensor: The message.
      step: The step; that of `set_step` if None.
      name: A name for the operation.

    Returns:
      Whether it was written.
    """
    with tf.name_scope(name, "write_raw_pb") as scope:
        return recording.write_message(tensor, _step_of(step), scope)


def create_noop_writer() -> Any:
    """A writer that writes nothing."""
    return recording.SummaryWriter()


NAMES = {
    f"summary.{name}": value
    for name, value in {
        "SummaryWriter": recording.SummaryWriter,
        "audio": audio,
        "create_file_writer": create_file_writer,
        "create_noop_writer": create_noop_writer,
        "experimental.get_step": get_step,
        "experimental.set_step": set_step,
        "experimental.summary_scope": summary_scope,
        "experimental.write_raw_pb": write_raw_pb,
        "flush": recording.flush,
        "histogram": histogram,
        "image": image,
        "record_if": recording.record_if,
        "scalar": scalar,
        "text": text,
        "write": write,
    }.items()
}
